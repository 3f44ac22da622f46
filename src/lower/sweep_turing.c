/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of sm_75 on that nobody needs: halves of pairs, carries, sums with nothing. A unit is needed where an instruction
 * that is needed reads it, so values that only lead to themselves around a loop go too. */
#include "lower/machine_turing.h"

struct turing_sweep {
    struct machine_kernel *machine;
    uint8_t *needed; /* by unit */
    bool changed;
};

static unsigned words_of(const struct machine_inst *inst, unsigned operand) {
    return inst->widths[operand] ? inst->widths[operand] : 1;
}

static bool has_effect(const struct machine_inst *inst) {
    const struct turing_row *row = turing_row(inst->turing->row);
    switch ((enum turing_unit)row->unit) {
    case TURING_UNIT_ALU:
    case TURING_UNIT_FMA:
    case TURING_UNIT_FP64:
    case TURING_UNIT_HALF:
    case TURING_UNIT_XU:
    case TURING_UNIT_XU_WIDE: break;
    default: return inst->turing->row != TURING_S2R;
    }
    bool writes = false;
    for (unsigned k = 0; row->operands[k].shape; k++)
        writes |= inst->units[k] != NO_UNIT &&
                  (row->operands[k].shape == TURING_SHAPE_OUT ||
                   (row->operands[k].shape == TURING_SHAPE_REGISTER && row->operands[k].at == 16));
    return !writes || inst->turing->row == TURING_VOTE;
}

static bool is_needed(const struct turing_sweep *sweep, const struct machine_inst *inst, unsigned operand) {
    for (unsigned w = 0; inst->units[operand] != NO_UNIT && w < words_of(inst, operand); w++)
        if (sweep->needed[inst->units[operand] + w])
            return true;
    return false;
}

static bool has_use(const struct turing_sweep *sweep, const struct machine_inst *inst) {
    if (has_effect(inst))
        return true;
    for (unsigned k = 0; k < inst->native.operand_count; k++)
        if (machine_writes(sweep->machine, inst, k) && is_needed(sweep, inst, k))
            return true;
    return false;
}

static void need(struct turing_sweep *sweep, uint32_t unit) {
    sweep->changed |= !sweep->needed[unit];
    sweep->needed[unit] = 1;
}

/* IMAD.WIDE of which the lower word is all that counts. */
static bool is_narrow(const struct turing_sweep *sweep, const struct machine_inst *inst) {
    return inst->turing->row == TURING_IMAD_WIDE && inst->units[0] != NO_UNIT && inst->units[1] == NO_UNIT &&
           turing_modifier(inst->turing, TURING_WORDS_X) != 1 && !sweep->needed[inst->units[0] + 1];
}

static void mark_block(struct turing_sweep *sweep, const struct machine_block *block) {
    for (unsigned i = block->code.count; i-- > 0;) {
        const struct machine_inst *inst = &block->code.items[i];
        if (!has_use(sweep, inst))
            continue;
        const unsigned most = is_narrow(sweep, inst) ? 1 : MACHINE_OPERANDS_MAX;
        for (unsigned k = 0; k < inst->native.operand_count; k++)
            for (unsigned w = 0; inst->units[k] != NO_UNIT && w < words_of(inst, k) && w < most; w++)
                if (!machine_writes(sweep->machine, inst, k))
                    need(sweep, inst->units[k] + w);
        if (inst->guard != NO_UNIT)
            need(sweep, inst->guard);
    }
    if (block->end == END_BRANCH && block->predicate != NO_UNIT)
        need(sweep, block->predicate);
}

/* ---- sums and products with nothing ---- */

static bool is_zero(const struct machine_inst *inst, unsigned operand) {
    const struct turing_operand *at = &inst->turing->operands[operand];
    return inst->units[operand] == NO_UNIT && at->kind == TURING_REGISTER && at->reg == TURING_RZ && !at->inverted;
}

static void make_move(struct machine_kernel *machine, struct machine_inst *inst, unsigned from) {
    struct turing_inst *move = ARENA_NEW(machine->arena, struct turing_inst);
    *move = turing_standard(TURING_MOV, machine->sm);
    move->operands[1] = inst->turing->operands[from];
    if (move->operands[1].kind == TURING_IMMEDIATE) /* sums have it with a sign */
        move->operands[1].value = (uint32_t)move->operands[1].value;
    const uint32_t source = inst->units[from];
    for (unsigned k = 1; k < MACHINE_OPERANDS_MAX; k++)
        inst->units[k] = NO_UNIT, inst->widths[k] = 0;
    inst->units[1] = source;
    inst->turing = move;
    inst->native.row = TURING_MOV;
    inst->native.operand_count = 0;
    while (turing_row(TURING_MOV)->operands[inst->native.operand_count].shape)
        inst->native.operand_count++;
}

static void make_narrow(struct machine_kernel *machine, struct machine_inst *inst) {
    struct turing_inst *narrow = ARENA_NEW(machine->arena, struct turing_inst);
    *narrow = turing_standard(TURING_IMAD, machine->sm);
    for (unsigned k = 2; k <= 4; k++)
        narrow->operands[k] = inst->turing->operands[k];
    for (unsigned k = 0; k < MACHINE_OPERANDS_MAX; k++)
        inst->widths[k] = 0;
    inst->turing = narrow;
    inst->native.row = TURING_IMAD;
}

/* The operand that is all of an IADD3 or IMAD; 0: it is more than a copy. */
static unsigned all_of(const struct machine_inst *inst) {
    const struct turing_inst *turing = inst->turing;
    if ((turing->row != TURING_IADD3 && turing->row != TURING_IMAD) || turing_modifier(turing, TURING_WORDS_X) == 1 ||
        inst->units[1] != NO_UNIT || inst->units[0] == NO_UNIT)
        return 0;
    unsigned from = 0;
    if (turing->row == TURING_IMAD)
        from = is_zero(inst, 2) || is_zero(inst, 3) ? 4 : 0;
    else if (inst->units[2] == NO_UNIT)
        for (unsigned k = 3; k < 6; k++)
            from = is_zero(inst, k == 3 ? 4 : 3) && is_zero(inst, k == 5 ? 4 : 5) ? k : from;
    const bool is_plain = from && !turing->operands[from].negated && !turing->operands[from].inverted;
    return is_plain ? from : 0;
}

static void sweep_block(struct turing_sweep *sweep, struct machine_block *block) {
    unsigned kept = 0;
    for (unsigned i = 0; i < block->code.count; i++) {
        struct machine_inst inst = block->code.items[i];
        if (!has_use(sweep, &inst))
            continue;
        for (unsigned k = 1; k < inst.native.operand_count; k++) /* carries */
            if (turing_row(inst.turing->row)->operands[k].shape == TURING_SHAPE_OUT &&
                (inst.turing->row == TURING_IADD3 || inst.turing->row == TURING_LEA) && !is_needed(sweep, &inst, k))
                inst.units[k] = NO_UNIT;
        if (is_narrow(sweep, &inst))
            make_narrow(sweep->machine, &inst);
        const unsigned from = all_of(&inst);
        if (from)
            make_move(sweep->machine, &inst, from);
        block->code.items[kept++] = inst;
    }
    block->code.count = kept;
}

void sweep_turing(struct machine_kernel *machine) {
    struct arena arena = {.escape = machine->arena->escape};
    struct turing_sweep sweep = {.machine = machine,
                                 .needed = ARENA_ARRAY(&arena, uint8_t, machine->units.count + 1u),
                                 .changed = true};
    while (sweep.changed) {
        sweep.changed = false;
        for (uint32_t b = machine->blocks.count; b-- > 0;)
            mark_block(&sweep, &machine->blocks.items[b]);
    }
    for (uint32_t b = 0; b < machine->blocks.count; b++)
        sweep_block(&sweep, &machine->blocks.items[b]);
    arena_free(&arena);
}
