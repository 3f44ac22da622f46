/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of SMs, interconnect, L2 and DRAM: the exact ratio of two, and the laws of machines whose clocks differ. */
#include "timed_programs.h"

#include <stdlib.h>

#include "mem/clock.h"

/* Ratios as they come: odd, slow, fast, the largest frequencies there are. */
static const struct {
    uint64_t khz, other_khz;
} pairs[] = {{700000, 700000}, {924000, 700000}, {1447000, 650000},     {650000, 1447000},
             {300000, 700000}, {700000, 300000}, {99999999, 100000000}, {1, 1000}};

static void ticks_and_cycles_are_those_of_the_exact_ratio(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct clock_ratio clock = clock_ratio(pairs[i].khz, pairs[i].other_khz);
        const uint64_t khz = pairs[i].khz, other = pairs[i].other_khz;
        assert_int_equal(clock_is_same(&clock), khz == other);
        uint64_t tick =
            0; /* the first that has not begun before `cycle`: its time, tick / khz, is after (cycle - 1) / other */
        for (uint64_t cycle = 0; cycle < 5000; cycle++) {
            assert_int_equal(clock_first_tick(&clock, cycle), tick);
            for (; tick * other <= cycle * khz; tick++)
                assert_int_equal(clock_cycle(&clock, tick), cycle);
            assert_int_equal(clock_last_tick(&clock, cycle), tick - 1);
        }
    }
}

static void clocks_do_not_drift(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct clock_ratio clock = clock_ratio(pairs[i].khz, pairs[i].other_khz);
        for (uint64_t seconds = 0; seconds < 1000; seconds++) { /* and milliseconds, for kHz */
            assert_int_equal(clock_last_tick(&clock, seconds * pairs[i].other_khz), seconds * pairs[i].khz);
            assert_int_equal(clock_first_tick(&clock, seconds * pairs[i].other_khz),
                             seconds * pairs[i].khz -
                                 (seconds && clock.ticks > clock.cycles ? (clock.ticks - 1) / clock.cycles : 0));
            assert_int_equal(clock_cycle(&clock, seconds * pairs[i].khz), seconds * pairs[i].other_khz);
        }
    }
}

/* Of interconnect and L2 against the SMs: 1447:650 and 3:7, 3:7 and 1447:650, both the other way round. */
static const char *const odd[] = {
    "clock.sm: 4550000\nclock.interconnect: 10129000\nclock.l2: 1950000\n",
    "clock.sm: 4550000\nclock.interconnect: 1950000\nclock.l2: 10129000\nclock.dram: 6006000\n",
    "clock.sm: 4341000\nclock.interconnect: 1950000\nclock.l2: 10129000\nclock.dram: 1000000\n",
};
enum { ODD = sizeof odd / sizeof odd[0], SETTINGS = 512 };

static const char *settings_of(char *room, const char *one, const char *other) {
    assert_true(snprintf(room, SETTINGS, "%s%s", one, other) < SETTINGS);
    return room;
}

static void the_books_close_at_odd_ratios(void **state) {
    (void)state;
    char settings[SETTINGS];
    for (unsigned m = 0; m < MACHINES; m++)
        for (unsigned k = 0; k < ODD; k++)
            for (unsigned i = 0; i < PROGRAMS; i++) {
                struct fixture timed, plain;
                if (left_out())
                    continue;
                open_machine(&timed, settings_of(settings, machines[m], odd[k]));
                open_machine(&plain, machines[m]);
                load(&timed, programs[i].text);
                load(&plain, programs[i].text);
                expect_ok(&timed, &programs[i], true);
                expect_ok(&plain, &programs[i], false);
                if (memcmp(timed.memory, plain.memory, WORDS * sizeof(uint32_t)) != 0)
                    fail_msg("%s, machine %u, clocks %u: memory differs", programs[i].name, m, k);
                check_books(&timed, programs[i].name);
                finish(&timed);
                finish(&plain);
            }
}

static void the_length_of_epochs_changes_nothing_at_odd_ratios(void **state) {
    (void)state;
    char one[SETTINGS], other[SETTINGS];
    for (unsigned m = 0; m < MACHINES; m++) {
        settings_of(one, machines[m], odd[m % ODD]);
        expect_same(one, settings_of(other, one, m == 1 ? "host.epoch: 2\n" : "host.epoch: 1\n"), "epoch lengths");
    }
}

static void clocks_named_as_that_of_the_sms_change_nothing(void **state) {
    (void)state;
    char settings[SETTINGS];
    static const char *const named[MACHINES] = {"clock.interconnect: 700000\nclock.l2: 700000\n",
                                                "clock.interconnect: 650000\nclock.l2: 650000\n",
                                                "clock.interconnect: 1132000\nclock.l2: 1132000\n"};
    for (unsigned m = 0; m < MACHINES; m++)
        expect_same(machines[m], settings_of(settings, machines[m], named[m]), "default and named clocks");
}

static void only_ratios_matter(void **state) {
    (void)state;
    expect_same("base: gtx480\n" LIMIT "clock.interconnect: 650000\nclock.l2: 1447000\n",
                "base: gtx480\n" LIMIT "clock.sm: 1400000\nclock.interconnect: 1300000\nclock.l2: 2894000\n"
                "clock.dram: 1848000\n",
                "clocks and twice the clocks");
}

/* Every warp reads lines of a buffer that the L2 holds and an L1 does not. */
static const struct program_text stream = {
    "stream",
    KERNEL("", "mov.u32 %r4, 0;\nmul.lo.u32 %r5, %r3, 4;\nL: and.b32 %r6, %r5, 65535;\ncvt.u64.u32 %rd4, %r6;\n"
               "add.s64 %rd5, %rd1, %rd4;\nld.volatile.global.u32 %r7, [%rd5];\nadd.u32 %r5, %r5, 8192;\n"
               "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 64;\n@%p1 bra L;\nret;"),
    8, 512};

static uint64_t stream_cycles(const char *machine, const char *clocks) {
    char settings[SETTINGS];
    struct fixture f;
    open_machine(&f, settings_of(settings, machine, clocks));
    load(&f, stream.text);
    expect_ok(&f, &stream, true); /* brings the buffer into the L2 */
    expect_ok(&f, &stream, true);
    assert_true(f.result.timed->l2.hits > 32000);
    assert_int_equal(f.result.timed->dram.requests, 0);
    const uint64_t cycles = f.result.timed->cycles;
    finish(&f);
    return cycles;
}

/* How much longer the stream takes with one of the clocks at half the SMs', in thousandths. */
static void expect_slower(const char *machine, const char *clocks, uint64_t least, uint64_t most) {
    const uint64_t whole = stream_cycles(machine, ""), half = stream_cycles(machine, clocks);
    if (half * 1000 < whole * least || half * 1000 > whole * most)
        fail_msg("%s: %llu cycles instead of %llu", clocks, (unsigned long long)half, (unsigned long long)whole);
}

/* One slice looks up the four sectors of a line one after another: a stream of lines is bound by it. */
static void a_stream_bound_by_the_l2_takes_twice_as_long_at_half_its_clock(void **state) {
    (void)state;
    static const char machine[] =
        "base: gtx480\n" LIMIT "dram.chips: 1\nl2.slices: 1\nl2.size_bytes: 256 KiB\ncrossbar.flit_bytes: 136\n";
    expect_slower(machine, "clock.l2: 350000\n", 1950, 2050);
    expect_slower(machine, "clock.interconnect: 350000\n", 990, 1050);
}

/* A reply is 17 flits for the one SM. */
static void a_stream_bound_by_the_interconnect_takes_twice_as_long_at_half_its_clock(void **state) {
    (void)state;
    static const char machine[] = "base: gtx480\n" LIMIT "sm.count: 1\ncrossbar.flit_bytes: 8\n";
    expect_slower(machine, "clock.interconnect: 350000\n", 1950, 2050);
    expect_slower(machine, "clock.l2: 350000\n", 990, 1050);
}

int main(void) {
    setenv("HEDDLE_CONFIGS", HEDDLE_SOURCE_DIR "/configs", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_and_cycles_are_those_of_the_exact_ratio),
        cmocka_unit_test(clocks_do_not_drift),
        cmocka_unit_test(the_books_close_at_odd_ratios),
        cmocka_unit_test(the_length_of_epochs_changes_nothing_at_odd_ratios),
        cmocka_unit_test(clocks_named_as_that_of_the_sms_change_nothing),
        cmocka_unit_test(only_ratios_matter),
        cmocka_unit_test(a_stream_bound_by_the_l2_takes_twice_as_long_at_half_its_clock),
        cmocka_unit_test(a_stream_bound_by_the_interconnect_takes_twice_as_long_at_half_its_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
