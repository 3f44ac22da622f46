/* SPDX-License-Identifier: Apache-2.0 */
/* A replacement policy outside Heddle's tree: the line that was used last leaves. On loops over more data than the cache holds
 * it keeps what the least recently used line would have given up. It has a key, a counter and hardware of its own. */
#include <heddle-plugin.h>

struct mru_params {
    uint32_t spared;
};
static const struct param_description params_table[] = {
    PARAM_ENTRY(struct mru_params, spared, "mru.spared", U32, "0", "0", "64", "lines",
                "of a set that were used later than the one that leaves") PARAM_END};

struct mru_stats {
    uint64_t replaced;
};
static const struct stat_description stats_table[] = {
    STAT_ENTRY(struct mru_stats, replaced, "lines", "lines that left for others") STAT_END};

struct mru {
    const struct mru_params *params;
    struct mru_stats stats;
};

/* It keeps nothing of lines: the cache has the order of use. */
static void *mru_create(struct arena *arena, const struct replacement_shape *shape) {
    struct mru *self = ARENA_NEW(arena, struct mru);
    self->params = shape->params;
    return self;
}

/* The lines come with the oldest first. */
static uint32_t mru_victim(const void *state, const uint32_t *lines, uint32_t count) {
    const struct mru *self = state;
    (void)lines;
    return count - 1 - (self->params->spared < count ? self->params->spared : count - 1);
}

static void mru_filled(void *state, uint32_t line, bool replaces) {
    struct mru *self = state;
    (void)line;
    self->stats.replaced += replaces;
}

static const void *mru_statistics(const void *state) { return &((const struct mru *)state)->stats; }

/* The order of each set: a number for each of its ways. */
static void mru_cost(const void *params, const struct cost_shape *shape, struct cost *out) {
    const unsigned bits = cost_index_bits(shape->cache_ways) * shape->cache_ways;
    (void)params;
    cost_add(out, COST_MEMORY, "order of use", "a place of each way", shape->cache_lines / shape->cache_ways,
             (struct cost_array){1, bits, 1, 1});
}

static const struct replacement_ops mru_ops = {.name = "mru",
                                               .help = "the line whose last access is the most recent",
                                               .by_use = true,
                                               .create = mru_create,
                                               .victim = mru_victim,
                                               .filled = mru_filled,
                                               .own.params = params_table,
                                               .own.params_bytes = sizeof(struct mru_params),
                                               .own.stats = stats_table,
                                               .own.stats_bytes = sizeof(struct mru_stats),
                                               .own.statistics = mru_statistics,
                                               .own.cost = mru_cost};

HEDDLE_PLUGIN(.replacements = (const struct replacement_ops *const[]){&mru_ops, NULL});
