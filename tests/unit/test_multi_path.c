/* SPDX-License-Identifier: Apache-2.0 */
/* Multi-path execution: tables of splits and meetings driven by scripted outcomes, and runs in time beside pdom. */
#include "path_slots.h"

#define STACK_LIKE "multi-path.order: newest\nmulti-path.early: false\n"

/* The example of its walk-through: A parts into B and C, which meet at D. */
static void splits_meet_when_the_last_has_come(void **state) {
    (void)state;
    struct scripted s;
    begin(&s, "multi-path", NULL, 0xf, 2);
    assert_int_equal(issue_at(&s, 0, 2, FLOW_BRANCH, 0x5, 8), 3);
    expect_path(&s, 0, 8, 0x5);
    expect_path(&s, 1, 3, 0xa);
    assert_int_equal(counter(&s, "splits_largest"), 2);
    assert_int_equal(counter(&s, "waiting_largest"), 1);
    issue_at(&s, 1, 19, FLOW_NEXT, 0, 0);
    expect_no_path(&s, 1);
    expect_path(&s, 0, 8, 0x5);
    issue_at(&s, 0, 19, FLOW_NEXT, 0, 0);
    expect_path(&s, 0, 20, 0xf);
    expect_no_path(&s, 1);
    issue_at(&s, 0, 22, FLOW_EXIT, 0xf, 0);
    assert_int_equal(s.ops->alive(s.self, 0), 0);
    arena_free(&s.arena);
}

/* A side that diverges again does not stop the other, as it does with two paths on a stack. */
static void splits_of_all_depths_run(void **state) {
    (void)state;
    struct scripted s;
    begin(&s, "multi-path", NULL, 0xff, 3);
    issue_at(&s, 0, 2, FLOW_BRANCH, 0x0f, 8);
    assert_int_equal(issue_at(&s, 0, 10, FLOW_BRANCH, 0x03, 12), 7);
    expect_path(&s, 0, 12, 0x03);
    expect_path(&s, 1, 3, 0xf0);
    expect_path(&s, 2, 11, 0x0c);
    assert_int_equal(counter(&s, "splits_largest"), 3);
    assert_int_equal(counter(&s, "waiting_largest"), 2);
    issue_at(&s, 0, 13, FLOW_NEXT, 0, 0);
    expect_no_path(&s, 0);
    issue_at(&s, 2, 12, FLOW_EXIT, 0x0c, 0); /* nobody waits for who has ended */
    expect_path(&s, 2, 14, 0x03);
    issue_at(&s, 1, 19, FLOW_NEXT, 0, 0);
    issue_at(&s, 2, 19, FLOW_NEXT, 0, 0);
    expect_path(&s, 2, 20, 0xf3);
    arena_free(&s.arena);
}

/* Three splits and two slots: the third waits until one is free; who waits at a barrier gives its slot up. */
static void splits_wait_for_slots(void **state) {
    (void)state;
    static const char *const newest[] = {"multi-path.order=newest", NULL};
    struct scripted s;
    begin(&s, "multi-path", NULL, 0xff, 2);
    issue_at(&s, 0, 2, FLOW_BRANCH, 0x0f, 8);
    issue_at(&s, 0, 10, FLOW_BRANCH, 0x03, 12);
    expect_path(&s, 0, 12, 0x03);
    expect_path(&s, 1, 3, 0xf0);
    issue_at(&s, 1, 3, FLOW_BARRIER, 0xf0, 0);
    s.ops->waiting->wait(s.self, 0, 0xf0);
    expect_path(&s, 1, 11, 0x0c);
    issue_at(&s, 0, 13, FLOW_NEXT, 0, 0);
    expect_no_path(&s, 0);
    s.ops->waiting->go_on(s.self, 0, 0xf0);
    expect_path(&s, 0, 4, 0xf0);
    arena_free(&s.arena);
    begin(&s, "multi-path", newest, 0xff, 1); /* one slot, the newest: the order of a stack */
    issue_at(&s, 0, 2, FLOW_BRANCH, 0x0f, 8);
    issue_at(&s, 0, 10, FLOW_BRANCH, 0x03, 12);
    issue_at(&s, 0, 13, FLOW_NEXT, 0, 0);
    expect_path(&s, 0, 11, 0x0c);
    issue_at(&s, 0, 13, FLOW_NEXT, 0, 0);
    expect_path(&s, 0, 14, 0x0f);
    arena_free(&s.arena);
}

/* A split that branches to where another of its entry stands goes on with it; not one of another entry. */
static void splits_meet_early(void **state) {
    (void)state;
    static const char *const off[] = {"multi-path.early=false", NULL};
    for (unsigned early = 0; early < 2; early++) {
        struct scripted s;
        begin(&s, "multi-path", early ? NULL : off, 0xff, 4);
        issue_at(&s, 0, 2, FLOW_BRANCH, 0x0f, 8); /* 8 with 0x0f, 3 with 0xf0 */
        issue_at(&s, 1, 5, FLOW_BRANCH, 0x30,
                 16); /* meets at 20 too, so of the same entry: 16 with 0x30, 6 with 0xc0 */
        issue_at(&s, 0, 8, FLOW_BRANCH, 0x0f, 16);
        if (early)
            expect_path(&s, 0, 16, 0x3f);
        else
            expect_path(&s, 0, 16, 0x0f);
        assert_int_equal(counter(&s, "early"), early);
        arena_free(&s.arena);
    }
    struct scripted s;
    begin(&s, "multi-path", NULL, 0xff, 4);
    issue_at(&s, 0, 2, FLOW_BRANCH, 0x0f, 8);
    issue_at(&s, 0, 10, FLOW_BRANCH, 0x03, 12); /* of an inner entry */
    issue_at(&s, 1, 3, FLOW_BRANCH, 0xf0, 12);
    expect_path(&s, 0, 12, 0x03);
    expect_path(&s, 1, 12, 0xf0);
    assert_int_equal(counter(&s, "early"), 0);
    arena_free(&s.arena);
}

static void one_slot_newest_first_is_pdom(void **state) {
    (void)state;
    for (unsigned m = 0; m < sizeof scoreboards / sizeof scoreboards[0]; m++) {
        char settings[512];
        snprintf(settings, sizeof settings, "%sdivergence.mechanism: multi-path\nmulti-path.paths: 1\n" STACK_LIKE,
                 scoreboards[m]);
        expect_same(scoreboards[m], settings, "pdom and one path");
    }
}

static void without_early_meetings_the_groups_are_those_of_pdom(void **state) {
    (void)state;
    expect_groups_of_pdom("divergence.mechanism: multi-path\nmulti-path.paths: 1\nmulti-path.early: false\n", false);
    expect_groups_of_pdom("divergence.mechanism: multi-path\nmulti-path.early: false\n", true);
    expect_groups_of_pdom("sm.max_warps: 24\nsm.max_threads: 768\nsm.max_block_threads: 512\ndivergence.mechanism: "
                          "multi-path\nmulti-path.paths: 5\n" STACK_LIKE,
                          true);
}

/* if (a || b): lanes come to the work by two branches that meet behind it, and those that are there first wait for a load. */
static void early_meetings_issue_less(void **state) {
    (void)state;
    static const struct program_text text = {
        "a or b",
        KERNEL("", "ld.global.u32 %r5, [%rd3];\nand.b32 %r4, %r1, 1;\nsetp.ne.u32 %p1, %r4, 0;\n@%p1 bra W;\nand.b32 "
                   "%r4, %r1, "
                   "2;\nsetp.ne.u32 %p2, %r4, 0;\n@%p2 bra W;\nmov.u32 %r6, 1;\nbra.uni J;\nW: add.u32 %r6, %r5, "
                   "3;\nmul.lo.u32 %r6, %r6, 5;\nJ: st.global.u32 [%rd3], %r6;\nret;"),
        8, 64};
    uint64_t cycles;
    const struct groups off =
        groups_of(&text, "base: gtx480\ndivergence.mechanism: multi-path\nmulti-path.early: false\n" LIMIT, &cycles);
    const struct groups on = groups_of(&text, "base: gtx480\ndivergence.mechanism: multi-path\n" LIMIT, &cycles);
    assert_true(on.issues < off.issues);
    assert_false(on.overlap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_meet_when_the_last_has_come),
        cmocka_unit_test(splits_of_all_depths_run),
        cmocka_unit_test(splits_wait_for_slots),
        cmocka_unit_test(splits_meet_early),
        cmocka_unit_test(one_slot_newest_first_is_pdom),
        cmocka_unit_test(without_early_meetings_the_groups_are_those_of_pdom),
        cmocka_unit_test(early_meetings_issue_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
