/* SPDX-License-Identifier: Apache-2.0 */
/* Opcodes of foreign traces by the tables: of sm_70 on by row, meaning and unit, of older ones by name. */
#include "trace/opcodes.h"

#include <string.h>

#include "sass/turing.h"

/* ---- classes ---- */

enum how {
    HOW_NONE, /* by the unit */
    HOW_INT_ADD,
    HOW_INT_MUL,
    HOW_INT_MAD,
    HOW_INT_MIN,
    HOW_LOGIC,
    HOW_FLOAT_ADD,
    HOW_FLOAT_MUL,
    HOW_FLOAT_FMA,
    HOW_FLOAT_MIN,
    HOW_HALF_ADD,
    HOW_HALF_MUL,
    HOW_HALF_FMA,
    HOW_HALF_MIN,
    HOW_DOUBLE_ADD,
    HOW_DOUBLE_MUL,
    HOW_DOUBLE_FMA,
    HOW_SPECIAL,
    HOW_CONVERT,
    HOW_CONVERT_DOUBLE,
    HOW_WARP,
    HOW_NOTHING,
    HOW_JUMP,
    HOW_END,
    HOW_BARRIER,
    HOW_FENCE,
    HOW_LOAD, /* in these the mnemonic says the space */
    HOW_STORE,
    HOW_ATOMIC,
    HOW_REFUSED,
    HOW_COUNT
};

#define PLAIN(op_name, type_name) .shape = TRACED_PLAIN, .op = OP_##op_name, .type = TYPE_##type_name
static const struct traced_opcode hows[HOW_COUNT] = {
    [HOW_INT_ADD] = {PLAIN(ADD, U32)},
    [HOW_INT_MUL] = {PLAIN(MUL, S32)},
    [HOW_INT_MAD] = {PLAIN(MAD, S32)},
    [HOW_INT_MIN] = {PLAIN(MIN, S32)},
    [HOW_LOGIC] = {PLAIN(PRMT, B32)},
    [HOW_FLOAT_ADD] = {PLAIN(ADD, F32)},
    [HOW_FLOAT_MUL] = {PLAIN(MUL, F32)},
    [HOW_FLOAT_FMA] = {PLAIN(FMA, F32)},
    [HOW_FLOAT_MIN] = {PLAIN(MIN, F32)},
    [HOW_HALF_ADD] = {PLAIN(ADD, F16X2)},
    [HOW_HALF_MUL] = {PLAIN(MUL, F16X2)},
    [HOW_HALF_FMA] = {PLAIN(FMA, F16X2)},
    [HOW_HALF_MIN] = {PLAIN(MIN, F16X2)},
    [HOW_DOUBLE_ADD] = {PLAIN(ADD, F64)},
    [HOW_DOUBLE_MUL] = {PLAIN(MUL, F64)},
    [HOW_DOUBLE_FMA] = {PLAIN(FMA, F64)},
    [HOW_SPECIAL] = {PLAIN(EX2, F32)},
    [HOW_CONVERT] = {PLAIN(CVT, F32), .stype = TYPE_S32},
    [HOW_CONVERT_DOUBLE] = {PLAIN(CVT, F64), .stype = TYPE_S32},
    [HOW_WARP] = {PLAIN(REDUX, U32)},
    [HOW_NOTHING] = {.shape = TRACED_NOTHING, .op = OP_NOP},
    [HOW_JUMP] = {.shape = TRACED_JUMP, .op = OP_BRA},
    [HOW_END] = {.shape = TRACED_END, .op = OP_EXIT},
    [HOW_BARRIER] = {.shape = TRACED_BARRIER, .op = OP_BAR},
    [HOW_FENCE] = {.shape = TRACED_FENCE, .op = OP_MEMBAR},
    [HOW_LOAD] = {.shape = TRACED_LOAD, .op = OP_LD, .type = TYPE_B32},
    [HOW_STORE] = {.shape = TRACED_STORE, .op = OP_ST, .type = TYPE_B32},
    [HOW_ATOMIC] = {.shape = TRACED_ATOMIC, .op = OP_ATOM, .type = TYPE_U32},
};

static const uint8_t by_unit[] = {
    [TURING_UNIT_ALU] = HOW_LOGIC,
    [TURING_UNIT_FMA] = HOW_INT_MAD,
    [TURING_UNIT_FP64] = HOW_DOUBLE_ADD,
    [TURING_UNIT_HALF] = HOW_LOGIC,
    [TURING_UNIT_HALF_TENSOR] = HOW_HALF_FMA,
    [TURING_UNIT_TENSOR] = HOW_REFUSED,
    [TURING_UNIT_XU] = HOW_LOGIC,
    [TURING_UNIT_XU_WIDE] = HOW_CONVERT_DOUBLE,
    [TURING_UNIT_UNIFORM] = HOW_LOGIC,
    [TURING_UNIT_CROSS] = HOW_LOGIC,
    [TURING_UNIT_MIO] = HOW_LOGIC,
    [TURING_UNIT_MEM] = HOW_NOTHING,
    [TURING_UNIT_TEX] = HOW_REFUSED,
    [TURING_UNIT_ASYNC] = HOW_REFUSED,
    [TURING_UNIT_BAR] = HOW_BARRIER,
    [TURING_UNIT_BRANCH] = HOW_JUMP,
    [TURING_UNIT_CTL] = HOW_NOTHING,
};

/* Where the unit does not say it. */
static const uint8_t by_meaning[TURING_MEANINGS] = {
    [TURING_MEANS_IADD3] = HOW_INT_ADD,
    [TURING_MEANS_LEA] = HOW_INT_ADD,
    [TURING_MEANS_IADD] = HOW_INT_ADD,
    [TURING_MEANS_IADDMNMX] = HOW_INT_ADD,
    [TURING_MEANS_VABSDIFF] = HOW_INT_ADD,
    [TURING_MEANS_VABSDIFF4] = HOW_INT_ADD,
    [TURING_MEANS_IMNMX] = HOW_INT_MIN,
    [TURING_MEANS_IMNMX3] = HOW_INT_MIN,
    [TURING_MEANS_FMNMX] = HOW_FLOAT_MIN,
    [TURING_MEANS_HMNMX2] = HOW_HALF_MIN,
    [TURING_MEANS_FADD] = HOW_FLOAT_ADD,
    [TURING_MEANS_FSWZADD] = HOW_FLOAT_ADD,
    [TURING_MEANS_FMUL] = HOW_FLOAT_MUL,
    [TURING_MEANS_FFMA] = HOW_FLOAT_FMA,
    [TURING_MEANS_DMUL] = HOW_DOUBLE_MUL,
    [TURING_MEANS_DFMA] = HOW_DOUBLE_FMA,
    [TURING_MEANS_HADD2] = HOW_HALF_ADD,
    [TURING_MEANS_HMUL2] = HOW_HALF_MUL,
    [TURING_MEANS_HFMA2] = HOW_HALF_FMA,
    [TURING_MEANS_MUFU] = HOW_SPECIAL,
    [TURING_MEANS_I2F] = HOW_CONVERT,
    [TURING_MEANS_F2I] = HOW_CONVERT,
    [TURING_MEANS_F2F] = HOW_CONVERT,
    [TURING_MEANS_FRND] = HOW_CONVERT,
    [TURING_MEANS_SHFL] = HOW_WARP,
    [TURING_MEANS_MATCH] = HOW_WARP,
    [TURING_MEANS_VOTE] = HOW_WARP,
    [TURING_MEANS_REDUX] = HOW_WARP,
    [TURING_MEANS_ELECT] = HOW_WARP,
    [TURING_MEANS_LDC] = HOW_LOGIC,
    [TURING_MEANS_LD] = HOW_LOAD,
    [TURING_MEANS_LDL] = HOW_LOAD,
    [TURING_MEANS_LDS] = HOW_LOAD,
    [TURING_MEANS_LDSM] = HOW_LOAD,
    [TURING_MEANS_ST] = HOW_STORE,
    [TURING_MEANS_STL] = HOW_STORE,
    [TURING_MEANS_STS] = HOW_STORE,
    [TURING_MEANS_STSM] = HOW_STORE,
    [TURING_MEANS_ATOM] = HOW_ATOMIC,
    [TURING_MEANS_ATOM_COUNT] = HOW_ATOMIC,
    [TURING_MEANS_CAS] = HOW_ATOMIC,
    [TURING_MEANS_ATOMS] = HOW_ATOMIC,
    [TURING_MEANS_CAS_SHARED] = HOW_ATOMIC,
    [TURING_MEANS_RED] = HOW_ATOMIC,
    [TURING_MEANS_MEMBAR] = HOW_FENCE,
    [TURING_MEANS_EXIT] = HOW_END,
    [TURING_MEANS_LDGSTS] = HOW_REFUSED,
    [TURING_MEANS_LDGDEPBAR] = HOW_REFUSED,
    [TURING_MEANS_MBARRIER_INIT] = HOW_REFUSED,
    [TURING_MEANS_MBARRIER_ARRIVE] = HOW_REFUSED,
    [TURING_MEANS_MBARRIER_ARRIVE_ASYNC] = HOW_REFUSED,
    [TURING_MEANS_MBARRIER_TEST] = HOW_REFUSED,
    [TURING_MEANS_MBARRIER_INVALIDATE] = HOW_REFUSED,
};

/* ---- names ---- */

/* Whether the mnemonic is the name, or the name with modifiers behind it. */
static bool begins_with(const char *mnemonic, const char *name, size_t *length) {
    *length = strlen(name);
    return strncmp(mnemonic, name, *length) == 0 && (!mnemonic[*length] || mnemonic[*length] == '.');
}

static enum how find_older(const char *mnemonic) {
    static const struct {
        const char *name;
        uint8_t how;
    } older[] = {
#define OLDER(name, how) {name, HOW_##how},
#include "trace/older_opcodes.def"
#undef OLDER
    };
    size_t length;
    for (unsigned i = 0; i < sizeof older / sizeof *older; i++)
        if (begins_with(mnemonic, older[i].name, &length))
            return (enum how)older[i].how;
    return HOW_NONE;
}

/* The row with the longest name that fits; NULL: none does. */
static const struct turing_row *find_row(const char *mnemonic) {
    const struct turing_row *best = NULL;
    size_t longest = 0, length;
    for (unsigned i = 0; i < TURING_ROWS; i++) {
        const struct turing_row *row = turing_row(i);
        if (begins_with(mnemonic, row->mnemonic, &length) && length > longest)
            best = row, longest = length;
    }
    return best;
}

static bool has_modifier(const char *mnemonic, const char *modifier) {
    size_t length;
    for (const char *dot = strchr(mnemonic, '.'); dot; dot = strchr(dot + 1, '.'))
        if (begins_with(dot + 1, modifier, &length))
            return true;
    return false;
}

static enum space space_of(const char *mnemonic) {
    static const struct {
        const char *begin;
        enum space space;
    } begins[] = {{"LDG", SPACE_GLOBAL},   {"STG", SPACE_GLOBAL}, {"ATOMG", SPACE_GLOBAL},
                  {"RED", SPACE_GLOBAL},   {"LDS", SPACE_SHARED}, {"STS", SPACE_SHARED},
                  {"ATOMS", SPACE_SHARED}, {"LDL", SPACE_LOCAL},  {"STL", SPACE_LOCAL}};
    for (unsigned i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(mnemonic, begins[i].begin, strlen(begins[i].begin)) == 0)
            return begins[i].space;
    return SPACE_GENERIC;
}

static unsigned registers_of(const char *mnemonic) {
    if (strncmp(mnemonic, "LDSM", 4) == 0 || strncmp(mnemonic, "STSM", 4) == 0)
        return has_modifier(mnemonic, "4") ? 4 : has_modifier(mnemonic, "2") ? 2 : 1;
    return has_modifier(mnemonic, "128") ? 4 : has_modifier(mnemonic, "96") ? 3 : has_modifier(mnemonic, "64") ? 2 : 1;
}

static const char *refuse(const struct turing_row *row) {
    switch ((enum turing_unit)row->unit) {
    case TURING_UNIT_TENSOR: return "products of matrices are not replayed from foreign traces";
    case TURING_UNIT_TEX: return "accesses of images are not replayed";
    default: return "asynchronous copies, and barriers in memory, are not replayed from foreign traces";
    }
}

const char *traced_opcode(const char *mnemonic, unsigned sm, struct traced_opcode *out) {
    enum how how = sm < 70 ? find_older(mnemonic) : HOW_NONE;
    if (how == HOW_NONE) {
        const struct turing_row *row = find_row(mnemonic);
        if (!row)
            return "no table of opcodes has it";
        how = row->unit == TURING_UNIT_UNIFORM ? HOW_LOGIC : (enum how)by_meaning[row->meaning];
        if (how == HOW_NONE)
            how = (enum how)by_unit[row->unit];
        if (how == HOW_REFUSED)
            return refuse(row);
    }
    *out = hows[how];
    out->is_branch = how == HOW_JUMP && strncmp(mnemonic, "BRA", 3) == 0;
    if (how == HOW_BARRIER && has_modifier(mnemonic, "ARV"))
        return "an arrival does not say for how many threads";
    if (how != HOW_LOAD && how != HOW_STORE && how != HOW_ATOMIC)
        return NULL;
    out->space = (uint8_t)space_of(mnemonic);
    out->registers = (uint8_t)registers_of(mnemonic);
    out->wide_address = has_modifier(mnemonic, "E");
    return NULL;
}

/* ---- places ---- */

bool traced_runs(unsigned sm) {
    static const uint8_t known[] = {35, 50, 52, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90};
    return memchr(known, (int)sm, sizeof known) != NULL && sm < 100;
}

/* Words of eight bytes of which the first says how those behind it are issued; 0: none does. */
static unsigned words_of_control(unsigned sm) { return sm >= 70 ? 0 : sm >= 50 ? 4 : 8; }

uint32_t traced_index(unsigned sm, uint64_t byte) {
    const unsigned group = words_of_control(sm);
    if (byte > UINT32_MAX)
        return NO_PC;
    if (!group)
        return byte % 16 ? NO_PC : (uint32_t)(byte / 16);
    const uint32_t word = (uint32_t)(byte / 8);
    return byte % 8 || word % group == 0 ? NO_PC : word / group * (group - 1) + word % group - 1;
}

uint64_t traced_byte(unsigned sm, uint32_t index) {
    const unsigned group = words_of_control(sm);
    return group ? ((uint64_t)index / (group - 1) * group + index % (group - 1) + 1) * 8 : (uint64_t)index * 16;
}
