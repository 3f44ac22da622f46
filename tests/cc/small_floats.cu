// SPDX-License-Identifier: Apache-2.0
// What halves and bfloat16 have alike, on both sides: comparisons with NaN among them, the larger and the smaller, limits, steps, integers,
// pairs; functions of mathematics; atomic sums of the last 16 bits of an allocation.
#include "check.h"
#include <climits>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum { WORDS = 16, SPECIAL = 9 };
#define SPECIALS {0x7fff, 0xffff, -2.5f, -0.0f, 0.0f, 0.5f, 1.0f, 3.5f, INFINITY} // the first two are bits of NaN

template <class T> __host__ __device__ static unsigned bits_of(T x) { return heddle_small_bits(x); }

// All answers of one pair of numbers: bit k of a word is one comparison.
#define COMPARISONS(COMPARISON) COMPARISON(eq, ==) COMPARISON(ne, !=) COMPARISON(lt, <) COMPARISON(le, <=) COMPARISON(gt, >) COMPARISON(ge, >=)

template <class T, class Pair> __host__ __device__ static void compare(unsigned *out, T a, T b) {
    unsigned plain = 0, unordered = 0, signs = 0, both = 0, each = 0, k = 0;
    const Pair one(a, b), other(b, b);
#define COMPARISON(name, sign)                                                                                         \
    plain |= (unsigned)__h##name(a, b) << k, unordered |= (unsigned)__h##name##u(a, b) << k;                           \
    signs |= (unsigned)(a sign b) << k | (unsigned)(one sign other) << (k + 16);                                       \
    both |= (unsigned)__hb##name##2(one, other) << k | (unsigned)__hb##name##u2(one, other) << (k + 16);               \
    each |= (unsigned)((float)__h##name##2(one, other).x == 1) << k |                                                  \
            (unsigned)((float)__h##name##u2(one, other).x == 1) << (k + 16);                                           \
    k++;
    COMPARISONS(COMPARISON)
#undef COMPARISON
    out[0] = plain, out[1] = unordered, out[2] = signs, out[3] = both, out[4] = each;
    out[5] = bits_of(__hmax(a, b)) << 16 | bits_of(__hmin(a, b));
    out[6] = bits_of(__hmax_nan(a, b)) << 16 | bits_of(__hmin2_nan(one, other).x);
    out[7] = bits_of(__hadd_sat(a, b)) << 16 | bits_of(__hfma_sat(a, b, a));
    out[8] = bits_of(__hfma_relu(a, b, b)) << 16 | bits_of(__hfma2_relu(one, other, other).x);
    T up = a, down = a;
    Pair pair = one;
    out[9] = bits_of(up++) << 16 | bits_of(--down);
    out[10] = bits_of(up) << 16 | bits_of((++pair).y);
    out[11] = bits_of(-a) << 16 | bits_of((-one).y);
    out[12] = (unsigned)__hisnan(a) | (unsigned)(__hisinf(b) & 3) << 1;
    out[13] = bits_of(__lowhigh2highlow(one).x) << 16 | bits_of(__habs2(one).x);
    out[14] = out[15] = 0;
}
__host__ __device__ static void integers(unsigned *out, __half x) {
    out[14] = (unsigned)(unsigned short)__half2short_rz(x) << 16 | __half2ushort_ru(x);
    out[15] = (unsigned)__half2int_rn(x) ^ (unsigned)__half2ll_rd(x) << 16;
}
__host__ __device__ static void integers(unsigned *out, __nv_bfloat16 x) {
    out[14] = (unsigned)(unsigned short)__bfloat162short_rz(x) << 16 | __bfloat162ushort_ru(x);
    out[15] = (unsigned)__bfloat162int_rn(x) ^ (unsigned)__bfloat162ll_rd(x) << 16;
}

template <class T> __host__ __device__ static T special(int i) {
    const float values[SPECIAL] = SPECIALS;
    return i < 2 ? heddle_small<T>(i ? 0xffff : 0x7fff) : T(values[i]);
}
template <class T, class Pair> __global__ void compare_all(unsigned *out) {
    const int i = threadIdx.x;
    compare<T, Pair>(out + WORDS * i, special<T>(i / SPECIAL), special<T>(i % SPECIAL));
    integers(out + WORDS * i, special<T>(i / SPECIAL));
}

// The same by floats, which have all of these numbers. NaN is one.
static unsigned rounded(const __half *, float x) { return x != x ? 0x7fff : bits_of(__half((_Float16)x)); }
static unsigned rounded(const __nv_bfloat16 *, float x) { return x != x ? 0x7fff : bits_of(__nv_bfloat16(x)); }
static unsigned larger(float a, float b) { return a != a ? 1 : b != b ? 0 : a > b || (a == b && !std::signbit(a)) ? 0 : 1; }
static float to_integer(float x, float least, float most) { return x != x ? 0 : x < least ? least : x > most ? most : std::trunc(x); }

template <class T> static void expect(const unsigned *out, float a, float b, unsigned a_bits) {
    const T *const kind = nullptr;
    const bool is_unordered = a != a || b != b, b_orders = b == b;
    unsigned k = 0;
#define COMPARISON(name, sign)                                                                                         \
    {                                                                                                                  \
        const bool is_plain = !is_unordered && (a sign b), is_b = b_orders && (b sign b), is_ne = #sign[0] == '!';     \
        const bool by_sign = is_plain || (is_ne && is_unordered), by_pair = by_sign && (is_b || (is_ne && !b_orders)); \
        EXPECT((out[0] >> k & 1) == is_plain && (out[1] >> k & 1) == (is_plain || is_unordered));                      \
        EXPECT((out[2] >> k & 1) == by_sign && (out[2] >> (k + 16) & 1) == by_pair);                                   \
        EXPECT((out[3] >> k & 1) == (is_plain && is_b));                                                               \
        EXPECT((out[3] >> (k + 16) & 1) == ((is_plain || is_unordered) && (is_b || !b_orders)));                       \
        EXPECT((out[4] >> k & 1) == is_plain && (out[4] >> (k + 16) & 1) == (is_plain || is_unordered));               \
        k++;                                                                                                           \
    }
    COMPARISONS(COMPARISON)
#undef COMPARISON
    const float most = larger(a, b) ? b : a, least = a != a ? b : b != b ? a : larger(a, b) ? a : b;
    EXPECT(out[5] == (rounded(kind, most) << 16 | rounded(kind, least)));
    EXPECT(out[6] == (is_unordered ? 0x7fff7fff : out[5]));
    const float sum = a + b, product = a * b + a, relu = a * b + b;
    EXPECT(out[7] >> 16 == rounded(kind, sum > 1 ? 1 : sum > 0 ? sum : 0) &&
           (out[7] & 0xffff) == rounded(kind, product > 1 ? 1 : product > 0 ? product : 0));
    EXPECT(out[8] >> 16 == (out[8] & 0xffff));
    EXPECT(relu != relu ? __hisnan(heddle_small<T>(out[8])) : (out[8] & 0xffff) == rounded(kind, relu < 0 ? 0 : relu));
    if (a == a)
        EXPECT(out[9] == (a_bits << 16 | rounded(kind, a - 1)) && out[10] >> 16 == rounded(kind, a + 1));
    if (b == b)
        EXPECT((out[10] & 0xffff) == rounded(kind, b + 1));
    EXPECT((out[11] >> 16) == (a_bits ^ 0x8000) && (b != b || (out[11] & 0xffff) == (rounded(kind, b) ^ 0x8000)));
    EXPECT(out[12] == (unsigned)((a != a) | (std::isinf(b) ? 1 : 0) << 1));
    EXPECT((b != b || out[13] >> 16 == rounded(kind, b)) && (out[13] & 0xffff) == (a_bits & 0x7fff));
    EXPECT(out[14] == ((unsigned)(unsigned short)(short)to_integer(a, SHRT_MIN, SHRT_MAX) << 16 |
                       (unsigned)to_integer(std::ceil(a), 0, USHRT_MAX)));
    if (a == a && !std::isinf(a))
        EXPECT(out[15] == ((unsigned)(int)std::rint(a) ^ (unsigned)(long long)std::floor(a) << 16));
}

template <class T, class Pair> static void both_sides() {
    const float values[SPECIAL] = SPECIALS;
    Managed<unsigned> out(WORDS * SPECIAL * SPECIAL);
    compare_all<T, Pair><<<1, SPECIAL * SPECIAL>>>(out.data);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < SPECIAL * SPECIAL; i++) {
        const T a = special<T>(i / SPECIAL), b = special<T>(i % SPECIAL);
        const float x = i / SPECIAL < 2 ? NAN : values[i / SPECIAL], y = i % SPECIAL < 2 ? NAN : values[i % SPECIAL];
        unsigned own[WORDS];
        compare<T, Pair>(own, a, b);
        integers(own, a);
        expect<T>(own, x, y, bits_of(a));
        expect<T>(out.data + WORDS * i, x, y, bits_of(a));
    }
}

// ---- mathematics: within one unit in the last place of a half or a bfloat16 ----

#define FUNCTIONS(FUNCTION)                                                                                            \
    FUNCTION(sqrt, std::sqrt(x)) FUNCTION(rsqrt, 1 / std::sqrt(x)) FUNCTION(rcp, 1 / x) FUNCTION(exp, std::exp(x))     \
    FUNCTION(exp2, std::exp2(x)) FUNCTION(exp10, std::pow(10.0, x)) FUNCTION(log, std::log(x))                         \
    FUNCTION(log2, std::log2(x)) FUNCTION(log10, std::log10(x)) FUNCTION(sin, std::sin(x)) FUNCTION(cos, std::cos(x))  \
    FUNCTION(tanh, std::tanh(x)) FUNCTION(floor, std::floor(x)) FUNCTION(ceil, std::ceil(x))                           \
    FUNCTION(rint, std::rint(x)) FUNCTION(trunc, std::trunc(x))
#define FUNCTION(name, value) +1
enum { FUNCTIONS_COUNT = FUNCTIONS(FUNCTION) };
#undef FUNCTION

template <class T, class Pair> __global__ void mathematics(T *out) {
    const T x = T(0.11f * (threadIdx.x + 1));
    T *own = out + FUNCTIONS_COUNT * threadIdx.x;
#define FUNCTION(name, value)                                                                                          \
    *own = h##name(x);                                                                                                 \
    if (bits_of(h2##name(Pair(T(1.0f), x)).y) != bits_of(*own))                                                        \
        *own = T(-77.0f);                                                                                              \
    own++;
    FUNCTIONS(FUNCTION)
#undef FUNCTION
}
template <class T, class Pair> static void functions() {
    Managed<T> out(FUNCTIONS_COUNT * 32);
    mathematics<T, Pair><<<1, 32>>>(out.data);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) {
        const double x = (float)T(0.11f * (i + 1));
        T *own = out.data + FUNCTIONS_COUNT * i;
#define FUNCTION(name, value)                                                                                          \
    {                                                                                                                  \
        const int distance = (int)bits_of(*own++) - (int)bits_of(T((double)(value)));                                  \
        EXPECT(distance >= -1 && distance <= 1 && #name);                                                              \
    }
        FUNCTIONS(FUNCTION)
#undef FUNCTION
    }
}

// ---- an allocation of an odd number of halves: its end is no whole word ----

template <class T> __global__ void add_to_last(T *sums, int count) { atomicAdd(&sums[count - 1], T(2.0f)); }
template <class T> static void at_the_end() {
    enum { COUNT = 129 };
    T *sums, result[COUNT];
    CHECK(cudaMalloc(&sums, sizeof result));
    CHECK(cudaMemset(sums, 0, sizeof result));
    add_to_last<<<2, 32>>>(sums, COUNT);
    CHECK(cudaMemcpy(result, sums, sizeof result, cudaMemcpyDeviceToHost));
    EXPECT((float)result[COUNT - 1] == 128 && (float)result[COUNT - 2] == 0);
    CHECK(cudaFree(sums));
}

int main() {
    both_sides<__half, __half2>();
    both_sides<__nv_bfloat16, __nv_bfloat162>();
    functions<__half, __half2>();
    functions<__nv_bfloat16, __nv_bfloat162>();
    at_the_end<__half>();
    at_the_end<__nv_bfloat16>();
    return finish();
}
