/* SPDX-License-Identifier: Apache-2.0 */
/* What integers, logic, comparisons and moves of sm_75 to sm_90 are in the internal form. Uniform instructions have the meanings of
 * the others. */
#include "translate/turing_integer.h"

static enum type signed_type(const struct translation *t) {
    return turing_word_of(t, TURING_WORDS_SIGNED) ? TYPE_S32 : TYPE_U32;
}

/* ---- moves and selections ---- */

static void move(struct translation *t) {
    enum { WHOLE = 15, MASKED = 0xe4 }; /* lop3: c ? a : b */
    const struct turing_operand *bytes = turing_operand(t, 2);
    const struct operand d = turing_target(t, 0), from = turing_source(t, 1, TYPE_B32);
    if (bytes->kind == TURING_NONE || bytes->value == WHOLE || d.kind == OPERAND_NONE) {
        translate_move(t, d, from);
        return;
    }
    uint32_t mask = 0;
    for (unsigned i = 0; i < 4; i++)
        mask |= bytes->value >> i & 1 ? UINT32_C(0xff) << 8 * i : 0;
    const struct operand sources[4] = {from, d, translate_number(mask), translate_number(MASKED)};
    translate_put(t, &(struct operation){.op = OP_LOP3, .type = TYPE_B32}, &d, 1, sources, 4);
}

static void put_select(struct translation *t, struct operand d, struct operand yes, struct operand no, unsigned n) {
    bool always;
    const struct operand chosen = turing_predicate(t, n, &always);
    if (chosen.kind == OPERAND_IMM)
        translate_move(t, d, always ? yes : no);
    else
        translate_3(t, (struct operation){.op = OP_SELP, .type = TYPE_B32}, d, yes, no, chosen);
}

static void select(struct translation *t) {
    const struct operand a = turing_source(t, 1, TYPE_B32);
    put_select(t, turing_target(t, 0), a, turing_source(t, 2, TYPE_B32), 3);
}

/* ---- extremes ---- */

enum packed { PACKED_U32, PACKED_S32, PACKED_U16X2, PACKED_S16X2 };

static enum packed packed(const struct translation *t) {
    const int word = turing_modifier(t->turing, TURING_WORDS_PACKED);
    return word >= 0 ? (enum packed)word : turing_word_of(t, TURING_WORDS_SIGNED) ? PACKED_S32 : PACKED_U32;
}

/* Of two halves the upper ones decide whatever is below them; the lower ones are shifted up. */
static void put_extreme(struct translation *t, bool largest, struct operand d, struct operand a, struct operand b) {
    const enum packed type = packed(t);
    const struct operation one = {.op = largest ? OP_MAX : OP_MIN,
                                  .type = type == PACKED_S32 || type == PACKED_S16X2 ? TYPE_S32 : TYPE_U32};
    if (type == PACKED_U32 || type == PACKED_S32) {
        translate_2(t, one, d, a, b);
        return;
    }
    const struct operation up = {.op = OP_SHL, .type = TYPE_B32};
    const unsigned used = t->scratch; /* others may have those again */
    const struct operand x = translate_scratch(t), y = translate_scratch(t), high = translate_scratch(t);
    translate_2(t, up, x, a, translate_number(16));
    translate_2(t, up, y, b, translate_number(16));
    translate_2(t, one, x, x, y);
    translate_2(t, one, high, a, b);
    translate_3(t, (struct operation){.op = OP_PRMT, .type = TYPE_B32}, d, x, high, translate_number(0x7632));
    t->scratch = used;
}

static void put_extremes(struct translation *t, bool largest, struct operand d, const struct operand *sources,
                         unsigned count) {
    struct operand so_far = sources[0];
    const bool rectifies = turing_word_of(t, TURING_WORDS_RELU);
    for (unsigned i = 1; i < count; i++) {
        const struct operand next = i + 1 == count && !rectifies ? d : translate_scratch(t);
        put_extreme(t, largest, next, so_far, sources[i]);
        so_far = next;
    }
    if (rectifies)
        put_extreme(t, true, d, so_far, translate_number(0));
}

/* Operand count + 1 says which. */
static void extreme(struct translation *t, unsigned count) {
    struct operand sources[3];
    bool always;
    const struct operand chosen = turing_predicate(t, count + 1, &always), d = turing_target(t, 0);
    for (unsigned i = 0; i < count; i++)
        sources[i] = turing_source(t, 1 + i, TYPE_S32);
    if (chosen.kind == OPERAND_IMM) {
        put_extremes(t, !always, d, sources, count);
        return;
    }
    const struct operand least = translate_scratch(t), largest = translate_scratch(t);
    put_extremes(t, false, least, sources, count);
    put_extremes(t, true, largest, sources, count);
    put_select(t, d, least, largest, count + 1);
}

static void add_extreme(struct translation *t) {
    const struct operand a = turing_source(t, 1, TYPE_S32), b = turing_source(t, 2, TYPE_S32);
    const struct operand c = turing_source(t, 3, TYPE_S32), d = turing_target(t, 0);
    bool always;
    const struct operand chosen = turing_predicate(t, 4, &always);
    const bool rectifies = turing_word_of(t, TURING_WORDS_RELU), is_fixed = chosen.kind == OPERAND_IMM;
    const struct operand out = rectifies ? translate_scratch(t) : d;
    struct operation operation = {.op = OP_ADD_MNMX, .type = signed_type(t), .mode = always ? MODE_MIN : MODE_MAX};
    if (is_fixed) {
        translate_3(t, operation, out, a, b, c);
    } else {
        const struct operand least = translate_scratch(t), largest = translate_scratch(t);
        operation.mode = MODE_MIN;
        translate_3(t, operation, least, a, b, c);
        operation.mode = MODE_MAX;
        translate_3(t, operation, largest, a, b, c);
        put_select(t, out, least, largest, 4);
    }
    if (rectifies)
        translate_2(t, (struct operation){.op = OP_MAX, .type = signed_type(t)}, d, out, translate_number(0));
}

/* ---- comparisons ---- */

enum { COMPARES_NEVER, COMPARES_ALWAYS = 7 };

static enum compare compare(const struct translation *t) {
    static const uint8_t compares[] = {CMP_NONE, CMP_LT, CMP_EQ, CMP_LE, CMP_GT, CMP_NE, CMP_GE, CMP_NONE};
    return compares[turing_word_of(t, TURING_WORDS_COMPARE)];
}

static enum boolop combination(const struct translation *t) {
    static const uint8_t boolops[] = {BOOL_AND, BOOL_OR, BOOL_XOR};
    return boolops[turing_word_of(t, TURING_WORDS_BOOL)];
}

/* Up to two predicates; the second is none more often than not. */
static void put_two(struct translation *t, struct operation operation, const struct operand *sources, unsigned count) {
    const struct operand targets[2] = {turing_predicate_target(t, 0), turing_predicate_target(t, 1)};
    translate_put(t, &operation, targets, targets[1].kind == OPERAND_NONE ? 1 : 2, sources, count);
}

/* (value of a predicate) combined with the third operand behind the targets */
static void put_combined(struct translation *t, struct operand value) {
    bool always;
    const struct operand sources[3] = {value, translate_number(1), turing_predicate(t, 4, &always)};
    put_two(t, (struct operation){.op = OP_PSETP, .type = TYPE_PRED, .mode = MODE_AND, .boolop = combination(t)},
            sources, 3);
}

/* Upper words that are equal leave it to the predicate of the lower ones. */
static void compare_extended(struct translation *t, struct operand a, struct operand b) {
    const enum compare how = compare(t);
    bool always;
    const struct operand lower = turing_predicate(t, 5, &always), other = turing_predicate(t, 4, &always);
    const enum type type = signed_type(t);
    const bool is_plain = always && combination(t) == BOOL_AND && turing_predicate_target(t, 1).kind == OPERAND_NONE;
    const struct operand out = is_plain ? turing_predicate_target(t, 0) : translate_test(t);
    (void)other;
    if (how == CMP_EQ || how == CMP_NE) {
        translate_3(t,
                    (struct operation){
                        .op = OP_SETP, .type = type, .compare = how, .boolop = how == CMP_EQ ? BOOL_AND : BOOL_OR},
                    out, a, b, lower);
    } else {
        const struct operand equal = translate_test(t);
        translate_3(t, (struct operation){.op = OP_SETP, .type = type, .compare = CMP_EQ, .boolop = BOOL_AND}, equal, a,
                    b, lower);
        translate_3(t,
                    (struct operation){.op = OP_SETP,
                                       .type = type,
                                       .compare = how == CMP_LT || how == CMP_LE ? CMP_LT : CMP_GT,
                                       .boolop = BOOL_OR},
                    out, a, b, equal);
    }
    if (!is_plain)
        put_combined(t, out);
}

static void compare_integers(struct translation *t) {
    const struct operand a = turing_source(t, 2, TYPE_B32), b = turing_source(t, 3, TYPE_B32);
    const bool is_fixed = compare(t) == CMP_NONE, is_extended = turing_word_of(t, TURING_WORDS_EX);
    bool always;
    const struct operand sources[3] = {a, b, turing_predicate(t, 4, &always)};
    const bool is_alone = always && combination(t) == BOOL_AND;
    if (is_fixed && is_extended) {
        translate_refuse(t, ".EX without a comparison");
    } else if (is_fixed) {
        put_combined(t, translate_number(turing_word_of(t, TURING_WORDS_COMPARE) == COMPARES_ALWAYS));
    } else if (is_extended) {
        compare_extended(t, a, b);
    } else {
        put_two(t,
                (struct operation){.op = OP_SETP,
                                   .type = signed_type(t),
                                   .compare = compare(t),
                                   .boolop = is_alone ? BOOL_NONE : combination(t)},
                sources, is_alone ? 2 : 3);
    }
}

/* ---- differences ---- */

static void absolute_difference(struct translation *t) {
    const struct operand a = turing_source(t, 1, TYPE_B32), b = turing_source(t, 2, TYPE_B32);
    translate_3(t, (struct operation){.op = OP_SAD, .type = signed_type(t)}, turing_target(t, 0), a, b,
                turing_source(t, 3, TYPE_B32));
}

/* Byte by byte: all to one sum, or each to its place. */
static void absolute_differences(struct translation *t) {
    const struct operand a = turing_source(t, 1, TYPE_B32), b = turing_source(t, 2, TYPE_B32);
    const bool sums = turing_word_of(t, TURING_WORDS_ACC);
    const struct operation byte = {.op = OP_BFE, .type = TYPE_U32}, insert = {.op = OP_BFI, .type = TYPE_B32};
    const struct operand x = translate_scratch(t), y = translate_scratch(t), d = turing_target(t, 0);
    struct operand so_far = sums ? turing_source(t, 3, TYPE_B32) : translate_number(0);
    for (unsigned i = 0; i < 4; i++) {
        const struct operand next = i == 3 ? d : translate_scratch(t);
        translate_3(t, byte, x, a, translate_number(8 * i), translate_number(8));
        translate_3(t, byte, y, b, translate_number(8 * i), translate_number(8));
        translate_3(t, (struct operation){.op = OP_SAD, .type = TYPE_U32}, sums ? next : x, x, y,
                    sums ? so_far : translate_number(0));
        const struct operand into[4] = {x, so_far, translate_number(8 * i), translate_number(8)};
        if (!sums)
            translate_put(t, &insert, &next, 1, into, 4);
        so_far = next;
    }
}

bool turing_integer(struct translation *t) {
    switch (turing_row(t->turing->row)->meaning) {
    case TURING_MEANS_MOV: move(t); break;
    case TURING_MEANS_P2R: turing_predicates_to_register(t); break;
    case TURING_MEANS_R2P: turing_register_to_predicates(t); break;
    case TURING_MEANS_SEL: select(t); break;
    case TURING_MEANS_ISETP: compare_integers(t); break;
    case TURING_MEANS_IMNMX: extreme(t, 2); break;
    case TURING_MEANS_IMNMX3: extreme(t, 3); break;
    case TURING_MEANS_IADDMNMX: add_extreme(t); break;
    case TURING_MEANS_IADD3: turing_sum(t, false); break;
    case TURING_MEANS_IADD_64: turing_sum(t, true); break;
    case TURING_MEANS_IADD: turing_add(t); break;
    case TURING_MEANS_LEA: turing_shift_add(t); break;
    case TURING_MEANS_IMAD: turing_multiply_add(t); break;
    case TURING_MEANS_IMAD_WIDE: turing_multiply_wide(t); break;
    case TURING_MEANS_IMAD_HI: turing_multiply_high(t); break;
    case TURING_MEANS_IDP: turing_dot_product(t); break;
    case TURING_MEANS_LOP3: turing_logic(t); break;
    case TURING_MEANS_PLOP3: turing_predicate_logic(t); break;
    case TURING_MEANS_PRMT: turing_permute(t); break;
    case TURING_MEANS_SHF: turing_shift(t); break;
    case TURING_MEANS_SGXT: turing_extend(t); break;
    case TURING_MEANS_BMSK: turing_mask(t); break;
    case TURING_MEANS_IABS:
        translate_1(t, (struct operation){.op = OP_ABS, .type = TYPE_S32}, turing_target(t, 0),
                    turing_source(t, 1, TYPE_B32));
        break;
    case TURING_MEANS_VABSDIFF: absolute_difference(t); break;
    case TURING_MEANS_VABSDIFF4: absolute_differences(t); break;
    default: return false;
    }
    return true;
}
