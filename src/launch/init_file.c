/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/init_file.h"
#include <stdio.h>
#include <string.h>

/* What the guesses share. A size name stands for the threads of the launch, in each direction of a 2-D or 3-D one. */
struct guess {
    const struct module *module;
    const struct function *kernel;
    const struct compile_kernel *source; /* NULL: no names and types */
    struct arena *arena;
    unsigned dimensions;
    uint32_t grid[3], block[3], side[3]; /* side = grid * block */
    uint64_t threads;
    unsigned access_bytes; /* widest access to global memory */
};

static const struct compile_arg *source_arg(const struct guess *g, unsigned i) {
    return g->source ? &g->source->args[i] : NULL;
}

/* The directions the kernel asks its ids in. Functions it calls are asked too: they may have been left out of line. */
static void scan_code(struct guess *g) {
    g->dimensions = 1;
    g->access_bytes = 4;
    for (uint32_t pc = 0; pc < g->module->code_count; pc++) {
        const struct inst *inst = &g->module->code[pc];
        const struct function *owner = module_function_at(g->module, pc);
        if (owner && owner->is_entry && owner != g->kernel)
            continue;
        for (unsigned i = 0; i < inst->src_count; i++) {
            if (inst->src[i].kind != OPERAND_SPECIAL || inst->src[i].reg > SPECIAL_NCTAID_Z)
                continue;
            unsigned direction = inst->src[i].reg % 3 + 1; /* x, y, z follow each other */
            g->dimensions = direction > g->dimensions ? direction : g->dimensions;
        }
        bool is_memory = inst->op == OP_LD || inst->op == OP_ST;
        if (!is_memory || (inst->space != SPACE_GLOBAL && inst->space != SPACE_GENERIC))
            continue;
        unsigned elements = inst->op == OP_LD ? inst->dst_count : inst->src_count > 1 ? inst->src_count - 1u : 1;
        unsigned bytes = type_bytes(inst->type) * elements;
        g->access_bytes = bytes > g->access_bytes ? bytes : g->access_bytes;
    }
}

static void choose_shape(struct guess *g) {
    static const uint32_t blocks[3][3] = {{256, 1, 1}, {16, 16, 1}, {8, 8, 4}};
    /* without names a size may just as well be the trip count of a loop: stay small */
    static const uint32_t grids[3][3] = {{256, 1, 1}, {16, 16, 1}, {4, 4, 4}};
    static const uint32_t small_grids[3][3] = {{4, 1, 1}, {2, 2, 1}, {2, 2, 1}};
    const uint32_t *required = g->kernel->required_ntid[0] ? g->kernel->required_ntid
                               : g->source                 ? g->source->reqd_work_group_size
                                                           : g->kernel->required_ntid;
    for (unsigned i = 0; required[0] && i < 3; i++)
        if (required[i] > 1 && i + 1 > g->dimensions)
            g->dimensions = i + 1;
    enum { ENOUGH = 1024 }; /* no block below is larger */
    uint64_t left = 1;      /* threads that the kernel was compiled for, in the dimensions to come */
    for (unsigned i = 0; i < 3; i++) {
        left *= g->kernel->max_ntid[i] ? g->kernel->max_ntid[i] : 1;
        left = left < ENOUGH ? left : ENOUGH;
    }
    g->threads = 1;
    for (unsigned i = 0; i < 3; i++) {
        g->block[i] = blocks[g->dimensions - 1][i];
        if (required[0])
            g->block[i] = required[i] ? required[i] : 1;
        else if (g->source && g->source->work_group_size_hint[0])
            g->block[i] = g->source->work_group_size_hint[i] ? g->source->work_group_size_hint[i] : 1;
        if (g->kernel->max_ntid[0]) { /* the product is the limit: a dimension takes what those before it left */
            g->block[i] = g->block[i] < left ? g->block[i] : (uint32_t)left;
            left /= g->block[i];
        }
        g->grid[i] = (g->source ? grids : small_grids)[g->dimensions - 1][i];
        g->side[i] = g->grid[i] * g->block[i];
        g->threads *= g->side[i];
    }
}

static bool is_one_of(const char *name, const char *const *words) {
    for (; *words; words++)
        if (strcasecmp(name, *words) == 0)
            return true;
    return false;
}

/* A value for an integer argument, and why. */
static uint64_t guess_integer(const struct guess *g, const struct compile_arg *arg, const char **why) {
    static const char *const sizes[] = {
        "n",          "size",         "count",       "len",         "length", "num", "total", "elements", "nelem",
        "n_elements", "num_elements", "numelements", "global_size", "limit",  "end", "items", NULL};
    static const char *const first[] = {"w",  "width", "nx",    "cols",   "columns", "ncols",
                                        "sx", "dimx",  "pitch", "stride", "ld",      NULL};
    static const char *const second[] = {"h", "height", "ny", "rows", "nrows", "sy", "dimy", NULL};
    static const char *const third[] = {"d", "depth", "nz", "sz", "dimz", NULL};
    static const char *const trips[] = {"steps", "iters",  "iterations", "maxit", "max_iter", "maxiter",
                                        "loops", "repeat", "m",          "k",     NULL};
    *why = "";
    if (!arg) {
        *why = "PTX does not name its arguments: a guess";
        return g->side[0];
    }
    bool known = true;
    uint64_t value = 1;
    if (is_one_of(arg->name, sizes))
        value = g->dimensions == 1 ? g->threads : g->side[0];
    else if (is_one_of(arg->name, first))
        value = g->dimensions == 1 ? 256 : g->side[0];
    else if (is_one_of(arg->name, second))
        value = g->dimensions == 1 ? g->threads / 256 : g->side[1];
    else if (is_one_of(arg->name, third))
        value = g->side[2];
    else if (is_one_of(arg->name, trips))
        value = 16;
    else
        known = false;
    if (!known)
        *why = "a guess";
    uint64_t most = arg->element_bytes == 1 ? 127 : arg->element_bytes == 2 ? 32767 : UINT64_MAX;
    return value < most ? value : most;
}

static enum element element_of(const struct compile_arg *arg) {
    static const enum element by_size[3][4] = {
        {ELEMENT_I8, ELEMENT_I16, ELEMENT_I32, ELEMENT_I64},
        {ELEMENT_U8, ELEMENT_U16, ELEMENT_U32, ELEMENT_U64},
        {ELEMENT_U8, ELEMENT_F16, ELEMENT_F32, ELEMENT_F64},
    };
    unsigned size = arg->element_bytes == 8 ? 3 : arg->element_bytes == 4 ? 2 : arg->element_bytes == 2 ? 1 : 0;
    unsigned kind = arg->element == COMPILE_ELEMENT_SIGNED ? 0 : arg->element == COMPILE_ELEMENT_FLOAT ? 2 : 1;
    return by_size[kind][size];
}

static unsigned components_of(const struct compile_arg *arg) {
    return arg->components == 3 ? 4 : arg->components ? arg->components : 1;
}

static bool is_pointer(const struct guess *g, unsigned i) {
    const struct symbol *param = g->kernel->params[i];
    const struct compile_arg *arg = source_arg(g, i);
    if (arg)
        return arg->is_pointer;
    return param->is_pointer || (param->bytes == 8 && !type_is_float(param->type) && type_bytes(param->type) == 8);
}

static bool is_local(const struct guess *g, unsigned i) {
    const struct symbol *param = g->kernel->params[i];
    const struct compile_arg *arg = source_arg(g, i);
    return (arg && arg->is_pointer && arg->space == COMPILE_LOCAL) ||
           (param->is_pointer && param->pointer_space == SPACE_SHARED);
}

static const char *buffer_name(const struct guess *g, unsigned i) {
    const struct compile_arg *arg = source_arg(g, i);
    return arg && arg->name[0] ? arg->name : arena_printf(g->arena, "arg%u", i);
}

static const char *buffer_text(const struct guess *g, unsigned i) {
    const struct compile_arg *arg = source_arg(g, i);
    const char *name = buffer_name(g, i);
    if (!arg) {
        uint64_t count = g->threads * g->access_bytes / 4 * 2; /* some kernels look further than their own element */
        return arena_printf(g->arena,
                            "  # PTX does not say what a pointer points to: set type and count.\n"
                            "  %s: {type: f32, count: %llu, fill: {value: 0}}\n",
                            name, (unsigned long long)count);
    }
    if (arg->element == COMPILE_ELEMENT_OTHER || !arg->element_bytes) {
        uint64_t bytes = arg->element_bytes ? arg->element_bytes : 64;
        return arena_printf(g->arena, "  # %s: given as bytes, %llu for each thread.\n  %s: {type: u8, count: %llu}\n",
                            arg->type_name, (unsigned long long)bytes, name, (unsigned long long)g->threads * bytes);
    }
    enum element element = element_of(arg);
    uint64_t count = g->threads * components_of(arg);
    const char *fill = "{value: 0}";
    if (arg->is_const || arg->space == COMPILE_CONSTANT) /* small integers are good indices, too */
        fill = arg->element == COMPILE_ELEMENT_FLOAT
                   ? arena_printf(g->arena, "{random: {seed: %u, min: 0, max: 1}}", i + 1)
                   : "{index: {modulo: 97}}";
    return arena_printf(g->arena, "  %s: {type: %s, count: %llu, fill: %s}\n", name, element_names[element],
                        (unsigned long long)count, fill);
}

static const char *zero_bytes(struct arena *arena, uint64_t count) {
    char *text = arena_alloc(arena, count * 2 + 1);
    memset(text, '0', count * 2);
    return text;
}

static const char *scalar_text(const struct guess *g, unsigned i) {
    const struct symbol *param = g->kernel->params[i];
    const struct compile_arg *arg = source_arg(g, i);
    const char *why = "";
    bool plain = param->bytes == type_bytes(param->type);
    if (arg && arg->element != COMPILE_ELEMENT_OTHER && arg->components > 1) {
        const char *list = "";
        for (unsigned k = 0; k < components_of(arg); k++)
            list = arena_printf(g->arena, "%s%s1", list, k ? ", " : "");
        return arena_printf(g->arena, "{%s: [%s]}", element_names[element_of(arg)], list);
    }
    if (!plain || (arg && arg->element == COMPILE_ELEMENT_OTHER && param->bytes > 8))
        return arena_printf(g->arena, "{bytes: \"%s\"}", zero_bytes(g->arena, param->bytes));
    if (arg ? arg->element == COMPILE_ELEMENT_FLOAT : type_is_float(param->type))
        return arena_printf(g->arena, "{%s: 1.0}", param->bytes == 8 ? "f64" : param->bytes == 4 ? "f32" : "f16");
    bool is_unsigned = arg && arg->element == COMPILE_ELEMENT_UNSIGNED;
    uint64_t value = guess_integer(g, arg, &why);
    if (param->bytes < 4 && value > 100)
        value = 100;
    return arena_printf(g->arena, "{%s%llu: %llu}", is_unsigned ? "u" : "i", (unsigned long long)param->bytes * 8,
                        (unsigned long long)value);
}

/* One line for each argument: the value, then what it is for. */
static const char *arg_line(const struct guess *g, unsigned i) {
    const struct compile_arg *arg = source_arg(g, i);
    const char *comma = i + 1 < g->kernel->param_count ? "," : "";
    const char *value, *why = "";
    uint64_t block_threads = (uint64_t)g->block[0] * g->block[1] * g->block[2];
    if (is_local(g, i)) {
        uint64_t element = arg && arg->element_bytes ? (uint64_t)arg->element_bytes * components_of(arg) : 8;
        value = arena_printf(g->arena, "{local: %llu}", (unsigned long long)block_threads * element);
        why = "bytes of shared memory: one element for each thread of a block";
    } else if (is_pointer(g, i)) {
        value = buffer_name(g, i);
    } else {
        value = scalar_text(g, i);
        bool is_integer = arg ? arg->element != COMPILE_ELEMENT_FLOAT : !type_is_float(g->kernel->params[i]->type);
        if (is_integer)
            guess_integer(g, arg, &why);
        else
            why = "a guess";
    }
    const char *word =
        arg ? arena_printf(g->arena, "%s %s", arg->type_name, arg->name) : type_name(g->kernel->params[i]->type);
    return arena_printf(g->arena, "      %-28s # %s%s%s\n", arena_printf(g->arena, "%s%s", value, comma), word,
                        why[0] ? ": " : "", why);
}

static const char *other_kernels(const struct guess *g) {
    const char *list = "";
    for (unsigned i = 0; i < g->module->function_count; i++) {
        const struct function *function = g->module->functions[i];
        if (function->is_entry && function->is_defined && function != g->kernel)
            list = arena_printf(g->arena, "%s%s%s", list, list[0] ? ", " : "", function->name);
    }
    return list[0]
               ? arena_printf(g->arena, "# The module has other kernels too: %s (heddle init --kernel NAME).\n", list)
               : "";
}

const char *init_file_text(const struct module *module, const struct compiled *compiled, const struct function *kernel,
                           const char *module_path, struct arena *arena) {
    struct guess g = {.module = module, .kernel = kernel, .arena = arena};
    const struct compile_kernel *source = compiled ? compiled_find(compiled, kernel->name) : NULL;
    if (source && source->has_arg_info && source->arg_count == kernel->param_count)
        g.source = source;
    scan_code(&g);
    choose_shape(&g);
    const char *buffers = "", *args = "", *first_buffer = NULL;
    for (unsigned i = 0; i < kernel->param_count; i++) {
        args = arena_printf(arena, "%s%s", args, arg_line(&g, i));
        if (!is_pointer(&g, i) || is_local(&g, i))
            continue;
        buffers = arena_printf(arena, "%s%s", buffers, buffer_text(&g, i));
        const struct compile_arg *arg = source_arg(&g, i);
        if (!first_buffer || (arg && !arg->is_const))
            first_buffer = first_buffer && arg && arg->is_const ? first_buffer : buffer_name(&g, i);
    }
    const char *head =
        arena_printf(arena,
                     "# Launch file for %s, guessed from its signature:\n#   %s\n"
                     "# Sizes, fills and values below are a start; change them to what the kernel is for.\n%s"
                     "module: %s\n\n",
                     bind_source_name(arena, kernel->name), bind_signature(arena, kernel, g.source), other_kernels(&g),
                     yaml_word(arena, module_path));
    const char *middle =
        buffers[0]
            ? arena_printf(arena,
                           "# Device memory. Types: i8 u8 i16 u16 f16 bf16 i32 u32 f32 i64 u64 f64. Fills: value,\n"
                           "# values, index, random, xorshift32, file (raw or .npy).\n"
                           "buffers:\n%s\n",
                           buffers)
            : "";
    const char *launch =
        arena_printf(arena,
                     "# Run in order. grid counts blocks, block counts threads of one block: %llu threads here.\n"
                     "launches:\n  - kernel: %s\n    grid: %s\n    block: %s\n    args: %s%s%s\n",
                     (unsigned long long)g.threads, yaml_word(arena, kernel->name),
                     yaml_sizes(arena, g.grid, g.dimensions), yaml_sizes(arena, g.block, g.dimensions),
                     args[0] ? "[\n" : "[]", args, args[0] ? "    ]" : "");
    const char *check =
        first_buffer ? arena_printf(arena,
                                    "\n# What has to come out; also hash, sum, or equals: {file: expected.npy}.\n"
                                    "# check:\n#   - {buffer: %s, equals: {value: 0}, tolerance: 1e-6}\n",
                                    first_buffer)
                     : "";
    return arena_printf(arena, "%s%s%s%s", head, middle, launch, check);
}
