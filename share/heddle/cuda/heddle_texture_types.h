/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays, textures and surfaces for C and C++: what describes them, and the runtime's functions. */
#ifndef HEDDLE_CUDA_TEXTURE_TYPES_ALL_H
#define HEDDLE_CUDA_TEXTURE_TYPES_ALL_H
#pragma GCC system_header

#include "driver_types.h"

typedef const struct cudaArray *cudaArray_const_t;
typedef struct cudaMipmappedArray *cudaMipmappedArray_t;
typedef const struct cudaMipmappedArray *cudaMipmappedArray_const_t;
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;

enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned,
    cudaChannelFormatKindUnsigned,
    cudaChannelFormatKindFloat,
    cudaChannelFormatKindNone
};
struct cudaChannelFormatDesc {
    int x, y, z, w;
    enum cudaChannelFormatKind f;
};
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureAddressMode {
    cudaAddressModeWrap,
    cudaAddressModeClamp,
    cudaAddressModeMirror,
    cudaAddressModeBorder
};
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
enum cudaSurfaceFormatMode { cudaFormatModeForced, cudaFormatModeAuto };

#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureTypeCubemap 0x0c
#define cudaTextureTypeCubemapLayered 0xfc
#define cudaTextureType1DLayered 0xf1
#define cudaTextureType2DLayered 0xf2
#define cudaSurfaceType1D 0x01
#define cudaSurfaceType2D 0x02
#define cudaSurfaceType3D 0x03
#define cudaSurfaceTypeCubemap 0x0c
#define cudaSurfaceTypeCubemapLayered 0xfc
#define cudaSurfaceType1DLayered 0xf1
#define cudaSurfaceType2DLayered 0xf2
#define cudaArrayDefault 0x00
#define cudaArrayLayered 0x01
#define cudaArraySurfaceLoadStore 0x02
#define cudaArrayCubemap 0x04
#define cudaArrayTextureGather 0x08

enum cudaResourceType {
    cudaResourceTypeArray,
    cudaResourceTypeMipmappedArray,
    cudaResourceTypeLinear,
    cudaResourceTypePitch2D
};
struct cudaResourceDesc {
    enum cudaResourceType resType;
    union {
        struct {
            cudaArray_t array;
        } array;
        struct {
            cudaMipmappedArray_t mipmap;
        } mipmap;
        struct {
            void *devPtr;
            struct cudaChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void *devPtr;
            struct cudaChannelFormatDesc desc;
            size_t width, height, pitchInBytes;
        } pitch2D;
    } res;
};
struct cudaTextureDesc {
    enum cudaTextureAddressMode addressMode[3];
    enum cudaTextureFilterMode filterMode;
    enum cudaTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned int maxAnisotropy;
    enum cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaResourceViewDesc; /* refused by name where one is given */
struct textureReference {
    int normalized;
    enum cudaTextureFilterMode filterMode;
    enum cudaTextureAddressMode addressMode[3];
    struct cudaChannelFormatDesc channelDesc;
    int sRGB;
    unsigned int maxAnisotropy;
    enum cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, reserved[14];
};
struct surfaceReference {
    struct cudaChannelFormatDesc channelDesc;
};

#ifdef __cplusplus
#define HEDDLE_TEXTURE_DEFAULT(value) = value
extern "C" {
#else
#define HEDDLE_TEXTURE_DEFAULT(value)
#endif
#define HEDDLE_ARRAY_API extern cudaError_t

extern struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind kind);
HEDDLE_ARRAY_API cudaMallocArray(cudaArray_t *out, const struct cudaChannelFormatDesc *format, size_t width,
                                 size_t height HEDDLE_TEXTURE_DEFAULT(0), unsigned int flags HEDDLE_TEXTURE_DEFAULT(0));
HEDDLE_ARRAY_API cudaMalloc3DArray(cudaArray_t *out, const struct cudaChannelFormatDesc *format,
                                   struct cudaExtent extent, unsigned int flags HEDDLE_TEXTURE_DEFAULT(0));
HEDDLE_ARRAY_API cudaFreeArray(cudaArray_t array);
HEDDLE_ARRAY_API cudaMallocMipmappedArray(cudaMipmappedArray_t *out, const struct cudaChannelFormatDesc *format,
                                          struct cudaExtent extent, unsigned int levels,
                                          unsigned int flags HEDDLE_TEXTURE_DEFAULT(0));
HEDDLE_ARRAY_API cudaGetMipmappedArrayLevel(cudaArray_t *out, cudaMipmappedArray_const_t array, unsigned int level);
HEDDLE_ARRAY_API cudaFreeMipmappedArray(cudaMipmappedArray_t array);
HEDDLE_ARRAY_API cudaArrayGetInfo(struct cudaChannelFormatDesc *format, struct cudaExtent *extent, unsigned int *flags,
                                  cudaArray_t array);
HEDDLE_ARRAY_API cudaGetChannelDesc(struct cudaChannelFormatDesc *format, cudaArray_const_t array);

HEDDLE_ARRAY_API cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t bytes,
                                     size_t rows, enum cudaMemcpyKind kind);
HEDDLE_ARRAY_API cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                          size_t bytes, size_t rows, enum cudaMemcpyKind kind,
                                          cudaStream_t stream HEDDLE_TEXTURE_DEFAULT(0));
HEDDLE_ARRAY_API cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                       size_t rows, enum cudaMemcpyKind kind);
HEDDLE_ARRAY_API cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                            size_t bytes, size_t rows, enum cudaMemcpyKind kind,
                                            cudaStream_t stream HEDDLE_TEXTURE_DEFAULT(0));
HEDDLE_ARRAY_API cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                                          size_t from_x, size_t from_y, size_t bytes, size_t rows,
                                          enum cudaMemcpyKind kind HEDDLE_TEXTURE_DEFAULT(cudaMemcpyDeviceToDevice));
HEDDLE_ARRAY_API cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                   enum cudaMemcpyKind kind);
HEDDLE_ARRAY_API cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                        enum cudaMemcpyKind kind, cudaStream_t stream HEDDLE_TEXTURE_DEFAULT(0));
HEDDLE_ARRAY_API cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                     enum cudaMemcpyKind kind);
HEDDLE_ARRAY_API cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                          enum cudaMemcpyKind kind, cudaStream_t stream HEDDLE_TEXTURE_DEFAULT(0));
HEDDLE_ARRAY_API cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                        size_t from_y, size_t bytes,
                                        enum cudaMemcpyKind kind HEDDLE_TEXTURE_DEFAULT(cudaMemcpyDeviceToDevice));

HEDDLE_ARRAY_API cudaCreateTextureObject(cudaTextureObject_t *out, const struct cudaResourceDesc *resource,
                                         const struct cudaTextureDesc *how, const struct cudaResourceViewDesc *view);
HEDDLE_ARRAY_API cudaDestroyTextureObject(cudaTextureObject_t texture);
HEDDLE_ARRAY_API cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *out, cudaTextureObject_t texture);
HEDDLE_ARRAY_API cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *out, cudaTextureObject_t texture);
HEDDLE_ARRAY_API cudaCreateSurfaceObject(cudaSurfaceObject_t *out, const struct cudaResourceDesc *resource);
HEDDLE_ARRAY_API cudaDestroySurfaceObject(cudaSurfaceObject_t surface);
HEDDLE_ARRAY_API cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *out, cudaSurfaceObject_t surface);

HEDDLE_ARRAY_API cudaBindTexture(size_t *offset, const struct textureReference *reference, const void *memory,
                                 const struct cudaChannelFormatDesc *format,
                                 size_t bytes HEDDLE_TEXTURE_DEFAULT(0xffffffff));
HEDDLE_ARRAY_API cudaBindTexture2D(size_t *offset, const struct textureReference *reference, const void *memory,
                                   const struct cudaChannelFormatDesc *format, size_t width, size_t height,
                                   size_t pitch);
HEDDLE_ARRAY_API cudaBindTextureToArray(const struct textureReference *reference, cudaArray_const_t array,
                                        const struct cudaChannelFormatDesc *format);
HEDDLE_ARRAY_API cudaUnbindTexture(const struct textureReference *reference);
HEDDLE_ARRAY_API cudaGetTextureReference(const struct textureReference **out, const void *symbol);
HEDDLE_ARRAY_API cudaGetTextureAlignmentOffset(size_t *out, const struct textureReference *reference);
HEDDLE_ARRAY_API cudaBindSurfaceToArray(const struct surfaceReference *reference, cudaArray_const_t array,
                                        const struct cudaChannelFormatDesc *format);
HEDDLE_ARRAY_API cudaGetSurfaceReference(const struct surfaceReference **out, const void *symbol);

#undef HEDDLE_ARRAY_API
#undef HEDDLE_TEXTURE_DEFAULT
#ifdef __cplusplus
}
#endif

#endif
