/* SPDX-License-Identifier: Apache-2.0 */
/* Local memory: what the compiler put there for want of registers, told apart from what the program has there.
 *
 * Code that was made of PTX here says where spills begin. Of other native code this much is certain: local memory is reached by
 * a number, by the stack pointer, R1, and a number, or by an address that was computed. Where none is computed, and a stack
 * pointer goes nowhere else, no array is indexed, so what is there are values that found no register, those that calls save
 * among them. Where one is, an access by a number may be to an array as well: it is not clear. */
#include "study/why.h"

#include <string.h>

#include "result/lines.h"
#include "result/result.h"

#define NO_REGISTER UINT32_MAX

/* Whose registers and frame it has. */
static const struct function *root_of(const struct function *function) {
    return function->registers_of ? function->registers_of : function;
}

static uint32_t stack_pointer(const struct function *root) {
    for (uint32_t i = 0; root->reg_names && i < root->reg_count; i++)
        if (root->reg_names[i] && strcmp(root->reg_names[i], "R1") == 0)
            return i;
    return NO_REGISTER;
}

static bool is_local(const struct inst *inst) {
    return (inst->op == OP_LD || inst->op == OP_ST) && inst->space == SPACE_LOCAL;
}

static const struct operand *address_of(const struct inst *inst) {
    for (unsigned i = 0; i < inst->src_count; i++)
        if (inst->src[i].kind == OPERAND_ADDRESS)
            return &inst->src[i];
    return NULL;
}

/* A number, or the stack pointer and a number. */
static bool is_fixed(const struct inst *inst, uint32_t pointer) {
    const struct operand *address = address_of(inst);
    return address && (!address->has_reg || (address->reg == pointer && !address->is_pair));
}

static bool reads(const struct operand *operand, uint32_t pointer) {
    return operand_registers(operand) && operand->reg <= pointer && pointer < operand->reg + operand_registers(operand);
}

struct frame_use {
    bool indexed; /* local memory is accessed by an address that was computed */
    bool based;   /* it is by the stack pointer and a number, so that R1 is one */
    bool escapes; /* R1 goes elsewhere, where an address may be made of it */
};

static void look_at(const struct inst *inst, uint32_t pointer, struct frame_use *use) {
    const struct operand *address = is_local(inst) ? address_of(inst) : NULL;
    const bool moves = inst->dst_count == 1 && inst->dst[0].kind == OPERAND_REG && inst->dst[0].reg == pointer;
    use->indexed |= is_local(inst) && !is_fixed(inst, pointer);
    use->based |= address && address->has_reg && address->reg == pointer;
    for (unsigned i = 0; pointer != NO_REGISTER && !moves && i < inst->src_count; i++)
        use->escapes |= reads(&inst->src[i], pointer) && &inst->src[i] != address;
}

static enum why_local kind_of(const struct inst *inst, const struct function *root, uint32_t pointer,
                              const struct frame_use *use) {
    const struct operand *address = address_of(inst);
    if (!is_fixed(inst, pointer))
        return WHY_LOCAL_PROGRAM;
    if (root->spills_from)
        return !address->has_reg && address->imm >= root->spills_from ? WHY_LOCAL_SPILL : WHY_LOCAL_PROGRAM;
    return use->indexed || (use->based && use->escapes) ? WHY_LOCAL_UNCLEAR : WHY_LOCAL_SPILL;
}

/* The code that has the root's registers. */
static void tell_root(const struct module *module, const struct function *root, uint8_t *kinds) {
    const uint32_t pointer = stack_pointer(root);
    struct frame_use use = {false, false, false};
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned f = 0; f < module->function_count; f++) {
            const struct function *function = module->functions[f];
            for (uint32_t pc = function->first_pc; root_of(function) == root && pc < function->end_pc; pc++)
                if (pass == 0)
                    look_at(&module->code[pc], pointer, &use);
                else if (is_local(&module->code[pc]))
                    kinds[pc] = (uint8_t)kind_of(&module->code[pc], root, pointer, &use);
        }
}

const uint8_t *why_tell_local(const struct module *module, struct arena *arena) {
    uint8_t *kinds = ARENA_ARRAY(arena, uint8_t, module->code_count + 1u);
    for (uint32_t pc = 0; !module->mnemonics && pc < module->code_count; pc++)
        kinds[pc] = is_local(&module->code[pc]) ? WHY_LOCAL_PROGRAM : WHY_LOCAL_NONE;
    for (unsigned f = 0; module->mnemonics && f < module->function_count; f++)
        if (root_of(module->functions[f]) == module->functions[f] && module->functions[f]->is_defined)
            tell_root(module, module->functions[f], kinds);
    return kinds;
}

bool why_may_spill(const struct run *base, struct arena *arena) {
    return memchr(why_tell_local(base->module, arena), WHY_LOCAL_SPILL, base->module->code_count) != NULL;
}

/* Lines have few instructions, and kernels few lines that spill. */
static void find_most(const struct run *base, const uint64_t *spilled, struct why_spills *out) {
    const struct module *module = base->module;
    uint64_t most = 0;
    for (uint32_t pc = 0; pc < module->code_count; pc++) {
        unsigned file, other;
        uint32_t line, other_line;
        uint64_t sum = 0;
        if (!spilled[pc])
            continue;
        lines_of(module, pc, &file, &line);
        for (uint32_t at = pc; at < module->code_count; at++) {
            if (!spilled[at])
                continue;
            lines_of(module, at, &other, &other_line);
            sum += file == other && line == other_line ? spilled[at] : 0;
        }
        if (sum <= most)
            continue;
        most = sum;
        const struct function *function = module_function_at(module, pc);
        out->file = file, out->line = line;
        out->kernel = function ? root_of(function)->name : "";
        out->registers = function ? root_of(function)->live_registers : 0;
    }
}

void why_look_at_spills(const struct run *base, struct why_spills *out, struct arena *arena) {
    const struct module *module = base->module;
    const uint8_t *kinds = why_tell_local(module, arena);
    const struct inst_stats *instructions = result_total_instructions(base, NULL, arena);
    uint64_t *spilled = ARENA_ARRAY(arena, uint64_t, module->code_count + 1u);
    struct gpu_stats timed;
    *out = (struct why_spills){0};
    result_total_timed(base, NULL, &timed, arena);
    for (uint32_t pc = 0; pc < module->code_count; pc++) {
        const uint64_t issues = module->code[pc].flags & FLAG_PART ? 0 : instructions[pc].issues;
        out->instructions += issues;
        out->of_kind[kinds[pc]] += kinds[pc] ? issues : 0;
        out->transactions += timed.instructions[pc].transactions;
        if (kinds[pc] != WHY_LOCAL_SPILL)
            continue;
        spilled[pc] = issues;
        out->spilled += timed.instructions[pc].transactions;
    }
    find_most(base, spilled, out);
}
