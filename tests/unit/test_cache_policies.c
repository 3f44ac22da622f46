/* SPDX-License-Identifier: Apache-2.0 */
/* mem/cache: policies one by one, and laws over random traffic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/param.h"
#include "base/rng.h"
#include "mem/cache.h"
#include "mem/replacement/replacement.h"
#include "own_keys.h"

/* 2 sets of 2 lines of 128 B. */
static const struct cache_params tiny = {.size_bytes = 512,
                                         .ways = 2,
                                         .line_bytes = 128,
                                         .replacement = "lru",
                                         .write = CACHE_BACK,
                                         .write_allocate = CACHE_WRITE_FETCH,
                                         .mshr_entries = 4,
                                         .mshr_merges = 4};

static struct cache *create(struct arena *arena, const struct cache_params *params) {
    struct cache *cache;
    struct report report = {0};
    struct cache_params with = *params;
    if (!with.policy)
        with.policy = own_values(&replacement_find(with.replacement, "test", &report)->own, arena, NULL);
    if (cache_create(&cache, arena, &with, "test", 7, &report) != STATUS_OK)
        fail_msg("%s", report_text(&report));
    return cache;
}

static enum cache_outcome send(struct cache *cache, enum request_kind kind, uint64_t address, uint32_t bytes,
                               struct cache_result *result) {
    struct request request = {.address = address, .bytes = bytes, .kind = (uint8_t)kind, .tag = address};
    return cache_access(cache, &request, CACHE_DOWN_MAX, result);
}

static struct cache_arrival fill(struct cache *cache, uint64_t address) {
    struct cache_arrival arrival;
    assert_true(cache_fill(cache, address, &arrival));
    return arrival;
}

static enum cache_outcome read_now(struct cache *cache, uint64_t address) {
    struct cache_result result;
    enum cache_outcome outcome = send(cache, REQUEST_READ, address, 4, &result);
    if (result.waits)
        fill(cache, address);
    return outcome;
}

static void replacement_order(void **state) {
    (void)state;
    for (unsigned by_use = 0; by_use < 2; by_use++) {
        struct arena arena = {0};
        struct cache_params params = tiny;
        params.replacement = by_use ? "lru" : "fifo";
        struct cache *cache = create(&arena, &params);
        read_now(cache, 0);
        read_now(cache, 256);
        assert_int_equal(read_now(cache, 0), CACHE_HIT);
        read_now(cache, 512);
        assert_int_equal(cache_holds(cache, 0), by_use);
        assert_int_equal(cache_holds(cache, 256), !by_use);
        arena_free(&arena);
    }
}

/* Jaleel's words done one by one: a hit makes a line near, a fill far; the first distant line leaves, and while there is none all
 * grow more distant. */
static void check_srrip(unsigned bits) {
    enum { WAYS = 8, NEAR = 0 };
    const unsigned distant = (1u << bits) - 1, is_long = distant - 1;
    char setting[32];
    struct arena arena = {0};
    struct cache_params params = tiny;
    const struct own *own = &replacement_find("srrip", "test", NULL)->own;
    snprintf(setting, sizeof setting, "srrip.bits=%u", bits);
    params.ways = WAYS, params.size_bytes = WAYS * 128, params.replacement = "srrip";
    params.policy = own_values(own, &arena, SETTINGS(setting));
    struct cache *cache = create(&arena, &params);
    uint64_t aged = 0;
    struct {
        uint64_t line;
        unsigned interval, filled;
    } lines[WAYS];
    struct rng rng;
    unsigned used = 0, hits = 0;
    rng_seed(&rng, 11);
    for (unsigned step = 1; step < 5000; step++) {
        const uint64_t line = rng_below(&rng, step % 64 < 32 ? 6 : 40); /* lines used again, and a scan */
        unsigned at = 0;
        while (at < used && lines[at].line != line)
            at++;
        const bool hit = at < used;
        assert_int_equal(read_now(cache, line * 128), hit ? CACHE_HIT : CACHE_MISS);
        hits += hit;
        if (hit) {
            lines[at].interval = NEAR;
            continue;
        }
        bool first = true;
        if (used < WAYS)
            at = used++;
        else
            for (at = WAYS; at == WAYS; first = false) { /* of distant lines the one filled first */
                for (unsigned i = 0; i < WAYS; i++)
                    if (lines[i].interval == distant && (at == WAYS || lines[i].filled < lines[at].filled))
                        at = i;
                for (unsigned i = 0; i < WAYS && at == WAYS; i++)
                    lines[i].interval++;
                aged += first && at == WAYS;
            }
        lines[at].line = line, lines[at].interval = is_long, lines[at].filled = step;
        if (step == 2500) { /* counts from here on */
            cache_reset_stats(cache);
            aged = 0;
        }
    }
    assert_in_range(hits, 1000, 4000);
    void *sum = arena_alloc(&arena, own->stats_bytes);
    cache_add_policy_statistics(cache, sum);
    assert_true(aged > 100);
    assert_int_equal(own_counter(own, sum, "aged"), aged);
    cache_add_policy_statistics(cache, sum);
    assert_int_equal(own_counter(own, sum, "aged"), 2 * aged);
    arena_free(&arena);
}

static void srrip_is_what_its_paper_says(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= 7; bits++)
        check_srrip(bits);
}

static void evicted(void *self, uint64_t address, uint8_t owner) {
    uint64_t *seen = self;
    seen[0]++, seen[1] = address, seen[2] = owner;
}

static uint8_t owner_of_tag(void *self, uint64_t tag) {
    (void)self;
    return (uint8_t)(100 + tag);
}

/* Who watches hears which line left and who had brought it, whether lines are taken with the request or with the data. */
static void lines_know_who_brought_them(void **state) {
    (void)state;
    for (unsigned on_fill = 0; on_fill < 2; on_fill++) {
        struct arena arena = {0};
        struct cache_params params = tiny;
        uint64_t seen[3] = {0};
        params.allocate = on_fill ? CACHE_ON_FILL : CACHE_ON_MISS;
        struct cache *cache = create(&arena, &params);
        cache_watch(cache, &(struct cache_watcher){seen, evicted, owner_of_tag, CACHE_NOBODY});
        for (uint64_t i = 0; i < 3; i++) {
            cache_own(cache, (uint8_t)(40 + i));
            read_now(cache, i * 256);
        }
        assert_int_equal(seen[0], 1);
        assert_int_equal(seen[1], 0);
        assert_int_equal(seen[2], on_fill ? cache_owner(cache, 256) : 40);
        if (!on_fill)
            assert_int_equal(cache_owner(cache, 512), 42);
        else
            assert_in_range(cache_owner(cache, 512), 100, 255);
        assert_int_equal(cache_owner(cache, 0), CACHE_NOBODY);
        arena_free(&arena);
    }
}

static void random_replacement_uses_every_way_and_repeats_with_its_seed(void **state) {
    (void)state;
    struct arena arena = {0};
    struct cache_params params = tiny;
    params.ways = 8;
    params.size_bytes = 1024;
    params.replacement = "random";
    struct cache *first = create(&arena, &params), *second = create(&arena, &params), *third = create(&arena, &params);
    unsigned left[8] = {0};
    for (uint64_t round = 0; round < 800; round++) {
        for (uint64_t i = 0; i < 8; i++) /* 8 known lines, then one too many */
            read_now(first, (round * 9 + i) * 128);
        cache_invalidate(first);
        for (uint64_t i = 0; i < 9; i++)
            read_now(first, (round * 9 + i) * 128);
        for (uint64_t i = 0; i < 8; i++)
            left[i] += !cache_holds(first, (round * 9 + i) * 128);
        cache_invalidate(first);
    }
    for (uint64_t round = 0; round < 800; round++)
        assert_int_equal(read_now(second, round * round % 23 * 128), read_now(third, round * round % 23 * 128));
    assert_true(cache_stats(second)->evictions > 100);
    for (unsigned i = 0; i < 8; i++)
        assert_in_range(left[i], 60, 140);
    arena_free(&arena);
}

static void dirty_lines_are_written_back_once(void **state) {
    (void)state;
    struct arena arena = {0};
    struct cache *cache = create(&arena, &tiny);
    struct cache_result result;
    assert_int_equal(send(cache, REQUEST_WRITE, 4, 4, &result), CACHE_MISS);
    assert_int_equal(result.down_count, 1);
    assert_int_equal(result.down[0].kind, REQUEST_READ);
    assert_int_equal(result.down[0].address, 0);
    assert_int_equal(result.down[0].bytes, 128);
    assert_true(result.waits);
    fill(cache, 0);
    read_now(cache, 256);
    assert_int_equal(send(cache, REQUEST_READ, 512, 4, &result), CACHE_MISS);
    assert_int_equal(result.down_count, 2);
    assert_int_equal(result.down[0].kind, REQUEST_READ);
    assert_int_equal(result.down[1].kind, REQUEST_WRITE);
    assert_int_equal(result.down[1].address, 0);
    assert_int_equal(result.down[1].bytes, 128);
    assert_int_equal(result.write_back_sectors, 1);
    fill(cache, 512);
    assert_int_equal(send(cache, REQUEST_WRITE, 512, 4, &result), CACHE_HIT);
    assert_int_equal(result.down_count, 0);

    uint32_t cursor = 0;
    struct request request;
    uint8_t sectors;
    assert_true(cache_clean(cache, &cursor, &request, &sectors));
    assert_int_equal(request.address, 512);
    assert_false(cache_clean(cache, &cursor, &request, &sectors));
    assert_int_equal(read_now(cache, 512), CACHE_HIT); /* clean, not gone */
    cache_invalidate(cache);
    assert_false(cache_holds(cache, 512));
    uint32_t valid, dirty;
    cache_count(cache, &valid, &dirty);
    assert_int_equal(valid + dirty, 0);
    arena_free(&arena);
}

static void a_line_that_makes_room_on_fill_is_written_back_then(void **state) {
    (void)state;
    struct arena arena = {0};
    struct cache_params params = tiny;
    params.allocate = CACHE_ON_FILL;
    struct cache *cache = create(&arena, &params);
    struct cache_result result;
    for (uint64_t address = 0; address < 768; address += 256) {
        assert_int_equal(send(cache, REQUEST_WRITE, address, 4, &result), CACHE_MISS);
        assert_int_equal(result.down_count, 1);
    }
    assert_false(fill(cache, 512).writes_back);
    assert_false(fill(cache, 0).writes_back);
    struct cache_arrival arrival = fill(cache, 256);
    assert_true(arrival.writes_back);
    assert_int_equal(arrival.write_back.address, 512);
    assert_int_equal(arrival.write_back.bytes, 128);
    arena_free(&arena);
}

static void merges_wake_in_order_and_blocked_says_why(void **state) {
    (void)state;
    struct arena arena = {0};
    struct cache_params params = tiny;
    params.mshr_entries = 3;
    params.mshr_merges = 2;
    struct cache *cache = create(&arena, &params);
    struct cache_result result;
    struct request request = {.address = 0, .bytes = 4, .tag = 11};
    assert_int_equal(cache_access(cache, &request, 0, &result), CACHE_BLOCKED);
    assert_int_equal(result.blocked.cause, CACHE_NO_ROOM);
    assert_int_equal(result.blocked.room, 1);
    assert_int_equal(result.down_count, 0);
    assert_int_equal(cache_access(cache, &request, 1, &result), CACHE_MISS);
    request.tag = 12;
    request.address = 64;
    assert_int_equal(cache_access(cache, &request, 0, &result), CACHE_PENDING);
    assert_int_equal(result.down_count, 0);
    assert_int_equal(cache_access(cache, &request, 0, &result), CACHE_BLOCKED);
    struct cache_blocked merge = result.blocked;
    assert_int_equal(merge.cause, CACHE_MERGE_LIMIT);
    assert_int_equal(send(cache, REQUEST_READ, 256, 4, &result), CACHE_MISS);
    assert_int_equal(send(cache, REQUEST_READ, 512, 4, &result), CACHE_BLOCKED);
    struct cache_blocked ways = result.blocked;
    assert_int_equal(ways.cause, CACHE_WAYS_RESERVED);
    assert_int_equal(send(cache, REQUEST_READ, 128, 4, &result), CACHE_MISS);
    assert_int_equal(send(cache, REQUEST_READ, 384, 4, &result), CACHE_BLOCKED);
    struct cache_blocked mshr = result.blocked;
    assert_int_equal(mshr.cause, CACHE_NO_MSHR);
    assert_int_equal(cache_outstanding(cache), 3);

    fill(cache, 128);
    assert_true(cache_unblocks(cache, &mshr, 128));
    assert_false(cache_unblocks(cache, &ways, 128));
    assert_false(cache_unblocks(cache, &merge, 128));
    fill(cache, 256);
    assert_true(cache_unblocks(cache, &ways, 256));
    assert_false(cache_unblocks(cache, &merge, 256));
    struct cache_arrival arrival = fill(cache, 100);
    assert_true(cache_unblocks(cache, &merge, 100));
    assert_int_equal(arrival.count, 2);
    assert_int_equal(arrival.tags[0], 11);
    assert_int_equal(arrival.tags[1], 12);
    assert_false(cache_fill(cache, 100, &arrival)); /* not asked for again */
    assert_int_equal(cache_stats(cache)->blocked_mshr, 1);
    assert_int_equal(cache_stats(cache)->blocked_merge, 1);
    assert_int_equal(cache_stats(cache)->blocked_ways, 1);
    assert_int_equal(cache_stats(cache)->blocked_room, 1);
    arena_free(&arena);
}

/* GPGPU-Sim's first-level cache of Fermi: global stores drop the line, local ones are written back. */
static void local_back_writes_local_memory_back_and_evicts_the_rest(void **state) {
    (void)state;
    struct arena arena = {0};
    struct cache_params params = tiny;
    params.write = CACHE_LOCAL_BACK;
    params.write_allocate = CACHE_WRITE_NONE;
    struct cache *cache = create(&arena, &params);
    struct cache_result result;
    read_now(cache, 0);
    read_now(cache, 256);
    assert_int_equal(send(cache, REQUEST_WRITE, 0, 4, &result), CACHE_HIT);
    assert_int_equal(result.down_count, 1);
    assert_false(result.waits);
    assert_false(cache_holds(cache, 0));
    assert_int_equal(send(cache, REQUEST_WRITE, 0, 4, &result), CACHE_MISS);
    assert_int_equal(result.down_count, 1);
    struct request local = {.address = 256, .bytes = 4, .kind = REQUEST_WRITE, .local = true};
    assert_int_equal(cache_access(cache, &local, CACHE_DOWN_MAX, &result), CACHE_HIT);
    assert_int_equal(result.down_count, 0);
    read_now(cache, 512); /* takes the dropped line's place: nothing leaves */
    assert_int_equal(cache_stats(cache)->evictions, 0);
    read_now(cache, 768);
    assert_int_equal(cache_stats(cache)->dirty_evictions, 1);
    /* a global store to a dirty line writes the rest of it back */
    read_now(cache, 1024);
    local.address = 1024;
    assert_int_equal(cache_access(cache, &local, CACHE_DOWN_MAX, &result), CACHE_HIT);
    struct request global = {.address = 1028, .bytes = 4, .kind = REQUEST_WRITE};
    assert_int_equal(cache_access(cache, &global, 1, &result), CACHE_BLOCKED);
    assert_int_equal(result.blocked.room, 2);
    assert_int_equal(cache_access(cache, &global, 2, &result), CACHE_HIT);
    assert_int_equal(result.down_count, 2);
    assert_int_equal(result.down[1].address, 1024);
    arena_free(&arena);
}

static struct cache_params lazy(void) {
    struct cache_params params = tiny;
    params.sector_bytes = 32;
    params.write_allocate = CACHE_WRITE_LAZY;
    return params;
}

static void a_lazy_store_fetches_only_when_unwritten_bytes_are_read(void **state) {
    (void)state;
    struct arena arena = {0};
    struct cache_params params = lazy();
    struct cache *cache = create(&arena, &params);
    struct cache_result result;
    assert_int_equal(send(cache, REQUEST_WRITE, 32, 32, &result), CACHE_MISS); /* a whole sector */
    assert_int_equal(result.down_count, 0);
    assert_false(result.waits);
    assert_true(cache_holds(cache, 32));
    assert_int_equal(send(cache, REQUEST_WRITE, 64, 16, &result), CACHE_MISS); /* half of the next */
    assert_int_equal(cache_stats(cache)->sector_misses, 1);
    assert_false(cache_holds(cache, 64));
    assert_int_equal(send(cache, REQUEST_WRITE, 80, 16, &result), CACHE_HIT); /* the other half */
    assert_true(cache_holds(cache, 64));
    struct request gaps = {.address = 96, .bytes = 32, .byte_mask = 0x0f0f0f0f, .kind = REQUEST_WRITE};
    assert_int_equal(cache_access(cache, &gaps, CACHE_DOWN_MAX, &result), CACHE_MISS);
    assert_int_equal(send(cache, REQUEST_READ, 96, 4, &result), CACHE_MISS);
    assert_int_equal(result.down_count, 1);
    assert_int_equal(result.down[0].address, 96);
    assert_int_equal(result.down[0].bytes, 32);
    assert_int_equal(result.down[0].byte_mask, 0);
    assert_int_equal(send(cache, REQUEST_WRITE, 100, 4, &result), CACHE_HIT); /* into what is on its way */
    fill(cache, 96);
    assert_true(cache_holds(cache, 96));
    assert_int_equal(send(cache, REQUEST_WRITE, 256, 4, &result), CACHE_MISS);
    assert_int_equal(send(cache, REQUEST_WRITE, 512, 4, &result), CACHE_MISS);
    assert_int_equal(result.down_count, 1);
    assert_int_equal(result.write_back_sectors, 0xe);
    assert_int_equal(result.down[0].address, 32);
    assert_int_equal(result.down[0].bytes, 96);
    /* the line's next owner starts without written bytes */
    assert_int_equal(send(cache, REQUEST_WRITE, 512, 28, &result), CACHE_HIT);
    assert_false(cache_holds(cache, 512));
    arena_free(&arena);
}

/* Bytes that stores wrote are those of the line: the next in its place has none of them. A sector with some counts when its
 * line leaves. */
static void written_bytes_leave_with_their_line(void **state) {
    (void)state;
    struct arena arena = {0};
    struct cache_params params = lazy();
    struct cache *cache = create(&arena, &params);
    struct cache_result result;
    for (unsigned sector = 0; sector < 4; sector++) /* the lower half of each sector, and all of the last */
        send(cache, REQUEST_WRITE, 32 * sector, sector == 3 ? 32 : 16, &result);
    assert_int_equal(cache_stats(cache)->sectors_evicted, 0);
    send(cache, REQUEST_WRITE, 256, 4, &result);
    send(cache, REQUEST_WRITE, 512, 4, &result); /* in the place of the first */
    assert_int_equal(cache_stats(cache)->evictions, 1);
    assert_int_equal(cache_stats(cache)->sectors_evicted, 4);
    assert_int_equal(result.write_back_sectors, 0xf);
    for (unsigned sector = 0; sector < 4; sector++) {
        send(cache, REQUEST_WRITE, 512 + 32 * sector + 16, 16, &result);
        assert_false(cache_holds(cache, 512 + 32 * sector));
    }
    send(cache, REQUEST_WRITE, 512, 16, &result);
    assert_true(cache_holds(cache, 512));
    arena_free(&arena);
}

static void a_lazy_write_through_cache_has_no_dirty_lines(void **state) {
    (void)state;
    struct arena arena = {0};
    struct cache_params params = lazy();
    params.write = CACHE_THROUGH;
    struct cache *cache = create(&arena, &params);
    struct cache_result result;
    for (uint64_t i = 0; i < 64; i++) {
        send(cache, REQUEST_WRITE, i * 32, 32, &result);
        assert_int_equal(result.down_count, 1);
        assert_int_equal(result.down[0].kind, REQUEST_WRITE);
        assert_true(cache_holds(cache, i * 32));
    }
    uint32_t valid, dirty;
    cache_count(cache, &valid, &dirty);
    assert_int_equal(valid, 4);
    assert_int_equal(dirty, 0);
    assert_int_equal(cache_stats(cache)->fetches, 0);
    arena_free(&arena);
}

static void atomics_need_the_data_and_leave_it_dirty(void **state) {
    (void)state;
    struct arena arena = {0};
    struct cache_params params = lazy();
    struct cache *cache = create(&arena, &params);
    struct cache_result result;
    assert_int_equal(send(cache, REQUEST_ATOMIC, 0, 4, &result), CACHE_MISS);
    assert_int_equal(result.down[0].kind, REQUEST_READ);
    assert_true(result.waits);
    assert_int_equal(send(cache, REQUEST_ATOMIC, 4, 4, &result), CACHE_PENDING);
    assert_int_equal(fill(cache, 0).count, 2);
    assert_int_equal(send(cache, REQUEST_ATOMIC, 4, 4, &result), CACHE_HIT);
    uint32_t valid, dirty;
    cache_count(cache, &valid, &dirty);
    assert_int_equal(dirty, 1);
    arena_free(&arena);

    params = tiny;
    params.write = CACHE_THROUGH;
    params.write_allocate = CACHE_WRITE_NONE;
    cache = create(&arena, &params);
    read_now(cache, 0);
    assert_int_equal(send(cache, REQUEST_ATOMIC, 0, 4, &result), CACHE_HIT);
    assert_int_equal(result.down[0].kind, REQUEST_ATOMIC);
    assert_false(cache_holds(cache, 0));
    arena_free(&arena);
}

static void a_perfect_cache_never_misses(void **state) {
    (void)state;
    struct arena arena = {0};
    struct cache_params params = tiny;
    params.perfect = true;
    struct cache *cache = create(&arena, &params);
    struct rng rng;
    rng_seed(&rng, 1);
    for (unsigned i = 0; i < 10000; i++) {
        struct cache_result result;
        struct request request = {.address = rng_below(&rng, 1 << 30), .bytes = 4, .kind = (uint8_t)rng_below(&rng, 3)};
        assert_int_equal(cache_access(cache, &request, 0, &result), CACHE_HIT);
        assert_int_equal(result.down_count, 0);
    }
    assert_int_equal(cache_stats(cache)->hits, 10000);
    cache_invalidate(cache);
    arena_free(&arena);
}

/* With as many sets, more ways hold all that fewer hold. */
static void lru_holds_what_a_smaller_one_holds(void **state) {
    (void)state;
    struct arena arena = {0};
    struct cache *caches[5];
    for (unsigned i = 0; i < 5; i++) {
        struct cache_params params = tiny;
        params.ways = 1u << 2 * i; /* 1 to 256 */
        params.size_bytes = (uint64_t)params.ways * 128 * 4;
        params.set_index = SET_POLYNOMIAL;
        caches[i] = create(&arena, &params);
    }
    struct rng rng;
    rng_seed(&rng, 2);
    uint64_t hits = 0;
    for (unsigned round = 0; round < 40000; round++) {
        uint64_t address = rng_below(&rng, UINT64_C(128) << rng_below(&rng, 11));
        bool held = false;
        for (unsigned i = 0; i < 5; i++) {
            bool hit = read_now(caches[i], address) == CACHE_HIT;
            assert_true(hit || !held);
            hits += hit && !held;
            held = hit;
        }
    }
    assert_true(hits > 1000);
    assert_true(cache_stats(caches[0])->misses > cache_stats(caches[4])->misses);
    arena_free(&arena);
}

/* Random traffic: what the test keeps of it. Blocks are 32 B. */
enum { BLOCKS = 1024, FLYING_MAX = 64, ROUNDS = 6000 };

struct traffic {
    struct cache *cache;
    bool dirty[BLOCKS];       /* written here and not yet below */
    bool waits[ROUNDS];       /* by tag */
    uint64_t dirties[ROUNDS]; /* by tag: the block a waiting store writes, plus 1 */
    uint64_t flying[FLYING_MAX];
    unsigned flying_count;
    uint64_t sent_below, written_back;
};

static void took_write_back(struct traffic *traffic, const struct request *request, uint8_t sectors, uint32_t line) {
    uint64_t base = request->address / line * line;
    uint32_t atom = cache_atom_bytes(traffic->cache), count = 0;
    for (uint32_t s = 0; s < 8; s++) {
        if (!(sectors >> s & 1))
            continue;
        count++;
        bool any = false;
        for (uint64_t block = (base + s * atom) / 32; block < (base + (s + 1) * atom) / 32; block++) {
            any |= traffic->dirty[block];
            traffic->dirty[block] = false;
        }
        assert_true(any);
    }
    assert_int_equal(request->bytes, count * atom);
    traffic->written_back++;
}

static void traffic_fill(struct traffic *traffic, struct rng *rng, uint32_t line) {
    unsigned pick = (unsigned)rng_below(rng, traffic->flying_count);
    struct cache_arrival arrival;
    assert_true(cache_fill(traffic->cache, traffic->flying[pick], &arrival));
    traffic->flying[pick] = traffic->flying[--traffic->flying_count];
    for (uint32_t i = 0; i < arrival.count; i++) {
        assert_true(traffic->waits[arrival.tags[i]]);
        traffic->waits[arrival.tags[i]] = false;
    }
    if (arrival.writes_back)
        took_write_back(traffic, &arrival.write_back, arrival.write_back_sectors, line);
    for (uint32_t i = 0; i < arrival.count; i++)
        if (traffic->dirties[arrival.tags[i]])
            traffic->dirty[traffic->dirties[arrival.tags[i]] - 1] = true;
}

static void traffic_access(struct traffic *traffic, struct rng *rng, uint64_t tag, uint32_t line) {
    uint32_t room = (uint32_t)rng_below(rng, 5);
    struct request request = {.address = rng_below(rng, BLOCKS * 32 / 4) * 4,
                              .bytes = 4,
                              .tag = tag,
                              .kind = (uint8_t)(rng_below(rng, 8) == 0 ? REQUEST_ATOMIC : rng_below(rng, 2)),
                              .local = rng_below(rng, 2) == 0};
    if (rng_below(rng, 2)) /* half of the traffic on few lines, so that much hits */
        request.address %= 2048;
    struct cache_result result;
    bool held = cache_holds(traffic->cache, request.address);
    enum cache_outcome outcome = cache_access(traffic->cache, &request, room, &result);
    assert_true(result.down_count <= room);
    if (held && request.kind == REQUEST_READ)
        assert_int_equal(outcome, CACHE_HIT);
    if (outcome == CACHE_BLOCKED) {
        assert_int_equal(result.down_count, 0);
        assert_false(result.waits);
        /* nothing happened: asking again gives the same answer */
        assert_int_equal(cache_access(traffic->cache, &request, room, &result), CACHE_BLOCKED);
        return;
    }
    bool handed_down = false;
    for (uint32_t i = 0; i < result.down_count; i++) {
        const struct request *down = &result.down[i];
        if (i + 1 == result.down_count && result.write_back_sectors) {
            took_write_back(traffic, down, result.write_back_sectors, line);
        } else if (down->kind == REQUEST_READ) {
            assert_true(traffic->flying_count < FLYING_MAX);
            traffic->flying[traffic->flying_count++] = down->address;
        } else {
            assert_true(down->tag == tag && down->kind == request.kind);
            handed_down = true;
        }
    }
    traffic->sent_below += result.down_count;
    traffic->waits[tag] = result.waits;
    if (request.kind == REQUEST_READ || handed_down)
        return;
    if (result.waits)
        traffic->dirties[tag] = request.address / 32 + 1;
    else
        traffic->dirty[request.address / 32] = true;
}

static void check_laws(const struct traffic *traffic) {
    const struct cache_stats *s = cache_stats(traffic->cache);
    assert_int_equal(s->accesses, s->hits + s->misses + s->pending + s->blocked_mshr + s->blocked_merge +
                                      s->blocked_ways + s->blocked_room);
    assert_int_equal(s->fills + cache_outstanding(traffic->cache), s->fetches);
    assert_int_equal(cache_outstanding(traffic->cache), traffic->flying_count);
    assert_int_equal(s->write_backs, traffic->written_back);
}

static void run_traffic(const struct cache_params *params, uint64_t seed) {
    struct arena arena = {0};
    static struct traffic traffic;
    memset(&traffic, 0, sizeof traffic);
    traffic.cache = create(&arena, params);
    size_t allocated = arena.used_bytes;
    struct rng rng;
    rng_seed(&rng, seed);
    for (uint64_t tag = 0; tag < ROUNDS; tag++) {
        if (traffic.flying_count && rng_below(&rng, 3) == 0)
            traffic_fill(&traffic, &rng, params->line_bytes);
        traffic_access(&traffic, &rng, tag, params->line_bytes);
        check_laws(&traffic);
        if (rng_below(&rng, 500) == 0) {
            uint32_t cursor = 0;
            uint8_t sectors;
            for (struct request request; cache_clean(traffic.cache, &cursor, &request, &sectors);)
                took_write_back(&traffic, &request, sectors, params->line_bytes);
            if (rng_below(&rng, 2))
                cache_invalidate(traffic.cache);
        }
    }
    while (traffic.flying_count)
        traffic_fill(&traffic, &rng, params->line_bytes);
    for (unsigned tag = 0; tag < ROUNDS; tag++)
        assert_false(traffic.waits[tag]);
    uint32_t cursor = 0;
    uint8_t sectors;
    for (struct request request; cache_clean(traffic.cache, &cursor, &request, &sectors);)
        took_write_back(&traffic, &request, sectors, params->line_bytes);
    for (unsigned block = 0; block < BLOCKS; block++)
        assert_false(traffic.dirty[block]);
    check_laws(&traffic);
    assert_int_equal(arena.used_bytes, allocated);
    arena_free(&arena);
}

static void laws_hold_for_every_policy(void **state) {
    (void)state;
    static const char *const policies[] = {"lru", "fifo", "random", "srrip"};
    unsigned runs = 0;
    for (uint32_t combination = 0; combination < 4 * 4 * 4 * 3 * 2 * 2; combination++) {
        uint32_t rest = combination;
        struct cache_params params = {.size_bytes = 32 * 4 * 128, .ways = 4, .line_bytes = 128};
        params.replacement = policies[rest % 4], rest /= 4;
        params.set_index = rest % 4, rest /= 4;
        params.write = rest % 4, rest /= 4;
        params.write_allocate = rest % 3, rest /= 3;
        params.allocate = rest % 2, rest /= 2;
        params.sector_bytes = rest % 2 * 32;
        params.mshr_entries = 1 + combination % 17;
        params.mshr_merges = 1 + combination % 5;
        bool contradicts = (params.write_allocate == CACHE_WRITE_LAZY && params.sector_bytes == 0) ||
                           (params.write == CACHE_EVICT && params.write_allocate != CACHE_WRITE_NONE);
        struct arena arena = {0};
        struct report report = {0};
        struct cache *cache;
        params.policy = own_values(&replacement_find(params.replacement, "l1", &report)->own, &arena, NULL);
        enum status status = cache_create(&cache, &arena, &params, "l1", 1, &report);
        params.policy = NULL;
        assert_int_equal(status, contradicts ? STATUS_INVALID : STATUS_OK);
        report_free(&report);
        arena_free(&arena);
        if (contradicts)
            continue;
        run_traffic(&params, combination);
        runs++;
    }
    /* Of write x write_allocate: with sectors 3 x 3 + 1 agree, without 3 x 2 + 1. */
    assert_int_equal(runs, 4 * 4 * 2 * (10 + 7));
}

/* ---- set index ---- */

static uint32_t remainder_by_long_division(uint64_t number, uint32_t polynomial, unsigned degree) {
    for (int bit = 63; bit >= (int)degree; bit--)
        if (number >> bit & 1)
            number ^= (uint64_t)polynomial << (bit - (int)degree);
    return (uint32_t)number;
}

/* The equations of GPGPU-Sim for 32 sets: bits above the index that flip each index bit. */
static uint32_t published_index_of_32(uint64_t number) {
    static const uint16_t flips[5] = {0x3e69, 0x7cd2, 0x47cd, 0x0f9a, 0x1f34};
    uint64_t above = number >> 5 & 0x7fff;
    uint32_t index = (uint32_t)(number & 31);
    for (unsigned bit = 0; bit < 5; bit++)
        for (unsigned i = 0; i < 15; i++)
            index ^= (uint32_t)(flips[bit] >> i & above >> i & 1) << bit;
    return index;
}

static void set_functions_are_as_published(void **state) {
    (void)state;
    struct arena arena = {0};
    struct set_index index;
    struct rng rng;
    rng_seed(&rng, 9);
    for (unsigned round = 0; round < 20000; round++) {
        uint64_t number = rng_u64(&rng) >> (4 + rng_below(&rng, 50));
        assert_int_equal(set_index_create(&index, &arena, SET_POLYNOMIAL, 32, "l2", NULL), STATUS_OK);
        assert_int_equal(set_index_of(&index, number), remainder_by_long_division(number, 37, 5));
        assert_int_equal(set_index_of(&index, number & 0xfffff), published_index_of_32(number & 0xfffff));
        assert_int_equal(set_index_create(&index, &arena, SET_POLYNOMIAL, 64, "l2", NULL), STATUS_OK);
        assert_int_equal(set_index_of(&index, number), remainder_by_long_division(number, 67, 6));
        assert_int_equal(set_index_create(&index, &arena, SET_FERMI, 32, "l1", NULL), STATUS_OK);
        uint64_t address = number << 7;
        uint64_t upper = (address >> 13 & 7) | (address >> 17 & 1) << 3 | (address >> 19 & 1) << 4;
        assert_int_equal(set_index_of(&index, number), (address >> 7 & 31) ^ upper);
        assert_int_equal(set_index_create(&index, &arena, SET_FERMI, 64, "l1", NULL), STATUS_OK);
        assert_int_equal(set_index_of(&index, number), ((address >> 7 & 31) ^ upper) | (address >> 12 & 1) << 5);
        assert_int_equal(set_index_create(&index, &arena, SET_XOR, 16, "l1", NULL), STATUS_OK);
        assert_int_equal(set_index_of(&index, number), number % 16 ^ number / 16 % 16);
    }
    arena_free(&arena);
}

static void neighbours_fall_in_different_sets(void **state) {
    (void)state;
    struct arena arena = {0};
    for (unsigned function = SET_LINEAR; function <= SET_POLYNOMIAL; function++) {
        for (unsigned bits = 0; bits <= 16; bits++) {
            struct set_index index;
            uint32_t count = UINT32_C(1) << bits;
            if (function == SET_FERMI && bits != 5 && bits != 6)
                continue;
            assert_int_equal(set_index_create(&index, &arena, (enum set_function)function, count, "l1", NULL),
                             STATUS_OK);
            unsigned char *seen = arena_alloc(&arena, count);
            for (uint64_t i = 0; i < count; i++) {
                uint32_t set = set_index_of(&index, UINT64_C(0x1234567) * count + i);
                assert_true(set < count);
                assert_false(seen[set]);
                seen[set] = 1;
            }
        }
    }
    arena_free(&arena);
}

/* ---- parameters ---- */

#define PARAM(field, ...) PARAM_ENTRY(struct cache_params, field, __VA_ARGS__)
static const struct param_description table[] = {
#include "mem/cache_params.def"
    PARAM_END};
#undef PARAM

static void names_of_choices_are_in_the_order_of_their_enums(void **state) {
    (void)state;
    static const struct {
        const char *key, *name;
        uint32_t value;
        size_t offset;
    } choices[] = {
        {"set_index", "xor", SET_XOR, offsetof(struct cache_params, set_index)},
        {"set_index", "fermi", SET_FERMI, offsetof(struct cache_params, set_index)},
        {"set_index", "polynomial", SET_POLYNOMIAL, offsetof(struct cache_params, set_index)},
        {"write", "through", CACHE_THROUGH, offsetof(struct cache_params, write)},
        {"write", "evict", CACHE_EVICT, offsetof(struct cache_params, write)},
        {"write", "local-back", CACHE_LOCAL_BACK, offsetof(struct cache_params, write)},
        {"write_allocate", "none", CACHE_WRITE_NONE, offsetof(struct cache_params, write_allocate)},
        {"write_allocate", "lazy", CACHE_WRITE_LAZY, offsetof(struct cache_params, write_allocate)},
        {"allocate", "fill", CACHE_ON_FILL, offsetof(struct cache_params, allocate)},
    };
    struct arena arena = {0};
    struct report report = {0};
    struct cache_params params;
    struct param_set set;
    assert_int_equal(param_create(&set, table, &params, &arena, &report), STATUS_OK);
    for (unsigned i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        assert_int_equal(param_assign(&set, choices[i].key, choices[i].name, "test", "test", &report), STATUS_OK);
        uint32_t value;
        memcpy(&value, (const unsigned char *)&params + choices[i].offset, sizeof value);
        assert_int_equal(value, choices[i].value);
    }
    assert_int_equal(param_create(&set, table, &params, &arena, &report), STATUS_OK);
    struct cache *cache;
    assert_int_equal(cache_create(&cache, &arena, &params, "l1", 1, &report), STATUS_OK); /* the defaults agree */
    arena_free(&arena);
}

static void refuses(struct cache_params params, const char *says) {
    struct arena arena = {0};
    struct report report = {0};
    struct cache *cache;
    assert_int_equal(cache_create(&cache, &arena, &params, "l2", 1, &report), STATUS_INVALID);
    if (!strstr(report_text(&report), says))
        fail_msg("\"%s\" does not say \"%s\"", report_text(&report), says);
    report_free(&report);
    arena_free(&arena);
}

static void contradicting_parameters_are_refused_by_name(void **state) {
    (void)state;
    struct cache_params params = tiny;
    params.line_bytes = 96;
    refuses(params, "l2.line_bytes is 96");
    params = tiny, params.sector_bytes = 128;
    refuses(params, "l2.sector_bytes is 128");
    params = tiny, params.replacement = "plru";
    refuses(params, "l2.replacement=plru: no such policy; there are:");
    params = tiny, params.size_bytes = 768;
    refuses(params, "l2.size_bytes is 768");
    params = tiny, params.set_index = SET_FERMI;
    refuses(params, "l2.set_index fermi");
    params = tiny, params.write_allocate = CACHE_WRITE_LAZY;
    refuses(params, "l2.sector_bytes 32");
    params = tiny, params.write = CACHE_EVICT;
    refuses(params, "l2.write_allocate must be none");
    params = tiny, params.mshr_entries = params.mshr_merges = 65536;
    refuses(params, "1 GiB");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replacement_order),
        cmocka_unit_test(srrip_is_what_its_paper_says),
        cmocka_unit_test(lines_know_who_brought_them),
        cmocka_unit_test(random_replacement_uses_every_way_and_repeats_with_its_seed),
        cmocka_unit_test(dirty_lines_are_written_back_once),
        cmocka_unit_test(a_line_that_makes_room_on_fill_is_written_back_then),
        cmocka_unit_test(merges_wake_in_order_and_blocked_says_why),
        cmocka_unit_test(local_back_writes_local_memory_back_and_evicts_the_rest),
        cmocka_unit_test(a_lazy_store_fetches_only_when_unwritten_bytes_are_read),
        cmocka_unit_test(written_bytes_leave_with_their_line),
        cmocka_unit_test(a_lazy_write_through_cache_has_no_dirty_lines),
        cmocka_unit_test(atomics_need_the_data_and_leave_it_dirty),
        cmocka_unit_test(a_perfect_cache_never_misses),
        cmocka_unit_test(lru_holds_what_a_smaller_one_holds),
        cmocka_unit_test(laws_hold_for_every_policy),
        cmocka_unit_test(set_functions_are_as_published),
        cmocka_unit_test(neighbours_fall_in_different_sets),
        cmocka_unit_test(names_of_choices_are_in_the_order_of_their_enums),
        cmocka_unit_test(contradicting_parameters_are_refused_by_name),
    };
    return cmocka_run_group_tests_name("cache_policies", tests, NULL, NULL);
}
