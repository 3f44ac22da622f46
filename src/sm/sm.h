/* SPDX-License-Identifier: Apache-2.0 */
/* One SM in time: front end, units, load/store unit, L1. It meets the rest of the machine in two links (requests out,
 * replies in), the executor (what instructions do) and the divergence mechanism (who issues together). */
#ifndef HEDDLE_SM_SM_H
#define HEDDLE_SM_SM_H

#include "base/arena.h"
#include "base/param.h"
#include "base/stat.h"
#include "base/status.h"
#include "divergence/divergence.h"
#include "isa/module.h"
#include "mem/cache.h"
#include "mem/link.h"
#include "mem/packet.h"
#include "sm/histograms.h"
#include "sm/predictor/predictor.h"

enum sm_formed { SM_FORMED_SCOREBOARD, SM_FORMED_ONE };
enum sm_pipeline { SM_SCOREBOARD, SM_BARREL, SM_ONE_CYCLE, SM_CONTROL_BITS };
enum sm_texture_lookup { SM_TEXTURE_L1, SM_TEXTURE_OWN };
enum sm_return { SM_RETURN_OWN, SM_RETURN_THREAD, SM_RETURN_GROUP };

struct sm_params {
#define PARAM PARAM_FIELD
#include "sm/sm_params.def"
#undef PARAM
};

/* Where the slots of schedulers go: SLOT lines of sm_stats.def, in this order. */
enum sm_slot {
    SLOT_ISSUED, /* and seven more */
    SLOT_MEMORY = 8,
    SLOT_IDLE,
    SLOT_STALL, /* by the unit whose collectors are taken, in the order of enum sm_unit; by instructions in flight; by the scheduler; by the texture unit */
    SLOT_STALL_COUNT = 9,
    SLOT_COUNT = SLOT_STALL + SLOT_STALL_COUNT
};

struct sm_stats {
    union {
        struct {
#define SLOT(field, unit, help) uint64_t field;
#include "sm/sm_stats.def"
        };
        uint64_t in_slots[SLOT_COUNT]; /* the same by enum sm_slot */
    };
#define STAT(field, unit, help) uint64_t field;
#define MEMORY(field, unit, help) uint64_t field;
#define TEXTURE(field, unit, help) uint64_t field;
#define INNER(field, unit, help) uint64_t field;
#include "sm/sm_stats.def"
};
/* Every counter; those that a result file has beside `cycles`, in `memory` and in
 * `memory.texture`. */
extern const struct stat_description sm_stats_table[], sm_result_table[], sm_memory_table[], sm_texture_table[];

/* Why a warp did not issue, in warp-cycles, per static instruction. */
enum sm_wait { WAIT_FETCH, WAIT_REGISTER, WAIT_MEMORY, WAIT_BARRIER, WAIT_UNIT, WAIT_TURN, WAIT_COUNT };
extern const char *const sm_wait_names[WAIT_COUNT];

/* Of a static instruction. A slot in which nothing was issued is booked to the instruction that one warp of the scheduler
 * would issue next: of a stall the oldest ready one, else the oldest that does not wait for memory or a barrier, else the
 * oldest. Slots of schedulers without a warp are in the entry behind the last instruction. A bundle's are those of its
 * first group. */
struct sm_inst_stats {
    uint64_t waits[WAIT_COUNT];
    uint64_t slots[SLOT_COUNT];
    uint64_t transactions, misses;
};

static inline void sm_inst_stats_add(struct sm_inst_stats *into, const struct sm_inst_stats *from) {
    for (unsigned i = 0; i < WAIT_COUNT; i++)
        into->waits[i] += from->waits[i];
    for (unsigned i = 0; i < SLOT_COUNT; i++)
        into->slots[i] += from->slots[i];
    into->transactions += from->transactions;
    into->misses += from->misses;
}

struct sm;

/* For observers: one issue of a group, after the mechanism has heard of it. */
struct sm_issue {
    uint64_t cycle;
    unsigned slot;
    uint32_t flight; /* under which it is on its way from here on; SM_FLIGHTS: none yet */
    struct group group;
    const struct executed *executed;
};
struct sm_observer {
    void *self;
    void (*issued)(void *self, const struct sm *sm, const struct sm_issue *issue);
    /* Every cycle that an SM has run; cycles in which nothing can happen may be left out. NULL: SMs run as ever. */
    void (*passed)(void *self, const struct sm *sm, uint64_t cycle);
};
/* An instruction between issue and write-back. */
enum { SM_FLIGHTS = 512 };
struct sm_flight_view {
    uint32_t pc;
    unsigned slot,
        outstanding; /* slot: of several paths the warp's first; outstanding: transactions whose data have not come */
    bool is_memory, sent; /* of the memory unit; every transaction has been made */
};
/* What stands in an issue slot. */
struct sm_slot_view {
    bool used;
    uint32_t pc, lanes;
    const uint16_t *threads; /* NULL: of the warp of the slot (sm_warp_of) */
    enum sm_wait wait;
};

struct sm_shape {
    unsigned places, warps_per_place, warp_size;
    uint32_t id;
    uint64_t epoch_cycles;
    /* Counted in by all SMs that one host thread runs: per PC and one more, and distributions. */
    struct sm_inst_stats *instructions;
    struct sm_histograms *histograms;
    const void *const *own_params;      /* by enum own_part: values of the own keys */
    uint64_t share;                     /* requests of 1000 cycles that are its part of the memory's bandwidth */
    const struct sm_observer *observer; /* NULL: nobody */
    bool l1_far;                        /* cache_is_far, of all SMs together */
};

/* The pipeline that an SM has with this mechanism and these values of its keys: where threads, or warps that may diverge, have one
 * instruction in flight there is no scoreboard. */
enum sm_pipeline sm_pipeline(const struct sm_params *params, const struct divergence_ops *mechanism, const void *own);
/* Does an SM never read this key with this mechanism? */
bool sm_ignores(const struct divergence_ops *mechanism, const char *key);
/* What it was made with. */
const struct sm_params *sm_params_of(const struct sm *sm);
/* Are conditional branches predicted, or waited for? */
/* Of an instruction, as the memory system and the instruction cache know it; SM_CONTROL_BITS has other ones. */
#define SM_CODE_SPACE (UINT64_C(1) << 41)
#define SM_PARAMETER_SPACE (UINT64_C(1) << 42) /* where the memory system sees the parameters of a kernel */
enum { SM_INSTRUCTION_BYTES = 8 };
static inline uint64_t sm_code_address(uint32_t pc) { return SM_CODE_SPACE + (uint64_t)pc * SM_INSTRUCTION_BYTES; }
bool sm_predicts(const struct sm_params *params);
/* The keys of a predictor; `own`: values of those of its own. */
struct predictor_shape sm_predictor_keys(const struct sm_params *params, const void *own);

/* What timing needs of the instructions of a module: the same for all SMs. `clusters`: of several blocks. */
struct sm_code;
const struct sm_code *sm_decode(struct arena *arena, const struct module *module, const struct sm_params *params,
                                unsigned warp_size, bool clusters);
/* Does it read images through the texture unit? */
bool sm_code_samples(const struct sm_code *code);
/* Cycles in which a warp of that size issues. */
static inline uint32_t sm_issue_cycles(const struct sm_params *params, unsigned warp_size) {
    return (warp_size + params->lanes - 1) / params->lanes;
}

/* The caches of an SM, most of which outlive a launch. */
struct sm_caches {
    struct cache *instruction, *constant;
    struct cache *texture; /* NULL: the code makes no samples, or in the L1 */
    struct cache *l1;
    struct cache *l2; /* NULL: it has none of its own */
    uint32_t l2_latency;
    uint64_t l1_bytes;
    uint32_t instruction_ways;
    bool instruction_perfect;
};

struct dsm_stats {
#define STAT(field, unit, help) uint64_t field;
#include "sm/dsm_stats.def"
#undef STAT
};
extern const struct stat_description dsm_stats_table[];

/* To and from other SMs, for clusters of several blocks: requests out and in, replies out and in. */
struct sm_dsm_parts {
    struct link *out, *in, *back_out, *back_in;
    uint32_t latency, header_bytes; /* latency: from a request's arrival to its reply; bytes: beside data */
    double bytes_per_cycle;         /* that it sends, both kinds together */
};

/* What an SM is made of. */
struct sm_parts {
    const struct sm_dsm_parts *dsm; /* NULL: no clusters */
    const struct sm_params *params;
    const struct cache_params *l1;
    const struct sm_caches *caches;
    const struct module *module;
    const struct sm_code *code;
    const struct executor *executor;
    const struct divergence_ops *mechanism;
    const struct sm_shape *shape;
    struct link *requests, *replies;
};
enum status sm_create(struct sm **out, struct arena *arena, const struct sm_parts *parts, struct report *report);
/* Places without a block; a block given now starts at the next cycle run. */
unsigned sm_free_places(const struct sm *sm);
void sm_give(struct sm *sm, uint64_t block, uint32_t first_pc);
/* The same of a block of a cluster. */
void sm_give_member(struct sm *sm, uint64_t block, uint32_t first_pc, struct cluster_blocks *cluster, uint32_t rank);
/* Between rounds: barrier.cluster of that block opens in a cycle to come. */
void sm_open_member(struct sm *sm, const struct cluster_blocks *cluster, uint32_t rank, uint64_t cycle);
/* What it has served of other SMs' accesses to its shared memory: they are performed between rounds, in this order. */
struct sm_dsm_served {
    uint32_t sm, ticket, lanes;
};
const struct sm_dsm_served *sm_served(const struct sm *sm, unsigned *count);
void sm_forget_served(struct sm *sm);
const struct dsm_stats *sm_dsm_statistics(const struct sm *sm); /* NULL: no clusters */
/* Cycles [from, to). An SM that sleeps through them counts their slots later, at the latest in sm_settle. True:
 * a thread faulted in them (sm_faulted). */
bool sm_run(struct sm *sm, uint64_t from, uint64_t to);
/* Another host thread runs it from here on: what SMs count together goes here. */
void sm_count_in(struct sm *sm, unsigned thread, struct sm_inst_stats *instructions, struct sm_histograms *histograms);
/* Everything before this cycle, up to which it has run, is counted. */
void sm_settle(struct sm *sm, uint64_t cycle);
/* Of an SM that is idle and settled, between rounds: writes dirty lines of its L1 back, then those of an L2 of its own, of
 * the caches named, as far as there is room below. False: none is left, and all are stored. */
bool sm_clean(struct sm *sm, bool l1, bool l2);
/* Nothing resident, nothing in flight. */
bool sm_is_idle(const struct sm *sm);
/* The first cycle at which something can happen without news from outside. */
uint64_t sm_next(const struct sm *sm);
/* A thread faulted: the cycle and warp; false: none. */
bool sm_faulted(const struct sm *sm, uint64_t *cycle, unsigned *warp);
/* Blocks resident wait for ever: nothing in flight, nothing ready. */
bool sm_is_stuck(const struct sm *sm);
void sm_describe(const struct sm *sm, struct report *report);
/* For watchers. Threads are numbered through the SM; warp w has numbers from w * LANES_MAX on, as many as it has threads. */
unsigned sm_slot_count(const struct sm *sm);
/* Whose threads a slot issues, where groups name none. */
unsigned sm_warp_of(const struct sm *sm, unsigned slot);
struct sm_slot_view sm_view_slot(const struct sm *sm, unsigned slot);
/* A bit for each flight that is on its way; what it is. */
void sm_flights(const struct sm *sm, uint64_t used[SM_FLIGHTS / 64]);
struct sm_flight_view sm_view_flight(const struct sm *sm, uint32_t flight);
/* Adds the slots in use to those that wait for the same. */
void sm_count_waits(const struct sm *sm, uint64_t waits[WAIT_COUNT]);
const struct sm_shape *sm_shape_of(const struct sm *sm);
/* A thread as its block counts. */
static inline unsigned sm_thread_of_block(const struct sm_shape *shape, unsigned thread) {
    return thread / LANES_MAX % shape->warps_per_place * shape->warp_size + thread % LANES_MAX;
}
/* The block that the warp belongs to. */
uint64_t sm_block_of(const struct sm *sm, unsigned warp);
/* As divergence_ops.where and divergence_ops.show. */
void sm_where(const struct sm *sm, unsigned warp, uint32_t pcs[LANES_MAX]);
unsigned sm_show_mechanism(const struct sm *sm, unsigned warp, struct group_row *rows, unsigned most);
const struct sm_stats *sm_statistics(const struct sm *sm);
/* NULL: branches are known at once, and not predicted. */
const struct predictor_stats *sm_predictor_statistics(const struct sm *sm);
/* Adds what a part of the SM counted of its own: not a cache that outlives it. */
void sm_add_own_statistics(const struct sm *sm, enum own_part which, void *sum);
const struct cache_stats *sm_l1_statistics(const struct sm *sm);
uint64_t sm_divergent_branches(const struct sm *sm, const uint64_t **per_pc);
uint64_t sm_threads(const struct sm *sm);
/* What it allocates from. */
struct arena *sm_arena(const struct sm *sm);

#endif
