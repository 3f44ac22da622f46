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

/* ---- arithmetic: one rounding each ---- */
HEDDLE_SMALL _Float16 heddle_number(__half a) { return a.value; }
HEDDLE_SMALL __half __hadd(__half a, __half b) { return __half(a.value + b.value); }
HEDDLE_SMALL __half __hsub(__half a, __half b) { return __half(a.value - b.value); }
HEDDLE_SMALL __half __hmul(__half a, __half b) { return __half(a.value * b.value); }
HEDDLE_SMALL __half __hdiv(__half a, __half b) { return __half(a.value / b.value); }
/* A product of halves is exact in a float, and a sum with a third in a double. */
HEDDLE_SMALL __half __hfma(__half a, __half b, __half c)
{
    return __half((double)a.value * (double)b.value + (double)c.value);
}

/* ---- what bfloat16 has too ---- */
HEDDLE_SMALL_FLOAT(__half, __half2, half, 0x7c00)
HEDDLE_SMALL_MATH(__half, __half2)
HEDDLE_SMALL_IN_KERNELS(__half, unsigned short, "h", "f16", 700)
HEDDLE_SMALL_IN_KERNELS(__half2, unsigned int, "r", "f16x2", 600)
#undef HEDDLE_METHOD
#endif

#endif
