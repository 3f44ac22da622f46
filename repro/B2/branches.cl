// Kernels by what their branches do. Blocks are one warp each, so that sm.max_blocks is the number of warps on an SM.

// Loops of one to four turns, one after another, the same in all threads: who knows the last outcomes knows the next.
__kernel void loops(__global uint *out, uint rounds) {
    uint v = get_global_id(0);
    for (uint i = 0; i < rounds; i++) {
#pragma unroll 1
        for (uint j = 0; j <= i % 4; j++)
            v = v * 3 + j;
    }
    out[get_global_id(0)] = v;
}

// Loops of no to three turns by chance, the same in all threads of a warp: nobody can know.
__kernel void dice(__global uint *out, uint rounds) {
    uint v = get_global_id(0), x = get_group_id(0) + 1;
    for (uint i = 0; i < rounds; i++) {
        x = x * 1664525 + 1013904223;
#pragma unroll 1
        for (uint j = 0; j < x >> 30; j++)
            v = v * 3 + j;
    }
    out[get_global_id(0)] = v;
}

// Binary search: as many turns in every thread, each with a load.
__kernel void search(__global uint *out, __global const uint *sorted, uint count, uint rounds) {
    uint sum = 0;
    for (uint i = 0; i < rounds; i++) {
        uint key = ((uint)get_global_id(0) * rounds + i) * 2654435761u % (count * 3), low = 0, high = count;
#pragma unroll 1
        while (low < high) {
            uint middle = (low + high) / 2;
            if (sorted[middle] < key)
                low = middle + 1;
            else
                high = middle;
        }
        sum += low;
    }
    out[get_global_id(0)] = sum;
}
// SPDX-License-Identifier: Apache-2.0
