/* SPDX-License-Identifier: Apache-2.0 */
/* A second instruction in a scheduler's turn, on units that the first leaves free: of another path of its warp, or of another warp.
 *
 * Lanes have register files of their own, so both read their operands when the first does, and where both need units of one kind they have one between them: they
 * are a bundle (sm_book_flight). */
#include "sm/book.h"
#include "sm/path_scoreboard.h"
#include "sm/scheduler/scheduler.h"

/* What may issue beside an instruction that has this unit: what could without it, and still can. */
static slot_set candidates(const struct sm *sm, unsigned unit, slot_set possible) {
    slot_set ready = possible & SETS(sm)->ready;
    if (sm->free_flight == NO_FLIGHT)
        return 0;
    if (unit == SM_UNIT_MEMORY)
        return ready & ~SETS(sm)->ready_for[SM_UNIT_MEMORY] & ~sm_without_room(sm);
    ready &= ~sm_without_room(sm) | SETS(sm)->ready_for[unit];
    return sm->sees_memory ? ready & ~SETS(sm)->ready_for[SM_UNIT_MEMORY] : ready;
}

static inline bool waits_for_lanes(const struct sm *sm, unsigned slot) {
    return inst_meets(&sm->module->code[SETS(sm)->warps[slot].pc]);
}

/* Most lanes first, then the older. */
static unsigned find_of_warps(const struct sm *sm, unsigned w, uint32_t taken, slot_set ready) {
    const unsigned schedulers = sm->params.schedulers, sets = sm->paths->sets;
    unsigned best = SCHEDULER_NONE, most = 0;
    for (slot_set rest = ready; rest; rest &= rest - 1) {
        const unsigned slot = set_first(rest), other = path_home(sm, slot);
        const uint32_t lanes = SETS(sm)->warps[slot].group.lanes;
        const unsigned count = bits_count(lanes);
        if (other == w || count < most || other / schedulers % sets != w / schedulers % sets)
            continue;
        if (path_units(sm, other, lanes) & taken || waits_for_lanes(sm, slot))
            continue;
        if (count > most || set_has(SETS(sm)->older[best], slot))
            best = slot, most = count;
    }
    return best;
}

unsigned sm_find_second(const struct sm *sm, unsigned first, uint32_t pc, uint32_t lanes, slot_set possible) {
    const struct path_slots *paths = sm->paths;
    const unsigned w = path_home(sm, first);
    const slot_set ready = candidates(sm, sm->timed[pc].unit, possible & ~set_of(first));
    for (unsigned k = 0; ready && paths->seconds.paths && k < paths->count; k++) {
        const unsigned slot = k * paths->stride + w;
        if (set_has(ready, slot) && !(SETS(sm)->warps[slot].group.lanes & lanes) && !waits_for_lanes(sm, slot))
            return slot;
    }
    return ready && paths->seconds.warps ? find_of_warps(sm, w, path_units(sm, w, lanes), ready) : SCHEDULER_NONE;
}

void sm_launch_beside(struct sm *sm, unsigned w, uint32_t pc, uint32_t lanes, const struct access *access) {
    const struct timed *timed = &sm->timed[pc];
    const uint32_t number = sm_take_flight(sm);
    struct flight *flight = &sm->flights[number];
    flight->pc = pc, flight->warp = (uint8_t)w, flight->lanes = lanes;
    SETS(sm)->warps[w].in_flight++;
    if (timed->order == ORDER_PROGRESS)
        sm->progress[w]++;
    else if (timed->order == ORDER_GUARDS)
        sm_hold_guards(sm, w, number);
    if (timed->unit == SM_UNIT_MEMORY)
        sm_begin_memory(sm, w, number, timed, access);
    else
        sm_set_pending(SETS(sm)->warps[w].pending, timed, false);
    if (sm->lane_tags)
        flight->misses = 0, flight->entire = flight->landed = false;
    sm_book_flight(sm, w, number, access, &sm->paths->bundle);
    if (sm->paths->seconds.together)
        sm_join_access(sm, number, access);
    path_set_pending(sm, w, pc, lanes, access);
}

void sm_issue_two(struct sm *sm, unsigned scheduler, unsigned slot, slot_set possible) {
    struct path_slots *paths = sm->paths;
    const uint32_t pc = SETS(sm)->warps[slot].pc, lanes = SETS(sm)->warps[slot].group.lanes;
    const unsigned w = path_home(sm, slot);
    unsigned count = bits_count(lanes);
    paths->bundle = (struct bundle){.turns = 1};
    sm_issue_path(sm, slot);
    const unsigned second = sm->faulted ? SCHEDULER_NONE : sm_find_second(sm, slot, pc, lanes, possible);
    if (second != SCHEDULER_NONE) {
        const struct sm_warp *warp = &SETS(sm)->warps[second];
        sm->inst_stats[warp->pc].waits[warp->stage] += sm->now - warp->since;
        sm->stats.bundled++;
        count += bits_count(warp->group.lanes);
        paths->ops->beside->issued(sm->control, second, path_home(sm, second) != w);
        sm_issue_path(sm, second);
    }
    sm->scheduler_class[scheduler] = sm_width_class(sm, count);
    sm_count_issued(sm, scheduler, 1);
}
