/* SPDX-License-Identifier: Apache-2.0 */
/* libraries: m */
/* Sums of tensor units against the same rules in the host's floating point: terms are cut off by trunc of doubles, which hold every product
 * and every sum of a block without error. Random tiles, 200,000 of every form with HEDDLE_FULL, else a share by HEDDLE_SEED. */
#include "exec/tensor.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random_bits.h"

enum { TILES_FULL = 200000, TILES = 400 };

/* ---- elements as doubles ---- */

struct shape_of {
    int fraction, least, width, ignored;
};
static const struct shape_of shapes[] = {
    [MATRIX_F16] = {10, -14, 16, 0},  [MATRIX_BF16] = {7, -126, 16, 0}, [MATRIX_TF32] = {10, -126, 32, 13},
    [MATRIX_F32] = {23, -126, 32, 0}, [MATRIX_E4M3] = {3, -6, 8, 0},    [MATRIX_E5M2] = {2, -14, 8, 0},
};

static double double_of(enum matrix_element element, uint64_t bits) {
    const struct shape_of *shape = &shapes[element];
    const int width = shape->width - shape->ignored;
    bits >>= shape->ignored;
    const int exponent = (int)(bits >> shape->fraction & ((UINT64_C(1) << (width - 1 - shape->fraction)) - 1));
    const double fraction = (double)(bits & ((UINT64_C(1) << shape->fraction) - 1));
    const double magnitude = exponent ? ldexp(fraction + ldexp(1, shape->fraction), exponent - 1) : fraction;
    const double value = ldexp(magnitude, shape->least - shape->fraction);
    return bits >> (width - 1) & 1 ? -value : value;
}

/* The exponent that the unit aligns by: never below the least of the format. */
static int exponent_of(enum matrix_element element, double value) {
    const int exponent = ilogb(value);
    return exponent < shapes[element].least ? shapes[element].least : exponent;
}

static uint64_t bits_of_single(double value) { /* cut off */
    const int exponent = value == 0 ? -126 : exponent_of(MATRIX_F32, value), last = exponent - 23;
    const double cut = ldexp(trunc(ldexp(value, -last)), last);
    const float narrow = fabs(cut) > 3.4028234663852886e38 ? (cut < 0 ? -INFINITY : INFINITY) : (float)cut;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return narrow == 0 && value >= 0 ? 0 : bits | (value < 0 ? UINT32_C(0x80000000) : 0);
}

static uint64_t bits_of_half(double value) { /* to nearest even */
    const double magnitude = fabs(value);
    const int exponent = value == 0 ? -14 : exponent_of(MATRIX_F16, value), last = exponent - 10;
    const double steps = nearbyint(ldexp(magnitude, -last)), rounded = ldexp(steps, last);
    const uint64_t sign = value < 0 ? 0x8000 : 0;
    if (rounded >= 65536)
        return sign | 0x7c00;
    if (rounded < ldexp(1, -14))
        return sign | (uint64_t)ldexp(rounded, 24);
    const int top = ilogb(rounded);
    return sign | (((uint64_t)(top + 14) << 10) + (uint64_t)ldexp(rounded, 10 - top));
}

/* ---- the rule ---- */

struct unit {
    enum tensor_sum sum;
    unsigned half_block, extra;
};
static const struct unit units[] = {
    {TENSOR_VOLTA, 4, 0}, {TENSOR_TURING, 4, 1}, {TENSOR_AMPERE, 8, 1}, {TENSOR_HOPPER, 16, 2}};

static bool is_eighth(enum matrix_element element) { return element == MATRIX_E4M3 || element == MATRIX_E5M2; }

static uint64_t reference(const struct matrix_form *form, const struct unit *unit, const uint64_t *a, const uint64_t *b,
                          uint64_t c) {
    const enum matrix_element in = (enum matrix_element)form->a, out = (enum matrix_element)form->d;
    const enum matrix_element other = (enum matrix_element)form->b;
    const unsigned of_eighths = unit->sum == TENSOR_HOPPER ? 32 : 16, depth = matrix_depth(form);
    const unsigned block = is_eighth(in) ? of_eighths : in == MATRIX_TF32 ? unit->half_block / 2 : unit->half_block;
    const int kept = is_eighth(in) ? 13 : 23 + (int)unit->extra;
    enum matrix_element of = (enum matrix_element)form->c;
    for (unsigned first = 0; first < depth; first += block) {
        double terms[33], before = double_of(of, c), sum = 0;
        if (of == MATRIX_F16 ? (c & 0x7fff) == 0x7c00 : (c & 0x7fffffff) == 0x7f800000)
            return c; /* a block before was too large, and nothing finite changes that */
        int top = before == 0 ? -100000 : exponent_of(of, before);
        unsigned count = 0;
        for (unsigned i = first; i < first + block && i < depth; i++) {
            const double x = double_of(in, a[i]), y = double_of(other, b[i]);
            terms[count++] = x * y;
            if (x != 0 && y != 0 && exponent_of(in, x) + exponent_of(other, y) > top)
                top = exponent_of(in, x) + exponent_of(other, y);
        }
        terms[count++] = before;
        const int last = top - kept;
        for (unsigned i = 0; i < count; i++)
            sum += trunc(ldexp(terms[i], -last));
        const double value = ldexp(sum, last);
        c = out == MATRIX_F16 ? bits_of_half(value) : bits_of_single(value);
        if (is_eighth(in) && out == MATRIX_F32) /* what a sum keeps */
            c &= ~UINT64_C(0x3ff);
        of = out;
        if (value == 0)
            c = 0;
    }
    return c;
}

/* Finite elements: all near each other, or of every exponent whose products a double holds. */
static uint64_t draw(enum matrix_element element, bool near) {
    const struct shape_of *shape = &shapes[element];
    const int width = shape->width - shape->ignored, exponents = 1 << (width - 1 - shape->fraction);
    const int bias = exponents / 2 - 1;
    const uint64_t fraction = random_bits() & ((UINT64_C(1) << shape->fraction) - 1);
    int exponent = bias - 3 + (int)(random_bits() % 7);
    if (!near)
        exponent =
            exponents > 32 ? bias - 60 + (int)(random_bits() % 120) : (int)(random_bits() % (unsigned)(exponents - 1));
    const uint64_t bits = (uint64_t)exponent << shape->fraction | fraction | (random_bits() & 1) << (width - 1);
    return bits << shape->ignored | (random_bits() & ((UINT64_C(1) << shape->ignored) - 1));
}

static void fill(const struct matrix_form *form, bool near, struct tensor_tile *tile) {
    for (unsigned i = 0; i < form->m * matrix_depth(form);
         i++) /* of a sparse row every other place, or the one behind it */
        tile->place[i % MATRIX_PLACES_MAX] = (uint8_t)(2 * (i % matrix_depth(form)) + (random_bits() & 1));
    for (unsigned i = 0; i < form->m * matrix_depth(form); i++)
        tile->a[i] = draw((enum matrix_element)form->a, near);
    for (unsigned i = 0; i < form->n * form->k; i++)
        tile->b[i] = draw((enum matrix_element)form->b, near);
    for (unsigned i = 0; i < form->m * form->n; i++)
        tile->c[i] = draw((enum matrix_element)form->c, near);
}

static bool is_float(const struct matrix_form *form) { return form->d == MATRIX_F16 || form->d == MATRIX_F32; }

static void test_floats(void **state) {
    (void)state;
    const char *full = getenv("HEDDLE_FULL"), *seed = getenv("HEDDLE_SEED");
    const unsigned tiles = full && *full && strcmp(full, "0") != 0 ? TILES_FULL : TILES;
    random_state = seed ? strtoull(seed, NULL, 0) : 1;
    static struct tensor_tile tile;
    uint64_t compared = 0;
    for (unsigned f = 0; f < matrix_form_count(); f++) {
        const struct matrix_form *form = matrix_form(f);
        if (!is_float(form))
            continue;
        for (unsigned i = 0; i < tiles; i++) {
            const struct unit *unit = &units[i % 4];
            const struct tensor_rule rule = {.sum = unit->sum};
            fill(form, i / 4 % 2 == 0, &tile);
            tensor_multiply(form, &rule, &tile);
            for (unsigned k = 0; k < form->m * form->n; k++, compared++) {
                const unsigned depth = matrix_depth(form), row = k / form->n, column = k % form->n * form->k;
                uint64_t met[64];
                for (unsigned at = 0; at < depth && at < 64; at++)
                    met[at] = tile.b[column + (form->options & MATRIX_SPARSE ? tile.place[row * depth + at] : at)];
                const uint64_t want = reference(form, unit, &tile.a[row * depth], met, tile.c[k]);
                if (tile.d[k] != want)
                    fail_msg("form %u, unit %u, tile %u, element %u: %llx, expected %llx", f, unit->sum, i, k,
                             (unsigned long long)tile.d[k], (unsigned long long)want);
            }
        }
    }
    printf("%llu sums compared\n", (unsigned long long)compared);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_floats)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
