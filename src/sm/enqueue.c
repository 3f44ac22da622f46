/* SPDX-License-Identifier: Apache-2.0 */
/* Memory instructions on their way into the load/store unit: lanes become transactions. */
#include "mem/banks.h"
#include "mem/coalesce.h"
#include "sm/dsm.h"
#include "sm/path_slots.h"
#include "sm/texture.h"
#include "sm/wheel.h"

static void add_transaction(struct queued *entry, uint64_t address, uint32_t lanes, uint32_t bytes, uint32_t sectors) {
    if (entry->count == TRANSACTIONS_MAX)
        return;
    entry->address[entry->count] = address;
    entry->lanes[entry->count] = lanes;
    entry->sectors[entry->count] = (uint8_t)sectors;
    entry->bytes[entry->count++] = bytes;
}

/* Passes of an access to the L1: of the data, or of the tags of `lines`, whichever are more. Those of the tags are 0.6 and a quarter
 * for each line [gpu-benches' counters of 65 strides]: in twentieths, of which what is left counts next time. */
static uint32_t wavefronts(struct sm *sm, const struct access *access, uint32_t lines) {
    enum { WHOLE = 20, BASE = 12, LINE = 5 };
    const uint32_t data = access->packed ? (access->bytes + 3u) / 4
                                         : banks_passes(&sm->l1_data, access->address, access->bytes, access->lanes);
    uint32_t tags = 1;
    if (lines > 2) {
        sm->tag_parts += BASE + LINE * lines;
        tags = sm->tag_parts / WHOLE;
        sm->tag_parts %= WHOLE;
    }
    return data > tags ? data : tags;
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
    if (sm->params.l1_wavefronts) {
        const uint32_t passes = wavefronts(sm, access, lines.count), least = sm->params.memory_interval;
        entry->passes = passes;
        entry->idle = (uint16_t)(least > passes ? least - passes : 0);
    }
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
    const uint64_t base = access->space == SPACE_PARAM ? SM_PARAMETER_SPACE : 0;
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
    entry->operators = sm->operators[sm->flights[flight].pc];
    entry->count = entry->next = 0;
    return entry;
}

void sm_enqueue_parameter(struct sm *sm, uint32_t flight, uint32_t offset, uint64_t ready_cycle) {
    struct queued *entry = enqueue(sm, flight, SPACE_PARAM, ACCESS_LOAD, ready_cycle);
    const uint32_t atom = cache_atom_bytes(sm->constant);
    entry->passes = 1;
    add_transaction(entry, SM_PARAMETER_SPACE + offset / atom * atom, 0, atom, 0);
}

static void count_access(struct sm *sm, const struct queued *entry) {
    struct flight *flight = &sm->flights[entry->flight];
    flight->is_load = entry->kind == ACCESS_LOAD;
    flight->issued_cycle = (uint32_t)sm->now;
    sm->stats.global_accesses++;
    sm->stats.global_loads += flight->is_load;
    sm->histograms->transactions[entry->count]++;
}

/* Atomics: passes of the bank with most lanes. */
static uint32_t atomic_passes(const struct sm *sm, const struct access *access) {
    uint8_t lanes[BANKS_MAX] = {0};
    uint32_t worst = 0;
    for (BITS_EACH(lane, access->lanes)) {
        const uint32_t count = ++lanes[access->address[lane] >> sm->banks.word_shift & (sm->banks.count - 1)];
        worst = count > worst ? count : worst;
    }
    return (worst + sm->params.shared_atomic_lanes - 1) / sm->params.shared_atomic_lanes;
}

/* ideal.shared: passes of neighbouring words. */
uint32_t sm_shared_passes(const struct sm *sm, const struct access *access) {
    if (sm->params.shared_atomic_lanes && access->kind == ACCESS_ATOMIC)
        return atomic_passes(sm, access);
    if (sm->params.shared_pairs && access->kind == ACCESS_LOAD && !sm->params.ideal_shared)
        return banks_passes_paired(&sm->banks, access->address, access->bytes, access->lanes);
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

static inline __attribute__((always_inline)) void count_global(struct sm *sm, const struct queued *entry,
                                                               const struct access *access) {
    const uint32_t flight = entry->flight;
    count_access(sm, entry);
    sm->stats.transactions += entry->count;
    sm->inst_stats[sm->flights[flight].pc].transactions += entry->count;
    if (access->kind == ACCESS_STORE)
        sm->places[entry->place].stores += entry->count;
    if (sm_hears(sm, SCHEDULER_COALESCED) && sm->flights[flight].warp < FETCHES)
        sm_tell(sm, &(struct scheduler_event){.kind = SCHEDULER_COALESCED,
                                              .warp = sm->flights[flight].warp,
                                              .pc = sm->flights[flight].pc,
                                              .lanes = access->lanes,
                                              .count = entry->count});
}

/* A sample goes through the queue to the texture unit (texture.c). */
static __attribute__((noinline)) void enqueue_texels(struct sm *sm, uint32_t flight, const struct access *access,
                                                     uint64_t ready_cycle) {
    struct queued *entry = enqueue(sm, flight, access->space, ACCESS_TEXELS, ready_cycle);
    entry->passes = sm_texture_gather(sm, flight, access);
}

/* Shared memory of other blocks: a message for each line of each block. */
static __attribute__((noinline)) void enqueue_far(struct sm *sm, uint32_t flight, const struct access *access,
                                                  uint64_t ready_cycle) {
    struct queued *entry = enqueue(sm, flight, access->space, ACCESS_FAR, ready_cycle);
    struct coalesced lines;
    coalesce(access->address, access->bytes, access->lanes, 7, &lines);
    entry->operators = access->far == ACCESS_LOAD    ? PACKET_READ
                       : access->far == ACCESS_STORE ? PACKET_WRITE
                                                     : PACKET_ATOMIC;
    entry->passes = entry->idle = 0;
    for (uint32_t i = 0; i < lines.count; i++)
        add_transaction(entry, lines.line[i], lines.lanes[i], 32 * bits_count(lines.sectors[i]), lines.sectors[i]);
    sm->dsm->stats.accesses++;
    if (access->far == ACCESS_STORE)
        sm->places[entry->place].stores += entry->count;
}

void sm_enqueue_access(struct sm *sm, uint32_t flight, const struct access *access, uint64_t ready_cycle) {
    if (access->kind > ACCESS_ATOMIC) {
        (access->kind == ACCESS_TEXELS ? enqueue_texels
         : access->kind == ACCESS_FAR  ? enqueue_far
                                       : enqueue_snooped)(sm, flight, access, ready_cycle);
        return;
    }
    struct queued *entry = enqueue(sm, flight, access->space, access->kind, ready_cycle);
    if (access->space == SPACE_SHARED) {
        entry->passes = sm_shared_passes(sm, access);
        sm->stats.shared_accesses++;
        HISTOGRAM_COUNT_VALUE(sm->histograms->shared_passes, entry->passes);
    } else if (access->space == SPACE_CONST || access->space == SPACE_PARAM)
        split_constant(sm, entry, access);
    else {
        split_access(sm, entry, access);
        count_global(sm, entry, access);
    }
}
