/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of kernels (twins.h): local variables that their thread has not written. in[i] is i. */
#include "twins.h"

#define FILLED WRONG(8) RIGHT(16)

// find uninitialised: grid 1, block 64
kernel void stored(global int *out, global const int *in, global int *flag) {
    int a[16];
    const int i = get_global_id(0);
    for (int k = 0; k < in[FILLED]; k++)
        a[in[k]] = i + k;
    out[i] = a[in[i] & 15]; // HERE
}

// find uninitialised: grid 1, block 64
kernel void computed(global int *out, global const int *in, global int *flag) {
    int a[16];
    const int i = get_global_id(0);
    for (int k = 0; k < in[FILLED]; k++)
        a[in[k]] = i + k;
    const int x = 3 * a[in[i] & 15] + 1;
    out[i] = x / 7; // HERE
}

// find uninitialised: grid 1, block 64
kernel void decided(global int *out, global const int *in, global int *flag) {
    int a[16];
    const int i = get_global_id(0);
    for (int k = 0; k < in[FILLED]; k++)
        a[in[k]] = i + k;
    if (a[in[i] & 15] > 3) // HERE
        out[i] = 1;
    else
        flag[i] = in[i];
}

// find uninitialised: grid 1, block 64
kernel void chosen(global int *out, global const int *in, global int *flag) {
    int a[16];
    const int i = get_global_id(0);
    for (int k = 0; k < in[FILLED]; k++)
        a[in[k]] = k;
    switch (a[in[i] & 15]) { // HERE
    case 0: out[i] = in[3]; break;
    case 1: flag[i] = in[4]; break;
    case 2: out[i] = in[7] * in[i]; break;
    case 3: out[i + 64] = 5; break;
    case 4: flag[i] = 9; out[i] = in[i + 1]; break;
    case 5: out[i + 128] = in[6]; break;
    default: break;
    }
}

// find uninitialised: grid 1, block 64
kernel void bounded(global int *out, global const int *in, global int *flag) {
    int bound[16];
    const int i = get_global_id(0);
    for (int k = 0; k < in[FILLED]; k++)
        bound[in[k]] = k;
    int sum = 1;
    for (int k = 0; k < bound[in[i] & 15]; k++) // HERE
        sum += in[k] * sum;
    out[i] = sum;
}

// find uninitialised: grid 1, block 64
kernel void indexed(global int *out, global const int *in, global int *flag) {
    int place[16];
    const int i = get_global_id(0);
    for (int k = 0; k < in[FILLED]; k++)
        place[in[k]] = k;
    out[i] = in[place[in[i] & 15]]; // HERE
}

// find uninitialised: grid 1, block 64
kernel void scattered(global int *out, global const int *in, global int *flag) {
    int place[16];
    const int i = get_global_id(0);
    for (int k = 0; k < in[FILLED]; k++)
        place[in[k]] = 16 * i + k;
    out[place[in[i] & 15]] = i; // HERE
}

// find uninitialised: grid 1, block 64
kernel void bytes(global int *out, global const int *in, global int *flag) {
    uchar text[16];
    const int i = get_global_id(0);
    for (int k = 0; k < in[WRONG(15) RIGHT(16)]; k++)
        text[in[k]] = (uchar)k;
    out[i] = text[in[i] & 15]; // HERE
}

// find uninitialised: grid 1, block 64
kernel void component(global int *out, global const int *in, global int *flag) {
    int4 v[8];
    const int i = get_global_id(0);
    for (int k = 0; k < 8; k++) {
        global const int *from = in + 4 * k;
        v[in[k]].xyz = (int3)(from[0], from[1], from[2]);
        RIGHT(v[in[k]].w = from[3];)
    }
    const int4 one = v[in[i] & 7];
    out[i] = one.x + one.w; // HERE
}

// find uninitialised: grid 1, block 64
kernel void popped(global int *out, global const int *in, global int *flag) {
    int stack[16], depth = 0;
    const int i = get_global_id(0);
    for (int k = 0; k < in[5]; k++)
        stack[depth++] = in[k] + i;
    int sum = 0;
    while (depth > WRONG(-1) RIGHT(0))
        sum += stack[--depth & 15];
    out[i] = sum; // HERE
}

// find uninitialised: grid 1, block 64
kernel void sorted(global int *out, global const int *in, global int *flag) {
    int key[16];
    const int i = get_global_id(0), count = in[8];
    for (int k = 0; k < count; k++)
        key[k] = in[(k * 5 + i) & 7];
    for (int k = 1; k < count; k++)
        for (int j = k; j > 0; j--) {
            const int last = WRONG(j + 1) RIGHT(j);
            if (key[j - 1] > key[last & 15]) { // HERE
                const int other = key[j - 1];
                key[j - 1] = key[j];
                key[j] = other;
            }
        }
    out[i] = key[0];
}

// find uninitialised: grid 1, block 64
kernel void largest(global int *out, global const int *in, global int *flag) {
    int best RIGHT(= -1);
    const int i = get_global_id(0);
    for (int k = 0; k < in[i] - 3; k++)
        if (in[k] > 2)
            best = k;
    out[i] = best; // HERE
}

// find uninitialised: grid 1, block 64
kernel void added(global int *out, global const int *in, global int *flag) {
    int a[16];
    const int i = get_global_id(0);
    for (int k = 0; k < in[FILLED]; k++)
        a[in[k]] = k;
    atomic_add(&out[i & 3], a[in[i] & 15]); // HERE
}

// find uninitialised: grid 1, block 64
kernel void shared_out(global int *out, global const int *in, global int *flag) {
    local int tile[64];
    int a[16];
    const int i = get_local_id(0);
    for (int k = 0; k < in[FILLED]; k++)
        a[in[k]] = k;
    tile[i] = a[in[i] & 15]; // HERE
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[63 - i];
}

__attribute__((noinline)) void fill(int *a, global const int *in, int count) {
    for (int k = 0; k < count; k++)
        a[in[k]] = 2 * k;
}

// find uninitialised: grid 1, block 64
kernel void by_a_function(global int *out, global const int *in, global int *flag) {
    int a[16];
    const int i = get_global_id(0);
    fill(a, in, in[FILLED]);
    out[i] = a[in[i] & 15]; // HERE
}
