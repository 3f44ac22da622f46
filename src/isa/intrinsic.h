/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that modules call, do not define, and the executor provides: printf, assert, malloc. */
#ifndef HEDDLE_ISA_INTRINSIC_H
#define HEDDLE_ISA_INTRINSIC_H

#include "isa/inst.h"

enum intrinsic {
    INTRINSIC_NONE,
    INTRINSIC_PRINTF,
    INTRINSIC_ASSERT,
    /* of the heap: memory performs them in turn, as atomics */
    INTRINSIC_MALLOC,
    INTRINSIC_ALIGNED_MALLOC,
    INTRINSIC_FREE,
};

enum { INTRINSIC_PARAMETERS = 5, INTRINSIC_POINTER = 255 };

/* Bytes of each parameter and of what is returned; INTRINSIC_POINTER: of an address, 0: there is none. */
struct intrinsic_form {
    const char *name;
    enum intrinsic intrinsic;
    uint8_t params[INTRINSIC_PARAMETERS];
    uint8_t returned;
};

/* All from 0 on; NULL: there are not so many, there is none of that name. */
const struct intrinsic_form *intrinsic_form_at(unsigned number);
const struct intrinsic_form *intrinsic_form_named(const char *name);
unsigned intrinsic_form_number(const struct intrinsic_form *form);
/* Of the function that the instruction calls; NULL: it calls none of these. */
const struct intrinsic_form *intrinsic_form_of(const struct inst *inst);
enum intrinsic intrinsic_of(const struct inst *inst);
static inline bool intrinsic_is_of_heap(enum intrinsic intrinsic) { return intrinsic >= INTRINSIC_MALLOC; }

#endif
