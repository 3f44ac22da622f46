/* SPDX-License-Identifier: Apache-2.0 */
/* What Fermi's instructions on integers and floating point, and between these, are in the internal form. */
#include "translate/fermi.h"

/* ---- integers ---- */

/* a + b, -a + b as b - a, a - b; -a - b has a part. */
static void add(struct translation *t, struct operation operation) {
    const struct native_operand *operands = t->inst->operands;
    const bool first = operands[1].negated && !operands[1].absolute;
    const bool second = operands[2].negated && !operands[2].absolute;
    const bool swaps = first && !second, subtracts = first != second;
    const struct operand a = swaps ? translate_plain(t, 1, operation.type) : translate_source(t, 1, operation.type);
    const struct operand b =
        second && subtracts ? translate_plain(t, 2, operation.type) : translate_source(t, 2, operation.type);
    operation.op = subtracts ? OP_SUB : OP_ADD;
    const bool wide = type_bytes(operation.type) == 8;
    const struct operand d = wide ? translate_begin_pair(t) : target(t);
    translate_2(t, operation, d, swaps ? b : a, swaps ? a : b);
    if (wide)
        translate_end_pair(t, d, &operands[0]);
}

static void integer_add(struct translation *t) {
    add(t, (struct operation){.type = TYPE_S32,
                              .flags = flag(translate_has(t, 0), FLAG_SAT) | flag(translate_has(t, 1), FLAG_CARRY_IN) |
                                       flag(t->inst->sets_code, FLAG_CARRY_OUT)});
}

/* Types of both factors; the lower half of a product does not depend on them. */
static bool product_type(struct translation *t, struct operation *operation) {
    const bool high = translate_has(t, 2), first = translate_word(t, 0) == MODIFIER_U32,
               second = translate_word(t, 1) == MODIFIER_U32;
    operation->mode = high ? MODE_HI : MODE_LO;
    operation->type = integer(first);
    if (high && first != second)
        translate_refuse(t, "the upper half of a product of factors that differ in sign");
    return !high || first == second;
}

static void multiply(struct translation *t, bool adds) {
    struct operation operation = {.op = adds ? OP_MAD : OP_MUL};
    if (!product_type(t, &operation))
        return;
    const struct operand a = translate_source(t, 1, TYPE_B32), b = translate_source(t, 2, TYPE_B32);
    if (!adds) {
        translate_2(t, operation, target(t), a, b);
        return;
    }
    operation.flags = flag(translate_has(t, 3), FLAG_CARRY_IN) | flag(t->inst->sets_code, FLAG_CARRY_OUT);
    translate_3(t, operation, target(t), a, b, translate_source(t, 3, TYPE_B32));
}

/* Of a, b: the smaller where the predicate holds, else the larger. */
static void extreme(struct translation *t, enum type type, unsigned flags) {
    bool always;
    const struct operand chosen = translate_predicate(&t->inst->operands[3], &always);
    const struct operand a = translate_source(t, 1, type), b = translate_source(t, 2, type);
    const bool wide = type_bytes(type) == 8;
    const struct operand d = wide ? translate_begin_pair(t) : target(t);
    struct operation operation = {.op = always ? OP_MIN : OP_MAX, .type = type, .flags = flags};
    if (chosen.kind == OPERAND_IMM) {
        translate_2(t, operation, d, a, b);
    } else {
        const struct operand low = translate_room(t, type), high = translate_room(t, type);
        translate_2(t, operation, high, a, b);
        operation.op = OP_MIN;
        translate_2(t, operation, low, a, b);
        translate_3(t, (struct operation){.op = OP_SELP, .type = wide ? TYPE_B64 : TYPE_B32}, d, low, high, chosen);
    }
    if (wide)
        translate_end_pair(t, d, &t->inst->operands[0]);
}

/* By the lower 5 bits, unless it clamps: then what is shifted out is gone. */
static struct operand shift_count(struct translation *t, struct operand b, bool clamps) {
    if (clamps || (b.kind == OPERAND_IMM && !b.symbol && b.imm < 32))
        return b;
    const struct operand low = translate_scratch(t);
    translate_2(t, (struct operation){.op = OP_AND, .type = TYPE_B32}, low, b, translate_number(31));
    return low;
}

static void shift(struct translation *t, enum op op, enum type type, bool clamps) {
    const struct operand a = translate_source(t, 1, TYPE_B32);
    const struct operand b = shift_count(t, translate_source(t, 2, TYPE_B32), clamps);
    translate_2(t, (struct operation){.op = op, .type = type}, target(t), a, b);
}

static void logic(struct translation *t) {
    const struct operand b = translate_source(t, 2, TYPE_B32);
    if (translate_word(t, 0) == MODIFIER_PASS_B) {
        translate_move(t, target(t), b);
        return;
    }
    const enum op op = translate_word(t, 0) == MODIFIER_AND  ? OP_AND
                       : translate_word(t, 0) == MODIFIER_OR ? OP_OR
                                                             : OP_XOR;
    translate_2(t, (struct operation){.op = op, .type = TYPE_B32}, target(t), translate_source(t, 1, TYPE_B32), b);
}

/* A field in the lower 16 bits of b: first bit, and above it how many. */
static void field(struct translation *t, struct operand b, struct operand *first, struct operand *count) {
    if (b.kind == OPERAND_IMM) {
        *first = translate_number(b.imm & 0xff), *count = translate_number(b.imm >> 8 & 0xff);
        return;
    }
    const struct operation extract = {.op = OP_BFE, .type = TYPE_U32};
    *first = translate_scratch(t), *count = translate_scratch(t);
    translate_3(t, extract, *first, b, translate_number(0), translate_number(8));
    translate_3(t, extract, *count, b, translate_number(8), translate_number(8));
}

static void extract_field(struct translation *t) {
    struct operand first, count;
    const struct operand a = translate_source(t, 1, TYPE_B32);
    field(t, translate_source(t, 2, TYPE_B32), &first, &count);
    translate_3(t, (struct operation){.op = OP_BFE, .type = integer(translate_has(t, 0))}, target(t), a, first, count);
}

static void insert_field(struct translation *t) {
    struct operand first, count;
    const struct operand a = translate_source(t, 1, TYPE_B32), into = translate_source(t, 3, TYPE_B32);
    field(t, translate_source(t, 2, TYPE_B32), &first, &count);
    const struct operand sources[4] = {a, into, first, count}, d = target(t);
    translate_put(t, &(struct operation){.op = OP_BFI, .type = TYPE_B32}, &d, 1, sources, 4);
}

/* Operands of video instructions may be the lower byte or half of a register. */
static struct operand video_source(struct translation *t, unsigned n, enum native_modifier type, enum type *out) {
    const enum type narrow = type ? translate_type(type) : TYPE_S32;
    struct operand source = translate_source(t, n, TYPE_B32);
    *out = type_is_signed(narrow) ? TYPE_S32 : TYPE_U32;
    if (source.kind == OPERAND_IMM || type_bytes(narrow) == 4)
        return source;
    const struct operand wide = translate_scratch(t);
    translate_1(t, (struct operation){.op = OP_CVT, .type = *out, .stype = narrow}, wide, source);
    return wide;
}

/* d = (a first b) second c; the second has the sign of the result. */
static void video(struct translation *t, enum op one, struct operand a, struct operand b, enum type type,
                  enum native_modifier then) {
    const bool adds = one == OP_ADD, chooses = one == OP_MIN || one == OP_MAX;
    const enum type result = translate_has(t, 0) ? TYPE_U32 : TYPE_S32;
    const struct operand c = translate_source(t, 3, TYPE_B32), d = target(t);
    const enum mode mode = one == OP_MAX || (adds && then == MODIFIER_MAX) ? MODE_MAX : MODE_MIN;
    if (!then) {
        translate_2(t, (struct operation){.op = one, .type = type}, d, a, b);
    } else if (adds && then != MODIFIER_ACC && result == type) {
        translate_3(t, (struct operation){.op = OP_ADD_MNMX, .type = type, .mode = mode}, d, a, b, c);
    } else if (chooses && then == MODIFIER_ACC) {
        translate_3(t, (struct operation){.op = OP_MNMX_ADD, .type = type, .mode = mode}, d, a, b, c);
    } else {
        const struct operand middle = translate_scratch(t);
        const enum op two = then == MODIFIER_ACC ? OP_ADD : then == MODIFIER_MIN ? OP_MIN : OP_MAX;
        translate_2(t, (struct operation){.op = one, .type = type}, middle, a, b);
        translate_2(t, (struct operation){.op = two, .type = result}, d, middle, c);
    }
}

static void translate_video(struct translation *t) {
    enum type first, second;
    const struct operand a = video_source(t, 1, translate_word(t, 1), &first);
    struct operand b = video_source(t, 2, translate_word(t, 2), &second);
    switch ((enum fermi_row)t->inst->row) {
    case FERMI_VADD: video(t, OP_ADD, a, b, first, translate_word(t, 3)); break;
    case FERMI_VMNMX: video(t, translate_has(t, 3) ? OP_MAX : OP_MIN, a, b, first, translate_word(t, 4)); break;
    default:
        b = shift_count(t, b, translate_has(t, 3));
        video(t, t->inst->row == FERMI_VSHL ? OP_SHL : OP_SHR, a, b, t->inst->row == FERMI_VSHL ? TYPE_B32 : first,
              translate_word(t, 4));
        break;
    }
}

/* ---- floating point ---- */

static void multiply_float(struct translation *t, enum type type, bool adds, unsigned flags, enum rounding rounding) {
    const bool wide = type == TYPE_F64;
    const struct operand a = translate_source(t, 1, type), b = translate_source(t, 2, type);
    const struct operand c = adds ? translate_source(t, 3, type) : translate_number(0);
    const struct operand d = wide ? translate_begin_pair(t) : target(t);
    const struct operation operation = {
        .op = adds ? OP_FMA : OP_MUL, .type = type, .flags = flags, .rounding = rounding};
    if (adds)
        translate_3(t, operation, d, a, b, c);
    else
        translate_2(t, operation, d, a, b);
    if (wide)
        translate_end_pair(t, d, &t->inst->operands[0]);
}

static void special_function(struct translation *t) {
    static const uint8_t ops[] = {OP_COS, OP_SIN, OP_EX2, OP_LG2, OP_RCP, OP_RSQRT};
    if (translate_has(t, 1)) {
        translate_refuse(t, "MUFU with .SAT");
        return;
    }
    translate_1(
        t, (struct operation){.op = ops[translate_word(t, 0) - MODIFIER_COS], .type = TYPE_F32, .flags = FLAG_APPROX},
        target(t), translate_source(t, 1, TYPE_F32));
}

/* ---- conversion ---- */

static void convert(struct translation *t, struct operation operation) {
    const enum type from = operation.stype;
    /* signs of narrow integers are those of 32 bits */
    const enum type sign = type_is_float(from) ? from : type_bytes(from) == 8 ? TYPE_S64 : TYPE_S32;
    const struct native_operand *source = &t->inst->operands[1];
    struct operand a = translate_plain(t, 1, type_bytes(from) == 8 ? from : TYPE_B32);
    const bool wide = type_bytes(operation.type) == 8;
    if ((source->negated || source->absolute) && type_bytes(from) < 4) {
        translate_refuse(t, "a sign before a value of less than 32 bits");
        return;
    }
    for (unsigned i = 0; i < 2; i++)
        if (i ? source->negated : source->absolute) {
            const struct operand out = translate_room(t, sign);
            translate_1(t, (struct operation){.op = i ? OP_NEG : OP_ABS, .type = sign}, out, a);
            a = out;
        }
    const struct operand d = wide ? translate_begin_pair(t) : target(t);
    operation.op = OP_CVT;
    translate_1(t, operation, d, a);
    if (wide)
        translate_end_pair(t, d, &t->inst->operands[0]);
}

static void convert_float(struct translation *t) {
    const enum type to = translate_type_or(translate_word(t, 1), TYPE_F32),
                    from = translate_type_or(translate_word(t, 2), TYPE_F32);
    const enum rounding rounding = translate_rounding(translate_word(t, 3));
    const bool integral = rounding >= ROUND_RNI && rounding <= ROUND_RPI;
    if (to != from && integral) {
        translate_refuse(t, "rounding to an integral value between types");
        return;
    }
    convert(t, (struct operation){.type = to,
                                  .stype = from,
                                  .rounding = to == from && !integral ? ROUND_DEFAULT : rounding,
                                  .flags = flag(translate_has(t, 0), FLAG_FTZ) | flag(translate_has(t, 4), FLAG_SAT)});
}

static void convert_to_integer(struct translation *t) {
    enum rounding rounding = translate_rounding(translate_word(t, 3));
    if (rounding == ROUND_DEFAULT)
        rounding = ROUND_RNI;
    convert(t, (struct operation){.type = translate_type(translate_word(t, 1)),
                                  .stype = translate_type_or(translate_word(t, 2), TYPE_F32),
                                  .rounding = rounding,
                                  .flags = flag(translate_has(t, 0), FLAG_FTZ)});
}

/* ---- by instruction ---- */

static void translate_integer(struct translation *t) {
    const struct operation shifted = {.op = OP_SHADD, .type = TYPE_B32};
    switch ((enum fermi_row)t->inst->row) {
    case FERMI_IADD:
    case FERMI_IADD32I: integer_add(t); break;
    case FERMI_IMUL: multiply(t, false); break;
    case FERMI_IMAD: multiply(t, true); break;
    case FERMI_ISCADD: {
        const struct operand a = translate_source(t, 1, TYPE_B32), b = translate_source(t, 2, TYPE_B32);
        translate_3(t, shifted, target(t), a, b, translate_source(t, 3, TYPE_B32));
        break;
    }
    case FERMI_IMNMX: extreme(t, integer(translate_has(t, 0)), 0); break;
    case FERMI_ICMP: {
        const struct operand a = translate_source(t, 1, TYPE_B32), b = translate_source(t, 2, TYPE_B32);
        const struct operation operation = {.op = OP_ICMP,
                                            .type = integer(translate_has(t, 1)),
                                            .compare = translate_compare(translate_word(t, 0))};
        translate_3(t, operation, target(t), a, b, translate_source(t, 3, TYPE_B32));
        break;
    }
    case FERMI_SHL: shift(t, OP_SHL, TYPE_B32, translate_has(t, 0)); break;
    case FERMI_SHR: shift(t, OP_SHR, integer(translate_has(t, 0)), translate_has(t, 1)); break;
    case FERMI_LOP:
    case FERMI_LOP32I: logic(t); break;
    case FERMI_BFE: extract_field(t); break;
    case FERMI_BFI: insert_field(t); break;
    case FERMI_POPC: {
        const struct operand both = translate_scratch(t), a = translate_source(t, 1, TYPE_B32);
        translate_2(t, (struct operation){.op = OP_AND, .type = TYPE_B32}, both, a, translate_source(t, 2, TYPE_B32));
        translate_1(t, (struct operation){.op = OP_POPC, .type = TYPE_B32}, target(t), both);
        break;
    }
    case FERMI_FLO:
        translate_1(t,
                    (struct operation){.op = OP_BFIND,
                                       .type = integer(translate_has(t, 0)),
                                       .mode = translate_has(t, 1) ? MODE_SHIFTAMT : MODE_NONE},
                    target(t), translate_source(t, 1, TYPE_B32));
        break;
    case FERMI_VADD:
    case FERMI_VMNMX:
    case FERMI_VSHL:
    case FERMI_VSHR: translate_video(t); break;
    default: translate_refuse(t, "no operation is known for it"); break;
    }
}

void translate_fermi_arithmetic(struct translation *t) {
    const unsigned ftz = flag(translate_has(t, 0), FLAG_FTZ);
    switch ((enum fermi_row)t->inst->row) {
    case FERMI_FADD:
        add(t, (struct operation){.type = TYPE_F32,
                                  .flags = ftz | flag(translate_has(t, 2), FLAG_SAT),
                                  .rounding = translate_rounding(translate_word(t, 1))});
        break;
    case FERMI_FADD32I: add(t, (struct operation){.type = TYPE_F32, .flags = ftz}); break;
    case FERMI_FMUL:
        multiply_float(t, TYPE_F32, false, ftz | flag(translate_has(t, 2), FLAG_SAT),
                       translate_rounding(translate_word(t, 1)));
        break;
    case FERMI_FMUL32I:
        multiply_float(t, TYPE_F32, false, ftz | flag(translate_has(t, 1), FLAG_SAT), ROUND_DEFAULT);
        break;
    case FERMI_FFMA:
        multiply_float(t, TYPE_F32, true, ftz | flag(translate_has(t, 2), FLAG_SAT),
                       translate_rounding(translate_word(t, 1)));
        break;
    case FERMI_FMNMX: extreme(t, TYPE_F32, ftz); break;
    case FERMI_MUFU: special_function(t); break;
    case FERMI_RRO: translate_move(t, target(t), translate_source(t, 1, TYPE_F32)); break;
    case FERMI_DADD:
        add(t, (struct operation){.type = TYPE_F64, .rounding = translate_rounding(translate_word(t, 0))});
        break;
    case FERMI_DMUL: multiply_float(t, TYPE_F64, false, 0, translate_rounding(translate_word(t, 0))); break;
    case FERMI_DFMA: multiply_float(t, TYPE_F64, true, 0, translate_rounding(translate_word(t, 0))); break;
    case FERMI_DMNMX: extreme(t, TYPE_F64, 0); break;
    case FERMI_I2F:
        convert(t, (struct operation){.type = translate_type_or(translate_word(t, 0), TYPE_F32),
                                      .stype = translate_type(translate_word(t, 1)),
                                      .rounding =
                                          translate_word(t, 2) ? translate_rounding(translate_word(t, 2)) : ROUND_RN});
        break;
    case FERMI_F2I: convert_to_integer(t); break;
    case FERMI_F2F: convert_float(t); break;
    case FERMI_I2I:
        convert(t, (struct operation){.type = translate_type(translate_word(t, 0)),
                                      .stype = translate_type(translate_word(t, 1)),
                                      .flags = flag(translate_has(t, 2), FLAG_SAT)});
        break;
    default: translate_integer(t); break;
    }
}
