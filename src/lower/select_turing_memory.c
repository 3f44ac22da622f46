/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, stores and atomics for sm_75 on. Addresses of global memory are pairs of registers with an offset, beside the
 * descriptor that the kernel fetches into UR4 at its start. */
#include "lower/select_turing.h"

enum { OFFSET_LIMIT = 1 << 23, DESCRIPTOR = 4 };

static bool is_pointer(const struct inst *inst) {
    return inst->space == SPACE_GENERIC || inst->space == SPACE_GLOBAL || inst->space == SPACE_CONST;
}

/* An address on its way into an instruction. */
struct place {
    uint32_t base; /* first unit, NO_UNIT: RZ */
    int64_t offset;
    bool is_pair;
};

/* Shared and local memory: a word. */
static struct place word_place(struct selector *s, const struct operand *address) {
    struct place place = {.base = NO_UNIT, .offset = (int64_t)(int32_t)address->imm};
    if (address->symbol && address->symbol->space == SPACE_SHARED)
        place.offset += address->symbol->bytes ? (int64_t)address->symbol->offset
                                               : (int64_t)((s->body->kernel->shared_bytes + 15u) / 16u * 16u);
    if (!address->has_reg)
        return place;
    const struct operand reg = {.kind = OPERAND_REG, .reg = address->reg};
    const struct source plain = sm_plain(s, &reg);
    if (plain.kind == SOURCE_IMMEDIATE && plain.value < OFFSET_LIMIT / 2 && place.offset + plain.value < OFFSET_LIMIT) {
        place.offset += plain.value;
        return place;
    }
    const struct source source = sm_register(s, &reg);
    place.base = source.kind == SOURCE_UNIT ? source.unit : NO_UNIT;
    return place;
}

/* base += offset, where the instruction has no room for it. */
static void add_offset(struct selector *s, const struct inst *inst, struct place *place) {
    const uint32_t units[2] = {machine_unit(s->machine, false), machine_unit(s->machine, false)};
    const uint32_t carry = machine_unit(s->machine, true);
    machine_group(s->machine, units, 2);
    for (unsigned i = 0; i < (place->is_pair ? 2u : 1u); i++) {
        const struct source a = place->base == NO_UNIT ? sm_number(0) : sm_unit(place->base + i);
        const struct source b = sm_number((uint32_t)(place->offset >> (32 * i)));
        struct machine_inst *made = machine_turing(s->machine, s->block, TURING_IADD3, inst);
        machine_put_unit(made, 0, units[i]);
        sm_put(made, 3, &a);
        sm_put(made, 4, &b);
        if (i)
            sm_put_test(made, 6, &(struct operand){.kind = OPERAND_REG, .reg = carry});
        else if (place->is_pair)
            machine_put_unit(made, 1, carry);
        sm_word(made, TURING_WORDS_X, i);
    }
    place->base = units[0], place->offset = 0;
}

static struct place place_of(struct selector *s, const struct inst *inst) {
    const struct operand *address = &inst->src[0];
    struct place place;
    if (!is_pointer(inst)) {
        place = word_place(s, address);
    } else {
        place = (struct place){.base = NO_UNIT, .offset = (int64_t)address->imm, .is_pair = true};
        if (address->has_reg) {
            const struct operand reg = {.kind = OPERAND_REG, .reg = address->reg};
            const struct operand none = {.kind = OPERAND_IMM};
            const struct operand pair[2] = {reg, inst->src[1].kind == OPERAND_NONE ? none : inst->src[1]};
            place.base = sm_tuple_of(s, inst, pair, 2);
        }
    }
    if (place.offset < -OFFSET_LIMIT || place.offset >= OFFSET_LIMIT)
        add_offset(s, inst, &place);
    return place;
}

static void put_place(struct selector *s, struct machine_inst *made, unsigned at, const struct place *place,
                      bool has_descriptor) {
    struct turing_operand *operand = &made->turing->operands[at];
    operand->value = place->offset;
    if (place->is_pair) {
        sm_word(made, TURING_WORDS_E, 1);
        operand->wide = has_descriptor, operand->uniform = has_descriptor, operand->descriptor = has_descriptor;
        operand->ureg = has_descriptor ? DESCRIPTOR : 0;
        s->machine->has_descriptor |= has_descriptor;
    }
    if (place->base != NO_UNIT)
        sm_put_tuple(made, at, place->base, place->is_pair ? 2 : 1);
}

static unsigned size_word(enum type type) {
    switch (type_bytes(type)) {
    case 1: return type == TYPE_S8 ? 1 : 0;
    case 2: return type == TYPE_S16 ? 3 : 2;
    case 8: return 5;
    case 16: return 6;
    default: return 4;
    }
}

/* How an access is ordered: by scope where it is not weak. */
static unsigned order_word(const struct inst *inst, bool is_atomic) {
    enum { WEAK = 0, CONSTANT = 4, STRONG_SM = 5, STRONG_GPU = 7, STRONG_SYS = 10 };
    if (!is_atomic && inst->order == ORDER_WEAK)
        return inst->op == OP_LD && inst->cache == CACHE_NC ? CONSTANT : WEAK;
    if (inst->order == ORDER_VOLATILE || inst->scope == SCOPE_SYS)
        return STRONG_SYS;
    return inst->scope == SCOPE_CTA ? STRONG_SM : STRONG_GPU;
}

static void fence(struct selector *s, const struct inst *inst) {
    struct machine_inst *made = sm_emit(s, TURING_MEMBAR, inst);
    sm_word(made, TURING_WORDS_FENCE, inst->order == ORDER_SC ? 0 : 1);
    sm_word(made, TURING_WORDS_SCOPE, inst->scope == SCOPE_CTA ? 0 : inst->scope == SCOPE_SYS ? 3 : 2);
}

static bool releases(const struct inst *inst) {
    return inst->order == ORDER_RELEASE || inst->order == ORDER_ACQ_REL || inst->order == ORDER_SC;
}

static bool acquires(const struct inst *inst) {
    return inst->order == ORDER_ACQUIRE || inst->order == ORDER_ACQ_REL || inst->order == ORDER_SC;
}

/* ---- loads and stores ---- */

static void select_load(struct selector *s, const struct inst *inst) {
    const unsigned words = inst->dst_count;
    const bool is_shared = inst->space == SPACE_SHARED, is_local = inst->space == SPACE_LOCAL;
    const enum turing_row_id row = is_shared                      ? TURING_LDS
                                   : is_local                     ? TURING_LDL
                                   : inst->space == SPACE_GENERIC ? TURING_LD
                                                                  : TURING_LDG;
    const struct place place = place_of(s, inst);
    bool copied = false;
    const uint32_t d = words > 1 ? select_tuple_for(s, inst->dst, words, &copied) : inst->dst[0].reg;
    struct machine_inst *made = sm_emit(s, row, inst);
    const unsigned at = row == TURING_LDG ? 1 : 0;
    sm_put_tuple(made, at, d, words);
    put_place(s, made, at + 1, &place, true);
    sm_word(made, TURING_WORDS_SIZE, size_word((enum type)inst->type));
    sm_word(made, TURING_WORDS_ORDER, order_word(inst, false));
    if (copied)
        sm_move_tuple(s, inst, inst->dst, words, d);
}

/* A parameter that is narrow, or whose place is computed. */
static void select_param(struct selector *s, const struct inst *inst) {
    const struct operand *address = &inst->src[0];
    const unsigned words = inst->dst_count;
    bool copied = false;
    const uint32_t d = words > 1 ? select_tuple_for(s, inst->dst, words, &copied) : inst->dst[0].reg;
    struct source index = {.kind = SOURCE_ZERO};
    if (address->has_reg)
        index = sm_register(s, &(struct operand){.kind = OPERAND_REG, .reg = address->reg});
    struct machine_inst *made = sm_emit(s, TURING_LDC, inst);
    sm_put_tuple(made, 0, d, words);
    struct turing_operand *operand = &made->turing->operands[1];
    operand->reg = TURING_RZ;
    operand->value = (int64_t)(TURING_PARAM_BASE + (address->symbol ? address->symbol->offset : 0) + address->imm);
    if (index.kind == SOURCE_UNIT)
        machine_put_unit(made, 1, index.unit);
    sm_word(made, TURING_WORDS_SIZE_CONSTANT, size_word((enum type)inst->type));
    if (copied)
        sm_move_tuple(s, inst, inst->dst, words, d);
}

static void select_store(struct selector *s, const struct inst *inst) {
    const unsigned words = inst->src_count - 2u;
    const enum turing_row_id row = inst->space == SPACE_SHARED    ? TURING_STS
                                   : inst->space == SPACE_LOCAL   ? TURING_STL
                                   : inst->space == SPACE_GENERIC ? TURING_ST
                                                                  : TURING_STG;
    const struct place place = place_of(s, inst);
    struct source value = {.kind = SOURCE_ZERO};
    const uint32_t tuple = words > 1 ? sm_tuple_of(s, inst, &inst->src[2], words) : NO_UNIT;
    if (words == 1)
        value = sm_register(s, &inst->src[2]);
    struct machine_inst *made = sm_emit(s, row, inst);
    put_place(s, made, 0, &place, true);
    if (words > 1)
        sm_put_tuple(made, 1, tuple, words);
    else
        sm_put(made, 1, &value);
    sm_word(made, TURING_WORDS_SIZE, size_word((enum type)inst->type));
    sm_word(made, TURING_WORDS_ORDER, order_word(inst, false));
}

/* ---- atomics ---- */

static unsigned atomic_word(enum atom atom) {
    switch (atom) {
    case ATOM_MIN: return 1;
    case ATOM_MAX: return 2;
    case ATOM_INC: return 3;
    case ATOM_DEC: return 4;
    case ATOM_AND: return 5;
    case ATOM_OR: return 6;
    case ATOM_XOR: return 7;
    case ATOM_EXCH: return 8;
    default: return 0;
    }
}

static unsigned atomic_type(enum type type) {
    switch (type) {
    case TYPE_S32: return 1;
    case TYPE_U64:
    case TYPE_B64: return 2;
    case TYPE_F32: return 3;
    case TYPE_F16X2: return 4;
    case TYPE_S64: return 5;
    case TYPE_F64: return 6;
    default: return 0;
    }
}

static enum turing_row_id atomic_row(const struct inst *inst) {
    const bool is_cas = inst->atom == ATOM_CAS;
    if (inst->space == SPACE_SHARED)
        return is_cas ? TURING_ATOMS_CAS : TURING_ATOMS;
    if (inst->space == SPACE_GENERIC)
        return is_cas ? TURING_ATOM_CAS : TURING_ATOM;
    if (is_cas)
        return TURING_ATOMG_CAS;
    return inst->op == OP_RED && inst->atom != ATOM_EXCH ? TURING_RED : TURING_ATOMG;
}

static void select_atomic(struct selector *s, const struct inst *inst) {
    const unsigned words = type_bytes((enum type)inst->type) == 8 ? 2 : 1, values = (inst->src_count - 2u) / words;
    const enum turing_row_id row = atomic_row(inst);
    const struct place place = place_of(s, inst);
    uint32_t units[2] = {NO_UNIT, NO_UNIT};
    for (unsigned i = 0; i < values; i++)
        units[i] = sm_tuple_of(s, inst, &inst->src[2 + i * words], words);
    bool copied = false;
    const bool has_result = inst->op == OP_ATOM;
    const uint32_t d = !has_result  ? NO_UNIT
                       : words == 2 ? select_tuple_for(s, inst->dst, 2, &copied)
                                    : inst->dst[0].reg;
    struct machine_inst *made = sm_emit(s, row, inst);
    const bool is_cas = inst->atom == ATOM_CAS;
    unsigned at = row == TURING_RED || inst->space == SPACE_SHARED ? 0 : 1;
    if (row != TURING_RED && has_result)
        sm_put_tuple(made, at, d, words);
    at += row != TURING_RED;
    put_place(s, made, at, &place, !is_cas);
    for (unsigned i = 0; i < values; i++)
        sm_put_tuple(made, at + 1 + i, units[i], words);
    sm_word(made, TURING_WORDS_ATOMIC, atomic_word((enum atom)inst->atom));
    sm_word(made, TURING_WORDS_REDUCTION, atomic_word((enum atom)inst->atom));
    sm_word(made, TURING_WORDS_ATOMIC_TYPE, atomic_type((enum type)inst->type));
    sm_word(made, TURING_WORDS_CAS_TYPE, words == 2 ? 2 : 0);
    sm_word(made, TURING_WORDS_ORDER, order_word(inst, true));
    if (copied)
        sm_move_tuple(s, inst, inst->dst, 2, d);
}

enum status sm_access(struct selector *s, const struct inst *inst) {
    if (releases(inst))
        fence(s, inst);
    if (inst->op == OP_LD && inst->space == SPACE_PARAM)
        select_param(s, inst);
    else if (inst->op == OP_LD)
        select_load(s, inst);
    else if (inst->op == OP_ST)
        select_store(s, inst);
    else
        select_atomic(s, inst);
    if (acquires(inst))
        fence(s, inst);
    return STATUS_OK;
}
