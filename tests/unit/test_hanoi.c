/* SPDX-License-Identifier: Apache-2.0 */
/* Hanoi, driven by scripted outcomes: the examples and rules of arXiv 2407.02944, and PTX beside pdom. */
#include "scripted_warp.h"

#include "timed_programs.h"

/* What threads hold: a guard for every PC, one general register for all lanes. */
struct held {
    uint32_t guards[CODE], reg;
};

static uint32_t guard(const void *self, unsigned warp, uint32_t pc) {
    (void)warp;
    return ~((const struct held *)self)->guards[pc]; /* 0 where nothing is written: it holds */
}
static uint32_t members(const void *self, unsigned thread, uint32_t pc) {
    (void)thread, (void)pc;
    return ((const struct held *)self)->reg;
}
static void give(void *self, unsigned warp, uint32_t pc, uint32_t lanes, uint32_t value) {
    (void)warp, (void)pc, (void)lanes;
    ((struct held *)self)->reg = value;
}

struct native {
    struct scripted s;
    struct held held;
    struct executor executor;
    struct operand numbers[CODE];
};

static void begin(struct native *n, const char *const *settings) {
    memset(n, 0, sizeof *n);
    n->executor = (struct executor){.self = &n->held, .guard = guard, .members = members, .give = give};
    n->s.executor = &n->executor;
    choose(&n->s, "hanoi", settings);
    for (unsigned pc = 0; pc < CODE; pc++)
        n->s.code[pc] = (struct inst){.op = OP_NOP, .guard = -1, .reconverge = NO_PC};
}

static void put(struct native *n, uint32_t pc, enum op op, unsigned reg, uint32_t target) {
    n->numbers[pc] = (struct operand){.kind = OPERAND_IMM, .imm = reg};
    n->s.code[pc] = (struct inst){
        .op = (uint16_t)op, .guard = -1, .target = target, .src = &n->numbers[pc], .src_count = 1, .reconverge = NO_PC};
}

static void next(struct native *n) { issue(&n->s, FLOW_NEXT, 0, 0); }

/* Runs up to that PC, which lanes of the top come to without a branch. */
static void run_to(struct native *n, uint32_t pc, uint32_t lanes) {
    struct group group;
    for (unsigned i = 0; i < CODE && n->s.ops->offer(n->s.self, 0, &group) && group.pc != pc; i++)
        next(n);
    expect(&n->s, pc, lanes);
}

static void finish_warp(struct native *n, uint32_t lanes) {
    issue(&n->s, FLOW_EXIT, lanes, 0);
    expect_nothing(&n->s);
}

/* A: BSSY B0; BMOV R0, B0; threads 2 and 3 part again, with B0, and meet; BMOV B0, R0; BSYNC B0. */
static void nested_with_one_register(void **state) {
    (void)state;
    struct native n;
    begin(&n, NULL);
    put(&n, 0, OP_BSSY, 0, 20);
    put(&n, 1, OP_BMOV, 0, 0);
    put(&n, 10, OP_BSSY, 0, 15);
    put(&n, 14, OP_BSYNC, 0, 0);
    put(&n, 16, OP_BMOV_BACK, 0, 0);
    put(&n, 19, OP_BSYNC, 0, 0);
    start(&n.s, 0xf);
    next(&n); /* BSSY */
    next(&n);
    assert_int_equal(n.held.reg, 0xf);
    expect(&n.s, 2, 0xf);
    issue(&n.s, FLOW_BRANCH, 0xc, 10);
    expect(&n.s, 10, 0xc); /* a tie: taken first */
    next(&n);
    issue(&n.s, FLOW_BRANCH, 0x8, 13);
    run_to(&n, 14, 0x8);
    next(&n);
    expect(&n.s, 12, 0x4);
    run_to(&n, 14, 0x4);
    next(&n);
    expect(&n.s, 15, 0xc); /* E: both of B */
    run_to(&n, 19, 0xc);
    next(&n);
    expect(&n.s, 3, 0x3);
    issue(&n.s, FLOW_BRANCH, 0x3, 19);
    next(&n);
    expect(&n.s, 20, 0xf);
    assert_int_equal(counter(&n.s, "met"), 2);
    assert_int_equal(counter(&n.s, "rec_largest"), 2);
    finish_warp(&n, 0xf);
}

/* BSSY B0 for B and BSSY B1 for D. In C thread 0 will not come to B: BREAK B0. Threads 1 to 3 meet in B, thread 0 joins in D. */
static void meeting_before_the_post_dominator(void **state) {
    (void)state;
    struct native n;
    enum { B = 20, D = 30 };
    begin(&n, NULL);
    put(&n, 0, OP_BSSY, 1, D + 1);
    put(&n, 1, OP_BSSY, 0, B + 1);
    put(&n, 5, OP_BREAK, 0, 0);
    put(&n, B, OP_BSYNC, 0, 0);
    put(&n, D, OP_BSYNC, 1, 0);
    n.held.guards[5] = ~UINT32_C(1); /* only of thread 0 */
    start(&n.s, 0xf);
    run_to(&n, 2, 0xf);
    issue(&n.s, FLOW_BRANCH, 0xc, B); /* threads 2 and 3 are in B */
    next(&n);
    expect(&n.s, 3, 0x3);
    run_to(&n, 5, 0x3);
    next(&n);
    expect(&n.s, 6, 0x3);
    assert_int_equal(counter(&n.s, "broken"), 1);
    issue(&n.s, FLOW_BRANCH, 0x2, B);
    expect(&n.s, B, 0x2);
    next(&n);
    expect(&n.s, B + 1, 0xe); /* B0 has been met without thread 0 */
    run_to(&n, D, 0xe);
    next(&n);
    expect(&n.s, 7, 0x1);
    issue(&n.s, FLOW_BRANCH, 0x1, D);
    next(&n);
    expect(&n.s, D + 1, 0xf);
    finish_warp(&n, 0xf);
}

/* Thread 3 has the lock and leaves the loop; 0, 1 and 2, which are more, go back and yield to it. Without a YIELD they never
 * stop. */
static void spin_lock(void **state) {
    (void)state;
    for (unsigned yields = 0; yields < 2; yields++) {
        struct native n;
        begin(&n, NULL);
        put(&n, 0, OP_BSSY, 0, 11);
        put(&n, 1, yields ? OP_YIELD : OP_NOP, 0, 0);
        put(&n, 10, OP_BSYNC, 0, 0); /* behind the release */
        start(&n.s, 0xf);
        next(&n);
        unsigned waiting = 0x7, owner = 0x8, turns = 0;
        next(&n);
        expect(&n.s, 2, 0xf);
        issue(&n.s, FLOW_BRANCH, 0x7, 1);
        for (; !yields && turns < 100; turns++) { /* nobody else ever runs */
            expect(&n.s, 1, 0x7);
            next(&n);
            issue(&n.s, FLOW_BRANCH, 0x7, 1);
        }
        while (yields && waiting) {
            expect(&n.s, 1, waiting);
            next(&n);
            expect(&n.s, 3, owner); /* the critical section */
            run_to(&n, 10, owner);
            next(&n);
            expect(&n.s, 2, waiting); /* behind the YIELD: the next of them gets the lock */
            owner = 1u << (31 - (unsigned)__builtin_clz(waiting));
            waiting &= ~owner;
            issue(&n.s, FLOW_BRANCH, waiting, 1);
            if (bits_count(waiting) == 1 && owner != 1) /* a tie: those who go back run first */
                expect(&n.s, 1, waiting);
        }
        if (yields) {
            run_to(&n, 10, 1);
            next(&n);
            expect(&n.s, 11, 0xf);
            assert_int_equal(counter(&n.s, "yields"), 3);
            finish_warp(&n, 0xf);
        } else {
            assert_int_equal(counter(&n.s, "yields"), 0);
            arena_free(&n.s.arena);
        }
    }
}

/* A YIELD of paths that will not come to the topmost meeting does nothing. */
static void only_siblings_take_turns(void **state) {
    (void)state;
    struct native n;
    begin(&n, NULL);
    put(&n, 0, OP_BSSY, 0, 31);
    put(&n, 10, OP_BSSY, 1, 21);
    put(&n, 12, OP_YIELD, 0, 0);
    put(&n, 20, OP_BSYNC, 1, 0);
    put(&n, 30, OP_BSYNC, 0, 0);
    start(&n.s, 0xff);
    next(&n);
    issue(&n.s, FLOW_BRANCH, 0x3f, 10);
    next(&n);
    issue(&n.s, FLOW_BRANCH, 0xf, 20); /* four wait, two are left of those that B1 has */
    expect(&n.s, 20, 0xf);
    next(&n);
    expect(&n.s, 12, 0x30);
    next(&n);
    expect(&n.s, 13, 0x30); /* 0xc0 below has nothing to do with B1 */
    run_to(&n, 20, 0x30);
    next(&n);
    run_to(&n, 30, 0x3f);
    next(&n);
    expect(&n.s, 2, 0xc0);
    assert_int_equal(counter(&n.s, "yields"), 0);
    issue(&n.s, FLOW_EXIT, 0xc0, 0); /* who ends is not waited for */
    expect(&n.s, 31, 0x3f);
    finish_warp(&n, 0x3f);
}

static void side_with_more_lanes_runs_first(void **state) {
    (void)state;
    static const struct {
        const char *setting;
        uint32_t taken, first;
    } cases[] = {{"hanoi.first=majority", 0x7, 0x7}, {"hanoi.first=majority", 0x1, 0xe},
                 {"hanoi.first=majority", 0x3, 0x3}, {"hanoi.first=taken", 0x1, 0x1},
                 {"hanoi.first=fewest", 0x7, 0x8},   {"hanoi.first=fewest", 0x1, 0x1}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct native n;
        begin(&n, SETTINGS(cases[i].setting));
        put(&n, 0, OP_BSSY, 2, 40);
        put(&n, 39, OP_BSYNC, 2, 0);
        start(&n.s, 0xf);
        next(&n);
        issue(&n.s, FLOW_BRANCH, cases[i].taken, 20);
        expect(&n.s, cases[i].first == cases[i].taken ? 20 : 2, cases[i].first);
        run_to(&n, 39, cases[i].first);
        next(&n);
        run_to(&n, 39, 0xf & ~cases[i].first);
        next(&n);
        expect(&n.s, 40, 0xf);
        finish_warp(&n, 0xf);
    }
}

/* A barrier that BREAK has emptied goes without anybody. Lanes that wait at a BSYNC of another register do not open it. */
static void register_decides_who_passes(void **state) {
    (void)state;
    struct native n;
    begin(&n, NULL);
    put(&n, 0, OP_BSSY, 3, 21);
    put(&n, 1, OP_BSSY, 4, 31);
    put(&n, 2, OP_BREAK, 4, 0);
    put(&n, 20, OP_BSYNC, 3, 0);
    start(&n.s, 0x3);
    run_to(&n, 3, 0x3);
    issue(&n.s, FLOW_BRANCH, 0x1, 20);
    next(&n);
    expect(&n.s, 4, 0x2);
    run_to(&n, 20, 0x2);
    next(&n);
    expect(&n.s, 21, 0x3);
    finish_warp(&n, 0x3);
    begin(&n, NULL);
    put(&n, 0, OP_BSSY, 3, 21);
    put(&n, 20, OP_BSYNC, 5, 0);
    start(&n.s, 0x3);
    run_to(&n, 20, 0x3);
    next(&n);
    struct group group;
    assert_false(n.s.ops->offer(n.s.self, 0, &group)); /* nobody has set B5, and nobody is at B3 */
    assert_int_equal(n.s.ops->alive(n.s.self, 0), 0x3);
    arena_free(&n.s.arena);
}

/* A path at a block barrier lets its sibling run; where there is none the warp waits. */
static void block_barrier_yields_to_a_sibling(void **state) {
    (void)state;
    struct native n;
    struct group group;
    begin(&n, NULL);
    put(&n, 0, OP_BSSY, 0, 31);
    put(&n, 30, OP_BSYNC, 0, 0);
    start(&n.s, 0xf);
    next(&n);
    issue(&n.s, FLOW_BRANCH, 0xe, 10);
    issue(&n.s, FLOW_BARRIER, 0xe, 0);
    n.s.ops->waiting->wait(n.s.self, 0, 0xe);
    expect(&n.s, 2, 0x1);
    issue(&n.s, FLOW_BARRIER, 0x1, 0);
    n.s.ops->waiting->wait(n.s.self, 0, 0x1);
    assert_false(n.s.ops->offer(n.s.self, 0, &group));
    n.s.ops->waiting->go_on(n.s.self, 0, 0xf);
    assert_true(n.s.ops->offer(n.s.self, 0, &group));
    run_to(&n, 30, group.lanes);
    next(&n);
    run_to(&n, 30, 0xf & ~group.lanes);
    next(&n);
    expect(&n.s, 31, 0xf);
    finish_warp(&n, 0xf);
}

/* WARPSYNC: the lanes that come go on together when whoever knows says so. */
static void named_lanes_go_on_together(void **state) {
    (void)state;
    struct native n;
    begin(&n, NULL);
    put(&n, 0, OP_BSSY, 0, 31);
    put(&n, 10, OP_BAR_WARP, 0, 0);
    n.s.code[10].flags = FLAG_SYNC;
    put(&n, 30, OP_BSYNC, 0, 0);
    n.held.reg = 0xf;
    start(&n.s, 0xf);
    next(&n);
    issue(&n.s, FLOW_BRANCH, 0x7, 9);
    next(&n);
    next(&n);
    n.s.ops->waiting->wait(n.s.self, 0, 0x7);
    expect(&n.s, 2, 0x8);
    run_to(&n, 10, 0x8);
    next(&n);
    n.s.ops->waiting->wait(n.s.self, 0, 0x8);
    n.s.ops->waiting->go_on(n.s.self, 0, 0xf);
    expect(&n.s, 11, 0xf);
    assert_int_equal(counter(&n.s, "syncs"), 1);
    assert_int_equal(counter(&n.s, "lacking"), 0);
    run_to(&n, 30, 0xf);
    next(&n);
    expect(&n.s, 31, 0xf);
    finish_warp(&n, 0xf);
}

/* PTX: what issues, and when, is what pdom issues that runs the same side first. */
static void as_pdom_runs(const char *first) {
    for (unsigned m = 0; m < MACHINES; m++)
        for (unsigned i = 0; i < PROGRAMS; i++) {
            struct fixture stack, hanoi;
            char settings[2][512];
            if (left_out())
                continue;
            snprintf(settings[0], sizeof settings[0], "%spdom.first: %s\n", machines[m], first);
            snprintf(settings[1], sizeof settings[1], "%sdivergence.mechanism: hanoi\nhanoi.first: %s\n", machines[m],
                     first);
            open_machine(&stack, settings[0]);
            open_machine(&hanoi, settings[1]);
            load(&stack, programs[i].text);
            load(&hanoi, programs[i].text);
            expect_ok(&stack, &programs[i], true);
            expect_ok(&hanoi, &programs[i], true);
            if (stack.result.stats.warp_instructions != hanoi.result.stats.warp_instructions ||
                stack.result.timed->cycles != hanoi.result.timed->cycles)
                fail_msg("%s on %s, %s first: not as pdom", programs[i].name, machines[m], first);
            finish(&stack);
            finish(&hanoi);
        }
}

static void taken_side_first_is_pdom(void **state) {
    (void)state;
    as_pdom_runs("taken");
}

static void side_with_more_or_fewer_lanes_first_is_pdom(void **state) {
    (void)state;
    as_pdom_runs("majority");
    as_pdom_runs("fewest");
}

/* Whichever side a stack runs first, it issues the same groups as often. */
static void order_of_sides_changes_no_group(void **state) {
    (void)state;
    static const char *const orders[] = {"taken", "fall-through", "majority", "fewest"};
    bool moved = false;
    for (unsigned i = 0; i < PROGRAMS; i++) {
        struct fixture f[4];
        for (unsigned k = 0; k < 4; k++) {
            char settings[512];
            snprintf(settings, sizeof settings, "%spdom.first: %s\n", machines[0], orders[k]);
            open_machine(&f[k], settings);
            load(&f[k], programs[i].text);
            expect_ok(&f[k], &programs[i], true);
            assert_int_equal(f[k].result.stats.warp_instructions, f[0].result.stats.warp_instructions);
            assert_int_equal(f[k].result.stats.active_lanes, f[0].result.stats.active_lanes);
            moved |= f[k].result.timed->cycles != f[0].result.timed->cycles;
        }
        for (unsigned k = 0; k < 4; k++)
            finish(&f[k]);
    }
    assert_true(moved);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_with_one_register),
        cmocka_unit_test(meeting_before_the_post_dominator),
        cmocka_unit_test(spin_lock),
        cmocka_unit_test(only_siblings_take_turns),
        cmocka_unit_test(side_with_more_lanes_runs_first),
        cmocka_unit_test(register_decides_who_passes),
        cmocka_unit_test(block_barrier_yields_to_a_sibling),
        cmocka_unit_test(named_lanes_go_on_together),
        cmocka_unit_test(taken_side_first_is_pdom),
        cmocka_unit_test(order_of_sides_changes_no_group),
        cmocka_unit_test(side_with_more_or_fewer_lanes_first_is_pdom),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
