/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow of a machine's blocks: order, dominators, natural loops. */
#ifndef HEDDLE_LOWER_MACHINE_FLOW_H
#define HEDDLE_LOWER_MACHINE_FLOW_H

#include "lower/machine.h"

#define NO_BLOCK UINT32_MAX
#define NO_LOOP UINT32_MAX

struct machine_loop {
    uint32_t head, parent; /* parent: loop around it, NO_LOOP */
    uint32_t depth;        /* 1: outermost */
    uint8_t *members;      /* by block */
};

struct machine_flow {
    uint32_t count;  /* of blocks */
    uint32_t *order; /* reachable blocks, each before those it leads to but for loops, loops together */
    uint32_t order_count;
    uint32_t *place;     /* by block: in `order`, NO_BLOCK: not reached */
    uint32_t *dominator; /* immediate, of the head: itself */
    uint32_t *loop_of;   /* innermost loop */
    struct {
        struct machine_loop *items;
        unsigned count, capacity;
    } loops; /* inner ones behind those around them */
    bool irreducible;
};

/* Successors of a block; returns their number. */
unsigned block_successors(const struct machine_block *block, uint32_t to[2]);
/* Ways through blocks that have nothing in them lead on; what is not reached is emptied. */
void flow_clean(struct machine_kernel *machine);
/* The same; blocks that follow each other alone become one. */
void flow_join(struct machine_kernel *machine);
/* Blocks that are found to belong to a loop though they do not lead back get it as their home. */
struct machine_flow flow_find(struct machine_kernel *machine, struct arena *arena);
/* Which branch of block b comes first: the one that lets the other side fall through to `after`, the block behind b; ends and
 * breaks before ways on, loops back before ways out. */
bool flow_taken_first(const struct machine_flow *flow, const struct machine_block *block, uint32_t b, uint32_t after);
bool flow_dominates(const struct machine_flow *flow, uint32_t a, uint32_t b);
static inline bool flow_in_loop(const struct machine_flow *flow, uint32_t loop, uint32_t block) {
    return loop == NO_LOOP || flow->loops.items[loop].members[block];
}
static inline uint32_t flow_depth(const struct machine_flow *flow, uint32_t block) {
    return flow->loop_of[block] == NO_LOOP ? 0 : flow->loops.items[flow->loop_of[block]].depth;
}

#endif
