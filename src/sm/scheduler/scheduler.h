/* Which of the ready warps issues next: one file per policy, chosen by exact name. */
#ifndef HEDDLE_SM_SCHEDULER_SCHEDULER_H
#define HEDDLE_SM_SCHEDULER_SCHEDULER_H

#include "base/arena.h"
#include <stdint.h>

struct scheduler_view {
    uint64_t ready;   /* warps of this scheduler that could issue; never 0 */
    uint64_t stalled; /* warps that wait for memory or a barrier, or have ended */
    const uint64_t *older; /* [warp]: warps that started before it */
};

struct scheduler_ops {
    const char *name, *help;
    void *(*create)(struct arena *arena, unsigned warps, uint64_t mine, unsigned group);
    unsigned (*pick)(void *self, const struct scheduler_view *view);
};

const struct scheduler_ops *scheduler_find(const char *name);
const struct scheduler_ops *const *scheduler_all(void);

#endif
