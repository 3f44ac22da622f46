/* SPDX-License-Identifier: Apache-2.0 */
/* The ready warp that has made the least progress [002 §9.2.2], by the register that a program's `progress` counts up, so that
 * warps come to a barrier at about the same time. Ours: among equals round-robin, and the register begins at 0 with its
 * warp. */
#include "sm/scheduler/scheduler.h"

struct least_progress {
    const uint32_t *progress;
    unsigned last;
};

static void *progress_create(struct arena *arena, const struct scheduler_shape *shape) {
    struct least_progress *self = ARENA_NEW(arena, struct least_progress);
    self->progress = shape->progress;
    self->last = shape->warps - 1;
    return self;
}

static unsigned progress_pick(void *state, const struct scheduler_view *view) {
    struct least_progress *self = state;
    slot_set least = 0;
    uint32_t progress = UINT32_MAX;
    for (slot_set rest = view->ready; rest; rest &= rest - 1) {
        const unsigned slot = set_first(rest);
        if (self->progress[slot] < progress)
            progress = self->progress[slot], least = 0;
        if (self->progress[slot] == progress)
            least |= set_of(slot);
    }
    return self->last = set_next(least, self->last);
}

const struct scheduler_ops SCHEDULER_NAME(progress) = {
    .name = "progress",
    .help = "the warp that has executed the fewest `progress` instructions, among equals round-robin",
    .create = progress_create,
    .pick = progress_pick};
