// SPDX-License-Identifier: Apache-2.0
// Dependent multiply-adds, 128 in each iteration, four blocks on an SM of the H100 at a time. Arguments: blocks, threads of a block, iterations.
// Written from the published instruction counts (1,328 for 10 iterations, 2,648 for 20); that no more than four blocks are
// resident is read off the calibration rows, whose time goes up by one step for every 456 blocks.
#include <cstdio>
#include <cstdlib>

#define FOUR(what) what what what what
#define SHARED_BYTES 49152

/* The sum is never zero: nothing is stored, but compilers cannot know it and keep the chain. */
__global__ void ffma(int iterations, float *never) {
    float sum = 0.0f;
    for (int i = 0; i < iterations; i++) {
        FOUR(FOUR(FOUR(asm volatile("fma.rn.f32 %0, %0, 0f40000347, 0f3F800000;\n\tfma.rn.f32 %0, %0, 0f40000347, 0f3F800000;" : "+f"(sum));)))
    }
    if (sum == 0.0f)
        *never = sum;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: ffma BLOCKS THREADS ITERATIONS\n");
        return 2;
    }
    ffma<<<atoi(argv[1]), atoi(argv[2]), SHARED_BYTES>>>(atoi(argv[3]), nullptr);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
