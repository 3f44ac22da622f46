/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/module.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

void module_free(struct module *module) {
    if (!module)
        return;
    struct arena arena = module->arena; /* the module lies in its own arena */
    arena_free(&arena);
}

enum status module_make(const char *name, module_build *build, void *context, struct module **out,
                        struct report *report) {
    *out = NULL;
    struct arena scratch = {0}, first = {0};
    jmp_buf escape;
    struct module *volatile module = NULL;
    if (setjmp(escape) != 0) {
        scratch.escape = first.escape = NULL;
        arena_free(&scratch);
        if (module)
            module_free(module);
        else
            arena_free(&first);
        return report_add(report, STATUS_SYSTEM, "%s: error: out of memory while loading", name);
    }
    scratch.escape = first.escape = &escape;
    struct module *fresh = ARENA_NEW(&first, struct module);
    fresh->arena = first;
    module = fresh;
    const bool done = build(context, fresh, &scratch, report);
    fresh->arena.escape = NULL;
    arena_free(&scratch);
    if (!done) {
        module_free(fresh);
        return STATUS_INVALID;
    }
    *out = fresh;
    return STATUS_OK;
}

const struct function *module_find(const struct module *module, const char *name) {
    for (unsigned i = 0; i < module->function_count; i++)
        if (module->functions[i]->is_defined && strcmp(module->functions[i]->name, name) == 0)
            return module->functions[i];
    return NULL;
}

const struct function *module_function_at(const struct module *module, uint32_t pc) {
    for (unsigned i = 0; i < module->function_count; i++)
        if (pc >= module->functions[i]->first_pc && pc < module->functions[i]->end_pc)
            return module->functions[i];
    return NULL;
}

const char *inst_name(const struct module *module, const struct inst *inst) {
    return inst->mnemonic ? module->mnemonics[inst->mnemonic] : op_name((enum op)inst->op);
}

const char *module_where(const struct module *module, uint32_t pc, char *buffer, unsigned size) {
    if (pc >= module->code_count) {
        snprintf(buffer, size, "%s", module->name);
        return buffer;
    }
    const struct inst *inst = &module->code[pc];
    if (inst->line != 0 && inst->file < module->file_count && module->files[inst->file][0] != '\0')
        snprintf(buffer, size, "%s:%u", module->files[inst->file], inst->line);
    else
        snprintf(buffer, size, "%s:%u", module->name, inst->text_line);
    return buffer;
}
