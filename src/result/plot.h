/* SPDX-License-Identifier: Apache-2.0 */
/* Plots as SVG: panels one below another, each with lines over a common axis, with bars or with a map. Nothing but the one file is
 * needed to look at it; its colours follow the reader's light or dark. */
#ifndef HEDDLE_RESULT_PLOT_H
#define HEDDLE_RESULT_PLOT_H

#include "result/plot_draw.h"

enum { PLOT_SERIES_MAX = PLOT_COLOURS, PLOT_COLUMNS_MAX = 64 }; /* of lines and bars; columns of a map */

enum plot_kind { PLOT_LINES, PLOT_BARS, PLOT_STACKED, PLOT_HEAT };

struct plot_point {
    double x, y, half; /* half: of an interval around y; 0: there is none */
};

/* What the plot says of one thing: the same place in every panel has the same colour and name; in a map it is a column. A
 * point of bars and maps is one bar or field, its x the number of its category. */
struct plot_series {
    const struct plot_point *points;
    unsigned count;                   /* 0: nothing in this panel */
    const struct plot_point *printed; /* to compare with: bars in outline, a dashed line; not in maps */
    unsigned printed_count;
};

struct plot_panel {
    const char *title, *unit; /* unit: of y; "": none */
    enum plot_kind kind;
    double centre; /* of a map of ratios: fields above it have one colour, those below another; 0: one colour for all */
    const char *const *categories; /* of bars: what stands below each group; of a map: of its rows */
    unsigned category_count;       /* 0: there is one, without a name */
    struct plot_series series[PLOT_COLUMNS_MAX];
};

struct plot {
    const char *title, *x_title; /* x_title: of panels with lines, with its unit */
    const char *names[PLOT_COLUMNS_MAX];
    unsigned series_count;
    struct {
        struct plot_panel *items;
        unsigned count, capacity;
    } panels;
};

/* The document, in the arena. Values are finite; y axes begin at 0, or below for values that do. */
char *plot_svg(const struct plot *plot, struct arena *arena, size_t *length);

#endif
