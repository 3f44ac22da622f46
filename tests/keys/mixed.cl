/* SPDX-License-Identifier: Apache-2.0 */
/* A little of everything that a key of a machine may bear upon: every kind of memory, unit, conflict and divergence. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__constant int steps[2048] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};

__kernel void mixed(__global int *far, __global float *near, __global double *wide, __global int *count, int words) {
    __local int rows[32 * 33];
    int own[16];
    const int t = (int)get_global_id(0), l = (int)get_local_id(0);
    for (int i = 0; i < 16; i++)
        own[(i + l) & 15] = steps[(i * t) & 2047] + i;
    rows[l * 4 % 1056] = t;
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    for (int i = 0; i < 3 + (t * 7 & 15); i++) { /* threads of a warp leave at different times */
        const int at = (t * 97 + i * 1031) % words;
        sum += far[at] / (1 + (i & 3)) + own[(t + i) & 15] + rows[(l * 8 + i) % 1056];
        if ((t + i) % 3 == 0)
            sum ^= far[(at + 32) % words];
        else if ((t & 1) == 0)
            sum = max(sum, at * 3);
        near[t] += native_exp((float)i) + sqrt((float)sum);
    }
    wide[t] = wide[t] * 1.5 + (double)sum / 3.0;
    wide[t] = fmax(wide[t], 1.0);
    near[t] = fmax(near[t], 0.5f) / (1.0f + (float)t);
    atomic_add(&count[sum & 63], 1);
    atomic_max(&rows[l & 7], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    far[(t * 16) % words] = rows[l & 7];
}
