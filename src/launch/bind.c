/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/bind.h"
#include "base/bits.h"
#include "base/words.h"
#include "launch/tensor_arg.h"
#include <stdio.h>
#include <string.h>

struct binder {
    const struct launch_file *file;
    const struct launch_step *step;
    const struct function *kernel;
    const struct compile_kernel *source; /* NULL or without argument names */
    const struct bind_buffer *buffers;
    struct arena *arena;
    struct report *report;
    uint64_t shared_end; /* of the block's shared memory as far as given out */
    unsigned char *params;
};

/* The last name of an Itanium-mangled function: the words of _ZN1a5saxpyEv are a and saxpy; of _Z3sum5Lists it is sum, and Lists a
 * type. */
const char *bind_source_name(struct arena *arena, const char *name) {
    if (strncmp(name, "_Z", 2) != 0)
        return name;
    const char *at = name + 2, *found = name;
    const bool is_nested = *at == 'N';
    at += is_nested;
    while (*at >= '0' && *at <= '9' && (is_nested || found == name)) {
        size_t length = 0;
        for (; *at >= '0' && *at <= '9' && length < 1000000; at++)
            length = length * 10 + (size_t)(*at - '0');
        if (strlen(at) < length)
            return name;
        found = arena_strndup(arena, at, length);
        at += length;
    }
    return found;
}

const struct function *bind_find_kernel(const struct module *module, const char *name) {
    struct arena scratch = {0};
    const struct function *found = NULL;
    unsigned matches = 0;
    for (unsigned i = 0; i < module->function_count; i++) {
        const struct function *function = module->functions[i];
        if (!function->is_entry || !function->is_defined)
            continue;
        if (strcmp(function->name, name) == 0) {
            found = function;
            matches = 1;
            break;
        }
        if (strcmp(bind_source_name(&scratch, function->name), name) == 0) {
            found = function;
            matches++;
        }
    }
    arena_free(&scratch);
    return matches == 1 ? found : NULL;
}

static enum status unknown_kernel(const struct binder *b, const struct module *module) {
    const char **names = ARENA_ARRAY(b->arena, const char *, (size_t)module->function_count + 1);
    unsigned count = 0, matches = 0;
    for (unsigned i = 0; i < module->function_count; i++) {
        const struct function *function = module->functions[i];
        if (!function->is_entry || !function->is_defined)
            continue;
        names[count++] = function->name;
        matches += strcmp(bind_source_name(b->arena, function->name), b->step->kernel) == 0;
    }
    const char *near = words_suggest(b->step->kernel, names);
    const char *list = words_join(b->arena, names);
    if (matches > 1)
        return yaml_error(&b->file->yaml, b->step->kernel_at, b->report,
                          "several kernels of %s are called '%s'; give the full name, one of %.400s", module->name,
                          b->step->kernel, list);
    if (count == 0)
        return yaml_error(&b->file->yaml, b->step->kernel_at, b->report, "%s has no kernel", module->name);
    if (near)
        return yaml_error(&b->file->yaml, b->step->kernel_at, b->report, "%s has no kernel '%s'; did you mean '%s'?",
                          module->name, b->step->kernel, near);
    return yaml_error(&b->file->yaml, b->step->kernel_at, b->report, "%s has no kernel '%s'; it has %.400s",
                      module->name, b->step->kernel, list);
}

static const char *source_arg(struct arena *arena, const struct compile_arg *arg) {
    static const char *const spaces[] = {"", "global ", "constant ", "local "};
    return arena_printf(arena, "%s%s%s %s", spaces[arg->space], arg->is_const && arg->is_pointer ? "const " : "",
                        arg->type_name, arg->name);
}

static const char *param_type(struct arena *arena, const struct symbol *param) {
    if (param->is_pointer)
        return arena_printf(arena, "%s pointer", space_name(param->pointer_space));
    if (param->bytes > 8 || param->bytes != type_bytes(param->type))
        return arena_printf(arena, "%llu bytes", (unsigned long long)param->bytes);
    return type_name(param->type);
}

/* "float a" where the source is at hand, else "f32". */
static const char *param_words(struct arena *arena, const struct function *kernel, const struct compile_kernel *source,
                               unsigned i) {
    bool named = source && source->has_arg_info && source->arg_count == kernel->param_count;
    return named ? source_arg(arena, &source->args[i]) : param_type(arena, kernel->params[i]);
}

const char *bind_signature(struct arena *arena, const struct function *kernel, const struct compile_kernel *source) {
    const char *text = arena_printf(arena, "%s(", bind_source_name(arena, kernel->name));
    for (unsigned i = 0; i < kernel->param_count; i++)
        text = arena_printf(arena, "%s%s%s", text, i ? ", " : "", param_words(arena, kernel, source, i));
    return arena_printf(arena, "%s)", text);
}

/* "argument 3 of saxpy (float a)". */
static const char *arg_name(const struct binder *b, unsigned i) {
    return arena_printf(b->arena, "argument %u of %s (%s)", i + 1, b->step->kernel,
                        param_words(b->arena, b->kernel, b->source, i));
}

/* The scalar types of a launch file that fit a parameter, for messages. */
static const char *fitting_types(const struct symbol *param) {
    if (param->bytes == 1)
        return "{i8: ...} or {u8: ...}";
    if (param->bytes == 2)
        return "{i16: ...}, {u16: ...}, {f16: ...} or {bf16: ...}";
    if (param->bytes == 4)
        return type_is_float(param->type) ? "{f32: ...}" : "{i32: ...} or {u32: ...}";
    if (param->bytes == 8)
        return type_is_float(param->type) ? "{f64: ...}" : "{i64: ...} or {u64: ...}";
    return "a vector such as {f32: [1, 2, 3, 4]}, or {bytes: \"HEX\"}";
}

static bool is_shared_pointer(const struct symbol *param) {
    return param->is_pointer && param->pointer_space == SPACE_SHARED;
}

static enum status wrong_argument(const struct binder *b, unsigned i, const char *given) {
    const struct symbol *param = b->kernel->params[i];
    const char *wanted = is_shared_pointer(param) ? "{local: BYTES}"
                         : param->is_pointer      ? "the name of a buffer"
                                                  : fitting_types(param);
    return yaml_error(&b->file->yaml, b->step->args[i].at, b->report, "%s takes %s, not %s", arg_name(b, i), wanted,
                      given);
}

static enum status bind_buffer(const struct binder *b, unsigned i) {
    const struct launch_arg *arg = &b->step->args[i];
    const struct symbol *param = b->kernel->params[i];
    const struct launch_buffer *buffer = &b->file->buffers[arg->buffer];
    const struct bind_buffer *placed = &b->buffers[arg->buffer];
    if (is_shared_pointer(param) || type_is_float(param->type) || param->bytes != type_bytes(param->type) ||
        (param->bytes != 8 && param->bytes != 4))
        return wrong_argument(b, i, "a buffer");
    if (arg->offset >= placed->count)
        return yaml_error(&b->file->yaml, arg->at, b->report, "offset %llu lies behind the %llu elements of '%s'",
                          (unsigned long long)arg->offset, (unsigned long long)placed->count, buffer->name);
    uint64_t address = placed->address + arg->offset * element_bytes(buffer->element);
    if (param->bytes == 4 && address > UINT32_MAX)
        return yaml_error(&b->file->yaml, arg->at, b->report, "the module has 32-bit addresses, and '%s' lies higher",
                          buffer->name);
    memcpy(b->params + param->offset, &address, param->bytes);
    return STATUS_OK;
}

static enum status bind_local(struct binder *b, unsigned i) {
    const struct launch_arg *arg = &b->step->args[i];
    const struct symbol *param = b->kernel->params[i];
    bool fits = param->is_pointer
                    ? is_shared_pointer(param)
                    : !type_is_float(param->type) && param->bytes == type_bytes(param->type) && param->bytes >= 4;
    if (!fits)
        return wrong_argument(b, i, "shared memory");
    uint64_t align = param->pointer_align > 16 ? param->pointer_align : 16;
    b->shared_end = bits_round_up(b->shared_end, align);
    const uint64_t address = function_shared_address(b->kernel, b->shared_end);
    memcpy(b->params + param->offset, &address, param->bytes);
    b->shared_end += arg->byte_count;
    return STATUS_OK;
}

static enum status bind_values(const struct binder *b, unsigned i) {
    const struct launch_arg *arg = &b->step->args[i];
    const struct symbol *param = b->kernel->params[i];
    bool is_plain = param->bytes == type_bytes(param->type);
    bool given_float = arg->kind == LAUNCH_ARG_VALUES && element_kind(arg->element) == ELEMENT_FLOAT;
    const char *given = arg->kind == LAUNCH_ARG_BYTES
                            ? arena_printf(b->arena, "%llu bytes", (unsigned long long)arg->byte_count)
                            : arena_printf(b->arena, "%llu bytes of %s", (unsigned long long)arg->byte_count,
                                           element_names[arg->element]);
    if (is_shared_pointer(param))
        return wrong_argument(b, i, given);
    if (arg->byte_count != param->bytes)
        return wrong_argument(b, i, given);
    /* .b types hold anything; half precision is always passed as .b16 */
    if (arg->kind == LAUNCH_ARG_VALUES && is_plain && param->bytes >= 4 &&
        (type_is_float(param->type) ? !given_float : given_float && param->type != TYPE_B32 && param->type != TYPE_B64))
        return wrong_argument(b, i, element_names[arg->element]);
    memcpy(b->params + param->offset, arg->bytes, arg->byte_count);
    return STATUS_OK;
}

static enum status bind_tensor(const struct binder *b, unsigned i) {
    const struct launch_arg *arg = &b->step->args[i];
    const struct symbol *param = b->kernel->params[i];
    const char *why;
    if (param->bytes != arg->byte_count)
        return wrong_argument(b, i, "a tensor map, which has 128 bytes");
    if (!tensor_arg_map(arg, b->buffers[arg->buffer].address, b->params + param->offset, &why))
        return yaml_error(&b->file->yaml, arg->at, b->report, "a tensor map of '%s': %s",
                          b->file->buffers[arg->buffer].name, why);
    return STATUS_OK;
}

static enum status bind_args(struct binder *b) {
    const struct launch_step *step = b->step;
    if (step->arg_count != b->kernel->param_count)
        return yaml_error(&b->file->yaml, step->args_at, b->report, "%s takes %u arguments, not %u: %.600s",
                          step->kernel, b->kernel->param_count, step->arg_count,
                          bind_signature(b->arena, b->kernel, b->source));
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < step->arg_count; i++) {
        enum status one = STATUS_OK;
        switch (step->args[i].kind) {
        case LAUNCH_ARG_BUFFER: one = bind_buffer(b, i); break;
        case LAUNCH_ARG_LOCAL: one = bind_local(b, i); break;
        case LAUNCH_ARG_TENSOR: one = bind_tensor(b, i); break;
        case LAUNCH_ARG_VALUES:
        case LAUNCH_ARG_BYTES: one = bind_values(b, i); break;
        }
        status = status ? status : one;
    }
    return status;
}

/* A size the source or the module asks for. */
static enum status check_block(const struct binder *b) {
    const uint32_t *block = b->step->block, *required = b->kernel->required_ntid, *max = b->kernel->max_ntid;
    if (!required[0] && b->source)
        required = b->source->reqd_work_group_size;
    for (unsigned i = 0; required[0] && i < 3; i++)
        if (block[i] != (required[i] ? required[i] : 1))
            return yaml_error(&b->file->yaml, b->step->at, b->report, "%s has to be launched with block: [%u, %u, %u]",
                              b->step->kernel, required[0], required[1] ? required[1] : 1,
                              required[2] ? required[2] : 1);
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    uint64_t allowed = (uint64_t)max[0] * (max[1] ? max[1] : 1) * (max[2] ? max[2] : 1);
    if (max[0] && threads > allowed)
        return yaml_error(&b->file->yaml, b->step->at, b->report,
                          "%s was compiled for at most %llu threads a block, not %llu", b->step->kernel,
                          (unsigned long long)allowed, (unsigned long long)threads);
    return STATUS_OK;
}

enum status bind_launch(const struct launch_file *file, unsigned index, const struct bind_parts *parts,
                        struct arena *arena, struct launch *out, struct report *report) {
    const struct launch_step *step = &file->launches[index];
    struct binder b = {.file = file, .step = step, .buffers = parts->buffers, .arena = arena, .report = report};
    b.kernel = bind_find_kernel(parts->module, step->kernel);
    if (!b.kernel)
        return unknown_kernel(&b, parts->module);
    b.source = parts->compiled ? compiled_find(parts->compiled, b.kernel->name) : NULL;
    b.params = arena_alloc(arena, b.kernel->param_bytes);
    uint64_t dynamic_start = bits_round_up(b.kernel->shared_bytes, 16);
    b.shared_end = dynamic_start + step->dynamic_shared_bytes;
    enum status status = check_block(&b), args = bind_args(&b);
    if (status || args)
        return status ? status : args;
    if (b.shared_end > UINT32_MAX)
        return yaml_error(&file->yaml, step->args_at, report, "the block's shared memory is larger than 4 GiB");
    *out = (struct launch){.kernel = b.kernel, .params = b.params, .work_dim = step->dimensions};
    out->dynamic_shared_bytes = (uint32_t)(b.shared_end - dynamic_start);
    out->workspace = step->has_workspace ? parts->buffers[step->workspace].address : 0;
    memcpy(out->cluster, step->cluster, sizeof out->cluster);
    memcpy(out->grid, step->grid, sizeof out->grid);
    memcpy(out->block, step->block, sizeof out->block);
    memcpy(out->global_offset, step->global_offset, sizeof out->global_offset);
    return STATUS_OK;
}
