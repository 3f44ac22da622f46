/* SPDX-License-Identifier: Apache-2.0 */
/* Who knows what of whom: the happens-before order of a launch's threads.
 *
 * Time counts events that order threads, not accesses: all that a thread does between two of them has one time. What a thread knows
 * of another is the latest time up to which the other's accesses come before its own. Within a block that is one time for all
 * (a barrier that every thread passed), one for a pair of warps (barriers of some warps, a warp that met as a whole) and one
 * for a pair of lanes; of other blocks a list, which only fences and atomics with an order fill. */
#ifndef HEDDLE_CHECK_ORDER_H
#define HEDDLE_CHECK_ORDER_H

#include "base/arena.h"
#include "isa/inst.h"
#include "simt/barrier.h"

/* What is known of others: up to when, of a thread (its number in the launch) or of all of a block. Sorted by who. */
#define KNOWN_BLOCK (UINT64_C(1) << 63)
struct known {
    struct known_item {
        uint64_t who;
        uint32_t time;
    } * items;
    unsigned count, capacity;
};

/* One thread's part in fences and atomics with an order. */
struct thread_sync {
    struct known foreign;   /* what it knows of other blocks, and of threads of its own by atomics */
    struct known released;  /* what it knew at its last fence: goes out with its next strong write */
    struct known pending;   /* what strong reads brought of threads of its block: counts from its next fence on */
    struct known wide;      /* of other blocks: from its next fence of device scope on */
    uint8_t released_scope; /* enum scope; SCOPE_NONE: no fence yet */
    bool narrow;            /* something was not acquired because a scope was too narrow */
};

struct place_barrier {
    uint32_t arrived, pc;
    uint32_t *row;                        /* [warp]: what those who go on know of each warp */
    struct known foreign, released, wide; /* as in struct thread_sync, of all who came */
    bool has_passers;                     /* some have come and not waited (bar.arrive) */
    bool is_open;                         /* those who waited go on: the next arrival begins anew */
};

/* A block under way. */
struct block_watch {
    uint64_t block;
    uint32_t first_thread; /* number of its first thread in the launch: each warp has LANES_MAX numbers */
    unsigned threads, warps, warp_size;
    uint32_t slots;            /* numbers of its threads */
    uint32_t start;            /* time at which it began */
    uint32_t barrier_time;     /* all that the block's threads did up to then is known to all of them */
    uint32_t *lanes;           /* [warp][i][j]: what lane i knows of lane j of its warp */
    uint32_t *pairs;           /* [w][v]: what warp w knows of warp v */
    struct thread_sync *syncs; /* of each thread; NULL: none has anything yet */
    /* Of all threads of the block, by barriers. A fence of device scope before a barrier counts for the strong write of another
     * thread behind it, as a strong read before it does for another's fence: PTX's model has no such pattern, hardware does
     * it, and grids are joined that way in many programs. */
    struct known foreign, released, wide;
    struct place_barrier barriers[BARRIERS];
    void *shared; /* shadow of its shared memory: check/shadow.h */
    uint32_t shared_bytes;
    unsigned shared_shift;
};

/* Releases at one address, each by threads of one block. */
struct sync_release {
    uint64_t block;
    uint8_t scope;
    struct known known;
};
struct sync_variable {
    uint64_t key;
    struct sync_release *items;
    unsigned count, capacity;
};

struct causality {
    struct arena *arena; /* of the launch */
    uint32_t now;
    uint32_t launch_start;
    struct {
        struct sync_variable *items;
        unsigned count, capacity; /* capacity: a power of two, or 0 */
    } variables;
};

/* A lane of a place's warp. */
struct party {
    struct block_watch *place;
    unsigned warp, lane;
    uint32_t thread; /* in the launch */
};

static inline struct party party_of(struct block_watch *place, unsigned warp, unsigned lane) {
    return (struct party){place, warp, lane, place->first_thread + LANES_MAX * warp + lane};
}

/* Is what a thread did at that time before whatever the party does now? */
bool order_knows_foreign(const struct causality *order, const struct party *party, uint32_t thread, uint32_t time);
static inline bool order_knows(const struct causality *order, const struct party *party, uint32_t thread,
                               uint32_t time) {
    const struct block_watch *place = party->place;
    if (time <= order->launch_start || thread == party->thread)
        return true;
    const uint32_t other = thread - place->first_thread;
    if (other < place->slots) {
        if (time <= place->barrier_time)
            return true;
        const unsigned warp = other / LANES_MAX;
        if (time <= place->pairs[party->warp * place->warps + warp])
            return true;
        if (warp == party->warp &&
            time <= place->lanes[(warp * LANES_MAX + party->lane) * LANES_MAX + other % LANES_MAX])
            return true;
    }
    return order_knows_foreign(order, party, thread, time);
}

void order_begin_block(struct causality *order, struct block_watch *place);
void order_meet(struct causality *order, struct block_watch *place, unsigned warp, uint32_t lanes, bool is_whole);
/* Lanes of a warp at a block barrier. */
struct comers {
    unsigned warp, barrier;
    uint32_t lanes;
};
/* passes: they do not wait there (bar.arrive). */
void order_arrive(struct causality *order, struct block_watch *place, const struct comers *comers, bool passes);
/* is_full: every thread of the block that has not ended has come. True: this is the first call since the barrier was met. */
bool order_leave(struct causality *order, struct block_watch *place, const struct comers *comers, uint32_t alive,
                 bool *is_full);
void order_fence(struct causality *order, const struct party *party, const struct inst *inst);
/* A strong access to the address that is told apart by key. */
void order_release(struct causality *order, const struct party *party, uint64_t key, const struct inst *inst,
                   bool replaces);
void order_acquire(struct causality *order, const struct party *party, uint64_t key, const struct inst *inst);

#endif
