/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics: as they are where an instruction does them, else by a lock or by exchange until nobody came between. */
#include "isa/address.h"
#include "lower/legal.h"

/* What the operation makes of what the word held. */
static struct operand atomic_result(struct inst_builder *to, const struct inst *inst, struct operand old,
                                    const struct operand *values) {
    const enum type type = (enum type)inst->type;
    switch ((enum atom)inst->atom) {
    case ATOM_ADD: return build2(to, OP_ADD, type, old, values[0]);
    case ATOM_MIN: return build2(to, OP_MIN, type, old, values[0]);
    case ATOM_MAX: return build2(to, OP_MAX, type, old, values[0]);
    case ATOM_AND: return build2(to, OP_AND, type, old, values[0]);
    case ATOM_OR: return build2(to, OP_OR, type, old, values[0]);
    case ATOM_XOR: return build2(to, OP_XOR, type, old, values[0]);
    case ATOM_CAS: return build_select(to, build_compare(to, CMP_EQ, TYPE_U32, old, values[0]), values[1], old);
    case ATOM_INC: { /* 0 from the limit on */
        const struct operand next = build2(to, OP_ADD, TYPE_U32, old, constant(1));
        return build_select(to, build_compare(to, CMP_GE, TYPE_U32, old, values[0]), constant(0), next);
    }
    case ATOM_DEC: /* the limit below 1 and above it: 0 - 1 is more than any */
        return build2(to, OP_MIN, TYPE_U32, build2(to, OP_ADD, TYPE_U32, old, constant(UINT32_MAX)), values[0]);
    default: return values[0];
    }
}

/* In shared memory, where no instruction does it whole: load with the lock of the word, operate, store where the lock was
 * got, and again where not. Who has a lock and who has not go through the same instructions up to the store, so no lane
 * that asks is in the way of one that holds. */
static void atomic_by_lock(struct legal *l, const struct inst *inst) {
    struct operand address, upper, values[2];
    legal_take_address(l, inst, &address, &upper);
    for (unsigned i = 1; i < inst->src_count; i++)
        values[i - 1] = legal_low(l, &inst->src[i]);
    const uint32_t loop = body_block_new(l->to), behind = body_block_new(l->to);
    const struct operand old = operand_register(body_register(l->to, TYPE_B32));
    const struct operand got = operand_register(body_register(l->to, TYPE_PRED));
    build_jump(&l->at, loop);
    struct inst *load = build_inst(&l->at, OP_LD, TYPE_B32, 2, 2);
    load->space = SPACE_SHARED, load->mode = MODE_LOCK, load->order = ORDER_VOLATILE;
    load->dst[0] = old, load->dst[1] = got;
    load->src[0] = address, load->src[1] = upper;
    const struct operand new = atomic_result(&l->at, inst, old, values);
    struct inst *store = build_inst(&l->at, OP_ST, TYPE_B32, 0, 3);
    store->space = SPACE_SHARED, store->mode = MODE_UNLOCK, store->guard = (int32_t)got.reg;
    store->src[0] = address, store->src[1] = upper, store->src[2] = new;
    build_branch(&l->at, operand_not(got), loop, behind);
    if (inst->op == OP_ATOM)
        legal_put(l, &inst->dst[0], old);
}

/* What the operation makes of what two words held. */
static struct wide wide_result(struct inst_builder *to, const struct inst *inst, struct wide old, struct wide value) {
    const enum type type = (enum type)inst->type;
    const struct operand sources[4] = {old.lo, old.hi, value.lo, value.hi};
    switch ((enum atom)inst->atom) {
    case ATOM_ADD:
        return type == TYPE_F64 ? build_pair(to, OP_ADD, TYPE_F64, sources, 4) : wide_add(to, old, value, false);
    case ATOM_MIN: return wide_select(to, wide_compare(to, CMP_LT, type, value, old), value, old);
    case ATOM_MAX: return wide_select(to, wide_compare(to, CMP_GT, type, value, old), value, old);
    default: {
        const enum op op = inst->atom == ATOM_AND ? OP_AND : inst->atom == ATOM_OR ? OP_OR : OP_XOR;
        const struct operand lo = build2(to, op, TYPE_B32, old.lo, value.lo);
        return (struct wide){lo, build2(to, op, TYPE_B32, old.hi, value.hi)};
    }
    }
}

/* Sums of pairs of halves; bf16 has none, and takes a product with 1. */
static struct operand half_sum(struct inst_builder *to, enum type type, struct operand old, struct operand value) {
    const struct operand d = operand_register(body_register(to->body, TYPE_B32));
    const bool is_brain = type == TYPE_BF16X2 || type == TYPE_BF16;
    if (is_brain)
        build_to(to, d, OP_FMA, TYPE_BF16X2, (struct operand[3]){old, constant(0x3f803f80), value});
    else
        build_to(to, d, OP_ADD, TYPE_F16X2, (struct operand[3]){old, value});
    return d;
}

/* The word with one of its halves changed. */
static struct operand part_of_word(struct inst_builder *to, const struct inst *inst, struct operand old,
                                   const struct operand values[2], struct operand shift) {
    const struct operand part =
        build2(to, OP_AND, TYPE_B32, build2(to, OP_SHR, TYPE_U32, old, shift), constant(0xffff));
    struct operand new;
    if (inst->atom == ATOM_CAS) {
        const struct operand wanted = build2(to, OP_AND, TYPE_B32, values[0], constant(0xffff));
        new = build_select(to, build_compare(to, CMP_EQ, TYPE_U32, part, wanted), values[1], part);
    } else {
        new = half_sum(to, (enum type)inst->type, part, values[0]);
    }
    const struct operand there = build2(to, OP_SHL, TYPE_B32, constant(0xffff), shift);
    const struct operand moved =
        build2(to, OP_SHL, TYPE_B32, build2(to, OP_AND, TYPE_B32, new, constant(0xffff)), shift);
    const struct operand rest = build2(to, OP_AND, TYPE_B32, old, build1(to, OP_NOT, TYPE_B32, there));
    return build2(to, OP_OR, TYPE_B32, rest, moved);
}

/* The address of the word that holds a half, and how far up it is there. */
static struct operand word_around(struct legal *l, struct operand *address, struct operand *upper) {
    struct inst_builder *to = &l->at;
    struct wide place = {address->has_reg ? operand_register(address->reg) : constant(0),
                         upper->kind == OPERAND_NONE ? constant(0) : *upper};
    struct wide offset = {constant((uint32_t)address->imm), constant((uint32_t)(address->imm >> 32))};
    if (address->symbol) {
        struct operand symbol = *address;
        symbol.has_reg = false;
        offset = (struct wide){legal_low(l, &symbol), constant(0)};
    }
    place = wide_add(to, place, offset, false);
    const struct operand word = legal_as_register(l, build2(to, OP_AND, TYPE_B32, place.lo, constant(~3u)));
    if (upper->kind != OPERAND_NONE)
        *upper = legal_as_register(l, place.hi);
    *address = (struct operand){.kind = OPERAND_ADDRESS, .has_reg = true, .reg = word.reg};
    return build2(to, OP_SHL, TYPE_B32, build2(to, OP_AND, TYPE_B32, place.lo, constant(2)), constant(3));
}

bool legal_atomic_loops(const struct legal *l, const struct inst *inst) {
    const enum type type = (enum type)inst->type;
    if (!l->target->has_pairs)
        return inst->space == SPACE_SHARED && !l->target->has_generic;
    const bool is_shared = inst->space == SPACE_SHARED;
    if (type_bytes(type) == 2 || type == TYPE_BF16X2)
        return true;
    if (type == TYPE_F16X2 || type == TYPE_F32 || type == TYPE_F64)
        return is_shared && inst->atom == ATOM_ADD;
    return type_bytes(type) == 8 && is_shared && inst->atom != ATOM_CAS && inst->atom != ATOM_EXCH;
}

/* Where no instruction does it: what the memory held is exchanged for the result until nobody came between. */
static void atomic_by_exchange(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    struct operand address, upper, values[2] = {absent, absent}, shift = absent;
    const bool is_wide = type_bytes((enum type)inst->type) == 8, is_half = type_bytes((enum type)inst->type) == 2;
    const enum type bits = is_wide ? TYPE_B64 : TYPE_B32;
    const unsigned words = is_wide ? 2 : 1;
    legal_take_address(l, inst, &address, &upper);
    struct wide value = {absent, absent};
    if (is_wide)
        value = legal_wide(l, &inst->src[1]);
    for (unsigned i = 1; i < inst->src_count && i < 3 && !is_wide; i++)
        values[i - 1] = legal_as_register(l, legal_low(l, &inst->src[i]));
    if (is_half)
        shift = legal_as_register(l, word_around(l, &address, &upper));
    const uint32_t loop = body_block_new(l->to), behind = body_block_new(l->to);
    struct operand old[2], seen[2], new[2];
    struct inst *load = NULL, *exchange = NULL;
    for (unsigned i = 0; i < 2; i++)
        old[i] = operand_register(body_register(l->to, TYPE_B32));
    load = build_inst(to, OP_LD, bits, words, 2);
    load->space = inst->space, load->order = ORDER_VOLATILE;
    load->src[0] = address, load->src[1] = upper;
    for (unsigned i = 0; i < words; i++)
        load->dst[i] = old[i];
    build_jump(to, loop);
    if (is_wide) {
        const struct wide result = wide_result(to, inst, (struct wide){old[0], old[1]}, value);
        new[0] = legal_as_register(l, result.lo), new[1] = legal_as_register(l, result.hi);
    } else if (is_half) {
        new[0] = part_of_word(to, inst, old[0], values, shift);
    } else if (inst->type == TYPE_F16X2 || inst->type == TYPE_BF16X2) {
        new[0] = half_sum(to, (enum type)inst->type, old[0], values[0]);
    } else {
        new[0] = atomic_result(to, inst, old[0], values);
    }
    for (unsigned i = 0; i < 2; i++)
        seen[i] = operand_register(body_register(l->to, TYPE_B32));
    exchange = build_inst(to, OP_ATOM, bits, words, 2u + 2u * words);
    exchange->space = inst->space, exchange->atom = ATOM_CAS;
    exchange->order = inst->order, exchange->scope = inst->scope;
    exchange->src[0] = address, exchange->src[1] = upper;
    for (unsigned i = 0; i < words; i++)
        exchange->dst[i] = seen[i], exchange->src[2 + i] = old[i], exchange->src[2 + words + i] = new[i];
    const struct operand differs =
        is_wide ? wide_compare(to, CMP_NE, TYPE_U64, (struct wide){seen[0], seen[1]}, (struct wide){old[0], old[1]})
                : build_compare(to, CMP_NE, TYPE_U32, seen[0], old[0]);
    for (unsigned i = 0; i < words; i++)
        build_move(to, old[i], seen[i]);
    build_branch(to, differs, loop, behind);
    if (inst->op != OP_ATOM || inst->dst[0].kind != OPERAND_REG)
        return;
    if (is_wide)
        legal_put_wide(l, &inst->dst[0], (struct wide){old[0], old[1]});
    else
        legal_put(l, &inst->dst[0], is_half ? build2(to, OP_SHR, TYPE_U32, old[0], shift) : old[0]);
}

/* Pairs of words are operands of their own, and shared memory has atomics. */
static enum status atomic_of_pairs(struct legal *l, const struct inst *inst) {
    const bool is_wide = type_bytes((enum type)inst->type) == 8;
    if (type_is_float((enum type)inst->type) && inst->atom != ATOM_ADD)
        return legal_refuse(l, inst, "such an atomic of floats");
    if (legal_atomic_loops(l, inst)) {
        atomic_by_exchange(l, inst);
        return STATUS_OK;
    }
    struct operand address, upper, values[4];
    legal_take_address(l, inst, &address, &upper);
    unsigned count = 0;
    for (unsigned i = 1; i < inst->src_count; i++) {
        const struct wide value =
            is_wide ? legal_wide(l, &inst->src[i]) : (struct wide){legal_low(l, &inst->src[i]), absent};
        values[count++] = legal_as_register(l, value.lo);
        if (is_wide)
            values[count++] = legal_as_register(l, value.hi);
    }
    const bool is_atom = inst->op == OP_ATOM && inst->dst[0].kind == OPERAND_REG;
    const unsigned words = !is_atom ? 0 : is_wide ? 2 : 1;
    struct inst *made = build_inst(&l->at, is_atom ? OP_ATOM : OP_RED, (enum type)inst->type, words, count + 2u);
    made->space = inst->space, made->order = inst->order, made->scope = inst->scope, made->atom = inst->atom;
    made->src[0] = address, made->src[1] = upper;
    for (unsigned i = 0; i < count; i++)
        made->src[i + 2] = values[i];
    for (unsigned i = 0; i < words; i++)
        made->dst[i] = operand_register(l->first[inst->dst[0].reg] + i);
    return STATUS_OK;
}

enum status legal_atomic(struct legal *l, const struct inst *inst) {
    const unsigned bytes = type_bytes((enum type)inst->type);
    if (l->target->has_pairs && bytes <= 8)
        return atomic_of_pairs(l, inst);
    if (bytes != 4 || inst->type == TYPE_F16X2 || inst->type == TYPE_BF16X2)
        return legal_refuse(l, inst, "atomics that are not of 32-bit integers or f32");
    if (inst->space == SPACE_SHARED && !l->target->has_generic) {
        atomic_by_lock(l, inst);
        return STATUS_OK;
    }
    struct operand address, upper;
    struct inst generic = *inst;
    legal_take_address(l, inst, &address, &upper);
    if (inst->space == SPACE_SHARED) { /* by way of their window: atomics take generic addresses */
        struct operand place = address.has_reg ? operand_register(address.reg) : constant(0);
        if (address.symbol) {
            struct operand symbol = address;
            symbol.has_reg = false;
            place = build2(&l->at, OP_ADD, TYPE_U32, place, legal_low(l, &symbol));
        } else {
            place = build2(&l->at, OP_ADD, TYPE_U32, place, constant((uint32_t)address.imm));
        }
        place = legal_as_register(l, build2(&l->at, OP_ADD, TYPE_U32, place, constant((uint32_t)SHARED_WINDOW)));
        address = (struct operand){.kind = OPERAND_ADDRESS, .has_reg = true, .reg = place.reg};
        generic.space = SPACE_GENERIC;
    }
    inst = &generic;
    struct operand values[2];
    for (unsigned i = 1; i < inst->src_count; i++)
        values[i - 1] = legal_as_register(l, legal_low(l, &inst->src[i]));
    const bool is_atom = inst->op == OP_ATOM && inst->dst[0].kind == OPERAND_REG;
    struct inst *made =
        build_inst(&l->at, is_atom ? OP_ATOM : OP_RED, (enum type)inst->type, is_atom ? 1 : 0, inst->src_count + 1u);
    made->space = inst->space, made->order = inst->order, made->scope = inst->scope, made->atom = inst->atom;
    made->src[0] = address, made->src[1] = upper;
    for (unsigned i = 1; i < inst->src_count; i++)
        made->src[i + 1] = values[i - 1];
    if (is_atom)
        made->dst[0] = operand_register(l->first[inst->dst[0].reg]);
    return STATUS_OK;
}
