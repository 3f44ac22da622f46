/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries of our own that programs load: the OpenCL device, CUDA's runtime and driver. */
#ifndef HEDDLE_CLI_LIBRARY_H
#define HEDDLE_CLI_LIBRARY_H

#include "base/arena.h"

#define OPENCL_LIBRARY "libheddle_opencl.so"
#define CUDA_FOLDER "cuda" /* beside libheddle_opencl.so: CUDA's libraries by their names, and what is loaded first */
#define CUDA_PRELOAD "libheddle_preload.so"
#define CUDA_TOOLKIT "toolkit" /* in that folder: what makefiles call the folder of the CUDA toolkit */
#define CUDA_STUB "lib64"      /* in that one: libcudart.so of version 12 and libcuda.so, for linkers */
#define CUDA_PTXAS CUDA_TOOLKIT "/bin/ptxas"

/* Beside the program where it was built, in the library folder where it was installed, or what that variable says; NULL: nowhere. */
const char *library_find(struct arena *arena, const char *name, const char *variable);

#endif
