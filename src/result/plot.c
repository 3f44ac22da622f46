/* SPDX-License-Identifier: Apache-2.0 */
#include "result/plot.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "result/plot_panel.h"

/* ---- what panels share ---- */

void range_widen(struct plot_range *range, double x, double y) {
    range->x_low = fmin(range->x_low, x), range->x_high = fmax(range->x_high, x);
    range->y_low = fmin(range->y_low, y), range->y_high = fmax(range->y_high, y);
}

bool panel_has_printed(const struct plot *plot, const struct plot_panel *panel) {
    for (unsigned s = 0; s < plot->series_count; s++)
        if (panel->series[s].printed_count)
            return true;
    return false;
}

unsigned panel_categories(const struct plot_panel *panel) { return panel->category_count ? panel->category_count : 1; }

void panel_draw_interval(struct plot_text *out, const struct plot_point *point, double x, const struct axis *y) {
    if (point->half > 0)
        plot_add(out, "<path class=\"whisker\" d=\"M%.1f %.1fV%.1fM%.1f %.1fh6M%.1f %.1fh6\"/>\n", x,
                 axis_place(y, point->y - point->half), axis_place(y, point->y + point->half), x - 3,
                 axis_place(y, point->y - point->half), x - 3, axis_place(y, point->y + point->half));
}

static void widen(struct plot_range *range, const struct plot *plot, const struct plot_panel *panel) {
    for (unsigned s = 0; s < plot->series_count; s++) {
        const struct plot_series *series = &panel->series[s];
        for (unsigned i = 0; i < series->count; i++) {
            const struct plot_point *point = &series->points[i];
            range_widen(range, point->x, point->y + point->half);
            range_widen(range, point->x, point->half > 0 ? point->y - point->half : point->y);
        }
        for (unsigned i = 0; i < series->printed_count; i++)
            range_widen(range, series->printed[i].x, series->printed[i].y);
    }
}

static bool has_intervals(const struct plot *plot, const struct plot_panel *panel) {
    for (unsigned s = 0; s < plot->series_count; s++)
        for (unsigned i = 0; i < panel->series[s].count; i++)
            if (panel->series[s].points[i].half > 0)
                return true;
    return false;
}

/* ---- lines ---- */

struct axes {
    const struct axis *x, *y;
};

static void draw_line(struct plot_text *out, const struct axes *axes, const struct plot_point *points, unsigned count,
                      const char *style, unsigned s) {
    enum { MARKED_MAX = 40 };
    const struct axis *x = axes->x, *y = axes->y;
    if (!count)
        return;
    plot_add(out, "<polyline class=\"line%s c%u\" points=\"", style, s);
    for (unsigned i = 0; i < count; i++)
        plot_add(out, "%s%.1f,%.1f", i ? " " : "", axis_place(x, points[i].x), axis_place(y, points[i].y));
    plot_add(out, "\"/>\n");
    for (unsigned i = 0; i < count; i++)
        panel_draw_interval(out, &points[i], axis_place(x, points[i].x), y);
    for (unsigned i = 0; i < count && count <= MARKED_MAX; i++)
        plot_add(out, "<circle class=\"%s c%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", *style ? "outline" : "bar", s,
                 axis_place(x, points[i].x), axis_place(y, points[i].y));
}

static void draw_lines(struct plot_text *out, const struct plot *plot, const struct plot_panel *panel,
                       const struct axes *axes) {
    for (unsigned s = 0; s < plot->series_count; s++) {
        const struct plot_series *series = &panel->series[s];
        draw_line(out, axes, series->printed, series->printed_count, " dashed", s);
        draw_line(out, axes, series->points, series->count, "", s);
    }
}

/* ---- panels ---- */

/* What stands between this panel's top and the next one's. */
static double panel_height(const struct plot *plot, const struct plot_panel *panel) {
    if (panel->kind == PLOT_HEAT)
        return PANEL_TOP + panel_heat_top(plot, panel) + HEAT_ROW * panel->category_count;
    const double names =
        panel->category_count ? names_height(panel->categories, panel->category_count, panel_category_slant(panel)) : 0;
    return PANEL_TOP + FRAME_HEIGHT + (panel->kind == PLOT_LINES ? AXIS : names);
}

static void draw_frame(struct plot_text *out, const struct plot *plot, const struct plot_panel *panel, struct axis x,
                       double top) {
    struct plot_range range = {0};
    if (panel->kind == PLOT_STACKED)
        panel_widen_by_stacks(&range, plot, panel);
    else
        widen(&range, plot, panel);
    /* the number above the highest bar needs room */
    struct axis y = axis_make(range.y_low, range.y_high * (panel->kind == PLOT_BARS ? 1.08 : 1), 5);
    y.pixel = top + FRAME_HEIGHT, y.pixels = -FRAME_HEIGHT;
    axis_draw_y(out, &y);
    if (panel->kind == PLOT_BARS)
        panel_draw_bars(out, plot, panel, &y);
    else if (panel->kind == PLOT_STACKED)
        panel_draw_stacks(out, plot, panel, &y);
    else {
        draw_lines(out, plot, panel, &(struct axes){&x, &y});
        axis_draw_x(out, &x, top + FRAME_HEIGHT);
    }
    panel_draw_categories(out, panel, top + FRAME_HEIGHT);
    plot_add(out, "<path class=\"axis\" d=\"M%d %.1fV%.1fH%d\"/>\n", LEFT, top, top + FRAME_HEIGHT, LEFT + FRAME_WIDTH);
}

/* Its frame begins at `top`. */
static void draw_panel(struct plot_text *out, const struct plot *plot, const struct plot_panel *panel, struct axis x,
                       double top) {
    plot_add(out, "<text class=\"title\" x=\"%d\" y=\"%.1f\">", LEFT, top - 10);
    plot_add_escaped(out, panel->title);
    if (*panel->unit) {
        plot_add(out, "<tspan class=\"unit\">, ");
        plot_add_escaped(out, panel->unit);
        plot_add(out, "</tspan>");
    }
    plot_add(out, "</text>\n");
    if (panel->kind == PLOT_HEAT && panel->centre > 0)
        panel_draw_heat_legend(out, panel, top - 10);
    if (panel->kind == PLOT_HEAT)
        panel_draw_heat(out, plot, panel, top + panel_heat_top(plot, panel));
    else
        draw_frame(out, plot, panel, x, top);
}

/* ---- the whole ---- */

static double legend_entry(struct plot_text *out, const char *style, unsigned s, const char *name, double *x,
                           double y) {
    const double width = 36 + LETTER * (double)strlen(name);
    if (*x > LEFT && *x + width > WIDTH - RIGHT)
        *x = LEFT, y += LINE;
    if (out) {
        plot_add(out, "<rect class=\"%s c%u\" x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"%d\"/>\n", style, s, *x,
                 y - 6, 4);
        plot_add_text(out, *x + 19, y, "", name);
    }
    *x += width;
    return y;
}

/* Where the legend ends; draws it unless `out` is NULL. Maps name their columns themselves. */
static double legend(struct plot_text *out, const struct plot *plot, double y) {
    double x = LEFT;
    bool printed = false, lines = false, intervals = false;
    if (plot->panels.count && plot->panels.items[0].kind == PLOT_HEAT)
        return y - LINE;
    for (unsigned s = 0; s < plot->series_count; s++)
        y = legend_entry(out, "bar", s, plot->names[s], &x, y);
    for (unsigned i = 0; i < plot->panels.count; i++) {
        printed |= panel_has_printed(plot, &plot->panels.items[i]);
        lines |= plot->panels.items[i].kind == PLOT_LINES;
        intervals |= has_intervals(plot, &plot->panels.items[i]);
    }
    if (printed)
        y = legend_entry(out, "outline", PLOT_SERIES_MAX, lines ? "dashed: published" : "in outline: published", &x, y);
    if (intervals)
        y = legend_entry(out, "whisker", PLOT_SERIES_MAX, "95 % interval", &x, y);
    return y;
}

char *plot_svg(const struct plot *plot, struct arena *arena, size_t *length) {
    const double legend_y = *plot->title ? 48 : 24, first = legend(NULL, plot, legend_y) + 4;
    double height = first + 12;
    struct plot_range range = {0};
    struct plot_text out = {.arena = arena};
    unsigned last_lines = UINT32_MAX;
    for (unsigned i = 0; i < plot->panels.count; i++) {
        const struct plot_panel *panel = &plot->panels.items[i];
        height += panel_height(plot, panel);
        if (panel->kind == PLOT_LINES)
            widen(&range, plot, panel), last_lines = i;
    }
    height += last_lines != UINT32_MAX ? LINE : 0;
    struct axis x = axis_make(range.x_low, range.x_high, 8);
    x.high = range.x_high > x.low ? range.x_high : x.high; /* the axis ends with the data, not with a round number */
    x.pixel = LEFT, x.pixels = FRAME_WIDTH;
    plot_add_head(&out, "heddle-plot", WIDTH, height);
    plot_add_text(&out, LEFT, 24, "class=\"heading\"", plot->title);
    legend(&out, plot, legend_y);
    double top = first;
    for (unsigned i = 0; i < plot->panels.count; i++) {
        const struct plot_panel *panel = &plot->panels.items[i];
        draw_panel(&out, plot, panel, x, top + PANEL_TOP);
        top += panel_height(plot, panel);
        if (i == last_lines) {
            plot_add_text(&out, LEFT + FRAME_WIDTH / 2.0, top + 12, "text-anchor=\"middle\"", plot->x_title);
            top += LINE;
        }
    }
    plot_add(&out, "</svg>\n");
    *length = out.count;
    *ARENA_PUSH(arena, &out) = '\0';
    return out.items;
}
