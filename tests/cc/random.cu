// SPDX-License-Identifier: Apache-2.0
// Random numbers in kernels: known answers of the published generators, jumps against steps and against their own powers, the
// same numbers on both sides, distributions.
#include "check.h"
#include <cstring>
#include <curand_kernel.h>
#include <vector>

enum { STREAMS = 256, DRAWS = 16, COUNT = STREAMS * DRAWS };

// ---- known answers ----
static void philox() { // Random123's
    const unsigned ones = 0xffffffff;
    const struct {
        uint4 counter;
        uint2 key;
        uint4 block;
    } known[] = {{{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
                 {{ones, ones, ones, ones}, {ones, ones}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
                 {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
    for (auto &one : known) {
        const uint4 is = heddle_philox(one.counter, one.key);
        EXPECT(memcmp(&is, &one.block, sizeof is) == 0);
    }
    // The key is the seed; the counter is a quarter of the offset, and the subsequence.
    curandStatePhilox4_32_10_t state;
    curand_init(0x299f31d0a4093822, 0x0370734413198a2e, 4 * 0x05a308d3243f6a88 + 2, &state);
    const uint4 block = heddle_philox(make_uint4(0x243f6a88, 0x05a308d3, 0x13198a2e, 0x03707344), make_uint2(0xa4093822, 0x299f31d0));
    EXPECT(curand(&state) == block.z && curand(&state) == block.w);
    EXPECT(curand(&state) == heddle_philox(make_uint4(0x243f6a89, 0x05a308d3, 0x13198a2e, 0x03707344), state.key).x);
}

static void mrg() { // L'Ecuyer's, with all numbers 12345, and those of the next substream of his RngStreams (2002)
    const unsigned known[] = {545508589, 1368065410, 1327943761, 3546985096, 951893194};
    const double next[] = {0.07939898979733463, 0.4803395047575741, 0.8583222470551328};
    curandStateMRG32k3a_t state = {{12345, 12345, 12345}, {12345, 12345, 12345}, {}}, jumped = state;
    for (unsigned expected : known)
        EXPECT(curand(&state) == expected);
    skipahead_subsequence(1, &jumped);
    for (double expected : next)
        EXPECT(curand(&jumped) * 2.328306549295727688e-10 == expected); // his factor, 1 / (m1 + 1)
    // The matrices by squaring, with no table.
    typedef unsigned long long Matrix[3][3];
    for (int which = 0; which < 2; which++) {
        const unsigned long long m = which ? 4294944443ull : 4294967087ull;
        Matrix power = {{0, 1, 0}, {0, 0, 1}, {which ? m - 1370589 : m - 810728, which ? 0ull : 1403580ull, which ? 527612ull : 0ull}}, square;
        for (int k = 1; k <= 127; k++) {
            for (int i = 0; i < 9; i++) {
                __int128 sum = 0;
                for (int l = 0; l < 3; l++)
                    sum += (__int128)power[i / 3][l] * power[l][i % 3];
                square[i / 3][i % 3] = (unsigned long long)(sum % m);
            }
            memcpy(power, square, sizeof power);
            for (int i = 0; i < 9 && k == 76; i++)
                EXPECT(power[i / 3][i % 3] == heddle_mrg_76[which][i / 3][i % 3]);
        }
        for (int i = 0; i < 9; i++)
            EXPECT(power[i / 3][i % 3] == heddle_mrg_127[which][i / 3][i % 3]);
    }
}

static void xorwow() { // as the paper has it, from its first state
    unsigned x = 123456789, y = 362436069, z = 521288629, w = 88675123, v = 5783321, d = 6615241;
    curandState state = {d, {x, y, z, w, v}, {}};
    for (int i = 0; i < 1000; i++) {
        const unsigned t = x ^ (x >> 2);
        x = y, y = z, z = w, w = v;
        v = (v ^ (v << 4)) ^ (t ^ (t << 1));
        d += 362437;
        EXPECT(curand(&state) == d + v);
    }
    // Every polynomial of the table is a power of the one before it, and the first is one step.
    unsigned one[5] = {x, y, z, w, v};
    for (int k = 0; k < 33; k++) {
        unsigned start[5], walked[5];
        memcpy(start, one, sizeof one), memcpy(walked, one, sizeof one);
        for (int digit = 1; digit < 16; digit++) {
            unsigned jumped[5];
            memcpy(jumped, start, sizeof jumped);
            if (k == 0)
                heddle_xorwow_step(walked);
            else
                for (int i = 0; i < 16; i++) // sixteen times the last one's first
                    heddle_xorwow_jump(walked, heddle_xorwow_jumps[k - 1][0]);
            heddle_xorwow_jump(jumped, heddle_xorwow_jumps[k][digit - 1]);
            EXPECT(memcmp(walked, jumped, sizeof jumped) == 0);
        }
        memcpy(one, walked, sizeof one);
    }
}

// ---- jumps ----
static const unsigned long long distances[] = {0, 1, 2, 3, 4, 5, 15, 16, 17, 255, 1000, 4097, 70001};

template <class State> static void jumps() {
    for (unsigned long long n : distances) {
        State walked, jumped, begun;
        curand_init(77, 3, 0, &walked);
        curand_init(77, 3, 1, &jumped);
        curand_init(77, 3, n, &begun);
        for (unsigned long long i = 0; i < n; i++)
            curand(&walked);
        if (n)
            skipahead(n - 1, &jumped);
        for (int i = 0; i < 9; i++) {
            const unsigned is = curand(&walked);
            EXPECT(curand(&begun) == is);
            EXPECT(!n || curand(&jumped) == is);
        }
    }
    State once, twice; // far: two jumps are one
    curand_init(5, 0xf123456789abcdefull, 0x8000000000000001ull, &once);
    curand_init(5, 0xf123456789abcdefull, 0x7fffffffffffffffull, &twice);
    skipahead(2, &twice);
    for (int i = 0; i < 9; i++)
        EXPECT(curand(&once) == curand(&twice));
}
template <class State> static void sequences() { // of those that skip whole sequences
    State a, b;
    curand_init(9, 7, 11, &a);
    curand_init(9, 0, 0, &b);
    skipahead(11, &b);
    skipahead_sequence(5, &b);
    skipahead_sequence(2, &b);
    for (int i = 0; i < 9; i++)
        EXPECT(curand(&a) == curand(&b));
}

// ---- distributions ----
struct Drawn {
    unsigned word[COUNT];
    float uniform[COUNT], normal[COUNT], log_normal[COUNT];
    double uniform_double[COUNT], normal_double[COUNT];
    unsigned poisson[COUNT];
};
template <class State> __host__ __device__ static void draw(Drawn *out, int stream) {
    State state;
    curand_init(1234, stream, 0, &state);
    for (int i = stream; i < COUNT; i += STREAMS)
        out->word[i] = curand(&state);
    for (int i = stream; i < COUNT; i += STREAMS)
        out->uniform[i] = curand_uniform(&state), out->uniform_double[i] = curand_uniform_double(&state);
    for (int i = stream; i < COUNT; i += STREAMS)
        out->normal[i] = curand_normal(&state), out->normal_double[i] = curand_normal_double(&state);
    for (int i = stream; i < COUNT; i += STREAMS)
        out->log_normal[i] = curand_log_normal(&state, 0.5f, 0.25f), out->poisson[i] = curand_poisson(&state, 4);
}
template <class State> __global__ void draw_all(Drawn *out) { draw<State>(out, (int)(blockIdx.x * blockDim.x + threadIdx.x)); }

// 63 degrees of freedom: the mean is 63, the deviation 11.
static void expect_even(const std::vector<double> &values) {
    const double each = COUNT / 64.0;
    int bins[64] = {};
    double chi = 0;
    for (double x : values) {
        EXPECT(x > 0 && x <= 1);
        bins[x < 1 ? (int)(x * 64) : 63]++;
    }
    for (int count : bins)
        chi += (count - each) * (count - each) / each;
    EXPECT(chi > 63 - 5 * 11.3 && chi < 63 + 5 * 11.3);
    double together = 0; // of neighbours, which are of two sequences
    for (int i = 1; i < COUNT; i++)
        together += (values[i] - 0.5) * (values[i - 1] - 0.5) * 12;
    EXPECT(std::fabs(together) < 5 * std::sqrt(COUNT));
}
static void expect_moments(const std::vector<double> &values, double mean, double variance, double fourth) {
    double sum = 0, squares = 0, fours = 0;
    for (double x : values)
        sum += x - mean, squares += (x - mean) * (x - mean), fours += std::pow(x - mean, 4);
    EXPECT(std::fabs(sum / COUNT) < 5 * std::sqrt(variance / COUNT));
    EXPECT(std::fabs(squares / COUNT - variance) < 5 * std::sqrt((fourth - variance * variance) / COUNT));
    EXPECT(!(fourth == 3) || std::fabs(fours / COUNT - 3) < 5 * std::sqrt(96.0 / COUNT));
}
template <class T> static std::vector<double> doubles(const T *from) { return std::vector<double>(from, from + COUNT); }

template <class State> static void distributions() {
    Managed<Drawn> out(1);
    static Drawn own;
    draw_all<State><<<STREAMS / 64, 64>>>(out.data);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < STREAMS; i++)
        draw<State>(&own, i);
    Drawn &is = out[0];
    EXPECT(memcmp(is.word, own.word, sizeof own.word) == 0);
    EXPECT(memcmp(is.uniform, own.uniform, sizeof own.uniform) == 0);
    EXPECT(memcmp(is.uniform_double, own.uniform_double, sizeof own.uniform_double) == 0);
    for (int i = 0; i < COUNT; i++)
        EXPECT(std::fabs(is.normal[i] - own.normal[i]) < 1e-5 && std::fabs(is.normal_double[i] - own.normal_double[i]) < 1e-13);
    std::vector<double> words = doubles(is.word), logs = doubles(is.log_normal);
    for (double &x : words)
        x = (x + 1) / 4294967296.0;
    for (double &x : logs)
        x = (std::log(x) - 0.5) / 0.25;
    expect_even(words);
    expect_even(doubles(is.uniform));
    expect_even(doubles(is.uniform_double));
    expect_moments(doubles(is.normal), 0, 1, 3);
    expect_moments(doubles(is.normal_double), 0, 1, 3);
    expect_moments(logs, 0, 1, 3);
    expect_moments(doubles(is.poisson), 4, 4, 4 + 3 * 16); // its fourth moment
}

int main() {
    philox();
    mrg();
    xorwow();
    jumps<curandState>();
    jumps<curandStatePhilox4_32_10_t>();
    jumps<curandStateMRG32k3a_t>();
    sequences<curandState>();
    sequences<curandStatePhilox4_32_10_t>();
    distributions<curandState>();
    distributions<curandStatePhilox4_32_10_t>();
    distributions<curandStateMRG32k3a_t>();
    curandStatePhilox4_32_10_t a, b; // four words at a time are the same words
    for (unsigned offset = 0; offset < 4; offset++) {
        curand_init(3, 1, offset, &a), curand_init(3, 1, offset, &b);
        for (int i = 0; i < 3; i++) {
            const uint4 four = curand4(&a);
            EXPECT(curand(&b) == four.x && curand(&b) == four.y && curand(&b) == four.z && curand(&b) == four.w);
        }
    }
    return finish();
}
