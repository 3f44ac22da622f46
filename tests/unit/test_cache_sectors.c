/* SPDX-License-Identifier: Apache-2.0 */
/* mem/cache: sectors of a line in one step are what they are one by one, whatever arrives in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/bits.h"
#include "base/rng.h"
#include "mem/cache.h"
#include "mem/replacement/replacement.h"
#include "own_keys.h"

enum { LINES = 48, SECTORS = 4, SECTOR_BYTES = 32, LINE_BYTES = 128, STEPS = 40000, ROOM = 8 };

static const struct cache_params common = {.size_bytes = 2048,
                                           .ways = 4,
                                           .line_bytes = LINE_BYTES,
                                           .sector_bytes = SECTOR_BYTES,
                                           .replacement = "lru",
                                           .write = CACHE_BACK,
                                           .write_allocate = CACHE_WRITE_LAZY,
                                           .allocate = CACHE_ON_MISS,
                                           .mshr_entries = 8,
                                           .mshr_merges = 2};

/* One cache is asked sector by sector, the other in steps; both get the same fills. */
struct pair {
    struct cache *single, *stepped;
    struct rng rng;
    bool asked[LINES * SECTORS]; /* on its way, and had been before the present step */
    uint64_t steps[3];           /* done, blocked for want of an MSHR, neither */
};

static uint64_t sector_address(uint32_t sector) { return (uint64_t)sector * SECTOR_BYTES; }

static void fill_one(struct cache *cache, uint32_t sector, struct cache_arrival *arrival) {
    assert_true(cache_fill(cache, sector_address(sector), arrival));
    assert_false(arrival->writes_back);
}

/* Something that was on its way arrives at the first cache now; the sector, or LINES * SECTORS: nothing does. */
static uint32_t arrive(struct pair *pair, uint64_t *tags, uint32_t *count) {
    const uint32_t from = (uint32_t)rng_below(&pair->rng, LINES * SECTORS);
    for (uint32_t i = 0; i < LINES * SECTORS; i++) {
        const uint32_t sector = (from + i) % (LINES * SECTORS);
        if (!pair->asked[sector])
            continue;
        struct cache_arrival arrival;
        fill_one(pair->single, sector, &arrival);
        pair->asked[sector] = false;
        *count = arrival.count;
        memcpy(tags, arrival.tags, arrival.count * sizeof *tags);
        return sector;
    }
    return LINES * SECTORS;
}

static void arrive_too(struct pair *pair, uint32_t sector, const uint64_t *tags, uint32_t count) {
    struct cache_arrival arrival;
    if (sector == LINES * SECTORS)
        return;
    fill_one(pair->stepped, sector, &arrival);
    assert_int_equal(arrival.count, count);
    assert_memory_equal(arrival.tags, tags, count * sizeof *tags);
}

static struct request request_of(uint32_t sector, bool write, uint64_t tag) {
    return (struct request){.address = sector_address(sector),
                            .bytes = SECTOR_BYTES,
                            .tag = tag,
                            .kind = write ? REQUEST_WRITE : REQUEST_READ};
}

static void same_request(const struct request *a, const struct request *b) {
    assert_int_equal(a->address, b->address);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->kind, b->kind);
}

/* The sectors that one step has done, one by one, with arrivals in between. */
static void follow(struct pair *pair, uint32_t line, uint32_t done, bool write, uint64_t tag,
                   const struct cache_sectors *found) {
    uint64_t tags[SECTORS][8];
    uint32_t counts[SECTORS] = {0}, arrived[SECTORS], n = 0;
    for (uint32_t rest = done; rest; rest &= rest - 1, n++) {
        const uint32_t bit = rest & (~rest + 1), sector = line * SECTORS + bits_first(rest);
        const struct request request = request_of(sector, write, tag);
        struct cache_result result;
        const enum cache_outcome outcome = cache_access(pair->single, &request, ROOM, &result);
        assert_int_equal(outcome, found->hits & bit ? CACHE_HIT : CACHE_MISS);
        assert_int_equal(result.waits, !write && (found->misses & bit));
        if (n == 0 && found->write_back_sectors)
            same_request(&result.down[result.down_count - 1], &found->write_back);
        assert_int_equal(result.write_back_sectors, n == 0 ? found->write_back_sectors : 0);
        arrived[n] = rng_below(&pair->rng, 3) ? LINES * SECTORS : arrive(pair, tags[n], &counts[n]);
    }
    for (uint32_t i = 0; i < n; i++)
        arrive_too(pair, arrived[i], tags[i], counts[i]);
    for (uint32_t rest = write ? 0 : done & found->misses; rest; rest &= rest - 1)
        pair->asked[line * SECTORS + bits_first(rest)] = true;
}

static void both_alone(struct pair *pair, uint32_t sector, bool write, uint64_t tag) {
    const struct request request = request_of(sector, write, tag);
    struct cache_result a, b;
    const enum cache_outcome outcome = cache_access(pair->single, &request, ROOM, &a);
    assert_int_equal(cache_access(pair->stepped, &request, ROOM, &b), outcome);
    assert_int_equal(a.waits, b.waits);
    assert_int_equal(a.down_count, b.down_count);
    if (outcome == CACHE_MISS && a.waits)
        pair->asked[sector] = true;
}

static void step(struct pair *pair, uint64_t tag) {
    const uint32_t line = (uint32_t)rng_below(&pair->rng, LINES), sectors = 1 + (uint32_t)rng_below(&pair->rng, 15);
    const bool write = rng_below(&pair->rng, 3) == 0;
    const uint32_t first = line * SECTORS + bits_first(sectors);
    struct cache_sectors found;
    const uint64_t address = (uint64_t)line * LINE_BYTES;
    const uint32_t done = write ? cache_write_sectors(pair->stepped, address, sectors, ROOM, &found)
                                : cache_read_sectors(pair->stepped, address, sectors, tag, ROOM, &found);
    pair->steps[done ? 0 : found.no_mshr ? 1 : 2]++;
    if (done) {
        assert_true((sectors & (sectors ^ done)) == 0 || (sectors & ~done) > done); /* the first of them */
        follow(pair, line, done, write, tag, &found);
    } else if (found.no_mshr) {
        const struct request request = request_of(first, write, tag);
        struct cache_result result;
        assert_int_equal(cache_access(pair->single, &request, ROOM, &result), CACHE_BLOCKED);
        assert_int_equal(result.blocked.cause, CACHE_NO_MSHR);
    } else {
        both_alone(pair, first, write, tag);
    }
    uint64_t tags[8];
    uint32_t count = 0;
    if (rng_below(&pair->rng, 2)) {
        const uint32_t sector = arrive(pair, tags, &count);
        arrive_too(pair, sector, tags, count);
    }
}

static void run(const char *replacement, uint32_t mshr_entries, uint64_t seed) {
    struct cache_params params = common;
    params.replacement = replacement;
    params.mshr_entries = mshr_entries;
    params.mshr_merges = 3;
    struct arena arena = {0};
    struct report report = {0};
    struct pair *pair = ARENA_NEW(&arena, struct pair);
    const struct own *own = &replacement_find(replacement, "a", &report)->own;
    params.policy = own_values(own, &arena, NULL);
    rng_seed(&pair->rng, seed);
    assert_int_equal(cache_create(&pair->single, &arena, &params, "a", 5, &report), STATUS_OK);
    assert_int_equal(cache_create(&pair->stepped, &arena, &params, "b", 5, &report), STATUS_OK);
    assert_true(cache_takes_sectors(pair->stepped));
    for (uint64_t i = 0; i < STEPS; i++)
        step(pair, i);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(pair->steps[i] > 100);
    const struct cache_stats *a = cache_stats(pair->single), *b = cache_stats(pair->stepped);
    for (const struct stat_description *stat = cache_stat_table; stat->name; stat++)
        if (!stat->is_ratio && stat_counter(a, stat) != stat_counter(b, stat))
            fail_msg("%s: %llu one by one, %llu in steps", stat->name, (unsigned long long)stat_counter(a, stat),
                     (unsigned long long)stat_counter(b, stat));
    if (own->stats) {
        void *one = arena_alloc(&arena, own->stats_bytes), *two = arena_alloc(&arena, own->stats_bytes);
        cache_add_policy_statistics(pair->single, one);
        cache_add_policy_statistics(pair->stepped, two);
        assert_memory_equal(one, two, own->stats_bytes);
    }
    for (uint32_t i = 0; i < LINES * SECTORS; i++)
        assert_int_equal(cache_holds(pair->single, sector_address(i)), cache_holds(pair->stepped, sector_address(i)));
    arena_free(&arena);
}

static void steps_equal_single_accesses(void **state) {
    (void)state;
    static const char *const policies[] = {"lru", "fifo", "random", "srrip"};
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t entries = 3; entries <= 12; entries += 3)
            run(policies[i], entries, 17 * entries + i);
}

/* What is seen before its time is taken out of the counts again. */
static void late_sectors_are_not_counted(void **state) {
    (void)state;
    struct cache_sectors found;
    struct arena arena = {0};
    struct report report = {0};
    struct cache *cache;
    assert_int_equal(cache_create(&cache, &arena, &common, "c", 5, &report), STATUS_OK);
    assert_int_equal(cache_read_sectors(cache, 0, 13, 1, ROOM, &found), 13);
    struct cache_stats stats = *cache_stats(cache);
    assert_int_equal(stats.sector_misses, 2);
    cache_sectors_uncount(&stats, &found, 8, false);
    assert_int_equal(stats.accesses, 2);
    assert_int_equal(stats.misses, 2);
    assert_int_equal(stats.sector_misses, 1);
    assert_int_equal(stats.fetches, 2);
    cache_sectors_uncount(&stats, &found, 4, false);
    assert_int_equal(stats.accesses, 1);
    assert_int_equal(stats.sector_misses, 0);
    arena_free(&arena);
}

static void loaded_bytes_are_there(void **state) {
    (void)state;
    struct cache_params params = common;
    params.line_bytes = 64;
    struct arena arena = {0};
    struct report report = {0};
    struct cache *cache;
    assert_int_equal(cache_create(&cache, &arena, &params, "c", 5, &report), STATUS_OK);
    assert_false(cache_takes_sectors(cache));
    cache_load(cache, 96, 96);
    for (uint64_t at = 0; at < 256; at += SECTOR_BYTES)
        assert_int_equal(cache_holds(cache, at), at >= 96 && at < 192);
    assert_int_equal(cache_stats(cache)->accesses, 0);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_equal_single_accesses),
                                       cmocka_unit_test(late_sectors_are_not_counted),
                                       cmocka_unit_test(loaded_bytes_are_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
