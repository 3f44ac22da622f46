/* SPDX-License-Identifier: Apache-2.0 */
/* The turns of an SM's schedulers in a cycle. */
#ifndef HEDDLE_SM_ISSUE_H
#define HEDDLE_SM_ISSUE_H

#include "sm/book.h"
#include "sm/ready.h"

/* One of these slots issues in the scheduler's turn: the turns that this takes; 0: none did, and the slot is booked. */
typedef unsigned sm_issue_one(struct sm *sm, unsigned scheduler, slot_set possible);

/* The slot that issues: its policy's choice; SCHEDULER_NONE, and the slot is booked: none. */
static inline unsigned sm_pick(struct sm *sm, unsigned scheduler, slot_set possible) {
    SETS(sm)->view.ready = possible, SETS(sm)->view.stalled = SETS(sm)->stalled_long;
    if (sm->sees_memory)
        sm_see_memory(sm);
    const unsigned slot = SETS(sm)->scheduler->pick(sm->schedulers[scheduler], &SETS(sm)->view);
    if (slot == SCHEDULER_NONE)
        sm_book_none(sm, possible);
    return slot;
}

static inline void sm_look_again(struct sm *sm, const struct sm_front *front, slot_set slots) {
    for (; slots; slots &= slots - 1)
        front->update(sm, set_first(slots));
}

/* The ready warps whose unit has no room; the others wait for their turn. */
static void set_blocked(struct sm *sm, slot_set blocked) {
    for (slot_set rest = (blocked ^ SETS(sm)->unit_blocked) & SETS(sm)->ready; rest; rest &= rest - 1) {
        const unsigned w = set_first(rest);
        sm_set_wait(sm, w, set_has(blocked, w) ? WAIT_UNIT : WAIT_TURN);
    }
    SETS(sm)->unit_blocked = blocked;
}

/* Nothing issued in the cycle before, and the sets of warps are as they were then. */
static inline bool stays_empty(const struct sm *sm) {
    return SETS(sm)->empty.open && SETS(sm)->empty.used == SETS(sm)->used && SETS(sm)->empty.ready == SETS(sm)->ready &&
           SETS(sm)->empty.stalled_long == SETS(sm)->stalled_long &&
           SETS(sm)->empty.no_flight == (sm->free_flight == NO_FLIGHT);
}

/* Each scheduler has its turn, in which one of its slots issues by `one`: as sm_front.issue, which calls this. In a header so that
 * every front end has the loop with its own issue in it. */
static inline __attribute__((always_inline)) void sm_issue_each(struct sm *sm, const struct sm_front *front,
                                                                sm_issue_one *one) {
    const slot_set ready = SETS(sm)->ready, blocked = sm_without_room(sm);
    slot_set possible = ready & ~blocked;
    if (blocked != SETS(sm)->unit_blocked)
        set_blocked(sm, blocked);
    if (sm->books_later && !possible) {
        if (!stays_empty(sm))
            sm_begin_empty(sm);
        return;
    }
    if (SETS(sm)->empty.open)
        sm_end_empty(sm);
    /* each scheduler is the first to ask for room in its turn */
    unsigned s = (unsigned)(sm->now % sm->params.schedulers);
    for (unsigned n = 0; n < sm->params.schedulers; n++, s = s + 1 < sm->params.schedulers ? s + 1 : 0) {
        if (sm->scheduler_busy[s] > sm->now) {
            sm_count_busy(sm, s, 1);
            continue;
        }
        const slot_set mine = SETS(sm)->scheduler_warps[s];
        if (!(possible & mine)) {
            sm_book(sm, sm_empty(sm, s, ready & mine, front->all_at_memory(sm)), 1);
            continue;
        }
        const unsigned turns = one(sm, s, possible & mine);
        if (!turns)
            continue;
        sm->scheduler_busy[s] = sm->now + (uint64_t)turns * sm->wide;
        if (sm->faulted)
            return;
        possible &= ~sm_without_room(sm); /* for the next scheduler; what became ready waits a cycle */
    }
}

#endif
