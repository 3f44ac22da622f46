/* SPDX-License-Identifier: Apache-2.0 */
#include "result/plot.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* In pixels of the drawing: a panel's frame, and what stands around it. */
#define WIDTH 760
#define LEFT 78
#define RIGHT 18
#define FRAME_WIDTH (WIDTH - LEFT - RIGHT)
#define FRAME_HEIGHT 170
#define PANEL_TOP 34 /* for its title */
#define AXIS 22      /* for the numbers below it */
#define LETTER 7     /* about as wide as one is */
#define LINE 20
#define HEAT_ROW 22 /* of a map */

/* ---- axes ---- */

struct axis {
    double low, high, step;
    double pixel, pixels; /* where low stands, and how far high is from it */
};

/* The largest power of ten that is not above a positive value, by steps: no libm, so the same on every host. */
static double power_of_ten(double value) {
    double power = 1;
    for (; power > value; power /= 10)
        ;
    for (; power < 1e300 && power * 10 <= value; power *= 10)
        ;
    return power;
}

/* Digits behind the point that a step of 1, 2 or 5 times a power of ten needs. */
static int digits_of(double step) {
    int digits = 0;
    for (double unit = 1; unit > step * (1 + 1e-9); unit /= 10)
        digits++;
    return digits;
}

/* Round numbers around what is shown: a step of 1, 2 or 5 times a power of ten, about `most` of them. */
static struct axis make_axis(double low, double high, unsigned most) {
    if (high <= low)
        high = low + 1;
    const double rough = (high - low) / most, power = power_of_ten(rough);
    const double step = power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
    return (struct axis){.low = floor(low / step) * step, .high = ceil(high / step) * step, .step = step};
}

static double place(const struct axis *axis, double value) {
    return axis->pixel + axis->pixels * (value - axis->low) / (axis->high - axis->low);
}

/* 0.25, 12, 12,000, 1.5 M. */
static const char *number(char out[32], double value, double step) {
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}};
    for (unsigned i = 0; i < sizeof units / sizeof units[0]; i++)
        if (fabs(value) >= units[i].unit) {
            snprintf(out, 32, "%.4g%s", value / units[i].unit, units[i].name);
            return out;
        }
    if (fabs(value) >= 10000)
        snprintf(out, 32, "%.0f,%03.0f", trunc(value / 1000), fabs(fmod(value, 1000)));
    else
        snprintf(out, 32, "%.*f", value != 0 ? digits_of(step) : 0, value);
    return out;
}

static unsigned ticks(const struct axis *axis) { return (unsigned)floor((axis->high - axis->low) / axis->step + 1e-6); }

static void draw_y_axis(struct plot_text *out, const struct axis *axis) {
    char label[32];
    for (unsigned i = 0; i <= ticks(axis); i++) {
        const double value = axis->low + i * axis->step, y = place(axis, value);
        const char *style = fabs(value) < 1e-6 * axis->step ? "axis" : "grid"; /* bars stand on 0 */
        plot_add(out, "<path class=\"%s\" d=\"M%d %.1fH%d\"/>\n", style, LEFT, y, LEFT + FRAME_WIDTH);
        plot_add_text(out, LEFT - 8, y + 4, "text-anchor=\"end\"", number(label, value, axis->step));
    }
}

static void draw_x_axis(struct plot_text *out, const struct axis *axis, double y) {
    char label[32];
    for (unsigned i = 0; i <= ticks(axis); i++) {
        const double value = axis->low + i * axis->step, x = place(axis, value);
        plot_add(out, "<path class=\"axis\" d=\"M%.1f %.1fv5\"/>\n", x, y);
        plot_add_text(out, x, y + 18, "text-anchor=\"middle\"", number(label, value, axis->step));
    }
}

/* ---- ranges ---- */

/* The smallest box that holds 0 and every point of these panels. */
struct range {
    double x_low, x_high, y_low, y_high;
};

static void widen_by(struct range *range, double x, double y) {
    range->x_low = fmin(range->x_low, x), range->x_high = fmax(range->x_high, x);
    range->y_low = fmin(range->y_low, y), range->y_high = fmax(range->y_high, y);
}

static void widen(struct range *range, const struct plot *plot, const struct plot_panel *panel) {
    for (unsigned s = 0; s < plot->series_count; s++) {
        const struct plot_series *series = &panel->series[s];
        for (unsigned i = 0; i < series->count; i++) {
            const struct plot_point *point = &series->points[i];
            widen_by(range, point->x, point->y + point->half);
            widen_by(range, point->x, point->half > 0 ? point->y - point->half : point->y);
        }
        for (unsigned i = 0; i < series->printed_count; i++)
            widen_by(range, series->printed[i].x, series->printed[i].y);
    }
}

static bool has_printed(const struct plot *plot, const struct plot_panel *panel) {
    for (unsigned s = 0; s < plot->series_count; s++)
        if (panel->series[s].printed_count)
            return true;
    return false;
}

static bool has_intervals(const struct plot *plot, const struct plot_panel *panel) {
    for (unsigned s = 0; s < plot->series_count; s++)
        for (unsigned i = 0; i < panel->series[s].count; i++)
            if (panel->series[s].points[i].half > 0)
                return true;
    return false;
}

static unsigned categories(const struct plot_panel *panel) { return panel->category_count ? panel->category_count : 1; }

/* Of one category, what a series has there, or NULL. */
static const struct plot_point *find_point(const struct plot_point *points, unsigned count, unsigned category) {
    for (unsigned i = 0; i < count; i++)
        if (points[i].x == category)
            return &points[i];
    return NULL;
}

/* From one end of the interval to the other. */
static void draw_interval(struct plot_text *out, const struct plot_point *point, double x, const struct axis *y) {
    if (point->half > 0)
        plot_add(out, "<path class=\"whisker\" d=\"M%.1f %.1fV%.1fM%.1f %.1fh6M%.1f %.1fh6\"/>\n", x,
                 place(y, point->y - point->half), place(y, point->y + point->half), x - 3,
                 place(y, point->y - point->half), x - 3, place(y, point->y + point->half));
}

/* ---- lines ---- */

static void draw_line(struct plot_text *out, const struct plot_point *points, unsigned count, const char *style,
                      unsigned s, const struct axis *x, const struct axis *y) {
    enum { MARKED_MAX = 40 };
    if (!count)
        return;
    plot_add(out, "<polyline class=\"line%s c%u\" points=\"", style, s);
    for (unsigned i = 0; i < count; i++)
        plot_add(out, "%s%.1f,%.1f", i ? " " : "", place(x, points[i].x), place(y, points[i].y));
    plot_add(out, "\"/>\n");
    for (unsigned i = 0; i < count; i++)
        draw_interval(out, &points[i], place(x, points[i].x), y);
    for (unsigned i = 0; i < count && count <= MARKED_MAX; i++)
        plot_add(out, "<circle class=\"%s c%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", *style ? "outline" : "bar", s,
                 place(x, points[i].x), place(y, points[i].y));
}

static void draw_lines(struct plot_text *out, const struct plot *plot, const struct plot_panel *panel,
                       const struct axis *x, const struct axis *y) {
    for (unsigned s = 0; s < plot->series_count; s++) {
        const struct plot_series *series = &panel->series[s];
        draw_line(out, series->printed, series->printed_count, " dashed", s, x, y);
        draw_line(out, series->points, series->count, "", s, x, y);
    }
}

/* ---- bars ---- */

static void draw_bar(struct plot_text *out, const char *style, unsigned s, double x, double width, double from,
                     double to) {
    plot_add(out, "<rect class=\"%s c%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", style, s, x,
             fmin(from, to), width, fabs(from - to));
}

static void draw_bar_number(struct plot_text *out, double value, int digits, double x, double y) {
    char label[32];
    if (value == floor(value))
        number(label, value, 1);
    else
        snprintf(label, sizeof label, "%.*g", digits, value);
    plot_add_text(out, x, y - 5, "text-anchor=\"middle\"", label);
}

/* Groups of bars, one for each category; what was printed stands at the right of ours, as wide. */
static void draw_bars(struct plot_text *out, const struct plot *plot, const struct plot_panel *panel,
                      const struct axis *y) {
    const unsigned groups = categories(panel);
    const double group = (double)FRAME_WIDTH / groups, inner = groups > 1 ? group * 0.84 : group;
    const double share = inner / plot->series_count, width = groups > 1 ? share * 0.94 : fmin(share * 0.6, 90);
    const double zero = place(y, 0), part = has_printed(plot, panel) ? width / 2 : width;
    const int digits = groups > 1 ? 3 : 4;
    const bool numbered = part >= (groups > 1 ? 6 : 1) * LETTER;
    for (unsigned g = 0; g < groups; g++)
        for (unsigned s = 0; s < plot->series_count; s++) {
            const struct plot_series *series = &panel->series[s];
            const struct plot_point *ours = find_point(series->points, series->count, g);
            const struct plot_point *printed = find_point(series->printed, series->printed_count, g);
            const double left = LEFT + group * g + (group - inner) / 2 + share * (s + 0.5) - width / 2;
            if (ours)
                draw_bar(out, "bar", s, left, part, place(y, ours->y), zero);
            if (ours)
                draw_interval(out, ours, left + part / 2, y);
            if (ours && numbered)
                draw_bar_number(out, ours->y, digits, left + part / 2, fmin(place(y, ours->y + ours->half), zero));
            if (printed)
                draw_bar(out, "outline", s, left + part + 0.5, part - 1, place(y, printed->y), zero);
            if (printed && numbered)
                draw_bar_number(out, printed->y, digits, left + part * 1.5, fmin(place(y, printed->y), zero));
        }
}

/* The series of a category one upon another. */
static void draw_stack(struct plot_text *out, const struct plot *plot, const struct plot_panel *panel,
                       unsigned category, bool printed, double x, double width, const struct axis *y) {
    double sum = 0;
    for (unsigned s = 0; s < plot->series_count; s++) {
        const struct plot_series *series = &panel->series[s];
        const struct plot_point *point = printed ? find_point(series->printed, series->printed_count, category)
                                                 : find_point(series->points, series->count, category);
        if (!point)
            continue;
        draw_bar(out, printed ? "outline" : "bar", s, x, width, place(y, sum), place(y, sum + point->y));
        sum += point->y;
    }
}

static void draw_stacks(struct plot_text *out, const struct plot *plot, const struct plot_panel *panel,
                        const struct axis *y) {
    const unsigned groups = categories(panel);
    const double group = (double)FRAME_WIDTH / groups, width = fmin(group * 0.8, 60);
    const double part = has_printed(plot, panel) ? width / 2 : width;
    for (unsigned g = 0; g < groups; g++) {
        const double left = LEFT + group * (g + 0.5) - width / 2;
        draw_stack(out, plot, panel, g, false, left, part, y);
        if (part < width)
            draw_stack(out, plot, panel, g, true, left + part + 0.5, part - 1, y);
    }
}

/* How high stacks are. */
static void widen_by_stacks(struct range *range, const struct plot *plot, const struct plot_panel *panel) {
    for (unsigned g = 0; g < categories(panel); g++) {
        double ours = 0, printed = 0;
        for (unsigned s = 0; s < plot->series_count; s++) {
            const struct plot_series *series = &panel->series[s];
            const struct plot_point *one = find_point(series->points, series->count, g);
            const struct plot_point *other = find_point(series->printed, series->printed_count, g);
            ours += one ? one->y : 0;
            printed += other ? other->y : 0;
        }
        widen_by(range, 0, fmax(ours, printed));
    }
}

static unsigned longest(const char *const *names, unsigned count) {
    size_t most = 0;
    for (unsigned i = 0; i < count; i++)
        most = strlen(names[i]) > most ? strlen(names[i]) : most;
    return (unsigned)most;
}

/* Names side by side, each with so much room, the outermost with a margin beside it: how many degrees they are turned so as
 * not to run into each other, nor out of the drawing. */
static int slant(const char *const *names, unsigned count, double room, double margin) {
    const unsigned letters = longest(names, count);
    if ((letters + 1) * LETTER <= room)
        return 0;
    return room >= 18 && 0.77 * LETTER * letters <= room / 2 + margin ? 40 : 70;
}

/* How high they are then. */
static double slanted_height(const char *const *names, unsigned count, int angle) {
    return angle ? 14 + (angle == 40 ? 0.65 : 0.94) * LETTER * longest(names, count) : AXIS;
}

/* Below or above a point: slanted names end or begin there. */
static void draw_name(struct plot_text *out, const char *name, double x, double y, int angle, const char *anchor) {
    char attributes[96] = "text-anchor=\"middle\"";
    if (angle)
        snprintf(attributes, sizeof attributes, "text-anchor=\"%s\" transform=\"rotate(-%d %.1f %.1f)\"", anchor, angle,
                 x, y);
    plot_add_text(out, x, y, attributes, name);
}

static double category_width(const struct plot_panel *panel) { return (double)FRAME_WIDTH / categories(panel); }

static int category_slant(const struct plot_panel *panel) {
    return slant(panel->categories, panel->category_count, category_width(panel), LEFT);
}

static void draw_categories(struct plot_text *out, const struct plot_panel *panel, double y) {
    for (unsigned g = 0; g < panel->category_count; g++)
        draw_name(out, panel->categories[g], LEFT + category_width(panel) * (g + 0.5), y + 16, category_slant(panel),
                  "end");
}

/* ---- maps ---- */

static double heat_left(const struct plot_panel *panel) {
    return fmax(LEFT, 16 + LETTER * (double)longest(panel->categories, panel->category_count));
}

static double heat_width(const struct plot *plot, const struct plot_panel *panel) {
    return (WIDTH - RIGHT - heat_left(panel)) / plot->series_count;
}

static int heat_slant(const struct plot *plot, const struct plot_panel *panel) {
    return slant(plot->names, plot->series_count, heat_width(plot, panel), RIGHT);
}

/* What the names of the columns take. */
static double heat_top(const struct plot *plot, const struct plot_panel *panel) {
    return slanted_height(plot->names, plot->series_count, heat_slant(plot, panel));
}

/* How strong a field is, before it is set against the strongest: of ratios twice is as far from the centre as a half. */
static double heat_strength(const struct plot_panel *panel, double value) {
    if (!(panel->centre > 0))
        return value;
    const double ratio = value / panel->centre;
    return ratio >= 1 ? ratio - 1 : ratio > 0.01 ? 1 / ratio - 1 : 99;
}

/* What the two colours of a map of ratios mean. */
static void draw_heat_legend(struct plot_text *out, const struct plot_panel *panel, double y) {
    char label[2][48];
    snprintf(label[0], sizeof label[0], "below %g", panel->centre);
    snprintf(label[1], sizeof label[1], "above %g", panel->centre);
    for (unsigned i = 0; i < 2; i++) {
        const double x = WIDTH - RIGHT - 160 + 82 * i;
        plot_add(out, "<rect class=\"bar c%u\" x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\"/>\n", 1 - i, x, y - 10);
        plot_add_text(out, x + 17, y, "", label[i]);
    }
}

/* The darker a field the higher its value, or the further from the centre; both ends of the range are those of the data. */
static void draw_heat(struct plot_text *out, const struct plot *plot, const struct plot_panel *panel, double top) {
    const double left = heat_left(panel), width = heat_width(plot, panel);
    const int angle = heat_slant(plot, panel);
    double low = panel->centre > 0 ? 0 : DBL_MAX, high = -DBL_MAX;
    for (unsigned s = 0; s < plot->series_count; s++)
        for (unsigned i = 0; i < panel->series[s].count; i++) {
            low = fmin(low, heat_strength(panel, panel->series[s].points[i].y));
            high = fmax(high, heat_strength(panel, panel->series[s].points[i].y));
        }
    for (unsigned s = 0; s < plot->series_count; s++) {
        draw_name(out, plot->names[s], left + width * (s + 0.5), top - 6, angle, "start");
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

/* ---- panels ---- */

/* What stands between this panel's top and the next one's. */
static double panel_height(const struct plot *plot, const struct plot_panel *panel) {
    if (panel->kind == PLOT_HEAT)
        return PANEL_TOP + heat_top(plot, panel) + HEAT_ROW * panel->category_count;
    const double names =
        panel->category_count ? slanted_height(panel->categories, panel->category_count, category_slant(panel)) : 0;
    return PANEL_TOP + FRAME_HEIGHT + (panel->kind == PLOT_LINES ? AXIS : names);
}

static void draw_frame(struct plot_text *out, const struct plot *plot, const struct plot_panel *panel, struct axis x,
                       double top) {
    struct range range = {0};
    if (panel->kind == PLOT_STACKED)
        widen_by_stacks(&range, plot, panel);
    else
        widen(&range, plot, panel);
    /* the number above the highest bar needs room */
    struct axis y = make_axis(range.y_low, range.y_high * (panel->kind == PLOT_BARS ? 1.08 : 1), 5);
    y.pixel = top + FRAME_HEIGHT, y.pixels = -FRAME_HEIGHT;
    draw_y_axis(out, &y);
    if (panel->kind == PLOT_BARS)
        draw_bars(out, plot, panel, &y);
    else if (panel->kind == PLOT_STACKED)
        draw_stacks(out, plot, panel, &y);
    else {
        draw_lines(out, plot, panel, &x, &y);
        draw_x_axis(out, &x, top + FRAME_HEIGHT);
    }
    draw_categories(out, panel, top + FRAME_HEIGHT);
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
        draw_heat_legend(out, panel, top - 10);
    if (panel->kind == PLOT_HEAT)
        draw_heat(out, plot, panel, top + heat_top(plot, panel));
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
        printed |= has_printed(plot, &plot->panels.items[i]);
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
    struct range range = {0};
    struct plot_text out = {.arena = arena};
    unsigned last_lines = UINT32_MAX;
    for (unsigned i = 0; i < plot->panels.count; i++) {
        const struct plot_panel *panel = &plot->panels.items[i];
        height += panel_height(plot, panel);
        if (panel->kind == PLOT_LINES)
            widen(&range, plot, panel), last_lines = i;
    }
    height += last_lines != UINT32_MAX ? LINE : 0;
    struct axis x = make_axis(range.x_low, range.x_high, 8);
    x.high = range.x_high > x.low ? range.x_high : x.high; /* the axis ends with the data, not with a round number */
    x.pixel = LEFT, x.pixels = FRAME_WIDTH;
    plot_add_head(&out, WIDTH, height);
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
