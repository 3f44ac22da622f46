/* SPDX-License-Identifier: Apache-2.0 */
/* A cache between launches, written and read back: nothing is on its way, so that MSHRs have nothing to be kept. */
#include <string.h>

#include "mem/cache_state.h"

static bool is_quiet(const struct cache *cache) {
    if (mshr_used(&cache->mshr))
        return false;
    for (uint32_t s = 0; s < cache->set_count; s++)
        if (cache->sets[s].reserved)
            return false;
    return true;
}

/* Which bytes of lazily stored sectors there are. */
static void keep_written(struct cache *cache, uint32_t index, struct keep *keep) {
    for (unsigned rest = cache->lines[index].partial; rest && cache->written; rest &= rest - 1)
        keep_u32(keep, &cache->written[sector_index(cache, index, (uint8_t)(rest & ~(rest - 1)))], UINT32_MAX);
}

/* What is in a line; one that is read has been found where it may be. */
static void keep_line(struct cache *cache, uint32_t s, uint32_t index, struct keep *keep) {
    struct line *line = &cache->lines[index];
    const uint8_t sectors = (uint8_t)bits_low64(cache->sector_mask + 1);
    bool live = line_live(line);
    keep_bool(keep, &live);
    line->set = s;
    if (cache->owners)
        keep_u8(keep, &cache->owners[index], UINT8_MAX);
    if (!live)
        return;
    uint64_t number = line->node.key;
    keep_u64(keep, &number, (UINT64_C(1) << 60) >> cache->line_shift);
    keep_u8(keep, &line->valid, sectors);
    keep_u8(keep, &line->dirty, sectors);
    keep_u8(keep, &line->partial, cache->written ? sectors : 0);
    keep_written(cache, index, keep);
    if (keep->writes)
        return;
    keep_check(keep,
               line_live(line) && set_index_of(&cache->set_index, number) == s && line_find(cache, number) == NONE);
    if (!keep->good) {
        line->valid = line->dirty = line->partial = 0;
        return;
    }
    lookup_insert(&cache->lookup, cache->lines, sizeof *cache->lines, index, number);
    cache->dirty_lines += line->dirty != 0;
}

/* The lines of a set in the order in which they leave, the newest first. `seen`: of each way, all false. */
static void keep_order(struct cache *cache, uint32_t s, bool *seen, struct keep *keep) {
    struct set *set = &cache->sets[s];
    uint32_t at = set->newest, before = NONE;
    for (uint32_t i = 0; i < set->used && keep->good; i++) {
        uint32_t way = at - s * cache->ways;
        keep_u32(keep, &way, set->used - 1);
        const uint32_t index = s * cache->ways + way;
        keep_check(keep, !seen[way]);
        seen[way] = true;
        if (!keep->writes && before == NONE)
            set->newest = index;
        else if (!keep->writes)
            cache->lines[index].newer = before, cache->lines[before].older = index;
        before = index;
        at = i + 1 < set->used && keep->writes ? cache->lines[index].older : NONE;
    }
    if (set->used)
        set->oldest = before;
}

void cache_keep(struct cache *cache, struct keep *keep) {
    uint64_t lines = cache->perfect ? 0 : (uint64_t)cache->set_count * cache->ways;
    const uint64_t wanted = lines;
    keep_u64(keep, &lines, wanted);
    keep_check(keep, lines == wanted);
    keep_counts(keep, &cache->stats, sizeof cache->stats);
    if (cache->perfect || !keep->good)
        return;
    if (keep->writes && !is_quiet(cache))
        keep_refuse(keep, "a cache whose lines are still on their way");
    struct arena scratch = {0};
    bool *seen = ARENA_ARRAY(&scratch, bool, cache->ways);
    for (uint32_t s = 0; s < cache->set_count && keep->good; s++) {
        memset(seen, 0, cache->ways * sizeof *seen);
        keep_u32(keep, &cache->sets[s].used, cache->ways);
        for (uint32_t way = 0; way < cache->sets[s].used && keep->good; way++)
            keep_line(cache, s, s * cache->ways + way, keep);
        keep_order(cache, s, seen, keep);
    }
    arena_free(&scratch);
    if (cache->policy && !cache->replacement->keep)
        keep_refuse_named(keep, "a replacement policy without the function 'keep'", cache->replacement->name);
    else if (cache->policy)
        cache->replacement->keep(cache->policy, keep);
}
