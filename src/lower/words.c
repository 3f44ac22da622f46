/* SPDX-License-Identifier: Apache-2.0 */
#include "lower/words.h"

enum native_modifier word_of_type(enum type type) {
    switch (type) {
    case TYPE_B8:
    case TYPE_U8: return MODIFIER_U8;
    case TYPE_S8: return MODIFIER_S8;
    case TYPE_B16:
    case TYPE_U16: return MODIFIER_U16;
    case TYPE_S16: return MODIFIER_S16;
    case TYPE_S32: return MODIFIER_S32;
    case TYPE_U64:
    case TYPE_B64: return MODIFIER_U64;
    case TYPE_S64: return MODIFIER_S64;
    case TYPE_F32: return MODIFIER_F32;
    case TYPE_F64: return MODIFIER_F64;
    default: return MODIFIER_U32;
    }
}

enum native_modifier word_of_rounding(unsigned rounding) {
    switch ((enum rounding)rounding) {
    case ROUND_RZ: return MODIFIER_RZ;
    case ROUND_RM: return MODIFIER_RM;
    case ROUND_RP: return MODIFIER_RP;
    default: return MODIFIER_NONE;
    }
}

enum native_modifier word_of_integral(unsigned rounding, bool any) {
    switch ((enum rounding)rounding) {
    case ROUND_RMI: return MODIFIER_FLOOR;
    case ROUND_RPI: return MODIFIER_CEIL;
    case ROUND_RZI: return MODIFIER_TRUNC;
    case ROUND_RNI: return any ? MODIFIER_ROUND : MODIFIER_NONE;
    default: return word_of_rounding(rounding);
    }
}

enum native_modifier word_of_compare(enum compare compare) {
    static const uint8_t words[] = {
        [CMP_EQ] = MODIFIER_EQ,   [CMP_NE] = MODIFIER_NE,   [CMP_LT] = MODIFIER_LT,   [CMP_LE] = MODIFIER_LE,
        [CMP_GT] = MODIFIER_GT,   [CMP_GE] = MODIFIER_GE,   [CMP_EQU] = MODIFIER_EQU, [CMP_NEU] = MODIFIER_NEU,
        [CMP_LTU] = MODIFIER_LTU, [CMP_LEU] = MODIFIER_LEU, [CMP_GTU] = MODIFIER_GTU, [CMP_GEU] = MODIFIER_GEU,
        [CMP_NUM] = MODIFIER_NUM, [CMP_NAN] = MODIFIER_NAN};
    return (enum native_modifier)words[compare];
}

enum native_modifier word_of_logic(enum op op) {
    return op == OP_AND ? MODIFIER_AND : op == OP_OR ? MODIFIER_OR : MODIFIER_XOR;
}

enum native_modifier word_of_atomic(enum atom atom) {
    static const uint8_t words[] = {
        [ATOM_ADD] = MODIFIER_ADD, [ATOM_MIN] = MODIFIER_MIN, [ATOM_MAX] = MODIFIER_MAX,   [ATOM_AND] = MODIFIER_AND,
        [ATOM_OR] = MODIFIER_OR,   [ATOM_XOR] = MODIFIER_XOR, [ATOM_EXCH] = MODIFIER_EXCH, [ATOM_CAS] = MODIFIER_CAS,
        [ATOM_INC] = MODIFIER_INC, [ATOM_DEC] = MODIFIER_DEC};
    return (enum native_modifier)words[atom];
}
