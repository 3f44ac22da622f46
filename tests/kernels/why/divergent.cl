/* The lanes of a warp go into 32 different cases, each with as much to compute. */
kernel void divergent(global float *out, uint rounds) {
    uint lane = get_local_id(0) % 32;
    float x = lane + 1;
    for (uint which = 0; which < 32; which++)
        if (lane == which)
            for (uint i = 0; i < rounds; i++)
                x = (x * 0.5f + 1.0f) * 0.75f + 2.0f;
    out[get_global_id(0)] = x;
}
// SPDX-License-Identifier: Apache-2.0
