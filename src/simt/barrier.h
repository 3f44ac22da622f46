/* SPDX-License-Identifier: Apache-2.0 */
/* Block barriers: they count arrived threads, whatever group carried them there. */
#ifndef HEDDLE_SIMT_BARRIER_H
#define HEDDLE_SIMT_BARRIER_H

#include "simt/executor.h"

/* Those that programs number, and that of barrier.cluster, at which threads arrive before they wait (simt/waiting.h). */
enum { CLUSTER_BARRIER = 16, BARRIERS };

struct barrier {
    uint32_t arrived;
    uint32_t expected;   /* 0: every thread of the block that has not ended */
    uint32_t true_count; /* threads that arrived with a true predicate */
};

static inline bool barrier_is_met(const struct barrier *barrier, uint32_t alive) {
    return barrier->arrived != 0 && barrier->arrived >= (barrier->expected ? barrier->expected : alive);
}

/* PTX: threads are counted by whole warps, of 32. */
static inline bool barrier_counts_warps(uint64_t threads) { return threads && threads % LANES_MAX == 0; }

/* Threads have ended and `alive` are left: is the barrier that waited for them met? */
static inline bool barrier_is_met_by_ends(const struct barrier *barrier, uint32_t alive) {
    return !barrier->expected && barrier_is_met(barrier, alive);
}

/* True: those who came are the last, and whoever waits may go on (barrier_open). */
static inline bool barrier_arrive(struct barrier *barrier, const struct executed *executed, uint32_t alive) {
    barrier->arrived += bits_count(executed->taken);
    barrier->true_count += bits_count(executed->predicate);
    barrier->expected = executed->expected;
    return barrier_is_met(barrier, alive);
}

/* What the threads that go on are told (bar.red). */
struct barrier_result {
    uint32_t true_count;
    bool all, any;
};

/* A barrier that is met begins anew. */
static inline struct barrier_result barrier_open(struct barrier *barrier) {
    const struct barrier_result result = {barrier->true_count, barrier->true_count == barrier->arrived,
                                          barrier->true_count != 0};
    *barrier = (struct barrier){0};
    return result;
}

#endif
