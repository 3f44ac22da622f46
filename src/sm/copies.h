/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous copies that warps have under way. */
#ifndef HEDDLE_SM_COPIES_H
#define HEDDLE_SM_COPIES_H

#include "sm/state.h"

/* Asynchronous copies of a warp by group, in a ring: a group that comes round to one that is still under way waits with it. */
enum { COPY_GROUPS = 16 };
struct sm_copies {
    uint16_t under_way[COPY_GROUPS];
    uint8_t open; /* the group that the next copy belongs to */
};

/* flight.c: does one of its asynchronous copies that must be done lack its data? `allowed` as in struct timed. */
SM_STAGE bool sm_waits_for_copies(const struct sm *sm, unsigned warp, uint32_t allowed);
/* An asynchronous copy has been issued, or its group closed. */
SM_STAGE void sm_note_copy(struct sm *sm, unsigned w, struct flight *flight, enum timed_order order);
/* A flight has been written back. */
static inline void sm_end_copy(struct sm *sm, const struct flight *flight, const struct timed *timed) {
    if (timed->order == ORDER_COPY)
        sm->copies[flight->warp].under_way[flight->copies]--;
}

#endif
