// SPDX-License-Identifier: Apache-2.0
// One of two CUDA files of a program; both have a kernel and a variable of the same names.
#include "parts.h"

static __device__ int factor = 2;
static __device__ __noinline__ int twice(int x) { return x * factor; }
static __global__ void kernel(int *data)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < PARTS_COUNT)
        data[i] = twice(data[i]);
    if (factor < 0)
        data[0] = twice(1);
}

void parts_second(int *data) { kernel<<<2, 32>>>(data); }
