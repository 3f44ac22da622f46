/* SPDX-License-Identifier: Apache-2.0 */
#include "result/compare.h"
#include "result/read.h"
#include <stdlib.h>
#include <string.h>

/* ---- counters ---- */

const struct compare_counter *compare_find(const struct comparison *comparison, const char *name) {
    for (unsigned i = 0; i < comparison->counters.count; i++)
        if (strcmp(comparison->counters.items[i].name, name) == 0)
            return &comparison->counters.items[i];
    return NULL;
}

struct counting {
    struct comparison *out;
    struct arena *arena;
    unsigned file;
};

static void add_counter(void *context, const char *name, const json_t *value) {
    const struct counting *counting = context;
    struct compare_counter *counter = (struct compare_counter *)(uintptr_t)compare_find(counting->out, name);
    if (!counter) {
        counter = ARENA_PUSH(counting->arena, &counting->out->counters);
        *counter = (struct compare_counter){.name = name, .is_whole = true};
    }
    counter->is_whole &= json_is_integer(value) && json_integer_value(value) >= 0;
    counter->values[counting->file] = json_number_value(value);
    counter->present |= (uint8_t)(1u << counting->file);
}

static void mark_changes(struct comparison *out) {
    for (unsigned i = 0; i < out->counters.count; i++) {
        struct compare_counter *counter = &out->counters.items[i];
        for (unsigned k = 1; k < out->count; k++)
            counter->changed |=
                counter->values[k] != counter->values[0] || (counter->present >> k & 1) != (counter->present & 1);
    }
}

/* ---- settings ---- */

static const char *value_text(struct arena *arena, const json_t *value) {
    if (json_is_string(value))
        return arena_strdup(arena, json_string_value(value));
    if (json_is_boolean(value))
        return json_is_true(value) ? "true" : "false";
    if (json_is_integer(value))
        return arena_printf(arena, "%lld", (long long)json_integer_value(value));
    return json_is_real(value) ? arena_printf(arena, "%g", json_real_value(value)) : "-";
}

static json_t *setting(json_t *root, const char *key) {
    json_t *parameters = json_object_get(json_object_get(root, "machine"), "parameters");
    return json_object_get(json_object_get(parameters, key), "value");
}

static void add_settings(struct comparison *out, struct arena *arena, json_t *const *roots) {
    const char *key;
    json_t *value;
    json_object_foreach (json_object_get(json_object_get(roots[0], "machine"), "parameters"), key, value) {
        bool differs = false;
        for (unsigned i = 1; i < out->count; i++)
            differs |= !json_equal(setting(roots[i], key), setting(roots[0], key));
        if (!differs)
            continue;
        struct compare_setting *entry = ARENA_PUSH(arena, &out->settings);
        entry->key = arena_strdup(arena, key);
        for (unsigned i = 0; i < out->count; i++)
            entry->values[i] = value_text(arena, setting(roots[i], key));
    }
}

/* ---- lines ---- */

static uint64_t sum_of(json_t *object) {
    uint64_t sum = 0;
    const char *key;
    json_t *value;
    json_object_foreach (object, key, value)
        sum += (uint64_t)json_integer_value(value);
    return sum;
}

/* So many issue slots of all as cycles; a file of others may hold any number. */
static uint64_t cycles_of(json_t *total, uint64_t slots) {
    const double all = json_number_value(json_object_get(total, "slots"));
    const double cycles = (double)slots * json_number_value(json_object_get(total, "cycles")) / all + 0.5;
    return cycles >= 0x1p64 ? UINT64_MAX : cycles > 0 ? (uint64_t)cycles : 0;
}

static uint64_t line_count(json_t *total, json_t *line) {
    if (json_number_value(json_object_get(total, "slots")) <= 0)
        return (uint64_t)json_integer_value(json_object_get(line, "warp_instructions"));
    return cycles_of(total, sum_of(json_object_get(line, "cycle_classes")));
}

static void add_line(struct comparison *out, struct arena *arena, unsigned file, const char *place, const char *text,
                     uint64_t count) {
    unsigned i = 0;
    while (i < out->lines.count && strcmp(out->lines.items[i].place, place) != 0)
        i++;
    if (i == out->lines.count) {
        struct compare_line *entry = ARENA_PUSH(arena, &out->lines);
        *entry = (struct compare_line){.place = place, .text = arena_strdup(arena, text ? text : "")};
    }
    out->lines.items[i].counts[file] = count;
}

static void add_lines_of(struct comparison *out, struct arena *arena, unsigned file, json_t *total) {
    size_t index;
    json_t *line;
    json_array_foreach (json_object_get(total, "lines"), index, line) {
        const char *name = json_string_value(json_object_get(line, "file"));
        const char *place = arena_printf(arena, "%s:%lld", name ? name : "",
                                         (long long)json_integer_value(json_object_get(line, "line")));
        add_line(out, arena, file, place, json_string_value(json_object_get(line, "text")), line_count(total, line));
    }
    if (out->in_time)
        add_line(out, arena, file, "-", "(schedulers without a warp)",
                 cycles_of(total, sum_of(json_object_get(total, "nobody"))));
}

static uint64_t largest_change(const struct compare_line *line) {
    uint64_t largest = 0;
    for (unsigned i = 1; i < COMPARE_MAX; i++) {
        const uint64_t a = line->counts[0], b = line->counts[i], change = a > b ? a - b : b - a;
        /* files that are not there count 0 everywhere; compare_read cuts them off */
        largest = change > largest ? change : largest;
    }
    return largest;
}

static int by_change(const void *a, const void *b) {
    const struct compare_line *left = a, *right = b;
    const uint64_t one = largest_change(left), other = largest_change(right);
    if (one != other)
        return one > other ? -1 : 1;
    return strcmp(left->place, right->place);
}

static void add_lines(struct comparison *out, struct arena *arena, json_t *const *roots) {
    for (unsigned i = 0; i < out->count; i++)
        add_lines_of(out, arena, i, json_object_get(roots[i], "total"));
    for (unsigned k = 0; k < out->lines.count; k++)
        for (unsigned i = out->count; i < COMPARE_MAX; i++)
            out->lines.items[k].counts[i] = out->lines.items[k].counts[0];
    if (out->lines.count)
        qsort(out->lines.items, out->lines.count, sizeof *out->lines.items, by_change);
    while (out->lines.count && largest_change(&out->lines.items[out->lines.count - 1]) == 0)
        out->lines.count--;
}

static enum status compare_roots(struct arena *arena, json_t *const *roots, struct comparison *out,
                                 struct report *report) {
    const char *mode = json_string_value(json_object_get(roots[0], "mode"));
    out->in_time = strcmp(mode, "timed") == 0;
    out->same_module = out->same_memory = true;
    for (unsigned i = 0; i < out->count; i++) {
        const char *own = json_string_value(json_object_get(roots[i], "mode"));
        if (strcmp(own, mode) != 0)
            return report_add(report, STATUS_INVALID,
                              "%s is %s and %s is %s: runs in time and functional runs cannot be compared",
                              out->names[0], mode, out->names[i], own);
        const char *machine = json_string_value(json_object_get(json_object_get(roots[i], "machine"), "name"));
        out->machines[i] = arena_strdup(arena, machine ? machine : "");
        out->complete[i] = json_is_true(json_object_get(roots[i], "complete"));
        out->same_module &= json_equal(json_object_get(json_object_get(roots[i], "module"), "hash"),
                                       json_object_get(json_object_get(roots[0], "module"), "hash")) != 0;
        out->same_memory &= json_equal(json_object_get(roots[i], "buffers"), json_object_get(roots[0], "buffers")) != 0;
        result_counters(json_object_get(roots[i], "total"), arena, add_counter, &(struct counting){out, arena, i});
    }
    mark_changes(out);
    add_settings(out, arena, roots);
    add_lines(out, arena, roots);
    return STATUS_OK;
}

enum status compare_read(struct arena *arena, const char *const *paths, unsigned count, struct comparison *out,
                         struct report *report) {
    *out = (struct comparison){.count = count};
    json_t *roots[COMPARE_MAX] = {NULL};
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < count && !status; i++) {
        out->names[i] = paths[i];
        status = result_read(arena, paths[i], &roots[i], report);
    }
    if (!status)
        status = compare_roots(arena, roots, out, report);
    for (unsigned i = 0; i < count; i++)
        json_decref(roots[i]);
    return status;
}
