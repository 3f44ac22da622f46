/* SPDX-License-Identifier: Apache-2.0 */
/* Surface references, refused: all in cuda_runtime.h. */
#ifndef HEDDLE_CUDA_SURFACE_TYPES_H
#define HEDDLE_CUDA_SURFACE_TYPES_H
#pragma GCC system_header
#include "cuda_runtime.h"
#endif
