// Every thread reads words of a table at random places, RUN of them one after another from each place, and does WORK
// rounds of arithmetic on each. With RUN=1 it is a plain random gather; longer runs are those of a search for short
// strings in a long one (Tarjan, Meng, Skadron 2009, section 1): threads leave their cache lines at different times.
kernel void gather(global const uint *table, global uint *out, uint words, uint mask) {
    uint thread = get_global_id(0), random = thread * 2654435761u, at = 0, sum = thread;
#pragma unroll 1
    for (uint i = 0; i < words; i++) {
        if (i % RUN == 0) {
            random = random * 1664525u + 1013904223u;
            at = random >> 8;
        }
        sum ^= table[at++ & mask];
        for (uint round = 0; round < WORK; round++) {
            sum *= 16777619u;
            sum ^= sum >> 15;
        }
    }
    out[thread] = sum;
}
// SPDX-License-Identifier: Apache-2.0
