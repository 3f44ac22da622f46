/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a cache, shared by cache.c (lines, fetches, fills), cache_write.c (what stores do), cache_lines.c (several
 * sectors of a line at once) and cache_create.c. */
#ifndef HEDDLE_MEM_CACHE_STATE_H
#define HEDDLE_MEM_CACHE_STATE_H

#include "base/bits.h"
#include "mem/cache.h"
#include "mem/lookup.h"
#include "mem/mshr.h"
#include "mem/replacement/replacement.h"
#include "mem/set_index.h"

#define NONE LOOKUP_NONE

enum { LAZY_SECTOR_BYTES = 32 };

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
    bool perfect;
    bool asked;    /* policy or watcher hear of lines that are taken */
    uint8_t touch; /* enum cache_touch */
    bool reserves; /* allocates on a miss: what is on its way has a line, whose `pending` says so */
    struct cache_stats stats;
    /* the rest */
    struct cache_params params;
    uint32_t ways, set_count, dirty_lines;
    struct set_index set_index;
    uint32_t *fetches; /* reserves: [line][sector], the MSHR of a pending sector */
    uint32_t *written; /* lazy stores: [line][sector], a bit per byte; of partial sectors */
    struct mshr mshr;
    const struct replacement_ops *replacement;
    void *policy_before;  /* what the policy had counted of its own when it was reset; NULL: it counts nothing */
    void *policy;         /* its state; NULL: it has none, and the oldest line of a set leaves */
    uint32_t *candidates; /* policy: lines of a set that may leave */
    uint8_t *owners;      /* [line]: who brought it, for `watcher` */
    struct cache_watcher watcher; /* without functions: nobody asks */
};

/* What a hit does to the order in which lines leave. */
enum cache_touch { TOUCH_NONE, TOUCH_ORDER /* the newest of its set */, TOUCH_POLICY /* the policy hears */ };

/* Where an access falls. */
struct cache_place {
    uint64_t number; /* of the line */
    uint32_t index;  /* in lines, or NONE */
    uint8_t bit;     /* its sector */
};

static inline bool line_live(const struct line *line) {
    return (line->valid | line->dirty | line->pending | line->partial) != 0;
}

static inline void list_remove(struct cache *cache, struct set *set, uint32_t index) {
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

static inline void list_add_newest(struct cache *cache, struct set *set, uint32_t index) {
    cache->lines[index].older = set->newest;
    cache->lines[set->newest].newer = index;
    set->newest = index;
}

static inline void list_add_oldest(struct cache *cache, struct set *set, uint32_t index) {
    cache->lines[index].newer = set->oldest;
    cache->lines[set->oldest].older = index;
    set->oldest = index;
}

static inline void line_touch(struct cache *cache, uint32_t index) {
    struct set *set = &cache->sets[cache->lines[index].set];
    if (cache->touch != TOUCH_ORDER) {
        if (cache->touch == TOUCH_POLICY)
            cache->replacement->hit(cache->policy, index);
        return;
    }
    if (set->newest == index)
        return;
    list_remove(cache, set, index);
    list_add_newest(cache, set, index);
}

static inline void line_dirty(struct cache *cache, struct line *line, uint8_t bit) {
    cache->dirty_lines += line->dirty == 0;
    line->dirty |= bit;
}

static inline void line_wash(struct cache *cache, struct line *line, uint8_t bits) {
    bool was = line->dirty != 0;
    line->dirty &= (uint8_t)~bits;
    cache->dirty_lines -= was && line->dirty == 0;
}

static inline void hand_down(struct cache *cache, const struct request *request, struct cache_result *result) {
    result->down[result->down_count++] = *request;
    cache->stats.writes_below++;
}

static inline enum cache_outcome count_hit(struct cache *cache, const struct request *request) {
    cache->stats.hits++;
    cache->stats.write_hits += request->kind != REQUEST_READ;
    return CACHE_HIT;
}

static inline enum cache_outcome count_miss(struct cache *cache, const struct request *request,
                                            const struct cache_place *place) {
    cache->stats.misses++;
    cache->stats.write_misses += request->kind != REQUEST_READ;
    cache->stats.sector_misses += place->index != NONE;
    return CACHE_MISS;
}

static inline uint32_t line_find(const struct cache *cache, uint64_t number) {
    return lookup_find(&cache->lookup, cache->lines, sizeof *cache->lines, number);
}

static inline uint8_t sector_bit(const struct cache *cache, uint64_t address) {
    return (uint8_t)(1u << (address >> cache->atom_shift & cache->sector_mask));
}

/* Index of a line's sector in arrays by line and sector; `bit` is the sector's. */
static inline size_t sector_index(const struct cache *cache, uint32_t line, uint8_t bit) {
    return (size_t)line * (cache->sector_mask + 1) + bits_first(bit);
}

/* The line that leaves next: one never used, an empty one, then as the policy says; NONE: all ways are reserved. */
uint32_t cache_victim(const struct cache *cache, uint32_t set_index);
void cache_write_back(struct cache *cache, const struct line *line, uint8_t sectors, struct request *out);
/* Another address takes the line: policy and watcher hear of it. */
void cache_tell_replaced(struct cache *cache, uint32_t index);

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
}

/* Gives the line to a number, empty and as the newest of its set. The answer is the dirty sectors of what was there,
 * whose write-back is then in `out`. */
static inline uint8_t cache_replace_line(struct cache *cache, uint32_t index, uint32_t set_index, uint64_t number,
                                         struct request *out) {
    if (cache->asked)
        cache_tell_replaced(cache, index);
    const uint8_t dirty = evict_line(cache, index, out);
    place_line(cache, index, set_index, number);
    return dirty;
}

/* Takes a line out of use if nothing is left in it. */
void cache_drop_empty(struct cache *cache, uint32_t index);

enum cache_outcome cache_block(struct cache *cache, const struct request *request, enum cache_cause cause,
                               uint32_t room, struct cache_result *result);

/* A store that goes down besides. Atomics of such a cache only go down, and never come here (write_evict). */
static inline bool cache_goes_through(const struct cache *cache, const struct request *request) {
    return request->kind == REQUEST_WRITE && cache->params.write == CACHE_THROUGH;
}

/* The line that an access will take; victim NONE: it takes none, since it has one or needs none. */
struct claim {
    uint32_t set, victim;
    bool blocked; /* it cannot go on, and nothing is changed */
};

/* Whether the access can go on, with its requests and the write-back of what must leave going down. `fetches`: its data are
 * asked for; else it always takes a line if it has none. */
static inline struct claim cache_claim(struct cache *cache, const struct request *request,
                                       const struct cache_place *place, bool fetches, uint32_t room,
                                       struct cache_result *result) {
    struct claim claim = {.victim = NONE};
    uint32_t needed = (uint32_t)fetches + cache_goes_through(cache, request);
    if ((!fetches || cache->reserves) && place->index == NONE) {
        claim.set = set_index_of(&cache->set_index, place->number);
        claim.victim = cache_victim(cache, claim.set);
        if (claim.victim == NONE) {
            cache_block(cache, request, CACHE_WAYS_RESERVED, 0, result);
            claim.blocked = true;
            return claim;
        }
        needed += cache->lines[claim.victim].dirty != 0;
    }
    if (room >= needed)
        return claim;
    cache_block(cache, request, CACHE_NO_ROOM, needed, result);
    claim.blocked = true;
    return claim;
}

/* The access goes on: its line is there and the newest, if it needs one. */
static inline void cache_take_line(struct cache *cache, struct cache_place *place, const struct claim *claim,
                                   struct cache_result *result) {
    if (claim->victim == NONE) {
        if (place->index != NONE)
            line_touch(cache, place->index);
        return;
    }
    result->write_back_sectors =
        cache_replace_line(cache, claim->victim, claim->set, place->number, &result->down[result->down_count]);
    result->down_count += result->write_back_sectors != 0;
    place->index = claim->victim;
}

/* The atom is not here and its data are needed. */
enum cache_outcome cache_fetch(struct cache *cache, const struct request *request, struct cache_place *place,
                               uint32_t room, struct cache_result *result);
/* cache_write.c: stores and atomics. */
enum cache_outcome cache_write(struct cache *cache, const struct request *request, struct cache_place *place,
                               uint32_t room, struct cache_result *result);

#endif
