/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point numbers of 16 and 8 bits: rounding by integer arithmetic, which is the same on both sides, and what kernels do with
 * them in registers and memory: shuffles and atomic sums. HEDDLE_SMALL_FLOAT writes what halves and bfloat16 have alike: operators, pairs,
 * comparisons, integers. */
#ifndef HEDDLE_CUDA_SMALL_FLOATS_H
#define HEDDLE_CUDA_SMALL_FLOATS_H
#pragma GCC system_header

#include "cuda_runtime.h"

#ifdef __cplusplus
#define HEDDLE_SMALL static __inline__ __host__ __device__ __attribute__((always_inline, unused))

HEDDLE_SMALL unsigned long long heddle_double_bits(double x)
{
    unsigned long long bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}
HEDDLE_SMALL double heddle_bits_double(unsigned long long bits)
{
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}
HEDDLE_SMALL unsigned int heddle_float_bits(float x)
{
    unsigned int bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}
HEDDLE_SMALL float heddle_bits_float(unsigned int bits)
{
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

/* The magnitude's bits in a format with so many bits of exponent and of mantissa, to nearest, ties to even. A magnitude beyond the
 * largest finite number gives what would come behind it if exponents went on; no NaN comes here. */
HEDDLE_SMALL unsigned int heddle_nearest(double x, int exponent_bits, int mantissa_bits)
{
    const unsigned long long bits = heddle_double_bits(x) & 0x7fffffffffffffffull, one = 1ull << 52;
    int exponent = (int)(bits >> 52) - 1023 + (1 << (exponent_bits - 1)) - 1, dropped = 52 - mantissa_bits;
    unsigned long long whole = bits & (one - 1);
    if (exponent > 0) {
        whole |= (unsigned long long)exponent << 52;
    } else { /* subnormal there; what is subnormal here is nothing there */
        whole |= one;
        dropped += 1 - exponent;
        if (dropped > 54)
            return 0;
    }
    const unsigned long long rest = whole & ((1ull << dropped) - 1), middle = 1ull << (dropped - 1);
    const unsigned int kept = (unsigned int)(whole >> dropped);
    return kept + (rest > middle || (rest == middle && (kept & 1)));
}

/* The sum of a product and a third number for later rounding to fewer bits: exact but for its last bit, which is set where the
 * sum is not exact (round to odd). The product must be exact in a double. */
HEDDLE_SMALL double heddle_sum_to_odd(double product, double third)
{
    const double sum = product + third;
    const unsigned long long bits = heddle_double_bits(sum);
    if ((bits >> 52 & 0x7ff) == 0x7ff)
        return sum;
    const double part = sum - product, error = (product - (sum - part)) + (third - part);
    if (error == 0 || (bits & 1))
        return sum;
    return heddle_bits_double((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}
template <class T> HEDDLE_SMALL T heddle_small(unsigned int bits)
{
    const unsigned short half = (unsigned short)bits;
    T x;
    __builtin_memcpy(&x, &half, sizeof x);
    return x;
}
template <class T> HEDDLE_SMALL unsigned int heddle_small_bits(T x)
{
    unsigned short half;
    __builtin_memcpy(&half, &x, sizeof half);
    return half;
}

/* From the nearest number to the one below or above it: what is nearest to x may be on its other side. */
template <class T> HEDDLE_SMALL T heddle_round_down(float x)
{
    const T nearest(x);
    const unsigned int bits = heddle_small_bits(nearest);
    return (float)nearest > x ? heddle_small<T>(bits & 0x7fff ? (bits >> 15 ? bits + 1 : bits - 1) : 0x8001) : nearest;
}
template <class T> HEDDLE_SMALL T heddle_round_up(float x)
{
    const T nearest(x);
    const unsigned int bits = heddle_small_bits(nearest);
    return (float)nearest < x ? heddle_small<T>(bits & 0x7fff ? (bits >> 15 ? bits - 1 : bits + 1) : 0x0001) : nearest;
}

/* To integers, towards zero: what is beyond them becomes the nearest, NaN 0. Kernels have an instruction that does so. */
#ifdef __CUDA_ARCH__
#define HEDDLE_TO_INTEGER(T, name, least, beyond, form, letter)                                                        \
    HEDDLE_SMALL T heddle_to_##name(float x)                                                                           \
    {                                                                                                                  \
        T result;                                                                                                      \
        asm("cvt.rzi." form ".f32 %0, %1;" : "=" letter(result) : "f"(x));                                             \
        return result;                                                                                                 \
    }
#else
#define HEDDLE_TO_INTEGER(T, name, least, beyond, form, letter)                                                        \
    HEDDLE_SMALL T heddle_to_##name(float x)                                                                           \
    {                                                                                                                  \
        return x != x ? 0 : x < (float)(least) ? (T)(least) : x >= beyond ? (T) ~(least) : (T)x;                       \
    }
#endif
HEDDLE_TO_INTEGER(short, short, -0x7fff - 1, 32768.0f, "s16", "h")
HEDDLE_TO_INTEGER(unsigned short, ushort, 0, 65536.0f, "u16", "h")
HEDDLE_TO_INTEGER(int, int, -0x7fffffff - 1, 2147483648.0f, "s32", "r")
HEDDLE_TO_INTEGER(unsigned int, uint, 0u, 4294967296.0f, "u32", "r")
HEDDLE_TO_INTEGER(long long, ll, -0x7fffffffffffffffll - 1, 9223372036854775808.0f, "s64", "l")
HEDDLE_TO_INTEGER(unsigned long long, ull, 0ull, 18446744073709551616.0f, "u64", "l")
#undef HEDDLE_TO_INTEGER

/* What follows is for a type T of 16 bits and its pairs. The file that has the type has before it: __hadd, __hsub, __hmul, __hdiv and
 * __hfma of T, and heddle_number, which gives what comparisons compare. */
#define HEDDLE_SMALL_INTEGER(T, word, Integer, name)                                                                   \
    HEDDLE_SMALL Integer __##word##2##name##_rz(T x) { return heddle_to_##name((float)x); }                            \
    HEDDLE_SMALL Integer __##word##2##name##_rn(T x) { return heddle_to_##name(__builtin_rintf((float)x)); }           \
    HEDDLE_SMALL Integer __##word##2##name##_rd(T x) { return heddle_to_##name(__builtin_floorf((float)x)); }          \
    HEDDLE_SMALL Integer __##word##2##name##_ru(T x) { return heddle_to_##name(__builtin_ceilf((float)x)); }           \
    HEDDLE_SMALL T __##name##2##word##_rn(Integer x) { return T(x); }

#define HEDDLE_SMALL_OPERATOR(T, Pair, sign, one, two)                                                                 \
    HEDDLE_SMALL Pair two(Pair a, Pair b) { return Pair(one(a.x, b.x), one(a.y, b.y)); }                               \
    HEDDLE_SMALL T one##_rn(T a, T b) { return one(a, b); }                                                            \
    HEDDLE_SMALL Pair two##_rn(Pair a, Pair b) { return two(a, b); }                                                   \
    HEDDLE_SMALL T operator sign(T a, T b) { return one(a, b); }                                                       \
    HEDDLE_SMALL T &operator sign##=(T &a, T b) { return a = one(a, b); }                                              \
    HEDDLE_SMALL Pair operator sign(Pair a, Pair b) { return two(a, b); }                                              \
    HEDDLE_SMALL Pair &operator sign##=(Pair &a, Pair b) { return a = two(a, b); }

#define HEDDLE_SMALL_STEP(T, sign, one)                                                                                \
    HEDDLE_SMALL T &operator sign##sign(T &a) { return a = a sign one; }                                               \
    HEDDLE_SMALL T operator sign##sign(T &a, int)                                                                      \
    {                                                                                                                  \
        const T before = a;                                                                                            \
        a = a sign one;                                                                                                \
        return before;                                                                                                 \
    }

/* From 0 to 1, NaN is 0; negative numbers become 0, NaN stays. */
#define HEDDLE_SMALL_SATURATED(T, Pair, name)                                                                          \
    HEDDLE_SMALL T name##_sat(T a, T b) { return heddle_saturate(name(a, b)); }                                        \
    HEDDLE_SMALL Pair name##2_sat(Pair a, Pair b) { return Pair(name##_sat(a.x, b.x), name##_sat(a.y, b.y)); }
#define HEDDLE_SMALL_FMA(T, Pair, name)                                                                                \
    HEDDLE_SMALL Pair name##2(Pair a, Pair b, Pair c) { return Pair(name(a.x, b.x, c.x), name(a.y, b.y, c.y)); }       \
    HEDDLE_SMALL T name##_sat(T a, T b, T c) { return heddle_saturate(name(a, b, c)); }                                \
    HEDDLE_SMALL T name##_relu(T a, T b, T c) { return heddle_not_negative(name(a, b, c)); }                           \
    HEDDLE_SMALL Pair name##2_sat(Pair a, Pair b, Pair c)                                                              \
    {                                                                                                                  \
        return Pair(name##_sat(a.x, b.x, c.x), name##_sat(a.y, b.y, c.y));                                             \
    }                                                                                                                  \
    HEDDLE_SMALL Pair name##2_relu(Pair a, Pair b, Pair c)                                                             \
    {                                                                                                                  \
        return Pair(name##_relu(a.x, b.x, c.x), name##_relu(a.y, b.y, c.y));                                           \
    }
template <class T> HEDDLE_SMALL T heddle_saturate(T a)
{
    return heddle_number(a) > 1 ? T(1.0f) : heddle_number(a) > 0 ? a : T(0.0f);
}
template <class T> HEDDLE_SMALL T heddle_not_negative(T a) { return heddle_number(a) < 0 ? T(0.0f) : a; }

/* Comparisons: plain ones are false for NaN, those that end in u are true; operators are plain but for !=. Of pairs there is one answer
 * for both numbers, or one for each, 1 or 0. */
#define HEDDLE_SMALL_COMPARE_AS(T, Pair, name)                                                                         \
    HEDDLE_SMALL bool __hb##name##2(Pair a, Pair b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }             \
    HEDDLE_SMALL Pair __h##name##2(Pair a, Pair b)                                                                     \
    {                                                                                                                  \
        return Pair(T(__h##name(a.x, b.x) ? 1.0f : 0.0f), T(__h##name(a.y, b.y) ? 1.0f : 0.0f));                       \
    }
#define HEDDLE_SMALL_COMPARE(T, Pair, name, condition, sign, name_of_sign)                                             \
    HEDDLE_SMALL bool __h##name(T a, T b) { return condition; }                                                        \
    HEDDLE_SMALL bool __h##name##u(T a, T b) { return __hisnan(a) || __hisnan(b) || __h##name(a, b); }                 \
    HEDDLE_SMALL_COMPARE_AS(T, Pair, name)                                                                             \
    HEDDLE_SMALL_COMPARE_AS(T, Pair, name##u)                                                                          \
    HEDDLE_SMALL bool operator sign(T a, T b) { return __h##name_of_sign(a, b); }                                      \
    HEDDLE_SMALL bool operator sign(Pair a, Pair b) { return __hb##name_of_sign##2(a, b); }
#define HEDDLE_SMALL_COMPARES(T, Pair)                                                                                 \
    HEDDLE_SMALL_COMPARE(T, Pair, eq, heddle_number(a) == heddle_number(b), ==, eq)                                    \
    HEDDLE_SMALL_COMPARE(T, Pair, ne, (heddle_number(a) < heddle_number(b) || heddle_number(a) > heddle_number(b)), !=, neu) \
    HEDDLE_SMALL_COMPARE(T, Pair, lt, heddle_number(a) < heddle_number(b), <, lt)                                      \
    HEDDLE_SMALL_COMPARE(T, Pair, le, heddle_number(a) <= heddle_number(b), <=, le)                                    \
    HEDDLE_SMALL_COMPARE(T, Pair, gt, heddle_number(a) > heddle_number(b), >, gt)                                      \
    HEDDLE_SMALL_COMPARE(T, Pair, ge, heddle_number(a) >= heddle_number(b), >=, ge)

/* A number wins over a NaN, but for names that end in nan; of zeros the positive one is larger. */
template <class T> HEDDLE_SMALL bool heddle_less(T a, T b)
{
    return heddle_number(a) < heddle_number(b) ||
           (heddle_number(a) == heddle_number(b) && heddle_small_bits(a) > heddle_small_bits(b));
}
#define HEDDLE_SMALL_EXTREME(T, Pair, name, is_first)                                                                  \
    HEDDLE_SMALL T name##_nan(T a, T b)                                                                                \
    {                                                                                                                  \
        return __hisnan(a) || __hisnan(b) ? heddle_small<T>(0x7fff) : (is_first) ? a : b;                              \
    }                                                                                                                  \
    HEDDLE_SMALL T name(T a, T b) { return __hisnan(a) && !__hisnan(b) ? b : __hisnan(b) && !__hisnan(a) ? a : name##_nan(a, b); } \
    HEDDLE_SMALL Pair name##2(Pair a, Pair b) { return Pair(name(a.x, b.x), name(a.y, b.y)); }                         \
    HEDDLE_SMALL Pair name##2_nan(Pair a, Pair b) { return Pair(name##_nan(a.x, b.x), name##_nan(a.y, b.y)); }

/* HEDDLE_SMALL_FLOAT(type, type of pairs, its word in names of conversions, the bits of infinity) */
#define HEDDLE_SMALL_FLOAT(T, Pair, word, infinity)                                                                    \
    HEDDLE_SMALL_INTEGER(T, word, short, short)                                                                        \
    HEDDLE_SMALL_INTEGER(T, word, unsigned short, ushort)                                                              \
    HEDDLE_SMALL_INTEGER(T, word, int, int)                                                                            \
    HEDDLE_SMALL_INTEGER(T, word, unsigned int, uint)                                                                  \
    HEDDLE_SMALL_INTEGER(T, word, long long, ll)                                                                       \
    HEDDLE_SMALL_INTEGER(T, word, unsigned long long, ull)                                                             \
    HEDDLE_SMALL unsigned short __##word##_as_ushort(T x) { return (unsigned short)heddle_small_bits(x); }             \
    HEDDLE_SMALL short __##word##_as_short(T x) { return (short)heddle_small_bits(x); }                                \
    HEDDLE_SMALL T __ushort_as_##word(unsigned short x) { return heddle_small<T>(x); }                                 \
    HEDDLE_SMALL T __short_as_##word(short x) { return heddle_small<T>((unsigned short)x); }                           \
    HEDDLE_SMALL T __float2##word(float x) { return T(x); }                                                            \
    HEDDLE_SMALL T __float2##word##_rn(float x) { return T(x); }                                                       \
    HEDDLE_SMALL T __float2##word##_rd(float x) { return heddle_round_down<T>(x); }                                    \
    HEDDLE_SMALL T __float2##word##_ru(float x) { return heddle_round_up<T>(x); }                                      \
    HEDDLE_SMALL T __float2##word##_rz(float x) { return x < 0 ? heddle_round_up<T>(x) : heddle_round_down<T>(x); }    \
    HEDDLE_SMALL T __double2##word(double x) { return T(x); }                                                          \
    HEDDLE_SMALL float __##word##2float(T x) { return (float)x; }                                                      \
    HEDDLE_SMALL Pair __halves2##word##2(T a, T b) { return Pair(a, b); }                                              \
    HEDDLE_SMALL Pair __##word##2##word##2(T a) { return Pair(a, a); }                                                 \
    HEDDLE_SMALL Pair make_##word##2(T a, T b) { return Pair(a, b); }                                                  \
    HEDDLE_SMALL Pair __float2##word##2_rn(float x) { return Pair(T(x), T(x)); }                                       \
    HEDDLE_SMALL Pair __floats2##word##2_rn(float x, float y) { return Pair(T(x), T(y)); }                             \
    HEDDLE_SMALL Pair __float22##word##2_rn(float2 v) { return Pair(T(v.x), T(v.y)); }                                 \
    HEDDLE_SMALL float2 __##word##22float2(Pair v) { return make_float2((float)v.x, (float)v.y); }                     \
    HEDDLE_SMALL T __low2##word(Pair v) { return v.x; }                                                                \
    HEDDLE_SMALL T __high2##word(Pair v) { return v.y; }                                                               \
    HEDDLE_SMALL float __low2float(Pair v) { return (float)v.x; }                                                      \
    HEDDLE_SMALL float __high2float(Pair v) { return (float)v.y; }                                                     \
    HEDDLE_SMALL Pair __low2##word##2(Pair v) { return Pair(v.x, v.x); }                                               \
    HEDDLE_SMALL Pair __high2##word##2(Pair v) { return Pair(v.y, v.y); }                                              \
    HEDDLE_SMALL Pair __lows2##word##2(Pair a, Pair b) { return Pair(a.x, b.x); }                                      \
    HEDDLE_SMALL Pair __highs2##word##2(Pair a, Pair b) { return Pair(a.y, b.y); }                                     \
    HEDDLE_SMALL Pair __lowhigh2highlow(Pair v) { return Pair(v.y, v.x); }                                             \
    HEDDLE_SMALL T __hneg(T a) { return heddle_small<T>(heddle_small_bits(a) ^ 0x8000u); }                             \
    HEDDLE_SMALL T __habs(T a) { return heddle_small<T>(heddle_small_bits(a) & 0x7fffu); }                             \
    HEDDLE_SMALL Pair __hneg2(Pair a) { return Pair(__hneg(a.x), __hneg(a.y)); }                                       \
    HEDDLE_SMALL Pair __habs2(Pair a) { return Pair(__habs(a.x), __habs(a.y)); }                                       \
    HEDDLE_SMALL_OPERATOR(T, Pair, +, __hadd, __hadd2)                                                                 \
    HEDDLE_SMALL_OPERATOR(T, Pair, -, __hsub, __hsub2)                                                                 \
    HEDDLE_SMALL_OPERATOR(T, Pair, *, __hmul, __hmul2)                                                                 \
    HEDDLE_SMALL_OPERATOR(T, Pair, /, __hdiv, __h2div)                                                                 \
    HEDDLE_SMALL T operator+(T a) { return a; }                                                                        \
    HEDDLE_SMALL T operator-(T a) { return __hneg(a); }                                                                \
    HEDDLE_SMALL Pair operator+(Pair a) { return a; }                                                                  \
    HEDDLE_SMALL Pair operator-(Pair a) { return __hneg2(a); }                                                         \
    HEDDLE_SMALL_STEP(T, +, T(1.0f))                                                                                   \
    HEDDLE_SMALL_STEP(T, -, T(1.0f))                                                                                   \
    HEDDLE_SMALL_STEP(Pair, +, Pair(T(1.0f), T(1.0f)))                                                                 \
    HEDDLE_SMALL_STEP(Pair, -, Pair(T(1.0f), T(1.0f)))                                                                 \
    HEDDLE_SMALL_SATURATED(T, Pair, __hadd)                                                                            \
    HEDDLE_SMALL_SATURATED(T, Pair, __hsub)                                                                            \
    HEDDLE_SMALL_SATURATED(T, Pair, __hmul)                                                                            \
    HEDDLE_SMALL_FMA(T, Pair, __hfma)                                                                                  \
    HEDDLE_SMALL bool __hisnan(T a) { return (heddle_small_bits(a) & 0x7fff) > infinity; }                             \
    HEDDLE_SMALL Pair __hisnan2(Pair a) { return Pair(T(__hisnan(a.x) ? 1.0f : 0.0f), T(__hisnan(a.y) ? 1.0f : 0.0f)); } \
    HEDDLE_SMALL int __hisinf(T a)                                                                                     \
    {                                                                                                                  \
        return (heddle_small_bits(a) & 0x7fff) != infinity ? 0 : heddle_small_bits(a) >> 15 ? -1 : 1;                  \
    }                                                                                                                  \
    HEDDLE_SMALL_COMPARES(T, Pair)                                                                                     \
    HEDDLE_SMALL_EXTREME(T, Pair, __hmax, !heddle_less(a, b))                                                          \
    HEDDLE_SMALL_EXTREME(T, Pair, __hmin, !heddle_less(b, a))

#ifdef __CUDA__
/* Mathematics, by way of float. */
#define HEDDLE_SMALL_FUNCTION(T, Pair, name, function)                                                                 \
    static __inline__ __device__ T h##name(T x) { return T(function((float)x)); }                                      \
    static __inline__ __device__ Pair h2##name(Pair v) { return Pair(h##name(v.x), h##name(v.y)); }
#define HEDDLE_SMALL_MATH(T, Pair)                                                                                     \
    HEDDLE_SMALL_FUNCTION(T, Pair, sqrt, sqrtf)                                                                        \
    HEDDLE_SMALL_FUNCTION(T, Pair, rsqrt, rsqrtf)                                                                      \
    HEDDLE_SMALL_FUNCTION(T, Pair, rcp, 1.0f /)                                                                        \
    HEDDLE_SMALL_FUNCTION(T, Pair, exp, expf)                                                                          \
    HEDDLE_SMALL_FUNCTION(T, Pair, exp2, exp2f)                                                                        \
    HEDDLE_SMALL_FUNCTION(T, Pair, exp10, exp10f)                                                                      \
    HEDDLE_SMALL_FUNCTION(T, Pair, log, logf)                                                                          \
    HEDDLE_SMALL_FUNCTION(T, Pair, log2, log2f)                                                                        \
    HEDDLE_SMALL_FUNCTION(T, Pair, log10, log10f)                                                                      \
    HEDDLE_SMALL_FUNCTION(T, Pair, sin, sinf)                                                                          \
    HEDDLE_SMALL_FUNCTION(T, Pair, cos, cosf)                                                                          \
    HEDDLE_SMALL_FUNCTION(T, Pair, tanh, tanhf)                                                                        \
    HEDDLE_SMALL_FUNCTION(T, Pair, floor, floorf)                                                                      \
    HEDDLE_SMALL_FUNCTION(T, Pair, ceil, ceilf)                                                                        \
    HEDDLE_SMALL_FUNCTION(T, Pair, rint, rintf)                                                                        \
    HEDDLE_SMALL_FUNCTION(T, Pair, trunc, truncf)

template <class T> HEDDLE_DEVICE unsigned int heddle_word_of(T x)
{
    unsigned int word = 0;
    __builtin_memcpy(&word, &x, sizeof x);
    return word;
}
template <class T> HEDDLE_DEVICE T heddle_of_word(unsigned int word)
{
    T x;
    __builtin_memcpy(&x, &word, sizeof x);
    return x;
}
#ifdef __CUDA_ARCH__
#define HEDDLE_ARCH __CUDA_ARCH__
#else
#define HEDDLE_ARCH 0
#endif
/* A sum in memory where no instruction adds: what is there is exchanged until nobody else has changed it. For 16 bits CUDA has that
 * from sm_70 on only; Heddle has it everywhere. The word around them would reach beyond the end of what was allocated. */
template <class T> HEDDLE_DEVICE T heddle_atomic_sum(T *p, T v)
{
    typedef unsigned int __attribute__((may_alias)) Word;
    typedef unsigned short __attribute__((may_alias)) Half;
    if constexpr (sizeof v == 2) {
        Half seen, old = *(volatile Half *)p;
        do {
            seen = old;
            const T value = heddle_of_word<T>(seen) + v;
            const Half sum = (Half)heddle_word_of(value);
            asm volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(old) : "l"(p), "h"(seen), "h"(sum) : "memory");
        } while (old != seen);
        return heddle_of_word<T>(old);
    } else {
        Word old = *(volatile Word *)p, sum;
        do {
            sum = heddle_word_of(heddle_of_word<T>(old) + v);
        } while (!__atomic_compare_exchange_n((Word *)p, &old, sum, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
        return heddle_of_word<T>(old);
    }
}
#define HEDDLE_SHUFFLE(name, T, By)                                                                                    \
    HEDDLE_WARP T name(unsigned int mask, T x, By by, int width = 32)                                                  \
    {                                                                                                                  \
        return heddle_of_word<T>(name(mask, heddle_word_of(x), by, width));                                            \
    }
/* HEDDLE_SMALL_IN_KERNELS(type, an unsigned integer of its size, the letter of its registers, its name in PTX, where that is added from) */
#define HEDDLE_SMALL_IN_KERNELS(T, Bits, letter, name, arch)                                                           \
    HEDDLE_SHUFFLE(__shfl_sync, T, int)                                                                                \
    HEDDLE_SHUFFLE(__shfl_up_sync, T, unsigned int)                                                                    \
    HEDDLE_SHUFFLE(__shfl_down_sync, T, unsigned int)                                                                  \
    HEDDLE_SHUFFLE(__shfl_xor_sync, T, int)                                                                            \
    HEDDLE_DEVICE T __ldg(const T *p) { return heddle_of_word<T>(__ldg((const Bits *)p)); }                            \
    HEDDLE_DEVICE T atomicAdd(T *p, T v)                                                                               \
    {                                                                                                                  \
        if (HEDDLE_ARCH < arch)                                                                                        \
            return heddle_atomic_sum(p, v);                                                                            \
        Bits old;                                                                                                      \
        asm volatile("atom.add.noftz." name " %0, [%1], %2;"                                                           \
                     : "=" letter(old)                                                                                 \
                     : "l"(p), letter((Bits)heddle_word_of(v))                                                         \
                     : "memory");                                                                                      \
        return heddle_of_word<T>(old);                                                                                 \
    }
#endif
#endif

#endif
