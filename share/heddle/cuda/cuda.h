/* SPDX-License-Identifier: Apache-2.0 */
/* Types and numbers of CUDA's driver API that sources of the runtime API meet. Its functions are not built: a use is an error of
 * the compiler by their name. */
#ifndef HEDDLE_CUDA_H
#define HEDDLE_CUDA_H
#pragma GCC system_header

#include "cuda_runtime.h"

#define CUDA_VERSION 12030
typedef unsigned long long CUdeviceptr;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef cudaStream_t CUstream;
typedef cudaEvent_t CUevent;
typedef enum cudaError_enum { CUDA_SUCCESS = 0, CUDA_ERROR_UNKNOWN = 999 } CUresult;

#endif
