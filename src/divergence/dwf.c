/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic warp formation [000 §4]: threads that leave the pipeline are grouped anew, by their next PC, with threads of
 * other warps of their block.
 *
 * A set of returning threads joins the youngest group of its PC as far as lanes are free there; the others begin a new
 * group, which is the youngest from then on, and the older one grows no more. Lane aware, a thread keeps the lane of its
 * home warp, so that a group holds at most one thread of each. The PC-warp table (LUT) finds the youngest; of the pool the
 * groups that come first by the policy stand in the issue slots, where they are fetched for.
 *
 * Every structure is unlimited when its key is 0. A full pool, heap or table of the heap, a heap that rebalances itself
 * and ports that are taken make arrivals wait, in order, as a stalled write-back; a full set of the LUT loses its least
 * recently used entry. Issue always goes on, so that room comes. */
#include "divergence/dwf.h"

static const struct param_description dwf_params_table[] = {
#define PARAM(field, ...) PARAM_ENTRY(struct dwf_params, field, __VA_ARGS__)
    DWF_PARAMS(PARAM) PARAM_END
#undef PARAM
};

static const struct stat_description dwf_stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct dwf_stats, field, unit, help)
#define LARGEST(field, unit, help) LARGEST_ENTRY(struct dwf_stats, field, unit, help)
    DWF_STATS(STAT, LARGEST) STAT_END
#undef STAT
#undef LARGEST
};

static const uint8_t *find_homes(struct arena *arena, const struct divergence_shape *shape, bool swizzle) {
    const unsigned threads = shape->warps * shape->warp_size;
    uint8_t *home = ARENA_ARRAY(arena, uint8_t, threads);
    for (unsigned i = 0; i < threads; i++) {
        const unsigned warp = i / shape->warp_size % shape->warps_per_block;
        home[i] = (uint8_t)(i % shape->warp_size ^ (swizzle ? warp & 1 : 0));
    }
    return home;
}

static void *dwf_create(struct arena *arena, const struct divergence_shape *shape) {
    struct dwf *dwf = ARENA_NEW(arena, struct dwf);
    const struct dwf_params *params = shape->params;
    const unsigned threads = shape->warps * shape->warp_size, blocks = shape->warps / shape->warps_per_block;
    dwf->params = *params, dwf->width = shape->width;
    threads_create(&dwf->threads, arena, shape->warps, shape->warp_size, shape->warps_per_block);
    dwf->home = find_homes(arena, shape, params->swizzle);
    formed_create(&dwf->pool, arena, threads);
    dwf->place_of = ARENA_ARRAY(arena, uint16_t, threads);
    dwf->first_out = FORMED_NONE, dwf->apart = shape->apart;
    dwf->keeps_lanes = params->register_file == REGISTERS_LANE_AWARE && params->policy != POLICY_PDOM;
    assoc_create(&dwf->youngest, arena, (size_t)blocks * shape->code_count, params->lut_entries, params->lut_ways);
    dwf->code = shape->code, dwf->code_count = shape->code_count;
    dwf->now = shape->now, dwf->wake = shape->wake;
    dwf->waiting = (struct dwf_waiting){.threads = ARENA_ARRAY(arena, uint16_t, threads), .capacity = threads};
    dwf->turn = NEVER;
    dwf->counts = ARENA_ARRAY(arena, uint32_t, shape->code_count);
    dwf->majority = NO_PC;
    dwf->has_heap =
        params->policy == POLICY_MAJORITY && (params->heap_entries || params->mheap_lut_entries || params->ports);
    dwf->heap_growth = NEVER;
    if (dwf->has_heap)
        heap_create(&dwf->heap, arena, params->heap_entries ? params->heap_entries : threads, shape->code_count,
                    params->mheap_lut_entries, params->mheap_lut_ways);
    if (params->policy == POLICY_PDOM)
        dwf_find_points(dwf, arena, threads);
    return dwf;
}

static uint64_t dwf_start(void *self, unsigned warp, uint32_t pc, uint32_t lanes) {
    struct dwf *dwf = self;
    const unsigned first = warp * dwf->threads.warp_size;
    uint16_t threads[LANES_MAX] = {0};
    threads_start(&dwf->threads, warp, pc, lanes);
    threads_of_warp(threads, warp, dwf->threads.warp_size);
    for (BITS_EACH(lane, dwf->passed ? lanes : 0)) {
        dwf->passed[first + lane] = 0;
        for (unsigned i = 0; i < dwf->words; i++)
            dwf->ahead[(size_t)(first + lane) * dwf->words + i] = 0;
    }
    return dwf_returned(dwf, threads, lanes);
}

/* ---- issue ---- */

static bool dwf_offer(void *self, unsigned slot, struct group *out) {
    return formed_offer(&((struct dwf *)self)->pool, slot, out);
}

static unsigned count_turns(const struct dwf *dwf, const struct formed *formed) {
    unsigned most = 1, of_lane[LANES_MAX] = {0};
    for (BITS_EACH(lane, formed->lanes)) {
        const unsigned count = ++of_lane[dwf->home[formed->threads[lane]]];
        most = count > most ? count : most;
    }
    return most;
}

static unsigned dwf_turns(const void *self, unsigned slot) {
    const struct dwf *dwf = self;
    return dwf->params.register_file == REGISTERS_CROSSBAR ? count_turns(dwf, formed_at(&dwf->pool, slot)) : 1;
}

/* The group is out: its threads have their next PCs each, and where that is one may come back with it, in its place. */
static void send(struct dwf *dwf, uint16_t number, const struct group *group, const struct executed *executed) {
    struct formed *formed = &dwf->pool.items[number];
    const uint32_t next = threads_next_of_all(executed);
    if (dwf->keeps_lanes && next != NO_PC && executed->flow != FLOW_EXIT &&
        divergence_returns_whole(&dwf->code[group->pc])) {
        formed->pc = next;
        dwf_go_out(dwf, number);
        return;
    }
    threads_issued(&dwf->threads, group, executed);
    if (dwf->passed)
        dwf_pass_points(dwf, group, executed->pc);
    formed_give(&dwf->pool, number);
}

static uint64_t dwf_issued(void *self, unsigned slot, const struct group *group, const struct executed *executed) {
    struct dwf *dwf = self;
    dwf->stats.register_turns += dwf_turns(dwf, slot) - 1;
    const uint16_t number = formed_leave(&dwf->pool, slot);
    const struct formed *formed = &dwf->pool.items[number];
    const uint32_t key = dwf_table_key(dwf, formed->block, formed->pc);
    if (assoc_find(&dwf->youngest, key) == number)
        assoc_remove(&dwf->youngest, key);
    dwf->counts[formed->pc] -= bits_count(formed->lanes);
    send(dwf, number, group, executed);
    dwf_choose_majority(dwf);
    return UINT64_C(1) << slot | dwf_settle_slots(dwf);
}

/* ---- looking at it ---- */

static uint32_t dwf_alive(const void *self, unsigned warp) { return ((const struct dwf *)self)->threads.alive[warp]; }

static void dwf_where(const void *self, unsigned warp, uint32_t pcs[LANES_MAX]) {
    const struct dwf *dwf = self;
    const unsigned places = dwf->waiting.capacity, warp_size = dwf->threads.warp_size;
    threads_where(&dwf->threads, warp, pcs);
    for (const struct formed *formed = dwf->pool.items; formed < dwf->pool.items + places; formed++)
        for (BITS_EACH(lane, formed->lanes & threads_of(formed->threads, warp, warp_size)))
            pcs[formed->threads[lane] % warp_size] = formed->pc;
}

static unsigned dwf_show(const void *self, unsigned warp, struct group_row *rows, unsigned most) {
    const struct dwf *dwf = self;
    return formed_show(&dwf->pool, warp * dwf->threads.warp_size / dwf->threads.per_block, rows, most);
}

static const void *dwf_statistics(const void *self) { return &((const struct dwf *)self)->stats; }

static enum status dwf_check(const void *values, struct report *report) {
    const struct dwf_params *params = values;
    enum status status = STATUS_OK;
    if (params->lut_ways && params->lut_entries % params->lut_ways)
        status = report_add(report, STATUS_INVALID, "dwf.lut_entries=%u is not a multiple of dwf.lut_ways=%u",
                            (unsigned)params->lut_entries, (unsigned)params->lut_ways);
    if (params->mheap_lut_ways && params->mheap_lut_entries % params->mheap_lut_ways)
        status =
            report_add(report, STATUS_INVALID, "dwf.mheap_lut_entries=%u is not a multiple of dwf.mheap_lut_ways=%u",
                       (unsigned)params->mheap_lut_entries, (unsigned)params->mheap_lut_ways);
    return status;
}

/* What is not limited here is as large as in table 7.1. */
static void dwf_cost(const void *values, const struct cost_shape *shape, struct cost *out) {
    const struct dwf_params *params = values;
    cost_formation(shape,
                   &(struct cost_formation){.lut_entries = params->lut_entries,
                                            .pool_entries = params->pool_entries,
                                            .heap_entries = params->heap_entries,
                                            .mheap_lut_entries = params->mheap_lut_entries,
                                            .sorts = params->policy == POLICY_MAJORITY},
                   out);
}

static const struct divergence_forming forming = {
    .returned = dwf_returned,
    .advance = dwf_advance,
    .turns = dwf_turns,
    .pick = dwf_pick,
    .issues_each = true,
};

const struct divergence_ops divergence_dwf = {
    .name = "dwf",
    .help = "dynamic warp formation: threads regroup by PC after every instruction, with others of their block",
    .own.params = dwf_params_table,
    .own.params_bytes = sizeof(struct dwf_params),
    .own.stats = dwf_stats_table,
    .own.stats_bytes = sizeof(struct dwf_stats),
    .own.statistics = dwf_statistics,
    .own.check = dwf_check,
    .own.cost = dwf_cost,
    .create = dwf_create,
    .start = dwf_start,
    .offer = dwf_offer,
    .issued = dwf_issued,
    .forming = &forming,
    .alive = dwf_alive,
    .where = dwf_where,
    .show = dwf_show,
};
