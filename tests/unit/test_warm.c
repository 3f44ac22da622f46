/* SPDX-License-Identifier: Apache-2.0 */
/* Launches without time that warm the caches: what follows them in time takes as long as behind launches in time, and what they touch
 * is counted, on one host thread and on several. */
#include "device_fixture.h"

static const char *const machine = "base: gtx480\nl2.holds_host_copies: false\n";

/* Thread i adds up the words i, i + all, i + 2 all, ... of the first 64 KiB, and stores the sum behind them. */
static const char *const sums = ".visible .entry k(.param .u64 p) {\n"
                                " .reg .b64 %a, %b, %o; .reg .b32 %i, %n, %t, %s, %v, %e; .reg .pred %q;\n"
                                " ld.param.u64 %a, [p];\n"
                                " mov.u32 %t, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %i, %tid.x;\n"
                                " mad.lo.u32 %t, %t, %n, %i;\n"
                                " mov.u32 %s, %nctaid.x; mul.lo.u32 %s, %s, %n;\n"
                                " mov.u32 %v, 0; mov.u32 %i, %t;\n"
                                "L:\n"
                                " mul.wide.u32 %o, %i, 4; add.u64 %b, %a, %o;\n"
                                " ld.global.u32 %e, [%b]; add.u32 %v, %v, %e;\n"
                                " add.u32 %i, %i, %s;\n"
                                " setp.lt.u32 %q, %i, 16384;\n"
                                " @%q bra L;\n"
                                " mul.wide.u32 %o, %t, 4; add.u64 %b, %a, %o;\n"
                                " st.global.u32 [%b+65536], %v;\n"
                                " ret;\n}\n";

enum { BLOCKS = 32, THREADS = 128, WORDS = 16384 + BLOCKS * THREADS };

struct done {
    uint64_t cycles, footprint_bytes;
};

static struct done run(struct fixture *f, bool in_time, enum launch_footprint footprint) {
    const struct launch launch = {.program = f->program,
                                  .kernel = module_find(program_module(f->program), "k"),
                                  .grid = {BLOCKS, 1, 1},
                                  .block = {THREADS, 1, 1},
                                  .params = &f->buffer,
                                  .work_dim = 1,
                                  .in_time = in_time,
                                  .footprint = footprint};
    struct launch_result result;
    if (device_launch(f->device, &launch, &result, &f->report) != STATUS_OK)
        fail_msg("%s", report_text(&f->report));
    const struct done out = {result.timed ? result.timed->cycles : 0, result.footprint_bytes};
    launch_result_free(&result);
    return out;
}

static void open(struct fixture *f, const char *settings) {
    fixture_open(f, settings, WORDS);
    load(f, sums);
}

static void what_follows_takes_as_long_as_behind_a_launch_in_time(void **state) {
    (void)state;
    struct fixture f;
    open(&f, machine);
    const uint64_t cold = run(&f, true, FOOTPRINT_NONE).cycles;
    const uint64_t warm = run(&f, true, FOOTPRINT_NONE).cycles;
    finish(&f);

    open(&f, machine);
    run(&f, false, FOOTPRINT_NONE);
    assert_int_equal(run(&f, true, FOOTPRINT_NONE).cycles, cold); /* nobody asked for warmth */
    finish(&f);

    open(&f, machine);
    run(&f, false, FOOTPRINT_WARMS);
    const uint64_t behind = run(&f, true, FOOTPRINT_NONE).cycles;
    finish(&f);
    assert_true(warm < cold * 9 / 10);
    assert_in_range(behind, warm * 98 / 100, warm * 102 / 100);
}

static void a_machine_that_keeps_nothing_stays_cold(void **state) {
    (void)state;
    static const char *const forgets = "base: gtx480\nl2.flush_at_end: true\ninstruction_cache.flush_at_end: true\n"
                                       "constant_cache.flush_at_end: true\n";
    struct fixture f;
    open(&f, forgets);
    const uint64_t cold = run(&f, true, FOOTPRINT_NONE).cycles;
    finish(&f);
    open(&f, forgets);
    run(&f, false, FOOTPRINT_WARMS);
    assert_in_range(run(&f, true, FOOTPRINT_NONE).cycles, cold * 98 / 100, cold * 102 / 100);
    finish(&f);
}

/* Every sector of both parts, once; and by other launches nothing. */
static void what_a_launch_touches_is_counted(void **state) {
    (void)state;
    static const char *const machines[] = {
        "base: gtx480\nhost.threads: 1\n",
        "base: gtx480\nhost.threads: 3\nhost.alone_ns: 0\n",
    };
    for (unsigned i = 0; i < 2; i++) {
        struct fixture f;
        open(&f, machines[i]);
        assert_int_equal(run(&f, false, FOOTPRINT_NONE).footprint_bytes, 0);
        assert_int_equal(run(&f, false, FOOTPRINT_COUNTED).footprint_bytes, WORDS * sizeof(uint32_t));
        assert_int_equal(run(&f, false, FOOTPRINT_NONE).footprint_bytes, 0);
        assert_int_equal(run(&f, false, FOOTPRINT_WARMS).footprint_bytes, WORDS * sizeof(uint32_t));
        if (i)
            assert_true(device_parallel_launches(f.device) > 0);
        finish(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_follows_takes_as_long_as_behind_a_launch_in_time),
        cmocka_unit_test(a_machine_that_keeps_nothing_stays_cold),
        cmocka_unit_test(what_a_launch_touches_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
