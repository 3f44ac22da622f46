/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of turing.def and turing_words.def. */
#include "sass/turing_coder.h"

#include <stddef.h>

struct turing_name {
    uint8_t value;
    const char *text;
};

static const struct {
    uint8_t bits;
    const struct turing_name *names; /* up to one without text */
} words_table[TURING_WORDS_COUNT] = {
#define W(value, text) {(value), (text)},
#define WORDS(id, bits, ...) [TURING_WORDS_##id] = {(bits), (const struct turing_name[]){__VA_ARGS__{0, NULL}}},
#include "sass/turing_words.def"
#undef W
};

enum {
    F1 = 1 << 1,
    F2 = 1 << 2,
    F3 = 1 << 3,
    F4 = 1 << 4,
    F5 = 1 << 5,
    F6 = 1 << 6,
    F7 = 1 << 7,
    FB = F1 | F4 | F5 | F6,
    FC = F1 | F2 | F3 | F7,
    FALL = FB | FC,
    ONLY_75 = TURING_SM_75,
    ONLY_89 = TURING_SM_89,
    ONLY_90 = TURING_SM_90,
    FROM_89 = TURING_SM_89 | TURING_SM_90,
    FROM_80 = TURING_SM_80 | TURING_SM_86 | FROM_89,
    TO_89 = TURING_SM_75 | TURING_SM_80 | TURING_SM_86 | TURING_SM_89,
    ALL = TO_89 | TURING_SM_90,
    LOW_BITS = 16, /* of targets, on sm_90 */
};

/* operands */
#define OPERAND(shape, at, bits, type, when, absence)                                                                  \
    {TURING_SHAPE_##shape, at, bits, type, TURING_WHEN_##when, TURING_##absence},
#define PLACE(shape, at, bits, type) OPERAND(shape, at, bits, type, ALWAYS, STANDS)
#define DEFAULTED(shape, at, bits, type) OPERAND(shape, at, bits, type, ALWAYS, DEFAULTS)
#define GUARDED(shape, at, bits, type, when) OPERAND(shape, at, bits, type, when, DEFAULTS)
#define LACKED(shape, at, bits, type, when) OPERAND(shape, at, bits, type, when, LACKS)
#define RD PLACE(REGISTER, 16, 0, 0)
#define RD_OPT DEFAULTED(REGISTER, 16, 0, 0)
#define RA PLACE(REGISTER, 24, 0, 0)
#define RB PLACE(REGISTER, 32, 0, 0)
#define RB_OPT DEFAULTED(REGISTER, 32, 0, 0)
#define RC PLACE(REGISTER, 64, 0, 0)
#define URD PLACE(UNIFORM, 16, 0, 0)
#define URD_OPT DEFAULTED(UNIFORM, 16, 0, 0)
#define UR(at) PLACE(UNIFORM, at, 0, 0)
#define A(type) PLACE(A, 0, 0, TURING_TYPE_##type)
#define A_UNLESS(type, when) OPERAND(A, 0, 0, TURING_TYPE_##type, when, OMITS)
#define B(type) PLACE(B, 0, 0, TURING_TYPE_##type)
#define C(type) PLACE(C, 0, 0, TURING_TYPE_##type)
#define C_IF(type, when) GUARDED(C, 0, 0, TURING_TYPE_##type, when)
#define BC(type) PLACE(BC, 0, 0, TURING_TYPE_##type)
#define OUT(at) PLACE(OUT, at, 0, 0)
#define OUT_OPT(at) DEFAULTED(OUT, at, 0, 0)
#define UOUT(at) PLACE(OUT, at, 0, 1)
#define IN(at) PLACE(IN, at, 0, 0)
#define IN_OPT(at) DEFAULTED(IN, at, 0, 0)
#define IN_IF(at, when) GUARDED(IN, at, 0, 0, when)
#define UIN(at) PLACE(IN, at, 0, 1)
#define EITHER(at) PLACE(EITHER, at, 0, 0)
#define LOADS(at) DEFAULTED(LOADS, at, 0, 0)
#define PR PLACE(PREDICATES, 0, 0, 0)
#define IMM(at, bits) PLACE(IMMEDIATE, at, bits, 0)
#define IMM_OPT(at, bits, standard) DEFAULTED(IMMEDIATE, at, bits, standard)
#define IMM_ONLY(at, bits, when) LACKED(IMMEDIATE, at, bits, 0, when)
#define LUT_0 PLACE(LUT, 0, 0, 0)
#define SWIZZLE(at) PLACE(SWIZZLE, at, 8, 0)
#define NAMED(words, at) PLACE(NAMED, at, 0, TURING_WORDS_##words)
#define BARRIER(at) PLACE(BARRIER, at, 0, 0)
#define TARGET(bits) PLACE(TARGET, 34, bits, LOW_BITS)
#define TARGET_LEPC PLACE(TARGET, 34, 48, TURING_LOW_BITS_LEPC)
#define TARGET_RET PLACE(TARGET_RET, 34, 48, LOW_BITS)
#define TARGET_ONLY(when) LACKED(TARGET, 34, 48, LOW_BITS, when)
#define DISTANCE PLACE(DISTANCE, 34, 48, LOW_BITS)
#define ADDRESS_ABS PLACE(ABSOLUTE, 0, 0, 0)
#define DEPENDENCY PLACE(DEPENDENCY, 0, 0, 0)
#define MASK(at) PLACE(MASK, at, 0, 0)
#define MATRIX(at, bit) PLACE(MATRIX, at, bit, 0)
#define BYTE_OF(at, bit) PLACE(BYTE, at, bit, 0)
#define META_IF(when) LACKED(META, 40, 50, 0, when)
#define CONST PLACE(CONSTANT, 0, 0, 0)
#define CONST_INDEXED PLACE(CONSTANT_INDEXED, 0, 0, 0)
#define CONST_UNIFORM PLACE(CONSTANT_UNIFORM, 0, 0, 0)
#define MEM(address) PLACE(MEMORY, 0, 0, TURING_ADDRESS_##address)
#define ASYNC_SHARED PLACE(ASYNC_SHARED, 0, 0, 0)
#define ASYNC_GLOBAL PLACE(ASYNC_GLOBAL, 0, 0, 0)
/* words */
#define FIELD(words, at, split, more, archs, when, joined)                                                             \
    {TURING_WORDS_##words, at, split, more, archs, TURING_WHEN_##when, joined},
#define M(words, at) FIELD(words, at, 0, 0, ALL, ALWAYS, false)
#define M2(words, at, split, more) FIELD(words, at, split, more, ALL, ALWAYS, false)
#define MA(words, at, archs) FIELD(words, at, 0, 0, archs, ALWAYS, false)
#define MW(words, at, when) FIELD(words, at, 0, 0, ALL, when, false)
#define J(words, at) FIELD(words, at, 0, 0, ALL, ALWAYS, true)
#define FIX(text) FIELD(FIX_##text, 0, 0, 0, ALL, ALWAYS, false)
#define ORDERED MA(ORDER_75, 77, ONLY_75) MA(ORDER, 77, FROM_80)
#define ATOMIC_TYPED MA(ATOMIC_TYPE, 73, TO_89) MA(ATOMIC_TYPE_90, 73, ONLY_90)
#define BARRED M(BARRIER, 77) MW(BARRIER_REDUCE, 74, REDUCING) M(DEFER_BLOCKING, 80)
#define FETCHED(handle) OUT_OPT(81) RC RD RA RB_OPT handle NAMED(TEXTURE, 61) IMM_OPT(72, 4, 15)
#define FETCHED_C FETCHED(IMM(54, 5) IMM(40, 14)) /* the handle is a constant, */
#define FETCHED_U FETCHED(UR(40) IMM(48, 8))      /* in a uniform register, */
#define FETCHED_B FETCHED()                       /* in the first source */
#define FILTERED M(AOFFI, 76) M(NDV, 77) M(DC, 78) M(EVICTION, 84) M(NODEP, 90)
#define UNFILTERED M(AOFFI, 76) M(CL, 77) M(MS, 78) M(ZERO_2, 79) M(EVICTION, 84) M(NODEP, 90)
#define RAW FIX(D) M(BA, 72) M(SURFACE, 61) M(SIZE, 73) ORDERED M(OUTSIDE, 59) M(EVICTION, 84)
#define FORMATTED FIX(P) M(SURFACE, 61) ORDERED M(COMPONENTS, 72) M(OUTSIDE, 59) M(EVICTION, 84)
#define REDUCED M(BA, 72) M(SURFACE, 61) M(REDUCTION, 87) M(EVICTION, 84) M(SURFACE_TYPE, 73) ORDERED M(OUTSIDE, 59)
#define ROW(id, opcode, forms, mnemonic, unit, archs, meaning, operands, words)                                        \
    {mnemonic,                                                                                                         \
     opcode,                                                                                                           \
     forms,                                                                                                            \
     TURING_UNIT_##unit,                                                                                               \
     archs,                                                                                                            \
     TURING_MEANS_##meaning,                                                                                           \
     (const struct turing_place[]){operands{0}},                                                                       \
     (const struct turing_field[]){words{0}}},
static const struct turing_row rows[TURING_ROWS] = {
#include "sass/turing.def"
};

_Static_assert((int)TURING_WORDS_COUNT <= UINT8_MAX, "places and fields name words in a byte");

const struct turing_row *turing_row(unsigned row) { return &rows[row]; }

unsigned turing_arch(unsigned sm) {
    switch (sm) {
    case 75: return TURING_SM_75;
    case 80: return TURING_SM_80;
    case 86: return TURING_SM_86;
    case 89: return TURING_SM_89;
    case 90: return TURING_SM_90;
    default: return 0;
    }
}

const struct turing_row *turing_find(unsigned opcode, unsigned form, unsigned arch, unsigned *index) {
    unsigned low = 0, high = TURING_ROWS;
    while (low < high) {
        const unsigned middle = low + (high - low) / 2;
        if (rows[middle].opcode < opcode)
            low = middle + 1;
        else
            high = middle;
    }
    for (unsigned i = low; i < TURING_ROWS && rows[i].opcode == opcode; i++)
        if (rows[i].forms >> form & 1 && rows[i].archs & arch) {
            *index = i;
            return &rows[i];
        }
    return NULL;
}

unsigned turing_words_bits(enum turing_words words) { return words_table[words].bits; }

const char *turing_words_text(enum turing_words words, unsigned value) {
    for (const struct turing_name *name = words_table[words].names; name->text; name++)
        if (name->value == value)
            return name->text;
    return NULL;
}

int turing_modifier(const struct turing_inst *inst, enum turing_words words) {
    const struct turing_field *fields = rows[inst->row].modifiers;
    for (unsigned i = 0; fields[i].words; i++)
        if (fields[i].words == words && inst->modifiers[i] != TURING_NO_WORD)
            return inst->modifiers[i];
    return -1;
}

int turing_linked(const struct turing_inst *inst, bool is_target) {
    const struct turing_place *places = turing_row(inst->row)->operands;
    for (int i = 0; places[i].shape; i++) {
        const unsigned shape = places[i].shape;
        const bool is_number =
            inst->operands[i].kind == TURING_IMMEDIATE && shape >= TURING_SHAPE_B && shape <= TURING_SHAPE_BC;
        if (is_target ? shape == TURING_SHAPE_ABSOLUTE : is_number)
            return i;
    }
    return -1;
}
