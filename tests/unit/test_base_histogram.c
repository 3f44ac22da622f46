/* SPDX-License-Identifier: Apache-2.0 */
/* base/histogram: every value has one bucket, and the bucket says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/histogram.h"

struct example {
    uint64_t before;
    uint64_t sizes[4];
    uint64_t times[22];
};
static const struct histogram_description table[] = {
    HISTOGRAM_ENTRY(struct example, sizes, VALUES, 4, "things", "a few values")
        HISTOGRAM_ENTRY(struct example, times, QUARTERS, 22, "cycles", "a wide range") HISTOGRAM_END};

static void a_quarter_bucket_holds_what_its_range_says(void **state) {
    (void)state;
    static const uint64_t values[] = {0,  1,  2,  3,  4,  5,  7,  8,  9,  10, 15,   16,
                                      17, 19, 20, 63, 64, 79, 80, 95, 96, 97, 1000, UINT64_MAX};
    for (unsigned n = 0; n < sizeof values / sizeof values[0]; n++) {
        const unsigned bucket = histogram_quarter(values[n], table[1].buckets);
        unsigned found = 0;
        for (unsigned i = 0; i < table[1].buckets; i++) {
            uint64_t first, last;
            histogram_range(&table[1], i, &first, &last);
            if (values[n] < first || values[n] > last)
                continue;
            found++;
            assert_int_equal(i, bucket);
        }
        assert_int_equal(found, 1);
    }
}

static void a_value_bucket_holds_its_number_and_the_last_the_rest(void **state) {
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t first, last;
        histogram_range(&table[0], i, &first, &last);
        assert_int_equal(first, i);
        assert_true(last == (i < 3 ? i : UINT64_MAX));
    }
}

static void merging_adds_every_bucket_and_nothing_else(void **state) {
    (void)state;
    struct example a = {7, {1, 2, 3, 4}, {1, 1, 1, 1, 1, 5}};
    const struct example b = {9, {10, 20, 30, 40}, {0, 0, 0, 0, 2, 6}};
    histogram_merge(&a, &b, table);
    assert_int_equal(a.before, 7);
    assert_int_equal(histogram_counts(&a, &table[0])[3], 44);
    assert_int_equal(histogram_counts(&a, &table[1])[4], 3);
    assert_int_equal(histogram_counts(&a, &table[1])[5], 11);
    histogram_subtract(&a, &b, table);
    assert_int_equal(a.before, 7);
    assert_int_equal(histogram_counts(&a, &table[0])[3], 4);
    assert_int_equal(histogram_counts(&a, &table[1])[5], 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quarter_bucket_holds_what_its_range_says),
        cmocka_unit_test(a_value_bucket_holds_its_number_and_the_last_the_rest),
        cmocka_unit_test(merging_adds_every_bucket_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
