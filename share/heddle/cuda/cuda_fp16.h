/* SPDX-License-Identifier: Apache-2.0 */
/* Half precision: __half, __half2 and their functions, on both sides. */
#ifndef HEDDLE_CUDA_FP16_H
#define HEDDLE_CUDA_FP16_H
#pragma GCC system_header
#define __CUDA_FP16_H__ /* sources ask by this name whether the file was included */

#include "heddle_small_floats.h"

#if defined(__cplusplus) && defined(__CUDA__)
#define HEDDLE_HALF static __inline__ __host__ __device__ __attribute__((always_inline, unused))
#define HEDDLE_METHOD __inline__ __host__ __device__ __attribute__((always_inline))

struct __half_raw {
    unsigned short x;
};
struct __half2_raw {
    unsigned short x, y;
};

struct __attribute__((aligned(2))) __half {
    _Float16 value;
    __half() = default;
    HEDDLE_METHOD __half(float x) : value((_Float16)x) {}
    HEDDLE_METHOD __half(double x) : value((_Float16)x) {}
    HEDDLE_METHOD __half(short x) : value((_Float16)x) {}
    HEDDLE_METHOD __half(unsigned short x) : value((_Float16)x) {}
    HEDDLE_METHOD __half(int x) : value((_Float16)x) {}
    HEDDLE_METHOD __half(unsigned int x) : value((_Float16)x) {}
    HEDDLE_METHOD __half(long x) : value((_Float16)x) {}
    HEDDLE_METHOD __half(unsigned long x) : value((_Float16)x) {}
    HEDDLE_METHOD __half(long long x) : value((_Float16)x) {}
    HEDDLE_METHOD __half(unsigned long long x) : value((_Float16)x) {}
    HEDDLE_METHOD __half(_Float16 x) : value(x) {}
    HEDDLE_METHOD __half(__half_raw bits) { __builtin_memcpy(&value, &bits, sizeof value); }
    HEDDLE_METHOD operator float() const { return (float)value; }
    HEDDLE_METHOD operator __half_raw() const
    {
        __half_raw bits;
        __builtin_memcpy(&bits, &value, sizeof bits);
        return bits;
    }
};
typedef __half half;

struct __attribute__((aligned(4))) __half2 {
    __half x, y;
    __half2() = default;
    HEDDLE_METHOD __half2(__half a, __half b) : x(a), y(b) {}
    HEDDLE_METHOD __half2(__half2_raw raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
    HEDDLE_METHOD operator __half2_raw() const { return __half2_raw{((__half_raw)x).x, ((__half_raw)y).x}; }
};
typedef __half2 half2;

/* ---- conversions ---- */
HEDDLE_HALF __half __float2half(float x) { return __half(x); }
HEDDLE_HALF __half __float2half_rn(float x) { return __half(x); }
HEDDLE_HALF __half __double2half(double x) { return __half(x); }
HEDDLE_HALF float __half2float(__half x) { return (float)x.value; }
HEDDLE_HALF unsigned short __half_as_ushort(__half x) { return ((__half_raw)x).x; }
HEDDLE_HALF short __half_as_short(__half x) { return (short)((__half_raw)x).x; }
HEDDLE_HALF __half __ushort_as_half(unsigned short x) { return __half(__half_raw{x}); }
HEDDLE_HALF __half __short_as_half(short x) { return __half(__half_raw{(unsigned short)x}); }
HEDDLE_HALF __half heddle_half(unsigned int bits) { return __half(__half_raw{(unsigned short)bits}); }
/* From the nearest half to the one below or above it: what is nearest to a number may be on its other side. */
HEDDLE_HALF __half heddle_half_below(__half h)
{
    const unsigned int bits = ((__half_raw)h).x;
    return heddle_half(bits & 0x7fff ? (bits >> 15 ? bits + 1 : bits - 1) : 0x8001);
}
HEDDLE_HALF __half heddle_half_above(__half h)
{
    const unsigned int bits = ((__half_raw)h).x;
    return heddle_half(bits & 0x7fff ? (bits >> 15 ? bits - 1 : bits + 1) : 0x0001);
}
HEDDLE_HALF __half __float2half_rd(float x)
{
    const __half nearest(x);
    return (float)nearest > x ? heddle_half_below(nearest) : nearest;
}
HEDDLE_HALF __half __float2half_ru(float x)
{
    const __half nearest(x);
    return (float)nearest < x ? heddle_half_above(nearest) : nearest;
}
HEDDLE_HALF __half __float2half_rz(float x) { return x < 0 ? __float2half_ru(x) : __float2half_rd(x); }
/* To integers: what is beyond them becomes the nearest, NaN 0. */
#define HEDDLE_INTEGER(T, name, least, beyond)                                                                         \
    HEDDLE_HALF T heddle_half_to_##name(float x)                                                                       \
    {                                                                                                                  \
        return x != x ? 0 : x < (float)(least) ? (least) : x >= beyond ? (T) ~(least) : (T)x;                         \
    }                                                                                                                  \
    HEDDLE_HALF T __half2##name##_rz(__half x) { return heddle_half_to_##name((float)x); }                             \
    HEDDLE_HALF T __half2##name##_rn(__half x) { return heddle_half_to_##name(__builtin_rintf((float)x)); }            \
    HEDDLE_HALF T __half2##name##_rd(__half x) { return heddle_half_to_##name(__builtin_floorf((float)x)); }           \
    HEDDLE_HALF T __half2##name##_ru(__half x) { return heddle_half_to_##name(__builtin_ceilf((float)x)); }            \
    HEDDLE_HALF __half __##name##2half_rn(T x) { return __half(x); }
HEDDLE_INTEGER(short, short, -0x7fff - 1, 32768.0f)
HEDDLE_INTEGER(unsigned short, ushort, 0, 65536.0f)
HEDDLE_INTEGER(int, int, -0x7fffffff - 1, 2147483648.0f)
HEDDLE_INTEGER(unsigned int, uint, 0u, 4294967296.0f)
HEDDLE_INTEGER(long long, ll, -0x7fffffffffffffffll - 1, 9223372036854775808.0f)
HEDDLE_INTEGER(unsigned long long, ull, 0ull, 18446744073709551616.0f)
#undef HEDDLE_INTEGER

/* ---- pairs ---- */
HEDDLE_HALF __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
HEDDLE_HALF __half2 make_half2(__half a, __half b) { return __half2(a, b); }
HEDDLE_HALF __half2 __half2half2(__half a) { return __half2(a, a); }
HEDDLE_HALF __half2 __float2half2_rn(float x) { return __half2(__half(x), __half(x)); }
HEDDLE_HALF __half2 __floats2half2_rn(float x, float y) { return __half2(__half(x), __half(y)); }
HEDDLE_HALF __half2 __float22half2_rn(float2 v) { return __half2(__half(v.x), __half(v.y)); }
HEDDLE_HALF float2 __half22float2(__half2 v) { return make_float2((float)v.x, (float)v.y); }
HEDDLE_HALF __half __low2half(__half2 v) { return v.x; }
HEDDLE_HALF __half __high2half(__half2 v) { return v.y; }
HEDDLE_HALF float __low2float(__half2 v) { return (float)v.x; }
HEDDLE_HALF float __high2float(__half2 v) { return (float)v.y; }
HEDDLE_HALF __half2 __low2half2(__half2 v) { return __half2(v.x, v.x); }
HEDDLE_HALF __half2 __high2half2(__half2 v) { return __half2(v.y, v.y); }
HEDDLE_HALF __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
HEDDLE_HALF __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
HEDDLE_HALF __half2 __lowhigh2highlow(__half2 v) { return __half2(v.y, v.x); }

/* ---- arithmetic: one rounding each ---- */
HEDDLE_HALF __half __hadd(__half a, __half b) { return __half(a.value + b.value); }
HEDDLE_HALF __half __hsub(__half a, __half b) { return __half(a.value - b.value); }
HEDDLE_HALF __half __hmul(__half a, __half b) { return __half(a.value * b.value); }
HEDDLE_HALF __half __hdiv(__half a, __half b) { return __half(a.value / b.value); }
HEDDLE_HALF __half __hneg(__half a) { return __half(-a.value); }
HEDDLE_HALF __half __habs(__half a) { return __half(__half_raw{(unsigned short)(((__half_raw)a).x & 0x7fff)}); }
/* A product of halves is exact in a float, and a sum with a third in a double. */
HEDDLE_HALF __half __hfma(__half a, __half b, __half c)
{
    return __half((double)a.value * (double)b.value + (double)c.value);
}
/* Into the range from 0 to 1; no number is 0. */
HEDDLE_HALF __half heddle_half_saturate(__half a)
{
    return a.value > 1 ? heddle_half(0x3c00) : a.value > 0 ? a : heddle_half(0);
}
HEDDLE_HALF __half __hadd_sat(__half a, __half b) { return heddle_half_saturate(__hadd(a, b)); }
HEDDLE_HALF __half __hsub_sat(__half a, __half b) { return heddle_half_saturate(__hsub(a, b)); }
HEDDLE_HALF __half __hmul_sat(__half a, __half b) { return heddle_half_saturate(__hmul(a, b)); }
HEDDLE_HALF __half __hfma_sat(__half a, __half b, __half c) { return heddle_half_saturate(__hfma(a, b, c)); }
HEDDLE_HALF __half __hfma_relu(__half a, __half b, __half c)
{
    const __half x = __hfma(a, b, c);
    return x.value < 0 ? heddle_half(0) : x;
}
HEDDLE_HALF __half2 __hneg2(__half2 a) { return __half2(__hneg(a.x), __hneg(a.y)); }
HEDDLE_HALF __half2 __habs2(__half2 a) { return __half2(__habs(a.x), __habs(a.y)); }
HEDDLE_HALF __half2 __hfma2(__half2 a, __half2 b, __half2 c)
{
    return __half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
#define HEDDLE_OPERATOR(sign, one, two)                                                                                \
    HEDDLE_HALF __half2 two(__half2 a, __half2 b) { return __half2(one(a.x, b.x), one(a.y, b.y)); }                    \
    HEDDLE_HALF __half one##_rn(__half a, __half b) { return one(a, b); }                                              \
    HEDDLE_HALF __half operator sign(__half a, __half b) { return one(a, b); }                                         \
    HEDDLE_HALF __half &operator sign##=(__half &a, __half b) { return a = one(a, b); }                                \
    HEDDLE_HALF __half2 operator sign(__half2 a, __half2 b) { return two(a, b); }                                      \
    HEDDLE_HALF __half2 &operator sign##=(__half2 &a, __half2 b) { return a = two(a, b); }
HEDDLE_OPERATOR(+, __hadd, __hadd2)
HEDDLE_OPERATOR(-, __hsub, __hsub2)
HEDDLE_OPERATOR(*, __hmul, __hmul2)
HEDDLE_OPERATOR(/, __hdiv, __h2div)
#undef HEDDLE_OPERATOR
HEDDLE_HALF __half operator-(__half a) { return __hneg(a); }
HEDDLE_HALF __half2 operator-(__half2 a) { return __hneg2(a); }

/* ---- comparisons: plain ones are false for NaN, those that end in u are true ---- */
HEDDLE_HALF bool __hisnan(__half a) { return a.value != a.value; }
HEDDLE_HALF int __hisinf(__half a)
{
    const unsigned int bits = ((__half_raw)a).x;
    return (bits & 0x7fff) != 0x7c00 ? 0 : bits >> 15 ? -1 : 1;
}
#define HEDDLE_COMPARE(name, sign)                                                                                     \
    HEDDLE_HALF bool __h##name(__half a, __half b) { return a.value sign b.value; }                                    \
    HEDDLE_HALF bool __h##name##u(__half a, __half b) { return __hisnan(a) || __hisnan(b) || a.value sign b.value; }   \
    HEDDLE_HALF bool __hb##name##2(__half2 a, __half2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }        \
    HEDDLE_HALF __half2 __h##name##2(__half2 a, __half2 b)                                                             \
    {                                                                                                                  \
        return __half2(heddle_half(__h##name(a.x, b.x) ? 0x3c00 : 0), heddle_half(__h##name(a.y, b.y) ? 0x3c00 : 0));  \
    }                                                                                                                  \
    HEDDLE_HALF bool operator sign(__half a, __half b) { return a.value sign b.value; }
HEDDLE_COMPARE(eq, ==)
HEDDLE_COMPARE(ne, !=)
HEDDLE_COMPARE(lt, <)
HEDDLE_COMPARE(le, <=)
HEDDLE_COMPARE(gt, >)
HEDDLE_COMPARE(ge, >=)
#undef HEDDLE_COMPARE
/* A number wins over a NaN; of zeros the positive one is larger. */
HEDDLE_HALF bool heddle_half_less(__half a, __half b)
{
    return a.value < b.value || (a.value == b.value && ((__half_raw)a).x > ((__half_raw)b).x);
}
HEDDLE_HALF __half __hmax(__half a, __half b)
{
    return __hisnan(a) ? (__hisnan(b) ? heddle_half(0x7fff) : b) : __hisnan(b) || !heddle_half_less(a, b) ? a : b;
}
HEDDLE_HALF __half __hmin(__half a, __half b)
{
    return __hisnan(a) ? (__hisnan(b) ? heddle_half(0x7fff) : b) : __hisnan(b) || !heddle_half_less(b, a) ? a : b;
}
HEDDLE_HALF __half __hmax_nan(__half a, __half b)
{
    return __hisnan(a) || __hisnan(b) ? heddle_half(0x7fff) : __hmax(a, b);
}
HEDDLE_HALF __half __hmin_nan(__half a, __half b)
{
    return __hisnan(a) || __hisnan(b) ? heddle_half(0x7fff) : __hmin(a, b);
}
HEDDLE_HALF __half2 __hmax2(__half2 a, __half2 b) { return __half2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
HEDDLE_HALF __half2 __hmin2(__half2 a, __half2 b) { return __half2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }

/* ---- mathematics, by way of float ---- */
#define HEDDLE_MATH(name, function)                                                                                    \
    static __inline__ __device__ __half h##name(__half x) { return __half(function((float)x)); }                       \
    static __inline__ __device__ __half2 h2##name(__half2 v) { return __half2(h##name(v.x), h##name(v.y)); }
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
HEDDLE_SMALL_IN_KERNELS(__half, unsigned short, "h", "f16", 700)
HEDDLE_SMALL_IN_KERNELS(__half2, unsigned int, "r", "f16x2", 600)
#undef HEDDLE_HALF
#undef HEDDLE_METHOD
#endif

#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00)
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bff)

#endif
