/* SPDX-License-Identifier: Apache-2.0 */
/* Sums, products and extremes of 32-bit integers for sm_75 on. */
#include "lower/select_turing.h"

/* ---- sums ---- */

static bool is_plain_sum(const struct inst *inst) {
    return inst && !type_is_float((enum type)inst->type) && inst->dst_count == 1 &&
           !(inst->flags & (FLAG_CARRY_IN | FLAG_CARRY_OUT | FLAG_SAT)) && inst->type != TYPE_PRED;
}

static struct source minus(struct source source) {
    if (source.kind == SOURCE_IMMEDIATE)
        source.value = 0 - source.value;
    else if (source.kind != SOURCE_ZERO)
        source.negated = !source.negated;
    return source;
}

/* The sum or difference that makes an operand, if it may be part of another. */
static const struct inst *inner_sum(const struct selector *s, const struct operand *operand) {
    const struct inst *sum = select_single(s, operand, OP_ADD);
    sum = sum ? sum : select_single(s, operand, OP_SUB);
    return is_plain_sum(sum) ? sum : NULL;
}

/* (x << n) + b, x * y + b */
static bool scaled_sum(struct selector *s, const struct inst *inst) {
    for (unsigned i = 0; i < 2 && inst->op == OP_ADD; i++) {
        const struct operand *one = &inst->src[i], *other = &inst->src[1 - i];
        const struct inst *shift = select_single(s, one, OP_SHL);
        if (shift && shift->src[1].kind == OPERAND_IMM && shift->src[1].imm <= 31 && shift->dst_count == 1) {
            select_take(s, shift);
            const struct source a = sm_register(s, &shift->src[0]), b = sm_plain(s, other);
            struct machine_inst *made = sm_emit_to(s, TURING_LEA, inst, inst->dst[0].reg);
            sm_put(made, 2, &a);
            sm_put(made, 3, &b);
            machine_put_number(made, 5, (int64_t)shift->src[1].imm);
            return true;
        }
        const struct inst *product = select_single(s, one, OP_MUL);
        if (product && is_plain_sum(product) && product->mode != MODE_HI) {
            select_take(s, product);
            struct source a = sm_plain(s, &product->src[0]), b = sm_plain(s, &product->src[1]), c = sm_plain(s, other);
            sm_fit(s, &a, &b, &c, true);
            struct machine_inst *made = sm_emit_to(s, TURING_IMAD, inst, inst->dst[0].reg);
            sm_put(made, 2, &a);
            sm_put(made, 3, &b);
            sm_put(made, 4, &c);
            return true;
        }
    }
    return false;
}

void sm_sum(struct selector *s, const struct inst *inst) {
    if (scaled_sum(s, inst))
        return;
    struct source terms[3] = {{.kind = SOURCE_ZERO}, {.kind = SOURCE_ZERO}, {.kind = SOURCE_ZERO}};
    unsigned count = 0;
    for (unsigned i = 0; i < 2; i++) {
        const bool is_minus = i == 1 && inst->op == OP_SUB;
        const struct inst *inner = count == i ? inner_sum(s, &inst->src[i]) : NULL;
        if (inner) {
            select_take(s, inner);
            for (unsigned k = 0; k < 2; k++) {
                const struct source term = sm_plain(s, &inner->src[k]);
                terms[count++] = is_minus != (k == 1 && inner->op == OP_SUB) ? minus(term) : term;
            }
        } else {
            const struct source term = sm_plain(s, &inst->src[i]);
            terms[count++] = is_minus ? minus(term) : term;
        }
    }
    for (unsigned i = 0; i < 2 && !(terms[0].kind == SOURCE_UNIT); i++) { /* the first is a register */
        const struct source held = terms[0];
        terms[0] = terms[i + 1], terms[i + 1] = held;
    }
    sm_fit(s, &terms[0], &terms[1], &terms[2], false);
    struct machine_inst *made = sm_emit_to(s, TURING_IADD3, inst, inst->dst[0].reg);
    for (unsigned i = 0; i < 3; i++)
        sm_put(made, 3 + i, &terms[i]);
}

/* Sums that give or take the carry of PTX. Of a difference the predicate holds the complement of the borrow. */
enum status sm_carried(struct selector *s, const struct inst *inst) {
    const bool takes = (inst->flags & FLAG_CARRY_IN) != 0, is_minus = inst->op == OP_SUB;
    if (takes &&
        s->carry == NO_UNIT) /* of another block; the first pass goes backwards, and what it makes is dropped */
        s->carry = s->pass ? s->carry_kept : machine_unit(s->machine, true), s->carry_inverted = false;
    struct source a = sm_plain(s, &inst->src[0]), b = sm_plain(s, &inst->src[1]), zero = sm_number(0);
    if (is_minus && !sm_is_simple(&b))
        b = sm_in_register(s, b, NULL);
    if (is_minus && b.kind == SOURCE_ZERO) { /* so that it can be negated, and gives a carry */
        b = sm_unit(machine_unit(s->machine, false));
        struct machine_inst *move = machine_turing(s->machine, s->block, TURING_MOV, inst);
        machine_put_unit(move, 0, b.unit);
    }
    sm_fit(s, &a, &b, &zero, !is_minus);
    b.negated = is_minus && !takes, b.inverted = is_minus && takes;
    const uint32_t before = s->carry;
    const bool before_inverted = s->carry_inverted;
    if (inst->flags & FLAG_CARRY_OUT)
        s->carry = machine_unit(s->machine, true), s->carry_inverted = is_minus;
    struct machine_inst *made = sm_emit_to(s, TURING_IADD3, inst, inst->dst[0].reg);
    if (inst->flags & FLAG_CARRY_OUT)
        machine_put_unit(made, 1, s->carry);
    sm_put(made, 3, &a);
    sm_put(made, 4, &b);
    if (takes) {
        sm_word(made, TURING_WORDS_X, 1);
        sm_put_test(made, 6,
                    &(struct operand){.kind = OPERAND_REG, .reg = before, .negated = before_inverted != is_minus});
    }
    return STATUS_OK;
}

/* ---- products, extremes ---- */

void sm_multiply(struct selector *s, const struct inst *inst) {
    struct source a = sm_plain(s, &inst->src[0]), b = sm_plain(s, &inst->src[1]);
    struct source c = inst->op == OP_MAD ? sm_plain(s, &inst->src[2]) : sm_number(0);
    sm_fit(s, &a, &b, &c, true);
    const bool high = inst->mode == MODE_HI;
    struct machine_inst *made = sm_emit_to(s, high ? TURING_IMAD_HI : TURING_IMAD, inst, inst->dst[0].reg);
    sm_put(made, 2, &a);
    sm_put(made, 3, &b);
    sm_put(made, 4, &c);
    sm_word(made, TURING_WORDS_SIGNED, !high || inst->type == TYPE_S32);
}

/* Sums of products of bytes, or of halves and bytes. */
void sm_dot_product(struct selector *s, const struct inst *inst) {
    const bool is_two = inst->op == OP_DP2A;
    struct source a = sm_register(s, &inst->src[0]), b = sm_plain(s, &inst->src[1]);
    const struct source c = sm_register(s, &inst->src[2]);
    struct machine_inst *made = sm_emit_to(s, TURING_IDP, inst, inst->dst[0].reg);
    sm_put(made, 1, &a);
    sm_put(made, 2, &b);
    sm_put(made, 3, &c);
    sm_word(made, TURING_WORDS_DOT, is_two);
    sm_word(made, TURING_WORDS_BITS_8_16, is_two);
    sm_word(made, TURING_WORDS_SIGN, type_is_signed((enum type)inst->type));
    sm_word(made, TURING_WORDS_BYTE, type_is_signed((enum type)inst->stype));
    if (is_two)
        sm_word(made, TURING_WORDS_LO_HI, inst->mode == MODE_HI);
    else
        made->turing->modifiers[1] = TURING_NO_WORD; /* which bytes */
}

void sm_extreme(struct selector *s, const struct inst *inst) {
    struct source a = sm_plain(s, &inst->src[0]), b = sm_plain(s, &inst->src[1]), zero = sm_number(0);
    sm_fit(s, &a, &b, &zero, true);
    struct machine_inst *made = sm_emit_to(s, TURING_IMNMX, inst, inst->dst[0].reg);
    sm_put(made, 1, &a);
    sm_put(made, 2, &b);
    sm_put_test(made, 3, &(struct operand){.kind = OPERAND_IMM, .imm = inst->op == OP_MIN});
    sm_word(made, TURING_WORDS_SIGNED, inst->type == TYPE_S32);
}

/* ---- shifts ---- */

static void shift_word(struct selector *s, const struct inst *inst, const struct source sources[3], unsigned type,
                       bool is_high) {
    struct source a = sources[0], n = sources[1], b = sources[2];
    sm_fit(s, &a, &n, &b, false);
    struct machine_inst *made = sm_emit_to(s, TURING_SHF, inst, inst->dst[0].reg);
    sm_put(made, 1, &a);
    sm_put(made, 2, &n);
    sm_put(made, 3, &b);
    sm_word(made, TURING_WORDS_SHIFT_TYPE, type);
    sm_word(made, TURING_WORDS_HI, is_high);
    const bool right = inst->op == OP_SHR || inst->mode == MODE_RIGHT_CLAMP || inst->mode == MODE_RIGHT_WRAP;
    sm_word(made, TURING_WORDS_DIRECTION, right);
    sm_word(made, TURING_WORDS_W, inst->mode == MODE_LEFT_WRAP || inst->mode == MODE_RIGHT_WRAP);
}

/* A shift to the right is the upper word of one of a pair. A funnel's clamped shift to the left has no more than 32 places. */
void sm_shift(struct selector *s, const struct inst *inst) {
    enum { S64, U64, S32, U32 };
    const struct source zero = sm_number(0), a = sm_plain(s, &inst->src[0]), b = sm_plain(s, &inst->src[1]);
    if (inst->op == OP_SHF) {
        const bool left = inst->mode == MODE_LEFT_CLAMP || inst->mode == MODE_LEFT_WRAP;
        shift_word(s, inst, (struct source[3]){a, sm_plain(s, &inst->src[2]), b}, U32, left);
    } else if (inst->op == OP_SHL) {
        shift_word(s, inst, (struct source[3]){a, b, zero}, U32, false);
    } else {
        shift_word(s, inst, (struct source[3]){zero, b, a}, inst->type == TYPE_S32 ? S32 : U32, true);
    }
}
