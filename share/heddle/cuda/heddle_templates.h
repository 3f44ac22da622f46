/* SPDX-License-Identifier: Apache-2.0 */
/* The C++ side of CUDA's runtime: pointers of any type, symbols by their own names, occupancy of kernels. */
#ifndef HEDDLE_CUDA_TEMPLATES_H
#define HEDDLE_CUDA_TEMPLATES_H
#pragma GCC system_header

#include "cuda_runtime_api.h"

template <class T> static inline cudaError_t cudaMalloc(T **out, size_t bytes)
{
    return cudaMalloc((void **)(void *)out, bytes);
}
template <class T> static inline cudaError_t cudaMallocHost(T **out, size_t bytes, unsigned int flags = 0)
{
    return cudaHostAlloc((void **)(void *)out, bytes, flags);
}
static inline cudaError_t cudaMallocHost(void **out, size_t bytes, unsigned int flags)
{
    return cudaHostAlloc(out, bytes, flags);
}
template <class T> static inline cudaError_t cudaHostAlloc(T **out, size_t bytes, unsigned int flags)
{
    return cudaHostAlloc((void **)(void *)out, bytes, flags);
}
template <class T>
static inline cudaError_t cudaMallocManaged(T **out, size_t bytes, unsigned int flags = cudaMemAttachGlobal)
{
    return cudaMallocManaged((void **)(void *)out, bytes, flags);
}
template <class T> static inline cudaError_t cudaMallocPitch(T **out, size_t *pitch, size_t width, size_t height)
{
    return cudaMallocPitch((void **)(void *)out, pitch, width, height);
}
template <class T> static inline cudaError_t cudaMallocAsync(T **out, size_t bytes, cudaStream_t stream)
{
    return cudaMallocAsync((void **)(void *)out, bytes, stream);
}
template <class T> static inline cudaError_t cudaHostGetDevicePointer(T **out, void *host, unsigned int flags)
{
    return cudaHostGetDevicePointer((void **)(void *)out, host, flags);
}
static inline cudaError_t cudaEventCreate(cudaEvent_t *out, unsigned int flags)
{
    return cudaEventCreateWithFlags(out, flags);
}

/* A symbol is a variable. CUDA before 5.0 took its name as a string too. */
extern "C" const void *__cudaHeddleSymbol(const char *name);

/* Managed variables: where they are is told before any other code of the program runs. */
#if defined(__CUDA__) && !defined(__CUDA_ARCH__)
extern "C" char __start_heddle_managed[] __attribute__((weak, visibility("hidden")));
extern "C" char __stop_heddle_managed[] __attribute__((weak, visibility("hidden")));
extern "C" void __cudaHeddleManaged(const char *start, const char *end);
static __attribute__((constructor(101))) void heddle_tell_managed()
{
    if (__start_heddle_managed)
        __cudaHeddleManaged(__start_heddle_managed, __stop_heddle_managed);
}
#endif
template <class T> struct heddle_symbol {
    static const void *of(T &symbol) { return &symbol; }
};
template <size_t N> struct heddle_symbol<const char[N]> {
    static const void *of(const char (&name)[N]) { return __cudaHeddleSymbol(name); }
};
template <class T>
static inline cudaError_t cudaMemcpyToSymbol(T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                             enum cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return cudaMemcpyToSymbol(heddle_symbol<T>::of(symbol), from, bytes, offset, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *to, T &symbol, size_t bytes, size_t offset = 0,
                                               enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return cudaMemcpyFromSymbol(to, heddle_symbol<T>::of(symbol), bytes, offset, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbolAsync(T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                                  enum cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                                  cudaStream_t stream = 0)
{
    return cudaMemcpyToSymbolAsync(heddle_symbol<T>::of(symbol), from, bytes, offset, kind, stream);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbolAsync(void *to, T &symbol, size_t bytes, size_t offset = 0,
                                                    enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                                    cudaStream_t stream = 0)
{
    return cudaMemcpyFromSymbolAsync(to, heddle_symbol<T>::of(symbol), bytes, offset, kind, stream);
}
template <class T> static inline cudaError_t cudaGetSymbolAddress(void **out, T &symbol)
{
    return cudaGetSymbolAddress(out, heddle_symbol<T>::of(symbol));
}
template <class P, class T> static inline cudaError_t cudaGetSymbolAddress(P **out, T &symbol)
{
    return cudaGetSymbolAddress((void **)(void *)out, heddle_symbol<T>::of(symbol));
}
template <class T> static inline cudaError_t cudaGetSymbolSize(size_t *out, T &symbol)
{
    return cudaGetSymbolSize(out, heddle_symbol<T>::of(symbol));
}

/* ---- kernels ---- */
template <class T>
static inline cudaError_t cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes = 0,
                                           cudaStream_t stream = 0)
{
    return cudaLaunchKernel((const void *)kernel, grid, block, arguments, shared_bytes, stream);
}
template <class T>
static inline cudaError_t cudaLaunchCooperativeKernel(T *kernel, dim3 grid, dim3 block, void **arguments,
                                                      size_t shared_bytes = 0, cudaStream_t stream = 0)
{
    return cudaLaunchCooperativeKernel((const void *)kernel, grid, block, arguments, shared_bytes, stream);
}
#if __cplusplus >= 201103L
template <class... Taken, class... Given>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *how, void (*kernel)(Taken...), Given &&...given)
{ /* arguments as the kernel takes them */
    return [&](Taken... taken) {
        void *arguments[] = {(void *)&taken..., nullptr};
        return cudaLaunchKernelExC(how, (const void *)kernel, arguments);
    }(static_cast<Given &&>(given)...);
}
#endif
template <class T> static inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, T *kernel)
{
    return cudaFuncGetAttributes(out, (const void *)kernel);
}
template <class T>
static inline cudaError_t cudaFuncSetAttribute(T *kernel, enum cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <class T> static inline cudaError_t cudaFuncSetCacheConfig(T *kernel, enum cudaFuncCache config)
{
    return cudaFuncSetCacheConfig((const void *)kernel, config);
}
template <class T> static inline cudaError_t cudaFuncSetSharedMemConfig(T *kernel, enum cudaSharedMemConfig config)
{
    return cudaFuncSetSharedMemConfig((const void *)kernel, config);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T kernel, int threads,
                                                                        size_t shared_bytes)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, threads, shared_bytes);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T kernel, int threads,
                                                                                 size_t shared_bytes, unsigned int flags)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)kernel, threads, shared_bytes,
                                                                  flags);
}
/* The block size with the most threads on an SM; of several the largest. */
template <class T, class F>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, T kernel, F shared_bytes,
                                                                         int limit = 0)
{
    struct cudaFuncAttributes attributes;
    int device = 0, multiprocessors = 0, best = 0, best_blocks = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (!error)
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (!error)
        error = cudaFuncGetAttributes(&attributes, (const void *)kernel);
    if (error)
        return error;
    int most = attributes.maxThreadsPerBlock;
    if (limit > 0 && limit < most)
        most = limit;
    for (int threads = most; threads > 0; threads = (threads - 1) / 32 * 32) {
        int blocks = 0;
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)kernel, threads,
                                                              shared_bytes(threads));
        if (error)
            return error;
        if (blocks * threads > best * best_blocks)
            best = threads, best_blocks = blocks;
    }
    *block = best, *grid = best_blocks * multiprocessors;
    return cudaSuccess;
}
template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T kernel, size_t shared_bytes = 0,
                                                             int limit = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        grid, block, kernel, [=](int) { return shared_bytes; }, limit);
}

/* ---- graphs ---- */
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags = 0)
{
    return cudaGraphInstantiateWithFlags(out, graph, flags);
}
/* as CUDA 11 had it */
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, cudaGraphNode_t *wrong, char *log,
                                               size_t log_bytes)
{
    if (wrong)
        *wrong = 0;
    if (log && log_bytes)
        *log = 0;
    return cudaGraphInstantiateWithFlags(out, graph, 0);
}

#endif
