/* SPDX-License-Identifier: Apache-2.0 */
/* What the front ends of warps that keep their slots share, whatever the pipeline: warps.c. */
#ifndef HEDDLE_SM_WARPS_H
#define HEDDLE_SM_WARPS_H

#include "sm/state.h"

/* As struct sm_front: of whole warps, and of lanes that wait on their own. */
SM_STAGE void sm_hold_whole(struct sm *sm, unsigned warp, uint32_t pc, uint32_t lanes);
SM_STAGE void sm_hold_path(struct sm *sm, unsigned warp, uint32_t pc, uint32_t lanes);
SM_STAGE slot_set sm_go_on_whole(struct sm *sm, unsigned warp, uint32_t lanes);
SM_STAGE slot_set sm_go_on_path(struct sm *sm, unsigned warp, uint32_t lanes);
/* Does all that has not ended wait for memory, or at a barrier? */
SM_STAGE bool sm_warps_at_memory(const struct sm *sm);
SM_STAGE bool sm_warp_is_here(const struct sm *sm, unsigned warp);

/* The loop of an SM whose launch has clusters. */
SM_STAGE bool sm_run_whole_in_clusters(struct sm *sm, uint64_t from, uint64_t to);

#endif
