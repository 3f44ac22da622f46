/* SPDX-License-Identifier: Apache-2.0 */
/* Progress-aware scheduling (PRO; Anantpur and Govindarajan, IPDPS 2015): warps in the order of their block's progress and their own, so
 * that blocks end one after another and warps that others wait for catch up.
 *
 * Recalled: warps are ranked by the progress of block and warp, separately for blocks some of whose warps have ended, those with warps at a
 * barrier, and others. Weakly recalled: these go first in this order; of a class the block that is furthest; in a block that waits for some of its
 * warps the one that is least far, else the one that is furthest. Ours: progress is instructions times lanes; the same warp among equals while it can, then the
 * oldest. The study's second order for when no more blocks come is not here. */
#include "sm/scheduler/scheduler.h"

enum { PRO_PLACES = 256 }; /* places are bytes */

#define PRO_PARAMS(PARAM)                                                                                              \
    PARAM(blocks, "pro.blocks", BOOL, "true", "", "", "",                                                              \
          "blocks that wait for some of their warps go first, then those that are furthest")                           \
    PARAM(warps, "pro.warps", BOOL, "true", "", "", "", "within a block the progress of warps counts")
#define PRO_STATS(STAT)                                                                                                \
    STAT(ended_first, "picks", "of a block some of whose warps have ended")                                            \
    STAT(barrier_first, "picks", "of a block with warps at a barrier, and none ended")

struct pro_params {
#define PARAM PARAM_FIELD
    PRO_PARAMS(PARAM)
#undef PARAM
};
static const struct param_description params_table[] = {
#define PARAM(field, ...) PARAM_ENTRY(struct pro_params, field, __VA_ARGS__)
    PRO_PARAMS(PARAM)
#undef PARAM
        PARAM_END};

struct pro_stats {
#define STAT(field, unit, help) uint64_t field;
    PRO_STATS(STAT)
#undef STAT
};
static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct pro_stats, field, unit, help)
    PRO_STATS(STAT)
#undef STAT
        STAT_END};

struct pro_warp {
    uint64_t progress;
    uint32_t waiting; /* lanes at a barrier */
    uint8_t place;
    bool alive;
};

/* A block: as far as its warps are this scheduler's. */
struct pro_block {
    uint64_t progress;
    unsigned alive, ended, waiting; /* warps */
};

struct pro {
    const struct pro_params *params;
    struct pro_stats stats;
    const uint8_t *places;
    struct pro_warp *warps;
    struct pro_block *blocks; /* [place] */
    unsigned last;
};

static void *pro_create(struct arena *arena, const struct scheduler_shape *shape) {
    struct pro *self = ARENA_NEW(arena, struct pro);
    self->params = shape->params;
    self->places = shape->places;
    self->last = set_first(shape->mine);
    self->warps = ARENA_ARRAY(arena, struct pro_warp, shape->warps);
    self->blocks = ARENA_ARRAY(arena, struct pro_block, PRO_PLACES);
    return self;
}

static void start(struct pro *self, unsigned w) {
    struct pro_block *block = &self->blocks[self->places[w]];
    if (!block->alive)
        *block = (struct pro_block){0};
    self->warps[w] = (struct pro_warp){.place = self->places[w], .alive = true};
    block->alive++;
}

static void pro_heard(void *state, const struct scheduler_event *event) {
    struct pro *self = state;
    struct pro_warp *warp = &self->warps[event->warp];
    if (event->kind == SCHEDULER_STARTED) {
        start(self, event->warp);
        return;
    }
    struct pro_block *block = &self->blocks[warp->place];
    const bool waited = warp->waiting != 0;
    switch (event->kind) {
    case SCHEDULER_ISSUED: {
        const unsigned lanes = bits_count(event->lanes);
        warp->progress += lanes, block->progress += lanes;
        break;
    }
    case SCHEDULER_WAITS: warp->waiting |= event->lanes; break;
    case SCHEDULER_GOES_ON: warp->waiting &= ~event->lanes; break;
    case SCHEDULER_ENDED:
        block->alive -= warp->alive, block->ended += warp->alive;
        warp->alive = false, warp->waiting = 0;
        break;
    default: break;
    }
    block->waiting += (warp->waiting != 0) - (unsigned)waited;
}

/* Of a block: ended warps 2, warps at a barrier 1, neither 0. */
static unsigned class_of(const struct pro_block *block) { return block->ended ? 2 : block->waiting ? 1 : 0; }

/* Does warp a go before b? Equal: neither. */
static bool goes_before(const struct pro *self, unsigned a, unsigned b) {
    const struct pro_warp *first = &self->warps[a], *second = &self->warps[b];
    const struct pro_block *one = &self->blocks[first->place], *other = &self->blocks[second->place];
    if (self->params->blocks && first->place != second->place) {
        if (class_of(one) != class_of(other))
            return class_of(one) > class_of(other);
        if (one->progress != other->progress)
            return one->progress > other->progress;
        return false;
    }
    if (!self->params->warps || first->place != second->place)
        return false;
    return class_of(one) ? first->progress < second->progress : first->progress > second->progress;
}

static unsigned pro_pick(void *state, const struct scheduler_view *view) {
    struct pro *self = state;
    unsigned best = set_greedy(view->ready, self->last, view->older);
    for (slot_set rest = view->ready; rest; rest &= rest - 1) {
        const unsigned w = set_first(rest);
        if (goes_before(self, w, best) ||
            (!goes_before(self, best, w) && best != self->last && set_has(view->older[best], w)))
            best = w;
    }
    const unsigned class = class_of(&self->blocks[self->warps[best].place]);
    self->stats.ended_first += class == 2;
    self->stats.barrier_first += class == 1;
    return self->last = best;
}

static const void *pro_statistics(const void *self) { return &((const struct pro *)self)->stats; }

const struct scheduler_ops SCHEDULER_NAME(pro) = {.name = "pro",
                                                  .help = "blocks that wait for some of their warps first, then those "
                                                          "with most progress; within a block by the progress of warps",
                                                  .create = pro_create,
                                                  .pick = pro_pick,
                                                  .hears = 1u << SCHEDULER_STARTED | 1u << SCHEDULER_ENDED |
                                                           1u << SCHEDULER_ISSUED | 1u << SCHEDULER_WAITS |
                                                           1u << SCHEDULER_GOES_ON,
                                                  .heard = pro_heard,
                                                  .own = {.params = params_table,
                                                          .params_bytes = sizeof(struct pro_params),
                                                          .stats = stats_table,
                                                          .stats_bytes = sizeof(struct pro_stats),
                                                          .statistics = pro_statistics}};
