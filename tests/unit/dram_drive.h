/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds streams of requests to a DRAM channel as the reference data does: at most one a cycle, in order, stalling
 * when there is no room. Reads the timing sets, streams and results of the reference. */
#ifndef HEDDLE_TESTS_DRAM_DRIVE_H
#define HEDDLE_TESTS_DRAM_DRIVE_H

#include <stdarg.h>
#include <stdlib.h>

#include "mem/dram.h"
#include "unit/dram_checker.h"

enum { STREAM_MAX = 1024, TRACE_MAX = 8192 };

struct stream {
    unsigned count;
    bool dependent; /* the lowest eligible index goes first, else strictly in order */
    struct stream_item {
        uint64_t cycle, address, gap;
        int64_t after; /* index of a request whose completion is awaited, -1: none */
        bool write;
    } items[STREAM_MAX];
};

struct outcome {
    uint64_t accepted[STREAM_MAX], done[STREAM_MAX], drain;
    struct dram_stats stats;
    struct checker checker;
    struct dram_command trace[TRACE_MAX];
    unsigned commands;
};

static const struct param_description drive_table[] = {
#define PARAM(field, ...) PARAM_ENTRY(struct dram_params, field, __VA_ARGS__)
#include "mem/dram_params.def"
#undef PARAM
    PARAM_END,
};

static inline void drive_defaults(struct dram_params *params, struct arena *arena) {
    struct param_set set;
    struct report report = {0};
    if (param_create(&set, drive_table, params, arena, &report) != STATUS_OK) {
        fputs(report_text(&report), stderr);
        abort();
    }
}

static inline struct checker_timing drive_checker_timing(const struct dram_params *p) {
    return (struct checker_timing){.CL = p->cl,
                                   .WL = p->wl,
                                   .RCDRD = p->rcd_read,
                                   .RCDWR = p->rcd_write,
                                   .RP = p->rp,
                                   .RAS = p->ras,
                                   .RC = p->rc,
                                   .RRDS = p->rrd,
                                   .RRDL = p->rrd_group,
                                   .CCDS = p->ccd,
                                   .CCDL = p->ccd_group,
                                   .WTRS = p->wtr,
                                   .WTRL = p->wtr_group,
                                   .RTW = p->rtw,
                                   .WR = p->wr,
                                   .RTP = p->rtp,
                                   .RTPL = p->rtp_group,
                                   .BLC = p->burst_clocks,
                                   .FAW = p->faw,
                                   .RFC = p->refresh_clocks,
                                   .banks = 1U << __builtin_popcountll(p->bank_mask),
                                   .groups = p->bank_groups,
                                   .buses = p->command_buses};
}

static void drive_observer(void *context, const struct dram_command *command) {
    struct outcome *outcome = context;
    if (outcome->commands < TRACE_MAX)
        outcome->trace[outcome->commands++] = *command;
    checker_command(&outcome->checker, (long)command->cycle, command->kind, command->bank, (long)command->row);
}

/* Which item is offered in this cycle: its index, or -1; *wake is lowered to the cycle at which one may become
 * eligible. */
static inline int64_t drive_choose(const struct stream *stream, const bool *sent, const struct outcome *outcome,
                                   unsigned first, uint64_t cycle, uint64_t *wake) {
    for (unsigned i = first; i < stream->count; i++) {
        if (sent[i])
            continue;
        const struct stream_item *item = &stream->items[i];
        uint64_t eligible = item->cycle;
        if (item->after >= 0) {
            if (outcome->done[item->after] == NO_CYCLE) {
                if (!stream->dependent)
                    return -1;
                continue;
            }
            uint64_t after = outcome->done[item->after] + item->gap;
            eligible = after > eligible ? after : eligible;
        }
        if (eligible <= cycle)
            return i;
        if (eligible < *wake)
            *wake = eligible;
        if (!stream->dependent)
            return -1;
    }
    return -1;
}

/* Runs a stream to its end. every_cycle: visit them all, else only those in which something can happen. */
static inline void drive_run(const struct dram_params *params, const struct stream *stream, bool every_cycle,
                             struct outcome *outcome) {
    struct arena arena = {0};
    struct dram *dram = dram_create(&arena, params);
    static bool sent[STREAM_MAX];
    memset(sent, 0, sizeof sent);
    memset(outcome, 0, sizeof *outcome);
    for (unsigned i = 0; i < stream->count; i++)
        outcome->done[i] = NO_CYCLE;
    struct checker_timing timing = drive_checker_timing(params);
    checker_start(&outcome->checker, &timing);
    dram_observe(dram, drive_observer, outcome);
    unsigned first = 0, completed = 0;
    for (uint64_t cycle = 0; completed < stream->count;) {
        struct request request;
        for (uint64_t ready = dram_ready(dram); dram_pop(dram, cycle, &request); ready = dram_ready(dram)) {
            outcome->done[request.tag] = outcome->drain = ready;
            completed++;
        }
        uint64_t wake = NO_CYCLE;
        int64_t chosen = -1;
        bool room = dram_room(dram, cycle);
        if (room)
            chosen = drive_choose(stream, sent, outcome, first, cycle, &wake);
        if (chosen >= 0) {
            const struct stream_item *item = &stream->items[chosen];
            request = (struct request){.address = item->address,
                                       .bytes = params->burst_bytes,
                                       .tag = (uint64_t)chosen,
                                       .kind = item->write ? REQUEST_WRITE : REQUEST_READ};
            dram_push(dram, cycle, &request);
            outcome->accepted[chosen] = cycle;
            sent[chosen] = true;
            while (first < stream->count && sent[first])
                first++;
            wake = cycle + 1;
        }
        if (every_cycle || dram_next(dram) == cycle)
            dram_advance(dram, cycle);
        if (!room && dram_room(dram, cycle + 1))
            wake = cycle + 1;
        uint64_t next = dram_next(dram) < dram_ready(dram) ? dram_next(dram) : dram_ready(dram);
        next = wake < next ? wake : next;
        cycle = every_cycle || next <= cycle ? cycle + 1 : next;
    }
    outcome->stats = dram_statistics(dram);
    arena_free(&arena);
}

#endif
