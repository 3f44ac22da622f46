/* SPDX-License-Identifier: Apache-2.0 */
/* Native code of Fermi and Tesla (GT200): instructions as their disassembler writes them, which the text parsers, the
 * decoder, the printer, the way to the internal form and the lowering from PTX all share. The tables are fermi.def and
 * tesla.def; modifiers.def has the words behind the dots. Programs of sm_75 to sm_90 are read from files and printed, their
 * instructions by turing.h; translate_turing*.c says what of them is executed. */
#ifndef HEDDLE_SASS_NATIVE_H
#define HEDDLE_SASS_NATIVE_H

#include "base/arena.h"
#include "base/status.h"
#include "isa/module.h"

enum native_isa { NATIVE_FERMI, NATIVE_TESLA, NATIVE_TURING };

enum fermi_row {
#define ROW(id, ...) FERMI_##id,
#include "sass/fermi.def"
#undef ROW
    FERMI_ROWS
};
enum tesla_row {
#define ROW(id, ...) TESLA_##id,
#include "sass/tesla.def"
#undef ROW
    TESLA_ROWS
};

enum native_modifier {
    MODIFIER_NONE,
#define MODIFIER(id, text) MODIFIER_##id,
#include "sass/modifiers.def"
    MODIFIER_COUNT
};
enum native_slot {
    NATIVE_SLOT_NONE,
#define SLOT(id, ...) NATIVE_SLOT_##id,
#include "sass/modifiers.def"
    NATIVE_SLOT_COUNT
};

enum {
    NATIVE_OPERANDS_MAX = 6,
    NATIVE_SLOTS_MAX = 5,
    FERMI_RZ = 63,           /* reads 0, discards */
    FERMI_PT = 7,            /* true, discards */
    TESLA_ZERO = 124,        /* R124 reads 0 */
    TESLA_REGISTERS = 124,   /* R0 to R123 */
    FERMI_REGISTERS = 63,    /* R0 to R62 */
    FERMI_PREDICATES = 7,    /* P0 to P6 */
    NATIVE_CODES = 4,        /* C0 to C3 */
    TESLA_ADDRESSES = 4,     /* A0 to A3 */
    NATIVE_NO_ADDRESS = 255, /* of a shared operand without an address register */
    FERMI_PARAM_BASE = 0x20, /* c[0x0][0x20]: the kernel's parameters */
    FERMI_SIZES_BASE = 0x8,  /* c[0x0][0x8]: sizes of the block and the grid in x, y, z, four bytes each */
    TESLA_PARAM_BASE = 0x10, /* g[0x4] in words: the kernel's parameters; its shared variables lie behind them */
    TESLA_ENVIRONMENT = 15,  /* c[0xf], where a program gives no such bank: environment registers, a word each */
    FERMI_INST_BYTES = 8,
    TESLA_SHORT_BYTES = 4,
    NATIVE_VARIABLE_ALIGN = 256,
};

enum native_kind {
    NATIVE_NONE,      /* an operand that may be absent, and is */
    NATIVE_REG,       /* R`reg`; Fermi: 64-bit values in reg, reg + 1 */
    NATIVE_PREDICATE, /* P`reg`; `inverted`: !P */
    NATIVE_ADDRESS,   /* A`reg` of Tesla */
    NATIVE_IMMEDIATE, /* `value`: 32 bits as the operation takes them (floats: their bits) */
    NATIVE_CONSTANT,  /* c[bank][value], or c[bank][R`reg` + value] where reg is not FERMI_RZ */
    NATIVE_MEMORY, /* [R`reg` + value], global14[R`reg` + value] of Tesla (bank 14); reg FERMI_RZ, TESLA_ZERO: [value] */
    NATIVE_SHARED, /* g[A`reg` + value] of Tesla, reg NATIVE_NO_ADDRESS: g[value]; value counts elements of the width */
    NATIVE_SPECIAL, /* `reg`: enum special */
    NATIVE_TARGET,  /* code at byte `value` of the kernel */
    NATIVE_SINK,    /* o[0x7f] of Tesla: discards */
    NATIVE_COMPARE, /* of Tesla's ISET, FSET: `reg` an enum native_modifier LT to GEU */
};
enum native_half { HALF_NONE, HALF_LOW, HALF_HIGH };

struct native_operand {
    uint8_t kind, reg, bank;
    uint8_t half;           /* enum native_half, of Tesla's registers: R2L, R2H */
    uint8_t width;          /* NATIVE_SHARED: enum native_modifier U8 to S32 of g[k].U16; MODIFIER_NONE: 32 bits */
    bool negated, absolute; /* -R2, |R2| */
    bool inverted;          /* ~R2, !P0 */
    int64_t value;
};

enum native_guard { GUARD_NONE, GUARD_PREDICATE, GUARD_CODE };

struct native_inst {
    uint16_t row;       /* enum fermi_row or tesla_row */
    uint8_t guard;      /* enum native_guard */
    uint8_t guard_reg;  /* predicate or condition code */
    uint8_t guard_test; /* GUARD_CODE: enum native_modifier LT to GEU, of the code against 0 */
    bool guard_inverted;
    bool pops;                           /* .S */
    bool ends;                           /* Tesla: the thread ends behind it, .EXIT */
    bool sets_code;                      /* Fermi R2.CC: the carry of the result is kept, .X reads it */
    uint8_t modifiers[NATIVE_SLOTS_MAX]; /* by slot of the row, enum native_modifier; MODIFIER_NONE: not written */
    uint8_t operand_count;               /* places of the row's shape that are given or NATIVE_NONE */
    struct native_operand operands[NATIVE_OPERANDS_MAX]; /* in the order of the text */
    uint32_t address;                                    /* byte in the kernel */
    uint8_t bytes;                                       /* 8; of Tesla 4 or 8 */
    bool has_encoding;
    uint64_t encoding; /* the listing writes its lower half first */
    uint32_t line;     /* of the text; 0: none */
};

/* Bytes that c[bank] holds when the program is loaded. Bank 2: user constants; 16: the kernel's literals. */
struct native_bank {
    uint32_t number;
    uint8_t *bytes;
    uint32_t byte_count;
};

/* A parameter's place in the block of parameters. */
struct native_param {
    uint32_t offset, bytes;
};

/* A place that the indirect branch at byte `from` may lead to. */
struct native_way {
    uint32_t from, to;
};

/* `bytes` from `offset` on, of a bank or a variable, are the address of a variable + addend. */
/* Banks of links in code: the number of 32 bits in the instruction at byte `offset` is the address, or a half of it; of
 * sm_75 on NATIVE_CODE is where a call leads. */
enum { NATIVE_CODE = 32, NATIVE_CODE_LOW, NATIVE_CODE_HIGH };
#define NATIVE_NO_VARIABLE UINT32_MAX /* of a function or in shared memory: the device knows it, no file does */
struct native_link {
    uint32_t bank; /* of links in variables 0; from NATIVE_CODE on in code */
    uint32_t offset, bytes;
    uint32_t variable;
    int64_t addend;
    const char *symbol; /* of NATIVE_NO_VARIABLE; NULL: nobody has said */
};

/* A variable of the module, in global memory, at a multiple of NATIVE_VARIABLE_ALIGN. */
enum { NATIVE_REFERENCE_BYTES = 8 };
struct native_variable {
    const char *name;
    bool
        is_reference; /* sm_75 to sm_90: it holds the handle of a texture or a surface; links in bank 0 are that, not its address */
    uint64_t byte_count;
    const uint8_t *init; /* of the first init_bytes, of which the last is not 0; the rest is 0 */
    uint64_t init_bytes;
    struct native_link *links; /* where init holds 0; by offset, none over another */
    unsigned link_count;
};

/* The line of the source that an instruction comes from; file 0: nobody has said. */
struct native_place {
    uint16_t file; /* in the program's files */
    uint32_t line, column;
};

/* A variable in the bank of constants that all kernels of sm_75 to sm_90 share. */
struct native_constant {
    const char *name;
    uint32_t offset, bytes;
};

/* A function in a kernel's code, from byte `address` on. */
struct native_label {
    const char *name;
    uint32_t address;
};

/* An operation among the lanes of a warp to which the program gives a mask, at byte `address`; the register that holds it. */
enum { NATIVE_NO_REGISTER = 255 }; /* none does */
struct native_meeting {
    uint32_t address;
    uint8_t reg;
    bool is_uniform;
};

struct turing_word;
struct native_kernel {
    const char *name;
    struct native_inst *code;        /* by address; NATIVE_TURING: NULL, but */
    const struct turing_word *words; /* code_count of them, which all decode */
    uint32_t *lines;                 /* of the program's text, by word; NULL: it has none */
    struct native_place *places;     /* by word; NULL: nobody has said */
    uint32_t *ptx_lines;             /* of the PTX that it was made from, by word; NULL: nobody has said */
    uint32_t code_count;
    bool is_function;            /* NATIVE_TURING: kernels call it */
    struct native_label *labels; /* of NATIVE_TURING, by address */
    unsigned label_count;
    uint32_t barrier_count; /* of NATIVE_TURING */
    struct native_meeting *meetings;
    unsigned meeting_count;
    uint32_t param_bytes;
    struct native_param *params; /* none: nobody has said, and every word is one */
    unsigned param_count;
    uint32_t shared_bytes; /* Tesla: behind the parameters, which lie at TESLA_PARAM_BASE */
    uint32_t local_bytes;
    uint32_t spills_from;    /* byte of local memory from which on it keeps what registers do not; 0: nobody has said */
    uint32_t register_count; /* highest used + 1 */
    struct native_way *ways; /* of all its indirect branches, in the order of indices */
    unsigned way_count;
    struct native_bank *banks;
    unsigned bank_count;
    struct native_link *links; /* in its banks and code, which hold 0 there; by bank and offset, none over another */
    unsigned link_count;
    uint32_t max_threads[3], required_threads[3]; /* of a block in x, y, z; 0: nobody has said */
    uint32_t cluster[3];                          /* blocks of a cluster; the same */
    uint32_t line;
};

/* By their numbers, as everything that makes kernels leaves them. */
void native_sort_banks(struct native_kernel *kernel);

struct native_program {
    struct arena arena; /* owns everything below */
    const char *name;   /* as the user knows the file */
    const char *text;
    enum native_isa isa;
    unsigned sm;        /* 20, 21; 10 to 13; 75, 80, 86, 89, 90 */
    const char **files; /* of the source; the first is none; NULL: nobody has said */
    unsigned file_count;
    struct native_variable *variables;
    unsigned variable_count;
    struct native_constant *constants; /* of NATIVE_TURING, by offset */
    unsigned constant_count;
    struct native_kernel *kernels;
    unsigned kernel_count;
};

/* What a row of the tables says; fermi.def has the words. */
struct native_form {
    const char *mnemonic, *shape, *places;
    uint64_t bits, mask;
    uint8_t slots[NATIVE_SLOTS_MAX]; /* enum native_slot; NATIVE_SLOT_NONE: no more */
    uint8_t shifts[NATIVE_SLOTS_MAX];
    /* by operand: the bit that says so, 0: not allowed */
    uint8_t negate[NATIVE_OPERANDS_MAX], absolute[NATIVE_OPERANDS_MAX], invert[NATIVE_OPERANDS_MAX];
    uint8_t carry; /* bit of .CC, 0: not allowed */
    bool unguarded;
    bool alias; /* the encoding of another row, to which it may decode */
};
const struct native_form *native_form(enum native_isa isa, unsigned row);
unsigned native_row_count(enum native_isa isa);
const char *native_modifier_text(enum native_modifier modifier);
/* Bits of a word in a slot, in the slot's own place; false: the slot does not take it. */
bool native_slot_bits(enum native_slot slot, enum native_modifier modifier, uint64_t *bits);
uint64_t native_slot_mask(enum native_slot slot);
/* The n-th word of a slot, MODIFIER_NONE behind the last. */
enum native_modifier native_slot_word(enum native_slot slot, unsigned n);
/* Fermi's name and number of a special register; NULL: it has none. Returns false where nothing has that name or number. */
const char *native_special_name(enum special special);
bool native_special_find(const char *name, unsigned length, enum special *out);
bool native_special_number(enum special special, unsigned *number);
bool native_special_at(unsigned number, enum special *out);
/* The letter of operand n in the row's shape, 0 behind the last; *written: it is a destination, *optional: may be absent. */
char native_shape(const struct native_form *form, unsigned n, bool *written, bool *optional);

/* ---- text: `text` must end in NUL; refusals name file, line, column and mnemonic ---- */
enum status native_parse(const char *name, const char *text, struct native_program *out, struct report *report);
/* The program as the disassembler would write it; what it writes can be read back. */
const char *native_print(const struct native_program *program, bool encodings, struct arena *arena);
/* The same, of one kernel only; NULL: all. */
const char *native_print_kernel(const struct native_program *program, const char *kernel, bool encodings,
                                struct arena *arena);
/* One instruction, without address and encoding: "@P0 ISETP.GE.AND P0, pt, R2, 0x1, pt;". */
const char *native_inst_text(const struct native_program *program, const struct native_inst *inst, char *buffer,
                             unsigned size);
/* program->text becomes that text, with encodings, and its lines those of kernels and instructions. */
void native_give_text(struct native_program *program);
void native_free(struct native_program *program);
/* The instruction at a byte address, NO_PC: none. */
uint32_t native_at(const struct native_kernel *kernel, int64_t address);
/* The next place from *at on that the indirect branch at a byte address may lead to, as an instruction; false: no more. NO_PC: none
 * stands there. */
bool native_way(const struct native_kernel *kernel, uint32_t from, unsigned *at, uint32_t *to);
/* Bytes of c[bank][offset] that the program gives; false: it does not. */
bool native_bank_bytes(const struct native_kernel *kernel, unsigned bank, int64_t offset, unsigned bytes,
                       uint64_t *out);
/* Where branches through a table of a bank lead, for those that the kernel says nothing of. */
void native_read_tables(enum native_isa isa, struct native_kernel *kernel, struct arena *arena);
/* The number of 32 bits in the instruction at an address, where it may be a variable's; NULL: there is none. */
struct native_operand *native_number_at(enum native_isa isa, const struct native_kernel *kernel, uint32_t address);
/* Addresses of all variables, in their order, go to where links ask for them; the program then has neither. */
void native_resolve(struct native_program *program, const uint64_t *addresses);

/* Of sm_75 to sm_90: whether the instruction at the link's byte has a place for such an address. */
bool native_takes_address(const struct native_program *program, const struct native_kernel *kernel,
                          const struct native_link *link);

/* ---- encodings ---- */

/* False: the decoder does not know it. Of Tesla's 4-byte instructions the upper half is not looked at: out->bytes. */
bool native_decode(enum native_isa isa, uint64_t encoding, uint32_t address, struct native_inst *out);
/* False: no encoding is known, or an operand does not fit. */
bool native_encode(enum native_isa isa, const struct native_inst *inst, uint64_t *out);
/* Every instruction of the kernel has one. */
bool native_is_encoded(enum native_isa isa, const struct native_kernel *kernel);
/* Those of Tesla; decoding gives the number of bytes, 0: not known. */
bool encode_tesla(const struct native_inst *inst, uint64_t *out);
unsigned decode_tesla(uint64_t encoding, uint32_t address, struct native_inst *out);

#endif
