/* SPDX-License-Identifier: Apache-2.0 */
/* The element types of buffers, and numbers as people write them. */
#ifndef HEDDLE_LAUNCH_ELEMENT_H
#define HEDDLE_LAUNCH_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum element {
    ELEMENT_I8,
    ELEMENT_U8,
    ELEMENT_I16,
    ELEMENT_U16,
    ELEMENT_F16,
    ELEMENT_BF16,
    ELEMENT_I32,
    ELEMENT_U32,
    ELEMENT_F32,
    ELEMENT_I64,
    ELEMENT_U64,
    ELEMENT_F64,
    ELEMENT_COUNT
};

enum element_kind { ELEMENT_SIGNED, ELEMENT_UNSIGNED, ELEMENT_FLOAT };

__extension__ typedef __int128 wide_integer; /* holds every sum and product of 64-bit values */

/* A number with nothing lost: an integer of up to 64 bits and its sign, or a floating-point value. */
struct number {
    bool is_integer;
    wide_integer integer; /* of -2^64 < integer < 2^64 */
    double real;          /* the value, rounded once */
    float real32;         /* the value, rounded once from the text */
};

/* NULL-terminated, in the order of the enum. */
extern const char *const element_names[];
/* ELEMENT_COUNT when there is none of that name. */
enum element element_find(const char *name);
unsigned element_bytes(enum element element);
enum element_kind element_kind(enum element element);

/* "12", "-0x1f", "2.5e-3", "inf", "-.inf", "nan". The same in every locale. */
bool number_parse(const char *text, struct number *out);
struct number number_integer(wide_integer value);
struct number number_real(double value);
/* A short text that reads back as the same number. */
const char *number_text(const struct number *number, char *buffer, size_t size);

/* Stores the number as an element. False: an integer type cannot hold it. Floats are rounded to nearest, even. */
bool element_store(enum element element, const struct number *number, void *out);
/* The same for integers, wrapping to the width. */
void element_store_wrapped(enum element element, wide_integer value, void *out);
struct number element_load(enum element element, const void *in);
/* The shortest text that reads back as the same element. */
const char *element_text(enum element element, const void *in, char *buffer, size_t size);

/* |a - b| <= tolerance * max(1, |b|). NaN equals NaN, and with tolerance 0 -0 equals +0. */
bool element_close(enum element element, const void *a, const void *b, double tolerance);

#endif
