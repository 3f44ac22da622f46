// SPDX-License-Identifier: Apache-2.0
// What the files of this program know of each other.
#pragma once

extern __device__ int table[4];
extern __constant__ float scale;
__device__ int helper(int x); // other.cu
__device__ int deep(int x);   // library.cu, device code alone
__global__ void theirs(int *out);
void launch_hidden(int *out);

template <class T> __device__ T twice(T x) { return 2 * x; }

struct weight { // an inline function that no compiler inlines
    int value;
    __device__ __noinline__ int of(int x) const { return value * x; }
};
