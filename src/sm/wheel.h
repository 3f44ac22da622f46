/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the cycles to come: a wheel of the near ones. */
#ifndef HEDDLE_SM_WHEEL_H
#define HEDDLE_SM_WHEEL_H

#include "sm/state.h"

/* The wheel's slot for a cycle within its reach. */
static inline struct wheel_slot *sm_slot(struct sm *sm, uint64_t cycle) {
    const unsigned at = (unsigned)(cycle % WHEEL_SLOTS);
    SETS(sm)->wheel_bits[at / 64] |= UINT64_C(1) << at % 64;
    return &SETS(sm)->wheel[at];
}

static inline void sm_write_back_at(struct sm *sm, uint64_t cycle, uint32_t flight) {
    if (cycle - sm->now >= WHEEL_SLOTS) {
        sm_far_event(sm, cycle, EVENT_WRITE_BACK, flight);
        return;
    }
    struct wheel_slot *slot = sm_slot(sm, cycle);
    sm->flights[flight].next = slot->write_backs;
    slot->write_backs = flight + 1;
}

static inline void sm_fetched_at(struct sm *sm, uint64_t cycle, unsigned warp) {
    if (cycle - sm->now >= WHEEL_SLOTS)
        sm_far_event(sm, cycle, EVENT_FETCHED, warp);
    else
        sm_slot(sm, cycle)->fetched |= set_of(warp);
}

static inline void sm_collector_at(struct sm *sm, uint64_t cycle, enum sm_unit unit) {
    if (cycle - sm->now >= WHEEL_SLOTS)
        sm_far_event(sm, cycle, EVENT_COLLECTOR, unit);
    else
        sm_slot(sm, cycle)->collectors += UINT64_C(1) << UNIT_BITS * unit;
}

static inline void sm_event(struct sm *sm, uint64_t cycle, enum event_kind kind, uint32_t value) {
    if (kind == EVENT_WRITE_BACK)
        sm_write_back_at(sm, cycle, value);
    else if (kind == EVENT_COLLECTOR)
        sm_collector_at(sm, cycle, value);
    else
        sm_fetched_at(sm, cycle, value);
}

#endif
