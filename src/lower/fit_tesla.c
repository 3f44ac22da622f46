/* SPDX-License-Identifier: Apache-2.0 */
/* Tesla's code before it gets registers, made such that every instruction has an encoding: what lies in shared memory is the
 * first source, what lies in constants another one, numbers of guarded instructions are literals, and the thread's number
 * comes from R0. What has no place in an instruction goes to a register before it. */
#include "lower/machine_flow.h"
#include "lower/select.h"

enum {
    SHARED_LIMIT = 32,    /* words of g[] that a source reaches */
    CONSTANT_LIMIT = 128, /* words of c[] that a source reaches; copies reach more */
    COUNT_LIMIT = 128,    /* numbers of shifts */
    THREAD_Y_BIT = 16,    /* in R0 */
    THREAD_Y_MASK = 0x3ff,
    THREAD_Z_BIT = 26,
};

struct fitting {
    struct machine_kernel *machine;
    uint32_t block;  /* that instructions are put into */
    uint32_t thread; /* unit of the thread's number, NO_UNIT: nobody asks for it */
};

static void put(const struct fitting *f, const struct machine_inst *inst) {
    *ARENA_PUSH(f->machine->arena, &f->machine->blocks.items[f->block].code) = *inst;
}

static struct machine_inst begin(const struct machine_inst *from, enum tesla_row row) {
    struct machine_inst inst = {.guard = NO_UNIT, .at = from->at};
    inst.native.row = (uint16_t)row, inst.native.bytes = 8;
    for (unsigned i = 0; i < NATIVE_OPERANDS_MAX; i++)
        inst.units[i] = NO_UNIT;
    return inst;
}

static struct native_operand literal(const struct fitting *f, int64_t value) {
    return (struct native_operand){.kind = NATIVE_CONSTANT,
                                   .bank = TESLA_LITERALS,
                                   .reg = FERMI_RZ,
                                   .value = select_literal(f->machine, (uint32_t)value) / 4};
}

static struct native_operand number(uint32_t value) {
    return (struct native_operand){.kind = NATIVE_IMMEDIATE, .value = value};
}

/* ---- places ---- */

/* Whether the operand stands where its encoding has room for it. */
static bool fits(char place, const struct native_operand *operand) {
    switch ((enum native_kind)operand->kind) {
    case NATIVE_SHARED: return place == 'g' || place == 'l' || (place == '1' && operand->value < SHARED_LIMIT);
    case NATIVE_CONSTANT: return (place == '2' || place == '3') && operand->value < CONSTANT_LIMIT;
    case NATIVE_IMMEDIATE:
        return (place != '1' && place != '2' && place != '3' && place != 'n') ||
               (place == 'n' && operand->value >= 0 && operand->value < COUNT_LIMIT);
    default: return true;
    }
}

static char place_of(const struct machine_inst *inst, unsigned n) {
    return native_form(NATIVE_TESLA, inst->native.row)->places[n];
}

/* The operand in a register of its own: loads of shared memory under the guard, which may be there for their address. */
static void hoist(const struct fitting *f, struct machine_inst *inst, unsigned n) {
    struct native_operand *operand = &inst->native.operands[n], from = *operand;
    const bool is_shared = from.kind == NATIVE_SHARED, is_number = from.kind == NATIVE_IMMEDIATE;
    from.negated = from.absolute = from.inverted = false;
    struct machine_inst made = begin(inst, is_shared                      ? TESLA_G2R
                                           : is_number                    ? TESLA_MVI
                                           : from.kind == NATIVE_CONSTANT ? TESLA_MVC
                                                                          : TESLA_MOV);
    const uint32_t unit = machine_unit(f->machine, false);
    machine_operand(&made, (struct native_operand){.kind = NATIVE_REG}, unit);
    if (is_shared) {
        from.width = from.width ? from.width : MODIFIER_U32;
        made.native.modifiers[0] = from.width;
        made.native.guard = inst->native.guard, made.native.guard_reg = inst->native.guard_reg;
        made.native.guard_test = inst->native.guard_test;
        made.whole = true;
    }
    machine_operand(&made, from, NO_UNIT);
    put(f, &made);
    const bool is_half = from.kind == NATIVE_REG;
    *operand = (struct native_operand){.kind = NATIVE_REG,
                                       .half = is_half ? HALF_LOW : HALF_NONE,
                                       .negated = operand->negated,
                                       .absolute = operand->absolute,
                                       .inverted = operand->inverted};
    inst->units[n] = unit;
}

static enum native_modifier mirrored(enum native_modifier compare) {
    switch (compare) {
    case MODIFIER_LT: return MODIFIER_GT;
    case MODIFIER_GT: return MODIFIER_LT;
    case MODIFIER_LE: return MODIFIER_GE;
    case MODIFIER_GE: return MODIFIER_LE;
    case MODIFIER_LTU: return MODIFIER_GTU;
    case MODIFIER_GTU: return MODIFIER_LTU;
    case MODIFIER_LEU: return MODIFIER_GEU;
    case MODIFIER_GEU: return MODIFIER_LEU;
    default: return compare;
    }
}

static bool commutes(const struct machine_inst *inst) {
    switch ((enum tesla_row)inst->native.row) {
    case TESLA_IADD:
    case TESLA_IMIN:
    case TESLA_IMAX:
    case TESLA_ISET:
    case TESLA_FADD:
    case TESLA_FMUL:
    case TESLA_FMAD:
    case TESLA_FMIN:
    case TESLA_FMAX:
    case TESLA_FSET: return true;
    case TESLA_LOP: return inst->native.modifiers[0] != MODIFIER_PASS_B;
    default: return false;
    }
}

static void swap(struct machine_inst *inst) {
    struct native_operand *operands = inst->native.operands;
    const struct native_operand operand = operands[1];
    const uint32_t unit = inst->units[1];
    operands[1] = operands[2], inst->units[1] = inst->units[2];
    operands[2] = operand, inst->units[2] = unit;
    if (inst->native.row == TESLA_ISET || inst->native.row == TESLA_FSET)
        operands[3].reg = (uint8_t)mirrored(operands[3].reg);
}

static bool fits_swapped(const struct machine_inst *inst) {
    return fits(place_of(inst, 1), &inst->native.operands[2]) && fits(place_of(inst, 2), &inst->native.operands[1]);
}

/* R124 is beyond the registers that have halves. */
static bool is_half_of_zero(const struct machine_inst *inst, unsigned n) {
    const bool is_product = inst->native.row == TESLA_IMUL || inst->native.row == TESLA_IMAD;
    return is_product && n < 3 && inst->native.modifiers[0] == MODIFIER_U16 && inst->units[n] == NO_UNIT &&
           inst->native.operands[n].kind == NATIVE_REG;
}

static void fit_operands(const struct fitting *f, struct machine_inst *inst) {
    const struct native_form *form = native_form(NATIVE_TESLA, inst->native.row);
    struct native_operand *operands = inst->native.operands;
    for (unsigned n = 1; n < inst->native.operand_count; n++)
        if (operands[n].kind == NATIVE_IMMEDIATE && (form->places[n] == '2' || form->places[n] == '3'))
            operands[n] = literal(f, operands[n].value);
    if (commutes(inst) && (!fits(form->places[1], &operands[1]) || !fits(form->places[2], &operands[2])) &&
        fits_swapped(inst))
        swap(inst);
    if (inst->native.row == TESLA_FMAD && operands[2].negated) /* the sign of a product */
        operands[1].negated = !operands[1].negated, operands[2].negated = false;
    for (unsigned n = 1; n < inst->native.operand_count; n++)
        if (!fits(form->places[n], &operands[n]) || is_half_of_zero(inst, n))
            hoist(f, inst, n);
}

/* ---- copies and sums with numbers ---- */

/* From a constant it has a form of its own, which reaches all of them; from shared memory far away it is a load. */
static void fit_copy(const struct fitting *f, struct machine_inst *inst) {
    const struct native_operand *from = &inst->native.operands[1];
    const bool is_plain = !inst->native.modifiers[0] && !inst->native.modifiers[1];
    if (from->kind == NATIVE_CONSTANT && is_plain) {
        inst->native.row = TESLA_MVC;
        return;
    }
    if (from->kind == NATIVE_SHARED && from->value >= SHARED_LIMIT && is_plain && !from->width) {
        inst->native.row = TESLA_G2R;
        inst->native.modifiers[0] = inst->native.operands[1].width = MODIFIER_U32;
        return;
    }
    fit_operands(f, inst);
}

/* With a number of 32 bits there is no room for a guard. */
static void fit_number(const struct fitting *f, struct machine_inst *inst) {
    const struct native_operand *sum = &inst->native.operands[1];
    if (sum->kind == NATIVE_REG && inst->units[1] == NO_UNIT) { /* 0 */
        const struct native_operand value = inst->native.operands[2];
        inst->native.row = inst->native.guard ? TESLA_MVC : TESLA_MVI;
        inst->native.operands[1] = inst->native.guard ? literal(f, value.value) : value;
        inst->native.operand_count = 2;
        return;
    }
    if (inst->native.guard == GUARD_NONE && fits('1', sum))
        return;
    inst->native.row = TESLA_IADD;
    fit_operands(f, inst);
}

/* ---- registers that the launch fills ---- */

static void put_half(const struct fitting *f, const struct machine_inst *inst, enum native_half half, uint32_t to) {
    struct machine_inst made = begin(inst, TESLA_I2I);
    machine_operand(&made, (struct native_operand){.kind = NATIVE_REG}, to);
    machine_operand(&made, (struct native_operand){.kind = NATIVE_REG, .half = (uint8_t)half}, f->thread);
    machine_modify(f->machine, &made, NATIVE_SLOT_TO_INT, MODIFIER_U32);
    machine_modify(f->machine, &made, NATIVE_SLOT_FROM_INT, MODIFIER_U16);
    put(f, &made);
}

static void guard_as(struct machine_inst *made, const struct machine_inst *inst) {
    made->native.guard = inst->native.guard, made->native.guard_reg = inst->native.guard_reg;
    made->native.guard_test = inst->native.guard_test, made->whole = inst->whole;
}

/* A part of the thread's number. */
static void fit_thread(const struct fitting *f, const struct machine_inst *inst) {
    const unsigned special = inst->native.operands[1].reg;
    const uint32_t part = machine_unit(f->machine, false);
    struct machine_inst made = begin(inst, special == SPECIAL_TID_X   ? TESLA_MOV
                                           : special == SPECIAL_TID_Y ? TESLA_LOP
                                                                      : TESLA_SHR);
    if (special != SPECIAL_TID_Z)
        put_half(f, inst, special == SPECIAL_TID_X ? HALF_LOW : HALF_HIGH, part);
    machine_operand(&made, inst->native.operands[0], inst->units[0]);
    machine_operand(&made, (struct native_operand){.kind = NATIVE_REG}, special == SPECIAL_TID_Z ? f->thread : part);
    if (special == SPECIAL_TID_Y) {
        machine_operand(&made, literal(f, THREAD_Y_MASK), NO_UNIT);
        machine_modify(f->machine, &made, NATIVE_SLOT_LOGIC, MODIFIER_AND);
    }
    if (special == SPECIAL_TID_Z)
        machine_operand(&made, number(THREAD_Z_BIT), NO_UNIT);
    guard_as(&made, inst);
    if (special == SPECIAL_TID_Y)
        fit_operands(f, &made);
    put(f, &made);
}

static bool is_thread(const struct machine_inst *inst) {
    const unsigned special = inst->native.operands[1].reg;
    return inst->native.row == TESLA_S2R && special <= SPECIAL_TID_Z;
}

static void fit_inst(const struct fitting *f, struct machine_inst inst) {
    switch ((enum tesla_row)inst.native.row) {
    case TESLA_S2R:
        if (is_thread(&inst) && f->thread != NO_UNIT) {
            fit_thread(f, &inst);
            return;
        }
        if (inst.native.operands[1].reg >= SPECIAL_ENVREG0 && inst.native.operands[1].reg <= SPECIAL_ENVREG_LAST) {
            inst.native.row = TESLA_MVC;
            inst.native.operands[1] = (struct native_operand){.kind = NATIVE_CONSTANT,
                                                              .bank = TESLA_ENVIRONMENT,
                                                              .reg = FERMI_RZ,
                                                              .value = inst.native.operands[1].reg - SPECIAL_ENVREG0};
        }
        break;
    case TESLA_MVI:
        if (inst.native.guard != GUARD_NONE) {
            inst.native.row = TESLA_MVC;
            inst.native.operands[1] = literal(f, inst.native.operands[1].value);
        }
        break;
    case TESLA_MOV: fit_copy(f, &inst); break;
    case TESLA_IADD32I: fit_number(f, &inst); break;
    default: fit_operands(f, &inst); break;
    }
    put(f, &inst);
}

/* R0 holds the thread's number where the kernel begins, and only there. */
static void find_thread(struct fitting *f) {
    bool asked = false, again = false;
    for (uint32_t b = 0; b < f->machine->blocks.count; b++) {
        const struct machine_block *block = &f->machine->blocks.items[b];
        uint32_t to[2];
        const unsigned count = block_successors(block, to);
        for (unsigned i = 0; i < count; i++)
            again |= to[i] == 0;
        for (unsigned i = 0; i < block->code.count; i++)
            asked |= is_thread(&block->code.items[i]);
    }
    f->thread = asked && !again ? machine_unit(f->machine, false) : NO_UNIT;
}

void fit_tesla(struct machine_kernel *machine) {
    struct fitting f = {.machine = machine};
    find_thread(&f);
    for (uint32_t b = 0; b < machine->blocks.count; b++) {
        const struct machine_block old = machine->blocks.items[b];
        machine->blocks.items[b].code.items = NULL;
        machine->blocks.items[b].code.count = machine->blocks.items[b].code.capacity = 0;
        f.block = b;
        if (b == 0 && f.thread != NO_UNIT) {
            struct machine_inst first =
                begin(&(struct machine_inst){.at = old.code.count ? old.code.items[0].at : old.at}, TESLA_MOV);
            machine_operand(&first, (struct native_operand){.kind = NATIVE_REG}, f.thread);
            machine_operand(&first, (struct native_operand){.kind = NATIVE_REG}, NO_UNIT);
            put(&f, &first);
        }
        for (unsigned i = 0; i < old.code.count; i++)
            fit_inst(&f, old.code.items[i]);
    }
}
