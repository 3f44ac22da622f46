// SPDX-License-Identifier: Apache-2.0
// Planted: many values stay alive over the loop, so few warps are resident, and its chain of instructions is not hidden.
kernel void crowded(global float *out, global const volatile float *in, uint rounds, float a, float b) {
    float kept[48];
    const uint i = get_global_id(0);
#pragma unroll
    for (uint k = 0; k < 48; k++)
        kept[k] = in[i & 63];
    float x = kept[0];
    for (uint r = 0; r < rounds; r++)
        x = x * a + b;
#pragma unroll
    for (uint k = 0; k < 48; k++)
        x += kept[k];
    out[i] = x;
}
