/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of fermi.def, tesla.def and modifiers.def. */
#include <string.h>

#include "sass/native.h"

#define SLOT(n, slot, shift) .slots[n] = NATIVE_SLOT_##slot, .shifts[n] = (shift),
#define NEG(n, bit) .negate[n] = (bit),
#define ABS(n, bit) .absolute[n] = (bit),
#define INV(n, bit) .invert[n] = (bit),
#define CARRY(bit) .carry = (bit),
#define UNGUARDED .unguarded = true,
#define ALIAS .alias = true,
#define ROW(id, mnemonic_, shape_, places_, bits_, mask_, more)                                                        \
    {.mnemonic = (mnemonic_),                                                                                          \
     .shape = (shape_),                                                                                                \
     .places = (places_),                                                                                              \
     .bits = UINT64_C(bits_),                                                                                          \
     .mask = UINT64_C(mask_),                                                                                          \
     more},
static const struct native_form fermi[FERMI_ROWS] = {
#include "sass/fermi.def"
};
static const struct native_form tesla[TESLA_ROWS] = {
#include "sass/tesla.def"
};
#undef ROW
#undef SLOT
#undef NEG
#undef ABS
#undef INV
#undef CARRY
#undef UNGUARDED
#undef ALIAS

const struct native_form *native_form(enum native_isa isa, unsigned row) {
    return isa == NATIVE_FERMI ? &fermi[row] : &tesla[row];
}

unsigned native_row_count(enum native_isa isa) {
    return isa == NATIVE_FERMI ? (unsigned)FERMI_ROWS : (unsigned)TESLA_ROWS;
}

static const char *const modifiers[MODIFIER_COUNT] = {
#define MODIFIER(id, text) [MODIFIER_##id] = (text),
#include "sass/modifiers.def"
};

const char *native_modifier_text(enum native_modifier modifier) { return modifiers[modifier]; }

struct word {
    uint8_t modifier;
    uint64_t bits;
};
enum { WORDS_MAX = 16 };
#define NEVER UINT64_MAX /* a word must be written */

static const struct slot_words {
    uint64_t mask, none;
    struct word words[WORDS_MAX];
} slots[NATIVE_SLOT_COUNT] = {
#define W(word, bits) {MODIFIER_##word, (bits)},
#define SLOT(id, mask, none, ...) [NATIVE_SLOT_##id] = {(mask), (none), {__VA_ARGS__}},
#include "sass/modifiers.def"
#undef W
};

uint64_t native_slot_mask(enum native_slot slot) { return slots[slot].mask; }

bool native_slot_bits(enum native_slot slot, enum native_modifier modifier, uint64_t *bits) {
    if (modifier == MODIFIER_NONE) {
        *bits = slots[slot].none;
        return *bits != NEVER;
    }
    for (unsigned i = 0; i < WORDS_MAX && slots[slot].words[i].modifier; i++)
        if (slots[slot].words[i].modifier == modifier) {
            *bits = slots[slot].words[i].bits;
            return true;
        }
    return false;
}

enum native_modifier native_slot_word(enum native_slot slot, unsigned n) {
    return n < WORDS_MAX ? slots[slot].words[n].modifier : MODIFIER_NONE;
}

static const struct {
    const char *name;
    uint8_t number, special;
} specials[] = {
    {"SR_LaneId", 0, SPECIAL_LANEID},
    {"SR_Tid_X", 33, SPECIAL_TID_X},
    {"SR_Tid_Y", 34, SPECIAL_TID_Y},
    {"SR_Tid_Z", 35, SPECIAL_TID_Z},
    {"SR_CTAid_X", 37, SPECIAL_CTAID_X},
    {"SR_CTAid_Y", 38, SPECIAL_CTAID_Y},
    {"SR_CTAid_Z", 39, SPECIAL_CTAID_Z},
    {"SR_NTid_X", 41, SPECIAL_NTID_X},
    {"SR_NTid_Y", 42, SPECIAL_NTID_Y},
    {"SR_NTid_Z", 43, SPECIAL_NTID_Z},
    {"SR_NCTAid_X", 45, SPECIAL_NCTAID_X},
    {"SR_NCTAid_Y", 46, SPECIAL_NCTAID_Y},
    {"SR_NCTAid_Z", 47, SPECIAL_NCTAID_Z},
    {"SR_GridId", 44, SPECIAL_GRIDID},
    {"SR_EqMask", 56, SPECIAL_LANEMASK_EQ},
    {"SR_LtMask", 57, SPECIAL_LANEMASK_LT},
    {"SR_LeMask", 58, SPECIAL_LANEMASK_LE},
    {"SR_GtMask", 59, SPECIAL_LANEMASK_GT},
    {"SR_GeMask", 60, SPECIAL_LANEMASK_GE},
    {"SR_ClockLo", 80, SPECIAL_CLOCK},
    {"SR_ClockHi", 81, SPECIAL_CLOCK_HI},
    /* what PTX has and the hardware has not, or in parts of others: names and numbers are ours */
    {"SR_WarpId", 128, SPECIAL_WARPID},
    {"SR_NWarpId", 129, SPECIAL_NWARPID},
    {"SR_SmId", 130, SPECIAL_SMID},
    {"SR_NSmId", 131, SPECIAL_NSMID},
    {"SR_Clock64", 132, SPECIAL_CLOCK64},
    {"SR_GlobalTimer", 133, SPECIAL_GLOBALTIMER},
    {"SR_GlobalTimerLo", 134, SPECIAL_GLOBALTIMER_LO},
    {"SR_GlobalTimerHi", 135, SPECIAL_GLOBALTIMER_HI},
    {"SR_DynamicSmemSize", 136, SPECIAL_DYNAMIC_SMEM_SIZE},
    {"SR_TotalSmemSize", 137, SPECIAL_TOTAL_SMEM_SIZE},
    {"SR_WarpSz", 138, SPECIAL_WARPSZ},
#define ENVREG(n)                                                                                                      \
    { "SR_EnvReg" #n, 96 + n, SPECIAL_ENVREG0 + n }
    ENVREG_EACH(ENVREG),
#undef ENVREG
};
enum { SPECIALS = sizeof specials / sizeof *specials };

const char *native_special_name(enum special special) {
    for (unsigned i = 0; i < SPECIALS; i++)
        if (specials[i].special == special)
            return specials[i].name;
    return NULL;
}

/* SR_Tid_X is SR_TID.X to later disassemblers. */
static bool is_name(const char *name, const char *text, unsigned length) {
    for (unsigned i = 0; i < length; i++) {
        const char a = name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 'a' + 'A') : name[i];
        const char b = text[i] >= 'a' && text[i] <= 'z' ? (char)(text[i] - 'a' + 'A') : text[i];
        if (a != b && !(a == '_' && b == '.'))
            return false;
    }
    return true;
}

bool native_special_find(const char *name, unsigned length, enum special *out) {
    for (unsigned i = 0; i < SPECIALS; i++)
        if (strlen(specials[i].name) == length && is_name(specials[i].name, name, length)) {
            *out = specials[i].special;
            return true;
        }
    return false;
}

bool native_special_number(enum special special, unsigned *number) {
    for (unsigned i = 0; i < SPECIALS; i++)
        if (specials[i].special == special) {
            *number = specials[i].number;
            return true;
        }
    return false;
}

bool native_special_at(unsigned number, enum special *out) {
    for (unsigned i = 0; i < SPECIALS; i++)
        if (specials[i].number == number) {
            *out = specials[i].special;
            return true;
        }
    return false;
}

char native_shape(const struct native_form *form, unsigned n, bool *written, bool *optional) {
    *written = true;
    for (const char *at = form->shape; *at; at++) {
        if (*at == '=')
            *written = false;
        else if (*at != '?' && n-- == 0) {
            *optional = at[1] == '?';
            return *at;
        }
    }
    *optional = false;
    return 0;
}
