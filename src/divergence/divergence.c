/* SPDX-License-Identifier: Apache-2.0 */
#include "divergence/divergence.h"

#include <string.h>

#include "base/added.h"

#define MECHANISM(name) extern const struct divergence_ops divergence_##name;
#include "divergence/mechanisms.def"
#undef MECHANISM

static const struct divergence_ops *const mechanisms[] = {
#define MECHANISM(name) &divergence_##name,
#include "divergence/mechanisms.def"
#undef MECHANISM
};

const struct divergence_ops *divergence_at(unsigned number) {
    enum { OWN = sizeof mechanisms / sizeof mechanisms[0] };
    return number < OWN ? mechanisms[number] : added_at(ADDED_MECHANISM, number - OWN);
}

const struct divergence_ops *divergence_find(const char *name) {
    unsigned i = 0;
    while (divergence_at(i) && strcmp(divergence_at(i)->name, name) != 0)
        i++;
    return divergence_at(i);
}

/* Native code takes for granted that lanes that run together still do a few instructions on. */
static bool is_of_active_lanes(const struct module *module, const struct inst *inst) {
    return module->texts && inst_is_of_warps(inst) && inst->op != OP_BAR_WARP && !inst_meets(inst);
}

enum status divergence_check(const struct divergence_ops *mechanism, const struct module *module, const void *params,
                             struct report *report) {
    enum status status = mechanism->own.check ? mechanism->own.check(params, report) : STATUS_OK;
    if (status == STATUS_OK && mechanism->check)
        status = mechanism->check(params, module, report);
    if (!mechanism->forming)
        return status;
    char where[256];
    for (uint32_t pc = 0; pc < module->code_count; pc++) {
        const struct inst *inst = &module->code[pc];
        if (inst->op == OP_BAR && inst->src_count && inst->src[0].kind != OPERAND_IMM)
            status = report_add(report, STATUS_INVALID,
                                "%s: the barrier's number is in a register, so threads that divergence.mechanism=%s "
                                "groups may name different barriers; choose another mechanism",
                                module_where(module, pc, where, sizeof where), mechanism->name);
        else if (is_of_active_lanes(module, inst) && divergence_needs_time(mechanism, params))
            status = report_add(report, STATUS_INVALID,
                                "%s: native code relies on lanes that stay in their warp, but divergence.mechanism=%s "
                                "forms groups anew; choose another mechanism",
                                module_where(module, pc, where, sizeof where), mechanism->name);
    }
    return status;
}
