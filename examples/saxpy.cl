// y = a * x + y, the "hello world" of GPUs. Each thread handles one element.
//
// Threads run in warps of 32 that share one instruction at a time. Here every thread does the same, so all 32 lanes
// are busy in every instruction: the SIMD efficiency in the summary is 100 %.

__kernel void saxpy(__global float *y, __global const float *x, float a, int n) {
    int i = get_global_id(0);
    // The grid is a whole number of blocks, so the last block may reach beyond the data. Try n = 65530 in the launch
    // file: in the one warp that holds the end some lanes then skip the work, and the branch counts as divergent.
    if (i < n)
        y[i] = a * x[i] + y[i];
}
// SPDX-License-Identifier: Apache-2.0
