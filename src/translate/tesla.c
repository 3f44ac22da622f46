/* SPDX-License-Identifier: Apache-2.0 */
/* What each Tesla instruction is in the internal form. */
#include "translate/translate.h"

/* A result goes to a register, a half of one, a condition code, a register and a code, or nowhere. */
struct result {
    struct operand d;
    bool half;
    int code; /* -1: none */
};

static struct result begin_result(struct translation *t, enum native_modifier code) {
    const struct native_operand *target = &t->inst->operands[0];
    struct result result = {.code = code ? (int)(code - MODIFIER_C0) : -1};
    result.half = target->kind == NATIVE_REG && target->half != HALF_NONE;
    if (result.code >= 0)
        result.d = translate_register(REGISTER_C + (unsigned)result.code);
    else
        result.d = result.half ? translate_scratch(t) : translate_target(t, 0);
    return result;
}

static void end_result(struct translation *t, const struct result *result) {
    const struct operand target = translate_target(t, 0);
    if (result->half) {
        const unsigned first = t->inst->operands[0].half == HALF_HIGH ? 16 : 0;
        const struct operand sources[4] = {result->d, target, translate_number(first), translate_number(16)};
        translate_put(t, &(struct operation){.op = OP_BFI, .type = TYPE_B32}, &target, 1, sources, 4);
    } else if (result->code >= 0 && target.kind != OPERAND_NONE) {
        translate_move(t, target, result->d);
    }
}

static void put_2(struct translation *t, struct operation operation, enum type from, enum native_modifier code) {
    const struct operand a = translate_source(t, 1, from), b = translate_source(t, 2, from);
    const struct result result = begin_result(t, code);
    translate_2(t, operation, result.d, a, b);
    end_result(t, &result);
}

static void put_1(struct translation *t, struct operation operation, enum type from, enum native_modifier code) {
    const struct operand a = translate_source(t, 1, from);
    const struct result result = begin_result(t, code);
    translate_1(t, operation, result.d, a);
    end_result(t, &result);
}

/* Narrow operands are 32 bits wide once they are read. */
static enum type wide_type(enum type type) { return type_is_signed(type) ? TYPE_S32 : TYPE_U32; }

static void add(struct translation *t, enum type type, struct operation operation, enum native_modifier code) {
    const bool first = t->inst->operands[1].negated, second = t->inst->operands[2].negated;
    const bool swaps = first && !second, subtracts = first != second;
    const struct operand a = swaps ? translate_plain(t, 1, type) : translate_source(t, 1, type);
    const struct operand b = second && subtracts ? translate_plain(t, 2, type) : translate_source(t, 2, type);
    const struct result result = begin_result(t, code);
    operation.op = subtracts ? OP_SUB : OP_ADD, operation.type = type;
    translate_2(t, operation, result.d, swaps ? b : a, swaps ? a : b);
    end_result(t, &result);
}

/* A factor of a 16-bit product: the register and which half, or a value whose lower half it is. */
static struct operand factor(struct translation *t, unsigned n, enum type type, bool *high) {
    const struct native_operand *operand = &t->inst->operands[n];
    *high = operand->kind == NATIVE_REG && operand->half == HALF_HIGH;
    if (operand->kind == NATIVE_REG && operand->reg != TESLA_ZERO)
        return translate_register(operand->reg);
    return translate_source(t, n, type);
}

static void multiply(struct translation *t, enum native_modifier type, struct operand c) {
    static const uint8_t modes[2][2] = {{MODE_LOW_LOW, MODE_LOW_HIGH}, {MODE_HIGH_LOW, MODE_HIGH_HIGH}};
    const bool is_signed = type == MODIFIER_S16 || type == MODIFIER_S24;
    struct operation operation = {.type = is_signed ? TYPE_S32 : TYPE_U32};
    bool high[2] = {false, false};
    if (type == MODIFIER_U24 || type == MODIFIER_S24) {
        const struct operand a = translate_source(t, 1, TYPE_B32), b = translate_source(t, 2, TYPE_B32);
        const struct result result = begin_result(t, MODIFIER_NONE);
        operation.op = OP_MAD24, operation.mode = MODE_LO;
        translate_3(t, operation, result.d, a, b, c);
        end_result(t, &result);
        return;
    }
    const enum type half = is_signed ? TYPE_S16 : TYPE_U16;
    const struct operand a = factor(t, 1, half, &high[0]), b = factor(t, 2, half, &high[1]);
    const struct result result = begin_result(t, MODIFIER_NONE);
    operation.op = OP_MAD16, operation.mode = modes[high[0]][high[1]];
    translate_3(t, operation, result.d, a, b, c);
    end_result(t, &result);
}

static void multiply_two(struct translation *t) {
    if (translate_word(t, 0) != translate_word(t, 1))
        translate_refuse(t, "a product of factors of different types");
    else
        multiply(t, translate_word(t, 0), translate_number(0));
}

static void multiply_float(struct translation *t, unsigned flags, enum rounding rounding, enum native_modifier code) {
    put_2(t, (struct operation){.op = OP_MUL, .type = TYPE_F32, .flags = flags, .rounding = rounding}, TYPE_F32, code);
}

static void multiply_add(struct translation *t, unsigned flags, enum native_modifier code) {
    const struct operand a = translate_source(t, 1, TYPE_F32), b = translate_source(t, 2, TYPE_F32);
    const struct operand c = translate_source(t, 3, TYPE_F32);
    const struct result result = begin_result(t, code);
    translate_3(t, (struct operation){.op = OP_FMA, .type = TYPE_F32, .flags = flags}, result.d, a, b, c);
    end_result(t, &result);
}

static void set(struct translation *t, enum type from, enum native_modifier code) {
    const enum type wide = type_is_float(from) ? from : wide_type(from);
    put_2(t,
          (struct operation){
              .op = OP_SET, .type = TYPE_U32, .stype = wide, .compare = translate_compare(t->inst->operands[3].reg)},
          from, code);
}

/* Conversion of what fits 32 bits; signs are of 32 bits. */
static void convert(struct translation *t, enum type to, enum type from, enum rounding rounding, unsigned flags,
                    enum native_modifier code) {
    if (type_bytes(to) == 8 || type_bytes(from) == 8) {
        translate_refuse(t, "values of 64 bits");
        return;
    }
    const bool from_float = type_is_float(from);
    struct operand a = translate_source(t, 1, from_float ? from : type_bytes(from) == 2 ? from : TYPE_S32);
    const struct result result = begin_result(t, code);
    translate_1(t, (struct operation){.op = OP_CVT, .type = to, .stype = from, .rounding = rounding, .flags = flags},
                result.d, a);
    end_result(t, &result);
}

/* ---- memory ---- */

static enum type width_type(enum native_modifier width, unsigned *registers) {
    *registers = width == MODIFIER_W64 ? 2 : width == MODIFIER_W128 ? 4 : 1;
    return *registers > 1 ? TYPE_B32 : translate_type(width);
}

static struct operand address_of(const struct translation *t, unsigned n) {
    const struct native_operand *operand = &t->inst->operands[n];
    struct operand address = {.kind = OPERAND_ADDRESS, .imm = (uint64_t)operand->value};
    if (operand->kind == NATIVE_SHARED)
        address.has_reg = true, address.reg = REGISTER_A + operand->reg;
    else if (operand->reg == TESLA_ZERO)
        address.imm = (uint32_t)address.imm;
    else
        address.has_reg = true, address.reg = operand->reg;
    return address;
}

static bool vector(struct translation *t, struct operand *out, unsigned count, unsigned n) {
    const struct native_operand *operand = &t->inst->operands[n];
    const bool written = t->inst->row == TESLA_GLD || t->inst->row == TESLA_LLD;
    if (operand->kind == NATIVE_REG && operand->reg != TESLA_ZERO && operand->reg + count > TESLA_REGISTERS) {
        translate_refuse(t, "%u registers from R%u on", count, operand->reg);
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        if (operand->kind == NATIVE_REG && operand->reg != TESLA_ZERO)
            out[i] = translate_register(operand->reg + i);
        else
            out[i] = written ? (struct operand){.kind = OPERAND_NONE} : translate_number(0);
    }
    return true;
}

static void load(struct translation *t, enum space space) {
    unsigned count;
    struct operand targets[4];
    const enum type type = width_type(translate_word(t, 0), &count);
    const struct operand address = address_of(t, 1);
    if (vector(t, targets, count, 0))
        translate_put(t, &(struct operation){.op = OP_LD, .type = type}, targets, count, &address, 1)->space =
            (uint8_t)space;
}

static void store(struct translation *t, enum space space) {
    unsigned count;
    struct operand sources[5];
    const enum type type = width_type(translate_word(t, 0), &count);
    sources[0] = address_of(t, 0);
    if (vector(t, sources + 1, count, 1))
        translate_put(t, &(struct operation){.op = OP_ST, .type = type}, NULL, 0, sources, count + 1)->space =
            (uint8_t)space;
}

/* g[A + k] as an address, in elements of the type. */
static struct operand shared_address(const struct native_operand *operand, enum type type) {
    struct operand address = {.kind = OPERAND_ADDRESS, .imm = (uint64_t)(operand->value * type_bytes(type))};
    if (operand->reg != NATIVE_NO_ADDRESS)
        address.has_reg = true, address.reg = REGISTER_A + operand->reg;
    return address;
}

static enum type loaded_type(const struct translation *t) {
    const enum native_modifier width = t->inst->operands[1].width;
    return translate_type(width ? width : translate_word(t, 0));
}

static void load_shared(struct translation *t) {
    const struct native_operand *from = &t->inst->operands[1];
    const enum type type = loaded_type(t);
    if (from->reg == NATIVE_NO_ADDRESS) {
        translate_move(t, translate_target(t, 0), translate_source(t, 1, TYPE_B32));
        return;
    }
    translate_1(t, (struct operation){.op = OP_LD, .type = type}, translate_target(t, 0), shared_address(from, type))
        ->space = SPACE_SHARED;
}

/* Of an operand that may not lie in the parameters, nor, with a lock, be other than a word. */
static bool refuses_place(struct translation *t, const struct native_operand *place, enum type type, bool locks) {
    const uint32_t params = TESLA_PARAM_BASE + t->kernel->param_bytes;
    if (place->reg == NATIVE_NO_ADDRESS && place->value * type_bytes(type) < params)
        translate_refuse(t, locks ? "a lock of the parameters" : "a store to the parameters");
    else if (locks && type_bytes(type) != 4)
        translate_refuse(t, "a lock of less than a word");
    else
        return false;
    return true;
}

static void store_shared(struct translation *t, enum mode mode) {
    const struct native_operand *to = &t->inst->operands[0];
    const enum type type = translate_type(translate_word(t, 0));
    if (refuses_place(t, to, type, mode == MODE_UNLOCK))
        return;
    const struct operand value = translate_source(t, 1, TYPE_B32);
    const struct operand sources[2] = {shared_address(to, type), value};
    translate_put(t, &(struct operation){.op = OP_ST, .type = type, .mode = mode}, NULL, 0, sources, 2)->space =
        SPACE_SHARED;
}

static void load_locked(struct translation *t) {
    const struct native_operand *from = &t->inst->operands[1];
    const enum type type = loaded_type(t);
    const enum native_modifier code = translate_word(t, 1);
    if (refuses_place(t, from, type, true))
        return;
    struct operand targets[2] = {translate_target(t, 0), {.kind = OPERAND_NONE}};
    if (code)
        targets[1] = translate_register(REGISTER_C + (unsigned)(code - MODIFIER_C0));
    const struct operand address = shared_address(from, type);
    struct inst *inst =
        translate_put(t, &(struct operation){.op = OP_LD, .type = type, .mode = MODE_LOCK}, targets, 2, &address, 1);
    inst->space = SPACE_SHARED, inst->order = ORDER_VOLATILE; /* who did not get it asks again */
}

static void atomic(struct translation *t, bool returns) {
    const unsigned m = returns ? 1 : 0;
    const enum atom atom = translate_atom(translate_word(t, 0));
    unsigned count;
    enum type type = width_type(translate_word(t, 1), &count);
    const bool three = atom == ATOM_CAS;
    if (count > 1 || type_bytes(type) != 4 || (!returns && atom >= ATOM_EXCH && atom <= ATOM_CAS) ||
        three != (returns && t->inst->operands[3].kind != NATIVE_NONE)) {
        translate_refuse(t, "this atomic operation");
        return;
    }
    if (atom >= ATOM_AND && atom <= ATOM_CAS)
        type = TYPE_B32;
    struct operand sources[3] = {address_of(t, m)};
    sources[1] = translate_source(t, m + 1, TYPE_B32);
    if (three)
        sources[2] = translate_source(t, 3, TYPE_B32);
    const struct operand d = translate_target(t, 0);
    struct inst *inst = translate_put(t, &(struct operation){.op = returns ? OP_ATOM : OP_RED, .type = type}, &d,
                                      returns, sources, three ? 3 : 2);
    inst->atom = (uint8_t)atom, inst->space = SPACE_GLOBAL;
}

static void control(struct translation *t, enum op op) {
    translate_put(t, &(struct operation){.op = op}, NULL, 0, NULL, 0);
}

static void barrier(struct translation *t) {
    const struct operand sources[2] = {translate_number((uint64_t)t->inst->operands[0].value), {.kind = OPERAND_NONE}};
    translate_put(t, &(struct operation){.op = OP_BAR, .mode = MODE_SYNC, .flags = FLAG_ALIGNED}, NULL, 0, sources, 2);
}

static void special_function(struct translation *t, enum op op) {
    put_1(t, (struct operation){.op = op, .type = TYPE_F32, .flags = FLAG_APPROX}, TYPE_F32, MODIFIER_NONE);
}

static void logic(struct translation *t) {
    const enum op op = translate_word(t, 0) == MODIFIER_AND  ? OP_AND
                       : translate_word(t, 0) == MODIFIER_OR ? OP_OR
                                                             : OP_XOR;
    const enum type from = translate_type_or(translate_word(t, 1), TYPE_B32);
    if (translate_word(t, 0) == MODIFIER_PASS_B) {
        const struct operand b = translate_source(t, 2, from);
        const struct result result = begin_result(t, translate_word(t, 2));
        translate_move(t, result.d, b);
        end_result(t, &result);
        return;
    }
    put_2(t, (struct operation){.op = op, .type = TYPE_B32}, from, translate_word(t, 2));
}

static void translate_float(struct translation *t) {
    const unsigned sat = translate_word(t, 1) == MODIFIER_SAT ? FLAG_SAT : 0;
    const struct operation plain = {.op = OP_ADD};
    switch ((enum tesla_row)t->inst->row) {
    case TESLA_FADD:
        add(t, TYPE_F32, (struct operation){.flags = sat, .rounding = translate_rounding(translate_word(t, 0))},
            translate_word(t, 2));
        break;
    case TESLA_FADD32:
    case TESLA_FADD32I: add(t, TYPE_F32, plain, MODIFIER_NONE); break;
    case TESLA_FMUL: multiply_float(t, sat, translate_rounding(translate_word(t, 0)), translate_word(t, 2)); break;
    case TESLA_FMUL32:
    case TESLA_FMUL32I: multiply_float(t, 0, ROUND_DEFAULT, MODIFIER_NONE); break;
    case TESLA_FMAD: multiply_add(t, translate_word(t, 0) ? FLAG_SAT : 0, translate_word(t, 1)); break;
    case TESLA_FMAD32:
    case TESLA_FMAD32I: multiply_add(t, 0, MODIFIER_NONE); break;
    case TESLA_FMIN:
        put_2(t, (struct operation){.op = OP_MIN, .type = TYPE_F32}, TYPE_F32, translate_word(t, 0));
        break;
    case TESLA_FMAX:
        put_2(t, (struct operation){.op = OP_MAX, .type = TYPE_F32}, TYPE_F32, translate_word(t, 0));
        break;
    case TESLA_FSET: set(t, TYPE_F32, translate_word(t, 0)); break;
    case TESLA_RCP:
    case TESLA_RCP32: special_function(t, OP_RCP); break;
    case TESLA_RSQ:
    case TESLA_RSQ32: special_function(t, OP_RSQRT); break;
    case TESLA_LG2: special_function(t, OP_LG2); break;
    case TESLA_EX2: special_function(t, OP_EX2); break;
    case TESLA_SIN: special_function(t, OP_SIN); break;
    case TESLA_COS: special_function(t, OP_COS); break;
    case TESLA_RRO: put_1(t, (struct operation){.op = OP_MOV, .type = TYPE_B32}, TYPE_F32, MODIFIER_NONE); break;
    case TESLA_I2F:
        convert(t, translate_type_or(translate_word(t, 0), TYPE_F32), translate_type(translate_word(t, 1)),
                translate_word(t, 2) ? translate_rounding(translate_word(t, 2)) : ROUND_RN, 0, MODIFIER_NONE);
        break;
    case TESLA_F2I:
        convert(t, translate_type(translate_word(t, 0)), translate_type_or(translate_word(t, 1), TYPE_F32),
                translate_word(t, 2) ? translate_rounding(translate_word(t, 2)) : ROUND_RNI, 0, MODIFIER_NONE);
        break;
    case TESLA_F2F:
        convert(t, translate_type_or(translate_word(t, 0), TYPE_F32), translate_type_or(translate_word(t, 1), TYPE_F32),
                translate_rounding(translate_word(t, 2)), translate_word(t, 3) ? FLAG_SAT : 0, MODIFIER_NONE);
        break;
    default: translate_refuse(t, "no operation is known for it"); break;
    }
}

static void translate_integer(struct translation *t) {
    const enum type type = translate_type_or(translate_word(t, 0), TYPE_U32), wide = wide_type(type);
    switch ((enum tesla_row)t->inst->row) {
    case TESLA_IADD: add(t, TYPE_S32, (struct operation){.op = OP_ADD}, translate_word(t, 0)); break;
    case TESLA_IADD32:
    case TESLA_IADD32I: add(t, TYPE_S32, (struct operation){.op = OP_ADD}, MODIFIER_NONE); break;
    case TESLA_IMUL:
    case TESLA_IMUL32:
    case TESLA_IMUL32I: multiply_two(t); break;
    case TESLA_IMAD:
    case TESLA_IMAD32:
    case TESLA_IMAD32I: multiply(t, translate_word(t, 0), translate_source(t, 3, TYPE_S32)); break;
    case TESLA_IMIN: put_2(t, (struct operation){.op = OP_MIN, .type = wide}, type, translate_word(t, 1)); break;
    case TESLA_IMAX: put_2(t, (struct operation){.op = OP_MAX, .type = wide}, type, translate_word(t, 1)); break;
    case TESLA_SHL: put_2(t, (struct operation){.op = OP_SHL, .type = TYPE_B32}, type, translate_word(t, 1)); break;
    case TESLA_SHR: {
        const enum type shifted = translate_type_or(translate_word(t, 0), TYPE_U32);
        put_2(t, (struct operation){.op = OP_SHR, .type = wide_type(shifted)}, shifted, translate_word(t, 1));
        break;
    }
    case TESLA_LOP: logic(t); break;
    case TESLA_ISET: set(t, type, translate_word(t, 1)); break;
    case TESLA_I2I:
        convert(t, translate_type(translate_word(t, 0)), translate_type(translate_word(t, 1)), ROUND_DEFAULT, 0,
                translate_word(t, 2));
        break;
    default: translate_float(t); break;
    }
}

void translate_tesla(struct translation *t) {
    const struct operation copy = {.op = OP_MOV, .type = TYPE_B32};
    switch ((enum tesla_row)t->inst->row) {
    case TESLA_MOV: put_1(t, copy, translate_type_or(translate_word(t, 0), TYPE_B32), translate_word(t, 1)); break;
    case TESLA_MOV32: put_1(t, copy, translate_type_or(translate_word(t, 0), TYPE_B32), MODIFIER_NONE); break;
    case TESLA_MVI:
    case TESLA_MVC:
    case TESLA_S2R: put_1(t, copy, TYPE_B32, MODIFIER_NONE); break;
    case TESLA_R2A:
        translate_2(t, (struct operation){.op = OP_SHL, .type = TYPE_B32}, translate_target(t, 0),
                    translate_source(t, 1, TYPE_B32), translate_number((uint64_t)t->inst->operands[2].value));
        break;
    case TESLA_A2R:
        translate_2(t, (struct operation){.op = OP_SHR, .type = TYPE_U32}, translate_target(t, 0),
                    translate_source(t, 1, TYPE_B32), translate_number((uint64_t)t->inst->operands[2].value));
        break;
    case TESLA_G2R: load_shared(t); break;
    case TESLA_R2G: store_shared(t, MODE_NONE); break;
    case TESLA_G2R_LCK: load_locked(t); break;
    case TESLA_R2G_UNL: store_shared(t, MODE_UNLOCK); break;
    case TESLA_GLD: load(t, SPACE_GLOBAL); break;
    case TESLA_GST: store(t, SPACE_GLOBAL); break;
    case TESLA_LLD: load(t, SPACE_LOCAL); break;
    case TESLA_LST: store(t, SPACE_LOCAL); break;
    case TESLA_GATOM: atomic(t, true); break;
    case TESLA_GRED: atomic(t, false); break;
    case TESLA_BAR: barrier(t); break;
    case TESLA_BRA: control(t, OP_BRA); break;
    case TESLA_CAL: control(t, OP_CALL); break;
    case TESLA_RET: control(t, OP_RET); break;
    case TESLA_EXIT: control(t, OP_EXIT); break;
    case TESLA_SSY: control(t, OP_SSY); break;
    case TESLA_PBK: control(t, OP_PBK); break;
    case TESLA_BRK: control(t, OP_BRK); break;
    case TESLA_NOP: control(t, OP_NOP); break;
    default: translate_integer(t); break;
    }
}
