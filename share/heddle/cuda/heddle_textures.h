/* SPDX-License-Identifier: Apache-2.0 */
/* Texture and surface references, formats by type, and what kernels read and write textures and surfaces with. A fetch is PTX's
 * instruction; a reference is a variable of type .texref, which holds the handle of what it is bound to. */
#ifndef HEDDLE_CUDA_TEXTURES_H
#define HEDDLE_CUDA_TEXTURES_H
#pragma GCC system_header

#include "heddle_templates.h"
#include "heddle_texture_types.h"

/* ---- texels by type ---- */

/* element: the type of a channel; wide: what instructions give; fraction: the type that normalised reads give. */
template <class T> struct heddle_texel {
    static_assert(sizeof(T) > 1000, "heddle cc: textures are of char, short, int, float and their vectors of 1, 2 and 4");
};
#define HEDDLE_TEXEL_OF(T, E, wide_type, kind_of, channels, float_type, ...)                                           \
    template <> struct heddle_texel<T> {                                                                               \
        typedef wide_type wide;                                                                                        \
        typedef float_type fraction;                                                                                   \
        enum { bits = sizeof(E) * 8, count = channels };                                                               \
        static constexpr cudaChannelFormatKind kind = cudaChannelFormatKind##kind_of;                                  \
        static __inline__ __host__ __device__ T make(const wide_type *v) { return {__VA_ARGS__}; }                     \
    };
#define HEDDLE_TEXEL(E, name, wide, kind)                                                                              \
    HEDDLE_TEXEL_OF(E, E, wide, kind, 1, float, (E)v[0])                                                               \
    HEDDLE_TEXEL_OF(name##1, E, wide, kind, 1, float1, (E)v[0])                                                        \
    HEDDLE_TEXEL_OF(name##2, E, wide, kind, 2, float2, (E)v[0], (E)v[1])                                               \
    HEDDLE_TEXEL_OF(name##4, E, wide, kind, 4, float4, (E)v[0], (E)v[1], (E)v[2], (E)v[3])
HEDDLE_TEXEL(signed char, char, int, Signed)
HEDDLE_TEXEL(unsigned char, uchar, unsigned int, Unsigned)
HEDDLE_TEXEL(short, short, int, Signed)
HEDDLE_TEXEL(unsigned short, ushort, unsigned int, Unsigned)
HEDDLE_TEXEL(int, int, int, Signed)
HEDDLE_TEXEL(unsigned int, uint, unsigned int, Unsigned)
HEDDLE_TEXEL(float, float, float, Float)
HEDDLE_TEXEL_OF(char, char, int, Signed, 1, float, (char)v[0])
#undef HEDDLE_TEXEL
#undef HEDDLE_TEXEL_OF

template <class T> static inline struct cudaChannelFormatDesc cudaCreateChannelDesc()
{
    typedef heddle_texel<T> texel;
    const int bits = texel::bits, second = texel::count > 1 ? bits : 0, others = texel::count > 2 ? bits : 0;
    return cudaChannelFormatDesc{bits, second, others, others, texel::kind};
}
/* Halves have no operators of C++ here: they are described only. */
static inline struct cudaChannelFormatDesc cudaCreateChannelDescHalf()
{
    return cudaChannelFormatDesc{16, 0, 0, 0, cudaChannelFormatKindFloat};
}
static inline struct cudaChannelFormatDesc cudaCreateChannelDescHalf1() { return cudaCreateChannelDescHalf(); }
static inline struct cudaChannelFormatDesc cudaCreateChannelDescHalf2()
{
    return cudaChannelFormatDesc{16, 16, 0, 0, cudaChannelFormatKindFloat};
}
static inline struct cudaChannelFormatDesc cudaCreateChannelDescHalf4()
{
    return cudaChannelFormatDesc{16, 16, 16, 16, cudaChannelFormatKindFloat};
}

/* ---- references ---- */

#ifdef __CUDA__
template <class T, int dimensions = cudaTextureType1D, enum cudaTextureReadMode mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : textureReference {
    texture(int is_normalised = 0, enum cudaTextureFilterMode filter = cudaFilterModePoint,
            enum cudaTextureAddressMode address = cudaAddressModeClamp)
        : textureReference{is_normalised, filter, {address, address, address}, cudaCreateChannelDesc<T>()}
    {
    }
    texture(int is_normalised, enum cudaTextureFilterMode filter, enum cudaTextureAddressMode address,
            struct cudaChannelFormatDesc format)
        : textureReference{is_normalised, filter, {address, address, address}, format}
    {
    }
};
template <class T, int dimensions = cudaSurfaceType1D>
struct __attribute__((device_builtin_surface_type)) surface : surfaceReference {};
/* What surfaces are declared with that are of every type. */
template <int dimensions>
struct __attribute__((device_builtin_surface_type)) surface<void, dimensions> : surfaceReference {};

template <class T, int d, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t *offset, const texture<T, d, mode> &reference, const void *memory,
                                          const struct cudaChannelFormatDesc &format, size_t bytes = 0xffffffff)
{
    return cudaBindTexture(offset, (const textureReference *)&reference, memory, &format, bytes);
}
template <class T, int d, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t *offset, const texture<T, d, mode> &reference, const void *memory,
                                          size_t bytes = 0xffffffff)
{
    return cudaBindTexture(offset, reference, memory, reference.channelDesc, bytes);
}
template <class T, int d, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, d, mode> &reference, const void *memory,
                                            const struct cudaChannelFormatDesc &format, size_t width, size_t height,
                                            size_t pitch)
{
    return cudaBindTexture2D(offset, (const textureReference *)&reference, memory, &format, width, height, pitch);
}
template <class T, int d, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, d, mode> &reference, const void *memory,
                                            size_t width, size_t height, size_t pitch)
{
    return cudaBindTexture2D(offset, reference, memory, reference.channelDesc, width, height, pitch);
}
template <class T, int d, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToArray(const texture<T, d, mode> &reference, cudaArray_const_t array,
                                                 const struct cudaChannelFormatDesc &format)
{
    return cudaBindTextureToArray((const textureReference *)&reference, array, &format);
}
template <class T, int d, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToArray(const texture<T, d, mode> &reference, cudaArray_const_t array)
{
    return cudaBindTextureToArray((const textureReference *)&reference, array, &reference.channelDesc);
}
template <class T, int d, enum cudaTextureReadMode mode>
static inline cudaError_t cudaUnbindTexture(const texture<T, d, mode> &reference)
{
    return cudaUnbindTexture((const textureReference *)&reference);
}
template <class T, int d, enum cudaTextureReadMode mode>
static inline cudaError_t cudaGetTextureAlignmentOffset(size_t *out, const texture<T, d, mode> &reference)
{
    return cudaGetTextureAlignmentOffset(out, (const textureReference *)&reference);
}
template <class T, int d>
static inline cudaError_t cudaBindSurfaceToArray(const surface<T, d> &reference, cudaArray_const_t array)
{
    return cudaBindSurfaceToArray((const surfaceReference *)&reference, array, &reference.channelDesc);
}
template <class T, int d>
static inline cudaError_t cudaBindSurfaceToArray(const surface<T, d> &reference, cudaArray_const_t array,
                                                 const struct cudaChannelFormatDesc &format)
{
    return cudaBindSurfaceToArray((const surfaceReference *)&reference, array, &format);
}

#include "heddle_texture_fetch.h"
#endif

#endif
