/* SPDX-License-Identifier: Apache-2.0 */
/* What the front ends share of issue: cycles in which nothing issues, branches that are counted. */
#include "sm/book.h"

void sm_count_divergence(struct sm *sm, const struct executed *executed) {
    const bool diverged = executed_diverges(executed);
    sm->divergent_branches += diverged;
    sm->divergent[executed->pc] += diverged;
}

void sm_end_empty(struct sm *sm) {
    if (!sm->empty.open)
        return;
    for (unsigned s = 0; s < sm->params.schedulers; s++)
        sm_book(sm, sm->empty.to[s], sm->now - sm->empty.since);
    sm->empty.open = false;
}

void sm_begin_empty(struct sm *sm) {
    sm_end_empty(sm);
    sm->empty.open = true, sm->empty.since = sm->now, sm->empty.no_flight = sm->free_flight == NO_FLIGHT;
    sm->empty.used = sm->used, sm->empty.ready = sm->ready, sm->empty.stalled_long = sm->stalled_long;
    const bool memory = sm->front->all_at_memory(sm);
    for (unsigned s = 0; s < sm->params.schedulers; s++)
        sm->empty.to[s] = sm_empty(sm, s, sm->ready & sm->scheduler_warps[s], memory);
}
