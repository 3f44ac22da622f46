/* SPDX-License-Identifier: Apache-2.0 */
/* Thread block compaction: the warps of a block wait for each other and are formed anew; what the mechanism's files share.
 * How it works stands in tbc.c. */
#ifndef HEDDLE_DIVERGENCE_TBC_H
#define HEDDLE_DIVERGENCE_TBC_H

#include "divergence/divergence.h"
#include "simt/threads.h"

#define STACK_ROWS 64
#include "simt/stack.h"
_Static_assert(STACK_ROWS >= ISSUE_SLOTS_MAX, "a row for every warp");

struct tbc_stats {
    uint64_t meetings, partings, formed, before, alone, depth;
};

/* A compacted warp. */
struct tbc_warp {
    uint32_t pc, lanes; /* no lanes: it is free */
    unsigned out;       /* threads in the pipeline, or waiting for others */
    bool memory;        /* that they wait for */
    bool others;        /* they wait for other threads */
    bool arrived;       /* it waits for the block's warps: */
    uint32_t at;        /* at this instruction, of which came: NO_PC: where the path ends */
    enum flow flow;
    uint32_t target;
    uint16_t threads[LANES_MAX];
};

/* The warps of a stack entry: of the top, and of entries that run a party above them. */
struct tbc_level {
    struct tbc_warp *warps; /* [row] */
    unsigned formed;
    bool parked;        /* a party is out */
    uint32_t *away;     /* [row]: its threads */
    uint32_t away_pc;   /* where they go on here; NO_PC: where the path ends */
    uint32_t return_pc; /* where threads of the entry's function have returned to */
};

struct tbc_block {
    struct stack stack;
    struct {
        struct tbc_level *items; /* by entry */
        unsigned count, capacity;
    } levels;
    uint32_t *out;     /* [row]: threads in the pipeline, or waiting for others */
    uint32_t *pending; /* [row]: of them, those that met */
    unsigned held;     /* so many: no warp issues before they are back */
    bool memory;       /* that they wait for */
    struct stack_gathered gathered;
};

struct tbc {
    struct stack_family family;
    const struct inst *code;
    bool divergent_only;
    unsigned rows, warp_size;
    uint32_t *alive;      /* by warp */
    uint8_t *home;        /* by thread: the compacted warp it is in */
    uint16_t *home_level; /* and the level of that */
    struct tbc_block *blocks;
    unsigned block_count;
    struct tbc_stats stats;
};

/* For the others of its block, or for other threads. */
static inline bool tbc_is_waiting(const struct tbc *tbc, const struct tbc_warp *warp) {
    return !warp->lanes || warp->arrived || (tbc->divergent_only && warp->others);
}

/* Adds these threads of a block, which are in place, as lanes of its warps; `first`: the first of these. */
static inline void tbc_add_rows(const struct tbc *tbc, unsigned first, const uint16_t *threads, uint32_t lanes,
                                uint32_t *rows) {
    for (uint32_t rest = lanes, here; rest; rest &= ~here) {
        const unsigned warp = threads[bits_first(rest)] / tbc->warp_size;
        here = rest & threads_of(threads, warp, tbc->warp_size);
        rows[warp - first] |= here;
    }
}

/* Does the path of the top end there? */
static inline bool tbc_is_end(const struct stack *stack, uint32_t pc) {
    const struct stack_entry *top = stack_top(stack);
    return pc == NO_PC || (stack->count > 1 && pc == top->reconverge && top->depth == top->reconverge_depth);
}

/* ---- meetings: tbc_meet.c ---- */

/* All threads of the top are warps anew. */
void tbc_form_top(struct tbc *tbc, unsigned number);
/* While all warps of the top wait, the stack goes on, with new warps. True: it did. */
bool tbc_meet(struct tbc *tbc, unsigned number);

#endif
