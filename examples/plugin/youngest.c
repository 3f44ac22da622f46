/* SPDX-License-Identifier: Apache-2.0 */
/* A warp scheduler outside Heddle's tree: of the ready warps that which started last issues. */
#include <heddle-plugin.h>

static void *youngest_create(struct arena *arena, const struct scheduler_shape *shape) {
    (void)shape;
    return arena_alloc(arena, 1); /* it keeps nothing */
}

/* The one that no other ready warp started after: view->older[w] are those that started before w. */
static unsigned youngest_pick(void *state, const struct scheduler_view *view) {
    (void)state;
    unsigned best = set_first(view->ready);
    for (slot_set rest = view->ready; rest; rest &= rest - 1)
        if (set_has(view->older[set_first(rest)], best))
            best = set_first(rest);
    return best;
}

static const struct scheduler_ops youngest_ops = {
    .name = "youngest", .help = "the ready warp that started last", .create = youngest_create, .pick = youngest_pick};

HEDDLE_PLUGIN(.schedulers = (const struct scheduler_ops *const[]){&youngest_ops, NULL});
