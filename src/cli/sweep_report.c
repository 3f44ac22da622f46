/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sweep_report.h"

#include <string.h>

#include "base/text.h"
#include "cli/html.h"

enum { POINTS_MAX = 50000 };

/* A number where it is one, for the page to place it by its size. */
static json_t *value_json(const char *text) {
    double real;
    if (text && text[0] <= '9' && text_to_f64(text, &real))
        return json_real(real);
    json_t *out = json_string(text ? text : "as the machine has it");
    return out ? out : json_string("?");
}

static const char *value_at(const struct collection *c, uint64_t row, unsigned column) {
    return sweep_value(c->sweep, c->plan->points[row].number, column);
}

static bool same(const char *one, const char *other) {
    return one == other || (one && other && strcmp(one, other) == 0);
}

/* The column's values in the order of points, and which of them each point with a result has. */
static void add_axis(const struct collection *c, unsigned column, struct arena *arena, json_t *axes, json_t *at) {
    struct {
        const char **items;
        unsigned count, capacity;
    } seen = {0};
    json_t *indices = json_array(), *values = json_array();
    unsigned guess = 0;
    for (uint64_t row = 0; row < c->plan->count; row++) {
        if (!c->rows[row].count)
            continue;
        const char *value = value_at(c, row, column);
        if (guess >= seen.count || !same(seen.items[guess], value))
            for (guess = 0; guess < seen.count && !same(seen.items[guess], value);)
                guess++;
        if (guess == seen.count) {
            *ARENA_PUSH(arena, &seen) = value;
            json_array_append_new(values, value_json(value));
        }
        json_array_append_new(indices, json_integer(guess));
    }
    json_array_append_new(axes, json_pack("{s:s, s:o}", "name", c->sweep->columns.items[column], "values", values));
    json_array_append_new(at, indices);
}

static json_t *number_json(struct collect_value value) {
    if (value.kind == COLLECT_NONE)
        return json_null();
    return value.kind == COLLECT_WHOLE ? json_integer(value.whole) : json_real(value.real);
}

static double number_of(struct collect_value value) {
    return value.kind == COLLECT_WHOLE ? (double)value.whole : value.kind == COLLECT_REAL ? value.real : -1;
}

/* What is the same everywhere is nothing to draw; but costs, which are asked for. */
static bool is_shown(const struct collection *c, unsigned measure) {
    double first = 0;
    bool any = false;
    if (strcmp(c->measures.items[measure], COLLECT_BITS) == 0)
        return true;
    for (uint64_t row = 0; row < c->plan->count; row++) {
        if (!c->rows[row].count)
            continue;
        const double now = number_of(collect_value(c, row, measure));
        if (any && (now < first || now > first))
            return true;
        first = now;
        any = true;
    }
    return false;
}

static void add_measures(const struct collection *c, json_t *measures, json_t *values) {
    for (unsigned i = 0; i < c->measures.count; i++) {
        if (!is_shown(c, i))
            continue;
        json_t *column = json_array();
        for (uint64_t row = 0; row < c->plan->count; row++)
            if (c->rows[row].count)
                json_array_append_new(column, number_json(collect_value(c, row, i)));
        const char *unit = collect_unit(c, i);
        json_array_append_new(measures,
                              json_pack("{s:s, s:s}", "name", c->measures.items[i], "unit", unit ? unit : ""));
        json_array_append_new(values, column);
    }
}

enum status sweep_report(const struct collection *c, const char *path, struct arena *arena, struct report *report) {
    json_t *root = json_object(), *axes = json_array(), *at = json_array(), *measures = json_array(),
           *values = json_array();
    json_int_t count = 0;
    for (uint64_t row = 0; row < c->plan->count; row++)
        count += c->rows[row].count != 0;
    enum status status = STATUS_OK;
    if (!count)
        status = report_add(report, STATUS_INVALID, "there is no result to show: 'heddle sweep run' makes some");
    if (count > POINTS_MAX)
        status = report_add(report, STATUS_INVALID,
                            "%lld results are too many for a page, which holds %u: 'heddle sweep collect' makes a "
                            "database of them",
                            (long long)count, (unsigned)POINTS_MAX);
    if (!status) {
        for (unsigned i = 0; i < c->column_count; i++)
            if (sweep_varies(c->sweep, c->columns[i]))
                add_axis(c, c->columns[i], arena, axes, at);
        add_measures(c, measures, values);
    }
    json_object_set_new(root, "name", json_string(c->sweep->name));
    json_object_set_new(root, "count", json_integer(count));
    json_object_set_new(root, "points", json_integer((json_int_t)c->plan->distinct));
    json_object_set_new(root, "failed", json_integer((json_int_t)c->plan->failed));
    json_object_set_new(root, "missing",
                        json_integer((json_int_t)(c->plan->distinct - c->plan->done - c->plan->failed)));
    json_object_set_new(root, "axes", axes);
    json_object_set_new(root, "at", at);
    json_object_set_new(root, "measures", measures);
    json_object_set_new(root, "values", values);
    if (!status)
        status = html_write("sweep.html", "/*STUDY*/", root, path, arena, report);
    json_decref(root);
    return status;
}
