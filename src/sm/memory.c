/* SPDX-License-Identifier: Apache-2.0 */
/* The load/store unit: one transaction of the oldest memory instruction per cycle. Blocked, it sleeps until what it
 * waits for has come. */
#include "sm/apart.h"
#include "sm/book.h"
#include "sm/dsm.h"
#include "sm/memory.h"
#include "sm/operators.h"
#include "sm/path_slots.h"
#include "sm/subcore.h"
#include "sm/texture.h"
#include "sm/wheel.h"

/* So many transactions ahead of a scattered access the L1 hears of the sets and lines to come. */
enum { EXPECT_SETS = 4, EXPECT_LINES = 2 };

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

void sm_complete_access(struct sm *sm, uint32_t number) { complete_if_done(sm, number); }

/* Who a transaction's data are for: a flight, and, above 32 bits, lanes of it, also when the others have gone on. */
static uint64_t waiter_tag(const struct sm *sm, const struct queued *entry) {
    const uint32_t lanes = entry->lanes[entry->next];
    if (!sm->lane_tags || entry->kind == ACCESS_ATOMIC || !lanes)
        return entry->flight;
    return (uint64_t)lanes << 32 | entry->flight;
}

void sm_pop_queue(struct sm *sm) {
    sm->queue_head = (sm->queue_head + 1) & sm->queue_mask;
    sm->queue_count--;
    sm->collectors_used -= UINT64_C(1) << UNIT_BITS * SM_UNIT_MEMORY;
}

static inline __attribute__((always_inline)) void send(struct sm *sm, const struct queued *entry,
                                                       const struct request *request, uint8_t kind) {
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
                              .leaves_first = entry->operators & OPERATOR_L2_FIRST,
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
static __attribute__((noinline)) bool pass_l1(struct sm *sm, struct queued *entry, const struct request *request,
                                              enum packet_kind kind) {
    if (!sm_room(sm)) {
        sm->blocked = (struct cache_blocked){.cause = CACHE_NO_ROOM, .room = 1, .address = request->address};
        sm->blocked_on = sm->l1;
        return false;
    }
    send(sm, entry, request, (uint8_t)kind);
    sm->stats.l1_bypassed += kind == PACKET_READ;
    sm->flights[entry->flight].outstanding++;
    return true;
}

/* The scheduler sends loads of some warps past the L1, and so do cache operators: as atomics, they go to the L2 and come back to
 * their flight. Not where the L1 may hold what the L2 does not have yet, or lanes wait for their own data. */
static bool passes_by(struct sm *sm, const struct queued *entry, uint64_t address) {
    const unsigned w = sm->flights[entry->flight].warp;
    if (entry->kind != ACCESS_LOAD || sm->l1_keeps_writes || sm->loads_return_apart || sm->lane_tags || sm->l2)
        return false;
    if (entry->operators & OPERATOR_DROP_ALL && !entry->next)
        cache_invalidate(sm->l1);
    else if (entry->operators & OPERATOR_DROP)
        cache_drop(sm->l1, address);
    if (SETS(sm)->bypass && w < SET_SLOTS && set_has(SETS(sm)->bypass, w))
        return true;
    return entry->operators & OPERATOR_PAST_L1 ||
           (entry->operators & OPERATOR_NO_ALLOCATE && !cache_holds(sm->l1, address));
}

/* The block has no store left on its way: fences wait for this. */
static __attribute__((noinline)) void wake_fences(struct sm *sm, unsigned number) {
    const slot_set all = set_low(sm->shape.warps_per_place);
    const slot_set slots = SETS(sm)->of_any_block | all << number * sm->shape.warps_per_place;
    for (slot_set rest = slots & SETS(sm)->used; rest; rest &= rest - 1) {
        const unsigned w = set_first(rest);
        if (SETS(sm)->warps[w].stage == WAIT_MEMORY)
            SETS(sm)->front->consider(sm, w);
    }
}

/* One transaction; false: blocked. `watched`: the scheduler hears of it, or may send it past the L1. `apart`: lanes of a load come back
 * with their own data. */
static inline __attribute__((always_inline)) bool probe(struct sm *sm, struct queued *entry, bool watched, bool apart) {
    struct flight *flight = &sm->flights[entry->flight];
    const bool alone = apart && entry->kind == ACCESS_LOAD;
    const uint32_t waiter = alone ? sm_regroup_waiter(sm, entry->flight, entry->lanes[entry->next]) : entry->flight;
    const struct request request = {.address = entry->address[entry->next],
                                    .tag = alone ? waiter : waiter_tag(sm, entry),
                                    .bytes = entry->bytes[entry->next],
                                    .source = sm->shape.id,
                                    .kind = entry->kind == ACCESS_LOAD    ? REQUEST_READ
                                            : entry->kind == ACCESS_STORE ? REQUEST_WRITE
                                                                          : REQUEST_ATOMIC,
                                    .row_hint = entry->operators & OPERATOR_ROW,
                                    .local = entry->space == SPACE_LOCAL};
    if (request.kind == REQUEST_ATOMIC && sm->l1_keeps_writes)
        return pass_l1(sm, entry, &request, PACKET_ATOMIC);
    if (watched && passes_by(sm, entry, request.address)) {
        struct request past = request;
        past.tag |= TAG_PAST_L1;
        return pass_l1(sm, entry, &past, PACKET_READ);
    }
    struct cache_result result;
    unsigned owner = CACHE_NOBODY;
    if (watched) {
        cache_own(sm->l1, flight->warp < FETCHES ? flight->warp : CACHE_NOBODY);
        owner = cache_owner(sm->l1, request.address);
    }
    const enum cache_outcome outcome = cache_access(sm->l1, &request, sm_room(sm), &result);
    if (outcome == CACHE_BLOCKED) {
        sm->blocked = result.blocked;
        sm->blocked_on = sm->l1;
        return false;
    }
    if (alone && result.waits && waiter != entry->flight)
        sm_regroup_split(sm, entry->flight, entry->lanes[entry->next]);
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
    if (watched)
        sm_tell_lookup(sm, entry, owner, outcome);
    if (watched && entry->operators & OPERATOR_FIRST)
        cache_offer(sm->l1, request.address);
    sm->inst_stats[flight->pc].misses += outcome == CACHE_MISS;
    if (entry->kind == ACCESS_STORE && !handed_on && !--sm->places[entry->place].stores && sm->fences)
        wake_fences(sm, entry->place);
    if (entry->kind == ACCESS_ATOMIC || result.waits) {
        sm->flights[waiter].outstanding++;
        if (sm->lane_tags)
            sm_note_miss(flight, entry->lanes[entry->next]);
    } else if (entry->kind == ACCESS_LOAD)
        flight->done_cycle = sm->now + sm->params.l1_latency + sm->params.pipeline_cycles;
    return true;
}

static __attribute__((noinline, cold)) bool probe_watched(struct sm *sm, struct queued *entry) {
    return probe(sm, entry, true, sm->loads_return_apart);
}

static __attribute__((noinline)) bool probe_apart(struct sm *sm, struct queued *entry) {
    return probe(sm, entry, false, true);
}

static inline __attribute__((always_inline)) bool transact(struct sm *sm, struct queued *entry, bool watched) {
    return watched                  ? probe_watched(sm, entry)
           : sm->loads_return_apart ? probe_apart(sm, entry)
                                    : probe(sm, entry, false, false);
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
    sm_pop_queue(sm);
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

/* Nothing issues in this cycle, and what is issuing takes one more. */
__attribute__((noinline)) void sm_stop_pipeline(struct sm *sm) {
    for (unsigned s = 0; s < sm->params.schedulers; s++) {
        sm->scheduler_busy[s] = 1 + (sm->scheduler_busy[s] > sm->now ? sm->scheduler_busy[s] : sm->now);
        sm->scheduler_held[s]++;
    }
}

/* All transactions of an instruction have been looked up. */
static inline __attribute__((always_inline)) void end_access(struct sm *sm, const struct queued *entry) {
    struct flight *flight = &sm->flights[entry->flight];
    flight->sent = true;
    const uint32_t number = entry->flight;
    uint32_t lanes = 0;
    for (uint32_t i = 0; sm->lane_tags && i < entry->count; i++)
        lanes |= entry->lanes[i];
    sm_pop_queue(sm);
    if (lanes && sm->slips)
        sm_looked_up(sm, number, lanes);
    else if (lanes)
        sm_divide_load(sm, number);
    if (flight->warp != FETCHES)
        SETS(sm)->near &= ~((slot_set)(flight->outstanding != 0) << flight->warp);
    complete_if_done(sm, number);
}

/* Its share of the transactions in each of its passes, whose number is known beforehand. */
static __attribute__((noinline)) void access_by_wavefronts(struct sm *sm, struct queued *entry) {
    const uint32_t share = (entry->count - entry->next + entry->passes - 1) / entry->passes;
    const bool watched = sm->hears || operators_or_bypass(sm, entry);
    for (uint32_t i = 0; i < share; i++, entry->next++)
        if (!transact(sm, entry, watched)) {
            sm->lsu_blocked = true;
            return;
        }
    const uint32_t rest = --entry->passes;
    if (entry->next < entry->count)
        return;
    sm->lsu_busy = sm->now + 1 + rest + entry->idle;
    if (sm->flights[entry->flight].done_cycle)
        sm->flights[entry->flight].done_cycle += rest;
    end_access(sm, entry);
}

void sm_dsm_reply(struct sm *sm, const struct packet *packet) {
    const uint32_t number = (uint32_t)packet->tag;
    struct flight *flight = &sm->flights[number];
    sm->dsm->stats.replies++;
    sm->dsm->stats.reply_bytes += packet->kind == PACKET_WRITE ? 0 : packet->bytes;
    flight->outstanding--;
    flight->done_cycle = sm->now + sm->params.pipeline_cycles;
    complete_if_done(sm, number);
    if (packet->kind == PACKET_WRITE)
        sm_acknowledge(sm, packet->place);
}

/* ---- memory.h ---- */

bool sm_transact(struct sm *sm, struct queued *entry) {
    return transact(sm, entry, sm->hears || operators_or_bypass(sm, entry));
}

void sm_end_access(struct sm *sm, const struct queued *entry) { end_access(sm, entry); }

/* What few machines and kernels have, and others ask of nothing (sm->unusual). */
static __attribute__((noinline)) bool takes_another_way(struct sm *sm, struct queued *entry) {
    if (entry->kind == ACCESS_TEXELS) {
        if (sm_texture_take(sm, entry->passes))
            sm_pop_queue(sm);
    } else if (entry->kind == ACCESS_FAR) {
        sm_dsm_request(sm, entry);
    } else {
        if (entry->space & QUEUED_TOGETHER && (entry->space & QUEUED_SPACE) != SPACE_SHARED && sm->params.l1_wavefronts)
            sm_leave_turn(sm, entry);
        if (sm->l2 && !sm_l2_takes(sm, entry->count)) {
            sm->blocked = (struct cache_blocked){.cause = CACHE_NO_ROOM}; /* until anything happens */
            sm->lsu_blocked = true;
        } else if (entry->space & QUEUED_TOGETHER) {
            sm_access_together(sm);
        } else if (sm->params.l1_wavefronts) {
            access_by_wavefronts(sm, entry);
        } else {
            return false;
        }
    }
    return true;
}

void sm_memory(struct sm *sm) {
    struct queued *entry = &sm->queue[sm->queue_head];
    if (entry->ready_cycle > sm->now)
        return;
    if (entry->space == SPACE_SHARED) {
        /* a word of each bank a cycle; no less than the group takes to issue */
        const uint32_t passes = entry->passes > sm->wide ? entry->passes : sm->wide;
        sm->stats.shared_passes += entry->passes - 1;
        sm->lsu_busy = sm->now + (passes > sm->shared_least ? passes : sm->shared_least);
        sm_event(sm, sm->now + passes - 1 + sm->params.shared_latency + sm->params.pipeline_cycles, EVENT_WRITE_BACK,
                 entry->flight);
        sm_pop_queue(sm);
        return;
    }
    if (entry->space == SPACE_CONST || entry->space == SPACE_PARAM) {
        access_constant(sm, entry);
        return;
    }
    const bool watched = operators_or_bypass(sm, entry) | (sm->hears != 0);
    if (sm->unusual && takes_another_way(sm, entry))
        return;
    /* one access a cycle and bank, in order */
    const uint32_t atom = cache_atom_bytes(sm->l1);
    for (uint32_t taken = 0, bit; entry->next < entry->count; entry->next++, taken |= bit) {
        bit = sm->params.l1_banks <= 1 ? sm->params.l1_banks
                                       : UINT32_C(1) << entry->address[entry->next] / atom % sm->params.l1_banks;
        if (taken & bit) {
            if (sm->params.l1_conflicts_stall)
                sm_stop_pipeline(sm);
            return;
        }
        if (sm->shape.l1_far && entry->next + EXPECT_SETS < entry->count) {
            cache_expect_set(sm->l1, entry->address[entry->next + EXPECT_SETS]);
            cache_expect_line(sm->l1, entry->address[entry->next + EXPECT_LINES]);
        }
        if (!transact(sm, entry, watched)) {
            sm->lsu_blocked = true;
            return;
        }
    }
    end_access(sm, entry);
}

void sm_acknowledge(struct sm *sm, unsigned number) {
    if (--sm->places[number].stores)
        return;
    wake_fences(sm, number);
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
        const uint32_t number = sm_take_data(sm, arrival.tags[i]);
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
    if (packet->tag == TAG_INSTRUCTION && sm->cores)
        subcore_line_arrived(sm, packet->address);
    else if (packet->tag == TAG_INSTRUCTION)
        sm_instruction_arrived(sm, packet->address);
    else if (packet->tag == TAG_CONSTANT)
        constant_arrived(sm, packet->address);
    else if (packet->tag == TAG_TEXTURE)
        sm_texture_arrived(sm, packet->address);
    else
        sm_l2_arrived(sm, packet->address);
}

void sm_reply(struct sm *sm, const struct packet *packet) {
    sm->stats.replies_received++;
    if (packet->kind == PACKET_WRITE) {
        sm_acknowledge(sm, packet->place);
        return;
    }
    if (packet->tag >= TAG_TEXTURE) {
        arrive_elsewhere(sm, packet);
        return;
    }
    const bool past_l1 = !sm->lane_tags && packet->tag & TAG_PAST_L1;
    if (packet->kind == PACKET_ATOMIC || past_l1) {
        struct flight *flight = &sm->flights[(uint32_t)packet->tag];
        flight->outstanding--;
        if (past_l1)
            flight->done_cycle = sm->now + sm->params.l1_miss_latency + sm->params.pipeline_cycles;
        complete_if_done(sm, (uint32_t)packet->tag);
        return;
    }
    data_arrived(sm, packet->address);
}
