/* SPDX-License-Identifier: Apache-2.0 */
/* A table from keys to values of 16 bits: set associative, with the least recently used entry first to go, or, without a
 * limit, a place for every key. */
#ifndef HEDDLE_BASE_ASSOC_H
#define HEDDLE_BASE_ASSOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

#define ASSOC_NONE UINT16_MAX

struct assoc_entry {
    uint32_t key;
    uint16_t value; /* ASSOC_NONE: the entry is free */
    uint64_t used;  /* when */
};

struct assoc {
    struct assoc_entry *entries; /* [set][way]; NULL: no limit */
    uint16_t *values;            /* no limit: by key */
    uint32_t sets, ways;
    unsigned count, largest; /* entries taken */
    uint64_t uses;
};

/* For keys below `keys`; entries 0: no limit, else a multiple of ways, 0 ways: one set. A key's set is its remainder. */
void assoc_create(struct assoc *table, struct arena *arena, size_t keys, uint32_t entries, uint32_t ways);
/* The value, ASSOC_NONE: none. Does not count as a use. */
uint16_t assoc_find(const struct assoc *table, uint32_t key);
/* Whether the key is in the table or its set has a free entry. */
bool assoc_has_room(const struct assoc *table, uint32_t key);
/* Sets the value of a key, and uses it; true: another key had to go. */
bool assoc_put(struct assoc *table, uint32_t key, uint16_t value);
void assoc_remove(struct assoc *table, uint32_t key);

#endif
