/* SPDX-License-Identifier: Apache-2.0 */
/* Texture references: all in cuda_runtime.h. */
#ifndef HEDDLE_CUDA_TEXTURE_TYPES_H
#define HEDDLE_CUDA_TEXTURE_TYPES_H
#pragma GCC system_header
#include "cuda_runtime.h"
#endif
