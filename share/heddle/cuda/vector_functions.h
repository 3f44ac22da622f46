/* SPDX-License-Identifier: Apache-2.0 */
/* make_float4 and the like. */
#ifndef HEDDLE_CUDA_VECTOR_FUNCTIONS_H
#define HEDDLE_CUDA_VECTOR_FUNCTIONS_H
#pragma GCC system_header

#include "vector_types.h"

#define HEDDLE_VECTOR(T, name)                                                                                         \
    static __inline__ __host__ __device__ name##1 make_##name##1(T x)                                                  \
    {                                                                                                                  \
        name##1 v = {x};                                                                                               \
        return v;                                                                                                      \
    }                                                                                                                  \
    static __inline__ __host__ __device__ name##2 make_##name##2(T x, T y)                                             \
    {                                                                                                                  \
        name##2 v = {x, y};                                                                                            \
        return v;                                                                                                      \
    }                                                                                                                  \
    static __inline__ __host__ __device__ name##3 make_##name##3(T x, T y, T z)                                        \
    {                                                                                                                  \
        name##3 v = {x, y, z};                                                                                         \
        return v;                                                                                                      \
    }                                                                                                                  \
    static __inline__ __host__ __device__ name##4 make_##name##4(T x, T y, T z, T w)                                   \
    {                                                                                                                  \
        name##4 v = {x, y, z, w};                                                                                      \
        return v;                                                                                                      \
    }
HEDDLE_VECTOR(signed char, char)
HEDDLE_VECTOR(unsigned char, uchar)
HEDDLE_VECTOR(short, short)
HEDDLE_VECTOR(unsigned short, ushort)
HEDDLE_VECTOR(int, int)
HEDDLE_VECTOR(unsigned int, uint)
HEDDLE_VECTOR(long, long)
HEDDLE_VECTOR(unsigned long, ulong)
HEDDLE_VECTOR(long long, longlong)
HEDDLE_VECTOR(unsigned long long, ulonglong)
HEDDLE_VECTOR(float, float)
HEDDLE_VECTOR(double, double)
#undef HEDDLE_VECTOR

#endif
