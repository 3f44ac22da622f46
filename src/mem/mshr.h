/* SPDX-License-Identifier: Apache-2.0 */
/* Miss status holding registers: what is on its way to a cache, and who waits for it. */
#ifndef HEDDLE_MEM_MSHR_H
#define HEDDLE_MEM_MSHR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "mem/lookup.h"

struct mshr_entry {
    struct lookup_node node; /* key: number of the line or sector, where it is found by that */
    uint64_t tag;            /* of the first access that waits */
    uint32_t waiters;
    bool dirties; /* a store waits: the data are dirty once here */
};

struct mshr {
    struct mshr_entry *entries;
    uint64_t *tags;         /* [entry][merge]: of all accesses that wait, in the order they came, if they are several */
    uint32_t *free_entries; /* a stack of those given back; entries from `touched` on were never used */
    uint32_t entry_count, merge_count, free_count, touched;
    struct lookup lookup;
};

/* The product of the counts must fit the host's memory: mshr_bytes says what it takes. Pages of it are touched only
 * when that many accesses wait. */
void mshr_create(struct mshr *mshr, struct arena *arena, uint32_t entries, uint32_t merges);
uint64_t mshr_bytes(uint32_t entries, uint32_t merges);

static inline uint32_t mshr_find(const struct mshr *mshr, uint64_t key) {
    return lookup_find(&mshr->lookup, mshr->entries, sizeof *mshr->entries, key);
}
static inline uint32_t mshr_used(const struct mshr *mshr) { return mshr->touched - mshr->free_count; }
static inline bool mshr_full(const struct mshr *mshr) { return mshr_used(mshr) == mshr->entry_count; }
static inline bool mshr_can_merge(const struct mshr *mshr, uint32_t entry) {
    return mshr->entries[entry].waiters < mshr->merge_count;
}
/* One more waiter; mshr_can_merge must hold. */
static inline void mshr_merge(struct mshr *mshr, uint32_t entry, uint64_t tag) {
    uint64_t *tags = &mshr->tags[(uint64_t)entry * mshr->merge_count];
    tags[0] = mshr->entries[entry].tag;
    tags[mshr->entries[entry].waiters++] = tag;
}
/* A new entry with its first waiter; there must be a free one. */
static inline uint32_t mshr_take(struct mshr *mshr, uint64_t tag) {
    uint32_t index = mshr->free_count ? mshr->free_entries[--mshr->free_count] : mshr->touched++;
    struct mshr_entry *entry = &mshr->entries[index];
    entry->tag = tag;
    entry->waiters = 1;
    entry->dirties = false;
    return index;
}
/* Frees the entry. Its tags stay readable until the next mshr_take. */
static inline const uint64_t *mshr_give(struct mshr *mshr, uint32_t entry) {
    mshr->free_entries[mshr->free_count++] = entry;
    return mshr->entries[entry].waiters == 1 ? &mshr->entries[entry].tag
                                             : &mshr->tags[(uint64_t)entry * mshr->merge_count];
}
/* An owner that does not remember an entry's index names it, finds it by name (mshr_find), and has the name forgotten
 * before it gives the entry back. No other entry may have that name. */
static inline void mshr_name(struct mshr *mshr, uint32_t entry, uint64_t key) {
    lookup_insert(&mshr->lookup, mshr->entries, sizeof *mshr->entries, entry, key);
}
static inline void mshr_forget(struct mshr *mshr, uint32_t entry) {
    lookup_remove(&mshr->lookup, mshr->entries, sizeof *mshr->entries, entry);
}

#endif
