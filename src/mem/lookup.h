/* SPDX-License-Identifier: Apache-2.0 */
/* Finds items of one array by a 64-bit key, without a search over all: chained buckets, memory given by the owner.
 *
 * Why not compare tags over the ways: presets have sets of 4 to 256 ways and MSHRs of 2 to 512 entries, and this costs
 * the same for all of them; and a hit then never needs the set, whose index may be an expensive hash.
 * An item begins with a struct lookup_node; zeroed memory is an empty table, touched only where items are. */
#ifndef HEDDLE_MEM_LOOKUP_H
#define HEDDLE_MEM_LOOKUP_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

#define LOOKUP_NONE UINT32_MAX

struct lookup_node {
    uint64_t key;
    uint32_t next; /* index of the next item of the bucket, plus 1; 0 ends it */
};

struct lookup {
    uint32_t *heads; /* index of the first item of the bucket, plus 1 */
    unsigned shift;
};

/* At least two buckets for an item. */
static inline void lookup_create(struct lookup *lookup, struct arena *arena, uint32_t items) {
    unsigned bits = 1;
    while (UINT64_C(1) << bits < 2 * (uint64_t)items)
        bits++;
    lookup->heads = ARENA_ARRAY(arena, uint32_t, (size_t)1 << bits);
    lookup->shift = 64 - bits;
}

/* Multiplication by 2^64 / golden ratio: neighbouring keys land in different buckets. */
static inline uint32_t *lookup_head(const struct lookup *lookup, uint64_t key) {
    return &lookup->heads[key * UINT64_C(0x9e3779b97f4a7c15) >> lookup->shift];
}

static inline struct lookup_node *lookup_node(void *items, size_t stride, uint32_t index) {
    return (struct lookup_node *)(void *)((unsigned char *)items + stride * index);
}

static inline uint32_t lookup_find(const struct lookup *lookup, const void *items, size_t stride, uint64_t key) {
    for (uint32_t at = *lookup_head(lookup, key); at;) {
        const struct lookup_node *node =
            (const struct lookup_node *)(const void *)((const unsigned char *)items + stride * (at - 1));
        if (node->key == key)
            return at - 1;
        at = node->next;
    }
    return LOOKUP_NONE;
}

/* The key must not be there yet. */
static inline void lookup_insert(struct lookup *lookup, void *items, size_t stride, uint32_t index, uint64_t key) {
    uint32_t *head = lookup_head(lookup, key);
    struct lookup_node *node = lookup_node(items, stride, index);
    node->key = key;
    node->next = *head;
    *head = index + 1;
}

/* The item must be there. */
static inline void lookup_remove(struct lookup *lookup, void *items, size_t stride, uint32_t index) {
    struct lookup_node *node = lookup_node(items, stride, index);
    uint32_t *link = lookup_head(lookup, node->key);
    while (*link != index + 1)
        link = &lookup_node(items, stride, *link - 1)->next;
    *link = node->next;
}

#endif
