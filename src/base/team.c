/* SPDX-License-Identifier: Apache-2.0 */
#include "base/team.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "base/cpu.h"

/* About 50 microseconds: longer than what is done between two turns, shorter than it takes to wake a thread twice. */
enum { SPINS = 1500 };

/* A count that others wait to move. */
struct gate {
    alignas(64) atomic_uint count;
    alignas(64) atomic_uint sleepers;
    pthread_mutex_t mutex;
    pthread_cond_t moved;
};

struct member {
    struct team *team;
    unsigned number;
    pthread_t thread;
};

/* The state of a team: the number of the turn in the upper half, whether it is open to those who come, and how many are at
 * work. */
#define OPEN (UINT64_C(1) << 31)
#define AT_WORK (OPEN - 1)

struct team {
    struct gate begin, end; /* turns begun; turns at whose end the caller had to wait */
    alignas(64) _Atomic uint64_t state;
    /* of the turn under way; written while nobody is at work */
    alignas(64) void (*work)(void *self, unsigned thread);
    void *self;
    atomic_bool over;
    unsigned size, spins;
    struct member *members; /* but the caller */
};

static void gate_create(struct gate *gate) {
    pthread_mutex_init(&gate->mutex, NULL);
    pthread_cond_init(&gate->moved, NULL);
}

static void gate_destroy(struct gate *gate) {
    pthread_cond_destroy(&gate->moved);
    pthread_mutex_destroy(&gate->mutex);
}

/* Whoever sleeps has counted itself before it looked at the count for the last time, and here the count moves before
 * sleepers are looked for: one of the two sees the other. */
static void gate_move(struct gate *gate) {
    atomic_fetch_add(&gate->count, 1);
    if (!atomic_load(&gate->sleepers))
        return;
    pthread_mutex_lock(&gate->mutex);
    pthread_cond_broadcast(&gate->moved);
    pthread_mutex_unlock(&gate->mutex);
}

static void gate_wait(struct gate *gate, unsigned passed, unsigned spins) {
    for (; spins; spins--) {
        if (atomic_load_explicit(&gate->count, memory_order_acquire) != passed)
            return;
        cpu_pause();
    }
    pthread_mutex_lock(&gate->mutex);
    atomic_fetch_add(&gate->sleepers, 1);
    while (atomic_load(&gate->count) == passed)
        pthread_cond_wait(&gate->moved, &gate->mutex);
    atomic_fetch_sub(&gate->sleepers, 1);
    pthread_mutex_unlock(&gate->mutex);
}

/* The last of a closed turn tells the caller, who waits for it. */
static void leave(struct team *team) {
    const uint64_t state = atomic_fetch_sub(&team->state, 1) - 1;
    if (!(state & OPEN) && !(state & AT_WORK))
        gate_move(&team->end);
}

/* Joins the turn under way, if it is open and not the last one joined. */
static bool join(struct team *team, uint64_t *last) {
    uint64_t state = atomic_load(&team->state);
    do {
        if (!(state & OPEN) || state >> 32 == *last)
            return false;
    } while (!atomic_compare_exchange_weak(&team->state, &state, state + 1));
    *last = state >> 32;
    return true;
}

static void *run_member(void *self) {
    const struct member *member = self;
    struct team *team = member->team;
    for (uint64_t last = 0;;) {
        const unsigned seen = atomic_load(&team->begin.count);
        if (atomic_load(&team->over))
            return NULL;
        if (join(team, &last)) {
            team->work(team->self, member->number);
            leave(team);
        } else
            gate_wait(&team->begin, seen, team->spins);
    }
}

uint64_t team_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

double team_clock_seconds(void) { return (double)team_clock_ns() * 1e-9; }

unsigned team_processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set))
        return 1;
    const int count = CPU_COUNT(&set);
    return count > 0 ? (unsigned)count : 1;
}

unsigned team_threads(unsigned wanted) { return wanted ? wanted : team_processors(); }

struct team *team_create(struct arena *arena, unsigned threads) {
    struct team *team = arena_alloc_aligned(arena, sizeof *team, alignof(struct team));
    team->spins = threads <= team_processors() ? SPINS : 0;
    team->members = ARENA_ARRAY(arena, struct member, threads);
    gate_create(&team->begin);
    gate_create(&team->end);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (team->size = 1; team->size < threads; team->size++) {
        struct member *member = &team->members[team->size - 1];
        *member = (struct member){.team = team, .number = team->size};
        if (pthread_create(&member->thread, NULL, run_member, member))
            break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return team;
}

unsigned team_size(const struct team *team) { return team->size; }

void team_run(struct team *team, void (*work)(void *self, unsigned thread), void *self) {
    team->work = work, team->self = self;
    const unsigned ended = atomic_load_explicit(&team->end.count, memory_order_relaxed);
    const uint64_t turn = (atomic_load_explicit(&team->state, memory_order_relaxed) >> 32) + 1;
    atomic_store(&team->state, turn << 32 | OPEN | 1);
    gate_move(&team->begin);
    work(self, 0);
    if ((atomic_fetch_sub(&team->state, OPEN + 1) & AT_WORK) > 1)
        gate_wait(&team->end, ended, team->spins);
}

void team_destroy(struct team *team) {
    if (!team)
        return;
    atomic_store(&team->over, true);
    gate_move(&team->begin);
    for (unsigned i = 0; i + 1 < team->size; i++)
        pthread_join(team->members[i].thread, NULL);
    gate_destroy(&team->begin);
    gate_destroy(&team->end);
}
