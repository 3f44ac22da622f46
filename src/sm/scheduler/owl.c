/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of blocks in the order of OWL (Jog and others, ASPLOS 2013): one group of blocks issues until all its warps wait, and again
 * as soon as one of them can, so that fewer warps share the L1 at a time.
 *
 * Known second-hand: groups of blocks, one first, back to it as soon as it is ready. Ours: places of the SM in order make the
 * groups, lower ones first; round-robin within a group. The parts of the study that choose blocks by banks of memory, and fetch
 * rows ahead into the L2, are not here. */
#include "sm/scheduler/scheduler.h"

enum { GROUPS_MAX = 256 }; /* places are bytes */

#define OWL_PARAMS(PARAM)                                                                                              \
    PARAM(blocks, "owl.blocks", U32, "2", "1", "128", "blocks", "of a group; all of an SM: as rr (ours)")
#define OWL_STATS(STAT) STAT(returns, "picks", "of a group before the one that issued last, which could have gone on")

struct owl_params {
#define PARAM PARAM_FIELD
    OWL_PARAMS(PARAM)
#undef PARAM
};
static const struct param_description params_table[] = {
#define PARAM(field, ...) PARAM_ENTRY(struct owl_params, field, __VA_ARGS__)
    OWL_PARAMS(PARAM)
#undef PARAM
        PARAM_END};

struct owl_stats {
#define STAT(field, unit, help) uint64_t field;
    OWL_STATS(STAT)
#undef STAT
};
static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct owl_stats, field, unit, help)
    OWL_STATS(STAT)
#undef STAT
        STAT_END};

struct owl {
    unsigned blocks, group; /* group: that issued last */
    struct owl_stats stats;
    const uint8_t *places;
    unsigned *last; /* [group]: a round-robin pointer */
};

static void *owl_create(struct arena *arena, const struct scheduler_shape *shape) {
    struct owl *self = ARENA_NEW(arena, struct owl);
    self->blocks = ((const struct owl_params *)shape->params)->blocks;
    self->places = shape->places;
    self->last = ARENA_ARRAY(arena, unsigned, GROUPS_MAX);
    for (unsigned i = 0; i < GROUPS_MAX; i++)
        self->last[i] = shape->warps - 1;
    return self;
}

static unsigned owl_pick(void *state, const struct scheduler_view *view) {
    struct owl *self = state;
    slot_set first = 0;
    unsigned group = GROUPS_MAX;
    bool goes_on = false;
    for (slot_set rest = view->ready; rest; rest &= rest - 1) {
        const unsigned w = set_first(rest), of = self->places[w] / self->blocks;
        goes_on |= of == self->group;
        if (of < group)
            group = of, first = 0;
        first |= of == group ? set_of(w) : 0;
    }
    self->stats.returns += goes_on && group < self->group;
    self->group = group;
    return self->last[group] = set_next(first, self->last[group]);
}

static const void *owl_statistics(const void *self) { return &((const struct owl *)self)->stats; }

const struct scheduler_ops SCHEDULER_NAME(owl) = {
    .name = "owl",
    .help = "rr in a group of owl.blocks blocks: the first group in which a warp can issue",
    .create = owl_create,
    .pick = owl_pick,
    .own = {.params = params_table,
            .params_bytes = sizeof(struct owl_params),
            .stats = stats_table,
            .stats_bytes = sizeof(struct owl_stats),
            .statistics = owl_statistics}};
