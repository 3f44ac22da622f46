/* SPDX-License-Identifier: Apache-2.0 */
/* Bfloat16: __nv_bfloat16, __nv_bfloat162 and their functions, on both sides. A number is the upper half of a float. From sm_80 on
 * kernels convert, add and multiply by the instructions for it; below, and on the host, by those for floats and integers. */
#ifndef HEDDLE_CUDA_BF16_H
#define HEDDLE_CUDA_BF16_H
#pragma GCC system_header
#define __CUDA_BF16_H__ /* sources ask by this name whether the file was included */

#include "heddle_small_floats.h"

#ifdef __cplusplus
#define HEDDLE_BF16 static __inline__ __host__ __device__ __attribute__((always_inline, unused))
#define HEDDLE_METHOD __inline__ __host__ __device__ __attribute__((always_inline))

struct __nv_bfloat16_raw {
    unsigned short x;
};
struct __nv_bfloat162_raw {
    unsigned short x, y;
};

/* Every NaN becomes the one that CUDA has. */
HEDDLE_BF16 unsigned short heddle_bf16_bits(float x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned short rounded;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded) : "f"(x));
    return rounded;
#endif
    const unsigned int bits = heddle_float_bits(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return 0x7fff;
    return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}
HEDDLE_BF16 unsigned short heddle_bf16_bits(double x)
{
    if (x != x)
        return 0x7fff;
    const unsigned int magnitude = heddle_nearest(x, 8, 7);
    return (unsigned short)((magnitude < 0x7f80 ? magnitude : 0x7f80) | (unsigned int)(heddle_double_bits(x) >> 63) << 15);
}
HEDDLE_BF16 unsigned short heddle_bf16_bits(long long x)
{ /* a double has all of it but for the last bits, which only say that there are some */
    const unsigned long long magnitude = x < 0 ? 0 - (unsigned long long)x : (unsigned long long)x;
    const double rough = (double)(magnitude >> 11 << 11 | (magnitude & 0x7ff ? 0x800 : 0));
    return heddle_bf16_bits(magnitude >> 52 ? (x < 0 ? -rough : rough) : (double)x);
}
HEDDLE_BF16 unsigned short heddle_bf16_bits(unsigned long long x)
{
    return heddle_bf16_bits(x >> 52 ? (double)(x >> 11 << 11 | (x & 0x7ff ? 0x800 : 0)) : (double)x);
}

struct __attribute__((aligned(2))) __nv_bfloat16 {
    unsigned short bits;
    __nv_bfloat16() = default;
    HEDDLE_METHOD __nv_bfloat16(float x) : bits(heddle_bf16_bits(x)) {}
    HEDDLE_METHOD __nv_bfloat16(double x) : bits(heddle_bf16_bits(x)) {}
    HEDDLE_METHOD __nv_bfloat16(short x) : bits(heddle_bf16_bits((float)x)) {}
    HEDDLE_METHOD __nv_bfloat16(unsigned short x) : bits(heddle_bf16_bits((float)x)) {}
    HEDDLE_METHOD __nv_bfloat16(int x) : bits(heddle_bf16_bits((double)x)) {}
    HEDDLE_METHOD __nv_bfloat16(unsigned int x) : bits(heddle_bf16_bits((double)x)) {}
    HEDDLE_METHOD __nv_bfloat16(long x) : bits(heddle_bf16_bits((long long)x)) {}
    HEDDLE_METHOD __nv_bfloat16(unsigned long x) : bits(heddle_bf16_bits((unsigned long long)x)) {}
    HEDDLE_METHOD __nv_bfloat16(long long x) : bits(heddle_bf16_bits(x)) {}
    HEDDLE_METHOD __nv_bfloat16(unsigned long long x) : bits(heddle_bf16_bits(x)) {}
    HEDDLE_METHOD constexpr __nv_bfloat16(__nv_bfloat16_raw raw) : bits(raw.x) {}
    HEDDLE_METHOD operator float() const { return heddle_bits_float((unsigned int)bits << 16); }
    HEDDLE_METHOD operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{bits}; }
};
typedef __nv_bfloat16 nv_bfloat16;

struct __attribute__((aligned(4))) __nv_bfloat162 {
    __nv_bfloat16 x, y;
    __nv_bfloat162() = default;
    HEDDLE_METHOD constexpr __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b) {}
    HEDDLE_METHOD constexpr __nv_bfloat162(__nv_bfloat162_raw raw)
        : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y})
    {
    }
    HEDDLE_METHOD operator __nv_bfloat162_raw() const { return __nv_bfloat162_raw{x.bits, y.bits}; }
};
typedef __nv_bfloat162 nv_bfloat162;

/* ---- conversions ---- */
HEDDLE_BF16 __nv_bfloat16 heddle_bf16(unsigned int bits)
{
    return __nv_bfloat16(__nv_bfloat16_raw{(unsigned short)bits});
}
HEDDLE_BF16 float __bfloat162float(__nv_bfloat16 x) { return (float)x; }
HEDDLE_BF16 __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
HEDDLE_BF16 __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
HEDDLE_BF16 __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
HEDDLE_BF16 __nv_bfloat16 __float2bfloat16_rz(float x)
{
    return x != x ? heddle_bf16(0x7fff) : heddle_bf16(heddle_float_bits(x) >> 16);
}
/* Away from zero where there is a rest; from the largest finite number that is to infinity. */
HEDDLE_BF16 __nv_bfloat16 heddle_bf16_away(float x, bool is_away)
{
    const unsigned int bits = heddle_float_bits(x);
    return x != x ? heddle_bf16(0x7fff) : heddle_bf16((bits >> 16) + (is_away && (bits & 0xffff)));
}
HEDDLE_BF16 __nv_bfloat16 __float2bfloat16_rd(float x) { return heddle_bf16_away(x, heddle_float_bits(x) >> 31); }
HEDDLE_BF16 __nv_bfloat16 __float2bfloat16_ru(float x) { return heddle_bf16_away(x, !(heddle_float_bits(x) >> 31)); }
HEDDLE_BF16 unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
HEDDLE_BF16 short __bfloat16_as_short(__nv_bfloat16 x) { return (short)x.bits; }
HEDDLE_BF16 __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return heddle_bf16(x); }
HEDDLE_BF16 __nv_bfloat16 __short_as_bfloat16(short x) { return heddle_bf16((unsigned short)x); }
/* To integers: what is beyond them becomes the nearest, NaN 0. */
#define HEDDLE_INTEGER(T, name, least, beyond)                                                                         \
    HEDDLE_BF16 T heddle_bf16_to_##name(float x)                                                                       \
    {                                                                                                                  \
        return x != x ? 0 : x < (float)(least) ? (least) : x >= beyond ? (T) ~(least) : (T)x;                         \
    }                                                                                                                  \
    HEDDLE_BF16 T __bfloat162##name##_rz(__nv_bfloat16 x) { return heddle_bf16_to_##name((float)x); }                  \
    HEDDLE_BF16 T __bfloat162##name##_rn(__nv_bfloat16 x) { return heddle_bf16_to_##name(__builtin_rintf((float)x)); } \
    HEDDLE_BF16 T __bfloat162##name##_rd(__nv_bfloat16 x) { return heddle_bf16_to_##name(__builtin_floorf((float)x)); } \
    HEDDLE_BF16 T __bfloat162##name##_ru(__nv_bfloat16 x) { return heddle_bf16_to_##name(__builtin_ceilf((float)x)); } \
    HEDDLE_BF16 __nv_bfloat16 __##name##2bfloat16_rn(T x) { return __nv_bfloat16(x); }
HEDDLE_INTEGER(short, short, -0x7fff - 1, 32768.0f)
HEDDLE_INTEGER(unsigned short, ushort, 0, 65536.0f)
HEDDLE_INTEGER(int, int, -0x7fffffff - 1, 2147483648.0f)
HEDDLE_INTEGER(unsigned int, uint, 0u, 4294967296.0f)
HEDDLE_INTEGER(long long, ll, -0x7fffffffffffffffll - 1, 9223372036854775808.0f)
HEDDLE_INTEGER(unsigned long long, ull, 0ull, 18446744073709551616.0f)
#undef HEDDLE_INTEGER

/* ---- pairs ---- */
HEDDLE_BF16 __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
HEDDLE_BF16 __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
HEDDLE_BF16 __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162(a, a); }
HEDDLE_BF16 __nv_bfloat162 __float2bfloat162_rn(float x) { return __bfloat162bfloat162(__nv_bfloat16(x)); }
HEDDLE_BF16 __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return __nv_bfloat162(x, y); }
HEDDLE_BF16 __nv_bfloat162 __float22bfloat162_rn(float2 v) { return __nv_bfloat162(v.x, v.y); }
HEDDLE_BF16 float2 __bfloat1622float2(__nv_bfloat162 v) { return make_float2((float)v.x, (float)v.y); }
HEDDLE_BF16 __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
HEDDLE_BF16 __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
HEDDLE_BF16 float __low2float(__nv_bfloat162 v) { return (float)v.x; }
HEDDLE_BF16 float __high2float(__nv_bfloat162 v) { return (float)v.y; }
HEDDLE_BF16 __nv_bfloat162 __low2bfloat162(__nv_bfloat162 v) { return __nv_bfloat162(v.x, v.x); }
HEDDLE_BF16 __nv_bfloat162 __high2bfloat162(__nv_bfloat162 v) { return __nv_bfloat162(v.y, v.y); }
HEDDLE_BF16 __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.x, b.x); }
HEDDLE_BF16 __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.y, b.y); }
HEDDLE_BF16 __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 v) { return __nv_bfloat162(v.y, v.x); }

/* ---- arithmetic: one rounding each, as a float has more than twice the bits; a sum of three is rounded from a double ---- */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
HEDDLE_BF16 __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c)
{
    unsigned short result;
    asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(result) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
    return heddle_bf16(result);
}
HEDDLE_BF16 __nv_bfloat16 __hadd(__nv_bfloat16 a, __nv_bfloat16 b) { return __hfma(a, heddle_bf16(0x3f80), b); }
HEDDLE_BF16 __nv_bfloat16 __hsub(__nv_bfloat16 a, __nv_bfloat16 b) { return __hfma(b, heddle_bf16(0xbf80), a); }
HEDDLE_BF16 __nv_bfloat16 __hmul(__nv_bfloat16 a, __nv_bfloat16 b) { return __hfma(a, b, heddle_bf16(0x8000)); }
#else
HEDDLE_BF16 __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c)
{
    return __nv_bfloat16(heddle_sum_to_odd((double)(float)a * (float)b, (double)(float)c));
}
HEDDLE_BF16 __nv_bfloat16 __hadd(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a + (float)b); }
HEDDLE_BF16 __nv_bfloat16 __hsub(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a - (float)b); }
HEDDLE_BF16 __nv_bfloat16 __hmul(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((double)(float)a * (float)b); }
#endif
HEDDLE_BF16 __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((double)(float)a / (float)b); }
HEDDLE_BF16 __nv_bfloat16 __hneg(__nv_bfloat16 a) { return heddle_bf16(a.bits ^ 0x8000u); }
HEDDLE_BF16 __nv_bfloat16 __habs(__nv_bfloat16 a) { return heddle_bf16(a.bits & 0x7fffu); }
/* Into the range from 0 to 1; no number is 0. */
HEDDLE_BF16 __nv_bfloat16 heddle_bf16_saturate(__nv_bfloat16 a)
{
    return (float)a > 1 ? heddle_bf16(0x3f80) : (float)a > 0 ? a : heddle_bf16(0);
}
HEDDLE_BF16 __nv_bfloat16 __hadd_sat(__nv_bfloat16 a, __nv_bfloat16 b) { return heddle_bf16_saturate(__hadd(a, b)); }
HEDDLE_BF16 __nv_bfloat16 __hsub_sat(__nv_bfloat16 a, __nv_bfloat16 b) { return heddle_bf16_saturate(__hsub(a, b)); }
HEDDLE_BF16 __nv_bfloat16 __hmul_sat(__nv_bfloat16 a, __nv_bfloat16 b) { return heddle_bf16_saturate(__hmul(a, b)); }
HEDDLE_BF16 __nv_bfloat16 __hfma_sat(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c)
{
    return heddle_bf16_saturate(__hfma(a, b, c));
}
HEDDLE_BF16 __nv_bfloat16 __hfma_relu(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c)
{
    const __nv_bfloat16 x = __hfma(a, b, c);
    return (float)x < 0 ? heddle_bf16(0) : x;
}
HEDDLE_BF16 __nv_bfloat162 __hneg2(__nv_bfloat162 a) { return __nv_bfloat162(__hneg(a.x), __hneg(a.y)); }
HEDDLE_BF16 __nv_bfloat162 __habs2(__nv_bfloat162 a) { return __nv_bfloat162(__habs(a.x), __habs(a.y)); }
HEDDLE_BF16 __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c)
{
    return __nv_bfloat162(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
#define HEDDLE_OPERATOR(sign, one, two)                                                                                \
    HEDDLE_BF16 __nv_bfloat162 two(__nv_bfloat162 a, __nv_bfloat162 b)                                                 \
    {                                                                                                                  \
        return __nv_bfloat162(one(a.x, b.x), one(a.y, b.y));                                                           \
    }                                                                                                                  \
    HEDDLE_BF16 __nv_bfloat16 one##_rn(__nv_bfloat16 a, __nv_bfloat16 b) { return one(a, b); }                         \
    HEDDLE_BF16 __nv_bfloat16 operator sign(__nv_bfloat16 a, __nv_bfloat16 b) { return one(a, b); }                    \
    HEDDLE_BF16 __nv_bfloat16 &operator sign##=(__nv_bfloat16 &a, __nv_bfloat16 b) { return a = one(a, b); }           \
    HEDDLE_BF16 __nv_bfloat162 operator sign(__nv_bfloat162 a, __nv_bfloat162 b) { return two(a, b); }                 \
    HEDDLE_BF16 __nv_bfloat162 &operator sign##=(__nv_bfloat162 &a, __nv_bfloat162 b) { return a = two(a, b); }
HEDDLE_OPERATOR(+, __hadd, __hadd2)
HEDDLE_OPERATOR(-, __hsub, __hsub2)
HEDDLE_OPERATOR(*, __hmul, __hmul2)
HEDDLE_OPERATOR(/, __hdiv, __h2div)
#undef HEDDLE_OPERATOR
HEDDLE_BF16 __nv_bfloat16 operator-(__nv_bfloat16 a) { return __hneg(a); }
HEDDLE_BF16 __nv_bfloat162 operator-(__nv_bfloat162 a) { return __hneg2(a); }

/* ---- comparisons: plain ones are false for NaN, those that end in u are true ---- */
HEDDLE_BF16 bool __hisnan(__nv_bfloat16 a) { return (a.bits & 0x7fff) > 0x7f80; }
HEDDLE_BF16 int __hisinf(__nv_bfloat16 a) { return (a.bits & 0x7fff) != 0x7f80 ? 0 : a.bits >> 15 ? -1 : 1; }
#define HEDDLE_COMPARE(name, sign)                                                                                     \
    HEDDLE_BF16 bool __h##name(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a sign(float) b; }                    \
    HEDDLE_BF16 bool __h##name##u(__nv_bfloat16 a, __nv_bfloat16 b)                                                    \
    {                                                                                                                  \
        return __hisnan(a) || __hisnan(b) || (float)a sign(float) b;                                                   \
    }                                                                                                                  \
    HEDDLE_BF16 bool __hb##name##2(__nv_bfloat162 a, __nv_bfloat162 b)                                                 \
    {                                                                                                                  \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                                             \
    }                                                                                                                  \
    HEDDLE_BF16 __nv_bfloat162 __h##name##2(__nv_bfloat162 a, __nv_bfloat162 b)                                        \
    {                                                                                                                  \
        return __nv_bfloat162(heddle_bf16(__h##name(a.x, b.x) ? 0x3f80 : 0),                                           \
                              heddle_bf16(__h##name(a.y, b.y) ? 0x3f80 : 0));                                          \
    }                                                                                                                  \
    HEDDLE_BF16 bool operator sign(__nv_bfloat16 a, __nv_bfloat16 b) { return __h##name(a, b); }
HEDDLE_COMPARE(eq, ==)
HEDDLE_COMPARE(ne, !=)
HEDDLE_COMPARE(lt, <)
HEDDLE_COMPARE(le, <=)
HEDDLE_COMPARE(gt, >)
HEDDLE_COMPARE(ge, >=)
#undef HEDDLE_COMPARE
/* A number wins over a NaN; of zeros the positive one is larger. */
HEDDLE_BF16 bool heddle_bf16_less(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return (float)a < (float)b || ((float)a == (float)b && a.bits > b.bits);
}
HEDDLE_BF16 __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __hisnan(a) ? (__hisnan(b) ? heddle_bf16(0x7fff) : b) : __hisnan(b) || !heddle_bf16_less(a, b) ? a : b;
}
HEDDLE_BF16 __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __hisnan(a) ? (__hisnan(b) ? heddle_bf16(0x7fff) : b) : __hisnan(b) || !heddle_bf16_less(b, a) ? a : b;
}
HEDDLE_BF16 __nv_bfloat16 __hmax_nan(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __hisnan(a) || __hisnan(b) ? heddle_bf16(0x7fff) : __hmax(a, b);
}
HEDDLE_BF16 __nv_bfloat16 __hmin_nan(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __hisnan(a) || __hisnan(b) ? heddle_bf16(0x7fff) : __hmin(a, b);
}
HEDDLE_BF16 __nv_bfloat162 __hmax2(__nv_bfloat162 a, __nv_bfloat162 b)
{
    return __nv_bfloat162(__hmax(a.x, b.x), __hmax(a.y, b.y));
}
HEDDLE_BF16 __nv_bfloat162 __hmin2(__nv_bfloat162 a, __nv_bfloat162 b)
{
    return __nv_bfloat162(__hmin(a.x, b.x), __hmin(a.y, b.y));
}

#ifdef __CUDA__
/* ---- mathematics, by way of float ---- */
#define HEDDLE_MATH(name, function)                                                                                    \
    static __inline__ __device__ __nv_bfloat16 h##name(__nv_bfloat16 x) { return __nv_bfloat16(function((float)x)); }  \
    static __inline__ __device__ __nv_bfloat162 h2##name(__nv_bfloat162 v)                                             \
    {                                                                                                                  \
        return __nv_bfloat162(h##name(v.x), h##name(v.y));                                                             \
    }
HEDDLE_MATH(sqrt, sqrtf)
HEDDLE_MATH(rsqrt, rsqrtf)
HEDDLE_MATH(rcp, 1.0f /)
HEDDLE_MATH(exp, expf)
HEDDLE_MATH(exp2, exp2f)
HEDDLE_MATH(exp10, exp10f)
HEDDLE_MATH(log, logf)
HEDDLE_MATH(log2, log2f)
HEDDLE_MATH(log10, log10f)
HEDDLE_MATH(sin, sinf)
HEDDLE_MATH(cos, cosf)
HEDDLE_MATH(tanh, tanhf)
HEDDLE_MATH(floor, floorf)
HEDDLE_MATH(ceil, ceilf)
HEDDLE_MATH(rint, rintf)
HEDDLE_MATH(trunc, truncf)
#undef HEDDLE_MATH
HEDDLE_SMALL_IN_KERNELS(__nv_bfloat16, unsigned short, "h", "bf16", 900)
HEDDLE_SMALL_IN_KERNELS(__nv_bfloat162, unsigned int, "r", "bf16x2", 900)
#endif

#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80)
#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7f)
#undef HEDDLE_BF16
#undef HEDDLE_METHOD
#endif

#endif
