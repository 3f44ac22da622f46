/* SPDX-License-Identifier: Apache-2.0 */
/* Static warp limiting (SWL; Rogers, O'Connor and Aamodt, MICRO 2012, section 3.2): only so many warps share the L1 at a time. The
 * oldest `scheduler.limit` of them issue, greedy then oldest; the others start when one of these ends. A warp at a barrier leaves
 * its place to the next, or those that it waits for might never come; it takes it back while other lanes of it can issue. */
#include "sm/scheduler/scheduler.h"

struct swl {
    unsigned last, limit;
    slot_set alive, waiting; /* warps that have started and not ended; those with lanes at a barrier */
    uint32_t *lanes;         /* [warp]: its lanes at a barrier */
};

static void *swl_create(struct arena *arena, const struct scheduler_shape *shape) {
    struct swl *self = ARENA_NEW(arena, struct swl);
    self->last = set_first(shape->mine);
    self->limit = shape->limit;
    self->lanes = ARENA_ARRAY(arena, uint32_t, shape->warps);
    return self;
}

static void swl_heard(void *state, const struct scheduler_event *event) {
    struct swl *self = state;
    const slot_set bit = set_of(event->warp);
    uint32_t *lanes = &self->lanes[event->warp];
    switch (event->kind) {
    case SCHEDULER_STARTED: self->alive |= bit; break;
    case SCHEDULER_ENDED: self->alive &= ~bit, *lanes = 0; break;
    case SCHEDULER_WAITS: *lanes |= event->lanes; break;
    case SCHEDULER_GOES_ON: *lanes &= ~event->lanes; break;
    default: break;
    }
    self->waiting = *lanes ? self->waiting | bit : self->waiting & ~bit;
}

static unsigned swl_pick(void *state, const struct scheduler_view *view) {
    struct swl *self = state;
    slot_set may = 0, others = self->alive & (~self->waiting | view->ready);
    for (unsigned n = 0; n < self->limit && others; n++) {
        const slot_set bit = set_of(set_oldest(others, view->older));
        may |= bit;
        others &= ~bit;
    }
    const slot_set ready = view->ready & may;
    if (!ready)
        return SCHEDULER_NONE;
    if (!set_has(ready, self->last))
        self->last = set_oldest(ready, view->older);
    return self->last;
}

const struct scheduler_ops SCHEDULER_NAME(swl) = {.name = "swl",
                                                  .help = "as gto, among the oldest scheduler.limit warps",
                                                  .create = swl_create,
                                                  .pick = swl_pick,
                                                  .hears = 1u << SCHEDULER_STARTED | 1u << SCHEDULER_ENDED |
                                                           1u << SCHEDULER_WAITS | 1u << SCHEDULER_GOES_ON,
                                                  .heard = swl_heard};
