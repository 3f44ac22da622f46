/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of panels of a plot, and what they share. */
#ifndef HEDDLE_RESULT_PLOT_PANEL_H
#define HEDDLE_RESULT_PLOT_PANEL_H

#include <stdbool.h>

#include "result/plot.h"
#include "result/plot_axes.h"

/* The smallest box that holds 0 and every point of these panels. */
struct plot_range {
    double x_low, x_high, y_low, y_high;
};

void range_widen(struct plot_range *range, double x, double y);

bool panel_has_printed(const struct plot *plot, const struct plot_panel *panel);
/* At least one. */
unsigned panel_categories(const struct plot_panel *panel);
/* From one end of a point's interval to the other. */
void panel_draw_interval(struct plot_text *out, const struct plot_point *point, double x, const struct axis *y);

/* plot_bars.c. Groups of bars, one for each category; what was printed stands at the right of ours, as wide. */
void panel_draw_bars(struct plot_text *out, const struct plot *plot, const struct plot_panel *panel,
                     const struct axis *y);
void panel_draw_stacks(struct plot_text *out, const struct plot *plot, const struct plot_panel *panel,
                       const struct axis *y);
/* By how high stacks are. */
void panel_widen_by_stacks(struct plot_range *range, const struct plot *plot, const struct plot_panel *panel);
/* How many degrees the names of categories are turned. */
int panel_category_slant(const struct plot_panel *panel);
void panel_draw_categories(struct plot_text *out, const struct plot_panel *panel, double y);

/* plot_heat.c. What the names of a map's columns take. */
double panel_heat_top(const struct plot *plot, const struct plot_panel *panel);
/* What the two colours of a map of ratios mean. */
void panel_draw_heat_legend(struct plot_text *out, const struct plot_panel *panel, double y);
/* The darker a field the higher its value, or the further from the centre; both ends of the range are those of the data. */
void panel_draw_heat(struct plot_text *out, const struct plot *plot, const struct plot_panel *panel, double top);

#endif
