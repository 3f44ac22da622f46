/* SPDX-License-Identifier: Apache-2.0 */
/* __match_any_sync and __match_all_sync: clang's intrinsics header includes this name and expects them here. */
#ifndef HEDDLE_CUDA_SM_70_RT_H
#define HEDDLE_CUDA_SM_70_RT_H
#pragma GCC system_header

#define HEDDLE_MATCH(T, bits)                                                                                          \
    static __inline__ __device__ unsigned int __match_any_sync(unsigned int mask, T value)                             \
    {                                                                                                                  \
        return __match##bits##_any_sync(mask, __builtin_bit_cast(unsigned HEDDLE_BITS_##bits, value));                 \
    }                                                                                                                  \
    static __inline__ __device__ unsigned int __match_all_sync(unsigned int mask, T value, int *all)                   \
    {                                                                                                                  \
        return __match##bits##_all_sync(mask, __builtin_bit_cast(unsigned HEDDLE_BITS_##bits, value), all);            \
    }
#define HEDDLE_BITS_32 int
#define HEDDLE_BITS_64 long long
HEDDLE_MATCH(int, 32)
HEDDLE_MATCH(unsigned int, 32)
HEDDLE_MATCH(float, 32)
HEDDLE_MATCH(long, 64)
HEDDLE_MATCH(unsigned long, 64)
HEDDLE_MATCH(long long, 64)
HEDDLE_MATCH(unsigned long long, 64)
HEDDLE_MATCH(double, 64)
#undef HEDDLE_MATCH
#undef HEDDLE_BITS_32
#undef HEDDLE_BITS_64

#endif
