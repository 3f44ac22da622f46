/* SPDX-License-Identifier: Apache-2.0 */
/* What a scheduler that asks hears, sees and decides, held against what the SM counts. The policy is the test's own, added as one of
 * a plug-in is. */
#include "device_fixture.h"

#include <stdlib.h>

#include "base/added.h"
#include "gpu/gpu.h"
#include "isa/inst.h"
#include "sm/scheduler/scheduler.h"

enum { WORDS = 1 << 16, WARPS = 16, BLOCKS = 6, BLOCK_THREADS = 128, ROUNDS = 8 };

static struct seen {
    uint64_t events[SCHEDULER_EVENT_KINDS], transactions, waiting_lanes, going_lanes, taken_lanes, loops;
    slot_set alive;
    unsigned most_alive;
    slot_set loads, stores; /* of the last pick */
    unsigned picked;
    uint32_t most_mshrs, most_room;
} seen;
static bool bypasses;
static unsigned blocks_most;
static struct scheduler_shape shape;

static void *create(struct arena *arena, const struct scheduler_shape *given) {
    (void)arena;
    shape = *given;
    if (bypasses)
        *shape.bypass = ~(slot_set)0;
    if (blocks_most)
        *shape.blocks_most = blocks_most;
    return &seen;
}

static unsigned pick(void *self, const struct scheduler_view *view) {
    struct seen *s = self;
    const uint32_t mshrs = shape.memory.free_mshrs(shape.memory.sm), room = shape.memory.queue_room(shape.memory.sm);
    s->most_mshrs = mshrs > s->most_mshrs ? mshrs : s->most_mshrs;
    s->most_room = room > s->most_room ? room : s->most_room;
    s->loads = view->loads, s->stores = view->stores;
    assert_true(!((view->loads | view->stores) & ~view->ready));
    return s->picked = set_first(view->ready);
}

static void heard(void *self, const struct scheduler_event *event) {
    struct seen *s = self;
    s->events[event->kind]++;
    switch (event->kind) {
    case SCHEDULER_STARTED:
        assert_false(set_has(s->alive, event->warp));
        s->alive |= set_of(event->warp);
        break;
    case SCHEDULER_ENDED:
        assert_true(set_has(s->alive, event->warp));
        s->alive &= ~set_of(event->warp);
        break;
    case SCHEDULER_ISSUED: {
        const bool global = event->inst->space == SPACE_GLOBAL;
        assert_int_equal(event->warp, s->picked);
        assert_int_equal(set_has(s->loads, event->warp), global && event->inst->op == OP_LD);
        assert_int_equal(set_has(s->stores, event->warp), global && event->inst->op == OP_ST);
        break;
    }
    case SCHEDULER_BRANCHED:
        s->taken_lanes += bits_count(event->taken);
        s->loops += event->target <= event->pc;
        break;
    case SCHEDULER_WAITS: s->waiting_lanes += bits_count(event->lanes); break;
    case SCHEDULER_GOES_ON: s->going_lanes += bits_count(event->lanes); break;
    case SCHEDULER_COALESCED: s->transactions += event->count; break;
    case SCHEDULER_HIT: assert_true(event->owner < WARPS); break; /* no line is older than the launch */
    default: break;
    }
    const unsigned alive = bits_count64(s->alive);
    s->most_alive = alive > s->most_alive ? alive : s->most_alive;
}

static const struct scheduler_ops ops = {.name = "test",
                                         .help = "hears everything",
                                         .create = create,
                                         .pick = pick,
                                         .sees_memory = true,
                                         .hears = (1u << SCHEDULER_EVENT_KINDS) - 1,
                                         .heard = heard};

/* Every thread adds up words a line apart, in rounds with a barrier; then stores its sum. */
static const char kernel[] =
    ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<6>;\n"
    "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r3, %r2, 128, %r1;\n"
    "mov.u32 %r4, 0;\nmov.u32 %r5, 0;\n"
    "L: mul.lo.u32 %r6, %r5, 8192;\nmad.lo.u32 %r6, %r1, 32, %r6;\nand.b32 %r6, %r6, 32767;\nmul.wide.u32 %rd2, %r6, "
    "4;\n"
    "add.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r7, [%rd3];\nadd.u32 %r4, %r4, %r7;\nbar.sync 0;\n"
    "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 8;\n@%p1 bra L;\n"
    "add.u32 %r8, %r3, 32768;\nmul.wide.u32 %rd4, %r8, 4;\nadd.s64 %rd5, %rd1, %rd4;\nst.global.u32 [%rd5], "
    "%r4;\nret;\n}\n";

static void run(struct fixture *f, const char *more) {
    char settings[512];
    snprintf(settings, sizeof settings,
             "base: gtx480\nsm.scheduler: test\nsm.count: 1\nsm.schedulers: 1\nsm.max_warps: %u\nsm.max_threads: "
             "%u\nsm.max_block_threads: 512\n"
             "limits.max_cycles: 2000000\n%s",
             WARPS, WARPS * 32, more);
    seen = (struct seen){0};
    fixture_open(f, settings, WORDS);
    for (unsigned i = 0; i < WORDS / 2; i++)
        f->memory[i] = i * 7;
    load(f, kernel);
    if (launch(f, BLOCKS, BLOCK_THREADS, true) != STATUS_OK)
        fail_msg("%s", report_text(&f->report));
    for (unsigned thread = 0; thread < BLOCKS * BLOCK_THREADS; thread++) {
        uint32_t sum = 0;
        for (unsigned round = 0; round < ROUNDS; round++)
            sum += ((round * 8192 + thread % BLOCK_THREADS * 32) & 32767) * 7;
        assert_int_equal(f->memory[WORDS / 2 + thread], sum);
    }
}

static void events_are_what_the_sm_counts(void **state) {
    (void)state;
    static const char *const allocations[] = {"l1.allocate: miss\n", "l1.allocate: fill\n"};
    for (unsigned i = 0; i < 2; i++) {
        struct fixture f;
        run(&f, allocations[i]);
        const struct gpu_stats *stats = f.result.timed;
        const uint64_t warps = BLOCKS * BLOCK_THREADS / 32, threads = BLOCKS * BLOCK_THREADS;
        assert_int_equal(seen.events[SCHEDULER_STARTED], warps);
        assert_int_equal(seen.events[SCHEDULER_ENDED], warps);
        assert_int_equal(seen.events[SCHEDULER_ISSUED], stats->sm.issues);
        assert_int_equal(seen.events[SCHEDULER_BRANCHED], warps * ROUNDS);
        assert_int_equal(seen.taken_lanes, threads * (ROUNDS - 1));
        assert_int_equal(seen.loops, warps * ROUNDS);
        assert_int_equal(seen.waiting_lanes, threads * ROUNDS);
        assert_int_equal(seen.going_lanes, threads * ROUNDS);
        assert_int_equal(seen.events[SCHEDULER_COALESCED], stats->sm.global_accesses);
        assert_int_equal(seen.transactions, stats->sm.transactions);
        assert_int_equal(seen.events[SCHEDULER_HIT], stats->l1.hits);
        assert_int_equal(seen.events[SCHEDULER_MISSED], stats->l1.misses + stats->l1.pending);
        assert_int_equal(seen.events[SCHEDULER_EVICTED], stats->l1.evictions);
        assert_true(stats->l1.hits && stats->l1.evictions);
        assert_int_equal(seen.most_alive, WARPS);
        assert_int_equal(seen.most_mshrs, f.machine.l1.mshr_entries);
        assert_int_equal(seen.most_room, f.machine.sm.memory_queue);
        assert_int_equal(stats->sm.l1_bypassed, 0);
        finish(&f);
    }
}

static void loads_pass_the_l1_by(void **state) {
    (void)state;
    struct fixture f;
    bypasses = true;
    run(&f, "");
    bypasses = false;
    const struct sm_stats *sm = &f.result.timed->sm;
    /* a load's 32 lanes are in 32 lines; a warp's store is in one */
    assert_int_equal(sm->l1_bypassed, BLOCKS * BLOCK_THREADS * ROUNDS);
    assert_int_equal(f.result.timed->l1.accesses, sm->transactions - sm->l1_bypassed);
    assert_int_equal(seen.events[SCHEDULER_HIT] + seen.events[SCHEDULER_MISSED], f.result.timed->l1.accesses);
    assert_int_equal(sm->requests_sent, sm->replies_received);
    finish(&f);
}

static void blocks_are_capped(void **state) {
    (void)state;
    for (blocks_most = 1; blocks_most <= 3; blocks_most++) {
        struct fixture f;
        run(&f, "");
        assert_int_equal(seen.most_alive, blocks_most * BLOCK_THREADS / 32);
        finish(&f);
    }
    blocks_most = 0;
}

static void one_that_follows_warps_is_refused_where_groups_form(void **state) {
    (void)state;
    struct fixture f;
    fixture_open(&f, "base: gtx480\nsm.scheduler: test\nsm.count: 1\ndivergence.mechanism: lwm\n", WORDS);
    load(&f, kernel);
    assert_int_equal(launch(&f, 1, 32, true), STATUS_INVALID);
    expect_text(&f, "sm.scheduler=test follows warps from start to end, and divergence.mechanism=lwm forms groups");
    finish(&f);
}

int main(void) {
    setenv("HEDDLE_CONFIGS", HEDDLE_SOURCE_DIR "/configs", 1);
    if (!added_put(ADDED_SCHEDULER, &ops))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_what_the_sm_counts),
        cmocka_unit_test(loads_pass_the_l1_by),
        cmocka_unit_test(blocks_are_capped),
        cmocka_unit_test(one_that_follows_warps_is_refused_where_groups_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
