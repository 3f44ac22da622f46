/* SPDX-License-Identifier: Apache-2.0 */
/* Every thread goes along a row of its own, again and again: lines that its warp would keep, if others left it the cache. */
__kernel void rows(__global const uint *table, __global uint *sums) {
    const uint t = (uint)get_global_id(0);
    uint sum = 0;
    for (uint i = 0; i < 96; i++)
        sum += table[t * 32 + (i & 31)];
    sums[t] = sum;
}
