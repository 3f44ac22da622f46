/* SPDX-License-Identifier: Apache-2.0 */
/* sm.pipeline control-bits: what a warp waits for, its issue, and what comes back. Control bits are obeyed, not checked: values are those
 * of the program's order whatever they say, but for atomics of memory, whose results come when they come. */
#include <string.h>

#include "sm/book.h"
#include "sm/copies.h"
#include "sm/ready.h"
#include "sm/subcore.h"
#include "sm/warps.h"
#include "sm/wheel.h"

/* ---- sets ---- */

static void leave_pipe(struct subcores *all, unsigned w) {
    if (all->warps[w].pipe != PIPES)
        all->ready_for[all->warps[w].pipe] &= ~set_of(w);
    all->warps[w].pipe = PIPES;
}

static void leave_ready(struct sm *sm, unsigned w) {
    leave_pipe(subcores_of(sm), w);
    sm_clear_ready(sm, w);
}

static void join_pipe(struct sm *sm, unsigned w, const struct subcore_inst *inst) {
    struct subcores *all = subcores_of(sm);
    if (all->warps[w].pipe != inst->pipe) {
        leave_pipe(all, w);
        all->warps[w].pipe = inst->pipe;
        all->ready_for[inst->pipe] |= set_of(w);
    }
    sm_set_ready(sm, w, inst->unit);
}

/* The warp that issued last lacks nothing but a constant: others have to wait, for a while. */
static void keep_others(struct sm *sm, unsigned w, uint64_t cycle) {
    struct subcore *core = subcore_of(sm, w);
    struct subcore_warp *warp = &subcores_of(sm)->warps[w];
    if (core->last == w && !warp->lacks_constant && sm->params.const_switch_cycles) {
        core->held_until = cycle + sm->params.const_switch_cycles;
        core->held_by_constant = true;
    }
    warp->lacks_constant = true;
}

/* Looks at what it waits for in a cycle, this one or the next, and joins the sets. */
static void look_at(struct sm *sm, unsigned w, uint64_t cycle) {
    const struct subcores *all = subcores_of(sm);
    const struct subcore_inst *inst = &all->code->insts[SETS(sm)->warps[w].pc];
    const struct hold_back back = subcore_find_hold(sm, w, inst, cycle);
    if (back.wait == WAIT_TURN)
        join_pipe(sm, w, inst);
    else
        leave_ready(sm, w);
    if (back.wait == WAIT_MEMORY)
        SETS(sm)->stalled_long |= set_of(w);
    else
        SETS(sm)->stalled_long &= ~set_of(w);
    if (back.wait != WAIT_TURN && back.until != NO_CYCLE)
        sm_fetched_at(sm, back.until, w);
    if (back.wait == WAIT_TURN && cycle < all->warps[w].fresh_until && inst->said.wait_mask)
        sm_fetched_at(sm, all->warps[w].fresh_until, w); /* counters that it is too early to see */
    if (back.is_constant)
        keep_others(sm, w, cycle);
    const bool is_sure = back.wait != WAIT_TURN && back.until != NO_CYCLE && !inst->order && !inst->constant;
    subcores_of(sm)->warps[w].sure_from = is_sure ? back.until : NO_CYCLE;
    sm_set_wait(sm, w, back.wait);
}

static void consider_core_warp(struct sm *sm, unsigned w) {
    const struct sm_warp *warp = &SETS(sm)->warps[w];
    if (!set_has(SETS(sm)->used, w) || warp->waits || !warp->group.lanes)
        return;
    if (subcores_of(sm)->warps[w].sure_from > sm->now) {
        look_at(sm, w, sm->now);
        return;
    }
    /* the time has come that it waited for, and nothing else held it back */
    subcores_of(sm)->warps[w].sure_from = NO_CYCLE;
    join_pipe(sm, w, &subcores_of(sm)->code->insts[warp->pc]);
    sm_set_wait(sm, w, WAIT_TURN);
}

/* The mechanism says what it would issue, in this cycle at the earliest or in the next. */
static void take_offer(struct sm *sm, unsigned w, uint64_t cycle) {
    struct sm_warp *warp = &SETS(sm)->warps[w];
    const slot_set bit = set_of(w);
    if (!(SETS(sm)->used & bit) || warp->waits || !sm->mechanism->offer(sm->control, w, &warp->group)) {
        leave_ready(sm, w);
        SETS(sm)->stalled_long |= bit;
        if (SETS(sm)->used & bit) {
            warp->waits = true;
            sm_set_wait(sm, w, WAIT_BARRIER);
        } else
            subcores_of(sm)->fetchable &= ~bit;
        return;
    }
    warp->width = (uint8_t)bits_count(warp->group.lanes);
    warp->width_class = sm_width_class(sm, warp->width);
    warp->alive = sm->mechanism->alive(sm->control, w);
    if (warp->group.pc != warp->pc) {
        sm_set_wait(sm, w, warp->stage == WAIT_FETCH ? WAIT_TURN : WAIT_FETCH); /* close the books of the one before */
        warp->pc = warp->group.pc;
    }
    if (subcores_of(sm)->warps[w].head_pc != warp->pc)
        subcore_redirect(sm, w, warp->pc);
    look_at(sm, w, cycle);
}

static void update_core_warp(struct sm *sm, unsigned w) { take_offer(sm, w, sm->now); }

static void start_core_warp(struct sm *sm, unsigned w, uint32_t pc, uint32_t lanes) {
    struct subcores *all = subcores_of(sm);
    struct subcore_register *registers = all->warps[w].registers;
    if (!all->code->has_control)
        memset(registers, 0, all->code->register_count * sizeof *registers);
    leave_pipe(all, w);
    all->warps[w] =
        (struct subcore_warp){.registers = registers, .pipe = PIPES, .line = UINT32_MAX, .sure_from = NO_CYCLE};
    SETS(sm)->warps[w] = (struct sm_warp){.pc = pc, .since = sm->now, .stage = WAIT_FETCH, .ready_unit = SM_UNIT_COUNT};
    sm->slot_places[w] = (uint8_t)(w / sm->shape.warps_per_place);
    sm->progress[w] = 0;
    sm->mechanism->start(sm->control, w, pc, lanes);
    SETS(sm)->older[w] = SETS(sm)->used;
    SETS(sm)->used |= set_of(w);
    if (sm_hears(sm, SCHEDULER_STARTED))
        sm_tell(sm, &(struct scheduler_event){.kind = SCHEDULER_STARTED, .warp = w});
    subcore_redirect(sm, w, pc);
    update_core_warp(sm, w);
}

/* ---- what has been issued ---- */

static void look_behind(struct sm *sm, unsigned w) {
    const enum sm_wait stage = (enum sm_wait)SETS(sm)->warps[w].stage;
    if (subcores_of(sm)->warps[w].sure_from != NO_CYCLE) /* only time holds it back */
        return;
    if (set_has(SETS(sm)->used, w) && (stage == WAIT_REGISTER || stage == WAIT_MEMORY))
        consider_core_warp(sm, w);
}

void subcore_has_read(struct sm *sm, uint32_t number) {
    subcore_read(subcores_of(sm), &sm->flights[number]);
    look_behind(sm, sm->flights[number].warp);
}

/* ---- units ---- */

/* The issue port is taken up to a cycle. */
static void keep_port(struct sm *sm, unsigned w, uint64_t until) {
    struct subcore *core = subcore_of(sm, w);
    if (core->held_until < until)
        core->held_until = until, core->held_by_constant = false;
}

/* A unit that takes its time: the instruction waits in its latch until the one before has started. */
static void launch_unit(struct sm *sm, unsigned w, uint32_t pc, const struct subcore_inst *inst) {
    enum { READS_BEFORE_END = 3 };
    struct subcores *all = subcores_of(sm);
    struct subcore *core = subcore_of(sm, w);
    uint64_t *free = inst->pipe == PIPE_FP64 && sm->params.dp_shared ? &all->dp_free : &core->unit_free[inst->pipe];
    const uint64_t from = sm->now + LATCHES, begin = *free > from ? *free : from;
    *free = begin + inst->interval;
    core->pipe_free[inst->pipe] = begin - LATCHES > sm->now ? begin - LATCHES : sm->now + 1;
    if (core->busy_until < core->pipe_free[inst->pipe])
        core->busy_until = core->pipe_free[inst->pipe];
    const uint32_t number = sm_take_flight(sm);
    struct flight *flight = &sm->flights[number];
    flight->pc = pc, flight->warp = (uint8_t)w;
    flight->landed = false, flight->apart = 0, flight->ticket = NO_TICKET;
    flight->done_cycle = begin + inst->latency;
    SETS(sm)->warps[w].in_flight++;
    const uint64_t read = flight->done_cycle > from + READS_BEFORE_END ? flight->done_cycle - READS_BEFORE_END : from;
    sm_write_back_at(sm, read < flight->done_cycle ? read : flight->done_cycle, number);
}

static void take_pipe(struct sm *sm, unsigned w, const struct subcore_inst *inst) {
    struct subcore *core = subcore_of(sm, w);
    unsigned pipe = inst->pipe;
    if (pipe == PIPE_FP32) /* its own before the other */
        pipe = core->pipe_free[PIPE_FMA] <= sm->now ? PIPE_FMA : PIPE_ALU;
    const unsigned late = subcore_read_operands(sm, w, inst);
    core->pipe_free[pipe] = sm->now + inst->interval + late;
    if (core->busy_until < core->pipe_free[pipe])
        core->busy_until = core->pipe_free[pipe];
    if (late > 0)
        keep_port(sm, w, sm->now + 1 + late);
}

/* Registers, units and the memory queue, for an instruction that one or more parts of have been executed. */
static void launch_core(struct sm *sm, unsigned w, uint32_t pc, const struct access *access) {
    const struct subcore_inst *inst = &subcores_of(sm)->code->insts[pc];
    sm->progress[w] += sm->timed[pc].order == ORDER_PROGRESS;
    if (inst->kind == KIND_FIXED) {
        subcore_depend_fixed(sm, w, inst);
        take_pipe(sm, w, inst);
        return;
    }
    subcore_depend(sm, w, inst);
    subcore_take_ports(sm, w);
    if (inst->kind == KIND_MEMORY)
        subcore_launch_memory(sm, w, pc, access);
    else
        launch_unit(sm, w, pc, inst);
}

/* ---- issue ---- */

static slot_set end_core_threads(struct sm *sm, unsigned w, const struct executed *executed) {
    const unsigned number = w / sm->shape.warps_per_place;
    if (!sm->mechanism->alive(sm->control, w)) {
        SETS(sm)->used &= ~set_of(w);
        if (sm_hears(sm, SCHEDULER_ENDED))
            sm_tell(sm, &(struct scheduler_event){.kind = SCHEDULER_ENDED, .warp = w});
        update_core_warp(sm, w);
    }
    const slot_set changed = sm_end_threads(sm, number, w, NULL, executed, NULL);
    sm_end_if_done(sm, number);
    return changed;
}

/* Control flow, the end of a straight run, or a barrier: the mechanism says how the warp goes on. */
static void end_core_run(struct sm *sm, unsigned w, const struct executed *executed) {
    slot_set changed = 0;
    SETS(sm)->warps[w].since = sm->now + 1;
    switch (executed->flow) {
    case FLOW_BRANCH:
    case FLOW_MULTI:
    case FLOW_CALL: sm_count_divergence(sm, executed); break;
    case FLOW_EXIT: changed = end_core_threads(sm, w, executed); break;
    case FLOW_BARRIER: changed = sm_arrive(sm, w / sm->shape.warps_per_place, w, NULL, executed); break;
    default: break;
    }
    for (slot_set rest = changed & ~set_of(w); rest; rest &= rest - 1)
        update_core_warp(sm, set_first(rest));
    if (set_has(SETS(sm)->used, w))
        take_offer(sm, w, sm->now + 1);
}

static __attribute__((noinline)) void tell_of_core(struct sm *sm, unsigned w, const struct executed *executed) {
    const bool flies = subcores_of(sm)->code->insts[executed->pc].kind != KIND_FIXED;
    sm_tell_observer(sm, w, &SETS(sm)->warps[w].group, executed, flies ? sm->free_flight : (uint32_t)SM_FLIGHTS);
    if (sm->hears)
        sm_tell_issue(sm, w, &SETS(sm)->warps[w].group, executed);
    if (sm->predictor && executed->flow == FLOW_BRANCH)
        sm_predict(sm, w, executed);
}

/* When the warp may issue again. */
static void hold_issue(struct sm *sm, unsigned w, const struct subcore_inst *inst) {
    struct subcores *all = subcores_of(sm);
    struct subcore_warp *warp = &all->warps[w];
    warp->issue_from = sm->now + 1;
    if (all->code->has_control) {
        const unsigned stall = inst->said.stall, least = inst->said.yields ? 2 : 1;
        warp->issue_from = sm->now + (!stall && inst->said.yields ? (unsigned)YIELD_ALONE_CYCLES
                                      : stall > least             ? stall
                                                                  : least);
    }
    if (inst->fence_cycles && warp->issue_from < sm->now + inst->fence_cycles)
        warp->issue_from = sm->now + inst->fence_cycles;
    warp->lacks_constant = false;
    if (inst->said.is_wide)
        keep_port(sm, w, sm->now + 2);
    memset(warp->fresh, 0, sizeof warp->fresh);
    warp->fresh_until = 0;
}

/* The parts of an instruction before the last, in the same slot. False: the warp goes on elsewhere, or has faulted. */
static bool issue_parts(struct sm *sm, unsigned w, uint32_t last, struct executed *executed, struct access *access) {
    struct sm_warp *warp = &SETS(sm)->warps[w];
    for (;;) {
        const uint32_t pc = warp->group.pc;
        sm->executor.step(sm->executor.self, w, &warp->group, warp->alive, sm->now, executed, access);
        if (executed->flow == FLOW_FAULT || pc == last)
            return executed->flow != FLOW_FAULT;
        if (access->kind != ACCESS_NONE)
            launch_core(sm, w, pc, access);
        const bool runs_on = executed->flow == FLOW_NEXT && pc + 1 != warp->group.stop_pc && !sm->tells_all;
        if (runs_on) {
            warp->group.pc = pc + 1;
            continue;
        }
        sm->mechanism->issued(sm->control, w, &warp->group, executed);
        if (sm->is_watched)
            tell_of_core(sm, w, executed);
        if (executed->flow != FLOW_NEXT || !sm->mechanism->offer(sm->control, w, &warp->group) ||
            warp->group.pc != pc + 1)
            return false;
    }
}

void subcore_issue(struct sm *sm, unsigned scheduler, unsigned w) {
    struct subcores *all = subcores_of(sm);
    struct sm_warp *warp = &SETS(sm)->warps[w];
    const uint32_t pc = warp->pc;
    const struct subcore_inst *inst = &all->code->insts[pc];
    struct executed executed;
    struct access access;
    sm->inst_stats[pc].waits[warp->stage] += sm->now - warp->since;
    sm->scheduler_class[scheduler] = warp->width_class;
    sm->scheduler_pc[scheduler] = pc;
    sm_count_slots(sm, pc, warp->width_class, 1);
    sm_count_group(sm, warp->width);
    all->of[scheduler].last = w;
    hold_issue(sm, w, inst);
    const bool is_whole = issue_parts(sm, w, inst->next - 1, &executed, &access);
    if (executed.flow == FLOW_FAULT) {
        sm->faulted = true;
        sm->fault_cycle = sm->now, sm->fault_warp = w;
        return;
    }
    subcore_pop(sm, w, inst->next);
    const bool runs_on = is_whole && executed.flow == FLOW_NEXT && inst->next != warp->group.stop_pc && !sm->tells_all;
    if (is_whole && !runs_on) {
        sm->mechanism->issued(sm->control, w, &warp->group, &executed);
        if (sm->is_watched)
            tell_of_core(sm, w, &executed);
    }
    if (is_whole)
        launch_core(sm, w, inst->next - 1, &access);
    if (!runs_on) {
        end_core_run(sm, w, &executed);
        return;
    }
    warp->since = sm->now + 1;
    warp->pc = warp->group.pc = inst->next;
    warp->stage = WAIT_TURN;
    look_at(sm, w, sm->now + 1);
}

/* Where lanes wait on their own: as sm/warps.c. */
void subcore_issue_path(struct sm *sm, unsigned scheduler, unsigned w) {
    struct sm_warp *warp = &SETS(sm)->warps[w];
    if (!inst_meets(&sm->module->code[warp->pc]) || sm_is_whole(sm, w, &warp->group)) {
        subcore_issue(sm, scheduler, w);
        return;
    }
    const uint32_t next = warp->pc + 1;
    sm->inst_stats[warp->pc].waits[warp->stage] += sm->now - warp->since;
    warp->since = sm->now + 1;
    sm->scheduler_class[scheduler] = warp->width_class;
    sm->scheduler_pc[scheduler] = warp->pc;
    sm_count_issued(sm, scheduler, 1);
    hold_issue(sm, w, &subcores_of(sm)->code->insts[warp->pc]);
    subcore_pop(sm, w, next);
    const slot_set changed = sm_meet(sm, w, &warp->group, NULL);
    for (slot_set rest = changed & ~set_of(w); rest; rest &= rest - 1)
        update_core_warp(sm, set_first(rest));
    take_offer(sm, w, sm->now + 1);
}

/* ---- back ---- */

static void end_core_flight(struct sm *sm, uint32_t number) {
    const unsigned w = sm->flights[number].warp;
    subcore_written(subcores_of(sm), &sm->flights[number]);
    SETS(sm)->warps[w].in_flight--;
    sm_free_flight(sm, number);
    if (set_has(SETS(sm)->used, w))
        look_behind(sm, w);
    else
        sm_end_if_done(sm, w / sm->shape.warps_per_place);
}

/* Twice for an instruction: its data are in the SM, or its operands are read; its results are in registers. */
void subcore_write_back(struct sm *sm, uint32_t number) {
    struct flight *flight = &sm->flights[number];
    const struct subcore_inst *inst = &subcores_of(sm)->code->insts[flight->pc];
    const bool is_memory = inst->kind == KIND_MEMORY;
    if (flight->landed) {
        end_core_flight(sm, number);
        return;
    }
    flight->landed = true;
    if (!is_memory)
        subcore_has_read(sm, number);
    uint64_t there = flight->done_cycle;
    if (is_memory) {
        struct sm_warp *warp = &SETS(sm)->warps[flight->warp];
        if (flight->ticket != NO_TICKET) {
            sm->executor.finish(sm->executor.self, flight->ticket);
            warp->atomics_in_flight--;
        }
        warp->memory_in_flight--;
        sm_end_copy(sm, flight, &sm->timed[flight->pc]);
        there = subcore_return(sm, flight);
    }
    if (there > sm->now)
        sm_write_back_at(sm, there, number);
    else
        end_core_flight(sm, number);
}

/* ---- waiting for other threads ---- */

/* Threads at a block barrier go on some cycles behind the last arrival. */
static void pass_barrier(struct sm *sm, unsigned w) {
    subcores_of(sm)->warps[w].issue_from = sm->now + sm->params.barrier_cycles;
}

static slot_set go_on_core_whole(struct sm *sm, unsigned w, uint32_t lanes) {
    pass_barrier(sm, w);
    return sm_go_on_whole(sm, w, lanes);
}

static slot_set go_on_core_path(struct sm *sm, unsigned w, uint32_t lanes) {
    pass_barrier(sm, w);
    return sm_go_on_path(sm, w, lanes);
}

/* Warp-level operations that were waited for go through the pipeline where it has room; else they take no time. */
static void launch_if_room(struct sm *sm, unsigned w, uint32_t pc, const struct access *access) {
    const struct subcore *core = subcore_of(sm, w);
    if (sm->free_flight != NO_FLIGHT && core->count < core->room + SUBCORE_PARTS)
        launch_core(sm, w, pc, access);
}

static slot_set launch_core_whole(struct sm *sm, unsigned slot, unsigned w, const struct group *group,
                                  const struct access *access, struct bundle *bundle) {
    (void)slot, (void)bundle;
    launch_if_room(sm, w, group->pc, access);
    return sm_go_on_whole(sm, w, group->lanes);
}

static slot_set launch_core_path(struct sm *sm, unsigned slot, unsigned w, const struct group *group,
                                 const struct access *access, struct bundle *bundle) {
    (void)slot, (void)bundle;
    launch_if_room(sm, w, group->pc, access);
    return sm_go_on_path(sm, w, group->lanes);
}

SM_STAGE const struct sm_front sm_subcore_warps = {.run = subcore_run_warps,
                                                   .start = start_core_warp,
                                                   .update = update_core_warp,
                                                   .consider = consider_core_warp,
                                                   .fetched = consider_core_warp,
                                                   .issue = NULL, /* in the loop */
                                                   .write_back = subcore_write_back,
                                                   .hold = sm_hold_whole,
                                                   .go_on = go_on_core_whole,
                                                   .launch = launch_core_whole,
                                                   .all_at_memory = sm_warps_at_memory,
                                                   .is_here = sm_warp_is_here};

SM_STAGE const struct sm_front sm_subcore_paths = {.run = subcore_run_paths,
                                                   .start = start_core_warp,
                                                   .update = update_core_warp,
                                                   .consider = consider_core_warp,
                                                   .fetched = consider_core_warp,
                                                   .issue = NULL,
                                                   .write_back = subcore_write_back,
                                                   .hold = sm_hold_path,
                                                   .go_on = go_on_core_path,
                                                   .launch = launch_core_path,
                                                   .all_at_memory = sm_warps_at_memory,
                                                   .is_here = sm_warp_is_here};
