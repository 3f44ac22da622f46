/* SPDX-License-Identifier: Apache-2.0 */
/* Spilled units in local memory: instructions get temporaries in their place, with loads before and stores behind. */
#include "lower/allocate.h"
#include "lower/machine_turing.h"

/* The kernel that is rewritten. */
struct spilling {
    struct machine_kernel *machine;
    const struct spill *spills;
    uint32_t known; /* units that there are spills for: temporaries come behind them */
    uint32_t block; /* that instructions are put into */
};

/* A spilled operand and what takes its place in an instruction. */
struct stand_in {
    uint32_t unit, temporary;
    unsigned width;
    bool written;
};

static void emit_local(const struct spilling *s, const struct stand_in *operand, bool load, const struct inst *at) {
    struct machine_kernel *machine = s->machine;
    const uint32_t place = s->spills[operand->unit].place;
    const unsigned width = operand->width;
    if (machine->isa == NATIVE_TURING) {
        const struct turing_transfer transfer = {load, operand->temporary, place, width};
        turing_emit_local(machine, s->block, &transfer, at);
        return;
    }
    const bool fermi = machine->isa == NATIVE_FERMI;
    const unsigned row =
        fermi ? (load ? (unsigned)FERMI_LDL : (unsigned)FERMI_STL) : (load ? (unsigned)TESLA_LLD : (unsigned)TESLA_LST);
    struct machine_inst *inst = machine_inst_new(machine, s->block, row, at);
    const struct native_operand value = {.kind = NATIVE_REG};
    const struct native_operand address = {.kind = NATIVE_MEMORY, .reg = fermi ? FERMI_RZ : TESLA_ZERO, .value = place};
    if (load)
        inst->widths[0] = (uint8_t)width, machine_operand(inst, value, operand->temporary);
    machine_operand(inst, address, NO_UNIT);
    if (!load)
        inst->widths[1] = (uint8_t)width, machine_operand(inst, value, operand->temporary);
    if (fermi && width > 1)
        machine_modify(machine, inst, NATIVE_SLOT_WIDTH, width == 2 ? MODIFIER_W64 : MODIFIER_W128);
    if (!fermi)
        machine_modify(machine, inst, NATIVE_SLOT_WIDTH_TESLA,
                       width == 1   ? MODIFIER_U32
                       : width == 2 ? MODIFIER_W64
                                    : MODIFIER_W128);
}

/* Predicates are kept in a word: 1 or 0. */
static void emit_keep(const struct spilling *s, const struct stand_in *operand, bool load, const struct inst *at) {
    struct machine_kernel *machine = s->machine;
    const uint32_t word = s->spills[operand->unit].place, predicate = operand->temporary;
    const struct native_operand pt = {.kind = NATIVE_PREDICATE, .reg = FERMI_PT};
    const struct native_operand zero = {.kind = NATIVE_REG, .reg = FERMI_RZ}, reg = {.kind = NATIVE_REG};
    if (machine->isa == NATIVE_TURING) {
        if (load)
            turing_emit_test(machine, s->block, predicate, word, 0, false);
        else
            turing_emit_keep(machine, s->block, predicate, word, at);
        return;
    }
    if (load) {
        struct machine_inst *inst = machine_inst_new(machine, s->block, FERMI_ISETP, at);
        machine_operand(inst, (struct native_operand){.kind = NATIVE_PREDICATE}, predicate);
        machine_operand(inst, pt, NO_UNIT);
        machine_operand(inst, reg, word);
        machine_operand(inst, zero, NO_UNIT);
        machine_operand(inst, pt, NO_UNIT);
        machine_modify(machine, inst, NATIVE_SLOT_COMPARE, MODIFIER_NE);
        machine_modify(machine, inst, NATIVE_SLOT_UNSIGNED, MODIFIER_U32);
        machine_modify(machine, inst, NATIVE_SLOT_BOOL, MODIFIER_AND);
        return;
    }
    struct machine_inst *inst = machine_inst_new(machine, s->block, FERMI_SEL, at);
    machine_operand(inst, reg, word);
    machine_operand(inst, zero, NO_UNIT);
    machine_operand(inst, (struct native_operand){.kind = NATIVE_IMMEDIATE, .value = 1}, NO_UNIT);
    machine_operand(inst, (struct native_operand){.kind = NATIVE_PREDICATE, .inverted = true}, predicate);
}

static uint32_t temporary_for(struct machine_kernel *machine, uint32_t unit, unsigned width) {
    uint32_t units[4];
    for (unsigned i = 0; i < width; i++) {
        units[i] = machine_unit(machine, machine->units.items[unit].is_predicate);
        machine->units.items[units[i]].is_temporary = true;
    }
    if (width > 1)
        machine_group(machine, units, width);
    return units[0];
}

/* The operand's value from where it is kept, or to there. */
static void emit_transfer(const struct spilling *s, const struct stand_in *operand, bool load, const struct inst *at) {
    if (s->machine->units.items[operand->unit].is_predicate)
        emit_keep(s, operand, load, at);
    else
        emit_local(s, operand, load, at);
}

static bool is_spilled(const struct spilling *s, uint32_t unit) {
    return unit != NO_UNIT && unit < s->known && s->spills[unit].place;
}

/* An instruction with its spilled operands in temporaries: loads before it, stores behind. */
static void rewrite_inst(const struct spilling *s, struct machine_inst inst) {
    struct machine_kernel *machine = s->machine;
    struct stand_in used[MACHINE_OPERANDS_MAX + 1];
    unsigned count = 0;
    const bool keeps = keeps_old(&inst);
    for (unsigned i = 0; i <= inst.native.operand_count; i++) {
        const bool is_guard = i == inst.native.operand_count;
        uint32_t *unit = is_guard ? &inst.guard : &inst.units[i];
        if (!is_spilled(s, *unit))
            continue;
        const unsigned width = is_guard ? 1 : width_of(&inst, i);
        const bool written = !is_guard && machine_writes(machine, &inst, i);
        unsigned k = 0;
        while (k < count && (used[k].unit != *unit || used[k].width != width))
            k++;
        if (k == count) {
            used[count++] = (struct stand_in){*unit, temporary_for(machine, *unit, width), width, false};
            if (!written || keeps)
                emit_transfer(s, &used[k], true, inst.at);
        } else if (!written && used[k].written) {
            emit_transfer(s, &used[k], true, inst.at);
        }
        used[k].written = used[k].written || written;
        *unit = used[k].temporary;
    }
    *ARENA_PUSH(machine->arena, &machine->blocks.items[s->block].code) = inst;
    for (unsigned k = 0; k < count; k++)
        if (used[k].written)
            emit_transfer(s, &used[k], false, inst.at);
}

void allocate_rewrite(struct machine_kernel *machine, const struct spill *spills, uint32_t known) {
    struct spilling s = {.machine = machine, .spills = spills, .known = known};
    for (uint32_t b = 0; b < machine->blocks.count; b++) {
        const struct machine_block old = machine->blocks.items[b];
        machine->blocks.items[b].code.items = NULL;
        machine->blocks.items[b].code.count = machine->blocks.items[b].code.capacity = 0;
        s.block = b;
        for (unsigned i = 0; i < old.code.count; i++)
            rewrite_inst(&s, old.code.items[i]);
        if (old.end == END_BRANCH && is_spilled(&s, old.predicate)) {
            const struct stand_in operand = {old.predicate, temporary_for(machine, old.predicate, 1), 1, false};
            emit_transfer(&s, &operand, true, old.at);
            machine->blocks.items[b].predicate = operand.temporary;
        }
    }
}
