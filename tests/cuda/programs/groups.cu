// SPDX-License-Identifier: Apache-2.0
// Cooperative groups inside a block, and of a whole grid.
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void tiles(const int *in, int *out) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
    int value = in[block.group_index().x * block.size() + block.thread_rank()];
    for (int step = 8; step; step /= 2)
        value += tile.shfl_down(value, step);
    block.sync();
    if (tile.thread_rank() == 0)
        out[block.group_index().x * (block.size() / 16) + tile.meta_group_rank()] = value;
}

// Every block adds what its neighbour had before the grid met.
__global__ void rounds(int *values, int count) {
    cg::grid_group grid = cg::this_grid();
    for (int r = 0; r < count; r++) {
        const int next = values[(blockIdx.x + 1) % gridDim.x];
        grid.sync();
        if (threadIdx.x == 0)
            values[blockIdx.x] += next;
        grid.sync();
    }
}

static void check_grid() {
    enum { BLOCKS = 12, ROUNDS = 5 };
    int values[BLOCKS], got[BLOCKS], *device, count = ROUNDS;
    for (int i = 0; i < BLOCKS; i++)
        values[i] = i;
    CHECK(cudaMalloc(&device, sizeof values));
    CHECK(cudaMemcpy(device, values, sizeof values, cudaMemcpyHostToDevice));
    void *arguments[] = {&device, &count};
    CHECK(cudaLaunchCooperativeKernel(rounds, dim3(BLOCKS), dim3(64), arguments, 0, 0));
    CHECK(cudaMemcpy(got, device, sizeof got, cudaMemcpyDeviceToHost));
    for (int r = 0; r < ROUNDS; r++) {
        const int first = values[0];
        for (int i = 0; i < BLOCKS; i++)
            values[i] += i + 1 < BLOCKS ? values[i + 1] : first;
    }
    for (int i = 0; i < BLOCKS; i++)
        EXPECT(got[i] == values[i]);
    EXPECT(cudaLaunchCooperativeKernel(rounds, dim3(100000), dim3(64), arguments, 0, 0) == cudaErrorCooperativeLaunchTooLarge);
    cudaGetLastError();
}

int main() {
    check_grid();
    enum { N = 512 };
    int in[N], out[N / 16], *din, *dout;
    for (int i = 0; i < N; i++)
        in[i] = i * i % 97;
    CHECK(cudaMalloc(&din, sizeof in));
    CHECK(cudaMalloc(&dout, sizeof out));
    CHECK(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
    tiles<<<N / 128, 128>>>(din, dout);
    CHECK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int t = 0; t < N / 16; t++) {
        int sum = 0;
        for (int i = 0; i < 16; i++)
            sum += in[16 * t + i];
        EXPECT(out[t] == sum);
    }
    puts("right");
    return 0;
}
