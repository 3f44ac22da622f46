/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the selector for sm_75 on share. Operands of instructions are named by their place in turing.def. */
#ifndef HEDDLE_SASS_SELECT_TURING_H
#define HEDDLE_SASS_SELECT_TURING_H

#include "sass/machine_turing.h"
#include "sass/select.h"

/* What a pair of words is, where an instruction takes it whole. */
struct pair_source {
    struct source lo, hi; /* of registers: units that lie side by side; of constants: words that do */
};

/* ---- select_turing.c: instructions and operands ---- */

struct machine_inst *lower_emit(struct selector *s, enum turing_row_id row, const struct inst *at);
/* With destination d. */
struct machine_inst *lower_emit_to(struct selector *s, enum turing_row_id row, const struct inst *at, uint32_t d);
void lower_word(struct machine_inst *made, enum turing_words words, unsigned value);
void lower_put(struct machine_inst *made, unsigned place, const struct source *source);
void lower_put_tuple(struct machine_inst *made, unsigned place, uint32_t first, unsigned count);
/* A predicate that is read, or a number: true or false. */
void lower_put_test(struct machine_inst *made, unsigned place, const struct operand *operand);
struct source lower_plain(const struct selector *s, const struct operand *operand);
/* In a register, or RZ. */
struct source lower_register(struct selector *s, const struct operand *operand);
struct source lower_in_register(struct selector *s, struct source source, const struct operand *operand);
struct source lower_unit(uint32_t unit);
struct source lower_number(uint32_t value);
bool lower_is_simple(const struct source *source); /* a register or RZ */
/* Of a, b and c the first is to be in a register, and at most one of the others none; a and b may change places where
 * `commutes`. */
void lower_fit(struct selector *s, struct source *a, struct source *b, struct source *c, bool commutes);
/* d = a. */
void lower_move(struct selector *s, const struct inst *inst, uint32_t d, const struct source *a);

/* ---- select_turing_pairs.c: words side by side ---- */

uint32_t lower_tuple_of(struct selector *s, const struct inst *inst, const struct operand *operands, unsigned count);
uint32_t lower_tuple_for(struct selector *s, const struct operand *operands, unsigned count, bool *copied);
void lower_move_tuple(struct selector *s, const struct inst *inst, const struct operand *operands, unsigned count,
                       uint32_t first);
/* The instruction of this block that makes both words, if nobody else reads them and its sources are what they were. */
const struct inst *lower_single_pair(const struct selector *s, const struct operand *lo, const struct operand *hi,
                                      enum op op);
void lower_wide_sum(struct selector *s, const struct inst *inst);
void lower_wide_product(struct selector *s, const struct inst *inst);
void lower_wide_shift(struct selector *s, const struct inst *inst);

/* ---- by family ---- */

void lower_sum(struct selector *s, const struct inst *inst);
enum status lower_carried(struct selector *s, const struct inst *inst);
void lower_multiply(struct selector *s, const struct inst *inst);
void lower_extreme(struct selector *s, const struct inst *inst);
void lower_logic(struct selector *s, const struct inst *inst);
void lower_shift(struct selector *s, const struct inst *inst);
enum status lower_bits(struct selector *s, const struct inst *inst);
enum status lower_float(struct selector *s, const struct inst *inst);
struct operand lower_signs(struct selector *s, struct operand operand, struct source *signs);
/* d = (a compare b) boolop with */
void lower_compare(struct selector *s, const struct inst *inst, const struct operand *d, enum boolop boolop,
                    const struct operand *with);
void lower_predicate(struct selector *s, const struct inst *inst);
void lower_choice(struct selector *s, const struct inst *inst);
enum status lower_convert(struct selector *s, const struct inst *inst);
enum status lower_access(struct selector *s, const struct inst *inst);
enum status lower_warps(struct selector *s, const struct inst *inst);
/* Its number as a special register; false: it has none. */
bool lower_special(uint32_t special, unsigned *number);
enum status lower_refused(struct selector *s, const struct inst *inst, const char *what);

#endif
