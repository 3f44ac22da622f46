/* SPDX-License-Identifier: Apache-2.0 */
/* Axes of a plot with their numbers, and names that stand side by side. */
#ifndef HEDDLE_RESULT_PLOT_AXES_H
#define HEDDLE_RESULT_PLOT_AXES_H

#include "result/plot_draw.h"

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

struct axis {
    double low, high, step;
    double pixel, pixels; /* where low stands, and how far high is from it */
};

/* Round numbers around what is shown: a step of 1, 2 or 5 times a power of ten, about `most` of them. */
struct axis axis_make(double low, double high, unsigned most);
/* The pixel at which a value stands. */
double axis_place(const struct axis *axis, double value);
/* 0.25, 12, 12,000, 1.5 M. */
const char *axis_number(char out[32], double value, double step);
void axis_draw_y(struct plot_text *out, const struct axis *axis);
void axis_draw_x(struct plot_text *out, const struct axis *axis, double y);

/* Letters of the longest. */
unsigned names_longest(const char *const *names, unsigned count);
/* Names side by side, each with so much room, the outermost with a margin beside it: how many degrees they are turned so as
 * not to run into each other, nor out of the drawing. */
int names_slant(const char *const *names, unsigned count, double room, double margin);
/* How high they are then. */
double names_height(const char *const *names, unsigned count, int angle);
/* Below or above a point: slanted names end or begin there. */
void names_draw(struct plot_text *out, const char *name, double x, double y, int angle, const char *anchor);

#endif
