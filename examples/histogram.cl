// How often does each value occur? Many threads count in the same few places, so they need atomics.
//
// Each block counts in shared memory first and adds its 16 counters to the result at the end: 16 atomics on global
// memory for each block instead of one for each element. Try it without the shared counters, and compare the atomics.

#define BINS 16

__kernel void histogram(__global uint *bins, __global const uchar *in, int n) {
    __local uint counts[BINS];
    int t = get_local_id(0);
    if (t < BINS)
        counts[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    // a stride of all threads: neighbours read neighbours, whatever n is
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&counts[in[i] % BINS]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < BINS)
        atomic_add(&bins[t], counts[t]);
}
// SPDX-License-Identifier: Apache-2.0
