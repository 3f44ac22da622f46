/* SPDX-License-Identifier: Apache-2.0 */
/* heddle trace: what traces hold, and those of others. */
#include "base/folder.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "launch/run.h"
#include "trace/accel.h"
#include "trace/info.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct verb verbs[] = {
    {"import", "KERNELSLIST|FOLDER",
     "turn a trace in Accel-Sim's format into a launch file, a listing of its kernels and a trace to replay"},
    {"export", "LAUNCH",
     "run a launch file in time and write its trace in Accel-Sim's format; for native code of sm_75 to sm_90 (such as "
     "--set isa=native makes) and imported traces"},
    {"info", "FILE", "show what a trace holds: kernels, blocks, warps, issues, accesses and the memory they touch"},
    {NULL, NULL, NULL},
};

static const struct option options[] = {
    {"output", 'o', "FOLDER", "import, export: the new folder to write; imported files take its name"},
    {"replay", 0, "FILE", "export: replay this trace, as in heddle run"},
    OPTION_GPU,
    OPTION_SET,
    OPTION_END,
};

/* ---- info ---- */

static void add_row(struct table *table, struct arena *arena, const struct trace_info *info, const char *kernel) {
    table_add(table, kernel);
    table_add(table, with_commas(arena, info->launch.blocks));
    table_add(table, with_commas(arena, info->warps));
    table_add(table, with_commas(arena, info->issues));
    table_add(table, with_commas(arena, info->accesses));
    table_add(table, with_commas(arena, info->shared));
    table_add(table, with_commas(arena, info->local));
    table_add(table, with_commas(arena, (info->sectors + 31) / 32));
}

static enum status show_info(struct arguments *arguments, const char *path, struct report *report) {
    static const char *const heading[] = {"kernel",   "blocks", "warps", "issues",
                                          "accesses", "shared", "local", "global KiB"};
    struct arena *arena = &arguments->arena;
    struct table table = {.arena = arena, .columns = sizeof heading / sizeof *heading};
    struct trace_reader reader;
    struct trace_info sum = {0};
    const char *mechanism = "";
    enum status status = trace_open(&reader, path, arena, report);
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, heading[i]);
    while (!status && !trace_at_end(&reader)) {
        struct arena scratch = {0};
        struct trace_info info;
        status = trace_info_next(&reader, &scratch, &info, report);
        if (!status) {
            add_row(&table, arena, &info, arena_strdup(arena, info.launch.kernel));
            mechanism = arena_strdup(arena, info.launch.mechanism);
            sum.launch.blocks += info.launch.blocks, sum.warps += info.warps, sum.issues += info.issues;
            sum.accesses += info.accesses, sum.shared += info.shared, sum.local += info.local;
        }
        arena_free(&scratch);
    }
    if (status)
        return status;
    print(stdout, "%s: %u launch%s, recorded %s%s\n\n", path, reader.launches, reader.launches == 1 ? "" : "es",
          strcmp(mechanism, TRACE_OF_HARDWARE) == 0 ? "on a GPU" : "under divergence.mechanism=",
          strcmp(mechanism, TRACE_OF_HARDWARE) == 0 ? "" : mechanism);
    table_print(&table, stdout);
    print(stdout, "\n  all: %s issues of %s warps, %s accesses. global KiB: sectors of 32 bytes, each counted once\n",
          with_commas(arena, sum.issues), with_commas(arena, sum.warps), with_commas(arena, sum.accesses));
    return STATUS_OK;
}

/* ---- import ---- */

/* "out/bfs/": "out/bfs" */
static const char *without_slash(struct arena *arena, const char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return arena_strndup(arena, path, length);
}

static bool is_plain(const char *name) {
    for (const char *c = name; *c; c++)
        if (!((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || strchr("._-", *c)))
            return false;
    return *name && *name != '.';
}

static enum status write_import(struct accel_import *import, const char *folder, struct report *report) {
    struct arena *arena = import->arena;
    if (!folder_make(arena, folder))
        return report_add(report, STATUS_SYSTEM, "%s: the folder cannot be made", folder);
    const char *stem = file_join(arena, folder, import->name);
    enum status status =
        file_write(arena_printf(arena, "%s.yaml", stem), import->launch_file, strlen(import->launch_file), report);
    if (!status)
        status = file_write(arena_printf(arena, "%s.traced", stem), import->listing, import->listing_bytes, report);
    return status ? status : trace_write(&import->trace, arena_printf(arena, "%s.trace", stem), report);
}

static enum status import_all(struct arguments *arguments, const char *from, struct report *report) {
    struct arena *arena = &arguments->arena;
    const char *given = arguments_value(arguments, "output");
    if (!given)
        return report_add(report, STATUS_INVALID, "heddle trace import: give the folder that is written, -o FOLDER");
    const char *folder = without_slash(arena, given);
    struct accel_import import = {.from = from, .name = file_name(folder), .arena = arena};
    if (!is_plain(import.name))
        return report_add(report, STATUS_INVALID,
                          "-o: '%s' names the files too; use only letters, digits, '.', '_' and '-'", import.name);
    enum status status = accel_import(&import, report);
    if (!status)
        status = write_import(&import, folder, report);
    if (status)
        return status;
    print(stdout, "%s: %u launch%s of %u kernel%s, %s blocks, %s warps, %s warp instructions\n", folder,
          import.launches, import.launches == 1 ? "" : "es", import.kernels, import.kernels == 1 ? "" : "s",
          with_commas(arena, import.blocks), with_commas(arena, import.warps), with_commas(arena, import.instructions));
    if (import.copies)
        print(stdout, "%u copies to the GPU are not replayed: caches begin empty\n", import.copies);
    if (import.ignored)
        print(stdout, "%u other lines of the list are not replayed\n", import.ignored);
    print(stdout, "Next:\n  heddle run %s --replay %s/%s.trace\n", folder, folder, import.name);
    return STATUS_OK;
}

/* ---- export ---- */

struct export {
    struct arguments *arguments;
    const char *folder;
    struct machine machine;
    struct launch_file file;
    struct run run;
    struct trace_writer to;
    struct trace_reader from;
};

/* The launch just done, whose trace is the last of `to`. */
static enum status write_launch(struct export *x, unsigned number, struct report *report) {
    struct arena scratch = {0};
    const struct launch *launch = &x->run.launches[number - 1];
    const struct function *kernel = launch->kernel;
    struct trace_reader reader = {.name = x->file.name, .data = x->to.items, .bytes = x->to.count};
    struct trace_launch found;
    struct recording *recording = NULL;
    struct output output;
    enum status status = trace_look(&reader, &found, &scratch, &recording, report);
    output_begin(&output);
    if (!output.to)
        status = report_add(report, STATUS_SYSTEM, "the host has no memory for the trace of kernel '%s'", kernel->name);
    struct accel_launch about = {.module = x->run.module,
                                 .kernel = kernel,
                                 .recording = recording,
                                 .shared_bytes = kernel->shared_bytes + launch->dynamic_shared_bytes,
                                 .number = number};
    memcpy(about.grid, launch->grid, sizeof about.grid), memcpy(about.block, launch->block, sizeof about.block);
    if (!status)
        status = accel_write(&about, output.to, report);
    const char *path = arena_printf(&scratch, "%s/kernel-%u.traceg", x->folder, number);
    status = output_end(&output, status, path, "the trace", report);
    arena_free(&scratch);
    x->to.count = 0;
    return status;
}

/* Buffers and kernels, in the order in which a program would have had them. */
static enum status write_list(const struct export *x, struct report *report) {
    struct arena *arena = &x->arguments->arena;
    struct output output;
    output_begin(&output);
    for (unsigned i = 0; i < x->file.buffer_count && output.to; i++)
        print(output.to, "MemcpyHtoD,0x%016" PRIx64 ",%" PRIu64 "\n", x->run.buffers[i].address,
              (uint64_t)x->run.buffers[i].count * element_bytes(x->file.buffers[i].element));
    for (unsigned i = 0; i < x->run.done && output.to; i++)
        print(output.to, "kernel-%u.traceg\n", i + 1);
    const enum status status =
        output.to ? STATUS_OK : report_add(report, STATUS_SYSTEM, "the host has no memory for the list of kernels");
    return output_end(&output, status, file_join(arena, x->folder, "kernelslist.g"), "the list of kernels", report);
}

static enum status export_launches(struct export *x, struct report *report) {
    const struct run_options how = {.files = &file_access_host,
                                    .seed = 1,
                                    .in_time = true,
                                    .trace_to = &x->to,
                                    .trace_from = x->from.data ? &x->from : NULL};
    enum status status = run_open(&x->run, &x->file, &x->machine, &how, report);
    if (!status && !folder_make(&x->arguments->arena, x->folder))
        status = report_add(report, STATUS_SYSTEM, "%s: the folder cannot be made", x->folder);
    while (!status && x->run.done < x->file.launch_count) {
        status = run_next(&x->run, report);
        if (!status)
            status = write_launch(x, x->run.done, report);
    }
    return status ? status : write_list(x, report);
}

static enum status export_all(struct arguments *arguments, const char *launch, struct report *report) {
    struct arena *arena = &arguments->arena;
    struct export x = {.arguments = arguments, .to = {.arena = arena, .keeps_all = true}};
    const char *given = arguments_value(arguments, "output"), *from = arguments_value(arguments, "replay"), *path;
    if (!given)
        return report_add(report, STATUS_INVALID, "heddle trace export: give the folder that is written, -o FOLDER");
    x.folder = without_slash(arena, given);
    enum status status = find_launch_file(arena, launch, &path, report);
    if (!status)
        status = launch_file_read(arena, path, &x.file, report);
    if (!status && from)
        status = trace_open(&x.from, from, arena, report);
    if (!status)
        status = arguments_machine(arguments, NULL, &x.machine, report);
    if (!status)
        status = export_launches(&x, report);
    if (!status)
        print(stdout, "%s: %u launch%s, in Accel-Sim's format\n", x.folder, x.run.done, x.run.done == 1 ? "" : "es");
    run_close(&x.run);
    machine_close(&x.machine);
    return status;
}

static int trace_main(struct arguments *arguments) {
    struct report report = {0};
    const char *verb = arguments->operands[0], *path = arguments->operands[1];
    enum status status;
    const bool runs =
        arguments_has(arguments, "gpu") || arguments_has(arguments, "set") || arguments_has(arguments, "replay");
    if (strcmp(verb, "export") == 0)
        status = export_all(arguments, path, &report);
    else if (strcmp(verb, "import") == 0 && !runs)
        status = import_all(arguments, path, &report);
    else if (strcmp(verb, "info") == 0 && !runs && !arguments_has(arguments, "output"))
        status = show_info(arguments, path, &report);
    else
        status = arguments_usage(arguments, &report);
    return finish(status, &report);
}

const struct command command_trace = {
    .name = "trace",
    .summary = "Show what a trace holds, and exchange traces with Accel-Sim",
    .verbs = verbs,
    .text = "Traces of Heddle's own are made by 'heddle run --trace' and replayed by 'heddle run --replay'. Traces "
            "that Accel-Sim's tracer made on a GPU are imported first: opcodes are looked up in the tables for sm_70 "
            "to sm_90 and in a list for older GPUs; an unknown one is refused by name and line. docs/traces.md says "
            "what is replayed, and what such traces cannot tell.",
    .examples = "heddle trace import traces/vectoradd -o vectoradd\n"
                "heddle trace info vectoradd/vectoradd.trace\n"
                "heddle run vectoradd --replay vectoradd/vectoradd.trace --gpu v100,gtx480\n"
                "heddle trace export examples/matmul --gpu a100 --set isa=native -o exported",
    .options = options,
    .operands_min = 2,
    .operands_max = 2,
    .main = trace_main,
};
