/* SPDX-License-Identifier: Apache-2.0 */
/* Static warp limiting (SWL; Rogers, O'Connor and Aamodt, MICRO 2012, section 3.2): only so many warps share the L1 at a time. The
 * oldest `swl.limit` of them issue, greedy then oldest; the others start when one of these ends. A warp at a barrier leaves
 * its place to the next, or those that it waits for might never come; it takes it back while other lanes of it can issue. */
#include "sm/scheduler/scheduler.h"

#define SWL_PARAMS(PARAM)                                                                                              \
    PARAM(limit, "swl.limit", U32, "64", "1", "128", "warps", "warps of one scheduler that may issue at a time")
#define SWL_STATS(STAT) STAT(held, "slots", "no warp within the limit was ready, and one beyond it was")

struct swl_params {
#define PARAM PARAM_FIELD
    SWL_PARAMS(PARAM)
#undef PARAM
};
static const struct param_description params_table[] = {
#define PARAM(field, ...) PARAM_ENTRY(struct swl_params, field, __VA_ARGS__)
    SWL_PARAMS(PARAM)
#undef PARAM
        PARAM_END};

struct swl_stats {
#define STAT(field, unit, help) uint64_t field;
    SWL_STATS(STAT)
#undef STAT
};
static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct swl_stats, field, unit, help)
    SWL_STATS(STAT)
#undef STAT
        STAT_END};

struct swl {
    unsigned last, limit;
    struct swl_stats stats;
    slot_set alive, waiting; /* warps that have started and not ended; those with lanes at a barrier */
    uint32_t *lanes;         /* [warp]: its lanes at a barrier */
};

static void *swl_create(struct arena *arena, const struct scheduler_shape *shape) {
    struct swl *self = ARENA_NEW(arena, struct swl);
    self->last = set_first(shape->mine);
    self->limit = ((const struct swl_params *)shape->params)->limit;
    self->lanes = ARENA_ARRAY(arena, uint32_t, shape->warps);
    return self;
}

static void swl_heard(void *state, const struct scheduler_event *event) {
    struct swl *self = state;
    const slot_set bit = set_of(event->warp);
    uint32_t *lanes = &self->lanes[event->warp];
    switch (event->kind) {
    case SCHEDULER_STARTED: self->alive |= bit; break;
    case SCHEDULER_ENDED: self->alive &= ~bit, *lanes = 0; break;
    case SCHEDULER_WAITS: *lanes |= event->lanes; break;
    case SCHEDULER_GOES_ON: *lanes &= ~event->lanes; break;
    default: break;
    }
    self->waiting = *lanes ? self->waiting | bit : self->waiting & ~bit;
}

static unsigned swl_pick(void *state, const struct scheduler_view *view) {
    struct swl *self = state;
    slot_set may = 0, others = self->alive & (~self->waiting | view->ready);
    for (unsigned n = 0; n < self->limit && others; n++) {
        const slot_set bit = set_of(set_oldest(others, view->older));
        may |= bit;
        others &= ~bit;
    }
    const slot_set ready = view->ready & may;
    if (!ready) {
        self->stats.held++;
        return SCHEDULER_NONE;
    }
    return self->last = set_greedy(ready, self->last, view->older);
}

static const void *swl_statistics(const void *self) { return &((const struct swl *)self)->stats; }

const struct scheduler_ops SCHEDULER_NAME(swl) = {.name = "swl",
                                                  .help = "as gto, among the oldest swl.limit warps",
                                                  .create = swl_create,
                                                  .pick = swl_pick,
                                                  .hears = 1u << SCHEDULER_STARTED | 1u << SCHEDULER_ENDED |
                                                           1u << SCHEDULER_WAITS | 1u << SCHEDULER_GOES_ON,
                                                  .heard = swl_heard,
                                                  .own = {.params = params_table,
                                                          .params_bytes = sizeof(struct swl_params),
                                                          .stats = stats_table,
                                                          .stats_bytes = sizeof(struct swl_stats),
                                                          .statistics = swl_statistics}};
