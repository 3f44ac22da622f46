/* SPDX-License-Identifier: Apache-2.0 */
/* The issues of a launch in time, kept to be looked at one by one. */
#ifndef HEDDLE_STUDY_STEPS_H
#define HEDDLE_STUDY_STEPS_H

#include "sm/sm.h"

/* Which issues are kept. */
struct steps_filter {
    bool one_block, one_warp, one_sm; /* else all */
    uint64_t block;
    unsigned warp; /* of its block: an issue with a thread of it */
    uint32_t sm;
    uint64_t from_cycle;
    bool from_divergence; /* of lanes, the first that is watched */
    uint64_t most;
};

/* A slot that did not issue: of the same block or, where an SM is watched, of any. */
struct step_other {
    uint64_t block;
    unsigned warp; /* of the block; where groups form anew, that of its first lane */
    uint32_t pc, lanes;
    enum sm_wait wait;
};

struct recorded_step {
    uint64_t cycle, block;
    uint32_t sm, pc, lanes, warp_size;
    uint16_t threads[LANES_MAX]; /* of each lane, numbered within the block */
    uint32_t next[LANES_MAX];    /* PC of each lane afterwards; NO_PC: it has ended */
    bool diverged;
    struct group_row *rows; /* of the mechanism afterwards, for the warp of the first lane; threads of the block */
    struct step_other *others;
    unsigned row_count, other_count;
};

struct steps {
    struct arena *arena;
    struct steps_filter filter;
    struct sm_observer observer; /* for struct launch */
    bool full;
    struct recorded_step *items;
    unsigned count, capacity;
};

void steps_create(struct steps *steps, struct arena *arena, const struct steps_filter *filter);
/* The warp of its block that a lane's thread belongs to. */
static inline unsigned step_warp(const struct recorded_step *step, unsigned lane) {
    return step->threads[lane] / step->warp_size;
}

#endif
