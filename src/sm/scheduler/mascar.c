/* SPDX-License-Identifier: Apache-2.0 */
/* Mascar (Sethia, Jamshidi and Mahlke, HPCA 2015): while memory is saturated one warp, the owner, issues memory instructions and the
 * others compute, so that the owner's data come and its work overlaps with their waiting; else greedy then oldest.
 *
 * Read in the abstract: the two modes, one owner, compute first. Recalled: memory is saturated when fewer MSHRs or places of the
 * queue are free than one instruction may need; the owner changes when it waits for its own loads. Ours: the next owner is the
 * oldest warp whose next instruction is one of memory. The queue of accesses that are tried again is not here: the cache of this
 * model tries the first access of the queue again in every cycle. */
#include "sm/scheduler/scheduler.h"

#define MASCAR_PARAMS(PARAM)                                                                                           \
    PARAM(mshrs, "mascar.mshrs", U32, "32", "0", "4096", "entries",                                                    \
          "memory is saturated while fewer MSHRs of the L1 are free; 0: never (recalled: lines of an instruction)")    \
    PARAM(places, "mascar.places", U32, "1", "0", "4096", "instructions",                                              \
          "memory is saturated while the queue of the load/store unit has less room; 0: never (recalled)")
#define MASCAR_STATS(STAT)                                                                                             \
    STAT(saturated, "slots", "picks while memory was saturated")                                                       \
    STAT(owners, "warps", "that became owner")                                                                         \
    STAT(held, "slots", "nothing issued: only memory instructions of others were ready")                               \
    STAT(owned, "instructions", "memory instructions of owners while memory was saturated")

struct mascar_params {
#define PARAM PARAM_FIELD
    MASCAR_PARAMS(PARAM)
#undef PARAM
};
static const struct param_description params_table[] = {
#define PARAM(field, ...) PARAM_ENTRY(struct mascar_params, field, __VA_ARGS__)
    MASCAR_PARAMS(PARAM)
#undef PARAM
        PARAM_END};

struct mascar_stats {
#define STAT(field, unit, help) uint64_t field;
    MASCAR_STATS(STAT)
#undef STAT
};
static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct mascar_stats, field, unit, help)
    MASCAR_STATS(STAT)
#undef STAT
        STAT_END};

struct mascar {
    struct mascar_params params;
    struct mascar_stats stats;
    struct scheduler_memory memory;
    unsigned last, owner; /* owner: SCHEDULER_NONE while memory is not saturated, or nobody wants it */
};

static void *mascar_create(struct arena *arena, const struct scheduler_shape *shape) {
    struct mascar *self = ARENA_NEW(arena, struct mascar);
    self->params = *(const struct mascar_params *)shape->params;
    self->memory = shape->memory;
    self->last = set_first(shape->mine), self->owner = SCHEDULER_NONE;
    return self;
}

static bool is_saturated(const struct mascar *self) {
    return (self->params.mshrs && self->memory.free_mshrs(self->memory.sm) < self->params.mshrs) ||
           (self->params.places && self->memory.queue_room(self->memory.sm) < self->params.places);
}

/* Who may issue while memory is saturated: whoever computes; when none of them can, the owner. */
static slot_set mascar_ready(struct mascar *self, const struct scheduler_view *view) {
    const slot_set memory = view->loads | view->stores, computes = view->ready & ~memory;
    if (self->owner != SCHEDULER_NONE && set_has(view->stalled, self->owner))
        self->owner = SCHEDULER_NONE;
    if (self->owner == SCHEDULER_NONE && memory)
        self->owner = set_oldest(memory, view->older), self->stats.owners++;
    if (computes)
        return computes;
    return self->owner == SCHEDULER_NONE ? 0 : memory & set_of(self->owner);
}

static unsigned mascar_pick(void *state, const struct scheduler_view *view) {
    struct mascar *self = state;
    slot_set ready = view->ready;
    const bool saturated = is_saturated(self);
    if (saturated) {
        self->stats.saturated++;
        ready = mascar_ready(self, view);
    } else
        self->owner = SCHEDULER_NONE;
    if (!ready) {
        self->stats.held++;
        return SCHEDULER_NONE;
    }
    self->last = set_greedy(ready, self->last, view->older);
    self->stats.owned += saturated && self->last == self->owner && set_has(view->loads | view->stores, self->last);
    return self->last;
}

static const void *mascar_statistics(const void *self) { return &((const struct mascar *)self)->stats; }

/* Ours: a register for the owner, and the two bits that say how full memory is. */
static void mascar_cost(const void *params, const struct cost_shape *shape, struct cost *out) {
    (void)params;
    const unsigned warp = cost_index_bits(shape->warps);
    cost_add(out, COST_REGISTERS, "owner of memory", arena_printf(out->arena, "warp %u, valid 1, saturated 2", warp), 1,
             (struct cost_array){1, warp + 3, 1, 1});
}

const struct scheduler_ops SCHEDULER_NAME(mascar) = {
    .name = "mascar",
    .help = "as gto; while memory is saturated one warp issues memory instructions and the others compute",
    .create = mascar_create,
    .pick = mascar_pick,
    .sees_memory = true,
    .own = {.params = params_table,
            .params_bytes = sizeof(struct mascar_params),
            .stats = stats_table,
            .stats_bytes = sizeof(struct mascar_stats),
            .statistics = mascar_statistics,
            .cost = mascar_cost}};
