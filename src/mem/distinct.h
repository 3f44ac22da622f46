/* SPDX-License-Identifier: Apache-2.0 */
/* The distinct values among at most 64, in the order they first came. On the stack; no loop over all pairs. */
#ifndef HEDDLE_MEM_DISTINCT_H
#define HEDDLE_MEM_DISTINCT_H

#include <stdint.h>

enum { DISTINCT_MAX = 64, DISTINCT_SLOTS = 128 };

struct distinct {
    uint8_t slots[DISTINCT_SLOTS]; /* index into values, plus 1; 0: free. Half stay free, so probing ends. */
    uint32_t count;
    uint64_t values[DISTINCT_MAX];
};

static inline void distinct_clear(struct distinct *distinct) {
    __builtin_memset(distinct->slots, 0, sizeof distinct->slots);
    distinct->count = 0;
}

/* The index of the value; it is new exactly when the count has grown. */
static inline uint32_t distinct_add(struct distinct *distinct, uint64_t value) {
    uint32_t at = (uint32_t)(value * UINT64_C(0x9e3779b97f4a7c15) >> 57);
    for (; distinct->slots[at]; at = (at + 1) % DISTINCT_SLOTS)
        if (distinct->values[distinct->slots[at] - 1] == value)
            return (uint32_t)distinct->slots[at] - 1;
    uint32_t index = distinct->count++;
    distinct->values[index] = value;
    distinct->slots[at] = (uint8_t)(index + 1);
    return index;
}

#endif
