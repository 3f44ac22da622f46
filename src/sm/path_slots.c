/* SPDX-License-Identifier: Apache-2.0 */
/* The front end of warps that have several paths in flight: an issue slot, an instruction buffer and a wait for each path, a
 * scoreboard that knows lanes, one scheduler that chooses among warps, and an order of paths within the warp. With one path it is
 * the front end of warps.c, cycle for cycle.
 *
 * The scoreboard by lanes is exact: hardware that was published approximates it, and .own.cost charges what was published. Fences, and
 * accesses behind atomics, wait for those of the whole warp. The pipeline is that of sm.pipeline=scoreboard; others are refused by
 * machine/check.c. */
#include "sm/path_slots.h"

#include <string.h>

#include "sm/apart.h"
#include "sm/cycle.h"
#include "sm/issue.h"
#include "sm/path_scoreboard.h"

slot_set sm_slots_of(const struct sm *sm, unsigned w, uint64_t paths) {
    slot_set slots = 0;
    for (unsigned k = 0; k < sm->paths->count; k++)
        slots |= (slot_set)(paths >> k & 1) << (k * sm->paths->stride + w);
    return slots;
}

/* Warps with a slot among these. */
static inline slot_set warps_with(const struct sm *sm, slot_set slots) {
    const slot_set warps = set_low(sm->paths->stride);
    slot_set any = slots & warps;
    for (unsigned k = 1; k < sm->paths->count; k++)
        any |= slots >> k * sm->paths->stride & warps;
    return any;
}

/* ---- what paths wait for ---- */

static __attribute__((noinline)) void consider_slot(struct sm *sm, unsigned slot) {
    struct sm_warp *warp = &SETS(sm)->warps[slot];
    if (!path_is_here(sm, slot))
        return;
    if (path_is_parked(sm->paths, slot)) {
        sm_park_path(sm, slot);
        return;
    }
    const uint32_t passed = warp->pc - warp->buffer_pc; /* wraps below buffer_pc */
    const struct timed *timed = &sm->timed[warp->pc];
    enum sm_wait wait = WAIT_FETCH;
    if (passed < warp->buffer_end - warp->buffer_pc)
        wait = path_find_wait(sm, slot, timed);
    else {
        if (passed && sm->params.fetch_straight)
            sm_fetched_wrong_path(sm, slot);
        warp->buffer_end = warp->pc;
    }
    warp->buffer_pc = warp->pc;
    sm_join_sets(sm, slot, wait, timed->unit);
    sm_set_wait(sm, slot, wait);
}

static inline __attribute__((always_inline)) void consider_fetched_slot(struct sm *sm, unsigned slot) {
    struct sm_warp *warp = &SETS(sm)->warps[slot];
    if (warp->stage != WAIT_FETCH || !path_is_here(sm, slot)) {
        consider_slot(sm, slot);
        return;
    }
    const struct timed *timed = &sm->timed[warp->pc];
    const enum sm_wait wait = path_find_wait(sm, slot, timed);
    if (wait == WAIT_TURN)
        sm_set_ready(sm, slot, timed->unit);
    else if (wait == WAIT_MEMORY)
        SETS(sm)->stalled_long |= set_of(slot);
    sm_set_wait(sm, slot, wait);
}

/* The books of what stood in the slot are closed. */
static void close_books(struct sm *sm, unsigned slot) {
    sm_set_wait(sm, slot, SETS(sm)->warps[slot].stage == WAIT_FETCH ? WAIT_TURN : WAIT_FETCH);
}

/* The slot offers nothing: its path waits for other threads, or there is none. */
static void empty_slot(struct sm *sm, unsigned slot) {
    struct sm_warp *warp = &SETS(sm)->warps[slot];
    const unsigned w = path_home(sm, slot);
    const slot_set bit = set_of(slot);
    sm_clear_ready(sm, slot);
    SETS(sm)->stalled_long |= bit;
    warp->group.lanes = 0;
    if (warp->at_barrier && sm->paths->alive[w])
        sm_set_wait(sm, slot, WAIT_BARRIER);
    else {
        if (SETS(sm)->used & bit)
            close_books(sm, slot);
        SETS(sm)->used &= ~bit;
    }
    if (!(SETS(sm)->used & sm_slots_of(sm, w, ~UINT64_C(0)) & ~SETS(sm)->stalled_long))
        SETS(sm)->near &= ~set_of(w);
    if (sm->paths->takes_turns && !path_is_parked(sm->paths, slot))
        sm_activate_path(sm, w);
}

static void update_slot(struct sm *sm, unsigned slot) {
    struct sm_warp *warp = &SETS(sm)->warps[slot];
    const slot_set bit = set_of(slot);
    const uint32_t lanes = warp->group.lanes;
    SETS(sm)->wants_fetch &= ~bit;
    if (!sm->paths->alive[path_home(sm, slot)] || !sm->mechanism->offer(sm->control, slot, &warp->group)) {
        empty_slot(sm, slot);
        return;
    }
    if (warp->group.lanes != lanes) {
        warp->width = (uint8_t)bits_count(warp->group.lanes);
        warp->width_class = sm_width_class(sm, warp->width);
    }
    sm->paths->told[slot] = warp->group.pc;
    if (warp->group.pc != warp->pc) {
        warp->wrong_path |= warp->fetching; /* the mechanism has put another path here */
        if (SETS(sm)->used & bit)
            close_books(sm, slot);
        warp->pc = warp->group.pc;
    }
    if (!(SETS(sm)->used & bit)) {
        SETS(sm)->used |= bit;
        warp->since = sm->now > warp->since ? sm->now : warp->since;
        warp->stage = WAIT_FETCH;
    }
    if (path_is_parked(sm->paths, slot))
        sm_activate_path(sm, path_home(sm, slot));
    consider_slot(sm, slot);
}

/* After an issue within a straight run: the path goes on by one instruction without the mechanism's doing, and its slot is in no set
 * but the ready ones. */
static inline void go_straight_on(struct sm *sm, unsigned slot, struct sm_warp *warp, uint32_t pc) {
    const slot_set bit = set_of(slot);
    warp->pc = warp->group.pc = pc;
    warp->stage = WAIT_FETCH;
    if (pc != warp->buffer_end) {
        const struct timed *timed = &sm->timed[pc];
        warp->stage = (uint8_t)path_find_wait(sm, slot, timed);
        if (warp->stage == WAIT_TURN) {
            sm_set_ready(sm, slot, timed->unit);
            return;
        }
        if (warp->stage == WAIT_MEMORY)
            SETS(sm)->stalled_long |= bit;
    } else if (!warp->fetching)
        SETS(sm)->wants_fetch |= bit;
    sm_clear_ready(sm, slot);
}

/* ---- warps begin and end ---- */

static void start_slots(struct sm *sm, unsigned w, uint32_t pc, uint32_t lanes) {
    struct path_slots *paths = sm->paths;
    const slot_set mine = sm_slots_of(sm, w, ~UINT64_C(0));
    struct sm_pending *pending = sm->pending + (size_t)w * sm->register_words;
    slot_set older = 0;
    for (unsigned v = 0; v < sm->warp_count; v++)
        older |= paths->alive[v] ? sm_slots_of(sm, v, ~UINT64_C(0)) : 0;
    for (slot_set rest = older; rest; rest &= rest - 1)
        SETS(sm)->older[set_first(rest)] &= ~mine;
    for (slot_set rest = mine; rest; rest &= rest - 1) {
        const unsigned slot = set_first(rest);
        const bool fetching = SETS(sm)->warps[slot].fetching; /* for a path that has gone */
        SETS(sm)->warps[slot] = (struct sm_warp){.pc = pc,
                                                 .buffer_pc = pc,
                                                 .buffer_end = pc,
                                                 .fetching = fetching,
                                                 .wrong_path = fetching,
                                                 .since = sm->now,
                                                 .stage = WAIT_FETCH,
                                                 .ready_unit = SM_UNIT_COUNT,
                                                 .pending = pending,
                                                 .bank = (uint8_t)(w % sm->params.register_banks)};
        SETS(sm)->older[slot] = older;
    }
    memset(pending, 0, sm->register_words * sizeof *pending);
    memset(path_pending(sm, w, 0), 0, paths->registers * sizeof *paths->pending);
    sm->slot_places[w] = (uint8_t)(w / sm->shape.warps_per_place);
    sm->progress[w] = 0;
    paths->alive[w] = true, paths->last[w] = paths->active[w] = 0, paths->loaded[w] = false;
    SETS(sm)->warps[w].alive = lanes;
    sm->mechanism->start(sm->control, w, pc, lanes);
    if (sm_hears(sm, SCHEDULER_STARTED))
        sm_tell(sm, &(struct scheduler_event){.kind = SCHEDULER_STARTED, .warp = w});
    sm_look_again(sm, &sm_path_slots, mine);
}

static slot_set end_path_threads(struct sm *sm, unsigned w, const struct executed *executed) {
    const unsigned number = w / sm->shape.warps_per_place;
    SETS(sm)->warps[w].alive = sm->mechanism->alive(sm->control, w);
    if (!SETS(sm)->warps[w].alive) {
        sm->paths->alive[w] = false;
        if (sm_hears(sm, SCHEDULER_ENDED))
            sm_tell(sm, &(struct scheduler_event){.kind = SCHEDULER_ENDED, .warp = w});
        sm_look_again(sm, &sm_path_slots, sm_slots_of(sm, w, ~UINT64_C(0)));
    }
    const slot_set changed = sm_end_threads(sm, number, w, NULL, executed, NULL);
    sm_end_if_done(sm, number);
    return changed;
}

/* ---- issue ---- */

void sm_tell_progress(struct sm *sm, unsigned w) {
    struct path_slots *paths = sm->paths;
    for (unsigned slot = w; slot < sm->slot_count; slot += paths->stride) {
        struct sm_warp *warp = &SETS(sm)->warps[slot];
        if (!path_is_here(sm, slot) || paths->told[slot] == warp->pc)
            continue;
        paths->told[slot] = warp->buffer_pc = warp->pc; /* what it has passed is not in its buffer any more */
        paths->ops->moved(sm->control, slot, warp->pc);
    }
}

/* It hears of an issue, and of the others' progress before. What it answers: the slots to be looked at again. */
static slot_set tell_issued(struct sm *sm, unsigned slot, const struct group *group, const struct executed *executed) {
    const unsigned w = path_home(sm, slot);
    sm->paths->told[slot] = SETS(sm)->warps[slot].pc;
    sm_tell_progress(sm, w);
    return sm_slots_of(sm, w, sm->mechanism->issued(sm->control, slot, group, executed));
}

/* Control flow, the end of a straight run, or a barrier: the mechanism has said which of the warp's slots (`changed`) go on otherwise. */
static void end_slot_run(struct sm *sm, unsigned slot, const struct executed *executed, slot_set changed) {
    const unsigned w = path_home(sm, slot);
    SETS(sm)->warps[slot].since = sm->now + 1; /* the wait before it is counted */
    switch (executed->flow) {
    case FLOW_BRANCH:
    case FLOW_MULTI:
    case FLOW_CALL: sm_count_divergence(sm, executed); break;
    case FLOW_EXIT: changed |= end_path_threads(sm, w, executed); break;
    case FLOW_BARRIER:
        SETS(sm)->warps[slot].at_barrier |= waiting_stays(sm->module->code, executed) ? executed->taken : 0;
        changed |= sm_arrive(sm, w / sm->shape.warps_per_place, w, NULL, executed);
        break;
    default: break;
    }
    sm_look_again(sm, &sm_path_slots, changed & ~set_of(slot));
    if (sm->paths->alive[w])
        update_slot(sm, slot);
}

static __attribute__((noinline)) void tell_of_slot(struct sm *sm, unsigned slot, const struct executed *executed) {
    const unsigned w = path_home(sm, slot);
    sm_tell_observer(sm, slot, &SETS(sm)->warps[slot].group, executed, sm->free_flight);
    if (sm->hears)
        sm_tell_issue(sm, w, &SETS(sm)->warps[slot].group, executed);
    if (sm->predictor && executed->flow == FLOW_BRANCH)
        sm_predict(sm, w, executed);
}

void sm_issue_path(struct sm *sm, unsigned slot) {
    struct sm_warp *warp = &SETS(sm)->warps[slot];
    const unsigned w = path_home(sm, slot);
    const uint32_t pc = warp->pc, lanes = warp->group.lanes;
    struct executed executed;
    struct access access;
    sm_count_group(sm, warp->width);
    sm->executor.step(sm->executor.self, w, &warp->group, SETS(sm)->warps[w].alive, sm->now, &executed, &access);
    if (executed.flow == FLOW_FAULT) {
        sm->faulted = true;
        sm->fault_cycle = sm->now, sm->fault_warp = w;
        return;
    }
    const bool runs_on = executed.flow == FLOW_NEXT && pc + 1 != warp->group.stop_pc && !sm->tells_all;
    slot_set changed = 0;
    if (!runs_on) {
        changed = tell_issued(sm, slot, &warp->group, &executed);
        if (sm->is_watched)
            tell_of_slot(sm, slot, &executed);
    }
    if (sm->paths->has_seconds)
        sm_launch_beside(sm, w, pc, lanes, &access);
    else
        path_launch(sm, w, pc, lanes, &access);
    sm->paths->loaded[w] |= access.kind == ACCESS_LOAD;
    if (!runs_on) {
        warp->buffer_pc = pc + 1;
        end_slot_run(sm, slot, &executed, changed);
        return;
    }
    warp->since = sm->now + 1;
    go_straight_on(sm, slot, warp, pc + 1);
}

/* A warp-level operation waits for lanes that it names and that are elsewhere: coming to it takes a slot; it is executed, and counted,
 * when all have come. */
static void come_to_meeting(struct sm *sm, unsigned slot) {
    struct sm_warp *warp = &SETS(sm)->warps[slot];
    const unsigned w = path_home(sm, slot);
    const struct executed passed = {.flow = FLOW_NEXT, .pc = warp->pc, .issues = 1, .lanes = warp->group.lanes};
    const struct group group = {.pc = warp->pc, .lanes = warp->group.lanes, .stop_pc = NO_PC};
    warp->since = sm->now + 1;
    warp->buffer_pc = warp->pc + 1;
    warp->at_barrier |= group.lanes;
    slot_set changed = tell_issued(sm, slot, &group, &passed) | set_of(slot);
    sm_tell_observer(sm, slot, &group, &passed, SM_FLIGHTS);
    changed |= sm_meet_told(sm, w, &group, NULL);
    sm_look_again(sm, &sm_path_slots, changed);
}

/* The path of the warp that issues, among the slots that could. */
static unsigned choose_path(struct sm *sm, unsigned w, slot_set possible) {
    struct path_slots *paths = sm->paths;
    uint32_t ready = 0;
    for (unsigned k = 0; k < paths->count; k++)
        ready |= (uint32_t)set_has(possible, k * paths->stride + w) << k;
    unsigned path = paths->last[w];
    if (paths->ops->pick) {
        if (ready & (ready - 1))
            sm_tell_progress(sm, w);
        path = paths->ops->pick(sm->control, w, ready);
    } else if (!(ready >> path & 1)) {
        const uint32_t above = ready & ~((UINT32_C(2) << path) - 1);
        path = bits_first(above ? above : ready);
    }
    paths->last[w] = (uint8_t)path;
    return path * paths->stride + w;
}

/* The scheduler sees warps. */
static unsigned pick_path_slot(struct sm *sm, slot_set possible, unsigned scheduler) {
    struct scheduler_view *view = &SETS(sm)->view;
    view->ready = possible;
    if (sm->sees_memory) {
        sm_see_memory(sm);
        view->loads = warps_with(sm, view->loads), view->stores = warps_with(sm, view->stores);
    }
    view->ready = warps_with(sm, possible);
    view->stalled = ~warps_with(sm, ~SETS(sm)->stalled_long);
    const unsigned w = SETS(sm)->scheduler->pick(sm->schedulers[scheduler], view);
    if (w == SCHEDULER_NONE) {
        sm_book_none(sm, possible);
        return SCHEDULER_NONE;
    }
    return choose_path(sm, w, possible);
}

static inline unsigned issue_slot_one(struct sm *sm, unsigned scheduler, slot_set possible) {
    const slot_set best = sm->paths->has_ranks ? sm_best_ranked(sm, possible) : possible;
    const unsigned slot = pick_path_slot(sm, best, scheduler);
    if (slot == SCHEDULER_NONE)
        return 0;
    const struct sm_warp *warp = &SETS(sm)->warps[slot];
    const bool meets = inst_meets(&sm->module->code[warp->pc]) && !sm_is_whole(sm, path_home(sm, slot), &warp->group);
    sm->inst_stats[warp->pc].waits[warp->stage] += sm->now - warp->since;
    sm->scheduler_class[scheduler] = warp->width_class;
    sm->scheduler_pc[scheduler] = warp->pc;
    if (sm->paths->has_seconds && !meets) {
        (sm->paths->has_ranks ? sm_issue_many : sm_issue_two)(sm, scheduler, slot, possible);
        return 1;
    }
    sm_count_slots(sm, warp->pc, warp->width_class, 1);
    if (meets)
        come_to_meeting(sm, slot);
    else
        sm_issue_path(sm, slot);
    return 1;
}

static void issue_slots(struct sm *sm) {
    if (sm->paths->any_partly)
        sm_revive_paths(sm);
    if (sm->paths->takes_turns)
        sm_give_way(sm);
    sm_issue_each(sm, &sm_path_slots, issue_slot_one);
}

/* ---- back from the pipeline ---- */

/* A register has come, or memory is quieter: the instruction is still the same and in the buffer. */
static inline void consider_slot_hazard(struct sm *sm, unsigned slot) {
    const struct sm_warp *warp = &SETS(sm)->warps[slot];
    if ((warp->stage != WAIT_REGISTER && warp->stage != WAIT_MEMORY) || !path_is_here(sm, slot))
        return;
    const struct timed *timed = &sm->timed[warp->pc];
    const enum sm_wait wait = path_find_wait(sm, slot, timed);
    if (wait == warp->stage || path_is_parked(sm->paths, slot))
        return;
    sm_join_sets(sm, slot, wait, timed->unit);
    sm_set_wait(sm, slot, wait);
}

static void consider_warp_hazards(struct sm *sm, unsigned w) {
    for (unsigned slot = w; slot < sm->slot_count; slot += sm->paths->stride)
        consider_slot_hazard(sm, slot);
}

/* Whatever slot its path had, its lanes go on in any of the warp's. */
static void write_back_slot(struct sm *sm, uint32_t number) {
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
    }
    const bool late = timed->order == ORDER_GUARDS;
    if (late && sm_keeps_guards(sm, number)) {
        path_write_back(sm, w, timed, flight->lanes);
        consider_warp_hazards(sm, w);
        return;
    }
    if (late)
        path_free_guards(sm, number);
    else
        path_write_back(sm, w, timed, flight->lanes);
    sm_free_flight(sm, number);
    warp->in_flight--;
    if (!sm->paths->alive[w]) {
        sm_end_if_done(sm, w / sm->shape.warps_per_place);
        return;
    }
    consider_warp_hazards(sm, w);
}

/* ---- waiting for other threads ---- */

static void tell_path_wait(struct sm *sm, enum scheduler_event_kind kind, unsigned w, uint32_t pc, uint32_t lanes) {
    if (sm_hears(sm, kind))
        sm_tell(sm, &(struct scheduler_event){.kind = kind, .warp = w, .pc = pc, .lanes = lanes});
}

static void hold_slot(struct sm *sm, unsigned w, uint32_t pc, uint32_t lanes) {
    tell_path_wait(sm, SCHEDULER_WAITS, w, pc, lanes);
    sm->mechanism->waiting->wait(sm->control, w, lanes);
}

static slot_set go_on_slots(struct sm *sm, unsigned w, uint32_t lanes) {
    tell_path_wait(sm, SCHEDULER_GOES_ON, w, 0, lanes);
    sm_tell_progress(sm, w);
    slot_set changed = sm_slots_of(sm, w, sm->mechanism->waiting->go_on(sm->control, w, lanes));
    for (unsigned slot = w; slot < sm->slot_count; slot += sm->paths->stride) {
        changed |= (slot_set)((SETS(sm)->warps[slot].at_barrier & lanes) != 0) << slot;
        SETS(sm)->warps[slot].at_barrier &= ~lanes;
    }
    return changed;
}

static slot_set launch_slot(struct sm *sm, unsigned slot, unsigned w, const struct group *group,
                            const struct access *access, struct bundle *bundle) {
    (void)slot, (void)bundle;
    if (sm_takes(sm, group->pc))
        path_launch(sm, w, group->pc, group->lanes, access);
    return go_on_slots(sm, w, group->lanes);
}

static bool slots_at_memory(const struct sm *sm) {
    return SETS(sm)->used && !(SETS(sm)->used & ~SETS(sm)->stalled_long);
}

static bool warp_has_threads(const struct sm *sm, unsigned w) { return sm->paths->alive[w]; }

static bool run_slots(struct sm *sm, uint64_t from, uint64_t to);
SM_STAGE const struct sm_front sm_path_slots = {.run = run_slots,
                                                .start = start_slots,
                                                .update = update_slot,
                                                .consider = consider_slot,
                                                .fetched = consider_fetched_slot,
                                                .issue = issue_slots,
                                                .write_back = write_back_slot,
                                                .hold = hold_slot,
                                                .go_on = go_on_slots,
                                                .launch = launch_slot,
                                                .all_at_memory = slots_at_memory,
                                                .is_here = warp_has_threads};

static bool run_slots(struct sm *sm, uint64_t from, uint64_t to) {
    return sm_run_awake(sm, &sm_path_slots, from, to, sm->dsm != NULL);
}
