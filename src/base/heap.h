/* SPDX-License-Identifier: Apache-2.0 */
/* A max-heap of keys by a count that grows, with a table from a key to its place. Equal counts are in no order: what grew
 * last goes up past its equals. Calls that move entries answer how many levels they moved one. */
#ifndef HEDDLE_BASE_HEAP_H
#define HEDDLE_BASE_HEAP_H

#include "base/assoc.h"

struct heap_entry {
    uint32_t key, count;
};

struct heap {
    struct heap_entry *entries; /* children of i: 2 i + 1 and 2 i + 2 */
    unsigned count, capacity, largest;
    struct assoc places;
};

/* For keys below `keys`, `capacity` of them at a time; the table of places as in assoc_create. */
void heap_create(struct heap *heap, struct arena *arena, unsigned capacity, size_t keys, uint32_t table_entries,
                 uint32_t table_ways);
/* Whether the key is there, or the heap and the table have room for it. */
bool heap_has_room(const struct heap *heap, uint32_t key);
/* The key's count grows, from 0 when it was not there. There must be room. */
unsigned heap_add(struct heap *heap, uint32_t key, uint32_t more);
/* Takes the entry of the largest count. There must be one. */
unsigned heap_pop(struct heap *heap, struct heap_entry *out);

#endif
