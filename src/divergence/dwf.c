/* Dynamic warp formation [000 §4]: threads that leave the pipeline are grouped anew, by their next PC, with threads of
 * other warps of their block.
 *
 * Lane aware: a thread keeps the lane of its home warp, so a group holds at most one thread of each. A returning thread
 * joins the youngest group of its PC where its lane is free there; the others of its PC begin a new group, which is the
 * youngest from then on, and the older one grows no more. Policy `time`: the group that was begun first issues first.
 * Nothing is limited: the table from PC to youngest group has an entry for every PC, the pool one for every thread. Of
 * the pool the oldest groups stand in the issue slots, where they are fetched for; the rest queue behind them. */
#include "divergence/divergence.h"
#include "isa/formed.h"
#include "isa/threads.h"

struct dwf {
    struct threads threads;
    struct formed_pool pool;
    uint16_t *youngest; /* [block][pc]: a place of the pool, FORMED_NONE */
    uint32_t code_count;
};

static void *dwf_create(struct arena *arena, const struct divergence_shape *shape) {
    struct dwf *dwf = ARENA_NEW(arena, struct dwf);
    const size_t keys = (size_t)(shape->warps / shape->warps_per_block) * shape->code_count;
    threads_create(&dwf->threads, arena, shape->warps, shape->warp_size, shape->warps_per_block);
    formed_create(&dwf->pool, arena, shape->warps * shape->warp_size);
    dwf->code_count = shape->code_count;
    dwf->youngest = ARENA_ARRAY(arena, uint16_t, keys);
    for (size_t i = 0; i < keys; i++)
        dwf->youngest[i] = FORMED_NONE;
    return dwf;
}

static uint16_t *youngest_at(struct dwf *dwf, unsigned block, uint32_t pc) {
    return &dwf->youngest[(size_t)block * dwf->code_count + pc];
}

/* Threads of one block at one PC, at most one of a lane: `home` are their lanes. */
static uint64_t join(struct dwf *dwf, unsigned block, uint32_t pc, uint32_t home, const uint16_t *by_lane) {
    const uint16_t found = *youngest_at(dwf, block, pc);
    struct formed *formed = found == FORMED_NONE ? NULL : &dwf->pool.items[found];
    uint64_t changed = 0;
    if (formed) {
        for (BITS_EACH(lane, home & ~formed->lanes))
            formed->threads[lane] = by_lane[lane];
        const uint32_t conflict = home & formed->lanes;
        formed->lanes |= home;
        changed = formed->slot == FORMED_NONE ? 0 : UINT64_C(1) << formed->slot;
        home = conflict;
    }
    if (!home)
        return changed;
    const uint16_t number = formed_take(&dwf->pool, block, pc);
    formed = &dwf->pool.items[number];
    formed->lanes = home;
    for (BITS_EACH(lane, home))
        formed->threads[lane] = by_lane[lane];
    formed_enqueue(&dwf->pool, number);
    *youngest_at(dwf, block, pc) = number;
    return changed | formed_fill(&dwf->pool);
}

static uint64_t dwf_returned(void *self, const uint16_t *threads, uint32_t lanes) {
    struct dwf *dwf = self;
    uint64_t changed = 0;
    while (lanes) {
        const unsigned first = threads[bits_first(lanes)], block = first / dwf->threads.per_block;
        const uint32_t pc = dwf->threads.pcs[first];
        uint16_t by_lane[LANES_MAX];
        uint32_t home = 0;
        for (BITS_EACH(lane, lanes)) {
            const uint16_t thread = threads[lane];
            const uint32_t bit = UINT32_C(1) << thread % dwf->threads.warp_size;
            if (dwf->threads.pcs[thread] != pc || thread / dwf->threads.per_block != block || home & bit)
                continue;
            by_lane[bits_first(bit)] = thread;
            home |= bit;
            lanes &= ~(UINT32_C(1) << lane);
        }
        changed |= join(dwf, block, pc, home, by_lane);
    }
    return changed;
}

static uint64_t dwf_start(void *self, unsigned warp, uint32_t pc, uint32_t lanes) {
    struct dwf *dwf = self;
    uint16_t threads[LANES_MAX];
    threads_start(&dwf->threads, warp, pc, lanes);
    threads_of_warp(threads, warp, dwf->threads.warp_size);
    return dwf_returned(dwf, threads, lanes);
}

static bool dwf_offer(void *self, unsigned slot, struct group *out) {
    return formed_offer(&((struct dwf *)self)->pool, slot, out);
}

static uint64_t dwf_issued(void *self, unsigned slot, const struct group *group, const struct executed *executed) {
    struct dwf *dwf = self;
    threads_issued(&dwf->threads, group, executed);
    const uint16_t number = formed_leave(&dwf->pool, slot);
    const struct formed *formed = &dwf->pool.items[number];
    uint16_t *youngest = youngest_at(dwf, formed->block, formed->pc);
    if (*youngest == number)
        *youngest = FORMED_NONE;
    formed_give(&dwf->pool, number);
    return UINT64_C(1) << slot | formed_fill(&dwf->pool);
}

static unsigned dwf_pick(void *self, uint64_t ready) {
    const struct dwf *dwf = self;
    unsigned best = bits_first64(ready);
    for (uint64_t rest = ready & (ready - 1); rest; rest &= rest - 1) {
        const unsigned slot = bits_first64(rest);
        if (formed_at(&dwf->pool, slot)->birth < formed_at(&dwf->pool, best)->birth)
            best = slot;
    }
    return best;
}

static uint32_t dwf_alive(const void *self, unsigned warp) { return ((const struct dwf *)self)->threads.alive[warp]; }

static void dwf_where(const void *self, unsigned warp, uint32_t pcs[LANES_MAX]) {
    threads_where(&((const struct dwf *)self)->threads, warp, pcs);
}

const struct divergence_ops divergence_dwf = {
    .name = "dwf",
    .help = "dynamic warp formation: threads regroup by PC after every instruction; oldest group first, no limits",
    .regroups = true,
    .create = dwf_create,
    .start = dwf_start,
    .offer = dwf_offer,
    .issued = dwf_issued,
    .returned = dwf_returned,
    .pick = dwf_pick,
    .alive = dwf_alive,
    .where = dwf_where,
};
