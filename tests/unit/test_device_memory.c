/* SPDX-License-Identifier: Apache-2.0 */
/* exec/memory.h: allocations given back and taken again, and at places of the caller's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "exec/memory.h"

enum { CAPACITY_BYTES = 1 << 20 };

struct fixture {
    struct arena arena;
    struct memory memory;
};

static uint64_t take(struct fixture *f, uint64_t bytes) {
    uint64_t address = 0;
    assert_int_equal(memory_allocate(&f->memory, "a", bytes, &address, NULL), STATUS_OK);
    return address;
}

static void open_memory(struct fixture *f) {
    *f = (struct fixture){0};
    assert_int_equal(memory_create(&f->memory, &f->arena, CAPACITY_BYTES, 0, NULL), STATUS_OK);
}

static void close_memory(struct fixture *f) {
    memory_destroy(&f->memory);
    arena_free(&f->arena);
}

static void a_hole_is_taken_again_and_zero(void **state) {
    (void)state;
    struct fixture f;
    open_memory(&f);
    const uint64_t a = take(&f, 100), b = take(&f, 20000), c = take(&f, 1);
    memset(memory_host(&f.memory, b), 0x5a, 20000);
    memory_free(&f.memory, b);
    assert_null(memory_find(&f.memory, b));
    assert_ptr_equal(memory_find(&f.memory, c), &f.memory.allocations.items[1]);
    assert_true(take(&f, 30000) > c); /* too large for it */
    const uint64_t again = take(&f, 19000);
    assert_int_equal(again, b);
    for (unsigned i = 0; i < 19000; i++)
        assert_int_equal(memory_host(&f.memory, again)[i], 0);
    memory_free(&f.memory, a);
    assert_int_equal(take(&f, 0), a);
    close_memory(&f);
}

static void what_is_free_at_the_end_is_room_for_anything(void **state) {
    (void)state;
    struct fixture f;
    open_memory(&f);
    for (unsigned round = 0; round < 100; round++) { /* would not fit twice */
        const uint64_t all = take(&f, CAPACITY_BYTES - 512), rest = take(&f, 512);
        uint64_t address;
        assert_int_equal(memory_allocate(&f.memory, "b", 1, &address, NULL), STATUS_INVALID);
        memory_free(&f.memory, round & 1 ? all : rest);
        memory_free(&f.memory, round & 1 ? rest : all);
    }
    assert_int_equal(f.memory.used_bytes, 0);
    assert_int_equal(f.memory.freed_bytes, 0);
    close_memory(&f);
}

/* Whatever comes and goes, allocations are apart, in order and found. */
static void random_lives_never_overlap(void **state) {
    (void)state;
    enum { LIVES = 60, STEPS = 5000 };
    struct fixture f;
    open_memory(&f);
    uint64_t addresses[LIVES] = {0};
    struct rng rng;
    rng_seed(&rng, 7);
    for (unsigned step = 0; step < STEPS; step++) {
        const unsigned i = (unsigned)(rng_below(&rng, LIVES));
        if (addresses[i])
            memory_free(&f.memory, addresses[i]);
        addresses[i] = addresses[i] ? 0 : take(&f, rng_below(&rng, 5000));
        for (unsigned k = 1; k < f.memory.allocations.count; k++) {
            const struct allocation *one = &f.memory.allocations.items[k - 1];
            assert_true(one->end <= one[1].start && one->start < one[1].start);
        }
    }
    close_memory(&f);
}

static enum status place(struct fixture *f, uint64_t address, uint64_t bytes) {
    return memory_allocate_at(&f->memory, "p", bytes, address, NULL);
}

static void places_are_taken_once_and_inside_memory(void **state) {
    (void)state;
    struct fixture f;
    open_memory(&f);
    const uint64_t base = GLOBAL_BASE;
    assert_int_equal(place(&f, base + 5000, 300), STATUS_OK);
    assert_int_equal(place(&f, base + 5300, 7), STATUS_OK); /* right behind it */
    assert_int_equal(place(&f, base + 4000, 1000), STATUS_OK);
    assert_int_equal(place(&f, base + 5299, 1), STATUS_INVALID);
    assert_int_equal(place(&f, base + 3000, 1001), STATUS_INVALID);
    assert_int_equal(place(&f, base + 4500, 1), STATUS_INVALID);
    assert_int_equal(place(&f, base - 1, 1), STATUS_INVALID);
    assert_int_equal(place(&f, 0, 1), STATUS_INVALID);
    assert_int_equal(place(&f, base + CAPACITY_BYTES, 1), STATUS_INVALID);
    assert_int_equal(place(&f, base + CAPACITY_BYTES - 8, 9), STATUS_INVALID);
    assert_int_equal(place(&f, base + 8, UINT64_MAX), STATUS_INVALID);
    assert_int_equal(place(&f, base + CAPACITY_BYTES - 8, 8), STATUS_OK); /* all below is readable */
    for (uint64_t at = 0; at < CAPACITY_BYTES; at += 4096)
        assert_int_equal(memory_host(&f.memory, base)[at], 0);
    close_memory(&f);
}

/* Allocations without a place fill what is left between those with one, and nothing overlaps. */
static void what_has_no_place_goes_around(void **state) {
    (void)state;
    struct fixture f;
    struct rng rng;
    rng_seed(&rng, 11);
    open_memory(&f);
    for (unsigned i = 0; i < 60; i++)
        place(&f, GLOBAL_BASE + rng_below(&rng, CAPACITY_BYTES / 2), 1 + rng_below(&rng, 2000));
    for (unsigned i = 0; i < 60; i++) {
        uint64_t address = 0;
        if (memory_allocate(&f.memory, "a", 1 + rng_below(&rng, 5000), &address, NULL) == STATUS_OK)
            assert_int_equal(address % 256, 0);
    }
    uint64_t end = GLOBAL_BASE, taken = 0;
    for (unsigned i = 0; i < f.memory.allocations.count; i++) {
        const struct allocation *one = &f.memory.allocations.items[i];
        assert_true(one->start >= end && one->limit >= one->end);
        end = one->limit;
        taken += one->limit - one->start;
    }
    assert_true(f.memory.allocations.count > 70);
    assert_int_equal(f.memory.used_bytes, end - GLOBAL_BASE);
    assert_int_equal(f.memory.freed_bytes, f.memory.used_bytes - taken);
    while (f.memory.allocations.count)
        memory_free(&f.memory, f.memory.allocations.items[rng_below(&rng, f.memory.allocations.count)].start);
    assert_int_equal(f.memory.used_bytes, 0);
    assert_int_equal(f.memory.freed_bytes, 0);
    close_memory(&f);
}

static void ignore_written(void *self, uint64_t address, uint64_t bytes) { (void)self, (void)address, (void)bytes; }

/* With a listener what was given back is known for it, and taken again only where there is no other room. */
static void what_is_freed_is_kept_while_there_is_room(void **state) {
    (void)state;
    static const struct memory_listener listener = {.written = ignore_written};
    struct fixture f;
    open_memory(&f);
    f.memory.listener = &listener;
    const uint64_t a = take(&f, 1000), b = take(&f, 1000);
    memory_free(&f.memory, a);
    assert_null(memory_find(&f.memory, a));
    assert_true(memory_find_kept(&f.memory, a + 999) && !memory_find_kept(&f.memory, a + 1000));
    assert_true(take(&f, 1000) > b);
    memory_free(&f.memory, b);
    const uint64_t large = take(&f, CAPACITY_BYTES - 4096);
    assert_true(large > b && memory_find_kept(&f.memory, b));
    assert_int_equal(take(&f, 2000), a); /* the rest is too small */
    assert_null(memory_find_kept(&f.memory, b));
    close_memory(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hole_is_taken_again_and_zero),
        cmocka_unit_test(what_is_freed_is_kept_while_there_is_room),
        cmocka_unit_test(what_is_free_at_the_end_is_room_for_anything),
        cmocka_unit_test(random_lives_never_overlap),
        cmocka_unit_test(places_are_taken_once_and_inside_memory),
        cmocka_unit_test(what_has_no_place_goes_around),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
