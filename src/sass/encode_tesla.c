/* SPDX-License-Identifier: Apache-2.0 */
/* Tesla's encodings of 4 and 8 bytes, both ways, by the places of tesla.def. A place is a letter:
 *   d destination at bit 2: a register of 7 bits; with bit 35 o[], of which 0x7f discards      D the same, 6 bits
 *   1 source at bit 9: a register of 7 bits; with bit 53 g[A + k], k in 5 bits, its width in two above
 *   2 source at bit 16: a register of 7 bits; with bit 23 c[bank][k]      3 at bit 46, with bit 24 c[bank][k]
 *   s source at bit 9: a register of 6 bits; with bit 24 g[A + k], k in 4 bits     t at bit 16; with bit 23 c[bank][k], k in 5
 *   = the destination once more      I 32 bits: 6 from bit 16, 26 from bit 34      n shift: 2, or with bit 52 7 bits from 16
 *   r register at bit 9      m register at bit 46      c c[bank][A + k], k in 14 bits from 9      g g[A + k], k in 14 to 16 from 9
 *   G global[register at bit 9], its number at bit 16      J the number at bit 23      w register at bit 2 that is stored
 *   l local[k], k in 16 bits from 9      A address register at bit 2      a the one at bits 26, 27, 34      h 4 bits from bit 16
 *   B barrier, 4 bits from 21      M 12 bits from 9      x code address: 16 bits from 11, 6 from 46, in words
 *   q comparison, 3 bits from 46      Q of floats, 4 bits      z SIN or EX2, bit 46      0 a number that is 0
 * Address registers: 0 says none. Constants have their bank in 4 bits from 54, in short instructions in bit 21. A register's
 * number is doubled where it names a half, and bit 0 says which. Every other bit is the test of a condition code (39 to 45), the
 * code that is set (36 to 38), .S (32, 33), or stands in the row. [open tools' tables; public listings of sm_10] */
#include <string.h>

#include "sass/encode_tesla.h"

enum {
    JOIN = 2,
    EXITS = 1,
    ALWAYS = 15,
    TEST_BIT = 39,
    CODE_BIT = 36,
    SHARED_U8 = 0,
    SHARED_U16,
    SHARED_S16,
    SHARED_32
};

/* ---- operands ---- */

static void code_register(struct coder *c, unsigned at, unsigned width, bool half, struct native_operand *operand) {
    uint64_t value = operand->reg;
    if (c->writes) {
        c->fits &= operand->kind == NATIVE_REG && (operand->half != HALF_NONE) == half;
        value = half ? 2 * value + (operand->half == HALF_HIGH) : value;
    }
    field(c, at, width, &value);
    if (c->writes)
        return;
    *operand = (struct native_operand){.kind = NATIVE_REG, .reg = (uint8_t)(half ? value >> 1 : value)};
    operand->half = half ? (value & 1 ? HALF_HIGH : HALF_LOW) : HALF_NONE;
    c->fits &= operand->reg <= TESLA_ZERO;
}

/* All memory operands share one address register. */
static void code_address(struct coder *c, struct native_operand *operand, bool is_short) {
    if (c->writes) {
        const uint8_t number = operand->reg == NATIVE_NO_ADDRESS ? 0 : operand->reg;
        c->fits &= operand->reg == NATIVE_NO_ADDRESS || number != 0;
        c->fits &= !c->has_address || c->address == number || number == 0;
        uint64_t bits = number;
        if (!c->has_address && number) {
            field(c, 26, 2, &(uint64_t){bits & 3});
            if (!is_short)
                field(c, 34, 1, &(uint64_t){bits >> 2});
            c->has_address = true, c->address = number;
        }
        return;
    }
    const uint64_t number = (c->bits >> 26 & 3) | (is_short ? 0 : (c->bits >> 34 & 1) << 2);
    operand->reg = (uint8_t)(number && !c->has_address ? number : NATIVE_NO_ADDRESS);
    c->fits &= number < TESLA_ADDRESSES;
    c->has_address = true;
}

static const uint8_t shared_widths[] = {MODIFIER_U8, MODIFIER_U16, MODIFIER_S16, MODIFIER_NONE};

static void code_shared(struct coder *c, unsigned offset_bits, bool is_short, struct native_operand *operand) {
    uint64_t width = SHARED_32, value = (uint64_t)operand->value;
    if (c->writes) {
        for (width = 0; width < SHARED_32 && shared_widths[width] != operand->width;)
            width++;
        c->fits &= width < SHARED_32 || operand->width == MODIFIER_NONE || operand->width == MODIFIER_U32;
        c->fits &= operand->value >= 0;
    } else {
        *operand = (struct native_operand){.kind = NATIVE_SHARED};
    }
    field(c, 9, offset_bits, &value);
    field(c, 9 + offset_bits, 2, &width);
    code_address(c, operand, is_short);
    if (!c->writes)
        operand->value = (int64_t)value, operand->width = shared_widths[width];
}

static void code_constant(struct coder *c, unsigned at, unsigned width, bool is_short, struct native_operand *operand) {
    uint64_t value = (uint64_t)operand->value, bank = operand->bank;
    if (c->writes)
        c->fits &= operand->reg == FERMI_RZ && operand->value >= 0;
    field(c, at, width, &value);
    field(c, is_short ? 21 : 54, is_short ? 1 : 4, &bank);
    if (!c->writes)
        *operand = (struct native_operand){
            .kind = NATIVE_CONSTANT, .reg = FERMI_RZ, .bank = (uint8_t)bank, .value = (int64_t)value};
}

/* A register, or with a bit set something else. */
static bool is_other(struct coder *c, unsigned bit, const struct native_operand *operand, enum native_kind kind) {
    return flag(c, bit, c->writes && operand->kind == kind);
}

static void code_number(struct coder *c, unsigned at, unsigned width, struct native_operand *operand) {
    uint64_t value = (uint64_t)operand->value;
    if (c->writes)
        c->fits &= operand->kind == NATIVE_IMMEDIATE && operand->value >= 0;
    field(c, at, width, &value);
    if (!c->writes)
        *operand = (struct native_operand){.kind = NATIVE_IMMEDIATE, .value = (int64_t)value};
}

static void code_parts(struct coder *c, unsigned at, unsigned width, unsigned above, unsigned more,
                       struct native_operand *operand) {
    uint64_t lower = (uint64_t)operand->value & low(width), upper = (uint64_t)operand->value >> width;
    if (c->writes)
        c->fits &= operand->value >= 0;
    field(c, at, width, &lower);
    field(c, above, more, &upper);
    if (!c->writes)
        operand->value = (int64_t)(upper << width | lower);
}

static void code_target(struct coder *c, struct native_operand *operand) {
    struct native_operand words = {.value = operand->value / 4};
    if (c->writes)
        c->fits &= operand->kind == NATIVE_TARGET && operand->value % 4 == 0;
    code_parts(c, 11, 16, 46, 6, &words);
    if (!c->writes)
        *operand = (struct native_operand){.kind = NATIVE_TARGET, .value = 4 * words.value};
}

static void code_memory(struct coder *c, unsigned bank_bit, struct native_operand *operand) {
    struct native_operand base = {.kind = NATIVE_REG, .reg = operand->reg};
    uint64_t bank = operand->bank;
    if (c->writes)
        c->fits &= operand->kind == NATIVE_MEMORY && operand->value == 0;
    code_register(c, 9, 7, false, &base);
    field(c, bank_bit, 4, &bank);
    if (!c->writes)
        *operand = (struct native_operand){.kind = NATIVE_MEMORY, .reg = base.reg, .bank = (uint8_t)bank};
}

static void code_compare(struct coder *c, unsigned width, struct native_operand *operand) {
    uint64_t value = c->writes ? (uint64_t)(operand->reg - MODIFIER_LT + 1) : 0;
    field(c, 46, width, &value);
    c->fits &= value >= 1 && value <= (width == 3 ? 6 : 14);
    if (!c->writes)
        *operand = (struct native_operand){.kind = NATIVE_COMPARE, .reg = (uint8_t)(MODIFIER_LT + value - 1)};
}

static void code_destination(struct coder *c, unsigned width, bool half, struct native_operand *operand) {
    const bool sinks = width == 7 && is_other(c, 35, operand, NATIVE_SINK);
    if (!sinks) {
        code_register(c, 2, width, half, operand);
        return;
    }
    constant(c, 2, 7, 0x7f);
    if (!c->writes)
        *operand = (struct native_operand){.kind = NATIVE_SINK};
}

/* g[A + k] of loads and stores: k counts elements, whose width loads write behind it. */
static void code_far_shared(struct coder *c, struct native_operand *operand, unsigned element,
                            enum native_modifier width) {
    uint64_t value = (uint64_t)operand->value;
    if (c->writes)
        c->fits &= operand->kind == NATIVE_SHARED && operand->value >= 0;
    else
        *operand = (struct native_operand){.kind = NATIVE_SHARED};
    field(c, 9, element == 1 ? 16 : element == 2 ? 15 : 14, &value);
    code_address(c, operand, false);
    if (!c->writes)
        operand->value = (int64_t)value, operand->width = (uint8_t)width;
}

static unsigned element_of(enum native_modifier word) {
    return word == MODIFIER_U8 || word == MODIFIER_S8 ? 1 : word == MODIFIER_U16 || word == MODIFIER_S16 ? 2 : 4;
}

static void code_first(struct coder *c, bool is_short, struct native_operand *operand) {
    if (is_other(c, is_short ? 24 : 53, operand, NATIVE_SHARED))
        code_shared(c, is_short ? 4 : 5, is_short, operand);
    else
        code_register(c, 9, is_short ? 6 : 7, c->narrow, operand);
}

static void code_second(struct coder *c, bool is_short, struct native_operand *operand) {
    if (is_other(c, 23, operand, NATIVE_CONSTANT))
        code_constant(c, 16, is_short ? 5 : 7, is_short, operand);
    else
        code_register(c, 16, is_short ? 6 : 7, c->narrow, operand);
}

static void code_third(struct coder *c, struct native_operand *operand) {
    if (is_other(c, 24, operand, NATIVE_CONSTANT))
        code_constant(c, 46, 7, false, operand);
    else
        code_register(c, 46, 7, false, operand);
}

static void code_shift(struct coder *c, struct native_operand *operand) {
    if (is_other(c, 52, operand, NATIVE_IMMEDIATE))
        code_number(c, 16, 7, operand);
    else
        code_register(c, 16, 7, c->narrow, operand);
}

/* The destination once more. */
static void code_again(struct coder *c, const struct native_operand *destination, struct native_operand *operand) {
    if (c->writes)
        c->fits &= operand->kind == NATIVE_REG && operand->half == HALF_NONE && operand->reg == destination->reg &&
                   destination->kind == NATIVE_REG;
    else
        *operand = (struct native_operand){.kind = NATIVE_REG, .reg = destination->reg};
}

static void code_whole_number(struct coder *c, struct native_operand *operand) {
    if (c->writes)
        c->fits &= operand->kind == NATIVE_IMMEDIATE;
    else
        *operand = (struct native_operand){.kind = NATIVE_IMMEDIATE};
    code_parts(c, 16, 6, 34, 26, operand);
}

static void code_local(struct coder *c, struct native_operand *operand) {
    uint64_t value = (uint64_t)operand->value;
    struct native_operand address = {.reg = NATIVE_NO_ADDRESS};
    if (c->writes)
        c->fits &= operand->value >= 0 &&
                   (operand->kind == NATIVE_SHARED || (operand->kind == NATIVE_MEMORY && operand->reg == TESLA_ZERO));
    if (c->writes && operand->kind == NATIVE_SHARED)
        address.reg = operand->reg;
    field(c, 9, 16, &value);
    code_address(c, &address, false);
    if (c->writes)
        return;
    const bool is_fixed = address.reg == NATIVE_NO_ADDRESS;
    *operand = (struct native_operand){.kind = is_fixed ? NATIVE_MEMORY : NATIVE_SHARED,
                                       .reg = is_fixed ? TESLA_ZERO : address.reg,
                                       .value = (int64_t)value};
}

static void code_address_destination(struct coder *c, struct native_operand *operand) {
    uint64_t value = operand->reg;
    field(c, 2, 3, &value);
    c->fits &= value >= 1 && value < TESLA_ADDRESSES;
    if (!c->writes)
        *operand = (struct native_operand){.kind = NATIVE_ADDRESS, .reg = (uint8_t)value};
}

static void code_address_source(struct coder *c, struct native_operand *operand) {
    if (!c->writes)
        *operand = (struct native_operand){.kind = NATIVE_ADDRESS};
    code_address(c, operand, false);
    c->fits &= operand->reg != NATIVE_NO_ADDRESS;
}

/* What a range is reduced for. */
static void code_function(struct coder *c, struct native_operand *operand) {
    const bool is_exponent = flag(c, 46, operand->reg == MODIFIER_EX2);
    if (!c->writes)
        *operand = (struct native_operand){.kind = NATIVE_COMPARE, .reg = is_exponent ? MODIFIER_EX2 : MODIFIER_SIN};
}

/* The clock is the only special register of these that PTX has. */
static void code_clock(struct coder *c, struct native_operand *operand) {
    c->fits &= !c->writes || operand->reg == SPECIAL_CLOCK;
    constant(c, 46, 4, 1);
    if (!c->writes)
        *operand = (struct native_operand){.kind = NATIVE_SPECIAL, .reg = SPECIAL_CLOCK};
}

static void code_zero(struct coder *c, struct native_operand *operand) {
    c->fits &= !c->writes || (operand->kind == NATIVE_IMMEDIATE && operand->value == 0);
    if (!c->writes)
        *operand = (struct native_operand){.kind = NATIVE_IMMEDIATE};
}

/* Only CAS has two values: of others R0 there says that there is none. */
static void code_third_value(struct coder *c, const struct native_inst *inst, struct native_operand *operand) {
    const bool is_cas = inst->modifiers[0] == MODIFIER_CAS;
    if (c->writes && operand->kind == NATIVE_NONE)
        return;
    code_register(c, 46, 7, false, operand);
    if (!is_cas && c->writes)
        c->fits &= operand->reg != 0;
    else if (!is_cas && operand->reg == 0)
        *operand = (struct native_operand){.kind = NATIVE_NONE};
}

static void code_operand(struct coder *c, char place, struct native_inst *inst, unsigned n) {
    struct native_operand *operand = &inst->operands[n];
    switch (place) {
    case 'd': code_destination(c, 7, c->narrow, operand); break;
    case 'D': code_destination(c, 6, c->narrow, operand); break;
    case 'f': code_destination(c, 7, false, operand); break;
    case 'F': code_destination(c, 6, false, operand); break;
    case 'w': code_register(c, 2, 7, false, operand); break;
    case '1': code_first(c, false, operand); break;
    case 's': code_first(c, true, operand); break;
    case '2': code_second(c, false, operand); break;
    case 't': code_second(c, true, operand); break;
    case '3': code_third(c, operand); break;
    case 'n': code_shift(c, operand); break;
    case '=': code_again(c, &inst->operands[0], operand); break;
    case 'I': code_whole_number(c, operand); break;
    case 'r': code_register(c, 9, 7, false, operand); break;
    case 'R': code_register(c, 9, 6, false, operand); break;
    case 'm': code_register(c, 46, 7, false, operand); break;
    case 'j': code_register(c, 16, 7, false, operand); break;
    case 'k': code_third_value(c, inst, operand); break;
    case 'c': code_constant(c, 9, 14, false, operand); break;
    case 'g':
        code_far_shared(c, operand, element_of(inst->modifiers[0]), n == 1 ? inst->modifiers[0] : MODIFIER_NONE);
        break;
    case 'G': code_memory(c, 16, operand); break;
    case 'J': code_memory(c, 23, operand); break;
    case 'l': code_local(c, operand); break;
    case 'A': code_address_destination(c, operand); break;
    case 'a': code_address_source(c, operand); break;
    case 'h': code_number(c, 16, 4, operand); break;
    case 'B': code_number(c, 21, 4, operand); break;
    case 'M': code_number(c, 9, 12, operand); break;
    case 'x': code_target(c, operand); break;
    case 'q': code_compare(c, 3, operand); break;
    case 'Q': code_compare(c, 4, operand); break;
    case 'z': code_function(c, operand); break;
    case 'S': code_clock(c, operand); break;
    case '0': code_zero(c, operand); break;
    default: c->fits = false; break;
    }
}

/* ---- a whole instruction ---- */

static bool is_short(const struct native_form *form) { return (form->bits & 1) == 0; }
static bool has_number(const struct native_form *form) { return (form->bits >> 32 & 3) == 3; }

static bool can_join(const struct native_form *form) { return !has_number(form) && (form->bits & 3) == 1; }

/* Plain NOP and EXIT have no test; what has one may be guarded. */
static void code_guard(struct coder *c, const struct native_form *form, struct native_inst *inst) {
    if (is_short(form) || has_number(form) || form->unguarded) {
        c->fits &= !c->writes || inst->guard == GUARD_NONE;
        return;
    }
    const unsigned plain = inst->row == TESLA_NOP || inst->row == TESLA_EXIT ? 0 : ALWAYS;
    uint64_t test = inst->guard ? (uint64_t)(inst->guard_test - MODIFIER_LT + 1) : plain;
    uint64_t number = inst->guard ? inst->guard_reg : 0;
    if (c->writes)
        c->fits &= inst->guard != GUARD_PREDICATE && (inst->guard == GUARD_NONE || (test >= 1 && test <= 14));
    field(c, TEST_BIT, 5, &test);
    field(c, TEST_BIT + 5, 2, &number);
    if (c->writes || (test == plain && number == 0))
        return;
    c->fits &= test >= 1 && test <= 14;
    inst->guard = GUARD_CODE, inst->guard_reg = (uint8_t)number;
    inst->guard_test = (uint8_t)(MODIFIER_LT + test - 1);
}

static void code_signs(struct coder *c, const struct native_form *form, struct native_inst *inst, unsigned n) {
    enum { NOWHERE = 1 };
    struct native_operand *operand = &inst->operands[n];
    const uint8_t bits[] = {form->negate[n], form->absolute[n], form->invert[n]};
    bool *const signs[] = {&operand->negated, &operand->absolute, &operand->inverted};
    for (unsigned i = 0; i < 3; i++) {
        if (c->writes)
            c->fits &= !*signs[i] || bits[i] > NOWHERE;
        if (bits[i] > NOWHERE)
            *signs[i] = flag(c, bits[i], *signs[i]);
    }
}

static void code_inst(struct coder *c, const struct native_form *form, struct native_inst *inst) {
    bool written, optional;
    code_types(c, form, inst);
    code_words(c, form, inst);
    for (unsigned n = 0; native_shape(form, n, &written, &optional); n++) {
        c->narrow = code_is_narrow(c, form, inst, n);
        code_operand(c, form->places[n], inst, n);
        code_signs(c, form, inst, n);
        inst->operand_count = (uint8_t)(n + 1);
    }
    code_guard(c, form, inst);
    if (c->writes && (inst->pops || inst->ends)) {
        c->fits &= can_join(form) && inst->row != TESLA_EXIT && inst->pops != inst->ends;
        field(c, 32, 2, &(uint64_t){inst->pops ? JOIN : EXITS});
    }
    /* both signs of a sum are another instruction */
    const bool sums = inst->row == TESLA_IADD || inst->row == TESLA_IADD32;
    c->fits &= !sums || !inst->operands[1].negated || !inst->operands[2].negated;
}

bool encode_tesla(const struct native_inst *from, uint64_t *out) {
    struct native_inst inst = *from;
    if (inst.row == TESLA_MOV && inst.operands[1].kind == NATIVE_CONSTANT && !inst.modifiers[0] && !inst.modifiers[1])
        inst.row = TESLA_MVC; /* as the disassembler calls it */
    const struct native_form *form = native_form(NATIVE_TESLA, inst.row);
    if (!*form->places && !form->mask) /* none is known */
        return false;
    struct coder coder = {.writes = true, .bits = form->bits, .fits = true};
    code_inst(&coder, form, &inst);
    *out = coder.bits;
    return coder.fits;
}

unsigned decode_tesla(uint64_t encoding, uint32_t address, struct native_inst *out) {
    const bool four = (encoding & 1) == 0;
    const uint64_t word = four ? encoding & UINT32_MAX : encoding;
    for (unsigned row = 0; row < TESLA_ROWS; row++) {
        const struct native_form *form = native_form(NATIVE_TESLA, row);
        if (!form->mask || is_short(form) != four || (word & form->mask) != form->bits)
            continue;
        *out = (struct native_inst){.row = (uint16_t)row, .address = address, .bytes = four ? 4 : 8};
        out->has_encoding = true, out->encoding = word;
        out->pops = can_join(form) && (word >> 32 & 3) == JOIN;
        out->ends = can_join(form) && row != TESLA_EXIT && (word >> 32 & 3) == EXITS;
        struct coder coder = {.bits = word, .fits = true};
        uint64_t again;
        code_inst(&coder, form, out);
        if (coder.fits && encode_tesla(out, &again) && again == word)
            return out->bytes;
    }
    return 0;
}
