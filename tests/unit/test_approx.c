/* SPDX-License-Identifier: Apache-2.0 */
/* libraries: mpfr gmp */
/* The approximate functions against MPFR: errors in units of the last place, measured and bounded; special values from
 * the tables of the PTX ISA; and a checksum that every build of this file must reproduce. */
#include "exec/approx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>
#include <mpfr.h>

#include "random_bits.h"

enum { EXACT_BITS = 100 };

/* |actual - exact| in units of the last place that exact has in the format. */
static double error_units(mpfr_t exact, double actual, int precision, int exponent_min) {
    mpfr_t difference;
    mpfr_init2(difference, EXACT_BITS);
    mpfr_sub_d(difference, exact, actual, MPFR_RNDN);
    long top = mpfr_zero_p(exact) ? exponent_min : (long)mpfr_get_exp(exact) - 1;
    mpfr_mul_2si(difference, difference, precision - 1 - (top < exponent_min ? exponent_min : top), MPFR_RNDN);
    double units = mpfr_get_d(difference, MPFR_RNDU);
    mpfr_clear(difference);
    return units < 0 ? -units : units;
}

struct function {
    const char *name;
    float (*approx)(float);
    int (*exact)(mpfr_t, const mpfr_t, mpfr_rnd_t);
    bool positive_only;
    int exponent_low, exponent_high; /* of the operands tried most */
};

static int exact_rcp(mpfr_t result, const mpfr_t x, mpfr_rnd_t rounding) { return mpfr_ui_div(result, 1, x, rounding); }

/* The sine of 2 pi x + quarters of a turn: of pi/2 times what 4 x has beyond a whole number, which is exact. */
static int exact_turns(mpfr_t result, const mpfr_t x, long quarters, mpfr_rnd_t rounding) {
    mpfr_t whole, rest, four;
    mpfr_init2(whole, 200), mpfr_init2(rest, 200), mpfr_init2(four, 200);
    mpfr_set_ui(four, 4, MPFR_RNDN);
    mpfr_mul(rest, x, four, MPFR_RNDN);
    mpfr_rint(whole, rest, MPFR_RNDN);
    mpfr_sub(rest, rest, whole, MPFR_RNDN);
    mpfr_fmod(whole, whole, four, MPFR_RNDN);
    const unsigned quadrant = (unsigned)(mpfr_get_si(whole, MPFR_RNDN) + quarters) & 3;
    mpfr_const_pi(whole, MPFR_RNDN);
    mpfr_mul(rest, rest, whole, MPFR_RNDN);
    mpfr_div_ui(rest, rest, 2, MPFR_RNDN);
    if (quadrant & 1)
        mpfr_cos(result, rest, rounding);
    else
        mpfr_sin(result, rest, rounding);
    if (quadrant & 2)
        mpfr_neg(result, result, rounding);
    mpfr_clear(whole), mpfr_clear(rest), mpfr_clear(four);
    return 0;
}
static int exact_sin_turns(mpfr_t result, const mpfr_t x, mpfr_rnd_t rounding) {
    return exact_turns(result, x, 0, rounding);
}
static int exact_cos_turns(mpfr_t result, const mpfr_t x, mpfr_rnd_t rounding) {
    return exact_turns(result, x, 1, rounding);
}

static const struct function functions[] = {
    {"sin", approx_sin, mpfr_sin, false, -12, 12},
    {"cos", approx_cos, mpfr_cos, false, -12, 12},
    {"ex2", approx_ex2, mpfr_exp2, false, -24, 7},
    {"lg2", approx_lg2, mpfr_log2, true, -1, 1},
    {"tanh", approx_tanh, mpfr_tanh, false, -14, 4},
    {"rcp", approx_rcp, exact_rcp, false, -2, 2},
    {"rsqrt", approx_rsqrt, mpfr_rec_sqrt, true, -2, 2},
    {"sqrt", approx_sqrt, mpfr_sqrt, true, -2, 2},
    {"sin of turns", approx_sin_turns, exact_sin_turns, false, -12, 12},
    {"cos of turns", approx_cos_turns, exact_cos_turns, false, -12, 12},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* Three of four in the function's range, the rest any finite float. */
static float random_operand(const struct function *function) {
    for (;;) {
        uint64_t random = random_bits();
        uint32_t bits = (uint32_t)random;
        if (random >> 62 != 0) {
            uint64_t span = (uint64_t)(function->exponent_high - function->exponent_low);
            uint32_t biased = (uint32_t)(127 + function->exponent_low + (int)(random_bits() % span));
            bits = (bits & 0x807fffff) | biased << 23;
        }
        if (function->positive_only)
            bits &= 0x7fffffff;
        if ((bits & 0x7fffffff) < 0x7f800000 && (bits & 0x7fffffff) != 0)
            return approx_float(bits);
    }
}

struct accuracy {
    double worst;
    float worst_operand;
    unsigned tried, misrounded;
};

static void measure(const struct function *function, float x, struct accuracy *accuracy, mpfr_t operand, mpfr_t exact) {
    float actual = function->approx(x);
    mpfr_set_flt(operand, x, MPFR_RNDN);
    function->exact(exact, operand, MPFR_RNDN);
    float nearest = mpfr_get_flt(exact, MPFR_RNDN);
    accuracy->tried++;
    if (approx_bits(actual) == approx_bits(nearest) && !approx_is_finite(actual))
        return; /* both overflow */
    if (approx_bits(actual) != approx_bits(nearest))
        accuracy->misrounded++;
    double units = error_units(exact, (double)actual, 24, -126);
    if (!(units <= accuracy->worst)) {
        accuracy->worst = units;
        accuracy->worst_operand = x;
    }
}

/* The bound asserted, 0.5001 units, is a relative error below 2^-23.9 and, for results up to 1, an absolute one below
 * 2^-24.9. It implies those of the PTX ISA: sin and cos absolute 2^-20.5 in [-2pi, 2pi] and 2^-14.7 in
 * [-100pi, 100pi]; ex2 2 units; lg2 absolute 2^-22 in (0.5, 2), else relative 2^-22; tanh relative 2^-11; rcp 1 unit;
 * rsqrt relative 2^-22.9; sqrt relative 2^-23. */
static void test_accuracy(void **state) {
    (void)state;
    mpfr_t operand, exact;
    mpfr_init2(operand, 24);
    mpfr_init2(exact, EXACT_BITS);
    random_state = 30;
    for (size_t i = 0; i < FUNCTIONS; i++) {
        struct accuracy accuracy = {.worst = -1};
        for (int k = 0; k < 40000; k++)
            measure(&functions[i], random_operand(&functions[i]), &accuracy, operand, exact);
        print_message("%-6s largest error %.6f ulp (at %a), %u of %u not correctly rounded\n", functions[i].name,
                      accuracy.worst, (double)accuracy.worst_operand, accuracy.misrounded, accuracy.tried);
        assert_true(accuracy.worst <= 0.5001);
    }
    mpfr_clears(operand, exact, (mpfr_ptr)0);
}

/* Multiples of pi/2, rounded to float, are where argument reduction loses most; 16367173 * 2^72 is among the floats
 * closest to one. */
static void test_sine_near_zeros(void **state) {
    (void)state;
    mpfr_t operand, exact, half_pi;
    mpfr_init2(operand, 24);
    mpfr_init2(exact, EXACT_BITS);
    mpfr_init2(half_pi, 400);
    mpfr_const_pi(half_pi, MPFR_RNDN);
    mpfr_div_ui(half_pi, half_pi, 2, MPFR_RNDN);
    struct accuracy sine = {.worst = -1}, cosine = {.worst = -1};
    random_state = 31;
    for (int i = 0; i < 8000; i++) {
        uint64_t multiple = i < 4000 ? (uint64_t)i + 1 : random_bits() >> (random_bits() % 60);
        mpfr_mul_ui(operand, half_pi, (unsigned long)multiple, MPFR_RNDN);
        if (i >= 6000)
            mpfr_mul_2ui(operand, operand, random_bits() % 60, MPFR_RNDN);
        float x = mpfr_get_flt(operand, MPFR_RNDN);
        measure(&functions[0], x, &sine, operand, exact);
        measure(&functions[1], x, &cosine, operand, exact);
    }
    for (uint32_t biased = 127 + 19; biased < 255; biased++)
        for (int i = 0; i < 40; i++) {
            float x = approx_float(biased << 23 | (uint32_t)(random_bits() & 0x807fffff));
            measure(&functions[0], x, &sine, operand, exact);
            measure(&functions[1], x, &cosine, operand, exact);
        }
    float hard = approx_float((72 + 150) << 23 | (16367173 & 0x7fffff));
    measure(&functions[0], hard, &sine, operand, exact);
    measure(&functions[1], hard, &cosine, operand, exact);
    print_message("near multiples of pi/2: sin %.6f ulp, cos %.6f ulp\n", sine.worst, cosine.worst);
    assert_true(sine.worst <= 0.5001);
    assert_true(cosine.worst <= 0.5001);
    mpfr_clears(operand, exact, half_pi, (mpfr_ptr)0);
}

/* R is the rounded root of X exactly if (2R - 1)^2 < 4X < (2R + 1)^2 in integers; a tie cannot be. */
static void test_sqrt_is_exact_everywhere(void **state) {
    (void)state;
    for (uint32_t bits = UINT32_C(127) << 23; bits < UINT32_C(129) << 23; bits++) {
        uint64_t x = (uint64_t)((bits & 0x7fffff) | 0x800000) << (bits >> 23 == 127 ? 23 : 24);
        uint32_t root_bits = approx_bits(approx_sqrt(approx_float(bits)));
        uint64_t root = (root_bits & 0x7fffff) | 0x800000;
        if (root_bits >> 23 != 127 || (2 * root - 1) * (2 * root - 1) >= 4 * x ||
            (2 * root + 1) * (2 * root + 1) <= 4 * x)
            fail_msg("approx_sqrt of bits %x is %x, not correctly rounded", bits, root_bits);
    }
}

static float random_finite(void) {
    for (;;) {
        float x = approx_float((uint32_t)random_bits());
        if (approx_is_finite(x) && approx_magnitude(x) != 0)
            return x;
    }
}

static void test_division(void **state) {
    (void)state;
    mpfr_t a, b, exact;
    mpfr_inits2(24, a, b, (mpfr_ptr)0);
    mpfr_init2(exact, EXACT_BITS);
    random_state = 32;
    for (int i = 0; i < 100000; i++) {
        float x = random_finite(), y = random_finite();
        if (i % 2 != 0) /* quotients around the smallest normal number */
            y = approx_float((approx_bits(x) + (UINT32_C(126) << 23) + (uint32_t)(random_bits() & 0x3ffffff)) &
                             0x7fffffff);
        if (!approx_is_finite(y) || approx_magnitude(y) == 0)
            continue;
        mpfr_set_flt(a, x, MPFR_RNDN);
        mpfr_set_flt(b, y, MPFR_RNDN);
        mpfr_div(exact, a, b, MPFR_RNDN);
        uint32_t expected = approx_bits(mpfr_get_flt(exact, MPFR_RNDN));
        assert_int_equal(approx_bits(approx_div_full(x, y)), expected);
        bool beyond = approx_magnitude(y) > 0x7e800000;
        uint32_t sign = approx_sign(x) ^ approx_sign(y);
        assert_int_equal(approx_bits(approx_div(x, y)), beyond ? sign : expected);
    }
    mpfr_clears(a, b, exact, (mpfr_ptr)0);
    const float infinity = approx_float(APPROX_INFINITY), nan = approx_float(0xffc12345);
    assert_int_equal(approx_bits(approx_div(infinity, 0x1.8p126f)), APPROX_NAN);
    assert_int_equal(approx_bits(approx_div(infinity, 0x1p126f)), APPROX_INFINITY);
    assert_int_equal(approx_bits(approx_div(nan, 0x1.8p126f)), APPROX_NAN);
    assert_int_equal(approx_bits(approx_div(1.0f, nan)), APPROX_NAN);
    assert_int_equal(approx_bits(approx_div(-0x1p100f, 0x1.8p127f)), 0x80000000);
    assert_int_equal(approx_bits(approx_div(-1.0f, infinity)), 0x80000000);
    assert_int_equal(approx_bits(approx_div(-1.0f, 0.0f)), 0xff800000);
    assert_int_equal(approx_bits(approx_div(0.0f, 0.0f)), APPROX_NAN);
    assert_int_equal(approx_bits(approx_div_full(infinity, infinity)), APPROX_NAN);
    assert_int_equal(approx_bits(approx_div_full(0x1p100f, 0x1p127f)), approx_bits(0x1p-27f));
}

enum { MINUS_INFINITY, MINUS_NORMAL, MINUS_ZERO, PLUS_ZERO, PLUS_INFINITY, ANY_NAN, SPECIALS };
static const uint32_t special_operands[SPECIALS] = {0xff800000, 0xc0490fdb, 0x80000000, 0, 0x7f800000, 0xffc12345};

#define INFINITE UINT32_C(0x7f800000)
#define NEGATIVE_INFINITE UINT32_C(0xff800000)
#define NEGATIVE_ZERO UINT32_C(0x80000000)
#define ONE UINT32_C(0x3f800000)
#define NAN_BITS UINT32_C(0x7fffffff)
#define UNSPECIFIED UINT32_C(1) /* nothing special: an ordinary result */

static void test_special_values(void **state) {
    (void)state;
    static const struct {
        const char *name;
        float (*approx)(float);
        uint32_t results[SPECIALS];
    } cases[] = {
        {"sin", approx_sin, {NAN_BITS, UNSPECIFIED, NEGATIVE_ZERO, 0, NAN_BITS, NAN_BITS}},
        {"cos", approx_cos, {NAN_BITS, UNSPECIFIED, ONE, ONE, NAN_BITS, NAN_BITS}},
        {"ex2", approx_ex2, {0, UNSPECIFIED, ONE, ONE, INFINITE, NAN_BITS}},
        {"lg2", approx_lg2, {NAN_BITS, NAN_BITS, NEGATIVE_INFINITE, NEGATIVE_INFINITE, INFINITE, NAN_BITS}},
        {"tanh", approx_tanh, {0xbf800000, UNSPECIFIED, NEGATIVE_ZERO, 0, ONE, NAN_BITS}},
        {"rcp", approx_rcp, {NEGATIVE_ZERO, UNSPECIFIED, NEGATIVE_INFINITE, INFINITE, 0, NAN_BITS}},
        {"rsqrt", approx_rsqrt, {NAN_BITS, NAN_BITS, NEGATIVE_INFINITE, INFINITE, 0, NAN_BITS}},
        {"sqrt", approx_sqrt, {NAN_BITS, NAN_BITS, NEGATIVE_ZERO, 0, INFINITE, NAN_BITS}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < SPECIALS; k++) {
            uint32_t actual = approx_bits(cases[i].approx(approx_float(special_operands[k])));
            if (cases[i].results[k] != UNSPECIFIED && actual != cases[i].results[k])
                fail_msg("%s of bits %x: %x, expected %x", cases[i].name, special_operands[k], actual,
                         cases[i].results[k]);
        }
    /* Powers of two are exact, the ends of the range are met. */
    for (int exponent = -149; exponent <= 128; exponent++) {
        uint32_t power = exponent > 127    ? APPROX_INFINITY
                         : exponent < -126 ? UINT32_C(1) << (exponent + 149)
                                           : (uint32_t)(exponent + 127) << 23;
        assert_int_equal(approx_bits(approx_ex2((float)exponent)), power);
        if (exponent < 128)
            assert_true(approx_lg2(approx_float(power)) == (float)exponent);
    }
    assert_int_equal(approx_bits(approx_ex2(-150.5f)), 0);
    assert_int_equal(approx_bits(approx_ex2(-3e38f)), 0);
    assert_int_equal(approx_bits(approx_ex2(3e38f)), INFINITE);
    assert_int_equal(approx_bits(approx_flush(approx_float(0x807fffff))), NEGATIVE_ZERO);
    assert_int_equal(approx_bits(approx_flush(approx_float(0x00800000))), 0x00800000);
    for (uint32_t bits = 1; bits < 0x00800000; bits += 9973) /* subnormals pass through tanh and sin */
        for (uint32_t sign = 0; sign < 2; sign++) {
            assert_int_equal(approx_bits(approx_tanh(approx_float(sign << 31 | bits))), sign << 31 | bits);
            assert_int_equal(approx_bits(approx_sin(approx_float(sign << 31 | bits))), sign << 31 | bits);
        }
}

static void test_f64(void **state) {
    (void)state;
    mpfr_t operand, exact;
    mpfr_init2(operand, 53);
    mpfr_init2(exact, EXACT_BITS);
    double worst_rcp = 0, worst_rsqrt = 0, worst_full = 0;
    random_state = 33;
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = random_bits();
        double x = approx_double(bits), upper = approx_double(bits & UINT64_C(0xffffffff00000000));
        uint64_t biased = bits >> 52 & 2047, sign = bits & UINT64_C(1) << 63;
        if (biased == 2047)
            continue;
        uint64_t rcp = approx_bits64(approx_rcp_ftz_f64(x)), rsqrt = approx_bits64(approx_rsqrt_ftz_f64(x));
        assert_int_equal(rcp & 0xffffffff, 0);
        assert_int_equal(rsqrt & 0xffffffff, 0);
        if (biased == 0) {
            assert_int_equal(rcp, sign | UINT64_C(0x7ff0000000000000));
            assert_int_equal(rsqrt, sign | UINT64_C(0x7ff0000000000000));
            continue;
        }
        mpfr_set_d(operand, upper, MPFR_RNDN);
        mpfr_ui_div(exact, 1, operand, MPFR_RNDN);
        if (mpfr_get_exp(exact) - 1 < -1022)
            assert_int_equal(rcp, sign);
        else if (error_units(exact, approx_double(rcp), 21, -1022) > worst_rcp)
            worst_rcp = error_units(exact, approx_double(rcp), 21, -1022);
        if (sign != 0) {
            assert_int_equal(rsqrt, UINT64_C(0x7fffffff00000000));
            continue;
        }
        mpfr_rec_sqrt(exact, operand, MPFR_RNDN);
        double units = error_units(exact, approx_double(rsqrt), 21, -1022);
        worst_rsqrt = units > worst_rsqrt ? units : worst_rsqrt;
        double y = i % 16 == 0 ? approx_double(bits >> 12) : x; /* subnormal sometimes */
        mpfr_set_d(operand, y, MPFR_RNDN);
        mpfr_rec_sqrt(exact, operand, MPFR_RNDN);
        units = error_units(exact, approx_rsqrt_f64(y), 53, -1022);
        worst_full = units > worst_full ? units : worst_full;
    }
    print_message("rcp.ftz.f64 %.6f and rsqrt.ftz.f64 %.6f ulp of 21 bits, rsqrt.f64 %.6f ulp\n", worst_rcp,
                  worst_rsqrt, worst_full);
    assert_true(worst_rcp <= 0.5001);
    assert_true(worst_rsqrt <= 0.5001);
    assert_true(worst_full <= 0.5001);
    mpfr_clears(operand, exact, (mpfr_ptr)0);
    assert_int_equal(approx_bits64(approx_rcp_ftz_f64(approx_double(UINT64_C(0x7ff8000000000000)))), APPROX_NAN_UPPER);
    assert_int_equal(approx_bits64(approx_rcp_ftz_f64(approx_double(UINT64_C(0xfff0000000000000)))), UINT64_C(1) << 63);
    assert_int_equal(approx_bits64(approx_rsqrt_ftz_f64(approx_double(UINT64_C(0x7ff0000000000000)))), 0);
    assert_int_equal(approx_bits64(approx_rsqrt_f64(-1.0)), UINT64_C(0x7ff8000000000000));
    assert_int_equal(approx_bits64(approx_rsqrt_f64(-0.0)), UINT64_C(0xfff0000000000000));
}

/* Every f16 and bf16. The second rounding, from f32, costs at most 2^-14 units of f16 and 2^-17 of bf16. */
static void test_narrow_formats(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint16_t (*approx)(uint16_t);
        int (*exact)(mpfr_t, const mpfr_t, mpfr_rnd_t);
        enum float_format format;
        int precision, exponent_min;
    } cases[] = {
        {"ex2.f16", approx_ex2_f16, mpfr_exp2, FLOAT_F16, 11, -14},
        {"tanh.f16", approx_tanh_f16, mpfr_tanh, FLOAT_F16, 11, -14},
        {"ex2.bf16", approx_ex2_bf16, mpfr_exp2, FLOAT_BF16, 8, -126},
        {"tanh.bf16", approx_tanh_bf16, mpfr_tanh, FLOAT_BF16, 8, -126},
    };
    mpfr_t operand, exact;
    mpfr_init2(operand, 24);
    mpfr_init2(exact, EXACT_BITS);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double worst = 0;
        for (uint32_t bits = 0; bits < 65536; bits++) {
            uint16_t result = cases[i].approx((uint16_t)bits);
            if (soft_is_nan(cases[i].format, bits)) {
                assert_int_equal(result, 0x7fff);
                continue;
            }
            float x = approx_float((uint32_t)soft_convert(FLOAT_F32, cases[i].format, bits, ROUND_RN));
            float y = approx_float((uint32_t)soft_convert(FLOAT_F32, cases[i].format, result, ROUND_RN));
            mpfr_set_flt(operand, x, MPFR_RNDN);
            cases[i].exact(exact, operand, MPFR_RNDN);
            if (!approx_is_finite(y)) {
                float nearest = mpfr_get_flt(exact, MPFR_RNDN);
                uint64_t overflowed = soft_convert(cases[i].format, FLOAT_F32, approx_bits(nearest), ROUND_RN);
                assert_int_equal(result, overflowed);
                continue;
            }
            double units = error_units(exact, (double)y, cases[i].precision, cases[i].exponent_min);
            worst = units > worst ? units : worst;
        }
        print_message("%-9s largest error %.6f ulp, every operand\n", cases[i].name, worst);
        assert_true(worst <= 0.5001);
    }
    mpfr_clears(operand, exact, (mpfr_ptr)0);
}

/* ---- the same bits from every build ---- */

enum { LANES = 32 };

static uint64_t mix(uint64_t hash, uint64_t bits) { return (hash ^ bits) * UINT64_C(0x100000001b3); }

#define LANE_LOOP(name)                                                                                                \
    static uint64_t lanes_##name(uint64_t hash, const uint32_t *operands) {                                            \
        uint32_t results[LANES];                                                                                       \
        for (int lane = 0; lane < LANES; lane++)                                                                       \
            results[lane] = approx_bits(approx_##name(approx_float(operands[lane])));                                  \
        for (int lane = 0; lane < LANES; lane++)                                                                       \
            hash = mix(hash, results[lane]);                                                                           \
        return hash;                                                                                                   \
    }
LANE_LOOP(sin_near)
LANE_LOOP(cos_near)
LANE_LOOP(sin)
LANE_LOOP(cos)
LANE_LOOP(ex2)
LANE_LOOP(lg2)
LANE_LOOP(tanh)
LANE_LOOP(rcp)
LANE_LOOP(rsqrt)
LANE_LOOP(sqrt)
LANE_LOOP(flush)

static uint64_t lanes_division(uint64_t hash, const uint32_t *operands, const uint32_t *divisors) {
    uint32_t results[LANES];
    for (int lane = 0; lane < LANES; lane++)
        results[lane] = approx_bits(approx_div(approx_float(operands[lane]), approx_float(divisors[lane])));
    for (int lane = 0; lane < LANES; lane++)
        hash = mix(hash, results[lane]);
    return hash;
}

/* The doubles before they are rounded to float: they show a difference in the last bit that rounding nearly always
 * hides. */
static uint64_t lanes_kernels(uint64_t hash, const uint32_t *operands) {
    double results[3][LANES];
    for (int lane = 0; lane < LANES; lane++) {
        float x = approx_float(operands[lane]);
        struct approx_angle angle = approx_angle_near(x);
        results[0][lane] = angle.r;
        results[1][lane] = approx_ex2_kernel(angle.r);
        results[2][lane] = approx_rsqrt_kernel((double)approx_float(operands[lane] & 0x7fffffff));
    }
    for (int kernel = 0; kernel < 3; kernel++)
        for (int lane = 0; lane < LANES; lane++)
            hash = mix(hash, approx_bits64(results[kernel][lane]));
    return hash;
}

/* About 4.3 million results, in loops that optimising builds turn into vector code. The constant was the same from
 * gcc 12 and clang 19, -O0 to -O3, SSE2, AVX2 and AVX-512; with -ffp-contract=fast it is another. */
static void test_checksum(void **state) {
    (void)state;
    static uint64_t (*const loops[])(uint64_t, const uint32_t *) = {lanes_sin,   lanes_cos,  lanes_ex2,
                                                                    lanes_lg2,   lanes_tanh, lanes_rcp,
                                                                    lanes_rsqrt, lanes_sqrt, lanes_flush};
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    random_state = 34;
    for (int round = 0; round < 9000; round++) {
        uint32_t operands[LANES], near[LANES], divisors[LANES];
        for (int lane = 0; lane < LANES; lane++) {
            uint64_t random = random_bits();
            uint32_t moderate = 100 + (uint32_t)(random >> 56) % 47; /* 2^-27 to 2^20 */
            near[lane] = ((uint32_t)random & 0x807fffff) | moderate << 23;
            operands[lane] = round % 2 != 0 ? (uint32_t)random : near[lane];
            divisors[lane] = (uint32_t)(random >> 32);
        }
        for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
            hash = loops[i](hash, operands);
        hash = lanes_sin_near(hash, near);
        hash = lanes_cos_near(hash, near);
        hash = lanes_kernels(hash, near);
        hash = lanes_division(hash, operands, divisors);
        hash = mix(hash, approx_bits64(approx_rsqrt_f64(approx_double((uint64_t)divisors[0] << 32 | near[0]))));
        hash = mix(hash, approx_bits64(approx_rcp_ftz_f64(approx_double((uint64_t)divisors[1] << 32 | near[1]))));
    }
    print_message("checksum %016llx\n", (unsigned long long)hash);
    assert_int_equal(hash, UINT64_C(0xa05c8f99f5fae74f));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_special_values),  cmocka_unit_test(test_accuracy),
        cmocka_unit_test(test_sine_near_zeros), cmocka_unit_test(test_sqrt_is_exact_everywhere),
        cmocka_unit_test(test_division),        cmocka_unit_test(test_f64),
        cmocka_unit_test(test_narrow_formats),  cmocka_unit_test(test_checksum),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    mpfr_free_cache();
    return failures;
}
