/* SPDX-License-Identifier: Apache-2.0 */
/* sm.pipeline control-bits: memory instructions between issue and the SM's load/store unit, and their data on the way back. A sub-core
 * makes addresses and reads data in order; the SM takes an instruction of one of them every few cycles. Times are fitted to a formula
 * for the release of registers: see docs/model.md. */
#include <string.h>

#include "sm/copies.h"
#include "sm/subcore.h"
#include "sm/wheel.h"

enum {
    TO_ADDRESSES = 3,   /* cycles from issue to the first address */
    BEHIND_LOAD = 4,    /* from the last address to the SM */
    BEHIND_STORE = 3,   /* from the last data to the SM */
    STORE_REGISTER = 2, /* what a store waits more for an address that lanes compute */
    TO_REGISTERS = 5,   /* from data in the SM to the link, without the cycles below */
    SEND_CYCLES = 2,    /* the last stage of a sub-core */
    RING_ROOM =
        32 /* instructions that wait for the load/store unit: what is left of the ring is for those being issued */
};

static struct subcore_access *queue_at(const struct sm *sm, struct subcore *core, unsigned number) {
    const unsigned size = core->room + SUBCORE_PARTS;
    (void)sm;
    return &core->queue[(core->head + number) % size];
}

/* What lanes want is in the ring of the load/store unit, at its end, and moves into the queue of the sub-core. */
static void copy_entry(struct queued *to, const struct queued *from) {
    memcpy(to, from, offsetof(struct queued, address));
    memcpy(to->address, from->address, from->count * sizeof *from->address);
    memcpy(to->lanes, from->lanes, from->count * sizeof *from->lanes);
    memcpy(to->bytes, from->bytes, from->count * sizeof *from->bytes);
    memcpy(to->sectors, from->sectors, from->count * sizeof *from->sectors);
}

/* When it may leave for the SM. */
static uint64_t book_stages(struct sm *sm, struct subcore *core, const struct subcore_inst *inst) {
    const uint64_t first = sm->now + TO_ADDRESSES;
    const uint64_t addressed = (core->address_free > first ? core->address_free : first) + inst->address_cycles;
    core->address_free = addressed;
    if (!inst->data_cycles)
        return addressed + BEHIND_LOAD + inst->is_constant;
    const uint64_t from = addressed + (inst->by_register ? STORE_REGISTER : 0);
    core->data_free = (core->data_free > from ? core->data_free : from) + inst->data_cycles;
    return core->data_free + BEHIND_STORE;
}

static void join_queue(struct sm *sm, unsigned w, uint32_t flight, const struct access *access) {
    const struct subcore_inst *inst = &subcores_of(sm)->code->insts[sm->flights[flight].pc];
    const struct timed *timed = &sm->timed[sm->flights[flight].pc];
    struct subcore *core = subcore_of(sm, w);
    struct subcore_access *entry = queue_at(sm, core, core->count++);
    subcores_of(sm)->queued++;
    entry->flight = flight;
    entry->leaves = book_stages(sm, core, inst);
    entry->is_empty = access->kind == ACCESS_NONE && !timed->parameter;
    if (entry->is_empty)
        return;
    if (access->kind != ACCESS_NONE)
        sm_enqueue_access(sm, flight, access, 0);
    else
        sm_enqueue_parameter(sm, flight, timed->parameter - 1, 0);
    sm->queue_count--;
    copy_entry(&entry->entry, &sm->queue[(sm->queue_head + sm->queue_count) & sm->queue_mask]);
}

static bool is_copy(const struct sm *sm, const struct flight *flight) {
    return subcores_of(sm)->code->insts[flight->pc].said.is_copy && sm->module->code[flight->pc].op == OP_LD;
}

void subcore_launch_memory(struct sm *sm, unsigned w, uint32_t pc, const struct access *access) {
    struct sm_warp *warp = &SETS(sm)->warps[w];
    const uint32_t number = sm_take_flight(sm);
    struct flight *flight = &sm->flights[number];
    flight->pc = pc, flight->warp = (uint8_t)w;
    flight->sent = flight->landed = flight->is_load = false, flight->outstanding = 0, flight->done_cycle = 0;
    flight->apart = 0;
    flight->place = (uint8_t)(w / sm->shape.warps_per_place);
    flight->ticket = access_ticket(access);
    warp->in_flight++;
    warp->memory_in_flight++;
    warp->atomics_in_flight += flight->ticket != NO_TICKET;
    if (sm->timed[pc].order >= ORDER_COPY)
        sm_note_copy(sm, w, flight, (enum timed_order)sm->timed[pc].order);
    SETS(sm)->near |= set_of(w);
    struct subcore_warp *issuer = &subcores_of(sm)->warps[w];
    issuer->copies += is_copy(sm, flight);
    if (subcores_of(sm)->code->insts[pc].said.awaits_copies)
        flight->done_cycle = issuer->copies;
    join_queue(sm, w, number, access);
}

static bool table_has_room(const struct sm *sm) {
    return subcores_of(sm)->in_table < sm->params.prt && sm->queue_count < RING_ROOM;
}

/* ---- asynchronous copies ---- */

/* The flight waits for the copies that the warp had issued before it; false: they are done. */
static bool awaits(struct sm *sm, uint32_t number) {
    struct subcore_warp *warp = &subcores_of(sm)->warps[sm->flights[number].warp];
    const uint32_t copies = (uint32_t)sm->flights[number].done_cycle; /* at its issue */
    if (warp->copied >= copies || warp->awaiting_count == COPIES_AWAITED)
        return false;
    warp->awaiting[warp->awaiting_count].flight = number;
    warp->awaiting[warp->awaiting_count++].copies = copies;
    return true;
}

void subcore_copied(struct sm *sm, unsigned w) {
    struct subcore_warp *warp = &subcores_of(sm)->warps[w];
    unsigned kept = 0;
    warp->copied++;
    for (unsigned i = 0; i < warp->awaiting_count; i++)
        if (warp->awaiting[i].copies <= warp->copied)
            sm_write_back_at(sm, sm->now + 1, warp->awaiting[i].flight);
        else
            warp->awaiting[kept++] = warp->awaiting[i];
    warp->awaiting_count = kept;
}

/* ---- to the SM ---- */

static void send_one(struct sm *sm, struct subcore *core) {
    struct subcores *all = subcores_of(sm);
    const struct subcore_access *entry = queue_at(sm, core, 0);
    const uint32_t number = entry->flight;
    const struct subcore_inst *inst = &all->code->insts[sm->flights[number].pc];
    all->queued--, all->in_table++;
    if (entry->is_empty && inst->said.awaits_copies && awaits(sm, number))
        ; /* until they are done */
    else if (entry->is_empty)
        sm_write_back_at(sm, sm->now + inst->latency, number);
    else {
        struct queued *to = &sm->queue[(sm->queue_head + sm->queue_count++) & sm->queue_mask];
        copy_entry(to, &entry->entry);
        to->ready_cycle = sm->now;
    }
    core->head = (core->head + 1) % (core->room + SUBCORE_PARTS);
    if (--core->count && queue_at(sm, core, 0)->leaves < sm->now + SEND_CYCLES)
        queue_at(sm, core, 0)->leaves = sm->now + SEND_CYCLES;
    if (!(inst->is_constant && inst->by_register))
        subcore_has_read(sm, number);
}

void subcore_send(struct sm *sm) {
    struct subcores *all = subcores_of(sm);
    if (!all->queued || all->pipe_free > sm->now || !table_has_room(sm))
        return;
    for (unsigned n = 0; n < sm->params.schedulers; n++) {
        const unsigned s = (all->turn + n) % sm->params.schedulers;
        struct subcore *core = &all->of[s];
        if (!core->count || queue_at(sm, core, 0)->leaves > sm->now)
            continue;
        all->turn = s + 1;
        all->pipe_free = sm->now + sm->params.shared_pipe_interval;
        send_one(sm, core);
        return;
    }
}

uint64_t subcore_next_send(const struct sm *sm) {
    struct subcores *all = subcores_of(sm);
    uint64_t next = NO_CYCLE;
    if (!all->queued || !table_has_room(sm)) /* until one is finished or has been looked up */
        return next;
    for (unsigned s = 0; s < sm->params.schedulers; s++)
        if (all->of[s].count && queue_at(sm, &all->of[s], 0)->leaves < next)
            next = queue_at(sm, &all->of[s], 0)->leaves;
    return next == NO_CYCLE || next > all->pipe_free ? next : all->pipe_free;
}

/* ---- back ---- */

uint64_t subcore_return(struct sm *sm, const struct flight *flight) {
    const struct subcore_inst *inst = &subcores_of(sm)->code->insts[flight->pc];
    struct subcore *core = subcore_of(sm, flight->warp);
    const uint64_t from = sm->now + TO_REGISTERS + inst->by_register - inst->is_constant;
    subcores_of(sm)->in_table--;
    if (is_copy(sm, flight))
        subcore_copied(sm, flight->warp);
    if (!inst->returns)
        return sm->now;
    core->link_free = (core->link_free > from ? core->link_free : from) + inst->link_cycles;
    return core->link_free;
}
