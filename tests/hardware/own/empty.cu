// SPDX-License-Identifier: Apache-2.0
// A kernel that does nothing: what a launch of so many blocks of so many threads costs. Arguments: blocks, threads of a block.
#include <cstdio>
#include <cstdlib>

__global__ void empty() {}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: empty BLOCKS THREADS\n");
        return 2;
    }
    empty<<<atoi(argv[1]), atoi(argv[2])>>>();
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
