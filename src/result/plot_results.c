/* SPDX-License-Identifier: Apache-2.0 */
#include "result/plot_results.h"

#include <string.h>

#include "base/text.h"
#include "result/compare.h"
#include "result/read.h"
#include "gpu/series.h"

_Static_assert((int)PLOT_SERIES_MAX >= (int)COMPARE_MAX, "a colour for every file");

static const struct series_description *find_series(const char *name) {
    for (unsigned i = 0; i < SERIES_COUNT; i++)
        if (strcmp(series_table[i].name, name) == 0)
            return &series_table[i];
    return NULL;
}

/* The series of all launches, each from the cycle in which the one before ended. A flow stands in the middle of its
 * interval, a level at its end. */
static struct plot_series read_series(struct arena *arena, json_t *root, const struct series_description *series) {
    struct {
        struct plot_point *items;
        unsigned count, capacity;
    } points = {0};
    double begin = 0;
    size_t index, k;
    json_t *launch, *value;
    json_array_foreach (json_object_get(root, "launches"), index, launch) {
        json_t *all = json_object_get(launch, "series");
        const double cycles = json_number_value(json_object_get(launch, "cycles"));
        const double interval = json_number_value(json_object_get(all, "interval"));
        json_array_foreach (json_object_get(all, series->name), k, value) {
            const double from = (double)k * interval, to = from + interval < cycles ? from + interval : cycles;
            const bool level = series->kind == SERIES_LEVEL;
            *ARENA_PUSH(arena, &points) =
                (struct plot_point){.x = begin + (level ? to : (from + to) / 2),
                                    .y = json_number_value(value) / (level || to <= from ? 1 : to - from)};
        }
        begin += cycles;
    }
    return (struct plot_series){.points = points.items, .count = points.count};
}

static enum status add_lines(struct arena *arena, const struct comparison *all, json_t *const *roots,
                             const struct series_description *series, struct plot *out, struct report *report) {
    struct plot_panel *panel = ARENA_PUSH(arena, &out->panels);
    panel->title = series->name, panel->kind = PLOT_LINES;
    panel->unit = series->kind == SERIES_LEVEL ? series->unit : arena_printf(arena, "%s per cycle", series->unit);
    for (unsigned i = 0; i < all->count; i++) {
        panel->series[i] = read_series(arena, roots[i], series);
        if (!panel->series[i].count)
            return report_add(report, STATUS_INVALID,
                              "%s has no series: it ran without time, or with series.interval=0", all->names[i]);
    }
    return STATUS_OK;
}

static enum status report_unknown(const struct comparison *all, const char *name, struct report *report) {
    struct text_nearest nearest = {0};
    for (unsigned i = 0; i < SERIES_COUNT; i++)
        text_nearest_try(&nearest, name, series_table[i].name);
    for (unsigned i = 0; i < all->counters.count; i++)
        text_nearest_try(&nearest, name, all->counters.items[i].name);
    report_add(report, STATUS_INVALID, "the results have neither a series nor a counter '%s'%s%s%s", name,
               nearest.best ? "; did you mean '" : "", nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
    report_add(report, STATUS_INVALID, "series are:");
    for (unsigned i = 0; i < SERIES_COUNT; i++)
        report_add(report, STATUS_INVALID, "  %s: %s", series_table[i].name, series_table[i].help);
    return report_add(report, STATUS_INVALID, "'heddle compare --all' shows the counters");
}

static enum status add_bars(struct arena *arena, const struct comparison *all, json_t *root, const char *name,
                            struct plot *out, struct report *report) {
    const struct compare_counter *counter = compare_find(all, name);
    if (!counter)
        return report_unknown(all, name, report);
    const char *unit = json_string_value(json_object_get(json_object_get(root, "units"), name));
    struct plot_panel *panel = ARENA_PUSH(arena, &out->panels);
    panel->title = name, panel->kind = PLOT_BARS;
    panel->unit = unit && strcmp(unit, name) != 0 && strcmp(unit, "ratio") != 0 ? arena_strdup(arena, unit) : "";
    for (unsigned i = 0; i < all->count; i++)
        if (counter->present >> i & 1) {
            struct plot_point *point = ARENA_NEW(arena, struct plot_point);
            point->y = counter->values[i];
            panel->series[i] = (struct plot_series){.points = point, .count = 1};
        }
    return STATUS_OK;
}

static void name_files(struct arena *arena, const struct comparison *all, struct plot *out) {
    for (unsigned i = 0; i < all->count; i++) {
        const char *name = "";
        for (unsigned k = 0; k < all->settings.count; k++)
            name = arena_printf(arena, "%s%s%s", name, k ? ", " : "", all->settings.items[k].values[i]);
        out->names[i] = *name ? name : all->names[i];
    }
}

static enum status add_panels(struct arena *arena, json_t *const *roots, const struct comparison *all,
                              const char *const *values, struct plot *out, struct report *report) {
    enum status status = STATUS_OK;
    for (; *values && !status; values++) {
        const struct series_description *series = find_series(*values);
        status = series ? add_lines(arena, all, roots, series, out, report)
                        : add_bars(arena, all, roots[0], *values, out, report);
    }
    return status;
}

enum status plot_results(struct arena *arena, const char *const *paths, unsigned count, const char *const *values,
                         struct plot *out, struct report *report) {
    struct comparison all;
    json_t *roots[COMPARE_MAX] = {NULL};
    enum status status = compare_read(arena, paths, count, &all, report);
    for (unsigned i = 0; i < count && !status; i++)
        status = result_read(arena, paths[i], &roots[i], report);
    *out = (struct plot){.title = "", .x_title = "cycles", .series_count = count};
    if (!status) {
        name_files(arena, &all, out);
        status = add_panels(arena, roots, &all, values, out, report);
    }
    for (unsigned i = 0; i < count; i++)
        json_decref(roots[i]);
    return status;
}
