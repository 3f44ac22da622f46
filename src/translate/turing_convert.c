/* SPDX-License-Identifier: Apache-2.0 */
/* What conversions and counts of bits of sm_75 to sm_90 are in the internal form. */
#include "translate/turing.h"

/* By the bits of fields: floats, integers, what is packed. */
static const uint8_t floats[] = {TYPE_NONE, TYPE_F16, TYPE_F32, TYPE_F64, TYPE_BF16, TYPE_NONE, TYPE_TF32, TYPE_NONE};
static const uint8_t integers[] = {TYPE_U8, TYPE_S8, TYPE_U16, TYPE_S16, TYPE_U32, TYPE_S32, TYPE_U64, TYPE_S64};

static enum type float_of(const struct translation *t, enum turing_words words) {
    return floats[turing_word_of(t, words)];
}

static enum rounding integral_rounding(const struct translation *t) {
    static const uint8_t roundings[] = {ROUND_RNI, ROUND_RMI, ROUND_RPI, ROUND_RZI};
    return roundings[turing_word_of(t, TURING_WORDS_INTEGRAL)];
}

/* ---- sources ---- */

/* A float of the type; of 16 bits the half that the operand selects, alone. */
struct operand turing_float_source(struct translation *t, enum type type) {
    const struct turing_operand *operand = turing_operand(t, 1);
    if (type_bytes(type) > 2) {
        if (operand->select)
            translate_refuse(t, "a part of a float");
        return turing_number(t, 1, type);
    }
    if (operand->select > 1)
        translate_refuse(t, "this part of a register");
    const struct operand whole = turing_plain(t, 1, TYPE_B32);
    const unsigned kept = operand->absolute ? 0x7fff : 0xffff, sign = operand->negated ? 0x8000 : 0;
    if (whole.kind == OPERAND_IMM && !whole.symbol)
        return translate_number(((operand->select ? whole.imm >> 16 : whole.imm) & kept) ^ sign);
    const struct operand half = translate_scratch(t);
    if (operand->select)
        translate_2(t, (struct operation){.op = OP_SHR, .type = TYPE_U32}, half, whole, translate_number(16));
    if (!operand->select || operand->absolute)
        translate_2(t, (struct operation){.op = OP_AND, .type = TYPE_B32}, half, operand->select ? half : whole,
                    translate_number(kept));
    if (sign)
        translate_2(t, (struct operation){.op = OP_XOR, .type = TYPE_B32}, half, half, translate_number(sign));
    return half;
}

/* An integer of the type; a byte or a half of a register where the operand selects one. Of 64 bits a number is the upper half. */
static struct operand integer_source(struct translation *t, enum type type) {
    const unsigned select = turing_operand(t, 1)->select, bits = 8 * type_bytes(type);
    const struct operand whole = turing_plain(t, 1, bits == 64 ? type : TYPE_B32);
    if (bits == 64 && turing_operand(t, 1)->kind == TURING_IMMEDIATE && !whole.symbol)
        return translate_number(whole.imm << 32);
    if (!select)
        return whole;
    if (bits * (select + 1) > 32)
        translate_refuse(t, "a part that lies outside of the register");
    const struct operand part = translate_scratch(t);
    translate_2(t, (struct operation){.op = OP_SHR, .type = TYPE_U32}, part, whole, translate_number(bits * select));
    return part;
}

/* ---- conversions ---- */

static void convert(struct translation *t, struct operation operation, struct operand a) {
    const struct operand d = turing_result(t, operation.type);
    operation.op = OP_CVT;
    translate_1(t, operation, d, a);
}

static void integer_to_float(struct translation *t, enum type to, enum type from) {
    convert(t, (struct operation){.type = to, .stype = from, .rounding = turing_rounding(t)}, integer_source(t, from));
}

static void i2f(struct translation *t) {
    if (t->turing->row == TURING_I2FP) {
        const unsigned bits = turing_word_of(t, TURING_WORDS_BITS), sign = turing_word_of(t, TURING_WORDS_SIGN);
        const enum type to = float_of(t, TURING_WORDS_I2FP_TYPE);
        if (to == TYPE_NONE)
            translate_refuse(t, "FP8");
        else
            integer_to_float(t, to, integers[2 * bits + sign]);
        return;
    }
    integer_to_float(t, float_of(t, TURING_WORDS_FLOAT), integers[turing_word_of(t, TURING_WORDS_INTEGER)]);
}

/* NaN is 0 with .NTZ, else the integer that has only its sign bit. The internal form takes the one or the other by the types,
 * as PTX does; where the word wants the other, a part chooses it. */
static void f2i(struct translation *t) {
    const enum type from = float_of(t, TURING_WORDS_FLOAT), to = integers[turing_word_of(t, TURING_WORDS_INTEGER)];
    const unsigned bits = 8 * type_bytes(to);
    const bool is_zero = turing_word_of(t, TURING_WORDS_NTZ), gives_zero = from != TYPE_F64 && bits < 64;
    const struct operand a = turing_float_source(t, from);
    const struct operation operation = {.op = OP_CVT,
                                        .type = to,
                                        .stype = from,
                                        .rounding = integral_rounding(t),
                                        .flags = turing_flag_of(t, TURING_WORDS_FTZ, FLAG_FTZ)};
    if (is_zero == gives_zero) {
        convert(t, operation, a);
        return;
    }
    const struct operand number = translate_room(t, bits == 64 ? TYPE_B64 : TYPE_B32), nan = translate_test(t);
    uint64_t limit = is_zero ? 0 : UINT64_C(1) << (bits - 1);
    if (limit && bits < 32 && type_is_signed(to))
        limit |= UINT32_MAX << bits;
    const struct operand d = turing_result(t, to);
    translate_1(t, operation, number, a);
    translate_2(t, (struct operation){.op = OP_SETP, .type = from, .compare = CMP_NAN}, nan, a, a);
    translate_3(t, (struct operation){.op = OP_SELP, .type = bits == 64 ? TYPE_B64 : TYPE_B32}, d,
                translate_number(limit), number, nan);
}

static void f2f(struct translation *t) {
    const enum type to = float_of(t, t->turing->row == TURING_F2F ? TURING_WORDS_TO_FLOAT : TURING_WORDS_TO_FLOAT_WIDE);
    const enum type from = float_of(t, TURING_WORDS_FROM_FLOAT);
    if (to == TYPE_TF32 || to == TYPE_NONE || to == from) {
        translate_refuse(t, to == TYPE_TF32 ? "TF32" : "between floats of one type");
        return;
    }
    const bool widens = type_bytes(to) > type_bytes(from);
    convert(t,
            (struct operation){.type = to,
                               .stype = from,
                               .rounding = widens ? ROUND_DEFAULT : turing_rounding(t),
                               .flags = turing_flag_of(t, TURING_WORDS_FTZ, FLAG_FTZ)},
            turing_float_source(t, from));
}

static void round_float(struct translation *t) {
    const enum type type = float_of(t, TURING_WORDS_FLOAT);
    convert(t,
            (struct operation){.type = type,
                               .stype = type,
                               .rounding = integral_rounding(t),
                               .flags = turing_flag_of(t, TURING_WORDS_FTZ, FLAG_FTZ)},
            turing_float_source(t, type));
}

/* ---- packing ---- */

static enum type narrow_type(const struct translation *t) { return integers[turing_word_of(t, TURING_WORDS_NARROW)]; }

/* Saturated to `bits`, the lower of which go into `below` at a place. */
static struct operand inserted(struct translation *t, struct operand value, struct operand below, unsigned bits,
                               unsigned at, bool is_signed) {
    const int64_t top = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    const struct operand part = translate_scratch(t), whole = translate_scratch(t);
    translate_2(t, (struct operation){.op = OP_MAX, .type = TYPE_S32}, part, value,
                translate_number(is_signed ? (uint64_t)(-top - 1) : 0));
    translate_2(t, (struct operation){.op = OP_MIN, .type = TYPE_S32}, part, part, translate_number((uint64_t)top));
    translate_put(t, &(struct operation){.op = OP_BFI, .type = TYPE_B32}, &whole, 1,
                  (struct operand[]){part, below, translate_number(at), translate_number(bits)}, 4);
    return whole;
}

/* Where C begins depends on the width. Other places than a compiler writes for it are refused. */
static void i2ip(struct translation *t) {
    const unsigned type = turing_word_of(t, TURING_WORDS_NARROW_ANY), merged = turing_word_of(t, TURING_WORDS_MERGED);
    const struct operand a = turing_plain(t, 1, TYPE_B32), b = turing_plain(t, 2, TYPE_B32);
    struct operand c = turing_plain(t, 3, TYPE_B32);
    if (turing_modifier(t->turing, TURING_WORDS_NOSAT) == 0)
        translate_refuse(t, ".NOSAT");
    if (merged != (type < 4 ? (unsigned)(merged == 1) : type < 6 ? 3u : 2u)) {
        translate_refuse(t, "this place of C with this width");
    } else if (type < 4) {
        if (merged) {
            const struct operand upper = translate_scratch(t);
            translate_2(t, (struct operation){.op = OP_SHR, .type = TYPE_U32}, upper, c, translate_number(16));
            c = upper;
        }
        translate_3(t, (struct operation){.op = OP_CVT_PACK, .type = TYPE_S32, .stype = integers[type]},
                    turing_target(t, 0), a, b, c);
    } else {
        const unsigned bits = type < 6 ? 2 : 4;
        const struct operand above = translate_scratch(t);
        translate_2(t, (struct operation){.op = OP_SHL, .type = TYPE_B32}, above, c, translate_number(2 * bits));
        const struct operand upper = inserted(t, a, above, bits, bits, type & 1);
        translate_1(t, (struct operation){.op = OP_MOV, .type = TYPE_B32}, turing_target(t, 0),
                    inserted(t, b, upper, bits, 0, type & 1));
    }
}

static void f2ip(struct translation *t) {
    const enum type to = turing_word_of(t, TURING_WORDS_BYTE) ? TYPE_S8 : TYPE_U8;
    if (turing_word_of(t, TURING_WORDS_RELU) || !turing_word_of(t, TURING_WORDS_NTZ))
        translate_refuse(t, "%s", turing_word_of(t, TURING_WORDS_RELU) ? ".RELU" : "without .NTZ");
    struct operand bytes[2];
    for (unsigned i = 0; i < 2; i++) {
        bytes[i] = translate_scratch(t);
        translate_1(t,
                    (struct operation){.op = OP_CVT, .type = to, .stype = TYPE_F32, .rounding = integral_rounding(t)},
                    bytes[i], turing_plain(t, 1 + i, TYPE_F32));
    }
    translate_3(t, (struct operation){.op = OP_CVT_PACK, .type = TYPE_S32, .stype = to}, turing_target(t, 0), bytes[0],
                bytes[1], turing_plain(t, 3, TYPE_B32));
}

/* Two floats of 8 bits: of two f32, A above B, with nothing to merge; of two halves in B. [X: cvt of such floats through ptxas] */
static void pack_eighths(struct translation *t) {
    enum { E5M2 = 2, FROM_HALVES = 1 };
    const unsigned from = turing_word_of(t, TURING_WORDS_UNPACK_TYPE);
    const bool merges = turing_word_of(t, TURING_WORDS_PACK), is_single = from != FROM_HALVES;
    const struct operand c = merges ? turing_plain(t, 3, TYPE_B32) : translate_number(0);
    const struct operand a = merges ? turing_plain(t, 1, TYPE_F32) : translate_number(0);
    if (from > FROM_HALVES || is_single != merges || c.kind != OPERAND_IMM || c.imm ||
        !turing_word_of(t, TURING_WORDS_SATFINITE)) {
        translate_refuse(t, "these floats of 8 bits");
        return;
    }
    const struct operation operation = {.op = OP_CVT,
                                        .type = turing_word_of(t, TURING_WORDS_PACK_TYPE) == E5M2 ? TYPE_E5M2X2
                                                                                                  : TYPE_E4M3X2,
                                        .stype = is_single ? TYPE_F32 : TYPE_F16X2,
                                        .rounding = ROUND_RN,
                                        .flags = turing_flag_of(t, TURING_WORDS_RELU, FLAG_RELU)};
    if (is_single)
        translate_2(t, operation, turing_target(t, 0), a, turing_number(t, 2, TYPE_F32));
    else
        translate_1(t, operation, turing_target(t, 0), turing_plain(t, 2, TYPE_B32));
}

/* Two halves of the floats of 8 bits in the lower or the upper half of B. */
static void unpack_eighths(struct translation *t) {
    enum { FROM_E5M2 = 2, UPPER = 6 };
    struct operand b = turing_plain(t, 2, TYPE_B32);
    if (turing_word_of(t, TURING_WORDS_PACK_FP8) == UPPER) {
        const struct operand upper = translate_scratch(t);
        translate_2(t, (struct operation){.op = OP_SHR, .type = TYPE_U32}, upper, b, translate_number(16));
        b = upper;
    }
    translate_1(t,
                (struct operation){.op = OP_CVT,
                                   .type = TYPE_F16X2,
                                   .stype = turing_word_of(t, TURING_WORDS_UNPACK_TYPE) == FROM_E5M2 ? TYPE_E5M2X2
                                                                                                     : TYPE_E4M3X2,
                                   .rounding = ROUND_RN,
                                   .flags = turing_flag_of(t, TURING_WORDS_RELU, FLAG_RELU)},
                turing_target(t, 0), b);
}

/* F2FP with floats of 8 bits; false: there are none. */
static bool f2fp_eighths(struct translation *t) {
    enum { PACKS = 1, UNPACKS_FROM = 2 };
    const unsigned way = turing_word_of(t, TURING_WORDS_PACK_FP8);
    const bool is_packed = turing_word_of(t, TURING_WORDS_PACK_TYPE) > 1,
               is_unpacked = turing_word_of(t, TURING_WORDS_UNPACK_TYPE) >= UNPACKS_FROM;
    if (turing_rounding(t) != ROUND_RN || turing_word_of(t, TURING_WORDS_H1) || turing_word_of(t, TURING_WORDS_TF32))
        return false;
    if (way == PACKS && is_packed && !is_unpacked)
        pack_eighths(t);
    else if (way > PACKS && is_unpacked && !is_packed && !turing_word_of(t, TURING_WORDS_PACK) &&
             !turing_word_of(t, TURING_WORDS_SATFINITE))
        unpack_eighths(t);
    else
        return false;
    return true;
}

/* Two halves, A above B, or one. */
static void f2fp(struct translation *t) {
    const unsigned type = turing_word_of(t, TURING_WORDS_PACK_TYPE);
    const bool has_bytes = type > 1 || turing_word_of(t, TURING_WORDS_UNPACK_TYPE) ||
                           turing_word_of(t, TURING_WORDS_PACK_FP8) || turing_word_of(t, TURING_WORDS_SATFINITE);
    if (f2fp_eighths(t))
        return;
    const bool merges = turing_word_of(t, TURING_WORDS_PACK);
    const struct operand c = merges ? turing_plain(t, 3, TYPE_B32) : translate_number(0);
    if (has_bytes || c.kind != OPERAND_IMM || c.imm || turing_word_of(t, TURING_WORDS_TF32) ||
        turing_word_of(t, TURING_WORDS_H1)) {
        translate_refuse(t, "%s",
                         turing_word_of(t, TURING_WORDS_TF32) ? "TF32"
                         : has_bytes                          ? "FP8"
                                                              : "one half, merged with another");
        return;
    }
    const struct operand a = turing_plain(t, 1, TYPE_F32), b = turing_number(t, 2, TYPE_F32);
    struct operation operation = {.op = OP_CVT,
                                  .type = type ? TYPE_BF16X2 : TYPE_F16X2,
                                  .stype = TYPE_F32,
                                  .rounding = turing_rounding(t),
                                  .flags = turing_flag_of(t, TURING_WORDS_RELU, FLAG_RELU)};
    if (merges) { /* with nothing: 0 above it */
        operation.type = type ? TYPE_BF16 : TYPE_F16;
        convert(t, operation, b);
    } else {
        translate_2(t, operation, turing_target(t, 0), a, b);
    }
}

/* ---- bits ---- */

static void find_bit(struct translation *t) {
    translate_1(t,
                (struct operation){.op = OP_BFIND,
                                   .type = turing_word_of(t, TURING_WORDS_SIGNED) ? TYPE_S32 : TYPE_U32,
                                   .mode = turing_word_of(t, TURING_WORDS_SH) ? MODE_SHIFTAMT : MODE_NONE},
                turing_target(t, 0), turing_source(t, 1, TYPE_B32));
}

static void of_bits(struct translation *t, enum op op) {
    translate_1(t, (struct operation){.op = op, .type = TYPE_B32}, turing_target(t, 0), turing_source(t, 1, TYPE_B32));
}

/* By which compilers find overflow: the sign of the bitwise function. */
static void of_signs(struct translation *t) {
    const struct operand sources[4] = {turing_plain(t, 1, TYPE_B32), turing_plain(t, 2, TYPE_B32),
                                       turing_plain(t, 3, TYPE_B32),
                                       translate_number((uint64_t)turing_operand(t, 4)->value)};
    const struct operand bits = translate_scratch(t);
    translate_put(t, &(struct operation){.op = OP_LOP3, .type = TYPE_B32}, &bits, 1, sources, 4);
    translate_2(t, (struct operation){.op = OP_SETP, .type = TYPE_S32, .compare = CMP_LT},
                turing_predicate_target(t, 0), bits, translate_number(0));
}

bool turing_convert(struct translation *t) {
    switch (turing_row(t->turing->row)->meaning) {
    case TURING_MEANS_I2F: i2f(t); break;
    case TURING_MEANS_F2I: f2i(t); break;
    case TURING_MEANS_F2F: f2f(t); break;
    case TURING_MEANS_FRND: round_float(t); break;
    case TURING_MEANS_I2I:
        convert(t, (struct operation){.type = narrow_type(t), .stype = TYPE_S32, .flags = FLAG_SAT},
                turing_plain(t, 1, TYPE_B32));
        break;
    case TURING_MEANS_I2IP: i2ip(t); break;
    case TURING_MEANS_F2IP: f2ip(t); break;
    case TURING_MEANS_F2FP: f2fp(t); break;
    case TURING_MEANS_FLO: find_bit(t); break;
    case TURING_MEANS_BREV: of_bits(t, OP_BREV); break;
    case TURING_MEANS_PSIGN: of_signs(t); break;
    case TURING_MEANS_POPC: of_bits(t, OP_POPC); break;
    default: return false;
    }
    return true;
}
