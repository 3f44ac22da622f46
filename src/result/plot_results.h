/* SPDX-License-Identifier: Apache-2.0 */
/* Plots of result files. */
#ifndef HEDDLE_RESULT_PLOT_RESULTS_H
#define HEDDLE_RESULT_PLOT_RESULTS_H

#include "base/status.h"
#include "result/plot.h"

/* A panel for each of `values`, which ends with NULL: a name of gpu/gpu_series.def is drawn over the cycles, what is
 * counted as so much a cycle; any other is a counter of `total` by its path, drawn as bars. Several launches stand one
 * behind the other. A file is named by the keys of the machine in which the files differ, or by its path. */
enum status plot_results(struct arena *arena, const char *const *paths, unsigned count, const char *const *values,
                         struct plot *out, struct report *report);

#endif
