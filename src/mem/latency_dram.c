/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/latency_dram.h"

#include <assert.h>

#include "base/bits.h"

#define NONE UINT32_MAX
enum { RETURNS_SPARE = 65536 };

struct entry {
    struct request request;
    uint64_t order, accepted, data, done; /* data: the first cycle at which it could use the bus */
    uint32_t row, next, bus_cycles;
    uint8_t bank;
    bool hit;
};

struct entry_list {
    uint32_t head, tail;
};

/* `waiting` holds the bank's requests of the window (scheduler fifo: none, they are in one list), `candidate` the one
 * that goes next: the oldest hit, else the oldest; scheduler fcfs: the oldest. */
struct bank {
    uint64_t busy_until, candidate_cycle;
    uint64_t hold_until; /* no request to another row starts before this */
    uint64_t hold_end;   /* no hold of the open row lasts beyond it; 0: no load has announced another of it */
    struct entry_list waiting;
    uint32_t row, candidate;
    bool open;
};

struct latency_dram {
    uint64_t start_cycle, grant_cycle; /* the next start and the next use of the bus */
    uint32_t start_index, grant_class;
    uint64_t next_start; /* one start per cycle: none before this */
    uint64_t candidates; /* banks that have one */
    uint64_t bus_free, bus_bytes, order;
    uint32_t latency[2]; /* conflict, hit; flat: the first */
    uint32_t bytes_per_clock, hold, window, window_count, queue_limit, queue_count;
    uint32_t capacity, unused, free, held, bank_count;
    bool flat, fifo, hits_first;
    struct entry *entries;
    struct entry_list queue, in_order, completed;
    struct entry_list in_flight[2]; /* conflicts, hits: each in the order their data is ready */
    struct dram_stats stats;
    struct dram_histograms histograms;
    struct address_map map;
    struct bank bank[];
};

static const struct entry_list empty = {NONE, NONE};

static inline uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void list_append(struct latency_dram *dram, struct entry_list *list, uint32_t index) {
    dram->entries[index].next = NONE;
    if (list->head == NONE)
        list->head = index;
    else
        dram->entries[list->tail].next = index;
    list->tail = index;
}

static uint32_t list_take(struct latency_dram *dram, struct entry_list *list) {
    uint32_t index = list->head;
    list->head = dram->entries[index].next;
    return index;
}

static void list_remove(struct latency_dram *dram, struct entry_list *list, uint32_t index) {
    uint32_t before = NONE;
    for (uint32_t i = list->head; i != index; i = dram->entries[i].next)
        before = i;
    if (before == NONE) {
        list_take(dram, list);
        return;
    }
    dram->entries[before].next = dram->entries[index].next;
    if (list->tail == index)
        list->tail = before;
}

static bool is_hit(const struct latency_dram *dram, uint32_t index) {
    const struct bank *bank = &dram->bank[dram->entries[index].bank];
    return bank->open && bank->row == dram->entries[index].row;
}

/* The first cycle at which the bank lets this request start. */
static uint64_t bank_cycle(const struct bank *bank, bool hit) {
    return hit || !bank->open ? bank->busy_until : later(bank->busy_until, bank->hold_until);
}

static void bank_choose(struct latency_dram *dram, uint32_t b) {
    struct bank *bank = &dram->bank[b];
    uint32_t chosen = bank->waiting.head;
    for (uint32_t i = chosen; dram->hits_first && i != NONE; i = dram->entries[i].next)
        if (is_hit(dram, i)) {
            chosen = i;
            break;
        }
    bank->candidate = chosen;
    dram->candidates &= ~(UINT64_C(1) << b);
    if (chosen == NONE)
        return;
    dram->candidates |= UINT64_C(1) << b;
    dram->entries[chosen].hit = is_hit(dram, chosen);
    bank->candidate_cycle = bank_cycle(bank, dram->entries[chosen].hit);
}

/* Which request starts next: the earliest; of those, hits first where they go first, then the oldest. */
static void plan_start(struct latency_dram *dram) {
    dram->start_cycle = NO_CYCLE;
    if (dram->fifo) {
        uint32_t index = dram->in_order.head;
        if (index == NONE)
            return;
        dram->entries[index].hit = is_hit(dram, index);
        dram->start_index = index;
        dram->start_cycle =
            later(dram->next_start, bank_cycle(&dram->bank[dram->entries[index].bank], dram->entries[index].hit));
        return;
    }
    for (uint64_t rest = dram->candidates; rest; rest &= rest - 1) {
        const struct bank *bank = &dram->bank[bits_first64(rest)];
        const struct entry *entry = &dram->entries[bank->candidate], *best = &dram->entries[dram->start_index];
        uint64_t cycle = later(dram->next_start, bank->candidate_cycle);
        const bool by_hit = dram->hits_first && entry->hit != best->hit;
        bool wins = cycle < dram->start_cycle ||
                    (cycle == dram->start_cycle && (by_hit ? entry->hit : entry->order < best->order));
        if (!wins)
            continue;
        dram->start_cycle = cycle;
        dram->start_index = bank->candidate;
    }
}

static void plan_grant(struct latency_dram *dram) {
    uint32_t conflict = dram->in_flight[0].head, hit = dram->in_flight[1].head;
    dram->grant_cycle = NO_CYCLE;
    if (conflict == NONE && hit == NONE)
        return;
    dram->grant_class = conflict == NONE || (hit != NONE && dram->entries[hit].data < dram->entries[conflict].data);
    dram->grant_cycle = later(dram->bus_free, dram->entries[dram->in_flight[dram->grant_class].head].data);
}

static void window_add(struct latency_dram *dram, uint32_t index) {
    dram->window_count++;
    if (dram->fifo) {
        list_append(dram, &dram->in_order, index);
        return;
    }
    uint32_t b = dram->entries[index].bank;
    list_append(dram, &dram->bank[b].waiting, index);
    uint32_t before = dram->bank[b].candidate;
    if (before == NONE || (dram->hits_first && !dram->entries[before].hit && is_hit(dram, index)))
        bank_choose(dram, b);
}

static void queue_drain(struct latency_dram *dram) {
    while (dram->queue.head != NONE && dram->window_count < dram->window) {
        dram->queue_count--;
        window_add(dram, list_take(dram, &dram->queue));
    }
}

/* The request ends the hold of its row, if there is one; a load that announces another request holds it again. All holds
 * of a row end with the first, so that hints, true or not, keep another row waiting no longer than the limit. */
static void hold_row(struct latency_dram *dram, struct bank *bank, const struct entry *entry, uint64_t ready) {
    assert(entry->hit || !bank->open || dram->start_cycle >= bank->hold_until);
    assert(bank->hold_until <= bank->hold_end);
    if (!entry->hit)
        bank->hold_end = 0;
    dram->stats.row_holds_met += entry->hit && dram->start_cycle < bank->hold_until;
    bank->hold_until = 0;
    if (!entry->request.row_hint || !dram->hold)
        return;
    if (!bank->hold_end)
        bank->hold_end = ready + dram->hold;
    dram->stats.row_holds += dram->start_cycle < bank->hold_end;
    bank->hold_until = bank->hold_end;
}

static void start(struct latency_dram *dram) {
    uint64_t cycle = dram->start_cycle;
    uint32_t index = dram->start_index;
    struct entry *entry = &dram->entries[index];
    struct bank *bank = &dram->bank[entry->bank];
    list_remove(dram, dram->fifo ? &dram->in_order : &bank->waiting, index);
    /* The cycle between push and start is part of the latency. */
    uint64_t ready = cycle - 1 + dram->latency[entry->hit];
    entry->data = later(cycle, ready > entry->bus_cycles ? ready - entry->bus_cycles : 0);
    list_append(dram, &dram->in_flight[entry->hit], index);
    if (!entry->hit)
        bank->busy_until = cycle + dram->latency[0];
    hold_row(dram, bank, entry, ready);
    bank->open = true;
    bank->row = entry->row;
    dram->stats.queue_cycles += cycle - entry->accepted;
    dram->window_count--;
    dram->next_start = cycle + 1;
    if (!dram->fifo)
        bank_choose(dram, entry->bank);
    queue_drain(dram);
    plan_start(dram);
    plan_grant(dram);
}

static void complete(struct latency_dram *dram, uint32_t index) {
    const struct entry *entry = &dram->entries[index];
    bool write = entry->request.kind == REQUEST_WRITE;
    dram->bus_bytes += entry->request.bytes;
    dram->stats.bus_busy_cycles = dram->bus_bytes / dram->bytes_per_clock;
    dram->stats.bytes = dram->bus_bytes;
    dram->stats.requests++; /* together with these, so that what is under way at the end counts in neither */
    dram->stats.row_hits += entry->hit;
    dram->stats.row_misses += !entry->hit;
    *(write ? &dram->stats.writes : &dram->stats.reads) += 1;
    *(write ? &dram->stats.write_cycles : &dram->stats.read_cycles) += entry->done - entry->accepted;
    if (!write)
        HISTOGRAM_COUNT_QUARTER(dram->histograms.dram_read_latency, entry->done - entry->accepted);
    list_append(dram, &dram->completed, index);
}

static void grant(struct latency_dram *dram) {
    uint32_t index = list_take(dram, &dram->in_flight[dram->grant_class]);
    struct entry *entry = &dram->entries[index];
    entry->done = dram->grant_cycle + entry->bus_cycles;
    dram->bus_free = entry->done;
    complete(dram, index);
    plan_grant(dram);
}

struct latency_dram *latency_dram_create(struct arena *arena, const struct dram_params *params) {
    uint32_t banks = UINT32_C(1) << bits_count64(params->bank_mask);
    struct latency_dram *dram = arena_alloc_aligned(arena, sizeof *dram + banks * sizeof dram->bank[0], 64);
    struct address_masks masks = dram_masks(params);
    address_map_create(&dram->map, &masks);
    dram->bank_count = banks;
    dram->flat = params->model == DRAM_FLAT;
    dram->fifo = params->scheduler == DRAM_FIFO;
    dram->hits_first = params->scheduler == DRAM_FR_FCFS;
    dram->latency[0] = dram->flat ? params->flat_latency : params->row_conflict_latency;
    dram->latency[1] = params->row_hit_latency;
    dram->bytes_per_clock = params->bytes_per_clock;
    dram->hold = dram->hits_first ? params->hint_hold : 0;
    dram->window = params->window;
    dram->queue_limit = params->queue_limit ? params->queue_limit : UINT32_MAX;
    uint32_t queue = params->queue_limit ? params->queue_limit : DRAM_UNLIMITED_REQUESTS;
    dram->capacity = params->window + queue + RETURNS_SPARE;
    dram->entries = ARENA_ARRAY(arena, struct entry, dram->capacity);
    dram->free = NONE;
    dram->queue = dram->in_order = dram->completed = dram->in_flight[0] = dram->in_flight[1] = empty;
    for (uint32_t b = 0; b < banks; b++) {
        dram->bank[b].waiting = empty;
        dram->bank[b].candidate = NONE;
    }
    dram->start_cycle = dram->grant_cycle = NO_CYCLE;
    return dram;
}

bool latency_dram_room(const struct latency_dram *dram) {
    return dram->queue_count < dram->queue_limit && dram->held < dram->capacity;
}

uint64_t latency_dram_next(const struct latency_dram *dram) {
    return dram->start_cycle < dram->grant_cycle ? dram->start_cycle : dram->grant_cycle;
}

void latency_dram_advance(struct latency_dram *dram, uint64_t cycle) {
    for (uint64_t next; (next = latency_dram_next(dram)) <= cycle && next != NO_CYCLE;) {
        if (dram->grant_cycle == next)
            grant(dram);
        else
            start(dram);
    }
}

static uint32_t entry_take(struct latency_dram *dram, uint64_t cycle, const struct request *request) {
    uint32_t index = dram->free;
    if (index == NONE)
        index = dram->unused++;
    else
        dram->free = dram->entries[index].next;
    uint32_t bytes = request->bytes ? request->bytes : 1;
    dram->entries[index] = (struct entry){
        .request = *request,
        .order = dram->order++,
        .accepted = cycle,
        .bus_cycles = (bytes + dram->bytes_per_clock - 1) / dram->bytes_per_clock,
    };
    dram->held++;
    return index;
}

void latency_dram_push(struct latency_dram *dram, uint64_t cycle, const struct request *request) {
    uint32_t index = entry_take(dram, cycle, request);
    struct entry *entry = &dram->entries[index];
    if (dram->flat) {
        /* The bus in bytes since cycle 0: exact when several requests share a cycle. */
        uint64_t position = later(cycle * dram->bytes_per_clock, dram->bus_free);
        dram->bus_free = position + request->bytes;
        entry->done = position / dram->bytes_per_clock + dram->latency[0];
        dram->stats.queue_cycles += position / dram->bytes_per_clock - cycle;
        complete(dram, index);
        return;
    }
    struct address_parts parts;
    address_map_decode(&dram->map, request->address, &parts);
    entry->row = parts.row;
    entry->bank = (uint8_t)parts.bank;
    if (cycle > 0)
        latency_dram_advance(dram, cycle - 1);
    list_append(dram, &dram->queue, index);
    dram->queue_count++;
    if (dram->window_count + dram->queue_count > dram->stats.queue_peak)
        dram->stats.queue_peak = dram->window_count + dram->queue_count;
    /* A start of this very cycle must not see the request: it enters the window after that. */
    if (dram->start_cycle <= cycle)
        return;
    queue_drain(dram);
    dram->next_start = later(dram->next_start, cycle + 1);
    plan_start(dram);
}

uint64_t latency_dram_ready(const struct latency_dram *dram) {
    return dram->completed.head == NONE ? NO_CYCLE : dram->entries[dram->completed.head].done;
}

bool latency_dram_pop(struct latency_dram *dram, uint64_t cycle, struct request *request) {
    uint32_t index = dram->completed.head;
    if (index == NONE || dram->entries[index].done > cycle)
        return false;
    list_take(dram, &dram->completed);
    *request = dram->entries[index].request;
    dram->entries[index].next = dram->free;
    dram->free = index;
    dram->held--;
    return true;
}

uint32_t latency_dram_held(const struct latency_dram *dram) { return dram->held; }

struct dram_stats latency_dram_statistics(const struct latency_dram *dram) {
    return dram->stats;
}

const struct dram_histograms *latency_dram_histograms(const struct latency_dram *dram) { return &dram->histograms; }

static void keep_bank(struct bank *bank, uint64_t now, struct keep *keep) {
    keep_cycle(keep, &bank->busy_until, now);
    keep_cycle(keep, &bank->hold_until, now);
    keep_cycle(keep, &bank->hold_end, now);
    keep_u32(keep, &bank->row, UINT32_MAX);
    keep_bool(keep, &bank->open);
    keep_check(keep, bank->hold_until <= bank->hold_end);
}

void latency_dram_keep(struct latency_dram *dram, uint64_t now, struct keep *keep) {
    if (keep->writes && dram->held)
        keep_refuse(keep, "a DRAM channel with requests in it");
    keep_cycle(keep, &dram->next_start, now);
    keep_u64(keep, &dram->bus_free, UINT64_MAX >> 4);
    keep_u64(keep, &dram->bus_bytes, UINT64_MAX >> 4);
    keep_u64(keep, &dram->order, UINT64_MAX >> 4);
    keep_counts(keep, &dram->stats, sizeof dram->stats);
    keep_counts(keep, &dram->histograms, sizeof dram->histograms);
    for (uint32_t b = 0; b < dram->bank_count; b++)
        keep_bank(&dram->bank[b], now, keep);
}
