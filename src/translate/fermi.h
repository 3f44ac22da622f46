/* SPDX-License-Identifier: Apache-2.0 */
/* What each Fermi instruction is in the internal form: what the parts share. */
#ifndef HEDDLE_TRANSLATE_FERMI_H
#define HEDDLE_TRANSLATE_FERMI_H

#include "translate/translate.h"

static inline enum type integer(bool is_unsigned) { return is_unsigned ? TYPE_U32 : TYPE_S32; }
static inline unsigned flag(bool set, unsigned value) { return set ? value : 0; }
static inline struct operand target(const struct translation *t) { return translate_target(t, 0); }

/* Loads of c[bank][R + offset]. */
void translate_constant(struct translation *t, const struct native_operand *from, enum type type,
                        const struct operand *targets, unsigned count);
/* False: it is none of memory. */
bool translate_fermi_memory(struct translation *t);
/* Integers, floating point and conversion; what is none of these either is refused. */
void translate_fermi_arithmetic(struct translation *t);

#endif
