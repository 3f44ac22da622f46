/* SPDX-License-Identifier: Apache-2.0 */
/* What an experiment's questions are asked of: a database in memory with the tables `points`, `series`, `instructions`,
 * `printed`, `costs`, `oracle`, `steps`, `held` and those that the experiment makes of them; aggregates hmean, gmean, median. */
#ifndef HEDDLE_REPRO_DATABASE_H
#define HEDDLE_REPRO_DATABASE_H

#include <sqlite3.h>

#include "repro/experiment.h"

/* Messages name the experiment's file and line, one line each. *out is to be closed whatever happens. */
enum status database_open(struct experiment *experiment, const struct store *store, sqlite3 **out,
                          struct report *report);
/* A SELECT, to be stepped and finalized. */
enum status database_query(sqlite3 *database, const struct experiment *experiment, const struct yaml_node *sql,
                           sqlite3_stmt **out, struct report *report);
/* What the host or a function says while rows are asked for. */
enum status database_error(sqlite3 *database, const struct experiment *experiment, const struct yaml_node *at,
                           struct report *report);
/* The one number that a SELECT gives; none, or NULL, is an error. */
enum status database_number(sqlite3 *database, const struct experiment *experiment, const struct yaml_node *sql,
                            double *out, struct report *report);

#endif
