/* SPDX-License-Identifier: Apache-2.0 */
/* Reuse flags for sm_75 on: a register that the next instruction reads as the same operand stays in the operand cache, and takes no
 * port of the register file again. Arithmetic alone has that cache; a warp that comes between destroys what it holds, which
 * costs the port and nothing else. */
#include "lower/layout_turing.h"

/* An operand that goes through the cache as one register; 0: it does not. */
static unsigned slot_of(const struct turing_inst *inst, unsigned operand) {
    const enum turing_unit unit = (enum turing_unit)turing_row(inst->row)->unit;
    const bool is_pair = inst->row == TURING_IMAD_WIDE && operand == 4;
    if ((unit != TURING_UNIT_ALU && unit != TURING_UNIT_FMA && unit != TURING_UNIT_HALF) || is_pair ||
        inst->operands[operand].reg == TURING_RZ || turing_row(inst->row)->operands[operand].at == 16)
        return 0;
    return turing_reuse(inst, operand);
}

static bool reads_in_slot(const struct turing_inst *inst, unsigned slot, unsigned reg) {
    for (unsigned k = 0; turing_row(inst->row)->operands[k].shape; k++)
        if (slot_of(inst, k) == slot && inst->operands[k].reg == reg)
            return true;
    return false;
}

static bool writes_register(const struct turing_inst *inst, unsigned reg) {
    for (unsigned k = 0; turing_row(inst->row)->operands[k].shape; k++) {
        const struct turing_operand *operand = &inst->operands[k];
        const struct turing_place *place = &turing_row(inst->row)->operands[k];
        if (operand->kind == TURING_REGISTER && place->shape == TURING_SHAPE_REGISTER && place->at == 16 &&
            reg >= operand->reg && reg <= operand->reg + (inst->row == TURING_IMAD_WIDE ? 1u : 0u))
            return true;
    }
    return false;
}

void turing_give_reuse(struct turing_code *code) {
    uint8_t *leads = ARENA_ARRAY(code->arena, uint8_t, code->code.count + 1u);
    for (unsigned i = 0; i < code->code.count; i++)
        if (code->targets.items[i] != NO_BLOCK)
            leads[code->targets.items[i]] = 1;
    for (unsigned i = 0; i + 1 < code->code.count; i++) {
        struct turing_inst *inst = &code->code.items[i];
        for (unsigned k = 0; turing_row(inst->row)->operands[k].shape && !leads[i + 1]; k++) {
            const unsigned slot = slot_of(inst, k), reg = inst->operands[k].reg;
            if (slot && !writes_register(inst, reg) && reads_in_slot(&code->code.items[i + 1], slot, reg))
                inst->control.reuse |= (uint8_t)slot;
        }
    }
}
