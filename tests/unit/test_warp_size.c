/* SPDX-License-Identifier: Apache-2.0 */
/* Machines whose warps have 8, 16 and 32 threads: threads do the same, and what issues together is what the size says. */
#include "timed_programs.h"

#include "divergence/divergence.h"

static const unsigned sizes[] = {8, 16, 32};
enum { SIZES = sizeof sizes / sizeof sizes[0], THREADS = 768 };

static void open_size(struct fixture *f, unsigned size, const char *mechanism, const char *more) {
    char settings[512];
    snprintf(settings, sizeof settings,
             "base: fung-8800\nsm.warp_size: %u\nsm.max_warps: %u\ndivergence.mechanism: %s\n" LIMIT "%s", size,
             THREADS / size, mechanism, more);
    open_machine(f, settings);
}

/* Thread t goes t mod 32 times through a loop of 4 instructions, and leaves it by 2; 9 come before and 2 behind. */
static const struct program_text loops = {
    "loops of 0 to 31 turns",
    KERNEL("", "and.b32 %r4, %r1, 31;\nmov.u32 %r5, 0;\nL: setp.ge.u32 %p1, %r5, %r4;\n@%p1 bra E;\nadd.u32 %r5, %r5, "
               "1;\nbra L;\nE: st.global.u32 [%rd3], %r5;\nret;"),
    1, THREADS};

/* A warp issues what its last thread does: threads 8k to 8k + 7 end with 8k + 7 turns. */
static void efficiency_is_what_the_slowest_thread_of_a_warp_leaves(void **state) {
    (void)state;
    const uint64_t turns = 31 * 32 / 2, active = THREADS / 32 * (32 * 11 + 4 * turns + 2 * 32);
    for (unsigned i = 0; i < SIZES; i++)
        for (unsigned in_time = 0; in_time < 2; in_time++) {
            struct fixture f;
            uint64_t issues = 0;
            for (unsigned last = sizes[i] - 1; last < 32; last += sizes[i])
                issues += THREADS / 32 * (11 + 4 * last + 2);
            open_size(&f, sizes[i], "pdom", "");
            load(&f, loops.text);
            expect_ok(&f, &loops, in_time);
            for (uint32_t t = 0; t < THREADS; t++)
                assert_int_equal(f.memory[t], t % 32);
            assert_int_equal(f.result.stats.active_lanes, active);
            assert_int_equal(f.result.stats.warp_instructions, issues);
            assert_int_equal(f.result.stats.lane_slots, issues * sizes[i]);
            finish(&f);
        }
}

/* A warp takes a cycle for every 8 of its threads, so that full warps fill the lanes alike whatever their size. */
static void slots_and_cycles_of_full_warps_are_the_same(void **state) {
    (void)state;
    char code[4000] = "", text[6000];
    for (unsigned n = 0; n < 100; n++)
        strcat(code, "add.u32 %r4, %r4, %r1;\n");
    static const char frame[] = KERNEL("", "|st.global.u32 [%rd3], %r4;\nret;");
    const char *middle = strchr(frame, '|');
    snprintf(text, sizeof text, "%.*s%s%s", (int)(middle - frame), frame, code, middle + 1);
    uint64_t cycles[SIZES];
    for (unsigned i = 0; i < SIZES; i++) {
        struct fixture f;
        open_size(&f, sizes[i], "pdom", "");
        load(&f, text);
        assert_int_equal(launch(&f, 1, THREADS, true), STATUS_OK);
        check_books(&f, "adds");
        const struct sm_stats *sm = &f.result.timed->sm;
        const uint64_t instructions = 7 + 100 + 2;
        assert_int_equal(sm->issued_8, THREADS * instructions / 8);
        assert_int_equal(sm->issues, THREADS * instructions / sizes[i]);
        cycles[i] = f.result.timed->cycles;
        assert_true(cycles[i] >= THREADS * instructions / 8);
        finish(&f);
    }
    assert_in_range(cycles[0] * 100, cycles[SIZES - 1] * 97, cycles[SIZES - 1] * 103);
    assert_in_range(cycles[1] * 100, cycles[SIZES - 1] * 97, cycles[SIZES - 1] * 103);
}

/* In time as functionally with warps of 32, up to 96 warps on the SM. */
static void compare(const struct program_text *program, unsigned size, const char *mechanism,
                    const struct fixture *plain) {
    struct fixture f;
    open_size(&f, size, mechanism, "sm.count: 4\nsm.max_blocks: 4\n");
    load(&f, program->text);
    if (launch(&f, program->blocks, program->threads, true) != STATUS_OK) {
        if ((strcmp(mechanism, "tbc") != 0 && !divergence_find(mechanism)->paths) || size != 8)
            fail_msg("%s, %s, warps of %u: %s", program->name, mechanism, size, report_text(&f.report));
        expect_text(&f, "issue slots");
        finish(&f);
        return;
    }
    if (memcmp(f.memory, plain->memory, WORDS * sizeof(uint32_t)) != 0)
        fail_msg("%s, %s, warps of %u: memory differs", program->name, mechanism, size);
    assert_int_equal(f.result.stats.thread_instructions, plain->result.stats.thread_instructions);
    check_books(&f, program->name);
    finish(&f);
}

static void every_mechanism_leaves_the_same_memory_at_every_size(void **state) {
    (void)state;
    const struct program_text *own = &loops;
    for (unsigned n = 0; n <= PROGRAMS; n++) {
        const struct program_text *program = n < PROGRAMS ? &programs[n] : own;
        if (strstr(program->text, ".sync.") ||
            program->threads > THREADS) /* they need warps of 32; more than an SM has */
            continue;
        struct fixture plain;
        open_size(&plain, 32, "pdom", "sm.count: 4\nsm.max_blocks: 4\n");
        load(&plain, program->text);
        expect_ok(&plain, program, false);
        for (unsigned number = 0; divergence_at(number); number++)
            for (unsigned i = 0; i < SIZES; i++)
                if (!left_out())
                    compare(program, sizes[i], divergence_at(number)->name, &plain);
        finish(&plain);
    }
}

static void expect_refusal(unsigned size, const char *mechanism, bool in_time, uint32_t threads, const char *text,
                           const char *why) {
    struct fixture f;
    open_size(&f, size, mechanism, "");
    load(&f, text);
    assert_int_equal(launch(&f, 1, threads, in_time), STATUS_INVALID);
    expect_text(&f, why);
    finish(&f);
}

static void what_sees_its_warp_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *code, *why;
    } seen[] = {
        {"shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1;\nret;", "test.ptx:17: sm.warp_size=8: 'shfl"},
        {"mov.u32 %r4, %laneid;\nst.global.u32 [%rd3], %r4;\nret;", "sm.warp_size=8: 'mov.u32 %r4, %laneid"},
        {"add.u32 %r4, %r1, WARP_SZ;\nret;", "test.ptx:17: sm.warp_size=8: WARP_SZ sees warps"},
    };
    for (unsigned i = 0; i < sizeof seen / sizeof seen[0]; i++)
        for (unsigned in_time = 0; in_time < 2; in_time++) {
            char text[2000];
            static const char frame[] = KERNEL("", "|");
            const char *middle = strchr(frame, '|');
            snprintf(text, sizeof text, "%.*s%s%s", (int)(middle - frame), frame, seen[i].code, middle + 1);
            expect_refusal(8, "pdom", in_time, 32, text, seen[i].why);
        }
}

static void what_is_not_modelled_is_refused(void **state) {
    (void)state;
    expect_refusal(8, "tbc", true, THREADS, loops.text,
                   "divergence.mechanism=tbc: 96 warps of 8 threads need 96 issue slots");
    expect_refusal(4, "pdom", true, THREADS, loops.text, "sm.max_warps=192: in time an SM holds at most 128 warps");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(efficiency_is_what_the_slowest_thread_of_a_warp_leaves),
        cmocka_unit_test(slots_and_cycles_of_full_warps_are_the_same),
        cmocka_unit_test(every_mechanism_leaves_the_same_memory_at_every_size),
        cmocka_unit_test(what_sees_its_warp_is_refused),
        cmocka_unit_test(what_is_not_modelled_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
