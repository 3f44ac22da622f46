/* Threads that each have a PC of their own: what mechanisms that dissolve groups share. */
#ifndef HEDDLE_ISA_THREADS_H
#define HEDDLE_ISA_THREADS_H

#include "base/arena.h"
#include "base/bits.h"
#include "isa/executor.h"

struct threads {
    unsigned warp_size, per_block;
    uint32_t *pcs;   /* of each thread: what it executes next */
    uint32_t *alive; /* of each warp: lanes */
};

static inline void threads_create(struct threads *threads, struct arena *arena, unsigned warps, unsigned warp_size,
                                  unsigned warps_per_block) {
    threads->warp_size = warp_size;
    threads->per_block = warps_per_block * warp_size;
    threads->pcs = ARENA_ARRAY(arena, uint32_t, (size_t)warps * warp_size);
    threads->alive = ARENA_ARRAY(arena, uint32_t, warps);
}

/* The threads of a warp that keep their lanes. */
static inline void threads_of_warp(uint16_t threads[LANES_MAX], unsigned warp, unsigned warp_size) {
    for (unsigned lane = 0; lane < warp_size; lane++)
        threads[lane] = (uint16_t)(warp * warp_size + lane);
}

/* The threads of one warp of 32 among `rest`, which are taken from it; as lanes of the warp. threads NULL: all are the
 * slot's. */
static inline uint32_t threads_take_warp(unsigned slot, const uint16_t *threads, uint32_t *rest, unsigned *warp) {
    uint32_t lanes = *rest, home = 0;
    *warp = threads ? threads[bits_first(lanes)] / LANES_MAX : slot;
    if (!threads) {
        *rest = 0;
        return lanes;
    }
    for (BITS_EACH(lane, lanes))
        if (threads[lane] / LANES_MAX == *warp) {
            home |= UINT32_C(1) << threads[lane] % LANES_MAX;
            *rest &= ~(UINT32_C(1) << lane);
        }
    return home;
}

static inline void threads_start(struct threads *threads, unsigned warp, uint32_t pc, uint32_t lanes) {
    threads->alive[warp] = lanes;
    for (BITS_EACH(lane, lanes))
        threads->pcs[warp * threads->warp_size + lane] = pc;
}

static inline uint32_t threads_next(const struct executed *executed, unsigned lane) {
    const bool taken = executed->taken >> lane & 1;
    switch (executed->flow) {
    case FLOW_BRANCH: return taken ? executed->target : executed->pc + 1;
    case FLOW_MULTI: return executed->next[lane];
    case FLOW_CALL:
    case FLOW_RETURN: return taken ? executed->next[lane] : executed->pc + 1;
    default: return executed->pc + 1;
    }
}

/* Every thread of an issued group learns its next PC; those that end are gone. */
static inline void threads_issued(struct threads *threads, const struct group *group, const struct executed *executed) {
    if (executed->flow == FLOW_NEXT) { /* most often */
        for (BITS_EACH(lane, group->lanes))
            threads->pcs[group->threads[lane]] = executed->pc + 1;
        return;
    }
    for (BITS_EACH(lane, group->lanes)) {
        const unsigned thread = group->threads[lane];
        threads->pcs[thread] = threads_next(executed, lane);
        if (executed->flow == FLOW_EXIT && executed->taken >> lane & 1)
            threads->alive[thread / threads->warp_size] &= ~(UINT32_C(1) << thread % threads->warp_size);
    }
}

static inline void threads_where(const struct threads *threads, unsigned warp, uint32_t pcs[LANES_MAX]) {
    for (BITS_EACH(lane, threads->alive[warp]))
        pcs[lane] = threads->pcs[warp * threads->warp_size + lane];
}

/* These lanes of the warp, a row for each PC; how many rows, at most `most`. */
static inline unsigned threads_show(const struct threads *threads, unsigned warp, uint32_t lanes, const char *what,
                                    struct group_row *rows, unsigned most) {
    const uint32_t *pcs = threads->pcs + (size_t)warp * threads->warp_size;
    unsigned count = 0;
    for (uint32_t rest = lanes, here; rest && count < most; rest &= ~here) {
        const uint32_t pc = pcs[bits_first(rest)];
        here = 0;
        for (BITS_EACH(lane, rest))
            here |= (uint32_t)(pcs[lane] == pc) << lane;
        rows[count++] = (struct group_row){what, pc, NO_PC, here, NULL};
    }
    return count;
}

#endif
