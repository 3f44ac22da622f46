/* SPDX-License-Identifier: Apache-2.0 */
/* What floats and doubles of sm_75 to sm_90 are in the internal form; pairs of halves are in turing_half.c. */
#include "translate/turing.h"

/* ---- operands ---- */

enum rounding turing_rounding(const struct translation *t) {
    static const uint8_t roundings[] = {ROUND_RN, ROUND_RM, ROUND_RP, ROUND_RZ};
    return roundings[turing_word_of(t, TURING_WORDS_ROUND)];
}

struct operand turing_magnitude(struct translation *t, unsigned n, enum type type, bool *negated) {
    const struct turing_operand *operand = turing_operand(t, n);
    const uint64_t sign = type == TYPE_F64   ? UINT64_C(1) << 63
                          : type == TYPE_F32 ? UINT64_C(1) << 31
                                             : UINT64_C(0x80008000);
    struct operand out = turing_plain(t, n, type);
    *negated = operand->negated;
    if (out.kind == OPERAND_IMM && !out.symbol) {
        out.imm = (operand->absolute ? out.imm & ~sign : out.imm) ^ (operand->negated ? sign : 0);
        *negated = false;
        return out;
    }
    return operand->absolute ? translate_through(t, OP_ABS, type, out) : out;
}

struct operand turing_number(struct translation *t, unsigned n, enum type type) {
    bool negated;
    const struct operand out = turing_magnitude(t, n, type, &negated);
    return negated ? translate_through(t, OP_NEG, type, out) : out;
}

struct operand turing_result(struct translation *t, enum type type) {
    return type_bytes(type) == 8 ? turing_pair_target(t, 0) : turing_target(t, 0);
}

/* ---- arithmetic ---- */

static unsigned flags_of(const struct translation *t) {
    return turing_flag_of(t, TURING_WORDS_FTZ, FLAG_FTZ) | turing_flag_of(t, TURING_WORDS_SAT, FLAG_SAT);
}

static void add(struct translation *t, enum type type) {
    bool minus_a, minus_b;
    struct operand a = turing_magnitude(t, 1, type, &minus_a), b = turing_magnitude(t, 2, type, &minus_b);
    if (minus_a && minus_b)
        a = translate_through(t, OP_NEG, type, a), minus_a = false;
    const struct operation operation = {
        .op = minus_a || minus_b ? OP_SUB : OP_ADD, .type = type, .rounding = turing_rounding(t), .flags = flags_of(t)};
    translate_2(t, operation, turing_result(t, type), minus_a ? b : a, minus_a ? a : b);
}

/* With .FMZ a factor of zero, or one that is flushed, makes the product +0 whatever the other is. */
static struct operand is_zero_product(struct translation *t, struct operand a, struct operand b) {
    const struct operand either = translate_test(t);
    const struct operation operation = {.op = OP_SETP, .type = TYPE_F32, .compare = CMP_EQ, .flags = FLAG_FTZ};
    translate_2(t, operation, either, a, translate_number(0));
    struct operation other = operation;
    other.boolop = BOOL_OR;
    translate_3(t, other, either, b, translate_number(0), either);
    return either;
}

static void multiply_or_zero(struct translation *t, struct operation operation, struct operand a, struct operand b,
                             struct operand c, bool adds) {
    const struct operand zero = is_zero_product(t, a, b), product = translate_scratch(t), sum = translate_scratch(t);
    operation.flags |= FLAG_FTZ;
    if (adds)
        translate_3(t, operation, product, a, b, c);
    else
        translate_2(t, operation, product, a, b);
    operation.op = operation.mode == MODE_MINUS_ADDEND || operation.mode == MODE_MINUS_BOTH ? OP_SUB : OP_ADD;
    operation.mode = MODE_NONE;
    translate_2(t, operation, sum, translate_number(0), c);
    translate_3(t, (struct operation){.op = OP_SELP, .type = TYPE_B32}, turing_target(t, 0), sum, product, zero);
}

/* a * b * 2^n, rounded once: the product and its scale are exact in double. */
static void multiply_scaled(struct translation *t, struct operation operation, struct operand a, struct operand b) {
    enum { UNSCALED = 4, EXPONENT_ONE = 1023, EXPONENT_AT = 52 };
    const unsigned scale = turing_word_of(t, TURING_WORDS_SCALE) + EXPONENT_ONE - UNSCALED;
    const struct operation widen = {
        .op = OP_CVT, .type = TYPE_F64, .stype = TYPE_F32, .flags = operation.flags & FLAG_FTZ};
    const struct operand x = translate_wide(t), y = translate_wide(t);
    translate_1(t, widen, x, a);
    translate_1(t, widen, y, b);
    translate_2(t, (struct operation){.op = OP_MUL, .type = TYPE_F64, .mode = operation.mode}, x, x, y);
    translate_2(t, (struct operation){.op = OP_MUL, .type = TYPE_F64}, x, x,
                translate_number((uint64_t)scale << EXPONENT_AT));
    operation.op = OP_CVT, operation.stype = TYPE_F64, operation.mode = MODE_NONE;
    translate_1(t, operation, turing_target(t, 0), x);
}

static void multiply(struct translation *t, enum type type, bool adds) {
    enum { UNSCALED = 4 };
    bool minus_a, minus_b, minus_c = false;
    const struct operand a = turing_magnitude(t, 1, type, &minus_a), b = turing_magnitude(t, 2, type, &minus_b);
    const struct operand c = adds ? turing_magnitude(t, 3, type, &minus_c) : translate_number(0);
    const bool minus = minus_a != minus_b;
    const struct operation operation = {.op = adds ? OP_FMA : OP_MUL,
                                        .type = type,
                                        .mode = minus && minus_c ? MODE_MINUS_BOTH
                                                : minus          ? MODE_MINUS_PRODUCT
                                                : minus_c        ? MODE_MINUS_ADDEND
                                                                 : MODE_NONE,
                                        .rounding = turing_rounding(t),
                                        .flags = flags_of(t)};
    const int scale = turing_modifier(t->turing, TURING_WORDS_SCALE);
    if (turing_word_of(t, TURING_WORDS_FMZ)) {
        if (scale >= 0 && scale != UNSCALED)
            translate_refuse(t, "a scale with .FMZ");
        multiply_or_zero(t, operation, a, b, c, adds);
        return;
    }
    if (scale >= 0 && scale != UNSCALED) {
        multiply_scaled(t, operation, a, b);
        return;
    }
    const struct operand d = turing_result(t, type);
    if (adds)
        translate_3(t, operation, d, a, b, c);
    else
        translate_2(t, operation, d, a, b);
}

/* ---- selection, comparison ---- */

static void select(struct translation *t) {
    bool always;
    const struct operand first = turing_predicate(t, 3, &always);
    const struct operand a = turing_number(t, 1, TYPE_F32), b = turing_number(t, 2, TYPE_F32);
    const bool flushes = turing_word_of(t, TURING_WORDS_FTZ);
    const struct operand d = flushes ? translate_scratch(t) : turing_target(t, 0);
    if (first.kind == OPERAND_IMM)
        translate_move(t, d, always ? a : b);
    else
        translate_3(t, (struct operation){.op = OP_SELP, .type = TYPE_B32}, d, a, b, first);
    if (flushes) { /* a sign that changes twice; no NaN changes */
        const struct operation operation = {.op = OP_NEG, .type = TYPE_F32, .flags = FLAG_FTZ};
        translate_1(t, operation, d, d);
        translate_1(t, operation, turing_target(t, 0), d);
    }
}

static void extreme(struct translation *t) {
    bool always;
    const bool has_signs = turing_word_of(t, TURING_WORDS_XORSIGN);
    const struct operand chosen = turing_predicate(t, 3, &always);
    const struct operand a = has_signs ? turing_plain(t, 1, TYPE_F32) : turing_number(t, 1, TYPE_F32);
    const struct operand b = has_signs ? turing_plain(t, 2, TYPE_F32) : turing_number(t, 2, TYPE_F32);
    const bool is_positive = b.kind == OPERAND_IMM && !b.symbol && !(b.imm >> 31 & 1);
    if (has_signs && (!turing_operand(t, 1)->absolute || !(turing_operand(t, 2)->absolute || is_positive)))
        translate_refuse(t, ".XORSIGN of what is not absolute");
    struct operation operation = {.op = always ? OP_MIN : OP_MAX,
                                  .type = TYPE_F32,
                                  .flags = flags_of(t) | turing_flag_of(t, TURING_WORDS_NAN, FLAG_NAN) |
                                           (has_signs ? FLAG_XORSIGN : 0)};
    if (chosen.kind == OPERAND_IMM) {
        translate_2(t, operation, turing_target(t, 0), a, b);
        return;
    }
    const struct operand low = translate_scratch(t), high = translate_scratch(t);
    translate_2(t, operation, high, a, b);
    operation.op = OP_MIN;
    translate_2(t, operation, low, a, b);
    translate_3(t, (struct operation){.op = OP_SELP, .type = TYPE_B32}, turing_target(t, 0), low, high, chosen);
}

/* By the bits of COMPARE_FLOAT: those of numbers, and from 9 on those that NaN fulfils. */
static const uint8_t compares[] = {CMP_NONE, CMP_LT,  CMP_EQ,  CMP_LE,  CMP_GT,  CMP_NE,  CMP_GE,  CMP_NUM,
                                   CMP_NAN,  CMP_LTU, CMP_EQU, CMP_LEU, CMP_GTU, CMP_NEU, CMP_GEU, CMP_NONE};

enum boolop turing_combination(const struct translation *t) {
    static const uint8_t boolops[] = {BOOL_AND, BOOL_OR, BOOL_XOR};
    return boolops[turing_word_of(t, TURING_WORDS_BOOL)];
}

/* The predicates of a comparison behind two operands, and what it is combined with: none where that changes nothing. */
static unsigned combined(struct translation *t, unsigned with, struct operation *operation, struct operand *other) {
    bool always;
    *other = turing_predicate(t, with, &always);
    operation->boolop = turing_combination(t);
    if (!always || operation->boolop != BOOL_AND)
        return 3;
    operation->boolop = BOOL_NONE;
    return 2;
}

void turing_compare(struct translation *t, enum type type, unsigned first, struct operand a, struct operand b) {
    const bool is_double = type == TYPE_F64;
    const unsigned word = turing_word_of(t, is_double ? TURING_WORDS_COMPARE_DOUBLE : TURING_WORDS_COMPARE_FLOAT);
    const struct operand targets[2] = {turing_predicate_target(t, first), turing_predicate_target(t, first + 1)};
    const unsigned target_count = targets[1].kind == OPERAND_NONE ? 1 : 2;
    struct operand sources[3] = {a, b};
    struct operation operation = {
        .op = OP_SETP, .type = type, .compare = compares[word], .flags = turing_flag_of(t, TURING_WORDS_FTZ, FLAG_FTZ)};
    unsigned count = combined(t, first + 4, &operation, &sources[2]);
    if (compares[word] == CMP_NONE) { /* always, or never */
        operation =
            (struct operation){.op = OP_PSETP, .type = TYPE_PRED, .mode = MODE_AND, .boolop = turing_combination(t)};
        sources[0] = sources[1] = translate_number(word != 0);
        count = 3;
    }
    translate_put(t, &operation, targets, target_count, sources, count);
}

static void set(struct translation *t) {
    enum { ONE = 0x3f800000 };
    const unsigned compare = compares[turing_word_of(t, TURING_WORDS_COMPARE_FLOAT)];
    struct operand sources[3] = {turing_number(t, 1, TYPE_F32), turing_number(t, 2, TYPE_F32)};
    struct operation operation = {.op = OP_SET,
                                  .type = TYPE_F32,
                                  .stype = TYPE_F32,
                                  .compare = compare,
                                  .flags = turing_flag_of(t, TURING_WORDS_FTZ, FLAG_FTZ)};
    const unsigned count = combined(t, 3, &operation, &sources[2]);
    const struct operand d = turing_target(t, 0);
    if (compare == CMP_NONE)
        translate_refuse(t, "a comparison that compares nothing");
    translate_put(t, &operation, &d, 1, sources, count);
}

/* DSETP.MIN: the first predicate says that A is the smaller, the second that both are NaN. What chooses by them takes B then,
 * and quiets it. */
static void choose_double(struct translation *t, enum op op, struct operand a, struct operand b) {
    bool always;
    turing_predicate(t, 4, &always);
    if (!always || turing_combination(t) != BOOL_AND)
        translate_refuse(t, "a choice that is combined");
    const struct operand chosen = translate_wide(t), is_a = translate_test(t), nan = translate_test(t);
    const struct operand targets[2] = {turing_predicate_target(t, 0), turing_predicate_target(t, 1)};
    const struct operation test = {.op = OP_SETP, .type = TYPE_F64, .compare = CMP_NAN};
    translate_2(t, (struct operation){.op = op, .type = TYPE_F64}, chosen, a, b);
    translate_2(t, (struct operation){.op = OP_SETP, .type = TYPE_B64, .compare = CMP_EQ}, is_a, chosen, a);
    translate_2(t, test, nan, chosen, chosen);
    struct operand number = nan;
    number.negated = true;
    translate_3(t, (struct operation){.op = OP_PSETP, .type = TYPE_PRED, .mode = MODE_AND, .boolop = BOOL_AND},
                targets[0], is_a, number, translate_number(1));
    if (targets[1].kind != OPERAND_NONE)
        translate_1(t, (struct operation){.op = OP_MOV, .type = TYPE_PRED}, targets[1], nan);
}

static void compare_double(struct translation *t) {
    enum { MINIMUM = 0, MAXIMUM = 15 };
    const unsigned word = turing_word_of(t, TURING_WORDS_COMPARE_DOUBLE);
    const struct operand a = turing_number(t, 2, TYPE_F64), b = turing_number(t, 3, TYPE_F64);
    if (word == MINIMUM || word == MAXIMUM)
        choose_double(t, word == MINIMUM ? OP_MIN : OP_MAX, a, b);
    else
        turing_compare(t, TYPE_F64, 0, a, b);
}

static void compare(struct translation *t) {
    const struct operand a = turing_number(t, 2, TYPE_F32);
    turing_compare(t, TYPE_F32, 0, a, turing_number(t, 3, TYPE_F32));
}

/* ---- functions ---- */

/* Of a double's upper word: what PTX's .approx.ftz makes of the double that has 0 below it. */
static void function_of_upper(struct translation *t, enum op op) {
    const struct operand wide = translate_pack(t, translate_number(0), turing_number(t, 1, TYPE_F32));
    translate_1(t, (struct operation){.op = op, .type = TYPE_F64, .flags = FLAG_APPROX | FLAG_FTZ}, wide, wide);
    translate_unpack(t, wide, (struct operand){.kind = OPERAND_NONE}, turing_target(t, 0));
}

/* Angles are in turns: who wants radians has multiplied by 1 / 2 pi. Results are those of PTX's .approx.ftz, of TANH .approx,
 * which has no other. */
static void function(struct translation *t) {
    static const uint8_t ops[] = {OP_COS, OP_SIN, OP_EX2, OP_LG2, OP_RCP, OP_RSQRT, OP_RCP, OP_RSQRT, OP_SQRT, OP_TANH};
    enum { COS = 0, SIN = 1, RCP64H = 6, RSQ64H = 7, TANH = 9, F16 = 1, BF16 = 2 };
    const unsigned word = turing_word_of(t, TURING_WORDS_FUNCTION);
    const unsigned half = turing_word_of(t, TURING_WORDS_F16) ? F16 : turing_word_of(t, TURING_WORDS_HALF_TYPE);
    if (word == RCP64H || word == RSQ64H) {
        function_of_upper(t, ops[word]);
        return;
    }
    struct operation operation = {.op = ops[word],
                                  .type = TYPE_F32,
                                  .mode = word == COS || word == SIN ? MODE_TURNS : MODE_NONE,
                                  .flags = word == TANH ? FLAG_APPROX : FLAG_APPROX | FLAG_FTZ};
    if (half) {
        if (operation.mode)
            translate_refuse(t, "this of a half");
        operation.type = half == F16 ? TYPE_F16 : TYPE_BF16;
        if (half == F16)
            operation.flags = FLAG_APPROX;
    }
    translate_1(t, operation, turing_target(t, 0), turing_float_source(t, operation.type));
}

/* Signs do not change what the quotient needs. */
static void check_quotient(struct translation *t) {
    const struct operand a = turing_plain(t, 1, TYPE_F32);
    translate_2(t, (struct operation){.op = OP_SETP, .type = TYPE_F32, .compare = CMP_FAR},
                turing_predicate_target(t, 0), a, turing_plain(t, 2, TYPE_F32));
}

bool turing_float(struct translation *t) {
    switch (turing_row(t->turing->row)->meaning) {
    case TURING_MEANS_FADD: add(t, TYPE_F32); break;
    case TURING_MEANS_FMUL: multiply(t, TYPE_F32, false); break;
    case TURING_MEANS_FFMA: multiply(t, TYPE_F32, true); break;
    case TURING_MEANS_DADD: add(t, TYPE_F64); break;
    case TURING_MEANS_DMUL: multiply(t, TYPE_F64, false); break;
    case TURING_MEANS_DFMA: multiply(t, TYPE_F64, true); break;
    case TURING_MEANS_FSEL: select(t); break;
    case TURING_MEANS_FMNMX: extreme(t); break;
    case TURING_MEANS_FSET: set(t); break;
    case TURING_MEANS_FSETP: compare(t); break;
    case TURING_MEANS_DSETP: compare_double(t); break;
    case TURING_MEANS_MUFU: function(t); break;
    case TURING_MEANS_FCHK: check_quotient(t); break;
    case TURING_MEANS_FSWZADD: translate_refuse(t, "which lanes its signs belong to is not known"); break;
    default: return false;
    }
    return true;
}
