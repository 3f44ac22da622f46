/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions of global memory by bulk copies, as the thread that makes them sees them before memory has: in time they lie in the SM's log. */
#include "device_fixture.h"

enum { WORDS = 64, FIRST = 1000, ADDED = 300 };

/* Thread 0 adds 300 + i to word i twice, stores word 2 and adds to it again; then it loads words and a single byte. */
static const char body[] =
    ".visible .entry k(.param .u64 p) {\n.reg .b64 %rd<4>;\n.reg .b32 %r<12>;\n.shared .align 16 .b8 area[16];\n"
    "ld.param.u64 %rd1, [p];\nmov.u32 %r1, 300;\nst.shared.u32 [area], %r1;\nmov.u32 %r1, 301;\n"
    "st.shared.u32 [area+4], %r1;\nmov.u32 %r1, 302;\nst.shared.u32 [area+8], %r1;\nmov.u32 %r1, 303;\n"
    "st.shared.u32 [area+12], %r1;\n"
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [area], 16;\n"
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [area], 16;\n"
    "st.global.u32 [%rd1+8], 7;\n"
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [area], 16;\n"
    "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1];\nld.global.u8 %r6, [%rd1+5];\n"
    "st.global.v4.u32 [%rd1+64], {%r2, %r3, %r4, %r5};\nst.global.u32 [%rd1+80], %r6;\n"
    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nret;\n}\n";

static void a_thread_sees_what_it_reduced(void **state) {
    (void)state;
    struct fixture f;
    fixture_open(&f, "sm.count: 2", WORDS);
    load(&f, body);
    for (unsigned in_time = 0; in_time < 2; in_time++) {
        memset(f.memory, 0, WORDS * sizeof(uint32_t));
        for (uint32_t i = 0; i < 4; i++)
            f.memory[i] = FIRST + i;
        if (launch(&f, 1, 1, in_time) != STATUS_OK)
            fail_msg("%s", report_text(&f.report));
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t expected = i == 2 ? 7 + ADDED + i : FIRST + i + 3 * (ADDED + i);
            assert_int_equal(f.memory[i], expected);
            assert_int_equal(f.memory[16 + i], expected);
        }
        assert_int_equal(f.memory[20], (FIRST + 1 + 3 * (ADDED + 1)) >> 8 & 0xff);
    }
    finish(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_thread_sees_what_it_reduced)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
