/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/softfloat.h"

__extension__ typedef unsigned __int128 wide;

struct format {
    int precision;    /* bits of the significand with the hidden one */
    int exponent_min; /* of the smallest normal number: 2^exponent_min */
    int exponent_max; /* of the largest: below 2^(exponent_max + 1) */
    int total_bits;
    uint64_t nan;
};

static const struct format formats[] = {
    [FLOAT_F16] = {11, -14, 15, 16, UINT64_C(0x7fff)},
    [FLOAT_BF16] = {8, -126, 127, 16, UINT64_C(0x7fff)},
    [FLOAT_F32] = {24, -126, 127, 32, UINT64_C(0x7fffffff)},
    [FLOAT_F64] = {53, -1022, 1023, 64, UINT64_C(0x7ff8000000000000)},
};

enum class { CLASS_ZERO, CLASS_FINITE, CLASS_INFINITE, CLASS_NAN };

/* A finite one is significand * 2^exponent, with the top bit of the significand at precision - 1 also where the
 * format's own number is subnormal. */
struct unpacked {
    enum class class;
    bool negative;
    int exponent;
    uint64_t significand;
};

enum direction { TO_NEAREST_EVEN, TO_NEAREST_AWAY, TO_ZERO, TO_NEGATIVE, TO_POSITIVE };

static enum direction direction_of(enum rounding rounding) {
    switch (rounding) {
    case ROUND_RZ:
    case ROUND_RZI: return TO_ZERO;
    case ROUND_RM:
    case ROUND_RMI: return TO_NEGATIVE;
    case ROUND_RP:
    case ROUND_RPI: return TO_POSITIVE;
    case ROUND_RNA: return TO_NEAREST_AWAY;
    case ROUND_DEFAULT:
    case ROUND_RN:
    case ROUND_RNI: break;
    }
    return TO_NEAREST_EVEN;
}

static uint64_t sign_bit(const struct format *format) { return UINT64_C(1) << (format->total_bits - 1); }

static uint64_t infinity_bits(const struct format *format) {
    int biased = format->exponent_max - format->exponent_min + 2;
    return (uint64_t)biased << (format->precision - 1);
}

static uint64_t with_sign(const struct format *format, uint64_t magnitude, bool negative) {
    return negative ? magnitude | sign_bit(format) : magnitude;
}

static int length64(uint64_t value) { return value == 0 ? 0 : 64 - __builtin_clzll(value); }

static int length_wide(wide value) {
    uint64_t high = (uint64_t)(value >> 64);
    return high != 0 ? 64 + length64(high) : length64((uint64_t)value);
}

static struct unpacked unpack(const struct format *format, uint64_t bits) {
    uint64_t magnitude = bits & (sign_bit(format) - 1);
    struct unpacked number = {.class = CLASS_FINITE, .negative = (bits & sign_bit(format)) != 0};
    if (magnitude == 0) {
        number.class = CLASS_ZERO;
        return number;
    }
    if (magnitude >= infinity_bits(format)) {
        number.class = magnitude == infinity_bits(format) ? CLASS_INFINITE : CLASS_NAN;
        return number;
    }
    int fraction_bits = format->precision - 1;
    uint64_t fraction = magnitude & ((UINT64_C(1) << fraction_bits) - 1);
    int biased = (int)(magnitude >> fraction_bits);
    if (biased != 0) {
        number.significand = fraction | UINT64_C(1) << fraction_bits;
        number.exponent = format->exponent_min + biased - 1 - fraction_bits;
    } else {
        int shift = format->precision - length64(fraction);
        number.significand = fraction << shift;
        number.exponent = format->exponent_min - fraction_bits - shift;
    }
    return number;
}

/* What one unit more of the kept bits depends on: the part cut off is compared with half a unit. */
static bool rounds_up(enum direction direction, bool negative, bool odd, bool at_least_half, bool above_half,
                      bool inexact) {
    switch (direction) {
    case TO_NEAREST_EVEN: return above_half || (at_least_half && odd);
    case TO_NEAREST_AWAY: return at_least_half;
    case TO_NEGATIVE: return inexact && negative;
    case TO_POSITIVE: return inexact && !negative;
    case TO_ZERO: break;
    }
    return false;
}

/* significand / 2^shift, rounded to an integer; shift > 0, significand < 2^127. Bit 0 of the significand may stand for
 * anything between nothing and one unit cut off before ("sticky") as long as shift is at least 2. */
static wide round_shift(wide significand, int shift, bool negative, enum direction direction) {
    wide kept = 0;
    wide half = 0; /* 0: half a unit is more than any significand */
    wide rest = significand;
    if (shift < 128) {
        kept = significand >> shift;
        rest = significand - (kept << shift);
        half = (wide)1 << (shift - 1);
    }
    bool at_least_half = half != 0 && rest >= half;
    bool above_half = half != 0 && rest > half;
    if (rounds_up(direction, negative, (kept & 1) != 0, at_least_half, above_half, rest != 0))
        kept++;
    return kept;
}

static uint64_t overflow(const struct format *format, bool negative, enum direction direction) {
    bool to_infinity = direction == TO_NEAREST_EVEN || direction == TO_NEAREST_AWAY ||
                       (direction == TO_NEGATIVE && negative) || (direction == TO_POSITIVE && !negative);
    return with_sign(format, infinity_bits(format) - (to_infinity ? 0 : 1), negative);
}

/* significand * 2^exponent to the format. Bit 0 of the significand may be sticky if the significand has at least
 * precision + 2 bits. */
static uint64_t pack(const struct format *format, bool negative, int exponent, wide significand,
                     enum direction direction) {
    if (significand == 0)
        return with_sign(format, 0, negative);
    int fraction_bits = format->precision - 1;
    int top = exponent + length_wide(significand) - 1;
    if (top > format->exponent_max)
        return overflow(format, negative, direction);
    int unit_min = format->exponent_min - fraction_bits; /* exponent of the smallest subnormal */
    int unit = top - fraction_bits > unit_min ? top - fraction_bits : unit_min;
    int shift = unit - exponent;
    wide kept = shift > 0 ? round_shift(significand, shift, negative, direction) : significand << -shift;
    /* The hidden bit adds 1 to the exponent field, and so does the carry of rounding up to the next power of two;
     * rounding up the largest finite number makes the bits of infinity. */
    uint64_t magnitude = ((uint64_t)(unit - unit_min) << fraction_bits) + (uint64_t)kept;
    return with_sign(format, magnitude, negative);
}

uint64_t soft_canonical_nan(enum float_format format) { return formats[format].nan; }

bool soft_is_nan(enum float_format format, uint64_t a) { return unpack(&formats[format], a).class == CLASS_NAN; }

uint64_t soft_flush(enum float_format format, uint64_t a) {
    const struct format *f = &formats[format];
    uint64_t smallest_normal = UINT64_C(1) << (f->precision - 1);
    return (a & (sign_bit(f) - 1)) < smallest_normal ? a & sign_bit(f) : a;
}

uint64_t soft_saturate(enum float_format format, uint64_t a) {
    const struct format *f = &formats[format];
    uint64_t one = (uint64_t)(1 - f->exponent_min) << (f->precision - 1);
    if (soft_is_nan(format, a) || (a & sign_bit(f)) != 0)
        return 0;
    return a > one ? one : a;
}

/* significand * 2^exponent, finite and not zero. */
struct term {
    bool negative;
    int exponent;
    wide significand;
};

static struct term term_of(struct unpacked x) {
    return (struct term){.negative = x.negative, .exponent = x.exponent, .significand = x.significand};
}

static uint64_t add_finite(const struct format *format, struct term x, struct term y, enum direction direction) {
    /* Both to a top bit of 125, so that the sum of two has room; then the larger exponent is the larger value, up to
     * a tie that the comparison of significands below decides. */
    int shift = 126 - length_wide(x.significand);
    x.significand <<= shift;
    x.exponent -= shift;
    shift = 126 - length_wide(y.significand);
    y.significand <<= shift;
    y.exponent -= shift;
    if (x.exponent < y.exponent || (x.exponent == y.exponent && x.significand < y.significand)) {
        struct term larger = y;
        y = x;
        x = larger;
    }
    /* Operands have at most 106 bits: one that loses bits here is 21 binary places smaller, so the sum keeps 124
     * bits and a sticky last one is enough. */
    int distance = x.exponent - y.exponent;
    if (distance > 0) {
        wide kept = distance < 128 ? y.significand >> distance : 0;
        bool lost = distance < 128 ? kept << distance != y.significand : true;
        y.significand = kept | (lost ? 1 : 0);
    }
    if (x.negative == y.negative)
        return pack(format, x.negative, x.exponent, x.significand + y.significand, direction);
    if (x.significand == y.significand)
        return with_sign(format, 0, direction == TO_NEGATIVE);
    return pack(format, x.negative, x.exponent, x.significand - y.significand, direction);
}

uint64_t soft_fma(enum float_format format, uint64_t a, uint64_t b, uint64_t c, enum rounding rounding) {
    const struct format *f = &formats[format];
    enum direction direction = direction_of(rounding);
    struct unpacked x = unpack(f, a), y = unpack(f, b), z = unpack(f, c);
    bool negative = x.negative != y.negative;
    if (x.class == CLASS_NAN || y.class == CLASS_NAN || z.class == CLASS_NAN)
        return f->nan;
    if (x.class == CLASS_INFINITE || y.class == CLASS_INFINITE) {
        bool invalid =
            x.class == CLASS_ZERO || y.class == CLASS_ZERO || (z.class == CLASS_INFINITE && z.negative != negative);
        return invalid ? f->nan : with_sign(f, infinity_bits(f), negative);
    }
    if (z.class == CLASS_INFINITE)
        return c;
    if (x.class == CLASS_ZERO || y.class == CLASS_ZERO) {
        if (z.class == CLASS_FINITE)
            return c;
        return with_sign(f, 0, negative == z.negative ? negative : direction == TO_NEGATIVE);
    }
    struct term product = {negative, x.exponent + y.exponent, (wide)x.significand * y.significand};
    if (z.class == CLASS_ZERO)
        return pack(f, negative, product.exponent, product.significand, direction);
    return add_finite(f, product, term_of(z), direction);
}

uint64_t soft_add(enum float_format format, uint64_t a, uint64_t b, enum rounding rounding) {
    const struct format *f = &formats[format];
    enum direction direction = direction_of(rounding);
    struct unpacked x = unpack(f, a), y = unpack(f, b);
    if (x.class == CLASS_NAN || y.class == CLASS_NAN)
        return f->nan;
    if (x.class == CLASS_INFINITE)
        return y.class == CLASS_INFINITE && x.negative != y.negative ? f->nan : a;
    if (y.class == CLASS_INFINITE)
        return b;
    if (x.class == CLASS_ZERO && y.class == CLASS_ZERO)
        return with_sign(f, 0, x.negative == y.negative ? x.negative : direction == TO_NEGATIVE);
    if (x.class == CLASS_ZERO)
        return b;
    if (y.class == CLASS_ZERO)
        return a;
    return add_finite(f, term_of(x), term_of(y), direction);
}

uint64_t soft_sub(enum float_format format, uint64_t a, uint64_t b, enum rounding rounding) {
    return soft_add(format, a, b ^ sign_bit(&formats[format]), rounding);
}

uint64_t soft_mul(enum float_format format, uint64_t a, uint64_t b, enum rounding rounding) {
    const struct format *f = &formats[format];
    struct unpacked x = unpack(f, a), y = unpack(f, b);
    bool negative = x.negative != y.negative;
    if (x.class == CLASS_NAN || y.class == CLASS_NAN)
        return f->nan;
    if (x.class == CLASS_INFINITE || y.class == CLASS_INFINITE)
        return x.class == CLASS_ZERO || y.class == CLASS_ZERO ? f->nan : with_sign(f, infinity_bits(f), negative);
    if (x.class == CLASS_ZERO || y.class == CLASS_ZERO)
        return with_sign(f, 0, negative);
    return pack(f, negative, x.exponent + y.exponent, (wide)x.significand * y.significand, direction_of(rounding));
}

uint64_t soft_div(enum float_format format, uint64_t a, uint64_t b, enum rounding rounding) {
    const struct format *f = &formats[format];
    struct unpacked x = unpack(f, a), y = unpack(f, b);
    bool negative = x.negative != y.negative;
    if (x.class == CLASS_NAN || y.class == CLASS_NAN || (x.class == y.class && x.class != CLASS_FINITE))
        return f->nan;
    if (x.class == CLASS_ZERO || y.class == CLASS_INFINITE)
        return with_sign(f, 0, negative);
    if (x.class == CLASS_INFINITE || y.significand == 0)
        return with_sign(f, infinity_bits(f), negative);
    enum { GUARD_BITS = 64 }; /* the quotient has at least 64 bits, 11 more than any format needs */
    wide dividend = (wide)x.significand << GUARD_BITS;
    wide quotient = dividend / y.significand;
    if (quotient * y.significand != dividend)
        quotient |= 1;
    return pack(f, negative, x.exponent - y.exponent - GUARD_BITS, quotient, direction_of(rounding));
}

uint64_t soft_rcp(enum float_format format, uint64_t a, enum rounding rounding) {
    const struct format *f = &formats[format];
    uint64_t one = (uint64_t)(1 - f->exponent_min) << (f->precision - 1);
    return soft_div(format, one, a, rounding);
}

uint64_t soft_sqrt(enum float_format format, uint64_t a, enum rounding rounding) {
    const struct format *f = &formats[format];
    struct unpacked x = unpack(f, a);
    if (x.class == CLASS_ZERO)
        return a;
    if (x.class == CLASS_NAN || x.negative)
        return f->nan;
    if (x.class == CLASS_INFINITE)
        return a;
    int shift = 126 - f->precision;
    if (((x.exponent - shift) & 1) != 0)
        shift++;
    wide rest = (wide)x.significand << shift; /* 126 or 127 bits: the root has 63 or 64 */
    wide root = 0;
    for (wide bit = (wide)1 << 126; bit != 0; bit >>= 2) {
        if (rest >= root + bit) {
            rest -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    if (rest != 0)
        root |= 1;
    return pack(f, false, (x.exponent - shift) / 2, root, direction_of(rounding));
}

/* Integers in the order of the values, -0 just below +0. */
static int64_t order_key(const struct format *format, uint64_t bits) {
    int64_t magnitude = (int64_t)(bits & (sign_bit(format) - 1));
    return (bits & sign_bit(format)) != 0 ? -magnitude - 1 : magnitude;
}

static uint64_t select_extreme(enum float_format format, uint64_t a, uint64_t b, bool nan_wins, bool want_larger) {
    const struct format *f = &formats[format];
    bool a_nan = soft_is_nan(format, a), b_nan = soft_is_nan(format, b);
    if ((a_nan && b_nan) || (nan_wins && (a_nan || b_nan)))
        return f->nan;
    if (a_nan)
        return b;
    if (b_nan)
        return a;
    return (order_key(f, a) > order_key(f, b)) == want_larger ? a : b;
}

uint64_t soft_min(enum float_format format, uint64_t a, uint64_t b, bool nan_wins) {
    return select_extreme(format, a, b, nan_wins, false);
}

uint64_t soft_max(enum float_format format, uint64_t a, uint64_t b, bool nan_wins) {
    return select_extreme(format, a, b, nan_wins, true);
}

uint64_t soft_convert(enum float_format to, enum float_format from, uint64_t a, enum rounding rounding) {
    const struct format *target = &formats[to];
    struct unpacked x = unpack(&formats[from], a);
    if (x.class == CLASS_NAN)
        return target->nan;
    if (x.class == CLASS_INFINITE)
        return with_sign(target, infinity_bits(target), x.negative);
    return pack(target, x.negative, x.exponent, x.significand, direction_of(rounding));
}

uint64_t soft_round_integral(enum float_format format, uint64_t a, enum rounding rounding) {
    const struct format *f = &formats[format];
    struct unpacked x = unpack(f, a);
    if (x.class == CLASS_NAN)
        return f->nan;
    if (x.class != CLASS_FINITE || x.exponent >= 0)
        return a;
    enum direction direction = direction_of(rounding);
    return pack(f, x.negative, 0, round_shift(x.significand, -x.exponent, x.negative, direction), direction);
}

uint64_t soft_to_integer(enum float_format from, uint64_t a, enum rounding rounding, unsigned bits, bool is_signed) {
    struct unpacked x = unpack(&formats[from], a);
    uint64_t all = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    uint64_t top = UINT64_C(1) << (bits - 1);
    if (x.class == CLASS_NAN)
        return from != FLOAT_F64 && bits < 64 ? 0 : top;
    if (x.class == CLASS_ZERO)
        return 0;
    uint64_t limit = is_signed ? top - (x.negative ? 0 : 1) : x.negative ? 0 : all; /* of the magnitude */
    wide magnitude = (wide)1 << 64;                                                 /* larger than any limit */
    if (x.class == CLASS_FINITE && x.exponent < 0)
        magnitude = round_shift(x.significand, -x.exponent, x.negative, direction_of(rounding));
    else if (x.class == CLASS_FINITE && x.exponent < 64)
        magnitude = (wide)x.significand << x.exponent; /* at most 53 + 63 bits */
    uint64_t clamped = magnitude > limit ? limit : (uint64_t)magnitude;
    return (x.negative ? 0 - clamped : clamped) & all;
}

uint64_t soft_from_integer(enum float_format to, uint64_t value, bool is_signed, enum rounding rounding) {
    bool negative = is_signed && value >> 63 != 0;
    return pack(&formats[to], negative, 0, negative ? 0 - value : value, direction_of(rounding));
}
