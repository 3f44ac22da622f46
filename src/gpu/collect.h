/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch counted: the parts' counters brought together, at its end and over its cycles. */
#ifndef HEDDLE_GPU_COLLECT_H
#define HEDDLE_GPU_COLLECT_H

#include "gpu/state.h"

/* Sleeping parts are brought up to the end of the last round, so that what they have counted and done is the same however
 * often they were woken. */
void collect_settle(const struct launch_state *state, uint64_t cycle);
/* Counters of the launch's own parts. */
void collect_launch(const struct launch_state *state, uint64_t cycles, struct gpu_stats *stats);
/* Counters of what outlives launches, from the machine's beginning to a cycle of this launch; NO_CYCLE: none began. */
void collect_memory(const struct gpu *gpu, uint64_t end, struct gpu_stats *stats);
/* The same from `before` on. */
void collect_memory_since(const struct gpu *gpu, const struct gpu_stats *before, uint64_t end, struct gpu_stats *stats);
/* Own counters of the policies of caches that outlive launches. */
void collect_policies(const struct gpu *gpu, struct gpu_stats *stats);

/* The series. Before the first block: intervals are whole rounds, so that samples fall on the ends of rounds. */
void collect_begin(struct launch_state *state);
/* All parts are at this cycle. */
void collect_sample(struct launch_state *state, uint64_t cycle);
void collect_end(struct launch_state *state, uint64_t cycle, struct arena *kept, struct gpu_stats *stats);

#endif
