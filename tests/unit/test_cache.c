/* SPDX-License-Identifier: Apache-2.0 */
/* mem/cache against the reference tables: every row and column, every hit bit, every outcome. */
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
#include "mem/cache.h"

enum { ACCESSES = 4000, FIELDS_MAX = 24, LINE_MAX_BYTES = 8192, MSHR_ACCESSES = 2000, OUTCOMES = 1000 };

struct stream {
    uint64_t address[ACCESSES];
    bool writes[ACCESSES];
};

static FILE *open_reference(const char *file) {
    char path[1024];
    snprintf(path, sizeof path, "%s/cache/%s", HEDDLE_REFERENCE_DIR, file);
    FILE *in = fopen(path, "r");
    if (!in)
        fail_msg("cannot read %s", path);
    return in;
}

/* Fields of the next line, split at commas; 0 at the end of the file. */
static unsigned read_row(FILE *in, char line[LINE_MAX_BYTES], char *fields[FIELDS_MAX]) {
    if (!fgets(line, LINE_MAX_BYTES, in))
        return 0;
    assert_non_null(strchr(line, '\n'));
    line[strcspn(line, "\r\n")] = '\0';
    unsigned count = 0;
    for (char *at = line; at; count++) {
        assert_true(count < FIELDS_MAX);
        fields[count] = at;
        at = strchr(at, ',');
        if (at)
            *at++ = '\0';
    }
    return count;
}

static void read_stream(struct stream *stream, const char *name) {
    char file[128], line[LINE_MAX_BYTES], *fields[FIELDS_MAX];
    snprintf(file, sizeof file, "streams/%s.csv", name);
    FILE *in = open_reference(file);
    assert_int_equal(read_row(in, line, fields), 2);
    for (unsigned i = 0; i < ACCESSES; i++) {
        assert_int_equal(read_row(in, line, fields), 2);
        stream->address[i] = strtoull(fields[0], NULL, 16);
        stream->writes[i] = fields[1][0] == 'W';
        assert_true(fields[1][0] == 'W' || fields[1][0] == 'R');
    }
    assert_int_equal(read_row(in, line, fields), 0);
    fclose(in);
}

static uint64_t number(const char *text) { return strtoull(text, NULL, 10); }

static struct cache_params shape(const char *size, const char *ways, const char *line) {
    return (struct cache_params){.size_bytes = number(size),
                                 .ways = (uint32_t)number(ways),
                                 .line_bytes = (uint32_t)number(line),
                                 .replacement = "lru",
                                 .write = CACHE_BACK,
                                 .write_allocate = CACHE_WRITE_FETCH,
                                 .mshr_entries = 1,
                                 .mshr_merges = 1};
}

static struct cache *create(struct arena *arena, const struct cache_params *params) {
    struct cache *cache;
    struct report report = {0};
    assert_int_equal(cache_create(&cache, arena, params, "test", 1, &report), STATUS_OK);
    return cache;
}

/* An access whose fetch arrives at once. True: it hit. */
static bool access_now(struct cache *cache, uint64_t address, bool writes) {
    struct request request = {
        .address = address, .bytes = 4, .kind = writes ? REQUEST_WRITE : REQUEST_READ, .tag = address};
    struct cache_result result;
    enum cache_outcome outcome = cache_access(cache, &request, CACHE_DOWN_MAX, &result);
    assert_true(outcome == CACHE_HIT || outcome == CACHE_MISS);
    if (result.waits) {
        struct cache_arrival arrival;
        assert_true(cache_fill(cache, address, &arrival));
        assert_int_equal(arrival.count, 1);
        assert_int_equal(arrival.tags[0], address);
    }
    return outcome == CACHE_HIT;
}

static struct cache *run_policy(struct arena *arena, char *fields[], const char *policy, bool hits[ACCESSES]) {
    struct cache_params params = shape(fields[0], fields[1], fields[2]);
    if (strcmp(policy, "wt_nwa") == 0) {
        params.write = CACHE_THROUGH;
        params.write_allocate = CACHE_WRITE_NONE;
    } else {
        assert_string_equal(policy, "wb_wa");
    }
    return hits ? create(arena, &params) : NULL;
}

static void cache_equals_the_table_in_every_column(void **state) {
    (void)state;
    FILE *in = open_reference("cache_expected.csv");
    static struct stream stream;
    static bool hits[ACCESSES];
    char line[LINE_MAX_BYTES], *f[FIELDS_MAX];
    unsigned rows = 0;
    assert_int_equal(read_row(in, line, f), 17);
    for (; read_row(in, line, f); rows++) {
        struct arena arena = {0};
        read_stream(&stream, f[0]);
        struct cache *cache = run_policy(&arena, &f[2], f[6], hits);
        for (unsigned i = 0; i < ACCESSES; i++)
            access_now(cache, stream.address[i], stream.writes[i]);
        const struct cache_stats *s = cache_stats(cache);
        uint32_t valid, dirty;
        cache_count(cache, &valid, &dirty);
        const uint64_t found[] = {cache_sets(cache),
                                  s->accesses,
                                  s->hits - s->write_hits,
                                  s->misses - s->write_misses,
                                  s->write_hits,
                                  s->write_misses,
                                  s->evictions,
                                  s->dirty_evictions,
                                  s->writes_below + s->write_backs,
                                  valid,
                                  dirty};
        const unsigned column[] = {5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
        for (unsigned c = 0; c < sizeof column / sizeof column[0]; c++)
            if (found[c] != number(f[column[c]]))
                fail_msg("%s %s %s: column %u is %lu, not %s", f[0], f[1], f[6], column[c], (unsigned long)found[c],
                         f[column[c]]);
        arena_free(&arena);
    }
    fclose(in);
    assert_int_equal(rows, 6 * 6 * 2);
}

static unsigned hex_digit(char c) { return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10; }

static void every_access_hits_or_misses_as_in_the_table(void **state) {
    (void)state;
    FILE *in = open_reference("cache_hitbits.csv"), *shapes = open_reference("cache_expected.csv");
    static struct stream stream;
    static bool hits[ACCESSES];
    char line[LINE_MAX_BYTES], *f[FIELDS_MAX], other[LINE_MAX_BYTES], *g[FIELDS_MAX];
    unsigned rows = 0;
    assert_int_equal(read_row(in, line, f), 4);
    assert_int_equal(read_row(shapes, other, g), 17);
    for (; read_row(in, line, f); rows++) {
        /* Both tables list the same runs in the same order. */
        assert_int_equal(read_row(shapes, other, g), 17);
        assert_string_equal(f[0], g[0]);
        assert_string_equal(f[1], g[1]);
        assert_string_equal(f[2], g[6]);
        struct arena arena = {0};
        read_stream(&stream, f[0]);
        struct cache *cache = run_policy(&arena, &g[2], f[2], hits);
        assert_int_equal(strlen(f[3]), ACCESSES / 4);
        for (unsigned i = 0; i < ACCESSES; i++) {
            bool expected = hex_digit(f[3][i / 4]) >> (3 - i % 4) & 1;
            bool holds = cache_holds(cache, stream.address[i]);
            assert_int_equal(holds, expected);
            if (access_now(cache, stream.address[i], stream.writes[i]) != expected)
                fail_msg("%s %s %s: access %u", f[0], f[1], f[2], i);
        }
        arena_free(&arena);
    }
    fclose(in);
    fclose(shapes);
    assert_int_equal(rows, 6 * 6 * 2);
}

static void sectors_equal_the_table(void **state) {
    (void)state;
    FILE *in = open_reference("sectored_expected.csv");
    static struct stream stream;
    char line[LINE_MAX_BYTES], *f[FIELDS_MAX];
    unsigned rows = 0;
    assert_int_equal(read_row(in, line, f), 13);
    for (; read_row(in, line, f); rows++) {
        struct arena arena = {0};
        read_stream(&stream, f[0]);
        struct cache_params params = shape(f[1], f[2], f[3]);
        params.sector_bytes = (uint32_t)number(f[4]);
        struct cache *cache = create(&arena, &params);
        for (unsigned i = 0; i < ACCESSES; i++)
            access_now(cache, stream.address[i], false);
        const struct cache_stats *s = cache_stats(cache);
        const uint64_t found[] = {
            cache_sets(cache), s->accesses, s->hits,           s->sector_misses, s->misses - s->sector_misses,
            s->evictions,      s->fetches,  s->sectors_evicted};
        for (unsigned c = 0; c < 8; c++)
            if (found[c] != number(f[5 + c]))
                fail_msg("%s %s: column %u is %lu, not %s", f[0], f[1], 5 + c, (unsigned long)found[c], f[5 + c]);
        assert_int_equal(s->fills, s->fetches);
        arena_free(&arena);
    }
    fclose(in);
    assert_int_equal(rows, 6 * 4);
}

/* The reference's timing model round the cache: fills due now, then one access, in order. */
struct timed {
    struct cache *cache;
    uint64_t fill_address[MSHR_ACCESSES], fill_cycle[MSHR_ACCESSES];
    unsigned fill_first, fill_count;
    uint64_t latency, cycle, last_fill, last_access, stalls[4], woken;
    char outcomes[MSHR_ACCESSES];
};

/* Performs the fills due; true when one of them unblocks. */
static bool timed_fill(struct timed *timed, const struct cache_blocked *blocked) {
    bool unblocks = false;
    while (timed->fill_first < timed->fill_count && timed->fill_cycle[timed->fill_first] <= timed->cycle) {
        uint64_t address = timed->fill_address[timed->fill_first++];
        struct cache_arrival arrival;
        assert_true(cache_fill(timed->cache, address, &arrival));
        assert_true(arrival.count >= 1);
        timed->woken += arrival.count;
        timed->last_fill = timed->cycle;
        unblocks |= blocked && cache_unblocks(timed->cache, blocked, address);
    }
    return unblocks;
}

/* `polls`: a blocked access comes every cycle; else it sleeps until cache_unblocks says so. */
static void timed_run(struct timed *timed, const struct stream *stream, bool polls) {
    for (unsigned i = 0; i < MSHR_ACCESSES;) {
        timed_fill(timed, NULL);
        struct request request = {.address = stream->address[i], .bytes = 4, .kind = REQUEST_READ, .tag = i};
        struct cache_result result;
        enum cache_outcome outcome = cache_access(timed->cache, &request, CACHE_DOWN_MAX, &result);
        if (outcome == CACHE_BLOCKED) {
            assert_true(result.blocked.cause != CACHE_NO_ROOM);
            uint64_t until = timed->cycle + 1;
            if (!polls) {
                uint64_t from = timed->cycle;
                do {
                    assert_true(timed->fill_first < timed->fill_count);
                    timed->cycle = timed->fill_cycle[timed->fill_first];
                } while (!timed_fill(timed, &result.blocked));
                until = timed->cycle;
                timed->cycle = from;
            }
            timed->stalls[result.blocked.cause] += until - timed->cycle;
            timed->cycle = until;
            continue;
        }
        timed->outcomes[i] = outcome == CACHE_HIT ? 'H' : outcome == CACHE_PENDING ? 'P' : 'M';
        assert_int_equal(result.waits, outcome != CACHE_HIT);
        if (outcome == CACHE_MISS) {
            assert_int_equal(result.down_count, 1);
            timed->fill_address[timed->fill_count] = result.down[0].address;
            timed->fill_cycle[timed->fill_count++] = timed->cycle + timed->latency;
        }
        timed->last_access = timed->cycle++;
        i++;
    }
    while (timed->fill_first < timed->fill_count) {
        timed->cycle = timed->fill_cycle[timed->fill_first];
        timed_fill(timed, NULL);
    }
}

static void start_timed(struct timed *timed, struct arena *arena, struct cache_params params, char *mshr[4]) {
    memset(timed, 0, sizeof *timed);
    params.mshr_entries = (uint32_t)number(mshr[0]);
    params.mshr_merges = (uint32_t)number(mshr[1]);
    params.allocate = strcmp(mshr[3], "fill") == 0 ? CACHE_ON_FILL : CACHE_ON_MISS;
    timed->latency = number(mshr[2]);
    timed->cache = create(arena, &params);
}

static void mshr_equals_the_table(bool polls) {
    FILE *in = open_reference("mshr_expected.csv");
    static struct stream stream;
    static struct timed timed;
    char line[LINE_MAX_BYTES], *f[FIELDS_MAX];
    unsigned rows = 0;
    assert_int_equal(read_row(in, line, f), 17);
    for (; read_row(in, line, f); rows++) {
        struct arena arena = {0};
        read_stream(&stream, f[0]);
        start_timed(&timed, &arena, shape(f[1], f[2], f[3]), &f[4]);
        timed_run(&timed, &stream, polls);
        const struct cache_stats *s = cache_stats(timed.cache);
        uint64_t last = timed.last_fill > timed.last_access ? timed.last_fill : timed.last_access;
        const uint64_t found[] = {MSHR_ACCESSES,
                                  s->hits,
                                  s->pending,
                                  s->misses,
                                  timed.stalls[CACHE_NO_MSHR],
                                  timed.stalls[CACHE_MERGE_LIMIT],
                                  timed.stalls[CACHE_WAYS_RESERVED],
                                  s->evictions,
                                  last};
        for (unsigned c = 0; c < 9; c++)
            if (found[c] != number(f[8 + c]))
                fail_msg("%s %s/%s/%s %s: column %u is %lu, not %s", f[0], f[4], f[5], f[6], f[7], 8 + c,
                         (unsigned long)found[c], f[8 + c]);
        assert_int_equal(timed.woken, s->pending + s->misses);
        assert_int_equal(s->fills, s->misses);
        assert_int_equal(cache_outstanding(timed.cache), 0);
        assert_int_equal(s->accesses, s->hits + s->misses + s->pending + s->blocked_mshr + s->blocked_merge +
                                          s->blocked_ways + s->blocked_room);
        arena_free(&arena);
    }
    fclose(in);
    assert_int_equal(rows, 6 * 2 * 4 * 2);
}

static void mshr_equals_the_table_when_asked_every_cycle(void **state) {
    (void)state;
    mshr_equals_the_table(true);
}

static void mshr_equals_the_table_when_woken(void **state) {
    (void)state;
    mshr_equals_the_table(false);
}

/* The table names no geometry; it is the 16 KiB one of mshr_expected.csv. */
static void mshr_outcomes_equal_the_table(void **state) {
    (void)state;
    FILE *in = open_reference("mshr_outcomes.csv");
    static struct stream stream;
    static struct timed timed;
    char line[LINE_MAX_BYTES], *f[FIELDS_MAX], size[] = "16384", ways[] = "4", bytes[] = "128";
    unsigned rows = 0;
    assert_int_equal(read_row(in, line, f), 6);
    for (; read_row(in, line, f); rows++) {
        struct arena arena = {0};
        read_stream(&stream, f[0]);
        start_timed(&timed, &arena, shape(size, ways, bytes), &f[1]);
        timed_run(&timed, &stream, false);
        assert_int_equal(strlen(f[5]), OUTCOMES);
        for (unsigned i = 0; i < OUTCOMES; i++)
            if (timed.outcomes[i] != f[5][i])
                fail_msg("%s %s: access %u is %c, not %c", f[0], f[4], i, timed.outcomes[i], f[5][i]);
        arena_free(&arena);
    }
    fclose(in);
    assert_int_equal(rows, 6 * 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cache_equals_the_table_in_every_column),
        cmocka_unit_test(every_access_hits_or_misses_as_in_the_table),
        cmocka_unit_test(sectors_equal_the_table),
        cmocka_unit_test(mshr_equals_the_table_when_asked_every_cycle),
        cmocka_unit_test(mshr_equals_the_table_when_woken),
        cmocka_unit_test(mshr_outcomes_equal_the_table),
    };
    return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
