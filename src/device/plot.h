/* Plots as SVG: panels one below another, each with lines over a common axis or with bars. Nothing but the one file is
 * needed to look at it; its colours follow the reader's light or dark. */
#ifndef HEDDLE_DEVICE_PLOT_H
#define HEDDLE_DEVICE_PLOT_H

#include "base/arena.h"

enum { PLOT_SERIES_MAX = 8 }; /* as many colours as can be told apart */

struct plot_point {
    double x, y;
};

/* What the plot says of one thing: the same place in every panel has the same colour and name. A bar is one point. */
struct plot_series {
    const struct plot_point *points;
    unsigned count; /* 0: nothing in this panel */
};

struct plot_panel {
    const char *title, *unit; /* unit: of y; "": none */
    enum { PLOT_LINES, PLOT_BARS } kind;
    struct plot_series series[PLOT_SERIES_MAX];
};

struct plot {
    const char *title, *x_title; /* x_title: of panels with lines, with its unit */
    const char *names[PLOT_SERIES_MAX];
    unsigned series_count;
    struct {
        struct plot_panel *items;
        unsigned count, capacity;
    } panels;
};

/* The document, in the arena. Values are finite; y axes begin at 0, or below for values that do. */
char *plot_svg(const struct plot *plot, struct arena *arena, size_t *length);

#endif
