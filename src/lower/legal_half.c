/* SPDX-License-Identifier: Apache-2.0 */
/* f16 and bf16. One of them is the low half of a word whose upper half may hold anything; arithmetic is of both halves at once,
 * and what it makes of the upper one is not read. */
#include "lower/legal.h"

bool legal_is_half(enum type type) {
    return type == TYPE_F16 || type == TYPE_BF16 || type == TYPE_F16X2 || type == TYPE_BF16X2;
}

static bool is_pair(enum type type) { return type == TYPE_F16X2 || type == TYPE_BF16X2; }

static bool is_brain(enum type type) { return type == TYPE_BF16 || type == TYPE_BF16X2; }

static enum type pair_of(enum type type) { return is_brain(type) ? TYPE_BF16X2 : TYPE_F16X2; }

static struct operand new_word(struct inst_builder *to) { return operand_register(body_register(to->body, TYPE_B32)); }

static struct operand new_float(struct inst_builder *to) { return operand_register(body_register(to->body, TYPE_F32)); }

static struct operand upper_half(struct inst_builder *to, struct operand a) {
    return build2(to, OP_SHR, TYPE_U32, a, constant(16));
}

static struct operand joined(struct inst_builder *to, struct operand low, struct operand high) {
    const struct operand up = build2(to, OP_SHL, TYPE_B32, high, constant(16));
    return build2(to, OP_OR, TYPE_B32, build2(to, OP_AND, TYPE_B32, low, constant(0xffff)), up);
}

/* Its bits in an f32, which has the same exponent. */
static struct operand brain_bits(struct inst_builder *to, struct operand a) {
    return build2(to, OP_SHL, TYPE_B32, a, constant(16));
}

static struct operand widened(struct inst_builder *to, enum type type, struct operand a) {
    if (is_brain(type))
        return legal_same_float(to, brain_bits(to, a), 0);
    return build_convert(to, TYPE_F32, TYPE_F16, ROUND_DEFAULT, a);
}

/* Two floats in the halves of a word. */
static struct operand narrowed(struct inst_builder *to, enum type type, const struct operand sources[2],
                               enum rounding rounding, unsigned flags) {
    const struct operand d = new_word(to);
    struct inst *made = build_inst(to, OP_CVT, pair_of(type), 1, 2);
    made->dst[0] = d, made->src[0] = sources[0], made->src[1] = sources[1];
    made->stype = TYPE_F32, made->rounding = (uint8_t)rounding, made->flags = (uint16_t)(flags & FLAG_RELU);
    return d;
}

static struct operand narrowed_one(struct inst_builder *to, enum type type, struct operand a, enum rounding rounding,
                                   unsigned flags) {
    return narrowed(to, type, (struct operand[2]){constant(0), a}, rounding, flags);
}

/* ---- arithmetic ---- */

static struct operand operation(struct inst_builder *to, enum op op, enum type type, const struct operand sources[3],
                                unsigned flags) {
    const struct operand d = new_word(to);
    build_to(to, d, op, type, sources)->flags = (uint16_t)flags;
    return d;
}

static uint32_t ones_of(enum type type) { return is_brain(type) ? 0x3f803f80 : 0x3c003c00; }

/* bf16 has products with a sum alone: the others are made of it, without another result. */
static struct operand arithmetic(struct legal *l, const struct inst *inst, enum type type) {
    struct operand x[3] = {absent, absent, absent};
    for (unsigned i = 0; i < inst->src_count; i++)
        x[i] = legal_low(l, &inst->src[i]);
    const unsigned flags = inst->flags & (FLAG_FTZ | FLAG_SAT | FLAG_RELU | FLAG_NAN | FLAG_XORSIGN);
    const enum op op = inst->op == OP_MAD ? OP_FMA : (enum op)inst->op;
    const struct operand ones = constant(ones_of(type)), minus = constant(ones_of(type) ^ 0x80008000);
    if (is_brain(type) && op == OP_ADD)
        return operation(&l->at, OP_FMA, type, (struct operand[3]){x[0], ones, x[1]}, flags);
    if (is_brain(type) && op == OP_SUB)
        return operation(&l->at, OP_FMA, type, (struct operand[3]){x[1], minus, x[0]}, flags);
    if (is_brain(type) && op == OP_MUL)
        return operation(&l->at, OP_FMA, type, (struct operand[3]){x[0], x[1], constant(0x80008000)}, flags);
    return operation(&l->at, op, type, x, flags);
}

/* Numbers without an exponent become 0 with their sign. */
static struct operand flushed(struct inst_builder *to, struct operand a) {
    for (unsigned i = 0; i < 2; i++) {
        const struct operand field = build2(to, OP_AND, TYPE_B32, a, constant(0x7c00u << 16 * i));
        const struct operand small = build_compare(to, CMP_EQ, TYPE_U32, field, constant(0));
        const struct operand zero = build2(to, OP_AND, TYPE_B32, a, constant(~(0x7fffu << 16 * i)));
        a = build_select(to, small, zero, a);
    }
    return a;
}

static struct operand function(struct inst_builder *to, const struct inst *inst, enum type type, struct operand a) {
    if (!is_brain(type)) {
        const struct operand d = new_word(to);
        build_to(to, d, (enum op)inst->op, TYPE_F16, (struct operand[3]){a});
        return d;
    }
    const struct operand wide = brain_bits(to, a), d = new_float(to);
    build_to(to, d, (enum op)inst->op, TYPE_F32, (struct operand[3]){wide});
    return narrowed_one(to, type, d, ROUND_RN, 0);
}

enum status legal_half(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const enum type type = pair_of((enum type)inst->type);
    struct operand value;
    switch ((enum op)inst->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_FMA:
    case OP_MAD:
    case OP_MIN:
    case OP_MAX: value = arithmetic(l, inst, type); break;
    case OP_NEG:
    case OP_ABS: {
        const bool is_neg = inst->op == OP_NEG;
        value = legal_low(l, &inst->src[0]);
        if (inst->flags & FLAG_FTZ)
            value = flushed(to, value);
        value = build2(to, is_neg ? OP_XOR : OP_AND, TYPE_B32, value, constant(is_neg ? 0x80008000 : 0x7fff7fff));
        break;
    }
    case OP_EX2:
    case OP_TANH: {
        const struct operand a = legal_low(l, &inst->src[0]);
        value = function(to, inst, type, a);
        if (is_pair((enum type)inst->type))
            value = joined(to, value, function(to, inst, type, upper_half(to, a)));
        break;
    }
    default: return legal_refuse(l, inst, op_name((enum op)inst->op));
    }
    legal_put(l, &inst->dst[0], value);
    return STATUS_OK;
}

/* ---- comparison ---- */

static struct operand compare_brains(struct legal *l, const struct inst *inst, unsigned half, struct operand c) {
    struct inst_builder *to = &l->at;
    struct operand x[3] = {absent, absent, c};
    for (unsigned i = 0; i < 2; i++) {
        const struct operand word = legal_low(l, &inst->src[i]);
        x[i] = half ? build2(to, OP_AND, TYPE_B32, word, constant(0xffff0000)) : brain_bits(to, word);
    }
    return build_compare_and(to, (enum compare)inst->compare, TYPE_F32,
                             c.kind == OPERAND_NONE ? BOOL_NONE : (enum boolop)inst->boolop, x);
}

void legal_compare_halves(struct legal *l, const struct inst *inst, enum type type, struct operand out[2]) {
    struct inst_builder *to = &l->at;
    const struct operand c = inst->src_count > 2 ? legal_low(l, &inst->src[2]) : absent;
    const unsigned count = is_pair(type) ? 2 : 1;
    out[1] = absent;
    for (unsigned i = 0; i < count && is_brain(type); i++)
        out[i] = compare_brains(l, inst, i, c);
    if (is_brain(type))
        return;
    const struct operand a = legal_low(l, &inst->src[0]), b = legal_low(l, &inst->src[1]);
    for (unsigned i = 0; i < count; i++)
        out[i] = operand_register(body_register(l->to, TYPE_PRED));
    struct inst *made = build_inst(to, OP_SETP, TYPE_F16X2, count, c.kind == OPERAND_NONE ? 2 : 3);
    made->compare = inst->compare, made->boolop = c.kind == OPERAND_NONE ? BOOL_NONE : inst->boolop;
    made->flags = inst->flags & FLAG_FTZ;
    made->src[0] = a, made->src[1] = b;
    if (c.kind != OPERAND_NONE)
        made->src[2] = c;
    for (unsigned i = 0; i < count; i++)
        made->dst[i] = out[i];
}

/* ---- conversion ---- */

static struct operand plain_convert(struct inst_builder *to, const struct inst *inst, struct wide a) {
    const struct operand d = new_word(to);
    const bool is_wide = a.hi.kind != OPERAND_NONE;
    struct inst *made = build_inst(to, OP_CVT, (enum type)inst->type, 1, is_wide ? 2 : 1);
    made->dst[0] = d, made->src[0] = a.lo, made->stype = inst->stype, made->rounding = inst->rounding;
    if (is_wide)
        made->src[1] = a.hi;
    return d;
}

/* A number as a float towards 0, with its last bit set where something is lost: rounded once more, to fewer bits, it is what
 * the number would be. */
static struct operand odd_float(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const enum type from = (enum type)inst->stype;
    const bool is_wide = type_bytes(from) == 8;
    const enum type kind = is_wide ? from : type_is_signed(from) ? TYPE_S32 : TYPE_U32;
    const struct wide a =
        is_wide ? legal_wide(l, &inst->src[0]) : (struct wide){legal_narrow(l, &inst->src[0], from), absent};
    if (type_bytes(from) < 4)
        return build_convert(to, TYPE_F32, kind, ROUND_RZ, a.lo);
    struct inst number = {.type = TYPE_F32, .stype = (uint8_t)kind, .rounding = ROUND_RZ};
    const struct operand value = plain_convert(to, &number, a);
    struct operand lost;
    if (is_wide) {
        const struct wide back = build_pair(to, OP_CVT, kind, &value, 1);
        struct body_block *block = &l->to->blocks.items[to->block];
        struct inst *made = &block->code.items[block->code.count - 1];
        made->stype = TYPE_F32, made->rounding = ROUND_RZI;
        lost = wide_compare(to, CMP_NE, TYPE_U64, back, a);
    } else {
        lost = build_compare(to, CMP_NE, TYPE_U32, build_convert(to, kind, TYPE_F32, ROUND_RZI, value), a.lo);
    }
    return build2(to, OP_OR, TYPE_B32, value, build_select(to, lost, constant(1), constant(0)));
}

static enum status to_half(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const enum type type = (enum type)inst->type, from = (enum type)inst->stype;
    const enum rounding rounding = (enum rounding)inst->rounding;
    struct operand value;
    if (from == TYPE_F32) {
        struct operand x[2] = {constant(0), absent};
        const unsigned first = inst->src_count == 2 ? 0 : 1, flags = inst->flags & (FLAG_FTZ | FLAG_SAT);
        for (unsigned i = first; i < 2; i++) {
            x[i] = legal_low(l, &inst->src[i - first]);
            if (flags)
                x[i] = legal_same_float(to, x[i], flags);
        }
        legal_put(l, &inst->dst[0], narrowed(to, type, x, rounding, inst->flags));
        return STATUS_OK;
    }
    if (is_pair(type) || inst->flags & (FLAG_RELU | FLAG_FTZ) || (inst->flags & FLAG_SAT && is_brain(type)))
        return legal_refuse(l, inst, "such a conversion to halves");
    if (from == TYPE_F64) {
        value = plain_convert(to, inst, legal_wide(l, &inst->src[0]));
    } else if (legal_is_half(from)) {
        const struct operand a = legal_low(l, &inst->src[0]);
        const bool rounds = rounding >= ROUND_RNI;
        if (type == from && !rounds) {
            value = narrowed_one(to, type, widened(to, from, a), ROUND_RN, 0);
        } else if (type == from && !is_brain(type)) {
            value = plain_convert(to, inst, (struct wide){a, absent});
        } else {
            struct operand wide = widened(to, from, a);
            if (rounds)
                wide = build_convert(to, TYPE_F32, TYPE_F32, rounding, wide);
            value = narrowed_one(to, type, wide, rounds ? ROUND_RN : rounding, 0);
        }
    } else if (is_brain(type)) {
        value = narrowed_one(to, type, odd_float(l, inst), rounding, 0);
    } else {
        struct inst number = *inst;
        if (type_bytes(from) < 4)
            number.stype = type_is_signed(from) ? TYPE_S32 : TYPE_U32;
        const bool is_wide = type_bytes(from) == 8;
        const struct wide a =
            is_wide ? legal_wide(l, &inst->src[0]) : (struct wide){legal_narrow(l, &inst->src[0], from), absent};
        value = plain_convert(to, &number, a);
    }
    if (inst->flags & FLAG_SAT)
        value = operation(to, OP_ADD, TYPE_F16X2, (struct operand[3]){value, constant(0x80008000)}, FLAG_SAT);
    legal_put(l, &inst->dst[0], value);
    return STATUS_OK;
}

enum status legal_convert_half(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const enum type type = (enum type)inst->type, from = (enum type)inst->stype;
    if (legal_is_half(type))
        return to_half(l, inst);
    if (is_pair(from))
        return legal_refuse(l, inst, "cvt of pairs of halves");
    /* all others are exact as floats */
    const struct operand wide = widened(to, from, legal_low(l, &inst->src[0]));
    if (type == TYPE_F32) {
        const unsigned flags = inst->flags & (FLAG_FTZ | FLAG_SAT);
        legal_put(l, &inst->dst[0], flags ? legal_same_float(to, wide, flags) : wide);
        return STATUS_OK;
    }
    return legal_convert_float(l, inst, wide);
}
