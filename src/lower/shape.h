/* SPDX-License-Identifier: Apache-2.0 */
/* Loops made regular and tokens for control flow: what the parts share. */
#ifndef HEDDLE_LOWER_SHAPE_H
#define HEDDLE_LOWER_SHAPE_H

#include "lower/machine_flow.h"

struct shaper {
    struct machine_kernel *machine;
    struct {
        uint32_t *items;
        unsigned count, capacity;
    } homes; /* of blocks made after `flow` was found, in order: the innermost loop */
    struct arena *arena;
    struct machine_flow flow;
    uint32_t *meeting; /* by block that gets an SSY: where its sides meet, else NO_BLOCK */
    uint32_t *scope;   /* by block: the innermost branch with an SSY around it, else NO_BLOCK */
    bool *ragged;      /* by loop: sides may reach its end one after the other */
    bool is_new;       /* a branch at which lanes agree needs a barrier after all */
};

/* A block that only ends: lanes that go there end where they are. */
static inline bool is_exit(const struct machine_kernel *machine, uint32_t b) {
    const struct machine_block *block = &machine->blocks.items[b];
    return block->end == END_EXIT && block->code.count == 0;
}

static inline void redirect(struct machine_block *block, uint32_t from, uint32_t to) {
    if (block->next == from)
        block->next = to;
    if (block->taken == from)
        block->taken = to;
}

/* A block with nothing in it that goes to `next`. */
uint32_t shape_block(struct machine_kernel *machine, uint32_t next, const struct inst *at);
/* Every loop has one entry, one block that goes back and one place behind it; finds `flow`. */
void shape_loops(struct shaper *s);

#endif
