/* SPDX-License-Identifier: Apache-2.0 */
/* Thread block compaction: warps formed at branches, driven by scripted outcomes; in time, a block of one warp is a
 * warp. */
#include "tbc_script.h"

static void begin(struct script *s, const char *sync) {
    const char *const keys[] = {"tbc.sync", sync, NULL};
    begin_code(s);
    begin_block(s, 2, keys);
}

/* The program of [000 fig. 4.1] with threads 0 to 3 as warp x, 4 to 7 as y: A 1111/1111, B 1110/0011, C 1000/0010,
 * D 0110/0001, E 1110/0011, F 0001/1100, G 1111/1111. */
static void tbc_compacts_the_published_example(void **state) {
    (void)state;
    enum { A = 0, B = 1, C = 2, D = 3, E = 4, F = 6, G = 7 };
    struct script s;
    begin(&s, "every");
    s.code[A] = (struct inst){.op = OP_BRA, .guard = 0, .target = F, .reconverge = G};
    s.code[B] = (struct inst){.op = OP_BRA, .guard = 0, .target = D, .reconverge = E};
    s.code[C] = (struct inst){.op = OP_BRA, .guard = -1, .target = E};
    s.code[E] = (struct inst){.op = OP_BRA, .guard = -1, .target = G};
    s.code[G] = (struct inst){.op = OP_EXIT, .guard = -1};
    expect(&s, 0, A, "0123");
    expect(&s, 1, A, "4567");
    const struct away x = issue(&s, 0, FLOW_BRANCH, 1 << 3 | 1 << 4 | 1 << 5, F);
    expect(&s, 0, 0, NULL); /* waits for the other warp of its block */
    s.ops->forming->returned(s.self, x.threads, x.lanes);
    expect(&s, 0, 0, NULL);
    const struct away y = issue(&s, 1, FLOW_BRANCH, 1 << 3 | 1 << 4 | 1 << 5, F);
    bool memory;
    assert_int_equal(s.ops->forming->ahead(s.self, 0, &memory), F);
    expect(&s, 0, 0, NULL); /* formed, but not all of its threads are back */
    s.ops->forming->returned(s.self, y.threads, y.lanes);
    expect(&s, 0, F, "45-3");
    expect(&s, 1, F, NULL);
    step(&s, 0, FLOW_NEXT, 0, 0);
    expect(&s, 0, B, "0127"); /* the fullest lane has two threads */
    expect(&s, 1, B, "--6-");
    step(&s, 1, FLOW_BRANCH, 1 << 1 | 1 << 2 | 1 << 7, D);
    step(&s, 0, FLOW_BRANCH, 1 << 1 | 1 << 2 | 1 << 7, D);
    expect(&s, 0, D, "-127");
    expect(&s, 1, D, NULL);
    step(&s, 0, FLOW_NEXT, 0, 0);
    expect(&s, 0, C, "0-6-");
    step(&s, 0, FLOW_BRANCH, 0xff, E);
    expect(&s, 0, E, "0127");
    step(&s, 0, FLOW_BRANCH, 0xff, G);
    expect(&s, 0, E, NULL); /* reconvergence: waits there as well */
    expect(&s, 1, E, "--6-");
    step(&s, 1, FLOW_BRANCH, 0xff, G);
    expect(&s, 0, G, "0123"); /* the warps of the program again */
    expect(&s, 1, G, "4567");
    step(&s, 0, FLOW_EXIT, 0xff, 0);
    assert_int_equal(s.ops->alive(s.self, 0), 0);
    assert_int_equal(s.ops->alive(s.self, 1), 0xf);
    step(&s, 1, FLOW_EXIT, 0xff, 0);
    assert_int_equal(s.groups, 11);
    assert_int_equal(s.threads, 34);
    arena_free(&s.arena);
}

/* Between branches each warp goes at its own pace. */
static void tbc_warps_run_apart_between_branches(void **state) {
    (void)state;
    struct script s;
    begin(&s, "every");
    s.code[2] = (struct inst){.op = OP_BRA, .guard = -1, .target = 9};
    s.code[9] = (struct inst){.op = OP_BRA, .guard = 0, .target = 2, .reconverge = 10};
    const struct away behind = issue(&s, 1, FLOW_NEXT, 0, 0);
    step(&s, 0, FLOW_NEXT, 0, 0);
    step(&s, 0, FLOW_NEXT, 0, 0);
    step(&s, 0, FLOW_BRANCH, 0xff, 9);
    expect(&s, 0, 9, "0123");
    expect(&s, 1, 0, NULL);
    step(&s, 0, FLOW_BRANCH, 0, 2);
    expect(&s, 0, 0, NULL);
    s.ops->forming->returned(s.self, behind.threads, behind.lanes);
    expect(&s, 1, 1, "4567");
    step(&s, 1, FLOW_NEXT, 0, 0);
    step(&s, 1, FLOW_BRANCH, 0xff, 9);
    step(&s, 1, FLOW_BRANCH, 0, 2);
    expect(&s, 0, 10, "0123");
    expect(&s, 1, 10, "4567");
    arena_free(&s.arena);
}

/* ---- divergent-only ---- */

/* A loop from 0 to 9 with a way round in it: 0 goes to 1 or 5, both meet at 8; 9 goes back to 0, or on to 10. */
static void begin_loop(struct script *s) {
    begin(s, "divergent-only");
    s->code[0] = (struct inst){.op = OP_BRA, .guard = 0, .target = 5, .reconverge = 8};
    s->code[1] = (struct inst){.op = OP_BRA, .guard = -1, .target = 8};
    s->code[5] = (struct inst){.op = OP_BRA, .guard = -1, .target = 8};
    s->code[9] = (struct inst){.op = OP_BRA, .guard = 0, .target = 0, .reconverge = 10};
    s->code[11] = (struct inst){.op = OP_EXIT, .guard = -1};
}

/* Who does not diverge goes on alone, and joins those who wait for it where it comes by again. */
static void tbc_warps_that_do_not_part_pass_branches_alone(void **state) {
    (void)state;
    struct script s;
    begin_loop(&s);
    step(&s, 1, FLOW_BRANCH, 1 << 4 | 1 << 5, 5); /* parts, and waits */
    expect(&s, 1, 0, NULL);
    step(&s, 0, FLOW_NEXT, 0, 0); /* joins it, although it does not diverge */
    expect(&s, 0, 5, "45--");
    expect(&s, 1, 5, NULL);
    step(&s, 0, FLOW_BRANCH, 0xff, 8);
    expect(&s, 0, 1, "0123"); /* 6 and 7 stand in lanes that 2 and 3 fill */
    expect(&s, 1, 1, "--67");
    step(&s, 1, FLOW_BRANCH, 0xff, 8);
    step(&s, 0, FLOW_BRANCH, 0xff, 8);
    expect(&s, 0, 8, "0123");
    expect(&s, 1, 8, "4567");
    step(&s, 0, FLOW_NEXT, 0, 0);
    step(&s, 0, FLOW_BRANCH, 0xff, 0); /* all go back: alone */
    expect(&s, 0, 0, "0123");
    expect(&s, 1, 8, "4567");
    step(&s, 0, FLOW_BRANCH, 0, 5); /* and round, past where those who diverged would meet */
    step(&s, 0, FLOW_BRANCH, 0xff, 8);
    step(&s, 0, FLOW_NEXT, 0, 0);
    expect(&s, 0, 9, "0123");
    step(&s, 0, FLOW_BRANCH, 0, 0);
    expect(&s, 0, 10, "0123");
    step(&s, 0, FLOW_NEXT, 0, 0);
    step(&s, 0, FLOW_EXIT, 0xf, 0); /* nobody waits for an end */
    assert_int_equal(s.ops->alive(s.self, 0), 0);
    expect(&s, 1, 8, "4567");
    arena_free(&s.arena);
}

/* Warps that diverge at different places go on one party after the other; who is not of the party keeps its place. */
static void tbc_parties_go_on_while_others_keep_their_places(void **state) {
    (void)state;
    struct script s;
    begin_loop(&s);
    step(&s, 0, FLOW_BRANCH, 0, 5); /* passes alone */
    step(&s, 0, FLOW_BRANCH, 0xff, 8);
    step(&s, 0, FLOW_NEXT, 0, 0);
    step(&s, 0, FLOW_BRANCH, 1 << 2 | 1 << 3, 0); /* diverges at 9 and waits */
    expect(&s, 0, 9, NULL);
    const struct away away = issue(&s, 1, FLOW_BRANCH, 1 << 4 | 1 << 5, 5); /* diverges at 0: the lowest PC */
    expect(&s, 0, 5, NULL);                                                 /* they are not back */
    s.ops->forming->returned(s.self, away.threads, away.lanes);
    expect(&s, 0, 5, "45--");
    expect(&s, 1, 5, NULL);
    uint32_t pcs[LANES_MAX] = {0};
    s.ops->where(s.self, 0, pcs);
    assert_int_equal(pcs[0], 9);
    step(&s, 0, FLOW_BRANCH, 0xff, 8);
    expect(&s, 0, 1, "--67");
    step(&s, 0, FLOW_BRANCH, 0xff, 8);
    expect(&s, 0, 8, NULL); /* still at 9 */
    expect(&s, 1, 8, "4567");
    step(&s, 1, FLOW_NEXT, 0, 0);
    step(&s, 1, FLOW_BRANCH, 0, 0); /* joins: 2 and 3 go back, the others wait behind the loop */
    expect(&s, 0, 0, "--23");
    expect(&s, 1, 0, NULL);
    step(&s, 0, FLOW_BRANCH, 0, 5);
    step(&s, 0, FLOW_BRANCH, 0xff, 8);
    step(&s, 0, FLOW_NEXT, 0, 0);
    step(&s, 0, FLOW_BRANCH, 0, 0);
    expect(&s, 0, 10, "0123");
    expect(&s, 1, 10, "4567");
    arena_free(&s.arena);
}

/* A warp at a barrier waits for others: those that diverged before it go on meanwhile. */
static void tbc_a_barrier_holds_no_party_up(void **state) {
    (void)state;
    struct script s;
    begin_loop(&s);
    s.code[8] = (struct inst){.op = OP_BAR, .guard = -1, .reconverge = NO_PC};
    step(&s, 0, FLOW_BRANCH, 0, 5);
    step(&s, 0, FLOW_BRANCH, 0xff, 8);
    const struct away barrier = issue(&s, 0, FLOW_BARRIER, 0xff, 0);
    step(&s, 1, FLOW_BRANCH, 1 << 4 | 1 << 5, 5);
    expect(&s, 0, 5, "45--");
    step(&s, 0, FLOW_BRANCH, 0xff, 8);
    step(&s, 0, FLOW_BRANCH, 0xff, 8);
    expect(&s, 0, 8, NULL);
    expect(&s, 1, 8, "4567");
    const struct away last = issue(&s, 1, FLOW_BARRIER, 0xff, 0);
    s.ops->forming->returned(s.self, barrier.threads, barrier.lanes);
    s.ops->forming->returned(s.self, last.threads, last.lanes);
    expect(&s, 0, 9, "0123");
    expect(&s, 1, 9, "4567");
    arena_free(&s.arena);
}

/* ---- in time ---- */

static void blocks_of_one_warp_are_warps(void **state) {
    (void)state;
    static const char *const pipelines[] = {
        "base: fung-8800\nsm.max_blocks: 4\n" LIMIT,
        "base: gtx480\nsm.pipeline: barrel\nsm.scheduler: rr\nsm.fetch_straight: false\n" LIMIT,
        "base: gtx480\nsm.scheduler: rr\nsm.fetch_straight: false\n" LIMIT,
        "base: rtx3070\nsm.count: 4\nsm.scheduler: rr\nsm.fetch_straight: false\n" LIMIT};
    for (unsigned m = 0; m < 4; m++)
        for (unsigned i = 0; i < 2 * PROGRAMS; i++) {
            const struct program_text *program = &programs[i / 2];
            const char *sync = i % 2 ? "divergent-only" : "every";
            uint64_t cycles[2], fetches[2];
            for (unsigned k = 0; k < 2; k++) {
                struct fixture f;
                char text[256];
                snprintf(text, sizeof text, "%sdivergence.mechanism: %s\ntbc.sync: %s\n", pipelines[m],
                         k ? "tbc" : "pdom", sync);
                open_machine(&f, text);
                load(&f, program->text);
                const struct program_text small = {program->name, program->text, 3 * program->blocks, 32};
                expect_ok(&f, &small, true);
                cycles[k] = f.result.timed->cycles, fetches[k] = f.result.timed->sm.fetches;
                finish(&f);
            }
            if (cycles[0] != cycles[1] || fetches[0] != fetches[1])
                fail_msg("%s on %s: pdom %llu cycles, %llu fetches; tbc %s %llu, %llu", program->name, pipelines[m],
                         (unsigned long long)cycles[0], (unsigned long long)fetches[0], sync,
                         (unsigned long long)cycles[1], (unsigned long long)fetches[1]);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tbc_compacts_the_published_example),
        cmocka_unit_test(tbc_warps_run_apart_between_branches),
        cmocka_unit_test(tbc_warps_that_do_not_part_pass_branches_alone),
        cmocka_unit_test(tbc_parties_go_on_while_others_keep_their_places),
        cmocka_unit_test(tbc_a_barrier_holds_no_party_up),
        cmocka_unit_test(blocks_of_one_warp_are_warps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
