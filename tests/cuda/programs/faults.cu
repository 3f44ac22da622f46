// SPDX-License-Identifier: Apache-2.0
// Kernels that fault: the error is CUDA's, the process lives, and a reset makes the device anew. Output of kernels.
#include "check.h"

__global__ void wild(int *p) { p[threadIdx.x + 1000000] = 1; }
__global__ void crooked(char *p) { *(int *)(p + 1) = 1; }
__global__ void stopped() { __trap(); }
__global__ void fine(int *p) {
    *p = 42;
    if (threadIdx.x == 0)
        printf("block %d says %s\n", blockIdx.x, "hello");
}

int main() {
    int *p, back = 0;
    CHECK(cudaMalloc(&p, 64));
    wild<<<1, 1>>>(p);
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    EXPECT(cudaMemcpy(&back, p, 4, cudaMemcpyDeviceToHost) == cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    CHECK(cudaDeviceReset());
    CHECK(cudaMalloc(&p, 64));
    crooked<<<1, 1>>>((char *)p);
    EXPECT(cudaDeviceSynchronize() == cudaErrorMisalignedAddress);
    CHECK(cudaDeviceReset());
    stopped<<<1, 1>>>();
    EXPECT(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    CHECK(cudaDeviceReset());
    CHECK(cudaMalloc(&p, 64));
    cudaGetLastError();
    fine<<<2, 1>>>(p);
    CHECK(cudaMemcpy(&back, p, 4, cudaMemcpyDeviceToHost));
    EXPECT(back == 42);
    puts("right");
    return 0;
}
