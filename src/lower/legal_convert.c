/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions. Results keep the sign in the whole word, as the executor's do: the destination may be wider. */
#include "isa/address.h"
#include "lower/legal.h"

static enum type word_of(enum type type) { return type_is_signed(type) ? TYPE_S32 : TYPE_U32; }

/* ---- integers ---- */

/* A 32-bit number clamped to a type of `bits` bits; the number is of `from`'s signedness. */
static struct operand clamp(struct inst_builder *to, struct operand value, enum type from, enum type type) {
    const unsigned bits = 8 * type_bytes(type);
    const uint32_t high = type_is_signed(type) ? (1u << (bits - 1)) - 1 : bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    if (type_is_signed(from)) {
        const uint32_t low = type_is_signed(type) ? 0 - high - 1 : 0;
        if (!(bits == 32 && type_is_signed(type)))
            value = build2(to, OP_MAX, TYPE_S32, value, constant(low));
        if (bits == 32)
            return value;
        return build2(to, OP_MIN, TYPE_S32, value, constant(high));
    }
    return high == UINT32_MAX ? value : build2(to, OP_MIN, TYPE_U32, value, constant(high));
}

/* A 64-bit number clamped to a type; where that has 64 bits too, it is of the other signedness. */
static struct wide clamp_wide(struct inst_builder *to, struct wide value, enum type from, enum type type) {
    const unsigned bits = 8 * type_bytes(type);
    const bool is_signed = type_is_signed(from);
    const uint64_t most = type_is_signed(type) ? (UINT64_C(1) << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
    const uint64_t least = type_is_signed(type) ? 0 - most - 1 : 0;
    const struct wide high = {constant((uint32_t)most), constant((uint32_t)(most >> 32))};
    const struct wide low = {constant((uint32_t)least), constant((uint32_t)(least >> 32))};
    if (is_signed && !(bits == 64 && type_is_signed(type)))
        value = wide_select(to, wide_compare(to, CMP_LT, TYPE_S64, value, low), low, value);
    if (bits == 64 && (is_signed || !type_is_signed(type)))
        return value;
    return wide_select(to, wide_compare(to, CMP_GT, is_signed ? TYPE_S64 : TYPE_U64, value, high), high, value);
}

static struct operand truncate(struct inst_builder *to, struct operand value, enum type type) {
    switch (type) {
    case TYPE_U8:
    case TYPE_B8: return build2(to, OP_AND, TYPE_B32, value, constant(0xff));
    case TYPE_U16:
    case TYPE_B16: return build2(to, OP_AND, TYPE_B32, value, constant(0xffff));
    case TYPE_S8:
    case TYPE_S16: return build_convert(to, TYPE_S32, type, ROUND_DEFAULT, value);
    default: return value;
    }
}

static enum status int_to_int(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const enum type type = (enum type)inst->type, from = (enum type)inst->stype;
    const bool from_wide = type_bytes(from) == 8, to_wide = type_bytes(type) == 8;
    const bool clamps = (inst->flags & FLAG_SAT) != 0;
    if (from_wide && to_wide) {
        const struct wide a = legal_wide(l, &inst->src[0]);
        legal_put_wide(l, &inst->dst[0], clamps ? clamp_wide(to, a, from, type) : a);
        return STATUS_OK;
    }
    if (to_wide) {
        struct operand lo = legal_narrow(l, &inst->src[0], from);
        if (clamps && type_is_signed(from) && !type_is_signed(type))
            lo = build2(to, OP_MAX, TYPE_S32, lo, constant(0));
        const struct operand hi = type_is_signed(from) ? build2(to, OP_SHR, TYPE_S32, lo, constant(31)) : constant(0);
        legal_put_wide(l, &inst->dst[0], (struct wide){lo, hi});
        return STATUS_OK;
    }
    struct operand value;
    if (from_wide && clamps)
        value = clamp_wide(to, legal_wide(l, &inst->src[0]), from, type).lo;
    else if (from_wide)
        value = truncate(to, legal_low(l, &inst->src[0]), type);
    else if (clamps)
        value = clamp(to, legal_narrow(l, &inst->src[0], from), from, type);
    else if (type_bytes(type) <= type_bytes(from))
        value = type_bytes(type) == 4 ? legal_low(l, &inst->src[0]) : legal_narrow(l, &inst->src[0], type);
    else
        value = legal_narrow(l, &inst->src[0], from);
    if (!from_wide && type_bytes(type) == 2 && type_bytes(from) == 1)
        value = truncate(to, value, type);
    /* a narrow result in a wider register */
    if (legal_is_wide(l, &inst->dst[0])) {
        const struct operand hi =
            type_is_signed(type) ? build2(to, OP_SHR, TYPE_S32, value, constant(31)) : constant(0);
        legal_put_wide(l, &inst->dst[0], (struct wide){value, hi});
        return STATUS_OK;
    }
    legal_put(l, &inst->dst[0], value);
    return STATUS_OK;
}

/* ---- between integers and f32 ---- */

/* The number is shifted up until its top bit is set; the upper word, with what lies below ored into its last bit, rounds
 * as the whole would. */
static struct operand wide_to_float(const struct legal *l, struct inst_builder *to, struct wide a,
                                    enum rounding rounding) {
    const struct operand none = build_compare(to, CMP_EQ, TYPE_U32, a.hi, constant(0));
    const struct operand zeros_low = build2(to, OP_ADD, TYPE_S32, legal_bits(l, to, OP_CLZ, a.lo), constant(32));
    const struct operand zeros = build_select(to, none, zeros_low, legal_bits(l, to, OP_CLZ, a.hi));
    const struct wide up = wide_shift(to, OP_SHL, TYPE_B64, a, zeros);
    const struct operand rest = build_compare(to, CMP_NE, TYPE_U32, up.lo, constant(0));
    const struct operand word = build2(to, OP_OR, TYPE_B32, up.hi, build_select(to, rest, constant(1), constant(0)));
    const struct operand value = build_convert(to, TYPE_F32, TYPE_U32, rounding, word);
    const struct operand scale = build2(to, OP_SUB, TYPE_S32, constant(32), zeros);
    const struct operand scaled =
        build2(to, OP_ADD, TYPE_S32, value, build2(to, OP_SHL, TYPE_B32, scale, constant(23)));
    return build_select(to, build_compare(to, CMP_EQ, TYPE_U32, word, constant(0)), constant(0), scaled);
}

struct operand legal_same_float(struct inst_builder *to, struct operand a, unsigned flags) {
    const struct operand value = build_convert(to, TYPE_F32, TYPE_F32, ROUND_DEFAULT, a);
    struct body_block *block = &to->body->blocks.items[to->block];
    block->code.items[block->code.count - 1].flags = (uint16_t)flags;
    return value;
}

/* One of both is f32, the other an integer of 64 bits; x: the float. */
static enum status convert_pair(struct legal *l, const struct inst *inst, struct operand x) {
    const enum type type = (enum type)inst->type;
    struct inst *made;
    if (type_is_float(type)) {
        const struct wide a = legal_wide(l, &inst->src[0]);
        const struct operand d = operand_register(body_register(l->to, TYPE_F32));
        made = build_inst(&l->at, OP_CVT, type, 1, 2);
        made->dst[0] = d, made->src[0] = a.lo, made->src[1] = a.hi;
        made->stype = inst->stype, made->rounding = inst->rounding;
        const unsigned flags = inst->flags & (FLAG_SAT | FLAG_FTZ);
        legal_put(l, &inst->dst[0], flags ? legal_same_float(&l->at, d, flags) : d);
        return STATUS_OK;
    }
    const struct wide value = build_pair(&l->at, OP_CVT, type, &x, 1);
    struct body_block *block = &l->to->blocks.items[l->at.block];
    made = &block->code.items[block->code.count - 1];
    made->stype = TYPE_F32, made->rounding = inst->rounding, made->flags = inst->flags & FLAG_FTZ;
    legal_put_wide(l, &inst->dst[0], value);
    return STATUS_OK;
}

static enum status int_to_float(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const enum type from = (enum type)inst->stype;
    const unsigned flags = inst->flags & (FLAG_SAT | FLAG_FTZ);
    if (flags && !l->target->has_pairs)
        return legal_refuse(l, inst, "cvt to f32 with .sat or .ftz");
    if (type_bytes(from) < 8) {
        const struct operand a = legal_narrow(l, &inst->src[0], from);
        const struct operand value = build_convert(to, TYPE_F32, word_of(from), (enum rounding)inst->rounding, a);
        legal_put(l, &inst->dst[0], flags ? legal_same_float(to, value, flags) : value);
        return STATUS_OK;
    }
    if (l->target->has_pairs)
        return convert_pair(l, inst, absent);
    struct wide a = legal_wide(l, &inst->src[0]);
    if (!type_is_signed(from)) {
        legal_put(l, &inst->dst[0], wide_to_float(l, to, a, (enum rounding)inst->rounding));
        return STATUS_OK;
    }
    if (inst->rounding == ROUND_RM || inst->rounding == ROUND_RP)
        return legal_refuse(l, inst, "cvt.rm and cvt.rp from s64");
    const struct operand negative = build_compare(to, CMP_LT, TYPE_S32, a.hi, constant(0));
    a = wide_select(to, negative, wide_negate(to, a), a);
    const struct operand value = wide_to_float(l, to, a, (enum rounding)inst->rounding);
    const struct operand sign = build_select(to, negative, constant(0x80000000), constant(0));
    legal_put(l, &inst->dst[0], build2(to, OP_OR, TYPE_B32, value, sign));
    return STATUS_OK;
}

/* |x| below 2^64 in two words: the upper is exact, and so is the rest. */
static struct wide float_to_wide(struct inst_builder *to, struct operand x) {
    const struct operand upper =
        build_convert(to, TYPE_U32, TYPE_F32, ROUND_RZI, build2(to, OP_MUL, TYPE_F32, x, constant(0x2f800000)));
    const struct operand back = build_convert(to, TYPE_F32, TYPE_U32, ROUND_RN, upper);
    const struct operand rest = operand_register(body_register(to->body, TYPE_F32));
    build_to(to, rest, OP_FMA, TYPE_F32, (struct operand[3]){back, constant(0xcf800000), x})->rounding = ROUND_RN;
    return (struct wide){build_convert(to, TYPE_U32, TYPE_F32, ROUND_RZI, rest), upper};
}

static enum status float_to_int64(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const bool is_signed = inst->type == TYPE_S64;
    struct operand x = legal_low(l, &inst->src[0]);
    if (inst->rounding != ROUND_RZI) {
        const enum rounding rounding = (enum rounding)inst->rounding;
        x = build_convert(to, TYPE_F32, TYPE_F32, rounding, x);
    }
    const struct operand size = build2(to, OP_AND, TYPE_B32, x, constant(0x7fffffff));
    struct wide value = float_to_wide(to, size);
    const struct operand is_nan = build_compare(to, CMP_GT, TYPE_U32, size, constant(0x7f800000));
    const struct operand negative = build_compare(to, CMP_LT, TYPE_S32, x, constant(0));
    const uint32_t limit = is_signed ? 0x5f000000 : 0x5f800000; /* 2^63, 2^64 */
    const struct operand beyond = build_compare(to, CMP_GE, TYPE_U32, size, constant(limit));
    const struct wide zero = {constant(0), constant(0)};
    const struct wide most = {constant(UINT32_MAX), constant(is_signed ? 0x7fffffff : UINT32_MAX)};
    const struct wide least = {constant(0), constant(0x80000000)};
    value = wide_select(to, beyond, most, value);
    if (is_signed) {
        struct wide minus = wide_negate(to, value);
        minus = wide_select(to, beyond, least, minus);
        value = wide_select(to, negative, minus, value);
    } else {
        value = wide_select(to, negative, zero, value);
    }
    legal_put_wide(l, &inst->dst[0], wide_select(to, is_nan, least, value));
    return STATUS_OK;
}

/* a: the float. */
static enum status float_to_int(struct legal *l, const struct inst *inst, struct operand a) {
    struct inst_builder *to = &l->at;
    const enum type type = (enum type)inst->type;
    if (type_bytes(type) == 8 && l->target->has_pairs)
        return convert_pair(l, inst, a);
    if (inst->flags & FLAG_FTZ && !l->target->has_pairs)
        return legal_refuse(l, inst, "cvt.ftz to an integer");
    if (type_bytes(type) == 8)
        return float_to_int64(l, inst);
    /* out of range gives the limit of the smaller type too */
    struct operand value = build_convert(to, word_of(type), TYPE_F32, (enum rounding)inst->rounding, a);
    struct body_block *block = &l->to->blocks.items[to->block];
    block->code.items[block->code.count - 1].flags = inst->flags & FLAG_FTZ;
    if (type_bytes(type) < 4)
        value = clamp(to, value, word_of(type), type);
    legal_put(l, &inst->dst[0], value);
    return STATUS_OK;
}

static enum status float_to_float(struct legal *l, const struct inst *inst) {
    const bool clamps_after = l->target->has_pairs && inst->rounding >= ROUND_RNI && inst->flags & FLAG_SAT;
    struct operand value =
        build_convert(&l->at, TYPE_F32, TYPE_F32, (enum rounding)inst->rounding, legal_low(l, &inst->src[0]));
    struct body_block *block = &l->to->blocks.items[l->at.block];
    block->code.items[block->code.count - 1].flags = inst->flags & (clamps_after ? FLAG_FTZ : (FLAG_SAT | FLAG_FTZ));
    if (clamps_after)
        value = legal_same_float(&l->at, value, FLAG_SAT);
    legal_put(l, &inst->dst[0], value);
    return STATUS_OK;
}

/* A NaN gives the top bit alone, whatever the size. */
static struct operand clamp_double(struct inst_builder *to, struct operand value, struct wide from, enum type type) {
    value = clamp(to, value, word_of(type), type);
    if (type_is_signed(type))
        return value;
    const struct operand d = operand_register(body_register(to->body, TYPE_PRED));
    struct inst *is_nan = build_inst(to, OP_SETP, TYPE_F64, 1, 4);
    is_nan->dst[0] = d, is_nan->compare = CMP_NAN;
    is_nan->src[0] = is_nan->src[2] = from.lo, is_nan->src[1] = is_nan->src[3] = from.hi;
    return build_select(to, d, constant(1u << (8 * type_bytes(type) - 1)), value);
}

/* From 0 to 1; NaN becomes 0. */
static struct wide saturate_double(struct inst_builder *to, struct wide a) {
    const struct wide limits[2] = {{constant(0), constant(0)}, {constant(0), constant(0x3ff00000)}};
    for (unsigned i = 0; i < 2; i++) {
        const struct operand d = operand_register(body_register(to->body, TYPE_PRED));
        struct inst *inside = build_inst(to, OP_SETP, TYPE_F64, 1, 4);
        inside->dst[0] = d, inside->compare = i ? CMP_LT : CMP_GT;
        inside->src[0] = a.lo, inside->src[1] = a.hi, inside->src[2] = limits[i].lo, inside->src[3] = limits[i].hi;
        a = wide_select(to, d, a, limits[i]);
    }
    return a;
}

/* With doubles: pairs of words, one instruction. */
static enum status convert_double(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const enum type type = (enum type)inst->type, from = (enum type)inst->stype;
    const unsigned flags = inst->flags & (FLAG_SAT | FLAG_FTZ);
    if (!l->target->has_double || (flags && !l->target->has_pairs))
        return legal_refuse(l, inst, "cvt of f64");
    const bool from_wide = type_bytes(from) == 8, to_wide = type_bytes(type) == 8;
    if (type == from && inst->rounding < ROUND_RNI && l->target->has_pairs) {
        const struct wide x = legal_wide(l, &inst->src[0]); /* times 1, which makes one NaN of all */
        const struct operand factors[4] = {x.lo, x.hi, constant(0), constant(0x3ff00000)};
        const struct wide value = build_pair(to, OP_MUL, TYPE_F64, factors, 4);
        legal_put_wide(l, &inst->dst[0], flags & FLAG_SAT ? saturate_double(to, value) : value);
        return STATUS_OK;
    }
    struct wide a =
        from_wide ? legal_wide(l, &inst->src[0]) : (struct wide){legal_narrow(l, &inst->src[0], from), absent};
    if (flags && from == TYPE_F32)
        a.lo = legal_same_float(to, a.lo, flags);
    const struct operand lo = operand_register(body_register(l->to, TYPE_B32));
    const struct operand hi = to_wide ? operand_register(body_register(l->to, TYPE_B32)) : absent;
    struct inst *made =
        build_inst(to, OP_CVT, type_bytes(type) < 4 ? word_of(type) : type, to_wide ? 2 : 1, from_wide ? 2 : 1);
    made->stype = (uint8_t)(type_bytes(from) < 4 ? word_of(from) : from);
    made->rounding = inst->rounding;
    made->dst[0] = lo, made->src[0] = a.lo;
    if (to_wide)
        made->dst[1] = hi;
    if (from_wide)
        made->src[1] = a.hi;
    if (to_wide) {
        const bool clamps = type == TYPE_F64 && flags & FLAG_SAT && from != TYPE_F32;
        const struct wide value = {lo, hi};
        legal_put_wide(l, &inst->dst[0], clamps ? saturate_double(to, value) : value);
    } else if (type == TYPE_F32 && flags) {
        legal_put(l, &inst->dst[0], legal_same_float(to, lo, flags));
    } else {
        legal_put(l, &inst->dst[0], type_bytes(type) < 4 ? clamp_double(to, lo, a, type) : lo);
    }
    return STATUS_OK;
}

enum status legal_convert_float(struct legal *l, const struct inst *inst, struct operand a) {
    if (inst->type != TYPE_F64)
        return float_to_int(l, inst, a);
    const struct operand clamped = inst->flags & FLAG_SAT ? legal_same_float(&l->at, a, FLAG_SAT) : a;
    const struct wide value = build_pair(&l->at, OP_CVT, TYPE_F64, &clamped, 1);
    struct body_block *block = &l->to->blocks.items[l->at.block];
    block->code.items[block->code.count - 1].stype = TYPE_F32;
    legal_put_wide(l, &inst->dst[0], value);
    return STATUS_OK;
}

/* cvt.pack: two numbers side by side, above what is left of a third. */
static enum status pack_integers(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const enum type type = (enum type)inst->stype;
    const unsigned bits = 8 * type_bytes(type);
    struct operand value = inst->src_count > 2 ? legal_low(l, &inst->src[2]) : constant(0);
    for (unsigned i = 0; i < 2; i++) {
        const struct operand part = clamp(to, legal_low(l, &inst->src[i]), TYPE_S32, type);
        value = build2(to, OP_SHL, TYPE_B32, value, constant(bits));
        value = build2(to, OP_OR, TYPE_B32, value, build2(to, OP_AND, TYPE_B32, part, constant((1u << bits) - 1)));
    }
    legal_put(l, &inst->dst[0], value);
    return STATUS_OK;
}

/* ---- addresses ---- */

static enum status legal_window(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    if (inst->space == SPACE_PARAM || inst->space == SPACE_CONST)
        return legal_refuse(l, inst, "generic addresses of this state space");
    const uint32_t window = inst->space == SPACE_SHARED  ? (uint32_t)SHARED_WINDOW
                            : inst->space == SPACE_LOCAL ? (uint32_t)LOCAL_WINDOW
                                                         : 0;
    struct wide a = legal_wide(l, &inst->src[0]);
    a.lo = build2(to, inst->mode == MODE_TO ? OP_SUB : OP_ADD, TYPE_U32, a.lo, constant(window));
    legal_put_wide(l, &inst->dst[0], a);
    return STATUS_OK;
}

static enum status legal_in_space(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const struct wide a = legal_wide(l, &inst->src[0]);
    struct operand result;
    if (inst->space == SPACE_SHARED || inst->space == SPACE_LOCAL) {
        const uint32_t window = (uint32_t)(inst->space == SPACE_SHARED ? SHARED_WINDOW : LOCAL_WINDOW);
        const struct operand place = build2(to, OP_ADD, TYPE_U32, a.lo, constant(0 - window));
        result = build_compare(to, CMP_LT, TYPE_U32, place, constant((uint32_t)WINDOW_BYTES));
    } else {
        result = build_compare(to, CMP_GE, TYPE_U32, a.lo, constant((uint32_t)GLOBAL_BASE));
    }
    legal_put(l, &inst->dst[0], result);
    return STATUS_OK;
}

enum status legal_convert(struct legal *l, const struct inst *inst) {
    const enum type type = (enum type)inst->type, from = (enum type)inst->stype;
    if (inst->op == OP_CVTA)
        return legal_window(l, inst);
    if (inst->op == OP_ISSPACEP)
        return legal_in_space(l, inst);
    if (inst->op == OP_CVT_PACK)
        return pack_integers(l, inst);
    if (!type_is_float(type) && !type_is_float(from))
        return int_to_int(l, inst);
    if ((legal_is_half(type) || legal_is_half(from)) && l->target->has_half)
        return legal_convert_half(l, inst);
    const bool is_small =
        (type_is_float(type) && type_bytes(type) < 4) || (type_is_float(from) && type_bytes(from) < 4);
    if ((type == TYPE_F64 || from == TYPE_F64) && !is_small)
        return convert_double(l, inst);
    if ((type_is_float(type) && type != TYPE_F32) || (type_is_float(from) && from != TYPE_F32))
        return legal_refuse(l, inst, "cvt of f16 and smaller floats");
    if (!type_is_float(from))
        return int_to_float(l, inst);
    return type_is_float(type) ? float_to_float(l, inst) : float_to_int(l, inst, legal_low(l, &inst->src[0]));
}
