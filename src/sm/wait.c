/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that wait for others, at block barriers and at warp-level operations: outside the mechanism, whether warps keep
 * their slots or groups dissolve. Where a warp waits as a whole its slot does; where its lanes can wait on their own the
 * mechanism offers the others meanwhile; where groups dissolve those who wait have not come back. */
#include <string.h>

#include "simt/threads.h"
#include "sm/book.h"

void sm_look_again(struct sm *sm, slot_set slots) {
    for (; slots; slots &= slots - 1)
        sm_update_warp(sm, set_first(slots));
}

static void hold(struct sm *sm, unsigned warp, uint32_t pc, uint32_t at, uint32_t lanes) {
    waits_add(&sm->waits[warp], pc, at, lanes);
    sm->at_others += bits_count(lanes);
    if (sm_hears(sm, SCHEDULER_WAITS) && !sm->regroup)
        sm_tell(sm, &(struct scheduler_event){.kind = SCHEDULER_WAITS, .warp = warp, .pc = pc, .lanes = lanes});
    if (sm->mechanism->waiting)
        sm->mechanism->waiting->wait(sm->control, warp, lanes);
    else if (!sm->regroup)
        sm->warps[warp].waits = true;
}

static slot_set let_go(struct sm *sm, unsigned warp, uint32_t lanes) {
    if (sm->regroup)
        return sm_regroup_go_on(sm, warp, lanes);
    if (sm_hears(sm, SCHEDULER_GOES_ON))
        sm_tell(sm, &(struct scheduler_event){.kind = SCHEDULER_GOES_ON, .warp = warp, .lanes = lanes});
    sm->warps[warp].waits = false;
    return sm->mechanism->waiting ? sm_answer(sm, warp, sm->mechanism->waiting->go_on(sm->control, warp, lanes))
                                  : set_of(warp);
}

/* ---- block barriers ---- */

static slot_set release(struct sm *sm, unsigned number, unsigned id) {
    const struct barrier_result result = barrier_open(&sm->places[number].barriers[id]);
    slot_set changed = 0;
    for (unsigned w = number * sm->shape.warps_per_place; w < (number + 1) * sm->shape.warps_per_place; w++)
        for (struct waiting one; waits_take(&sm->waits[w], id, &one);) {
            sm->at_others -= bits_count(one.lanes);
            sm->executor.barrier_result(sm->executor.self, w, one.pc, one.lanes, &result);
            changed |= let_go(sm, w, one.lanes);
        }
    return changed;
}

bool sm_stays(const struct sm *sm, const struct executed *executed) {
    return executed->flow == FLOW_BARRIER && sm->module->code[executed->pc].mode != MODE_ARRIVE;
}

slot_set sm_arrive(struct sm *sm, unsigned number, unsigned slot, const uint16_t *threads,
                   const struct executed *executed) {
    struct sm_place *place = &sm->places[number];
    const bool met = barrier_arrive(&place->barriers[executed->barrier], executed, place->alive);
    unsigned warp;
    if (sm_stays(sm, executed))
        for (uint32_t rest = executed->taken, lanes; rest;) {
            lanes = threads_take_warp(slot, threads, &rest, &warp);
            hold(sm, warp, executed->pc, executed->barrier, lanes);
        }
    return met ? release(sm, number, executed->barrier) : 0;
}

/* ---- warp-level operations ---- */

static struct waits_members members_of(const struct sm *sm, unsigned warp) {
    return (struct waits_members){sm->executor.self, sm->executor.members, warp * LANES_MAX};
}

bool sm_is_whole(const struct sm *sm, unsigned warp, const struct group *group) {
    const struct waits_members members = members_of(sm, warp);
    return waits_are_whole(&members, group->pc, group->lanes, sm->mechanism->alive(sm->control, warp));
}

/* Executes the operation for every set that is complete. */
static slot_set meet(struct sm *sm, unsigned slot, unsigned warp, struct bundle *bundle) {
    const uint32_t alive = sm->mechanism->alive(sm->control, warp);
    const struct waits_members members = members_of(sm, warp);
    slot_set changed = 0;
    uint32_t pc;
    for (uint32_t set; (set = waits_meet(&sm->waits[warp], &members, alive, &pc)) != 0;) {
        struct executed executed;
        struct access access;
        const struct group group = {.pc = pc, .lanes = set, .stop_pc = NO_PC};
        sm->executor.step(sm->executor.self, warp, &group, alive, sm->now, &executed, &access);
        sm_count_group(sm, bits_count(set));
        sm->at_others -= bits_count(set);
        if (executed.flow == FLOW_FAULT) {
            sm->faulted = true;
            sm->fault_cycle = sm->now, sm->fault_warp = warp;
            break;
        }
        if (sm->regroup)
            changed |= sm_regroup_launch(sm, slot, warp, &group, &access, bundle);
        else {
            sm_launch_if_room(sm, warp, pc, &access);
            changed |= let_go(sm, warp, set);
        }
    }
    return changed;
}

slot_set sm_meet(struct sm *sm, unsigned slot, const struct group *offered, struct bundle *bundle) {
    const struct executed passed = {.flow = FLOW_NEXT, .pc = offered->pc, .issues = 1, .lanes = offered->lanes};
    uint16_t copy[LANES_MAX];
    const uint16_t *const threads = offered->threads ? copy : NULL;
    if (threads) /* they are the mechanism's until it is told */
        memcpy(copy, offered->threads, sizeof copy);
    const struct group group = {.pc = offered->pc, .lanes = offered->lanes, .stop_pc = NO_PC, .threads = threads};
    slot_set changed = sm_answer(sm, slot, sm->mechanism->issued(sm->control, slot, &group, &passed));
    unsigned warp;
    sm_tell_watcher(sm, slot, &group, &passed, SM_FLIGHTS);
    for (uint32_t rest = passed.lanes, lanes; rest && !sm->faulted;) {
        lanes = threads_take_warp(slot, threads, &rest, &warp);
        hold(sm, warp, passed.pc, AT_MEETING, lanes);
        changed |= meet(sm, slot, warp, bundle);
    }
    return changed;
}

slot_set sm_end_threads(struct sm *sm, unsigned number, unsigned slot, const uint16_t *threads,
                        const struct executed *executed, struct bundle *bundle) {
    struct sm_place *place = &sm->places[number];
    const unsigned ended = bits_count(executed->taken);
    slot_set changed = 0;
    place->alive -= ended;
    sm->threads += ended;
    for (uint32_t rest = executed->taken; rest && sm->at_others;) {
        unsigned warp;
        threads_take_warp(slot, threads, &rest, &warp);
        changed |= meet(sm, slot, warp, bundle);
    }
    for (unsigned i = 0; i < BARRIERS; i++)
        if (barrier_is_met_by_ends(&place->barriers[i], place->alive))
            changed |= release(sm, number, i);
    return changed;
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
    const struct barrier *barrier = &place->barriers[one->at];
    report_add(report, STATUS_STOPPED,
               "  SM %u, block %llu, warp %u: lanes 0x%08x wait at barrier %u (%s): %u of %u threads have come", id,
               block, number, (unsigned)one->lanes, (unsigned)one->at, where, (unsigned)barrier->arrived,
               (unsigned)(barrier->expected ? barrier->expected : place->alive));
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
        report_add(report, STATUS_STOPPED,
                   "    lanes 0x%08x of the same warp parted from them before and stand at %s; they run only after the "
                   "others",
                   (unsigned)others, where);
    else
        report_add(report, STATUS_STOPPED, "  SM %u, block %llu, warp %u: lanes 0x%08x, the first at %s",
                   (unsigned)sm->shape.id, (unsigned long long)sm->places[warp / sm->shape.warps_per_place].block,
                   warp % sm->shape.warps_per_place, (unsigned)others, where);
}
