/* SPDX-License-Identifier: Apache-2.0 */
/* The window of a DRAM channel: requests that enter it, and the commands that their banks then want. Part of dram.c, so that
 * its path of a command stays in one piece. */
#ifndef HEDDLE_MEM_DRAM_WINDOW_H
#define HEDDLE_MEM_DRAM_WINDOW_H

#include "mem/dram_state.h"

#define NO_COMMAND UINT32_MAX /* no kind of command */

static inline uint64_t later(uint64_t a, uint64_t b) { return dram_later(a, b); }
static inline uint64_t bit(uint32_t n) { return dram_bit(n); }

/* ---- lists ---- */

static inline void list_append(struct dram_list *list, struct dram_entry *entry) {
    entry->next = NULL;
    if (!list->head)
        list->head = entry;
    else
        list->tail->next = entry;
    list->tail = entry;
}

static inline void list_prepend(struct dram_list *list, struct dram_entry *entry) {
    entry->next = list->head;
    if (!list->head)
        list->tail = entry;
    list->head = entry;
}

static inline struct dram_entry *list_take(struct dram_list *list) {
    struct dram_entry *entry = list->head;
    list->head = entry->next;
    return entry;
}

/* Takes the oldest request of that row, else the oldest. */
static struct dram_entry *list_take_row(struct dram_list *list, uint32_t row) {
    struct dram_entry *before = NULL;
    for (struct dram_entry *entry = list->head; entry; before = entry, entry = entry->next) {
        if (entry->row != row)
            continue;
        if (!before)
            break;
        before->next = entry->next;
        if (list->tail == entry)
            list->tail = before;
        return entry;
    }
    return list_take(list);
}

/* ---- the plan ---- */

/* Bank b has a new command to offer, first considered at `floor`: does it come before the one planned? */
static inline void plan_offer(struct dram *dram, uint32_t b, uint32_t kind, uint64_t floor) {
    uint64_t cycle = later(later(floor, dram->chip_ready[kind]), dram->ready[kind][b]);
    cycle = later(cycle, dram->group_ready[kind][b & dram->group_mask]);
    if (cycle > dram->plan.cycle || cycle >= dram->refresh_cycle)
        return;
    if (cycle < dram->plan.cycle ||
        dram_order_of(dram, b, kind) < dram_order_of(dram, dram->plan.bank, dram->plan.kind))
        dram->plan = (struct dram_pick){.cycle = cycle, .bank = b, .kind = kind};
}

/* ---- requests enter the window ---- */

/* Puts a request where its bank looks for commands. Returns the kind of command that the bank now wants for it, NO_COMMAND
 * when an older request of the bank comes first. A hit takes back the bank's wish to precharge. */
static inline uint32_t bank_insert(struct dram *dram, struct dram_entry *entry) {
    uint32_t b = entry->bank;
    struct dram_bank *bank = &dram->bank[b];
    bool open = (dram->open >> b & 1) != 0;
    if (open && bank->row == entry->row) {
        struct dram_list *hits = &bank->hit[entry->write];
        bool first = !hits->head;
        list_append(hits, entry);
        if (!first)
            return NO_COMMAND;
        dram->hit_order[entry->write][b] = entry->order;
        dram_want(dram, b, entry->write);
        dram->want[DRAM_PRECHARGE] &= ~bit(b);
        return entry->write;
    }
    bool first = !bank->waiting.head;
    list_append(&bank->waiting, entry);
    if (!first)
        return NO_COMMAND;
    dram->waiting_order[b] = entry->order;
    if (open && (dram->want[DRAM_READ] | dram->want[DRAM_WRITE]) >> b & 1)
        return NO_COMMAND;
    uint32_t kind = open ? DRAM_PRECHARGE : DRAM_ACTIVATE;
    dram_want(dram, b, kind);
    return kind;
}

static void dispatch_bank(struct dram *dram, uint32_t b) {
    struct dram_list *pending = &dram->bank[b].pending;
    if (!pending->head)
        return;
    dram->serving |= bit(b);
    const bool by_row = (dram->open & dram->hits_first) >> b & 1;
    bank_insert(dram, by_row ? list_take_row(pending, dram->bank[b].row) : list_take(pending));
}

/* The bank's request is done: which requests go into service? */
static void dispatch(struct dram *dram, uint32_t b) {
    dram->serving &= ~bit(b);
    if (!dram->fifo) {
        dispatch_bank(dram, b);
        return;
    }
    while (dram->pending.head) {
        uint32_t next_bank = dram->pending.head->bank;
        if (dram->serving >> next_bank & 1)
            break;
        dram->serving |= bit(next_bank);
        bank_insert(dram, list_take(&dram->pending));
    }
}

/* A row held open by a hint: the conflicting request in service, none of whose commands is issued yet, goes back. */
static bool yields_to_hit(struct dram *dram, uint32_t b, uint32_t row, uint64_t cycle) {
    struct dram_bank *bank = &dram->bank[b];
    if (dram->fifo || bank->hold_until <= cycle || !(dram->open >> b & 1) || bank->row != row || !bank->waiting.head)
        return false;
    list_prepend(&bank->pending, list_take(&bank->waiting));
    return true;
}

/* In the modes with one request in service per bank: whether this one goes into service at once. */
static bool window_serve(struct dram *dram, struct dram_entry *entry, uint64_t cycle) {
    uint32_t b = entry->bank;
    bool busy = (dram->serving >> b & 1) != 0;
    if (dram->fifo ? !busy && !dram->pending.head : !busy || yields_to_hit(dram, b, entry->row, cycle)) {
        dram->serving |= bit(b);
        return true;
    }
    list_append(dram->fifo ? &dram->pending : &dram->bank[b].pending, entry);
    return false;
}

/* A request enters the window in this cycle, after the cycle's commands. Returns the kind of command that its bank now
 * wants for it, or NO_COMMAND. */
static inline uint32_t window_enter(struct dram *dram, struct dram_entry *entry, uint64_t cycle) {
    dram->window_count++;
    if (dram->in_service && !window_serve(dram, entry, cycle))
        return NO_COMMAND;
    return bank_insert(dram, entry);
}

/* The same when the next command has been planned. */
static void window_add(struct dram *dram, struct dram_entry *entry, uint64_t cycle) {
    const uint32_t kind = window_enter(dram, entry, cycle), b = entry->bank;
    if (kind == NO_COMMAND)
        return;
    if (kind <= DRAM_WRITE && dram->plan.kind == DRAM_PRECHARGE && dram->plan.bank == b)
        dram_plan(dram, cycle + 1, cycle + 1);
    else
        plan_offer(dram, b, kind, cycle + 1);
}

#endif
