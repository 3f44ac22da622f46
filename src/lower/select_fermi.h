/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the Fermi selector share. */
#ifndef HEDDLE_LOWER_SELECT_FERMI_H
#define HEDDLE_LOWER_SELECT_FERMI_H

#include "lower/select.h"
#include "lower/words.h"

struct machine_inst *fermi_emit(struct selector *s, enum fermi_row row, const struct inst *at);
/* With the first destination of the instruction, and two sources. */
struct machine_inst *fermi_emit_two(struct selector *s, enum fermi_row row, const struct inst *inst,
                                    const struct source *x, const struct source *y);
void fermi_modify(const struct selector *s, struct machine_inst *inst, enum native_slot slot,
                  enum native_modifier modifier);
void fermi_put_unit(struct machine_inst *inst, uint32_t unit);
void fermi_put_predicate(struct machine_inst *inst, const struct operand *operand);
void fermi_put_pt(struct machine_inst *inst);
void fermi_put_source(struct machine_inst *inst, const struct source *source);
struct source fermi_plain(const struct selector *s, const struct operand *operand);
struct source fermi_in_register(struct selector *s, struct source source, const struct operand *operand);
struct source fermi_register(struct selector *s, const struct operand *operand);
struct source fermi_any(struct selector *s, const struct operand *operand);
struct source fermi_any_float(struct selector *s, const struct operand *operand);
bool fermi_is_simple(const struct selector *s, const struct operand *operand);
/* The first source of an instruction must be in a register: it is to be one that is. True: they changed places. */
bool fermi_order(const struct selector *s, struct operand *a, struct operand *b);
bool fermi_fits(uint32_t value); /* an immediate of 20 bits */
/* Words side by side, of sources (copies where they cannot lie so), of destinations (*copied: to be moved to where they
 * belong behind the instruction). */
uint32_t fermi_tuple_of(struct selector *s, const struct inst *inst, const struct operand *operands, unsigned count);
void fermi_move_tuple(struct selector *s, const struct inst *inst, const struct operand *operands, unsigned count,
                      uint32_t first);
void fermi_put_tuple(struct machine_inst *inst, uint32_t first, unsigned count);

void fermi_shift(struct selector *s, const struct inst *inst);
void fermi_two(struct selector *s, const struct inst *inst, enum fermi_row row, enum native_slot slot,
               enum native_modifier modifier);
void fermi_sum(struct selector *s, const struct inst *inst);
void fermi_multiply(struct selector *s, const struct inst *inst);
void fermi_extreme(struct selector *s, const struct inst *inst);
void fermi_logic(struct selector *s, const struct inst *inst);
void fermi_not(struct selector *s, const struct inst *inst);
void fermi_negation(struct selector *s, const struct inst *inst);
void fermi_field(struct selector *s, const struct inst *inst);
void fermi_permute(struct selector *s, const struct inst *inst);
void fermi_count(struct selector *s, const struct inst *inst);
enum status fermi_float(struct selector *s, const struct inst *inst);
void fermi_compare(struct selector *s, const struct inst *inst, const struct operand *d, enum boolop boolop,
                   const struct operand *with);
void fermi_predicate(struct selector *s, const struct inst *inst);
enum status fermi_convert(struct selector *s, const struct inst *inst);
enum status fermi_access(struct selector *s, const struct inst *inst);
enum status fermi_barrier(struct selector *s, const struct inst *inst);

#endif
