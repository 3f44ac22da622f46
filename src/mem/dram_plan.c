/* SPDX-License-Identifier: Apache-2.0 */
/* Which command a DRAM channel issues next, and when. */
#include "base/bits.h"
#include "mem/dram_state.h"

/* A refresh that is due comes before everything: close all rows as soon as that is legal, then refresh. Holds end. */
static __attribute__((noinline)) void plan_refresh(struct dram *dram, uint64_t floor) {
    uint64_t cycle = dram_later(floor, dram->refresh_cycle);
    if (dram->open) {
        for (uint64_t rest = dram->open; rest; rest &= rest - 1) {
            uint32_t b = bits_first64(rest);
            cycle = dram_later(cycle, dram->bank[b].precharge_ready);
            cycle = dram_later(cycle, dram->group_ready[DRAM_PRECHARGE][b & dram->group_mask]);
        }
    } else {
        for (uint32_t b = 0; b < dram->banks; b++)
            cycle = dram_later(cycle, dram->ready[DRAM_ACTIVATE][b]);
    }
    dram->plan = (struct dram_pick){.cycle = cycle, .kind = dram->open ? DRAM_PRECHARGE_ALL : DRAM_REFRESH};
}

static inline uint64_t ripen_kind(struct dram *dram, uint32_t kind, uint64_t cycle, uint64_t ripens) {
    for (uint64_t rest = dram->want[kind] & ~dram->ripe[kind]; rest; rest &= rest - 1) {
        const uint64_t ready = dram->ready[kind][bits_first64(rest)];
        if (ready <= cycle)
            dram->ripe[kind] |= rest & (~rest + 1);
        else if (ready < ripens)
            ripens = ready;
    }
    return ripens;
}

/* Banks whose own limits have passed by `cycle` become ripe. */
static void ripen(struct dram *dram, uint64_t cycle) {
    uint64_t ripens = ripen_kind(dram, DRAM_READ, cycle, NO_CYCLE);
    ripens = ripen_kind(dram, DRAM_WRITE, cycle, ripens);
    ripens = ripen_kind(dram, DRAM_ACTIVATE, cycle, ripens);
    dram->ripens = ripen_kind(dram, DRAM_PRECHARGE, cycle, ripens);
    dram->ripe_cycle = cycle;
}

/* Without the banks of groups that hold the kind back at `cycle`; *next is when the first of them stops. */
static uint64_t groups_free(const struct dram *dram, uint32_t kind, uint64_t banks, uint64_t cycle, uint64_t *next) {
    for (uint64_t rest = banks; rest; rest &= rest - 1) {
        const uint64_t until = dram->group_ready[kind][bits_first64(rest) & dram->group_mask];
        if (until <= cycle)
            continue;
        banks &= ~(rest & (~rest + 1));
        *next = until < *next ? until : *next;
    }
    return banks;
}

/* Of the banks that are ripe for this kind, those that may issue it at `cycle`, when the chip allows it `from` then on.
 * *next is no later than the first cycle at which another may. */
static inline uint64_t kind_legal(const struct dram *dram, uint32_t kind, uint64_t cycle, uint64_t from,
                                  uint64_t *next) {
    const uint64_t banks = dram->want[kind] & dram->ripe[kind];
    if (!banks)
        return 0;
    if (from > cycle) {
        *next = from < *next ? from : *next;
        return 0;
    }
    if (dram->group_latest[kind] <= cycle)
        return banks;
    if (dram->group_others[kind] <= cycle) {
        const uint64_t held = banks & dram->group_banks[dram->group_longest[kind]], until = dram->group_latest[kind];
        *next = held && until < *next ? until : *next;
        return banks & ~held;
    }
    return groups_free(dram, kind, banks, cycle, next);
}

static inline void pick_oldest(const uint64_t *orders, uint64_t banks, uint32_t kind, struct dram_pick *pick,
                               uint64_t *order) {
    for (; banks; banks &= banks - 1) {
        const uint32_t b = bits_first64(banks);
        if (orders[b] >= *order)
            continue;
        *order = orders[b];
        pick->bank = b;
        pick->kind = kind;
    }
}

/* Between commands legal in the same cycle the bank first in turn decides, or the age of the request served. */
static inline uint32_t first_in_turn(const struct dram *dram, uint64_t banks) {
    const uint64_t tail = banks & UINT64_MAX << dram->turn;
    return bits_first64(tail ? tail : banks);
}

static inline void choose_in_turn(struct dram *dram, uint64_t cycle, uint64_t reads, uint64_t writes,
                                  uint64_t activates, uint64_t precharges) {
    const uint32_t b = first_in_turn(dram, reads | writes | activates | precharges);
    const uint32_t kind = reads >> b & 1       ? DRAM_READ
                          : writes >> b & 1    ? DRAM_WRITE
                          : activates >> b & 1 ? DRAM_ACTIVATE
                                               : DRAM_PRECHARGE;
    dram->plan = (struct dram_pick){cycle, b, kind};
}

static __attribute__((noinline)) void choose_oldest(struct dram *dram, uint64_t cycle, uint64_t reads, uint64_t writes,
                                                    uint64_t activates, uint64_t precharges) {
    struct dram_pick pick = {.cycle = cycle};
    uint64_t order = UINT64_MAX;
    pick_oldest(dram->hit_order[DRAM_READ], reads, DRAM_READ, &pick, &order);
    pick_oldest(dram->hit_order[DRAM_WRITE], writes, DRAM_WRITE, &pick, &order);
    pick_oldest(dram->waiting_order, activates, DRAM_ACTIVATE, &pick, &order);
    pick_oldest(dram->waiting_order, precharges, DRAM_PRECHARGE, &pick, &order);
    dram->plan = pick;
}

/* Whether the next command is a read, which it mostly is while many wait: no bank is ripe for anything else. */
static inline bool plan_read(struct dram *dram, uint64_t floor) {
    const uint64_t cycle = dram_later(floor, dram->chip_ready[DRAM_READ]);
    const uint64_t others = dram->want[DRAM_WRITE] | (dram->want[DRAM_ACTIVATE] & dram->ripe[DRAM_ACTIVATE]) |
                            (dram->want[DRAM_PRECHARGE] & dram->ripe[DRAM_PRECHARGE]);
    if (others || cycle < dram->ripe_cycle || cycle >= dram->ripens || cycle >= dram->refresh_cycle)
        return false;
    uint64_t next = NO_CYCLE;
    const uint64_t reads = kind_legal(dram, DRAM_READ, cycle, cycle, &next);
    if (!reads)
        return false;
    if (dram->by_bank)
        dram->plan = (struct dram_pick){cycle, first_in_turn(dram, reads), DRAM_READ};
    else
        choose_oldest(dram, cycle, reads, 0, 0, 0);
    return true;
}

static inline uint64_t wanted_from(const struct dram *dram, uint32_t kind, uint64_t from, uint64_t cycle) {
    return dram->want[kind] && from < cycle ? from : cycle;
}

static __attribute__((noinline)) void plan_any(struct dram *dram, uint64_t column_floor, uint64_t row_floor) {
    /* when the chip allows each kind; nothing happens before it allows one that is wanted */
    const uint64_t reads_from = dram_later(column_floor, dram->chip_ready[DRAM_READ]);
    const uint64_t writes_from = dram_later(column_floor, dram->chip_ready[DRAM_WRITE]);
    const uint64_t activates_from = dram_later(row_floor, dram->chip_ready[DRAM_ACTIVATE]);
    const uint64_t precharges_from = dram_later(row_floor, dram->chip_ready[DRAM_PRECHARGE]);
    uint64_t cycle = wanted_from(dram, DRAM_READ, reads_from, NO_CYCLE);
    cycle = wanted_from(dram, DRAM_WRITE, writes_from, cycle);
    cycle = wanted_from(dram, DRAM_ACTIVATE, activates_from, cycle);
    cycle = wanted_from(dram, DRAM_PRECHARGE, precharges_from, cycle);
    if (cycle < dram->ripe_cycle) { /* a command offered since came before the one that was planned */
        for (uint32_t kind = 0; kind < DRAM_BANK_COMMANDS; kind++)
            dram->ripe[kind] = 0;
        ripen(dram, cycle);
    }
    while (cycle < dram->refresh_cycle) {
        if (dram->ripens <= cycle)
            ripen(dram, cycle);
        uint64_t next = dram->ripens;
        const uint64_t reads = kind_legal(dram, DRAM_READ, cycle, reads_from, &next);
        const uint64_t writes = kind_legal(dram, DRAM_WRITE, cycle, writes_from, &next);
        const uint64_t activates = kind_legal(dram, DRAM_ACTIVATE, cycle, activates_from, &next);
        const uint64_t precharges = kind_legal(dram, DRAM_PRECHARGE, cycle, precharges_from, &next);
        if (reads | writes | activates | precharges) {
            if (dram->by_bank)
                choose_in_turn(dram, cycle, reads, writes, activates, precharges);
            else
                choose_oldest(dram, cycle, reads, writes, activates, precharges);
            return;
        }
        cycle = next;
    }
    if (dram->refresh_cycle == NO_CYCLE)
        dram->plan.cycle = NO_CYCLE;
    else
        plan_refresh(dram, row_floor);
}

void dram_plan(struct dram *dram, uint64_t column_floor, uint64_t row_floor) {
    if (!plan_read(dram, column_floor))
        plan_any(dram, column_floor, row_floor);
}
