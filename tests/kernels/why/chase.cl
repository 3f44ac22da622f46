/* One thread of each block follows a chain through more than any cache holds: every step waits for memory. */
kernel void chase(global uint *end, global const uint *next, uint steps) {
    uint at = get_group_id(0) * 7919;
    for (uint i = 0; i < steps; i++)
        at = next[at];
    end[get_group_id(0)] = at;
}
// SPDX-License-Identifier: Apache-2.0
