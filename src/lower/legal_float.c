/* SPDX-License-Identifier: Apache-2.0 */
/* Floating point: f32 as it is, f64 in pairs of words where the instruction set has it. */
#include "lower/legal.h"

/* Operands in pairs, the result too. */
static enum status legal_double(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    if (!l->target->has_double)
        return legal_refuse(l, inst, op_name((enum op)inst->op));
    const struct wide a = legal_wide(l, &inst->src[0]);
    if (inst->op == OP_NEG || inst->op == OP_ABS) {
        const struct operand hi = inst->op == OP_NEG ? build2(to, OP_XOR, TYPE_B32, a.hi, constant(0x80000000))
                                                     : build2(to, OP_AND, TYPE_B32, a.hi, constant(0x7fffffff));
        legal_put_wide(l, &inst->dst[0], (struct wide){a.lo, hi});
        return STATUS_OK;
    }
    const bool adds =
        inst->op == OP_ADD || inst->op == OP_SUB || inst->op == OP_MUL || inst->op == OP_FMA || inst->op == OP_MAD;
    if (!adds && l->target->has_pairs)
        return legal_double_rest(l, inst);
    const bool known = adds || inst->op == OP_MIN || inst->op == OP_MAX;
    if (!known || inst->flags & (FLAG_SAT | FLAG_FTZ | FLAG_NAN))
        return legal_refuse(l, inst, op_name((enum op)inst->op));
    struct wide values[3] = {a};
    for (unsigned i = 1; i < inst->src_count; i++)
        values[i] = legal_wide(l, &inst->src[i]);
    const struct operand lo = operand_register(body_register(l->to, TYPE_B32));
    const struct operand hi = operand_register(body_register(l->to, TYPE_B32));
    struct inst *made =
        build_inst(to, inst->op == OP_MAD ? OP_FMA : (enum op)inst->op, TYPE_F64, 2, 2u * inst->src_count);
    made->rounding = inst->rounding;
    made->dst[0] = lo, made->dst[1] = hi;
    for (unsigned i = 0; i < inst->src_count; i++)
        made->src[2 * i] = values[i].lo, made->src[2 * i + 1] = values[i].hi;
    legal_put_wide(l, &inst->dst[0], (struct wide){lo, hi});
    return STATUS_OK;
}

/* PTX: where 2^126 < |b| < 2^128 the reciprocal is taken as 0. */
static struct operand divide_approximate(struct inst_builder *to, struct operand a, struct operand b,
                                         struct operand q) {
    const struct operand size = build2(to, OP_AND, TYPE_B32, b, constant(0x7fffffff));
    struct operand beyond = build_compare(to, CMP_GT, TYPE_U32, size, constant(0x7e800000));
    beyond = build_compare_and(to, CMP_LT, TYPE_U32, BOOL_AND, (struct operand[3]){size, constant(0x7f800000), beyond});
    const struct operand zero = build2(to, OP_AND, TYPE_B32, build2(to, OP_XOR, TYPE_B32, a, b), constant(0x80000000));
    const struct operand large = build2(to, OP_AND, TYPE_B32, a, constant(0x7fffffff));
    const struct operand is_large = build_compare(to, CMP_GE, TYPE_U32, large, constant(0x7f800000));
    return build_select(to, beyond, build_select(to, is_large, constant(0x7fffffff), zero), q);
}

static struct operand flush(struct inst_builder *to, struct operand a) {
    const struct operand d = operand_register(body_register(to->body, TYPE_F32));
    build_to(to, d, OP_MUL, TYPE_F32, (struct operand[3]){a, constant(0x3f800000)})->flags = FLAG_FTZ;
    return d;
}

static enum status legal_quotient(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const bool approximate = (inst->flags & (FLAG_APPROX | FLAG_FULL)) != 0, flushes = (inst->flags & FLAG_FTZ) != 0;
    if (inst->flags & FLAG_SAT || (flushes && !l->target->has_pairs))
        return legal_refuse(l, inst, "division, roots and reciprocals with .ftz or .sat");
    const enum rounding rounding = approximate ? ROUND_RN : (enum rounding)inst->rounding;
    if (rounding != ROUND_DEFAULT && rounding != ROUND_RN && !l->target->has_pairs)
        return legal_refuse(l, inst, "division, roots and reciprocals with directed rounding");
    struct operand x[2] = {absent, absent}, value;
    for (unsigned i = 0; i < inst->src_count; i++) {
        x[i] = legal_low(l, &inst->src[i]);
        if (flushes)
            x[i] = flush(to, x[i]);
    }
    if (inst->op == OP_SQRT) {
        value = root_float(to, x[0], rounding);
    } else if (inst->op == OP_RCP) {
        value = divide_float(l, to, constant(0x3f800000), x[0], rounding);
    } else {
        value = divide_float(l, to, x[0], x[1], rounding);
        if (inst->flags & FLAG_APPROX)
            value = divide_approximate(to, x[0], x[1], value);
    }
    if (flushes)
        value = flush(to, value);
    legal_put(l, &inst->dst[0], value);
    return STATUS_OK;
}

static struct operand times(struct inst_builder *to, struct operand a, uint32_t b) {
    return build2(to, OP_MUL, TYPE_F32, a, constant(b));
}

/* Where the instructions take subnormal numbers for 0, those are scaled up before them and the result back behind: by 2^24
 * (reciprocals: by 2^-2 where they would be subnormal), of 2^a by half of a and a square. */
static enum status function_of_all(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const struct operand a = legal_low(l, &inst->src[0]), d = operand_register(body_register(l->to, TYPE_F32));
    const bool is_power = inst->op == OP_EX2;
    const struct operand size = is_power ? a : build1(to, OP_ABS, TYPE_F32, a);
    const struct operand is_small =
        build_compare(to, CMP_LT, TYPE_F32, size, constant(is_power ? 0xc2fc0000 : 0x00800000));
    struct operand scaled, value;
    if (inst->op == OP_RCP) {
        const struct operand is_large = build_compare(to, CMP_GT, TYPE_F32, size, constant(0x7e800000));
        struct operand scale = build_select(to, is_small, constant(0x4b800000), constant(0x3f800000));
        scale = build_select(to, is_large, constant(0x3e800000), scale);
        build_to(to, d, OP_RCP, TYPE_F32, (struct operand[3]){build2(to, OP_MUL, TYPE_F32, a, scale)});
        legal_put(l, &inst->dst[0], build2(to, OP_MUL, TYPE_F32, d, scale));
        return STATUS_OK;
    }
    scaled = build_select(to, is_small, times(to, a, is_power ? 0x3f000000 : 0x4b800000), a);
    build_to(to, d, (enum op)inst->op, TYPE_F32, (struct operand[3]){scaled});
    if (is_power)
        value = build2(to, OP_MUL, TYPE_F32, d, d);
    else if (inst->op == OP_LG2)
        value = build2(to, OP_ADD, TYPE_F32, d, constant(0xc1c00000));
    else
        value = times(to, d, inst->op == OP_RSQRT ? 0x45800000 : 0x39800000);
    legal_put(l, &inst->dst[0], build_select(to, is_small, value, d));
    return STATUS_OK;
}

static enum status legal_function(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    if (l->target->has_logic3 && !(inst->flags & FLAG_FTZ) && inst->op != OP_SIN && inst->op != OP_COS &&
        inst->op != OP_TANH)
        return function_of_all(l, inst);
    struct operand a = legal_low(l, &inst->src[0]);
    if (l->target->has_logic3) {
        const struct operand d = operand_register(body_register(l->to, TYPE_F32));
        build_to(to, d, (enum op)inst->op, TYPE_F32, (struct operand[3]){a});
        legal_put(l, &inst->dst[0], d);
        return STATUS_OK;
    }
    if (inst->flags & FLAG_FTZ)
        a = flush(to, a);
    struct operand value = operand_register(body_register(l->to, TYPE_F32));
    build_to(to, value, (enum op)inst->op, TYPE_F32, (struct operand[3]){a})->flags = FLAG_APPROX;
    if (inst->flags & FLAG_FTZ)
        value = flush(to, value);
    legal_put(l, &inst->dst[0], value);
    return STATUS_OK;
}

static enum status legal_test(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const struct operand size = build2(to, OP_AND, TYPE_B32, legal_low(l, &inst->src[0]), constant(0x7fffffff));
    const struct operand infinity = constant(0x7f800000), normal = constant(0x00800000);
    struct operand value;
    switch ((enum mode)inst->mode) {
    case MODE_FINITE: value = build_compare(to, CMP_LT, TYPE_U32, size, infinity); break;
    case MODE_INFINITE: value = build_compare(to, CMP_EQ, TYPE_U32, size, infinity); break;
    case MODE_NUMBER: value = build_compare(to, CMP_LE, TYPE_U32, size, infinity); break;
    case MODE_NOTANUMBER: value = build_compare(to, CMP_GT, TYPE_U32, size, infinity); break;
    case MODE_NORMAL:
        value = build_compare(to, CMP_GE, TYPE_U32, size, normal);
        value = build_compare_and(to, CMP_LT, TYPE_U32, BOOL_AND, (struct operand[3]){size, infinity, value});
        value = build_compare_and(to, CMP_EQ, TYPE_U32, BOOL_OR, (struct operand[3]){size, constant(0), value});
        break;
    default:
        value = build_compare(to, CMP_NE, TYPE_U32, size, constant(0));
        value = build_compare_and(to, CMP_LT, TYPE_U32, BOOL_AND, (struct operand[3]){size, normal, value});
        break;
    }
    legal_put(l, &inst->dst[0], value);
    return STATUS_OK;
}

/* The source; with .ftz 0 with its sign where it has no exponent. NaNs stay what they are. */
static struct operand without_subnormals(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const struct operand a = legal_low(l, &inst->src[0]);
    if (!(inst->flags & FLAG_FTZ))
        return a;
    const struct operand field = build2(to, OP_AND, TYPE_B32, a, constant(0x7f800000));
    const struct operand small = build_compare(to, CMP_EQ, TYPE_U32, field, constant(0));
    return build_select(to, small, build2(to, OP_AND, TYPE_B32, a, constant(0x80000000)), a);
}

enum status legal_float(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    if (inst->type == TYPE_F64)
        return legal_double(l, inst);
    if (legal_is_half((enum type)inst->type) && l->target->has_half)
        return legal_half(l, inst);
    if (inst->type != TYPE_F32)
        return legal_refuse(l, inst, op_name((enum op)inst->op));
    switch ((enum op)inst->op) {
    case OP_RCP:
        if (inst->flags & FLAG_APPROX)
            return legal_function(l, inst);
        return legal_quotient(l, inst);
    case OP_DIV:
    case OP_SQRT: return legal_quotient(l, inst);
    case OP_RSQRT:
    case OP_SIN:
    case OP_COS:
    case OP_LG2:
    case OP_EX2: return legal_function(l, inst);
    case OP_TANH: return l->target->has_logic3 ? legal_function(l, inst) : legal_refuse(l, inst, "tanh");
    case OP_TESTP: return legal_test(l, inst);
    case OP_COPYSIGN: {
        const struct operand sign = build2(to, OP_AND, TYPE_B32, legal_low(l, &inst->src[0]), constant(0x80000000));
        const struct operand size = build2(to, OP_AND, TYPE_B32, legal_low(l, &inst->src[1]), constant(0x7fffffff));
        legal_put(l, &inst->dst[0], build2(to, OP_OR, TYPE_B32, sign, size));
        return STATUS_OK;
    }
    case OP_NEG:
    case OP_ABS:
        legal_put(l, &inst->dst[0], build1(to, (enum op)inst->op, TYPE_F32, without_subnormals(l, inst)));
        return STATUS_OK;
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_FMA:
    case OP_MAD:
    case OP_MIN:
    case OP_MAX: {
        if (inst->flags & (FLAG_NAN | FLAG_XORSIGN) && !l->target->has_pairs)
            return legal_refuse(l, inst, "min and max with .NaN or .xorsign");
        struct operand values[3] = {absent, absent, absent};
        for (unsigned i = 0; i < inst->src_count; i++)
            values[i] = legal_low(l, &inst->src[i]);
        const struct operand d = operand_register(body_register(l->to, TYPE_F32));
        struct inst *made = build_to(to, d, inst->op == OP_MAD ? OP_FMA : (enum op)inst->op, TYPE_F32, values);
        made->flags = inst->flags & (FLAG_FTZ | FLAG_SAT | FLAG_NAN | FLAG_XORSIGN);
        made->rounding = inst->rounding;
        legal_put(l, &inst->dst[0], d);
        return STATUS_OK;
    }
    default: return legal_refuse(l, inst, op_name((enum op)inst->op));
    }
}
