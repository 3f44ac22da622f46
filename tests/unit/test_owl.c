/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of blocks in order: who issues, pick by pick; its law in time. */
#include "timed_programs.h"

#include "scheduler_fixture.h"

static void expect(struct scheduled *s, slot_set ready, const char *order) {
    for (; *order; order++)
        assert_int_equal(scheduled_pick(s, ready, 0, 0), *order - '0');
}

/* Two places of four warps; a group of one of them, then of both. */
static void the_first_group_comes_back(void **state) {
    (void)state;
    struct scheduled s;
    scheduled_open(&s, "owl", NULL, 0, SETTINGS("owl.blocks=1"));
    expect(&s, 0xff, "012301");
    expect(&s, 0xf0, "456");
    expect(&s, 0xf8, "3");  /* one of the first is ready again: at once */
    expect(&s, 0xf0, "74"); /* each goes on where it was */
    expect(&s, 0xff, "01");
    assert_int_equal(scheduled_counter(&s, "returns"), 2);
    scheduled_close(&s);
    scheduled_open(&s, "owl", NULL, 0, SETTINGS("owl.blocks=2"));
    expect(&s, 0xff, "0123456701");
    expect(&s, 0xf0, "45");
    expect(&s, 0xff, "67012");
    assert_int_equal(scheduled_counter(&s, "returns"), 0);
    scheduled_close(&s);
}

#define MACHINE "base: gtx480\nsm.count: 4\n" LIMIT

static void one_group_is_round_robin(void **state) {
    (void)state;
    expect_same(MACHINE "sm.scheduler: rr\n", MACHINE "sm.scheduler: owl\nowl.blocks: 128\n", "rr and owl");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_group_comes_back),
        cmocka_unit_test(one_group_is_round_robin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
