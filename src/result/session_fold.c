/* SPDX-License-Identifier: Apache-2.0 */
/* The logs of all processes put together into one result file. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/file.h"
#include "base/folder.h"
#include "machine/model.h"
#include "result/parts.h"
#include "result/timed.h"
#include "result/session.h"
#include "result/session_log.h"

struct fold {
    struct session *session;
    struct arena *arena;
    struct session_sum *sum;
    json_t *launches, *kernels, *lines, *sources;
    json_t *line_index; /* "file:line" to the entry in lines */
};

struct log_names {
    const char **items;
    unsigned count, capacity;
};

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void list_logs(const char *folder, struct arena *arena, struct log_names *out) {
    DIR *opened = opendir(folder);
    for (struct dirent *entry; opened && (entry = readdir(opened));)
        if (file_ends_in(entry->d_name, SESSION_LOG))
            *ARENA_PUSH(arena, out) = arena_printf(arena, "%s/%s", folder, entry->d_name);
    if (opened)
        closedir(opened);
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, compare_names);
}

/* Counters of the same line in another module: everything that is a whole number adds up. */
static void add_counts(json_t *into, const json_t *from) {
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)from, key, value) {
        json_t *there = json_object_get(into, key);
        if (json_is_object(value) && json_is_object(there))
            add_counts(there, value);
        else if (json_is_integer(value) && strcmp(key, "line") != 0 && strcmp(key, "instructions") != 0)
            json_object_set_new(into, key, json_integer(json_integer_value(there) + json_integer_value(value)));
    }
}

static void fold_line(struct fold *fold, json_t *line) {
    const char *key = arena_printf(fold->arena, "%s:%lld", json_string_value(json_object_get(line, "file")),
                                   (long long)json_integer_value(json_object_get(line, "line")));
    json_t *there = json_object_get(fold->line_index, key);
    if (!there) {
        json_object_set(fold->line_index, key, line);
        json_array_append(fold->lines, line);
        return;
    }
    add_counts(there, line);
    const double issues = (double)json_integer_value(json_object_get(there, "warp_instructions"));
    const double lanes = (double)json_integer_value(json_object_get(there, "active_lanes"));
    json_object_set_new(there, "simd_efficiency",
                        json_real(issues > 0 ? lanes / (issues * fold->session->machine->warp_size) : 0));
}

static void add_source(struct fold *fold, const struct session_module *module, const char *name, const char *text) {
    json_t *out = json_object(), *hash = result_hash(XXH64(text, strlen(text), 0));
    json_object_set_new(out, "name", result_text(fold->arena, name));
    json_object_set_new(out, "text", result_text(fold->arena, text));
    json_object_set_new(out, "module_hash", result_hash(module->run.module_hash));
    json_object_set_new(fold->sources, json_string_value(hash), out);
    json_decref(hash);
}

/* The program's source, and what else its lines stand in. */
static void add_sources(struct fold *fold, const struct session_module *module) {
    const struct module *code = module->run.module;
    for (unsigned i = 1; i < code->file_count; i++) {
        const char *text = source_text(&module->run.sources, i, fold->arena);
        if (text && strcmp(code->files[i], module->source_name) != 0)
            add_source(fold, module, code->files[i], text);
    }
    add_source(fold, module, module->source_name, module->source);
}

static void fold_module(struct fold *fold, struct session_module *module) {
    struct run *run = &module->run;
    struct run_stats stats;
    json_t *kernels = result_kernels(run, fold->arena), *lines = result_lines(run, fold->arena), *line;
    size_t i;
    json_array_extend(fold->kernels, kernels);
    json_array_foreach (lines, i, line) {
        fold_line(fold, line);
    }
    add_sources(fold, module);
    json_decref(kernels);
    json_decref(lines);
    result_total(run, NULL, &stats);
    stat_merge(&fold->sum->stats, &stats, run_stats_table);
    for (unsigned k = 0; k < run->done; k++)
        if (run->results[k].timed)
            result_merge_timed(&fold->sum->timed, run->results[k].timed, fold->arena);
}

/* One hash of all modules, in the order of their sources' hashes. */
static uint64_t hash_sources(json_t *sources, bool of_modules) {
    uint64_t hash = 0;
    const char *key;
    json_t *value;
    json_object_foreach (sources, key, value) {
        const char *text = of_modules ? json_string_value(json_object_get(value, "module_hash")) : key;
        hash ^= XXH64(text, strlen(text), 0);
    }
    return hash;
}

static json_t *total_json(struct fold *fold) {
    json_t *total = json_object();
    const char *only = NULL;
    size_t i;
    json_t *kernel;
    json_array_foreach (fold->kernels, i, kernel) {
        const char *name = json_string_value(json_object_get(kernel, "kernel"));
        only = i && only && strcmp(only, name) != 0 ? "" : i ? only : name;
    }
    json_object_set_new(total, "kernel", only && *only ? json_string(only) : json_null());
    json_object_set_new(total, "launches", result_count(fold->sum->launches));
    result_add_stats(total, &fold->sum->stats);
    if (fold->sum->in_time)
        result_add_timed(total, fold->session->machine, &fold->sum->timed, &fold->sum->stats);
    json_object_set_new(total, "lines", fold->lines);
    return total;
}

static json_t *document(struct fold *fold, const char *program, double seconds) {
    const struct session *session = fold->session;
    const struct session_sum *sum = fold->sum;
    const char *lanes = session->modules ? device_lanes(session->modules->run.device) : "v1";
    json_t *root = json_object(), *module = json_object();
    json_object_set_new(root, "schema", json_string(RESULT_SCHEMA));
    json_object_set_new(root, "complete", json_boolean(!*sum->faults && !sum->is_cut));
    json_object_set_new(root, "heddle", json_string(HEDDLE_VERSION));
    result_add_model(root, fold->arena);
    json_object_set_new(root, "mode", json_string(sum->in_time ? "timed" : "functional"));
    json_object_set_new(root, "seed", result_count(0));
    json_object_set_new(root, "machine", result_machine(session->machine, fold->arena));
    json_object_set_new(module, "name", result_text(fold->arena, file_name(program)));
    json_object_set_new(module, "hash", result_hash(hash_sources(fold->sources, true)));
    json_object_set_new(module, "source_hash", result_hash(hash_sources(fold->sources, false)));
    json_object_set_new(root, "module", module);
    json_object_set_new(root, "units", result_units(sum->in_time, sum->timed.has_clusters, session->machine));
    json_object_set_new(root, "launches", fold->launches);
    json_object_set_new(root, "kernels", fold->kernels);
    json_object_set_new(root, "total", total_json(fold));
    json_object_set_new(root, "buffers", json_object());
    json_object_set_new(root, "checks", json_array());
    json_object_set_new(root, "sources", fold->sources);
    json_object_set_new(root, "host",
                        result_host(seconds, sum->stats.warp_instructions,
                                    session->host_threads ? session->host_threads : 1, lanes));
    return root;
}

static enum status read_logs(const char *folder, struct session *session, struct device **device,
                             struct report *report) {
    struct log_names names = {0};
    list_logs(folder, &session->arena, &names);
    enum status status = names.count ? device_create(device, session->machine, report) : STATUS_OK;
    for (unsigned i = 0; *device && i < names.count; i++) {
        const enum status one = session_log_read(names.items[i], session, *device, report);
        status = status ? status : one;
    }
    return status;
}

void session_sum_up(struct session *session, const char *program, double wall_seconds, struct arena *arena,
                    struct session_sum *sum) {
    *sum = (struct session_sum){.launches = session->launches.count,
                                .untimed = session->untimed,
                                .in_time = session->in_time,
                                .faults = arena_strdup(arena, session->faults ? session->faults : ""),
                                .remarks = arena_strdup(arena, session->remarks ? session->remarks : ""),
                                .is_cut = session->is_cut};
    struct fold fold = {.session = session,
                        .arena = arena,
                        .sum = sum,
                        .launches = json_array(),
                        .kernels = json_array(),
                        .lines = json_array(),
                        .sources = json_object(),
                        .line_index = json_object()};
    for (unsigned i = 0; i < session->launches.count; i++) {
        const struct session_launch *one = &session->launches.items[i];
        json_array_append_new(fold.launches, result_launch(&one->module->run, one->index, arena));
    }
    for (struct session_module *module = session->modules; module; module = module->next)
        if (module->run.done)
            fold_module(&fold, module);
    sum->document = document(&fold, program, wall_seconds);
    json_decref(fold.line_index);
}

enum status session_fold(const struct session_logs *logs, struct arena *arena, struct session_sum *sum,
                         struct report *report) {
    struct session session = {.machine = logs->machine, .in_time = logs->in_time};
    struct device *device = NULL;
    const enum status status = read_logs(logs->folder, &session, &device, report);
    session_sum_up(&session, logs->program, logs->wall_seconds, arena, sum);
    session_close(&session);
    if (device)
        device_destroy(device);
    return status;
}

enum status session_list(const struct session_logs *logs,
                         enum status (*check)(const struct module *module, struct report *report), struct arena *arena,
                         struct session_list *out, struct report *report) {
    struct session session = {.machine = logs->machine, .in_time = logs->in_time};
    struct device *device = NULL;
    struct log_names names = {0};
    *out = (struct session_list){0};
    list_logs(logs->folder, arena, &names);
    enum status status = read_logs(logs->folder, &session, &device, report);
    for (const struct session_module *module = session.modules; module && !status; module = module->next)
        status = check(module->run.module, report);
    out->items = ARENA_ARRAY(arena, struct session_done, session.launches.count);
    out->count = session.launches.count, out->logs = names.count, out->untimed = session.untimed;
    for (unsigned i = 0; i < out->count; i++) {
        const struct session_launch *one = &session.launches.items[i];
        const struct launch *launch = &one->module->run.launches[one->index];
        const struct launch_result *result = &one->module->run.results[one->index];
        out->items[i] = (struct session_done){.kernel = arena_strdup(arena, launch->kernel->name),
                                              .block = {launch->block[0], launch->block[1], launch->block[2]},
                                              .shared_bytes = launch->dynamic_shared_bytes,
                                              .stats = result->stats,
                                              .footprint_bytes = result->footprint_bytes,
                                              .cycles = result->timed ? result->timed->cycles : 0};
    }
    session_close(&session);
    if (device)
        device_destroy(device);
    return status;
}

char *session_folder_make(struct arena *arena) { return folder_make_temporary(arena); }

void session_folder_remove(struct arena *arena, const char *folder) { folder_remove(arena, folder); }
