/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that wait for others (simt/waiting.h), in time. */
#include <string.h>

#include "simt/threads.h"
#include "sm/book.h"
#include "sm/dsm.h"

/* One call of simt/waiting.h. */
struct sm_waiter {
    struct sm *sm;
    unsigned slot;
    struct bundle *bundle;
    slot_set changed; /* slots to be looked at again */
};

static void hold(void *owner, unsigned warp, uint32_t pc, uint32_t lanes) {
    struct sm *sm = ((struct sm_waiter *)owner)->sm;
    sm->at_others += bits_count(lanes);
    SETS(sm)->front->hold(sm, warp, pc, lanes);
}

static void let_go(void *owner, unsigned warp, const struct waiting *those, const struct barrier_result *result) {
    struct sm_waiter *waiter = owner;
    struct sm *sm = waiter->sm;
    sm->executor.barrier_result(sm->executor.self, warp, those->pc, those->lanes, result);
    sm->at_others -= bits_count(those->lanes);
    waiter->changed |= SETS(sm)->front->go_on(sm, warp, those->lanes);
}

static uint32_t alive(const void *owner, unsigned warp) {
    const struct sm *sm = ((const struct sm_waiter *)owner)->sm;
    return sm->mechanism->alive(sm->control, warp);
}

static uint32_t named(const void *owner, unsigned warp, unsigned lane, uint32_t pc) {
    const struct sm *sm = ((const struct sm_waiter *)owner)->sm;
    return sm->executor.members(sm->executor.self, warp * LANES_MAX + lane, pc);
}

/* What was waited for goes through the pipeline where that has room. */
static bool execute(void *owner, unsigned warp, const struct group *group, uint32_t lanes_alive) {
    struct sm_waiter *waiter = owner;
    struct sm *sm = waiter->sm;
    struct executed executed;
    struct access access;
    sm->executor.step(sm->executor.self, warp, group, lanes_alive, sm->now, &executed, &access);
    sm_count_group(sm, bits_count(group->lanes));
    if (executed.flow == FLOW_FAULT) {
        sm->faulted = true;
        sm->fault_cycle = sm->now, sm->fault_warp = warp;
        return false;
    }
    sm->at_others -= bits_count(group->lanes);
    waiter->changed |= SETS(sm)->front->launch(sm, waiter->slot, warp, group, &access, waiter->bundle);
    return true;
}

static const struct waiting_mode in_time = {
    .hold = hold, .let_go = let_go, .alive = alive, .named = named, .execute = execute};

static struct waiting_caller caller_of(struct sm_waiter *waiter) {
    return (struct waiting_caller){&in_time, waiter, waiter->sm->module->code};
}

slot_set sm_arrive(struct sm *sm, unsigned place, unsigned slot, const uint16_t *threads,
                   const struct executed *executed) {
    struct sm_waiter waiter = {.sm = sm, .slot = slot};
    const struct waiting_caller caller = caller_of(&waiter);
    waiting_arrive(&sm->places[place].waiting, &caller, slot, threads, executed);
    sm_dsm_note(sm, place);
    return waiter.changed;
}

bool sm_is_whole(struct sm *sm, unsigned warp, const struct group *group) {
    struct sm_waiter waiter = {.sm = sm};
    const struct waiting_caller caller = caller_of(&waiter);
    return waiting_is_whole(&caller, warp, group);
}

slot_set sm_meet(struct sm *sm, unsigned slot, const struct group *offered, struct bundle *bundle) {
    const struct executed passed = {.flow = FLOW_NEXT, .pc = offered->pc, .issues = 1, .lanes = offered->lanes};
    uint16_t copy[LANES_MAX];
    const uint16_t *const threads = offered->threads ? copy : NULL;
    if (threads) /* they are the mechanism's until it is told */
        memcpy(copy, offered->threads, sizeof copy);
    const struct group group = {.pc = offered->pc, .lanes = offered->lanes, .stop_pc = NO_PC, .threads = threads};
    const slot_set changed = sm_answer(slot, sm->mechanism->issued(sm->control, slot, &group, &passed));
    sm_tell_observer(sm, slot, &group, &passed, SM_FLIGHTS);
    return changed | sm_meet_told(sm, slot, &group, bundle);
}

slot_set sm_meet_told(struct sm *sm, unsigned slot, const struct group *group, struct bundle *bundle) {
    const unsigned first = group->threads ? group->threads[bits_first(group->lanes)] / LANES_MAX : slot;
    struct sm_waiter waiter = {.sm = sm, .slot = slot, .bundle = bundle};
    const struct waiting_caller caller = caller_of(&waiter);
    waiting_meet(&sm->places[first / sm->shape.warps_per_place].waiting, &caller, slot, group);
    return waiter.changed;
}

slot_set sm_end_threads(struct sm *sm, unsigned place, unsigned slot, const uint16_t *threads,
                        const struct executed *executed, struct bundle *bundle) {
    struct sm_waiter waiter = {.sm = sm, .slot = slot, .bundle = bundle};
    const struct waiting_caller caller = caller_of(&waiter);
    sm->threads += bits_count(executed->taken);
    waiting_end(&sm->places[place].waiting, &caller, slot, threads, executed);
    sm_dsm_note(sm, place);
    return waiter.changed;
}

slot_set sm_open_block(struct sm *sm, unsigned place) {
    struct sm_waiter waiter = {.sm = sm};
    const struct waiting_caller caller = caller_of(&waiter);
    waiting_open_cluster(&sm->places[place].waiting, &caller);
    return waiter.changed;
}

/* ---- reports ---- */

static void describe_waiting(const struct sm *sm, unsigned warp, const struct waiting *one, struct report *report) {
    const struct sm_place *place = &sm->places[warp / sm->shape.warps_per_place];
    const unsigned id = (unsigned)sm->shape.id, number = warp % sm->shape.warps_per_place;
    const unsigned long long block = place->block;
    char where[256];
    module_where(sm->module, one->pc, where, sizeof where);
    if (one->at == AT_MEETING) {
        report_add(report, STATUS_STOPPED,
                   "  SM %u, block %llu, warp %u: lanes 0x%08x wait at %s (%s) for others that it names", id, block,
                   number, (unsigned)one->lanes, op_name(sm->module->code[one->pc].op), where);
        return;
    }
    const struct barrier *barrier = &place->waiting.barriers[one->at];
    report_add(report, STATUS_STOPPED,
               "  SM %u, block %llu, warp %u: lanes 0x%08x wait at barrier %u (%s): %u of %u threads have come", id,
               block, number, (unsigned)one->lanes, (unsigned)one->at, where, (unsigned)barrier->arrived,
               (unsigned)(barrier->expected ? barrier->expected : place->waiting.alive));
}

void sm_describe_waits(const struct sm *sm, unsigned warp, struct report *report) {
    const uint32_t others = sm->mechanism->alive(sm->control, warp) & ~waits_lanes(&sm->waits[warp]);
    uint32_t pcs[LANES_MAX] = {0};
    char where[256];
    for (unsigned i = 0; i < sm->waits[warp].count; i++)
        describe_waiting(sm, warp, &sm->waits[warp].items[i], report);
    if (!others)
        return;
    sm->mechanism->where(sm->control, warp, pcs);
    module_where(sm->module, pcs[bits_first(others)], where, sizeof where);
    if (sm->whole_warps)
        report_add(
            report, STATUS_STOPPED,
            "    lanes 0x%08x of the same warp diverged from them before and stand at %s; they run only after the "
            "others",
            (unsigned)others, where);
    else
        report_add(report, STATUS_STOPPED, "  SM %u, block %llu, warp %u: lanes 0x%08x, the first at %s",
                   (unsigned)sm->shape.id, (unsigned long long)sm->places[warp / sm->shape.warps_per_place].block,
                   warp % sm->shape.warps_per_place, (unsigned)others, where);
}
