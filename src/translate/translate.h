/* SPDX-License-Identifier: Apache-2.0 */
/* From native instructions to the internal form: what the parts share. */
#ifndef HEDDLE_TRANSLATE_TRANSLATE_H
#define HEDDLE_TRANSLATE_TRANSLATE_H

#include "isa/timing.h"
#include "sass/native.h"

/* Registers of the internal form: the native ones under their numbers, then what only parts of instructions use. Those of
 * Fermi and Tesla; sm_75 to sm_90 have a file for each kernel (turing.h). */
enum {
    REGISTER_R = 0,
    REGISTER_P = 128,                             /* predicates of Fermi */
    REGISTER_A = REGISTER_P + 8,                  /* address registers of Tesla */
    REGISTER_C = REGISTER_A + TESLA_ADDRESSES,    /* condition codes of Tesla: the result that set them */
    REGISTER_SCRATCH = REGISTER_C + NATIVE_CODES, /* 32 bits */
    REGISTER_WIDE = REGISTER_SCRATCH + 12,        /* pairs: 64 bits */
    REGISTER_TEST = REGISTER_WIDE + 2 * 6,        /* predicates */
    REGISTER_COUNT = REGISTER_TEST + 3,
};

struct file_range {
    const char *name;
    uint32_t first;
    enum type type;
};
struct register_file {
    struct file_range ranges[8]; /* by first */
    unsigned range_count;
    uint32_t scratch, wide, test;                 /* where those of parts begin */
    uint32_t predicate, uniform, upredicate, rpc; /* sm_75 to sm_90: where those begin */
    uint32_t counted, agreed;                     /* the same: what the last barrier that reduced has left */
    uint32_t count;
};

struct turing_inst;
struct turing_meets;

struct translation {
    const struct native_program *program;
    const struct native_kernel *kernel;
    struct module *module;
    struct report *report;
    struct {
        struct inst *items;
        unsigned count, capacity;
    } code;
    struct {
        const char **items;
        unsigned count, capacity;
    } texts, controls;
    struct {
        struct inst_timing *items;
        unsigned count, capacity;
    } timing;                  /* sm_75 to sm_90, by PC */
    struct symbol **variables; /* of the program */
    const struct symbol
        *constants; /* sm_75 to sm_90: bank 3, all of it, which is no variable itself; NULL: there is none */
    const struct symbol **banks; /* of the kernel, those that are indexed */
    const struct register_file *file;
    uint32_t local_bytes;             /* sm_75 to sm_90: of a thread, where its stack begins */
    const struct turing_meets *meets; /* sm_75 to sm_90 */
    /* of the instruction under way */
    const struct native_inst *inst;   /* NULL: */
    const struct turing_inst *turing; /* sm_75 to sm_90 */
    uint32_t first;                   /* in code */
    int32_t guard;
    bool guard_negated;
    unsigned scratch, wide, test; /* used up */
    bool failed;
};

enum status translate_refuse(struct translation *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- kernels: adds the functions and instructions of t->kernel ---- */
void translate_code(struct translation *t, unsigned *function_count, struct arena *scratch);
void translate_turing(struct translation *t, unsigned *function_count, struct arena *scratch);
/* The kernel with the functions of the file that it comes to call, or itself. */
const struct native_kernel *turing_link(const struct translation *t, const struct native_kernel *kernel,
                                        struct arena *scratch);
/* kernel NULL: it is one; else a part of that one, with its registers. The registers are those of t->file. */
struct function *translate_add_function(struct translation *t, unsigned index, const char *name,
                                        const struct function *kernel);
void translate_give_params(struct translation *t, struct function *function);
void translate_give_banks(struct translation *t);
/* What listings show of the instructions added since: the native one at the last of its parts. */
void translate_put_text(struct translation *t);
/* The instruction under way as text. */
const char *translate_text(const struct translation *t, char *buffer, unsigned size);
uint32_t translate_address(const struct translation *t);

/* ---- operands ---- */
struct operand translate_register(unsigned number);
/* 64 bits in it and in the register behind it. */
struct operand translate_pair(unsigned number);
struct operand translate_number(uint64_t value);
struct operand translate_predicate(const struct native_operand *operand, bool *always);
struct operand translate_scratch(struct translation *t);
struct operand translate_wide(struct translation *t);
struct operand translate_test(struct translation *t);
/* A scratch register as wide as the type. */
struct operand translate_room(struct translation *t, enum type type);
/* 64 bits of two halves: registers side by side are the pair itself, not a copy. */
struct operand translate_pack(struct translation *t, struct operand low, struct operand high);
/* The halves of 64 bits go to these registers; either may be none. */
void translate_unpack(struct translation *t, struct operand wide, struct operand low, struct operand high);
/* What an operation of one source makes of it. */
struct operand translate_through(struct translation *t, enum op op, enum type type, struct operand from);
/* The variable that a bank of the kernel is; NULL: it has no such bank. */
const struct symbol *translate_bank_symbol(const struct translation *t, unsigned number);
/* Source n of the instruction under way, as wide as the type; signs, halves and what no operand can be are parts before. */
struct operand translate_source(struct translation *t, unsigned n, enum type type);
/* Without its signs. */
struct operand translate_plain(struct translation *t, unsigned n, enum type type);
/* Destination n; none where it is discarded. */
struct operand translate_target(const struct translation *t, unsigned n);

/* ---- instructions ---- */
struct operation {
    enum op op;
    enum type type, stype;
    enum mode mode;
    enum compare compare;
    enum boolop boolop;
    enum rounding rounding;
    unsigned flags;
};
/* Adds one; operands are copied. */
struct inst *translate_put(struct translation *t, const struct operation *operation, const struct operand *targets,
                           unsigned target_count, const struct operand *sources, unsigned source_count);
/* One destination and one to three sources. */
struct inst *translate_1(struct translation *t, struct operation operation, struct operand d, struct operand a);
struct inst *translate_2(struct translation *t, struct operation operation, struct operand d, struct operand a,
                         struct operand b);
struct inst *translate_3(struct translation *t, struct operation operation, struct operand d, struct operand a,
                         struct operand b, struct operand c);
/* A result of 64 bits in registers reg, reg + 1: where to write it, and the part that follows. */
struct operand translate_begin_pair(struct translation *t);
void translate_end_pair(struct translation *t, struct operand pair, const struct native_operand *target);

/* The n-th word behind the dots of the instruction under way. */
static inline enum native_modifier translate_word(const struct translation *t, unsigned n) {
    return t->inst->modifiers[n];
}
static inline bool translate_has(const struct translation *t, unsigned n) {
    return t->inst->modifiers[n] != MODIFIER_NONE;
}
void translate_move(struct translation *t, struct operand d, struct operand a);
/* An indirect branch: the address becomes the number of that place among those that the file names for the instruction. */
void translate_branch_to_way(struct translation *t, struct operand address);

enum compare translate_compare(enum native_modifier word);
enum boolop translate_boolop(enum native_modifier word);
enum rounding translate_rounding(enum native_modifier word);
enum type translate_type(enum native_modifier word); /* TYPE_NONE: none */
enum type translate_type_or(enum native_modifier word, enum type otherwise);
enum atom translate_atom(enum native_modifier word);
/* A place of a bank that holds a variable's address, or half of one; false: it holds none. */
bool translate_find_link(struct translation *t, unsigned bank, int64_t offset, unsigned bytes, struct operand *out);
/* The address of a function of that name that the system provides (turing_external.c); 0: it provides none. */
uint32_t translate_external(const char *name);
/* The number of the instruction is a variable's address; false: it is a number. */
bool translate_find_code_link(struct translation *t, struct operand *out);

/* ---- by instruction set: adds what the instruction under way is, all but the guard of control flow ---- */
void translate_fermi(struct translation *t);
void translate_tesla(struct translation *t);

/* Where instruction i of the kernel leads if it jumps, sets a token or pops one, as an instruction of the kernel; NO_PC: it
 * does none of these, or nothing leads to it. starts: where functions begin, ascending, start_count of them. */
void native_flow(struct translation *t, const uint32_t *starts, unsigned start_count, uint32_t *targets,
                 struct arena *scratch);
/* What instructions do to the flow of control, whatever the instruction set. */
enum native_control {
    CONTROL_NONE,
    CONTROL_BRANCH,
    CONTROL_INDIRECT,
    CONTROL_CALL,
    CONTROL_RETURN,
    CONTROL_EXIT,
    CONTROL_TOKEN, /* ssy, pbk, pcnt, pret: the op of the internal form */
    CONTROL_BREAK, /* brk, cont */
};
enum native_control native_control(enum native_isa isa, const struct native_inst *inst, enum op *token);

#endif
