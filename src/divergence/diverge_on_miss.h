/* SPDX-License-Identifier: Apache-2.0 */
/* Diverge on miss: a warp goes on with the threads that hit; what the mechanism's files share. How it works
 * stands in diverge_on_miss.c. */
#ifndef HEDDLE_DIVERGENCE_DIVERGE_ON_MISS_H
#define HEDDLE_DIVERGENCE_DIVERGE_ON_MISS_H

#include "base/bits.h"
#include "divergence/divergence.h"

enum { PARTIES = LANES_MAX, TABLE_MAX = 32, NO_PARTY = PARTIES, SLIP_MOST = 255 };
enum diverge_on_miss_all_missed { ALL_MISSED_BLOCK, ALL_MISSED_SLIP };
enum diverge_on_miss_at_max { AT_MAX_DISABLE, AT_MAX_BLOCK };
/* What a PC asks of the party that comes to it. */
enum diverge_on_miss_place { PLACE_PLAIN, PLACE_MEMORY, PLACE_PASS, PLACE_GATHER };

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

struct diverge_on_miss_params {
#define PARAM PARAM_FIELD
    DIVERGE_ON_MISS_PARAMS
#undef PARAM
};

struct diverge_on_miss_stats {
#define STAT(field, unit, help) uint64_t field;
#define LARGEST STAT
    DIVERGE_ON_MISS_STATS
#undef STAT
#undef LARGEST
};

/* The memory divergence table of a warp, the oldest entry first. */
struct diverge_on_miss_table {
    uint32_t count;
    struct {
        uint32_t pc, lanes;
    } entries[TABLE_MAX];
};

struct diverge_on_miss_warp {
    uint32_t used, slipped, parked; /* parties; running is the one that is neither slipped nor parked */
    uint8_t running;
    bool asks;               /* its memory instruction has not been looked up */
    bool rejoins;            /* it has been slipped: its next issue takes the slot of its memory instruction */
    bool released;           /* it may issue what it was parked at */
    uint32_t waiting, ready; /* lanes of the table; of these, those whose data have come */
    uint32_t held;           /* of these, those that slip control disabled: they have their values and need no entry */
    uint32_t waited;         /* runs issued since somebody was ready */
    uint8_t slip[LANES_MAX];
    struct diverge_on_miss_table table;
};

struct diverge_on_miss {
    const struct diverge_on_miss_params *params;
    const uint64_t *now;
    const struct divergence_usage *usage;
    void *stacks;
    struct diverge_on_miss_warp *warps;
    uint8_t *places; /* by PC */
    uint32_t *stops; /* by PC: a run that begins there ends before this one */
    uint32_t max_slip;
    uint64_t sampled_cycle, sampled_empty, sampled_memory, sampled_requests;
    struct diverge_on_miss_stats stats;
};

static inline void diverge_on_miss_keep_largest(uint64_t *largest, uint64_t value) {
    *largest = value > *largest ? value : *largest;
}

/* Somebody runs, if anybody can. */
void diverge_on_miss_settle(struct diverge_on_miss *m, unsigned warp);

/* ---- parties and the table: diverge_on_miss_table.c ---- */

static inline unsigned diverge_on_miss_stack_of(unsigned warp, unsigned party) { return warp * PARTIES + party; }

static inline uint32_t diverge_on_miss_party_lanes(const struct diverge_on_miss *m, unsigned warp, unsigned party) {
    return divergence_pdom.alive(m->stacks, diverge_on_miss_stack_of(warp, party));
}

/* These lanes of a party go on as one of their own. */
unsigned diverge_on_miss_split(struct diverge_on_miss *m, unsigned warp, unsigned party, uint32_t lanes);
/* The two go on together, as the one that is returned; NO_PARTY: they cannot. */
unsigned diverge_on_miss_join(struct diverge_on_miss *m, unsigned warp, unsigned a, unsigned b);

/* Its entry of that PC; the count: none. */
static inline unsigned diverge_on_miss_table_find(const struct diverge_on_miss_table *table, uint32_t pc) {
    unsigned i = 0;
    while (i < table->count && table->entries[i].pc != pc)
        i++;
    return i;
}

/* Entries of the hardware's in use. */
static inline unsigned diverge_on_miss_table_used(const struct diverge_on_miss_warp *s) {
    unsigned used = 0;
    for (unsigned i = 0; i < s->table.count; i++)
        used += (s->table.entries[i].lanes & ~s->held) != 0;
    return used;
}

/* Does an access of this PC find its entry, or one of so many free? */
static inline bool diverge_on_miss_table_has_room(const struct diverge_on_miss_warp *s, uint32_t pc, unsigned entries) {
    const unsigned at = diverge_on_miss_table_find(&s->table, pc);
    return diverge_on_miss_table_used(s) < entries || (at < s->table.count && (s->table.entries[at].lanes & ~s->held));
}

/* Lanes of the running party fall behind at their memory instruction, some because they missed: needs room for those. */
void diverge_on_miss_table_add(struct diverge_on_miss *m, unsigned warp, uint32_t pc, uint32_t lanes, uint32_t held);
/* Lanes of the table, all behind at one PC, go on with the running party, or where nobody runs as one of their
 * own; those that did. */
uint32_t diverge_on_miss_take_back(struct diverge_on_miss *m, unsigned warp, uint32_t lanes);

/* ---- slip control: diverge_on_miss_slip.c ---- */

/* Threads that may go on: not those at the maximum slip. */
uint32_t diverge_on_miss_below_max(const struct diverge_on_miss *m, const struct diverge_on_miss_warp *s,
                                   uint32_t lanes);
/* Are the threads that are furthest behind all among these? */
bool diverge_on_miss_all_last_here(const struct diverge_on_miss_warp *s, uint32_t here, uint32_t all);
/* They are: those that are ahead and wait are one access nearer to them. */
void diverge_on_miss_close_up(struct diverge_on_miss *m, struct diverge_on_miss_warp *s, uint32_t misses);

/* struct divergence_slipping */
uint32_t diverge_on_miss_looked_up(void *self, unsigned warp, uint32_t pc, uint32_t hits, uint32_t misses);
uint64_t diverge_on_miss_arrived(void *self, unsigned warp, uint32_t lanes);

#endif
