/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of kernels (twins.h): local memory and its barriers. */
#include "twins.h"

// find race: grid 1, block 64
kernel void reverse(global int *out, global const int *in, global int *flag) {
    local int tile[64];
    const int i = get_local_id(0);
    tile[i] = in[i];
    RIGHT(barrier(CLK_LOCAL_MEM_FENCE);)
    out[i] = tile[63 - i]; // HERE
}

// find race: grid 2, block 128
kernel void sum(global int *out, global const int *in, global int *flag) {
    local int part[128];
    const int i = get_local_id(0);
    part[i] = in[get_global_id(0)];
    for (int span = 64; span; span /= 2) {
        RIGHT(barrier(CLK_LOCAL_MEM_FENCE);)
        if (i < span)
            part[i] += part[i + span]; // HERE
    }
    if (i == 0)
        out[get_group_id(0)] = part[0];
}

// find race: grid 1, block 64
kernel void reused_tile(global int *out, global const int *in, global int *flag) {
    local int tile[64];
    const int i = get_local_id(0);
    for (int round = 0; round < 4; round++) {
        tile[i] = in[64 * round + i]; // HERE
        barrier(CLK_LOCAL_MEM_FENCE);
        out[64 * round + i] = tile[i ^ 32];
        RIGHT(barrier(CLK_LOCAL_MEM_FENCE);)
    }
}

// find race: grid 1, block 64
kernel void double_buffer(global int *out, global const int *in, global int *flag) {
    local int tile[2][64];
    const int i = get_local_id(0);
    int value = in[i];
    for (int round = 0; round < 6; round++) {
        const int which = WRONG(0) RIGHT(round & 1);
        tile[which][i] = value; // HERE
        barrier(CLK_LOCAL_MEM_FENCE);
        value += tile[which][(i + 33) & 63];
    }
    out[i] = value;
}

// find race: grid 1, block 64
kernel void bins(global int *out, global const int *in, global int *flag) {
    local int bin[8];
    const int i = get_local_id(0);
    if (i < 8)
        bin[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    WRONG(bin[in[i] & 7]++;) RIGHT(atomic_inc(&bin[in[i] & 7]);) // HERE
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 8)
        out[i] = bin[i];
}

// find uninitialised: grid 1, block 64
kernel void half_filled(global int *out, global const int *in, global int *flag) {
    local int tile[64];
    const int i = get_local_id(0);
    if (i < 32)
        tile[i] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[WRONG(i) RIGHT(i & 31)]; // HERE
}

// find uninitialised: grid 1, block 64
kernel void bins_not_cleared(global int *out, global const int *in, global int *flag) {
    local int bin[8];
    const int i = get_local_id(0);
    RIGHT(if (i < 8) bin[i] = 0;)
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bin[in[i] & 7]); // HERE
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 8)
        out[i] = bin[i];
}

// find uninitialised: grid 3, block 32
kernel void bytes_not_filled(global int *out, global const int *in, global int *flag) {
    local uchar text[64];
    const int i = get_local_id(0);
    text[2 * i] = (uchar)in[i];
    RIGHT(text[2 * i + 1] = 0;)
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = text[63 - i]; // HERE
}

// find race: grid 1, block 64
kernel void bytes(global int *out, global const int *in, global int *flag) {
    local uchar text[65];
    const int i = get_local_id(0);
    text[i] = (uchar)in[i];
    WRONG(text[i + 1] = (uchar)(2 * in[i] + 1);) // HERE
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = text[i];
}

// find memory: grid 1, block 64
kernel void beyond_tile(global int *out, global const int *in, global int *flag) {
    local int tile[64];
    const int i = get_local_id(0);
    tile[i] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[WRONG(i + 1) RIGHT((i + 1) & 63)]; // HERE
}

// find barrier: grid 1, block 32
kernel void barrier_in_branch(global int *out, global const int *in, global int *flag) {
    local int tile[32];
    const int i = get_local_id(0);
    tile[i] = in[i];
    WRONG(if (i < 16)) barrier(CLK_LOCAL_MEM_FENCE); // HERE
    out[i] = tile[i];
}

// find barrier: grid 2, block 64
kernel void early_return(global int *out, global const int *in, global int *flag) {
    local int tile[64];
    const int i = get_local_id(0);
    WRONG(if (i >= 40) return;)
    tile[i] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE); // HERE
    out[get_global_id(0)] = tile[0];
}

// find race: grid 1, block 256
kernel void transpose(global int *out, global const int *in, global int *flag) {
    local int tile[16][17];
    const int x = get_local_id(0) % 16, y = get_local_id(0) / 16;
    tile[y][x] = in[16 * y + x];
    RIGHT(barrier(CLK_LOCAL_MEM_FENCE);)
    out[16 * y + x] = tile[x][y]; // HERE
}

// find race: grid 1, block 64
kernel void scan(global int *out, global const int *in, global int *flag) {
    local int sums[64];
    const int i = get_local_id(0);
    sums[i] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int by = 1; by < 64; by *= 2) {
        const int before = i >= by ? sums[i - by] : 0;
        RIGHT(barrier(CLK_LOCAL_MEM_FENCE);)
        sums[i] += before; // HERE
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = sums[i];
}
