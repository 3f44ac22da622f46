/* SPDX-License-Identifier: Apache-2.0 */
/* Thread frontiers, driven by scripted outcomes, and beside pdom on programs. */
#include "scripted_warp.h"

#include "device_fixture.h"

/* Blocks of one instruction; the place of each in the order. */
static void write_places(struct scripted *s, const uint32_t *places, unsigned count) {
    memset(s, 0, sizeof *s);
    choose(s, "frontiers", NULL);
    for (unsigned pc = 0; pc < CODE; pc++)
        s->code[pc] = (struct inst){.op = OP_ADD, .guard = -1, .place = pc < count ? places[pc] : CODE + pc};
}

static void write_branch(struct scripted *s, uint32_t pc, uint32_t reconverge) {
    s->code[pc].op = OP_BRA, s->code[pc].guard = 0, s->code[pc].reconverge = reconverge;
}

/* if (A || B) C; D: lane 0 comes to C by A, lane 1 by B. Both branches have their post-dominator at D. */
static void who_comes_by_two_ways_goes_on_together(void **state) {
    (void)state;
    enum { A, B, N, C, D };
    struct scripted s;
    write_places(&s, (const uint32_t[]){0, 1, 2, 3, 4}, 5);
    write_branch(&s, A, D), write_branch(&s, B, D);
    s.blocks = "ABNCD";
    start(&s, 0xf);
    expect_state(&s, A, 0xf, NO_PC, "AAAA");
    issue(&s, FLOW_BRANCH, 0x1, C);
    expect_state(&s, B, 0xe, N, "BBBC");
    issue(&s, FLOW_BRANCH, 0x2, C);
    assert_int_equal(counter(&s, "joins"), 1);
    assert_int_equal(counter(&s, "early_joins"), 1);
    expect_state(&s, N, 0xc, C, "NNCC");
    issue(&s, FLOW_BRANCH, 0xc, D);
    expect_state(&s, C, 0x3, D, "DDCC");
    issue(&s, FLOW_NEXT, 0, 0);
    assert_int_equal(counter(&s, "joins"), 2);
    assert_int_equal(counter(&s, "early_joins"), 1);
    assert_int_equal(counter(&s, "paths_largest"), 2);
    expect_state(&s, D, 0xf, NO_PC, "DDDD");
    issue(&s, FLOW_EXIT, 0xf, 0);
    expect_nothing(&s);
}

/* A block that stands behind all others in the text, and before what it leads to in the order. */
static void the_order_is_not_that_of_the_text(void **state) {
    (void)state;
    enum { A, B, MEET, END, COLD };
    struct scripted s;
    write_places(&s, (const uint32_t[]){0, 2, 3, 4, 1}, 5);
    write_branch(&s, A, MEET);
    start(&s, 0x3);
    issue(&s, FLOW_BRANCH, 0x2, COLD);
    expect(&s, COLD, 0x2);
    issue(&s, FLOW_BRANCH, 0x2, MEET);
    expect(&s, B, 0x1);
    issue(&s, FLOW_NEXT, 0, 0);
    expect(&s, MEET, 0x3);
    arena_free(&s.arena);
}

/* Lanes that have left a loop wait behind it. */
static void a_loop_ends_before_what_follows_it(void **state) {
    (void)state;
    enum { LOOP, AFTER };
    struct scripted s;
    write_places(&s, (const uint32_t[]){0, 1}, 2);
    write_branch(&s, LOOP, AFTER);
    start(&s, 0xf);
    issue(&s, FLOW_BRANCH, 0xe, LOOP);
    issue(&s, FLOW_BRANCH, 0xc, LOOP);
    expect(&s, LOOP, 0xc);
    issue(&s, FLOW_BRANCH, 0, LOOP);
    expect(&s, AFTER, 0xf);
    assert_int_equal(counter(&s, "early_joins"), 0);
    arena_free(&s.arena);
}

/* 0: @p call 10, which returns: who has called goes first, and comes back to who has not. */
static void calls_go_first(void **state) {
    (void)state;
    struct scripted s;
    write_places(&s, (const uint32_t[]){0, 0}, 2);
    s.code[0].op = OP_CALL, s.code[10].place = 7, s.code[10].op = OP_RET;
    start(&s, 0x7);
    issue(&s, FLOW_CALL, 0x6, 10);
    expect(&s, 10, 0x6);
    issue(&s, FLOW_RETURN, 0x6, 1);
    expect(&s, 1, 0x7);
    assert_int_equal(counter(&s, "joins"), 1);
    assert_int_equal(counter(&s, "early_joins"), 0);
    arena_free(&s.arena);
}

/* Recursion: one PC, two depths. */
static void depths_do_not_mix(void **state) {
    (void)state;
    struct scripted s;
    write_places(&s, (const uint32_t[]){0}, 1);
    s.code[0].op = OP_CALL;
    start(&s, 0x3);
    issue(&s, FLOW_CALL, 0x2, 0); /* lane 1 is at 0 again */
    expect(&s, 0, 0x2);
    issue(&s, FLOW_RETURN, 0x2, 1);
    expect(&s, 1, 0x3);
    arena_free(&s.arena);
}

/* Lanes at a barrier keep nobody, whatever their place; afterwards they go on together. */
static void who_waits_for_others_keeps_nobody(void **state) {
    (void)state;
    struct scripted s;
    write_places(&s, (const uint32_t[]){0, 1, 1, 2, 3}, 5);
    s.code[1].op = OP_BAR, write_branch(&s, 0, 3);
    start(&s, 0xf);
    issue(&s, FLOW_BRANCH, 0xc, 3);
    expect(&s, 1, 0x3);
    issue(&s, FLOW_BARRIER, 0, 0);
    s.ops->waiting->wait(s.self, 0, 0x3);
    expect(&s, 3, 0xc);
    issue(&s, FLOW_NEXT, 0, 0);
    s.ops->waiting->wait(s.self, 0, 0xc);
    struct group group;
    assert_false(s.ops->offer(s.self, 0, &group));
    assert_int_equal(s.ops->waiting->go_on(s.self, 0, 0x1), 1);
    assert_int_equal(s.ops->waiting->go_on(s.self, 0, 0x2), 1);
    expect(&s, 2, 0x3);
    assert_int_equal(s.ops->waiting->go_on(s.self, 0, 0xc), 0); /* a run may have begun */
    expect(&s, 2, 0x3);
    arena_free(&s.arena);
}

/* ---- beside pdom ---- */

static uint64_t issues_of(const char *mechanism, const char *body) {
    struct fixture f;
    char settings[128];
    snprintf(settings, sizeof settings, "base: gtx480\nsm.count: 1\ndivergence.mechanism: %s\n", mechanism);
    fixture_open(&f, settings, 256);
    load(&f, body);
    assert_int_equal(launch(&f, 1, 32, true), STATUS_OK);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(f.memory[i], i & 3 ? (i * 7) ^ 5 : 0);
    const uint64_t issues = f.result.stats.warp_instructions;
    finish(&f);
    return issues;
}

/* The two instructions behind A || B are issued twice by a stack. */
static void a_stack_issues_more_in_unstructured_code(void **state) {
    (void)state;
    static const char *const body =
        ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<3>;\n.reg .b32 %r<4>;\n.reg .b64 %a<3>;\n"
        "mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra WORK;\n"
        "and.b32 %r2, %r1, 2;\nsetp.ne.u32 %p2, %r2, 0;\n@%p2 bra WORK;\nmov.u32 %r3, 0;\nbra.uni MEET;\n"
        "WORK:\nmul.lo.u32 %r3, %r1, 7;\nxor.b32 %r3, %r3, 5;\nMEET:\nld.param.u64 %a1, [out];\n"
        "mad.wide.u32 %a2, %r1, 4, %a1;\nst.global.u32 [%a2], %r3;\nret;\n}\n";
    assert_int_equal(issues_of("frontiers", body), 15);
    assert_int_equal(issues_of("pdom", body), 17);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_comes_by_two_ways_goes_on_together),
        cmocka_unit_test(the_order_is_not_that_of_the_text),
        cmocka_unit_test(a_loop_ends_before_what_follows_it),
        cmocka_unit_test(calls_go_first),
        cmocka_unit_test(depths_do_not_mix),
        cmocka_unit_test(who_waits_for_others_keeps_nobody),
        cmocka_unit_test(a_stack_issues_more_in_unstructured_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
