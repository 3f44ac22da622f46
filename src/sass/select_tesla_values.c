/* SPDX-License-Identifier: Apache-2.0 */
/* Products, floating point, conversion and memory for Tesla. */
#include "sass/select_tesla.h"

static void put_half(struct machine_inst *inst, const struct tesla_source *source, bool high) {
    struct tesla_source half = *source;
    half.operand.half = high ? HALF_HIGH : HALF_LOW;
    if (half.unit == NO_UNIT)
        half.operand.half = HALF_NONE; /* zero has no halves */
    tesla_put(inst, &half);
}

/* d = half of a times half of b, plus c where there is one. */
static uint32_t product(struct selector *s, const struct inst *inst, uint32_t d, const struct tesla_source *a,
                        bool high_a, const struct tesla_source *b, bool high_b, const struct tesla_source *c) {
    struct machine_inst *made = tesla_emit(s, c ? TESLA_IMAD : TESLA_IMUL, inst);
    tesla_put_unit(made, d);
    put_half(made, a, high_a);
    put_half(made, b, high_b);
    if (c)
        tesla_put(made, c);
    tesla_modify(s, made, NATIVE_SLOT_HALF, MODIFIER_U16);
    tesla_modify(s, made, NATIVE_SLOT_HALF, MODIFIER_U16);
    made->whole = true;
    return d;
}

static uint32_t fresh(struct selector *s) { return machine_unit(s->machine, false); }

static struct tesla_source of_unit(uint32_t unit) {
    return (struct tesla_source){.operand = {.kind = NATIVE_REG}, .unit = unit};
}

/* d = a op b, b a register or a number */
static uint32_t two(struct selector *s, const struct inst *inst, enum tesla_row row, uint32_t d, uint32_t a,
                    const struct tesla_source *b, uint32_t number, enum native_slot slot,
                    enum native_modifier modifier) {
    struct machine_inst *made = tesla_emit(s, row, inst);
    tesla_put_unit(made, d);
    tesla_put_unit(made, a);
    if (b)
        tesla_put(made, b);
    else
        machine_operand(made, (struct native_operand){.kind = NATIVE_IMMEDIATE, .value = number}, NO_UNIT);
    tesla_modify(s, made, slot, modifier);
    made->whole = true;
    return d;
}

static uint32_t sum(struct selector *s, const struct inst *inst, uint32_t d, uint32_t a, uint32_t b) {
    const struct tesla_source y = of_unit(b);
    return two(s, inst, TESLA_IADD, d, a, &y, 0, NATIVE_SLOT_CODE, MODIFIER_NONE);
}

/* The upper half of the product of unsigned words, from the four products of halves. */
static uint32_t high_unsigned(struct selector *s, const struct inst *inst, const struct tesla_source *a,
                              const struct tesla_source *b) {
    const uint32_t low = product(s, inst, fresh(s), a, false, b, false, NULL);
    const uint32_t one = product(s, inst, fresh(s), a, false, b, true, NULL);
    const uint32_t other = product(s, inst, fresh(s), a, true, b, false, NULL);
    const enum native_slot none = NATIVE_SLOT_SIGN;
    uint32_t middle = two(s, inst, TESLA_SHR, fresh(s), low, NULL, 16, none, MODIFIER_NONE);
    const uint32_t one_low = two(s, inst, TESLA_LOP, fresh(s), one, NULL, 0xffff, NATIVE_SLOT_LOGIC, MODIFIER_AND);
    const uint32_t other_low = two(s, inst, TESLA_LOP, fresh(s), other, NULL, 0xffff, NATIVE_SLOT_LOGIC, MODIFIER_AND);
    middle = sum(s, inst, fresh(s), sum(s, inst, fresh(s), middle, one_low), other_low);
    const uint32_t carry = two(s, inst, TESLA_SHR, fresh(s), middle, NULL, 16, none, MODIFIER_NONE);
    const uint32_t one_high = two(s, inst, TESLA_SHR, fresh(s), one, NULL, 16, none, MODIFIER_NONE);
    const uint32_t other_high = two(s, inst, TESLA_SHR, fresh(s), other, NULL, 16, none, MODIFIER_NONE);
    const uint32_t above = sum(s, inst, fresh(s), sum(s, inst, fresh(s), carry, one_high), other_high);
    const struct tesla_source c = of_unit(above);
    return product(s, inst, fresh(s), a, true, b, true, &c);
}

/* A negative factor counted the other one 2^32 times too often. */
static uint32_t without(struct selector *s, const struct inst *inst, uint32_t from, const struct tesla_source *sign,
                        const struct tesla_source *other) {
    struct machine_inst *made = tesla_emit(s, TESLA_SHR, inst);
    const uint32_t mask = fresh(s);
    tesla_put_unit(made, mask);
    tesla_put(made, sign);
    machine_operand(made, (struct native_operand){.kind = NATIVE_IMMEDIATE, .value = 31}, NO_UNIT);
    tesla_modify(s, made, NATIVE_SLOT_SIGN, MODIFIER_S32);
    made->whole = true;
    const uint32_t part = two(s, inst, TESLA_LOP, fresh(s), mask, other, 0, NATIVE_SLOT_LOGIC, MODIFIER_AND);
    struct tesla_source minus = of_unit(part);
    minus.operand.negated = true;
    return two(s, inst, TESLA_IADD, fresh(s), from, &minus, 0, NATIVE_SLOT_CODE, MODIFIER_NONE);
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
    if (short_a && short_b) {
        finish(s, inst, product(s, inst, fresh(s), &a, false, &b, false, adds ? &c : NULL));
        return;
    }
    uint32_t cross;
    if (short_a || short_b) {
        cross = product(s, inst, fresh(s), &a, !short_a, &b, !short_b, NULL);
    } else {
        const struct tesla_source one = of_unit(product(s, inst, fresh(s), &a, false, &b, true, NULL));
        cross = product(s, inst, fresh(s), &a, true, &b, false, &one);
    }
    const struct tesla_source up =
        of_unit(two(s, inst, TESLA_SHL, fresh(s), cross, NULL, 16, NATIVE_SLOT_SIGN, MODIFIER_NONE));
    const uint32_t value = product(s, inst, fresh(s), &a, false, &b, false, &up);
    finish(s, inst, adds ? two(s, inst, TESLA_IADD, fresh(s), value, &c, 0, NATIVE_SLOT_CODE, MODIFIER_NONE) : value);
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
        x = of_unit(unit);
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
