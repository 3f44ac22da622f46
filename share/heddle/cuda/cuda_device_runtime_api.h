/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing of its own: all in cuda_runtime.h. */
#ifndef HEDDLE_CUDA_CUDA_DEVICE_RUNTIME_API_H
#define HEDDLE_CUDA_CUDA_DEVICE_RUNTIME_API_H
#pragma GCC system_header
#include "cuda_runtime.h"
#endif
