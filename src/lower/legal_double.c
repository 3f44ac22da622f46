/* SPDX-License-Identifier: Apache-2.0 */
/* Doubles beyond sums and products: division, roots, the smaller and the larger of two, tests. Quotients and roots come from
 * a seed of about 20 bits by Newton's steps; the exact remainder, which fma gives, says how they are rounded. */
#include "lower/legal.h"

static const uint32_t sign_bit = 0x80000000, infinity_high = 0x7ff00000, nan_high = 0x7ff80000, one_high = 0x3ff00000;

static struct wide number(uint32_t high) { return (struct wide){constant(0), constant(high)}; }

static struct wide fused(struct inst_builder *to, struct wide a, struct wide b, struct wide c) {
    return build_pair(to, OP_FMA, TYPE_F64, (struct operand[6]){a.lo, a.hi, b.lo, b.hi, c.lo, c.hi}, 6);
}

static struct wide product(struct inst_builder *to, struct wide a, struct wide b) {
    return build_pair(to, OP_MUL, TYPE_F64, (struct operand[4]){a.lo, a.hi, b.lo, b.hi}, 4);
}

static struct wide opposite(struct inst_builder *to, struct wide a) {
    return (struct wide){a.lo, build2(to, OP_XOR, TYPE_B32, a.hi, constant(sign_bit))};
}

/* c - a * b. The sign is changed for each use: it becomes part of the instruction. */
static struct wide rest_of(struct inst_builder *to, struct wide a, struct wide b, struct wide c) {
    return fused(to, opposite(to, a), b, c);
}

static struct operand compared(struct inst_builder *to, enum compare compare, struct wide a, struct wide b) {
    const struct operand d = operand_register(body_register(to->body, TYPE_PRED));
    struct inst *made = build_inst(to, OP_SETP, TYPE_F64, 1, 4);
    made->dst[0] = d, made->compare = (uint8_t)compare;
    made->src[0] = a.lo, made->src[1] = a.hi, made->src[2] = b.lo, made->src[3] = b.hi;
    return d;
}

/* A reciprocal or the reciprocal of a root, of which the instruction reads and makes the upper word. */
static struct wide seed(struct inst_builder *to, enum op op, struct operand high) {
    const struct operand d = operand_register(body_register(to->body, TYPE_B32));
    build_to(to, d, op, TYPE_F64, (struct operand[3]){high});
    return (struct wide){constant(0), d};
}

static struct operand exponent_field(struct inst_builder *to, struct operand high) {
    return build2(to, OP_AND, TYPE_B32, build2(to, OP_SHR, TYPE_U32, high, constant(20)), constant(0x7ff));
}

static struct operand size_of(struct inst_builder *to, struct operand high) {
    return build2(to, OP_AND, TYPE_B32, high, constant(0x7fffffff));
}

static struct wide with_exponent(struct inst_builder *to, struct wide a, struct operand upper) {
    const struct operand fraction = build2(to, OP_AND, TYPE_B32, a.hi, constant(0xfffff));
    return (struct wide){a.lo, build2(to, OP_OR, TYPE_B32, fraction, upper)};
}

static struct operand chosen(struct inst_builder *to, struct operand predicate, uint32_t yes, uint32_t no) {
    return build_select(to, predicate, constant(yes), constant(no));
}

/* ---- division ---- */

/* The third step makes the reciprocal the nearest one but where all bits of b's fraction are set; the quotient is then the
 * nearest too [Markstein 1990]. */
static struct wide quotient(struct inst_builder *to, struct wide a, struct wide b) {
    struct wide y = seed(to, OP_RCP, b.hi);
    for (unsigned i = 0; i < 3; i++)
        y = fused(to, y, rest_of(to, b, y, number(one_high)), y);
    const struct wide q = product(to, a, y);
    return fused(to, rest_of(to, b, q, a), y, q);
}

/* Exponents from 2^-400 to 2^399: nothing on the short way over- or underflows. */
static struct operand is_ordinary(struct inst_builder *to, struct operand high, struct operand also) {
    const struct operand above = build2(to, OP_ADD, TYPE_S32, exponent_field(to, high), constant((uint32_t)-623));
    return build_compare_and(to, CMP_LT, TYPE_U32, also.kind == OPERAND_NONE ? BOOL_NONE : BOOL_AND,
                             (struct operand[3]){above, constant(800), also});
}

static struct operand is_short(struct inst_builder *to, struct wide a, struct wide b) {
    const struct operand upper = build2(to, OP_OR, TYPE_B32, b.hi, constant(0xfff00000));
    const struct operand bits = build2(to, OP_AND, TYPE_B32, upper, b.lo);
    struct operand yes = build_compare(to, CMP_NE, TYPE_U32, bits, constant(UINT32_MAX));
    if (a.hi.kind != OPERAND_IMM)
        yes = is_ordinary(to, a.hi, yes);
    return is_ordinary(to, b.hi, yes);
}

/* A magnitude as 53 bits and an exponent: subnormals are shifted up. */
static struct wide take_apart(const struct legal *l, struct inst_builder *to, struct wide size,
                              struct operand *exponent) {
    const struct operand field = build2(to, OP_SHR, TYPE_U32, size.hi, constant(20));
    const struct operand fraction = build2(to, OP_AND, TYPE_B32, size.hi, constant(0xfffff));
    const struct operand is_small = build_compare(to, CMP_EQ, TYPE_U32, field, constant(0));
    const struct operand high =
        build_select(to, is_small, fraction, build2(to, OP_OR, TYPE_B32, fraction, constant(0x100000)));
    const struct operand none = build_compare(to, CMP_EQ, TYPE_U32, high, constant(0));
    const struct operand low_zeros = build2(to, OP_ADD, TYPE_S32, legal_bits(l, to, OP_CLZ, size.lo), constant(32));
    const struct operand zeros = build_select(to, none, low_zeros, legal_bits(l, to, OP_CLZ, high));
    const struct operand shift = build2(to, OP_ADD, TYPE_S32, zeros, constant((uint32_t)-11));
    *exponent = build2(to, OP_SUB, TYPE_S32, build2(to, OP_MAX, TYPE_S32, field, constant(1)), shift);
    return wide_shift(to, OP_SHL, TYPE_B64, (struct wide){size.lo, high}, shift);
}

/* q has 55 bits, the exponent is that of its top bit: rounded, subnormal or infinite where it must be. */
static struct wide pack(struct inst_builder *to, struct wide q, struct operand exponent, enum rounding rounding,
                        struct operand negative) {
    const struct operand below = build2(to, OP_SUB, TYPE_S32, constant(1), exponent);
    const struct operand least = build2(to, OP_MAX, TYPE_S32, below, constant(0));
    const struct operand shift = build2(to, OP_MIN, TYPE_S32, least, constant(56));
    struct wide kept = wide_shift(to, OP_SHR, TYPE_U64, q, shift);
    const struct wide back = wide_shift(to, OP_SHL, TYPE_B64, kept, shift);
    const struct operand exact = wide_compare(to, CMP_EQ, TYPE_U64, back, q);
    kept.lo = build2(to, OP_OR, TYPE_B32, kept.lo, chosen(to, exact, 0, 1));
    const struct wide m = wide_shift(to, OP_SHR, TYPE_U64, kept, constant(2));
    const struct operand rest = build2(to, OP_AND, TYPE_B32, kept.lo, constant(3));
    struct wide rounded = m;
    const struct operand up = legal_rounds_up(to, rounding, m.lo, rest, negative);
    if (up.kind != OPERAND_NONE)
        rounded = wide_add(to, m, (struct wide){chosen(to, up, 1, 0), constant(0)}, false);
    const struct operand field =
        build2(to, OP_ADD, TYPE_S32, build2(to, OP_MAX, TYPE_S32, exponent, constant(1)), constant(UINT32_MAX));
    rounded.hi = build2(to, OP_ADD, TYPE_S32, rounded.hi, build2(to, OP_SHL, TYPE_B32, field, constant(20)));
    struct wide beyond = number(infinity_high);
    const struct wide most = {constant(UINT32_MAX), constant(infinity_high - 1)};
    if (rounding == ROUND_RZ)
        beyond = most;
    else if (rounding == ROUND_RM)
        beyond = wide_select(to, negative, beyond, most);
    else if (rounding == ROUND_RP)
        beyond = wide_select(to, negative, most, beyond);
    return wide_select(to, build_compare(to, CMP_LT, TYPE_S32, exponent, constant(2047)), rounded, beyond);
}

/* 55 bits of x / y in [1, 2) where x and y are: the quotient as a double, and where the rest lies beside half a unit of its
 * last place. */
static struct wide divide_fraction(struct inst_builder *to, struct wide x, struct wide y, struct operand is_smaller) {
    const struct wide a = with_exponent(to, x, chosen(to, is_smaller, 0x40000000, one_high));
    const struct wide b = with_exponent(to, y, constant(one_high));
    const struct wide q = quotient(to, a, b), rest = rest_of(to, b, q, a);
    const struct wide half = product(to, b, number(0x3ca00000)); /* 2^-53 */
    const struct wide minus_half = opposite(to, half);
    const struct operand more = chosen(to, compared(to, CMP_GT, rest, number(0)), 1, 0);
    const struct operand some = build_select(to, compared(to, CMP_LT, rest, number(0)), constant(UINT32_MAX), more);
    const struct operand far = chosen(to, compared(to, CMP_GT, rest, half), 2, 0);
    const struct operand away = build_select(to, compared(to, CMP_LT, rest, minus_half), constant((uint32_t)-2), far);
    const struct operand step = build2(to, OP_ADD, TYPE_S32, some, away);
    const struct operand high =
        build2(to, OP_OR, TYPE_B32, build2(to, OP_AND, TYPE_B32, q.hi, constant(0xfffff)), constant(0x100000));
    const struct wide bits = wide_shift(to, OP_SHL, TYPE_B64, (struct wide){q.lo, high}, constant(2));
    return wide_add(to, bits, (struct wide){step, build2(to, OP_SHR, TYPE_S32, step, constant(31))}, false);
}

static struct operand is_nothing(struct inst_builder *to, struct wide size) {
    return build_compare(to, CMP_EQ, TYPE_U32, build2(to, OP_OR, TYPE_B32, size.lo, size.hi), constant(0));
}

static struct operand is_infinite(struct inst_builder *to, struct wide size) {
    return wide_compare(to, CMP_EQ, TYPE_U64, size, number(infinity_high));
}

static struct operand is_no_number(struct inst_builder *to, struct wide size) {
    return wide_compare(to, CMP_GT, TYPE_U64, size, number(infinity_high));
}

/* Everything the short way leaves: subnormals, zeros, infinities, NaNs, results near the ends of the range. */
static struct wide divide_rest(const struct legal *l, struct inst_builder *to, struct wide a, struct wide b,
                               enum rounding rounding) {
    const struct operand signs = build2(to, OP_XOR, TYPE_B32, a.hi, b.hi);
    const struct operand sign = build2(to, OP_AND, TYPE_B32, signs, constant(sign_bit));
    const struct operand negative = build_compare(to, CMP_LT, TYPE_S32, signs, constant(0));
    const struct wide x = {a.lo, size_of(to, a.hi)}, y = {b.lo, size_of(to, b.hi)};
    struct operand ex, ey;
    const struct wide mx = take_apart(l, to, x, &ex), my = take_apart(l, to, y, &ey);
    const struct operand smaller = wide_compare(to, CMP_LT, TYPE_U64, mx, my);
    struct operand exponent = build2(to, OP_ADD, TYPE_S32, build2(to, OP_SUB, TYPE_S32, ex, ey), constant(1023));
    exponent = build2(to, OP_ADD, TYPE_S32, exponent, chosen(to, smaller, UINT32_MAX, 0));
    struct wide result = pack(to, divide_fraction(to, mx, my, smaller), exponent, rounding, negative);
    const struct operand x_zero = is_nothing(to, x), y_zero = is_nothing(to, y);
    const struct operand x_infinite = is_infinite(to, x), y_infinite = is_infinite(to, y);
    const struct operand to_zero = build2(to, OP_OR, TYPE_PRED, x_zero, y_infinite);
    const struct operand to_infinity = build2(to, OP_OR, TYPE_PRED, x_infinite, y_zero);
    result = wide_select(to, to_zero, number(0), result);
    result = wide_select(to, to_infinity, number(infinity_high), result);
    result.hi = build2(to, OP_OR, TYPE_B32, result.hi, sign);
    struct operand nan = build2(to, OP_AND, TYPE_PRED, to_zero, to_infinity);
    nan = build2(to, OP_OR, TYPE_PRED, nan, is_no_number(to, x));
    nan = build2(to, OP_OR, TYPE_PRED, nan, is_no_number(to, y));
    return wide_select(to, nan, number(nan_high), result);
}

static struct wide divide(const struct legal *l, struct inst_builder *to, struct wide a, struct wide b,
                          enum rounding rounding) {
    if (rounding != ROUND_DEFAULT && rounding != ROUND_RN)
        return divide_rest(l, to, a, b, rounding);
    const struct operand lo = operand_register(body_register(to->body, TYPE_B32));
    const struct operand hi = operand_register(body_register(to->body, TYPE_B32));
    const struct operand ordinary = is_short(to, a, b);
    const uint32_t fast = body_block_new(to->body), rest = body_block_new(to->body), behind = body_block_new(to->body);
    build_branch(to, operand_not(ordinary), rest, fast);
    for (unsigned i = 0; i < 2; i++) {
        const struct wide q = i ? divide_rest(l, to, a, b, ROUND_RN) : quotient(to, a, b);
        build_move(to, lo, q.lo);
        build_move(to, hi, q.hi);
        build_jump(to, behind);
        if (i == 0)
            to->block = rest;
    }
    return (struct wide){lo, hi};
}

/* ---- roots ---- */

/* sqrt(x) and 1/(2 sqrt(x)) refined together, for x in [1, 4): within a unit in the last place. */
static struct wide near_root(struct inst_builder *to, struct wide x) {
    const struct wide y = seed(to, OP_RSQRT, x.hi), half = number(0x3fe00000);
    struct wide g = product(to, x, y), h = product(to, y, half);
    for (unsigned i = 0; i < 2; i++) {
        const struct wide e = rest_of(to, h, g, half);
        g = fused(to, g, e, g), h = fused(to, h, e, h);
    }
    return fused(to, rest_of(to, g, g, x), h, g);
}

/* By how many units a root is to be changed. Half a unit is passed where the remainder is more than the root times a unit, or
 * at most minus that: what lies between is less than the remainder's last place. */
static struct operand root_step(struct inst_builder *to, struct wide x, struct wide g, enum rounding rounding) {
    const struct wide rest = rest_of(to, g, g, x), unit = product(to, g, number(0x3cb00000)); /* 2^-52 */
    if (rounding == ROUND_RP)
        return chosen(to, compared(to, CMP_GT, rest, number(0)), 1, 0);
    if (rounding == ROUND_RZ || rounding == ROUND_RM)
        return chosen(to, compared(to, CMP_LT, rest, number(0)), UINT32_MAX, 0);
    const struct operand more = chosen(to, compared(to, CMP_GT, rest, unit), 1, 0);
    return build_select(to, compared(to, CMP_LE, rest, opposite(to, unit)), constant(UINT32_MAX), more);
}

/* The fraction's root, with half the exponent; zeros and infinity are their own roots. */
static struct wide root(struct inst_builder *to, struct wide a, enum rounding rounding) {
    const struct wide size = {a.lo, size_of(to, a.hi)};
    const struct operand is_small = build_compare(to, CMP_LT, TYPE_U32, size.hi, constant(0x00100000));
    const struct wide scaled = wide_select(to, is_small, product(to, size, number(0x43500000)), size); /* 2^54 */
    const struct operand power = build2(to, OP_ADD, TYPE_S32, exponent_field(to, scaled.hi), constant((uint32_t)-1023));
    const struct operand odd = build2(to, OP_AND, TYPE_B32, power, constant(1));
    const struct operand upper =
        build2(to, OP_ADD, TYPE_S32, build2(to, OP_SHL, TYPE_B32, odd, constant(20)), constant(one_high));
    const struct wide x = with_exponent(to, scaled, upper);
    struct wide g = near_root(to, x);
    const struct operand step = root_step(to, x, g, rounding);
    g = wide_add(to, g, (struct wide){step, build2(to, OP_SHR, TYPE_S32, step, constant(31))}, false);
    struct operand exponent = build2(to, OP_SHR, TYPE_S32, power, constant(1));
    exponent = build2(to, OP_ADD, TYPE_S32, exponent, chosen(to, is_small, (uint32_t)-27, 0));
    g.hi = build2(to, OP_ADD, TYPE_S32, g.hi, build2(to, OP_SHL, TYPE_B32, exponent, constant(20)));
    const struct operand is_zero = is_nothing(to, size);
    g = wide_select(to, build_compare(to, CMP_LT, TYPE_S32, a.hi, constant(0)), number(nan_high), g);
    g = wide_select(to,
                    build2(to, OP_OR, TYPE_PRED, is_zero, wide_compare(to, CMP_EQ, TYPE_U64, a, number(infinity_high))),
                    a, g);
    return wide_select(to, is_no_number(to, size), number(nan_high), g);
}

/* rsqrt.approx: two steps from the seed; its zeros, infinities and NaNs are right as they are. */
static struct wide inverse_root(struct inst_builder *to, struct wide a) {
    const struct operand is_small = build_compare(to, CMP_LT, TYPE_U32, size_of(to, a.hi), constant(0x00100000));
    const struct wide x = wide_select(to, is_small, product(to, a, number(0x46b00000)), a); /* 2^108 */
    const struct wide first = seed(to, OP_RSQRT, x.hi);
    struct wide y = first;
    for (unsigned i = 0; i < 2; i++) {
        const struct wide e = rest_of(to, product(to, x, y), y, number(one_high));
        y = fused(to, product(to, y, number(0x3fe00000)), e, y);
    }
    y = wide_select(to, is_small, product(to, y, number(0x43500000)), y); /* 2^54 */
    const struct operand field = exponent_field(to, first.hi);
    const struct operand off = build2(to, OP_ADD, TYPE_S32, field, constant(UINT32_MAX));
    const struct operand is_usual = build_compare(to, CMP_LT, TYPE_U32, off, constant(2046));
    const struct wide odd = {constant(0), build2(to, OP_AND, TYPE_B32, first.hi, constant(0xfff80000))};
    const struct wide size = {a.lo, size_of(to, a.hi)}; /* of some NaNs the upper word is that of infinity */
    return wide_select(to, is_no_number(to, size), number(nan_high), wide_select(to, is_usual, y, odd));
}

/* ---- others ---- */

/* A number before a NaN, -0 below +0, and one NaN for all. */
static struct wide extreme(struct inst_builder *to, enum op op, struct wide a, struct wide b) {
    const struct operand before = compared(to, op == OP_MIN ? CMP_LT : CMP_GT, a, b);
    struct wide result = wide_select(to, before, a, b);
    const struct operand equal = compared(to, CMP_EQ, a, b);
    const struct operand signs = build2(to, op == OP_MIN ? OP_OR : OP_AND, TYPE_B32, a.hi, b.hi);
    result.hi = build_select(to, equal, signs, result.hi);
    const struct operand none_b = compared(to, CMP_NAN, b, b), none_a = compared(to, CMP_NAN, a, a);
    result = wide_select(to, none_b, a, result);
    return wide_select(to, build2(to, OP_AND, TYPE_PRED, none_a, none_b), number(nan_high), result);
}

static struct operand tested(struct inst_builder *to, enum mode mode, struct wide a) {
    const struct wide size = {a.lo, size_of(to, a.hi)};
    const struct operand field = build2(to, OP_SHR, TYPE_U32, size.hi, constant(20));
    switch (mode) {
    case MODE_FINITE: return build_compare(to, CMP_LT, TYPE_U32, field, constant(0x7ff));
    case MODE_INFINITE: return is_infinite(to, size);
    case MODE_NUMBER: return wide_compare(to, CMP_LE, TYPE_U64, size, number(infinity_high));
    case MODE_NOTANUMBER: return is_no_number(to, size);
    case MODE_NORMAL: {
        const struct operand off = build2(to, OP_ADD, TYPE_S32, field, constant(UINT32_MAX));
        const struct operand usual = build_compare(to, CMP_LT, TYPE_U32, off, constant(0x7fe));
        return build2(to, OP_OR, TYPE_PRED, usual, is_nothing(to, size));
    }
    default: {
        const struct operand some = operand_not(is_nothing(to, size));
        return build_compare_and(to, CMP_EQ, TYPE_U32, BOOL_AND, (struct operand[3]){field, constant(0), some});
    }
    }
}

enum status legal_double_rest(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const enum op op = (enum op)inst->op;
    const enum rounding rounding = (enum rounding)inst->rounding;
    const struct wide a = legal_wide(l, &inst->src[0]);
    const struct wide b = inst->src_count > 1 ? legal_wide(l, &inst->src[1]) : number(one_high);
    const bool is_approximate = (inst->flags & FLAG_APPROX) != 0;
    struct wide value;
    if (inst->flags & FLAG_SAT)
        return legal_refuse(l, inst, "f64 with .sat");
    switch (op) {
    case OP_DIV: value = divide(l, to, a, b, rounding); break;
    case OP_RCP: value = is_approximate ? seed(to, OP_RCP, a.hi) : divide(l, to, b, a, rounding); break;
    case OP_SQRT: value = root(to, a, rounding); break;
    case OP_RSQRT: value = inst->flags & FLAG_FTZ ? seed(to, OP_RSQRT, a.hi) : inverse_root(to, a); break;
    case OP_MIN:
    case OP_MAX: value = extreme(to, op, a, b); break;
    case OP_COPYSIGN: {
        const struct operand sign = build2(to, OP_AND, TYPE_B32, a.hi, constant(sign_bit));
        value = (struct wide){b.lo, build2(to, OP_OR, TYPE_B32, size_of(to, b.hi), sign)};
        break;
    }
    case OP_TESTP: legal_put(l, &inst->dst[0], tested(to, (enum mode)inst->mode, a)); return STATUS_OK;
    default: return legal_refuse(l, inst, op_name(op));
    }
    legal_put_wide(l, &inst->dst[0], value);
    return STATUS_OK;
}
