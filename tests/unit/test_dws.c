/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic warp subdivision: a warp and its splits driven by scripted outcomes, and runs in time beside pdom. */
#include "path_slots.h"

#define DWS "divergence.mechanism: dws\n"

/* Both sides run, keep the meeting of what they were and not the branch's, and are one where both stand. */
static void sides_of_a_branch_run_beside_each_other(void **state) {
    (void)state;
    struct scripted s;
    begin(&s, "dws", NULL, 0xf, 2);
    assert_int_equal(issue_at(&s, 0, 2, FLOW_BRANCH, 0x5, 8), 3);
    expect_path(&s, 0, 8, 0x5);
    expect_path(&s, 1, 3, 0xa);
    assert_int_equal(counter(&s, "branch_splits"), 1);
    assert_int_equal(counter(&s, "entries_largest"), 1);
    issue_at(&s, 1, 19, FLOW_BRANCH, 0xa, 24); /* not where the branch's sides would meet */
    expect_path(&s, 1, 24, 0xa);
    issue_at(&s, 0, 19, FLOW_BRANCH, 0x5, 24);
    expect_path(&s, 0, 24, 0xf);
    expect_no_path(&s, 1);
    assert_int_equal(counter(&s, "joins"), 1);
    issue_at(&s, 0, 30, FLOW_EXIT, 0xf, 0);
    assert_int_equal(s.ops->alive(s.self, 0), 0);
    arena_free(&s.arena);
}

/* With dws.join=stack two that stand at one place stay two; splits of an entry of the stack meet where it does. */
static void splits_of_an_entry_meet_where_it_does(void **state) {
    (void)state;
    static const char *const stack[] = {"dws.join=stack", "dws.short_block=0", NULL};
    struct scripted s;
    begin(&s, "dws", stack, 0xff, 2);
    assert_int_equal(issue_at(&s, 0, 2, FLOW_BRANCH, 0x0f, 8), 3); /* the block at 20 is not empty: a stack */
    expect_path(&s, 0, 8, 0x0f);
    expect_no_path(&s, 1);
    assert_int_equal(counter(&s, "pushes"), 1);
    assert_int_equal(s.ops->paths->dividing->divide(s.self, 0, 0x03, 0x0c, true), 3);
    expect_path(&s, 0, 8, 0x03);
    expect_path(&s, 1, 8, 0x0c);
    issue_at(&s, 0, 9, FLOW_BRANCH, 0x03, 16);
    issue_at(&s, 1, 9, FLOW_BRANCH, 0x0c, 16);
    expect_path(&s, 0, 16, 0x03);
    expect_path(&s, 1, 16, 0x0c);
    issue_at(&s, 0, 19, FLOW_NEXT, 0, 0); /* at 20, where the entry meets */
    expect_no_path(&s, 0);
    issue_at(&s, 1, 19, FLOW_NEXT, 0, 0);
    expect_path(&s, 0, 3, 0xf0); /* the other side of the stack */
    expect_no_path(&s, 1);
    issue_at(&s, 0, 19, FLOW_NEXT, 0, 0);
    expect_path(&s, 0, 20, 0xff);
    arena_free(&s.arena);
}

/* A load divides by its policy; the lanes that wait have a slot of their own, and nothing is divided without room. */
static void loads_divide_by_policy(void **state) {
    (void)state;
    static const char *const policies[][3] = {{"dws.memory=aggress", NULL},
                                              {"dws.memory=lazy", NULL},
                                              {"dws.memory=aggress", "dws.entries=1", NULL}};
    for (unsigned i = 0; i < 3; i++) {
        struct scripted s;
        begin(&s, "dws", policies[i], 0xff, 3);
        const struct divergence_dividing *dividing = s.ops->paths->dividing;
        assert_int_equal(dividing->divide(s.self, 0, 0x0f, 0xf0, false), i == 1 ? 0 : 3);
        if (i == 1)
            assert_int_equal(dividing->divide(s.self, 0, 0x0f, 0xf0, true), 3);
        expect_path(&s, 0, 0, 0x0f);
        expect_path(&s, 1, 0, 0xf0);
        assert_int_equal(dividing->divide(s.self, 0, 0x33, 0xcc, true), i == 2 ? 0 : 5);
        assert_int_equal(counter(&s, "refused"), i == 2 ? 2 : 1); /* three slots: one of the two splits found one */
        assert_int_equal(counter(&s, "memory_splits"), i == 2 ? 1 : 2);
        arena_free(&s.arena);
    }
}

/* Splits of a load wait for each other before a branch that may part them, or take it on their own. */
static void twins_wait_or_go(void **state) {
    (void)state;
    static const char *const settings[][3] = {{"dws.twins=limited", "dws.join=stack", NULL},
                                              {"dws.twins=bypass", "dws.join=stack", NULL}};
    for (unsigned bypass = 0; bypass < 2; bypass++) {
        struct scripted s;
        memset(&s, 0, sizeof s);
        choose(&s, "dws", settings[bypass]);
        for (unsigned pc = 0; pc < CODE; pc++)
            s.code[pc] = (struct inst){.op = OP_NOP, .guard = -1, .reconverge = NO_PC};
        s.code[6].op = OP_BRA, s.code[6].guard = 0, s.code[6].reconverge = 20;
        const struct divergence_shape shape = {.code = s.code,
                                               .code_count = CODE,
                                               .warps = 1,
                                               .paths = 2,
                                               .warp_size = 32,
                                               .width = 32,
                                               .params = s.params};
        s.self = s.ops->create(&s.arena, &shape);
        s.ops->start(s.self, 0, 0, 0xff);
        assert_int_equal(s.ops->paths->dividing->divide(s.self, 0, 0x0f, 0xf0, true), 3);
        issue_at(&s, 0, 5, FLOW_NEXT, 0, 0);
        if (bypass)
            expect_path(&s, 0, 6, 0x0f);
        else {
            expect_no_path(&s, 0);
            issue_at(&s, 1, 5, FLOW_NEXT, 0, 0);
            expect_path(&s, 1, 6, 0xff);
        }
        arena_free(&s.arena);
    }
}

/* What a barrier lets go at one place is one; a side at a barrier lets those below it run. */
static void barriers_let_go_as_one(void **state) {
    (void)state;
    static const char *const stack[] = {"dws.join=stack", "dws.branches=none", NULL};
    struct scripted s;
    begin(&s, "dws", stack, 0xff, 2);
    s.ops->paths->dividing->divide(s.self, 0, 0x0f, 0xf0, true);
    issue_at(&s, 0, 3, FLOW_BARRIER, 0x0f, 0);
    s.ops->waiting->wait(s.self, 0, 0x0f);
    issue_at(&s, 1, 3, FLOW_BARRIER, 0xf0, 0);
    s.ops->waiting->wait(s.self, 0, 0xf0);
    expect_no_path(&s, 0);
    expect_no_path(&s, 1);
    s.ops->waiting->go_on(s.self, 0, 0xff);
    expect_path(&s, 0, 4, 0xff);
    expect_no_path(&s, 1);
    arena_free(&s.arena);
    begin(&s, "dws", stack, 0xff, 2);
    issue_at(&s, 0, 2, FLOW_BRANCH, 0x0f, 8);
    expect_no_path(&s, 1);
    issue_at(&s, 0, 8, FLOW_BARRIER, 0x0f, 0);
    s.ops->waiting->wait(s.self, 0, 0x0f);
    expect_path(&s, 0, 3, 0xf0);
    arena_free(&s.arena);
}

static void without_entries_it_is_pdom(void **state) {
    (void)state;
    for (unsigned m = 0; m < sizeof scoreboards / sizeof scoreboards[0]; m++) {
        char settings[512];
        snprintf(settings, sizeof settings, "%s" DWS "dws.entries: 0\n", scoreboards[m]);
        expect_same(scoreboards[m], settings, "pdom and no entries");
        snprintf(settings, sizeof settings, "%s" DWS "dws.branches: none\ndws.memory: none\n", scoreboards[m]);
        expect_same(scoreboards[m], settings, "pdom and nothing that divides");
    }
}

/* Loads that all hit divide nothing, and the stack is pdom's. */
static void with_a_perfect_l1_and_no_branches_the_groups_are_those_of_pdom(void **state) {
    (void)state;
    expect_groups_of_pdom("l1.perfect: true\n" DWS "dws.branches: none\ndws.memory: aggress\n", false);
}

/* Lanes that load from places which others have loaded from before, so that some hit. */
static const struct program_text mixed_hits = {
    "hits and misses",
    KERNEL("", "and.b32 %r4, %r1, 31;\nmul.lo.u32 %r5, %r3, 96;\nand.b32 %r5, %r5, 8191;\nsetp.lt.u32 %p1, %r4, "
               "9;\n@%p1 mov.u32 %r5, %r4;\n"
               "mul.wide.u32 %rd4, %r5, 4;\nadd.s64 %rd4, %rd4, %rd1;\nmov.u32 %r7, 6;\nmov.u32 %r6, 0;\nL: "
               "ld.global.u32 %r8, [%rd4];\n"
               "add.u32 %r6, %r6, %r8;\nmul.lo.u32 %r6, %r6, 3;\nadd.s64 %rd4, %rd4, 1024;\nsub.u32 %r7, %r7, "
               "1;\nsetp.ne.u32 %p2, %r7, 0;\n@%p2 bra L;\n"
               "add.s64 %rd3, %rd3, 49152;\nst.global.u32 [%rd3], %r6;\nret;"),
    8, 64};

static uint64_t counted(const struct program_text *program, const char *settings, const char *counter_name) {
    struct fixture f;
    open_machine(&f, settings);
    load(&f, program->text);
    expect_ok(&f, program, true);
    const struct gpu_stats *timed = f.result.timed;
    const uint64_t value = own_counter(timed->own[OWN_MECHANISM], timed->own_stats[OWN_MECHANISM], counter_name);
    finish(&f);
    return value;
}

/* Every policy: lanes of splits are disjoint, who hears of issues changes nothing, and no table outgrows its key. Without splits that
 * branch alone, at least as many groups issue as with pdom. */
static void policies_keep_the_laws(void **state) {
    (void)state;
    static const char *const memory[] = {"none", "aggress", "lazy", "revive"}, *const joins[] = {"stack", "pc"},
                             *const twins[] = {"limited", "bypass"}, *const branches[] = {"none", "short", "all"};
    uint64_t beside = 0, cycles;
    for (unsigned i = 0; i < 4 * 2 * 2 * 3; i++) {
        char settings[512];
        snprintf(settings, sizeof settings,
                 "base: gtx480\nsm.count: 2\n" LIMIT DWS
                 "dws.entries: %u\ndws.memory: %s\ndws.join: %s\ndws.twins: %s\ndws.branches: %s\n",
                 1 + i % 5, memory[i % 4], joins[i / 4 % 2], twins[i / 8 % 2], branches[i / 16]);
        for (unsigned p = 0; p < 4; p++) {
            if (left_out())
                continue;
            const struct program_text *program = p == 0   ? &mixed_hits
                                                 : p == 1 ? &sides
                                                 : p == 2 ? &nested
                                                          : &programs[i % PROGRAMS];
            const struct groups one = groups_of(program, "base: gtx480\nsm.count: 2\n" LIMIT, &cycles);
            const struct groups two = groups_of(program, settings, &cycles);
            if (two.overlap || two.issues < one.issues)
                fail_msg("%s: %llu groups, %llu of pdom%s", program->name, (unsigned long long)two.issues,
                         (unsigned long long)one.issues, two.overlap ? "; splits share lanes" : "");
            beside += two.beside;
            assert_true(counted(program, settings, "entries_largest") <= 1 + i % 5);
        }
    }
    assert_true(beside > 0);
}

static void loads_divide_in_time(void **state) {
    (void)state;
    const uint64_t aggress =
                       counted(&mixed_hits, "base: gtx480\nsm.count: 2\n" DWS "dws.memory: aggress\n", "memory_splits"),
                   lazy = counted(&mixed_hits, "base: gtx480\nsm.count: 2\n" DWS "dws.memory: lazy\n", "memory_splits"),
                   revive =
                       counted(&mixed_hits, "base: gtx480\nsm.count: 2\n" DWS "dws.memory: revive\n", "memory_splits");
    assert_true(lazy > 0);
    assert_true(aggress >= lazy);
    assert_true(revive >= lazy);
    assert_int_equal(counted(&mixed_hits, "base: gtx480\nsm.count: 2\nl1.perfect: true\n" DWS, "memory_splits"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sides_of_a_branch_run_beside_each_other),
        cmocka_unit_test(splits_of_an_entry_meet_where_it_does),
        cmocka_unit_test(loads_divide_by_policy),
        cmocka_unit_test(twins_wait_or_go),
        cmocka_unit_test(barriers_let_go_as_one),
        cmocka_unit_test(without_entries_it_is_pdom),
        cmocka_unit_test(with_a_perfect_l1_and_no_branches_the_groups_are_those_of_pdom),
        cmocka_unit_test(policies_keep_the_laws),
        cmocka_unit_test(loads_divide_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
