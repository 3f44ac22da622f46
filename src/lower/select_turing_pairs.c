/* SPDX-License-Identifier: Apache-2.0 */
/* Words side by side for sm_75 on, and 64-bit integers in pairs of them: sums with carries in predicates, products and sums
 * in one instruction, shifted sums, shifts. */
#include "lower/select_turing.h"

/* ---- tuples ---- */

static struct machine_inst *plain_move(struct selector *s, const struct inst *inst, uint32_t d) {
    struct machine_inst *move = machine_turing(s->machine, s->block, TURING_MOV, inst);
    machine_put_unit(move, 0, d);
    return move;
}

/* A tuple of words that are known is moved into registers once in a block, or before all where the block is in a loop. */
static uint32_t known_tuple(struct selector *s, const struct source *words, unsigned count) {
    const bool is_early = s->pass && s->in_loop[s->block];
    for (unsigned i = 0; i < s->tuples.count; i++) {
        const struct held_tuple *held = &s->tuples.items[i];
        bool same = held->count == count && held->block == (is_early ? 0 : s->block + 1);
        for (unsigned k = 0; k < count && same; k++)
            same = held->words[k].kind == words[k].kind && held->words[k].bank == words[k].bank &&
                   held->words[k].value == words[k].value;
        if (same)
            return held->unit;
    }
    struct held_tuple made = {.block = is_early ? 0 : s->block + 1, .count = count};
    uint32_t units[4];
    for (unsigned i = 0; i < count; i++)
        units[i] = machine_unit(s->machine, false), made.words[i] = words[i];
    machine_group(s->machine, units, count);
    for (unsigned i = 0; i < count; i++)
        sm_load(s, units[i], &words[i], is_early);
    made.unit = units[0];
    *ARENA_PUSH(s->machine->arena, &s->tuples) = made;
    return units[0];
}

/* Units for a tuple of words: as they are where they can lie side by side, else copies. */
uint32_t sm_tuple_of(struct selector *s, const struct inst *inst, const struct operand *operands, unsigned count) {
    uint32_t units[4] = {0};
    struct source words[4];
    bool simple = true, known = true;
    for (unsigned i = 0; i < count; i++) {
        words[i] = sm_plain(s, &operands[i]);
        simple = simple && words[i].kind == SOURCE_UNIT, known = known && words[i].kind != SOURCE_UNIT;
        units[i] = words[i].unit;
    }
    if (simple && machine_group(s->machine, units, count))
        return units[0];
    if (known)
        return known_tuple(s, words, count);
    uint32_t copies[4];
    for (unsigned i = 0; i < count; i++)
        copies[i] = machine_unit(s->machine, false);
    machine_group(s->machine, copies, count);
    for (unsigned i = 0; i < count; i++)
        sm_put(plain_move(s, inst, copies[i]), 1, &words[i]);
    return copies[0];
}

void sm_move_tuple(struct selector *s, const struct inst *inst, const struct operand *operands, unsigned count,
                   uint32_t first) {
    for (unsigned i = 0; i < count; i++) {
        const struct source from = sm_unit(first + i);
        sm_move(s, inst, operands[i].reg, &from);
    }
}

const struct inst *sm_single_pair(const struct selector *s, const struct operand *lo, const struct operand *hi,
                                  enum op op) {
    if (lo->kind != OPERAND_REG || hi->kind != OPERAND_REG)
        return NULL;
    const struct operand *words[2] = {lo, hi};
    for (unsigned i = 0; i < 2; i++) {
        const struct fact *fact = &s->facts[words[i]->reg];
        if (fact->reads != 1 || fact->definitions != 1 || s->maker_of[words[i]->reg] != s->block + 1)
            return NULL;
    }
    const unsigned place = s->maker[lo->reg];
    const struct inst *maker = &s->source->code.items[place];
    if (place >= s->at || s->maker[hi->reg] != place || maker->op != op || maker->guard >= 0 || maker->dst_count != 2 ||
        maker->dst[0].reg != lo->reg || type_is_float((enum type)maker->type))
        return NULL;
    for (unsigned i = place + 1; i < s->at; i++)
        for (unsigned k = 0; k < s->source->code.items[i].dst_count; k++)
            for (unsigned m = 0; m < maker->src_count; m++)
                if (maker->src[m].kind == OPERAND_REG && maker->src[m].reg == s->source->code.items[i].dst[k].reg)
                    return NULL;
    return maker;
}

bool sm_is_unchanged(const struct selector *s, uint32_t reg, unsigned place) {
    for (unsigned i = place + 1; i < s->at; i++)
        for (unsigned k = 0; k < s->source->code.items[i].dst_count; k++)
            if (s->source->code.items[i].dst[k].kind == OPERAND_REG && s->source->code.items[i].dst[k].reg == reg)
                return false;
    return place < s->at;
}

/* ---- sums of pairs ---- */

static bool is_number(const struct source *source) {
    return source->kind == SOURCE_IMMEDIATE || source->kind == SOURCE_ZERO;
}

static struct pair_source pair_of(const struct selector *s, const struct operand *words) {
    return (struct pair_source){sm_plain(s, &words[0]), sm_plain(s, &words[1])};
}

/* As an operand of 64 bits: a constant in its place, else registers side by side. */
static void put_pair(struct selector *s, struct machine_inst *made, unsigned place, const struct source *lo,
                     uint32_t first) {
    (void)s;
    if (first != NO_UNIT)
        sm_put_tuple(made, place, first, 2);
    else
        sm_put(made, place, lo);
}

/* Whether a pair can be an operand as it is: 0, or two words of a bank. */
static bool is_whole(const struct pair_source *pair) {
    return (pair->lo.kind == SOURCE_ZERO && pair->hi.kind == SOURCE_ZERO) ||
           (pair->lo.kind == SOURCE_CONSTANT && pair->hi.kind == SOURCE_CONSTANT && pair->lo.bank == pair->hi.bank &&
            pair->lo.value + 4 == pair->hi.value && pair->lo.value % 8 == 0);
}

/* d = x * y + c of 32-bit factors */
static void multiply_add(struct selector *s, const struct inst *inst, struct source x, struct source y, bool is_signed,
                         const struct operand *c) {
    const struct pair_source sum = c ? pair_of(s, c) : (struct pair_source){sm_number(0), sm_number(0)};
    const uint32_t addend = is_whole(&sum) ? NO_UNIT : sm_tuple_of(s, inst, c, 2);
    struct source third = addend == NO_UNIT ? sum.lo : sm_unit(addend);
    sm_fit(s, &x, &y, &third, true);
    if (third.kind == SOURCE_CONSTANT && !sm_is_simple(&y))
        y = sm_in_register(s, y, NULL);
    bool copied;
    const uint32_t d = select_tuple_for(s, inst->dst, 2, &copied);
    struct machine_inst *made = sm_emit(s, TURING_IMAD_WIDE, inst);
    sm_put_tuple(made, 0, d, 2);
    sm_put(made, 2, &x);
    sm_put(made, 3, &y);
    put_pair(s, made, 4, &third, addend);
    sm_word(made, TURING_WORDS_SIGNED, is_signed);
    if (copied)
        sm_move_tuple(s, inst, inst->dst, 2, d);
}

/* The word that a pair extends to 64 bits; false: it is none. What nobody else reads of the extension is taken. */
static bool extended(struct selector *s, const struct operand *words, struct operand *word, bool *is_signed) {
    *word = words[0], *is_signed = false;
    if (sm_plain(s, &words[1]).kind == SOURCE_ZERO)
        return true;
    if (words[0].kind != OPERAND_REG || words[1].kind != OPERAND_REG || s->facts[words[1].reg].definitions != 1 ||
        s->facts[words[0].reg].definitions != 1 || s->maker_of[words[1].reg] != s->block + 1)
        return false;
    const struct inst *shift = &s->source->code.items[s->maker[words[1].reg]];
    if (shift->op != OP_SHR || shift->type != TYPE_S32 || shift->dst_count != 1 || shift->guard >= 0 ||
        !operand_is_immediate(&shift->src[1], 31) || shift->src[0].kind != OPERAND_REG)
        return false;
    const struct inst *copy = NULL;
    if (shift->src[0].reg != words[0].reg) {
        if (s->maker_of[words[0].reg] != s->block + 1)
            return false;
        copy = &s->source->code.items[s->maker[words[0].reg]];
        if (copy->op != OP_MOV || copy->src[0].kind != OPERAND_REG || copy->src[0].reg != shift->src[0].reg ||
            copy->guard >= 0 || !sm_is_unchanged(s, copy->src[0].reg, s->maker[words[0].reg]))
            return false;
    }
    if (!sm_is_unchanged(s, shift->src[0].reg, s->maker[words[1].reg]))
        return false;
    *is_signed = true;
    if (s->facts[words[1].reg].reads == 1)
        select_take(s, shift);
    if (copy && s->facts[words[0].reg].reads == 1) {
        select_take(s, copy);
        *word = copy->src[0];
    }
    return true;
}

/* A wide product, or a pair that is shifted, and a sum. */
static bool fused_sum(struct selector *s, const struct inst *inst) {
    for (unsigned i = 0; i < 2 && inst->op == OP_ADD; i++) {
        const struct operand *one = &inst->src[2 * i], *other = &inst->src[2 - 2 * i];
        const struct inst *product = sm_single_pair(s, &one[0], &one[1], OP_MUL);
        if (product) {
            select_take(s, product);
            const struct source x = sm_plain(s, &product->src[0]), y = sm_plain(s, &product->src[1]);
            multiply_add(s, inst, x, y, product->type == TYPE_S32, other);
            return true;
        }
        struct operand word;
        bool is_signed;
        if (one[1].kind == OPERAND_REG && s->facts[one[1].reg].reads == 1 && sm_plain(s, &one[1]).kind == SOURCE_UNIT &&
            extended(s, one, &word, &is_signed)) {
            multiply_add(s, inst, sm_plain(s, &word), sm_number(1), true, other);
            return true;
        }
        const struct inst *shift = sm_single_pair(s, &one[0], &one[1], OP_SHL);
        if (!shift || shift->src[2].kind != OPERAND_IMM || shift->src[2].imm >= 31)
            continue;
        select_take(s, shift);
        const unsigned n = (unsigned)shift->src[2].imm;
        if (extended(s, shift->src, &word, &is_signed)) {
            const struct source x = sm_plain(s, &word), y = sm_number(1u << n);
            multiply_add(s, inst, x, y, is_signed, other);
            return true;
        }
        const uint32_t carry = machine_unit(s->machine, true);
        const struct source a = sm_register(s, &shift->src[0]), high = sm_register(s, &shift->src[1]);
        const struct source b = sm_plain(s, &other[0]), c = sm_plain(s, &other[1]);
        const bool clashes = a.kind == SOURCE_UNIT && a.unit == inst->dst[0].reg;
        const uint32_t lo = clashes ? machine_unit(s->machine, false) : inst->dst[0].reg;
        struct machine_inst *made = sm_emit_to(s, TURING_LEA, inst, lo);
        machine_put_unit(made, 1, carry);
        sm_put(made, 2, &a);
        sm_put(made, 3, &b);
        machine_put_number(made, 5, n);
        made = sm_emit_to(s, TURING_LEA, inst, inst->dst[1].reg);
        sm_put(made, 2, &a);
        sm_put(made, 3, &c);
        sm_put(made, 4, &high);
        machine_put_number(made, 5, n);
        sm_put_test(made, 6, &(struct operand){.kind = OPERAND_REG, .reg = carry});
        sm_word(made, TURING_WORDS_HI, 1);
        sm_word(made, TURING_WORDS_X, 1);
        const struct source low = sm_unit(lo);
        if (clashes)
            sm_move(s, inst, inst->dst[0].reg, &low);
        return true;
    }
    return false;
}

/* One word of a sum of up to three pairs; carries are given or taken. */
static void sum_word(struct selector *s, const struct inst *inst, unsigned word, const struct pair_source *terms,
                     const uint32_t carries[2]) {
    struct source sources[3];
    for (unsigned i = 0; i < 3; i++)
        sources[i] = word ? terms[i].hi : terms[i].lo;
    for (unsigned i = 0; i < 2 && !sm_is_simple(&sources[0]); i++) { /* the first is a register */
        const struct source held = sources[0];
        sources[0] = sources[i + 1], sources[i + 1] = held;
    }
    sm_fit(s, &sources[0], &sources[1], &sources[2], false);
    struct machine_inst *made = sm_emit_to(s, TURING_IADD3, inst, inst->dst[word].reg);
    for (unsigned i = 0; i < 3; i++)
        sm_put(made, 3 + i, &sources[i]);
    for (unsigned i = 0; i < 2; i++) {
        if (carries[i] == NO_UNIT)
            continue;
        if (word)
            sm_put_test(made, 6 + i, &(struct operand){.kind = OPERAND_REG, .reg = carries[i]});
        else
            machine_put_unit(made, 1 + i, carries[i]);
    }
    sm_word(made, TURING_WORDS_X, word && carries[0] != NO_UNIT);
}

/* a - b: of a number the negative one; else the words negated, with the complement above the carry. */
static struct pair_source negated(struct selector *s, struct pair_source pair) {
    if (is_number(&pair.lo) && is_number(&pair.hi)) {
        const uint64_t lo = pair.lo.kind == SOURCE_ZERO ? 0 : pair.lo.value,
                       hi = pair.hi.kind == SOURCE_ZERO ? 0 : pair.hi.value;
        const uint64_t minus = 0 - (hi << 32 | lo);
        return (struct pair_source){sm_number((uint32_t)minus), sm_number((uint32_t)(minus >> 32))};
    }
    if (pair.lo.kind == SOURCE_ZERO) { /* nothing is borrowed */
        pair.hi.negated = true;
        return pair;
    }
    if (pair.lo.kind == SOURCE_IMMEDIATE)
        pair.lo = sm_in_register(s, pair.lo, NULL);
    if (pair.hi.kind == SOURCE_IMMEDIATE)
        pair.hi = sm_in_register(s, pair.hi, NULL);
    pair.lo.negated = true, pair.hi.inverted = true;
    return pair;
}

void sm_wide_sum(struct selector *s, const struct inst *inst) {
    if (fused_sum(s, inst))
        return;
    struct pair_source terms[3] = {{sm_number(0), sm_number(0)},
                                   pair_of(s, &inst->src[2]),
                                   {sm_number(0), sm_number(0)}};
    unsigned carries = 1;
    const struct inst *inner = inst->op == OP_ADD ? sm_single_pair(s, &inst->src[0], &inst->src[1], OP_ADD) : NULL;
    if (inner && inner->type == TYPE_U64) {
        select_take(s, inner);
        terms[0] = pair_of(s, &inner->src[0]), terms[2] = pair_of(s, &inner->src[2]);
        carries = 2;
    } else {
        terms[0] = pair_of(s, &inst->src[0]);
    }
    if (inst->op == OP_SUB)
        terms[1] = negated(s, terms[1]);
    uint32_t units[2] = {NO_UNIT, NO_UNIT};
    for (unsigned i = 0; i < carries; i++)
        units[i] = machine_unit(s->machine, true);
    if (carries == 1 && terms[1].lo.kind == SOURCE_ZERO)
        units[0] = NO_UNIT;
    sum_word(s, inst, 0, terms, units);
    sum_word(s, inst, 1, terms, units);
}

void sm_wide_product(struct selector *s, const struct inst *inst) {
    multiply_add(s, inst, sm_plain(s, &inst->src[0]), sm_plain(s, &inst->src[1]), inst->type == TYPE_S32, NULL);
}

/* ---- shifts of pairs ---- */

static void funnel(struct selector *s, const struct inst *inst, unsigned word, const struct source sources[3],
                   unsigned type) {
    struct source a = sources[0], n = sources[1], b = sources[2];
    sm_fit(s, &a, &n, &b, false);
    struct machine_inst *made = sm_emit_to(s, TURING_SHF, inst, inst->dst[word].reg);
    sm_put(made, 1, &a);
    sm_put(made, 2, &n);
    sm_put(made, 3, &b);
    sm_word(made, TURING_WORDS_DIRECTION, inst->op == OP_SHR);
    sm_word(made, TURING_WORDS_SHIFT_TYPE, type);
    sm_word(made, TURING_WORDS_HI, word);
}

/* The word that takes bits of both first: it reads what the other writes. */
void sm_wide_shift(struct selector *s, const struct inst *inst) {
    enum { S64, U64, S32, U32 };
    const struct source lo = sm_register(s, &inst->src[0]), hi = sm_register(s, &inst->src[1]);
    const struct source n = sm_plain(s, &inst->src[2]), zero = sm_number(0);
    const bool is_signed = inst->type == TYPE_S64;
    if (inst->op == OP_SHL) {
        funnel(s, inst, 1, (struct source[3]){lo, n, hi}, U64);
        funnel(s, inst, 0, (struct source[3]){lo, n, zero}, U32);
    } else {
        funnel(s, inst, 0, (struct source[3]){lo, n, hi}, is_signed ? S64 : U64);
        funnel(s, inst, 1, (struct source[3]){zero, n, hi}, is_signed ? S32 : U32);
    }
}
