/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool text_to_u64(const char *text, uint64_t *value) {
    unsigned base = 10;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text += 2;
    }
    if (!*text)
        return false;
    uint64_t result = 0;
    for (; *text; text++) {
        unsigned digit;
        if (*text >= '0' && *text <= '9')
            digit = (unsigned)(*text - '0');
        else if (base == 16 && isxdigit((unsigned char)*text))
            digit = (unsigned)((*text | 0x20) - 'a') + 10;
        else
            return false;
        if (__builtin_mul_overflow(result, (uint64_t)base, &result) ||
            __builtin_add_overflow(result, (uint64_t)digit, &result))
            return false;
    }
    *value = result;
    return true;
}

bool text_to_i64(const char *text, int64_t *value) {
    bool negative = text[0] == '-';
    uint64_t magnitude;
    if (!text_to_u64(text + negative, &magnitude))
        return false;
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return false;
    *value = negative ? (int64_t)-magnitude : (int64_t)magnitude;
    return true;
}

bool text_to_f64(const char *text, double *value) {
    if (!*text || isspace((unsigned char)*text))
        return false;
    /* glibc hands out its built-in object for the C locale: nothing is allocated. */
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale)
        return false;
    char *end;
    errno = 0;
    double result = strtod_l(text, &end, c_locale);
    bool overflow = errno == ERANGE && isinf(result);
    freelocale(c_locale);
    if (*end || end == text || overflow)
        return false;
    *value = result;
    return true;
}

const char *text_from_f64(double value, char buffer[TEXT_F64_BYTES]) {
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(c_locale);
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buffer, TEXT_F64_BYTES, "%.*g", digits, value);
        if (isnan(value) || strtod(buffer, NULL) == value)
            break;
    }
    uselocale(before);
    freelocale(c_locale);
    return buffer;
}

enum { NAME_MAX_BYTES = 64 };

static unsigned smallest(unsigned a, unsigned b) { return a < b ? a : b; }

unsigned text_distance(const char *a, const char *b) {
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length > NAME_MAX_BYTES || b_length > NAME_MAX_BYTES)
        return NAME_MAX_BYTES;
    /* rows[i % 3][j]: distance between the first i bytes of a and the first j of b (optimal string alignment). */
    unsigned rows[3][NAME_MAX_BYTES + 1];
    for (unsigned j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= a_length; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (unsigned j = 1; j <= b_length; j++) {
            unsigned best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = smallest(best, smallest(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = smallest(best, two_above[j - 2] + 1);
            row[j] = best;
        }
    }
    return rows[a_length % 3][b_length];
}

/* A longer name's beginning with at most one slip in it, and one for what is left out: "l1.size" and "l1.sise" of l1.size_bytes. */
static unsigned distance_of_beginning(const char *wanted, const char *name) {
    const size_t length = strlen(wanted);
    if (length < 4 || length > NAME_MAX_BYTES || strlen(name) <= length)
        return UINT_MAX;
    char beginning[NAME_MAX_BYTES + 1];
    memcpy(beginning, name, length);
    beginning[length] = '\0';
    const unsigned slips = text_distance(wanted, beginning);
    return slips <= 1 ? 1 + slips : UINT_MAX;
}

void text_nearest_try(struct text_nearest *nearest, const char *wanted, const char *name) {
    const unsigned distance = smallest(text_distance(wanted, name), distance_of_beginning(wanted, name));
    /* A third of the letters wrong is a slip, more is another word. */
    if (distance > 1 + strlen(wanted) / 3)
        return;
    if (!nearest->best || distance < nearest->distance) {
        nearest->best = name;
        nearest->distance = distance;
    }
}

void text_put(struct text_line *line, const char *format, ...) {
    if (line->length + 1 >= line->size)
        return;
    va_list arguments;
    va_start(arguments, format);
    const int written = vsnprintf(line->text + line->length, line->size - line->length, format, arguments);
    va_end(arguments);
    const unsigned room = line->size - line->length - 1;
    line->length += written < 0 ? 0 : (unsigned)written < room ? (unsigned)written : room;
}

void text_append(struct text_line *line, const char *text) {
    if (line->length + 1 >= line->size)
        return;
    const unsigned room = line->size - line->length - 1;
    const size_t bytes = strlen(text);
    const unsigned taken = bytes < room ? (unsigned)bytes : room;
    memcpy(line->text + line->length, text, taken);
    line->length += taken;
    line->text[line->length] = '\0';
}

void text_append_number(struct text_line *line, uint64_t value, unsigned base) {
    enum { DIGITS = 64 };
    char digits[DIGITS + 1] = "";
    unsigned at = DIGITS;
    do
        digits[--at] = "0123456789abcdef"[value % base];
    while (value /= base);
    text_append(line, digits + at);
}

void text_append_address(struct text_line *line, uint32_t address) {
    text_append(line, "/*");
    for (uint32_t least = 0x1000; address < least && least > 1; least >>= 4)
        text_append(line, "0");
    text_append_number(line, address, 16);
    text_append(line, "*/ ");
}

unsigned text_plain_bytes(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    const unsigned char first = at[0];
    if (first < 0x80)
        return (first >= 0x20 && first != 0x7f) || first == '\n' || first == '\t';
    const unsigned bytes = first >= 0xc2 && first < 0xe0   ? 2
                           : first >= 0xe0 && first < 0xf0 ? 3
                           : first >= 0xf0 && first < 0xf5 ? 4
                                                           : 0;
    for (unsigned i = 1; i < bytes; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    const bool is_none = (first == 0xe0 && at[1] < 0xa0) || (first == 0xed && at[1] >= 0xa0) ||
                         (first == 0xf0 && at[1] < 0x90) || (first == 0xf4 && at[1] >= 0x90);
    const bool is_control = first == 0xc2 && at[1] < 0xa0;
    const bool turns = (first == 0xe2 && at[1] == 0x80 && at[2] >= 0xaa && at[2] <= 0xae) ||
                       (first == 0xe2 && at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9);
    return is_none || is_control || turns ? 0 : bytes;
}
