// SPDX-License-Identifier: Apache-2.0
// printf and assert in kernels, lambdas, constexpr functions and templates on both sides.
#include "check.h"
#include <cassert>

constexpr int cube(int x) { return x * x * x; }
template <class F> __global__ void apply(F f, int *out)
{
    out[threadIdx.x] = f((int)threadIdx.x);
    assert(out[threadIdx.x] >= 0);
    if (threadIdx.x == 3)
        printf("thread %d of %u: %s %.2f\n", threadIdx.x, blockDim.x, "says", 1.5);
}

int main()
{
    Managed<int> out(32);
    const int add = 5;
    apply<<<1, 32>>>([=] __device__(int i) { return cube(i) + add; }, out.data);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++)
        EXPECT(out[i] == cube(i) + 5);
    return finish();
}
