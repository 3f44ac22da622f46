/* SPDX-License-Identifier: Apache-2.0 */
/* Registers that hold the same value in all threads of a warp, as hardware can know it: a bit for each register, set by an
 * instruction that all threads execute on such registers and values, cleared by every other write. */
#ifndef HEDDLE_ISA_UNIFORM_H
#define HEDDLE_ISA_UNIFORM_H

#include "isa/inst.h"

/* Words of such bits for the registers that the code names. */
uint32_t uniform_words(const struct inst *code, uint32_t count);
/* What it does is decided by its operands alone, and these, its guard among them, are the same for all threads of a block. */
bool uniform_is_scalar(const uint64_t *bits, const struct inst *inst);
/* It was executed; `same`: by all threads of the warp, with one result. */
void uniform_wrote(uint64_t *bits, const struct inst *inst, bool same);

#endif
