// SPDX-License-Identifier: Apache-2.0
// The other file of linked.cu.
#include "check.h"

__device__ int offset;
__device__ int twice(int x) { return x < 0 ? 0 : 2 * x; }

__global__ void second() { printf("%s: %d\n", "second", twice(21)); }

void other() {
    second<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
}
