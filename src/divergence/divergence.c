/* SPDX-License-Identifier: Apache-2.0 */
#include "divergence/divergence.h"

#include <string.h>

#define MECHANISM(name) extern const struct divergence_ops divergence_##name;
#include "divergence/mechanisms.def"
#undef MECHANISM

static const struct divergence_ops *const mechanisms[] = {
#define MECHANISM(name) &divergence_##name,
#include "divergence/mechanisms.def"
#undef MECHANISM
    NULL};

const struct divergence_ops *divergence_find(const char *name) {
    for (unsigned i = 0; mechanisms[i]; i++)
        if (strcmp(mechanisms[i]->name, name) == 0)
            return mechanisms[i];
    return NULL;
}

const struct divergence_ops *const *divergence_all(void) { return mechanisms; }

enum status divergence_check(const struct divergence_ops *mechanism, const struct module *module, const void *params,
                             struct report *report) {
    enum status status = mechanism->check ? mechanism->check(params, report) : STATUS_OK;
    if (!mechanism->forming)
        return status;
    char where[256];
    for (uint32_t pc = 0; pc < module->code_count; pc++) {
        const struct inst *inst = &module->code[pc];
        if (inst->op == OP_BAR && inst->src_count && inst->src[0].kind != OPERAND_IMM)
            status = report_add(report, STATUS_INVALID,
                                "%s: the number of the barrier is in a register, so that threads which "
                                "divergence.mechanism=%s groups may name different ones; choose another mechanism",
                                module_where(module, pc, where, sizeof where), mechanism->name);
    }
    return status;
}
