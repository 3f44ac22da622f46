// A loop whose length the data say, over and over: most threads need one to four steps, one in 256 needs 32. All threads of
// a large warp wait at the loop's end for its last: the larger it is, the more often there is one that is late, and the
// fewer others can run meanwhile.
__kernel void tails(__global uint *out) {
    uint v = get_global_id(0) * 2654435761u + 12345u;
    for (uint round = 0; round < 64; round++) {
        v ^= v << 13;
        v ^= v >> 17;
        v ^= v << 5;
        uint left = v & 255u ? 1u + (v >> 8 & 3u) : 32u;
        uint sum = v;
        do {
            sum = sum * 1664525u + 1013904223u;
            sum ^= sum >> 9;
            sum = sum * 22695477u + 1u;
        } while (--left);
        v += sum;
    }
    out[get_global_id(0)] = v;
}
// SPDX-License-Identifier: Apache-2.0
