/* SPDX-License-Identifier: Apache-2.0 */
/* What Tesla's instructions are put together from: operands, guards by condition codes, sources in registers and memory. */
#include "lower/select_tesla.h"

/* ---- instructions ---- */

struct machine_inst *tesla_emit(struct selector *s, enum tesla_row row, const struct inst *at) {
    unsigned code = 0;
    const bool guarded = at && at->guard >= 0;
    if (guarded)
        code = tesla_code(s, (uint32_t)at->guard, at);
    struct machine_inst *inst = machine_inst_new(s->machine, s->block, row, at);
    if (guarded)
        tesla_guard(inst, code, at->guard_negated);
    return inst;
}

void tesla_modify(const struct selector *s, struct machine_inst *inst, enum native_slot slot,
                  enum native_modifier modifier) {
    if (modifier != MODIFIER_NONE)
        machine_modify(s->machine, inst, slot, modifier);
}

void tesla_put(struct machine_inst *inst, const struct tesla_source *source) {
    machine_operand(inst, source->operand, source->unit);
}

void tesla_put_unit(struct machine_inst *inst, uint32_t unit) {
    machine_operand(inst, (struct native_operand){.kind = NATIVE_REG}, unit);
}

void tesla_put_number(struct machine_inst *inst, uint32_t value) {
    machine_operand(inst, (struct native_operand){.kind = NATIVE_IMMEDIATE, .value = (int64_t)value}, NO_UNIT);
}

static void put_sink(struct machine_inst *inst) {
    machine_operand(inst, (struct native_operand){.kind = NATIVE_SINK}, NO_UNIT);
}

/* ---- condition codes ---- */

void tesla_guard(struct machine_inst *inst, unsigned code, bool negated) {
    inst->native.guard = GUARD_CODE;
    inst->native.guard_reg = (uint8_t)code;
    inst->native.guard_test = negated ? MODIFIER_EQ : MODIFIER_NE;
}

static unsigned new_code(struct selector *s, uint32_t reg) {
    struct tesla *tesla = s->tesla;
    const unsigned code = tesla->next_code++ % NATIVE_CODES;
    tesla->codes[code].reg = reg, tesla->codes[code].made = s->at;
    return code;
}

unsigned tesla_code(struct selector *s, uint32_t predicate, const struct inst *at) {
    for (unsigned i = 0; i < NATIVE_CODES; i++)
        if (s->tesla->codes[i].reg == predicate)
            return i;
    const unsigned code = new_code(s, predicate);
    struct machine_inst *inst = machine_inst_new(s->machine, s->block, TESLA_MOV, at);
    put_sink(inst);
    tesla_put_unit(inst, predicate);
    tesla_modify(s, inst, NATIVE_SLOT_CODE, (enum native_modifier)(MODIFIER_C0 + code));
    return code;
}

void tesla_set_code(struct selector *s, struct machine_inst *inst, uint32_t predicate) {
    tesla_modify(s, inst, NATIVE_SLOT_CODE, (enum native_modifier)(MODIFIER_C0 + new_code(s, predicate)));
}

static bool asks_for(const struct inst *inst, uint32_t reg) {
    return inst->guard == (int32_t)reg || (inst->op == OP_SELP && inst->src[2].reg == reg);
}

/* How often the rest of the block asks for the predicate by a code, and how many other codes may be set until the last. */
static unsigned code_uses(const struct selector *s, uint32_t reg, unsigned *others) {
    const struct body_block *block = s->source;
    unsigned uses = 0, setters = 0;
    *others = 0;
    for (unsigned i = s->at + 1; i < block->code.count; i++) {
        const struct inst *inst = &block->code.items[i];
        if (asks_for(inst, reg))
            uses++, *others = setters;
        setters += inst->op == OP_SETP || inst->op == OP_SELP || inst->guard >= 0 || inst->type == TYPE_PRED;
        for (unsigned k = 0; k < inst->dst_count; k++)
            if (inst->dst[k].reg == reg)
                return uses;
    }
    if (block->end == END_BRANCH && block->predicate == reg)
        uses++, *others = setters;
    return uses;
}

void tesla_put_predicate(struct selector *s, struct machine_inst *inst, uint32_t reg) {
    unsigned others;
    const unsigned uses = code_uses(s, reg, &others);
    const struct fact *fact = &s->facts[reg];
    if (uses && fact->definitions == 1 && fact->reads == uses && others < NATIVE_CODES)
        put_sink(inst);
    else
        tesla_put_unit(inst, reg);
    if (uses)
        tesla_set_code(s, inst, reg);
}

/* ---- sources ---- */

bool tesla_number(const struct selector *s, const struct operand *operand, uint32_t *value) {
    if (operand->kind == OPERAND_IMM)
        *value = (uint32_t)operand->imm;
    else if (s->facts[operand->reg].kind == FACT_IMMEDIATE)
        *value = s->facts[operand->reg].value;
    else
        return false;
    return true;
}

struct tesla_source tesla_of_memory(unsigned bank, uint32_t place) {
    struct tesla_source source = {.unit = NO_UNIT};
    if (bank == TESLA_SHARED_BANK)
        source.operand = (struct native_operand){.kind = NATIVE_SHARED, .reg = NATIVE_NO_ADDRESS, .value = place / 4};
    else
        source.operand = (struct native_operand){
            .kind = NATIVE_CONSTANT, .bank = (uint8_t)bank, .reg = FERMI_RZ, .value = place / 4};
    return source;
}

/* In a register of its own, which others of the block may use again. */
static struct tesla_source hold(struct selector *s, const struct operand *operand, bool is_number, uint32_t value,
                                struct tesla_source from) {
    const bool remembered = operand->kind == OPERAND_REG;
    if (remembered && s->held_of[operand->reg] == s->block + 1)
        return tesla_of_unit(s->held[operand->reg]);
    const uint32_t unit = machine_unit(s->machine, false);
    const struct inst *at = s->at < s->source->code.count ? &s->source->code.items[s->at] : s->source->at;
    struct machine_inst *move = machine_inst_new(s->machine, s->block, is_number ? TESLA_MVI : TESLA_MOV, at);
    tesla_put_unit(move, unit);
    if (is_number)
        tesla_put_number(move, value);
    else
        tesla_put(move, &from);
    if (remembered)
        s->held[operand->reg] = unit, s->held_of[operand->reg] = s->block + 1;
    return tesla_of_unit(unit);
}

struct tesla_source tesla_register(struct selector *s, const struct operand *operand) {
    bool used = true;
    return tesla_any(s, operand, &used);
}

struct tesla_source tesla_any(struct selector *s, const struct operand *operand, bool *memory) {
    uint32_t value;
    if (tesla_number(s, operand, &value)) {
        if (value == 0)
            return tesla_zero();
        if (*memory || (operand->kind == OPERAND_REG && s->held_of[operand->reg] == s->block + 1))
            return hold(s, operand, true, value, tesla_zero());
        *memory = true;
        return tesla_of_memory(TESLA_LITERALS, select_literal(s->machine, value));
    }
    const struct fact *fact = &s->facts[operand->reg];
    if (fact->kind == FACT_CONSTANT) {
        const struct tesla_source source = tesla_of_memory(fact->bank, fact->value);
        if (*memory)
            return hold(s, operand, false, 0, source);
        *memory = true;
        return source;
    }
    struct tesla_source shared;
    if (!*memory && tesla_shared_source(s, operand, &shared)) {
        *memory = true;
        return shared;
    }
    return tesla_of_unit(operand->reg);
}
