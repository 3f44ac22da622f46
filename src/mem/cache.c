/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/cache.h"

#include "mem/cache_state.h"

#define STAT(field, unit, help) STAT_ENTRY(struct cache_stats, field, unit, help)
#define SHARE(...) SHARE_ENTRY(struct cache_stats, __VA_ARGS__)
const struct stat_description cache_stat_table[] = {
#include "mem/cache_stats.def"
    STAT_END};
#undef STAT
#undef SHARE

/* ---- sets ---- */

uint32_t cache_victim(const struct cache *cache, uint32_t set_index) {
    const struct set *set = &cache->sets[set_index];
    if (set->used < cache->ways)
        return set_index * cache->ways + set->used;
    if (set->reserved == cache->ways)
        return NONE;
    uint64_t skip = 0;
    if (cache->params.replacement == CACHE_RANDOM && line_live(&cache->lines[set->oldest]))
        skip = cache->random % (cache->ways - set->reserved);
    for (uint32_t index = set->oldest;; index = cache->lines[index].newer) {
        if (cache->lines[index].pending)
            continue;
        if (skip == 0)
            return index;
        skip--;
    }
}

void cache_write_back(struct cache *cache, const struct line *line, uint8_t sectors, struct request *out) {
    *out = (struct request){.address = (line->node.key << cache->line_shift) +
                                       ((uint64_t)bits_first(sectors) << cache->atom_shift),
                            .bytes = (uint32_t)(bits_count8(sectors) << cache->atom_shift),
                            .kind = REQUEST_WRITE};
    cache->stats.write_backs++;
}

/* Empties a line that another takes; gives the dirty sectors. */
static inline uint8_t evict_line(struct cache *cache, uint32_t index, struct request *out) {
    struct line *line = &cache->lines[index];
    if (!line_live(line))
        return 0;
    uint8_t dirty = line->dirty;
    cache->stats.evictions++;
    cache->stats.sectors_evicted += bits_count8(line->valid | line->partial);
    if (dirty) {
        cache->stats.dirty_evictions++;
        cache_write_back(cache, line, dirty, out);
        line_wash(cache, line, dirty);
    }
    lookup_remove(&cache->lookup, cache->lines, sizeof *cache->lines, index);
    line->valid = line->partial = 0;
    return dirty;
}

/* Gives an empty line to a number, as the newest of its set. */
static inline void place_line(struct cache *cache, uint32_t index, uint32_t set_index, uint64_t number) {
    struct set *set = &cache->sets[set_index];
    struct line *line = &cache->lines[index];
    if (index - set_index * cache->ways == set->used) {
        if (set->used++ == 0)
            set->newest = set->oldest = index;
        else
            list_add_newest(cache, set, index);
        line->set = set_index;
    } else if (set->newest != index) {
        list_remove(cache, set, index);
        list_add_newest(cache, set, index);
    }
    lookup_insert(&cache->lookup, cache->lines, sizeof *cache->lines, index, number);
    if (cache->params.replacement == CACHE_RANDOM)
        cache->random = rng_u64(&cache->rng);
}

uint8_t cache_replace_line(struct cache *cache, uint32_t index, uint32_t set_index, uint64_t number,
                           struct request *out) {
    const uint8_t dirty = evict_line(cache, index, out);
    place_line(cache, index, set_index, number);
    return dirty;
}

void cache_drop_empty(struct cache *cache, uint32_t index) {
    struct line *line = &cache->lines[index];
    if (line_live(line))
        return;
    lookup_remove(&cache->lookup, cache->lines, sizeof *cache->lines, index);
    struct set *set = &cache->sets[line->set];
    if (set->oldest == index)
        return;
    list_remove(cache, set, index);
    list_add_oldest(cache, set, index);
}

/* ---- accesses ---- */

enum cache_outcome cache_block(struct cache *cache, const struct request *request, enum cache_cause cause,
                               uint32_t room, struct cache_result *result) {
    switch (cause) {
    case CACHE_NO_MSHR: cache->stats.blocked_mshr++; break;
    case CACHE_MERGE_LIMIT: cache->stats.blocked_merge++; break;
    case CACHE_WAYS_RESERVED: cache->stats.blocked_ways++; break;
    case CACHE_NO_ROOM: cache->stats.blocked_room++; break;
    }
    result->blocked = (struct cache_blocked){cause, room, request->address};
    return CACHE_BLOCKED;
}

/* The MSHR of an atom on its way; `line` is the line it is in or NONE. */
static inline uint32_t entry_find(const struct cache *cache, uint32_t line, uint8_t bit, uint64_t atom) {
    if (!cache->reserves)
        return mshr_find(&cache->mshr, atom);
    return line != NONE && cache->lines[line].pending & bit ? cache->fetches[sector_index(cache, line, bit)] : NONE;
}

static __attribute__((noinline)) enum cache_outcome merge(struct cache *cache, const struct request *request,
                                                          const struct place *place, uint32_t entry, bool through,
                                                          uint32_t room, struct cache_result *result) {
    if (!mshr_can_merge(&cache->mshr, entry))
        return cache_block(cache, request, CACHE_MERGE_LIMIT, 0, result);
    if (room < through)
        return cache_block(cache, request, CACHE_NO_ROOM, 1, result);
    if (through)
        hand_down(cache, request, result);
    mshr_merge(&cache->mshr, entry, request->tag);
    bool writes = request->kind != REQUEST_READ;
    cache->mshr.entries[entry].dirties |= writes && !through;
    if (place->index != NONE)
        line_touch(cache, place->index);
    cache->stats.pending++;
    cache->stats.write_pending += writes;
    result->waits = true;
    return CACHE_PENDING;
}

static inline __attribute__((always_inline)) enum cache_outcome fetch_atom(struct cache *cache,
                                                                           const struct request *request,
                                                                           struct place *place, bool through,
                                                                           uint32_t room, struct cache_result *result) {
    uint64_t atom = request->address >> cache->atom_shift;
    uint32_t entry = entry_find(cache, place->index, place->bit, atom);
    if (entry != NONE)
        return merge(cache, request, place, entry, through, room, result);
    if (mshr_full(&cache->mshr))
        return cache_block(cache, request, CACHE_NO_MSHR, 0, result);
    struct claim claim;
    if (!cache_claim(cache, request, place, cache->reserves, 1 + through, room, &claim, result))
        return CACHE_BLOCKED;
    count_miss(cache, request, place);
    cache->stats.fetches++;
    if (through)
        hand_down(cache, request, result);
    struct request *fetch = &result->down[result->down_count++];
    *fetch = *request;
    fetch->kind = REQUEST_READ;
    fetch->address = atom << cache->atom_shift;
    fetch->bytes = UINT32_C(1) << cache->atom_shift;
    fetch->byte_mask = 0;
    cache_take_line(cache, place, &claim, result);
    entry = mshr_take(&cache->mshr, request->tag);
    cache->mshr.entries[entry].dirties = request->kind != REQUEST_READ && !through;
    if (cache->reserves) {
        struct line *line = &cache->lines[place->index];
        cache->sets[line->set].reserved += line->pending == 0;
        line->pending |= place->bit;
        cache->fetches[sector_index(cache, place->index, place->bit)] = entry;
    } else {
        mshr_name(&cache->mshr, entry, atom);
    }
    result->waits = true;
    return CACHE_MISS;
}

enum cache_outcome cache_fetch(struct cache *cache, const struct request *request, struct place *place, bool through,
                               uint32_t room, struct cache_result *result) {
    return fetch_atom(cache, request, place, through, room, result);
}

/* All but read hits. Apart from cache_access, which then needs no stack. */
static __attribute__((noinline)) enum cache_outcome access_rest(struct cache *cache, const struct request *request,
                                                                uint32_t room, struct cache_result *result,
                                                                uint32_t index) {
    if (cache->perfect)
        return count_hit(cache, request);
    struct place place = {.number = request->address >> cache->line_shift, .index = index};
    place.bit = sector_bit(cache, request->address);
    if (request->kind == REQUEST_READ)
        return fetch_atom(cache, request, &place, false, room, result);
    struct place written = place; /* so that a read's place needs no memory */
    return cache_write(cache, request, &written, room, result);
}

enum cache_outcome cache_access(struct cache *cache, const struct request *request, uint32_t room,
                                struct cache_result *result) {
    result->waits = false;
    result->write_back_sectors = 0;
    result->down_count = 0;
    cache->stats.accesses++;
    uint64_t address = request->address;
    uint32_t index = line_find(cache, address >> cache->line_shift);
    if (index == NONE || request->kind != REQUEST_READ ||
        !(cache->lines[index].valid >> (address >> cache->atom_shift & cache->sector_mask) & 1))
        return access_rest(cache, request, room, result, index);
    line_touch(cache, index);
    cache->stats.hits++;
    return CACHE_HIT;
}

/* Allocate on fill: the line that takes the data, which may push out another. */
static uint32_t fill_line(struct cache *cache, uint64_t number, struct cache_arrival *arrival) {
    uint32_t index = line_find(cache, number);
    if (index != NONE) {
        line_touch(cache, index);
        return index;
    }
    uint32_t set = set_index_of(&cache->set_index, number);
    index = cache_victim(cache, set); /* there is one: nothing is ever reserved */
    arrival->write_back_sectors = cache_replace_line(cache, index, set, number, &arrival->write_back);
    arrival->writes_back = arrival->write_back_sectors != 0;
    return index;
}

/* The atom is in its line, and its MSHR free. */
static inline void fill_finish(struct cache *cache, struct line *line, uint8_t bit, uint32_t entry_index,
                               struct cache_arrival *arrival) {
    const struct mshr_entry *entry = &cache->mshr.entries[entry_index];
    line->valid |= bit;
    line->partial &= (uint8_t)~bit;
    if (entry->dirties)
        line_dirty(cache, line, bit);
    arrival->count = entry->waiters;
    arrival->tags = mshr_give(&cache->mshr, entry_index);
    cache->stats.fills++;
}

/* Apart from cache_fill, which then needs no stack. */
static __attribute__((noinline)) bool fill_unreserved(struct cache *cache, uint64_t address,
                                                      struct cache_arrival *arrival) {
    const uint32_t entry = cache->perfect ? NONE : mshr_find(&cache->mshr, address >> cache->atom_shift);
    if (entry == NONE)
        return false;
    const uint32_t index = fill_line(cache, address >> cache->line_shift, arrival);
    mshr_forget(&cache->mshr, entry);
    fill_finish(cache, &cache->lines[index], sector_bit(cache, address), entry, arrival);
    return true;
}

bool cache_fill(struct cache *cache, uint64_t address, struct cache_arrival *arrival) {
    arrival->writes_back = false;
    arrival->write_back_sectors = 0;
    if (!cache->reserves)
        return fill_unreserved(cache, address, arrival);
    const uint32_t index = line_find(cache, address >> cache->line_shift);
    if (index == NONE)
        return false;
    struct line *line = &cache->lines[index];
    const uint8_t bit = sector_bit(cache, address);
    if (!(line->pending & bit))
        return false;
    line->pending &= (uint8_t)~bit;
    cache->sets[line->set].reserved -= line->pending == 0;
    fill_finish(cache, line, bit, cache->fetches[sector_index(cache, index, bit)], arrival);
    return true;
}

bool cache_unblocks(const struct cache *cache, const struct cache_blocked *blocked, uint64_t filled) {
    switch (blocked->cause) {
    case CACHE_NO_MSHR: return true;
    case CACHE_MERGE_LIMIT: return blocked->address >> cache->atom_shift == filled >> cache->atom_shift;
    case CACHE_WAYS_RESERVED: {
        uint32_t set = cache_set_of(cache, blocked->address);
        return set == cache_set_of(cache, filled) && cache->sets[set].reserved < cache->ways;
    }
    default: return false;
    }
}

void cache_expect_set(const struct cache *cache, uint64_t address) {
    __builtin_prefetch(lookup_head(&cache->lookup, address >> cache->line_shift));
}

void cache_expect_line(const struct cache *cache, uint64_t address) {
    const uint32_t head = *lookup_head(&cache->lookup, address >> cache->line_shift);
    __builtin_prefetch(&cache->lines[head - (head != 0)]);
}

/* ---- the whole cache ---- */

bool cache_holds(const struct cache *cache, uint64_t address) {
    if (cache->perfect)
        return true;
    uint32_t index = line_find(cache, address >> cache->line_shift);
    return index != NONE && (cache->lines[index].valid >> (address >> cache->atom_shift & cache->sector_mask) & 1);
}

bool cache_clean(struct cache *cache, uint32_t *cursor, struct request *request, uint8_t *sectors) {
    if (cache->perfect)
        return false;
    uint32_t count = cache->set_count * cache->ways;
    while (cache->dirty_lines && *cursor < count) {
        struct line *line = &cache->lines[(*cursor)++];
        if (!line->dirty)
            continue;
        *sectors = line->dirty;
        cache_write_back(cache, line, line->dirty, request);
        line_wash(cache, line, line->dirty);
        return true;
    }
    return false;
}

void cache_invalidate(struct cache *cache) {
    if (cache->perfect)
        return;
    for (uint32_t s = 0; s < cache->set_count; s++) {
        for (uint32_t way = 0; way < cache->sets[s].used; way++) {
            uint32_t index = s * cache->ways + way;
            struct line *line = &cache->lines[index];
            if (!line_live(line))
                continue;
            line_wash(cache, line, line->dirty);
            line->valid = line->partial = 0;
            cache_drop_empty(cache, index);
        }
    }
}

uint32_t cache_sets(const struct cache *cache) { return cache->set_count; }

uint32_t cache_set_of(const struct cache *cache, uint64_t address) {
    return set_index_of(&cache->set_index, address >> cache->line_shift);
}

uint32_t cache_atom_bytes(const struct cache *cache) { return UINT32_C(1) << cache->atom_shift; }

uint32_t cache_outstanding(const struct cache *cache) { return mshr_used(&cache->mshr); }

void cache_count(const struct cache *cache, uint32_t *valid, uint32_t *dirty) {
    *valid = *dirty = 0;
    if (cache->perfect)
        return;
    for (uint32_t s = 0; s < cache->set_count; s++) {
        for (uint32_t way = 0; way < cache->sets[s].used; way++) {
            const struct line *line = &cache->lines[s * cache->ways + way];
            *valid += (line->valid | line->partial) != 0;
            *dirty += line->dirty != 0;
        }
    }
}

const struct cache_stats *cache_stats(const struct cache *cache) { return &cache->stats; }

void cache_reset_stats(struct cache *cache) { cache->stats = (struct cache_stats){0}; }
