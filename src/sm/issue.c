/* SPDX-License-Identifier: Apache-2.0 */
/* What the front ends share of issue: cycles in which nothing issues, branches that are counted. */
#include "sm/book.h"

void sm_count_divergence(struct sm *sm, const struct executed *executed) {
    const bool diverged = executed_diverges(executed);
    sm->divergent_branches += diverged;
    sm->divergent[executed->pc] += diverged;
}

void sm_end_empty(struct sm *sm) {
    if (!SETS(sm)->empty.open)
        return;
    for (unsigned s = 0; s < sm->params.schedulers; s++)
        sm_book(sm, SETS(sm)->empty.to[s], sm->now - SETS(sm)->empty.since);
    SETS(sm)->empty.open = false;
}

void sm_begin_empty(struct sm *sm) {
    sm_end_empty(sm);
    SETS(sm)->empty.open = true, SETS(sm)->empty.since = sm->now,
    SETS(sm)->empty.no_flight = sm->free_flight == NO_FLIGHT;
    SETS(sm)->empty.used = SETS(sm)->used, SETS(sm)->empty.ready = SETS(sm)->ready,
    SETS(sm)->empty.stalled_long = SETS(sm)->stalled_long;
    const bool memory = SETS(sm)->front->all_at_memory(sm);
    for (unsigned s = 0; s < sm->params.schedulers; s++)
        SETS(sm)->empty.to[s] = sm_empty(sm, s, SETS(sm)->ready & SETS(sm)->scheduler_warps[s], memory);
}
