/* SPDX-License-Identifier: Apache-2.0 */
/* The results of a sweep as one table: a row for each point. */
#ifndef HEDDLE_STORE_COLLECT_H
#define HEDDLE_STORE_COLLECT_H

#include <jansson.h>
#include <stdio.h>

#include "store/plan.h"

struct collect_value {
    enum { COLLECT_NONE, COLLECT_WHOLE, COLLECT_REAL } kind;
    union {
        int64_t whole;
        double real;
    };
};

#define COLLECT_BITS "hardware.bits"

struct collection {
    const struct sweep *sweep;
    const struct plan *plan;
    unsigned *columns; /* of the sweep */
    unsigned column_count;
    struct {
        const char **items;
        unsigned count, capacity;
    } measures;          /* every number of the results' totals */
    const json_t *units; /* of the measures that have one, by name; NULL: there is no result */
    struct collect_row {
        struct collect_value *values; /* of the first measures; the rest are none */
        unsigned count;
    } * rows; /* by point of the plan */
};

struct collect_options {
    bool every_column; /* of the sweep; otherwise the program, the machine, and what varies */
    bool costs;        /* also what the mechanism's hardware holds in an SM, as COLLECT_BITS */
    void (*visit)(void *visitor, uint64_t number, json_t *result); /* called with each result; may be NULL */
    void *visitor;
};

/* Reads every result there is. */
enum status collect_read(const struct plan *plan, const struct store *store, const struct collect_options *options,
                         struct collection *out, struct report *report);
/* Of a point by its place in the plan. */
struct collect_value collect_value(const struct collection *collection, uint64_t row, unsigned measure);
/* NULL: it has none. */
const char *collect_unit(const struct collection *collection, unsigned measure);
/* A heading, then lines; what is not there is empty. Text that a spreadsheet would take for a formula has a ' before it. */
void collect_csv(const struct collection *collection, FILE *to);
/* A database with the tables of docs/sweeps.md; a file that is there is replaced, in one step. */
enum status collect_sqlite(const struct collection *collection, const struct store *store, const char *path,
                           struct report *report);
/* Gives back what is not in an arena. */
void collect_free(struct collection *collection);

/* Adds the rows to the table `points` of a database, which is made and gets columns as they are needed; `first` is added to
 * the points' numbers. SQLite's code. */
struct sqlite3;
int collect_into(const struct collection *collection, uint64_t first, struct sqlite3 *database);
/* A text as a value of a statement: a number where it looks like one, so that WHERE and ORDER BY take it as one. */
struct sqlite3_stmt;
void collect_bind(struct sqlite3_stmt *insert, int at, const char *text);

#endif
