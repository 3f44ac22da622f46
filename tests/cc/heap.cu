// SPDX-License-Identifier: Apache-2.0
// malloc, free, new and delete in kernels: lists that live from launch to launch, a heap that becomes full, blocks that do not overlap.
#include "check.h"
#include <cstdlib>
#include <cstring>

struct node {
    int value;
    node *next;
};

struct pair {
    int a;
    double b;
    __device__ pair(int x) : a(x), b(2.0 * x) {}
    __device__ double sum() const { return a + b; }
};

struct shape { // abstract
    __device__ virtual int area() const = 0;
    __device__ virtual ~shape() {}
};
struct square : shape {
    int side;
    __device__ square(int s) : side(s) {}
    __device__ int area() const override { return side * side; }
};
struct strip : square {
    __device__ strip(int s) : square(s) {}
    __device__ int area() const override { return 1000 + side; }
};

/* Functions are found by the object. */
__global__ void shapes(int *out) {
    const int i = threadIdx.x;
    shape *s = i % 3 ? new square(i) : new strip(i);
    out[i] = s->area();
    delete s;
}

struct alignas(128) line {
    int words[32];
};

__global__ void push(node **heads, int rounds) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r <= i % rounds; r++) {
        node *n = static_cast<node *>(malloc(sizeof(node)));
        n->value = 100 * i + r;
        n->next = heads[i];
        heads[i] = n;
    }
}

__global__ void sum(node **heads, int *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (node *n = heads[i]; n; n = n->next)
        out[i] += n->value;
}

/* Lists of the thread in the opposite place: free is not for who allocated. */
__global__ void release(node **heads, int threads) {
    const int i = threads - 1 - (blockIdx.x * blockDim.x + threadIdx.x);
    for (node *n = heads[i], *next; n; n = next) {
        next = n->next;
        free(n);
    }
    heads[i] = nullptr;
}

/* As many blocks of so many bytes as there are: counted, filled, looked at, given back. */
__global__ void fill(char **blocks, int most, int bytes, int *taken, int *bad) {
    int count = 0;
    while (count < most && (blocks[count] = static_cast<char *>(malloc(bytes))))
        blocks[count][0] = blocks[count][499] = count & 0x7f, count++;
    for (int i = 0; i < count; i++) {
        *bad += reinterpret_cast<size_t>(blocks[i]) % 16 != 0;
        for (int k = 0; k < bytes; k += 499)
            *bad += blocks[i][k] != (i & 0x7f);
    }
    for (int i = 0; i < count; i += 2)
        free(blocks[i]);
    for (int i = 1; i < count; i += 2)
        free(blocks[i]);
    *taken = count;
}

__global__ void objects(double *out, int *bad) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    pair *one = new pair(i);
    int *many = new int[i % 7 + 1];
    line *wide = new line;
    if (reinterpret_cast<size_t>(wide) % 128)
        atomicAdd(bad, 1);
    many[i % 7] = i;
    wide->words[31] = many[i % 7];
    out[i] = one->sum() + wide->words[31];
    delete one;
    delete[] many;
    delete wide;
    free(nullptr);
}

int main(void) {
    enum { THREADS = 256, ROUNDS = 5, MOST = 256, HEAP = 1 << 16 };
    size_t bytes = 0;
    EXPECT(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize) == cudaSuccess && bytes == 8 << 20);
    EXPECT(cudaDeviceSetLimit(cudaLimitMallocHeapSize, HEAP) == cudaSuccess);
    EXPECT(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize) == cudaSuccess && bytes == HEAP);

    node **heads;
    int *sums;
    EXPECT(cudaMallocManaged(&heads, THREADS * sizeof *heads) == cudaSuccess);
    EXPECT(cudaMallocManaged(&sums, THREADS * sizeof *sums) == cudaSuccess);
    shapes<<<1, 64>>>(sums);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 64; i++)
        EXPECT(sums[i] == (i % 3 ? i * i : 1000 + i));
    memset(heads, 0, THREADS * sizeof *heads);
    memset(sums, 0, THREADS * sizeof *sums);
    push<<<8, THREADS / 8>>>(heads, ROUNDS);
    push<<<4, THREADS / 4>>>(heads, ROUNDS);
    sum<<<2, THREADS / 2>>>(heads, sums);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < THREADS; i++) {
        int expected = 0;
        for (int r = 0; r <= i % ROUNDS; r++)
            expected += 2 * (100 * i + r);
        EXPECT(sums[i] == expected);
    }
    EXPECT(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 2 * HEAP) == cudaErrorInvalidValue && cudaGetLastError());
    release<<<8, THREADS / 8>>>(heads, THREADS);

    char **blocks;
    int *counts;
    EXPECT(cudaMalloc(&blocks, MOST * sizeof *blocks) == cudaSuccess);
    EXPECT(cudaMallocManaged(&counts, 4 * sizeof *counts) == cudaSuccess);
    memset(counts, 0, 4 * sizeof *counts);
    fill<<<1, 1>>>(blocks, MOST, 500, &counts[0], &counts[2]);
    fill<<<1, 1>>>(blocks, MOST, 500, &counts[1], &counts[2]); // all of it is there again
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    EXPECT(counts[0] == HEAP / 528 && counts[1] == counts[0] && counts[2] == 0);

    double *values;
    EXPECT(cudaMallocManaged(&values, THREADS * sizeof *values) == cudaSuccess);
    objects<<<4, THREADS / 4>>>(values, &counts[3]);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess && counts[3] == 0);
    for (int i = 0; i < THREADS; i++)
        EXPECT(values[i] == 4.0 * i);
    return finish();
}
