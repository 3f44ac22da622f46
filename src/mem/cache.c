/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/cache.h"

#include <string.h>

#include "mem/cache_state.h"

#define STAT(field, unit, help) STAT_ENTRY(struct cache_stats, field, unit, help)
#define SHARE(...) SHARE_ENTRY(struct cache_stats, __VA_ARGS__)
const struct stat_description cache_stat_table[] = {
#include "mem/cache_stats.def"
    STAT_END};
#undef STAT
#undef SHARE

/* ---- sets ---- */

/* A full set of lines in use. */
static __attribute__((noinline)) uint32_t ask_policy(const struct cache *cache, const struct set *set) {
    const uint32_t count = cache->ways - set->reserved;
    for (uint32_t index = set->oldest, n = 0; n < count; index = cache->lines[index].newer)
        if (!cache->lines[index].pending)
            cache->candidates[n++] = index;
    return cache->candidates[cache->replacement->victim(cache->policy, cache->candidates, count)];
}

uint32_t cache_victim(const struct cache *cache, uint32_t set_index) {
    const struct set *set = &cache->sets[set_index];
    if (set->used < cache->ways)
        return set_index * cache->ways + set->used;
    if (set->reserved == cache->ways)
        return NONE;
    if (cache->policy && line_live(&cache->lines[set->oldest]))
        return ask_policy(cache, set);
    uint32_t index = set->oldest;
    while (cache->lines[index].pending)
        index = cache->lines[index].newer;
    return index;
}

void cache_write_back(struct cache *cache, const struct line *line, uint8_t sectors, struct request *out) {
    *out = (struct request){.address = (line->node.key << cache->line_shift) +
                                       ((uint64_t)bits_first(sectors) << cache->atom_shift),
                            .bytes = (uint32_t)(bits_count8(sectors) << cache->atom_shift),
                            .kind = REQUEST_WRITE};
    cache->stats.write_backs++;
}

/* Another address takes the line: policy and watcher hear of it. */
__attribute__((noinline, cold)) void cache_tell_replaced(struct cache *cache, uint32_t index) {
    const struct line *line = &cache->lines[index];
    const bool replaces = line_live(line);
    if (cache->policy)
        cache->replacement->filled(cache->policy, index, replaces);
    if (cache->watcher.evicted && replaces)
        cache->watcher.evicted(cache->watcher.self, line->node.key << cache->line_shift, cache->owners[index]);
    cache->owners[index] = cache->watcher.owner;
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
                                                          const struct cache_place *place, uint32_t entry,
                                                          uint32_t room, struct cache_result *result) {
    const bool through = cache_goes_through(cache, request);
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
                                                                           struct cache_place *place, uint32_t room,
                                                                           struct cache_result *result) {
    const bool through = cache_goes_through(cache, request);
    uint64_t atom = request->address >> cache->atom_shift;
    uint32_t entry = entry_find(cache, place->index, place->bit, atom);
    if (entry != NONE)
        return merge(cache, request, place, entry, room, result);
    if (mshr_full(&cache->mshr))
        return cache_block(cache, request, CACHE_NO_MSHR, 0, result);
    const struct claim claim = cache_claim(cache, request, place, true, room, result);
    if (claim.blocked)
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

enum cache_outcome cache_fetch(struct cache *cache, const struct request *request, struct cache_place *place,
                               uint32_t room, struct cache_result *result) {
    return fetch_atom(cache, request, place, room, result);
}

/* All but read hits. Apart from cache_access, which then needs no stack. */
static __attribute__((noinline)) enum cache_outcome access_rest(struct cache *cache, const struct request *request,
                                                                uint32_t room, struct cache_result *result,
                                                                uint32_t index) {
    if (cache->perfect)
        return count_hit(cache, request);
    struct cache_place place = {.number = request->address >> cache->line_shift, .index = index};
    place.bit = sector_bit(cache, request->address);
    if (request->kind == REQUEST_READ)
        return fetch_atom(cache, request, &place, room, result);
    struct cache_place written = place; /* so that a read's place needs no memory */
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
    if (cache->watcher.evicted) /* it is whoever asked first */
        cache->watcher.owner = cache->watcher.owner_of(cache->watcher.self, cache->mshr.entries[entry].tag);
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

void cache_drop(struct cache *cache, uint64_t address) {
    const uint32_t index = cache->perfect ? NONE : line_find(cache, address >> cache->line_shift);
    if (index == NONE)
        return;
    struct line *line = &cache->lines[index];
    const uint8_t bit = sector_bit(cache, address);
    if ((line->dirty | line->pending | line->partial) & bit)
        return;
    line->valid &= (uint8_t)~bit;
    cache_drop_empty(cache, index);
}

void cache_offer(struct cache *cache, uint64_t address) {
    const uint32_t index = cache->perfect || cache->policy ? NONE : line_find(cache, address >> cache->line_shift);
    if (index == NONE)
        return;
    struct set *set = &cache->sets[cache->lines[index].set];
    uint32_t behind = set->oldest; /* the first that is not empty */
    while (!line_live(&cache->lines[behind]))
        behind = cache->lines[behind].newer;
    if (behind == index)
        return;
    list_remove(cache, set, index);
    if (set->oldest == behind) {
        list_add_oldest(cache, set, index);
        return;
    }
    cache->lines[index].newer = behind, cache->lines[index].older = cache->lines[behind].older;
    cache->lines[cache->lines[behind].older].newer = index;
    cache->lines[behind].older = index;
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

void cache_watch(struct cache *cache, const struct cache_watcher *watcher) {
    cache->watcher = watcher ? *watcher : (struct cache_watcher){0};
    cache->asked = cache->policy || watcher;
    if (watcher && !cache->perfect)
        memset(cache->owners, CACHE_NOBODY, (size_t)cache->set_count * cache->ways);
}

void cache_own(struct cache *cache, uint8_t owner) { cache->watcher.owner = owner; }

uint8_t cache_owner(const struct cache *cache, uint64_t address) {
    const uint32_t index = cache->watcher.evicted ? line_find(cache, address >> cache->line_shift) : NONE;
    return index == NONE ? CACHE_NOBODY : cache->owners[index];
}

uint32_t cache_sets(const struct cache *cache) { return cache->set_count; }

uint32_t cache_set_of(const struct cache *cache, uint64_t address) {
    return set_index_of(&cache->set_index, address >> cache->line_shift);
}

uint32_t cache_atom_bytes(const struct cache *cache) { return UINT32_C(1) << cache->atom_shift; }

uint64_t cache_line_address(const struct cache *cache, uint64_t address) {
    return address >> cache->line_shift << cache->line_shift;
}

uint32_t cache_outstanding(const struct cache *cache) { return mshr_used(&cache->mshr); }

uint32_t cache_free_mshrs(const struct cache *cache) { return cache->params.mshr_entries - mshr_used(&cache->mshr); }

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

void cache_reset_stats(struct cache *cache) {
    cache->stats = (struct cache_stats){0};
    cache_reset_policy_statistics(cache);
}

void cache_reset_policy_statistics(struct cache *cache) {
    if (cache->policy_before)
        memcpy(cache->policy_before, cache->replacement->own.statistics(cache->policy),
               cache->replacement->own.stats_bytes);
}

void cache_add_policy_statistics(const struct cache *cache, void *sum) {
    const struct own *own = &cache->replacement->own;
    if (!cache->policy_before)
        return;
    stat_merge(sum, own->statistics(cache->policy), own->stats);
    stat_subtract(sum, cache->policy_before, own->stats);
}
