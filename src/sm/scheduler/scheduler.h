/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the ready warps issues next: one file per policy, chosen by exact name. */
#ifndef HEDDLE_SM_SCHEDULER_SCHEDULER_H
#define HEDDLE_SM_SCHEDULER_SCHEDULER_H

#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "sm/slot_set.h"

struct scheduler_view {
    slot_set ready;        /* warps of this scheduler that could issue; never 0 */
    slot_set stalled;      /* warps that wait for memory or a barrier, or have ended */
    const slot_set *older; /* [warp]: warps that started before it */
};

struct scheduler_shape {
    unsigned warps;           /* issue slots of the SM: warps, large warps, whatever the mechanism puts into them */
    slot_set mine;            /* those of this scheduler */
    unsigned group;           /* sm.fetch_group */
    uint32_t timeout;         /* scheduler.group_timeout */
    const uint8_t *places;    /* [warp]: its block's place in the SM, while it could issue */
    const slot_set *near;     /* warps whose last access to memory has met no miss so far */
    const uint32_t *progress; /* [warp]: `progress` instructions that it has issued */
};

struct scheduler_ops {
    const char *name, *help;
    void *(*create)(struct arena *arena, const struct scheduler_shape *shape);
    unsigned (*pick)(void *self, const struct scheduler_view *view);
};

/* The policy of that exact name, or NULL with those that there are in the report. */
const struct scheduler_ops *scheduler_find(const char *name, struct report *report);

#endif
