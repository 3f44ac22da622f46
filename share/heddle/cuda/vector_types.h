/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's vector types. Alignments are those of the CUDA C++ Programming Guide. */
#ifndef HEDDLE_CUDA_VECTOR_TYPES_H
#define HEDDLE_CUDA_VECTOR_TYPES_H
#pragma GCC system_header
#define __VECTOR_TYPES_H__ /* sources ask by this name whether the file was included */

#include "host_defines.h"

/* HEDDLE_VECTOR(type of an element, name, alignment of two, alignment of four) */
#define HEDDLE_VECTOR(T, name, a2, a4)                                                                                 \
    typedef struct name##1 {                                                                                           \
        T x;                                                                                                           \
    } name##1;                                                                                                         \
    typedef struct __attribute__((aligned(a2))) name##2 {                                                              \
        T x, y;                                                                                                        \
    } name##2;                                                                                                         \
    typedef struct name##3 {                                                                                           \
        T x, y, z;                                                                                                     \
    } name##3;                                                                                                         \
    typedef struct __attribute__((aligned(a4))) name##4 {                                                              \
        T x, y, z, w;                                                                                                  \
    } name##4;
HEDDLE_VECTOR(signed char, char, 2, 4)
HEDDLE_VECTOR(unsigned char, uchar, 2, 4)
HEDDLE_VECTOR(short, short, 4, 8)
HEDDLE_VECTOR(unsigned short, ushort, 4, 8)
HEDDLE_VECTOR(int, int, 8, 16)
HEDDLE_VECTOR(unsigned int, uint, 8, 16)
HEDDLE_VECTOR(long, long, 16, 16)
HEDDLE_VECTOR(unsigned long, ulong, 16, 16)
HEDDLE_VECTOR(long long, longlong, 16, 16)
HEDDLE_VECTOR(unsigned long long, ulonglong, 16, 16)
HEDDLE_VECTOR(float, float, 8, 16)
HEDDLE_VECTOR(double, double, 16, 16)
#undef HEDDLE_VECTOR

typedef struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
    __host__ __device__ constexpr dim3(unsigned int a = 1, unsigned int b = 1, unsigned int c = 1) : x(a), y(b), z(c) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
} dim3;

#endif
