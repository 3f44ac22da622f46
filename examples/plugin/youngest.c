/* SPDX-License-Identifier: Apache-2.0 */
/* A warp scheduler outside Heddle's tree: of the ready warps that which started last issues, but now and then the first. It has a
 * key and a counter of its own. */
#include <heddle-plugin.h>

struct youngest_params {
    uint32_t oldest_every;
};
static const struct param_description params_table[] = {
    PARAM_ENTRY(struct youngest_params, oldest_every, "youngest.oldest_every", U32, "64", "0", "1000000", "issues",
                "after so many issues the warp that started first has its turn; 0: never") PARAM_END};

struct youngest_stats {
    uint64_t oldest;
};
static const struct stat_description stats_table[] = {
    STAT_ENTRY(struct youngest_stats, oldest, "issues", "turns of the warp that started first") STAT_END};

struct youngest {
    const struct youngest_params *params;
    uint32_t issues; /* since that was */
    struct youngest_stats stats;
};

static void *youngest_create(struct arena *arena, const struct scheduler_shape *shape) {
    struct youngest *self = ARENA_NEW(arena, struct youngest);
    self->params = shape->params;
    return self;
}

/* The one that no other ready warp started after: view->older[w] are those that started before w. */
static unsigned youngest_pick(void *state, const struct scheduler_view *view) {
    struct youngest *self = state;
    if (self->params->oldest_every && ++self->issues >= self->params->oldest_every) {
        self->issues = 0;
        self->stats.oldest++;
        return set_oldest(view->ready, view->older);
    }
    unsigned best = set_first(view->ready);
    for (slot_set rest = view->ready; rest; rest &= rest - 1)
        if (set_has(view->older[set_first(rest)], best))
            best = set_first(rest);
    return best;
}

static const void *youngest_statistics(const void *state) { return &((const struct youngest *)state)->stats; }

static const struct scheduler_ops youngest_ops = {
    .name = "youngest",
    .help = "the ready warp that started last, now and then the first",
    .create = youngest_create,
    .pick = youngest_pick,
    .own.params = params_table,
    .own.params_bytes = sizeof(struct youngest_params),
    .own.stats = stats_table,
    .own.stats_bytes = sizeof(struct youngest_stats),
    .own.statistics = youngest_statistics,
};

HEDDLE_PLUGIN(.schedulers = (const struct scheduler_ops *const[]){&youngest_ops, NULL});
