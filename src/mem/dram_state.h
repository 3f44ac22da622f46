/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a DRAM channel, for dram.c and dram_create.c only. */
#ifndef HEDDLE_MEM_DRAM_STATE_H
#define HEDDLE_MEM_DRAM_STATE_H

#include <stdalign.h>

#include "mem/dram.h"

enum { DRAM_GROUPS_MAX = 16, DRAM_BANK_COMMANDS = 4 /* read, write, activate, precharge */ };

/* A request inside the channel. It is in one list at a time. */
struct dram_entry {
    struct request request;
    uint64_t order; /* rises with arrival */
    uint64_t accepted, done;
    struct dram_entry *next;
    uint32_t row;
    uint16_t bursts_left;
    uint8_t bank;
    uint8_t write;
    bool opened; /* a row was opened for it */
};

/* Zeroed: empty. The tail counts only when there is a head. */
struct dram_list {
    struct dram_entry *head, *tail;
};

/* Requests of the window, oldest first. `hit` only while the row is open. In the modes with one request in service,
 * that one is in `waiting` or `hit` and the others in `pending`. */
struct dram_bank {
    alignas(128) uint64_t precharge_ready; /* without the hold of a hint */
    uint64_t hold_until;                   /* that of a hint */
    uint64_t hold_end; /* no hold of the open row lasts beyond it; 0: no load has announced another of it */
    uint32_t row;
    struct dram_list hit[2]; /* reads, writes */
    struct dram_list waiting, pending;
};

/* Distances between commands, ready to be added to the cycle of the first. */
struct dram_timing {
    /* By read and write: to the end of the data, to the other kind, to precharge of the bank. */
    uint32_t data[2], turn[2], turn_group[2], precharge[2], rcd[2];
    uint32_t burst, ccd, ccd_group, rrd, rrd_group, faw, ras, rp, rc, read_precharge_group;
    uint32_t refresh_interval, refresh, hold;
};

struct dram {
    struct dram_pick {
        uint64_t cycle;
        uint32_t bank, kind;
    } plan;                            /* the next command; cycle NO_CYCLE: none */
    uint64_t want[DRAM_BANK_COMMANDS]; /* banks whose next command may be of that kind */
    uint64_t ripe[DRAM_BANK_COMMANDS]; /* those of them that allow it at ripe_cycle; bits of others mean nothing */
    uint64_t ripe_cycle, ripens;       /* ripens: no other wish is allowed by its bank before */
    uint64_t open;                     /* banks with an open row */
    uint64_t serving;                  /* banks with a request in service, in the modes that have one */
    uint64_t chip_ready[DRAM_BANK_COMMANDS];
    bool grouped[DRAM_BANK_COMMANDS]; /* whether bank groups hold back that kind longer than the chip does */
    bool in_service, by_bank, fifo, two_buses;
    uint64_t hits_first; /* banks that serve hits of their open row first: all, or none */
    uint64_t refresh_cycle;
    uint32_t banks, group_mask, turn; /* turn: the bank that is first in bank-rr */
    uint32_t window, window_count, queue_limit, queue_count;
    uint32_t capacity, unused, held; /* entries from `unused` on were never taken */
    uint32_t burst_mask, burst_shift, activate_index;
    uint64_t order, last_push;                  /* last_push: cycle + 1 of the last push */
    struct dram_entry *entries, *free;          /* free: a list */
    struct dram_list queue, completed, pending; /* pending: scheduler fifo */
    dram_observer *observer;
    void *observer_context;
    struct dram_timing timing;
    uint64_t activates[4];       /* cycles of the last four, for FAW */
    uint64_t done[2], waited[2]; /* reads, writes: requests, and cycles from acceptance to the last column command */
    struct dram_stats stats;     /* without what follows from these */
    uint64_t counts[DRAM_BANK_COUNTERS][DRAM_BANKS_MAX];
    struct dram_histograms histograms;

    /* What planning reads, by kind and bank: the cycle from which the bank itself allows the command, and the order
     * of the request it would serve (valid for kinds wanted; `waiting` serves activate and precharge). */
    uint64_t ready[DRAM_BANK_COMMANDS][DRAM_BANKS_MAX];
    uint64_t hit_order[2][DRAM_BANKS_MAX], waiting_order[DRAM_BANKS_MAX];
    uint64_t group_ready[DRAM_BANK_COMMANDS][DRAM_GROUPS_MAX];
    /* The group that holds the kind back longest, until when, and until when any other does. */
    uint32_t group_longest[DRAM_BANK_COMMANDS];
    uint64_t group_latest[DRAM_BANK_COMMANDS], group_others[DRAM_BANK_COMMANDS];
    uint64_t group_banks[DRAM_GROUPS_MAX];
    struct address_map map;
    struct dram_bank bank[];
};

static inline uint64_t dram_later(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint64_t dram_bit(uint32_t n) { return UINT64_C(1) << n; }

static inline uint64_t dram_order_of(const struct dram *dram, uint32_t b, uint32_t kind) {
    if (dram->by_bank)
        return (b - dram->turn) & (dram->banks - 1);
    return kind <= DRAM_WRITE ? dram->hit_order[kind][b] : dram->waiting_order[b];
}

/* The group holds the kind back until then. Mostly nothing was held back longer. */
static inline void dram_hold_group(struct dram *dram, uint32_t kind, uint32_t group, uint64_t until) {
    const uint64_t latest = dram->group_latest[kind];
    if (until >= latest) {
        dram->group_ready[kind][group] = until;
        dram->group_latest[kind] = until;
        if (dram->group_longest[kind] == group)
            return;
        dram->group_others[kind] = latest;
        dram->group_longest[kind] = group;
        return;
    }
    dram->group_ready[kind][group] = dram_later(dram->group_ready[kind][group], until);
    if (dram->group_longest[kind] != group)
        dram->group_others[kind] = dram_later(dram->group_others[kind], until);
}

/* A bank wants a command of that kind. Its `ready` must be known: it does not rise as long as the wish stands. */
static inline void dram_want(struct dram *dram, uint32_t b, uint32_t kind) {
    const uint64_t ready = dram->ready[kind][b];
    dram->want[kind] |= dram_bit(b);
    if (ready <= dram->ripe_cycle) {
        dram->ripe[kind] |= dram_bit(b);
        return;
    }
    dram->ripe[kind] &= ~dram_bit(b);
    dram->ripens = ready < dram->ripens ? ready : dram->ripens;
}

/* dram_plan.c: finds the next command, columns from one cycle on and the others from another. */
void dram_plan(struct dram *dram, uint64_t column_floor, uint64_t row_floor);

#endif
