/* SPDX-License-Identifier: Apache-2.0 */
/* Fetch behind branches: a machine whose fetch goes straight on pays for what comes in vain. */
#include "device_fixture.h"

#include <stdlib.h>

#define MACHINE                                                                                                        \
    "base: gtx480\nsm.count: 1\ninstruction_cache.perfect: true\nconstant_cache.parameters: false\n"                   \
    "sm.fetch_width: 2\nsm.fetch_cycles: 2\nlimits.max_cycles: 20000\n"

/* Two instructions, then blocks of three, so that no fetch begins at the end of a line of 16. */
#define BEGIN                                                                                                          \
    ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<16>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\n"             \
    "bra.uni B0;\nB0: mov.u32 %r2, %clock;\nbra.uni B1;\nmov.u32 %r9, 1;\n"
#define END "mov.u32 %r3, %clock;\nsub.u32 %r4, %r3, %r2;\nst.global.u32 [%rd1], %r4;\nret;\n}\n"
/* The branch is the second of the two instructions fetched, or the first. */
#define SECOND(n, next) "B" #n ": mov.u32 %r1" #n ", 1;\nbra.uni B" #next ";\nmov.u32 %r9, 1;\n"
#define FIRST(n, next) "B" #n ": bra.uni B" #next ";\nmov.u32 %r8, 1;\nmov.u32 %r9, 1;\n"

struct measured {
    uint32_t cycles;
    uint64_t fetches;
};

static struct measured measure(const char *text, bool straight) {
    struct fixture f;
    fixture_open(&f, straight ? MACHINE "sm.fetch_straight: true\n" : MACHINE "sm.fetch_straight: false\n", 64);
    load(&f, text);
    if (launch(&f, 1, 32, true) != STATUS_OK)
        fail_msg("%s", report_text(&f.report));
    const struct measured out = {f.memory[0], f.result.timed->sm.fetches};
    finish(&f);
    return out;
}

static void compare(const char *text, uint32_t cycles, uint64_t fetches) {
    const struct measured straight = measure(text, true), knowing = measure(text, false);
    assert_int_equal(straight.cycles - knowing.cycles, cycles);
    assert_int_equal(straight.fetches - knowing.fetches, fetches);
}

/* In vain: fetched, looked at two cycles later, and fetched again. The branch to B1 is such in both tests; the one to B0
 * goes straight on. */
static void a_taken_branch_at_the_end_of_what_was_fetched_costs_a_fetch(void **state) {
    (void)state;
    compare(BEGIN SECOND(1, 2) SECOND(2, 3) SECOND(3, 4) SECOND(4, 5) "B5: " END, 5 * 2, 5);
}

/* What lies behind the branch is here already: a cycle passes until issue sees that it is not wanted. */
static void a_taken_branch_before_others_costs_a_cycle(void **state) {
    (void)state;
    compare(BEGIN FIRST(1, 2) FIRST(2, 3) FIRST(3, 4) FIRST(4, 5) "B5: " END, 2 + 4, 1);
}

static void a_branch_not_taken_costs_nothing(void **state) {
    (void)state;
    compare(".visible .entry k(.param .u64 p)\n{\n.reg .pred %q;\n.reg .b32 %r<16>;\n.reg .b64 %rd<4>;\n"
            "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %ntid.x;\nsetp.eq.u32 %q, %r1, 7;\nmov.u32 %r2, %clock;\n"
            "@%q bra E;\nmov.u32 %r5, 1;\nmov.u32 %r6, 1;\n@%q bra E;\nE: " END,
            0, 0);
}

int main(void) {
    setenv("HEDDLE_CONFIGS", HEDDLE_SOURCE_DIR "/configs", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_taken_branch_at_the_end_of_what_was_fetched_costs_a_fetch),
        cmocka_unit_test(a_taken_branch_before_others_costs_a_cycle),
        cmocka_unit_test(a_branch_not_taken_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
