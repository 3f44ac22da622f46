/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of native instructions as text, by the shapes of the tables. */
#include <string.h>

#include "base/text.h"
#include "sass/parse.h"

static bool is_word(char character) {
    return (character >= '0' && character <= '9') || (character >= 'a' && character <= 'z') ||
           (character >= 'A' && character <= 'Z') || character == '_';
}

void parse_blanks(struct native_parser *parser) {
    while (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\r')
        parser->at++;
}

bool parse_character(struct native_parser *parser, char character) {
    parse_blanks(parser);
    if (*parser->at != character)
        return false;
    parser->at++;
    return true;
}

bool parse_word(struct native_parser *parser, const char *word) {
    parse_blanks(parser);
    const size_t length = strlen(word);
    if (strncmp(parser->at, word, length) != 0 || is_word(parser->at[length]))
        return false;
    parser->at += length;
    return true;
}

static int digit_of(char character, int base) {
    const int value = character >= '0' && character <= '9'   ? character - '0'
                      : character >= 'a' && character <= 'f' ? character - 'a' + 10
                      : character >= 'A' && character <= 'F' ? character - 'A' + 10
                                                             : 16;
    return value < base ? value : -1;
}

bool parse_number(struct native_parser *parser, int64_t *out) {
    const char *at = parser->at;
    while (*at == ' ' || *at == '\t')
        at++;
    const bool negative = *at == '-';
    at += negative;
    const int base = at[0] == '0' && (at[1] == 'x' || at[1] == 'X') ? 16 : 10;
    at += base == 16 ? 2 : 0;
    if (digit_of(*at, base) < 0)
        return false;
    int64_t value = 0;
    for (; digit_of(*at, base) >= 0; at++)
        if (__builtin_mul_overflow(value, (int64_t)base, &value) ||
            __builtin_add_overflow(value, (int64_t)digit_of(*at, base), &value))
            return false;
    if (is_word(*at))
        return false;
    parser->at = at;
    *out = negative ? -value : value;
    return true;
}

bool parse_digits(struct native_parser *parser, unsigned *out) {
    const char *at = parser->at;
    unsigned value = 0;
    if (*at < '0' || *at > '9')
        return false;
    for (; *at >= '0' && *at <= '9'; at++) {
        value = value * 10 + (unsigned)(*at - '0');
        if (value > 255)
            return false;
    }
    parser->at = at;
    *out = value;
    return true;
}

/* R12, RZ; of Tesla R2L, R2H. */
static bool parse_register(struct native_parser *parser, struct native_operand *out) {
    const enum native_isa isa = parser->program->isa;
    const char *start = parser->at;
    out->kind = NATIVE_REG;
    if (isa == NATIVE_FERMI && parse_word(parser, "RZ")) {
        out->reg = FERMI_RZ;
        return true;
    }
    parse_blanks(parser);
    unsigned number;
    if (*parser->at == 'R') {
        parser->at++;
        const unsigned limit = isa == NATIVE_FERMI ? FERMI_REGISTERS : TESLA_ZERO + 1u;
        if (parse_digits(parser, &number) && number < limit) {
            out->reg = (uint8_t)number;
            if (isa == NATIVE_TESLA && (*parser->at == 'L' || *parser->at == 'H'))
                out->half = *parser->at++ == 'L' ? HALF_LOW : HALF_HIGH;
            if (!is_word(*parser->at))
                return true;
        }
    }
    out->half = HALF_NONE;
    parser->at = start;
    return false;
}

static bool parse_predicate(struct native_parser *parser, struct native_operand *out) {
    const char *start = parser->at;
    out->kind = NATIVE_PREDICATE;
    out->inverted = parse_character(parser, '!');
    if (parse_word(parser, "pt") || parse_word(parser, "PT")) {
        out->reg = FERMI_PT;
        return true;
    }
    parse_blanks(parser);
    unsigned number;
    if (*parser->at == 'P') {
        parser->at++;
        if (parse_digits(parser, &number) && number < FERMI_PREDICATES && !is_word(*parser->at)) {
            out->reg = (uint8_t)number;
            return true;
        }
    }
    parser->at = start;
    return false;
}

static bool parse_address_register(struct native_parser *parser, uint8_t *out) {
    const char *start = parser->at;
    parse_blanks(parser);
    unsigned number;
    if (*parser->at == 'A') {
        parser->at++;
        if (parse_digits(parser, &number) && number < TESLA_ADDRESSES && !is_word(*parser->at)) {
            *out = (uint8_t)number;
            return true;
        }
    }
    parser->at = start;
    return false;
}

/* "R5+0x8]", "R5+-0x8]", "R5]", "0x8]" behind the bracket. */
static bool parse_inside(struct native_parser *parser, struct native_operand *out) {
    const bool tesla = parser->program->isa == NATIVE_TESLA && out->kind == NATIVE_MEMORY;
    struct native_operand base = {.reg = tesla ? TESLA_ZERO : FERMI_RZ};
    out->value = 0;
    const bool has_register = parse_register(parser, &base) && base.half == HALF_NONE;
    out->reg = base.reg;
    parse_blanks(parser);
    if (has_register && *parser->at == ']')
        return parse_character(parser, ']');
    if (has_register && *parser->at != '-' && !parse_character(parser, '+'))
        return false;
    return parse_number(parser, &out->value) && parse_character(parser, ']');
}

static bool parse_memory(struct native_parser *parser, struct native_operand *out) {
    out->kind = NATIVE_MEMORY;
    return parse_character(parser, '[') && parse_inside(parser, out) && out->value >= INT32_MIN &&
           out->value <= INT32_MAX;
}

/* "A1+0x8]", "A1]", "0x8]" behind the bracket. */
static bool parse_addressed(struct native_parser *parser, struct native_operand *out) {
    out->kind = NATIVE_SHARED, out->reg = NATIVE_NO_ADDRESS, out->value = 0;
    if (parse_address_register(parser, &out->reg) && !parse_character(parser, '+'))
        return parse_character(parser, ']');
    return parse_number(parser, &out->value) && out->value >= 0 && out->value <= 0xffff && parse_character(parser, ']');
}

/* global14 [R4], local [R4], local [A1+0x8] of Tesla. */
static bool parse_space(struct native_parser *parser, const char *space, struct native_operand *out) {
    unsigned number = 0;
    parse_blanks(parser);
    const size_t length = strlen(space);
    if (strncmp(parser->at, space, length) != 0)
        return false;
    parser->at += length;
    if (*space == 'g' && (!parse_digits(parser, &number) || number > 15))
        return false;
    out->bank = (uint8_t)number;
    const char *start = parser->at;
    if (*space == 'l' && parse_character(parser, '[') && (parse_blanks(parser), *parser->at == 'A'))
        return parse_addressed(parser, out);
    parser->at = start;
    return parse_memory(parser, out);
}

static bool parse_constant(struct native_parser *parser, struct native_operand *out) {
    int64_t bank;
    out->kind = NATIVE_CONSTANT;
    if (!parse_word(parser, "c") || !parse_character(parser, '[') || !parse_number(parser, &bank) || bank < 0 ||
        bank > 31 || !parse_character(parser, ']') || !parse_character(parser, '[') || !parse_inside(parser, out))
        return false;
    out->bank = (uint8_t)bank;
    return out->value >= -0x8000 && out->value <= 0xffff;
}

/* The width behind g[k]: .U16 and the like. */
static bool parse_width(struct native_parser *parser, struct native_operand *out) {
    static const uint8_t widths[] = {MODIFIER_U8, MODIFIER_S8, MODIFIER_U16, MODIFIER_S16, MODIFIER_U32, MODIFIER_S32};
    out->width = MODIFIER_NONE;
    if (*parser->at != '.')
        return true;
    parser->at++;
    for (unsigned i = 0; i < sizeof widths; i++)
        if (parse_word(parser, native_modifier_text(widths[i]))) {
            out->width = widths[i];
            return true;
        }
    return false;
}

static bool parse_shared(struct native_parser *parser, struct native_operand *out) {
    return parse_word(parser, "g") && parse_character(parser, '[') && parse_addressed(parser, out) &&
           parse_width(parser, out);
}

/* A float as later disassemblers write it, 0.5 or -2.5e-05, as the bits of its type; false: none is next. Whole numbers are
 * floats where only a float can be. */
static bool parse_float(struct native_parser *parser, char shape, int64_t *out) {
    parse_blanks(parser);
    const size_t length = strspn(parser->at, "+-.0123456789e");
    const bool fraction = memchr(parser->at, '.', length) || memchr(parser->at, 'e', length);
    char text[48];
    double value;
    if ((!fraction && shape == 'i') || length == 0 || length >= sizeof text || is_word(parser->at[length]))
        return false;
    memcpy(text, parser->at, length);
    text[length] = '\0';
    if (!text_to_f64(text, &value))
        return false;
    const float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    memcpy(out, &value, sizeof *out);
    if (shape != 'w')
        *out = bits;
    parser->at += length;
    return true;
}

/* The upper 20 bits of a float must be all of it. */
static bool parse_float_immediate(struct native_parser *parser, char shape, struct native_operand *out) {
    const int64_t lost = shape == 'w' ? (INT64_C(1) << 44) - 1 : shape == 'f' ? 0xfff : 0;
    if (!parse_float(parser, shape, &out->value))
        return false;
    out->kind = NATIVE_IMMEDIATE;
    if (out->value & lost)
        parse_refuse(parser, "immediate does not fit: it has more than the upper 20 bits of its type");
    return !(out->value & lost);
}

/* An immediate, in the range of the shape; a 20-bit one is signed and may be written as its bits. */
static bool parse_immediate(struct native_parser *parser, char shape, struct native_operand *out) {
    int64_t value;
    const char *start = parser->at + strspn(parser->at, " \t-");
    const bool hex = start[0] == '0' && start[1] == 'x';
    if (!hex && strchr("fwi", shape) && parse_float_immediate(parser, shape, out))
        return true;
    if (parser->failed || !parse_number(parser, &value))
        return false;
    out->kind = NATIVE_IMMEDIATE;
    const bool tesla = parser->program->isa == NATIVE_TESLA;
    int64_t low = -0x80000, high = 0xfffff;
    if (shape == 'i' || tesla)
        low = INT32_MIN, high = UINT32_MAX;
    if (shape == 'n')
        low = 0, high = 31;
    if (shape == 'v')
        low = -0x8000, high = 0xffff;
    if (shape == 'b')
        low = 0, high = 15;
    if (shape == 'u')
        low = 0, high = 0xfff;
    if (shape == 'f' || shape == 'w')
        low = 0;
    if (value < low || value > high) {
        parse_refuse(parser, "immediate does not fit: from %lld to %lld", (long long)low, (long long)high);
        return false;
    }
    if (shape == 'f')
        value <<= 12;
    if (shape == 'w')
        value = (int64_t)((uint64_t)value << 44);
    if (shape == 'x' && !tesla && value > 0x7ffff)
        value -= 0x100000;
    if (shape == 'v' && value > 0x7fff)
        value -= 0x10000;
    if (shape == 'i' || (shape == 'x' && tesla))
        value = (int64_t)(uint32_t)value;
    out->value = value;
    return true;
}

/* -, |...|, ~ around a register, a constant or shared memory; the number of what may be there is in `form`. */
static bool parse_signed(struct native_parser *parser, const struct native_form *form, unsigned n, char shape,
                         struct native_operand *out) {
    const char *start = parser->at;
    const bool can_be_immediate = strchr("xfwvbu", shape) != NULL;
    if (can_be_immediate) {
        /* -0x20 where the instruction can negate does so; the bits of a number are written without a sign */
        parse_blanks(parser);
        const bool negates =
            shape == 'x' && form->negate[n] && parser->program->isa == NATIVE_FERMI && *parser->at == '-';
        parser->at += negates;
        if (negates && *parser->at >= '0' && *parser->at <= '9')
            out->negated = true;
        else if (negates)
            parser->at--;
        if (parse_immediate(parser, shape, out))
            return true;
        out->negated = false;
        if (parser->failed)
            return false;
    }
    out->negated = form->negate[n] && parse_character(parser, '-');
    out->inverted = form->invert[n] && parse_character(parser, '~');
    out->absolute = form->absolute[n] && parse_character(parser, '|');
    bool found = parse_register(parser, out);
    if (!found && strchr("xfw", shape))
        found = parse_constant(parser, out);
    if (!found && shape == 'x' && parser->program->isa == NATIVE_TESLA) {
        parser->at = start;
        out->negated = form->negate[n] && parse_character(parser, '-');
        out->inverted = form->invert[n] && parse_character(parser, '~');
        out->absolute = form->absolute[n] && parse_character(parser, '|');
        found = parse_shared(parser, out);
    }
    return found && (!out->absolute || parse_character(parser, '|'));
}

static bool parse_written(struct native_parser *parser, const struct native_form *form, struct native_inst *inst,
                          struct native_operand *out) {
    int64_t number;
    if (parser->program->isa == NATIVE_TESLA && parse_word(parser, "o")) {
        out->kind = NATIVE_SINK;
        return parse_character(parser, '[') && parse_number(parser, &number) && number == 0x7f &&
               parse_character(parser, ']');
    }
    if (!parse_register(parser, out))
        return false;
    if (form->carry && *parser->at == '.') {
        parser->at++;
        inst->sets_code = true;
        return parse_word(parser, "CC");
    }
    return true;
}

static bool parse_comparison(struct native_parser *parser, uint8_t *out) {
    for (unsigned i = MODIFIER_LT; i <= MODIFIER_GEU; i++)
        if (parse_word(parser, native_modifier_text(i))) {
            *out = (uint8_t)i;
            return true;
        }
    return false;
}

static bool parse_special(struct native_parser *parser, struct native_operand *out) {
    parse_blanks(parser);
    unsigned length = 0;
    while (is_word(parser->at[length]) || parser->at[length] == '.')
        length++;
    enum special special;
    if (!native_special_find(parser->at, length, &special))
        return false;
    parser->at += length;
    out->kind = NATIVE_SPECIAL;
    out->reg = (uint8_t)special;
    return true;
}

static bool parse_operand(struct native_parser *parser, const struct native_form *form, unsigned n, char shape,
                          struct native_inst *inst) {
    struct native_operand *out = &inst->operands[n];
    unsigned number;
    switch (shape) {
    case 'D': return parse_written(parser, form, inst, out);
    case 'P': return parse_predicate(parser, out) && !out->inverted;
    case 'p': return parse_predicate(parser, out);
    case 'A':
    case 'a': out->kind = NATIVE_ADDRESS; return parse_address_register(parser, &out->reg);
    case 'i':
    case 'n': return parse_immediate(parser, shape, out);
    case 's': return parse_special(parser, out);
    case 't':
        out->kind = NATIVE_TARGET;
        return parse_number(parser, &out->value) && out->value >= 0 && out->value <= INT32_MAX;
    case 'o':
        out->kind = NATIVE_IMMEDIATE;
        return parse_number(parser, &out->value) && out->value >= -0x800000 && out->value <= 0x7fffff;
    case 'm': return parse_memory(parser, out);
    case 'G': return parse_space(parser, "global", out);
    case 'l': return parse_space(parser, "local", out);
    case 'k': return parse_constant(parser, out);
    case 'g': return parse_shared(parser, out);
    case 'q': out->kind = NATIVE_COMPARE; return parse_comparison(parser, &out->reg);
    case 'z':
        out->kind = NATIVE_COMPARE;
        out->reg = parse_word(parser, "SIN") ? MODIFIER_SIN : MODIFIER_EX2;
        return out->reg == MODIFIER_SIN || parse_word(parser, "EX2");
    case 'y':
        out->kind = NATIVE_IMMEDIATE;
        parse_blanks(parser);
        if (*parser->at++ != 'b' || !parse_digits(parser, &number) || number > 15)
            return false;
        out->value = number;
        return true;
    default: return parse_signed(parser, form, n, shape, out);
    }
}

/* Tesla: C0.EQ, before the operands of control flow or in brackets behind a destination. */
static bool parse_code(struct native_parser *parser, struct native_inst *inst) {
    unsigned number;
    const char *start = parser->at;
    parse_blanks(parser);
    if (*parser->at == 'C') {
        parser->at++;
        if (parse_digits(parser, &number) && number < NATIVE_CODES && *parser->at++ == '.' &&
            parse_comparison(parser, &inst->guard_test)) {
            inst->guard = GUARD_CODE;
            inst->guard_reg = (uint8_t)number;
            return true;
        }
    }
    parser->at = start;
    return false;
}

static const char *name_of(char shape) {
    switch (shape) {
    case 'D': return "a register to write";
    case 'P': return "a predicate to write";
    case 'p': return "a predicate";
    case 'A':
    case 'a': return "an address register";
    case 'i':
    case 'n':
    case 'o': return "a number";
    case 's': return "a special register that is known";
    case 't': return "a code address";
    case 'm': return "[register + offset]";
    case 'G': return "globalN[register]";
    case 'l': return "local[register]";
    case 'k': return "c[bank][offset]";
    case 'g': return "g[offset]";
    case 'q': return "a comparison";
    case 'z': return "SIN or EX2";
    case 'y': return "a barrier (b0)";
    case 'r': return "a register";
    default: return "a register, a constant or a number";
    }
}

/* What stands between operands: nothing before the first, a comma before others; BRX has none. */
static bool parse_between(struct native_parser *parser, unsigned before, char shape) {
    return before == 0 || parse_character(parser, ',') || shape == 'o';
}

bool parse_operands(struct native_parser *parser, struct native_inst *inst) {
    const struct native_form *form = native_form(parser->program->isa, inst->row);
    const bool tesla = parser->program->isa == NATIVE_TESLA;
    bool written, optional;
    char shape;
    if (!tesla && parse_word(parser, "CC.T")) /* how Fermi writes that a condition code does not matter */
        parse_character(parser, ',');
    if (tesla && !form->unguarded && parse_code(parser, inst))
        parse_character(parser, ',');
    unsigned given = 0;
    for (unsigned n = 0; (shape = native_shape(form, n, &written, &optional)); n++) {
        const char *before = parser->at;
        inst->operand_count = (uint8_t)(n + 1);
        bool found = parse_between(parser, given, shape);
        if (found && parse_operand(parser, form, n, shape, inst)) {
            given++;
            if (tesla && n == 0 && written && parse_character(parser, '(') &&
                (!parse_code(parser, inst) || !parse_character(parser, ')'))) {
                parse_refuse(parser, "%s: expected a condition code with its test, such as (C0.EQ)", form->mnemonic);
                return false;
            }
            continue;
        }
        if (!optional) {
            if (!parser->failed || parser->report == NULL)
                parse_refuse(parser, "%s: operand %u must be %s", form->mnemonic, n + 1, name_of(shape));
            return false;
        }
        inst->operands[n] = (struct native_operand){.kind = NATIVE_NONE};
        parser->at = before;
    }
    if (parse_character(parser, ';'))
        return true;
    parse_refuse(parser, "%s: expected ';'", form->mnemonic);
    return false;
}
