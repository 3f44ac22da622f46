/* SPDX-License-Identifier: Apache-2.0 */
/* Floating point, comparison and conversion for Fermi. */
#include "lower/select_fermi.h"

/* A float source with the signs that made it. */
static struct operand float_signs(struct selector *s, struct operand operand, struct source *signs) {
    for (;;) {
        const struct inst *neg = select_single(s, &operand, OP_NEG);
        const struct inst *abs = select_single(s, &operand, OP_ABS);
        if (neg && neg->type == TYPE_F32) {
            if (!signs->absolute)
                signs->negated = !signs->negated;
            select_take(s, neg);
            operand = neg->src[0];
        } else if (abs && abs->type == TYPE_F32) {
            signs->absolute = true;
            select_take(s, abs);
            operand = abs->src[0];
        } else {
            return operand;
        }
    }
}

/* The sign alone, as products take it. */
static struct operand float_negation(struct selector *s, struct operand operand, bool *negated) {
    const struct inst *neg = select_single(s, &operand, OP_NEG);
    if (!neg || neg->type != TYPE_F32)
        return operand;
    *negated = !*negated;
    select_take(s, neg);
    return neg->src[0];
}

/* ---- floating point ---- */

static void finish_float(struct selector *s, struct machine_inst *made, const struct inst *inst) {
    fermi_modify(s, made, NATIVE_SLOT_FTZ, inst->flags & FLAG_FTZ ? MODIFIER_FTZ : MODIFIER_NONE);
    fermi_modify(s, made, NATIVE_SLOT_ROUND_FLOAT, word_of_rounding(inst->rounding));
    fermi_modify(s, made, NATIVE_SLOT_SAT, inst->flags & FLAG_SAT ? MODIFIER_SAT : MODIFIER_NONE);
}

static void float_sum(struct selector *s, const struct inst *inst) {
    struct source signs[2] = {{.kind = SOURCE_ZERO}, {.kind = SOURCE_ZERO}};
    struct operand a = float_signs(s, inst->src[0], &signs[0]), b = float_signs(s, inst->src[1], &signs[1]);
    if (inst->op == OP_SUB)
        signs[1].negated = !signs[1].negated;
    if (fermi_order(s, &a, &b)) {
        const struct source held_signs = signs[0];
        signs[0] = signs[1], signs[1] = held_signs;
    }
    struct source x = fermi_register(s, &a), y = fermi_any_float(s, &b);
    x.negated = signs[0].negated, x.absolute = signs[0].absolute;
    y.negated = signs[1].negated, y.absolute = signs[1].absolute;
    if (y.kind == SOURCE_IMMEDIATE) {
        y.value = (y.absolute ? y.value & 0x7fffffff : y.value) ^ (y.negated ? 0x80000000 : 0);
        y.negated = y.absolute = false;
        y.kind = y.value ? SOURCE_IMMEDIATE : SOURCE_ZERO;
    }
    struct machine_inst *made = fermi_emit_two(s, FERMI_FADD, inst, &x, &y);
    finish_float(s, made, inst);
}

static void float_product(struct selector *s, const struct inst *inst) {
    bool negated = false;
    const bool adds = inst->op == OP_FMA;
    struct operand a = float_negation(s, inst->src[0], &negated), b = float_negation(s, inst->src[1], &negated);
    fermi_order(s, &a, &b);
    bool minus = false;
    struct operand c = adds ? float_negation(s, inst->src[2], &minus) : (struct operand){.kind = OPERAND_NONE};
    const struct source x = fermi_register(s, &a);
    struct source y = fermi_any_float(s, &b), z = {.kind = SOURCE_ZERO};
    if (adds)
        z = y.kind == SOURCE_UNIT ? fermi_any_float(s, &c) : fermi_register(s, &c);
    if (z.kind == SOURCE_IMMEDIATE)
        z = fermi_in_register(s, z, &c);
    if (y.kind == SOURCE_IMMEDIATE && negated)
        y.value ^= 0x80000000;
    else
        y.negated = negated;
    z.negated = minus;
    struct machine_inst *made = fermi_emit_two(s, adds ? FERMI_FFMA : FERMI_FMUL, inst, &x, &y);
    if (adds)
        fermi_put_source(made, &z);
    finish_float(s, made, inst);
}

/* Range reduction stands before functions that have one. */
static void float_function(struct selector *s, const struct inst *inst) {
    static const uint8_t words[OP_COUNT] = {
        [OP_RCP] = MODIFIER_RCP, [OP_RSQRT] = MODIFIER_RSQ, [OP_SIN] = MODIFIER_SIN,
        [OP_COS] = MODIFIER_COS, [OP_LG2] = MODIFIER_LG2,   [OP_EX2] = MODIFIER_EX2};
    struct source x = fermi_register(s, &inst->src[0]);
    const bool reduces = inst->op == OP_SIN || inst->op == OP_COS || inst->op == OP_EX2;
    if (reduces) {
        const uint32_t unit = machine_unit(s->machine, false);
        struct machine_inst *range = fermi_emit(s, FERMI_RRO, inst);
        fermi_put_unit(range, unit);
        fermi_put_source(range, &x);
        fermi_modify(s, range, NATIVE_SLOT_REDUCTION, inst->op == OP_EX2 ? MODIFIER_EX2 : MODIFIER_SINCOS);
        range->whole = true;
        x = (struct source){.kind = SOURCE_UNIT, .unit = unit};
    }
    struct machine_inst *made = fermi_emit(s, FERMI_MUFU, inst);
    fermi_put_unit(made, inst->dst[0].reg);
    fermi_put_source(made, &x);
    fermi_modify(s, made, NATIVE_SLOT_FUNCTION, (enum native_modifier)words[inst->op]);
}

/* ---- pairs: 64-bit operands ---- */

/* Units for a tuple of words: as they are where they can lie side by side, else copies. */
uint32_t fermi_tuple_of(struct selector *s, const struct inst *inst, const struct operand *operands, unsigned count) {
    uint32_t units[4] = {0};
    bool simple = true;
    for (unsigned i = 0; i < count; i++) {
        const struct source source = fermi_plain(s, &operands[i]);
        simple = simple && source.kind == SOURCE_UNIT;
        units[i] = source.unit;
    }
    if (simple && machine_group(s->machine, units, count))
        return units[0];
    uint32_t copies[4];
    for (unsigned i = 0; i < count; i++)
        copies[i] = machine_unit(s->machine, false);
    machine_group(s->machine, copies, count);
    for (unsigned i = 0; i < count; i++) {
        const struct source source = fermi_plain(s, &operands[i]);
        struct machine_inst *move =
            machine_inst_new(s->machine, s->block, source.kind == SOURCE_IMMEDIATE ? FERMI_MOV32I : FERMI_MOV, inst);
        fermi_put_unit(move, copies[i]);
        fermi_put_source(move, &source);
    }
    return copies[0];
}

void fermi_move_tuple(struct selector *s, const struct inst *inst, const struct operand *operands, unsigned count,
                      uint32_t first) {
    for (unsigned i = 0; i < count; i++) {
        struct machine_inst *move = fermi_emit(s, FERMI_MOV, inst);
        fermi_put_unit(move, operands[i].reg);
        fermi_put_unit(move, first + i);
    }
}

void fermi_put_tuple(struct machine_inst *inst, uint32_t first, unsigned count) {
    inst->widths[inst->native.operand_count] = (uint8_t)count;
    fermi_put_unit(inst, first);
}

static enum status double_inst(struct selector *s, const struct inst *inst) {
    static const uint8_t rows[OP_COUNT] = {[OP_ADD] = FERMI_DADD, [OP_SUB] = FERMI_DADD,  [OP_MUL] = FERMI_DMUL,
                                           [OP_FMA] = FERMI_DFMA, [OP_MIN] = FERMI_DMNMX, [OP_MAX] = FERMI_DMNMX};
    uint32_t sources[3];
    for (unsigned i = 0; i < inst->src_count / 2u; i++)
        sources[i] = fermi_tuple_of(s, inst, &inst->src[2 * i], 2);
    bool copied;
    const uint32_t d = select_tuple_for(s, inst->dst, 2, &copied);
    struct machine_inst *made = fermi_emit(s, (enum fermi_row)rows[inst->op], inst);
    fermi_put_tuple(made, d, 2);
    for (unsigned i = 0; i < inst->src_count / 2u; i++)
        fermi_put_tuple(made, sources[i], 2);
    if (inst->op == OP_SUB)
        made->native.operands[2].negated = true;
    if (inst->op == OP_MIN || inst->op == OP_MAX)
        machine_operand(
            made, (struct native_operand){.kind = NATIVE_PREDICATE, .reg = FERMI_PT, .inverted = inst->op == OP_MAX},
            NO_UNIT);
    fermi_modify(s, made, NATIVE_SLOT_ROUND_FLOAT, word_of_rounding(inst->rounding));
    if (copied)
        fermi_move_tuple(s, inst, inst->dst, 2, d);
    return STATUS_OK;
}

enum status fermi_float(struct selector *s, const struct inst *inst) {
    if (inst->type == TYPE_F64)
        return double_inst(s, inst);
    switch ((enum op)inst->op) {
    case OP_ADD:
    case OP_SUB: float_sum(s, inst); break;
    case OP_MUL:
    case OP_FMA: float_product(s, inst); break;
    case OP_MIN:
    case OP_MAX: fermi_extreme(s, inst); break;
    default: float_function(s, inst); break;
    }
    return STATUS_OK;
}

/* ---- comparison ---- */

static enum native_modifier bool_word(enum boolop boolop) {
    return boolop == BOOL_OR ? MODIFIER_OR : boolop == BOOL_XOR ? MODIFIER_XOR : MODIFIER_AND;
}

/* d = (a compare b) boolop with */
void fermi_compare(struct selector *s, const struct inst *inst, const struct operand *d, enum boolop boolop,
                   const struct operand *with) {
    const bool is_double = inst->type == TYPE_F64, is_float = inst->type == TYPE_F32;
    enum compare compare = (enum compare)inst->compare;
    struct machine_inst *made;
    if (is_double) {
        const uint32_t a = fermi_tuple_of(s, inst, &inst->src[0], 2), b = fermi_tuple_of(s, inst, &inst->src[2], 2);
        made = fermi_emit(s, FERMI_DSETP, inst);
        fermi_put_predicate(made, d);
        fermi_put_pt(made);
        fermi_put_tuple(made, a, 2);
        fermi_put_tuple(made, b, 2);
    } else {
        struct source signs[2] = {{.kind = SOURCE_ZERO}, {.kind = SOURCE_ZERO}};
        struct operand a = inst->src[0], b = inst->src[1];
        if (is_float)
            a = float_signs(s, a, &signs[0]), b = float_signs(s, b, &signs[1]);
        if (fermi_order(s, &a, &b)) {
            const struct source held_signs = signs[0];
            signs[0] = signs[1], signs[1] = held_signs;
            compare = select_mirrored(compare);
        }
        struct source x = fermi_register(s, &a), y = is_float ? fermi_any_float(s, &b) : fermi_any(s, &b);
        x.negated = signs[0].negated, x.absolute = signs[0].absolute;
        if (y.kind == SOURCE_IMMEDIATE && (signs[1].negated || signs[1].absolute))
            y = fermi_in_register(s, y, NULL);
        y.negated = signs[1].negated, y.absolute = signs[1].absolute;
        made = fermi_emit(s, is_float ? FERMI_FSETP : FERMI_ISETP, inst);
        fermi_put_predicate(made, d);
        fermi_put_pt(made);
        fermi_put_source(made, &x);
        fermi_put_source(made, &y);
    }
    if (with)
        fermi_put_predicate(made, with);
    else
        fermi_put_pt(made);
    fermi_modify(s, made, is_float || is_double ? NATIVE_SLOT_COMPARE_FLOAT : NATIVE_SLOT_COMPARE,
                 word_of_compare(compare));
    fermi_modify(s, made, NATIVE_SLOT_UNSIGNED, inst->type == TYPE_U32 ? MODIFIER_U32 : MODIFIER_NONE);
    fermi_modify(s, made, NATIVE_SLOT_FTZ, inst->flags & FLAG_FTZ ? MODIFIER_FTZ : MODIFIER_NONE);
    fermi_modify(s, made, NATIVE_SLOT_BOOL, bool_word(boolop));
}

static enum boolop bool_of(enum op op) { return op == OP_AND ? BOOL_AND : op == OP_OR ? BOOL_OR : BOOL_XOR; }

/* (a first b) second c, of sources a, b, c: the text has them the other way round. */
static void psetp(struct selector *s, const struct inst *inst, enum boolop first, enum boolop second,
                  const struct operand sources[3]) {
    struct machine_inst *made = fermi_emit(s, FERMI_PSETP, inst);
    fermi_put_predicate(made, &inst->dst[0]);
    fermi_put_pt(made);
    for (unsigned i = 3; i-- > 0;)
        fermi_put_predicate(made, &sources[i]);
    fermi_modify(s, made, NATIVE_SLOT_BOOL, bool_word(first));
    fermi_modify(s, made, NATIVE_SLOT_BOOL, bool_word(second));
}

/* Logic of predicates: with the comparison that made one of them, or two at once. */
void fermi_predicate(struct selector *s, const struct inst *inst) {
    const struct operand yes = {.kind = OPERAND_IMM, .imm = 1};
    if (inst->op == OP_MOV) {
        psetp(s, inst, BOOL_AND, BOOL_AND, (struct operand[3]){inst->src[0], yes, yes});
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        const struct operand *one = &inst->src[i], *other = &inst->src[1 - i];
        const struct inst *compare = one->negated ? NULL : select_single(s, one, OP_SETP);
        if (compare && compare->boolop == BOOL_NONE && other->kind != OPERAND_IMM) {
            select_take(s, compare);
            fermi_compare(s, compare, &inst->dst[0], bool_of((enum op)inst->op), other);
            return;
        }
    }
    static const uint8_t logic[] = {OP_AND, OP_OR, OP_XOR};
    for (unsigned n = 0; n < 6; n++) {
        const struct operand *one = &inst->src[n % 2], *other = &inst->src[1 - n % 2];
        const struct inst *inner = one->negated ? NULL : select_single(s, one, (enum op)logic[n / 2]);
        if (inner && inner->type == TYPE_PRED) {
            select_take(s, inner);
            psetp(s, inst, bool_of((enum op)inner->op), bool_of((enum op)inst->op),
                  (struct operand[3]){inner->src[0], inner->src[1], *other});
            return;
        }
    }
    psetp(s, inst, bool_of((enum op)inst->op), BOOL_AND, (struct operand[3]){inst->src[0], inst->src[1], yes});
}

/* ---- conversion ---- */

enum status fermi_convert(struct selector *s, const struct inst *inst) {
    const bool to_float = type_is_float((enum type)inst->type), from_float = type_is_float((enum type)inst->stype);
    const enum fermi_row row = to_float ? (from_float ? FERMI_F2F : FERMI_I2F) : from_float ? FERMI_F2I : FERMI_I2I;
    const bool from_wide = inst->src_count == 2, to_wide = inst->dst_count == 2;
    struct source x = {.kind = SOURCE_ZERO};
    uint32_t pair = NO_UNIT, d = inst->dst[0].reg;
    if (from_wide)
        pair = fermi_tuple_of(s, inst, inst->src, 2);
    else
        x = fermi_register(s, &inst->src[0]);
    bool copied = false;
    if (to_wide)
        d = select_tuple_for(s, inst->dst, 2, &copied);
    struct machine_inst *made = fermi_emit(s, row, inst);
    fermi_put_tuple(made, d, to_wide ? 2 : 1);
    if (from_wide)
        fermi_put_tuple(made, pair, 2);
    else
        fermi_put_source(made, &x);
    fermi_modify(s, made, to_float ? NATIVE_SLOT_TO_FLOAT : NATIVE_SLOT_TO_INT, word_of_type((enum type)inst->type));
    fermi_modify(s, made, from_float ? NATIVE_SLOT_FROM_FLOAT : NATIVE_SLOT_FROM_INT,
                 word_of_type((enum type)inst->stype));
    if (row == FERMI_I2F)
        fermi_modify(s, made, NATIVE_SLOT_ROUND_FLOAT, word_of_rounding(inst->rounding));
    if (row == FERMI_F2I)
        fermi_modify(s, made, NATIVE_SLOT_ROUND_INT, word_of_integral(inst->rounding, false));
    if (row == FERMI_F2F)
        fermi_modify(s, made, NATIVE_SLOT_ROUND_ANY, word_of_integral(inst->rounding, true));
    fermi_modify(s, made, NATIVE_SLOT_FTZ, inst->flags & FLAG_FTZ ? MODIFIER_FTZ : MODIFIER_NONE);
    fermi_modify(s, made, NATIVE_SLOT_SAT, inst->flags & FLAG_SAT ? MODIFIER_SAT : MODIFIER_NONE);
    if (copied)
        fermi_move_tuple(s, inst, inst->dst, 2, d);
    return STATUS_OK;
}
