/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/element.h"
#include "base/text.h"
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const element_names[] = {"i8",  "u8",  "i16", "u16", "f16", "bf16", "i32",
                                     "u32", "f32", "i64", "u64", "f64", NULL};

enum element element_find(const char *name) {
    unsigned i = 0;
    while (i < ELEMENT_COUNT && strcmp(element_names[i], name) != 0)
        i++;
    return (enum element)i;
}

unsigned element_bytes(enum element element) {
    static const unsigned char bytes[] = {1, 1, 2, 2, 2, 2, 4, 4, 4, 8, 8, 8};
    return bytes[element];
}

enum element_kind element_kind(enum element element) {
    switch (element) {
    case ELEMENT_I8:
    case ELEMENT_I16:
    case ELEMENT_I32:
    case ELEMENT_I64: return ELEMENT_SIGNED;
    case ELEMENT_F16:
    case ELEMENT_BF16:
    case ELEMENT_F32:
    case ELEMENT_F64: return ELEMENT_FLOAT;
    default: return ELEMENT_UNSIGNED;
    }
}

struct number number_integer(wide_integer value) {
    if (value == (int64_t)value) /* almost always; conversions from 128 bits are slow */
        return (struct number){
            .is_integer = true, .integer = value, .real = (double)(int64_t)value, .real32 = (float)(int64_t)value};
    return (struct number){.is_integer = true, .integer = value, .real = (double)value, .real32 = (float)value};
}

struct number number_real(double value) {
    return (struct number){.real = value, .real32 = (float)value};
}

bool number_parse(const char *text, struct number *out) {
    bool negative = *text == '-';
    const char *digits = text + (*text == '-' || *text == '+');
    uint64_t magnitude;
    if (text_to_u64(digits, &magnitude)) {
        *out = number_integer(negative ? -(wide_integer)magnitude : (wide_integer)magnitude);
        if (negative && magnitude == 0) { /* -0 is a float's */
            out->real = -0.0;
            out->real32 = -0.0F;
        }
        return true;
    }
    if (*digits == '.' && (strcmp(digits + 1, "inf") == 0 || strcmp(digits + 1, "nan") == 0))
        digits++; /* YAML's own spelling */
    double real;
    if (*digits == '-' || *digits == '+' || !text_to_f64(digits, &real))
        return false;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    float real32 = strtof_l(digits, NULL, c_locale); /* from the text: through a double it would round twice */
    freelocale(c_locale);
    *out = (struct number){.real = negative ? -real : real, .real32 = negative ? -real32 : real32};
    return true;
}

const char *number_text(const struct number *number, char *buffer, size_t size) {
    if (number->is_integer) {
        wide_integer value = number->integer;
        uint64_t magnitude = (uint64_t)(value < 0 ? -value : value);
        snprintf(buffer, size, "%s%llu", value < 0 ? "-" : "", (unsigned long long)magnitude);
        return buffer;
    }
    char text[TEXT_F64_BYTES];
    if (number->real > -1e15 && number->real < 1e15 && number->real == (double)(int64_t)number->real)
        snprintf(buffer, size, "%s%lld", number->real == 0 && __builtin_signbit(number->real) ? "-" : "",
                 (long long)number->real);
    else
        snprintf(buffer, size, "%s", text_from_f64(number->real, text));
    return buffer;
}

const char *element_text(enum element element, const void *in, char *buffer, size_t size) {
    struct number number = element_load(element, in), back;
    number_text(&number, buffer, size);
    if (element != ELEMENT_F32 || strlen(buffer) < 9)
        return buffer;
    char shorter[48];
    for (int digits = 6; digits <= 9; digits++) { /* a float needs no more */
        snprintf(shorter, sizeof shorter, "%.*g", digits, number.real);
        if (number_parse(shorter, &back) && back.real32 == (float)number.real) {
            snprintf(buffer, size, "%s", shorter);
            break;
        }
    }
    return buffer;
}

/* The value rounded to a binary format of `exponent_bits` and `fraction_bits`, to nearest, ties to even. */
static uint16_t round_to_half(double value, int exponent_bits, int fraction_bits) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 63 << 15);
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    uint16_t infinity = (uint16_t)(((1u << exponent_bits) - 1) << fraction_bits);
    if (exponent == 0x7ff)
        return fraction ? 0x7fff : (uint16_t)(sign | infinity);
    int biased = exponent - 1023 + ((1 << (exponent_bits - 1)) - 1);
    uint64_t significand = exponent ? fraction | UINT64_C(1) << 52 : fraction;
    int shift = 52 - fraction_bits;
    if (biased < 1) {
        shift += 1 - biased;
        biased = 0;
        if (shift > 54)
            return sign;
    }
    uint64_t rest = significand & ((UINT64_C(1) << shift) - 1), half = UINT64_C(1) << (shift - 1);
    significand >>= shift;
    significand += rest > half || (rest == half && (significand & 1));
    /* the hidden bit adds one to the exponent field, as does a carry out of the fraction */
    uint64_t result = significand + ((uint64_t)(biased ? biased - 1 : 0) << fraction_bits);
    return (uint16_t)(sign | (uint16_t)(result >= infinity ? infinity : result));
}

static double half_value(uint16_t bits, int exponent_bits, int fraction_bits) {
    int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
    double fraction = (double)(bits & ((1u << fraction_bits) - 1));
    int bias = (1 << (exponent_bits - 1)) - 1;
    double value;
    if (exponent == (1 << exponent_bits) - 1)
        value = fraction != 0 ? __builtin_nan("") : __builtin_inf();
    else
        value = (exponent ? fraction + (double)(1u << fraction_bits) : fraction) *
                __builtin_ldexp(1.0, (exponent ? exponent : 1) - bias - fraction_bits);
    return bits >> 15 ? -value : value;
}

void element_store_wrapped(enum element element, wide_integer value, void *out) {
    uint64_t bits = (uint64_t)value;
    memcpy(out, &bits, element_bytes(element)); /* little-endian hosts only, as the device is */
}

bool element_store(enum element element, const struct number *number, void *out) {
    uint16_t half;
    switch (element) {
    case ELEMENT_F16:
        half = round_to_half(number->real, 5, 10);
        memcpy(out, &half, sizeof half);
        return true;
    case ELEMENT_BF16:
        half = round_to_half(number->real, 8, 7);
        memcpy(out, &half, sizeof half);
        return true;
    case ELEMENT_F32: memcpy(out, &number->real32, 4); return true;
    case ELEMENT_F64: memcpy(out, &number->real, 8); return true;
    default: break;
    }
    wide_integer value = number->integer;
    if (!number->is_integer) {
        if (!(number->real > -0x1p63 && number->real < 0x1p64) || (double)(wide_integer)number->real != number->real)
            return false;
        value = (wide_integer)number->real;
    }
    unsigned bits = element_bytes(element) * 8;
    bool is_signed = element_kind(element) == ELEMENT_SIGNED;
    wide_integer limit = (wide_integer)1 << (is_signed ? bits - 1 : bits);
    if (value >= limit || value < (is_signed ? -limit : 0))
        return false;
    element_store_wrapped(element, value, out);
    return true;
}

struct number element_load(enum element element, const void *in) {
    uint64_t bits = 0;
    memcpy(&bits, in, element_bytes(element));
    switch (element) {
    case ELEMENT_I8: return number_integer((int8_t)bits);
    case ELEMENT_I16: return number_integer((int16_t)bits);
    case ELEMENT_I32: return number_integer((int32_t)bits);
    case ELEMENT_I64: return number_integer((int64_t)bits);
    case ELEMENT_F16: return number_real(half_value((uint16_t)bits, 5, 10));
    case ELEMENT_BF16: return number_real(half_value((uint16_t)bits, 8, 7));
    case ELEMENT_F32: {
        float value;
        memcpy(&value, in, sizeof value);
        return number_real((double)value);
    }
    case ELEMENT_F64: {
        double value;
        memcpy(&value, in, sizeof value);
        return number_real(value);
    }
    default: return number_integer((wide_integer)bits);
    }
}

bool element_close(enum element element, const void *a, const void *b, double tolerance) {
    struct number left = element_load(element, a), right = element_load(element, b);
    if (left.is_integer && (left.integer == right.integer || tolerance == 0))
        return left.integer == right.integer;
    if (!left.is_integer && (left.real == right.real || (left.real != left.real && right.real != right.real)))
        return true;
    double difference = left.is_integer ? (double)(left.integer - right.integer) : left.real - right.real;
    double magnitude = right.real < 0 ? -right.real : right.real;
    double bound = tolerance * (magnitude > 1 ? magnitude : 1);
    if (!(magnitude < __builtin_inf())) /* an infinity is close to nothing but itself */
        return false;
    return (difference < 0 ? -difference : difference) <= bound;
}
