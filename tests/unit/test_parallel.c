/* SPDX-License-Identifier: Apache-2.0 */
/* Functional launches on several host threads: the same as on one, side by side where blocks do not depend on each other. */
#include "device_fixture.h"

#include "base/rng.h"
#include "emulate/parallel.h"
#include "exec/footprint.h"

enum { WORDS = 1 << 16 };

#define KERNEL(code)                                                                                                   \
    ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n"                  \
    "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"                   \
    "mad.lo.u32 %r4, %r2, %r3, %r1;\nmul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\nmov.u32 %r15, 0;\n"        \
    "W: add.u32 %r15, %r15, 1;\nsetp.lt.u32 %p7, %r15, 300;\n@%p7 bra W;\n" code                                       \
    "\nret;\n}\n" /* others have time to come */

/* Runs it on so many threads, twice, and keeps what is in memory. */
static enum status run_on(unsigned threads, const char *kernel, uint32_t blocks, uint32_t *memory, struct fixture *f) {
    char settings[128];
    snprintf(settings, sizeof settings, "host.threads: %u\nhost.alone_ns: 0\n", threads);
    fixture_open(f, settings, WORDS);
    for (uint32_t i = 0; i < WORDS; i++)
        f->memory[i] = i * 2654435761u;
    load(f, kernel);
    enum status status = launch(f, blocks, 64, false);
    if (status == STATUS_OK)
        status = launch(f, blocks, 64, false);
    memcpy(memory, f->memory, WORDS * sizeof *memory);
    return status;
}

/* Both runs agree in memory, counts and messages. `tried`: side by side, as far as threads come in time, which is not said. */
static void expect_same(const char *kernel, uint32_t blocks, enum status expected, bool tried) {
    static uint32_t one[WORDS], many[WORDS];
    struct fixture alone, together;
    assert_int_equal(run_on(1, kernel, blocks, one, &alone), expected);
    assert_int_equal(run_on(4, kernel, blocks, many, &together), expected);
    assert_memory_equal(one, many, sizeof one);
    assert_memory_equal(&alone.result.stats, &together.result.stats, sizeof alone.result.stats);
    assert_string_equal(report_text(&alone.report), report_text(&together.report));
    assert_int_equal(device_parallel_launches(alone.device), 0);
    if (!tried)
        assert_int_equal(device_parallel_launches(together.device), 0);
    finish(&alone);
    finish(&together);
}

static void blocks_on_their_own_run_side_by_side(void **state) {
    (void)state;
    static uint32_t memory[WORDS];
    struct fixture f;
    assert_int_equal(run_on(4, KERNEL("st.global.u32 [%rd3], %r4;"), 1024, memory, &f), STATUS_OK);
    assert_int_equal(device_parallel_launches(f.device), 2);
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(memory[i], i);
    finish(&f);
    /* in place, so that a block loads what it stores itself */
    expect_same(KERNEL("ld.global.u32 %r5, [%rd3];\nadd.u32 %r5, %r5, 3;\nst.global.u32 [%rd3], %r5;\n"
                       "ld.global.u32 %r6, [%rd3];\nmul.lo.u32 %r6, %r6, %r6;\nst.global.u32 [%rd3], %r6;"),
                1024, STATUS_OK, true);
    /* in shared memory, one lane at a time, by vectors */
    expect_same(".shared .align 4 .b32 s[64];\n" KERNEL(
                    "mov.u64 %rd4, s;\nmul.wide.u32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd4, %rd5;\n"
                    "cvt.u32.u64 %r7, %rd6;\nst.shared.u32 [%r7], %r4;\nbar.sync 0;\nxor.b32 %r8, %r7, 4;\n"
                    "ld.shared.u32 %r5, [%r8];\nsetp.ge.u32 %p1, %r1, 32;\n@%p1 bra E;\n"
                    "mul.wide.u32 %rd7, %r4, 8;\nand.b64 %rd7, %rd7, 262136;\nmul.wide.u32 %rd8, %r2, 256;\n"
                    "mul.wide.u32 %rd9, %r1, 8;\nadd.s64 %rd8, %rd8, %rd9;\nadd.s64 %rd8, %rd1, %rd8;\n"
                    "st.global.v2.u32 [%rd8], {%r5, %r7};\nE:"),
                1024, STATUS_OK, true);
}

/* Of every two threads: what one stored nobody else may have loaded or stored, in whichever word of sectors. */
static void a_sector_of_two_threads_is_a_conflict(void **state) {
    (void)state;
    enum { THREADS = 4, SECTOR_WORDS = 3 };
    for (unsigned i = 0; i < THREADS; i++)
        for (unsigned j = 0; j < THREADS; j++)
            for (unsigned bit = 0; bit < SECTOR_WORDS * 64; bit += 21) {
                uint64_t loaded[THREADS][SECTOR_WORDS] = {0}, stored[THREADS][SECTOR_WORDS] = {0};
                struct footprint footprints[THREADS];
                for (unsigned k = 0; k < THREADS; k++)
                    footprints[k] = (struct footprint){loaded[k], stored[k]};
                const uint64_t sector = UINT64_C(1) << bit % 64;
                loaded[i][bit / 64] = loaded[j][bit / 64] = sector;
                assert_false(footprints_conflict(footprints, THREADS, SECTOR_WORDS));
                stored[j][bit / 64] = sector;
                assert_int_equal(footprints_conflict(footprints, THREADS, SECTOR_WORDS), i != j);
                loaded[i][bit / 64] = loaded[j][bit / 64] = 0;
                assert_false(footprints_conflict(footprints, THREADS, SECTOR_WORDS));
                stored[i][bit / 64] |= sector;
                assert_int_equal(footprints_conflict(footprints, THREADS, SECTOR_WORDS), i != j);
            }
}

/* One block alone loads what an earlier one stored: whichever threads run the two, the result is that of one thread. Blocks
 * take a while, so that all threads come to run some of them. */
static void one_load_of_one_block_is_enough(void **state) {
    (void)state;
    for (unsigned k = 0; k < 12; k++) {
        char code[768];
        struct fixture f;
        snprintf(code, sizeof code,
                 ".visible .entry k(.param .u64 p)\n{\n.reg .pred %%p<2>;\n.reg .b32 %%r<8>;\n.reg .b64 %%rd<4>;\n"
                 "ld.param.u64 %%rd1, [p];\nmov.u32 %%r2, %%ctaid.x;\nmov.u32 %%r5, 7;\nmov.u32 %%r6, 0;\n"
                 "W: add.u32 %%r6, %%r6, 1;\nsetp.lt.u32 %%p1, %%r6, 100;\n@%%p1 bra W;\nsetp.ne.u32 %%p1, %%r2, %u;\n"
                 "@%%p1 bra S;\nld.global.u32 %%r5, [%%rd1+%u];\nS: mul.wide.u32 %%rd2, %%r2, 64;\n"
                 "add.s64 %%rd3, %%rd1, %%rd2;\nst.global.u32 [%%rd3], %%r5;\nret;\n}\n",
                 500 + 40 * k, 64 * (40 * k));
        fixture_open(&f, "host.threads: 4\nhost.alone_ns: 0\n", WORDS);
        load(&f, code);
        assert_int_equal(launch(&f, 1000, 64, false), STATUS_OK);
        for (uint32_t block = 0; block < 1000; block++)
            assert_int_equal(f.memory[16 * block], 7);
        finish(&f);
    }
}

/* What threads count is added up: lanes that diverge, at branches and at calls through a pointer. */
static void counts_of_all_threads_are_added_up(void **state) {
    (void)state;
    static uint32_t memory[WORDS];
    static const char kernel[] = ".visible .func f()\n{\nret;\n}\n.visible .func g()\n{\nret;\n}\n" KERNEL(
        "and.b32 %r5, %r1, 1;\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 bra E;\nadd.u32 %r4, %r4, 1;\nE: mov.u64 %rd4, f;\n"
        "mov.u64 %rd5, g;\nselp.b64 %rd6, %rd4, %rd5, %p1;\ny: .callprototype _ ();\ncall %rd6, (), y;\n"
        "st.global.u32 [%rd3], %r4;");
    struct fixture f;
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        assert_int_equal(run_on(threads, kernel, 512, memory, &f), STATUS_OK);
        assert_int_equal(f.result.stats.divergent_branches, 2 * 512 * 2); /* of each of two warps a block */
        assert_int_equal(f.result.stats.threads, 512 * 64);
        finish(&f);
    }
    expect_same(kernel, 512, STATUS_OK, true);
}

/* Whatever the gaps between them, all stored sectors are copied, and nothing else. */
static void stored_sectors_are_copied_and_no_others(void **state) {
    (void)state;
    enum { SECTOR_WORDS = 3, BYTES = SECTOR_WORDS * 64 << SECTOR_SHIFT };
    static uint8_t from[BYTES], to[BYTES];
    struct rng rng;
    rng_seed(&rng, 5);
    memset(from, 1, sizeof from);
    for (unsigned round = 0; round < 200; round++) {
        uint64_t stored[SECTOR_WORDS];
        for (unsigned i = 0; i < SECTOR_WORDS; i++)
            stored[i] = round == 0  ? ~UINT64_C(0)
                        : round % 2 ? rng_u64(&rng)
                                    : rng_u64(&rng) & rng_u64(&rng) & rng_u64(&rng);
        memset(to, 0, sizeof to);
        footprint_copy(stored, SECTOR_WORDS, to, from);
        for (unsigned at = 0; at < BYTES; at++)
            assert_int_equal(to[at], stored[(at >> SECTOR_SHIFT) / 64] >> (at >> SECTOR_SHIFT) % 64 & 1);
    }
}

static void a_limit_counts_what_every_thread_issued(void **state) {
    (void)state;
    const uint64_t more[] = {300, 0, 200, 400};
    assert_true(parallel_is_within(1000, 100, more, 4));
    assert_false(parallel_is_within(999, 100, more, 4));
    assert_true(parallel_is_within(100, 100, more, 0));
    assert_true(parallel_is_within(0, 100, more, 4));
}

/* A limit of instructions holds for all threads together. */
static void a_limit_holds_for_all_threads_together(void **state) {
    (void)state;
    static const char kernel[] = KERNEL("st.global.u32 [%rd3], %r4;");
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        char settings[128];
        struct fixture f;
        snprintf(settings, sizeof settings,
                 "host.threads: %u\nhost.alone_ns: 0\nfunctional.max_instructions: 1000000\n", threads);
        fixture_open(&f, settings, WORDS);
        load(&f, kernel);
        assert_int_equal(launch(&f, 1024, 64, false), STATUS_STOPPED); /* 1.9 million */
        expect_text(&f, "--max-instructions");
        finish(&f);
    }
}

static void a_block_that_loads_what_another_stored_makes_all_run_one_by_one(void **state) {
    (void)state;
    /* block b reads the last word of block b - 1, which that has changed */
    expect_same(KERNEL("max.u32 %r5, %r4, 64;\nsub.u32 %r5, %r5, 64;\nmul.wide.u32 %rd4, %r5, 4;\n"
                       "add.s64 %rd5, %rd1, %rd4;\nld.global.u32 %r6, [%rd5];\nadd.u32 %r6, %r6, 1;\n"
                       "st.global.u32 [%rd3], %r6;"),
                1024, STATUS_OK, true);
    /* the other way round: it reads what the next will change, which one thread after another sees as it was */
    expect_same(KERNEL("min.u32 %r5, %r4, 65471;\nadd.u32 %r5, %r5, 64;\nmul.wide.u32 %rd4, %r5, 4;\n"
                       "add.s64 %rd5, %rd1, %rd4;\nld.global.u32 %r6, [%rd5];\nadd.u32 %r6, %r6, 1;\n"
                       "st.global.u32 [%rd3], %r6;"),
                1024, STATUS_OK, true);
}

static void blocks_that_store_to_the_same_words_keep_their_order(void **state) {
    (void)state;
    expect_same(KERNEL("st.global.u32 [%rd1], %r4;\nst.global.u32 [%rd1+8], %r2;"), 1024, STATUS_OK, true);
}

static void atomics_and_volatile_accesses_are_not_tried(void **state) {
    (void)state;
    expect_same(KERNEL("atom.global.add.u32 %r5, [%rd1], 1;\nmul.wide.u32 %rd4, %r4, 4;\n"
                       "add.s64 %rd5, %rd1, %rd4;\nst.global.u32 [%rd5], %r5;"),
                1023, STATUS_OK, false);
    expect_same(KERNEL("ld.volatile.global.u32 %r5, [%rd3];\nst.global.u32 [%rd3], %r2;"), 1024, STATUS_OK, false);
}

static void a_fault_is_that_of_the_first_block_that_has_one(void **state) {
    (void)state;
    /* from block 700 on threads store behind the buffer, and what was stored before is there */
    expect_same(KERNEL("setp.lt.u32 %p1, %r2, 700;\n@%p1 bra G;\nadd.s64 %rd3, %rd3, 1048576;\nG: st.global.u32 "
                       "[%rd3], %r2;"),
                1024, STATUS_STOPPED, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_on_their_own_run_side_by_side),
        cmocka_unit_test(a_block_that_loads_what_another_stored_makes_all_run_one_by_one),
        cmocka_unit_test(a_sector_of_two_threads_is_a_conflict),
        cmocka_unit_test(one_load_of_one_block_is_enough),
        cmocka_unit_test(counts_of_all_threads_are_added_up),
        cmocka_unit_test(stored_sectors_are_copied_and_no_others),
        cmocka_unit_test(a_limit_counts_what_every_thread_issued),
        cmocka_unit_test(a_limit_holds_for_all_threads_together),
        cmocka_unit_test(blocks_that_store_to_the_same_words_keep_their_order),
        cmocka_unit_test(atomics_and_volatile_accesses_are_not_tried),
        cmocka_unit_test(a_fault_is_that_of_the_first_block_that_has_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
