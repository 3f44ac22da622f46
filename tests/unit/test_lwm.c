/* SPDX-License-Identifier: Apache-2.0 */
/* Large warps: sub-warps, the interlock and the stack, driven by scripted outcomes; in time, large warps of one row are
 * warps. */
#include "timed_programs.h"

#include "base/bits.h"
#include "divergence/divergence.h"

enum { CODE = 64, COLUMNS = 4, ROWS = 8 };

struct script {
    struct arena arena;
    struct inst code[CODE];
    const struct divergence_ops *ops;
    struct param_set keys;
    void *self;
};

/* Where an instruction has a guard it holds for threads of even columns in even rows, and odd columns in odd rows. */
static uint32_t guard_of(const void *self, unsigned warp, uint32_t pc) {
    (void)self, (void)pc;
    return warp % 2 ? 0xa : 0x5;
}
static const struct executor guards = {.guard = guard_of};

static void begin(struct script *s, const char *key, const char *value) {
    memset(s, 0, sizeof *s);
    s->ops = divergence_find("lwm");
    for (unsigned i = 0; i < CODE; i++)
        s->code[i] = (struct inst){.op = OP_ADD, .guard = -1, .reconverge = NO_PC};
    void *values = arena_alloc(&s->arena, s->ops->own.params_bytes);
    assert_int_equal(param_create(&s->keys, s->ops->own.params, values, &s->arena, NULL), STATUS_OK);
    assert_int_equal(param_assign(&s->keys, "lwm.size", "32", "test", "test", NULL), STATUS_OK);
    if (key)
        assert_int_equal(param_assign(&s->keys, key, value, "test", "test", NULL), STATUS_OK);
    const struct divergence_shape shape = {.code = s->code,
                                           .code_count = CODE,
                                           .warps = ROWS,
                                           .warp_size = COLUMNS,
                                           .width = COLUMNS,
                                           .warps_per_block = ROWS,
                                           .schedulers = 1,
                                           .params = values,
                                           .executor = &guards};
    s->self = s->ops->create(&s->arena, &shape);
}

static void start_rows(struct script *s, const uint32_t lanes[ROWS]) {
    for (unsigned row = 0; row < ROWS; row++)
        assert_int_equal(s->ops->start(s->self, row, 0, lanes[row]), 1);
}

/* The sub-warp that would issue; rows[column] is -1 where no thread is. */
static struct group expect(struct script *s, uint32_t pc, const int rows[COLUMNS]) {
    struct group group;
    assert_true(s->ops->offer(s->self, 0, &group));
    assert_int_equal(group.pc, pc);
    for (unsigned column = 0; column < COLUMNS; column++) {
        const int row = group.lanes >> column & 1 ? group.threads[column] / COLUMNS : -1;
        if (row != rows[column])
            fail_msg("PC %u, column %u: row %d, not %d", (unsigned)pc, column, row, rows[column]);
        if (row >= 0)
            assert_int_equal(group.threads[column] % COLUMNS, column);
    }
    assert_int_equal(group.lanes >> COLUMNS, 0);
    return group;
}

static void expect_wait(struct script *s, uint32_t ahead) {
    struct group group;
    bool memory = false;
    assert_false(s->ops->offer(s->self, 0, &group));
    assert_int_equal(s->ops->forming->ahead(s->self, 0, &memory), ahead);
}

/* Threads of a sub-warp on their way. */
struct away {
    uint32_t lanes;
    uint16_t threads[LANES_MAX];
};

static struct away issue(struct script *s, enum flow flow, uint32_t taken, uint32_t target) {
    struct group group;
    struct away away = {0};
    assert_true(s->ops->offer(s->self, 0, &group));
    struct executed executed = {.flow = flow,
                                .pc = group.pc,
                                .issues = 1,
                                .lanes = group.lanes,
                                .taken = taken & group.lanes,
                                .target = target};
    for (unsigned lane = 0; lane < LANES_MAX; lane++)
        executed.next[lane] = taken >> lane & 1 ? target : group.pc + 1;
    away.lanes = flow == FLOW_EXIT ? group.lanes & ~taken : group.lanes;
    memcpy(away.threads, group.threads, sizeof away.threads);
    s->ops->issued(s->self, 0, &group, &executed);
    return away;
}

static void come_back(struct script *s, const struct away *away) {
    s->ops->forming->returned(s->self, away->threads, away->lanes);
}

static void step(struct script *s, enum flow flow, uint32_t taken, uint32_t target) {
    const struct away away = issue(s, flow, taken, target);
    if (away.lanes)
        come_back(s, &away);
}

/* [002 fig. 4.5] Active rows of the columns {0,1,6,7}, {2,3,4,7}, {1,2,4,5}, {0,2,5}. */
static const uint32_t figure[ROWS] = {0x9, 0x5, 0xe, 0x2, 0x6, 0xc, 0x1, 0x3};

static void lwm_forms_the_sub_warps_of_the_published_example(void **state) {
    (void)state;
    struct script s;
    begin(&s, NULL, NULL);
    start_rows(&s, figure);
    static const int rows[4][COLUMNS] = {{0, 2, 1, 0}, {1, 3, 2, 2}, {6, 4, 4, 5}, {7, 7, 5, -1}};
    for (uint32_t pc = 0; pc < 2; pc++)
        for (unsigned i = 0; i < 4; i++) {
            expect(&s, pc, rows[i]);
            step(&s, FLOW_NEXT, 0, 0);
        }
    arena_free(&s.arena);
}

static void lwm_ideal_registers_pack_any_threads(void **state) {
    (void)state;
    struct script s;
    begin(&s, "lwm.register_file", "ideal");
    start_rows(&s, figure);
    static const unsigned threads[] = {0, 3, 4, 6, 9, 10, 11, 13, 17, 18, 22, 23, 24, 28, 29};
    for (unsigned at = 0; at < 15;) {
        struct group group;
        assert_true(s.ops->offer(s.self, 0, &group));
        assert_int_equal(group.lanes, at < 12 ? 0xf : 0x7);
        for (BITS_EACH(lane, group.lanes))
            assert_int_equal(group.threads[lane], threads[at++]);
        step(&s, FLOW_NEXT, 0, 0);
    }
    arena_free(&s.arena);
}

/* [002 fig. 2.2] A 1111, B 1011, C 0100, D 1111: the join and the other side are pushed, B runs, C, D. Each of the four
 * threads is in a row of its own, all in one column: every instruction takes a sub-warp for each. */
static void lwm_keeps_the_stack_of_the_published_example(void **state) {
    (void)state;
    enum { A = 0, C = 1, B = 10, D = 20 };
    struct script s;
    begin(&s, NULL, NULL);
    s.code[A] = (struct inst){.op = OP_BRA, .guard = 0, .target = B, .reconverge = D};
    s.code[B] = s.code[C] = (struct inst){.op = OP_BRA, .guard = -1, .target = D};
    start_rows(&s, (const uint32_t[ROWS]){1, 1, 1, 1});
    static const int row[4][COLUMNS] = {{0, -1, -1, -1}, {1, -1, -1, -1}, {2, -1, -1, -1}, {3, -1, -1, -1}};
    struct away away[4];
    uint32_t pcs[LANES_MAX];
    for (unsigned i = 0; i < 4; i++) { /* bits of the figure from the left: thread 1 takes the other side */
        expect(&s, A, row[i]);
        away[i] = issue(&s, FLOW_BRANCH, i == 1 ? 0 : 1, B);
    }
    for (unsigned i = 0; i < 4; i++) {
        s.ops->where(s.self, i, pcs);
        assert_int_equal(pcs[0], i == 1 ? C : B);
        expect_wait(&s, B); /* a branch: until all have completed */
        come_back(&s, &away[i]);
    }
    struct group group = expect(&s, B, row[0]);
    assert_int_equal(group.also, 2); /* a jump: one sub-warp for all three */
    step(&s, FLOW_BRANCH, 1, D);
    group = expect(&s, C, row[1]);
    assert_int_equal(group.also, 0);
    step(&s, FLOW_BRANCH, 1, D);
    for (unsigned i = 0; i < 4; i++) {
        s.ops->where(s.self, i, pcs);
        assert_int_equal(pcs[0], D);
    }
    for (unsigned i = 0; i < 4; i++) {
        expect(&s, D, row[i]);
        step(&s, FLOW_NEXT, 0, 0);
    }
    arena_free(&s.arena);
}

/* The next instruction begins with the first sub-warp that is back; a thread still out is in no other. */
static void lwm_interlock_keeps_threads_out_that_are_in_flight(void **state) {
    (void)state;
    struct script s;
    begin(&s, NULL, NULL);
    start_rows(&s, (const uint32_t[ROWS]){0xf, 0xf, 0x3});
    struct away away[3];
    for (unsigned i = 0; i < 3; i++)
        away[i] = issue(&s, FLOW_NEXT, 0, 0);
    expect_wait(&s, 1);
    come_back(&s, &away[1]);
    expect(&s, 1, (const int[COLUMNS]){1, 1, 1, 1});
    away[1] = issue(&s, FLOW_NEXT, 0, 0);
    expect_wait(&s, 1); /* the others have not completed the instruction before */
    come_back(&s, &away[2]);
    expect(&s, 1, (const int[COLUMNS]){2, 2, -1, -1});
    come_back(&s, &away[0]);
    expect(&s, 1, (const int[COLUMNS]){0, 0, 0, 0});
    away[0] = issue(&s, FLOW_NEXT, 0, 0);
    away[2] = issue(&s, FLOW_NEXT, 0, 0);
    expect_wait(&s, 2);
    come_back(&s, &away[2]);
    expect(&s, 2, (const int[COLUMNS]){2, 2, -1, -1});
    arena_free(&s.arena);
    begin(&s, "lwm.refetch", "all");
    start_rows(&s, (const uint32_t[ROWS]){0xf, 0xf});
    for (unsigned i = 0; i < 2; i++)
        away[i] = issue(&s, FLOW_NEXT, 0, 0);
    come_back(&s, &away[0]);
    expect_wait(&s, 1);
    come_back(&s, &away[1]);
    expect(&s, 1, (const int[COLUMNS]){0, 0, 0, 0});
    arena_free(&s.arena);
}

/* Loads of global memory go row by row and are waited for as a whole. */
static void lwm_loads_global_memory_by_rows(void **state) {
    (void)state;
    struct script s;
    bool memory = false;
    begin(&s, NULL, NULL);
    s.code[0] = (struct inst){.op = OP_LD, .guard = -1, .space = SPACE_GLOBAL};
    start_rows(&s, (const uint32_t[ROWS]){0x3, 0xc});
    expect(&s, 0, (const int[COLUMNS]){0, 0, -1, -1});
    const struct away first = issue(&s, FLOW_NEXT, 0, 0);
    expect(&s, 0, (const int[COLUMNS]){-1, -1, 1, 1});
    const struct away second = issue(&s, FLOW_NEXT, 0, 0);
    come_back(&s, &first);
    expect_wait(&s, 1);
    s.ops->forming->ahead(s.self, 0, &memory);
    assert_true(memory);
    come_back(&s, &second);
    expect(&s, 1, (const int[COLUMNS]){0, 0, 1, 1});
    arena_free(&s.arena);
    begin(&s, "lwm.memory_rows", "false");
    s.code[0] = (struct inst){.op = OP_LD, .guard = -1, .space = SPACE_GLOBAL};
    start_rows(&s, (const uint32_t[ROWS]){0x3, 0xc});
    expect(&s, 0, (const int[COLUMNS]){0, 0, 1, 1});
    arena_free(&s.arena);
}

/* An instruction with a guard takes as many sub-warps as the threads for which it holds, or as all. */
static void lwm_packs_by_guards(void **state) {
    (void)state;
    struct script s;
    begin(&s, NULL, NULL);
    s.code[0].guard = 0;
    start_rows(&s, (const uint32_t[ROWS]){0xf, 0xf});
    expect(&s, 0, (const int[COLUMNS]){0, 1, 0, 1});
    step(&s, FLOW_NEXT, 0, 0);
    expect(&s, 1, (const int[COLUMNS]){0, 0, 0, 0});
    arena_free(&s.arena);
    begin(&s, "lwm.guards", "false");
    s.code[0].guard = 0;
    start_rows(&s, (const uint32_t[ROWS]){0xf, 0xf});
    expect(&s, 0, (const int[COLUMNS]){0, 0, 0, 0});
    step(&s, FLOW_NEXT, 0, 0);
    expect(&s, 0, (const int[COLUMNS]){1, 1, 1, 1});
    arena_free(&s.arena);
}

/* A jump takes one sub-warp for all threads, or one for each row. */
static void lwm_jumps_once(void **state) {
    (void)state;
    static const char *const keys[] = {"true", "false"};
    for (unsigned k = 0; k < 2; k++) {
        struct script s;
        begin(&s, "lwm.jump", keys[k]);
        s.code[0] = (struct inst){.op = OP_BRA, .guard = -1, .target = 7, .reconverge = NO_PC};
        start_rows(&s, (const uint32_t[ROWS]){0xf, 0xf});
        const struct group group = expect(&s, 0, (const int[COLUMNS]){0, 0, 0, 0});
        assert_int_equal(group.also, k ? 0 : 4);
        step(&s, FLOW_BRANCH, 0xf, 7);
        if (k) {
            expect(&s, 0, (const int[COLUMNS]){1, 1, 1, 1});
            step(&s, FLOW_BRANCH, 0xf, 7);
        }
        expect(&s, 7, (const int[COLUMNS]){0, 0, 0, 0});
        arena_free(&s.arena);
    }
}

static void lwm_ends_with_its_threads(void **state) {
    (void)state;
    struct script s;
    bool memory;
    begin(&s, NULL, NULL);
    s.code[0] = (struct inst){.op = OP_EXIT, .guard = 0};
    start_rows(&s, (const uint32_t[ROWS]){0xf, 0xf});
    step(&s, FLOW_EXIT, 0x5, 0);
    step(&s, FLOW_EXIT, 0xf, 0);
    assert_int_equal(s.ops->alive(s.self, 0), 0xa);
    assert_int_equal(s.ops->alive(s.self, 1), 0);
    expect(&s, 1, (const int[COLUMNS]){-1, 0, -1, 0});
    step(&s, FLOW_EXIT, 0xa, 0);
    assert_int_equal(s.ops->alive(s.self, 0), 0);
    assert_int_equal(s.ops->forming->ahead(s.self, 0, &memory), NO_PC);
    arena_free(&s.arena);
}

/* ---- in time ---- */

static void open_with(struct fixture *f, const char *machine, const char *settings) {
    char text[512];
    snprintf(text, sizeof text, "%s%s%s", machine, settings, LIMIT);
    open_machine(f, text);
}

/* A guard that holds for some threads, and for none of a warp; warp-level operations of threads that diverged. */
static const struct program_text more_programs[] = {
    {"guards and votes",
     KERNEL("", "and.b32 %r4, %r1, 5;\nsetp.eq.u32 %p1, %r4, 1;\nmov.u32 %r5, 0;\nL: @%p1 add.u32 %r6, %r6, 7;\n@%p1 "
                "ld.global.u32 %r7, [%rd3];\n@!%p1 mad.lo.u32 %r6, %r5, 3, %r6;\nsetp.gt.u32 %p2, %r1, 40;\n@%p2 "
                "xor.b32 %r6, %r6, %r7;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p3, %r5, %r4;\n@%p3 bra L;\n"
                "vote.sync.ballot.b32 %r8, %p1, -1;\nadd.u32 %r6, %r6, %r8;\nbar.red.popc.u32 %r9, 0, %p1;\nadd.u32 "
                "%r6, %r6, %r9;\n@%p1 exit;\nst.global.u32 [%rd3], %r6;\nret;"),
     11, 224},
};

static void large_warps_of_one_row_are_warps(void **state) {
    (void)state;
    static const char *const pipelines[] = {
        "base: fung-8800\n",
        "base: gtx480\nsm.pipeline: barrel\nsm.scheduler: rr\nsm.fetch_straight: false\n",
        "base: qv100\nsm.count: 4\nsm.pipeline: barrel\nsm.scheduler: rr\nsm.fetch_straight: false\n",
        "base: gtx480\nsm.scheduler: rr\nsm.fetch_straight: false\n",
        "base: qv100\nsm.count: 4\nsm.scheduler: rr\nsm.fetch_straight: false\n",
        "base: rtx3070\nsm.count: 4\nsm.scheduler: rr\nsm.fetch_straight: false\n"};
    for (unsigned m = 0; m < 6; m++)
        for (unsigned i = 0; i <= PROGRAMS; i++) {
            const struct program_text *program = i < PROGRAMS ? &programs[i] : &more_programs[0];
            uint64_t cycles[2], issues[2], fetches[2];
            if (left_out())
                continue;
            for (unsigned k = 0; k < 2; k++) {
                struct fixture f;
                open_with(&f, pipelines[m], k ? "divergence.mechanism: lwm\nlwm.size: 32\n" : "");
                load(&f, program->text);
                expect_ok(&f, program, true);
                cycles[k] = f.result.timed->cycles, issues[k] = f.result.timed->sm.issues;
                fetches[k] = f.result.timed->sm.fetches;
                finish(&f);
            }
            if (cycles[0] != cycles[1] || issues[0] != issues[1] || fetches[0] != fetches[1])
                fail_msg("%s on %s: pdom %llu cycles, %llu issues, %llu fetches; lwm %llu, %llu, %llu", program->name,
                         pipelines[m], (unsigned long long)cycles[0], (unsigned long long)issues[0],
                         (unsigned long long)fetches[0], (unsigned long long)cycles[1], (unsigned long long)issues[1],
                         (unsigned long long)fetches[1]);
        }
}

/* Every key leaves memory and the instructions of threads as they are. */
static void keys_change_when_not_what(void **state) {
    (void)state;
    static const char *const settings[] = {"",
                                           "lwm.size: 64\n",
                                           "lwm.refetch: all\n",
                                           "lwm.jump: false\n",
                                           "lwm.memory_rows: false\n",
                                           "lwm.guards: false\n",
                                           "lwm.register_file: ideal\n"};
    for (unsigned i = 0; i < 1 + PROGRAMS; i++) {
        const struct program_text *program = i < PROGRAMS ? &programs[i] : &more_programs[0];
        struct fixture plain;
        open_with(&plain, "base: fung-8800\n", "");
        load(&plain, program->text);
        expect_ok(&plain, program, false);
        for (unsigned k = 0; k < sizeof settings / sizeof settings[0]; k++) {
            struct fixture f;
            char text[256];
            snprintf(text, sizeof text, "divergence.mechanism: lwm\n%s", settings[k]);
            open_with(&f, "base: fung-8800\nsm.count: 2\n", text);
            load(&f, program->text);
            expect_ok(&f, program, true);
            if (memcmp(f.memory, plain.memory, WORDS * sizeof(uint32_t)) != 0)
                fail_msg("%s, %s: memory differs", program->name, settings[k]);
            assert_int_equal(f.result.stats.thread_instructions, plain.result.stats.thread_instructions);
            check_books(&f, program->name);
            finish(&f);
        }
        finish(&plain);
    }
}

/* A barrier on one side of a branch, threads of the same large warp, but of another warp, lower on its stack: both lines
 * are named. */
static void a_barrier_that_its_stack_cannot_meet_is_reported(void **state) {
    (void)state;
    struct fixture f;
    open_with(&f, "base: gtx480\nsm.count: 2\n", "divergence.mechanism: lwm\n");
    load(&f, KERNEL("", "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra A;\nbar.sync 0;\nbra B;\nA: bar.sync 0;\nst.global.u32 "
                        "[%rd3], 77;\nB: ret;"));
    assert_int_equal(launch(&f, 1, 64, true), STATUS_STOPPED);
    expect_text(&f, "warp 0: lanes 0xffffffff wait at barrier 0 (test.ptx:21");
    expect_text(&f, "warp 1: lanes 0xffffffff, the first at test.ptx:19");
    finish(&f);
    open_with(&f, "base: gtx480\n", "divergence.mechanism: lwm\nlwm.size: 40\n");
    load(&f, programs[0].text);
    assert_int_equal(launch(&f, 1, 64, true), STATUS_INVALID);
    expect_text(&f, "lwm.size=40");
    finish(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lwm_forms_the_sub_warps_of_the_published_example),
        cmocka_unit_test(lwm_ideal_registers_pack_any_threads),
        cmocka_unit_test(lwm_keeps_the_stack_of_the_published_example),
        cmocka_unit_test(lwm_interlock_keeps_threads_out_that_are_in_flight),
        cmocka_unit_test(lwm_loads_global_memory_by_rows),
        cmocka_unit_test(lwm_packs_by_guards),
        cmocka_unit_test(lwm_jumps_once),
        cmocka_unit_test(lwm_ends_with_its_threads),
        cmocka_unit_test(large_warps_of_one_row_are_warps),
        cmocka_unit_test(keys_change_when_not_what),
        cmocka_unit_test(a_barrier_that_its_stack_cannot_meet_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
