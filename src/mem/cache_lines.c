/* SPDX-License-Identifier: Apache-2.0 */
/* Several sectors of one line at once. */
#include "mem/cache_state.h"

enum { SECTORS_MAX = 4 };
static const uint8_t counts[1 << SECTORS_MAX] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

bool cache_takes_sectors(const struct cache *cache) {
    return cache->reserves && !cache->perfect && cache->params.sector_bytes == LAZY_SECTOR_BYTES &&
           cache->sector_mask + 1 >= SECTORS_MAX && cache->params.write == CACHE_BACK &&
           cache->params.write_allocate == CACHE_WRITE_LAZY;
}

/* The line of the access, taken anew if it is not there; NONE, and nothing done, when it would be blocked. */
static inline uint32_t sectors_line(struct cache *cache, uint64_t number, uint32_t index, uint32_t needed,
                                    uint32_t room, struct cache_sectors *out) {
    if (index != NONE) {
        if (room < needed)
            return NONE;
        line_touch(cache, index);
        return index;
    }
    const uint32_t set = set_index_of(&cache->set_index, number), victim = cache_victim(cache, set);
    if (victim == NONE || room < needed + (cache->lines[victim].dirty != 0))
        return NONE;
    out->write_back_sectors = cache_replace_line(cache, victim, set, number, &out->write_back);
    return victim;
}

/* One by one, all sectors but the first of a line taken anew would find it there: policies that keep more than an order hear so. */
static inline void touch_taken(struct cache *cache, uint32_t found, uint32_t index, uint32_t sectors) {
    if (cache->asked && found == NONE && counts[sectors] > 1)
        line_touch(cache, index);
}

/* As many of the missing sectors as there are MSHRs for, and what comes before the next. */
static uint32_t sectors_with_mshr(const struct cache *cache, uint32_t sectors, uint32_t missing) {
    uint32_t unfree = missing;
    for (uint32_t left = cache->mshr.entry_count - mshr_used(&cache->mshr); left && unfree; left--)
        unfree &= unfree - 1;
    return unfree ? sectors & ((unfree & (~unfree + 1)) - 1) : sectors;
}

uint32_t cache_read_sectors(struct cache *cache, uint64_t address, uint32_t sectors, uint64_t tag, uint32_t room,
                            struct cache_sectors *out) {
    const uint64_t number = address >> cache->line_shift;
    const uint32_t shift = (uint32_t)(address >> cache->atom_shift) & cache->sector_mask;
    const uint32_t found = line_find(cache, number);
    uint32_t missing = sectors;
    out->no_mshr = false;
    if (found != NONE) {
        const uint32_t pending = (uint32_t)cache->lines[found].pending >> shift & sectors;
        if (pending)
            sectors &= (pending & (~pending + 1)) - 1;
        if (!sectors)
            return 0;
        missing = sectors & ~((uint32_t)cache->lines[found].valid >> shift);
    }
    if (mshr_used(&cache->mshr) + counts[missing] > cache->mshr.entry_count) {
        sectors = sectors_with_mshr(cache, sectors, missing);
        missing &= sectors;
        if (!sectors) {
            cache->stats.accesses++;
            cache->stats.blocked_mshr++;
            out->no_mshr = true;
            return 0;
        }
    }
    const uint32_t fetches = counts[missing];
    out->write_back_sectors = 0;
    const uint32_t index = sectors_line(cache, number, found, fetches, room, out);
    if (index == NONE)
        return 0;
    touch_taken(cache, found, index, sectors);
    out->line_was_there = found != NONE;
    out->hits = (uint8_t)(sectors & ~missing);
    out->misses = (uint8_t)missing;
    cache->stats.accesses += counts[sectors];
    cache->stats.hits += counts[sectors] - fetches;
    if (!missing)
        return sectors;
    cache->stats.misses += fetches;
    cache->stats.sector_misses += fetches - (found == NONE);
    cache->stats.fetches += fetches;
    struct line *line = &cache->lines[index];
    cache->sets[line->set].reserved += line->pending == 0;
    line->pending |= (uint8_t)(missing << shift);
    uint32_t *entries = &cache->fetches[(size_t)index * (cache->sector_mask + 1) + shift];
    for (uint32_t rest = missing; rest; rest &= rest - 1)
        entries[bits_first(rest)] = mshr_take(&cache->mshr, tag);
    return sectors;
}

/* Apart from who calls it, where reads are the most. */
__attribute__((noinline)) uint32_t cache_write_sectors(struct cache *cache, uint64_t address, uint32_t sectors,
                                                       uint32_t room, struct cache_sectors *out) {
    const uint64_t number = address >> cache->line_shift;
    const uint32_t shift = (uint32_t)(address >> cache->atom_shift) & cache->sector_mask;
    const uint32_t found = line_find(cache, number);
    uint32_t hits = 0;
    out->no_mshr = false;
    if (found != NONE) {
        if ((uint32_t)cache->lines[found].pending >> shift & sectors)
            return 0;
        hits = (uint32_t)(cache->lines[found].valid | cache->lines[found].partial) >> shift & sectors;
    }
    out->write_back_sectors = 0;
    const uint32_t index = sectors_line(cache, number, found, 0, room, out);
    if (index == NONE)
        return 0;
    touch_taken(cache, found, index, sectors);
    out->line_was_there = found != NONE;
    out->hits = (uint8_t)hits;
    out->misses = (uint8_t)(sectors & ~hits);
    const uint32_t misses = counts[sectors & ~hits];
    cache->stats.accesses += counts[sectors];
    cache->stats.hits += counts[hits];
    cache->stats.write_hits += counts[hits];
    cache->stats.misses += misses;
    cache->stats.write_misses += misses;
    cache->stats.sector_misses += misses && found == NONE ? misses - 1 : misses;
    struct line *line = &cache->lines[index];
    line_dirty(cache, line, (uint8_t)(sectors << shift));
    line->valid |= (uint8_t)(sectors << shift);
    line->partial &= (uint8_t) ~(sectors << shift);
    return sectors;
}

void cache_sectors_uncount(struct cache_stats *stats, const struct cache_sectors *sectors, uint32_t late, bool write) {
    const uint32_t hits = counts[sectors->hits & late], misses = counts[sectors->misses & late];
    stats->accesses -= hits + misses;
    stats->hits -= hits;
    stats->misses -= misses;
    stats->sector_misses -= misses;
    stats->write_hits -= write ? hits : 0;
    stats->write_misses -= write ? misses : 0;
    stats->fetches -= write ? 0 : misses;
}

void cache_load(struct cache *cache, uint64_t address, uint32_t bytes) {
    if (cache->perfect)
        return;
    const uint64_t end = address + bytes;
    while (address < end) {
        const uint64_t number = address >> cache->line_shift, next = (number + 1) << cache->line_shift;
        const uint64_t last = (next < end ? next : end) - 1;
        const uint32_t low = (uint32_t)(address >> cache->atom_shift) & cache->sector_mask;
        const uint32_t high = (uint32_t)(last >> cache->atom_shift) & cache->sector_mask;
        uint32_t index = line_find(cache, number);
        if (index == NONE) {
            struct request dropped;
            const uint32_t set = set_index_of(&cache->set_index, number);
            index = cache_victim(cache, set);
            if (index == NONE)
                return;
            cache_replace_line(cache, index, set, number, &dropped);
        } else {
            line_touch(cache, index);
        }
        const uint8_t sectors = (uint8_t)(bits_low(high - low + 1) << low & ~cache->lines[index].pending);
        cache->lines[index].valid |= sectors;
        cache->lines[index].partial &= (uint8_t)~sectors;
        address = next;
    }
}

void cache_soil(struct cache *cache, uint64_t address, uint32_t bytes) {
    if (cache->perfect || cache->params.write != CACHE_BACK)
        return;
    for (uint64_t at = address >> cache->atom_shift; at <= (address + bytes - 1) >> cache->atom_shift; at++) {
        const uint64_t first = at << cache->atom_shift;
        const uint32_t index = line_find(cache, first >> cache->line_shift);
        const uint8_t bit = (uint8_t)(1u << ((uint32_t)at & cache->sector_mask));
        if (index != NONE && cache->lines[index].valid & bit)
            line_dirty(cache, &cache->lines[index], bit);
    }
}
