/* SPDX-License-Identifier: Apache-2.0 */
/* heddle compare --table. */
#ifndef HEDDLE_CLI_COMPARE_TABLE_H
#define HEDDLE_CLI_COMPARE_TABLE_H

#include "base/arena.h"
#include "base/status.h"

/* Prints one table, a row for each result file, whatever ran in it. */
enum status compare_table(struct arena *arena, const char *const *paths, unsigned count, struct report *report);

#endif
