/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a survey, and what is chosen of it. */
#include "repro/survey.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "machine/plugin.h"

#define PROVIDES "divergence.mechanism="

enum { NAMES_MAX = 64 }; /* columns of a map */

struct survey_reader {
    struct survey *survey;
    struct report *report;
    struct arena *arena;
};

static enum status refuse(struct survey_reader *r, const struct yaml_node *at, const char *message) {
    return yaml_error(&r->survey->asks.yaml, at, r->report, "%s", message);
}

/* ---- one after another of a list with commas ---- */

/* NULL at its end. */
static const char *next_word(struct arena *arena, const char **list) {
    const size_t length = strcspn(*list, ",");
    const char *word = arena_strndup(arena, *list, length);
    if (!**list)
        return NULL;
    *list += length + ((*list)[length] == ',');
    return word;
}

/* ---- mechanisms ---- */

static const struct yaml_node *wanted(struct survey_reader *r, const struct yaml_node *of, const char *key,
                                      enum yaml_kind kind, const char *message, enum status *status) {
    const struct yaml_node *node = yaml_get(of, key);
    if (!node || node->kind != kind || (kind == YAML_SCALAR ? !*node->text : !node->count)) {
        const enum status one = refuse(r, node ? node : of, message);
        *status = *status ? *status : one;
        return NULL;
    }
    return node;
}

static const char *word_or_null(const struct yaml_node *map, const char *key) {
    const struct yaml_node *node = yaml_get(map, key);
    return node && node->kind == YAML_SCALAR && *node->text ? node->text : NULL;
}

static enum status read_column(struct survey_reader *r, const struct yaml_node *name, const struct yaml_node *node,
                               struct survey_column *out) {
    static const char *const known[] = {"page", "limit", "set", NULL};
    enum status status = yaml_known_keys(&r->survey->asks.yaml, node, "a mechanism", known, r->report);
    if (status)
        return status;
    if (!*name->text || strchr(name->text, ','))
        return refuse(r, name, "a mechanism's name has no comma: --mechanisms separates names by it");
    *out = (struct survey_column){name->text, word_or_null(node, "page"), word_or_null(node, "limit"),
                                  wanted(r, node, "set", YAML_MAP, "a mechanism needs 'set', its keys", &status)};
    for (unsigned i = 0; !status && i < out->set->count; i++)
        if (out->set->items[i]->kind != YAML_SCALAR)
            status = refuse(r, out->set->items[i], "a key of a mechanism has one value here");
    return status;
}

static const struct survey_column *find_column(const struct survey *survey, const char *name) {
    for (unsigned i = 0; i < survey->columns.count; i++)
        if (strcmp(survey->columns.items[i].name, name) == 0)
            return &survey->columns.items[i];
    return NULL;
}

/* One that the file has not: a mechanism by its name. */
static void add_mechanism(struct survey_reader *r, const char *name) {
    if (!find_column(r->survey, name))
        *ARENA_PUSH(r->arena, &r->survey->columns) = (struct survey_column){.name = name};
}

static void add_plugins(struct survey_reader *r) {
    const struct plugin_file *file;
    for (unsigned i = 0; (file = plugin_at(i)); i++)
        for (const char *const *part = file->provides; *part; part++)
            if (strncmp(*part, PROVIDES, strlen(PROVIDES)) == 0)
                add_mechanism(r, arena_strdup(r->arena, *part + strlen(PROVIDES)));
}

/* The baseline, and those that are named, in the file's order; then others by their name. */
static void choose_columns(struct survey_reader *r, const char *list) {
    struct survey *s = r->survey;
    const char *rest = list, *word, *all = arena_printf(r->arena, ",%s,", list);
    unsigned kept = 0;
    for (unsigned i = 0; i < s->columns.count; i++) {
        const char *name = s->columns.items[i].name;
        if (strcmp(name, s->baseline) == 0 || strstr(all, arena_printf(r->arena, ",%s,", name)))
            s->columns.items[kept++] = s->columns.items[i];
    }
    s->columns.count = kept;
    while ((word = next_word(r->arena, &rest)))
        add_mechanism(r, word);
}

static enum status read_columns(struct survey_reader *r, const struct yaml_node *map, const char *list) {
    struct survey *s = r->survey;
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < map->count; i++) {
        const enum status one = read_column(r, map->keys[i], map->items[i], ARENA_PUSH(r->arena, &s->columns));
        status = status ? status : one;
    }
    if (!status && !find_column(s, s->baseline))
        status = refuse(r, yaml_get(s->asks.yaml.root, "baseline"), "the baseline is none of the mechanisms");
    if (!status && list)
        choose_columns(r, list);
    if (!status && !list)
        add_plugins(r);
    if (!status && s->columns.count > NAMES_MAX)
        status = refuse(r, map, arena_printf(r->arena, "a survey has at most %d mechanisms", NAMES_MAX));
    return status;
}

/* ---- machines, workloads ---- */

/* Files by their whole path, for the sweep lies elsewhere. */
static void add_machine(struct survey_reader *r, const char *given) {
    const char *file = file_name(given), *name = given;
    char whole[PATH_MAX];
    const bool is_file = strchr(given, '/') || file_ends_in(given, ".yaml");
    if (is_file)
        name = file_ends_in(file, ".yaml") ? arena_strndup(r->arena, file, strlen(file) - strlen(".yaml")) : file;
    if (is_file && realpath(given, whole))
        given = arena_strdup(r->arena, whole);
    *ARENA_PUSH(r->arena, &r->survey->machines) = (struct survey_machine){name, given};
}

static void add_workload(struct survey_reader *r, const char *name) {
    *ARENA_PUSH(r->arena, &r->survey->workloads) = name;
}

/* Those of the list, or of the file. */
static enum status read_names(struct survey_reader *r, const struct yaml_node *node, const char *list,
                              void (*add)(struct survey_reader *r, const char *name)) {
    const char *word;
    while (list && (word = next_word(r->arena, &list)))
        add(r, word);
    for (unsigned i = 0; !list && i < node->count; i++) {
        if (node->items[i]->kind != YAML_SCALAR)
            return refuse(r, node->items[i], "this has to be one word");
        add(r, node->items[i]->text);
    }
    return STATUS_OK;
}

/* ---- the whole ---- */

static enum status check_orders(struct survey_reader *r) {
    static const char *const known[] = {"order", "faster", "slower", "source", NULL};
    const struct yaml_node *orders = r->survey->orders;
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < orders->count; i++) {
        enum status one = yaml_known_keys(&r->survey->asks.yaml, orders->items[i], "an order", known, r->report);
        for (unsigned k = 0; !one && known[k]; k++)
            if (!word_or_null(orders->items[i], known[k]))
                one = refuse(r, orders->items[i], "an order needs 'order', 'faster', 'slower' and 'source'");
        status = status ? status : one;
    }
    return status;
}

enum status survey_parse(struct survey *out, const char *path, const char *text, size_t length,
                         const struct survey_choice *choice, struct report *report) {
    static const char *const known[] = {"baseline", "machines", "workloads", "mechanisms",
                                        "orders",   "tables",   "page",      NULL};
    struct survey_reader r = {out, report, out->asks.arena};
    struct yaml *yaml = &out->asks.yaml;
    enum status status = yaml_parse(r.arena, path, text, length, yaml, report);
    if (!status)
        status = yaml_known_keys(yaml, yaml->root, "a survey", known, report);
    if (status)
        return status;
    const struct yaml_node *root = yaml->root;
    const struct yaml_node *baseline = wanted(&r, root, "baseline", YAML_SCALAR, "'baseline' is a mechanism", &status);
    const struct yaml_node *machines = wanted(&r, root, "machines", YAML_LIST, "'machines' is a list", &status);
    const struct yaml_node *workloads = wanted(&r, root, "workloads", YAML_LIST, "'workloads' is a list", &status);
    const struct yaml_node *columns = wanted(&r, root, "mechanisms", YAML_MAP, "'mechanisms' is a map", &status);
    out->orders = wanted(&r, root, "orders", YAML_LIST, "'orders' is a list", &status);
    out->tables = wanted(&r, root, "tables", YAML_MAP, "'tables' is a map of SELECTs", &status);
    out->page = wanted(&r, root, "page", YAML_LIST, "'page' is a list", &status);
    if (status)
        return status;
    out->baseline = baseline->text;
    out->size = choice->size ? choice->size : "test";
    status = read_columns(&r, columns, choice->mechanisms);
    if (!status)
        status = read_names(&r, machines, choice->machines, add_machine);
    if (!status)
        status = read_names(&r, workloads, choice->workloads, add_workload);
    return status ? status : check_orders(&r);
}

const char *survey_keys(const struct survey *survey, const struct survey_column *column) {
    struct arena *arena = survey->asks.arena;
    const char *out = "";
    if (!column->set)
        return arena_printf(arena, PROVIDES "%s", column->name);
    for (unsigned i = 0; i < column->set->count; i++)
        out = arena_printf(arena, "%s%s%s=%s", out, i ? " " : "", column->set->keys[i]->text,
                           column->set->items[i]->text);
    return out;
}
