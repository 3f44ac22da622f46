// SPDX-License-Identifier: Apache-2.0
// Memory of every kind: managed, mapped, pinned, registered, variables, constants, pitched and cubic copies, pools.
#include "check.h"
#include <cstring>

__managed__ int managed[4] = {1, 2, 3, 4};
__device__ int plain[64];
__constant__ float factors[8];
__device__ int *pointer;

__global__ void use(int *p, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = 2 * p[i] + (int)factors[i % 8];
    if (i < 4)
        managed[i] += 10;
    if (i < 64)
        plain[i] += i;
    if (i == 0)
        pointer = p;
}

__global__ void twice(char *p, size_t pitch, int width, int height) {
    const int y = blockIdx.x, x = threadIdx.x;
    if (x < width && y < height)
        p[y * pitch + x] *= 2;
}

static void check(int *p, int n, int *device) {
    for (int i = 0; i < n; i++)
        p[i] = i;
    use<<<(n + 63) / 64, 64>>>(device, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        EXPECT(p[i] == 2 * i + i % 8);
}

int main() {
    enum { N = 300 };
    float constants[8];
    int *p, *d, back[64], zero[64] = {0};
    size_t bytes = 0, pitch, left, all;
    for (int i = 0; i < 8; i++)
        constants[i] = (float)i;
    CHECK(cudaMemcpyToSymbol(factors, constants, sizeof constants));
    CHECK(cudaMemcpyToSymbol(plain, zero, sizeof zero));
    CHECK(cudaMallocManaged(&p, N * sizeof *p));
    check(p, N, p);
    EXPECT(managed[0] == 11 && managed[3] == 14);
    CHECK(cudaFree(p));
    CHECK(cudaHostAlloc(&p, N * sizeof *p, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&d, p, 0));
    check(p, N, d);
    CHECK(cudaFreeHost(p));
    p = (int *)malloc(N * sizeof *p);
    CHECK(cudaHostRegister(p, N * sizeof *p, cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(&d, p, 0));
    check(p, N, d);
    CHECK(cudaHostUnregister(p));
    free(p);
    CHECK(cudaMemcpyFromSymbol(back, plain, sizeof back));
    for (int i = 0; i < 64; i++)
        EXPECT(back[i] == 3 * i);
    CHECK(cudaGetSymbolSize(&bytes, plain));
    CHECK(cudaGetSymbolAddress((void **)&d, plain));
    EXPECT(bytes == sizeof back);
    CHECK(cudaMemcpy(back, d, sizeof back, cudaMemcpyDeviceToHost));
    EXPECT(back[63] == 3 * 63);

    char rows[10][100], got[10][100], *r;
    memset(rows, 3, sizeof rows);
    CHECK(cudaMallocPitch(&r, &pitch, 100, 10));
    EXPECT(pitch >= 100);
    CHECK(cudaMemcpy2D(r, pitch, rows, 100, 100, 10, cudaMemcpyHostToDevice));
    twice<<<10, 128>>>(r, pitch, 50, 10);
    CHECK(cudaMemset2D(r + 50, pitch, 7, 25, 5));
    CHECK(cudaMemcpy2D(got, 100, r, pitch, 100, 10, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 10; y++)
        for (int x = 0; x < 100; x++)
            EXPECT(got[y][x] == (x < 50 ? 6 : x < 75 && y < 5 ? 7 : 3));

    static int cube[4][5][6], cube_back[4][5][6];
    for (int i = 0; i < 4 * 5 * 6; i++)
        (&cube[0][0][0])[i] = i;
    cudaPitchedPtr c;
    CHECK(cudaMalloc3D(&c, make_cudaExtent(6 * sizeof(int), 5, 4)));
    cudaMemcpy3DParms how = {0};
    how.srcPtr = make_cudaPitchedPtr(cube, 6 * sizeof(int), 6, 5);
    how.dstPtr = c;
    how.extent = make_cudaExtent(6 * sizeof(int), 5, 4);
    how.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&how));
    how.srcPtr = c;
    how.dstPtr = make_cudaPitchedPtr(cube_back, 6 * sizeof(int), 6, 5);
    how.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&how));
    EXPECT(memcmp(cube, cube_back, sizeof cube) == 0);

    CHECK(cudaMallocAsync((void **)&d, 1000, 0));
    CHECK(cudaMemsetAsync(d, 1, 1000, 0));
    CHECK(cudaMemcpy(back, d, 4, cudaMemcpyDefault));
    EXPECT(back[0] == 0x01010101);
    cudaPointerAttributes about;
    CHECK(cudaPointerGetAttributes(&about, d));
    EXPECT(about.type == cudaMemoryTypeDevice);
    CHECK(cudaFreeAsync(d, 0));
    CHECK(cudaMemGetInfo(&left, &all));
    EXPECT(left <= all && left > 0);
    puts("right");
    return 0;
}
