/* SPDX-License-Identifier: Apache-2.0 */
/* The stages once more, for SMs of more than 64 warps: sets of slots are of 128 bits, and what has them in it has other names
 * (sm/slot_set.h). Others see such an SM as every other, by struct sm and its entries. */
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
