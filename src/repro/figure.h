/* SPDX-License-Identifier: Apache-2.0 */
/* A figure of an experiment: what a SELECT gives, drawn. */
#ifndef HEDDLE_REPRO_FIGURE_H
#define HEDDLE_REPRO_FIGURE_H

#include "repro/database.h"

/* Columns x, series, y, `half_width` where y has an interval, and `printed` where something was published; sets the figure's SVG. */
enum status figure_draw(struct experiment *experiment, struct experiment_figure *figure, sqlite3 *database,
                        struct report *report);

#endif
