/* SPDX-License-Identifier: Apache-2.0 */
/* The load/store unit: one transaction of the oldest memory instruction per cycle. Blocked, it sleeps until what it
 * waits for has come. */
#include "mem/banks.h"
#include "mem/coalesce.h"
#include "sm/state.h"

/* So many transactions ahead of a scattered access the L1 hears of the sets and lines to come. */
enum { EXPECT_SETS = 4, EXPECT_LINES = 2 };
#define PARAMETER_SPACE (UINT64_C(1) << 42) /* where the memory system sees the parameters of a kernel */

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
    const unsigned line_shift = atom > 32 ? bits_first(atom) : 7;
    if (access->packed)
        coalesce_packed(access->address[0], access->bytes, line_shift, &lines);
    else
        coalesce(access->address, access->bytes, access->lanes, line_shift, &lines);
    for (uint32_t i = 0; i < lines.count; i++) {
        if (atom > 32) {
            add_transaction(entry, lines.line[i], lines.lanes[i],
                            access->kind == ACCESS_LOAD ? atom : 32 * bits_count(lines.sectors[i]),
                            (uint32_t)lines.sectors[i] << lines.line[i] % 128 / 32);
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

/* Distinct lines are looked up, distinct addresses take their turns. */
static void split_constant(struct sm *sm, struct queued *entry, const struct access *access) {
    entry->passes = coalesce_distinct(access->address, access->lanes);
    if (access->space == SPACE_PARAM && !sm->params.constant_parameters)
        return;
    struct coalesced lines;
    const uint32_t atom = cache_atom_bytes(sm->constant);
    const uint64_t base = access->space == SPACE_PARAM ? PARAMETER_SPACE : 0;
    coalesce(access->address, access->bytes, access->lanes, bits_first(atom), &lines);
    for (uint32_t i = 0; i < lines.count; i++)
        add_transaction(entry, base + lines.line[i], lines.lanes[i], atom, 0);
}

static struct queued *enqueue(struct sm *sm, uint32_t flight, enum space space, enum access_kind kind,
                              uint64_t ready_cycle) {
    struct queued *entry = &sm->queue[(sm->queue_head + sm->queue_count++) & sm->queue_mask];
    sm->collectors_used += UINT64_C(1) << UNIT_BITS * SM_UNIT_MEMORY;
    entry->flight = flight;
    entry->ready_cycle = ready_cycle;
    entry->space = (uint8_t)space, entry->kind = (uint8_t)kind;
    entry->place = sm->flights[flight].place;
    sm->flights[flight].is_load = false;
    entry->row_hint = sm->module->code[sm->flights[flight].pc].cache == CACHE_ROW;
    entry->count = entry->next = 0;
    return entry;
}

void sm_enqueue_parameter(struct sm *sm, uint32_t flight, uint32_t offset, uint64_t ready_cycle) {
    struct queued *entry = enqueue(sm, flight, SPACE_PARAM, ACCESS_LOAD, ready_cycle);
    const uint32_t atom = cache_atom_bytes(sm->constant);
    entry->passes = 1;
    add_transaction(entry, PARAMETER_SPACE + offset / atom * atom, 0, atom, 0);
}

static void count_access(struct sm *sm, const struct queued *entry) {
    struct flight *flight = &sm->flights[entry->flight];
    flight->is_load = entry->kind == ACCESS_LOAD;
    flight->issued_cycle = (uint32_t)sm->now;
    sm->stats.global_accesses++;
    sm->stats.global_loads += flight->is_load;
    sm->histograms->transactions[entry->count]++;
}

/* Passes of an access to shared memory; ideal.shared: those of neighbouring words. */
static uint32_t shared_passes(const struct sm *sm, const struct access *access) {
    if (!sm->params.ideal_shared)
        return banks_passes(&sm->banks, access->address, access->bytes, access->lanes);
    uint64_t address[LANES_MAX];
    for (unsigned lane = 0; lane < LANES_MAX; lane++)
        address[lane] = (uint64_t)lane * access->bytes;
    return banks_passes(&sm->banks, address, access->bytes, access->lanes);
}

/* Lanes whose data were near when it issued access them; for the others a flight of its own brings them near, which its
 * block outlives, and nobody waits for. If all missed it is over as soon as a hit would be [001 §4.2]. Ours: while
 * FETCHES_MAX are on their way nothing more is fetched; data that are lost between issue and access are waited for. */
static __attribute__((noinline)) void enqueue_snooped(struct sm *sm, uint32_t flight, const struct access *access,
                                                      uint64_t ready_cycle) {
    struct access part = *access;
    const uint32_t fetch = access->missed && sm->fetches < FETCHES_MAX ? sm_take_flight(sm) : NO_FLIGHT;
    if (fetch != NO_FLIGHT) {
        sm->fetches++;
        sm->flights[fetch] = (struct flight){
            .pc = sm->flights[flight].pc, .warp = FETCHES, .place = sm->flights[flight].place, .ticket = NO_TICKET};
        sm->places[sm->flights[fetch].place].in_flight++;
        part.kind = ACCESS_LOAD, part.lanes = access->missed, part.packed = false;
        sm_enqueue_access(sm, fetch, &part, ready_cycle);
    }
    if (!access->lanes) {
        sm_write_back_at(sm, ready_cycle + sm->params.l1_latency + sm->params.pipeline_cycles, flight);
        return;
    }
    part.kind = access->kind == ACCESS_SNOOPED_LOAD ? ACCESS_LOAD : ACCESS_STORE;
    part.lanes = access->lanes, part.packed = access->packed;
    sm_enqueue_access(sm, flight, &part, ready_cycle);
}

void sm_enqueue_access(struct sm *sm, uint32_t flight, const struct access *access, uint64_t ready_cycle) {
    if (access->kind > ACCESS_ATOMIC) {
        enqueue_snooped(sm, flight, access, ready_cycle);
        return;
    }
    struct queued *entry = enqueue(sm, flight, access->space, access->kind, ready_cycle);
    if (access->space == SPACE_SHARED) {
        entry->passes = shared_passes(sm, access);
        sm->stats.shared_accesses++;
        HISTOGRAM_COUNT_VALUE(sm->histograms->shared_passes, entry->passes);
    } else if (access->space == SPACE_CONST || access->space == SPACE_PARAM)
        split_constant(sm, entry, access);
    else {
        split_access(sm, entry, access);
        count_access(sm, entry);
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
    if (flight->warp == FETCHES) {
        sm->fetches--;
        sm->places[flight->place].in_flight--;
        sm_free_flight(sm, number);
        sm_end_if_done(sm, flight->place);
        return;
    }
    const uint64_t at = flight->done_cycle > sm->now ? flight->done_cycle : sm->now + 1;
    if (flight->is_load)
        HISTOGRAM_COUNT_QUARTER(sm->histograms->load_latency, (uint32_t)at - flight->issued_cycle);
    sm_event(sm, at, EVENT_WRITE_BACK, number);
}

/* ---- lanes that wait by themselves ---- */

/* Who a transaction's data are for: a flight, and, above 32 bits, lanes of it. It stays theirs when the others have gone
 * on. */
static uint64_t waiter_tag(const struct sm *sm, const struct queued *entry) {
    const uint32_t lanes = entry->lanes[entry->next];
    if (!sm->slips || entry->kind == ACCESS_ATOMIC || !lanes)
        return entry->flight;
    return (uint64_t)lanes << 32 | entry->flight;
}

/* A transaction of the flight waits for data. */
static void note_miss(struct flight *flight, uint32_t lanes) {
    flight->entire |= !lanes || (flight->lanes & lanes);
    flight->lanes |= lanes;
}

void sm_looked_up(struct sm *sm, uint32_t number, uint32_t lanes) {
    struct flight *flight = &sm->flights[number];
    const unsigned w = flight->warp;
    const enum op op = (enum op)sm->module->code[flight->pc].op;
    if (op != OP_LD && op != OP_ST)
        return;
    const uint32_t misses = flight->entire ? 0 : flight->lanes & lanes;
    const uint32_t apart = sm->mechanism->looked_up(sm->control, w, flight->pc, lanes & ~misses, misses);
    if (apart) {
        flight->apart = apart;
        sm->places[flight->place].in_flight += bits_count(apart);
        flight->outstanding = 0;
    }
    if (lanes && sm->warps[w].group.asks) /* else it is being issued and is looked at after that, or has gone on */
        sm_update_warp(sm, w);
}

static void arrive_apart(struct sm *sm, unsigned w, uint32_t lanes) {
    const unsigned place = w / sm->shape.warps_per_place;
    sm->places[place].in_flight -= bits_count(lanes);
    if (sm->mechanism->arrived(sm->control, w, lanes))
        sm_update_warp(sm, w);
}

void sm_arrive_apart(struct sm *sm, uint32_t number) {
    struct flight *flight = &sm->flights[number];
    if (flight->warp == OWN_L2) {
        sm_l2_advance(sm);
        return;
    }
    sm_free_flight(sm, number);
    arrive_apart(sm, flight->warp, flight->lanes);
}

/* They are written to the warp's buffer as late as other data are to registers; at once if no flight is free. */
static void take_apart(struct sm *sm, uint32_t from, uint32_t lanes) {
    const unsigned w = sm->flights[from].warp;
    sm->flights[from].apart &= ~lanes;
    if (!sm->flights[from].apart && sm->flights[from].landed)
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

/* The flight that waits for these data; NO_FLIGHT: lanes by themselves did. */
static uint32_t take_data(struct sm *sm, uint64_t tag) {
    const uint32_t lanes = (uint32_t)(tag >> 32), number = (uint32_t)tag;
    if (!lanes)
        return number;
    if (sm->flights[number].apart & lanes) {
        take_apart(sm, number, lanes);
        return NO_FLIGHT;
    }
    sm->flights[number].lanes &= ~lanes;
    return number;
}

static void pop_queue(struct sm *sm) {
    sm->queue_head = (sm->queue_head + 1) & sm->queue_mask;
    sm->queue_count--;
    sm->collectors_used -= UINT64_C(1) << UNIT_BITS * SM_UNIT_MEMORY;
}

static void send(struct sm *sm, const struct queued *entry, const struct request *request, uint8_t kind) {
    const struct flight *flight = &sm->flights[entry->flight];
    const bool to_own_l2 = sm->l2 && kind != PACKET_ATOMIC && request->tag != TAG_CONSTANT;
    struct packet own;
    struct packet *packet =
        to_own_l2 ? &own : link_put(sm->requests, sm->now, 1, kind == PACKET_READ ? 0 : request->bytes);
    *packet = (struct packet){.address = request->address,
                              .tag = request->tag,
                              .sm = sm->shape.id,
                              .bytes = request->bytes,
                              .ticket = flight->ticket,
                              .lanes = entry->lanes[entry->next],
                              .kind = kind,
                              .row_hint = request->row_hint,
                              .place = entry->place,
                              .sectors = kind != PACKET_READ && request->tag == waiter_tag(sm, entry)
                                             ? entry->sectors[entry->next]
                                             : sm_sectors(request->address, request->bytes)};
    if (to_own_l2)
        sm_l2_send(sm, packet);
    else
        sm->stats.requests_sent++;
}

/* Atomics are done in the L2. An L1 that would keep what is written is passed by. */
static __attribute__((noinline)) bool pass_atomic(struct sm *sm, struct queued *entry, const struct request *request,
                                                  uint32_t room) {
    if (!room) {
        sm->blocked = (struct cache_blocked){.cause = CACHE_NO_ROOM, .room = 1, .address = request->address};
        sm->blocked_on = sm->l1;
        return false;
    }
    send(sm, entry, request, PACKET_ATOMIC);
    sm->flights[entry->flight].outstanding++;
    return true;
}

/* One transaction; false: blocked. */
static bool transact(struct sm *sm, struct queued *entry) {
    struct flight *flight = &sm->flights[entry->flight];
    const uint32_t room = sm_room(sm);
    const bool alone = sm->loads_part && entry->kind == ACCESS_LOAD;
    const uint32_t waiter = alone ? sm_regroup_split(sm, entry->flight, entry->lanes[entry->next]) : entry->flight;
    const struct request request = {.address = entry->address[entry->next],
                                    .tag = alone ? waiter : waiter_tag(sm, entry),
                                    .bytes = entry->bytes[entry->next],
                                    .source = sm->shape.id,
                                    .kind = entry->kind == ACCESS_LOAD    ? REQUEST_READ
                                            : entry->kind == ACCESS_STORE ? REQUEST_WRITE
                                                                          : REQUEST_ATOMIC,
                                    .row_hint = entry->row_hint,
                                    .local = entry->space == SPACE_LOCAL};
    if (request.kind == REQUEST_ATOMIC && sm->l1_keeps_writes)
        return pass_atomic(sm, entry, &request, room);
    struct cache_result result;
    const enum cache_outcome outcome = cache_access(sm->l1, &request, room, &result);
    if (alone && !(outcome != CACHE_BLOCKED && result.waits))
        sm_regroup_rejoin(sm, entry->flight, waiter);
    if (outcome == CACHE_BLOCKED) {
        sm->blocked = result.blocked;
        sm->blocked_on = sm->l1;
        return false;
    }
    /* the store handed on comes first, a write-back last */
    const bool handed_on = entry->kind == ACCESS_STORE && result.down_count > 0 &&
                           result.down[0].kind == REQUEST_WRITE &&
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
    if (entry->kind == ACCESS_ATOMIC || result.waits) {
        sm->flights[waiter].outstanding++;
        if (sm->slips)
            note_miss(flight, entry->lanes[entry->next]);
    } else if (entry->kind == ACCESS_LOAD)
        flight->done_cycle = sm->now + sm->params.l1_latency + sm->params.pipeline_cycles;
    return true;
}

/* ---- constants ---- */

static void done_not_before(struct flight *flight, uint64_t cycle) {
    if (flight->done_cycle < cycle)
        flight->done_cycle = cycle;
}

/* One line; false: blocked. */
static bool look_up_constant(struct sm *sm, const struct queued *entry) {
    struct flight *flight = &sm->flights[entry->flight];
    const struct request request = {.address = entry->address[entry->next],
                                    .tag = entry->flight,
                                    .bytes = entry->bytes[entry->next],
                                    .source = sm->shape.id,
                                    .kind = REQUEST_READ};
    struct cache_result result;
    const enum cache_outcome outcome = cache_access(sm->constant, &request, sm_room(sm), &result);
    if (outcome == CACHE_BLOCKED) {
        sm->blocked = result.blocked;
        sm->blocked_on = sm->constant;
        return false;
    }
    for (uint32_t i = 0; i < result.down_count; i++) {
        result.down[i].tag = TAG_CONSTANT;
        send(sm, entry, &result.down[i], PACKET_READ);
    }
    flight->outstanding = (uint16_t)(flight->outstanding + (outcome != CACHE_HIT));
    return true;
}

/* A line a cycle, then what is left of the passes. Rare beside the loads and stores that sm_memory is fast for. */
static __attribute__((noinline)) void access_constant(struct sm *sm, struct queued *entry) {
    struct flight *flight = &sm->flights[entry->flight];
    if (entry->count && !look_up_constant(sm, entry)) {
        sm->lsu_blocked = true;
        return;
    }
    if (++entry->next < entry->count)
        return;
    const uint32_t passes = entry->passes * sm->wide, left = passes > entry->next ? passes - entry->next : 0;
    sm->lsu_busy = sm->now + 1 + left;
    done_not_before(flight, sm->now + left + sm->params.const_latency + sm->params.pipeline_cycles);
    flight->sent = true;
    const uint32_t number = entry->flight;
    pop_queue(sm);
    complete_if_done(sm, number);
}

/* What the cache that refused waits for has come. */
static void unblock(struct sm *sm, const struct cache *cache, uint64_t filled) {
    if (sm->lsu_blocked && sm->blocked_on == cache && cache_unblocks(cache, &sm->blocked, filled))
        sm->lsu_blocked = false;
}

static void constant_arrived(struct sm *sm, uint64_t address) {
    struct cache_arrival arrival;
    if (!cache_fill(sm->constant, address, &arrival))
        return;
    for (uint32_t i = 0; i < arrival.count; i++) {
        struct flight *flight = &sm->flights[arrival.tags[i]];
        flight->outstanding--;
        done_not_before(flight, sm->now + sm->params.const_latency + sm->params.pipeline_cycles);
        complete_if_done(sm, (uint32_t)arrival.tags[i]);
    }
    unblock(sm, sm->constant, address);
}

/* ---- the unit ---- */

void sm_memory(struct sm *sm) {
    struct queued *entry = &sm->queue[sm->queue_head];
    if (entry->ready_cycle > sm->now)
        return;
    struct flight *flight = &sm->flights[entry->flight];
    if (entry->space == SPACE_SHARED) {
        /* a word of each bank a cycle; no less than the group takes to issue */
        const uint32_t passes = entry->passes > sm->wide ? entry->passes : sm->wide;
        sm->stats.shared_passes += entry->passes - 1;
        sm->lsu_busy = sm->now + passes;
        sm_event(sm, sm->now + passes - 1 + sm->params.shared_latency + sm->params.pipeline_cycles, EVENT_WRITE_BACK,
                 entry->flight);
        pop_queue(sm);
        return;
    }
    if (entry->space == SPACE_CONST || entry->space == SPACE_PARAM) {
        access_constant(sm, entry);
        return;
    }
    if (sm->l2 && !sm_l2_takes(sm, entry->count)) {
        sm->blocked = (struct cache_blocked){.cause = CACHE_NO_ROOM}; /* until anything happens: it empties by itself */
        sm->lsu_blocked = true;
        return;
    }
    /* one access a cycle and bank, in order */
    const uint32_t atom = cache_atom_bytes(sm->l1);
    for (uint32_t taken = 0, bit; entry->next < entry->count; entry->next++, taken |= bit) {
        bit = sm->params.l1_banks <= 1 ? sm->params.l1_banks
                                       : UINT32_C(1) << entry->address[entry->next] / atom % sm->params.l1_banks;
        if (taken & bit)
            return;
        if (sm->shape.l1_far && entry->next + EXPECT_SETS < entry->count) {
            cache_expect_set(sm->l1, entry->address[entry->next + EXPECT_SETS]);
            cache_expect_line(sm->l1, entry->address[entry->next + EXPECT_LINES]);
        }
        if (!transact(sm, entry)) {
            sm->lsu_blocked = true;
            return;
        }
    }
    flight->sent = true;
    const uint32_t number = entry->flight;
    uint32_t lanes = 0;
    for (uint32_t i = 0; sm->slips && i < entry->count; i++)
        lanes |= entry->lanes[i];
    pop_queue(sm);
    if (lanes)
        sm_looked_up(sm, number, lanes);
    if (flight->warp != FETCHES)
        sm->near &= ~((slot_set)(flight->outstanding != 0) << flight->warp);
    complete_if_done(sm, number);
}

void sm_acknowledge(struct sm *sm, unsigned number) {
    struct place *place = &sm->places[number];
    if (--place->stores)
        return;
    const slot_set formed = sm->regroup ? ~(slot_set)0 : 0, all = set_low(sm->shape.warps_per_place);
    const slot_set slots = formed | all << number * sm->shape.warps_per_place;
    for (slot_set rest = slots & sm->used; rest; rest &= rest - 1) {
        const unsigned w = set_first(rest);
        if (sm->warps[w].stage == WAIT_MEMORY)
            sm_consider_warp(sm, w); /* fences wait for this */
    }
    sm_end_if_done(sm, number);
}

/* A dirty line goes below, as a store of a block. */
static void send_line(struct sm *sm, const struct request *line, unsigned place) {
    const struct packet packet = {.address = line->address,
                                  .sm = sm->shape.id,
                                  .bytes = line->bytes,
                                  .ticket = NO_TICKET,
                                  .kind = PACKET_WRITE,
                                  .place = (uint8_t)place,
                                  .sectors = sm_sectors(line->address, line->bytes)};
    sm->places[place].stores++;
    if (sm->l2)
        sm_l2_send(sm, &packet);
    else {
        link_send(sm->requests, sm->now, &packet, 1, packet.bytes);
        sm->stats.requests_sent++;
    }
}

/* A dirty line made room for data that have come: a store of the block of whoever waited for them, which is still here. */
static __attribute__((noinline)) void write_back(struct sm *sm, const struct cache_arrival *arrival) {
    const uint64_t tag = arrival->tags[0];
    send_line(sm, &arrival->write_back, sm->flights[(uint32_t)tag].place);
}

bool sm_clean_l1(struct sm *sm) {
    struct request line;
    uint8_t sectors;
    while (sm->l2 ? sm_l2_takes(sm, 1) : sm_room(sm) > 0) {
        if (!cache_clean(sm->l1, &sm->l1_cleaned, &line, &sectors))
            return false;
        send_line(sm, &line, 0);
    }
    return true;
}

static inline void data_arrived(struct sm *sm, uint64_t address) {
    struct cache_arrival arrival;
    if (!cache_fill(sm->l1, address, &arrival))
        return;
    if (arrival.writes_back)
        write_back(sm, &arrival);
    for (uint32_t i = 0; i < arrival.count; i++) {
        const uint32_t number = take_data(sm, arrival.tags[i]);
        if (number == NO_FLIGHT)
            continue;
        struct flight *flight = &sm->flights[number];
        flight->outstanding--;
        flight->done_cycle = sm->now + sm->params.l1_miss_latency + sm->params.pipeline_cycles;
        complete_if_done(sm, number);
    }
    unblock(sm, sm->l1, address);
}

void sm_data_arrived(struct sm *sm, uint64_t address) { data_arrived(sm, address); }

/* What others than the L1 asked for: seldom, so it is kept out of the loop that replies come in. */
static __attribute__((noinline)) void arrive_elsewhere(struct sm *sm, const struct packet *packet) {
    if (packet->tag == TAG_INSTRUCTION)
        sm_instruction_arrived(sm, packet->address);
    else if (packet->tag == TAG_CONSTANT)
        constant_arrived(sm, packet->address);
    else
        sm_l2_arrived(sm, packet->address);
}

void sm_reply(struct sm *sm, const struct packet *packet) {
    sm->stats.replies_received++;
    if (packet->kind == PACKET_WRITE) {
        sm_acknowledge(sm, packet->place);
        return;
    }
    if (packet->tag >= TAG_OWN_L2) {
        arrive_elsewhere(sm, packet);
        return;
    }
    if (packet->kind == PACKET_ATOMIC) {
        struct flight *flight = &sm->flights[packet->tag];
        flight->outstanding--;
        complete_if_done(sm, (uint32_t)packet->tag);
        return;
    }
    data_arrived(sm, packet->address);
}
