/* SPDX-License-Identifier: Apache-2.0 */
/* gpu/series: samples of a launch of any length stay bounded and add up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "gpu/gpu.h"
#include "gpu/series.h"

static unsigned find(const char *name) {
    for (unsigned i = 0; i < SERIES_COUNT; i++)
        if (strcmp(series_table[i].name, name) == 0)
            return i;
    fail_msg("no series %s", name);
    return 0;
}

enum { BANKS = 4 };

/* A launch in which the counter grows by one a cycle, the level is the cycle itself, and the last bank opens two rows a cycle. */
static void record(struct arena *arena, uint64_t interval, uint64_t cycles, struct series *out) {
    struct series_recorder recorder = {0};
    uint64_t values[SERIES_COLUMNS] = {0};
    uint64_t *activates = &values[SERIES_COUNT + 2 * BANKS - 1];
    const unsigned flow = find("warp_instructions"), level = find("blocks_resident");
    series_create(&recorder, arena, BANKS);
    values[flow] = 1000, *activates = 50; /* left by the launch before */
    series_begin(&recorder, interval, values);
    while (recorder.due <= cycles) {
        values[flow] = 1000 + recorder.due;
        values[level] = recorder.due;
        *activates = 50 + 2 * recorder.due;
        series_sample(&recorder, values);
    }
    values[flow] = 1000 + cycles;
    values[level] = cycles;
    *activates = 50 + 2 * cycles;
    series_end(&recorder, cycles, values, arena, out);
}

static void intervals_are_equal_but_for_the_last(void **state) {
    (void)state;
    static const uint64_t lengths[] = {1, 7, 8, 9, 2040, 2047, 2048, 2049, 4095, 4096, 4097, 100000, 1000003};
    for (unsigned n = 0; n < sizeof lengths / sizeof lengths[0]; n++) {
        struct arena arena = {0};
        struct series series;
        record(&arena, 8, lengths[n], &series);
        assert_true(series.count <= SERIES_SAMPLES);
        assert_true(series.interval == 8 || series.count >= SERIES_SAMPLES / 2);
        assert_true(series.interval % 8 == 0 && (series.interval & (series.interval - 1)) == 0);
        assert_true((series.count - 1) * series.interval < lengths[n] && lengths[n] <= series.count * series.interval);
        const uint64_t *flow = series.values[find("warp_instructions")],
                       *level = series.values[find("blocks_resident")];
        assert_int_equal(series_banks(series.columns), BANKS);
        const uint64_t *activates = series.values[series.columns - 1],
                       *commands = series.values[series.columns - 1 - BANKS];
        for (uint32_t k = 0; k < series.count; k++) {
            const uint64_t end = (k + 1) * series.interval < lengths[n] ? (k + 1) * series.interval : lengths[n];
            assert_int_equal(flow[k], end - k * series.interval);
            assert_int_equal(level[k], end);
            assert_int_equal(activates[k], 2 * flow[k]);
            assert_int_equal(commands[k], 0);
        }
        arena_free(&arena);
    }
}

static void no_interval_no_samples(void **state) {
    (void)state;
    struct arena arena = {0};
    struct series series;
    record(&arena, 0, 1000, &series);
    assert_int_equal(series.count, 0);
    assert_int_equal(series.interval, 0);
    arena_free(&arena);
}

static void parts_are_read_by_their_own_series(void **state) {
    (void)state;
    const struct sm_stats sm = {.issues = 3, .idle = 5};
    const struct cache_stats cache = {.accesses = 7, .misses = 2};
    uint64_t values[SERIES_COUNT] = {0};
    struct arena arena = {0};
    struct series_recorder recorder = {0};
    series_create(&recorder, &arena, 0);
    series_read(values, recorder.first[SERIES_SM], &sm);
    series_read(values, recorder.first[SERIES_SM], &sm);
    series_read(values, recorder.first[SERIES_L2], &cache);
    arena_free(&arena);
    assert_int_equal(values[find("warp_instructions")], 6);
    assert_int_equal(values[find("idle")], 10);
    assert_int_equal(values[find("l2_accesses")], 7);
    assert_int_equal(values[find("l2_misses")], 2);
    assert_int_equal(values[find("l1_accesses")], 0);
    /* lines of one part stand together, as series_read expects */
    for (unsigned i = 1; i < SERIES_COUNT; i++)
        assert_true(series_table[i].part >= series_table[i - 1].part);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_are_equal_but_for_the_last),
        cmocka_unit_test(no_interval_no_samples),
        cmocka_unit_test(parts_are_read_by_their_own_series),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
