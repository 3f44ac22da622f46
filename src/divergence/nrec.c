/* SPDX-License-Identifier: Apache-2.0 */
/* No reconvergence [000 §3.1]: a warp whose threads diverge becomes one group per next PC, for good. The groups are
 * scheduled on their own and never join, so that in the end every thread can be a group.
 *
 * A group is whole: its threads go on when the last of them has come back, from memory as from a barrier or a warp-level
 * operation, and part then if their next PCs differ. Groups that wait at one barrier leave it as those they were. */
#include "divergence/divergence.h"
#include "simt/formed.h"
#include "simt/threads.h"

#define NREC_STATS(STAT, LARGEST)                                                                                      \
    STAT(splits, "groups", "groups that began because threads diverged")                                               \
    LARGEST(groups_largest, "groups", "groups at a time on one SM, warps that never diverged among them")

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
    struct threads threads;  /* PCs only of groups in flight whose threads diverge */
    struct formed_pool pool; /* a group keeps its place until its threads have ended; in flight its PC is the next */
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

/* The group, of these lanes now, waits to be issued. */
static void go_on(struct nrec *nrec, uint16_t number, uint32_t pc, uint32_t lanes) {
    struct formed *formed = &nrec->pool.items[number];
    formed->pc = pc, formed->lanes = lanes;
    nrec->back[number] = lanes;
    formed_enqueue(&nrec->pool, number);
    if (nrec->stats.groups_largest < nrec->pool.count)
        nrec->stats.groups_largest = nrec->pool.count;
}

/* These lanes of the warp are a group from now on. */
static void begin(struct nrec *nrec, unsigned warp, uint32_t pc, uint32_t lanes) {
    const unsigned first = warp * nrec->threads.warp_size;
    const uint16_t number = formed_take(&nrec->pool, 0, pc);
    threads_put_row(nrec->pool.items[number].threads, first, lanes);
    for (BITS_EACH(lane, lanes))
        nrec->group_of[first + lane] = number;
    go_on(nrec, number, pc, lanes);
}

static uint64_t nrec_start(void *self, unsigned warp, uint32_t pc, uint32_t lanes) {
    struct nrec *nrec = self;
    if (!lanes)
        return 0;
    threads_start(&nrec->threads, warp, pc, lanes);
    begin(nrec, warp, pc, lanes);
    return formed_fill(&nrec->pool);
}

/* All threads of the group are back: it goes on, as one group for each next PC. */
static void part(struct nrec *nrec, uint16_t number, unsigned warp) {
    const struct formed *formed = &nrec->pool.items[number];
    const uint32_t *pcs = nrec->threads.pcs + (size_t)warp * nrec->threads.warp_size;
    const uint32_t lanes = formed->lanes;
    if (formed->pc != NO_PC) {
        go_on(nrec, number, formed->pc, lanes);
        return;
    }
    for (uint32_t rest = lanes, here; rest; rest &= ~here) {
        const uint32_t pc = pcs[bits_first(rest)];
        here = rest & threads_at(&nrec->threads, warp, pc);
        if (rest == lanes) {
            go_on(nrec, number, pc, here);
            continue;
        }
        nrec->stats.splits++;
        begin(nrec, warp, pc, here);
    }
}

static uint64_t nrec_returned(void *self, const uint16_t *threads, uint32_t lanes) {
    struct nrec *nrec = self;
    /* groups have lanes of one warp, in place, so that all that come back together do */
    const unsigned warp = threads[bits_first(lanes)] / nrec->threads.warp_size;
    const uint16_t *group_of = nrec->group_of + (size_t)warp * nrec->threads.warp_size;
    uint16_t whole[LANES_MAX];
    unsigned count = 0;
    for (uint32_t rest = lanes, here; rest; rest &= ~here) {
        const uint16_t number = group_of[bits_last(rest)];
        here = rest & nrec->pool.items[number].lanes;
        nrec->back[number] |= here;
        if (nrec->back[number] == nrec->pool.items[number].lanes)
            whole[count++] = number;
    }
    while (count) /* that whose last lane is the first goes on first */
        part(nrec, whole[--count], warp);
    return formed_fill(&nrec->pool);
}

static bool nrec_offer(void *self, unsigned slot, struct group *out) {
    return formed_offer(&((struct nrec *)self)->pool, slot, out);
}

static uint64_t nrec_issued(void *self, unsigned slot, const struct group *group, const struct executed *executed) {
    struct nrec *nrec = self;
    const uint16_t number = formed_leave(&nrec->pool, slot);
    struct formed *formed = &nrec->pool.items[number];
    formed->pc = threads_next_of_all(executed);
    nrec->back[number] = 0;
    if (formed->pc == NO_PC)
        threads_issued(&nrec->threads, group, executed);
    if (executed->flow == FLOW_EXIT) {
        formed->lanes &= ~executed->taken;
        nrec->threads.alive[group->threads[bits_first(group->lanes)] / nrec->threads.warp_size] &= ~executed->taken;
    }
    if (!formed->lanes)
        formed_give(&nrec->pool, number);
    return UINT64_C(1) << slot | formed_fill(&nrec->pool);
}

static uint32_t nrec_alive(const void *self, unsigned warp) { return ((const struct nrec *)self)->threads.alive[warp]; }

static void nrec_where(const void *self, unsigned warp, uint32_t pcs[LANES_MAX]) {
    const struct nrec *nrec = self;
    const unsigned first = warp * nrec->threads.warp_size;
    for (BITS_EACH(lane, nrec->threads.alive[warp])) {
        const uint32_t pc = nrec->pool.items[nrec->group_of[first + lane]].pc;
        pcs[lane] = pc == NO_PC ? nrec->threads.pcs[first + lane] : pc;
    }
}

static unsigned nrec_show(const void *self, unsigned warp, struct group_row *rows, unsigned most) {
    const struct nrec *nrec = self;
    return formed_show(&nrec->pool, warp * nrec->threads.warp_size / nrec->threads.per_block, rows, most);
}

static const void *nrec_statistics(const void *self) { return &((const struct nrec *)self)->stats; }

/* Groups diverge by what their threads do, and never meet. */
static const char *nrec_needs_time(const void *params) {
    (void)params;
    return NULL;
}

/* In the end every thread can be a group. */
static void nrec_cost(const void *values, const struct cost_shape *shape, struct cost *out) {
    (void)values;
    cost_split_warps(shape, out);
}

static const struct divergence_forming forming = {
    .needs_time = nrec_needs_time,
    .returns_together = true,
    .issues_each = true,
    .returned = nrec_returned,
};

const struct divergence_ops divergence_nrec = {
    .name = "nrec",
    .help = "no reconvergence: a warp that diverges becomes one group per next PC, for good",
    .own.stats = nrec_stats_table,
    .own.stats_bytes = sizeof(struct nrec_stats),
    .own.statistics = nrec_statistics,
    .own.cost = nrec_cost,
    .create = nrec_create,
    .start = nrec_start,
    .offer = nrec_offer,
    .issued = nrec_issued,
    .forming = &forming,
    .alive = nrec_alive,
    .where = nrec_where,
    .show = nrec_show,
};
