/* SPDX-License-Identifier: Apache-2.0 */
#include "store/artifact.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "result/read.h"

enum { INPUT_LIMIT_BYTES = 1 << 30, DIFFERENCES_MAX = 1000, ABOUT_LIMIT_BYTES = 1 << 30, BASES_MAX = 16 };

/* ---- making ---- */

static enum status put(const char *folder, const char *name, const void *data, size_t bytes, struct arena *scratch,
                       struct report *report) {
    const char *path = file_join(scratch, folder, name);
    const char *parent = file_dir(scratch, path);
    if (!folder_make(scratch, parent))
        return report_add(report, STATUS_SYSTEM, "%s: %s", parent, strerror(errno));
    return file_write(path, data, bytes, report);
}

static enum status copy(const char *folder, const char *name, const char *from, struct report *report) {
    struct arena scratch = {0};
    char *data = NULL;
    size_t bytes = 0;
    enum status status = file_read(from, INPUT_LIMIT_BYTES, &scratch, &data, &bytes, report);
    if (!status)
        status = put(folder, name, data, bytes, &scratch, report);
    arena_free(&scratch);
    return status;
}

enum status artifact_put_inputs(const struct inputs *inputs, const char *folder, struct report *report) {
    enum status status = STATUS_OK;
    for (unsigned i = 0; !status && i < inputs->count; i++) {
        const struct input *input = &inputs->items[i];
        status = copy(folder, arena_printf(inputs->arena, ARTIFACT_STUDY "/%s", input->to + inputs->common),
                      input->from, report);
    }
    return status;
}

/* Where shipped machines are, as machine/machine.c finds them. */
static const char *shipped_path(struct arena *arena, const char *gpu) {
    const char *chosen = getenv("HEDDLE_CONFIGS");
    const char *folder = chosen && *chosen ? chosen : file_beside_program(arena, "/configs");
    return arena_printf(arena, "%s/%s.yaml", folder ? folder : "configs", gpu);
}

/* A shipped machine, and those that it builds on. */
static enum status put_machine(const char *folder, const char *gpu, struct arena *arena, struct report *report) {
    enum status status = STATUS_OK;
    for (unsigned i = 0; !status && gpu && i < BASES_MAX && !strchr(gpu, '/') && !file_ends_in(gpu, ".yaml"); i++) {
        const char *path = shipped_path(arena, gpu), *name = arena_printf(arena, ARTIFACT_MACHINES "/%s.yaml", gpu);
        char *text = NULL;
        size_t length = 0;
        struct yaml yaml;
        if (file_exists(file_join(arena, folder, name)))
            return STATUS_OK;
        status = file_read(path, INPUT_LIMIT_BYTES, arena, &text, &length, report);
        if (!status)
            status = put(folder, name, text, length, arena, report);
        if (!status)
            status = yaml_parse(arena, path, text, length, &yaml, report);
        const struct yaml_node *base = status ? NULL : yaml_get(yaml.root, "base");
        gpu = base && base->kind == YAML_SCALAR ? base->text : NULL;
    }
    return status;
}

/* As the store has it, checksum and all. */
static enum status put_result(const struct plan_point *point, const struct store *store, const char *folder,
                              struct report *report) {
    const enum store_state state = (enum store_state)point->state;
    struct arena scratch = {0};
    char *text = NULL;
    size_t length = 0;
    enum status status = STATUS_OK;
    const struct store there = {.folder = arena_printf(&scratch, "%s/" ARTIFACT_STORE, folder)};
    const char *path = store_path(&there, &scratch, point->key, state);
    if (store_read(store, point->key, state, &scratch, &text, &length) != STORE_WHOLE)
        status = report_add(report, STATUS_SYSTEM, "%s cannot be read any more",
                            store_path(store, &scratch, point->key, state));
    else if (!file_exists(path))
        status = put("", path, text, length, &scratch, report);
    arena_free(&scratch);
    return status;
}

enum status artifact_put_points(const struct artifact_sweep *sweep, const struct store *store, const char *folder,
                                json_t *points, struct report *report) {
    const struct plan *plan = sweep->plan;
    struct arena scratch = {0};
    uint64_t lacking = 0;
    enum status status = STATUS_OK;
    for (uint64_t i = 0; i < plan->count; i++)
        lacking += plan->points[i].state == STORE_MISSING && !plan->points[i].repeats;
    if (lacking)
        status =
            report_add(report, STATUS_INVALID,
                       "%s: %llu of %llu points have no result in the store %s: run the study first, and an artifact "
                       "is whole",
                       sweep->file, (unsigned long long)lacking, (unsigned long long)plan->distinct, store->folder);
    for (uint64_t i = 0; !status && i < plan->count; i++) {
        const struct plan_point *point = &plan->points[i];
        json_array_append_new(points, json_pack("{s:s, s:i, s:I, s:s, s:s, s:s}", "file", sweep->file, "part",
                                                (int)plan->sweep->source.part, "number", (json_int_t)point->number,
                                                "label", sweep_label(plan->sweep, point->number, &scratch), "state",
                                                plan_state_name(point), "key", point->key));
        if (!point->repeats)
            status = put_result(point, store, folder, report);
        if (!status)
            status = put_machine(folder, sweep_value(plan->sweep, point->number, COLUMN_GPU), &scratch, report);
    }
    arena_free(&scratch);
    return status;
}

/* ---- comparing ---- */

static const char *word(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

enum status artifact_read(const char *folder, struct arena *arena, json_t **out, struct report *report) {
    const char *path = file_join(arena, folder, ARTIFACT_ABOUT);
    json_error_t error;
    char *text = NULL;
    size_t length = 0;
    *out = NULL;
    const enum status status = file_read(path, ABOUT_LIMIT_BYTES, arena, &text, &length, report);
    if (status)
        return report_add(report, status, "%s is not a folder made by 'heddle artifact'", folder);
    *out = json_loadb(text, length, 0, &error);
    if (!*out)
        return report_add(report, STATUS_INVALID, "%s:%d: %s", path, error.line, error.text);
    if (strcmp(word(*out, "schema"), ARTIFACT_SCHEMA) == 0 && json_is_array(json_object_get(*out, "points")))
        return STATUS_OK;
    json_decref(*out);
    *out = NULL;
    return report_add(report, STATUS_INVALID, "%s: its schema is not " ARTIFACT_SCHEMA ", which this Heddle reads",
                      path);
}

struct comparing {
    struct arena *arena;
    const char *const *folders;
    struct artifact_comparison *out;
    struct report *report;
};

/* The point's result or failure; NULL: it is not there, or not whole. */
static json_t *document_of(struct comparing *c, unsigned which, const json_t *point, struct arena *scratch) {
    const char *key = word(point, "key");
    const struct store store = {.arena = scratch,
                                .folder = arena_printf(scratch, "%s/" ARTIFACT_STORE, c->folders[which])};
    if (strlen(key) != STORE_KEY_BYTES - 1 || strspn(key, "0123456789abcdef") != STORE_KEY_BYTES - 1)
        return NULL;
    return store_document(&store, key, strcmp(word(point, "state"), "done") == 0 ? STORE_DONE : STORE_FAILED, scratch);
}

static bool is_same_point(const json_t *one, const json_t *other) {
    static const char *const keys[] = {"file", "part", "number"};
    for (unsigned i = 0; i < 3; i++)
        if (!json_equal(json_object_get(one, keys[i]), json_object_get(other, keys[i])))
            return false;
    return true;
}

static enum status compare_point(struct comparing *c, const json_t *one, const json_t *other) {
    struct arena scratch = {0};
    json_t *documents[2] = {document_of(c, 0, one, &scratch), document_of(c, 1, other, &scratch)};
    struct artifact_difference difference = {.label = arena_strdup(c->arena, word(one, "label"))};
    enum status status = STATUS_OK;
    for (unsigned i = 0; !status && i < 2; i++)
        if (!documents[i])
            status = report_add(c->report, STATUS_INVALID, "%s: point %lld (%s): its result is not there, or not whole",
                                c->folders[i], (long long)json_integer_value(json_object_get(one, "number")),
                                word(one, "label"));
    if (!status && strcmp(word(one, "state"), word(other, "state")) != 0)
        difference.only = c->folders[strcmp(word(one, "state"), "done") != 0];
    if (!status && !difference.only) {
        for (unsigned i = 0; i < 2; i++)
            json_object_del(documents[i], "heddle");
        rerun_compare(documents[0], documents[1], c->arena, &difference.rerun);
    }
    if (!status && (difference.only || difference.rerun.count) && c->out->differences.count < DIFFERENCES_MAX)
        *ARENA_PUSH(c->arena, &c->out->differences) = difference;
    c->out->points++;
    json_decref(documents[0]);
    json_decref(documents[1]);
    arena_free(&scratch);
    return status;
}

static enum status compare_points(struct comparing *c, json_t *const about[2]) {
    const json_t *points[2] = {json_object_get(about[0], "points"), json_object_get(about[1], "points")};
    const size_t count = json_array_size(points[0]);
    enum status status = STATUS_OK;
    bool same = count == json_array_size(points[1]);
    for (size_t i = 0; same && i < count; i++)
        same = is_same_point(json_array_get(points[0], i), json_array_get(points[1], i));
    if (!same)
        return report_add(c->report, STATUS_INVALID, "%s and %s are not of one study: their points differ",
                          c->folders[0], c->folders[1]);
    for (size_t i = 0; !status && i < count; i++)
        status = compare_point(c, json_array_get(points[0], i), json_array_get(points[1], i));
    return status;
}

/* The next line of a text, NULL at its end. */
static const char *next_line(char **text) {
    char *line = *text, *end = line ? strchr(line, '\n') : NULL;
    if (!line || !*line)
        return NULL;
    if (end)
        *end = 0;
    *text = end ? end + 1 : NULL;
    return line;
}

/* The numbers of experiments. A name in artifact.json never leads out of the artifact. */
static enum status compare_numbers(struct comparing *c, json_t *const about[2]) {
    const char *name = word(about[0], "numbers");
    char *texts[2] = {NULL, NULL};
    size_t length = 0;
    enum status status = STATUS_OK;
    if (!*name)
        return STATUS_OK;
    if (name[0] == '/' || strstr(name, "..") || strcmp(name, word(about[1], "numbers")) != 0)
        return report_add(c->report, STATUS_INVALID,
                          "%s and %s are not of one study: they keep their numbers elsewhere", c->folders[0],
                          c->folders[1]);
    for (unsigned i = 0; !status && i < 2; i++)
        status = file_read(file_join(c->arena, c->folders[i], name), ABOUT_LIMIT_BYTES, c->arena, &texts[i], &length,
                           c->report);
    for (bool more = !status; more;) {
        const char *one = next_line(&texts[0]), *other = next_line(&texts[1]);
        more = one || other;
        c->out->numbers +=
            more && (!one || !other || (one[0] != '#' && strcmp(one, other) != 0)); /* # names the model */
    }
    c->out->numbers_file = arena_strdup(c->arena, name);
    return status;
}

enum status artifact_compare(const char *const folders[2], struct arena *arena, struct artifact_comparison *out,
                             struct report *report) {
    struct comparing c = {.arena = arena, .folders = folders, .out = out, .report = report};
    json_t *about[2] = {NULL, NULL};
    enum status status = STATUS_OK;
    *out = (struct artifact_comparison){0};
    for (unsigned i = 0; !status && i < 2; i++) {
        status = artifact_read(folders[i], arena, &about[i], report);
        out->models[i] = arena_strdup(arena, word(about[i], "model"));
        out->versions[i] = arena_strdup(arena, word(about[i], "heddle"));
    }
    if (!status)
        status = compare_points(&c, about);
    if (!status)
        status = compare_numbers(&c, about);
    json_decref(about[0]);
    json_decref(about[1]);
    return status ? status : out->differences.count || out->numbers ? STATUS_WRONG : STATUS_OK;
}
