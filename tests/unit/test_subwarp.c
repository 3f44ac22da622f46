/* SPDX-License-Identifier: Apache-2.0 */
/* Subwarp interleaving: who is next on a scripted warp, and runs in time beside pdom, barriers and hanoi. */
#include "path_slots.h"

#define SUBWARP "divergence.mechanism: subwarp\n"

/* The newest is next, and the last to come goes on for all. */
static void newest_is_next(void **state) {
    (void)state;
    struct scripted s;
    begin(&s, "subwarp", NULL, 0xff, 3);
    issue_at(&s, 0, 2, FLOW_BRANCH, 0x0f, 8);
    expect_path(&s, 0, 8, 0x0f);
    expect_path(&s, 1, 3, 0xf0);
    assert_int_equal(s.ops->paths->pick(s.self, 0, 3), 0);
    issue_at(&s, 0, 10, FLOW_BRANCH, 0x03, 12);
    expect_path(&s, 2, 11, 0x0c);
    assert_int_equal(s.ops->paths->pick(s.self, 0, 6), 2); /* not the outer side */
    assert_int_equal(s.ops->paths->pick(s.self, 0, 2), 1);
    assert_int_equal(counter(&s, "subwarps_largest"), 3);
    issue_at(&s, 0, 13, FLOW_NEXT, 0, 0);
    issue_at(&s, 2, 13, FLOW_NEXT, 0, 0);
    expect_path(&s, 2, 14, 0x0f);
    arena_free(&s.arena);
}

static void one_subwarp_is_pdom(void **state) {
    (void)state;
    for (unsigned m = 0; m < sizeof scoreboards / sizeof scoreboards[0]; m++) {
        char settings[512];
        snprintf(settings, sizeof settings, "%s" SUBWARP "subwarp.max: 1\n", scoreboards[m]);
        expect_same(scoreboards[m], settings, "pdom and one subwarp");
    }
}

static uint64_t run(const struct program_text *program, const char *settings, const char *name, uint64_t *cycles) {
    struct fixture f;
    open_machine(&f, settings);
    load(&f, program->text);
    expect_ok(&f, program, true);
    const struct gpu_stats *timed = f.result.timed;
    const uint64_t value = name ? own_counter(timed->own[OWN_MECHANISM], timed->own_stats[OWN_MECHANISM], name) : 0;
    *cycles = timed->cycles;
    finish(&f);
    return value;
}

/* And where sides have no barriers of their own, hanoi that takes them in the same order, and barriers. */
static void one_subwarp_is_hanoi_and_barriers(void **state) {
    (void)state;
    const struct program_text *const texts[] = {&sides, &nested};
    for (unsigned i = 0; i < 2; i++) {
        uint64_t cycles, hanoi, barriers;
        run(texts[i], "base: gtx480\n" LIMIT SUBWARP "subwarp.max: 1\n", NULL, &cycles);
        run(texts[i], "base: gtx480\n" LIMIT "divergence.mechanism: hanoi\nhanoi.first: taken\n", NULL, &hanoi);
        run(texts[i], "base: gtx480\n" LIMIT "divergence.mechanism: barriers\n", NULL, &barriers);
        assert_int_equal(cycles, hanoi);
        assert_int_equal(cycles, barriers);
    }
}

static void groups_are_those_of_pdom(void **state) {
    (void)state;
    expect_groups_of_pdom(SUBWARP, true);
    expect_groups_of_pdom(SUBWARP "subwarp.stalled: any\nsubwarp.yield: true\nsubwarp.refetch: false\n", true);
    expect_groups_of_pdom("sm.max_warps: 24\nsm.max_threads: 768\nsm.max_block_threads: 512\n" SUBWARP
                          "subwarp.max: 5\nsubwarp.stalled: half\n",
                          true);
}

/* Loads of both sides are out at once; not where memory is perfect. */
static void a_side_takes_over_while_the_other_waits(void **state) {
    (void)state;
    uint64_t pdom, cycles;
    run(&sides, "base: gtx480\n" LIMIT, NULL, &pdom);
    assert_true(run(&sides, "base: gtx480\n" LIMIT SUBWARP, "demotions", &cycles) > 0);
    assert_true(cycles < pdom);
    assert_int_equal(run(&sides, "base: gtx480\nl1.perfect: true\n" LIMIT SUBWARP, "demotions", &cycles), 0);
    for (unsigned i = 0; i < PROGRAMS; i++)
        assert_int_equal(run(&programs[i], "base: gtx480\nl1.perfect: true\n" LIMIT SUBWARP "subwarp.stalled: any\n",
                             "demotions", &cycles),
                         0);
}

/* A warp of the same scheduler that can always issue: nobody gives way. */
static void nobody_gives_way_while_others_can_issue(void **state) {
    (void)state;
    static const struct program_text busy = {
        "a warp that waits and some that do not",
        KERNEL("", "shr.u32 %r4, %r1, 5;\nsetp.ne.u32 %p2, %r4, 0;\nmov.u32 %r7, 600;\n@%p2 bra BUSY;\nand.b32 %r4, "
                   "%r1, 1;\nsetp.eq.u32 %p1, %r4, 0;\n"
                   "@%p1 bra A;\nld.global.u32 %r6, [%rd3+32768];\nadd.u32 %r6, %r6, 1;\nbra J;\nA: ld.global.u32 %r6, "
                   "[%rd3+16384];\nmul.lo.u32 %r6, %r6, 5;\nbra J;\n"
                   "BUSY: add.u32 %r8, %r1, 1;\nadd.u32 %r5, %r1, 2;\nadd.u32 %r8, %r1, 3;\nadd.u32 %r5, %r1, "
                   "4;\nsub.u32 %r7, %r7, 1;\nsetp.ne.u32 %p3, %r7, 0;\n@%p3 bra BUSY;\nmov.u32 %r6, %r7;\n"
                   "J: st.global.u32 [%rd3], %r6;\nret;"),
        1, 512};
    uint64_t cycles;
    const uint64_t all =
        run(&busy, "base: gtx480\nsm.schedulers: 1\n" LIMIT SUBWARP "subwarp.stalled: all\n", "demotions", &cycles);
    assert_int_equal(all, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newest_is_next),
        cmocka_unit_test(one_subwarp_is_pdom),
        cmocka_unit_test(one_subwarp_is_hanoi_and_barriers),
        cmocka_unit_test(groups_are_those_of_pdom),
        cmocka_unit_test(a_side_takes_over_while_the_other_waits),
        cmocka_unit_test(nobody_gives_way_while_others_can_issue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
