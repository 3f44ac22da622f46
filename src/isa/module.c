#include "isa/module.h"

#include <stdio.h>
#include <string.h>

void module_free(struct module *module) {
    if (!module)
        return;
    struct arena arena = module->arena; /* the module lies in its own arena */
    arena_free(&arena);
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
