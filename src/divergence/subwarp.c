/* SPDX-License-Identifier: Apache-2.0 */
/* Subwarp interleaving: Damani and others, HPCA 2022. A sketch: its abstract was read, its states and policies are recalled.
 *
 * Lanes that diverged are subwarps, of which one is active; the side taken first, then the others, the newest first. When the active one waits for a load that missed and
 * its scheduler has nothing else, another takes over (sm/path_turns.c), and the first goes on when that gives way or is gone. Subwarps meet where the
 * compiler would put a convergence barrier, at immediate post-dominators, and nowhere else: as many instructions issue as without (recalled; splits and meetings are
 * those of simt/splits.h). So many subwarps of a warp have an entry; the others wait until one is free (a decision of ours). With one it is a
 * reconvergence stack, cycle for cycle. */
#define STACK_ROWS 1
#include "divergence/divergence.h"
#include "simt/splits.h"

#define SUBWARP_STATS(STAT, LARGEST)                                                                                   \
    STAT(divergences, "branches", "divergent branches")                                                                \
    STAT(demotions, "switches", "subwarps that gave way to another because they waited for memory")                    \
    LARGEST(subwarps_largest, "subwarps", "of a warp at a time, those that wait to meet left out")

struct subwarp_stats {
#define FIELD(field, unit, help) uint64_t field;
    SUBWARP_STATS(FIELD, FIELD)
#undef FIELD
};

static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct subwarp_stats, field, unit, help)
#define LARGEST(field, unit, help) LARGEST_ENTRY(struct subwarp_stats, field, unit, help)
    SUBWARP_STATS(STAT, LARGEST)
#undef STAT
#undef LARGEST
        STAT_END};

struct subwarp_params {
    uint32_t max, stalled;
    bool yield, refetch;
};

/* clang-format off */
static const struct param_description params_table[] = {
    PARAM_ENTRY(struct subwarp_params, max, "subwarp.max", U32, "2", "1", "32", "subwarps", "of a warp that can take turns; 1: one runs to its meeting, then the next")
    PARAM_ENTRY(struct subwarp_params, stalled, "subwarp.stalled", CHOICE, "all", "any|half|all", "", "", "how many warps of the scheduler wait for loads that missed when a subwarp gives way; nothing of it can issue then")
    PARAM_ENTRY(struct subwarp_params, yield, "subwarp.yield", BOOL, "false", "", "", "", "it gives way as soon as its load has missed, and not when it needs the data")
    PARAM_ENTRY(struct subwarp_params, refetch, "subwarp.refetch", BOOL, "true", "", "", "", "subwarps share an instruction buffer, which is filled anew for each turn; false: each has one")
    PARAM_END};
/* clang-format on */

struct subwarp {
    struct splits splits;
    struct subwarp_stats stats;
};

static void *subwarp_create(struct arena *arena, const struct divergence_shape *shape) {
    struct subwarp *self = ARENA_NEW(arena, struct subwarp);
    splits_create(&self->splits, arena, shape->code, shape->warps, shape->paths);
    self->splits.newest = true;
    self->splits.ends = stack_run_ends(arena, shape->code, shape->code_count, inst_meets);
    return self;
}

static uint64_t subwarp_start(void *control, unsigned number, uint32_t pc, uint32_t lanes) {
    splits_start(&((struct subwarp *)control)->splits, number, pc, lanes);
    return 1;
}

static bool subwarp_offer(void *control, unsigned slot, struct group *out) {
    return splits_offer(&((struct subwarp *)control)->splits, slot, out);
}

static void subwarp_moved(void *control, unsigned slot, uint32_t pc) {
    struct split_warp *warp;
    const unsigned split = splits_in(&((struct subwarp *)control)->splits, slot, &warp);
    warp->nodes[split].entry.pc = pc;
}

static uint64_t subwarp_issued(void *control, unsigned slot, const struct group *group,
                               const struct executed *executed) {
    struct subwarp *self = control;
    struct split_warp *warp;
    const unsigned split = splits_in(&self->splits, slot, &warp);
    const uint64_t used = warp->used;
    bool diverged;
    (void)group;
    splits_issued(&self->splits, warp, split, executed, &diverged);
    self->stats.divergences += diverged;
    if (warp->used == used)
        return UINT64_C(1) << slot / self->splits.stride;
    uint64_t leaves = 0;
    for (uint64_t rest = warp->used; rest; rest &= rest - 1)
        leaves += splits_is_leaf(&warp->nodes[bits_first64(rest)]);
    self->stats.subwarps_largest = leaves > self->stats.subwarps_largest ? leaves : self->stats.subwarps_largest;
    splits_fill(&self->splits, warp, UINT64_MAX);
    return bits_low64(self->splits.count);
}

/* ---- turns ---- */

/* The newest of them, as a stack would go on. */
static unsigned subwarp_pick(void *control, unsigned number, uint32_t ready) {
    const struct split_warp *warp = &((struct subwarp *)control)->splits.warps[number];
    unsigned best = bits_first(ready);
    for (BITS_EACH(k, ready))
        if (warp->nodes[warp->at[k]].order > warp->nodes[warp->at[best]].order)
            best = k;
    return best;
}

static struct divergence_turns subwarp_turns(const void *values) {
    const struct subwarp_params *params = values;
    return (struct divergence_turns){.stalled = params->stalled, .yields = params->yield, .refetches = params->refetch};
}

static void subwarp_gave_way(void *control, unsigned number, unsigned to) {
    (void)number, (void)to;
    ((struct subwarp *)control)->stats.demotions++;
}

/* ---- lanes that wait for other threads ---- */

static void subwarp_wait(void *control, unsigned number, uint32_t lanes) {
    struct splits *splits = &((struct subwarp *)control)->splits;
    splits->warps[number].waits |= lanes;
    splits_fill(splits, &splits->warps[number], UINT64_MAX);
}

static uint64_t subwarp_go_on(void *control, unsigned number, uint32_t lanes) {
    struct splits *splits = &((struct subwarp *)control)->splits;
    splits->warps[number].waits &= ~lanes;
    splits_fill(splits, &splits->warps[number], UINT64_MAX);
    return bits_low64(splits->count);
}

/* ---- reports, cost ---- */

static uint32_t subwarp_alive(const void *control, unsigned number) {
    return ((const struct subwarp *)control)->splits.warps[number].alive;
}

static void subwarp_where(const void *control, unsigned number, uint32_t pcs[LANES_MAX]) {
    splits_where(&((const struct subwarp *)control)->splits.warps[number], pcs);
}

static unsigned subwarp_show(const void *control, unsigned number, struct group_row *rows, unsigned most) {
    return splits_show(&((const struct subwarp *)control)->splits, number, rows, most);
}

static const void *subwarp_statistics(const void *control) { return &((const struct subwarp *)control)->stats; }

static unsigned subwarp_most(const void *values) { return ((const struct subwarp_params *)values)->max; }

static void subwarp_cost(const void *values, const struct cost_shape *shape, struct cost *out) {
    cost_subwarps(shape, subwarp_most(values), out);
}

static const struct divergence_waiting waiting = {.wait = subwarp_wait, .go_on = subwarp_go_on};
static const struct divergence_turning turning = {.turns = subwarp_turns, .gave_way = subwarp_gave_way};
static const struct divergence_paths paths = {
    .most = subwarp_most, .moved = subwarp_moved, .pick = subwarp_pick, .turning = &turning};

const struct divergence_ops divergence_subwarp = {
    .name = "subwarp",
    .help = "subwarp interleaving: paths of a warp take turns while loads are in flight and nothing else can issue",
    .own.params = params_table,
    .own.params_bytes = sizeof(struct subwarp_params),
    .own.stats = stats_table,
    .own.stats_bytes = sizeof(struct subwarp_stats),
    .own.statistics = subwarp_statistics,
    .own.cost = subwarp_cost,
    .create = subwarp_create,
    .start = subwarp_start,
    .offer = subwarp_offer,
    .issued = subwarp_issued,
    .alive = subwarp_alive,
    .where = subwarp_where,
    .waiting = &waiting,
    .paths = &paths,
    .show = subwarp_show,
};
