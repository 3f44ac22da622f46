/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads run as points of a sweep: through the store, on this computer or by Slurm. */
#ifndef HEDDLE_CLI_SUITE_POINTS_H
#define HEDDLE_CLI_SUITE_POINTS_H

#include "cli/commands.h"

#define SUITE_SEED_MAX ((UINT64_C(1) << 53) - 1) /* as in sweep files */

/* The workloads are the operands behind the first. A table of what came out; STATUS_WRONG: some failed. */
enum status suite_points(struct arguments *arguments, struct report *report);

#endif
