/* SPDX-License-Identifier: Apache-2.0 */
/* What goes down the pipeline in one issue: one PC and at most one thread per lane.
 * The only word that pipeline, executor and divergence mechanism share. */
#ifndef HEDDLE_SIMT_GROUP_H
#define HEDDLE_SIMT_GROUP_H

#include "isa/inst.h"

/* Slots are where groups stand that could issue; there are as many warps only where warps keep their slots. Each warp has
 * LANES_MAX thread slots, of which the first ones hold threads: as many as the machine's warps have. */
enum { ISSUE_SLOTS_MAX = 64, WARPS_MAX = 128 };

struct group {
    uint32_t pc;
    uint32_t lanes;   /* active lanes, never 0 when offered */
    uint32_t stop_pc; /* a straight run ends before this PC (NO_PC: only at control flow) */
    bool rejoins;     /* in time: the lanes have executed the instruction before; its issue only takes the slot */
    bool asks;        /* in time: its load or store has still to say who misses */
    uint8_t accesses; /* in time: loads and stores of the warp that lanes of it have fallen behind at */
    /* The thread slot of each active lane, LANES_MAX in all; NULL: lane i is thread i of the warp whose number the issue slot has. The
     * mechanism's, and good until it is told that the group was issued. */
    const uint16_t *threads;
    uint32_t also; /* where threads are named: further threads for which this issue does the same, and that count */
};

/* A line of what a mechanism holds, for those who watch it. */
struct group_row {
    const char *what;   /* "stack", "forming" */
    uint32_t pc, until; /* where its lanes go on, and meet others; NO_PC: nowhere yet */
    uint32_t lanes;
    const uint16_t *threads; /* of each lane; NULL: the warp's own */
};

#endif
