/* SPDX-License-Identifier: Apache-2.0 */
/* Half precision: __half, __half2 and their functions, on both sides. */
#ifndef HEDDLE_CUDA_FP16_H
#define HEDDLE_CUDA_FP16_H
#pragma GCC system_header
#define __CUDA_FP16_H__ /* sources ask by this name whether the file was included */

#include "heddle_small_floats.h"

#if defined(__cplusplus) && defined(__CUDA__)
#define HEDDLE_METHOD __inline__ __host__ __device__ __attribute__((always_inline))

struct __half_raw {
    unsigned short x;
};
struct __half2_raw {
    unsigned short x, y;
};

HEDDLE_SMALL unsigned short heddle_half_bits(_Float16 x)
{
    unsigned short bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

struct __attribute__((aligned(2))) __half {
    unsigned short __x; /* libraries know it by this name */
    __half() = default;
    HEDDLE_METHOD __half(float x) : __x(heddle_half_bits((_Float16)x)) {}
    HEDDLE_METHOD __half(double x) : __x(heddle_half_bits((_Float16)x)) {}
    HEDDLE_METHOD __half(short x) : __x(heddle_half_bits((_Float16)x)) {}
    HEDDLE_METHOD __half(unsigned short x) : __x(heddle_half_bits((_Float16)x)) {}
    HEDDLE_METHOD __half(int x) : __x(heddle_half_bits((_Float16)x)) {}
    HEDDLE_METHOD __half(unsigned int x) : __x(heddle_half_bits((_Float16)x)) {}
    HEDDLE_METHOD __half(long x) : __x(heddle_half_bits((_Float16)x)) {}
    HEDDLE_METHOD __half(unsigned long x) : __x(heddle_half_bits((_Float16)x)) {}
    HEDDLE_METHOD __half(long long x) : __x(heddle_half_bits((_Float16)x)) {}
    HEDDLE_METHOD __half(unsigned long long x) : __x(heddle_half_bits((_Float16)x)) {}
    HEDDLE_METHOD __half(_Float16 x) : __x(heddle_half_bits(x)) {}
    HEDDLE_METHOD constexpr __half(__half_raw raw) : __x(raw.x) {}
    HEDDLE_METHOD _Float16 number() const
    {
        _Float16 value;
        __builtin_memcpy(&value, &__x, sizeof value);
        return value;
    }
    HEDDLE_METHOD operator float() const { return (float)number(); }
    HEDDLE_METHOD operator __half_raw() const { return __half_raw{__x}; }
};
typedef __half half;

struct __attribute__((aligned(4))) __half2 {
    __half x, y;
    __half2() = default;
    HEDDLE_METHOD constexpr __half2(__half a, __half b) : x(a), y(b) {}
    HEDDLE_METHOD constexpr __half2(__half2_raw raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
    HEDDLE_METHOD operator __half2_raw() const { return __half2_raw{x.__x, y.__x}; }
};
typedef __half2 half2;

/* ---- arithmetic: one rounding each ---- */
HEDDLE_SMALL _Float16 heddle_number(__half a) { return a.number(); }
HEDDLE_SMALL __half __hadd(__half a, __half b) { return __half(a.number() + b.number()); }
HEDDLE_SMALL __half __hsub(__half a, __half b) { return __half(a.number() - b.number()); }
HEDDLE_SMALL __half __hmul(__half a, __half b) { return __half(a.number() * b.number()); }
HEDDLE_SMALL __half __hdiv(__half a, __half b) { return __half(a.number() / b.number()); }
/* A product of halves is exact in a float, and a sum with a third in a double. */
HEDDLE_SMALL __half __hfma(__half a, __half b, __half c)
{
    return __half((double)a.number() * (double)b.number() + (double)c.number());
}

/* ---- what bfloat16 has too ---- */
HEDDLE_SMALL_FLOAT(__half, __half2, half, 0x7c00)
HEDDLE_SMALL_MATH(__half, __half2)
HEDDLE_SMALL_IN_KERNELS(__half, unsigned short, "h", "f16", 700)
HEDDLE_SMALL_IN_KERNELS(__half2, unsigned int, "r", "f16x2", 600)
#undef HEDDLE_METHOD
#endif

#endif
