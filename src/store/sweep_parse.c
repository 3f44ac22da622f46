/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a sweep file. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "base/words.h"
#include "store/sweep.h"

enum { VALUES_MAX = 100000 };

struct values {
    const char **items;
    unsigned count, capacity;
};

struct sweep_parser {
    struct sweep *sweep;
    struct machine keys; /* every key there is, to check and spell values */
    struct report *report;
};

static enum status error(struct sweep_parser *p, const struct yaml_node *at, const char *message) {
    return yaml_error(&p->sweep->yaml, at, p->report, "%s", message);
}

/* ---- columns ---- */

static unsigned add_column(struct sweep *sweep, const char *name) {
    *ARENA_PUSH(sweep->arena, &sweep->columns) = name;
    return sweep->columns.count - 1;
}

static void add_axis(struct sweep *sweep, unsigned column, const struct values *values) {
    struct sweep_axis *axis = ARENA_PUSH(sweep->arena, &sweep->axes);
    *axis = (struct sweep_axis){column, 1, values->count, values->items};
}

static unsigned find_column(const struct sweep *sweep, const char *name) {
    unsigned i = 0;
    while (i < sweep->columns.count && strcmp(sweep->columns.items[i], name) != 0)
        i++;
    return i;
}

/* ---- values ---- */

/* The value as the machine spells it: 16KiB is 16384. */
static enum status spell_key(struct sweep_parser *p, const char *key, const struct yaml_node *node, const char **out) {
    if (node->kind != YAML_SCALAR)
        return error(p, node, "this is one value of a key, not a list or a map");
    if (strchr(node->text, ','))
        return error(p, node, "a value with a comma cannot be given to 'heddle run', where it would be a list");
    struct report inner = {0};
    const char *where = arena_printf(p->sweep->arena, "%s:%u:%u", p->sweep->yaml.name, node->line, node->column);
    const enum status status = param_assign(&p->keys.params, key, node->text, "sweep", where, &inner);
    if (status)
        report_add(p->report, status, "%s", report_text(&inner));
    else
        *out = arena_strdup(p->sweep->arena, param_text(&p->keys.params, param_find(&p->keys.params, key)));
    report_free(&inner);
    return status;
}

/* The value of a column that is no key. */
static enum status spell_word(struct sweep_parser *p, unsigned column, const struct yaml_node *node, const char **out) {
    uint64_t number = 0;
    if (node->kind != YAML_SCALAR || !node->text[0])
        return error(p, node, "this has to be one word, or a list of words");
    *out = node->text;
    if (column == COLUMN_GPU && strchr(node->text, ','))
        return error(p, node, "a list of machines is written [a, b]");
    if (column == COLUMN_SEED) {
        const enum status status =
            yaml_unsigned(&p->sweep->yaml, node, "seed", (UINT64_C(1) << 53) - 1, &number, p->report);
        *out = arena_printf(p->sweep->arena, "%llu", (unsigned long long)number);
        return status;
    }
    if (column == COLUMN_FUNCTIONAL && strcmp(node->text, "true") != 0 && strcmp(node->text, "false") != 0)
        return error(p, node, "functional is true or false");
    if (column == COLUMN_SIZE && !point_is_size(node->text))
        return yaml_error(&p->sweep->yaml, node, p->report, "a size is %s, not '%s'",
                          words_join(p->sweep->arena, point_sizes), node->text);
    return STATUS_OK;
}

static enum status spell(struct sweep_parser *p, unsigned column, const struct yaml_node *node, const char **out) {
    return column < COLUMN_KEYS ? spell_word(p, column, node, out)
                                : spell_key(p, p->sweep->columns.items[column], node, out);
}

/* One value, or a list of them. */
static enum status read_values(struct sweep_parser *p, unsigned column, const struct yaml_node *node,
                               struct values *out) {
    if (node->kind != YAML_LIST) {
        const char *value = NULL;
        const enum status one = spell(p, column, node, &value);
        *ARENA_PUSH(p->sweep->arena, out) = value;
        return one;
    }
    enum status status = node->count ? STATUS_OK : error(p, node, "the list is empty: there would be no points");
    for (unsigned i = 0; i < node->count; i++) {
        const enum status one = spell(p, column, node->items[i], ARENA_PUSH(p->sweep->arena, out));
        status = status ? status : one;
    }
    return status;
}

/* ---- ranges ---- */

struct sweep_range {
    double from, to, by;
    bool multiplies;
};

static const char *number_text(struct arena *arena, double value) {
    char text[TEXT_F64_BYTES];
    if (value > -9e15 && value < 9e15 && value == (double)(int64_t)value)
        return arena_printf(arena, "%lld", (long long)value);
    return arena_strdup(arena, text_from_f64(value, text));
}

static enum status read_number(struct sweep_parser *p, unsigned column, const struct yaml_node *node, bool is_value,
                               double *out) {
    const char *text = node->text;
    if (is_value) { /* an end of the range is a value of the key */
        const enum status status = spell(p, column, node, &text);
        if (status)
            return status;
    }
    if (node->kind != YAML_SCALAR || !text_to_f64(text, out) || *out - *out != 0)
        return error(p, node, "a range goes over numbers: {from: 1, to: 8, step: 1}, or times: 2 instead of step");
    return STATUS_OK;
}

/* {from:, to:, step: | times:}, both ends included. */
static enum status read_range(struct sweep_parser *p, unsigned column, const struct yaml_node *node,
                              struct values *out) {
    static const char *const known[] = {"from", "to", "step", "times", NULL};
    enum status status = yaml_known_keys(&p->sweep->yaml, node, "a range", known, p->report);
    if (status)
        return status;
    const struct yaml_node *from = yaml_get(node, "from"), *to = yaml_get(node, "to");
    const struct yaml_node *step = yaml_get(node, "step"), *times = yaml_get(node, "times");
    if (!from || !to || !step == !times)
        return error(p, node, "a range needs from, to and one of step and times");
    const struct yaml_node *by_node = step ? step : times;
    struct sweep_range range = {.multiplies = times != NULL};
    status = read_number(p, column, from, true, &range.from);
    if (!status)
        status = read_number(p, column, to, true, &range.to);
    if (!status && step && by_node->kind == YAML_SCALAR && text_to_f64(by_node->text, &range.by))
        status = STATUS_OK;
    else if (!status) /* 16KiB is a step too */
        status = read_number(p, column, by_node, step != NULL, &range.by);
    if (status)
        return status;
    if (range.to < range.from || range.by <= (times ? 1 : 0) || (times && range.from <= 0))
        return error(p, node,
                     times ? "from and to are above 0, to is not below from, times is above 1"
                           : "to is not below from, and step is above 0");
    double value = range.from;
    for (unsigned i = 1; value <= range.to + (range.to - range.from) * 1e-12; i++) {
        if (i > VALUES_MAX)
            return error(p, node, "the range has more than 100,000 values");
        struct yaml_node one = *from; /* at the same place, for messages */
        one.text = number_text(p->sweep->arena, value);
        const enum status good = spell(p, column, &one, ARENA_PUSH(p->sweep->arena, out));
        if (good)
            return good;
        value = range.multiplies ? value * range.by : range.from + i * range.by;
    }
    return STATUS_OK;
}

/* ---- keys of the machine ---- */

static enum status add_key_column(struct sweep_parser *p, const struct yaml_node *key, unsigned *column) {
    struct sweep *sweep = p->sweep;
    if (strncmp(key->text, "host.", 5) == 0)
        return error(p, key, "keys of the host do not change results, so they cannot be varied");
    if (!param_find(&p->keys.params, key->text)) {
        const char *where = arena_printf(sweep->arena, "%s:%u:%u", sweep->yaml.name, key->line, key->column);
        return param_assign(&p->keys.params, key->text, "", "sweep", where, p->report);
    }
    *column = add_column(sweep, key->text);
    return STATUS_OK;
}

static enum status add_key(struct sweep_parser *p, const struct yaml_node *key, const struct yaml_node *node,
                           unsigned *column, struct values *out) {
    if (find_column(p->sweep, key->text) < p->sweep->columns.count)
        return error(p, key, "this key is varied twice");
    const enum status status = add_key_column(p, key, column);
    if (status)
        return status;
    return node->kind == YAML_MAP ? read_range(p, *column, node, out) : read_values(p, *column, node, out);
}

static enum status read_set(struct sweep_parser *p, const struct yaml_node *set) {
    if (set->kind != YAML_MAP)
        return error(p, set, "set is a map: a key of the machine, and the values it takes");
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < set->count; i++) {
        struct values values = {0};
        unsigned column = 0;
        const enum status one = add_key(p, set->keys[i], set->items[i], &column, &values);
        if (!one)
            add_axis(p->sweep, column, &values);
        status = status ? status : one;
    }
    return status;
}

/* Keys whose values go together: the n-th of one with the n-th of the other. */
static enum status read_zip(struct sweep_parser *p, const struct yaml_node *node) {
    struct sweep *sweep = p->sweep;
    if (node->kind != YAML_MAP || !node->count)
        return error(p, node,
                     "zip is a list of maps of machine keys; the keys of one map have the same number of values");
    struct values *values = ARENA_ARRAY(sweep->arena, struct values, node->count);
    unsigned first = sweep->columns.count, column = 0;
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < node->count; i++) {
        enum status one = add_key(p, node->keys[i], node->items[i], &column, &values[i]);
        if (!one && values[i].count != values[0].count)
            one = yaml_error(&sweep->yaml, node->items[i], p->report,
                             "%u values, but '%s' has %u: the keys of one zip need the same number", values[i].count,
                             node->keys[0]->text, values[0].count);
        if (one)
            return one;
    }
    struct sweep_axis axis = {first, node->count, values[0].count, NULL};
    axis.values = ARENA_ARRAY(sweep->arena, const char *, (size_t)axis.value_count *axis.column_count);
    for (unsigned i = 0; i < axis.value_count; i++)
        for (unsigned k = 0; k < axis.column_count; k++)
            axis.values[i * axis.column_count + k] = values[k].items[i];
    *ARENA_PUSH(sweep->arena, &sweep->axes) = axis;
    return status;
}

/* Columns of all keys that some variant has. */
static enum status add_variant_columns(struct sweep_parser *p, const struct yaml_node *variants) {
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < variants->count; i++) {
        const struct yaml_node *keys = variants->items[i];
        if (keys->kind != YAML_MAP)
            return error(p, keys, "a variant is a map of keys of the machine, with one value each; {} has none");
        for (unsigned k = 0; k < keys->count; k++) {
            unsigned column;
            if (find_column(p->sweep, keys->keys[k]->text) < p->sweep->columns.count)
                continue;
            const enum status one = add_key_column(p, keys->keys[k], &column);
            status = status ? status : one;
        }
    }
    return status;
}

/* Named sets of keys: a name and all their keys are one axis; a key that a variant does not have stays as it is. */
static enum status read_variants(struct sweep_parser *p, const struct yaml_node *variants) {
    struct sweep *sweep = p->sweep;
    if (variants->kind != YAML_MAP || !variants->count)
        return error(p, variants, "variants is a map: a name, and the keys of the machine that it stands for");
    enum status status = add_variant_columns(p, variants);
    struct sweep_axis axis = {COLUMN_VARIANT, sweep->columns.count - COLUMN_VARIANT, variants->count, NULL};
    axis.values = ARENA_ARRAY(sweep->arena, const char *, (size_t)axis.value_count *axis.column_count);
    for (unsigned i = 0; !status && i < axis.value_count; i++) {
        const struct yaml_node *keys = variants->items[i];
        const char **values = &axis.values[(size_t)i * axis.column_count];
        status = spell(p, COLUMN_VARIANT, variants->keys[i], &values[0]);
        for (unsigned k = 0; !status && k < keys->count; k++) {
            const unsigned column = find_column(sweep, keys->keys[k]->text);
            status = spell(p, column, keys->items[k], &values[column - COLUMN_VARIANT]);
        }
    }
    sweep->axes.items[COLUMN_VARIANT] = axis;
    return status;
}

static enum status read_zips(struct sweep_parser *p, const struct yaml_node *zips) {
    enum status status = STATUS_OK;
    if (zips->kind == YAML_MAP)
        return read_zip(p, zips);
    if (zips->kind != YAML_LIST)
        return error(p, zips,
                     "zip is a list of maps of machine keys; the keys of one map have the same number of values");
    for (unsigned i = 0; i < zips->count; i++) {
        const enum status one = read_zip(p, zips->items[i]);
        status = status ? status : one;
    }
    return status;
}

/* ---- programs ---- */

static enum status read_programs(struct sweep_parser *p, const struct yaml_node *node, bool is_launch,
                                 struct values *out) {
    if (!node)
        return STATUS_OK;
    struct sweep *sweep = p->sweep;
    struct values values = {0};
    const enum status status = read_values(p, COLUMN_PROGRAM, node, &values);
    for (unsigned i = 0; !status && i < values.count; i++) {
        struct sweep_program *program = ARENA_PUSH(sweep->arena, &sweep->programs);
        *program = (struct sweep_program){.program = {.label = values.items[i], .is_launch = is_launch},
                                          .at = node->kind == YAML_LIST ? node->items[i] : node};
        *ARENA_PUSH(sweep->arena, out) = values.items[i];
    }
    return status;
}

static enum status read_fixed(struct sweep_parser *p) {
    static const char *const names[] = {"program", "size", "seed", "functional", "gpu", "variant"};
    static const char *const fallbacks[] = {NULL, "test", "1", "false", MACHINE_DEFAULT, ""};
    const struct yaml_node *root = p->sweep->yaml.root;
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < COLUMN_KEYS; i++) {
        struct values values = {0};
        enum status one;
        add_column(p->sweep, names[i]);
        const struct yaml_node *node = yaml_get(root, names[i]);
        const char *fallback = i == COLUMN_SIZE && p->sweep->source.size ? p->sweep->source.size : fallbacks[i];
        if (i == COLUMN_PROGRAM) {
            one = read_programs(p, yaml_get(root, "workloads"), false, &values);
            const enum status other = read_programs(p, yaml_get(root, "launches"), true, &values);
            one = one ? one : other;
            if (!one && !values.count)
                one = error(p, root, "a sweep needs workloads or launches: what is run");
        } else if (node && fallback == fallbacks[i]) {
            one = read_values(p, i, node, &values);
        } else {
            *ARENA_PUSH(p->sweep->arena, &values) = fallback;
            one = STATUS_OK;
        }
        add_axis(p->sweep, i, &values);
        status = status ? status : one;
    }
    return status;
}

/* ---- exclusions ---- */

/* Workloads and launch files share a column. */
static unsigned excluded_column(const struct sweep *sweep, const char *name) {
    if (strcmp(name, "workload") == 0 || strcmp(name, "launch") == 0)
        return COLUMN_PROGRAM;
    return find_column(sweep, name);
}

static enum status unknown_column(struct sweep_parser *p, const struct yaml_node *key) {
    struct text_nearest nearest = {0};
    text_nearest_try(&nearest, key->text, "workload");
    text_nearest_try(&nearest, key->text, "launch");
    for (unsigned i = COLUMN_SIZE; i < p->sweep->columns.count; i++)
        text_nearest_try(&nearest, key->text, p->sweep->columns.items[i]);
    return yaml_error(&p->sweep->yaml, key, p->report, "'%s' is not varied by this sweep%s%s%s", key->text,
                      nearest.best ? "; did you mean '" : "", nearest.best ? nearest.best : "",
                      nearest.best ? "'?" : "");
}

static bool same(const char *one, const char *other) { return one && strcmp(one, other) == 0; }

/* A value that no point has excludes nothing, and is a mistake. */
static enum status check_used(struct sweep_parser *p, unsigned column, const char *value, const struct yaml_node *at) {
    for (unsigned a = 0; a < p->sweep->axes.count; a++) {
        const struct sweep_axis *axis = &p->sweep->axes.items[a];
        if (column < axis->first_column || column >= axis->first_column + axis->column_count)
            continue;
        for (unsigned i = 0; i < axis->value_count; i++)
            if (same(axis->values[i * axis->column_count + column - axis->first_column], value))
                return STATUS_OK;
    }
    return yaml_error(&p->sweep->yaml, at, p->report, "no point has %s %s", p->sweep->columns.items[column], value);
}

static enum status read_exclusion(struct sweep_parser *p, const struct yaml_node *node) {
    struct sweep *sweep = p->sweep;
    if (node->kind != YAML_MAP || !node->count)
        return error(p, node, "exclude is a list of maps: the values that the points to leave out have in common");
    struct sweep_exclusion out = {0};
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < node->count; i++) {
        const unsigned column = excluded_column(sweep, node->keys[i]->text);
        struct values values = {0};
        enum status one = column < sweep->columns.count ? read_values(p, column, node->items[i], &values)
                                                        : unknown_column(p, node->keys[i]);
        for (unsigned k = 0; !one && k < values.count; k++)
            one = check_used(p, column, values.items[k], node->items[i]);
        struct sweep_match *match = ARENA_PUSH(sweep->arena, &out);
        *match = (struct sweep_match){column, values.count, values.items};
        status = status ? status : one;
    }
    *ARENA_PUSH(sweep->arena, &sweep->exclusions) = out;
    return status;
}

static enum status read_exclusions(struct sweep_parser *p, const struct yaml_node *list) {
    enum status status = STATUS_OK;
    if (list->kind != YAML_LIST)
        return error(p, list, "exclude is a list of maps: the values that the points to leave out have in common");
    for (unsigned i = 0; i < list->count; i++) {
        const enum status one = read_exclusion(p, list->items[i]);
        status = status ? status : one;
    }
    return status;
}

/* ---- the whole ---- */

static enum status count_points(struct sweep_parser *p) {
    struct sweep *sweep = p->sweep;
    sweep->numbers = sweep->machines = 1;
    for (unsigned i = 0; i < sweep->axes.count; i++) {
        sweep->numbers *= sweep->axes.items[i].value_count;
        if (i >= COLUMN_FUNCTIONAL)
            sweep->machines *= sweep->axes.items[i].value_count;
        if (sweep->numbers > SWEEP_POINTS_MAX)
            return report_add(p->report, STATUS_INVALID, "%s: more than %u points", sweep->yaml.name,
                              (unsigned)SWEEP_POINTS_MAX);
    }
    return STATUS_OK;
}

static enum status read_all(struct sweep_parser *p) {
    static const char *const known[] = {"name", "workloads", "launches", "size", "seed",    "functional",
                                        "gpu",  "variants",  "set",      "zip",  "exclude", NULL};
    struct sweep *sweep = p->sweep;
    const struct yaml_node *root = sweep->yaml.root;
    if (yaml_get(root, "module"))
        return report_add(
            p->report, STATUS_INVALID,
            "%s is a launch file, not a sweep; 'heddle run %s' runs it, and 'launches: %s' in a sweep names it",
            sweep->yaml.name, sweep->yaml.name, sweep->yaml.name);
    enum status status = yaml_known_keys(&sweep->yaml, root, "a sweep", known, p->report);
    if (root->kind != YAML_MAP)
        return status;
    const struct yaml_node *name = yaml_get(root, "name"), *set = yaml_get(root, "set");
    const struct yaml_node *variants = yaml_get(root, "variants");
    const struct yaml_node *zips = yaml_get(root, "zip"), *exclude = yaml_get(root, "exclude");
    enum status parts[5] = {STATUS_OK};
    if (name && name->kind != YAML_SCALAR)
        parts[0] = error(p, name, "the name is one word or line");
    else if (name)
        sweep->name = name->text;
    parts[1] = read_fixed(p);
    if (variants) /* first: its keys stand beside its column */
        parts[2] = read_variants(p, variants);
    if (set)
        parts[3] = read_set(p, set);
    if (zips)
        parts[4] = read_zips(p, zips);
    for (unsigned i = 0; i < 5; i++)
        status = status ? status : parts[i];
    if (!status && exclude) /* which speaks of the others */
        status = read_exclusions(p, exclude);
    return status ? status : count_points(p);
}

/* The map that is the sweep; NULL: there is none, which is said. */
static const struct yaml_node *find_part(const struct yaml *file, unsigned part, struct report *report) {
    const struct yaml_node *run = yaml_get(file->root, "run");
    if (!part)
        return file->root;
    if (run && run->kind == YAML_LIST && part <= run->count)
        return run->items[part - 1];
    yaml_error(file, run ? run : file->root, report, "there is no sweep %u here: 'run' is a list of %u", part,
               run && run->kind == YAML_LIST ? run->count : 0);
    return NULL;
}

enum status sweep_read(struct arena *arena, const struct sweep_source *source, const struct yaml *file,
                       struct sweep *out, struct report *report) {
    static const char no_keys[] = "about: every key";
    *out = (struct sweep){.arena = arena, .source = *source, .yaml = *file, .folder = file_dir(arena, source->path)};
    const char *last = file_name(source->path);
    digest_text(file->text, file->length, out->hash);
    out->name = arena_strndup(arena, last, file_ends_in(last, ".yaml") ? strlen(last) - 5 : strlen(last));
    struct sweep_parser parser = {.sweep = out, .report = report};
    out->yaml.root = find_part(file, source->part, report);
    if (!out->yaml.root)
        return STATUS_INVALID;
    enum status status = machine_open_text(&parser.keys, "keys", no_keys, strlen(no_keys), report);
    if (!status)
        status = read_all(&parser);
    machine_close(&parser.keys);
    return status;
}

enum status sweep_parse(struct arena *arena, const struct sweep_source *source, const char *text, size_t length,
                        struct sweep *out, struct report *report) {
    struct yaml file;
    const enum status status = yaml_parse(arena, source->path, text, length, &file, report);
    return status ? status : sweep_read(arena, source, &file, out, report);
}
