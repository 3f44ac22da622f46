/* SPDX-License-Identifier: Apache-2.0 */
/* lwm.scalar: what is the same in all threads of a large warp is issued once [002 §9.2.1], and nothing else is. */
#include "timed_programs.h"

#include <stdlib.h>

#define LARGE "base: narasiman-core\ndivergence.mechanism: lwm\n" LIMIT
static const char *const keys[] = {"", "lwm.size: 512\n", "lwm.refetch: all\n", "lwm.register_file: ideal\n",
                                   "lwm.guards: false\nlwm.jump: false\nlwm.memory_rows: false\n"};
enum { KEYS = sizeof keys / sizeof keys[0] };

struct outcome {
    uint64_t cycles, issues, threads;
    uint64_t by_pc[64], threads_by_pc[64];
    uint32_t memory[WORDS];
};

static void run(const struct program_text *program, const char *settings, const char *more, struct outcome *out) {
    struct fixture f;
    char text[512];
    memset(out, 0, sizeof *out);
    snprintf(text, sizeof text, "%s%s", settings, more);
    open_machine(&f, text);
    load(&f, program->text);
    expect_ok(&f, program, true);
    check_books(&f, program->name);
    out->cycles = f.result.timed->cycles;
    out->issues = f.result.stats.warp_instructions, out->threads = f.result.stats.thread_instructions;
    for (uint32_t pc = 0; pc < program_module(f.program)->code_count && pc < 64; pc++)
        out->by_pc[pc] = f.result.instructions[pc].issues, out->threads_by_pc[pc] = f.result.instructions[pc].threads;
    memcpy(out->memory, f.memory, sizeof out->memory);
    finish(&f);
}

static struct outcome once, always;

static void memory_and_threads_are_what_they_are_without(void **state) {
    (void)state;
    for (unsigned i = 0; i < PROGRAMS; i++)
        for (unsigned k = 0; k < KEYS; k++) {
            run(&programs[i], LARGE, keys[k], &always);
            char with[256];
            snprintf(with, sizeof with, "%slwm.scalar: true\n", keys[k]);
            run(&programs[i], LARGE, with, &once);
            if (memcmp(once.memory, always.memory, sizeof once.memory) != 0)
                fail_msg("%s with %s: memory differs", programs[i].name, keys[k]);
            assert_int_equal(once.threads, always.threads);
            assert_memory_equal(once.threads_by_pc, always.threads_by_pc, sizeof once.threads_by_pc);
            assert_true(once.issues < always.issues); /* every one of them loads its parameter */
        }
}

/* A loop of 30 turns of eight rows: what counts them, compares and branches is issued 30 times, not 240. */
static void a_loop_that_all_threads_run_alike_is_issued_once(void **state) {
    static const struct program_text loop = {
        "loop",
        KERNEL("", "mov.u32 %r5, 0;\nL: add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 30;\n@%p1 bra L;\nadd.u32 %r6, "
                   "%r5, %r3;\nst.global.u32 [%rd3], %r6;\nret;"),
        1, 256};
    static const uint64_t issues[] = {1, 8, 1, 1, 8, 8, 8, 1, 30, 30, 30, 8, 8, 8};
    (void)state;
    run(&loop, LARGE, "", &always);
    run(&loop, LARGE, "lwm.scalar: true\n", &once);
    for (unsigned pc = 0; pc < sizeof issues / sizeof *issues; pc++) {
        assert_int_equal(once.by_pc[pc], issues[pc]);
        assert_int_equal(always.by_pc[pc], pc >= 8 && pc <= 10 ? 240 : 8);
    }
    assert_int_equal(once.threads_by_pc[8], 30 * 256);
    assert_int_equal(once.threads_by_pc[10], 29 * 256); /* a branch counts those that take it */
    assert_true(once.cycles < always.cycles);
    for (uint32_t i = 0; i < 256; i++)
        assert_int_equal(once.memory[i], 30 + i);
}

/* Registers that threads wrote apart, in turns of their own, or not at all. Threads compute with what they hold, whoever
 * issues for them: that an instruction was not taken for one of all is seen by its issues. */
static void what_threads_did_apart_is_issued_for_each(void **state) {
    static const struct program_text sides = {
        "two sides",
        KERNEL("", "and.b32 %r4, %r1, 1;\nsetp.eq.u32 %p1, %r4, 0;\nmov.u32 %r5, 7;\n@%p1 bra S;\nmov.u32 %r5, 9;\nS: "
                   "add.u32 %r6, %r5, 1;\nsetp.gt.u32 %p2, %r6, 9;\n@%p2 add.u32 %r6, %r6, 100;\nst.global.u32 [%rd3], "
                   "%r6;\nret;"),
        1, 256};
    static const struct program_text turns = {
        "turns",
        KERNEL("", "and.b32 %r4, %r1, 7;\nmov.u32 %r5, 0;\nL: add.u32 %r5, %r5, 1;\nsetp.le.u32 %p1, %r5, %r4;\n@%p1 "
                   "bra L;\nmul.lo.u32 %r6, %r5, 10;\nst.global.u32 [%rd3], %r6;\nret;"),
        2, 256};
    static const struct program_text guard = {
        "guard",
        KERNEL("", "mov.u32 %r5, 3;\nsetp.gt.u32 %p1, %r5, 5;\n@%p1 mov.u32 %r5, 99;\n@%p1 bra E;\n@!%p1 add.u32 %r5, "
                   "%r5, 4;\nmul.lo.u32 %r6, %r5, 2;\nst.global.u32 [%rd3], %r6;\nE: ret;"),
        1, 256};
    (void)state;
    for (unsigned k = 0; k < KEYS; k++) {
        char with[256];
        snprintf(with, sizeof with, "%slwm.scalar: true\n", keys[k]);
        run(&sides, LARGE, with, &once);
        for (uint32_t i = 0; i < 256; i++)
            assert_int_equal(once.memory[i], i % 2 ? 110 : 8);
        assert_true(once.by_pc[9] == 1 && once.by_pc[11] >= 4); /* of all; of one side */
        assert_true(once.by_pc[12] >= 8 && once.by_pc[13] >= 8);
        run(&turns, LARGE, with, &once);
        for (uint32_t i = 0; i < 512; i++)
            assert_int_equal(once.memory[i], 10 * (i % 8 + 1));
        assert_true(once.by_pc[12] >= 16); /* the product */
        run(&guard, LARGE, with, &once);
        for (uint32_t i = 0; i < 256; i++)
            assert_int_equal(once.memory[i], 14);
        for (unsigned pc = 7; pc <= 12; pc++)
            assert_int_equal(once.by_pc[pc], 1);
    }
}

static void it_needs_time_and_registers(void **state) {
    struct fixture f;
    (void)state;
    open_machine(&f, LARGE "lwm.refetch: all\nlwm.scalar: true\n");
    load(&f, programs[0].text);
    assert_int_not_equal(launch(&f, 1, 256, false), STATUS_OK);
    expect_text(&f, "one sub-warp stands for all");
    struct arena arena = {0};
    struct cost cost = {.arena = &arena};
    assert_int_equal(machine_cost(&f.machine, &cost, &f.report), STATUS_OK);
    uint64_t bits = 0;
    for (unsigned i = 0; i < cost.count; i++)
        if (strstr(cost.items[i].name, "scalar"))
            bits += cost_bits(&cost.items[i]);
    assert_int_equal(bits, 4 * 64 * 33); /* four large warps, 64 registers a thread */
    arena_free(&arena);
    finish(&f);
}

int main(void) {
    setenv("HEDDLE_CONFIGS", HEDDLE_SOURCE_DIR "/configs", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_and_threads_are_what_they_are_without),
        cmocka_unit_test(a_loop_that_all_threads_run_alike_is_issued_once),
        cmocka_unit_test(what_threads_did_apart_is_issued_for_each),
        cmocka_unit_test(it_needs_time_and_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
