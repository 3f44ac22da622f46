/* SPDX-License-Identifier: Apache-2.0 */
/* The questions of an experiment: one SELECT each. Messages name the experiment's file and line, one line each. */
#ifndef HEDDLE_REPRO_QUESTION_H
#define HEDDLE_REPRO_QUESTION_H

#include <sqlite3.h>

#include "repro/experiment.h"

/* What a question gave. */
struct answers {
    double *items;
    unsigned count, capacity;
};

/* A file's questions must end, and fit into memory: from here on. */
bool question_limit(sqlite3 *database, struct arena *arena);
/* A SELECT, to be stepped and finalized. */
enum status question_ask(sqlite3 *database, const struct experiment *experiment, const struct yaml_node *sql,
                         sqlite3_stmt **out, struct report *report);
/* What the host or a function says while rows are asked for. */
enum status question_error(sqlite3 *database, const struct experiment *experiment, const struct yaml_node *at,
                           struct report *report);
/* A finite number of a row; anything else is an error. */
enum status question_number(sqlite3_stmt *query, int column, const struct experiment *experiment,
                            const struct yaml_node *sql, double *out, struct report *report);
/* All rows of a SELECT with one column: one number, or one for each input, so many that they have an interval. */
enum status question_answers(sqlite3 *database, const struct experiment *experiment, const struct yaml_node *sql,
                             struct answers *out, struct report *report);
/* That there is one, or that there are enough for an interval. */
enum status question_enough(const struct experiment *experiment, const struct yaml_node *sql, unsigned count,
                            struct report *report);

#endif
