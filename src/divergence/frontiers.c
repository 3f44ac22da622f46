/* SPDX-License-Identifier: Apache-2.0 */
/* Thread frontiers (Diamos and others, MICRO 2011): every thread has a PC, blocks of a function have fixed places in an
 * order that puts a block before all it leads to and a loop before what follows it (inst->place), and a warp always runs
 * the lanes at the first place. Who is further on waits until the others have come, so lanes join as soon as they can
 * stand at one PC, in unstructured code long before the immediate post-dominator of the branch at which they diverged.
 *
 * Ours: lanes that have called a function go before those that have not, so that they are back when these go on. Lanes
 * that wait for other threads, at a block barrier or a warp-level operation, keep nobody: others of the warp run. */
#include <assert.h>

#include "divergence/divergence.h"
#include "simt/threads.h"

#define FRONTIERS_STATS(STAT, LARGEST)                                                                                 \
    STAT(joins, "joins", "times that lanes came to where others of their warp stood, and went on with them")           \
    STAT(early_joins, "joins", "of these, at a PC where no stack would join them: behind no branch and no call")       \
    LARGEST(paths_largest, "paths", "most groups of lanes of a warp at different PCs")

struct frontiers_stats {
#define STAT(field, unit, help) uint64_t field;
    FRONTIERS_STATS(STAT, STAT)
#undef STAT
};
static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct frontiers_stats, field, unit, help)
#define LARGEST(field, unit, help) LARGEST_ENTRY(struct frontiers_stats, field, unit, help)
    FRONTIERS_STATS(STAT, LARGEST)
#undef STAT
#undef LARGEST
        STAT_END};

/* Lanes at one PC. */
struct frontiers_path {
    uint32_t pc, lanes;
    uint32_t depth; /* calls that have not returned */
    bool waits;     /* for other threads */
};

enum { NOBODY = LANES_MAX };

struct frontiers_warp {
    uint32_t alive;
    unsigned count, running; /* paths; running: the one offered, which may be in a straight run, or NOBODY */
    struct frontiers_path paths[LANES_MAX];
};

struct frontiers {
    const struct inst *code;
    uint32_t *meets; /* [pc]: the next operation that waits for lanes, before which a straight run ends */
    uint32_t *ends;  /* [pc]: the next PC behind its block */
    bool *joins;     /* [pc]: a branch has its immediate post-dominator here, or a call is before it */
    struct frontiers_warp *warps;
    struct frontiers_stats stats;
};

static void *frontiers_create(struct arena *arena, const struct divergence_shape *shape) {
    struct frontiers *self = ARENA_NEW(arena, struct frontiers);
    const uint32_t count = shape->code_count;
    self->code = shape->code;
    self->meets = ARENA_ARRAY(arena, uint32_t, count);
    self->ends = ARENA_ARRAY(arena, uint32_t, count);
    self->joins = ARENA_ARRAY(arena, bool, count);
    self->warps = ARENA_ARRAY(arena, struct frontiers_warp, shape->warps);
    for (uint32_t pc = count, meets = NO_PC, end = count; pc-- > 0;) {
        const struct inst *inst = &shape->code[pc];
        if (pc + 1 < count && inst->place != inst[1].place)
            end = pc + 1;
        self->meets[pc] = meets, self->ends[pc] = end;
        meets = inst_meets(inst) ? pc : meets;
        if (inst_may_part(inst) && inst->reconverge < count)
            self->joins[inst->reconverge] = true;
        if (inst->op == OP_CALL && pc + 1 < count)
            self->joins[pc + 1] = true;
    }
    return self;
}

static uint64_t slot_bit(unsigned warp) { return UINT64_C(1) << warp % ISSUE_SLOTS_MAX; }

/* ---- paths ---- */

/* Lanes come to a PC, and join who stands there, unless those are in a straight run; did they? */
static bool arrive(struct frontiers *self, struct frontiers_warp *warp, struct frontiers_path path) {
    for (unsigned i = 0; i < warp->count && !path.waits; i++) {
        struct frontiers_path *other = &warp->paths[i];
        if (other->waits || i == warp->running || other->pc != path.pc || other->depth != path.depth)
            continue;
        other->lanes |= path.lanes;
        return true;
    }
    assert(warp->count < LANES_MAX && path.lanes);
    warp->paths[warp->count++] = path;
    if (warp->count > self->stats.paths_largest)
        self->stats.paths_largest = warp->count;
    return false;
}

/* These lanes of a path leave it, which ends when it has no more. The last path takes its place. */
static void leave(struct frontiers_warp *warp, unsigned i, uint32_t lanes) {
    warp->paths[i].lanes &= ~lanes;
    if (warp->paths[i].lanes)
        return;
    const unsigned last = --warp->count;
    warp->paths[i] = warp->paths[last];
    if (warp->running == i)
        warp->running = NOBODY;
    else if (warp->running == last)
        warp->running = i;
}

static uint64_t frontiers_start(void *control, unsigned number, uint32_t pc, uint32_t lanes) {
    struct frontiers *self = control;
    struct frontiers_warp *warp = &self->warps[number];
    warp->alive = lanes, warp->count = 0, warp->running = NOBODY;
    if (lanes)
        arrive(self, warp, (struct frontiers_path){.pc = pc, .lanes = lanes});
    return slot_bit(number);
}

static bool comes_before(const struct frontiers *self, const struct frontiers_path *a, const struct frontiers_path *b) {
    if (a->depth != b->depth)
        return a->depth > b->depth;
    const uint32_t of_a = self->code[a->pc].place, of_b = self->code[b->pc].place;
    return of_a != of_b ? of_a < of_b : a->pc < b->pc;
}

static unsigned find_first(const struct frontiers *self, const struct frontiers_warp *warp) {
    unsigned best = NOBODY;
    for (unsigned i = 0; i < warp->count; i++)
        if (!warp->paths[i].waits && (best == NOBODY || comes_before(self, &warp->paths[i], &warp->paths[best])))
            best = i;
    return best;
}

/* A run of a warp that has diverged ends with its block, where another place may come first, and where others stand. */
static uint32_t find_stop(const struct frontiers *self, const struct frontiers_warp *warp,
                          const struct frontiers_path *path) {
    uint32_t stop = self->meets[path->pc];
    if (warp->count == 1)
        return stop;
    stop = self->ends[path->pc] < stop ? self->ends[path->pc] : stop;
    for (unsigned i = 0; i < warp->count; i++) {
        const uint32_t pc = warp->paths[i].pc;
        stop = pc > path->pc && pc < stop ? pc : stop;
    }
    return stop;
}

static bool frontiers_offer(void *control, unsigned number, struct group *out) {
    struct frontiers *self = control;
    struct frontiers_warp *warp = &self->warps[number];
    if (warp->running == NOBODY)
        warp->running = find_first(self, warp);
    if (warp->running == NOBODY)
        return false;
    const struct frontiers_path *path = &warp->paths[warp->running];
    out->pc = path->pc;
    out->lanes = path->lanes;
    out->stop_pc = find_stop(self, warp, path);
    out->threads = NULL;
    return true;
}

/* The lanes of `rest` that go where its first goes, as a path; from the same depth to the same. */
static struct frontiers_path next_path(const struct executed *executed, uint32_t rest, uint32_t depth) {
    const unsigned first = bits_first(rest);
    struct frontiers_path path = {.pc = threads_next(executed, first), .depth = depth};
    if (executed->flow == FLOW_CALL || executed->flow == FLOW_RETURN) {
        const bool moves = executed->taken >> first & 1;
        rest &= moves ? executed->taken : ~executed->taken;
        path.depth = !moves ? depth : executed->flow == FLOW_CALL ? depth + 1 : depth - 1;
    }
    for (BITS_EACH(lane, rest))
        path.lanes |= (uint32_t)(threads_next(executed, lane) == path.pc) << lane;
    return path;
}

static uint64_t frontiers_issued(void *control, unsigned number, const struct group *group,
                                 const struct executed *executed) {
    struct frontiers *self = control;
    struct frontiers_warp *warp = &self->warps[number];
    struct frontiers_path *path = &warp->paths[warp->running];
    const uint32_t depth = path->depth, next = threads_next_of_all(executed);
    uint32_t rest = group->lanes;
    if (executed->flow == FLOW_FAULT)
        return 0;
    if (warp->count == 1 && next != NO_PC && executed->flow != FLOW_EXIT) { /* most often */
        path->pc = next;
        warp->running = NOBODY;
        return slot_bit(number);
    }
    leave(warp, warp->running, rest);
    if (executed->flow == FLOW_EXIT)
        warp->alive &= ~executed->taken, rest &= ~executed->taken;
    while (rest) {
        const struct frontiers_path side = next_path(executed, rest, depth);
        rest &= ~side.lanes;
        if (!arrive(self, warp, side))
            continue;
        self->stats.joins++;
        self->stats.early_joins += !self->joins[side.pc];
    }
    return slot_bit(number);
}

/* ---- waiting for other threads ---- */

/* Just issued, they may have joined others behind the instruction. */
static void frontiers_wait(void *control, unsigned number, uint32_t lanes) {
    struct frontiers *self = control;
    struct frontiers_warp *warp = &self->warps[number];
    for (unsigned i = 0; i < warp->count; i++) {
        struct frontiers_path *path = &warp->paths[i];
        if (path->waits || !(path->lanes & lanes))
            continue;
        struct frontiers_path stays = *path;
        stays.lanes &= lanes, stays.waits = true;
        if (path->lanes == stays.lanes) {
            path->waits = true;
        } else {
            path->lanes &= ~lanes;
            arrive(self, warp, stays);
        }
    }
}

static uint64_t frontiers_go_on(void *control, unsigned number, uint32_t lanes) {
    struct frontiers *self = control;
    struct frontiers_warp *warp = &self->warps[number];
    for (unsigned i = 0; i < warp->count;) {
        struct frontiers_path path = warp->paths[i];
        if (!path.waits || !(path.lanes & lanes)) {
            i++;
            continue;
        }
        path.lanes &= lanes, path.waits = false;
        leave(warp, i, lanes);
        arrive(self, warp, path);
    }
    return warp->running == NOBODY ? slot_bit(number) : 0;
}

/* ---- looking at it ---- */

static uint32_t frontiers_alive(const void *self, unsigned warp) {
    return ((const struct frontiers *)self)->warps[warp].alive;
}

static void frontiers_where(const void *self, unsigned number, uint32_t pcs[LANES_MAX]) {
    const struct frontiers_warp *warp = &((const struct frontiers *)self)->warps[number];
    for (unsigned i = 0; i < warp->count; i++)
        for (BITS_EACH(lane, warp->paths[i].lanes))
            pcs[lane] = warp->paths[i].pc;
}

/* The path that runs next first. */
static unsigned frontiers_show(const void *control, unsigned number, struct group_row *rows, unsigned most) {
    const struct frontiers *self = control;
    const struct frontiers_warp *warp = &self->warps[number];
    const unsigned first = warp->running == NOBODY ? find_first(self, warp) : warp->running;
    unsigned count = 0;
    for (unsigned k = 0; k <= warp->count && count < most; k++) {
        const unsigned i = k ? k - 1 : first;
        if (i == NOBODY || (k && i == first))
            continue;
        const struct frontiers_path *path = &warp->paths[i];
        rows[count++] = (struct group_row){i == first    ? "runs"
                                           : path->waits ? "waits for others"
                                                         : "is further on",
                                           path->pc, NO_PC, path->lanes, NULL};
    }
    return count;
}

static const void *frontiers_statistics(const void *self) { return &((const struct frontiers *)self)->stats; }

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
    .help = "thread frontiers: a PC per thread; the lanes that are least far on run, and join those they come to",
    .own.stats = stats_table,
    .own.stats_bytes = sizeof(struct frontiers_stats),
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
