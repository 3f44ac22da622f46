/* SPDX-License-Identifier: Apache-2.0 */
#include "lower/machine.h"

uint32_t machine_unit(struct machine_kernel *machine, bool is_predicate) {
    *ARENA_PUSH(machine->arena, &machine->units) = (struct register_unit){.is_predicate = is_predicate};
    return machine->units.count - 1;
}

bool machine_group(struct machine_kernel *machine, const uint32_t *units, unsigned count) {
    struct register_unit *items = machine->units.items;
    const uint32_t leader = items[units[0]].leader;
    const unsigned index = items[units[0]].index, size = items[units[0]].size;
    bool same = size >= count && index % count == 0 && (size == count || machine->isa == NATIVE_TURING);
    for (unsigned i = 1; i < count && same; i++)
        same = items[units[i]].size == size && items[units[i]].leader == leader && items[units[i]].index == index + i;
    if (same)
        return true;
    for (unsigned i = 0; i < count; i++)
        if (items[units[i]].size || units[i] != units[0] + i)
            return false;
    for (unsigned i = 0; i < count; i++) {
        items[units[i]].leader = units[0];
        items[units[i]].index = (uint8_t)i;
        items[units[i]].size = (uint8_t)count;
    }
    return true;
}

struct machine_inst *machine_inst_new(struct machine_kernel *machine, uint32_t block, unsigned row,
                                      const struct inst *at) {
    struct machine_inst *inst = ARENA_PUSH(machine->arena, &machine->blocks.items[block].code);
    *inst = (struct machine_inst){.guard = NO_UNIT, .at = at};
    inst->native.row = (uint16_t)row;
    inst->native.bytes = 8;
    for (unsigned i = 0; i < MACHINE_OPERANDS_MAX; i++)
        inst->units[i] = NO_UNIT;
    return inst;
}

void machine_modify(const struct machine_kernel *machine, struct machine_inst *inst, enum native_slot slot,
                    enum native_modifier modifier) {
    const struct native_form *form = native_form(machine->isa, inst->native.row);
    for (unsigned i = 0; i < NATIVE_SLOTS_MAX; i++)
        if (form->slots[i] == slot && inst->native.modifiers[i] == MODIFIER_NONE) {
            inst->native.modifiers[i] = (uint8_t)modifier;
            return;
        }
}

void machine_operand(struct machine_inst *inst, struct native_operand operand, uint32_t unit) {
    inst->units[inst->native.operand_count] = unit;
    inst->native.operands[inst->native.operand_count++] = operand;
}

void machine_set_register(struct machine_inst *inst, unsigned n, unsigned reg) {
    if (inst->turing)
        inst->turing->operands[n].reg = (uint8_t)reg;
    else
        inst->native.operands[n].reg = (uint8_t)reg;
}

unsigned machine_register(const struct machine_inst *inst, unsigned n) {
    return inst->turing ? inst->turing->operands[n].reg : inst->native.operands[n].reg;
}

bool machine_is_copy(const struct machine_kernel *machine, const struct machine_inst *inst) {
    if (inst->native.guard != GUARD_NONE || inst->units[0] == NO_UNIT || inst->units[1] == NO_UNIT)
        return false;
    if (inst->turing)
        return inst->turing->row == TURING_MOV && inst->turing->operands[1].kind == TURING_REGISTER;
    const unsigned move = machine->isa == NATIVE_FERMI ? (unsigned)FERMI_MOV : (unsigned)TESLA_MOV;
    return inst->native.row == move && !inst->native.pops && inst->native.operands[0].kind == NATIVE_REG &&
           inst->native.operands[1].kind == NATIVE_REG && !inst->native.operands[1].half &&
           inst->native.modifiers[0] == MODIFIER_NONE && inst->native.modifiers[1] == MODIFIER_NONE;
}

bool machine_writes(const struct machine_kernel *machine, const struct machine_inst *inst, unsigned operand) {
    bool written, optional;
    if (inst->turing) {
        const struct turing_place *place = &turing_row(inst->turing->row)->operands[operand];
        return place->shape == TURING_SHAPE_OUT || (place->shape == TURING_SHAPE_REGISTER && place->at == 16);
    }
    native_shape(native_form(machine->isa, inst->native.row), operand, &written, &optional);
    return written;
}
