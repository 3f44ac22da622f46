/* SPDX-License-Identifier: Apache-2.0 */
/* A round of the machine in time: its epochs, on one host thread or several, and what happens at its end. */
#ifndef HEDDLE_GPU_ROUND_H
#define HEDDLE_GPU_ROUND_H

#include "gpu/state.h"

/* A round is as long as the links' latency, whatever the epochs: at its end, and only there, atomics and stores reach
 * memory and blocks are handed out, so that results do not depend on how often links are exchanged. */
enum status round_run(struct launch_state *state, uint64_t from, uint64_t to, struct report *report);

#endif
