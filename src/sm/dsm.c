/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory of this SM's blocks, as the SMs of other blocks of their clusters ask for it. A request waits for the memory's latency and
 * is answered in order, one a cycle; what it does happens between rounds, before the reply can be back. */
#include "sm/dsm.h"

#include "sm/issue.h"
#include "sm/memory.h"

void sm_dsm_create(struct sm *sm, const struct sm_dsm_parts *parts) {
    struct sm_dsm *dsm = sm->dsm = ARENA_NEW(sm->arena, struct sm_dsm);
    dsm->parts = *parts;
    dsm->served = ARENA_ARRAY(sm->arena, struct sm_dsm_served, sm->shape.epoch_cycles);
    dsm->opens = ARENA_ARRAY(sm->arena, uint64_t, sm->shape.places);
    dsm->met = ARENA_ARRAY(sm->arena, uint64_t, sm->shape.places);
    dsm->open_next = NO_CYCLE;
    for (unsigned i = 0; i < sm->shape.places; i++)
        dsm->opens[i] = NO_CYCLE;
}

void sm_dsm_start(struct sm *sm, unsigned number) {
    struct sm_place *place = &sm->places[number];
    place->waiting.in_cluster = true;
    sm->dsm->opens[number] = NO_CYCLE;
    sm->executor.join(sm->executor.self, number, place->cluster);
}

static void open_barriers(struct sm *sm) {
    struct sm_dsm *dsm = sm->dsm;
    dsm->open_next = NO_CYCLE;
    for (unsigned i = 0; i < sm->shape.places; i++) {
        const uint64_t at = dsm->opens[i];
        if (at <= sm->now) {
            dsm->opens[i] = NO_CYCLE;
            dsm->stats.barriers++, dsm->stats.barrier_cycles += sm->now - dsm->met[i];
            sm_look_again(sm, SETS(sm)->front, sm_open_block(sm, i));
        } else if (at < dsm->open_next)
            dsm->open_next = at;
    }
}

static void serve(struct sm *sm) {
    struct sm_dsm *dsm = sm->dsm;
    const struct packet *packet = &dsm->queue[dsm->head].packet;
    const uint32_t bytes = packet->kind == PACKET_WRITE ? 0 : packet->bytes;
    if (!sm_dsm_send(sm, dsm->parts.back_out, packet, bytes))
        return;
    dsm->served[dsm->served_count++] = (struct sm_dsm_served){packet->sm, packet->ticket, packet->lanes};
    dsm->stats.served++;
    dsm->head = (dsm->head + 1) % DSM_QUEUE, dsm->count--;
}

void sm_dsm_run(struct sm *sm) {
    struct sm_dsm *dsm = sm->dsm;
    if (dsm->open_next <= sm->now)
        open_barriers(sm);
    for (const struct packet *packet; dsm->count < DSM_QUEUE && (packet = link_arrived(dsm->parts.in, sm->now)) != NULL;
         link_pop(dsm->parts.in, sm->now)) {
        const unsigned at = (dsm->head + dsm->count++) % DSM_QUEUE;
        dsm->queue[at].packet = *packet;
        dsm->queue[at].ready_cycle = sm->now + dsm->parts.latency;
    }
    if (dsm->count && dsm->queue[dsm->head].ready_cycle <= sm->now)
        serve(sm);
    for (const struct packet *packet; (packet = link_arrived(dsm->parts.back_in, sm->now)) != NULL;
         link_pop(dsm->parts.back_in, sm->now))
        sm_dsm_reply(sm, packet);
}

void sm_dsm_request(struct sm *sm, struct queued *entry) {
    struct sm_dsm *dsm = sm->dsm;
    struct flight *flight = &sm->flights[entry->flight];
    const uint32_t lanes = entry->lanes[entry->next], bytes = entry->bytes[entry->next];
    const uint8_t kind = entry->operators;
    const struct packet packet = {.address = entry->address[entry->next],
                                  .tag = entry->flight,
                                  .sm = sm->shape.id,
                                  .bytes = bytes,
                                  .ticket = flight->ticket,
                                  .lanes = lanes,
                                  .kind = kind,
                                  .place = entry->place};
    sm->lsu_busy = sm->now + 1;
    if (!sm_dsm_send(sm, dsm->parts.out, &packet, kind == PACKET_READ ? 0 : bytes)) {
        dsm->stats.blocked_cycles++;
        return;
    }
    dsm->stats.requests++, dsm->stats.request_bytes += kind == PACKET_READ ? 0 : bytes;
    flight->outstanding++;
    flight->entire = true;
    if (++entry->next == entry->count)
        sm_end_access(sm, entry);
}
