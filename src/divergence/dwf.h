/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic warp formation: threads that leave the pipeline are grouped anew; what the mechanism's files share. How it works
 * stands in dwf.c. */
#ifndef HEDDLE_DIVERGENCE_DWF_H
#define HEDDLE_DIVERGENCE_DWF_H

#include "base/heap.h"
#include "divergence/divergence.h"
#include "simt/formed.h"
#include "simt/threads.h"

enum dwf_policy { POLICY_TIME, POLICY_PC, POLICY_MAJORITY, POLICY_MINORITY, POLICY_PDOM };
enum dwf_register_file { REGISTERS_LANE_AWARE, REGISTERS_CROSSBAR, REGISTERS_IDEAL };

#define DWF_PARAMS(PARAM)                                                                                              \
    PARAM(policy, "dwf.policy", CHOICE, "time", "time|pc|majority|minority|pdom-priority", "", "",                     \
          "which group issues first: the oldest; of the smallest PC; of the PC with most threads, until none is left " \
          "there; with fewest; whose threads have passed the fewest post-dominators; then the oldest")                 \
    PARAM(register_file, "dwf.register_file", CHOICE, "lane-aware", "lane-aware|crossbar|ideal", "", "",               \
          "lane-aware: a thread keeps its lane; crossbar: it takes any, and threads of one home lane read their "      \
          "registers in turns; ideal: any lane, at once")                                                              \
    PARAM(swizzle, "dwf.swizzle", BOOL, "false", "", "", "",                                                           \
          "every second warp of a block has its even and odd home lanes swapped")                                      \
    PARAM(lut_entries, "dwf.lut_entries", U32, "0", "0", "65536", "entries", "PC-warp table; 0: no limit")             \
    PARAM(lut_ways, "dwf.lut_ways", U32, "0", "0", "65536", "ways", "of the PC-warp table; 0: one set")                \
    PARAM(pool_entries, "dwf.pool_entries", U32, "0", "0", "65536", "groups", "warp pool; 0: no limit")                \
    PARAM(heap_entries, "dwf.heap_entries", U32, "0", "0", "32768", "entries",                                         \
          "policy majority: PCs in its heap; 0: no limit")                                                             \
    PARAM(mheap_lut_entries, "dwf.mheap_lut_entries", U32, "0", "0", "65536", "entries",                               \
          "policy majority: table from a PC to its place in the heap; 0: no limit")                                    \
    PARAM(mheap_lut_ways, "dwf.mheap_lut_ways", U32, "0", "0", "65536", "ways", "of that table; 0: one set")           \
    PARAM(ports, "dwf.ports", U32, "0", "0", "64", "ports",                                                            \
          "PCs that the tables take in a cycle, and heap entries that move up a level in it; 0: no limit")

struct dwf_params {
    DWF_PARAMS(PARAM_FIELD)
};

#define DWF_STATS(STAT, LARGEST)                                                                                       \
    STAT(arrivals, "sets", "sets of threads with one next PC that came back")                                          \
    STAT(merges, "sets", "of these, sets of which threads joined a group that was there")                              \
    STAT(lane_conflicts, "threads", "lane-aware: threads whose lane was taken in the group they could have joined")    \
    STAT(register_turns, "turns", "crossbar: turns of reading registers beyond a group's first")                       \
    STAT(evictions, "entries", "entries that a full set of the PC-warp table lost")                                    \
    STAT(stalled_write_backs, "sets", "sets of threads that waited for room in the scheduler's structures")            \
    STAT(stalled_cycles, "cycles", "cycles in which such sets waited, summed over SMs")                                \
    LARGEST(pool_largest, "groups", "groups in an SM's pool at a time")                                                \
    LARGEST(lut_largest, "entries", "entries of its PC-warp table in use")                                             \
    LARGEST(heap_largest, "entries", "PCs in its heap, when the policy has one")                                       \
    LARGEST(mheap_lut_largest, "entries", "entries of its heap's table in use")

struct dwf_stats {
#define FIELD(field, unit, help) uint64_t field;
    DWF_STATS(FIELD, FIELD)
#undef FIELD
};

#define NEVER UINT64_MAX

/* Arrivals that wait for room: a ring of their threads, the first of each marked. */
struct dwf_waiting {
    uint16_t *threads;
    unsigned first, count, capacity;
};

struct dwf {
    struct dwf_params params;
    struct threads threads;
    unsigned width;
    const uint8_t *home; /* [thread]: the lane where its registers are */
    struct formed_pool pool;
    /* A group whose threads all go on at one PC keeps its place while it is out, with that, in case that it comes back as it went; until
     * then their own are not written. [thread], of its first: the place plus 1; 0: it has none. */
    uint16_t *place_of;
    uint16_t first_out; /* where `apart`: the last such group to go out; linked by `next` and `previous` */
    unsigned out;       /* such groups */
    bool apart;         /* threads of one issue come back each in its own time */
    bool keeps_lanes; /* threads take the same lanes in every group, and nothing of a group depends on more than them */
    struct assoc youngest; /* [block][pc]: a place of the pool */
    const struct inst *code;
    uint32_t code_count;
    const uint64_t *now;
    uint64_t *wake;
    struct dwf_waiting waiting;
    uint64_t turn; /* a cycle, and the arrivals taken in it */
    unsigned taken;
    uint32_t *counts; /* [pc]: threads in the pool */

    uint32_t majority;               /* the PC whose groups issue; NO_PC: none yet */
    bool has_heap;                   /* else PCs are counted */
    struct heap heap;                /* the other PCs */
    uint64_t heap_free, heap_growth; /* it rests from that cycle on; cycle in which it grew last, NEVER: a pop since */

    /* policy pdom-priority */
    uint16_t *point;  /* [pc]: number of a reconvergence point plus 1, 0: none */
    unsigned words;   /* of a set of points */
    uint64_t *ahead;  /* [thread][word]: those of branches it has executed */
    uint32_t *passed; /* [thread] */
    struct dwf_stats stats;
};

/* Groups that wait to be issued. */
static inline unsigned dwf_pool_count(const struct dwf *dwf) { return dwf->pool.count - dwf->out; }

static inline void dwf_wake_at(struct dwf *dwf, uint64_t cycle) {
    if (cycle < *dwf->wake)
        *dwf->wake = cycle;
}

/* Of the PC-warp table. */
static inline uint32_t dwf_table_key(const struct dwf *dwf, unsigned block, uint32_t pc) {
    return block * dwf->code_count + pc;
}

/* ---- policies: dwf_policy.c ---- */

/* policy pdom-priority: before threads begin */
void dwf_find_points(struct dwf *dwf, struct arena *arena, unsigned threads);
/* What threads of the group have passed when they go on from this instruction. */
void dwf_pass_points(struct dwf *dwf, const struct group *group, uint32_t pc);
/* The slot that issues next, as struct divergence_forming has it. */
unsigned dwf_pick(void *self, uint64_t ready);

/* The groups that come first take the slots. */
uint64_t dwf_settle_by_policy(struct dwf *dwf);
void dwf_next_majority(struct dwf *dwf);

/* The groups that come first stand in the slots. A group leaves one only when there are more groups than slots. */
static inline uint64_t dwf_settle_slots(struct dwf *dwf) {
    if (dwf->pool.first == FORMED_NONE)
        return 0;
    /* time: the queue is in its order */
    return dwf->params.policy == POLICY_TIME ? formed_fill(&dwf->pool) : dwf_settle_by_policy(dwf);
}

/* The majority PC has no group left: the most common of the others follows, unless the heap is being put in order. */
static inline void dwf_choose_majority(struct dwf *dwf) {
    if (dwf->params.policy == POLICY_MAJORITY && (dwf->majority == NO_PC || !dwf->counts[dwf->majority]))
        dwf_next_majority(dwf);
}

/* ---- arrivals: dwf_insert.c; as struct divergence_forming has them ---- */

/* A group goes out and keeps its place. */
void dwf_go_out(struct dwf *dwf, uint16_t number);
uint64_t dwf_advance(void *self);
uint64_t dwf_returned(void *self, const uint16_t *threads, uint32_t lanes);

#endif
