/* SPDX-License-Identifier: Apache-2.0 */
/* Static re-reference interval prediction (Jaleel, Theobald, Steely, Emer, ISCA 2010), two bits a line, hit priority: a line is
 * filled with a long interval (2) and has none (0) after a hit; the first line of a distant one (3) leaves, and where there is
 * none all lines of the set age until there is. */
#include "mem/replacement/replacement.h"

enum { DISTANT = 3, LONG = 2 };

struct srrip {
    uint32_t ways;
    uint8_t *intervals; /* of each line */
};

static void *srrip_create(struct arena *arena, const struct replacement_shape *shape) {
    struct srrip *self = ARENA_NEW(arena, struct srrip);
    self->ways = shape->ways;
    self->intervals = ARENA_ARRAY(arena, uint8_t, (size_t)shape->sets * shape->ways);
    return self;
}

static uint32_t srrip_victim(const void *state, const uint32_t *lines, uint32_t count) {
    const struct srrip *self = state;
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++)
        best = self->intervals[lines[i]] > self->intervals[lines[best]] ? i : best;
    return best;
}

/* The others age by as much as the line that left had lacked to be distant. */
static void srrip_filled(void *state, uint32_t line, bool replaces) {
    struct srrip *self = state;
    uint8_t *set = self->intervals + line / self->ways * self->ways;
    const unsigned age = replaces ? DISTANT - self->intervals[line] : 0;
    for (uint32_t way = 0; way < self->ways; way++)
        set[way] = (uint8_t)(set[way] + age < DISTANT ? set[way] + age : DISTANT);
    self->intervals[line] = LONG;
}

static void srrip_hit(void *state, uint32_t line) {
    struct srrip *self = state;
    self->intervals[line] = 0;
}

const struct replacement_ops replacement_srrip = {.name = "srrip",
                                                  .help = "the line whose next use is predicted to be the farthest off",
                                                  .create = srrip_create,
                                                  .victim = srrip_victim,
                                                  .filled = srrip_filled,
                                                  .hit = srrip_hit};
