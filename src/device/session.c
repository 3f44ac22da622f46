#include "device/session.h"

#include <string.h>
#include <xxhash.h>

#include "base/file.h"
#include "device/lines.h"
#include "device/result_layout.h"
#include "device/result_parts.h"
#include "device/result_timed.h"
#include "device/session_part.h"

enum { SERIES_LAUNCHES = 64 }; /* later ones are kept without their series, which would be most of the memory */

struct session_module *session_add(struct session *session, struct device *device, struct program *program,
                                   const char *source) {
    struct arena *arena = &session->arena;
    struct session_module *module = ARENA_NEW(arena, struct session_module);
    const struct module *code = program_module(program);
    module->run = (struct run){.machine = session->machine, .device = device, .program = program, .module = code};
    module->run.options.in_time = session->in_time;
    module->run.module_hash = XXH64(code->text, strlen(code->text), 0);
    module->run.sources = sources_of(arena, code, NULL);
    module->source_name = code->file_count > 1 ? lines_file_name(code, 1) : code->name;
    module->source = source;
    module->source_hash = XXH64(source, strlen(source), 0);
    if (code->file_count > 1)
        source_give(&module->run.sources, code->files[1], source);
    if (session->last)
        session->last->next = module;
    else
        session->modules = module;
    session->last = module;
    return module;
}

void session_keep(struct session *session, struct session_module *module, const struct launch *launch,
                  struct launch_result *result) {
    struct run *run = &module->run;
    if (session->in_time && !result->timed) {
        session->untimed++;
        launch_result_free(result);
        return;
    }
    unsigned capacity = module->capacity;
    run->launches = arena_grow(&session->arena, run->launches, run->done, &capacity, sizeof *run->launches);
    run->results = arena_grow(&session->arena, run->results, run->done, &module->capacity, sizeof *run->results);
    run->launches[run->done] = *launch;
    run->launches[run->done].params = NULL; /* not ours */
    run->results[run->done] = *result;
    run->results[run->done].arena.escape = NULL;
    if (result->timed && session->launches.count >= SERIES_LAUNCHES)
        result->timed->series.count = 0;
    *ARENA_PUSH(&session->arena, &session->launches) = (struct session_launch){module, run->done};
    run->done++;
    result_fold(run);
}

void session_fault(struct session *session, const char *message) {
    session->faults = arena_printf(&session->arena, "%s%s", session->faults ? session->faults : "", message);
}

void session_close(struct session *session) {
    for (struct session_module *module = session->modules; module; module = module->next)
        for (unsigned i = 0; i < module->run.done; i++)
            launch_result_free(&module->run.results[i]);
    arena_free(&session->arena);
    *session = (struct session){0};
}

/* ---- a process's part ---- */

static json_t *source_json(const struct session_module *module, struct arena *arena) {
    json_t *out = json_object();
    json_object_set_new(out, "name", result_text(arena, module->source_name));
    json_object_set_new(out, "text", result_text(arena, module->source));
    json_object_set_new(out, "module_hash", result_hash(module->run.module_hash));
    return out;
}

static json_t *part_json(struct session *session, struct arena *arena) {
    json_t *root = json_object(), *launches = json_array(), *kernels = json_array(), *lines = json_array();
    json_t *sources = json_object();
    for (unsigned i = 0; i < session->launches.count; i++) {
        const struct session_launch *one = &session->launches.items[i];
        json_array_append_new(launches, result_launch(&one->module->run, one->index, arena));
    }
    for (struct session_module *module = session->modules; module; module = module->next) {
        if (!module->run.done)
            continue;
        json_t *of_kernels = result_kernels(&module->run, arena), *of_lines = result_lines(&module->run, arena);
        json_array_extend(kernels, of_kernels);
        json_array_extend(lines, of_lines);
        json_decref(of_kernels);
        json_decref(of_lines);
        json_t *hash = result_hash(module->source_hash);
        json_object_set_new(sources, json_string_value(hash), source_json(module, arena));
        json_decref(hash);
    }
    json_object_set_new(root, "launches", launches);
    json_object_set_new(root, "kernels", kernels);
    json_object_set_new(root, "lines", lines);
    json_object_set_new(root, "sources", sources);
    json_object_set_new(root, "untimed", result_count(session->untimed));
    json_object_set_new(root, "faults", result_text(arena, session->faults ? session->faults : ""));
    const struct device *device = session->modules ? session->modules->run.device : NULL;
    json_object_set_new(root, "lanes", json_string(device ? device_lanes(device) : ""));
    json_object_set_new(root, "threads", json_integer(device ? device_host_threads(device) : 1));
    return root;
}

static void add_totals(const struct session *session, struct session_totals *totals, struct arena *arena) {
    for (const struct session_module *module = session->modules; module; module = module->next) {
        struct run_stats stats;
        result_total(&module->run, NULL, &stats);
        stat_merge(&totals->stats, &stats, run_stats_table);
        for (unsigned i = 0; i < module->run.done; i++)
            if (module->run.results[i].timed)
                result_merge_timed(&totals->timed, module->run.results[i].timed, arena);
    }
}

enum status session_write(struct session *session, const char *folder, const char *name, struct report *report) {
    struct arena arena = {0};
    struct session_totals totals = {.form = SESSION_FORM};
    add_totals(session, &totals, &arena);
    const size_t own_bytes = totals.timed.mechanism_stats ? totals.timed.mechanism->stats_bytes : 0;
    char *blob = arena_alloc(&arena, sizeof totals + own_bytes);
    if (own_bytes)
        memcpy(blob + sizeof totals, totals.timed.mechanism_stats, own_bytes);
    totals.mechanism_bytes = own_bytes;
    totals.timed.mechanism_stats = NULL, totals.timed.mechanism = NULL;
    memcpy(blob, &totals, sizeof totals);
    json_t *root = part_json(session, &arena);
    size_t length = 0;
    char *text = result_layout(root, &arena, &length);
    json_decref(root);
    enum status status = text ? STATUS_OK : report_add(report, STATUS_SYSTEM, "the results are more than 1 GiB");
    /* the totals first: a part is there when its document is */
    if (!status)
        status = file_write(arena_printf(&arena, "%s/%s" SESSION_TOTALS, folder, name), blob, sizeof totals + own_bytes,
                            report);
    if (!status)
        status = file_write(arena_printf(&arena, "%s/%s" SESSION_DOCUMENT, folder, name), text, length, report);
    arena_free(&arena);
    return status;
}

enum status session_set_limits(struct machine *machine, struct report *report) {
    enum status status = STATUS_OK;
    if (!machine->gpu.max_cycles)
        status = machine_set(machine, "limits.max_cycles=10000000000", "OpenCL", report);
    if (!status && !machine->max_instructions)
        status = machine_set(machine, "functional.max_instructions=100000000000", "OpenCL", report);
    return status;
}
