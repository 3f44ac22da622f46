/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of kernels (twins.h): global memory, within a launch. */
#include "twins.h"

// find memory: grid 4, block 64
kernel void one_too_far(global int *out, global const int *in, global int *flag) {
    const int i = get_global_id(0);
    out[i] = in[WRONG(i * 17) RIGHT(i * 16)]; // HERE
}

// find memory: grid 1, block 32
kernel void before_the_first(global int *out, global const int *in, global int *flag) {
    const int i = get_global_id(0);
    out[i WRONG(- 1)] = in[i]; // HERE
}

// find memory: grid 1, block 32
kernel void misaligned(global int *out, global const int *in, global int *flag) {
    const int i = get_global_id(0);
    out[i] = *(global const int *)((global const char *)in + 4 * i + WRONG(2) RIGHT(4)); // HERE
}

// find memory: grid 1, block 32
kernel void misaligned_vector(global int *out, global const int *in, global int *flag) {
    const int i = get_global_id(0);
    const int4 four = *(global const int4 *)(in + WRONG(1) RIGHT(4) + 4 * i);
    out[i] = four.x + four.y * four.z + four.w; // HERE
}

// find race: grid 4, block 32
kernel void counter(global int *out, global const int *in, global int *flag) {
    WRONG(out[0] += in[get_global_id(0)];) RIGHT(atomic_add(out, in[get_global_id(0)]);) // HERE
}

// find race: grid 4, block 64
kernel void in_place(global int *out, global const int *in, global int *flag) {
    const int i = get_global_id(0);
    const int before = WRONG(out) RIGHT(in)[i + 1];
    out[i] = before + 1; // HERE
}

// find race: grid 2, block 32
kernel void barrier_of_one_block(global int *out, global const int *in, global int *flag) {
    const int i = get_global_id(0);
    out[i] = in[i];
    barrier(CLK_GLOBAL_MEM_FENCE);
    flag[i] = out[WRONG(63 - i) RIGHT(i ^ 31)]; // HERE
}

// find race: grid 1, block 64
kernel void permuted(global int *out, global const int *in, global int *flag) {
    const int i = get_global_id(0);
    out[i] = in[i];
    RIGHT(barrier(CLK_GLOBAL_MEM_FENCE);)
    flag[i] = out[(i * 5) & 63]; // HERE
}

// find race: grid 3, block 64
kernel void maximum(global int *out, global const int *in, global int *flag) {
    const int value = in[get_global_id(0)];
    WRONG(if (out[0] < value) out[0] = value;) RIGHT(atomic_max(out, value);) // HERE
}

// find race: grid 2, block 64
kernel void append(global int *out, global const int *in, global int *flag) {
    const int at = WRONG(flag[0]++) RIGHT(atomic_inc(flag)); // HERE
    out[at & 1023] = in[get_global_id(0)];
}

// find race: grid 1, block 64
kernel void halves(global int *out, global const int *in, global int *flag) {
    global short *shorts = (global short *)out;
    const int i = get_global_id(0);
    shorts[i WRONG(/ 2)] = (short)in[i]; // HERE
}
