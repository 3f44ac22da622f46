/* What the machine in time, and the functional run, ask of whoever knows what instructions do.
 * exec/ executes threads; trace/ replays them. */
#ifndef HEDDLE_ISA_EXECUTOR_H
#define HEDDLE_ISA_EXECUTOR_H

#include "isa/group.h"

enum flow {
    FLOW_NEXT,    /* all lanes go on at pc + 1 */
    FLOW_BRANCH,  /* `taken` lanes go to target, the rest to pc + 1 */
    FLOW_MULTI,   /* each lane goes to next[lane]: brx */
    FLOW_CALL,    /* lanes in `taken` go to next[lane], one call deeper; the rest to pc + 1 */
    FLOW_RETURN,  /* lanes in `taken` go to next[lane], one call up; the rest to pc + 1 */
    FLOW_EXIT,    /* `taken` lanes have ended; the rest go on at pc + 1 */
    FLOW_BARRIER, /* `taken` lanes have arrived at a block barrier; the others go on */
    FLOW_FAULT,   /* the launch cannot go on; the executor holds the report */
};

/* What an issue, or a straight run of them, did. */
struct executed {
    enum flow flow;
    uint32_t pc;     /* of the last instruction issued */
    uint32_t issues; /* how many were issued */
    uint32_t lanes;  /* active lanes at the last */
    uint32_t taken;
    uint32_t target;
    uint32_t next[LANES_MAX];
    /* FLOW_BARRIER */
    uint32_t barrier, expected; /* expected 0: every thread of the block that has not ended */
    uint32_t predicate;         /* bar.red: lanes whose predicate holds */
};

#endif
