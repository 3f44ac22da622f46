/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of Tesla's encodings: one description, walked to write and to read. For encode_tesla.c and encode_tesla_words.c. */
#ifndef HEDDLE_SASS_ENCODE_TESLA_H
#define HEDDLE_SASS_ENCODE_TESLA_H

#include "sass/native.h"

static inline uint64_t low(unsigned width) { return (UINT64_C(1) << width) - 1; }

/* Bits that are written into, or taken from. */
struct coder {
    bool writes;
    uint64_t bits;
    bool fits;
    bool narrow; /* sources and destinations are halves */
    bool has_address;
    uint8_t address; /* the one field of an address register */
};

static inline void field(struct coder *c, unsigned at, unsigned width, uint64_t *value) {
    if (!c->writes) {
        *value = c->bits >> at & low(width);
        return;
    }
    c->fits &= *value <= low(width);
    c->bits |= (*value & low(width)) << at;
}

static inline bool flag(struct coder *c, unsigned at, bool set) {
    uint64_t value = set;
    field(c, at, 1, &value);
    return value != 0;
}

/* A number that must be written as it is. */
static inline void constant(struct coder *c, unsigned at, unsigned width, uint64_t expected) {
    uint64_t value = expected;
    field(c, at, width, &value);
    c->fits &= value == expected;
}

/* Types that are no field of their own, before the operands that they decide on. */
void code_types(struct coder *coder, const struct native_form *form, struct native_inst *inst);
/* The words whose bits the row says. */
void code_words(struct coder *coder, const struct native_form *form, struct native_inst *inst);
/* Whether an operand is half of a register. */
bool code_is_narrow(const struct coder *coder, const struct native_form *form, const struct native_inst *inst,
                    unsigned n);

#endif
