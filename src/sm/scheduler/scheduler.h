/* Which of the ready warps issues next: one file per policy, chosen by exact name. */
#ifndef HEDDLE_SM_SCHEDULER_SCHEDULER_H
#define HEDDLE_SM_SCHEDULER_SCHEDULER_H

#include <stdint.h>

#include "base/arena.h"
#include "base/bits.h"
#include "base/status.h"

struct scheduler_view {
    uint64_t ready;        /* warps of this scheduler that could issue; never 0 */
    uint64_t stalled;      /* warps that wait for memory or a barrier, or have ended */
    const uint64_t *older; /* [warp]: warps that started before it */
};

struct scheduler_shape {
    unsigned warps;        /* issue slots of the SM: warps, large warps, whatever the mechanism puts into them */
    uint64_t mine;         /* those of this scheduler */
    unsigned group;        /* sm.fetch_group */
    uint32_t timeout;      /* scheduler.group_timeout */
    const uint8_t *places; /* [warp]: its block's place in the SM, while it could issue */
};

struct scheduler_ops {
    const char *name, *help;
    void *(*create)(struct arena *arena, const struct scheduler_shape *shape);
    unsigned (*pick)(void *self, const struct scheduler_view *view);
};

/* Round-robin: the first of the warps, never none, behind the last. */
static inline unsigned scheduler_next(uint64_t warps, unsigned last) {
    const uint64_t after = last >= 63 ? 0 : warps & ~((UINT64_C(2) << last) - 1);
    return bits_first64(after ? after : warps);
}

/* The policy of that exact name, or NULL with those that there are in the report. */
const struct scheduler_ops *scheduler_find(const char *name, struct report *report);

#endif
