/* SPDX-License-Identifier: Apache-2.0 */
/* PTX of several files becomes one text. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/parts.h"

enum { SOURCES_MAX = 100000 }; /* more are not told apart */

/* What is said once for a module stands at the top of each of them. */
static bool is_header(const char *line) {
    static const char *const words[] = {".version", ".target", ".address_size"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(line, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

static bool is_of_name(char letter) { return isalnum((unsigned char)letter) || letter == '_' || letter == '$'; }

/* The number of a source file that is said here, at the beginning of a word; NULL: none is. */
static const char *source_number(const char *text, const char *at) {
    static const char *const words[] = {".file", ".loc", "inlined_at"};
    if (at > text && (is_of_name(at[-1]) || at[-1] == '.'))
        return NULL;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i]);
        if (strncmp(at, words[i], length) != 0)
            continue;
        const char *digits = at + length + strspn(at + length, " \t");
        return isdigit((unsigned char)*digits) ? digits : NULL;
    }
    return NULL;
}

static unsigned long highest_source(const char *text) {
    unsigned long highest = 0;
    for (const char *at = text; *at; at++) {
        const char *digits = *at == '.' || *at == 'i' ? source_number(text, at) : NULL;
        const unsigned long number = digits ? strtoul(digits, NULL, 10) : 0;
        highest = number > highest ? number : highest;
    }
    return highest;
}

/* A later file: without its header, and with names of its own where compilers give them only for the file, as $str: these begin
 * with $, and get the file's number. Source files are numbered behind those that there are. */
static void add_file(char *to, const char *text, unsigned number, unsigned long sources) {
    const char tag[] = {'$', (char)('0' + number / 100 % 10), (char)('0' + number / 10 % 10),
                        (char)('0' + number % 10)};
    bool in_string = false;
    for (const char *at = text; *at; at++) {
        const bool begins_line = at == text || at[-1] == '\n';
        if (begins_line && is_header(at)) {
            at += strcspn(at, "\n");
            if (!*at)
                break;
        }
        in_string ^= *at == '"';
        const char *digits = (*at == '.' || *at == 'i') && !in_string ? source_number(text, at) : NULL;
        if (digits) {
            char *end;
            const unsigned long source = strtoul(digits, &end, 10);
            to += sprintf(to, "%.*s%lu", (int)(digits - at), at, sources + source % SOURCES_MAX);
            at = end - 1;
            continue;
        }
        if (*at == '$' && !in_string && !(at > text && is_of_name(at[-1]))) {
            memcpy(to, tag, sizeof tag);
            to += sizeof tag;
        }
        *to++ = *at;
    }
    *to = 0;
}

char *parts_append(struct arena *arena, const char *all, const char *next, unsigned number) {
    enum { ROOM_TIMES = 5 }; /* a text of $ alone becomes five times as long; numbers grow by less */
    const size_t bytes = strlen(all);
    char *text = arena_alloc_unset(arena, bytes + ROOM_TIMES * strlen(next) + 2);
    memcpy(text, all, bytes + 1);
    text[bytes] = '\n';
    add_file(text + bytes + 1, next, number, highest_source(all) % SOURCES_MAX);
    return text;
}
