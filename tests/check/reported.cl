/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of kernels (twins.h): mistakes that were reported of public programs, OpenCL. Each is modelled on the report named above it, and its
 * code is our own. */
#include "twins.h"

// from https://github.com/boostorg/compute/pull/772
// find memory: grid 65, block 64
kernel void local_scan(global int *out, global const int *in, global int *flag) {
    local int sums[64];
    const int i = get_global_id(0), l = get_local_id(0);
    sums[l] = WRONG(in[i]) RIGHT(i < 4096 ? in[i] : 0); // HERE
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 4096)
        out[i] = sums[l] + sums[0];
}

// from https://github.com/chai-benchmarks/chai/issues/24
// find memory: grid 1, block 64
kernel void task_queue(global int *out, global const int *in, global int *flag) {
    const int at = 100 + get_local_id(0);
    const int task = ((volatile global int *)flag)[WRONG(at) RIGHT(min(at, 127))]; // HERE
    if (at < 128)
        out[at] = task + 1;
}

// from https://github.com/chai-benchmarks/chai/issues/24
// find race: grid 1, block 64
kernel void task_of_group(global int *out, global const int *in, global int *flag) {
    local int next;
    const int i = get_local_id(0);
    if (i == 0)
        next = atomic_inc(flag);
    barrier(CLK_LOCAL_MEM_FENCE);
    while (next < 8) {
        out[64 * next + i] = in[i];
        RIGHT(barrier(CLK_LOCAL_MEM_FENCE);)
        if (i == 0)
            next = atomic_inc(flag); // HERE
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// from https://github.com/vetter/shoc/issues/30
// find race: grid 1, block 64
kernel void top_scan(global int *out, global const int *in, global int *flag) {
    local int seed;
    const int i = get_local_id(0);
    if (i == 0)
        seed = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int round = 0; round < 4; round++) {
        const int sum = seed + in[64 * round + i];
        RIGHT(barrier(CLK_LOCAL_MEM_FENCE);)
        if (i == 63)
            seed = sum; // HERE
        barrier(CLK_LOCAL_MEM_FENCE);
        out[64 * round + i] = sum;
    }
}

// from https://github.com/opencv/opencv/issues/5175
// find race: grid 1, block 64
kernel void canny_counter(global int *out, global const int *in, global int *flag) {
    local int counter;
    const int i = get_local_id(0);
    if (i == 0)
        counter = 40;
    barrier(CLK_LOCAL_MEM_FENCE);
    const int left = counter;
    RIGHT(barrier(CLK_LOCAL_MEM_FENCE);)
    if (i < left)
        out[i] = atomic_dec(&counter); // HERE
}

// from https://github.com/opencv/opencv/pull/2977
// find barrier: grid 1, block 64
kernel void lk_sparse(global int *out, global const int *in, global int *flag) {
    local int sums[64];
    const int i = get_local_id(0);
    sums[i] = 0;
    for (int round = 0; round < 4; round++) {
        if (WRONG(round == 2 && in[i] > 40) RIGHT(round == 5))
            break;
        sums[i] += in[i];
        barrier(CLK_LOCAL_MEM_FENCE); // HERE
    }
    out[i] = sums[i];
}

// from https://github.com/arrayfire/arrayfire/pull/3535
// find race: grid 1, block 64
kernel void barrier_or(global int *out, global const int *in, global int *flag) {
    local int predicates[64];
    const int i = get_local_id(0);
    for (int round = 0, any = 1; any && round < 4; round++) {
        predicates[i] = in[i] + round; // HERE
        barrier(CLK_LOCAL_MEM_FENCE);
        any = 0;
        for (int k = 0; k < 64; k++)
            any |= predicates[k];
        out[i] = any;
        RIGHT(barrier(CLK_LOCAL_MEM_FENCE);)
    }
}

// from https://github.com/pytorch/FBGEMM/pull/5857
// find barrier: grid 2, block 128
kernel void quantize_groups(global int *out, global const int *in, global int *flag) {
    local int largest[128];
    const int i = get_local_id(0);
    WRONG(if (get_global_id(0) >= 192) return;)
    largest[i] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE); // HERE
    out[get_global_id(0)] = largest[i ^ 1];
}

// from https://github.com/pytorch/FBGEMM/pull/5831
// find barrier: grid 1, block 64
kernel void pruning_lengths(global int *out, global const int *in, global int *flag) {
    local int lengths[64];
    const int i = get_local_id(0);
    lengths[i] = in[i];
    if (in[i] >= WRONG(50) RIGHT(64))
        return;
    barrier(CLK_LOCAL_MEM_FENCE); // HERE
    out[i] = lengths[i] + lengths[0];
}

// from https://github.com/acts-project/traccc/pull/137
// find barrier: grid 3, block 64
kernel void doublets(global int *out, global const int *in, global int *flag) {
    local int found[64];
    const int i = get_global_id(0), l = get_local_id(0);
    const bool is_there = i < in[150];
    WRONG(if (!is_there) return;)
    found[l] = is_there ? in[i] & 1 : 0;
    barrier(CLK_LOCAL_MEM_FENCE); // HERE
    if (l == 0)
        out[get_group_id(0)] = found[0] + found[1];
}

// from https://github.com/ddemidov/vexcl/pull/28
// find race: grid 2, block 64
kernel void user_stencil(global int *out, global const int *in, global int *flag) {
    local int window[68];
    const int i = get_local_id(0), base = 64 * get_group_id(0);
    for (int k = i; k < 68; k += 64)
        window[k] = in[base + k];
    RIGHT(barrier(CLK_LOCAL_MEM_FENCE);)
    int sum = 0;
    for (int k = 0; k < 5; k++)
        sum += window[i + k]; // HERE
    out[base + i] = sum;
}
