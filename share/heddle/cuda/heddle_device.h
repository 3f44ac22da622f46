/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels may call: clang's own device headers, and what those leave to CUDA's: atomics, loads and stores with a cache
 * operator, matches, overloads of mathematics. Mathematics is the functions of libdevice.cl. */
#ifndef HEDDLE_CUDA_DEVICE_H
#define HEDDLE_CUDA_DEVICE_H
#pragma GCC system_header

#include <__clang_cuda_builtin_vars.h>
/* Kernels may use these without including them, and the headers below do. */
#include <limits.h>
#include <string.h>
#include <time.h>
#include <cmath>
#include <cstdlib>

#define HEDDLE_DEVICE static __inline__ __device__ __attribute__((always_inline))
#define HEDDLE_BOTH static __inline__ __host__ __device__ __attribute__((always_inline))
#define HEDDLE_WARP static __inline__ __device__ __attribute__((always_inline, convergent))

#define __DEVICE__ static __device__ __forceinline__
#include <__clang_cuda_libdevice_declares.h>
#pragma push_macro("__THROW")
#include <__clang_cuda_math_forward_declares.h>
#pragma push_macro("CUDA_VERSION")
#undef CUDA_VERSION
#define CUDA_VERSION 12030
#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>
#include <__clang_cuda_cmath.h>
#ifndef __CUDA_ARCH__
__device__ unsigned int __isShared(const void *p);
__device__ unsigned int __isGlobal(const void *p);
__device__ size_t __cvta_generic_to_shared(const void *p);
#else
HEDDLE_DEVICE unsigned int __isShared(const void *p) { return __nvvm_isspacep_shared(p); }
HEDDLE_DEVICE unsigned int __isGlobal(const void *p) { return __nvvm_isspacep_global(p); }
HEDDLE_DEVICE unsigned int __isLocal(const void *p) { return __nvvm_isspacep_local(p); }
HEDDLE_DEVICE size_t __cvta_generic_to_shared(const void *p)
{
    return (size_t)(__attribute__((address_space(3))) const void *)p;
}
#endif
typedef __UINT32_TYPE__ cuuint32_t; /* as in cuda.h */
typedef __UINT64_TYPE__ cuuint64_t;
#include <__clang_cuda_intrinsics.h>
#pragma pop_macro("CUDA_VERSION")
#pragma pop_macro("__THROW")
#include <__clang_cuda_complex_builtins.h>
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

/* ---- warps: as CUDA had them before masks ---- */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
#define __shfl(...) __shfl_sync(__activemask(), __VA_ARGS__)
#define __shfl_up(...) __shfl_up_sync(__activemask(), __VA_ARGS__)
#define __shfl_down(...) __shfl_down_sync(__activemask(), __VA_ARGS__)
#define __shfl_xor(...) __shfl_xor_sync(__activemask(), __VA_ARGS__)
#define __ballot(...) __ballot_sync(__activemask(), __VA_ARGS__)
#define __all(...) __all_sync(__activemask(), __VA_ARGS__)
#define __any(...) __any_sync(__activemask(), __VA_ARGS__)
#endif
HEDDLE_WARP void __nanosleep(unsigned int) {}

/* Host code has the names of mathematics without std:: too, as CUDA's header gives it. */
#include <math.h>
#include "heddle_overloads.h"
#include "heddle_atomics.h"

#endif
