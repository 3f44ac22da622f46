/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of text as wide as what stands in them. */
#ifndef HEDDLE_CLI_TABLE_H
#define HEDDLE_CLI_TABLE_H

#include "base/arena.h"
#include <stdio.h>

enum { TABLE_COLUMNS_MAX = 20 };

struct table {
    struct arena *arena;
    unsigned columns;
    unsigned left;      /* bit i: column i is text, set to the left; the others are numbers, set to the right */
    int elastic;        /* the column that is cut when the table is wider than the terminal; -1: none */
    unsigned optional;  /* bit i: column i is left out where a terminal is too narrow still, the last one first */
    const char **items; /* row by row; the first row is the heading */
    unsigned count, capacity;
};

/* Adds the next cell. */
void table_add(struct table *table, const char *text);
void table_print(const struct table *table, FILE *to);
/* A text in lines that fit the terminal, a newline at its end. The first begins where the cursor stands, which is column
 * `indent`, the others are set in as far; newlines in the text stay. */
void text_wrap(const char *text, unsigned indent, FILE *to);

#endif
