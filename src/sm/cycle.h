/* SPDX-License-Identifier: Apache-2.0 */
/* The loop over cycles: what happens in one, and which is the next in which anything does. In a header because every front end
 * has a loop of its own, with what it does inlined. */
#ifndef HEDDLE_SM_CYCLE_H
#define HEDDLE_SM_CYCLE_H

#include "sm/apart.h"
#include "sm/book.h"
#include "sm/dsm.h"
#include "sm/fetch.h"
#include "sm/wheel.h"

static inline __attribute__((always_inline)) void sm_run_events(struct sm *sm, const struct sm_front *front,
                                                                unsigned at) {
    const struct wheel_slot slot = SETS(sm)->wheel[at];
    SETS(sm)->wheel[at] = (struct wheel_slot){0};
    SETS(sm)->wheel_bits[at / 64] &= ~(UINT64_C(1) << at % 64);
    sm->collectors_used -= slot.collectors;
    for (uint32_t flight = slot.write_backs; flight;) {
        const uint32_t next = sm->flights[flight - 1].next;
        if (sm->flights[flight - 1].pc == NO_PC)
            sm_arrive_apart(sm, flight - 1);
        else
            front->write_back(sm, flight - 1);
        flight = next;
    }
    for (slot_set rest = slot.fetched; rest; rest &= rest - 1)
        sm_fetched(sm, front, set_first(rest));
}

/* Cycle of the first event from `from` on, NO_CYCLE: none. */
static inline uint64_t sm_next_event(const struct sm *sm, uint64_t from) {
    const uint64_t far = sm->far.count ? sm->far_next : NO_CYCLE;
    const unsigned at = (unsigned)(from % WHEEL_SLOTS);
    const uint64_t here = SETS(sm)->wheel_bits[at / 64] & UINT64_MAX << at % 64;
    if (here)
        return from + bits_first64(here) - at % 64;
    uint64_t any = 0;
    for (unsigned word = 0; word < WHEEL_SLOTS / 64; word++)
        any |= SETS(sm)->wheel_bits[word];
    if (!any)
        return far;
    /* the words after this one, those before, at last what is left of this one */
    unsigned word = at / 64;
    do
        word = (word + 1) % (WHEEL_SLOTS / 64);
    while (!SETS(sm)->wheel_bits[word]);
    return from + (word * 64 + bits_first64(SETS(sm)->wheel_bits[word]) + WHEEL_SLOTS - at) % WHEEL_SLOTS;
}

/* The first cycle from `from` on at which a scheduler may issue, all else unchanged. */
static inline uint64_t sm_next_issue(const struct sm *sm, uint64_t from) {
    const slot_set possible = sm_issuable(sm);
    uint64_t next = NO_CYCLE;
    for (unsigned s = 0; s < sm->params.schedulers; s++)
        if (possible & SETS(sm)->scheduler_warps[s] && sm->scheduler_busy[s] < next)
            next = sm->scheduler_busy[s];
    return next > from ? next : from;
}

/* Whether this is such a cycle, as most are of a busy SM. */
static inline bool sm_acts_now(const struct sm *sm) {
    return SETS(sm)->wants_fetch || sm->given_count || (sm->wide == 1 && sm_issuable(sm));
}

/* If it does not act now, the first cycle at which it does anything without news from outside. A warp that is ready while
 * its unit is not waits for an event, and a blocked load/store unit for a reply or a credit: neither is tried again
 * before. */
static inline uint64_t sm_next_own(const struct sm *sm) {
    uint64_t next = sm->wide == 1 ? NO_CYCLE : sm_next_issue(sm, sm->now);
    const uint64_t event = sm_next_event(sm, sm->now);
    next = event < next ? event : next;
    next = sm->mechanism_wake < next ? sm->mechanism_wake : next;
    if (sm->queue_count && !sm->lsu_blocked) {
        uint64_t access = sm->queue[sm->queue_head].ready_cycle;
        access = access > sm->lsu_busy ? access : sm->lsu_busy;
        next = access < next ? access : next;
    }
    return next > sm->now ? next : sm->now;
}

/* To cycle `next`: nothing can issue until then, and slots are empty but for those that a warp wider than the back end
 * still fills. */
static inline void sm_pass(struct sm *sm, uint64_t next) {
    const slot_set ready = SETS(sm)->ready;
    if (sm->books_later) {
        if (!SETS(sm)->empty.open) /* else nothing has changed since */
            sm_begin_empty(sm);
        sm->now = next;
        return;
    }
    const bool memory = SETS(sm)->front->all_at_memory(sm);
    for (unsigned s = 0; s < sm->params.schedulers; s++) {
        uint64_t from = sm->scheduler_busy[s] > sm->now ? sm->scheduler_busy[s] : sm->now;
        from = from < next ? from : next;
        if (from > sm->now)
            sm_count_busy(sm, s, from - sm->now);
        if (next > from)
            sm_book(sm, sm_empty(sm, s, ready & SETS(sm)->scheduler_warps[s], memory), next - from);
    }
    sm->now = next;
}

/* What has become due since: of the mechanism, of new blocks, of events that were far. */
static inline __attribute__((always_inline)) void sm_begin_cycle(struct sm *sm) {
    if (sm->mechanism_wake <= sm->now)
        sm_regroup_advance(sm);
    if (sm->given_count)
        sm_start_given(sm);
    if (sm->far.count)
        sm_draw_near(sm);
}

static inline __attribute__((always_inline)) void sm_run_cycle(struct sm *sm, const struct sm_front *front,
                                                               bool in_clusters) {
    sm_begin_cycle(sm);
    const unsigned at = (unsigned)(sm->now % WHEEL_SLOTS);
    if (SETS(sm)->wheel_bits[at / 64] >> at % 64 & 1)
        sm_run_events(sm, front, at);
    for (const struct packet *packet; (packet = link_arrived(sm->replies, sm->now)) != NULL;
         link_pop(sm->replies, sm->now)) {
        const struct packet *behind = sm->shape.l1_far ? link_behind(sm->replies, 1) : NULL;
        if (behind)
            cache_expect_line(sm->l1, behind->address);
        sm_reply(sm, packet);
    }
    if (in_clusters)
        sm_dsm_run(sm);
    if (sm->lsu_blocked && sm->blocked.cause == CACHE_NO_ROOM && link_room(sm->requests, sm->now) >= sm->blocked.room)
        sm->lsu_blocked = false;
    if (sm->queue_count && !sm->lsu_blocked && sm->lsu_busy <= sm->now)
        sm_memory(sm);
    front->issue(sm);
    if (SETS(sm)->wants_fetch)
        sm_fetch(sm);
}

static inline void sm_count_passed(struct sm *sm, uint64_t since) {
    sm->stats.slots += (sm->now - since) * sm->params.schedulers;
}

/* Once for every front end: what it does is part of the loop. in_clusters: the SM has to do with others' blocks (sm->dsm). */
static inline __attribute__((always_inline)) bool sm_run_awake(struct sm *sm, const struct sm_front *front,
                                                               uint64_t from, uint64_t to, bool in_clusters) {
    const uint64_t since = sm->now;
    if (from > sm->now)
        sm_pass(sm, from);
    while (!sm->faulted) {
        uint64_t next = sm->wake = sm_acts_now(sm) ? sm->now : sm_next_own(sm);
        if (next > sm->now) {
            const uint64_t links = sm_next_news(sm), news = in_clusters ? sm_dsm_next(sm, links) : links;
            next = news > next ? next : news > sm->now ? news : sm->now;
        }
        if (next >= to)
            break;
        if (next > sm->now)
            sm_pass(sm, next);
        sm_run_cycle(sm, front, in_clusters);
        sm->now++;
    }
    sm->now = sm->faulted ? to : sm->now;
    sm_count_passed(sm, since);
    if (sm->faulted)
        sm_end_faulted(sm);
    return sm->faulted;
}

#endif
