/* SPDX-License-Identifier: Apache-2.0 */
/* Diverge on miss: its rules driven by scripted outcomes, its laws and its effect in time. */
#include "scripted_warp.h"
#include "timed_programs.h"

/* ---- scripted ---- */

static void begin(struct scripted *s, const char *const *settings, uint32_t lanes) {
    choose(s, "diverge-on-miss", settings);
    start(s, lanes);
}

static void expect_group(struct scripted *s, uint32_t pc, uint32_t lanes, bool rejoins) {
    struct group group;
    expect(s, pc, lanes);
    s->ops->offer(s->self, 0, &group);
    assert_int_equal(group.rejoins, rejoins);
}

static void expect_nobody(struct scripted *s) {
    struct group group;
    assert_false(s->ops->offer(s->self, 0, &group));
}

/* A load by whoever runs; the lanes that are left behind. */
static uint32_t access_memory(struct scripted *s, uint32_t hits, uint32_t misses) {
    struct group group;
    assert_true(s->ops->offer(s->self, 0, &group));
    issue(s, FLOW_NEXT, 0, 0);
    return s->ops->slipping->looked_up(s->self, 0, group.pc, hits, misses);
}

/* 0: ld; 1: add; 2: bra 0; 3: bar; 4: exit */
static void write_loop(struct scripted *s) {
    memset(s, 0, sizeof *s);
    for (unsigned i = 0; i < CODE; i++)
        s->code[i].op = OP_ADD, s->code[i].reconverge = NO_PC;
    s->code[0].op = OP_LD, s->code[0].space = SPACE_GLOBAL;
    s->code[2].op = OP_BRA, s->code[2].reconverge = 3;
    s->code[3].op = OP_BAR;
    s->code[4].op = OP_EXIT;
}

static const char *const unlimited[] = {"diverge-on-miss.adaptive=false", "diverge-on-miss.max_slip=255", NULL};
static const char *const all_block[] = {"diverge-on-miss.adaptive=false", "diverge-on-miss.max_slip=255",
                                        "diverge-on-miss.all_missed=block", NULL};

/* [001 fig. 2]: of two threads in a loop one misses; the other runs on, and takes it along when its data have come. */
static void a_thread_that_missed_goes_on_with_who_comes_by(void **state) {
    (void)state;
    struct scripted s;
    write_loop(&s);
    begin(&s, unlimited, 0x3);
    expect_group(&s, 0, 0x3, false);
    assert_int_equal(access_memory(&s, 0x1, 0x2), 0x2);
    for (unsigned turn = 0; turn < 2; turn++) {
        expect_group(&s, 1, 0x1, false);
        issue(&s, FLOW_NEXT, 0, 0);
        issue(&s, FLOW_BRANCH, 0x1, 0);
        expect_group(&s, 0, 0x1, false);
        if (turn == 1)
            assert_int_equal(s.ops->slipping->arrived(s.self, 0, 0x2), 0);
        assert_int_equal(access_memory(&s, 0x1, 0), 0);
    }
    expect_group(&s, 1, 0x3, false);
    assert_int_equal(counter(&s, "rejoined_lanes"), 1);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_BRANCH, 0, 0);
    expect_group(&s, 3, 0x3, false);
    issue(&s, FLOW_BARRIER, 0x3, 0);
    issue(&s, FLOW_EXIT, 0x3, 0);
    expect_nobody(&s);
    assert_int_equal(s.ops->alive(s.self, 0), 0);
    arena_free(&s.arena);
}

/* At a barrier the running threads are parked; those of the table take a slot of their instruction and come after. */
static void a_barrier_waits_until_the_table_is_empty(void **state) {
    (void)state;
    struct scripted s;
    write_loop(&s);
    begin(&s, unlimited, 0x7);
    assert_int_equal(access_memory(&s, 0x1, 0x6), 0x6);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_BRANCH, 0, 0);
    expect_nobody(&s);
    assert_int_equal(s.ops->slipping->arrived(s.self, 0, 0x4), 1);
    expect_group(&s, 0, 0x4, true);
    issue(&s, FLOW_NEXT, 0, 0);
    expect_group(&s, 1, 0x4, false);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_BRANCH, 0x4, 0);
    assert_int_equal(s.ops->slipping->arrived(s.self, 0, 0x2), 0);
    assert_int_equal(access_memory(&s, 0x4, 0), 0);
    expect_group(&s, 1, 0x6, false);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_BRANCH, 0, 0);
    expect_group(&s, 3, 0x7, false);
    assert_int_equal(counter(&s, "reactivations"), 1);
    assert_int_equal(counter(&s, "parks"), 2);
    arena_free(&s.arena);
}

/* 0: bra 10 for lanes 0 and 1, reconvergence at 12; 10: ld; 13: bra 0. Who falls behind on a side of a branch holds nobody
 * up at its end, and goes on with those that take the side in a later turn, though they diverged anew. */
static void a_branch_ends_without_those_behind(void **state) {
    (void)state;
    struct scripted s;
    write_loop(&s);
    s.code[0].op = OP_BRA, s.code[0].reconverge = 12;
    s.code[10].op = OP_LD, s.code[10].space = SPACE_GLOBAL, s.code[13].op = OP_BRA;
    begin(&s, unlimited, 0x7);
    issue(&s, FLOW_BRANCH, 0x3, 10);
    assert_int_equal(access_memory(&s, 0x1, 0x2), 0x2);
    expect_group(&s, 11, 0x1, false);
    issue(&s, FLOW_NEXT, 0, 0);
    expect_group(&s, 1, 0x4, false);
    issue(&s, FLOW_BRANCH, 0x4, 12);
    expect_group(&s, 12, 0x5, false);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_BRANCH, 0x5, 0);
    issue(&s, FLOW_BRANCH, 0x4, 10); /* now lane 2 takes the side */
    s.ops->slipping->arrived(s.self, 0, 0x2);
    assert_int_equal(access_memory(&s, 0x4, 0), 0);
    expect_group(&s, 11, 0x6, false);
    issue(&s, FLOW_NEXT, 0, 0);
    expect_group(&s, 1, 0x1, false);
    issue(&s, FLOW_BRANCH, 0x1, 12);
    expect_group(&s, 12, 0x7, false);
    arena_free(&s.arena);
}

/* A loop that lanes leave one by one: those that fell behind inside meet the others at its end. */
static void who_fell_behind_in_a_loop_meets_the_others_behind_it(void **state) {
    (void)state;
    struct scripted s;
    write_loop(&s);
    begin(&s, unlimited, 0x7);
    assert_int_equal(access_memory(&s, 0x3, 0x4), 0x4);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_BRANCH, 0x1, 0); /* lane 1 leaves */
    expect_group(&s, 0, 0x1, false);
    s.ops->slipping->arrived(s.self, 0, 0x4);
    assert_int_equal(access_memory(&s, 0x1, 0), 0);
    expect_group(&s, 1, 0x5, false);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_BRANCH, 0x4, 0); /* lane 0 leaves */
    expect_group(&s, 0, 0x4, false);
    assert_int_equal(access_memory(&s, 0x4, 0), 0);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_BRANCH, 0, 0);
    expect_group(&s, 3, 0x7, false);
    arena_free(&s.arena);
}

/* All lanes of the group call or return, each to its own place. */
static void go(struct scripted *s, enum flow flow, const uint32_t next[3]) {
    struct group group;
    assert_true(s->ops->offer(s->self, 0, &group));
    struct executed executed = {.flow = flow, .pc = group.pc, .issues = 1, .lanes = group.lanes, .taken = group.lanes};
    memcpy(executed.next, next, 3 * sizeof *next);
    s->ops->issued(s->self, 0, &group, &executed);
}

/* 0: call f; 1: call f; 2: bar; f is 10: ld; 11: ret. Threads meet in f that came by different calls. */
static void who_returns_elsewhere_goes_on_apart(void **state) {
    (void)state;
    struct scripted s;
    write_loop(&s);
    s.code[0].op = s.code[1].op = OP_CALL, s.code[2].op = OP_BAR;
    s.code[10].op = OP_LD, s.code[10].space = SPACE_GLOBAL, s.code[11].op = OP_RET;
    begin(&s, unlimited, 0x7);
    go(&s, FLOW_CALL, (uint32_t[]){10, 10, 10});
    assert_int_equal(access_memory(&s, 0x1, 0x6), 0x6);
    expect_nobody(&s); /* lane 0 makes way at its ret */
    s.ops->slipping->arrived(s.self, 0, 0x6);
    issue(&s, FLOW_NEXT, 0, 0);
    expect_group(&s, 11, 0x7, false); /* they have come to it */
    go(&s, FLOW_RETURN, (uint32_t[]){1, 1, 2});
    expect_group(&s, 1, 0x3, false);
    go(&s, FLOW_CALL, (uint32_t[]){10, 10, 0});
    assert_int_equal(access_memory(&s, 0x3, 0), 0);
    go(&s, FLOW_RETURN, (uint32_t[]){2, 2, 0});
    expect_group(&s, 2, 0x7, false);
    arena_free(&s.arena);
}

static void a_thread_at_the_maximum_waits_as_if_it_had_missed(void **state) {
    (void)state;
    static const char *const one[] = {"diverge-on-miss.adaptive=false", "diverge-on-miss.max_slip=1", NULL};
    struct scripted s;
    write_loop(&s);
    begin(&s, one, 0x7);
    assert_int_equal(access_memory(&s, 0x1, 0x6), 0x6); /* lane 0 is one ahead */
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_BRANCH, 0x1, 0);
    s.ops->slipping->arrived(s.self, 0, 0x2);
    assert_int_equal(access_memory(&s, 0x1, 0), 0);
    expect_group(&s, 1, 0x2, false); /* lane 1 goes on, lane 0 waits */
    assert_int_equal(counter(&s, "held_lanes"), 1);
    assert_int_equal(counter(&s, "slip_largest"), 1);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_BRANCH, 0x2, 0);
    s.ops->slipping->arrived(s.self, 0, 0x4);
    assert_int_equal(access_memory(&s, 0x2, 0), 0);
    expect_group(&s, 1, 0x7, false); /* the last have come by: lane 0 is one nearer, and goes on */
    arena_free(&s.arena);
}

/* Every access that others do not come to moves ahead, whether it diverges the warp or not; when all that run are at the
 * maximum, they wait for those behind, and go on with them. */
static void at_the_maximum_the_last_go_on(void **state) {
    (void)state;
    static const char *const two[] = {"diverge-on-miss.adaptive=false", "diverge-on-miss.max_slip=2", NULL};
    struct scripted s;
    write_loop(&s);
    begin(&s, two, 0x7);
    assert_int_equal(access_memory(&s, 0x3, 0x4), 0x4);
    for (unsigned turn = 0; turn < 2; turn++) {
        expect_group(&s, 1, 0x3, false);
        issue(&s, FLOW_NEXT, 0, 0);
        issue(&s, FLOW_BRANCH, 0x3, 0);
        assert_int_equal(access_memory(&s, 0x3, 0), 0);
    }
    expect_nobody(&s);
    assert_int_equal(counter(&s, "held_lanes"), 2);
    assert_int_equal(s.ops->slipping->arrived(s.self, 0, 0x4), 1);
    expect_group(&s, 0, 0x4, true);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_BRANCH, 0x4, 0);
    assert_int_equal(access_memory(&s, 0x4, 0), 0);
    expect_group(&s, 1, 0x7, false);
    arena_free(&s.arena);
}

/* The last have their data and go on by themselves: who waits at the maximum is one nearer, and goes on with those that hit
 * although another misses again. */
static void the_last_that_go_on_bring_those_at_the_maximum_nearer(void **state) {
    (void)state;
    struct scripted s;
    write_loop(&s);
    begin(&s, SETTINGS("diverge-on-miss.adaptive=false", "diverge-on-miss.max_slip=1"), 0x7);
    assert_int_equal(access_memory(&s, 0x1, 0x6), 0x6);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_BRANCH, 0x1, 0);
    assert_int_equal(access_memory(&s, 0x1, 0), 0);
    expect_nobody(&s);
    s.ops->slipping->arrived(s.self, 0, 0x6);
    expect_group(&s, 0, 0x6, true);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_BRANCH, 0x6, 0);
    assert_int_equal(access_memory(&s, 0x2, 0x4), 0x4);
    expect_group(&s, 1, 0x3, false);
    arena_free(&s.arena);
}

static void at_max_block_waits_for_everything(void **state) {
    (void)state;
    static const char *const block[] = {"diverge-on-miss.adaptive=false", "diverge-on-miss.max_slip=1",
                                        "diverge-on-miss.at_max=block", NULL};
    struct scripted s;
    write_loop(&s);
    begin(&s, block, 0x7);
    assert_int_equal(access_memory(&s, 0x3, 0x4), 0x4);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_BRANCH, 0x3, 0);
    assert_int_equal(access_memory(&s, 0x1, 0x2), 0);
    expect_group(&s, 1, 0x3, false);
    assert_int_equal(counter(&s, "blocks_slip"), 1);
    arena_free(&s.arena);
}

/* A full table makes the warp wait; with a full buffer those of the table go on first, and as soon as one of its entries is
 * free who waits for it does. */
static void full_tables_block_or_stall(void **state) {
    (void)state;
    for (unsigned buffers = 1; buffers <= 2; buffers++) {
        struct scripted s;
        write_loop(&s);
        s.code[1].op = OP_LD, s.code[1].space = SPACE_GLOBAL;
        begin(&s,
              SETTINGS("diverge-on-miss.adaptive=false", "diverge-on-miss.max_slip=255",
                       "diverge-on-miss.mdt_entries=1",
                       buffers == 1 ? "diverge-on-miss.mcb_entries=1" : "diverge-on-miss.mcb_entries=2"),
              0x7);
        assert_int_equal(access_memory(&s, 0x3, 0x4), 0x4);
        if (buffers == 1) {
            expect_nobody(&s);
            s.ops->slipping->arrived(s.self, 0, 0x4);
            expect_group(&s, 0, 0x4, true);
            issue(&s, FLOW_NEXT, 0, 0);
            expect_group(&s, 1, 0x7, false);
        } else {
            assert_int_equal(access_memory(&s, 0x1, 0x2), 0);
            assert_int_equal(counter(&s, "blocks_table"), 1);
        }
        assert_int_equal(counter(&s, "mdt_largest"), 1);
        assert_int_equal(counter(&s, "mcb_largest"), buffers);
        arena_free(&s.arena);
    }
}

/* Threads that have their data are not kept waiting by others that spin for them. */
static void patience_ends(void **state) {
    (void)state;
    static const char *const short_of_it[] = {"diverge-on-miss.adaptive=false", "diverge-on-miss.max_slip=255",
                                              "diverge-on-miss.patience=3", NULL};
    struct scripted s;
    write_loop(&s);
    begin(&s, short_of_it, 0x3);
    access_memory(&s, 0x1, 0x2);
    s.ops->slipping->arrived(s.self, 0, 0x2);
    for (unsigned i = 0; i < 3; i++) {
        expect_group(&s, 1, 0x1, false);
        issue(&s, FLOW_BRANCH, 0x1, 1);
    }
    expect_group(&s, 0, 0x2, true);
    arena_free(&s.arena);
}

/* All that run miss while another is in the table: they fall behind as well, and go on as their data come. A warp of which
 * nobody is behind blocks. */
static void threads_that_all_miss_fall_behind_with_others(void **state) {
    (void)state;
    struct scripted s;
    write_loop(&s);
    begin(&s, unlimited, 0x7);
    assert_int_equal(access_memory(&s, 0, 0x7), 0);
    assert_int_equal(counter(&s, "blocks_all_missed"), 1);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_BRANCH, 0x7, 0);
    assert_int_equal(access_memory(&s, 0x3, 0x4), 0x4);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_BRANCH, 0x3, 0);
    assert_int_equal(access_memory(&s, 0, 0x3), 0x3);
    expect_nobody(&s);
    assert_int_equal(s.ops->slipping->arrived(s.self, 0, 0x2), 1);
    expect_group(&s, 0, 0x2, true); /* lane 1 is first: it takes the slot of its load */
    issue(&s, FLOW_NEXT, 0, 0);
    expect_group(&s, 1, 0x2, false);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_BRANCH, 0x2, 0);
    assert_int_equal(s.ops->slipping->arrived(s.self, 0, 0x5), 0);
    assert_int_equal(access_memory(&s, 0x2, 0), 0);
    expect_group(&s, 1, 0x7, false);
    assert_int_equal(counter(&s, "blocks_all_missed"), 1);
    arena_free(&s.arena);
}

/* all_missed=block: an access that hits for nobody is not divergent, and the warp waits for all of it. Threads that rejoin
 * go on even so. */
static void a_warp_waits_for_an_access_that_all_miss(void **state) {
    (void)state;
    struct scripted s;
    write_loop(&s);
    begin(&s, all_block, 0x7);
    assert_int_equal(access_memory(&s, 0x3, 0x4), 0x4);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_BRANCH, 0x3, 0);
    assert_int_equal(access_memory(&s, 0, 0x3), 0);
    expect_group(&s, 1, 0x3, false);
    assert_int_equal(counter(&s, "blocks_all_missed"), 1);
    assert_int_equal(s.ops->slipping->arrived(s.self, 0, 0x4), 0);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_BRANCH, 0x3, 0);
    assert_int_equal(access_memory(&s, 0, 0x3), 0x3); /* lane 2 has its data: it goes on alone */
    expect_group(&s, 1, 0x4, false);
    assert_int_equal(counter(&s, "blocks_all_missed"), 1);
    arena_free(&s.arena);
}

/* 0: ld; 1: bra 10 for lanes 0 and 1, reconvergence at 12; 10: ld; 12: bar. Lanes that all fall behind on one side of a branch
 * leave the other side to run; at the barrier all meet, as they come. */
static void a_side_that_falls_behind_lets_the_other_run(void **state) {
    (void)state;
    struct scripted s;
    write_loop(&s);
    s.code[1].op = OP_BRA, s.code[1].reconverge = 12, s.code[2].op = OP_ADD, s.code[3].op = OP_ADD;
    s.code[10].op = OP_LD, s.code[10].space = SPACE_GLOBAL, s.code[12].op = OP_BAR;
    begin(&s, unlimited, 0xf);
    assert_int_equal(access_memory(&s, 0x7, 0x8), 0x8);
    issue(&s, FLOW_BRANCH, 0x3, 10);
    expect_group(&s, 10, 0x3, false);
    assert_int_equal(access_memory(&s, 0, 0x3), 0x3);
    expect_group(&s, 2, 0x4, false);
    issue(&s, FLOW_BRANCH, 0x4, 12);
    expect_nobody(&s);
    assert_int_equal(s.ops->slipping->arrived(s.self, 0, 0x1), 1);
    expect_group(&s, 10, 0x1, true);
    issue(&s, FLOW_NEXT, 0, 0);
    expect_group(&s, 11, 0x1, false);
    issue(&s, FLOW_NEXT, 0, 0);
    expect_nobody(&s);
    assert_int_equal(s.ops->slipping->arrived(s.self, 0, 0xa), 1);
    expect_group(&s, 0, 0x8, true); /* the oldest first */
    issue(&s, FLOW_NEXT, 0, 0);
    expect_group(&s, 1, 0x8, false);
    issue(&s, FLOW_BRANCH, 0x8, 12);
    expect_group(&s, 10, 0x2, true);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_NEXT, 0, 0);
    expect_group(&s, 12, 0xf, false);
    arena_free(&s.arena);
}

/* 0, 1, 2: ld; 3: bar. Lane 0 waits at 2 for an entry of the buffer, not for an empty table. */
static void who_waits_for_an_entry_goes_on_when_one_is_free(void **state) {
    (void)state;
    struct scripted s;
    write_loop(&s);
    for (unsigned pc = 0; pc < 3; pc++)
        s.code[pc].op = OP_LD, s.code[pc].space = SPACE_GLOBAL;
    begin(&s, unlimited, 0x7);
    assert_int_equal(access_memory(&s, 0x3, 0x4), 0x4);
    assert_int_equal(access_memory(&s, 0x1, 0x2), 0x2);
    expect_nobody(&s); /* lane 0 at 2 */
    assert_int_equal(s.ops->slipping->arrived(s.self, 0, 0x4), 1);
    expect_group(&s, 0, 0x4, true);
    issue(&s, FLOW_NEXT, 0, 0);
    assert_int_equal(access_memory(&s, 0, 0x4), 0x4); /* beside lane 1 at 1 */
    expect_group(&s, 2, 0x1, false);
    assert_int_equal(counter(&s, "mcb_largest"), 2);
    arena_free(&s.arena);
}

/* 0, 1: ld. Threads that slip control disables need no entry, since they have their values; they are disabled only where they
 * would get further ahead. */
static void who_is_held_takes_no_entry(void **state) {
    (void)state;
    struct scripted s;
    write_loop(&s);
    s.code[1].op = OP_LD, s.code[1].space = SPACE_GLOBAL;
    begin(&s, SETTINGS("diverge-on-miss.adaptive=false", "diverge-on-miss.max_slip=1"), 0x7);
    assert_int_equal(access_memory(&s, 0x3, 0x4), 0x4);
    assert_int_equal(access_memory(&s, 0x3, 0), 0);
    expect_nobody(&s);
    assert_int_equal(counter(&s, "held_lanes"), 2);
    assert_int_equal(counter(&s, "mdt_largest"), 1);
    s.ops->slipping->arrived(s.self, 0, 0x4);
    issue(&s, FLOW_NEXT, 0, 0);
    assert_int_equal(access_memory(&s, 0x4, 0), 0);
    expect_group(&s, 2, 0x7, false);
    issue(&s, FLOW_BRANCH, 0x7, 0);
    assert_int_equal(access_memory(&s, 0x7, 0), 0);
    assert_int_equal(counter(&s, "held_lanes"), 2);
    arena_free(&s.arena);
}

/* A sample of 100 cycles in which so many of the slots pass waiting for memory, so many empty for other reasons, and so
 * many requests are made. */
static void pass_sample(struct scripted *s, uint64_t memory, uint64_t idle, uint64_t requests) {
    s->now += 100, s->memory += memory, s->idle += idle, s->requests += requests;
    access_memory(s, 0x1, 0);
    issue(s, FLOW_NEXT, 0, 0);
    issue(s, FLOW_BRANCH, 0x1, 0);
}

/* [001 §5.2], sample by sample: more slip when bound by neither, less when bound by issue or bandwidth. */
static void the_maximum_adapts_sample_by_sample(void **state) {
    (void)state;
    static const char *const keys[] = {"diverge-on-miss.sample_cycles=100", NULL};
    static const struct {
        uint64_t memory, idle, requests;
        unsigned maximum, raised, lowered, kept;
    } samples[] = {
        {60, 0, 5, 2, 1, 0, 0},  /* waits for memory */
        {60, 0, 12, 3, 2, 0, 0}, /* not above its share, which is 12.5 */
        {60, 0, 13, 2, 2, 1, 0}, /* above it */
        {2, 2, 5, 1, 2, 2, 0},   /* less than 5 of 100 slots empty: bound by issue */
        {5, 0, 5, 1, 2, 2, 1},   /* 5 of 100 wait for memory: in balance */
        {10, 0, 20, 1, 2, 2, 2}, /* so with 10, whatever the bandwidth */
        {11, 0, 20, 0, 2, 3, 2}, /* no longer */
        {0, 0, 20, 0, 2, 3, 3},  /* no less than 0 */
        {0, 50, 5, 1, 3, 3, 3},  /* empty for other reasons: bound by nothing */
        {90, 10, 0, 2, 4, 3, 3},
    };
    struct scripted s;
    write_loop(&s);
    begin(&s, keys, 0x1);
    for (unsigned i = 0; i < sizeof samples / sizeof *samples; i++) {
        pass_sample(&s, samples[i].memory, samples[i].idle, samples[i].requests);
        if (counter(&s, "maximum_raised") != samples[i].raised ||
            counter(&s, "maximum_lowered") != samples[i].lowered || counter(&s, "maximum_kept") != samples[i].kept)
            fail_msg("sample %u: raised %u, lowered %u, kept %u", i, (unsigned)counter(&s, "maximum_raised"),
                     (unsigned)counter(&s, "maximum_lowered"), (unsigned)counter(&s, "maximum_kept"));
        assert_int_equal(1 + samples[i].raised - samples[i].lowered, samples[i].maximum);
    }
    assert_int_equal(counter(&s, "max_slip_largest"), 3);
    for (unsigned i = 0; i < 300; i++)
        pass_sample(&s, 90, 0, 0);
    assert_int_equal(counter(&s, "max_slip_largest"), 255);
    assert_int_equal(counter(&s, "maximum_raised"), 4 + 253);
    s.now += 99;
    access_memory(&s, 0x1, 0); /* no sample yet */
    assert_int_equal(counter(&s, "maximum_raised") + counter(&s, "maximum_lowered") + counter(&s, "maximum_kept"), 310);
    arena_free(&s.arena);
}

/* The maximum comes down to 0 while a thread is behind: it still goes on with who comes by. */
static void a_maximum_of_0_keeps_nobody_behind(void **state) {
    (void)state;
    struct scripted s;
    write_loop(&s);
    begin(&s, SETTINGS("diverge-on-miss.sample_cycles=100"), 0x3);
    assert_int_equal(access_memory(&s, 0x1, 0x2), 0x2);
    issue(&s, FLOW_NEXT, 0, 0);
    issue(&s, FLOW_BRANCH, 0x1, 0);
    s.ops->slipping->arrived(s.self, 0, 0x2);
    s.now += 100; /* no slot passes empty: bound by issue */
    assert_int_equal(access_memory(&s, 0x1, 0), 0);
    assert_int_equal(counter(&s, "maximum_lowered"), 1);
    expect_group(&s, 1, 0x3, false);
    arena_free(&s.arena);
}

/* Runs are counted, not instructions: how much of a run is told at once makes no difference. */
static void patience_is_of_runs(void **state) {
    (void)state;
    struct scripted s;
    write_loop(&s);
    begin(&s, SETTINGS("diverge-on-miss.adaptive=false", "diverge-on-miss.max_slip=255", "diverge-on-miss.patience=3"),
          0x3);
    access_memory(&s, 0x1, 0x2);
    s.ops->slipping->arrived(s.self, 0, 0x2);
    for (unsigned i = 0; i < 3; i++) {
        expect_group(&s, 1, 0x1, false);
        issue(&s, FLOW_NEXT, 0, 0); /* the branch ends the run */
        expect_group(&s, 2, 0x1, false);
        issue(&s, FLOW_BRANCH, 0x1, 1);
    }
    expect_group(&s, 0, 0x2, true);
    arena_free(&s.arena);
}

static void keys_that_contradict_are_refused(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f,
                 "base: fung-8800\ndivergence.mechanism: diverge-on-miss\ndiverge-on-miss.balance_min_percent: 20\n");
    load(&f, programs[0].text);
    assert_int_equal(launch(&f, 1, 32, true), STATUS_INVALID);
    expect_text(&f, "diverge-on-miss.balance_min_percent=20");
    finish(&f);
}

/* ---- in time ---- */

#define SLIPS(max)                                                                                                     \
    "divergence.mechanism: diverge-on-miss\ndiverge-on-miss.adaptive: false\ndiverge-on-miss.max_slip: " max "\n"

static uint64_t run_cycles(const char *machine, const char *settings, const struct program_text *program) {
    char text[512];
    struct fixture f;
    snprintf(text, sizeof text, "%s%s", machine, settings);
    open_machine(&f, text);
    load(&f, program->text);
    expect_ok(&f, program, true);
    check_books(&f, program->name);
    const uint64_t cycles = f.result.timed->cycles;
    finish(&f);
    return cycles;
}

static const char *const barrels[] = {
    "base: tarjan-manycore\n" LIMIT,
    "base: fung-8800\nsm.max_blocks: 3\n" LIMIT,
    "base: gtx480\nsm.pipeline: barrel\n" LIMIT,
    "base: tarjan-manycore\npipeline.memory_in_flight: 2\n" LIMIT,
    "base: tarjan-manycore\npipeline.memory_in_flight: 2\npipeline.wait_at_use: false\n" LIMIT,
    "base: gtx480\nsm.pipeline: barrel\npipeline.memory_in_flight: 4\npipeline.wait_at_use: false\n" LIMIT,
};
enum { BARRELS = sizeof barrels / sizeof *barrels };

static void a_maximum_of_0_is_pdom_to_the_cycle(void **state) {
    (void)state;
    for (unsigned m = 0; m < BARRELS; m++)
        for (unsigned i = 0; i < PROGRAMS; i++) {
            if (left_out())
                continue;
            const uint64_t pdom = run_cycles(barrels[m], "", &programs[i]);
            const uint64_t slips = run_cycles(barrels[m], SLIPS("0"), &programs[i]);
            if (pdom != slips)
                fail_msg("%s on machine %u: %llu cycles, %llu with a maximum slip of 0", programs[i].name, m,
                         (unsigned long long)pdom, (unsigned long long)slips);
        }
}

/* Whatever slips, memory and thread instructions are those of the functional run, and no table outgrows its limit. */
static void slipping_changes_time_alone(void **state) {
    (void)state;
    static const char *const variants[] = {SLIPS("1"), SLIPS("255"), SLIPS("3") "diverge-on-miss.at_max: block\n",
                                           SLIPS(
                                               "255") "diverge-on-miss.mdt_entries: 1\ndiverge-on-miss.mcb_entries: 1\n"
                                                      "diverge-on-miss.patience: 5\n",
                                           SLIPS("255") "diverge-on-miss.all_missed: block\n"};
    for (unsigned m = 0; m < BARRELS; m++)
        for (unsigned v = 0; v < sizeof variants / sizeof *variants; v++)
            for (unsigned i = 0; i < PROGRAMS; i++) {
                char text[512];
                struct fixture timed, plain;
                if (left_out())
                    continue;
                snprintf(text, sizeof text, "%s%s", barrels[m], variants[v]);
                open_machine(&timed, text);
                open_machine(&plain, text);
                load(&timed, programs[i].text);
                load(&plain, programs[i].text);
                expect_ok(&timed, &programs[i], true);
                expect_ok(&plain, &programs[i], false);
                check_books(&timed, programs[i].name);
                if (memcmp(timed.memory, plain.memory, WORDS * sizeof(uint32_t)) != 0)
                    fail_msg("%s, machine %u, variant %u: memory differs", programs[i].name, m, v);
                assert_int_equal(timed.result.stats.thread_instructions, plain.result.stats.thread_instructions);
                const struct gpu_stats *stats = timed.result.timed;
                assert_true(own_counter(stats->own[OWN_MECHANISM], stats->own_stats[OWN_MECHANISM], "mdt_largest") <=
                            (v == 3 ? 1 : 2));
                assert_true(own_counter(stats->own[OWN_MECHANISM], stats->own_stats[OWN_MECHANISM], "mcb_largest") <=
                            (v == 3 ? 1 : 2));
                finish(&timed);
                finish(&plain);
            }
}

/* ---- the machine of the study ---- */

/* 5 instructions a turn beside the load, each a cycle. */
static void a_miss_takes_500_cycles(void **state) {
    (void)state;
    enum { TURNS = 500 };
    static const struct program_text chase = {
        "chase",
        KERNEL("", "mov.u64 %rd4, %rd1;\nmov.u32 %r4, 0;\nL: ld.global.u32 %r5, [%rd4];\nadd.s64 %rd4, %rd4, "
                   "64;\nadd.u32 %r6, %r6, %r5;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 500;\n@%p1 bra "
                   "L;\nret;"),
        1, 1};
    assert_int_equal((run_cycles("base: tarjan-manycore\n", "", &chase) + TURNS / 2) / TURNS, 500 + 5);
}

/* tests/validation/slip/gather.cl by hand, with a table of 1 MiB: every lane reads 128 words, 16 in sequence from each
 * random place, with 14 instructions beside each load. */
static const struct program_text gather = {
    "gather",
    KERNEL("", "mul.lo.u32 %r4, %r3, 2654435761;\nmov.u32 %r5, 0;\nL: and.b32 %r6, %r5, 15;\nsetp.eq.u32 %p1, %r6, "
               "0;\nmad.lo.u32 %r7, %r4, 1664525, 1013904223;\nshr.u32 %r8, %r7, 8;\nselp.b32 %r9, %r8, %r9, "
               "%p1;\nselp.b32 %r4, %r7, %r4, %p1;\nand.b32 %r10, %r9, 262143;\nadd.u32 %r9, %r9, 1;\nmul.wide.u32 "
               "%rd4, %r10, 4;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.u32 %r11, [%rd5];\nxor.b32 %r12, %r12, "
               "%r11;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 128;\n@%p2 bra L;\nst.global.u32 [%rd3], "
               "%r12;\nret;"),
    512, 32};
enum { GATHER_WORDS = 262144 };

static uint64_t gather_cycles(const char *settings, uint64_t *maximum_raised) {
    struct fixture f;
    fixture_open(&f, settings, GATHER_WORDS);
    load(&f, gather.text);
    expect_ok(&f, &gather, true);
    check_books(&f, gather.name);
    const struct gpu_stats *stats = f.result.timed;
    const uint64_t cycles = stats->cycles;
    if (maximum_raised)
        *maximum_raised = own_counter(stats->own[OWN_MECHANISM], stats->own_stats[OWN_MECHANISM], "maximum_raised");
    finish(&f);
    return cycles;
}

/* The study's case [001 §1, §8.3]: threads read runs of words at places of their own, so that some of a warp miss in
 * nearly every access. docs/mechanisms/diverge-on-miss.md has the map, and where it does not hold. */
static void two_slipping_warps_come_near_sixteen_that_block(void **state) {
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* a measurement: its code is that of the tests above */
#endif
    const uint64_t two = gather_cycles("base: tarjan-manycore\nsm.max_blocks: 2\n", NULL);
    const uint64_t sixteen = gather_cycles("base: tarjan-manycore\n", NULL);
    const uint64_t slipping = gather_cycles("base: tarjan-manycore\nsm.max_blocks: 2\n" SLIPS("255"), NULL);
    uint64_t raised;
    const uint64_t adaptive = gather_cycles("base: tarjan-manycore\nsm.max_blocks: 2\ndivergence.mechanism: "
                                            "diverge-on-miss\ndiverge-on-miss.sample_cycles: 1000\n",
                                            &raised);
    print_message(
        "128 words of each of 16384 threads: %llu cycles with 2 warps, %llu with 16, %llu with 2 that slip, %llu "
        "with 2 that adapt\n",
        (unsigned long long)two, (unsigned long long)sixteen, (unsigned long long)slipping,
        (unsigned long long)adaptive);
    assert_true(two > sixteen * 4);
    assert_true(slipping * 100 <= sixteen * 150);
    assert_true(adaptive * 100 <= sixteen * 150);
    assert_true(raised >= 32); /* of every SM at least once */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_missed_goes_on_with_who_comes_by),
        cmocka_unit_test(a_barrier_waits_until_the_table_is_empty),
        cmocka_unit_test(a_branch_ends_without_those_behind),
        cmocka_unit_test(who_fell_behind_in_a_loop_meets_the_others_behind_it),
        cmocka_unit_test(who_returns_elsewhere_goes_on_apart),
        cmocka_unit_test(a_thread_at_the_maximum_waits_as_if_it_had_missed),
        cmocka_unit_test(at_the_maximum_the_last_go_on),
        cmocka_unit_test(the_last_that_go_on_bring_those_at_the_maximum_nearer),
        cmocka_unit_test(at_max_block_waits_for_everything),
        cmocka_unit_test(full_tables_block_or_stall),
        cmocka_unit_test(patience_ends),
        cmocka_unit_test(threads_that_all_miss_fall_behind_with_others),
        cmocka_unit_test(a_warp_waits_for_an_access_that_all_miss),
        cmocka_unit_test(a_side_that_falls_behind_lets_the_other_run),
        cmocka_unit_test(who_waits_for_an_entry_goes_on_when_one_is_free),
        cmocka_unit_test(who_is_held_takes_no_entry),
        cmocka_unit_test(the_maximum_adapts_sample_by_sample),
        cmocka_unit_test(a_maximum_of_0_keeps_nobody_behind),
        cmocka_unit_test(patience_is_of_runs),
        cmocka_unit_test(keys_that_contradict_are_refused),
        cmocka_unit_test(a_maximum_of_0_is_pdom_to_the_cycle),
        cmocka_unit_test(slipping_changes_time_alone),
        cmocka_unit_test(a_miss_takes_500_cycles),
        cmocka_unit_test(two_slipping_warps_come_near_sixteen_that_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
