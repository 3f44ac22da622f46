/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of every arithmetic operation for one thread, in integers: the definition that the vector lanes
 * (exec/lanes.def) must agree with, and what runs where no vector lane exists. */
#ifndef HEDDLE_EXEC_SCALAR_H
#define HEDDLE_EXEC_SCALAR_H

#include "isa/inst.h"

struct scalar {
    uint64_t d;  /* result, zero-extended from its width; a predicate is 0 or 1 */
    uint64_t d2; /* second result: complement of setp, carry out */
};

/* Sources are zero-extended from their registers' widths; carry is 0 or 1. */
struct scalar scalar_evaluate(const struct inst *inst, uint64_t a, uint64_t b, uint64_t c, uint64_t e, unsigned carry);

/* memory = atom(memory, b, c); returns what memory must hold afterwards. */
uint64_t scalar_atomic(enum atom atom, enum type type, bool ftz, uint64_t memory, uint64_t b, uint64_t c);

#endif
