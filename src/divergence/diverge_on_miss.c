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
#include <assert.h>

#include "base/bits.h"
#include "divergence/divergence.h"

enum { PARTIES = LANES_MAX, TABLE_MAX = 32, NOBODY = PARTIES, SLIP_MOST = 255 };
enum all_missed { ALL_MISSED_BLOCK, ALL_MISSED_SLIP };
enum at_max { AT_MAX_DISABLE, AT_MAX_BLOCK };
/* What a PC asks of the party that comes to it. */
enum place { PLACE_PLAIN, PLACE_MEMORY, PLACE_PASS, PLACE_GATHER };

#define DIVERGE_ON_MISS_PARAMS                                                                                         \
    PARAM(mdt_entries, "diverge-on-miss.mdt_entries", U32, "2", "0", "32", "entries",                                  \
          "memory divergence table: memory instructions of a warp that threads can have fallen behind at")             \
    PARAM(mcb_entries, "diverge-on-miss.mcb_entries", U32, "2", "1", "33", "entries",                                  \
          "memory coalescing buffer: memory instructions of a warp whose data are on their way; an entry of the "      \
          "table takes one, a load that blocks too")                                                                   \
    PARAM(adaptive, "diverge-on-miss.adaptive", BOOL, "true", "", "", "",                                              \
          "the maximum slip moves with what the SM waits for; false: it stays")                                        \
    PARAM(max_slip, "diverge-on-miss.max_slip", U32, "1", "0", "255", "accesses",                                      \
          "how far a thread may run ahead, in accesses that others missed; adaptive: at the start of a launch")        \
    PARAM(at_max, "diverge-on-miss.at_max", CHOICE, "disable", "disable|block", "", "",                                \
          "a thread at the maximum waits as if it had missed; or the whole warp waits for every access")               \
    PARAM(all_missed, "diverge-on-miss.all_missed", CHOICE, "slip", "block|slip", "", "",                              \
          "an access that all active threads miss while others are in the table: the warp waits for all of it; or "    \
          "they fall behind too, and who has data first goes on")                                                      \
    PARAM(sample_cycles, "diverge-on-miss.sample_cycles", U64, "100000", "1", "1000000000", "cycles",                  \
          "adaptive: the maximum is looked at this often")                                                             \
    PARAM(alu_bound_percent, "diverge-on-miss.alu_bound_percent", U32, "5", "0", "100", "percent",                     \
          "adaptive: bound by issue when less than this of the slots pass empty")                                      \
    PARAM(balance_min_percent, "diverge-on-miss.balance_min_percent", U32, "5", "0", "100", "percent",                 \
          "adaptive: in balance when at least this of the slots pass waiting for memory")                              \
    PARAM(balance_max_percent, "diverge-on-miss.balance_max_percent", U32, "10", "0", "100", "percent",                \
          "adaptive: and at most this")                                                                                \
    PARAM(patience, "diverge-on-miss.patience", U32, "10000", "1", "4294967295", "runs",                               \
          "straight runs that a warp issues at most while threads that have their data wait: so they go on even when " \
          "the others wait for them in a loop")

#define DIVERGE_ON_MISS_STATS                                                                                          \
    STAT(divergent_accesses, "accesses", "loads and stores of which some lanes hit and some missed")                   \
    STAT(slips, "accesses", "loads and stores after which the warp went on without some lanes")                        \
    STAT(slipped_lanes, "lanes", "lanes left behind because they missed")                                              \
    STAT(held_lanes, "lanes", "lanes left behind because they were at the maximum slip")                               \
    STAT(blocks_all_missed, "accesses", "the warp waited: no lane could go on")                                        \
    STAT(blocks_table, "accesses", "the warp waited: the table was full")                                              \
    STAT(blocks_slip, "accesses", "the warp waited: slip control said no")                                             \
    STAT(rejoins, "accesses", "loads and stores at which lanes went on with those that came by")                       \
    STAT(rejoined_lanes, "lanes", "lanes that did")                                                                    \
    STAT(reactivations, "slots", "issue slots that lanes of the table took to go on by themselves")                    \
    STAT(reactivated_lanes, "lanes", "lanes that did")                                                                 \
    STAT(parks, "parkings", "the running lanes made way for those of the table")                                       \
    STAT(maximum_raised, "samples", "adaptive: after which the maximum slip was one more")                             \
    STAT(maximum_lowered, "samples", "adaptive: after which it was one less")                                          \
    STAT(maximum_kept, "samples", "adaptive: after which it stayed")                                                   \
    LARGEST(mdt_largest, "entries", "most entries of a warp's table in use")                                           \
    LARGEST(mcb_largest, "entries", "most entries of a warp's memory coalescing buffer in use")                        \
    LARGEST(parties_largest, "parties", "most parts of a warp that went on apart")                                     \
    LARGEST(slip_largest, "accesses", "largest slip of a thread")                                                      \
    LARGEST(max_slip_largest, "accesses", "largest maximum slip")

struct params {
#define PARAM PARAM_FIELD
    DIVERGE_ON_MISS_PARAMS
#undef PARAM
};

struct stats {
#define STAT(field, unit, help) uint64_t field;
#define LARGEST STAT
    DIVERGE_ON_MISS_STATS
#undef STAT
#undef LARGEST
};

/* The memory divergence table of a warp, the oldest entry first. */
struct table {
    uint32_t count;
    struct {
        uint32_t pc, lanes;
    } entries[TABLE_MAX];
};

struct slipping {
    uint32_t used, slipped, parked; /* parties; running is the one that is neither slipped nor parked */
    uint8_t running;
    bool asks;               /* its memory instruction has not been looked up */
    bool rejoins;            /* it has been slipped: its next issue takes the slot of its memory instruction */
    bool released;           /* it may issue what it was parked at */
    uint32_t waiting, ready; /* lanes of the table; of these, those whose data have come */
    uint32_t held;           /* of these, those that slip control disabled: they have their values and need no entry */
    uint32_t waited;         /* runs issued since somebody was ready */
    uint8_t slip[LANES_MAX];
    struct table table;
};

struct mechanism {
    const struct params *params;
    const uint64_t *now;
    const struct divergence_usage *usage;
    void *stacks;
    struct slipping *warps;
    uint8_t *places; /* by PC */
    uint32_t *stops; /* by PC: a run that begins there ends before this one */
    uint32_t max_slip;
    uint64_t sampled_cycle, sampled_empty, sampled_memory, sampled_requests;
    struct stats stats;
};

static void keep_largest(uint64_t *largest, uint64_t value) { *largest = value > *largest ? value : *largest; }

/* ---- parties ---- */

static unsigned stack_of(unsigned warp, unsigned party) { return warp * PARTIES + party; }

static uint32_t party_pc(const struct mechanism *m, unsigned warp, unsigned party) {
    struct group group;
    divergence_pdom.offer(m->stacks, stack_of(warp, party), &group);
    return group.pc;
}

static uint32_t party_lanes(const struct mechanism *m, unsigned warp, unsigned party) {
    return divergence_pdom.alive(m->stacks, stack_of(warp, party));
}

/* Those that run next: lanes of other sides may wait below them. */
static uint32_t top_lanes(const struct mechanism *m, unsigned warp, unsigned party) {
    struct group group;
    divergence_pdom.offer(m->stacks, stack_of(warp, party), &group);
    return group.lanes;
}

static unsigned split(struct mechanism *m, unsigned warp, unsigned party, uint32_t lanes) {
    struct slipping *s = &m->warps[warp];
    const unsigned new = bits_first(~s->used);
    assert(s->used != UINT32_MAX); /* no more parties than lanes */
    pdom_split(m->stacks, stack_of(warp, party), stack_of(warp, new), lanes);
    s->used |= UINT32_C(1) << new;
    keep_largest(&m->stats.parties_largest, bits_count(s->used));
    return new;
}

/* The two go on together, as the one that is returned; NOBODY: they cannot. */
static unsigned join(struct mechanism *m, unsigned warp, unsigned a, unsigned b) {
    struct slipping *s = &m->warps[warp];
    if (!pdom_join(m->stacks, stack_of(warp, a), stack_of(warp, b))) {
        if (!pdom_join(m->stacks, stack_of(warp, b), stack_of(warp, a)))
            return NOBODY;
        const unsigned other = a;
        a = b, b = other;
    }
    const uint32_t gone = ~(UINT32_C(1) << b);
    s->used &= gone, s->slipped &= gone, s->parked &= gone;
    return a;
}

/* ---- the table ---- */

static unsigned table_find(const struct table *table, uint32_t pc) {
    unsigned i = 0;
    while (i < table->count && table->entries[i].pc != pc)
        i++;
    return i;
}

static void table_remove(struct slipping *s, uint32_t lanes) {
    struct table *table = &s->table;
    unsigned kept = 0;
    for (unsigned i = 0; i < table->count; i++) {
        table->entries[i].lanes &= ~lanes;
        if (table->entries[i].lanes)
            table->entries[kept++] = table->entries[i];
    }
    table->count = kept;
    s->waiting &= ~lanes, s->ready &= ~lanes, s->held &= ~lanes;
    s->waited = 0;
}

/* Entries of the hardware's in use. */
static unsigned table_used(const struct slipping *s) {
    unsigned used = 0;
    for (unsigned i = 0; i < s->table.count; i++)
        used += (s->table.entries[i].lanes & ~s->held) != 0;
    return used;
}

/* Does an access of this PC find its entry, or one of so many free? */
static bool table_has_room(const struct slipping *s, uint32_t pc, unsigned entries) {
    const unsigned at = table_find(&s->table, pc);
    return table_used(s) < entries || (at < s->table.count && (s->table.entries[at].lanes & ~s->held));
}

/* Lanes of the running party fall behind at their memory instruction, some because they missed: needs room for those. */
static void table_add(struct mechanism *m, unsigned warp, uint32_t pc, uint32_t lanes, uint32_t held) {
    struct slipping *s = &m->warps[warp];
    struct table *table = &s->table;
    const unsigned at = table_find(table, pc);
    if (at == table->count) {
        assert(table->count < TABLE_MAX); /* no more than lanes */
        table->entries[table->count].pc = pc, table->entries[table->count++].lanes = 0;
    }
    table->entries[at].lanes |= lanes;
    s->waiting |= lanes, s->held |= held, s->ready |= held;
    unsigned party = s->running;
    if (lanes == party_lanes(m, warp, party))
        s->running = NOBODY;
    else
        party = split(m, warp, party, lanes);
    s->slipped |= UINT32_C(1) << party;
    const uint32_t others = s->slipped & ~(UINT32_C(1) << party);
    for (BITS_EACH(other, others)) {
        const unsigned both = join(m, warp, other, party);
        party = both == NOBODY ? party : both;
    }
    assert(table_used(s) <= m->params->mdt_entries && table_used(s) <= m->params->mcb_entries);
    keep_largest(&m->stats.mdt_largest, table_used(s));
    keep_largest(&m->stats.mcb_largest, table_used(s));
}

/* Threads that may go on: not those at the maximum slip. */
static uint32_t below_max(const struct mechanism *m, const struct slipping *s, uint32_t lanes) {
    uint32_t below = 0;
    for (BITS_EACH(lane, lanes))
        below |= (uint32_t)(s->slip[lane] < m->max_slip) << lane;
    return below;
}

/* Lanes of the table, all behind at one PC, go on with the running party, or where nobody runs as one of their own. */
static uint32_t take_back(struct mechanism *m, unsigned warp, uint32_t lanes) {
    struct slipping *s = &m->warps[warp];
    const uint32_t slipped = s->slipped;
    uint32_t taken = 0;
    for (BITS_EACH(party, slipped)) {
        const uint32_t all = party_lanes(m, warp, party), some = all & lanes;
        if (!some)
            continue;
        const unsigned part = some == all ? party : split(m, warp, party, some);
        if (s->running == NOBODY) {
            s->running = (uint8_t)part;
        } else {
            const unsigned both = join(m, warp, s->running, part);
            if (both == NOBODY) {
                if (part != party)
                    join(m, warp, party, part);
                continue;
            }
            s->running = (uint8_t)both;
        }
        s->slipped &= ~(UINT32_C(1) << s->running);
        taken |= some;
    }
    table_remove(s, taken);
    return taken;
}

/* ---- who runs ---- */

static void park(struct mechanism *m, struct slipping *s) {
    s->parked |= UINT32_C(1) << s->running;
    s->running = NOBODY;
    s->released = false;
    s->waited = 0;
    m->stats.parks++;
}

/* Must the running party make way before what it would issue next? */
static bool makes_way(const struct mechanism *m, unsigned warp) {
    const struct slipping *s = &m->warps[warp];
    const uint32_t pc = party_pc(m, warp, s->running);
    if (s->released)
        return false;
    if (s->ready && s->waited >= m->params->patience)
        return true;
    switch ((enum place)m->places[pc]) {
    case PLACE_PASS: return s->waiting != 0;
    case PLACE_GATHER: return (s->used & (s->used - 1)) != 0;
    case PLACE_MEMORY: return !table_has_room(s, pc, m->params->mcb_entries);
    case PLACE_PLAIN: break;
    }
    return false;
}

/* Those that come to a place where others are parked wait with them. */
static bool comes_to_parked(struct mechanism *m, unsigned warp) {
    struct slipping *s = &m->warps[warp];
    for (BITS_EACH(other, s->parked)) {
        const unsigned both = join(m, warp, other, s->running);
        if (both == NOBODY)
            continue;
        s->running = (uint8_t)both;
        park(m, s);
        return true;
    }
    return false;
}

/* The running party at the place it has come to; false: nobody runs any more. */
static bool go_on(struct mechanism *m, unsigned warp) {
    struct slipping *s = &m->warps[warp];
    if (!pdom_depth(m->stacks, stack_of(warp, s->running))) {
        s->used &= ~(UINT32_C(1) << s->running);
        s->running = NOBODY;
        return false;
    }
    if (!s->released && comes_to_parked(m, warp))
        return false;
    if (!makes_way(m, warp))
        return true;
    park(m, s);
    return false;
}

/* Of these, the threads that are furthest behind. */
static uint32_t last_of(const struct slipping *s, uint32_t lanes) {
    uint32_t last = 0;
    for (BITS_EACH(lane, lanes))
        last |= (uint32_t)(s->slip[lane] == 0) << lane;
    return last;
}

/* Are the threads that are furthest behind all among these? */
static bool all_last_here(const struct slipping *s, uint32_t here, uint32_t all) { return !(last_of(s, all) & ~here); }

/* They are: those that are ahead and wait are one access nearer to them. */
static void close_up(struct mechanism *m, struct slipping *s, uint32_t misses) {
    const uint32_t nearer = misses | (s->waiting & ~below_max(m, s, s->waiting));
    for (BITS_EACH(lane, nearer))
        s->slip[lane] = (uint8_t)(s->slip[lane] - (s->slip[lane] > 0));
}

/* Lanes of the table whose data have come go on by themselves, those of the oldest entry first; false: there are none. */
static bool reactivate(struct mechanism *m, unsigned warp) {
    struct slipping *s = &m->warps[warp];
    const uint32_t below = below_max(m, s, s->waiting), able = s->ready & (below ? below : s->waiting);
    for (unsigned i = 0; i < s->table.count; i++)
        if (s->table.entries[i].lanes & able) {
            const uint32_t taken = take_back(m, warp, s->table.entries[i].lanes & able);
            if (all_last_here(s, taken, taken | s->waiting))
                close_up(m, s, 0);
            s->rejoins = true;
            m->stats.reactivated_lanes += bits_count(taken);
            return true;
        }
    return false;
}

/* May a parked party go on while others are in the table? */
static bool may_pass(const struct mechanism *m, unsigned warp, unsigned party) {
    const uint32_t pc = party_pc(m, warp, party);
    return m->places[pc] == PLACE_PLAIN ||
           (m->places[pc] == PLACE_MEMORY && table_has_room(&m->warps[warp], pc, m->params->mcb_entries));
}

/* Parked ones go on, those at one place together: who waits for room when there is some, and when the table is empty all,
 * the one with most meetings to come first, those that wait for everyone last. */
static bool release(struct mechanism *m, unsigned warp) {
    struct slipping *s = &m->warps[warp];
    unsigned best = NOBODY, best_depth = 0;
    bool best_gathers = true;
    for (BITS_EACH(party, s->parked)) {
        const bool gathers = m->places[party_pc(m, warp, party)] == PLACE_GATHER;
        const unsigned depth = pdom_depth(m->stacks, stack_of(warp, party));
        if ((!s->waiting || may_pass(m, warp, party)) &&
            (best == NOBODY || gathers < best_gathers || (gathers == best_gathers && depth > best_depth)))
            best = party, best_gathers = gathers, best_depth = depth;
    }
    if (best == NOBODY)
        return false;
    s->parked &= ~(UINT32_C(1) << best);
    for (BITS_EACH(other, s->parked)) {
        const unsigned both = join(m, warp, best, other);
        best = both == NOBODY ? best : both;
    }
    s->parked &= ~(UINT32_C(1) << best);
    s->running = (uint8_t)best;
    s->released = true;
    return true;
}

static void settle(struct mechanism *m, unsigned warp) {
    struct slipping *s = &m->warps[warp];
    do {
        if (s->asks || s->rejoins)
            return;
        if (s->running != NOBODY && go_on(m, warp))
            return;
    } while ((s->waiting && reactivate(m, warp)) || release(m, warp));
}

/* ---- slip control ---- */

static void adapt(struct mechanism *m) {
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
    keep_largest(&m->stats.max_slip_largest, m->max_slip);
}

/* Lanes go on while others that accessed memory with them do not. */
static void run_ahead(struct mechanism *m, struct slipping *s, uint32_t lanes) {
    for (BITS_EACH(lane, lanes)) {
        assert(s->slip[lane] < m->max_slip);
        keep_largest(&m->stats.slip_largest, ++s->slip[lane]);
    }
}

/* Why the warp waits for all of an access of which some lanes missed or are held; NULL: it need not. Where nobody can go on
 * because they are at the maximum, it is for those behind them to do so. */
static uint64_t *find_block(struct mechanism *m, const struct slipping *s, uint32_t pc, uint32_t below, uint32_t all,
                            uint32_t going, uint32_t misses, uint32_t held) {
    if (m->max_slip == 0 || (m->params->at_max == AT_MAX_BLOCK && below != all))
        return &m->stats.blocks_slip;
    if (!going && (!s->waiting || (!held && m->params->all_missed == ALL_MISSED_BLOCK)))
        return &m->stats.blocks_all_missed;
    const bool room = table_has_room(s, pc, m->params->mdt_entries) && table_has_room(s, pc, m->params->mcb_entries);
    return misses && !room ? &m->stats.blocks_table : NULL;
}

static uint32_t looked_up(void *self, unsigned warp, uint32_t pc, uint32_t hits, uint32_t misses) {
    struct mechanism *m = self;
    struct slipping *s = &m->warps[warp];
    const bool asks = s->asks;
    s->asks = false;
    m->stats.divergent_accesses += hits && misses;
    adapt(m);
    if (!asks) { /* nobody can fall behind */
        m->stats.blocks_slip += misses != 0;
        return 0;
    }
    const unsigned at = table_find(&s->table, pc);
    uint32_t ready = at < s->table.count ? s->table.entries[at].lanes & s->ready : 0;
    const uint32_t all = hits | misses | s->waiting, below = below_max(m, s, all);
    const bool closes_up = (hits | misses) && all_last_here(s, hits | ready, all);
    const uint32_t held = m->params->at_max == AT_MAX_DISABLE && !closes_up ? hits & ~below : 0;
    if (closes_up)
        close_up(m, s, misses);
    /* The last are ahead of nobody: they go on even where the maximum has come down to 0. */
    ready = ready ? take_back(m, warp, below_max(m, s, ready) | last_of(s, ready)) : 0;
    m->stats.rejoins += ready != 0;
    m->stats.rejoined_lanes += bits_count(ready);
    const uint32_t behind = misses | held, going = top_lanes(m, warp, s->running) & ~behind;
    uint64_t *const blocked = behind ? find_block(m, s, pc, below, all, going, misses, held) : NULL;
    uint32_t left = 0;
    if (blocked) {
        *blocked += misses != 0;
        const bool shares = table_has_room(s, pc, 0);
        assert(shares || table_used(s) < m->params->mcb_entries);
        keep_largest(&m->stats.mcb_largest, table_used(s) + !shares);
    } else if (!closes_up && (misses || s->waiting))
        run_ahead(m, s, hits & below);
    if (!blocked && behind) {
        table_add(m, warp, pc, behind, held);
        m->stats.slips++;
        m->stats.slipped_lanes += bits_count(misses);
        m->stats.held_lanes += bits_count(held);
        left = misses;
    }
    settle(m, warp);
    return left;
}

static uint64_t arrived(void *self, unsigned warp, uint32_t lanes) {
    struct mechanism *m = self;
    struct slipping *s = &m->warps[warp];
    s->ready |= lanes;
    if (s->running != NOBODY)
        return 0;
    settle(m, warp);
    return s->running == NOBODY ? 0 : UINT64_C(1) << warp % ISSUE_SLOTS_MAX;
}

/* ---- the plug point ---- */

static enum place place_of(const struct inst *inst) {
    switch ((enum op)inst->op) {
    case OP_LD:
    case OP_ST: /* parameters of functions lie in local memory */
        return inst->space == SPACE_SHARED || inst->space == SPACE_CONST ? PLACE_PLAIN : PLACE_MEMORY;
    case OP_CALL:
    case OP_RET:
    case OP_EXIT: return PLACE_PASS;
    default: return inst->op == OP_BAR || inst_is_of_warps(inst) ? PLACE_GATHER : PLACE_PLAIN;
    }
}

static void *create(struct arena *arena, const struct divergence_shape *shape) {
    struct mechanism *m = ARENA_NEW(arena, struct mechanism);
    m->params = shape->params, m->now = shape->now, m->usage = shape->usage;
    m->stacks = pdom_create_stacks(arena, shape, shape->warps * PARTIES);
    m->warps = ARENA_ARRAY(arena, struct slipping, shape->warps);
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
    struct mechanism *m = self;
    m->warps[warp] = (struct slipping){.used = lanes != 0, .running = lanes ? 0 : NOBODY};
    return divergence_pdom.start(m->stacks, stack_of(warp, 0), pc, lanes) ? UINT64_C(1) << warp % ISSUE_SLOTS_MAX : 0;
}

static bool offer(void *self, unsigned warp, struct group *out) {
    const struct mechanism *m = self;
    const struct slipping *s = &m->warps[warp];
    if (s->running == NOBODY)
        return false;
    divergence_pdom.offer(m->stacks, stack_of(warp, s->running), out);
    out->rejoins = s->rejoins;
    out->asks = s->asks;
    out->accesses = (uint8_t)table_used(s);
    if (s->rejoins)
        out->pc--;
    const uint32_t stop = m->stops[out->pc];
    if (out->stop_pc <= out->pc || out->stop_pc > stop)
        out->stop_pc = stop;
    return true;
}

/* Parties that came into a function by different calls may have joined there: those that return elsewhere than the first
 * go on apart, since no place is known where they meet. What is left of the issue is told to the running party. */
static void issue(struct mechanism *m, unsigned warp, const struct group *group, const struct executed *executed) {
    struct slipping *s = &m->warps[warp];
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
        const unsigned party = split(m, warp, s->running, other.taken);
        divergence_pdom.issued(m->stacks, stack_of(warp, party), group, &other);
        s->parked |= UINT32_C(1) << party;
    }
    divergence_pdom.issued(m->stacks, stack_of(warp, s->running), group, &here);
}

static uint64_t issued(void *self, unsigned warp, const struct group *group, const struct executed *executed) {
    struct mechanism *m = self;
    struct slipping *s = &m->warps[warp];
    if (s->rejoins) {
        s->rejoins = false;
        m->stats.reactivations++;
    } else {
        issue(m, warp, group, executed);
        /* told one by one nobody parts, joins or makes way within a run, as when it is told at once */
        if (executed->flow == FLOW_NEXT && executed->pc + 1 != group->stop_pc)
            return UINT64_C(1) << warp % ISSUE_SLOTS_MAX;
        s->waited += s->ready != 0;
        const bool alone = !(s->used & (s->used - 1));
        s->asks = m->usage && executed->flow == FLOW_NEXT && m->places[executed->pc] == PLACE_MEMORY &&
                  !(alone && m->max_slip == 0);
    }
    s->released = false;
    settle(m, warp);
    return UINT64_C(1) << warp % ISSUE_SLOTS_MAX;
}

static uint32_t alive(const void *self, unsigned warp) {
    const struct mechanism *m = self;
    uint32_t lanes = 0;
    for (BITS_EACH(party, m->warps[warp].used))
        lanes |= party_lanes(m, warp, party);
    return lanes;
}

static void where(const void *self, unsigned warp, uint32_t pcs[LANES_MAX]) {
    const struct mechanism *m = self;
    for (BITS_EACH(party, m->warps[warp].used))
        divergence_pdom.where(m->stacks, stack_of(warp, party), pcs);
}

static unsigned show(const void *self, unsigned warp, struct group_row *rows, unsigned most) {
    const struct mechanism *m = self;
    const struct slipping *s = &m->warps[warp];
    unsigned count = s->running == NOBODY ? 0 : divergence_pdom.show(m->stacks, stack_of(warp, s->running), rows, most);
    for (unsigned i = 0; i < s->table.count && count < most; i++)
        rows[count++] =
            (struct group_row){"fell behind", s->table.entries[i].pc, NO_PC, s->table.entries[i].lanes, NULL};
    for (BITS_EACH(party, s->parked))
        if (count < most)
            rows[count++] =
                (struct group_row){"parked", party_pc(m, warp, party), NO_PC, party_lanes(m, warp, party), NULL};
    return count;
}

static const void *statistics(const void *self) { return &((const struct mechanism *)self)->stats; }

static enum status check(const void *values, struct report *report) {
    const struct params *params = values;
    if (params->balance_min_percent > params->balance_max_percent)
        return report_add(report, STATUS_INVALID,
                          "diverge-on-miss.balance_min_percent=%u is more than diverge-on-miss.balance_max_percent=%u",
                          (unsigned)params->balance_min_percent, (unsigned)params->balance_max_percent);
    return STATUS_OK;
}

static const struct param_description params_table[] = {
#define PARAM(field, ...) PARAM_ENTRY(struct params, field, __VA_ARGS__)
    DIVERGE_ON_MISS_PARAMS
#undef PARAM
        PARAM_END};

static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct stats, field, unit, help)
#define LARGEST(field, unit, help) LARGEST_ENTRY(struct stats, field, unit, help)
    DIVERGE_ON_MISS_STATS
#undef STAT
#undef LARGEST
        STAT_END};

/* Beyond pdom's stacks, as the seed counts. */
static void cost(const void *values, const struct cost_shape *shape, struct cost *out) {
    cost_slip(shape, ((const struct params *)values)->mdt_entries, out);
}

const struct divergence_ops divergence_diverge_on_miss = {
    .name = "diverge-on-miss",
    .help = "pdom, and threads that miss a cache fall behind the others of their warp",
    .params = params_table,
    .stats = stats_table,
    .params_bytes = sizeof(struct params),
    .stats_bytes = sizeof(struct stats),
    .statistics = statistics,
    .check = check,
    .cost = cost,
    .create = create,
    .start = start,
    .offer = offer,
    .issued = issued,
    .looked_up = looked_up,
    .arrived = arrived,
    .alive = alive,
    .where = where,
    .show = show,
};
