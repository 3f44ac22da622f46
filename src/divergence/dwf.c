/* Dynamic warp formation [000 §4]: threads that leave the pipeline are grouped anew, by their next PC, with threads of
 * other warps of their block.
 *
 * Lane aware: a thread keeps the lane of its home warp, so a group holds at most one thread of each. A returning thread
 * joins the youngest group of its PC where its lane is free there; the others of its PC begin a new group, which is the
 * youngest from then on, and the older one grows no more. Policy `time`: the group that was begun first issues first.
 * Nothing is limited: the table from PC to youngest group has an entry for every PC, the pool one for every thread. Of
 * the pool the oldest groups stand in the issue slots, where they are fetched for; the rest queue behind them. */
#include "divergence/divergence.h"
#include "isa/threads.h"

#define NONE UINT16_MAX

/* A forming warp. */
struct formed {
    uint64_t birth;
    uint32_t pc, lanes;
    uint16_t block, slot; /* slot NONE: still in the queue */
    uint16_t next;        /* in the queue, or in the list of free ones */
    uint16_t threads[LANES_MAX];
};

struct dwf {
    struct threads threads;
    struct formed *pool;
    uint16_t free, queue_first, queue_last;
    uint16_t *youngest; /* [block][pc]: a place of the pool, NONE */
    uint32_t code_count;
    uint64_t births, slots_free;
    uint16_t slots[ISSUE_SLOTS_MAX];
};

static void *dwf_create(struct arena *arena, const struct divergence_shape *shape) {
    struct dwf *dwf = ARENA_NEW(arena, struct dwf);
    const unsigned threads = shape->warps * shape->warp_size, blocks = shape->warps / shape->warps_per_block;
    threads_create(&dwf->threads, arena, shape->warps, shape->warp_size, shape->warps_per_block);
    dwf->code_count = shape->code_count;
    dwf->pool = ARENA_ARRAY(arena, struct formed, threads);
    for (unsigned i = 0; i < threads; i++)
        dwf->pool[i].next = (uint16_t)(i + 1 < threads ? i + 1 : NONE);
    dwf->queue_first = dwf->queue_last = NONE;
    dwf->youngest = ARENA_ARRAY(arena, uint16_t, (size_t)blocks * shape->code_count);
    for (size_t i = 0; i < (size_t)blocks * shape->code_count; i++)
        dwf->youngest[i] = NONE;
    dwf->slots_free = UINT64_MAX;
    return dwf;
}

static uint16_t *youngest_at(struct dwf *dwf, unsigned block, uint32_t pc) {
    return &dwf->youngest[(size_t)block * dwf->code_count + pc];
}

/* The head of the queue takes a free slot. */
static uint64_t fill_slots(struct dwf *dwf) {
    uint64_t changed = 0;
    while (dwf->slots_free && dwf->queue_first != NONE) {
        struct formed *formed = &dwf->pool[dwf->queue_first];
        const unsigned slot = bits_first64(dwf->slots_free);
        dwf->slots[slot] = dwf->queue_first;
        formed->slot = (uint16_t)slot;
        dwf->queue_first = formed->next;
        dwf->slots_free &= dwf->slots_free - 1;
        changed |= UINT64_C(1) << slot;
    }
    return changed;
}

static struct formed *begin(struct dwf *dwf, unsigned block, uint32_t pc) {
    const uint16_t number = dwf->free;
    struct formed *formed = &dwf->pool[number];
    dwf->free = formed->next;
    formed->birth = dwf->births++;
    formed->pc = pc, formed->lanes = 0;
    formed->block = (uint16_t)block, formed->slot = formed->next = NONE;
    if (dwf->queue_first == NONE)
        dwf->queue_first = number;
    else
        dwf->pool[dwf->queue_last].next = number;
    dwf->queue_last = number;
    *youngest_at(dwf, block, pc) = number;
    return formed;
}

/* Threads of one block at one PC, at most one of a lane: `home` are their lanes. */
static uint64_t join(struct dwf *dwf, unsigned block, uint32_t pc, uint32_t home, const uint16_t *by_lane) {
    const uint16_t found = *youngest_at(dwf, block, pc);
    struct formed *formed = found == NONE ? NULL : &dwf->pool[found];
    uint64_t changed = 0;
    if (formed) {
        for (BITS_EACH(lane, home & ~formed->lanes))
            formed->threads[lane] = by_lane[lane];
        const uint32_t conflict = home & formed->lanes;
        formed->lanes |= home;
        changed = formed->slot == NONE ? 0 : UINT64_C(1) << formed->slot;
        home = conflict;
    }
    if (!home)
        return changed;
    formed = begin(dwf, block, pc);
    formed->lanes = home;
    for (BITS_EACH(lane, home))
        formed->threads[lane] = by_lane[lane];
    return changed | fill_slots(dwf);
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
    struct dwf *dwf = self;
    if (dwf->slots_free >> slot & 1)
        return false;
    const struct formed *formed = &dwf->pool[dwf->slots[slot]];
    *out = (struct group){.pc = formed->pc, .lanes = formed->lanes, .stop_pc = NO_PC, .threads = formed->threads};
    return true;
}

static uint64_t dwf_issued(void *self, unsigned slot, const struct group *group, const struct executed *executed) {
    struct dwf *dwf = self;
    threads_issued(&dwf->threads, group, executed);
    const uint16_t number = dwf->slots[slot];
    struct formed *formed = &dwf->pool[number];
    uint16_t *youngest = youngest_at(dwf, formed->block, formed->pc);
    if (*youngest == number)
        *youngest = NONE;
    formed->next = dwf->free;
    dwf->free = number;
    dwf->slots_free |= UINT64_C(1) << slot;
    return UINT64_C(1) << slot | fill_slots(dwf);
}

static unsigned dwf_pick(void *self, uint64_t ready) {
    const struct dwf *dwf = self;
    unsigned best = bits_first64(ready);
    for (uint64_t rest = ready & (ready - 1); rest; rest &= rest - 1) {
        const unsigned slot = bits_first64(rest);
        if (dwf->pool[dwf->slots[slot]].birth < dwf->pool[dwf->slots[best]].birth)
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
