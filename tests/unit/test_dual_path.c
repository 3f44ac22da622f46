/* SPDX-License-Identifier: Apache-2.0 */
/* Dual-path execution: the rules driven by scripted outcomes, and runs in time beside pdom. */
#include "path_slots.h"

static void both_sides_are_offered_and_meet(void **state) {
    (void)state;
    struct scripted s;
    begin(&s, "dual-path", NULL, 0xf, 2);
    expect_path(&s, 0, 0, 0xf);
    expect_no_path(&s, 1);
    assert_int_equal(issue_at(&s, 0, 2, FLOW_BRANCH, 0x5, 8), 3);
    expect_path(&s, 0, 8, 0x5); /* the side that is taken stays in its slot */
    expect_path(&s, 1, 3, 0xa);
    s.ops->paths->moved(s.self, 0, 9);
    assert_int_equal(issue_at(&s, 1, 19, FLOW_NEXT, 0, 0), 3); /* the other one is at the meeting first */
    expect_path(&s, 0, 9, 0x5);
    expect_no_path(&s, 1);
    assert_int_equal(issue_at(&s, 0, 19, FLOW_NEXT, 0, 0), 3);
    expect_path(&s, 0, 20, 0xf); /* in the slot of who came last */
    expect_no_path(&s, 1);
    assert_int_equal(counter(&s, "pairs"), 1);
    assert_int_equal(counter(&s, "alone"), 0);
    assert_int_equal(counter(&s, "stack_largest"), 3);
    /* 0 to 2 alone; 8 and 3 to 19 beside another; 9 to 19 alone */
    assert_int_equal(counter(&s, "runs"), 3 + 1 + 17 + 11);
    assert_int_equal(counter(&s, "paths_offered"), 3 + 2 * (1 + 17) + 11);
    arena_free(&s.arena);
}

/* A side that diverges again has both slots until its own sides have met. */
static void sibling_waits_while_a_side_has_parted_again(void **state) {
    (void)state;
    struct scripted s;
    begin(&s, "dual-path", NULL, 0xff, 2);
    issue_at(&s, 0, 2, FLOW_BRANCH, 0x0f, 8);
    s.ops->paths->moved(s.self, 1, 4);
    assert_int_equal(issue_at(&s, 0, 10, FLOW_BRANCH, 0x03, 12), 3);
    expect_path(&s, 0, 12, 0x03);
    expect_path(&s, 1, 11, 0x0c);
    issue_at(&s, 0, 13, FLOW_NEXT, 0, 0);
    expect_no_path(&s, 0); /* not yet the sibling, 4 with 0xf0 */
    expect_path(&s, 1, 11, 0x0c);
    issue_at(&s, 1, 13, FLOW_NEXT, 0, 0);
    expect_path(&s, 1, 14, 0x0f);
    expect_path(&s, 0, 4, 0xf0);
    arena_free(&s.arena);
}

/* A loop whose lanes leave one by one has one path; neither it nor an if without else lets the sibling in. */
static void side_at_the_meeting_is_none(void **state) {
    (void)state;
    struct scripted s;
    begin(&s, "dual-path", NULL, 0xff, 2);
    assert_int_equal(issue_at(&s, 0, 2, FLOW_BRANCH, 0xc0, 20), 3); /* those are at 20 already */
    expect_path(&s, 0, 3, 0x3f);
    expect_no_path(&s, 1);
    assert_int_equal(counter(&s, "alone"), 1);
    issue_at(&s, 0, 5, FLOW_BRANCH, 0x30, 8); /* meets at 20 too */
    expect_path(&s, 0, 8, 0x30);
    expect_path(&s, 1, 6, 0x0f);
    s.code[8].reconverge = 20;
    issue_at(&s, 0, 8, FLOW_BRANCH, 0x10, 20); /* a new entry of one side: its sibling, 0x0f, waits */
    expect_path(&s, 0, 9, 0x20);
    expect_no_path(&s, 1);
    issue_at(&s, 0, 19, FLOW_NEXT, 0, 0);
    expect_path(&s, 0, 6, 0x0f);
    issue_at(&s, 0, 19, FLOW_NEXT, 0, 0);
    expect_path(&s, 0, 20, 0xff);
    arena_free(&s.arena);
}

static void path_at_a_barrier_leaves_the_other_running(void **state) {
    (void)state;
    for (unsigned paths = 1; paths <= 2; paths++) {
        struct scripted s;
        begin(&s, "dual-path", NULL, 0xf, paths);
        issue_at(&s, 0, 2, FLOW_BRANCH, 0x3, 8);
        issue_at(&s, 0, 8, FLOW_BARRIER, 0x3, 0);
        s.ops->waiting->wait(s.self, 0, 0x3);
        if (paths == 2)
            expect_no_path(&s, 0);
        expect_path(&s, paths - 1, 3, 0xc);
        issue_at(&s, paths - 1, 19, FLOW_NEXT, 0, 0);
        expect_no_path(&s, paths - 1);
        s.ops->waiting->go_on(s.self, 0, 0x3);
        expect_path(&s, 0, 9, 0x3);
        issue_at(&s, 0, 12, FLOW_EXIT, 0x3, 0);
        assert_int_equal(s.ops->alive(s.self, 0), 0xc);
        expect_path(&s, 0, 20, 0xc);
        arena_free(&s.arena);
    }
}

/* ---- in time ---- */

static void one_path_is_pdom(void **state) {
    (void)state;
    for (unsigned m = 0; m < sizeof scoreboards / sizeof scoreboards[0]; m++) {
        char settings[512];
        snprintf(settings, sizeof settings, "%sdivergence.mechanism: dual-path\ndual-path.paths: 1\n", scoreboards[m]);
        expect_same(scoreboards[m], settings, "pdom and one path");
    }
}

static void two_paths_issue_the_groups_of_pdom(void **state) {
    (void)state;
    expect_groups_of_pdom("divergence.mechanism: dual-path\n", true);
}

static void a_side_does_not_wait_for_the_other_sides_loads(void **state) {
    (void)state;
    uint64_t one, two;
    groups_of(&sides, "base: gtx480\nsm.count: 1\ninstruction_cache.perfect: true\n" LIMIT, &one);
    groups_of(&sides,
              "base: gtx480\nsm.count: 1\ninstruction_cache.perfect: true\ndivergence.mechanism: dual-path\n" LIMIT,
              &two);
    assert_true(two + 100 < one); /* the latency of one load of the two */
}

/* No branch has an else: there is one path at any time. */
static void if_without_else_is_pdom(void **state) {
    (void)state;
    static const struct program_text text = {
        "if without else",
        KERNEL("",
               "and.b32 %r4, %r1, 7;\nmov.u32 %r5, 0;\nL: setp.lt.u32 %p1, %r4, %r5;\n@%p1 bra E;\nsetp.lt.u32 %p2, "
               "%r5, 3;\n@%p2 bra S;\nld.global.u32 %r6, [%rd3];\nadd.u32 %r7, %r7, %r6;\nS: add.u32 %r5, %r5, "
               "1;\nbra L;\nE: st.global.u32 [%rd3], %r7;\nret;"),
        8, 128};
    for (unsigned m = 0; m < sizeof scoreboards / sizeof scoreboards[0]; m++) {
        char settings[512];
        uint64_t one, two;
        snprintf(settings, sizeof settings, "%sdivergence.mechanism: dual-path\n", scoreboards[m]);
        groups_of(&text, scoreboards[m], &one);
        groups_of(&text, settings, &two);
        assert_int_equal(one, two);
    }
}

static void other_pipelines_are_refused(void **state) {
    (void)state;
    static const char *const keys[][2] = {{"sm.pipeline: barrel\n", "sm.pipeline=barrel"},
                                          {"sm.pipeline: one-cycle\n", "sm.pipeline=one-cycle"},
                                          {"sm.pipeline: control-bits\n", "set sm.pipeline=scoreboard"},
                                          {"sm.branch_cycles: 3\n", "sm.branch_cycles=3"}};
    for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct machine machine = {0};
        struct report report = {0};
        char settings[256];
        snprintf(settings, sizeof settings, "base: gtx480\ndivergence.mechanism: dual-path\n%s", keys[i][0]);
        enum status status = machine_open_text(&machine, "test.yaml", settings, strlen(settings), &report);
        if (status == STATUS_OK)
            status = machine_check(&machine, &report);
        assert_int_equal(status, STATUS_INVALID);
        assert_non_null(strstr(report_text(&report), keys[i][1]));
        machine_close(&machine);
        report_free(&report);
    }
    struct fixture f; /* 96 warps of 2 paths */
    open_machine(&f, "base: gtx480\nsm.warp_size: 8\nsm.max_warps: 96\nsm.max_threads: 768\ndivergence.mechanism: "
                     "dual-path\n");
    load(&f, programs[0].text);
    assert_int_equal(launch(&f, 40, 256, true), STATUS_INVALID);
    expect_text(&f, "2 paths of each of 96 warps need more issue slots than the 128");
    finish(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_are_offered_and_meet),
        cmocka_unit_test(sibling_waits_while_a_side_has_parted_again),
        cmocka_unit_test(side_at_the_meeting_is_none),
        cmocka_unit_test(path_at_a_barrier_leaves_the_other_running),
        cmocka_unit_test(one_path_is_pdom),
        cmocka_unit_test(two_paths_issue_the_groups_of_pdom),
        cmocka_unit_test(a_side_does_not_wait_for_the_other_sides_loads),
        cmocka_unit_test(if_without_else_is_pdom),
        cmocka_unit_test(other_pipelines_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
