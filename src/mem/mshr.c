/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/mshr.h"

uint64_t mshr_bytes(uint32_t entries, uint32_t merges) {
    return (uint64_t)entries * (sizeof(struct mshr_entry) + sizeof(uint32_t) + sizeof(uint64_t) * (uint64_t)merges);
}

void mshr_create(struct mshr *mshr, struct arena *arena, uint32_t entries, uint32_t merges) {
    mshr->entry_count = entries;
    mshr->merge_count = merges;
    mshr->free_count = mshr->touched = 0;
    mshr->entries = ARENA_ARRAY(arena, struct mshr_entry, entries);
    mshr->tags = ARENA_ARRAY(arena, uint64_t, (size_t)entries * merges);
    mshr->free_entries = ARENA_ARRAY(arena, uint32_t, entries);
    lookup_create(&mshr->lookup, arena, entries);
}
