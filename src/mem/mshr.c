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

uint32_t mshr_take(struct mshr *mshr, uint64_t key, uint64_t tag, uint32_t line) {
    uint32_t index = mshr->free_count ? mshr->free_entries[--mshr->free_count] : mshr->touched++;
    lookup_insert(&mshr->lookup, mshr->entries, sizeof *mshr->entries, index, key);
    struct mshr_entry *entry = &mshr->entries[index];
    entry->line = line;
    entry->waiters = 0;
    entry->dirties = false;
    mshr_merge(mshr, index, tag);
    return index;
}

const uint64_t *mshr_give(struct mshr *mshr, uint32_t entry) {
    lookup_remove(&mshr->lookup, mshr->entries, sizeof *mshr->entries, entry);
    mshr->free_entries[mshr->free_count++] = entry;
    return &mshr->tags[(uint64_t)entry * mshr->merge_count];
}
