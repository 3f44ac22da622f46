/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a launch go to the SMs, which are made with their first. */
#ifndef HEDDLE_GPU_DISPATCH_H
#define HEDDLE_GPU_DISPATCH_H

#include "gpu/state.h"

/* What launch.block_interval, launch.block_cycles and launch.warp_cycles need; nothing where they are 0. */
void dispatch_create(struct launch_state *state);
/* After this cycle, the first in which a block may be handed out or arrives; NO_CYCLE: none does. */
uint64_t dispatch_next(const struct launch_state *state, uint64_t cycle);
/* SMs in turn, one block each, while one has a place. Before the cycle. */
enum status dispatch_blocks(struct launch_state *state, uint64_t cycle, struct report *report);
/* For gpu/clusters.c: the next SM is made; whether a block may be handed out in the round from `cycle` on, and from when on its SM has it;
 * it is on its way; it is there, where blocks take no time; those whose time has come are there. */
enum status dispatch_make_sm(struct launch_state *state, uint64_t cycle, struct report *report);
bool dispatch_turn(struct launch_state *state, uint64_t cycle, uint64_t *start);
void dispatch_send(struct launch_state *state, const struct coming_block *block);
void dispatch_give(struct launch_state *state, const struct coming_block *block);
void dispatch_deliver(struct launch_state *state, uint64_t cycle);

#endif
