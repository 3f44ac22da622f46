/* SPDX-License-Identifier: Apache-2.0 */
/* 64-bit integers as pairs of words. Shifts by 32 and more give 0 (or the sign), which the sequences rely on. */
#include "lower/legal.h"

static struct operand carried(struct inst_builder *to, enum op op, struct operand a, struct operand b, unsigned flags) {
    const struct operand d = operand_register(body_register(to->body, TYPE_B32));
    build_to(to, d, op, TYPE_U32, (struct operand[3]){a, b})->flags = (uint16_t)flags;
    return d;
}

struct wide build_pair(struct inst_builder *to, enum op op, enum type type, const struct operand *sources,
                       unsigned count) {
    const struct operand lo = operand_register(body_register(to->body, TYPE_B32));
    const struct operand hi = operand_register(body_register(to->body, TYPE_B32));
    struct inst *made = build_inst(to, op, type, 2, count);
    made->dst[0] = lo, made->dst[1] = hi;
    for (unsigned i = 0; i < count; i++)
        made->src[i] = sources[i];
    return (struct wide){lo, hi};
}

/* All ones where a < b, else 0. */
static struct operand below(struct inst_builder *to, struct operand a, struct operand b) {
    const struct operand d = operand_register(body_register(to->body, TYPE_B32));
    build_to(to, d, OP_SET, TYPE_U32, (struct operand[3]){a, b})->compare = CMP_LT;
    return d;
}

/* A carry shows in the sum, a borrow in the operands. */
static struct wide add_without_carry(struct inst_builder *to, struct wide a, struct wide b, bool subtract) {
    const enum op op = subtract ? OP_SUB : OP_ADD;
    const struct operand lo = build2(to, op, TYPE_U32, a.lo, b.lo), hi = build2(to, op, TYPE_U32, a.hi, b.hi);
    if (subtract)
        return (struct wide){lo, build2(to, OP_ADD, TYPE_U32, hi, below(to, a.lo, b.lo))};
    const struct operand one = a.lo.kind == OPERAND_IMM ? b.lo : a.lo;
    return (struct wide){lo, build2(to, OP_SUB, TYPE_U32, hi, below(to, lo, one))};
}

struct wide wide_add(struct inst_builder *to, struct wide a, struct wide b, bool subtract) {
    const enum op op = subtract ? OP_SUB : OP_ADD;
    if (operand_is_immediate(&b.lo, 0))
        return (struct wide){a.lo, build2(to, op, TYPE_U32, a.hi, b.hi)};
    if (!subtract && operand_is_immediate(&a.lo, 0))
        return (struct wide){b.lo, build2(to, op, TYPE_U32, a.hi, b.hi)};
    if (to->body->target->has_pairs)
        return build_pair(to, op, TYPE_U64, (struct operand[4]){a.lo, a.hi, b.lo, b.hi}, 4);
    if (!to->body->target->has_carry)
        return add_without_carry(to, a, b, subtract);
    struct wide sum;
    sum.lo = carried(to, op, a.lo, b.lo, FLAG_CARRY_OUT);
    sum.hi = carried(to, op, a.hi, b.hi, FLAG_CARRY_IN);
    return sum;
}

struct wide wide_negate(struct inst_builder *to, struct wide a) {
    return wide_add(to, (struct wide){constant(0), constant(0)}, a, true);
}

static struct wide wide_logic(struct inst_builder *to, enum op op, struct wide a, struct wide b) {
    const struct operand lo = build2(to, op, TYPE_B32, a.lo, b.lo), hi = build2(to, op, TYPE_B32, a.hi, b.hi);
    return (struct wide){lo, hi};
}

static struct wide wide_not(struct inst_builder *to, struct wide a) {
    const struct operand lo = build1(to, OP_NOT, TYPE_B32, a.lo), hi = build1(to, OP_NOT, TYPE_B32, a.hi);
    return (struct wide){lo, hi};
}

struct wide wide_product(struct inst_builder *to, enum type type, struct operand a, struct operand b) {
    if (to->body->target->has_pairs && (a.kind == OPERAND_REG || b.kind == OPERAND_REG)) {
        const struct wide product = build_pair(to, OP_MUL, type, (struct operand[2]){a, b}, 2);
        struct body_block *block = &to->body->blocks.items[to->block];
        block->code.items[block->code.count - 1].mode = MODE_WIDE;
        return product;
    }
    const struct operand lo = build2(to, OP_MUL, TYPE_U32, a, b), hi = build_high(to, type, a, b);
    return (struct wide){lo, hi};
}

struct wide wide_multiply(struct inst_builder *to, struct wide a, struct wide b) {
    if (a.lo.kind == OPERAND_IMM && a.hi.kind == OPERAND_IMM) {
        const struct wide swapped = a;
        a = b, b = swapped;
    }
    if (operand_is_immediate(&b.hi, 0) && b.lo.kind == OPERAND_IMM && b.lo.imm && !(b.lo.imm & (b.lo.imm - 1)))
        return wide_shift(to, OP_SHL, TYPE_B64, a, constant((uint32_t)__builtin_ctzll(b.lo.imm)));
    struct wide product = wide_product(to, TYPE_U32, a.lo, b.lo);
    product.hi = build3(to, OP_MAD, TYPE_U32, a.lo, b.hi, product.hi);
    product.hi = build3(to, OP_MAD, TYPE_U32, a.hi, b.lo, product.hi);
    return product;
}

/* The upper 64 bits of the product of two unsigned numbers. */
static struct wide high_unsigned(struct inst_builder *to, struct wide a, struct wide b) {
    const struct operand zero = constant(0);
    const struct wide low = wide_product(to, TYPE_U32, a.lo, b.lo), cross1 = wide_product(to, TYPE_U32, a.lo, b.hi);
    const struct wide cross2 = wide_product(to, TYPE_U32, a.hi, b.lo), high = wide_product(to, TYPE_U32, a.hi, b.hi);
    const struct wide sum = wide_add(to, cross1, (struct wide){low.hi, zero}, false);
    const struct wide sum2 = wide_add(to, cross2, (struct wide){sum.lo, zero}, false);
    return wide_add(to, wide_add(to, high, (struct wide){sum.hi, zero}, false), (struct wide){sum2.hi, zero}, false);
}

static struct wide high_part(struct inst_builder *to, enum type type, struct wide a, struct wide b) {
    struct wide high = high_unsigned(to, a, b);
    if (type != TYPE_S64)
        return high;
    /* each negative factor counted 2^64 too much */
    const struct operand sa = build2(to, OP_SHR, TYPE_S32, a.hi, constant(31));
    const struct operand sb = build2(to, OP_SHR, TYPE_S32, b.hi, constant(31));
    const struct wide ab = wide_logic(to, OP_AND, b, (struct wide){sa, sa});
    const struct wide ba = wide_logic(to, OP_AND, a, (struct wide){sb, sb});
    return wide_add(to, wide_add(to, high, ab, true), ba, true);
}

struct wide wide_shift(struct inst_builder *to, enum op op, enum type type, struct wide a, struct operand n) {
    const bool is_far = n.kind == OPERAND_IMM && ((uint32_t)n.imm == 0 || (uint32_t)n.imm >= 32);
    if (to->body->target->has_pairs && !is_far)
        return build_pair(to, op, type == TYPE_S64 ? TYPE_S64 : TYPE_U64, (struct operand[3]){a.lo, a.hi, n}, 3);
    const struct operand left = build2(to, OP_SUB, TYPE_U32, constant(32), n);
    const struct operand beyond = build2(to, OP_SUB, TYPE_U32, n, constant(32));
    if (op == OP_SHL) {
        struct operand hi = build2(to, OP_SHL, TYPE_B32, a.hi, n);
        hi = build2(to, OP_OR, TYPE_B32, hi, build2(to, OP_SHR, TYPE_U32, a.lo, left));
        hi = build2(to, OP_OR, TYPE_B32, hi, build2(to, OP_SHL, TYPE_B32, a.lo, beyond));
        return (struct wide){build2(to, OP_SHL, TYPE_B32, a.lo, n), hi};
    }
    const bool is_signed = type == TYPE_S64;
    struct operand lo = build2(to, OP_SHR, TYPE_U32, a.lo, n);
    lo = build2(to, OP_OR, TYPE_B32, lo, build2(to, OP_SHL, TYPE_B32, a.hi, left));
    const struct operand hi = build2(to, OP_SHR, is_signed ? TYPE_S32 : TYPE_U32, a.hi, n);
    if (!is_signed) {
        lo = build2(to, OP_OR, TYPE_B32, lo, build2(to, OP_SHR, TYPE_U32, a.hi, beyond));
    } else if (n.kind == OPERAND_IMM) {
        if ((uint32_t)n.imm >= 32)
            lo = build2(to, OP_SHR, TYPE_S32, a.hi, beyond);
    } else {
        const struct operand far = build2(to, OP_SHR, TYPE_S32, a.hi, beyond);
        lo = build_select(to, build_compare(to, CMP_GE, TYPE_U32, n, constant(32)), far, lo);
    }
    return (struct wide){lo, hi};
}

static enum compare unsigned_compare(enum compare compare) {
    switch (compare) {
    case CMP_LO: return CMP_LT;
    case CMP_LS: return CMP_LE;
    case CMP_HI: return CMP_GT;
    case CMP_HS: return CMP_GE;
    default: return compare;
    }
}

struct operand wide_compare(struct inst_builder *to, enum compare compare, enum type type, struct wide a,
                            struct wide b) {
    const enum type high_type = type == TYPE_S64 && unsigned_compare(compare) == compare ? TYPE_S32 : TYPE_U32;
    compare = unsigned_compare(compare);
    struct operand result;
    if (to->body->target->has_pairs) {
        result = operand_register(body_register(to->body, TYPE_PRED));
        struct inst *made = build_inst(to, OP_SETP, high_type == TYPE_S32 ? TYPE_S64 : TYPE_U64, 1, 4);
        made->dst[0] = result, made->compare = (uint8_t)compare;
        made->src[0] = a.lo, made->src[1] = a.hi, made->src[2] = b.lo, made->src[3] = b.hi;
        return result;
    }
    if (compare == CMP_EQ || compare == CMP_NE) {
        const enum boolop both = compare == CMP_EQ ? BOOL_AND : BOOL_OR;
        result = build_compare(to, compare, TYPE_U32, a.lo, b.lo);
        result = build_compare_and(to, compare, TYPE_U32, both, (struct operand[3]){a.hi, b.hi, result});
    } else {
        const enum compare strict = compare == CMP_LT || compare == CMP_LE ? CMP_LT : CMP_GT;
        result = build_compare(to, compare, TYPE_U32, a.lo, b.lo);
        result = build_compare_and(to, CMP_EQ, TYPE_U32, BOOL_AND, (struct operand[3]){a.hi, b.hi, result});
        result = build_compare_and(to, strict, high_type, BOOL_OR, (struct operand[3]){a.hi, b.hi, result});
    }
    return result;
}

struct wide wide_select(struct inst_builder *to, struct operand predicate, struct wide yes, struct wide no) {
    const struct operand lo = build_select(to, predicate, yes.lo, no.lo);
    const struct operand hi = build_select(to, predicate, yes.hi, no.hi);
    return (struct wide){lo, hi};
}

static struct operand wide_count(const struct legal *l, struct inst_builder *to, enum op op, struct wide a) {
    if (op == OP_POPC) {
        const struct operand hi = legal_bits(l, to, OP_POPC, a.hi), lo = legal_bits(l, to, OP_POPC, a.lo);
        return build2(to, OP_ADD, TYPE_S32, lo, hi);
    }
    const struct operand low = build2(to, OP_ADD, TYPE_S32, legal_bits(l, to, OP_CLZ, a.lo), constant(32));
    const struct operand none = build_compare(to, CMP_EQ, TYPE_U32, a.hi, constant(0));
    return build_select(to, none, low, legal_bits(l, to, OP_CLZ, a.hi));
}

/* Bits [place, place + length): up until the top one is the sign, and down again; place and length count modulo 256. */
static struct wide wide_extract(struct inst_builder *to, enum type type, struct wide a, struct operand place,
                                struct operand length) {
    place = build2(to, OP_AND, TYPE_B32, place, constant(0xff));
    length = build2(to, OP_AND, TYPE_B32, length, constant(0xff));
    const enum type kind = type == TYPE_S64 ? TYPE_S64 : TYPE_U64;
    struct operand cut = build2(to, OP_SUB, TYPE_S32, constant(64), length);
    cut = build2(to, OP_MAX, TYPE_S32, cut, constant(0));
    const struct wide field = wide_shift(to, OP_SHR, kind, a, place);
    const struct wide down = wide_shift(to, OP_SHR, kind, wide_shift(to, OP_SHL, TYPE_B64, field, cut), cut);
    if (kind != TYPE_S64)
        return down;
    const struct operand some = build_compare(to, CMP_NE, TYPE_U32, length, constant(0));
    return wide_select(to, some, down, (struct wide){constant(0), constant(0)});
}

static struct wide wide_insert(struct inst_builder *to, struct wide a, struct wide b, struct operand place,
                               struct operand length) {
    place = build2(to, OP_AND, TYPE_B32, place, constant(0xff));
    length = build2(to, OP_AND, TYPE_B32, length, constant(0xff));
    const struct wide ones = {constant(UINT32_MAX), constant(UINT32_MAX)};
    struct wide mask = wide_not(to, wide_shift(to, OP_SHL, TYPE_B64, ones, length));
    mask = wide_shift(to, OP_SHL, TYPE_B64, mask, place);
    const struct wide up = wide_shift(to, OP_SHL, TYPE_B64, a, place);
    struct operand words[2];
    for (unsigned i = 0; i < 2; i++) {
        const struct operand m = i ? mask.hi : mask.lo;
        const struct operand field = build2(to, OP_AND, TYPE_B32, i ? up.hi : up.lo, m);
        const struct operand rest = build2(to, OP_AND, TYPE_B32, i ? b.hi : b.lo, build1(to, OP_NOT, TYPE_B32, m));
        words[i] = build2(to, OP_OR, TYPE_B32, field, rest);
    }
    return (struct wide){words[0], words[1]};
}

/* A sum of 64-bit numbers that takes a carry or gives one. */
static struct wide wide_carried(struct inst_builder *to, const struct inst *inst, struct wide a, struct wide b) {
    const enum op op = inst->op == OP_SUB ? OP_SUB : OP_ADD;
    struct wide sum;
    if (!(inst->flags & FLAG_CARRY_OUT)) { /* the carry stays what it is */
        const struct operand word = carried(to, op, constant(0), constant(0), FLAG_CARRY_IN);
        sum = wide_add(to, a, b, op == OP_SUB);
        return wide_add(to, sum, (struct wide){word, op == OP_SUB ? word : constant(0)}, false);
    }
    sum.lo = carried(to, op, a.lo, b.lo, FLAG_CARRY_OUT | (inst->flags & FLAG_CARRY_IN));
    sum.hi = carried(to, op, a.hi, b.hi, FLAG_CARRY_IN | (inst->flags & FLAG_CARRY_OUT));
    return sum;
}

static enum status wide_arithmetic(struct legal *l, const struct inst *inst, struct wide a, struct wide b,
                                   struct wide *out) {
    struct inst_builder *to = &l->at;
    const enum type type = (enum type)inst->type;
    switch ((enum op)inst->op) {
    case OP_ADD:
    case OP_SUB:
        if (inst->flags & (FLAG_CARRY_IN | FLAG_CARRY_OUT) && l->target->has_pairs) {
            *out = wide_carried(to, inst, a, b);
            break;
        }
        if (inst->flags & (FLAG_CARRY_IN | FLAG_CARRY_OUT | FLAG_SAT))
            return legal_refuse(l, inst, "a carry of 64-bit numbers");
        *out = wide_add(to, a, b, inst->op == OP_SUB);
        break;
    case OP_MUL: *out = inst->mode == MODE_HI ? high_part(to, type, a, b) : wide_multiply(to, a, b); break;
    case OP_MAD: {
        const struct wide c = legal_wide(l, &inst->src[2]);
        *out = inst->mode == MODE_HI ? high_part(to, type, a, b) : wide_multiply(to, a, b);
        if (inst->flags & (FLAG_CARRY_IN | FLAG_CARRY_OUT) && !l->target->has_pairs)
            return legal_refuse(l, inst, "a carry of 64-bit numbers");
        *out = inst->flags & (FLAG_CARRY_IN | FLAG_CARRY_OUT) ? wide_carried(to, inst, *out, c)
                                                              : wide_add(to, *out, c, false);
        break;
    }
    case OP_DIV: *out = divide_wide(to, type, a, b, false); break;
    case OP_REM: *out = divide_wide(to, type, a, b, true); break;
    case OP_MIN: *out = wide_select(to, wide_compare(to, CMP_LT, type, a, b), a, b); break;
    case OP_MAX: *out = wide_select(to, wide_compare(to, CMP_GT, type, a, b), a, b); break;
    case OP_NEG: *out = wide_negate(to, a); break;
    case OP_ABS: {
        const struct wide minus = wide_negate(to, a);
        *out = wide_select(to, build_compare(to, CMP_LT, TYPE_S32, a.hi, constant(0)), minus, a);
        break;
    }
    case OP_CNOT: {
        const struct operand none = wide_compare(to, CMP_EQ, TYPE_U64, a, (struct wide){constant(0), constant(0)});
        *out = (struct wide){build_select(to, none, constant(1), constant(0)), constant(0)};
        break;
    }
    case OP_SAD: {
        const struct wide c = legal_wide(l, &inst->src[2]), less = wide_add(to, b, a, true);
        const struct wide more = wide_add(to, a, b, true);
        *out = wide_select(to, wide_compare(to, CMP_LT, type, a, b), less, more);
        *out = wide_add(to, *out, c, false);
        break;
    }
    default: return legal_refuse(l, inst, op_name((enum op)inst->op));
    }
    return STATUS_OK;
}

/* The place of the highest bit that differs from the sign, or how far it must go up; all ones: there is none. */
static struct operand wide_find(const struct legal *l, struct inst_builder *to, const struct inst *inst,
                                struct wide a) {
    if (type_is_signed((enum type)inst->type)) {
        const struct operand sign = build2(to, OP_SHR, TYPE_S32, a.hi, constant(31));
        a = wide_logic(to, OP_XOR, a, (struct wide){sign, sign});
    }
    const struct operand zeros = wide_count(l, to, OP_CLZ, a);
    if (inst->mode != MODE_SHIFTAMT)
        return build2(to, OP_SUB, TYPE_S32, constant(63), zeros);
    const struct operand none = build_compare(to, CMP_EQ, TYPE_U32, zeros, constant(64));
    return build_select(to, none, constant(UINT32_MAX), zeros);
}

enum status legal_wide_inst(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const enum type type = (enum type)inst->type;
    const struct wide a = legal_wide(l, &inst->src[0]);
    struct wide out;
    switch ((enum op)inst->op) {
    case OP_AND:
    case OP_OR:
    case OP_XOR: out = wide_logic(to, (enum op)inst->op, a, legal_wide(l, &inst->src[1])); break;
    case OP_NOT: out = wide_not(to, a); break;
    case OP_SHL:
    case OP_SHR: out = wide_shift(to, (enum op)inst->op, type, a, legal_low(l, &inst->src[1])); break;
    case OP_SELP: {
        const struct wide b = legal_wide(l, &inst->src[1]);
        out = wide_select(to, legal_low(l, &inst->src[2]), a, b);
        break;
    }
    case OP_BREV: {
        const struct operand lo = legal_bits(l, to, OP_BREV, a.hi), hi = legal_bits(l, to, OP_BREV, a.lo);
        out = (struct wide){lo, hi};
        break;
    }
    case OP_BFE: {
        const struct operand length = legal_low(l, &inst->src[2]), place = legal_low(l, &inst->src[1]);
        out = wide_extract(to, type, a, place, length);
        break;
    }
    case OP_BFI: {
        const struct operand length = legal_low(l, &inst->src[3]), place = legal_low(l, &inst->src[2]);
        out = wide_insert(to, a, legal_wide(l, &inst->src[1]), place, length);
        break;
    }
    case OP_BFIND: legal_put(l, &inst->dst[0], wide_find(l, to, inst, a)); return STATUS_OK;
    case OP_POPC:
    case OP_CLZ: legal_put(l, &inst->dst[0], wide_count(l, to, (enum op)inst->op, a)); return STATUS_OK;
    default: {
        struct wide b = {absent, absent};
        if (inst->src_count > 1)
            b = legal_wide(l, &inst->src[1]);
        const enum status status = wide_arithmetic(l, inst, a, b, &out);
        if (status)
            return status;
    }
    }
    legal_put_wide(l, &inst->dst[0], out);
    return STATUS_OK;
}
