/* SPDX-License-Identifier: Apache-2.0 */
/* load&snoop and store&snoop [001 §4.2]: near data are loaded and stored, others only fetched, in the same time. */
#include "timed_programs.h"

#include <stdlib.h>

/* Again until it is there. */
static const struct program_text tries = {
    "tries",
    KERNEL("",
           "add.u32 %r5, %r3, 7;\nL: ld_snoop.global.u32 %r4, %p1, [%rd3];\n@%p1 bra L;\nadd.u32 %r4, %r4, %r5;\nM: "
           "st_snoop.global.u32 %p2, [%rd3], %r4;\n@%p2 bra M;\nret;"),
    8, 192};
static const char *const mechanisms[] = {"pdom", "barriers", "frontiers",       "dwf",  "mimd", "nrec", "lwm",
                                         "tbc",  "tokens",   "diverge-on-miss", "hanoi"};

static void a_program_that_tries_again_gets_all_its_data(void **state) {
    (void)state;
    for (unsigned m = 0; m < MACHINES + 2; m++)
        for (unsigned i = 0; i < sizeof mechanisms / sizeof *mechanisms; i++) {
            struct fixture f;
            char text[256];
            snprintf(text, sizeof text, "%sdivergence.mechanism: %s\n",
                     m < MACHINES    ? machines[m]
                     : m == MACHINES ? "base: narasiman-core\n" LIMIT
                                     : "base: tarjan-manycore\nsm.count: 2\n" LIMIT,
                     mechanisms[i]);
            open_machine(&f, text);
            load(&f, tries.text);
            expect_ok(&f, &tries, true);
            check_books(&f, mechanisms[i]);
            for (uint32_t k = 0; k < WORDS; k++)
                if (f.memory[k] != k % 1021 + (k < tries.blocks * tries.threads ? k + 7 : 0))
                    fail_msg("%s: word %u is %u", text, (unsigned)k, (unsigned)f.memory[k]);
            finish(&f);
        }
}

/* Without time all data are near. */
static void without_time_nothing_is_missed(void **state) {
    static const struct program_text program = {
        "once",
        KERNEL("",
               "mov.u32 %r4, 123;\nld_snoop.global.u32 %r4, %p1, [%rd3];\nst_snoop.global.u32 %p2, [%rd3+16384], "
               "%r3;\nselp.u32 %r5, 1000, 0, %p1;\nselp.u32 %r6, 2000, 0, %p2;\nadd.u32 %r4, %r4, %r5;\nadd.u32 %r4, "
               "%r4, %r6;\nst.global.u32 [%rd3], %r4;\nret;"),
        1, 64};
    struct fixture f;
    (void)state;
    open_machine(&f, machines[0]);
    load(&f, program.text);
    expect_ok(&f, &program, false);
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(f.memory[i], i);
        assert_int_equal(f.memory[4096 + i], i);
    }
    finish(&f);
}

/* Cold, then after a while: the same cycles, another answer. A register that nothing was loaded to keeps what it holds; memory
 * that was missed too. */
#define CLOCKED(code, place)                                                                                           \
    "mov.u32 %r10, %clock;\n" code "mov.u32 %r11, %clock;\nsub.u32 %r12, %r11, %r10;\nst.global.u32 [%rd1+" place      \
    "], %r12;\n"
#define A_WHILE(label)                                                                                                 \
    "mov.u32 %r13, 0;\n" label ": add.u32 %r13, %r13, 1;\nsetp.lt.u32 %p3, %r13, 500;\n@%p3 bra " label ";\n"
static void a_miss_takes_as_long_as_a_hit(void **state) {
    static const char program[] = KERNEL(
        "", "mov.u32 %r4, 123;\nmov.u32 %r9, 77;\n" CLOCKED("ld_snoop.global.u32 %r4, %p1, [%rd1+32768];\n",
                                                            "0") "selp.u32 %r5, 1, 0, %p1;\nst.global.u32 [%rd1+4], "
                                                                 "%r5;\nst.global.u32 [%rd1+8], %r4;\n"          //
        A_WHILE("A") CLOCKED("ld_snoop.global.u32 %r4, %p1, [%rd1+32768];\n", "12")                              //
        "selp.u32 %r5, 1, 0, %p1;\nst.global.u32 [%rd1+16], %r5;\nst.global.u32 [%rd1+20], %r4;\n"               //
        "st_snoop.global.u32 %p2, [%rd1+40960], %r9;\nselp.u32 %r6, 1, 0, %p2;\nst.global.u32 [%rd1+24], %r6;\n" //
        A_WHILE("B") "st_snoop.global.u32 %p2, [%rd1+40960], %r9;\nselp.u32 %r6, 1, 0, %p2;\nst.global.u32 [%rd1+28], "
                     "%r6;\nst_snoop.global.u32 %p2, [%rd1+49152], %r9;\nret;");
    struct fixture f;
    (void)state;
    open_machine(&f, "base: narasiman-core\n" LIMIT);
    load(&f, program);
    if (launch(&f, 1, 1, true) != STATUS_OK)
        fail_msg("%s", report_text(&f.report));
    check_books(&f, "a block ends when what was fetched has come");
    assert_int_equal(f.memory[1], 1);
    assert_int_equal(f.memory[2], 123);
    assert_int_equal(f.memory[4], 0);
    assert_int_equal(f.memory[5], 8192 % 1021);
    assert_int_equal(f.memory[0], f.memory[3]);
    assert_true(f.memory[0] < 20); /* a row that is closed takes 300 */
    assert_int_equal(f.memory[6], 1);
    assert_int_equal(f.memory[7], 0);
    assert_int_equal(f.memory[10240], 77);
    assert_int_equal(f.memory[12288], 12288 % 1021); /* the last store missed, and was not tried again */
    finish(&f);
}

/* Each thread adds up 64 words of its own, which cross lines at different times: with loads some thread of the warp
 * misses in nearly every turn and all wait; with snoops the others go on. */
#define SUM(load, guard)                                                                                               \
    KERNEL("", "mul.lo.u32 %r4, %r1, 268;\ncvt.u64.u32 %rd4, %r4;\nadd.u64 %rd4, %rd4, %rd1;\nmov.u32 %r5, "           \
               "0;\nmov.u32 %r6, 0;\nL: " load guard "add.u32 %r5, %r5, %r7;\n" guard "add.u32 %r6, %r6, 1;\n" guard   \
               "add.u64 %rd4, %rd4, 4;\nsetp.lt.u32 %p2, %r6, 64;\n@%p2 bra L;\nst.global.u32 [%rd3+49152], "          \
               "%r5;\nret;")
static uint64_t sum_up(const char *program) {
    struct fixture f;
    open_machine(&f, "base: tarjan-manycore\nsm.count: 1\n" LIMIT);
    load(&f, program);
    if (launch(&f, 1, 32, true) != STATUS_OK)
        fail_msg("%s", report_text(&f.report));
    for (uint32_t thread = 0; thread < 32; thread++) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < 64; i++)
            sum += (thread * 67 + i) % 1021;
        assert_int_equal(f.memory[12288 + thread], sum);
    }
    const uint64_t cycles = f.result.timed->cycles;
    finish(&f);
    return cycles;
}

static void software_lets_threads_slip(void **state) {
    (void)state;
    const uint64_t waits = sum_up(SUM("ld.global.u32 %r7, [%rd4];\n", "")),
                   slips = sum_up(SUM("ld_snoop.global.u32 %r7, %p1, [%rd4];\n", "@!%p1 "));
    assert_true(slips < waits / 3);
}

static void what_is_wrong_is_refused(void **state) {
    static const char *const wrong[][2] = {
        {"ld_snoop.shared.u32 %r4, %p1, [%r5];\n", "ld_snoop"},
        {"ld_snoop.u32 %r4, %p1, [%rd3];\n", "ld_snoop works on .global memory"},
        {"ld_snoop.global.u32 %r4, [%rd3];\n", "ld_snoop"},
        {"st_snoop.global.u32 %r4, [%rd3], %r5;\n", "%r4"},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct fixture f;
        char text[2048];
        open_machine(&f, machines[0]);
        const int length =
            snprintf(text, sizeof text,
                     ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .pred "
                     "%%p<8>;\n.reg .b32 %%r<16>;\n.reg .b64 %%rd<16>;\n%sret;\n}\n",
                     wrong[i][0]);
        assert_int_not_equal(device_load(f.device, "test.ptx", text, (size_t)length, &f.program, &f.report), STATUS_OK);
        expect_text(&f, wrong[i][1]);
        finish(&f);
    }
}

int main(void) {
    setenv("HEDDLE_CONFIGS", HEDDLE_SOURCE_DIR "/configs", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_that_tries_again_gets_all_its_data),
        cmocka_unit_test(without_time_nothing_is_missed),
        cmocka_unit_test(a_miss_takes_as_long_as_a_hit),
        cmocka_unit_test(software_lets_threads_slip),
        cmocka_unit_test(what_is_wrong_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
