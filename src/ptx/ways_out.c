/* SPDX-License-Identifier: Apache-2.0 */
/* Branches to a kernel's end that end their lanes, where threads wait for each other behind them. */
#include "isa/analysis.h"
#include "ptx/parser.h"

/* Threads wait for others there: at a barrier of the block or the cluster, or for lanes of the warp. */
static bool waits(const struct inst *inst) { return inst->op == OP_BAR || inst_meets(inst); }

static bool any_waits(const struct module *module, const struct function *function) {
    for (uint32_t pc = function->first_pc; pc < function->end_pc; pc++)
        if (waits(&module->code[pc]))
            return true;
    return false;
}

static bool is_end(const struct inst *inst) { return (inst->op == OP_RET || inst->op == OP_EXIT) && inst->guard < 0; }

/* Can a lane that is at the instruction come to one where it waits? From the back, until no loop brings anything new, or so often that no
 * compiler's code needs more: then it can. */
enum { ROUNDS_MAX = 64 };

static void find_waits(const struct module *module, const struct function *kernel, bool functions_wait, bool *found) {
    bool grows = true;
    for (unsigned round = 0; grows; round++) {
        grows = false;
        for (uint32_t pc = kernel->end_pc; pc-- > kernel->first_pc;) {
            const struct inst *inst = &module->code[pc];
            const uint32_t at = pc - kernel->first_pc;
            bool now = round == ROUNDS_MAX || waits(inst) || inst->op == OP_BRX; /* which may go anywhere */
            now |= inst->op == OP_CALL && functions_wait;
            now |= inst_jumps(inst) && found[inst->target - kernel->first_pc];
            if ((!inst_ends_block(inst) || inst->guard >= 0) && pc + 1 < kernel->end_pc)
                now |= found[at + 1];
            grows |= now && !found[at];
            found[at] |= now;
        }
    }
}

/* A lane that has branched to the end would wait there for lanes of its warp that wait for it at a barrier: of a stack of paths one runs at a time. Assemblers make
 * such a branch an exit (@P0 EXIT: seen in what ptxas 13 makes for sm_75 to sm_90), and programs return early in front of barriers. Elsewhere the branch stays as the
 * program has it. */
void end_early(struct parser *parser) {
    struct module *module = parser->module;
    bool functions_wait = false;
    for (uint32_t f = 0; f < module->function_count; f++)
        functions_wait |= !module->functions[f]->is_entry && any_waits(module, module->functions[f]);
    for (uint32_t f = 0; f < module->function_count; f++) {
        const struct function *kernel = module->functions[f];
        if (!kernel->is_entry || (!functions_wait && !any_waits(module, kernel)))
            continue;
        bool *found = ARENA_ARRAY(parser->scratch, bool, kernel->end_pc - kernel->first_pc);
        find_waits(module, kernel, functions_wait, found);
        for (uint32_t pc = kernel->first_pc; pc + 1 < kernel->end_pc; pc++) {
            struct inst *inst = &module->code[pc];
            if (inst->op == OP_BRA && inst->guard >= 0 && is_end(&module->code[inst->target]) &&
                found[pc + 1 - kernel->first_pc])
                inst->op = OP_EXIT;
        }
    }
}
