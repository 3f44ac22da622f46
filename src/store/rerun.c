/* SPDX-License-Identifier: Apache-2.0 */
#include "store/rerun.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/text.h"
#include "base/folder.h"
#include "result/read.h"
#include "store/child.h"
#include "store/point.h"

/* ---- what was run ---- */

static const char *value_text(struct arena *arena, const json_t *value) {
    char text[TEXT_F64_BYTES];
    if (json_is_string(value))
        return arena_strdup(arena, json_string_value(value));
    if (json_is_integer(value))
        return arena_printf(arena, "%lld", (long long)json_integer_value(value));
    if (json_is_real(value))
        return arena_strdup(arena, text_from_f64(json_real_value(value), text));
    return json_is_true(value) ? "true" : json_is_false(value) ? "false" : value ? "..." : "nothing";
}

static const char *word(json_t *object, const char *key) { return json_string_value(json_object_get(object, key)); }

/* Values that the command line gave: their origin is the option, which is spelled --set from here on. */
static void read_settings(json_t *root, struct arena *arena, struct point *out) {
    struct {
        const char **items;
        unsigned count, capacity;
    } keys = {0}, values = {0};
    const char *key;
    json_t *entry;
    json_object_foreach (json_object_get(json_object_get(root, "machine"), "parameters"), key, entry) {
        const char *origin = word(entry, "origin");
        if (!origin || strncmp(origin, "--", 2) != 0)
            continue;
        *ARENA_PUSH(arena, &keys) = arena_strdup(arena, key);
        *ARENA_PUSH(arena, &values) = value_text(arena, json_object_get(entry, "value"));
        json_object_set_new(entry, "origin", json_string("--set"));
    }
    out->keys = keys.items;
    out->values = values.items;
    out->setting_count = keys.count;
}

static enum status read_point(const char *path, json_t *root, struct arena *arena, struct point_program *program,
                              struct point *out, struct report *report) {
    json_t *host = json_object_get(root, "host"), *point = json_object_get(root, "point");
    const char *workload = word(point, "workload"), *launch = word(host, "launch_file"), *gpu = word(host, "gpu");
    gpu = gpu ? gpu : word(json_object_get(root, "machine"), "name");
    if (!workload && !launch)
        return report_add(report, STATUS_INVALID,
                          "%s does not say what was run: neither 'heddle run -o' nor a store wrote it", path);
    if (!json_is_true(json_object_get(root, "complete")))
        return report_add(report, STATUS_INVALID, "%s: the run was cut short; there is nothing to compare with", path);
    if (json_object_get(root, "sample"))
        return report_add(report, STATUS_INVALID,
                          "%s is of a run that sampled launches; 'heddle run %s --sample ...' samples them again", path,
                          launch ? launch : "LAUNCH");
    const char *size = word(point, "size");
    *program = (struct point_program){.label = arena_strdup(arena, workload ? workload : launch),
                                      .is_launch = !workload,
                                      .path = launch ? arena_strdup(arena, launch) : NULL};
    *out = (struct point){.program = program,
                          .size = size ? arena_strdup(arena, size) : "test",
                          .functional = strcmp(word(root, "mode"), "functional") == 0,
                          .seed = (uint64_t)json_integer_value(json_object_get(workload ? point : root, "seed")),
                          .gpu = arena_strdup(arena, gpu ? gpu : MACHINE_DEFAULT)};
    read_settings(root, arena, out);
    return STATUS_OK;
}

/* ---- differences ---- */

static void differ(struct rerun *out, struct arena *arena, const char *path, const json_t *before,
                   const json_t *after) {
    if (out->count < RERUN_SHOWN) {
        out->shown[out->count].path = path;
        out->shown[out->count].before = value_text(arena, before);
        out->shown[out->count].after = value_text(arena, after);
    }
    out->count++;
}

static void compare(struct rerun *out, struct arena *arena, const char *path, json_t *before, json_t *after);

static void compare_objects(struct rerun *out, struct arena *arena, const char *path, json_t *before, json_t *after) {
    const char *key;
    json_t *value;
    json_object_foreach (before, key, value)
        compare(out, arena, arena_printf(arena, "%s%s%s", path, *path ? "." : "", key), value,
                json_object_get(after, key));
    json_object_foreach (after, key, value)
        if (!json_object_get(before, key))
            differ(out, arena, arena_printf(arena, "%s%s%s", path, *path ? "." : "", key), NULL, value);
}

static void compare(struct rerun *out, struct arena *arena, const char *path, json_t *before, json_t *after) {
    if (json_equal(before, after))
        return;
    if (json_is_object(before) && json_is_object(after)) {
        compare_objects(out, arena, path, before, after);
        return;
    }
    if (!json_is_array(before) || !json_is_array(after) || json_array_size(before) != json_array_size(after)) {
        differ(out, arena, path, before, after);
        return;
    }
    size_t i;
    json_t *value;
    json_array_foreach (before, i, value)
        compare(out, arena, arena_printf(arena, "%s[%zu]", path, i), value, json_array_get(after, i));
}

void rerun_compare(json_t *before, json_t *after, struct arena *arena, struct rerun *out) {
    json_t *const both[] = {before, after};
    for (unsigned i = 0; i < 2; i++) {
        json_object_del(both[i], "host");
        json_object_del(both[i], "point");
    }
    *out = (struct rerun){0};
    compare(out, arena, "", before, after);
}

/* ---- again ---- */

static enum status run_again(const struct point *point, struct arena *arena, const char *folder, json_t **out,
                             struct report *report) {
    const char *log = arena_printf(arena, "%s/log", folder), *result = arena_printf(arena, "%s/result.json", folder);
    int state = 0;
    char *said = NULL;
    size_t length = 0;
    struct child_watch watch;
    child_watch(&watch);
    const enum child_end end = child_run(&watch, point_command(point, result, arena), folder, NULL, NULL, &state);
    child_unwatch(&watch);
    switch (end) {
    case CHILD_REFUSED: return report_add(report, STATUS_SYSTEM, "no process can be started: %s", strerror(errno));
    case CHILD_INTERRUPTED: return report_add(report, STATUS_STOPPED, "interrupted");
    case CHILD_ENDED: break;
    }
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0)
        return result_read(arena, result, out, report);
    if (file_read(log, INT_MAX, arena, &said, &length, NULL) != STATUS_OK)
        said = arena_strdup(arena, "");
    const int code = WIFEXITED(state) ? WEXITSTATUS(state) : STATUS_STOPPED;
    return report_add(report, code == STATUS_WRONG || code == STATUS_STOPPED ? (enum status)code : STATUS_INVALID,
                      "this time the run failed:\n%s", said);
}

enum status rerun_result(const char *path, struct arena *arena, struct rerun *out, struct report *report) {
    json_t *before = NULL, *after = NULL;
    struct point_program program;
    struct point point;
    *out = (struct rerun){0};
    enum status status = result_read(arena, path, &before, report);
    if (!status)
        status = read_point(path, before, arena, &program, &point, report);
    char *folder = status ? NULL : folder_make_temporary(arena);
    if (!status && !folder)
        status = report_add(report, STATUS_SYSTEM, "no folder for temporary files can be made: %s", strerror(errno));
    if (!status)
        status = run_again(&point, arena, folder, &after, report);
    if (!status) {
        rerun_compare(before, after, arena, out);
        status = out->count ? STATUS_WRONG : STATUS_OK;
    }
    if (folder)
        folder_remove(arena, folder);
    json_decref(before);
    json_decref(after);
    return status;
}
