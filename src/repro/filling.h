/* SPDX-License-Identifier: Apache-2.0 */
/* An experiment's database while its tables are filled, for database.c and database_runs.c. */
#ifndef HEDDLE_REPRO_FILLING_H
#define HEDDLE_REPRO_FILLING_H

#include "repro/database.h"

struct filling {
    sqlite3 *database;
    struct experiment *e;
    const struct store *store;
    struct report *report;
    uint64_t first;             /* added to the numbers of the sweep's points */
    sqlite3_stmt *series;       /* fills a row; NULL: nobody asks for series, or none was there yet */
    sqlite3_stmt *instructions; /* NULL: nobody asks for them */
    bool wants_series;
    int code; /* of filling them */
};

struct columns {
    const char **items;
    unsigned count, capacity;
};

/* A table with these columns, and the statement that fills a row of it. */
int filling_make_table(struct filling *f, const char *name, const struct columns *columns, sqlite3_stmt **insert);
/* Ends the row whose values are bound; the next begins with NULLs. */
bool filling_add_row(sqlite3_stmt *insert);

/* What reconvergence could gain, by an oracle of the experiment's studies. */
enum status filling_add_studies(struct filling *f);
/* What machines that are watched issue, step by step, and what their mechanism holds. */
enum status filling_add_watched(struct filling *f);

#endif
