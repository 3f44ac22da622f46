/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that find in caches and DRAM what others left: streams, gathers, scattered atomics, constants, branches. */
constant float weights[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

kernel void stream(global float *y, global const float *x, float a, int n) {
    const int i = (int)get_global_id(0);
    if (i < n)
        y[i] = a * x[i] + y[i];
}

kernel void gather(global float *y, global const float *x, global const uint *at, int n) {
    const int i = (int)get_global_id(0);
    if (i < n)
        y[i] += x[at[i] % (uint)n] * weights[at[i] & 15];
}

kernel void count(global uint *bins, global const uint *at, int n) {
    const int i = (int)get_global_id(0);
    if (i < n)
        atomic_add(&bins[at[i] % 61], 1u);
}

kernel void wander(global uint *at, local uint *shared, int n) {
    const int i = (int)get_global_id(0), own = (int)get_local_id(0);
    uint value = at[i];
    for (uint steps = value & 7; steps; steps--)
        value = value & 1 ? 3 * value + 1 : value >> 1;
    shared[own] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n)
        at[i] = shared[own ^ 1] + (uint)i;
}
