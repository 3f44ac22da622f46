/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of counts against a list that is searched, and the table behind it against one that is aged by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>
#include <string.h>

#include "base/heap.h"
#include "base/rng.h"

enum { KEYS = 200 };

static void check_order(const struct heap *heap) {
    for (unsigned i = 1; i < heap->count; i++)
        assert_true(heap->entries[(i - 1) / 2].count >= heap->entries[i].count);
    for (unsigned i = 0; i < heap->count; i++)
        assert_int_equal(assoc_find(&heap->places, heap->entries[i].key), i);
}

static unsigned levels_of(unsigned count) {
    unsigned levels = 0;
    for (; count > 1; count /= 2)
        levels++;
    return levels;
}

/* Counts by key in a plain array: what is popped has the largest, and exactly what was put in. */
static void pops_the_largest_count(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        const unsigned capacity = 1 + (unsigned)(seed * 5);
        struct arena arena = {0};
        struct rng rng;
        struct heap heap;
        uint32_t counts[KEYS] = {0};
        unsigned held = 0, refused = 0;
        rng_seed(&rng, seed);
        /* every second with a table of four ways that is sometimes full before the heap is */
        heap_create(&heap, &arena, capacity, KEYS, seed % 2 ? 64 : 0, 4);
        for (unsigned n = 0; n < 4000; n++) {
            const uint32_t key = (uint32_t)rng_below(&rng, KEYS);
            if (rng_below(&rng, 3) || !held) {
                if (!heap_has_room(&heap, key)) {
                    assert_int_equal(counts[key], 0);
                    assert_true(held == capacity || seed % 2);
                    refused++;
                    continue;
                }
                const uint32_t more = 1 + (uint32_t)rng_below(&rng, 32);
                held += !counts[key];
                counts[key] += more;
                assert_true(heap_add(&heap, key, more) <= levels_of(held));
            } else {
                struct heap_entry root;
                uint32_t most = 0;
                for (unsigned i = 0; i < KEYS; i++)
                    most = counts[i] > most ? counts[i] : most;
                assert_true(heap_pop(&heap, &root) <= levels_of(held - 1));
                assert_int_equal(root.count, most);
                assert_int_equal(root.count, counts[root.key]);
                counts[root.key] = 0;
                held--;
            }
            assert_int_equal(heap.count, held);
            check_order(&heap);
        }
        assert_true(heap.largest <= capacity && heap.places.largest <= (seed % 2 ? 64 : KEYS));
        assert_true(refused > 0 || capacity > KEYS / 3);
        arena_free(&arena);
    }
}

/* An entry that grew goes past its equals: a heap in hardware stops only at a larger parent. */
static void equals_are_passed(void **state) {
    (void)state;
    struct arena arena = {0};
    struct heap heap;
    struct heap_entry root;
    heap_create(&heap, &arena, 4, 4, 0, 0);
    assert_int_equal(heap_add(&heap, 0, 5), 0);
    assert_int_equal(heap_add(&heap, 1, 4), 0);
    assert_int_equal(heap_add(&heap, 1, 1), 1);
    assert_int_equal(heap_pop(&heap, &root), 0);
    assert_int_equal(root.key, 1);
    arena_free(&arena);
}

static void table_loses_what_was_not_used_for_longest(void **state) {
    (void)state;
    enum { ENTRIES = 12, WAYS = 3, SETS = ENTRIES / WAYS };
    struct arena arena = {0};
    struct assoc table;
    struct rng rng;
    struct {
        uint32_t key;
        uint16_t value;
    } model[SETS][WAYS]; /* the most recent first */
    unsigned held[SETS] = {0}, evictions = 0;
    rng_seed(&rng, 7);
    assoc_create(&table, &arena, KEYS, ENTRIES, WAYS);
    for (unsigned n = 0; n < 5000; n++) {
        const uint32_t key = (uint32_t)rng_below(&rng, 40), set = key % SETS;
        unsigned at = 0;
        while (at < held[set] && model[set][at].key != key)
            at++;
        assert_int_equal(assoc_find(&table, key), at < held[set] ? model[set][at].value : ASSOC_NONE);
        assert_int_equal(assoc_has_room(&table, key), at < held[set] || held[set] < WAYS);
        if (rng_below(&rng, 4) == 0) {
            assoc_remove(&table, key);
            if (at < held[set])
                memmove(&model[set][at], &model[set][at + 1], (--held[set] - at) * sizeof model[0][0]);
            continue;
        }
        const bool evicts = at == held[set] && held[set] == WAYS;
        evictions += evicts;
        assert_int_equal(assoc_put(&table, key, (uint16_t)n), evicts);
        at = evicts ? WAYS - 1 : at;
        held[set] += at == held[set];
        memmove(&model[set][1], &model[set][0], at * sizeof model[0][0]);
        model[set][0].key = key, model[set][0].value = (uint16_t)n;
    }
    assert_true(evictions > 500);
    assert_int_equal(table.largest, ENTRIES);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pops_the_largest_count),
        cmocka_unit_test(equals_are_passed),
        cmocka_unit_test(table_loses_what_was_not_used_for_longest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
