/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of sm_75 on for the passes between selection and layout: made with all places at rest, and what spilling and
 * the shaping of loops need of them. */
#include "lower/machine_turing.h"

#include "sass/turing_coder.h"

/* What a field holds where nothing is written for it. */
static uint8_t resting_word(const struct turing_field *field, unsigned arch) {
    if (!(field->archs & arch))
        return TURING_NO_WORD;
    const unsigned bits = turing_words_bits(field->words);
    for (unsigned value = 0; value < 1u << bits; value++) {
        const char *text = turing_words_text(field->words, value);
        if (text && !*text)
            return (uint8_t)value;
    }
    return 0;
}

static struct turing_operand resting_operand(const struct turing_place *place, bool is_uniform) {
    struct turing_operand operand = {.kind = TURING_REGISTER, .reg = TURING_RZ};
    switch ((enum turing_shape)place->shape) {
    case TURING_SHAPE_UNIFORM: operand.kind = TURING_UNIFORM, operand.reg = TURING_URZ; break;
    case TURING_SHAPE_A:
    case TURING_SHAPE_B:
    case TURING_SHAPE_C:
    case TURING_SHAPE_BC:
        if (is_uniform)
            operand.kind = TURING_UNIFORM, operand.reg = TURING_URZ;
        break;
    case TURING_SHAPE_OUT:
    case TURING_SHAPE_IN:
    case TURING_SHAPE_EITHER:
    case TURING_SHAPE_LOADS:
        operand.kind = is_uniform || place->type ? TURING_UPREDICATE : TURING_PREDICATE, operand.reg = TURING_PT;
        operand.inverted = place->shape == TURING_SHAPE_IN && place->absence == TURING_DEFAULTS && place->when;
        break;
    case TURING_SHAPE_PREDICATES: operand.kind = TURING_PREDICATES; break;
    case TURING_SHAPE_IMMEDIATE: operand.kind = TURING_IMMEDIATE, operand.value = place->type; break;
    case TURING_SHAPE_LUT: operand.kind = TURING_IMMEDIATE; break;
    case TURING_SHAPE_NAMED: operand.kind = TURING_NAMED; break;
    case TURING_SHAPE_BARRIER: operand.kind = TURING_BARRIER, operand.reg = 0; break;
    case TURING_SHAPE_TARGET: operand.kind = TURING_TARGET; break;
    case TURING_SHAPE_MASK: operand.kind = TURING_NONE; break;
    case TURING_SHAPE_CONSTANT:
    case TURING_SHAPE_CONSTANT_INDEXED: operand.kind = TURING_CONSTANT; break;
    case TURING_SHAPE_MEMORY: operand.kind = TURING_MEMORY; break;
    default: break;
    }
    return operand;
}

struct turing_inst turing_standard(enum turing_row_id row, unsigned sm) {
    const struct turing_row *table = turing_row(row);
    struct turing_inst inst = {.row = (uint16_t)row, .guard = TURING_PT};
    inst.control = (struct turing_control){.write_barrier = TURING_NO_BARRIER, .read_barrier = TURING_NO_BARRIER};
    for (unsigned i = 0; table->modifiers[i].words; i++)
        inst.modifiers[i] = resting_word(&table->modifiers[i], turing_arch(sm));
    for (unsigned i = 0; table->operands[i].shape; i++)
        inst.operands[i] = resting_operand(&table->operands[i], table->unit == TURING_UNIT_UNIFORM);
    if (row == TURING_LOP3)
        inst.operands[6].inverted = true;
    return inst;
}

void turing_set_word(struct turing_inst *inst, enum turing_words words, unsigned value) {
    const struct turing_field *fields = turing_row(inst->row)->modifiers;
    for (unsigned i = 0; fields[i].words; i++)
        if (fields[i].words == words && inst->modifiers[i] != TURING_NO_WORD)
            inst->modifiers[i] = (uint8_t)value;
}

/* Where the one that is no register stands. */
void turing_set_form(struct turing_inst *inst) {
    const struct turing_row *row = turing_row(inst->row);
    unsigned form = 0;
    bool is_memory = false, is_uniform = false;
    for (unsigned i = 0; row->operands[i].shape; i++) {
        const struct turing_operand *operand = &inst->operands[i];
        const enum turing_shape shape = (enum turing_shape)row->operands[i].shape;
        is_memory |= shape == TURING_SHAPE_MEMORY;
        is_uniform |= shape == TURING_SHAPE_MEMORY && operand->uniform;
        const bool is_c = shape == TURING_SHAPE_C || shape == TURING_SHAPE_BC;
        if (shape != TURING_SHAPE_B && !is_c)
            continue;
        if (operand->kind == TURING_IMMEDIATE)
            form = is_c ? 2 : 4;
        else if (operand->kind == TURING_CONSTANT)
            form = is_c ? 3 : 5;
        else if (operand->kind == TURING_UNIFORM && row->unit != TURING_UNIT_UNIFORM)
            form = is_c ? 7 : 6;
    }
    if (!form)
        form = is_memory && is_uniform ? 4 : 1;
    while (!(row->forms >> form & 1) && form < 7) /* rows that have one form alone */
        form++;
    inst->form = (uint8_t)form;
    for (unsigned i = 0; i < TURING_MODIFIERS_MAX && row->modifiers[i].words && form != 1; i++)
        if (row->modifiers[i].when == TURING_WHEN_FORM_1)
            inst->modifiers[i] = TURING_NO_WORD;
}

struct machine_inst *machine_turing(struct machine_kernel *machine, uint32_t block, enum turing_row_id row,
                                    const struct inst *at) {
    struct machine_inst *inst = machine_inst_new(machine, block, row, at);
    inst->turing = ARENA_NEW(machine->arena, struct turing_inst);
    *inst->turing = turing_standard(row, machine->sm);
    while (turing_row(row)->operands[inst->native.operand_count].shape)
        inst->native.operand_count++;
    return inst;
}

void machine_put_unit(struct machine_inst *inst, unsigned place, uint32_t unit) { inst->units[place] = unit; }

void machine_put_number(struct machine_inst *inst, unsigned place, int64_t value) {
    inst->turing->operands[place] = (struct turing_operand){.kind = TURING_IMMEDIATE, .value = value};
}

/* ---- spilling ---- */

void turing_emit_local(struct machine_kernel *machine, uint32_t block, const struct turing_transfer *transfer,
                       const struct inst *at) {
    struct machine_inst *inst = machine_turing(machine, block, transfer->is_load ? TURING_LDL : TURING_STL, at);
    const unsigned value = transfer->is_load ? 0 : 1, address = 1 - value;
    inst->turing->operands[address].value = transfer->place;
    inst->widths[value] = (uint8_t)transfer->width;
    machine_put_unit(inst, value, transfer->unit);
    turing_set_word(inst->turing, TURING_WORDS_SIZE, transfer->width == 1 ? 4 : transfer->width == 2 ? 5 : 6);
}

void turing_emit_test(struct machine_kernel *machine, uint32_t block, uint32_t predicate, uint32_t word, uint32_t value,
                      bool is_equal) {
    struct machine_inst *inst = machine_turing(machine, block, TURING_ISETP, machine->blocks.items[block].at);
    machine_put_unit(inst, 0, predicate);
    machine_put_unit(inst, 2, word);
    machine_put_number(inst, 3, value);
    turing_set_word(inst->turing, TURING_WORDS_COMPARE, is_equal ? TURING_COMPARE_EQ : TURING_COMPARE_NE);
    turing_set_word(inst->turing, TURING_WORDS_SIGNED, 0);
}

void turing_emit_keep(struct machine_kernel *machine, uint32_t block, uint32_t predicate, uint32_t word,
                      const struct inst *at) {
    struct machine_inst *inst = machine_turing(machine, block, TURING_SEL, at);
    machine_put_unit(inst, 0, word);
    machine_put_number(inst, 2, 1);
    machine_put_unit(inst, 3, predicate);
    inst->turing->operands[3].inverted = true;
}

void turing_emit_number(struct machine_kernel *machine, uint32_t block, uint32_t unit, uint32_t value) {
    struct machine_inst *inst = machine_turing(machine, block, TURING_MOV, machine->blocks.items[block].at);
    machine_put_unit(inst, 0, unit);
    machine_put_number(inst, 1, value);
}
