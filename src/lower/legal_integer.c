/* SPDX-License-Identifier: Apache-2.0 */
/* Integers of up to 32 bits. */
#include "lower/legal.h"

/* Where both have a sign that the sum has not, it is the limit on their side. */
static struct operand saturated(struct inst_builder *to, enum op op, struct operand a, struct operand b) {
    const struct operand sum = build2(to, op, TYPE_S32, a, b);
    const struct operand from_a = build2(to, OP_XOR, TYPE_B32, sum, a);
    const struct operand from_b = build2(to, OP_XOR, TYPE_B32, op == OP_SUB ? a : sum, b);
    const struct operand both = build2(to, OP_AND, TYPE_B32, from_a, from_b);
    const struct operand sign = build2(to, OP_SHR, TYPE_S32, a, constant(31));
    const struct operand limit = build2(to, OP_XOR, TYPE_B32, sign, constant(0x7fffffff));
    const struct operand is_beyond = build_compare(to, CMP_LT, TYPE_S32, both, constant(0));
    return build_select(to, is_beyond, limit, sum);
}

/* mad of 32 bits whose sum saturates, or takes or gives a carry. */
static enum status special_multiply(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const enum type word = type_is_signed((enum type)inst->type) ? TYPE_S32 : TYPE_U32;
    const struct operand a = legal_low(l, &inst->src[0]), b = legal_low(l, &inst->src[1]);
    const struct operand c = legal_low(l, &inst->src[2]);
    const struct operand product =
        inst->mode == MODE_HI ? build_high(to, word, a, b) : build2(to, OP_MUL, TYPE_S32, a, b);
    if (inst->flags & FLAG_SAT) {
        legal_put(l, &inst->dst[0], saturated(to, OP_ADD, product, c));
        return STATUS_OK;
    }
    const struct operand d = operand_register(body_register(l->to, TYPE_B32));
    build_to(to, d, OP_ADD, TYPE_U32, (struct operand[3]){product, c})->flags = inst->flags;
    legal_put(l, &inst->dst[0], d);
    return STATUS_OK;
}

enum status legal_multiply(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const enum type type = (enum type)inst->type;
    const bool is_small = type_bytes(type) < 4;
    const enum type word = type_is_signed(type) ? TYPE_S32 : TYPE_U32;
    const unsigned special = inst->flags & (FLAG_SAT | FLAG_CARRY_IN | FLAG_CARRY_OUT);
    if (special &&
        (!l->target->has_pairs || is_small || inst->mode == MODE_WIDE || (special & FLAG_SAT && special != FLAG_SAT)))
        return legal_refuse(l, inst, "mad with carry or saturation");
    if (special)
        return special_multiply(l, inst);
    if (inst->mode == MODE_WIDE && !is_small) {
        const struct operand b = legal_low(l, &inst->src[1]), a = legal_low(l, &inst->src[0]);
        struct wide product = wide_product(to, word, a, b);
        if (inst->op == OP_MAD) /* one instruction, where there is one: the selector knows */
            product = wide_add(to, product, legal_wide(l, &inst->src[2]), false);
        legal_put_wide(l, &inst->dst[0], product);
        return STATUS_OK;
    }
    const bool whole = inst->mode == MODE_WIDE || inst->mode == MODE_HI;
    const struct operand a = whole ? legal_narrow(l, &inst->src[0], type) : legal_low(l, &inst->src[0]);
    const struct operand b = whole ? legal_narrow(l, &inst->src[1], type) : legal_low(l, &inst->src[1]);
    if (inst->op == OP_MAD && inst->mode != MODE_HI) {
        legal_put(l, &inst->dst[0], build3(to, OP_MAD, TYPE_S32, a, b, legal_low(l, &inst->src[2])));
        return STATUS_OK;
    }
    struct operand value;
    if (inst->mode == MODE_HI)
        value = is_small ? build2(to, OP_SHR, word, build2(to, OP_MUL, TYPE_S32, a, b), constant(16))
                         : build_high(to, word, a, b);
    else
        value = build2(to, OP_MUL, TYPE_S32, a, b);
    if (inst->op == OP_MAD)
        value = build2(to, OP_ADD, TYPE_S32, value, legal_low(l, &inst->src[2]));
    legal_put(l, &inst->dst[0], value);
    return STATUS_OK;
}

enum status legal_mul24(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const bool is_signed = type_is_signed((enum type)inst->type);
    const bool clamps = (inst->flags & FLAG_SAT) != 0;
    if (clamps && !l->target->has_pairs)
        return legal_refuse(l, inst, "mad24.sat");
    struct operand x[2];
    for (unsigned i = 0; i < 2; i++) {
        x[i] = build2(to, OP_SHL, TYPE_B32, legal_low(l, &inst->src[i]), constant(8));
        x[i] = build2(to, OP_SHR, is_signed ? TYPE_S32 : TYPE_U32, x[i], constant(8));
    }
    const struct wide product = wide_product(to, is_signed ? TYPE_S32 : TYPE_U32, x[0], x[1]);
    struct operand value = product.lo;
    if (inst->mode == MODE_HI)
        value = wide_shift(to, OP_SHR, TYPE_U64, product, constant(16)).lo;
    if (inst->op == OP_MAD24 && clamps)
        value = saturated(to, OP_ADD, value, legal_low(l, &inst->src[2]));
    else if (inst->op == OP_MAD24)
        value = build2(to, OP_ADD, TYPE_S32, value, legal_low(l, &inst->src[2]));
    legal_put(l, &inst->dst[0], value);
    return STATUS_OK;
}

static struct operand logic3(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    struct operand in[3], sum = constant(0);
    for (unsigned i = 0; i < 3; i++)
        in[i] = legal_low(l, &inst->src[i]);
    for (unsigned row = 0; row < 8; row++) {
        if (!(inst->src[3].imm >> row & 1))
            continue;
        struct operand term = constant(UINT32_MAX);
        for (unsigned i = 0; i < 3; i++)
            term = build2(to, OP_AND, TYPE_B32, term, row & 4u >> i ? in[i] : build1(to, OP_NOT, TYPE_B32, in[i]));
        sum = build2(to, OP_OR, TYPE_B32, sum, term);
    }
    return sum;
}

static struct operand funnel(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const struct operand lo = legal_low(l, &inst->src[0]), hi = legal_low(l, &inst->src[1]);
    struct operand n = legal_low(l, &inst->src[2]);
    const bool left = inst->mode == MODE_LEFT_CLAMP || inst->mode == MODE_LEFT_WRAP;
    if (inst->mode == MODE_LEFT_WRAP || inst->mode == MODE_RIGHT_WRAP)
        n = build2(to, OP_AND, TYPE_B32, n, constant(31));
    else
        n = build2(to, OP_MIN, TYPE_U32, n, constant(32));
    const struct wide shifted = wide_shift(to, left ? OP_SHL : OP_SHR, TYPE_U64, (struct wide){lo, hi}, n);
    return left ? shifted.hi : shifted.lo;
}

/* Halves, quarters and so on change places. */
static struct operand reverse_bits(struct inst_builder *to, struct operand a) {
    static const uint32_t masks[] = {0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff, 0x0000ffff};
    for (unsigned i = 0; i < 5; i++) {
        const struct operand down =
            build2(to, OP_AND, TYPE_B32, build2(to, OP_SHR, TYPE_U32, a, constant(1u << i)), constant(masks[i]));
        const struct operand up =
            build2(to, OP_SHL, TYPE_B32, build2(to, OP_AND, TYPE_B32, a, constant(masks[i])), constant(1u << i));
        a = build2(to, OP_OR, TYPE_B32, down, up);
    }
    return a;
}

/* Sums of ever wider fields. */
static struct operand count_bits(struct inst_builder *to, struct operand a) {
    static const uint32_t masks[] = {0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff, 0x0000ffff};
    for (unsigned i = 0; i < 5; i++) {
        const struct operand high =
            build2(to, OP_AND, TYPE_B32, build2(to, OP_SHR, TYPE_U32, a, constant(1u << i)), constant(masks[i]));
        a = build2(to, OP_ADD, TYPE_S32, build2(to, OP_AND, TYPE_B32, a, constant(masks[i])), high);
    }
    return a;
}

/* All bits below the highest one set: the others are the leading zeros. */
static struct operand leading_zeros(struct inst_builder *to, struct operand a) {
    for (unsigned i = 0; i < 5; i++)
        a = build2(to, OP_OR, TYPE_B32, a, build2(to, OP_SHR, TYPE_U32, a, constant(1u << i)));
    return count_bits(to, build1(to, OP_NOT, TYPE_B32, a));
}

struct operand legal_bits(const struct legal *l, struct inst_builder *to, enum op op, struct operand a) {
    if (op == OP_BREV)
        return l->target->has_logic3 ? build1(to, OP_BREV, TYPE_B32, a) : reverse_bits(to, a);
    if (l->target->has_fields)
        return build1(to, op, TYPE_B32, a);
    return op == OP_POPC ? count_bits(to, a) : leading_zeros(to, a);
}

static struct operand one_source(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const enum type type = (enum type)inst->type;
    switch ((enum op)inst->op) {
    case OP_NEG: return build1(to, OP_NEG, TYPE_S32, legal_low(l, &inst->src[0]));
    case OP_NOT: return build1(to, OP_NOT, TYPE_B32, legal_low(l, &inst->src[0]));
    case OP_ABS: {
        const struct operand a = legal_narrow(l, &inst->src[0], type);
        if (l->target->has_logic3)
            return build1(to, OP_ABS, TYPE_S32, a);
        return build2(to, OP_MAX, TYPE_S32, a, build1(to, OP_NEG, TYPE_S32, a));
    }
    case OP_CNOT: {
        const struct operand a = legal_narrow(l, &inst->src[0], type_bytes(type) == 2 ? TYPE_U16 : TYPE_U32);
        return build_select(to, build_compare(to, CMP_EQ, TYPE_U32, a, constant(0)), constant(1), constant(0));
    }
    default: return legal_bits(l, to, (enum op)inst->op, legal_low(l, &inst->src[0])); /* popc clz brev */
    }
}

static struct operand bit_find(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    struct operand a = legal_low(l, &inst->src[0]);
    if (type_is_signed((enum type)inst->type))
        a = build2(to, OP_XOR, TYPE_B32, a, build2(to, OP_SHR, TYPE_S32, a, constant(31)));
    const struct operand zeros = legal_bits(l, to, OP_CLZ, a);
    const struct operand place =
        inst->mode == MODE_SHIFTAMT ? zeros : build2(to, OP_SUB, TYPE_S32, constant(31), zeros);
    if (inst->mode != MODE_SHIFTAMT) /* 31 - 32 is what none found gives */
        return place;
    return build_select(to, build_compare(to, CMP_EQ, TYPE_U32, a, constant(0)), constant(UINT32_MAX), place);
}

static struct operand copied(struct legal *l, const struct inst *inst) {
    struct operand sources[4];
    for (unsigned i = 0; i < inst->src_count; i++)
        sources[i] = legal_low(l, &inst->src[i]);
    struct inst *made = build_inst(&l->at, (enum op)inst->op, (enum type)inst->type, 1, inst->src_count);
    made->dst[0] = operand_register(body_register(l->to, TYPE_B32)), made->mode = inst->mode;
    made->stype = inst->stype;
    for (unsigned i = 0; i < inst->src_count; i++)
        made->src[i] = sources[i];
    return made->dst[0];
}

/* Places and lengths count modulo 256, and shifts by 32 and more give 0 or the sign. */
static struct operand extract_field(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const bool known = inst->src[1].kind == OPERAND_IMM && inst->src[2].kind == OPERAND_IMM;
    const bool is_signed = type_is_signed((enum type)inst->type);
    if (known && l->target->has_fields)
        return copied(l, inst);
    const struct operand a = legal_low(l, &inst->src[0]);
    const struct operand place = build2(to, OP_AND, TYPE_B32, legal_low(l, &inst->src[1]), constant(0xff));
    const struct operand length = build2(to, OP_AND, TYPE_B32, legal_low(l, &inst->src[2]), constant(0xff));
    const struct operand field = build2(to, OP_SHR, is_signed ? TYPE_S32 : TYPE_U32, a, place);
    /* up until its top bit is the sign, and down again; of 32 bits and more nothing is cut */
    struct operand cut = build2(to, OP_SUB, TYPE_S32, constant(32), length);
    cut = build2(to, OP_MAX, TYPE_S32, cut, constant(0));
    const struct operand up = build2(to, OP_SHL, TYPE_B32, field, cut);
    const struct operand down = build2(to, OP_SHR, is_signed ? TYPE_S32 : TYPE_U32, up, cut);
    if (!is_signed)
        return down;
    /* none of its bits: 0 */
    const struct operand some = build_compare(to, CMP_NE, TYPE_U32, length, constant(0));
    return build_select(to, some, down, constant(0));
}

static struct operand insert_field(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const bool known = inst->src[2].kind == OPERAND_IMM && inst->src[3].kind == OPERAND_IMM;
    if (known && l->target->has_fields)
        return copied(l, inst);
    const struct operand a = legal_low(l, &inst->src[0]), b = legal_low(l, &inst->src[1]);
    const struct operand place = build2(to, OP_AND, TYPE_B32, legal_low(l, &inst->src[2]), constant(0xff));
    const struct operand length = build2(to, OP_AND, TYPE_B32, legal_low(l, &inst->src[3]), constant(0xff));
    struct operand mask = build1(to, OP_NOT, TYPE_B32, build2(to, OP_SHL, TYPE_B32, constant(UINT32_MAX), length));
    mask = build2(to, OP_SHL, TYPE_B32, mask, place);
    const struct operand field = build2(to, OP_AND, TYPE_B32, build2(to, OP_SHL, TYPE_B32, a, place), mask);
    const struct operand rest = build2(to, OP_AND, TYPE_B32, b, build1(to, OP_NOT, TYPE_B32, mask));
    return build2(to, OP_OR, TYPE_B32, rest, field);
}

static struct operand permute(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    if (l->target->has_fields)
        return copied(l, inst);
    const struct operand a = legal_low(l, &inst->src[0]), b = legal_low(l, &inst->src[1]);
    struct operand sum = constant(0);
    for (unsigned i = 0; i < 4; i++) {
        const unsigned pick = (unsigned)(inst->src[2].imm >> (4 * i)) & 15, from = 8 * (pick & 3);
        struct operand byte = pick & 4 ? b : a;
        if (pick & 8) { /* its sign, eight times */
            byte = build2(to, OP_SHL, TYPE_B32, byte, constant(24 - from));
            byte = build2(to, OP_SHR, TYPE_U32, build2(to, OP_SHR, TYPE_S32, byte, constant(31)), constant(24));
        } else {
            byte = build2(to, OP_AND, TYPE_B32, build2(to, OP_SHR, TYPE_U32, byte, constant(from)), constant(0xff));
        }
        sum = build2(to, OP_OR, TYPE_B32, sum, build2(to, OP_SHL, TYPE_B32, byte, constant(8 * i)));
    }
    return sum;
}

static struct operand two_sources(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const enum type type = (enum type)inst->type, word = type_is_signed(type) ? TYPE_S32 : TYPE_U32;
    switch ((enum op)inst->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_SHL: {
        const struct operand b = legal_low(l, &inst->src[1]), a = legal_low(l, &inst->src[0]);
        return build2(to, (enum op)inst->op, inst->op == OP_SHL ? TYPE_B32 : word, a, b);
    }
    case OP_SHR: {
        const enum type narrow = type == TYPE_B16 ? TYPE_U16 : type == TYPE_B32 ? TYPE_U32 : type;
        const struct operand b = legal_low(l, &inst->src[1]), a = legal_narrow(l, &inst->src[0], narrow);
        return build2(to, OP_SHR, word, a, b);
    }
    default: { /* min max div rem */
        const struct operand a = legal_narrow(l, &inst->src[0], type), b = legal_narrow(l, &inst->src[1], type);
        if (inst->op == OP_MIN || inst->op == OP_MAX)
            return build2(to, (enum op)inst->op, word, a, b);
        return type_is_signed(type) ? divide_signed(to, a, b, inst->op == OP_REM)
                                    : divide_unsigned(to, a, b, inst->op == OP_REM);
    }
    }
}

static enum status legal_saturated(struct legal *l, const struct inst *inst) {
    const struct operand b = legal_low(l, &inst->src[1]), a = legal_low(l, &inst->src[0]);
    if (inst->flags & (FLAG_CARRY_IN | FLAG_CARRY_OUT))
        return legal_refuse(l, inst, "saturation of sums with carries");
    legal_put(l, &inst->dst[0], saturated(&l->at, (enum op)inst->op, a, b));
    return STATUS_OK;
}

/* Carries and saturation of 32-bit sums go as they are. */
static enum status legal_sum(struct legal *l, const struct inst *inst) {
    if (inst->flags & FLAG_SAT && l->target->has_logic3)
        return legal_saturated(l, inst);
    if (type_bytes((enum type)inst->type) != 4 || !l->target->has_carry)
        return legal_refuse(l, inst, "carries and saturation of such sums");
    const struct operand d = operand_register(l->first[inst->dst[0].reg]);
    const struct operand b = legal_low(l, &inst->src[1]), a = legal_low(l, &inst->src[0]);
    const enum type type = inst->flags & FLAG_SAT ? TYPE_S32 : TYPE_U32;
    build_to(&l->at, d, (enum op)inst->op, type, (struct operand[3]){a, b})->flags = inst->flags;
    return STATUS_OK;
}

/* Bits of a word, extended by the type. */
static struct operand field(struct inst_builder *to, enum type type, struct operand a, unsigned from, unsigned bits) {
    const struct operand up = build2(to, OP_SHL, TYPE_B32, a, constant(32 - from - bits));
    return build2(to, OP_SHR, type_is_signed(type) ? TYPE_S32 : TYPE_U32, up, constant(32 - bits));
}

/* dp4a, dp2a: sums of products of bytes, or of halves and bytes. */
static struct operand dot_product(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const bool four = inst->op == OP_DP4A;
    const unsigned bits = four ? 8 : 16, first = !four && inst->mode == MODE_HI ? 2 : 0;
    const struct operand a = legal_low(l, &inst->src[0]), b = legal_low(l, &inst->src[1]);
    struct operand sum = legal_low(l, &inst->src[2]);
    for (unsigned i = 0; i < (four ? 4u : 2u); i++) {
        const struct operand x = field(to, (enum type)inst->type, a, bits * i, bits);
        const struct operand y = field(to, (enum type)inst->stype, b, 8 * (i + first), 8);
        sum = build3(to, OP_MAD, TYPE_S32, x, y, sum);
    }
    return sum;
}

/* Ones from place a on, b of them; .clamp: beyond the word there is nothing. */
static struct operand bit_mask(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    struct operand a = legal_low(l, &inst->src[0]), b = legal_low(l, &inst->src[1]);
    if (inst->mode != MODE_CLAMP) {
        a = build2(to, OP_AND, TYPE_B32, a, constant(31));
        b = build2(to, OP_AND, TYPE_B32, b, constant(31));
    }
    const struct operand top = build2(to, OP_SHL, TYPE_B32, constant(1), b);
    const struct operand ones = build2(to, OP_ADD, TYPE_S32, top, constant(UINT32_MAX));
    return build2(to, OP_SHL, TYPE_B32, ones, a);
}

/* The low b bits, with the sign that they have. */
static struct operand extend_bits(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const struct operand a = legal_low(l, &inst->src[0]);
    struct operand b = legal_low(l, &inst->src[1]);
    b = inst->mode == MODE_CLAMP ? build2(to, OP_MIN, TYPE_U32, b, constant(32))
                                 : build2(to, OP_AND, TYPE_B32, b, constant(31));
    const struct operand cut = build2(to, OP_SUB, TYPE_S32, constant(32), b);
    const bool is_signed = type_is_signed((enum type)inst->type);
    const struct operand up = build2(to, OP_SHL, TYPE_B32, a, cut);
    return build2(to, OP_SHR, is_signed ? TYPE_S32 : TYPE_U32, up, cut);
}

enum status legal_integer(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    struct operand value;
    switch ((enum op)inst->op) {
    case OP_ADD:
    case OP_SUB:
        if (inst->flags & (FLAG_CARRY_IN | FLAG_CARRY_OUT | FLAG_SAT))
            return legal_sum(l, inst);
        value = two_sources(l, inst);
        break;
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_SHL:
    case OP_SHR:
    case OP_MIN:
    case OP_MAX:
    case OP_DIV:
    case OP_REM: value = two_sources(l, inst); break;
    case OP_NEG:
    case OP_NOT:
    case OP_ABS:
    case OP_CNOT:
    case OP_POPC:
    case OP_CLZ:
    case OP_BREV: value = one_source(l, inst); break;
    case OP_BFIND: value = l->target->has_logic3 ? copied(l, inst) : bit_find(l, inst); break;
    case OP_SELP: {
        const struct operand no = legal_low(l, &inst->src[1]), yes = legal_low(l, &inst->src[0]);
        value = build_select(to, legal_low(l, &inst->src[2]), yes, no);
        break;
    }
    case OP_SAD: {
        const struct operand a = legal_narrow(l, &inst->src[0], (enum type)inst->type);
        const struct operand b = legal_narrow(l, &inst->src[1], (enum type)inst->type);
        const enum type word = type_is_signed((enum type)inst->type) ? TYPE_S32 : TYPE_U32;
        const struct operand least = build2(to, OP_MIN, word, a, b), most = build2(to, OP_MAX, word, a, b);
        value = build2(to, OP_SUB, TYPE_S32, most, least);
        value = build2(to, OP_ADD, TYPE_S32, value, legal_low(l, &inst->src[2]));
        break;
    }
    case OP_LOP3: value = l->target->has_logic3 ? copied(l, inst) : logic3(l, inst); break;
    case OP_SHF: value = l->target->has_logic3 ? copied(l, inst) : funnel(l, inst); break;
    case OP_DP4A:
    case OP_DP2A: value = l->target->has_logic3 ? copied(l, inst) : dot_product(l, inst); break;
    case OP_BMSK: value = bit_mask(l, inst); break;
    case OP_SZEXT: value = extend_bits(l, inst); break;
    case OP_BFE: value = extract_field(l, inst); break;
    case OP_BFI: value = insert_field(l, inst); break;
    case OP_PRMT:
        if ((inst->mode != MODE_NONE && !l->target->has_logic3) ||
            (!l->target->has_fields && inst->src[2].kind != OPERAND_IMM))
            return legal_refuse(l, inst, "prmt with a mode, or with a selector that is no constant");
        value = permute(l, inst);
        break;
    default: return legal_refuse(l, inst, op_name((enum op)inst->op));
    }
    legal_put(l, &inst->dst[0], value);
    return STATUS_OK;
}
