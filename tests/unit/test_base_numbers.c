/* SPDX-License-Identifier: Apache-2.0 */
/* base/: bits, rng, stat, text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/rng.h"
#include "base/stat.h"
#include "base/text.h"

static void bits_each_visits_set_bits_lowest_first(void **state) {
    (void)state;
    const uint32_t masks[] = {0, 1, 0x80000000u, 0xffffffffu, 0x80010001u, 0x00ff0ff0u};
    for (unsigned m = 0; m < sizeof masks / sizeof masks[0]; m++) {
        uint32_t seen = 0;
        unsigned count = 0;
        for (BITS_EACH(i, masks[m])) {
            assert_true(seen >> i == 0);
            seen |= UINT32_C(1) << i;
            count++;
        }
        assert_int_equal(seen, masks[m]);
        assert_int_equal(count, bits_count(masks[m]));
    }
}

static void bits_low_covers_0_to_32(void **state) {
    (void)state;
    assert_int_equal(bits_low(0), 0);
    assert_int_equal(bits_low(1), 1);
    assert_int_equal(bits_low(31), 0x7fffffff);
    assert_int_equal(bits_low(32), 0xffffffff);
}

static void bits_round_and_powers(void **state) {
    (void)state;
    assert_int_equal(bits_round_up(0, 16), 0);
    assert_int_equal(bits_round_up(1, 16), 16);
    assert_int_equal(bits_round_up(16, 16), 16);
    assert_int_equal(bits_round_up(17, 12), 24);
    assert_false(bits_is_power_of_two(0));
    assert_true(bits_is_power_of_two(1));
    assert_true(bits_is_power_of_two(UINT64_C(1) << 63));
    assert_false(bits_is_power_of_two(UINT64_MAX));
    assert_int_equal(bits_count64(UINT64_MAX), 64);
    assert_int_equal(bits_first64(UINT64_C(1) << 63), 63);
    assert_true(bits_test(4, 2));
    assert_false(bits_test(4, 1));
}

/* Known answers of the published reference code for state {1, 2, 3, 4}. */
static void rng_is_xoshiro256starstar(void **state) {
    (void)state;
    static const uint64_t expected[] = {
        UINT64_C(11520),
        UINT64_C(0),
        UINT64_C(1509978240),
        UINT64_C(1215971899390074240),
        UINT64_C(1216172134540287360),
        UINT64_C(607988272756665600),
        UINT64_C(16172922978634559625),
        UINT64_C(8476171486693032832),
    };
    struct rng rng = {{1, 2, 3, 4}};
    for (unsigned i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_true(rng_u64(&rng) == expected[i]);
}

static void rng_seed_is_splitmix64(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 1234567);
    assert_true(rng.state[0] == UINT64_C(6457827717110365317));
    assert_true(rng.state[1] == UINT64_C(3203168211198807973));
    assert_true(rng.state[2] == UINT64_C(9817491932198370423));
    assert_true(rng.state[3] == UINT64_C(4593380528125082431));
}

static void rng_same_seed_same_numbers(void **state) {
    (void)state;
    struct rng a, b, c;
    rng_seed(&a, 99);
    rng_seed(&b, 99);
    rng_seed(&c, 100);
    unsigned same = 0;
    for (unsigned i = 0; i < 100; i++) {
        uint64_t value = rng_u64(&a);
        assert_true(value == rng_u64(&b));
        same += value == rng_u64(&c);
    }
    assert_int_equal(same, 0);
}

static void rng_f64_lies_in_the_unit_interval_and_is_even(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 5);
    double sum = 0, smallest = 1, largest = 0;
    for (unsigned i = 0; i < 100000; i++) {
        double value = rng_f64(&rng);
        assert_true(value >= 0 && value < 1);
        smallest = value < smallest ? value : smallest;
        largest = value > largest ? value : largest;
        sum += value;
    }
    /* standard deviation of the mean is 0.0009 */
    assert_true(fabs(sum / 100000 - 0.5) < 0.005);
    assert_true(smallest < 0.001 && largest > 0.999);
    assert_true(rng_u32(&rng) != rng_u32(&rng));
}

static void rng_below_is_even_and_in_bounds(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 6);
    unsigned counts[6] = {0};
    for (unsigned i = 0; i < 60000; i++) {
        uint64_t value = rng_below(&rng, 6);
        assert_true(value < 6);
        counts[value]++;
    }
    for (unsigned i = 0; i < 6; i++)
        assert_in_range(counts[i], 9600, 10400);
    assert_int_equal(rng_below(&rng, 0), 0);
    assert_int_equal(rng_below(&rng, 1), 0);
    /* 3/4 of 2^64: by a plain modulo the lower third would come up half of the time */
    uint64_t bound = UINT64_C(3) << 62;
    unsigned low = 0;
    for (unsigned i = 0; i < 30000; i++) {
        uint64_t value = rng_below(&rng, bound);
        assert_true(value < bound);
        low += value < bound / 3;
    }
    assert_in_range(low, 9600, 10400);
}

#define EXAMPLE_STATS                                                                                                  \
    STAT(hits, "accesses", "found")                                                                                    \
    STAT(accesses, "accesses", "all")                                                                                  \
    RATIO(hit_rate, hits, accesses, 100.0, "%", "found of all")                                                        \
    SHARE(part, hits, hits, accesses, "ratio", "found of found and all")

#define STAT(field, unit, help) uint64_t field;
#define RATIO(...)
#define SHARE(...)
struct example {
    EXAMPLE_STATS
};
#undef STAT
#undef RATIO
#undef SHARE
#define STAT(...) STAT_ENTRY(struct example, __VA_ARGS__)
#define RATIO(...) RATIO_ENTRY(struct example, __VA_ARGS__)
#define SHARE(...) SHARE_ENTRY(struct example, __VA_ARGS__)
static const struct stat_description example_table[] = {EXAMPLE_STATS STAT_END};

static void stat_merge_adds_counters_and_ratios_follow(void **state) {
    (void)state;
    struct example a = {3, 4}, b = {0, 2};
    stat_merge(&a, &b, example_table);
    assert_int_equal(stat_counter(&a, &example_table[0]), 3);
    assert_int_equal(stat_counter(&a, &example_table[1]), 6);
    assert_true(stat_ratio(&a, &example_table[2]) == 50.0);
    assert_true(stat_ratio(&a, &example_table[3]) == 3.0 / 9);
    assert_int_equal(b.accesses, 2);
}

/* Of a counter that is a largest value the larger stays, whichever part has it. */
static void stat_merge_keeps_the_largest(void **state) {
    (void)state;
    static const struct stat_description table[] = {
        LARGEST_ENTRY(struct example, hits, "entries", "at a time")
            STAT_ENTRY(struct example, accesses, "accesses", "all") STAT_END
    };
    struct example a = {3, 4}, b = {5, 2}, c = {1, 1};
    stat_merge(&a, &b, table);
    assert_int_equal(a.hits, 5);
    stat_merge(&a, &c, table);
    assert_int_equal(a.hits, 5);
    assert_int_equal(a.accesses, 7);
}

static void stat_ratio_of_nothing_is_zero(void **state) {
    (void)state;
    struct example none = {0, 0};
    assert_true(stat_ratio(&none, &example_table[2]) == 0.0 && stat_ratio(&none, &example_table[3]) == 0.0);
}

static void text_reads_whole_numbers_exactly(void **state) {
    (void)state;
    uint64_t u;
    int64_t i;
    assert_true(text_to_u64("18446744073709551615", &u) && u == UINT64_MAX);
    assert_true(text_to_u64("0xFFFFffffFFFFffff", &u) && u == UINT64_MAX);
    assert_true(text_to_u64("007", &u) && u == 7);
    const char *bad[] = {"", " 1", "1 ", "-1", "+1", "0x", "1e3", "18446744073709551616", "0x10000000000000000", "12a"};
    for (unsigned k = 0; k < sizeof bad / sizeof bad[0]; k++)
        assert_false(text_to_u64(bad[k], &u));
    assert_true(text_to_i64("-9223372036854775808", &i) && i == INT64_MIN);
    assert_true(text_to_i64("9223372036854775807", &i) && i == INT64_MAX);
    assert_false(text_to_i64("9223372036854775808", &i));
    assert_false(text_to_i64("-9223372036854775809", &i));
    assert_false(text_to_i64("--1", &i));
}

static void text_f64_round_trips_shortest(void **state) {
    (void)state;
    char buffer[TEXT_F64_BYTES];
    double value;
    assert_string_equal(text_from_f64(0.1, buffer), "0.1");
    assert_string_equal(text_from_f64(1.0, buffer), "1");
    assert_string_equal(text_from_f64(-0.0, buffer), "-0");
    assert_string_equal(text_from_f64(1e300, buffer), "1e+300");
    const double samples[] = {0.1 + 0.2, 1.0 / 3, 5e-324, 1.7976931348623157e308, -123456789.125};
    for (unsigned k = 0; k < sizeof samples / sizeof samples[0]; k++) {
        assert_true(text_to_f64(text_from_f64(samples[k], buffer), &value));
        assert_true(value == samples[k]);
    }
    assert_true(text_to_f64("inf", &value) && isinf(value));
    assert_true(text_to_f64("0x1p-3", &value) && value == 0.125);
    const char *bad[] = {"", " 1", "1,5", "1.5x", "1e999", "."};
    for (unsigned k = 0; k < sizeof bad / sizeof bad[0]; k++)
        assert_false(text_to_f64(bad[k], &value));
}

/* Makes a locale with a decimal comma; needs the sources of Debian's package "locales". */
static bool use_comma_locale(const char *dir) {
    char command[200];
    snprintf(command, sizeof command, "localedef -i de_DE -f ISO-8859-1 %s/de_DE >/dev/null 2>&1", dir);
    return system(command) == 0 && setenv("LOCPATH", dir, 1) == 0 && setlocale(LC_NUMERIC, "de_DE");
}

static void text_f64_ignores_the_locale_of_the_process(void **state) {
    (void)state;
    char dir[] = "/tmp/heddle-test-XXXXXX", command[100], buffer[TEXT_F64_BYTES], native[10];
    assert_non_null(mkdtemp(dir));
    bool usable = use_comma_locale(dir);
    snprintf(native, sizeof native, "%.1f", 1.5);
    double value = 0;
    text_from_f64(1.5, buffer);
    bool read = text_to_f64("1.5", &value);
    setlocale(LC_NUMERIC, "C");
    snprintf(command, sizeof command, "rm -rf %s", dir);
    assert_int_equal(system(command), 0);
    if (!usable) {
        print_message("no locale with a decimal comma could be made\n");
        skip();
    }
    assert_string_equal(native, "1,5");
    assert_string_equal(buffer, "1.5");
    assert_true(read && value == 1.5);
}

static void text_distance_counts_edits(void **state) {
    (void)state;
    assert_int_equal(text_distance("", ""), 0);
    assert_int_equal(text_distance("", "abc"), 3);
    assert_int_equal(text_distance("kitten", "sitting"), 3);
    assert_int_equal(text_distance("lanes", "laens"), 1);
    assert_int_equal(text_distance("warp_size", "warpsize"), 1);
    char lengthy[200];
    memset(lengthy, 'a', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    assert_int_equal(text_distance(lengthy, "a"), 64);
}

static void text_nearest_finds_slips_only(void **state) {
    (void)state;
    struct text_nearest nearest = {0};
    text_nearest_try(&nearest, "core.warp_sze", "core.clock_mhz");
    text_nearest_try(&nearest, "core.warp_sze", "core.warp_size");
    text_nearest_try(&nearest, "core.warp_sze", "host.lanes");
    assert_string_equal(nearest.best, "core.warp_size");
    nearest = (struct text_nearest){0};
    text_nearest_try(&nearest, "l1.size", "l1.write");
    text_nearest_try(&nearest, "l1.size", "l1.size_bytes");
    assert_string_equal(nearest.best, "l1.size_bytes");
    nearest = (struct text_nearest){0};
    text_nearest_try(&nearest, "l1.sise", "l1.write");
    text_nearest_try(&nearest, "l1.sise", "l1.size_bytes");
    assert_string_equal(nearest.best, "l1.size_bytes");
    nearest = (struct text_nearest){0};
    text_nearest_try(&nearest, "l1.sisi", "l1.size_bytes"); /* two slips in seven letters, and the rest is missing */
    assert_null(nearest.best);
    text_nearest_try(&nearest, "banana", "core.warp_size");
    assert_null(nearest.best);
}

static void text_is_appended_up_to_the_end_of_its_buffer(void **state) {
    (void)state;
    char buffer[24];
    struct text_line line = {.text = buffer, .size = sizeof buffer};
    text_append_address(&line, 0x1f0);
    text_append_number(&line, UINT64_C(0xdeadbeef), 16);
    text_append(&line, "");
    text_append_number(&line, 0, 10);
    assert_string_equal(buffer, "/*01f0*/ deadbeef0");
    text_append_number(&line, UINT64_MAX, 10);
    assert_string_equal(buffer, "/*01f0*/ deadbeef018446");
    text_append(&line, "more");
    assert_int_equal(line.length, sizeof buffer - 1);
    line.length = 0;
    text_append_address(&line, 0x12345);
    assert_string_equal(buffer, "/*12345*/ ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_appended_up_to_the_end_of_its_buffer),
        cmocka_unit_test(bits_each_visits_set_bits_lowest_first),
        cmocka_unit_test(bits_low_covers_0_to_32),
        cmocka_unit_test(bits_round_and_powers),
        cmocka_unit_test(rng_is_xoshiro256starstar),
        cmocka_unit_test(rng_seed_is_splitmix64),
        cmocka_unit_test(rng_same_seed_same_numbers),
        cmocka_unit_test(rng_f64_lies_in_the_unit_interval_and_is_even),
        cmocka_unit_test(rng_below_is_even_and_in_bounds),
        cmocka_unit_test(stat_merge_adds_counters_and_ratios_follow),
        cmocka_unit_test(stat_merge_keeps_the_largest),
        cmocka_unit_test(stat_ratio_of_nothing_is_zero),
        cmocka_unit_test(text_reads_whole_numbers_exactly),
        cmocka_unit_test(text_f64_round_trips_shortest),
        cmocka_unit_test(text_f64_ignores_the_locale_of_the_process),
        cmocka_unit_test(text_distance_counts_edits),
        cmocka_unit_test(text_nearest_finds_slips_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
