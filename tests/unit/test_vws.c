/* SPDX-License-Identifier: Apache-2.0 */
/* Variable warp sizing: gangs driven by scripted outcomes, and runs in time beside stacks of warps of 32 and of 8. */
#include "path_slots.h"

#define VWS "divergence.mechanism: vws\n"
#define ALL UINT32_MAX

/* The example of the rules: warps 0 to 2 go to one place, 3 and 4 to another, 5 and 6 to a third, and 7 alone. */
static void gangs_part_by_pc(void **state) {
    (void)state;
    struct scripted s;
    begin(&s, "vws", NULL, ALL, 8);
    expect_path(&s, 0, 0, ALL);
    struct group group;
    assert_true(s.ops->offer(s.self, 0, &group));
    struct executed executed = {.flow = FLOW_MULTI, .pc = 2, .issues = 1, .lanes = ALL, .taken = ALL};
    for (unsigned lane = 0; lane < 32; lane++)
        executed.next[lane] = lane < 12 ? 3 : lane < 20 ? 8 : lane < 28 ? 12 : 16;
    s.ops->issued(s.self, 0, &group, &executed);
    expect_path(&s, 0, 3, 0x00000fff);
    expect_path(&s, 1, 8, 0x000ff000);
    expect_path(&s, 2, 12, 0x0ff00000);
    expect_path(&s, 3, 16, 0xf0000000);
    expect_no_path(&s, 4);
    assert_int_equal(counter(&s, "gangs_largest"), 3);
    assert_int_equal(counter(&s, "groups_largest"), 4);
    /* the gang of three first, then one of two, then who is alone; of gangs two a turn */
    const struct divergence_beside *beside = s.ops->paths->beside;
    assert_true(beside->rank(s.self, 0, 0, 0) > beside->rank(s.self, 1, 0, 0));
    assert_int_equal(beside->rank(s.self, 1, 0, 0), beside->rank(s.self, 2, 0, 1));
    assert_true(beside->rank(s.self, 2, 0, 1) > beside->rank(s.self, 3, 0, 1));
    assert_int_equal(beside->rank(s.self, 2, 0, 2), 0);
    assert_true(beside->rank(s.self, 3, 0, 2) > 0);
    /* for good, though they meet */
    issue_at(&s, 0, 3, FLOW_BRANCH, 0xfff, 20);
    issue_at(&s, 1, 8, FLOW_BRANCH, 0x000ff000, 20);
    expect_path(&s, 0, 20, 0x00000fff);
    expect_path(&s, 1, 20, 0x000ff000);
    arena_free(&s.arena);
}

/* Within its threads a warp has a stack; the rest of its gang goes on without it. */
static void a_warp_that_parts_has_a_stack(void **state) {
    (void)state;
    struct scripted s;
    begin(&s, "vws", NULL, 0xff, 8);
    issue_at(&s, 0, 2, FLOW_BRANCH, 0x03, 8); /* two lanes of the first warp */
    expect_path(&s, 0, 3, 0xf0);
    expect_path(&s, 1, 8, 0x03);
    issue_at(&s, 1, 19, FLOW_NEXT, 0, 0);
    expect_path(&s, 1, 3, 0x0c);
    issue_at(&s, 1, 19, FLOW_NEXT, 0, 0);
    expect_path(&s, 1, 20, 0x0f);
    issue_at(&s, 0, 19, FLOW_NEXT, 0, 0);
    expect_path(&s, 0, 20, 0xf0);
    issue_at(&s, 0, 20, FLOW_EXIT, 0xf0, 0);
    expect_no_path(&s, 0);
    assert_int_equal(s.ops->alive(s.self, 0), 0x0f);
    arena_free(&s.arena);
}

static void elastic_gangs_meet_again(void **state) {
    (void)state;
    static const char *const elastic[] = {"vws.reform=elastic", NULL};
    struct scripted s;
    begin(&s, "vws", elastic, 0xff, 8);
    issue_at(&s, 0, 2, FLOW_BRANCH, 0x0f, 8);
    expect_path(&s, 0, 3, 0xf0);
    expect_path(&s, 1, 8, 0x0f);
    issue_at(&s, 0, 3, FLOW_BRANCH, 0xf0, 20);
    issue_at(&s, 1, 8, FLOW_BRANCH, 0x0f, 20);
    expect_path(&s, 0, 20, 0xff);
    expect_no_path(&s, 1);
    assert_int_equal(counter(&s, "joins"), 1);
    arena_free(&s.arena);
}

/* Warps 0 and 1 of four have their data, 2 has some of them, 3 none. */
static void loads_divide_gangs(void **state) {
    (void)state;
    static const char *const group[] = {"vws.memory=group", NULL}, *const impatient[] = {"vws.memory=impatient", NULL};
    struct scripted s;
    begin(&s, "vws", group, 0xffff, 8);
    assert_int_equal(s.ops->paths->dividing->when(s.params), DIVIDES_AT_LOOK_UP);
    assert_true(s.ops->paths->dividing->divide(s.self, 0, 0x01ff, 0xfe00, false) != 0);
    expect_path(&s, 0, 0, 0x00ff);
    expect_path(&s, 1, 0, 0xff00);
    expect_no_path(&s, 2);
    assert_int_equal(s.ops->paths->dividing->divide(s.self, 0, 0, 0xff00, false), 0); /* all wait */
    arena_free(&s.arena);
    begin(&s, "vws", impatient, 0xffff, 8);
    s.ops->paths->dividing->divide(s.self, 0, 0x01ff, 0xfe00, false);
    for (unsigned slot = 0; slot < 4; slot++)
        expect_path(&s, slot, 0, 0xfu << 4 * slot);
    assert_int_equal(counter(&s, "memory_splits"), 1);
    arena_free(&s.arena);
    begin(&s, "vws", NULL, 0xffff, 8);
    assert_int_equal(s.ops->paths->dividing->when(s.params), DIVIDES_NEVER);
    arena_free(&s.arena);
}

/* Two slots for four groups: who waits for others, and who has branched often, gives its slot up to who has waited longest. */
static void groups_wait_for_slots(void **state) {
    (void)state;
    struct scripted s;
    begin(&s, "vws", NULL, 0xffff, 2);
    struct group group;
    assert_true(s.ops->offer(s.self, 0, &group));
    struct executed executed = {.flow = FLOW_MULTI, .pc = 2, .issues = 1, .lanes = 0xffff, .taken = 0xffff};
    for (unsigned lane = 0; lane < 16; lane++)
        executed.next[lane] = 3 + lane / 4 * 4;
    s.ops->issued(s.self, 0, &group, &executed);
    expect_path(&s, 0, 3, 0x000f);
    expect_path(&s, 1, 7, 0x00f0);
    issue_at(&s, 1, 7, FLOW_BARRIER, 0x00f0, 0);
    s.ops->waiting->wait(s.self, 0, 0x00f0);
    expect_path(&s, 1, 11, 0x0f00);
    unsigned branches = 0;
    do {
        issue_at(&s, 0, 5, FLOW_BRANCH, 0x000f, 3);
        assert_true(s.ops->offer(s.self, 0, &group));
    } while (group.lanes == 0x000f && ++branches < 1000);
    assert_true(branches > 10 && branches < 1000);
    assert_int_equal(group.lanes, 0xf000);
    assert_int_equal(counter(&s, "handed_on"), 1);
    s.ops->waiting->go_on(s.self, 0, 0x00f0);
    assert_int_equal(s.ops->alive(s.self, 0), 0xffff);
    arena_free(&s.arena);
}

/* ---- in time ---- */

static void a_slice_of_all_lanes_is_pdom(void **state) {
    (void)state;
    for (unsigned m = 0; m < sizeof scoreboards / sizeof scoreboards[0]; m++) {
        char settings[512];
        snprintf(settings, sizeof settings, "%s" VWS "vws.base: 32\n", scoreboards[m]);
        expect_same(scoreboards[m], settings, "pdom and a slice of 32");
    }
}

static uint64_t run(const struct program_text *program, const char *settings, uint64_t *issues, uint64_t *fetches) {
    struct fixture f;
    open_machine(&f, settings);
    load(&f, program->text);
    expect_ok(&f, program, true);
    check_books(&f, program->name);
    const uint64_t cycles = f.result.timed->cycles;
    *issues = f.result.timed->sm.issues, *fetches = f.result.timed->sm.fetches;
    finish(&f);
    return cycles;
}

/* Nobody parts, and warps are whole: a gang takes all slices, and nothing changes. */
static void whole_gangs_are_pdom(void **state) {
    (void)state;
    static const struct program_text whole[] = {
        {"a loop of loads",
         KERNEL("",
                "mov.u32 %r5, 0;\nL: ld.global.u32 %r4, [%rd3];\nmad.lo.u32 %r6, %r4, 3, %r6;\nadd.u32 %r5, %r5, 1;\n"
                "setp.lt.u32 %p1, %r5, 9;\n@%p1 bra L;\nst.global.u32 [%rd3], %r6;\nret;"),
         24, 256},
        {"shared memory and a barrier",
         KERNEL(".shared .align 4 .b8 s[1024];\n",
                "and.b32 %r4, %r1, 255;\nmul.lo.u32 %r4, %r4, 4;\nmov.u32 %r5, s;\nadd.u32 %r5, %r5, %r4;\n"
                "st.shared.u32 [%r5], %r1;\nbar.sync 0;\nld.shared.u32 %r6, [%r5];\nst.global.u32 [%rd3], %r6;\nret;"),
         24, 256}};
    static const char *const bases[] = {"base: gtx480\n", "base: gtx480\nsm.scheduler: rr\n", "base: rogers-vws\n",
                                        "base: rogers-vws\nvws.order: lgto\n",
                                        "base: rogers-vws\nsm.scheduler: two-level\nvws.base: 8\n"};
    for (unsigned i = 0; i < 2; i++)
        for (unsigned m = 0; m < sizeof bases / sizeof bases[0]; m++) {
            uint64_t issues[2], fetches[2];
            char settings[512];
            snprintf(settings, sizeof settings, "%s" LIMIT, bases[m]);
            const uint64_t one = run(&whole[i], settings, &issues[0], &fetches[0]);
            snprintf(settings, sizeof settings, "%s" VWS LIMIT, bases[m]);
            const uint64_t two = run(&whole[i], settings, &issues[1], &fetches[1]);
            if (one != two || issues[0] != issues[1] || fetches[0] != fetches[1])
                fail_msg("%s, machine %u: %llu and %llu cycles", whole[i].name, m, (unsigned long long)one,
                         (unsigned long long)two);
        }
}

/* Which threads of which eight issue what, whatever warp they are in; and what issues in a turn. */
struct eights {
    const struct inst *code;
    unsigned warp_size, schedulers, most_gangs, slice;
    uint64_t sum, count, wrong, beside, together;
    struct {
        uint64_t cycle;
        uint32_t slices;
        unsigned gangs, accesses;
    } of[8];
};

static void hear_eights(void *self, const struct sm *sm, const struct sm_issue *issue) {
    struct eights *eights = self;
    const unsigned warp = sm_warp_of(sm, issue->slot), warps = sm_shape_of(sm)->warps_per_place;
    for (unsigned first = 0; first < eights->warp_size; first += 8) {
        const uint32_t lanes = issue->group.lanes >> first & 0xff;
        const uint64_t place = sm_block_of(sm, warp) * 4096 + (warp % warps * eights->warp_size + first) / 8;
        uint64_t word = ((place * 65536 + issue->group.pc) * UINT64_C(0x9e3779b97f4a7c15)) ^ lanes;
        word *= UINT64_C(0xff51afd7ed558ccd);
        eights->sum += lanes ? word ^ word >> 29 : 0;
        eights->count += lanes != 0;
    }
    uint32_t slices = 0;
    for (unsigned slice = 0; slice < 32 / eights->slice; slice++)
        slices |= (uint32_t)((issue->group.lanes >> slice * eights->slice & ((UINT64_C(1) << eights->slice) - 1)) != 0)
                  << slice;
    const unsigned number = warp % eights->schedulers;
    const bool same = eights->of[number].slices && eights->of[number].cycle == issue->cycle;
    if (!same)
        memset(&eights->of[number], 0, sizeof eights->of[number]);
    const enum op op = eights->code[issue->group.pc].op;
    eights->beside += same;
    eights->wrong += (eights->of[number].slices & slices) != 0;
    eights->of[number].cycle = issue->cycle, eights->of[number].slices |= slices;
    eights->of[number].gangs += bits_count(slices) > 1;
    eights->wrong += eights->of[number].gangs > eights->most_gangs;
    eights->of[number].accesses += op == OP_LD || op == OP_ST;
    eights->together += eights->of[number].accesses > 1;
}

static struct eights eights_of(const struct program_text *program, const char *settings, unsigned slice,
                               unsigned most_gangs) {
    struct fixture f;
    open_machine(&f, settings);
    load(&f, program->text);
    struct eights eights = {.code = program_module(f.program)->code,
                            .warp_size = f.machine.warp_size,
                            .schedulers = f.machine.sm.schedulers,
                            .slice = slice,
                            .most_gangs = most_gangs};
    const struct sm_observer observer = {.self = &eights, .issued = hear_eights};
    f.issues = &observer;
    expect_ok(&f, program, true);
    check_books(&f, program->name);
    finish(&f);
    return eights;
}

/* Slices issue what warps of their size do under pdom: the same threads together, at the same PCs, as often. */
static void slices_issue_what_small_warps_do(void **state) {
    (void)state;
    static const char *const keys[] = {"", "vws.order: lgto\nvws.gangs_per_cycle: 1\n", "vws.reform: elastic\n",
                                       "vws.memory: impatient\nvws.paths: 2\n", "vws.memory: group\nvws.order: lpc\n"};
    static const unsigned gangs[] = {2, 1, 2, 2, 2};
    uint64_t beside = 0, together = 0;
    for (unsigned i = 0; i < PROGRAMS + 2; i++) {
        const struct program_text *program = i < PROGRAMS ? &programs[i] : i == PROGRAMS ? &sides : &nested;
        const struct eights small = eights_of(program,
                                              "base: gtx480\nsm.count: 1\nsm.warp_size: 8\nsm.max_warps: "
                                              "64\nsm.max_threads: 512\nsm.max_block_threads: 512\n" LIMIT,
                                              8, 1);
        for (unsigned k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            char settings[512];
            snprintf(settings, sizeof settings, "base: gtx480\nsm.count: 1\n" VWS "vws.base: 8\n%s" LIMIT, keys[k]);
            const struct eights eights = eights_of(program, settings, 8, gangs[k]);
            if (eights.sum != small.sum || eights.count != small.count || eights.wrong)
                fail_msg("%s, %s: %llu of slices and %llu of warps of 8, or others; %llu turns are wrong",
                         program->name, keys[k], (unsigned long long)eights.count, (unsigned long long)small.count,
                         (unsigned long long)eights.wrong);
            beside += eights.beside, together += eights.together;
        }
    }
    assert_true(beside > 0 && together > 0);
}

/* Half of the slices go one way, with as many accesses to shared memory and to lines that both halves share: two gangs at once, and one access of both, take
 * little more than one side. */
static void gangs_of_a_turn_share_its_access(void **state) {
    (void)state;
    static const struct program_text halves = {
        "halves of a warp",
        KERNEL(".shared .align 4 .b8 s[4096];\n",
               "and.b32 %r4, %r1, 31;\nmul.lo.u32 %r5, %r4, 4;\nmov.u32 %r6, s;\nadd.u32 %r6, %r6, %r5;\n"
               "setp.lt.u32 %p1, %r4, 16;\nmov.u32 %r7, 0;\n@%p1 bra A;\nL: ld.shared.u32 %r8, [%r6];\n"
               "ld.global.u32 %r8, [%rd3];ld.global.u32 %r5, [%rd3];ld.global.u32 %r4, [%rd3];ld.global.u32 %r9, "
               "[%rd3];\nadd.u32 %r7, %r7, 1;\nsetp.lt.u32 %p2, %r7, 50;\n@%p2 bra L;\nbra J;\n"
               "A: ld.shared.u32 %r8, [%r6];\nld.global.u32 %r8, [%rd3];ld.global.u32 %r5, [%rd3];ld.global.u32 %r4, "
               "[%rd3];ld.global.u32 %r9, [%rd3];\nadd.u32 %r7, %r7, 1;\n"
               "setp.lt.u32 %p2, %r7, 50;\n@%p2 bra A;\nJ: st.global.u32 [%rd3], %r7;\nret;"),
        1, 1024};
    uint64_t issues[2], fetches[2];
    const uint64_t one = run(&halves, "base: rogers-vws\n" LIMIT, &issues[0], &fetches[0]);
    const uint64_t two = run(&halves, "base: rogers-vws\nsm.fetches_per_cycle: 2\n" VWS LIMIT, &issues[1], &fetches[1]);
    if (two * 5 > one * 3)
        fail_msg("%llu cycles, %llu of pdom", (unsigned long long)two, (unsigned long long)one);
    assert_int_equal(issues[0] + 64, issues[1]); /* the two instructions behind, twice for each warp */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gangs_part_by_pc),
        cmocka_unit_test(a_warp_that_parts_has_a_stack),
        cmocka_unit_test(elastic_gangs_meet_again),
        cmocka_unit_test(loads_divide_gangs),
        cmocka_unit_test(groups_wait_for_slots),
        cmocka_unit_test(a_slice_of_all_lanes_is_pdom),
        cmocka_unit_test(whole_gangs_are_pdom),
        cmocka_unit_test(slices_issue_what_small_warps_do),
        cmocka_unit_test(gangs_of_a_turn_share_its_access),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
