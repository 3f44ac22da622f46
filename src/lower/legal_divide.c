/* SPDX-License-Identifier: Apache-2.0 */
/* Division and square roots, which the native instruction sets have no instruction for. Reciprocals are only taken to be
 * good to a unit in the last place; what follows makes the result exact. */
#include "lower/legal.h"

static const uint32_t one_bits = 0x3f800000, sign_bit = 0x80000000, infinity_bits = 0x7f800000, nan_bits = 0x7fffffff;

static struct operand fused(struct inst_builder *to, struct operand a, struct operand b, struct operand c) {
    const struct operand d = operand_register(body_register(to->body, TYPE_F32));
    build_to(to, d, OP_FMA, TYPE_F32, (struct operand[3]){a, b, c})->rounding = ROUND_RN;
    return d;
}

static struct operand function(struct inst_builder *to, enum op op, struct operand a) {
    const struct operand d = operand_register(body_register(to->body, TYPE_F32));
    build_to(to, d, op, TYPE_F32, (struct operand[3]){a})->flags = FLAG_APPROX;
    return d;
}

/* ---- integers ---- */

/* The reciprocal in float, scaled a little below 2^32, is at most 2^32/b and too small by less than 2^-21 of it; a Newton
 * step in integers leaves the quotient at most two too small, and two corrections make it exact. */
struct operand divide_unsigned(struct inst_builder *to, struct operand a, struct operand b, bool remainder) {
    if (b.kind == OPERAND_IMM && b.imm && !(b.imm & (b.imm - 1))) {
        if (remainder)
            return build2(to, OP_AND, TYPE_B32, a, constant((uint32_t)b.imm - 1));
        return build2(to, OP_SHR, TYPE_U32, a, constant((uint32_t)__builtin_ctzll(b.imm)));
    }
    if (b.kind == OPERAND_IMM) {
        const struct operand held = operand_register(body_register(to->body, TYPE_B32));
        build_move(to, held, b);
        b = held;
    }
    const struct operand inverse = function(to, OP_RCP, build_convert(to, TYPE_F32, TYPE_U32, ROUND_RN, b));
    const struct operand scaled = build2(to, OP_MUL, TYPE_F32, inverse, constant(0x4f7ffffe));
    struct operand z = build_convert(to, TYPE_U32, TYPE_F32, ROUND_RZI, scaled);
    const struct operand minus = build1(to, OP_NEG, TYPE_S32, b);
    const struct operand error = build2(to, OP_MUL, TYPE_U32, minus, z);
    z = build2(to, OP_ADD, TYPE_U32, z, build_high(to, TYPE_U32, z, error));
    struct operand q = build_high(to, TYPE_U32, a, z);
    struct operand r = build3(to, OP_MAD, TYPE_U32, minus, q, a);
    for (unsigned i = 0; i < 2; i++) {
        const struct operand above = build_compare(to, CMP_GE, TYPE_U32, r, b);
        if (!remainder)
            q = build_select(to, above, build2(to, OP_ADD, TYPE_U32, q, constant(1)), q);
        if (remainder || i == 0)
            r = build_select(to, above, build2(to, OP_SUB, TYPE_U32, r, b), r);
    }
    if (remainder)
        return r;
    return build_select(to, build_compare(to, CMP_NE, TYPE_U32, b, constant(0)), q, constant(UINT32_MAX));
}

static struct operand magnitude(struct inst_builder *to, struct operand a) {
    return build2(to, OP_MAX, TYPE_S32, a, build1(to, OP_NEG, TYPE_S32, a));
}

/* The sign is applied where it is needed: v ^ mask - mask, mask 0 or -1. */
static struct operand with_sign(struct inst_builder *to, struct operand value, struct operand mask) {
    return build2(to, OP_SUB, TYPE_S32, build2(to, OP_XOR, TYPE_B32, value, mask), mask);
}

struct operand divide_signed(struct inst_builder *to, struct operand a, struct operand b, bool remainder) {
    /* |most negative| wraps to itself, which is right as an unsigned number */
    const struct operand x = magnitude(to, a), y = b.kind == OPERAND_IMM && !(b.imm >> 31 & 1) ? b : magnitude(to, b);
    const struct operand value = divide_unsigned(to, x, y, remainder);
    if (remainder)
        return with_sign(to, value, build2(to, OP_SHR, TYPE_S32, a, constant(31)));
    const struct operand signs = build2(to, OP_XOR, TYPE_B32, a, b);
    const struct operand q = with_sign(to, value, build2(to, OP_SHR, TYPE_S32, signs, constant(31)));
    if (b.kind == OPERAND_IMM)
        return q;
    return build_select(to, build_compare(to, CMP_NE, TYPE_U32, b, constant(0)), q, constant(UINT32_MAX));
}

static struct wide hold(struct inst_builder *to, struct wide value) {
    const struct operand lo = operand_register(body_register(to->body, TYPE_B32));
    const struct operand hi = operand_register(body_register(to->body, TYPE_B32));
    build_move(to, lo, value.lo);
    build_move(to, hi, value.hi);
    return (struct wide){lo, hi};
}

static void assign(struct inst_builder *to, struct wide d, struct wide value) {
    build_move(to, d.lo, value.lo);
    build_move(to, d.hi, value.hi);
}

/* Bit after bit; a zero divisor makes all quotient bits 1 and leaves the remainder a, as it should. */
static struct wide divide_wide_unsigned(struct inst_builder *to, struct wide a, struct wide b, bool remainder) {
    const struct wide zero = {constant(0), constant(0)};
    const struct wide q = hold(to, a), r = hold(to, zero);
    const struct operand count = operand_register(body_register(to->body, TYPE_B32));
    build_move(to, count, constant(64));
    const uint32_t loop = body_block_new(to->body), behind = body_block_new(to->body);
    build_jump(to, loop);
    const struct operand top = build2(to, OP_SHR, TYPE_U32, q.hi, constant(31));
    struct wide shifted = wide_shift(to, OP_SHL, TYPE_B64, r, constant(1));
    const struct operand lost = build_compare(to, CMP_LT, TYPE_S32, r.hi, constant(0));
    shifted.lo = build2(to, OP_OR, TYPE_B32, shifted.lo, top);
    struct wide next = wide_shift(to, OP_SHL, TYPE_B64, q, constant(1));
    const struct operand fits = build2(to, OP_OR, TYPE_PRED, wide_compare(to, CMP_GE, TYPE_U64, shifted, b), lost);
    const struct wide less = wide_add(to, shifted, b, true);
    next.lo = build2(to, OP_OR, TYPE_B32, next.lo, build_select(to, fits, constant(1), constant(0)));
    assign(to, r, wide_select(to, fits, less, shifted));
    assign(to, q, next);
    build_move(to, count, build2(to, OP_ADD, TYPE_S32, count, constant(UINT32_MAX)));
    build_branch(to, build_compare(to, CMP_NE, TYPE_S32, count, constant(0)), loop, behind);
    return remainder ? r : q;
}

static struct wide wide_signed(struct inst_builder *to, struct wide value, struct operand mask) {
    const struct operand lo = build2(to, OP_XOR, TYPE_B32, value.lo, mask);
    const struct operand hi = build2(to, OP_XOR, TYPE_B32, value.hi, mask);
    return wide_add(to, (struct wide){lo, hi}, (struct wide){mask, mask}, true);
}

struct wide divide_wide(struct inst_builder *to, enum type type, struct wide a, struct wide b, bool remainder) {
    if (type != TYPE_S64)
        return divide_wide_unsigned(to, a, b, remainder);
    const struct operand sa = build2(to, OP_SHR, TYPE_S32, a.hi, constant(31));
    const struct operand sb = build2(to, OP_SHR, TYPE_S32, b.hi, constant(31));
    const struct wide y = wide_signed(to, b, sb), x = wide_signed(to, a, sa);
    const struct wide value = divide_wide_unsigned(to, x, y, remainder);
    if (remainder)
        return wide_signed(to, value, sa);
    const struct wide q = wide_signed(to, value, build2(to, OP_XOR, TYPE_B32, sa, sb));
    const struct operand some =
        build_compare(to, CMP_NE, TYPE_U32, build2(to, OP_OR, TYPE_B32, b.lo, b.hi), constant(0));
    return wide_select(to, some, q, (struct wide){constant(UINT32_MAX), constant(UINT32_MAX)});
}

/* ---- floats ---- */

/* Exponents from 2^-55 to 2^56: nothing on the fast way over- or underflows. */
static struct operand exponent_is_ordinary(struct inst_builder *to, struct operand a, struct operand also) {
    const struct operand field =
        build2(to, OP_AND, TYPE_B32, build2(to, OP_SHR, TYPE_U32, a, constant(23)), constant(0xff));
    const struct operand above = build2(to, OP_ADD, TYPE_S32, field, constant((uint32_t)-72));
    return build_compare_and(to, CMP_LT, TYPE_U32, also.kind == OPERAND_NONE ? BOOL_NONE : BOOL_AND,
                             (struct operand[3]){above, constant(112), also});
}

/* Reciprocal and quotient refined by their remainders, which fma gives exactly [Markstein 1990]. */
static struct operand divide_ordinary(struct inst_builder *to, struct operand a, struct operand b) {
    const struct operand minus = build1(to, OP_NEG, TYPE_F32, b);
    struct operand r = function(to, OP_RCP, b);
    r = fused(to, r, fused(to, minus, r, constant(one_bits)), r);
    const struct operand q = build2(to, OP_MUL, TYPE_F32, a, r);
    return fused(to, fused(to, minus, q, a), r, q);
}

/* A magnitude as 24 bits and an exponent: subnormals are shifted up. */
static struct operand take_apart(const struct legal *l, struct inst_builder *to, struct operand bits,
                                 struct operand *exponent) {
    const struct operand field = build2(to, OP_SHR, TYPE_U32, bits, constant(23));
    const struct operand fraction = build2(to, OP_AND, TYPE_B32, bits, constant(0x7fffff));
    const struct operand is_small = build_compare(to, CMP_EQ, TYPE_U32, field, constant(0));
    const struct operand whole =
        build_select(to, is_small, fraction, build2(to, OP_OR, TYPE_B32, fraction, constant(0x800000)));
    const struct operand shift = build2(to, OP_ADD, TYPE_S32, legal_bits(l, to, OP_CLZ, whole), constant((uint32_t)-8));
    *exponent = build2(to, OP_SUB, TYPE_S32, build2(to, OP_MAX, TYPE_S32, field, constant(1)), shift);
    return build2(to, OP_SHL, TYPE_B32, whole, shift);
}

/* 26 bits of x / y in [1, 2), the last with what is lost below it ored in. */
static struct operand divide_bits(struct inst_builder *to, struct operand x, struct operand y) {
    const struct operand r = operand_register(body_register(to->body, TYPE_B32));
    const struct operand q = operand_register(body_register(to->body, TYPE_B32));
    const struct operand count = operand_register(body_register(to->body, TYPE_B32));
    build_move(to, r, x);
    build_move(to, q, constant(0));
    build_move(to, count, constant(26));
    const uint32_t loop = body_block_new(to->body), behind = body_block_new(to->body);
    build_jump(to, loop);
    const struct operand fits = build_compare(to, CMP_GE, TYPE_U32, r, y);
    const struct operand rest = build_select(to, fits, build2(to, OP_SUB, TYPE_U32, r, y), r);
    const struct operand twice = build2(to, OP_SHL, TYPE_B32, q, constant(1));
    build_move(to, q, build2(to, OP_OR, TYPE_B32, twice, build_select(to, fits, constant(1), constant(0))));
    build_move(to, r, build2(to, OP_SHL, TYPE_B32, rest, constant(1)));
    build_move(to, count, build2(to, OP_ADD, TYPE_S32, count, constant(UINT32_MAX)));
    build_branch(to, build_compare(to, CMP_NE, TYPE_S32, count, constant(0)), loop, behind);
    const struct operand exact = build_compare(to, CMP_EQ, TYPE_U32, r, constant(0));
    return build2(to, OP_OR, TYPE_B32, q, build_select(to, exact, constant(0), constant(1)));
}

/* The same of x / y in [1/2, 2), by the quotient as a float and the sign of what it leaves. */
static struct operand divide_fraction(struct inst_builder *to, struct operand x, struct operand y,
                                      struct operand is_smaller) {
    const struct operand top = build_select(to, is_smaller, constant(0x40000000), constant(one_bits));
    struct operand a = build2(to, OP_AND, TYPE_B32, x, constant(0x7fffff));
    struct operand b = build2(to, OP_AND, TYPE_B32, y, constant(0x7fffff));
    a = build2(to, OP_OR, TYPE_B32, a, top), b = build2(to, OP_OR, TYPE_B32, b, constant(one_bits));
    const struct operand q = divide_ordinary(to, a, b);
    const struct operand rest = fused(to, build1(to, OP_NEG, TYPE_F32, b), q, a);
    const struct operand fraction = build2(to, OP_AND, TYPE_B32, q, constant(0x7fffff));
    const struct operand bits =
        build2(to, OP_SHL, TYPE_B32, build2(to, OP_OR, TYPE_B32, fraction, constant(0x800000)), constant(2));
    const struct operand above = build_compare(to, CMP_GT, TYPE_F32, rest, constant(0));
    const struct operand below = build_compare(to, CMP_LT, TYPE_F32, rest, constant(0));
    const struct operand more = build_select(to, above, constant(1), constant(0));
    const struct operand more_or_less = build_select(to, below, constant(UINT32_MAX), more);
    return build2(to, OP_ADD, TYPE_S32, bits, more_or_less);
}

struct operand legal_rounds_up(struct inst_builder *to, enum rounding rounding, struct operand m, struct operand rest,
                               struct operand negative) {
    if (rounding == ROUND_RZ)
        return absent;
    if (rounding == ROUND_RM || rounding == ROUND_RP)
        return build_compare_and(to, CMP_NE, TYPE_U32, BOOL_AND,
                                 (struct operand[3]){rest, constant(0),
                                                     rounding == ROUND_RM ? negative : operand_not(negative)});
    const struct operand tie = build2(to, OP_ADD, TYPE_S32, rest, build2(to, OP_AND, TYPE_B32, m, constant(1)));
    return build_compare(to, CMP_GT, TYPE_S32, tie, constant(2));
}

/* What is too large: infinity, or the largest number where it is rounded towards 0. */
static struct operand beyond_range(struct inst_builder *to, enum rounding rounding, struct operand negative) {
    const struct operand infinity = constant(infinity_bits), most = constant(infinity_bits - 1);
    switch (rounding) {
    case ROUND_RZ: return most;
    case ROUND_RM: return build_select(to, negative, infinity, most);
    case ROUND_RP: return build_select(to, negative, most, infinity);
    default: return infinity;
    }
}

/* q has 26 bits, the exponent is that of its top bit: rounded, subnormal or infinite where it must be. */
static struct operand pack(struct inst_builder *to, struct operand q, struct operand exponent, enum rounding rounding,
                           struct operand negative) {
    const struct operand below = build2(to, OP_SUB, TYPE_S32, constant(1), exponent);
    const struct operand least = build2(to, OP_MAX, TYPE_S32, below, constant(0));
    const struct operand shift = build2(to, OP_MIN, TYPE_S32, least, constant(27));
    const struct operand kept = build2(to, OP_SHR, TYPE_U32, q, shift);
    const struct operand exact = build_compare(to, CMP_EQ, TYPE_U32, build2(to, OP_SHL, TYPE_B32, kept, shift), q);
    const struct operand bits = build2(to, OP_OR, TYPE_B32, kept, build_select(to, exact, constant(0), constant(1)));
    const struct operand m = build2(to, OP_SHR, TYPE_U32, bits, constant(2));
    const struct operand rest = build2(to, OP_AND, TYPE_B32, bits, constant(3));
    const struct operand up = legal_rounds_up(to, rounding, m, rest, negative);
    struct operand rounded = m;
    if (up.kind != OPERAND_NONE)
        rounded = build2(to, OP_ADD, TYPE_S32, m, build_select(to, up, constant(1), constant(0)));
    const struct operand field =
        build2(to, OP_ADD, TYPE_S32, build2(to, OP_MAX, TYPE_S32, exponent, constant(1)), constant(UINT32_MAX));
    const struct operand packed =
        build2(to, OP_ADD, TYPE_S32, build2(to, OP_SHL, TYPE_B32, field, constant(23)), rounded);
    const struct operand finite = build_compare(to, CMP_LT, TYPE_S32, exponent, constant(255));
    const struct operand limit = beyond_range(to, rounding, negative);
    return build2(to, OP_MIN, TYPE_U32, build_select(to, finite, packed, limit), constant(infinity_bits));
}

/* Everything the fast way leaves: subnormals, zeros, infinities, NaNs, results near the ends of the range. */
static struct operand divide_rest(const struct legal *l, struct inst_builder *to, struct operand a, struct operand b,
                                  enum rounding rounding) {
    const bool is_directed = rounding == ROUND_RM || rounding == ROUND_RP;
    const struct operand sign = build2(to, OP_AND, TYPE_B32, build2(to, OP_XOR, TYPE_B32, a, b), constant(sign_bit));
    const struct operand negative = is_directed ? build_compare(to, CMP_NE, TYPE_U32, sign, constant(0)) : absent;
    const struct operand x = build2(to, OP_AND, TYPE_B32, a, constant(0x7fffffff));
    const struct operand y = build2(to, OP_AND, TYPE_B32, b, constant(0x7fffffff));
    struct operand ex, ey;
    struct operand mx = take_apart(l, to, x, &ex);
    const struct operand my = take_apart(l, to, y, &ey);
    const struct operand smaller = build_compare(to, CMP_LT, TYPE_U32, mx, my);
    if (!l->target->has_logic3)
        mx = build_select(to, smaller, build2(to, OP_SHL, TYPE_B32, mx, constant(1)), mx);
    struct operand exponent = build2(to, OP_ADD, TYPE_S32, build2(to, OP_SUB, TYPE_S32, ex, ey), constant(127));
    exponent = build2(to, OP_ADD, TYPE_S32, exponent, build_select(to, smaller, constant(UINT32_MAX), constant(0)));
    const struct operand quotient =
        l->target->has_logic3 ? divide_fraction(to, mx, my, smaller) : divide_bits(to, mx, my);
    struct operand result = pack(to, quotient, exponent, rounding, negative);
    const struct operand infinity = constant(infinity_bits);
    const struct operand x_zero = build_compare(to, CMP_EQ, TYPE_U32, x, constant(0));
    const struct operand y_zero = build_compare(to, CMP_EQ, TYPE_U32, y, constant(0));
    const struct operand to_zero =
        build_compare_and(to, CMP_EQ, TYPE_U32, BOOL_OR, (struct operand[3]){y, infinity, x_zero});
    const struct operand to_infinity =
        build_compare_and(to, CMP_EQ, TYPE_U32, BOOL_OR, (struct operand[3]){x, infinity, y_zero});
    result = build_select(to, to_zero, constant(0), result);
    result = build_select(to, to_infinity, infinity, result);
    result = build2(to, OP_OR, TYPE_B32, result, sign);
    struct operand is_nan = build2(to, OP_AND, TYPE_PRED, to_zero, to_infinity);
    is_nan = build_compare_and(to, CMP_GT, TYPE_U32, BOOL_OR, (struct operand[3]){x, infinity, is_nan});
    is_nan = build_compare_and(to, CMP_GT, TYPE_U32, BOOL_OR, (struct operand[3]){y, infinity, is_nan});
    return build_select(to, is_nan, constant(nan_bits), result);
}

struct operand divide_float(const struct legal *l, struct inst_builder *to, struct operand a, struct operand b,
                            enum rounding rounding) {
    if (rounding != ROUND_DEFAULT && rounding != ROUND_RN)
        return divide_rest(l, to, a, b, rounding);
    const struct operand d = operand_register(body_register(to->body, TYPE_F32));
    struct operand ordinary = absent;
    if (l->target->has_logic3) {
        ordinary = operand_not(build_compare(to, CMP_FAR, TYPE_F32, a, b));
    } else {
        if (a.kind != OPERAND_IMM)
            ordinary = exponent_is_ordinary(to, a, absent);
        ordinary = exponent_is_ordinary(to, b, ordinary);
    }
    const uint32_t fast = body_block_new(to->body), rest = body_block_new(to->body), behind = body_block_new(to->body);
    build_branch(to, operand_not(ordinary), rest, fast);
    build_move(to, d, divide_ordinary(to, a, b));
    build_jump(to, behind);
    to->block = rest;
    build_move(to, d, divide_rest(l, to, a, b, ROUND_RN));
    build_jump(to, behind);
    return d;
}

/* sqrt(x) and 1/(2 sqrt(x)) refined together, the root then by its exact remainder. Small numbers are scaled by 2^64;
 * zeros and infinity are their own roots. */
struct operand root_float(struct inst_builder *to, struct operand a, enum rounding rounding) {
    const struct operand bits = build2(to, OP_AND, TYPE_B32, a, constant(0x7fffffff));
    const struct operand is_small = build_compare(to, CMP_LT, TYPE_U32, bits, constant(0x20000000));
    const struct operand x = build_select(to, is_small, build2(to, OP_MUL, TYPE_F32, a, constant(0x5f800000)), a);
    const struct operand r = function(to, OP_RSQRT, x);
    struct operand g = build2(to, OP_MUL, TYPE_F32, x, r), h = build2(to, OP_MUL, TYPE_F32, r, constant(0x3f000000));
    const struct operand e = fused(to, build1(to, OP_NEG, TYPE_F32, h), g, constant(0x3f000000));
    g = fused(to, g, e, g), h = fused(to, h, e, h);
    g = fused(to, fused(to, build1(to, OP_NEG, TYPE_F32, g), g, x), h, g);
    if (rounding != ROUND_DEFAULT && rounding != ROUND_RN) { /* the remainder says on which side the root lies */
        const struct operand rest = fused(to, build1(to, OP_NEG, TYPE_F32, g), g, x);
        const bool is_up = rounding == ROUND_RP;
        const struct operand off = build_compare(to, is_up ? CMP_GT : CMP_LT, TYPE_F32, rest, constant(0));
        const struct operand next = build2(to, OP_ADD, TYPE_S32, g, constant(is_up ? 1 : UINT32_MAX));
        g = build_select(to, off, next, g);
    }
    g = build_select(to, is_small, build2(to, OP_MUL, TYPE_F32, g, constant(0x2f800000)), g);
    struct operand own = build_compare(to, CMP_EQ, TYPE_U32, bits, constant(0));
    own = build_compare_and(to, CMP_EQ, TYPE_U32, BOOL_OR, (struct operand[3]){a, constant(infinity_bits), own});
    return build_select(to, own, a, g);
}
