/* SPDX-License-Identifier: Apache-2.0 */
/* What nobody has written: registers and local memory of a watched launch, and the values that are computed of it.
 *
 * Beside each bit of a register stands one that is set where the register holds what nobody has written, beside each byte of a kernel's
 * local memory one that says whether it was written. Copies carry that along bit by bit; any other operation makes all of its result
 * unwritten when a part of an operand is. The watch is told where such a value decides a branch, an address or what is stored. */
#ifndef HEDDLE_EXEC_UNWRITTEN_H
#define HEDDLE_EXEC_UNWRITTEN_H

#include "exec/state.h"

/* Whether the kernel may use what nobody has written: only then is it followed. */
bool unwritten_matters(const struct linked *linked);
struct unwritten *unwritten_create(struct arena *arena, const struct exec *exec);
/* A block begins: nothing is written. */
void unwritten_start(struct exec *exec);

/* What the step will do to what is known, before it does it. `lanes`: where its guard holds. */
void unwritten_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);
/* A branch, taken by some of the lanes. */
void unwritten_branch(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);
/* What a barrier gives back is written. */
void unwritten_barrier(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);

#endif
