/* SPDX-License-Identifier: Apache-2.0 */
/* The reconvergence stack, driven by scripted outcomes. What it does but for the order of sides, convergence barriers do
 * too. */
#include "scripted_warp.h"

static const char *const both[] = {"pdom", "barriers"};

/* [000 fig. 3.1] A 1111, B 1110, F 0001, C 1000, D 0110, E 1110, G 1111; thread 1 is bit 3. The second state is the stack of
 * fig. 3.1 (c), the third (d), the fifth (e). */
static void pdom_follows_the_published_example(void **state) {
    (void)state;
    struct scripted f;
    enum { A, F, B, D, C, E, G };
    setup(&f, "pdom", 0xf);
    f.blocks = "AFBDCEG";
    f.code[A].reconverge = G;
    f.code[B].reconverge = E;
    expect_state(&f, A, 0xf, NO_PC, "AAAA");
    issue(&f, FLOW_BRANCH, 0xe, B);
    expect_state(&f, B, 0xe, G, "BBBF");
    issue(&f, FLOW_BRANCH, 0x8, C);
    expect_state(&f, C, 0x8, E, "CDDF");
    issue(&f, FLOW_NEXT, 0, 0);
    expect_state(&f, D, 0x6, E, "EDDF");
    issue(&f, FLOW_BRANCH, 0x6, E);
    expect_state(&f, E, 0xe, G, "EEEF");
    issue(&f, FLOW_NEXT, 0, 0);
    expect_state(&f, F, 0x1, G, "GGGF");
    issue(&f, FLOW_BRANCH, 0x1, G);
    expect_state(&f, G, 0xf, NO_PC, "GGGG");
    issue(&f, FLOW_EXIT, 0xf, 0);
    expect_nothing(&f);
}

/* [000 fig. 4.1] Two warps, x and y, on the paths of test_dwf's example: without forming warps anew it takes 14 groups; thread
 * 1 is bit 3. B 1110/0011, C 1000/0010, D 0110/0001, F 0001/1100. */
static void pdom_needs_14_groups_for_the_published_example(void **state) {
    (void)state;
    enum { A, F, B, D, C, E, G };
    static const uint32_t to_b[] = {0xe, 0x3}, to_c[] = {0x8, 0x2};
    unsigned groups = 0, threads = 0;
    for (unsigned warp = 0; warp < 2; warp++) {
        struct scripted f;
        struct group group;
        setup(&f, "pdom", 0xf);
        f.code[A].reconverge = G;
        f.code[B].reconverge = E;
        for (; f.ops->offer(f.self, 0, &group); groups++) {
            threads += bits_count(group.lanes);
            switch (group.pc) {
            case A: issue(&f, FLOW_BRANCH, to_b[warp], B); break;
            case B: issue(&f, FLOW_BRANCH, to_c[warp], C); break;
            case C:
            case E: issue(&f, FLOW_NEXT, 0, 0); break;
            case D: issue(&f, FLOW_BRANCH, group.lanes, E); break;
            case F: issue(&f, FLOW_BRANCH, group.lanes, G); break;
            default: issue(&f, FLOW_EXIT, group.lanes, 0); break;
            }
        }
        expect_nothing(&f);
    }
    assert_int_equal(groups, 14);
    assert_int_equal(threads, 34);
}

/* [002 fig. 2.2] A 1111, B 1011, C 0100, D 1111: push the join (D, 1111), push (C, 0100), run B, pop, run C, pop, run D. */
static void hammock(const char *name) {
    struct scripted f;
    enum { A, C, B, D };
    setup(&f, name, 0xf);
    f.blocks = "ACBD";
    f.code[A].reconverge = D;
    expect_state(&f, A, 0xf, NO_PC, "AAAA");
    issue(&f, FLOW_BRANCH, 0xb, B);
    expect_state(&f, B, 0xb, D, "BCBB");
    issue(&f, FLOW_NEXT, 0, 0);
    expect_state(&f, C, 0x4, D, "DCDD");
    issue(&f, FLOW_BRANCH, 0x4, D);
    expect_state(&f, D, 0xf, NO_PC, "DDDD");
    issue(&f, FLOW_EXIT, 0xf, 0);
    expect_nothing(&f);
}

static void loop_adds_no_entry(const char *name) {
    struct scripted f;
    setup(&f, name, 0xff);
    f.code[1].reconverge = 2;
    issue(&f, FLOW_NEXT, 0, 0);
    uint32_t lanes = 0xff;
    while (lanes) { /* one lane leaves in each turn; more turns than the stack would hold */
        expect(&f, 1, lanes);
        const uint32_t stay = lanes & (lanes - 1);
        issue(&f, FLOW_BRANCH, stay, 1);
        lanes = stay;
    }
    expect(&f, 2, 0xff);
    issue(&f, FLOW_EXIT, 0xff, 0);
    expect_nothing(&f);
}

static void exit_clears_lanes_from_every_entry(const char *name) {
    struct scripted f;
    setup(&f, name, 0xf);
    f.code[0].reconverge = NO_PC;
    issue(&f, FLOW_BRANCH, 0x3, 8);
    expect(&f, 8, 0x3);
    issue(&f, FLOW_EXIT, 0x1, 0);
    expect(&f, 9, 0x2);
    issue(&f, FLOW_EXIT, 0x2, 0);
    expect(&f, 1, 0xc);
    issue(&f, FLOW_EXIT, 0xc, 0);
    expect_nothing(&f);
}

static void meets_at_the_return_when_lanes_part_in_a_function(const char *name) {
    struct scripted f;
    setup(&f, name, 0xf);
    f.code[20].reconverge = NO_PC;
    issue(&f, FLOW_CALL, 0xf, 20);
    expect(&f, 20, 0xf);
    issue(&f, FLOW_BRANCH, 0x3, 30);
    expect(&f, 30, 0x3);
    issue(&f, FLOW_RETURN, 0x3, 1);
    expect(&f, 21, 0xc);
    issue(&f, FLOW_RETURN, 0xc, 1);
    expect(&f, 1, 0xf);
    issue(&f, FLOW_EXIT, 0xf, 0);
    expect_nothing(&f);
}

/* Lanes that return early under a guard wait for the others; if those end instead, they go on alone. */
static void guarded_return_waits_for_the_rest(const char *name) {
    for (unsigned others_exit = 0; others_exit < 2; others_exit++) {
        struct scripted f;
        setup(&f, name, 0xf);
        issue(&f, FLOW_CALL, 0xf, 20);
        issue(&f, FLOW_RETURN, 0x5, 1);
        expect(&f, 21, 0xa);
        if (others_exit) {
            issue(&f, FLOW_EXIT, 0xa, 0);
            expect(&f, 1, 0x5);
            issue(&f, FLOW_EXIT, 0x5, 0);
        } else {
            issue(&f, FLOW_RETURN, 0xa, 1);
            expect(&f, 1, 0xf);
            issue(&f, FLOW_EXIT, 0xf, 0);
        }
        expect_nothing(&f);
    }
}

/* The same PC at another call depth is not the meeting point. */
static void compares_call_depth(const char *name) {
    struct scripted f;
    setup(&f, name, 0x3);
    f.code[20].reconverge = 22;
    issue(&f, FLOW_CALL, 0x3, 20);
    issue(&f, FLOW_BRANCH, 0x1, 21); /* lane 0 at 21, lane 1 waits at 21 too: not-taken side is pc + 1 = 21 */
    expect(&f, 21, 0x1);
    issue(&f, FLOW_CALL, 0x1, 20); /* recursion: one deeper */
    expect(&f, 20, 0x1);
    issue(&f, FLOW_NEXT, 0, 0);
    issue(&f, FLOW_NEXT, 0, 0);
    expect(&f, 22, 0x1); /* passes 22 at depth 2 without joining */
    issue(&f, FLOW_RETURN, 0x1, 22);
    expect(&f, 21, 0x2); /* now at 22, depth 1: waits for lane 1 */
    issue(&f, FLOW_NEXT, 0, 0);
    expect(&f, 22, 0x3);
    issue(&f, FLOW_RETURN, 0x3, 1);
    expect(&f, 1, 0x3);
    issue(&f, FLOW_EXIT, 0x3, 0);
    expect_nothing(&f);
}

static void many_targets_run_lowest_first(const char *name) {
    struct scripted f;
    setup(&f, name, 0x7);
    f.code[0].reconverge = 40;
    struct executed executed = {
        .flow = FLOW_MULTI, .pc = 0, .issues = 1, .lanes = 0x7, .taken = 0x7, .next = {30, 10, 20}};
    const struct group group = {.pc = 0, .lanes = 0x7, .stop_pc = NO_PC};
    f.ops->issued(f.self, 0, &group, &executed);
    expect(&f, 10, 0x2);
    issue(&f, FLOW_BRANCH, 0x2, 40);
    expect(&f, 20, 0x4);
    issue(&f, FLOW_BRANCH, 0x4, 40);
    expect(&f, 30, 0x1);
    issue(&f, FLOW_BRANCH, 0x1, 40);
    expect(&f, 40, 0x7);
    issue(&f, FLOW_EXIT, 0x7, 0);
    expect_nothing(&f);
}

static void both_do_the_same(void **state) {
    (void)state;
    static void (*const tests[])(const char *) = {
        hammock,
        loop_adds_no_entry,
        exit_clears_lanes_from_every_entry,
        meets_at_the_return_when_lanes_part_in_a_function,
        guarded_return_waits_for_the_rest,
        compares_call_depth,
        many_targets_run_lowest_first,
    };
    for (unsigned m = 0; m < sizeof both / sizeof both[0]; m++)
        for (unsigned i = 0; i < sizeof tests / sizeof tests[0]; i++)
            tests[i](both[m]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pdom_follows_the_published_example),
        cmocka_unit_test(pdom_needs_14_groups_for_the_published_example),
        cmocka_unit_test(both_do_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
