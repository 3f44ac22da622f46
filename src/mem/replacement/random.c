/* SPDX-License-Identifier: Apache-2.0 */
/* Any line, each as likely as the others. The number is drawn with the fill before, so that an access that is blocked and asks
 * again gets the same answer. */
#include "base/rng.h"
#include "mem/replacement/replacement.h"

struct random_state {
    struct rng rng;
    uint64_t next;
};

static void *random_create(struct arena *arena, const struct replacement_shape *shape) {
    struct random_state *self = ARENA_NEW(arena, struct random_state);
    rng_seed(&self->rng, shape->seed);
    self->next = rng_u64(&self->rng);
    return self;
}

static uint32_t random_victim(const void *state, const uint32_t *lines, uint32_t count) {
    const struct random_state *self = state;
    (void)lines;
    return (uint32_t)(self->next % count);
}

static void random_filled(void *state, uint32_t line, bool replaces) {
    struct random_state *self = state;
    (void)line, (void)replaces;
    self->next = rng_u64(&self->rng);
}

static void random_keep(void *state, struct keep *keep) {
    struct random_state *self = state;
    keep_counts(keep, self->rng.state, sizeof self->rng.state);
    keep_u64(keep, &self->next, UINT64_MAX);
}

const struct replacement_ops replacement_random = {.name = "random",
                                                   .help = "any line, by the seed",
                                                   .create = random_create,
                                                   .victim = random_victim,
                                                   .filled = random_filled,
                                                   .keep = random_keep};
