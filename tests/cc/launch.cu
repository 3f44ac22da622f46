// SPDX-License-Identifier: Apache-2.0
// Launches with attributes; addresses of one space as those of all, and back; votes by their old names, which other functions may have too.
#include "check.h"
#include <cooperative_groups.h>

namespace other { // names of a library's own, one of them for anything
__host__ __device__ static int __any(...) { return 7; }
__host__ __device__ static int __all(int a, int b) { return a + b; }
}

__global__ void scale(float *out, float by) {
    __shared__ float own[32];
    own[threadIdx.x] = by * threadIdx.x;
    float *same = (float *)__cvta_shared_to_generic(__cvta_generic_to_shared(&own[threadIdx.x]));
    float *there = (float *)__cvta_global_to_generic(__cvta_generic_to_global(out));
    if (__isShared(same) && __isGlobal(there) && !__isShared(there) && !__isLocal(there))
        there[blockIdx.x * 32 + threadIdx.x] = *same + other::__any(same, 1.5) + other::__all(1, 2);
}
__global__ void meet(int *seen) {
    atomicAdd(&seen[0], 1);
    cooperative_groups::this_grid().sync();
    if (__all(seen[0] == 64) && !__any(seen[0] != 64) && __ballot(threadIdx.x < 3) == 7)
        atomicAdd(&seen[1], 1);
}

int main() {
    Managed<float> out(64);
    Managed<int> seen(2);
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t how = {};
    how.gridDim = 2, how.blockDim = 32, how.attrs = &attribute;
    CHECK(cudaLaunchKernelEx(&how, scale, out.data, 3)); // a whole number for a float
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++)
        EXPECT(out[i] == 3.0f * (i % 32) + 10);
    seen[0] = seen[1] = 0;
    attribute.id = cudaLaunchAttributeCooperative, attribute.val.cooperative = 1, how.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&how, meet, seen.data));
    CHECK(cudaDeviceSynchronize());
    EXPECT(seen[0] == 64 && seen[1] == 64);
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    EXPECT(cudaLaunchKernelEx(&how, meet, seen.data) == cudaErrorNotSupported);
    return finish();
}
