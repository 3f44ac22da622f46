/* SPDX-License-Identifier: Apache-2.0 */
/* Branches to a kernel's end that end their lanes, in kernels whose threads wait for each other. */
#include "ptx/parser.h"

/* Threads wait for others there: at a barrier of the block or the cluster, or for lanes of the warp. */
static bool waits(const struct inst *inst) { return inst->op == OP_BAR || inst_meets(inst); }

static bool has(const struct module *module, const struct function *function, bool (*is)(const struct inst *inst)) {
    for (uint32_t pc = function->first_pc; pc < function->end_pc; pc++)
        if (is(&module->code[pc]))
            return true;
    return false;
}

static bool calls(const struct inst *inst) { return inst->op == OP_CALL; }

static bool is_end(const struct inst *inst) { return (inst->op == OP_RET || inst->op == OP_EXIT) && inst->guard < 0; }

static void end_at_branches(struct module *module, const struct function *kernel) {
    for (uint32_t pc = kernel->first_pc; pc < kernel->end_pc; pc++) {
        struct inst *inst = &module->code[pc];
        if (inst->op == OP_BRA && inst->guard >= 0 && is_end(&module->code[inst->target]))
            inst->op = OP_EXIT;
    }
}

/* A lane that has branched to the end would wait there for lanes of its warp that wait for it at a barrier: of a stack of paths one runs at a time. Assemblers make
 * such a branch an exit (@P0 EXIT: seen in what ptxas 13 makes for sm_75 to sm_90), and programs return early in front of barriers. Elsewhere the branch stays as the
 * program has it. */
void end_early(struct parser *parser) {
    struct module *module = parser->module;
    bool function_waits = false;
    for (uint32_t f = 0; f < module->function_count; f++)
        function_waits |= !module->functions[f]->is_entry && has(module, module->functions[f], waits);
    for (uint32_t f = 0; f < module->function_count; f++) {
        const struct function *kernel = module->functions[f];
        if (kernel->is_entry && (has(module, kernel, waits) || (function_waits && has(module, kernel, calls))))
            end_at_branches(module, kernel);
    }
}
