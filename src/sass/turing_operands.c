/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of sm_75 to sm_90, both ways: registers, predicates, immediates, targets; what stands in bits 32 to 71. */
#include "sass/turing_coder.h"

enum { BIT_X = 74, BIT_UNIFORM = 91, BIT_ABSOLUTE_RETURN = 85, TARGET_AT = 34, NARROW_TARGET = 30 };

void turing_is(struct turing_coder *coder, struct turing_operand *operand, enum turing_kind kind) {
    if (!coder->encodes)
        operand->kind = (uint8_t)kind;
    else if (operand->kind != kind)
        turing_refuse(coder, "an operand is of another kind than its place");
}

static bool bit_of(const struct turing_coder *coder, unsigned bit) {
    return (bit < 64 ? coder->word.low >> bit : coder->word.high >> (bit - 64)) & 1;
}

static void code_register(struct turing_coder *coder, struct turing_operand *operand, unsigned at, bool uniform) {
    turing_is(coder, operand, uniform ? TURING_UNIFORM : TURING_REGISTER);
    turing_byte(coder, at, uniform ? 6 : 8, &operand->reg);
}

/* ---- A, B and C ---- */

/* Bits that change what stands at 24, 32 and 64. */
struct turing_change {
    uint8_t negate, absolute, halves_negate, halves_absolute, halves;
};

static const struct turing_change *change_at(unsigned at) {
    static const struct turing_change changes[] = {{72, 73, 72, 73, 74}, {63, 62, 63, 62, 60}, {75, 74, 84, 83, 81}};
    return &changes[at == 24 ? 0 : at == 32 ? 1 : 2];
}

/* With .X, which adds a carry, the bit that negates inverts. */
static void code_negation(struct turing_coder *coder, struct turing_operand *operand, unsigned bit) {
    bool *which = bit_of(coder, BIT_X) ? &operand->inverted : &operand->negated;
    if (coder->encodes && operand->inverted && operand->negated)
        turing_refuse(coder, "an operand that is negated and inverted");
    else if (coder->encodes && (operand->inverted || operand->negated) && !*which)
        turing_refuse(coder, "with .X operands are inverted, without it negated");
    turing_flag(coder, bit, which);
}

static void code_change(struct turing_coder *coder, struct turing_operand *operand, unsigned type, unsigned at) {
    const struct turing_change *change = change_at(at);
    switch ((enum turing_type)type) {
    case TURING_TYPE_N: break;
    case TURING_TYPE_I: turing_flag(coder, change->negate, &operand->negated); break;
    case TURING_TYPE_X: code_negation(coder, operand, change->negate); break;
    case TURING_TYPE_L:
        if (at == 32)
            code_negation(coder, operand, change->negate);
        break;
    case TURING_TYPE_V: turing_flag(coder, change_at(32)->negate, &operand->inverted); break;
    case TURING_TYPE_FH: turing_byte(coder, change_at(32)->halves, 2, &operand->select);
    /* fall through */
    case TURING_TYPE_F:
    case TURING_TYPE_D:
        turing_flag(coder, change->absolute, &operand->absolute);
        turing_flag(coder, change->negate, &operand->negated);
        break;
    case TURING_TYPE_H:
        turing_byte(coder, change->halves, 2, &operand->select);
        turing_flag(coder, change->halves_absolute, &operand->absolute);
        turing_flag(coder, change->halves_negate, &operand->negated);
        break;
    case TURING_TYPE_S: turing_byte(coder, change_at(32)->halves, 2, &operand->select); break;
    }
}

static void code_number(struct turing_coder *coder, struct turing_operand *operand, unsigned type) {
    turing_is(coder, operand, TURING_IMMEDIATE);
    if (type == TURING_TYPE_I || type == TURING_TYPE_X || type == TURING_TYPE_L)
        turing_signed(coder, 32, 32, &operand->value);
    else
        turing_unsigned(coder, 32, 32, &operand->value);
}

/* c[bank][offset], or cx[UR][offset] */
static void code_constant(struct turing_coder *coder, struct turing_operand *operand) {
    turing_is(coder, operand, TURING_CONSTANT);
    turing_unsigned(coder, 38, 16, &operand->value);
    turing_flag(coder, BIT_UNIFORM, &operand->bindless);
    if (operand->bindless)
        turing_byte(coder, 32, 6, &operand->ureg);
    else
        turing_byte(coder, 54, 5, &operand->bank);
    operand->uniform = operand->bindless;
    operand->reg = TURING_RZ;
}

/* B and C: the form says which of them stands in bits 32 to 63 and what it is; the other is a register at 64. */
static void code_flexible(struct turing_coder *coder, const struct turing_place *place,
                          struct turing_operand *operand) {
    const unsigned form = coder->inst->form;
    const bool is_uniform = coder->row->unit == TURING_UNIT_UNIFORM;
    const bool is_first = place->shape == TURING_SHAPE_B || (place->shape == TURING_SHAPE_BC && form == 1);
    const bool c_in_middle = form == 2 || form == 3 || form == 7;
    if (is_first == c_in_middle) {
        code_register(coder, operand, 64, is_uniform);
        code_change(coder, operand, place->type, 64);
        return;
    }
    switch (form) {
    case 2:
    case 4: code_number(coder, operand, place->type); return;
    case 3:
    case 5: code_constant(coder, operand); break;
    case 6:
    case 7:
        code_register(coder, operand, 32, true);
        turing_fixed(coder, BIT_UNIFORM, 1, 1);
        break;
    default: code_register(coder, operand, 32, is_uniform); break;
    }
    code_change(coder, operand, place->type, 32);
}

/* ---- predicates ---- */

static void code_predicate(struct turing_coder *coder, const struct turing_place *place,
                           struct turing_operand *operand) {
    const bool is_uniform = place->type || coder->row->unit == TURING_UNIT_UNIFORM;
    turing_is(coder, operand, is_uniform ? TURING_UPREDICATE : TURING_PREDICATE);
    turing_byte(coder, place->at, 3, &operand->reg);
    if (place->shape == TURING_SHAPE_IN)
        turing_flag(coder, place->at + 3u, &operand->inverted);
}

static void code_either(struct turing_coder *coder, const struct turing_place *place, struct turing_operand *operand) {
    bool is_uniform = operand->kind == TURING_UPREDICATE;
    turing_flag(coder, place->at - 1u, &is_uniform);
    turing_is(coder, operand, is_uniform ? TURING_UPREDICATE : TURING_PREDICATE);
    turing_byte(coder, place->at, 3, &operand->reg);
    turing_flag(coder, place->at + 3u, &operand->inverted);
}

/* All bits 0 are true here. */
static void code_loads(struct turing_coder *coder, const struct turing_place *place, struct turing_operand *operand) {
    uint8_t reg = operand->reg ^ TURING_PT;
    turing_is(coder, operand, TURING_PREDICATE);
    turing_byte(coder, place->at, 3, &reg);
    operand->reg = reg ^ TURING_PT;
    turing_flag(coder, place->at + 3u, &operand->inverted);
}

/* ---- the rest ---- */

#define TARGET_LIMIT (INT64_C(1) << 60)

/* Words of four bytes from the next instruction on; sm_90 has eight lower bits elsewhere, of LEPC in bytes. */
static void code_target(struct turing_coder *coder, const struct turing_place *place, struct turing_operand *operand) {
    const bool is_absolute = place->shape == TURING_SHAPE_TARGET_RET && bit_of(coder, BIT_ABSOLUTE_RETURN);
    const bool is_distance = place->shape == TURING_SHAPE_DISTANCE || is_absolute;
    const int64_t next = is_distance ? 0 : (int64_t)coder->inst->address + TURING_INST_BYTES;
    const bool has_low = coder->arch == TURING_SM_90 && place->bits > NARROW_TARGET;
    const int64_t step = place->type == TURING_LOW_BITS_LEPC ? 1 : 4, unit = has_low ? step * 256 : step;
    turing_is(coder, operand, is_distance ? TURING_DISTANCE : TURING_TARGET);
    if (operand->value % step || operand->value < -TARGET_LIMIT || operand->value > TARGET_LIMIT) {
        turing_refuse(coder, "a target that is too far away, or no multiple of four bytes");
        return;
    }
    const int64_t distance = operand->value - next;
    int64_t upper = distance >= 0 ? distance / unit : -((-distance + unit - 1) / unit);
    uint8_t lower = (uint8_t)((distance - upper * unit) / step);
    turing_signed(coder, place->at, place->bits, &upper);
    if (has_low)
        turing_byte(coder, place->type, 8, &lower);
    else
        lower = 0;
    operand->value = next + upper * unit + step * lower;
}

static void code_absolute(struct turing_coder *coder, struct turing_operand *operand) {
    int64_t words = operand->value / 4;
    turing_is(coder, operand, TURING_DISTANCE);
    if (operand->value % 4)
        turing_refuse(coder, "an address that is no multiple of four bytes");
    turing_unsigned(coder, TARGET_AT, 48, &words);
    operand->value = words * 4;
}

static void code_lut(struct turing_coder *coder, struct turing_operand *operand) {
    uint8_t lower = operand->value & 7, upper = (uint8_t)(operand->value >> 3);
    turing_is(coder, operand, TURING_IMMEDIATE);
    if (operand->value < 0 || operand->value > UINT8_MAX)
        turing_refuse(coder, "a table of more than eight bits");
    turing_byte(coder, 64, 3, &lower);
    turing_byte(coder, 72, 5, &upper);
    operand->value = lower | upper << 3;
}

static void code_named(struct turing_coder *coder, const struct turing_place *place, struct turing_operand *operand) {
    turing_is(coder, operand, TURING_NAMED);
    turing_unsigned(coder, place->at, turing_words_bits(place->type), &operand->value);
    if (operand->value < 0 || operand->value > 255 || !turing_words_text(place->type, (unsigned)operand->value))
        turing_refuse(coder, "no name is known for %lld in the bits from %u on", (long long)operand->value, place->at);
}

static void code_dependency(struct turing_coder *coder, struct turing_operand *operand) {
    turing_is(coder, operand, TURING_DEPENDENCY);
    turing_byte(coder, 32, 6, &operand->select);
    turing_unsigned(coder, 38, 6, &operand->value);
    turing_byte(coder, 44, 3, &operand->reg);
}

/* The lanes that a branch compares the active ones with, where it does. */
static void code_mask(struct turing_coder *coder, const struct turing_place *place, struct turing_operand *operand) {
    bool is_there = operand->kind != TURING_NONE;
    turing_flag(coder, BIT_UNIFORM, &is_there);
    if (!is_there)
        return;
    code_register(coder, operand, place->at, true);
    turing_flag(coder, place->at + 6u, &operand->inverted);
}

static void code_selected(struct turing_coder *coder, const struct turing_place *place,
                          struct turing_operand *operand) {
    code_register(coder, operand, place->at, false);
    turing_byte(coder, place->bits, place->shape == TURING_SHAPE_BYTE ? 2 : 1, &operand->select);
    if (place->shape == TURING_SHAPE_META)
        turing_unsigned(coder, 48, 2, &operand->value);
}

static void code_shape(struct turing_coder *coder, const struct turing_place *place, struct turing_operand *operand) {
    switch ((enum turing_shape)place->shape) {
    case TURING_SHAPE_END: break;
    case TURING_SHAPE_REGISTER:
    case TURING_SHAPE_UNIFORM: code_register(coder, operand, place->at, place->shape == TURING_SHAPE_UNIFORM); break;
    case TURING_SHAPE_MATRIX:
    case TURING_SHAPE_BYTE:
    case TURING_SHAPE_META: code_selected(coder, place, operand); break;
    case TURING_SHAPE_A:
        code_register(coder, operand, 24, coder->row->unit == TURING_UNIT_UNIFORM);
        code_change(coder, operand, place->type, 24);
        break;
    case TURING_SHAPE_B:
    case TURING_SHAPE_C:
    case TURING_SHAPE_BC: code_flexible(coder, place, operand); break;
    case TURING_SHAPE_OUT:
    case TURING_SHAPE_IN: code_predicate(coder, place, operand); break;
    case TURING_SHAPE_EITHER: code_either(coder, place, operand); break;
    case TURING_SHAPE_LOADS: code_loads(coder, place, operand); break;
    case TURING_SHAPE_PREDICATES: turing_is(coder, operand, TURING_PREDICATES); break;
    case TURING_SHAPE_IMMEDIATE:
    case TURING_SHAPE_SWIZZLE:
        turing_is(coder, operand, TURING_IMMEDIATE);
        turing_unsigned(coder, place->at, place->bits, &operand->value);
        break;
    case TURING_SHAPE_LUT: code_lut(coder, operand); break;
    case TURING_SHAPE_NAMED: code_named(coder, place, operand); break;
    case TURING_SHAPE_BARRIER:
        turing_is(coder, operand, TURING_BARRIER);
        turing_byte(coder, place->at, 4, &operand->reg);
        break;
    case TURING_SHAPE_TARGET:
    case TURING_SHAPE_TARGET_RET:
    case TURING_SHAPE_DISTANCE: code_target(coder, place, operand); break;
    case TURING_SHAPE_ABSOLUTE: code_absolute(coder, operand); break;
    case TURING_SHAPE_DEPENDENCY: code_dependency(coder, operand); break;
    case TURING_SHAPE_MASK: code_mask(coder, place, operand); break;
    default: turing_reference(coder, place, operand); break;
    }
}

/* What stands there when nothing is written: where the operand cannot be, true, false, or no bits at all. */
static bool is_default(const struct turing_place *place, const struct turing_operand *operand, bool cannot_be) {
    switch ((enum turing_kind)operand->kind) {
    case TURING_REGISTER: return operand->reg == TURING_RZ;
    case TURING_UNIFORM: return operand->reg == TURING_URZ;
    case TURING_PREDICATE:
    case TURING_UPREDICATE:
        return operand->reg == TURING_PT ? cannot_be || !operand->inverted
                                         : cannot_be && !operand->reg && !operand->inverted;
    case TURING_IMMEDIATE: return operand->value == (place->shape == TURING_SHAPE_IMMEDIATE ? place->type : 0);
    default: return false;
    }
}

void turing_operand(struct turing_coder *coder, const struct turing_place *place, struct turing_operand *operand) {
    const bool holds = turing_holds(coder, place->when);
    if (!holds && place->absence == TURING_LACKS) {
        if (operand->kind != TURING_NONE)
            turing_refuse(coder, "an operand that cannot stand here");
        return;
    }
    code_shape(coder, place, operand);
    const bool is_omitted = is_default(place, operand, !holds);
    operand->hidden = is_omitted && (holds ? place->absence == TURING_DEFAULTS && place->when == TURING_WHEN_ALWAYS
                                           : place->absence != TURING_STANDS);
    if (!holds && !operand->hidden && place->absence == TURING_DEFAULTS)
        turing_refuse(coder, "an operand that cannot stand here");
}
