/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, counters and hardware that the parts of a machine have of their own (cost/own.h): where their values lie, which of them count. */
#ifndef HEDDLE_MACHINE_OWN_H
#define HEDDLE_MACHINE_OWN_H

#include "machine/machine.h"

/* Mechanisms, schedulers, predictors, then replacement policies; NULL: there are not so many. */
const struct own *machine_own_at(unsigned number);
/* Where the values of its keys begin in machine->own; of NULL: where those of all end. */
size_t machine_own_offset(const struct own *own);
/* Values of its own keys that contradict each other; STATUS_OK where the machine never asks the part. */
enum status machine_check_own(const struct machine *machine, enum own_part which, struct report *report);

#endif
