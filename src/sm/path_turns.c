/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of a warp that take turns: one is active, the others are parked in their slots. The active one gives way when it is gone, and,
 * where the others can go on, while it waits for data that the L1 had not and nothing of its scheduler can issue. */
#include "sm/issue.h"
#include "sm/path_scoreboard.h"

/* It is in no set that issues or fetches; whether it waits for memory is found out when it is its turn. */
void sm_park_path(struct sm *sm, unsigned slot) {
    struct sm_warp *warp = &SETS(sm)->warps[slot];
    sm_clear_ready(sm, slot);
    SETS(sm)->wants_fetch &= ~set_of(slot);
    SETS(sm)->stalled_long |= set_of(slot);
    sm_set_wait(sm, slot, path_find_wait(sm, slot, &sm->timed[warp->pc]) == WAIT_MEMORY ? WAIT_MEMORY : WAIT_TURN);
}

static void make_active(struct sm *sm, unsigned w, unsigned path) {
    struct path_slots *paths = sm->paths;
    const unsigned slot = path * paths->stride + w;
    struct sm_warp *warp = &SETS(sm)->warps[slot];
    paths->active[w] = (uint8_t)path, paths->loaded[w] = false;
    if (paths->turns.refetches) {
        warp->wrong_path |= warp->fetching;
        warp->buffer_pc = warp->buffer_end = warp->pc;
    }
    SETS(sm)->front->consider(sm, slot);
}

/* The warp's paths, but for those that wait for memory if `ready`; bit k for path k. */
static uint32_t paths_here(struct sm *sm, unsigned w, bool ready) {
    uint32_t here = 0;
    for (unsigned k = 0; k < sm->paths->count; k++) {
        const unsigned slot = k * sm->paths->stride + w;
        if (path_is_here(sm, slot) &&
            !(ready && path_find_wait(sm, slot, &sm->timed[SETS(sm)->warps[slot].pc]) == WAIT_MEMORY))
            here |= UINT32_C(1) << k;
    }
    return here;
}

/* Where the warp has none yet: nothing. */
void sm_activate_path(struct sm *sm, unsigned w) {
    const unsigned active = sm->paths->active[w] * sm->paths->stride + w;
    const uint32_t here = paths_here(sm, w, false);
    if (path_is_here(sm, active) || !here)
        return;
    make_active(sm, w,
                sm->paths->ops->pick(sm->control, w,
                                     here)); /* the mechanism has heard of all: it has just changed what is here */
}

/* Does its active path wait for data that the L1 had not? */
static bool is_stalled(const struct sm *sm, unsigned w) {
    const unsigned slot = sm->paths->active[w] * sm->paths->stride + w;
    const bool yields = sm->paths->turns.yields && sm->paths->loaded[w] && SETS(sm)->warps[w].memory_in_flight;
    return path_is_here(sm, slot) && !set_has(SETS(sm)->near, w) &&
           (SETS(sm)->warps[slot].stage == WAIT_MEMORY || yields);
}

static bool enough_stalled(const struct path_slots *paths, unsigned stalled, unsigned alive) {
    return paths->turns.stalled == STALLED_ANY    ? stalled > 0
           : paths->turns.stalled == STALLED_HALF ? 2 * stalled >= alive
                                                  : stalled == alive;
}

/* One warp of the scheduler at most. */
static void give_way(struct sm *sm, unsigned scheduler) {
    unsigned stalled = 0, alive = 0;
    for (unsigned w = scheduler; w < sm->warp_count; w += sm->params.schedulers) {
        alive += sm->paths->alive[w];
        stalled += sm->paths->alive[w] && is_stalled(sm, w);
    }
    if (!stalled || !enough_stalled(sm->paths, stalled, alive))
        return;
    for (unsigned w = scheduler; w < sm->warp_count; w += sm->params.schedulers) {
        if (!sm->paths->alive[w] || !is_stalled(sm, w))
            continue;
        const unsigned from = sm->paths->active[w];
        const uint32_t others = paths_here(sm, w, true) & ~(UINT32_C(1) << from);
        if (!others)
            continue;
        sm_tell_progress(sm, w);
        const unsigned to = sm->paths->ops->pick(sm->control, w, others);
        make_active(sm, w, to);
        sm_park_path(sm, from * sm->paths->stride + w);
        sm->paths->ops->turning->gave_way(sm->control, w, to);
        return;
    }
}

void sm_give_way(struct sm *sm) {
    const slot_set possible = sm_issuable(sm);
    for (unsigned s = 0; s < sm->params.schedulers; s++)
        if (!(possible & SETS(sm)->scheduler_warps[s]))
            give_way(sm, s);
    if (possible)
        sm->mechanism_wake = sm->now + 1; /* it may be the last that could issue */
}
