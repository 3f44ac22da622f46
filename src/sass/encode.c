/* SPDX-License-Identifier: Apache-2.0 */
/* Fermi's 64-bit encodings, both ways, by the places of fermi.def. A place is a letter:
 *   registers: d bit 14, 1 bit 20, 3 bit 49, e bit 32, A bit 43
 *   predicates: P bit 17, Q bit 14, R bit 53, V bit 54; with a bit behind that inverts: 4 bit 49, 5 bit 20, 6 bit 26
 *   2: what bits 46 and 47 say: a register at bit 26, a constant, an immediate of 20 bits; a constant as third source takes
 *      this place too, and the second source moves to 3
 *   L: 32 bits from bit 26    S: 8 bits from bit 26    h: 5 bits from bit 5
 *   v: register (bit 47) or 16 bits from bit 26    B: register or (bit 47) 4 bits from bit 20
 *   U: register or (bit 46) 12 bits from bit 26    k: register at 20, offset at 26, bank at 42
 *   m: register at bit 20, offset in 32 bits from 26    l: the same, 24 bits    a: the same, 17 bits and 3 from bit 55
 *   g: register at bit 20, words in 10 bits from 43    y: register at bit 26, words in 5 bits from 5 and 5 from 38
 *   t: code address in 24 bits from 26, from the next instruction on    o: the same as it is
 * Every other bit is guard (10 to 13), .S (4), or stands in the row. */
#include <string.h>

#include "sass/native.h"

enum { GUARD_BIT = 10, POP_BIT = 4, COMPOSITE_BIT = 46, NUMBERED_BIT = 47, NOTHING = 7 };
enum composite { COMPOSITE_REGISTER, COMPOSITE_CONSTANT, COMPOSITE_THIRD, COMPOSITE_IMMEDIATE };

static uint64_t low(unsigned width) { return (UINT64_C(1) << width) - 1; }

/* ---- to an encoding ---- */

struct fermi_writer {
    uint64_t bits;
    bool fits;
};

static void put(struct fermi_writer *writer, unsigned at, unsigned width, int64_t value) {
    writer->fits &= value >= 0 && (uint64_t)value <= low(width);
    writer->bits |= ((uint64_t)value & low(width)) << at;
}

static void put_signed(struct fermi_writer *writer, unsigned at, unsigned width, int64_t value) {
    const int64_t limit = INT64_C(1) << (width - 1);
    writer->fits &= value >= -limit && value < limit;
    writer->bits |= ((uint64_t)value & low(width)) << at;
}

static void put_register(struct fermi_writer *writer, unsigned at, const struct native_operand *operand) {
    const bool absent = operand->kind == NATIVE_NONE;
    writer->fits &= absent || operand->kind == NATIVE_REG;
    put(writer, at, 6, absent ? FERMI_RZ : operand->reg);
}

static void put_predicate(struct fermi_writer *writer, unsigned at, const struct native_operand *operand,
                          bool inverts) {
    const bool absent = operand->kind == NATIVE_NONE;
    writer->fits &= absent || (operand->kind == NATIVE_PREDICATE && (inverts || !operand->inverted));
    put(writer, at, 3, absent ? NOTHING : operand->reg);
    if (inverts && operand->inverted)
        put(writer, at + 3, 1, 1);
}

static void put_constant(struct fermi_writer *writer, const struct native_operand *operand, enum composite how) {
    writer->fits &= operand->reg == FERMI_RZ && operand->value % 4 == 0;
    put(writer, 26, 16, operand->value);
    put(writer, 42, 4, operand->bank & 15);
    put(writer, 26, 1, operand->bank >> 4);
    put(writer, COMPOSITE_BIT, 2, how);
}

/* An immediate as the 20 bits of its place: integers are signed, floats keep their upper bits. */
static void put_immediate(struct fermi_writer *writer, char shape, int64_t value) {
    if (shape == 'f')
        writer->fits &= (value & 0xfff) == 0, put(writer, 26, 20, value >> 12);
    else if (shape == 'w')
        writer->fits &= (value & (int64_t)low(44)) == 0, put(writer, 26, 20, (int64_t)((uint64_t)value >> 44));
    else
        put_signed(writer, 26, 20, value);
    put(writer, COMPOSITE_BIT, 2, COMPOSITE_IMMEDIATE);
}

static void put_composite(struct fermi_writer *writer, char shape, const struct native_operand *operand) {
    if (operand->kind == NATIVE_CONSTANT)
        put_constant(writer, operand, COMPOSITE_CONSTANT);
    else if (operand->kind == NATIVE_IMMEDIATE)
        put_immediate(writer, shape, operand->value);
    else
        put_register(writer, 26, operand);
}

static void put_address(struct fermi_writer *writer, unsigned at, const struct native_operand *operand) {
    writer->fits &= operand->kind == NATIVE_MEMORY;
    put(writer, at, 6, operand->reg);
}

/* A register, or a number where bit `flag` says so. */
static void put_either(struct fermi_writer *writer, unsigned at, unsigned width, unsigned flag,
                       const struct native_operand *operand) {
    if (operand->kind != NATIVE_IMMEDIATE) {
        put_register(writer, at, operand);
        return;
    }
    put(writer, at, width, operand->value);
    put(writer, flag, 1, 1);
}

static void put_operand(struct fermi_writer *writer, char place, char shape, const struct native_inst *inst,
                        const struct native_operand *operand) {
    unsigned number = 0;
    const int64_t value = operand->value;
    switch (place) {
    case 'd': put_register(writer, 14, operand); break;
    case '1': put_register(writer, 20, operand); break;
    case '3': put_register(writer, 49, operand); break;
    case 'e': put_register(writer, 32, operand); break;
    case 'A': put_register(writer, 43, operand); break;
    case 'P': put_predicate(writer, 17, operand, false); break;
    case 'Q': put_predicate(writer, 14, operand, false); break;
    case 'R': put_predicate(writer, 53, operand, false); break;
    case 'V': put_predicate(writer, 54, operand, false); break;
    case '4': put_predicate(writer, 49, operand, true); break;
    case '5': put_predicate(writer, 20, operand, true); break;
    case '6': put_predicate(writer, 26, operand, true); break;
    case '2': put_composite(writer, shape, operand); break;
    case 'L': put(writer, 26, 32, (int64_t)(uint32_t)value); break;
    case 'S':
        writer->fits &= native_special_number(operand->reg, &number);
        put(writer, 26, 8, number);
        break;
    case 'h': put(writer, 5, 5, value); break;
    case 'v':
        if (operand->kind == NATIVE_IMMEDIATE)
            put_signed(writer, 26, 16, value);
        else
            put_register(writer, 26, operand), put(writer, 47, 1, 1);
        break;
    case 'B': put_either(writer, 20, 4, 47, operand); break;
    case 'U': put_either(writer, 26, 12, 46, operand); break;
    case 'k':
        writer->fits &= operand->kind == NATIVE_CONSTANT;
        put(writer, 20, 6, operand->reg), put(writer, 26, 16, value), put(writer, 42, 5, operand->bank);
        break;
    case 'm': put_address(writer, 20, operand), put_signed(writer, 26, 32, value); break;
    case 'l': put_address(writer, 20, operand), put_signed(writer, 26, 24, value); break;
    case 'a':
        put_address(writer, 20, operand);
        writer->fits &= value >= -0x80000 && value < 0x80000;
        put(writer, 26, 17, value & 0x1ffff), put(writer, 55, 3, value >> 17 & 7);
        break;
    case 'g':
        put_address(writer, 20, operand), put_signed(writer, 43, 10, value / 4);
        writer->fits &= value % 4 == 0;
        break;
    case 'y':
        put_address(writer, 26, operand);
        writer->fits &= value % 4 == 0 && value >= -2048 && value < 2048;
        put(writer, 5, 5, value / 4 & 31), put(writer, 38, 5, value / 4 >> 5 & 31);
        break;
    case 't': put_signed(writer, 26, 24, value - (int64_t)inst->address - FERMI_INST_BYTES); break;
    case 'o': put_signed(writer, 26, 24, value); break;
    default: writer->fits = false; break;
    }
}

/* May the third source be a constant, which then sits in the place of the second? */
static bool can_swap(const struct native_form *form) {
    bool written, optional;
    const char shape = native_shape(form, 3, &written, &optional);
    return shape == 'x' || shape == 'f' || shape == 'w';
}

static bool swaps(const struct native_form *form, const struct native_inst *inst) {
    return can_swap(form) && strcmp(form->places, "d123") == 0 && inst->operands[3].kind == NATIVE_CONSTANT;
}

static void put_operands(struct fermi_writer *writer, const struct native_form *form, const struct native_inst *inst) {
    bool written, optional;
    char shape;
    for (unsigned n = 0; (shape = native_shape(form, n, &written, &optional)); n++) {
        const struct native_operand *operand = &inst->operands[n];
        if (swaps(form, inst) && n == 2)
            put_register(writer, 49, operand);
        else if (swaps(form, inst) && n == 3)
            put_constant(writer, operand, COMPOSITE_THIRD);
        else
            put_operand(writer, form->places[n], shape, inst, operand);
        /* a float has its sign in its bits; text could not tell the two apart */
        writer->fits &= operand->kind != NATIVE_IMMEDIATE ||
                        ((!operand->negated || shape == 'x') && !operand->absolute && !operand->inverted);
        if (operand->negated)
            writer->fits &= form->negate[n] != 0, writer->bits |= UINT64_C(1) << form->negate[n];
        if (operand->absolute)
            writer->fits &= form->absolute[n] != 0, writer->bits |= UINT64_C(1) << form->absolute[n];
        if (operand->inverted && operand->kind != NATIVE_PREDICATE)
            writer->fits &= form->invert[n] != 0, writer->bits |= UINT64_C(1) << form->invert[n];
    }
}

/* The second operand of a video instruction is an immediate: its type keeps only the sign. */
static bool video_immediate(const struct native_form *form, enum native_slot slot, const struct native_inst *inst) {
    return slot == NATIVE_SLOT_VIDEO_B && form->places[2] == 'v' && inst->operands[2].kind == NATIVE_IMMEDIATE;
}

static bool encode_fermi(const struct native_inst *inst, uint64_t *out) {
    const struct native_form *form = native_form(NATIVE_FERMI, inst->row);
    struct fermi_writer writer = {.bits = form->bits, .fits = true};
    put_operands(&writer, form, inst);
    for (unsigned n = 0; n < NATIVE_SLOTS_MAX && form->slots[n]; n++) {
        uint64_t bits = 0;
        writer.fits &= native_slot_bits(form->slots[n], inst->modifiers[n], &bits);
        if (video_immediate(form, form->slots[n], inst)) {
            writer.fits &= inst->modifiers[n] == MODIFIER_NONE || inst->modifiers[n] == MODIFIER_S8 ||
                           inst->modifiers[n] == MODIFIER_U8;
            bits &= UINT64_C(1) << 5;
        }
        writer.bits |= bits << form->shifts[n];
    }
    if (!form->unguarded)
        put(&writer, GUARD_BIT, 3, inst->guard ? inst->guard_reg : NOTHING);
    writer.fits &= inst->guard == GUARD_NONE || (inst->guard == GUARD_PREDICATE && !form->unguarded);
    if (inst->guard && inst->guard_inverted)
        put(&writer, GUARD_BIT + 3, 1, 1);
    if (inst->pops)
        put(&writer, POP_BIT, 1, 1);
    if (inst->sets_code)
        writer.fits &= form->carry != 0, writer.bits |= UINT64_C(1) << form->carry;
    *out = writer.bits;
    return writer.fits;
}

/* ---- from an encoding ---- */

static uint64_t get(uint64_t bits, unsigned at, unsigned width) { return bits >> at & low(width); }

static int64_t get_signed(uint64_t bits, unsigned at, unsigned width) {
    const uint64_t sign = UINT64_C(1) << (width - 1);
    return (int64_t)((get(bits, at, width) ^ sign) - sign);
}

static struct native_operand get_register(uint64_t bits, unsigned at) {
    return (struct native_operand){.kind = NATIVE_REG, .reg = (uint8_t)get(bits, at, 6)};
}

static struct native_operand get_predicate(uint64_t bits, unsigned at, bool inverts) {
    return (struct native_operand){.kind = NATIVE_PREDICATE,
                                   .reg = (uint8_t)get(bits, at, 3),
                                   .inverted = inverts && get(bits, at + 3, 1)};
}

static struct native_operand get_constant(uint64_t bits) {
    return (struct native_operand){.kind = NATIVE_CONSTANT,
                                   .reg = FERMI_RZ,
                                   .bank = (uint8_t)(get(bits, 42, 4) | get(bits, 26, 1) << 4),
                                   .value = (int64_t)(get(bits, 26, 16) & ~UINT64_C(3))};
}

static struct native_operand get_number(int64_t value) {
    return (struct native_operand){.kind = NATIVE_IMMEDIATE, .value = value};
}

static struct native_operand get_composite(uint64_t bits, char shape) {
    switch ((enum composite)get(bits, COMPOSITE_BIT, 2)) {
    case COMPOSITE_CONSTANT: return get_constant(bits);
    case COMPOSITE_IMMEDIATE:
        if (shape == 'f')
            return get_number((int64_t)(get(bits, 26, 20) << 12));
        if (shape == 'w')
            return get_number((int64_t)(get(bits, 26, 20) << 44));
        return get_number(get_signed(bits, 26, 20));
    default: return get_register(bits, 26);
    }
}

static struct native_operand get_address(uint64_t bits, unsigned at, int64_t offset) {
    return (struct native_operand){.kind = NATIVE_MEMORY, .reg = (uint8_t)get(bits, at, 6), .value = offset};
}

static struct native_operand get_either(uint64_t bits, unsigned at, unsigned width, unsigned flag) {
    return get(bits, flag, 1) ? get_number((int64_t)get(bits, at, width)) : get_register(bits, at);
}

static struct native_operand get_operand(uint64_t bits, char place, char shape, uint32_t address) {
    struct native_operand operand = {.kind = NATIVE_NONE};
    enum special special;
    switch (place) {
    case 'd': return get_register(bits, 14);
    case '1': return get_register(bits, 20);
    case '3': return get_register(bits, 49);
    case 'e': return get_register(bits, 32);
    case 'A': return get_register(bits, 43);
    case 'P': return get_predicate(bits, 17, false);
    case 'Q': return get_predicate(bits, 14, false);
    case 'R': return get_predicate(bits, 53, false);
    case 'V': return get_predicate(bits, 54, false);
    case '4': return get_predicate(bits, 49, true);
    case '5': return get_predicate(bits, 20, true);
    case '6': return get_predicate(bits, 26, true);
    case '2': return get_composite(bits, shape);
    case 'L': return get_number((int64_t)get(bits, 26, 32));
    case 'S':
        if (native_special_at((unsigned)get(bits, 26, 8), &special))
            operand = (struct native_operand){.kind = NATIVE_SPECIAL, .reg = (uint8_t)special};
        return operand;
    case 'h': return get_number((int64_t)get(bits, 5, 5));
    case 'v': return get(bits, 47, 1) ? get_register(bits, 26) : get_number(get_signed(bits, 26, 16));
    case 'B': return get_either(bits, 20, 4, 47);
    case 'U': return get_either(bits, 26, 12, 46);
    case 'k':
        return (struct native_operand){.kind = NATIVE_CONSTANT,
                                       .reg = (uint8_t)get(bits, 20, 6),
                                       .bank = (uint8_t)get(bits, 42, 5),
                                       .value = (int64_t)get(bits, 26, 16)};
    case 'm': return get_address(bits, 20, get_signed(bits, 26, 32));
    case 'l': return get_address(bits, 20, get_signed(bits, 26, 24));
    case 'a': {
        const uint64_t offset = get(bits, 26, 17) | get(bits, 55, 3) << 17;
        return get_address(bits, 20, get_signed(offset, 0, 20));
    }
    case 'g': return get_address(bits, 20, 4 * get_signed(bits, 43, 10));
    case 'y': {
        const uint64_t words = get(bits, 5, 5) | get(bits, 38, 5) << 5;
        return get_address(bits, 26, 4 * get_signed(words, 0, 10));
    }
    case 't':
        operand.kind = NATIVE_TARGET;
        operand.value = (int64_t)address + FERMI_INST_BYTES + get_signed(bits, 26, 24);
        return operand;
    case 'o': return get_number(get_signed(bits, 26, 24));
    default: return operand;
    }
}

/* What may be absent in text is, where it says nothing. */
static bool says_nothing(const struct native_operand *operand) {
    return (operand->kind == NATIVE_REG && operand->reg == FERMI_RZ) ||
           (operand->kind == NATIVE_PREDICATE && operand->reg == FERMI_PT && !operand->inverted);
}

static void get_operands(uint64_t bits, const struct native_form *form, struct native_inst *out) {
    bool written, optional;
    char shape;
    for (unsigned n = 0; (shape = native_shape(form, n, &written, &optional)); n++) {
        struct native_operand *operand = &out->operands[n];
        *operand = get_operand(bits, form->places[n], shape, out->address);
        if (optional && says_nothing(operand))
            *operand = (struct native_operand){.kind = NATIVE_NONE};
        operand->negated = form->negate[n] && get(bits, form->negate[n], 1);
        operand->absolute = form->absolute[n] && get(bits, form->absolute[n], 1);
        if (form->invert[n])
            operand->inverted = get(bits, form->invert[n], 1);
        out->operand_count = (uint8_t)(n + 1);
    }
    if (strcmp(form->places, "d123") != 0 || !can_swap(form) || get(bits, COMPOSITE_BIT, 2) != COMPOSITE_THIRD)
        return;
    const struct native_operand constant = get_constant(bits);
    out->operands[2].kind = NATIVE_REG, out->operands[2].reg = out->operands[3].reg;
    out->operands[3].kind = NATIVE_CONSTANT, out->operands[3].reg = constant.reg;
    out->operands[3].bank = constant.bank, out->operands[3].value = constant.value;
}

/* No word where none says the same, except where listings always have one. */
static enum native_modifier get_word(enum native_slot slot, uint64_t bits) {
    uint64_t value;
    enum native_modifier word;
    const bool always = slot == NATIVE_SLOT_TO_FLOAT || slot == NATIVE_SLOT_FROM_FLOAT;
    if (!always && native_slot_bits(slot, MODIFIER_NONE, &value) && value == bits)
        return MODIFIER_NONE;
    for (unsigned i = 0; (word = native_slot_word(slot, i)); i++)
        if (native_slot_bits(slot, word, &value) && value == bits)
            return word;
    return MODIFIER_COUNT;
}

static bool get_modifiers(uint64_t bits, const struct native_form *form, struct native_inst *out) {
    for (unsigned n = 0; n < NATIVE_SLOTS_MAX && form->slots[n]; n++) {
        enum native_modifier word =
            get_word(form->slots[n], bits >> form->shifts[n] & native_slot_mask(form->slots[n]));
        if (video_immediate(form, form->slots[n], out))
            word = get(bits, 5, 1) ? MODIFIER_S8 : MODIFIER_U8;
        if (word == MODIFIER_COUNT)
            return false;
        out->modifiers[n] = (uint8_t)word;
    }
    return true;
}

static bool decode_fermi(uint64_t encoding, uint32_t address, struct native_inst *out) {
    for (unsigned row = 0; row < FERMI_ROWS; row++) {
        const struct native_form *form = native_form(NATIVE_FERMI, row);
        const bool is_other = form->alias && !get(encoding, NUMBERED_BIT, 1);
        if (is_other || (encoding & form->mask) != form->bits)
            continue;
        *out = (struct native_inst){.row = (uint16_t)row, .address = address, .bytes = FERMI_INST_BYTES};
        out->has_encoding = true;
        out->encoding = encoding;
        out->pops = get(encoding, POP_BIT, 1);
        out->sets_code = form->carry && get(encoding, form->carry, 1);
        const uint64_t guard = get(encoding, GUARD_BIT, 4);
        if (!form->unguarded && guard != NOTHING) {
            out->guard = GUARD_PREDICATE;
            out->guard_reg = guard & 7;
            out->guard_inverted = guard >> 3;
        }
        get_operands(encoding, form, out);
        uint64_t again; /* a bit that no field holds is one that we do not know */
        return get_modifiers(encoding, form, out) && encode_fermi(out, &again) && again == encoding;
    }
    return false;
}

bool native_encode(enum native_isa isa, const struct native_inst *inst, uint64_t *out) {
    return isa == NATIVE_FERMI ? encode_fermi(inst, out) : encode_tesla(inst, out);
}

bool native_decode(enum native_isa isa, uint64_t encoding, uint32_t address, struct native_inst *out) {
    return isa == NATIVE_FERMI ? decode_fermi(encoding, address, out) : decode_tesla(encoding, address, out) != 0;
}

bool native_is_encoded(enum native_isa isa, const struct native_kernel *kernel) {
    uint64_t encoding;
    for (uint32_t i = 0; i < kernel->code_count; i++)
        if (!native_encode(isa, &kernel->code[i], &encoding))
            return false;
    return true;
}
