/* SPDX-License-Identifier: Apache-2.0 */
#include "result/result.h"
#include "base/bits.h"
#include "base/file.h"
#include "result/lines.h"
#include "machine/model.h"
#include "machine/plugin.h"
#include "result/layout.h"
#include "result/parts.h"
#include "result/sample.h"
#include "result/timed.h"
#include "trace/file.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Bytes of one valid UTF-8 character, 0 when it is none. */
static size_t utf8_length(const unsigned char *text, size_t left) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (text[0] < 0x80)
        return 1;
    size_t length = text[0] >= 0xf0 && text[0] < 0xf8 ? 4 : text[0] >= 0xe0 ? 3 : text[0] >= 0xc0 ? 2 : 0;
    if (length == 0 || length > left || text[0] >= 0xf8)
        return 0;
    uint32_t code = text[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    return code >= least[length] && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000) ? length : 0;
}

/* What is not UTF-8, and NUL, becomes U+FFFD. */
static const char *clean_text(struct arena *arena, const char *bytes, size_t length) {
    unsigned others = 0;
    for (size_t i = 0; i < length; i++)
        others |= (unsigned)(bytes[i] == 0) | ((unsigned char)bytes[i] & 0x80u);
    if (!others) /* nearly all */
        return arena_strndup(arena, bytes, length);
    char *clean = arena_alloc(arena, length * 3 + 1);
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        size_t valid = bytes[i] ? utf8_length((const unsigned char *)bytes + i, length - i) : 0;
        if (valid)
            memcpy(clean + used, bytes + i, valid);
        else
            memcpy(clean + used, "\xef\xbf\xbd", 3);
        used += valid ? valid : 3;
        i += valid ? valid : 1;
    }
    clean[used] = 0;
    return clean;
}

json_t *result_text(struct arena *arena, const char *text) {
    return json_string_nocheck(clean_text(arena, text, strlen(text)));
}

json_t *result_hash(uint64_t hash) {
    char text[17];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
    return json_string(text);
}

static json_t *sizes_of(const uint32_t sizes[3]) {
    json_t *list = json_array();
    for (unsigned i = 0; i < 3; i++)
        json_array_append_new(list, result_count(sizes[i]));
    return list;
}

void result_add_stats(json_t *into, const struct run_stats *stats) {
    for (const struct stat_description *stat = run_stats_table; stat->name; stat++)
        json_object_set_new(into, stat->name,
                            stat->is_ratio ? json_real(stat_ratio(stats, stat))
                                           : result_count(stat_counter(stats, stat)));
}

static void add_inst_stats(json_t *into, const struct inst_stats *stats, uint32_t warp_size) {
    json_object_set_new(into, "warp_instructions", result_count(stats->issues));
    json_object_set_new(into, "thread_instructions", result_count(stats->threads));
    json_object_set_new(into, "active_lanes", result_count(stats->lanes));
    json_object_set_new(into, "simd_efficiency",
                        json_real(stats->issues ? (double)stats->lanes / ((double)stats->issues * warp_size) : 0));
    json_object_set_new(into, "divergent", result_count(stats->divergent));
}

static json_t *lines_json(struct run *run, const struct inst_stats *instructions, const struct sm_inst_stats *timed,
                          struct arena *arena) {
    json_t *list = json_array();
    unsigned count;
    struct line_stats *lines = lines_collect(run->module, instructions, timed, arena, &count);
    for (unsigned i = 0; i < count; i++) {
        json_t *line = json_object();
        json_object_set_new(line, "file", result_text(arena, lines_file_name(run->module, lines[i].file)));
        json_object_set_new(line, "line", result_count(lines[i].line));
        json_object_set_new(line, "text", result_text(arena, source_line(&run->sources, lines[i].file, lines[i].line)));
        json_object_set_new(line, "instructions", result_count(lines[i].instructions));
        add_inst_stats(line, &lines[i].sum, run->machine->warp_size);
        if (timed)
            result_add_inst_timed(line, &lines[i].timed);
        json_array_append_new(list, line);
    }
    return list;
}

static json_t *instructions_json(struct run *run, const struct inst_stats *instructions,
                                 const struct sm_inst_stats *timed, struct arena *arena) {
    json_t *list = json_array();
    for (uint32_t pc = 0; pc < run->module->code_count; pc++) {
        if (!lines_counted(&instructions[pc], timed ? &timed[pc] : NULL))
            continue;
        char text[512];
        unsigned file;
        uint32_t line;
        lines_of(run->module, pc, &file, &line);
        json_t *entry = json_object();
        json_object_set_new(entry, "pc", result_count(pc));
        json_object_set_new(entry, "text",
                            result_text(arena, inst_text(run->module, &run->module->code[pc], text, sizeof text)));
        json_object_set_new(entry, "file", result_text(arena, lines_file_name(run->module, file)));
        json_object_set_new(entry, "line", result_count(line));
        add_inst_stats(entry, &instructions[pc], run->machine->warp_size);
        if (timed)
            result_add_inst_timed(entry, &timed[pc]);
        json_array_append_new(list, entry);
    }
    return list;
}

/* What a block has, as exec/exec.c lays it out. */
static uint64_t shared_bytes(const struct launch *launch) {
    const uint64_t own = launch->kernel->shared_bytes;
    return launch->dynamic_shared_bytes ? bits_round_up(own, 16) + launch->dynamic_shared_bytes : own;
}

json_t *result_launch(struct run *run, unsigned i, struct arena *arena) {
    const struct launch *launch = &run->launches[i];
    const struct launch_result *result = &run->results[i];
    json_t *out = json_object();
    json_object_set_new(out, "kernel", result_text(arena, launch->kernel->name));
    json_object_set_new(out, "grid", sizes_of(launch->grid));
    json_object_set_new(out, "block", sizes_of(launch->block));
    json_object_set_new(out, "registers", result_count(launch->kernel->live_registers));
    json_object_set_new(out, "shared_bytes", result_count(shared_bytes(launch)));
    result_add_stats(out, &result->stats);
    if (result->timed)
        result_add_timed(out, run->machine, result->timed, &result->stats);
    if (result->timed)
        json_object_set_new(out, "series", result_series(&result->timed->series));
    if (result->timed)
        json_object_set_new(out, "sms", result_sms(&result->timed->sms));
    if (result->output)
        json_object_set_new(out, "output", json_string(clean_text(arena, result->output, result->output_bytes)));
    if (result->remarks)
        json_object_set_new(out, "remarks", json_string(clean_text(arena, result->remarks, strlen(result->remarks))));
    return out;
}

void result_total(const struct run *run, const struct function *kernel, struct run_stats *total) {
    *total = (struct run_stats){0};
    for (unsigned i = 0; i < run->done; i++)
        if (!kernel || run->launches[i].kernel == kernel)
            stat_merge(total, &run->results[i].stats, run_stats_table);
}

struct inst_stats *result_total_instructions(const struct run *run, const struct function *kernel,
                                             struct arena *arena) {
    struct inst_stats *sum = ARENA_ARRAY(arena, struct inst_stats, run->module->code_count);
    for (unsigned i = 0; i < run->done; i++) {
        const struct inst_stats *one = run->results[i].instructions;
        if (kernel && run->launches[i].kernel != kernel)
            continue;
        for (uint32_t pc = 0; one && pc < run->module->code_count; pc++)
            inst_stats_add(&sum[pc], &one[pc]);
    }
    return sum;
}

typedef json_t *listing(struct run *run, const struct inst_stats *instructions, const struct sm_inst_stats *timed,
                        struct arena *arena);

/* Launches added up, and under the name `key` where in the code it was. kernel: only its launches; NULL: all. */
static json_t *sum_json(struct run *run, const struct function *kernel, const char *key, listing *list,
                        struct arena *arena) {
    const struct function *only = NULL; /* of all these launches; NULL: there are several */
    unsigned launches = 0;
    for (unsigned i = 0; i < run->done; i++) {
        const struct function *one = run->launches[i].kernel;
        if (!kernel || one == kernel)
            only = launches++ && only != one ? NULL : one;
    }
    struct run_stats stats;
    struct gpu_stats timed;
    result_total(run, kernel, &stats);
    const bool in_time = result_total_timed(run, kernel, &timed, arena);
    json_t *out = json_object();
    json_object_set_new(out, "kernel", only ? result_text(arena, only->name) : json_null());
    json_object_set_new(out, "launches", result_count(launches));
    result_add_stats(out, &stats);
    if (in_time)
        result_add_timed(out, run->machine, &timed, &stats);
    json_object_set_new(
        out, key, list(run, result_total_instructions(run, kernel, arena), in_time ? timed.instructions : NULL, arena));
    return out;
}

json_t *result_kernels(struct run *run, struct arena *arena) {
    json_t *list = json_array();
    for (unsigned i = 0; i < run->done; i++) {
        unsigned first = 0;
        while (run->launches[first].kernel != run->launches[i].kernel)
            first++;
        if (first != i)
            continue;
        const struct function *kernel = run->launches[i].kernel;
        json_t *out = sum_json(run, kernel, "instructions", instructions_json, arena);
        json_object_set_new(out, "flow", result_flow(run->module, result_total_instructions(run, kernel, arena)));
        json_array_append_new(list, out);
    }
    return list;
}

static json_t *param_json(const struct machine *machine, const struct param_description *param, struct arena *arena) {
    const char *field = (const char *)machine->params.values + param->offset;
    switch (param->kind) {
    case PARAM_U32: return result_count(*(const uint32_t *)(const void *)field);
    case PARAM_U64: return result_count(*(const uint64_t *)(const void *)field);
    case PARAM_BOOL: return json_boolean(*(const bool *)field);
    case PARAM_F64: return json_real(*(const double *)(const void *)field);
    case PARAM_TEXT:
    case PARAM_CHOICE: break;
    }
    return result_text(arena, machine_value(machine, param));
}

json_t *result_machine(const struct machine *machine, struct arena *arena) {
    json_t *out = json_object(), *parameters = json_object();
    json_object_set_new(out, "name", result_text(arena, machine->name));
    json_object_set_new(out, "about", result_text(arena, machine->about));
    json_object_set_new(out, "parameters", parameters);
    for (const struct param_description *param = machine->params.table; param->key; param++) {
        if (machine_is_idle_key(machine, param))
            continue;
        json_t *entry = json_object();
        json_object_set_new(entry, "value", param_json(machine, param, arena));
        json_object_set_new(entry, "unit", json_string(param->unit));
        json_object_set_new(entry, "origin", result_text(arena, machine_origin(machine, param)));
        json_object_set_new(parameters, param->key, entry);
    }
    return out;
}

static bool has_clusters(const struct run *run) {
    for (unsigned i = 0; i < run->done; i++)
        if (run->results[i].timed && run->results[i].timed->has_clusters)
            return true;
    return false;
}

json_t *result_units(bool in_time, bool clusters, const struct machine *machine) {
    json_t *out = json_object();
    if (in_time)
        result_add_timed_units(out, machine, sm_predicts(&machine->sm));
    if (clusters)
        result_add_cluster_units(out);
    for (const struct stat_description *stat = run_stats_table; stat->name; stat++)
        json_object_set_new(out, stat->name, json_string(stat->unit));
    json_object_set_new(out, "instructions", json_string("instructions"));
    json_object_set_new(out, "divergent", json_string("branches"));
    json_object_set_new(out, "registers", json_string("registers"));
    json_object_set_new(out, "shared_bytes", json_string("bytes"));
    json_object_set_new(out, "wall_seconds", json_string("seconds"));
    json_object_set_new(out, "warp_instructions_per_second", json_string("instructions per second"));
    return out;
}

json_t *result_lines(struct run *run, struct arena *arena) {
    struct gpu_stats timed;
    const bool in_time = result_total_timed(run, NULL, &timed, arena);
    return lines_json(run, result_total_instructions(run, NULL, arena), in_time ? timed.instructions : NULL, arena);
}

static json_t *buffers_json(const struct run *run, struct arena *arena) {
    json_t *out = json_object();
    for (unsigned i = 0; i < run->file->buffer_count; i++) {
        const struct launch_buffer *buffer = &run->file->buffers[i];
        uint64_t bytes = run->buffers[i].count * element_bytes(buffer->element);
        const void *data = device_memory(run->device, run->buffers[i].address, bytes);
        json_t *entry = json_object();
        json_object_set_new(entry, "type", json_string(element_names[buffer->element]));
        json_object_set_new(entry, "count", result_count(run->buffers[i].count));
        json_object_set_new(entry, "hash", result_hash(XXH64(data, bytes, 0)));
        json_object_set_new(out, clean_text(arena, buffer->name, strlen(buffer->name)), entry);
    }
    return out;
}

static json_t *checks_json(const struct run *run, struct arena *arena) {
    static const char *const kinds[] = {"equals", "hash", "sum"};
    json_t *list = json_array();
    for (unsigned i = 0; run->checked && i < run->file->check_count; i++) {
        const struct launch_check *check = &run->file->checks[i];
        const struct check_result *result = &run->checks[i];
        json_t *entry = json_object(), *first = json_array();
        json_object_set_new(entry, "buffer", result_text(arena, run->file->buffers[check->buffer].name));
        json_object_set_new(entry, "kind", json_string(kinds[check->kind]));
        json_object_set_new(entry, "passed", json_boolean(result->passed));
        json_object_set_new(entry, "compared", result_count(result->compared));
        json_object_set_new(entry, "mismatches", result_count(result->mismatches));
        for (unsigned k = 0; k < result->shown; k++) {
            json_t *mismatch = json_object();
            json_object_set_new(mismatch, "index", result_count(result->first[k].index));
            json_object_set_new(mismatch, "got", json_string(result->first[k].got));
            json_object_set_new(mismatch, "expected", json_string(result->first[k].expected));
            json_array_append_new(first, mismatch);
        }
        json_object_set_new(entry, "first", first);
        json_array_append_new(list, entry);
    }
    return list;
}

json_t *result_host(double seconds, uint64_t warp_instructions, unsigned threads, const char *lanes) {
    json_t *out = json_object();
    json_object_set_new(out, "wall_seconds", json_real(seconds));
    json_object_set_new(out, "warp_instructions_per_second",
                        json_real(seconds > 0 ? (double)warp_instructions / seconds : 0));
    json_object_set_new(out, "threads", json_integer(threads));
    json_object_set_new(out, "lanes", json_string(lanes));
    return out;
}

static void add_path(json_t *into, const char *key, const char *path, struct arena *arena) {
    char whole[PATH_MAX];
    if (path && realpath(path, whole))
        json_object_set_new(into, key, result_text(arena, whole));
}

static json_t *host_json(const struct run *run, double seconds, struct arena *arena) {
    struct run_stats total;
    result_total(run, NULL, &total);
    json_t *out =
        result_host(seconds, total.warp_instructions, device_host_threads(run->device), device_lanes(run->device));
    if (!run->file->checkpoint ||
        run->file->checkpoint_at) /* of --from: the file alone would be run from its beginning */
        add_path(out, "launch_file", run->file->name, arena);
    add_path(out, "gpu", run->machine->file, arena);
    return out;
}

void result_add_model(json_t *root, struct arena *arena) {
    json_t *plugins = json_array();
    json_object_set_new(root, "model", json_string(model_hash()));
    const struct plugin_file *file;
    for (unsigned i = 0; (file = plugin_at(i)); i++) {
        json_t *entry = json_object(), *provides = json_array();
        json_object_set_new(entry, "file", result_text(arena, file_name(file->path)));
        json_object_set_new(entry, "hash", json_string(file->hash));
        for (unsigned k = 0; file->provides[k]; k++)
            json_array_append_new(provides, json_string(file->provides[k]));
        json_object_set_new(entry, "provides", provides);
        json_array_append_new(plugins, entry);
    }
    if (json_array_size(plugins))
        json_object_set(root, "plugins", plugins);
    json_decref(plugins);
}

static json_t *module_json(const struct run *run, struct arena *arena) {
    json_t *out = json_object();
    json_object_set_new(out, "name", result_text(arena, file_name(run->file->module)));
    json_object_set_new(out, "hash", result_hash(run->module_hash));
    json_object_set_new(out, "source_hash", result_hash(run->source_hash));
    return out;
}

/* What the warps did was read from there. */
static json_t *trace_json(const struct trace_reader *trace, struct arena *arena) {
    json_t *out = json_object();
    json_object_set_new(out, "name", result_text(arena, file_name(trace->name)));
    json_object_set_new(out, "hash", result_hash(trace->hash));
    return out;
}

/* Which launches of the launch file these are, and with what in caches they began. */
static json_t *part_json(const struct run *run) {
    const struct launch_file *file = run->file;
    const bool kept = file->checkpoint && !file->cold && !run->options.cold && run->options.in_time;
    json_t *out = json_object();
    json_object_set_new(out, "first", result_count(file->before + 1));
    json_object_set_new(out, "caches", json_string(kept ? "kept" : "cold"));
    return out;
}

char *result_write(struct run *run, bool complete, double wall_seconds, struct arena *arena, size_t *length,
                   struct report *report) {
    json_t *root = json_object(), *launches = json_array();
    json_object_set_new(root, "schema", json_string(RESULT_SCHEMA));
    json_object_set_new(root, "complete", json_boolean(complete));
    json_object_set_new(root, "heddle", json_string(HEDDLE_VERSION));
    result_add_model(root, arena);
    json_object_set_new(root, "mode", json_string(run->options.in_time ? "timed" : "functional"));
    json_object_set_new(root, "seed", result_count(run->options.seed));
    json_object_set_new(root, "machine", result_machine(run->machine, arena));
    json_object_set_new(root, "module", module_json(run, arena));
    if (run->options.trace_from)
        json_object_set_new(root, "trace", trace_json(run->options.trace_from, arena));
    if (run->file->is_part || run->file->checkpoint)
        json_object_set_new(root, "part", part_json(run));
    json_object_set_new(root, "launch_file", result_text(arena, run->file->yaml.text));
    json_object_set_new(root, "units", result_units(run->options.in_time, has_clusters(run), run->machine));
    json_object_set_new(root, "launches", launches);
    for (unsigned i = 0; i < run->done; i++)
        json_array_append_new(launches, result_launch(run, i, arena));
    json_object_set_new(root, "kernels", result_kernels(run, arena));
    json_object_set_new(root, "total", sum_json(run, NULL, "lines", lines_json, arena));
    if (run->sample)
        json_object_set_new(root, "sample", result_sample_json(run->sample));
    json_object_set_new(root, "buffers", run->options.trace_from ? json_object() : buffers_json(run, arena));
    json_object_set_new(root, "checks", checks_json(run, arena));
    json_object_set_new(root, "sources", result_sources(run, arena));
    json_object_set_new(root, "host", host_json(run, wall_seconds, arena));
    char *text = result_seal(root, arena, length);
    json_decref(root);
    if (!text)
        report_add(report, STATUS_SYSTEM, "the result file could not be made: no memory, or it is larger than 1 GiB");
    return text;
}
