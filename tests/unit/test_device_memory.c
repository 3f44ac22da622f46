/* SPDX-License-Identifier: Apache-2.0 */
/* exec/memory.h: allocations given back and taken again. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hole_is_taken_again_and_zero),
        cmocka_unit_test(what_is_free_at_the_end_is_room_for_anything),
        cmocka_unit_test(random_lives_never_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
