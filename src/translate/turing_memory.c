/* SPDX-License-Identifier: Apache-2.0 */
/* What loads, stores and copies of sm_75 to sm_90 are in the internal form. */
#include "isa/address.h"
#include "sass/cubin_reader.h"
#include "translate/turing.h"

/* ---- addresses ---- */

static struct operand sum(struct translation *t, enum type type, struct operand a, struct operand b) {
    const struct operand out = translate_room(t, type);
    translate_2(t, (struct operation){.op = OP_ADD, .type = type}, out, a, b);
    return out;
}

static struct operand extend(struct translation *t, unsigned reg) {
    const struct operand wide = translate_wide(t);
    translate_1(t, (struct operation){.op = OP_CVT, .type = TYPE_U64, .stype = TYPE_U32}, wide,
                translate_register(reg));
    return wide;
}

/* A pair begins at an even register and ends before RZ. */
static bool check_pair(struct translation *t, const char *name, unsigned reg, unsigned zero) {
    if (reg % 2 == 0 && reg + 1 < zero)
        return true;
    translate_refuse(t, "an address in %s%u and the register behind it", name, reg);
    return false;
}

/* [R + offset] of a pair of registers, or [R + UR + offset], where R is a pair or not and UR is one. */
static struct operand global_address(struct translation *t, const struct turing_operand *operand) {
    struct operand out = {.kind = OPERAND_ADDRESS, .imm = (uint64_t)operand->value};
    const bool has_uniform = operand->uniform && !operand->descriptor && operand->ureg != TURING_URZ;
    const bool has_register = operand->reg != TURING_RZ;
    const bool is_pair = !operand->uniform || operand->descriptor || operand->wide;
    if ((has_register && is_pair && !check_pair(t, "R", operand->reg, TURING_RZ)) ||
        (has_uniform && !check_pair(t, "UR", operand->ureg, TURING_URZ)))
        return out;
    out.has_reg = out.is_pair = has_register || has_uniform;
    if (has_register && has_uniform) {
        const struct operand base = is_pair ? translate_pair(operand->reg) : extend(t, operand->reg);
        out.reg = sum(t, TYPE_U64, base, translate_pair(t->file->uniform + operand->ureg)).reg;
    } else if (has_register && !is_pair) {
        out.reg = extend(t, operand->reg).reg;
    } else if (out.has_reg) {
        out.reg = has_uniform ? t->file->uniform + operand->ureg : operand->reg;
    }
    return out;
}

/* [R * scale + UR + offset] of 32 bits. */
static struct operand short_address(struct translation *t, const struct turing_operand *operand, bool is_scaled) {
    struct operand out = {.kind = OPERAND_ADDRESS, .imm = (uint64_t)operand->value};
    const bool has_uniform = operand->uniform && !operand->descriptor && operand->ureg != TURING_URZ;
    struct operand base = translate_register(operand->reg);
    if (operand->reg != TURING_RZ && is_scaled && operand->select) {
        base = translate_scratch(t);
        translate_2(t, (struct operation){.op = OP_SHL, .type = TYPE_B32}, base, translate_register(operand->reg),
                    translate_number(operand->select + 1u));
    }
    const struct operand uniform = translate_register(t->file->uniform + operand->ureg);
    if (operand->reg != TURING_RZ && has_uniform)
        base = sum(t, TYPE_U32, base, uniform);
    else if (has_uniform)
        base = uniform;
    out.has_reg = operand->reg != TURING_RZ || has_uniform;
    out.reg = base.reg;
    if (!out.has_reg)
        out.imm = (uint32_t)out.imm;
    return out;
}

struct operand turing_address_of(struct translation *t, unsigned n, enum space space) {
    const struct turing_operand *operand = turing_operand(t, n);
    const bool is_short = space == SPACE_SHARED || space == SPACE_LOCAL;
    if (!is_short && turing_modifier(t->turing, TURING_WORDS_E) != 0)
        return global_address(t, operand);
    struct operand out = short_address(t, operand, space == SPACE_SHARED);
    if (space == SPACE_SHARED && t->program->sm >= 90) {
        out.imm -= SHARED_WINDOW + TURING_SYSTEM_SHARED_90; /* see function_shared_address */
        if (!out.has_reg)
            out.imm = (uint32_t)out.imm;
    }
    return out;
}

/* ---- order ---- */

/* .STRONG is relaxed at its scope, .MMIO what volatile is; .CONSTANT is the way of ld.global.nc. */
static void order_75(unsigned word, struct inst *inst) {
    static const uint8_t scopes[] = {SCOPE_CTA, SCOPE_CTA, SCOPE_GPU, SCOPE_SYS};
    enum { CONSTANT, WEAK, STRONG };
    const unsigned kind = word >> 2;
    if (kind == CONSTANT)
        inst->cache = CACHE_NC;
    if (kind <= WEAK)
        return;
    inst->order = kind == STRONG ? ORDER_RELAXED : ORDER_VOLATILE;
    inst->scope = kind == STRONG ? scopes[word & 3] : SCOPE_NONE;
}

static void order_80(unsigned word, struct inst *inst) {
    enum { WEAK = 0, CONSTANT = 4, STRONG_SM = 5, STRONG_GPU = 7, STRONG_SYS = 10 };
    if (word == WEAK)
        return;
    if (word == CONSTANT) {
        inst->cache = CACHE_NC;
        return;
    }
    inst->order = word <= STRONG_SYS ? ORDER_RELAXED : ORDER_VOLATILE;
    inst->scope = word == STRONG_SM    ? SCOPE_CTA
                  : word == STRONG_GPU ? SCOPE_GPU
                  : word == STRONG_SYS ? SCOPE_SYS
                                       : SCOPE_NONE;
}

void turing_give_order(const struct translation *t, struct inst *inst) {
    enum { EVICT_FIRST = 0, LAST_USE = 3 };
    const int order = turing_modifier(t->turing, TURING_WORDS_ORDER),
              of_75 = turing_modifier(t->turing, TURING_WORDS_ORDER_75),
              eviction = turing_modifier(t->turing, TURING_WORDS_EVICTION);
    if (eviction == EVICT_FIRST)
        inst->cache = CACHE_CS;
    else if (eviction == LAST_USE)
        inst->cache = CACHE_LU;
    if (order >= 0)
        order_80((unsigned)order, inst);
    else if (of_75 >= 0)
        order_75((unsigned)of_75, inst);
}

/* ---- loads and stores ---- */

enum type turing_width(unsigned size, unsigned *registers) {
    static const uint8_t types[] = {TYPE_U8, TYPE_S8, TYPE_U16, TYPE_S16};
    enum { SIZE_32 = 4, SIZE_64, SIZE_128, SIZE_U_128 };
    *registers = size == SIZE_64 ? 2 : size >= SIZE_128 ? 4 : 1;
    return size < SIZE_32 ? (enum type)types[size] : TYPE_B32;
}

/* Vectors begin at a register that their length divides, and end before RZ. */
bool turing_fits(struct translation *t, unsigned n, unsigned count) {
    const struct turing_operand *operand = turing_operand(t, n);
    const unsigned zero = operand->kind == TURING_UNIFORM ? TURING_URZ : TURING_RZ;
    const bool good = operand->reg == zero || (operand->reg % count == 0 && operand->reg + count <= zero);
    if (!good)
        translate_refuse(t, "%u registers from %s%u on", count, operand->kind == TURING_UNIFORM ? "UR" : "R",
                         operand->reg);
    return good;
}

static void load(struct translation *t, unsigned d, enum space space) {
    unsigned count;
    const enum type type = turing_width(turing_word_of(t, TURING_WORDS_SIZE), &count);
    struct operand targets[4];
    if (!turing_fits(t, d, count))
        return;
    const struct operand address = turing_address_of(t, d + 1, space);
    for (unsigned i = 0; i < count; i++)
        targets[i] = turing_next(t, d, i);
    struct inst *inst = translate_put(t, &(struct operation){.op = OP_LD, .type = type}, targets, count, &address, 1);
    inst->space = (uint8_t)space;
    turing_give_order(t, inst);
}

/* A predicate that says whether it is loaded, and one that says what became of it: nothing of either is known. */
static void load_global(struct translation *t, unsigned d, enum space space) {
    bool always = true;
    turing_predicate(t, d + 2, &always);
    if (!always || (d && turing_predicate_target(t, 0).kind != OPERAND_NONE))
        translate_refuse(t, "a load with a predicate");
    else
        load(t, d, space);
}

static void store(struct translation *t, enum space space) {
    unsigned count;
    const enum type type = turing_width(turing_word_of(t, TURING_WORDS_SIZE), &count);
    struct operand sources[5];
    if (!turing_fits(t, 1, count))
        return;
    sources[0] = turing_address_of(t, 0, space);
    for (unsigned i = 0; i < count; i++) {
        sources[i + 1] = turing_next(t, 1, i);
        if (sources[i + 1].kind == OPERAND_NONE)
            sources[i + 1] = translate_number(0);
    }
    struct inst *inst = translate_put(t, &(struct operation){.op = OP_ST, .type = type}, NULL, 0, sources, count + 1);
    inst->space = (uint8_t)space;
    turing_give_order(t, inst);
}

/* ---- constants ---- */

/* A byte or a half of what the driver writes, which has words. */
static void load_part_of_word(struct translation *t, const struct turing_operand *from, enum type type,
                              struct operand target) {
    struct turing_operand whole = *from;
    const unsigned bit = (unsigned)(from->value & 3) * 8;
    whole.value &= ~(int64_t)3;
    translate_3(t, (struct operation){.op = OP_BFE, .type = type_is_signed(type) ? TYPE_S32 : TYPE_U32}, target,
                turing_constant(t, &whole, 4), translate_number(bit), translate_number(8 * type_bytes(type)));
}

/* .IL: the register says which bank, too. Pointers to constants are the device's own addresses, far beyond all numbers of banks. */
static void load_pointed(struct translation *t, const struct turing_operand *from, enum type type,
                         const struct operand *targets, unsigned count) {
    struct operand address = {.kind = OPERAND_ADDRESS, .imm = (uint64_t)from->value, .reg = from->reg};
    address.has_reg = from->reg != TURING_RZ && !from->uniform;
    if (!address.has_reg || from->bank != 0)
        translate_refuse(t, "an index that chooses among banks behind c[0x%x]", from->bank);
    translate_put(t, &(struct operation){.op = OP_LD, .type = type}, targets, count, &address, 1)->space = SPACE_CONST;
}

static void load_constant(struct translation *t) {
    enum { INDEX_PLAIN, INDEX_LINEAR };
    const struct turing_operand *from = turing_operand(t, 1);
    const bool is_fixed = !from->uniform && from->reg == TURING_RZ;
    unsigned count;
    const enum type type = turing_width(turing_word_of(t, TURING_WORDS_SIZE_CONSTANT), &count);
    const unsigned index = turing_word_of(t, TURING_WORDS_INDEX);
    if (index > INDEX_LINEAR) {
        translate_refuse(t, "an index of this kind");
        return;
    }
    if (!turing_fits(t, 0, count))
        return;
    struct operand targets[4];
    for (unsigned i = 0; i < count; i++)
        targets[i] = turing_next(t, 0, i);
    const bool is_drivers = is_fixed && from->bank == 0 && from->value < cubin_param_base(t->program);
    if (index == INDEX_LINEAR) {
        load_pointed(t, from, type, targets, count);
    } else if (is_drivers && type_bytes(type) < 4) {
        load_part_of_word(t, from, type, targets[0]);
    } else if (is_fixed && type == TYPE_B32 && count == 1) {
        translate_move(t, targets[0], turing_plain(t, 1, TYPE_B32));
    } else if (is_drivers && type == TYPE_B32 && count == 2) {
        struct turing_operand upper = *from; /* what the driver writes has 32 bits */
        upper.value += 4;
        const struct operand low = turing_constant(t, from, 4), high = turing_constant(t, &upper, 4);
        if (low.kind == OPERAND_IMM && high.kind == OPERAND_IMM && !low.symbol && !high.symbol)
            turing_put_pair(t, translate_number(high.imm << 32 | low.imm), 0);
        else
            translate_move(t, targets[0], low), translate_move(t, targets[1], high);
    } else if (is_fixed && type == TYPE_B32 && count == 2) {
        translate_unpack(t, turing_plain(t, 1, TYPE_B64), targets[0], targets[1]);
    } else {
        turing_load_constant(t, from, type, targets, count);
    }
}

/* ---- asynchronous copies ---- */

static struct operand part(struct translation *t, enum op op, enum type type, struct operand a, struct operand b) {
    const struct operand out = translate_room(t, type);
    translate_2(t, (struct operation){.op = op, .type = type}, out, a, b);
    return out;
}

/* .ZFILL: as many bytes as the address lies behind a multiple of the size are missing at the end, and are 0. Returns how many are
 * there; the address becomes that multiple. */
static struct operand split_address(struct translation *t, struct operand *address, unsigned bytes) {
    struct operand whole = translate_pair(address->reg), low = translate_register(address->reg);
    if (address->imm)
        whole = part(t, OP_ADD, TYPE_U64, whole, translate_number(address->imm)),
        low = part(t, OP_ADD, TYPE_U32, low, translate_number((uint32_t)address->imm));
    const struct operand missing = part(t, OP_AND, TYPE_B32, low, translate_number(bytes - 1));
    *address = (struct operand){.kind = OPERAND_ADDRESS, .has_reg = true, .is_pair = true};
    address->reg = part(t, OP_AND, TYPE_B64, whole, translate_number(~(uint64_t)(bytes - 1))).reg;
    return part(t, OP_SUB, TYPE_U32, translate_number(bytes), missing);
}

/* The words of which only the first `there` bytes are. */
static void clear_behind(struct translation *t, struct operand there, const struct operand *words, unsigned count) {
    const struct operand bits = translate_scratch(t);
    for (unsigned i = 0; i < count; i++) {
        translate_2(t, (struct operation){.op = OP_SUB, .type = TYPE_S32}, bits, there, translate_number(4 * i));
        translate_2(t, (struct operation){.op = OP_MAX, .type = TYPE_S32}, bits, bits, translate_number(0));
        translate_2(t, (struct operation){.op = OP_SHL, .type = TYPE_B32}, bits, bits, translate_number(3));
        translate_3(t, (struct operation){.op = OP_BFE, .type = TYPE_U32}, words[i], words[i], translate_number(0),
                    bits);
    }
}

/* Copied at once: a copy may be done at any time before it is waited for. Where the predicate does not hold, 0 is copied. */
static void copy(struct translation *t) {
    unsigned count;
    bool always;
    const enum type type = turing_width(turing_word_of(t, TURING_WORDS_SIZE_ASYNC), &count);
    struct operand values[5];
    const struct operand from_there = turing_predicate(t, 2, &always);
    const bool fills = turing_word_of(t, TURING_WORDS_ZFILL);
    struct operand from = turing_address_of(t, 1, SPACE_GLOBAL), there = translate_number(0);
    if (fills && !from.has_reg) {
        translate_refuse(t, "an asynchronous copy of a part from a fixed address");
        return;
    }
    if (fills)
        there = split_address(t, &from, 4 * count);
    for (unsigned i = 0; i < count; i++) {
        values[i + 1] = translate_scratch(t);
        if (!always)
            translate_move(t, values[i + 1], translate_number(0));
    }
    const int32_t guard = t->guard;
    const bool negated = t->guard_negated;
    if (!always)
        turing_guard_by(t, from_there);
    struct inst *inst = translate_put(t, &(struct operation){.op = OP_LD, .type = type}, values + 1, count, &from, 1);
    inst->space = SPACE_GLOBAL;
    turing_give_order(t, inst);
    if (fills)
        clear_behind(t, there, values + 1, count);
    t->guard = guard, t->guard_negated = negated;
    values[0] = turing_address_of(t, 0, SPACE_SHARED);
    translate_put(t, &(struct operation){.op = OP_ST, .type = type}, NULL, 0, values, count + 1)->space = SPACE_SHARED;
}

bool turing_memory(struct translation *t) {
    switch ((enum turing_meaning)turing_row(t->turing->row)->meaning) {
    case TURING_MEANS_LD:
        load_global(t, t->turing->row == TURING_LDG, t->turing->row == TURING_LDG ? SPACE_GLOBAL : SPACE_GENERIC);
        break;
    case TURING_MEANS_ST: store(t, t->turing->row == TURING_STG ? SPACE_GLOBAL : SPACE_GENERIC); break;
    case TURING_MEANS_LDS: load(t, 0, SPACE_SHARED); break;
    case TURING_MEANS_STS: store(t, SPACE_SHARED); break;
    case TURING_MEANS_LDL: load(t, 0, SPACE_LOCAL); break;
    case TURING_MEANS_STL: store(t, SPACE_LOCAL); break;
    case TURING_MEANS_LDC: load_constant(t); break;
    case TURING_MEANS_LDGSTS: copy(t); break;
    case TURING_MEANS_LDGDEPBAR:
    case TURING_MEANS_DEPBAR: translate_put(t, &(struct operation){.op = OP_NOP}, NULL, 0, NULL, 0); break;
    default: return false;
    }
    return true;
}
