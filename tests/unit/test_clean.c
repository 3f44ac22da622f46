/* SPDX-License-Identifier: Apache-2.0 */
/* A write-back cache that is emptied when a launch ends writes its dirty lines back, in the launch's time. */
#include "timed_programs.h"

enum { LINES = 1024, THREADS = 256 };

/* A word of every line of 64 bytes. */
static const struct program_text writes = {
    "writes", KERNEL("", "mul.wide.u32 %rd4, %r3, 64;\nadd.s64 %rd5, %rd1, %rd4;\nst.global.u32 [%rd5], %r3;\nret;"),
    LINES / THREADS, THREADS};

static void dirty_lines_are_written_once_and_take_their_time(void **state) {
    (void)state;
    uint64_t cycles[2];
    for (unsigned emptied = 0; emptied < 2; emptied++) {
        struct fixture f;
        open_machine(&f, emptied ? "base: fung-8800\nsm.count: 1\n" LIMIT
                                 : "base: fung-8800\nsm.count: 1\nl1.flush_at_end: false\n" LIMIT);
        load(&f, writes.text);
        for (unsigned n = 0; n < 2; n++) { /* the second finds the lines there, or fetches them again */
            expect_ok(&f, &writes, true);
            check_books(&f, writes.name);
            const struct gpu_stats *stats = f.result.timed;
            cycles[emptied] = n ? cycles[emptied] : stats->cycles;
            assert_int_equal(stats->l1.write_misses, !n || emptied ? LINES : 0);
            assert_int_equal(stats->l1.write_backs, emptied ? LINES : 0);
            assert_int_equal(stats->dram.writes, emptied ? LINES : 0);
        }
        finish(&f);
    }
    /* the crossbar takes 32 bytes from an SM in a cycle */
    assert_true(cycles[1] - cycles[0] >= LINES * 64 / 32);
}

/* Whatever is below and however little room it has: every line whose bytes a program changed is written to memory. */
static void what_was_stored_reaches_memory(void **state) {
    (void)state;
    static const struct {
        const char *settings;
        uint32_t line_words;
    } kinds[] = {
        {"base: fung-8800\n" LIMIT, 16},
        {"base: fung-8800\ndivergence.mechanism: dwf\nl1.allocate: fill\nlink.capacity: 4\nl1.mshr_entries: 2\n" LIMIT,
         16},
        {"base: tarjan-manycore\n" LIMIT, 8},
        {"base: tarjan-manycore-l2\n" LIMIT, 8},
        {"base: tarjan-manycore-l2\nl2.write_allocate: none\nl2.size_bytes: 4 KiB\nl2.ways: 2\nlink.capacity: "
         "2\n" LIMIT,
         8},
    };
    static uint32_t before[WORDS];
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (unsigned i = 0; i < PROGRAMS; i++) {
            struct fixture f;
            uint64_t changed = 0;
            open_machine(&f, kinds[k].settings);
            memcpy(before, f.memory, sizeof before);
            load(&f, programs[i].text);
            expect_ok(&f, &programs[i], true);
            check_books(&f, programs[i].name);
            const size_t bytes = kinds[k].line_words * sizeof *before;
            for (uint32_t at = 0; at < WORDS; at += kinds[k].line_words)
                changed += memcmp(&before[at], &f.memory[at], bytes) != 0;
            if (f.result.timed->dram.writes < changed)
                fail_msg("%s, machine %u: %llu writes of %llu lines", programs[i].name, k,
                         (unsigned long long)f.result.timed->dram.writes, (unsigned long long)changed);
            finish(&f);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dirty_lines_are_written_once_and_take_their_time),
        cmocka_unit_test(what_was_stored_reaches_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
