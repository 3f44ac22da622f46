/* In every round another warp has work to do and the others wait for it. */
kernel void barriers(global float *out, uint rounds) {
    uint warp = get_local_id(0) / 32;
    float x = get_local_id(0);
    for (uint i = 0; i < rounds; i++) {
        if (i % 8 == warp)
            for (uint k = 0; k < 64; k++)
                x = x * 0.5f + 1.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = x;
}
// SPDX-License-Identifier: Apache-2.0
