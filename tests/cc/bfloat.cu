// SPDX-License-Identifier: Apache-2.0
// Bfloat16 on both sides against exact integers: all values there and back, all places where rounding decides, arithmetic with one
// rounding each; shuffles and atomic sums, of halves too.
#include "check.h"
#include <cfloat>
#include <climits>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

enum { RESULTS = 6, CASES = 3000, INFINITE = 0x7f80 };

__host__ __device__ static void compute(unsigned short *out, const unsigned short *in) {
    const __nv_bfloat16 a = __ushort_as_bfloat16(in[0]), b = __ushort_as_bfloat16(in[1]), c = __ushort_as_bfloat16(in[2]);
    const __nv_bfloat162 pair = __hfma2(__halves2bfloat162(c, a), make_bfloat162(c, b), __bfloat162bfloat162(c));
    out[0] = __bfloat16_as_ushort(a + b);
    out[1] = __bfloat16_as_ushort(a - b);
    out[2] = __bfloat16_as_ushort(a * b);
    out[3] = __bfloat16_as_ushort(a / b);
    out[4] = __bfloat16_as_ushort(__hfma(a, b, c));
    out[5] = __bfloat16_as_ushort(__high2bfloat16(pair)); // the same again
}

__global__ void arithmetic(unsigned short *out, const unsigned short *in, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        compute(out + RESULTS * i, in + 3 * i);
}
__global__ void round_all(unsigned short *out, const float *in, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = __bfloat16_as_ushort(__float2bfloat16(in[i]));
}
template <class T, class Pair> __global__ void together(T *sums, Pair *pairs, T *seen) {
    const T own = T((float)threadIdx.x);
    atomicAdd(&sums[threadIdx.x % 3], T(1.0f));
    atomicAdd(pairs, Pair(T(1.0f), T(2.0f)));
    seen[threadIdx.x] = __shfl_xor_sync(0xffffffff, own, 3) + __shfl_down_sync(0xffffffff, Pair(own, own), 1).y;
}

template <class T, class Pair> static void in_kernels() {
    Managed<T> sums(3), seen(32);
    Managed<Pair> pair(1);
    for (int i = 0; i < 3; i++)
        sums[i] = T(0.0f);
    pair[0] = Pair(T(0.0f), T(0.0f));
    together<<<1, 32>>>(sums.data, pair.data, seen.data);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++)
        EXPECT((float)seen[i] == (float)((i ^ 3) + (i == 31 ? 31 : i + 1)));
    EXPECT((float)sums[0] == 11 && (float)sums[1] == 11 && (float)sums[2] == 10);
    EXPECT((float)pair[0].x == 32 && (float)pair[0].y == 64);
}

#ifndef __CUDA_ARCH__
typedef _BitInt(640) Exact; // multiples of 2^-133, the least number

static Exact magnitude(unsigned bits) { // of the number behind the largest, too
    const unsigned exponent = bits >> 7, mantissa = bits & 0x7f;
    return exponent ? (Exact)(0x80 | mantissa) << (exponent - 1) : (Exact)mantissa;
}
static Exact value(unsigned bits) { return bits >> 15 ? -magnitude(bits & 0x7fff) : magnitude(bits & 0x7fff); }

// What is nearest to a quotient, ties to even.
static unsigned nearest(Exact numerator, Exact denominator) {
    const unsigned sign = (numerator < 0) != (denominator < 0) ? 0x8000 : 0;
    numerator = numerator < 0 ? -numerator : numerator, denominator = denominator < 0 ? -denominator : denominator;
    unsigned low = 0, high = INFINITE;
    while (low < high) { // the last that is not above it
        const unsigned middle = (low + high + 1) / 2;
        if (magnitude(middle) * denominator <= numerator)
            low = middle;
        else
            high = middle - 1;
    }
    if (low < INFINITE) {
        const Exact between = (magnitude(low) + magnitude(low + 1)) * denominator;
        low += 2 * numerator > between || (2 * numerator == between && (low & 1));
    }
    return low | sign;
}
static bool is_same(unsigned bits, unsigned expected) {
    return bits == expected || (((bits | expected) & 0x7fff) == 0); // of zeros the sign is not told here
}

static void check_arithmetic(const unsigned short *in, const unsigned short *out) {
    const Exact a = value(in[0]), b = value(in[1]), c = value(in[2]), unit = (Exact)1 << 133;
    EXPECT(is_same(out[0], nearest(a + b, 1)));
    EXPECT(is_same(out[1], nearest(a - b, 1)));
    EXPECT(is_same(out[2], nearest(a * b, unit)));
    EXPECT(b == 0 || is_same(out[3], nearest(a * unit, b)));
    EXPECT(is_same(out[4], nearest(a * b + c * unit, unit)));
    EXPECT(out[5] == out[4] || (out[4] & 0x7fff) > INFINITE);
}

static float power(unsigned bits) { // the number, by its meaning
    return std::ldexp((float)((bits >> 7 & 0xff ? 0x80 : 0) | (bits & 0x7f)), (bits >> 7 & 0xff ? (int)(bits >> 7 & 0xff) : 1) - 134) *
           (bits >> 15 ? -1 : 1);
}

static void rounding() {
    std::vector<float> values;
    std::vector<unsigned short> expected;
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        const float x = __bfloat162float(__ushort_as_bfloat16((unsigned short)bits));
        if ((bits & 0x7fff) >= INFINITE) {
            EXPECT((bits & 0x7fff) == INFINITE ? std::isinf(x) && std::signbit(x) == (bits >> 15) : std::isnan(x));
            values.push_back(x), expected.push_back((bits & 0x7fff) == INFINITE ? bits : 0x7fff);
            continue;
        }
        EXPECT(x == power(bits) && std::signbit(x) == (bits >> 15));
        const double next = (bits & 0x7fff) == INFINITE - 1 ? std::ldexp(bits >> 15 ? -1.0 : 1.0, 128) : power(bits + 1);
        const float middle = (float)((x + next) / 2);
        EXPECT(middle == (x + next) / 2);
        values.push_back(x), expected.push_back(bits);
        values.push_back(middle), expected.push_back(bits + (bits & 1));
        values.push_back(std::nextafter(middle, x)), expected.push_back(bits);
        values.push_back(std::nextafter(middle, (float)INFINITY * (bits >> 15 ? -1 : 1))), expected.push_back(bits + 1);
    }
    Managed<float> in(values.size());
    Managed<unsigned short> out(values.size());
    memcpy(in.data, values.data(), values.size() * sizeof(float));
    round_all<<<(values.size() + 255) / 256, 256>>>(out.data, in.data, (int)values.size());
    CHECK(cudaDeviceSynchronize());
    for (size_t i = 0; i < values.size(); i++) {
        EXPECT(out[i] == expected[i]);
        EXPECT(__bfloat16_as_ushort(__nv_bfloat16(values[i])) == expected[i]);
        EXPECT(__bfloat16_as_ushort(__double2bfloat16(values[i])) == expected[i]);
    }
}

static void integers() {
    unsigned long long x = 88172645463325252ull;
    for (int i = 0; i < 400; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        const unsigned long long u = x >> i % 64;
        const long long s = i & 1 ? -(long long)(u >> 1) : (long long)(u >> 1);
        EXPECT(__bfloat16_as_ushort(__ull2bfloat16_rn(u)) == nearest((Exact)u << 133, 1));
        EXPECT(__bfloat16_as_ushort(__ll2bfloat16_rn(s)) == nearest((Exact)s << 133, 1));
        EXPECT(__bfloat16_as_ushort(__int2bfloat16_rn((int)s)) == nearest((Exact)(int)s << 133, 1));
    }
    EXPECT(__bfloat16_as_ushort(__ll2bfloat16_rn((128ll << 55) + (1ll << 54) + 1)) == nearest((((Exact)128 << 55) + ((Exact)1 << 54) + 1) << 133, 1));
    EXPECT(__bfloat162int_rn(__nv_bfloat16(2.5f)) == 2 && __bfloat162int_rn(__nv_bfloat16(3.5f)) == 4);
    EXPECT(__bfloat162int_rz(__nv_bfloat16(-2.5f)) == -2 && __bfloat162int_rd(__nv_bfloat16(-2.5f)) == -3);
    EXPECT(__bfloat162int_ru(__nv_bfloat16(2.5f)) == 3 && __bfloat162int_rz(__nv_bfloat16(1e30f)) == INT_MAX);
    EXPECT(__bfloat162int_rz(__nv_bfloat16(-1e30f)) == INT_MIN && __bfloat162uint_rz(__nv_bfloat16(-3.0f)) == 0);
    EXPECT(__bfloat162int_rn(CUDART_NAN_BF16) == 0 && __bfloat162ushort_rz(__nv_bfloat16(1e9f)) == 65535);
}

static void directions() { // towards zero, down and up, beside a number that is there
    const float x = 1.0f + 1.0f / 1024;
    EXPECT((float)__float2bfloat16_rz(x) == 1 && (float)__float2bfloat16_rz(-x) == -1);
    EXPECT((float)__float2bfloat16_ru(x) == 1 + 1.0f / 128 && (float)__float2bfloat16_ru(-x) == -1);
    EXPECT((float)__float2bfloat16_rd(x) == 1 && (float)__float2bfloat16_rd(-x) == -1 - 1.0f / 128);
    EXPECT((float)__float2bfloat16_ru(1) == 1 && std::isinf((float)__float2bfloat16_ru(FLT_MAX)));
    EXPECT((float)__hmax(__nv_bfloat16(-2.0f), CUDART_NAN_BF16) == -2 && __hisnan(__hmax_nan(CUDART_NAN_BF16, CUDART_ONE_BF16)));
    EXPECT(!__heq(CUDART_NAN_BF16, CUDART_NAN_BF16) && __hequ(CUDART_NAN_BF16, CUDART_ONE_BF16) && __hisinf(-CUDART_INF_BF16) == -1);
    EXPECT((float)__hmin(CUDART_ONE_BF16, CUDART_ZERO_BF16) == 0 && (float)__habs(__nv_bfloat16(-3.0f)) == 3);
    EXPECT(std::isnan((float)(CUDART_INF_BF16 - CUDART_INF_BF16)) && std::isinf((float)__hfma(CUDART_INF_BF16, CUDART_ONE_BF16, CUDART_ONE_BF16)));
}

static void arithmetic_is_exact() {
    Managed<unsigned short> in(3 * CASES), out(RESULTS * CASES);
    unsigned seed = 12345;
    for (int i = 0; i < 3 * CASES; i++) {
        seed = seed * 1664525u + 1013904223u;
        const unsigned narrow = i % 5 ? 0xffff : 0x83ff; // every fifth number is small, every third case is of one size
        in[i] = (unsigned short)(seed >> 16 & narrow);
        if (i / 3 % 3 == 0)
            in[i] = (unsigned short)((in[i] & 0x807f) | (0x3f80 + (in[i] & 0x780)));
        if ((in[i] & 0x7fff) >= INFINITE)
            in[i] = (unsigned short)(in[i] - 0x80);
    }
    in[0] = 0x3f81, in[1] = 0x3f80 + 0x40, in[2] = 0x0001; // a tie and the least number: 1.0078125 * 1.5 + 2^-133
    in[3] = 0x3f81, in[4] = 0x3f80 + 0x40, in[5] = 0x8001;
    arithmetic<<<(CASES + 127) / 128, 128>>>(out.data, in.data, CASES);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < CASES; i++) {
        unsigned short own[RESULTS];
        compute(own, in.data + 3 * i);
        EXPECT(memcmp(own, out.data + RESULTS * i, sizeof own) == 0);
        check_arithmetic(in.data + 3 * i, out.data + RESULTS * i);
    }
    EXPECT(out[4] != out[RESULTS + 4]); // the least number decides
}
#endif

int main() {
    in_kernels<__nv_bfloat16, __nv_bfloat162>();
    in_kernels<__half, __half2>();
#ifndef __CUDA_ARCH__ // which has no integers that wide
    arithmetic_is_exact();
    rounding();
    integers();
    directions();
#endif
    return finish();
}
