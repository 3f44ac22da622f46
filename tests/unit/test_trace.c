/* SPDX-License-Identifier: Apache-2.0 */
/* Traces: what is written is read again, what is replayed takes the same time, what does not fit is refused by name. */
#include "device_fixture.h"

#include "gpu/gpu.h"
#include "random_bits.h"
#include "trace/file.h"

#define SMALL "base: gtx480\nsm.count: 2\nlimits.max_cycles: 1000000\n"

/* Loops of different lengths, shared memory, barriers, atomics, a call, a masked shuffle. */
static const char kernel[] =
    ".func twice() { ret; }\n"
    ".visible .entry k(.param .u64 p) {\n"
    "  .reg .pred %c, %e; .reg .b32 %a, %b, %i; .reg .b64 %d, %o; .shared .b32 s[64];\n"
    "  ld.param.u64 %d, [p]; mov.u32 %a, %tid.x; and.b32 %i, %a, 7; mul.wide.u32 %o, %a, 4; add.u64 %o, %d, %o;\n"
    "L: ld.global.b32 %b, [%o]; add.u32 %b, %b, %i; st.global.b32 [%o], %b;\n"
    "  setp.ne.u32 %c, %i, 0; sub.u32 %i, %i, 1; @%c bra L;\n"
    "  setp.lt.u32 %e, %a, 16; @%e bra M; add.u32 %b, %b, 5;\n"
    "M: bar.sync 0; @%e atom.global.add.u32 %b, [%d], 1; call twice;\n"
    "  shfl.sync.bfly.b32 %b, %b, 1, 31, -1; st.global.b32 [%o], %b; exit;\n}\n";

static void test_numbers_come_back(void **state) {
    (void)state;
    struct arena arena = {0};
    struct track track = {0};
    struct track_place end = {0}, at;
    enum { ISSUES = 2000 };
    static struct executed executed[ISSUES];
    static struct access access[ISSUES];
    static struct track_issue issues[ISSUES];
    for (unsigned i = 0; i < ISSUES; i++) {
        const uint64_t a = random_bits(), b = random_bits();
        executed[i] = (struct executed){
            .flow = (enum flow)(a % FLOW_FAULT), .pc = (uint32_t)(a >> 8) % 5000, .lanes = (uint32_t)b, .issues = 1};
        issues[i] = (struct track_issue){.guard = a >> 60 ? UINT32_MAX : (uint32_t)a & (uint32_t)b,
                                         .members = a >> 56 & 15 ? 0 : (uint32_t)b};
        if (executed[i].flow != FLOW_NEXT)
            executed[i].taken = (uint32_t)(b >> 32) & executed[i].lanes;
        executed[i].target = executed[i].flow == FLOW_BRANCH ? (uint32_t)(b >> 40) : 0;
        for (unsigned lane = 0; lane < LANES_MAX; lane++)
            executed[i].next[lane] = (uint32_t)random_bits() >> 8;
        if (executed[i].flow == FLOW_BARRIER)
            executed[i].barrier = (uint32_t)a % 16, executed[i].expected = (uint32_t)b % 1024;
        if (a >> 40 & 1)
            access[i] = (struct access){.kind = (uint8_t)(1 + a % 3),
                                        .space = SPACE_GLOBAL,
                                        .bytes = 4,
                                        .lanes = (uint32_t)(a >> 20),
                                        .ticket = a >> 41 & 1 ? NO_TICKET : 0};
        for (unsigned lane = 0; lane < LANES_MAX; lane++)
            access[i].address[lane] = random_bits() >> (i % 60);
        track_put(&arena, &track, &end, &issues[i], &executed[i], &access[i]);
    }
    assert_true(track_begin(&track, &at));
    for (unsigned i = 0; i < ISSUES; i++) {
        struct executed done = {0};
        struct access got = {0};
        struct track_issue issue = {0};
        if (at.gap) {
            assert_int_equal(executed[i].flow, FLOW_NEXT);
            at.gap--;
            continue;
        }
        assert_true(track_take(&track, &at, &issue, &done, &got));
        assert_int_equal(done.flow, executed[i].flow);
        assert_int_equal(done.pc, executed[i].pc);
        assert_int_equal(done.lanes, executed[i].lanes);
        assert_int_equal(done.taken, executed[i].taken);
        assert_int_equal(done.target, executed[i].target);
        assert_int_equal(done.barrier, executed[i].barrier);
        assert_int_equal(done.expected, executed[i].expected);
        assert_int_equal(issue.guard, issues[i].guard == UINT32_MAX ? UINT32_MAX : issues[i].guard & done.lanes);
        assert_int_equal(issue.members, issues[i].members);
        assert_int_equal(got.kind, access[i].kind);
        for (BITS_EACH(lane, done.flow == FLOW_MULTI                              ? done.lanes
                             : done.flow == FLOW_CALL || done.flow == FLOW_RETURN ? done.taken
                                                                                  : 0))
            assert_int_equal(done.next[lane], executed[i].next[lane]);
        for (BITS_EACH(lane, got.kind ? got.lanes : 0))
            assert_true(got.address[lane] == access[i].address[lane]);
        assert_int_equal(got.kind ? got.lanes : 0, got.kind ? access[i].lanes : 0);
    }
    arena_free(&arena);
}

/* One launch of the kernel, recorded or replayed; its cycles. */
static enum status run(struct fixture *f, struct trace_writer *to, struct trace_reader *from) {
    const struct launch launch = {.program = f->program,
                                  .kernel = module_find(program_module(f->program), "k"),
                                  .grid = {6, 1, 1},
                                  .block = {64, 1, 1},
                                  .params = &f->buffer,
                                  .work_dim = 1,
                                  .in_time = true,
                                  .trace_to = to,
                                  .trace_from = from};
    launch_result_free(&f->result);
    return device_launch(f->device, &launch, &f->result, &f->report);
}

static void test_replay_takes_the_same_time(void **state) {
    (void)state;
    static const char *const machines[] = {SMALL, SMALL "sm.scheduler: two-level\nhost.threads: 2\n",
                                           SMALL "divergence.mechanism: frontiers\n",
                                           SMALL "l1.size_bytes: 8 KiB\nl1.ways: 2\n"};
    for (unsigned i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        struct arena arena = {0};
        struct fixture recorded, replayed;
        struct trace_writer writer = {.arena = &arena};
        fixture_open(&recorded, machines[i], 256), load(&recorded, kernel);
        fixture_open(&replayed, machines[i], 256), load(&replayed, kernel);
        if (run(&recorded, &writer, NULL) != STATUS_OK)
            fail_msg("%s", report_text(&recorded.report));
        struct trace_reader reader = {.name = "t", .data = writer.items, .bytes = writer.count};
        if (run(&replayed, NULL, &reader) != STATUS_OK)
            fail_msg("%s", report_text(&replayed.report));
        const struct gpu_stats *a = recorded.result.timed, *b = replayed.result.timed;
        assert_true(a->cycles == b->cycles);
        assert_memory_equal(&a->sm, &b->sm, sizeof a->sm);
        assert_memory_equal(&a->l1, &b->l1, sizeof a->l1);
        assert_memory_equal(&a->dram, &b->dram, sizeof a->dram);
        assert_memory_equal(&recorded.result.stats, &replayed.result.stats, sizeof recorded.result.stats);
        assert_int_equal(replayed.memory[1], 0); /* nothing was computed */
        assert_int_not_equal(recorded.memory[1], 0);
        finish(&recorded), finish(&replayed);
        arena_free(&arena);
    }
}

/* What differs is named. */
static void refuse(const char *settings, const char *body, unsigned damage, const char *words) {
    struct arena arena = {0};
    struct fixture recorded, replayed;
    struct trace_writer writer = {.arena = &arena};
    fixture_open(&recorded, SMALL, 256), load(&recorded, kernel);
    fixture_open(&replayed, settings, 256), load(&replayed, body);
    assert_int_equal(run(&recorded, &writer, NULL), STATUS_OK);
    if (damage < writer.count)
        writer.items[damage] ^= 0x55;
    struct trace_reader reader = {.name = "t.trace", .data = writer.items, .bytes = writer.count};
    assert_int_not_equal(run(&replayed, NULL, &reader), STATUS_OK);
    expect_text(&replayed, words);
    finish(&recorded), finish(&replayed);
    arena_free(&arena);
}

static void test_what_does_not_fit_is_refused(void **state) {
    (void)state;
    refuse(SMALL, ".visible .entry k(.param .u64 p) { exit; }\n", UINT32_MAX, "t.trace: launch 1 is of other code");
    refuse(SMALL "divergence.mechanism: frontiers\n", kernel, UINT32_MAX,
           "t.trace: recorded under divergence.mechanism=pdom");
    refuse(SMALL "divergence.mechanism: dwf\n", kernel, UINT32_MAX, "--replay: with divergence.mechanism=dwf");
    refuse(SMALL, kernel, 0, "t.trace: damaged: launch 1");
    refuse(SMALL, kernel, 60, "t.trace: damaged: launch 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_come_back),
        cmocka_unit_test(test_replay_takes_the_same_time),
        cmocka_unit_test(test_what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
