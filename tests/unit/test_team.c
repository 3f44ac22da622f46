/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that work together: every piece of every turn is done once, and what was written before and in a turn is seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>
#include <stdatomic.h>
#include <time.h>

#include "base/team.h"

enum { MOST = 8, TURNS = 500, PIECES = 40 };

/* All but `next` is plain memory: without the order that team_run promises, ThreadSanitizer and the sums would tell. */
struct work {
    atomic_uint next;
    uint64_t turn;
    uint64_t done[PIECES]; /* the turn in which it was last done */
    unsigned times[PIECES];
    unsigned came[MOST]; /* turns in which the thread came */
};

static void work(void *self, unsigned thread) {
    struct work *w = self;
    w->came[thread]++;
    for (unsigned n; (n = atomic_fetch_add(&w->next, 1)) < PIECES;)
        w->done[n] = w->turn, w->times[n]++;
}

static void check_turn(const struct work *w) {
    for (unsigned i = 0; i < PIECES; i++) {
        assert_int_equal(w->done[i], w->turn);
        assert_int_equal(w->times[i], w->turn);
    }
    for (unsigned i = 0; i < MOST; i++)
        assert_in_range(w->came[i], i ? 0 : w->turn, w->turn);
}

static void every_piece_is_done_once(void **state) {
    (void)state;
    for (unsigned size = 1; size <= MOST; size++) {
        struct arena arena = {0};
        struct team *team = team_create(&arena, size);
        struct work w = {.turn = 0};
        assert_in_range(team_size(team), 1, size);
        for (w.turn = 1; w.turn <= TURNS; w.turn++) {
            atomic_store(&w.next, 0);
            team_run(team, work, &w);
            check_turn(&w);
        }
        for (unsigned i = team_size(team); i < MOST; i++)
            assert_int_equal(w.came[i], 0);
        team_destroy(team);
        arena_free(&arena);
    }
}

static void pause_ms(long ms) {
    const struct timespec time = {.tv_nsec = ms * 1000000};
    nanosleep(&time, NULL);
}

/* The caller gives others the time to come, and they let it wait for them. */
static void work_slowly(void *self, unsigned thread) {
    pause_ms(20);
    work(self, thread);
    pause_ms(thread ? 20 : 0);
}

/* Both sides sleep: the members between turns, the caller while they work. */
static void sleepers_wake(void **state) {
    (void)state;
    struct arena arena = {0};
    struct team *team = team_create(&arena, 3);
    struct work w = {.turn = 0};
    for (w.turn = 1; w.turn <= 10; w.turn++) {
        pause_ms(20);
        atomic_store(&w.next, 0);
        team_run(team, work_slowly, &w);
        check_turn(&w);
    }
    for (unsigned i = 1; i < team_size(team); i++)
        assert_true(w.came[i] > 0);
    team_destroy(team);
    arena_free(&arena);
}

static void a_team_may_never_work(void **state) {
    (void)state;
    struct arena arena = {0};
    team_destroy(team_create(&arena, MOST));
    team_destroy(NULL);
    arena_free(&arena);
    assert_true(team_processors() >= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_piece_is_done_once),
        cmocka_unit_test(sleepers_wake),
        cmocka_unit_test(a_team_may_never_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
