/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes that wait for their data by themselves, while others of their warp go on in its slot. */
#include "sm/apart.h"

#include "sm/texture.h"
#include "sm/wheel.h"

void sm_looked_up(struct sm *sm, uint32_t number, uint32_t lanes) {
    struct flight *flight = &sm->flights[number];
    const unsigned w = flight->warp;
    const enum op op = (enum op)sm->module->code[flight->pc].op;
    if (op != OP_LD && op != OP_ST)
        return;
    const uint32_t misses = flight->entire ? 0 : flight->misses & lanes;
    const uint32_t apart = sm->mechanism->slipping->looked_up(sm->control, w, flight->pc, lanes & ~misses, misses);
    if (apart) {
        flight->apart = apart;
        sm->places[flight->place].in_flight += bits_count(apart);
        flight->outstanding = 0;
    }
    if (lanes && SETS(sm)->warps[w].group.asks) /* else it is looked at after its issue, or has gone on */
        SETS(sm)->front->update(sm, w);
}

static void arrive_apart(struct sm *sm, unsigned w, uint32_t lanes) {
    const unsigned place = w / sm->shape.warps_per_place;
    sm->places[place].in_flight -= bits_count(lanes);
    if (sm->mechanism->slipping->arrived(sm->control, w, lanes))
        SETS(sm)->front->update(sm, w);
}

void sm_arrive_apart(struct sm *sm, uint32_t number) {
    struct flight *flight = &sm->flights[number];
    if (flight->warp == OWN_L2) {
        sm_l2_advance(sm);
        return;
    }
    if (flight->warp == TEXTURE_UNIT) {
        sm_texture_advance(sm);
        return;
    }
    sm_free_flight(sm, number);
    arrive_apart(sm, flight->warp, flight->lanes);
}

/* They are written to the warp's buffer as late as other data are to registers; at once if no flight is free. */
static void take_apart(struct sm *sm, uint32_t from, uint32_t lanes) {
    const unsigned w = sm->flights[from].warp;
    if (!(sm->flights[from].apart &= ~lanes) && sm->flights[from].landed)
        sm_free_flight(sm, from);
    const uint32_t number = sm_take_flight(sm), delay = sm->params.l1_miss_latency + sm->params.pipeline_cycles;
    if (number == NO_FLIGHT) {
        arrive_apart(sm, w, lanes);
        return;
    }
    sm->flights[number].pc = NO_PC;
    sm->flights[number].warp = (uint8_t)w, sm->flights[number].lanes = lanes;
    sm_write_back_at(sm, sm->now + (delay ? delay : 1), number);
}

uint32_t sm_take_data(struct sm *sm, uint64_t tag) {
    const uint32_t lanes = (uint32_t)(tag >> 32), number = (uint32_t)tag;
    if (!lanes)
        return number;
    if (!sm->lane_tags && tag & TAG_TEXELS) {
        sm_texels_arrived(sm, number);
        return NO_FLIGHT;
    }
    if (sm->flights[number].apart & lanes) {
        take_apart(sm, number, lanes);
        return NO_FLIGHT;
    }
    sm->flights[number].misses &= ~lanes;
    if (!sm->slips)
        sm_note_data(sm, number);
    return number;
}
