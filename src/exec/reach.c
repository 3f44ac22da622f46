/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions a kernel can call, and what depth and local memory their calls need. */
#include "base/bits.h"
#include "exec/linker.h"

/* Native code calls only functions of its own kernel. */
static bool is_address_taken_candidate(const struct function *from, const struct function *function) {
    const struct function *kernel = from->registers_of ? from->registers_of : from;
    return function->is_defined && !function->is_entry && (!function->registers_of || function->registers_of == kernel);
}

/* Marks in `reached` what calls of `function` can enter, itself not included. `indirect`: it calls
 * through a pointer. */
static void mark_callees(const struct module *module, const struct function *function, bool *reached, bool *indirect) {
    for (uint32_t pc = function->first_pc; pc < function->end_pc; pc++) {
        const struct inst *inst = &module->code[pc];
        if (inst->op != OP_CALL)
            continue;
        if (inst->call->callee) {
            if (inst->call->callee->is_defined)
                reached[inst->call->callee->index] = true;
            continue;
        }
        *indirect = true;
        for (unsigned i = 0; i < module->function_count; i++)
            if (is_address_taken_candidate(function, module->functions[i]))
                reached[i] = true;
    }
}

/* Everything that `from` can call, however deep. */
static bool *reach(struct arena *arena, struct linked *linked, const struct function *from) {
    const struct module *module = linked->module;
    bool *reached = ARENA_ARRAY(arena, bool, module->function_count);
    bool *done = ARENA_ARRAY(arena, bool, module->function_count);
    mark_callees(module, from, reached, &linked->has_recursion);
    for (bool changed = true; changed;) {
        changed = false;
        for (unsigned i = 0; i < module->function_count; i++) {
            if (!reached[i] || done[i])
                continue;
            done[i] = changed = true;
            mark_callees(module, module->functions[i], reached, &linked->has_recursion);
        }
    }
    return reached;
}

/* Bytes of local memory and depth of calls below every function; only without recursion, so that this ends. */
static void measure_calls(const struct linked *linked, uint64_t *bytes, uint32_t *depth) {
    const struct module *module = linked->module;
    for (bool changed = true; changed;) {
        changed = false;
        for (unsigned i = 0; i < module->function_count; i++) {
            const struct function *function = module->functions[i];
            if (!linked->layouts[i].reachable)
                continue;
            uint64_t below = 0;
            uint32_t deeper = 0;
            for (uint32_t pc = function->first_pc; pc < function->end_pc; pc++) {
                const struct inst *inst = &module->code[pc];
                if (inst->op != OP_CALL || !inst->call->callee || !inst->call->callee->is_defined)
                    continue;
                const unsigned callee = inst->call->callee->index;
                if (bytes[callee] > below)
                    below = bytes[callee];
                if (depth[callee] + 1 > deeper)
                    deeper = depth[callee] + 1;
            }
            const uint64_t total = below + linked_frame_size(linked, function);
            changed |= total != bytes[i] || deeper != depth[i];
            bytes[i] = total, depth[i] = deeper;
        }
    }
}

void link_functions(struct arena *arena, struct linked *linked) {
    const struct module *module = linked->module;
    linked->layouts = ARENA_ARRAY(arena, struct function_layout, module->function_count);
    const bool *reached = reach(arena, linked, linked->kernel);
    for (unsigned i = 0; i < module->function_count; i++) {
        linked->layouts[i].reachable = reached[i] || module->functions[i] == linked->kernel;
        linked->has_calls |= reached[i];
        if (!reached[i])
            continue;
        const bool calls_itself = reach(arena, linked, module->functions[i])[i];
        linked->layouts[i].is_recursive = calls_itself && !module->functions[i]->registers_of; /* else it saves them */
        linked->has_recursion |= calls_itself;
    }
    linked->local_align = 16;
    for (unsigned i = 0; i < module->function_count; i++)
        if (linked->layouts[i].reachable && module->functions[i]->local_align > linked->local_align)
            linked->local_align = module->functions[i]->local_align;
    linked->local_bytes = linked_frame_size(linked, linked->kernel);
    if (!linked->has_calls || linked->has_recursion)
        return;
    uint64_t *bytes = ARENA_ARRAY(arena, uint64_t, module->function_count);
    uint32_t *depth = ARENA_ARRAY(arena, uint32_t, module->function_count);
    measure_calls(linked, bytes, depth);
    linked->local_bytes = bytes[linked->kernel->index];
    linked->call_depth = depth[linked->kernel->index];
}
