/* The inside of an SM, shared by its stages. */
#ifndef HEDDLE_SM_STATE_H
#define HEDDLE_SM_STATE_H

#include "base/bits.h"
#include "isa/barrier.h"
#include "isa/group.h"
#include "mem/banks.h"
#include "sm/scheduler/scheduler.h"
#include "sm/sm.h"

enum sm_unit { SM_UNIT_SP, SM_UNIT_INT, SM_UNIT_DP, SM_UNIT_SFU, SM_UNIT_MEMORY, SM_UNIT_COUNT };
enum {
    WHEEL_SLOTS = 512,
    FLIGHTS_MAX = 512,
    TIMED_REGISTERS = 24,
    UNITS_MAX = 16,
    TRANSACTIONS_MAX = 64,
    QUEUE_MAX = 32,
    SCHEDULERS_MAX = 8
};
#define NO_FLIGHT UINT32_MAX

/* Registers of an instruction in one word of the scoreboard. */
struct timed_word {
    uint32_t word;
    uint64_t all, written;
};

/* What must be over before it may issue, beside its registers. */
enum timed_order { ORDER_NONE, ORDER_FENCE, ORDER_AFTER_ATOMICS };

/* An instruction as the pipeline sees it. */
struct timed {
    uint8_t unit, src_count; /* registers read through the banks */
    uint8_t order;           /* enum timed_order */
    uint8_t word_count;
    bool is_memory;
    uint16_t latency, interval;
    const struct timed_word *words;
    uint8_t banks[TIMED_REGISTERS]; /* of the registers read, for warp 0 */
};

struct sm_code {
    const struct timed *timed; /* by PC */
    uint32_t register_words;   /* of a warp's scoreboard */
};

/* An instruction between issue and write-back. */
struct flight {
    uint32_t next; /* in the list of free ones; in the wheel slot, plus 1 */
    uint32_t pc;
    uint8_t warp;
    bool sent;            /* memory: every transaction has been made */
    uint16_t outstanding; /* memory: transactions whose data have not come */
    uint32_t ticket;
    uint64_t done_cycle; /* memory: when the last hit's data are there */
};

enum event_kind { EVENT_WRITE_BACK, EVENT_COLLECTOR, EVENT_FETCHED };
/* What happens in one cycle to come. Order within it changes nothing: warps, and flights, do not meet. */
struct slot {
    uint64_t fetched;     /* warps */
    uint64_t collectors;  /* to be given back, eight bits for each kind of unit */
    uint32_t write_backs; /* the first flight plus 1 */
};
/* An event further off than the wheel reaches. */
struct far_event {
    uint64_t cycle;
    uint32_t value; /* flight, unit or warp */
    uint8_t kind;
};

/* A memory instruction waiting for, or in, the load/store unit. */
struct queued {
    uint32_t flight;
    uint64_t ready_cycle; /* operands read */
    uint8_t space, kind, place;
    uint16_t count, next;
    uint32_t passes; /* shared memory, constants */
    uint64_t address[TRANSACTIONS_MAX];
    uint32_t lanes[TRANSACTIONS_MAX], bytes[TRANSACTIONS_MAX];
    uint8_t sectors[TRANSACTIONS_MAX];
};

/* Registers of a warp that wait for a write, and those of them that wait for memory. */
struct pending {
    uint64_t any, memory;
};

struct sm_warp {
    bool used, waits; /* waits: at a barrier */
    uint8_t in_flight;
    uint8_t stage;                    /* enum sm_wait of the present wait */
    uint32_t buffer_pc, buffer_count; /* instructions fetched: [pc, pc + count) */
    bool fetching;
    struct group group;      /* that it would issue, as last offered */
    uint32_t pc;             /* of that group */
    uint8_t bank;            /* of its register 0 */
    struct pending *pending; /* its scoreboard, by word */
    uint8_t ready_unit;      /* whose ready set it is in; SM_UNIT_COUNT: none */
    uint32_t barrier, barrier_pc, barrier_lanes;
    uint64_t since; /* cycle the present wait began */
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
    bool l1_keeps_writes; /* write-back or perfect */
    const struct timed *timed;
    uint32_t register_words;
    uint32_t wide;           /* cycles that a warp takes to issue */
    struct pending *pending; /* [warp][word] */
    uint32_t instruction_ways;
    uint64_t *code_here;     /* lines of code that the instruction cache holds for good; NULL: it may lose them */
    uint64_t collector_bias; /* added to collectors_used, shows full ones in the top bits */

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
    uint8_t scheduler_class[SCHEDULERS_MAX]; /* of that warp, from issued_1 on: its slots are counted as they pass */

    struct banks banks;
    uint64_t bank_free[64];
    uint64_t unit_free[SM_UNIT_COUNT][UNITS_MAX];
    unsigned unit_count[SM_UNIT_COUNT];
    uint64_t collectors_used; /* eight bits for each kind of unit */

    struct slot wheel[WHEEL_SLOTS];
    uint64_t wheel_bits[WHEEL_SLOTS / 64];
    uint64_t wheel_words; /* of wheel_bits that are not 0 */
    struct {
        struct far_event *items;
        unsigned count, capacity;
    } far;
    uint64_t far_next; /* cycle of the first of them */
    struct flight flights[FLIGHTS_MAX];
    uint32_t free_flight;

    struct queued queue[QUEUE_MAX];
    unsigned queue_head, queue_count;
    uint64_t lsu_busy; /* until this cycle */
    bool lsu_blocked;
    struct cache_blocked blocked;

    unsigned fetch_turn;
    uint64_t fetch_lines[SM_WARPS_MAX]; /* line a warp waits for */

    uint64_t unit_blocked; /* warps that are ready but whose unit has no room, booked as waiting for it */
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
/* The same while the mechanism's offer stands: instructions or registers have come. */
void sm_consider_warp(struct sm *sm, unsigned warp);
/* The ready warps whose unit has no room; the others wait for their turn. */
void sm_set_blocked(struct sm *sm, uint64_t blocked);
/* decode.c */
/* fetch.c */
void sm_fetch(struct sm *sm);
/* With the first block: lines of code need not be looked up again once they have come, when the kernel calls nothing and
 * its lines fit the instruction cache's sets. */
void sm_remember_code(struct sm *sm, uint32_t first_pc);
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

/* Warps that lack nothing but a unit, a queue or their turn. */
static inline uint64_t sm_ready(const struct sm *sm) {
    return sm->ready[SM_UNIT_SP] | sm->ready[SM_UNIT_INT] | sm->ready[SM_UNIT_DP] | sm->ready[SM_UNIT_SFU] |
           sm->ready[SM_UNIT_MEMORY];
}
/* The class of slots in which a scheduler with these ready warps issues nothing. */
static inline uint64_t *sm_unissued(struct sm *sm, uint64_t ready) {
    if (ready)
        return &sm->stats.stall;
    return sm->used && (sm->stalled_long & sm->used) == sm->used ? &sm->stats.memory : &sm->stats.idle;
}

enum { UNIT_BITS = 8 };
#define UNIT_ONES UINT64_C(0x01010101)

/* Warps that could issue, were their scheduler free. */
static inline uint64_t sm_issuable(const struct sm *sm) {
    const uint64_t full = (sm->collectors_used + sm->collector_bias) & UNIT_ONES << (UNIT_BITS - 1);
    uint64_t possible = sm_ready(sm);
    if (sm->free_flight == NO_FLIGHT)
        return 0;
    if (sm->queue_count >= sm->params.memory_queue)
        possible &= ~sm->ready[SM_UNIT_MEMORY];
    for (uint64_t rest = full; rest; rest &= rest - 1)
        possible &= ~sm->ready[bits_first64(rest) / UNIT_BITS];
    return possible;
}

/* The wheel's slot for a cycle within its reach. */
static inline struct slot *sm_slot(struct sm *sm, uint64_t cycle) {
    const unsigned at = (unsigned)(cycle % WHEEL_SLOTS);
    sm->wheel_bits[at / 64] |= UINT64_C(1) << at % 64;
    sm->wheel_words |= UINT64_C(1) << at / 64;
    return &sm->wheel[at];
}

static inline void sm_write_back_at(struct sm *sm, uint64_t cycle, uint32_t flight) {
    if (cycle - sm->now >= WHEEL_SLOTS) {
        sm_event(sm, cycle, EVENT_WRITE_BACK, flight);
        return;
    }
    struct slot *slot = sm_slot(sm, cycle);
    sm->flights[flight].next = slot->write_backs;
    slot->write_backs = flight + 1;
}

static inline void sm_collector_at(struct sm *sm, uint64_t cycle, enum sm_unit unit) {
    if (cycle - sm->now >= WHEEL_SLOTS)
        sm_event(sm, cycle, EVENT_COLLECTOR, unit);
    else
        sm_slot(sm, cycle)->collectors += UINT64_C(1) << UNIT_BITS * unit;
}

#endif
