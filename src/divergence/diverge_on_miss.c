/* SPDX-License-Identifier: Apache-2.0 */
/* Diverge on miss [001 §4, §5]: a warp goes on with the threads that hit while those that missed fall behind.
 *
 * Threads of a warp that go on apart are parties, each with a stack of pdom's. One party runs. Others are slipped: they
 * have executed a memory instruction, stand in the memory divergence table (MDT) under its PC until their data have
 * come, and go on with whoever executes that instruction next. The rest are parked. Where threads have to meet, before
 * barriers, warp-level operations, calls, returns and exits, and where an access finds no entry of the buffer, the running
 * party is parked and the table's threads go on in its place; who comes to a parked party waits with it. Branches end
 * without those that are behind. Rules of ours, where the source is silent, stand in
 * docs/mechanisms/diverge-on-miss.md. */
#include "divergence/diverge_on_miss.h"

static uint32_t party_pc(const struct diverge_on_miss *m, unsigned warp, unsigned party) {
    struct group group;
    divergence_pdom.offer(m->stacks, diverge_on_miss_stack_of(warp, party), &group);
    return group.pc;
}

/* ---- who runs ---- */

static void park(struct diverge_on_miss *m, struct diverge_on_miss_warp *s) {
    s->parked |= UINT32_C(1) << s->running;
    s->running = NO_PARTY;
    s->released = false;
    s->waited = 0;
    m->stats.parks++;
}

/* Must the running party make way before what it would issue next? */
static bool makes_way(const struct diverge_on_miss *m, unsigned warp) {
    const struct diverge_on_miss_warp *s = &m->warps[warp];
    const uint32_t pc = party_pc(m, warp, s->running);
    if (s->released)
        return false;
    if (s->ready && s->waited >= m->params->patience)
        return true;
    switch ((enum diverge_on_miss_place)m->places[pc]) {
    case PLACE_PASS: return s->waiting != 0;
    case PLACE_GATHER: return (s->used & (s->used - 1)) != 0;
    case PLACE_MEMORY: return !diverge_on_miss_table_has_room(s, pc, m->params->mcb_entries);
    case PLACE_PLAIN: break;
    }
    return false;
}

/* Those that come to a place where others are parked wait with them. */
static bool comes_to_parked(struct diverge_on_miss *m, unsigned warp) {
    struct diverge_on_miss_warp *s = &m->warps[warp];
    for (BITS_EACH(other, s->parked)) {
        const unsigned both = diverge_on_miss_join(m, warp, other, s->running);
        if (both == NO_PARTY)
            continue;
        s->running = (uint8_t)both;
        park(m, s);
        return true;
    }
    return false;
}

/* The running party at the place it has come to; false: nobody runs any more. */
static bool go_on(struct diverge_on_miss *m, unsigned warp) {
    struct diverge_on_miss_warp *s = &m->warps[warp];
    if (!pdom_depth(m->stacks, diverge_on_miss_stack_of(warp, s->running))) {
        s->used &= ~(UINT32_C(1) << s->running);
        s->running = NO_PARTY;
        return false;
    }
    if (!s->released && comes_to_parked(m, warp))
        return false;
    if (!makes_way(m, warp))
        return true;
    park(m, s);
    return false;
}

/* Lanes of the table whose data have come go on by themselves, those of the oldest entry first; false: there are none. */
static bool reactivate(struct diverge_on_miss *m, unsigned warp) {
    struct diverge_on_miss_warp *s = &m->warps[warp];
    const uint32_t below = diverge_on_miss_below_max(m, s, s->waiting), able = s->ready & (below ? below : s->waiting);
    for (unsigned i = 0; i < s->table.count; i++)
        if (s->table.entries[i].lanes & able) {
            const uint32_t taken = diverge_on_miss_take_back(m, warp, s->table.entries[i].lanes & able);
            if (diverge_on_miss_all_last_here(s, taken, taken | s->waiting))
                diverge_on_miss_close_up(m, s, 0);
            s->rejoins = true;
            m->stats.reactivated_lanes += bits_count(taken);
            return true;
        }
    return false;
}

/* May a parked party go on while others are in the table? */
static bool may_pass(const struct diverge_on_miss *m, unsigned warp, unsigned party) {
    const uint32_t pc = party_pc(m, warp, party);
    return m->places[pc] == PLACE_PLAIN ||
           (m->places[pc] == PLACE_MEMORY &&
            diverge_on_miss_table_has_room(&m->warps[warp], pc, m->params->mcb_entries));
}

/* Parked ones go on, those at one place together: who waits for room when there is some, and when the table is empty all,
 * the one with most meetings to come first, those that wait for everyone last. */
static bool release(struct diverge_on_miss *m, unsigned warp) {
    struct diverge_on_miss_warp *s = &m->warps[warp];
    unsigned best = NO_PARTY, best_depth = 0;
    bool best_gathers = true;
    for (BITS_EACH(party, s->parked)) {
        const bool gathers = m->places[party_pc(m, warp, party)] == PLACE_GATHER;
        const unsigned depth = pdom_depth(m->stacks, diverge_on_miss_stack_of(warp, party));
        if ((!s->waiting || may_pass(m, warp, party)) &&
            (best == NO_PARTY || gathers < best_gathers || (gathers == best_gathers && depth > best_depth)))
            best = party, best_gathers = gathers, best_depth = depth;
    }
    if (best == NO_PARTY)
        return false;
    s->parked &= ~(UINT32_C(1) << best);
    for (BITS_EACH(other, s->parked)) {
        const unsigned both = diverge_on_miss_join(m, warp, best, other);
        best = both == NO_PARTY ? best : both;
    }
    s->parked &= ~(UINT32_C(1) << best);
    s->running = (uint8_t)best;
    s->released = true;
    return true;
}

void diverge_on_miss_settle(struct diverge_on_miss *m, unsigned warp) {
    struct diverge_on_miss_warp *s = &m->warps[warp];
    do {
        if (s->asks || s->rejoins)
            return;
        if (s->running != NO_PARTY && go_on(m, warp))
            return;
    } while ((s->waiting && reactivate(m, warp)) || release(m, warp));
}

/* ---- the plug point ---- */

static enum diverge_on_miss_place place_of(const struct inst *inst) {
    switch ((enum op)inst->op) {
    case OP_LD:
    case OP_CP_ASYNC:
    case OP_ST: /* parameters of functions lie in local memory */
        return inst->space == SPACE_SHARED || inst->space == SPACE_CONST ? PLACE_PLAIN : PLACE_MEMORY;
    case OP_CALL:
    case OP_RET:
    case OP_EXIT: return PLACE_PASS;
    default: return inst->op == OP_BAR || inst_is_of_warps(inst) ? PLACE_GATHER : PLACE_PLAIN;
    }
}

static void *create(struct arena *arena, const struct divergence_shape *shape) {
    struct diverge_on_miss *m = ARENA_NEW(arena, struct diverge_on_miss);
    m->params = shape->params, m->now = shape->now, m->usage = shape->usage;
    m->stacks = pdom_create_stacks(arena, shape, shape->warps * PARTIES);
    m->warps = ARENA_ARRAY(arena, struct diverge_on_miss_warp, shape->warps);
    m->places = ARENA_ARRAY(arena, uint8_t, shape->code_count);
    m->stops = ARENA_ARRAY(arena, uint32_t, shape->code_count);
    for (uint32_t pc = shape->code_count; pc-- > 0;) {
        m->places[pc] = (uint8_t)place_of(&shape->code[pc]);
        const bool last = pc + 1 == shape->code_count;
        if (m->places[pc] == PLACE_MEMORY || (!last && m->places[pc + 1] != PLACE_PLAIN))
            m->stops[pc] = pc + 1;
        else
            m->stops[pc] = last ? NO_PC : m->stops[pc + 1];
    }
    m->max_slip = m->params->max_slip;
    m->stats.max_slip_largest = m->max_slip;
    return m;
}

static uint64_t start(void *self, unsigned warp, uint32_t pc, uint32_t lanes) {
    struct diverge_on_miss *m = self;
    m->warps[warp] = (struct diverge_on_miss_warp){.used = lanes != 0, .running = lanes ? 0 : NO_PARTY};
    return divergence_pdom.start(m->stacks, diverge_on_miss_stack_of(warp, 0), pc, lanes)
               ? UINT64_C(1) << warp % ISSUE_SLOTS_MAX
               : 0;
}

static bool offer(void *self, unsigned warp, struct group *out) {
    const struct diverge_on_miss *m = self;
    const struct diverge_on_miss_warp *s = &m->warps[warp];
    if (s->running == NO_PARTY)
        return false;
    divergence_pdom.offer(m->stacks, diverge_on_miss_stack_of(warp, s->running), out);
    out->rejoins = s->rejoins;
    out->asks = s->asks;
    out->accesses = (uint8_t)diverge_on_miss_table_used(s);
    if (s->rejoins)
        out->pc--;
    const uint32_t stop = m->stops[out->pc];
    if (out->stop_pc <= out->pc || out->stop_pc > stop)
        out->stop_pc = stop;
    return true;
}

/* Parties that came into a function by different calls may have joined there: those that return elsewhere than the first
 * go on apart, since no place is known where they meet. What is left of the issue is told to the running party. */
static void issue(struct diverge_on_miss *m, unsigned warp, const struct group *group,
                  const struct executed *executed) {
    struct diverge_on_miss_warp *s = &m->warps[warp];
    struct executed here = *executed;
    if (executed->flow == FLOW_RETURN)
        for (BITS_EACH(lane, executed->taken))
            if (executed->next[lane] != executed->next[bits_first(executed->taken)])
                here.taken &= ~(UINT32_C(1) << lane);
    uint32_t elsewhere = executed->taken & ~here.taken;
    here.lanes &= ~elsewhere;
    while (elsewhere) {
        struct executed other = *executed;
        other.taken = 0;
        for (BITS_EACH(lane, elsewhere))
            other.taken |= (uint32_t)(executed->next[lane] == executed->next[bits_first(elsewhere)]) << lane;
        other.lanes = other.taken;
        elsewhere &= ~other.taken;
        const unsigned party = diverge_on_miss_split(m, warp, s->running, other.taken);
        divergence_pdom.issued(m->stacks, diverge_on_miss_stack_of(warp, party), group, &other);
        s->parked |= UINT32_C(1) << party;
    }
    divergence_pdom.issued(m->stacks, diverge_on_miss_stack_of(warp, s->running), group, &here);
}

static uint64_t issued(void *self, unsigned warp, const struct group *group, const struct executed *executed) {
    struct diverge_on_miss *m = self;
    struct diverge_on_miss_warp *s = &m->warps[warp];
    if (s->rejoins) {
        s->rejoins = false;
        m->stats.reactivations++;
    } else {
        issue(m, warp, group, executed);
        /* told one by one nobody diverges, joins or makes way within a run, as when it is told at once */
        if (executed->flow == FLOW_NEXT && executed->pc + 1 != group->stop_pc)
            return UINT64_C(1) << warp % ISSUE_SLOTS_MAX;
        s->waited += s->ready != 0;
        const bool alone = !(s->used & (s->used - 1));
        s->asks = m->usage && executed->flow == FLOW_NEXT && m->places[executed->pc] == PLACE_MEMORY &&
                  !(alone && m->max_slip == 0);
    }
    s->released = false;
    diverge_on_miss_settle(m, warp);
    return UINT64_C(1) << warp % ISSUE_SLOTS_MAX;
}

static uint32_t alive(const void *self, unsigned warp) {
    const struct diverge_on_miss *m = self;
    uint32_t lanes = 0;
    for (BITS_EACH(party, m->warps[warp].used))
        lanes |= diverge_on_miss_party_lanes(m, warp, party);
    return lanes;
}

static void where(const void *self, unsigned warp, uint32_t pcs[LANES_MAX]) {
    const struct diverge_on_miss *m = self;
    for (BITS_EACH(party, m->warps[warp].used))
        divergence_pdom.where(m->stacks, diverge_on_miss_stack_of(warp, party), pcs);
}

static unsigned show(const void *self, unsigned warp, struct group_row *rows, unsigned most) {
    const struct diverge_on_miss *m = self;
    const struct diverge_on_miss_warp *s = &m->warps[warp];
    unsigned count = s->running == NO_PARTY
                         ? 0
                         : divergence_pdom.show(m->stacks, diverge_on_miss_stack_of(warp, s->running), rows, most);
    for (unsigned i = 0; i < s->table.count && count < most; i++)
        rows[count++] =
            (struct group_row){"fell behind", s->table.entries[i].pc, NO_PC, s->table.entries[i].lanes, NULL};
    for (BITS_EACH(party, s->parked))
        if (count < most)
            rows[count++] = (struct group_row){"parked", party_pc(m, warp, party), NO_PC,
                                               diverge_on_miss_party_lanes(m, warp, party), NULL};
    return count;
}

static const void *statistics(const void *self) { return &((const struct diverge_on_miss *)self)->stats; }

static enum status check(const void *values, struct report *report) {
    const struct diverge_on_miss_params *params = values;
    if (params->balance_min_percent > params->balance_max_percent)
        return report_add(report, STATUS_INVALID,
                          "diverge-on-miss.balance_min_percent=%u is more than diverge-on-miss.balance_max_percent=%u",
                          (unsigned)params->balance_min_percent, (unsigned)params->balance_max_percent);
    return STATUS_OK;
}

static const struct param_description params_table[] = {
#define PARAM(field, ...) PARAM_ENTRY(struct diverge_on_miss_params, field, __VA_ARGS__)
    DIVERGE_ON_MISS_PARAMS
#undef PARAM
        PARAM_END};

static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct diverge_on_miss_stats, field, unit, help)
#define LARGEST(field, unit, help) LARGEST_ENTRY(struct diverge_on_miss_stats, field, unit, help)
    DIVERGE_ON_MISS_STATS
#undef STAT
#undef LARGEST
        STAT_END};

/* Beyond pdom's stacks, as the seed counts. */
static void cost(const void *values, const struct cost_shape *shape, struct cost *out) {
    cost_slip(shape, ((const struct diverge_on_miss_params *)values)->mdt_entries, out);
}

static const struct divergence_slipping slipping = {
    .looked_up = diverge_on_miss_looked_up,
    .arrived = diverge_on_miss_arrived,
};

const struct divergence_ops divergence_diverge_on_miss = {
    .name = "diverge-on-miss",
    .help = "pdom, and threads that miss a cache fall behind the others of their warp",
    .own.params = params_table,
    .own.stats = stats_table,
    .own.params_bytes = sizeof(struct diverge_on_miss_params),
    .own.stats_bytes = sizeof(struct diverge_on_miss_stats),
    .own.statistics = statistics,
    .own.check = check,
    .own.cost = cost,
    .create = create,
    .start = start,
    .offer = offer,
    .issued = issued,
    .slipping = &slipping,
    .alive = alive,
    .where = where,
    .show = show,
};
