// SPDX-License-Identifier: Apache-2.0
// Measures the GPU at hand with CUDA: nvcc -O3 calibrate.cu -o calibrate (or heddle cc); ./calibrate > card.csv
#include "kernels.h"
#include "measure.h"
#include <cuda_runtime.h>

static unsigned *data, *out;
static cudaEvent_t begin, end;

static void check(cudaError_t error) {
    if (error != cudaSuccess) {
        fprintf(stderr, "calibrate: %s\n", cudaGetErrorString(error));
        exit(1);
    }
}

static void gpu_open(struct gpu_facts *f) {
    cudaDeviceProp p;
    check(cudaGetDeviceProperties(&p, 0));
    snprintf(f->name, sizeof f->name, "%s", p.name);
    f->sms = (unsigned)p.multiProcessorCount;
    int khz = 0;
    check(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    f->clock_mhz = (unsigned)(khz / 1000);
    f->block_threads = (unsigned)p.maxThreadsPerBlock;
    f->l2_bytes = (unsigned long long)p.l2CacheSize;
    f->has_doubles = p.major >= 2 || p.minor >= 3;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
}

static void gpu_allocate(size_t bytes) {
    check(cudaMalloc(&data, bytes));
    check(cudaMalloc(&out, 64 << 20));
}

static void gpu_write(const unsigned *words, size_t first, size_t count) {
    check(cudaMemcpy(data + first, words, count * sizeof *words, cudaMemcpyHostToDevice));
}

static double gpu_run(enum kernel kernel, unsigned blocks, unsigned threads, unsigned n, unsigned a, unsigned b) {
    typedef void kernel_function(unsigned *, unsigned *, unsigned, unsigned, unsigned);
    static kernel_function *const kernels[KERNELS] = {empty, chain_fma, chain_mad, chain_add_logic, chain_sfu, chain_dp, chain_shared, chase,
                                                      rate_fma, rate_mad, rate_sfu, rate_dp, rate_shared, stream, stream_all,
                                                      collect_saxpy, collect_sum, collect_transpose, collect_matmul, collect_stencil, collect_gather, collect_collatz};
    float milliseconds = 0;
    check(cudaEventRecord(begin));
    kernels[kernel]<<<blocks, threads>>>(data, out, n, a, b);
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    check(cudaGetLastError());
    check(cudaEventElapsedTime(&milliseconds, begin, end));
    return milliseconds * 1e6;
}

int main(int count, char **words) {
    measure(count, words);
    return 0;
}
