/* SPDX-License-Identifier: Apache-2.0 */
/* Sticky round-robin, for block compaction [002 §5.2]: round-robin over the warps of one block while one of them can
 * issue, then the block of the next ready warp. */
#include "sm/scheduler/scheduler.h"

struct sticky {
    unsigned last;
    const uint8_t *places;
};

static void *sticky_create(struct arena *arena, const struct scheduler_shape *shape) {
    struct sticky *self = ARENA_NEW(arena, struct sticky);
    self->last = shape->warps - 1;
    self->places = shape->places;
    return self;
}

static unsigned sticky_pick(void *state, const struct scheduler_view *view) {
    struct sticky *self = state;
    slot_set same = 0;
    for (slot_set rest = view->ready; rest; rest &= rest - 1)
        if (self->places[set_first(rest)] == self->places[self->last])
            same |= rest & -rest;
    return self->last = set_next(same ? same : view->ready, self->last);
}

const struct scheduler_ops SCHEDULER_NAME(sticky_rr) = {
    .name = "sticky-rr",
    .help = "round-robin that stays with a block while it can issue",
    .create = sticky_create,
    .pick = sticky_pick};
