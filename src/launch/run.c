/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/run.h"
#include "base/file.h"
#include "device/load.h"
#include "device/lowered.h"
#include "launch/checkpoint.h"
#include "launch/npy.h"
#include "launch/place.h"
#include <string.h>
#include <xxhash.h>

enum { MODULE_LIMIT_BYTES = 512 << 20 };

static enum status at_module(const struct launch_file *file, struct report *inner, struct report *report,
                             enum status status) {
    if (status && file->module_at->line)
        yaml_error(&file->yaml, file->module_at, report, "the module cannot be read: %s", report_text(inner));
    else if (status) /* named by the user, not in a launch file */
        report_add(report, status, "%s", report_text(inner));
    report_free(inner);
    return status;
}

enum status run_load_text(const struct launch_file *file, unsigned address_bits, struct arena *arena,
                          struct run_module *out, struct report *report) {
    const char *path = file_join(arena, file->folder, file->module);
    *out = (struct run_module){0};
    if (!load_is_module(path))
        return yaml_error(&file->yaml, file->module_at, report, "a module ends in " LOAD_ENDINGS "; '%s' does not",
                          file->module);
    char *data = NULL;
    struct report inner = {0};
    enum status status = file_read(path, MODULE_LIMIT_BYTES, arena, &data, &out->length, &inner);
    if (at_module(file, &inner, report, status))
        return status;
    out->source_hash = XXH64(data, out->length, 0);
    out->text = data;
    out->is_compiled = !load_is_text(path);
    if (!out->is_compiled)
        return STATUS_OK;
    const char **includes = ARENA_ARRAY(arena, const char *, file->build.include_count);
    for (unsigned i = 0; i < file->build.include_count; i++)
        includes[i] = file_join(arena, file->folder, file->build.includes[i]);
    struct compile_options options = {
        .defines = file->build.defines,
        .define_count = file->build.define_count,
        .includes = includes,
        .include_count = file->build.include_count,
        .extra = file->build.options,
        .extra_count = file->build.option_count,
        .standard = file->build.standard,
        .address_bits = file_ends_in(path, ".cl") ? address_bits : 64,
    };
    status = compile_file(path, &options, arena, &out->compiled, report);
    out->text = out->compiled.ptx;
    out->length = out->compiled.ptx_bytes;
    return status;
}

static enum status load_module(struct run *run, struct report *report) {
    struct run_module loaded;
    enum status status =
        run_load_text(run->file, lowered_address_bits(run->machine, (enum isa_choice)run->machine->isa), &run->arena,
                      &loaded, report);
    run->compiled = loaded.compiled, run->is_compiled = loaded.is_compiled, run->source_hash = loaded.source_hash;
    if (status)
        return status;
    run->module_hash = XXH64(loaded.text, loaded.length, 0);
    const char *name = file_name(run->file->module); /* never a folder of the host */
    if (run->is_compiled)                            /* positions in the PTX are not positions in the source */
        name = arena_printf(&run->arena, "%s.ptx", name);
    struct device_module order = {
        .name = name, .text = loaded.text, .length = loaded.length, .variables_at = run->file->variables_at};
    struct report inner = {0};
    status = device_load_at(run->device, &order, &run->program, &inner);
    if (order.is_misplaced)
        yaml_error(&run->file->yaml, run->file->variables_at_node, report, "%s", report_text(&inner));
    else if (status)
        report_add(report, status, "%s", report_text(&inner));
    report_free(&inner);
    if (status)
        return status;
    run->module = program_module(run->program);
    const char *folder = file_dir(&run->arena, file_join(&run->arena, run->file->folder, run->file->module));
    run->sources = sources_of(&run->arena, run->module, folder);
    return STATUS_OK;
}

/* Memory and what else outlives a launch are as the file's checkpoint has them. */
static enum status restore(struct run *run, struct report *report) {
    const struct launch_file *file = run->file;
    const struct file_access *files = run->options.files ? run->options.files : &file_access_host;
    struct arena arena = {0};
    struct checkpoint checkpoint;
    const struct checkpoint_target target = {.device = run->device,
                                             .machine = run->machine,
                                             .next = run->program,
                                             .in_time = run->options.in_time,
                                             .cold = file->cold || run->options.cold};
    enum status status = checkpoint_open(&checkpoint, file->checkpoint, files, &arena, report);
    if (!status && file->is_part && (checkpoint.launches != file->before || checkpoint.file_hash != file->text_hash))
        status = report_add(report, STATUS_INVALID,
                            "%s: not the checkpoint before launch %u of %s as it is now; it was made elsewhere, or the "
                            "launch file has changed",
                            file->checkpoint, file->before + 1, file->name);
    if (!status)
        status = checkpoint_restore(&checkpoint, &target, report);
    arena_free(&arena);
    return status;
}

enum status run_open(struct run *run, const struct launch_file *file, const struct machine *machine,
                     const struct run_options *options, struct report *report) {
    *run = (struct run){.file = file, .machine = machine, .options = *options};
    run->buffers = ARENA_ARRAY(&run->arena, struct bind_buffer, file->buffer_count);
    run->launches = ARENA_ARRAY(&run->arena, struct launch, file->launch_count);
    run->results = ARENA_ARRAY(&run->arena, struct launch_result, file->launch_count);
    run->checks = ARENA_ARRAY(&run->arena, struct check_result, file->check_count);
    struct place_fills fills = {0};
    enum status status = device_create(&run->device, machine, report);
    if (!status)
        status = load_module(run, report);
    if (!status)
        status = place_all(run, &fills, report);
    if (status)
        return status;
    const struct bind_parts parts = {run->module, run->is_compiled ? &run->compiled : NULL, run->buffers};
    for (unsigned i = 0; i < file->launch_count; i++) {
        enum status one = bind_launch(file, i, &parts, &run->arena, &run->launches[i], report);
        run->launches[i].program = run->program;
        run->launches[i].in_time = options->in_time;
        run->launches[i].watch = options->watch;
        run->launches[i].watcher = options->watcher;
        run->launches[i].trace_to = options->trace_to;
        run->launches[i].trace_from = options->trace_from;
        run->launches[i].meter = options->meter;
        status = status ? status : one;
    }
    if (status)
        return status;
    if (file->checkpoint)
        return restore(run, report);
    place_fill(run, &fills);
    return STATUS_OK;
}

enum status run_next(struct run *run, struct report *report) {
    const struct launch_step *step = &run->file->launches[run->done];
    struct launch_result *result = &run->results[run->done];
    struct report inner = {0};
    enum status status = device_launch(run->device, &run->launches[run->done], result, &inner);
    if (status == STATUS_INVALID)
        yaml_error(&run->file->yaml, step->at, report, "%s", report_text(&inner));
    else if (status)
        report_add(report, status, "%s", report_text(&inner));
    report_free(&inner);
    if (status == STATUS_INVALID) /* refused: nothing ran */
        return status;
    /* a launch that stopped keeps its counts and its output, and is shown */
    run->done++;
    run_fold(run);
    return status;
}

static void describe_failure(const struct run *run, unsigned i, struct report *report) {
    const struct launch_check *check = &run->file->checks[i];
    const struct check_result *result = &run->checks[i];
    const char *name = run->file->buffers[check->buffer].name;
    if (check->kind != LAUNCH_CHECK_EQUALS) {
        yaml_error(&run->file->yaml, check->at, report, "the %s of '%s' is %s, expected %s",
                   check->kind == LAUNCH_CHECK_HASH ? "hash" : "sum", name, result->first[0].got,
                   result->first[0].expected);
        return;
    }
    struct arena scratch = {0};
    const char *list = "";
    for (unsigned k = 0; k < result->shown; k++)
        list =
            arena_printf(&scratch, "%s\n  %s[%llu] = %s, expected %s", list, name,
                         (unsigned long long)result->first[k].index, result->first[k].got, result->first[k].expected);
    if (result->mismatches > result->shown)
        list = arena_printf(&scratch, "%s\n  and %llu more", list,
                            (unsigned long long)(result->mismatches - result->shown));
    report_add(report, STATUS_WRONG, "%s:%u:%u: %llu of %llu elements of '%s' are not what was expected:%s",
               run->file->yaml.name, check->at->line, check->at->column, (unsigned long long)result->mismatches,
               (unsigned long long)result->compared, name, list);
    arena_free(&scratch);
}

enum status run_check(struct run *run, struct report *report) {
    for (unsigned i = 0; i < run->file->check_count; i++) {
        const struct launch_check *check = &run->file->checks[i];
        struct fill_source source = place_source(run, check->buffer);
        const struct check_contents contents = {&run->file->buffers[check->buffer], place_data(run, check->buffer),
                                                run->buffers[check->buffer].count};
        enum status status = check_buffer(check, &contents, &source, &run->checks[i], report);
        if (status)
            return status;
        if (!run->checks[i].passed) {
            run->failed = true;
            describe_failure(run, i, report);
        }
    }
    run->checked = true;
    return run->failed ? STATUS_WRONG : STATUS_OK;
}

enum status run_dump(struct run *run, unsigned buffer, const char *path, struct report *report) {
    enum element element = run->file->buffers[buffer].element;
    const char *data = place_data(run, buffer);
    size_t bytes = run->buffers[buffer].count * element_bytes(element);
    if (!file_ends_in(path, ".npy"))
        return file_write(path, data, bytes, report);
    struct arena scratch = {0};
    char *whole = arena_alloc(&scratch, bytes + NPY_HEADER_BYTES);
    npy_header(element, run->buffers[buffer].count, whole);
    memcpy(whole + NPY_HEADER_BYTES, data, bytes);
    enum status status = file_write(path, whole, bytes + NPY_HEADER_BYTES, report);
    arena_free(&scratch);
    return status;
}

void run_close(struct run *run) {
    for (unsigned i = 0; run->results && i < run->file->launch_count; i++)
        launch_result_free(&run->results[i]);
    if (run->device)
        device_destroy(run->device);
    arena_free(&run->arena);
    *run = (struct run){0};
}
