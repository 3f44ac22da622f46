/* SPDX-License-Identifier: Apache-2.0 */
/* What a slot waits for, and the sets that it is in meanwhile. */
#ifndef HEDDLE_SM_READY_H
#define HEDDLE_SM_READY_H

#include "sm/copies.h"
#include "sm/state.h"

/* The books of its present wait are closed where another begins. */
static inline void sm_set_wait(struct sm *sm, unsigned w, enum sm_wait wait) {
    struct sm_warp *warp = &SETS(sm)->warps[w];
    if (warp->stage == wait)
        return;
    const uint64_t cycle = sm->now > warp->since ? sm->now : warp->since;
    sm->inst_stats[warp->pc].waits[warp->stage] += cycle - warp->since;
    warp->stage = (uint8_t)wait;
    warp->since = cycle;
}

static inline void sm_clear_ready(struct sm *sm, unsigned w) {
    struct sm_warp *warp = &SETS(sm)->warps[w];
    if (warp->ready_unit == SM_UNIT_COUNT)
        return;
    SETS(sm)->ready &= ~set_of(w);
    SETS(sm)->ready_for[warp->ready_unit] &= ~set_of(w);
    warp->ready_unit = SM_UNIT_COUNT;
}

static inline void sm_set_ready(struct sm *sm, unsigned w, unsigned unit) {
    struct sm_warp *warp = &SETS(sm)->warps[w];
    if (warp->ready_unit == unit)
        return;
    sm_clear_ready(sm, w);
    SETS(sm)->ready |= set_of(w);
    SETS(sm)->ready_for[unit] |= set_of(w);
    warp->ready_unit = (uint8_t)unit;
}

/* The sets that a warp is in while it waits so. */
static inline void sm_join_sets(struct sm *sm, unsigned w, enum sm_wait wait, unsigned unit) {
    const slot_set bit = set_of(w);
    if (wait == WAIT_TURN)
        sm_set_ready(sm, w, unit);
    else
        sm_clear_ready(sm, w);
    if (wait == WAIT_MEMORY)
        SETS(sm)->stalled_long |= bit;
    else
        SETS(sm)->stalled_long &= ~bit;
    if (wait == WAIT_FETCH && !SETS(sm)->warps[w].fetching)
        SETS(sm)->wants_fetch |= bit;
}

/* Whether memory must be quiet before the instruction: fences wait for everything, accesses for the warp's own atomics. */
static inline bool sm_waits_for_order(const struct sm *sm, unsigned w, const struct timed *timed) {
    const struct sm_warp *warp = &SETS(sm)->warps[w];
    if (timed->order == ORDER_FENCE)
        return warp->memory_in_flight || sm->places[w / sm->shape.warps_per_place].stores;
    if (timed->order == ORDER_COPIES)
        return sm_waits_for_copies(sm, w, timed->parameter);
    return (timed->order == ORDER_AFTER_ATOMICS || timed->order == ORDER_COPY) && warp->atomics_in_flight;
}

/* What the instruction's registers wait for; WAIT_TURN: nothing. */
static inline enum sm_wait sm_find_hazard(const struct sm_pending *pending, const struct timed *timed) {
    const struct sm_pending *first = &pending[timed->word];
    enum sm_wait wait = !(first->any & timed->all)   ? WAIT_TURN
                        : first->memory & timed->all ? WAIT_MEMORY
                                                     : WAIT_REGISTER;
    for (unsigned i = 0; i < timed->more_count && wait != WAIT_MEMORY; i++) {
        const struct timed_word *word = &timed->more[i];
        if (pending[word->word].any & word->all)
            wait = pending[word->word].memory & word->all ? WAIT_MEMORY : WAIT_REGISTER;
    }
    return wait;
}

/* What holds back an instruction that has been fetched; WAIT_TURN: nothing of its own. */
static inline enum sm_wait sm_find_wait(const struct sm *sm, unsigned w, const struct timed *timed) {
    const struct sm_warp *warp = &SETS(sm)->warps[w];
    if (sm->params.pipeline != SM_SCOREBOARD && warp->in_flight)
        return sm->params.memory_in_flight ? sm_find_wait_beside(sm, w, timed)
               : warp->memory_in_flight    ? WAIT_MEMORY
                                           : WAIT_REGISTER;
    if (timed->order != ORDER_NONE && sm_waits_for_order(sm, w, timed))
        return WAIT_MEMORY;
    return sm_find_hazard(warp->pending, timed);
}

#endif
