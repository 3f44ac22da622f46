/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a text, and the words of a line: what reads foreign traces, and listings of them. */
#ifndef HEDDLE_TRACE_SCAN_H
#define HEDDLE_TRACE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scan {
    const char *next, *end;    /* of the text, behind the line */
    const char *at, *line_end; /* in the line */
    uint32_t line;             /* its number */
};

/* A word that nothing follows is empty. */
struct scan_word {
    const char *text;
    size_t length;
};

/* Goes to the next line; false: there is none. */
bool scan_line(struct scan *scan);
/* The next word of the line, up to a blank. */
struct scan_word scan_word(struct scan *scan);
bool scan_is(struct scan_word word, const char *text);
/* The word is a number of that base, 10 or 16 (with 0x or without), and no more than max. */
bool scan_number(struct scan_word word, unsigned base, uint64_t max, uint64_t *out);
/* The same of the next word. */
bool scan_take(struct scan *scan, unsigned base, uint64_t max, uint64_t *out);
/* R0 to R254, R255 or RZ. */
bool scan_register(struct scan_word word, unsigned *out);
/* The rest of the line, without blanks around it. */
struct scan_word scan_rest(struct scan *scan);

#endif
