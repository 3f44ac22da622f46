/* SPDX-License-Identifier: Apache-2.0 */
#include "device/assembled.h"
#include "device/load.h"
#include "study/show.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/file.h"
#include "launch/bind.h"
#include "launch/launch_file.h"
#include "device/lowered.h"
#include "launch/run.h"
#include "study/show_print.h"
#include "base/words.h"

enum { MODULE_LIMIT_BYTES = 512 << 20 };

/* ---- small texts the forms share ---- */

const char *show_where(struct show *show, const struct inst *inst) {
    if (!inst->file || inst->file >= show->module->file_count || !inst->line)
        return "";
    return arena_printf(&show->arena, "%s:%u", file_name(show->module->files[inst->file]), inst->line);
}

const char *show_title(struct show *show, const struct function *function) {
    const struct compile_kernel *source = show->compiled ? compiled_find(show->compiled, function->name) : NULL;
    return arena_printf(&show->arena, "%s %s", function->is_entry ? "kernel" : "function",
                        bind_signature(&show->arena, function, source));
}

const char *show_block_name(struct show *show, const struct cfg *cfg, uint32_t block) {
    if (block == NO_PC)
        return "nowhere";
    return block == cfg->block_count ? "exit" : arena_printf(&show->arena, "B%u", block);
}

const struct inst *show_branch(const struct show *show, const struct block *block) {
    const struct inst *inst = &show->module->code[block->end_pc - 1];
    return inst_may_diverge(inst) ? inst : NULL;
}

const char *show_branch_text(struct show *show, const struct cfg *cfg, const struct block *block) {
    const struct inst *inst = &show->module->code[block->end_pc - 1];
    bool falls = inst->guard >= 0;
    const char *text = "->";
    /* The first successor of a guarded instruction is the next block; targets follow. */
    unsigned first = falls && block->successor_count > 1 ? 1 : 0;
    for (unsigned i = first; i < block->successor_count; i++)
        text = arena_printf(&show->arena, "%s %s%s", text, show_block_name(show, cfg, block->successors[i]),
                            i + 1 < block->successor_count ? "," : "");
    if (first)
        text = arena_printf(&show->arena, "%s, else %s", text, show_block_name(show, cfg, block->successors[0]));
    return arena_printf(&show->arena, "%s; reconverges at %s", text, show_block_name(show, cfg, block->post_dominator));
}

/* ---- choosing and writing ---- */

static enum status unknown_kernel(struct show *show, struct report *report) {
    const struct module *module = show->module;
    const char **names = ARENA_ARRAY(&show->arena, const char *, (size_t)module->function_count + 1);
    unsigned count = 0;
    for (unsigned i = 0; i < module->function_count; i++)
        if (module->functions[i]->is_defined)
            names[count++] = module->functions[i]->name;
    const char *wanted = show->options->kernel, *near = words_suggest(wanted, names);
    if (near)
        return report_add(report, STATUS_INVALID, "%s has no kernel or function '%s'; did you mean '%s'?", module->name,
                          wanted, near);
    return report_add(report, STATUS_INVALID, "%s has no kernel or function '%s'; it has %.400s", module->name, wanted,
                      count ? words_join(&show->arena, names) : "none");
}

static void show_function(struct show *show, const struct function *function) {
    static void (*const forms[])(struct show *, const struct function *) = {
        [SHOW_SUMMARY] = show_summary, [SHOW_LISTING] = show_listing,     [SHOW_CFG] = show_cfg,
        [SHOW_DOT] = show_dot,         [SHOW_REGISTERS] = show_registers,
    };
    forms[show->options->form](show, function);
}

static void show_head(const struct show *show) {
    const struct module *module = show->module;
    if (module->mnemonics)
        fprintf(show->out, "%s  native code for sm_%u\n", module->name, module->sm);
    else
        fprintf(show->out, "%s  PTX %u.%u for sm_%u, %u-bit addresses\n", module->name, module->version_major,
                module->version_minor, module->sm, 8 * module->address_bytes);
}

static enum status show_all(struct show *show, struct report *report) {
    const struct module *module = show->module;
    const struct function *only = NULL;
    show->sources = sources_of(&show->arena, module, show->folder);
    if (show->options->kernel) {
        only = bind_find_kernel(module, show->options->kernel);
        if (!only)
            only = module_find(module, show->options->kernel);
        if (!only || !only->is_defined)
            return unknown_kernel(show, report);
    }
    if (show->options->form == SHOW_NATIVE)
        return show_native(show, only, report);
    bool dot = show->options->form == SHOW_DOT;
    if (dot)
        show_dot_start(show);
    else
        show_head(show);
    unsigned shown = 0;
    for (unsigned i = 0; i < module->function_count; i++) {
        const struct function *function = module->functions[i];
        if (!function->is_defined || !function->cfg || (only && function != only))
            continue;
        if (!dot)
            fputc('\n', show->out);
        show_function(show, function);
        shown++;
    }
    if (dot)
        show_dot_end(show);
    else if (!shown)
        fprintf(show->out, "\nno kernel and no function is defined in it\n");
    if (fflush(show->out) || ferror(show->out))
        return report_add(report, STATUS_SYSTEM, "the output could not be written");
    return STATUS_OK;
}

static enum status show_with(struct show *show, struct report *report) {
    enum status status = show_all(show, report);
    arena_free(&show->arena);
    return status;
}

enum status device_show_module(const struct module *module, const struct compiled *compiled, const char *folder,
                               const struct show_options *options, FILE *out, struct report *report) {
    struct show show = {.module = module, .compiled = compiled, .folder = folder, .options = options, .out = out};
    return show_with(&show, report);
}

/* ---- loading ---- */

/* As what would run is compiled. */
static unsigned address_bits(const struct show *show) {
    const bool is_native = show->options->form == SHOW_NATIVE && show->options->machine;
    return is_native ? lowered_address_bits(show->options->machine, show_isa(show->options)) : 64;
}

/* Where the machine runs PTX as what ptxas makes of it, that is shown. */
static enum status load_source(const struct show *show, const struct compile_source *source, struct module **module,
                               struct report *report) {
    const struct machine *machine = show->options->machine;
    const struct device_module order = {.name = source->name, .text = source->text, .length = source->bytes};
    return load_for(&order, show->options->form != SHOW_NATIVE ? machine : NULL, module, report);
}

static enum status show_launch_file(const char *path, struct show *show, struct arena *arena, struct module **module,
                                    struct report *report) {
    struct launch_file file = {0};
    enum status status = launch_file_read(arena, path, &file, report);
    if (status)
        return status;
    struct run_module *loaded = ARENA_NEW(arena, struct run_module);
    status = run_load_text(&file, address_bits(show), arena, loaded, report);
    if (status)
        return status;
    show->compiled = loaded->is_compiled ? &loaded->compiled : NULL;
    show->folder = file_dir(arena, file_join(arena, file.folder, file.module));
    const char *name = file_name(file.module);
    const struct compile_source source = {loaded->is_compiled ? arena_printf(arena, "%s.ptx", name) : name,
                                          loaded->text, loaded->length};
    status = load_source(show, &source, module, report);
    struct show_launch *launches = ARENA_ARRAY(arena, struct show_launch, file.launch_count);
    for (unsigned i = 0; i < file.launch_count; i++) {
        const struct launch_step *step = &file.launches[i];
        uint64_t shared = step->dynamic_shared_bytes;
        for (unsigned a = 0; a < step->arg_count; a++)
            if (step->args[a].kind == LAUNCH_ARG_LOCAL)
                shared = bits_round_up(shared, 16) + step->args[a].byte_count;
        launches[i] = (struct show_launch){.kernel = step->kernel,
                                           .block_threads = step->block[0] * step->block[1] * step->block[2],
                                           .dynamic_shared_bytes = shared < UINT32_MAX ? (uint32_t)shared : UINT32_MAX};
    }
    show->launches = launches;
    show->launch_count = file.launch_count;
    return status;
}

static enum status show_module_file(const char *path, struct show *show, struct arena *arena, struct module **module,
                                    struct report *report) {
    show->folder = file_dir(arena, path);
    if (load_is_text(path) || strcmp(path, "-") == 0) {
        char *text;
        size_t length;
        enum status status = file_read_input(path, MODULE_LIMIT_BYTES, arena, &text, &length, report);
        const struct compile_source source = {strcmp(path, "-") == 0 ? "<stdin>" : file_name(path), text, length};
        return status ? status : load_source(show, &source, module, report);
    }
    struct compiled *compiled = ARENA_NEW(arena, struct compiled);
    struct compile_options options = {.address_bits = file_ends_in(path, ".cl") ? address_bits(show) : 64};
    enum status status = compile_file(path, &options, arena, compiled, report);
    if (status)
        return status;
    show->compiled = compiled;
    const struct compile_source source = {arena_printf(arena, "%s.ptx", file_name(path)), compiled->ptx,
                                          compiled->ptx_bytes};
    return load_source(show, &source, module, report);
}

enum status device_show(const char *path, const struct show_options *options, FILE *out, struct report *report) {
    struct arena arena = {0};
    struct show show = {.options = options, .out = out};
    struct module *module = NULL;
    const char *dot = strrchr(file_name(path), '.'), *ending = dot ? dot : "";
    enum status status;
    if (strcmp(ending, ".yaml") == 0 || strcmp(ending, ".yml") == 0)
        status = show_launch_file(path, &show, &arena, &module, report);
    else if (load_is_module(path) || strcmp(path, "-") == 0)
        status = show_module_file(path, &show, &arena, &module, report);
    else
        status = report_add(
            report, STATUS_INVALID,
            "%s: not a file that can be shown; give a launch file (.yaml) or a module, which ends in " LOAD_ENDINGS,
            path);
    if (!status && module) {
        show.module = module;
        status = show_with(&show, report);
    }
    if (module)
        module_free(module);
    arena_free(&arena);
    return status;
}
