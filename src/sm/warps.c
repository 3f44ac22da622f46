/* SPDX-License-Identifier: Apache-2.0 */
/* The front end of warps that keep their slots: what a warp would issue and waits for, its issue, and its way back from the
 * pipeline. Issue books the times of what follows: register banks and units keep the cycle they are next free, so a later stage
 * needs no polling. Where lanes of a warp can wait on their own the mechanism offers the others meanwhile (paths). */
#include <string.h>

#include "sm/cycle.h"
#include "sm/flight.h"
#include "sm/issue.h"
#include "sm/warps.h"

/* ---- what warps wait for ---- */

/* pipeline.memory_in_flight: a warp without a scoreboard goes on beside its loads and stores. */
__attribute__((noinline, cold)) enum sm_wait sm_find_wait_beside(const struct sm *sm, unsigned w,
                                                                 const struct timed *timed) {
    const struct sm_warp *warp = &SETS(sm)->warps[w];
    const uint32_t most = sm->params.memory_in_flight;
    if (warp->group.asks)
        return WAIT_MEMORY;
    if (warp->in_flight > warp->memory_in_flight)
        return WAIT_REGISTER;
    if (timed->unit == SM_UNIT_MEMORY && warp->memory_in_flight + warp->group.accesses >= most)
        return WAIT_MEMORY;
    if (timed->order != ORDER_NONE && sm_waits_for_order(sm, w, timed))
        return WAIT_MEMORY;
    return sm->params.wait_at_use ? sm_find_hazard(warp->pending, timed) : WAIT_TURN;
}

/* Apart from a cycle's events, which are inlined in the loop over cycles. */
static __attribute__((noinline)) void consider_warp(struct sm *sm, unsigned w) {
    struct sm_warp *warp = &SETS(sm)->warps[w];
    if (!(set_has(SETS(sm)->used, w)))
        return;
    if (warp->waits || !warp->group.lanes)
        return;
    const uint32_t passed = warp->pc - warp->buffer_pc; /* wraps below buffer_pc */
    const struct timed *timed = &sm->timed[warp->pc];
    enum sm_wait wait = WAIT_FETCH;
    if (passed < warp->buffer_end - warp->buffer_pc)
        wait = sm_find_wait(sm, w, timed);
    else {
        if (passed && sm->params.fetch_straight)
            sm_fetched_wrong_path(sm, w);
        warp->buffer_end = warp->pc;
    }
    warp->buffer_pc = warp->pc;
    sm_join_sets(sm, w, wait, timed->unit);
    sm_set_wait(sm, w, wait);
}

static inline __attribute__((always_inline)) void consider_fetched(struct sm *sm, unsigned w) {
    struct sm_warp *warp = &SETS(sm)->warps[w];
    if (warp->stage != WAIT_FETCH) {
        consider_warp(sm, w);
        return;
    }
    const struct timed *timed = &sm->timed[warp->pc];
    const enum sm_wait wait = sm_find_wait(sm, w, timed);
    if (wait == WAIT_TURN)
        sm_set_ready(sm, w, timed->unit);
    else if (wait == WAIT_MEMORY)
        SETS(sm)->stalled_long |= set_of(w);
    sm_set_wait(sm, w, wait);
}

static void update_warp(struct sm *sm, unsigned w) {
    struct sm_warp *warp = &SETS(sm)->warps[w];
    const slot_set bit = set_of(w);
    SETS(sm)->wants_fetch &= ~bit;
    if (!(SETS(sm)->used & bit) || warp->waits) {
        sm_clear_ready(sm, w);
        SETS(sm)->stalled_long |= bit;
        SETS(sm)->near &= ~bit;
        if (SETS(sm)->used & bit)
            sm_set_wait(sm, w, WAIT_BARRIER);
        return;
    }
    const uint32_t lanes = warp->group.lanes;
    if (!sm->mechanism->offer(sm->control, w, &warp->group)) {
        sm_clear_ready(sm, w);
        SETS(sm)->stalled_long |= bit;
        if (sm->slips) { /* its lanes wait for data by themselves */
            sm_set_wait(sm, w, WAIT_MEMORY);
            warp->group.lanes = 0;
        } else { /* until one of its lanes goes on */
            warp->waits = true;
            sm_set_wait(sm, w, WAIT_BARRIER);
        }
        return;
    }
    if (warp->group.lanes != lanes) {
        warp->width = (uint8_t)bits_count(warp->group.lanes);
        warp->width_class = sm_width_class(sm, warp->width);
    }
    warp->alive = sm->mechanism->alive(sm->control, w);
    if (warp->group.pc != warp->pc) {
        const uint8_t stage = warp->stage;
        sm_set_wait(sm, w,
                    stage == WAIT_FETCH ? WAIT_TURN : WAIT_FETCH); /* close the books of the instruction before */
        warp->pc = warp->group.pc;
    }
    consider_warp(sm, w);
}

/* The same after an issue within a straight run: the group goes on by one instruction without the mechanism's doing, and
 * the warp is in no set but the ready ones. */
static inline void go_on(struct sm *sm, unsigned w, struct sm_warp *warp, uint32_t pc) {
    const slot_set bit = set_of(w);
    warp->pc = warp->group.pc = pc;
    warp->stage = WAIT_FETCH;
    if (pc != warp->buffer_end) {
        const struct timed *timed = &sm->timed[pc];
        warp->stage = (uint8_t)sm_find_wait(sm, w, timed);
        if (warp->stage == WAIT_TURN) {
            SETS(sm)->ready_for[warp->ready_unit] &= ~bit;
            SETS(sm)->ready_for[timed->unit] |= bit;
            warp->ready_unit = timed->unit;
            return;
        }
        if (warp->stage == WAIT_MEMORY)
            SETS(sm)->stalled_long |= bit;
    } else if (!warp->fetching)
        SETS(sm)->wants_fetch |= bit;
    sm_clear_ready(sm, w);
}

static void start_warp(struct sm *sm, unsigned w, uint32_t pc, uint32_t lanes) {
    SETS(sm)->warps[w] = (struct sm_warp){.pc = pc,
                                          .buffer_pc = pc,
                                          .buffer_end = pc,
                                          .since = sm->now,
                                          .stage = WAIT_FETCH,
                                          .ready_unit = SM_UNIT_COUNT,
                                          .bank = (uint8_t)(w % sm->params.register_banks)};
    SETS(sm)->warps[w].pending = sm->pending + (size_t)w * sm->register_words;
    sm->slot_places[w] = (uint8_t)(w / sm->shape.warps_per_place);
    sm->progress[w] = 0;
    memset(SETS(sm)->warps[w].pending, 0, sm->register_words * sizeof *sm->pending);
    sm->mechanism->start(sm->control, w, pc, lanes);
    SETS(sm)->older[w] = SETS(sm)->used;
    SETS(sm)->used |= set_of(w);
    if (sm_hears(sm, SCHEDULER_STARTED))
        sm_tell(sm, &(struct scheduler_event){.kind = SCHEDULER_STARTED, .warp = w});
    update_warp(sm, w);
}

static slot_set end_threads(struct sm *sm, unsigned w, const struct executed *executed) {
    const unsigned number = w / sm->shape.warps_per_place;
    if (!sm->mechanism->alive(sm->control, w)) {
        SETS(sm)->used &= ~set_of(w);
        if (sm_hears(sm, SCHEDULER_ENDED))
            sm_tell(sm, &(struct scheduler_event){.kind = SCHEDULER_ENDED, .warp = w});
        update_warp(sm, w);
    }
    const slot_set changed = sm_end_threads(sm, number, w, NULL, executed, NULL);
    sm_end_if_done(sm, number);
    return changed;
}

/* ---- issue ---- */

static inline void count_issue(struct sm *sm, unsigned scheduler, const struct sm_warp *warp, uint32_t pc) {
    sm->scheduler_class[scheduler] = warp->width_class;
    sm->scheduler_pc[scheduler] = pc;
    sm_count_slots(sm, pc, warp->width_class, 1);
    sm_count_group(sm, warp->width);
}

/* Control flow, the end of a straight run, or a barrier: the mechanism says how the warp goes on. */
static void end_run(struct sm *sm, unsigned w, const struct executed *executed) {
    slot_set changed = 0;
    SETS(sm)->warps[w].since =
        sm->now + 1; /* the wait before it is counted; a barrier that opens looks at the warp again */
    switch (executed->flow) {
    case FLOW_BRANCH:
    case FLOW_MULTI:
    case FLOW_CALL: sm_count_divergence(sm, executed); break;
    case FLOW_EXIT: changed = end_threads(sm, w, executed); break;
    case FLOW_BARRIER: changed = sm_arrive(sm, w / sm->shape.warps_per_place, w, NULL, executed); break;
    default: break;
    }
    if (changed)
        sm_look_again(sm, SETS(sm)->front, changed & ~set_of(w));
    if (set_has(SETS(sm)->used, w))
        update_warp(sm, w);
}

/* Lanes whose data came while others ran write them back in the slot of their instruction, and go on behind it. */
static void issue_rejoin(struct sm *sm, unsigned scheduler, unsigned w) {
    struct sm_warp *warp = &SETS(sm)->warps[w];
    const struct executed executed = {.flow = FLOW_NEXT, .pc = warp->pc, .issues = 1, .lanes = warp->group.lanes};
    sm->scheduler_class[scheduler] = warp->width_class;
    sm->scheduler_pc[scheduler] = warp->pc;
    sm_count_slots(sm, warp->pc, warp->width_class, 1);
    sm->mechanism->issued(sm->control, w, &warp->group, &executed);
    warp->buffer_pc = warp->pc + 1;
    end_run(sm, w, &executed);
}

static __attribute__((noinline)) void tell_of(struct sm *sm, unsigned w, const struct executed *executed) {
    sm_tell_observer(sm, w, &SETS(sm)->warps[w].group, executed, sm->free_flight);
    if (sm->hears)
        sm_tell_issue(sm, w, &SETS(sm)->warps[w].group, executed);
    if (sm->predictor && executed->flow == FLOW_BRANCH)
        sm_predict(sm, w, executed);
}

static void issue_warp(struct sm *sm, unsigned scheduler, unsigned w) {
    struct sm_warp *warp = &SETS(sm)->warps[w];
    const uint32_t pc = warp->pc;
    struct executed executed;
    struct access access;
    sm->inst_stats[pc].waits[warp->stage] += sm->now - warp->since;
    if (warp->group.rejoins) {
        issue_rejoin(sm, scheduler, w);
        return;
    }
    count_issue(sm, scheduler, warp, pc);
    sm->executor.step(sm->executor.self, w, &warp->group, warp->alive, sm->now, &executed, &access);
    if (executed.flow == FLOW_FAULT) {
        sm->faulted = true;
        sm->fault_cycle = sm->now, sm->fault_warp = w;
        return;
    }
    /* an observer sees the mechanism as it is: it hears of every instruction */
    const bool runs_on = executed.flow == FLOW_NEXT && pc + 1 != warp->group.stop_pc && !sm->tells_all;
    if (!runs_on) {
        sm->mechanism->issued(sm->control, w, &warp->group, &executed);
        if (sm->is_watched)
            tell_of(sm, w, &executed);
    }
    sm_launch_flight(sm, w, pc, &access);
    if (!runs_on) {
        warp->buffer_pc = pc + 1;
        end_run(sm, w, &executed);
        return;
    }
    warp->since = sm->now + 1;
    go_on(sm, w, warp, pc + 1);
}

/* Where lanes wait on their own: a warp-level operation waits for those that it names and that are elsewhere. Coming to it
 * takes a slot; it is executed, and counted, when all have come. */
static void issue_path(struct sm *sm, unsigned scheduler, unsigned w) {
    struct sm_warp *warp = &SETS(sm)->warps[w];
    if (!inst_meets(&sm->module->code[warp->pc]) || sm_is_whole(sm, w, &warp->group)) {
        issue_warp(sm, scheduler, w);
        return;
    }
    sm->inst_stats[warp->pc].waits[warp->stage] += sm->now - warp->since;
    warp->since = sm->now + 1;
    sm->scheduler_class[scheduler] = warp->width_class;
    sm->scheduler_pc[scheduler] = warp->pc;
    sm_count_issued(sm, scheduler, 1);
    warp->buffer_pc = warp->pc + 1;
    sm_look_again(sm, SETS(sm)->front, sm_meet(sm, w, &warp->group, NULL) | set_of(w));
}

static inline unsigned issue_whole_one(struct sm *sm, unsigned scheduler, slot_set possible) {
    const unsigned w = sm_pick(sm, scheduler, possible);
    if (w == SCHEDULER_NONE)
        return 0;
    issue_warp(sm, scheduler, w);
    return 1;
}

static inline __attribute__((always_inline)) void issue_whole(struct sm *sm) {
    sm_issue_each(sm, &sm_whole_warps, issue_whole_one);
}

static inline unsigned issue_path_one(struct sm *sm, unsigned scheduler, slot_set possible) {
    const unsigned w = sm_pick(sm, scheduler, possible);
    if (w == SCHEDULER_NONE)
        return 0;
    issue_path(sm, scheduler, w);
    return 1;
}

static void issue_paths(struct sm *sm) { sm_issue_each(sm, &sm_paths, issue_path_one); }

/* ---- back from the pipeline ---- */

/* A register has come, or memory is quieter: the instruction is still the same and in the buffer. */
static inline void consider_hazard(struct sm *sm, unsigned w) {
    const struct sm_warp *warp = &SETS(sm)->warps[w];
    if ((warp->stage != WAIT_REGISTER && warp->stage != WAIT_MEMORY) || !warp->group.lanes)
        return;
    const struct timed *timed = &sm->timed[warp->pc];
    const enum sm_wait wait = sm_find_wait(sm, w, timed);
    if (wait == warp->stage)
        return;
    sm_join_sets(sm, w, wait, timed->unit);
    sm_set_wait(sm, w, wait);
}

static inline void leave_flight(struct sm *sm, unsigned w) {
    SETS(sm)->warps[w].in_flight--;
    if (set_has(SETS(sm)->used, w))
        consider_hazard(sm, w);
    else
        sm_end_if_done(sm, w / sm->shape.warps_per_place);
}

static inline void end_instruction(struct sm *sm, unsigned w, const struct timed *timed) {
    sm_clear_pending(SETS(sm)->warps[w].pending, timed);
    leave_flight(sm, w);
}

/* Lanes of it still wait by themselves: the flight stays theirs. */
static __attribute__((noinline, cold)) void land(struct sm *sm, struct flight *flight, const struct timed *timed) {
    flight->landed = true;
    end_instruction(sm, flight->warp, timed);
}

/* Its predicates can be read, or guard: then it is over. */
static __attribute__((noinline)) void write_back_guards(struct sm *sm, uint32_t number) {
    const struct flight *flight = &sm->flights[number];
    const struct timed_guards *guards = &sm->guards.of[flight->pc];
    const unsigned w = flight->warp;
    struct sm_pending *pending = SETS(sm)->warps[w].pending;
    if (sm_keeps_guards(sm, number)) {
        sm_clear_pending(pending, &sm->timed[flight->pc]);
        if (set_has(SETS(sm)->used, w))
            consider_hazard(sm, w);
        return;
    }
    for (unsigned i = 0; i < guards->count; i++)
        if (sm_newer_guard(sm, number, i) == NO_FLIGHT)
            pending[guards->of[i].word].any &= ~guards->of[i].bit;
    sm_free_flight(sm, number);
    leave_flight(sm, w);
}

static inline __attribute__((always_inline)) void write_back_warp(struct sm *sm, uint32_t number) {
    struct flight *flight = &sm->flights[number];
    const unsigned w = flight->warp;
    struct sm_warp *warp = &SETS(sm)->warps[w];
    const struct timed *timed = &sm->timed[flight->pc];
    if (timed->unit == SM_UNIT_MEMORY) {
        if (flight->ticket != NO_TICKET) {
            sm->executor.finish(sm->executor.self, flight->ticket);
            warp->atomics_in_flight--;
        }
        warp->memory_in_flight--;
        sm_end_copy(sm, flight, timed);
        if (flight->apart) {
            land(sm, flight, timed);
            return;
        }
    } else if (timed->order == ORDER_GUARDS) {
        write_back_guards(sm, number);
        return;
    }
    sm_free_flight(sm, number);
    end_instruction(sm, w, timed);
}

/* ---- waiting for other threads ---- */

static void tell_wait(struct sm *sm, enum scheduler_event_kind kind, unsigned w, uint32_t pc, uint32_t lanes) {
    if (sm_hears(sm, kind))
        sm_tell(sm, &(struct scheduler_event){.kind = kind, .warp = w, .pc = pc, .lanes = lanes});
}

void sm_hold_whole(struct sm *sm, unsigned w, uint32_t pc, uint32_t lanes) {
    tell_wait(sm, SCHEDULER_WAITS, w, pc, lanes);
    SETS(sm)->warps[w].waits = true;
}

void sm_hold_path(struct sm *sm, unsigned w, uint32_t pc, uint32_t lanes) {
    tell_wait(sm, SCHEDULER_WAITS, w, pc, lanes);
    sm->mechanism->waiting->wait(sm->control, w, lanes);
}

slot_set sm_go_on_whole(struct sm *sm, unsigned w, uint32_t lanes) {
    tell_wait(sm, SCHEDULER_GOES_ON, w, 0, lanes);
    SETS(sm)->warps[w].waits = false;
    return set_of(w);
}

slot_set sm_go_on_path(struct sm *sm, unsigned w, uint32_t lanes) {
    tell_wait(sm, SCHEDULER_GOES_ON, w, 0, lanes);
    SETS(sm)->warps[w].waits = false;
    return sm_answer(w, sm->mechanism->waiting->go_on(sm->control, w, lanes));
}

static slot_set launch_whole(struct sm *sm, unsigned slot, unsigned w, const struct group *group,
                             const struct access *access, struct bundle *bundle) {
    (void)slot, (void)bundle;
    sm_launch_if_room(sm, w, group->pc, access);
    return sm_go_on_whole(sm, w, group->lanes);
}

static slot_set launch_path(struct sm *sm, unsigned slot, unsigned w, const struct group *group,
                            const struct access *access, struct bundle *bundle) {
    (void)slot, (void)bundle;
    sm_launch_if_room(sm, w, group->pc, access);
    return sm_go_on_path(sm, w, group->lanes);
}

bool sm_warps_at_memory(const struct sm *sm) { return SETS(sm)->used && !(SETS(sm)->used & ~SETS(sm)->stalled_long); }

bool sm_warp_is_here(const struct sm *sm, unsigned w) { return set_has(SETS(sm)->used, w); }

static bool run_whole(struct sm *sm, uint64_t from, uint64_t to);
SM_STAGE const struct sm_front sm_whole_warps = {.run = run_whole,
                                                 .start = start_warp,
                                                 .update = update_warp,
                                                 .consider = consider_warp,
                                                 .fetched = consider_fetched,
                                                 .issue = issue_whole,
                                                 .write_back = write_back_warp,
                                                 .hold = sm_hold_whole,
                                                 .go_on = sm_go_on_whole,
                                                 .launch = launch_whole,
                                                 .all_at_memory = sm_warps_at_memory,
                                                 .is_here = sm_warp_is_here};

static bool run_paths(struct sm *sm, uint64_t from, uint64_t to);
SM_STAGE const struct sm_front sm_paths = {.run = run_paths,
                                           .start = start_warp,
                                           .update = update_warp,
                                           .consider = consider_warp,
                                           .fetched = consider_fetched,
                                           .issue = issue_paths,
                                           .write_back = write_back_warp,
                                           .hold = sm_hold_path,
                                           .go_on = sm_go_on_path,
                                           .launch = launch_path,
                                           .all_at_memory = sm_warps_at_memory,
                                           .is_here = sm_warp_is_here};

static bool run_whole(struct sm *sm, uint64_t from, uint64_t to) {
    return sm_run_awake(sm, &sm_whole_warps, from, to, false);
}

bool sm_run_whole_in_clusters(struct sm *sm, uint64_t from, uint64_t to) {
    return sm_run_awake(sm, &sm_whole_warps, from, to, true);
}

static bool run_paths(struct sm *sm, uint64_t from, uint64_t to) {
    return sm_run_awake(sm, &sm_paths, from, to, sm->dsm != NULL);
}
