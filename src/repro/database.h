/* SPDX-License-Identifier: Apache-2.0 */
/* What an experiment's questions are asked of: a database in memory with the tables `points`, `series`, `instructions`,
 * `printed`, `costs`, `oracle`, `steps`, `held` and those that the experiment makes of them; aggregates hmean, gmean, median,
 * half_width. */
#ifndef HEDDLE_REPRO_DATABASE_H
#define HEDDLE_REPRO_DATABASE_H

#include <sqlite3.h>

#include "repro/experiment.h"

/* Messages name the experiment's file and line, one line each. *out is to be closed whatever happens. */
enum status database_open(struct experiment *experiment, const struct store *store, sqlite3 **out,
                          struct report *report);

#endif
