/* Index search: a warp looks for a key in a 31-ary tree of lines of 30 keys, a comparison per thread. Thirty-two lines are a
 * node of 4 KiB, a row of the DRAM: a line and its 31 children. Nodes lie breadth first and need no pointers.
 * Twice: with votes and counts, as GPUs do it, and with tree traverse. */
#include <heddle.h>
#define LINE 32         /* words, the last two of which are no keys */
#define NODE (32 * LINE)
#define CHILDREN 961    /* of a node */
#define NOWHERE 0xffffffffu

/* On from `first`, a step for each key of the line that was passed. */
static uint go_on(uint first, bool passes, uint shift, bool traverses) {
    return traverses ? heddle_tree_traverse(first, passes, shift) : first + (popcount(heddle_ballot(passes)) << shift);
}

static inline __attribute__((always_inline)) void search_keys(global const uint *tree, uint levels, global const uint *keys,
                                                              uint count, global uint *rows, bool traverses) {
    const uint lane = get_local_id(0) % 32, warps = get_global_size(0) / 32;
    for (uint query = get_global_id(0) / 32; query < count; query += warps) {
        const uint key = keys[query];
        uint node = 0, found = NOWHERE;
        for (uint level = 0; level < levels; level++) {
            const uint at = node * NODE + lane;
            const uint upper = heddle_load_row(tree + at); /* the next line is in the same row */
            const uint below = go_on(at + LINE, key > upper, 5, traverses);
            const uint lower = tree[below];
            /* 31 nodes hang below each line but the first */
            node = go_on(node * CHILDREN + 1 + 31 * ((below - at) / LINE - 1), key > lower, 0, traverses);
            found = upper == key ? at : lower == key ? below : found;
        }
        if (found != NOWHERE)
            rows[query] = found;
    }
}

kernel void search(global const uint *tree, uint levels, global const uint *keys, uint count, global uint *rows) {
    search_keys(tree, levels, keys, count, rows, false);
}

kernel void search_traverse(global const uint *tree, uint levels, global const uint *keys, uint count, global uint *rows) {
    search_keys(tree, levels, keys, count, rows, true);
}
// SPDX-License-Identifier: Apache-2.0
