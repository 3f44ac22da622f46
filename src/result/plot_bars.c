/* SPDX-License-Identifier: Apache-2.0 */
/* Panels of bars: side by side or one upon another, and the names of their categories. */
#include <math.h>
#include <stdio.h>

#include "result/plot_panel.h"

/* Of one category, what a series has there, or NULL. */
static const struct plot_point *find_point(const struct plot_point *points, unsigned count, unsigned category) {
    for (unsigned i = 0; i < count; i++)
        if (points[i].x == category)
            return &points[i];
    return NULL;
}

/* Where a bar stands, and whether it is of what was printed: those are drawn in outline. */
struct bar_place {
    unsigned category;
    double x, width;
    bool printed;
};

static void draw_bar(struct plot_text *out, const struct bar_place *at, unsigned s, double from, double to) {
    plot_add(out, "<rect class=\"%s c%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
             at->printed ? "outline" : "bar", s, at->x, fmin(from, to), at->width, fabs(from - to));
}

static void draw_bar_number(struct plot_text *out, double value, int digits, double x, double y) {
    char label[32];
    if (value == floor(value))
        axis_number(label, value, 1);
    else
        snprintf(label, sizeof label, "%.*g", digits, value);
    plot_add_text(out, x, y - 5, "text-anchor=\"middle\"", label);
}

void panel_draw_bars(struct plot_text *out, const struct plot *plot, const struct plot_panel *panel,
                     const struct axis *y) {
    const unsigned groups = panel_categories(panel);
    const double group = (double)FRAME_WIDTH / groups, inner = groups > 1 ? group * 0.84 : group;
    const double share = inner / plot->series_count, width = groups > 1 ? share * 0.94 : fmin(share * 0.6, 90);
    const double zero = axis_place(y, 0), part = panel_has_printed(plot, panel) ? width / 2 : width;
    const int digits = groups > 1 ? 3 : 4;
    const bool numbered = part >= (groups > 1 ? 6 : 1) * LETTER;
    for (unsigned g = 0; g < groups; g++)
        for (unsigned s = 0; s < plot->series_count; s++) {
            const struct plot_series *series = &panel->series[s];
            const struct plot_point *ours = find_point(series->points, series->count, g);
            const struct plot_point *printed = find_point(series->printed, series->printed_count, g);
            const double left = LEFT + group * g + (group - inner) / 2 + share * (s + 0.5) - width / 2;
            if (ours)
                draw_bar(out, &(struct bar_place){.x = left, .width = part}, s, axis_place(y, ours->y), zero);
            if (ours)
                panel_draw_interval(out, ours, left + part / 2, y);
            if (ours && numbered)
                draw_bar_number(out, ours->y, digits, left + part / 2, fmin(axis_place(y, ours->y + ours->half), zero));
            if (printed)
                draw_bar(out, &(struct bar_place){.x = left + part + 0.5, .width = part - 1, .printed = true}, s,
                         axis_place(y, printed->y), zero);
            if (printed && numbered)
                draw_bar_number(out, printed->y, digits, left + part * 1.5, fmin(axis_place(y, printed->y), zero));
        }
}

/* The series of a category one upon another. */
static void draw_stack(struct plot_text *out, const struct plot *plot, const struct plot_panel *panel,
                       const struct bar_place *at, const struct axis *y) {
    double sum = 0;
    for (unsigned s = 0; s < plot->series_count; s++) {
        const struct plot_series *series = &panel->series[s];
        const struct plot_point *point = at->printed ? find_point(series->printed, series->printed_count, at->category)
                                                     : find_point(series->points, series->count, at->category);
        if (!point)
            continue;
        draw_bar(out, at, s, axis_place(y, sum), axis_place(y, sum + point->y));
        sum += point->y;
    }
}

void panel_draw_stacks(struct plot_text *out, const struct plot *plot, const struct plot_panel *panel,
                       const struct axis *y) {
    const unsigned groups = panel_categories(panel);
    const double group = (double)FRAME_WIDTH / groups, width = fmin(group * 0.8, 60);
    const double part = panel_has_printed(plot, panel) ? width / 2 : width;
    for (unsigned g = 0; g < groups; g++) {
        const double left = LEFT + group * (g + 0.5) - width / 2;
        draw_stack(out, plot, panel, &(struct bar_place){.category = g, .x = left, .width = part}, y);
        if (part < width)
            draw_stack(out, plot, panel,
                       &(struct bar_place){.category = g, .x = left + part + 0.5, .width = part - 1, .printed = true},
                       y);
    }
}

void panel_widen_by_stacks(struct plot_range *range, const struct plot *plot, const struct plot_panel *panel) {
    for (unsigned g = 0; g < panel_categories(panel); g++) {
        double ours = 0, printed = 0;
        for (unsigned s = 0; s < plot->series_count; s++) {
            const struct plot_series *series = &panel->series[s];
            const struct plot_point *one = find_point(series->points, series->count, g);
            const struct plot_point *other = find_point(series->printed, series->printed_count, g);
            ours += one ? one->y : 0;
            printed += other ? other->y : 0;
        }
        range_widen(range, 0, fmax(ours, printed));
    }
}

static double category_width(const struct plot_panel *panel) { return (double)FRAME_WIDTH / panel_categories(panel); }

int panel_category_slant(const struct plot_panel *panel) {
    return names_slant(panel->categories, panel->category_count, category_width(panel), LEFT);
}

void panel_draw_categories(struct plot_text *out, const struct plot_panel *panel, double y) {
    for (unsigned g = 0; g < panel->category_count; g++)
        names_draw(out, panel->categories[g], LEFT + category_width(panel) * (g + 0.5), y + 16,
                   panel_category_slant(panel), "end");
}
