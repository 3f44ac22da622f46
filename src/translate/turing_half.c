/* SPDX-License-Identifier: Apache-2.0 */
/* What pairs of halves (FP16 or BF16) of sm_75 to sm_90 are in the internal form. */
#include "translate/turing.h"

enum { BOTH = 0, WHOLE = 1, LOW = 2, HIGH = 3 }; /* what an operand selects: both halves, a float, one of them twice */

static enum type pair_type(const struct translation *t) {
    return turing_word_of(t, TURING_WORDS_BF16_V2) ? TYPE_BF16X2 : TYPE_F16X2;
}

static unsigned flags_of(const struct translation *t) {
    return turing_flag_of(t, TURING_WORDS_FTZ, FLAG_FTZ) | turing_flag_of(t, TURING_WORDS_SAT, FLAG_SAT) |
           turing_flag_of(t, TURING_WORDS_RELU, FLAG_RELU);
}

/* Of an operand's register the two halves that are selected. */
static struct operand selected(struct translation *t, unsigned n, struct operand out) {
    const struct turing_operand *operand = turing_operand(t, n);
    if (operand->select == WHOLE)
        translate_refuse(t, "a float among halves");
    if (operand->select == BOTH || operand->select == WHOLE)
        return out;
    if (out.kind == OPERAND_IMM && !out.symbol) {
        const uint64_t half = operand->select == HIGH ? out.imm >> 16 & 0xffff : out.imm & 0xffff;
        return translate_number(half << 16 | half);
    }
    const struct operand twice = translate_scratch(t);
    translate_3(t, (struct operation){.op = OP_PRMT, .type = TYPE_B32}, twice, out, out,
                translate_number(operand->select == HIGH ? 0x3232 : 0x1010));
    return twice;
}

/* Its two halves, as selected; the sign is the caller's. */
static struct operand halves(struct translation *t, unsigned n, enum type type, bool *negated) {
    return selected(t, n, turing_magnitude(t, n, type, negated));
}

static struct operand pair(struct translation *t, unsigned n, enum type type) {
    bool negated;
    const struct operand out = halves(t, n, type, &negated);
    if (!negated)
        return out;
    const struct operand minus = translate_scratch(t);
    translate_1(t, (struct operation){.op = OP_NEG, .type = type}, minus, out);
    return minus;
}

/* One half of an operand, the lower where both are selected, as a float. */
static struct operand widened(struct translation *t, unsigned n, enum type type) {
    const enum type half = type == TYPE_BF16X2 ? TYPE_BF16 : TYPE_F16;
    const struct turing_operand *operand = turing_operand(t, n);
    const bool is_plain = !operand->negated && !operand->absolute && operand->select != WHOLE;
    struct operand out = is_plain ? turing_plain(t, n, TYPE_B32) : pair(t, n, type);
    if (out.kind == OPERAND_IMM && !(out.imm & 0x7fff)) /* +0, -0 */
        return translate_number((out.imm & 0x8000) << 16);
    if (is_plain && operand->select == HIGH) {
        const struct operand high = translate_scratch(t);
        translate_2(t, (struct operation){.op = OP_SHR, .type = TYPE_U32}, high, out, translate_number(16));
        out = high;
    }
    const struct operand wide = translate_scratch(t);
    translate_1(t, (struct operation){.op = OP_CVT, .type = TYPE_F32, .stype = half}, wide, out);
    return wide;
}

/* HADD2.F32, by which compilers make a float of a half: -0 and the half. */
static void add_widened(struct translation *t) {
    const enum type type = pair_type(t);
    const struct operand a = widened(t, 1, type), b = widened(t, 2, type);
    if (a.kind == OPERAND_IMM && a.imm == UINT64_C(0x80000000) && !flags_of(t)) {
        translate_move(t, turing_target(t, 0), b);
        return;
    }
    translate_2(t, (struct operation){.op = OP_ADD, .type = TYPE_F32, .flags = flags_of(t)}, turing_target(t, 0), a, b);
}

/* -0 and a float, which is cut to a half, in both halves: how compilers write constants, and round to zero [X]. */
static void add_float(struct translation *t, enum type type, unsigned n) {
    bool negated;
    const struct operand half = translate_scratch(t), other = halves(t, 3 - n, type, &negated);
    if (other.kind != OPERAND_IMM || other.imm != UINT64_C(0x80008000) || (flags_of(t) & ~(unsigned)FLAG_SAT))
        translate_refuse(t, "a float among halves");
    translate_1(t,
                (struct operation){.op = OP_CVT,
                                   .type = type == TYPE_BF16X2 ? TYPE_BF16 : TYPE_F16,
                                   .stype = TYPE_F32,
                                   .rounding = ROUND_RZ,
                                   .flags = flags_of(t)},
                half, turing_number(t, n, TYPE_F32));
    translate_3(t, (struct operation){.op = OP_PRMT, .type = TYPE_B32}, turing_target(t, 0), half, half,
                translate_number(0x1010));
}

static void add(struct translation *t) {
    const enum type type = pair_type(t);
    if (turing_word_of(t, TURING_WORDS_F32)) {
        add_widened(t);
        return;
    }
    for (unsigned n = 1; n <= 2; n++)
        if (turing_operand(t, n)->select == WHOLE) {
            add_float(t, type, n);
            return;
        }
    bool minus_a, minus_b;
    struct operand a = halves(t, 1, type, &minus_a), b = halves(t, 2, type, &minus_b);
    if (minus_a && minus_b)
        a = pair(t, 1, type), minus_a = false;
    translate_2(t,
                (struct operation){.op = minus_a || minus_b ? OP_SUB : OP_ADD,
                                   .type = type,
                                   .rounding = ROUND_RN,
                                   .flags = flags_of(t)},
                turing_target(t, 0), minus_a ? b : a, minus_a ? a : b);
}

static bool is_nan(uint64_t half, enum type type) {
    return (half & 0x7fff) > (type == TYPE_BF16X2 ? 0x7f80u : 0x7c00u);
}

/* -0 * 0 + a number is how compilers write a number into a register. */
static bool is_constant(enum type type, struct operand a, struct operand b, struct operand c, bool minus) {
    const bool is_fixed = a.kind == OPERAND_IMM && b.kind == OPERAND_IMM && c.kind == OPERAND_IMM && !c.symbol;
    return is_fixed && !(a.imm & 0x7fff7fff) && !(b.imm & 0x7fff7fff) &&
           ((a.imm ^ b.imm) & 0x80008000) == (minus ? 0 : 0x80008000) && !is_nan(c.imm, type) &&
           !is_nan(c.imm >> 16, type);
}

static void multiply(struct translation *t, bool adds) {
    bool minus_a, minus_b, minus_c = false, always = true;
    const enum type type = pair_type(t);
    const struct operand a = halves(t, 1, type, &minus_a), b = halves(t, 2, type, &minus_b);
    const struct operand c = adds ? halves(t, 3, type, &minus_c) : translate_number(0);
    const bool minus = minus_a != minus_b;
    if (adds && turing_word_of(t, TURING_WORDS_RELU))
        turing_predicate(t, 4, &always);
    if (turing_word_of(t, TURING_WORDS_F32) || turing_word_of(t, TURING_WORDS_FMZ) || !always) {
        translate_refuse(t, "%s", !always ? ".RELU under a predicate" : "a product of halves with .F32 or .FMZ");
        return;
    }
    if (adds && !minus_c && !flags_of(t) && is_constant(type, a, b, c, minus)) {
        translate_move(t, turing_target(t, 0), c);
        return;
    }
    const struct operation operation = {.op = adds ? OP_FMA : OP_MUL,
                                        .type = type,
                                        .mode = minus && minus_c ? MODE_MINUS_BOTH
                                                : minus          ? MODE_MINUS_PRODUCT
                                                : minus_c        ? MODE_MINUS_ADDEND
                                                                 : MODE_NONE,
                                        .rounding = ROUND_RN,
                                        .flags = flags_of(t)};
    if (adds)
        translate_3(t, operation, turing_target(t, 0), a, b, c);
    else
        translate_2(t, operation, turing_target(t, 0), a, b);
}

static void extreme(struct translation *t) {
    bool always;
    const enum type type = pair_type(t);
    const bool has_signs = turing_word_of(t, TURING_WORDS_XORSIGN);
    const struct operand chosen = turing_predicate(t, 3, &always);
    if (turing_word_of(t, TURING_WORDS_F32) || chosen.kind != OPERAND_IMM ||
        (has_signs && !(turing_operand(t, 1)->absolute && turing_operand(t, 2)->absolute))) {
        translate_refuse(t, "%s",
                         has_signs                    ? ".XORSIGN of what is not absolute"
                         : chosen.kind != OPERAND_IMM ? "a predicate that chooses"
                                                      : ".F32");
        return;
    }
    const struct operand a = has_signs ? selected(t, 1, turing_plain(t, 1, type)) : pair(t, 1, type);
    const struct operand b = has_signs ? selected(t, 2, turing_plain(t, 2, type)) : pair(t, 2, type);
    translate_2(t,
                (struct operation){.op = always ? OP_MIN : OP_MAX,
                                   .type = type,
                                   .flags = flags_of(t) | turing_flag_of(t, TURING_WORDS_NAN, FLAG_NAN) |
                                            (has_signs ? FLAG_XORSIGN : 0)},
                turing_target(t, 0), a, b);
}

static const uint8_t compares[] = {CMP_NONE, CMP_LT,  CMP_EQ,  CMP_LE,  CMP_GT,  CMP_NE,  CMP_GE,  CMP_NUM,
                                   CMP_NAN,  CMP_LTU, CMP_EQU, CMP_LEU, CMP_GTU, CMP_NEU, CMP_GEU, CMP_NONE};

/* HSET2: 1.0 and 0 with .BF, else all bits and none. */
static void set(struct translation *t) {
    bool always;
    const enum type type = pair_type(t);
    const unsigned compare = compares[turing_word_of(t, TURING_WORDS_COMPARE_FLOAT)];
    const struct operand sources[3] = {pair(t, 1, type), pair(t, 2, type), turing_predicate(t, 3, &always)};
    const struct operand d = turing_target(t, 0);
    if (compare == CMP_NONE)
        translate_refuse(t, "a comparison that compares nothing");
    const struct operation operation = {.op = OP_SET,
                                        .type = turing_word_of(t, TURING_WORDS_BF) ? type : TYPE_B32,
                                        .stype = type,
                                        .compare = compare,
                                        .boolop = turing_combination(t),
                                        .flags = turing_flag_of(t, TURING_WORDS_FTZ, FLAG_FTZ)};
    translate_put(t, &operation, &d, 1, sources, 3);
}

/* HSETP2: a predicate for each half; with .H_AND that of both, and its complement. */
static void compare(struct translation *t) {
    bool always;
    const enum type type = pair_type(t);
    const struct operand sources[3] = {pair(t, 2, type), pair(t, 3, type), turing_predicate(t, 4, &always)};
    const struct operand targets[2] = {turing_predicate_target(t, 0), turing_predicate_target(t, 1)};
    const bool joins = turing_word_of(t, TURING_WORDS_H_AND);
    const struct operand each[2] = {translate_test(t), translate_test(t)};
    const struct operation operation = {.op = OP_SETP,
                                        .type = type,
                                        .compare = compares[turing_word_of(t, TURING_WORDS_COMPARE_FLOAT)],
                                        .boolop = joins ? BOOL_NONE : turing_combination(t),
                                        .flags = turing_flag_of(t, TURING_WORDS_FTZ, FLAG_FTZ)};
    if (operation.compare == CMP_NONE)
        translate_refuse(t, "a comparison that compares nothing");
    translate_put(t, &operation, joins ? each : targets, 2, sources, joins ? 2 : 3);
    const struct operand both[3] = {each[0], each[1], sources[2]};
    if (joins)
        translate_put(
            t,
            &(struct operation){.op = OP_PSETP, .type = TYPE_PRED, .mode = MODE_AND, .boolop = turing_combination(t)},
            targets, 2, both, 3);
}

bool turing_half(struct translation *t) {
    switch (turing_row(t->turing->row)->meaning) {
    case TURING_MEANS_HADD2: add(t); break;
    case TURING_MEANS_HMUL2: multiply(t, false); break;
    case TURING_MEANS_HFMA2: multiply(t, true); break;
    case TURING_MEANS_HMNMX2: extreme(t); break;
    case TURING_MEANS_HSET2: set(t); break;
    case TURING_MEANS_HSETP2: compare(t); break;
    default: return false;
    }
    return true;
}
