/* Two levels [002 §5]: warps in fetch groups, round-robin within the prioritised group; when all of it waits for
 * long-latency operations the next group gets priority and the old one the lowest. */
#include "base/bits.h"
#include "sm/scheduler/scheduler.h"

enum { GROUPS_MAX = 64 };

struct two_level {
    unsigned group_count, current;
    uint64_t members[GROUPS_MAX];
    unsigned last[GROUPS_MAX]; /* a round-robin pointer per group */
};

static void *two_level_create(struct arena *arena, unsigned warps, uint64_t mine, unsigned group) {
    struct two_level *self = ARENA_NEW(arena, struct two_level);
    unsigned filled = 0;
    for (unsigned warp = 0; warp < warps; warp++) {
        if (!(mine >> warp & 1))
            continue;
        self->members[filled / group] |= UINT64_C(1) << warp;
        self->last[filled / group] = warps - 1;
        filled++;
    }
    self->group_count = (filled + group - 1) / group;
    return self;
}

static unsigned two_level_pick(void *state, const struct scheduler_view *view) {
    struct two_level *self = state;
    for (unsigned n = 0; n < self->group_count && !(self->members[self->current] & ~view->stalled); n++)
        self->current = (self->current + 1) % self->group_count;
    for (unsigned n = 0; n < self->group_count; n++) {
        const unsigned group = (self->current + n) % self->group_count;
        const uint64_t ready = view->ready & self->members[group];
        if (!ready)
            continue;
        const unsigned last = self->last[group];
        const uint64_t after = last >= 63 ? 0 : ready & ~((UINT64_C(2) << last) - 1);
        return self->last[group] = bits_first64(after ? after : ready);
    }
    return bits_first64(view->ready);
}

const struct scheduler_ops scheduler_two_level = {.name = "two-level",
                                                  .help = "round-robin in a fetch group until all of it waits, then the next group",
                                                  .create = two_level_create,
                                                  .pick = two_level_pick};
