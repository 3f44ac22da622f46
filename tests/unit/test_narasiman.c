/* SPDX-License-Identifier: Apache-2.0 */
/* The preset of the large-warp study is the machine of its table 5.1. */
#include "timed_programs.h"

#define MACHINE "base: narasiman-core\n" LIMIT

/* %r10 counts cycles between two instructions with a load of [%rd3 + offset] between them. */
#define TIMED_LOAD(offset, slot)                                                                                       \
    "mov.u32 %r4, %clock;\nld.global.u32 %r5, [%rd3+" #offset "];\nmov.u32 %r6, %clock;\nsub.u32 %r10, %r6, "          \
    "%r4;\nst.global.u32 [%rd3+" #slot "], %r10;\n"

/* A load that misses takes 100 cycles more than one that hits where its row is open, and 300 where it is not. */
static void memory_takes(const char *settings) {
    struct fixture f;
    open_machine(&f, settings);
    load(&f, KERNEL("", "ld.global.u32 %r5, [%rd3+49152];\n" TIMED_LOAD(49152, 0) TIMED_LOAD(49280, 4)
                            TIMED_LOAD(16512, 8) TIMED_LOAD(49408, 12) "ret;"));
    if (launch(&f, 1, 1, true) != STATUS_OK)
        fail_msg("%s", report_text(&f.report));
    const uint32_t hit = f.memory[0];
    assert_int_equal(f.memory[1] - hit, 100);
    assert_int_equal(f.memory[2] - hit, 300);
    assert_int_equal(f.memory[3] - hit, 300);
    finish(&f);
}

static void memory_takes_what_the_tables_say(void **state) {
    (void)state;
    /* 16512 and 49152 are rows of one bank */
    memory_takes(MACHINE "dram.bank_hash: false\n");
    memory_takes("base: narasiman-search\ndram.bank_hash: false\n" LIMIT);
}

/* tests/validation/lwm/tails.cl by hand. */
static const char tails[] = KERNEL(
    "",
    "mul.lo.u32 %r4, %r3, 2654435761;\nadd.u32 %r4, %r4, 12345;\nmov.u32 %r5, 0;\nL: shl.b32 %r6, %r4, 13;\nxor.b32 "
    "%r4, %r4, %r6;\nshr.u32 %r6, %r4, 17;\nxor.b32 %r4, %r4, %r6;\nshl.b32 %r6, %r4, 5;\nxor.b32 %r4, %r4, "
    "%r6;\nand.b32 %r6, %r4, 255;\nsetp.eq.u32 %p1, %r6, 0;\nshr.u32 %r8, %r4, 8;\nand.b32 %r8, %r8, 3;\nadd.u32 "
    "%r8, %r8, 1;\nselp.u32 %r8, 32, %r8, %p1;\nmov.u32 %r9, %r4;\nD: mad.lo.u32 %r9, %r9, 1664525, "
    "1013904223;\nshr.u32 %r6, %r9, 9;\nxor.b32 %r9, %r9, %r6;\nmad.lo.u32 %r9, %r9, 22695477, 1;\nsub.u32 %r8, "
    "%r8, 1;\nsetp.ne.u32 %p2, %r8, 0;\n@%p2 bra D;\nadd.u32 %r4, %r4, %r9;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 "
    "%p3, %r5, 16;\n@%p3 bra L;\nst.global.u32 [%rd3], %r4;\nret;");

static uint64_t cycles_of_program(const char *program, unsigned threads, const char *settings) {
    struct fixture f;
    char text[256];
    snprintf(text, sizeof text, MACHINE "%s", settings);
    open_machine(&f, text);
    load(&f, program);
    if (launch(&f, 1, threads, true) != STATUS_OK)
        fail_msg("%s", report_text(&f.report));
    const uint64_t cycles = f.result.timed->cycles;
    finish(&f);
    return cycles;
}

static uint64_t cycles_of(const char *settings) { return cycles_of_program(tails, 1024, settings); }

/* [002 §5.2.2.1] Where threads leave a loop at different times, large warps of 256 beat smaller ones, which cannot fill
 * sub-warps, and larger ones, of which more threads wait for the last. */
static void large_warps_of_256_win_where_loops_end_late(void **state) {
    (void)state;
    static const char *const settings[] = {"lwm.size: 32\n", "lwm.size: 128\n", "lwm.size: 256\n", "lwm.size: 512\n",
                                           "lwm.size: 1024\n"};
    uint64_t cycles[5];
    for (unsigned i = 0; i < 5; i++) {
        char text[128];
        snprintf(text, sizeof text, "divergence.mechanism: lwm\n%s", settings[i]);
        cycles[i] = cycles_of(text);
    }
    assert_int_equal(cycles[0], cycles_of("divergence.mechanism: pdom\n"));
    assert_true(cycles[1] < cycles[0]);
    assert_true(cycles[2] < cycles[1]);
    assert_true(cycles[2] < cycles[3]);
    assert_true(cycles[3] < cycles[4]);
}

/* [002 §4.4] One large warp a fetch group: where nobody waits for memory the first runs to its end before the others,
 * and the last alone; with a time-out all end together. */
static void a_timeout_keeps_large_warps_together(void **state) {
    (void)state;
    const char *const two_level = "divergence.mechanism: lwm\nsm.scheduler: two-level\nsm.fetch_group: 1\n";
    char text[256];
    snprintf(text, sizeof text, "%sscheduler.group_timeout: 512\n", two_level);
    const uint64_t without = cycles_of(two_level), with = cycles_of(text);
    assert_true(with < without);
}

/* Every warp goes to memory again and again, with something to do in between. */
static const char trips[] =
    KERNEL("", "mov.u32 %r5, 0;\nL: atom.global.add.u32 %r6, [%rd3], 1;\nadd.u32 %r4, %r4, %r6;\nshl.b32 %r7, %r4, "
               "3;\nxor.b32 %r4, %r4, %r7;\nshr.u32 %r7, %r4, 5;\nxor.b32 %r4, %r4, %r7;\nadd.u32 %r5, %r5, "
               "1;\nsetp.lt.u32 %p1, %r5, 24;\n@%p1 bra L;\nst.global.u32 [%rd3], %r4;\nret;");

/* Four large warps, in places for 64: those where nobody is are no fetch groups that could keep priority, so that the
 * first large warp has it again and again. */
static void priority_comes_round(void **state) {
    (void)state;
    static const char two_level[] = "divergence.mechanism: lwm\nsm.scheduler: two-level\nsm.fetch_group: 1\n";
    const uint64_t groups = cycles_of_program(trips, 1024, two_level);
    const uint64_t in_turn = cycles_of_program(trips, 1024, "divergence.mechanism: lwm\n");
    assert_true(groups <= in_turn);
}

/* [002 §4.3] Fetch groups come to memory one after another, and one goes on while others wait. */
static void fetch_groups_wait_one_after_another(void **state) {
    (void)state;
    const uint64_t round_robin = cycles_of_program(trips, 1024, "sm.scheduler: rr\n");
    const uint64_t groups = cycles_of_program(trips, 1024, "sm.scheduler: two-level\n");
    const uint64_t all = cycles_of_program(trips, 1024, "sm.scheduler: two-level\nsm.fetch_group: 32\n");
    assert_int_equal(all, round_robin);
    assert_true(groups < round_robin);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_takes_what_the_tables_say),
        cmocka_unit_test(large_warps_of_256_win_where_loops_end_late),
        cmocka_unit_test(a_timeout_keeps_large_warps_together),
        cmocka_unit_test(priority_comes_round),
        cmocka_unit_test(fetch_groups_wait_one_after_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
