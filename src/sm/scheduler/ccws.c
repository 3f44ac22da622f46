/* SPDX-License-Identifier: Apache-2.0 */
/* Cache-conscious warp scheduling (CCWS; Rogers, O'Connor and Aamodt, MICRO 2012): a warp that lost lines it uses again may have
 * the L1 to itself for a while, because others may issue anything but loads.
 *
 * Read in the paper: a miss of a warp whose tag is among its own victims is a lost-locality hit and sets its score to
 * hits / issues x K x cutoff; scores fall by 1 a cycle to the base; cutoff = warps x base; scores are added from the highest, and who
 * is beyond the cutoff may not load. Read in the authors' code: order of equal scores, victims first in first out, a tag found
 * stays, a store removes it, what a warp counted leaves with it, and the edge: who crosses the cutoff still loads (the text
 * holds it back: ccws.edge=with). Ours: a score is never below the base; with several schedulers each has its own
 * warps, cutoff and victims; the first always loads; a warp whose block waits at a barrier for held warps only loads. */
#include "sm/scheduler/scheduler.h"

#include "isa/inst.h"
#include "sm/victims.h"

enum ccws_edge { EDGE_BEFORE, EDGE_WITH };

#define CCWS_PARAMS(PARAM)                                                                                             \
    PARAM(k, "ccws.k", U32, "8", "0", "1024", "", "by how much lost locality throttles; 0: never (paper: 8)")          \
    PARAM(base, "ccws.base", U32, "100", "1", "100000", "points", "score of a warp that lost nothing (paper: 100)")    \
    PARAM(vta_entries, "ccws.vta_entries", U32, "16", "0", "256", "tags", "victims of a warp (paper: 16)")             \
    PARAM(vta_ways, "ccws.vta_ways", U32, "8", "1", "256", "tags", "of a set of victims (paper: 8)")                   \
    PARAM(edge, "ccws.edge", CHOICE, "before", "before|with", "", "",                                                  \
          "held back: who finds the cutoff reached by others (authors' code), or passes it itself (paper's text)")     \
    PARAM(score_bits, "ccws.score_bits", U32, "0", "0", "31", "bits",                                                  \
          "of a score, which stays at their largest value; 0: no limit, and 10 in heddle cost, as in print")           \
    PARAM(lag, "ccws.lag", U32, "0", "0", "1000", "cycles", "for which who may load stays as it is (ours)")
#define CCWS_STATS(STAT, LARGEST)                                                                                      \
    STAT(vta_probes, "misses", "loads that missed the L1 and asked for a line")                                        \
    STAT(vta_hits, "misses", "of them, those of a line that the warp itself lost")                                     \
    STAT(raised, "misses", "of these, those that set a score above the base")                                          \
    STAT(held, "slots", "nothing issued, because all ready warps wanted to load and were held back")                   \
    STAT(released, "loads", "of warps beyond the cutoff whose block waits at a barrier for such warps only")           \
    LARGEST(score_largest, "points", "the highest score")

struct ccws_params {
#define PARAM PARAM_FIELD
    CCWS_PARAMS(PARAM)
#undef PARAM
};
static const struct param_description params_table[] = {
#define PARAM(field, ...) PARAM_ENTRY(struct ccws_params, field, __VA_ARGS__)
    CCWS_PARAMS(PARAM)
#undef PARAM
        PARAM_END};

struct ccws_stats {
#define STAT(field, unit, help) uint64_t field;
    CCWS_STATS(STAT, STAT)
#undef STAT
};
static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct ccws_stats, field, unit, help)
#define LARGEST(field, unit, help) LARGEST_ENTRY(struct ccws_stats, field, unit, help)
    CCWS_STATS(STAT, LARGEST)
#undef STAT
#undef LARGEST
        STAT_END};

struct ccws_warp {
    uint64_t score, since; /* as it was set, and when: it has fallen by 1 a cycle */
    uint64_t hits, issued;
    uint32_t lanes; /* that wait at a barrier */
};

struct ccws {
    struct ccws_params params;
    struct ccws_stats stats;
    const uint64_t *now;
    const uint8_t *places;
    unsigned last;
    slot_set alive, waiting, raised; /* raised: scores that were above the base when last looked at */
    slot_set may;                    /* who may load, until `again` */
    uint64_t again;
    uint64_t hits, issued; /* of the warps that are alive */
    struct ccws_warp *warps;
    struct victims victims;
};

static void *ccws_create(struct arena *arena, const struct scheduler_shape *shape) {
    struct ccws *self = ARENA_NEW(arena, struct ccws);
    self->params = *(const struct ccws_params *)shape->params;
    self->now = shape->now, self->places = shape->places;
    self->last = set_first(shape->mine);
    self->warps = ARENA_ARRAY(arena, struct ccws_warp, shape->warps);
    victims_create(&self->victims, arena, shape->warps, shape->l1_line_bytes, self->params.vta_entries,
                   self->params.vta_ways);
    return self;
}

static uint64_t ccws_cutoff(const struct ccws *self) { return (uint64_t)set_count(self->alive) * self->params.base; }

/* ---- what is heard ---- */

static void ccws_lost(struct ccws *self, unsigned w) {
    struct ccws_warp *warp = &self->warps[w];
    self->stats.vta_hits++, self->hits++, warp->hits++;
    uint64_t score = self->issued ? self->hits * self->params.k * ccws_cutoff(self) / self->issued : 0;
    const uint64_t most = self->params.score_bits ? (UINT64_C(1) << self->params.score_bits) - 1 : UINT64_MAX;
    score = score > most ? most : score;
    warp->score = score > self->params.base ? score : self->params.base, warp->since = *self->now;
    self->raised &= ~set_of(w);
    if (warp->score == self->params.base)
        return;
    self->raised |= set_of(w);
    self->stats.raised++;
    self->stats.score_largest = score > self->stats.score_largest ? score : self->stats.score_largest;
}

static void ccws_looked_up(struct ccws *self, const struct scheduler_event *event) {
    const enum op op = (enum op)event->inst->op;
    if (op != OP_LD && op != OP_LD_SNOOP) {
        victims_remove(&self->victims, event->line);
        return;
    }
    if (event->kind != SCHEDULER_MISSED || !event->count)
        return;
    self->stats.vta_probes++;
    if (victims_find(&self->victims, event->warp, event->line))
        ccws_lost(self, event->warp);
}

/* What it counted leaves with it, and who comes next begins at the base. */
static void ccws_forget(struct ccws *self, unsigned w) {
    self->hits -= self->warps[w].hits, self->issued -= self->warps[w].issued;
    self->warps[w] = (struct ccws_warp){0};
    self->raised &= ~set_of(w), self->waiting &= ~set_of(w);
}

static void ccws_heard(void *state, const struct scheduler_event *event) {
    struct ccws *self = state;
    const slot_set bit = set_of(event->warp);
    struct ccws_warp *warp = &self->warps[event->warp];
    switch (event->kind) {
    case SCHEDULER_STARTED: self->alive |= bit, ccws_forget(self, event->warp); break;
    case SCHEDULER_ENDED: self->alive &= ~bit, ccws_forget(self, event->warp); break;
    case SCHEDULER_ISSUED: self->issued++, warp->issued++; break;
    case SCHEDULER_WAITS: warp->lanes |= event->lanes, self->waiting |= bit; break;
    case SCHEDULER_GOES_ON:
        warp->lanes &= ~event->lanes;
        self->waiting = warp->lanes ? self->waiting | bit : self->waiting & ~bit;
        break;
    case SCHEDULER_EVICTED: victims_add(&self->victims, event->warp, event->line); break;
    default: ccws_looked_up(self, event); break;
    }
}

/* ---- who may load ---- */

/* Now; who has come down to the base is no longer raised. */
static uint64_t ccws_score(struct ccws *self, unsigned w) {
    const struct ccws_warp *warp = &self->warps[w];
    const uint64_t fallen = *self->now - warp->since;
    if (set_has(self->raised, w) && warp->score > self->params.base + fallen)
        return warp->score - fallen;
    self->raised &= ~set_of(w);
    return self->params.base;
}

/* The highest of the set, of equal ones the lowest number. */
static unsigned ccws_highest(struct ccws *self, slot_set set, uint64_t *score) {
    unsigned highest = set_first(set);
    *score = ccws_score(self, highest);
    for (set &= set - 1; set; set &= set - 1) {
        const uint64_t other = ccws_score(self, set_first(set));
        if (other > *score)
            *score = other, highest = set_first(set);
    }
    return highest;
}

static slot_set ccws_may_load(struct ccws *self) {
    const uint64_t cutoff = ccws_cutoff(self);
    uint64_t sum = 0, score = self->params.base;
    slot_set may = 0, rest = self->alive;
    for (slot_set set = self->raised; set; set &= set - 1)
        ccws_score(self, set_first(set));
    if (!self->raised)
        return rest;
    while (rest) {
        const slot_set raised = rest & self->raised;
        const unsigned w = raised ? ccws_highest(self, raised, &score) : set_first(rest);
        const uint64_t with = sum + (raised ? score : self->params.base);
        if (self->params.edge == EDGE_BEFORE ? sum >= cutoff : with > cutoff && may)
            break;
        may |= set_of(w), rest &= ~set_of(w);
        sum = with;
    }
    return may;
}

/* Of those held back: whose block has warps at a barrier, and else only such as are held back too. */
static slot_set ccws_opens(const struct ccws *self, slot_set held) {
    slot_set opens = 0;
    for (slot_set rest = held; rest; rest &= rest - 1) {
        const unsigned w = set_first(rest);
        bool waits = false, others = false;
        for (slot_set set = self->alive; set; set &= set - 1) {
            const unsigned other = set_first(set);
            if (self->places[other] != self->places[w] || set_has(held, other))
                continue;
            waits |= set_has(self->waiting, other), others |= !set_has(self->waiting, other);
        }
        opens |= waits && !others ? set_of(w) : 0;
    }
    return opens;
}

static unsigned ccws_pick(void *state, const struct scheduler_view *view) {
    struct ccws *self = state;
    if (*self->now >= self->again) {
        self->may = ccws_may_load(self);
        self->again = *self->now + self->params.lag;
    }
    slot_set held = view->loads & ~view->stores & ~self->may; /* an atomic is no load */
    const slot_set opens = held && self->waiting ? ccws_opens(self, held) : 0;
    const slot_set ready = view->ready & ~(held & ~opens);
    if (!ready) {
        self->stats.held++;
        return SCHEDULER_NONE;
    }
    self->last = set_greedy(ready, self->last, view->older);
    self->stats.released += set_has(opens, self->last);
    return self->last;
}

static const void *ccws_statistics(const void *self) { return &((const struct ccws *)self)->stats; }

static enum status ccws_check(const void *params, struct report *report) {
    const struct ccws_params *p = params;
    if (p->vta_entries % p->vta_ways)
        return report_add(report, STATUS_INVALID, "ccws.vta_entries=%u is not a multiple of ccws.vta_ways=%u",
                          p->vta_entries, p->vta_ways);
    return STATUS_OK;
}

/* Section 5.7: 10 bits a score. Widths of the two counters are ours. */
static void ccws_cost(const void *params, const struct cost_shape *shape, struct cost *out) {
    const struct ccws_params *p = params;
    const unsigned score = p->score_bits ? p->score_bits : 10;
    victims_cost(p->vta_entries, shape, out);
    cost_add(out, COST_REGISTERS, "lost-locality scores", arena_printf(out->arena, "score %u", score), shape->warps,
             (struct cost_array){1, score, 1, 1});
    cost_add(out, COST_REGISTERS, "lost-locality counters", "hits 32, issues 32", 1, (struct cost_array){1, 64, 1, 1});
}

const struct scheduler_ops SCHEDULER_NAME(ccws) = {
    .name = "ccws",
    .help = "as gto, but warps that lost lines they reuse keep others from loading",
    .create = ccws_create,
    .pick = ccws_pick,
    .sees_memory = true,
    .hears = 1u << SCHEDULER_STARTED | 1u << SCHEDULER_ENDED | 1u << SCHEDULER_ISSUED | 1u << SCHEDULER_WAITS |
             1u << SCHEDULER_GOES_ON | 1u << SCHEDULER_HIT | 1u << SCHEDULER_MISSED | 1u << SCHEDULER_EVICTED,
    .heard = ccws_heard,
    .own = {.params = params_table,
            .params_bytes = sizeof(struct ccws_params),
            .stats = stats_table,
            .stats_bytes = sizeof(struct ccws_stats),
            .statistics = ccws_statistics,
            .check = ccws_check,
            .cost = ccws_cost}};
