/* Issue: each scheduler picks a ready warp, its group is executed, and the times of what follows are booked: register
 * banks and units keep the cycle they are next free, so a later stage needs no polling. */
#include "sm/state.h"

uint32_t sm_take_flight(struct sm *sm) {
    const uint32_t flight = sm->free_flight;
    if (flight != NO_FLIGHT)
        sm->free_flight = sm->flights[flight].next;
    return flight;
}

static void set_pending(struct sm *sm, unsigned warp, const struct timed *timed, bool pending, bool memory) {
    uint64_t *words = sm_pending(sm, warp), *slow = sm_pending_memory(sm, warp);
    for (unsigned i = 0; i < timed->dst_count; i++) {
        const uint32_t r = timed->registers[i];
        const uint64_t bit = UINT64_C(1) << r % 64;
        words[r / 64] = pending ? words[r / 64] | bit : words[r / 64] & ~bit;
        slow[r / 64] = pending && memory ? slow[r / 64] | bit : slow[r / 64] & ~bit;
    }
}

/* ---- the end of instructions, threads, blocks ---- */

void sm_end_if_done(struct sm *sm, unsigned number) {
    struct place *place = &sm->places[number];
    if (!place->used || place->warps_left || place->stores)
        return;
    for (unsigned w = number * sm->shape.warps_per_place; w < (number + 1) * sm->shape.warps_per_place; w++)
        if (sm->warps[w].in_flight)
            return;
    place->used = false;
    sm->places_used--;
    sm->stats.blocks++;
}

void sm_write_back(struct sm *sm, uint32_t number) {
    struct flight *flight = &sm->flights[number];
    const unsigned warp = flight->warp;
    const struct timed *timed = &sm->timed[flight->pc];
    if (flight->ticket != NO_TICKET) {
        sm->executor.finish(sm->executor.self, flight->ticket);
        sm->warps[warp].atomics_in_flight--;
    }
    set_pending(sm, warp, timed, false, false);
    sm->warps[warp].in_flight--;
    sm->warps[warp].memory_in_flight -= timed->is_memory;
    flight->next = sm->free_flight;
    sm->free_flight = number;
    if (sm->used >> warp & 1)
        sm_update_warp(sm, warp);
    else
        sm_end_if_done(sm, warp / sm->shape.warps_per_place);
}

/* ---- barriers ---- */

static void release_barrier(struct sm *sm, unsigned number, unsigned id) {
    struct place *place = &sm->places[number];
    struct barrier *barrier = &place->barriers[id];
    const struct barrier met = *barrier;
    *barrier = (struct barrier){0};
    for (unsigned w = number * sm->shape.warps_per_place; w < (number + 1) * sm->shape.warps_per_place; w++) {
        struct sm_warp *warp = &sm->warps[w];
        if (!warp->waits || warp->barrier != id)
            continue;
        sm->executor.barrier_result(sm->executor.self, w, warp->barrier_pc, warp->barrier_lanes, met.true_count,
                                    met.true_count == met.arrived, met.true_count != 0);
        warp->waits = false;
        sm_update_warp(sm, w);
    }
}

static void arrive(struct sm *sm, unsigned w, const struct executed *executed) {
    const unsigned number = w / sm->shape.warps_per_place;
    struct place *place = &sm->places[number];
    struct barrier *barrier = &place->barriers[executed->barrier];
    barrier->arrived += bits_count(executed->taken);
    barrier->true_count += bits_count(executed->predicate);
    barrier->expected = executed->expected;
    if (sm->module->code[executed->pc].mode != MODE_ARRIVE) {
        struct sm_warp *warp = &sm->warps[w];
        warp->waits = true;
        warp->barrier = executed->barrier, warp->barrier_pc = executed->pc, warp->barrier_lanes = executed->taken;
    }
    if (barrier_is_met(barrier, place->alive))
        release_barrier(sm, number, executed->barrier);
}

static void end_threads(struct sm *sm, unsigned w, const struct executed *executed) {
    const unsigned number = w / sm->shape.warps_per_place, ended = bits_count(executed->taken);
    struct place *place = &sm->places[number];
    place->alive -= ended;
    sm->threads += ended;
    if (!sm->mechanism->alive(sm->control, w)) {
        sm->used &= ~(UINT64_C(1) << w);
        place->warps_left--;
        sm_update_warp(sm, w);
    }
    for (unsigned i = 0; i < BARRIERS; i++)
        if (!place->barriers[i].expected && barrier_is_met(&place->barriers[i], place->alive))
            release_barrier(sm, number, i);
    sm_end_if_done(sm, number);
}

/* ---- issue ---- */

static void count_parting(struct sm *sm, const struct executed *executed) {
    bool parted = executed->flow == FLOW_BRANCH && executed->taken && executed->taken != executed->lanes;
    if (executed->flow == FLOW_MULTI || executed->flow == FLOW_CALL) {
        const uint32_t next = executed->next[bits_first(executed->taken)];
        for (BITS_EACH(lane, executed->taken))
            parted |= executed->next[lane] != next;
    }
    sm->divergent_branches += parted;
    sm->divergent[executed->pc] += parted;
}

/* Operands: one read per bank and cycle, in the order of issue. */
static uint64_t read_operands(struct sm *sm, unsigned warp, const struct timed *timed) {
    uint64_t last = sm->now;
    for (unsigned i = timed->dst_count; i < (unsigned)timed->dst_count + timed->src_count; i++) {
        uint64_t *bank = &sm->bank_free[(timed->registers[i] + warp) % sm->params.register_banks];
        const uint64_t at = *bank > sm->now ? *bank : sm->now;
        *bank = at + 1;
        if (*bank > last)
            last = *bank;
    }
    return last + 1;
}

static enum sm_unit unit_of(const struct sm *sm, const struct timed *timed) {
    if (timed->unit == SM_UNIT_INT && !sm->unit_count[SM_UNIT_INT])
        return SM_UNIT_SP;
    return timed->unit == SM_UNIT_DP && !sm->unit_count[SM_UNIT_DP] ? SM_UNIT_SFU : (enum sm_unit)timed->unit;
}

/* The first unit of the kind to be free takes it. */
static uint64_t take_unit(struct sm *sm, enum sm_unit unit, uint64_t ready, uint32_t interval) {
    uint64_t *free = sm->unit_free[unit];
    unsigned best = 0;
    for (unsigned i = 1; i < sm->unit_count[unit]; i++)
        if (free[i] < free[best])
            best = i;
    const uint64_t start = free[best] > ready ? free[best] : ready;
    free[best] = start + interval;
    return start;
}

static void launch_flight(struct sm *sm, unsigned w, uint32_t pc, const struct access *access) {
    const struct timed *timed = &sm->timed[pc];
    const uint32_t number = sm_take_flight(sm);
    struct flight *flight = &sm->flights[number];
    *flight = (struct flight){.pc = pc, .warp = (uint8_t)w, .ticket = NO_TICKET};
    sm->warps[w].in_flight++;
    sm->warps[w].memory_in_flight += timed->is_memory;
    const bool slow = access->kind != ACCESS_NONE && access->space != SPACE_SHARED;
    set_pending(sm, w, timed, true, slow);
    const uint64_t ready = read_operands(sm, w, timed);
    if (access->kind != ACCESS_NONE) {
        flight->ticket = access->kind == ACCESS_ATOMIC ? access->ticket : NO_TICKET;
        sm->warps[w].atomics_in_flight += flight->ticket != NO_TICKET;
        sm_enqueue_access(sm, number, access, ready);
        return;
    }
    const enum sm_unit unit = unit_of(sm, timed);
    const uint32_t wide = LANES_MAX / sm->params.lanes;
    const uint32_t latency = timed->is_memory ? sm->params.const_latency : timed->latency;
    const uint64_t start = unit == SM_UNIT_MEMORY ? ready : take_unit(sm, unit, ready, timed->interval * wide);
    if (unit != SM_UNIT_MEMORY) {
        sm->collectors_used[unit]++;
        sm_event(sm, start > sm->now ? start : sm->now + 1, EVENT_COLLECTOR, unit);
    }
    sm_event(sm, start + latency + wide - 1, EVENT_WRITE_BACK, number);
}

static void count_issue(struct sm *sm, uint32_t lanes) {
    uint64_t *classes = &sm->stats.issued_1;
    classes[(bits_count(lanes) + 3) / 4 - 1] += LANES_MAX / sm->params.lanes;
}

static void issue_warp(struct sm *sm, unsigned w) {
    struct sm_warp *warp = &sm->warps[w];
    struct group group;
    struct executed executed;
    struct access access;
    sm->mechanism->offer(sm->control, w, &group);
    sm->inst_stats[group.pc].waits[warp->stage] += sm->now - warp->since;
    sm->executor.step(sm->executor.self, w, &group, sm->mechanism->alive(sm->control, w), sm->now, &executed, &access);
    count_issue(sm, group.lanes);
    if (executed.flow == FLOW_FAULT) {
        sm->faulted = true;
        sm->fault_cycle = sm->now, sm->fault_warp = w;
        return;
    }
    sm->mechanism->issued(sm->control, w, &executed);
    launch_flight(sm, w, group.pc, &access);
    warp->buffer_pc++, warp->buffer_count--;
    switch (executed.flow) {
    case FLOW_BRANCH:
    case FLOW_MULTI:
    case FLOW_CALL: count_parting(sm, &executed); break;
    case FLOW_EXIT: end_threads(sm, w, &executed); break;
    case FLOW_BARRIER: arrive(sm, w, &executed); break;
    default: break;
    }
    warp->since = sm->now + 1;
    if (sm->used >> w & 1)
        sm_update_warp(sm, w);
}

void sm_issue(struct sm *sm) {
    uint64_t possible = 0, any = 0;
    for (unsigned u = 0; u < SM_UNIT_COUNT; u++) {
        any |= sm->ready[u];
        const bool room = u == SM_UNIT_MEMORY ? sm->queue_count < sm->params.memory_queue
                                              : sm->collectors_used[u] < sm->params.collectors;
        if (room)
            possible |= sm->ready[u];
    }
    if (sm->free_flight == NO_FLIGHT)
        possible = 0;
    for (unsigned s = 0; s < sm->params.schedulers; s++) {
        if (sm->scheduler_busy[s] > sm->now)
            continue;
        const struct scheduler_view view = {possible & sm->scheduler_warps[s], sm->stalled_long, sm->older};
        if (!view.ready) {
            if (any & sm->scheduler_warps[s])
                sm->stats.stall++;
            else if (sm->used && (sm->stalled_long & sm->used) == sm->used)
                sm->stats.memory++;
            else
                sm->stats.idle++;
            continue;
        }
        const unsigned warp = sm->scheduler->pick(sm->schedulers[s], &view);
        issue_warp(sm, warp);
        sm->scheduler_busy[s] = sm->now + LANES_MAX / sm->params.lanes;
        if (sm->faulted)
            return;
        /* room may be gone for the next scheduler */
        const enum sm_unit memory = SM_UNIT_MEMORY;
        if (sm->queue_count >= sm->params.memory_queue)
            possible &= ~sm->ready[memory];
        for (unsigned u = 0; u < SM_UNIT_MEMORY; u++)
            if (sm->collectors_used[u] >= sm->params.collectors)
                possible &= ~sm->ready[u];
        if (sm->free_flight == NO_FLIGHT)
            possible = 0;
    }
}
