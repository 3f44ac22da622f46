/* SPDX-License-Identifier: Apache-2.0 */
/* What SVG documents are put together of: text as XML has it, a head with colours for a light and a dark ground. */
#ifndef HEDDLE_RESULT_PLOT_DRAW_H
#define HEDDLE_RESULT_PLOT_DRAW_H

#include "base/arena.h"

enum { PLOT_COLOURS = 12 }; /* about as many as can be told apart */

/* A document as it grows; start with the arena alone. */
struct plot_text {
    struct arena *arena;
    char *items;
    unsigned count, capacity;
};

/* A piece of at most 511 bytes. */
__attribute__((format(printf, 2, 3))) void plot_add(struct plot_text *out, const char *format, ...);
/* Any text. */
void plot_add_escaped(struct plot_text *out, const char *text);
/* A <text> element with any text in it. */
void plot_add_text(struct plot_text *out, double x, double y, const char *attributes, const char *text);
/* The beginning of a picture of a kind: sizes, classes and the ground. Classes `bar`, `line` and `outline` with c0 to c11 have the colours. */
void plot_add_head(struct plot_text *out, const char *kind, unsigned width, double height);
/* Further rules, each `selector{...}` without commas in the selector; those of `dark` hold on a dark ground. They concern pictures of the
 * kind alone, so that a page may have pictures of several kinds in it. */
void plot_add_style(struct plot_text *out, const char *kind, const char *light, const char *dark);

#endif
