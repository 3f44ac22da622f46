/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, stores and atomics: the address is a register and an offset, or an offset; values are words. What follows the
 * address in src[1] is the upper word of a 64-bit pointer, where it is used. */
#include "isa/address.h"
#include "sass/legal.h"

static bool is_pointer_space(const struct inst *inst) {
    return inst->space == SPACE_GENERIC || inst->space == SPACE_GLOBAL || inst->space == SPACE_CONST;
}

/* Address and, where pointers are used whole, its upper word. */
static void take_address(struct legal *l, const struct inst *inst, struct operand *address, struct operand *upper) {
    const struct operand *given = &inst->src[0];
    *upper = absent;
    *address = *given;
    if (given->symbol && is_pointer_space(inst)) { /* its address is a value first */
        struct operand base = *given;
        base.has_reg = false;
        struct wide value = legal_wide(l, &base);
        if (given->has_reg) {
            struct operand reg = {.kind = OPERAND_REG, .reg = given->reg};
            value = wide_add(&l->at, value, legal_wide(l, &reg), false);
        }
        *address = (struct operand){.kind = OPERAND_ADDRESS, .has_reg = true, .reg = value.lo.reg};
        *upper = value.hi;
    } else if (given->has_reg) {
        const struct operand reg = {.kind = OPERAND_REG, .reg = given->reg};
        const struct wide value = legal_wide(l, &reg);
        address->reg = value.lo.reg;
        *upper = value.hi;
    }
    if (!is_pointer_space(inst) || !l->wide_addresses)
        *upper = absent;
    else if (upper->kind == OPERAND_IMM || upper->kind == OPERAND_NONE) {
        const struct operand held = operand_register(body_register(l->to, TYPE_B32));
        build_move(&l->at, held, constant(0));
        *upper = held;
    }
}

static struct inst *build_access(struct legal *l, const struct inst *inst, enum type type, struct operand address,
                                 struct operand upper, unsigned words) {
    const bool is_load = inst->op == OP_LD;
    struct inst *made = build_inst(&l->at, (enum op)inst->op, type, is_load ? words : 0, is_load ? 2 : 2 + words);
    made->space = inst->space, made->order = inst->order, made->scope = inst->scope, made->cache = inst->cache;
    made->src[0] = address, made->src[1] = upper;
    return made;
}

static bool sign_extends(const struct inst *inst) { return type_is_signed((enum type)inst->type); }

static void load_words(struct legal *l, const struct inst *inst, const struct operand *dsts, unsigned count,
                       struct operand address, struct operand upper) {
    const unsigned bytes = type_bytes((enum type)inst->type), words = bytes * count / 4;
    const enum type type = words == 4   ? TYPE_B128
                           : words == 2 ? TYPE_B64
                           : bytes < 4  ? (enum type)inst->type
                                        : TYPE_B32;
    struct inst *made = build_access(l, inst, type, address, upper, words ? words : 1);
    unsigned word = 0;
    for (unsigned i = 0; i < count; i++)
        for (unsigned w = 0; w < (bytes > 4 ? bytes / 4 : 1); w++) {
            const bool given = dsts[i].kind == OPERAND_REG;
            const uint32_t reg = given ? l->first[dsts[i].reg] + w : body_register(l->to, TYPE_B32);
            made->dst[word++] = operand_register(reg);
        }
    /* a value in a wider register */
    for (unsigned i = 0; i < count; i++) {
        if (bytes == 8 || !legal_is_wide(l, &dsts[i]) || dsts[i].kind != OPERAND_REG)
            continue;
        const struct operand lo = operand_register(l->first[dsts[i].reg]);
        const struct operand hi = sign_extends(inst) ? build2(&l->at, OP_SHR, TYPE_S32, lo, constant(31)) : constant(0);
        build_move(&l->at, operand_register(lo.reg + 1), hi);
    }
}

static enum status legal_load(struct legal *l, const struct inst *inst) {
    struct operand address, upper;
    take_address(l, inst, &address, &upper);
    const unsigned bytes = type_bytes((enum type)inst->type), total = bytes * inst->dst_count;
    if (total > 16)
        return legal_refuse(l, inst, "a vector of more than 16 bytes");
    const bool whole = inst->dst_count == 1 || (bytes >= 4 && (total == 8 || total == 16));
    if (whole) {
        load_words(l, inst, inst->dst, inst->dst_count, address, upper);
        return STATUS_OK;
    }
    /* the register of the address may be among the destinations */
    if (address.has_reg) {
        const struct operand held = operand_register(body_register(l->to, TYPE_B32));
        build_move(&l->at, held, operand_register(address.reg));
        address.reg = held.reg;
    }
    for (unsigned i = 0; i < inst->dst_count; i++, address.imm += bytes)
        load_words(l, inst, &inst->dst[i], 1, address, upper);
    return STATUS_OK;
}

static struct operand as_register(struct legal *l, struct operand value) {
    if (value.kind == OPERAND_REG)
        return value;
    const struct operand held = operand_register(body_register(l->to, TYPE_B32));
    build_move(&l->at, held, value);
    return held;
}

static enum status legal_store(struct legal *l, const struct inst *inst) {
    struct operand address, upper, values[8];
    take_address(l, inst, &address, &upper);
    const unsigned bytes = type_bytes((enum type)inst->type), count = inst->src_count - 1u, total = bytes * count;
    if (total > 16)
        return legal_refuse(l, inst, "a vector of more than 16 bytes");
    unsigned words = 0;
    for (unsigned i = 0; i < count; i++) {
        if (bytes < 8) {
            values[words++] = legal_low(l, &inst->src[i + 1]);
            continue;
        }
        const struct wide value = legal_wide(l, &inst->src[i + 1]);
        values[words++] = value.lo, values[words++] = value.hi;
    }
    const bool whole = count == 1 || (bytes >= 4 && (total == 8 || total == 16));
    /* words of a vector are registers that lie together; a single word may be a constant */
    for (unsigned i = 0; i < words; i++)
        if (words > 1 && whole)
            values[i] = as_register(l, values[i]);
    if (whole) {
        const enum type type = words == 4   ? TYPE_B128
                               : words == 2 ? TYPE_B64
                               : bytes < 4  ? (enum type)inst->type
                                            : TYPE_B32;
        struct inst *made = build_access(l, inst, type, address, upper, words);
        for (unsigned i = 0; i < words; i++)
            made->src[2 + i] = values[i];
        return STATUS_OK;
    }
    for (unsigned i = 0; i < count; i++, address.imm += bytes)
        build_access(l, inst, bytes < 4 ? (enum type)inst->type : TYPE_B32, address, upper, 1)->src[2] = values[i];
    return STATUS_OK;
}

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
    take_address(l, inst, &address, &upper);
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

/* f32 in shared memory, where no instruction adds: what the word held is exchanged for the sum until nobody came between. */
static void atomic_by_exchange(struct legal *l, const struct inst *inst) {
    struct operand address, upper;
    take_address(l, inst, &address, &upper);
    const struct operand value = as_register(l, legal_low(l, &inst->src[1]));
    const uint32_t loop = body_block_new(l->to), behind = body_block_new(l->to);
    const struct operand old = operand_register(body_register(l->to, TYPE_B32));
    struct inst *load = build_inst(&l->at, OP_LD, TYPE_B32, 1, 2);
    load->space = SPACE_SHARED, load->order = ORDER_VOLATILE, load->dst[0] = old;
    load->src[0] = address, load->src[1] = upper;
    build_jump(&l->at, loop);
    const struct operand new = atomic_result(&l->at, inst, old, &value);
    const struct operand seen = operand_register(body_register(l->to, TYPE_B32));
    struct inst *exchange = build_inst(&l->at, OP_ATOM, TYPE_B32, 1, 4);
    exchange->space = SPACE_SHARED, exchange->atom = ATOM_CAS, exchange->dst[0] = seen;
    exchange->src[0] = address, exchange->src[1] = upper, exchange->src[2] = old, exchange->src[3] = new;
    const struct operand differs = build_compare(&l->at, CMP_NE, TYPE_U32, seen, old);
    build_move(&l->at, old, seen);
    build_branch(&l->at, differs, loop, behind);
    if (inst->op == OP_ATOM && inst->dst[0].kind == OPERAND_REG)
        legal_put(l, &inst->dst[0], old);
}

/* Pairs of words are operands of their own, and shared memory has atomics. */
static enum status atomic_of_pairs(struct legal *l, const struct inst *inst) {
    const bool is_wide = type_bytes((enum type)inst->type) == 8;
    if (inst->space == SPACE_SHARED && inst->type == TYPE_F32 && inst->atom == ATOM_ADD) {
        atomic_by_exchange(l, inst);
        return STATUS_OK;
    }
    if (type_is_float((enum type)inst->type) && (inst->atom != ATOM_ADD || inst->space == SPACE_SHARED))
        return legal_refuse(l, inst, "such an atomic of floats");
    if (is_wide && inst->space == SPACE_SHARED && inst->atom != ATOM_CAS && inst->atom != ATOM_EXCH)
        return legal_refuse(l, inst, "64-bit atomics in shared memory other than cas and exch");
    struct operand address, upper, values[4];
    take_address(l, inst, &address, &upper);
    unsigned count = 0;
    for (unsigned i = 1; i < inst->src_count; i++) {
        const struct wide value =
            is_wide ? legal_wide(l, &inst->src[i]) : (struct wide){legal_low(l, &inst->src[i]), absent};
        values[count++] = as_register(l, value.lo);
        if (is_wide)
            values[count++] = as_register(l, value.hi);
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

static enum status legal_atomic(struct legal *l, const struct inst *inst) {
    const unsigned bytes = type_bytes((enum type)inst->type);
    if (l->target->has_pairs && (bytes == 4 || bytes == 8) && inst->type != TYPE_F16X2 && inst->type != TYPE_BF16X2)
        return atomic_of_pairs(l, inst);
    if (bytes != 4 || inst->type == TYPE_F16X2 || inst->type == TYPE_BF16X2)
        return legal_refuse(l, inst, "atomics that are not of 32-bit integers or f32");
    if (inst->space == SPACE_SHARED && !l->target->has_generic) {
        atomic_by_lock(l, inst);
        return STATUS_OK;
    }
    struct operand address, upper;
    struct inst generic = *inst;
    take_address(l, inst, &address, &upper);
    if (inst->space == SPACE_SHARED) { /* by way of their window: atomics take generic addresses */
        struct operand place = address.has_reg ? operand_register(address.reg) : constant(0);
        if (address.symbol) {
            struct operand symbol = address;
            symbol.has_reg = false;
            place = build2(&l->at, OP_ADD, TYPE_U32, place, legal_low(l, &symbol));
        } else {
            place = build2(&l->at, OP_ADD, TYPE_U32, place, constant((uint32_t)address.imm));
        }
        place = as_register(l, build2(&l->at, OP_ADD, TYPE_U32, place, constant((uint32_t)SHARED_WINDOW)));
        address = (struct operand){.kind = OPERAND_ADDRESS, .has_reg = true, .reg = place.reg};
        generic.space = SPACE_GENERIC;
    }
    inst = &generic;
    struct operand values[2];
    for (unsigned i = 1; i < inst->src_count; i++)
        values[i - 1] = as_register(l, legal_low(l, &inst->src[i]));
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

static enum status access_once(struct legal *l, const struct inst *inst) {
    if (inst->op == OP_LD)
        return legal_load(l, inst);
    return inst->op == OP_ST ? legal_store(l, inst) : legal_atomic(l, inst);
}

/* Where no instruction takes generic addresses: the window says which space, and each has its own access. The address goes
 * through a register of `from`, which the parts read as they read any other. */
static enum status access_generic(struct legal *l, const struct inst *inst) {
    static const struct {
        uint8_t space;
        uint64_t window;
    } spaces[] = {{SPACE_SHARED, SHARED_WINDOW}, {SPACE_LOCAL, LOCAL_WINDOW}};
    struct inst part = *inst;
    part.space = SPACE_GLOBAL;
    const bool is_atomic = inst->op == OP_ATOM || inst->op == OP_RED;
    if (!inst->src[0].has_reg || inst->src[0].symbol) /* a variable */
        return access_once(l, &part);
    const struct operand address = operand_register(l->first[inst->src[0].reg]);
    struct operand *sources = ARENA_ARRAY(l->to->arena, struct operand, inst->src_count);
    for (unsigned i = 0; i < inst->src_count; i++)
        sources[i] = inst->src[i];
    part.src = sources;
    const uint32_t behind = body_block_new(l->to);
    for (unsigned i = 0; i < 3; i++) {
        uint32_t other = behind;
        if (is_atomic && i < 2 && spaces[i].space == SPACE_LOCAL) /* PTX has none there */
            continue;
        if (i < 2) {
            const struct operand place =
                build2(&l->at, OP_ADD, TYPE_U32, address, constant((uint32_t)(0 - spaces[i].window)));
            const struct operand inside =
                build_compare(&l->at, CMP_LT, TYPE_U32, place, constant((uint32_t)WINDOW_BYTES));
            const uint32_t here = body_block_new(l->to);
            other = body_block_new(l->to);
            build_branch(&l->at, operand_not(inside), other, here);
        }
        part.space = i < 2 ? spaces[i].space : SPACE_GLOBAL;
        sources[0].imm = inst->src[0].imm - (i < 2 ? spaces[i].window : 0);
        const enum status status = access_once(l, &part);
        if (status)
            return status;
        build_jump(&l->at, behind);
        l->at.block = other;
    }
    return STATUS_OK;
}

enum status legal_access(struct legal *l, const struct inst *inst) {
    if (inst->space == SPACE_GENERIC && !l->target->has_generic)
        return access_generic(l, inst);
    return access_once(l, inst);
}
