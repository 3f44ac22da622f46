// Sum of many numbers: each block adds up its 256 in a tree, in shared memory, and writes one partial sum.
//
// In each round the first half of the threads that are left add what the second half holds. While whole warps drop
// out (rounds 128, 64, 32) no lane is wasted; in the last five rounds only part of one warp works, and `if` parts it.
// The barrier stands outside the `if`: every thread of the block has to reach it.

__kernel void reduce(__global uint *partial, __global const uint *in, __local uint *scratch) {
    uint t = get_local_id(0);
    scratch[t] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        if (t < half_size)
            scratch[t] += scratch[t + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0)
        partial[get_group_id(0)] = scratch[0];
}
// SPDX-License-Identifier: Apache-2.0
