/* SPDX-License-Identifier: Apache-2.0 */
/* A cache made from its parameters. */
#include <inttypes.h>

#include "mem/cache_state.h"

enum { MSHR_LIMIT_BYTES = 1 << 30 };

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
    const uint32_t atom = p->sector_bytes ? p->sector_bytes : p->line_bytes;
    if (p->write_allocate == CACHE_WRITE_LAZY && atom != LAZY_SECTOR_BYTES)
        return report_add(
            report, STATUS_INVALID,
            "%s.write_allocate lazy needs %s.sector_bytes %d, or lines of so many: written bytes are known by "
            "sector",
            name, name, LAZY_SECTOR_BYTES);
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
    const struct replacement_ops *replacement = replacement_find(params->replacement, name, report);
    if (!replacement)
        return STATUS_INVALID;
    struct cache *cache = arena_alloc_aligned(arena, sizeof *cache, 64);
    cache->replacement = replacement;
    cache->touch = replacement->hit ? TOUCH_POLICY : replacement->by_use ? TOUCH_ORDER : TOUCH_NONE;
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
    cache->reserves = params->allocate == CACHE_ON_MISS;
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
    if (cache->reserves)
        cache->fetches = ARENA_ARRAY(arena, uint32_t, (size_t)lines * (cache->sector_mask + 1));
    cache->owners = ARENA_ARRAY(arena, uint8_t, lines);
    if (replacement->create) {
        cache->policy = replacement->create(arena, &(struct replacement_shape){.sets = cache->set_count,
                                                                               .ways = cache->ways,
                                                                               .seed = seed,
                                                                               .params = params->policy});
        if (replacement->own.stats)
            cache->policy_before = arena_alloc(arena, replacement->own.stats_bytes);
        cache->candidates = ARENA_ARRAY(arena, uint32_t, cache->ways);
        cache->asked = true;
    }
    mshr_create(&cache->mshr, arena, params->mshr_entries, params->mshr_merges);
    return STATUS_OK;
}

bool cache_is_far(const struct cache_params *params, uint64_t count) {
    enum { NEAR_BYTES = 1 << 20 }; /* of a processor's own caches; where it has more, telling it costs little */
    return !params->perfect && params->size_bytes / params->line_bytes * count * sizeof(struct line) > NEAR_BYTES;
}
