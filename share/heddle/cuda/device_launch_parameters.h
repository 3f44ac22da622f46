/* SPDX-License-Identifier: Apache-2.0 */
/* threadIdx and the others: all in cuda_runtime.h. */
#ifndef HEDDLE_CUDA_DEVICE_LAUNCH_PARAMETERS_H
#define HEDDLE_CUDA_DEVICE_LAUNCH_PARAMETERS_H
#pragma GCC system_header
#include "cuda_runtime.h"
#endif
