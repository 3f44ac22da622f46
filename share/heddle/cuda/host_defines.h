/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's words for functions and variables, for the compiler of .cu files and for every other one. */
#ifndef HEDDLE_CUDA_HOST_DEFINES_H
#define HEDDLE_CUDA_HOST_DEFINES_H
#pragma GCC system_header

#if defined(__CUDA__)
#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#ifndef __NVCC__
#define __NVCC__ 1 /* sources ask for it where they mean: this is compiled for a GPU */
#endif
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
/* The host's variable is the one there is: the device reaches it, and the runtime knows it by its section. */
#if defined(__CUDA_ARCH__)
#define __managed__ __attribute__((device))
#else
#define __managed__ __attribute__((device)) __attribute__((section("heddle_managed")))
#endif
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __launch_bounds__(...)
#endif
#define __grid_constant__
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define CUDARTAPI
#define CUDART_CB
/* __noinline__ is also an attribute that C++ headers spell so: clang knows the word itself. */
#if !defined(__CUDA__) && !defined(__noinline__) && !defined(__cplusplus)
#define __noinline__ __attribute__((noinline))
#endif

#endif
