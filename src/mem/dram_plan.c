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

/* Banks that may issue this kind at `cycle`; else *next is no later than the first cycle at which one may. */
static inline uint64_t kind_legal(const struct dram *dram, uint32_t kind, uint64_t cycle, uint64_t floor,
                                  uint64_t *next) {
    const uint64_t banks = dram->want[kind] & dram->ripe[kind];
    if (!banks)
        return 0;
    const uint64_t from = dram_later(floor, dram->chip_ready[kind]);
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

/* Between commands legal in the same cycle the bank first in turn decides, or the age of the request served. */
static inline void choose(struct dram *dram, uint64_t cycle, const uint64_t *legal) {
    struct dram_pick best = {.cycle = cycle, .order = UINT64_MAX};
    if (dram->by_bank) {
        const uint64_t any = legal[0] | legal[1] | legal[2] | legal[3], tail = any & UINT64_MAX << dram->turn;
        best.bank = bits_first64(tail ? tail : any);
        while (!(legal[best.kind] >> best.bank & 1))
            best.kind++;
        best.order = dram_order_of(dram, best.bank, best.kind);
        dram->plan = best;
        return;
    }
    for (uint32_t kind = 0; kind < DRAM_BANK_COMMANDS; kind++) {
        const uint64_t *orders = kind <= DRAM_WRITE ? dram->hit_order[kind] : dram->waiting_order;
        for (uint64_t rest = legal[kind]; rest; rest &= rest - 1) {
            const uint32_t b = bits_first64(rest);
            if (orders[b] >= best.order)
                continue;
            best.order = orders[b];
            best.bank = b;
            best.kind = kind;
        }
    }
    dram->plan = best;
}

void dram_plan(struct dram *dram, uint64_t column_floor, uint64_t row_floor) {
    uint64_t cycle = column_floor < row_floor ? column_floor : row_floor;
    if (cycle < dram->ripe_cycle) { /* a command offered since came before the one that was planned */
        for (uint32_t kind = 0; kind < DRAM_BANK_COMMANDS; kind++)
            dram->ripe[kind] = 0;
        ripen(dram, cycle);
    }
    for (;;) {
        if (dram->ripens <= cycle)
            ripen(dram, cycle);
        uint64_t next = dram->ripens, legal[DRAM_BANK_COMMANDS];
        legal[DRAM_READ] = kind_legal(dram, DRAM_READ, cycle, column_floor, &next);
        legal[DRAM_WRITE] = kind_legal(dram, DRAM_WRITE, cycle, column_floor, &next);
        legal[DRAM_ACTIVATE] = kind_legal(dram, DRAM_ACTIVATE, cycle, row_floor, &next);
        legal[DRAM_PRECHARGE] = kind_legal(dram, DRAM_PRECHARGE, cycle, row_floor, &next);
        if (legal[0] | legal[1] | legal[2] | legal[3]) {
            choose(dram, cycle, legal);
            break;
        }
        if (next == NO_CYCLE) {
            dram->plan = (struct dram_pick){.cycle = NO_CYCLE, .order = UINT64_MAX};
            break;
        }
        cycle = next;
    }
    if (dram->plan.cycle >= dram->refresh_cycle && dram->refresh_cycle != NO_CYCLE)
        plan_refresh(dram, row_floor);
}
