/* SPDX-License-Identifier: Apache-2.0 */
/* OpenGL's buffers and images in CUDA: heddle_graphics.h says what calls get. */
#ifndef HEDDLE_CUDA_GL_INTEROP_H
#define HEDDLE_CUDA_GL_INTEROP_H
#define __CUDA_GL_INTEROP_H__ /* sources ask by this name whether the file was included */
#ifdef __GNUC__
#pragma GCC system_header
#endif

#include "cuda_runtime_api.h"
#if __has_include(<GL/gl.h>)
#include <GL/gl.h>
#else /* old programs include this file and use nothing of it */
typedef unsigned int GLuint, GLenum;
#endif

enum cudaGLDeviceList { cudaGLDeviceListAll = 1, cudaGLDeviceListCurrentFrame = 2, cudaGLDeviceListNextFrame = 3 };
enum cudaGLMapFlags { cudaGLMapFlagsNone = 0, cudaGLMapFlagsReadOnly = 1, cudaGLMapFlagsWriteDiscard = 2 };

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t cudaGLGetDevices(unsigned int *count, int *devices, unsigned int most, enum cudaGLDeviceList list);
cudaError_t cudaGraphicsGLRegisterImage(struct cudaGraphicsResource **resource, GLuint image, GLenum target,
                                        unsigned int flags);
cudaError_t cudaGraphicsGLRegisterBuffer(struct cudaGraphicsResource **resource, GLuint buffer, unsigned int flags);
cudaError_t cudaGLSetGLDevice(int device);
cudaError_t cudaGLRegisterBufferObject(GLuint buffer);
cudaError_t cudaGLMapBufferObject(void **pointer, GLuint buffer);
cudaError_t cudaGLUnmapBufferObject(GLuint buffer);
cudaError_t cudaGLUnregisterBufferObject(GLuint buffer);
cudaError_t cudaGLSetBufferObjectMapFlags(GLuint buffer, unsigned int flags);
cudaError_t cudaGLMapBufferObjectAsync(void **pointer, GLuint buffer, cudaStream_t stream);
cudaError_t cudaGLUnmapBufferObjectAsync(GLuint buffer, cudaStream_t stream);
#ifdef __cplusplus
}
#endif

#endif
