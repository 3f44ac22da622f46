#include "device/plot.h"

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

struct text {
    struct arena *arena;
    char *items;
    unsigned count, capacity;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *out, const char *format, ...) {
    va_list list;
    char piece[512];
    va_start(list, format);
    const int length = vsnprintf(piece, sizeof piece, format, list);
    va_end(list);
    for (int i = 0; i < length && (size_t)i < sizeof piece - 1; i++)
        *ARENA_PUSH(out->arena, out) = piece[i];
}

/* Any text, as XML has it. */
static void add_escaped(struct text *out, const char *text) {
    for (; *text; text++)
        switch (*text) {
        case '<': add(out, "&lt;"); break;
        case '&': add(out, "&amp;"); break;
        case '"': add(out, "&quot;"); break;
        default: *ARENA_PUSH(out->arena, out) = *text; break;
        }
}

static void add_text(struct text *out, double x, double y, const char *attributes, const char *text) {
    add(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    add_escaped(out, text);
    add(out, "</text>\n");
}

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

static void draw_y_axis(struct text *out, const struct axis *axis) {
    char label[32];
    for (unsigned i = 0; i <= ticks(axis); i++) {
        const double value = axis->low + i * axis->step, y = place(axis, value);
        add(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LEFT, y, LEFT + FRAME_WIDTH);
        add_text(out, LEFT - 8, y + 4, "text-anchor=\"end\"", number(label, value, axis->step));
    }
}

static void draw_x_axis(struct text *out, const struct axis *axis, double y) {
    char label[32];
    for (unsigned i = 0; i <= ticks(axis); i++) {
        const double value = axis->low + i * axis->step, x = place(axis, value);
        add(out, "<path class=\"axis\" d=\"M%.1f %.1fv5\"/>\n", x, y);
        add_text(out, x, y + 18, "text-anchor=\"middle\"", number(label, value, axis->step));
    }
}

/* ---- panels ---- */

/* The smallest box that holds 0 and every point of these panels. */
struct range {
    double x_low, x_high, y_low, y_high;
};

static void widen(struct range *range, const struct plot *plot, const struct plot_panel *panel) {
    for (unsigned s = 0; s < plot->series_count; s++)
        for (unsigned i = 0; i < panel->series[s].count; i++) {
            const struct plot_point *point = &panel->series[s].points[i];
            range->x_low = fmin(range->x_low, point->x), range->x_high = fmax(range->x_high, point->x);
            range->y_low = fmin(range->y_low, point->y), range->y_high = fmax(range->y_high, point->y);
        }
}

static void draw_lines(struct text *out, const struct plot *plot, const struct plot_panel *panel, const struct axis *x,
                       const struct axis *y) {
    for (unsigned s = 0; s < plot->series_count; s++) {
        if (!panel->series[s].count)
            continue;
        add(out, "<polyline class=\"line c%u\" points=\"", s);
        for (unsigned i = 0; i < panel->series[s].count; i++)
            add(out, "%s%.1f,%.1f", i ? " " : "", place(x, panel->series[s].points[i].x),
                place(y, panel->series[s].points[i].y));
        add(out, "\"/>\n");
    }
}

static void draw_bars(struct text *out, const struct plot *plot, const struct plot_panel *panel, const struct axis *y) {
    const double share = (double)FRAME_WIDTH / plot->series_count, width = fmin(share * 0.6, 90);
    const double zero = place(y, 0);
    char label[32];
    for (unsigned s = 0; s < plot->series_count; s++) {
        if (!panel->series[s].count)
            continue;
        const double value = panel->series[s].points[0].y, top = place(y, value), middle = LEFT + share * (s + 0.5);
        add(out, "<rect class=\"bar c%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", s,
            middle - width / 2, fmin(top, zero), width, fabs(zero - top));
        if (value == floor(value))
            number(label, value, 1);
        else
            snprintf(label, sizeof label, "%.4g", value);
        add_text(out, middle, fmin(top, zero) - 5, "text-anchor=\"middle\"", label);
    }
}

/* Its frame begins at `top`. */
static void draw_panel(struct text *out, const struct plot *plot, const struct plot_panel *panel, struct axis x,
                       double top) {
    struct range range = {0};
    widen(&range, plot, panel);
    /* the number above the highest bar needs room */
    struct axis y = make_axis(range.y_low, range.y_high * (panel->kind == PLOT_BARS ? 1.08 : 1), 5);
    y.pixel = top + FRAME_HEIGHT, y.pixels = -FRAME_HEIGHT;
    add(out, "<text class=\"title\" x=\"%d\" y=\"%.1f\">", LEFT, top - 10);
    add_escaped(out, panel->title);
    if (*panel->unit) {
        add(out, "<tspan class=\"unit\">, ");
        add_escaped(out, panel->unit);
        add(out, "</tspan>");
    }
    add(out, "</text>\n");
    draw_y_axis(out, &y);
    if (panel->kind == PLOT_BARS)
        draw_bars(out, plot, panel, &y);
    else {
        draw_lines(out, plot, panel, &x, &y);
        draw_x_axis(out, &x, top + FRAME_HEIGHT);
    }
    add(out, "<path class=\"axis\" d=\"M%d %.1fV%.1fH%d\"/>\n", LEFT, top, top + FRAME_HEIGHT, LEFT + FRAME_WIDTH);
}

/* ---- the whole ---- */

/* Where the legend ends; draws it unless `out` is NULL. */
static double legend(struct text *out, const struct plot *plot, double y) {
    double x = LEFT;
    for (unsigned s = 0; s < plot->series_count; s++) {
        const double width = 36 + LETTER * (double)strlen(plot->names[s]);
        if (x > LEFT && x + width > WIDTH - RIGHT)
            x = LEFT, y += LINE;
        if (out) {
            add(out, "<rect class=\"bar c%u\" x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"4\"/>\n", s, x, y - 6);
            add_text(out, x + 19, y, "", plot->names[s]);
        }
        x += width;
    }
    return y;
}

static void add_head(struct text *out, double height) {
    /* Okabe and Ito's colours, which all eyes can tell apart; lighter ones where the ground is dark */
    static const char *const light[PLOT_SERIES_MAX] = {"#0072b2", "#d55e00", "#009e73", "#b5478f",
                                                       "#b07d00", "#3a96c9", "#444444", "#8a6d3b"};
    static const char *const dark[PLOT_SERIES_MAX] = {"#56b4e9", "#ff8c42", "#2fd0a0", "#e38cc3",
                                                      "#f0c24b", "#9ad4f5", "#d0d0d0", "#c9a66b"};
    add(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" height=\"%.0f\">\n", WIDTH,
        height, WIDTH, height);
    add(out, "<style>\nsvg{color-scheme:light dark}\ntext{font:12px system-ui,sans-serif;fill:#333}\n"
             ".heading{font-size:15px;font-weight:600}\n.title{font-weight:600}\n.unit{font-weight:400}\n"
             ".ground{fill:#fff}\n.grid{stroke:#e4e4e4;fill:none}\n.axis{stroke:#888;fill:none}\n"
             ".line{fill:none;stroke-width:1.8;stroke-linejoin:round}\n");
    for (unsigned s = 0; s < PLOT_SERIES_MAX; s++)
        add(out, ".line.c%u{stroke:%s}.bar.c%u{fill:%s}\n", s, light[s], s, light[s]);
    add(out, "@media (prefers-color-scheme:dark){\ntext{fill:#ddd}\n.ground{fill:#16181c}\n.grid{stroke:#32353b}\n"
             ".axis{stroke:#8a8d93}\n");
    for (unsigned s = 0; s < PLOT_SERIES_MAX; s++)
        add(out, ".line.c%u{stroke:%s}.bar.c%u{fill:%s}\n", s, dark[s], s, dark[s]);
    add(out, "}\n</style>\n<rect class=\"ground\" width=\"%d\" height=\"%.0f\"/>\n", WIDTH, height);
}

char *plot_svg(const struct plot *plot, struct arena *arena, size_t *length) {
    const double legend_y = *plot->title ? 48 : 24, first = legend(NULL, plot, legend_y) + 4;
    double height = first + 12;
    struct range range = {0};
    struct text out = {.arena = arena};
    unsigned last_lines = UINT32_MAX;
    for (unsigned i = 0; i < plot->panels.count; i++) {
        const struct plot_panel *panel = &plot->panels.items[i];
        height += PANEL_TOP + FRAME_HEIGHT + (panel->kind == PLOT_LINES ? AXIS : 0);
        if (panel->kind == PLOT_LINES)
            widen(&range, plot, panel), last_lines = i;
    }
    height += last_lines != UINT32_MAX ? LINE : 0;
    struct axis x = make_axis(range.x_low, range.x_high, 8);
    x.high = range.x_high > x.low ? range.x_high : x.high; /* the axis ends with the data, not with a round number */
    x.pixel = LEFT, x.pixels = FRAME_WIDTH;
    add_head(&out, height);
    add_text(&out, LEFT, 24, "class=\"heading\"", plot->title);
    legend(&out, plot, legend_y);
    double top = first;
    for (unsigned i = 0; i < plot->panels.count; i++) {
        const struct plot_panel *panel = &plot->panels.items[i];
        top += PANEL_TOP;
        draw_panel(&out, plot, panel, x, top);
        top += FRAME_HEIGHT + (panel->kind == PLOT_LINES ? AXIS : 0);
        if (i == last_lines) {
            add_text(&out, LEFT + FRAME_WIDTH / 2.0, top + 12, "text-anchor=\"middle\"", plot->x_title);
            top += LINE;
        }
    }
    add(&out, "</svg>\n");
    *length = out.count;
    *ARENA_PUSH(arena, &out) = '\0';
    return out.items;
}
