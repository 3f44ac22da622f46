/* SPDX-License-Identifier: Apache-2.0 */
/* mem/dram: its rules one by one, legality under random traffic, and what it costs the host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "unit/dram_drive.h"

static struct stream stream;
static struct outcome outcome;

/* Eight columns of 32 B, four banks, rows: 0x20 the next column, 0x100 the next bank, 0x400 the next row. */
static struct dram_params small_params(void) {
    struct arena arena = {0};
    struct dram_params params;
    drive_defaults(&params, &arena);
    arena_free(&arena);
    params.chips = 1;
    params.bank_groups = 1;
    params.ccd_group = 0;
    params.column_mask = 0xe0;
    params.bank_mask = 0x300;
    params.row_mask = 0xfffffc00;
    return params;
}

static uint64_t place(unsigned bank, unsigned row, unsigned column) {
    return row * 0x400u + bank * 0x100u + column * 0x20u;
}

static void stream_of(unsigned count, const uint64_t *addresses) {
    memset(&stream, 0, sizeof stream);
    stream.count = count;
    for (unsigned i = 0; i < count; i++)
        stream.items[i] = (struct stream_item){.address = addresses[i], .after = -1};
}

/* The commands as text: "A0 R0 ...", kind and bank. */
static const char *commands_text(void) {
    static char text[TRACE_MAX * 4];
    char *end = text;
    *end = 0;
    for (unsigned i = 0; i < outcome.commands; i++)
        end += sprintf(end, "%s%c%u", i ? " " : "", "RWAPpF"[outcome.trace[i].kind], outcome.trace[i].bank);
    return text;
}

static void dram_refuses_what_cannot_be(void **state) {
    (void)state;
    struct report report = {0};
    struct dram_params params = small_params();
    assert_int_equal(dram_check(&params, &report), STATUS_OK);
    params.bank_groups = 8;
    assert_int_equal(dram_check(&params, &report), STATUS_INVALID);
    assert_non_null(strstr(report_text(&report), "dram.bank_groups 8"));
    params = small_params();
    params.burst_bytes = 48;
    assert_int_equal(dram_check(&params, &report), STATUS_INVALID);
    params = small_params();
    params.bank_mask = 0x7f000000000;
    assert_int_equal(dram_check(&params, &report), STATUS_INVALID);
    params = small_params();
    params.bank_mask = 0x180;
    assert_int_equal(dram_check(&params, &report), STATUS_INVALID);
    assert_non_null(strstr(report_text(&report), "shares bits 0x80"));
    params = small_params();
    params.refresh_interval = 100;
    params.refresh_clocks = 90;
    assert_int_equal(dram_check(&params, &report), STATUS_INVALID);
    report_free(&report);
}

static void dram_bank_rr_takes_banks_in_turn(void **state) {
    (void)state;
    struct dram_params params = small_params();
    stream_of(6, (uint64_t[]){place(0, 0, 0), place(0, 0, 1), place(0, 0, 2), place(1, 0, 0), place(1, 0, 1),
                              place(1, 0, 2)});
    params.ccd = 6; /* both rows are open before the second column command */
    drive_run(&params, &stream, false, &outcome);
    assert_string_equal(commands_text(), "A0 A1 R0 R0 R0 R1 R1 R1");
    params.command_order = DRAM_BANK_RR;
    drive_run(&params, &stream, false, &outcome);
    assert_string_equal(commands_text(), "A0 A1 R0 R1 R0 R1 R0 R1");
}

static void dram_fifo_blocks_behind_a_busy_bank(void **state) {
    (void)state;
    struct dram_params params = small_params();
    stream_of(3, (uint64_t[]){place(0, 0, 0), place(0, 1, 0), place(1, 0, 0)});
    for (unsigned order = 0; order < 2; order++) {
        params.command_order = order;
        params.scheduler = DRAM_FR_FCFS;
        drive_run(&params, &stream, false, &outcome);
        assert_string_equal(commands_text(), "A0 A1 R0 R1 P0 A0 R0");
        params.scheduler = DRAM_FIFO;
        drive_run(&params, &stream, false, &outcome);
        assert_string_equal(commands_text(), "A0 R0 A1 R1 P0 A0 R0");
    }
}

static void dram_fcfs_keeps_the_order_within_a_bank(void **state) {
    (void)state;
    struct dram_params params = small_params();
    stream_of(4, (uint64_t[]){place(0, 0, 0), place(0, 1, 0), place(1, 0, 0), place(0, 0, 1)});
    params.scheduler = DRAM_FCFS;
    for (unsigned order = 0; order < 2; order++) {
        params.command_order = order;
        drive_run(&params, &stream, false, &outcome);
        assert_string_equal(commands_text(), "A0 A1 R0 R1 P0 A0 R0 P0 A0 R0");
    }
}

static void dram_fr_fcfs_serves_hits_first(void **state) {
    (void)state;
    struct dram_params params = small_params();
    stream_of(4, (uint64_t[]){place(0, 0, 0), place(0, 1, 0), place(0, 0, 1), place(0, 0, 2)});
    for (unsigned order = 0; order < 2; order++) {
        params.command_order = order;
        drive_run(&params, &stream, false, &outcome);
        assert_true(outcome.done[3] < outcome.done[1]);
        assert_int_equal(outcome.stats.activates, 2);
        assert_int_equal(outcome.stats.row_hits, 2);
    }
    params.scheduler = DRAM_FIFO;
    drive_run(&params, &stream, false, &outcome);
    assert_int_equal(outcome.stats.activates, 3);
}

static void dram_queue_limit_refuses(void **state) {
    (void)state;
    struct arena arena = {0};
    struct dram_params params = small_params();
    params.window = 2;
    params.queue_limit = 3;
    struct dram *dram = dram_create(&arena, &params);
    struct request request = {.bytes = 32};
    unsigned accepted = 0;
    for (uint64_t cycle = 0; cycle < 10; cycle++) { /* before the first column command */
        dram_advance(dram, cycle);
        if (!dram_room(dram, cycle))
            continue;
        dram_push(dram, cycle, &request);
        accepted++;
        assert_false(dram_room(dram, cycle)); /* one per cycle */
    }
    assert_int_equal(accepted, 5);
    assert_int_equal(dram_held(dram), 5);
    uint64_t done = 0;
    unsigned popped = 0;
    for (uint64_t cycle = 10; cycle < 100; cycle++) {
        dram_advance(dram, cycle);
        while (dram_pop(dram, cycle, &request)) {
            popped++;
            done = cycle;
        }
    }
    assert_int_equal(popped, 5);
    /* Activate at 1, then five column commands, one every two cycles. */
    assert_int_equal(done, 1 + params.rcd_read + 4 * params.ccd + params.cl + params.burst_clocks);
    assert_int_equal(dram_held(dram), 0);
    assert_true(dram_next(dram) == NO_CYCLE && dram_ready(dram) == NO_CYCLE);
    assert_int_equal(dram_statistics(dram).queue_peak, 5);
    arena_free(&arena);
}

/* fung-8800: one column command moves 16 B, a 64 B line takes four [000 §5.1.3]. */
static void dram_line_takes_several_bursts(void **state) {
    (void)state;
    struct arena arena = {0};
    struct dram_params params = small_params();
    params.burst_bytes = 16;
    params.cl = 9, params.wl = 4, params.rcd_read = 12, params.ccd = 2, params.ras = 21, params.rp = 13, params.rc = 34;
    struct dram *dram = dram_create(&arena, &params);
    dram_push(dram, 5, &(struct request){.address = 0x40, .bytes = 64, .tag = 7});
    struct request request;
    dram_advance(dram, 1000);
    assert_int_equal(dram_ready(dram), 5 + 1 + 12 + 3 * 2 + 9 + 2);
    assert_true(dram_pop(dram, 1000, &request));
    assert_int_equal(request.tag, 7);
    assert_int_equal(dram_statistics(dram).column_commands, 4);
    assert_int_equal(dram_statistics(dram).bus_busy_cycles, 8);
    /* Not aligned: one more burst. */
    dram_push(dram, 2000, &(struct request){.address = 0x48, .bytes = 64});
    dram_advance(dram, 3000);
    assert_int_equal(dram_statistics(dram).column_commands, 9);
    arena_free(&arena);
}

static void dram_refresh_closes_rows_and_waits(void **state) {
    (void)state;
    struct dram_params params = small_params();
    params.refresh_interval = 500;
    params.refresh_clocks = 60;
    stream_of(2, (uint64_t[]){place(0, 0, 0), place(0, 0, 1)});
    stream.items[1].cycle = 510; /* while the refresh runs */
    for (unsigned order = 0; order < 2; order++) {
        params.command_order = order;
        drive_run(&params, &stream, false, &outcome);
        assert_string_equal(commands_text(), "A0 R0 p0 F0 A0 R0");
        assert_int_equal(outcome.trace[2].cycle, 500);
        assert_int_equal(outcome.trace[3].cycle, 500 + params.rp);
        assert_int_equal(outcome.trace[4].cycle, 500 + params.rp + 60);
        assert_int_equal(outcome.checker.violations, 0);
    }
    /* An idle channel refreshes too. */
    struct arena arena = {0};
    struct dram *dram = dram_create(&arena, &params);
    dram_advance(dram, 5000);
    assert_int_equal(dram_statistics(dram).refreshes, 10);
    arena_free(&arena);
}

/* A hinted load keeps its row open for the hit that follows [002 §7.2]. */
static void dram_hint_holds_the_row(void **state) {
    (void)state;
    struct arena arena = {0};
    for (unsigned variant = 0; variant < 8; variant++) {
        bool hint = variant & 1, hit_comes = variant & 2;
        struct dram_params params = small_params();
        params.command_order = variant >> 2;
        params.hint_hold = 200;
        struct dram *dram = dram_create(&arena, &params);
        static struct outcome seen;
        memset(&seen, 0, sizeof seen);
        struct checker_timing timing = drive_checker_timing(&params);
        checker_start(&seen.checker, &timing);
        dram_observe(dram, drive_observer, &seen);
        dram_push(dram, 0, &(struct request){.address = place(0, 0, 0), .bytes = 32, .tag = 1, .row_hint = hint});
        dram_push(dram, 1, &(struct request){.address = place(0, 1, 0), .bytes = 32, .tag = 2});
        if (hit_comes)
            dram_push(dram, 150, &(struct request){.address = place(0, 0, 1), .bytes = 32, .tag = 3});
        dram_advance(dram, 2000);
        uint64_t first_done = 1 + params.rcd_read + params.cl + params.burst_clocks, tags[3] = {0}, done[3] = {0};
        for (unsigned i = 0; i < 3; i++) {
            struct request request;
            done[i] = dram_ready(dram);
            if (dram_pop(dram, 2000, &request))
                tags[i] = request.tag;
        }
        assert_int_equal(tags[0], 1);
        assert_int_equal(done[0], first_done);
        assert_int_equal(tags[1], hint && hit_comes ? 3 : 2);
        if (hint && !hit_comes) /* the hold ends by itself */
            assert_int_equal(done[1], first_done + 200 + params.rp + params.rcd_read + params.cl + params.burst_clocks);
        if (hint && hit_comes) { /* the first hit ends it */
            assert_int_equal(done[1], 150 + 1 + params.cl + params.burst_clocks);
            assert_true(done[2] < first_done + 200);
            assert_int_equal(dram_statistics(dram).activates, 2);
        }
        assert_int_equal(seen.checker.violations, 0);
    }
    arena_free(&arena);
}

/* Loads of one row that announce more of it without end: the row that waits gets its turn when the first hold is over. */
static void dram_hints_that_lie_starve_nobody(void **state) {
    (void)state;
    struct arena arena = {0};
    for (unsigned order = 0; order < 2; order++) {
        struct dram_params params = small_params();
        params.command_order = order;
        params.hint_hold = 200;
        struct dram *dram = dram_create(&arena, &params);
        uint64_t done = 0;
        for (unsigned i = 0; i < 100; i++) {
            struct request request = {.address = place(0, 0, i % 8), .bytes = 32, .tag = 2, .row_hint = true};
            dram_push(dram, i * 150, &request);
            if (i == 0)
                dram_push(dram, 1, &(struct request){.address = place(0, 1, 0), .bytes = 32, .tag = 1});
            dram_advance(dram, i * 150 + 149);
            for (uint64_t at = dram_ready(dram); dram_pop(dram, i * 150 + 149, &request); at = dram_ready(dram))
                done = request.tag == 1 ? at : done;
        }
        const uint64_t data = params.cl + params.burst_clocks, first_done = 1 + params.rcd_read + data;
        assert_int_equal(done, first_done + 200 + params.rp + params.rcd_read + data);
    }
    arena_free(&arena);
}

static void dram_two_buses_issue_row_and_column_together(void **state) {
    (void)state;
    struct dram_params params = small_params();
    stream.count = 512;
    struct rng rng;
    rng_seed(&rng, 3);
    for (unsigned i = 0; i < stream.count; i++)
        stream.items[i] = (struct stream_item){.address = rng_below(&rng, 0x10000) & ~UINT64_C(31), .after = -1};
    params.ras = 4, params.rp = 3, params.rc = 7, params.rrd = 1, params.rcd_read = 3, params.ccd = 1,
    params.burst_clocks = 1;
    drive_run(&params, &stream, false, &outcome);
    uint64_t one_bus = outcome.drain;
    assert_int_equal(outcome.checker.violations, 0);
    params.command_buses = 2;
    drive_run(&params, &stream, false, &outcome);
    assert_int_equal(outcome.checker.violations, 0);
    assert_true(outcome.drain < one_bus);
}

/* ---- random traffic ---- */

/* What the observer learns of one run: the checker's verdict, column commands by request, and a hash of all. */
struct witness {
    struct checker checker;
    const struct dram_params *params;
    uint64_t *row_bank; /* by tag modulo its size: what the request must be served by */
    uint16_t *bursts;
    uint64_t hash, wrong;
};
enum { WITNESS_TAGS = 1 << 17 };

static void witness_observer(void *context, const struct dram_command *command) {
    struct witness *witness = context;
    checker_command(&witness->checker, (long)command->cycle, command->kind, command->bank, (long)command->row);
    if (command->kind <= DRAM_WRITE) {
        witness->bursts[command->tag % WITNESS_TAGS]--;
        witness->wrong +=
            witness->row_bank[command->tag % WITNESS_TAGS] != ((uint64_t)command->row << 8 | command->bank);
    }
    uint64_t word = command->cycle * 1024 + command->bank * 8u + command->kind;
    witness->hash = (witness->hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    witness->hash ^= witness->hash >> 29;
}

static uint64_t gather(uint64_t value, uint64_t mask) {
    uint64_t result = 0;
    for (unsigned from = 0, to = 0; from < 64; from++)
        if (mask >> from & 1)
            result |= (value >> from & 1) << to++;
    return result;
}

static void random_params(struct rng *rng, struct dram_params *params) {
    struct arena arena = {0};
    drive_defaults(params, &arena);
    arena_free(&arena);
    params->chips = 1;
    params->scheduler = (uint32_t)rng_below(rng, 3);
    params->command_order = (uint32_t)rng_below(rng, 2);
    params->command_buses = 1 + (uint32_t)(rng_below(rng, 4) == 0);
    params->window = 1 + (uint32_t)rng_below(rng, 64);
    params->queue_limit = (uint32_t)rng_below(rng, 20);
    params->bank_groups = UINT32_C(1) << rng_below(rng, 4);
    params->cl = 2 + (uint32_t)rng_below(rng, 20);
    params->wl = 1 + (uint32_t)rng_below(rng, params->cl);
    params->burst_clocks = 1 + (uint32_t)rng_below(rng, 4);
    params->ccd = (uint32_t)rng_below(rng, 4);
    params->ccd_group = (uint32_t)rng_below(rng, 6);
    params->rrd = (uint32_t)rng_below(rng, 9);
    params->rrd_group = (uint32_t)rng_below(rng, 12);
    params->faw = (uint32_t)rng_below(rng, 40);
    params->wtr = (uint32_t)rng_below(rng, 9);
    params->wtr_group = (uint32_t)rng_below(rng, 12);
    params->rtw = (uint32_t)rng_below(rng, 16);
    params->rcd_read = 1 + (uint32_t)rng_below(rng, 15);
    params->rcd_write = 1 + (uint32_t)rng_below(rng, 15);
    params->ras = 1 + (uint32_t)rng_below(rng, 35);
    params->rp = 1 + (uint32_t)rng_below(rng, 15);
    params->rc = (uint32_t)rng_below(rng, 50);
    params->wr = (uint32_t)rng_below(rng, 16);
    params->rtp = 1 + (uint32_t)rng_below(rng, 7);
    params->rtp_group = (uint32_t)rng_below(rng, 7);
    params->hint_hold = rng_below(rng, 2) ? 0 : 100;
    params->refresh_interval = rng_below(rng, 3) ? 0 : 900;
    params->refresh_clocks = 70;
    assert_int_equal(dram_check(params, NULL), STATUS_OK);
}

/* One run of `count` requests, visiting every cycle or only those named. Returns the last cycle. */
static uint64_t random_run(const struct dram_params *params, uint64_t seed, uint64_t count, bool every_cycle,
                           struct witness *witness) {
    struct arena arena = {0};
    struct dram *dram = dram_create(&arena, params);
    struct rng rng;
    rng_seed(&rng, seed);
    struct checker_timing timing = drive_checker_timing(params);
    checker_start(&witness->checker, &timing);
    witness->hash = witness->wrong = 0;
    dram_observe(dram, witness_observer, witness);
    uint64_t rows = 1 + rng_below(&rng, 8), write_share = rng_below(&rng, 100), load = 1 + rng_below(&rng, 8);
    uint64_t pushed = 0, popped = 0, cycle = 0, due = 0;
    struct request next = {0};
    for (;;) {
        struct request request;
        while (dram_pop(dram, cycle, &request)) {
            assert_int_equal(witness->bursts[request.tag % WITNESS_TAGS], 0);
            popped++;
        }
        if (popped == count)
            break;
        if (pushed < count && due <= cycle && dram_room(dram, cycle)) {
            next.address = (rng_below(&rng, rows) << 16 | rng_below(&rng, 0x10000)) & ~UINT64_C(31);
            next.bytes = 32 * (1 + (uint32_t)rng_below(&rng, 4));
            next.kind = rng_below(&rng, 100) < write_share ? REQUEST_WRITE : REQUEST_READ;
            next.row_hint = rng_below(&rng, 8) == 0;
            next.tag = pushed++;
            witness->row_bank[next.tag % WITNESS_TAGS] =
                gather(next.address, params->row_mask) << 8 | gather(next.address, params->bank_mask);
            witness->bursts[next.tag % WITNESS_TAGS] = (uint16_t)(next.bytes / 32);
            dram_push(dram, cycle, &next);
            due = cycle + (rng_below(&rng, load) == 0 ? 1 : rng_below(&rng, 4 * load));
        }
        if (every_cycle || dram_next(dram) <= cycle)
            dram_advance(dram, cycle);
        uint64_t wake = dram_next(dram) < dram_ready(dram) ? dram_next(dram) : dram_ready(dram);
        if (pushed < count && dram_room(dram, cycle + 1) && due < wake)
            wake = due;
        cycle = every_cycle || wake <= cycle ? cycle + 1 : wake;
    }
    assert_int_equal(dram_held(dram), 0);
    assert_int_equal(dram_statistics(dram).requests, count);
    assert_int_equal(dram_statistics(dram).row_hits + dram_statistics(dram).row_misses, count);
    arena_free(&arena);
    return cycle;
}

/* Random machines under random traffic: 0 violations, every request served by its own row with all its bursts, and
 * sleeping changes nothing. */
static void dram_random_traffic_is_legal(void **state) {
    (void)state;
    const char *full = getenv("HEDDLE_FULL");
    uint64_t per_run = 1000, runs = full && *full ? 1000 : 100;
    static struct witness slept, woken;
    slept.row_bank = woken.row_bank = test_malloc(WITNESS_TAGS * sizeof *slept.row_bank);
    slept.bursts = woken.bursts = test_calloc(WITNESS_TAGS, sizeof *slept.bursts);
    uint64_t commands = 0;
    for (uint64_t seed = 1; seed <= runs; seed++) {
        struct rng rng;
        rng_seed(&rng, seed);
        struct dram_params params;
        random_params(&rng, &params);
        uint64_t end = random_run(&params, seed, per_run, false, &slept);
        commands += slept.checker.count;
        if (slept.checker.violations || slept.wrong)
            fail_msg("seed %" PRIu64 ": %" PRIu64 " commands to a wrong row, %lu violations, the first: %s", seed,
                     slept.wrong, slept.checker.violations, slept.checker.first);
        if (seed % 4 != 0)
            continue;
        assert_int_equal(random_run(&params, seed, per_run, true, &woken), end);
        assert_int_equal(slept.hash, woken.hash);
    }
    test_free(slept.row_bank);
    test_free(slept.bursts);
    print_message("%" PRIu64 " random requests, %" PRIu64 " commands: 0 violations\n", runs * per_run, commands);
}

/* The checker is worth its verdict: it sees a machine one cycle too fast in any of its limits. */
static void checker_sees_every_limit(void **state) {
    (void)state;
    static const size_t limits[] = {offsetof(struct dram_params, rcd_read),  offsetof(struct dram_params, rcd_write),
                                    offsetof(struct dram_params, ras),       offsetof(struct dram_params, rp),
                                    offsetof(struct dram_params, rc),        offsetof(struct dram_params, rrd),
                                    offsetof(struct dram_params, rrd_group), offsetof(struct dram_params, ccd),
                                    offsetof(struct dram_params, ccd_group), offsetof(struct dram_params, wtr),
                                    offsetof(struct dram_params, wtr_group), offsetof(struct dram_params, rtw),
                                    offsetof(struct dram_params, wr),        offsetof(struct dram_params, rtp),
                                    offsetof(struct dram_params, rtp_group), offsetof(struct dram_params, faw)};
    struct dram_params params = small_params();
    params.row_mask = 0xfffff000, params.bank_mask = 0xf00, params.bank_groups = 4;
    params.ccd = 3, params.ccd_group = 5, params.rrd = 4, params.rrd_group = 6, params.faw = 22, params.wtr_group = 8;
    params.rtp = 10, params.rtp_group = 6, params.ras = 36, params.rc = 51, params.rtw = 14;
    struct rng rng;
    rng_seed(&rng, 11);
    stream.count = STREAM_MAX;
    stream.dependent = false;
    for (unsigned i = 0; i < stream.count; i++) /* alternating phases: many rows, few rows, and pauses */
        stream.items[i] = (struct stream_item){.cycle = i / 64 * 700 + i % 64 * rng_below(&rng, 8),
                                               .address = rng_below(&rng, i & 64 ? 0x2000 : 0x40000) & ~UINT64_C(31),
                                               .write = rng_below(&rng, 3) == 0,
                                               .after = -1};
    drive_run(&params, &stream, false, &outcome);
    assert_int_equal(outcome.checker.violations, 0);
    for (unsigned i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct dram_params faster = params;
        struct checker checker;
        struct checker_timing timing = drive_checker_timing(&params);
        *(uint32_t *)((char *)&faster + limits[i]) -= 1;
        drive_run(&faster, &stream, false, &outcome);
        checker_start(&checker, &timing);
        for (unsigned c = 0; c < outcome.commands; c++)
            checker_command(&checker, (long)outcome.trace[c].cycle, outcome.trace[c].kind, outcome.trace[c].bank,
                            (long)outcome.trace[c].row);
        if (checker.violations == 0)
            fail_msg("limit %u one cycle too short was not seen", i);
    }
}

/* ---- cost ---- */

enum { BENCH_REQUESTS = 20000 };
static char program[4096]; /* this one */

/* Saturated traffic on the default machine; pattern 0: random rows, 1: consecutive lines of 32 B, 2: a mix. */
static uint64_t bench_run(unsigned pattern, uint64_t *commands) {
    struct arena arena = {0};
    struct dram_params params;
    drive_defaults(&params, &arena);
    params.chips = 1;
    params.queue_limit = 64;
    struct dram *dram = dram_create(&arena, &params);
    struct rng rng;
    rng_seed(&rng, 1);
    uint64_t pushed = 0, popped = 0, cycle = 0;
    for (;;) {
        struct request request;
        while (dram_ready(dram) <= cycle && dram_pop(dram, cycle, &request))
            popped++;
        if (popped == BENCH_REQUESTS)
            break;
        if (pushed < BENCH_REQUESTS && dram_room(dram, cycle)) {
            uint64_t random = rng_u64(&rng);
            bool sequential = pattern == 1 || (pattern == 2 && random >> 62);
            request = (struct request){.address = sequential ? pushed * 32 : random & 0xfffffe0,
                                       .bytes = 32,
                                       .tag = pushed,
                                       .kind = pattern == 2 && random % 4 == 0};
            dram_push(dram, cycle, &request);
            pushed++;
        }
        if (dram_next(dram) <= cycle)
            dram_advance(dram, cycle);
        uint64_t wake = dram_next(dram) < dram_ready(dram) ? dram_next(dram) : dram_ready(dram);
        cycle = wake <= cycle || (pushed < BENCH_REQUESTS && dram_room(dram, cycle + 1)) ? cycle + 1 : wake;
    }
    struct dram_stats stats = dram_statistics(dram);
    *commands = stats.activates + stats.precharges + stats.column_commands;
    arena_free(&arena);
    return cycle;
}

/* Host instructions by callgrind within the named functions; 0 when they could not be counted. */
static double bench_instructions(unsigned pattern, const char *functions) {
    char line[8192];
    unsigned long long instructions = 0;
    snprintf(line, sizeof line, "valgrind --tool=callgrind --callgrind-out-file=/dev/null %s '%s' bench %u 2>&1",
             functions, program, pattern);
    FILE *pipe = popen(line, "r");
    while (pipe && fgets(line, sizeof line, pipe)) {
        const char *collected = strstr(line, "Collected :");
        if (collected)
            sscanf(collected + 11, "%llu", &instructions);
    }
    if (pipe)
        pclose(pipe);
    return (double)instructions;
}

/* Prints what a request and a command cost; with HEDDLE_FULL or HEDDLE_BENCH also in host instructions. */
static void dram_cost_per_request(void **state) {
    (void)state;
    static const char *const names[] = {"random rows", "consecutive", "mixed"};
    const char *full = getenv("HEDDLE_FULL");
    const double requests = (double)(unsigned)BENCH_REQUESTS;
    for (unsigned pattern = 0; pattern < 3; pattern++) {
        uint64_t commands = 0;
        clock_t begin = clock();
        uint64_t cycles = bench_run(pattern, &commands);
        double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        print_message("%-12s %5.2f commands, %5.2f cycles, %6.1f ns per request", names[pattern],
                      (double)commands / requests, (double)cycles / requests, seconds * 1e9 / requests);
        if ((full && *full) || getenv("HEDDLE_BENCH")) {
            double all = bench_instructions(pattern, "--toggle-collect=dram_push --toggle-collect=dram_advance "
                                                     "--toggle-collect=dram_pop");
            double advance = bench_instructions(pattern, "--toggle-collect=dram_advance");
            print_message("; host instructions: %.0f per request in all, %.0f per active tick", all / requests,
                          advance / (double)commands);
        }
        print_message("\n");
        assert_true(commands >= BENCH_REQUESTS && cycles >= 2 * BENCH_REQUESTS);
    }
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "bench") == 0) {
        uint64_t commands;
        return bench_run((unsigned)atoi(argv[2]), &commands) == 0;
    }
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dram_refuses_what_cannot_be),
        cmocka_unit_test(dram_bank_rr_takes_banks_in_turn),
        cmocka_unit_test(dram_fifo_blocks_behind_a_busy_bank),
        cmocka_unit_test(dram_fcfs_keeps_the_order_within_a_bank),
        cmocka_unit_test(dram_fr_fcfs_serves_hits_first),
        cmocka_unit_test(dram_queue_limit_refuses),
        cmocka_unit_test(dram_line_takes_several_bursts),
        cmocka_unit_test(dram_refresh_closes_rows_and_waits),
        cmocka_unit_test(dram_hint_holds_the_row),
        cmocka_unit_test(dram_hints_that_lie_starve_nobody),
        cmocka_unit_test(dram_two_buses_issue_row_and_column_together),
        cmocka_unit_test(dram_random_traffic_is_legal),
        cmocka_unit_test(checker_sees_every_limit),
        cmocka_unit_test(dram_cost_per_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
