/* SPDX-License-Identifier: Apache-2.0 */
/* The load/store unit, for accesses at the head of its queue that go another way: of one turn, and to other blocks' shared memory. */
#ifndef HEDDLE_SM_MEMORY_H
#define HEDDLE_SM_MEMORY_H

#include "sm/state.h"

/* One transaction; false: it is blocked. */
SM_STAGE bool sm_transact(struct sm *sm, struct queued *entry);
/* All have been looked up. */
SM_STAGE void sm_end_access(struct sm *sm, const struct queued *entry);
/* The head has gone. */
SM_STAGE void sm_pop_queue(struct sm *sm);
/* No bank of the L1 is free. */
SM_STAGE void sm_stop_pipeline(struct sm *sm);

#endif
