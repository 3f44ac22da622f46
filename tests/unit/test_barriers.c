/* SPDX-License-Identifier: Apache-2.0 */
/* Convergence barriers, driven by scripted outcomes. */
#include "scripted_warp.h"

static void setup_yield(struct scripted *f, const char *setting) {
    memset(f, 0, sizeof *f);
    choose(f, "barriers", setting ? SETTINGS(setting) : NULL);
}

/* [000 fig. 3.1], as test_pdom has it: a side that waits where its lanes meet lets the side go on that waited longest. */
static void sides_take_turns_and_meet(void **state) {
    (void)state;
    struct scripted f;
    enum { A, F, B, D, C, E, G };
    setup(&f, "barriers", 0xf);
    f.blocks = "AFBDCEG";
    f.code[A].reconverge = G;
    f.code[B].reconverge = E;
    expect_state(&f, A, 0xf, NO_PC, "AAAA");
    issue(&f, FLOW_BRANCH, 0xe, B);
    expect_state(&f, B, 0xe, G, "BBBF");
    assert_int_equal(counter(&f, "registers_set"), 1);
    issue(&f, FLOW_BRANCH, 0x8, C);
    expect_state(&f, C, 0x8, E, "CDDF");
    assert_int_equal(counter(&f, "registers_set"), 2);
    issue(&f, FLOW_NEXT, 0, 0);
    expect_state(&f, F, 0x1, G, "EDDF");
    issue(&f, FLOW_BRANCH, 0x1, G);
    expect_state(&f, D, 0x6, E, "EDDG");
    issue(&f, FLOW_BRANCH, 0x6, E);
    assert_int_equal(counter(&f, "registers_met"), 0);
    expect_state(&f, E, 0xe, G, "EEEG");
    assert_int_equal(counter(&f, "registers_met"), 1);
    issue(&f, FLOW_NEXT, 0, 0);
    expect_state(&f, G, 0xf, NO_PC, "GGGG");
    assert_int_equal(counter(&f, "registers_met"), 2);
    assert_int_equal(counter(&f, "registers_largest"), 2);
    assert_int_equal(counter(&f, "paths_largest"), 3);
    assert_int_equal(counter(&f, "breaks"), 0);
    issue(&f, FLOW_EXIT, 0xf, 0);
    expect_nothing(&f);
}

static void loop_needs_one_register(void **state) {
    (void)state;
    struct scripted f;
    setup(&f, "barriers", 0xff);
    f.code[0].reconverge = 1;
    for (uint32_t stay = 0xfe; stay; stay &= stay - 1)
        issue(&f, FLOW_BRANCH, stay, 0);
    assert_int_equal(counter(&f, "registers_set"), 1);
    expect(&f, 0, 0x80);
    issue(&f, FLOW_BRANCH, 0, 0);
    expect(&f, 1, 0xff);
    issue(&f, FLOW_EXIT, 0xff, 0);
    expect_nothing(&f);
}

/* Branch n, at PC n, sends lane n away to 40 and meets at 63 - n: 20 deep. The last four find no register, so that their
 * sides meet where the sixteenth branch does. */
static void nest_deeper_than_the_registers(void **state) {
    (void)state;
    struct scripted f;
    enum { DEPTH = 20 };
    setup(&f, "barriers", 0x1fffff);
    for (unsigned i = 0; i < DEPTH; i++)
        f.code[i].reconverge = 63 - i;
    for (unsigned i = 0; i < DEPTH; i++) {
        expect(&f, i, 0x1fffff & ~bits_low(i));
        struct group group;
        f.ops->offer(f.self, 0, &group);
        struct executed executed = {
            .flow = FLOW_MULTI, .pc = i, .issues = 1, .lanes = group.lanes, .taken = group.lanes};
        for (unsigned lane = 0; lane < LANES_MAX; lane++)
            executed.next[lane] = lane == i ? 63 - i : i + 1;
        f.ops->issued(f.self, 0, &group, &executed);
    }
    assert_int_equal(counter(&f, "registers_set"), 16);
    assert_int_equal(counter(&f, "registers_largest"), 16);
    assert_int_equal(counter(&f, "registers_lacking"), 4);
    /* The lane left over and the four without a register go on one by one to where branch 15 meets, 48. */
    for (unsigned i = 0; i < 5; i++) {
        struct group group;
        assert_true(f.ops->offer(f.self, 0, &group));
        assert_int_equal(bits_count(group.lanes), 1);
        issue(&f, FLOW_BRANCH, group.lanes, 48);
    }
    for (unsigned i = 15; i > 0; i--) {
        expect(&f, 63 - i, 0x1fffff & ~bits_low(i));
        issue(&f, FLOW_NEXT, 0, 0);
    }
    expect(&f, 63, 0x1fffff);
    assert_int_equal(counter(&f, "registers_met"), 16);
    issue(&f, FLOW_EXIT, 0x1fffff, 0);
    expect_nothing(&f);
}

/* A lane that ends is not waited for: those who wait go on, and registers are free again. */
static void ends_open_registers(void **state) {
    (void)state;
    struct scripted f;
    setup(&f, "barriers", 0xf);
    f.code[0].reconverge = 5;
    issue(&f, FLOW_BRANCH, 0x3, 5);
    expect(&f, 1, 0xc);
    issue(&f, FLOW_EXIT, 0x8, 0);
    expect(&f, 2, 0x4);
    issue(&f, FLOW_EXIT, 0x4, 0);
    expect(&f, 5, 0x3);
    assert_int_equal(counter(&f, "breaks"), 2);
    f.code[5].reconverge = 9;
    issue(&f, FLOW_BRANCH, 0x1, 8);
    assert_int_equal(counter(&f, "registers_largest"), 1);
    issue(&f, FLOW_EXIT, 0x1, 0);
    expect(&f, 6, 0x2);
    issue(&f, FLOW_EXIT, 0x2, 0);
    expect_nothing(&f);
}

/* Lanes that return from the function in which they were to meet others leave that register. */
static void returns_leave_registers_of_the_function(void **state) {
    (void)state;
    struct scripted f;
    setup(&f, "barriers", 0xf);
    f.code[20].reconverge = 25;
    issue(&f, FLOW_CALL, 0xf, 20);
    issue(&f, FLOW_BRANCH, 0x3, 25);
    expect(&f, 21, 0xc);
    issue(&f, FLOW_RETURN, 0xc, 1);
    assert_int_equal(counter(&f, "breaks"), 2);
    expect(&f, 1, 0xc);
    issue(&f, FLOW_EXIT, 0xc, 0);
    expect(&f, 25, 0x3);
    issue(&f, FLOW_RETURN, 0x3, 1);
    expect(&f, 1, 0x3);
    issue(&f, FLOW_EXIT, 0x3, 0);
    expect_nothing(&f);
}

/* A straight run ends with the path's share while another could run, and only then. */
static void shares_end_straight_runs(void **state) {
    (void)state;
    struct scripted f;
    struct group group;
    setup_yield(&f, "barriers.yield_issues=5");
    start(&f, 0xf);
    f.code[0].reconverge = 50;
    assert_true(f.ops->offer(f.self, 0, &group));
    assert_int_equal(group.stop_pc, NO_PC);
    issue(&f, FLOW_BRANCH, 0x3, 10); /* the first of the five */
    assert_true(f.ops->offer(f.self, 0, &group));
    assert_int_equal(group.pc, 10);
    assert_int_equal(group.stop_pc, 14);
    struct executed run = {.flow = FLOW_NEXT, .pc = 13, .issues = 1, .lanes = 0x3};
    f.ops->issued(f.self, 0, &group, &run);
    expect(&f, 1, 0xc);
    f.ops->offer(f.self, 0, &group);
    assert_int_equal(group.stop_pc, 6);
    run = (struct executed){.flow = FLOW_BRANCH, .pc = 5, .issues = 1, .lanes = 0xc, .taken = 0xc, .target = 1};
    f.ops->issued(f.self, 0, &group, &run);
    expect(&f, 14, 0x3);
    assert_int_equal(counter(&f, "yields"), 2);
    issue(&f, FLOW_BRANCH, 0x3, 50); /* waits for the others, who have all the time */
    expect(&f, 1, 0xc);
    f.ops->offer(f.self, 0, &group);
    assert_int_equal(group.stop_pc, 50);
    assert_int_equal(counter(&f, "yields"), 2); /* who waits yields nothing */
    assert_int_equal(counter(&f, "switches"), 3);
    issue(&f, FLOW_BRANCH, 0xc, 50);
    expect(&f, 50, 0xf);
    issue(&f, FLOW_EXIT, 0xf, 0);
    expect_nothing(&f);
}

/* What a path issued while it was alone is not of its share, and lanes that wait for other threads may take their turn in the
 * middle of a run: how much of a run is told at once makes no difference. */
static void shares_are_the_same_told_at_once_or_one_by_one(void **state) {
    (void)state;
    for (unsigned at_once = 0; at_once < 2; at_once++) {
        struct scripted f;
        struct group group;
        setup_yield(&f, "barriers.yield_issues=5");
        f.code[4].reconverge = 50;
        start(&f, 0xf);
        assert_true(f.ops->offer(f.self, 0, &group));
        const struct executed run = {.flow = FLOW_NEXT, .pc = 3, .issues = 1, .lanes = 0xf};
        if (at_once)
            f.ops->issued(f.self, 0, &group, &run);
        else
            for (unsigned i = 0; i < 4; i++)
                issue(&f, FLOW_NEXT, 0, 0);
        issue(&f, FLOW_BRANCH, 0x3, 10); /* the first of its share of five */
        assert_true(f.ops->offer(f.self, 0, &group));
        assert_int_equal(group.stop_pc, 14);
        issue(&f, FLOW_BARRIER, 0x3, 0); /* the others have the slot */
        f.ops->waiting->wait(f.self, 0, 0x3);
        expect(&f, 5, 0xc);
        f.ops->offer(f.self, 0, &group);
        assert_int_equal(group.stop_pc, 10); /* those at the barrier may go on before that */
        arena_free(&f.arena);
    }
}

/* Lanes 0 and 1 wait at 5 for those that spin at 1. A loop that only computes may go on for ever; one with an atomic lets
 * them go after its share, and passes where it was to meet them. */
static void who_spins_is_not_waited_for(void **state) {
    (void)state;
    for (unsigned spins = 0; spins < 2; spins++) {
        struct scripted f;
        setup_yield(&f, "barriers.yield_issues=5");
        f.code[0].reconverge = 5;
        f.code[1].op = spins ? OP_ATOM : OP_ADD;
        start(&f, 0xf);
        issue(&f, FLOW_BRANCH, 0x3, 5);
        for (unsigned i = 0; i < 2; i++) {
            expect(&f, 1, 0xc);
            issue(&f, FLOW_NEXT, 0, 0);
            expect(&f, 2, 0xc);
            issue(&f, FLOW_BRANCH, 0xc, 1);
        }
        expect(&f, 1, 0xc);
        issue(&f, FLOW_NEXT, 0, 0);
        if (spins) {
            expect(&f, 5, 0x3);
            assert_int_equal(counter(&f, "breaks"), 2);
            issue(&f, FLOW_EXIT, 0x3, 0);
        }
        expect(&f, 2, 0xc);
        issue(&f, FLOW_BRANCH, 0xc, 5);
        expect(&f, 5, spins ? 0xc : 0xf);
        issue(&f, FLOW_EXIT, 0xf, 0);
        expect_nothing(&f);
    }
}

static void nanosleep_yields(void **state) {
    (void)state;
    struct scripted f;
    setup_yield(&f, "barriers.yield_issues=1000");
    f.code[0].reconverge = 50;
    f.code[10].op = OP_NANOSLEEP;
    start(&f, 0xf);
    issue(&f, FLOW_BRANCH, 0x3, 10);
    struct group group;
    assert_true(f.ops->offer(f.self, 0, &group));
    assert_int_equal(group.stop_pc, 11);
    issue(&f, FLOW_NEXT, 0, 0);
    expect(&f, 1, 0xc);
    issue(&f, FLOW_EXIT, 0xc, 0);
    expect(&f, 11, 0x3);
    issue(&f, FLOW_EXIT, 0x3, 0);
    expect_nothing(&f);
}

/* Lanes that wait for other threads make room; those that go on together are one path again where they are at the same
 * place; a run ends before an operation that waits. */
static void lanes_wait_on_their_own(void **state) {
    (void)state;
    struct scripted f;
    struct group group;
    setup_yield(&f, NULL);
    f.code[0].reconverge = 50;
    f.code[12].op = OP_VOTE, f.code[12].flags = FLAG_SYNC;
    start(&f, 0xff);
    issue(&f, FLOW_BRANCH, 0xf, 10);
    assert_true(f.ops->offer(f.self, 0, &group));
    assert_int_equal(group.stop_pc, 12);
    issue(&f, FLOW_BARRIER, 0x3, 0); /* of the group, lanes 2 and 3 have a false guard */
    f.ops->waiting->wait(f.self, 0, 0x3);
    expect(&f, 11, 0xc);
    issue(&f, FLOW_BRANCH, 0xc, 11);
    f.ops->waiting->wait(f.self, 0, 0xc);
    expect(&f, 1, 0xf0);
    assert_int_equal(f.ops->waiting->go_on(f.self, 0, 0x7), 0); /* the slot has something to issue already */
    issue(&f, FLOW_BARRIER, 0xf0, 0);
    f.ops->waiting->wait(f.self, 0, 0xf0);
    expect(&f, 11, 0x7);
    issue(&f, FLOW_EXIT, 0x7, 0);
    assert_false(f.ops->offer(f.self, 0, &group));
    assert_int_equal(f.ops->alive(f.self, 0), 0xf8);
    assert_int_equal(f.ops->waiting->go_on(f.self, 0, 0xf8), 1);
    expect(&f, 11, 0x8);
    issue(&f, FLOW_EXIT, 0x8, 0);
    expect(&f, 2, 0xf0);
    issue(&f, FLOW_EXIT, 0xf0, 0);
    expect_nothing(&f);
}

/* Lanes 0 and 1 wait at a block barrier, the others at 50 for them: they are let go, for the barrier may need them. */
static void who_waits_for_others_is_not_waited_for(void **state) {
    (void)state;
    struct scripted f;
    setup(&f, "barriers", 0xf);
    f.code[0].reconverge = 50;
    issue(&f, FLOW_BRANCH, 0x3, 10);
    issue(&f, FLOW_BARRIER, 0x3, 0);
    f.ops->waiting->wait(f.self, 0, 0x3);
    expect(&f, 1, 0xc);
    issue(&f, FLOW_BRANCH, 0xc, 50);
    expect(&f, 50, 0xc);
    issue(&f, FLOW_BARRIER, 0xc, 0);
    f.ops->waiting->wait(f.self, 0, 0xc);
    assert_int_equal(f.ops->waiting->go_on(f.self, 0, 0xf), 1);
    expect(&f, 51, 0xc);
    issue(&f, FLOW_EXIT, 0xc, 0);
    expect(&f, 11, 0x3);
    issue(&f, FLOW_BRANCH, 0x3, 50);
    expect(&f, 50, 0x3);
    issue(&f, FLOW_EXIT, 0x3, 0);
    expect_nothing(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sides_take_turns_and_meet),
        cmocka_unit_test(loop_needs_one_register),
        cmocka_unit_test(nest_deeper_than_the_registers),
        cmocka_unit_test(ends_open_registers),
        cmocka_unit_test(returns_leave_registers_of_the_function),
        cmocka_unit_test(shares_end_straight_runs),
        cmocka_unit_test(shares_are_the_same_told_at_once_or_one_by_one),
        cmocka_unit_test(who_spins_is_not_waited_for),
        cmocka_unit_test(nanosleep_yields),
        cmocka_unit_test(lanes_wait_on_their_own),
        cmocka_unit_test(who_waits_for_others_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
