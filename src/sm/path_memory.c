/* SPDX-License-Identifier: Apache-2.0 */
/* Loads that divide a path: the lanes whose data are there are written back, and go on, before those that wait.
 *
 * A flight is divided as its path is: it stays with the lanes that wait, whose data ask for it, and another is taken for those that go on.
 * Where no flight is free the mechanism is not asked. */
#include "sm/apart.h"
#include "sm/issue.h"
#include "sm/path_scoreboard.h"
#include "sm/wheel.h"

/* Slots that have lanes of the load, and others that could issue. */
static bool others_can_issue(const struct sm *sm, unsigned w, uint32_t lanes) {
    slot_set others = sm_issuable(sm);
    for (unsigned slot = w; slot < sm->slot_count; slot += sm->paths->stride)
        if (SETS(sm)->warps[slot].group.lanes & lanes)
            others &= ~set_of(slot);
    return others != 0;
}

/* The lanes that wait keep the flight, the others have one of their own. */
static void divide_flight(struct sm *sm, uint32_t from) {
    struct flight *waiting = &sm->flights[from];
    const uint32_t number = sm_take_flight(sm);
    struct flight *here = &sm->flights[number];
    const uint64_t at = waiting->done_cycle > sm->now ? waiting->done_cycle : sm->now + 1;
    here->pc = waiting->pc, here->warp = waiting->warp, here->place = waiting->place;
    here->ticket = NO_TICKET;
    here->lanes = waiting->lanes & ~waiting->misses;
    here->misses = 0, here->entire = here->landed = here->is_load = false;
    here->sent = true, here->outstanding = 0;
    waiting->lanes = waiting->misses;
    SETS(sm)->warps[here->warp].in_flight++;
    SETS(sm)->warps[here->warp].memory_in_flight++;
    sm_event(sm, at, EVENT_WRITE_BACK, number);
}

/* The mechanism is asked, if lanes of the load have their data and others wait. */
static void divide_load(struct sm *sm, uint32_t number, bool stalled) {
    const struct flight *flight = &sm->flights[number];
    const unsigned w = flight->warp;
    const uint32_t here = flight->lanes & ~flight->misses;
    if (flight->entire || !here || !flight->misses || !sm->paths->alive[w] || sm->free_flight == NO_FLIGHT)
        return;
    sm_tell_progress(sm, w);
    const uint64_t changed = sm->paths->ops->dividing->divide(sm->control, w, here, flight->misses, stalled);
    if (!changed)
        return;
    divide_flight(sm, number);
    sm_look_again(sm, SETS(sm)->front, sm_slots_of(sm, w, changed));
}

void sm_divide_load(struct sm *sm, uint32_t number) {
    const struct flight *flight = &sm->flights[number];
    if (!flight->is_load || !flight->misses)
        return;
    divide_load(sm, number, !others_can_issue(sm, flight->warp, flight->lanes));
    sm_note_data(sm, number);
}

void sm_note_data(struct sm *sm, uint32_t number) {
    struct path_slots *paths = sm->paths;
    const struct flight *flight = &sm->flights[number];
    if (paths->divides != DIVIDES_WHEN_STALLED || !flight->is_load || !flight->sent)
        return;
    const uint64_t bit = UINT64_C(1) << number % 64;
    if (flight->misses && flight->lanes & ~flight->misses)
        paths->partly[number / 64] |= bit, paths->any_partly = true;
    else
        paths->partly[number / 64] &= ~bit;
}

/* Asked again when more data have come; until then in every cycle, whether something can issue. */
void sm_revive_paths(struct sm *sm) {
    struct path_slots *paths = sm->paths;
    if (sm_issuable(sm)) {
        sm->mechanism_wake = sm->now + 1;
        return;
    }
    paths->any_partly = false;
    for (unsigned word = 0; word < FLIGHTS_MAX / 64; word++)
        for (uint64_t rest = paths->partly[word]; rest; rest &= rest - 1)
            divide_load(sm, word * 64 + bits_first64(rest), true);
    for (unsigned word = 0; word < FLIGHTS_MAX / 64; word++)
        paths->partly[word] = 0;
}
