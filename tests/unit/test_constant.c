/* SPDX-License-Identifier: Apache-2.0 */
/* The constant cache: what hits and misses cost, what is looked up, what a launch leaves; and how the data cache shares
 * its memory. */
#include "device_fixture.h"

#include <stdlib.h>

enum { WORDS = 4096, LINE = 64 };

/* Every thread reads %r1 * stride bytes behind the beginning of a table of 4 KiB, `twice`: and again when it has come. */
#define TABLE ".const .align 64 .b8 table[4096];\n"
#define READS(stride, body)                                                                                            \
    TABLE ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\nmov.u32 %r1, %tid.x;\n"         \
          "mul.wide.u32 %rd2, %r1, " stride ";\nmov.u64 %rd3, table;\nadd.s64 %rd3, %rd3, %rd2;\n" body "\nret;\n}\n"

/* Addresses depend on the value before, so that the clock is read when the value is there. */
#define CHAIN                                                                                                          \
    "ld.param.u64 %rd1, [p];\n"                                                                                        \
    "mov.u32 %r2, %clock;\nld.const.u32 %r3, [%rd3];\nadd.u32 %r3, %r3, 0;\nmov.u32 %r4, %clock;\n"                    \
    "cvt.u64.u32 %rd4, %r3;\nadd.s64 %rd4, %rd3, %rd4;\nmov.u32 %r5, %clock;\nld.const.u32 %r6, [%rd4];\n"             \
    "add.u32 %r6, %r6, 0;\nmov.u32 %r7, %clock;\n"                                                                     \
    "sub.u32 %r4, %r4, %r2;\nsub.u32 %r7, %r7, %r5;\nst.global.u32 [%rd1], %r4;\nst.global.u32 [%rd1+4], %r7;\n"

#define MACHINE "base: gtx480\nsm.count: 1\nlimits.max_cycles: 200000\n"

static void run(struct fixture *f, const char *text, const char *settings, uint32_t threads) {
    fixture_open(f, settings, WORDS);
    load(f, text);
    if (launch(f, 1, threads, true) != STATUS_OK)
        fail_msg("%s", report_text(&f->report));
}

static const struct cache_stats *constant(const struct fixture *f) { return &f->result.timed->constant; }

static void check_books(const struct fixture *f) {
    const struct cache_stats *stats = constant(f);
    assert_int_equal(stats->accesses, stats->hits + stats->misses + stats->pending + stats->blocked_mshr +
                                          stats->blocked_merge + stats->blocked_ways + stats->blocked_room);
    assert_int_equal(stats->fetches, stats->fills);
    assert_int_equal(f->result.timed->sm.requests_sent, f->result.timed->sm.replies_received);
}

static void misses_are_the_lines_touched(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t lines;
    } cases[] = {
        {READS("0", "ld.const.u32 %r2, [%rd3];"), 1},
        {READS("4", "ld.const.u32 %r2, [%rd3];"), 32 * 4 / LINE},
        {READS("8", "ld.const.u64 %rd5, [%rd3];"), 32 * 8 / LINE},
        {READS("128", "ld.const.u32 %r2, [%rd3];"), 32},
        {READS("16", "ld.const.v4.u32 {%r2, %r3, %r4, %r5}, [%rd3+1024];"), 32 * 16 / LINE},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f;
        run(&f, cases[i].text, MACHINE, 32);
        assert_int_equal(constant(&f)->misses, cases[i].lines);
        assert_int_equal(constant(&f)->hits, 0);
        check_books(&f);
        finish(&f);
    }
}

static void a_hit_takes_its_latency_and_a_miss_the_way_to_memory(void **state) {
    (void)state;
    uint32_t hit[2], miss[2];
    for (unsigned slow = 0; slow < 2; slow++) {
        struct fixture f;
        run(&f, READS("0", CHAIN), slow ? MACHINE "sm.const_latency: 41\n" : MACHINE "sm.const_latency: 1\n", 32);
        miss[slow] = f.memory[0], hit[slow] = f.memory[1];
        check_books(&f);
        finish(&f);
    }
    assert_int_equal(hit[1] - hit[0], 40);
    assert_int_equal(miss[1] - miss[0], 40);
    /* the table is in the L2, as everything the host placed: four hops, the L2, at least a cycle in each crossbar */
    const uint32_t way = miss[0] - hit[0];
    assert_in_range(way, 4 * 16 + 56, 4 * 16 + 56 + 16);
}

static void distinct_addresses_take_turns(void **state) {
    (void)state;
    uint32_t times[3];
    static const char *const texts[] = {READS("0", CHAIN), READS("4", CHAIN), READS("128", CHAIN)};
    for (unsigned i = 0; i < 3; i++) {
        struct fixture f;
        run(&f, texts[i], MACHINE "constant_cache.perfect: true\n", 32);
        times[i] = f.memory[0];
        assert_int_equal(constant(&f)->misses, 0);
        finish(&f);
    }
    assert_int_equal(times[1] - times[0], 31); /* 2 lines, 32 words */
    assert_int_equal(times[2] - times[0], 31);
}

static void parameters_are_looked_up_where_the_machine_says_so(void **state) {
    (void)state;
    static const char text[] =
        ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<4>;\n.reg .b32 %r<4>;\nld.param.u64 %rd1, [p];\n"
        "ld.param.u32 %r2, [p+4];\nmov.u64 %rd2, p;\nld.param.v2.u32 {%r1, %r2}, [p];\n"
        "st.global.u32 [%rd1], %r2;\nret;\n}\n";
    struct fixture f;
    run(&f, text, MACHINE, 128); /* 4 warps, 3 loads each of one line */
    assert_int_equal(constant(&f)->misses, 1);
    assert_int_equal(constant(&f)->hits + constant(&f)->pending, 11);
    assert_int_equal(f.memory[0], (uint32_t)(f.buffer >> 32));
    check_books(&f);
    finish(&f);
    run(&f, text, MACHINE "constant_cache.parameters: false\n", 128);
    assert_int_equal(constant(&f)->accesses, 0);
    assert_int_equal(f.memory[0], (uint32_t)(f.buffer >> 32));
    finish(&f);
}

/* 48 warps and 2 MSHRs of few merges: the load/store unit waits, and goes on. */
static void a_full_cache_holds_back_and_goes_on(void **state) {
    (void)state;
    struct fixture f;
    run(&f, READS("4", "ld.const.u32 %r2, [%rd3];\nld.param.u64 %rd1, [p];\nst.global.u32 [%rd1], %r2;"),
        MACHINE "constant_cache.mshr_merges: 2\nconstant_cache.mshr_entries: 1\nlink.capacity: 2\n", 1024);
    assert_true(constant(&f)->blocked_mshr + constant(&f)->blocked_merge > 0);
    assert_int_equal(constant(&f)->misses, 4096 / LINE + 1);
    check_books(&f);
    finish(&f);
}

static void more_lines_than_the_cache_holds_miss_again(void **state) {
    (void)state;
    static const char text[] = READS("64", "mov.u32 %r2, 0;\nld.const.u32 %r3, [%rd3];\nadd.u32 %r4, %r3, 0;\n"
                                           "ld.const.u32 %r5, [%rd3];");
    struct fixture f;
    run(&f, text, MACHINE, 32); /* 32 lines in 8 KiB */
    assert_int_equal(constant(&f)->misses, 32);
    assert_int_equal(constant(&f)->hits, 32);
    finish(&f);
    run(&f, text, MACHINE "constant_cache.size_bytes: 1 KiB\n", 32);
    assert_int_equal(constant(&f)->misses, 64);
    finish(&f);
}

static uint64_t second_launch(const char *text, const char *settings, uint64_t *misses) {
    struct fixture f;
    run(&f, text, settings, 32);
    assert_int_equal(launch(&f, 1, 32, true), STATUS_OK);
    const uint64_t cycles = f.result.timed->cycles;
    *misses = constant(&f)->misses;
    check_books(&f);
    finish(&f);
    return cycles;
}

static void code_and_constants_outlive_a_launch_unless_flushed(void **state) {
    (void)state;
    static const char text[] = READS("128", "ld.const.u32 %r2, [%rd3];");
    uint64_t kept, constants_gone, all_gone, elsewhere;
    const uint64_t warm = second_launch(text, MACHINE "launch.rotates: false\n", &kept);
    const uint64_t colder = second_launch(text, MACHINE "constant_cache.flush_at_end: true\n", &constants_gone);
    const uint64_t cold =
        second_launch(text, MACHINE "constant_cache.flush_at_end: true\ninstruction_cache.flush_at_end: true\n",
                      &all_gone);
    assert_int_equal(kept, 0);
    assert_int_equal(constants_gone, 32);
    assert_int_equal(all_gone, 32);
    assert_true(warm < colder && colder < cold);
    /* the next launch's block goes to the next SM, whose caches are empty */
    second_launch(text, "base: gtx480\nsm.count: 2\n", &elsewhere);
    assert_int_equal(elsewhere, 32);
}

static void another_program_finds_no_code_of_the_first(void **state) {
    (void)state;
    static const char text[] = READS("128", "ld.const.u32 %r2, [%rd3];");
    struct fixture f;
    run(&f, text, MACHINE, 32);
    load(&f, text);
    assert_int_equal(launch(&f, 1, 32, true), STATUS_OK);
    assert_int_equal(constant(&f)->misses, 32);
    finish(&f);
}

static void data_outlive_a_launch_when_the_machine_says_so(void **state) {
    (void)state;
    static const char text[] = READS("4", "ld.param.u64 %rd1, [p];\nadd.s64 %rd1, %rd1, %rd2;\n"
                                          "ld.global.u32 %r2, [%rd1];");
    for (unsigned kept = 0; kept < 2; kept++) {
        struct fixture f;
        run(&f, text, kept ? MACHINE "l1.flush_at_end: false\n" : MACHINE, 32);
        assert_int_equal(f.result.timed->l1.misses, 1);
        assert_int_equal(launch(&f, 1, 32, true), STATUS_OK);
        assert_int_equal(f.result.timed->l1.misses, !kept);
        assert_int_equal(f.result.timed->l1.hits, kept);
        finish(&f);
    }
}

#define SHARED(bytes)                                                                                                  \
    ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<4>;\n.shared .align 4 .b8 s[" bytes                             \
    "];\nmov.u32 %r1, 7;\nst.shared.u32 [s], %r1;\nret;\n}\n"

static void resident_blocks_take_shared_memory_out_of_the_data_cache(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t threads;
        uint64_t kib; /* left */
    } cases[] = {
        {".visible .entry k(.param .u64 p)\n{\nret;\n}\n", 32, 128},
        {SHARED("4"), 1024, 120},    /* 2 blocks, 256 B each as shared memory is given out: the 8 KiB */
        {SHARED("4096"), 1024, 120}, /* 8 KiB */
        {SHARED("4100"), 1024, 112}, /* 2 x 4352 */
        {SHARED("16384"), 1024, 96}, /* 32 KiB */
        {SHARED("24576"), 1024, 64}, /* 48 KiB */
        {SHARED("49152"), 1024, 32}, /* 96 KiB */
        {SHARED("2048"), 32, 64},    /* 32 blocks at most, 64 KiB */
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f;
        run(&f, cases[i].text, "base: qv100\nsm.count: 1\n", cases[i].threads);
        assert_int_equal(f.result.timed->l1_bytes, cases[i].kib * 1024);
        const struct cache_params l1 = machine_l1(&f.machine, 0);
        assert_int_equal(l1.ways, 256);
        finish(&f);
    }
}

static void an_sm_that_prefers_its_cache_has_less_shared_memory(void **state) {
    (void)state;
    struct fixture f;
    run(&f, SHARED("16384"), "base: gtx480\nsm.count: 1\nl1.prefer: l1\n", 32);
    assert_int_equal(f.result.timed->l1_bytes, 48 * 1024);
    assert_int_equal(machine_occupancy_limits(&f.machine).shared_bytes, 16 * 1024);
    load(&f, SHARED("16388"));
    assert_int_equal(launch(&f, 1, 32, true), STATUS_INVALID);
    expect_text(&f, "an SM has 16384");
    finish(&f);
    run(&f, SHARED("16388"), "base: gtx480\nsm.count: 1\n", 32);
    assert_int_equal(f.result.timed->l1_bytes, 16 * 1024);
    finish(&f);
}

static void splits_that_cannot_be_are_refused(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"base: qv100\nl1.prefer: l1\n", "l1.prefer=l1, but this SM has one split only"},
        {"base: qv100\nl1.carve_out: 0 x\n", "not a list of sizes"},
        {"base: qv100\nl1.carve_out: 0 8\nl1.ways: 4096\nl1.size_bytes: 2048\n", "whole ways of it (0 bytes each)"},
        {"base: qv100\nl1.carve_out: 0 16 8 96\n", "more than the size before"},
        {"base: qv100\nl1.carve_out: 0 96 128\n", "less than l1.size_bytes"},
        {"base: qv100\nl1.carve_out: 0 64\n", "the largest of l1.carve_out holds only 65536"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f;
        fixture_open(&f, cases[i][0], 1);
        assert_int_equal(machine_check(&f.machine, &f.report), STATUS_INVALID);
        expect_text(&f, cases[i][1]);
        finish(&f);
    }
}

int main(void) {
    setenv("HEDDLE_CONFIGS", HEDDLE_SOURCE_DIR "/configs", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misses_are_the_lines_touched),
        cmocka_unit_test(a_hit_takes_its_latency_and_a_miss_the_way_to_memory),
        cmocka_unit_test(distinct_addresses_take_turns),
        cmocka_unit_test(parameters_are_looked_up_where_the_machine_says_so),
        cmocka_unit_test(a_full_cache_holds_back_and_goes_on),
        cmocka_unit_test(more_lines_than_the_cache_holds_miss_again),
        cmocka_unit_test(code_and_constants_outlive_a_launch_unless_flushed),
        cmocka_unit_test(another_program_finds_no_code_of_the_first),
        cmocka_unit_test(data_outlive_a_launch_when_the_machine_says_so),
        cmocka_unit_test(resident_blocks_take_shared_memory_out_of_the_data_cache),
        cmocka_unit_test(an_sm_that_prefers_its_cache_has_less_shared_memory),
        cmocka_unit_test(splits_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
