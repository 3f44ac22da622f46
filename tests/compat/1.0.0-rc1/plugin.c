/* SPDX-License-Identifier: Apache-2.0 */
/* A divergence mechanism outside Heddle's tree: every thread has a PC of its own, and the lanes of a warp at the lowest PC issue
 * together. Compilers place what comes later further down, so that lanes which diverged wait for each other without a stack.
 * Lanes behind them get a turn now and then: what they hold may be what the first ones spin for. */
#include <heddle-plugin.h>

/* ---- keys and counters: `heddle config show`, --set, result files and reports know them ---- */

#define PARAMS(PARAM)                                                                                                  \
    PARAM(patience, "minpc.patience", U32, "64", "1", "1000000000", "instructions",                                    \
          "what lanes at the lowest PC issue before lanes behind them get a turn")
struct minpc_params {
#define PARAM PARAM_FIELD
    PARAMS(PARAM)
#undef PARAM
};
static const struct param_description params[] = {
#define PARAM(field, ...) PARAM_ENTRY(struct minpc_params, field, __VA_ARGS__)
    PARAMS(PARAM)
#undef PARAM
        PARAM_END};

#define STATS(STAT) STAT(turns, "warp instructions", "issued by lanes that are not at the lowest PC of their warp")
struct minpc_stats {
#define STAT(field, unit, help) uint64_t field;
    STATS(STAT)
#undef STAT
};
static const struct stat_description stats[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct minpc_stats, field, unit, help)
    STATS(STAT)
#undef STAT
        STAT_END};

/* ---- the state of the warps of an SM ---- */

struct minpc_warp {
    uint32_t alive, waiting; /* lanes: that have not ended; that wait for other threads */
    uint32_t pcs[LANES_MAX];
    uint32_t last_pc, in_row; /* in_row: issues since lanes behind the first ones had a turn */
};

struct minpc_state {
    uint32_t patience;
    struct minpc_warp *warps;
    struct minpc_stats stats;
};

static void *minpc_create(struct arena *arena, const struct divergence_shape *shape) {
    struct minpc_state *self = ARENA_NEW(arena, struct minpc_state);
    self->patience = ((const struct minpc_params *)shape->params)->patience;
    self->warps = ARENA_ARRAY(arena, struct minpc_warp, shape->warps);
    return self;
}

/* Calls answer with the slots to be looked at again: here that of the warp. */
static uint64_t slot_of(unsigned warp) { return UINT64_C(1) << warp % ISSUE_SLOTS_MAX; }

static uint64_t minpc_start(void *state, unsigned number, uint32_t pc, uint32_t lanes) {
    struct minpc_warp *warp = &((struct minpc_state *)state)->warps[number];
    *warp = (struct minpc_warp){.alive = lanes};
    for (BITS_EACH(lane, lanes))
        warp->pcs[lane] = pc;
    return slot_of(number);
}

/* The lowest PC from `least` on at which a lane could issue; NO_PC: none. */
static uint32_t lowest_from(const struct minpc_warp *warp, uint32_t least) {
    uint32_t lowest = NO_PC;
    for (BITS_EACH(lane, warp->alive & ~warp->waiting))
        if (warp->pcs[lane] >= least && warp->pcs[lane] < lowest)
            lowest = warp->pcs[lane];
    return lowest;
}

static uint32_t lanes_at(const struct minpc_warp *warp, uint32_t pc) {
    uint32_t lanes = 0;
    for (BITS_EACH(lane, warp->alive & ~warp->waiting))
        lanes |= (uint32_t)(warp->pcs[lane] == pc) << lane;
    return lanes;
}

static bool minpc_offer(void *state, unsigned number, struct group *out) {
    const struct minpc_state *self = state;
    const struct minpc_warp *warp = &self->warps[number];
    uint32_t pc = NO_PC;
    if (warp->in_row >= self->patience)
        pc = lowest_from(warp, warp->last_pc + 1);
    if (pc == NO_PC)
        pc = lowest_from(warp, 0);
    /* the run ends behind every instruction: other lanes may stand at the next */
    *out = (struct group){.pc = pc, .lanes = lanes_at(warp, pc), .stop_pc = pc + 1};
    return pc != NO_PC;
}

static uint64_t minpc_issued(void *state, unsigned number, const struct group *group, const struct executed *executed) {
    struct minpc_state *self = state;
    struct minpc_warp *warp = &self->warps[number];
    const bool first = group->pc == lowest_from(warp, 0);
    warp->in_row = first ? warp->in_row + 1 : 0;
    warp->last_pc = group->pc;
    self->stats.turns += !first;
    for (BITS_EACH(lane, group->lanes))
        warp->pcs[lane] = threads_next(executed, lane);
    if (executed->flow == FLOW_EXIT)
        warp->alive &= ~executed->taken;
    return slot_of(number);
}

/* ---- lanes that wait for other threads, at barriers and warp-level operations ---- */

static void minpc_wait(void *state, unsigned number, uint32_t lanes) {
    ((struct minpc_state *)state)->warps[number].waiting |= lanes;
}

static uint64_t minpc_go_on(void *state, unsigned number, uint32_t lanes) {
    ((struct minpc_state *)state)->warps[number].waiting &= ~lanes;
    return slot_of(number);
}

static const struct divergence_waiting waiting = {.wait = minpc_wait, .go_on = minpc_go_on};

/* ---- what others see of it ---- */

static uint32_t minpc_alive(const void *state, unsigned number) {
    return ((const struct minpc_state *)state)->warps[number].alive;
}

static void minpc_where(const void *state, unsigned number, uint32_t pcs[LANES_MAX]) {
    const struct minpc_warp *warp = &((const struct minpc_state *)state)->warps[number];
    for (BITS_EACH(lane, warp->alive))
        pcs[lane] = warp->pcs[lane];
}

/* The rows that `heddle step` shows of a warp: its lanes by PC, the lowest first. */
static unsigned minpc_show(const void *state, unsigned number, struct group_row *rows, unsigned most) {
    const struct minpc_warp *warp = &((const struct minpc_state *)state)->warps[number];
    unsigned count = 0;
    for (uint32_t pc = lowest_from(warp, 0); pc != NO_PC && count < most; pc = lowest_from(warp, pc + 1), count++)
        rows[count] = (struct group_row){count ? "ready" : "runs", pc, NO_PC, lanes_at(warp, pc), NULL};
    return count;
}

static const void *minpc_statistics(const void *state) { return &((const struct minpc_state *)state)->stats; }

/* For `heddle cost`: a PC for each thread, and a bit that says whether it waits. */
static void minpc_cost(const void *values, const struct cost_shape *shape, struct cost *out) {
    (void)values;
    cost_thread_pcs(shape, 1, out);
}

static const struct divergence_ops minpc_ops = {
    .name = "minpc",
    .help = "a PC per thread; the lanes of a warp at the lowest PC issue",
    .own.params = params,
    .own.params_bytes = sizeof(struct minpc_params),
    .own.stats = stats,
    .own.stats_bytes = sizeof(struct minpc_stats),
    .own.statistics = minpc_statistics,
    .own.cost = minpc_cost,
    .create = minpc_create,
    .start = minpc_start,
    .offer = minpc_offer,
    .issued = minpc_issued,
    .alive = minpc_alive,
    .where = minpc_where,
    .show = minpc_show,
    .waiting = &waiting,
};

HEDDLE_PLUGIN(.mechanisms = (const struct divergence_ops *const[]){&minpc_ops, NULL});
