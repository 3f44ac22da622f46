/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel on its way from PTX to native code: all it calls put in place, blocks with one way out each. First with the
 * registers and types of PTX (flatten.c), then legal (legal.c): 32-bit values and predicates, operations that the
 * native instruction sets have or that the selectors know sequences for. */
#ifndef HEDDLE_LOWER_BODY_H
#define HEDDLE_LOWER_BODY_H

#include "base/status.h"
#include "isa/module.h"

/* What legal code depends on. */
struct lowering_target {
    const char *name;    /* for messages */
    bool wide_addresses; /* 64-bit pointers are used whole; else their low word is enough */
    bool has_double;
    bool has_fields;  /* bit fields, counts of bits, bytes picked */
    bool has_generic; /* addresses that lie in any space */
    bool has_carry;   /* sums give and take carries */
    /* sums, products, shifts, comparisons and conversions of 64-bit integers are one operation each, of pairs of words;
     * atomics of shared memory and of 64 bits */
    bool has_pairs;
    bool has_logic3; /* any logic of three words, funnel shifts, bits found and reversed */
    bool has_warps;  /* shuffles and the like */
    bool has_half;   /* f16 and bf16, in pairs */
};

enum body_end { END_JUMP, END_BRANCH, END_EXIT };

struct body_block {
    struct {
        struct inst *items;
        unsigned count, capacity;
    } code;
    uint8_t end; /* enum body_end */
    bool negated;
    uint32_t predicate;    /* END_BRANCH: to `taken` where predicate != negated */
    uint32_t next, taken;  /* blocks */
    const struct inst *at; /* the instruction that ends it, or the last one: for positions */
};

struct body {
    struct arena *arena;
    const struct module *module;
    const struct function *kernel;
    struct {
        struct body_block *items;
        unsigned count, capacity;
    } blocks; /* the first is the entry */
    struct {
        uint8_t *items; /* enum type */
        unsigned count, capacity;
    } registers;
    uint32_t local_bytes;                 /* frames of the kernel and of all it calls */
    const struct lowering_target *target; /* of legal code */
};

/* Where instructions are put: at the end of a block, with the position of `at` and its guard. */
struct inst_builder {
    struct body *body;
    uint32_t block;
    const struct inst *at;
};

uint32_t body_register(struct body *body, enum type type);
uint32_t body_block_new(struct body *body);
struct operand operand_register(uint32_t reg);
struct operand operand_immediate(uint64_t bits);
struct operand operand_not(struct operand predicate);
static inline bool operand_is_immediate(const struct operand *operand, uint32_t value) {
    return operand->kind == OPERAND_IMM && (uint32_t)operand->imm == value;
}

/* An instruction with room for its operands, at the end of the builder's block. */
struct inst *build_inst(struct inst_builder *to, enum op op, enum type type, unsigned dst_count, unsigned src_count);
/* d = op(sources) into a register that is given; sources of kind OPERAND_NONE at the end are absent. */
struct inst *build_to(struct inst_builder *to, struct operand d, enum op op, enum type type,
                      const struct operand sources[3]);
/* The same into a new register of the type (TYPE_PRED for comparisons). Constants are folded where that is exact.
 * Of the arguments of a call and of the values of an initialiser at most one may build: compilers differ in which they
 * evaluate first, and the code would with them. Others are built before, in locals. */
struct operand build1(struct inst_builder *to, enum op op, enum type type, struct operand a);
struct operand build2(struct inst_builder *to, enum op op, enum type type, struct operand a, struct operand b);
struct operand build3(struct inst_builder *to, enum op op, enum type type, struct operand a, struct operand b,
                      struct operand c);
struct operand build_high(struct inst_builder *to, enum type type, struct operand a, struct operand b); /* mul.hi */
struct operand build_compare(struct inst_builder *to, enum compare compare, enum type type, struct operand a,
                             struct operand b);
/* (a compare b) boolop c, of sources a, b, c */
struct operand build_compare_and(struct inst_builder *to, enum compare compare, enum type type, enum boolop boolop,
                                 const struct operand sources[3]);
struct operand build_convert(struct inst_builder *to, enum type type, enum type from, enum rounding rounding,
                             struct operand a);
struct operand build_select(struct inst_builder *to, struct operand predicate, struct operand yes, struct operand no);
void build_move(struct inst_builder *to, struct operand d, struct operand a);
/* The end of the builder's block; the builder goes on in `next`. */
void build_branch(struct inst_builder *to, struct operand predicate, uint32_t taken, uint32_t next);
void build_jump(struct inst_builder *to, uint32_t next);

/* The kernel with all it calls in place, in types of PTX. STATUS_INVALID where that cannot be done: recursion,
 * calls through addresses, functions that are not there. */
enum status flatten(const struct module *module, const struct function *kernel, struct arena *arena, struct body **out,
                    struct report *report);
/* Legal, from what flatten made. */
enum status legalise(const struct body *body, const struct lowering_target *target, struct body **out,
                     struct report *report);
/* Who reads a copy reads what it was made of, where that is still there. */
void legal_forward_copies(struct body *body);
/* Accesses of words side by side become wide ones, where that is known to be aligned. */
void widen_accesses(struct body *body);
/* Takes away what nobody reads and blocks that are not reached. */
void body_clean(struct body *body);
/* "name.ptx:12:3: error: ISA: unsupported: what" */
enum status body_refuse(const struct body *body, const struct inst *at, const char *isa, const char *what,
                        struct report *report);

#endif
