/* SPDX-License-Identifier: Apache-2.0 */
/* Products, floating point and conversion for Tesla. */
#include "lower/select_tesla.h"

static struct tesla_source half(struct tesla_source source, bool high) {
    source.operand.half = high ? HALF_HIGH : HALF_LOW;
    if (source.unit == NO_UNIT)
        source.operand.half = HALF_NONE; /* zero has no halves */
    return source;
}

static uint32_t fresh(struct selector *s) { return machine_unit(s->machine, false); }

static struct tesla_source of_number(uint32_t number) {
    return (struct tesla_source){.operand = {.kind = NATIVE_IMMEDIATE, .value = number}, .unit = NO_UNIT};
}

/* The product of two halves, plus c where there is one, in a new register. */
static uint32_t product(struct selector *s, const struct inst *inst, struct tesla_source a, struct tesla_source b,
                        const struct tesla_source *c) {
    const uint32_t d = fresh(s);
    struct machine_inst *made = tesla_emit(s, c ? TESLA_IMAD : TESLA_IMUL, inst);
    tesla_put_unit(made, d);
    tesla_put(made, &a);
    tesla_put(made, &b);
    if (c)
        tesla_put(made, c);
    tesla_modify(s, made, NATIVE_SLOT_HALF, MODIFIER_U16);
    tesla_modify(s, made, NATIVE_SLOT_HALF, MODIFIER_U16);
    made->whole = true;
    return d;
}

/* a op b in a new register: a sum, a shift without a sign, or by LOP the bits that both have. */
static uint32_t two(struct selector *s, const struct inst *inst, enum tesla_row row, uint32_t a,
                    struct tesla_source b) {
    const uint32_t d = fresh(s);
    struct machine_inst *made = tesla_emit(s, row, inst);
    tesla_put_unit(made, d);
    tesla_put_unit(made, a);
    tesla_put(made, &b);
    if (row == TESLA_LOP)
        tesla_modify(s, made, NATIVE_SLOT_LOGIC, MODIFIER_AND);
    made->whole = true;
    return d;
}

static uint32_t sum(struct selector *s, const struct inst *inst, uint32_t a, uint32_t b) {
    return two(s, inst, TESLA_IADD, a, tesla_of_unit(b));
}

/* The upper half of the product of unsigned words, from the four products of halves. */
static uint32_t high_unsigned(struct selector *s, const struct inst *inst, const struct tesla_source *a,
                              const struct tesla_source *b) {
    const struct tesla_source a_low = half(*a, false), a_high = half(*a, true);
    const struct tesla_source b_low = half(*b, false), b_high = half(*b, true);
    const struct tesla_source sixteen = of_number(16), ones = of_number(0xffff);
    const uint32_t low = product(s, inst, a_low, b_low, NULL);
    const uint32_t one = product(s, inst, a_low, b_high, NULL);
    const uint32_t other = product(s, inst, a_high, b_low, NULL);
    uint32_t middle = two(s, inst, TESLA_SHR, low, sixteen);
    const uint32_t one_low = two(s, inst, TESLA_LOP, one, ones);
    const uint32_t other_low = two(s, inst, TESLA_LOP, other, ones);
    middle = sum(s, inst, sum(s, inst, middle, one_low), other_low);
    const uint32_t carry = two(s, inst, TESLA_SHR, middle, sixteen);
    const uint32_t one_high = two(s, inst, TESLA_SHR, one, sixteen);
    const uint32_t other_high = two(s, inst, TESLA_SHR, other, sixteen);
    const struct tesla_source above = tesla_of_unit(sum(s, inst, sum(s, inst, carry, one_high), other_high));
    return product(s, inst, a_high, b_high, &above);
}

/* A negative factor counted the other one 2^32 times too often. */
static uint32_t without(struct selector *s, const struct inst *inst, uint32_t from, const struct tesla_source *sign,
                        const struct tesla_source *other) {
    struct machine_inst *made = tesla_emit(s, TESLA_SHR, inst);
    const uint32_t mask = fresh(s);
    tesla_put_unit(made, mask);
    tesla_put(made, sign);
    tesla_put_number(made, 31);
    tesla_modify(s, made, NATIVE_SLOT_SIGN, MODIFIER_S32);
    made->whole = true;
    struct tesla_source minus = tesla_of_unit(two(s, inst, TESLA_LOP, mask, *other));
    minus.operand.negated = true;
    return two(s, inst, TESLA_IADD, from, minus);
}

static bool is_short(const struct selector *s, const struct operand *operand) {
    return operand->kind == OPERAND_REG && s->facts[operand->reg].definitions == 1 && s->facts[operand->reg].is_short;
}

static void finish(struct selector *s, const struct inst *inst, uint32_t value) {
    struct machine_inst *made = tesla_emit(s, TESLA_MOV, inst);
    tesla_put_unit(made, inst->dst[0].reg);
    tesla_put_unit(made, value);
}

/* Of words by four instructions on halves [003 Table 17], of halves by one. */
void tesla_multiply(struct selector *s, const struct inst *inst) {
    const struct tesla_source a = tesla_register(s, &inst->src[0]), b = tesla_register(s, &inst->src[1]);
    if (inst->mode == MODE_HI) {
        uint32_t high = high_unsigned(s, inst, &a, &b);
        if (inst->type == TYPE_S32)
            high = without(s, inst, without(s, inst, high, &a, &b), &b, &a);
        finish(s, inst, high);
        return;
    }
    const bool adds = inst->op == OP_MAD, short_a = is_short(s, &inst->src[0]), short_b = is_short(s, &inst->src[1]);
    struct tesla_source c = {.unit = NO_UNIT};
    bool memory = short_a && short_b; /* a sum can take what is in memory, IMAD cannot */
    if (adds)
        c = tesla_any(s, &inst->src[2], &memory);
    const struct tesla_source a_low = half(a, false), b_low = half(b, false);
    if (short_a && short_b) {
        finish(s, inst, product(s, inst, a_low, b_low, adds ? &c : NULL));
        return;
    }
    uint32_t cross;
    if (short_a || short_b) {
        cross = product(s, inst, half(a, !short_a), half(b, !short_b), NULL);
    } else {
        const struct tesla_source one = tesla_of_unit(product(s, inst, a_low, half(b, true), NULL));
        cross = product(s, inst, half(a, true), b_low, &one);
    }
    const struct tesla_source up = tesla_of_unit(two(s, inst, TESLA_SHL, cross, of_number(16)));
    const uint32_t value = product(s, inst, a_low, b_low, &up);
    finish(s, inst, adds ? two(s, inst, TESLA_IADD, value, c) : value);
}

/* ---- floating point ---- */

static struct operand sign_of(struct selector *s, struct operand operand, bool *negated) {
    const struct inst *neg = select_single(s, &operand, OP_NEG);
    if (!neg || neg->type != TYPE_F32)
        return operand;
    *negated = !*negated;
    select_take(s, neg);
    return neg->src[0];
}

static void select_function(struct selector *s, const struct inst *inst) {
    static const uint8_t rows[OP_COUNT] = {[OP_RCP] = TESLA_RCP, [OP_RSQRT] = TESLA_RSQ, [OP_SIN] = TESLA_SIN,
                                           [OP_COS] = TESLA_COS, [OP_LG2] = TESLA_LG2,   [OP_EX2] = TESLA_EX2};
    struct tesla_source x = tesla_register(s, &inst->src[0]);
    if (inst->op == OP_SIN || inst->op == OP_COS || inst->op == OP_EX2) {
        struct machine_inst *range = tesla_emit(s, TESLA_RRO, inst);
        const uint32_t unit = fresh(s);
        tesla_put_unit(range, unit);
        tesla_put(range, &x);
        machine_operand(range,
                        (struct native_operand){.kind = NATIVE_COMPARE,
                                                .reg = inst->op == OP_EX2 ? MODIFIER_EX2 : MODIFIER_SIN},
                        NO_UNIT);
        range->whole = true;
        x = tesla_of_unit(unit);
    }
    struct machine_inst *made = tesla_emit(s, (enum tesla_row)rows[inst->op], inst);
    tesla_put_unit(made, inst->dst[0].reg);
    tesla_put(made, &x);
}

enum status tesla_float(struct selector *s, const struct inst *inst) {
    static const uint8_t rows[OP_COUNT] = {[OP_ADD] = TESLA_FADD, [OP_SUB] = TESLA_FADD, [OP_MUL] = TESLA_FMUL,
                                           [OP_FMA] = TESLA_FMAD, [OP_MIN] = TESLA_FMIN, [OP_MAX] = TESLA_FMAX};
    if (inst->src_count == 1) {
        select_function(s, inst);
        return STATUS_OK;
    }
    if (inst->op == OP_FMA && word_of_rounding(inst->rounding) != MODIFIER_NONE)
        return body_refuse(s->body, inst, "Tesla", "fma with directed rounding", s->machine->report);
    bool memory = false;
    struct tesla_source sources[3];
    const bool signs = inst->op != OP_MIN && inst->op != OP_MAX;
    for (unsigned i = 0; i < inst->src_count; i++) {
        bool negated = inst->op == OP_SUB && i == 1;
        const struct operand operand = signs ? sign_of(s, inst->src[i], &negated) : inst->src[i];
        sources[i] = tesla_any(s, &operand, &memory);
        sources[i].operand.negated = negated;
    }
    struct machine_inst *made = tesla_emit(s, (enum tesla_row)rows[inst->op], inst);
    tesla_put_unit(made, inst->dst[0].reg);
    for (unsigned i = 0; i < inst->src_count; i++)
        tesla_put(made, &sources[i]);
    tesla_modify(s, made, NATIVE_SLOT_ROUND_FLOAT, word_of_rounding(inst->rounding));
    tesla_modify(s, made, NATIVE_SLOT_SAT, inst->flags & FLAG_SAT ? MODIFIER_SAT : MODIFIER_NONE);
    return STATUS_OK;
}

/* ---- conversion ---- */

enum status tesla_convert(struct selector *s, const struct inst *inst) {
    const bool to_float = type_is_float((enum type)inst->type), from_float = type_is_float((enum type)inst->stype);
    const enum tesla_row row = to_float ? (from_float ? TESLA_F2F : TESLA_I2F) : from_float ? TESLA_F2I : TESLA_I2I;
    const struct tesla_source x = tesla_register(s, &inst->src[0]);
    struct machine_inst *made = tesla_emit(s, row, inst);
    tesla_put_unit(made, inst->dst[0].reg);
    tesla_put(made, &x);
    tesla_modify(s, made, to_float ? NATIVE_SLOT_TO_FLOAT : NATIVE_SLOT_TO_INT, word_of_type((enum type)inst->type));
    tesla_modify(s, made, from_float ? NATIVE_SLOT_FROM_FLOAT : NATIVE_SLOT_FROM_INT,
                 word_of_type((enum type)inst->stype));
    if (row == TESLA_I2F)
        tesla_modify(s, made, NATIVE_SLOT_ROUND_FLOAT, word_of_rounding(inst->rounding));
    if (row == TESLA_F2I)
        tesla_modify(s, made, NATIVE_SLOT_ROUND_INT, word_of_integral(inst->rounding, false));
    if (row == TESLA_F2F) {
        tesla_modify(s, made, NATIVE_SLOT_ROUND_ANY, word_of_integral(inst->rounding, true));
        tesla_modify(s, made, NATIVE_SLOT_SAT, inst->flags & FLAG_SAT ? MODIFIER_SAT : MODIFIER_NONE);
    }
    return STATUS_OK;
}
