/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of a warp in the order of the thread frontier (Diamos and others, MICRO 2011): what mechanisms share whose lanes each have a PC.
 *
 * Blocks of a function have fixed places in an order that puts a block before all it leads to and a loop before what follows it
 * (inst->place). Who is least far on is first, deeper calls before others; lanes that come to where others stand go on with them. A warp
 * has one issue slot, whose path keeps it for a straight run, or two, which the first two paths have: then every PC is known when anything is told.
 * Lanes that wait for other threads, at a block barrier or a warp-level operation, keep nobody.
 *
 * `since`: where a branch has its immediate post-dominator the second path waits while the first is between the two: from the block of the branch on, or
 * from the first block of the outermost loop that has the branch and not the post-dominator; and while the first has called more functions. */
#ifndef HEDDLE_SIMT_FRONTIER_H
#define HEDDLE_SIMT_FRONTIER_H

#include <assert.h>

#include "simt/threads.h"

/* Lanes at one PC. */
struct frontier_path {
    uint32_t pc, lanes;
    uint32_t depth; /* calls that have not returned */
    bool waits;     /* for other threads */
    bool held;      /* for the first path, where a branch of its meets */
};

enum { FRONTIER_NOBODY = LANES_MAX, FRONTIER_SLOTS = 2 };

struct frontier_warp {
    uint32_t alive;
    unsigned count;              /* paths */
    unsigned at[FRONTIER_SLOTS]; /* of each slot: its path, which may be in a straight run, or FRONTIER_NOBODY */
    struct frontier_path paths[LANES_MAX];
};

struct frontier_counts {
    uint64_t joins, early_joins, held, paths_largest;
};

struct frontier {
    const struct inst *code;
    uint32_t *meets; /* [pc]: the next operation that waits for lanes, before which a straight run ends */
    uint32_t *ends;  /* [pc]: the next PC behind its block */
    bool *joins;     /* [pc]: a branch has its immediate post-dominator here, or a call is before it */
    uint32_t *
        since; /* [pc]: the place from which on who is there keeps the second path here, NO_PC: nobody; NULL: nowhere */
    unsigned slots, stride; /* of a warp, and from slot to slot */
    struct frontier_warp *warps;
    struct frontier_counts counts;
};

/* Before the SM has told it of its warps. */
static inline void frontier_create(struct frontier *self, struct arena *arena, const struct inst *code, uint32_t count,
                                   unsigned warps) {
    self->code = code;
    self->slots = 1, self->stride = warps;
    self->meets = ARENA_ARRAY(arena, uint32_t, count);
    self->ends = ARENA_ARRAY(arena, uint32_t, count);
    self->joins = ARENA_ARRAY(arena, bool, count);
    self->warps = ARENA_ARRAY(arena, struct frontier_warp, warps);
    for (uint32_t pc = count, meets = NO_PC, end = count; pc-- > 0;) {
        const struct inst *inst = &code[pc];
        if (pc + 1 < count && inst->place != inst[1].place)
            end = pc + 1;
        self->meets[pc] = meets, self->ends[pc] = end;
        meets = inst_meets(inst) ? pc : meets;
        if (inst_may_diverge(inst) && inst->reconverge < count)
            self->joins[inst->reconverge] = true;
        if (inst->op == OP_CALL && pc + 1 < count)
            self->joins[pc + 1] = true;
    }
}

/* The first block of the outermost loop that has the place and not the one further on. Loops are known by the branches that go back. */
static inline uint32_t frontier_outermost(const struct inst *code, const uint32_t *back, uint32_t count, uint32_t place,
                                          uint32_t meeting) {
    uint32_t first = place;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t head = code[code[back[i]].target].place, last = code[back[i]].place;
        if (head < first && place <= last && last < meeting)
            first = head;
    }
    return first;
}

static inline void frontier_hold_second(struct frontier *self, struct arena *arena, uint32_t count) {
    uint32_t *back = ARENA_ARRAY(arena, uint32_t, count), backs = 0;
    self->since = ARENA_ARRAY(arena, uint32_t, count);
    for (uint32_t pc = 0; pc < count; pc++) {
        const struct inst *inst = &self->code[pc];
        self->since[pc] = NO_PC;
        if (inst->op == OP_BRA && inst->target < count && self->code[inst->target].place <= inst->place)
            back[backs++] = pc;
    }
    for (uint32_t pc = 0; pc < count; pc++) {
        const struct inst *inst = &self->code[pc];
        if (!inst_may_diverge(inst) || inst->reconverge >= count)
            continue;
        uint32_t *since = &self->since[inst->reconverge];
        const uint32_t first =
            frontier_outermost(self->code, back, backs, inst->place, self->code[inst->reconverge].place);
        *since = first < *since ? first : *since;
    }
}

/* ---- paths ---- */

/* Lanes come to a PC, and join who stands there, unless those are in a straight run and their PC is not known; did they? */
static inline bool frontier_arrive(struct frontier *self, struct frontier_warp *warp, struct frontier_path path) {
    const unsigned closed = self->slots == 1 ? warp->at[0] : FRONTIER_NOBODY;
    for (unsigned i = 0; i < warp->count && !path.waits; i++) {
        struct frontier_path *other = &warp->paths[i];
        if (other->waits || i == closed || other->pc != path.pc || other->depth != path.depth)
            continue;
        other->lanes |= path.lanes;
        return true;
    }
    assert(warp->count < LANES_MAX && path.lanes);
    warp->paths[warp->count++] = path;
    if (warp->count > self->counts.paths_largest)
        self->counts.paths_largest = warp->count;
    return false;
}

/* These lanes of a path leave it, which ends when it has no more. The last path takes its place. */
static inline void frontier_leave(struct frontier_warp *warp, unsigned i, uint32_t lanes) {
    warp->paths[i].lanes &= ~lanes;
    if (warp->paths[i].lanes)
        return;
    const unsigned last = --warp->count;
    warp->paths[i] = warp->paths[last];
    for (unsigned k = 0; k < FRONTIER_SLOTS; k++)
        warp->at[k] = warp->at[k] == i ? FRONTIER_NOBODY : warp->at[k] == last ? i : warp->at[k];
}

static inline bool frontier_comes_before(const struct frontier *self, const struct frontier_path *a,
                                         const struct frontier_path *b) {
    if (a->depth != b->depth)
        return a->depth > b->depth;
    const uint32_t of_a = self->code[a->pc].place, of_b = self->code[b->pc].place;
    return of_a != of_b ? of_a < of_b : a->pc < b->pc;
}

/* The first path but for one. */
static inline unsigned frontier_first(const struct frontier *self, const struct frontier_warp *warp, unsigned but) {
    unsigned best = FRONTIER_NOBODY;
    for (unsigned i = 0; i < warp->count; i++)
        if (!warp->paths[i].waits && i != but &&
            (best == FRONTIER_NOBODY || frontier_comes_before(self, &warp->paths[i], &warp->paths[best])))
            best = i;
    return best;
}

static inline bool frontier_holds(struct frontier *self, const struct frontier_path *first,
                                  struct frontier_path *second) {
    const uint32_t since = self->since ? self->since[second->pc] : NO_PC;
    const bool held = since != NO_PC && (first->depth > second->depth || self->code[first->pc].place >= since);
    self->counts.held += held && !second->held;
    second->held = held;
    return held;
}

/* Two slots: the first two paths have them, and keep the one they have. Of those that have none, who has gone on at `next` from `slot` gets it. */
static inline void frontier_fill(struct frontier *self, struct frontier_warp *warp, unsigned slot, uint32_t next) {
    unsigned hot[FRONTIER_SLOTS] = {0, FRONTIER_NOBODY};
    if (warp->count != 1 || warp->paths[0].waits) {
        hot[0] = frontier_first(self, warp, FRONTIER_NOBODY);
        hot[1] = hot[0] == FRONTIER_NOBODY ? hot[0] : frontier_first(self, warp, hot[0]);
    }
    if (hot[0] != FRONTIER_NOBODY)
        warp->paths[hot[0]].held = false;
    if (hot[1] != FRONTIER_NOBODY && frontier_holds(self, &warp->paths[hot[0]], &warp->paths[hot[1]]))
        hot[1] = FRONTIER_NOBODY;
    for (unsigned k = 0; k < FRONTIER_SLOTS; k++)
        if (warp->at[k] != hot[0] && warp->at[k] != hot[1])
            warp->at[k] = FRONTIER_NOBODY;
    for (unsigned k = 0; k < FRONTIER_SLOTS; k++)
        if (hot[k] != FRONTIER_NOBODY && warp->at[slot] == FRONTIER_NOBODY && warp->at[1 - slot] != hot[k] &&
            warp->paths[hot[k]].pc == next)
            warp->at[slot] = hot[k];
    for (unsigned k = 0; k < FRONTIER_SLOTS; k++)
        if (hot[k] != FRONTIER_NOBODY && warp->at[0] != hot[k] && warp->at[1] != hot[k])
            warp->at[warp->at[slot] == FRONTIER_NOBODY ? slot : 1 - slot] = hot[k];
}

/* After a change of paths: what the warp's slots offer, as bits of those to be looked at again. */
static inline uint64_t frontier_settle(struct frontier *self, struct frontier_warp *warp, unsigned slot,
                                       uint32_t next) {
    if (self->slots == 1)
        return 1;
    frontier_fill(self, warp, slot, next);
    return 3;
}

static inline uint64_t frontier_start(struct frontier *self, unsigned number, uint32_t pc, uint32_t lanes) {
    struct frontier_warp *warp = &self->warps[number];
    warp->alive = lanes, warp->count = 0;
    warp->at[0] = warp->at[1] = FRONTIER_NOBODY;
    if (lanes)
        frontier_arrive(self, warp, (struct frontier_path){.pc = pc, .lanes = lanes});
    frontier_settle(self, warp, 0, pc);
    return 1;
}

/* ---- issue ---- */

/* A run of a warp that has diverged ends with its block, where another place may come first, and where others stand. */
static inline uint32_t frontier_stop(const struct frontier *self, const struct frontier_warp *warp,
                                     const struct frontier_path *path) {
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

static inline bool frontier_offer(struct frontier *self, unsigned slot, struct group *out) {
    const unsigned k = slot >= self->stride;
    struct frontier_warp *warp = &self->warps[slot - k * self->stride];
    if (self->slots == 1 && warp->at[0] == FRONTIER_NOBODY)
        warp->at[0] = frontier_first(self, warp, FRONTIER_NOBODY);
    if (warp->at[k] == FRONTIER_NOBODY)
        return false;
    const struct frontier_path *path = &warp->paths[warp->at[k]];
    out->pc = path->pc;
    out->lanes = path->lanes;
    out->stop_pc = frontier_stop(self, warp, path);
    out->threads = NULL;
    return true;
}

static inline void frontier_moved(struct frontier *self, unsigned slot, uint32_t pc) {
    const unsigned k = slot >= self->stride;
    struct frontier_warp *warp = &self->warps[slot - k * self->stride];
    warp->paths[warp->at[k]].pc = pc;
}

/* The lanes of `rest` that go where its first goes, as a path; from the same depth to the same. */
static inline struct frontier_path frontier_next(const struct executed *executed, uint32_t rest, uint32_t depth) {
    const unsigned first = bits_first(rest);
    struct frontier_path path = {.pc = threads_next(executed, first), .depth = depth};
    if (executed->flow == FLOW_CALL || executed->flow == FLOW_RETURN) {
        const bool moves = executed->taken >> first & 1;
        rest &= moves ? executed->taken : ~executed->taken;
        path.depth = !moves ? depth : executed->flow == FLOW_CALL ? depth + 1 : depth - 1;
    }
    for (BITS_EACH(lane, rest))
        path.lanes |= (uint32_t)(threads_next(executed, lane) == path.pc) << lane;
    return path;
}

/* Within its block, and nobody stands there: with two slots nothing but the path's PC changes, however often it is told. */
static inline bool frontier_goes_straight_on(const struct frontier *self, const struct frontier_warp *warp,
                                             const struct executed *executed) {
    if (self->slots == 1 || executed->flow != FLOW_NEXT || self->ends[executed->pc] == executed->pc + 1)
        return false;
    for (unsigned i = 0; i < warp->count; i++)
        if (warp->paths[i].pc == executed->pc + 1)
            return false;
    return true;
}

static inline uint64_t frontier_issued(struct frontier *self, unsigned slot, const struct group *group,
                                       const struct executed *executed) {
    const unsigned k = slot >= self->stride;
    struct frontier_warp *warp = &self->warps[slot - k * self->stride];
    struct frontier_path *path = &warp->paths[warp->at[k]];
    const uint32_t depth = path->depth, next = threads_next_of_all(executed);
    uint32_t rest = group->lanes;
    if (executed->flow == FLOW_FAULT)
        return 0;
    if (warp->count == 1 && next != NO_PC && executed->flow != FLOW_EXIT) { /* most often */
        path->pc = next;
        if (self->slots == 1)
            warp->at[0] = FRONTIER_NOBODY;
        return UINT64_C(1) << k;
    }
    if (frontier_goes_straight_on(self, warp, executed)) {
        path->pc = next;
        return UINT64_C(1) << k;
    }
    frontier_leave(warp, warp->at[k], rest);
    if (executed->flow == FLOW_EXIT)
        warp->alive &= ~executed->taken, rest &= ~executed->taken;
    while (rest) {
        const struct frontier_path side = frontier_next(executed, rest, depth);
        rest &= ~side.lanes;
        if (!frontier_arrive(self, warp, side))
            continue;
        self->counts.joins++;
        self->counts.early_joins += !self->joins[side.pc];
    }
    return frontier_settle(self, warp, k, executed->pc + 1);
}

/* ---- waiting for other threads ---- */

/* Just issued, they may have joined others behind the instruction. */
static inline void frontier_wait(struct frontier *self, unsigned number, uint32_t lanes) {
    struct frontier_warp *warp = &self->warps[number];
    for (unsigned i = 0; i < warp->count; i++) {
        struct frontier_path *path = &warp->paths[i];
        if (path->waits || !(path->lanes & lanes))
            continue;
        struct frontier_path stays = *path;
        stays.lanes &= lanes, stays.waits = true;
        if (path->lanes == stays.lanes) {
            path->waits = true;
        } else {
            path->lanes &= ~lanes;
            frontier_arrive(self, warp, stays);
        }
    }
    frontier_settle(self, warp, 0, NO_PC);
}

static inline uint64_t frontier_go_on(struct frontier *self, unsigned number, uint32_t lanes) {
    struct frontier_warp *warp = &self->warps[number];
    for (unsigned i = 0; i < warp->count;) {
        struct frontier_path path = warp->paths[i];
        if (!path.waits || !(path.lanes & lanes)) {
            i++;
            continue;
        }
        path.lanes &= lanes, path.waits = false;
        frontier_leave(warp, i, lanes);
        frontier_arrive(self, warp, path);
    }
    return self->slots == 1 && warp->at[0] != FRONTIER_NOBODY ? 0 : frontier_settle(self, warp, 0, NO_PC);
}

/* ---- looking at it ---- */

static inline void frontier_where(const struct frontier *self, unsigned number, uint32_t pcs[LANES_MAX]) {
    const struct frontier_warp *warp = &self->warps[number];
    for (unsigned i = 0; i < warp->count; i++)
        for (BITS_EACH(lane, warp->paths[i].lanes))
            pcs[lane] = warp->paths[i].pc;
}

/* The path that runs next first. */
static inline unsigned frontier_show(const struct frontier *self, unsigned number, struct group_row *rows,
                                     unsigned most) {
    const struct frontier_warp *warp = &self->warps[number];
    const unsigned first =
        self->slots == 1 && warp->at[0] != FRONTIER_NOBODY ? warp->at[0] : frontier_first(self, warp, FRONTIER_NOBODY);
    unsigned count = 0;
    for (unsigned k = 0; k <= warp->count && count < most; k++) {
        const unsigned i = k ? k - 1 : first;
        if (i == FRONTIER_NOBODY || (k && i == first))
            continue;
        const struct frontier_path *path = &warp->paths[i];
        rows[count++] = (struct group_row){i == first                             ? "runs"
                                           : i == warp->at[1] || i == warp->at[0] ? "runs beside it"
                                           : path->waits                          ? "waits for others"
                                           : path->held                           ? "waits to meet"
                                                                                  : "is further on",
                                           path->pc, NO_PC, path->lanes, NULL};
    }
    return count;
}

#endif
