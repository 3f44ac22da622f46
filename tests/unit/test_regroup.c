/* SPDX-License-Identifier: Apache-2.0 */
/* Mechanisms that dissolve groups, driven by scripted outcomes. */
#include "regroup_fixture.h"

/* [000 fig. 3.1] The four threads of the example of stacks: B 1110, F 0001, C 1000, D 0110. They never join, so that E and
 * G are executed once by every group that diverged. Thread 1 is the first lane. */
static void nrec_splits_for_good(void **state) {
    (void)state;
    enum { A, B, C, D, E, F, G };
    struct fixture f;
    struct group group;
    setup(&f, "nrec", 1, 4, 1);
    start(&f, 0, A, 0xf);
    assert_int_equal(lanes_at(&f, A), 0xf);
    issue(&f, slot_at(&f, A, &group), &group, (const uint32_t[]){B, B, B, F});
    assert_int_equal(lanes_at(&f, B), 0x7);
    assert_int_equal(lanes_at(&f, F), 0x8);
    issue(&f, slot_at(&f, B, &group), &group, (const uint32_t[]){C, D, D, F});
    assert_int_equal(lanes_at(&f, C), 0x1);
    assert_int_equal(lanes_at(&f, D), 0x6);
    issue(&f, slot_at(&f, C, &group), &group, (const uint32_t[]){E, D, D, F});
    issue(&f, slot_at(&f, D, &group), &group, (const uint32_t[]){E, E, E, F});
    const unsigned slot = slot_at(&f, E, &group);
    uint32_t at_e = group.lanes;
    f.slots &= ~(UINT64_C(1) << slot);
    at_e = at_e << 8 | lanes_at(&f, E); /* two groups at E */
    f.slots |= UINT64_C(1) << slot;
    assert_true(at_e == 0x106 || at_e == 0x601);
    for (unsigned i = 0; i < 2; i++)
        issue(&f, slot_at(&f, E, &group), &group, (const uint32_t[]){G, G, G, F});
    issue(&f, slot_at(&f, F, &group), &group, (const uint32_t[]){G, G, G, G});
    assert_int_equal(bits_count64(f.slots), 3);
    for (unsigned i = 0; i < 3; i++)
        issue(&f, slot_at(&f, G, &group), &group, (const uint32_t[]){NO_PC, NO_PC, NO_PC, NO_PC});
    assert_true(f.slots == 0);
    assert_int_equal(f.groups, 10);                                                         /* A B C D E E F G G G */
    assert_int_equal(own_counter(&f.ops->own, f.ops->own.statistics(f.self), "splits"), 2); /* at A and at B */
    assert_int_equal(own_counter(&f.ops->own, f.ops->own.statistics(f.self), "groups_largest"), 3);
    assert_int_equal(f.threads, 4 + 3 + 1 + 2 + 3 + 1 + 4);
    assert_int_equal(f.ops->alive(f.self, 0), 0);
    arena_free(&f.arena);
}

/* Two groups of a warp come back from a barrier in one call, a third group thread by thread: each goes on as it was. */
static void nrec_groups_outlive_barriers_and_loads(void **state) {
    (void)state;
    struct fixture f;
    struct group group;
    setup(&f, "nrec", 1, 8, 1);
    start(&f, 0, 1, 0xff);
    issue(&f, slot_at(&f, 1, &group), &group, (const uint32_t[]){2, 2, 2, 4, 4, 6, 6, 6});
    for (uint32_t pc = 2; pc <= 6; pc += 2) {
        const unsigned slot = slot_at(&f, pc, &group);
        struct executed all = {.flow = FLOW_BRANCH, .pc = pc, .lanes = group.lanes, .taken = group.lanes, .target = 9};
        look(&f, f.ops->issued(f.self, slot, &group, &all));
    }
    assert_true(f.slots == 0);
    const uint16_t threads[LANES_MAX] = {0, 1, 2, 3, 4, 5, 6, 7};
    look(&f, f.ops->forming->returned(f.self, threads, 0x1f)); /* 1110 0000 and 0001 1000 */
    assert_int_equal(bits_count64(f.slots), 2);
    look(&f, f.ops->forming->returned(f.self, threads, 0x20));
    look(&f, f.ops->forming->returned(f.self, threads, 0x80));
    assert_int_equal(bits_count64(f.slots), 2); /* the third is not whole yet */
    look(&f, f.ops->forming->returned(f.self, threads, 0x40));
    assert_int_equal(bits_count64(f.slots), 3);
    uint32_t seen = 0;
    for (uint64_t rest = f.slots; rest; rest &= rest - 1) {
        assert_true(f.ops->offer(f.self, bits_first64(rest), &group));
        assert_int_equal(group.pc, 9);
        assert_true(group.lanes == 0x07 || group.lanes == 0x18 || group.lanes == 0xe0);
        seen |= group.lanes;
    }
    assert_int_equal(seen, 0xff);
    arena_free(&f.arena);
}

/* Every thread on its own: as many groups as threads, more than there are slots. */
static void nrec_can_have_a_group_for_every_thread(void **state) {
    (void)state;
    struct fixture f;
    struct group group;
    uint32_t next[96];
    setup(&f, "nrec", 3, 32, 3);
    for (unsigned i = 0; i < 96; i++)
        next[i] = i % 32;
    for (unsigned warp = 0; warp < 3; warp++)
        start(&f, warp, 40, UINT32_MAX);
    for (unsigned warp = 0; warp < 3; warp++)
        issue(&f, slot_at(&f, 40, &group), &group, next);
    assert_true(f.slots == UINT64_MAX);
    memset(next, 0xff, sizeof next);
    unsigned issued = 0;
    for (; f.slots; issued++) {
        const unsigned slot = bits_first64(f.slots);
        assert_true(f.ops->offer(f.self, slot, &group));
        assert_int_equal(bits_count(group.lanes), 1);
        issue(&f, slot, &group, next);
    }
    assert_int_equal(issued, 96);
    arena_free(&f.arena);
}

/* Any ready threads fill the lanes: groups of one PC each, lanes of their own, the next turn goes on behind the last. */
static void mimd_bundles_fill_the_lanes(void **state) {
    (void)state;
    struct fixture f;
    struct group group;
    setup(&f, "mimd", 3, 4, 3);
    start(&f, 0, 5, 0x3);
    start(&f, 1, 9, 0x1);
    start(&f, 2, 5, 0xf);
    assert_int_equal(f.slots, 1);
    assert_true(f.ops->offer(f.self, 0, &group));
    assert_int_equal(group.pc, 5);
    assert_int_equal(group.lanes, 0xb); /* threads 0, 1 and 8; 4 is at another PC */
    assert_int_equal(group.threads[3], 8);
    struct executed executed = {.flow = FLOW_NEXT, .pc = 5, .issues = 1, .lanes = group.lanes};
    f.ops->issued(f.self, 0, &group, &executed);
    assert_true(f.ops->forming->more(f.self, 0, &group));
    assert_int_equal(group.pc, 9);
    assert_int_equal(group.lanes, 0x4);
    assert_int_equal(group.threads[2], 4);
    assert_false(f.ops->forming->more(f.self, 0, &group)); /* no room for it: it is offered again */
    assert_true(f.ops->offer(f.self, 0, &group));
    assert_int_equal(group.threads[bits_first(group.lanes)], 9);
    assert_int_equal(group.lanes, 0x7);
    assert_true(f.ops->forming->more(f.self, 0, &group));
    assert_int_equal(group.pc, 9);
    assert_int_equal(group.lanes, 0x8);
    arena_free(&f.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nrec_splits_for_good),
        cmocka_unit_test(nrec_groups_outlive_barriers_and_loads),
        cmocka_unit_test(nrec_can_have_a_group_for_every_thread),
        cmocka_unit_test(mimd_bundles_fill_the_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
