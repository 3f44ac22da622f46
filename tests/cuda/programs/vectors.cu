// SPDX-License-Identifier: Apache-2.0
// Vectors added, the plain way; times by events; errors of launches that cannot be.
#include "check.h"

__global__ void add(const float *a, const float *b, float *c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main() {
    enum { N = 5000 };
    static float a[N], b[N], c[N];
    float *da, *db, *dc, ms = -1;
    cudaEvent_t begin, end;
    for (int i = 0; i < N; i++)
        a[i] = (float)i, b[i] = 0.5f * (float)i;
    CHECK(cudaMalloc(&da, sizeof a));
    CHECK(cudaMalloc(&db, sizeof b));
    CHECK(cudaMalloc(&dc, sizeof c));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
    CHECK(cudaEventRecord(begin));
    add<<<(N + 255) / 256, 256>>>(da, db, dc, N);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    CHECK(cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        EXPECT(c[i] == a[i] + b[i]);
    EXPECT(ms > 0 && ms < 1000);
    add<<<1, 4096>>>(da, db, dc, N);
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    CHECK(cudaGetLastError());
    EXPECT(cudaMemcpy(c, dc, sizeof c + 100000, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    CHECK(cudaFree(da));
    EXPECT(cudaFree(da) == cudaErrorInvalidValue);
    cudaDeviceProp about;
    CHECK(cudaGetDeviceProperties(&about, 0));
    EXPECT(about.warpSize == 32 && about.maxThreadsPerBlock >= 512 && about.totalGlobalMem > 0);
    puts("right");
    return 0;
}
