// SPDX-License-Identifier: Apache-2.0
// Device code of two files, linked by nvcc (-rdc=true): a function and a variable of the other file (linked_other.cu).
#include "check.h"

extern __device__ int twice(int x);
extern __device__ int offset;
extern void other();

__global__ void first(int *out) {
    out[threadIdx.x] = twice((int)threadIdx.x) + offset;
    if (threadIdx.x == 0)
        printf("%s: %d\n", "first", out[0]);
}

int main() {
    int *device, got[32], seven = 7;
    CHECK(cudaMalloc(&device, sizeof got));
    CHECK(cudaMemcpyToSymbol(offset, &seven, sizeof seven));
    first<<<1, 32>>>(device);
    CHECK(cudaMemcpy(got, device, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++)
        EXPECT(got[i] == 2 * i + 7);
    other();
    puts("right");
    return 0;
}
