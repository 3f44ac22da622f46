/* SPDX-License-Identifier: Apache-2.0 */
/* Two levels [002 §4.3]: warps in fetch groups, round-robin within the prioritised group; when all of it waits for
 * long-latency operations, or it has issued for too long [002 §4.4], the next group gets priority and the old one the
 * lowest. */
#include "sm/scheduler/scheduler.h"

enum { GROUPS_MAX = SET_SLOTS };

struct two_level_scheduler {
    unsigned group_count, current;
    uint32_t timeout, issues; /* issues of the prioritised group since it became that */
    slot_set members[GROUPS_MAX];
    unsigned last[GROUPS_MAX]; /* a round-robin pointer per group */
    const slot_set *near;
};

static void *two_level_create(struct arena *arena, const struct scheduler_shape *shape) {
    struct two_level_scheduler *self = ARENA_NEW(arena, struct two_level_scheduler);
    unsigned filled = 0;
    for (unsigned warp = 0; warp < shape->warps; warp++) {
        if (!(shape->mine >> warp & 1))
            continue;
        self->members[filled / shape->group] |= (slot_set)1 << warp;
        self->last[filled / shape->group] = shape->warps - 1;
        filled++;
    }
    self->group_count = (filled + shape->group - 1) / shape->group;
    self->timeout = shape->timeout;
    self->near = shape->near;
    return self;
}

static void next_group(struct two_level_scheduler *self) {
    self->current = (self->current + 1) % self->group_count;
    self->issues = 0;
}

static unsigned two_level_pick(void *state, const struct scheduler_view *view) {
    struct two_level_scheduler *self = state;
    const slot_set stalled = view->stalled & ~*self->near; /* a hit in the cache is no long-latency operation */
    for (unsigned n = 0; n < self->group_count && !(self->members[self->current] & ~stalled); n++)
        next_group(self);
    if (self->timeout && self->issues >= self->timeout)
        next_group(self);
    for (unsigned n = 0; n < self->group_count; n++) {
        const unsigned group = (self->current + n) % self->group_count;
        const slot_set ready = view->ready & self->members[group];
        if (!ready)
            continue;
        self->issues += n == 0;
        return self->last[group] = set_next(ready, self->last[group]);
    }
    return set_first(view->ready);
}

const struct scheduler_ops SCHEDULER_NAME(two_level) = {
    .name = "two-level",
    .help = "round-robin in a fetch group until all its warps wait or its time is over, then the next group",
    .create = two_level_create,
    .pick = two_level_pick};
