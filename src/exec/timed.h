/* SPDX-License-Identifier: Apache-2.0 */
/* The executor of one SM for runs in time: several blocks at once, stores that others see at the end of an epoch,
 * atomics that memory performs. */
#ifndef HEDDLE_EXEC_TIMED_H
#define HEDDLE_EXEC_TIMED_H

#include "exec/exec.h"

struct core;

/* What the SMs of a launch have in common. */
struct core_common {
    const struct linked *linked;
    const struct exec_launch *launch;
    struct memory *memory;
    struct exec_counts *counts; /* one for each host thread */
    uint8_t *uniform;           /* exec_uniform of the launch */
    unsigned places;            /* blocks at a time */
    uint32_t tickets;           /* atomics on their way at a time */
};

/* `number`: of the SM, whose local memory lies apart from that of the others. */
struct core *core_create(struct arena *arena, const struct core_common *common, uint32_t number);
struct executor core_executor(struct core *core);
/* After FLOW_FAULT at that warp: its block's executor. */
const struct exec *core_exec(const struct core *core, unsigned warp);
/* What its threads have printed. */
const struct exec_output *core_output(const struct core *core);

#endif
