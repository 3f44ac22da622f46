/* SPDX-License-Identifier: Apache-2.0 */
/* The map of a survey: a panel for each machine, a row for each workload, a column for each mechanism. */
#ifndef HEDDLE_REPRO_SURVEY_MAP_H
#define HEDDLE_REPRO_SURVEY_MAP_H

#include "base/arena.h"

enum { SURVEY_MAP_COLUMNS_MAX = 80, SURVEY_MAP_ROWS_MAX = 1000, SURVEY_MAP_PANELS_MAX = 16 };

struct survey_field {
    const char *panel, *row, *column;
    double ratio;       /* 0: there is none */
    const char *reason; /* why there is none; else NULL */
};

struct survey_fields {
    struct survey_field *items;
    unsigned count, capacity;
};

/* Panels, rows and columns stand in the order in which fields name them first. NULL: there are more than above. */
char *survey_map_svg(const struct survey_fields *fields, const char *title, struct arena *arena, size_t *length);

#endif
