/* SPDX-License-Identifier: Apache-2.0 */
/* The code of a kernel for sm_75 on while it is laid out. */
#ifndef HEDDLE_LOWER_LAYOUT_TURING_H
#define HEDDLE_LOWER_LAYOUT_TURING_H

#include "lower/machine_flow.h"
#include "lower/machine_turing.h"

struct turing_code {
    struct arena *arena;
    struct {
        struct turing_inst *items;
        unsigned count, capacity;
    } code;
    struct {
        uint32_t *items; /* by instruction: the block it leads to; NO_BLOCK: none. Then: the instruction */
        unsigned count, capacity;
    } targets;
    struct {
        uint32_t *items; /* by instruction: line of the text that it came from, 0: none */
        unsigned count, capacity;
    } lines;
};

/* Says of every instruction which scoreboards it takes and waits for, and after how many cycles the next may issue. Targets
 * are instructions. */
void turing_give_control(struct turing_code *code);
/* Says which operands stay in the operand cache for the next instruction. */
void turing_give_reuse(struct turing_code *code);

#endif
