/* The results of a sweep as one table: a row for each point. */
#ifndef HEDDLE_STORE_COLLECT_H
#define HEDDLE_STORE_COLLECT_H

#include <stdio.h>

#include "store/plan.h"

struct collect_value {
    enum { COLLECT_NONE, COLLECT_WHOLE, COLLECT_REAL } kind;
    union {
        int64_t whole;
        double real;
    };
};

struct collection {
    const struct sweep *sweep;
    const struct plan *plan;
    unsigned *columns; /* of the sweep: the program, the machine, and what varies */
    unsigned column_count;
    struct {
        const char **items;
        unsigned count, capacity;
    } measures; /* every number of the results' totals */
    struct collect_row {
        struct collect_value *values; /* of the first measures; the rest are none */
        unsigned count;
    } * rows; /* by point of the plan */
};

/* Reads every result there is. */
enum status collect_read(const struct sweep *sweep, const struct plan *plan, const struct store *store,
                         struct collection *out, struct report *report);
/* A heading, then lines; what is not there is empty. STATUS_SYSTEM: it could not be written. */
enum status collect_csv(const struct collection *collection, FILE *to, struct report *report);
/* A database with the table `points`; a file that is there is replaced, in one step. */
enum status collect_sqlite(const struct collection *collection, const char *path, struct report *report);

#endif
