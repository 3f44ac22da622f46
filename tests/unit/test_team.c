/* Threads that work together: everyone does every turn once, and what was written before and in a turn is seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>
#include <time.h>

#include "base/team.h"

enum { MOST = 8, TURNS = 500 };

/* Plain memory: without the order that team_run promises, ThreadSanitizer and the sums would tell. */
struct work {
    unsigned size;
    uint64_t turn;
    uint64_t seen[MOST], done[MOST];
};

static void work(void *self, unsigned thread) {
    struct work *w = self;
    w->seen[thread] = w->turn;
    w->done[thread]++;
}

static void everyone_works_in_every_turn(void **state) {
    (void)state;
    for (unsigned size = 1; size <= MOST; size++) {
        struct arena arena = {0};
        struct team *team = team_create(&arena, size);
        struct work w = {.size = team_size(team)};
        assert_in_range(w.size, 1, size);
        for (w.turn = 1; w.turn <= TURNS; w.turn++) {
            team_run(team, work, &w);
            for (unsigned i = 0; i < w.size; i++) {
                assert_int_equal(w.seen[i], w.turn);
                assert_int_equal(w.done[i], w.turn);
            }
        }
        for (unsigned i = w.size; i < MOST; i++)
            assert_int_equal(w.done[i], 0);
        team_destroy(team);
        arena_free(&arena);
    }
}

static void pause_ms(long ms) {
    const struct timespec time = {.tv_nsec = ms * 1000000};
    nanosleep(&time, NULL);
}

static void work_slowly(void *self, unsigned thread) {
    pause_ms(thread ? 20 : 0);
    work(self, thread);
}

/* Both sides sleep: the members between turns, the caller while they work. */
static void sleepers_wake(void **state) {
    (void)state;
    struct arena arena = {0};
    struct team *team = team_create(&arena, 3);
    struct work w = {.size = team_size(team)};
    for (w.turn = 1; w.turn <= 5; w.turn++) {
        pause_ms(20);
        team_run(team, work_slowly, &w);
        for (unsigned i = 0; i < w.size; i++)
            assert_int_equal(w.done[i], w.turn);
    }
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
        cmocka_unit_test(everyone_works_in_every_turn),
        cmocka_unit_test(sleepers_wake),
        cmocka_unit_test(a_team_may_never_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
