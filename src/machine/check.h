/* SPDX-License-Identifier: Apache-2.0 */
/* What several keys of a machine say together, for its checks and for what is made of it. */
#ifndef HEDDLE_MACHINE_CHECK_H
#define HEDDLE_MACHINE_CHECK_H

#include "machine/machine.h"

/* The next size of l1.carve_out in bytes; false: the list is over or is none. */
bool machine_next_carve_out(const char **list, uint64_t *bytes);
/* The pipeline of its SMs. */
enum sm_pipeline machine_pipeline(const struct machine *machine);
/* The one key that mechanisms replace: of threads that have one instruction in flight there is nothing to track. */
bool machine_pipeline_is_replaced(const struct machine *machine);

#endif
