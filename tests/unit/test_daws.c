/* SPDX-License-Identifier: Apache-2.0 */
/* Divergence-aware scheduling: footprints and who may load, counted by hand; its laws in time. */
#include "timed_programs.h"

#include "scheduler_fixture.h"

#include "gpu/gpu.h"

/* A loop of two loads from 1 to 4 with another one from 6 to 9, and in this an inner one at 7. */
enum {
    FIRST = 1,
    ONE = 2,
    TWO = 3,
    BACK = 4,
    BETWEEN = 5,
    OUTER = 6,
    INNER = 7,
    INNER_BACK = 8,
    OUTER_BACK = 9,
    END = 10
};
static struct inst code[] = {
    {.op = OP_MOV, .guard = -1},
    {.op = OP_MOV, .guard = -1},
    {.op = OP_LD, .space = SPACE_GLOBAL, .guard = -1},
    {.op = OP_LD, .space = SPACE_GLOBAL, .guard = -1},
    {.op = OP_BRA, .guard = 0, .target = FIRST},
    {.op = OP_MOV, .guard = -1},
    {.op = OP_MOV, .guard = -1},
    {.op = OP_LD, .space = SPACE_GLOBAL, .guard = -1},
    {.op = OP_BRA, .guard = 0, .target = INNER},
    {.op = OP_BRA, .guard = 0, .target = OUTER},
    {.op = OP_EXIT, .guard = -1},
};
enum { CODE = sizeof code / sizeof *code, LINES = 256 };

static void open_daws(struct scheduled *s, const char *setting) {
    scheduled_open(s, "daws", code, CODE, SETTINGS(setting));
    scheduled_start(s, 0, SCHEDULED - 1);
}

static uint32_t mask(unsigned lanes) { return lanes == 32 ? UINT32_MAX : (1u << lanes) - 1; }

static void issue(struct scheduled *s, unsigned warp, uint32_t pc, unsigned lanes) {
    scheduled_tell(s, (struct scheduler_event){
                          .kind = SCHEDULER_ISSUED, .warp = warp, .pc = pc, .lanes = mask(lanes), .inst = &code[pc]});
}

/* A load of the warp: so many transactions, the first of them of this line, which it brought itself. */
static void load_once(struct scheduled *s, unsigned warp, uint32_t pc, unsigned count, uint64_t line) {
    issue(s, warp, pc, 32);
    scheduled_tell(s, (struct scheduler_event){
                          .kind = SCHEDULER_COALESCED, .warp = warp, .pc = pc, .lanes = mask(32), .count = count});
    scheduled_tell(s,
                   (struct scheduler_event){
                       .kind = SCHEDULER_HIT, .warp = warp, .pc = pc, .line = line, .owner = warp, .inst = &code[pc]});
}

static void branch_back(struct scheduled *s, unsigned warp) {
    issue(s, warp, BACK, 32);
    scheduled_tell(s, (struct scheduler_event){.kind = SCHEDULER_BRANCHED,
                                               .warp = warp,
                                               .pc = BACK,
                                               .target = FIRST,
                                               .lanes = mask(32),
                                               .taken = mask(32)});
}

/* Warp 0 goes round the first loop until it is known: `one` and `two` transactions of its loads, of the same line or not. */
static void sample(struct scheduled *s, unsigned one, unsigned two, bool same) {
    for (unsigned i = 0; i < 4; i++) {
        issue(s, 0, FIRST, 32);
        load_once(s, 0, ONE, one, 128 * (1 + 2 * i));
        if (two)
            load_once(s, 0, TWO, two, same ? 128 * (1 + 2 * i) : 128 * (2 + 2 * i));
        branch_back(s, 0);
    }
}

/* Warps load while the sum of footprints from the oldest on is below that part of the lines. */
static slot_set fitting(const unsigned footprints[SCHEDULED], double factor) {
    slot_set may = 0;
    double sum = 0;
    for (unsigned w = 0; w < SCHEDULED; w++) {
        sum += footprints[w];
        may |= sum < factor * (double)LINES ? set_of(w) : 0;
    }
    return may;
}

static void expect_may(struct scheduled *s, const unsigned lanes[SCHEDULED], unsigned diverged, unsigned converged) {
    unsigned footprints[SCHEDULED];
    for (unsigned w = 0; w < SCHEDULED; w++) {
        issue(s, w, FIRST, lanes[w]);
        footprints[w] = diverged * lanes[w] + converged * (lanes[w] > 1 ? 2 : 1);
    }
    assert_int_equal(scheduled_may_load(s), fitting(footprints, 0.6));
}

static const unsigned full[SCHEDULED] = {32, 32, 32, 32, 32, 32, 32, 32};

static void so_many_load_as_fit(void **state) {
    (void)state;
    static const unsigned some[SCHEDULED] = {32, 16, 32, 1, 2, 32, 32, 32};
    static const struct {
        unsigned one, two, diverged, converged;
        bool same;
    } cases[] = {{32, 0, 1, 0, false}, {32, 1, 1, 1, false}, {32, 32, 2, 0, false}, {32, 32, 1, 0, true},
                 {32, 1, 1, 0, true},  {1, 2, 0, 2, false},  {1, 32, 1, 1, false}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scheduled s;
        open_daws(&s, "daws.factor=60");
        assert_int_equal(scheduled_may_load(&s), 0xff);
        sample(&s, cases[i].one, cases[i].two, cases[i].same);
        expect_may(&s, full, cases[i].diverged, cases[i].converged);
        expect_may(&s, some, cases[i].diverged, cases[i].converged);
        assert_int_equal(scheduled_counter(&s, "ties"), cases[i].same);
        assert_int_equal(scheduled_counter(&s, "loads_largest"), 1 + (cases[i].two != 0));
        assert_true(scheduled_counter(&s, "footprint_largest") <= 2 * 32);
        scheduled_close(&s);
    }
}

/* Lines of others, or lost ones of nobody: no locality, nobody is held back. Own victims are locality. */
static void loops_without_locality_are_left_alone(void **state) {
    (void)state;
    for (unsigned own = 0; own < 2; own++) {
        struct scheduled s;
        open_daws(&s, "daws.factor=60");
        for (unsigned i = 0; i < 4; i++) {
            issue(&s, 0, FIRST, 32);
            issue(&s, 0, ONE, 32);
            scheduled_tell(
                &s, (struct scheduler_event){.kind = SCHEDULER_COALESCED, .pc = ONE, .lanes = mask(32), .count = 32});
            scheduled_tell(&s, (struct scheduler_event){.kind = SCHEDULER_EVICTED, .warp = !own, .line = 4096});
            scheduled_tell(&s, (struct scheduler_event){
                                   .kind = SCHEDULER_MISSED, .pc = ONE, .line = 4096, .count = 1, .inst = &code[ONE]});
            branch_back(&s, 0);
        }
        expect_may(&s, full, own, 0);
        scheduled_close(&s);
    }
}

/* Who leaves or waits at a barrier frees its lines; who has not begun is predicted as if it had. */
static void leaving_frees_and_coming_counts(void **state) {
    (void)state;
    struct scheduled s;
    open_daws(&s, "daws.factor=60");
    sample(&s, 32, 0, false);
    static const unsigned begun[SCHEDULED] = {32, 32, 32, 32, 32, 32, 32, 32};
    assert_int_equal(scheduled_may_load(&s), fitting(begun, 0.6)); /* others are before the loop, with all lanes */
    issue(&s, 1, 0, 8);
    static const unsigned eight[SCHEDULED] = {32, 8, 32, 32, 32, 32, 32, 32};
    assert_int_equal(scheduled_may_load(&s), fitting(eight, 0.6));
    expect_may(&s, full, 1, 0);
    scheduled_tell(&s, (struct scheduler_event){.kind = SCHEDULER_WAITS, .warp = 0, .lanes = UINT32_MAX});
    issue(&s, 2, BETWEEN, 32); /* the next loop is not known */
    static const unsigned left[SCHEDULED] = {0, 32, 0, 32, 32, 32, 32, 32};
    assert_int_equal(scheduled_may_load(&s), fitting(left, 0.6));
    scheduled_tell(&s, (struct scheduler_event){.kind = SCHEDULER_GOES_ON, .warp = 0, .lanes = UINT32_MAX});
    assert_int_equal(scheduled_may_load(&s), fitting(left, 0.6)); /* until its next iteration */
    scheduled_tell(&s, (struct scheduler_event){.kind = SCHEDULER_ENDED, .warp = 1});
    static const unsigned ended[SCHEDULED] = {0, 0, 0, 32, 32, 32, 32, 32};
    assert_int_equal(scheduled_may_load(&s) & ~set_of(1), fitting(ended, 0.6) & ~set_of(1));
    for (unsigned w = 0; w < SCHEDULED; w++)
        issue(&s, w, END, 32);
    assert_int_equal(scheduled_may_load(&s), 0xff);
    scheduled_close(&s);
}

/* An inner loop takes over, and its footprint stays when it is left for the outer one, until this begins again. */
static void inner_loops_take_over(void **state) {
    (void)state;
    struct scheduled s;
    open_daws(&s, "daws.factor=60");
    issue(&s, 0, OUTER, 32);
    for (unsigned i = 0; i < 4; i++) {
        load_once(&s, 0, INNER, 32, 128 * (1 + i)); /* its first instruction */
        issue(&s, 0, INNER_BACK, 32);
    }
    for (unsigned w = 0; w < SCHEDULED; w++)
        issue(&s, w, OUTER, 32), issue(&s, w, INNER, 32);
    assert_int_equal(scheduled_may_load(&s), fitting(full, 0.6));
    issue(&s, 1, OUTER_BACK, 8);
    assert_int_equal(scheduled_may_load(&s), fitting(full, 0.6));
    issue(&s, 1, OUTER, 8); /* the outer loop itself was not found to have locality */
    static const unsigned less[SCHEDULED] = {32, 0, 32, 32, 32, 32, 32, 32};
    assert_int_equal(scheduled_may_load(&s), fitting(less, 0.6));
    scheduled_close(&s);
}

/* A warp that alone does not fit keeps nobody back, the oldest is never held, and patience ends. */
static void nobody_waits_for_ever(void **state) {
    (void)state;
    struct scheduled s;
    open_daws(&s, "daws.factor=12"); /* 30.72 lines */
    sample(&s, 32, 0, false);
    for (unsigned w = 0; w < SCHEDULED; w++)
        issue(&s, w, FIRST, 32);
    assert_int_equal(scheduled_may_load(&s), 0xff);
    scheduled_close(&s);
    scheduled_open(&s, "daws", code, CODE, SETTINGS("daws.factor=13", "daws.patience=50"));
    scheduled_start(&s, 0, SCHEDULED - 1);
    sample(&s, 32, 0, false);
    for (unsigned w = 0; w < SCHEDULED; w++)
        issue(&s, w, FIRST, 32);
    assert_int_equal(scheduled_may_load(&s), 0x01);
    s.now += 49;
    assert_int_equal(scheduled_may_load(&s), 0x01);
    s.now += 1;
    assert_int_equal(scheduled_may_load(&s), 0xff);
    assert_int_equal(scheduled_counter(&s, "released"), SCHEDULED - 1);
    assert_int_equal(scheduled_counter(&s, "held"), 2 * (SCHEDULED - 1));
    assert_int_equal(scheduled_pick(&s, 0x80, 0x80, 0x80), 7); /* an atomic */
    scheduled_close(&s);
}

/* ---- in time ---- */

#define MACHINE "base: gtx480\nsm.count: 4\n" LIMIT

static void off_is_greedy_then_oldest(void **state) {
    (void)state;
    expect_same(MACHINE "sm.scheduler: gto\n", MACHINE "sm.scheduler: daws\ndaws.factor: 1000000\n",
                "gto and daws with all the room there is");
    expect_same(MACHINE "sm.scheduler: gto\nl1.perfect: true\n", MACHINE "sm.scheduler: daws\nl1.perfect: true\n",
                "gto and daws with a perfect L1");
}

/* Every thread goes four times along a row of its own, a word at a time. */
static const char rows[] = KERNEL(
    "", "mov.u32 %r4, 0;\nmov.u32 %r5, 0;\nL: and.b32 %r6, %r4, 31;\nmad.lo.u32 %r7, %r3, 32, %r6;\n"
        "and.b32 %r7, %r7, 16383;\nmul.wide.u32 %rd4, %r7, 4;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.u32 %r8, [%rd5];\n"
        "add.u32 %r5, %r5, %r8;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 128;\n@%p1 bra L;\nbar.sync 0;\n"
        "st.global.u32 [%rd3], %r5;\nret;");

static uint64_t run_rows(const char *settings, uint64_t *held) {
    struct fixture timed, plain;
    const struct program_text program = {"rows", rows, 1, 512};
    open_machine(&timed, settings);
    open_machine(&plain, settings);
    load(&timed, rows);
    load(&plain, rows);
    expect_ok(&timed, &program, true);
    expect_ok(&plain, &program, false);
    assert_memory_equal(timed.memory, plain.memory, WORDS * sizeof(uint32_t));
    check_books(&timed, "rows");
    const struct gpu_stats *stats = timed.result.timed;
    if (held) {
        *held = own_counter(stats->own[OWN_SCHEDULER], stats->own_stats[OWN_SCHEDULER], "held");
        assert_int_equal(*held, stats->sm.stall_scheduler);
        assert_true(own_counter(stats->own[OWN_SCHEDULER], stats->own_stats[OWN_SCHEDULER], "footprint_largest") == 32);
    }
    const uint64_t misses = stats->l1.misses;
    finish(&timed);
    finish(&plain);
    return misses;
}

/* 512 rows of a line do not fit an L1 of 128, those of two warps do: with them alone rows are read from the cache. 16 victims of a
 * warp that uses 32 lines in turn are gone before it comes back, and it would not be known to have locality. */
static void rows_are_kept(void **state) {
    (void)state;
#define ROWS "base: gtx480\nsm.count: 1\nsm.schedulers: 1\n" LIMIT
    uint64_t held;
    const uint64_t greedy = run_rows(ROWS "sm.scheduler: gto\n", NULL);
    const uint64_t aware = run_rows(ROWS "sm.scheduler: daws\ndaws.vta_entries: 64\n", &held);
    assert_true(held > 0);
    if (2 * aware >= greedy)
        fail_msg("%llu misses, %llu with gto", (unsigned long long)aware, (unsigned long long)greedy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(so_many_load_as_fit),
        cmocka_unit_test(loops_without_locality_are_left_alone),
        cmocka_unit_test(leaving_frees_and_coming_counts),
        cmocka_unit_test(inner_loops_take_over),
        cmocka_unit_test(nobody_waits_for_ever),
        cmocka_unit_test(off_is_greedy_then_oldest),
        cmocka_unit_test(rows_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
