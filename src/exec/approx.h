/* SPDX-License-Identifier: Apache-2.0 */
/* The approximate functions of PTX (.approx, .full): fixed sequences of double-precision operations, rounded once to
 * the result's format. Only + - * / and integer operations on the bits, no library, so every compiler,
 * optimisation level and vector width gives the same bits as long as contraction is off (-ffp-contract=off) and the
 * host rounds to nearest with subnormals. tests/unit/test_approx.c holds the errors measured against MPFR: about half
 * a unit in the last place, well inside the bounds of the PTX ISA; a real GPU differs from these results within
 * those bounds.
 *
 * The functions on float are straight-line, with selections on integer bits, so that a loop over lanes becomes vector
 * code. Sine and cosine of |x| >= 2^20 need a branch: loop over approx_sin_near, then, if approx_is_far held for any
 * lane, replace those lanes with approx_sin. approx_sin alone is right for every input.
 *
 * NaN results are canonical. Subnormals are kept; for .ftz write approx_flush(approx_ex2(approx_flush(x))). */
#ifndef HEDDLE_EXEC_APPROX_H
#define HEDDLE_EXEC_APPROX_H

#include "exec/softfloat.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t approx_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float approx_float(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t approx_bits64(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double approx_double(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define APPROX_NAN UINT32_C(0x7fffffff)
#define APPROX_INFINITY UINT32_C(0x7f800000)
/* Of a .ftz.f64 instruction, whose results are the upper word alone. */
#define APPROX_NAN_UPPER UINT64_C(0x7fffffff00000000)
/* Added to a double below 2^51, it leaves the nearest integer in the low bits of the sum. */
#define APPROX_SHIFTER 0x1.8p52

static inline uint32_t approx_magnitude(float x) { return approx_bits(x) & 0x7fffffff; }
static inline uint32_t approx_sign(float x) { return approx_bits(x) & 0x80000000; }
/* Signed, as SSE2 compares no unsigned integers. */
static inline bool approx_is_nan(float x) { return (int32_t)approx_magnitude(x) > (int32_t)APPROX_INFINITY; }

/* condition ? yes : no, in bit operations: compilers turn ?: into a branch around the work it makes superfluous, and
 * a loop with a branch around arithmetic does not become vector code. */
static inline uint32_t approx_choose(bool condition, uint32_t yes, uint32_t no) {
    uint32_t mask = 0 - (uint32_t)condition;
    return (yes & mask) | (no & ~mask);
}

/* |x|, at most limit; a NaN becomes the limit. */
static inline float approx_magnitude_limited(float x, float limit) {
    uint32_t magnitude = approx_magnitude(x), most = approx_bits(limit);
    return approx_float(approx_choose((int32_t)magnitude > (int32_t)most, most, magnitude));
}

/* A subnormal becomes the zero of its sign. */
static inline float approx_flush(float x) {
    uint32_t bits = approx_bits(x);
    return approx_float(approx_choose((int32_t)(bits & 0x7fffffff) < 0x00800000, bits & 0x80000000, bits));
}

static inline float approx_canonical(float result, bool is_nan) {
    return approx_float(approx_choose(is_nan, APPROX_NAN, approx_bits(result)));
}

/* ---- reciprocal and division ---- */

/* A quotient of two floats rounded to double and then to float is the correctly rounded one (53 >= 2 * 24 + 2). */
static inline float approx_div_full(float a, float b) {
    float quotient = (float)((double)a / (double)b);
    return approx_canonical(quotient, approx_is_nan(quotient));
}

static inline float approx_rcp(float x) { return approx_div_full(1.0f, x); }

/* PTX: "For 2^126 < |b| < 2^128, if a is infinity, div.approx.f32 returns NaN, otherwise it returns a sign-preserving
 * zero" (the reciprocal of such a b is subnormal and taken as zero). */
static inline float approx_div(float a, float b) {
    uint32_t quotient = approx_bits(approx_div_full(a, b));
    uint32_t zero = approx_sign(a) ^ approx_sign(b);
    uint32_t tiny = approx_choose((int32_t)approx_magnitude(a) >= (int32_t)APPROX_INFINITY, APPROX_NAN, zero);
    uint32_t magnitude = approx_magnitude(b);
    bool beyond = ((int32_t)magnitude > 0x7e800000) & ((int32_t)magnitude < (int32_t)APPROX_INFINITY);
    return approx_float(approx_choose(beyond, tiny, quotient));
}

/* ---- square root ---- */

/* 1 / sqrt(x) for a normal positive double, relative error about 2^-52. The first guess, from halving the exponent,
 * is within 3.5 %; each Newton step squares that. */
static inline double approx_rsqrt_kernel(double x) {
    double half = 0.5 * x;
    double r = approx_double(UINT64_C(0x5fe6eb50c7b537a9) - (approx_bits64(x) >> 1));
    r = r * (1.5 - half * r * r);
    r = r * (1.5 - half * r * r);
    r = r * (1.5 - half * r * r);
    r = r + r * (0.5 - half * r * r);
    return r;
}

static inline float approx_rsqrt(float x) {
    uint32_t result = approx_bits((float)approx_rsqrt_kernel((double)x));
    uint32_t magnitude = approx_magnitude(x), sign = approx_sign(x);
    result = approx_choose(magnitude == APPROX_INFINITY, 0, result);
    result = approx_choose(sign != 0, APPROX_NAN, result);
    result = approx_choose(magnitude == 0, sign | APPROX_INFINITY, result);
    return approx_canonical(approx_float(result), approx_is_nan(x));
}

/* Correctly rounded: the test compares every significand of two binades, and scaling by 4 is exact. */
static inline float approx_sqrt(float x) {
    double wide = (double)x;
    double r = approx_rsqrt_kernel(wide);
    double root = wide * r;
    root = root + 0.5 * r * (wide - root * root);
    uint32_t result = approx_bits((float)root);
    uint32_t magnitude = approx_magnitude(x), sign = approx_sign(x);
    result = approx_choose(sign != 0, APPROX_NAN, result);
    result = approx_choose((magnitude == 0) | (approx_bits(x) == APPROX_INFINITY), approx_bits(x), result);
    return approx_canonical(approx_float(result), approx_is_nan(x));
}

/* ---- exponential and logarithm to base 2 ---- */

/* (2^r - 1) / r for |r| <= 0.5; Chebyshev approximation, error 2^-56. */
static inline double approx_ex2_kernel(double r) {
    double q = 0x1.e9d3fe7bb0db4p-32;
    q = q * r + 0x1.e6063fbfea44dp-28;
    q = q * r + 0x1.b524fae606540p-24;
    q = q * r + 0x1.62bfd4774c4c2p-20;
    q = q * r + 0x1.ffcbfc670dd82p-17;
    q = q * r + 0x1.430913096fe6bp-13;
    q = q * r + 0x1.5d87fe78a5276p-10;
    q = q * r + 0x1.3b2ab6fba1ddap-7;
    q = q * r + 0x1.c6b08d704a0c2p-5;
    q = q * r + 0x1.ebfbdff82c598p-3;
    return q * r + 0x1.62e42fefa39efp-1;
}

static inline float approx_ex2(float x) {
    /* 2^-160 rounds to 0, 2^160 to infinity. */
    double wide = (double)approx_float(approx_bits(approx_magnitude_limited(x, 160.0f)) | approx_sign(x));
    double shifted = wide + APPROX_SHIFTER;
    double r = wide - (shifted - APPROX_SHIFTER);
    double fraction = 1.0 + r * approx_ex2_kernel(r);
    double result = approx_double(approx_bits64(fraction) + (approx_bits64(shifted) << 52));
    return approx_canonical((float)result, approx_is_nan(x));
}

/* x = 2^k m with m in [sqrt(1/2), sqrt(2)); log2(m) from the series of atanh in s = (m - 1) / (m + 1), as Chebyshev
 * approximation in s^2 with error 2^-58. */
static inline float approx_lg2(float x) {
    uint64_t bits = approx_bits64((double)x);
    const uint64_t root_half = UINT64_C(0x3fe6a09e00000000), bias = UINT64_C(1024) << 52;
    uint64_t exponent = (bits - root_half + bias) >> 52;
    double m = approx_double(bits - (exponent << 52) + bias);
    double k = approx_double(exponent | approx_bits64(0x1p52)) - (0x1p52 + 1024.0);
    double s = (m - 1.0) / (m + 1.0);
    double z = s * s;
    double q = 0x1.b592df615a8b0p-3;
    q = q * z + 0x1.c46e1323fc401p-3;
    q = q * z + 0x1.0ca16067cc6a6p-2;
    q = q * z + 0x1.484afb7a4e6a6p-2;
    q = q * z + 0x1.a61762d693cf2p-2;
    q = q * z + 0x1.2776c50ee39dap-1;
    q = q * z + 0x1.ec709dc3a047dp-1;
    q = q * z + 0x1.71547652b82fep+1;
    uint32_t result = approx_bits((float)(k + s * q));
    result = approx_choose(approx_bits(x) == APPROX_INFINITY, APPROX_INFINITY, result);
    result = approx_choose(approx_sign(x) != 0, APPROX_NAN, result);
    result = approx_choose(approx_magnitude(x) == 0, 0x80000000 | APPROX_INFINITY, result);
    return approx_canonical(approx_float(result), approx_is_nan(x));
}

/* ---- hyperbolic tangent ---- */

/* With e = exp(2|x|) - 1, tanh|x| = e / (e + 2): no cancellation for small |x|. */
static inline float approx_tanh(float x) {
    /* tanh(20) is 1 to within 2^-56; the factor is 2 log2(e). */
    double power = (double)approx_magnitude_limited(x, 20.0f) * 0x1.71547652b82fep+1;
    double shifted = power + APPROX_SHIFTER;
    double r = power - (shifted - APPROX_SHIFTER);
    double scale = approx_double((approx_bits64(shifted) + 1023) << 52);
    double e = r * approx_ex2_kernel(r) * scale + (scale - 1.0);
    uint32_t result = approx_bits((float)(e / (e + 2.0))) | approx_sign(x);
    return approx_canonical(approx_float(result), approx_is_nan(x));
}

/* ---- sine and cosine ---- */

/* An angle of quadrant * pi/2 + r; only the low two bits of the quadrant count. */
struct approx_angle {
    uint64_t quadrant;
    double r;
};

/* For |x| < 2^20: pi/2 in three parts, the first two of 33 bits, so that their products with the quadrant are exact
 * and r is right to about 2^-52 of itself. */
static inline struct approx_angle approx_angle_near(float x) {
    double wide = (double)x;
    double shifted = wide * 0x1.45f306dc9c883p-1 + APPROX_SHIFTER;
    double n = shifted - APPROX_SHIFTER;
    double r = wide - n * 0x1.921fb544p+0 - n * 0x1.0b4611a6p-34 - n * 0x1.3198a2e037073p-69;
    return (struct approx_angle){approx_bits64(shifted), r};
}

/* For 2^20 <= |x| < 2^128: x times 2/pi modulo 4 in integers. x is m * 2^e; of 2/pi * 2^e only the 104 bits from 2^1
 * down to 2^-102 are needed: higher ones make whole turns, lower ones change the angle by less than 2^-78. */
static inline struct approx_angle approx_angle_far(float x) {
    static const uint64_t two_over_pi[] = {
        /* after 64 bits of zero */
        0,
        UINT64_C(0xa2f9836e4e441529),
        UINT64_C(0xfc2757d1f534ddc0),
        UINT64_C(0xdb6295993c439041),
        UINT64_C(0xfe5163abdebbc561),
    };
    __extension__ typedef unsigned __int128 wide;
    uint32_t magnitude = approx_magnitude(x);
    unsigned first = 64 + (magnitude >> 23) - 150 - 2; /* index of the bit that e moves to 2^1, from 59 to 166 */
    unsigned word = first / 64, shift = first % 64;
    wide window = (wide)two_over_pi[word] << 64 | two_over_pi[word + 1];
    if (shift != 0)
        window = window << shift | two_over_pi[word + 2] >> (64 - shift);
    wide turns = (window >> 24) * ((magnitude & 0x7fffff) | 0x800000); /* modulo 4: the top two bits are whole */
    turns <<= 24;
    uint64_t quadrant = (uint64_t)((turns + ((wide)1 << 125)) >> 126);
    wide fraction = turns << 2; /* in two's complement, of one quadrant */
    bool negative = fraction >> 127 != 0;
    fraction = negative ? 0 - fraction : fraction;
    uint64_t high = (uint64_t)(fraction >> 64);
    unsigned zeros = high != 0 ? (unsigned)__builtin_clzll(high) : 0;
    uint64_t significand = (uint64_t)(fraction << zeros >> 64) >> 11; /* 53 bits: exact as a double */
    double r = (double)(int64_t)significand * approx_double((uint64_t)(1023 - 53 - zeros) << 52) * 0x1.921fb54442d18p+0;
    bool flip = negative != (approx_sign(x) != 0);
    return (struct approx_angle){approx_sign(x) != 0 ? 0 - quadrant : quadrant, flip ? -r : r};
}

/* Chebyshev approximations for |r| <= pi/4, errors 2^-55 and 2^-59; both are computed and one is chosen. */
static inline float approx_sine_of(uint64_t quadrant, double r) {
    double z = r * r;
    double s = 0x1.5e0b19c752b8ep-33;
    s = s * z - 0x1.ae600b022d198p-26;
    s = s * z + 0x1.71de3796898c8p-19;
    s = s * z - 0x1.a01a019e83aa8p-13;
    s = s * z + 0x1.1111111110bb2p-7;
    s = s * z - 0x1.5555555555555p-3;
    s = r * (1.0 + z * s); /* keeps the sign of a zero */
    double c = -0x1.907da33638fbcp-37;
    c = c * z + 0x1.1eeb68e8f6cdfp-29;
    c = c * z - 0x1.27e4fa17d9c81p-22;
    c = c * z + 0x1.a01a019f4eafdp-16;
    c = c * z - 0x1.6c16c16c16967p-10;
    c = c * z + 0x1.5555555555555p-5;
    c = 1.0 - 0.5 * z + z * z * c;
    uint64_t odd = 0 - (quadrant & 1);
    uint64_t bits = (approx_bits64(s) & ~odd) | (approx_bits64(c) & odd);
    return (float)approx_double(bits ^ (quadrant & 2) << 62);
}

/* Finite, and beyond the functions ending in _near. */
static inline bool approx_is_far(float x) {
    int32_t magnitude = (int32_t)approx_magnitude(x);
    return (magnitude >= 0x49800000) & (magnitude < (int32_t)APPROX_INFINITY);
}

static inline bool approx_is_finite(float x) { return (int32_t)approx_magnitude(x) < (int32_t)APPROX_INFINITY; }

static inline float approx_sin_near(float x) {
    struct approx_angle angle = approx_angle_near(x);
    return approx_canonical(approx_sine_of(angle.quadrant, angle.r), !approx_is_finite(x));
}

static inline float approx_cos_near(float x) {
    struct approx_angle angle = approx_angle_near(x);
    return approx_canonical(approx_sine_of(angle.quadrant + 1, angle.r), !approx_is_finite(x));
}

static inline float approx_sin(float x) {
    if (!approx_is_far(x))
        return approx_sin_near(x);
    struct approx_angle angle = approx_angle_far(x);
    return approx_sine_of(angle.quadrant, angle.r);
}

static inline float approx_cos(float x) {
    if (!approx_is_far(x))
        return approx_cos_near(x);
    struct approx_angle angle = approx_angle_far(x);
    return approx_sine_of(angle.quadrant + 1, angle.r);
}

/* Of 2 pi x: the quarters of a turn are exact. From 2^24 on x is whole. */
static inline struct approx_angle approx_angle_turns(float x) {
    uint32_t is_small = (int32_t)approx_magnitude(x) < 0x4b800000;
    double quarters = 4.0 * (double)approx_float(approx_choose(is_small, approx_bits(x), approx_sign(x)));
    double shifted = quarters + APPROX_SHIFTER;
    double r = quarters - (shifted - APPROX_SHIFTER);
    return (struct approx_angle){approx_bits64(shifted), r * 0x1.921fb54442d18p+0};
}

static inline float approx_sin_turns(float x) {
    struct approx_angle angle = approx_angle_turns(x);
    return approx_canonical(approx_sine_of(angle.quadrant, angle.r), !approx_is_finite(x));
}

static inline float approx_cos_turns(float x) {
    struct approx_angle angle = approx_angle_turns(x);
    return approx_canonical(approx_sine_of(angle.quadrant + 1, angle.r), !approx_is_finite(x));
}

/* ---- f64 ---- */

/* The upper word of a double in 1.11.20 format, rounded to nearest, subnormals flushed. */
static inline double approx_upper(double x) {
    uint64_t bits = approx_bits64(x);
    uint64_t rounded = (bits + UINT64_C(0x80000000)) & UINT64_C(0xffffffff00000000);
    return approx_double((bits & UINT64_C(0x7ff0000000000000)) == 0 ? bits & UINT64_C(0x8000000000000000) : rounded);
}

/* The operand of such an instruction: lower word ignored, subnormals flushed. */
static inline uint64_t approx_upper_operand(double x) {
    uint64_t bits = approx_bits64(x) & UINT64_C(0xffffffff00000000);
    return (bits & UINT64_C(0x7ff0000000000000)) == 0 ? bits & UINT64_C(0x8000000000000000) : bits;
}

/* rcp.approx.ftz.f64: the result is the nearest of its format. */
static inline double approx_rcp_ftz_f64(double x) {
    uint64_t bits = approx_upper_operand(x);
    if ((bits & INT64_MAX) > UINT64_C(0x7ff0000000000000))
        return approx_double(APPROX_NAN_UPPER);
    return approx_upper(1.0 / approx_double(bits));
}

/* rsqrt.approx.ftz.f64 */
static inline double approx_rsqrt_ftz_f64(double x) {
    uint64_t bits = approx_upper_operand(x);
    uint64_t magnitude = bits & INT64_MAX, infinity = UINT64_C(0x7ff0000000000000);
    if (magnitude == 0)
        return approx_double(bits | infinity);
    if (magnitude > infinity || bits != magnitude)
        return approx_double(APPROX_NAN_UPPER);
    return magnitude == infinity ? 0.0 : approx_upper(approx_rsqrt_kernel(approx_double(bits)));
}

/* One more Newton step for a normal x, with 1 - x r^2 to twice the precision. */
static inline double approx_rsqrt_refined(double x) {
    double r = approx_rsqrt_kernel(x);
    double product = x * r;
    uint64_t negated = approx_bits64(-product), one = approx_bits64(1.0), factor = approx_bits64(r);
    double rest = approx_double(soft_fma(FLOAT_F64, approx_bits64(x), factor, negated, ROUND_RN));
    double error = approx_double(soft_fma(FLOAT_F64, negated, factor, one, ROUND_RN)) - rest * r;
    return r + 0.5 * r * error;
}

/* rsqrt.approx.f64: full range with subnormals. */
static inline double approx_rsqrt_f64(double x) {
    uint64_t bits = approx_bits64(x);
    uint64_t magnitude = bits & INT64_MAX, infinity = UINT64_C(0x7ff0000000000000);
    if (magnitude == 0)
        return approx_double(bits | infinity);
    if (magnitude > infinity || bits != magnitude)
        return approx_double(UINT64_C(0x7ff8000000000000));
    if (magnitude == infinity)
        return 0.0;
    return magnitude >> 52 != 0 ? approx_rsqrt_refined(x) : approx_rsqrt_refined(x * 0x1p108) * 0x1p54;
}

/* ---- f16 and bf16, through f32 ---- */

static inline uint16_t approx_through_f32(enum float_format format, uint16_t a, float (*function)(float)) {
    float x = approx_float((uint32_t)soft_convert(FLOAT_F32, format, a, ROUND_RN));
    return (uint16_t)soft_convert(format, FLOAT_F32, approx_bits(function(x)), ROUND_RN);
}

static inline uint16_t approx_ex2_f16(uint16_t a) { return approx_through_f32(FLOAT_F16, a, approx_ex2); }
static inline uint16_t approx_tanh_f16(uint16_t a) { return approx_through_f32(FLOAT_F16, a, approx_tanh); }
static inline uint16_t approx_tanh_bf16(uint16_t a) { return approx_through_f32(FLOAT_BF16, a, approx_tanh); }
/* PTX has ex2.approx.ftz.bf16 only: flush operand and result with soft_flush. */
static inline uint16_t approx_ex2_bf16(uint16_t a) { return approx_through_f32(FLOAT_BF16, a, approx_ex2); }

#endif
