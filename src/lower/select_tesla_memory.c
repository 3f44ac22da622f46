/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for Tesla: global memory by a register without an offset, shared memory by address registers. */
#include "lower/select_tesla.h"

static enum native_modifier width_word(enum type type) {
    switch (type_bytes(type)) {
    case 1: return type == TYPE_S8 ? MODIFIER_S8 : MODIFIER_U8;
    case 2: return type == TYPE_S16 ? MODIFIER_S16 : MODIFIER_U16;
    case 8: return MODIFIER_W64;
    case 16: return MODIFIER_W128;
    default: return MODIFIER_U32;
    }
}

static uint32_t fresh(struct selector *s) { return machine_unit(s->machine, false); }

/* The sum of a register (or none) and an offset, in a register. */
static struct tesla_source address_sum(struct selector *s, const struct inst *inst, const struct operand *address,
                                       uint32_t offset) {
    if (!address->has_reg) {
        const struct operand number = operand_immediate(offset);
        return tesla_register(s, &number);
    }
    const struct operand reg = {.kind = OPERAND_REG, .reg = address->reg};
    const struct tesla_source base = tesla_register(s, &reg);
    if (!offset)
        return base;
    struct machine_inst *made = machine_inst_new(s->machine, s->block, TESLA_IADD32I, inst);
    const uint32_t unit = fresh(s);
    tesla_put_unit(made, unit);
    tesla_put(made, &base);
    machine_operand(made, (struct native_operand){.kind = NATIVE_IMMEDIATE, .value = (int64_t)offset}, NO_UNIT);
    return (struct tesla_source){.operand = {.kind = NATIVE_REG}, .unit = unit};
}

static void put_memory(struct machine_inst *made, const struct tesla_source *base) {
    struct native_operand native = {.kind = NATIVE_MEMORY, .bank = 14, .reg = TESLA_ZERO};
    machine_operand(made, native, base->unit);
}

/* ---- shared memory ---- */

/* An address register that holds reg << shift. */
static unsigned address_register(struct selector *s, const struct inst *inst, uint32_t reg, uint32_t shift) {
    struct tesla *tesla = s->tesla;
    for (unsigned i = TESLA_FIRST_ADDRESS; i < TESLA_ADDRESSES; i++)
        if (tesla->addresses[i].reg == reg && tesla->addresses[i].shift == shift)
            return i;
    const unsigned place = TESLA_FIRST_ADDRESS + tesla->next_address++ % (TESLA_ADDRESSES - TESLA_FIRST_ADDRESS);
    struct machine_inst *made = machine_inst_new(s->machine, s->block, TESLA_R2A, inst);
    machine_operand(made, (struct native_operand){.kind = NATIVE_ADDRESS, .reg = (uint8_t)place}, NO_UNIT);
    tesla_put_unit(made, reg);
    machine_operand(made, (struct native_operand){.kind = NATIVE_IMMEDIATE, .value = shift}, NO_UNIT);
    tesla->addresses[place].reg = reg, tesla->addresses[place].shift = shift, tesla->addresses[place].made = s->at;
    return place;
}

static uint32_t shared_offset(const struct selector *s, const struct operand *address) {
    uint32_t offset = (uint32_t)address->imm;
    if (address->symbol) {
        const uint32_t behind = (s->body->kernel->shared_bytes + 15u) / 16u * 16u;
        offset += tesla_shared_base(s->body) + (address->symbol->bytes ? (uint32_t)address->symbol->offset : behind);
    }
    return offset;
}

/* g[A + k] of elements of `bytes` bytes. */
static struct native_operand shared_operand(struct selector *s, const struct inst *inst, const struct operand *address,
                                            uint32_t offset, unsigned bytes) {
    struct native_operand native = {.kind = NATIVE_SHARED, .reg = NATIVE_NO_ADDRESS};
    uint32_t number;
    const struct operand reg = {.kind = OPERAND_REG, .reg = address->reg};
    const bool has_register = address->has_reg && !tesla_number(s, &reg, &number);
    if (address->has_reg && !has_register)
        offset += number;
    const bool fits = offset % bytes == 0 && offset < 0x10000;
    if (!has_register && fits) {
        native.value = offset / bytes;
        return native;
    }
    if (has_register && fits) {
        const struct inst *shift = select_single(s, &reg, OP_SHL);
        const bool shifts = shift && shift->src[1].kind == OPERAND_IMM && shift->src[1].imm < 16 &&
                            shift->src[0].kind == OPERAND_REG && s->facts[shift->src[0].reg].kind == FACT_NONE;
        if (shifts)
            select_take(s, shift);
        uint32_t base = shifts ? shift->src[0].reg : reg.reg;
        if (!shifts && s->facts[reg.reg].kind != FACT_NONE)
            base = tesla_register(s, &reg).unit;
        native.reg = (uint8_t)address_register(s, inst, base, shifts ? (uint32_t)shift->src[1].imm : 0);
        native.value = offset / bytes;
        return native;
    }
    struct operand whole = *address;
    whole.has_reg = has_register;
    const struct tesla_source base = address_sum(s, inst, &whole, offset);
    native.reg = (uint8_t)address_register(s, inst, base.unit, 0);
    return native;
}

/* Nothing between the load and its reader may change what it loads, or its address. */
static bool may_wait(const struct selector *s, const struct inst *load) {
    const unsigned place = (unsigned)(load - s->source->code.items);
    for (unsigned i = place + 1; i < s->at; i++) {
        const struct inst *between = &s->source->code.items[i];
        if (between->op == OP_ST || between->op == OP_ATOM || between->op == OP_RED || between->op == OP_BAR ||
            between->op == OP_MEMBAR)
            return false;
        for (unsigned k = 0; k < between->dst_count; k++)
            if (load->src[0].has_reg && between->dst[k].reg == load->src[0].reg)
                return false;
    }
    return true;
}

bool tesla_shared_source(struct selector *s, const struct operand *operand, struct tesla_source *out) {
    const struct inst *load = operand->kind == OPERAND_REG ? select_single(s, operand, OP_LD) : NULL;
    if (!load || load->space != SPACE_SHARED || type_bytes((enum type)load->type) != 4 || load->order != ORDER_WEAK ||
        s->at >= s->source->code.count || !may_wait(s, load))
        return false;
    select_take(s, load);
    out->operand = shared_operand(s, &s->source->code.items[s->at], &load->src[0], shared_offset(s, &load->src[0]), 4);
    out->unit = NO_UNIT;
    return true;
}

/* The predicate is asked for by its code alone, in the same block. */
static void load_locked(struct selector *s, const struct inst *inst) {
    struct native_operand from = shared_operand(s, inst, &inst->src[0], shared_offset(s, &inst->src[0]), 4);
    from.width = MODIFIER_U32;
    struct machine_inst *made = tesla_emit(s, TESLA_G2R_LCK, inst);
    tesla_put_unit(made, inst->dst[0].reg);
    machine_operand(made, from, NO_UNIT);
    tesla_modify(s, made, NATIVE_SLOT_SIZE, MODIFIER_U32);
    tesla_set_code(s, made, inst->dst[1].reg);
}

static void load_shared(struct selector *s, const struct inst *inst) {
    if (inst->mode == MODE_LOCK) {
        load_locked(s, inst);
        return;
    }
    const unsigned words = inst->dst_count, bytes = words > 1 ? 4 : type_bytes((enum type)inst->type);
    uint32_t offset = shared_offset(s, &inst->src[0]);
    struct operand address = inst->src[0];
    uint32_t kept = NO_UNIT;
    /* the register of the address may be among the destinations */
    for (unsigned i = 0; i + 1 < words; i++)
        if (address.has_reg && inst->dst[i].reg == address.reg)
            kept = i;
    for (unsigned n = 0; n < words; n++, offset += bytes) {
        const unsigned i = kept == NO_UNIT ? n : n < kept ? n : n + 1 < words ? n + 1 : kept;
        const struct native_operand from = shared_operand(s, inst, &address, offset + (i - n) * bytes, bytes);
        const bool extends = words == 1 && inst->type == TYPE_S8; /* bytes come without their sign */
        const uint32_t loaded = extends ? fresh(s) : inst->dst[i].reg;
        struct machine_inst *made = tesla_emit(s, TESLA_G2R, inst);
        tesla_put_unit(made, loaded);
        struct native_operand operand = from;
        operand.width = (uint8_t)width_word(words > 1 ? TYPE_B32 : extends ? TYPE_U8 : (enum type)inst->type);
        machine_operand(made, operand, NO_UNIT);
        tesla_modify(s, made, NATIVE_SLOT_SIZE, (enum native_modifier)operand.width);
        if (!extends)
            continue;
        made->whole = true;
        made = tesla_emit(s, TESLA_I2I, inst);
        tesla_put_unit(made, inst->dst[i].reg);
        tesla_put_unit(made, loaded);
        tesla_modify(s, made, NATIVE_SLOT_TO_INT, MODIFIER_S32);
        tesla_modify(s, made, NATIVE_SLOT_FROM_INT, MODIFIER_S8);
    }
}

static void store_shared(struct selector *s, const struct inst *inst) {
    const unsigned words = inst->src_count - 2u, bytes = words > 1 ? 4 : type_bytes((enum type)inst->type);
    uint32_t offset = shared_offset(s, &inst->src[0]);
    for (unsigned i = 0; i < words; i++, offset += bytes) {
        const struct tesla_source value = tesla_register(s, &inst->src[2 + i]);
        const struct native_operand to = shared_operand(s, inst, &inst->src[0], offset, bytes);
        struct machine_inst *made = tesla_emit(s, inst->mode == MODE_UNLOCK ? TESLA_R2G_UNL : TESLA_R2G, inst);
        machine_operand(made, to, NO_UNIT);
        tesla_put(made, &value);
        const enum native_modifier size = width_word(words > 1 ? TYPE_B32 : (enum type)inst->type);
        tesla_modify(s, made, NATIVE_SLOT_SIZE, size);
        tesla_modify(s, made, NATIVE_SLOT_SIZE, MODIFIER_U32); /* of a whole register */
    }
}

/* ---- global and local memory ---- */

/* Words of a vector, side by side: as they are, or copies. */
static uint32_t tuple_of(struct selector *s, const struct inst *inst, const struct operand *operands, unsigned count) {
    uint32_t units[4] = {0};
    bool simple = true;
    for (unsigned i = 0; i < count; i++) {
        simple = simple && operands[i].kind == OPERAND_REG && s->facts[operands[i].reg].kind == FACT_NONE;
        units[i] = operands[i].reg;
    }
    if (simple && machine_group(s->machine, units, count))
        return units[0];
    struct tesla_source values[4];
    for (unsigned i = 0; i < count; i++)
        values[i] = tesla_register(s, &operands[i]);
    for (unsigned i = 0; i < count; i++)
        units[i] = fresh(s);
    machine_group(s->machine, units, count);
    for (unsigned i = 0; i < count; i++) {
        struct machine_inst *move = machine_inst_new(s->machine, s->block, TESLA_MOV, inst);
        tesla_put_unit(move, units[i]);
        tesla_put(move, &values[i]);
    }
    return units[0];
}

static void put_tuple(struct machine_inst *made, uint32_t first, unsigned count) {
    made->widths[made->native.operand_count] = (uint8_t)count;
    tesla_put_unit(made, first);
}

/* global14[R], or local[A + k]. */
static struct tesla_source far_operand(struct selector *s, const struct inst *inst) {
    enum { OFFSET_LIMIT = 0x10000 };
    const struct operand *address = &inst->src[0];
    const uint32_t offset = (uint32_t)address->imm;
    struct tesla_source out = {.operand = {.kind = NATIVE_MEMORY, .bank = 14, .reg = TESLA_ZERO}, .unit = NO_UNIT};
    if (inst->space != SPACE_LOCAL) {
        out.unit = address_sum(s, inst, address, offset).unit;
        return out;
    }
    out.operand.bank = 0;
    const bool near = offset < OFFSET_LIMIT;
    out.operand.value = near ? offset : 0;
    if (!address->has_reg && near)
        return out;
    const bool plain = near && address->has_reg && s->facts[address->reg].kind == FACT_NONE;
    const uint32_t base = plain ? address->reg : address_sum(s, inst, address, near ? 0 : offset).unit;
    if (base == NO_UNIT)
        return out; /* 0 */
    out.operand.kind = NATIVE_SHARED;
    out.operand.reg = (uint8_t)address_register(s, inst, base, 0);
    return out;
}

static void load_far(struct selector *s, const struct inst *inst) {
    const unsigned words = inst->dst_count;
    const struct tesla_source from = far_operand(s, inst);
    uint32_t units[4] = {0};
    for (unsigned i = 0; i < words; i++)
        units[i] = inst->dst[i].reg;
    const bool copied = words > 1 && !machine_group(s->machine, units, words);
    for (unsigned i = 0; copied && i < words; i++)
        units[i] = fresh(s);
    if (copied)
        machine_group(s->machine, units, words);
    struct machine_inst *made = tesla_emit(s, inst->space == SPACE_LOCAL ? TESLA_LLD : TESLA_GLD, inst);
    put_tuple(made, units[0], words);
    tesla_put(made, &from);
    tesla_modify(s, made, NATIVE_SLOT_WIDTH_TESLA, width_word((enum type)inst->type));
    for (unsigned i = 0; copied && i < words; i++) {
        struct machine_inst *move = tesla_emit(s, TESLA_MOV, inst);
        tesla_put_unit(move, inst->dst[i].reg);
        tesla_put_unit(move, units[i]);
    }
}

static void store_far(struct selector *s, const struct inst *inst) {
    const unsigned words = inst->src_count - 2u;
    const struct tesla_source to = far_operand(s, inst);
    struct tesla_source value = {.unit = NO_UNIT};
    if (words > 1)
        value = (struct tesla_source){.operand = {.kind = NATIVE_REG}, .unit = tuple_of(s, inst, &inst->src[2], words)};
    else
        value = tesla_register(s, &inst->src[2]);
    struct machine_inst *made = tesla_emit(s, inst->space == SPACE_LOCAL ? TESLA_LST : TESLA_GST, inst);
    tesla_put(made, &to);
    made->widths[1] = (uint8_t)words;
    tesla_put(made, &value);
    tesla_modify(s, made, NATIVE_SLOT_WIDTH_TESLA, width_word((enum type)inst->type));
}

/* Parameters that are not the same everywhere in the code: of words, and of less than a word, the part of its word. */
static void load_param(struct selector *s, const struct inst *inst) {
    const struct operand *address = &inst->src[0];
    for (unsigned i = 0; type_bytes((enum type)inst->type) >= 4 && i < inst->dst_count; i++) {
        struct machine_inst *move = tesla_emit(s, TESLA_MOV, inst);
        const uint64_t first = TESLA_PARAM_BASE + (address->symbol ? address->symbol->offset : 0) + address->imm;
        tesla_put_unit(move, inst->dst[i].reg);
        machine_operand(
            move,
            (struct native_operand){.kind = NATIVE_SHARED, .reg = NATIVE_NO_ADDRESS, .value = (int64_t)(first / 4 + i)},
            NO_UNIT);
    }
    if (type_bytes((enum type)inst->type) >= 4)
        return;
    const uint32_t place =
        (uint32_t)(TESLA_PARAM_BASE + (address->symbol ? address->symbol->offset : 0) + address->imm);
    const uint32_t word = fresh(s);
    struct machine_inst *made = tesla_emit(s, TESLA_MOV, inst);
    tesla_put_unit(made, word);
    machine_operand(made, (struct native_operand){.kind = NATIVE_SHARED, .reg = NATIVE_NO_ADDRESS, .value = place / 4},
                    NO_UNIT);
    uint32_t down = word;
    if (place % 4) {
        down = fresh(s);
        made = tesla_emit(s, TESLA_SHR, inst);
        tesla_put_unit(made, down);
        tesla_put_unit(made, word);
        machine_operand(made, (struct native_operand){.kind = NATIVE_IMMEDIATE, .value = 8 * (place % 4)}, NO_UNIT);
    }
    made = tesla_emit(s, TESLA_I2I, inst);
    tesla_put_unit(made, inst->dst[0].reg);
    tesla_put_unit(made, down);
    tesla_modify(s, made, NATIVE_SLOT_TO_INT, type_is_signed((enum type)inst->type) ? MODIFIER_S32 : MODIFIER_U32);
    tesla_modify(s, made, NATIVE_SLOT_FROM_INT, width_word((enum type)inst->type));
}

static enum status select_atomic(struct selector *s, const struct inst *inst) {
    if (inst->type == TYPE_F32)
        return body_refuse(s->body, inst, "Tesla", "atomics of f32", s->machine->report);
    const struct tesla_source base = address_sum(s, inst, &inst->src[0], (uint32_t)inst->src[0].imm);
    struct tesla_source values[2];
    for (unsigned i = 2; i < inst->src_count; i++)
        values[i - 2] = tesla_register(s, &inst->src[i]);
    const bool returns = inst->op == OP_ATOM || inst->atom == ATOM_EXCH || inst->atom == ATOM_CAS;
    struct machine_inst *made = tesla_emit(s, returns ? TESLA_GATOM : TESLA_GRED, inst);
    if (inst->op == OP_ATOM)
        tesla_put_unit(made, inst->dst[0].reg);
    else if (returns)
        machine_operand(made, (struct native_operand){.kind = NATIVE_SINK}, NO_UNIT);
    put_memory(made, &base);
    for (unsigned i = 2; i < inst->src_count; i++)
        tesla_put(made, &values[i - 2]);
    tesla_modify(s, made, NATIVE_SLOT_ATOMIC_TESLA, word_of_atomic((enum atom)inst->atom));
    tesla_modify(s, made, NATIVE_SLOT_WIDTH_TESLA, inst->type == TYPE_S32 ? MODIFIER_S32 : MODIFIER_U32);
    return STATUS_OK;
}

enum status tesla_access(struct selector *s, const struct inst *inst) {
    if (inst->op == OP_ATOM || inst->op == OP_RED)
        return select_atomic(s, inst);
    const bool loads = inst->op == OP_LD;
    if (inst->space == SPACE_PARAM && inst->src[0].has_reg)
        return body_refuse(s->body, inst, "Tesla", "a parameter at a computed place", s->machine->report);
    if (inst->space == SPACE_PARAM)
        load_param(s, inst);
    else if (inst->space == SPACE_SHARED && loads)
        load_shared(s, inst);
    else if (inst->space == SPACE_SHARED)
        store_shared(s, inst);
    else if (loads)
        load_far(s, inst);
    else
        store_far(s, inst);
    return STATUS_OK;
}
