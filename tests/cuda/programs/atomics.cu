// SPDX-License-Identifier: Apache-2.0
// Atomics on global and shared memory, votes and shuffles, templates, static and dynamic shared memory.
#include "check.h"

template <typename T> __global__ void histogram(const T *values, int n, unsigned *bins) {
    __shared__ unsigned own[16];
    if (threadIdx.x < 16)
        own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[(unsigned)values[i] % 16], 1u);
    __syncthreads();
    if (threadIdx.x < 16)
        atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

__global__ void sum(const int *values, int n, unsigned long long *total, int *most) {
    extern __shared__ int parts[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = i < n ? values[i] : 0;
    atomicMax(most, value);
    for (int step = 16; step; step /= 2)
        value += __shfl_down_sync(~0u, value, step);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        long long all = 0;
        for (int w = 0; w < blockDim.x / 32; w++)
            all += parts[w];
        atomicAdd(total, (unsigned long long)all);
    }
}

int main() {
    enum { N = 10000 };
    static int values[N];
    unsigned expected[16] = {0}, got[16], *bins;
    unsigned long long total = 0, *dtotal, gsum;
    int *dvalues, *dmost, most;
    for (int i = 0; i < N; i++) {
        values[i] = (i * 7919) % 1000;
        expected[values[i] % 16]++;
        total += (unsigned)values[i];
    }
    CHECK(cudaMalloc(&dvalues, sizeof values));
    CHECK(cudaMalloc(&bins, sizeof got));
    CHECK(cudaMalloc(&dtotal, sizeof total));
    CHECK(cudaMalloc(&dmost, sizeof most));
    CHECK(cudaMemset(bins, 0, sizeof got));
    CHECK(cudaMemset(dtotal, 0, sizeof total));
    CHECK(cudaMemset(dmost, 0, sizeof most));
    CHECK(cudaMemcpy(dvalues, values, sizeof values, cudaMemcpyDefault));
    histogram<int><<<8, 128>>>(dvalues, N, bins);
    sum<<<(N + 255) / 256, 256, 8 * sizeof(int)>>>(dvalues, N, dtotal, dmost);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(got, bins, sizeof got, cudaMemcpyDefault));
    CHECK(cudaMemcpy(&gsum, dtotal, sizeof gsum, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&most, dmost, sizeof most, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 16; i++)
        EXPECT(got[i] == expected[i]);
    EXPECT(gsum == total && most == 999);
    int blocks = 0, least = 0, threads = 0;
    cudaFuncAttributes about;
    CHECK(cudaFuncGetAttributes(&about, sum));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum, 256, 32));
    CHECK(cudaOccupancyMaxPotentialBlockSize(&least, &threads, sum, 0, 0));
    EXPECT(blocks > 0 && least > 0 && threads > 0 && about.numRegs > 0);
    puts("right");
    return 0;
}
