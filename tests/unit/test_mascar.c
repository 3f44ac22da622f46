/* SPDX-License-Identifier: Apache-2.0 */
/* Mascar: who issues while memory is saturated, pick by pick; its laws in time. */
#include "timed_programs.h"

#include "random_bits.h"
#include "scheduler_fixture.h"

#include "gpu/gpu.h"

static unsigned pick(struct scheduled *s, slot_set ready, slot_set loads, slot_set stores, slot_set stalled) {
    const struct scheduler_view view = {
        .ready = ready, .loads = loads, .stores = stores, .stalled = stalled, .older = s->older};
    return s->ops->pick(s->self, &view);
}

static void the_owner_alone_goes_to_memory(void **state) {
    (void)state;
    struct scheduled s;
    scheduled_open(&s, "mascar", NULL, 0, SETTINGS("mascar.mshrs=8", "mascar.places=1"));
    s.mshrs = 8, s.room = 1;
    assert_int_equal(pick(&s, 0x3c, 0x3c, 0, 0), 2); /* as gto */
    assert_int_equal(pick(&s, 0x38, 0x38, 0, 0x04), 3);
    s.mshrs = 7;
    assert_int_equal(pick(&s, 0xf0, 0x30, 0, 0), 6);                 /* computes first; 4 is the owner */
    assert_int_equal(pick(&s, 0x3c, 0x38, 0x04, 0), 4);              /* also before those that are older */
    assert_int_equal(pick(&s, 0x2c, 0x28, 0x04, 0), SCHEDULER_NONE); /* it computes, soon */
    assert_int_equal(pick(&s, 0x2c, 0x28, 0x04, 0x10), 2);           /* it waits for its data: the oldest is the next */
    assert_int_equal(pick(&s, 0x3c, 0x38, 0x04, 0), 2);
    s.mshrs = 8, s.room = 0;
    assert_int_equal(pick(&s, 0x38, 0x38, 0x00, 0), SCHEDULER_NONE);
    s.room = 1; /* not saturated: nobody is owner any more */
    assert_int_equal(pick(&s, 0x38, 0x38, 0x00, 0), 3);
    s.room = 0;
    assert_int_equal(pick(&s, 0x30, 0x30, 0x00, 0), 4);
    assert_int_equal(scheduled_counter(&s, "owners"), 3);
    assert_int_equal(scheduled_counter(&s, "held"), 2);
    assert_int_equal(scheduled_counter(&s, "saturated"), 7);
    assert_int_equal(scheduled_counter(&s, "owned"), 4);
    scheduled_close(&s);
}

/* Of a period, from the begin of saturation or the change of owner to the next, only one warp issues memory instructions. */
static void one_warp_a_period(void **state) {
    (void)state;
    struct scheduled s;
    uint64_t owners = 0;
    unsigned owner = SCHEDULER_NONE;
    random_state = 3;
    scheduled_open(&s, "mascar", NULL, 0, NULL);
    for (unsigned step = 0; step < 50000; step++) {
        const uint64_t random = random_bits();
        const slot_set ready = (random & 0xff) ? random & 0xff : 2, loads = ready & random >> 8,
                       stores = ready & random >> 16;
        const slot_set stalled = ~ready & random >> 24 & 0xff, memory = loads | stores;
        const bool saturated = random >> 34 & 7;
        s.mshrs = saturated && random >> 37 & 1 ? 31 : 32, s.room = saturated && s.mshrs == 32 ? 0 : 1;
        const unsigned picked = pick(&s, ready, loads, stores, stalled);
        if (!saturated || (owner != SCHEDULER_NONE && set_has(stalled, owner)))
            owner = SCHEDULER_NONE;
        if (!saturated) {
            assert_true(picked != SCHEDULER_NONE);
            continue;
        }
        if (owner == SCHEDULER_NONE && memory)
            owner = set_oldest(memory, s.older), owners++;
        if (ready & ~memory)
            assert_true(set_has(ready & ~memory, picked));
        else
            assert_int_equal(picked, set_has(memory, owner) ? owner : SCHEDULER_NONE);
    }
    assert_int_equal(scheduled_counter(&s, "owners"), owners);
    scheduled_close(&s);
}

#define MACHINE "base: gtx480\nsm.count: 4\n" LIMIT

static void never_saturated_is_greedy_then_oldest(void **state) {
    (void)state;
    expect_same(MACHINE "sm.scheduler: gto\n", MACHINE "sm.scheduler: mascar\nmascar.mshrs: 0\nmascar.places: 0\n",
                "gto and mascar");
}

static void memory_is_that_of_the_functional_run(void **state) {
    (void)state;
    uint64_t held = 0;
    for (unsigned i = 0; i < PROGRAMS; i++) {
        struct fixture timed, plain;
        static const char settings[] = "base: gtx480\nsm.count: 2\nsm.scheduler: mascar\nmascar.mshrs: 60\n" LIMIT;
        open_machine(&timed, settings);
        open_machine(&plain, settings);
        load(&timed, programs[i].text);
        load(&plain, programs[i].text);
        expect_ok(&timed, &programs[i], true);
        expect_ok(&plain, &programs[i], false);
        assert_memory_equal(timed.memory, plain.memory, WORDS * sizeof(uint32_t));
        check_books(&timed, programs[i].name);
        const struct gpu_stats *stats = timed.result.timed;
        assert_int_equal(own_counter(stats->own[OWN_SCHEDULER], stats->own_stats[OWN_SCHEDULER], "held"),
                         stats->sm.stall_scheduler);
        held += stats->sm.stall_scheduler;
        finish(&timed);
        finish(&plain);
    }
    assert_true(held > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_owner_alone_goes_to_memory),
        cmocka_unit_test(one_warp_a_period),
        cmocka_unit_test(never_saturated_is_greedy_then_oldest),
        cmocka_unit_test(memory_is_that_of_the_functional_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
