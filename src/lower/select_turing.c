/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of sm_75 on for a legal body: facts, operands, moves, and who selects what. Values that are used once in the
 * same block are taken into the instruction that reads them where there is one for both; parameters and sizes are read
 * from c[0x0] in place. */
#include "lower/select_turing.h"

#include "base/bits.h"

/* ---- facts ---- */

/* The place of a shared variable, of a variable without size: behind all others. */
static uint32_t shared_place(const struct selector *s, const struct symbol *symbol) {
    return symbol->bytes ? (uint32_t)symbol->offset : (uint32_t)bits_round_up(s->body->kernel->shared_bytes, 16);
}

static struct fact constant_fact(unsigned bank, uint64_t offset) {
    return (struct fact){.kind = FACT_CONSTANT, .bank = (uint8_t)bank, .value = (uint32_t)offset};
}

static struct fact special_fact(uint32_t special) {
    if (special >= SPECIAL_NTID_X && special <= SPECIAL_NTID_Z)
        return constant_fact(0, 4 * (special - SPECIAL_NTID_X));
    if (special >= SPECIAL_NCTAID_X && special <= SPECIAL_NCTAID_Z)
        return constant_fact(0, 12 + 4 * (special - SPECIAL_NCTAID_X));
    if (special >= SPECIAL_ENVREG0 && special <= SPECIAL_ENVREG_LAST)
        return constant_fact(0, 0x88 + 4 * (special - SPECIAL_ENVREG0));
    if (special == SPECIAL_DYNAMIC_SMEM_SIZE)
        return constant_fact(0, 0x2c);
    if (special == SPECIAL_WARPSZ)
        return (struct fact){.kind = FACT_IMMEDIATE, .value = 32};
    return (struct fact){.kind = FACT_NONE};
}

/* What a mov makes, if that is the same everywhere. */
static struct fact move_fact(struct selector *s, const struct inst *inst) {
    const struct operand *source = &inst->src[0];
    if (inst->type == TYPE_PRED || inst->src_count != 1)
        return (struct fact){.kind = FACT_NONE};
    if (source->kind == OPERAND_IMM)
        return (struct fact){.kind = FACT_IMMEDIATE, .value = (uint32_t)source->imm};
    if (source->kind == OPERAND_SPECIAL)
        return special_fact(source->reg);
    if (source->kind == OPERAND_REG && s->facts[source->reg].definitions == 1)
        return s->facts[source->reg];
    if (source->kind == OPERAND_ADDRESS && source->symbol && source->symbol->kind == SYMBOL_VARIABLE) {
        if (source->symbol->space == SPACE_SHARED)
            return (struct fact){.kind = FACT_IMMEDIATE,
                                 .value = shared_place(s, source->symbol) + (uint32_t)source->imm};
        if (source->symbol->space != SPACE_PARAM)
            return constant_fact(TURING_ADDRESSES, select_word(s->machine, source->symbol, (int64_t)source->imm) +
                                                       (inst->mode == MODE_HI ? 4u : 0u));
    }
    return (struct fact){.kind = FACT_NONE};
}

static struct fact fact_of(struct selector *s, const struct inst *inst, unsigned k) {
    if (inst->op == OP_LD && inst->space == SPACE_PARAM && !inst->src[0].has_reg &&
        type_bytes((enum type)inst->type) >= 4)
        return constant_fact(0, TURING_PARAM_BASE + (inst->src[0].symbol ? inst->src[0].symbol->offset : 0) +
                                    inst->src[0].imm + 4 * k);
    return inst->op == OP_MOV ? move_fact(s, inst) : (struct fact){.kind = FACT_NONE};
}

/* ---- instructions ---- */

struct machine_inst *sm_emit(struct selector *s, enum turing_row_id row, const struct inst *at) {
    struct machine_inst *inst = machine_turing(s->machine, s->block, row, at);
    if (at && at->guard >= 0) {
        inst->native.guard = GUARD_PREDICATE;
        inst->native.guard_inverted = at->guard_negated;
        inst->guard = (uint32_t)at->guard;
    }
    return inst;
}

struct machine_inst *sm_emit_to(struct selector *s, enum turing_row_id row, const struct inst *at, uint32_t d) {
    struct machine_inst *made = sm_emit(s, row, at);
    const struct turing_place *places = turing_row(row)->operands;
    unsigned place = 0;
    while (places[place].shape != TURING_SHAPE_REGISTER || places[place].at != 16)
        place++;
    machine_put_unit(made, place, d);
    return made;
}

void sm_word(struct machine_inst *made, enum turing_words words, unsigned value) {
    turing_set_word(made->turing, words, value);
}

void sm_put(struct machine_inst *made, unsigned place, const struct source *source) {
    struct turing_operand *operand = &made->turing->operands[place];
    *operand = (struct turing_operand){.kind = TURING_REGISTER,
                                       .reg = TURING_RZ,
                                       .negated = source->negated,
                                       .absolute = source->absolute,
                                       .inverted = source->inverted};
    switch (source->kind) {
    case SOURCE_UNIT: made->units[place] = source->unit; break;
    case SOURCE_ZERO: break;
    case SOURCE_CONSTANT:
        operand->kind = TURING_CONSTANT, operand->bank = source->bank, operand->value = source->value;
        break;
    case SOURCE_IMMEDIATE: {
        const unsigned type = turing_row(made->turing->row)->operands[place].type;
        const bool has_sign = type == TURING_TYPE_I || type == TURING_TYPE_X || type == TURING_TYPE_L;
        machine_put_number(made, place, has_sign ? (int64_t)(int32_t)source->value : (int64_t)source->value);
        break;
    }
    }
}

void sm_put_tuple(struct machine_inst *made, unsigned place, uint32_t first, unsigned count) {
    made->widths[place] = (uint8_t)count;
    machine_put_unit(made, place, first);
}

void sm_put_test(struct machine_inst *made, unsigned place, const struct operand *operand) {
    struct turing_operand *test = &made->turing->operands[place];
    *test = (struct turing_operand){.kind = TURING_PREDICATE, .reg = TURING_PT};
    if (operand->kind == OPERAND_IMM)
        test->inverted = !(operand->imm & 1);
    else if (operand->kind == OPERAND_REG)
        test->inverted = operand->negated, machine_put_unit(made, place, operand->reg);
}

enum status sm_refused(struct selector *s, const struct inst *inst, const char *what) {
    return body_refuse(s->body, inst, s->machine->isa_name, what, s->machine->report);
}

/* ---- sources ---- */

struct source sm_unit(uint32_t unit) {
    return (struct source){.kind = SOURCE_UNIT, .unit = unit};
}

struct source sm_number(uint32_t value) {
    return (struct source){.kind = value ? SOURCE_IMMEDIATE : SOURCE_ZERO, .value = value};
}

bool sm_is_simple(const struct source *source) { return source->kind == SOURCE_UNIT || source->kind == SOURCE_ZERO; }

struct source sm_plain(const struct selector *s, const struct operand *operand) {
    if (operand->kind == OPERAND_IMM)
        return sm_number((uint32_t)operand->imm);
    const struct fact *fact = &s->facts[operand->reg];
    if (fact->kind == FACT_IMMEDIATE)
        return sm_number(fact->value);
    if (fact->kind == FACT_CONSTANT)
        return (struct source){.kind = SOURCE_CONSTANT, .bank = fact->bank, .value = fact->value};
    return sm_unit(operand->reg);
}

void sm_move(struct selector *s, const struct inst *inst, uint32_t d, const struct source *a) {
    struct machine_inst *made = sm_emit_to(s, TURING_MOV, inst, d);
    sm_put(made, 1, a);
}

void sm_load(struct selector *s, uint32_t d, const struct source *a, bool is_early) {
    const struct inst *at = &s->source->code.items[s->at < s->source->code.count ? s->at : 0];
    struct machine_inst *move =
        machine_turing(s->machine, s->block, TURING_MOV, s->source->code.count ? at : s->source->at);
    machine_put_unit(move, 0, d);
    sm_put(move, 1, a);
    if (!is_early)
        return;
    *ARENA_PUSH(s->machine->arena, &s->prologue) = *move;
    s->machine->blocks.items[s->block].code.count--;
}

/* Numbers and constants that several instructions of a block want in a register are moved there once, of blocks in loops
 * before all. */
struct source sm_in_register(struct selector *s, struct source source, const struct operand *operand) {
    (void)operand;
    if (sm_is_simple(&source))
        return source;
    const bool is_early = s->pass && s->in_loop[s->block], is_constant = source.kind == SOURCE_CONSTANT;
    uint32_t unit = NO_UNIT;
    for (unsigned i = 0; i < s->numbers.count; i++) {
        const struct held_number *held = &s->numbers.items[i];
        if (held->block == (is_early ? 0 : s->block + 1) && held->is_constant == is_constant &&
            held->bank == source.bank && held->value == source.value)
            unit = held->unit;
    }
    if (unit == NO_UNIT) {
        struct source moved = source;
        moved.negated = moved.absolute = moved.inverted = false;
        unit = machine_unit(s->machine, false);
        sm_load(s, unit, &moved, is_early);
        *ARENA_PUSH(s->machine->arena, &s->numbers) =
            (struct held_number){is_early ? 0 : s->block + 1, is_constant, source.bank, source.value, unit};
    }
    source.kind = SOURCE_UNIT, source.unit = unit;
    return source;
}

struct source sm_register(struct selector *s, const struct operand *operand) {
    return sm_in_register(s, sm_plain(s, operand), operand);
}

void sm_fit(struct selector *s, struct source *a, struct source *b, struct source *c, bool commutes) {
    if (commutes && !sm_is_simple(a) && sm_is_simple(b)) {
        const struct source held = *a;
        *a = *b, *b = held;
    }
    *a = sm_in_register(s, *a, NULL);
    if (sm_is_simple(b) || sm_is_simple(c))
        return;
    /* rather a number in a register than a constant: it may serve others */
    struct source *other = b->kind == SOURCE_IMMEDIATE ? b : c;
    *other = sm_in_register(s, *other, NULL);
}

/* ---- moves ---- */

static enum status select_move(struct selector *s, const struct inst *inst) {
    if (inst->src[0].kind == OPERAND_SPECIAL) {
        const struct fact fact = special_fact(inst->src[0].reg);
        unsigned number;
        if (fact.kind == FACT_NONE && !sm_special(inst->src[0].reg, &number))
            return sm_refused(s, inst, special_name((enum special)inst->src[0].reg));
        if (fact.kind == FACT_NONE) {
            struct machine_inst *made = sm_emit_to(s, TURING_S2R, inst, inst->dst[0].reg);
            made->turing->operands[1].value = number;
            return STATUS_OK;
        }
    }
    struct source x = {.kind = SOURCE_ZERO};
    if (inst->src[0].kind == OPERAND_REG || inst->src[0].kind == OPERAND_IMM) {
        x = sm_plain(s, &inst->src[0]);
    } else { /* of a register that is written in several places */
        const struct fact fact = move_fact(s, inst);
        x.kind = fact.kind == FACT_CONSTANT ? SOURCE_CONSTANT : fact.value ? SOURCE_IMMEDIATE : SOURCE_ZERO;
        x.bank = fact.bank, x.value = fact.value;
    }
    sm_move(s, inst, inst->dst[0].reg, &x);
    return STATUS_OK;
}

/* ---- who selects what ---- */

static enum status select_pair(struct selector *s, const struct inst *inst) {
    switch ((enum op)inst->op) {
    case OP_ADD:
    case OP_SUB: sm_wide_sum(s, inst); break;
    case OP_MUL: sm_wide_product(s, inst); break;
    case OP_SHL:
    case OP_SHR: sm_wide_shift(s, inst); break;
    default: return sm_refused(s, inst, op_name((enum op)inst->op));
    }
    return STATUS_OK;
}

static bool is_float_inst(const struct inst *inst) {
    switch ((enum op)inst->op) {
    case OP_SETP:
    case OP_CVT:
    case OP_ATOM:
    case OP_RED:
    case OP_LD:
    case OP_ST:
    case OP_MOV:
    case OP_SELP:
    case OP_SHFL: return false;
    default: return type_is_float((enum type)inst->type);
    }
}

static enum status select_word_inst(struct selector *s, const struct inst *inst) {
    switch ((enum op)inst->op) {
    case OP_ADD:
    case OP_SUB:
        if (inst->flags & (FLAG_CARRY_IN | FLAG_CARRY_OUT))
            return sm_carried(s, inst);
        sm_sum(s, inst);
        break;
    case OP_MUL:
    case OP_MAD: sm_multiply(s, inst); break;
    case OP_DP4A:
    case OP_DP2A: sm_dot_product(s, inst); break;
    case OP_MIN:
    case OP_MAX: sm_extreme(s, inst); break;
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_NOT:
    case OP_LOP3: sm_logic(s, inst); break;
    case OP_SHL:
    case OP_SHR:
    case OP_SHF: sm_shift(s, inst); break;
    case OP_MOV: return select_move(s, inst);
    case OP_SELP: sm_choice(s, inst); break;
    default: return sm_bits(s, inst);
    }
    return STATUS_OK;
}

enum status sm_inst(struct selector *s, const struct inst *inst) {
    switch ((enum op)inst->op) {
    case OP_SETP:
        sm_compare(s, inst, &inst->dst[0], (enum boolop)inst->boolop,
                   inst->boolop == BOOL_NONE ? NULL : &inst->src[inst->src_count - 1]);
        return STATUS_OK;
    case OP_CVT: return sm_convert(s, inst);
    case OP_LD:
    case OP_ST:
    case OP_ATOM:
    case OP_RED: return sm_access(s, inst);
    case OP_BAR:
    case OP_BAR_WARP:
    case OP_VOTE:
    case OP_MATCH:
    case OP_SHFL:
    case OP_REDUX:
    case OP_ACTIVEMASK:
    case OP_MEMBAR: return sm_warps(s, inst);
    default: break;
    }
    if (inst->type == TYPE_PRED) {
        sm_predicate(s, inst);
        return STATUS_OK;
    }
    if (is_float_inst(inst))
        return sm_float(s, inst);
    if (inst->dst_count == 2)
        return select_pair(s, inst);
    return select_word_inst(s, inst);
}

/* What registers hold everywhere stays. */
static void begin_block(struct selector *s) {
    unsigned kept = 0;
    for (unsigned i = 0; i < s->numbers.count; i++)
        if (s->numbers.items[i].block == 0)
            s->numbers.items[kept++] = s->numbers.items[i];
    s->numbers.count = kept, kept = 0;
    for (unsigned i = 0; i < s->tuples.count; i++)
        if (s->tuples.items[i].block == 0)
            s->tuples.items[kept++] = s->tuples.items[i];
    s->tuples.count = kept;
    s->carry = NO_UNIT;
}

/* Vectors of four words lie side by side before pairs of their words do. */
static void group_vectors(struct selector *s) {
    for (uint32_t b = 0; b < s->body->blocks.count; b++)
        for (unsigned i = 0; i < s->body->blocks.items[b].code.count; i++) {
            const struct inst *inst = &s->body->blocks.items[b].code.items[i];
            const bool loads = inst->op == OP_LD && inst->dst_count == 4,
                       stores = inst->op == OP_ST && inst->src_count == 6;
            uint32_t units[4];
            bool is_known = !loads && !stores;
            for (unsigned k = 0; k < 4 && !is_known; k++) {
                const struct operand *operand = loads ? &inst->dst[k] : &inst->src[2 + k];
                is_known = operand->kind != OPERAND_REG || s->facts[operand->reg].kind != FACT_NONE;
                units[k] = operand->reg;
            }
            if (!is_known)
                machine_group(s->machine, units, 4);
        }
}

/* What is loaded before all goes before the first block's code. */
static void put_prologue(struct selector *s) {
    struct machine_block *first = &s->machine->blocks.items[0];
    const struct machine_block old = *first;
    first->code.items = NULL, first->code.count = first->code.capacity = 0;
    for (unsigned i = 0; i < s->prologue.count; i++)
        *ARENA_PUSH(s->machine->arena, &first->code) = s->prologue.items[i];
    for (unsigned i = 0; i < old.code.count; i++)
        *ARENA_PUSH(s->machine->arena, &first->code) = old.code.items[i];
}

/* Whether a block reads the carry of another. */
static bool carries_cross(const struct body *body) {
    for (uint32_t b = 0; b < body->blocks.count; b++)
        for (unsigned i = 0; i < body->blocks.items[b].code.count; i++) {
            const struct inst *inst = &body->blocks.items[b].code.items[i];
            const bool is_sum = inst->op == OP_ADD || inst->op == OP_SUB;
            if (is_sum && inst->flags & FLAG_CARRY_IN)
                return true;
            if (is_sum && inst->flags & FLAG_CARRY_OUT)
                break;
        }
    return false;
}

static void prepare(struct selector *s) {
    group_vectors(s);
    s->carry_kept = carries_cross(s->body) ? machine_unit(s->machine, true) : NO_UNIT;
}

static void keep_carry(struct selector *s) {
    struct machine_inst *made = machine_turing(s->machine, s->block, TURING_PLOP3, s->source->at);
    machine_put_unit(made, 0, s->carry_kept);
    sm_put_test(made, 2, &(struct operand){.kind = OPERAND_REG, .reg = s->carry, .negated = s->carry_inverted});
    machine_put_number(made, 5, 0xf0);
    machine_put_number(made, 6, 0);
}

static void end_block(struct selector *s) {
    if (s->pass && s->carry != NO_UNIT && s->carry_kept != NO_UNIT && s->carry != s->carry_kept)
        keep_carry(s);
    struct machine_block *made = &s->machine->blocks.items[s->block];
    made->predicate = s->source->end == END_BRANCH ? s->source->predicate : NO_UNIT;
    made->negated = s->source->negated;
}

enum status select_turing(const struct body *body, struct machine_kernel *machine) {
    static const struct select_ops ops = {.fact = fact_of,
                                          .inst = sm_inst,
                                          .begin = begin_block,
                                          .end = end_block,
                                          .prepare = prepare,
                                          .finish = put_prologue};
    return select_body(body, machine, &ops, NULL);
}
