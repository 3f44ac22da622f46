/* SPDX-License-Identifier: Apache-2.0 */
/* Thread frontiers (Diamos and others, MICRO 2011): every thread has a PC, blocks of a function have fixed places in an
 * order that puts a block before all it leads to and a loop before what follows it (inst->place), and a warp always runs
 * the lanes at the first place. Who is further on waits until the others have come, so lanes join as soon as they can
 * stand at one PC, in unstructured code long before the immediate post-dominator of the branch at which they diverged.
 *
 * Ours: lanes that have called a function go before those that have not, so that they are back when these go on. Lanes
 * that wait for other threads, at a block barrier or a warp-level operation, keep nobody: others of the warp run. */
#include "divergence/divergence.h"
#include "simt/frontier.h"

#define FRONTIERS_STATS(STAT, LARGEST)                                                                                 \
    STAT(joins, "joins", "times that lanes came to where others of their warp stood, and went on with them")           \
    STAT(early_joins, "joins", "of these, at a PC where no stack would join them: behind no branch and no call")       \
    LARGEST(paths_largest, "paths", "most groups of lanes of a warp at different PCs")

static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct frontier_counts, field, unit, help)
#define LARGEST(field, unit, help) LARGEST_ENTRY(struct frontier_counts, field, unit, help)
    FRONTIERS_STATS(STAT, LARGEST)
#undef STAT
#undef LARGEST
        STAT_END};

static void *frontiers_create(struct arena *arena, const struct divergence_shape *shape) {
    struct frontier *self = ARENA_NEW(arena, struct frontier);
    frontier_create(self, arena, shape->code, shape->code_count, shape->warps);
    return self;
}

static uint64_t slot_bit(unsigned warp) { return UINT64_C(1) << warp % ISSUE_SLOTS_MAX; }

static uint64_t frontiers_start(void *self, unsigned warp, uint32_t pc, uint32_t lanes) {
    frontier_start(self, warp, pc, lanes);
    return slot_bit(warp);
}

static bool frontiers_offer(void *self, unsigned warp, struct group *out) { return frontier_offer(self, warp, out); }

static uint64_t frontiers_issued(void *self, unsigned warp, const struct group *group,
                                 const struct executed *executed) {
    return frontier_issued(self, warp, group, executed) ? slot_bit(warp) : 0;
}

static void frontiers_wait(void *self, unsigned warp, uint32_t lanes) { frontier_wait(self, warp, lanes); }

static uint64_t frontiers_go_on(void *self, unsigned warp, uint32_t lanes) {
    return frontier_go_on(self, warp, lanes) ? slot_bit(warp) : 0;
}

static uint32_t frontiers_alive(const void *self, unsigned warp) {
    return ((const struct frontier *)self)->warps[warp].alive;
}

static void frontiers_where(const void *self, unsigned warp, uint32_t pcs[LANES_MAX]) {
    frontier_where(self, warp, pcs);
}

static unsigned frontiers_show(const void *self, unsigned warp, struct group_row *rows, unsigned most) {
    return frontier_show(self, warp, rows, most);
}

static const void *frontiers_statistics(const void *self) { return &((const struct frontier *)self)->counts; }

/* A PC for each thread, and whether it waits; calls have their depth where they have their return addresses. */
static void frontiers_cost(const void *values, const struct cost_shape *shape, struct cost *out) {
    (void)values;
    cost_thread_pcs(shape, 1, out);
}

static const struct divergence_waiting waiting = {
    .wait = frontiers_wait,
    .go_on = frontiers_go_on,
};

const struct divergence_ops divergence_frontiers = {
    .name = "frontiers",
    .help = "thread frontiers: a PC per thread; the lanes that are furthest behind run, and join those they reach",
    .own.stats = stats_table,
    .own.stats_bytes = sizeof(struct frontier_counts),
    .own.statistics = frontiers_statistics,
    .own.cost = frontiers_cost,
    .create = frontiers_create,
    .start = frontiers_start,
    .offer = frontiers_offer,
    .issued = frontiers_issued,
    .waiting = &waiting,
    .alive = frontiers_alive,
    .where = frontiers_where,
    .show = frontiers_show,
};
