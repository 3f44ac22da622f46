/* SPDX-License-Identifier: Apache-2.0 */
/* Native code of sm_75 to sm_90: instructions of 128 bits, decoded, encoded and printed by one table. turing.def has the
 * instructions, turing_words.def the words behind their dots and the forms of addresses, turing_meanings.def what they do. */
#ifndef HEDDLE_SASS_TURING_H
#define HEDDLE_SASS_TURING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum turing_row_id {
#define ROW(id, ...) TURING_##id,
#include "sass/turing.def"
#undef ROW
    TURING_ROWS
};
enum turing_words {
    TURING_WORDS_NONE,
#define WORDS(id, ...) TURING_WORDS_##id,
#include "sass/turing_words.def"
    TURING_WORDS_COUNT
};
enum turing_meaning {
#define MEANING(id, text) TURING_MEANS_##id,
#include "sass/turing_meanings.def"
#undef MEANING
    TURING_MEANINGS
};
/* What executes it, as compilers tell latencies apart. */
enum turing_unit {
    TURING_UNIT_ALU,         /* integers, logic, comparisons */
    TURING_UNIT_FMA,         /* FP32, and products of integers */
    TURING_UNIT_FP64,        /* */
    TURING_UNIT_HALF,        /* pairs of FP16 */
    TURING_UNIT_HALF_TENSOR, /* the same on the tensor unit's pipe */
    TURING_UNIT_TENSOR,      /* matrices */
    TURING_UNIT_XU,          /* functions, conversions, counts of bits */
    TURING_UNIT_XU_WIDE,     /* conversions with a side of 64 bits */
    TURING_UNIT_UNIFORM,     /* once for a warp, on uniform registers */
    TURING_UNIT_CROSS,       /* from lanes to uniform registers */
    TURING_UNIT_MIO,         /* shuffles, special registers, matrices in shared memory */
    TURING_UNIT_MEM,         /* loads, stores, atomics, fences */
    TURING_UNIT_TEX,         /* textures and surfaces */
    TURING_UNIT_ASYNC,       /* bulk copies */
    TURING_UNIT_BAR,         /* barriers of a block */
    TURING_UNIT_BRANCH,      /* control flow and barriers of a warp */
    TURING_UNIT_CTL,         /* none of these */
};

enum {
    TURING_INST_BYTES = 16,
    TURING_OPERANDS_MAX = 10,
    TURING_MODIFIERS_MAX = 10,
    TURING_RZ = 255, /* reads 0, discards */
    TURING_URZ = 63,
    TURING_PT = 7, /* true, discards; of uniform predicates too */
    TURING_NO_BARRIER = 7,
    TURING_NO_WORD = 255,      /* of a field that this architecture, or this word, does not have */
    TURING_PARAM_BASE = 0x160, /* in bank 0, up to sm_89 */
    TURING_PARAM_BASE_90 = 0x210,
    TURING_LOW_BITS_LEPC = 24,       /* of its target, on sm_90 */
    TURING_BANK_VARIABLES = 3,       /* constants of the program, which the host may write */
    TURING_SYSTEM_SHARED_90 = 0x400, /* bytes of shared memory before the kernel's own */
    /* columns of architectures */
    TURING_SM_75 = 1,
    TURING_SM_80 = 2,
    TURING_SM_86 = 4,
    TURING_SM_89 = 8,
    TURING_SM_90 = 16,
};

/* Bits 0 to 63 and 64 to 127. */
struct turing_word {
    uint64_t low, high;
};

enum turing_kind {
    TURING_NONE,       /* this word does not have it */
    TURING_REGISTER,   /* R`reg` */
    TURING_UNIFORM,    /* UR`reg` */
    TURING_PREDICATE,  /* P`reg`; `inverted`: !P */
    TURING_UPREDICATE, /* UP`reg` */
    TURING_PREDICATES, /* all of them */
    TURING_IMMEDIATE,  /* `value`; of floats their bits, of doubles the upper 32 */
    TURING_NAMED,      /* `value` of the place's words: a special register, a texture's shape */
    TURING_BARRIER,    /* B`reg`: a barrier of the warp */
    TURING_TARGET,     /* code at byte `value` of the section */
    TURING_DISTANCE,   /* `value` bytes from the next instruction on, or an address where the row says so */
    TURING_DEPENDENCY, /* scoreboard `reg`: at most `value` outstanding, and none of the mask `select` */
    TURING_CONSTANT,   /* c[bank][value], with R`reg` or UR`ureg` added, or `bindless`: cx[UR`ureg`][value] */
    TURING_MEMORY,     /* [R`reg` + UR`ureg` + value] */
};

struct turing_operand {
    uint8_t kind; /* enum turing_kind */
    uint8_t reg, ureg, bank;
    uint8_t select;                   /* which half, byte, scale, row or column; see the row's place */
    bool negated, absolute, inverted; /* -R2, |R2|, ~R2 or !P2 */
    bool uniform;                     /* it has a uniform register: `ureg` */
    bool bindless;
    bool wide;       /* of MEMORY with a uniform register: the register is a pair */
    bool descriptor; /* of MEMORY: UR`ureg` describes the memory and is no part of the address */
    bool hint;       /* of a descriptor: it says how long lines are to be kept */
    bool hidden;     /* nothing is written: it holds what it holds without the operand */
    int64_t value;
};

/* What the compiler says of time. */
struct turing_control {
    uint8_t stall;                       /* cycles until the next instruction may issue */
    bool stays;                          /* the warp is not to be switched away from */
    uint8_t write_barrier, read_barrier; /* scoreboards 0 to 5 that it releases; TURING_NO_BARRIER: none */
    uint8_t wait_mask;                   /* scoreboards that it waits for */
    uint8_t reuse;                       /* operands that stay in the operand cache: A, B, C, metadata from bit 0 on */
};

struct turing_inst {
    uint16_t row; /* enum turing_row_id */
    uint8_t form; /* 1 to 7: which operand stands in bits 32 to 63 */
    uint8_t guard;
    bool guard_inverted;
    uint32_t address; /* byte in its section */
    struct turing_control control;
    uint8_t modifiers[TURING_MODIFIERS_MAX];             /* by field of the row: its bits, or TURING_NO_WORD */
    struct turing_operand operands[TURING_OPERANDS_MAX]; /* by place of the row, in the order of the text */
};

/* ---- the table ---- */

/* Where an operand stands: turing.def. */
struct turing_place {
    uint8_t shape; /* enum turing_shape */
    uint8_t at, bits;
    uint8_t type;    /* of SHAPE_A to SHAPE_BC enum turing_type, else as the shape says */
    uint8_t when;    /* enum turing_when */
    uint8_t absence; /* enum turing_absence */
};
enum turing_shape {
    TURING_SHAPE_END,
    TURING_SHAPE_REGISTER,
    TURING_SHAPE_UNIFORM,
    TURING_SHAPE_MATRIX, /* `bits`: the bit that says column */
    TURING_SHAPE_BYTE,   /* `bits`: the lower of two that say which */
    TURING_SHAPE_META,   /* of sparse matrices: register, and which of its bits */
    TURING_SHAPE_A,
    TURING_SHAPE_B,
    TURING_SHAPE_C,
    TURING_SHAPE_BC,
    TURING_SHAPE_OUT, /* predicates: written; `type`: it is uniform */
    TURING_SHAPE_IN,
    TURING_SHAPE_EITHER,
    TURING_SHAPE_LOADS,
    TURING_SHAPE_PREDICATES,
    TURING_SHAPE_IMMEDIATE, /* `type`: what it is when nothing is written */
    TURING_SHAPE_LUT,
    TURING_SHAPE_SWIZZLE,
    TURING_SHAPE_NAMED, /* `type`: enum turing_words */
    TURING_SHAPE_BARRIER,
    TURING_SHAPE_TARGET, /* `type`: where sm_90 has eight lower bits, 0: nowhere */
    TURING_SHAPE_TARGET_RET,
    TURING_SHAPE_DISTANCE,
    TURING_SHAPE_ABSOLUTE,
    TURING_SHAPE_DEPENDENCY,
    TURING_SHAPE_MASK,
    TURING_SHAPE_CONSTANT,
    TURING_SHAPE_CONSTANT_INDEXED,
    TURING_SHAPE_CONSTANT_UNIFORM,
    TURING_SHAPE_MEMORY, /* `type`: enum turing_address_id */
    TURING_SHAPE_ASYNC_SHARED,
    TURING_SHAPE_ASYNC_GLOBAL,
};
/* How an operand may be changed. */
enum turing_type {
    TURING_TYPE_N,  /* not at all */
    TURING_TYPE_I,  /* negated */
    TURING_TYPE_X,  /* negated, with .X inverted */
    TURING_TYPE_L,  /* the same, in bits 32 to 63 only */
    TURING_TYPE_V,  /* inverted */
    TURING_TYPE_F,  /* a float: negated, absolute */
    TURING_TYPE_D,  /* a double: an immediate is its upper half */
    TURING_TYPE_FH, /* a float, or a half of a register */
    TURING_TYPE_H,  /* two halves, in an order */
    TURING_TYPE_S,  /* a byte or a half of an integer */
};
/* What is there where the place's condition does not hold. */
enum turing_absence {
    TURING_STANDS,   /* the operand: it has no condition */
    TURING_DEFAULTS, /* RZ, PT or the like, which is not written; without a condition not either */
    TURING_OMITS,    /* the operand, which is not written where it is RZ */
    TURING_LACKS,    /* nothing: the bits are not the operand's */
};

/* A word behind a dot: `count` bits from `at` on, those from `split` on at `more`. */
struct turing_field {
    uint8_t words, at, split, more;
    uint8_t archs, when;
    bool joined; /* no dot before it */
};

struct turing_row {
    const char *mnemonic;
    uint16_t opcode;
    uint8_t forms; /* bit n: form n */
    uint8_t unit, archs, meaning;
    const struct turing_place *operands;  /* up to TURING_SHAPE_END */
    const struct turing_field *modifiers; /* up to TURING_WORDS_NONE */
};
const struct turing_row *turing_row(unsigned row);

/* The column of sm_`sm`; 0: it is none of these. */
unsigned turing_arch(unsigned sm);
/* NULL: nobody knows of the row; else its number in *index. */
const struct turing_row *turing_find(unsigned opcode, unsigned form, unsigned arch, unsigned *index);
unsigned turing_words_bits(enum turing_words words);
/* The text of a value, "" where nothing is written; NULL: the value has no name. */
const char *turing_words_text(enum turing_words words, unsigned value);
/* The bits of an instruction's field with these words; -1: it has none. */
int turing_modifier(const struct turing_inst *inst, enum turing_words words);
/* Which bit of the reuse flags is an operand's, 0: it has none. */
unsigned turing_reuse(const struct turing_inst *inst, unsigned operand);
/* The operand that a linker writes an address into, by its place in the row; -1: it has none. is_target: where a call leads, else a
 * number in bits 32 to 63. */
int turing_linked(const struct turing_inst *inst, bool is_target);

/* ---- words ---- */

/* False: `why`, where given, says what is not known of it. */
bool turing_decode(struct turing_word word, unsigned sm, uint32_t address, struct turing_inst *out,
                   struct text_line *why);
/* False: an operand does not fit its place. What it makes decodes to the same instruction. */
bool turing_encode(const struct turing_inst *inst, unsigned sm, struct turing_word *out, struct text_line *why);

/* ---- text ---- */

/* "@!P0 IADD3 R2, P1, PT, R4.reuse, -R5, RZ" */
void turing_print(const struct turing_inst *inst, struct text_line *line);
/* "[B0-----:R-:W1:Y:S02]": scoreboards waited for, released behind reads and writes, may be switched away from, stall */
void turing_print_control(const struct turing_control *control, struct text_line *line);
/* Whether an operand is written. */
bool turing_is_printed(const struct turing_inst *inst, unsigned operand);

/* A text as turing_print writes it, up to its end, a semicolon or a line's end; blanks may be more or fewer. */
struct turing_text {
    const char *text;
    unsigned sm;
    uint32_t address;              /* of the instruction: targets are written as addresses */
    struct turing_control control; /* without reuse, which stands at operands */
    struct turing_word word;       /* out */
    size_t failed_at;              /* out: how far it could be read, and */
    const char *expected;          /* what could stand there */
};
/* False: there is no such instruction. What is found is written as the same text again; bits that no text tells are one that fits. */
bool turing_parse(struct turing_text *text, struct turing_inst *out);
/* "[B0-----:R-:W1:Y:S02]" at *at, which then stands behind it. */
bool turing_parse_control(const char **at, struct turing_control *out);

#endif
