/* The parts of all processes put together into one result file. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/file.h"
#include "device/compile_process.h"
#include "device/result_parts.h"
#include "device/result_timed.h"
#include "device/session.h"
#include "device/session_part.h"

struct fold {
    const char *folder;
    const struct machine *machine;
    struct arena *arena;
    struct session_sum *sum;
    json_t *launches, *kernels, *lines, *sources;
    json_t *line_index; /* "file:line" to the entry in lines */
    const char *lanes;
    unsigned threads; /* most of any part */
};

struct names {
    const char **items;
    unsigned count, capacity;
};

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void list_parts(const char *folder, struct arena *arena, struct names *out) {
    DIR *opened = opendir(folder);
    for (struct dirent *entry; opened && (entry = readdir(opened));)
        if (file_ends_in(entry->d_name, SESSION_DOCUMENT))
            *ARENA_PUSH(arena, out) =
                arena_strndup(arena, entry->d_name, strlen(entry->d_name) - strlen(SESSION_DOCUMENT));
    if (opened)
        closedir(opened);
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, compare_names);
}

static bool fold_totals(struct fold *fold, const char *name) {
    const struct divergence_ops *mechanism = divergence_find(fold->machine->divergence_mechanism);
    char *data = NULL;
    size_t bytes = 0;
    struct session_totals totals;
    if (file_read(arena_printf(fold->arena, "%s/%s" SESSION_TOTALS, fold->folder, name), 1 << 24, fold->arena, &data,
                  &bytes, NULL) != STATUS_OK ||
        bytes < sizeof totals)
        return false;
    memcpy(&totals, data, sizeof totals);
    if (memcmp(totals.form, SESSION_FORM, sizeof SESSION_FORM) != 0 ||
        bytes != sizeof totals + totals.mechanism_bytes ||
        (totals.mechanism_bytes && totals.mechanism_bytes != mechanism->stats_bytes))
        return false;
    stat_merge(&fold->sum->stats, &totals.stats, run_stats_table);
    totals.timed.mechanism = mechanism;
    totals.timed.mechanism_stats =
        totals.mechanism_bytes ? arena_copy(fold->arena, data + sizeof totals, totals.mechanism_bytes) : NULL;
    result_merge_timed(&fold->sum->timed, &totals.timed, fold->arena);
    return true;
}

/* Counters of the same line in another process: everything that is a whole number adds up. */
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
                        json_real(issues > 0 ? lanes / (issues * fold->machine->warp_size) : 0));
}

static enum status fold_part(struct fold *fold, const char *name, struct report *report) {
    json_error_t error;
    const char *path = arena_printf(fold->arena, "%s/%s" SESSION_DOCUMENT, fold->folder, name);
    json_t *part = json_load_file(path, 0, &error);
    if (!part || !fold_totals(fold, name)) {
        json_decref(part);
        return report_add(report, STATUS_SYSTEM,
                          "%s: a process wrote results that this program cannot read; are the OpenCL library and the "
                          "program of one build?",
                          path);
    }
    json_array_extend(fold->launches, json_object_get(part, "launches"));
    json_array_extend(fold->kernels, json_object_get(part, "kernels"));
    json_object_update(fold->sources, json_object_get(part, "sources"));
    size_t i;
    json_t *line;
    json_array_foreach (json_object_get(part, "lines"), i, line) {
        fold_line(fold, line);
    }
    fold->sum->untimed += (uint64_t)json_integer_value(json_object_get(part, "untimed"));
    fold->sum->processes++;
    const char *faults = json_string_value(json_object_get(part, "faults"));
    fold->sum->faults = arena_printf(fold->arena, "%s%s", fold->sum->faults, faults ? faults : "");
    const char *lanes = json_string_value(json_object_get(part, "lanes"));
    if (lanes && *lanes)
        fold->lanes = arena_strdup(fold->arena, lanes);
    const unsigned threads = (unsigned)json_integer_value(json_object_get(part, "threads"));
    fold->threads = threads > fold->threads ? threads : fold->threads;
    json_decref(part);
    return STATUS_OK;
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
        result_add_timed(total, &fold->sum->timed, &fold->sum->stats);
    json_object_set_new(total, "lines", fold->lines);
    return total;
}

static json_t *document(struct fold *fold, const char *program, double seconds) {
    json_t *root = json_object(), *module = json_object();
    const bool in_time = fold->sum->in_time;
    json_object_set_new(root, "schema", json_string(RESULT_SCHEMA));
    json_object_set_new(root, "complete", json_boolean(!*fold->sum->faults));
    json_object_set_new(root, "heddle", json_string(HEDDLE_VERSION));
    json_object_set_new(root, "mode", json_string(in_time ? "timed" : "functional"));
    json_object_set_new(root, "seed", result_count(0));
    json_object_set_new(root, "machine", result_machine(fold->machine, fold->arena));
    json_object_set_new(module, "name", result_text(fold->arena, file_name(program)));
    json_object_set_new(module, "hash", result_hash(hash_sources(fold->sources, true)));
    json_object_set_new(module, "source_hash", result_hash(hash_sources(fold->sources, false)));
    json_object_set_new(root, "module", module);
    json_object_set_new(root, "units", result_units(in_time, fold->machine));
    json_object_set_new(root, "launches", fold->launches);
    json_object_set_new(root, "kernels", fold->kernels);
    json_object_set_new(root, "total", total_json(fold));
    json_object_set_new(root, "buffers", json_object());
    json_object_set_new(root, "checks", json_array());
    json_object_set_new(root, "sources", fold->sources);
    json_object_set_new(root, "host",
                        result_host(seconds, fold->sum->stats.warp_instructions, fold->threads, fold->lanes));
    return root;
}

enum status session_fold(const char *folder, const char *program, const struct machine *machine, bool in_time,
                         double wall_seconds, struct arena *arena, struct session_sum *sum, struct report *report) {
    *sum = (struct session_sum){.in_time = in_time, .faults = ""};
    struct fold fold = {.folder = folder,
                        .machine = machine,
                        .arena = arena,
                        .sum = sum,
                        .launches = json_array(),
                        .kernels = json_array(),
                        .lines = json_array(),
                        .sources = json_object(),
                        .line_index = json_object(),
                        .lanes = "v1",
                        .threads = 1};
    struct names names = {0};
    list_parts(folder, arena, &names);
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < names.count; i++) {
        const enum status one = fold_part(&fold, names.items[i], report);
        status = status ? status : one;
    }
    sum->launches = (unsigned)json_array_size(fold.launches);
    sum->document = document(&fold, program, wall_seconds);
    json_decref(fold.line_index);
    return status;
}

char *session_folder_make(struct arena *arena) { return folder_make_temporary(arena); }

void session_folder_remove(struct arena *arena, const char *folder) { folder_remove(arena, folder); }
