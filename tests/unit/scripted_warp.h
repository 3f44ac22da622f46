/* One warp of a mechanism that keeps warps in their slots, driven by scripted outcomes. */
#ifndef HEDDLE_TESTS_SCRIPTED_WARP_H
#define HEDDLE_TESTS_SCRIPTED_WARP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>
#include <string.h>

#include "base/param.h"
#include "divergence/divergence.h"

enum { CODE = 64 };

struct fixture {
    struct arena arena;
    struct report report;
    struct inst code[CODE];
    const struct divergence_ops *ops;
    void *self;
    uint64_t params[64]; /* at most 512 bytes of keys */
    const char *blocks;  /* names of the PCs, a letter each */
};

/* key NULL: all keys have their defaults. The code can be changed until start. */
static inline void setup_with(struct fixture *f, const char *mechanism, const char *key, const char *value) {
    memset(f, 0, sizeof *f);
    f->ops = divergence_find(mechanism);
    assert_non_null(f->ops);
    assert_true(f->ops->params_bytes <= sizeof f->params);
    if (!f->ops->params)
        return;
    struct param_set set;
    assert_int_equal(param_create(&set, f->ops->params, f->params, &f->arena, &f->report), STATUS_OK);
    if (key)
        assert_int_equal(param_assign(&set, key, value, "test", "test", &f->report), STATUS_OK);
}

static inline void start(struct fixture *f, uint32_t lanes) {
    const struct divergence_shape shape = {.code = f->code,
                                           .code_count = CODE,
                                           .warps = 1,
                                           .warp_size = 32,
                                           .warps_per_block = 1,
                                           .schedulers = 1,
                                           .params = f->params};
    f->self = f->ops->create(&f->arena, &shape);
    f->ops->start(f->self, 0, 0, lanes);
}

static inline void setup(struct fixture *f, const char *mechanism, uint32_t lanes) {
    setup_with(f, mechanism, NULL, NULL);
    start(f, lanes);
}

static inline void expect(struct fixture *f, uint32_t pc, uint32_t lanes) {
    struct group group;
    assert_true(f->ops->offer(f->self, 0, &group));
    assert_int_equal(group.pc, pc);
    assert_int_equal(group.lanes, lanes);
}

/* The same, with where a straight run would end and in which blocks lanes 3 to 0 stand. */
static inline void expect_state(struct fixture *f, uint32_t pc, uint32_t lanes, uint32_t stop_pc, const char *places) {
    struct group group;
    uint32_t pcs[LANES_MAX] = {0};
    expect(f, pc, lanes);
    f->ops->offer(f->self, 0, &group);
    assert_int_equal(group.stop_pc, stop_pc);
    f->ops->where(f->self, 0, pcs);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(f->blocks[pcs[3 - i]], places[i]);
}

static inline void expect_nothing(struct fixture *f) {
    struct group group;
    assert_false(f->ops->offer(f->self, 0, &group));
    assert_int_equal(f->ops->alive(f->self, 0), 0);
    report_free(&f->report);
    arena_free(&f->arena);
}

static inline void issue(struct fixture *f, enum flow flow, uint32_t taken, uint32_t target) {
    struct group group;
    assert_true(f->ops->offer(f->self, 0, &group));
    struct executed executed = {
        .flow = flow, .pc = group.pc, .issues = 1, .lanes = group.lanes, .taken = taken, .target = target};
    for (unsigned i = 0; i < LANES_MAX; i++)
        executed.next[i] = taken >> i & 1 ? target : group.pc + 1;
    f->ops->issued(f->self, 0, &group, &executed);
}

#endif
