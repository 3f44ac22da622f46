/* SPDX-License-Identifier: Apache-2.0 */
#include "result/timeline.h"

#include <string.h>

/* An issue slot as it was after the last cycle looked at. */
struct timeline_slot {
    bool waits;           /* for `wait`, since `begin` */
    enum sm_wait wait;    /* of a wait that is kept */
    uint64_t begin, busy; /* busy: issues until this cycle */
    uint64_t since;       /* when it last issued, or was first used: what it issues next waits from here on */
    bool used;
};

static bool is_within(const struct timeline *timeline, uint64_t cycle) {
    return cycle >= timeline->window.from && cycle < timeline->window.to && !timeline->full;
}

static bool count_one(struct timeline *timeline) {
    timeline->full = timeline->full || timeline->kept >= TIMELINE_MOST;
    timeline->kept += !timeline->full;
    return !timeline->full;
}

static struct timeline_sm *sm_of(struct timeline *timeline, const struct sm *sm) {
    struct timeline_sm *out = &timeline->sms[sm_shape_of(sm)->id];
    if (!out->slots) {
        out->slot_count = sm_slot_count(sm);
        out->slots = ARENA_ARRAY(timeline->arena, struct timeline_slot, out->slot_count);
    }
    return out;
}

static bool is_watched(const struct timeline *timeline, const struct sm *sm) {
    return !timeline->window.one_sm || sm_shape_of(sm)->id == timeline->window.sm;
}

static bool is_wanted_block(const struct timeline *timeline, uint64_t block) {
    return !timeline->window.one_block || block == timeline->window.block;
}

/* ---- waits ---- */

static void end_wait(struct timeline *timeline, struct timeline_sm *sm, unsigned slot, uint64_t cycle) {
    struct timeline_slot *at = &sm->slots[slot];
    const struct timeline_window *window = &timeline->window;
    const uint64_t begin = at->begin > window->from ? at->begin : window->from;
    const uint64_t end = cycle < window->to ? cycle : window->to;
    if (at->waits && begin < end && count_one(timeline))
        *ARENA_PUSH(timeline->arena, &sm->waits) =
            (struct timeline_wait){.begin = begin, .end = end, .slot = slot, .wait = at->wait};
    at->waits = false;
}

/* The slot after a cycle in which it did not issue. */
static void look_at_slot(struct timeline *timeline, struct timeline_sm *out, const struct sm *sm, unsigned slot,
                         uint64_t cycle) {
    struct timeline_slot *at = &out->slots[slot];
    const struct sm_slot_view view = sm_view_slot(sm, slot);
    if (view.used && !at->used)
        at->since = cycle;
    at->used = view.used;
    if (cycle < at->busy)
        return;
    const unsigned warp = view.threads && view.lanes ? view.threads[bits_first(view.lanes)] / LANES_MAX : slot;
    const bool waits = view.used && is_wanted_block(timeline, sm_block_of(sm, warp));
    if (at->waits && waits && view.wait == at->wait)
        return;
    end_wait(timeline, out, slot, cycle);
    at->waits = waits, at->wait = view.wait, at->begin = cycle;
}

/* ---- instructions ---- */

static void end_flight(struct timeline_sm *sm, uint32_t flight, uint64_t cycle) {
    struct timeline_issue *issue = &sm->issues.items[sm->open[flight] - 1];
    issue->end = cycle > issue->end ? cycle : issue->end;
    sm->open[flight] = 0;
    sm->opened[flight / 64] &= ~(UINT64_C(1) << flight % 64);
}

static void look_at_flight(struct timeline_sm *out, const struct sm *sm, uint32_t flight, bool used, uint64_t cycle) {
    struct timeline_issue *issue = &out->issues.items[out->open[flight] - 1];
    const struct sm_flight_view view = sm_view_flight(sm, flight);
    if (!used || view.pc != issue->pc || view.slot != sm_warp_of(sm, issue->slot)) {
        end_flight(out, flight, cycle);
        return;
    }
    issue->is_memory = view.is_memory;
    if (view.outstanding && issue->asked == TIMELINE_NO_ASK)
        issue->asked = cycle;
}

static void look_at_flights(struct timeline_sm *out, const struct sm *sm, uint64_t cycle) {
    uint64_t used[SM_FLIGHTS / 64];
    sm_flights(sm, used);
    for (uint32_t word = 0; word < SM_FLIGHTS / 64; word++)
        for (uint64_t rest = out->opened[word]; rest; rest &= rest - 1) {
            const unsigned bit = bits_first64(rest);
            look_at_flight(out, sm, word * 64 + bit, used[word] >> bit & 1, cycle);
        }
}

static void issued(void *self, const struct sm *sm, const struct sm_issue *issue) {
    struct timeline *timeline = self;
    if (!is_watched(timeline, sm))
        return;
    struct timeline_sm *out = sm_of(timeline, sm);
    struct timeline_slot *slot = &out->slots[issue->slot];
    const struct group *group = &issue->group;
    const uint64_t cycle = timeline->begin + issue->cycle;
    const unsigned warp =
        group->threads ? group->threads[bits_first(group->lanes)] / LANES_MAX : sm_warp_of(sm, issue->slot);
    const uint64_t block = sm_block_of(sm, warp), since = slot->since < cycle ? slot->since : cycle;
    if (issue->flight < SM_FLIGHTS && out->open[issue->flight]) /* written back in this cycle */
        end_flight(out, issue->flight, cycle);
    end_wait(timeline, out, issue->slot, cycle);
    slot->since = slot->busy = cycle + timeline->issue_cycles;
    if (!is_within(timeline, cycle) || !is_wanted_block(timeline, block) || !count_one(timeline))
        return;
    *ARENA_PUSH(timeline->arena, &out->issues) =
        (struct timeline_issue){.since = since > timeline->window.from ? since : timeline->window.from,
                                .cycle = cycle,
                                .end = cycle + timeline->issue_cycles,
                                .asked = TIMELINE_NO_ASK,
                                .block = block,
                                .pc = group->pc,
                                .lanes = group->lanes,
                                .slot = issue->slot,
                                .launch = timeline->launch};
    if (issue->flight < SM_FLIGHTS)
        out->open[issue->flight] = out->issues.count, out->opened[issue->flight / 64] |= UINT64_C(1)
                                                                                         << issue->flight % 64;
}

static void passed(void *self, const struct sm *sm, uint64_t cycle) {
    struct timeline *timeline = self;
    const uint64_t now = timeline->begin + cycle;
    if (!is_watched(timeline, sm))
        return;
    struct timeline_sm *out = sm_of(timeline, sm);
    look_at_flights(out, sm, now);
    for (unsigned slot = 0; slot < out->slot_count; slot++)
        look_at_slot(timeline, out, sm, slot, now);
}

/* ---- a run ---- */

void timeline_create(struct timeline *timeline, struct arena *arena, const struct machine *machine,
                     const struct timeline_window *window) {
    *timeline = (struct timeline){
        .arena = arena,
        .window = *window,
        .sms = ARENA_ARRAY(arena, struct timeline_sm, machine->sm_count),
        .sm_count = machine->sm_count,
        .issue_cycles = sm_issue_cycles(&machine->sm, machine->warp_size),
    };
    timeline->observer = (struct sm_observer){.self = timeline, .issued = issued, .passed = passed};
}

void timeline_launch_ended(struct timeline *timeline, uint64_t cycles) {
    timeline->begin += cycles;
    timeline->launch++;
    for (uint32_t i = 0; i < timeline->sm_count; i++) {
        struct timeline_sm *sm = &timeline->sms[i];
        for (uint32_t flight = 0; flight < SM_FLIGHTS; flight++)
            if (sm->open[flight])
                end_flight(sm, flight, timeline->begin);
        for (unsigned slot = 0; sm->slots && slot < sm->slot_count; slot++)
            end_wait(timeline, sm, slot, timeline->begin);
        sm->slots = NULL; /* SMs are made anew for every launch */
    }
}
