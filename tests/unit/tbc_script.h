/* SPDX-License-Identifier: Apache-2.0 */
/* A block under thread block compaction, driven by scripted outcomes. */
#ifndef HEDDLE_TESTS_TBC_SCRIPT_H
#define HEDDLE_TESTS_TBC_SCRIPT_H

#include "timed_programs.h"

#include "base/bits.h"
#include "divergence/divergence.h"

enum { CODE = 64, LANES = 4, THREADS_MAX = 64 };

struct script {
    struct arena arena;
    struct inst code[CODE];
    const struct divergence_ops *ops;
    void *self;
    unsigned groups, threads;
};

/* Code without control flow, which the caller then writes into. */
static inline void begin_code(struct script *s) {
    memset(s, 0, sizeof *s);
    s->ops = divergence_find("tbc");
    for (unsigned i = 0; i < CODE; i++)
        s->code[i] = (struct inst){.op = OP_ADD, .guard = -1, .reconverge = NO_PC};
}

/* A block of so many warps; keys: "tbc.sync", "every", ..., NULL. */
static inline void begin_block(struct script *s, unsigned warps, const char *const *keys) {
    struct report report = {0};
    struct param_set set = {0};
    void *params = arena_alloc(&s->arena, s->ops->own.params_bytes);
    assert_int_equal(param_create(&set, s->ops->own.params, params, &s->arena, &report), STATUS_OK);
    for (; *keys; keys += 2)
        assert_int_equal(param_assign(&set, keys[0], keys[1], "test", "test", &report), STATUS_OK);
    const struct divergence_shape shape = {.code = s->code,
                                           .code_count = CODE,
                                           .warps = warps,
                                           .warp_size = LANES,
                                           .width = LANES,
                                           .warps_per_block = warps,
                                           .schedulers = 1,
                                           .params = params};
    s->self = s->ops->create(&s->arena, &shape);
    for (unsigned warp = 0; warp < warps; warp++)
        s->ops->start(s->self, warp, 0, 0xf);
}

/* Threads from 0 on: 0 to 9, a to z, A and so on. */
static inline char thread_letter(unsigned thread) {
    return "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+/"[thread % THREADS_MAX];
}

/* threads: of the lanes from the first on, '-' where there is none. */
static inline void expect(struct script *s, unsigned slot, uint32_t pc, const char *threads) {
    struct group group;
    if (!threads) {
        assert_false(s->ops->offer(s->self, slot, &group));
        return;
    }
    assert_true(s->ops->offer(s->self, slot, &group));
    assert_int_equal(group.pc, pc);
    for (unsigned lane = 0; lane < LANES; lane++) {
        const char found = group.lanes >> lane & 1 ? thread_letter(group.threads[lane]) : '-';
        if (found != threads[lane])
            fail_msg("PC %u, slot %u, lane %u: thread %c, not %c", (unsigned)pc, slot, lane, found, threads[lane]);
    }
}

struct away {
    uint32_t lanes;
    uint16_t threads[LANES_MAX];
};

/* `goes`: of each thread, whether it takes the branch. */
static inline struct away issue(struct script *s, unsigned slot, enum flow flow, uint64_t goes, uint32_t target) {
    struct group group;
    struct away away = {0};
    assert_true(s->ops->offer(s->self, slot, &group));
    struct executed executed = {.flow = flow, .pc = group.pc, .issues = 1, .lanes = group.lanes, .target = target};
    for (BITS_EACH(lane, group.lanes))
        executed.taken |= (uint32_t)(goes >> group.threads[lane] & 1) << lane;
    away.lanes = flow == FLOW_EXIT ? group.lanes & ~executed.taken : group.lanes;
    memcpy(away.threads, group.threads, sizeof away.threads);
    s->groups++;
    s->threads += bits_count(group.lanes);
    s->ops->issued(s->self, slot, &group, &executed);
    return away;
}

static inline void step(struct script *s, unsigned slot, enum flow flow, uint64_t goes, uint32_t target) {
    const struct away away = issue(s, slot, flow, goes, target);
    if (away.lanes)
        s->ops->forming->returned(s->self, away.threads, away.lanes);
}

#endif
