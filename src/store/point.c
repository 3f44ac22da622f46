/* SPDX-License-Identifier: Apache-2.0 */
#include "store/point.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/digest.h"
#include "compile/compile.h"
#include "device/lowered.h"
#include "machine/model.h"
#include "launch/checkpoint.h"
#include "launch/run.h"

#define POINT_SCHEMA "heddle-point-1"
enum { FILE_LIMIT_BYTES = 1 << 30 };

const char *const point_sizes[] = {"test", "medium", "paper", NULL};

bool point_is_size(const char *text) {
    unsigned i = 0;
    while (point_sizes[i] && strcmp(point_sizes[i], text) != 0)
        i++;
    return point_sizes[i];
}

/* ---- programs ---- */

static void add_file(struct point_program *program, struct arena *arena, const char *name, const void *data,
                     size_t bytes) {
    struct point_file *file = ARENA_PUSH(arena, &program->files);
    file->name = arena_strdup(arena, name);
    digest_text(data, bytes, file->hash);
}

static enum status read_file(struct point_program *program, struct arena *arena, const char *name, const char *path,
                             struct report *report) {
    struct arena scratch = {0};
    char *data = NULL;
    size_t bytes = 0;
    const enum status status = file_read(path, FILE_LIMIT_BYTES, &scratch, &data, &bytes, report);
    if (!status)
        add_file(program, arena, name, data, bytes);
    arena_free(&scratch);
    return status;
}

static enum status load_workload(struct point_program *program, struct arena *arena, struct report *report) {
    struct compile_tools tools;
    compile_find_tools(arena, &tools);
    program->compiler = tools.clang_version ? tools.clang_version : "none";
    enum status status = read_file(program, arena, program->label, program->path, report);
    if (!status)
        status = read_file(program, arena, file_name(program->kernel_path), program->kernel_path, report);
    return status;
}

static enum status add_fill(struct point_program *program, struct arena *arena, const struct launch_file *file,
                            const struct fill *fill, struct report *report) {
    if (fill->kind != FILL_FILE)
        return STATUS_OK;
    return read_file(program, arena, fill->path, file_join(arena, file->folder, fill->path), report);
}

/* It has the hashes of all pages, those that other files of its folder have too. */
static enum status add_checkpoint(struct point_program *program, struct arena *arena, const char *path,
                                  struct report *report) {
    struct arena scratch = {0};
    char *data = NULL;
    size_t bytes = 0;
    const enum status status = file_read(path, CHECKPOINT_FILE_BYTES_MAX, &scratch, &data, &bytes, report);
    if (!status)
        add_file(program, arena, "checkpoint", data, bytes);
    arena_free(&scratch);
    return status;
}

static enum status load_launch(struct point_program *program, struct arena *arena, struct report *report) {
    struct arena scratch = {0};
    struct launch_file file;
    struct run_module module;
    char *text = NULL;
    size_t length = 0;
    enum status status = file_read(program->path, LAUNCH_FILE_LIMIT_BYTES, &scratch, &text, &length, report);
    if (!status)
        status = launch_file_read(&scratch, program->path, &file, report);
    if (!status) /* what a module includes is in its PTX */
        status = run_load_text(&file, 64, &scratch, &module, report);
    if (!status) {
        add_file(program, arena, "launch file", text, length);
        add_file(program, arena, "PTX", module.text, module.length);
        status = read_file(program, arena, file.module, file_join(&scratch, file.folder, file.module), report);
        if (file.is_part)
            add_file(program, arena, "whole launch file", file.yaml.text, file.yaml.length);
    }
    if (!status && file.checkpoint)
        status = add_checkpoint(program, arena, file.checkpoint, report);
    for (unsigned i = 0; !status && i < file.buffer_count; i++)
        status = add_fill(program, arena, &file, &file.buffers[i].fill, report);
    for (unsigned i = 0; !status && i < file.variable_count; i++)
        status = add_fill(program, arena, &file, &file.variables[i].fill, report);
    for (unsigned i = 0; !status && i < file.check_count; i++)
        if (file.checks[i].kind == LAUNCH_CHECK_EQUALS)
            status = add_fill(program, arena, &file, &file.checks[i].equals, report);
    arena_free(&scratch);
    return status;
}

enum status point_program_load(struct point_program *program, struct arena *arena, struct report *report) {
    if (program->loaded)
        return STATUS_OK;
    const enum status status =
        program->is_launch ? load_launch(program, arena, report) : load_workload(program, arena, report);
    program->loaded = !status;
    return status;
}

/* ---- keys ---- */

/* What ptxas makes depends on its version. */
static const char *assembler_line(const struct machine *machine, const struct param_description *param,
                                  struct arena *arena) {
    struct compile_tools tools;
    compile_find_tools(arena, &tools);
    const char *said = tools.ptxas_identity ? tools.ptxas_identity : "none";
    char digest[DIGEST_BYTES];
    digest_text(said, strlen(said), digest);
    return arena_printf(arena, "%s=%s ptxas %s\n", param->key, machine_value(machine, param), digest);
}

/* "KEY=VALUE", or nothing where it cannot matter. */
static const char *line_of(const struct machine *machine, const struct param_description *param, struct arena *arena) {
    if (isa_sm((enum isa_choice)machine->isa) && strcmp(param->key, "isa") == 0)
        return assembler_line(machine, param, arena);
    return machine_is_idle_key(machine, param)
               ? ""
               : arena_printf(arena, "%s=%s\n", param->key, machine_value(machine, param));
}

void point_lines_make(struct point_lines *lines, const struct machine *machine, struct arena *arena) {
    const struct param_description *table = machine->params.table;
    *lines = (struct point_lines){.arena = arena};
    while (table[lines->count].key)
        lines->count++;
    lines->begins = ARENA_ARRAY(arena, size_t, lines->count + 1);
    const char **all = ARENA_ARRAY(arena, const char *, lines->count);
    for (unsigned i = 0; i < lines->count; i++) {
        all[i] = line_of(machine, &table[i], arena);
        lines->begins[i + 1] = lines->begins[i] + strlen(all[i]);
    }
    lines->capacity = lines->begins[lines->count] + 4096;
    lines->text = arena_alloc(arena, lines->capacity);
    for (unsigned i = 0; i < lines->count; i++)
        memcpy(lines->text + lines->begins[i], all[i], lines->begins[i + 1] - lines->begins[i]);
}

void point_lines_change(struct point_lines *lines, const struct machine *machine,
                        const struct param_description *param) {
    const unsigned at = (unsigned)(param - machine->params.table);
    const char *line = line_of(machine, param, lines->arena);
    const size_t before = lines->begins[at + 1] - lines->begins[at], now = strlen(line);
    const size_t whole = lines->begins[lines->count];
    if (whole - before + now >= lines->capacity) {
        point_lines_make(lines, machine, lines->arena);
        return;
    }
    memmove(lines->text + lines->begins[at] + now, lines->text + lines->begins[at + 1],
            whole - lines->begins[at + 1] + 1);
    memcpy(lines->text + lines->begins[at], line, now);
    for (unsigned i = at + 1; now != before && i <= lines->count; i++)
        lines->begins[i] = lines->begins[i] - before + now;
}

const char *point_machine_text(const struct machine *machine, struct arena *arena) {
    struct point_lines lines;
    point_lines_make(&lines, machine, arena);
    return lines.text;
}

const char *point_text(const struct point *point, const char *machine_text, struct arena *arena) {
    const struct point_program *program = point->program;
    const char *files = "";
    for (unsigned i = 0; i < program->files.count; i++)
        files =
            arena_printf(arena, "%sfile %s %s\n", files, program->files.items[i].name, program->files.items[i].hash);
    const char *what = program->is_launch ? "launch\n"
                                          : arena_printf(arena, "workload %s\nsize %s\ncompiler %s\n", program->label,
                                                         point->size, program->compiler);
    return arena_printf(arena, POINT_SCHEMA "\nmodel %s\nmode %s\n%sseed %llu\n%s%s", model_hash(),
                        point->functional ? "functional" : "timed", what, (unsigned long long)point->seed, files,
                        machine_text);
}

void point_set_key(struct point *point, const char *machine_text, struct arena *scratch) {
    const char *head = point_text(point, "", scratch);
    const size_t head_length = strlen(head), length = strlen(machine_text); /* printf takes long for so much */
    char *text = arena_alloc_unset(scratch, head_length + length + 1);
    memcpy(text, head, head_length + 1);
    memcpy(text + head_length, machine_text, length + 1);
    digest_text(text, head_length + length, point->key);
}

enum status point_machine(const struct point *point, struct machine *machine, struct report *report) {
    const enum status status = machine_open(machine, point->gpu, report);
    return status ? status : point_set_machine(point, machine, report);
}

enum status point_set_machine(const struct point *point, struct machine *machine, struct report *report) {
    enum status status = STATUS_OK;
    for (unsigned i = 0; !status && i < point->setting_count; i++)
        status = machine_set(machine, arena_printf(&machine->arena, "%s=%s", point->keys[i], point->values[i]), "--set",
                             report);
    if (!status)
        status = machine_check(machine, report);
    if (!status && point->functional)
        status = machine_check_functional(machine, report);
    return status;
}

/* ---- outside ---- */

json_t *point_json(const struct point *point) {
    json_t *out = json_object(), *settings = json_object(), *files = json_object();
    json_object_set_new(out, "key", json_string(point->key));
    json_object_set_new(out, point->program->is_launch ? "launch" : "workload",
                        json_string(file_name(point->program->label)));
    if (!point->program->is_launch)
        json_object_set_new(out, "size", json_string(point->size));
    json_object_set_new(out, "seed", json_integer((json_int_t)point->seed));
    json_object_set_new(out, "gpu", json_string(file_name(point->gpu)));
    json_object_set_new(out, "settings", settings);
    json_object_set_new(out, "files", files);
    for (unsigned i = 0; i < point->setting_count; i++)
        json_object_set_new(settings, point->keys[i], json_string(point->values[i]));
    for (unsigned i = 0; i < point->program->files.count; i++)
        json_object_set_new(files, point->program->files.items[i].name,
                            json_string(point->program->files.items[i].hash));
    return out;
}

const char *const *point_command(const struct point *point, const char *result_path, struct arena *arena) {
    struct {
        const char **items;
        unsigned count, capacity;
    } words = {0};
    const char *seed = arena_printf(arena, "%llu", (unsigned long long)point->seed);
    const char *const launch[] = {"heddle", "run", point->program->path, "--seed", seed, "--gpu", NULL};
    const char *const workload[] = {"heddle", "suite", "run", point->program->label, "--size", point->size, "--seed",
                                    seed,     "--gpu", NULL};
    for (const char *const *word = point->program->is_launch ? launch : workload; *word; word++)
        *ARENA_PUSH(arena, &words) = *word;
    *ARENA_PUSH(arena, &words) = point->gpu;
    for (unsigned i = 0; i < point->setting_count; i++) {
        *ARENA_PUSH(arena, &words) = "--set";
        *ARENA_PUSH(arena, &words) = arena_printf(arena, "%s=%s", point->keys[i], point->values[i]);
    }
    if (point->functional)
        *ARENA_PUSH(arena, &words) = "--functional";
    *ARENA_PUSH(arena, &words) = "--quiet";
    *ARENA_PUSH(arena, &words) = "-o";
    *ARENA_PUSH(arena, &words) = result_path;
    *ARENA_PUSH(arena, &words) = NULL;
    return words.items;
}
