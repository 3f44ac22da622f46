/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that go on by chance: any lanes of a warp that stand at one place may, for any number of instructions, before others do. No GPU
 * is such, but what is right is right under it. heddle check --explore. */
#include "base/rng.h"
#include "emulate/emulate.h"
#include "simt/threads.h"

#define NOBODY UINT32_MAX

struct scatter {
    struct threads threads;
    struct emulate_order order;
    struct rng rng;
    unsigned warps;
    uint32_t *ready;  /* [warp]: lanes that can go on */
    uint32_t current; /* the thread that goes on, with others or without; NOBODY: a choice is due */
    unsigned left;    /* issues that the choice still holds for */
    uint32_t with;    /* lanes of its warp that may go on with it */
    uint16_t offered[LANES_MAX];
};

static void *scatter_create(struct arena *arena, const struct divergence_shape *shape) {
    struct scatter *self = ARENA_NEW(arena, struct scatter);
    self->order = *(const struct emulate_order *)shape->params;
    rng_seed(&self->rng, self->order.seed);
    threads_create(&self->threads, arena, shape->warps, shape->warp_size, shape->warps_per_block);
    self->warps = shape->warps;
    self->ready = ARENA_ARRAY(arena, uint32_t, shape->warps);
    self->current = NOBODY;
    return self;
}

static uint64_t scatter_returned(void *control, const uint16_t *threads, uint32_t lanes) {
    struct scatter *self = control;
    for (BITS_EACH(lane, lanes))
        self->ready[threads[lane] / LANES_MAX] |= UINT32_C(1) << threads[lane] % LANES_MAX;
    return 1;
}

static uint64_t scatter_start(void *control, unsigned warp, uint32_t pc, uint32_t lanes) {
    struct scatter *self = control;
    threads_start(&self->threads, warp, pc, lanes);
    self->ready[warp] = lanes;
    self->current = NOBODY;
    return 1;
}

/* ---- the choice ---- */

/* One of the lanes, by its number or by where it stands. */
static unsigned pick_lane(struct scatter *self, unsigned warp, unsigned pick) {
    const uint32_t lanes = self->ready[warp];
    const uint32_t *pcs = &self->threads.pcs[warp * LANES_MAX];
    unsigned skip = (unsigned)rng_below(&self->rng, bits_count(lanes)), best = bits_first(lanes);
    for (BITS_EACH(lane, lanes)) {
        switch (pick) {
        case PICK_FIRST: break;
        case PICK_LAST: best = lane; break;
        case PICK_LEAST_PC: best = pcs[lane] < pcs[best] ? lane : best; break;
        case PICK_MOST_PC: best = pcs[lane] > pcs[best] ? lane : best; break;
        default: best = skip-- == 0 ? lane : best; break;
        }
    }
    return best;
}

static bool choose(struct scatter *self) {
    unsigned count = 0, warp = 0;
    for (unsigned w = 0; w < self->warps; w++)
        count += self->ready[w] != 0;
    if (!count)
        return false;
    for (unsigned skip = (unsigned)rng_below(&self->rng, count);; warp++)
        if (self->ready[warp] && skip-- == 0)
            break;
    /* now and then anyone: whoever is never picked may be waited for */
    const unsigned pick = rng_below(&self->rng, 8) ? self->order.pick : PICK_ANY;
    const unsigned lane = pick_lane(self, warp, pick);
    self->current = warp * LANES_MAX + lane;
    self->left = 1 + (unsigned)rng_below(&self->rng, self->order.burst);
    self->with = rng_below(&self->rng, 256) < self->order.part ? rng_u32(&self->rng) : UINT32_MAX;
    return true;
}

static bool scatter_offer(void *control, unsigned slot, struct group *out) {
    struct scatter *self = control;
    if (slot)
        return false;
    const uint32_t at = self->current;
    if (at == NOBODY || !self->left || !(self->ready[at / LANES_MAX] >> at % LANES_MAX & 1))
        if (!choose(self))
            return false;
    const unsigned warp = self->current / LANES_MAX;
    const uint32_t own = UINT32_C(1) << self->current % LANES_MAX, pc = self->threads.pcs[self->current];
    self->left--;
    threads_of_warp(self->offered, warp, LANES_MAX);
    *out = (struct group){.pc = pc,
                          .lanes = own | (threads_at(&self->threads, warp, pc) & self->ready[warp] & self->with),
                          .stop_pc = NO_PC,
                          .threads = self->offered};
    return true;
}

static uint64_t scatter_issued(void *control, unsigned slot, const struct group *group,
                               const struct executed *executed) {
    struct scatter *self = control;
    (void)slot;
    threads_issued(&self->threads, group, executed);
    self->ready[group->threads[bits_first(group->lanes)] / LANES_MAX] &= ~group->lanes;
    return 1;
}

static uint32_t scatter_alive(const void *control, unsigned warp) {
    return ((const struct scatter *)control)->threads.alive[warp];
}

static void scatter_where(const void *control, unsigned warp, uint32_t pcs[LANES_MAX]) {
    threads_where(&((const struct scatter *)control)->threads, warp, pcs);
}

static const struct divergence_forming forming = {.returned = scatter_returned};

const struct divergence_ops emulate_scatter = {
    .name = "scatter",
    .help = "threads go on by chance",
    .create = scatter_create,
    .start = scatter_start,
    .offer = scatter_offer,
    .issued = scatter_issued,
    .forming = &forming,
    .alive = scatter_alive,
    .where = scatter_where,
};
