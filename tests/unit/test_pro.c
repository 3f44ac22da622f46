/* SPDX-License-Identifier: Apache-2.0 */
/* Schedulers that rank by progress, and that choose between greedy and round-robin: who issues, pick by pick; their laws in time. */
#include "timed_programs.h"

#include "scheduler_fixture.h"

static void issue(struct scheduled *s, unsigned w, uint32_t lanes, unsigned times) {
    while (times--)
        scheduled_tell(s, (struct scheduler_event){.kind = SCHEDULER_ISSUED, .warp = w, .lanes = lanes});
}

static void tell(struct scheduled *s, enum scheduler_event_kind kind, unsigned w) {
    scheduled_tell(s, (struct scheduler_event){.kind = kind, .warp = w, .lanes = UINT32_MAX});
}

/* Blocks of warps 0 to 3 and 4 to 7. */
static void who_is_waited_for_goes_first(void **state) {
    (void)state;
    struct scheduled s;
    scheduled_open(&s, "pro", NULL, 0, NULL);
    scheduled_start(&s, 0, 7);
    assert_int_equal(scheduled_pick(&s, 0xff, 0, 0), 0); /* all equal: the oldest */
    issue(&s, 5, UINT32_MAX, 2);
    issue(&s, 1, 0xff, 3);
    assert_int_equal(scheduled_pick(&s, 0xff, 0, 0), 5); /* the block that is furthest, and its warp that is */
    assert_int_equal(scheduled_pick(&s, 0x0f, 0, 0), 1);
    issue(&s, 0, 0xff, 1);
    tell(&s, SCHEDULER_WAITS, 1);
    assert_int_equal(scheduled_pick(&s, 0xfd, 0, 0),
                     2); /* at the barrier of its block one waits for it; 0 is further */
    assert_int_equal(scheduled_counter(&s, "barrier_first"), 1);
    tell(&s, SCHEDULER_ENDED, 6);
    assert_int_equal(scheduled_pick(&s, 0xbd, 0, 0), 4); /* one of its block has ended */
    assert_int_equal(scheduled_counter(&s, "ended_first"), 1);
    tell(&s, SCHEDULER_GOES_ON, 1);
    assert_int_equal(scheduled_pick(&s, 0x0f, 0, 0), 1);
    for (unsigned w = 4; w < 8; w++)
        tell(&s, SCHEDULER_ENDED, w);
    scheduled_start(&s, 4, 7); /* another block, of which nobody has ended */
    assert_int_equal(scheduled_pick(&s, 0xff, 0, 0), 1);
    scheduled_close(&s);
}

static void expect(struct scheduled *s, slot_set ready, const char *order) {
    for (; *order; order++)
        assert_int_equal(scheduled_pick(s, ready, 0, 0), *order - '0');
}

/* A sample of six issues, a choice for four. */
static void samples_choose(void **state) {
    (void)state;
    struct scheduled s;
    scheduled_open(&s, "ipaws", NULL, 0, SETTINGS("ipaws.sample=6", "ipaws.period=4", "ipaws.share=60"));
    expect(&s, 0xff, "0000"); /* the sample: of three warps one has four of six */
    expect(&s, 0x06, "1");
    expect(&s, 0x04, "2");
    expect(&s, 0xff, "2222");
    assert_int_equal(scheduled_counter(&s, "greedy"), 1);
    expect(&s, 0xff, "2"); /* the next: of four warps one has two of six */
    expect(&s, 0xfe, "2");
    expect(&s, 0x08, "3");
    expect(&s, 0x10, "4");
    expect(&s, 0x20, "55");
    expect(&s, 0xff, "6701");
    assert_int_equal(scheduled_counter(&s, "samples"), 2);
    assert_int_equal(scheduled_counter(&s, "greedy"), 1);
    scheduled_close(&s);
}

#define MACHINE "base: gtx480\nsm.count: 4\n" LIMIT

static void without_progress_it_is_greedy(void **state) {
    (void)state;
    expect_same(MACHINE "sm.scheduler: gto\n", MACHINE "sm.scheduler: pro\npro.blocks: false\npro.warps: false\n",
                "gto and pro");
}

static void it_is_one_of_the_two(void **state) {
    (void)state;
    expect_same(MACHINE "sm.scheduler: gto\n", MACHINE "sm.scheduler: ipaws\nipaws.share: 0\n", "gto and ipaws");
    expect_same(MACHINE "sm.scheduler: rr\n", MACHINE "sm.scheduler: ipaws\nipaws.sample: 0\n", "rr and ipaws");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_waited_for_goes_first),
        cmocka_unit_test(samples_choose),
        cmocka_unit_test(without_progress_it_is_greedy),
        cmocka_unit_test(it_is_one_of_the_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
