/* SPDX-License-Identifier: Apache-2.0 */
/* An L2 of the SM's own, between its L1 and the way to memory [001 §8.4]: what the L1 sends down is looked up so many cycles
 * later, in order, as much in a cycle as is due. Write-back: a store takes a line
 * without a fetch, or none. It says nothing to the L1 when a line leaves. */
#include "sm/wheel.h"

bool sm_l2_takes(const struct sm *sm, uint32_t accesses) {
    const uint32_t promised = sm->l1_fills_back ? cache_outstanding(sm->l1) : 0; /* as sm_room */
    return OWN_L2_QUEUE - sm->l2->count >= CACHE_DOWN_MAX * accesses + promised;
}

static void wake_at(struct sm *sm, uint64_t cycle) {
    sm->l2->waits = true;
    sm_write_back_at(sm, cycle, sm->l2->flight);
}

void sm_l2_send(struct sm *sm, const struct packet *packet) {
    struct own_l2 *l2 = sm->l2;
    const unsigned at = (l2->head + l2->count++) % OWN_L2_QUEUE;
    l2->queue[at].ready_cycle = sm->now + l2->latency;
    l2->queue[at].packet = *packet;
    if (!l2->waits && !l2->blocked)
        wake_at(sm, l2->queue[at].ready_cycle);
}

static void send_packet(struct sm *sm, const struct packet *packet) {
    link_send(sm->requests, sm->now, packet, 1, packet->kind == PACKET_READ ? 0 : packet->bytes);
    sm->stats.requests_sent++;
}

/* The fetch, or a line that makes room: the block that asked waits for it to be stored. */
static void send_down(struct sm *sm, const struct packet *packet, const struct request *request) {
    struct packet down = *packet;
    down.address = request->address, down.bytes = request->bytes;
    down.kind = request->kind == REQUEST_READ ? PACKET_READ : PACKET_WRITE;
    down.tag = TAG_OWN_L2;
    down.row_hint &= down.kind == PACKET_READ;
    down.sectors = sm_sectors(request->address, request->bytes);
    sm->places[down.place].stores += down.kind == PACKET_WRITE;
    send_packet(sm, &down);
}

bool sm_l2_clean(struct sm *sm) {
    const struct packet packet = {.sm = sm->shape.id, .ticket = NO_TICKET};
    struct request line;
    uint8_t sectors;
    while (link_room(sm->requests, sm->now)) {
        if (!cache_clean(sm->l2->cache, &sm->l2->cleaned, &line, &sectors))
            return false;
        send_down(sm, &packet, &line);
    }
    return true;
}

/* False: blocked. */
static bool look_up(struct sm *sm, const struct packet *packet) {
    struct own_l2 *l2 = sm->l2;
    const bool write = packet->kind == PACKET_WRITE;
    const struct request request = {.address = packet->address,
                                    .bytes = packet->bytes,
                                    .source = sm->shape.id,
                                    .kind = write ? REQUEST_WRITE : REQUEST_READ};
    struct cache_result result = {.down_count = 0};
    const enum cache_outcome outcome = cache_access(l2->cache, &request, link_room(sm->requests, sm->now), &result);
    if (outcome == CACHE_BLOCKED) {
        l2->blocked = true;
        l2->reason = result.blocked;
        return false;
    }
    const bool handed_on = write && result.down_count == 1 && !result.write_back_sectors;
    if (handed_on)
        send_packet(sm, packet);
    for (uint32_t i = 0; i < result.down_count && !handed_on; i++)
        send_down(sm, packet, &result.down[i]);
    if (write && !handed_on)
        sm_acknowledge(sm, packet->place);
    else if (!write && outcome == CACHE_HIT)
        sm_data_arrived(sm, packet->address);
    return true;
}

void sm_l2_advance(struct sm *sm) {
    struct own_l2 *l2 = sm->l2;
    l2->blocked = false;
    l2->waits = true; /* data that arrive may push a line out of the L1: sent here meanwhile, it is looked at below */
    while (l2->count && l2->queue[l2->head].ready_cycle <= sm->now) {
        if (!look_up(sm, &l2->queue[l2->head].packet))
            break;
        l2->head = (l2->head + 1) % OWN_L2_QUEUE;
        l2->count--;
    }
    l2->waits = false;
    if (l2->blocked ? l2->reason.cause == CACHE_NO_ROOM : l2->count > 0)
        wake_at(sm, l2->blocked ? sm->now + 1 : l2->queue[l2->head].ready_cycle);
}

void sm_l2_arrived(struct sm *sm, uint64_t address) {
    struct own_l2 *l2 = sm->l2;
    struct cache_arrival arrival;
    cache_fill(l2->cache, address, &arrival);
    sm_data_arrived(sm, address);
    if (l2->blocked && !l2->waits && cache_unblocks(l2->cache, &l2->reason, address))
        sm_l2_advance(sm);
}

void sm_l2_create(struct sm *sm, const struct sm_caches *caches) {
    sm->l2 = ARENA_NEW(sm->arena, struct own_l2);
    sm->l2->cache = caches->l2;
    sm->l2->latency = caches->l2_latency ? caches->l2_latency : 1;
    sm->l2->flight = sm_take_flight(sm);
    sm->flights[sm->l2->flight].pc = NO_PC;
    sm->flights[sm->l2->flight].warp = OWN_L2;
}
