/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of legal.c: PTX operations as 32-bit operations. */
#ifndef HEDDLE_LOWER_LEGAL_H
#define HEDDLE_LOWER_LEGAL_H

#include "lower/body.h"

/* A 64-bit value. */
struct wide {
    struct operand lo, hi;
};

struct legal {
    const struct body *from;
    struct body *to;
    struct inst_builder at;
    uint32_t
        *first; /* by register of `from`: its register in `to`, of 64-bit ones the low word; the high word follows */
    uint8_t *clean;      /* by register of `from`, of 16 bits: what its upper half is known to be, enum clean */
    uint32_t *block_of;  /* by block of `from` */
    bool wide_addresses; /* pointers of 64 bits are used whole; else their low word is enough */
    const struct lowering_target *target;
    struct report *report;
    unsigned start; /* where the code of the instruction at hand begins, in `start_block` */
    uint32_t start_block;
};
enum clean { CLEAN_ZERO = 1, CLEAN_SIGN = 2 };

static const struct operand absent = {.kind = OPERAND_NONE};
static inline struct operand constant(uint32_t value) { return operand_immediate(value); }

/* ---- legal.c: operands ---- */

struct operand legal_low(struct legal *l, const struct operand *operand);
struct wide legal_wide(struct legal *l, const struct operand *operand);
/* As a 32-bit number of a type of 8 to 32 bits. */
struct operand legal_narrow(struct legal *l, const struct operand *operand, enum type type);
/* The value goes to the register: what made it writes there, where that can be. */
void legal_put(struct legal *l, const struct operand *d, struct operand value);
void legal_put_wide(struct legal *l, const struct operand *d, struct wide value);
enum status legal_refuse(struct legal *l, const struct inst *inst, const char *what);
/* popc, clz, brev of a word. */
struct operand legal_bits(const struct legal *l, struct inst_builder *to, enum op op, struct operand a);
bool legal_is_wide(const struct legal *l, const struct operand *operand);

/* An operation of pairs of words, where the target has it: its two results. */
struct wide build_pair(struct inst_builder *to, enum op op, enum type type, const struct operand *sources,
                       unsigned count);

/* ---- legal_move.c: moves and choices ---- */

enum status legal_move(struct legal *l, const struct inst *inst);
enum status legal_slct(struct legal *l, const struct inst *inst);

/* ---- legal_integer.c: integers of up to 32 bits ---- */

enum status legal_multiply(struct legal *l, const struct inst *inst);
enum status legal_mul24(struct legal *l, const struct inst *inst);
enum status legal_integer(struct legal *l, const struct inst *inst);

/* ---- legal_wide.c: 64-bit integers ---- */

struct wide wide_add(struct inst_builder *to, struct wide a, struct wide b, bool subtract);
struct wide wide_multiply(struct inst_builder *to, struct wide a, struct wide b);
struct wide wide_product(struct inst_builder *to, enum type type, struct operand a, struct operand b);
struct wide wide_shift(struct inst_builder *to, enum op op, enum type type, struct wide a, struct operand n);
struct operand wide_compare(struct inst_builder *to, enum compare compare, enum type type, struct wide a,
                            struct wide b);
struct wide wide_select(struct inst_builder *to, struct operand predicate, struct wide yes, struct wide no);
struct wide wide_negate(struct inst_builder *to, struct wide a);
enum status legal_wide_inst(struct legal *l, const struct inst *inst);

/* ---- legal_divide.c: division and square roots ---- */

/* Quotient or remainder of 32-bit numbers as exec has them: division by 0 gives all ones, and the remainder is a. */
struct operand divide_unsigned(struct inst_builder *to, struct operand a, struct operand b, bool remainder);
struct operand divide_signed(struct inst_builder *to, struct operand a, struct operand b, bool remainder);
struct wide divide_wide(struct inst_builder *to, enum type type, struct wide a, struct wide b, bool remainder);
struct operand divide_float(const struct legal *l, struct inst_builder *to, struct operand a, struct operand b,
                            enum rounding rounding);
struct operand root_float(struct inst_builder *to, struct operand a, enum rounding rounding);
/* Whether a number is rounded up whose last place is that of m, with two bits below it; OPERAND_NONE: never. */
struct operand legal_rounds_up(struct inst_builder *to, enum rounding rounding, struct operand m, struct operand rest,
                               struct operand negative);

/* ---- legal_double.c: doubles beyond sums and products ---- */

enum status legal_double_rest(struct legal *l, const struct inst *inst);

/* ---- legal_half.c: f16 and bf16, alone and in pairs ---- */

bool legal_is_half(enum type type);
enum status legal_half(struct legal *l, const struct inst *inst);
enum status legal_convert_half(struct legal *l, const struct inst *inst);
/* One or two predicates: of pairs one for each half. */
void legal_compare_halves(struct legal *l, const struct inst *inst, enum type type, struct operand out[2]);

/* A float made of another: flags are those of its conversion, .sat and .ftz. */
struct operand legal_same_float(struct inst_builder *to, struct operand a, unsigned flags);

/* ---- legal_compare.c, legal_convert.c, legal_memory.c ---- */

enum status legal_setp(struct legal *l, const struct inst *inst);
enum status legal_predicate(struct legal *l, const struct inst *inst);
enum status legal_convert(struct legal *l, const struct inst *inst);
/* From an f32 that is given, to a double or an integer. */
enum status legal_convert_float(struct legal *l, const struct inst *inst, struct operand a);
/* Address and, where pointers are used whole, its upper word. */
void legal_take_address(struct legal *l, const struct inst *inst, struct operand *address, struct operand *upper);
struct operand legal_as_register(struct legal *l, struct operand value);
/* An atomic that is a loop here. */
bool legal_atomic_loops(const struct legal *l, const struct inst *inst);
enum status legal_atomic(struct legal *l, const struct inst *inst);
enum status legal_access(struct legal *l, const struct inst *inst);
enum status legal_float(struct legal *l, const struct inst *inst);

#endif
