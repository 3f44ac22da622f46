/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes of a load or store that go on while others of it wait for their data (sm->lane_tags): where warps keep their slot (apart.c), and
 * where they have several paths (path_memory.c). */
#ifndef HEDDLE_SM_APART_H
#define HEDDLE_SM_APART_H

#include "sm/state.h"

/* A transaction of the flight waits for data. */
static inline void sm_note_miss(struct flight *flight, uint32_t lanes) {
    flight->entire |= !lanes || (flight->misses & lanes);
    flight->misses |= lanes;
}

/* sm->slips: what a load or store that has been issued found; lanes of it that go on alone. */
SM_STAGE void sm_looked_up(struct sm *sm, uint32_t flight, uint32_t lanes);
/* A flight that was made for lanes that wait by themselves has come. */
SM_STAGE void sm_arrive_apart(struct sm *sm, uint32_t flight);
/* The flight that waits for these data; NO_FLIGHT: lanes by themselves did. */
SM_STAGE uint32_t sm_take_data(struct sm *sm, uint64_t tag);

/* Where the mechanism divides paths. The accesses of the flight have been looked up; data of lanes of it have come. */
SM_STAGE void sm_divide_load(struct sm *sm, uint32_t flight);
SM_STAGE void sm_note_data(struct sm *sm, uint32_t flight);
/* Before slots issue: where nothing can, paths that wait for part of their data are divided. */
SM_STAGE void sm_revive_paths(struct sm *sm);

#endif
