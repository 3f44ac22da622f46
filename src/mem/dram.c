/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/dram_state.h"

#include <assert.h>

#include "base/bits.h"
#include "mem/dram_window.h"

/* For the path of a command, where calls and their saved registers would be a fifth of the cost. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* ---- commands ---- */

/* The request that a bank's command of that kind would serve. */
static inline struct dram_entry *served(const struct dram *dram, uint32_t b, uint32_t kind) {
    return kind <= DRAM_WRITE ? dram->bank[b].hit[kind].head : dram->bank[b].waiting.head;
}

static __attribute__((noinline)) void observe(struct dram *dram, uint64_t cycle, uint32_t kind, uint32_t b,
                                              const struct dram_entry *entry) {
    struct dram_command command = {.cycle = cycle, .bank = b, .kind = (uint8_t)kind};
    if (entry) {
        struct address_parts parts;
        address_map_decode(&dram->map, entry->request.address, &parts);
        command.tag = entry->request.tag;
        command.row = entry->row;
        command.column = parts.column;
    }
    dram->observer(dram->observer_context, &command);
}

static inline void raise(uint64_t *ready, uint64_t cycle) { *ready = later(*ready, cycle); }

/* A row was opened: requests that wait for it become hits. */
static void bank_sort_waiting(struct dram *dram, uint32_t b) {
    struct dram_bank *bank = &dram->bank[b];
    struct dram_entry *before = NULL;
    for (struct dram_entry *entry = bank->waiting.head, *next; entry; entry = next) {
        next = entry->next;
        if (entry->row != bank->row) {
            before = entry;
            continue;
        }
        *(before ? &before->next : &bank->waiting.head) = next;
        bank_insert(dram, entry);
    }
    if (!before)
        return;
    bank->waiting.tail = before;
    dram->waiting_order[b] = bank->waiting.head->order;
}

static ALWAYS_INLINE void issue_activate(struct dram *dram, uint32_t b, uint64_t cycle) {
    const struct dram_timing *timing = &dram->timing;
    struct dram_bank *bank = &dram->bank[b];
    dram->ready[DRAM_READ][b] = cycle + timing->rcd[0];
    dram->ready[DRAM_WRITE][b] = cycle + timing->rcd[1];
    raise(&bank->precharge_ready, cycle + timing->ras);
    dram->ready[DRAM_PRECHARGE][b] = bank->precharge_ready;
    dram->ready[DRAM_ACTIVATE][b] = cycle + timing->rc;
    if (dram->grouped[DRAM_ACTIVATE])
        dram_hold_group(dram, DRAM_ACTIVATE, b & dram->group_mask, cycle + timing->rrd_group);
    /* With the next activate, the one three before the last is four back. */
    dram->activates[dram->activate_index++ & 3] = cycle + timing->faw;
    dram->chip_ready[DRAM_ACTIVATE] = later(cycle + timing->rrd, dram->activates[dram->activate_index & 3]);

    struct dram_entry *entry = bank->waiting.head;
    bank->row = entry->row;
    entry->opened = true;
    dram->open |= bit(b);
    dram->want[DRAM_ACTIVATE] &= ~bit(b);
    dram->counts[DRAM_ACTIVATES][b]++;
    bank->waiting.head = entry->next;
    bank_insert(dram, entry);
    if (bank->waiting.head)
        bank_sort_waiting(dram, b);
}

/* The row is closed: no hint has kept it open for longer than the limit. */
static __attribute__((noinline)) void end_holds(struct dram *dram, uint32_t b) {
    struct dram_bank *bank = &dram->bank[b];
    assert(dram->ready[DRAM_PRECHARGE][b] <= later(bank->precharge_ready, bank->hold_end));
    bank->hold_until = bank->hold_end = 0;
}

static inline void issue_precharge(struct dram *dram, uint32_t b, uint64_t cycle) {
    raise(&dram->ready[DRAM_ACTIVATE][b], cycle + dram->timing.rp);
    if (dram->bank[b].hold_end)
        end_holds(dram, b);
    dram->open &= ~bit(b);
    dram->want[DRAM_PRECHARGE] &= ~bit(b);
    if (dram->bank[b].waiting.head)
        dram_want(dram, b, DRAM_ACTIVATE);
    dram->stats.precharges++;
}

/* What a read or write holds back. Where the command was itself held back by a limit, that limit has passed. */
static ALWAYS_INLINE void column_timing(struct dram *dram, struct dram_bank *bank, uint32_t b, uint32_t kind,
                                        uint64_t cycle) {
    const struct dram_timing *timing = &dram->timing;
    uint32_t group = b & dram->group_mask, other = kind ^ 1;
    dram->chip_ready[kind] = cycle + timing->ccd;
    raise(&dram->chip_ready[other], cycle + timing->turn[kind]);
    if (timing->ccd_group > timing->ccd)
        dram_hold_group(dram, kind, group, cycle + timing->ccd_group);
    if (timing->turn_group[kind] > timing->turn[kind])
        dram_hold_group(dram, other, group, cycle + timing->turn_group[kind]);
    raise(&bank->precharge_ready, cycle + timing->precharge[kind]);
    dram->ready[DRAM_PRECHARGE][b] = bank->precharge_ready;
    if (kind == DRAM_READ && dram->grouped[DRAM_PRECHARGE])
        dram_hold_group(dram, DRAM_PRECHARGE, group, cycle + timing->read_precharge_group);
}

static ALWAYS_INLINE void complete(struct dram *dram, struct dram_entry *entry, uint32_t kind, uint64_t cycle) {
    const uint64_t waited = cycle - entry->accepted, data = dram->timing.data[kind];
    entry->done = cycle + data;
    list_append(&dram->completed, entry);
    dram->window_count--;
    dram->stats.row_misses += entry->opened;
    dram->done[kind]++;
    dram->waited[kind] += waited;
    if (kind == DRAM_READ)
        HISTOGRAM_COUNT_QUARTER(dram->histograms.dram_read_latency, waited + data);
}

/* In the modes with one request in service: the next goes into service. Mostly it hits the open row as well, and the
 * bank's wish stands. */
static ALWAYS_INLINE void serve_next(struct dram *dram, struct dram_bank *bank, uint32_t b, uint32_t kind) {
    struct dram_entry *entry = bank->pending.head;
    if (entry && entry->row == bank->row && entry->write == kind) {
        bank->pending.head = entry->next;
        list_append(&bank->hit[kind], entry);
        dram->hit_order[kind][b] = entry->order;
        return;
    }
    dram->want[kind] &= ~bit(b);
    dispatch(dram, b);
}

/* The first hit to a held row ends the hold; a load that announces another request holds it. All holds of a row end with the
 * first, so that hints, true or not, keep another row waiting no longer than the limit. */
static __attribute__((noinline)) void hold_row(struct dram *dram, uint32_t b, const struct dram_entry *entry,
                                               uint64_t cycle) {
    struct dram_bank *bank = &dram->bank[b];
    dram->stats.row_holds_met += cycle < bank->hold_until;
    bank->hold_until = 0;
    if (!entry->request.row_hint || !dram->timing.hold)
        return;
    if (!bank->hold_end)
        bank->hold_end = entry->done + dram->timing.hold;
    bank->hold_until = bank->hold_end;
    dram->stats.row_holds += entry->done < bank->hold_end;
    raise(&dram->ready[DRAM_PRECHARGE][b], bank->hold_until);
}

static ALWAYS_INLINE void issue_column(struct dram *dram, uint32_t b, uint32_t kind, uint64_t cycle) {
    struct dram_bank *bank = &dram->bank[b];
    struct dram_list *hits = &bank->hit[kind];
    struct dram_entry *entry = hits->head;
    column_timing(dram, bank, b, kind, cycle);
    dram->counts[DRAM_COLUMN_COMMANDS][b]++;
    if (--entry->bursts_left > 0)
        return;
    list_take(hits);
    complete(dram, entry, kind, cycle);
    if (bank->hold_until || entry->request.row_hint)
        hold_row(dram, b, entry, cycle);
    if (dram->in_service) {
        serve_next(dram, bank, b, kind);
        return;
    }
    if (hits->head) {
        dram->hit_order[kind][b] = hits->head->order;
        return;
    }
    dram->want[kind] &= ~bit(b);
    if (bank->waiting.head && !bank->hit[kind ^ 1].head)
        dram_want(dram, b, DRAM_PRECHARGE);
}

static __attribute__((noinline)) void issue_write(struct dram *dram, uint32_t b, uint64_t cycle) {
    issue_column(dram, b, DRAM_WRITE, cycle);
}

/* Requests that hit a row which a refresh closes wait again, oldest first. */
static void bank_close_for_refresh(struct dram *dram, uint32_t b, uint64_t cycle) {
    struct dram_bank *bank = &dram->bank[b];
    struct dram_list *from[3] = {&bank->hit[0], &bank->hit[1], &bank->waiting};
    struct dram_list merged = {0};
    for (;;) {
        struct dram_list *oldest = NULL;
        for (unsigned i = 0; i < 3; i++)
            if (from[i]->head && (!oldest || from[i]->head->order < oldest->head->order))
                oldest = from[i];
        if (!oldest)
            break;
        list_append(&merged, list_take(oldest));
    }
    bank->waiting = merged;
    if (merged.head)
        dram->waiting_order[b] = merged.head->order;
    dram->want[DRAM_READ] &= ~bit(b);
    dram->want[DRAM_WRITE] &= ~bit(b);
    issue_precharge(dram, b, cycle);
}

static __attribute__((noinline)) void issue_all_banks(struct dram *dram, uint64_t cycle) {
    if (dram->plan.kind == DRAM_PRECHARGE_ALL) {
        for (uint64_t rest = dram->open; rest; rest &= rest - 1)
            bank_close_for_refresh(dram, bits_first64(rest), cycle);
        return;
    }
    for (uint32_t b = 0; b < dram->banks; b++)
        raise(&dram->ready[DRAM_ACTIVATE][b], cycle + dram->timing.refresh);
    dram->ripe[DRAM_ACTIVATE] = 0;
    dram->ripens = 0;
    dram->refresh_cycle += dram->timing.refresh_interval;
    dram->stats.refreshes++;
}

static ALWAYS_INLINE void issue(struct dram *dram, uint64_t cycle) {
    uint32_t b = dram->plan.bank, kind = dram->plan.kind;
    if (dram->observer)
        observe(dram, cycle, kind, b, kind <= DRAM_PRECHARGE ? served(dram, b, kind) : NULL);
    switch (kind) {
    case DRAM_READ: issue_column(dram, b, DRAM_READ, cycle); break;
    case DRAM_WRITE: issue_write(dram, b, cycle); break;
    case DRAM_ACTIVATE: issue_activate(dram, b, cycle); break;
    case DRAM_PRECHARGE: issue_precharge(dram, b, cycle); break;
    default: issue_all_banks(dram, cycle); return;
    }
    dram->turn = (b + 1) & (dram->banks - 1);
}

static __attribute__((noinline)) void issue_on_two_buses(struct dram *dram, uint64_t cycle) {
    uint64_t column_floor = cycle, row_floor = cycle;
    do {
        bool column = dram->plan.kind <= DRAM_WRITE;
        issue(dram, cycle);
        *(column ? &column_floor : &row_floor) = cycle + 1;
        dram_plan(dram, column_floor, row_floor);
    } while (dram->plan.cycle == cycle);
}

static inline struct dram_entry *queue_take(struct dram *dram) {
    if (!dram->queue_count || dram->window_count >= dram->window)
        return NULL;
    dram->queue_count--;
    return list_take(&dram->queue);
}

/* Every cycle of a plan up to this one: its command, with two buses perhaps a second one, then requests enter the
 * window. */
static void advance(struct dram *dram, uint64_t last) {
    struct dram_entry *entry;
    for (uint64_t cycle; (cycle = dram->plan.cycle) <= last;) {
        if (dram->two_buses) {
            issue_on_two_buses(dram, cycle);
            while ((entry = queue_take(dram)))
                window_add(dram, entry, cycle);
        } else {
            issue(dram, cycle);
            while ((entry = queue_take(dram)))
                window_enter(dram, entry, cycle);
            dram_plan(dram, cycle + 1, cycle + 1);
        }
    }
}

/* ---- interface ---- */

bool dram_room(const struct dram *dram, uint64_t cycle) {
    return dram->queue_count < dram->queue_limit && dram->held < dram->capacity && dram->last_push <= cycle;
}

static struct dram_entry *entry_take(struct dram *dram) {
    struct dram_entry *entry = dram->free;
    if (!entry)
        return &dram->entries[dram->unused++];
    dram->free = entry->next;
    return entry;
}

struct dram_place dram_place_of(const struct dram *dram, uint64_t address) {
    const uint64_t inside = address_map_inside(&dram->map, address);
    const uint32_t row = address_field_decode(&dram->map.row, inside);
    return (struct dram_place){row, address_map_bank(&dram->map, row, address_field_decode(&dram->map.bank, inside))};
}

void dram_push(struct dram *dram, uint64_t cycle, const struct request *request) {
    dram_push_at(dram, cycle, request, dram_place_of(dram, request->address));
}

void dram_push_at(struct dram *dram, uint64_t cycle, const struct request *request, struct dram_place place) {
    if (dram->plan.cycle < cycle)
        advance(dram, cycle - 1);
    struct dram_entry *entry = entry_take(dram);
    uint64_t bursts = ((request->address & dram->burst_mask) + request->bytes + dram->burst_mask) >> dram->burst_shift;
    entry->request = *request;
    entry->order = dram->order++;
    entry->accepted = cycle;
    entry->row = place.row;
    entry->bank = (uint8_t)place.bank;
    entry->bursts_left = (uint16_t)(bursts ? bursts : 1);
    entry->write = request->kind == REQUEST_WRITE;
    entry->opened = false;
    dram->held++;
    dram->last_push = cycle + 1;
    /* A command of this very cycle must not see the request: it enters the window after that. A queue means that the
     * window is full or that such a command is still to come. */
    if (dram->plan.cycle > cycle && dram->window_count < dram->window) {
        window_add(dram, entry, cycle);
    } else {
        list_append(&dram->queue, entry);
        dram->queue_count++;
    }
    if (dram->window_count + dram->queue_count > dram->stats.queue_peak)
        dram->stats.queue_peak = dram->window_count + dram->queue_count;
}

uint64_t dram_next(const struct dram *dram) { return dram->plan.cycle; }

void dram_advance(struct dram *dram, uint64_t cycle) {
    if (dram->plan.cycle <= cycle)
        advance(dram, cycle < NO_CYCLE ? cycle : NO_CYCLE - 1);
}

uint64_t dram_ready(const struct dram *dram) { return dram->completed.head ? dram->completed.head->done : NO_CYCLE; }

uint32_t dram_least_latency(const struct dram *dram) {
    const uint64_t read = dram->timing.data[DRAM_READ], write = dram->timing.data[DRAM_WRITE];
    return (uint32_t)(read < write ? read : write);
}

bool dram_pop(struct dram *dram, uint64_t cycle, struct request *request) {
    struct dram_entry *entry = dram->completed.head;
    if (!entry || entry->done > cycle)
        return false;
    list_take(&dram->completed);
    *request = entry->request;
    entry->next = dram->free;
    dram->free = entry;
    dram->held--;
    return true;
}

uint32_t dram_held(const struct dram *dram) { return dram->held; }

struct dram_stats dram_statistics(const struct dram *dram) {
    struct dram_stats stats = dram->stats;
    for (uint32_t b = 0; b < dram->banks; b++) {
        stats.activates += dram->counts[DRAM_ACTIVATES][b];
        stats.column_commands += dram->counts[DRAM_COLUMN_COMMANDS][b];
    }
    stats.reads = dram->done[DRAM_READ], stats.writes = dram->done[DRAM_WRITE];
    stats.queue_cycles = dram->waited[DRAM_READ] + dram->waited[DRAM_WRITE];
    stats.read_cycles = dram->waited[DRAM_READ] + stats.reads * dram->timing.data[DRAM_READ];
    stats.write_cycles = dram->waited[DRAM_WRITE] + stats.writes * dram->timing.data[DRAM_WRITE];
    stats.requests = stats.reads + stats.writes;
    stats.row_hits = stats.requests - stats.row_misses;
    stats.bus_busy_cycles = stats.column_commands * dram->timing.burst;
    stats.bytes = stats.column_commands << dram->burst_shift;
    return stats;
}

void dram_add_banks(const struct dram *dram, uint64_t into[]) {
    for (unsigned counter = 0; counter < DRAM_BANK_COUNTERS; counter++, into += dram->banks)
        for (uint32_t b = 0; b < dram->banks; b++)
            into[b] += dram->counts[counter][b];
}

const struct dram_histograms *dram_histograms(const struct dram *dram) { return &dram->histograms; }

void dram_observe(struct dram *dram, dram_observer *observer, void *context) {
    dram->observer = observer;
    dram->observer_context = context;
}
