/* SPDX-License-Identifier: Apache-2.0 */
/* Modules made by hand for the tests of isa/analysis: one function after the other, operand by operand. */
#ifndef HEDDLE_TESTS_ANALYSIS_BUILD_H
#define HEDDLE_TESTS_ANALYSIS_BUILD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>
#include <string.h>

#include "base/arena.h"
#include "base/rng.h"
#include "isa/analysis.h"
#include "isa/flow.h"

struct builder {
    struct module module;
    struct {
        struct inst *items;
        unsigned count, capacity;
    } code;
    struct {
        struct function **items;
        unsigned count, capacity;
    } functions;
};

static inline void build_free(struct builder *b) {
    arena_free(&b->module.arena);
    memset(b, 0, sizeof *b);
}

/* Starts a function; its registers have these types. */
static inline struct function *build_function(struct builder *b, const char *name, uint32_t reg_count,
                                              const uint8_t *reg_types) {
    struct arena *arena = &b->module.arena;
    struct function *function = ARENA_NEW(arena, struct function);
    function->name = name;
    function->index = b->functions.count;
    function->is_defined = true;
    function->first_pc = function->end_pc = b->code.count;
    function->reg_count = reg_count;
    function->reg_types = arena_copy(arena, reg_types, reg_count);
    *ARENA_PUSH(arena, &b->functions) = function;
    return function;
}

/* Appends an instruction to the last function. The pointer is good until the next append. */
static inline struct inst *build_inst(struct builder *b, enum op op, int32_t guard) {
    struct inst *inst = ARENA_PUSH(&b->module.arena, &b->code);
    inst->op = (uint16_t)op;
    inst->guard = guard;
    inst->target = NO_PC;
    inst->reconverge = 0xdead;
    b->functions.items[b->functions.count - 1]->end_pc = b->code.count;
    return inst;
}

static inline struct operand *build_operands(struct builder *b, unsigned count, const uint32_t *regs) {
    struct operand *operands = ARENA_ARRAY(&b->module.arena, struct operand, count);
    for (unsigned i = 0; i < count; i++)
        operands[i] = (struct operand){.kind = OPERAND_REG, .reg = regs[i]};
    return operands;
}

/* d = op(sources) */
static inline void build_op(struct builder *b, int32_t guard, uint32_t d, unsigned source_count,
                            const uint32_t *sources) {
    struct inst *inst = build_inst(b, OP_ADD, guard);
    inst->dst = build_operands(b, 1, &d);
    inst->dst_count = 1;
    inst->src = build_operands(b, source_count, sources);
    inst->src_count = (uint8_t)source_count;
}

static inline void build_bra(struct builder *b, int32_t guard, uint32_t target) {
    build_inst(b, OP_BRA, guard)->target = target;
}

static inline void build_brx(struct builder *b, int32_t guard, unsigned count, const uint32_t *targets) {
    const uint32_t *copy = arena_copy(&b->module.arena, targets, count * sizeof *targets);
    struct inst *inst = build_inst(b, OP_BRX, guard);
    inst->targets = copy;
    inst->target_count = count;
}

static inline enum status build_analyse(struct builder *b, struct report *report) {
    b->module.name = "test.ptx";
    b->module.code = b->code.items;
    b->module.code_count = b->code.count;
    b->module.functions = b->functions.items;
    b->module.function_count = b->functions.count;
    return analyse(&b->module, report);
}

/* One random function of at most `most` instructions: straight code, branches anywhere, guarded ends, brx. */
static inline void build_random(struct builder *b, struct rng *rng, uint32_t most, uint32_t reg_count,
                                const uint8_t *reg_types, uint32_t predicate_count) {
    uint32_t length = 1 + (uint32_t)rng_below(rng, most);
    uint32_t straight = (uint32_t)rng_below(rng, 10);
    build_function(b, "random", reg_count, reg_types);
    for (uint32_t i = 0; i < length; i++) {
        int32_t guard = rng_below(rng, 2) ? (int32_t)rng_below(rng, predicate_count) : -1;
        uint32_t regs[4];
        for (int r = 0; r < 4; r++)
            regs[r] = (uint32_t)rng_below(rng, reg_count);
        if (rng_below(rng, 10) < straight) {
            build_op(b, guard, regs[0], (unsigned)rng_below(rng, 4), regs + 1);
            continue;
        }
        switch (rng_below(rng, 8)) {
        case 0: build_inst(b, OP_RET, guard); break;
        case 1: build_inst(b, OP_EXIT, guard); break;
        case 2: build_inst(b, OP_TRAP, guard); break;
        case 3: {
            uint32_t targets[3];
            for (int t = 0; t < 3; t++)
                targets[t] = (uint32_t)rng_below(rng, length);
            build_brx(b, guard, 3, targets);
            break;
        }
        default: build_bra(b, guard, (uint32_t)rng_below(rng, length));
        }
    }
}

/* Over what can be reached, which grows until nothing more is added. */
static inline bool has_return(const struct builder *b, const struct function *function) {
    bool reached[512] = {[0] = true}, grows = true, found = false;
    const uint32_t first = function->first_pc;
    assert_true(function->end_pc - first <= 512);
    while (grows) {
        grows = false;
        for (uint32_t pc = first; pc < function->end_pc; pc++) {
            const struct inst *inst = &b->code.items[pc];
            const bool ends = inst->op == OP_RET || inst->op == OP_EXIT || inst->op == OP_TRAP || inst->op == OP_BRA ||
                              inst->op == OP_BRX || (inst->op == OP_CALL && inst->call->callee->is_noreturn);
            uint32_t target_count = inst->op == OP_BRA ? 1 : inst->op == OP_BRX ? inst->target_count : 0;
            if (!reached[pc - first])
                continue;
            found |= inst->op == OP_RET;
            if ((!ends || inst->guard >= 0) && pc + 1 < function->end_pc && !reached[pc + 1 - first])
                reached[pc + 1 - first] = grows = true;
            while (target_count--) {
                const uint32_t to = inst->op == OP_BRA ? inst->target : inst->targets[target_count];
                if (!reached[to - first])
                    reached[to - first] = grows = true;
            }
        }
    }
    return found;
}

/* Where instruction pc can lead, straight from the instruction: up to 4 of them; `exit` stands for the exit. */
static inline unsigned next_pcs(const struct builder *b, const struct function *function, uint32_t pc, uint32_t exit,
                                uint32_t *out) {
    const struct inst *inst = &b->code.items[pc];
    unsigned count = 0;
    bool falls = inst->guard >= 0;
    switch (inst->op) {
    case OP_RET: out[count++] = exit; break;
    case OP_EXIT:
    case OP_TRAP: /* threads that end meet nobody: no way to the exit where a ret leads there */
        if (!has_return(b, function))
            out[count++] = exit;
        break;
    case OP_BRA: out[count++] = inst->target; break;
    case OP_BRX:
        for (uint32_t i = 0; i < inst->target_count; i++)
            out[count++] = inst->targets[i];
        break;
    default: falls = true;
    }
    if (falls)
        out[count++] = pc + 1 == function->end_pc ? exit : pc + 1;
    return count;
}

#endif
