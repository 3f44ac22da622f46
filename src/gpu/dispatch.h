/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a launch go to the SMs, which are made with their first. */
#ifndef HEDDLE_GPU_DISPATCH_H
#define HEDDLE_GPU_DISPATCH_H

#include "gpu/state.h"

/* SMs in turn, one block each, while one has a place. Before the cycle. */
enum status dispatch_blocks(struct launch_state *state, uint64_t cycle, struct report *report);

#endif
