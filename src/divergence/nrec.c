/* No reconvergence [000 §3.1]: a warp whose threads part becomes one group per next PC, for good. The groups are
 * scheduled on their own and never join, so that in the end every thread can be a group.
 *
 * A group is whole: its threads go on when the last of them has come back, from memory as from a barrier or a warp-level
 * operation, and part then if their next PCs differ. Groups that wait at one barrier leave it as those they were. */
#include "divergence/divergence.h"
#include "isa/formed.h"
#include "isa/threads.h"

#define NREC_STATS(STAT, LARGEST)                                                                                      \
    STAT(splits, "groups", "groups that began because threads parted")                                                 \
    LARGEST(groups_largest, "groups", "groups at a time on one SM, warps that never parted among them")

struct nrec_stats {
#define FIELD(field, unit, help) uint64_t field;
    NREC_STATS(FIELD, FIELD)
#undef FIELD
};

static const struct stat_description nrec_stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct nrec_stats, field, unit, help)
#define LARGEST(field, unit, help) LARGEST_ENTRY(struct nrec_stats, field, unit, help)
    NREC_STATS(STAT, LARGEST)
#undef STAT
#undef LARGEST
        STAT_END};

struct nrec {
    struct threads threads;
    struct formed_pool pool; /* a group keeps its place until its threads have ended */
    uint16_t *group_of;      /* of each thread: its group's place */
    uint32_t *back;          /* of each place: lanes whose threads are not in flight */
    struct nrec_stats stats;
};

static void *nrec_create(struct arena *arena, const struct divergence_shape *shape) {
    struct nrec *nrec = ARENA_NEW(arena, struct nrec);
    const unsigned threads = shape->warps * shape->warp_size;
    threads_create(&nrec->threads, arena, shape->warps, shape->warp_size, shape->warps_per_block);
    formed_create(&nrec->pool, arena, threads);
    nrec->group_of = ARENA_ARRAY(arena, uint16_t, threads);
    nrec->back = ARENA_ARRAY(arena, uint32_t, threads);
    return nrec;
}

/* These lanes of the warp are a group, which waits to be issued. */
static void go_on(struct nrec *nrec, uint16_t number, unsigned warp, uint32_t pc, uint32_t lanes) {
    struct formed *formed = &nrec->pool.items[number];
    formed->pc = pc, formed->lanes = lanes;
    for (BITS_EACH(lane, lanes)) {
        const unsigned thread = warp * nrec->threads.warp_size + lane;
        formed->threads[lane] = (uint16_t)thread;
        nrec->group_of[thread] = number;
    }
    nrec->back[number] = lanes;
    formed_enqueue(&nrec->pool, number);
    if (nrec->stats.groups_largest < nrec->pool.count)
        nrec->stats.groups_largest = nrec->pool.count;
}

static uint64_t nrec_start(void *self, unsigned warp, uint32_t pc, uint32_t lanes) {
    struct nrec *nrec = self;
    if (!lanes)
        return 0;
    threads_start(&nrec->threads, warp, pc, lanes);
    go_on(nrec, formed_take(&nrec->pool, 0, pc), warp, pc, lanes);
    return formed_fill(&nrec->pool);
}

/* All threads of the group are back: it goes on, as one group for each next PC. */
static void part(struct nrec *nrec, uint16_t number, unsigned warp) {
    const uint32_t *pcs = nrec->threads.pcs + (size_t)warp * nrec->threads.warp_size;
    uint16_t place = number;
    for (uint32_t rest = nrec->pool.items[number].lanes, here; rest; rest &= ~here) {
        const uint32_t pc = pcs[bits_first(rest)];
        here = 0;
        for (BITS_EACH(lane, rest))
            here |= (uint32_t)(pcs[lane] == pc) << lane;
        if (place == FORMED_NONE) {
            place = formed_take(&nrec->pool, 0, pc);
            nrec->stats.splits++;
        }
        go_on(nrec, place, warp, pc, here);
        place = FORMED_NONE;
    }
}

static uint64_t nrec_returned(void *self, const uint16_t *threads, uint32_t lanes) {
    struct nrec *nrec = self;
    for (BITS_EACH(lane, lanes)) {
        const unsigned thread = threads[lane], warp = thread / nrec->threads.warp_size;
        const uint16_t number = nrec->group_of[thread];
        nrec->back[number] |= UINT32_C(1) << thread % nrec->threads.warp_size;
        if (nrec->back[number] == nrec->pool.items[number].lanes)
            part(nrec, number, warp);
    }
    return formed_fill(&nrec->pool);
}

static bool nrec_offer(void *self, unsigned slot, struct group *out) {
    return formed_offer(&((struct nrec *)self)->pool, slot, out);
}

static uint64_t nrec_issued(void *self, unsigned slot, const struct group *group, const struct executed *executed) {
    struct nrec *nrec = self;
    threads_issued(&nrec->threads, group, executed);
    const uint16_t number = formed_leave(&nrec->pool, slot);
    struct formed *formed = &nrec->pool.items[number];
    nrec->back[number] = 0;
    if (executed->flow == FLOW_EXIT)
        formed->lanes &= ~executed->taken;
    if (!formed->lanes)
        formed_give(&nrec->pool, number);
    return UINT64_C(1) << slot | formed_fill(&nrec->pool);
}

static uint32_t nrec_alive(const void *self, unsigned warp) { return ((const struct nrec *)self)->threads.alive[warp]; }

static void nrec_where(const void *self, unsigned warp, uint32_t pcs[LANES_MAX]) {
    threads_where(&((const struct nrec *)self)->threads, warp, pcs);
}

static unsigned nrec_show(const void *self, unsigned warp, struct group_row *rows, unsigned most) {
    const struct nrec *nrec = self;
    return formed_show(&nrec->pool, warp * nrec->threads.warp_size / nrec->threads.per_block, rows, most);
}

static const void *nrec_statistics(const void *self) { return &((const struct nrec *)self)->stats; }

/* Groups part by what their threads do, and never meet. */
static const char *nrec_needs_time(const void *params) {
    (void)params;
    return NULL;
}

const struct divergence_ops divergence_nrec = {
    .name = "nrec",
    .help = "no reconvergence: a warp that parts becomes one group per next PC, for good",
    .regroups = true,
    .needs_time = nrec_needs_time,
    .returns_together = true,
    .stats = nrec_stats_table,
    .stats_bytes = sizeof(struct nrec_stats),
    .statistics = nrec_statistics,
    .create = nrec_create,
    .start = nrec_start,
    .offer = nrec_offer,
    .issued = nrec_issued,
    .returned = nrec_returned,
    .alive = nrec_alive,
    .where = nrec_where,
    .show = nrec_show,
};
