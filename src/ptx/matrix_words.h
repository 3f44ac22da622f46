/* SPDX-License-Identifier: Apache-2.0 */
/* Words and operands that instructions on matrices share: lower_matrix.c has them. */
#ifndef HEDDLE_PTX_MATRIX_WORDS_H
#define HEDDLE_PTX_MATRIX_WORDS_H

#include "isa/matrix.h"
#include "ptx/words.h"

bool matrix_take_shape(struct opcode_words *words, const struct matrix_form *form);
bool matrix_take_element(struct opcode_words *words, enum matrix_element element);
void matrix_take_rounding(struct opcode_words *words, struct inst *inst);
enum type matrix_register_type(enum matrix_element element);
/* A vector of so many registers, or one without braces. */
bool matrix_destinations(struct parser *parser, struct statement *statement, struct inst_build *build,
                         const struct raw *raw, enum type type, unsigned count);
bool matrix_sources(struct parser *parser, struct statement *statement, struct inst_build *build, const struct raw *raw,
                    enum type type, unsigned count);
/* Do the words behind wmma.mma name this row of matrix.def? */
bool matrix_take_wmma(const struct statement *statement, const struct matrix_form *form, struct inst *inst);

#endif
