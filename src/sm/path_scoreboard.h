/* SPDX-License-Identifier: Apache-2.0 */
/* The scoreboard by lanes of warps that have several paths in flight. The words of a warp's scoreboard (struct sm_pending) say whether
 * any lane waits for a register; only then the lanes are looked at. */
#ifndef HEDDLE_SM_PATH_SCOREBOARD_H
#define HEDDLE_SM_PATH_SCOREBOARD_H

#include "sm/flight.h"
#include "sm/path_slots.h"
#include "sm/ready.h"

static inline unsigned path_home(const struct sm *sm, unsigned slot) { return sm->paths->home[slot]; }

static inline bool path_is_here(const struct sm *sm, unsigned slot) {
    return set_has(SETS(sm)->used, slot) && SETS(sm)->warps[slot].group.lanes;
}

static inline struct lanes_pending *path_pending(const struct sm *sm, unsigned w, unsigned word) {
    return sm->paths->pending + (size_t)w * sm->paths->registers + (size_t)word * 64;
}

static inline enum sm_wait path_hazard(enum sm_wait wait, const struct lanes_pending *masks, uint64_t registers,
                                       uint32_t lanes) {
    for (; registers && wait != WAIT_MEMORY; registers &= registers - 1) {
        const struct lanes_pending *mask = &masks[bits_first64(registers)];
        if (mask->any & lanes)
            wait = mask->memory & lanes ? WAIT_MEMORY : WAIT_REGISTER;
    }
    return wait;
}

/* Some register of the instruction waits for a write: on its lanes? */
static inline enum sm_wait path_find_hazard(const struct sm *sm, unsigned w, uint32_t lanes,
                                            const struct timed *timed) {
    const struct sm_pending *pending = SETS(sm)->warps[w].pending;
    enum sm_wait wait =
        path_hazard(WAIT_TURN, path_pending(sm, w, timed->word), pending[timed->word].any & timed->all, lanes);
    for (unsigned i = 0; i < timed->more_count; i++) {
        const struct timed_word *word = &timed->more[i];
        wait = path_hazard(wait, path_pending(sm, w, word->word), pending[word->word].any & word->all, lanes);
    }
    return wait;
}

static inline void path_clear_word(struct sm *sm, unsigned w, unsigned word, uint64_t written, uint32_t lanes) {
    struct sm_pending *pending = &SETS(sm)->warps[w].pending[word];
    const uint64_t free = lanes_clear(path_pending(sm, w, word), written, lanes);
    pending->any &= ~free, pending->memory &= ~free;
}

static inline void path_write_back(struct sm *sm, unsigned w, const struct timed *timed, uint32_t lanes) {
    if (!sm->paths->by_lanes) {
        sm_clear_pending(SETS(sm)->warps[w].pending, timed);
        return;
    }
    path_clear_word(sm, w, timed->word, timed->written, lanes);
    for (unsigned i = 0; i < timed->more_count; i++)
        path_clear_word(sm, w, timed->more[i].word, timed->more[i].written, lanes);
}

/* sm.late_guards: its predicates guard now, but for lanes of a newer flight that writes them. */
static inline void path_free_guards(struct sm *sm, uint32_t number) {
    const struct flight *flight = &sm->flights[number];
    const struct timed_guards *guards = &sm->guards.of[flight->pc];
    for (unsigned i = 0; i < guards->count; i++) {
        const uint32_t newer = sm_newer_guard(sm, number, i);
        const uint32_t kept = newer == NO_FLIGHT ? 0 : sm->paths->by_lanes ? sm->flights[newer].lanes : UINT32_MAX;
        if (sm->paths->by_lanes)
            path_clear_word(sm, flight->warp, guards->of[i].word, guards->of[i].bit, flight->lanes & ~kept);
        else if (!kept)
            SETS(sm)->warps[flight->warp].pending[guards->of[i].word].any &= ~guards->of[i].bit;
    }
}

/* What these lanes write is out. */
static inline void path_set_pending(struct sm *sm, unsigned w, uint32_t pc, uint32_t lanes,
                                    const struct access *access) {
    const struct timed *timed = &sm->timed[pc];
    const struct timed_guards *guards = timed->order == ORDER_GUARDS ? &sm->guards.of[pc] : NULL;
    if (!sm->paths->by_lanes)
        return;
    const bool memory = timed->unit == SM_UNIT_MEMORY &&
                        (access->kind != ACCESS_NONE ? access->space != SPACE_SHARED : timed->parameter != 0);
    lanes_set(path_pending(sm, w, timed->word), timed->written, lanes, memory);
    for (unsigned i = 0; i < timed->more_count; i++)
        lanes_set(path_pending(sm, w, timed->more[i].word), timed->more[i].written, lanes, memory);
    for (unsigned i = 0; guards && i < guards->count; i++)
        lanes_set(path_pending(sm, w, guards->of[i].word), guards->of[i].bit, lanes, false);
}

/* The instruction of these lanes is on its way, under the flight that is free first. */
static inline void path_launch(struct sm *sm, unsigned w, uint32_t pc, uint32_t lanes, const struct access *access) {
    sm->flights[sm->free_flight].lanes = lanes;
    sm_launch_flight(sm, w, pc, access);
    path_set_pending(sm, w, pc, lanes, access);
}

static inline enum sm_wait path_find_wait(const struct sm *sm, unsigned slot, const struct timed *timed) {
    const unsigned w = path_home(sm, slot);
    if (timed->order != ORDER_NONE && sm_waits_for_order(sm, w, timed))
        return WAIT_MEMORY;
    const enum sm_wait wait = sm_find_hazard(SETS(sm)->warps[w].pending, timed);
    return wait == WAIT_TURN || !sm->paths->by_lanes
               ? wait
               : path_find_hazard(sm, w, SETS(sm)->warps[slot].group.lanes, timed);
}

#endif
