/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of sm_75 on between selection and layout: how they are made. Operands are named by their place in the row of
 * turing.def. */
#ifndef HEDDLE_LOWER_MACHINE_TURING_H
#define HEDDLE_LOWER_MACHINE_TURING_H

#include "lower/machine.h"

/* Values of TURING_WORDS_COMPARE; of floats the same, with eight more for unordered ones. */
enum turing_compare {
    TURING_COMPARE_LT = 1,
    TURING_COMPARE_EQ,
    TURING_COMPARE_LE,
    TURING_COMPARE_GT,
    TURING_COMPARE_NE,
    TURING_COMPARE_GE,
    TURING_COMPARE_NUM,
    TURING_COMPARE_UNORDERED,
};

/* Between a register, or several side by side, and local memory. */
struct turing_transfer {
    bool is_load;
    uint32_t unit, place;
    unsigned width;
};

/* All places hold RZ, PT and the like, all words what is not written. */
struct machine_inst *machine_turing(struct machine_kernel *machine, uint32_t block, enum turing_row_id row,
                                    const struct inst *at);
struct turing_inst turing_standard(enum turing_row_id row, unsigned sm);
void turing_set_word(struct turing_inst *inst, enum turing_words words, unsigned value);
/* The form that its operands ask for. */
void turing_set_form(struct turing_inst *inst);
void machine_put_unit(struct machine_inst *inst, unsigned place, uint32_t unit);
void machine_put_number(struct machine_inst *inst, unsigned place, int64_t value);

void turing_emit_local(struct machine_kernel *machine, uint32_t block, const struct turing_transfer *transfer,
                       const struct inst *at);
/* predicate = (word == value), or != */
void turing_emit_test(struct machine_kernel *machine, uint32_t block, uint32_t predicate, uint32_t word, uint32_t value,
                      bool is_equal);
/* word = predicate, as 1 or 0 */
void turing_emit_keep(struct machine_kernel *machine, uint32_t block, uint32_t predicate, uint32_t word,
                      const struct inst *at);
void turing_emit_number(struct machine_kernel *machine, uint32_t block, uint32_t unit, uint32_t value);

#endif
