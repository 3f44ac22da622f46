/* SPDX-License-Identifier: Apache-2.0 */
/* Simultaneous branch and warp interweaving: the rules driven by scripted outcomes, and runs in time beside frontiers. */
#include "path_slots.h"

#define SBI "divergence.mechanism: sbi\n"

/* Blocks of one instruction, in the order of the text, and a branch at 2 that meets at 20. */
static void begin_blocks(struct scripted *s, const char *const *settings, uint32_t lanes, uint32_t back) {
    begin(s, "sbi", settings, lanes, 2);
    for (unsigned pc = 0; pc < CODE; pc++)
        s->code[pc].place = pc;
    s->code[2].op = OP_BRA, s->code[2].guard = 0, s->code[2].target = 8;
    if (back != NO_PC)
        s->code[back].op = OP_BRA, s->code[back].guard = 0, s->code[back].target = 1,
        s->code[back].reconverge = back + 1;
    const struct divergence_shape shape = {.code = s->code,
                                           .code_count = CODE,
                                           .warps = 1,
                                           .paths = 2,
                                           .warp_size = 32,
                                           .width = 32,
                                           .warps_per_block = 1,
                                           .schedulers = 1,
                                           .params = s->params};
    s->self = s->ops->create(&s->arena, &shape);
    assert_int_equal(s->ops->start(s->self, 0, 0, lanes), 1);
}

/* The first two have the slots; a third waits until it is one of them. */
static void first_two_are_offered(void **state) {
    (void)state;
    struct scripted s;
    begin_blocks(&s, NULL, 0xff, NO_PC);
    expect_path(&s, 0, 0, 0xff);
    expect_no_path(&s, 1);
    issue_at(&s, 0, 2, FLOW_BRANCH, 0x0f, 8);
    expect_path(&s, 0, 3, 0xf0); /* who falls through keeps the slot, and what is fetched for it */
    expect_path(&s, 1, 8, 0x0f);
    assert_int_equal(s.ops->paths->pick(s.self, 0, 3), 0);
    assert_int_equal(s.ops->paths->pick(s.self, 0, 2), 1);
    issue_at(&s, 1, 8, FLOW_BRANCH, 0x03, 11);
    expect_path(&s, 0, 3, 0xf0);
    expect_path(&s, 1, 9, 0x0c); /* 11 is the third */
    issue_at(&s, 1, 9, FLOW_BRANCH, 0x0c, 14);
    expect_path(&s, 1, 11, 0x03); /* and now the second */
    issue_at(&s, 0, 3, FLOW_BRANCH, 0xf0, 12);
    assert_int_equal(s.ops->paths->pick(s.self, 0, 3), 1); /* 11 comes before 12 */
    issue_at(&s, 1, 11, FLOW_NEXT, 0, 0);
    assert_int_equal(counter(&s, "joins"), 1);
    const unsigned slot = s.ops->paths->pick(s.self, 0, 3);
    expect_path(&s, slot, 12, 0xf3);
    assert_int_equal(counter(&s, "paths_largest"), 3);
    arena_free(&s.arena);
}

/* 20 is where the branch at 2 meets: who comes there waits for who is between, whatever comes first later. */
static void second_waits_where_it_may_meet_the_first(void **state) {
    (void)state;
    for (unsigned wait = 0; wait < 2; wait++) {
        struct scripted s;
        const char *const settings[] = {wait ? "sbi.wait=true" : "sbi.wait=false", NULL};
        begin_blocks(&s, settings, 0xf, NO_PC);
        issue_at(&s, 0, 2, FLOW_BRANCH, 0x3, 8);
        issue_at(&s, 1, 8, FLOW_BRANCH, 0x3, 20);
        assert_int_equal(counter(&s, "held"), wait);
        if (wait)
            expect_no_path(&s, 1);
        else
            expect_path(&s, 1, 20, 0x3);
        issue_at(&s, 0, 3, FLOW_BRANCH, 0xc, 20);
        expect_path(&s, !wait, 20, 0xf); /* who is there has the slot that it has had */
        expect_no_path(&s, wait);
        assert_int_equal(counter(&s, "held"), wait);
        arena_free(&s.arena);
    }
}

/* 1 to 10 are a loop, and the branch in it leaves it for 20: lanes at 1 will come by, though they are before the branch. */
static void who_has_left_a_loop_waits_behind_it(void **state) {
    (void)state;
    struct scripted s;
    begin_blocks(&s, NULL, 0xf, 10);
    issue_at(&s, 0, 2, FLOW_BRANCH, 0x3, 20);
    expect_no_path(&s, 1); /* those are at 20 */
    issue_at(&s, 0, 10, FLOW_BRANCH, 0xc, 1);
    expect_path(&s, 0, 1, 0xc);
    expect_no_path(&s, 1);
    issue_at(&s, 0, 2, FLOW_BRANCH, 0xc, 20);
    expect_path(&s, 0, 20, 0xf);
    arena_free(&s.arena);
}

/* One that has called keeps the second; one at a barrier keeps nobody. */
static void who_waits_for_others_keeps_nobody(void **state) {
    (void)state;
    struct scripted s;
    begin_blocks(&s, NULL, 0xf, NO_PC);
    issue_at(&s, 0, 2, FLOW_BRANCH, 0x3, 20);
    expect_no_path(&s, 1);
    issue_at(&s, 0, 3, FLOW_BARRIER, 0xc, 0);
    s.ops->waiting->wait(s.self, 0, 0xc);
    expect_path(&s, 0, 20, 0x3);
    expect_no_path(&s, 1);
    assert_int_equal(s.ops->waiting->go_on(s.self, 0, 0xc), 3);
    expect_path(&s, 0, 4, 0xc);
    expect_no_path(&s, 1); /* behind it again */
    issue_at(&s, 0, 4, FLOW_EXIT, 0xc, 0);
    assert_int_equal(s.ops->alive(s.self, 0), 0x3);
    assert_int_equal(counter(&s, "held"), 2);
    arena_free(&s.arena);
}

/* Every way to number the units is a permutation, and that of its rule. */
static void units_are_permuted(void **state) {
    (void)state;
    static const char *const names[] = {"sbi.units=in-place", "sbi.units=mirror-odd", "sbi.units=mirror-half",
                                        "sbi.units=xor", "sbi.units=xor-reversed"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        for (unsigned width = 8; width <= 32; width *= 2) {
            struct scripted s;
            const char *const settings[] = {names[i], NULL};
            memset(&s, 0, sizeof s);
            choose(&s, "sbi", settings);
            const struct divergence_shape shape = {.code = s.code,
                                                   .code_count = CODE,
                                                   .warps = 48,
                                                   .paths = 2,
                                                   .warp_size = 32,
                                                   .width = width,
                                                   .params = s.params};
            s.self = s.ops->create(&s.arena, &shape);
            for (unsigned warp = 0; warp < 48; warp++)
                for (unsigned lane = 0; lane < width; lane++) {
                    unsigned reversed = 0;
                    for (unsigned bit = 1; bit < width; bit *= 2)
                        reversed = reversed * 2 + (warp / bit & 1);
                    const unsigned mirror = width - 1 - lane;
                    const unsigned units[] = {lane, warp & 1 ? mirror : lane, warp >= 24 ? mirror : lane,
                                              lane ^ (warp & (width - 1)), lane ^ reversed};
                    const uint32_t alone = s.ops->paths->beside->units(s.self, warp, UINT32_C(1) << lane);
                    assert_int_equal(alone, UINT32_C(1) << units[i]);
                }
            const uint32_t all = width == 32 ? UINT32_MAX : (UINT32_C(1) << width) - 1;
            assert_int_equal(s.ops->paths->beside->units(s.self, 5, all), all);
            arena_free(&s.arena);
        }
}

/* ---- in time ---- */

static const char *const seconds[] = {"path", "warp", "either"};

/* Not under `two-level`: it takes a load that hit for near until the warp's next, where frontiers' front end does not tell it of a barrier meanwhile. */
static void none_beside_is_frontiers(void **state) {
    (void)state;
    static const char *const bases[] = {"base: gtx480\n" LIMIT, "base: gtx480\nsm.scheduler: rr\n" LIMIT,
                                        "base: qv100\nsm.count: 5\n" LIMIT, SCOREBOARD};
    for (unsigned m = 0; m < sizeof bases / sizeof bases[0]; m++) {
        char one[512], other[512];
        snprintf(one, sizeof one, "%sdivergence.mechanism: frontiers\n", bases[m]);
        snprintf(other, sizeof other, "%s" SBI "sbi.second: none\n", bases[m]);
        expect_same(one, other, "frontiers and sbi without a second");
    }
}

struct turn {
    uint64_t cycle;
    uint32_t units;
    unsigned issues, accesses;
};

/* What schedulers issue in a turn. */
struct turns {
    const struct inst *code;
    unsigned schedulers;
    bool xors; /* sbi.units=xor, else in-place */
    struct turn of[4];
    uint64_t issues, beside, wrong;
};

static void hear_turn(void *self, const struct sm *sm, const struct sm_issue *issue) {
    struct turns *turns = self;
    const unsigned warp = sm_warp_of(sm, issue->slot);
    struct turn *turn = &turns->of[warp % turns->schedulers];
    const bool same = turn->issues && turn->cycle == issue->cycle;
    uint32_t units = 0;
    for (BITS_EACH(lane, issue->group.lanes))
        units |= UINT32_C(1) << (turns->xors ? lane ^ (warp & 31) : lane);
    if (!same)
        *turn = (struct turn){.cycle = issue->cycle};
    const enum op op = turns->code[issue->group.pc].op;
    turns->wrong += (turn->units & units) != 0;
    turn->units |= units;
    turn->accesses += op == OP_LD || op == OP_ST || op == OP_ATOM || op == OP_RED;
    turns->wrong += ++turn->issues > 2 || turn->accesses > 1;
    turns->issues++;
    turns->beside += same;
}

/* Cycles; those issued beside another in *beside, if asked for. */
static uint64_t run(const struct program_text *program, const char *settings, uint64_t *issues, uint64_t *beside) {
    struct fixture f;
    open_machine(&f, settings);
    load(&f, program->text);
    expect_ok(&f, program, true);
    check_books(&f, program->name);
    const struct gpu_stats *timed = f.result.timed;
    const uint64_t cycles = timed->cycles;
    *issues = timed->sm.issues;
    if (beside) {
        *beside = own_counter(timed->own[OWN_MECHANISM], timed->own_stats[OWN_MECHANISM], "beside_paths") +
                  own_counter(timed->own[OWN_MECHANISM], timed->own_stats[OWN_MECHANISM], "beside_warps");
        assert_int_equal(*beside, timed->sm.bundled);
    }
    finish(&f);
    return cycles;
}

/* Two at most in a turn, on units of their own, of which one accesses memory; as many pairs as are counted. Who hears of every issue changes nothing. */
static void two_of_a_turn_share_no_unit(void **state) {
    (void)state;
    for (unsigned k = 0; k < 6; k++) {
        uint64_t pairs = 0;
        for (unsigned i = 0; i < PROGRAMS + 2; i++) {
            const struct program_text *program = i < PROGRAMS ? &programs[i] : i == PROGRAMS ? &sides : &nested;
            char settings[512];
            uint64_t issues, beside;
            snprintf(settings, sizeof settings,
                     "base: gtx480\nsm.count: 1\n" SBI "sbi.second: %s\nsbi.units: %s\n%s" LIMIT, seconds[k % 3],
                     k < 3 ? "in-place" : "xor", k < 3 ? "" : "sbi.wait: false\nsbi.ways: 3\n");
            const uint64_t cycles = run(program, settings, &issues, &beside);
            struct fixture f;
            open_machine(&f, settings);
            load(&f, program->text);
            struct turns turns = {.code = program_module(f.program)->code,
                                  .schedulers = f.machine.sm.schedulers,
                                  .xors = k >= 3};
            const struct sm_observer observer = {.self = &turns, .issued = hear_turn};
            f.issues = &observer;
            expect_ok(&f, program, true);
            if (turns.wrong || turns.beside != beside || turns.issues != issues || f.result.timed->cycles != cycles)
                fail_msg("%s, %s: %llu pairs, %llu counted; %llu turns are wrong; %llu and %llu cycles", program->name,
                         seconds[k % 3], (unsigned long long)turns.beside, (unsigned long long)beside,
                         (unsigned long long)turns.wrong, (unsigned long long)cycles,
                         (unsigned long long)f.result.timed->cycles);
            pairs += beside;
            finish(&f);
        }
        assert_true(pairs > 0);
    }
}

/* Where the second path waits to meet the first, structured code issues no more than with one path; and a lone warp with sides of equal length is done earlier. */
static void structured_code_issues_no_more(void **state) {
    (void)state;
    uint64_t one, two, beside;
    for (unsigned i = 0; i < PROGRAMS + 2; i++) {
        const struct program_text *program = i < PROGRAMS ? &programs[i] : i == PROGRAMS ? &sides : &nested;
        run(program, "base: gtx480\nsm.count: 1\ndivergence.mechanism: frontiers\n" LIMIT, &one, NULL);
        run(program, "base: gtx480\nsm.count: 1\n" SBI LIMIT, &two, &beside);
        if (two > one)
            fail_msg("%s: %llu instructions, %llu with one path", program->name, (unsigned long long)two,
                     (unsigned long long)one);
    }
    static const struct program_text arithmetic = {
        "sides of arithmetic",
        KERNEL(
            "",
            "and.b32 %r4, %r1, 1;\nsetp.eq.u32 %p1, %r4, 0;\nmov.u32 %r5, 0;\nL: @%p1 bra A;\nmul.lo.u32 %r6, "
            "%r1, 3;\nadd.u32 %r7, %r1, 5;\nmul.lo.u32 %r8, %r1, 3;\nadd.u32 %r9, %r1, 5;\nbra J;\nA: mul.lo.u32 "
            "%r6, %r1, 5;\nadd.u32 %r7, %r1, 6;\nmul.lo.u32 %r8, %r1, 4;\nadd.u32 %r9, %r1, 7;\nJ: add.u32 %r5, %r5, "
            "1;\nsetp.lt.u32 %p2, %r5, 50;\n@%p2 bra L;\nst.global.u32 [%rd3], %r6;\nret;"),
        1, 512};
    const uint64_t alone = run(&arithmetic, "base: gtx480\ndivergence.mechanism: frontiers\n" LIMIT, &one, NULL);
    const uint64_t paired = run(&arithmetic, "base: gtx480\n" SBI LIMIT, &two, &beside);
    assert_int_equal(one, two);
    assert_true(beside > one / 20);
    assert_true(paired + alone / 10 < alone);
    /* half of the lanes of every warp are free, the same in all unless their units differ */
    const uint64_t fits = run(&arithmetic, "base: gtx480\n" SBI "sbi.second: warp\n" LIMIT, &two, &beside);
    assert_int_equal(one, two);
    assert_true(beside > 0 && fits < alone);
}

/* Nobody parts: no path is beside another, and nothing changes; nor does a warp whose lanes are all busy leave units to others. */
static void without_divergence_nothing_changes(void **state) {
    (void)state;
    static const struct program_text whole = {
        "nobody diverges",
        KERNEL("",
               "mov.u32 %r5, 0;\nL: ld.global.u32 %r4, [%rd3];\nmad.lo.u32 %r6, %r4, 3, %r6;\nadd.u32 %r5, %r5, 1;\n"
               "setp.lt.u32 %p1, %r5, 9;\n@%p1 bra L;\nst.global.u32 [%rd3], %r6;\nret;"),
        24, 256};
    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < 3; k++) {
            char settings[512];
            uint64_t one, two, beside;
            snprintf(settings, sizeof settings, "base: gtx480\n%s" SBI "sbi.second: %s\n" LIMIT,
                     i ? "sm.scheduler: rr\n" : "", seconds[k]);
            const uint64_t with = run(&whole, settings, &two, &beside);
            snprintf(settings, sizeof settings, "base: gtx480\n%s" SBI "sbi.second: none\n" LIMIT,
                     i ? "sm.scheduler: rr\n" : "");
            assert_int_equal(run(&whole, settings, &one, NULL), with);
            assert_int_equal(one, two);
            assert_int_equal(beside, 0);
        }
}

/* Sets of one warp have no other: nobody is found; of all, the more. */
static void ways_bound_the_search(void **state) {
    (void)state;
    uint64_t issues, none, some, all;
    const struct program_text *parts = &programs[4];
    run(parts, "base: gtx480\nsm.count: 1\n" SBI "sbi.second: warp\nsbi.ways: 1\n" LIMIT, &issues, &none);
    run(parts, "base: gtx480\nsm.count: 1\n" SBI "sbi.second: warp\nsbi.ways: 3\n" LIMIT, &issues, &some);
    run(parts, "base: gtx480\nsm.count: 1\n" SBI "sbi.second: warp\n" LIMIT, &issues, &all);
    assert_int_equal(none, 0);
    assert_true(some > 0 && all > some);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_two_are_offered),
        cmocka_unit_test(second_waits_where_it_may_meet_the_first),
        cmocka_unit_test(who_has_left_a_loop_waits_behind_it),
        cmocka_unit_test(who_waits_for_others_keeps_nobody),
        cmocka_unit_test(units_are_permuted),
        cmocka_unit_test(none_beside_is_frontiers),
        cmocka_unit_test(two_of_a_turn_share_no_unit),
        cmocka_unit_test(structured_code_issues_no_more),
        cmocka_unit_test(without_divergence_nothing_changes),
        cmocka_unit_test(ways_bound_the_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
