/* SPDX-License-Identifier: Apache-2.0 */
/* Fermi instructions for legal code. Values that are read once and in the same block are taken into the instruction that
 * reads them where Fermi has one for both; parameters and sizes are read from c[0x0] in place. */
#include "base/bits.h"
#include "lower/select_fermi.h"

static const struct native_operand pt = {.kind = NATIVE_PREDICATE, .reg = FERMI_PT};

/* ---- facts ---- */

/* The place of a shared variable, of a variable without size: behind all others. */
static uint32_t shared_place(const struct selector *s, const struct symbol *symbol) {
    return symbol->bytes ? (uint32_t)symbol->offset : (uint32_t)bits_round_up(s->body->kernel->shared_bytes, 16);
}

static bool is_size(uint32_t special) { return special >= SPECIAL_NTID_X && special <= SPECIAL_NTID_Z; }
static bool is_grid_size(uint32_t special) { return special >= SPECIAL_NCTAID_X && special <= SPECIAL_NCTAID_Z; }

/* What a mov makes, if that is the same everywhere. */
static struct fact move_fact(struct selector *s, const struct inst *inst) {
    const struct operand *source = &inst->src[0];
    struct fact fact = {.kind = FACT_NONE};
    if (source->kind == OPERAND_IMM && inst->type != TYPE_PRED) {
        fact.kind = FACT_IMMEDIATE, fact.value = (uint32_t)source->imm;
    } else if (source->kind == OPERAND_SPECIAL && (is_size(source->reg) || is_grid_size(source->reg))) {
        const uint32_t first = is_size(source->reg) ? SPECIAL_NTID_X : SPECIAL_NCTAID_X;
        fact.kind = FACT_CONSTANT, fact.bank = 0;
        fact.value = FERMI_SIZES_BASE + 4 * (source->reg - first) + (is_size(source->reg) ? 0u : 12u);
    } else if (source->kind == OPERAND_SPECIAL && source->reg == SPECIAL_WARPSZ) {
        fact.kind = FACT_IMMEDIATE, fact.value = 32;
    } else if (source->kind == OPERAND_ADDRESS && source->symbol && source->symbol->kind == SYMBOL_VARIABLE) {
        if (source->symbol->space == SPACE_SHARED) {
            fact.kind = FACT_IMMEDIATE, fact.value = shared_place(s, source->symbol) + (uint32_t)source->imm;
        } else if (source->symbol->space != SPACE_PARAM) {
            fact.kind = FACT_CONSTANT, fact.bank = 14;
            fact.value =
                select_word(s->machine, source->symbol, (int64_t)source->imm) + (inst->mode == MODE_HI ? 4u : 0u);
        }
    }
    return fact;
}

static uint32_t param_place(const struct operand *address) {
    return (uint32_t)(FERMI_PARAM_BASE + (address->symbol ? address->symbol->offset : 0) + address->imm);
}

/* ---- instructions ---- */

struct machine_inst *fermi_emit(struct selector *s, enum fermi_row row, const struct inst *at) {
    struct machine_inst *inst = machine_inst_new(s->machine, s->block, row, at);
    if (at && at->guard >= 0) {
        inst->native.guard = GUARD_PREDICATE;
        inst->native.guard_inverted = at->guard_negated;
        inst->guard = (uint32_t)at->guard;
    }
    return inst;
}

void fermi_modify(const struct selector *s, struct machine_inst *inst, enum native_slot slot,
                  enum native_modifier modifier) {
    if (modifier != MODIFIER_NONE)
        machine_modify(s->machine, inst, slot, modifier);
}

void fermi_put_unit(struct machine_inst *inst, uint32_t unit) {
    machine_operand(inst, (struct native_operand){.kind = NATIVE_REG}, unit);
}

void fermi_put_predicate(struct machine_inst *inst, const struct operand *operand) {
    struct native_operand native = pt;
    if (operand->kind == OPERAND_IMM)
        native.inverted = !(operand->imm & 1);
    else if (operand->kind == OPERAND_REG)
        native.inverted = operand->negated;
    machine_operand(inst, native, operand->kind == OPERAND_REG ? operand->reg : NO_UNIT);
}

void fermi_put_pt(struct machine_inst *inst) { machine_operand(inst, pt, NO_UNIT); }

void fermi_put_source(struct machine_inst *inst, const struct source *source) {
    struct native_operand native = {
        .kind = NATIVE_REG, .negated = source->negated, .absolute = source->absolute, .inverted = source->inverted};
    switch (source->kind) {
    case SOURCE_UNIT: break;
    case SOURCE_ZERO: native.reg = FERMI_RZ; break;
    case SOURCE_IMMEDIATE: {
        bool written, optional;
        const struct native_form *form = native_form(NATIVE_FERMI, inst->native.row);
        const char shape = native_shape(form, inst->native.operand_count, &written, &optional);
        native.kind = NATIVE_IMMEDIATE; /* short ones have a sign */
        native.value = shape == 'x' || shape == 'v' ? (int64_t)(int32_t)source->value : (int64_t)source->value;
        break;
    }
    case SOURCE_CONSTANT:
        native.kind = NATIVE_CONSTANT, native.bank = source->bank, native.value = source->value;
        native.reg = FERMI_RZ;
        break;
    }
    machine_operand(inst, native, source->kind == SOURCE_UNIT ? source->unit : NO_UNIT);
}

struct machine_inst *fermi_emit_two(struct selector *s, enum fermi_row row, const struct inst *inst,
                                    const struct source *x, const struct source *y) {
    struct machine_inst *made = fermi_emit(s, row, inst);
    fermi_put_unit(made, inst->dst[0].reg);
    fermi_put_source(made, x);
    fermi_put_source(made, y);
    return made;
}

/* ---- sources ---- */

bool fermi_fits(uint32_t value) { return value + 0x80000 < 0x100000; }
static bool fits_float(uint32_t value) { return (value & 0xfff) == 0; }

struct source fermi_plain(const struct selector *s, const struct operand *operand) {
    struct source source = {.kind = SOURCE_UNIT, .unit = operand->reg};
    if (operand->kind == OPERAND_IMM) {
        source.kind = SOURCE_IMMEDIATE, source.value = (uint32_t)operand->imm;
    } else {
        const struct fact *fact = &s->facts[operand->reg];
        if (fact->kind == FACT_IMMEDIATE)
            source.kind = SOURCE_IMMEDIATE, source.value = fact->value;
        else if (fact->kind == FACT_CONSTANT)
            source.kind = SOURCE_CONSTANT, source.bank = fact->bank, source.value = fact->value;
    }
    if (source.kind == SOURCE_IMMEDIATE && source.value == 0)
        source.kind = SOURCE_ZERO;
    return source;
}

/* In a register: as 'r' of a shape wants it. */
struct source fermi_in_register(struct selector *s, struct source source, const struct operand *operand) {
    if (source.kind == SOURCE_UNIT || source.kind == SOURCE_ZERO)
        return source;
    const bool remembered = operand && operand->kind == OPERAND_REG;
    if (remembered && s->held_of[operand->reg] == s->block + 1) {
        source.unit = s->held[operand->reg];
        source.kind = SOURCE_UNIT;
        return source;
    }
    const uint32_t unit = machine_unit(s->machine, false);
    const struct inst *at = &s->source->code.items[s->at < s->source->code.count ? s->at : 0];
    const bool is_immediate = source.kind == SOURCE_IMMEDIATE;
    struct machine_inst *move = machine_inst_new(s->machine, s->block, is_immediate ? FERMI_MOV32I : FERMI_MOV,
                                                 s->source->code.count ? at : s->source->at);
    fermi_put_unit(move, unit);
    struct source moved = source;
    moved.negated = moved.absolute = moved.inverted = false;
    fermi_put_source(move, &moved);
    if (remembered)
        s->held[operand->reg] = unit, s->held_of[operand->reg] = s->block + 1;
    source.kind = SOURCE_UNIT, source.unit = unit;
    return source;
}

struct source fermi_register(struct selector *s, const struct operand *operand) {
    return fermi_in_register(s, fermi_plain(s, operand), operand);
}

/* As 'x': a register, a constant or an immediate of 20 bits. */
struct source fermi_any(struct selector *s, const struct operand *operand) {
    const struct source source = fermi_plain(s, operand);
    if (source.kind == SOURCE_IMMEDIATE && !fermi_fits(source.value))
        return fermi_in_register(s, source, operand);
    return source;
}

/* As 'f'; what does not fit is a literal [003 §4.1, 24]. */
struct source fermi_any_float(struct selector *s, const struct operand *operand) {
    struct source source = fermi_plain(s, operand);
    if (source.kind == SOURCE_IMMEDIATE && !fits_float(source.value))
        source.kind = SOURCE_CONSTANT, source.bank = FERMI_LITERALS,
        source.value = select_literal(s->machine, source.value);
    return source;
}

bool fermi_is_simple(const struct selector *s, const struct operand *operand) {
    const struct source source = fermi_plain(s, operand);
    return source.kind == SOURCE_UNIT || source.kind == SOURCE_ZERO;
}

/* ---- moves and choices ---- */

static void select_move(struct selector *s, const struct inst *inst) {
    if (inst->type == TYPE_PRED) {
        fermi_predicate(s, inst);
        return;
    }
    if (inst->src[0].kind == OPERAND_SPECIAL) {
        struct machine_inst *made = fermi_emit(s, FERMI_S2R, inst);
        fermi_put_unit(made, inst->dst[0].reg);
        machine_operand(made, (struct native_operand){.kind = NATIVE_SPECIAL, .reg = (uint8_t)inst->src[0].reg},
                        NO_UNIT);
        return;
    }
    struct source x =
        inst->src[0].kind == OPERAND_ADDRESS ? (struct source){.kind = SOURCE_ZERO} : fermi_plain(s, &inst->src[0]);
    if (inst->src[0].kind == OPERAND_ADDRESS) { /* of a register that is written in several places */
        const struct fact fact = move_fact(s, inst);
        x.kind = fact.kind == FACT_CONSTANT ? SOURCE_CONSTANT : SOURCE_IMMEDIATE;
        x.bank = fact.bank, x.value = fact.value;
    }
    struct machine_inst *made = fermi_emit(s, x.kind == SOURCE_IMMEDIATE ? FERMI_MOV32I : FERMI_MOV, inst);
    fermi_put_unit(made, inst->dst[0].reg);
    fermi_put_source(made, &x);
}

/* c ? a : b; where c is a comparison of a number with 0, that is part of it. */
static void select_choice(struct selector *s, const struct inst *inst) {
    struct operand a = inst->src[0], b = inst->src[1], c = inst->src[2];
    const struct inst *compare = select_single(s, &c, OP_SETP);
    const bool with_zero = compare && compare->type == TYPE_S32 && compare->boolop == BOOL_NONE && !c.negated &&
                           operand_is_immediate(&compare->src[1], 0) && compare->src[0].kind == OPERAND_REG &&
                           fermi_is_simple(s, &compare->src[0]) && fermi_is_simple(s, &a);
    if (with_zero) {
        select_take(s, compare);
        const struct source x = fermi_register(s, &a), y = fermi_any(s, &b), z = fermi_register(s, &compare->src[0]);
        struct machine_inst *made = fermi_emit_two(s, FERMI_ICMP, inst, &x, &y);
        fermi_put_source(made, &z);
        fermi_modify(s, made, NATIVE_SLOT_COMPARE, word_of_compare((enum compare)compare->compare));
        return;
    }
    if (fermi_order(s, &a, &b)) {
        c.negated = !c.negated;
    }
    const struct source x = fermi_register(s, &a), y = fermi_any(s, &b);
    struct machine_inst *made = fermi_emit_two(s, FERMI_SEL, inst, &x, &y);
    fermi_put_predicate(made, &c);
}

static enum status select_inst(struct selector *s, const struct inst *inst) {
    if (type_is_float((enum type)inst->type) && inst->op != OP_SETP && inst->op != OP_CVT && inst->op != OP_NEG &&
        inst->op != OP_ABS && inst->op != OP_ATOM && inst->op != OP_RED)
        return fermi_float(s, inst);
    if (inst->type == TYPE_PRED && inst->op != OP_VOTE && inst->op != OP_BAR) {
        fermi_predicate(s, inst);
        return STATUS_OK;
    }
    switch ((enum op)inst->op) {
    case OP_ADD:
    case OP_SUB: fermi_sum(s, inst); break;
    case OP_MUL:
    case OP_MAD: fermi_multiply(s, inst); break;
    case OP_MIN:
    case OP_MAX: fermi_extreme(s, inst); break;
    case OP_AND:
    case OP_OR:
    case OP_XOR: fermi_logic(s, inst); break;
    case OP_NOT: fermi_not(s, inst); break;
    case OP_NEG:
    case OP_ABS: fermi_negation(s, inst); break;
    case OP_SHL:
    case OP_SHR: fermi_shift(s, inst); break;
    case OP_BFE:
    case OP_BFI: fermi_field(s, inst); break;
    case OP_PRMT: fermi_permute(s, inst); break;
    case OP_POPC:
    case OP_CLZ: fermi_count(s, inst); break;
    case OP_MOV: select_move(s, inst); break;
    case OP_SELP: select_choice(s, inst); break;
    case OP_SETP:
        fermi_compare(s, inst, &inst->dst[0], (enum boolop)inst->boolop,
                      inst->boolop == BOOL_NONE ? NULL : &inst->src[inst->src_count - 1]);
        break;
    case OP_CVT: return fermi_convert(s, inst);
    case OP_LD:
    case OP_ST:
    case OP_ATOM:
    case OP_RED: return fermi_access(s, inst);
    case OP_BAR:
    case OP_VOTE:
    case OP_MEMBAR: return fermi_barrier(s, inst);
    default: return body_refuse(s->body, inst, "Fermi", op_name((enum op)inst->op), s->machine->report);
    }
    return STATUS_OK;
}

static struct fact fact_of(struct selector *s, const struct inst *inst, unsigned k) {
    struct fact fact = {.kind = FACT_NONE};
    if (inst->op == OP_LD && inst->space == SPACE_PARAM && !inst->src[0].has_reg &&
        type_bytes((enum type)inst->type) >= 4)
        fact.kind = FACT_CONSTANT, fact.value = param_place(&inst->src[0]) + 4 * k;
    else if (inst->op == OP_MOV)
        fact = move_fact(s, inst);
    return fact;
}

static void end_block(struct selector *s) {
    struct machine_block *made = &s->machine->blocks.items[s->block];
    made->predicate = s->source->end == END_BRANCH ? s->source->predicate : NO_UNIT;
    made->negated = s->source->negated;
}

enum status select_fermi(const struct body *body, struct machine_kernel *machine) {
    static const struct select_ops ops = {.fact = fact_of, .inst = select_inst, .end = end_block};
    return select_body(body, machine, &ops, NULL);
}
