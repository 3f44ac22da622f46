/* SPDX-License-Identifier: Apache-2.0 */
/* Math functions of OpenCL C against MPFR: the functions, the types, the reference, the inputs. */
#ifndef HEDDLE_TESTS_BUILTINS_MATH_H
#define HEDDLE_TESTS_BUILTINS_MATH_H

#include "base/rng.h"
#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>

enum form { FORM_X, FORM_XY, FORM_XYZ, FORM_XN, FORM_N, FORM_XS, FORM_XM, FORM_XYM, FORM_XI };
/* Limits that are no number of ulp. */
#define EXACT 0.0
#define NONE (-1.0)
#define ABSENT (-2.0)

/* A binary floating-point type: `digits` bits of significand, largest exponent `top` of a value below 2^top. */
struct float_type {
    const char *name, *bits_name; /* "float", "uint" */
    unsigned bytes;
    int digits, top;
};
enum { FLOAT_TYPE_SINGLE, FLOAT_TYPE_DOUBLE, FLOAT_TYPE_HALF, FLOAT_TYPE_COUNT };
extern const struct float_type float_types[FLOAT_TYPE_COUNT];

struct math_function {
    const char *name;
    enum form form;
    double limit[FLOAT_TYPE_COUNT];
};
extern const struct math_function math_functions[];
extern const unsigned math_function_count;

/* The reference of math_functions[function]; numbers have at least 40 bits more than the type. */
void math_reference(unsigned function, const struct float_type *type, mpfr_t r, mpfr_t s, long *m, mpfr_srcptr x,
                    mpfr_srcptr y, mpfr_srcptr z, long n);

/* A value of the type as its bits, and back: any 64-bit word whose low bytes are the bits. */
void math_decode(mpfr_t out, uint64_t bits, const struct float_type *type);
/* Rounded to nearest even, denormals and infinities as IEEE 754 has them. */
void math_round(mpfr_t value, const struct float_type *type);

/* Bits of the arguments of test number i; the first ones are combinations of special values. */
struct math_inputs {
    const struct float_type *type;
    enum form form;
    bool is_power;
    struct rng rng;
};
struct math_arguments {
    uint64_t x, y, z;
    int32_t n;
};
unsigned math_special_count(const struct math_inputs *inputs);
void math_input(struct math_inputs *inputs, unsigned i, struct math_arguments *out);

#endif
