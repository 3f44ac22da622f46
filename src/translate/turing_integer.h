/* SPDX-License-Identifier: Apache-2.0 */
/* Integers of sm_75 to sm_90 to the internal form: what the parts of that family share. */
#ifndef HEDDLE_TRANSLATE_TURING_INTEGER_H
#define HEDDLE_TRANSLATE_TURING_INTEGER_H

#include "translate/turing.h"

/* It is this number, whatever the program does. */
bool turing_is_number(struct operand operand, uint64_t value);
void turing_put_predicate(struct translation *t, struct operand d, struct operand from);

/* ---- sums and products ---- */
void turing_sum(struct translation *t, bool wide);
void turing_add(struct translation *t);
void turing_shift_add(struct translation *t);
void turing_multiply_add(struct translation *t);
void turing_multiply_wide(struct translation *t);
void turing_multiply_high(struct translation *t);
void turing_dot_product(struct translation *t);

/* ---- bits ---- */
void turing_logic(struct translation *t);
void turing_predicate_logic(struct translation *t);
void turing_permute(struct translation *t);
void turing_shift(struct translation *t);
void turing_extend(struct translation *t);
void turing_mask(struct translation *t);
void turing_predicates_to_register(struct translation *t);
void turing_register_to_predicates(struct translation *t);

#endif
