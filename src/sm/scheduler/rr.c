/* SPDX-License-Identifier: Apache-2.0 */
/* Loose round-robin: the next ready warp after the last issued. */
#include "sm/scheduler/scheduler.h"

struct round_robin {
    unsigned last;
};

static void *rr_create(struct arena *arena, const struct scheduler_shape *shape) {
    struct round_robin *self = ARENA_NEW(arena, struct round_robin);
    self->last = shape->warps - 1;
    return self;
}

static unsigned rr_pick(void *state, const struct scheduler_view *view) {
    struct round_robin *self = state;
    return self->last = set_next(view->ready, self->last);
}

const struct scheduler_ops SCHEDULER_NAME(rr) = {
    .name = "rr", .help = "round-robin over the ready warps", .create = rr_create, .pick = rr_pick};
