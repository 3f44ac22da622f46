/* SPDX-License-Identifier: Apache-2.0 */
/* cudaProfilerStart and cudaProfilerStop: all in cuda_runtime.h. */
#ifndef HEDDLE_CUDA_CUDA_PROFILER_API_H
#define HEDDLE_CUDA_CUDA_PROFILER_API_H
#pragma GCC system_header
#include "cuda_runtime.h"
#endif
