/* SPDX-License-Identifier: Apache-2.0 */
/* Diverge on miss: slip control, how far threads run ahead of those that missed, and what an access changes that was
 * looked up. */
#include "divergence/diverge_on_miss.h"

#include <assert.h>

uint32_t diverge_on_miss_below_max(const struct diverge_on_miss *m, const struct diverge_on_miss_warp *s,
                                   uint32_t lanes) {
    uint32_t below = 0;
    for (BITS_EACH(lane, lanes))
        below |= (uint32_t)(s->slip[lane] < m->max_slip) << lane;
    return below;
}

/* Of these, the threads that are furthest behind. */
static uint32_t last_of(const struct diverge_on_miss_warp *s, uint32_t lanes) {
    uint32_t last = 0;
    for (BITS_EACH(lane, lanes))
        last |= (uint32_t)(s->slip[lane] == 0) << lane;
    return last;
}

bool diverge_on_miss_all_last_here(const struct diverge_on_miss_warp *s, uint32_t here, uint32_t all) {
    return !(last_of(s, all) & ~here);
}

void diverge_on_miss_close_up(struct diverge_on_miss *m, struct diverge_on_miss_warp *s, uint32_t misses) {
    const uint32_t nearer = misses | (s->waiting & ~diverge_on_miss_below_max(m, s, s->waiting));
    for (BITS_EACH(lane, nearer))
        s->slip[lane] = (uint8_t)(s->slip[lane] - (s->slip[lane] > 0));
}

static void adapt(struct diverge_on_miss *m) {
    const uint64_t cycles = *m->now - m->sampled_cycle;
    if (!m->params->adaptive || cycles < m->params->sample_cycles)
        return;
    const struct divergence_usage *usage = m->usage;
    const uint64_t slots = cycles * usage->schedulers, empty = *usage->memory + *usage->idle + *usage->stall;
    const uint64_t empty_here = (empty - m->sampled_empty) * 100, memory = (*usage->memory - m->sampled_memory) * 100;
    const bool balanced =
        memory >= slots * m->params->balance_min_percent && memory <= slots * m->params->balance_max_percent;
    const bool bound = empty_here < slots * m->params->alu_bound_percent ||
                       (*usage->requests - m->sampled_requests) * 1000 > cycles * usage->share;
    const bool lower = !balanced && bound && m->max_slip > 0, raise = !balanced && !bound && m->max_slip < SLIP_MOST;
    m->max_slip += (uint32_t)raise - (uint32_t)lower;
    m->stats.maximum_raised += raise, m->stats.maximum_lowered += lower, m->stats.maximum_kept += !raise && !lower;
    m->sampled_cycle = *m->now, m->sampled_empty = empty;
    m->sampled_memory = *usage->memory, m->sampled_requests = *usage->requests;
    diverge_on_miss_keep_largest(&m->stats.max_slip_largest, m->max_slip);
}

/* Lanes go on while others that accessed memory with them do not. */
static void run_ahead(struct diverge_on_miss *m, struct diverge_on_miss_warp *s, uint32_t lanes) {
    for (BITS_EACH(lane, lanes)) {
        assert(s->slip[lane] < m->max_slip);
        diverge_on_miss_keep_largest(&m->stats.slip_largest, ++s->slip[lane]);
    }
}

/* The lanes of an access that has been looked up. */
struct access_lanes {
    uint32_t all, below;   /* those of the access and of the table; of these, those below the maximum slip */
    uint32_t misses, held; /* that fall behind: their data are not there, or slip control disables them */
    uint32_t going;        /* that go on, where the others fall behind */
};

/* Why the warp waits for all of an access of which some lanes missed or are held; NULL: it need not. Where nobody can go on
 * because they are at the maximum, it is for those behind them to do so. */
static uint64_t *find_block(struct diverge_on_miss *m, const struct diverge_on_miss_warp *s, uint32_t pc,
                            const struct access_lanes *lanes) {
    if (m->max_slip == 0 || (m->params->at_max == AT_MAX_BLOCK && lanes->below != lanes->all))
        return &m->stats.blocks_slip;
    if (!lanes->going && (!s->waiting || (!lanes->held && m->params->all_missed == ALL_MISSED_BLOCK)))
        return &m->stats.blocks_all_missed;
    const bool room = diverge_on_miss_table_has_room(s, pc, m->params->mdt_entries) &&
                      diverge_on_miss_table_has_room(s, pc, m->params->mcb_entries);
    return lanes->misses && !room ? &m->stats.blocks_table : NULL;
}

/* Those that run next: lanes of other sides may wait below them. */
static uint32_t top_lanes(const struct diverge_on_miss *m, unsigned warp, unsigned party) {
    struct group group;
    divergence_pdom.offer(m->stacks, diverge_on_miss_stack_of(warp, party), &group);
    return group.lanes;
}

uint32_t diverge_on_miss_looked_up(void *self, unsigned warp, uint32_t pc, uint32_t hits, uint32_t misses) {
    struct diverge_on_miss *m = self;
    struct diverge_on_miss_warp *s = &m->warps[warp];
    const bool asks = s->asks;
    s->asks = false;
    m->stats.divergent_accesses += hits && misses;
    adapt(m);
    if (!asks) { /* nobody can fall behind */
        m->stats.blocks_slip += misses != 0;
        return 0;
    }
    const unsigned at = diverge_on_miss_table_find(&s->table, pc);
    uint32_t ready = at < s->table.count ? s->table.entries[at].lanes & s->ready : 0;
    const uint32_t all = hits | misses | s->waiting, below = diverge_on_miss_below_max(m, s, all);
    const bool closes_up = (hits | misses) && diverge_on_miss_all_last_here(s, hits | ready, all);
    const uint32_t held = m->params->at_max == AT_MAX_DISABLE && !closes_up ? hits & ~below : 0;
    if (closes_up)
        diverge_on_miss_close_up(m, s, misses);
    /* The last are ahead of nobody: they go on even where the maximum has come down to 0. */
    ready = ready ? diverge_on_miss_take_back(m, warp, diverge_on_miss_below_max(m, s, ready) | last_of(s, ready)) : 0;
    m->stats.rejoins += ready != 0;
    m->stats.rejoined_lanes += bits_count(ready);
    const uint32_t behind = misses | held, going = top_lanes(m, warp, s->running) & ~behind;
    const struct access_lanes lanes = {.all = all, .below = below, .going = going, .misses = misses, .held = held};
    uint64_t *const blocked = behind ? find_block(m, s, pc, &lanes) : NULL;
    uint32_t left = 0;
    if (blocked) {
        *blocked += misses != 0;
        const bool shares = diverge_on_miss_table_has_room(s, pc, 0);
        assert(shares || diverge_on_miss_table_used(s) < m->params->mcb_entries);
        diverge_on_miss_keep_largest(&m->stats.mcb_largest, diverge_on_miss_table_used(s) + !shares);
    } else if (!closes_up && (misses || s->waiting))
        run_ahead(m, s, hits & below);
    if (!blocked && behind) {
        diverge_on_miss_table_add(m, warp, pc, behind, held);
        m->stats.slips++;
        m->stats.slipped_lanes += bits_count(misses);
        m->stats.held_lanes += bits_count(held);
        left = misses;
    }
    diverge_on_miss_settle(m, warp);
    return left;
}

uint64_t diverge_on_miss_arrived(void *self, unsigned warp, uint32_t lanes) {
    struct diverge_on_miss *m = self;
    struct diverge_on_miss_warp *s = &m->warps[warp];
    s->ready |= lanes;
    if (s->running != NO_PARTY)
        return 0;
    diverge_on_miss_settle(m, warp);
    return s->running == NO_PARTY ? 0 : UINT64_C(1) << warp % ISSUE_SLOTS_MAX;
}
