/* SPDX-License-Identifier: Apache-2.0 */
#include "lower/body.h"

#include "base/bits.h"

uint32_t body_register(struct body *body, enum type type) {
    *ARENA_PUSH(body->arena, &body->registers) = (uint8_t)type;
    return body->registers.count - 1;
}

uint32_t body_block_new(struct body *body) {
    *ARENA_PUSH(body->arena, &body->blocks) = (struct body_block){.end = END_EXIT};
    return body->blocks.count - 1;
}

struct operand operand_register(uint32_t reg) {
    return (struct operand){.kind = OPERAND_REG, .reg = reg};
}

struct operand operand_immediate(uint64_t bits) {
    return (struct operand){.kind = OPERAND_IMM, .imm = bits};
}

struct operand operand_not(struct operand predicate) {
    predicate.negated = !predicate.negated;
    return predicate;
}

struct inst *build_inst(struct inst_builder *to, enum op op, enum type type, unsigned dst_count, unsigned src_count) {
    struct body *body = to->body;
    struct inst *inst = ARENA_PUSH(body->arena, &body->blocks.items[to->block].code);
    *inst = (struct inst){.op = (uint16_t)op,
                          .type = (uint8_t)type,
                          .stype = (uint8_t)type,
                          .dst_count = (uint8_t)dst_count,
                          .src_count = (uint8_t)src_count,
                          .guard = -1};
    inst->dst = ARENA_ARRAY(body->arena, struct operand, dst_count + src_count);
    inst->src = inst->dst + dst_count;
    if (to->at) {
        inst->text_line = to->at->text_line, inst->text_column = to->at->text_column;
        inst->file = to->at->file, inst->line = to->at->line, inst->column = to->at->column;
        inst->guard = to->at->guard, inst->guard_negated = to->at->guard_negated;
    }
    return inst;
}

struct inst *build_to(struct inst_builder *to, struct operand d, enum op op, enum type type,
                      const struct operand sources[3]) {
    const unsigned count = sources[2].kind != OPERAND_NONE ? 3 : sources[1].kind != OPERAND_NONE ? 2 : 1;
    struct inst *inst = build_inst(to, op, type, 1, count);
    inst->dst[0] = d;
    for (unsigned i = 0; i < count; i++)
        inst->src[i] = sources[i];
    return inst;
}

static struct operand build_new(struct inst_builder *to, enum op op, enum type type, const struct operand sources[3]) {
    const enum type kept = type == TYPE_PRED ? TYPE_PRED : type == TYPE_F32 ? TYPE_F32 : TYPE_B32;
    const struct operand d = operand_register(body_register(to->body, kept));
    build_to(to, d, op, type, sources);
    return d;
}

/* ---- constants: only what is exact and the same for all types of integers ---- */

static bool fold_two(enum op op, enum type type, uint32_t a, uint32_t b, uint32_t *out) {
    switch (op) {
    case OP_ADD: *out = a + b; return true;
    case OP_SUB: *out = a - b; return true;
    case OP_MUL: *out = a * b; return true;
    case OP_AND: *out = a & b; return true;
    case OP_OR: *out = a | b; return true;
    case OP_XOR: *out = a ^ b; return true;
    case OP_SHL: *out = b < 32 ? a << b : 0; return true;
    case OP_SHR:
        if (type == TYPE_S32)
            *out = (uint32_t)((int32_t)a >> (b < 32 ? b : 31));
        else
            *out = b < 32 ? a >> b : 0;
        return true;
    default: return false;
    }
}

/* a op b where b is a constant: the result if it needs no instruction. */
static bool fold_right(enum op op, enum type type, struct operand a, uint32_t b, struct operand *out) {
    switch (op) {
    case OP_ADD:
    case OP_SUB:
    case OP_OR:
    case OP_XOR: *out = a; return b == 0;
    case OP_AND: *out = b ? a : operand_immediate(0); return b == 0 || b == UINT32_MAX;
    case OP_MUL: *out = b ? a : operand_immediate(0); return b <= 1;
    case OP_SHL: *out = b ? operand_immediate(0) : a; return b == 0 || b >= 32;
    case OP_SHR: *out = b ? operand_immediate(0) : a; return b == 0 || (b >= 32 && type != TYPE_S32);
    default: return false;
    }
}

static bool is_commutative(enum op op) {
    return op == OP_ADD || op == OP_AND || op == OP_OR || op == OP_XOR || op == OP_MUL;
}

struct operand build1(struct inst_builder *to, enum op op, enum type type, struct operand a) {
    if (a.kind == OPERAND_IMM && type != TYPE_F32 && type != TYPE_PRED) {
        if (op == OP_NOT)
            return operand_immediate((uint32_t)~a.imm);
        if (op == OP_NEG)
            return operand_immediate((uint32_t)(0 - a.imm));
    }
    return build_new(to, op, type, (struct operand[3]){a});
}

struct operand build2(struct inst_builder *to, enum op op, enum type type, struct operand a, struct operand b) {
    if (type == TYPE_F32 || type == TYPE_PRED)
        return build_new(to, op, type, (struct operand[3]){a, b});
    uint32_t value;
    if (a.kind == OPERAND_IMM && b.kind == OPERAND_IMM && fold_two(op, type, (uint32_t)a.imm, (uint32_t)b.imm, &value))
        return operand_immediate(value);
    if (a.kind == OPERAND_IMM && is_commutative(op)) {
        const struct operand swapped = a;
        a = b, b = swapped;
    }
    struct operand folded;
    if (b.kind == OPERAND_IMM) {
        if (fold_right(op, type, a, (uint32_t)b.imm, &folded))
            return folded;
        if (op == OP_MUL && bits_is_power_of_two((uint32_t)b.imm))
            return build2(to, OP_SHL, TYPE_B32, a, operand_immediate(bits_first((uint32_t)b.imm)));
        if (op == OP_SUB)
            op = OP_ADD, b = operand_immediate((uint32_t)(0 - b.imm));
    }
    if (a.kind == OPERAND_IMM && (op == OP_SHL || op == OP_SHR) && (uint32_t)a.imm == 0)
        return operand_immediate(0);
    return build_new(to, op, type, (struct operand[3]){a, b});
}

struct operand build3(struct inst_builder *to, enum op op, enum type type, struct operand a, struct operand b,
                      struct operand c) {
    if (op == OP_MAD && (a.kind == OPERAND_IMM || (b.kind == OPERAND_IMM && bits_is_power_of_two((uint32_t)b.imm)) ||
                         operand_is_immediate(&b, 0) || operand_is_immediate(&c, 0)))
        return build2(to, OP_ADD, type, build2(to, OP_MUL, type, a, b), c);
    const struct operand d = build_new(to, op, type, (struct operand[3]){a, b, c});
    if (op == OP_MAD)
        to->body->blocks.items[to->block].code.items[to->body->blocks.items[to->block].code.count - 1].mode = MODE_LO;
    return d;
}

struct operand build_high(struct inst_builder *to, enum type type, struct operand a, struct operand b) {
    if (a.kind == OPERAND_IMM) {
        const struct operand swapped = a;
        a = b, b = swapped;
    }
    const uint32_t value = (uint32_t)b.imm;
    if (a.kind == OPERAND_IMM && b.kind == OPERAND_IMM) {
        const uint64_t product =
            type == TYPE_S32 ? (uint64_t)((int64_t)(int32_t)a.imm * (int32_t)value) : (uint64_t)(uint32_t)a.imm * value;
        return operand_immediate(product >> 32);
    }
    if (b.kind == OPERAND_IMM && value == 0)
        return operand_immediate(0);
    if (b.kind == OPERAND_IMM && bits_is_power_of_two(value) && (type != TYPE_S32 || value != UINT32_C(0x80000000)))
        return build2(to, OP_SHR, type, a, operand_immediate(32 - bits_first(value)));
    const struct operand d = operand_register(body_register(to->body, TYPE_B32));
    build_to(to, d, OP_MUL, type, (struct operand[3]){a, b})->mode = MODE_HI;
    return d;
}

struct operand build_compare(struct inst_builder *to, enum compare compare, enum type type, struct operand a,
                             struct operand b) {
    return build_compare_and(to, compare, type, BOOL_NONE, (struct operand[3]){a, b});
}

struct operand build_compare_and(struct inst_builder *to, enum compare compare, enum type type, enum boolop boolop,
                                 const struct operand sources[3]) {
    const struct operand d = operand_register(body_register(to->body, TYPE_PRED));
    struct inst *inst = build_to(to, d, OP_SETP, type, sources);
    inst->compare = (uint8_t)compare;
    inst->boolop = (uint8_t)boolop;
    return d;
}

struct operand build_convert(struct inst_builder *to, enum type type, enum type from, enum rounding rounding,
                             struct operand a) {
    const struct operand d = operand_register(body_register(to->body, type == TYPE_F32 ? TYPE_F32 : TYPE_B32));
    struct inst *inst = build_to(to, d, OP_CVT, type, (struct operand[3]){a});
    inst->stype = (uint8_t)from;
    inst->rounding = (uint8_t)rounding;
    return d;
}

struct operand build_select(struct inst_builder *to, struct operand predicate, struct operand yes, struct operand no) {
    return build_new(to, OP_SELP, TYPE_B32, (struct operand[3]){yes, no, predicate});
}

void build_move(struct inst_builder *to, struct operand d, struct operand a) {
    const bool is_predicate = to->body->registers.items[d.reg] == TYPE_PRED;
    build_to(to, d, OP_MOV, is_predicate ? TYPE_PRED : TYPE_B32, (struct operand[3]){a});
}

void build_branch(struct inst_builder *to, struct operand predicate, uint32_t taken, uint32_t next) {
    struct body_block *block = &to->body->blocks.items[to->block];
    block->end = END_BRANCH;
    block->predicate = predicate.reg, block->negated = predicate.negated;
    block->taken = taken, block->next = next;
    block->at = to->at;
    to->block = next;
}

void build_jump(struct inst_builder *to, uint32_t next) {
    struct body_block *block = &to->body->blocks.items[to->block];
    block->end = END_JUMP;
    block->next = next;
    block->at = to->at;
    to->block = next;
}

enum status body_refuse(const struct body *body, const struct inst *at, const char *isa, const char *what,
                        struct report *report) {
    return report_add(report, STATUS_INVALID, "%s:%u:%u: error: %s: unsupported: %s", body->module->name,
                      (unsigned)at->text_line, (unsigned)at->text_column, isa, what);
}

/* ---- what nobody reads ---- */

static bool has_effect(const struct inst *inst) {
    switch ((enum op)inst->op) {
    case OP_LD: return inst->order != ORDER_WEAK;
    case OP_ST:
    case OP_ATOM:
    case OP_RED:
    case OP_MEMBAR:
    case OP_BAR: return true;
    default: return false;
    }
}

static void mark_reached(const struct body *body, uint8_t *reached) {
    uint32_t *stack = ARENA_ARRAY(body->arena, uint32_t, body->blocks.count + 1);
    uint32_t depth = 0;
    stack[depth++] = 0, reached[0] = 1;
    while (depth) {
        const struct body_block *block = &body->blocks.items[stack[--depth]];
        const uint32_t to[2] = {block->next, block->taken};
        const unsigned count = block->end == END_EXIT ? 0 : block->end == END_JUMP ? 1 : 2;
        for (unsigned i = 0; i < count; i++)
            if (!reached[to[i]])
                reached[to[i]] = 1, stack[depth++] = to[i];
    }
}

struct marking {
    struct body *body;
    uint8_t *needed; /* by register */
    bool carry;      /* a block takes the carry of another: the last of each is kept */
    bool changed;
};

static void need(struct marking *marking, uint32_t reg) {
    marking->changed = marking->changed || !marking->needed[reg];
    marking->needed[reg] = 1;
}

static void need_sources(struct marking *marking, const struct inst *inst) {
    for (unsigned i = 0; i < inst->src_count; i++)
        if (inst->src[i].kind == OPERAND_REG || (inst->src[i].kind == OPERAND_ADDRESS && inst->src[i].has_reg))
            need(marking, inst->src[i].reg);
    if (inst->guard >= 0)
        need(marking, (uint32_t)inst->guard);
}

static bool is_needed(const struct marking *marking, const struct inst *inst) {
    if (has_effect(inst))
        return true;
    for (unsigned k = 0; k < inst->dst_count; k++)
        if (inst->dst[k].kind == OPERAND_REG && marking->needed[inst->dst[k].reg])
            return true;
    return false;
}

/* Backwards: who takes a carry needs who makes it. */
static void mark_block(struct marking *marking, const struct body_block *block, bool sweep) {
    bool carry = marking->carry;
    for (unsigned i = block->code.count; i-- > 0;) {
        struct inst *inst = &block->code.items[i];
        if (inst->flags & FLAG_CARRY_OUT && !carry)
            inst->flags = sweep ? inst->flags & (uint16_t)~FLAG_CARRY_OUT : inst->flags;
        if (is_needed(marking, inst) || (carry && inst->flags & FLAG_CARRY_OUT)) {
            carry = inst->flags & FLAG_CARRY_IN || (carry && !(inst->flags & FLAG_CARRY_OUT));
            need_sources(marking, inst);
        } else if (sweep) {
            inst->op = OP_NOP;
        }
    }
    if (carry && !marking->carry)
        marking->carry = marking->changed = true;
    if (block->end == END_BRANCH)
        need(marking, block->predicate);
}

void body_clean(struct body *body) {
    uint8_t *reached = ARENA_ARRAY(body->arena, uint8_t, body->blocks.count);
    struct marking marking = {.body = body,
                              .needed = ARENA_ARRAY(body->arena, uint8_t, body->registers.count + 1),
                              .changed = true};
    mark_reached(body, reached);
    for (uint32_t b = 0; b < body->blocks.count; b++)
        if (!reached[b])
            body->blocks.items[b] = (struct body_block){.end = END_EXIT};
    while (marking.changed) {
        marking.changed = false;
        for (uint32_t b = body->blocks.count; b-- > 0;)
            mark_block(&marking, &body->blocks.items[b], false);
    }
    for (uint32_t b = 0; b < body->blocks.count; b++) {
        struct body_block *block = &body->blocks.items[b];
        mark_block(&marking, block, true);
        unsigned kept = 0;
        for (unsigned i = 0; i < block->code.count; i++)
            if (block->code.items[i].op != OP_NOP)
                block->code.items[kept++] = block->code.items[i];
        block->code.count = kept;
    }
}
