/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels may call: clang's own device headers, and what those leave to CUDA's: atomics, loads and stores with a cache
 * operator, matches, overloads of mathematics. Mathematics is the functions of libdevice.cl. */
#ifndef HEDDLE_CUDA_DEVICE_H
#define HEDDLE_CUDA_DEVICE_H
#pragma GCC system_header

/* Kernels may use these without including them, and clang's headers do. */
#include <limits.h>
#include <string.h>
#include <time.h>
#include <cmath>
#include <cstdlib>

#define HEDDLE_DEVICE static __inline__ __device__ __attribute__((always_inline, nodebug))
#define HEDDLE_BOTH static __inline__ __host__ __device__ __attribute__((always_inline, nodebug))
#define HEDDLE_WARP static __inline__ __device__ __attribute__((always_inline, nodebug, convergent))

/* What clang's headers inline stands at the line that calls it, too. */
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))
#include <__clang_cuda_builtin_vars.h>
#define __DEVICE__ static __device__ __forceinline__
#include <__clang_cuda_libdevice_declares.h>
#pragma push_macro("__THROW")
#include <__clang_cuda_math_forward_declares.h>
#ifndef CUDA_VERSION /* as in cuda.h; clang's header lets every file see it, and CUDA's libraries ask for it */
#define CUDA_VERSION 12030
#endif
#define __all heddle_clang_all /* see below */
#define __any heddle_clang_any
#define __ballot heddle_clang_ballot
#include <__clang_cuda_device_functions.h>
#undef __all
#undef __any
#undef __ballot
#include <__clang_cuda_math.h>
#include <__clang_cuda_cmath.h>
#ifndef __CUDA_ARCH__
__device__ unsigned int __isShared(const void *p);
__device__ unsigned int __isGlobal(const void *p);
__device__ unsigned int __isLocal(const void *p);
__device__ unsigned int __isConstant(const void *p);
#else
HEDDLE_DEVICE unsigned int __isShared(const void *p) { return __nvvm_isspacep_shared(p); }
HEDDLE_DEVICE unsigned int __isGlobal(const void *p) { return __nvvm_isspacep_global(p); }
HEDDLE_DEVICE unsigned int __isLocal(const void *p) { return __nvvm_isspacep_local(p); }
HEDDLE_DEVICE unsigned int __isConstant(const void *p) { return __nvvm_isspacep_const(p); }
#endif
#define HEDDLE_SPACE(name, number)                                                                                     \
    HEDDLE_DEVICE size_t __cvta_generic_to_##name(const void *p)                                                       \
    {                                                                                                                  \
        return (size_t)(__attribute__((address_space(number))) const void *)p;                                         \
    }                                                                                                                  \
    HEDDLE_DEVICE void *__cvta_##name##_to_generic(size_t p)                                                           \
    {                                                                                                                  \
        return (void *)(__attribute__((address_space(number))) void *)p;                                               \
    }
HEDDLE_SPACE(global, 1)
HEDDLE_SPACE(shared, 3)
HEDDLE_SPACE(local, 5)
#undef HEDDLE_SPACE
typedef __UINT32_TYPE__ cuuint32_t; /* as in cuda.h */
typedef __UINT64_TYPE__ cuuint64_t;
#include <__clang_cuda_intrinsics.h>
#pragma pop_macro("__THROW")
#include <__clang_cuda_complex_builtins.h>
#pragma clang attribute pop
#undef __DEVICE__

extern "C" __device__ int vprintf(const char *format, const char *values);
extern "C" __device__ int printf(const char *format, ...);
extern "C" __device__ __attribute__((noreturn)) void __assertfail(const char *message, const char *file, unsigned int line,
                                                                  const char *function, size_t char_bytes);
/* What <assert.h> calls. */
extern "C" inline __device__ __attribute__((noreturn)) void __assert_fail(const char *message, const char *file,
                                                                          unsigned int line,
                                                                          const char *function) noexcept
{
    __assertfail(message, file, line, function, 1);
    __builtin_trap();
}
#include "heddle_heap.h"

/* ---- warps: as CUDA had them before masks. Votes are functions, as libraries have functions of these names. ---- */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
#define __shfl(...) __shfl_sync(__activemask(), __VA_ARGS__)
#define __shfl_up(...) __shfl_up_sync(__activemask(), __VA_ARGS__)
#define __shfl_down(...) __shfl_down_sync(__activemask(), __VA_ARGS__)
#define __shfl_xor(...) __shfl_xor_sync(__activemask(), __VA_ARGS__)
HEDDLE_WARP unsigned int __ballot(int vote) { return __ballot_sync(__activemask(), vote); }
HEDDLE_WARP int __all(int vote) { return __all_sync(__activemask(), vote); }
HEDDLE_WARP int __any(int vote) { return __any_sync(__activemask(), vote); }
#else
HEDDLE_WARP unsigned int __ballot(int vote) { return heddle_clang_ballot(vote); }
HEDDLE_WARP int __all(int vote) { return heddle_clang_all(vote); }
HEDDLE_WARP int __any(int vote) { return heddle_clang_any(vote); }
#endif
HEDDLE_WARP void __nanosleep(unsigned int) {}

/* Host code has the names of mathematics without std:: too, as CUDA's header gives it. */
#include <math.h>
#include "heddle_overloads.h"
#include "heddle_atomics.h"

#endif
