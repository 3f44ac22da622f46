/* SPDX-License-Identifier: Apache-2.0 */
/* A DRAM channel made from its parameters: timing in cycles, banks, queues. */
#include "mem/dram_state.h"

#include "base/bits.h"

/* Completed requests that may wait to be popped before room is refused. */
enum { RETURNS_SPARE = 1024 };

const struct stat_description dram_stat_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct dram_stats, field, unit, help)
#define RATIO(name, numerator, denominator, scale, unit, help)                                                         \
    RATIO_ENTRY(struct dram_stats, name, numerator, denominator, scale, unit, help)
#include "mem/dram_stats.def"
#undef STAT
#undef RATIO
    STAT_END,
};

const struct histogram_description dram_histogram_table[] = {
#define HISTOGRAM(field, kind, buckets, unit, help)                                                                    \
    HISTOGRAM_ENTRY(struct dram_histograms, field, kind, buckets, unit, help)
#include "mem/dram_histograms.def"
#undef HISTOGRAM
    HISTOGRAM_END};

static inline uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

struct address_masks dram_masks(const struct dram_params *params) {
    return (struct address_masks){.chip = params->chip_mask,
                                  .row = params->row_mask,
                                  .bank = params->bank_mask,
                                  .column = params->column_mask,
                                  .chips = params->chips,
                                  .chip_bytes = params->chip_bytes,
                                  .chip_hash = params->chip_hash,
                                  .bank_hash = params->bank_hash};
}

enum status dram_check(const struct dram_params *params, struct report *report) {
    struct address_masks masks = dram_masks(params);
    enum status status = address_masks_check(&masks, report);
    unsigned bank_bits = bits_count64(params->bank_mask);
    if (bank_bits > 6)
        return report_add(report, STATUS_INVALID,
                          "dram.bank_mask 0x%llx has %u bits; at most 6 (64 banks) are possible",
                          (unsigned long long)params->bank_mask, bank_bits);
    if (!bits_is_power_of_two(params->bank_groups) || params->bank_groups > UINT32_C(1) << bank_bits)
        status = report_add(report, STATUS_INVALID,
                            "dram.bank_groups %u: give a power of two, at most the number of banks (%u)",
                            params->bank_groups, 1U << bank_bits);
    if (!bits_is_power_of_two(params->burst_bytes))
        status = report_add(report, STATUS_INVALID, "dram.burst_bytes %u: give a power of two", params->burst_bytes);
    if (params->refresh_interval && params->refresh_clocks + params->rp + params->ras >= params->refresh_interval)
        status =
            report_add(report, STATUS_INVALID, "dram.refresh_interval %u leaves no time between refreshes of %u clocks",
                       params->refresh_interval, params->refresh_clocks);
    return status;
}

/* The keys as distances between commands, never so short that data would collide on the bus. */
static void timing_create(struct dram_timing *timing, const struct dram_params *params) {
    uint32_t read_data = params->cl + params->burst_clocks, write_data = params->wl + params->burst_clocks;
    uint32_t ccd = larger(params->ccd, params->burst_clocks), ccd_group = larger(ccd, params->ccd_group);
    uint32_t free_bus = read_data > params->wl ? read_data - params->wl : 0;
    uint32_t read_write = larger(larger(params->rtw, free_bus), ccd);
    uint32_t write_read = larger(write_data + params->wtr, ccd);
    uint32_t write_read_group = larger(write_read, write_data + params->wtr_group);
    *timing = (struct dram_timing){
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
        .hold = params->scheduler == DRAM_FR_FCFS ? params->hint_hold : 0,
    };
}

uint32_t dram_banks(const struct dram_params *params) {
    return params->model == DRAM_BANKS ? UINT32_C(1) << bits_count64(params->bank_mask) : 0;
}

struct dram *dram_create(struct arena *arena, const struct dram_params *params) {
    const uint32_t banks = dram_banks(params);
    struct dram *dram = arena_alloc_aligned(arena, sizeof *dram + banks * sizeof dram->bank[0], alignof(struct dram));
    struct address_masks masks = dram_masks(params);
    address_map_create(&dram->map, &masks);
    timing_create(&dram->timing, params);
    dram->banks = banks;
    dram->group_mask = params->bank_groups - 1;
    for (uint32_t b = 0; b < banks; b++)
        dram->group_banks[b & dram->group_mask] |= dram_bit(b);
    dram->ripens = NO_CYCLE;
    const struct dram_timing *timing = &dram->timing;
    dram->grouped[DRAM_READ] = timing->ccd_group > timing->ccd || timing->turn_group[1] > timing->turn[1];
    dram->grouped[DRAM_WRITE] = timing->ccd_group > timing->ccd || timing->turn_group[0] > timing->turn[0];
    dram->grouped[DRAM_ACTIVATE] = timing->rrd_group > timing->rrd;
    dram->grouped[DRAM_PRECHARGE] = timing->read_precharge_group > 0;
    dram->fifo = params->scheduler == DRAM_FIFO;
    dram->hits_first = params->scheduler == DRAM_FCFS ? 0 : UINT64_MAX;
    dram->by_bank = params->command_order == DRAM_BANK_RR;
    dram->in_service = dram->fifo || params->scheduler == DRAM_FCFS || dram->by_bank;
    dram->two_buses = params->command_buses == 2;
    dram->window = params->window;
    dram->queue_limit = params->queue_limit ? params->queue_limit : UINT32_MAX;
    uint32_t queue = params->queue_limit ? params->queue_limit : DRAM_UNLIMITED_REQUESTS;
    dram->capacity = params->window + queue + RETURNS_SPARE;
    dram->entries = ARENA_ARRAY(arena, struct dram_entry, dram->capacity);
    dram->burst_mask = params->burst_bytes - 1;
    dram->burst_shift = bits_first(params->burst_bytes);
    dram->refresh_cycle = params->refresh_interval ? params->refresh_interval : NO_CYCLE;
    /* Nothing to do but, perhaps, the first refresh. */
    dram->plan = (struct dram_pick){.cycle = dram->refresh_cycle, .kind = DRAM_REFRESH};
    return dram;
}
