/* SPDX-License-Identifier: Apache-2.0 */
/* What control flow of sm_75 to sm_90 is in the internal form. */
#include "sass/translate_turing.h"

static void control(struct translation *t, enum op op, unsigned predicate) {
    turing_guard_too(t, predicate);
    translate_put(t, &(struct operation){.op = op}, NULL, 0, NULL, 0);
}

bool turing_control_flow(struct translation *t) {
    switch ((enum turing_row_id)t->turing->row) {
    case TURING_NOP: translate_put(t, &(struct operation){.op = OP_NOP}, NULL, 0, NULL, 0); break;
    case TURING_EXIT: control(t, OP_EXIT, 0); break;
    case TURING_BRA:
        if (turing_word_of(t, TURING_WORDS_BRANCH))
            translate_refuse(t, "a branch by the active lanes");
        control(t, OP_BRA, 0);
        break;
    case TURING_CALL_REL: control(t, OP_CALL, 0); break;
    case TURING_RET: control(t, OP_RET, 0); break;
    default: return false;
    }
    return true;
}
