/* SPDX-License-Identifier: Apache-2.0 */
#include "repro/figure.h"

#include <string.h>

#include "repro/question.h"

enum { ROWS_MAX = 1000000, CATEGORIES_MAX = 4096 }; /* of one figure: a file may ask for more than anyone can look at */
enum role { ROLE_X, ROLE_SERIES, ROLE_Y, ROLE_HALF, ROLE_PRINTED, ROLES };

struct figure_names {
    const char **items;
    unsigned count, capacity;
};

struct points {
    struct plot_point *items;
    unsigned count, capacity;
};

struct drawing {
    struct experiment *e;
    struct experiment_figure *figure;
    struct report *report;
    int columns[ROLES]; /* of the query; -1: not there */
    struct figure_names series, categories;
    unsigned rows;
    struct points ours[PLOT_COLUMNS_MAX], printed[PLOT_COLUMNS_MAX];
};

static enum status refuse(struct drawing *d, const char *message) {
    return experiment_error(d->e, d->figure->sql, message, d->report);
}

static enum status find_columns(struct drawing *d, sqlite3_stmt *query) {
    static const char *const names[ROLES] = {"x", "series", "y", "half_width", "printed"};
    for (unsigned i = 0; i < ROLES; i++) {
        d->columns[i] = -1;
        for (int k = 0; k < sqlite3_column_count(query); k++)
            if (strcmp(sqlite3_column_name(query, k), names[i]) == 0)
                d->columns[i] = k;
    }
    if (d->columns[ROLE_X] >= 0 && d->columns[ROLE_Y] >= 0)
        return STATUS_OK;
    return refuse(d, "a figure needs columns named x and y; 'series', 'half_width' and 'printed' may be there too");
}

/* Its place among those seen so far, in the order in which they come. */
static unsigned find_name(struct arena *arena, struct figure_names *names, const char *name) {
    unsigned i = 0;
    while (i < names->count && strcmp(names->items[i], name) != 0)
        i++;
    if (i == names->count)
        *ARENA_PUSH(arena, names) = arena_strdup(arena, name);
    return i;
}

static const char *text_of(sqlite3_stmt *query, int column) {
    const unsigned char *text = column >= 0 ? sqlite3_column_text(query, column) : NULL;
    return text ? (const char *)text : "";
}

/* NULL is nothing to draw. half: the column of half its interval, or -1. */
static bool add_point(struct drawing *d, sqlite3_stmt *query, int column, int half, double x, struct points *points) {
    if (column < 0 || sqlite3_column_type(query, column) == SQLITE_NULL)
        return true;
    const struct plot_point point = {x, sqlite3_column_double(query, column),
                                     half >= 0 ? sqlite3_column_double(query, half) : 0};
    *ARENA_PUSH(d->e->arena, points) = point;
    return point.x - point.x == 0 && point.y - point.y == 0 && point.half - point.half == 0;
}

static enum status add_row(struct drawing *d, sqlite3_stmt *query) {
    const unsigned most = d->figure->kind == PLOT_HEAT ? PLOT_COLUMNS_MAX : PLOT_SERIES_MAX;
    const unsigned series = find_name(d->e->arena, &d->series, text_of(query, d->columns[ROLE_SERIES]));
    const int at = d->columns[ROLE_X];
    if (series >= most)
        return refuse(d, arena_printf(d->e->arena, "a figure has at most %u series", most));
    if (++d->rows > ROWS_MAX || d->categories.count > CATEGORIES_MAX)
        return refuse(d, arena_printf(d->e->arena, "a figure has at most %d rows, and %d names along x", ROWS_MAX,
                                      CATEGORIES_MAX));
    if (d->figure->kind == PLOT_LINES && sqlite3_column_type(query, at) == SQLITE_TEXT)
        return refuse(d, "x of lines is a number; bars have names");
    const double x = d->figure->kind == PLOT_LINES ? sqlite3_column_double(query, at)
                                                   : find_name(d->e->arena, &d->categories, text_of(query, at));
    return add_point(d, query, d->columns[ROLE_Y], d->columns[ROLE_HALF], x, &d->ours[series]) &&
                   add_point(d, query, d->columns[ROLE_PRINTED], -1, x, &d->printed[series])
               ? STATUS_OK
               : refuse(d, "the values drawn must be finite");
}

static void finish(struct drawing *d) {
    struct plot plot = {.title = "", .x_title = d->figure->x_title, .series_count = d->series.count};
    struct plot_panel *panel = ARENA_PUSH(d->e->arena, &plot.panels);
    panel->title = d->figure->title;
    panel->unit = d->figure->unit;
    panel->kind = d->figure->kind;
    panel->centre = d->figure->centre;
    panel->categories = d->categories.items;
    panel->category_count = d->categories.count;
    for (unsigned s = 0; s < d->series.count; s++) {
        plot.names[s] = d->series.items[s];
        panel->series[s] =
            (struct plot_series){d->ours[s].items, d->ours[s].count, d->printed[s].items, d->printed[s].count};
    }
    d->figure->svg = plot_svg(&plot, d->e->arena, &d->figure->svg_length);
}

enum status figure_draw(struct experiment *experiment, struct experiment_figure *figure, sqlite3 *database,
                        struct report *report) {
    struct drawing *d = ARENA_NEW(experiment->arena, struct drawing);
    sqlite3_stmt *query;
    *d = (struct drawing){.e = experiment, .figure = figure, .report = report};
    enum status status = question_ask(database, experiment, figure->sql, &query, report);
    if (!status)
        status = find_columns(d, query);
    int code = SQLITE_DONE;
    while (!status && (code = sqlite3_step(query)) == SQLITE_ROW)
        status = add_row(d, query);
    if (!status && code != SQLITE_DONE)
        status = question_error(database, experiment, figure->sql, report);
    if (!status && !d->series.count)
        status = refuse(d, "there is nothing to draw: no row");
    sqlite3_finalize(query);
    if (!status)
        finish(d);
    return status;
}
