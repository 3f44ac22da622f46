// SPDX-License-Identifier: Apache-2.0
// Managed variables: first values, host and device in turn, pointers to them in kernels' parameters, atomics, symbols.
#include "check.h"

__device__ __managed__ int counter = 5;
__managed__ double values[64] = {1, 2, 3};
static __managed__ struct pair {
    int a;
    float b;
} one;
namespace inner {
__managed__ unsigned bits;
}
__device__ int plain = 3;

__global__ void work(double *to, int *count) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    to[i] += values[i] + plain;
    atomicAdd(count, 1);
    atomicOr(&inner::bits, 1u << (i & 31));
    if (i == 0)
        one.a = counter > 0, one.b = one.b + 0.5f;
}

int main() {
    EXPECT(counter == 5 && values[2] == 3 && values[3] == 0);
    values[3] = 10, one.b = 1;
    for (int turn = 1; turn <= 3; turn++) {
        work<<<2, 32>>>(values, &counter);
        CHECK(cudaDeviceSynchronize());
        EXPECT(counter == 5 + 64 * turn);
        counter += 0;
    }
    EXPECT(values[0] == 8 * 1 + 7 * 3 && values[3] == 8 * 10 + 7 * 3 && values[63] == 7 * 3);
    EXPECT(one.a == 1 && one.b == 2.5f && inner::bits == ~0u);
    void *address = nullptr;
    CHECK(cudaGetSymbolAddress(&address, counter));
    EXPECT(address == &counter);
    const int again = 77;
    CHECK(cudaMemcpyToSymbol(counter, &again, sizeof again));
    EXPECT(counter == 77);
    int copy = 0;
    CHECK(cudaMemcpy(&copy, &counter, sizeof copy, cudaMemcpyDefault));
    EXPECT(copy == 77);
    return finish();
}
