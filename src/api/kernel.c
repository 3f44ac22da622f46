/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of the library: arguments by place and type, and the launch. */
#include <string.h>

#include "api/api.h"
#include "base/bits.h"
#include "base/team.h"
#include "launch/element.h"
#include "base/words.h"

/* ---- which ---- */

static enum heddle_status unknown_kernel(const struct heddle_module *module, const char *name,
                                         struct heddle_text *errors) {
    struct arena arena = {0};
    unsigned count = 0;
    const char **names = ARENA_ARRAY(&arena, const char *, (size_t)module->module->function_count + 1);
    for (unsigned i = 0; i < module->module->function_count; i++) {
        const struct function *function = module->module->functions[i];
        if (function->is_entry && function->is_defined)
            names[count++] = function->name;
    }
    const char *near = words_suggest(name, names);
    const enum heddle_status status =
        !count ? api_refuse(errors, "%s has no kernel", module->name)
        : near ? api_refuse(errors, "%s has no kernel '%s'; did you mean '%s'?", module->name, name, near)
               : api_refuse(errors, "%s has no kernel '%s', or several; it has %.400s", module->name, name,
                            words_join(&arena, names));
    arena_free(&arena);
    return status;
}

enum heddle_status heddle_kernel_find(struct heddle_module *module, const char *name, struct heddle_kernel **out,
                                      struct heddle_text *errors) {
    if (!module || !name || !out)
        return api_no_handle(errors, __func__, !module ? "module" : !name ? "name" : "place for the kernel");
    const struct function *function = bind_find_kernel(module->module, name);
    if (!function)
        return unknown_kernel(module, name, errors);
    struct heddle_kernel *kernel = module->kernels;
    while (kernel && kernel->function != function)
        kernel = kernel->next;
    if (!kernel) {
        struct arena *arena = &module->device->arena;
        kernel = ARENA_NEW(arena, struct heddle_kernel);
        kernel->module = module;
        kernel->function = function;
        kernel->source = compiled_find(&module->compiled, function->name);
        kernel->arguments = ARENA_ARRAY(arena, struct api_argument, function->param_count);
        kernel->params = arena_alloc(arena, function->param_bytes);
        kernel->next = module->kernels;
        module->kernels = kernel;
    }
    *out = kernel;
    return HEDDLE_OK;
}

/* ---- arguments ---- */

unsigned heddle_kernel_arguments(const struct heddle_kernel *kernel) {
    return kernel ? kernel->function->param_count : 0;
}

/* What the source says of an argument; NULL: nothing. */
static const struct compile_arg *source_of(const struct heddle_kernel *kernel, unsigned i) {
    const struct compile_kernel *source = kernel->source;
    const bool named = source && source->has_arg_info && source->arg_count == kernel->function->param_count;
    return named ? &source->args[i] : NULL;
}

/* Messages end with the signature: one sees at once which argument was meant. */
static enum heddle_status refuse_argument(const struct heddle_kernel *kernel, unsigned i, const char *what,
                                          struct heddle_text *errors) {
    struct arena arena = {0};
    const enum heddle_status status =
        api_refuse(errors, "argument %u of %s %s: %.600s", i, bind_source_name(&arena, kernel->function->name), what,
                   bind_signature(&arena, kernel->function, kernel->source));
    arena_free(&arena);
    return status;
}

/* The parameter of that number; NULL: refused. */
static const struct symbol *parameter(const char *function, const struct heddle_kernel *kernel, unsigned i,
                                      struct heddle_text *errors) {
    if (!kernel) {
        api_no_handle(errors, function, "kernel");
        return NULL;
    }
    if (i < kernel->function->param_count)
        return kernel->function->params[i];
    refuse_argument(kernel, i, "does not exist; they are counted from 0", errors);
    return NULL;
}

static bool is_shared_pointer(const struct symbol *param) {
    return param->is_pointer && param->pointer_space == SPACE_SHARED;
}

/* A plain number that may be an address. */
static bool holds_address(const struct symbol *param) {
    return !type_is_float(param->type) && param->bytes == type_bytes(param->type) &&
           (param->bytes == 8 || param->bytes == 4);
}

enum heddle_status heddle_kernel_set_buffer(struct heddle_kernel *kernel, unsigned argument,
                                            struct heddle_buffer *buffer, uint64_t offset, struct heddle_text *errors) {
    const struct symbol *param = parameter(__func__, kernel, argument, errors);
    if (!param)
        return HEDDLE_REFUSED;
    const struct compile_arg *source = source_of(kernel, argument);
    if (is_shared_pointer(param) || !holds_address(param) || (source && !source->is_pointer))
        return refuse_argument(kernel, argument, "is not a pointer to a buffer", errors);
    if (buffer && buffer->device != kernel->module->device)
        return refuse_argument(kernel, argument, "cannot be a buffer of another device", errors);
    if (buffer && !buffer->bytes)
        return api_refuse(errors, "'%s' was freed", buffer->name);
    if (buffer ? offset >= buffer->bytes : offset)
        return refuse_argument(kernel, argument, "cannot begin beyond the buffer's end", errors);
    if (buffer && param->bytes == 4 && buffer->address + offset > UINT32_MAX)
        return refuse_argument(kernel, argument, "has 32 bits, and the buffer's address needs more", errors);
    kernel->arguments[argument] = (struct api_argument){API_ARGUMENT_BUFFER, buffer, offset};
    return HEDDLE_OK;
}

enum heddle_status heddle_kernel_set_local(struct heddle_kernel *kernel, unsigned argument, uint32_t bytes,
                                           struct heddle_text *errors) {
    const struct symbol *param = parameter(__func__, kernel, argument, errors);
    if (!param)
        return HEDDLE_REFUSED;
    const struct compile_arg *source = source_of(kernel, argument);
    if ((param->is_pointer ? !is_shared_pointer(param) : !holds_address(param)) ||
        (source && source->space != COMPILE_LOCAL))
        return refuse_argument(kernel, argument, "is not a pointer to local memory", errors);
    if (!bytes)
        return refuse_argument(kernel, argument, "needs at least one byte of local memory", errors);
    kernel->arguments[argument] = (struct api_argument){API_ARGUMENT_LOCAL, NULL, bytes};
    return HEDDLE_OK;
}

enum heddle_status heddle_kernel_set_shared(struct heddle_kernel *kernel, uint32_t bytes, struct heddle_text *errors) {
    if (!kernel)
        return api_no_handle(errors, __func__, "kernel");
    kernel->shared_bytes = bytes;
    return HEDDLE_OK;
}

static void set_value(struct heddle_kernel *kernel, unsigned argument, const void *data, size_t bytes) {
    memcpy(kernel->params + kernel->function->params[argument]->offset, data, bytes);
    kernel->arguments[argument] = (struct api_argument){.kind = API_ARGUMENT_VALUE};
}

enum heddle_status heddle_kernel_set_bytes(struct heddle_kernel *kernel, unsigned argument, const void *data,
                                           size_t bytes, struct heddle_text *errors) {
    const struct symbol *param = parameter(__func__, kernel, argument, errors);
    if (!param || !data)
        return param ? api_no_handle(errors, __func__, "data") : HEDDLE_REFUSED;
    if (param->is_pointer)
        return refuse_argument(kernel, argument, "is a pointer, not a value", errors);
    if (bytes != param->bytes) {
        struct arena arena = {0};
        const char *what =
            arena_printf(&arena, "has %llu bytes, but %zu are given", (unsigned long long)param->bytes, bytes);
        const enum heddle_status status = refuse_argument(kernel, argument, what, errors);
        arena_free(&arena);
        return status;
    }
    set_value(kernel, argument, data, bytes);
    return HEDDLE_OK;
}

/* What a number is stored as; ELEMENT_COUNT: the parameter takes none of its kind. The source knows best: PTX's .b
 * types hold anything, and halves come as bytes. */
static enum element element_of(const struct heddle_kernel *kernel, unsigned i, const struct number *number) {
    static const enum element integers[2][9] = {
        {[1] = ELEMENT_U8, [2] = ELEMENT_U16, [4] = ELEMENT_U32, [8] = ELEMENT_U64},
        {[1] = ELEMENT_I8, [2] = ELEMENT_I16, [4] = ELEMENT_I32, [8] = ELEMENT_I64}};
    static const enum element floats[9] = {[2] = ELEMENT_F16, [4] = ELEMENT_F32, [8] = ELEMENT_F64};
    const struct symbol *param = kernel->function->params[i];
    const struct compile_arg *source = source_of(kernel, i);
    const uint64_t bytes = param->bytes;
    bool takes_float = type_is_float(param->type), takes_integer = !takes_float,
         is_plain = bytes == type_bytes(param->type);
    if (source && source->element != COMPILE_ELEMENT_OTHER) {
        takes_float = source->element == COMPILE_ELEMENT_FLOAT;
        takes_integer = !takes_float;
        is_plain = !source->is_pointer && source->components == 1 && source->element_bytes == bytes;
    } else if (param->type == TYPE_B32 || param->type == TYPE_B64) {
        takes_float = takes_integer = true;
    }
    if (param->is_pointer || !is_plain || bytes > 8 || !integers[0][bytes])
        return ELEMENT_COUNT;
    if (number->is_integer && takes_integer)
        return integers[number->integer < 0][bytes];
    return takes_float && floats[bytes] ? floats[bytes] : ELEMENT_COUNT;
}

static enum heddle_status set_number(struct heddle_kernel *kernel, unsigned argument, const struct number *number,
                                     struct heddle_text *errors) {
    unsigned char bytes[8];
    const enum element element = element_of(kernel, argument, number);
    if (element == ELEMENT_COUNT)
        return refuse_argument(kernel, argument,
                               number->is_integer ? "does not take a whole number" : "takes no floating-point number",
                               errors);
    if (!element_store(element, number, bytes))
        return refuse_argument(kernel, argument, "cannot hold so large a number", errors);
    set_value(kernel, argument, bytes, element_bytes(element));
    return HEDDLE_OK;
}

enum heddle_status heddle_kernel_set_integer(struct heddle_kernel *kernel, unsigned argument, int64_t value,
                                             struct heddle_text *errors) {
    const struct number number = number_integer(value);
    return parameter(__func__, kernel, argument, errors) ? set_number(kernel, argument, &number, errors)
                                                         : HEDDLE_REFUSED;
}

enum heddle_status heddle_kernel_set_real(struct heddle_kernel *kernel, unsigned argument, double value,
                                          struct heddle_text *errors) {
    const struct number number = number_real(value);
    return parameter(__func__, kernel, argument, errors) ? set_number(kernel, argument, &number, errors)
                                                         : HEDDLE_REFUSED;
}

/* ---- launches ---- */

/* Addresses of buffers and places in local memory, which lies behind the kernel's own. */
static enum heddle_status place_arguments(struct heddle_kernel *kernel, struct launch *launch,
                                          struct heddle_text *errors) {
    const uint64_t start = bits_round_up(kernel->function->shared_bytes, 16);
    uint64_t end = start + kernel->shared_bytes;
    for (unsigned i = 0; i < kernel->function->param_count; i++) {
        const struct symbol *param = kernel->function->params[i];
        const struct api_argument *argument = &kernel->arguments[i];
        uint64_t address = 0;
        switch (argument->kind) {
        case API_ARGUMENT_NONE: return refuse_argument(kernel, i, "was never set", errors);
        case API_ARGUMENT_VALUE: continue;
        case API_ARGUMENT_BUFFER:
            if (argument->buffer && !argument->buffer->bytes)
                return api_refuse(errors, "'%s' was freed", argument->buffer->name);
            address = argument->buffer ? argument->buffer->address + argument->number : 0;
            break;
        case API_ARGUMENT_LOCAL:
            end = bits_round_up(end, param->pointer_align > 16 ? param->pointer_align : 16);
            address = end;
            end += argument->number;
            break;
        }
        memcpy(kernel->params + param->offset, &address, param->bytes);
    }
    if (end > UINT32_MAX)
        return api_refuse(errors, "the shared memory of a block is larger than 4 GiB");
    launch->dynamic_shared_bytes = (uint32_t)(end - start);
    launch->params = kernel->params;
    return HEDDLE_OK;
}

static struct session_module *kept_module(struct heddle_module *module, enum heddle_mode mode) {
    struct session *session = &module->device->sessions[mode];
    if (module->kept[mode])
        return module->kept[mode];
    /* PTX that says which file it was made from: that file, where there is one beside it */
    const bool is_elsewhere = !module->compiled.ptx && module->module->file_count > 1;
    struct session_module *kept =
        session_add(session, module->device->device, module->program, is_elsewhere ? "" : module->source);
    if (is_elsewhere)
        kept->run.sources = sources_of(&session->arena, module->module, module->folder);
    module->kept[mode] = kept;
    return kept;
}

/* The launch as the result has it, kept for the result. */
static void keep(struct heddle_kernel *kernel, enum heddle_mode mode, const struct launch *launch,
                 struct launch_result *result, struct heddle_text *out) {
    struct session_module *module = kept_module(kernel->module, mode);
    session_keep(&kernel->module->device->sessions[mode], module, launch, result);
    if (!out)
        return;
    struct arena arena = {0};
    if (!api_text_set_json(out, result_launch(&module->run, module->run.done - 1, &arena)))
        api_text_set(out, "", 0);
    arena_free(&arena);
}

static enum heddle_status run(struct heddle_kernel *kernel, enum heddle_mode mode, struct launch *launch,
                              struct heddle_text *out, struct heddle_text *errors) {
    struct heddle_device *device = kernel->module->device;
    struct api_watcher watcher = {device->watch, device->user};
    struct report report = {0};
    struct launch_result result = {0};
    enum status status = api_mode_check(&device->machine, mode, &report);
    if (status)
        return api_end(status, &report, errors);
    if (device->watch) {
        launch->watch = api_watch;
        launch->watcher = &watcher;
    }
    status = api_check_begin(kernel, launch, &report);
    if (status)
        return api_end(status, &report, errors);
    const double start = team_clock_seconds();
    status = device_launch(device->device, launch, &result, &report);
    device->seconds[mode] += team_clock_seconds() - start;
    api_check_end(kernel, launch, status, report_text(&report));
    launch->watch = NULL, launch->watcher = NULL, launch->checker = NULL, launch->params = NULL;
    if (status == STATUS_OK || (status == STATUS_STOPPED && result.instructions))
        keep(kernel, mode, launch, &result, out);
    else
        launch_result_free(&result);
    if (status == STATUS_STOPPED)
        session_fault(&device->sessions[mode], report_text(&report));
    return api_end(status, &report, errors);
}

enum heddle_status heddle_kernel_launch(struct heddle_kernel *kernel, unsigned dimensions, const uint32_t *grid,
                                        const uint32_t *block, enum heddle_mode mode, struct heddle_text *out,
                                        struct heddle_text *errors) {
    if (!kernel || !grid || !block)
        return api_no_handle(errors, __func__, !kernel ? "kernel" : !grid ? "grid" : "block");
    if (!api_is_mode(mode))
        return api_refuse(errors, "%s: %d is no mode", __func__, (int)mode);
    if (dimensions < 1 || dimensions > 3)
        return api_refuse(errors, "a launch has 1 to 3 dimensions, not %u", dimensions);
    struct launch launch = {.program = kernel->module->program,
                            .kernel = kernel->function,
                            .grid = {1, 1, 1},
                            .block = {1, 1, 1},
                            .work_dim = dimensions,
                            .in_time = mode == HEDDLE_IN_TIME};
    memcpy(launch.grid, grid, dimensions * sizeof *grid);
    memcpy(launch.block, block, dimensions * sizeof *block);
    const enum heddle_status wrong = place_arguments(kernel, &launch, errors);
    return wrong ? wrong : run(kernel, mode, &launch, out, errors);
}
