/* SPDX-License-Identifier: Apache-2.0 */
/* Axes and names drawn as SVG. */
#include "result/plot_axes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

struct axis axis_make(double low, double high, unsigned most) {
    if (high <= low)
        high = low + 1;
    const double rough = (high - low) / most, power = power_of_ten(rough);
    const double step = power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
    return (struct axis){.low = floor(low / step) * step, .high = ceil(high / step) * step, .step = step};
}

double axis_place(const struct axis *axis, double value) {
    return axis->pixel + axis->pixels * (value - axis->low) / (axis->high - axis->low);
}

const char *axis_number(char out[32], double value, double step) {
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

void axis_draw_y(struct plot_text *out, const struct axis *axis) {
    char label[32];
    for (unsigned i = 0; i <= ticks(axis); i++) {
        const double value = axis->low + i * axis->step, y = axis_place(axis, value);
        const char *style = fabs(value) < 1e-6 * axis->step ? "axis" : "grid"; /* bars stand on 0 */
        plot_add(out, "<path class=\"%s\" d=\"M%d %.1fH%d\"/>\n", style, LEFT, y, LEFT + FRAME_WIDTH);
        plot_add_text(out, LEFT - 8, y + 4, "text-anchor=\"end\"", axis_number(label, value, axis->step));
    }
}

void axis_draw_x(struct plot_text *out, const struct axis *axis, double y) {
    char label[32];
    for (unsigned i = 0; i <= ticks(axis); i++) {
        const double value = axis->low + i * axis->step, x = axis_place(axis, value);
        plot_add(out, "<path class=\"axis\" d=\"M%.1f %.1fv5\"/>\n", x, y);
        plot_add_text(out, x, y + 18, "text-anchor=\"middle\"", axis_number(label, value, axis->step));
    }
}

/* ---- names ---- */

unsigned names_longest(const char *const *names, unsigned count) {
    size_t most = 0;
    for (unsigned i = 0; i < count; i++)
        most = strlen(names[i]) > most ? strlen(names[i]) : most;
    return (unsigned)most;
}

int names_slant(const char *const *names, unsigned count, double room, double margin) {
    const unsigned letters = names_longest(names, count);
    if ((letters + 1) * LETTER <= room)
        return 0;
    return room >= 18 && 0.77 * LETTER * letters <= room / 2 + margin ? 40 : 70;
}

double names_height(const char *const *names, unsigned count, int angle) {
    return angle ? 14 + (angle == 40 ? 0.65 : 0.94) * LETTER * names_longest(names, count) : AXIS;
}

void names_draw(struct plot_text *out, const char *name, double x, double y, int angle, const char *anchor) {
    char attributes[96] = "text-anchor=\"middle\"";
    if (angle)
        snprintf(attributes, sizeof attributes, "text-anchor=\"%s\" transform=\"rotate(-%d %.1f %.1f)\"", anchor, angle,
                 x, y);
    plot_add_text(out, x, y, attributes, name);
}
