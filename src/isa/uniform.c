/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/uniform.h"

#include "isa/module.h"

enum { WORD_BITS = 64 };

/* Registers of a function are numbered from 0 on. */
uint32_t uniform_words(const struct inst *code, uint32_t count) {
    uint32_t last = 0;
    for (uint32_t pc = 0; pc < count; pc++) {
        const struct inst *inst = &code[pc];
        if (inst->guard >= 0 && (uint32_t)inst->guard > last)
            last = (uint32_t)inst->guard;
        for (unsigned i = 0; i < inst->dst_count + inst->src_count; i++) {
            const struct operand *operand = i < inst->dst_count ? &inst->dst[i] : &inst->src[i - inst->dst_count];
            const unsigned registers = operand_registers(operand);
            if (registers && operand->reg + registers - 1 > last)
                last = operand->reg + registers - 1;
        }
    }
    return last / WORD_BITS + 1;
}

static bool has(const uint64_t *bits, uint32_t reg) { return (bits[reg / WORD_BITS] >> reg % WORD_BITS & 1) != 0; }

static bool is_special_of_block(uint32_t special) {
    return (special >= SPECIAL_NTID_X && special <= SPECIAL_NCTAID_Z) ||
           (special >= SPECIAL_NWARPID && special <= SPECIAL_GRIDID) || special >= SPECIAL_DYNAMIC_SMEM_SIZE;
}

static bool is_same(const uint64_t *bits, const struct operand *operand) {
    switch (operand->kind) {
    case OPERAND_REG: return has(bits, operand->reg) && (!operand->is_pair || has(bits, operand->reg + 1));
    case OPERAND_SPECIAL: return is_special_of_block(operand->reg);
    case OPERAND_ADDRESS:
        return !operand->has_reg || (has(bits, operand->reg) && (!operand->is_pair || has(bits, operand->reg + 1)));
    default: return true;
    }
}

/* Operations before the first of memory are functions of their operands (isa/ops.def), but for those with the carry. Beside
 * them loads of parameters and constants, which nobody writes, and branches. */
static bool is_function(const struct inst *inst) {
    if (inst->op == OP_LD)
        return inst->space == SPACE_CONST ||
               (inst->space == SPACE_PARAM && inst->src[0].symbol && !inst->src[0].symbol->in_frame);
    if (inst->op == OP_BRA)
        return inst->guard >= 0 && inst->mode == MODE_NONE && !(inst->flags & FLAG_POP);
    return inst->op < OP_LD && !(inst->flags & (FLAG_CARRY_IN | FLAG_CARRY_OUT | FLAG_POP));
}

bool uniform_is_scalar(const uint64_t *bits, const struct inst *inst) {
    if (!is_function(inst) || (inst->guard >= 0 && !has(bits, (uint32_t)inst->guard)))
        return false;
    for (unsigned i = 0; i < inst->src_count; i++)
        if (!is_same(bits, &inst->src[i]))
            return false;
    return true;
}

void uniform_wrote(uint64_t *bits, const struct inst *inst, bool same) {
    for (unsigned i = 0; i < inst->dst_count; i++)
        for (uint32_t k = 0; k < operand_registers(&inst->dst[i]); k++) {
            const uint32_t reg = inst->dst[i].reg + k;
            const uint64_t bit = UINT64_C(1) << reg % WORD_BITS;
            uint64_t *word = &bits[reg / WORD_BITS];
            *word = same ? *word | bit : *word & ~bit;
        }
}
