// SPDX-License-Identifier: Apache-2.0
#include "shared.h"
#include <cstdio>

__device__ int table[4];
__constant__ float scale = 2;

static __device__ int own(int x) { return x + 1000; }

__device__ int helper(int x) { return own(x) + twice(1); }

static __global__ void hidden(int *out) { out[threadIdx.x] = weight{2000}.of(threadIdx.x); }

__global__ void theirs(int *out) {
    out[threadIdx.x] = helper(threadIdx.x) * scale + weight{5}.of(2);
    if (threadIdx.x == 0)
        printf("%s\n", "theirs");
}

void launch_hidden(int *out) { hidden<<<1, 32>>>(out); }
