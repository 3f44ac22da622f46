/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point half of the scalar meaning. */
#ifndef HEDDLE_EXEC_SCALAR_FLOAT_H
#define HEDDLE_EXEC_SCALAR_FLOAT_H

#include "isa/inst.h"

uint64_t float_evaluate(const struct inst *inst, uint64_t a, uint64_t b, uint64_t c);
/* type: the format compared; for pairs that of one half. */
bool float_compare(const struct inst *inst, enum type type, uint64_t a, uint64_t b);
uint64_t float_convert(const struct inst *inst, uint64_t a, uint64_t b);
/* 1.0 in that type, both halves of a pair; 0 for types that are not floating point. */
uint64_t float_one(enum type type);
/* slct: a >= 0 as f32. */
bool float_not_negative(const struct inst *inst, uint64_t a);
uint64_t float_atomic_add(enum type type, bool ftz, uint64_t memory, uint64_t b);

#endif
