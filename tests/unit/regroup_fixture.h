/* SPDX-License-Identifier: Apache-2.0 */
/* A mechanism that dissolves groups, driven by scripted outcomes. */
#ifndef HEDDLE_TESTS_REGROUP_FIXTURE_H
#define HEDDLE_TESTS_REGROUP_FIXTURE_H

#include "base/bits.h"
#include "own_keys.h"

#include "divergence/divergence.h"

enum { CODE = 64 };

struct fixture {
    struct arena arena;
    struct inst code[CODE];
    const struct divergence_ops *ops;
    void *self;
    uint64_t slots; /* that offer something, by what the mechanism answered */
    unsigned groups, threads;
    uint32_t last_pc;
    uint64_t now, wake;
};

static inline void look(struct fixture *f, uint64_t changed) {
    for (; changed; changed &= changed - 1) {
        struct group group;
        const unsigned slot = bits_first64(changed);
        f->slots &= ~(UINT64_C(1) << slot);
        f->slots |= (uint64_t)f->ops->offer(f->self, slot, &group) << slot;
    }
}

/* Settings as own_values has them. */
static inline void create(struct fixture *f, const char *name, unsigned warps, unsigned warp_size,
                          unsigned warps_per_block, const char *const *settings) {
    f->ops = divergence_find(name);
    f->wake = UINT64_MAX;
    assert_non_null(f->ops);
    void *values = own_values(&f->ops->own, &f->arena, settings);
    const struct divergence_shape shape = {.code = f->code,
                                           .code_count = CODE,
                                           .warps = warps,
                                           .warp_size = warp_size,
                                           .width = warp_size,
                                           .warps_per_block = warps_per_block,
                                           .schedulers = 1,
                                           .params = values,
                                           .now = &f->now,
                                           .wake = &f->wake};
    f->self = f->ops->create(&f->arena, &shape);
}

static inline void setup_with(struct fixture *f, const char *name, unsigned warps, unsigned warp_size,
                              unsigned warps_per_block, const char *const *settings) {
    memset(f, 0, sizeof *f);
    create(f, name, warps, warp_size, warps_per_block, settings);
}

static inline void setup(struct fixture *f, const char *name, unsigned warps, unsigned warp_size,
                         unsigned warps_per_block) {
    setup_with(f, name, warps, warp_size, warps_per_block, NULL);
}

static inline void start(struct fixture *f, unsigned warp, uint32_t pc, uint32_t lanes) {
    look(f, f->ops->start(f->self, warp, pc, lanes));
}

/* Issues the group of a slot; each of its threads goes to next[thread], NO_PC: it ends. All come back at once. */
static inline void issue(struct fixture *f, unsigned slot, const struct group *offered, const uint32_t *next) {
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
        look(f, f->ops->forming->returned(f->self, threads, back));
}

/* The lanes that slots offer, by PC; a PC that several offer fails. */
static inline uint32_t lanes_at(struct fixture *f, uint32_t pc) {
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

/* The first slot that offers that PC; ISSUE_SLOTS_MAX: none does. */
static inline unsigned find_slot(struct fixture *f, uint32_t pc, struct group *out) {
    for (uint64_t rest = f->slots; rest; rest &= rest - 1)
        if (f->ops->offer(f->self, bits_first64(rest), out) && out->pc == pc)
            return bits_first64(rest);
    return ISSUE_SLOTS_MAX;
}

static inline unsigned slot_at(struct fixture *f, uint32_t pc, struct group *out) {
    const unsigned slot = find_slot(f, pc, out);
    if (slot == ISSUE_SLOTS_MAX)
        fail_msg("no slot offers PC %u", (unsigned)pc);
    return slot;
}

#endif
