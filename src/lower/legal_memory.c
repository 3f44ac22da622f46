/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, stores and atomics: the address is a register and an offset, or an offset; values are words. What follows the
 * address in src[1] is the upper word of a 64-bit pointer, where it is used. */
#include "isa/address.h"
#include "lower/legal.h"

static bool is_pointer_space(const struct inst *inst) {
    return inst->space == SPACE_GENERIC || inst->space == SPACE_GLOBAL || inst->space == SPACE_CONST;
}

/* Address and, where pointers are used whole, its upper word. */
void legal_take_address(struct legal *l, const struct inst *inst, struct operand *address, struct operand *upper) {
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
    legal_take_address(l, inst, &address, &upper);
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

struct operand legal_as_register(struct legal *l, struct operand value) {
    if (value.kind == OPERAND_REG)
        return value;
    const struct operand held = operand_register(body_register(l->to, TYPE_B32));
    build_move(&l->at, held, value);
    return held;
}

static enum status legal_store(struct legal *l, const struct inst *inst) {
    struct operand address, upper, values[8];
    legal_take_address(l, inst, &address, &upper);
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
            values[i] = legal_as_register(l, values[i]);
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
