#include "mem/cache.h"

#include <inttypes.h>
#include <string.h>

#include "base/bits.h"
#include "base/rng.h"
#include "mem/lookup.h"
#include "mem/mshr.h"
#include "mem/set_index.h"

#define NONE LOOKUP_NONE

enum { LAZY_SECTOR_BYTES = 32, MSHR_LIMIT_BYTES = 1 << 30 };

/* One bit per sector, bit 0 only in a cache without sectors. 32 bytes: a hit reads one of these and a bucket. */
struct line {
    struct lookup_node node; /* key: the line's number, in the lookup while any bit below is set */
    uint32_t newer, older;   /* neighbours in the set's order; not meaningful past its ends */
    uint32_t set;
    uint8_t valid;   /* can be read */
    uint8_t dirty;   /* must be written back */
    uint8_t pending; /* asked for; a line with such a sector is reserved (allocate on miss only) */
    uint8_t partial; /* lazy stores: some bytes written, the others never fetched; `written` says which */
};

/* Lines from set x ways on, in the order they leave. Empty lines are the oldest. Those never used are not in the list,
 * so that a large cache costs nothing until it fills. */
struct set {
    uint32_t newest, oldest;
    uint32_t used;     /* lines in the list: the first so many of the set */
    uint32_t reserved; /* of them, with a pending sector */
};

struct cache {
    /* all that a read hit looks at, beside the line and its bucket */
    struct line *lines;
    struct lookup lookup;
    struct set *sets;
    unsigned line_shift, atom_shift;
    uint32_t sector_mask; /* sectors of a line - 1 */
    bool perfect, order_by_use;
    struct cache_stats stats;
    /* the rest */
    struct cache_params params;
    uint32_t ways, set_count, dirty_lines;
    struct set_index set_index;
    uint32_t *written; /* lazy stores: [line][sector], a bit per byte */
    struct mshr mshr;
    struct rng rng;
    uint64_t random; /* drawn for the next random victim, so that a blocked access does not draw */
};

/* Where an access falls. */
struct place {
    uint64_t number; /* of the line */
    uint32_t index;  /* in lines, or NONE */
    uint8_t bit;     /* its sector */
};

#define STAT(field, unit, help) STAT_ENTRY(struct cache_stats, field, unit, help)
#define RATIO(...) RATIO_ENTRY(struct cache_stats, __VA_ARGS__)
const struct stat_description cache_stat_table[] = {
#include "mem/cache_stats.def"
    STAT_END};
#undef STAT
#undef RATIO

/* ---- sets ---- */

static bool line_live(const struct line *line) {
    return (line->valid | line->dirty | line->pending | line->partial) != 0;
}

static void list_remove(struct cache *cache, struct set *set, uint32_t index) {
    struct line *line = &cache->lines[index];
    if (set->newest == index)
        set->newest = line->older;
    else
        cache->lines[line->newer].older = line->older;
    if (set->oldest == index)
        set->oldest = line->newer;
    else
        cache->lines[line->older].newer = line->newer;
}

static void list_add_newest(struct cache *cache, struct set *set, uint32_t index) {
    cache->lines[index].older = set->newest;
    cache->lines[set->newest].newer = index;
    set->newest = index;
}

static void list_add_oldest(struct cache *cache, struct set *set, uint32_t index) {
    cache->lines[index].newer = set->oldest;
    cache->lines[set->oldest].older = index;
    set->oldest = index;
}

static inline void line_touch(struct cache *cache, uint32_t index) {
    struct set *set = &cache->sets[cache->lines[index].set];
    if (!cache->order_by_use || set->newest == index)
        return;
    list_remove(cache, set, index);
    list_add_newest(cache, set, index);
}

/* The line that leaves next: one never used, an empty one, then as the policy says; NONE: all ways are reserved. */
static uint32_t line_victim(const struct cache *cache, uint32_t set_index) {
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

static void line_dirty(struct cache *cache, struct line *line, uint8_t bit) {
    cache->dirty_lines += line->dirty == 0;
    line->dirty |= bit;
}

static void line_wash(struct cache *cache, struct line *line, uint8_t bits) {
    bool was = line->dirty != 0;
    line->dirty &= (uint8_t)~bits;
    cache->dirty_lines -= was && line->dirty == 0;
}

static void write_back(struct cache *cache, const struct line *line, uint8_t sectors, struct request *out) {
    *out = (struct request){.address = (line->node.key << cache->line_shift) +
                                       ((uint64_t)bits_first(sectors) << cache->atom_shift),
                            .bytes = (uint32_t)(bits_count(sectors) << cache->atom_shift),
                            .kind = REQUEST_WRITE};
    cache->stats.write_backs++;
}

/* Empties a line that another takes; gives the dirty sectors, whose write-back is then in `out`. */
static uint8_t line_evict(struct cache *cache, uint32_t index, struct request *out) {
    struct line *line = &cache->lines[index];
    if (!line_live(line))
        return 0;
    uint8_t dirty = line->dirty;
    cache->stats.evictions++;
    cache->stats.sectors_evicted += bits_count(line->valid | line->partial);
    if (dirty) {
        cache->stats.dirty_evictions++;
        write_back(cache, line, dirty, out);
        line_wash(cache, line, dirty);
    }
    lookup_remove(&cache->lookup, cache->lines, sizeof *cache->lines, index);
    line->valid = line->partial = 0;
    return dirty;
}

/* Gives an empty line to a number, as the newest of its set. */
static void line_place(struct cache *cache, uint32_t index, uint32_t set_index, uint64_t number) {
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
    if (cache->written)
        memset(&cache->written[(size_t)index * (cache->sector_mask + 1)], 0,
               (cache->sector_mask + 1) * sizeof *cache->written);
    if (cache->params.replacement == CACHE_RANDOM)
        cache->random = rng_u64(&cache->rng);
}

/* Takes a line out of use if nothing is left in it. */
static void line_drop_empty(struct cache *cache, uint32_t index) {
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

static enum cache_outcome block(struct cache *cache, const struct request *request, enum cache_cause cause,
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

static void hand_down(struct cache *cache, const struct request *request, struct cache_result *result) {
    result->down[result->down_count++] = *request;
    cache->stats.writes_below++;
}

static enum cache_outcome count_hit(struct cache *cache, const struct request *request) {
    cache->stats.hits++;
    cache->stats.write_hits += request->kind != REQUEST_READ;
    return CACHE_HIT;
}

static enum cache_outcome count_miss(struct cache *cache, const struct request *request, const struct place *place) {
    cache->stats.misses++;
    cache->stats.write_misses += request->kind != REQUEST_READ;
    cache->stats.sector_misses += place->index != NONE;
    return CACHE_MISS;
}

/* Takes `victim` for the line of an access, with the write-back of what was there. */
static void take_line(struct cache *cache, struct place *place, uint32_t victim, uint32_t set,
                      struct cache_result *result) {
    uint8_t dirty = line_evict(cache, victim, &result->down[result->down_count]);
    result->write_back_sectors = dirty;
    result->down_count += dirty != 0;
    line_place(cache, victim, set, place->number);
    place->index = victim;
}

static enum cache_outcome merge(struct cache *cache, const struct request *request, const struct place *place,
                                uint32_t entry, bool through, uint32_t room, struct cache_result *result) {
    if (!mshr_can_merge(&cache->mshr, entry))
        return block(cache, request, CACHE_MERGE_LIMIT, 0, result);
    if (room < through)
        return block(cache, request, CACHE_NO_ROOM, 1, result);
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

/* The atom is not here and its data are needed. `through`: a store that goes down as well. */
static enum cache_outcome access_fetch(struct cache *cache, const struct request *request, struct place *place,
                                       bool through, uint32_t room, struct cache_result *result) {
    uint64_t atom = request->address >> cache->atom_shift;
    uint32_t entry = mshr_find(&cache->mshr, atom);
    if (entry != NONE)
        return merge(cache, request, place, entry, through, room, result);
    if (mshr_full(&cache->mshr))
        return block(cache, request, CACHE_NO_MSHR, 0, result);
    bool reserves = cache->params.allocate == CACHE_ON_MISS;
    uint32_t set = 0, victim = NONE, needed = 1 + through;
    if (reserves && place->index == NONE) {
        set = set_index_of(&cache->set_index, place->number);
        victim = line_victim(cache, set);
        if (victim == NONE)
            return block(cache, request, CACHE_WAYS_RESERVED, 0, result);
        needed += cache->lines[victim].dirty != 0;
    }
    if (room < needed)
        return block(cache, request, CACHE_NO_ROOM, needed, result);

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
    if (victim != NONE)
        take_line(cache, place, victim, set, result);
    else if (place->index != NONE)
        line_touch(cache, place->index);
    entry = mshr_take(&cache->mshr, atom, request->tag, reserves ? place->index : NONE);
    cache->mshr.entries[entry].dirties = request->kind != REQUEST_READ && !through;
    if (reserves) {
        struct line *line = &cache->lines[place->index];
        cache->sets[line->set].reserved += line->pending == 0;
        line->pending |= place->bit;
    }
    result->waits = true;
    return CACHE_MISS;
}

static uint32_t written_bytes(const struct request *request) {
    if (request->byte_mask)
        return request->byte_mask;
    return bits_low(request->bytes) << (request->address % LAZY_SECTOR_BYTES);
}

/* Lazy stores: a sector all of whose bytes were written can be read. */
static void absorb(struct cache *cache, const struct place *place, const struct request *request) {
    struct line *line = &cache->lines[place->index];
    if (line->valid & place->bit)
        return;
    uint32_t *written = &cache->written[(size_t)place->index * (cache->sector_mask + 1) + bits_first(place->bit)];
    *written |= written_bytes(request);
    if (*written == UINT32_MAX) {
        line->valid |= place->bit;
        line->partial &= (uint8_t)~place->bit;
    } else {
        line->partial |= place->bit;
    }
}

static enum cache_outcome write_lazy(struct cache *cache, const struct request *request, struct place *place,
                                     bool through, uint32_t room, struct cache_result *result) {
    uint32_t set = 0, victim = NONE, needed = through;
    if (place->index == NONE) {
        set = set_index_of(&cache->set_index, place->number);
        victim = line_victim(cache, set);
        if (victim == NONE)
            return block(cache, request, CACHE_WAYS_RESERVED, 0, result);
        needed += cache->lines[victim].dirty != 0;
    }
    if (room < needed)
        return block(cache, request, CACHE_NO_ROOM, needed, result);
    count_miss(cache, request, place);
    if (through)
        hand_down(cache, request, result);
    if (victim != NONE)
        take_line(cache, place, victim, set, result);
    else
        line_touch(cache, place->index);
    absorb(cache, place, request);
    if (!through)
        line_dirty(cache, &cache->lines[place->index], place->bit);
    return CACHE_MISS;
}

/* The store goes down and the atom, if it is here, leaves. */
static enum cache_outcome write_evict(struct cache *cache, const struct request *request, struct place *place,
                                      uint32_t room, struct cache_result *result) {
    struct line *line = place->index != NONE ? &cache->lines[place->index] : NULL;
    uint8_t dirty = line ? line->dirty & place->bit : 0;
    uint32_t needed = 1 + (dirty != 0);
    if (room < needed)
        return block(cache, request, CACHE_NO_ROOM, needed, result);
    hand_down(cache, request, result);
    if (!line || !((line->valid | line->partial) & place->bit))
        return count_miss(cache, request, place);
    if (dirty) {
        write_back(cache, line, dirty, &result->down[result->down_count++]);
        result->write_back_sectors = dirty;
        line_wash(cache, line, dirty);
    }
    line->valid &= (uint8_t)~place->bit;
    line->partial &= (uint8_t)~place->bit;
    if (cache->written)
        cache->written[(size_t)place->index * (cache->sector_mask + 1) + bits_first(place->bit)] = 0;
    line_drop_empty(cache, place->index);
    return count_hit(cache, request);
}

static enum cache_write write_mode(const struct cache *cache, const struct request *request) {
    enum cache_write mode = (enum cache_write)cache->params.write;
    if (mode == CACHE_LOCAL_BACK)
        mode = request->local ? CACHE_BACK : CACHE_EVICT;
    if (request->kind == REQUEST_ATOMIC && mode == CACHE_THROUGH)
        mode = CACHE_EVICT;
    return mode;
}

static enum cache_outcome access_write(struct cache *cache, const struct request *request, struct place *place,
                                       uint32_t room, struct cache_result *result) {
    enum cache_write mode = write_mode(cache, request);
    if (mode == CACHE_EVICT)
        return write_evict(cache, request, place, room, result);
    bool through = mode == CACHE_THROUGH;
    enum cache_write_allocate allocate = (enum cache_write_allocate)cache->params.write_allocate;
    if (request->kind == REQUEST_ATOMIC)
        allocate = CACHE_WRITE_FETCH;
    struct line *line = place->index != NONE ? &cache->lines[place->index] : NULL;
    uint8_t takes_stores = line ? line->valid : 0;
    if (line && allocate == CACHE_WRITE_LAZY)
        takes_stores |= line->partial | line->pending;
    if (takes_stores & place->bit) {
        if (room < through)
            return block(cache, request, CACHE_NO_ROOM, 1, result);
        if (through)
            hand_down(cache, request, result);
        else
            line_dirty(cache, line, place->bit);
        if (allocate == CACHE_WRITE_LAZY)
            absorb(cache, place, request);
        line_touch(cache, place->index);
        return count_hit(cache, request);
    }
    if (allocate == CACHE_WRITE_FETCH)
        return access_fetch(cache, request, place, through, room, result);
    if (allocate == CACHE_WRITE_LAZY)
        return write_lazy(cache, request, place, through, room, result);
    if (room < 1)
        return block(cache, request, CACHE_NO_ROOM, 1, result);
    hand_down(cache, request, result);
    if (line)
        line_touch(cache, place->index);
    return count_miss(cache, request, place);
}

/* All but read hits. Apart from cache_access, which then needs no stack. */
static __attribute__((noinline)) enum cache_outcome access_rest(struct cache *cache, const struct request *request,
                                                                uint32_t room, struct cache_result *result,
                                                                uint32_t index) {
    if (cache->perfect)
        return count_hit(cache, request);
    struct place place = {.number = request->address >> cache->line_shift, .index = index};
    place.bit = (uint8_t)(1u << (request->address >> cache->atom_shift & cache->sector_mask));
    if (request->kind != REQUEST_READ)
        return access_write(cache, request, &place, room, result);
    return access_fetch(cache, request, &place, false, room, result);
}

enum cache_outcome cache_access(struct cache *cache, const struct request *request, uint32_t room,
                                struct cache_result *result) {
    result->waits = false;
    result->write_back_sectors = 0;
    result->down_count = 0;
    cache->stats.accesses++;
    uint64_t address = request->address;
    uint32_t index = lookup_find(&cache->lookup, cache->lines, sizeof *cache->lines, address >> cache->line_shift);
    if (index == NONE || request->kind != REQUEST_READ ||
        !(cache->lines[index].valid >> (address >> cache->atom_shift & cache->sector_mask) & 1))
        return access_rest(cache, request, room, result, index);
    line_touch(cache, index);
    cache->stats.hits++;
    return CACHE_HIT;
}

/* Allocate on fill: the line that takes the data, which may push out another. */
static uint32_t fill_line(struct cache *cache, uint64_t number, struct cache_arrival *arrival) {
    uint32_t index = lookup_find(&cache->lookup, cache->lines, sizeof *cache->lines, number);
    if (index != NONE) {
        line_touch(cache, index);
        return index;
    }
    uint32_t set = set_index_of(&cache->set_index, number);
    index = line_victim(cache, set); /* there is one: nothing is ever reserved */
    arrival->write_back_sectors = line_evict(cache, index, &arrival->write_back);
    arrival->writes_back = arrival->write_back_sectors != 0;
    line_place(cache, index, set, number);
    return index;
}

bool cache_fill(struct cache *cache, uint64_t address, struct cache_arrival *arrival) {
    if (cache->perfect)
        return false;
    uint32_t entry_index = mshr_find(&cache->mshr, address >> cache->atom_shift);
    if (entry_index == NONE)
        return false;
    const struct mshr_entry *entry = &cache->mshr.entries[entry_index];
    arrival->writes_back = false;
    arrival->write_back_sectors = 0;
    arrival->count = entry->waiters;
    uint8_t bit = (uint8_t)(1u << (address >> cache->atom_shift & cache->sector_mask));
    uint32_t index = entry->line != NONE ? entry->line : fill_line(cache, address >> cache->line_shift, arrival);
    struct line *line = &cache->lines[index];
    if (line->pending) {
        line->pending &= (uint8_t)~bit;
        cache->sets[line->set].reserved -= line->pending == 0;
    }
    line->valid |= bit;
    line->partial &= (uint8_t)~bit;
    if (entry->dirties)
        line_dirty(cache, line, bit);
    arrival->tags = mshr_give(&cache->mshr, entry_index);
    cache->stats.fills++;
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

/* ---- the whole cache ---- */

bool cache_holds(const struct cache *cache, uint64_t address) {
    if (cache->perfect)
        return true;
    uint32_t index = lookup_find(&cache->lookup, cache->lines, sizeof *cache->lines, address >> cache->line_shift);
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
        write_back(cache, line, line->dirty, request);
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
            if (cache->written)
                memset(&cache->written[(size_t)index * (cache->sector_mask + 1)], 0,
                       (cache->sector_mask + 1) * sizeof *cache->written);
            line_drop_empty(cache, index);
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

/* ---- creation ---- */

static enum status check_shape(const struct cache_params *p, const char *name, struct report *report) {
    if (!bits_is_power_of_two(p->line_bytes) || p->line_bytes < 32 || p->line_bytes > 256)
        return report_add(report, STATUS_INVALID, "%s.line_bytes is %" PRIu32 ": use 32, 64, 128 or 256", name,
                          p->line_bytes);
    if (p->sector_bytes &&
        (!bits_is_power_of_two(p->sector_bytes) || p->sector_bytes < 32 || p->sector_bytes >= p->line_bytes))
        return report_add(report, STATUS_INVALID,
                          "%s.sector_bytes is %" PRIu32 ": use 0 for whole lines, or a power of two from 32 to half of "
                          "%s.line_bytes (%" PRIu32 ")",
                          name, p->sector_bytes, name, p->line_bytes);
    uint64_t set_bytes = (uint64_t)p->ways * p->line_bytes;
    if (p->ways == 0 || p->size_bytes % set_bytes || !bits_is_power_of_two(p->size_bytes / set_bytes))
        return report_add(report, STATUS_INVALID,
                          "%s.size_bytes is %" PRIu64 ": it must be %s.ways x %s.line_bytes (%" PRIu64
                          ") times a power of two, the number of sets",
                          name, p->size_bytes, name, name, set_bytes);
    if (p->size_bytes / p->line_bytes >= LOOKUP_NONE / 2)
        return report_add(report, STATUS_INVALID, "%s.size_bytes is %" PRIu64 ": too many lines", name, p->size_bytes);
    return STATUS_OK;
}

static enum status check_policy(const struct cache_params *p, const char *name, struct report *report) {
    if (p->write_allocate == CACHE_WRITE_LAZY && p->sector_bytes != LAZY_SECTOR_BYTES)
        return report_add(report, STATUS_INVALID,
                          "%s.write_allocate lazy needs %s.sector_bytes %d: written bytes are known by sector", name,
                          name, LAZY_SECTOR_BYTES);
    if (p->write == CACHE_EVICT && p->write_allocate != CACHE_WRITE_NONE)
        return report_add(report, STATUS_INVALID,
                          "%s.write evict drops the line a store hits, so %s.write_allocate must be none", name, name);
    if (p->mshr_entries == 0 || p->mshr_merges == 0)
        return report_add(report, STATUS_INVALID, "%s.mshr_entries and %s.mshr_merges must be at least 1", name, name);
    if (mshr_bytes(p->mshr_entries, p->mshr_merges) > MSHR_LIMIT_BYTES)
        return report_add(report, STATUS_INVALID,
                          "%s.mshr_entries x %s.mshr_merges (%" PRIu32 " x %" PRIu32
                          ") takes more than 1 GiB of the host",
                          name, name, p->mshr_entries, p->mshr_merges);
    return STATUS_OK;
}

enum status cache_create(struct cache **out, struct arena *arena, const struct cache_params *params, const char *name,
                         uint64_t seed, struct report *report) {
    *out = NULL;
    enum status status = check_shape(params, name, report);
    if (status == STATUS_OK)
        status = check_policy(params, name, report);
    if (status != STATUS_OK)
        return status;
    struct cache *cache = arena_alloc_aligned(arena, sizeof *cache, 64);
    cache->params = *params;
    cache->ways = params->ways;
    cache->set_count = (uint32_t)(params->size_bytes / ((uint64_t)params->ways * params->line_bytes));
    status = set_index_create(&cache->set_index, arena, (enum set_function)params->set_index, cache->set_count, name,
                              report);
    if (status != STATUS_OK)
        return status;
    cache->line_shift = bits_first(params->line_bytes);
    cache->atom_shift = params->sector_bytes ? bits_first(params->sector_bytes) : cache->line_shift;
    cache->sector_mask = (UINT32_C(1) << (cache->line_shift - cache->atom_shift)) - 1;
    cache->perfect = params->perfect;
    cache->order_by_use = params->replacement == CACHE_LRU;
    rng_seed(&cache->rng, seed);
    cache->random = rng_u64(&cache->rng);
    *out = cache;
    /* A perfect cache keeps nothing: its empty lookup sends every access past the tags. */
    uint32_t lines = cache->perfect ? 1 : cache->set_count * cache->ways;
    lookup_create(&cache->lookup, arena, lines);
    if (cache->perfect)
        return STATUS_OK;
    cache->lines = arena_alloc_aligned(arena, (size_t)lines * sizeof *cache->lines, 64);
    cache->sets = ARENA_ARRAY(arena, struct set, cache->set_count);
    if (params->write_allocate == CACHE_WRITE_LAZY)
        cache->written = ARENA_ARRAY(arena, uint32_t, (size_t)lines * (cache->sector_mask + 1));
    mshr_create(&cache->mshr, arena, params->mshr_entries, params->mshr_merges);
    return STATUS_OK;
}
