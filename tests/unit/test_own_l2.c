/* SPDX-License-Identifier: Apache-2.0 */
/* An L2 of an SM's own (l2.private): what it saves, what it costs, and that it changes time alone. */
#include "timed_programs.h"

#define MACHINE "base: tarjan-manycore-l2\n"

/* One thread reads a word of each of 2048 lines (64 KiB, twice the L1), all of them twice. */
static const struct program_text twice = {
    "twice",
    KERNEL("", "mov.u32 %r4, 0;\nL: and.b32 %r5, %r4, 2047;\nmul.wide.u32 %rd4, %r5, 32;\nadd.s64 %rd5, %rd1, "
               "%rd4;\nld.global.u32 %r6, [%rd5];\nadd.u32 %r7, %r7, %r6;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, "
               "4096;\n@%p1 bra L;\nret;"),
    1, 1};
enum { LINES = 2048, OTHERS = 7 };

static void what_it_holds_comes_after_its_latency(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f, MACHINE);
    load(&f, twice.text);
    expect_ok(&f, &twice, true);
    check_books(&f, twice.name);
    const struct gpu_stats *stats = f.result.timed;
    assert_int_equal(stats->l1.misses, 2 * LINES);
    assert_int_equal(stats->l2.misses, LINES);
    assert_int_equal(stats->l2.hits, LINES);
    assert_int_equal(stats->dram.reads, LINES);
    assert_int_equal(stats->sm.requests_sent, LINES);
    /* a line from memory takes 500 cycles and the look-up, one from the L2 the look-up and the way back into the pipeline */
    const uint64_t turns = 2 * LINES * OTHERS, memory = LINES * (500 + 10), own = stats->cycles - turns - memory;
    assert_in_range(own / LINES, 10, 12);
    finish(&f);
}

/* Every thread writes words that lie 32 bytes apart, over 4 MiB: the lines leave the L1, then the L2, the last
 * of them when the launch ends, and are stored. */
static void lines_that_were_written_reach_memory_once(void **state) {
    (void)state;
    enum { WORDS_HERE = 1048576, BLOCKS = 512 };
    static const struct program_text writes = {
        "writes",
        KERNEL("", "mov.u32 %r4, 0;\nL: mad.lo.u32 %r5, %r4, 16384, %r3;\nmul.wide.u32 %rd4, %r5, 32;\nadd.s64 %rd5, "
                   "%rd1, %rd4;\nst.global.u32 [%rd5], %r5;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 8;\n@%p1 bra "
                   "L;\nret;"),
        BLOCKS, 32};
    struct fixture f;
    fixture_open(&f, MACHINE "sm.count: 1\n", WORDS_HERE);
    load(&f, writes.text);
    expect_ok(&f, &writes, true);
    check_books(&f, writes.name);
    for (uint32_t i = 0; i < WORDS_HERE / 8; i++)
        assert_int_equal(f.memory[i * 8], i);
    const struct gpu_stats *stats = f.result.timed;
    assert_int_equal(stats->l2.write_backs, WORDS_HERE / 8);
    assert_int_equal(stats->dram.writes, WORDS_HERE / 8);
    finish(&f);
}

/* Whatever blocks it: memory, and what threads executed, are those of the functional run. */
static void it_changes_time_alone(void **state) {
    (void)state;
    static const char *const variants[] = {
        MACHINE LIMIT,
        MACHINE
        "divergence.mechanism: diverge-on-miss\ndiverge-on-miss.adaptive: false\ndiverge-on-miss.max_slip: 255\n" LIMIT,
        MACHINE "divergence.mechanism: dwf\n" LIMIT,
        MACHINE "l2.size_bytes: 4 KiB\nl2.ways: 2\nl2.mshr_entries: 3\nl2.mshr_merges: 1\nlink.capacity: 4\n" LIMIT,
        "base: gtx480\nl2.private: true\nl2.size_bytes: 64 KiB\nl2.ways: 8\nl2.line_bytes: 128\nl2.sector_bytes: 0\n"
        "l2.set_index: linear\nl2.write_allocate: none\n" LIMIT,
    };
    for (unsigned m = 0; m < sizeof variants / sizeof *variants; m++)
        for (unsigned i = 0; i < PROGRAMS; i++) {
            struct fixture timed, plain;
            open_machine(&timed, variants[m]);
            open_machine(&plain, "base: tarjan-manycore\n");
            load(&timed, programs[i].text);
            load(&plain, programs[i].text);
            expect_ok(&timed, &programs[i], true);
            expect_ok(&plain, &programs[i], false);
            check_books(&timed, programs[i].name);
            if (memcmp(timed.memory, plain.memory, WORDS * sizeof(uint32_t)) != 0)
                fail_msg("%s, machine %u: memory differs", programs[i].name, m);
            assert_int_equal(timed.result.stats.thread_instructions, plain.result.stats.thread_instructions);
            finish(&timed);
            finish(&plain);
        }
}

static void shapes_that_do_not_fit_are_refused(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {MACHINE "l2.line_bytes: 64\nl2.sector_bytes: 0\nl2.write_allocate: none\n", "asked for 64 bytes"},
        {MACHINE "l2.write_allocate: fetch\n", "l2.write_allocate=lazy"},
        {MACHINE "l2.write: through\n", "l2.write=back"},
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct machine machine;
        struct report report = {0};
        assert_int_equal(machine_open_text(&machine, "test.yaml", wrong[i][0], strlen(wrong[i][0]), &report),
                         STATUS_OK);
        assert_int_equal(machine_check_timed(&machine, &report), STATUS_INVALID);
        assert_non_null(strstr(report_text(&report), wrong[i][1]));
        report_free(&report);
        machine_close(&machine);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_holds_comes_after_its_latency),
        cmocka_unit_test(lines_that_were_written_reach_memory_once),
        cmocka_unit_test(it_changes_time_alone),
        cmocka_unit_test(shapes_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
