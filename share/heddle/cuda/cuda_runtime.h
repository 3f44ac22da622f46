/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's runtime for C, C++ and .cu files. `heddle cc` includes it before every .cu file. Written from CUDA's published
 * documents; of other people's files only clang's own headers are used. */
#ifndef HEDDLE_CUDA_RUNTIME_H
#define HEDDLE_CUDA_RUNTIME_H
#pragma GCC system_header
#define __CUDA_RUNTIME_H__ /* sources ask by this name whether the file was included */

#include "host_defines.h"
#include "vector_types.h"
#include "vector_functions.h"
#include "driver_types.h"
#include "cuda_runtime_api.h"

#if defined(__CUDA__)
#include "heddle_device.h"
#endif
#if defined(__cplusplus)
#include "heddle_templates.h"
#include "heddle_textures.h"
#endif

#endif
