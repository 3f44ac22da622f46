/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that have come, in the loop over cycles. */
#ifndef HEDDLE_SM_FETCH_H
#define HEDDLE_SM_FETCH_H

#include "sm/state.h"

static inline __attribute__((always_inline)) void sm_fetched(struct sm *sm, const struct sm_front *front,
                                                             unsigned warp) {
    struct sm_warp *w = &SETS(sm)->warps[warp];
    if (!w->fetching) {
        if (w->wrong_path && sm->kept) /* the fetch in vain has not had its turn */
            sm_know_outcome(sm, warp);
        return;
    }
    w->fetching = false;
    w->buffer_pc = w->pc;
    if (w->wrong_path) { /* issue finds out now */
        if (sm->kept) {
            sm_know_outcome(sm, warp);
            return;
        }
        w->wrong_path = false;
        w->buffer_end = w->pc;
        front->consider(sm, warp);
        return;
    }
    const uint32_t left = (~w->pc & sm->line_mask) + 1;
    w->buffer_end = w->pc + (left < sm->params.fetch_width ? left : sm->params.fetch_width);
    front->fetched(sm, warp);
}

#endif
