/* SPDX-License-Identifier: Apache-2.0 */
/* Modules of the library: read from a file or from text. */
#include <string.h>

#include "api/api.h"
#include "base/file.h"
#include "device/load.h"
#include "device/lowered.h"

enum { MODULE_LIMIT_BYTES = 512 << 20 };

static bool is_source(const char *name) { return file_ends_in(name, ".cl") || file_ends_in(name, ".cu"); }

static enum status read_options(const struct machine *machine, const char *name, const char *const *words,
                                struct arena *arena, struct compile_options *out, struct report *report) {
    const bool is_opencl = file_ends_in(name, ".cl");
    *out = (struct compile_options){.language = is_opencl ? COMPILE_OPENCL : COMPILE_CUDA, .address_bits = 64};
    unsigned count = 0;
    while (words && words[count])
        count++;
    const char *wrong = compile_read_words(arena, words, count, out);
    if (wrong)
        return report_add(report, STATUS_INVALID,
                          "%s: the option '%s' is not known, or its value cannot be given to a compiler", name, wrong);
    if (is_opencl)
        out->address_bits = lowered_address_bits(machine, (enum isa_choice)machine->isa);
    return STATUS_OK;
}

/* path NULL: the text is all there is. */
static enum status load(struct heddle_module *module, const char *path, const char *text, size_t bytes,
                        const char *const *options, struct report *report) {
    struct heddle_device *device = module->device;
    struct arena *arena = &device->arena;
    const char *name = module->name;
    enum status status = STATUS_OK;
    if (is_source(name)) {
        struct compile_options words;
        const struct compile_source source = {name, text, bytes};
        if ((status = read_options(&device->machine, name, options, arena, &words, report)) != STATUS_OK)
            return status;
        status = path ? compile_file(path, &words, arena, &module->compiled, report)
                      : compile_text(&source, &words, arena, &module->compiled, report);
        text = module->compiled.ptx;
        bytes = module->compiled.ptx_bytes;
        name = arena_printf(arena, "%s.ptx", name); /* positions in the PTX are not positions in the source */
    }
    return status ? status : device_load(device->device, name, text, bytes, &module->program, report);
}

static enum heddle_status make(struct heddle_device *device, const char *path, const struct compile_source *given,
                               const char *const *options, struct heddle_module **out, struct heddle_text *errors) {
    struct report report = {0};
    struct arena *arena = &device->arena;
    struct heddle_module *module = ARENA_NEW(arena, struct heddle_module);
    module->device = device;
    module->name = arena_strdup(arena, file_name(given->name));
    module->folder = path ? file_dir(arena, path) : NULL;
    char *source = arena_alloc(arena, given->bytes + 1); /* a cubin has bytes of 0 in it */
    memcpy(source, given->text, given->bytes);
    module->source = source;
    const enum status status = load(module, path, module->source, given->bytes, options, &report);
    if (!status) {
        module->module = program_module(module->program);
        module->next = device->modules;
        device->modules = module;
        *out = module;
    }
    return api_end(status, &report, errors);
}

static enum heddle_status refuse_name(const char *name, struct heddle_text *errors) {
    return api_refuse(errors, "a module ends in " LOAD_ENDINGS "; '%s' does not", name);
}

enum heddle_status heddle_module_from_file(struct heddle_device *device, const char *path, const char *const *options,
                                           struct heddle_module **out, struct heddle_text *errors) {
    if (!device || !path || !out)
        return api_no_handle(errors, __func__, !device ? "device" : !path ? "path" : "place for the module");
    if (!load_is_module(path))
        return refuse_name(path, errors);
    struct report report = {0};
    struct arena arena = {0};
    char *text = NULL;
    size_t bytes = 0;
    const enum status status = file_read(path, MODULE_LIMIT_BYTES, &arena, &text, &bytes, &report);
    const struct compile_source given = {path, text, bytes};
    const enum heddle_status made =
        status ? api_end(status, &report, errors) : make(device, path, &given, options, out, errors);
    arena_free(&arena);
    return made;
}

enum heddle_status heddle_module_from_text(struct heddle_device *device, const char *name, const char *text,
                                           const char *const *options, struct heddle_module **out,
                                           struct heddle_text *errors) {
    if (!device || !name || !text || !out)
        return api_no_handle(errors, __func__,
                             !device ? "device"
                             : !name ? "name"
                             : !text ? "text"
                                     : "place for the module");
    if (!load_is_module(name))
        return refuse_name(name, errors);
    if (load_is_binary(name))
        return api_refuse(errors, "'%s' is not a text format; read it with heddle_module_from_file", name);
    const struct compile_source given = {name, text, strlen(text)};
    return make(device, NULL, &given, options, out, errors);
}

enum heddle_status heddle_module_kernels(struct heddle_module *module, struct heddle_text *out,
                                         struct heddle_text *errors) {
    if (!module)
        return api_no_handle(errors, __func__, "module");
    struct arena arena = {0};
    const char *text = "";
    for (unsigned i = 0; i < module->module->function_count; i++) {
        const struct function *function = module->module->functions[i];
        if (function->is_entry && function->is_defined)
            text = arena_printf(&arena, "%s%s\n", text,
                                bind_signature(&arena, function, compiled_find(&module->compiled, function->name)));
    }
    api_text_set(out, text, strlen(text));
    arena_free(&arena);
    return HEDDLE_OK;
}
