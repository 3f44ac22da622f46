/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons, and logic of predicates. */
#include "lower/legal.h"

static struct operand compare_once(struct legal *l, const struct inst *inst, enum type type, bool inverted) {
    struct inst_builder *to = &l->at;
    static const uint8_t inverse[] = {
        [CMP_EQ] = CMP_NE, [CMP_NE] = CMP_EQ, [CMP_LT] = CMP_GE, [CMP_LE] = CMP_GT, [CMP_GT] = CMP_LE,
        [CMP_GE] = CMP_LT, [CMP_LO] = CMP_HS, [CMP_LS] = CMP_HI, [CMP_HI] = CMP_LS, [CMP_HS] = CMP_LO};
    static const uint8_t float_inverse[] = {
        [CMP_EQ] = CMP_NEU, [CMP_NE] = CMP_EQU, [CMP_LT] = CMP_GEU,  [CMP_LE] = CMP_GTU, [CMP_GT] = CMP_LEU,
        [CMP_GE] = CMP_LTU, [CMP_EQU] = CMP_NE, [CMP_NEU] = CMP_EQ,  [CMP_LTU] = CMP_GE, [CMP_LEU] = CMP_GT,
        [CMP_GTU] = CMP_LE, [CMP_GEU] = CMP_LT, [CMP_NUM] = CMP_NAN, [CMP_NAN] = CMP_NUM};
    enum compare compare = (enum compare)inst->compare;
    if (inverted)
        compare = (enum compare)(type_is_float(type) ? float_inverse[compare] : inverse[compare]);
    if (legal_is_half(type)) {
        struct inst half = *inst;
        half.compare = (uint8_t)compare;
        struct operand out[2];
        legal_compare_halves(l, &half, type, out);
        return out[0];
    }
    const struct operand c = inst->src_count > 2 ? legal_low(l, &inst->src[2]) : absent;
    const enum boolop boolop = inst->src_count > 2 ? (enum boolop)inst->boolop : BOOL_NONE;
    if (type_bytes(type) == 8 && !type_is_float(type)) {
        const struct wide b = legal_wide(l, &inst->src[1]), a = legal_wide(l, &inst->src[0]);
        const struct operand result = wide_compare(to, compare, type, a, b);
        if (boolop == BOOL_NONE)
            return result;
        const enum op op = boolop == BOOL_AND ? OP_AND : boolop == BOOL_OR ? OP_OR : OP_XOR;
        return build2(to, op, TYPE_PRED, result, c);
    }
    if (type == TYPE_F64) {
        const struct wide a = legal_wide(l, &inst->src[0]), b = legal_wide(l, &inst->src[1]);
        struct inst *made = build_inst(to, OP_SETP, TYPE_F64, 1, c.kind == OPERAND_NONE ? 4 : 5);
        const struct operand d = operand_register(body_register(l->to, TYPE_PRED));
        made->dst[0] = d, made->compare = (uint8_t)compare, made->boolop = (uint8_t)boolop;
        made->src[0] = a.lo, made->src[1] = a.hi, made->src[2] = b.lo, made->src[3] = b.hi;
        if (c.kind != OPERAND_NONE)
            made->src[4] = c;
        return d;
    }
    if (type == TYPE_F32) {
        const struct operand b = legal_low(l, &inst->src[1]), a = legal_low(l, &inst->src[0]);
        const struct operand d = build_compare_and(to, compare, TYPE_F32, boolop, (struct operand[3]){a, b, c});
        struct body_block *block = &l->to->blocks.items[to->block];
        block->code.items[block->code.count - 1].flags = inst->flags & FLAG_FTZ;
        return d;
    }
    const bool as_unsigned = compare == CMP_LO || compare == CMP_LS || compare == CMP_HI || compare == CMP_HS;
    static const uint8_t plain[] = {[CMP_LO] = CMP_LT, [CMP_LS] = CMP_LE, [CMP_HI] = CMP_GT, [CMP_HS] = CMP_GE};
    const bool is_signed = type_is_signed(type) && !as_unsigned;
    const enum type narrow = type_bytes(type) == 2 ? (type_is_signed(type) ? TYPE_S16 : TYPE_U16) : type;
    const struct operand a = legal_narrow(l, &inst->src[0], narrow), b = legal_narrow(l, &inst->src[1], narrow);
    return build_compare_and(to, as_unsigned ? (enum compare)plain[compare] : compare, is_signed ? TYPE_S32 : TYPE_U32,
                             boolop, (struct operand[3]){a, b, c});
}

/* What a comparison that holds becomes. */
static uint32_t bits_of_truth(enum type type) {
    switch (type) {
    case TYPE_F32: return 0x3f800000;
    case TYPE_F16:
    case TYPE_F16X2: return 0x3c00;
    case TYPE_BF16:
    case TYPE_BF16X2: return 0x3f80;
    default: return type_bytes(type) == 2 ? 0xffff : UINT32_MAX;
    }
}

static enum status legal_set(struct legal *l, const struct inst *inst, const struct operand value[2], bool has_two) {
    struct inst_builder *to = &l->at;
    const enum type type = (enum type)inst->type;
    if (type_bytes(type) > 4 || (type_bytes(type) != 4 && !l->target->has_half))
        return legal_refuse(l, inst, "set with a result that is not of 32 bits");
    const uint32_t yes = has_two ? bits_of_truth(type) & 0xffff : bits_of_truth(type);
    struct operand word = build_select(to, value[0], constant(yes), constant(0));
    if (has_two)
        word = build2(to, OP_OR, TYPE_B32, word, build_select(to, value[1], constant(yes << 16), constant(0)));
    legal_put(l, &inst->dst[0], word);
    return STATUS_OK;
}

enum status legal_setp(struct legal *l, const struct inst *inst) {
    const enum type type = (enum type)(inst->op == OP_SET ? inst->stype : inst->type);
    const bool is_half = legal_is_half(type), has_two = type == TYPE_F16X2 || type == TYPE_BF16X2;
    const bool has_type =
        type == TYPE_F32 || (type == TYPE_F64 && l->target->has_double) || (is_half && l->target->has_half);
    if (type_is_float(type) && !has_type)
        return legal_refuse(l, inst, type_name(type));
    struct operand value[2];
    if (has_two)
        legal_compare_halves(l, inst, type, value);
    for (unsigned i = 0; i < 2 && !has_two; i++)
        value[i] =
            i < inst->dst_count && inst->dst[i].kind == OPERAND_REG ? compare_once(l, inst, type, i != 0) : absent;
    if (inst->op == OP_SET)
        return legal_set(l, inst, value, has_two);
    for (unsigned i = 0; i < 2 && i < inst->dst_count; i++)
        if (value[i].kind != OPERAND_NONE)
            legal_put(l, &inst->dst[i], value[i]);
    return STATUS_OK;
}

enum status legal_predicate(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const struct operand a = inst->src[0].kind == OPERAND_IMM ? inst->src[0] : legal_low(l, &inst->src[0]);
    switch ((enum op)inst->op) {
    case OP_AND:
    case OP_OR:
    case OP_XOR:
        legal_put(l, &inst->dst[0], build2(to, (enum op)inst->op, TYPE_PRED, a, legal_low(l, &inst->src[1])));
        return STATUS_OK;
    case OP_NOT: build_move(to, operand_register(l->first[inst->dst[0].reg]), operand_not(a)); return STATUS_OK;
    case OP_MOV: build_move(to, operand_register(l->first[inst->dst[0].reg]), a); return STATUS_OK;
    default: return legal_refuse(l, inst, op_name((enum op)inst->op));
    }
}
