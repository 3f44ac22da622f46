/* SPDX-License-Identifier: Apache-2.0 */
/* mem/link: exact latency, credits, and results that depend neither on the epoch length, nor on which side runs first,
 * nor on who visits which cycles, nor on host threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "mem/link.h"

struct item {
    uint64_t number, sent_cycle;
    uint32_t bytes;
};

enum { LATENCY = 12, CAPACITY = 20, CYCLES = 4800 };

static const struct clock_ratio ONE_CLOCK[2] = {{1, 1}, {1, 1}};

static struct link *make(struct arena *arena, uint32_t latency, uint32_t capacity) {
    struct link_params params = {latency, capacity, sizeof(struct item)};
    struct link *link = NULL;
    assert_int_equal(link_create(&link, arena, &params, NULL), STATUS_OK);
    return link;
}

static void latency_is_exact_both_ways(void **state) {
    (void)state;
    static const uint32_t latencies[] = {1, 2, 7, 16};
    for (unsigned i = 0; i < sizeof latencies / sizeof *latencies; i++) {
        uint32_t latency = latencies[i];
        struct arena arena = {0};
        struct link *link = make(&arena, latency, 1);
        struct item item = {.number = 5};
        assert_true(link_send(link, 100, &item, 1, 40));
        assert_int_equal(link_room(link, 100), 0);
        assert_false(link_send(link, 100, &item, 1, 40));
        assert_true(link_next(link) == NO_CYCLE); /* nothing is felt before the exchange */
        link_exchange(link);
        assert_int_equal(link_next(link), 100 + latency);
        assert_null(link_arrived(link, 99 + latency));
        assert_false(link_pop(link, 99 + latency));
        const struct item *arrived = link_arrived(link, 100 + latency);
        assert_non_null(arrived);
        assert_int_equal(arrived->number, 5);
        uint64_t taken = 103 + latency;
        assert_true(link_pop(link, taken));
        assert_false(link_pop(link, taken));
        assert_true(link_credit_next(link) == NO_CYCLE);
        link_exchange(link);
        assert_int_equal(link_credit_next(link), taken + latency);
        assert_int_equal(link_room(link, taken + latency - 1), 0);
        assert_int_equal(link_room(link, taken + latency), 1);
        assert_true(link_conserves(link));
        arena_free(&arena);
    }
}

/* Sender: 3 ticks in 7 cycles; receiver: 5 in 3. */
static void latency_between_clocks_is_exact(void **state) {
    (void)state;
    const struct clock_ratio sender = clock_ratio(300, 700), receiver = clock_ratio(500, 300);
    struct arena arena = {0};
    struct link *link = make(&arena, LATENCY, 1);
    struct item item = {.number = 5};
    assert_true(link_send(link, 10, &item, 1, 40)); /* in cycle 24 (23.3), there in 36 */
    assert_true(link_exchange_clocks(link, &sender, &receiver));
    assert_int_equal(link_next(link), 59); /* begins in cycle 36 (35.4); 58 in 35 (34.8) */
    assert_true(link_pop(link, 60));       /* the same cycle; back in 48 */
    assert_false(link_exchange_clocks(link, &sender, &receiver));
    assert_int_equal(link_credit_next(link), 21); /* in cycle 49; 20 in 47 (46.7) */
    assert_int_equal(link_room(link, 20), 0);
    assert_int_equal(link_room(link, 21), 1);
    assert_true(link_conserves(link));
    arena_free(&arena);
}

static void items_take_their_units(void **state) {
    (void)state;
    struct arena arena = {0};
    struct link *link = make(&arena, 4, 10);
    struct item item = {0};
    assert_true(link_send(link, 0, &item, 7, 100));
    assert_false(link_send(link, 0, &item, 4, 100));
    assert_false(link_send(link, 0, &item, 0, 100)); /* an item without size would not be limited by credits */
    assert_true(link_send(link, 0, &item, 3, 28));
    struct link_counts flight = link_in_flight(link);
    assert_int_equal(flight.items, 2);
    assert_int_equal(flight.units, 10);
    assert_int_equal(flight.bytes, 128);
    link_exchange(link);
    assert_true(link_pop(link, 4));
    assert_true(link_conserves(link));
    assert_int_equal(link_in_flight(link).bytes, 28);
    link_exchange(link);
    assert_int_equal(link_room(link, 8), 7);
    arena_free(&arena);
}

static void impossible_links_are_refused(void **state) {
    (void)state;
    static const struct link_params wrong[] = {{0, 4, 8}, {4, 0, 8}, {4, UINT32_MAX, UINT32_MAX}};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct arena arena = {0};
        struct report report = {0};
        struct link *link = NULL;
        assert_int_equal(link_create(&link, &arena, &wrong[i], &report), STATUS_INVALID);
        assert_null(link);
        assert_non_null(strstr(report_text(&report), "link"));
        report_free(&report);
        arena_free(&arena);
    }
}

/* Two parts and a link. What each does in a cycle depends on the cycle and on what it sees, never on who calls it. */
struct event {
    uint64_t cycle, number, bytes; /* no padding: compared as memory */
};

struct run {
    struct link *link;
    struct clock_ratio sender_clock, receiver_clock; /* each side's cycles are of its own */
    bool visit_all;
    /* sender */
    uint64_t sent, wanted_from; /* the next item is offered from that cycle on */
    struct event send_log[CYCLES];
    unsigned sends, sender_visits, waits_for_items, waits_for_room;
    uint32_t room_max;
    /* receiver */
    struct event receive_log[CYCLES];
    unsigned receives, receiver_visits;
    uint64_t ready_from; /* the receiver takes nothing before */
};

/* A number that belongs to n, so that both sides behave irregularly but alike in every run. */
static uint32_t noise(uint64_t n, uint32_t bound) {
    struct rng rng;
    rng_seed(&rng, n);
    return (uint32_t)rng_below(&rng, bound);
}

static void sender_cycle(struct run *run, uint64_t cycle) {
    run->sender_visits++;
    uint32_t room = link_room(run->link, cycle);
    if (room > run->room_max)
        run->room_max = room;
    uint32_t units = 1 + noise(run->sent, 5);
    if (cycle < run->wanted_from || units > room) {
        *(cycle < run->wanted_from ? &run->waits_for_items : &run->waits_for_room) += 1;
        return;
    }
    struct item item = {run->sent, cycle, units * 32};
    assert_true(link_send(run->link, cycle, &item, units, item.bytes));
    run->send_log[run->sends++] = (struct event){cycle, run->sent, item.bytes};
    run->wanted_from = cycle + 1 + (noise(run->sent, 8) ? 0 : noise(run->sent * 3, 90));
    run->sent++;
}

/* The first cycle from `cycle` on in which the sender could do anything. */
static uint64_t sender_next(struct run *run, uint64_t cycle) {
    if (1 + noise(run->sent, 5) <= link_room(run->link, cycle))
        return cycle > run->wanted_from ? cycle : run->wanted_from;
    uint64_t credit = link_credit_next(run->link);
    return credit == NO_CYCLE || credit > cycle ? credit : cycle;
}

static void receiver_cycle(struct run *run, uint64_t cycle) {
    run->receiver_visits++;
    const struct item *item = cycle < run->ready_from ? NULL : link_arrived(run->link, cycle);
    if (!item)
        return;
    assert_true(clock_cycle(&run->receiver_clock, cycle) >=
                clock_cycle(&run->sender_clock, item->sent_cycle) + LATENCY);
    run->receive_log[run->receives++] = (struct event){cycle, item->number, item->bytes};
    run->ready_from = cycle + 1 + (noise(item->number * 7, 16) ? 0 : noise(item->number * 5, 60));
    assert_true(link_pop(run->link, cycle));
}

static uint64_t receiver_next(const struct run *run, uint64_t cycle) {
    uint64_t next = link_next(run->link);
    if (next != NO_CYCLE && next < run->ready_from)
        next = run->ready_from;
    return next < cycle ? cycle : next;
}

static void sender_epoch(struct run *run, uint64_t from, uint64_t to) {
    for (uint64_t cycle = from; cycle < to; cycle++) {
        if (!run->visit_all && (cycle = sender_next(run, cycle)) >= to)
            return;
        sender_cycle(run, cycle);
    }
}

static void receiver_epoch(struct run *run, uint64_t from, uint64_t to) {
    for (uint64_t cycle = from; cycle < to; cycle++) {
        if (!run->visit_all && (cycle = receiver_next(run, cycle)) >= to)
            return;
        receiver_cycle(run, cycle);
    }
}

static struct run *make_run(struct arena *arena, const struct clock_ratio clocks[2]) {
    struct run *run = ARENA_NEW(arena, struct run);
    run->link = make(arena, LATENCY, CAPACITY);
    run->sender_clock = clocks[0], run->receiver_clock = clocks[1];
    return run;
}

static struct run *simulate(struct arena *arena, const struct clock_ratio clocks[2], uint64_t epoch,
                            bool receiver_first, bool visit_all) {
    struct run *run = make_run(arena, clocks);
    const bool same = clock_is_same(&clocks[0]) && clock_is_same(&clocks[1]);
    run->visit_all = visit_all;
    for (uint64_t from = 0; from < CYCLES; from += epoch) {
        for (unsigned i = 0; i < 2; i++) {
            const bool receives = receiver_first == (i == 0);
            const uint64_t first = clock_first_tick(&clocks[receives], from);
            const uint64_t end = clock_first_tick(&clocks[receives], from + epoch);
            (receives ? receiver_epoch : sender_epoch)(run, first, end);
        }
        if (same)
            link_exchange(run->link);
        else
            link_exchange_clocks(run->link, &clocks[0], &clocks[1]);
        assert_true(link_conserves(run->link));
    }
    return run;
}

static void same_events(const struct run *a, const struct run *b) {
    assert_int_equal(a->sends, b->sends);
    assert_int_equal(a->receives, b->receives);
    assert_memory_equal(a->send_log, b->send_log, sizeof a->send_log);
    assert_memory_equal(a->receive_log, b->receive_log, sizeof a->receive_log);
}

static void epochs_order_and_visits_change_nothing(void **state) {
    (void)state;
    struct arena arena = {0};
    const struct run *base = simulate(&arena, ONE_CLOCK, 1, false, true);
    /* the run has what it is to show: traffic, and both waits of the sender */
    assert_true(base->sends > 300 && base->waits_for_items > 300 && base->waits_for_room > 300);
    assert_int_equal(base->room_max, CAPACITY);
    assert_int_equal(base->sends, base->link->sent.items);
    assert_int_equal(base->receives, base->link->received.items);
    assert_int_equal(base->sends - base->receives, link_in_flight(base->link).items);
    for (unsigned i = 0; i < base->receives; i++) {
        assert_int_equal(base->receive_log[i].number, i);
        assert_int_equal(base->receive_log[i].bytes, base->send_log[i].bytes);
    }
    static const uint64_t epochs[] = {1, 2, 3, 4, 6, 12};
    for (unsigned i = 0; i < sizeof epochs / sizeof *epochs; i++)
        for (unsigned variant = 0; variant < 4; variant++) {
            const struct run *run = simulate(&arena, ONE_CLOCK, epochs[i], variant & 1, variant & 2);
            same_events(run, base);
            if (!(variant & 2)) /* sleeping pays: no visit without something to do */
                assert_true(run->receiver_visits == run->receives && run->sender_visits < CYCLES / 2);
        }
    arena_free(&arena);
}

/* The latency is longer than any epoch for both clocks, also where a side has no tick in an epoch or several. */
static void epochs_and_order_change_nothing_between_clocks(void **state) {
    (void)state;
    const struct clock_ratio ratios[] = {clock_ratio(3, 7), clock_ratio(1447, 650), ONE_CLOCK[0], clock_ratio(2, 25)};
    enum { RATIOS = sizeof ratios / sizeof *ratios };
    static const uint64_t epochs[] = {2, 3, 4, 6, 12};
    for (unsigned k = 0; k < RATIOS * RATIOS; k++) {
        struct arena arena = {0};
        const struct clock_ratio clocks[2] = {ratios[k / RATIOS], ratios[k % RATIOS]};
        const struct run *base = simulate(&arena, clocks, 1, false, true);
        assert_true(base->receives > 20);
        for (unsigned i = 0; i < sizeof epochs / sizeof *epochs; i++)
            for (unsigned variant = 0; variant < 4; variant++)
                same_events(simulate(&arena, clocks, epochs[i], variant & 1, variant & 2), base);
        arena_free(&arena);
    }
}

static void a_longer_epoch_would_be_felt(void **state) {
    (void)state;
    struct arena arena = {0};
    const struct run *base = simulate(&arena, ONE_CLOCK, 1, false, true);
    const struct run *late = simulate(&arena, ONE_CLOCK, 4 * LATENCY, false, true);
    assert_memory_not_equal(base->receive_log, late->receive_log, sizeof base->receive_log);
    arena_free(&arena);
}

struct thread {
    struct run *run;
    pthread_barrier_t *barrier;
    bool sends;
};

static void *thread_run(void *data) {
    struct thread *thread = data;
    for (uint64_t from = 0; from < CYCLES; from += LATENCY) {
        if (thread->sends)
            sender_epoch(thread->run, from, from + LATENCY);
        else
            receiver_epoch(thread->run, from, from + LATENCY);
        pthread_barrier_wait(thread->barrier);
        if (thread->sends)
            link_exchange(thread->run->link);
        pthread_barrier_wait(thread->barrier);
    }
    return NULL;
}

static void two_host_threads_change_nothing(void **state) {
    (void)state;
    struct arena arena = {0};
    const struct run *base = simulate(&arena, ONE_CLOCK, 1, false, true);
    struct run *run = make_run(&arena, ONE_CLOCK);
    pthread_barrier_t barrier;
    assert_int_equal(pthread_barrier_init(&barrier, NULL, 2), 0);
    struct thread sender = {run, &barrier, true}, receiver = {run, &barrier, false};
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, thread_run, &receiver), 0);
    thread_run(&sender);
    assert_int_equal(pthread_join(other, NULL), 0);
    pthread_barrier_destroy(&barrier);
    same_events(run, base);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latency_is_exact_both_ways),
        cmocka_unit_test(items_take_their_units),
        cmocka_unit_test(latency_between_clocks_is_exact),
        cmocka_unit_test(epochs_and_order_change_nothing_between_clocks),
        cmocka_unit_test(impossible_links_are_refused),
        cmocka_unit_test(epochs_order_and_visits_change_nothing),
        cmocka_unit_test(a_longer_epoch_would_be_felt),
        cmocka_unit_test(two_host_threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
