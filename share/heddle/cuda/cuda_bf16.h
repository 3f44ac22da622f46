/* SPDX-License-Identifier: Apache-2.0 */
/* Bfloat16: __nv_bfloat16, __nv_bfloat162 and their functions, on both sides. A number is the upper half of a float. From sm_80 on
 * kernels convert, add and multiply by the instructions for it; below, and on the host, by those for floats and integers. */
#ifndef HEDDLE_CUDA_BF16_H
#define HEDDLE_CUDA_BF16_H
#pragma GCC system_header
#define __CUDA_BF16_H__ /* sources ask by this name whether the file was included */

#include "heddle_small_floats.h"

#ifdef __cplusplus
#define HEDDLE_METHOD __inline__ __host__ __device__ __attribute__((always_inline))

struct __nv_bfloat16_raw {
    unsigned short x;
};
struct __nv_bfloat162_raw {
    unsigned short x, y;
};

/* Every NaN becomes the one that CUDA has. */
HEDDLE_SMALL unsigned short heddle_bf16_bits(float x)
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
HEDDLE_SMALL unsigned short heddle_bf16_bits(double x)
{
    if (x != x)
        return 0x7fff;
    const unsigned int magnitude = heddle_nearest(x, 8, 7);
    return (unsigned short)((magnitude < 0x7f80 ? magnitude : 0x7f80) | (unsigned int)(heddle_double_bits(x) >> 63) << 15);
}
HEDDLE_SMALL unsigned short heddle_bf16_bits(long long x)
{ /* a double has all of it but for the last bits, which only say that there are some */
    const unsigned long long magnitude = x < 0 ? 0 - (unsigned long long)x : (unsigned long long)x;
    const double rough = (double)(magnitude >> 11 << 11 | (magnitude & 0x7ff ? 0x800 : 0));
    return heddle_bf16_bits(magnitude >> 52 ? (x < 0 ? -rough : rough) : (double)x);
}
HEDDLE_SMALL unsigned short heddle_bf16_bits(unsigned long long x)
{
    return heddle_bf16_bits(x >> 52 ? (double)(x >> 11 << 11 | (x & 0x7ff ? 0x800 : 0)) : (double)x);
}

struct __attribute__((aligned(2))) __nv_bfloat16 {
    unsigned short __x; /* libraries know it by this name */
    __nv_bfloat16() = default;
    HEDDLE_METHOD __nv_bfloat16(float x) : __x(heddle_bf16_bits(x)) {}
    HEDDLE_METHOD __nv_bfloat16(double x) : __x(heddle_bf16_bits(x)) {}
    HEDDLE_METHOD __nv_bfloat16(short x) : __x(heddle_bf16_bits((float)x)) {}
    HEDDLE_METHOD __nv_bfloat16(unsigned short x) : __x(heddle_bf16_bits((float)x)) {}
    HEDDLE_METHOD __nv_bfloat16(int x) : __x(heddle_bf16_bits((double)x)) {}
    HEDDLE_METHOD __nv_bfloat16(unsigned int x) : __x(heddle_bf16_bits((double)x)) {}
    HEDDLE_METHOD __nv_bfloat16(long x) : __x(heddle_bf16_bits((long long)x)) {}
    HEDDLE_METHOD __nv_bfloat16(unsigned long x) : __x(heddle_bf16_bits((unsigned long long)x)) {}
    HEDDLE_METHOD __nv_bfloat16(long long x) : __x(heddle_bf16_bits(x)) {}
    HEDDLE_METHOD __nv_bfloat16(unsigned long long x) : __x(heddle_bf16_bits(x)) {}
    HEDDLE_METHOD constexpr __nv_bfloat16(__nv_bfloat16_raw raw) : __x(raw.x) {}
    HEDDLE_METHOD operator float() const { return heddle_bits_float((unsigned int)__x << 16); }
    HEDDLE_METHOD operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{__x}; }
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
    HEDDLE_METHOD operator __nv_bfloat162_raw() const { return __nv_bfloat162_raw{x.__x, y.__x}; }
};
typedef __nv_bfloat162 nv_bfloat162;

HEDDLE_SMALL float heddle_number(__nv_bfloat16 a) { return (float)a; }
HEDDLE_SMALL __nv_bfloat16 heddle_bf16(unsigned int bits) { return heddle_small<__nv_bfloat16>(bits); }

/* ---- arithmetic: one rounding each, as a float has more than twice the bits; a sum of three is rounded from a double ---- */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
HEDDLE_SMALL __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c)
{
    unsigned short result;
    asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(result) : "h"(a.__x), "h"(b.__x), "h"(c.__x));
    return heddle_bf16(result);
}
HEDDLE_SMALL __nv_bfloat16 __hadd(__nv_bfloat16 a, __nv_bfloat16 b) { return __hfma(a, heddle_bf16(0x3f80), b); }
HEDDLE_SMALL __nv_bfloat16 __hsub(__nv_bfloat16 a, __nv_bfloat16 b) { return __hfma(b, heddle_bf16(0xbf80), a); }
HEDDLE_SMALL __nv_bfloat16 __hmul(__nv_bfloat16 a, __nv_bfloat16 b) { return __hfma(a, b, heddle_bf16(0x8000)); }
#else
HEDDLE_SMALL __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c)
{
    return __nv_bfloat16(heddle_sum_to_odd((double)(float)a * (float)b, (double)(float)c));
}
HEDDLE_SMALL __nv_bfloat16 __hadd(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a + (float)b); }
HEDDLE_SMALL __nv_bfloat16 __hsub(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a - (float)b); }
HEDDLE_SMALL __nv_bfloat16 __hmul(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((double)(float)a * (float)b); }
#endif
HEDDLE_SMALL __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((double)(float)a / (float)b); }

/* ---- what halves have too ---- */
HEDDLE_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162, bfloat16, 0x7f80)
#ifdef __CUDA__
HEDDLE_SMALL_MATH(__nv_bfloat16, __nv_bfloat162)
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
#undef HEDDLE_METHOD
#endif

#endif
