/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products as tensor units make them. Products are exact. Those of a block, and what was added up before, are aligned to the largest
 * exponent among them and cut off below a window; their sum is exact, normalised once, and cut off (f32) or rounded to even (f16).
 * Longer rows go block after block. */
#include "exec/tensor.h"

#include "base/bits.h"
#include "exec/eighth.h"
#include "exec/softfloat.h"

/* ---- numbers unpacked ---- */

enum { EXPONENT_OF_ZERO = -10000, F32_FRACTION = 23, EIGHTHS_FRACTION = 13 };

/* (-1)^negative * significand * 2^(exponent - fraction bits of its format); subnormals have the least exponent and no leading one. */
struct factor {
    uint32_t significand;
    int16_t exponent;
    uint8_t fraction; /* bits of it */
    bool negative, infinite, nan;
};

struct number_format {
    unsigned fraction, exponent_bits;
    unsigned ignored; /* low bits that are no part of the number */
};

static const struct number_format formats[] = {
    [MATRIX_F16] = {10, 5, 0}, [MATRIX_BF16] = {7, 8, 0}, [MATRIX_TF32] = {10, 8, 13},
    [MATRIX_F32] = {23, 8, 0}, [MATRIX_E4M3] = {3, 4, 0}, [MATRIX_E5M2] = {2, 5, 0}};

static struct factor unpack(enum matrix_element element, uint64_t bits) {
    const struct number_format *format = &formats[element];
    const uint32_t word = (uint32_t)(bits >> format->ignored);
    const uint32_t fraction = word & ((UINT32_C(1) << format->fraction) - 1);
    const uint32_t top = (UINT32_C(1) << format->exponent_bits) - 1, exponent = word >> format->fraction & top;
    const int bias = (int)(top >> 1);
    struct factor number = {.fraction = (uint8_t)format->fraction,
                            .negative = (word >> (format->fraction + format->exponent_bits) & 1) != 0};
    if (element == MATRIX_E4M3)
        number.nan = exponent == top && fraction == 7;
    else
        number.infinite = exponent == top && !fraction, number.nan = exponent == top && fraction;
    number.significand = fraction | (exponent ? UINT32_C(1) << format->fraction : 0);
    number.exponent = (int16_t)(number.significand ? (exponent ? (int)exponent : 1) - bias : EXPONENT_OF_ZERO);
    return number;
}

/* ---- the window ---- */

struct window {
    int64_t sum;
    int top;           /* largest exponent */
    unsigned fraction; /* bits below it that are kept */
    bool nan, infinite[2];
};

/* value * 2^(exponent - fraction), in units of the window's last place; what is below it is cut off. */
static int64_t align(const struct window *window, uint64_t value, int exponent, unsigned fraction) {
    const int shift = (int)window->fraction - (int)fraction - (window->top - exponent);
    if (shift >= 0)
        return (int64_t)(value << shift);
    return shift <= -64 ? 0 : (int64_t)(value >> -shift);
}

static void note_special(struct window *window, const struct factor *a, const struct factor *b) {
    const bool zero = (!a->significand && !a->infinite) || (!b->significand && !b->infinite);
    window->nan |= a->nan || b->nan || ((a->infinite || b->infinite) && zero);
    if (a->infinite || b->infinite)
        window->infinite[a->negative != b->negative] = true;
}

/* The sum as f32, cut off, or as f16, rounded to nearest even. */
static uint64_t window_result(const struct window *window, enum matrix_element to) {
    const bool is_half = to == MATRIX_F16;
    const enum float_format format = is_half ? FLOAT_F16 : FLOAT_F32;
    if (window->nan || (window->infinite[0] && window->infinite[1]))
        return soft_canonical_nan(format);
    if (window->infinite[0] || window->infinite[1])
        return (is_half ? UINT64_C(0x7c00) : UINT64_C(0x7f800000)) | (uint64_t)window->infinite[1]
                                                                         << (is_half ? 15 : 31);
    if (!window->sum)
        return 0;
    const bool negative = window->sum < 0;
    uint64_t value = (uint64_t)(negative ? -window->sum : window->sum);
    int exponent = window->top - (int)window->fraction; /* of the last place */
    const int fraction = is_half ? 10 : window->fraction < F32_FRACTION ? (int)window->fraction : F32_FRACTION;
    const int least = is_half ? -14 : -126, most = is_half ? 15 : 127;
    int leading = 63 - __builtin_clzll(value) + exponent;
    const int last = (leading < least ? least : leading) - fraction; /* exponent of the result's last place */
    uint64_t rest = 0;
    unsigned dropped = 0;
    if (last > exponent) {
        dropped = (unsigned)(last - exponent);
        rest = dropped > 63 ? value : value & ((UINT64_C(1) << dropped) - 1);
        value = dropped > 63 ? 0 : value >> dropped;
    } else
        value <<= exponent - last;
    const uint64_t half = dropped && dropped < 64 ? UINT64_C(1) << (dropped - 1) : 0;
    if (is_half && half && (rest > half || (rest == half && value & 1)))
        value++;
    leading = value ? 63 - __builtin_clzll(value) + last : 0;
    uint64_t bits;
    if (value && leading > most)
        bits = is_half ? 0x7c00 : 0x7f800000;
    else if (value >> fraction) /* normal: its leading one is one of the exponent */
        bits = ((uint64_t)(last + fraction - least) << fraction) + value;
    else
        bits = value;
    if (!is_half && bits != 0x7f800000)
        bits <<= F32_FRACTION - fraction;
    return bits | (uint64_t)negative << (is_half ? 15 : 31);
}

/* ---- floating point ---- */

/* The elements of a product, as those of a tile lie. */
struct view {
    const uint64_t *a, *b, *c;
    uint64_t *d;
};

struct row_pair {
    const struct factor *a, *b; /* k of each */
    unsigned fraction;          /* of the product */
};

/* c + the products from `first` on, of a block. */
static uint64_t add_block(const struct row_pair *pair, unsigned first, unsigned end, const struct factor *c,
                          unsigned kept, enum matrix_element to) {
    struct window window = {.top = c->exponent, .fraction = kept, .nan = c->nan};
    window.infinite[c->negative] |= c->infinite;
    for (unsigned i = first; i < end; i++) {
        const struct factor *a = &pair->a[i], *b = &pair->b[i];
        const int exponent = a->exponent + b->exponent;
        window.top = exponent > window.top ? exponent : window.top;
        if (a->infinite || b->infinite || a->nan || b->nan)
            note_special(&window, a, b);
    }
    const int64_t start = align(&window, c->significand, c->exponent, c->fraction);
    window.sum = c->negative ? -start : start;
    for (unsigned i = first; i < end; i++) {
        const struct factor *a = &pair->a[i], *b = &pair->b[i];
        const int64_t term =
            align(&window, (uint64_t)a->significand * b->significand, a->exponent + b->exponent, pair->fraction);
        window.sum += a->negative != b->negative ? -term : term;
    }
    return window_result(&window, to);
}

static bool is_eighth(enum matrix_element element) { return element == MATRIX_E4M3 || element == MATRIX_E5M2; }

static unsigned block_of(enum tensor_sum sum, enum matrix_element element) {
    if (is_eighth(element))
        return sum == TENSOR_HOPPER ? 32 : 16;
    const unsigned half = sum == TENSOR_HOPPER ? 16 : sum == TENSOR_AMPERE ? 8 : 4;
    return element == MATRIX_TF32 ? half / 2 : half;
}

/* Bits of a sum below its largest exponent. */
static unsigned kept_of(enum tensor_sum sum, enum matrix_element element) {
    if (is_eighth(element))
        return EIGHTHS_FRACTION;
    return F32_FRACTION + (sum == TENSOR_HOPPER ? 2 : sum == TENSOR_VOLTA ? 0 : 1);
}

static uint64_t blocks(const struct matrix_form *form, const struct tensor_rule *rule, const struct row_pair *pair,
                       uint64_t c) {
    const unsigned block = block_of(rule->sum, (enum matrix_element)form->a),
                   kept = kept_of(rule->sum, (enum matrix_element)form->a);
    enum matrix_element of = (enum matrix_element)form->c, to = (enum matrix_element)form->d;
    for (unsigned first = 0; first < form->k; first += block) {
        const unsigned end = first + block < form->k ? first + block : form->k;
        const struct factor before = unpack(of, c);
        c = add_block(pair, first, end, &before, kept, to);
        of = to;
    }
    return c;
}

static uint64_t single_of(enum matrix_element element, uint64_t bits) {
    if (is_eighth(element))
        return eighth_to_single(element == MATRIX_E5M2, (uint8_t)bits);
    if (element == MATRIX_TF32)
        return bits & 0xffffe000;
    return soft_convert(FLOAT_F32, element == MATRIX_F16 ? FLOAT_F16 : FLOAT_BF16, bits, ROUND_RN);
}

/* An f32 fused multiply-add after another, which is what exact_sum asks for. */
static uint64_t chain(const struct matrix_form *form, const uint64_t *a, const uint64_t *b, uint64_t c) {
    const enum matrix_element of_a = (enum matrix_element)form->a, of_b = (enum matrix_element)form->b;
    if (form->c == MATRIX_F16)
        c = soft_convert(FLOAT_F32, FLOAT_F16, c, ROUND_RN);
    for (unsigned i = 0; i < form->k; i++) {
        c = soft_fma(FLOAT_F32, single_of(of_a, a[i]), single_of(of_b, b[i]), c, ROUND_RN);
    }
    return form->d == MATRIX_F16 ? soft_convert(FLOAT_F16, FLOAT_F32, c, ROUND_RN) : c;
}

static void multiply_floats(const struct matrix_form *form, const struct tensor_rule *rule, const struct view *tile) {
    enum { FLOATS = 512 }; /* of 32 rows of 16 */
    struct factor a[FLOATS], b[FLOATS];
    for (unsigned i = 0; i < form->m * form->k; i++)
        a[i] = unpack((enum matrix_element)form->a, tile->a[i]);
    for (unsigned i = 0; i < form->n * form->k; i++)
        b[i] = unpack((enum matrix_element)form->b, tile->b[i]);
    for (unsigned i = 0; i < form->m * form->n; i++) {
        const unsigned row = i / form->n * form->k, column = i % form->n * form->k;
        const struct row_pair pair = {&a[row], &b[column], formats[form->a].fraction + formats[form->b].fraction};
        tile->d[i] = rule->sum == TENSOR_CHAIN ? chain(form, &tile->a[row], &tile->b[column], tile->c[i])
                                               : blocks(form, rule, &pair, tile->c[i]);
    }
}

/* One fused multiply-add after another. */
static void multiply_doubles(const struct matrix_form *form, const struct tensor_rule *rule, const struct view *tile) {
    for (unsigned i = 0; i < form->m * form->n; i++) {
        uint64_t sum = tile->c[i];
        for (unsigned k = 0; k < form->k; k++)
            sum = soft_fma(FLOAT_F64, tile->a[i / form->n * form->k + k], tile->b[i % form->n * form->k + k], sum,
                           rule->rounding);
        tile->d[i] = sum;
    }
}

/* ---- integers ---- */

static int64_t integer_of(enum matrix_element element, uint64_t bits) {
    const uint64_t sign = UINT64_C(1) << (matrix_element_bits(element) - 1);
    if (element == MATRIX_S8 || element == MATRIX_S4 || element == MATRIX_S32)
        return (int64_t)((bits ^ sign) - sign);
    return (int64_t)bits;
}

static void multiply_integers(const struct matrix_form *form, const struct tensor_rule *rule, const struct view *tile) {
    for (unsigned i = 0; i < form->m * form->n; i++) {
        const uint64_t *a = &tile->a[i / form->n * form->k], *b = &tile->b[i % form->n * form->k];
        int64_t sum = integer_of(MATRIX_S32, tile->c[i]);
        for (unsigned k = 0; k < form->k; k++)
            if (form->options & MATRIX_BITS)
                sum += (int64_t)(rule->is_and ? a[k] & b[k] : a[k] ^ b[k]);
            else
                sum += integer_of((enum matrix_element)form->a, a[k]) * integer_of((enum matrix_element)form->b, b[k]);
        if (rule->saturates)
            sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
        tile->d[i] = (uint32_t)sum;
    }
}

static void multiply_view(const struct matrix_form *form, const struct tensor_rule *rule, const struct view *tile) {
    if (form->d == MATRIX_S32)
        multiply_integers(form, rule, tile);
    else if (form->d == MATRIX_F64)
        multiply_doubles(form, rule, tile);
    else
        multiply_floats(form, rule, tile);
}

/* Row by row, with the elements of b that meet one of a. Sums go on over what is multiplied: a block of them is of twice as many elements of k. */
static void multiply_sparse(const struct matrix_form *form, const struct tensor_rule *rule, struct tensor_tile *tile) {
    enum { DEPTH_MAX = 64, COLUMNS = 8 };
    struct matrix_form one = *form;
    const unsigned depth = matrix_depth(form);
    uint64_t met[COLUMNS * DEPTH_MAX];
    one.m = 1, one.k = (uint16_t)depth;
    for (unsigned row = 0; row < form->m; row++) {
        for (unsigned column = 0; column < form->n; column++)
            for (unsigned i = 0; i < depth; i++)
                met[column * depth + i] = tile->b[column * form->k + tile->place[row * depth + i]];
        const struct view view = {&tile->a[row * depth], met, &tile->c[row * form->n], &tile->d[row * form->n]};
        multiply_view(&one, rule, &view);
    }
}

void tensor_multiply(const struct matrix_form *form, const struct tensor_rule *rule, struct tensor_tile *tile) {
    const struct view view = {tile->a, tile->b, tile->c, tile->d};
    if (form->options & MATRIX_SPARSE)
        multiply_sparse(form, rule, tile);
    else
        multiply_view(form, rule, &view);
}
