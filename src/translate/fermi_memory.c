/* SPDX-License-Identifier: Apache-2.0 */
/* What Fermi's loads, stores and atomics are in the internal form. */
#include "translate/fermi.h"

static enum type width_type(enum native_modifier width, unsigned *registers) {
    *registers = width == MODIFIER_W64 ? 2 : width == MODIFIER_W128 ? 4 : 1;
    return width == MODIFIER_NONE || width >= MODIFIER_W32 ? TYPE_B32 : translate_type(width);
}

static enum cache_hint cache_of(enum native_modifier modifier) {
    switch (modifier) {
    case MODIFIER_CG: return CACHE_CG;
    case MODIFIER_CS: return CACHE_CS;
    case MODIFIER_CV: return CACHE_CV;
    case MODIFIER_LU: return CACHE_LU;
    case MODIFIER_WT: return CACHE_WT;
    default: return CACHE_DEFAULT;
    }
}

/* [R + offset], of a pair where the address has 64 bits. */
static struct operand address_of(struct translation *t, unsigned n, bool extended) {
    const struct native_operand *operand = &t->inst->operands[n];
    struct operand address = {.kind = OPERAND_ADDRESS, .imm = (uint64_t)operand->value};
    if (operand->reg == FERMI_RZ) {
        address.imm = extended ? address.imm : (uint32_t)address.imm;
        return address;
    }
    address.has_reg = true;
    address.reg = operand->reg;
    address.is_pair = extended;
    return address;
}

/* Registers reg, reg + 1, ...; none where they are RZ. */
static void vector(struct operand *out, unsigned count, unsigned reg, bool written) {
    const struct operand nothing = written ? (struct operand){.kind = OPERAND_NONE} : translate_number(0);
    for (unsigned i = 0; i < count; i++)
        out[i] = reg == FERMI_RZ ? nothing : translate_register(reg + i);
}

/* Vectors begin at a register that their length divides, and end before RZ. */
static bool fits(struct translation *t, unsigned reg, unsigned count) {
    const bool good = reg == FERMI_RZ || (reg % count == 0 && reg + count <= FERMI_RZ);
    if (!good)
        translate_refuse(t, "%u registers from R%u on", count, reg);
    return good;
}

struct transfer {
    enum space space;
    bool extended;
    enum native_modifier width, cache;
};

static void load(struct translation *t, unsigned d, unsigned m, struct transfer transfer) {
    unsigned count;
    const enum type type = width_type(transfer.width, &count);
    struct operand targets[4];
    if (!fits(t, t->inst->operands[d].reg, count))
        return;
    const struct operand address = address_of(t, m, transfer.extended);
    vector(targets, count, t->inst->operands[d].reg, true);
    struct inst *inst = translate_put(t, &(struct operation){.op = OP_LD, .type = type}, targets, count, &address, 1);
    inst->space = (uint8_t)transfer.space, inst->cache = (uint8_t)cache_of(transfer.cache);
}

static void store(struct translation *t, struct transfer transfer) {
    unsigned count;
    const enum type type = width_type(transfer.width, &count);
    struct operand sources[5];
    if (!fits(t, t->inst->operands[1].reg, count))
        return;
    sources[0] = address_of(t, 0, transfer.extended);
    vector(sources + 1, count, t->inst->operands[1].reg, false);
    struct inst *inst = translate_put(t, &(struct operation){.op = OP_ST, .type = type}, NULL, 0, sources, count + 1);
    inst->space = (uint8_t)transfer.space, inst->cache = (uint8_t)cache_of(transfer.cache);
}

/* Both addresses are those from before. */
static void load_two(struct translation *t) {
    const struct native_operand *operands = t->inst->operands;
    const bool clobbers = operands[0].reg == operands[3].reg && operands[0].reg != FERMI_RZ;
    struct operand second = address_of(t, 3, false);
    if (clobbers) {
        const struct operand kept = translate_scratch(t);
        translate_move(t, kept, translate_register(operands[3].reg));
        second.reg = kept.reg;
    }
    load(t, 0, 2, (struct transfer){.space = SPACE_GENERIC});
    translate_1(t, (struct operation){.op = OP_LD, .type = TYPE_B32}, translate_target(t, 1), second)->space =
        SPACE_GENERIC;
}

/* c[bank][R + offset] of the parameters or of a bank in the listing. */
void translate_constant(struct translation *t, const struct native_operand *from, enum type type,
                        const struct operand *targets, unsigned count) {
    struct operand address = {.kind = OPERAND_ADDRESS, .imm = (uint64_t)from->value};
    const bool parameters = from->bank == 0 && from->value >= FERMI_PARAM_BASE;
    if (parameters)
        address.imm -= FERMI_PARAM_BASE;
    else
        address.symbol = translate_bank_symbol(t, from->bank);
    if (!parameters && !address.symbol) {
        translate_refuse(t, "nothing is known of c[0x%x]", from->bank);
        return;
    }
    address.has_reg = from->reg != FERMI_RZ, address.reg = from->reg;
    translate_put(t, &(struct operation){.op = OP_LD, .type = type}, targets, count, &address, 1)->space =
        parameters ? SPACE_PARAM : SPACE_CONST;
}

static void load_constant(struct translation *t) {
    struct operand targets[4];
    unsigned count;
    const enum type type = width_type(translate_word(t, 0), &count);
    if (!fits(t, t->inst->operands[0].reg, count))
        return;
    vector(targets, count, t->inst->operands[0].reg, true);
    translate_constant(t, &t->inst->operands[1], type, targets, count);
}

static void atomic(struct translation *t, bool returns) {
    const unsigned m = returns ? 1 : 0;
    const enum atom atom = translate_atom(translate_word(t, 1));
    enum type type = translate_type_or(translate_word(t, 2), TYPE_U32);
    const bool wide = type_bytes(type) == 8, bits = atom >= ATOM_AND && atom <= ATOM_CAS;
    if (bits)
        type = wide ? TYPE_B64 : TYPE_B32;
    const struct operand address = address_of(t, m, translate_has(t, 0));
    struct operand sources[3] = {address, translate_source(t, m + 1, type)};
    const bool three = atom == ATOM_CAS;
    if (three != (returns && t->inst->operands[3].kind != NATIVE_NONE) ||
        (!returns && atom >= ATOM_EXCH && atom <= ATOM_CAS)) {
        translate_refuse(t, "this atomic operation with so many operands");
        return;
    }
    if (three)
        sources[2] = translate_source(t, 3, type);
    const struct operand d = wide ? translate_begin_pair(t) : translate_target(t, 0);
    struct inst *inst = translate_put(t, &(struct operation){.op = returns ? OP_ATOM : OP_RED, .type = type}, &d,
                                      returns, sources, three ? 3 : 2);
    inst->atom = (uint8_t)atom, inst->space = SPACE_GENERIC;
    if (returns && wide)
        translate_end_pair(t, d, &t->inst->operands[0]);
}

bool translate_fermi_memory(struct translation *t) {
    switch ((enum fermi_row)t->inst->row) {
    case FERMI_LD:
        load(t, 0, 1,
             (struct transfer){SPACE_GENERIC, translate_has(t, 0), translate_word(t, 2), translate_word(t, 1)});
        break;
    case FERMI_LDU:
        load(t, 0, 1, (struct transfer){SPACE_GENERIC, translate_has(t, 0), translate_word(t, 1), MODIFIER_NONE});
        break;
    case FERMI_LD_LDU: load_two(t); break;
    case FERMI_ST:
        store(t, (struct transfer){SPACE_GENERIC, translate_has(t, 0), translate_word(t, 2), translate_word(t, 1)});
        break;
    case FERMI_LDS: load(t, 0, 1, (struct transfer){SPACE_SHARED, false, translate_word(t, 0), MODIFIER_NONE}); break;
    case FERMI_STS: store(t, (struct transfer){SPACE_SHARED, false, translate_word(t, 0), MODIFIER_NONE}); break;
    case FERMI_LDL:
        load(t, 0, 1, (struct transfer){SPACE_LOCAL, false, translate_word(t, 1), translate_word(t, 0)});
        break;
    case FERMI_STL: store(t, (struct transfer){SPACE_LOCAL, false, translate_word(t, 1), translate_word(t, 0)}); break;
    case FERMI_LDC: load_constant(t); break;
    case FERMI_ATOM: atomic(t, true); break;
    case FERMI_RED: atomic(t, false); break;
    case FERMI_MEMBAR:
        translate_put(t, &(struct operation){.op = OP_MEMBAR}, NULL, 0, NULL, 0)->scope =
            (uint8_t)(translate_word(t, 0) == MODIFIER_CTA  ? SCOPE_CTA
                      : translate_word(t, 0) == MODIFIER_GL ? SCOPE_GPU
                                                            : SCOPE_SYS);
        break;
    default: return false;
    }
    return true;
}
