/* SPDX-License-Identifier: Apache-2.0 */
/* Issue slots of warps that have several paths in flight: what their mechanism asks for, and memory for it. */
#include "sm/path_slots.h"

struct path_slots *sm_path_slots_create(struct sm *sm, unsigned paths) {
    struct path_slots *self = ARENA_NEW(sm->arena, struct path_slots);
    self->ops = sm->mechanism->paths;
    self->count = paths, self->by_lanes = paths > 1;
    if (self->by_lanes && self->ops->dividing)
        self->divides = self->ops->dividing->when(sm->shape.own_params[OWN_MECHANISM]);
    if (self->by_lanes && self->ops->turning) {
        self->takes_turns = true;
        self->turns = self->ops->turning->turns(sm->shape.own_params[OWN_MECHANISM]);
    }
    if (self->ops->beside) {
        self->seconds = self->ops->beside->seconds(sm->shape.own_params[OWN_MECHANISM]);
        self->has_seconds = self->seconds.paths || self->seconds.warps;
        self->has_ranks = self->has_seconds && self->ops->beside->rank;
    }
    self->stride = path_slots_needed(1, sm->warp_count, sm->params.schedulers);
    const unsigned ways = self->seconds.ways, warps = self->stride / sm->params.schedulers;
    self->sets = ways && ways < warps ? (warps + ways - 1) / ways : 1;
    self->registers = sm->register_words * 64;
    self->pending = ARENA_ARRAY(sm->arena, struct lanes_pending, (size_t)self->stride * self->registers);
    for (unsigned slot = 0; slot < paths * self->stride; slot++)
        self->home[slot] = (uint8_t)(slot % self->stride);
    return self;
}
