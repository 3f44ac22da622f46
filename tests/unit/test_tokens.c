/* SPDX-License-Identifier: Apache-2.0 */
/* The token stack: tables 4, 5 and 6 of [003] row by row, and loops and breaks that they do not show. */
#include "token_warp.h"

/* [003 tables 3 and 4] */
static void table_4_if_then_else(void **state) {
    (void)state;
    struct scripted f;
    begin(&f);
    put(&f, 0x20, OP_SSY, 0xf0);
    put_guarded(&f, 0x90, OP_BRA, 0xb8);
    put_pop(&f, 0xb0, 0xf0);
    put_pop(&f, 0xe8, 0xf0);
    put(&f, 0x140, OP_EXIT, 0);
    start(&f, 0xff);
    row(&f, 0x00, 0xff, ""); /* 1 */
    run_to(&f, 0x20);
    row(&f, 0x20, 0xff, ""); /* 2 */
    all(&f);
    row(&f, 0x28, 0xff, "SSY ff f0"); /* 3 */
    run_to(&f, 0x90);
    row(&f, 0x90, 0xff, "SSY ff f0"); /* 4 */
    step(&f, 0x0f);
    row(&f, 0x98, 0xf0, "DIV f b8, SSY ff f0"); /* 5 */
    run_to(&f, 0xb0);
    row(&f, 0xb0, 0xf0, "DIV f b8, SSY ff f0"); /* 6 */
    all(&f);
    row(&f, 0xb8, 0x0f, "SSY ff f0"); /* 7 */
    where_is(&f, 7, 0xf0);
    run_to(&f, 0xe8);
    row(&f, 0xe8, 0x0f, "SSY ff f0"); /* 8 */
    all(&f);
    row(&f, 0xf0, 0xff, ""); /* 9 */
    exit_all(&f, 0x140, 0xff);
}

/* The same where lanes do not part: no DIV token, and .S pops that of SSY. */
static void whole_warps_push_no_div(void **state) {
    (void)state;
    for (unsigned taken = 0; taken < 2; taken++) {
        struct scripted f;
        begin(&f);
        put(&f, 0x00, OP_SSY, 0x30);
        put_guarded(&f, 0x08, OP_BRA, 0x20);
        put_pop(&f, 0x18, 0x30);
        put_pop(&f, 0x28, 0x30);
        put(&f, 0x30, OP_EXIT, 0);
        start(&f, 0xff);
        all(&f);
        step(&f, taken ? 0xff : 0);
        row(&f, taken ? 0x20 : 0x10, 0xff, "SSY ff 30");
        run_to(&f, taken ? 0x28 : 0x18);
        all(&f);
        exit_all(&f, 0x30, 0xff);
    }
}

/* [003 fig. 9 and table 5] The masks are printed with a wrong number of digits: 32 bits here. A thread takes as many
 * turns as its number. */
static void table_5_loop(void **state) {
    (void)state;
    struct scripted f;
    uint32_t active = 0xfffffffe;
    begin(&f);
    put_guarded(&f, 0x28, OP_EXIT, 0);
    put_guarded(&f, 0x50, OP_EXIT, 0);
    put(&f, 0x68, OP_SSY, 0xa0);
    put_guarded(&f, 0x90, OP_BRA, 0x70);
    put_pop(&f, 0x98, 0xa0);
    put(&f, 0xa8, OP_EXIT, 0);
    start(&f, UINT32_MAX);
    run_to(&f, 0x28);
    step(&f, 0);
    row(&f, 0x30, 0xffffffff, "");
    run_to(&f, 0x50);
    row(&f, 0x50, 0xffffffff, "");
    step(&f, 1);
    row(&f, 0x58, active, "");
    run_to(&f, 0x68);
    all(&f);
    row(&f, 0x70, active, "SSY fffffffe a0");
    for (unsigned turn = 1; turn < 32; turn++) {
        expect(&f, PC(0x70), active);
        run_to(&f, 0x90);
        active &= ~(UINT32_C(1) << turn);
        step(&f, active);
        if (turn == 2) {
            row(&f, 0x70, 0xfffffff8, "while 6 98, SSY fffffffe a0");
            where_is(&f, 2, 0x98);
            where_is(&f, 3, 0x70);
        }
    }
    row(&f, 0x98, 0xfffffffe, "SSY fffffffe a0");
    all(&f);
    row(&f, 0xa0, 0xfffffffe, "");
    assert_int_equal(counter(&f, "whiles"), 1);
    exit_all(&f, 0xa8, 0xfffffffe);
}

/* The listing of [003 fig. 11]. */
static void put_break_and_continue(struct scripted *s) {
    begin(s);
    put_guarded(s, 0x28, OP_EXIT, 0);
    put(s, 0x38, OP_PBK, 0x150);
    put_guarded(s, 0x58, OP_BRA, 0x130);
    put_guarded(s, 0x68, OP_BRA, 0x110);
    put(s, 0x80, OP_SSY, 0xf8);
    put_guarded_pop(s, 0x88, 0xf8);
    put_guarded_pop(s, 0xa8, 0xf8);
    put(s, 0xf0, OP_BRK, 0x150);
    put_guarded(s, 0x108, OP_BRA, 0x78);
    put(s, 0x128, OP_BRK, 0x150);
    put(s, 0x148, OP_BRK, 0x150);
    put(s, 0x168, OP_EXIT, 0);
}

/* [003 table 6], where DIV is printed as BRA, and rows 27 and 29 with a disable mask of 0x01e, though nothing clears
 * 0x300 before the PBK token is popped. */
static void table_6_break_and_continue(void **state) {
    (void)state;
    struct scripted f;
    put_break_and_continue(&f);
    start(&f, 0xfff);
    run_to(&f, 0x18);
    row(&f, 0x18, 0xfff, ""); /* 1 */
    run_to(&f, 0x28);
    step(&f, 0);
    run_to(&f, 0x38);
    row(&f, 0x38, 0xfff, ""); /* 3 */
    all(&f);
    row(&f, 0x40, 0xfff, "PBK fff 150"); /* 4 */
    run_to(&f, 0x58);
    row(&f, 0x58, 0xfff, "PBK fff 150"); /* 6 */
    step(&f, 0xce1);
    row(&f, 0x60, 0x31e, "DIV ce1 130, PBK fff 150"); /* 7 */
    run_to(&f, 0x68);
    step(&f, 0);
    run_to(&f, 0x80);
    row(&f, 0x80, 0x31e, "DIV ce1 130, PBK fff 150"); /* 9 */
    all(&f);
    row(&f, 0x88, 0x31e, "SSY 31e f8, DIV ce1 130, PBK fff 150"); /* 10 */
    step(&f, 0x300);
    row(&f, 0x90, 0x01e, "SSY 31e f8, DIV ce1 130, PBK fff 150"); /* 11 */
    where_is(&f, 8, 0xf8);
    run_to(&f, 0xa8);
    row(&f, 0xa8, 0x01e, "SSY 31e f8, DIV ce1 130, PBK fff 150"); /* 13 */
    step(&f, 0);
    row(&f, 0xb0, 0x01e, "SSY 31e f8, DIV ce1 130, PBK fff 150"); /* 14 */
    run_to(&f, 0xf0);
    row(&f, 0xf0, 0x01e, "SSY 31e f8, DIV ce1 130, PBK fff 150"); /* 16 */
    all(&f);
    row(&f, 0xf8, 0x300, "disabled 1e 150, DIV ce1 130, PBK fff 150"); /* 17 */
    where_is(&f, 1, 0x150);
    run_to(&f, 0x108);
    row(&f, 0x108, 0x300, "disabled 1e 150, DIV ce1 130, PBK fff 150"); /* 19 */
    step(&f, 0x300);
    row(&f, 0x78, 0x300, "disabled 1e 150, DIV ce1 130, PBK fff 150"); /* 20 */
    run_to(&f, 0x80);
    row(&f, 0x80, 0x300, "disabled 1e 150, DIV ce1 130, PBK fff 150"); /* 21 */
    all(&f);
    row(&f, 0x88, 0x300, "disabled 1e 150, SSY 300 f8, DIV ce1 130, PBK fff 150"); /* 22 */
    step(&f, 0);
    run_to(&f, 0xa8);
    step(&f, 0);
    run_to(&f, 0xf0);
    row(&f, 0xf0, 0x300, "disabled 1e 150, SSY 300 f8, DIV ce1 130, PBK fff 150"); /* 24 */
    all(&f);
    /* 25 and 26: nobody is active at 0xf8, which pops at once */
    row(&f, 0x130, 0xce1, "disabled 31e 150, PBK fff 150"); /* 27 */
    run_to(&f, 0x148);
    row(&f, 0x148, 0xce1, "disabled 31e 150, PBK fff 150"); /* 29 */
    all(&f);
    row(&f, 0x150, 0xfff, ""); /* 30 */
    assert_int_equal(counter(&f, "tokens_largest"), 3);
    exit_all(&f, 0x168, 0xfff);
}

/* The same listing where some lanes fail the loop's test before others break: they go on behind the loop, before the
 * DIV token is popped. */
static void who_fails_the_test_goes_on_when_the_others_have_broken_out(void **state) {
    (void)state;
    struct scripted f;
    put_break_and_continue(&f);
    start(&f, 0xf);
    run_to(&f, 0x28);
    step(&f, 0);
    run_to(&f, 0x38);
    all(&f);
    run_to(&f, 0x58);
    step(&f, 0x8);
    run_to(&f, 0x68);
    step(&f, 0);
    run_to(&f, 0x80);
    all(&f);
    step(&f, 0x7); /* all lanes continue: nobody is active, and SSY is popped */
    row(&f, 0xf8, 0x7, "DIV 8 130, PBK f 150");
    run_to(&f, 0x108);
    step(&f, 0x6);
    row(&f, 0x78, 0x6, "while 1 110, DIV 8 130, PBK f 150");
    run_to(&f, 0x80);
    all(&f);
    step(&f, 0);
    run_to(&f, 0xa8);
    step(&f, 0);
    run_to(&f, 0xf0);
    all(&f);
    row(&f, 0x110, 0x1, "disabled 6 150, DIV 8 130, PBK f 150");
    run_to(&f, 0x128);
    all(&f);
    row(&f, 0x130, 0x8, "disabled 7 150, PBK f 150");
    run_to(&f, 0x148);
    all(&f);
    row(&f, 0x150, 0xf, "");
    exit_all(&f, 0x168, 0xf);
}

/* A guarded .S takes lanes out of the mask and pops nothing, until nobody is left; they wait for the token of SSY
 * whatever lies above it. */
static void a_guarded_pop_waits_for_ssy(void **state) {
    (void)state;
    struct scripted f;
    begin(&f);
    put(&f, 0x00, OP_SSY, 0x50);
    put_guarded(&f, 0x08, OP_BRA, 0x30);
    put_guarded_pop(&f, 0x10, 0x50);
    put_pop(&f, 0x20, 0x50);
    put_guarded_pop(&f, 0x30, 0x50);
    put_guarded_pop(&f, 0x38, 0x50);
    put(&f, 0x50, OP_EXIT, 0);
    start(&f, 0xff);
    all(&f);
    step(&f, 0x0f);
    row(&f, 0x10, 0xf0, "DIV f 30, SSY ff 50");
    step(&f, 0xc0);
    row(&f, 0x18, 0x30, "DIV f 30, SSY ff 50");
    run_to(&f, 0x20);
    all(&f);
    row(&f, 0x30, 0x0f, "SSY ff 50");
    step(&f, 0x3);
    row(&f, 0x38, 0x0c, "SSY ff 50");
    all(&f);
    row(&f, 0x50, 0xff, "");
    exit_all(&f, 0x50, 0xff);
}

/* Lanes that wait behind a loop go on there before the token of the SSY around it is popped, also where the last leave
 * the loop by .S. */
static void a_pop_in_a_loop_leaves_those_behind_it(void **state) {
    (void)state;
    struct scripted f;
    begin(&f);
    put(&f, 0x00, OP_SSY, 0x40);
    put_pop(&f, 0x10, 0x40);
    f.code[PC(0x10)].guard = 0;
    put_guarded(&f, 0x18, OP_BRA, 0x08);
    put_pop(&f, 0x28, 0x40);
    put(&f, 0x40, OP_EXIT, 0);
    start(&f, 0xf);
    all(&f);
    run_to(&f, 0x10);
    step(&f, 0x1);
    row(&f, 0x18, 0xe, "SSY f 40");
    step(&f, 0xc);
    row(&f, 0x08, 0xc, "while 2 20, SSY f 40");
    run_to(&f, 0x10);
    all(&f);
    row(&f, 0x20, 0x2, "SSY f 40");
    run_to(&f, 0x28);
    all(&f);
    exit_all(&f, 0x40, 0xf);
}

/* BRK from inside an if within a loop, whose tokens are not PBK: guarded and not; at PBK itself; and the while mask
 * leaves out whom the disable mask has. */
static void breaks_within_an_if(void **state) {
    (void)state;
    struct scripted f;
    begin(&f);
    put(&f, 0x00, OP_PBK, 0x60);
    put(&f, 0x08, OP_SSY, 0x38);
    put_guarded(&f, 0x10, OP_BRA, 0x28);
    put(&f, 0x20, OP_BRK, 0x60);
    put_guarded(&f, 0x28, OP_BRK, 0x60);
    put_pop(&f, 0x30, 0x38);
    put_guarded(&f, 0x38, OP_BRA, 0x08);
    put_guarded(&f, 0x40, OP_BRK, 0x60);
    put(&f, 0x50, OP_BRK, 0x60);
    put(&f, 0x60, OP_EXIT, 0);
    start(&f, 0xff);
    all(&f);
    all(&f);
    step(&f, 0xfc);
    run_to(&f, 0x20);
    row(&f, 0x20, 0x03, "DIV fc 28, SSY ff 38, PBK ff 60");
    all(&f); /* to the DIV token */
    row(&f, 0x28, 0xfc, "disabled 3 60, SSY ff 38, PBK ff 60");
    step(&f, 0x04);
    row(&f, 0x30, 0xf8, "disabled 7 60, SSY ff 38, PBK ff 60");
    all(&f); /* to the SSY token, without the disabled */
    row(&f, 0x38, 0xf8, "disabled 7 60, PBK ff 60");
    step(&f, 0xf0);
    row(&f, 0x08, 0xf0, "disabled 7 60, while 8 40, PBK ff 60");
    all(&f);
    step(&f, 0xf0);
    row(&f, 0x28, 0xf0, "disabled 7 60, SSY f0 38, while 8 40, PBK ff 60");
    step(&f, 0xe0);
    row(&f, 0x30, 0x10, "disabled e7 60, SSY f0 38, while 8 40, PBK ff 60");
    all(&f);
    row(&f, 0x38, 0x10, "disabled e7 60, while 8 40, PBK ff 60");
    step(&f, 0);
    row(&f, 0x40, 0x18, "disabled e7 60, PBK ff 60");
    step(&f, 0x8); /* at PBK, but not all */
    row(&f, 0x48, 0x10, "disabled ef 60, PBK ff 60");
    run_to(&f, 0x50);
    all(&f);
    row(&f, 0x60, 0xff, "");
    exit_all(&f, 0x60, 0xff);
}

/* A loop in a loop: the inner while mask is captured anew in each turn of the outer, and by those alone that are in it.
 * */
static void nested_loops_have_a_while_mask_each(void **state) {
    (void)state;
    struct scripted f;
    begin(&f);
    put(&f, 0x00, OP_SSY, 0x30);
    put_guarded(&f, 0x10, OP_BRA, 0x08); /* inner */
    put_guarded(&f, 0x20, OP_BRA, 0x08); /* outer */
    put_pop(&f, 0x28, 0x30);
    put(&f, 0x30, OP_EXIT, 0);
    start(&f, 0xf);
    all(&f);
    run_to(&f, 0x10);
    step(&f, 0x7);
    row(&f, 0x08, 0x7, "while 8 18, SSY f 30");
    run_to(&f, 0x10);
    step(&f, 0x1);
    row(&f, 0x08, 0x1, "while e 18, SSY f 30");
    run_to(&f, 0x10);
    step(&f, 0);
    row(&f, 0x18, 0xf, "SSY f 30");
    run_to(&f, 0x20);
    step(&f, 0x3);
    row(&f, 0x08, 0x3, "while c 28, SSY f 30");
    run_to(&f, 0x10);
    step(&f, 0x2);
    row(&f, 0x08, 0x2, "while 1 18, while c 28, SSY f 30");
    run_to(&f, 0x10);
    step(&f, 0);
    row(&f, 0x18, 0x3, "while c 28, SSY f 30");
    run_to(&f, 0x20);
    step(&f, 0);
    row(&f, 0x28, 0xf, "SSY f 30");
    all(&f);
    assert_int_equal(counter(&f, "whiles_largest"), 2);
    exit_all(&f, 0x30, 0xf);
}

/* An inner loop with breaks of its own in an outer one: the inner PBK token gives back its lanes, and only those. */
static void nested_breaks_are_disabled_for_their_loop_only(void **state) {
    (void)state;
    struct scripted f;
    begin(&f);
    put(&f, 0x00, OP_PBK, 0x50);
    put_guarded(&f, 0x08, OP_BRK, 0x50);
    put(&f, 0x10, OP_PBK, 0x30);
    put_guarded(&f, 0x18, OP_BRK, 0x30);
    put(&f, 0x20, OP_BRA, 0x18);
    put(&f, 0x38, OP_BRA, 0x08);
    put(&f, 0x50, OP_EXIT, 0);
    start(&f, 0xf);
    all(&f);
    step(&f, 0x8);
    row(&f, 0x10, 0x7, "disabled 8 50, PBK f 50");
    all(&f);
    step(&f, 0x3);
    row(&f, 0x20, 0x4, "disabled 3 30, disabled 8 50, PBK 7 30, PBK f 50");
    where_is(&f, 3, 0x50);
    where_is(&f, 0, 0x30);
    all(&f);
    step(&f, 0x4);
    row(&f, 0x30, 0x7, "disabled 8 50, PBK f 50");
    run_to(&f, 0x38);
    all(&f);
    step(&f, 0x7);
    exit_all(&f, 0x50, 0xf);
}

/* CONT: lanes wait at the PCNT token, whatever lies above it; one that has broken out does not come back with them. */
static void continues_wait_at_pcnt(void **state) {
    (void)state;
    struct scripted f;
    begin(&f);
    put(&f, 0x00, OP_PBK, 0x70);
    put(&f, 0x08, OP_PCNT, 0x50);
    put(&f, 0x10, OP_SSY, 0x40);
    put_guarded(&f, 0x18, OP_BRA, 0x30);
    put(&f, 0x20, OP_CONT, 0x50);
    put_guarded(&f, 0x30, OP_BRK, 0x70);
    put_pop(&f, 0x38, 0x40);
    put_guarded(&f, 0x40, OP_CONT, 0x50);
    put(&f, 0x48, OP_CONT, 0x50);
    put_guarded(&f, 0x50, OP_BRA, 0x08);
    put(&f, 0x58, OP_BRK, 0x70);
    put(&f, 0x70, OP_EXIT, 0);
    start(&f, 0xff);
    all(&f);
    all(&f);
    all(&f);
    step(&f, 0xf0);
    row(&f, 0x20, 0x0f, "DIV f0 30, SSY ff 40, PCNT ff 50, PBK ff 70");
    all(&f);
    row(&f, 0x30, 0xf0, "SSY f0 40, PCNT ff 50, PBK ff 70");
    where_is(&f, 0, 0x50);
    step(&f, 0x80);
    row(&f, 0x38, 0x70, "disabled 80 70, SSY f0 40, PCNT ff 50, PBK ff 70");
    all(&f);
    row(&f, 0x40, 0x70, "disabled 80 70, PCNT ff 50, PBK ff 70");
    step(&f, 0x40);
    row(&f, 0x48, 0x30, "disabled 80 70, PCNT ff 50, PBK ff 70");
    all(&f);
    row(&f, 0x50, 0x7f, "disabled 80 70, PBK ff 70");
    step(&f, 0);
    run_to(&f, 0x58);
    all(&f);
    row(&f, 0x70, 0xff, "");
    exit_all(&f, 0x70, 0xff);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_4_if_then_else),
        cmocka_unit_test(whole_warps_push_no_div),
        cmocka_unit_test(table_5_loop),
        cmocka_unit_test(table_6_break_and_continue),
        cmocka_unit_test(who_fails_the_test_goes_on_when_the_others_have_broken_out),
        cmocka_unit_test(a_guarded_pop_waits_for_ssy),
        cmocka_unit_test(a_pop_in_a_loop_leaves_those_behind_it),
        cmocka_unit_test(breaks_within_an_if),
        cmocka_unit_test(nested_loops_have_a_while_mask_each),
        cmocka_unit_test(nested_breaks_are_disabled_for_their_loop_only),
        cmocka_unit_test(continues_wait_at_pcnt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
