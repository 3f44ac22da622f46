/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/scan.h"

#include <string.h>

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool scan_line(struct scan *scan) {
    if (scan->next == scan->end)
        return false;
    const char *feed = memchr(scan->next, '\n', (size_t)(scan->end - scan->next));
    scan->at = scan->next, scan->line_end = feed ? feed : scan->end;
    scan->next = feed ? feed + 1 : scan->end;
    scan->line++;
    return true;
}

struct scan_word scan_word(struct scan *scan) {
    while (scan->at < scan->line_end && is_blank(*scan->at))
        scan->at++;
    struct scan_word word = {.text = scan->at};
    while (scan->at < scan->line_end && !is_blank(*scan->at))
        scan->at++;
    word.length = (size_t)(scan->at - word.text);
    return word;
}

bool scan_is(struct scan_word word, const char *text) {
    return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

static unsigned digit_of(char c) {
    return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
           : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                  : 16;
}

bool scan_number(struct scan_word word, unsigned base, uint64_t max, uint64_t *out) {
    uint64_t value = 0;
    if (base == 16 && word.length > 2 && word.text[0] == '0' && word.text[1] == 'x')
        word.text += 2, word.length -= 2;
    for (size_t i = 0; i < word.length; i++) {
        const unsigned digit = digit_of(word.text[i]);
        if (digit >= base || value > (max - digit) / base || digit > max)
            return false;
        value = value * base + digit;
    }
    *out = value;
    return word.length != 0;
}

bool scan_take(struct scan *scan, unsigned base, uint64_t max, uint64_t *out) {
    return scan_number(scan_word(scan), base, max, out);
}

bool scan_register(struct scan_word word, unsigned *out) {
    uint64_t number;
    if (scan_is(word, "RZ")) {
        *out = 255;
        return true;
    }
    if (word.length < 2 || word.text[0] != 'R' ||
        !scan_number((struct scan_word){word.text + 1, word.length - 1}, 10, 255, &number))
        return false;
    *out = (unsigned)number;
    return true;
}

struct scan_word scan_rest(struct scan *scan) {
    while (scan->at < scan->line_end && is_blank(*scan->at))
        scan->at++;
    struct scan_word word = {.text = scan->at, .length = (size_t)(scan->line_end - scan->at)};
    while (word.length && is_blank(word.text[word.length - 1]))
        word.length--;
    scan->at = scan->line_end;
    return word;
}
