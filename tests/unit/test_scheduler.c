/* SPDX-License-Identifier: Apache-2.0 */
/* Warp schedulers, pick by pick. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "own_keys.h"

#include "sm/scheduler/scheduler.h"

static uint64_t older[64]; /* of each warp: those that started before it */
static const uint8_t places[8] = {0, 0, 0, 0, 1, 1, 1, 1};
static uint64_t near_warps;

static const struct scheduler_ops *find(const char *name) {
    struct report report = {0};
    const struct scheduler_ops *found = scheduler_find(name, &report);
    assert_non_null(found);
    return found;
}

static unsigned pick(const char *name, void *self, uint64_t ready, uint64_t stalled) {
    const struct scheduler_view view = {.ready = ready, .stalled = stalled, .older = older};
    return find(name)->pick(self, &view);
}

static void *make(struct arena *arena, const char *name, unsigned group, uint32_t timeout) {
    const struct scheduler_shape shape = {
        .warps = 8, .mine = 0xff, .group = group, .timeout = timeout, .places = places, .near = &near_warps};
    return find(name)->create(arena, &shape);
}

static void expect(const char *name, void *self, uint64_t ready, uint64_t stalled, const char *order) {
    for (; *order; order++)
        assert_int_equal(pick(name, self, ready, stalled), *order - '0');
}

static void round_robin_goes_round(void **state) {
    (void)state;
    struct arena arena = {0};
    void *self = make(&arena, "rr", 1, 0);
    expect("rr", self, 0xff, 0, "0123456701");
    expect("rr", self, 0x81, 0, "7070");
    arena_free(&arena);
}

/* The group of priority issues until all of it waits; then the next has it, and the old one comes last. */
static void two_level_changes_groups_when_all_of_one_wait(void **state) {
    (void)state;
    struct arena arena = {0};
    void *self = make(&arena, "two-level", 4, 0);
    expect("two-level", self, 0xff, 0, "012301");
    expect("two-level", self, 0xfc, 0x01, "2323"); /* 1 is in the pipeline: the group keeps priority */
    expect("two-level", self, 0xf0, 0x01, "45");   /* others fill in */
    expect("two-level", self, 0xf0, 0x0f, "6745");
    expect("two-level", self, 0xff, 0x00, "67456745");
    near_warps = 0x20; /* 5 waits for what may be in the cache */
    expect("two-level", self, 0x0f, 0xf0, "0123");
    expect("two-level", self, 0xff, 0x00, "6745");
    near_warps = 0;
    arena_free(&arena);
}

/* [002 §4.4] One warp, or large warp, a group: after so many issues the next has priority even if none waits. */
static void two_level_hands_on_when_time_is_over(void **state) {
    (void)state;
    struct arena arena = {0};
    void *self = make(&arena, "two-level", 1, 3);
    expect("two-level", self, 0xff, 0, "00011122");
    expect("two-level", self, 0x80, 0, "777"); /* not the group of priority: its time does not pass */
    expect("two-level", self, 0xff, 0, "23334");
    expect("two-level", self, 0xef, 0x10, "5556"); /* all of 4 waits: its time begins anew with the next */
    arena_free(&arena);
}

/* Warps that started in the order 5, 2, 7, 0, 1, 3, 4, 6: the same one while it can, then the oldest, whatever its slot. */
static void start_in_another_order(void) {
    static const unsigned started[] = {5, 2, 7, 0, 1, 3, 4, 6};
    for (unsigned i = 0; i < 8; i++) {
        older[started[i]] = 0;
        for (unsigned k = 0; k < i; k++)
            older[started[i]] |= UINT64_C(1) << started[k];
    }
}

static void greedy_takes_the_oldest(void **state) {
    (void)state;
    struct arena arena = {0};
    void *self = make(&arena, "gto", 1, 0);
    start_in_another_order();
    expect("gto", self, 0xfe, 0, "555"); /* the first has not been picked yet, and is not ready */
    expect("gto", self, 0xdf, 0, "222");
    expect("gto", self, 0xff, 0, "2");
    expect("gto", self, 0xd9, 0, "777");
    expect("gto", self, 0x5b, 0, "000");
    expect("gto", self, 0x58, 0, "3");
    for (unsigned i = 0; i < 8; i++)
        older[i] = 0;
    arena_free(&arena);
}

/* The same warps: then the one that started last. */
static void greedy_takes_the_youngest(void **state) {
    (void)state;
    struct arena arena = {0};
    void *self = make(&arena, "cggty", 1, 0);
    start_in_another_order();
    expect("cggty", self, 0xfe, 0, "666");
    expect("cggty", self, 0xbf, 0, "444");
    expect("cggty", self, 0xff, 0, "4");
    expect("cggty", self, 0xaf, 0, "333");
    expect("cggty", self, 0xa5, 0, "000");
    expect("cggty", self, 0xa4, 0, "777");
    expect("cggty", self, 0x20, 0, "5");
    for (unsigned i = 0; i < 8; i++)
        older[i] = 0;
    arena_free(&arena);
}

static void sticky_stays_with_a_block(void **state) {
    (void)state;
    struct arena arena = {0};
    void *self = make(&arena, "sticky-rr", 1, 0);
    expect("sticky-rr", self, 0x3f, 0, "4545"); /* the last, 7, is as if it had issued */
    expect("sticky-rr", self, 0x0f, 0, "0123");
    expect("sticky-rr", self, 0xf6, 0, "1212");
    expect("sticky-rr", self, 0xc0, 0, "676");
    arena_free(&arena);
}

static void tell_lanes(void *self, enum scheduler_event_kind kind, unsigned warp, uint32_t lanes) {
    find("swl")->heard(self, &(struct scheduler_event){.kind = kind, .warp = warp, .lanes = lanes});
}

static void tell(void *self, enum scheduler_event_kind kind, unsigned first, unsigned last) {
    for (unsigned warp = first; warp <= last; warp++)
        tell_lanes(self, kind, warp, UINT32_MAX);
}

/* The two oldest that are not at a barrier issue; when neither can, none does. */
static void static_limits_hold_others_back(void **state) {
    (void)state;
    struct arena arena = {0};
    const struct scheduler_shape shape = {.warps = 8,
                                          .mine = 0xff,
                                          .params = own_values(&find("swl")->own, &arena, SETTINGS("swl.limit=2"))};
    void *self = find("swl")->create(&arena, &shape);
    for (unsigned i = 0; i < 8; i++)
        older[i] = (UINT64_C(1) << i) - 1;
    tell(self, SCHEDULER_STARTED, 0, 7);
    expect("swl", self, 0xff, 0, "000");
    expect("swl", self, 0xfe, 0, "111");
    expect("swl", self, 0x03, 0, "11"); /* greedy */
    assert_int_equal(pick("swl", self, 0xfc, 0), SCHEDULER_NONE);
    tell(self, SCHEDULER_WAITS, 0, 0);
    expect("swl", self, 0xfc, 0, "222");
    tell(self, SCHEDULER_GOES_ON, 0, 0);
    assert_int_equal(pick("swl", self, 0xfc, 0), SCHEDULER_NONE);
    tell(self, SCHEDULER_ENDED, 1, 1);
    expect("swl", self, 0xfc, 0, "22");
    assert_int_equal(pick("swl", self, 0xf8, 0), SCHEDULER_NONE);
    assert_int_equal(own_counter(&find("swl")->own, find("swl")->own.statistics(self), "held"), 3);
    arena_free(&arena);
}

/* Lanes wait on their own: the others of their warp go on, and it leaves its place only while none of them can. */
static void static_limits_see_lanes_wait(void **state) {
    (void)state;
    struct arena arena = {0};
    const struct scheduler_shape shape = {.warps = 8,
                                          .mine = 0xff,
                                          .params = own_values(&find("swl")->own, &arena, SETTINGS("swl.limit=1"))};
    void *self = find("swl")->create(&arena, &shape);
    for (unsigned i = 0; i < 8; i++)
        older[i] = (UINT64_C(1) << i) - 1;
    tell(self, SCHEDULER_STARTED, 0, 7);
    tell_lanes(self, SCHEDULER_WAITS, 0, 0x4000);
    expect("swl", self, 0x03, 0, "00"); /* others of its lanes */
    expect("swl", self, 0x02, 0, "11");
    tell_lanes(self, SCHEDULER_WAITS, 0, 0x00ff);
    tell_lanes(self, SCHEDULER_GOES_ON, 0, 0x00ff); /* and end: lane 14 still waits */
    expect("swl", self, 0x02, 0, "11");
    tell_lanes(self, SCHEDULER_GOES_ON, 0, 0x4000);
    assert_int_equal(pick("swl", self, 0x02, 0), SCHEDULER_NONE);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_robin_goes_round),
        cmocka_unit_test(two_level_changes_groups_when_all_of_one_wait),
        cmocka_unit_test(two_level_hands_on_when_time_is_over),
        cmocka_unit_test(greedy_takes_the_oldest),
        cmocka_unit_test(greedy_takes_the_youngest),
        cmocka_unit_test(sticky_stays_with_a_block),
        cmocka_unit_test(static_limits_hold_others_back),
        cmocka_unit_test(static_limits_see_lanes_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
