/* SPDX-License-Identifier: Apache-2.0 */
/* The token stack: ends, indexed branches, calls, unanimous branches, and code that has no tokens. */
#include "token_warp.h"

/* EXIT in the middle: clears its lanes from every token; the rest go on, or the stack is popped; with an empty stack
 * the warp ends. */
static void exit_clears_every_token(void **state) {
    (void)state;
    struct scripted f;
    begin(&f);
    put(&f, 0x00, OP_SSY, 0x40);
    put_guarded(&f, 0x08, OP_BRA, 0x28);
    put_guarded(&f, 0x10, OP_EXIT, 0);
    put(&f, 0x18, OP_EXIT, 0);
    put_pop(&f, 0x30, 0x40);
    put(&f, 0x48, OP_EXIT, 0);
    start(&f, 0xff);
    all(&f);
    step(&f, 0xf0);
    step(&f, 0x01);
    row(&f, 0x18, 0x0e, "DIV f0 28, SSY fe 40");
    assert_int_equal(f.ops->alive(f.self, 0), 0xfe);
    all(&f);
    row(&f, 0x28, 0xf0, "SSY f0 40");
    run_to(&f, 0x30);
    all(&f);
    row(&f, 0x40, 0xf0, "");
    exit_all(&f, 0x48, 0xf0);
}

/* The last lanes of a loop end, others have broken out of it: the PBK token brings them back. */
static void broken_out_lanes_outlive_those_that_end(void **state) {
    (void)state;
    struct scripted f;
    begin(&f);
    put(&f, 0x00, OP_PBK, 0x20);
    put_guarded(&f, 0x08, OP_BRK, 0x20);
    put(&f, 0x10, OP_EXIT, 0);
    put(&f, 0x20, OP_EXIT, 0);
    start(&f, 0xf);
    all(&f);
    step(&f, 0x3);
    row(&f, 0x10, 0xc, "disabled 3 20, PBK f 20");
    all(&f);
    exit_all(&f, 0x20, 0x3);
}

static void multi(struct scripted *s, const uint32_t addresses[4]) {
    struct group group;
    assert_true(s->ops->offer(s->self, 0, &group));
    struct executed executed = {
        .flow = FLOW_MULTI, .pc = group.pc, .issues = 1, .lanes = group.lanes, .taken = group.lanes};
    for (unsigned i = 0; i < 4; i++)
        executed.next[i] = PC(addresses[i]);
    s->ops->issued(s->self, 0, &group, &executed);
}

/* PRET and BRX with three targets: with more than two left BRX is executed again by the rest, with two their PC is
 * known, with one nothing is pushed; each function returns to the token on top. */
static void brx_with_three_targets(void **state) {
    (void)state;
    struct scripted f;
    static const uint32_t to[] = {0x30, 0x40, 0x50, 0x40}, same[] = {0x40, 0x40, 0x40, 0x40};
    for (unsigned i = 0; i < 2; i++) {
        begin(&f);
        put(&f, 0x00, OP_PRET, 0x18);
        put(&f, 0x08, OP_BRX, 0);
        put(&f, 0x38, OP_RETP, 0x18);
        put(&f, 0x48, OP_RETP, 0x18);
        put(&f, 0x58, OP_RETP, 0x18);
        put(&f, 0x20, OP_EXIT, 0);
        start(&f, 0xf);
        all(&f);
        row(&f, 0x08, 0xf, "PRET f 18");
        if (i == 0) {
            multi(&f, to);
            row(&f, 0x30, 0x1, "DIV e 8, PRET f 18");
            run_to(&f, 0x38);
            all(&f);
            row(&f, 0x08, 0xe, "PRET f 18");
            multi(&f, to);
            row(&f, 0x40, 0xa, "DIV 4 50, PRET f 18");
            run_to(&f, 0x48);
            all(&f);
            row(&f, 0x50, 0x4, "PRET f 18");
            run_to(&f, 0x58);
            all(&f);
        } else {
            multi(&f, same);
            row(&f, 0x40, 0xf, "PRET f 18");
            run_to(&f, 0x48);
            all(&f);
        }
        row(&f, 0x18, 0xf, "");
        exit_all(&f, 0x20, 0xf);
    }
}

/* CAL pushes the next PC for all; lanes that return under a guard wait for the others at its token. A call within a
 * loop keeps the loop's while mask. */
static void calls_and_returns(void **state) {
    (void)state;
    struct scripted f;
    begin(&f);
    put(&f, 0x00, OP_SSY, 0x30);
    put(&f, 0x08, OP_CALL, 0x60);
    put_guarded(&f, 0x18, OP_BRA, 0x08);
    put_pop(&f, 0x20, 0x30);
    put(&f, 0x30, OP_EXIT, 0);
    put(&f, 0x60, OP_SSY, 0x88);
    put_guarded(&f, 0x68, OP_BRA, 0x80);
    put_guarded(&f, 0x70, OP_RET, 0x10);
    put_pop(&f, 0x78, 0x88);
    put_pop(&f, 0x80, 0x88);
    put(&f, 0x88, OP_RET, 0x10);
    start(&f, 0xf);
    all(&f);
    all(&f);
    row(&f, 0x60, 0xf, "CALL f 10, SSY f 30");
    all(&f);
    step(&f, 0xc);
    row(&f, 0x70, 0x3, "DIV c 80, SSY f 88, CALL f 10, SSY f 30");
    step(&f, 0x1);
    row(&f, 0x78, 0x2, "DIV c 80, SSY e 88, CALL f 10, SSY f 30");
    where_is(&f, 0, 0x10);
    all(&f);
    all(&f);
    row(&f, 0x88, 0xe, "CALL f 10, SSY f 30");
    all(&f);
    row(&f, 0x10, 0xf, "SSY f 30");
    run_to(&f, 0x18);
    step(&f, 0x3);
    row(&f, 0x08, 0x3, "while c 20, SSY f 30");
    all(&f);
    row(&f, 0x60, 0x3, "CALL 3 10, while c 20, SSY f 30");
    all(&f);
    step(&f, 0x3);
    all(&f);
    all(&f);
    row(&f, 0x10, 0x3, "while c 20, SSY f 30");
    run_to(&f, 0x18);
    step(&f, 0);
    row(&f, 0x20, 0xf, "SSY f 30");
    all(&f);
    exit_all(&f, 0x30, 0xf);
}

/* A function that calls itself in its loop enters the loop anew: another while mask of the same branch. */
static void recursion_enters_a_loop_anew(void **state) {
    (void)state;
    struct scripted f;
    begin(&f);
    put(&f, 0x00, OP_CALL, 0x20);
    put(&f, 0x08, OP_EXIT, 0);
    put(&f, 0x20, OP_SSY, 0x40);
    put_guarded(&f, 0x28, OP_CALL, 0x20);
    put_guarded(&f, 0x30, OP_BRA, 0x28);
    put_pop(&f, 0x38, 0x40);
    put(&f, 0x40, OP_RET, 0);
    start(&f, 0xf);
    all(&f);
    all(&f);
    step(&f, 0);
    step(&f, 0x3);
    row(&f, 0x28, 0x3, "while c 38, SSY f 40, CALL f 8");
    all(&f);
    all(&f);
    step(&f, 0);
    step(&f, 0x1);
    row(&f, 0x28, 0x1, "while 2 38, SSY 3 40, CALL 3 30, while c 38, SSY f 40, CALL f 8");
    step(&f, 0);
    step(&f, 0);
    row(&f, 0x38, 0x3, "SSY 3 40, CALL 3 30, while c 38, SSY f 40, CALL f 8");
    all(&f);
    all(&f);
    row(&f, 0x30, 0x3, "while c 38, SSY f 40, CALL f 8");
    step(&f, 0);
    row(&f, 0x38, 0xf, "SSY f 40, CALL f 8");
    all(&f);
    all(&f);
    exit_all(&f, 0x08, 0xf);
}

/* BRA.U goes to its target when all lanes do, and on in every other case; it pushes nothing. Who executes it says so.
 * */
static void unanimous_branches_keep_the_mask(void **state) {
    (void)state;
    for (unsigned taken = 0; taken < 2; taken++) {
        struct scripted f;
        begin(&f);
        put(&f, 0x00, OP_SSY, 0x30);
        put_guarded(&f, 0x08, OP_BRA, 0x20);
        f.code[PC(0x08)].mode = MODE_UNANIMOUS;
        put_pop(&f, 0x28, 0x30);
        put(&f, 0x30, OP_EXIT, 0);
        start(&f, 0xff);
        all(&f);
        step(&f, taken ? 0xff : 0);
        row(&f, taken ? 0x20 : 0x10, 0xff, "SSY ff 30");
        run_to(&f, 0x28);
        all(&f);
        exit_all(&f, 0x30, 0xff);
    }
}

/* A straight run ends behind what pushes a token, so that it is heard of. */
static void runs_end_behind_pushes(void **state) {
    (void)state;
    struct scripted f;
    struct group group;
    begin(&f);
    put(&f, 0x18, OP_SSY, 0x30);
    put(&f, 0x30, OP_EXIT, 0);
    start(&f, 0xff);
    assert_true(f.ops->offer(f.self, 0, &group));
    assert_int_equal(group.stop_pc, PC(0x20));
    const struct executed run = {.flow = FLOW_NEXT, .pc = PC(0x18), .issues = 4, .lanes = 0xff};
    f.ops->issued(f.self, 0, &group, &run);
    row(&f, 0x20, 0xff, "SSY ff 30");
    arena_free(&f.arena);
}

/* ---- code without tokens ---- */

/* As if SSY stood where lanes diverge, and .S wherever they come to its target. The taken side of a forward branch runs
 * later. */
static void ptx_meets_at_post_dominators(void **state) {
    (void)state;
    struct scripted f;
    struct group group;
    begin(&f);
    put_guarded(&f, 0x00, OP_BRA, 0x20);
    f.code[PC(0x00)].reconverge = PC(0x30);
    put_guarded(&f, 0x08, OP_BRA, 0x30);
    f.code[PC(0x08)].reconverge = PC(0x30);
    put(&f, 0x18, OP_BRA, 0x30);
    put(&f, 0x30, OP_EXIT, 0);
    start(&f, 0xff);
    step(&f, 0x0f);
    row(&f, 0x08, 0xf0, "DIV f 20, SSY ff 30");
    assert_true(f.ops->offer(f.self, 0, &group));
    assert_int_equal(group.stop_pc, PC(0x30));
    step(&f, 0x80); /* meets at the same place, where these are already */
    row(&f, 0x10, 0x70, "DIV f 20, SSY ff 30");
    where_is(&f, 7, 0x30);
    run_to(&f, 0x18);
    all(&f);
    row(&f, 0x20, 0x0f, "SSY ff 30");
    step(&f, 0x0f);
    row(&f, 0x28, 0x0f, "SSY ff 30");
    step(&f, 0x0f);
    exit_all(&f, 0x30, 0xff);
}

/* A loop needs one SSY token, however many turns part its lanes; those that leave it by a branch forward, to run more
 * before they meet, wait for the others. */
static void ptx_loops_push_one_ssy(void **state) {
    (void)state;
    struct scripted f;
    begin(&f);
    put_guarded(&f, 0x08, OP_BRA, 0x20);
    f.code[PC(0x08)].reconverge = PC(0x28);
    put_guarded(&f, 0x10, OP_BRA, 0x00);
    f.code[PC(0x10)].reconverge = PC(0x28);
    put(&f, 0x18, OP_BRA, 0x28);
    put(&f, 0x28, OP_EXIT, 0);
    start(&f, 0xff);
    run_to(&f, 0x08);
    step(&f, 0x01);
    row(&f, 0x10, 0xfe, "DIV 1 20, SSY ff 28");
    step(&f, 0xfc);
    row(&f, 0x00, 0xfc, "DIV 2 18, DIV 1 20, SSY ff 28");
    run_to(&f, 0x08);
    step(&f, 0);
    step(&f, 0xf0);
    row(&f, 0x00, 0xf0, "DIV c 18, DIV 2 18, DIV 1 20, SSY ff 28");
    run_to(&f, 0x08);
    step(&f, 0xf0);
    row(&f, 0x20, 0xf0, "DIV c 18, DIV 2 18, DIV 1 20, SSY ff 28");
    step(&f, 0xf0);
    row(&f, 0x18, 0x0c, "DIV 2 18, DIV 1 20, SSY ff 28");
    all(&f);
    all(&f);
    row(&f, 0x20, 0x01, "SSY ff 28");
    all(&f);
    exit_all(&f, 0x28, 0xff);
}

/* Lanes that meet only where their function returns have the token of the call for it; brx pushes a DIV token for each
 * side but the lowest, as all know where they go. */
static void ptx_calls_and_indexed_branches(void **state) {
    (void)state;
    struct scripted f;
    static const uint32_t to[] = {0x28, 0x30, 0x20, 0x28};
    begin(&f);
    put_guarded(&f, 0x00, OP_CALL, 0x18);
    put(&f, 0x10, OP_EXIT, 0);
    put(&f, 0x18, OP_BRX, 0);
    f.code[PC(0x18)].reconverge = NO_PC;
    put(&f, 0x20, OP_RET, 0x08);
    put(&f, 0x28, OP_RET, 0x08);
    put(&f, 0x30, OP_RET, 0x08);
    start(&f, 0x1f);
    step(&f, 0xf);
    row(&f, 0x18, 0x0f, "CALL 1f 8");
    multi(&f, to);
    row(&f, 0x20, 0x04, "DIV 9 28, DIV 2 30, CALL 1f 8");
    all(&f);
    row(&f, 0x28, 0x09, "DIV 2 30, CALL 1f 8");
    all(&f);
    row(&f, 0x30, 0x02, "CALL 1f 8");
    all(&f);
    row(&f, 0x08, 0x1f, "");
    exit_all(&f, 0x10, 0x1f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_clears_every_token),      cmocka_unit_test(broken_out_lanes_outlive_those_that_end),
        cmocka_unit_test(brx_with_three_targets),       cmocka_unit_test(calls_and_returns),
        cmocka_unit_test(recursion_enters_a_loop_anew), cmocka_unit_test(unanimous_branches_keep_the_mask),
        cmocka_unit_test(runs_end_behind_pushes),       cmocka_unit_test(ptx_meets_at_post_dominators),
        cmocka_unit_test(ptx_loops_push_one_ssy),       cmocka_unit_test(ptx_calls_and_indexed_branches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
