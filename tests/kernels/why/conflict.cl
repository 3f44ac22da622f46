/* The words of a warp's lanes lie in one bank of shared memory, and every round asks for them. */
kernel void conflict(global uint *out, uint rounds) {
    local uint next[64 * 32];
    uint at = get_local_id(0) * 32;
    next[at] = at;
    for (uint i = 0; i < rounds; i++)
        at = next[at];
    out[get_global_id(0)] = at;
}
// SPDX-License-Identifier: Apache-2.0
