/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and products of integers of sm_75 to sm_90 in the internal form. Carries are predicates: a sum of three has two of them, and
 * -x is ~x with a carry, so that what goes out of it is that of a subtraction. */
#include "translate/turing_integer.h"

/* ---- sums ---- */

static bool is_none(struct operand operand) { return operand.kind == OPERAND_NONE; }

static bool is_register(struct operand operand, struct operand of) {
    return operand.kind == OPERAND_REG && of.kind == OPERAND_REG && operand.reg < of.reg + operand_registers(&of) &&
           of.reg < operand.reg + operand_registers(&operand);
}

bool turing_is_number(struct operand operand, uint64_t value) {
    return operand.kind == OPERAND_IMM && !operand.symbol && operand.imm == value;
}

/* What is added to a: ~b where it is inverted, and a carry, a predicate or a number. */
struct carried_sum {
    struct operand a, b, carry;
    bool inverted;
};

static void put_value(struct translation *t, enum type type, struct operand d, const struct carried_sum *sum) {
    const bool none = turing_is_number(sum->carry, 0), one = turing_is_number(sum->carry, 1);
    if (sum->inverted && one)
        translate_2(t, (struct operation){.op = OP_SUB, .type = type}, d, sum->a, sum->b);
    else if (sum->inverted || !none)
        translate_3(t,
                    (struct operation){.op = OP_ADDP, .type = type, .mode = sum->inverted ? MODE_INVERTED : MODE_NONE},
                    d, sum->a, sum->b, sum->carry);
    else if (turing_is_number(sum->a, 0) || turing_is_number(sum->b, 0))
        translate_1(t, (struct operation){.op = OP_MOV, .type = type}, d,
                    turing_is_number(sum->b, 0) ? sum->a : sum->b);
    else
        translate_2(t, (struct operation){.op = OP_ADD, .type = type}, d, sum->a, sum->b);
}

static void put_carry(struct translation *t, enum type type, struct operand out, const struct carried_sum *sum) {
    translate_3(t, (struct operation){.op = OP_CARRY, .type = type, .mode = sum->inverted ? MODE_INVERTED : MODE_NONE},
                out, sum->a, sum->b, sum->carry);
}

/* d and out may be none. Whichever may go first does: the value may be written over a source, the carry over the guard or the
 * carry that comes in. */
static void put_sum(struct translation *t, enum type type, struct operand d, struct operand out,
                    const struct carried_sum *sum) {
    const bool value_spoils = is_register(d, sum->a) || is_register(d, sum->b);
    const bool carry_spoils = (out.kind == OPERAND_REG && (int32_t)out.reg == t->guard) || is_register(out, sum->carry);
    if (is_none(out)) {
        put_value(t, type, d, sum);
    } else if (is_none(d)) {
        put_carry(t, type, out, sum);
    } else if (!value_spoils) {
        put_value(t, type, d, sum);
        put_carry(t, type, out, sum);
    } else {
        const struct operand early = carry_spoils ? translate_test(t) : out;
        put_carry(t, type, early, sum);
        put_value(t, type, d, sum);
        if (carry_spoils)
            turing_put_predicate(t, out, early);
    }
}

struct addend {
    struct operand value;
    bool inverted, negated;
};

static struct addend addend(struct translation *t, unsigned n, enum type type) {
    const struct turing_operand *operand = turing_operand(t, n);
    return (struct addend){turing_plain(t, n, type), operand->inverted, operand->negated};
}

/* At most two carries go in, and two out: at least one, at least two. */
struct chain {
    struct addend addends[3];
    struct operand carries[2], outs[2];
    unsigned count, carry_count;
};

/* early: the carries of each step. */
static void put_outs(struct translation *t, const struct chain *chain, const struct operand *early) {
    enum { ANY_OF_THREE = 0xfe, TWO_OF_THREE = 0xe8 };
    const bool second_first = chain->outs[0].kind == OPERAND_REG && (int32_t)chain->outs[0].reg == t->guard;
    for (unsigned i = 0; i < 2; i++) {
        const unsigned n = i ^ second_first;
        const struct operand sources[4] = {early[0], early[1], early[2],
                                           translate_number(n ? TWO_OF_THREE : ANY_OF_THREE)};
        if (!is_none(chain->outs[n]))
            translate_put(t, &(struct operation){.op = OP_LOP3, .type = TYPE_PRED}, &chain->outs[n], 1, sources, 4);
    }
}

/* One addition for each addend behind the first, and for each carry. */
static void put_chain(struct translation *t, enum type type, struct operand d, struct chain *chain) {
    const bool has_outs = !is_none(chain->outs[0]) || !is_none(chain->outs[1]);
    struct operand sum = translate_number(0), early[3] = {sum, sum, sum};
    for (unsigned i = 0; i < chain->count; i++)
        if (!chain->addends[i].inverted && !chain->addends[i].negated) {
            sum = chain->addends[i].value;
            chain->addends[i] = chain->addends[--chain->count];
            break;
        }
    unsigned steps = chain->count > chain->carry_count ? chain->count : chain->carry_count;
    steps = steps ? steps : 1;
    const bool direct = steps == 1 && is_none(chain->outs[1]);
    for (unsigned i = 0; i < steps; i++) {
        const struct addend next = i < chain->count ? chain->addends[i] : (struct addend){.value = translate_number(0)};
        const struct carried_sum part = {.a = sum,
                                         .b = next.value,
                                         .inverted = next.inverted || next.negated,
                                         .carry = next.negated             ? translate_number(1)
                                                  : i < chain->carry_count ? chain->carries[i]
                                                                           : translate_number(0)};
        sum = i + 1 == steps ? d : translate_room(t, type);
        early[i] = direct || !has_outs ? chain->outs[0] : translate_test(t);
        put_sum(t, type, sum, early[i], &part);
    }
    if (has_outs && !direct)
        put_outs(t, chain, early);
}

/* Of 64 bits, of which only the upper word is kept, if that. Carries that go to the guard wait for it. */
static void put_upper_of_chain(struct translation *t, struct chain *chain, struct operand d) {
    const struct operand wide = translate_wide(t), outs[2] = {chain->outs[0], chain->outs[1]};
    bool waits = false;
    for (unsigned i = 0; i < 2; i++)
        waits |= outs[i].kind == OPERAND_REG && (int32_t)outs[i].reg == t->guard;
    for (unsigned i = 0; i < 2 && waits; i++)
        chain->outs[i] = is_none(outs[i]) ? outs[i] : translate_test(t);
    put_chain(t, TYPE_U64, wide, chain);
    if (!is_none(d))
        translate_move(t, d, translate_register(wide.reg + 1));
    const unsigned first = outs[0].kind == OPERAND_REG && (int32_t)outs[0].reg == t->guard;
    for (unsigned i = 0; i < 2 && waits; i++)
        if (!is_none(outs[i ^ first]))
            turing_put_predicate(t, outs[i ^ first], chain->outs[i ^ first]);
}

static void add_carry_in(struct translation *t, struct chain *chain, unsigned n) {
    bool always;
    const struct operand carry = turing_predicate(t, n, &always);
    if (!turing_is_number(carry, 0))
        chain->carries[chain->carry_count++] = carry;
}

void turing_sum(struct translation *t, bool wide) {
    const enum type type = wide ? TYPE_U64 : TYPE_U32;
    struct chain chain = {.outs = {turing_predicate_target(t, 1), turing_predicate_target(t, 2)}};
    const bool has_outs = !is_none(chain.outs[0]) || !is_none(chain.outs[1]);
    for (unsigned n = 3; n < 6; n++) {
        const struct addend next = addend(t, n, type);
        if (!turing_is_number(next.value, 0) || next.inverted || (next.negated && has_outs))
            chain.addends[chain.count++] = next;
    }
    if (turing_word_of(t, TURING_WORDS_X) && !wide) {
        add_carry_in(t, &chain, 6);
        add_carry_in(t, &chain, 7);
    } else if (turing_word_of(t, TURING_WORDS_X)) {
        translate_refuse(t, ".X of 64 bits");
        return;
    }
    put_chain(t, type, wide ? turing_pair_target(t, 0) : turing_target(t, 0), &chain);
}

/* Of two halves: that of the upper ones ends in what the lower halves have no carry for. */
static void add_pairs(struct translation *t) {
    const struct operand a = turing_source(t, 1, TYPE_B32), b = turing_source(t, 2, TYPE_B32);
    const struct operand low = translate_scratch(t), upper = translate_scratch(t), high = translate_scratch(t);
    const struct operation add = {.op = OP_ADD, .type = TYPE_U32};
    if (turing_operand(t, 1)->negated || turing_operand(t, 2)->negated)
        translate_refuse(t, "a sign of two halves");
    translate_2(t, add, low, a, b);
    translate_2(t, (struct operation){.op = OP_AND, .type = TYPE_B32}, upper, a, translate_number(0xffff0000));
    translate_2(t, add, high, upper, b);
    translate_3(t, (struct operation){.op = OP_PRMT, .type = TYPE_B32}, turing_target(t, 0), low, high,
                translate_number(0x7610));
}

void turing_add(struct translation *t) {
    if (turing_word_of(t, TURING_WORDS_PAIRS)) {
        add_pairs(t);
        return;
    }
    struct chain chain = {.addends = {addend(t, 1, TYPE_U32), addend(t, 2, TYPE_U32)}, .count = 2};
    put_chain(t, TYPE_U32, turing_target(t, 0), &chain);
}

/* ---- shift and add ---- */

/* The word of C:A << n that is added to; C is A's sign with .SX32. */
static struct operand shifted(struct translation *t, unsigned count) {
    const struct operand a = turing_plain(t, 2, TYPE_B32);
    const bool is_high = turing_word_of(t, TURING_WORDS_HI), extends = turing_word_of(t, TURING_WORDS_SX32);
    if (!is_high && count == 0)
        return a;
    const struct operand c = is_high && !extends ? turing_plain(t, 4, TYPE_B32) : translate_number(0);
    if (is_high && !extends && count == 0)
        return c;
    const struct operand out = translate_scratch(t);
    const unsigned right = count ? 32 - count : 31;
    if (!is_high)
        translate_2(t, (struct operation){.op = OP_SHL, .type = TYPE_B32}, out, a, translate_number(count));
    else if (extends || turing_is_number(c, 0))
        translate_2(t, (struct operation){.op = OP_SHR, .type = extends ? TYPE_S32 : TYPE_U32}, out, a,
                    translate_number(right));
    else
        translate_3(t, (struct operation){.op = OP_SHF, .type = TYPE_B32, .mode = MODE_LEFT_WRAP}, out, a, c,
                    translate_number(count));
    return out;
}

/* In one step, and a second for the carry: the sum is below an addend where it took one more bit. False: it takes more. */
static bool put_shift_add(struct translation *t, struct operand d, struct operand b, struct operand out,
                          unsigned count) {
    const bool has_words = turing_word_of(t, TURING_WORDS_HI) || turing_word_of(t, TURING_WORDS_X);
    const bool has_sign = turing_operand(t, 2)->negated || turing_operand(t, 3)->negated;
    const bool spoils = is_none(d) || is_register(d, b);
    if (has_words || has_sign || turing_is_number(b, 0) || (!is_none(out) && spoils))
        return false;
    translate_3(t, (struct operation){.op = OP_SHADD, .type = TYPE_B32}, d, turing_plain(t, 2, TYPE_B32), b,
                translate_number(count));
    if (!is_none(out))
        translate_2(t, (struct operation){.op = OP_SETP, .type = TYPE_U32, .compare = CMP_LT}, out, d, b);
    return true;
}

/* A sign or ~ before A holds for what is shifted. */
void turing_shift_add(struct translation *t) {
    const struct turing_operand *a = turing_operand(t, 2);
    const struct operand d = turing_target(t, 0);
    const unsigned count = (unsigned)turing_operand(t, 5)->value;
    struct chain chain = {.outs = {turing_predicate_target(t, 1)}, .count = 2};
    chain.addends[1] = addend(t, 3, TYPE_U32);
    if (put_shift_add(t, d, chain.addends[1].value, chain.outs[0], count))
        return;
    chain.addends[0] = (struct addend){shifted(t, count), a->inverted, a->negated};
    if (turing_word_of(t, TURING_WORDS_X))
        add_carry_in(t, &chain, 6);
    put_chain(t, TYPE_U32, d, &chain);
}

/* ---- products ---- */

static bool is_zero(const struct translation *t, unsigned n) {
    const struct turing_operand *operand = turing_operand(t, n);
    return (operand->kind == TURING_REGISTER && operand->reg == TURING_RZ) ||
           (operand->kind == TURING_UNIFORM && operand->reg == TURING_URZ) ||
           (operand->kind == TURING_IMMEDIATE && operand->value == 0);
}

static enum type factor_type(const struct translation *t) {
    return turing_word_of(t, TURING_WORDS_SIGNED) ? TYPE_S32 : TYPE_U32;
}

/* Something goes in or out, or C is changed: then the product is one part, the sum others. */
static bool is_chained(const struct translation *t) {
    const struct turing_operand *c = turing_operand(t, 4);
    return turing_word_of(t, TURING_WORDS_X) || !is_none(turing_predicate_target(t, 1)) || c->negated || c->inverted;
}

/* Which product a sign before a factor means shows in the lower word alone. */
static void put_product(struct translation *t, enum mode mode, struct operand d) {
    const enum type type = factor_type(t);
    if (mode != MODE_LO && (turing_operand(t, 2)->negated || turing_operand(t, 3)->negated))
        translate_refuse(t, "a sign before a factor of a wide product");
    const struct operand a = turing_source(t, 2, type), b = turing_source(t, 3, type);
    translate_2(t, (struct operation){.op = OP_MUL, .type = type, .mode = mode}, d, a, b);
}

/* The lower word of A * B. ptxas adds by products with 0 and 1: those need no part. */
static struct operand lower_product(struct translation *t) {
    const struct turing_operand *b = turing_operand(t, 3);
    if (is_zero(t, 2) || is_zero(t, 3))
        return translate_number(0);
    if (b->kind == TURING_IMMEDIATE && b->value == 1 && !b->negated && !turing_operand(t, 2)->negated)
        return turing_plain(t, 2, TYPE_B32);
    const struct operand product = translate_scratch(t);
    put_product(t, MODE_LO, product);
    return product;
}

static struct chain product_chain(struct translation *t, enum type type, struct operand product) {
    struct chain chain = {.outs = {turing_predicate_target(t, 1)}};
    if (!turing_is_number(product, 0))
        chain.addends[chain.count++].value = product;
    chain.addends[chain.count++] = addend(t, 4, type);
    if (turing_word_of(t, TURING_WORDS_X))
        add_carry_in(t, &chain, 5);
    return chain;
}

void turing_multiply_add(struct translation *t) {
    const struct operand d = turing_target(t, 0);
    const enum type type = factor_type(t);
    const struct turing_operand *b = turing_operand(t, 3);
    if (is_chained(t)) {
        struct chain chain = product_chain(t, TYPE_U32, lower_product(t));
        put_chain(t, TYPE_U32, d, &chain);
    } else if (is_zero(t, 2) || is_zero(t, 3)) {
        translate_move(t, d, turing_plain(t, 4, TYPE_B32));
    } else if (is_zero(t, 4)) {
        put_product(t, MODE_LO, d);
    } else if (b->kind == TURING_IMMEDIATE && b->value == 1 && !b->negated && !turing_operand(t, 2)->negated) {
        const struct operand a = turing_plain(t, 2, TYPE_B32);
        translate_2(t, (struct operation){.op = OP_ADD, .type = TYPE_U32}, d, a, turing_plain(t, 4, TYPE_B32));
    } else {
        const struct operand first = turing_source(t, 2, type), second = turing_source(t, 3, type);
        translate_3(t, (struct operation){.op = OP_MAD, .type = type, .mode = MODE_LO}, d, first, second,
                    turing_plain(t, 4, type));
    }
}

void turing_multiply_wide(struct translation *t) {
    const struct operand d = turing_pair_target(t, 0);
    const enum type type = factor_type(t);
    if (is_chained(t)) {
        const struct operand product = translate_wide(t);
        put_product(t, MODE_WIDE, product);
        struct chain chain = product_chain(t, TYPE_U64, product);
        put_chain(t, TYPE_U64, d, &chain);
    } else if (is_zero(t, 4) || turing_operand(t, 2)->negated || turing_operand(t, 3)->negated) {
        put_product(t, MODE_WIDE, d);
    } else {
        const struct operand first = turing_plain(t, 2, type), second = turing_plain(t, 3, type);
        translate_3(t, (struct operation){.op = OP_MAD, .type = type, .mode = MODE_WIDE}, d, first, second,
                    turing_plain(t, 4, TYPE_U64));
    }
}

void turing_multiply_high(struct translation *t) {
    const struct operand d = turing_target(t, 0);
    if (!is_chained(t) && is_zero(t, 4)) {
        put_product(t, MODE_HI, d);
        return;
    }
    const struct operand product = translate_wide(t);
    put_product(t, MODE_WIDE, product);
    struct chain chain = product_chain(t, TYPE_U64, product);
    put_upper_of_chain(t, &chain, d);
}

void turing_dot_product(struct translation *t) {
    const bool is_two = turing_word_of(t, TURING_WORDS_DOT);
    const struct operation operation = {.op = is_two ? OP_DP2A : OP_DP4A,
                                        .type = turing_word_of(t, TURING_WORDS_SIGN) ? TYPE_S32 : TYPE_U32,
                                        .stype = turing_word_of(t, TURING_WORDS_BYTE) ? TYPE_S32 : TYPE_U32,
                                        .mode = !is_two                                 ? MODE_NONE
                                                : turing_word_of(t, TURING_WORDS_LO_HI) ? MODE_HI
                                                                                        : MODE_LO};
    const struct operand a = turing_plain(t, 1, TYPE_B32), b = turing_plain(t, 2, TYPE_B32);
    translate_3(t, operation, turing_target(t, 0), a, b, turing_source(t, 3, TYPE_S32));
}
