/* SPDX-License-Identifier: Apache-2.0 */
/* What cache operators ask of a cache: lines that leave first, and atoms that are forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "mem/cache.h"

enum { LINE = 128, SECTOR = 32, WAYS = 4 };

/* One set of four lines with sectors, as an L1 that writes through. */
static struct cache *make(struct arena *arena) {
    const struct cache_params params = {.size_bytes = WAYS * LINE,
                                        .ways = WAYS,
                                        .line_bytes = LINE,
                                        .sector_bytes = SECTOR,
                                        .replacement = "lru",
                                        .write = CACHE_THROUGH,
                                        .write_allocate = CACHE_WRITE_NONE,
                                        .mshr_entries = 8,
                                        .mshr_merges = 8};
    struct cache *cache = NULL;
    assert_int_equal(cache_create(&cache, arena, &params, "l1", 1, NULL), STATUS_OK);
    return cache;
}

static enum cache_outcome load(struct cache *cache, uint64_t address) {
    const struct request request = {.address = address, .tag = 1, .bytes = SECTOR, .kind = REQUEST_READ};
    struct cache_result result;
    struct cache_arrival arrival;
    const enum cache_outcome outcome = cache_access(cache, &request, 8, &result);
    if (outcome == CACHE_MISS)
        assert_true(cache_fill(cache, address, &arrival));
    return outcome;
}

static void a_line_that_is_offered_leaves_first(void **state) {
    (void)state;
    struct arena arena = {0};
    struct cache *cache = make(&arena);
    for (unsigned i = 0; i < WAYS; i++)
        assert_int_equal(load(cache, i * LINE), CACHE_MISS);
    cache_offer(cache, 2 * LINE);
    cache_offer(cache, 77 * LINE); /* is not there: nothing */
    assert_int_equal(load(cache, 9 * LINE), CACHE_MISS);
    assert_false(cache_holds(cache, 2 * LINE));
    for (unsigned i = 0; i < WAYS; i++)
        assert_int_equal(cache_holds(cache, i * LINE), i != 2);
    /* offered twice, and the newest, and the only one that is not empty */
    cache_offer(cache, 9 * LINE);
    cache_offer(cache, 9 * LINE);
    assert_int_equal(load(cache, 10 * LINE), CACHE_MISS);
    assert_false(cache_holds(cache, 9 * LINE));
    assert_true(cache_holds(cache, 0));
    arena_free(&arena);
}

static void empty_lines_are_taken_before_one_that_is_offered(void **state) {
    (void)state;
    struct arena arena = {0};
    struct cache *cache = make(&arena);
    for (unsigned i = 0; i < WAYS; i++)
        load(cache, i * LINE);
    cache_drop(cache, 0);
    cache_drop(cache, 3 * LINE);
    cache_offer(cache, 2 * LINE);
    load(cache, 5 * LINE);
    load(cache, 6 * LINE);
    assert_true(cache_holds(cache, 2 * LINE));
    load(cache, 7 * LINE);
    assert_false(cache_holds(cache, 2 * LINE));
    assert_true(cache_holds(cache, 1 * LINE));
    arena_free(&arena);
}

static void a_sector_that_is_dropped_is_fetched_again(void **state) {
    (void)state;
    struct arena arena = {0};
    struct cache *cache = make(&arena);
    load(cache, 0);
    load(cache, SECTOR);
    cache_drop(cache, SECTOR + 4);
    assert_true(cache_holds(cache, 0));
    assert_false(cache_holds(cache, SECTOR));
    assert_int_equal(load(cache, SECTOR), CACHE_MISS);
    /* one on its way stays asked for */
    const struct request request = {.address = 2 * SECTOR, .tag = 1, .bytes = SECTOR, .kind = REQUEST_READ};
    struct cache_result result;
    struct cache_arrival arrival;
    assert_int_equal(cache_access(cache, &request, 8, &result), CACHE_MISS);
    cache_drop(cache, 2 * SECTOR);
    assert_true(cache_fill(cache, 2 * SECTOR, &arrival));
    assert_int_equal(arrival.count, 1);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_that_is_offered_leaves_first),
        cmocka_unit_test(empty_lines_are_taken_before_one_that_is_offered),
        cmocka_unit_test(a_sector_that_is_dropped_is_fetched_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
