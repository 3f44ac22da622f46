/* SPDX-License-Identifier: Apache-2.0 */
/* Divergence-aware warp scheduling (DAWS; Rogers, O'Connor and Aamodt, MICRO
 * 2013), the form that finds out by itself: it predicts how many lines of the
 * L1 a warp uses in the loop it is in, and lets only so many of the oldest load
 * as fit.
 *
 * Read in the paper: the tables and their sizes, what is sampled, footprints,
 * the effective cache of 0.6, prefix sums from the oldest warp. Ours: a loop is
 * what a backward branch goes round, from its target to the branch, and a call
 * out of it leaves it; counters have 8 bits; a load that joins a fetch under
 * way says nothing of locality; with several schedulers in an SM each has the
 * cache of its share of warps; who was held back for daws.patience cycles
 * loads, or an older warp that waits for it in a loop would wait for ever. The
 * form with a profile is not here. */
#include "sm/scheduler/scheduler.h"

#include "isa/inst.h"
#include "sm/victims.h"

enum { DAWS_LOADS = 32, ILRD_SETS = 8, ILRD_WAYS = 8, VTA_WAYS = 8, NO_LOOP = 0, NOBODY = 255, COUNT_MOST = 127 };

#define DAWS_PARAMS(PARAM)                                                                                             \
    PARAM(factor, "daws.factor", U32, "60", "1", "1000000", "percent",                                                 \
          "of the lines of the L1 that footprints may fill (paper: 60)")                                               \
    PARAM(vta_entries, "daws.vta_entries", U32, "16", "0", "256", "tags",                                              \
          "victims of a warp, in sets of 8: a multiple of it (paper: 16)")                                             \
    PARAM(patience, "daws.patience", U32, "100000", "0", "4000000000", "cycles",                                       \
          "after which a load that is held back issues; 0: never (ours)")
#define DAWS_STATS(STAT, LARGEST)                                                                                      \
    STAT(sampled, "loops", "begun by a warp that samples them")                                                        \
    STAT(predicted, "footprints", "computed when a warp began an iteration")                                           \
    STAT(ties, "loads", "found to use the lines of another one of their loop")                                         \
    STAT(not_known, "loads", "of a sampling warp for which the table had no room")                                     \
    STAT(held, "slots",                                                                                                \
         "nothing issued, because all ready warps wanted to load and were held "                                       \
         "back")                                                                                                       \
    STAT(released, "loads", "issued after daws.patience")                                                              \
    LARGEST(loads_largest, "loads", "most loads known at a time")                                                      \
    LARGEST(footprint_largest, "lines", "the largest footprint of a warp")

struct daws_params {
#define PARAM PARAM_FIELD
    DAWS_PARAMS(PARAM)
#undef PARAM
};
static const struct param_description params_table[] = {
#define PARAM(field, ...) PARAM_ENTRY(struct daws_params, field, __VA_ARGS__)
    DAWS_PARAMS(PARAM)
#undef PARAM
        PARAM_END};

struct daws_stats {
#define STAT(field, unit, help) uint64_t field;
    DAWS_STATS(STAT, STAT)
#undef STAT
};
static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct daws_stats, field, unit, help)
#define LARGEST(field, unit, help) LARGEST_ENTRY(struct daws_stats, field, unit, help)
    DAWS_STATS(STAT, LARGEST)
#undef STAT
#undef LARGEST
        STAT_END};

struct daws_loop {
    uint32_t first, last; /* PCs */
    uint32_t outer;       /* the innermost loop around it, NO_LOOP: none */
    int8_t locality;      /* above 0: warps use again what they brought */
    uint8_t sampler;      /* the warp that samples it, NOBODY: none */
};

struct daws_load {
    uint32_t pc;
    int8_t divergence; /* above 1: diverged */
    uint8_t id;        /* loads of one id use the same lines */
};

struct ilrd_tag {
    uint64_t line, used; /* line: and 1, 0: empty; used: when, counted in lookups */
    uint32_t pc;
    uint8_t warp;
};

struct daws_warp {
    uint32_t loop, pc;
    uint32_t lanes, waiting;     /* active when it issued last; at a barrier */
    uint64_t footprint, version; /* outside of loops: of the next one, as of that
                                  version of the tables */
    uint64_t held_since;         /* and 1; 0: it is not held back */
};

struct daws {
    struct daws_params params;
    struct daws_stats stats;
    const uint64_t *now;
    const struct inst *code;
    uint32_t code_count;
    unsigned last, load_count;
    uint64_t effective; /* lines in hundredths; UINT64_MAX: a perfect L1 */
    slot_set alive, inside;
    uint32_t loop_count;     /* with the one of number NO_LOOP */
    struct daws_loop *loops; /* by their first PC */
    uint32_t *begins;        /* [pc]: the loop that begins there */
    uint64_t version, lookups;
    struct daws_warp *warps;
    struct daws_load loads[DAWS_LOADS];
    struct ilrd_tag ilrd[ILRD_SETS][ILRD_WAYS];
    struct victims victims;
};

/* ---- loops ---- */

/* In the order of their first PCs; two that begin at one PC are one. */
static void find_loops(struct daws *self, struct arena *arena) {
    uint32_t *last_of = ARENA_ARRAY(arena, uint32_t, (size_t)self->code_count + 1); /* [first]: the last PC and 1 */
    self->loop_count = 1;
    for (uint32_t pc = 0; pc < self->code_count; pc++) {
        const struct inst *inst = &self->code[pc];
        if (!inst_jumps(inst) || inst->target > pc)
            continue;
        self->loop_count += !last_of[inst->target];
        last_of[inst->target] = pc + 1;
    }
    self->loops = ARENA_ARRAY(arena, struct daws_loop, self->loop_count);
    self->begins = ARENA_ARRAY(arena, uint32_t, (size_t)self->code_count + 1);
    uint32_t number = NO_LOOP;
    for (uint32_t pc = 0; pc < self->code_count; pc++) {
        if (!last_of[pc])
            continue;
        uint32_t outer = number++;
        while (outer != NO_LOOP && self->loops[outer].last < pc)
            outer = self->loops[outer].outer;
        self->loops[number] =
            (struct daws_loop){.first = pc, .last = last_of[pc] - 1, .outer = outer, .sampler = NOBODY};
        self->begins[pc] = number;
    }
}

static bool is_in(const struct daws *self, uint32_t loop, uint32_t pc) {
    return loop != NO_LOOP && pc >= self->loops[loop].first && pc <= self->loops[loop].last;
}

/* The next in program order, NO_LOOP: none. */
static uint32_t next_loop(const struct daws *self, uint32_t pc) {
    for (uint32_t loop = 1; loop < self->loop_count; loop++)
        if (self->loops[loop].first > pc)
            return loop;
    return NO_LOOP;
}

static void *daws_create(struct arena *arena, const struct scheduler_shape *shape) {
    struct daws *self = ARENA_NEW(arena, struct daws);
    self->params = *(const struct daws_params *)shape->params;
    self->now = shape->now, self->code = shape->code, self->code_count = shape->code_count;
    self->last = set_first(shape->mine);
    const unsigned mine = set_count(shape->mine);
    self->effective =
        shape->l1_lines ? (uint64_t)shape->l1_lines * self->params.factor * mine / shape->warps : UINT64_MAX;
    self->warps = ARENA_ARRAY(arena, struct daws_warp, shape->warps);
    victims_create(&self->victims, arena, shape->warps, shape->l1_line_bytes, self->params.vta_entries, VTA_WAYS);
    find_loops(self, arena);
    return self;
}

/* ---- footprints ---- */

/* Lines of a warp with so many active lanes: of loads that use the same ones
 * only once, and all of these as the worst of them. None where warps do not use
 * them again, or where those of one warp do not fit. */
static uint64_t footprint(const struct daws *self, uint32_t loop, unsigned lanes) {
    const struct daws_loop *of = &self->loops[loop];
    uint64_t lines = 0;
    if (loop == NO_LOOP || of->locality <= 0)
        return 0;
    for (unsigned id = 0; id < self->load_count; id++) {
        bool there = false, diverged = false;
        for (unsigned i = 0; i < self->load_count; i++) {
            const struct daws_load *load = &self->loads[i];
            const bool counts = load->id == id && is_in(self, loop, load->pc);
            there |= counts, diverged |= counts && load->divergence > 1;
        }
        lines += diverged ? lanes : there ? 1u + (lanes > 1) : 0;
    }
    return 100 * lines < self->effective ? lines : 0;
}

/* Of a warp that may load or has to wait, at this moment. */
static uint64_t footprint_now(struct daws *self, unsigned w) {
    struct daws_warp *warp = &self->warps[w];
    if (warp->waiting)
        return 0;
    if (warp->loop == NO_LOOP && warp->version != self->version) {
        warp->footprint = footprint(self, next_loop(self, warp->pc), bits_count(warp->lanes));
        warp->version = self->version;
    }
    return warp->footprint;
}

/* ---- sampling ---- */

static void count_up(struct daws *self, int8_t *counter, bool up, int edge) {
    const bool before = *counter > edge;
    if (up ? *counter < COUNT_MOST : *counter > -COUNT_MOST)
        *counter = (int8_t)(*counter + (up ? 1 : -1));
    self->version += before != (*counter > edge);
}

static void forget_tags(struct daws *self, unsigned warp) {
    for (unsigned i = 0; i < ILRD_SETS * ILRD_WAYS; i++)
        if (self->ilrd[i / ILRD_WAYS][i % ILRD_WAYS].warp == warp)
            self->ilrd[i / ILRD_WAYS][i % ILRD_WAYS].line = 0;
}

static struct daws_load *find_load(struct daws *self, uint32_t pc) {
    for (unsigned i = 0; i < self->load_count; i++)
        if (self->loads[i].pc == pc)
            return &self->loads[i];
    return NULL;
}

/* Does this warp sample the loop that it is in, by that load? */
static bool samples(const struct daws *self, unsigned w, uint32_t pc) {
    const uint32_t loop = self->warps[w].loop;
    return is_in(self, loop, pc) && self->loops[loop].sampler == w && self->code[pc].op == OP_LD;
}

static void sample_accesses(struct daws *self, const struct scheduler_event *event) {
    if (!samples(self, event->warp, event->pc))
        return;
    struct daws_load *load = find_load(self, event->pc);
    if (!load && self->load_count == DAWS_LOADS) {
        self->stats.not_known++;
        return;
    }
    if (!load) {
        self->loads[self->load_count] = (struct daws_load){.pc = event->pc, .id = (uint8_t)self->load_count};
        load = &self->loads[self->load_count++];
        self->version++;
        self->stats.loads_largest = self->load_count;
    }
    if (bits_count(event->lanes) > 2)
        count_up(self, &load->divergence, event->count > 2, 1);
}

/* Both use the same lines from now on. */
static void tie(struct daws *self, const struct daws_load *one, const struct daws_load *other) {
    const uint8_t from = one->id, to = other->id;
    if (from == to)
        return;
    for (unsigned i = 0; i < self->load_count; i++)
        if (self->loads[i].id == from)
            self->loads[i].id = to;
    self->stats.ties++, self->version++;
}

/* A line seen in this iteration ties the loads that used it. */
static void sample_line(struct daws *self, const struct scheduler_event *event) {
    struct ilrd_tag *set = self->ilrd[event->line / self->victims.line_bytes % ILRD_SETS], *oldest = set;
    self->lookups++;
    for (struct ilrd_tag *tag = set; tag < set + ILRD_WAYS; tag++) {
        if (tag->line == event->line + 1 && tag->warp == event->warp) {
            struct daws_load *one = find_load(self, event->pc), *other = find_load(self, tag->pc);
            if (one && other)
                tie(self, one, other);
            tag->used = self->lookups;
            return;
        }
        if (!tag->line || (oldest->line && tag->used < oldest->used))
            oldest = tag;
    }
    *oldest = (struct ilrd_tag){event->line + 1, self->lookups, event->pc, (uint8_t)event->warp};
}

static void sample_lookup(struct daws *self, const struct scheduler_event *event) {
    const bool hit = event->kind == SCHEDULER_HIT;
    if (event->inst->op != OP_LD && event->inst->op != OP_LD_SNOOP) {
        victims_remove(&self->victims, event->line);
        return;
    }
    if (!samples(self, event->warp, event->pc))
        return;
    sample_line(self, event);
    if (hit || event->count)
        count_up(self, &self->loops[self->warps[event->warp].loop].locality,
                 hit ? event->owner == event->warp : victims_find(&self->victims, event->warp, event->line) != NULL, 0);
}

/* ---- what is heard ---- */

static void stop_sampling(struct daws *self, unsigned w) {
    for (uint32_t loop = 1; loop < self->loop_count; loop++)
        if (self->loops[loop].sampler == w)
            self->loops[loop].sampler = NOBODY;
    forget_tags(self, w);
}

/* An inner loop that is left leaves its footprint to the outer one, whose next
 * iteration is computed anew. */
static void daws_leaves(struct daws *self, unsigned w, uint32_t pc) {
    struct daws_warp *warp = &self->warps[w];
    while (warp->loop != NO_LOOP && !is_in(self, warp->loop, pc)) {
        if (self->loops[warp->loop].sampler == w)
            self->loops[warp->loop].sampler = NOBODY;
        warp->loop = self->loops[warp->loop].outer;
    }
    if (warp->loop == NO_LOOP)
        warp->footprint = 0, self->inside &= ~set_of(w);
}

static void daws_issued(struct daws *self, const struct scheduler_event *event) {
    struct daws_warp *warp = &self->warps[event->warp];
    const uint32_t loop = self->begins[event->pc];
    if (warp->loop != NO_LOOP && !is_in(self, warp->loop, event->pc))
        daws_leaves(self, event->warp, event->pc);
    warp->pc = event->pc, warp->lanes = event->lanes, warp->held_since = 0;
    warp->version = self->version - (warp->loop == NO_LOOP);
    if (loop == NO_LOOP)
        return;
    const unsigned lanes = bits_count(event->lanes);
    warp->loop = loop, self->inside |= set_of(event->warp);
    warp->footprint = footprint(self, loop, lanes);
    self->stats.predicted++;
    if (warp->footprint > self->stats.footprint_largest)
        self->stats.footprint_largest = warp->footprint;
    if (self->loops[loop].sampler != NOBODY || lanes <= 2)
        return;
    self->loops[loop].sampler = (uint8_t)event->warp;
    self->stats.sampled++;
    forget_tags(self, event->warp);
}

static void daws_changes(struct daws *self, unsigned w, bool alive) {
    stop_sampling(self, w);
    self->warps[w] = (struct daws_warp){.lanes = UINT32_MAX, .version = self->version - 1};
    self->inside &= ~set_of(w);
    self->alive = alive ? self->alive | set_of(w) : self->alive & ~set_of(w);
}

static void daws_heard(void *state, const struct scheduler_event *event) {
    struct daws *self = state;
    struct daws_warp *warp = &self->warps[event->warp];
    switch (event->kind) {
    case SCHEDULER_STARTED: daws_changes(self, event->warp, true); break;
    case SCHEDULER_ENDED: daws_changes(self, event->warp, false); break;
    case SCHEDULER_ISSUED: daws_issued(self, event); break;
    case SCHEDULER_BRANCHED:
        if (event->taken && event->target <= event->pc && warp->loop == self->begins[event->target] &&
            self->loops[warp->loop].sampler == event->warp)
            forget_tags(self, event->warp);
        break;
    case SCHEDULER_WAITS: warp->waiting |= event->lanes, warp->footprint = 0; break;
    case SCHEDULER_GOES_ON: warp->waiting &= ~event->lanes; break;
    case SCHEDULER_COALESCED: sample_accesses(self, event); break;
    case SCHEDULER_EVICTED: victims_add(&self->victims, event->warp, event->line); break;
    default: sample_lookup(self, event); break;
    }
}

/* ---- who may load ---- */

static slot_set daws_held(struct daws *self, const struct scheduler_view *view, slot_set loads) {
    slot_set held = 0, rest = self->alive;
    uint64_t sum = 0;
    if (!self->inside || self->effective == UINT64_MAX)
        return 0;
    while (rest && loads & rest) {
        const unsigned w = set_oldest(rest, view->older);
        rest &= ~set_of(w);
        sum += 100 * footprint_now(self, w);
        if (sum >= self->effective && set_has(loads, w))
            held |= set_of(w);
    }
    return held;
}

/* Of those held back: who waited long enough. */
static slot_set daws_patient(struct daws *self, slot_set held) {
    slot_set patient = 0;
    for (; held; held &= held - 1) {
        struct daws_warp *warp = &self->warps[set_first(held)];
        if (!warp->held_since)
            warp->held_since = *self->now + 1;
        else if (self->params.patience && *self->now + 1 - warp->held_since >= self->params.patience)
            patient |= set_of(set_first(held));
    }
    return patient;
}

static unsigned daws_pick(void *state, const struct scheduler_view *view) {
    struct daws *self = state;
    const slot_set loads = view->loads & ~view->stores; /* an atomic is no load */
    const slot_set held = loads ? daws_held(self, view, loads) : 0, patient = held ? daws_patient(self, held) : 0;
    const slot_set ready = view->ready & ~(held & ~patient);
    if (!ready) {
        self->stats.held++;
        return SCHEDULER_NONE;
    }
    self->last = set_greedy(ready, self->last, view->older);
    self->stats.released += set_has(patient, self->last);
    return self->last;
}

static const void *daws_statistics(const void *self) { return &((const struct daws *)self)->stats; }

static enum status daws_check(const void *params, struct report *report) {
    const struct daws_params *p = params;
    if (p->vta_entries % VTA_WAYS)
        return report_add(report, STATUS_INVALID, "daws.vta_entries=%u is not a multiple of %u", p->vta_entries,
                          (unsigned)VTA_WAYS);
    return STATUS_OK;
}

/* Entries are those of the paper's table 4; widths of fields are ours, PCs of
 * 24 bits. */
static void daws_cost(const void *params, const struct cost_shape *shape, struct cost *out) {
    const struct daws_params *p = params;
    const unsigned warp = cost_index_bits(shape->warps), id = cost_index_bits(DAWS_LOADS);
    const unsigned lines = cost_count_bits((uint64_t)DAWS_LOADS * shape->warp_size);
    struct arena *arena = out->arena;
    cost_add(out, COST_MEMORY, "static loads", arena_printf(arena, "loop 24, PC 24, divergence 8, id %u", id),
             DAWS_LOADS, (struct cost_array){1, 56 + id, 1, 1});
    cost_add(out, COST_MEMORY, "footprints", arena_printf(arena, "lines %u, loop 24", lines), shape->warps,
             (struct cost_array){1, lines + 24, 1, 1});
    cost_add(out, COST_MEMORY, "sampling", arena_printf(arena, "warp %u, loop 24, locality 8", warp), DAWS_LOADS,
             (struct cost_array){1, warp + 32, 1, 1});
    cost_add(out, COST_MEMORY, "repetition detector", arena_printf(arena, "tag 40, PC 24, warp %u", warp),
             ILRD_SETS * ILRD_WAYS, (struct cost_array){1, 64 + warp, 1, 1});
    victims_cost(p->vta_entries, shape, out);
}

const struct scheduler_ops SCHEDULER_NAME(daws) = {
    .name = "daws",
    .help = "as gto, but only so many of the oldest warps load as their loops' "
            "lines fit the L1",
    .create = daws_create,
    .pick = daws_pick,
    .sees_memory = true,
    .hears = (1u << SCHEDULER_EVENT_KINDS) - 1,
    .heard = daws_heard,
    .own = {.params = params_table,
            .params_bytes = sizeof(struct daws_params),
            .stats = stats_table,
            .stats_bytes = sizeof(struct daws_stats),
            .statistics = daws_statistics,
            .check = daws_check,
            .cost = daws_cost}};
