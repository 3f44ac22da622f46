/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/texture.h"

#include <string.h>

#include "mem/coalesce.h"
#include "sm/issue.h"
#include "sm/subcore.h"
#include "sm/wheel.h"

enum { QUAD = 4 };

void sm_texture_create(struct sm *sm, const struct sm_caches *caches) {
    struct sm_texture *unit = sm->texture = ARENA_NEW(sm->arena, struct sm_texture);
    unit->is_own = caches->texture != NULL;
    unit->cache = unit->is_own ? caches->texture : caches->l1;
    const uint32_t in_cores = sm->params.pipeline == SM_CONTROL_BITS
                                  ? sm->params.schedulers * (sm->params.memory_queue + 1 + SUBCORE_PARTS)
                                  : 0;
    unit->pool = ARENA_ARRAY(sm->arena, struct texture_sample, QUEUE_MAX + in_cores + TEXTURE_QUEUE_MAX);
    unit->clock = sm_take_flight(sm);
    sm->flights[unit->clock].pc = NO_PC;
    sm->flights[unit->clock].warp = TEXTURE_UNIT;
}

/* ---- what lanes read ---- */

/* A sector is looked up once for an instruction. */
static void add_sector(struct sm_texture *unit, struct texture_sample *sample, uint64_t address) {
    uint32_t at = (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 54);
    _Static_assert(SAMPLE_SLOTS == 1 << 10, "the ten highest bits say where a sector is looked for");
    for (; unit->slots[at]; at = (at + 1) % SAMPLE_SLOTS)
        if (sample->sectors[unit->slots[at] - 1] == address)
            return;
    if (sample->count == SAMPLE_SECTORS_MAX)
        return;
    sample->sectors[sample->count++] = address;
    unit->slots[at] = sample->count;
}

static void add_texels(struct sm_texture *unit, struct texture_sample *sample, const uint64_t address[LANES_MAX],
                       const struct access *access) {
    struct coalesced lines;
    const uint32_t atom = cache_atom_bytes(unit->cache);
    coalesce(address, access->bytes, access->lanes, atom > COALESCE_SECTOR_BYTES ? bits_first(atom) : 7, &lines);
    for (uint32_t i = 0; i < lines.count; i++) {
        if (atom > COALESCE_SECTOR_BYTES)
            add_sector(unit, sample, lines.line[i]);
        for (uint32_t rest = atom > COALESCE_SECTOR_BYTES ? 0 : lines.sectors[i]; rest; rest &= rest - 1)
            add_sector(unit, sample, lines.line[i] + COALESCE_SECTOR_BYTES * bits_first(rest));
    }
}

/* Of the filter: quads of which any lane is active, each of its samples at the rate of their format. */
static uint32_t filter_cycles(const struct sm_params *params, const struct access *access) {
    uint32_t quads = 0;
    for (unsigned lane = 0; lane < LANES_MAX; lane += QUAD)
        quads += (access->lanes >> lane & ((1u << QUAD) - 1)) != 0;
    const uint32_t each =
        access->samples * ((access->bytes + params->texture_full_bytes - 1u) / params->texture_full_bytes);
    return (quads * QUAD * each + params->texture_lanes - 1) / params->texture_lanes;
}

uint32_t sm_texture_gather(struct sm *sm, uint32_t flight, const struct access *access) {
    struct sm_texture *unit = sm->texture;
    const uint32_t number = unit->free ? unit->free - 1u : unit->used++;
    struct texture_sample *sample = &unit->pool[number];
    unit->free = sample->next_free;
    sample->next_free = 0, sample->count = sample->next = 0, sample->flight = flight;
    memset(unit->slots, 0, sizeof unit->slots);
    add_texels(unit, sample, access->address, access);
    for (uint32_t i = 0; i < access->more_count; i++)
        add_texels(unit, sample, access->more[i], access);
    sample->cycles = sm->params.ideal_texture ? 1 : filter_cycles(&sm->params, access);
    sm->flights[flight].is_load = true;
    sm->flights[flight].issued_cycle = (uint32_t)sm->now;
    sm->stats.texture_requests++;
    sm->stats.texture_samples += bits_count(access->lanes);
    sm->stats.texture_texels += access->texels;
    sm->stats.texture_sectors += sample->count;
    sm->inst_stats[sm->flights[flight].pc].transactions += sample->count;
    return number;
}

/* ---- the unit ---- */

static void wake_texture_at(struct sm *sm, uint64_t cycle) {
    sm->texture->is_awake = true;
    sm_write_back_at(sm, cycle > sm->now ? cycle : sm->now + 1, sm->texture->clock);
}

bool sm_texture_take(struct sm *sm, uint32_t number) {
    struct sm_texture *unit = sm->texture;
    if (unit->count == sm->params.texture_queue) {
        if (!unit->is_held) {
            sm_end_empty(sm); /* what stalls from here on is the unit's */
            unit->is_held = true, unit->held_since = sm->now;
        }
        sm->lsu_blocked = true;
        sm->blocked_on = NULL, sm->blocked = (struct cache_blocked){.cause = CACHE_NO_MSHR};
        return false;
    }
    unit->queue[(unit->head + unit->count++) % TEXTURE_QUEUE_MAX] = (uint16_t)number;
    unit->pool[number].begun = NO_CYCLE;
    if (!unit->is_awake)
        wake_texture_at(sm, unit->free_cycle);
    return true;
}

/* There is room for the sample that the load/store unit waits with. */
static void let_go_on(struct sm *sm) {
    struct sm_texture *unit = sm->texture;
    if (!unit->is_held)
        return;
    sm_end_empty(sm);
    sm->stats.texture_waits += sm->now - unit->held_since;
    unit->is_held = sm->lsu_blocked = false;
}

/* Fetches, and a dirty line of the L1 that makes room: a store of the block. */
static void fetch_texels(struct sm *sm, const struct flight *flight, const struct request *down) {
    const bool reads = down->kind == REQUEST_READ;
    const struct packet packet = {.address = down->address,
                                  .tag = sm->texture->is_own ? TAG_TEXTURE : down->tag,
                                  .sm = sm->shape.id,
                                  .bytes = down->bytes,
                                  .ticket = NO_TICKET,
                                  .kind = reads ? PACKET_READ : PACKET_WRITE,
                                  .place = flight->place,
                                  .sectors = sm_sectors(down->address, down->bytes)};
    sm->places[flight->place].stores += !reads;
    if (sm->l2 && !sm->texture->is_own) {
        sm_l2_send(sm, &packet);
        return;
    }
    link_send(sm->requests, sm->now, &packet, 1, reads ? 0 : packet.bytes);
    sm->stats.requests_sent++;
}

/* The next sector of a sample; false: blocked, and worth trying again. */
static bool look_up_texels(struct sm *sm, struct texture_sample *sample) {
    struct sm_texture *unit = sm->texture;
    struct flight *flight = &sm->flights[sample->flight];
    const bool marks = !unit->is_own && !sm->lane_tags; /* else the flight alone says who waits */
    const struct request request = {.address = sample->sectors[sample->next],
                                    .tag = sample->flight | (marks ? TAG_TEXELS : 0),
                                    .bytes = cache_atom_bytes(unit->cache),
                                    .source = sm->shape.id,
                                    .kind = REQUEST_READ};
    struct cache_result result;
    if (sm->l2 && !unit->is_own && !sm_l2_takes(sm, 1))
        return false;
    if (sm->hears && !unit->is_own)
        cache_own(sm->l1, flight->warp);
    const enum cache_outcome outcome =
        sm->params.ideal_texture ? CACHE_HIT : cache_access(unit->cache, &request, sm_room(sm), &result);
    if (outcome == CACHE_BLOCKED)
        return false;
    if (outcome != CACHE_HIT) {
        for (uint32_t i = 0; i < result.down_count; i++)
            fetch_texels(sm, flight, &result.down[i]);
        flight->outstanding++;
        if (sm->lane_tags)
            flight->entire = true;
    }
    sm->stats.texture_hits += outcome == CACHE_HIT;
    sm->stats.texture_misses += outcome != CACHE_HIT;
    sm->inst_stats[flight->pc].misses += outcome == CACHE_MISS;
    return true;
}

static void sampled_not_before(struct sm *sm, uint32_t number, uint64_t cycle) {
    struct flight *flight = &sm->flights[number];
    cycle += sm->params.pipeline_cycles;
    flight->done_cycle = flight->done_cycle > cycle ? flight->done_cycle : cycle;
}

/* Its look-ups are over, and its filter is by that cycle. */
static void end_sample(struct sm *sm, struct texture_sample *sample, uint64_t last) {
    struct sm_texture *unit = sm->texture;
    const uint32_t flight = sample->flight;
    sample->next_free = unit->free;
    unit->free = (uint16_t)(sample - unit->pool + 1);
    unit->head = (unit->head + 1) % TEXTURE_QUEUE_MAX;
    unit->count--;
    unit->free_cycle = last + 1;
    sm->stats.texture_busy += last + 1 - sample->begun;
    sampled_not_before(sm, flight, last + sm->params.texture_latency);
    sm->flights[flight].sent = true;
    let_go_on(sm);
    if (sm->flights[flight].warp < FETCHES)
        SETS(sm)->near &= ~((slot_set)(sm->flights[flight].outstanding != 0) << sm->flights[flight].warp);
    sm_complete_access(sm, flight);
}

void sm_texture_advance(struct sm *sm) {
    struct sm_texture *unit = sm->texture;
    struct texture_sample *sample = &unit->pool[unit->queue[unit->head]];
    unit->is_awake = true; /* whatever is handed over meanwhile is looked at below */
    if (sample->begun == NO_CYCLE)
        sample->begun = sm->now;
    const uint32_t most = sm->params.ideal_texture ? SAMPLE_SECTORS_MAX : sm->params.texture_lookups;
    for (uint32_t i = 0; i < most && sample->next < sample->count; i++, sample->next++)
        if (!look_up_texels(sm, sample))
            break;
    if (sample->next < sample->count) {
        wake_texture_at(sm, sm->now + 1);
        return;
    }
    const uint64_t filtered = sample->begun + sample->cycles - 1;
    end_sample(sm, sample, filtered > sm->now ? filtered : sm->now);
    unit->is_awake = false;
    if (unit->count)
        wake_texture_at(sm, unit->free_cycle);
}

/* ---- data ---- */

void sm_texels_arrived(struct sm *sm, uint32_t number) {
    sm->flights[number].outstanding--;
    sampled_not_before(sm, number, sm->now + sm->params.texture_miss_latency);
    sm_complete_access(sm, number);
}

void sm_texture_arrived(struct sm *sm, uint64_t address) {
    struct cache_arrival arrival;
    if (!cache_fill(sm->texture->cache, address, &arrival))
        return;
    for (uint32_t i = 0; i < arrival.count; i++)
        sm_texels_arrived(sm, (uint32_t)arrival.tags[i]);
}
