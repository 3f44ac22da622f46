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
    HEDDLE_METHOD __half(int x) : value((_Float16)x) {}
    HEDDLE_METHOD __half(unsigned int x) : value((_Float16)x) {}
    HEDDLE_METHOD __half(long long x) : value((_Float16)x) {}
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
};
typedef __half2 half2;

/* ---- conversions ---- */
HEDDLE_HALF __half __float2half(float x) { return __half(x); }
HEDDLE_HALF __half __float2half_rn(float x) { return __half(x); }
HEDDLE_HALF __half __double2half(double x) { return __half(x); }
HEDDLE_HALF float __half2float(__half x) { return (float)x.value; }
HEDDLE_HALF __half __int2half_rn(int x) { return __half(x); }
HEDDLE_HALF __half __uint2half_rn(unsigned int x) { return __half(x); }
HEDDLE_HALF int __half2int_rz(__half x) { return (int)x.value; }
HEDDLE_HALF int __half2int_rn(__half x) { return (int)__builtin_rintf((float)x.value); }
HEDDLE_HALF unsigned short __half_as_ushort(__half x) { return ((__half_raw)x).x; }
HEDDLE_HALF short __half_as_short(__half x) { return (short)((__half_raw)x).x; }
HEDDLE_HALF __half __ushort_as_half(unsigned short x) { return __half(__half_raw{x}); }
HEDDLE_HALF __half __short_as_half(short x) { return __half(__half_raw{(unsigned short)x}); }
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
HEDDLE_HALF __half2 __hadd2(__half2 a, __half2 b) { return __half2(__hadd(a.x, b.x), __hadd(a.y, b.y)); }
HEDDLE_HALF __half2 __hsub2(__half2 a, __half2 b) { return __half2(__hsub(a.x, b.x), __hsub(a.y, b.y)); }
HEDDLE_HALF __half2 __hmul2(__half2 a, __half2 b) { return __half2(__hmul(a.x, b.x), __hmul(a.y, b.y)); }
HEDDLE_HALF __half2 __h2div(__half2 a, __half2 b) { return __half2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }
HEDDLE_HALF __half2 __hneg2(__half2 a) { return __half2(__hneg(a.x), __hneg(a.y)); }
HEDDLE_HALF __half2 __hfma2(__half2 a, __half2 b, __half2 c)
{
    return __half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
#define HEDDLE_OPERATOR(sign, one, two)                                                                                \
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
#define HEDDLE_COMPARE(name, sign)                                                                                     \
    HEDDLE_HALF bool __h##name(__half a, __half b) { return a.value sign b.value; }                                    \
    HEDDLE_HALF bool operator sign(__half a, __half b) { return a.value sign b.value; }
HEDDLE_COMPARE(eq, ==)
HEDDLE_COMPARE(ne, !=)
HEDDLE_COMPARE(lt, <)
HEDDLE_COMPARE(le, <=)
HEDDLE_COMPARE(gt, >)
HEDDLE_COMPARE(ge, >=)
#undef HEDDLE_COMPARE
HEDDLE_HALF bool __hisnan(__half a) { return a.value != a.value; }
HEDDLE_HALF __half __hmax(__half a, __half b) { return a.value < b.value || a.value != a.value ? b : a; }
HEDDLE_HALF __half __hmin(__half a, __half b) { return b.value < a.value || a.value != a.value ? b : a; }

/* ---- mathematics, by way of float ---- */
#define HEDDLE_MATH(name, function)                                                                                    \
    static __inline__ __device__ __half name(__half x) { return __half(function((float)x)); }
HEDDLE_MATH(hsqrt, sqrtf)
HEDDLE_MATH(hrsqrt, rsqrtf)
HEDDLE_MATH(hrcp, 1.0f /)
HEDDLE_MATH(hexp, expf)
HEDDLE_MATH(hexp2, exp2f)
HEDDLE_MATH(hlog, logf)
HEDDLE_MATH(hlog2, log2f)
HEDDLE_MATH(hsin, sinf)
HEDDLE_MATH(hcos, cosf)
HEDDLE_MATH(hfloor, floorf)
HEDDLE_MATH(hceil, ceilf)
HEDDLE_MATH(hrint, rintf)
HEDDLE_MATH(htrunc, truncf)
#undef HEDDLE_MATH
HEDDLE_SMALL_IN_KERNELS(__half, unsigned short, "h", "f16", 700)
HEDDLE_SMALL_IN_KERNELS(__half2, unsigned int, "r", "f16x2", 600)
#undef HEDDLE_HALF
#undef HEDDLE_METHOD
#endif

#endif
