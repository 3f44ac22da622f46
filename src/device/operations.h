/* SPDX-License-Identifier: Apache-2.0 */
/* What instructions do by what it takes: the operation of a lane, and 32-bit words of registers. */
#ifndef HEDDLE_DEVICE_OPERATIONS_H
#define HEDDLE_DEVICE_OPERATIONS_H

#include "emulate/run_stats.h"
#include "isa/module.h"

/* Adds what so many threads did with an instruction of the function. */
void operations_add(struct run_stats *stats, const struct function *function, const struct inst *inst,
                    uint64_t threads);

#endif
