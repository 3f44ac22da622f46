/* SPDX-License-Identifier: Apache-2.0 */
/* Compaction adequacy prediction and lane permutation over thread block compaction: scripted, and laws in time. */
#include "tbc_script.h"

enum { FROM = 0, WAY = 5, MEET = 8, BACK = 9, BEHIND = 10 };

struct tbc_counters {
    uint64_t meetings, divergences, formed, before, alone, depth, apart, foretold, right, predictor_largest;
};

static struct tbc_counters counters(const struct script *s) {
    struct tbc_counters out;
    assert_int_equal(s->ops->own.stats_bytes, sizeof out);
    memcpy(&out, s->ops->own.statistics(s->self), sizeof out);
    return out;
}

/* A loop: 0 goes to 1 or 5, both meet at 8; 9 goes back to 0, or on to 10. */
static void begin_loop(struct script *s, const char *predictor, const char *entries) {
    const char *const keys[] = {"tbc.sync", "capri", "tbc.predictor", predictor, "tbc.predictor_entries",
                                entries,    NULL};
    begin_code(s);
    s->code[FROM] = (struct inst){.op = OP_BRA, .guard = 0, .target = WAY, .reconverge = MEET};
    s->code[1] = (struct inst){.op = OP_BRA, .guard = -1, .target = MEET};
    s->code[WAY] = (struct inst){.op = OP_BRA, .guard = -1, .target = MEET};
    s->code[BACK] = (struct inst){.op = OP_BRA, .guard = 0, .target = FROM, .reconverge = BEHIND};
    s->code[11] = (struct inst){.op = OP_EXIT, .guard = -1};
    begin_block(s, 2, keys);
}

static void back(struct script *s, unsigned slot) {
    expect(s, slot, MEET, slot ? "4567" : "0123");
    step(s, slot, FLOW_NEXT, 0, 0);
    step(s, slot, FLOW_BRANCH, 0xff, FROM);
}

/* The same two threads of each warp: new warps are as many as the old ones on each side. */
enum { SAME_LANES = 1 << 0 | 1 << 1 | 1 << 4 | 1 << 5, OTHER_LANES = 1 << 0 | 1 << 1 | 1 << 6 | 1 << 7 };

/* From FROM to MEET, all warps waiting for each other. */
static void round_together(struct script *s, unsigned goes) {
    step(s, 0, FLOW_BRANCH, goes, WAY);
    expect(s, 0, 0, NULL);
    step(s, 1, FLOW_BRANCH, goes, WAY);
    struct group group;
    for (unsigned side = 0; side < 2; side++)
        for (unsigned slot = 0; slot < 2; slot++)
            if (s->ops->offer(s->self, slot, &group) && group.pc != MEET)
                step(s, slot, FLOW_BRANCH, 0xff, MEET);
}

/* From FROM to MEET alone, its taken side first. */
static void round_apart(struct script *s, unsigned slot, unsigned goes, const char *taken, const char *others) {
    step(s, slot, FLOW_BRANCH, goes, WAY);
    expect(s, slot, WAY, taken);
    step(s, slot, FLOW_BRANCH, 0xff, MEET);
    expect(s, slot, 1, others);
    step(s, slot, FLOW_BRANCH, 0xff, MEET);
}

/* A branch is first taken to be adequate; where it was not, warps go on by themselves, whoever else there is. */
static void capri_waits_only_where_it_paid(void **state) {
    (void)state;
    struct script s;
    begin_loop(&s, "history", "32");
    round_together(&s, SAME_LANES);
    assert_int_equal(counters(&s).foretold, 1);
    assert_int_equal(counters(&s).right, 0); /* four warps formed of four */
    back(&s, 0), back(&s, 1);
    round_apart(&s, 0, SAME_LANES, "01--", "--23");
    back(&s, 0); /* nobody waited */
    round_apart(&s, 1, SAME_LANES, "45--", "--67");
    assert_int_equal(counters(&s).apart, 2);
    assert_int_equal(counters(&s).foretold, 2);
    assert_int_equal(counters(&s).right, 1);
    back(&s, 1);
    arena_free(&s.arena);
}

/* Those that went apart are counted in passing: threads of other lanes would have been fewer warps, and so wait the next time. */
static void capri_learns_from_those_that_did_not_wait(void **state) {
    (void)state;
    struct script s;
    begin_loop(&s, "history", "0");
    round_together(&s, SAME_LANES);
    back(&s, 0), back(&s, 1);
    round_apart(&s, 0, OTHER_LANES, "01--", "--23");
    round_apart(&s, 1, OTHER_LANES, "--67", "45--");
    assert_int_equal(counters(&s).right, 0); /* two would have done for four */
    back(&s, 0), back(&s, 1);
    const struct tbc_counters before = counters(&s);
    round_together(&s, OTHER_LANES);
    const struct tbc_counters after = counters(&s);
    assert_int_equal(after.right - before.right, 1);
    assert_int_equal(after.foretold - before.foretold, 1);
    assert_int_equal(after.apart, before.apart);
    arena_free(&s.arena);
}

/* A branch of constant pattern is foretold rightly from its second time on. */
static void capri_knows_constant_branches(void **state) {
    (void)state;
    struct script s;
    begin_loop(&s, "history", "32");
    round_together(&s, SAME_LANES);
    for (unsigned i = 0; i < 10; i++) {
        back(&s, 0), back(&s, 1);
        round_apart(&s, i % 2, SAME_LANES, i % 2 ? "45--" : "01--", i % 2 ? "--67" : "--23");
        round_apart(&s, 1 - i % 2, SAME_LANES, i % 2 ? "01--" : "45--", i % 2 ? "--23" : "--67");
    }
    assert_int_equal(counters(&s).foretold, 11);
    assert_int_equal(counters(&s).right, 10);
    arena_free(&s.arena);
}

/* Within a branch from which it went alone a warp waits nowhere. */
static void capri_waits_nowhere_within(void **state) {
    (void)state;
    struct script s;
    begin_loop(&s, "history", "32");
    s.code[WAY] = (struct inst){.op = OP_BRA, .guard = 0, .target = WAY + 2, .reconverge = WAY + 2};
    s.code[WAY + 2] = (struct inst){.op = OP_BRA, .guard = -1, .target = MEET};
    step(&s, 0, FLOW_BRANCH, SAME_LANES, WAY);
    step(&s, 1, FLOW_BRANCH, SAME_LANES, WAY);
    for (unsigned i = 0; i < 2; i++) {
        step(&s, i, FLOW_BRANCH, 0xff, WAY + 2);
        step(&s, i, FLOW_BRANCH, 0xff, MEET);
    }
    for (unsigned i = 0; i < 2; i++)
        step(&s, i, FLOW_BRANCH, 0xff, MEET);
    back(&s, 0);
    step(&s, 0, FLOW_BRANCH, SAME_LANES, WAY);
    expect(&s, 0, WAY, "01--");
    step(&s, 0, FLOW_BRANCH, 1 << 0, WAY + 2); /* parts once more */
    expect(&s, 0, WAY + 1, "-1--");
    struct group_row rows[4];
    assert_int_equal(s.ops->show(s.self, 0, rows, 4), 4);
    assert_string_equal(rows[0].what, "apart");
    assert_int_equal(rows[0].lanes, 2);
    uint32_t pcs[LANES_MAX] = {0};
    s.ops->where(s.self, 0, pcs);
    assert_int_equal(pcs[0], WAY + 2);
    assert_int_equal(pcs[1], WAY + 1);
    assert_int_equal(pcs[2], 1);
    step(&s, 0, FLOW_NEXT, 0, 0);
    expect(&s, 0, WAY + 2, "01--");
    step(&s, 0, FLOW_BRANCH, 0xff, MEET);
    expect(&s, 0, 1, "--23");
    step(&s, 0, FLOW_BRANCH, 0xff, MEET);
    expect(&s, 0, MEET, "0123");
    expect(&s, 1, MEET, "4567");
    assert_int_equal(counters(&s).foretold, 1); /* the branch within is not looked at */
    arena_free(&s.arena);
}

/* A table of one branch: the second to diverge there makes it forget the first, which is new again. */
static void capri_forgets_the_oldest_branch(void **state) {
    (void)state;
    struct script s;
    begin_loop(&s, "history", "1");
    round_together(&s, SAME_LANES);
    for (unsigned slot = 0; slot < 2; slot++) {
        step(&s, slot, FLOW_NEXT, 0, 0);
        step(&s, slot, FLOW_BRANCH, SAME_LANES, FROM); /* diverges at BACK */
    }
    expect(&s, 0, FROM, "01--");
    expect(&s, 1, FROM, "45--");
    assert_int_equal(counters(&s).foretold, 2);
    step(&s, 0, FLOW_BRANCH, 1 << 0 | 1 << 4, WAY); /* FROM was not adequate, but that is forgotten */
    expect(&s, 0, 0, NULL);
    step(&s, 1, FLOW_BRANCH, 1 << 0 | 1 << 4, WAY);
    expect(&s, 0, WAY, "0---");
    assert_int_equal(counters(&s).apart, 0);
    assert_int_equal(counters(&s).predictor_largest, 1);
    arena_free(&s.arena);
}

/* ---- lane permutation ---- */

/* Eight warps, of which the odd threads go one way: the threads of half of the warps fill the others' lanes. */
static void permuted_lanes_fill_up(void **state) {
    (void)state;
    static const struct {
        const char *lanes;
        unsigned warps;
    } ways[] = {{"home", 8}, {"balanced", 4}};
    for (unsigned i = 0; i < 2; i++) {
        const char *const keys[] = {"tbc.lanes", ways[i].lanes, NULL};
        struct script s;
        struct group group;
        uint32_t threads = 0;
        begin_code(&s);
        begin_block(&s, 8, keys);
        s.code[0] = (struct inst){.op = OP_BRA, .guard = 0, .target = WAY, .reconverge = MEET};
        for (unsigned slot = 0; slot < 8; slot++) {
            assert_true(s.ops->offer(s.self, slot, &group));
            assert_int_equal(group.lanes, 0xf);
            for (unsigned lane = 0; lane < LANES; lane++) {
                const unsigned flip = slot % 2 ? ~(slot / 2) & 3 : slot / 2;
                assert_int_equal(group.threads[lane], slot * LANES + (i ? lane ^ flip : lane));
                threads |= UINT32_C(1) << group.threads[lane];
            }
        }
        assert_int_equal(threads, UINT32_MAX); /* every thread has one lane */
        for (unsigned slot = 0; slot < 8; slot++)
            step(&s, slot, FLOW_BRANCH, 0xaaaaaaaa, WAY);
        for (unsigned slot = 0; slot < 8; slot++) {
            assert_int_equal(s.ops->offer(s.self, slot, &group), slot < ways[i].warps);
            if (slot < ways[i].warps)
                assert_int_equal(group.lanes, i ? 0xf : 0xa);
        }
        arena_free(&s.arena);
    }
}

/* ---- in time ---- */

struct timing {
    uint64_t cycles, issues, fetches, transactions, conflicts;
};

static struct timing run(const char *machine, const char *mechanism, const struct program_text *program) {
    struct fixture f;
    char text[512];
    snprintf(text, sizeof text, "%sdivergence.mechanism: %s\n", machine, mechanism);
    open_machine(&f, text);
    load(&f, program->text);
    expect_ok(&f, program, true);
    const struct timing out = {f.result.timed->cycles, f.result.stats.warp_instructions, f.result.timed->sm.fetches,
                               f.result.timed->sm.transactions, f.result.timed->sm.shared_passes};
    finish(&f);
    return out;
}

static const char *const pipelines[] = {
    "base: fung-8800\nsm.max_blocks: 4\n" LIMIT,
    "base: gtx480\nsm.pipeline: barrel\nsm.scheduler: rr\nsm.fetch_straight: false\n" LIMIT,
    "base: gtx480\nsm.scheduler: rr\nsm.fetch_straight: false\n" LIMIT,
    "base: rtx3070\nsm.count: 4\nsm.scheduler: rr\nsm.fetch_straight: false\n" LIMIT};
enum { PIPELINES = sizeof pipelines / sizeof *pipelines };

static void expect_equal(const char *first, const char *second) {
    for (unsigned m = 0; m < PIPELINES; m++)
        for (unsigned i = 0; i < PROGRAMS; i++) {
            if (left_out())
                continue;
            const struct timing a = run(pipelines[m], first, &programs[i]), b = run(pipelines[m], second, &programs[i]);
            if (a.cycles != b.cycles || a.issues != b.issues || a.fetches != b.fetches)
                fail_msg("%s on %s: %s %llu cycles, %llu issues; %s %llu, %llu", programs[i].name, pipelines[m], first,
                         (unsigned long long)a.cycles, (unsigned long long)a.issues, second,
                         (unsigned long long)b.cycles, (unsigned long long)b.issues);
        }
}

static void always_foretold_is_divergent_only(void **state) {
    (void)state;
    expect_equal("tbc\ntbc.sync: divergent-only", "tbc\ntbc.sync: capri\ntbc.predictor: always");
}

static void never_foretold_is_pdom(void **state) {
    (void)state;
    expect_equal("pdom", "tbc\ntbc.sync: capri\ntbc.predictor: never");
}

/* What threads of a warp access is the same lines and banks in any lanes. The order within an instruction is that of lanes, which
 * moves cycles where accesses queue. */
static void permuted_lanes_of_warps_that_are_not_compacted_access_the_same(void **state) {
    (void)state;
    for (unsigned m = 0; m < PIPELINES; m++)
        for (unsigned i = 0; i < PROGRAMS; i++) {
            if (left_out())
                continue;
            const struct timing a = run(pipelines[m], "pdom", &programs[i]);
            const struct timing b =
                run(pipelines[m], "tbc\ntbc.sync: capri\ntbc.predictor: never\ntbc.lanes: balanced", &programs[i]);
            assert_int_equal(a.issues, b.issues);
            assert_int_equal(a.fetches, b.fetches);
            assert_int_equal(a.transactions, b.transactions);
            assert_int_equal(a.conflicts, b.conflicts);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capri_waits_only_where_it_paid),
        cmocka_unit_test(capri_learns_from_those_that_did_not_wait),
        cmocka_unit_test(capri_knows_constant_branches),
        cmocka_unit_test(capri_waits_nowhere_within),
        cmocka_unit_test(capri_forgets_the_oldest_branch),
        cmocka_unit_test(permuted_lanes_fill_up),
        cmocka_unit_test(always_foretold_is_divergent_only),
        cmocka_unit_test(never_foretold_is_pdom),
        cmocka_unit_test(permuted_lanes_of_warps_that_are_not_compacted_access_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
