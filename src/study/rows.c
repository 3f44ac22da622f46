/* SPDX-License-Identifier: Apache-2.0 */
#include "study/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One field of a line; quotes around it are left out. NULL: a quote is not closed. */
static const char *read_field(struct arena *arena, const char **at, const char *end) {
    const bool quoted = *at < end && **at == '"';
    const char *from = *at + quoted, *to = from;
    while (to < end && (quoted ? *to != '"' : *to != ','))
        to++;
    if (quoted && to == end)
        return NULL;
    *at = to + quoted;
    return arena_strndup(arena, from, (size_t)(to - from));
}

enum status rows_next(struct rows *rows, struct arena *arena, const char **fields, unsigned columns, bool *found,
                      struct report *report) {
    *found = false;
    while (rows->at < rows->end) {
        const char *at = rows->at, *end = memchr(at, '\n', (size_t)(rows->end - at));
        end = end ? end : rows->end;
        rows->at = end < rows->end ? end + 1 : end;
        end -= end > at && end[-1] == '\r';
        if (++rows->line == 1 || at == end)
            continue;
        unsigned count = 0;
        for (bool more = true; more && count <= columns; count++) {
            const char *field = read_field(arena, &at, end);
            more = at < end && *at == ',';
            if (!field || (!more && at < end))
                return report_add(report, STATUS_INVALID, "%s:%u: a quote is not where a field begins or ends",
                                  rows->name, rows->line);
            if (count < columns)
                fields[count] = field;
            at += more;
        }
        if (count != columns)
            return report_add(report, STATUS_INVALID, "%s:%u: a row has %u fields, as the heading says", rows->name,
                              rows->line, columns);
        *found = true;
        return STATUS_OK;
    }
    return STATUS_OK;
}

bool rows_number(const char *text, double *out) {
    char *end = NULL;
    *out = strtod(text, &end);
    return *text && !*end && (isnan(*out) || (isfinite(*out) && *out >= 0));
}

const char *rows_plain(struct arena *arena, const char *text) {
    char *copy = arena_strdup(arena, text);
    for (char *at = copy; *at; at++)
        if ((unsigned char)*at < ' ' || *at == '"' || *at == '\\' || *at == 127)
            *at = ' ';
    return copy;
}
