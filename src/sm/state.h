/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of an SM, shared by its stages. */
#ifndef HEDDLE_SM_STATE_H
#define HEDDLE_SM_STATE_H

#include "base/bits.h"
#include "simt/barrier.h"
#include "simt/group.h"
#include "simt/waiting.h"
#include "mem/banks.h"
#include "sm/scheduler/scheduler.h"
#include "sm/sm.h"
#include "sm/timed.h"

enum {
    WHEEL_SLOTS = 128, /* most events are nearer; all SMs' slots should stay in the host's caches */
    FLIGHTS_MAX = SM_FLIGHTS,
    UNITS_MAX = 16,
    TRANSACTIONS_MAX = 64,
    QUEUE_MAX = 64, /* twice what sm.memory_queue may say: see sm_takes */
    SCHEDULERS_MAX = 8,
    OWN_L2_QUEUE = 1024,
    OWN_L2 = 255,  /* in place of a flight's warp */
    FETCHES = 254, /* the same: for nobody who waits */
    FETCHES_MAX = FLIGHTS_MAX / 4
};
#define NO_FLIGHT UINT32_MAX
/* Tags of requests that are not the data cache's; its own are numbers of flights. */
#define TAG_INSTRUCTION UINT64_MAX
#define TAG_CONSTANT (UINT64_MAX - 1)
#define TAG_OWN_L2 (UINT64_MAX - 2)
/* With the number of a flight: a load that the L1 does not know of; not where lanes slip, whose tags have lanes there. */
#define TAG_PAST_L1 (UINT64_C(1) << 63)

/* An instruction between issue and write-back. */
struct flight {
    uint32_t next; /* in the list of free ones; in the wheel slot, plus 1 */
    uint32_t pc;
    uint8_t warp, place, copies; /* warp: the issue slot it came from; copies: group of an asynchronous one */
    bool slow;                   /* its threads wait for memory */
    bool sent;                   /* memory: every transaction has been made */
    bool entire;                 /* memory: no lane can go on without the others */
    bool is_load;                /* of global or local memory */
    bool landed; /* written back, and kept: sm->slips: for the lanes apart; else for what its predicates guard */
    uint16_t outstanding; /* memory: transactions whose data have not come */
    uint32_t ticket;
    uint32_t lanes;        /* sm/regroup.c: whose threads come back with it; sm/path_slots.c: whose registers */
    uint32_t misses;       /* sm->lane_tags: that wait for data */
    uint32_t apart;        /* sm->slips: lanes that wait for data by themselves; 0 in those that are free */
    uint32_t issued_cycle; /* is_load: the low bits */
    uint64_t done_cycle;   /* memory: when the last hit's data are there */
};

enum event_kind { EVENT_WRITE_BACK, EVENT_COLLECTOR, EVENT_FETCHED };
/* What happens in one cycle to come. Order within it changes nothing: warps, and flights, do not meet. */
struct wheel_slot {
    slot_set fetched;     /* warps */
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
    uint8_t operators;                /* bits of enum memory_operator */
    uint16_t count, next, idle, turn; /* idle: cycles beyond the passes, for sm.memory_interval; turn: path_slots.h */
    uint32_t passes; /* shared memory, constants, whose lines are transactions too; ACCESS_TEXELS: its sample */
    uint64_t address[TRANSACTIONS_MAX];
    uint32_t lanes[TRANSACTIONS_MAX], bytes[TRANSACTIONS_MAX];
    uint8_t sectors[TRANSACTIONS_MAX];
};

/* Registers of a warp that wait for a write, and those of them that wait for memory. */
struct sm_pending {
    uint64_t any, memory;
};

/* What one scheduler issues in its turn, beyond its groups. */
struct bundle {
    uint32_t lanes;
    bool issued;                    /* a group of it */
    uint32_t turns;                 /* in which threads of one lane read their registers */
    uint64_t ready;                 /* cycle in which its operands are read; 0: not booked yet */
    uint64_t starts[SM_UNIT_COUNT]; /* cycle in which its work on units of a kind starts; 0: it has none yet */
};

/* Slots of schedulers that issue nothing belong to an instruction and a class (enum sm_slot). */
struct booking {
    uint32_t pc, class;
};

/* An issue slot and what stands in it: a warp, or a group that the mechanism has formed. */
struct sm_warp {
    bool
        waits; /* for other threads: nothing of it can issue; sm/regroup.c: for threads of it that are out, `held` as what */
    uint8_t in_flight;
    uint8_t stage, held; /* enum sm_wait of the present wait */
    uint32_t buffer_pc,
        buffer_end;             /* instructions fetched: from one to before the other; behind pc, those have passed */
    bool fetching, wrong_path;  /* wrong_path: what comes is not what it goes on with */
    uint8_t width, width_class; /* of the group: lanes; eighths, from issued_1 on */
    struct group
        group;      /* that it would issue: as last offered, or gone on from there in a straight run; no lanes: none */
    uint32_t alive; /* lanes that had not ended when it was offered */
    uint32_t pc;    /* of that group */
    uint8_t bank;   /* of its register 0 */
    struct sm_pending *pending; /* its scoreboard, by word */
    uint8_t ready_unit;         /* whose ready set it is in; SM_UNIT_COUNT: none */
    uint32_t at_barrier; /* sm/regroup.c: threads that were issued from here and wait there; sm/path_slots.c: lanes */
    uint64_t since;      /* cycle the present wait began */
    uint32_t memory_in_flight, atomics_in_flight;
};

/* Instructions of a warp that waits for the outcome of its branch: from one to before the other. */
struct sm_kept {
    uint32_t pc, end;
};

/* What the L1 has sent down and the SM's own L2 has not looked up, in order. */
struct own_l2 {
    struct cache *cache;
    uint32_t latency;
    uint32_t flight; /* its alarm clock */
    bool waits;      /* for that */
    bool blocked;
    struct cache_blocked reason;
    unsigned head, count;
    uint32_t cleaned; /* lines gone through when the launch ends */
    struct {
        uint64_t ready_cycle;
        struct packet packet;
    } queue[OWN_L2_QUEUE];
};

struct sm_place {
    bool used;
    uint64_t block;
    struct cluster_blocks *cluster; /* NULL: none of several blocks */
    uint32_t rank, stores;          /* stores: not yet acknowledged */
    uint32_t in_flight; /* sm/regroup.c: flights with threads of the block; sm->slips: lanes that wait by themselves */
    struct waiting_block waiting;
};

struct sm {
    struct sm_params params;
    const struct module *module;
    struct executor executor;
    const struct divergence_ops *mechanism;
    const struct divergence_forming *forming; /* its own; NULL: warps keep their slots */
    void *control;
    struct regroup *regroup;  /* of formed groups */
    struct path_slots *paths; /* where warps have several: sm/path_slots.h */
    void *cores;              /* sm.pipeline control-bits: struct subcores, which has sets of slots in it; else NULL */
    bool whole_warps;         /* warps wait for others as a whole */
    bool loads_return_apart;  /* threads come back with their own data */
    struct waits *waits;      /* of each warp */
    uint32_t at_others;       /* threads that wait for threads */
    bool slips,
        lane_tags; /* lanes of a warp go on while others wait for their data, in their slot or in any; lane_tags: either */
    struct divergence_usage usage;
    struct predictor *predictor; /* NULL: fetch knows at once where branches go, and nobody asks for predictions */
    struct sm_kept *kept;        /* of each warp; NULL: fetch knows at once */
    bool is_watched;             /* somebody hears of issues, or predicts branches */
    bool tells_all;              /* of every issue, so that runs are told instruction by instruction */
    struct sm_shape shape;
    unsigned warp_count, slot_count;
    const struct sm_entries *entries;
    bool (*run)(struct sm *sm, uint64_t from, uint64_t to); /* of its front end: called most */
    struct link *requests, *replies;
    struct cache *l1, *instruction, *constant;
    struct own_l2 *l2;          /* NULL: none */
    struct sm_texture *texture; /* NULL: the code makes no samples */
    bool l1_keeps_writes;       /* write-back or perfect */
    bool l1_fills_back;         /* write-back, allocates on fill: a line may have to go when data arrive */
    const struct timed *timed;
    const uint8_t *operators; /* by PC */
    struct sm_guards guards;
    uint32_t wide, shared_least;          /* cycles that a warp takes to issue, an access to shared memory at least */
    uint8_t width_classes[LANES_MAX + 1]; /* by lanes of a group: eighths of a warp, from issued_1 on */
    bool books_later;                     /* see `empty` */
    struct sm_pending *pending;           /* [warp][word] */
    uint32_t register_words, instruction_ways;
    bool formed_fetched, fences; /* regroup: groups have their instruction when they are formed; of struct sm_code */
    uint32_t line_mask;          /* instructions of what a fetch takes from the instruction cache, less 1 */
    uint64_t *code_here;         /* lines of code that the instruction cache holds for good; NULL: it may lose them */
    uint64_t holding;            /* sm.memory_holds: the bit that shows a full queue for memory there */
    uint64_t collector_bias;     /* added to collectors_used, shows full ones in the top bits */

    uint64_t now;            /* asleep: the cycle up to which slots are counted */
    uint64_t wake;           /* nothing happens before this cycle but by news from outside */
    uint64_t mechanism_wake; /* the cycle in which the mechanism acts by itself */
    struct sm_place *places;
    struct sm_copies *copies; /* of each warp; NULL: the code has none */
    unsigned places_used, given_count;
    struct given_block {
        uint64_t block;
        struct cluster_blocks *cluster;
        uint32_t first_pc, rank;
    } given[WARPS_MAX];
    struct sm_dsm *dsm;             /* NULL: no clusters of several blocks */
    uint8_t slot_places[WARPS_MAX]; /* for schedulers that tell blocks apart */
    uint32_t progress[WARPS_MAX];   /* by slot: the register that `progress` counts up */
    void *schedulers[SCHEDULERS_MAX];
    const struct own *scheduler_own;         /* of their policy */
    bool sees_memory;                        /* it asks what ready warps want of memory */
    uint32_t hears;                          /* kinds of events that it hears of, a bit each */
    unsigned blocks_most[SCHEDULERS_MAX];    /* that each of them allows */
    uint64_t scheduler_busy[SCHEDULERS_MAX]; /* a wide warp is still issuing until this cycle */
    uint32_t scheduler_held[SCHEDULERS_MAX]; /* slots of these in which bank conflicts stopped the pipeline */
    uint8_t scheduler_class[SCHEDULERS_MAX]; /* of that warp, from issued_1 on: its slots are counted as they pass */
    uint32_t scheduler_pc[SCHEDULERS_MAX];   /* of its instruction */

    struct banks banks, l1_data;
    uint64_t bank_free[64];
    struct booked_unit {
        uint64_t free;    /* from this cycle on */
        uint64_t results; /* that it hands over in cycles from `free` on, the lowest bit's */
    } units[SM_UNIT_COUNT][UNITS_MAX];
    unsigned unit_count[SM_UNIT_COUNT];
    uint64_t collectors_used; /* eight bits for each kind of unit; of the memory unit: its queue */

    struct {
        struct far_event *items;
        unsigned count, capacity;
    } far;
    uint64_t far_next; /* cycle of the first of them */
    struct flight flights[FLIGHTS_MAX];
    uint32_t free_flight, flights_used; /* used: the first so many have been, once */
    uint32_t fetches;                   /* flights that nobody waits for */

    struct queued queue[QUEUE_MAX];
    unsigned queue_head, queue_count, tag_parts; /* tag_parts: of a pass of the L1's tags, for sm.l1_wavefronts */
    unsigned queue_mask;       /* no more of the ring is used than sm.memory_queue needs: fewer lines of the host */
    uint64_t lsu_busy;         /* until this cycle */
    bool lsu_blocked, unusual; /* unusual: sm_memory has more to ask: an L2 of its own, wavefronts, events, samples */
    const struct cache *blocked_on; /* the cache that refused */
    struct cache_blocked blocked;

    unsigned fetch_turn;
    uint32_t l1_cleaned; /* as own_l2's */
    bool faulted;
    uint64_t fault_cycle;
    unsigned fault_warp;
    struct arena *arena;
    struct sm_stats stats;
    struct sm_inst_stats *inst_stats;
    struct sm_histograms *histograms;
    uint64_t divergent_branches, *divergent, threads;
};

/* The same with its sets of slots, which the stages know: in sm/many.c they are wider, and the struct has another name (slot_set.h). */
struct sm_sets {
    struct sm sm;
    const struct sm_front *front;
    struct sm_warp warps[SET_SLOTS];
    slot_set used, wants_fetch, stalled_long; /* warps */
    slot_set ready;                           /* warps that lack nothing but a unit, a queue or their turn */
    slot_set ready_for[SM_UNIT_COUNT];        /* the same by the unit they need */
    slot_set bypass;                          /* warps whose loads pass the L1 by, as the scheduler says */
    slot_set near; /* warps whose last access to memory has met no miss so far: what they wait for may be near */
    slot_set unit_blocked; /* warps that are ready but whose unit has no room, booked as waiting for it */
    slot_set of_any_block; /* slots that hold threads of one block, then of another */
    slot_set older[SET_SLOTS];
    const struct scheduler_ops *scheduler;
    struct scheduler_view view; /* what schedulers are shown */
    slot_set scheduler_warps[SCHEDULERS_MAX];
    /* Cycles from `since` on in which no scheduler issued, while the sets of warps were these: booked when they end. Only
     * where every issue takes one cycle and groups keep their warps. */
    struct {
        bool open;
        bool no_flight;
        uint64_t since;
        slot_set used, ready, stalled_long;
        struct booking to[SCHEDULERS_MAX];
    } empty;
    struct wheel_slot wheel[WHEEL_SLOTS];
    uint64_t wheel_bits[WHEEL_SLOTS / 64];
};
#define SETS(sm) ((struct sm_sets *)(sm)) /* of an SM that this copy of the stages made; const or not */

/* How what stands in slots is found, issued and brought back: chosen once, when the SM is made. */
struct sm_front {
    /* The loop over cycles of an SM that is awake: sm/cycle.h. */
    bool (*run)(struct sm *sm, uint64_t from, uint64_t to);
    /* A warp of a block that begins. */
    void (*start)(struct sm *sm, unsigned warp, uint32_t pc, uint32_t lanes);
    /* Looks at a slot anew: what it would issue and what it waits for. */
    void (*update)(struct sm *sm, unsigned slot);
    /* The same while the mechanism's offer stands: instructions or registers have come. */
    void (*consider)(struct sm *sm, unsigned slot);
    /* The same when its instructions have come: it waited for them, and was in no set. */
    void (*fetched)(struct sm *sm, unsigned slot);
    void (*issue)(struct sm *sm);
    void (*write_back)(struct sm *sm, uint32_t flight);
    /* Threads that wait for others (wait.c): these lanes do; go on, when the last has come; go on with the instruction that they waited
     * at, through the pipeline where it has room. The slots to be looked at again. */
    void (*hold)(struct sm *sm, unsigned warp, uint32_t pc, uint32_t lanes);
    slot_set (*go_on)(struct sm *sm, unsigned warp, uint32_t lanes);
    slot_set (*launch)(struct sm *sm, unsigned slot, unsigned warp, const struct group *group,
                       const struct access *access, struct bundle *bundle);
    /* Does all that has not ended wait for memory? */
    bool (*all_at_memory)(const struct sm *sm);
    /* Has the warp threads that have not ended? */
    bool (*is_here)(const struct sm *sm, unsigned warp);
};
/* Warps that keep their slots and wait as a whole; whose lanes wait on their own; groups that form anew; several paths of a warp. */
SM_TABLE const struct sm_front sm_whole_warps, sm_paths, sm_formed_groups, sm_path_slots;

/* What is called from outside and knows sets of slots, of cycle.c and of many.c: sm_create, sm_settle, sm_clean, sm_describe, sm_is_stuck, sm_view_slot, sm_count_waits. */
struct sm_entries {
    enum status (*create)(struct sm **out, struct arena *arena, const struct sm_parts *parts, struct report *report);
    void (*settle)(struct sm *sm, uint64_t cycle);
    void (*describe)(const struct sm *sm, struct report *report);
    bool (*clean)(struct sm *sm, bool l1, bool l2);
    bool (*is_quiet)(const struct sm *sm); /* no slot has anything in flight */
    struct sm_slot_view (*view_slot)(const struct sm *sm, unsigned slot);
    void (*count_waits)(const struct sm *sm, uint64_t waits[WAIT_COUNT]);
};
extern const struct sm_entries sm_few, sm_many;
SM_STAGE enum status sm_make(struct sm **out, struct arena *arena, const struct sm_parts *parts, struct report *report);
/* cycle.c: an event that the wheel does not reach yet. */
SM_STAGE void sm_far_event(struct sm *sm, uint64_t cycle, enum event_kind kind, uint32_t value);
/* Events that the wheel reaches by now go into it. */
SM_STAGE void sm_draw_near(struct sm *sm);
/* One of the blocks that were given begins. */
SM_STAGE void sm_start_given(struct sm *sm);
/* It has faulted: what is left of the epoch is booked. */
SM_STAGE void sm_end_faulted(struct sm *sm);
/* fetch.c */
SM_STAGE void sm_fetch(struct sm *sm);
SM_STAGE void sm_ask_for_code(struct sm *sm, const struct cache_result *missed); /* of the instruction cache */
/* With the first block: lines of code need not be looked up again once they have come, when the kernel calls nothing and
 * its lines fit the instruction cache's sets. */
SM_STAGE void sm_remember_code(struct sm *sm, uint32_t first_pc);
/* The outcome of the warp's branch is known. */
SM_STAGE void sm_know_outcome(struct sm *sm, unsigned warp);
/* The warp goes on elsewhere than behind its last instruction, where fetch went. */
SM_STAGE void sm_fetched_wrong_path(struct sm *sm, unsigned warp);
/* The warp has issued a branch, of which the mechanism has heard. If it was a conditional one, fetch, which hears of it
 * later, waits or goes on as is predicted, and if that is wrong begins anew when it hears. */
SM_STAGE void sm_predict(struct sm *sm, unsigned warp, const struct executed *executed);
SM_STAGE void sm_instruction_arrived(struct sm *sm, uint64_t address);
/* issue.c */
SM_STAGE void sm_count_divergence(struct sm *sm, const struct executed *executed);
/* Nothing issues from this cycle on. */
SM_STAGE void sm_begin_empty(struct sm *sm);
/* What has passed so is booked. */
SM_STAGE void sm_end_empty(struct sm *sm);
/* warps.c: pipeline.memory_in_flight: what holds back a warp without a scoreboard that goes on beside its loads and stores. */
SM_STAGE enum sm_wait sm_find_wait_beside(const struct sm *sm, unsigned warp, const struct timed *timed);
/* flight.c: behind those given back come those never used. */
SM_STAGE uint32_t sm_use_flight(struct sm *sm);
/* Of an instruction of the memory unit. */
SM_STAGE void sm_launch_memory(struct sm *sm, unsigned warp, uint32_t flight, const struct timed *timed,
                               const struct access *access);
/* The same but for operands and the queue. */
SM_STAGE void sm_begin_memory(struct sm *sm, unsigned warp, uint32_t flight, const struct timed *timed,
                              const struct access *access);
/* NO_FLIGHT: there is none. */
SM_STAGE uint32_t sm_take_flight(struct sm *sm);
static inline void sm_free_flight(struct sm *sm, uint32_t number) {
    sm->flights[number].next = sm->free_flight;
    sm->free_flight = number;
}
/* Operands, unit or load/store unit, and the write-back of an issued instruction. */
SM_STAGE void sm_book_flight(struct sm *sm, unsigned slot, uint32_t flight, const struct access *access,
                             struct bundle *bundle);
/* A warp's instruction, without a flight where none is free. */
SM_STAGE void sm_launch_if_room(struct sm *sm, unsigned warp, uint32_t pc, const struct access *access);
SM_STAGE void sm_end_if_done(struct sm *sm, unsigned place);
/* tell.c: for schedulers that ask */
SM_STAGE void sm_tell(struct sm *sm, const struct scheduler_event *event);
/* Of an instruction that a slot has issued. */
SM_STAGE void sm_tell_issue(struct sm *sm, unsigned slot, const struct group *group, const struct executed *executed);
SM_STAGE void sm_see_memory(struct sm *sm);
/* It chose none of these. */
SM_STAGE void sm_book_none(struct sm *sm, slot_set possible);
SM_STAGE struct scheduler_memory sm_scheduler_memory(const struct sm *sm);
/* Lines of the L1 know the slot that brought them, where the scheduler hears of hits, misses or evictions. */
SM_STAGE void sm_watch_l1(struct sm *sm);
/* Of the next transaction of a load or store, which the L1 has looked up; owner: of the line before. */
SM_STAGE void sm_tell_lookup(struct sm *sm, const struct queued *entry, unsigned owner, enum cache_outcome outcome);
static inline bool sm_hears(const struct sm *sm, enum scheduler_event_kind kind) { return sm->hears >> kind & 1; }
/* wait.c: calls answer with the slots to be looked at again. `threads`: of each lane of the group; NULL: the warp's of the
 * slot. `bundle`: where the mechanism dissolves groups. */
SM_STAGE slot_set sm_arrive(struct sm *sm, unsigned place, unsigned slot, const uint16_t *threads,
                            const struct executed *executed);
/* Have all lanes come that the group's warp-level operation names? */
SM_STAGE bool sm_is_whole(struct sm *sm, unsigned warp, const struct group *group);
/* The group waits at its warp-level operation for those it names; sets that are complete go on. sm_meet_told: the mechanism has heard. */
SM_STAGE slot_set sm_meet(struct sm *sm, unsigned slot, const struct group *offered, struct bundle *bundle);
SM_STAGE slot_set sm_meet_told(struct sm *sm, unsigned slot, const struct group *group, struct bundle *bundle);
SM_STAGE slot_set sm_end_threads(struct sm *sm, unsigned place, unsigned slot, const uint16_t *threads,
                                 const struct executed *executed, struct bundle *bundle);
SM_STAGE void sm_describe_waits(const struct sm *sm, unsigned warp, struct report *report);
/* regroup.c */
SM_STAGE struct regroup *sm_regroup_create(struct sm *sm);
/* The mechanism acts by itself. */
SM_STAGE void sm_regroup_advance(struct sm *sm);
/* The flight that lanes will have which come back apart, the next that is free; the whole: there is none, or none of them is in it. */
SM_STAGE uint32_t sm_regroup_waiter(const struct sm *sm, uint32_t flight, uint32_t lanes);
/* They have it now. */
SM_STAGE void sm_regroup_split(struct sm *sm, uint32_t flight, uint32_t lanes);
/* enqueue.c */
SM_STAGE void sm_enqueue_access(struct sm *sm, uint32_t flight, const struct access *access, uint64_t ready_cycle);
/* A load of one kernel parameter, which executors do not note as an access. */
SM_STAGE void sm_enqueue_parameter(struct sm *sm, uint32_t flight, uint32_t offset, uint64_t ready_cycle);
/* memory.c */
/* Something is queued, and the unit neither blocked nor busy. */
SM_STAGE void sm_memory(struct sm *sm);
SM_STAGE void sm_reply(struct sm *sm, const struct packet *packet);
/* A store of the block is done. */
SM_STAGE void sm_acknowledge(struct sm *sm, unsigned place);
/* sm_clean, of the L1 and of an L2 of its own: stores of the first place, which no block has then. True: some are left. */
SM_STAGE bool sm_clean_l1(struct sm *sm);
SM_STAGE bool sm_l2_clean(struct sm *sm);
/* A line or sector that the L1 asked for has come. */
SM_STAGE void sm_data_arrived(struct sm *sm, uint64_t address);
/* The 32 B parts that consecutive bytes touch. */
static inline uint8_t sm_sectors(uint64_t address, uint32_t bytes) {
    return (uint8_t)(bits_low((bytes + 31) / 32) << (address % 128 / 32));
}
/* l2.c */
SM_STAGE void sm_l2_create(struct sm *sm, const struct sm_caches *caches);
/* Is there room for all that so many accesses of the L1 can send down? */
SM_STAGE bool sm_l2_takes(const struct sm *sm, uint32_t accesses);
/* A read or a write of the L1. */
SM_STAGE void sm_l2_send(struct sm *sm, const struct packet *packet);
/* Looks up what is due. */
SM_STAGE void sm_l2_advance(struct sm *sm);
/* What it asked for has come. */
SM_STAGE void sm_l2_arrived(struct sm *sm, uint64_t address);

/* The first cycle at which a link to or from the L2 brings what it waits for, as far as is known. */
static inline uint64_t sm_next_news(const struct sm *sm) {
    const uint64_t reply = link_next(sm->replies);
    if (!sm->lsu_blocked || sm->blocked.cause != CACHE_NO_ROOM)
        return reply;
    const uint64_t credit = link_credit_next(sm->requests);
    return credit < reply ? credit : reply;
}

/* The observer hears of an issue. */
static inline void sm_tell_observer(struct sm *sm, unsigned slot, const struct group *group,
                                    const struct executed *executed, uint32_t flight) {
    if (!sm->shape.observer)
        return;
    const struct sm_issue issue = {
        .cycle = sm->now, .slot = slot, .flight = flight, .group = *group, .executed = executed};
    sm->shape.observer->issued(sm->shape.observer->self, sm, &issue);
}

/* Eighths of a warp, rounded up, less 1. */
static inline uint8_t sm_width_class(const struct sm *sm, unsigned lanes) { return sm->width_classes[lanes]; }

/* What a mechanism answers to a call about a slot: of the 64 slots that it is among. */
static inline slot_set sm_answer(unsigned slot, uint64_t slots) {
    return SET_SLOTS > 64 ? (slot_set)slots << slot / ISSUE_SLOTS_MAX * ISSUE_SLOTS_MAX : slots;
}
enum { UNIT_BITS = 8 };
#define UNIT_ONES UINT64_C(0x010101010101)

/* Ready warps whose unit has no room. */
static inline slot_set sm_without_room(const struct sm *sm) {
    const uint64_t full = (sm->collectors_used + sm->collector_bias) & UNIT_ONES << (UNIT_BITS - 1);
    if (sm->free_flight == NO_FLIGHT || full & sm->holding)
        return SETS(sm)->ready;
    slot_set blocked = 0;
    for (uint64_t rest = full; rest; rest &= rest - 1)
        blocked |= SETS(sm)->ready_for[bits_first64(rest) / UNIT_BITS];
    return blocked;
}
/* Warp-level operations that were waited for go when the last of their lanes has come, several at once if need be: those
 * that access memory may find its queue full. Its ring has twice the room then; what does not fit even there takes no time,
 * as where no flight is free. */
static inline bool sm_takes(const struct sm *sm, uint32_t pc) {
    return sm->free_flight != NO_FLIGHT && (sm->timed[pc].unit != SM_UNIT_MEMORY || sm->queue_count <= sm->queue_mask);
}
/* Warps that could issue, were their scheduler free. */
static inline slot_set sm_issuable(const struct sm *sm) {
    return SETS(sm)->ready ? SETS(sm)->ready & ~sm_without_room(sm) : 0;
}
/* Messages that may be sent down now. Where data that arrive may push out a dirty line, room for as many write-backs as
 * there are fetches on their way is kept, and for that of one more fetch. An L2 of its own keeps it in its queue. */
static inline uint32_t sm_room(const struct sm *sm) {
    const uint32_t room = link_room(sm->requests, sm->now);
    if (!sm->l1_fills_back || sm->l2)
        return room;
    const uint32_t kept = cache_outstanding(sm->l1) + 1;
    return room > kept ? room - kept : 0;
}
#endif
