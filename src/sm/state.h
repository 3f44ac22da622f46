/* The inside of an SM, shared by its stages. */
#ifndef HEDDLE_SM_STATE_H
#define HEDDLE_SM_STATE_H

#include "base/bits.h"
#include "isa/barrier.h"
#include "mem/banks.h"
#include "sm/scheduler/scheduler.h"
#include "sm/sm.h"

enum sm_unit { SM_UNIT_SP, SM_UNIT_INT, SM_UNIT_DP, SM_UNIT_SFU, SM_UNIT_MEMORY, SM_UNIT_COUNT };
enum { WHEEL_SLOTS = 1024, FLIGHTS_MAX = 512, TIMED_REGISTERS = 24, UNITS_MAX = 16, TRANSACTIONS_MAX = 64,
       QUEUE_MAX = 32, SCHEDULERS_MAX = 8 };
#define NO_FLIGHT UINT32_MAX

/* An instruction as the pipeline sees it; registers are numbered through all functions of the module. */
struct timed {
    uint8_t unit, dst_count, src_count; /* registers: destinations, sources and guard */
    bool is_memory;
    uint16_t latency, interval;
    uint32_t registers[TIMED_REGISTERS];
};

/* An instruction between issue and write-back. */
struct flight {
    uint32_t next;     /* in the wheel slot, or in the list of free ones */
    uint32_t pc;
    uint8_t warp;
    bool sent;         /* memory: every transaction has been made */
    bool releases_collector;
    uint8_t unit;
    uint16_t outstanding; /* memory: transactions whose data have not come */
    uint32_t ticket;
    uint64_t done_cycle;  /* memory: when the last hit's data are there */
};

enum event_kind { EVENT_WRITE_BACK, EVENT_COLLECTOR, EVENT_FETCHED };
struct event {
    uint32_t value; /* flight, unit or warp */
    uint8_t kind;
};
struct slot {
    struct event *items;
    unsigned count, capacity;
};

/* A memory instruction waiting for, or in, the load/store unit. */
struct queued {
    uint32_t flight;
    uint64_t ready_cycle; /* operands read */
    uint8_t space, kind, place;
    uint16_t count, next;
    uint32_t passes;      /* shared memory, constants */
    uint64_t address[TRANSACTIONS_MAX];
    uint32_t lanes[TRANSACTIONS_MAX], bytes[TRANSACTIONS_MAX];
    uint8_t sectors[TRANSACTIONS_MAX];
};

struct sm_warp {
    bool used, waits;   /* waits: at a barrier */
    uint8_t in_flight;
    uint8_t stage;      /* enum sm_wait of the present wait */
    uint32_t buffer_pc, buffer_count; /* instructions fetched: [pc, pc + count) */
    bool fetching;
    uint32_t pc;        /* of the group it would issue */
    uint32_t barrier, barrier_pc, barrier_lanes;
    uint64_t since;     /* cycle the present wait began */
    uint32_t memory_in_flight, atomics_in_flight;
};

struct place {
    bool used;
    uint64_t block;
    uint32_t alive, warps_left, stores; /* stores: not yet acknowledged */
    struct barrier barriers[BARRIERS];
};

struct sm {
    struct sm_params params;
    const struct module *module;
    struct executor executor;
    const struct divergence_ops *mechanism;
    void *control;
    struct sm_shape shape;
    unsigned warp_count;
    struct link *requests, *replies;
    struct cache *l1, *instruction;
    const struct timed *timed;
    uint32_t register_words;
    uint64_t *pending, *pending_memory; /* [warp][word]: registers that wait for a write; those that wait for memory */

    uint64_t now;
    uint64_t used, ready[SM_UNIT_COUNT], wants_fetch, stalled_long; /* warps */
    uint64_t older[SM_WARPS_MAX];
    struct sm_warp warps[SM_WARPS_MAX];
    struct place *places;
    unsigned places_used;
    struct {
        uint64_t block;
        uint32_t first_pc;
    } given[SM_WARPS_MAX];
    unsigned given_count;

    void *schedulers[SCHEDULERS_MAX];
    const struct scheduler_ops *scheduler;
    uint64_t scheduler_warps[SCHEDULERS_MAX];
    uint64_t scheduler_busy[SCHEDULERS_MAX]; /* a wide warp is still issuing until this cycle */

    struct banks banks;
    uint64_t bank_free[64];
    uint64_t unit_free[SM_UNIT_COUNT][UNITS_MAX];
    unsigned unit_count[SM_UNIT_COUNT];
    unsigned collectors_used[SM_UNIT_COUNT];

    struct slot wheel[WHEEL_SLOTS];
    uint64_t wheel_bits[WHEEL_SLOTS / 64];
    struct flight flights[FLIGHTS_MAX];
    uint32_t free_flight;

    struct queued queue[QUEUE_MAX];
    unsigned queue_head, queue_count;
    uint64_t lsu_busy; /* until this cycle */
    bool lsu_blocked;
    struct cache_blocked blocked;

    unsigned fetch_turn;
    uint64_t fetch_lines[SM_WARPS_MAX]; /* line a warp waits for */

    bool faulted;
    uint64_t fault_cycle;
    unsigned fault_warp;
    struct arena *arena;
    struct sm_stats stats;
    struct sm_inst_stats *inst_stats;
    uint64_t divergent_branches, *divergent, threads;
};

/* sm.c */
void sm_event(struct sm *sm, uint64_t cycle, enum event_kind kind, uint32_t value);
/* Looks at a warp anew: what it would issue and what it waits for. */
void sm_update_warp(struct sm *sm, unsigned warp);
/* decode.c */
const struct timed *sm_decode(struct arena *arena, const struct module *module, const struct sm_params *params,
                              uint32_t *register_count);
/* fetch.c */
void sm_fetch(struct sm *sm);
void sm_fetched(struct sm *sm, unsigned warp);
void sm_instruction_arrived(struct sm *sm, uint64_t address);
/* issue.c */
void sm_issue(struct sm *sm);
uint32_t sm_take_flight(struct sm *sm);
void sm_write_back(struct sm *sm, uint32_t flight);
void sm_end_if_done(struct sm *sm, unsigned place);
/* memory.c */
void sm_enqueue_access(struct sm *sm, uint32_t flight, const struct access *access, uint64_t ready_cycle);
void sm_memory(struct sm *sm);
void sm_reply(struct sm *sm, const struct packet *packet);

static inline uint64_t *sm_pending(struct sm *sm, unsigned warp) { return sm->pending + (size_t)warp * sm->register_words; }
static inline uint64_t *sm_pending_memory(struct sm *sm, unsigned warp) {
    return sm->pending_memory + (size_t)warp * sm->register_words;
}

#endif
