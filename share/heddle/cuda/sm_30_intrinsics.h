/* SPDX-License-Identifier: Apache-2.0 */
/* Device functions: all in cuda_runtime.h. */
#ifndef HEDDLE_CUDA_SM_30_INTRINSICS_H
#define HEDDLE_CUDA_SM_30_INTRINSICS_H
#pragma GCC system_header
#include "cuda_runtime.h"
#endif
