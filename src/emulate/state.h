/* SPDX-License-Identifier: Apache-2.0 */
/* A functional run under way, and what is reported when it stops. */
#ifndef HEDDLE_EMULATE_STATE_H
#define HEDDLE_EMULATE_STATE_H

#include "base/rng.h"
#include "emulate/emulate.h"
#include "simt/waiting.h"

struct emulated_warp {
    bool done;
    bool waits; /* for other threads: nothing of it can issue */
};

/* A block under way. */
struct resident {
    bool busy;
    struct exec *exec;
    void *control; /* the mechanism's state */
    struct emulated_warp *warps;
    struct executor executor; /* what a mechanism that forms groups may ask of threads */
    unsigned next_slot, warps_left;
    uint64_t block;
    struct waiting_block waiting;
    struct resident *cluster; /* the first of the places whose blocks are one cluster; NULL: the block is alone */
    uint32_t blocks_left;     /* of the first: blocks of the cluster that have not ended */
    bool stuck;               /* of a cluster: in its last turn nothing of it could issue */
};

struct emulation_run {
    struct arena *arena;
    const struct emulation *emulation;
    const struct linked *linked;
    const struct exec_launch *launch;
    struct memory *memory;
    struct exec_counts *counts;
    struct exec_output *output;
    const struct emulate_options *options;
    struct emulate_stats *stats;
    struct report *report;
    unsigned warp_count;
    uint32_t cluster_blocks;        /* of a cluster; what is taken and begun are clusters where it is not 1 */
    uint32_t full_lanes;            /* every lane that a warp can have */
    uint64_t next_block, end_block; /* that this run has taken and not begun */
    uint64_t idle_turns;
    struct rng chance;            /* of emulate_options.order */
    unsigned busy;                /* places */
    struct waiting_caller caller; /* without its owner */
};

/* ---- reports.c: why it stopped, with where the threads of the block stand ---- */

/* What the executor refused to a warp. */
enum status emulate_report_fault(struct emulation_run *run, const struct resident *resident, unsigned w);
/* Every warp of the block waits. */
enum status emulate_report_deadlock(struct emulation_run *run, const struct resident *resident);
/* Turns without progress: emulate_options.livelock_turns. */
enum status emulate_report_livelock(struct emulation_run *run, const struct resident *resident);
/* emulate_options.max_instructions */
enum status emulate_report_limit(struct emulation_run *run, const struct resident *resident);

#endif
