/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of the parts brought together: the same on several host threads, for all channels, at the end of every interval. */
#include "timed_programs.h"

#include "simt/threads.h"
#include "own_keys.h"

static void run(struct fixture *f, const char *settings, const struct program_text *program) {
    open_machine(f, settings);
    load(f, program->text);
    expect_ok(f, program, true);
}

/* Every table of a launch is what one host thread counts: SMs move between threads, which count apart. */
static void host_threads_change_no_counter(void **state) {
    (void)state;
    static const unsigned chosen[] = {0, 2, 4}; /* loads, barriers, lanes that diverge */
    for (unsigned i = 0; i < 3; i++) {
        const struct program_text *program = &programs[chosen[i]];
        struct fixture one, many;
        run(&one, "base: gtx480\n" LIMIT, program);
        run(&many, "base: gtx480\nhost.threads: 3\nhost.alone_ns: 0\n" LIMIT, program);
        const struct gpu_stats *a = one.result.timed, *b = many.result.timed;
        assert_int_equal(device_host_threads(many.device), 3);
        assert_true(same_stats(a, b, program_module(one.program)->code_count));
        assert_memory_equal(&a->histograms, &b->histograms, sizeof a->histograms);
        assert_memory_equal(&a->dram_histograms, &b->dram_histograms, sizeof a->dram_histograms);
        assert_memory_equal(&a->nobody, &b->nobody, sizeof a->nobody);
        assert_memory_equal(a->waits, b->waits, sizeof a->waits);
        assert_memory_equal(&a->request_crossbar, &b->request_crossbar, sizeof a->request_crossbar);
        assert_memory_equal(&a->reply_crossbar, &b->reply_crossbar, sizeof a->reply_crossbar);
        assert_int_equal(a->divergent_branches, b->divergent_branches);
        assert_int_equal(a->threads, b->threads);
        assert_memory_equal(&one.result.stats, &many.result.stats, sizeof one.result.stats);
        finish(&one);
        finish(&many);
    }
}

/* Groups by their lanes, accesses and transactions are each counted twice: in a distribution and in a counter. */
static void distributions_hold_what_counters_do(void **state) {
    (void)state;
    for (unsigned i = 0; i < PROGRAMS; i++) {
        struct fixture f;
        uint64_t groups = 0, lanes = 0, accesses = 0, transactions = 0;
        run(&f, machines[0], &programs[i]);
        const struct gpu_stats *timed = f.result.timed;
        for (unsigned k = 0; k <= LANES_MAX; k++)
            groups += timed->histograms.active_lanes[k], lanes += k * timed->histograms.active_lanes[k];
        for (unsigned k = 0; k < sizeof timed->histograms.transactions / sizeof timed->histograms.transactions[0]; k++)
            accesses += timed->histograms.transactions[k], transactions += k * timed->histograms.transactions[k];
        assert_int_equal(groups, timed->sm.issues);
        assert_int_equal(lanes, timed->sm.active_lanes);
        assert_int_equal(accesses, timed->sm.global_accesses);
        assert_int_equal(transactions, timed->sm.transactions);
        assert_int_equal(groups, f.result.stats.warp_instructions);
        finish(&f);
    }
}

/* Loads and stores by what the functional run issues of them. */
static void loads_are_counted_apart_from_stores(void **state) {
    (void)state;
    struct fixture f;
    const struct program_text *program = &programs[0]; /* one load and one store a thread */
    run(&f, machines[0], program);
    const uint64_t warps = (uint64_t)program->blocks * program->threads / 32;
    assert_int_equal(f.result.timed->sm.global_loads, warps);
    assert_int_equal(f.result.timed->sm.global_accesses, 2 * warps);
    finish(&f);
}

/* Every channel has cycles of its own, at the ratio of the clocks. */
static void cycles_of_the_dram_are_those_of_all_channels(void **state) {
    (void)state;
    static const unsigned channels[] = {1, 2, 6};
    for (unsigned i = 0; i < 3; i++) {
        char settings[256];
        struct fixture f;
        snprintf(settings, sizeof settings,
                 "clock.sm: 700000\nclock.dram: 924000\ndram.chip_mask: 0\ndram.chips: %u\n" LIMIT, channels[i]);
        run(&f, settings, &programs[0]);
        const uint64_t each = f.result.timed->cycles * 924 / 700;
        assert_int_equal(f.result.timed->dram_cycles, each * channels[i]);
        finish(&f);
    }
}

/* A slice looks up one sector in a cycle: no interval holds more, however much is looked up ahead of its cycle, and all
 * intervals hold what the launch does. */
static void an_interval_holds_the_lookups_of_its_cycles(void **state) {
    (void)state;
    static const struct program_text stream = {
        "whole lines and single sectors again and again",
        KERNEL("",
               "mov.u32 %r4, 0;\nL: mad.lo.u32 %r5, %r4, 61, %r3;\nand.b32 %r5, %r5, 4095;\nmul.wide.u32 %rd4, %r5, "
               "16;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.v4.u32 {%r9, %r10, %r11, %r12}, [%rd5];\nmad.lo.u32 %r6, "
               "%r4, 37, %r2;\nand.b32 "
               "%r6, %r6, 2047;\nmul.wide.u32 %rd6, %r6, 32;\nadd.s64 %rd7, %rd1, %rd6;\nst.global.u32 "
               "[%rd7], %r4;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 30;\n@%p1 bra L;\nret;"),
        60, 256};
    struct fixture f;
    run(&f, "base: gtx480\nl2.slices: 1\ndram.chip_mask: 0\ndram.chips: 1\nseries.interval: 1\n" LIMIT, &stream);
    const struct series *series = &f.result.timed->series;
    unsigned column = 0;
    while (strcmp(series_table[column].name, "l2_accesses") != 0)
        column++;
    uint64_t sum = 0, most = 0;
    for (uint32_t k = 0; k < series->count; k++) {
        const uint64_t value = series->values[column][k];
        sum += value, most = value > most ? value : most;
    }
    assert_int_equal(sum, f.result.timed->l2.accesses);
    assert_true(most > series->interval / 2 && most <= series->interval);
    finish(&f);
}

/* ---- counters of mechanisms, against what a watcher sees ---- */

struct watched {
    uint64_t issues, splits;
};

/* Threads that go on from one issue to several places: so many groups more than before. */
static void watch_issue(void *self, const struct sm *sm, const struct sm_issue *issue) {
    struct watched *watched = self;
    const struct executed *executed = issue->executed;
    uint32_t left = executed->flow == FLOW_EXIT ? issue->group.lanes & ~executed->taken : issue->group.lanes;
    unsigned places = 0;
    (void)sm;
    for (uint32_t here; left; left &= ~here, places++) {
        const uint32_t pc = threads_next(executed, bits_first(left));
        here = 0;
        for (BITS_EACH(lane, left))
            here |= (uint32_t)(threads_next(executed, lane) == pc) << lane;
    }
    watched->issues++;
    watched->splits += places ? places - 1 : 0;
}

static uint64_t counted(const char *mechanism, const char *counter, const struct program_text *program,
                        struct watched *watched) {
    char settings[256];
    struct fixture f;
    const struct sm_observer watcher = {.self = watched, .issued = watch_issue};
    snprintf(settings, sizeof settings, "base: fung-8800\nsm.count: 1\ndivergence.mechanism: %s\n" LIMIT, mechanism);
    *watched = (struct watched){0};
    open_machine(&f, settings);
    load(&f, program->text);
    f.issues = &watcher;
    expect_ok(&f, program, true);
    const struct gpu_stats *timed = f.result.timed;
    const uint64_t value = own_counter(timed->own[OWN_MECHANISM], timed->own_stats[OWN_MECHANISM], counter);
    assert_int_equal(watched->issues, timed->sm.issues);
    f.issues = NULL;
    finish(&f);
    return value;
}

/* Loops and recursion: nrec parts for good as often as threads go to different places; lwm issues a sub-warp at a time. */
static void mechanisms_count_what_is_seen_of_them(void **state) {
    (void)state;
    static const struct program_text loops = {
        "loops of different lengths",
        KERNEL(
            "",
            "and.b32 %r4, %r1, 7;\nmov.u32 %r5, 0;\nL: setp.ge.u32 %p1, %r5, %r4;\n@%p1 bra E;\nand.b32 %r6, %r5, 1;\n"
            "setp.eq.u32 %p2, %r6, 0;\n@%p2 bra N;\nadd.u32 %r3, %r3, 7;\nN: add.u32 %r5, %r5, 1;\nbra L;\n"
            "E: st.global.u32 [%rd3], %r3;\nret;"),
        3, 96};
    const struct program_text *const chosen[] = {&programs[0], &programs[3], &loops};
    struct watched watched;
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t splits = counted("nrec", "splits", chosen[i], &watched);
        assert_int_equal(splits, watched.splits);
        assert_true(i == 0 || splits);
        const uint64_t sub_warps = counted("lwm", "sub_warps", chosen[i], &watched);
        assert_int_equal(sub_warps, watched.issues);
        assert_true(counted("lwm", "instructions", chosen[i], &watched) <= sub_warps);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mechanisms_count_what_is_seen_of_them),
        cmocka_unit_test(host_threads_change_no_counter),
        cmocka_unit_test(distributions_hold_what_counters_do),
        cmocka_unit_test(loads_are_counted_apart_from_stores),
        cmocka_unit_test(cycles_of_the_dram_are_those_of_all_channels),
        cmocka_unit_test(an_interval_holds_the_lookups_of_its_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
