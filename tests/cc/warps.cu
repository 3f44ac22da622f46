// SPDX-License-Identifier: Apache-2.0
// Warps: shuffles, votes, matches, the forms without a mask, cooperative groups.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void warps(int *out, double *wide)
{
    const int i = threadIdx.x;
    const unsigned all = 0xffffffff;
    int *mine = out + 16 * i;
    mine[0] = __shfl_sync(all, i * 3, 7);
    mine[1] = __shfl_up_sync(all, i, 2);
    mine[2] = __shfl_down_sync(all, i, 2, 8);
    mine[3] = __shfl_xor(i, 5);
    mine[4] = (int)__ballot_sync(all, i % 3 == 0);
    mine[5] = __any_sync(all, i == 40) * 2 + __all_sync(all, i < 64);
    mine[6] = __popc(__match_any_sync(all, i / 4));
    wide[i] = __shfl_sync(all, i * 0.25, 31);
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    mine[7] = tile.shfl_down(i, 3);
    mine[8] = cg::reduce(tile, i, cg::plus<int>());
    mine[9] = (int)tile.meta_group_rank() * 100 + (int)tile.thread_rank();
    mine[10] = tile.any(i == 9);
    mine[11] = mine[12] = -1;
    if (i % 2) {
        cg::coalesced_group odd = cg::coalesced_threads();
        mine[11] = (int)odd.thread_rank() * 100 + (int)odd.size();
        mine[12] = odd.shfl(i, 2);
    }
    cg::thread_group half = cg::tiled_partition(block, 16);
    mine[13] = (int)half.thread_rank() * 100 + (int)half.size();
    block.sync();
    mine[14] = __syncthreads_count(i % 5 == 0);
    mine[15] = (int)block.size();
}

int main()
{
    enum { COUNT = 64 };
    Managed<int> out(16 * COUNT);
    Managed<double> wide(COUNT);
    warps<<<1, COUNT>>>(out.data, wide.data);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < COUNT; i++) {
        const int warp = i / 32 * 32, lane = i % 32, tile = i / 8 * 8;
        unsigned thirds = 0;
        for (int k = 0; k < 32; k++)
            thirds |= (unsigned)((warp + k) % 3 == 0) << k;
        const int expected[16] = {(warp + 7) * 3,
                                  lane < 2 ? i : i - 2,
                                  i % 8 < 6 ? i + 2 : i,
                                  warp + (lane ^ 5),
                                  (int)thirds,
                                  (warp == 32) * 2 + 1,
                                  4,
                                  i % 8 < 5 ? i + 3 : i,
                                  8 * tile + 28,
                                  i / 8 * 100 + i % 8,
                                  tile == 8,
                                  i % 2 ? lane / 2 * 100 + 16 : -1,
                                  i % 2 ? warp + 5 : -1,
                                  i % 16 * 100 + 16,
                                  13,
                                  COUNT};
        for (int k = 0; k < 16; k++)
            EXPECT(out[16 * i + k] == expected[k]);
        EXPECT(wide[i] == (warp + 31) * 0.25);
    }
    return finish();
}
