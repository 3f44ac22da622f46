/* SPDX-License-Identifier: Apache-2.0 */
/* A warp of native code under the token stack, by scripted branch outcomes. Addresses are bytes, 8 an instruction. */
#ifndef HEDDLE_TESTS_TOKEN_WARP_H
#define HEDDLE_TESTS_TOKEN_WARP_H

#include "scripted_warp.h"

#define PC(address) ((address) / 8)

static inline void begin(struct scripted *s) {
    memset(s, 0, sizeof *s);
    choose(s, "tokens", NULL);
    for (unsigned i = 0; i < CODE; i++)
        s->code[i] = (struct inst){.op = OP_NOP, .guard = -1};
}

/* Native instructions. */
static inline struct inst *put(struct scripted *s, uint32_t address, enum op op, uint32_t target) {
    struct inst *inst = &s->code[PC(address)];
    inst->op = (uint16_t)op, inst->target = PC(target);
    return inst;
}
static inline void put_guarded(struct scripted *s, uint32_t address, enum op op, uint32_t target) {
    put(s, address, op, target)->guard = 0;
}
/* .S of an SSY with that target */
static inline void put_pop(struct scripted *s, uint32_t address, uint32_t target) {
    put(s, address, OP_NOP, target)->flags |= FLAG_POP;
}
static inline void put_guarded_pop(struct scripted *s, uint32_t address, uint32_t target) {
    put_pop(s, address, target);
    s->code[PC(address)].guard = 0;
}

/* The instruction at hand, its guard held by `held` of the active lanes. */
static inline void step(struct scripted *s, uint32_t held) {
    struct group group;
    assert_true(s->ops->offer(s->self, 0, &group));
    const struct inst *inst = &s->code[group.pc];
    held &= group.lanes;
    if (inst_jumps(inst))
        issue(s, FLOW_BRANCH, held, inst->target);
    else if (inst->op == OP_EXIT)
        issue(s, FLOW_EXIT, held, 0);
    else if (inst->op == OP_CALL && held)
        issue(s, FLOW_CALL, held, inst->target);
    else if (inst->op == OP_RET && held)
        issue(s, FLOW_RETURN, held, inst->target);
    else
        issue(s, FLOW_NEXT, 0, 0);
}

/* A row of a table: PC, active mask, and all else that the warp holds, the top of the stack first: what, mask, PC. */
static inline void row(struct scripted *s, uint32_t address, uint32_t active, const char *held) {
    struct group_row rows[16];
    char text[256] = "";
    expect(s, PC(address), active);
    const unsigned count = s->ops->show(s->self, 0, rows, 16);
    assert_true(count > 0);
    assert_string_equal(rows[0].what, "active");
    assert_int_equal(rows[0].pc, PC(address));
    assert_int_equal(rows[0].lanes, active);
    for (unsigned i = 1; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s %x %x", i > 1 ? ", " : "", rows[i].what,
                 (unsigned)rows[i].lanes, (unsigned)rows[i].pc * 8);
    assert_string_equal(text, held);
}

/* Instructions without effect on the stack up to that address, by the same lanes. */
static inline void run_to(struct scripted *s, uint32_t address) {
    struct group group;
    assert_true(s->ops->offer(s->self, 0, &group));
    for (uint32_t pc = group.pc, lanes = group.lanes; pc < PC(address); pc++) {
        assert_int_equal(s->code[pc].op, OP_NOP);
        expect(s, pc, lanes);
        step(s, lanes);
    }
}

static inline void all(struct scripted *s) { step(s, UINT32_MAX); }

static inline void where_is(struct scripted *s, unsigned lane, uint32_t address) {
    uint32_t pcs[LANES_MAX] = {0};
    s->ops->where(s->self, 0, pcs);
    assert_int_equal(pcs[lane], PC(address));
}

static inline void exit_all(struct scripted *s, uint32_t address, uint32_t lanes) {
    run_to(s, address);
    row(s, address, lanes, "");
    all(s);
    expect_nothing(s);
}

#endif
