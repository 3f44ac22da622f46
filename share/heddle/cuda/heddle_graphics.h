/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers and images that CUDA shares with graphics. Programs that draw, and also have a mode without a window, compile with this; a call
 * of one of these functions gets cudaErrorNotSupported, and the runtime names it. */
#ifndef HEDDLE_CUDA_GRAPHICS_H
#define HEDDLE_CUDA_GRAPHICS_H
#ifdef __GNUC__
#pragma GCC system_header
#endif

#include "heddle_texture_types.h"

typedef struct cudaGraphicsResource *cudaGraphicsResource_t;

enum cudaGraphicsRegisterFlags {
    cudaGraphicsRegisterFlagsNone = 0,
    cudaGraphicsRegisterFlagsReadOnly = 1,
    cudaGraphicsRegisterFlagsWriteDiscard = 2,
    cudaGraphicsRegisterFlagsSurfaceLoadStore = 4,
    cudaGraphicsRegisterFlagsTextureGather = 8
};

enum cudaGraphicsMapFlags {
    cudaGraphicsMapFlagsNone = 0,
    cudaGraphicsMapFlagsReadOnly = 1,
    cudaGraphicsMapFlagsWriteDiscard = 2
};

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t cudaGraphicsMapResources(int count, cudaGraphicsResource_t *resources,
                                     cudaStream_t stream
#ifdef __cplusplus
                                     = 0
#endif
);
cudaError_t cudaGraphicsUnmapResources(int count, cudaGraphicsResource_t *resources,
                                       cudaStream_t stream
#ifdef __cplusplus
                                       = 0
#endif
);
cudaError_t cudaGraphicsResourceGetMappedPointer(void **pointer, size_t *size, cudaGraphicsResource_t resource);
cudaError_t cudaGraphicsResourceGetMappedMipmappedArray(cudaMipmappedArray_t *array, cudaGraphicsResource_t resource);
cudaError_t cudaGraphicsSubResourceGetMappedArray(cudaArray_t *array, cudaGraphicsResource_t resource,
                                                  unsigned int index, unsigned int level);
cudaError_t cudaGraphicsResourceSetMapFlags(cudaGraphicsResource_t resource, unsigned int flags);
cudaError_t cudaGraphicsUnregisterResource(cudaGraphicsResource_t resource);
#ifdef __cplusplus
}
#endif

#endif
