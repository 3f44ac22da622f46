/* SPDX-License-Identifier: Apache-2.0 */
/* The functional run of a launch: executor and mechanism, no time.
 *
 * Resident blocks take turns, warps within a block too, so that threads that wait for each other by spinning end. */
#ifndef HEDDLE_EMULATE_EMULATE_H
#define HEDDLE_EMULATE_EMULATE_H

#include <stdatomic.h>

#include "divergence/divergence.h"
#include "exec/exec.h"

/* Instructions that a group issued one after another, from pc on. */
struct issue_run {
    uint64_t block;
    unsigned warp;         /* of the block, in warps of the machine's size */
    unsigned first_thread; /* of the block: lane i is thread first_thread + i */
    uint32_t lanes, pc, issues;
    bool waits; /* the last is a barrier that its threads wait at */
};

struct issue_listener {
    void (*hear)(void *self, const struct issue_run *run);
    void *self;
};

/* Another order of the same launch (heddle check --explore): warps and lanes go on by chance, and blocks begin in another order. */
enum emulate_pick { PICK_ANY, PICK_FIRST, PICK_LAST, PICK_LEAST_PC, PICK_MOST_PC, PICKS };
struct emulate_order {
    uint64_t seed;
    bool scatters;             /* lanes go on by chance (emulate/scatter.c); else as the machine's mechanism has it */
    unsigned burst;            /* what a choice holds for: issues, at least 1 */
    unsigned part;             /* of 256: that only some of the lanes go on that could */
    unsigned pick;             /* enum emulate_pick: among lanes of a warp */
    uint64_t turn_issues;      /* as in emulate_options */
    uint64_t max_instructions; /* the same; 0: as it is there */
    uint64_t block_step,
        block_first; /* block i is number (first + i * step) modulo their number; step has no factor with it */
};
extern const struct divergence_ops emulate_scatter;

struct emulate_options {
    const struct divergence_ops *mechanism;
    const void *mechanism_params;
    uint64_t turn_issues;                  /* what a block issues before the next has its turn */
    uint64_t warp_issues;                  /* what a warp issues before the next of its block has its turn */
    uint64_t livelock_turns;               /* turns without progress before the run is given up */
    uint64_t max_instructions;             /* 0: no limit */
    uint32_t resident_blocks;              /* blocks under way at a time, at least 1 */
    const struct issue_listener *listener; /* NULL: nobody */
    const struct emulate_order *order;     /* NULL: as they come */
};

/* Blocks for several host threads, so many at a time. */
struct block_supply {
    atomic_uint_least64_t next;
    uint64_t end, piece;
    atomic_bool closed; /* there are no more, because what was begun is of no use */
};

struct emulate_stats {
    uint64_t full_groups, divergent_branches, threads, blocks;
    uint64_t issued;     /* functionally: warp instructions, for the limit */
    uint64_t bundled;    /* in time: groups issued beside another in the same slot */
    uint64_t *divergent; /* per PC: issues at which lanes diverged */
};

/* A launch, or the part of one that a host thread runs. */
struct emulation {
    const struct linked *linked;
    const struct exec_launch *launch;
    uint64_t first_block, end_block; /* [first, end) */
    struct block_supply *supply;     /* whoever comes takes blocks here; NULL: they are all ours */
    uint64_t alone_ns;               /* after that long and between two blocks it may end early; 0: it does not */
    struct memory *memory;
    struct exec_counts *counts;
    struct exec_output *output;
    const struct emulate_options *options;
    struct emulate_stats *stats; /* `blocks` says how many have run */
};

/* Blocks run to their end, or STATUS_STOPPED with the reason in the report. */
enum status emulate(struct arena *arena, const struct emulation *emulation, struct report *report);

#endif
