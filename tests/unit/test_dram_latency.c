/* SPDX-License-Identifier: Apache-2.0 */
/* mem/latency_dram: the two memories without commands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/rng.h"
#include "mem/latency_dram.h"
#include "unit/dram_drive.h"

/* narasiman-core: 8 banks, 4 KB rows, 100 and 300 cycles, 32 B per cycle, 128 B lines. */
static struct dram_params narasiman(void) {
    struct arena arena = {0};
    struct dram_params params;
    drive_defaults(&params, &arena);
    arena_free(&arena);
    params.model = DRAM_ROW_LATENCY;
    params.chips = 1;
    params.scheduler = DRAM_FIFO;
    params.column_mask = 0xfff;
    params.bank_mask = 0x7000;
    params.row_mask = 0xffff8000;
    params.bank_groups = 1;
    params.row_hit_latency = 100;
    params.row_conflict_latency = 300;
    params.bytes_per_clock = 32;
    return params;
}

static uint64_t place(unsigned bank, unsigned row, unsigned column) {
    return (uint64_t)row << 15 | bank << 12 | column * 128u;
}

struct fixture {
    struct arena arena;
    struct latency_dram *dram;
    uint64_t done[64];
};

static void start(struct fixture *f, const struct dram_params *params) {
    memset(f, 0, sizeof *f);
    f->dram = latency_dram_create(&f->arena, params);
}

static void push(struct fixture *f, uint64_t cycle, uint64_t address, uint64_t tag) {
    latency_dram_push(f->dram, cycle, &(struct request){.address = address, .bytes = 128, .tag = tag});
}

static void finish(struct fixture *f) {
    struct request request;
    latency_dram_advance(f->dram, 100000);
    for (uint64_t ready = latency_dram_ready(f->dram); latency_dram_pop(f->dram, 100000, &request);
         ready = latency_dram_ready(f->dram))
        f->done[request.tag] = ready;
    assert_int_equal(latency_dram_held(f->dram), 0);
    assert_true(latency_dram_next(f->dram) == NO_CYCLE && latency_dram_ready(f->dram) == NO_CYCLE);
    arena_free(&f->arena);
}

static void row_hit_and_conflict_latency(void **state) {
    (void)state;
    struct dram_params params = narasiman();
    for (params.scheduler = 0; params.scheduler <= DRAM_FCFS; params.scheduler++) {
        struct fixture f;
        start(&f, &params);
        push(&f, 10, place(0, 0, 0), 0);   /* closed */
        push(&f, 1000, place(0, 0, 1), 1); /* hit */
        push(&f, 2000, place(0, 1, 0), 2); /* conflict */
        struct dram_stats stats;
        latency_dram_advance(f.dram, 100000);
        stats = latency_dram_statistics(f.dram);
        finish(&f);
        assert_int_equal(f.done[0], 310);
        assert_int_equal(f.done[1], 1100);
        assert_int_equal(f.done[2], 2300);
        assert_int_equal(stats.row_hits, 1);
        assert_int_equal(stats.row_misses, 2);
        assert_int_equal(stats.reads, 3);
        assert_int_equal(stats.read_cycles, 700);
        assert_int_equal(stats.bus_busy_cycles, 12);
    }
}

static void hits_overlap_and_share_the_bus(void **state) {
    (void)state;
    struct dram_params params = narasiman();
    struct fixture f;
    start(&f, &params);
    push(&f, 0, place(0, 0, 0), 0);
    for (unsigned i = 1; i <= 8; i++)
        push(&f, 1000 + i, place(0, 0, i), i);
    finish(&f);
    for (unsigned i = 1; i <= 8; i++) /* 128 B at 32 B per cycle: one every 4 cycles */
        assert_int_equal(f.done[i], 1001 + 100 + (i - 1) * 4);
}

/* A row, a conflict with it, another bank, and a hit of the first row. */
static void run_conflict(struct fixture *f, enum dram_scheduler scheduler) {
    struct dram_params params = narasiman();
    params.scheduler = scheduler;
    start(f, &params);
    push(f, 0, place(0, 0, 0), 0);
    push(f, 0, place(0, 1, 0), 1);
    push(f, 0, place(1, 0, 0), 2);
    push(f, 0, place(0, 0, 1), 3);
    finish(f);
}

static void conflicts_keep_their_bank_busy(void **state) {
    (void)state;
    struct fixture f;
    run_conflict(&f, DRAM_FR_FCFS);
    assert_int_equal(f.done[0], 300);
    assert_int_equal(f.done[2], 304);           /* its start is one cycle later, then the bus is taken */
    assert_int_equal(f.done[3], 400);           /* the row is open from cycle 301 on, its hit goes first */
    assert_int_equal(f.done[1], 302 - 1 + 300); /* and the conflict starts one cycle after it */
}

static void fifo_blocks_behind_a_busy_bank(void **state) {
    (void)state;
    struct dram_params params = narasiman();
    struct fixture f;
    start(&f, &params);
    push(&f, 0, place(0, 0, 0), 0);
    push(&f, 0, place(0, 1, 0), 1);
    push(&f, 0, place(1, 0, 0), 2);
    finish(&f);
    assert_int_equal(f.done[0], 300);
    assert_int_equal(f.done[1], 600);
    assert_int_equal(f.done[2], 604);
}

static void fcfs_keeps_the_order_within_a_bank(void **state) {
    (void)state;
    struct fixture f;
    run_conflict(&f, DRAM_FCFS);
    assert_int_equal(f.done[0], 300);
    assert_int_equal(f.done[2], 304); /* another bank waits for the bus alone */
    assert_int_equal(f.done[1], 600);
    assert_int_equal(f.done[3], 900); /* would have been a hit before 1 */
}

/* Seed 002 §7.2: the row stays open for 200 cycles from the moment the hinted data leaves, until the first hit. */
static void hint_holds_the_row(void **state) {
    (void)state;
    struct dram_params params = narasiman();
    params.scheduler = DRAM_FR_FCFS;
    params.hint_hold = 200;
    for (unsigned hit_comes = 0; hit_comes < 2; hit_comes++) {
        struct fixture f;
        start(&f, &params);
        struct request hinted = {.address = place(0, 0, 0), .bytes = 128, .row_hint = true};
        latency_dram_push(f.dram, 0, &hinted);
        push(&f, 1, place(0, 1, 0), 1);
        if (hit_comes)
            push(&f, 450, place(0, 0, 1), 2);
        finish(&f);
        assert_int_equal(f.done[0], 300);
        if (hit_comes) {
            assert_int_equal(f.done[2], 550);
            assert_int_equal(f.done[1], 452 - 1 + 300);
        } else {
            assert_int_equal(f.done[1], 500 - 1 + 300);
        }
    }
}

/* Loads of one row that announce more of it without end: the row that waits gets its turn when the first hold is over. */
static void hints_that_lie_starve_nobody(void **state) {
    (void)state;
    struct dram_params params = narasiman();
    params.scheduler = DRAM_FR_FCFS;
    params.hint_hold = 200;
    struct fixture f;
    start(&f, &params);
    for (unsigned i = 0; i < 24; i++) {
        struct request hinted = {.address = place(0, 0, i % 32), .bytes = 128, .tag = i ? 1 + i : 0, .row_hint = true};
        latency_dram_advance(f.dram, i * 150);
        latency_dram_push(f.dram, i * 150, &hinted);
        if (i == 0)
            push(&f, 1, place(0, 1, 0), 1);
    }
    finish(&f);
    assert_int_equal(f.done[0], 300);
    assert_int_equal(f.done[1], 500 - 1 + 300);
}

/* Warps that walk row-sized nodes, whose every load is hinted and half of whose hints are false. A request waits for those
 * of the others at most, each with a conflict and a whole hold. */
static void hostile_hints_keep_the_limit(void **state) {
    (void)state;
    enum { WARPS = 32, COUNT = 20000 };
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct dram_params params = narasiman();
        params.scheduler = DRAM_FR_FCFS;
        params.hint_hold = 200;
        struct arena arena = {0};
        struct latency_dram *dram = latency_dram_create(&arena, &params);
        struct rng rng;
        rng_seed(&rng, seed);
        uint64_t due[WARPS], sent[WARPS], cycle = 0, longest = 0;
        unsigned row[WARPS], popped = 0;
        for (unsigned w = 0; w < WARPS; w++)
            due[w] = w, row[w] = (unsigned)rng_below(&rng, 1000);
        while (popped < COUNT) {
            struct request request;
            uint64_t wake;
            latency_dram_advance(dram, cycle);
            while (latency_dram_pop(dram, cycle, &request)) {
                const unsigned w = (unsigned)request.tag;
                longest = cycle - sent[w] > longest ? cycle - sent[w] : longest;
                due[w] = cycle + 1 + rng_below(&rng, 60);
                row[w] = rng_below(&rng, 2) ? row[w] : (unsigned)rng_below(&rng, 1000);
                popped++;
            }
            wake =
                latency_dram_next(dram) < latency_dram_ready(dram) ? latency_dram_next(dram) : latency_dram_ready(dram);
            for (unsigned w = 0; w < WARPS; w++) {
                if (due[w] == cycle) {
                    /* few banks, so that rows meet */
                    request = (struct request){.address = place(row[w] % 2, row[w], (unsigned)rng_below(&rng, 32)),
                                               .bytes = 128,
                                               .tag = w,
                                               .row_hint = true};
                    latency_dram_push(dram, cycle, &request);
                    sent[w] = cycle, due[w] = NO_CYCLE;
                    wake = cycle;
                } else if (due[w] < wake)
                    wake = due[w];
            }
            cycle = wake <= cycle ? cycle + 1 : wake;
        }
        const struct dram_stats stats = latency_dram_statistics(dram);
        assert_true(stats.row_holds > COUNT / 4 && stats.row_holds_met > 0 && stats.row_holds_met < stats.row_holds);
        assert_true(longest <= (uint64_t)WARPS * (300 + 200));
        arena_free(&arena);
    }
}

/* tarjan-manycore: 500 cycles, 128 B per cycle, 32 B lines: four a cycle. */
static void flat_latency_under_a_bandwidth_cap(void **state) {
    (void)state;
    struct dram_params params = narasiman();
    params.model = DRAM_FLAT;
    params.flat_latency = 500;
    params.bytes_per_clock = 128;
    struct fixture f;
    start(&f, &params);
    for (unsigned i = 0; i < 10; i++)
        latency_dram_push(f.dram, 7, &(struct request){.address = i * 4096u, .bytes = 32, .tag = i});
    latency_dram_push(f.dram, 50, &(struct request){.bytes = 32, .tag = 10});
    finish(&f);
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(f.done[i], 507 + i / 4);
    assert_int_equal(f.done[10], 550);
}

/* Every cycle or only those named; requests and replies match; never faster than latency and bus allow. */
static void visiting_every_cycle_changes_nothing(void **state) {
    (void)state;
    enum { COUNT = 3000 };
    static uint64_t done[2][COUNT], accepted[COUNT];
    for (uint64_t seed = 0; seed < 18; seed++) {
        uint64_t last[2];
        for (unsigned every = 0; every < 2; every++) {
            struct rng rng;
            rng_seed(&rng, seed);
            struct dram_params params = narasiman();
            params.scheduler = (uint32_t)(seed % 3);
            params.queue_limit = seed & 2 ? 8 : 0;
            params.hint_hold = seed & 4 ? 200 : 0;
            params.window = seed & 8 ? 4 : 32;
            struct arena arena = {0};
            struct latency_dram *dram = latency_dram_create(&arena, &params);
            unsigned pushed = 0, popped = 0;
            uint64_t due = 0, cycle = 0;
            for (;;) {
                struct request request;
                for (uint64_t ready = latency_dram_ready(dram); latency_dram_pop(dram, cycle, &request);
                     ready = latency_dram_ready(dram)) {
                    done[every][request.tag] = ready;
                    popped++;
                }
                if (popped == COUNT)
                    break;
                while (pushed < COUNT && due <= cycle && latency_dram_room(dram)) {
                    request =
                        (struct request){.address = place((unsigned)rng_below(&rng, 8), (unsigned)rng_below(&rng, 3),
                                                          (unsigned)rng_below(&rng, 32)),
                                         .bytes = 128,
                                         .tag = pushed,
                                         .row_hint = rng_below(&rng, 8) == 0,
                                         .kind = (uint8_t)rng_below(&rng, 2)};
                    latency_dram_push(dram, cycle, &request);
                    accepted[pushed++] = cycle;
                    due = cycle + rng_below(&rng, 40);
                }
                if (every || latency_dram_next(dram) <= cycle)
                    latency_dram_advance(dram, cycle);
                uint64_t wake = latency_dram_next(dram);
                wake = latency_dram_ready(dram) < wake ? latency_dram_ready(dram) : wake;
                if (pushed < COUNT && latency_dram_room(dram) && due < wake)
                    wake = due;
                cycle = every || wake <= cycle ? cycle + 1 : wake;
            }
            last[every] = cycle;
            assert_int_equal(latency_dram_statistics(dram).requests, COUNT);
            assert_int_equal(latency_dram_statistics(dram).bus_busy_cycles, COUNT * 4);
            arena_free(&arena);
        }
        assert_int_equal(last[0], last[1]);
        assert_true(last[0] >= COUNT * 4);
        for (unsigned i = 0; i < COUNT; i++) {
            assert_int_equal(done[0][i], done[1][i]);
            assert_true(done[0][i] >= accepted[i] + 100);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_hit_and_conflict_latency),       cmocka_unit_test(hits_overlap_and_share_the_bus),
        cmocka_unit_test(conflicts_keep_their_bank_busy),     cmocka_unit_test(fifo_blocks_behind_a_busy_bank),
        cmocka_unit_test(fcfs_keeps_the_order_within_a_bank), cmocka_unit_test(hint_holds_the_row),
        cmocka_unit_test(hints_that_lie_starve_nobody),       cmocka_unit_test(hostile_hints_keep_the_limit),
        cmocka_unit_test(flat_latency_under_a_bandwidth_cap), cmocka_unit_test(visiting_every_cycle_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
