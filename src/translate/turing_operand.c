/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of sm_75 to sm_90 in the internal form: registers of both files, predicates, constants. */
#include "base/bits.h"
#include "isa/address.h"
#include "translate/turing.h"

static struct operand register_or_zero(uint32_t base, unsigned reg, unsigned zero) {
    return reg == zero ? translate_number(0) : translate_register(base + reg);
}

/* Register `behind` of those that an operand begins; 0 where it is RZ or URZ. */
static struct operand register_behind(const struct translation *t, const struct turing_operand *operand,
                                      unsigned behind) {
    const bool is_uniform = operand->kind == TURING_UNIFORM;
    const unsigned zero = is_uniform ? TURING_URZ : TURING_RZ;
    return register_or_zero(is_uniform ? t->file->uniform : 0, operand->reg == zero ? zero : operand->reg + behind,
                            zero);
}

/* ---- constants ---- */

static struct operand grid_id(struct translation *t, unsigned bytes) {
    const struct operand whole = {.kind = OPERAND_SPECIAL, .reg = SPECIAL_GRIDID};
    if (bytes == 8)
        return whole;
    const struct operand out = translate_scratch(t);
    translate_1(t, (struct operation){.op = OP_CVT, .type = TYPE_U32, .stype = TYPE_U64}, out, whole);
    return out;
}

/* What the driver writes before the parameters [X: by PTX of known meaning]. sm_90 has some elsewhere. */
static bool driver_constant(struct translation *t, int64_t offset, unsigned bytes, struct operand *out) {
    const unsigned envreg = t->program->sm < 90 ? 0x88 : 0x40, descriptor = t->program->sm < 90 ? 0x118 : 0x208;
    const unsigned fences = t->program->sm < 90 ? 0x128 : 0x18c; /* 0: fences of other addresses reach the system */
    const unsigned at = (unsigned)offset;
    uint64_t value = 0;
    if (at < 0x18 && bytes == 4 && at % 4 == 0) {
        *out = (struct operand){.kind = OPERAND_SPECIAL,
                                .reg = at < 0xc ? SPECIAL_NTID_X + at / 4 : SPECIAL_NCTAID_X + at / 4 - 3};
        return true;
    }
    if ((at == 0x2c || at == 0x10c) && bytes == 4) {
        *out = (struct operand){.kind = OPERAND_SPECIAL, .reg = at == 0x2c ? SPECIAL_DYNAMIC_SMEM_SIZE : SPECIAL_NSMID};
        return true;
    }
    const unsigned constants = t->program->sm < 90 ? 0x50 : 0xd0; /* generic address of bank 3 */
    if (at == constants || (at == constants + 4 && bytes == 4)) { /* without constants where nothing is */
        *out = (struct operand){.kind = OPERAND_IMM, .symbol = t->constants, .reg = at == constants ? 0 : 32};
        if (!t->constants)
            *out = translate_number(at != constants ? UINT32_MAX : bytes == 8 ? (uint64_t)UINT32_MAX << 32 : 0);
        return true;
    }
    if (at == 0x30) {
        *out = grid_id(t, bytes);
        return true;
    }
    if (at >= envreg && at < envreg + 4 * 32 && bytes == 4 && at % 4 == 0) {
        *out = (struct operand){.kind = OPERAND_SPECIAL, .reg = SPECIAL_ENVREG0 + (at - envreg) / 4};
        return true;
    }
    if (at == 0x18 || at == 0x1c)
        value = at == 0x1c ? SHARED_WINDOW >> 32 : SHARED_WINDOW;
    else if (at == 0x20 || at == 0x24)
        value = at == 0x24 ? LOCAL_WINDOW >> 32 : LOCAL_WINDOW;
    else if (at == 0x28)
        value = t->local_bytes;
    else if (at != descriptor && at != descriptor + 4 && at != 0x34 && at != 0x114 &&
             (at != fences || t->program->sm < 80 || bytes != 4))
        return false; /* 0x34: the upper half of the grid's number; 0x114: shared memory that the system has */
    *out = translate_number(bytes == 4 ? (uint32_t)value : value);
    return true;
}

static unsigned param_base(const struct translation *t) {
    return t->program->sm < 90 ? TURING_PARAM_BASE : TURING_PARAM_BASE_90;
}

void turing_load_constant(struct translation *t, const struct turing_operand *operand, enum type type,
                          const struct operand *targets, unsigned count) {
    struct operand address = {.kind = OPERAND_ADDRESS, .imm = (uint64_t)operand->value};
    const bool is_indexed = operand->uniform || operand->reg != TURING_RZ;
    const bool is_param = operand->bank == 0 && (is_indexed || operand->value >= param_base(t));
    if (is_param)
        address.imm -= param_base(t);
    else
        address.symbol = translate_bank_symbol(t, operand->bank);
    if (operand->bindless || (!is_param && !address.symbol)) {
        translate_refuse(t, "nothing is known of c[0x%x]", operand->bank);
        return;
    }
    address.has_reg = operand->uniform ? operand->ureg != TURING_URZ : operand->reg != TURING_RZ;
    address.reg = operand->uniform ? t->file->uniform + operand->ureg : operand->reg;
    translate_put(t, &(struct operation){.op = OP_LD, .type = type}, targets, count, &address, 1)->space =
        is_param ? SPACE_PARAM : SPACE_CONST;
}

const struct symbol *turing_reference_at(const struct translation *t, const struct turing_operand *constant) {
    for (unsigned i = 0; constant->bank == 0 && i < t->kernel->link_count; i++) {
        const struct native_link *link = &t->kernel->links[i];
        if (link->bank == 0 && link->offset == constant->value && link->variable != NATIVE_NO_VARIABLE)
            return t->variables[link->variable];
    }
    return NULL;
}

/* Read where a constant is: hardware has the handles of references in bank 0. */
static struct operand load_reference(struct translation *t, const struct symbol *reference) {
    const struct operand out = translate_scratch(t);
    const struct operand address = {.kind = OPERAND_ADDRESS, .symbol = reference};
    translate_put(t, &(struct operation){.op = OP_LD, .type = TYPE_B32}, &out, 1, &address, 1)->space = SPACE_CONST;
    return out;
}

/* Bank 3 holds the program's variables, which the host may write; all others are as the file has them. */
struct operand turing_constant(struct translation *t, const struct turing_operand *operand, unsigned bytes) {
    struct operand out;
    uint64_t value;
    const uint64_t param = (uint64_t)operand->value - param_base(t);
    const bool is_fixed = !operand->uniform && !operand->bindless && operand->reg == TURING_RZ;
    if (is_fixed && operand->bank == 0 && range_within(param, bytes, bits_round_up(t->kernel->param_bytes, 4)))
        return (struct operand){.kind = OPERAND_PARAM, .imm = param};
    const struct symbol *reference = is_fixed && bytes == 4 ? turing_reference_at(t, operand) : NULL;
    if (reference)
        return load_reference(t, reference);
    if (is_fixed && operand->bank == 0 && driver_constant(t, operand->value, bytes, &out))
        return out;
    if (is_fixed && operand->bank > 1 && operand->bank != TURING_BANK_VARIABLES &&
        translate_find_link(t, operand->bank, operand->value, bytes, &out))
        return out;
    if (is_fixed && operand->bank > 1 && operand->bank != TURING_BANK_VARIABLES &&
        native_bank_bytes(t->kernel, operand->bank, operand->value, bytes, &value))
        return translate_number(value);
    if (operand->bank > 1 || !is_fixed) {
        out = bytes == 8 ? translate_wide(t) : translate_scratch(t);
        const struct operand words[2] = {translate_register(out.reg), translate_register(out.reg + 1)};
        turing_load_constant(t, operand, TYPE_B32, words, bytes / 4);
        return out;
    }
    translate_refuse(t, "nothing is known of c[0x%x][0x%x]", operand->bank, (unsigned)operand->value);
    return translate_number(0);
}

/* ---- sources ---- */

struct operand turing_plain(struct translation *t, unsigned n, enum type type) {
    const struct turing_operand *operand = turing_operand(t, n);
    const unsigned bytes = type_bytes(type) == 8 ? 8 : 4;
    struct operand out;
    switch ((enum turing_kind)operand->kind) {
    case TURING_NONE: return translate_number(0);
    case TURING_REGISTER:
    case TURING_UNIFORM:
        out = register_behind(t, operand, 0);
        return bytes == 8 && out.kind == OPERAND_REG ? translate_pack(t, out, register_behind(t, operand, 1)) : out;
    case TURING_IMMEDIATE:
        if (translate_find_code_link(t, &out))
            return out;
        return translate_number(type == TYPE_F64 ? (uint64_t)(uint32_t)operand->value << 32 : (uint32_t)operand->value);
    case TURING_CONSTANT: return turing_constant(t, operand, bytes);
    default: translate_refuse(t, "operand %u", n + 1); return translate_number(0);
    }
}

struct operand turing_source(struct translation *t, unsigned n, enum type type) {
    const struct turing_operand *operand = turing_operand(t, n);
    const enum type bits = type_bytes(type) == 8 ? TYPE_B64 : TYPE_B32;
    struct operand out = turing_plain(t, n, type);
    if (operand->absolute)
        out = translate_through(t, OP_ABS, type, out);
    if (operand->negated)
        out = translate_through(t, OP_NEG, type_is_float(type) ? type : bits == TYPE_B64 ? TYPE_S64 : TYPE_S32, out);
    if (operand->inverted)
        out = translate_through(t, OP_NOT, bits, out);
    return out;
}

/* ---- targets ---- */

struct operand turing_next(const struct translation *t, unsigned n, unsigned behind) {
    const struct turing_operand *operand = turing_operand(t, n);
    const struct operand out = register_behind(t, operand, behind);
    const bool is_register = operand->kind == TURING_REGISTER || operand->kind == TURING_UNIFORM;
    return is_register && out.kind == OPERAND_REG ? out : (struct operand){.kind = OPERAND_NONE};
}

struct operand turing_target(const struct translation *t, unsigned n) {
    return turing_next(t, n, 0);
}

struct operand turing_pair_target(struct translation *t, unsigned n) {
    const bool is_pair = turing_next(t, n, 0).kind == OPERAND_REG && turing_next(t, n, 1).kind == OPERAND_REG;
    return is_pair ? translate_pair(turing_next(t, n, 0).reg) : translate_wide(t);
}

void turing_put_pair(struct translation *t, struct operand wide, unsigned n) {
    translate_unpack(t, wide, turing_next(t, n, 0), turing_next(t, n, 1));
}

/* ---- predicates ---- */

static bool is_true(const struct turing_operand *operand) {
    return operand->kind == TURING_NONE || operand->reg == TURING_PT;
}

static struct operand predicate(const struct translation *t, const struct turing_operand *operand) {
    return translate_register((operand->kind == TURING_UPREDICATE ? t->file->upredicate : t->file->predicate) +
                              operand->reg);
}

struct operand turing_predicate(const struct translation *t, unsigned n, bool *always) {
    const struct turing_operand *operand = turing_operand(t, n);
    *always = is_true(operand) && !operand->inverted;
    if (is_true(operand))
        return translate_number(!operand->inverted);
    struct operand out = predicate(t, operand);
    out.negated = operand->inverted;
    return out;
}

struct operand turing_predicate_target(const struct translation *t, unsigned n) {
    const struct turing_operand *operand = turing_operand(t, n);
    return is_true(operand) ? (struct operand){.kind = OPERAND_NONE} : predicate(t, operand);
}

void turing_guard_by(struct translation *t, struct operand other) {
    struct operand guard = t->guard < 0 ? translate_number(1) : translate_register((unsigned)t->guard);
    guard.negated = t->guard_negated;
    const struct operand both = translate_test(t);
    t->guard = -1, t->guard_negated = false;
    translate_3(t, (struct operation){.op = OP_PSETP, .type = TYPE_PRED, .mode = MODE_AND, .boolop = BOOL_AND}, both,
                guard, other, translate_number(1));
    t->guard = (int32_t)both.reg;
}

void turing_guard_too(struct translation *t, unsigned n) {
    bool always;
    const struct operand other = turing_predicate(t, n, &always);
    if (!always)
        turing_guard_by(t, other);
}
