/* Bitonic sort in global memory, a thread per key: in every step the lower thread of a pair compares its key with its
 * partner's, j away, and exchanges them when they are not in the order that bit k of its number asks for. A block does
 * the steps whose pairs lie inside it, with a barrier after each; a step with pairs farther apart is a launch. */
void compare(global uint *keys, uint i, uint j, uint k) {
    const uint partner = i ^ j;
    if (partner > i) {
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

/* Sequences of two blocks and more: one step. */
kernel void bitonic_step(global uint *keys, uint j, uint k) { compare(keys, get_global_id(0), j, k); }

/* Sequences of `first` to `last` keys, as far as pairs lie inside a block. */
kernel void bitonic_block(global uint *keys, uint first, uint last) {
    for (uint k = first; k <= last; k *= 2)
        for (uint j = min(k, (uint)get_local_size(0)) / 2; j > 0; j /= 2) {
            compare(keys, get_global_id(0), j, k);
            barrier(CLK_GLOBAL_MEM_FENCE);
        }
}
