/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, barriers and votes for Fermi. */
#include "lower/select_fermi.h"

/* ---- memory ---- */

/* [register + offset], with the upper word of the pointer where there is one. */
static void put_address(struct machine_inst *made, const struct operand *address, uint32_t base, bool pair) {
    struct native_operand native = {.kind = NATIVE_MEMORY, .reg = FERMI_RZ, .value = (int64_t)(int32_t)address->imm};
    made->widths[made->native.operand_count] = pair ? 2 : 1;
    machine_operand(made, native, base);
}

static uint32_t base_of(struct selector *s, const struct inst *inst, struct operand *address) {
    if (!address->has_reg) {
        if (address->symbol && address->symbol->space == SPACE_SHARED)
            address->imm +=
                address->symbol->bytes ? address->symbol->offset : (s->body->kernel->shared_bytes + 15u) / 16u * 16u;
        return NO_UNIT;
    }
    const struct operand reg = {.kind = OPERAND_REG, .reg = address->reg};
    if (inst->src[1].kind == OPERAND_REG) {
        const struct operand pair[2] = {reg, inst->src[1]};
        return fermi_tuple_of(s, inst, pair, 2);
    }
    if (address->symbol && address->symbol->space == SPACE_SHARED)
        address->imm += address->symbol->offset;
    const struct source source = fermi_register(s, &reg);
    return source.kind == SOURCE_UNIT ? source.unit : NO_UNIT;
}

static enum native_modifier width_word(enum type type) {
    switch (type_bytes(type)) {
    case 1: return type == TYPE_S8 ? MODIFIER_S8 : MODIFIER_U8;
    case 2: return type == TYPE_S16 ? MODIFIER_S16 : MODIFIER_U16;
    case 8: return MODIFIER_W64;
    case 16: return MODIFIER_W128;
    default: return MODIFIER_NONE;
    }
}

static enum native_modifier cache_word(const struct inst *inst) {
    if (inst->order != ORDER_WEAK)
        return inst->op == OP_LD ? MODIFIER_CV : MODIFIER_WT;
    switch ((enum cache_hint)inst->cache) {
    case CACHE_CG: return MODIFIER_CG;
    case CACHE_CS: return MODIFIER_CS;
    case CACHE_CV: return MODIFIER_CV;
    case CACHE_WT: return MODIFIER_WT;
    default: return MODIFIER_NONE;
    }
}

static void select_load(struct selector *s, const struct inst *inst) {
    struct operand address = inst->src[0];
    const unsigned words = inst->dst_count;
    const bool is_param = inst->space == SPACE_PARAM;
    const enum fermi_row row = is_param                      ? FERMI_LDC
                               : inst->space == SPACE_SHARED ? FERMI_LDS
                               : inst->space == SPACE_LOCAL  ? FERMI_LDL
                                                             : FERMI_LD;
    const uint32_t base = base_of(s, inst, &address);
    bool copied = false;
    const uint32_t d = words > 1 ? select_tuple_for(s, inst->dst, words, &copied) : inst->dst[0].reg;
    struct machine_inst *made = fermi_emit(s, row, inst);
    fermi_put_tuple(made, d, words);
    if (is_param)
        machine_operand(made,
                        (struct native_operand){.kind = NATIVE_CONSTANT,
                                                .reg = FERMI_RZ,
                                                .value = (int64_t)(FERMI_PARAM_BASE + address.imm +
                                                                   (address.symbol ? address.symbol->offset : 0))},
                        base);
    else
        put_address(made, &address, base, row == FERMI_LD && inst->src[1].kind == OPERAND_REG);
    fermi_modify(s, made, NATIVE_SLOT_WIDTH, width_word((enum type)inst->type));
    if (row == FERMI_LD) {
        fermi_modify(s, made, NATIVE_SLOT_E, inst->src[1].kind == OPERAND_REG ? MODIFIER_E : MODIFIER_NONE);
        fermi_modify(s, made, NATIVE_SLOT_CACHE, cache_word(inst));
    }
    if (copied)
        fermi_move_tuple(s, inst, inst->dst, words, d);
}

static void select_store(struct selector *s, const struct inst *inst) {
    struct operand address = inst->src[0];
    const unsigned words = inst->src_count - 2u;
    const enum fermi_row row = inst->space == SPACE_SHARED  ? FERMI_STS
                               : inst->space == SPACE_LOCAL ? FERMI_STL
                                                            : FERMI_ST;
    const uint32_t base = base_of(s, inst, &address);
    struct source value = {.kind = SOURCE_ZERO};
    uint32_t tuple = NO_UNIT;
    if (words > 1)
        tuple = fermi_tuple_of(s, inst, &inst->src[2], words);
    else
        value = fermi_register(s, &inst->src[2]);
    struct machine_inst *made = fermi_emit(s, row, inst);
    put_address(made, &address, base, row == FERMI_ST && inst->src[1].kind == OPERAND_REG);
    if (words > 1)
        fermi_put_tuple(made, tuple, words);
    else
        fermi_put_source(made, &value);
    fermi_modify(s, made, NATIVE_SLOT_WIDTH, width_word((enum type)inst->type));
    if (row == FERMI_ST) {
        fermi_modify(s, made, NATIVE_SLOT_E, inst->src[1].kind == OPERAND_REG ? MODIFIER_E : MODIFIER_NONE);
        fermi_modify(s, made, NATIVE_SLOT_CACHE_STORE, cache_word(inst));
    }
}

static enum status select_atomic(struct selector *s, const struct inst *inst) {
    if (inst->type == TYPE_F32 && inst->atom != ATOM_ADD)
        return body_refuse(s->body, inst, "Fermi", "atomics of f32 other than add", s->machine->report);
    struct operand address = inst->src[0];
    const uint32_t base = base_of(s, inst, &address);
    struct source values[2];
    for (unsigned i = 2; i < inst->src_count; i++)
        values[i - 2] = fermi_register(s, &inst->src[i]);
    const bool reads = inst->op == OP_ATOM || inst->atom == ATOM_EXCH || inst->atom == ATOM_CAS;
    struct machine_inst *made = fermi_emit(s, reads ? FERMI_ATOM : FERMI_RED, inst);
    if (inst->op == OP_ATOM)
        fermi_put_unit(made, inst->dst[0].reg);
    else if (reads)
        machine_operand(made, (struct native_operand){.kind = NATIVE_REG, .reg = FERMI_RZ}, NO_UNIT);
    put_address(made, &address, base, inst->src[1].kind == OPERAND_REG);
    for (unsigned i = 2; i < inst->src_count; i++)
        fermi_put_source(made, &values[i - 2]);
    fermi_modify(s, made, NATIVE_SLOT_E, inst->src[1].kind == OPERAND_REG ? MODIFIER_E : MODIFIER_NONE);
    fermi_modify(s, made, NATIVE_SLOT_ATOMIC, word_of_atomic((enum atom)inst->atom));
    fermi_modify(s, made, NATIVE_SLOT_ATOMIC_TYPE,
                 inst->type == TYPE_S32   ? MODIFIER_S32
                 : inst->type == TYPE_F32 ? MODIFIER_F32_FTZ_RN
                                          : MODIFIER_NONE);
    return STATUS_OK;
}

enum status fermi_access(struct selector *s, const struct inst *inst) {
    if (inst->op == OP_LD)
        select_load(s, inst);
    else if (inst->op == OP_ST)
        select_store(s, inst);
    else
        return select_atomic(s, inst);
    return STATUS_OK;
}

/* ---- the block and the warp ---- */

static void put_barrier(struct selector *s, struct machine_inst *made, const struct operand *operand) {
    const struct source source = fermi_plain(s, operand);
    if (source.kind == SOURCE_ZERO)
        machine_operand(made, (struct native_operand){.kind = NATIVE_IMMEDIATE}, NO_UNIT);
    else
        fermi_put_source(made, &source);
}

enum status fermi_barrier(struct selector *s, const struct inst *inst) {
    struct report *report = s->machine->report;
    if (inst->op == OP_MEMBAR) {
        struct machine_inst *made = fermi_emit(s, FERMI_MEMBAR, inst);
        fermi_modify(s, made, NATIVE_SLOT_SCOPE,
                     inst->scope == SCOPE_CTA   ? MODIFIER_CTA
                     : inst->scope == SCOPE_SYS ? MODIFIER_SYS
                                                : MODIFIER_GL);
        return STATUS_OK;
    }
    if (inst->op == OP_VOTE) {
        const bool is_ballot = inst->mode == MODE_BALLOT;
        if (inst->flags & FLAG_SYNC && !(inst->src_count > 1 && operand_is_immediate(&inst->src[1], UINT32_MAX)))
            return body_refuse(s->body, inst, "Fermi", "a vote of some lanes", report);
        struct machine_inst *made = fermi_emit(s, FERMI_VOTE, inst);
        const struct operand sink = {.kind = OPERAND_NONE};
        if (is_ballot)
            fermi_put_unit(made, inst->dst[0].reg);
        else
            machine_operand(made, (struct native_operand){.kind = NATIVE_REG, .reg = FERMI_RZ}, NO_UNIT);
        fermi_put_predicate(made, is_ballot ? &sink : &inst->dst[0]);
        fermi_put_predicate(made, &inst->src[0]);
        fermi_modify(s, made, NATIVE_SLOT_VOTE,
                     inst->mode == MODE_ALL   ? MODIFIER_ALL
                     : inst->mode == MODE_UNI ? MODIFIER_EQ
                                              : MODIFIER_ANY);
        return STATUS_OK;
    }
    if (inst->mode != MODE_SYNC && inst->mode != MODE_NONE && inst->mode != MODE_ARRIVE)
        return body_refuse(s->body, inst, "Fermi", "bar.red", report);
    struct machine_inst *made = fermi_emit(s, inst->mode == MODE_ARRIVE ? FERMI_BAR_ARV : FERMI_BAR_SYNC, inst);
    put_barrier(s, made, &inst->src[0]);
    if (inst->src_count > 1 && inst->src[1].kind != OPERAND_NONE)
        put_barrier(s, made, &inst->src[1]);
    else
        machine_operand(made, (struct native_operand){.kind = NATIVE_NONE}, NO_UNIT);
    return STATUS_OK;
}
