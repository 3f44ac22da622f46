/* SPDX-License-Identifier: Apache-2.0 */
/* Texture references to linear memory, which suites of CUDA's first years fetch from by index: cudaBindTexture and tex1Dfetch. A
 * reference is a variable of the device that holds an address, and a fetch is a load through the read-only path (ld.global.nc).
 * References of two or three dimensions, to arrays, or that turn integers into fractions are refused where they are used. */
#ifndef HEDDLE_CUDA_TEXTURES_H
#define HEDDLE_CUDA_TEXTURES_H
#pragma GCC system_header

#include "heddle_templates.h"

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
#define cudaTextureType1D 1
#define cudaTextureType2D 2
#define cudaTextureType3D 3

static inline struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                                 enum cudaChannelFormatKind kind)
{
    return cudaChannelFormatDesc{x, y, z, w, kind};
}
/* What is in it matters for arrays only. */
template <class T> static inline struct cudaChannelFormatDesc cudaCreateChannelDesc()
{
    return cudaChannelFormatDesc{(int)sizeof(T) * 8, 0, 0, 0, cudaChannelFormatKindNone};
}

struct textureReference {
    int normalized;
    enum cudaTextureFilterMode filterMode;
    enum cudaTextureAddressMode addressMode[3];
    struct cudaChannelFormatDesc channelDesc;
    const void *heddle_data;
};
template <class T, int dimensions = 1, enum cudaTextureReadMode mode = cudaReadModeElementType>
struct heddle_texture : textureReference {
    static_assert(dimensions == 1, "heddle cc: texture references of two and three dimensions are not built");
    static_assert(mode == cudaReadModeElementType,
                  "heddle cc: texture references that turn integers into fractions are not built");
};
/* `texture<...> name;` declares a variable of the device, without the word for it. */
#define texture __attribute__((device)) heddle_texture

template <class T, int dimensions, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t *offset, heddle_texture<T, dimensions, mode> &reference,
                                          const void *memory, size_t = 0xffffffff)
{
    if (offset)
        *offset = 0;
    return cudaMemcpyToSymbol(reference, &memory, sizeof memory, offsetof(textureReference, heddle_data));
}
template <class T, int dimensions, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t *offset, heddle_texture<T, dimensions, mode> &reference,
                                          const void *memory, const struct cudaChannelFormatDesc &,
                                          size_t bytes = 0xffffffff)
{
    return cudaBindTexture(offset, reference, memory, bytes);
}
template <class T, int dimensions, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t *offset, heddle_texture<T, dimensions, mode> *reference,
                                          const void *memory, const struct cudaChannelFormatDesc *,
                                          size_t bytes = 0xffffffff)
{
    return cudaBindTexture(offset, *reference, memory, bytes);
}
template <class Reference> static inline cudaError_t cudaUnbindTexture(const Reference &) { return cudaSuccess; }

#ifdef __CUDA__
template <class T, int dimensions, enum cudaTextureReadMode mode>
static inline __device__ T tex1Dfetch(const heddle_texture<T, dimensions, mode> &reference, int i)
{
    return __ldg((const T *)reference.heddle_data + i);
}
#endif

/* What describes texture objects, for sources that fill it in; cudaCreateTextureObject is refused where it is called. */
enum cudaResourceType { cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear, cudaResourceTypePitch2D };
struct cudaResourceDesc {
    enum cudaResourceType resType;
    union {
        struct {
            cudaArray_t array;
        } array;
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

#endif
