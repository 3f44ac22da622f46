/* SPDX-License-Identifier: Apache-2.0 */
/* Greedy then youngest, guided by the compiler: stay with the warp that issued last as long as its control bits let it go on, then
 * take the one that started last. */
#include "sm/scheduler/scheduler.h"

struct cggty {
    unsigned last;
};

static void *cggty_create(struct arena *arena, const struct scheduler_shape *shape) {
    struct cggty *self = ARENA_NEW(arena, struct cggty);
    self->last = set_first(shape->mine);
    return self;
}

static unsigned cggty_pick(void *state, const struct scheduler_view *view) {
    struct cggty *self = state;
    if (!set_has(view->ready, self->last))
        self->last = set_youngest(view->ready, view->older);
    return self->last;
}

const struct scheduler_ops SCHEDULER_NAME(cggty) = {.name = "cggty",
                                                    .help = "the same warp until it stalls, then the youngest",
                                                    .create = cggty_create,
                                                    .pick = cggty_pick};
