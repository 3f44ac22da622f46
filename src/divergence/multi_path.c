/* SPDX-License-Identifier: Apache-2.0 */
/* All paths of a warp in flight: the multi-path execution of ElTantawy, Ma, O'Connor and Aamodt, HPCA 2014.
 *
 * Lanes that diverge become splits, each of which may issue; who arrives at the meeting waits for the others of the reconvergence entry
 * (opening of the paper read, its tables second-hand and in its authors' later code). Splits and reconvergence entries are a tree
 * (simt/splits.h). A loop adds no entry, a side that begins at the meeting no split. Before the meeting, a split that comes by control flow to where
 * another of the same entry stands goes on with it (recalled; multi-path.early). Ended lanes leave every entry, calls are as on a
 * stack, a split at a block barrier gives its slot to another (decisions of ours).
 *
 * A warp has fewer issue slots than it may have splits: those without one wait, the oldest first or the newest (multi-path.order). With one slot,
 * the newest first and no early meetings it is the stack, cycle for cycle. The published tables hold 33 splits and 32 entries, which lanes alone cannot
 * fill: 32 splits, and 31 entries, each with at least two sides; so nothing overflows. The authors' time-out of entries is off
 * in what they ship, and not here. */
#define STACK_ROWS 1
#include "divergence/divergence.h"
#include "simt/splits.h"

#define MULTI_STATS(STAT, LARGEST)                                                                                     \
    STAT(divergences, "branches", "divergent branches")                                                                \
    STAT(early, "meetings", "splits that met another before their meeting")                                            \
    STAT(runs, "instructions", "instructions that paths went on by")                                                   \
    STAT(paths_offered, "paths", "paths of the warp that could issue beside and with them, summed over instructions")  \
    LARGEST(splits_largest, "splits", "of a warp at a time")                                                           \
    LARGEST(waiting_largest, "entries", "of a warp's reconvergence table at a time")

struct multi_stats {
#define FIELD(field, unit, help) uint64_t field;
    MULTI_STATS(FIELD, FIELD)
#undef FIELD
};

static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct multi_stats, field, unit, help)
#define LARGEST(field, unit, help) LARGEST_ENTRY(struct multi_stats, field, unit, help)
    MULTI_STATS(STAT, LARGEST)
#undef STAT
#undef LARGEST
        STAT_END};

struct multi_params {
    uint32_t paths, order;
    bool early;
};
enum { ORDER_OLDEST, ORDER_NEWEST };

/* clang-format off */
static const struct param_description params_table[] = {
    PARAM_ENTRY(struct multi_params, paths, "multi-path.paths", U32, "2", "1", "32", "paths", "issue slots of a warp; further splits wait for one")
    PARAM_ENTRY(struct multi_params, order, "multi-path.order", CHOICE, "oldest", "oldest|newest", "", "", "which split gets a slot that is free")
    PARAM_ENTRY(struct multi_params, early, "multi-path.early", BOOL, "true", "", "", "", "splits of one reconvergence entry go on together where they meet before")
    PARAM_END};
/* clang-format on */

struct multi_path {
    struct splits splits;
    bool early;
    struct multi_stats stats;
};

static void *multi_path_create(struct arena *arena, const struct divergence_shape *shape) {
    struct multi_path *self = ARENA_NEW(arena, struct multi_path);
    const struct multi_params *params = shape->params;
    splits_create(&self->splits, arena, shape->code, shape->warps, shape->paths);
    self->splits.newest = params->order == ORDER_NEWEST;
    self->splits.ends = stack_run_ends(arena, shape->code, shape->code_count, inst_meets);
    self->early = params->early;
    return self;
}

static uint64_t multi_path_start(void *control, unsigned number, uint32_t pc, uint32_t lanes) {
    splits_start(&((struct multi_path *)control)->splits, number, pc, lanes);
    return 1;
}

static bool multi_path_offer(void *control, unsigned slot, struct group *out) {
    return splits_offer(&((struct multi_path *)control)->splits, slot, out);
}

static void count_run(struct multi_path *self, const struct split_warp *warp, uint32_t instructions) {
    self->stats.runs += instructions;
    self->stats.paths_offered += (uint64_t)instructions * splits_offered(&self->splits, warp);
}

static void multi_path_moved(void *control, unsigned slot, uint32_t pc) {
    struct multi_path *self = control;
    struct split_warp *warp;
    const unsigned split = splits_in(&self->splits, slot, &warp);
    struct split_node *node = &warp->nodes[split];
    count_run(self, warp, pc - node->entry.pc);
    node->entry.pc = pc;
}

/* Splits of one entry that stand at one place are one: these, which have just got there, and others. Not in a function that they have
 * called since they diverged: they may return to different places. */
static void join_early(struct multi_path *self, struct split_warp *warp, uint64_t moved) {
    for (; moved; moved &= moved - 1) {
        const unsigned split = bits_first64(moved);
        const struct stack_entry *entry = &warp->nodes[split].entry;
        for (uint64_t rest = warp->used & ~(UINT64_C(1) << split); rest; rest &= rest - 1) {
            const unsigned n = bits_first64(rest);
            if (!splits_beside(warp, split, n) || entry->depth != entry->reconverge_depth)
                continue;
            moved &= ~(UINT64_C(1) << n) | UINT64_C(1) << split;
            splits_join(warp, split, n);
            self->stats.early++;
        }
    }
}

static void count_largest(struct multi_path *self, const struct split_warp *warp) {
    uint64_t splits = 0, nodes = 0;
    for (uint64_t rest = warp->used; rest; rest &= rest - 1, nodes++)
        splits += splits_is_leaf(&warp->nodes[bits_first64(rest)]);
    struct multi_stats *stats = &self->stats;
    stats->splits_largest = splits > stats->splits_largest ? splits : stats->splits_largest;
    stats->waiting_largest = nodes - splits > stats->waiting_largest ? nodes - splits : stats->waiting_largest;
}

static uint64_t multi_path_issued(void *control, unsigned slot, const struct group *group,
                                  const struct executed *executed) {
    struct multi_path *self = control;
    struct split_warp *warp;
    const unsigned split = splits_in(&self->splits, slot, &warp), path = slot / self->splits.stride;
    const uint64_t used = warp->used;
    bool diverged;
    (void)group;
    count_run(self, warp, executed->pc + 1 - warp->nodes[split].entry.pc);
    const uint64_t moved = splits_issued(&self->splits, warp, split, executed, &diverged);
    self->stats.divergences += diverged;
    if (self->early && warp->used & (warp->used - 1) && flow_moves(executed->flow))
        join_early(self, warp, moved);
    if (warp->used == used && !(used & (used - 1)))
        return UINT64_C(1) << path; /* most warps have not diverged */
    count_largest(self, warp);
    splits_fill(&self->splits, warp, UINT64_MAX);
    return bits_low64(self->splits.count);
}

/* ---- lanes that wait for other threads ---- */

static void multi_path_wait(void *control, unsigned number, uint32_t lanes) {
    struct multi_path *self = control;
    self->splits.warps[number].waits |= lanes;
    splits_fill(&self->splits, &self->splits.warps[number], UINT64_MAX);
}

static uint64_t multi_path_go_on(void *control, unsigned number, uint32_t lanes) {
    struct multi_path *self = control;
    self->splits.warps[number].waits &= ~lanes;
    splits_fill(&self->splits, &self->splits.warps[number], UINT64_MAX);
    return bits_low64(self->splits.count);
}

/* ---- reports, cost ---- */

static uint32_t multi_path_alive(const void *control, unsigned number) {
    return ((const struct multi_path *)control)->splits.warps[number].alive;
}

static void multi_path_where(const void *control, unsigned number, uint32_t pcs[LANES_MAX]) {
    splits_where(&((const struct multi_path *)control)->splits.warps[number], pcs);
}

static unsigned multi_path_show(const void *control, unsigned number, struct group_row *rows, unsigned most) {
    return splits_show(&((const struct multi_path *)control)->splits, number, rows, most);
}

static const void *multi_path_statistics(const void *control) { return &((const struct multi_path *)control)->stats; }

static void multi_path_cost(const void *values, const struct cost_shape *shape, struct cost *out) {
    (void)values;
    cost_multi_paths(shape, out);
}

static unsigned multi_path_most(const void *values) { return ((const struct multi_params *)values)->paths; }

static const struct divergence_waiting waiting = {.wait = multi_path_wait, .go_on = multi_path_go_on};
static const struct divergence_paths paths = {.most = multi_path_most, .moved = multi_path_moved};

const struct divergence_ops divergence_multi_path = {
    .name = "multi-path",
    .help =
        "tables of splits and reconvergence points; all paths of a warp are in flight, as far as it has issue slots",
    .own.params = params_table,
    .own.params_bytes = sizeof(struct multi_params),
    .own.stats = stats_table,
    .own.stats_bytes = sizeof(struct multi_stats),
    .own.statistics = multi_path_statistics,
    .own.cost = multi_path_cost,
    .create = multi_path_create,
    .start = multi_path_start,
    .offer = multi_path_offer,
    .issued = multi_path_issued,
    .alive = multi_path_alive,
    .where = multi_path_where,
    .waiting = &waiting,
    .paths = &paths,
    .show = multi_path_show,
};
