/* SPDX-License-Identifier: Apache-2.0 */
/* Integers for Fermi. */
#include "lower/select_fermi.h"

void fermi_two(struct selector *s, const struct inst *inst, enum fermi_row row, enum native_slot slot,
               enum native_modifier modifier) {
    struct operand a = inst->src[0], b = inst->src[1];
    const bool commutes = inst->op == OP_MUL || inst->op == OP_AND || inst->op == OP_OR || inst->op == OP_XOR;
    if (commutes)
        fermi_order(s, &a, &b);
    const struct source x = fermi_register(s, &a), y = fermi_any(s, &b);
    struct machine_inst *made = fermi_emit_two(s, row, inst, &x, &y);
    fermi_modify(s, made, slot, modifier);
}

/* PTX shifts everything out by 32 and more, as .W does; by less both ways are the same, and public listings have the other. */
void fermi_shift(struct selector *s, const struct inst *inst) {
    const struct source x = fermi_register(s, &inst->src[0]), y = fermi_any(s, &inst->src[1]);
    struct machine_inst *made = fermi_emit_two(s, inst->op == OP_SHL ? FERMI_SHL : FERMI_SHR, inst, &x, &y);
    const struct native_operand *by = &made->native.operands[2];
    const bool is_short = by->kind == NATIVE_IMMEDIATE && by->value >= 0 && by->value < 32;
    if (inst->op == OP_SHR)
        fermi_modify(s, made, NATIVE_SLOT_UNSIGNED, inst->type == TYPE_S32 ? MODIFIER_NONE : MODIFIER_U32);
    fermi_modify(s, made, NATIVE_SLOT_WRAP, is_short ? MODIFIER_NONE : MODIFIER_W);
}

static void swap(struct operand *a, struct operand *b) {
    const struct operand held = *a;
    *a = *b, *b = held;
}

bool fermi_order(const struct selector *s, struct operand *a, struct operand *b) {
    const bool swaps = !fermi_is_simple(s, a) && fermi_is_simple(s, b);
    if (swaps)
        swap(a, b);
    return swaps;
}

static bool is_plain_sum(const struct inst *inst) {
    return inst->op == OP_ADD && !type_is_float((enum type)inst->type) &&
           !(inst->flags & (FLAG_CARRY_IN | FLAG_CARRY_OUT | FLAG_SAT));
}

static const struct inst *maker_here(const struct selector *s, const struct operand *operand) {
    const bool is_here = operand->kind == OPERAND_REG && s->facts[operand->reg].definitions == 1 &&
                         s->maker_of[operand->reg] == s->block + 1;
    return is_here ? &s->source->code.items[s->maker[operand->reg]] : NULL;
}

/* The shift that makes the operand, if all who read it are sums of this block with something else than a shift: it is part of
 * each of them. */
static const struct inst *shared_shift(const struct selector *s, const struct operand *operand) {
    const struct inst *shift = maker_here(s, operand);
    if (!shift || shift->op != OP_SHL || shift->guard >= 0 || shift->src[0].kind != OPERAND_REG)
        return NULL;
    uint32_t reads = 0;
    bool changed = false;
    for (unsigned i = s->maker[operand->reg] + 1; i < s->source->code.count; i++) {
        const struct inst *inst = &s->source->code.items[i];
        for (unsigned k = 0; k < inst->src_count; k++) {
            if (inst->src[k].kind != OPERAND_REG || inst->src[k].reg != operand->reg)
                continue;
            const struct inst *other = is_plain_sum(inst) ? maker_here(s, &inst->src[1 - k]) : shift;
            if (changed || (other && other->op == OP_SHL))
                return NULL;
            reads++;
        }
        for (unsigned k = 0; k < inst->dst_count; k++)
            changed |= inst->dst[k].kind == OPERAND_REG && inst->dst[k].reg == shift->src[0].reg;
    }
    return reads == s->facts[operand->reg].reads ? shift : NULL;
}

/* (x << n) + b */
static bool select_shift_add(struct selector *s, const struct inst *inst) {
    struct operand a = inst->src[0], b = inst->src[1];
    const struct inst *shift = NULL;
    for (unsigned i = 0; i < 4 && inst->op == OP_ADD; i++) { /* either operand; rather one that is read once */
        shift = i < 2 ? select_single(s, &a, OP_SHL) : shared_shift(s, &a);
        if (shift && shift->src[1].kind == OPERAND_IMM && shift->src[1].imm <= 31)
            break;
        shift = NULL;
        swap(&a, &b);
    }
    if (!shift)
        return false;
    select_take(s, shift);
    const struct source x = fermi_register(s, &shift->src[0]), y = fermi_any(s, &b);
    struct machine_inst *made = fermi_emit_two(s, FERMI_ISCADD, inst, &x, &y);
    machine_operand(made, (struct native_operand){.kind = NATIVE_IMMEDIATE, .value = (int64_t)shift->src[1].imm},
                    NO_UNIT);
    return true;
}

/* min(x, y) + b */
static bool select_extreme_add(struct selector *s, const struct inst *inst) {
    struct operand a = inst->src[0], b = inst->src[1];
    if (inst->op != OP_ADD)
        return false;
    const struct inst *found = NULL;
    for (unsigned i = 0; i < 2 && !found; i++) {
        found = select_single(s, &a, OP_MIN);
        found = found ? found : select_single(s, &a, OP_MAX);
        if (!found || found->type != TYPE_S32) {
            found = NULL;
            swap(&a, &b);
        }
    }
    if (!found)
        return false;
    select_take(s, found);
    const struct source x = fermi_register(s, &found->src[0]), y = fermi_register(s, &found->src[1]);
    const struct source z = fermi_register(s, &b);
    struct machine_inst *made = fermi_emit_two(s, FERMI_VMNMX, inst, &x, &y);
    fermi_put_source(made, &z);
    fermi_modify(s, made, NATIVE_SLOT_MX, found->op == OP_MAX ? MODIFIER_MX : MODIFIER_NONE);
    fermi_modify(s, made, NATIVE_SLOT_SECOND, MODIFIER_ACC);
    return true;
}

void fermi_sum(struct selector *s, const struct inst *inst) {
    const bool plain = !(inst->flags & (FLAG_CARRY_IN | FLAG_CARRY_OUT | FLAG_SAT));
    if (plain && (select_shift_add(s, inst) || select_extreme_add(s, inst)))
        return;
    struct operand a = inst->src[0], b = inst->src[1];
    bool minus_a = false, minus_b = inst->op == OP_SUB;
    if (fermi_order(s, &a, &b)) {
        minus_a = minus_b, minus_b = false;
    }
    struct source x = fermi_register(s, &a), y = fermi_any(s, &b);
    const bool carries = (inst->flags & (FLAG_CARRY_IN | FLAG_CARRY_OUT)) != 0; /* of a difference they are borrows */
    if (y.kind == SOURCE_IMMEDIATE && minus_b && !carries && fermi_fits(0 - y.value))
        y.value = 0 - y.value, minus_b = false;
    else if (y.kind == SOURCE_IMMEDIATE && minus_b)
        y = fermi_in_register(s, y, NULL);
    x.negated = minus_a, y.negated = minus_b;
    struct machine_inst *made = fermi_emit_two(s, FERMI_IADD, inst, &x, &y);
    fermi_modify(s, made, NATIVE_SLOT_SAT, inst->flags & FLAG_SAT ? MODIFIER_SAT : MODIFIER_NONE);
    fermi_modify(s, made, NATIVE_SLOT_X, inst->flags & FLAG_CARRY_IN ? MODIFIER_X : MODIFIER_NONE);
    made->native.sets_code = (inst->flags & FLAG_CARRY_OUT) != 0;
}

void fermi_multiply(struct selector *s, const struct inst *inst) {
    struct operand a = inst->src[0], b = inst->src[1];
    fermi_order(s, &a, &b);
    const bool adds = inst->op == OP_MAD;
    const struct source x = fermi_register(s, &a);
    struct source y = fermi_any(s, &b), z = {.kind = SOURCE_ZERO};
    if (adds)
        z = y.kind == SOURCE_UNIT ? fermi_any(s, &inst->src[2]) : fermi_register(s, &inst->src[2]);
    if (adds && z.kind == SOURCE_IMMEDIATE)
        z = fermi_in_register(s, z, &inst->src[2]);
    struct machine_inst *made = fermi_emit_two(s, adds ? FERMI_IMAD : FERMI_IMUL, inst, &x, &y);
    if (adds)
        fermi_put_source(made, &z);
    if (inst->mode != MODE_HI || inst->type == TYPE_U32) {
        fermi_modify(s, made, NATIVE_SLOT_TYPE, MODIFIER_U32);
        fermi_modify(s, made, NATIVE_SLOT_TYPE, MODIFIER_U32);
    }
    fermi_modify(s, made, NATIVE_SLOT_HI, inst->mode == MODE_HI ? MODIFIER_HI : MODIFIER_NONE);
}

/* min(x + n, b), n of eight bits [003 §4.1, 30]. */
static bool select_add_extreme(struct selector *s, const struct inst *inst) {
    struct operand a = inst->src[0], b = inst->src[1];
    const struct inst *sum = NULL;
    for (unsigned i = 0; i < 2 && !sum; i++) {
        sum = select_single(s, &a, OP_ADD);
        if (sum && (sum->flags & (FLAG_CARRY_IN | FLAG_CARRY_OUT | FLAG_SAT) || sum->src[1].kind != OPERAND_IMM ||
                    (uint32_t)sum->src[1].imm + 128 > 255 || shared_shift(s, &sum->src[0])))
            sum = NULL;
        if (!sum)
            swap(&a, &b);
    }
    if (!sum || inst->type != TYPE_S32)
        return false;
    select_take(s, sum);
    const struct source x = fermi_register(s, &sum->src[0]), z = fermi_register(s, &b);
    const struct source y = {.kind = SOURCE_IMMEDIATE, .value = (uint32_t)sum->src[1].imm};
    struct machine_inst *made = fermi_emit_two(s, FERMI_VADD, inst, &x, &y);
    fermi_put_source(made, &z);
    fermi_modify(s, made, NATIVE_SLOT_VIDEO_A, MODIFIER_S32);
    fermi_modify(s, made, NATIVE_SLOT_VIDEO_B, MODIFIER_S8);
    fermi_modify(s, made, NATIVE_SLOT_SECOND, inst->op == OP_MAX ? MODIFIER_MAX : MODIFIER_MIN);
    return true;
}

void fermi_extreme(struct selector *s, const struct inst *inst) {
    if (select_add_extreme(s, inst))
        return;
    struct operand a = inst->src[0], b = inst->src[1];
    fermi_order(s, &a, &b);
    const bool is_float = inst->type == TYPE_F32;
    const struct source x = fermi_register(s, &a), y = is_float ? fermi_any_float(s, &b) : fermi_any(s, &b);
    struct machine_inst *made = fermi_emit_two(s, is_float ? FERMI_FMNMX : FERMI_IMNMX, inst, &x, &y);
    machine_operand(made,
                    (struct native_operand){.kind = NATIVE_PREDICATE, .reg = FERMI_PT, .inverted = inst->op == OP_MAX},
                    NO_UNIT);
    fermi_modify(s, made, NATIVE_SLOT_UNSIGNED, inst->type == TYPE_U32 ? MODIFIER_U32 : MODIFIER_NONE);
    fermi_modify(s, made, NATIVE_SLOT_FTZ, inst->flags & FLAG_FTZ ? MODIFIER_FTZ : MODIFIER_NONE);
}

void fermi_logic(struct selector *s, const struct inst *inst) {
    struct operand a = inst->src[0], b = inst->src[1];
    struct source inverted[2] = {{.kind = SOURCE_ZERO}, {.kind = SOURCE_ZERO}};
    for (unsigned i = 0; i < 2; i++) {
        struct operand *operand = i ? &b : &a;
        const struct inst *not = select_single(s, operand, OP_NOT);
        if (not &&not ->src[0].kind == OPERAND_REG && fermi_is_simple(s, &not ->src[0])) {
            select_take(s, not );
            *operand = not ->src[0];
            inverted[i].inverted = true;
        }
    }
    if (fermi_order(s, &a, &b)) {
        const struct source held = inverted[0];
        inverted[0] = inverted[1], inverted[1] = held;
    }
    const struct source wide = fermi_plain(s, &b);
    const bool is_long = wide.kind == SOURCE_IMMEDIATE && !fermi_fits(wide.value);
    struct source x = fermi_register(s, &a), y = is_long ? wide : fermi_any(s, &b);
    x.inverted = inverted[0].inverted, y.inverted = inverted[1].inverted;
    struct machine_inst *made = fermi_emit_two(s, is_long ? FERMI_LOP32I : FERMI_LOP, inst, &x, &y);
    fermi_modify(s, made, NATIVE_SLOT_LOGIC, word_of_logic((enum op)inst->op));
}

void fermi_not(struct selector *s, const struct inst *inst) {
    struct source x = fermi_register(s, &inst->src[0]);
    x.inverted = true;
    const struct source zero = {.kind = SOURCE_ZERO};
    struct machine_inst *made = fermi_emit_two(s, FERMI_LOP, inst, &zero, &x);
    fermi_modify(s, made, NATIVE_SLOT_LOGIC, MODIFIER_PASS_B);
}

void fermi_negation(struct selector *s, const struct inst *inst) {
    if (inst->type == TYPE_F32) {
        const struct source x = fermi_register(s, &inst->src[0]);
        const struct source mask = {.kind = SOURCE_IMMEDIATE,
                                    .value = inst->op == OP_NEG ? UINT32_C(0x80000000) : UINT32_C(0x7fffffff)};
        struct machine_inst *made = fermi_emit_two(s, FERMI_LOP32I, inst, &x, &mask);
        fermi_modify(s, made, NATIVE_SLOT_LOGIC, inst->op == OP_NEG ? MODIFIER_XOR : MODIFIER_AND);
        return;
    }
    struct source x = fermi_register(s, &inst->src[0]);
    x.negated = true;
    const struct source zero = {.kind = SOURCE_ZERO};
    fermi_emit_two(s, FERMI_IADD, inst, &zero, &x);
}

/* Bit fields have place and length in one operand. */
void fermi_field(struct selector *s, const struct inst *inst) {
    const bool insert = inst->op == OP_BFI;
    const uint32_t place = (uint32_t)inst->src[insert ? 2 : 1].imm & 0xff,
                   length = (uint32_t)inst->src[insert ? 3 : 2].imm & 0xff;
    const struct source field = {.kind = SOURCE_IMMEDIATE, .value = length << 8 | place};
    const struct source x = fermi_register(s, &inst->src[0]);
    struct source y = {.kind = SOURCE_ZERO};
    if (insert)
        y = fermi_register(s, &inst->src[1]);
    struct machine_inst *made = fermi_emit_two(s, insert ? FERMI_BFI : FERMI_BFE, inst, &x, &field);
    if (insert)
        fermi_put_source(made, &y);
    else
        fermi_modify(s, made, NATIVE_SLOT_UNSIGNED, inst->type == TYPE_S32 ? MODIFIER_NONE : MODIFIER_U32);
}

void fermi_permute(struct selector *s, const struct inst *inst) {
    const struct source x = fermi_register(s, &inst->src[0]), y = fermi_any(s, &inst->src[2]);
    const struct source z = fermi_register(s, &inst->src[1]);
    struct machine_inst *made = fermi_emit_two(s, FERMI_PRMT, inst, &x, &y);
    fermi_put_source(made, &z);
}

/* Leading zeros: the shift that brings the highest one up, all ones where there is none. */
void fermi_count(struct selector *s, const struct inst *inst) {
    const struct source x = fermi_register(s, &inst->src[0]);
    const bool leading = inst->op == OP_CLZ;
    struct machine_inst *made = fermi_emit(s, leading ? FERMI_FLO : FERMI_POPC, inst);
    fermi_put_unit(made, inst->dst[0].reg);
    fermi_put_source(made, &x);
    if (!leading) {
        fermi_put_source(made, &x);
        return;
    }
    fermi_modify(s, made, NATIVE_SLOT_UNSIGNED, MODIFIER_U32);
    fermi_modify(s, made, NATIVE_SLOT_SH, MODIFIER_SH);
    const struct source shift = {.kind = SOURCE_UNIT, .unit = inst->dst[0].reg};
    const struct source most = {.kind = SOURCE_IMMEDIATE, .value = 32};
    made = fermi_emit_two(s, FERMI_IMNMX, inst, &shift, &most);
    fermi_put_pt(made);
    fermi_modify(s, made, NATIVE_SLOT_UNSIGNED, MODIFIER_U32);
}
