/* SPDX-License-Identifier: Apache-2.0 */
/* The stages once more, for SMs of more than 64 warps: sets of slots are of 128 bits (sm/slot_set.h). Compiled with SM_MANY
 * and not optimised across files: others see such an SM only through what stands first in struct sm, and its entries. */
#include "sm/create.c"
#include "sm/cycle.c"
#include "sm/enqueue.c"
#include "sm/fetch.c"
#include "sm/flight.c"
#include "sm/issue.c"
#include "sm/l2.c"
#include "sm/memory.c"
#include "sm/regroup.c"
#include "sm/tell.c"
#include "sm/wait.c"
#include "sm/warps.c"
