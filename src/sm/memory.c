/* The load/store unit: one transaction of the oldest memory instruction per cycle. Blocked, it sleeps until what it
 * waits for has come. */
#include "mem/banks.h"
#include "mem/coalesce.h"
#include "sm/state.h"

static void add_transaction(struct queued *entry, uint64_t address, uint32_t lanes, uint32_t bytes, uint32_t sectors) {
    if (entry->count == TRANSACTIONS_MAX)
        return;
    entry->address[entry->count] = address;
    entry->lanes[entry->count] = lanes;
    entry->sectors[entry->count] = (uint8_t)sectors;
    entry->bytes[entry->count++] = bytes;
}

/* Lines, or sectors where the L1 has them. */
static void split_access(struct sm *sm, struct queued *entry, const struct access *access) {
    struct coalesced lines;
    const uint32_t atom = cache_atom_bytes(sm->l1);
    coalesce(access->address, access->bytes, access->lanes, 7, &lines);
    for (uint32_t i = 0; i < lines.count; i++) {
        if (atom >= 128) {
            add_transaction(entry, lines.line[i], lines.lanes[i], access->kind == ACCESS_LOAD ? 128 : 32 * bits_count(lines.sectors[i]),
                            lines.sectors[i]);
            continue;
        }
        for (uint32_t rest = lines.sectors[i]; rest; rest &= rest - 1) {
            const uint64_t sector = lines.line[i] + 32 * bits_first(rest);
            uint32_t lanes = 0;
            for (BITS_EACH(lane, lines.lanes[i]))
                if (access->address[lane] / 32 == sector / 32)
                    lanes |= UINT32_C(1) << lane;
            add_transaction(entry, sector, lanes, 32, UINT32_C(1) << bits_first(rest));
        }
    }
}

void sm_enqueue_access(struct sm *sm, uint32_t flight, const struct access *access, uint64_t ready_cycle) {
    struct queued *entry = &sm->queue[(sm->queue_head + sm->queue_count++) % QUEUE_MAX];
    entry->flight = flight;
    entry->ready_cycle = ready_cycle;
    entry->space = access->space, entry->kind = access->kind;
    entry->place = (uint8_t)(sm->flights[flight].warp / sm->shape.warps_per_place);
    entry->count = entry->next = 0;
    if (access->space == SPACE_SHARED)
        entry->passes = banks_passes(&sm->banks, access->address, access->bytes, access->lanes);
    else if (access->space == SPACE_CONST)
        entry->passes = coalesce_distinct(access->address, access->lanes);
    else {
        split_access(sm, entry, access);
        sm->stats.transactions += entry->count;
        sm->inst_stats[sm->flights[flight].pc].transactions += entry->count;
        if (access->kind == ACCESS_STORE)
            sm->places[entry->place].stores += entry->count;
    }
}

static void complete_if_done(struct sm *sm, uint32_t number) {
    struct flight *flight = &sm->flights[number];
    if (!flight->sent || flight->outstanding)
        return;
    const uint64_t at = flight->done_cycle > sm->now ? flight->done_cycle : sm->now + 1;
    sm_event(sm, at, EVENT_WRITE_BACK, number);
}

static void pop_queue(struct sm *sm) {
    sm->queue_head = (sm->queue_head + 1) % QUEUE_MAX;
    sm->queue_count--;
}

/* The 32 B parts that consecutive bytes touch. */
static uint8_t packet_sectors(uint64_t address, uint32_t bytes) {
    return (uint8_t)(bits_low((bytes + 31) / 32) << (address % 128 / 32));
}

static void send(struct sm *sm, const struct queued *entry, const struct request *request, uint8_t kind) {
    const struct flight *flight = &sm->flights[entry->flight];
    const struct packet packet = {.address = request->address,
                                  .tag = request->tag,
                                  .sm = sm->shape.id,
                                  .bytes = request->bytes,
                                  .ticket = flight->ticket,
                                  .lanes = entry->lanes[entry->next],
                                  .kind = kind,
                                  .place = entry->place,
                                  .sectors = request->tag == entry->flight && kind != PACKET_READ
                                                 ? entry->sectors[entry->next]
                                                 : packet_sectors(request->address, request->bytes)};
    link_send(sm->requests, sm->now, &packet, 1, kind == PACKET_READ ? 0 : request->bytes);
    sm->stats.requests_sent++;
}

/* One transaction; false: blocked. */
static bool transact(struct sm *sm, struct queued *entry) {
    struct flight *flight = &sm->flights[entry->flight];
    const uint32_t room = link_room(sm->requests, sm->now);
    const struct request request = {.address = entry->address[entry->next],
                                    .tag = entry->flight,
                                    .bytes = entry->bytes[entry->next],
                                    .source = sm->shape.id,
                                    .kind = entry->kind == ACCESS_LOAD    ? REQUEST_READ
                                            : entry->kind == ACCESS_STORE ? REQUEST_WRITE
                                                                          : REQUEST_ATOMIC,
                                    .local = entry->space == SPACE_LOCAL};
    struct cache_result result;
    result.down_count = 0;
    result.waits = false;
    result.write_back_sectors = 0;
    const enum cache_outcome outcome = cache_access(sm->l1, &request, room, &result);
    if (outcome == CACHE_BLOCKED) {
        sm->blocked = result.blocked;
        return false;
    }
    /* the store handed on comes first, a write-back last */
    const bool handed_on = entry->kind == ACCESS_STORE && result.down_count > 0 && result.down[0].kind == REQUEST_WRITE &&
                           !(result.down_count == 1 && result.write_back_sectors);
    for (uint32_t i = 0; i < result.down_count; i++) {
        const uint8_t kind = result.down[i].kind == REQUEST_READ     ? PACKET_READ
                             : result.down[i].kind == REQUEST_ATOMIC ? PACKET_ATOMIC
                                                                     : PACKET_WRITE;
        send(sm, entry, &result.down[i], kind);
        sm->places[entry->place].stores += kind == PACKET_WRITE && !(handed_on && i == 0);
    }
    sm->inst_stats[flight->pc].misses += outcome == CACHE_MISS;
    if (entry->kind == ACCESS_STORE && !handed_on)
        sm->places[entry->place].stores--;
    if (entry->kind == ACCESS_ATOMIC || result.waits)
        flight->outstanding++;
    else if (entry->kind == ACCESS_LOAD)
        flight->done_cycle = sm->now + sm->params.l1_latency;
    return true;
}

void sm_memory(struct sm *sm) {
    if (!sm->queue_count || sm->lsu_blocked || sm->lsu_busy > sm->now)
        return;
    struct queued *entry = &sm->queue[sm->queue_head];
    if (entry->ready_cycle > sm->now)
        return;
    struct flight *flight = &sm->flights[entry->flight];
    if (entry->space == SPACE_SHARED || entry->space == SPACE_CONST) {
        const uint32_t latency = entry->space == SPACE_SHARED ? sm->params.shared_latency : sm->params.const_latency;
        const uint32_t passes = (entry->passes ? entry->passes : 1) * (LANES_MAX / sm->params.lanes);
        sm->stats.shared_passes += entry->space == SPACE_SHARED ? entry->passes - 1 : 0;
        sm->lsu_busy = sm->now + passes;
        sm_event(sm, sm->now + passes - 1 + latency, EVENT_WRITE_BACK, entry->flight);
        pop_queue(sm);
        return;
    }
    if (!transact(sm, entry)) {
        sm->lsu_blocked = true;
        return;
    }
    if (++entry->next < entry->count)
        return;
    flight->sent = true;
    const uint32_t number = entry->flight;
    pop_queue(sm);
    complete_if_done(sm, number);
}

void sm_reply(struct sm *sm, const struct packet *packet) {
    sm->stats.replies_received++;
    if (packet->kind == PACKET_WRITE) {
        struct place *place = &sm->places[packet->place];
        if (--place->stores)
            return;
        for (unsigned w = packet->place * sm->shape.warps_per_place; w < (packet->place + 1u) * sm->shape.warps_per_place; w++)
            if (sm->used >> w & 1)
                sm_update_warp(sm, w); /* fences wait for this */
        sm_end_if_done(sm, packet->place);
        return;
    }
    if (packet->tag == UINT64_MAX) {
        sm_instruction_arrived(sm, packet->address);
        return;
    }
    if (packet->kind == PACKET_ATOMIC) {
        struct flight *flight = &sm->flights[packet->tag];
        flight->outstanding--;
        complete_if_done(sm, (uint32_t)packet->tag);
        return;
    }
    struct cache_arrival arrival;
    if (!cache_fill(sm->l1, packet->address, &arrival))
        return;
    for (uint32_t i = 0; i < arrival.count; i++) {
        sm->flights[arrival.tags[i]].outstanding--;
        complete_if_done(sm, (uint32_t)arrival.tags[i]);
    }
    if (sm->lsu_blocked && cache_unblocks(sm->l1, &sm->blocked, packet->address))
        sm->lsu_blocked = false;
}
