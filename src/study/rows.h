/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a table in a text: fields between commas, quotes around those that have some. The first line is a heading. */
#ifndef HEDDLE_STUDY_ROWS_H
#define HEDDLE_STUDY_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/status.h"

struct rows {
    const char *name, *at, *end; /* name: what messages call the text */
    unsigned line;               /* of the row last read, from 1 on */
};
/* The next row's fields, exactly `columns` of them. found false: there is none. Malformed rows are named with their line. */
enum status rows_next(struct rows *rows, struct arena *arena, const char **fields, unsigned columns, bool *found,
                      struct report *report);
/* A number that is at least 0, or NaN. False: it is none. */
bool rows_number(const char *text, double *out);
/* Text of others for the quotes of another file: control characters, quotes and backslashes as blanks. */
const char *rows_plain(struct arena *arena, const char *text);

#endif
