/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/scalar_float.h"

#include <string.h>

#include "exec/approx.h"
#include "exec/eighth.h"
#include "exec/softfloat.h"

static enum float_format format_of(enum type type) {
    switch (type) {
    case TYPE_F16:
    case TYPE_F16X2: return FLOAT_F16;
    case TYPE_BF16:
    case TYPE_BF16X2: return FLOAT_BF16;
    case TYPE_F64: return FLOAT_F64;
    default: return FLOAT_F32;
    }
}

static uint64_t sign_bit(enum float_format format) {
    return format == FLOAT_F64 ? UINT64_C(1) << 63 : format == FLOAT_F32 ? UINT64_C(1) << 31 : UINT64_C(1) << 15;
}

static bool is_infinite(enum float_format format, uint64_t a) {
    static const uint64_t infinity[] = {[FLOAT_F16] = 0x7c00,
                                        [FLOAT_BF16] = 0x7f80,
                                        [FLOAT_F32] = 0x7f800000,
                                        [FLOAT_F64] = UINT64_C(0x7ff0000000000000)};
    return (a & ~sign_bit(format)) == infinity[format];
}

static float float_from(uint64_t bits) {
    const uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static uint64_t bits_from(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double double_from(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bits_from_double(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* What flags do to a result. */
static uint64_t finish(const struct inst *inst, enum float_format format, uint64_t result) {
    if (inst->flags & FLAG_FTZ)
        result = soft_flush(format, result);
    if (inst->flags & FLAG_SAT)
        result = soft_saturate(format, result);
    if ((inst->flags & FLAG_RELU) && !soft_is_nan(format, result) && (result & sign_bit(format)))
        result = 0;
    return result;
}

static bool less_than(enum float_format format, uint64_t a, uint64_t b) {
    const uint64_t sign = sign_bit(format);
    const uint64_t x = a & (sign - 1), y = b & (sign - 1);
    if (x == 0 && y == 0)
        return false;
    const bool a_negative = (a & sign) != 0, b_negative = (b & sign) != 0;
    if (a_negative != b_negative)
        return a_negative;
    return a_negative ? y < x : x < y;
}

/* True where the quotient is not sure to come out of native code's short way: q = a * r with r nearest to 1 / b, and one more
 * step q + r * (a - b * q). It does where a, b, r and q are normal and the remainder has all its bits, which is a multiple of
 * 2^(exponent of a - 47). What real GPUs test is not known; the long way gives the same quotient. */
static bool is_far(uint64_t a, uint64_t b) {
    const int exponent_a = (int)(a >> 23 & 0xff), exponent_b = (int)(b >> 23 & 0xff);
    const int difference = exponent_a - exponent_b;
    const bool is_near = exponent_a >= 26 && exponent_a <= 254 && exponent_b >= 1 && exponent_b <= 252 &&
                         difference >= -125 && difference <= 126;
    return !is_near;
}

bool float_compare(const struct inst *inst, enum type type, uint64_t a, uint64_t b) {
    const enum float_format format = format_of(type);
    if (inst->flags & FLAG_FTZ)
        a = soft_flush(format, a), b = soft_flush(format, b);
    const bool unordered = soft_is_nan(format, a) || soft_is_nan(format, b);
    const bool lt = !unordered && less_than(format, a, b), gt = !unordered && less_than(format, b, a);
    const bool eq = !unordered && !lt && !gt;
    switch ((enum compare)inst->compare) {
    case CMP_EQ: return eq;
    case CMP_NE: return lt || gt;
    case CMP_LT: return lt;
    case CMP_LE: return lt || eq;
    case CMP_GT: return gt;
    case CMP_GE: return gt || eq;
    case CMP_EQU: return eq || unordered;
    case CMP_NEU: return lt || gt || unordered;
    case CMP_LTU: return lt || unordered;
    case CMP_LEU: return lt || eq || unordered;
    case CMP_GTU: return gt || unordered;
    case CMP_GEU: return gt || eq || unordered;
    case CMP_NUM: return !unordered;
    case CMP_NAN: return unordered;
    case CMP_FAR: return is_far(a, b);
    default: return false;
    }
}

uint64_t float_one(enum type type) {
    switch (type) {
    case TYPE_F16: return 0x3c00;
    case TYPE_F16X2: return 0x3c003c00;
    case TYPE_BF16: return 0x3f80;
    case TYPE_BF16X2: return 0x3f803f80;
    case TYPE_F32: return 0x3f800000;
    case TYPE_F64: return UINT64_C(0x3ff0000000000000);
    default: return 0;
    }
}

bool float_not_negative(const struct inst *inst, uint64_t a) {
    if (inst->flags & FLAG_FTZ)
        a = soft_flush(FLOAT_F32, a);
    return !soft_is_nan(FLOAT_F32, a) && !less_than(FLOAT_F32, a, 0);
}

static uint64_t extreme(const struct inst *inst, enum float_format format, uint64_t a, uint64_t b) {
    const bool nan = (inst->flags & FLAG_NAN) != 0, largest = inst->op == OP_MAX;
    uint64_t sign = 0;
    if (inst->flags & FLAG_XORSIGN) {
        sign = (a ^ b) & sign_bit(format);
        a &= ~sign_bit(format), b &= ~sign_bit(format);
    }
    const uint64_t result = largest ? soft_max(format, a, b, nan) : soft_min(format, a, b, nan);
    return soft_is_nan(format, result) ? result : result | sign;
}

static bool test_property(const struct inst *inst, enum float_format format, uint64_t a) {
    const uint64_t magnitude = a & (sign_bit(format) - 1);
    const uint64_t infinity = format == FLOAT_F64 ? UINT64_C(0x7ff0000000000000) : UINT64_C(0x7f800000);
    const uint64_t smallest_normal = format == FLOAT_F64 ? UINT64_C(1) << 52 : UINT64_C(1) << 23;
    switch ((enum mode)inst->mode) {
    case MODE_FINITE: return magnitude < infinity;
    case MODE_INFINITE: return magnitude == infinity;
    case MODE_NUMBER: return magnitude <= infinity;
    case MODE_NOTANUMBER: return magnitude > infinity;
    case MODE_NORMAL:
        return magnitude == 0 || (magnitude >= smallest_normal && magnitude < infinity); /* PTX: zero too */
    case MODE_SUBNORMAL: return magnitude != 0 && magnitude < smallest_normal;
    default: return false;
    }
}

/* .approx and .full forms in f32. */
static float approximate_f32(const struct inst *inst, float a, float b) {
    switch ((enum op)inst->op) {
    case OP_DIV: return inst->flags & FLAG_FULL ? approx_div_full(a, b) : approx_div(a, b);
    case OP_RCP: return approx_rcp(a);
    case OP_SQRT: return approx_sqrt(a);
    case OP_RSQRT: return approx_rsqrt(a);
    case OP_SIN: return inst->mode == MODE_TURNS ? approx_sin_turns(a) : approx_sin(a);
    case OP_COS: return inst->mode == MODE_TURNS ? approx_cos_turns(a) : approx_cos(a);
    case OP_LG2: return approx_lg2(a);
    case OP_EX2: return approx_ex2(a);
    default: return approx_tanh(a);
    }
}

static uint64_t approximate(const struct inst *inst, enum float_format format, uint64_t a, uint64_t b) {
    if (format == FLOAT_F64) {
        const double x = double_from(a);
        const bool ftz = (inst->flags & FLAG_FTZ) != 0;
        return bits_from_double(inst->op == OP_RCP ? approx_rcp_ftz_f64(x)
                                : ftz              ? approx_rsqrt_ftz_f64(x)
                                                   : approx_rsqrt_f64(x));
    }
    if (format == FLOAT_F32)
        return bits_from(approximate_f32(inst, float_from(a), float_from(b)));
    /* half formats: through f32, rounded once more to the format */
    const uint64_t wide = soft_convert(FLOAT_F32, format, a, ROUND_RN);
    return soft_convert(format, FLOAT_F32, bits_from(approximate_f32(inst, float_from(wide), 0)), ROUND_RN);
}

static uint64_t evaluate_one(const struct inst *inst, enum float_format format, uint64_t a, uint64_t b, uint64_t c) {
    const enum rounding rounding = inst->rounding;
    if (inst->flags & FLAG_FTZ) {
        a = soft_flush(format, a), b = soft_flush(format, b), c = soft_flush(format, c);
    }
    if (inst->mode == MODE_MINUS_PRODUCT || inst->mode == MODE_MINUS_BOTH)
        a ^= sign_bit(format);
    if (inst->mode == MODE_MINUS_ADDEND || inst->mode == MODE_MINUS_BOTH)
        c ^= sign_bit(format);
    switch ((enum op)inst->op) {
    case OP_ADD: return finish(inst, format, soft_add(format, a, b, rounding));
    case OP_SUB: return finish(inst, format, soft_sub(format, a, b, rounding));
    case OP_MUL: return finish(inst, format, soft_mul(format, a, b, rounding));
    case OP_FMA: return finish(inst, format, soft_fma(format, a, b, c, rounding));
    case OP_ABS: return finish(inst, format, a & (sign_bit(format) - 1));
    case OP_NEG: return finish(inst, format, a ^ sign_bit(format));
    case OP_MIN:
    case OP_MAX: return finish(inst, format, extreme(inst, format, a, b));
    case OP_COPYSIGN: return (b & (sign_bit(format) - 1)) | (a & sign_bit(format));
    case OP_TESTP: return test_property(inst, format, a);
    case OP_DIV:
        if (inst->flags & (FLAG_APPROX | FLAG_FULL))
            break;
        return finish(inst, format, soft_div(format, a, b, rounding));
    case OP_RCP:
        if (inst->flags & FLAG_APPROX)
            break;
        return finish(inst, format, soft_rcp(format, a, rounding));
    case OP_SQRT:
        if (inst->flags & FLAG_APPROX)
            break;
        return finish(inst, format, soft_sqrt(format, a, rounding));
    default: break;
    }
    return finish(inst, format, approximate(inst, format, a, b));
}

uint64_t float_evaluate(const struct inst *inst, uint64_t a, uint64_t b, uint64_t c) {
    const enum float_format format = format_of(inst->type);
    if (inst->type != TYPE_F16X2 && inst->type != TYPE_BF16X2)
        return evaluate_one(inst, format, a, b, c);
    return evaluate_one(inst, format, a & 0xffff, b & 0xffff, c & 0xffff) |
           evaluate_one(inst, format, a >> 16 & 0xffff, b >> 16 & 0xffff, c >> 16 & 0xffff) << 16;
}

static uint64_t float_to_float(const struct inst *inst, enum type to, uint64_t a) {
    const enum float_format target = format_of(to), source = format_of(inst->stype);
    if ((inst->flags & FLAG_FTZ) && source == FLOAT_F32)
        a = soft_flush(source, a);
    uint64_t result;
    if (inst->rounding >= ROUND_RNI)
        result = soft_round_integral(source, a, inst->rounding);
    else if (target == source)
        result = soft_is_nan(source, a) ? soft_convert(target, source, a, ROUND_RN) : a;
    else
        result = soft_convert(target, source, a, inst->rounding);
    if ((inst->flags & FLAG_FTZ) && target == FLOAT_F32)
        result = soft_flush(target, result);
    if (inst->flags & FLAG_SAT)
        result = soft_saturate(target, result);
    if (inst->mode == MODE_FINITE && is_infinite(target, result))
        result--; /* to the largest finite number of the sign */
    if ((inst->flags & FLAG_RELU) && !soft_is_nan(target, result) && (result & sign_bit(target)))
        result = 0;
    return result;
}

/* f32 with 10 bits of fraction: bits below those are 0. */
static uint64_t float_to_tf32(const struct inst *inst, uint64_t a) {
    enum { LAST = 0x2000, HALF = LAST / 2 };
    if (soft_is_nan(FLOAT_F32, a))
        return soft_canonical_nan(FLOAT_F32);
    if (inst->flags & FLAG_RELU && a & sign_bit(FLOAT_F32))
        return 0;
    const uint64_t below = inst->rounding == ROUND_RZ    ? 0
                           : inst->rounding == ROUND_RNA ? HALF
                                                         : HALF - 1 + (a / LAST & 1); /* a tie goes to the even one */
    const uint64_t result = is_infinite(FLOAT_F32, a) ? a : (a + below) & ~(uint64_t)(LAST - 1);
    return inst->mode == MODE_FINITE && is_infinite(FLOAT_F32, result) ? result - LAST : result;
}

/* ---- pairs of 8-bit floats ---- */

static uint64_t eighth_result(const struct inst *inst, uint64_t single) {
    const bool is_negative = single >> 31 && (single & 0x7fffffff) <= 0x7f800000;
    if (inst->flags & FLAG_RELU && is_negative)
        return 0;
    return eighth_of_single(inst->type == TYPE_E5M2X2, (uint32_t)single);
}

static uint64_t eighths_of(const struct inst *inst, uint64_t a, uint64_t b) {
    if (inst->stype == TYPE_F32)
        return eighth_result(inst, a) << 8 | eighth_result(inst, b);
    const uint64_t low = soft_convert(FLOAT_F32, FLOAT_F16, a & 0xffff, ROUND_RN);
    const uint64_t high = soft_convert(FLOAT_F32, FLOAT_F16, a >> 16 & 0xffff, ROUND_RN);
    return eighth_result(inst, high) << 8 | eighth_result(inst, low);
}

static uint64_t halves_of_eighths(const struct inst *inst, uint64_t a) {
    uint64_t result = 0;
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t single = eighth_to_single(inst->stype == TYPE_E5M2X2, (uint8_t)(a >> 8 * i));
        uint64_t half = soft_convert(FLOAT_F16, FLOAT_F32, single, ROUND_RN);
        if (inst->flags & FLAG_RELU && half >> 15)
            half = 0;
        result |= half << 16 * i;
    }
    return result;
}

uint64_t float_convert(const struct inst *inst, uint64_t a, uint64_t b) {
    const enum type to = inst->type, from = inst->stype;
    if (to == TYPE_E4M3X2 || to == TYPE_E5M2X2)
        return eighths_of(inst, a, b);
    if (from == TYPE_E4M3X2 || from == TYPE_E5M2X2)
        return halves_of_eighths(inst, a);
    if (to == TYPE_TF32)
        return float_to_tf32(inst, a);
    if (to == TYPE_F16X2 || to == TYPE_BF16X2) {
        const enum type half = to == TYPE_F16X2 ? TYPE_F16 : TYPE_BF16;
        return float_to_float(inst, half, b) | float_to_float(inst, half, a) << 16;
    }
    if (type_is_float(to) && type_is_float(from))
        return float_to_float(inst, to, a);
    if (type_is_float(from)) {
        const enum float_format format = format_of(from);
        if (inst->flags & FLAG_FTZ)
            a = soft_flush(format, a);
        const unsigned bits = 8 * type_bytes(to);
        const uint64_t value = soft_to_integer(format, a, inst->rounding, bits, type_is_signed(to));
        if (!type_is_signed(to) || bits == 64)
            return value;
        const uint64_t sign = UINT64_C(1) << (bits - 1);
        return ((value & (2 * sign - 1)) ^ sign) - sign;
    }
    const unsigned bits = 8 * type_bytes(from);
    uint64_t value = bits == 64 ? a : a & ((UINT64_C(1) << bits) - 1);
    if (type_is_signed(from) && bits < 64 && (value >> (bits - 1) & 1))
        value |= UINT64_MAX << bits;
    return finish(inst, format_of(to), soft_from_integer(format_of(to), value, type_is_signed(from), inst->rounding));
}

uint64_t float_atomic_add(enum type type, bool ftz, uint64_t memory, uint64_t b) {
    const struct inst add = {.op = OP_ADD, .type = (uint8_t)type, .flags = ftz ? FLAG_FTZ : 0};
    return float_evaluate(&add, memory, b, 0);
}
