/* SPDX-License-Identifier: Apache-2.0 */
/* What bulk copies by address and by tensor map share. */
#ifndef HEDDLE_EXEC_BULK_H
#define HEDDLE_EXEC_BULK_H

#include "exec/state.h"

struct bulk {
    uint64_t address; /* src[0]: of global memory, or what is copied to; or of a tensor map */
    uint32_t shared, bytes, barrier;
    uint64_t done; /* in time: the cycle in which it is, where it has taken its turn; else 0 */
};

/* Shared memory of the bytes, which may be another block's of the cluster; NULL: a fault. */
uint8_t *bulk_shared(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, const struct bulk *bulk);
/* The barrier hears of the bytes, in time when they would have come; false: a fault. */
bool bulk_complete(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, const struct bulk *bulk);
/* In time: the barrier hears of it then. */
void bulk_add(struct exec *exec, struct bulk_pending one);
/* What a reduction leaves of the bytes that are there. */
void bulk_reduce(const struct inst *inst, uint8_t *memory, const uint8_t *from, uint32_t bytes);
/* In time: the SM's next copy of these bytes takes its turn; the cycle in which it is done. */
uint64_t bulk_turn(const struct exec *exec, uint32_t bytes);

#endif
