/* SPDX-License-Identifier: Apache-2.0 */
/* One warp of a mechanism that keeps warps in their slots, driven by scripted outcomes. */
#ifndef HEDDLE_TESTS_SCRIPTED_WARP_H
#define HEDDLE_TESTS_SCRIPTED_WARP_H

#include "own_keys.h"

#include "divergence/divergence.h"

enum { CODE = 64, SHARE = 125 /* requests of 1000 cycles */ };

struct scripted {
    struct arena arena;
    struct inst code[CODE];
    const struct divergence_ops *ops;
    void *self, *params;
    uint64_t now, memory, idle, stall, requests; /* what the SM has done with its time */
    struct divergence_usage usage;
    const struct executor *executor; /* NULL: nobody asks what threads hold */
    const char *blocks;              /* names of the PCs, a letter each */
};

/* Settings as own_values has them. The code can be changed until start. */
static inline void choose(struct scripted *s, const char *mechanism, const char *const *settings) {
    s->ops = divergence_find(mechanism);
    assert_non_null(s->ops);
    s->params = own_values(&s->ops->own, &s->arena, settings);
}

static inline void start(struct scripted *s, uint32_t lanes) {
    s->usage = (struct divergence_usage){&s->memory, &s->idle, &s->stall, &s->requests, 1, SHARE};
    const struct divergence_shape shape = {.code = s->code,
                                           .code_count = CODE,
                                           .warps = 1,
                                           .warp_size = 32,
                                           .width = 32,
                                           .warps_per_block = 1,
                                           .schedulers = 1,
                                           .params = s->params,
                                           .now = &s->now,
                                           .usage = &s->usage,
                                           .executor = s->executor};
    s->self = s->ops->create(&s->arena, &shape);
    s->ops->start(s->self, 0, 0, lanes);
}

static inline uint64_t counter(const struct scripted *s, const char *name) {
    return own_counter(&s->ops->own, s->ops->own.statistics(s->self), name);
}

static inline void setup(struct scripted *s, const char *mechanism, uint32_t lanes) {
    memset(s, 0, sizeof *s);
    choose(s, mechanism, NULL);
    start(s, lanes);
}

static inline void expect(struct scripted *s, uint32_t pc, uint32_t lanes) {
    struct group group;
    assert_true(s->ops->offer(s->self, 0, &group));
    assert_int_equal(group.pc, pc);
    assert_int_equal(group.lanes, lanes);
}

/* The same, with where a straight run would end and in which blocks lanes 3 to 0 stand. */
static inline void expect_state(struct scripted *s, uint32_t pc, uint32_t lanes, uint32_t stop_pc, const char *places) {
    struct group group;
    uint32_t pcs[LANES_MAX] = {0};
    expect(s, pc, lanes);
    s->ops->offer(s->self, 0, &group);
    assert_int_equal(group.stop_pc, stop_pc);
    s->ops->where(s->self, 0, pcs);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(s->blocks[pcs[3 - i]], places[i]);
}

static inline void expect_nothing(struct scripted *s) {
    struct group group;
    assert_false(s->ops->offer(s->self, 0, &group));
    assert_int_equal(s->ops->alive(s->self, 0), 0);
    arena_free(&s->arena);
}

static inline void issue(struct scripted *s, enum flow flow, uint32_t taken, uint32_t target) {
    struct group group;
    assert_true(s->ops->offer(s->self, 0, &group));
    struct executed executed = {
        .flow = flow, .pc = group.pc, .issues = 1, .lanes = group.lanes, .taken = taken, .target = target};
    for (unsigned i = 0; i < LANES_MAX; i++)
        executed.next[i] = taken >> i & 1 ? target : group.pc + 1;
    s->ops->issued(s->self, 0, &group, &executed);
}

#endif
