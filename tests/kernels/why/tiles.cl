// SPDX-License-Identifier: Apache-2.0
// Planted: a block takes half of an SM's shared memory, so few warps are resident, and its chain of instructions is not hidden.
kernel void tiles(global float *out, uint rounds, float a, float b) {
    local float tile[6 * 1024];
    const uint i = get_local_id(0);
    for (uint k = i; k < 6 * 1024; k += 64)
        tile[k] = 1.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    float x = tile[5 * i];
    for (uint r = 0; r < rounds; r++)
        x = x * a + b;
    out[get_global_id(0)] = x + tile[6 * 1024 - 1 - i];
}
