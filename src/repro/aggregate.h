/* SPDX-License-Identifier: Apache-2.0 */
/* Means that SQLite lacks, and the interval of one. */
#ifndef HEDDLE_REPRO_AGGREGATE_H
#define HEDDLE_REPRO_AGGREGATE_H

#include <sqlite3.h>

/* hmean(x), gmean(x), median(x), and half_width(x) of the interval of the mean (interval.h): NULLs are left out; of no value
 * they are NULL. SQLite's code. */
int aggregate_add(sqlite3 *database);

#endif
