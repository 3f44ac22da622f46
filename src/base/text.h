/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text, the same in every locale, the nearest of several names, and lines that are put together piece by piece. */
#ifndef HEDDLE_BASE_TEXT_H
#define HEDDLE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole text is one number, or false: no blanks around it, no overflow, no sign for u64. Decimal or 0x. */
bool text_to_u64(const char *text, uint64_t *value);
bool text_to_i64(const char *text, int64_t *value);
/* As strtod in the C locale; "inf" and "nan" too. A number too big for a double is refused. */
bool text_to_f64(const char *text, double *value);
/* The shortest decimal text that reads back as the same double. */
enum { TEXT_F64_BYTES = 32 };
const char *text_from_f64(double value, char buffer[TEXT_F64_BYTES]);

/* Insertions, deletions, replacements and swaps of neighbours that make b of a; names beyond 64 bytes count as
 * wholly different. */
unsigned text_distance(const char *a, const char *b);
/* Keeps the best of the names seen so far: start with a zeroed struct, ask `best` at the end (NULL: none is near). */
struct text_nearest {
    const char *best;
    unsigned distance;
};
void text_nearest_try(struct text_nearest *nearest, const char *wanted, const char *name);

/* Text in a buffer of `size` bytes, which ends where there is no more room: start with length 0. */
struct text_line {
    char *text;
    unsigned size, length;
};
void text_put(struct text_line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same of a text as it is, and of a number in digits of base 2 to 16: where much is written, as listings, nothing is formatted. */
void text_append(struct text_line *line, const char *text);
void text_append_number(struct text_line *line, uint64_t value, unsigned base);
/* As before the lines of a listing: a comment of four digits or more. */
void text_append_address(struct text_line *line, uint32_t address);

/* Bytes of the character that the text begins with; 0: it is one that a terminal acts on, or that is none of UTF-8. Of control
 * characters newline and tab are plain. Characters that turn the direction of writing, and so make a line look like
 * another, are not. */
unsigned text_plain_bytes(const char *text);

#endif
