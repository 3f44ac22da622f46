/* SPDX-License-Identifier: Apache-2.0 */
/* Issue: each scheduler picks a ready warp, its group is executed, and the times of what follows are booked: register
 * banks and units keep the cycle they are next free, so a later stage needs no polling. */
#include "sm/book.h"
#include "sm/flight.h"
#include "sm/ready.h"

/* ---- what warps wait for ---- */

/* The ready warps whose unit has no room; the others wait for their turn. */
static void set_blocked(struct sm *sm, slot_set blocked) {
    for (slot_set rest = (blocked ^ sm->unit_blocked) & sm->ready; rest; rest &= rest - 1) {
        const unsigned w = set_first(rest);
        sm_set_wait(sm, w, set_has(blocked, w) ? WAIT_UNIT : WAIT_TURN);
    }
    sm->unit_blocked = blocked;
}

/* pipeline.memory_in_flight: a warp without a scoreboard goes on beside its loads and stores. */
__attribute__((noinline, cold)) enum sm_wait sm_find_wait_beside(const struct sm *sm, unsigned w,
                                                                 const struct timed *timed) {
    const struct sm_warp *warp = &sm->warps[w];
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
__attribute__((noinline)) void sm_consider_warp(struct sm *sm, unsigned w) {
    struct sm_warp *warp = &sm->warps[w];
    if (!(set_has(sm->used, w)))
        return;
    if (sm->regroup) {
        sm_consider_formed(sm, w);
        return;
    }
    if (warp->waits || !warp->group.lanes)
        return;
    const uint32_t passed = warp->pc - warp->buffer_pc; /* wraps below buffer_pc */
    const struct timed *timed = &sm->timed[warp->pc];
    enum sm_wait wait = WAIT_FETCH;
    if (passed < warp->buffer_end - warp->buffer_pc)
        wait = sm_find_wait(sm, w, timed);
    else {
        if (passed && sm->params.fetch_straight)
            sm_fetched_astray(sm, w);
        warp->buffer_end = warp->pc;
    }
    warp->buffer_pc = warp->pc;
    sm_join_sets(sm, w, wait, timed->unit);
    sm_set_wait(sm, w, wait);
}

void sm_consider_fetched(struct sm *sm, unsigned w) {
    struct sm_warp *warp = &sm->warps[w];
    if (sm->regroup || warp->stage != WAIT_FETCH) {
        sm_consider_warp(sm, w);
        return;
    }
    const struct timed *timed = &sm->timed[warp->pc];
    const enum sm_wait wait = sm_find_wait(sm, w, timed);
    if (wait == WAIT_TURN)
        sm_set_ready(sm, w, timed->unit);
    else if (wait == WAIT_MEMORY)
        sm->stalled_long |= set_of(w);
    sm_set_wait(sm, w, wait);
}

void sm_update_warp(struct sm *sm, unsigned w) {
    if (sm->regroup) {
        sm_update_formed(sm, w);
        return;
    }
    struct sm_warp *warp = &sm->warps[w];
    const slot_set bit = set_of(w);
    sm->wants_fetch &= ~bit;
    if (!(sm->used & bit) || warp->waits) {
        sm_clear_ready(sm, w);
        sm->stalled_long |= bit;
        sm->near &= ~bit;
        if (sm->used & bit)
            sm_set_wait(sm, w, WAIT_BARRIER);
        return;
    }
    const uint32_t lanes = warp->group.lanes;
    if (!sm->mechanism->offer(sm->control, w, &warp->group)) {
        sm_clear_ready(sm, w);
        sm->stalled_long |= bit;
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
    sm_consider_warp(sm, w);
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
            sm->ready_for[warp->ready_unit] &= ~bit;
            sm->ready_for[timed->unit] |= bit;
            warp->ready_unit = timed->unit;
            return;
        }
        if (warp->stage == WAIT_MEMORY)
            sm->stalled_long |= bit;
    } else if (!warp->fetching)
        sm->wants_fetch |= bit;
    sm_clear_ready(sm, w);
}

static slot_set end_threads(struct sm *sm, unsigned w, const struct executed *executed) {
    const unsigned number = w / sm->shape.warps_per_place;
    if (!sm->mechanism->alive(sm->control, w)) {
        sm->used &= ~set_of(w);
        if (sm_hears(sm, SCHEDULER_ENDED))
            sm_tell(sm, &(struct scheduler_event){.kind = SCHEDULER_ENDED, .warp = w});
        sm_update_warp(sm, w);
    }
    const slot_set changed = sm_end_threads(sm, number, w, NULL, executed, NULL);
    sm_end_if_done(sm, number);
    return changed;
}

/* ---- issue ---- */

void sm_count_parting(struct sm *sm, const struct executed *executed) {
    const bool parted = executed_parts(executed);
    sm->divergent_branches += parted;
    sm->divergent[executed->pc] += parted;
}

static inline void count_issue(struct sm *sm, unsigned scheduler, const struct sm_warp *warp, uint32_t pc) {
    sm->scheduler_class[scheduler] = warp->width_class;
    sm->scheduler_pc[scheduler] = pc;
    sm_count_slots(sm, pc, warp->width_class, 1);
    sm_count_group(sm, warp->width);
}

/* Control flow, the end of a straight run, or a barrier: the mechanism says how the warp goes on. */
static void end_run(struct sm *sm, unsigned w, const struct executed *executed) {
    slot_set changed = 0;
    sm->warps[w].since = sm->now + 1; /* the wait before it is counted; a barrier that opens looks at the warp again */
    switch (executed->flow) {
    case FLOW_BRANCH:
    case FLOW_MULTI:
    case FLOW_CALL: sm_count_parting(sm, executed); break;
    case FLOW_EXIT: changed = end_threads(sm, w, executed); break;
    case FLOW_BARRIER: changed = sm_arrive(sm, w / sm->shape.warps_per_place, w, NULL, executed); break;
    default: break;
    }
    if (changed)
        sm_look_again(sm, changed & ~set_of(w));
    if (set_has(sm->used, w))
        sm_update_warp(sm, w);
}

/* Lanes whose data came while others ran write them back in the slot of their instruction, and go on behind it. */
static void issue_rejoin(struct sm *sm, unsigned scheduler, unsigned w) {
    struct sm_warp *warp = &sm->warps[w];
    const struct executed executed = {.flow = FLOW_NEXT, .pc = warp->pc, .issues = 1, .lanes = warp->group.lanes};
    sm->scheduler_class[scheduler] = warp->width_class;
    sm->scheduler_pc[scheduler] = warp->pc;
    sm_count_slots(sm, warp->pc, warp->width_class, 1);
    sm->mechanism->issued(sm->control, w, &warp->group, &executed);
    warp->buffer_pc = warp->pc + 1;
    end_run(sm, w, &executed);
}

static __attribute__((noinline)) void tell_of(struct sm *sm, unsigned w, const struct executed *executed) {
    sm_tell_watcher(sm, w, &sm->warps[w].group, executed, sm->free_flight);
    if (sm->hears)
        sm_tell_issue(sm, w, &sm->warps[w].group, executed);
    if (sm->predictor && executed->flow == FLOW_BRANCH)
        sm_predict(sm, w, executed);
}

static void issue_warp(struct sm *sm, unsigned scheduler, unsigned w) {
    struct sm_warp *warp = &sm->warps[w];
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
    /* who looks on sees the mechanism as it is: it hears of every instruction */
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
    for (unsigned s = 0; s < sm->params.schedulers; s++)
        sm->empty.to[s] = sm_empty(sm, s, sm->ready & sm->scheduler_warps[s]);
}

/* Nothing issued in the cycle before, and the sets of warps are as they were then. */
static inline bool stays_empty(const struct sm *sm) {
    return sm->empty.open && sm->empty.used == sm->used && sm->empty.ready == sm->ready &&
           sm->empty.stalled_long == sm->stalled_long && sm->empty.no_flight == (sm->free_flight == NO_FLIGHT);
}

/* Where lanes wait on their own: a warp-level operation waits for those that it names and that are elsewhere. Coming to it
 * takes a slot; it is executed, and counted, when all have come. */
static void issue_path(struct sm *sm, unsigned scheduler, unsigned w) {
    struct sm_warp *warp = &sm->warps[w];
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
    sm_look_again(sm, sm_meet(sm, w, &warp->group, NULL) | set_of(w));
}

void sm_issue(struct sm *sm) {
    const slot_set ready = sm->ready, blocked = sm_without_room(sm);
    slot_set possible = ready & ~blocked;
    if (blocked != sm->unit_blocked)
        set_blocked(sm, blocked);
    if (sm->books_later && !possible) {
        if (!stays_empty(sm))
            sm_begin_empty(sm);
        return;
    }
    if (sm->empty.open)
        sm_end_empty(sm);
    /* each scheduler is the first to ask for room in its turn */
    unsigned s = (unsigned)(sm->now % sm->params.schedulers);
    for (unsigned n = 0; n < sm->params.schedulers; n++, s = s + 1 < sm->params.schedulers ? s + 1 : 0) {
        if (sm->scheduler_busy[s] > sm->now) {
            sm_count_issued(sm, s, 1);
            continue;
        }
        const slot_set mine = sm->scheduler_warps[s];
        if (!(possible & mine)) {
            sm_book(sm, sm_empty(sm, s, ready & mine), 1);
            continue;
        }
        unsigned turns = 1;
        if (sm->regroup)
            turns = sm_regroup_issue(sm, s, possible & mine);
        else {
            const unsigned w = sm_pick(sm, s, possible & mine);
            if (w == SCHEDULER_NONE)
                turns = 0;
            else if (sm->whole_warps)
                issue_warp(sm, s, w);
            else
                issue_path(sm, s, w);
        }
        if (!turns)
            continue;
        sm->scheduler_busy[s] = sm->now + (uint64_t)turns * sm->wide;
        if (sm->faulted)
            return;
        possible &= ~sm_without_room(sm); /* for the next scheduler; what became ready waits a cycle */
    }
}
