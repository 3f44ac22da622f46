/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of sm_75 to sm_90 from text: what turing_print.c writes for each place. */
#include "sass/turing_parse.h"

#include <ctype.h>
#include <string.h>

/* ---- small parts: false leaves *at as it was ---- */

static bool take(const char **at, const char *text) {
    const size_t length = strlen(text);
    if (strncmp(*at, text, length) != 0)
        return false;
    *at += length;
    return true;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* A decimal number up to `most`. */
static bool take_digits(const char **at, unsigned most, unsigned *out) {
    const char *from = *at;
    unsigned value = 0;
    if (!isdigit((unsigned char)*from))
        return false;
    for (; isdigit((unsigned char)*from); from++) {
        value = value * 10 + (unsigned)(*from - '0');
        if (value > most)
            return false;
    }
    *at = from, *out = value;
    return true;
}

/* `letters` and a number, or `letters` and a last letter that stands for `last`. */
static bool take_numbered(const char **at, const char *letters, char last, unsigned number, uint8_t *out) {
    const char *from = *at;
    unsigned value = number;
    if (!take(&from, letters))
        return false;
    if (*from == last && !is_word(from[1]))
        from++;
    else if (!take_digits(&from, number - 1, &value) || is_word(*from))
        return false;
    *at = from, *out = (uint8_t)value;
    return true;
}

static bool take_register(const char **at, uint8_t *out) { return take_numbered(at, "R", 'Z', TURING_RZ, out); }
static bool take_uniform(const char **at, uint8_t *out) { return take_numbered(at, "UR", 'Z', TURING_URZ, out); }

bool turing_read_predicate(const char **at, uint8_t *reg, bool *inverted, bool *uniform) {
    const char *from = *at;
    *inverted = take(&from, "!");
    *uniform = take(&from, "U");
    if (!take_numbered(&from, "P", 'T', TURING_PT, reg))
        return false;
    *at = from;
    return true;
}

/* [-]0x12 or [-]12. */
static bool take_number(const char **at, int64_t *out) {
    const char *from = *at;
    const bool is_negative = take(&from, "-");
    const unsigned base = take(&from, "0x") ? 16 : 10;
    uint64_t value = 0;
    const char *first = from;
    for (; base == 16 ? isxdigit((unsigned char)*from) : isdigit((unsigned char)*from); from++) {
        const unsigned digit = isdigit((unsigned char)*from) ? (unsigned)(*from - '0')
                                                             : (unsigned)(tolower((unsigned char)*from) - 'a') + 10;
        if (value > ((uint64_t)INT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
    }
    if (from == first || is_word(*from))
        return false;
    *at = from;
    *out = is_negative ? -(int64_t)value : (int64_t)value;
    return true;
}

/* ---- immediates ---- */

/* What is written as a decimal number, +INF or -INF; bits of others in hexadecimal. */
static bool take_float(const char **at, bool is_double, int64_t *out) {
    enum { DIGITS = 40 };
    char digits[DIGITS];
    const bool is_plus = strncmp(*at, "+INF", 4) == 0, is_minus = strncmp(*at, "-INF", 4) == 0;
    if (is_plus || is_minus) {
        *out = (int64_t)((is_double ? UINT32_C(0x7ff00000) : UINT32_C(0x7f800000)) | (uint32_t)is_minus << 31);
        *at += 4;
        return true;
    }
    if (strncmp(*at, "0x", 2) == 0)
        return take_number(at, out);
    const size_t length = strspn(*at, "0123456789.eE+-");
    double value;
    if (!length || length >= DIGITS)
        return false;
    memcpy(digits, *at, length);
    digits[length] = '\0';
    if (!text_to_f64(digits, &value))
        return false;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (!is_double) {
        const float narrow = (float)value;
        uint32_t half;
        memcpy(&half, &narrow, sizeof half);
        bits = (uint64_t)half << 32;
    } else if (bits & UINT32_MAX) {
        return false; /* only the upper half of a double is there */
    }
    *out = (int64_t)(bits >> 32);
    *at += length;
    return true;
}

/* 0x3c00, 0x4000: the upper one first. */
static bool take_halves(const char **at, int64_t *out) {
    const char *from = *at;
    int64_t upper, lower;
    if (!take_number(&from, &upper) || *turing_skip(from) != ',')
        return false;
    from = turing_skip(turing_skip(from) + 1);
    if (!take_number(&from, &lower) || upper < 0 || upper > UINT16_MAX || lower < 0 || lower > UINT16_MAX)
        return false;
    *at = from, *out = upper << 16 | lower;
    return true;
}

static bool take_swizzle(const char **at, int64_t *out) {
    static const char signs[4][3] = {"PP", "PN", "NP", "ZP"};
    const char *from = *at;
    *out = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned sign = 0;
        while (sign < 4 && !take(&from, signs[sign]))
            sign++;
        if (sign == 4)
            return false;
        *out |= (int64_t)sign << (6 - 2 * i);
    }
    *at = from;
    return true;
}

static bool is_flexible(const struct turing_place *place) {
    return place->shape >= TURING_SHAPE_A && place->shape <= TURING_SHAPE_BC;
}

static bool take_immediate(const char **at, const struct turing_place *place, struct turing_operand *operand) {
    operand->kind = TURING_IMMEDIATE;
    if (place->shape == TURING_SHAPE_SWIZZLE)
        return take_swizzle(at, &operand->value);
    if (is_flexible(place) && (place->type == TURING_TYPE_F || place->type == TURING_TYPE_FH))
        return take_float(at, false, &operand->value);
    if (is_flexible(place) && place->type == TURING_TYPE_D)
        return take_float(at, true, &operand->value);
    if (is_flexible(place) && place->type == TURING_TYPE_H)
        return take_halves(at, &operand->value);
    return take_number(at, &operand->value);
}

/* ---- memory ---- */

/* R2.64+UR4+0x10]: parts in this order, each at most once. */
static bool take_parts(const char **at, struct turing_operand *operand, bool *says_width) {
    static const char *const scales[] = {".X4", ".X8", ".X16"};
    const char *from = *at;
    bool has_any = false;
    operand->reg = TURING_RZ;
    if (take_register(&from, &operand->reg)) {
        has_any = true;
        *says_width = take(&from, ".64") ? (operand->wide = true) : take(&from, ".U32");
        for (unsigned i = 0; i < 3; i++)
            if (take(&from, scales[i]))
                operand->select = (uint8_t)(i + 1);
    }
    const char *sum = from;
    if ((!has_any || take(&sum, "+")) && !operand->descriptor && take_uniform(&sum, &operand->ureg))
        from = sum, has_any = operand->uniform = true;
    if ((!has_any || take(&from, "+")) && !take_number(&from, &operand->value))
        return false;
    if (!take(&from, "]"))
        return false;
    *at = from;
    return true;
}

/* c[0x3][R2+0x10], cx[UR4][0x10] */
static bool take_constant(const char **at, struct turing_operand *operand) {
    const char *from = *at;
    int64_t bank = 0;
    bool says_width = false;
    operand->kind = TURING_CONSTANT;
    if (take(&from, "cx[")) {
        if (!take_uniform(&from, &operand->ureg))
            return false;
        operand->bindless = operand->uniform = true;
    } else if (!take(&from, "c[") || !take_number(&from, &bank) || bank < 0 || bank > 31) {
        return false;
    }
    operand->bank = (uint8_t)bank;
    const uint8_t first = operand->ureg;
    if (!take(&from, "][") || !take_parts(&from, operand, &says_width) || says_width || operand->select)
        return false;
    if (operand->bindless)
        operand->ureg = first;
    *at = from;
    return true;
}

/* What an address does not say is tried: how wide a register is that is not written, a uniform register that is none. */
static bool take_memory(const char **at, const struct turing_place *place, struct turing_operand *operand,
                        unsigned variant) {
    const char *from = *at;
    bool says_width = false;
    operand->kind = TURING_MEMORY;
    if (take(&from, "desc[")) {
        if (!take_uniform(&from, &operand->ureg))
            return false;
        operand->descriptor = operand->uniform = true;
        operand->hint = take(&from, ".hint");
        if (!take(&from, "]"))
            return false;
    }
    if (!take(&from, "[") || !take_parts(&from, operand, &says_width))
        return false;
    if (variant & 1 && (says_width || operand->wide))
        return false;
    operand->wide |= variant & 1;
    if (variant & 2) {
        if (place->shape == TURING_SHAPE_MEMORY || operand->uniform)
            return false;
        operand->uniform = true, operand->ureg = TURING_URZ;
    }
    *at = from;
    return true;
}

/* ---- the rest ---- */

/* SB0, 0x1, {2,1} */
static bool take_dependency(const char **at, struct turing_operand *operand) {
    const char *from = *at;
    unsigned number;
    operand->kind = TURING_DEPENDENCY;
    if (!take(&from, "SB") || !take_digits(&from, 7, &number) || *turing_skip(from) != ',')
        return false;
    operand->reg = (uint8_t)number;
    from = turing_skip(turing_skip(from) + 1);
    if (!take_number(&from, &operand->value))
        return false;
    const char *more = turing_skip(from);
    if (*more == ',' && *turing_skip(more + 1) == '{') {
        more = turing_skip(more + 1);
        do {
            more = turing_skip(more + 1);
            if (!take_digits(&more, 5, &number))
                return false;
            operand->select |= (uint8_t)(1u << number);
            more = turing_skip(more);
        } while (*more == ',');
        if (*more++ != '}')
            return false;
        from = more;
    }
    *at = from;
    return true;
}

/* The longest of the names. */
static bool take_name(const char **at, const struct turing_place *place, struct turing_operand *operand) {
    size_t best = 0;
    operand->kind = TURING_NAMED;
    for (unsigned value = 0; value < 1u << turing_words_bits(place->type); value++) {
        const char *text = turing_words_text(place->type, value);
        const size_t length = text ? strlen(text) : 0;
        if (length > best && strncmp(*at, text, length) == 0 && !is_word((*at)[length]))
            best = length, operand->value = value;
    }
    *at += best;
    return best != 0;
}

static bool take_target(const char **at, const struct turing_place *place, struct turing_operand *operand,
                        unsigned variant) {
    const bool is_either = place->shape == TURING_SHAPE_TARGET_RET;
    const bool is_distance =
        place->shape == TURING_SHAPE_DISTANCE || place->shape == TURING_SHAPE_ABSOLUTE || (is_either && variant);
    operand->kind = is_distance ? TURING_DISTANCE : TURING_TARGET;
    return variant < (is_either ? 2u : 1u) && take_number(at, &operand->value);
}

/* Registers, constants and numbers, where the form decides which. */
static bool take_value(const char **at, const struct turing_place *place, struct turing_operand *operand) {
    if (take_register(at, &operand->reg))
        operand->kind = TURING_REGISTER;
    else if (take_uniform(at, &operand->reg))
        operand->kind = TURING_UNIFORM;
    else if (**at == 'c')
        return take_constant(at, operand);
    else
        return take_immediate(at, place, operand);
    return true;
}

static bool is_number(const char *at) { return isdigit((unsigned char)*at) || strncmp(at, "INF", 3) == 0; }

static bool take_changed(const char **at, struct turing_scan *scan, unsigned index, struct turing_operand *operand) {
    const struct turing_place *place = &scan->row->operands[index];
    if (!(**at == '-' && is_number(*at + 1)))
        operand->negated = take(at, "-");
    operand->inverted = take(at, "~");
    operand->absolute = take(at, "|");
    if (!take_value(at, place, operand) || (operand->absolute && !take(at, "|")))
        return false;
    const unsigned reuse = turing_reuse(&scan->inst, index);
    if (reuse && take(at, ".reuse"))
        scan->inst.control.reuse |= (uint8_t)reuse;
    size_t best = 0;
    for (unsigned select = 0; select < 4; select++) {
        struct turing_operand with = *operand;
        with.select = (uint8_t)select;
        const char *text = turing_selected(&scan->inst, place, &with);
        if (strncmp(*at, text, strlen(text)) == 0 && strlen(text) > best)
            best = strlen(text), operand->select = (uint8_t)select;
    }
    *at += best;
    if (place->shape == TURING_SHAPE_META) {
        const char *number = turing_skip(*at);
        if (*number != ',')
            return false;
        *at = turing_skip(number + 1);
        return take_number(at, &operand->value);
    }
    return !(is_word(**at) || **at == '.');
}

static bool take_predicate(const char **at, struct turing_operand *operand) {
    bool is_uniform;
    if (!turing_read_predicate(at, &operand->reg, &operand->inverted, &is_uniform))
        return false;
    operand->kind = is_uniform ? TURING_UPREDICATE : TURING_PREDICATE;
    return true;
}

static bool take_barrier(const char **at, struct turing_operand *operand) {
    unsigned number;
    operand->kind = TURING_BARRIER;
    if (!take(at, "B") || !take_digits(at, 15, &number) || is_word(**at))
        return false;
    operand->reg = (uint8_t)number;
    return true;
}

static bool take_by_shape(struct turing_scan *scan, unsigned index, unsigned variant, const char **at) {
    const struct turing_place *place = &scan->row->operands[index];
    struct turing_operand *operand = &scan->inst.operands[index];
    switch ((enum turing_shape)place->shape) {
    case TURING_SHAPE_MEMORY:
    case TURING_SHAPE_ASYNC_SHARED:
    case TURING_SHAPE_ASYNC_GLOBAL: return take_memory(at, place, operand, variant);
    case TURING_SHAPE_TARGET:
    case TURING_SHAPE_TARGET_RET:
    case TURING_SHAPE_DISTANCE:
    case TURING_SHAPE_ABSOLUTE: return take_target(at, place, operand, variant);
    default: break;
    }
    if (variant)
        return false;
    switch ((enum turing_shape)place->shape) {
    case TURING_SHAPE_OUT:
    case TURING_SHAPE_IN:
    case TURING_SHAPE_EITHER:
    case TURING_SHAPE_LOADS: return take_predicate(at, operand);
    case TURING_SHAPE_PREDICATES:
        operand->kind = TURING_PREDICATES;
        return take(at, scan->row->unit == TURING_UNIT_UNIFORM ? "UPR" : "PR") && !is_word(**at);
    case TURING_SHAPE_IMMEDIATE:
    case TURING_SHAPE_LUT:
    case TURING_SHAPE_SWIZZLE: return take_immediate(at, place, operand);
    case TURING_SHAPE_NAMED: return take_name(at, place, operand);
    case TURING_SHAPE_BARRIER: return take_barrier(at, operand);
    case TURING_SHAPE_DEPENDENCY: return take_dependency(at, operand);
    case TURING_SHAPE_CONSTANT:
    case TURING_SHAPE_CONSTANT_INDEXED:
    case TURING_SHAPE_CONSTANT_UNIFORM: return take_constant(at, operand);
    default: return take_changed(at, scan, index, operand);
    }
}

bool turing_read_operand(struct turing_scan *scan, unsigned index, unsigned variant, const char **at) {
    static const char *const expected[] = {
        [TURING_SHAPE_OUT] = "a predicate",   [TURING_SHAPE_IN] = "a predicate",
        [TURING_SHAPE_LOADS] = "a predicate", [TURING_SHAPE_EITHER] = "a predicate",
        [TURING_SHAPE_NAMED] = "a name",      [TURING_SHAPE_BARRIER] = "a barrier such as B0",
        [TURING_SHAPE_MEMORY] = "an address", [TURING_SHAPE_TARGET] = "where it leads",
        [TURING_SHAPE_ASYNC_GLOBAL] = NULL,
    };
    const unsigned shape = scan->row->operands[index].shape;
    const char *from = *at;
    if (take_by_shape(scan, index, variant, at))
        return true;
    return !variant && turing_stuck(scan, from, expected[shape] ? expected[shape] : "an operand of another kind");
}

/* ---- what is not written ---- */

static bool absent_predicate(const struct turing_scan *scan, const struct turing_place *place, unsigned variant,
                             struct turing_operand *operand) {
    const bool is_uniform = place->type || scan->row->unit == TURING_UNIT_UNIFORM;
    const bool may_be_false = place->shape == TURING_SHAPE_IN && place->when != TURING_WHEN_ALWAYS;
    operand->kind = is_uniform ? TURING_UPREDICATE : TURING_PREDICATE;
    operand->reg = TURING_PT;
    operand->inverted = may_be_false && variant == 0;
    return variant < (may_be_false ? 2u : 1u);
}

static bool absent_value(const struct turing_scan *scan, unsigned variant, struct turing_operand *operand) {
    const bool is_uniform = scan->row->unit == TURING_UNIT_UNIFORM;
    static const uint8_t kinds[] = {TURING_REGISTER, TURING_IMMEDIATE, TURING_UNIFORM};
    if (variant > 2 || (is_uniform && variant == 0))
        return false;
    operand->kind = kinds[variant];
    operand->reg = variant == 0 ? TURING_RZ : variant == 2 ? TURING_URZ : 0;
    return true;
}

bool turing_absent_operand(struct turing_scan *scan, unsigned index, unsigned variant) {
    const struct turing_place *place = &scan->row->operands[index];
    struct turing_operand *operand = &scan->inst.operands[index];
    if (place->shape == TURING_SHAPE_MASK || place->absence == TURING_LACKS)
        return variant == 0;
    if (place->shape == TURING_SHAPE_MEMORY) { /* of a whole cache, which has no address */
        operand->kind = TURING_MEMORY, operand->reg = TURING_RZ;
        return variant == 0 && turing_modifier(&scan->inst, TURING_WORDS_CACHE_CONTROL) >= 0;
    }
    if (place->absence == TURING_STANDS)
        return false;
    switch ((enum turing_shape)place->shape) {
    case TURING_SHAPE_OUT:
    case TURING_SHAPE_IN:
    case TURING_SHAPE_EITHER:
    case TURING_SHAPE_LOADS: return absent_predicate(scan, place, variant, operand);
    case TURING_SHAPE_IMMEDIATE: operand->kind = TURING_IMMEDIATE, operand->value = place->type; return variant == 0;
    case TURING_SHAPE_UNIFORM: operand->kind = TURING_UNIFORM, operand->reg = TURING_URZ; return variant == 0;
    default: return absent_value(scan, variant, operand);
    }
}
