/* Mechanisms that dissolve groups, driven by scripted outcomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bits.h"
#include "divergence/divergence.h"

enum { CODE = 64, THREADS_MAX = 64 };

struct fixture {
    struct arena arena;
    struct inst code[CODE];
    const struct divergence_ops *ops;
    void *self;
    uint64_t slots; /* that offer something, by what the mechanism answered */
    unsigned groups, threads;
    uint32_t last_pc;
};

static void look(struct fixture *f, uint64_t changed) {
    for (; changed; changed &= changed - 1) {
        struct group group;
        const unsigned slot = bits_first64(changed);
        f->slots &= ~(UINT64_C(1) << slot);
        f->slots |= (uint64_t)f->ops->offer(f->self, slot, &group) << slot;
    }
}

static void setup(struct fixture *f, const char *name, unsigned warps, unsigned warp_size, unsigned warps_per_block) {
    memset(f, 0, sizeof *f);
    f->ops = divergence_find(name);
    assert_non_null(f->ops);
    const struct divergence_shape shape = {.code = f->code,
                                           .code_count = CODE,
                                           .warps = warps,
                                           .warp_size = warp_size,
                                           .warps_per_block = warps_per_block,
                                           .schedulers = 1};
    f->self = f->ops->create(&f->arena, &shape);
}

static void start(struct fixture *f, unsigned warp, uint32_t pc, uint32_t lanes) {
    look(f, f->ops->start(f->self, warp, pc, lanes));
}

/* The slot that offers the smallest PC; among equals the oldest. */
static unsigned smallest(struct fixture *f, struct group *out) {
    uint64_t best = 0;
    uint32_t pc = UINT32_MAX;
    assert_true(f->slots != 0);
    for (uint64_t rest = f->slots; rest; rest &= rest - 1) {
        assert_true(f->ops->offer(f->self, bits_first64(rest), out));
        if (out->pc < pc)
            best = 0, pc = out->pc;
        if (out->pc == pc)
            best |= rest & -rest;
    }
    const unsigned slot = f->ops->pick(f->self, best);
    assert_true(f->ops->offer(f->self, slot, out));
    return slot;
}

/* Issues the group of a slot; each of its threads goes to next[thread], NO_PC: it ends. All come back at once. */
static void issue(struct fixture *f, unsigned slot, const struct group *offered, const uint32_t *next) {
    struct executed executed = {.flow = FLOW_MULTI, .pc = offered->pc, .issues = 1, .lanes = offered->lanes};
    uint16_t threads[LANES_MAX];
    const struct group group = *offered;
    uint32_t back = 0;
    for (BITS_EACH(lane, group.lanes)) {
        threads[lane] = group.threads[lane];
        executed.next[lane] = next[threads[lane]];
        if (next[threads[lane]] == NO_PC)
            executed.flow = FLOW_EXIT, executed.taken |= UINT32_C(1) << lane;
        else
            back |= UINT32_C(1) << lane;
    }
    f->groups++;
    f->threads += bits_count(group.lanes);
    f->last_pc = group.pc;
    look(f, f->ops->issued(f->self, slot, &group, &executed));
    if (back)
        look(f, f->ops->returned(f->self, threads, back));
}

/* [000 fig. 4.1] Two warps of four, x and y; thread 1 is the first lane: A 1111/1111, B 1110/0011, C 1000/0010,
 * D 0110/0001, E 1110/0011, F 0001/1100, G 1111/1111. */
static void dwf_forms_the_warps_of_the_published_example(void **state) {
    (void)state;
    enum { A, B, C, D, E, F, G, END = -1 };
    static const int paths[8][6] = {{A, B, C, E, G, END}, {A, B, D, E, G, END}, {A, B, D, E, G, END},
                                    {A, F, G, END},       {A, F, G, END},       {A, F, G, END},
                                    {A, B, C, E, G, END}, {A, B, D, E, G, END}};
    struct fixture f;
    setup(&f, "dwf", 2, 4, 2);
    start(&f, 0, A, 0xf);
    start(&f, 1, A, 0xf);
    unsigned at[8] = {0};
    while (f.slots) {
        struct group group;
        uint32_t next[8];
        const unsigned slot = smallest(&f, &group);
        for (BITS_EACH(lane, group.lanes)) {
            const unsigned thread = group.threads[lane];
            assert_int_equal(group.pc, paths[thread][at[thread]]);
            assert_int_equal(thread % 4, lane);
            next[thread] = (uint32_t)paths[thread][++at[thread]];
        }
        issue(&f, slot, &group, next);
    }
    assert_int_equal(f.groups, 11);
    assert_int_equal(f.threads, 34);
    assert_int_equal(f.ops->alive(f.self, 0) | f.ops->alive(f.self, 1), 0);
    arena_free(&f.arena);
}

/* [002 §3.2.1] A warp 1100 in the pool, 1010 comes: 1110 and a new 1000; the next arrival joins only the younger. */
static void dwf_lane_conflict_starts_new_warp(void **state) {
    (void)state;
    struct fixture f;
    struct group group;
    setup(&f, "dwf", 3, 4, 3);
    start(&f, 0, 5, 0x3);
    start(&f, 1, 5, 0x5);
    assert_int_equal(bits_count((uint32_t)f.slots), 2);
    unsigned slot = f.ops->pick(f.self, f.slots);
    assert_true(f.ops->offer(f.self, slot, &group));
    assert_int_equal(group.lanes, 0x7);
    assert_int_equal(group.threads[2], 6);
    start(&f, 2, 5, 0xc); /* lane 2 of the older is taken, lane 3 would be free there: both go to the younger */
    const unsigned younger = bits_first64(f.slots & ~(UINT64_C(1) << slot));
    assert_int_equal(bits_count((uint32_t)f.slots), 2);
    assert_true(f.ops->offer(f.self, slot, &group));
    assert_int_equal(group.lanes, 0x7);
    assert_true(f.ops->offer(f.self, younger, &group));
    assert_int_equal(group.lanes, 0xd);
    assert_int_equal(group.threads[0], 4);
    assert_int_equal(group.threads[3], 11);
    arena_free(&f.arena);
}

static void dwf_keeps_blocks_apart(void **state) {
    (void)state;
    struct fixture f;
    setup(&f, "dwf", 2, 4, 1);
    start(&f, 0, 5, 0x3);
    start(&f, 1, 5, 0xc);
    assert_int_equal(bits_count((uint32_t)f.slots), 2);
    arena_free(&f.arena);
}

/* More groups than slots: the oldest stand in them, and all issue in the order in which they were begun. */
static void dwf_queues_behind_its_slots(void **state) {
    (void)state;
    struct fixture f;
    setup(&f, "dwf", 96, 1, 96);
    for (unsigned warp = 0; warp < 96; warp++)
        start(&f, warp, 5, 1);
    assert_true(f.slots == UINT64_MAX);
    uint32_t next[96];
    memset(next, 0xff, sizeof next);
    for (unsigned warp = 0; warp < 96; warp++) {
        struct group group;
        const unsigned slot = f.ops->pick(f.self, f.slots);
        assert_true(f.ops->offer(f.self, slot, &group));
        assert_int_equal(group.threads[0], warp);
        issue(&f, slot, &group, next);
    }
    assert_true(f.slots == 0);
    arena_free(&f.arena);
}

/* The lanes that slots offer, by PC; a PC that several offer fails. */
static uint32_t lanes_at(struct fixture *f, uint32_t pc) {
    uint32_t lanes = 0;
    for (uint64_t rest = f->slots; rest; rest &= rest - 1) {
        struct group group;
        assert_true(f->ops->offer(f->self, bits_first64(rest), &group));
        if (group.pc != pc)
            continue;
        assert_int_equal(lanes, 0);
        lanes = group.lanes;
    }
    return lanes;
}

static unsigned slot_at(struct fixture *f, uint32_t pc, struct group *out) {
    for (uint64_t rest = f->slots; rest; rest &= rest - 1)
        if (f->ops->offer(f->self, bits_first64(rest), out) && out->pc == pc)
            return bits_first64(rest);
    fail_msg("no slot offers PC %u", (unsigned)pc);
    return 0;
}

/* [000 fig. 3.1] The four threads of the example of stacks: B 1110, F 0001, C 1000, D 0110. They never join, so that E and
 * G are executed once by every group that parted. Thread 1 is the first lane. */
static void nrec_splits_for_good(void **state) {
    (void)state;
    enum { A, B, C, D, E, F, G };
    struct fixture f;
    struct group group;
    setup(&f, "nrec", 1, 4, 1);
    start(&f, 0, A, 0xf);
    assert_int_equal(lanes_at(&f, A), 0xf);
    issue(&f, slot_at(&f, A, &group), &group, (const uint32_t[]){B, B, B, F});
    assert_int_equal(lanes_at(&f, B), 0x7);
    assert_int_equal(lanes_at(&f, F), 0x8);
    issue(&f, slot_at(&f, B, &group), &group, (const uint32_t[]){C, D, D, F});
    assert_int_equal(lanes_at(&f, C), 0x1);
    assert_int_equal(lanes_at(&f, D), 0x6);
    issue(&f, slot_at(&f, C, &group), &group, (const uint32_t[]){E, D, D, F});
    issue(&f, slot_at(&f, D, &group), &group, (const uint32_t[]){E, E, E, F});
    const unsigned slot = slot_at(&f, E, &group);
    uint32_t at_e = group.lanes;
    f.slots &= ~(UINT64_C(1) << slot);
    at_e = at_e << 8 | lanes_at(&f, E); /* two groups at E */
    f.slots |= UINT64_C(1) << slot;
    assert_true(at_e == 0x106 || at_e == 0x601);
    for (unsigned i = 0; i < 2; i++)
        issue(&f, slot_at(&f, E, &group), &group, (const uint32_t[]){G, G, G, F});
    issue(&f, slot_at(&f, F, &group), &group, (const uint32_t[]){G, G, G, G});
    assert_int_equal(bits_count64(f.slots), 3);
    for (unsigned i = 0; i < 3; i++)
        issue(&f, slot_at(&f, G, &group), &group, (const uint32_t[]){NO_PC, NO_PC, NO_PC, NO_PC});
    assert_true(f.slots == 0);
    assert_int_equal(f.groups, 10); /* A B C D E E F G G G */
    assert_int_equal(f.threads, 4 + 3 + 1 + 2 + 3 + 1 + 4);
    assert_int_equal(f.ops->alive(f.self, 0), 0);
    arena_free(&f.arena);
}

/* Two groups of a warp come back from a barrier in one call, a third group thread by thread: each goes on as it was. */
static void nrec_groups_outlive_barriers_and_loads(void **state) {
    (void)state;
    struct fixture f;
    struct group group;
    setup(&f, "nrec", 1, 8, 1);
    start(&f, 0, 1, 0xff);
    issue(&f, slot_at(&f, 1, &group), &group, (const uint32_t[]){2, 2, 2, 4, 4, 6, 6, 6});
    for (uint32_t pc = 2; pc <= 6; pc += 2) {
        const unsigned slot = slot_at(&f, pc, &group);
        struct executed all = {.flow = FLOW_BRANCH, .pc = pc, .lanes = group.lanes, .taken = group.lanes, .target = 9};
        look(&f, f.ops->issued(f.self, slot, &group, &all));
    }
    assert_true(f.slots == 0);
    const uint16_t threads[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    look(&f, f.ops->returned(f.self, threads, 0x1f)); /* 1110 0000 and 0001 1000 */
    assert_int_equal(bits_count64(f.slots), 2);
    look(&f, f.ops->returned(f.self, threads, 0x20));
    look(&f, f.ops->returned(f.self, threads, 0x80));
    assert_int_equal(bits_count64(f.slots), 2); /* the third is not whole yet */
    look(&f, f.ops->returned(f.self, threads, 0x40));
    assert_int_equal(bits_count64(f.slots), 3);
    uint32_t seen = 0;
    for (uint64_t rest = f.slots; rest; rest &= rest - 1) {
        assert_true(f.ops->offer(f.self, bits_first64(rest), &group));
        assert_int_equal(group.pc, 9);
        assert_true(group.lanes == 0x07 || group.lanes == 0x18 || group.lanes == 0xe0);
        seen |= group.lanes;
    }
    assert_int_equal(seen, 0xff);
    arena_free(&f.arena);
}

/* Every thread on its own: as many groups as threads, more than there are slots. */
static void nrec_can_have_a_group_for_every_thread(void **state) {
    (void)state;
    struct fixture f;
    struct group group;
    uint32_t next[96];
    setup(&f, "nrec", 3, 32, 3);
    for (unsigned i = 0; i < 96; i++)
        next[i] = i % 32;
    for (unsigned warp = 0; warp < 3; warp++)
        start(&f, warp, 40, UINT32_MAX);
    for (unsigned warp = 0; warp < 3; warp++)
        issue(&f, slot_at(&f, 40, &group), &group, next);
    assert_true(f.slots == UINT64_MAX);
    memset(next, 0xff, sizeof next);
    unsigned issued = 0;
    for (; f.slots; issued++) {
        const unsigned slot = bits_first64(f.slots);
        assert_true(f.ops->offer(f.self, slot, &group));
        assert_int_equal(bits_count(group.lanes), 1);
        issue(&f, slot, &group, next);
    }
    assert_int_equal(issued, 96);
    arena_free(&f.arena);
}

/* Any ready threads fill the lanes: groups of one PC each, lanes of their own, the next turn goes on behind the last. */
static void mimd_bundles_fill_the_lanes(void **state) {
    (void)state;
    struct fixture f;
    struct group group;
    setup(&f, "mimd", 3, 4, 3);
    start(&f, 0, 5, 0x3);
    start(&f, 1, 9, 0x1);
    start(&f, 2, 5, 0xf);
    assert_int_equal(f.slots, 1);
    assert_true(f.ops->offer(f.self, 0, &group));
    assert_int_equal(group.pc, 5);
    assert_int_equal(group.lanes, 0xb); /* threads 0, 1 and 8; 4 is at another PC */
    assert_int_equal(group.threads[3], 8);
    struct executed executed = {.flow = FLOW_NEXT, .pc = 5, .issues = 1, .lanes = group.lanes};
    f.ops->issued(f.self, 0, &group, &executed);
    assert_true(f.ops->more(f.self, 0, &group));
    assert_int_equal(group.pc, 9);
    assert_int_equal(group.lanes, 0x4);
    assert_int_equal(group.threads[2], 4);
    assert_false(f.ops->more(f.self, 0, &group)); /* no room for it: it is offered again */
    assert_true(f.ops->offer(f.self, 0, &group));
    assert_int_equal(group.threads[bits_first(group.lanes)], 9);
    assert_int_equal(group.lanes, 0x7);
    assert_true(f.ops->more(f.self, 0, &group));
    assert_int_equal(group.pc, 9);
    assert_int_equal(group.lanes, 0x8);
    arena_free(&f.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dwf_forms_the_warps_of_the_published_example),
        cmocka_unit_test(dwf_lane_conflict_starts_new_warp),
        cmocka_unit_test(dwf_keeps_blocks_apart),
        cmocka_unit_test(dwf_queues_behind_its_slots),
        cmocka_unit_test(nrec_splits_for_good),
        cmocka_unit_test(nrec_groups_outlive_barriers_and_loads),
        cmocka_unit_test(nrec_can_have_a_group_for_every_thread),
        cmocka_unit_test(mimd_bundles_fill_the_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
