/* SPDX-License-Identifier: Apache-2.0 */
#include "math.h"
#include <limits.h>

const struct float_type float_types[FLOAT_TYPE_COUNT] = {{"float", "uint", 4, 24, 128},
                                                         {"double", "ulong", 8, 53, 1024},
                                                         {"half", "ushort", 2, 11, 16}};

const struct math_function math_functions[] = {
#define MATH(name, form, single, twice, half, call) {#name, FORM_##form, {single, twice, half}},
#include "math.def"
#undef MATH
};
const unsigned math_function_count = sizeof math_functions / sizeof *math_functions;

void math_decode(mpfr_t out, uint64_t bits, const struct float_type *type) {
    const unsigned width = 8 * type->bytes, fraction_bits = (unsigned)type->digits - 1;
    const uint64_t fraction = bits & ((UINT64_C(1) << fraction_bits) - 1);
    const int exponents = 2 * type->top;
    const int exponent = (int)(bits >> fraction_bits & (uint64_t)(exponents - 1));
    const int sign = bits >> (width - 1) & 1 ? -1 : 1;
    if (exponent == exponents - 1) {
        if (fraction)
            mpfr_set_nan(out);
        else
            mpfr_set_inf(out, sign);
        mpfr_setsign(out, out, sign < 0, MPFR_RNDN);
        return;
    }
    const uint64_t whole = exponent ? fraction | UINT64_C(1) << fraction_bits : fraction;
    if (!whole) {
        mpfr_set_zero(out, sign);
        return;
    }
    mpfr_set_uj_2exp(out, whole, (exponent ? exponent : 1) - (type->top - 1) - (int)fraction_bits, MPFR_RNDN);
    if (sign < 0)
        mpfr_neg(out, out, MPFR_RNDN);
}

/* Exponent of the spacing of the type's numbers at a value below 2^exponent. */
static long spacing(long exponent, const struct float_type *type) {
    const long least = 3 - type->top - type->digits;
    return exponent - type->digits < least ? least : exponent - type->digits;
}

void math_round(mpfr_t value, const struct float_type *type) {
    if (!mpfr_regular_p(value))
        return;
    const long unit = spacing(mpfr_get_exp(value), type);
    const int sign = mpfr_signbit(value) ? -1 : 1;
    mpfr_mul_2si(value, value, -unit, MPFR_RNDN);
    mpfr_rint(value, value, MPFR_RNDN); /* to even: mpfr_rint with MPFR_RNDN says so */
    mpfr_mul_2si(value, value, unit, MPFR_RNDN);
    if (mpfr_zero_p(value))
        mpfr_set_zero(value, sign);
    else if (mpfr_get_exp(value) > type->top)
        mpfr_set_inf(value, sign);
}

/* Multiples of pi: an argument whose half is an integer many times over is an even one, whatever its size. */
static void reference_sinpi(mpfr_t r, mpfr_srcptr x) {
    mpfr_sinpi(r, x, MPFR_RNDN);
    if (mpfr_zero_p(r)) /* of the sign of x */
        mpfr_copysign(r, r, x, MPFR_RNDN);
}

static void reference_cospi(mpfr_t r, mpfr_srcptr x) {
    mpfr_cospi(r, x, MPFR_RNDN);
    if (mpfr_zero_p(r))
        mpfr_set_zero(r, 1);
}

static void reference_tanpi(mpfr_t r, mpfr_srcptr x) {
    mpfr_t twice;
    mpfr_init2(twice, mpfr_get_prec(x) + 2);
    mpfr_mul_2ui(twice, x, 1, MPFR_RNDN);
    if (!mpfr_number_p(x) || !mpfr_integer_p(twice)) {
        mpfr_tanpi(r, x, MPFR_RNDN);
    } else {
        /* n and n + 1/2: +0 and +inf where n is even (of the sign of x for integers), else the opposite */
        mpfr_t quarter;
        mpfr_init2(quarter, mpfr_get_prec(x) + 2);
        const bool whole = mpfr_integer_p(x);
        mpfr_rint_floor(quarter, x, MPFR_RNDN);
        mpfr_div_2ui(quarter, quarter, 1, MPFR_RNDN);
        const bool even = mpfr_integer_p(quarter);
        const int sign = even ? 1 : -1;
        if (whole)
            mpfr_set_zero(r, mpfr_signbit(x) ? -sign : sign);
        else
            mpfr_set_inf(r, sign);
        mpfr_clear(quarter);
    }
    mpfr_clear(twice);
}

/* As OpenCL has it, which is IEEE 754's: pow of no negative numbers, and no exceptions for what has no limit. */
static void reference_powr(mpfr_t r, mpfr_srcptr x, mpfr_srcptr y) {
    if (mpfr_nan_p(x) || mpfr_nan_p(y) || mpfr_cmp_ui(x, 0) < 0 ||
        (mpfr_zero_p(y) && (mpfr_zero_p(x) || mpfr_inf_p(x))) || (mpfr_inf_p(y) && mpfr_cmp_ui(x, 1) == 0)) {
        mpfr_set_nan(r);
        return;
    }
    mpfr_abs(r, x, MPFR_RNDN); /* -0 is 0 */
    mpfr_pow(r, r, y, MPFR_RNDN);
}

/* Rounded once: the exact sum, from a product of the smallest numbers to the largest number, fits. */
static void reference_fma(mpfr_t r, mpfr_srcptr x, mpfr_srcptr y, mpfr_srcptr z, const struct float_type *type) {
    mpfr_t exact;
    mpfr_init2(exact, 4 * type->top + 64);
    mpfr_fma(exact, x, y, z, MPFR_RNDN);
    math_round(exact, type);
    mpfr_set(r, exact, MPFR_RNDN);
    mpfr_clear(exact);
}

static void reference_rsqrt(mpfr_t r, mpfr_srcptr x) {
    mpfr_rec_sqrt(r, x, MPFR_RNDN);
    if (mpfr_zero_p(x)) /* 1 / sqrt(-0) */
        mpfr_copysign(r, r, x, MPFR_RNDN);
}

static void reference_fract(mpfr_t r, mpfr_t s, mpfr_srcptr x, const struct float_type *type) {
    if (mpfr_nan_p(x)) {
        mpfr_set_nan(r);
        mpfr_set_nan(s);
        return;
    }
    mpfr_rint_floor(s, x, MPFR_RNDN);
    if (mpfr_inf_p(x) || mpfr_zero_p(x)) {
        mpfr_set_zero(r, mpfr_signbit(x) ? -1 : 1);
        return;
    }
    mpfr_t most;
    mpfr_init2(most, mpfr_get_prec(r));
    mpfr_set_ui(most, 1, MPFR_RNDN);
    mpfr_set_ui_2exp(most, (1ul << (type->digits < 53 ? type->digits : 53)) - 1, -type->digits, MPFR_RNDN);
    mpfr_sub(r, x, s, MPFR_RNDN);
    math_round(r, type);
    if (mpfr_cmp(r, most) > 0)
        mpfr_set(r, most, MPFR_RNDN);
    mpfr_clear(most);
}

static void reference_frexp(mpfr_t r, long *m, mpfr_srcptr x) {
    mpfr_set(r, x, MPFR_RNDN);
    *m = 0;
    if (mpfr_regular_p(x)) {
        *m = mpfr_get_exp(x);
        mpfr_mul_2si(r, x, -*m, MPFR_RNDN);
    }
}

static void reference_ilogb(long *m, mpfr_srcptr x) {
    *m = mpfr_nan_p(x) || mpfr_inf_p(x) ? INT_MAX : mpfr_zero_p(x) ? INT_MIN : mpfr_get_exp(x) - 1;
}

static void reference_logb(mpfr_t r, mpfr_srcptr x) {
    if (mpfr_nan_p(x))
        mpfr_set_nan(r);
    else if (mpfr_inf_p(x))
        mpfr_set_inf(r, 1);
    else if (mpfr_zero_p(x))
        mpfr_set_inf(r, -1);
    else
        mpfr_set_si(r, mpfr_get_exp(x) - 1, MPFR_RNDN);
}

static void reference_lgamma(mpfr_t r, long *m, mpfr_srcptr x) {
    int sign = 0;
    mpfr_lgamma(r, &sign, x, MPFR_RNDN);
    /* The sign of gamma at its poles, and of NaN, is left open: 0 asks for nothing. */
    *m = mpfr_number_p(r) || (mpfr_inf_p(x) && !mpfr_signbit(x)) ? sign : 0;
}

static void reference_magnitude(mpfr_t r, mpfr_srcptr x, mpfr_srcptr y, int larger) {
    if (!mpfr_nan_p(x) && !mpfr_nan_p(y)) {
        const int order = mpfr_cmpabs(x, y) * larger;
        if (order != 0) {
            mpfr_set(r, order > 0 ? x : y, MPFR_RNDN);
            return;
        }
    }
    if (larger > 0)
        mpfr_max(r, x, y, MPFR_RNDN);
    else
        mpfr_min(r, x, y, MPFR_RNDN);
}

static void reference_modf(mpfr_t r, mpfr_t s, mpfr_srcptr x) {
    mpfr_modf(s, r, x, MPFR_RNDN);
    if (mpfr_zero_p(r)) /* of the sign of x, also behind an infinity */
        mpfr_set_zero(r, mpfr_signbit(x) ? -1 : 1);
}

static void reference_nextafter(mpfr_t r, mpfr_srcptr x, mpfr_srcptr y, const struct float_type *type) {
    if (mpfr_nan_p(x) || mpfr_nan_p(y)) {
        mpfr_set_nan(r);
        return;
    }
    const int order = mpfr_cmp(y, x);
    mpfr_set(r, order ? x : y, MPFR_RNDN);
    if (!order)
        return;
    if (mpfr_inf_p(x)) { /* the largest number */
        const int sign = mpfr_signbit(x) ? -1 : 1;
        mpfr_t unit;
        mpfr_init2(unit, 16);
        mpfr_set_si_2exp(r, sign, type->top, MPFR_RNDN);
        mpfr_set_si_2exp(unit, -sign, type->top - type->digits, MPFR_RNDN);
        mpfr_add(r, r, unit, MPFR_RNDN);
        mpfr_clear(unit);
        return;
    }
    const long least = spacing(LONG_MIN / 2, type);
    long unit = mpfr_zero_p(x) ? least : spacing(mpfr_get_exp(x), type);
    /* Towards zero from a power of two the numbers lie closer. */
    if (mpfr_regular_p(x) && (order > 0) == mpfr_signbit(x) && mpfr_cmpabs_ui(x, 0) > 0 && mpfr_min_prec(x) == 1 &&
        unit > least)
        unit--;
    mpfr_t by;
    mpfr_init2(by, 16);
    mpfr_set_si_2exp(by, order > 0 ? 1 : -1, unit, MPFR_RNDN);
    mpfr_add(r, x, by, MPFR_RNDN);
    if (mpfr_zero_p(r))
        mpfr_set_zero(r, mpfr_signbit(x) ? -1 : 1);
    mpfr_clear(by);
}

static void reference_remquo(mpfr_t r, long *m, mpfr_srcptr x, mpfr_srcptr y) {
    *m = 0;
    mpfr_remquo(r, m, x, y, MPFR_RNDN);
    if (mpfr_nan_p(r))
        *m = 0;
}

static void reference_sincos(mpfr_t r, mpfr_t s, mpfr_srcptr x) { mpfr_sin_cos(r, s, x, MPFR_RNDN); }

static void reference_degrees(mpfr_t r, mpfr_srcptr x) {
    mpfr_t pi;
    mpfr_init2(pi, mpfr_get_prec(r));
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_mul_ui(r, x, 180, MPFR_RNDN);
    mpfr_div(r, r, pi, MPFR_RNDN);
    mpfr_clear(pi);
}

static void reference_radians(mpfr_t r, mpfr_srcptr x) {
    mpfr_t pi;
    mpfr_init2(pi, mpfr_get_prec(r));
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_mul(r, x, pi, MPFR_RNDN);
    mpfr_div_ui(r, r, 180, MPFR_RNDN);
    mpfr_clear(pi);
}

static void reference_sign(mpfr_t r, mpfr_srcptr x) {
    if (mpfr_nan_p(x))
        mpfr_set_zero(r, 1);
    else if (mpfr_zero_p(x))
        mpfr_set(r, x, MPFR_RNDN);
    else
        mpfr_set_si(r, mpfr_sgn(x), MPFR_RNDN);
}

static void reference_step(mpfr_t r, mpfr_srcptr x, mpfr_srcptr y) {
    mpfr_set_ui(r, mpfr_less_p(y, x) ? 0 : 1, MPFR_RNDN);
}

/* One case per function: the table is the only place where a function is named. */
enum {
#define MATH(name, form, single, twice, half, call) CASE_##name,
#include "math.def"
#undef MATH
};

void math_reference(unsigned function, const struct float_type *type, mpfr_t r, mpfr_t s, long *m, mpfr_srcptr x,
                    mpfr_srcptr y, mpfr_srcptr z, long n) {
    switch (function) {
#define MATH(name, form, single, twice, half, call)                                                                    \
    case CASE_##name:                                                                                                  \
        call;                                                                                                          \
        break;
#include "math.def"
#undef MATH
    default: mpfr_set_nan(r);
    }
}
