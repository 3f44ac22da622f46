/* SPDX-License-Identifier: Apache-2.0 */
/* A DRAM channel between launches, written and read back: no request is in it, so that no bank wants anything, and the next
 * command can only be one to all banks. */
#include "base/bits.h"
#include "mem/dram_state.h"

enum { LATE_CYCLES = 1 << 24 }; /* a refresh is not so late */

static void keep_banks(struct dram *dram, uint64_t now, struct keep *keep) {
    for (uint32_t b = 0; b < dram->banks; b++) {
        struct dram_bank *bank = &dram->bank[b];
        keep_cycle(keep, &bank->precharge_ready, now);
        keep_cycle(keep, &bank->hold_until, now);
        keep_cycle(keep, &bank->hold_end, now);
        keep_u32(keep, &bank->row, UINT32_MAX);
        for (unsigned kind = 0; kind < DRAM_BANK_COMMANDS; kind++)
            keep_cycle(keep, &dram->ready[kind][b], now);
    }
}

static void keep_groups(struct dram *dram, uint64_t now, struct keep *keep) {
    for (unsigned kind = 0; kind < DRAM_BANK_COMMANDS; kind++) {
        for (unsigned group = 0; group < DRAM_GROUPS_MAX; group++)
            keep_cycle(keep, &dram->group_ready[kind][group], now);
        keep_u32(keep, &dram->group_longest[kind], DRAM_GROUPS_MAX - 1);
        keep_cycle(keep, &dram->group_latest[kind], now);
        keep_cycle(keep, &dram->group_others[kind], now);
        keep_cycle(keep, &dram->chip_ready[kind], now);
    }
}

/* Nothing, or a command to all banks. */
static void keep_plan(struct dram *dram, uint64_t now, struct keep *keep) {
    keep_cycle(keep, &dram->plan.cycle, now);
    keep_u32(keep, &dram->plan.bank, dram->banks - 1);
    keep_u32(keep, &dram->plan.kind, DRAM_REFRESH);
    keep_check(keep, dram->plan.cycle == NO_CYCLE ||
                         (dram->timing.refresh_interval && dram->plan.kind >= DRAM_PRECHARGE_ALL &&
                          dram->plan.cycle + LATE_CYCLES >= now));
    keep_cycle(keep, &dram->refresh_cycle, now);
    keep_check(keep, dram->timing.refresh_interval ? dram->refresh_cycle + LATE_CYCLES >= now
                                                   : dram->refresh_cycle == NO_CYCLE);
}

void dram_keep(struct dram *dram, uint64_t now, struct keep *keep) {
    if (keep->writes && dram->held)
        keep_refuse(keep, "a DRAM channel with requests in it");
    keep_plan(dram, now, keep);
    for (unsigned kind = 0; kind < DRAM_BANK_COMMANDS; kind++)
        keep_u64(keep, &dram->ripe[kind], UINT64_MAX);
    keep_cycle(keep, &dram->ripe_cycle, now);
    keep_cycle(keep, &dram->ripens, now);
    keep_u64(keep, &dram->open, bits_low64(dram->banks));
    keep_u32(keep, &dram->turn, dram->banks - 1);
    keep_u32(keep, &dram->activate_index, UINT32_MAX);
    keep_u64(keep, &dram->order, UINT64_MAX >> 4);
    keep_cycle(keep, &dram->last_push, now);
    for (unsigned i = 0; i < 4; i++)
        keep_cycle(keep, &dram->activates[i], now);
    keep_banks(dram, now, keep);
    keep_groups(dram, now, keep);
    keep_counts(keep, dram->done, sizeof dram->done);
    keep_counts(keep, dram->waited, sizeof dram->waited);
    keep_counts(keep, &dram->stats, sizeof dram->stats);
    keep_counts(keep, dram->counts, sizeof dram->counts);
    keep_counts(keep, &dram->histograms, sizeof dram->histograms);
}
