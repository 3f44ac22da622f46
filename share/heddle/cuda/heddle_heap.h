/* SPDX-License-Identifier: Apache-2.0 */
/* malloc, free, new and delete in device code; calls of malloc and free are the GPU's own. Without room they give a null pointer. */
#ifndef HEDDLE_HEAP_H
#define HEDDLE_HEAP_H
#pragma GCC system_header

extern "C" __device__ void *malloc(size_t bytes) noexcept;
extern "C" __device__ void free(void *address) noexcept;
extern "C" __device__ void *__cuda_syscall_aligned_malloc(size_t bytes, size_t alignment) noexcept;

static __device__ inline void *__nv_aligned_device_malloc(size_t bytes, size_t alignment)
{
    return __cuda_syscall_aligned_malloc(bytes, alignment);
}

#include <new> /* clang's own has new and delete over these two */

/* Those with an alignment it has not. */
#if __cplusplus >= 201703L
__device__ inline void *operator new(size_t bytes, std::align_val_t alignment)
{
    return __cuda_syscall_aligned_malloc(bytes, static_cast<size_t>(alignment));
}
__device__ inline void *operator new[](size_t bytes, std::align_val_t alignment)
{
    return __cuda_syscall_aligned_malloc(bytes, static_cast<size_t>(alignment));
}
__device__ inline void operator delete(void *address, std::align_val_t) noexcept { ::free(address); }
__device__ inline void operator delete[](void *address, std::align_val_t) noexcept { ::free(address); }
__device__ inline void operator delete(void *address, size_t, std::align_val_t) noexcept { ::free(address); }
__device__ inline void operator delete[](void *address, size_t, std::align_val_t) noexcept { ::free(address); }
#endif

#endif
