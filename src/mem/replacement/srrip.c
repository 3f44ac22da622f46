/* SPDX-License-Identifier: Apache-2.0 */
/* Static re-reference interval prediction (Jaleel, Theobald, Steely, Emer, ISCA 2010), hit priority: a line is filled with a long
 * interval (the largest but one) and has none (0) after a hit; the first line of a distant one (the largest) leaves, and where there is
 * none all lines of the set age until there is. srrip.bits is their M: intervals have so many bits, with one they are not-recently-used
 * bits. */
#include "mem/replacement/replacement.h"

#define SRRIP_PARAMS(PARAM)                                                                                            \
    PARAM(bits, "srrip.bits", U32, "2", "1", "7", "bits",                                                              \
          "of a line's re-reference interval, in every cache with this policy")
#define SRRIP_STATS(STAT)                                                                                              \
    STAT(aged, "lines", "of the evictions, those before which no line of the set was distant, and all aged")

struct srrip_params {
#define PARAM PARAM_FIELD
    SRRIP_PARAMS(PARAM)
#undef PARAM
};
static const struct param_description params_table[] = {
#define PARAM(field, ...) PARAM_ENTRY(struct srrip_params, field, __VA_ARGS__)
    SRRIP_PARAMS(PARAM)
#undef PARAM
        PARAM_END};

struct srrip_stats {
#define STAT(field, unit, help) uint64_t field;
    SRRIP_STATS(STAT)
#undef STAT
};
static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct srrip_stats, field, unit, help)
    SRRIP_STATS(STAT)
#undef STAT
        STAT_END};

struct srrip {
    uint32_t ways, lines;
    uint8_t distant;    /* the largest interval */
    uint8_t *intervals; /* of each line */
    struct srrip_stats stats;
};

static void *srrip_create(struct arena *arena, const struct replacement_shape *shape) {
    const struct srrip_params *params = shape->params;
    struct srrip *self = ARENA_NEW(arena, struct srrip);
    self->ways = shape->ways, self->lines = shape->sets * shape->ways;
    self->distant = (uint8_t)((1u << params->bits) - 1);
    self->intervals = ARENA_ARRAY(arena, uint8_t, self->lines);
    return self;
}

static uint32_t srrip_victim(const void *state, const uint32_t *lines, uint32_t count) {
    const struct srrip *self = state;
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++)
        best = self->intervals[lines[i]] > self->intervals[lines[best]] ? i : best;
    return best;
}

/* The others age by as much as the line that left had lacked to be distant. */
static void srrip_filled(void *state, uint32_t line, bool replaces) {
    struct srrip *self = state;
    uint8_t *set = self->intervals + line / self->ways * self->ways;
    const unsigned age = replaces ? self->distant - self->intervals[line] : 0;
    for (uint32_t way = 0; way < self->ways; way++)
        set[way] = (uint8_t)(set[way] + age < self->distant ? set[way] + age : self->distant);
    self->intervals[line] = (uint8_t)(self->distant - 1);
    self->stats.aged += age != 0;
}

static void srrip_hit(void *state, uint32_t line) {
    struct srrip *self = state;
    self->intervals[line] = 0;
}

static void srrip_keep(void *state, struct keep *keep) {
    struct srrip *self = state;
    for (uint32_t line = 0; line < self->lines && keep->good; line++)
        keep_u8(keep, &self->intervals[line], self->distant);
    keep_counts(keep, &self->stats, sizeof self->stats);
}

static const void *srrip_statistics(const void *self) { return &((const struct srrip *)self)->stats; }

static void srrip_cost(const void *params, const struct cost_shape *shape, struct cost *out) {
    const unsigned bits = ((const struct srrip_params *)params)->bits;
    cost_add(out, COST_MEMORY, "re-reference intervals",
             arena_printf(out->arena, "%u ways of %u", shape->cache_ways, bits), shape->cache_lines / shape->cache_ways,
             (struct cost_array){1, bits * shape->cache_ways, 1, 1});
}

const struct replacement_ops replacement_srrip = {.name = "srrip",
                                                  .help = "the line whose next use is predicted to be the farthest off",
                                                  .create = srrip_create,
                                                  .victim = srrip_victim,
                                                  .filled = srrip_filled,
                                                  .hit = srrip_hit,
                                                  .keep = srrip_keep,
                                                  .own = {.params = params_table,
                                                          .params_bytes = sizeof(struct srrip_params),
                                                          .stats = stats_table,
                                                          .stats_bytes = sizeof(struct srrip_stats),
                                                          .statistics = srrip_statistics,
                                                          .cost = srrip_cost}};
