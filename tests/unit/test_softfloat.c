/* SPDX-License-Identifier: Apache-2.0 */
/* libraries: mpfr gmp */
/* Integer floating point against MPFR: every format and rounding, on random operands and on all pairs of edge values.
 * MPFR rounds once to the format's precision and range; mpfr_subnormalize then rounds as if it had known. */
#include "exec/softfloat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <mpfr.h>

#include "random_bits.h"

struct layout {
    const char *name;
    int precision, exponent_min, exponent_max, bits;
    uint64_t nan;
};

static const struct layout layouts[] = {
    [FLOAT_F16] = {"f16", 11, -14, 15, 16, UINT64_C(0x7fff)},
    [FLOAT_BF16] = {"bf16", 8, -126, 127, 16, UINT64_C(0x7fff)},
    [FLOAT_F32] = {"f32", 24, -126, 127, 32, UINT64_C(0x7fffffff)},
    [FLOAT_F64] = {"f64", 53, -1022, 1023, 64, UINT64_C(0x7ff8000000000000)},
};

enum { FORMATS = 4 };
static const enum rounding roundings[] = {ROUND_RN, ROUND_RZ, ROUND_RM, ROUND_RP};
static const mpfr_rnd_t mpfr_roundings[] = {MPFR_RNDN, MPFR_RNDZ, MPFR_RNDD, MPFR_RNDU};
enum { ROUNDINGS = 4 };

enum operation { ADD, SUB, MUL, FMA, DIV, RCP, SQRT, CONVERT };
static const char *const operation_names[] = {"add", "sub", "mul", "fma", "div", "rcp", "sqrt", "convert"};

static uint64_t mask_of(enum float_format format) {
    return layouts[format].bits == 64 ? UINT64_MAX : (UINT64_C(1) << layouts[format].bits) - 1;
}

/* Values where something happens: around zero, the smallest normal, one, the largest, infinity, NaN. */
static size_t edge_values(enum float_format format, uint64_t *values) {
    const struct layout *layout = &layouts[format];
    uint64_t hidden = UINT64_C(1) << (layout->precision - 1);
    uint64_t one = (uint64_t)(1 - layout->exponent_min) * hidden;
    uint64_t infinity = (uint64_t)(layout->exponent_max - layout->exponent_min + 2) * hidden;
    const uint64_t magnitudes[] = {
        0,
        1,
        2,
        3,
        hidden / 2,
        hidden - 1,
        hidden,
        hidden + 1,
        2 * hidden - 1,
        2 * hidden,
        one - hidden - 1,
        one - hidden,
        one - 1,
        one,
        one + 1,
        one + hidden / 2,
        one + hidden - 1,
        one + hidden,
        one + (uint64_t)layout->precision * hidden,
        one + (uint64_t)layout->precision * hidden - 1,
        infinity - hidden,
        infinity - 2,
        infinity - 1,
        infinity,
        infinity + 1,
        layout->nan,
    };
    size_t count = 0;
    for (size_t i = 0; i < sizeof magnitudes / sizeof *magnitudes; i++) {
        values[count++] = magnitudes[i];
        values[count++] = magnitudes[i] | UINT64_C(1) << (layout->bits - 1);
    }
    return count;
}
enum { EDGES_MAX = 64 };

/* Random bits, half of the time near one in exponent, sometimes with long runs of equal bits. */
static uint64_t random_value(enum float_format format) {
    const struct layout *layout = &layouts[format];
    uint64_t bits = random_bits() & mask_of(format);
    uint64_t choice = random_bits();
    int fraction_bits = layout->precision - 1;
    if ((choice & 1) != 0) {
        uint64_t biased = (uint64_t)(1 - layout->exponent_min) + (choice >> 8 & 7) - 4;
        uint64_t sign = bits & UINT64_C(1) << (layout->bits - 1);
        bits = sign | biased << fraction_bits | (bits & ((UINT64_C(1) << fraction_bits) - 1));
    }
    if ((choice & 6) == 2)
        bits &= ~((UINT64_C(1) << (choice >> 16) % (uint64_t)fraction_bits) - 1);
    else if ((choice & 6) == 4)
        bits |= (UINT64_C(1) << (choice >> 16) % (uint64_t)fraction_bits) - 1;
    return bits;
}

/* Decoded by its own arithmetic, exactly. */
static void to_mpfr(mpfr_t value, enum float_format format, uint64_t bits) {
    const struct layout *layout = &layouts[format];
    uint64_t hidden = UINT64_C(1) << (layout->precision - 1);
    uint64_t sign = bits >> (layout->bits - 1) & 1;
    uint64_t magnitude = bits & ((UINT64_C(1) << (layout->bits - 1)) - 1);
    uint64_t biased = magnitude / hidden, fraction = magnitude % hidden;
    int largest = layout->exponent_max - layout->exponent_min + 2;
    if (biased == (uint64_t)largest) {
        if (fraction != 0)
            mpfr_set_nan(value);
        else
            mpfr_set_inf(value, sign != 0 ? -1 : 1);
        return;
    }
    if (magnitude == 0) {
        mpfr_set_zero(value, sign != 0 ? -1 : 1);
        return;
    }
    uint64_t significand = biased != 0 ? fraction + hidden : fraction;
    long exponent = (long)layout->exponent_min - layout->precision + 1 + (biased != 0 ? (long)biased - 1 : 0);
    mpfr_set_ui_2exp(value, (unsigned long)significand, exponent, MPFR_RNDN);
    if (sign != 0)
        mpfr_neg(value, value, MPFR_RNDN);
}

/* The value must be one of the format's. */
static uint64_t from_mpfr(mpfr_t value, enum float_format format) {
    const struct layout *layout = &layouts[format];
    uint64_t hidden = UINT64_C(1) << (layout->precision - 1);
    uint64_t sign = mpfr_signbit(value) ? UINT64_C(1) << (layout->bits - 1) : 0;
    if (mpfr_nan_p(value))
        return layout->nan;
    if (mpfr_zero_p(value))
        return sign;
    if (mpfr_inf_p(value))
        return sign | (uint64_t)(layout->exponent_max - layout->exponent_min + 2) * hidden;
    long top = (long)mpfr_get_exp(value) - 1;
    long unit = (top < layout->exponent_min ? layout->exponent_min : top) - layout->precision + 1;
    mpfr_t integer;
    mpfr_init2(integer, 64);
    mpfr_mul_2si(integer, value, -unit, MPFR_RNDN);
    assert_true(mpfr_integer_p(integer));
    mpfr_abs(integer, integer, MPFR_RNDN);
    uint64_t significand = mpfr_get_ui(integer, MPFR_RNDN);
    mpfr_clear(integer);
    uint64_t field = (uint64_t)(unit - (layout->exponent_min - layout->precision + 1));
    return sign | (field * hidden + significand);
}

struct reference {
    mpfr_t a, b, c, result;
};

static void reference_open(struct reference *reference) {
    mpfr_inits2(53, reference->a, reference->b, reference->c, (mpfr_ptr)0);
    mpfr_init2(reference->result, 53);
}

static void reference_close(struct reference *reference) {
    mpfr_clears(reference->a, reference->b, reference->c, reference->result, (mpfr_ptr)0);
}

static uint64_t reference_compute(struct reference *reference, enum operation operation, enum float_format format,
                                  enum float_format from, const uint64_t *operands, mpfr_rnd_t rounding) {
    const struct layout *layout = &layouts[format];
    mpfr_set_emin(-16000);
    mpfr_set_emax(16000);
    to_mpfr(reference->a, from, operands[0]);
    to_mpfr(reference->b, from, operands[1]);
    to_mpfr(reference->c, from, operands[2]);
    mpfr_set_prec(reference->result, layout->precision);
    /* MPFR's significands are below 1: its exponents are one more. */
    mpfr_set_emin(layout->exponent_min - layout->precision + 2);
    mpfr_set_emax(layout->exponent_max + 1);
    mpfr_ptr z = reference->result;
    int ternary = 0;
    switch (operation) {
    case ADD: ternary = mpfr_add(z, reference->a, reference->b, rounding); break;
    case SUB: ternary = mpfr_sub(z, reference->a, reference->b, rounding); break;
    case MUL: ternary = mpfr_mul(z, reference->a, reference->b, rounding); break;
    case FMA: ternary = mpfr_fma(z, reference->a, reference->b, reference->c, rounding); break;
    case DIV: ternary = mpfr_div(z, reference->a, reference->b, rounding); break;
    case RCP: ternary = mpfr_ui_div(z, 1, reference->a, rounding); break;
    case SQRT: ternary = mpfr_sqrt(z, reference->a, rounding); break;
    case CONVERT:
        ternary = mpfr_set(z, reference->a, rounding);
        ternary = mpfr_check_range(z, ternary, rounding);
        break;
    }
    mpfr_subnormalize(z, ternary, rounding);
    mpfr_set_emin(-16000);
    mpfr_set_emax(16000);
    return from_mpfr(z, format);
}

static uint64_t soft_compute(enum operation operation, enum float_format format, enum float_format from,
                             const uint64_t *operands, enum rounding rounding) {
    switch (operation) {
    case ADD: return soft_add(format, operands[0], operands[1], rounding);
    case SUB: return soft_sub(format, operands[0], operands[1], rounding);
    case MUL: return soft_mul(format, operands[0], operands[1], rounding);
    case FMA: return soft_fma(format, operands[0], operands[1], operands[2], rounding);
    case DIV: return soft_div(format, operands[0], operands[1], rounding);
    case RCP: return soft_rcp(format, operands[0], rounding);
    case SQRT: return soft_sqrt(format, operands[0], rounding);
    case CONVERT: return soft_convert(format, from, operands[0], rounding);
    }
    return 0;
}

static void check(struct reference *reference, enum operation operation, enum float_format format,
                  enum float_format from, const uint64_t *operands, size_t mode) {
    uint64_t expected = reference_compute(reference, operation, format, from, operands, mpfr_roundings[mode]);
    uint64_t actual = soft_compute(operation, format, from, operands, roundings[mode]);
    if (expected == actual)
        return;
    fail_msg("%s.%s (from %s) rounding %d of %llx %llx %llx: %llx, MPFR has %llx", operation_names[operation],
             layouts[format].name, layouts[from].name, (int)roundings[mode], (unsigned long long)operands[0],
             (unsigned long long)operands[1], (unsigned long long)operands[2], (unsigned long long)actual,
             (unsigned long long)expected);
}

static void test_random_operands(void **state) {
    (void)state;
    enum { COUNT = 7000 };
    struct reference reference;
    reference_open(&reference);
    random_state = 20;
    for (int format = 0; format < FORMATS; format++)
        for (int operation = ADD; operation <= SQRT; operation++)
            for (size_t i = 0; i < COUNT; i++) {
                enum float_format f = (enum float_format)format;
                uint64_t operands[3] = {random_value(f), random_value(f), random_value(f)};
                for (size_t mode = 0; mode < ROUNDINGS; mode++)
                    check(&reference, (enum operation)operation, f, f, operands, mode);
            }
    reference_close(&reference);
}

/* a * b + c where c nearly cancels the product: the place where a wrong alignment or sticky bit shows. */
static void test_fma_cancellation(void **state) {
    (void)state;
    struct reference reference;
    reference_open(&reference);
    random_state = 21;
    for (int format = 0; format < FORMATS; format++)
        for (int i = 0; i < 20000; i++) {
            enum float_format f = (enum float_format)format;
            uint64_t a = random_value(f), b = random_value(f);
            uint64_t product = soft_mul(f, a, b, roundings[i % ROUNDINGS]);
            uint64_t sign = UINT64_C(1) << (layouts[f].bits - 1);
            uint64_t step = random_bits() % 5;
            uint64_t operands[3] = {a, b, ((product + step - 2) ^ sign) & mask_of(f)};
            for (size_t mode = 0; mode < ROUNDINGS; mode++)
                check(&reference, FMA, f, f, operands, mode);
        }
    reference_close(&reference);
}

static void test_edge_pairs(void **state) {
    (void)state;
    struct reference reference;
    reference_open(&reference);
    random_state = 22;
    for (int format = 0; format < FORMATS; format++) {
        enum float_format f = (enum float_format)format;
        uint64_t edges[EDGES_MAX];
        size_t count = edge_values(f, edges);
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < count; j++)
                for (size_t mode = 0; mode < ROUNDINGS; mode++)
                    for (int operation = ADD; operation <= SQRT; operation++) {
                        uint64_t operands[3] = {edges[i], edges[j], edges[random_bits() % count]};
                        check(&reference, (enum operation)operation, f, f, operands, mode);
                    }
    }
    reference_close(&reference);
}

static void test_every_f16(void **state) {
    (void)state;
    struct reference reference;
    reference_open(&reference);
    for (uint64_t a = 0; a < 65536; a++) {
        uint64_t operands[3] = {a, 0, 0};
        for (size_t mode = 0; mode < ROUNDINGS; mode++) {
            check(&reference, SQRT, FLOAT_F16, FLOAT_F16, operands, mode);
            check(&reference, RCP, FLOAT_F16, FLOAT_F16, operands, mode);
            check(&reference, CONVERT, FLOAT_BF16, FLOAT_F16, operands, mode);
        }
        check(&reference, CONVERT, FLOAT_F32, FLOAT_F16, operands, 0);
        check(&reference, CONVERT, FLOAT_F32, FLOAT_BF16, operands, 0);
        for (size_t mode = 0; mode < ROUNDINGS; mode++)
            check(&reference, CONVERT, FLOAT_F16, FLOAT_BF16, operands, mode);
    }
    reference_close(&reference);
}

/* A value of the target, or the midpoint to the next one, or the source's neighbour of either. */
static uint64_t value_near_target(enum float_format from, enum float_format to) {
    const uint64_t one = 1;
    uint64_t bits = soft_convert(from, to, random_value(to), ROUND_RZ);
    int dropped = layouts[from].precision - layouts[to].precision;
    if (dropped > 0 && (random_bits() & 1) != 0)
        bits += one << (dropped - 1);
    return (bits + random_bits() % 3 - 1) & mask_of(from);
}

static void test_conversions(void **state) {
    (void)state;
    struct reference reference;
    reference_open(&reference);
    random_state = 23;
    for (int to = 0; to < FORMATS; to++)
        for (int from = 0; from < FORMATS; from++) {
            enum float_format t = (enum float_format)to, f = (enum float_format)from;
            uint64_t edges[EDGES_MAX];
            size_t count = edge_values(f, edges);
            for (size_t i = 0; i < 8000 + count; i++) {
                uint64_t a = i < count ? edges[i] : i % 2 != 0 ? random_value(f) : value_near_target(f, t);
                uint64_t operands[3] = {a, 0, 0};
                for (size_t mode = 0; mode < ROUNDINGS; mode++)
                    check(&reference, CONVERT, t, f, operands, mode);
            }
        }
    reference_close(&reference);
}

/* Ties away from zero: mpfr_round does that to an integer, so count in units of the target. */
static uint64_t convert_away(enum float_format to, enum float_format from, uint64_t a) {
    const struct layout *layout = &layouts[to];
    mpfr_t value;
    mpfr_init2(value, 1200);
    to_mpfr(value, from, a);
    uint64_t result;
    if (mpfr_regular_p(value)) {
        bool negative = mpfr_signbit(value) != 0;
        long top = (long)mpfr_get_exp(value) - 1;
        long unit = (top < layout->exponent_min ? layout->exponent_min : top) - layout->precision + 1;
        mpfr_mul_2si(value, value, -unit, MPFR_RNDN);
        mpfr_round(value, value);
        mpfr_mul_2si(value, value, unit, MPFR_RNDN);
        if (mpfr_regular_p(value) && (long)mpfr_get_exp(value) - 1 > layout->exponent_max)
            mpfr_set_inf(value, negative ? -1 : 1);
    }
    result = from_mpfr(value, to);
    mpfr_clear(value);
    return result;
}

static void test_ties_away(void **state) {
    (void)state;
    random_state = 24;
    for (int to = 0; to < FORMATS; to++)
        for (int from = 0; from < FORMATS; from++) {
            enum float_format t = (enum float_format)to, f = (enum float_format)from;
            uint64_t edges[EDGES_MAX];
            size_t count = edge_values(f, edges);
            for (size_t i = 0; i < 5000 + count; i++) {
                uint64_t a = i < count ? edges[i] : i % 2 != 0 ? random_value(f) : value_near_target(f, t);
                assert_int_equal(soft_convert(t, f, a, ROUND_RNA), convert_away(t, f, a));
            }
        }
}

static const enum rounding integral_roundings[] = {ROUND_RNI, ROUND_RZI, ROUND_RMI, ROUND_RPI};

static uint64_t random_for_integer(enum float_format format) {
    const struct layout *layout = &layouts[format];
    if (random_bits() % 4 == 0)
        return random_value(format);
    /* Between 2^-3 and 2^66 (as far as the format goes), so that there is something to round and something to clamp;
     * halves are frequent. */
    uint64_t span = layout->exponent_max < 66 ? (uint64_t)layout->exponent_max + 3 : 69;
    uint64_t exponent = random_bits() % span;
    uint64_t biased = (uint64_t)(1 - layout->exponent_min) - 3 + exponent;
    uint64_t fraction = random_bits() & ((UINT64_C(1) << (layout->precision - 1)) - 1);
    int below_half = layout->precision - 1 - (int)exponent + 3 - 1;
    if (below_half > 0 && below_half < layout->precision && random_bits() % 2 == 0)
        fraction &= ~((UINT64_C(1) << below_half) - 1);
    return (biased << (layout->precision - 1) | fraction) | (random_bits() & 1) << (layout->bits - 1);
}

static void integral_in_mpfr(mpfr_t value, mpfr_rnd_t rounding) {
    if (mpfr_number_p(value))
        mpfr_rint(value, value, rounding);
}

static void test_round_integral(void **state) {
    (void)state;
    mpfr_t value;
    mpfr_init2(value, 53);
    random_state = 25;
    for (int format = 0; format < FORMATS; format++) {
        enum float_format f = (enum float_format)format;
        bool narrow = layouts[f].bits == 16;
        for (uint64_t i = 0; i < 65536; i++) {
            uint64_t a = narrow ? i : random_for_integer(f);
            for (size_t mode = 0; mode < ROUNDINGS; mode++) {
                to_mpfr(value, f, a);
                integral_in_mpfr(value, mpfr_roundings[mode]);
                assert_int_equal(soft_round_integral(f, a, integral_roundings[mode]), from_mpfr(value, f));
            }
        }
    }
    mpfr_clear(value);
}

static uint64_t integer_from_mpfr(mpfr_t value, enum float_format from, unsigned bits, bool is_signed) {
    uint64_t all = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    uint64_t top = UINT64_C(1) << (bits - 1);
    if (mpfr_nan_p(value))
        return from == FLOAT_F64 || bits == 64 ? top : 0;
    uint64_t most = is_signed ? top - 1 : all, least = is_signed ? top : 0; /* magnitudes of the limits */
    if (mpfr_signbit(value)) {
        mpfr_neg(value, value, MPFR_RNDN);
        uint64_t magnitude = mpfr_cmp_ui(value, (unsigned long)least) >= 0 ? least : mpfr_get_ui(value, MPFR_RNDZ);
        return (0 - magnitude) & all;
    }
    return mpfr_cmp_ui(value, (unsigned long)most) >= 0 ? most : mpfr_get_ui(value, MPFR_RNDZ);
}

static void test_to_integer(void **state) {
    (void)state;
    static const unsigned widths[] = {8, 16, 32, 64};
    mpfr_t value;
    mpfr_init2(value, 64);
    random_state = 26;
    for (int format = 0; format < FORMATS; format++) {
        enum float_format f = (enum float_format)format;
        uint64_t edges[EDGES_MAX];
        size_t count = edge_values(f, edges);
        for (size_t i = 0; i < 12000 + count; i++) {
            uint64_t a = i < count ? edges[i] : random_for_integer(f);
            for (size_t mode = 0; mode < ROUNDINGS; mode++)
                for (size_t k = 0; k < 8; k++) {
                    unsigned bits = widths[k / 2];
                    to_mpfr(value, f, a);
                    integral_in_mpfr(value, mpfr_roundings[mode]);
                    uint64_t expected = integer_from_mpfr(value, f, bits, k % 2 != 0);
                    uint64_t actual = soft_to_integer(f, a, integral_roundings[mode], bits, k % 2 != 0);
                    if (actual != expected)
                        fail_msg("%s %llx to %c%u, rounding %d: %llx, expected %llx", layouts[f].name,
                                 (unsigned long long)a, k % 2 != 0 ? 's' : 'u', bits, (int)integral_roundings[mode],
                                 (unsigned long long)actual, (unsigned long long)expected);
                }
        }
    }
    mpfr_clear(value);
}

static void test_from_integer(void **state) {
    (void)state;
    mpfr_t value, result;
    mpfr_init2(value, 64);
    mpfr_init2(result, 53);
    random_state = 27;
    static const uint64_t special[] = {0,
                                       1,
                                       2,
                                       65504,
                                       65519,
                                       65520,
                                       65535,
                                       1 << 24,
                                       (1 << 24) + 1,
                                       UINT64_MAX,
                                       UINT64_C(1) << 63,
                                       INT64_MAX,
                                       (UINT64_C(1) << 53) + 1,
                                       0 - UINT64_C(65520)};
    const size_t count = sizeof special / sizeof *special;
    for (int format = 0; format < FORMATS; format++)
        for (size_t i = 0; i < 10000 + count; i++) {
            enum float_format f = (enum float_format)format;
            uint64_t integer = i < count ? special[i] : random_bits() >> random_bits() % 64;
            if (i >= count && random_bits() % 2 == 0)
                integer = 0 - integer;
            for (size_t mode = 0; mode < ROUNDINGS; mode++)
                for (int is_signed = 0; is_signed < 2; is_signed++) {
                    if (is_signed != 0)
                        mpfr_set_si(value, (long)integer, MPFR_RNDN);
                    else
                        mpfr_set_ui(value, (unsigned long)integer, MPFR_RNDN);
                    mpfr_set_prec(result, layouts[f].precision);
                    mpfr_set_emax(layouts[f].exponent_max + 1);
                    int ternary = mpfr_set(result, value, mpfr_roundings[mode]);
                    mpfr_check_range(result, ternary, mpfr_roundings[mode]);
                    mpfr_set_emax(16000);
                    assert_int_equal(soft_from_integer(f, integer, is_signed != 0, roundings[mode]),
                                     from_mpfr(result, f));
                }
        }
    mpfr_clears(value, result, (mpfr_ptr)0);
}

/* The default is to nearest even, and the host's own arithmetic is that: millions of operands cheaply. */
static void test_against_host(void **state) {
    (void)state;
    random_state = 28;
    for (int i = 0; i < 1000000; i++) {
        uint64_t a = random_value(FLOAT_F32), b = random_value(FLOAT_F32);
        float x, y, results[4];
        uint32_t a32 = (uint32_t)a, b32 = (uint32_t)b;
        memcpy(&x, &a32, sizeof x);
        memcpy(&y, &b32, sizeof y);
        results[0] = x + y;
        results[1] = x - y;
        results[2] = x * y;
        results[3] = x / y;
        for (int operation = 0; operation < 4; operation++) {
            uint32_t expected;
            memcpy(&expected, &results[operation], sizeof expected);
            if (results[operation] != results[operation])
                expected = 0x7fffffff;
            static const enum operation operations[] = {ADD, SUB, MUL, DIV};
            uint64_t operands[3] = {a, b, 0};
            uint64_t actual = soft_compute(operations[operation], FLOAT_F32, FLOAT_F32, operands, ROUND_DEFAULT);
            if (actual != expected)
                fail_msg("%s of %x %x: %llx, host has %x", operation_names[operations[operation]], a32, b32,
                         (unsigned long long)actual, expected);
        }
    }
}

static void test_min_max(void **state) {
    (void)state;
    mpfr_t x, y;
    mpfr_inits2(53, x, y, (mpfr_ptr)0);
    for (int format = 0; format < FORMATS; format++) {
        enum float_format f = (enum float_format)format;
        uint64_t edges[EDGES_MAX], nan = layouts[f].nan;
        size_t count = edge_values(f, edges);
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < count; j++) {
                uint64_t a = edges[i], b = edges[j];
                to_mpfr(x, f, a);
                to_mpfr(y, f, b);
                bool x_nan = mpfr_nan_p(x) != 0, y_nan = mpfr_nan_p(y) != 0;
                bool below = mpfr_less_p(x, y) || (mpfr_zero_p(x) && mpfr_zero_p(y) && mpfr_signbit(x));
                uint64_t least = x_nan && y_nan ? nan : x_nan ? b : y_nan ? a : below ? a : b;
                uint64_t most = x_nan && y_nan ? nan : x_nan ? b : y_nan ? a : below ? b : a;
                assert_int_equal(soft_min(f, a, b, false), least);
                assert_int_equal(soft_max(f, a, b, false), most);
                assert_int_equal(soft_min(f, a, b, true), x_nan || y_nan ? nan : least);
                assert_int_equal(soft_max(f, a, b, true), x_nan || y_nan ? nan : most);
            }
    }
    mpfr_clears(x, y, (mpfr_ptr)0);
}

static void test_flush_and_saturate(void **state) {
    (void)state;
    static const struct {
        enum float_format format;
        uint64_t from, flushed, saturated;
    } cases[] = {
        {FLOAT_F32, 0x00000001, 0x00000000, 0x00000001},
        {FLOAT_F32, 0x807fffff, 0x80000000, 0x00000000},
        {FLOAT_F32, 0x00800000, 0x00800000, 0x00800000},
        {FLOAT_F32, 0x80000000, 0x80000000, 0x00000000},
        {FLOAT_F32, 0x3f800001, 0x3f800001, 0x3f800000},
        {FLOAT_F32, 0x3f800000, 0x3f800000, 0x3f800000},
        {FLOAT_F32, 0x3f7fffff, 0x3f7fffff, 0x3f7fffff},
        {FLOAT_F32, 0xbf000000, 0xbf000000, 0x00000000},
        {FLOAT_F32, 0x7f800000, 0x7f800000, 0x3f800000},
        {FLOAT_F32, 0xff800000, 0xff800000, 0x00000000},
        {FLOAT_F32, 0x7fffffff, 0x7fffffff, 0x00000000},
        {FLOAT_F32, 0xffc00000, 0xffc00000, 0x00000000},
        {FLOAT_F16, 0x83ff, 0x8000, 0x0000},
        {FLOAT_F16, 0x4000, 0x4000, 0x3c00},
        {FLOAT_F16, 0x0400, 0x0400, 0x0400},
        {FLOAT_BF16, 0x007f, 0x0000, 0x007f},
        {FLOAT_BF16, 0x4000, 0x4000, 0x3f80},
        {FLOAT_F64, 0x000fffffffffffff, 0, 0x000fffffffffffff},
        {FLOAT_F64, 0x4000000000000000, 0x4000000000000000, 0x3ff0000000000000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(soft_flush(cases[i].format, cases[i].from), cases[i].flushed);
        assert_int_equal(soft_saturate(cases[i].format, cases[i].from), cases[i].saturated);
    }
    for (int format = 0; format < FORMATS; format++) {
        enum float_format f = (enum float_format)format;
        uint64_t infinity = soft_rcp(f, 0, ROUND_RN);
        assert_int_equal(soft_canonical_nan(f), layouts[f].nan);
        assert_true(soft_is_nan(f, layouts[f].nan));
        assert_true(soft_is_nan(f, infinity + 1));
        assert_false(soft_is_nan(f, infinity));
    }
}

/* Known by hand: a reference that shared a mistake with the code would not have these. */
static void test_known_values(void **state) {
    (void)state;
    assert_int_equal(soft_add(FLOAT_F32, 0x3f800000, 0xbf800000, ROUND_RN), 0x00000000);
    assert_int_equal(soft_add(FLOAT_F32, 0x3f800000, 0xbf800000, ROUND_RM), 0x80000000);
    assert_int_equal(soft_mul(FLOAT_F32, 0x00000000, 0x7f800000, ROUND_RN), 0x7fffffff);
    assert_int_equal(soft_sqrt(FLOAT_F32, 0x80000000, ROUND_RN), 0x80000000);
    assert_int_equal(soft_sqrt(FLOAT_F32, 0x40800000, ROUND_RN), 0x40000000);
    assert_int_equal(soft_mul(FLOAT_F32, 0x7f7fffff, 0x40000000, ROUND_RZ), 0x7f7fffff);
    assert_int_equal(soft_mul(FLOAT_F32, 0x7f7fffff, 0x40000000, ROUND_RN), 0x7f800000);
    /* 1 + 2^-11 + 2^-40 rounds up to f16 at once, but down by way of f32. */
    assert_int_equal(soft_convert(FLOAT_F16, FLOAT_F64, 0x3ff0020000001000, ROUND_RN), 0x3c01);
    assert_int_equal(soft_to_integer(FLOAT_F32, 0x7fc00000, ROUND_RZI, 32, true), 0);
    assert_int_equal(soft_to_integer(FLOAT_F32, 0x7fc00000, ROUND_RZI, 64, true), UINT64_C(0x8000000000000000));
    assert_int_equal(soft_to_integer(FLOAT_F64, 0x7ff8000000000000, ROUND_RZI, 32, false), 0x80000000);
    assert_int_equal(soft_to_integer(FLOAT_F32, 0xbf800000, ROUND_RZI, 32, true), 0xffffffff);
    assert_int_equal(soft_to_integer(FLOAT_F32, 0xbf800000, ROUND_RZI, 32, false), 0);
    assert_int_equal(soft_to_integer(FLOAT_F32, 0x4f800000, ROUND_RZI, 32, false), 0xffffffff);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values),       cmocka_unit_test(test_random_operands),
        cmocka_unit_test(test_fma_cancellation),   cmocka_unit_test(test_edge_pairs),
        cmocka_unit_test(test_every_f16),          cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_ties_away),          cmocka_unit_test(test_round_integral),
        cmocka_unit_test(test_to_integer),         cmocka_unit_test(test_from_integer),
        cmocka_unit_test(test_against_host),       cmocka_unit_test(test_min_max),
        cmocka_unit_test(test_flush_and_saturate),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    mpfr_free_cache();
    return failures;
}
