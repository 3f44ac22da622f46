/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of kernels (twins.h): mistakes of stencils, matrices, scans, sorts and queues. */
#include "twins.h"

// find race: grid 1, block 64
kernel void stencil_in_place(global int *out, global const int *in, global int *flag) {
    local int row[66];
    const int i = get_local_id(0);
    row[i + 1] = in[i];
    if (i == 0)
        row[0] = row[65] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const int sum = row[i] + row[i + 2];
    RIGHT(barrier(CLK_LOCAL_MEM_FENCE);)
    row[i + 1] = sum; // HERE
    out[i] = row[i + 1];
}

// find uninitialised: grid 1, block 64
kernel void halo_not_loaded(global int *out, global const int *in, global int *flag) {
    local int row[66];
    const int i = get_local_id(0);
    row[i + 1] = in[i];
    if (i == 0)
        row[0] = 0;
    RIGHT(if (i == 1) row[65] = 0;)
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = row[i] + row[i + 2]; // HERE
}

// find race: grid 1, block 64
kernel void halo_by_neighbour(global int *out, global const int *in, global int *flag) {
    local int row[66];
    const int i = get_local_id(0);
    row[i + 1] = in[i];
    if (i == 0)
        row[0] = in[64];
    if (i == 63)
        row[65] = in[65];
    RIGHT(barrier(CLK_LOCAL_MEM_FENCE);)
    out[i] = row[i] + row[i + 2]; // HERE
}

// find memory: grid 1, block 64
kernel void halo_beyond(global int *out, global const int *in, global int *flag) {
    local int row[64];
    const int i = get_local_id(0);
    row[i] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = row[i] + row[WRONG(i + 1) RIGHT((i + 1) & 63)]; // HERE
}

// find race: grid 1, block 64
kernel void bubble(global int *out, global const int *in, global int *flag) {
    local int keys[64];
    const int i = get_local_id(0);
    keys[i] = -in[i];
    for (int round = 0; round < 8; round++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const int at = WRONG(i) RIGHT(2 * i + (round & 1));
        if (at + 1 < 64 && keys[at] > keys[at + 1]) {
            const int first = keys[at];
            keys[at] = keys[at + 1]; // HERE
            keys[at + 1] = first;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = keys[i];
}

// find race: grid 1, block 64
kernel void matrix_tile(global int *out, global const int *in, global int *flag) {
    local int a[8][8], b[8][8];
    const int x = get_local_id(0) & 7, y = get_local_id(0) >> 3;
    int sum = 0;
    for (int step = 0; step < 4; step++) {
        a[y][x] = in[64 * step + 8 * y + x];
        b[y][x] = in[64 * step + 8 * x + y];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 8; k++)
            sum += a[y][k] * b[k][x]; // HERE
        RIGHT(barrier(CLK_LOCAL_MEM_FENCE);)
    }
    out[8 * y + x] = sum;
}

// find race: grid 1, block 64
kernel void scan_without_second(global int *out, global const int *in, global int *flag) {
    local int sums[64];
    const int i = get_local_id(0);
    sums[i] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int by = 1; by < 64; by *= 2) {
        const int left = i >= by ? sums[i - by] : 0;
        RIGHT(barrier(CLK_LOCAL_MEM_FENCE);)
        sums[i] += left; // HERE
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = sums[i];
}

// find race: grid 1, block 64
kernel void down_sweep(global int *out, global const int *in, global int *flag) {
    local int tree[128];
    const int i = get_local_id(0);
    tree[2 * i] = in[2 * i];
    tree[2 * i + 1] = in[2 * i + 1];
    for (int span = 1, count = 64; count; span *= 2, count /= 2) {
        RIGHT(barrier(CLK_LOCAL_MEM_FENCE);)
        if (i < count)
            tree[span * (2 * i + 2) - 1] += tree[span * (2 * i + 1) - 1]; // HERE
    }
    if (i == 0)
        out[0] = tree[127];
}

// find uninitialised: grid 1, block 64
kernel void queue_head(global int *out, global const int *in, global int *flag) {
    local int queue[64], count;
    const int i = get_local_id(0);
    RIGHT(if (i == 0) count = 0;)
    barrier(CLK_LOCAL_MEM_FENCE);
    if (in[i] & 1)
        queue[atomic_inc(&count) & 63] = i; // HERE
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0)
        out[0] = count;
}

// find race: grid 1, block 64
kernel void queue_count(global int *out, global const int *in, global int *flag) {
    local int count;
    const int i = get_local_id(0);
    if (i == 0)
        count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (in[i] & 1)
        atomic_inc(&count);
    RIGHT(barrier(CLK_LOCAL_MEM_FENCE);)
    if (i == 0)
        out[0] = count; // HERE
}

// find race: grid 4, block 64
kernel void output_of_groups(global int *out, global const int *in, global int *flag) {
    out[WRONG(get_local_id(0)) RIGHT(get_global_id(0))] = in[get_global_id(0)]; // HERE
}

// find race: grid 4, block 64
kernel void frontier(global int *out, global const int *in, global int *flag) {
    const int i = get_global_id(0), to = (i * 7) & 127;
    WRONG(if (out[to] < i + 1) out[to] = i + 1;) RIGHT(atomic_max(&out[to], i + 1);) // HERE
}

// find memory: grid 2, block 64
kernel void row_of_pitch(global int *out, global const int *in, global int *flag) {
    const int i = get_global_id(0);
    flag[WRONG(2 * i) RIGHT(i)] = in[i]; // HERE
}

// find memory: grid 1, block 32
kernel void beyond_by_vector(global int *out, global const int *in, global int *flag) {
    const int i = get_global_id(0);
    vstore4((int4)(in[i]), i WRONG(+ 1), flag); // HERE
}

// find barrier: grid 1, block 64
kernel void barrier_in_loop(global int *out, global const int *in, global int *flag) {
    local int tile[64];
    const int i = get_local_id(0);
    tile[i] = 0;
    for (int round = 0; round < WRONG(1 + (i & 1)) RIGHT(2); round++) {
        tile[i] += in[i];
        barrier(CLK_LOCAL_MEM_FENCE); // HERE
    }
    out[i] = tile[i];
}
