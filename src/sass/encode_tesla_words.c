/* SPDX-License-Identifier: Apache-2.0 */
/* The words behind the dots of Tesla's instructions, as bits. */
#include "sass/encode_tesla.h"

static bool is_half_word(enum native_modifier word) { return word == MODIFIER_U16 || word == MODIFIER_S16; }

/* The word in the row's first slot of that kind; MODIFIER_NONE: it has none. */
static enum native_modifier word_in(const struct native_form *form, const struct native_inst *inst,
                                    enum native_slot slot) {
    for (unsigned n = 0; n < NATIVE_SLOTS_MAX && form->slots[n]; n++)
        if (form->slots[n] == slot)
            return inst->modifiers[n];
    return MODIFIER_NONE;
}

static void set_word(const struct native_form *form, struct native_inst *inst, enum native_slot slot,
                     enum native_modifier word) {
    for (unsigned n = 0; n < NATIVE_SLOTS_MAX && form->slots[n]; n++)
        if (form->slots[n] == slot) {
            inst->modifiers[n] = (uint8_t)word;
            return;
        }
}

/* Words of a slot as numbers of a field: MODIFIER_NONE in the list is a number that no word has. */
struct word_field {
    uint8_t at, width, slot; /* slot: enum native_slot */
    uint8_t words[8];
};

static void code_word(struct coder *c, const struct word_field *place, const struct native_form *form,
                      struct native_inst *inst) {
    const enum native_slot slot = (enum native_slot)place->slot;
    uint64_t value = 0;
    const enum native_modifier word = word_in(form, inst, slot);
    while (c->writes && value <= low(place->width) && place->words[value] != word)
        value++;
    c->fits &= value <= low(place->width);
    if (!c->fits)
        return;
    field(c, place->at, place->width, &value);
    if (c->writes)
        return;
    c->fits &= place->words[value] != MODIFIER_NONE;
    set_word(form, inst, slot, place->words[value]);
}

/* Of conversions: what comes in is 16 or 32 bits; what goes out has its sign and its size in bits of their own. */
static void code_from(struct coder *c, const struct native_form *form, struct native_inst *inst) {
    static const struct word_field integers = {46,
                                               3,
                                               NATIVE_SLOT_FROM_INT,
                                               {MODIFIER_U16, MODIFIER_U32, MODIFIER_NONE, MODIFIER_U8, MODIFIER_S16,
                                                MODIFIER_S32, MODIFIER_NONE, MODIFIER_S8}};
    static const struct word_field floats = {46, 1, NATIVE_SLOT_FROM_FLOAT, {MODIFIER_F16, MODIFIER_F32}};
    code_word(c, inst->row == TESLA_I2I || inst->row == TESLA_I2F ? &integers : &floats, form, inst);
}

static void code_to(struct coder *c, const struct native_form *form, struct native_inst *inst) {
    static const struct word_field floats = {58, 1, NATIVE_SLOT_TO_FLOAT, {MODIFIER_F16, MODIFIER_F32}};
    static const struct word_field integers = {
        58, 2, NATIVE_SLOT_TO_INT, {MODIFIER_U16, MODIFIER_U32, MODIFIER_S16, MODIFIER_S32}};
    static const struct word_field bytes = {
        58, 2, NATIVE_SLOT_TO_INT, {MODIFIER_NONE, MODIFIER_U8, MODIFIER_NONE, MODIFIER_S8}};
    if (inst->row == TESLA_I2F || inst->row == TESLA_F2F) {
        code_word(c, &floats, form, inst);
        return;
    }
    const enum native_modifier to = word_in(form, inst, NATIVE_SLOT_TO_INT);
    const bool is_byte = inst->row == TESLA_I2I && flag(c, 51, c->writes && (to == MODIFIER_U8 || to == MODIFIER_S8));
    code_word(c, is_byte ? &bytes : &integers, form, inst);
}

/* RM, RP, RZ; with bit 59 to integral values. */
static void code_rounding(struct coder *c, const struct native_form *form, struct native_inst *inst) {
    static const uint8_t plain[] = {MODIFIER_NONE, MODIFIER_RM, MODIFIER_RP, MODIFIER_RZ};
    static const uint8_t integral[] = {MODIFIER_ROUND, MODIFIER_FLOOR, MODIFIER_CEIL, MODIFIER_TRUNC};
    const enum native_modifier word = word_in(form, inst, NATIVE_SLOT_ROUND_ANY);
    const bool is_integral = flag(c, 59, c->writes && word >= MODIFIER_ROUND && word <= MODIFIER_TRUNC);
    const uint8_t *words = is_integral ? integral : plain;
    uint64_t value = 0;
    while (c->writes && value < 4 && words[value] != word)
        value++;
    c->fits &= value < 4;
    if (c->fits)
        field(c, 49, 2, &value);
    if (!c->writes)
        set_word(form, inst, NATIVE_SLOT_ROUND_ANY, words[value & 3]);
}

static bool is_24(enum native_modifier word) { return word == MODIFIER_U24 || word == MODIFIER_S24; }

/* Two types of factors: of 24 bits both are the same. */
static void code_factors(struct coder *c, struct native_inst *inst, unsigned first, unsigned second, unsigned wide) {
    const enum native_modifier a = inst->modifiers[0], b = inst->modifiers[1];
    const bool is_wide = flag(c, wide, c->writes && is_24(a));
    const bool a_signed = flag(c, first, c->writes && (a == MODIFIER_S16 || a == MODIFIER_S24));
    const bool b_signed = flag(c, second, c->writes && b == MODIFIER_S16);
    if (c->writes) {
        c->fits &= is_24(a) == is_24(b) && (!is_wide || a == b);
        return;
    }
    c->fits &= !is_wide || !b_signed; /* the upper half */
    inst->modifiers[0] = is_wide ? (a_signed ? MODIFIER_S24 : MODIFIER_U24) : a_signed ? MODIFIER_S16 : MODIFIER_U16;
    inst->modifiers[1] = is_wide ? inst->modifiers[0] : b_signed ? MODIFIER_S16 : MODIFIER_U16;
}

static void code_sum_type(struct coder *c, const struct native_form *form, struct native_inst *inst) {
    static const struct word_field types = {
        61, 3, NATIVE_SLOT_HALF, {MODIFIER_U16, MODIFIER_S16, MODIFIER_NONE, MODIFIER_U24, MODIFIER_S24}};
    static const uint8_t shorts[] = {MODIFIER_U16, MODIFIER_S16, MODIFIER_NONE, MODIFIER_U24};
    if (inst->row == TESLA_IMAD) {
        code_word(c, &types, form, inst);
        return;
    }
    uint64_t value = 0;
    const enum native_modifier word = inst->modifiers[0];
    while (c->writes && value < 4 && shorts[value] != word)
        value++;
    c->fits &= value < 4;
    const bool low_bit = flag(c, 8, value & 1), high_bit = flag(c, 15, value >> 1 & 1);
    if (c->writes)
        return;
    inst->modifiers[0] = shorts[low_bit + 2 * high_bit];
    c->fits &= inst->modifiers[0] != MODIFIER_NONE;
}

static void code_loaded(struct coder *c, const struct native_form *form, struct native_inst *inst) {
    static const struct word_field sizes = {
        46, 2, NATIVE_SLOT_SIZE, {MODIFIER_U8, MODIFIER_U16, MODIFIER_S16, MODIFIER_U32}};
    code_word(c, &sizes, form, inst);
    c->narrow = !flag(c, 58, c->writes && inst->operands[0].half == HALF_NONE);
    if (!c->writes)
        return;
    c->fits &= inst->operands[1].width == MODIFIER_NONE || inst->operands[1].width == inst->modifiers[0];
}

/* Bytes have bit 54, words bit 58; a whole register is stored with bit 53. */
static void code_stored(struct coder *c, struct native_inst *inst) {
    const enum native_modifier size = inst->modifiers[0];
    const bool is_byte = flag(c, 54, c->writes && size == MODIFIER_U8);
    const bool is_word = flag(c, 58, c->writes && size == MODIFIER_U32);
    constant(c, 53, 1, 1);
    if (c->writes) {
        c->fits &= (is_byte || is_word || size == MODIFIER_U16) && inst->modifiers[1] == MODIFIER_U32 &&
                   inst->operands[0].width == MODIFIER_NONE;
        return;
    }
    c->fits &= !is_byte || !is_word;
    inst->modifiers[0] = is_byte ? MODIFIER_U8 : is_word ? MODIFIER_U32 : MODIFIER_U16;
    inst->modifiers[1] = MODIFIER_U32;
}

void code_types(struct coder *c, const struct native_form *form, struct native_inst *inst) {
    switch ((enum tesla_row)inst->row) {
    case TESLA_I2I:
    case TESLA_I2F:
    case TESLA_F2I:
    case TESLA_F2F:
        code_from(c, form, inst);
        code_to(c, form, inst);
        if (inst->row == TESLA_F2F)
            code_rounding(c, form, inst);
        break;
    case TESLA_IMUL: code_factors(c, inst, 47, 46, 48); break;
    case TESLA_IMUL32:
    case TESLA_IMUL32I: code_factors(c, inst, 15, 8, 22); break;
    case TESLA_IMAD:
    case TESLA_IMAD32:
    case TESLA_IMAD32I: code_sum_type(c, form, inst); break;
    case TESLA_G2R:
    case TESLA_G2R_LCK: code_loaded(c, form, inst); break;
    case TESLA_R2G:
    case TESLA_R2G_UNL: code_stored(c, inst); break;
    default: break;
    }
}

/* Whose bits the row's shift does not say. */
static bool is_own(enum native_slot slot) {
    return slot == NATIVE_SLOT_TO_INT || slot == NATIVE_SLOT_FROM_INT || slot == NATIVE_SLOT_TO_FLOAT ||
           slot == NATIVE_SLOT_FROM_FLOAT || slot == NATIVE_SLOT_ROUND_ANY || slot == NATIVE_SLOT_HALF ||
           slot == NATIVE_SLOT_SIZE;
}

void code_words(struct coder *c, const struct native_form *form, struct native_inst *inst) {
    for (unsigned n = 0; n < NATIVE_SLOTS_MAX && form->slots[n]; n++) {
        uint64_t bits = 0, value;
        if (is_own(form->slots[n]))
            continue;
        if (c->writes) {
            c->fits &= native_slot_bits(form->slots[n], inst->modifiers[n], &bits);
            c->bits |= bits << form->shifts[n];
            continue;
        }
        bits = c->bits >> form->shifts[n] & native_slot_mask(form->slots[n]);
        enum native_modifier word = MODIFIER_NONE;
        bool found = native_slot_bits(form->slots[n], MODIFIER_NONE, &value) && value == bits;
        for (unsigned i = 0; !found && (word = native_slot_word(form->slots[n], i)); i++)
            found = native_slot_bits(form->slots[n], word, &value) && value == bits;
        c->fits &= found;
        inst->modifiers[n] = (uint8_t)word;
    }
}

bool code_is_narrow(const struct coder *c, const struct native_form *form, const struct native_inst *inst, unsigned n) {
    switch ((enum tesla_row)inst->row) {
    case TESLA_I2I:
    case TESLA_F2I:
        return n == 0 ? is_half_word(word_in(form, inst, NATIVE_SLOT_TO_INT)) && inst->operands[0].kind != NATIVE_SINK
                      : is_half_word(word_in(form, inst, NATIVE_SLOT_FROM_INT)) ||
                            word_in(form, inst, NATIVE_SLOT_FROM_FLOAT) == MODIFIER_F16;
    case TESLA_I2F:
    case TESLA_F2F:
        return n == 0 ? word_in(form, inst, NATIVE_SLOT_TO_FLOAT) == MODIFIER_F16
                      : is_half_word(word_in(form, inst, NATIVE_SLOT_FROM_INT)) ||
                            word_in(form, inst, NATIVE_SLOT_FROM_FLOAT) == MODIFIER_F16;
    case TESLA_IMUL:
    case TESLA_IMUL32:
    case TESLA_IMUL32I:
    case TESLA_IMAD:
    case TESLA_IMAD32:
    case TESLA_IMAD32I: return n != 0 && !is_24(inst->modifiers[0]);
    case TESLA_G2R:
    case TESLA_G2R_LCK: return c->narrow;
    default:
        return is_half_word(word_in(form, inst, NATIVE_SLOT_SHORT)) ||
               is_half_word(word_in(form, inst, NATIVE_SLOT_SIGN));
    }
}
