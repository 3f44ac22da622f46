// SPDX-License-Identifier: Apache-2.0
// Planted: more values are used in every round than a thread of the machine has registers for.
kernel void spilled(global float *out, global const volatile float *in, uint rounds, float a, float b) {
    float sums[40];
    const uint i = get_global_id(0);
#pragma unroll
    for (uint k = 0; k < 40; k++)
        sums[k] = in[i & 63];
    for (uint r = 0; r < rounds; r++) {
#pragma unroll
        for (uint k = 0; k < 40; k++)
            sums[k] = sums[k] * a + b;
    }
    float x = 0;
#pragma unroll
    for (uint k = 0; k < 40; k++)
        x += sums[k];
    out[i] = x;
}
