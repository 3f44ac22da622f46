/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's runtime, version 12, for C and C++: the functions that Heddle's libcudart has. What it lacks is not declared, so that a
 * program that needs it is refused where it is compiled (heddle_refused.h). */
#ifndef HEDDLE_CUDA_RUNTIME_API_H
#define HEDDLE_CUDA_RUNTIME_API_H
#pragma GCC system_header
#define __CUDA_RUNTIME_API_H__ /* sources ask by this name whether the file was included */

#include "driver_types.h"
#include "heddle_graphics.h"
#include "heddle_refused.h"
#include "heddle_texture_types.h"

#ifdef __cplusplus
#define HEDDLE_DEFAULT(value) = value
extern "C" {
#else
#define HEDDLE_DEFAULT(value)
#include <stdbool.h>
#endif

#define CUDART_VERSION 12030
/* Functions that kernels may call too are declared so; nothing stands behind them in a kernel. */
#define HEDDLE_API extern cudaError_t

/* ---- devices ---- */
HEDDLE_API cudaGetDeviceCount(int *count);
HEDDLE_API cudaGetDevice(int *device);
HEDDLE_API cudaSetDevice(int device);
HEDDLE_API cudaSetDeviceFlags(unsigned int flags);
HEDDLE_API cudaGetDeviceFlags(unsigned int *flags);
HEDDLE_API cudaSetValidDevices(int *list, int count);
HEDDLE_API cudaInitDevice(int device, unsigned int flags, unsigned int also);
HEDDLE_API cudaGetDeviceProperties(struct cudaDeviceProp *out, int device) __asm__("cudaGetDeviceProperties_v2");
HEDDLE_API cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted);
HEDDLE_API cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
HEDDLE_API cudaDeviceSynchronize(void);
HEDDLE_API cudaDeviceReset(void);
HEDDLE_API cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
HEDDLE_API cudaDeviceGetLimit(size_t *value, enum cudaLimit limit);
HEDDLE_API cudaDeviceSetCacheConfig(enum cudaFuncCache config);
HEDDLE_API cudaDeviceGetCacheConfig(enum cudaFuncCache *config);
HEDDLE_API cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
HEDDLE_API cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config);
HEDDLE_API cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
HEDDLE_API cudaDeviceGetPCIBusId(char *text, int room, int device);
HEDDLE_API cudaDeviceGetByPCIBusId(int *device, const char *text);
HEDDLE_API cudaDeviceCanAccessPeer(int *can, int device, int peer);
HEDDLE_API cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
HEDDLE_API cudaDeviceDisablePeerAccess(int peer);
HEDDLE_API cudaThreadSynchronize(void); /* gone from CUDA 13 */
HEDDLE_API cudaThreadExit(void);
HEDDLE_API cudaDriverGetVersion(int *version);
HEDDLE_API cudaRuntimeGetVersion(int *version);
HEDDLE_API cudaProfilerStart(void);
HEDDLE_API cudaProfilerStop(void);

/* ---- errors ---- */
HEDDLE_API cudaGetLastError(void);
HEDDLE_API cudaPeekAtLastError(void);
extern const char *cudaGetErrorString(cudaError_t error);
extern const char *cudaGetErrorName(cudaError_t error);

/* ---- memory ---- */
HEDDLE_API cudaMalloc(void **out, size_t bytes);
HEDDLE_API cudaFree(void *pointer);
HEDDLE_API cudaMallocHost(void **out, size_t bytes);
HEDDLE_API cudaHostAlloc(void **out, size_t bytes, unsigned int flags);
HEDDLE_API cudaFreeHost(void *pointer);
HEDDLE_API cudaHostRegister(void *host, size_t bytes, unsigned int flags);
HEDDLE_API cudaHostUnregister(void *host);
HEDDLE_API cudaHostGetDevicePointer(void **out, void *host, unsigned int flags);
HEDDLE_API cudaHostGetFlags(unsigned int *flags, void *host);
HEDDLE_API cudaMallocManaged(void **out, size_t bytes, unsigned int flags HEDDLE_DEFAULT(cudaMemAttachGlobal));
HEDDLE_API cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height);
HEDDLE_API cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent extent);
HEDDLE_API cudaMallocAsync(void **out, size_t bytes, cudaStream_t stream);
HEDDLE_API cudaFreeAsync(void *pointer, cudaStream_t stream);
HEDDLE_API cudaMemGetInfo(size_t *left, size_t *all);
HEDDLE_API cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *pointer);
HEDDLE_API cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
HEDDLE_API cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                           cudaStream_t stream HEDDLE_DEFAULT(0));
HEDDLE_API cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes);
HEDDLE_API cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                               cudaStream_t stream HEDDLE_DEFAULT(0));
HEDDLE_API cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                        enum cudaMemcpyKind kind);
HEDDLE_API cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                             enum cudaMemcpyKind kind, cudaStream_t stream HEDDLE_DEFAULT(0));
HEDDLE_API cudaMemcpy3D(const struct cudaMemcpy3DParms *order);
HEDDLE_API cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *order, cudaStream_t stream HEDDLE_DEFAULT(0));
HEDDLE_API cudaMemset(void *to, int value, size_t bytes);
HEDDLE_API cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream HEDDLE_DEFAULT(0));
HEDDLE_API cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height);
HEDDLE_API cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                             cudaStream_t stream HEDDLE_DEFAULT(0));
HEDDLE_API cudaMemset3D(struct cudaPitchedPtr to, int value, struct cudaExtent extent);
HEDDLE_API cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset HEDDLE_DEFAULT(0),
                              enum cudaMemcpyKind kind HEDDLE_DEFAULT(cudaMemcpyHostToDevice));
HEDDLE_API cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset HEDDLE_DEFAULT(0),
                                enum cudaMemcpyKind kind HEDDLE_DEFAULT(cudaMemcpyDeviceToHost));
HEDDLE_API cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                                   enum cudaMemcpyKind kind, cudaStream_t stream HEDDLE_DEFAULT(0));
HEDDLE_API cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
                                     cudaStream_t stream HEDDLE_DEFAULT(0));
HEDDLE_API cudaGetSymbolAddress(void **out, const void *symbol);
HEDDLE_API cudaGetSymbolSize(size_t *out, const void *symbol);
HEDDLE_API cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice, int device);
HEDDLE_API cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device, cudaStream_t stream HEDDLE_DEFAULT(0));
HEDDLE_API cudaStreamAttachMemAsync(cudaStream_t stream, void *address, size_t bytes HEDDLE_DEFAULT(0),
                                    unsigned int flags HEDDLE_DEFAULT(cudaMemAttachSingle));

/* ---- streams and events ---- */
HEDDLE_API cudaStreamCreate(cudaStream_t *out);
HEDDLE_API cudaStreamCreateWithFlags(cudaStream_t *out, unsigned int flags);
HEDDLE_API cudaStreamCreateWithPriority(cudaStream_t *out, unsigned int flags, int priority);
HEDDLE_API cudaStreamDestroy(cudaStream_t stream);
HEDDLE_API cudaStreamSynchronize(cudaStream_t stream);
HEDDLE_API cudaStreamQuery(cudaStream_t stream);
HEDDLE_API cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags HEDDLE_DEFAULT(0));
HEDDLE_API cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned int flags);
HEDDLE_API cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags);
HEDDLE_API cudaStreamGetPriority(cudaStream_t stream, int *priority);
HEDDLE_API cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data);
HEDDLE_API cudaEventCreate(cudaEvent_t *out);
HEDDLE_API cudaEventCreateWithFlags(cudaEvent_t *out, unsigned int flags);
HEDDLE_API cudaEventRecord(cudaEvent_t event, cudaStream_t stream HEDDLE_DEFAULT(0));
HEDDLE_API cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream HEDDLE_DEFAULT(0),
                                    unsigned int flags HEDDLE_DEFAULT(0));
HEDDLE_API cudaEventSynchronize(cudaEvent_t event);
HEDDLE_API cudaEventQuery(cudaEvent_t event);
HEDDLE_API cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to);
HEDDLE_API cudaEventDestroy(cudaEvent_t event);

/* ---- kernels ---- */
HEDDLE_API cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                            cudaStream_t stream);
HEDDLE_API cudaLaunchKernelExC(const cudaLaunchConfig_t *how, const void *function, void **arguments);
/* Answer cudaErrorNotSupported: there are no clusters. */
HEDDLE_API cudaOccupancyMaxPotentialClusterSize(int *out, const void *function, const cudaLaunchConfig_t *how);
HEDDLE_API cudaOccupancyMaxActiveClusters(int *out, const void *function, const cudaLaunchConfig_t *how);
HEDDLE_API cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                                       size_t shared_bytes HEDDLE_DEFAULT(0), cudaStream_t stream HEDDLE_DEFAULT(0));
HEDDLE_API cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *function);
HEDDLE_API cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value);
HEDDLE_API cudaFuncSetCacheConfig(const void *function, enum cudaFuncCache config);
HEDDLE_API cudaFuncSetSharedMemConfig(const void *function, enum cudaSharedMemConfig config);
HEDDLE_API cudaFuncGetName(const char **out, const void *function);
HEDDLE_API cudaGetFuncBySymbol(cudaFunction_t *out, const void *function);
HEDDLE_API cudaGetDriverEntryPoint(const char *name, void **out, unsigned long long flags,
                                   enum cudaDriverEntryPointQueryResult *status HEDDLE_DEFAULT(0));
HEDDLE_API cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                         size_t shared_bytes);
HEDDLE_API cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int threads,
                                                                  size_t shared_bytes, unsigned int flags);
extern unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes HEDDLE_DEFAULT(0),
                                                void *stream HEDDLE_DEFAULT(0));

/* ---- graphs ---- */
HEDDLE_API cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
HEDDLE_API cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out);
HEDDLE_API cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *out);
HEDDLE_API cudaGraphCreate(cudaGraph_t *out, unsigned int flags);
HEDDLE_API cudaGraphDestroy(cudaGraph_t graph);
HEDDLE_API cudaGraphClone(cudaGraph_t *out, cudaGraph_t graph);
HEDDLE_API cudaGraphAddEmptyNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count);
HEDDLE_API cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                                  const struct cudaKernelNodeParams *params);
HEDDLE_API cudaGraphAddMemcpyNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                                  const struct cudaMemcpy3DParms *params);
HEDDLE_API cudaGraphAddMemcpyNode1D(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                                    void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
HEDDLE_API cudaGraphAddMemsetNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                                  const struct cudaMemsetParams *params);
HEDDLE_API cudaGraphAddHostNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                                const struct cudaHostNodeParams *params);
HEDDLE_API cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *out, size_t *count);
HEDDLE_API cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags);
HEDDLE_API cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                               struct cudaGraphExecUpdateResultInfo *result);
HEDDLE_API cudaGraphAddChildGraphNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                                      cudaGraph_t child);
HEDDLE_API cudaGraphAddEventRecordNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs,
                                       size_t count, cudaEvent_t event);
HEDDLE_API cudaGraphAddEventWaitNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                                     cudaEvent_t event);
HEDDLE_API cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                    size_t count);
HEDDLE_API cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *out, size_t *count);
HEDDLE_API cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count);
HEDDLE_API cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *out);
HEDDLE_API cudaGraphDestroyNode(cudaGraphNode_t node);
HEDDLE_API cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *params);
HEDDLE_API cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                            const struct cudaKernelNodeParams *params);
HEDDLE_API cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node, void *to,
                                              const void *from, size_t bytes, enum cudaMemcpyKind kind);
HEDDLE_API cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                            const struct cudaMemsetParams *params);
HEDDLE_API cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                          const struct cudaHostNodeParams *params);
HEDDLE_API cudaGraphExecDestroy(cudaGraphExec_t executable);
HEDDLE_API cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream);
HEDDLE_API cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);

static __inline__ __host__ struct cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth)
{
    struct cudaExtent extent = {width, height, depth};
    return extent;
}
static __inline__ __host__ struct cudaPos make_cudaPos(size_t x, size_t y, size_t z)
{
    struct cudaPos at = {x, y, z};
    return at;
}
static __inline__ __host__ struct cudaPitchedPtr make_cudaPitchedPtr(void *data, size_t pitch, size_t width,
                                                                     size_t height)
{
    struct cudaPitchedPtr memory = {data, pitch, width, height};
    return memory;
}

#ifdef __cplusplus
}
#endif
#undef HEDDLE_API

#endif
