/* SPDX-License-Identifier: Apache-2.0 */
#include "math.h"
#include <math.h>
#include <string.h>

#define COUNT(array) ((unsigned)(sizeof(array) / sizeof *(array)))

/* Values where functions have poles, zeros, steps, ends of their domain or of the type's range; each with both signs.
 * Those a type cannot hold are rounded to it, and so become other edges of it. */
static const double specials[] = {0.0,
                                  1.0,
                                  0.5,
                                  2.0,
                                  3.0,
                                  4.0,
                                  0.25,
                                  1.5,
                                  2.5,
                                  10.0,
                                  INFINITY,
                                  NAN,
                                  0x1p-149,
                                  0x1p-126,
                                  0x1p-125,
                                  0x1p-24,
                                  0x1p-14,
                                  0x1p-1074,
                                  0x1p-1022,
                                  0x1.fffffcp-127,
                                  0x1p23,
                                  0x1p24,
                                  0x1p31,
                                  0x1p52,
                                  0x1p53,
                                  0x1p63,
                                  0x1p10,
                                  0x1p11,
                                  65504.0,
                                  0x1.fffffep127,
                                  0x1.fffffffffffffp1023,
                                  0x1.fffffep-1,
                                  0x1.000002p0,
                                  0x1.fffffffffffffp-1,
                                  0x1.0000000000001p0,
                                  0x1p-12,
                                  0x1p-27,
                                  0x1.921fb54442d18p0,
                                  0x1.921fb54442d18p1,
                                  0x1.921fb54442d18p-1,
                                  88.722839,
                                  87.33655,
                                  103.97208,
                                  709.782712893384,
                                  745.1332191019411,
                                  11.0898,
                                  17.3287,
                                  38.53184,
                                  308.2547155599167,
                                  35.04011,
                                  171.62437695630272,
                                  127.0,
                                  128.0,
                                  149.0,
                                  150.0,
                                  1023.0,
                                  1024.0,
                                  1074.0,
                                  1075.0,
                                  100.0,
                                  1e30,
                                  1e300};

static const int32_t special_ints[] = {0,   1,    -1,    2,     -2,   3,    -3,    4,         5,
                                       -5,  16,   24,    -24,   127,  -126, -149,  128,       -150,
                                       255, 1023, -1022, -1074, 1024, 2000, -2000, INT32_MAX, INT32_MIN};

static uint64_t half_encode(double value) {
    const uint64_t sign = signbit(value) ? 0x8000 : 0;
    const double size = fabs(value);
    if (isnan(value))
        return 0x7e00;
    if (size >= 65520.0)
        return sign | 0x7c00;
    const int exponent = size < 0x1p-14 ? -14 : ilogb(size);
    return sign | (((uint64_t)(exponent + 14) << 10) + (uint64_t)rint(ldexp(size, 10 - exponent)));
}

/* The bits of the type nearest to a double. */
static uint64_t encode(double value, const struct float_type *type) {
    uint64_t bits = 0;
    if (type->bytes == 8) {
        memcpy(&bits, &value, 8);
    } else if (type->bytes == 4) {
        const float single = (float)value;
        memcpy(&bits, &single, 4);
    } else {
        bits = half_encode(value);
    }
    return bits;
}

static uint64_t special(unsigned i, const struct float_type *type) {
    const double value = specials[i / 2];
    return encode(i & 1 ? -value : value, type);
}

unsigned math_special_count(const struct math_inputs *inputs) {
    const unsigned values = 2 * COUNT(specials);
    switch (inputs->form) {
    case FORM_XY:
    case FORM_XYM:
    case FORM_XYZ: return values * values;
    case FORM_XN: return values * COUNT(special_ints);
    default: return values;
    }
}

/* Half of all numbers come from the type's bits, so that every exponent has its share; the others from where functions
 * do most of their work. */
static uint64_t dense(struct math_inputs *inputs) {
    static const double ranges[] = {1.0, 4.0, 32.0, 128.0, 1024.0};
    struct rng *rng = &inputs->rng;
    const uint64_t mask = inputs->type->bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * inputs->type->bytes) - 1;
    const double sign = rng_below(rng, 2) ? -1.0 : 1.0;
    switch (rng_below(rng, 8)) {
    case 0:
    case 1: return encode(sign * rng_f64(rng) * ranges[rng_below(rng, COUNT(ranges))], inputs->type);
    case 2: /* near one */
        return encode(sign + (rng_f64(rng) - 0.5) * ldexp(1.0, -(int)rng_below(rng, (uint64_t)inputs->type->digits)),
                      inputs->type);
    case 3: { /* near multiples of pi/4 and of 1/4 */
        const double count = (double)(rng_u64(rng) >> (40 + rng_below(rng, 24)));
        const double step = rng_below(rng, 2) ? 0x1.921fb54442d18p-1 : 0.25;
        return (encode(sign * count * step, inputs->type) + rng_below(rng, 5) - 2) & mask;
    }
    default: return rng_u64(rng) & mask;
    }
}

/* Powers that are neither 0 nor infinite: x anywhere, y as large as the result allows. */
static void power(struct math_inputs *inputs, struct math_arguments *out) {
    struct rng *rng = &inputs->rng;
    const double range = (double)inputs->type->top * 1.1;
    double log2x = (rng_f64(rng) - 0.5) * ldexp(2.0 * range, -(int)rng_below(rng, (uint64_t)inputs->type->digits + 8));
    const double target = (rng_f64(rng) - 0.5) * 2.0 * range;
    double y = target / log2x;
    if (rng_below(rng, 4) == 0)
        y = rint(y);
    out->n = y > 2e9 ? INT32_MAX : y < -2e9 ? INT32_MIN : (int32_t)rint(y);
    out->x = encode(exp2(log2x), inputs->type);
    out->y = encode(y, inputs->type);
    if (rng_below(rng, 8) == 0)
        out->x |= UINT64_C(1) << (8 * inputs->type->bytes - 1);
}

void math_input(struct math_inputs *inputs, unsigned i, struct math_arguments *out) {
    const unsigned values = 2 * COUNT(specials);
    struct rng *rng = &inputs->rng;
    if (i < math_special_count(inputs)) {
        out->x = special(i % values, inputs->type);
        out->y = special(i / values % values, inputs->type);
        out->z = special((i * 7 + i / values) % values, inputs->type);
        out->n = special_ints[i / values % COUNT(special_ints)];
        return;
    }
    out->x = dense(inputs);
    out->y = dense(inputs);
    out->z = dense(inputs);
    out->n = (int32_t)rng_u32(rng) >> rng_below(rng, 32);
    if (inputs->is_power && i % 4)
        power(inputs, out);
    else if (i % 2 == 0) { /* operands of like size */
        const unsigned fraction = (unsigned)inputs->type->digits - 1, near = (unsigned)rng_below(rng, 8);
        const uint64_t low = (UINT64_C(1) << fraction) - 1;
        out->y = (out->x & ~low) + ((uint64_t)near << fraction) - (UINT64_C(4) << fraction) + (out->y & low);
        if (inputs->type->bytes < 8)
            out->y &= (UINT64_C(1) << 8 * inputs->type->bytes) - 1;
    }
}
