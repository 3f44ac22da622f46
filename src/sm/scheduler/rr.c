/* Loose round-robin: the next ready warp after the last issued. */
#include "base/bits.h"
#include "sm/scheduler/scheduler.h"

struct round_robin {
    unsigned last;
};

static void *rr_create(struct arena *arena, unsigned warps, uint64_t mine, unsigned group) {
    (void)mine, (void)group;
    struct round_robin *self = ARENA_NEW(arena, struct round_robin);
    self->last = warps - 1;
    return self;
}

static unsigned rr_pick(void *state, const struct scheduler_view *view) {
    struct round_robin *self = state;
    const uint64_t after = self->last >= 63 ? 0 : view->ready & ~((UINT64_C(2) << self->last) - 1);
    self->last = bits_first64(after ? after : view->ready);
    return self->last;
}

const struct scheduler_ops scheduler_rr = {
    .name = "rr", .help = "round-robin over the ready warps", .create = rr_create, .pick = rr_pick};
