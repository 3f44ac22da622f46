/* SPDX-License-Identifier: Apache-2.0 */
/* The analyses in order, function by function, and the sum of registers over the call graph. */
#include "isa/analysis.h"

#include <setjmp.h>

#include "base/bits.h"
#include "isa/flow.h"

static void set_reconvergence(struct module *module, const struct cfg *cfg) {
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        const struct block *block = &cfg->blocks[b];
        struct inst *inst = &module->code[block->end_pc - 1];
        if (!inst_jumps(inst) && inst->op != OP_BRX)
            continue;
        inst->reconverge =
            block->post_dominator < cfg->block_count ? cfg->blocks[block->post_dominator].first_pc : NO_PC;
    }
}

static void set_places(struct module *module, const struct cfg *cfg) {
    for (uint32_t b = 0; b < cfg->block_count; b++)
        for (uint32_t pc = cfg->blocks[b].first_pc; pc < cfg->blocks[b].end_pc; pc++)
            module->code[pc].place = cfg->blocks[b].place;
}

/* Calls of a function: callees by index and what stays live across each. */
struct calls {
    uint32_t *callee; /* index of the function, NO_PC: through a pointer */
    uint32_t *across;
    uint32_t count;
};

static struct calls list_calls(const struct module *module, const struct function *function, struct arena *arena) {
    struct calls calls = {0};
    for (uint32_t pc = function->first_pc; pc < function->end_pc; pc++)
        calls.count += module->code[pc].op == OP_CALL;
    calls.callee = ARENA_ARRAY(arena, uint32_t, calls.count);
    calls.across = ARENA_ARRAY(arena, uint32_t, calls.count);
    uint32_t at = 0;
    for (uint32_t pc = function->first_pc; pc < function->end_pc; pc++)
        if (module->code[pc].op == OP_CALL) {
            const struct call *call = module->code[pc].call;
            calls.callee[at++] = call && call->callee ? call->callee->index : NO_PC;
        }
    return calls;
}

struct frame {
    uint32_t function, next;
};

/* live_registers of every function: its own colours, or at a call what stays live across it beside what the callee
 * needs, as if callees took fresh registers (see registers.c for what the ABI does). A recursive call counts the
 * callee's own need once; a call through a pointer counts the neediest function that is not a kernel, own need. */
static void sum_calls(struct module *module, const struct calls *calls, struct arena *scratch) {
    enum { NEW, OPEN, DONE };
    uint8_t *state = ARENA_ARRAY(scratch, uint8_t, module->function_count);
    struct frame *stack = ARENA_ARRAY(scratch, struct frame, module->function_count);
    uint32_t any = 0;
    for (uint32_t f = 0; f < module->function_count; f++) {
        const struct function *function = module->functions[f];
        if (function->is_defined && !function->is_entry && function->live_registers > any)
            any = function->live_registers;
    }
    for (uint32_t root = 0; root < module->function_count; root++) {
        if (state[root] != NEW)
            continue;
        uint32_t depth = 0;
        stack[depth++] = (struct frame){.function = root};
        state[root] = OPEN;
        while (depth) {
            struct frame *frame = &stack[depth - 1];
            const struct calls *list = &calls[frame->function];
            struct function *function = module->functions[frame->function];
            if (frame->next == list->count) {
                state[frame->function] = DONE;
                depth--;
                continue;
            }
            uint32_t callee = list->callee[frame->next];
            if (callee != NO_PC && state[callee] == NEW) {
                state[callee] = OPEN;
                stack[depth++] = (struct frame){.function = callee};
                continue;
            }
            uint32_t need = callee == NO_PC ? any : module->functions[callee]->live_registers;
            uint32_t total = list->across[frame->next++] + need;
            if (total > function->live_registers)
                function->live_registers = total;
        }
    }
}

/* Leaves by the escape with messages written, whichever of the three arenas could not grow. */
static enum status analyse_functions(struct module *module, struct report *report, struct arena *kept,
                                     struct arena *scratch) {
    jmp_buf escape;
    module->arena.escape = kept->escape = scratch->escape = &escape;
    if (setjmp(escape))
        return report_add(report, STATUS_SYSTEM, "%s: out of memory while analysing control flow", module->name);
    struct calls *calls = ARENA_ARRAY(kept, struct calls, module->function_count);
    enum status worst = STATUS_OK;
    for (uint32_t f = 0; f < module->function_count; f++) {
        struct function *function = module->functions[f];
        if (!function->is_defined)
            continue;
        struct cfg *cfg = ARENA_NEW(&module->arena, struct cfg);
        enum status status = cfg_build(module, function, cfg, scratch, report);
        if (status) {
            worst = status;
            continue;
        }
        if (cfg->block_count) {
            cfg_post_dominators(cfg, scratch);
            cfg_loops(cfg, scratch);
            cfg_place(cfg, scratch);
            set_reconvergence(module, cfg);
            set_places(module, cfg);
        }
        calls[f] = list_calls(module, function, kept);
        cfg->unwritten = ARENA_ARRAY(&module->arena, uint64_t, bits_round_up(function->reg_count, 64) / 64);
        registers_estimate(module, function, cfg, calls[f].across, scratch);
        function->cfg = cfg;
        function->live_registers = cfg->registers.coloured;
        arena_free(scratch);
        scratch->escape = &escape;
    }
    if (worst == STATUS_OK)
        sum_calls(module, calls, kept);
    for (uint32_t f = 0; f < module->function_count; f++)
        if (module->functions[f]->given_registers)
            module->functions[f]->live_registers = module->functions[f]->given_registers;
    return worst;
}

enum status analyse(struct module *module, struct report *report) {
    struct arena kept = {0}, scratch = {0};
    jmp_buf *owner = module->arena.escape;
    enum status status = analyse_functions(module, report, &kept, &scratch);
    module->arena.escape = owner;
    arena_free(&scratch);
    arena_free(&kept);
    return status;
}
