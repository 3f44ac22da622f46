/* SPDX-License-Identifier: Apache-2.0 */
/* What integers, logic, comparisons and moves of sm_75 to sm_90 are in the internal form. */
#include "sass/translate_turing.h"

static enum type signed_type(const struct translation *t) {
    return turing_word_of(t, TURING_WORDS_SIGNED) ? TYPE_S32 : TYPE_U32;
}

static void move(struct translation *t) {
    if (turing_operand(t, 2)->value != 15)
        translate_refuse(t, "a mask of bytes");
    translate_move(t, turing_target(t, 0), turing_source(t, 1, TYPE_B32));
}

static void multiply(struct translation *t) {
    if (turing_word_of(t, TURING_WORDS_X) || turing_predicate_target(t, 1).kind != OPERAND_NONE)
        translate_refuse(t, "a carry");
    const enum type type = signed_type(t);
    const struct operand a = turing_source(t, 2, type), b = turing_source(t, 3, type);
    translate_3(t, (struct operation){.op = OP_MAD, .type = type, .mode = MODE_LO}, turing_target(t, 0), a, b,
                turing_source(t, 4, type));
}

bool turing_integer(struct translation *t) {
    switch (turing_row(t->turing->row)->meaning) {
    case TURING_MEANS_MOV: move(t); break;
    case TURING_MEANS_IMAD: multiply(t); break;
    default: return false;
    }
    return true;
}
