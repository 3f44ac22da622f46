/* A step of bitonic sort in global memory, a thread per key: the lower thread of a pair compares its key with its
 * partner's, j away, and exchanges them when they are not in the order that bit k of its number asks for. */
kernel void bitonic_step(global uint *keys, uint count, uint j, uint k) {
    const uint i = get_global_id(0), partner = i ^ j;
    if (i < count && partner > i) {
        const uint a = keys[i], b = keys[partner];
        if ((i & k) == 0) {
            if (a > b) {
                keys[i] = b;
                keys[partner] = a;
            }
        } else {
            if (a < b) {
                keys[i] = b;
                keys[partner] = a;
            }
        }
    }
}
// SPDX-License-Identifier: Apache-2.0
