/* SPDX-License-Identifier: Apache-2.0 */
/* IEEE 754 arithmetic in integers, for every format and rounding the executor knows: bits in, bits out, the same on
 * every host. This is the exact and slow path: the lane code uses the host's own arithmetic where that is
 * round-to-nearest and comes here for directed rounding, narrow formats and conversions.
 *
 * Conventions are those of the PTX ISA. Every NaN result is the format's canonical NaN. ROUND_DEFAULT is to nearest
 * even; the integral names (ROUND_RNI, ...) and the plain ones mean the same direction everywhere. Subnormals are
 * kept: callers flush operands and result with soft_flush where an instruction says .ftz. */
#ifndef HEDDLE_EXEC_SOFTFLOAT_H
#define HEDDLE_EXEC_SOFTFLOAT_H

#include "isa/inst.h"

#include <stdbool.h>
#include <stdint.h>

enum float_format { FLOAT_F16, FLOAT_BF16, FLOAT_F32, FLOAT_F64 };

uint64_t soft_canonical_nan(enum float_format format);
bool soft_is_nan(enum float_format format, uint64_t a);
uint64_t soft_flush(enum float_format format, uint64_t a);    /* subnormal: zero of the same sign */
uint64_t soft_saturate(enum float_format format, uint64_t a); /* to [+0, 1]; NaN: +0 */

uint64_t soft_add(enum float_format format, uint64_t a, uint64_t b, enum rounding rounding);
uint64_t soft_sub(enum float_format format, uint64_t a, uint64_t b, enum rounding rounding);
uint64_t soft_mul(enum float_format format, uint64_t a, uint64_t b, enum rounding rounding);
uint64_t soft_fma(enum float_format format, uint64_t a, uint64_t b, uint64_t c, enum rounding rounding);
uint64_t soft_div(enum float_format format, uint64_t a, uint64_t b, enum rounding rounding);
uint64_t soft_rcp(enum float_format format, uint64_t a, enum rounding rounding); /* 1 / a */
uint64_t soft_sqrt(enum float_format format, uint64_t a, enum rounding rounding);

/* A NaN loses against a number unless nan_wins (.NaN), then the result is the canonical NaN. -0 < +0. */
uint64_t soft_min(enum float_format format, uint64_t a, uint64_t b, bool nan_wins);
uint64_t soft_max(enum float_format format, uint64_t a, uint64_t b, bool nan_wins);

/* Rounded once, whatever the two formats. */
uint64_t soft_convert(enum float_format to, enum float_format from, uint64_t a, enum rounding rounding);
/* The nearest integral value in the direction, in the same format; a zero keeps the sign of a. */
uint64_t soft_round_integral(enum float_format format, uint64_t a, enum rounding rounding);
/* To an integer of 1 to 64 bits, in the low bits of the result, the others 0. Out of range gives the nearest limit.
 * NaN gives 0 when the source is not f64 and bits < 64, else 1 << (bits - 1). */
uint64_t soft_to_integer(enum float_format from, uint64_t a, enum rounding rounding, unsigned bits, bool is_signed);
/* The value must already be sign- or zero-extended to 64 bits. */
uint64_t soft_from_integer(enum float_format to, uint64_t value, bool is_signed, enum rounding rounding);

#endif
