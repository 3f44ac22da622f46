/* SPDX-License-Identifier: Apache-2.0 */
/* Greedy then oldest: stay with a warp until it stalls, then take the one that started first. */
#include "sm/scheduler/scheduler.h"

struct greedy {
    unsigned last;
};

static void *gto_create(struct arena *arena, const struct scheduler_shape *shape) {
    struct greedy *self = ARENA_NEW(arena, struct greedy);
    self->last = set_first(shape->mine);
    return self;
}

static unsigned gto_pick(void *state, const struct scheduler_view *view) {
    struct greedy *self = state;
    return self->last = set_greedy(view->ready, self->last, view->older);
}

const struct scheduler_ops SCHEDULER_NAME(gto) = {
    .name = "gto", .help = "the same warp until it stalls, then the oldest", .create = gto_create, .pick = gto_pick};
