/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons, choices and logic of predicates for sm_75 on. */
#include "lower/select_turing.h"

static unsigned compare_word(enum compare compare) {
    switch (compare) {
    case CMP_EQ: return TURING_COMPARE_EQ;
    case CMP_NE: return TURING_COMPARE_NE;
    case CMP_LT: return TURING_COMPARE_LT;
    case CMP_LE: return TURING_COMPARE_LE;
    case CMP_GT: return TURING_COMPARE_GT;
    case CMP_GE: return TURING_COMPARE_GE;
    case CMP_EQU: return TURING_COMPARE_EQ + TURING_COMPARE_UNORDERED;
    case CMP_NEU: return TURING_COMPARE_NE + TURING_COMPARE_UNORDERED;
    case CMP_LTU: return TURING_COMPARE_LT + TURING_COMPARE_UNORDERED;
    case CMP_LEU: return TURING_COMPARE_LE + TURING_COMPARE_UNORDERED;
    case CMP_GTU: return TURING_COMPARE_GT + TURING_COMPARE_UNORDERED;
    case CMP_GEU: return TURING_COMPARE_GE + TURING_COMPARE_UNORDERED;
    case CMP_NAN: return TURING_COMPARE_UNORDERED;
    default: return TURING_COMPARE_NUM;
    }
}

static unsigned bool_word(enum boolop boolop) { return boolop == BOOL_OR ? 1 : boolop == BOOL_XOR ? 2 : 0; }

/* Places of ISETP, FSETP and DSETP: two predicates, two sources, a predicate. */
static void finish(struct machine_inst *made, const struct operand *d, enum boolop boolop, const struct operand *with) {
    if (d->kind == OPERAND_REG)
        machine_put_unit(made, 0, d->reg);
    if (with)
        sm_put_test(made, 4, with);
    sm_word(made, TURING_WORDS_BOOL, bool_word(boolop));
}

static struct source with_signs(struct source source, const struct source *signs) {
    if (source.kind == SOURCE_IMMEDIATE && signs->absolute)
        source.value &= 0x7fffffff;
    if (source.kind == SOURCE_IMMEDIATE && signs->negated)
        source.value ^= 0x80000000;
    if (source.kind != SOURCE_IMMEDIATE)
        source.negated = signs->negated, source.absolute = signs->absolute;
    return source;
}

/* Whether a quotient needs more than Newton's steps. */
static void check_quotient(struct selector *s, const struct inst *inst, const struct operand *d) {
    const struct source a = sm_register(s, &inst->src[0]), b = sm_plain(s, &inst->src[1]);
    struct machine_inst *made = sm_emit(s, TURING_FCHK, inst);
    machine_put_unit(made, 0, d->reg);
    sm_put(made, 1, &a);
    sm_put(made, 2, &b);
}

static struct machine_inst *compare_words(struct selector *s, const struct inst *inst) {
    const bool is_float = inst->type == TYPE_F32;
    struct source signs[2] = {{.kind = SOURCE_ZERO}, {.kind = SOURCE_ZERO}};
    struct operand operands[2] = {inst->src[0], inst->src[1]};
    struct source sources[2];
    for (unsigned i = 0; i < 2; i++) {
        if (is_float)
            operands[i] = sm_signs(s, operands[i], &signs[i]);
        sources[i] = with_signs(sm_plain(s, &operands[i]), &signs[i]);
    }
    enum compare compare = (enum compare)inst->compare;
    if (!sm_is_simple(&sources[0]) && sm_is_simple(&sources[1])) {
        const struct source held = sources[0];
        sources[0] = sources[1], sources[1] = held;
        compare = select_mirrored(compare);
    }
    sources[0] = sm_in_register(s, sources[0], NULL);
    struct machine_inst *made = sm_emit(s, is_float ? TURING_FSETP : TURING_ISETP, inst);
    sm_put(made, 2, &sources[0]);
    sm_put(made, 3, &sources[1]);
    if (is_float)
        sm_word(made, TURING_WORDS_COMPARE_FLOAT, compare_word(compare));
    else
        sm_word(made, TURING_WORDS_COMPARE, compare_word(compare));
    sm_word(made, TURING_WORDS_SIGNED, inst->type == TYPE_S32);
    sm_word(made, TURING_WORDS_FTZ, (inst->flags & FLAG_FTZ) != 0);
    return made;
}

/* The upper words decide, and where they are equal what was found of the lower ones. */
static struct machine_inst *compare_pairs(struct selector *s, const struct inst *inst) {
    const uint32_t below = machine_unit(s->machine, true);
    struct machine_inst *made = NULL;
    struct source a[2] = {sm_plain(s, &inst->src[0]), sm_plain(s, &inst->src[1])};
    struct source b[2] = {sm_plain(s, &inst->src[2]), sm_plain(s, &inst->src[3])};
    enum compare compare = (enum compare)inst->compare;
    const bool turns = !(sm_is_simple(&a[0]) && sm_is_simple(&a[1])) && sm_is_simple(&b[0]) && sm_is_simple(&b[1]);
    for (unsigned i = 0; i < 2 && turns; i++) {
        const struct source held = a[i];
        a[i] = b[i], b[i] = held;
    }
    compare = turns ? select_mirrored(compare) : compare;
    for (unsigned i = 0; i < 2; i++) {
        a[i] = sm_in_register(s, a[i], NULL);
        made = sm_emit(s, TURING_ISETP, inst);
        sm_put(made, 2, &a[i]);
        sm_put(made, 3, &b[i]);
        sm_word(made, TURING_WORDS_COMPARE, compare_word(compare));
        sm_word(made, TURING_WORDS_SIGNED, i && inst->type == TYPE_S64);
        sm_word(made, TURING_WORDS_EX, i);
        if (i)
            sm_put_test(made, 5, &(struct operand){.kind = OPERAND_REG, .reg = below});
        else
            machine_put_unit(made, 0, below);
    }
    return made;
}

static struct machine_inst *compare_doubles(struct selector *s, const struct inst *inst) {
    const uint32_t a = sm_tuple_of(s, inst, &inst->src[0], 2), b = sm_tuple_of(s, inst, &inst->src[2], 2);
    struct machine_inst *made = sm_emit(s, TURING_DSETP, inst);
    sm_put_tuple(made, 2, a, 2);
    sm_put_tuple(made, 3, b, 2);
    sm_word(made, TURING_WORDS_COMPARE_DOUBLE, compare_word((enum compare)inst->compare));
    return made;
}

void sm_compare(struct selector *s, const struct inst *inst, const struct operand *d, enum boolop boolop,
                const struct operand *with) {
    if (inst->compare == CMP_FAR) {
        check_quotient(s, inst, d);
        return;
    }
    struct machine_inst *made = inst->type == TYPE_F16X2                           ? sm_compare_halves(s, inst)
                                : inst->type == TYPE_F64                           ? compare_doubles(s, inst)
                                : inst->type == TYPE_U64 || inst->type == TYPE_S64 ? compare_pairs(s, inst)
                                                                                   : compare_words(s, inst);
    if (inst->type == TYPE_F16X2)
        sm_word(made, TURING_WORDS_COMPARE_FLOAT, compare_word((enum compare)inst->compare));
    finish(made, d, boolop, with);
}

/* Whether an instruction reads a register, itself or through what may become a part of it. */
static bool reads_deep(const struct selector *s, const struct inst *inst, uint32_t reg) {
    for (unsigned i = 0; i < inst->src_count; i++) {
        const struct operand *operand = &inst->src[i];
        if (operand->kind != OPERAND_REG)
            continue;
        const bool is_part = s->facts[operand->reg].reads == 1 && s->facts[operand->reg].definitions == 1 &&
                             s->maker_of[operand->reg] == s->block + 1 && s->maker[operand->reg] < s->at;
        if (operand->reg == reg || (is_part && reads_deep(s, &s->source->code.items[s->maker[operand->reg]], reg)))
            return true;
    }
    return false;
}

/* A value that one side alone makes is made under a guard, in the place of the other's. That is there first: what is made must
 * not need what was there before. */
static bool guarded_choice(struct selector *s, const struct inst *inst) {
    static const uint16_t ops[] = {OP_ADD, OP_SUB, OP_SHL, OP_SHR, OP_AND, OP_OR, OP_XOR, OP_MUL, OP_MAD};
    const uint32_t d = inst->dst[0].reg;
    for (unsigned side = 0; side < 2 && inst->guard < 0 && inst->src[2].kind == OPERAND_REG; side++) {
        const struct inst *inner = NULL;
        for (unsigned i = 0; i < sizeof ops / sizeof *ops && !inner; i++)
            inner = select_single(s, &inst->src[side], (enum op)ops[i]);
        if (!inner || inner->type == TYPE_PRED || inner->flags & (FLAG_CARRY_IN | FLAG_CARRY_OUT))
            continue;
        const struct operand *other = &inst->src[1 - side];
        const bool is_there = other->kind == OPERAND_REG && other->reg == d;
        if (!is_there && reads_deep(s, inner, d))
            continue;
        select_take(s, inner);
        const struct source old = sm_plain(s, other);
        if (!is_there)
            sm_move(s, inst, d, &old);
        struct inst guarded = *inner;
        guarded.dst = inst->dst;
        guarded.guard = (int32_t)inst->src[2].reg, guarded.guard_negated = inst->src[2].negated != (side == 1);
        struct inst *kept = ARENA_NEW(s->machine->arena, struct inst);
        *kept = guarded;
        return sm_inst(s, kept) == STATUS_OK;
    }
    return false;
}

/* c ? a : b */
void sm_choice(struct selector *s, const struct inst *inst) {
    if (guarded_choice(s, inst))
        return;
    struct operand c = inst->src[2];
    struct source a = sm_plain(s, &inst->src[0]), b = sm_plain(s, &inst->src[1]);
    if (!sm_is_simple(&a) && sm_is_simple(&b)) {
        const struct source held = a;
        a = b, b = held;
        c.negated = !c.negated;
    }
    a = sm_in_register(s, a, NULL);
    struct machine_inst *made = sm_emit_to(s, TURING_SEL, inst, inst->dst[0].reg);
    sm_put(made, 1, &a);
    sm_put(made, 2, &b);
    sm_put_test(made, 3, &c);
}

/* ---- logic of predicates ---- */

static enum boolop bool_of(enum op op) { return op == OP_AND ? BOOL_AND : op == OP_OR ? BOOL_OR : BOOL_XOR; }

static unsigned combine(enum op op, unsigned a, unsigned b) {
    return op == OP_AND ? a & b : op == OP_OR ? a | b : a ^ b;
}

static void emit_table(struct selector *s, const struct inst *inst, const struct operand sources[3], unsigned table) {
    struct machine_inst *made = sm_emit(s, TURING_PLOP3, inst);
    machine_put_unit(made, 0, inst->dst[0].reg);
    for (unsigned i = 0; i < 3; i++)
        sm_put_test(made, 2 + i, &sources[i]);
    machine_put_number(made, 5, table);
    machine_put_number(made, 6, 0);
}

/* With the comparison that made one of them, or up to three at once. */
void sm_predicate(struct selector *s, const struct inst *inst) {
    enum { A = 0xf0, B = 0xcc, C = 0xaa };
    const struct operand yes = {.kind = OPERAND_IMM, .imm = 1};
    if (inst->op == OP_MOV || inst->op == OP_NOT) {
        emit_table(s, inst, (struct operand[3]){inst->src[0], yes, yes}, inst->op == OP_NOT ? 0xff & ~A : A);
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        const struct operand *one = &inst->src[i], *other = &inst->src[1 - i];
        const struct inst *compare = one->negated ? NULL : select_single(s, one, OP_SETP);
        if (compare && compare->boolop == BOOL_NONE && other->kind != OPERAND_IMM && compare->compare != CMP_FAR) {
            select_take(s, compare);
            sm_compare(s, compare, &inst->dst[0], bool_of((enum op)inst->op), other);
            return;
        }
    }
    static const uint16_t logic[] = {OP_AND, OP_OR, OP_XOR};
    for (unsigned n = 0; n < 6; n++) {
        const struct operand *one = &inst->src[n % 2], *other = &inst->src[1 - n % 2];
        const struct inst *inner = select_single(s, one, (enum op)logic[n / 2]);
        if (inner && inner->type == TYPE_PRED) {
            select_take(s, inner);
            const unsigned first = combine((enum op)inner->op, A, B), whole = one->negated ? 0xff & ~first : first;
            emit_table(s, inst, (struct operand[3]){inner->src[0], inner->src[1], *other},
                       combine((enum op)inst->op, whole, C));
            return;
        }
    }
    emit_table(s, inst, (struct operand[3]){inst->src[0], inst->src[1], yes}, combine((enum op)inst->op, A, B));
}
