/* SPDX-License-Identifier: Apache-2.0 */
/* Floating point and conversions for sm_75 on. */
#include "lower/select_turing.h"

/* A float source with the signs that made it. */
struct operand sm_signs(struct selector *s, struct operand operand, struct source *signs) {
    for (;;) {
        const struct inst *neg = select_single(s, &operand, OP_NEG), *abs = select_single(s, &operand, OP_ABS);
        if (neg && neg->type == TYPE_F32 && neg->src[0].kind == OPERAND_REG) {
            if (!signs->absolute)
                signs->negated = !signs->negated;
            select_take(s, neg);
            operand = neg->src[0];
        } else if (abs && abs->type == TYPE_F32 && abs->src[0].kind == OPERAND_REG) {
            signs->absolute = true;
            select_take(s, abs);
            operand = abs->src[0];
        } else {
            return operand;
        }
    }
}

static struct source float_source(struct selector *s, const struct operand *operand) {
    struct source signs = {.kind = SOURCE_ZERO};
    const struct operand plain = sm_signs(s, *operand, &signs);
    struct source source = sm_plain(s, &plain);
    if (source.kind == SOURCE_IMMEDIATE) {
        source.value = (signs.absolute ? source.value & 0x7fffffff : source.value) ^ (signs.negated ? 0x80000000 : 0);
        return source;
    }
    source.negated = signs.negated, source.absolute = signs.absolute;
    return source;
}

static struct source opposite(struct source source) {
    if (source.kind == SOURCE_IMMEDIATE)
        source.value ^= 0x80000000;
    else
        source.negated = !source.negated;
    return source;
}

static unsigned round_word(unsigned rounding) {
    return rounding == ROUND_RM ? 1 : rounding == ROUND_RP ? 2 : rounding == ROUND_RZ ? 3 : 0;
}

static void finish_float(struct machine_inst *made, const struct inst *inst) {
    sm_word(made, TURING_WORDS_FTZ, (inst->flags & FLAG_FTZ) != 0);
    sm_word(made, TURING_WORDS_ROUND, round_word(inst->rounding));
    sm_word(made, TURING_WORDS_SAT, (inst->flags & FLAG_SAT) != 0);
}

/* ---- f32 ---- */

static void float_sum(struct selector *s, const struct inst *inst) {
    struct source a = float_source(s, &inst->src[0]), b = float_source(s, &inst->src[1]), zero = sm_number(0);
    if (inst->op == OP_SUB)
        b = opposite(b);
    sm_fit(s, &a, &b, &zero, true);
    struct machine_inst *made = sm_emit_to(s, TURING_FADD, inst, inst->dst[0].reg);
    sm_put(made, 1, &a);
    sm_put(made, 2, &b);
    finish_float(made, inst);
}

static void float_product(struct selector *s, const struct inst *inst) {
    const bool adds = inst->op == OP_FMA;
    struct source a = float_source(s, &inst->src[0]), b = float_source(s, &inst->src[1]);
    struct source c = adds ? float_source(s, &inst->src[2]) : sm_number(0);
    sm_fit(s, &a, &b, &c, true);
    struct machine_inst *made = sm_emit_to(s, adds ? TURING_FFMA : TURING_FMUL, inst, inst->dst[0].reg);
    sm_put(made, 1, &a);
    sm_put(made, 2, &b);
    if (adds)
        sm_put(made, 3, &c);
    finish_float(made, inst);
}

static void float_extreme(struct selector *s, const struct inst *inst) {
    const bool has_signs = (inst->flags & FLAG_XORSIGN) != 0; /* that of the result is the product of both */
    struct source a, b, zero = sm_number(0);
    if (has_signs) {
        a = sm_register(s, &inst->src[0]), b = sm_register(s, &inst->src[1]);
        a.absolute = b.absolute = true;
    } else {
        a = float_source(s, &inst->src[0]), b = float_source(s, &inst->src[1]);
        sm_fit(s, &a, &b, &zero, true);
    }
    struct machine_inst *made = sm_emit_to(s, TURING_FMNMX, inst, inst->dst[0].reg);
    sm_put(made, 1, &a);
    sm_put(made, 2, &b);
    sm_put_test(made, 3, &(struct operand){.kind = OPERAND_IMM, .imm = inst->op == OP_MIN});
    finish_float(made, inst);
    sm_word(made, TURING_WORDS_NAN, (inst->flags & FLAG_NAN) != 0);
    sm_word(made, TURING_WORDS_XORSIGN, has_signs);
}

/* The sign bit alone. */
static void float_sign(struct selector *s, const struct inst *inst) {
    const struct source a = sm_register(s, &inst->src[0]);
    const struct source mask = sm_number(inst->op == OP_NEG ? UINT32_C(0x80000000) : UINT32_C(0x7fffffff));
    struct machine_inst *made = sm_emit_to(s, TURING_LOP3, inst, inst->dst[0].reg);
    sm_put(made, 2, &a);
    sm_put(made, 3, &mask);
    machine_put_number(made, 5, inst->op == OP_NEG ? 0x3c : 0xc0);
}

static struct source scaled(struct selector *s, const struct inst *inst, const struct source *a, uint32_t by,
                            bool to_zero) {
    const struct source b = sm_number(by);
    const uint32_t d = machine_unit(s->machine, false);
    struct machine_inst *made = sm_emit_to(s, TURING_FMUL, inst, d);
    sm_put(made, 1, a);
    sm_put(made, 2, &b);
    sm_word(made, TURING_WORDS_ROUND, to_zero ? 3 : 0);
    return sm_unit(d);
}

/* Sine and cosine are of turns. */
static enum status float_function(struct selector *s, const struct inst *inst) {
    enum { COS, SIN, EX2, LG2, RCP, RSQ, SQRT = 8, TANH = 9 };
    unsigned function;
    switch ((enum op)inst->op) {
    case OP_SIN: function = SIN; break;
    case OP_COS: function = COS; break;
    case OP_EX2: function = EX2; break;
    case OP_LG2: function = LG2; break;
    case OP_RCP: function = RCP; break;
    case OP_RSQRT: function = RSQ; break;
    case OP_SQRT: function = SQRT; break;
    case OP_TANH: function = TANH; break;
    default: return sm_refused(s, inst, op_name((enum op)inst->op));
    }
    struct source a = float_source(s, &inst->src[0]);
    if (function == SIN || function == COS) {
        a = sm_in_register(s, a, NULL);
        a = scaled(s, inst, &a, 0x3e22f983, true);
    }
    struct machine_inst *made = sm_emit_to(s, TURING_MUFU, inst, inst->dst[0].reg);
    sm_put(made, 1, &a);
    sm_word(made, TURING_WORDS_FUNCTION, function);
    return STATUS_OK;
}

/* ---- f64: pairs ---- */

/* The copy that the word is, if nobody else reads it. */
static const struct inst *low_copy(const struct selector *s, const struct operand *word) {
    const struct inst *low = select_single(s, word, OP_MOV);
    return low && low->src[0].kind == OPERAND_REG ? low : NULL;
}

/* A pair whose upper word has its sign changed, and whose lower word is the same or a copy: the pair that it was made of. */
static bool double_signs(struct selector *s, const struct operand *words, struct operand *plain, struct source *signs) {
    for (unsigned i = 0; i < 2; i++)
        if (words[i].kind != OPERAND_REG)
            return false;
    const struct fact *fact = &s->facts[words[1].reg];
    if (fact->definitions != 1 || fact->reads != 1 || s->maker_of[words[1].reg] != s->block + 1 ||
        s->maker[words[1].reg] >= s->at)
        return false;
    const struct inst *high = &s->source->code.items[s->maker[words[1].reg]];
    const bool negates = high->op == OP_XOR && operand_is_immediate(&high->src[1], 0x80000000);
    const bool is_size = high->op == OP_AND && operand_is_immediate(&high->src[1], 0x7fffffff);
    if ((!negates && !is_size) || high->src[0].kind != OPERAND_REG || high->guard >= 0 ||
        !sm_is_unchanged(s, high->src[0].reg, s->maker[words[1].reg]))
        return false;
    if (words[0].reg + 1 == high->src[0].reg) {
        plain[0] = words[0];
    } else {
        const struct inst *low = low_copy(s, &words[0]);
        if (!low || high->src[0].reg != low->src[0].reg + 1)
            return false;
        select_take(s, low);
        plain[0] = low->src[0];
    }
    select_take(s, high);
    plain[1] = high->src[0];
    signs->negated = negates, signs->absolute = is_size;
    return true;
}

/* Of a double: the upper word of the result by that of the source. */
static enum status upper_function(struct selector *s, const struct inst *inst) {
    enum { RCP64H = 6, RSQ64H = 7 };
    const struct source a = sm_register(s, &inst->src[0]);
    struct machine_inst *made = sm_emit_to(s, TURING_MUFU, inst, inst->dst[0].reg);
    sm_put(made, 1, &a);
    sm_word(made, TURING_WORDS_FUNCTION, inst->op == OP_RCP ? RCP64H : RSQ64H);
    return STATUS_OK;
}

static enum status double_inst(struct selector *s, const struct inst *inst) {
    if (inst->op == OP_RCP || inst->op == OP_RSQRT)
        return upper_function(s, inst);
    const unsigned count = inst->src_count / 2u;
    uint32_t sources[3];
    struct source signs[3] = {{.kind = SOURCE_ZERO}, {.kind = SOURCE_ZERO}, {.kind = SOURCE_ZERO}};
    if (inst->op != OP_ADD && inst->op != OP_SUB && inst->op != OP_MUL && inst->op != OP_FMA)
        return sm_refused(s, inst, "f64");
    for (unsigned i = 0; i < count; i++) {
        struct operand plain[2];
        const bool is_signed = double_signs(s, &inst->src[2 * i], plain, &signs[i]);
        sources[i] = sm_tuple_of(s, inst, is_signed ? plain : &inst->src[2 * i], 2);
    }
    bool copied;
    const uint32_t d = select_tuple_for(s, inst->dst, 2, &copied);
    const enum turing_row_id row = inst->op == OP_FMA ? TURING_DFMA : inst->op == OP_MUL ? TURING_DMUL : TURING_DADD;
    struct machine_inst *made = sm_emit(s, row, inst);
    sm_put_tuple(made, 0, d, 2);
    for (unsigned i = 0; i < count; i++) {
        sm_put_tuple(made, 1 + i, sources[i], 2);
        made->turing->operands[1 + i].negated = signs[i].negated != (i == 1 && inst->op == OP_SUB);
        made->turing->operands[1 + i].absolute = signs[i].absolute;
    }
    sm_word(made, TURING_WORDS_ROUND, round_word(inst->rounding));
    if (copied)
        sm_move_tuple(s, inst, inst->dst, 2, d);
    return STATUS_OK;
}

enum status sm_float(struct selector *s, const struct inst *inst) {
    if (inst->type == TYPE_F64)
        return double_inst(s, inst);
    if (inst->type != TYPE_F32)
        return sm_half(s, inst);
    switch ((enum op)inst->op) {
    case OP_ADD:
    case OP_SUB: float_sum(s, inst); return STATUS_OK;
    case OP_MUL:
    case OP_FMA: float_product(s, inst); return STATUS_OK;
    case OP_MIN:
    case OP_MAX: float_extreme(s, inst); return STATUS_OK;
    case OP_NEG:
    case OP_ABS: float_sign(s, inst); return STATUS_OK;
    default: return float_function(s, inst);
    }
}

/* ---- conversion ---- */

static unsigned float_word(enum type type) {
    return type == TYPE_BF16 ? 4 : type == TYPE_F64 ? 3 : type == TYPE_F32 ? 2 : 1;
}

static unsigned integer_word(enum type type) {
    switch (type) {
    case TYPE_S8: return 1;
    case TYPE_U16: return 2;
    case TYPE_S16: return 3;
    case TYPE_U32: return 4;
    case TYPE_S32: return 5;
    case TYPE_U64: return 6;
    case TYPE_S64: return 7;
    default: return 0;
    }
}

static unsigned integral_word(unsigned rounding) {
    return rounding == ROUND_RMI ? 1 : rounding == ROUND_RPI ? 2 : rounding == ROUND_RZI ? 3 : 0;
}

/* A word that is extended from 8 or 16 bits. */
static enum status extend_word(struct selector *s, const struct inst *inst) {
    const struct source a = sm_register(s, &inst->src[0]);
    const unsigned bits = 8 * type_bytes((enum type)inst->stype);
    const bool is_signed = type_is_signed((enum type)inst->stype);
    if (bits >= 32) {
        sm_move(s, inst, inst->dst[0].reg, &a);
        return STATUS_OK;
    }
    const struct source b = sm_number(is_signed ? bits : (1u << bits) - 1);
    struct machine_inst *made = sm_emit_to(s, is_signed ? TURING_SGXT : TURING_LOP3, inst, inst->dst[0].reg);
    sm_put(made, is_signed ? 1 : 2, &a);
    sm_put(made, is_signed ? 2 : 3, &b);
    if (!is_signed)
        machine_put_number(made, 5, 0xc0);
    return STATUS_OK;
}

static enum turing_row_id convert_row(const struct inst *inst, bool is_wide) {
    const bool to_float = type_is_float((enum type)inst->type), from_float = type_is_float((enum type)inst->stype);
    if (to_float && from_float && inst->type == inst->stype)
        return is_wide ? TURING_FRND_WIDE : TURING_FRND;
    if (to_float && from_float)
        return is_wide ? TURING_F2F_WIDE : TURING_F2F;
    if (to_float)
        return is_wide ? TURING_I2F_WIDE : TURING_I2F;
    return is_wide ? TURING_F2I_WIDE : TURING_F2I;
}

/* cvt.f32.f32 without rounding to an integer is a sum with nothing. */
static enum status convert_float(struct selector *s, const struct inst *inst) {
    const struct source a = float_source(s, &inst->src[0]), one = sm_number(0x3f800000);
    const struct source in = sm_in_register(s, a, NULL);
    struct machine_inst *made = sm_emit_to(s, TURING_FMUL, inst, inst->dst[0].reg);
    sm_put(made, 1, &in);
    sm_put(made, 2, &one);
    finish_float(made, inst);
    return STATUS_OK;
}

enum status sm_convert(struct selector *s, const struct inst *inst) {
    const enum type type = (enum type)inst->type, from = (enum type)inst->stype;
    const bool to_float = type_is_float(type), from_float = type_is_float(from);
    if (!to_float && !from_float)
        return extend_word(s, inst);
    const bool rounds = inst->rounding >= ROUND_RNI;
    if (type == TYPE_F32 && from == TYPE_F32 && !rounds)
        return convert_float(s, inst);
    if (type == TYPE_F16X2 || type == TYPE_BF16X2) {
        sm_pack_halves(s, inst, round_word(inst->rounding));
        return STATUS_OK;
    }
    if (type == TYPE_F32 && from == TYPE_F16) {
        sm_widen_half(s, inst);
        return STATUS_OK;
    }
    if (inst->flags & FLAG_SAT && to_float)
        return sm_refused(s, inst, "cvt with .sat to a float");
    const bool from_wide = inst->src_count == 2, to_wide = inst->dst_count == 2;
    struct source a = {.kind = SOURCE_ZERO};
    const uint32_t pair = from_wide ? sm_tuple_of(s, inst, inst->src, 2) : NO_UNIT;
    if (!from_wide)
        a = from == TYPE_F16 ? sm_register(s, &inst->src[0]) : sm_plain(s, &inst->src[0]);
    bool copied = false;
    const uint32_t d = to_wide ? select_tuple_for(s, inst->dst, 2, &copied) : inst->dst[0].reg;
    struct machine_inst *made = sm_emit(s, convert_row(inst, from_wide || to_wide), inst);
    sm_put_tuple(made, 0, d, to_wide ? 2 : 1);
    if (from_wide)
        sm_put_tuple(made, 1, pair, 2);
    else
        sm_put(made, 1, &a);
    sm_word(made, TURING_WORDS_FLOAT, float_word(to_float ? type : from));
    sm_word(made, TURING_WORDS_ANY_FLOAT, float_word(from));
    sm_word(made, TURING_WORDS_TO_FLOAT, float_word(type));
    sm_word(made, TURING_WORDS_TO_FLOAT_WIDE, float_word(type));
    sm_word(made, TURING_WORDS_FROM_FLOAT, float_word(from));
    sm_word(made, TURING_WORDS_INTEGER, integer_word(to_float ? from : type));
    sm_word(made, TURING_WORDS_INTEGRAL, integral_word(inst->rounding));
    sm_word(made, TURING_WORDS_ROUND, round_word(inst->rounding));
    sm_word(made, TURING_WORDS_FTZ, (inst->flags & FLAG_FTZ) != 0);
    /* a number that is none becomes 0 in words, and the lowest in pairs */
    sm_word(made, TURING_WORDS_NTZ, !to_float && !to_wide && !from_wide);
    if (copied)
        sm_move_tuple(s, inst, inst->dst, 2, d);
    return STATUS_OK;
}
