/* SPDX-License-Identifier: Apache-2.0 */
/* Panels that are maps: a field for each value, the darker the higher. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "result/plot_panel.h"

static double heat_left(const struct plot_panel *panel) {
    return fmax(LEFT, 16 + LETTER * (double)names_longest(panel->categories, panel->category_count));
}

static double heat_width(const struct plot *plot, const struct plot_panel *panel) {
    return (WIDTH - RIGHT - heat_left(panel)) / plot->series_count;
}

static int heat_slant(const struct plot *plot, const struct plot_panel *panel) {
    return names_slant(plot->names, plot->series_count, heat_width(plot, panel), RIGHT);
}

double panel_heat_top(const struct plot *plot, const struct plot_panel *panel) {
    return names_height(plot->names, plot->series_count, heat_slant(plot, panel));
}

/* How strong a field is, before it is set against the strongest: of ratios twice is as far from the centre as a half. */
static double heat_strength(const struct plot_panel *panel, double value) {
    if (!(panel->centre > 0))
        return value;
    const double ratio = value / panel->centre;
    return ratio >= 1 ? ratio - 1 : ratio > 0.01 ? 1 / ratio - 1 : 99;
}

void panel_draw_heat_legend(struct plot_text *out, const struct plot_panel *panel, double y) {
    char label[2][48];
    snprintf(label[0], sizeof label[0], "below %g", panel->centre);
    snprintf(label[1], sizeof label[1], "above %g", panel->centre);
    for (unsigned i = 0; i < 2; i++) {
        const double x = WIDTH - RIGHT - 160 + 82 * i;
        plot_add(out, "<rect class=\"bar c%u\" x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\"/>\n", 1 - i, x, y - 10);
        plot_add_text(out, x + 17, y, "", label[i]);
    }
}

void panel_draw_heat(struct plot_text *out, const struct plot *plot, const struct plot_panel *panel, double top) {
    const double left = heat_left(panel), width = heat_width(plot, panel);
    const int angle = heat_slant(plot, panel);
    double low = panel->centre > 0 ? 0 : DBL_MAX, high = -DBL_MAX;
    for (unsigned s = 0; s < plot->series_count; s++)
        for (unsigned i = 0; i < panel->series[s].count; i++) {
            low = fmin(low, heat_strength(panel, panel->series[s].points[i].y));
            high = fmax(high, heat_strength(panel, panel->series[s].points[i].y));
        }
    for (unsigned s = 0; s < plot->series_count; s++) {
        names_draw(out, plot->names[s], left + width * (s + 0.5), top - 6, angle, "start");
        for (unsigned i = 0; i < panel->series[s].count; i++) {
            const struct plot_point *point = &panel->series[s].points[i];
            const double strength = heat_strength(panel, point->y), y = top + HEAT_ROW * point->x;
            const double share = high > low ? (strength - low) / (high - low) : panel->centre > 0 ? 0 : 1;
            char label[32];
            plot_add(
                out,
                "<rect class=\"bar c%u\" fill-opacity=\"%.2f\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>\n",
                point->y < panel->centre ? 1u : 0u, panel->centre > 0 ? share : 0.04 + 0.96 * share,
                left + width * s + 0.5, y + 0.5, width - 1, HEAT_ROW - 1);
            snprintf(label, sizeof label, "%.3g", point->y);
            plot_add_text(out, left + width * (s + 0.5), y + HEAT_ROW - 6.0,
                          share > 0.55 ? "class=\"on\" text-anchor=\"middle\"" : "text-anchor=\"middle\"", label);
        }
    }
    for (unsigned g = 0; g < panel->category_count; g++)
        plot_add_text(out, left - 8, top + HEAT_ROW * (g + 1) - 6.0, "text-anchor=\"end\"", panel->categories[g]);
}
