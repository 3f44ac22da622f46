/* SPDX-License-Identifier: Apache-2.0 */
/* Tesla (GT200) instructions for legal code. Products are made of 16-bit halves, predicates are words of 0 or -1 that
 * condition codes are set from, shared memory is reached by address registers and may be an operand, and lies behind the
 * kernel's parameters. */
#include "lower/select_tesla.h"

#include "base/bits.h"

/* ---- integers ---- */

/* A number goes into the instruction itself where that has a form for it. */
static void select_sum(struct selector *s, const struct inst *inst) {
    struct operand a = inst->src[0], b = inst->src[1];
    bool minus_a = false, minus_b = inst->op == OP_SUB, memory = false;
    uint32_t value;
    if (tesla_number(s, &a, &value) && !tesla_number(s, &b, &value)) {
        const struct operand held = a;
        a = b, b = held;
        minus_a = minus_b, minus_b = false;
    }
    struct tesla_source x = tesla_any(s, &a, &memory);
    x.operand.negated = minus_a;
    if (tesla_number(s, &b, &value) && value) {
        struct machine_inst *made = tesla_emit(s, TESLA_IADD32I, inst);
        tesla_put_unit(made, inst->dst[0].reg);
        tesla_put(made, &x);
        tesla_put_number(made, minus_b ? 0 - value : value);
        return;
    }
    struct tesla_source y = tesla_any(s, &b, &memory);
    y.operand.negated = minus_b;
    struct machine_inst *made = tesla_emit(s, TESLA_IADD, inst);
    tesla_put_unit(made, inst->dst[0].reg);
    tesla_put(made, &x);
    tesla_put(made, &y);
}

static void select_two(struct selector *s, const struct inst *inst, enum tesla_row row, enum native_slot slot,
                       enum native_modifier modifier, bool takes_number) {
    bool memory = false;
    uint32_t value;
    struct operand a = inst->src[0], b = inst->src[1];
    const bool commutes = inst->op != OP_SHL && inst->op != OP_SHR;
    if (commutes && tesla_number(s, &a, &value))
        a = inst->src[1], b = inst->src[0];
    const struct tesla_source x = tesla_any(s, &a, &memory);
    struct tesla_source y = tesla_zero();
    const bool is_number = tesla_number(s, &b, &value);
    if (!is_number || !takes_number)
        y = tesla_any(s, &b, &memory);
    struct machine_inst *made = tesla_emit(s, row, inst);
    if (inst->type == TYPE_PRED)
        tesla_put_predicate(s, made, inst->dst[0].reg);
    else
        tesla_put_unit(made, inst->dst[0].reg);
    tesla_put(made, &x);
    if (is_number && takes_number)
        tesla_put_number(made, value);
    else
        tesla_put(made, &y);
    tesla_modify(s, made, slot, modifier);
}

/* Of words, and of predicates, which are 0 or -1 and may be inverted. */
static void select_logic(struct selector *s, const struct inst *inst) {
    if (inst->type != TYPE_PRED) {
        select_two(s, inst, TESLA_LOP, NATIVE_SLOT_LOGIC, word_of_logic((enum op)inst->op), true);
        return;
    }
    struct tesla_source sources[2];
    for (unsigned i = 0; i < 2; i++) {
        struct operand plain = inst->src[i];
        plain.negated = false;
        if (plain.kind == OPERAND_IMM)
            plain.imm = plain.imm & 1 ? UINT32_MAX : 0;
        sources[i] = tesla_register(s, &plain);
        sources[i].operand.inverted = inst->src[i].negated;
    }
    struct machine_inst *made = tesla_emit(s, TESLA_LOP, inst);
    tesla_put_predicate(s, made, inst->dst[0].reg);
    tesla_put(made, &sources[0]);
    tesla_put(made, &sources[1]);
    tesla_modify(s, made, NATIVE_SLOT_LOGIC, word_of_logic((enum op)inst->op));
}

static void select_inverted(struct selector *s, const struct inst *inst, const struct operand *operand) {
    struct operand plain = *operand;
    plain.negated = false;
    struct tesla_source x = tesla_register(s, &plain);
    x.operand.inverted = true;
    const struct tesla_source zero = tesla_zero();
    struct machine_inst *made = tesla_emit(s, TESLA_LOP, inst);
    if (inst->type == TYPE_PRED)
        tesla_put_predicate(s, made, inst->dst[0].reg);
    else
        tesla_put_unit(made, inst->dst[0].reg);
    tesla_put(made, &zero);
    tesla_put(made, &x);
    tesla_modify(s, made, NATIVE_SLOT_LOGIC, MODIFIER_PASS_B);
}

static void select_negation(struct selector *s, const struct inst *inst) {
    struct tesla_source x = tesla_register(s, &inst->src[0]);
    if (inst->type == TYPE_F32) {
        struct machine_inst *made = tesla_emit(s, TESLA_LOP, inst);
        tesla_put_unit(made, inst->dst[0].reg);
        tesla_put(made, &x);
        tesla_put_number(made, inst->op == OP_NEG ? UINT32_C(0x80000000) : UINT32_C(0x7fffffff));
        tesla_modify(s, made, NATIVE_SLOT_LOGIC, inst->op == OP_NEG ? MODIFIER_XOR : MODIFIER_AND);
        return;
    }
    x.operand.negated = true;
    struct machine_inst *made = tesla_emit(s, TESLA_I2I, inst);
    tesla_put_unit(made, inst->dst[0].reg);
    tesla_put(made, &x);
    tesla_modify(s, made, NATIVE_SLOT_TO_INT, MODIFIER_S32);
    tesla_modify(s, made, NATIVE_SLOT_FROM_INT, MODIFIER_S32);
}

/* ---- comparison, choice, movement ---- */

/* 0 or -1; with another predicate by an instruction of its own. */
static void select_compare(struct selector *s, const struct inst *inst) {
    const bool is_float = inst->type == TYPE_F32, combines = inst->op == OP_SETP && inst->boolop != BOOL_NONE;
    bool memory = false;
    const struct tesla_source x = tesla_any(s, &inst->src[0], &memory), y = tesla_any(s, &inst->src[1], &memory);
    struct machine_inst *made = tesla_emit(s, is_float ? TESLA_FSET : TESLA_ISET, inst);
    const uint32_t result = combines ? machine_unit(s->machine, false) : inst->dst[0].reg;
    if (combines || inst->op == OP_SET)
        tesla_put_unit(made, result);
    else
        tesla_put_predicate(s, made, result);
    tesla_put(made, &x);
    tesla_put(made, &y);
    machine_operand(made,
                    (struct native_operand){.kind = NATIVE_COMPARE,
                                            .reg = (uint8_t)word_of_compare((enum compare)inst->compare)},
                    NO_UNIT);
    if (!is_float)
        tesla_modify(s, made, NATIVE_SLOT_SIGN, inst->type == TYPE_U32 ? MODIFIER_NONE : MODIFIER_S32);
    if (!combines)
        return;
    made->whole = true;
    struct operand other = inst->src[2];
    other.negated = false;
    struct tesla_source z = tesla_register(s, &other);
    z.operand.inverted = inst->src[2].negated;
    const struct tesla_source own = tesla_of_unit(result);
    made = tesla_emit(s, TESLA_LOP, inst);
    tesla_put_predicate(s, made, inst->dst[0].reg);
    tesla_put(made, &own);
    tesla_put(made, &z);
    tesla_modify(s, made, NATIVE_SLOT_LOGIC,
                 inst->boolop == BOOL_AND  ? MODIFIER_AND
                 : inst->boolop == BOOL_OR ? MODIFIER_OR
                                           : MODIFIER_XOR);
}

/* A copy of what is the same everywhere, of a register, or of a number; under a guard where code >= 0. */
static void copy_to(struct selector *s, const struct inst *inst, uint32_t d, const struct operand *from, int code,
                    bool negated) {
    uint32_t value;
    const bool is_number = tesla_number(s, from, &value) && value;
    bool memory = false;
    struct tesla_source x = tesla_zero();
    if (!is_number)
        x = tesla_any(s, from, &memory);
    struct machine_inst *made = machine_inst_new(s->machine, s->block, is_number ? TESLA_MVI : TESLA_MOV, inst);
    tesla_put_unit(made, d);
    if (is_number)
        tesla_put_number(made, value);
    else
        tesla_put(made, &x);
    if (code >= 0)
        tesla_guard(made, (unsigned)code, negated);
}

/* c ? a : b: b, and a where the code says so. */
static void select_choice(struct selector *s, const struct inst *inst) {
    const uint32_t d = inst->dst[0].reg;
    const struct operand *a = &inst->src[0], *b = &inst->src[1], *c = &inst->src[2];
    const int code = (int)tesla_code(s, c->reg, inst);
    const bool a_is_d = a->kind == OPERAND_REG && a->reg == d, b_is_d = b->kind == OPERAND_REG && b->reg == d;
    if (a_is_d && b_is_d)
        return;
    if (a_is_d) {
        copy_to(s, inst, d, b, code, !c->negated);
        return;
    }
    if (!b_is_d)
        copy_to(s, inst, d, b, -1, false);
    copy_to(s, inst, d, a, code, c->negated);
}

static void select_special(struct selector *s, const struct inst *inst) {
    const unsigned special = inst->src[0].reg;
    static const uint8_t halves[] = {SPECIAL_NTID_X,   SPECIAL_NTID_Y,  SPECIAL_NTID_Z, SPECIAL_NCTAID_X,
                                     SPECIAL_NCTAID_Y, SPECIAL_CTAID_X, SPECIAL_CTAID_Y};
    for (unsigned i = 0; i < sizeof halves; i++)
        if (halves[i] == special) { /* g[] begins with them, in 16 bits each */
            struct machine_inst *made = tesla_emit(s, TESLA_I2I, inst);
            tesla_put_unit(made, inst->dst[0].reg);
            machine_operand(made,
                            (struct native_operand){.kind = NATIVE_SHARED,
                                                    .reg = NATIVE_NO_ADDRESS,
                                                    .width = MODIFIER_U16,
                                                    .value = (int64_t)i + 1},
                            NO_UNIT);
            tesla_modify(s, made, NATIVE_SLOT_TO_INT, MODIFIER_U32);
            tesla_modify(s, made, NATIVE_SLOT_FROM_INT, MODIFIER_U16);
            return;
        }
    struct machine_inst *made = tesla_emit(s, TESLA_S2R, inst);
    tesla_put_unit(made, inst->dst[0].reg);
    machine_operand(made, (struct native_operand){.kind = NATIVE_SPECIAL, .reg = (uint8_t)special}, NO_UNIT);
}

static struct fact fact_of(struct selector *s, const struct inst *inst, unsigned k);

static void select_move(struct selector *s, const struct inst *inst) {
    struct operand from = inst->src[0];
    if (from.kind == OPERAND_SPECIAL) {
        select_special(s, inst);
        return;
    }
    if (inst->type == TYPE_PRED && from.kind == OPERAND_IMM)
        from.imm = from.imm & 1 ? UINT32_MAX : 0;
    if (from.kind == OPERAND_REG && from.negated) {
        select_inverted(s, inst, &from);
        return;
    }
    if (from.kind == OPERAND_ADDRESS) { /* to a register that is written in several places */
        const struct fact fact = fact_of(s, inst, 0);
        if (fact.kind == FACT_IMMEDIATE) {
            from = operand_immediate(fact.value);
        } else {
            const struct tesla_source x = tesla_of_memory(fact.bank, fact.value);
            struct machine_inst *made = tesla_emit(s, TESLA_MOV, inst);
            tesla_put_unit(made, inst->dst[0].reg);
            tesla_put(made, &x);
            return;
        }
    }
    const int code = inst->guard >= 0 ? (int)tesla_code(s, (uint32_t)inst->guard, inst) : -1;
    copy_to(s, inst, inst->dst[0].reg, &from, code, inst->guard_negated);
}

static enum status select_barrier(struct selector *s, const struct inst *inst) {
    if (inst->op == OP_MEMBAR) /* accesses of a thread are in order */
        return STATUS_OK;
    uint32_t number = 0;
    const bool plain = inst->op == OP_BAR && (inst->mode == MODE_SYNC || inst->mode == MODE_NONE) &&
                       tesla_number(s, &inst->src[0], &number) &&
                       (inst->src_count < 2 || inst->src[1].kind == OPERAND_NONE);
    if (!plain)
        return body_refuse(s->body, inst, "Tesla", op_name((enum op)inst->op), s->machine->report);
    struct machine_inst *made = tesla_emit(s, TESLA_BAR, inst);
    tesla_put_number(made, number);
    tesla_put_number(made, 0xfff);
    return STATUS_OK;
}

/* What codes and address registers were made from has changed. */
static void forget(struct selector *s, const struct inst *inst) {
    for (unsigned k = 0; k < inst->dst_count; k++) {
        for (unsigned i = 0; i < NATIVE_CODES; i++)
            if (s->tesla->codes[i].reg == inst->dst[k].reg && s->tesla->codes[i].made != s->at)
                s->tesla->codes[i].reg = NO_UNIT;
        for (unsigned i = 0; i < TESLA_ADDRESSES; i++)
            if (s->tesla->addresses[i].reg == inst->dst[k].reg)
                s->tesla->addresses[i].reg = NO_UNIT;
    }
}

static enum status select_plain(struct selector *s, const struct inst *inst) {
    const enum native_modifier sign = inst->type == TYPE_S32 ? MODIFIER_S32 : MODIFIER_NONE;
    switch ((enum op)inst->op) {
    case OP_ADD:
    case OP_SUB: select_sum(s, inst); break;
    case OP_MUL:
    case OP_MAD: tesla_multiply(s, inst); break;
    case OP_MIN: select_two(s, inst, TESLA_IMIN, NATIVE_SLOT_SIGN, sign, false); break;
    case OP_MAX: select_two(s, inst, TESLA_IMAX, NATIVE_SLOT_SIGN, sign, false); break;
    case OP_AND:
    case OP_OR:
    case OP_XOR: select_logic(s, inst); break;
    case OP_NOT: select_inverted(s, inst, &inst->src[0]); break;
    case OP_NEG:
    case OP_ABS: select_negation(s, inst); break;
    case OP_SHL: select_two(s, inst, TESLA_SHL, NATIVE_SLOT_SIGN, MODIFIER_NONE, true); break;
    case OP_SHR:
        select_two(s, inst, TESLA_SHR, NATIVE_SLOT_SIGN, inst->type == TYPE_S32 ? MODIFIER_S32 : MODIFIER_NONE, true);
        break;
    case OP_SET:
    case OP_SETP: select_compare(s, inst); break;
    case OP_SELP: select_choice(s, inst); break;
    case OP_MOV: select_move(s, inst); break;
    case OP_CVT: return tesla_convert(s, inst);
    case OP_LD:
    case OP_ST:
    case OP_ATOM:
    case OP_RED: return tesla_access(s, inst);
    default: return select_barrier(s, inst);
    }
    return STATUS_OK;
}

static enum status select_inst(struct selector *s, const struct inst *inst) {
    if (inst->flags & FLAG_FTZ)
        return body_refuse(s->body, inst, "Tesla", ".ftz", s->machine->report);
    if (inst->op == OP_MOV && inst->src[0].kind == OPERAND_SPECIAL && inst->src[0].reg == SPECIAL_TOTAL_SMEM_SIZE)
        return body_refuse(s->body, inst, "Tesla", "%total_smem_size, which would count the parameters",
                           s->machine->report);
    const bool is_float = type_is_float((enum type)inst->type) && inst->op != OP_SETP && inst->op != OP_CVT &&
                          inst->op != OP_NEG && inst->op != OP_ABS && inst->op != OP_ATOM && inst->op != OP_RED;
    const enum status status = is_float ? tesla_float(s, inst) : select_plain(s, inst);
    forget(s, inst);
    return status;
}

/* ---- facts and blocks ---- */

uint32_t tesla_shared_base(const struct body *body) {
    return (uint32_t)bits_round_up(TESLA_PARAM_BASE + body->kernel->param_bytes, 16);
}

/* Values that fit 16 bits: 16-bit products of them are whole. Grids of this hardware have at most 65,535 blocks in a
 * dimension. Numbers are left out, as the study's compiler does [003 Table 17]. */
static bool is_short(const struct inst *inst) {
    switch ((enum op)inst->op) {
    case OP_MOV: return inst->src[0].kind == OPERAND_SPECIAL && inst->src[0].reg <= SPECIAL_CTAID_Z;
    case OP_CVT:
        return !type_is_float((enum type)inst->stype) && type_bytes((enum type)inst->stype) <= 2 &&
               !type_is_signed((enum type)inst->stype);
    case OP_AND: return inst->type != TYPE_PRED && inst->src[1].kind == OPERAND_IMM && inst->src[1].imm <= 0xffff;
    case OP_LD:
        return inst->type == TYPE_U8 || inst->type == TYPE_U16 || inst->type == TYPE_B8 || inst->type == TYPE_B16;
    default: return false;
    }
}

static struct fact fact_of(struct selector *s, const struct inst *inst, unsigned k) {
    struct fact fact = {.kind = FACT_NONE, .is_short = is_short(inst)};
    const struct operand *source = &inst->src[0];
    const struct symbol *symbol = source->kind == OPERAND_ADDRESS ? source->symbol : NULL;
    if (inst->op == OP_LD && inst->space == SPACE_PARAM && !source->has_reg && type_bytes((enum type)inst->type) >= 4) {
        fact.kind = FACT_CONSTANT, fact.bank = TESLA_SHARED_BANK;
        fact.value = (uint32_t)(TESLA_PARAM_BASE + (symbol ? symbol->offset : 0) + source->imm + 4 * k);
    } else if (inst->op != OP_MOV || inst->type == TYPE_PRED) {
        return fact;
    } else if (source->kind == OPERAND_IMM) {
        fact.kind = FACT_IMMEDIATE, fact.value = (uint32_t)source->imm;
    } else if (source->kind == OPERAND_SPECIAL && source->reg == SPECIAL_WARPSZ) {
        fact.kind = FACT_IMMEDIATE, fact.value = 32;
    } else if (symbol && symbol->kind == SYMBOL_VARIABLE && symbol->space == SPACE_SHARED) {
        const uint32_t behind = (uint32_t)bits_round_up(s->body->kernel->shared_bytes, 16);
        fact.kind = FACT_IMMEDIATE;
        fact.value =
            tesla_shared_base(s->body) + (symbol->bytes ? (uint32_t)symbol->offset : behind) + (uint32_t)source->imm;
    } else if (symbol && symbol->kind == SYMBOL_VARIABLE && symbol->space != SPACE_PARAM) {
        fact.kind = FACT_CONSTANT, fact.bank = 14;
        fact.value = select_word(s->machine, symbol, (int64_t)source->imm) + (inst->mode == MODE_HI ? 4u : 0u);
    }
    return fact;
}

static void begin_block(struct selector *s) {
    for (unsigned i = 0; i < NATIVE_CODES; i++)
        s->tesla->codes[i].reg = NO_UNIT;
    for (unsigned i = 0; i < TESLA_ADDRESSES; i++)
        s->tesla->addresses[i].reg = NO_UNIT;
}

static void end_block(struct selector *s) {
    if (s->source->end != END_BRANCH)
        return;
    const unsigned code = tesla_code(s, s->source->predicate, s->source->at);
    struct machine_block *made = &s->machine->blocks.items[s->block];
    made->code_register = (uint8_t)code;
    made->negated = s->source->negated;
}

enum status select_tesla(const struct body *body, struct machine_kernel *machine) {
    static const struct select_ops ops = {.fact = fact_of, .inst = select_inst, .begin = begin_block, .end = end_block};
    struct tesla tesla = {.next_code = 0};
    machine->shared_bytes =
        tesla_shared_base(body) - (TESLA_PARAM_BASE + body->kernel->param_bytes) + machine->shared_bytes;
    return select_body(body, machine, &ops, &tesla);
}
