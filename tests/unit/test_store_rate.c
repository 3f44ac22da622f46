/* SPDX-License-Identifier: Apache-2.0 */
/* Stores of more than the L2 holds: with a limit of what waits before the DRAM they go no faster than it takes what they drive
 * out. A V100 writes 897 GB/s, of 898 that its bursts allow (gpu-benches, gpu-stream, init). */
#include "timed_programs.h"

enum { WORDS_WRITTEN = 1048576, ROUNDS = 16, CHANNELS = 2, SLICES = 2, L2_BYTES = 4096, QUEUE = 64, WINDOW = 128 };

#define MACHINE                                                                                                        \
    "base: v100\nsm.count: 4\ndram.chips: 2\nl2.size_bytes: 4 KiB\nl2.ways: 8\nl2.holds_host_copies: false\n"          \
    "dram.window: 128\n"

/* Warps write whole lines, 16 each, over 4 MiB. */
static const struct program_text writes = {
    "writes",
    KERNEL("", "mov.u32 %r4, 0;\nL: mad.lo.u32 %r5, %r4, 65536, %r3;\nmul.wide.u32 %rd4, %r5, 4;\nadd.s64 %rd5, %rd1, "
               "%rd4;\nst.global.u32 [%rd5], %r5;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 16;\n@%p1 bra L;\nret;"),
    WORDS_WRITTEN / ROUNDS / 128, 128};

static uint64_t cycles_with(const char *machine) {
    struct fixture f;
    fixture_open(&f, machine, WORDS_WRITTEN);
    load(&f, writes.text);
    expect_ok(&f, &writes, true);
    check_books(&f, writes.name);
    for (uint32_t i = 0; i < WORDS_WRITTEN; i++)
        assert_int_equal(f.memory[i], i);
    const uint64_t cycles = f.result.timed->cycles;
    finish(&f);
    return cycles;
}

/* What is neither in the L2 nor on its way when the launch ends has taken bursts of 32 bytes, one a clock of the DRAM and channel. */
static void stores_go_as_fast_as_the_dram_takes_them(void **state) {
    (void)state;
    const uint64_t cycles = cycles_with(MACHINE "dram.queue_limit: 64\n");
    /* 272 cycles of clock.l2 on the way, in which the DRAM takes 200; 64 more there, and the queue and the window behind it */
    const uint64_t on_the_way = CHANNELS * (200 + 2 * QUEUE + 64 + WINDOW) * UINT64_C(128);
    const uint64_t written = UINT64_C(4) * WORDS_WRITTEN - CHANNELS * SLICES * L2_BYTES - on_the_way;
    const uint64_t least = written / (CHANNELS * 32) * 1380 / 877;
    assert_in_range(cycles, least, least + least / 4);
}

/* Without a limit they do not wait, and what they drove out is still before the DRAM when the launch has ended. */
static void without_a_limit_they_do_not_wait(void **state) {
    (void)state;
    const uint64_t limited = cycles_with(MACHINE "dram.queue_limit: 64\n");
    const uint64_t unlimited = cycles_with(MACHINE "dram.queue_limit: 0\n");
    assert_true(unlimited < limited * 3 / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_go_as_fast_as_the_dram_takes_them),
        cmocka_unit_test(without_a_limit_they_do_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
