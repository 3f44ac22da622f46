/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow and registers of a loaded module: basic blocks, immediate post-dominators, loops, liveness. */
#ifndef HEDDLE_ISA_ANALYSIS_H
#define HEDDLE_ISA_ANALYSIS_H

#include "base/status.h"
#include "isa/module.h"

struct block {
    uint32_t first_pc, end_pc;           /* [first, end) */
    uint32_t *successors, *predecessors; /* block indices; successor cfg->block_count = the virtual exit */
    unsigned successor_count, predecessor_count;
    uint32_t post_dominator; /* block index, cfg->block_count = the virtual exit, NO_PC: never reaches it */
    bool reachable;          /* from the entry */
    uint32_t loop_head;      /* block index of the innermost loop's head, NO_PC: in no loop or unreachable */
    uint32_t loop_depth;     /* 0: in no loop; a head counts itself */
    uint32_t place;          /* from 0: before all it leads to, but for loops, and a loop before what follows it */
    uint32_t live_peak;      /* most 32-bit units live at once in the block */
};

/* What a function needs in registers, without its callees. A unit is 32 bits: 64-bit registers count 2, narrower 1. */
struct register_need {
    uint32_t live_units;       /* most units live at one point: no allocation can need fewer */
    uint32_t peak_pc;          /* the first instruction where that many are live */
    uint32_t live[TYPE_COUNT]; /* registers live there, by declared type */
    uint32_t coloured;         /* units after colouring with aligned pairs, the stack pointer included */
    uint32_t predicates;       /* most predicates live at one point */
    bool spills;               /* too many to colour: coloured is live_units, and a real compiler would spill */
};

struct cfg {
    struct block *blocks; /* in PC order, blocks[0] is the entry */
    uint32_t block_count;
    uint32_t loop_count; /* heads of loops */
    bool irreducible;    /* some loop has more than one entry */
    struct register_need registers;
    uint64_t *unwritten; /* bit per register: some path from the entry may read it before writing it */
};

/* Fills inst->reconverge of every branch and indirect branch, inst->place, function->cfg and function->live_registers.
 * STATUS_INVALID when a branch leaves its function or a function has more edges than CFG_EDGES_MAX. */
enum status analyse(struct module *module, struct report *report);
/* Block that holds pc. */
uint32_t cfg_block_at(const struct cfg *cfg, uint32_t pc);
/* The instruction may end the block: lanes diverge, go elsewhere or end here. Calls come back and do not. */
bool inst_ends_block(const struct inst *inst);

/* brx lists are shared between instructions, so the edges of a small hostile file can be quadratic in its size. */
#define CFG_EDGES_MAX (UINT32_C(1) << 24)

#endif
