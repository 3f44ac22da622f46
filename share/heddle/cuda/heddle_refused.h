/* SPDX-License-Identifier: Apache-2.0 */
/* What Heddle's CUDA does not have, refused by name where a program is compiled: a use of one of these names is an error that
 * says so, instead of a name that nobody knows. */
#ifndef HEDDLE_CUDA_REFUSED_H
#define HEDDLE_CUDA_REFUSED_H
#pragma GCC system_header

#include "driver_types.h"

#ifdef __cplusplus
template <int = 0> struct heddle_false {
    static constexpr bool value = false;
};
#define HEDDLE_REFUSED_TYPE(what) "heddle cc: " what " are not built"

/* texture<T, dimensions, mode> */
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
#define cudaTextureType1D 1
#define cudaTextureType2D 2
#define cudaTextureType3D 3
template <typename T, int dimensions = 1, enum cudaTextureReadMode mode = cudaReadModeElementType> struct texture {
    static_assert(dimensions < 0, HEDDLE_REFUSED_TYPE("texture references"));
};
template <typename T, int dimensions = 1> struct surface {
    static_assert(dimensions < 0, HEDDLE_REFUSED_TYPE("surface references"));
};

#define HEDDLE_REFUSED(name)                                                                                           \
    template <typename... Types> int name(Types...)                                                                    \
    {                                                                                                                  \
        static_assert(sizeof...(Types) > 100, "heddle cc: " #name " is not built");                                    \
        return 0;                                                                                                      \
    }
HEDDLE_REFUSED(cudaCreateTextureObject)
HEDDLE_REFUSED(cudaCreateSurfaceObject)
HEDDLE_REFUSED(cudaBindTexture)
HEDDLE_REFUSED(cudaBindTexture2D)
HEDDLE_REFUSED(cudaBindTextureToArray)
HEDDLE_REFUSED(cudaMallocArray)
HEDDLE_REFUSED(cudaMalloc3DArray)
HEDDLE_REFUSED(cudaMemcpyToArray)
HEDDLE_REFUSED(cudaMemcpy2DToArray)
HEDDLE_REFUSED(cudaGraphicsGLRegisterBuffer)
HEDDLE_REFUSED(cudaIpcOpenMemHandle)
#undef HEDDLE_REFUSED
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;
#endif

#endif
