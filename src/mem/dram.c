#include "mem/dram.h"

#include "base/bits.h"

#define NONE UINT32_MAX
enum { BANKS_MAX = 64, GROUPS_MAX = 16, RETURNS_SPARE = 1024, COMMANDS_PER_BANK = 4 };

const struct stat_description dram_stat_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct dram_stats, field, unit, help)
#define RATIO(name, numerator, denominator, scale, unit, help)                                                         \
    RATIO_ENTRY(struct dram_stats, name, numerator, denominator, scale, unit, help)
#include "mem/dram_stats.def"
#undef STAT
#undef RATIO
    STAT_END,
};

/* A request inside the channel. Links and lists hold indices. */
struct entry {
    struct request request;
    uint64_t order; /* rises with arrival */
    uint64_t accepted, done;
    uint32_t row, next;
    uint16_t bursts_left;
    uint8_t bank;
    uint8_t write;
    bool opened; /* a row was opened for it */
};

struct list {
    uint32_t head, tail;
};

/* Requests of the window, oldest first. `hit` only while the row is open. In the modes with one request in service,
 * that one is in `waiting` or `hit` and the others in `pending`. */
struct bank {
    uint64_t precharge_ready; /* without the hold of a hint */
    uint64_t hold_until;
    uint32_t row;
    struct list hit[2]; /* reads, writes */
    struct list waiting, pending;
};

/* Distances between commands, ready to be added to the cycle of the first. */
struct timing {
    /* By read and write: to the end of the data, to the other kind, to precharge of the bank. */
    uint32_t data[2], turn[2], turn_group[2], precharge[2], rcd[2];
    uint32_t burst, ccd, ccd_group, rrd, rrd_group, faw, ras, rp, rc, read_precharge_group;
    uint32_t refresh_interval, refresh, hold;
};

struct dram {
    /* The next command: kind, bank and cycle; `order` decides between commands legal in the same cycle. */
    struct pick {
        uint64_t cycle, order;
        uint32_t bank, kind;
    } plan;
    uint64_t want[COMMANDS_PER_BANK]; /* banks whose next command may be of that kind */
    uint64_t open;                    /* banks with an open row */
    uint64_t serving;                 /* banks with a request in service, in the modes that have one */
    uint64_t chip_ready[COMMANDS_PER_BANK];
    bool grouped[COMMANDS_PER_BANK]; /* whether bank groups hold back that kind longer than the chip does */
    bool in_service, by_bank, fifo, two_buses;
    uint64_t refresh_cycle;
    uint32_t banks, group_mask, turn; /* turn: the bank that is first in bank-rr */
    uint32_t window, window_count, queue_limit, queue_count;
    uint32_t capacity, unused, free, held; /* entries from `unused` on were never taken; `free` heads a list */
    uint32_t burst_mask, burst_shift, activate_index;
    uint64_t order, last_push; /* last_push: cycle + 1 of the last push */
    struct entry *entries;
    struct list queue, completed, pending; /* pending: scheduler fifo */
    dram_observer *observer;
    void *observer_context;
    struct timing timing;
    uint64_t activates[4]; /* cycles of the last four, for FAW */
    struct dram_stats stats;

    /* What planning reads, by kind and bank: the cycle from which the bank itself allows the command, and the order
     * of the request it would serve (valid for kinds wanted; `waiting` serves activate and precharge). */
    uint64_t ready[COMMANDS_PER_BANK][BANKS_MAX];
    uint64_t hit_order[2][BANKS_MAX], waiting_order[BANKS_MAX];
    uint64_t group_ready[COMMANDS_PER_BANK][GROUPS_MAX];
    struct address_map map;
    struct bank bank[];
};

static inline uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }
static inline uint64_t bit(uint32_t n) { return UINT64_C(1) << n; }

/* ---- lists ---- */

static inline void list_append(struct dram *dram, struct list *list, uint32_t index) {
    dram->entries[index].next = NONE;
    if (list->head == NONE)
        list->head = index;
    else
        dram->entries[list->tail].next = index;
    list->tail = index;
}

static inline void list_prepend(struct dram *dram, struct list *list, uint32_t index) {
    dram->entries[index].next = list->head;
    if (list->head == NONE)
        list->tail = index;
    list->head = index;
}

static inline uint32_t list_take(struct dram *dram, struct list *list) {
    uint32_t index = list->head;
    list->head = dram->entries[index].next;
    return index;
}

/* Takes the oldest request of that row, else the oldest. */
static uint32_t list_take_row(struct dram *dram, struct list *list, uint32_t row) {
    uint32_t before = NONE;
    for (uint32_t index = list->head; index != NONE; before = index, index = dram->entries[index].next) {
        if (dram->entries[index].row != row)
            continue;
        if (before == NONE)
            break;
        dram->entries[before].next = dram->entries[index].next;
        if (list->tail == index)
            list->tail = before;
        return index;
    }
    return list_take(dram, list);
}

/* ---- the plan ---- */

/* The request that a bank's command of that kind would serve. */
static inline uint32_t served(const struct dram *dram, uint32_t b, uint32_t kind) {
    return kind <= DRAM_WRITE ? dram->bank[b].hit[kind].head : dram->bank[b].waiting.head;
}

static inline uint64_t order_of(const struct dram *dram, uint32_t b, uint32_t kind, bool by_bank) {
    if (by_bank)
        return (b - dram->turn) & (dram->banks - 1);
    return kind <= DRAM_WRITE ? dram->hit_order[kind][b] : dram->waiting_order[b];
}

/* A refresh that is due comes before everything: close all rows as soon as that is legal, then refresh. Holds end. */
static void plan_refresh(struct dram *dram, uint64_t floor) {
    uint64_t cycle = later(floor, dram->refresh_cycle);
    if (dram->open) {
        for (uint64_t rest = dram->open; rest; rest &= rest - 1) {
            uint32_t b = bits_first64(rest);
            cycle = later(cycle, dram->bank[b].precharge_ready);
            cycle = later(cycle, dram->group_ready[DRAM_PRECHARGE][b & dram->group_mask]);
        }
    } else {
        for (uint32_t b = 0; b < dram->banks; b++)
            cycle = later(cycle, dram->ready[DRAM_ACTIVATE][b]);
    }
    dram->plan = (struct pick){.cycle = cycle, .kind = dram->open ? DRAM_PRECHARGE_ALL : DRAM_REFRESH};
}

/* Of the banks that want this kind, the first legal at or after `floor`; between equals the order decides. Inlined for
 * every combination of the constants: this is where a channel spends its time. */
#define ALWAYS_INLINE inline __attribute__((always_inline))
static ALWAYS_INLINE void pick_kind(const struct dram *dram, struct pick *best, uint32_t kind, uint64_t floor,
                                    bool grouped, bool by_bank) {
    for (uint64_t rest = dram->want[kind]; rest; rest &= rest - 1) {
        uint32_t b = bits_first64(rest);
        uint64_t cycle = later(floor, dram->ready[kind][b]);
        if (grouped)
            cycle = later(cycle, dram->group_ready[kind][b & dram->group_mask]);
        if (cycle > best->cycle)
            continue;
        uint64_t order = order_of(dram, b, kind, by_bank);
        if (cycle == best->cycle && order > best->order)
            continue;
        best->cycle = cycle;
        best->order = order;
        best->bank = b;
        best->kind = kind;
    }
}

static ALWAYS_INLINE void pick(const struct dram *dram, struct pick *best, uint32_t kind, uint64_t floor, bool by_bank) {
    if (!dram->want[kind])
        return;
    floor = later(floor, dram->chip_ready[kind]);
    if (floor > best->cycle)
        return;
    if (dram->grouped[kind])
        pick_kind(dram, best, kind, floor, true, by_bank);
    else
        pick_kind(dram, best, kind, floor, false, by_bank);
}

/* Activates last: their limit for the chip often lies behind what was found by then, and no bank is looked at. */
static ALWAYS_INLINE void pick_all(struct dram *dram, uint64_t column_floor, uint64_t row_floor, bool by_bank) {
    struct pick best = {.cycle = NO_CYCLE, .order = UINT64_MAX};
    pick(dram, &best, DRAM_READ, column_floor, by_bank);
    pick(dram, &best, DRAM_WRITE, column_floor, by_bank);
    pick(dram, &best, DRAM_PRECHARGE, row_floor, by_bank);
    pick(dram, &best, DRAM_ACTIVATE, row_floor, by_bank);
    dram->plan = best;
}

static void plan(struct dram *dram, uint64_t column_floor, uint64_t row_floor) {
    if (dram->by_bank)
        pick_all(dram, column_floor, row_floor, true);
    else
        pick_all(dram, column_floor, row_floor, false);
    if (dram->plan.cycle >= dram->refresh_cycle && dram->refresh_cycle != NO_CYCLE)
        plan_refresh(dram, row_floor);
}

/* Bank b has a new command to offer, first considered at `floor`: does it come before the one planned? */
static inline void plan_offer(struct dram *dram, uint32_t b, uint32_t kind, uint64_t floor) {
    uint64_t cycle = later(later(floor, dram->chip_ready[kind]), dram->ready[kind][b]);
    cycle = later(cycle, dram->group_ready[kind][b & dram->group_mask]);
    if (cycle > dram->plan.cycle || cycle >= dram->refresh_cycle)
        return;
    uint64_t order = order_of(dram, b, kind, dram->by_bank);
    if (cycle < dram->plan.cycle || order < dram->plan.order)
        dram->plan = (struct pick){.cycle = cycle, .order = order, .bank = b, .kind = kind};
}

/* ---- requests enter the window ---- */

/* Puts a request where its bank looks for commands. Returns the kind of command that the bank now wants for it, NONE
 * when an older request of the bank comes first. A hit takes back the bank's wish to precharge. */
static inline uint32_t bank_insert(struct dram *dram, uint32_t index) {
    struct entry *entry = &dram->entries[index];
    uint32_t b = entry->bank;
    struct bank *bank = &dram->bank[b];
    bool open = (dram->open >> b & 1) != 0;
    if (open && bank->row == entry->row) {
        struct list *hits = &bank->hit[entry->write];
        bool first = hits->head == NONE;
        list_append(dram, hits, index);
        if (!first)
            return NONE;
        dram->hit_order[entry->write][b] = entry->order;
        dram->want[entry->write] |= bit(b);
        dram->want[DRAM_PRECHARGE] &= ~bit(b);
        return entry->write;
    }
    bool first = bank->waiting.head == NONE;
    list_append(dram, &bank->waiting, index);
    if (!first)
        return NONE;
    dram->waiting_order[b] = entry->order;
    if (open && (dram->want[DRAM_READ] | dram->want[DRAM_WRITE]) >> b & 1)
        return NONE;
    uint32_t kind = open ? DRAM_PRECHARGE : DRAM_ACTIVATE;
    dram->want[kind] |= bit(b);
    return kind;
}

static void dispatch_bank(struct dram *dram, uint32_t b) {
    struct list *pending = &dram->bank[b].pending;
    if (pending->head == NONE)
        return;
    uint32_t index = dram->open >> b & 1 ? list_take_row(dram, pending, dram->bank[b].row) : list_take(dram, pending);
    dram->serving |= bit(b);
    bank_insert(dram, index);
}

/* The bank's request is done: which requests go into service? */
static void dispatch(struct dram *dram, uint32_t b) {
    dram->serving &= ~bit(b);
    if (!dram->fifo) {
        dispatch_bank(dram, b);
        return;
    }
    while (dram->pending.head != NONE) {
        uint32_t next_bank = dram->entries[dram->pending.head].bank;
        if (dram->serving >> next_bank & 1)
            break;
        dram->serving |= bit(next_bank);
        bank_insert(dram, list_take(dram, &dram->pending));
    }
}

/* A row held open by a hint: the conflicting request in service, none of whose commands is issued yet, goes back. */
static bool yields_to_hit(struct dram *dram, uint32_t b, uint32_t row, uint64_t cycle) {
    struct bank *bank = &dram->bank[b];
    if (dram->fifo || bank->hold_until <= cycle || !(dram->open >> b & 1) || bank->row != row ||
        bank->waiting.head == NONE)
        return false;
    list_prepend(dram, &bank->pending, list_take(dram, &bank->waiting));
    return true;
}

/* In the modes with one request in service per bank: whether this one goes into service at once. */
static bool window_serve(struct dram *dram, uint32_t index, uint64_t cycle) {
    uint32_t b = dram->entries[index].bank;
    bool busy = (dram->serving >> b & 1) != 0;
    if (dram->fifo ? !busy && dram->pending.head == NONE : !busy || yields_to_hit(dram, b, dram->entries[index].row, cycle)) {
        dram->serving |= bit(b);
        return true;
    }
    list_append(dram, dram->fifo ? &dram->pending : &dram->bank[b].pending, index);
    return false;
}

/* A request enters the window in this cycle, after the cycle's commands. */
static void window_add(struct dram *dram, uint32_t index, uint64_t cycle) {
    dram->window_count++;
    if (dram->in_service && !window_serve(dram, index, cycle))
        return;
    uint32_t kind = bank_insert(dram, index), b = dram->entries[index].bank;
    if (kind == NONE)
        return;
    if (kind <= DRAM_WRITE && dram->plan.kind == DRAM_PRECHARGE && dram->plan.bank == b)
        plan(dram, cycle + 1, cycle + 1);
    else
        plan_offer(dram, b, kind, cycle + 1);
}

static void queue_drain(struct dram *dram, uint64_t cycle) {
    while (dram->queue.head != NONE && dram->window_count < dram->window) {
        dram->queue_count--;
        window_add(dram, list_take(dram, &dram->queue), cycle);
    }
}

/* ---- commands ---- */

static void observe(struct dram *dram, uint64_t cycle, uint32_t kind, uint32_t b, uint32_t index) {
    struct dram_command command = {.cycle = cycle, .bank = b, .kind = (uint8_t)kind};
    if (index != NONE) {
        const struct entry *entry = &dram->entries[index];
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
    struct bank *bank = &dram->bank[b];
    uint32_t before = NONE, row = bank->row;
    for (uint32_t index = bank->waiting.head, next; index != NONE; index = next) {
        next = dram->entries[index].next;
        if (dram->entries[index].row != row) {
            before = index;
            continue;
        }
        *(before == NONE ? &bank->waiting.head : &dram->entries[before].next) = next;
        bank_insert(dram, index);
    }
    if (before == NONE)
        return;
    bank->waiting.tail = before;
    dram->waiting_order[b] = dram->entries[bank->waiting.head].order;
}

static void issue_activate(struct dram *dram, uint32_t b, uint64_t cycle) {
    const struct timing *timing = &dram->timing;
    struct bank *bank = &dram->bank[b];
    dram->ready[DRAM_READ][b] = cycle + timing->rcd[0];
    dram->ready[DRAM_WRITE][b] = cycle + timing->rcd[1];
    raise(&bank->precharge_ready, cycle + timing->ras);
    dram->ready[DRAM_PRECHARGE][b] = bank->precharge_ready;
    dram->ready[DRAM_ACTIVATE][b] = cycle + timing->rc;
    dram->group_ready[DRAM_ACTIVATE][b & dram->group_mask] = cycle + timing->rrd_group;
    /* With the next activate, the one three before the last is four back. */
    dram->activates[dram->activate_index++ & 3] = cycle + timing->faw;
    dram->chip_ready[DRAM_ACTIVATE] = later(cycle + timing->rrd, dram->activates[dram->activate_index & 3]);

    uint32_t index = bank->waiting.head;
    struct entry *entry = &dram->entries[index];
    bank->row = entry->row;
    entry->opened = true;
    dram->open |= bit(b);
    dram->want[DRAM_ACTIVATE] &= ~bit(b);
    dram->stats.activates++;
    bank->waiting.head = entry->next;
    bank_insert(dram, index);
    bank_sort_waiting(dram, b);
}

static void issue_precharge(struct dram *dram, uint32_t b, uint64_t cycle) {
    raise(&dram->ready[DRAM_ACTIVATE][b], cycle + dram->timing.rp);
    dram->bank[b].hold_until = 0;
    dram->open &= ~bit(b);
    dram->want[DRAM_PRECHARGE] &= ~bit(b);
    if (dram->bank[b].waiting.head != NONE)
        dram->want[DRAM_ACTIVATE] |= bit(b);
    dram->stats.precharges++;
}

/* What a read or write holds back. Where the command was itself held back by a limit, that limit has passed. */
static inline void column_timing(struct dram *dram, uint32_t b, uint32_t kind, uint64_t cycle) {
    const struct timing *timing = &dram->timing;
    uint32_t group = b & dram->group_mask, other = kind ^ 1;
    dram->chip_ready[kind] = cycle + timing->ccd;
    dram->group_ready[kind][group] = cycle + timing->ccd_group;
    raise(&dram->chip_ready[other], cycle + timing->turn[kind]);
    raise(&dram->group_ready[other][group], cycle + timing->turn_group[kind]);
    raise(&dram->bank[b].precharge_ready, cycle + timing->precharge[kind]);
    dram->ready[DRAM_PRECHARGE][b] = dram->bank[b].precharge_ready;
    if (kind == DRAM_READ && dram->grouped[DRAM_PRECHARGE])
        raise(&dram->group_ready[DRAM_PRECHARGE][group], cycle + timing->read_precharge_group);
}

static inline void complete(struct dram *dram, uint32_t index, uint32_t kind, uint64_t cycle) {
    struct entry *entry = &dram->entries[index];
    entry->done = cycle + dram->timing.data[kind];
    list_append(dram, &dram->completed, index);
    dram->window_count--;
    dram->stats.row_misses += entry->opened;
    dram->stats.queue_cycles += cycle - entry->accepted;
    *(kind == DRAM_READ ? &dram->stats.reads : &dram->stats.writes) += 1;
    *(kind == DRAM_READ ? &dram->stats.read_cycles : &dram->stats.write_cycles) += entry->done - entry->accepted;
}

static void issue_column(struct dram *dram, uint32_t b, uint32_t kind, uint64_t cycle) {
    struct bank *bank = &dram->bank[b];
    struct list *hits = &bank->hit[kind];
    struct entry *entry = &dram->entries[hits->head];
    column_timing(dram, b, kind, cycle);
    dram->stats.column_commands++;
    bank->hold_until = 0; /* the first hit to a held row ends the hold */
    if (--entry->bursts_left > 0)
        return;
    uint32_t index = list_take(dram, hits);
    complete(dram, index, kind, cycle);
    if (entry->request.row_hint && dram->timing.hold) {
        bank->hold_until = entry->done + dram->timing.hold;
        raise(&dram->ready[DRAM_PRECHARGE][b], bank->hold_until);
    }
    if (hits->head != NONE) {
        dram->hit_order[kind][b] = dram->entries[hits->head].order;
    } else {
        dram->want[kind] &= ~bit(b);
        if (bank->waiting.head != NONE && bank->hit[kind ^ 1].head == NONE)
            dram->want[DRAM_PRECHARGE] |= bit(b);
    }
    if (dram->in_service)
        dispatch(dram, b);
}

/* Requests that hit a row which a refresh closes wait again, oldest first. */
static void bank_close_for_refresh(struct dram *dram, uint32_t b, uint64_t cycle) {
    struct bank *bank = &dram->bank[b];
    struct list *from[3] = {&bank->hit[0], &bank->hit[1], &bank->waiting};
    struct list merged = {NONE, NONE};
    for (;;) {
        struct list *oldest = NULL;
        for (unsigned i = 0; i < 3; i++)
            if (from[i]->head != NONE &&
                (!oldest || dram->entries[from[i]->head].order < dram->entries[oldest->head].order))
                oldest = from[i];
        if (!oldest)
            break;
        list_append(dram, &merged, list_take(dram, oldest));
    }
    bank->waiting = merged;
    if (merged.head != NONE)
        dram->waiting_order[b] = dram->entries[merged.head].order;
    dram->want[DRAM_READ] &= ~bit(b);
    dram->want[DRAM_WRITE] &= ~bit(b);
    issue_precharge(dram, b, cycle);
}

static void issue_all_banks(struct dram *dram, uint64_t cycle) {
    if (dram->plan.kind == DRAM_PRECHARGE_ALL) {
        for (uint64_t rest = dram->open; rest; rest &= rest - 1)
            bank_close_for_refresh(dram, bits_first64(rest), cycle);
        return;
    }
    for (uint32_t b = 0; b < dram->banks; b++)
        raise(&dram->ready[DRAM_ACTIVATE][b], cycle + dram->timing.refresh);
    dram->refresh_cycle += dram->timing.refresh_interval;
    dram->stats.refreshes++;
}

static void issue(struct dram *dram, uint64_t cycle) {
    uint32_t b = dram->plan.bank, kind = dram->plan.kind;
    if (dram->observer)
        observe(dram, cycle, kind, b, kind <= DRAM_PRECHARGE ? served(dram, b, kind) : NONE);
    switch (kind) {
    case DRAM_READ:
    case DRAM_WRITE: issue_column(dram, b, kind, cycle); break;
    case DRAM_ACTIVATE: issue_activate(dram, b, cycle); break;
    case DRAM_PRECHARGE: issue_precharge(dram, b, cycle); break;
    default: issue_all_banks(dram, cycle); return;
    }
    dram->turn = (b + 1) & (dram->banks - 1);
}

/* The cycle of the plan: its command, with two buses perhaps a second one, then requests enter the window. */
static void step(struct dram *dram) {
    uint64_t cycle = dram->plan.cycle;
    if (!dram->two_buses) {
        issue(dram, cycle);
        plan(dram, cycle + 1, cycle + 1);
    } else {
        uint64_t column_floor = cycle, row_floor = cycle;
        do {
            bool column = dram->plan.kind <= DRAM_WRITE;
            issue(dram, cycle);
            *(column ? &column_floor : &row_floor) = cycle + 1;
            plan(dram, column_floor, row_floor);
        } while (dram->plan.cycle == cycle);
    }
    if (dram->queue_count)
        queue_drain(dram, cycle);
}

/* ---- interface ---- */

struct address_masks dram_masks(const struct dram_params *params) {
    return (struct address_masks){.chip = params->chip_mask,
                                  .row = params->row_mask,
                                  .bank = params->bank_mask,
                                  .column = params->column_mask,
                                  .chips = params->chips,
                                  .chip_bytes = params->chip_bytes};
}

enum status dram_check(const struct dram_params *params, struct report *report) {
    struct address_masks masks = dram_masks(params);
    enum status status = address_masks_check(&masks, report);
    unsigned bank_bits = bits_count64(params->bank_mask);
    if (bank_bits > 6)
        return report_add(report, STATUS_INVALID, "dram.bank_mask 0x%llx has %u bits; at most 6 (64 banks) are possible",
                          (unsigned long long)params->bank_mask, bank_bits);
    if (!bits_is_power_of_two(params->bank_groups) || params->bank_groups > UINT32_C(1) << bank_bits)
        status = report_add(report, STATUS_INVALID,
                            "dram.bank_groups %u: give a power of two, at most the number of banks (%u)",
                            params->bank_groups, 1U << bank_bits);
    if (!bits_is_power_of_two(params->burst_bytes))
        status = report_add(report, STATUS_INVALID, "dram.burst_bytes %u: give a power of two", params->burst_bytes);
    if (params->refresh_interval && params->refresh_clocks + params->rp + params->ras >= params->refresh_interval)
        status = report_add(report, STATUS_INVALID,
                            "dram.refresh_interval %u leaves no time between refreshes of %u clocks",
                            params->refresh_interval, params->refresh_clocks);
    return status;
}

/* The keys as distances between commands, never so short that data would collide on the bus. */
static void timing_create(struct timing *timing, const struct dram_params *params) {
    uint32_t read_data = params->cl + params->burst_clocks, write_data = params->wl + params->burst_clocks;
    uint32_t ccd = larger(params->ccd, params->burst_clocks), ccd_group = larger(ccd, params->ccd_group);
    uint32_t free_bus = read_data > params->wl ? read_data - params->wl : 0;
    uint32_t read_write = larger(larger(params->rtw, free_bus), ccd);
    uint32_t write_read = larger(write_data + params->wtr, ccd);
    uint32_t write_read_group = larger(write_read, write_data + params->wtr_group);
    *timing = (struct timing){
        .data = {read_data, write_data},
        .turn = {read_write, write_read},
        .turn_group = {larger(read_write, ccd_group), larger(write_read_group, ccd_group)},
        .precharge = {params->rtp, write_data + params->wr},
        .rcd = {params->rcd_read, params->rcd_write},
        .burst = params->burst_clocks,
        .ccd = ccd,
        .ccd_group = ccd_group,
        .rrd = params->rrd,
        .rrd_group = larger(params->rrd, params->rrd_group),
        .faw = params->faw,
        .ras = params->ras,
        .rp = params->rp,
        .rc = params->rc,
        .read_precharge_group = params->rtp_group,
        .refresh_interval = params->refresh_interval,
        .refresh = params->refresh_clocks,
        .hold = params->scheduler == DRAM_FIFO ? 0 : params->hint_hold,
    };
}

static const struct list empty = {NONE, NONE};

struct dram *dram_create(struct arena *arena, const struct dram_params *params) {
    uint32_t banks = UINT32_C(1) << bits_count64(params->bank_mask);
    struct dram *dram = arena_alloc_aligned(arena, sizeof *dram + banks * sizeof dram->bank[0], 64);
    struct address_masks masks = dram_masks(params);
    address_map_create(&dram->map, &masks);
    timing_create(&dram->timing, params);
    dram->banks = banks;
    dram->group_mask = params->bank_groups - 1;
    const struct timing *timing = &dram->timing;
    dram->grouped[DRAM_READ] = timing->ccd_group > timing->ccd || timing->turn_group[1] > timing->turn[1];
    dram->grouped[DRAM_WRITE] = timing->ccd_group > timing->ccd || timing->turn_group[0] > timing->turn[0];
    dram->grouped[DRAM_ACTIVATE] = timing->rrd_group > timing->rrd;
    dram->grouped[DRAM_PRECHARGE] = timing->read_precharge_group > 0;
    dram->fifo = params->scheduler == DRAM_FIFO;
    dram->by_bank = params->command_order == DRAM_BANK_RR;
    dram->in_service = dram->fifo || dram->by_bank;
    dram->two_buses = params->command_buses == 2;
    dram->window = params->window;
    dram->queue_limit = params->queue_limit ? params->queue_limit : UINT32_MAX;
    uint32_t queue = params->queue_limit ? params->queue_limit : DRAM_UNLIMITED_REQUESTS;
    dram->capacity = params->window + queue + RETURNS_SPARE;
    dram->entries = ARENA_ARRAY(arena, struct entry, dram->capacity);
    dram->free = NONE;
    dram->burst_mask = params->burst_bytes - 1;
    dram->burst_shift = bits_first(params->burst_bytes);
    dram->queue = dram->completed = dram->pending = empty;
    for (uint32_t b = 0; b < banks; b++)
        dram->bank[b].hit[0] = dram->bank[b].hit[1] = dram->bank[b].waiting = dram->bank[b].pending = empty;
    dram->refresh_cycle = params->refresh_interval ? params->refresh_interval : NO_CYCLE;
    plan(dram, 0, 0);
    return dram;
}

bool dram_room(const struct dram *dram, uint64_t cycle) {
    return dram->queue_count < dram->queue_limit && dram->held < dram->capacity && dram->last_push <= cycle;
}

static uint32_t entry_take(struct dram *dram) {
    uint32_t index = dram->free;
    if (index == NONE)
        return dram->unused++;
    dram->free = dram->entries[index].next;
    return index;
}

void dram_push(struct dram *dram, uint64_t cycle, const struct request *request) {
    while (dram->plan.cycle < cycle)
        step(dram);
    uint32_t index = entry_take(dram);
    uint64_t inside = address_map_inside(&dram->map, request->address);
    uint64_t bursts = ((request->address & dram->burst_mask) + request->bytes + dram->burst_mask) >> dram->burst_shift;
    dram->entries[index] = (struct entry){
        .request = *request,
        .order = dram->order++,
        .accepted = cycle,
        .row = address_field_decode(&dram->map.row, inside),
        .bursts_left = (uint16_t)(bursts ? bursts : 1),
        .bank = (uint8_t)address_field_decode(&dram->map.bank, inside),
        .write = request->kind == REQUEST_WRITE,
    };
    dram->held++;
    dram->last_push = cycle + 1;
    list_append(dram, &dram->queue, index);
    dram->queue_count++;
    /* A command of this very cycle must not see the request: it enters the window after that. */
    if (dram->plan.cycle > cycle)
        queue_drain(dram, cycle);
    if (dram->window_count + dram->queue_count > dram->stats.queue_peak)
        dram->stats.queue_peak = dram->window_count + dram->queue_count;
}

uint64_t dram_next(const struct dram *dram) { return dram->plan.cycle; }

void dram_advance(struct dram *dram, uint64_t cycle) {
    while (dram->plan.cycle <= cycle)
        step(dram);
}

uint64_t dram_ready(const struct dram *dram) {
    return dram->completed.head == NONE ? NO_CYCLE : dram->entries[dram->completed.head].done;
}

bool dram_pop(struct dram *dram, uint64_t cycle, struct request *request) {
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

uint32_t dram_held(const struct dram *dram) { return dram->held; }

struct dram_stats dram_statistics(const struct dram *dram) {
    struct dram_stats stats = dram->stats;
    stats.requests = stats.reads + stats.writes;
    stats.row_hits = stats.requests - stats.row_misses;
    stats.bus_busy_cycles = stats.column_commands * dram->timing.burst;
    return stats;
}

void dram_observe(struct dram *dram, dram_observer *observer, void *context) {
    dram->observer = observer;
    dram->observer_context = context;
}
