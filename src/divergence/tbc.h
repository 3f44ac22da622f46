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

enum tbc_sync { SYNC_EVERY, SYNC_DIVERGENT, SYNC_CAPRI };
enum tbc_predictor { PREDICTOR_HISTORY, PREDICTOR_ALWAYS, PREDICTOR_NEVER };
enum tbc_lanes { LANES_HOME, LANES_BALANCED };

struct tbc_params {
    uint32_t sync, predictor, predictor_entries, lanes;
};

struct tbc_stats {
    uint64_t meetings, divergences, formed, before, alone, depth;
    uint64_t apart, foretold, right, predictor_largest;
};

/* A compacted warp. */
struct tbc_warp {
    uint32_t pc, lanes; /* no lanes: it is free */
    uint32_t active;    /* lanes that issue: all of them, unless it is apart */
    unsigned out;       /* threads in the pipeline, or waiting for others */
    bool memory;        /* that they wait for */
    bool others;        /* they wait for other threads */
    bool arrived;       /* it waits for the block's warps: */
    uint32_t at;        /* at this instruction, of which came: NO_PC: where the path ends */
    enum flow flow;
    uint32_t target;
    bool apart;     /* it goes on from a divergent branch by itself: */
    uint16_t stack; /* with this stack */
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
    uint32_t *out;       /* [row]: threads in the pipeline, or waiting for others */
    uint32_t *pending;   /* [row]: of them, those that met */
    unsigned held;       /* so many: no warp issues before they are back */
    bool memory;         /* that they wait for */
    uint32_t formations; /* times that warps were formed */
    struct stack_gathered gathered;
};

struct tbc {
    struct stack_family family;
    const struct inst *code;
    bool divergent_only; /* or capri */
    struct capri *capri; /* NULL: nothing is foretold */
    bool permutes;       /* threads stand in other lanes than those of their warps: */
    uint8_t *flips;      /* by row: the lane is the warp's lane XOR this */
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

/* Adds these threads of a block as lanes of its warps; `first`: the first of these. */
static inline void tbc_add_rows(const struct tbc *tbc, unsigned first, const uint16_t *threads, uint32_t lanes,
                                uint32_t *rows) {
    if (tbc->permutes) {
        for (BITS_EACH(lane, lanes))
            rows[threads[lane] / tbc->warp_size - first] |= UINT32_C(1) << threads[lane] % tbc->warp_size;
        return;
    }
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

/* ---- compaction adequacy prediction: tbc_capri.c ---- */

struct capri *capri_create(struct arena *arena, const struct divergence_shape *shape);
/* A warp of the top has executed a conditional branch at which nobody waits. True: it diverges, and waits; else it goes on, and
 * where it diverges it is apart from now on. */
bool capri_waits(struct tbc *tbc, unsigned number, unsigned place, const struct executed *executed);
/* The warps of the top that wait at that instruction go on together: was it worth their while? */
void capri_judge_party(struct tbc *tbc, unsigned number, uint32_t at);
/* A warp that is apart has executed an instruction. */
void capri_issued(struct tbc *tbc, unsigned number, struct tbc_warp *warp, const struct group *group,
                  const struct executed *executed);
/* Nothing is ever compacted: the warps of the block, which were just formed, are apart from the start. */
void capri_start(struct tbc *tbc, unsigned number);
/* Where the lanes of a warp that is apart stand, and what it holds for them. */
void capri_where(const struct tbc *tbc, const struct tbc_warp *warp, uint32_t pcs[LANES_MAX]);
unsigned capri_show(const struct tbc *tbc, const struct tbc_warp *warp, struct group_row *rows, unsigned most);

#endif
