/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA types: all in cuda_runtime.h. */
#ifndef HEDDLE_CUDA_BUILTIN_TYPES_H
#define HEDDLE_CUDA_BUILTIN_TYPES_H
#pragma GCC system_header
#include "cuda_runtime.h"
#endif
