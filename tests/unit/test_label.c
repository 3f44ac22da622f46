/* SPDX-License-Identifier: Apache-2.0 */
/* Speculative reconvergence: lanes that wait for each other at a label, under both mechanisms that have convergence barriers. */
#include "timed_programs.h"

#include "own_keys.h"

/* Of a loop every lane leaves it when it has been eight times where the work is, at one turn of four, its own or all lanes' alike. */
#define WORK                                                                                                           \
    "add.u32 %r5, %r5, 1;\nmad.lo.u32 %r6, %r6, 3, %r1;\nxor.b32 %r6, %r6, 5;\nmad.lo.u32 %r6, %r6, 3, %r1;\n"         \
    "xor.b32 %r6, %r6, 5;\n"
#define VISITS(first)                                                                                                  \
    KERNEL("", first "mov.u32 %r5, 0;\nmov.u32 %r6, 1;\nTURN: mad.lo.u32 %r4, %r4, 1664525, 1013904223;\n"             \
                     "shr.u32 %r7, %r4, 28;\nand.b32 %r7, %r7, 3;\nsetp.ne.u32 %p1, %r7, 0;\n@%p1 bra NEXT;\n" WORK    \
                     "NEXT: setp.lt.u32 %p2, %r5, 8;\n@%p2 bra TURN;\nst.global.u32 [%rd3], %r6;\nret;")

enum { BLOCKS = 3, THREADS = 64, WARPS = BLOCKS * THREADS / 32, VISITS_EACH = 8 };

static const struct program_text visits = {"visits", VISITS("mad.lo.u32 %r4, %r3, 747796405, 12345;\n"), BLOCKS,
                                           THREADS};
static const struct program_text alike = {"visits alike", VISITS("mov.u32 %r4, 12345;\n"), BLOCKS, THREADS};
/* Odd lanes come to a label, even ones to a barrier that waits for them. */
static const struct program_text barrier = {
    "a barrier beside",
    KERNEL("", "and.b32 %r4, %r1, 1;\nsetp.ne.u32 %p1, %r4, 0;\nmov.u32 %r5, 0;\nmov.u32 %r6, 1;\nTURN: @%p1 bra "
               "ODD;\nbar.sync 0;\nbra NEXT;\nODD: mul.lo.u32 %r6, %r6, 3;\n" WORK
               "sub.u32 %r5, %r5, 1;\nbar.sync 0;\nNEXT: add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 4;\n@%p2 bra "
               "TURN;\nst.global.u32 [%rd3], %r6;\nret;"),
    BLOCKS, THREADS};

static const char *const mechanisms[] = {"barriers", "hanoi"};
enum { BOTH = 2 };

/* The line of the text, as `load` makes it, that has this. */
static unsigned line_of(const struct program_text *program, const char *part) {
    const char *at = strstr(program->text, part);
    unsigned line = 4;
    assert_non_null(at);
    for (const char *c = program->text; c < at; c++)
        line += *c == '\n';
    return line;
}

struct outcome {
    uint64_t cycles, issues, meetings, early, lanes;
    uint32_t memory[BLOCKS * THREADS];
};

static uint64_t counted(const struct fixture *f, const char *name) {
    const struct gpu_stats *timed = f->result.timed;
    return own_counter(timed->own[OWN_MECHANISM], timed->own_stats[OWN_MECHANISM], name);
}

/* line 0: no label. */
static struct outcome run(const char *mechanism, const struct program_text *program, unsigned line, unsigned lanes) {
    struct fixture f;
    struct outcome out;
    char text[512];
    snprintf(text, sizeof text,
             "base: qv100\nsm.count: 2\n" LIMIT "divergence.mechanism: %s\n%s.label_line: %u\n%s.label_lanes: %u\n",
             mechanism, mechanism, line, mechanism, lanes);
    open_machine(&f, text);
    load(&f, program->text);
    expect_ok(&f, program, true);
    check_books(&f, program->name);
    out.cycles = f.result.timed->cycles, out.issues = f.result.stats.warp_instructions;
    out.meetings = counted(&f, "label_meetings"), out.early = counted(&f, "label_early");
    out.lanes = counted(&f, "label_lanes");
    memcpy(out.memory, f.memory, sizeof out.memory);
    finish(&f);
    return out;
}

/* All lanes of every warp are there each time, and memory is the same however many are enough. */
static void all_lanes_meet_at_the_label(void **state) {
    (void)state;
    const unsigned line = line_of(&visits, "add.u32 %r5");
    for (unsigned m = 0; m < BOTH; m++) {
        const struct outcome without = run(mechanisms[m], &visits, 0, 32), all = run(mechanisms[m], &visits, line, 32);
        assert_int_equal(without.lanes, 0);
        assert_int_equal(all.meetings, VISITS_EACH * WARPS);
        assert_int_equal(all.lanes, VISITS_EACH * WARPS * 32);
        assert_int_equal(all.early, 0);
        assert_memory_equal(all.memory, without.memory, sizeof all.memory);
        for (unsigned lanes = 1; lanes < 32; lanes += 6) {
            const struct outcome some = run(mechanisms[m], &visits, line, lanes);
            assert_int_equal(some.lanes, all.lanes);
            assert_true(some.meetings > all.meetings && some.issues > all.issues);
            assert_memory_equal(some.memory, without.memory, sizeof some.memory);
        }
    }
}

/* A label that every lane comes to in every turn, behind no branch within the loop, removes none: nothing changes. */
static void a_label_that_removes_no_branch_changes_nothing(void **state) {
    (void)state;
    const unsigned line = line_of(&visits, "and.b32 %r7");
    for (unsigned m = 0; m < BOTH; m++)
        for (unsigned lanes = 1; lanes <= 32; lanes += 31) {
            const struct outcome without = run(mechanisms[m], &visits, 0, 32);
            const struct outcome with = run(mechanisms[m], &visits, line, lanes);
            assert_true(with.lanes > 0);
            assert_int_equal(with.cycles, without.cycles);
            assert_int_equal(with.issues, without.issues);
        }
}

/* Lanes that always go together meet where they are. */
static void lanes_that_stay_together_are_not_held_up(void **state) {
    (void)state;
    for (unsigned m = 0; m < BOTH; m++) {
        const struct outcome without = run(mechanisms[m], &alike, 0, 32);
        const struct outcome with = run(mechanisms[m], &alike, line_of(&alike, "add.u32 %r5"), 32);
        assert_int_equal(with.meetings, VISITS_EACH * WARPS);
        assert_int_equal(with.cycles, without.cycles);
        assert_int_equal(with.issues, without.issues);
    }
}

/* Where nobody else of the warp can run, those at the label go on. */
static void a_block_barrier_beside_is_no_deadlock(void **state) {
    (void)state;
    for (unsigned m = 0; m < BOTH; m++) {
        const struct outcome without = run(mechanisms[m], &barrier, 0, 32);
        const struct outcome with = run(mechanisms[m], &barrier, line_of(&barrier, "ODD: mul"), 32);
        assert_true(with.early > 0);
        assert_memory_equal(with.memory, without.memory, sizeof with.memory);
    }
}

static void a_label_that_is_in_no_loop_is_refused(void **state) {
    (void)state;
    for (unsigned m = 0; m < BOTH; m++) {
        struct fixture f;
        char text[256];
        snprintf(text, sizeof text, "base: qv100\n" LIMIT "divergence.mechanism: %s\n%s.label_line: %u\n",
                 mechanisms[m], mechanisms[m], line_of(&visits, "st.global"));
        open_machine(&f, text);
        load(&f, visits.text);
        assert_int_equal(launch(&f, 1, 32, true), STATUS_INVALID);
        expect_text(&f, "the module has no instruction in");
        finish(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_lanes_meet_at_the_label),
        cmocka_unit_test(a_label_that_removes_no_branch_changes_nothing),
        cmocka_unit_test(lanes_that_stay_together_are_not_held_up),
        cmocka_unit_test(a_block_barrier_beside_is_no_deadlock),
        cmocka_unit_test(a_label_that_is_in_no_loop_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
