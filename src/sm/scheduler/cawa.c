/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler of criticality-aware warp acceleration (CAWA; Lee, Arunkumar and Wu, ISCA 2015): the warp that lags most goes on, until
 * it stalls. Its criticality is (instructions by which it lags) x (its cycles per instruction) + (cycles that it waited).
 *
 * Recalled of the paper: the three terms; the first grows at a branch by the instructions of the side taken, by distance of PCs, and
 * falls by one with every instruction; the last grows by the cycles between issues; greedy. Read in a third party's code, not
 * the authors': the terms exist; of equal ones the oldest. Ours: a loop gone round once more adds the instructions from its
 * first to its branch, a forward branch that some lanes do not take those that it would have skipped; one that all take adds nothing,
 * because its side begins where the other ends. A criticality holds until its warp issues again. The cache part of the study
 * (CACP) is not here. */
#include "sm/scheduler/scheduler.h"

#define CAWA_PARAMS(PARAM)                                                                                             \
    PARAM(stalls, "cawa.stalls", BOOL, "true", "", "", "", "cycles between issues count")                              \
    PARAM(paths, "cawa.paths", BOOL, "true", "", "", "", "instructions by which a warp lags count")
#define CAWA_STATS(STAT, LARGEST)                                                                                      \
    STAT(overtakes, "picks", "of a warp that is not the oldest of the ready ones, because it is more critical")        \
    STAT(lagged, "instructions", "added at branches to what warps lag")                                                \
    LARGEST(criticality_largest, "cycles", "the highest criticality")

struct cawa_params {
#define PARAM PARAM_FIELD
    CAWA_PARAMS(PARAM)
#undef PARAM
};
static const struct param_description params_table[] = {
#define PARAM(field, ...) PARAM_ENTRY(struct cawa_params, field, __VA_ARGS__)
    CAWA_PARAMS(PARAM)
#undef PARAM
        PARAM_END};

struct cawa_stats {
#define STAT(field, unit, help) uint64_t field;
    CAWA_STATS(STAT, STAT)
#undef STAT
};
static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct cawa_stats, field, unit, help)
#define LARGEST(field, unit, help) LARGEST_ENTRY(struct cawa_stats, field, unit, help)
    CAWA_STATS(STAT, LARGEST)
#undef STAT
#undef LARGEST
        STAT_END};

struct cawa_warp {
    uint64_t lag;                   /* instructions */
    uint64_t started, last, issued; /* cycles; instructions since it started */
    uint64_t waited;                /* cycles between its issues */
    uint64_t criticality;
};

struct cawa {
    struct cawa_params params;
    struct cawa_stats stats;
    const uint64_t *now;
    unsigned last;
    struct cawa_warp *warps;
};

static void *cawa_create(struct arena *arena, const struct scheduler_shape *shape) {
    struct cawa *self = ARENA_NEW(arena, struct cawa);
    self->params = *(const struct cawa_params *)shape->params;
    self->now = shape->now;
    self->last = set_first(shape->mine);
    self->warps = ARENA_ARRAY(arena, struct cawa_warp, shape->warps);
    return self;
}

static void cawa_rate(struct cawa *self, struct cawa_warp *warp) {
    const uint64_t cycles = *self->now - warp->started + 1;
    warp->criticality = 0;
    if (self->params.paths && warp->issued)
        warp->criticality += warp->lag * cycles / warp->issued;
    if (self->params.stalls)
        warp->criticality += warp->waited;
    if (warp->criticality > self->stats.criticality_largest)
        self->stats.criticality_largest = warp->criticality;
}

static void cawa_heard(void *state, const struct scheduler_event *event) {
    struct cawa *self = state;
    struct cawa_warp *warp = &self->warps[event->warp];
    uint64_t longer = 0;
    switch (event->kind) {
    case SCHEDULER_STARTED: *warp = (struct cawa_warp){.started = *self->now, .last = *self->now}; return;
    case SCHEDULER_ISSUED:
        warp->waited += *self->now > warp->last ? *self->now - warp->last - (warp->issued != 0) : 0;
        warp->last = *self->now;
        warp->issued++;
        warp->lag -= warp->lag != 0;
        break;
    case SCHEDULER_BRANCHED:
        if (event->target <= event->pc)
            longer = event->taken ? event->pc - event->target + 1 : 0;
        else
            longer = event->lanes & ~event->taken ? event->target - event->pc - 1 : 0;
        warp->lag += longer, self->stats.lagged += longer;
        break;
    default: return;
    }
    cawa_rate(self, warp);
}

/* Of equal ones the oldest. */
static unsigned most_critical(const struct cawa *self, const struct scheduler_view *view) {
    slot_set equal = 0;
    uint64_t most = 0;
    for (slot_set rest = view->ready; rest; rest &= rest - 1) {
        const unsigned w = set_first(rest);
        if (self->warps[w].criticality > most)
            most = self->warps[w].criticality, equal = 0;
        equal |= self->warps[w].criticality == most ? set_of(w) : 0;
    }
    return set_oldest(equal, view->older);
}

static unsigned cawa_pick(void *state, const struct scheduler_view *view) {
    struct cawa *self = state;
    if (set_has(view->ready, self->last))
        return self->last;
    self->last = most_critical(self, view);
    self->stats.overtakes += (view->ready & view->older[self->last]) != 0;
    return self->last;
}

static const void *cawa_statistics(const void *self) { return &((const struct cawa *)self)->stats; }

/* Ours: counters of 32 bits. */
static void cawa_cost(const void *params, const struct cost_shape *shape, struct cost *out) {
    (void)params;
    cost_add(out, COST_MEMORY, "criticality", "lag 32, issued 32, waited 32, last issue 32, criticality 32",
             shape->warps, (struct cost_array){1, 160, 1, 1});
}

const struct scheduler_ops SCHEDULER_NAME(cawa) = {
    .name = "cawa",
    .help = "the same warp until it stalls, then the one furthest behind",
    .create = cawa_create,
    .pick = cawa_pick,
    .hears = 1u << SCHEDULER_STARTED | 1u << SCHEDULER_ISSUED | 1u << SCHEDULER_BRANCHED,
    .heard = cawa_heard,
    .own = {.params = params_table,
            .params_bytes = sizeof(struct cawa_params),
            .stats = stats_table,
            .stats_bytes = sizeof(struct cawa_stats),
            .statistics = cawa_statistics,
            .cost = cawa_cost}};
