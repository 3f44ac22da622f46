// Steps of the Collatz sequence (halve if even, else 3v + 1) until it reaches 1. The classic of divergence.
//
// The loop runs as long as the slowest of a warp's 32 lanes needs; lanes that are done wait at its end, switched off.
// So only about half of the lanes are busy on average, and each time some but not all leave, the branch at the head of
// the loop counts as divergent. The `if` inside is no branch at all: `heddle show examples/collatz --listing` shows
// that the compiler computes both sides and selects one (selp).

__kernel void collatz(__global int *out, uint base, int n) {
    int i = get_global_id(0);
    if (i >= n)
        return;
    uint v = base + (uint)i;
    int c = 0;
    while (v > 1u) {
        if (v & 1u)
            v = 3u * v + 1u;
        else
            v >>= 1;
        c++;
    }
    out[i] = c;
}
// SPDX-License-Identifier: Apache-2.0
