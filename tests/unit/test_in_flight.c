/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.memory_in_flight and pipeline.wait_at_use: a warp without a scoreboard that goes on beside its loads and stores. */
#include "timed_programs.h"

enum { TURNS = 500, LATENCY = 500 };

/* Each turn reads one line that nobody has read before, or two. */
#define LOOP(body)                                                                                                     \
    KERNEL("", "mov.u64 %rd4, %rd1;\nmov.u32 %r4, 0;\nL: " body "add.u32 %r4, %r4, 1;\n"                               \
               "setp.lt.u32 %p1, %r4, 500;\n@%p1 bra L;\nret;")
static const struct program_text used_at_once = {
    "used at once", LOOP("ld.global.u32 %r5, [%rd4];\nadd.s64 %rd4, %rd4, 64;\nadd.u32 %r6, %r6, %r5;\n"), 1, 1};
static const struct program_text used_behind = {
    "used behind two",
    LOOP("ld.global.u32 %r5, [%rd4];\nld.global.u32 %r7, [%rd4+64];\nadd.s64 %rd4, %rd4, 128;\n"
         "add.u32 %r6, %r6, %r5;\nadd.u32 %r6, %r6, %r7;\n"),
    1, 1};

static uint64_t cycles_a_turn(const char *settings, const struct program_text *program) {
    char text[256];
    struct fixture f;
    snprintf(text, sizeof text, "base: tarjan-manycore\n%s", settings);
    open_machine(&f, text);
    load(&f, program->text);
    expect_ok(&f, program, true);
    const uint64_t cycles = f.result.timed->cycles;
    finish(&f);
    return (cycles + TURNS / 2) / TURNS;
}

#define TWO "pipeline.memory_in_flight: 2\n"
#define NEVER "pipeline.wait_at_use: false\n"

/* A turn has so many cycles beside its loads: those that wait add them to the latency, the others hide them behind it. */
static void a_turn_takes_what_the_keys_let_it_wait_for(void **state) {
    (void)state;
    assert_int_equal(cycles_a_turn("", &used_at_once), LATENCY + 5);
    assert_int_equal(cycles_a_turn(TWO, &used_at_once), LATENCY + 4); /* the addition to the address goes on */
    assert_int_equal(cycles_a_turn("pipeline.memory_in_flight: 1\n" NEVER, &used_at_once), LATENCY);
    assert_int_equal(cycles_a_turn(TWO NEVER, &used_at_once), LATENCY / 2);
    assert_int_equal(cycles_a_turn("pipeline.memory_in_flight: 4\n" NEVER, &used_at_once), LATENCY / 4);
    assert_int_equal(cycles_a_turn("", &used_behind), 2 * LATENCY + 6);
    assert_int_equal(cycles_a_turn(TWO, &used_behind),
                     LATENCY + 5); /* the second load and the address are behind the first */
    assert_int_equal(cycles_a_turn(TWO NEVER, &used_behind), LATENCY);
}

/* Memory is what it is without time, whatever is waited for. */
static void what_is_read_does_not_depend_on_waiting(void **state) {
    (void)state;
    static const char *const waiting[] = {"base: tarjan-manycore\n" TWO, "base: tarjan-manycore\n" TWO NEVER,
                                          "base: fung-8800\nsm.max_blocks: 3\n" TWO NEVER,
                                          "base: gtx480\nsm.pipeline: barrel\npipeline.memory_in_flight: 32\n" NEVER};
    for (unsigned m = 0; m < sizeof waiting / sizeof *waiting; m++)
        for (unsigned i = 0; i < PROGRAMS; i++) {
            struct fixture timed, plain;
            open_machine(&timed, waiting[m]);
            open_machine(&plain, waiting[m]);
            load(&timed, programs[i].text);
            load(&plain, programs[i].text);
            expect_ok(&timed, &programs[i], true);
            expect_ok(&plain, &programs[i], false);
            if (memcmp(timed.memory, plain.memory, WORDS * sizeof(uint32_t)) != 0)
                fail_msg("%s, machine %u: memory differs", programs[i].name, m);
            assert_int_equal(timed.result.stats.thread_instructions, plain.result.stats.thread_instructions);
            finish(&timed);
            finish(&plain);
        }
}

static void what_no_part_does_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *settings, *words;
    } cases[] = {
        {"base: tarjan-manycore\n" NEVER, "pipeline.wait_at_use=false has no effect with pipeline.memory_in_flight=0"},
        {"base: gtx480\n" TWO, "with sm.pipeline=scoreboard a warp waits for registers only"},
        {"base: fung-8800\ndivergence.mechanism: dwf\n" TWO, "divergence.mechanism=dwf forms groups anew"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine machine;
        struct report report = {0};
        enum status status =
            machine_open_text(&machine, "test.yaml", cases[i].settings, strlen(cases[i].settings), &report);
        if (!status)
            status = machine_check(&machine, &report);
        assert_int_equal(status, STATUS_INVALID);
        if (!strstr(report_text(&report), cases[i].words))
            fail_msg("'%s' is not in: %s", cases[i].words, report_text(&report));
        machine_close(&machine);
        report_free(&report);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turn_takes_what_the_keys_let_it_wait_for),
        cmocka_unit_test(what_is_read_does_not_depend_on_waiting),
        cmocka_unit_test(what_no_part_does_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
