/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic warp formation, driven by scripted outcomes: what it forms, what issues first, and what its limits do. */
#include "regroup_fixture.h"

#include "base/rng.h"

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
    const unsigned slot = f->ops->forming->pick(f->self, best);
    assert_true(f->ops->offer(f->self, slot, out));
    return slot;
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
    unsigned slot = f.ops->forming->pick(f.self, f.slots);
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

/* A group of threads of two warps, on its way to one PC and, from a branch, to two: where they stand is known in the
 * pool and out of it. */
static void dwf_knows_where_threads_stand(void **state) {
    (void)state;
    struct fixture f;
    struct group group;
    setup(&f, "dwf", 2, 4, 2);
    start(&f, 0, 5, 0x3);
    start(&f, 1, 5, 0xc);
    const uint16_t threads[LANES_MAX] = {0, 1, 6, 7};
    const struct executed straight = {.flow = FLOW_NEXT, .pc = 5, .issues = 1, .lanes = 0xf};
    const struct executed diverging = {
        .flow = FLOW_BRANCH, .pc = 6, .issues = 1, .lanes = 0xf, .taken = 0x5, .target = 20};
    static const uint32_t expected[][4] = {{6, 6, 6, 6}, {6, 6, 6, 6}, {20, 7, 20, 7}, {20, 7, 20, 7}};
    for (unsigned i = 0; i < 4; i++) {
        uint32_t pcs[2][LANES_MAX] = {{0}};
        if (i % 2)
            look(&f, f.ops->forming->returned(f.self, threads, 0xf));
        else
            look(&f, f.ops->issued(f.self, slot_at(&f, i ? 6 : 5, &group), &group, i ? &diverging : &straight));
        f.ops->where(f.self, 0, pcs[0]);
        f.ops->where(f.self, 1, pcs[1]);
        for (unsigned lane = 0; lane < 4; lane++)
            assert_int_equal(pcs[lane / 2][lane], expected[i][lane]);
    }
    assert_int_equal(lanes_at(&f, 20), 0x5);
    assert_int_equal(lanes_at(&f, 7), 0xa);
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
        const unsigned slot = f.ops->forming->pick(f.self, f.slots);
        assert_true(f.ops->offer(f.self, slot, &group));
        assert_int_equal(group.threads[0], warp);
        issue(&f, slot, &group, next);
    }
    assert_true(f.slots == 0);
    arena_free(&f.arena);
}

static uint64_t counter(const struct fixture *f, const char *name) {
    return own_counter(&f->ops->own, f->ops->own.statistics(f->self), name);
}

/* Time passes to the next cycle. */
static void tick(struct fixture *f) {
    f->now++;
    if (f->wake > f->now)
        return;
    f->wake = UINT64_MAX;
    look(f, f->ops->forming->advance(f->self));
}

/* ---- policies ---- */

/* Warps of four in one block; the groups in the order in which they came: 30 (4 threads), 10 (1), 20 (4 and 4), 40 (1),
 * 50 (4 and 1: the lane is taken). The PCs in the order in which they issue; threads end. */
static void expect_order(const char *policy, const uint32_t pcs[7]) {
    struct fixture f;
    uint32_t next[28];
    unsigned last = 0;
    setup_with(&f, "dwf", 7, 4, 7, SETTINGS(policy));
    start(&f, 0, 30, 0xf);
    start(&f, 1, 10, 0x1);
    start(&f, 2, 20, 0xf);
    start(&f, 3, 20, 0xf);
    start(&f, 4, 40, 0x2);
    start(&f, 5, 50, 0xf);
    start(&f, 6, 50, 0x1);
    memset(next, 0xff, sizeof next);
    for (unsigned i = 0; i < 7; i++) {
        struct group group;
        const unsigned slot = f.ops->forming->pick(f.self, f.slots);
        assert_true(f.ops->offer(f.self, slot, &group));
        if (group.pc != pcs[i])
            fail_msg("%s: group %u is at %u, not %u", policy, i, (unsigned)group.pc, (unsigned)pcs[i]);
        const unsigned first = group.threads[bits_first(group.lanes)];
        if (i && pcs[i] == pcs[i - 1]) /* ties: the oldest, here that of the lower warp */
            assert_true(first > last);
        last = first;
        issue(&f, slot, &group, next);
    }
    assert_true(f.slots == 0);
    arena_free(&f.arena);
}

static void policies_pick_what_their_table_says(void **state) {
    (void)state;
    expect_order("dwf.policy=time", (const uint32_t[]){30, 10, 20, 20, 40, 50, 50});
    expect_order("dwf.policy=pc", (const uint32_t[]){10, 20, 20, 30, 40, 50, 50});
    /* 30 came first and is the majority until it is used up; 20 goes on although its 4 that are left are fewer than 5 */
    expect_order("dwf.policy=majority", (const uint32_t[]){30, 20, 20, 50, 50, 10, 40});
    expect_order("dwf.policy=minority", (const uint32_t[]){10, 40, 30, 50, 50, 20, 20});
}

static uint32_t picked_pc(struct fixture *f) {
    struct group group;
    const unsigned slot = f->ops->forming->pick(f->self, f->slots);
    if (slot == ISSUE_SLOTS_MAX)
        return NO_PC;
    assert_true(f->ops->offer(f->self, slot, &group));
    return group.pc;
}

/* The branch at 5 meets at 8; that at 6 goes there as well, but cannot part. */
static void pdom_priority_lets_those_behind_catch_up(void **state) {
    (void)state;
    struct fixture f;
    struct group group;
    memset(&f, 0, sizeof f);
    f.code[5] = (struct inst){.op = OP_BRA, .guard = 0, .target = 8, .reconverge = 8};
    f.code[6] = (struct inst){.op = OP_BRA, .guard = -1, .target = 8, .reconverge = 8};
    create(&f, "dwf", 3, 4, 3, SETTINGS("dwf.policy=pdom-priority"));
    start(&f, 0, 5, 0xf);
    start(&f, 1, 5, 0xf);
    uint32_t next[12] = {8, 8, 8, 6, 8, 8, 6, 6};
    issue(&f, slot_at(&f, 5, &group), &group, next);
    assert_int_equal(picked_pc(&f), 5); /* none passed; 8: one passed; 6: younger */
    issue(&f, slot_at(&f, 5, &group), &group, next);
    assert_int_equal(bits_count64(f.slots),
                     4); /* at 8 lanes 0-2 and 0-1, at 6 lane 3 and lanes 2-3 less the conflict */
    for (unsigned i = 0; i < 12; i++)
        next[i] = i < 8 ? 8 : 9;
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(picked_pc(&f), 6); /* though those at 8 are older */
        issue(&f, slot_at(&f, 6, &group), &group, next);
    }
    assert_int_equal(find_slot(&f, 6, &group), ISSUE_SLOTS_MAX);
    assert_int_equal(picked_pc(&f), 8);
    start(&f, 2, 10, 0x8); /* has executed no branch: younger, and yet the first */
    assert_int_equal(picked_pc(&f), 10);
    next[11] = 8; /* 8 is where a branch meets, but none that it executed: it comes without having passed one, and the
                   * group that it joins has its count */
    issue(&f, slot_at(&f, 10, &group), &group, next);
    bool is_in = false;
    assert_true(f.ops->offer(f.self, f.ops->forming->pick(f.self, f.slots), &group));
    for (BITS_EACH(lane, group.lanes))
        is_in |= group.threads[lane] == 11;
    assert_true(is_in);
    arena_free(&f.arena);
}

/* More groups than slots, several threads at each PC: whenever no group is left at the majority PC, the PC with most
 * threads follows, whether they stand in slots or queue behind them. */
static void majority_counts_those_behind_the_slots(void **state) {
    (void)state;
    enum { MANY = 200, PLACES = 40 };
    for (unsigned seed = 1; seed <= 10; seed++) {
        struct fixture f;
        struct rng rng;
        uint32_t next[MANY], majority = NO_PC;
        unsigned counts[PLACES] = {0}, waiting = MANY, most = 0;
        bool candidate[PLACES] = {false};
        rng_seed(&rng, seed);
        setup_with(&f, "dwf", MANY, 1, MANY, SETTINGS("dwf.policy=majority"));
        for (unsigned warp = 0; warp < MANY; warp++) {
            const uint32_t pc = (uint32_t)rng_below(&rng, PLACES);
            majority = warp ? majority : pc;
            counts[pc]++;
            start(&f, warp, pc, 1);
        }
        for (unsigned issued = 0; waiting; issued++) {
            struct group group;
            const unsigned slot = f.ops->forming->pick(f.self, f.slots);
            assert_true(slot < ISSUE_SLOTS_MAX);
            assert_true(f.ops->offer(f.self, slot, &group));
            if (majority == NO_PC) {
                assert_true(candidate[group.pc]);
                majority = group.pc;
            }
            assert_int_equal(group.pc, majority);
            waiting--, counts[majority]--;
            if (!counts[majority]) { /* before the one that issues comes back */
                for (unsigned i = most = 0; i < PLACES; i++)
                    most = counts[i] > most ? counts[i] : most;
                for (unsigned i = 0; i < PLACES; i++)
                    candidate[i] = counts[i] == most;
                majority = NO_PC;
            }
            const unsigned thread = group.threads[0];
            next[thread] = issued < 600 ? (uint32_t)rng_below(&rng, PLACES) : NO_PC;
            if (next[thread] != NO_PC)
                waiting++, counts[next[thread]]++;
            issue(&f, slot, &group, next);
        }
        arena_free(&f.arena);
    }
}

/* More groups than slots: the best are in the slots, whoever came first. */
static void policies_reach_behind_the_slots(void **state) {
    (void)state;
    struct fixture f;
    struct group group;
    uint32_t next[96];
    setup_with(&f, "dwf", 96, 1, 96, SETTINGS("dwf.policy=pc"));
    memset(next, 0xff, sizeof next);
    for (unsigned warp = 0; warp < 96; warp++)
        start(&f, warp, 60 - warp % 60, 1);
    unsigned issued = 0;
    for (uint32_t last = 0; f.slots; issued++, last = f.last_pc) {
        const unsigned slot = f.ops->forming->pick(f.self, f.slots);
        assert_true(f.ops->offer(f.self, slot, &group));
        assert_true(group.pc >= last);
        issue(&f, slot, &group, next);
    }
    assert_int_equal(issued, 96);
    arena_free(&f.arena);
}

/* ---- register files ---- */

static void register_files_place_threads(void **state) {
    (void)state;
    struct fixture f;
    struct group group;
    /* home lanes 0 and 1, then 0, 1 and 2: any lane will do */
    static const char *const files[] = {"dwf.register_file=ideal", "dwf.register_file=crossbar"};
    for (unsigned i = 0; i < 2; i++) {
        setup_with(&f, "dwf", 2, 4, 2, SETTINGS(files[i]));
        start(&f, 0, 5, 0x3);
        start(&f, 1, 5, 0x7);
        assert_int_equal(bits_count64(f.slots), 2);
        const unsigned slot = f.ops->forming->pick(f.self, f.slots);
        assert_true(f.ops->offer(f.self, slot, &group));
        assert_int_equal(group.lanes, 0xf);
        uint32_t seen = 0;
        for (BITS_EACH(lane, group.lanes))
            seen |= UINT32_C(1) << group.threads[lane];
        assert_int_equal(seen, 0x33);
        /* threads 0 and 4, and 1 and 5, have one home */
        assert_int_equal(f.ops->forming->turns(f.self, slot), i ? 2 : 1);
        const unsigned other = bits_first64(f.slots & ~(UINT64_C(1) << slot));
        assert_true(f.ops->offer(f.self, other, &group));
        assert_int_equal(bits_count(group.lanes), 1);
        assert_int_equal(f.ops->forming->turns(f.self, other), 1);
        assert_int_equal(counter(&f, "merges"), 1);
        assert_int_equal(counter(&f, "lane_conflicts"), 0);
        arena_free(&f.arena);
    }
    setup(&f, "dwf", 2, 4, 2);
    start(&f, 0, 5, 0x3);
    start(&f, 1, 5, 0x7);
    assert_int_equal(counter(&f, "lane_conflicts"), 2);
    arena_free(&f.arena);
}

/* Even threads of two warps at one PC: only when every second warp is swapped do they share a group [000 §4.1]. */
static void swizzling_lets_even_threads_share(void **state) {
    (void)state;
    struct fixture f;
    struct group group;
    for (unsigned swizzle = 0; swizzle < 2; swizzle++) {
        setup_with(&f, "dwf", 2, 4, 2, SETTINGS(swizzle ? "dwf.swizzle=true" : "dwf.swizzle=false"));
        start(&f, 0, 5, 0x5);
        start(&f, 1, 5, 0x5);
        assert_int_equal(bits_count64(f.slots), swizzle ? 1 : 2);
        assert_true(f.ops->offer(f.self, f.ops->forming->pick(f.self, f.slots), &group));
        assert_int_equal(group.lanes, swizzle ? 0xf : 0x5);
        if (swizzle) {
            assert_int_equal(group.threads[1], 4);
            assert_int_equal(group.threads[3], 6);
        }
        arena_free(&f.arena);
    }
}

/* ---- limits ---- */

/* One entry of the PC-warp table: the group of a PC that lost it grows no more. */
static void a_full_table_forgets_the_least_recently_used(void **state) {
    (void)state;
    struct fixture f;
    setup_with(&f, "dwf", 5, 4, 5, SETTINGS("dwf.lut_entries=2", "dwf.lut_ways=2"));
    start(&f, 0, 5, 0x1);
    start(&f, 1, 6, 0x1);
    start(&f, 2, 5, 0x2); /* joins, and uses the entry of 5 */
    assert_int_equal(bits_count64(f.slots), 2);
    start(&f, 3, 7, 0x1); /* 6 goes */
    assert_int_equal(counter(&f, "evictions"), 1);
    start(&f, 4, 6, 0x2); /* and this thread begins another group; 5 goes */
    assert_int_equal(counter(&f, "evictions"), 2);
    assert_int_equal(bits_count64(f.slots), 4);
    assert_int_equal(counter(&f, "lut_largest"), 2);
    arena_free(&f.arena);
}

static void a_full_pool_makes_arrivals_wait_in_order(void **state) {
    (void)state;
    struct fixture f;
    struct group group;
    uint32_t next[20];
    memset(next, 0xff, sizeof next);
    setup_with(&f, "dwf", 5, 4, 5, SETTINGS("dwf.pool_entries=2"));
    start(&f, 0, 5, 0xf);
    start(&f, 1, 6, 0xf);
    start(&f, 2, 7, 0x1); /* waits */
    start(&f, 3, 6, 0x1); /* its lane is taken: it would wait, were it not for the one before */
    start(&f, 4, 7, 0x2); /* waits behind both, and then joins the first */
    assert_int_equal(bits_count64(f.slots), 2);
    assert_int_equal(counter(&f, "stalled_write_backs"), 3);
    assert_int_equal(f.wake, 1);
    tick(&f);
    assert_int_equal(bits_count64(f.slots), 2);
    issue(&f, slot_at(&f, 5, &group), &group, next);
    tick(&f);
    assert_int_equal(lanes_at(&f, 7), 0x1);
    issue(&f, slot_at(&f, 6, &group), &group, next);
    tick(&f);
    assert_int_equal(lanes_at(&f, 7), 0x3);
    assert_int_equal(lanes_at(&f, 6), 0x1);
    assert_int_equal(f.wake, UINT64_MAX);
    assert_int_equal(counter(&f, "stalled_cycles"), 3);
    assert_int_equal(counter(&f, "pool_largest"), 2);
    arena_free(&f.arena);
}

/* Two ports: two arrivals a cycle. What is put into the heap rests a cycle later, and one more for every level that it
 * moves; until then it takes nothing and gives nothing, while groups at the majority PC go on. */
static void the_heap_takes_its_time(void **state) {
    (void)state;
    struct fixture f;
    struct group group;
    uint32_t next[36];
    memset(next, 0xff, sizeof next);
    setup_with(&f, "dwf", 9, 4, 9, SETTINGS("dwf.policy=majority", "dwf.ports=2"));
    start(&f, 0, 10, 0xf);
    assert_true(picked_pc(&f) == NO_PC); /* cycle 0: it is in the heap */
    assert_int_equal(f.wake, 1);
    tick(&f); /* cycle 1: it becomes the majority */
    assert_int_equal(picked_pc(&f), 10);
    start(&f, 1, 20, 0x1); /* the pop needs both ports */
    assert_int_equal(counter(&f, "stalled_write_backs"), 1);
    tick(&f); /* cycle 2: 20 goes into the heap, with one thread */
    assert_int_equal(counter(&f, "arrivals"), 2);
    start(&f, 2, 30, 0x7); /* the second port: 30 moves up a level, past 20; the heap rests in cycle 4 */
    assert_int_equal(counter(&f, "arrivals"), 3);
    start(&f, 3, 10, 0xf); /* no port is left, though this one needs no heap */
    assert_int_equal(counter(&f, "stalled_write_backs"), 2);
    tick(&f); /* cycle 3 */
    assert_int_equal(counter(&f, "arrivals"), 4);
    start(&f, 4, 20, 0x2); /* the heap is busy */
    assert_int_equal(counter(&f, "stalled_write_backs"), 3);
    issue(&f, slot_at(&f, 10, &group), &group, next); /* issue from the majority goes on */
    assert_int_equal(picked_pc(&f), 10);
    issue(&f, slot_at(&f, 10, &group), &group, next);
    assert_true(picked_pc(&f) == NO_PC); /* the majority is used up, and no pop now */
    tick(&f); /* cycle 4: the root, 30 with three threads; one entry is left, which moves nowhere */
    assert_int_equal(picked_pc(&f), 30);
    assert_int_equal(counter(&f, "arrivals"), 4); /* the pop has the ports */
    tick(&f);
    assert_int_equal(counter(&f, "arrivals"), 5);
    assert_int_equal(lanes_at(&f, 20), 0x3);
    assert_int_equal(counter(&f, "heap_largest"), 2);
    arena_free(&f.arena);
}

/* A pop that moves an entry down a level reads both its children: two ports do in a cycle, one in two. */
static void one_port_reads_two_children_in_two_cycles(void **state) {
    (void)state;
    static const char *const ports[] = {"dwf.ports=1", "dwf.ports=2"};
    for (unsigned i = 0; i < 2; i++) {
        struct fixture f;
        struct group group;
        uint32_t next[20];
        memset(next, 0xff, sizeof next);
        setup_with(&f, "dwf", 5, 4, 5, SETTINGS("dwf.policy=majority", ports[i]));
        static const uint32_t pcs[] = {10, 40, 30, 20}, lanes[] = {0xf, 0x7, 0x3, 0x1};
        for (unsigned warp = 0; warp < 4; warp++) { /* 10 is the majority; 40, 30 and 20 stand in the heap in order */
            start(&f, warp, pcs[warp], lanes[warp]);
            tick(&f), tick(&f);
            assert_int_equal(counter(&f, "arrivals"), warp + 1);
        }
        issue(&f, slot_at(&f, 10, &group), &group, next); /* 40 is popped, 20 takes its place and 30 that of 20 */
        assert_int_equal(picked_pc(&f), 40);
        start(&f, 4, 50, 0x1);
        unsigned cycles = 0;
        for (; counter(&f, "arrivals") < 5; cycles++)
            tick(&f);
        assert_int_equal(cycles, i ? 2 : 3);
        arena_free(&f.arena);
    }
}

static void a_full_heap_or_its_table_makes_arrivals_wait(void **state) {
    (void)state;
    static const char *const limits[] = {"dwf.heap_entries=1", "dwf.mheap_lut_entries=1"};
    for (unsigned i = 0; i < 2; i++) {
        struct fixture f;
        struct group group;
        uint32_t next[16];
        memset(next, 0xff, sizeof next);
        setup_with(&f, "dwf", 4, 4, 4, SETTINGS("dwf.policy=majority", limits[i]));
        start(&f, 0, 10, 0xf); /* the majority */
        start(&f, 1, 20, 0xf); /* in the heap */
        start(&f, 2, 30, 0xf); /* no room */
        start(&f, 3, 10, 0xf); /* behind it */
        assert_int_equal(counter(&f, "stalled_write_backs"), 2);
        issue(&f, slot_at(&f, 10, &group), &group, next); /* 20 is the majority, and the heap empty */
        tick(&f);
        assert_int_equal(counter(&f, "arrivals"), 3); /* 30 has the only place */
        assert_int_equal(picked_pc(&f), 20);
        issue(&f, slot_at(&f, 20, &group), &group, next);
        tick(&f);
        assert_int_equal(counter(&f, "arrivals"), 4);
        assert_int_equal(counter(&f, i ? "mheap_lut_largest" : "heap_largest"), 1);
        arena_free(&f.arena);
    }
}

/* ---- random scripts ---- */

enum { SCRIPT_WARPS = 8, SCRIPT_LANES = 8, SCRIPT_THREADS = SCRIPT_WARPS * SCRIPT_LANES, SCRIPT_PCS = 24, LIVES = 60 };

struct script {
    struct fixture f;
    struct rng rng;
    unsigned left[SCRIPT_THREADS]; /* instructions that a thread has still to execute */
    uint32_t pc[SCRIPT_THREADS];   /* where it is, by the script's own books */
    bool inside[SCRIPT_THREADS];   /* not in flight */
    uint64_t back[SCRIPT_THREADS]; /* in flight: when it comes back, with those of its flight */
    unsigned flight[SCRIPT_THREADS];
    unsigned flights, ended;
    /* policy majority, by counting: PCs one of which is the majority; 0: the pool was empty */
    uint32_t majority;
    bool tied; /* there were several */
    unsigned changes;
};

/* Threads in the pool by PC, counted from what the slots offer. */
static void count_offered(struct script *s, unsigned counts[SCRIPT_PCS]) {
    memset(counts, 0, SCRIPT_PCS * sizeof counts[0]);
    for (uint64_t rest = s->f.slots; rest; rest &= rest - 1) {
        struct group group;
        assert_true(s->f.ops->offer(s->f.self, bits_first64(rest), &group));
        counts[group.pc] += bits_count(group.lanes);
    }
}

/* Something has come or gone: the majority is used up, or there was none. */
static void follow_majority(struct script *s) {
    unsigned counts[SCRIPT_PCS], most = 1;
    uint32_t with_most = 0;
    count_offered(s, counts);
    for (BITS_EACH(pc, s->majority))
        if (counts[pc])
            return;
    for (unsigned pc = 0; pc < SCRIPT_PCS; pc++) {
        if (counts[pc] > most)
            most = counts[pc], with_most = 0;
        with_most |= (uint32_t)(counts[pc] == most) << pc;
    }
    s->majority = with_most;
    s->tied |= bits_count(with_most) > 1;
    s->changes += with_most != 0 && !s->tied;
}

static void begin_script(struct script *s, uint64_t seed, const char *const *settings) {
    memset(s, 0, sizeof *s);
    setup_with(&s->f, "dwf", SCRIPT_WARPS, SCRIPT_LANES, SCRIPT_WARPS / 2, settings);
    rng_seed(&s->rng, seed);
    for (unsigned i = 0; i < SCRIPT_THREADS; i++)
        s->left[i] = LIVES, s->inside[i] = true;
    for (unsigned warp = 0; warp < SCRIPT_WARPS; warp++)
        start(&s->f, warp, 0, 0xff);
    follow_majority(s);
}

/* The threads whose flight is over come back, those of one PC at a time. */
static void come_back(struct script *s) {
    for (unsigned i = 0; i < SCRIPT_THREADS; i++) {
        uint16_t threads[LANES_MAX];
        unsigned count = 0;
        if (s->inside[i] || !s->left[i] || s->back[i] > s->f.now)
            continue;
        for (unsigned j = i; j < SCRIPT_THREADS; j++)
            if (!s->inside[j] && s->left[j] && s->flight[j] == s->flight[i] && s->pc[j] == s->pc[i])
                threads[count++] = (uint16_t)j;
        for (unsigned k = 0; k < count; k++)
            s->inside[threads[k]] = true;
        look(&s->f, s->f.ops->forming->returned(s->f.self, threads, bits_low(count)));
        follow_majority(s);
    }
}

/* The group goes to one or two PCs, where its threads come back some cycles later. */
static void issue_random(struct script *s, unsigned slot, const struct group *offered) {
    const struct group group = *offered;
    const uint32_t ways[2] = {(uint32_t)rng_below(&s->rng, SCRIPT_PCS), (uint32_t)rng_below(&s->rng, SCRIPT_PCS)};
    const uint64_t back = s->f.now + 1 + rng_below(&s->rng, 20);
    const uint32_t split = rng_u32(&s->rng);
    const bool ends = s->left[group.threads[bits_first(group.lanes)]] <= 1; /* with all of its group */
    struct executed executed = {.flow = FLOW_MULTI, .pc = group.pc, .issues = 1, .lanes = group.lanes};
    s->flights++;
    for (BITS_EACH(lane, group.lanes)) {
        const unsigned thread = group.threads[lane];
        assert_true(s->inside[thread] && s->left[thread]);
        assert_int_equal(s->pc[thread], group.pc);
        s->inside[thread] = false;
        s->left[thread] = ends ? 0 : s->left[thread] > 1 ? s->left[thread] - 1 : 1;
        s->ended += ends;
        s->pc[thread] = executed.next[lane] = ways[split >> lane & 1];
        s->back[thread] = back, s->flight[thread] = s->flights;
    }
    if (ends)
        executed.flow = FLOW_EXIT, executed.taken = group.lanes;
    look(&s->f, s->f.ops->issued(s->f.self, slot, &group, &executed));
}

/* One cycle; the PC that issued, NO_PC: none. */
static uint32_t step(struct script *s) {
    struct group group = {.pc = NO_PC};
    come_back(s);
    const unsigned slot = s->f.slots ? s->f.ops->forming->pick(s->f.self, s->f.slots) : ISSUE_SLOTS_MAX;
    if (slot != ISSUE_SLOTS_MAX) {
        assert_true(s->f.ops->offer(s->f.self, slot, &group));
        issue_random(s, slot, &group);
    }
    tick(&s->f);
    return group.pc;
}

/* By counting, as by a heap without limits, the majority is a PC with the most threads, until none is left there; and
 * both issue the same as long as no two have the most. */
static void majority_by_heap_is_majority_by_counting(void **state) {
    (void)state;
    static struct script counted, heaped;
    unsigned changes = 0, issues = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct script *const both[] = {&counted, &heaped};
        begin_script(&counted, seed, SETTINGS("dwf.policy=majority"));
        begin_script(&heaped, seed, SETTINGS("dwf.policy=majority", "dwf.heap_entries=1000"));
        bool same = true;
        for (unsigned cycle = 0; counted.ended < SCRIPT_THREADS || heaped.ended < SCRIPT_THREADS; cycle++) {
            uint32_t pcs[2];
            assert_true(cycle < 20000);
            for (unsigned i = 0; i < 2; i++) {
                come_back(both[i]);
                const uint32_t allowed = both[i]->majority;
                pcs[i] = step(both[i]);
                if (pcs[i] == NO_PC)
                    continue;
                assert_true(allowed >> pcs[i] & 1);
                both[i]->majority = UINT32_C(1) << pcs[i];
                follow_majority(both[i]);
            }
            same = same && !counted.tied && !heaped.tied;
            if (same)
                assert_int_equal(pcs[0], pcs[1]);
            issues += same && pcs[0] != NO_PC;
        }
        assert_int_equal(counter(&counted.f, "heap_largest"), 0);
        assert_true(counter(&heaped.f, "heap_largest") > 5);
        changes += counted.changes;
        arena_free(&counted.f.arena);
        arena_free(&heaped.f.arena);
    }
    assert_true(issues > 2000 && changes > 500);
}

static void limits_are_kept_and_all_threads_end(void **state) {
    (void)state;
    static const char *const policies[] = {"dwf.policy=time", "dwf.policy=pc", "dwf.policy=majority",
                                           "dwf.policy=minority", "dwf.policy=pdom-priority"};
    static struct script s;
    for (unsigned i = 0; i < 50; i++) {
        const bool majority = i % 5 == 2;
        begin_script(&s, i + 1,
                     SETTINGS(policies[i % 5], "dwf.pool_entries=9", "dwf.lut_entries=4", "dwf.lut_ways=2",
                              "dwf.heap_entries=5", "dwf.mheap_lut_entries=6", "dwf.mheap_lut_ways=3", "dwf.ports=2"));
        for (unsigned cycle = 0; s.ended < SCRIPT_THREADS; cycle++) {
            assert_true(cycle < 50000);
            step(&s);
            assert_true(bits_count64(s.f.slots) <= 9);
        }
        assert_in_range(counter(&s.f, "pool_largest"), majority ? 5 : 9, 9); /* a majority may have few groups */
        assert_int_equal(counter(&s.f, "lut_largest"), 4);
        assert_in_range(counter(&s.f, "heap_largest"), majority ? 3 : 0, majority ? 5 : 0);
        assert_in_range(counter(&s.f, "mheap_lut_largest"), majority ? 3 : 0, majority ? 5 : 0);
        assert_true(counter(&s.f, "stalled_write_backs") > 100);
        assert_true(counter(&s.f, "stalled_cycles") > 100);
        assert_true(counter(&s.f, "evictions") > 10);
        for (unsigned warp = 0; warp < SCRIPT_WARPS; warp++)
            assert_int_equal(s.f.ops->alive(s.f.self, warp), 0);
        arena_free(&s.f.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dwf_forms_the_warps_of_the_published_example),
        cmocka_unit_test(dwf_lane_conflict_starts_new_warp),
        cmocka_unit_test(dwf_knows_where_threads_stand),
        cmocka_unit_test(dwf_keeps_blocks_apart),
        cmocka_unit_test(dwf_queues_behind_its_slots),
        cmocka_unit_test(policies_pick_what_their_table_says),
        cmocka_unit_test(pdom_priority_lets_those_behind_catch_up),
        cmocka_unit_test(majority_counts_those_behind_the_slots),
        cmocka_unit_test(policies_reach_behind_the_slots),
        cmocka_unit_test(register_files_place_threads),
        cmocka_unit_test(swizzling_lets_even_threads_share),
        cmocka_unit_test(a_full_table_forgets_the_least_recently_used),
        cmocka_unit_test(a_full_pool_makes_arrivals_wait_in_order),
        cmocka_unit_test(the_heap_takes_its_time),
        cmocka_unit_test(one_port_reads_two_children_in_two_cycles),
        cmocka_unit_test(a_full_heap_or_its_table_makes_arrivals_wait),
        cmocka_unit_test(majority_by_heap_is_majority_by_counting),
        cmocka_unit_test(limits_are_kept_and_all_threads_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
