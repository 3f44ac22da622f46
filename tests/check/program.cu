/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA program for heddle exec --check: program CASE wrong|right. Each case is wrong in one way and right without it. */
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

__global__ void copy(int *out, const int *in) {
    out[threadIdx.x] = in[threadIdx.x]; // COPY
}

__global__ void reverse(int *out, const int *in) {
    const int i = threadIdx.x;
    if (in)
        out[i] = in[i];
    else
        out[i] = out[63 - i] + 1; // REVERSE
}

__global__ void count(int *out, bool of_block) {
    if (of_block)
        atomicAdd_block(out, 1); // OF_BLOCK
    else
        atomicAdd(out, 1);
}

/* The second block waits for the first, and looks once more. */
__global__ void poll(int *flag, bool of_block) {
    if (blockIdx.x == 0)
        atomicExch(flag, 1);
    else if (threadIdx.x == 0)
        while (atomicAdd(flag, 0) == 0)
            ;
    __syncthreads();
    if (blockIdx.x == 1 && threadIdx.x == 32)
        of_block ? atomicAdd_block(flag, 0) : atomicAdd(flag, 0);
}

enum { COUNT = 64, BYTES = COUNT * sizeof(int) };
static const int numbers[COUNT] = {1, 2, 3};
static bool wrong;

static int *room() {
    int *at = nullptr;
    cudaMalloc(&at, BYTES);
    return at;
}

/* The second half is never written. */
static void unwritten(int *out, int *in) { cudaMemcpy(in, numbers, wrong ? BYTES / 2 : BYTES, cudaMemcpyHostToDevice); }

/* A copy of what is not written is not written. */
static void copied(int *out, int *in) {
    int *from = room();
    cudaMemset(from, 1, wrong ? BYTES - 1 : BYTES);
    cudaMemcpy(in, from, BYTES, cudaMemcpyDeviceToDevice);
    cudaFree(from);
}

/* Rows of 16 bytes, 64 apart, four of them; what is between them stays as it was. */
static void rows(int *out, int *in) {
    for (int i = 0; i < (wrong ? 3 : 4); i++)
        cudaMemset2D(reinterpret_cast<char *>(in) + 16 * i, 64, i, 16, 4);
}

/* A kernel wrote it. */
static void by_kernel(int *out, int *in) {
    cudaMemset(out, 0, BYTES);
    if (!wrong)
        copy<<<1, COUNT>>>(in, out);
}

static void freed(int *out, int *in) {
    cudaMemset(in, 0, BYTES);
    int *at = room();
    cudaMemset(at, 0, BYTES);
    if (wrong)
        cudaFree(at);
    int *other = room(); /* does not get the room of the first */
    copy<<<1, COUNT>>>(other, in);
    copy<<<1, COUNT>>>(out, at);
    if (!wrong)
        cudaFree(at);
    cudaFree(other);
}

static void race(int *out, int *in) {
    cudaMemcpy(in, numbers, BYTES, cudaMemcpyHostToDevice);
    reverse<<<1, COUNT>>>(out, in);
    if (wrong)
        reverse<<<1, COUNT>>>(out, nullptr);
}

/* Of block scope, and of two blocks. */
static void scope(int *out, int *in) {
    cudaMemset(in, 0, BYTES);
    count<<<2, 32>>>(in, wrong);
}

static void polled(int *out, int *in) {
    cudaMemset(in, 0, BYTES);
    poll<<<2, 64>>>(in, wrong);
}

/* The host may write managed and pinned memory at any time. */
static void managed(int *out, int *in) {
    int *at = nullptr, *pinned = nullptr;
    cudaMallocManaged(&at, BYTES);
    cudaMallocHost(&pinned, BYTES);
    copy<<<1, COUNT>>>(at, pinned);
    copy<<<1, COUNT>>>(in, wrong ? out : at);
    cudaDeviceSynchronize();
    cudaFree(at);
    cudaFreeHost(pinned);
}

static void leak(int *out, int *in) {
    cudaMemset(in, 0, BYTES);
    int *at = room();
    if (!wrong)
        cudaFree(at);
}

static const struct {
    const char *name;
    void (*run)(int *, int *);
} cases[] = {{"unwritten", unwritten}, {"copied", copied}, {"rows", rows},       {"by_kernel", by_kernel},
             {"freed", freed},         {"race", race},     {"managed", managed}, {"leak", leak},
             {"scope", scope},         {"polled", polled}};

int main(int count, char **arguments) {
    if (count != 3)
        return 2;
    wrong = strcmp(arguments[2], "wrong") == 0;
    for (const auto &one : cases)
        if (strcmp(one.name, arguments[1]) == 0) {
            int *out = room(), *in = room();
            one.run(out, in);
            copy<<<1, COUNT>>>(out, in);
            const cudaError_t error = cudaDeviceSynchronize();
            if (error)
                printf("%s\n", cudaGetErrorString(error));
            cudaFree(in);
            cudaFree(out);
            return 0;
        }
    return 2;
}
