// SPDX-License-Identifier: Apache-2.0
// Device code in three files: functions, variables, constants and kernels of others, and names that each file has for itself.
#include "../check.h"
#include "shared.h"

static __device__ int own(int x) { return x + 1; }

__global__ void mine(int *out) {
    const int i = threadIdx.x;
    out[i] = helper(own(i)) + table[i & 3] + twice(3) + deep(i);
    if (i == 0)
        printf("%s\n", "mine");
}

int main() {
    const int values[4] = {100, 200, 300, 400};
    Managed<int> out(32);
    CHECK(cudaMemcpyToSymbol(table, values, sizeof values));
    mine<<<1, 32>>>(out.data);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++)
        EXPECT(out[i] == i + 1 + 1000 + 2 + values[i & 3] + 6 + 7 * i);
    theirs<<<1, 32>>>(out.data);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++)
        EXPECT(out[i] == 2 * (i + 1002) + 10);
    launch_hidden(out.data);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[3] == 3 * 2000);
    return finish();
}
