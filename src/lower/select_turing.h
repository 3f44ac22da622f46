/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the selector for sm_75 on share. Operands of instructions are named by their place in turing.def. */
#ifndef HEDDLE_LOWER_SELECT_TURING_H
#define HEDDLE_LOWER_SELECT_TURING_H

#include "lower/machine_turing.h"
#include "lower/select.h"

/* What a pair of words is, where an instruction takes it whole. */
struct pair_source {
    struct source lo, hi; /* of registers: units that lie side by side; of constants: words that do */
};

/* ---- select_turing.c: instructions and operands ---- */

struct machine_inst *sm_emit(struct selector *s, enum turing_row_id row, const struct inst *at);
/* With destination d. */
struct machine_inst *sm_emit_to(struct selector *s, enum turing_row_id row, const struct inst *at, uint32_t d);
void sm_word(struct machine_inst *made, enum turing_words words, unsigned value);
void sm_put(struct machine_inst *made, unsigned place, const struct source *source);
void sm_put_tuple(struct machine_inst *made, unsigned place, uint32_t first, unsigned count);
/* A predicate that is read, or a number: true or false. */
void sm_put_test(struct machine_inst *made, unsigned place, const struct operand *operand);
struct source sm_plain(const struct selector *s, const struct operand *operand);
/* In a register, or RZ. */
struct source sm_register(struct selector *s, const struct operand *operand);
struct source sm_in_register(struct selector *s, struct source source, const struct operand *operand);
struct source sm_unit(uint32_t unit);
struct source sm_number(uint32_t value);
bool sm_is_simple(const struct source *source); /* a register or RZ */
/* Of a, b and c the first is to be in a register, and at most one of the others none; a and b may change places where
 * `commutes`. */
void sm_fit(struct selector *s, struct source *a, struct source *b, struct source *c, bool commutes);
/* d = a number or a constant; `is_early`: before the first block. */
void sm_load(struct selector *s, uint32_t d, const struct source *a, bool is_early);
/* d = a. */
void sm_move(struct selector *s, const struct inst *inst, uint32_t d, const struct source *a);

/* ---- select_turing_pairs.c: words side by side ---- */

uint32_t sm_tuple_of(struct selector *s, const struct inst *inst, const struct operand *operands, unsigned count);
void sm_move_tuple(struct selector *s, const struct inst *inst, const struct operand *operands, unsigned count,
                   uint32_t first);
/* The instruction of this block that makes both words, if nobody else reads them and its sources are what they were. */
const struct inst *sm_single_pair(const struct selector *s, const struct operand *lo, const struct operand *hi,
                                  enum op op);
/* Whether a register holds what it held at a place of the block. */
bool sm_is_unchanged(const struct selector *s, uint32_t reg, unsigned place);
void sm_wide_sum(struct selector *s, const struct inst *inst);
void sm_wide_product(struct selector *s, const struct inst *inst);
void sm_wide_shift(struct selector *s, const struct inst *inst);

/* ---- select_turing_half.c: pairs of f16 and bf16 ---- */

enum status sm_half(struct selector *s, const struct inst *inst);
struct machine_inst *sm_compare_halves(struct selector *s, const struct inst *inst);
/* A float of the low half. */
void sm_widen_half(struct selector *s, const struct inst *inst);
/* Two floats in a word, the first above; round: bits of TURING_WORDS_ROUND. */
void sm_pack_halves(struct selector *s, const struct inst *inst, unsigned round);

/* ---- by family ---- */

void sm_sum(struct selector *s, const struct inst *inst);
enum status sm_carried(struct selector *s, const struct inst *inst);
void sm_multiply(struct selector *s, const struct inst *inst);
void sm_dot_product(struct selector *s, const struct inst *inst);
void sm_extreme(struct selector *s, const struct inst *inst);
void sm_logic(struct selector *s, const struct inst *inst);
void sm_shift(struct selector *s, const struct inst *inst);
enum status sm_bits(struct selector *s, const struct inst *inst);
enum status sm_float(struct selector *s, const struct inst *inst);
struct operand sm_signs(struct selector *s, struct operand operand, struct source *signs);
/* d = (a compare b) boolop with */
void sm_compare(struct selector *s, const struct inst *inst, const struct operand *d, enum boolop boolop,
                const struct operand *with);
void sm_predicate(struct selector *s, const struct inst *inst);
void sm_choice(struct selector *s, const struct inst *inst);
enum status sm_convert(struct selector *s, const struct inst *inst);
enum status sm_access(struct selector *s, const struct inst *inst);
enum status sm_warps(struct selector *s, const struct inst *inst);
/* Its number as a special register; false: it has none. */
bool sm_special(uint32_t special, unsigned *number);
/* The instruction, with its own guard. */
enum status sm_inst(struct selector *s, const struct inst *inst);
enum status sm_refused(struct selector *s, const struct inst *inst, const char *what);

#endif
