/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/flight.h"

#include "sm/apart.h"
#include "sm/ready.h"

__attribute__((noinline)) uint32_t sm_use_flight(struct sm *sm) {
    return ++sm->flights_used < FLIGHTS_MAX ? sm->flights_used : NO_FLIGHT;
}

void sm_hold_guards(struct sm *sm, unsigned w, uint32_t number) {
    const struct timed_guards *guards = &sm->guards.of[sm->flights[number].pc];
    sm->flights[number].landed = false;
    for (unsigned i = 0; i < guards->count; i++) {
        SETS(sm)->warps[w].pending[guards->of[i].word].any |= guards->of[i].bit;
        sm->guards.flights[(size_t)w * sm->guards.count + guards->of[i].number] = number;
    }
}

bool sm_waits_for_copies(const struct sm *sm, unsigned w, uint32_t allowed) {
    const struct sm_copies *copies = sm->copies ? &sm->copies[w] : NULL;
    for (uint32_t age = allowed; copies && age < COPY_GROUPS; age++) /* 0: the group that is open */
        if (copies->under_way[(copies->open - age) % COPY_GROUPS])
            return true;
    return false;
}

void sm_note_copy(struct sm *sm, unsigned w, struct flight *flight, enum timed_order order) {
    struct sm_copies *copies = &sm->copies[w];
    if (order == ORDER_COMMIT)
        copies->open = (uint8_t)((copies->open + 1) % COPY_GROUPS);
    else
        flight->copies = copies->open, copies->under_way[copies->open]++;
}

void sm_begin_memory(struct sm *sm, unsigned w, uint32_t number, const struct timed *timed,
                     const struct access *access) {
    struct flight *flight = &sm->flights[number];
    struct sm_warp *warp = &SETS(sm)->warps[w];
    flight->sent = false, flight->outstanding = 0, flight->done_cycle = 0;
    flight->place = (uint8_t)(w / sm->shape.warps_per_place);
    flight->ticket = access_ticket(access);
    warp->memory_in_flight++;
    SETS(sm)->near |= set_of(w);
    warp->atomics_in_flight += flight->ticket != NO_TICKET;
    if (timed->order >= ORDER_COPY)
        sm_note_copy(sm, w, flight, (enum timed_order)timed->order);
    const bool slow = access->kind != ACCESS_NONE ? access->space != SPACE_SHARED : timed->parameter != 0;
    sm_set_pending(warp->pending, timed, slow);
}

void sm_launch_memory(struct sm *sm, unsigned w, uint32_t number, const struct timed *timed,
                      const struct access *access) {
    struct flight *flight = &sm->flights[number];
    sm_begin_memory(sm, w, number, timed, access);
    sm_enqueue_memory(sm, number, timed, access, sm_read_operands(sm, w, timed));
    if (sm->lane_tags)
        flight->misses = 0, flight->entire = flight->landed = false;
    if (sm->slips) {
        if (access->kind == ACCESS_NONE || access->space == SPACE_SHARED || access->space == SPACE_CONST ||
            access->space == SPACE_PARAM)
            sm_looked_up(sm, number, 0);
    }
}

void sm_launch_if_room(struct sm *sm, unsigned w, uint32_t pc, const struct access *access) {
    if (sm_takes(sm, pc))
        sm_launch_flight(sm, w, pc, access);
}

uint32_t sm_take_flight(struct sm *sm) {
    const uint32_t flight = sm->free_flight;
    if (flight != NO_FLIGHT)
        sm->free_flight = sm_next_flight(sm, flight);
    return flight;
}

void sm_book_flight(struct sm *sm, unsigned slot, uint32_t number, const struct access *access, struct bundle *bundle) {
    struct flight *flight = &sm->flights[number];
    const struct timed *timed = &sm->timed[flight->pc];
    const enum sm_unit unit = timed->unit;
    if (!bundle->ready) /* groups of a bundle are on lanes, and so in register files, of their own */
        bundle->ready = sm_read_operands(sm, slot, timed) + (bundle->turns - 1) * sm->wide;
    if (unit == SM_UNIT_MEMORY) {
        sm_enqueue_memory(sm, number, timed, access, bundle->ready);
        return;
    }
    if (sm->params.pipeline == SM_ONE_CYCLE) {
        sm_write_back_at(sm, sm->now + sm->wide, number);
        return;
    }
    if (!bundle->starts[unit]) {
        bundle->starts[unit] = sm_take_unit(sm, unit, bundle->ready, timed);
        sm->collectors_used += UINT64_C(1) << UNIT_BITS * unit;
        sm_collector_at(sm, bundle->starts[unit], unit);
    }
    sm_write_back_at(sm, bundle->starts[unit] + timed->done_cycles, number);
}

/* ---- the end of instructions, threads, blocks ---- */

bool sm_keeps_guards(struct sm *sm, uint32_t number) {
    struct flight *flight = &sm->flights[number];
    if (flight->landed)
        return false;
    flight->landed = true;
    sm_write_back_at(sm, sm->now + sm->guards.of[flight->pc].cycles, number);
    return true;
}

uint32_t sm_newer_guard(struct sm *sm, uint32_t number, unsigned i) {
    const struct flight *flight = &sm->flights[number];
    uint32_t *last =
        &sm->guards.flights[(size_t)flight->warp * sm->guards.count + sm->guards.of[flight->pc].of[i].number];
    if (*last != number)
        return *last;
    *last = NO_FLIGHT;
    return NO_FLIGHT;
}

void sm_end_if_done(struct sm *sm, unsigned number) {
    struct sm_place *place = &sm->places[number];
    if (!place->used || place->waiting.alive || place->stores || place->in_flight)
        return;
    for (unsigned w = number * sm->shape.warps_per_place; w < (number + 1) * sm->shape.warps_per_place; w++)
        if (SETS(sm)->warps[w].in_flight)
            return;
    place->used = false;
    if (place->cluster)
        place->cluster->ended[place->rank] = true;
    sm->places_used--;
    sm->stats.blocks++;
}
