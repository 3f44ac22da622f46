/* SPDX-License-Identifier: Apache-2.0 */
/* A replacement policy outside Heddle's tree: the line that was used last leaves. On loops over more data than the cache holds
 * it keeps what the least recently used line would have given up. */
#include <heddle-plugin.h>

static void *mru_create(struct arena *arena, const struct replacement_shape *shape) {
    (void)shape;
    return arena_alloc(arena, 1); /* it keeps nothing: the cache has the order of use */
}

/* The lines come with the oldest first. */
static uint32_t mru_victim(const void *state, const uint32_t *lines, uint32_t count) {
    (void)state, (void)lines;
    return count - 1;
}

static void mru_filled(void *state, uint32_t line, bool replaces) { (void)state, (void)line, (void)replaces; }

static const struct replacement_ops mru_ops = {.name = "mru",
                                               .help = "the line whose last access is the most recent",
                                               .by_use = true,
                                               .create = mru_create,
                                               .victim = mru_victim,
                                               .filled = mru_filled};

HEDDLE_PLUGIN(.replacements = (const struct replacement_ops *const[]){&mru_ops, NULL});
