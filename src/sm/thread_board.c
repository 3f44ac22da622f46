/* SPDX-License-Identifier: Apache-2.0 */
/* The scoreboard by thread of groups that form anew. A thread has several instructions in flight, in order: it comes back to
 * the mechanism when the registers that its next instruction reads and writes are there, whatever else it still waits for. So
 * what stands in slots can issue, and threads whose data come at different times part and may form other groups; what a thread
 * has in flight does not depend on the groups that it is in.
 *
 * It is exact, register by register and thread by thread. Fences wait for the thread's own accesses, accesses for its own
 * atomics. Where some threads stand for others (a group that names `also`, guards known beforehand) these have not waited
 * for what they issue next, and their slot does. */
#include <string.h>

#include "simt/threads.h"
#include "sm/flight.h"
#include "sm/regroup.h"

struct thread_board *sm_board_create(struct sm *sm) {
    struct thread_board *board = ARENA_NEW(sm->arena, struct thread_board);
    const size_t warps = sm->warp_count, threads = warps * LANES_MAX;
    board->registers = sm->register_words * 64;
    board->words = ARENA_ARRAY(sm->arena, uint64_t, warps * sm->register_words);
    board->lanes = ARENA_ARRAY(sm->arena, struct lanes_pending, warps * board->registers);
    board->tracked = ARENA_ARRAY(sm->arena, uint32_t, FLIGHTS_MAX);
    board->next = ARENA_ARRAY(sm->arena, uint32_t, threads);
    board->from = ARENA_ARRAY(sm->arena, uint8_t, threads);
    board->memory = ARENA_ARRAY(sm->arena, uint16_t, threads);
    board->atomics = ARENA_ARRAY(sm->arena, uint16_t, threads);
    board->away = ARENA_ARRAY(sm->arena, uint32_t, warps);
    board->away_memory = ARENA_ARRAY(sm->arena, uint32_t, warps);
    board->guards = ARENA_ARRAY(sm->arena, uint16_t, threads * sm->guards.count);
    return board;
}

/* ---- registers ---- */

static struct lanes_pending *masks_of(const struct sm *sm, unsigned w, unsigned word) {
    const struct thread_board *board = sm->regroup->board;
    return board->lanes + (size_t)w * board->registers + (size_t)word * 64;
}

static uint64_t *word_of(const struct sm *sm, unsigned w, unsigned word) {
    return &sm->regroup->board->words[(size_t)w * sm->register_words + word];
}

static void set_word(struct sm *sm, unsigned w, const struct timed_word *word, uint32_t lanes, bool memory) {
    *word_of(sm, w, word->word) |= word->written;
    lanes_set(masks_of(sm, w, word->word), word->written, lanes, memory);
}

static void clear_word(struct sm *sm, unsigned w, const struct timed_word *word, uint32_t lanes) {
    *word_of(sm, w, word->word) &= ~lanes_clear(masks_of(sm, w, word->word), word->written, lanes);
}

static struct timed_word first_word(const struct timed *timed) {
    return (struct timed_word){timed->word, timed->all, timed->written};
}

static void count_memory(struct sm *sm, unsigned w, uint32_t lanes, bool atomic, uint16_t by) {
    struct thread_board *board = sm->regroup->board;
    for (BITS_EACH(lane, lanes)) {
        const unsigned thread = w * LANES_MAX + lane;
        board->memory[thread] = (uint16_t)(board->memory[thread] + by);
        board->atomics[thread] = (uint16_t)(board->atomics[thread] + (atomic ? by : 0));
    }
}

/* Lanes of the warp, among these, for which memory must be quieter before the instruction. */
static uint32_t find_unordered(const struct sm *sm, unsigned w, uint32_t lanes, const struct timed *timed) {
    const struct thread_board *board = sm->regroup->board;
    const bool fence = timed->order == ORDER_FENCE;
    uint32_t wait = 0;
    if (!fence && timed->order != ORDER_AFTER_ATOMICS && timed->order != ORDER_COPY)
        return 0;
    for (BITS_EACH(lane, lanes)) {
        const unsigned thread = w * LANES_MAX + lane;
        wait |= (uint32_t)((fence ? board->memory[thread] : board->atomics[thread]) != 0) << lane;
    }
    return wait;
}

/* Lanes of the warp, among these, that the instruction waits for. */
static struct lanes_pending find_pending(const struct sm *sm, unsigned w, uint32_t lanes, const struct timed *timed) {
    struct lanes_pending sum = {0, 0};
    lanes_add(masks_of(sm, w, timed->word), *word_of(sm, w, timed->word) & timed->all, &sum);
    for (unsigned i = 0; i < timed->more_count; i++) {
        const struct timed_word *word = &timed->more[i];
        lanes_add(masks_of(sm, w, word->word), *word_of(sm, w, word->word) & word->all, &sum);
    }
    const uint32_t unordered = timed->order == ORDER_NONE ? 0 : find_unordered(sm, w, lanes, timed);
    return (struct lanes_pending){(sum.any | unordered) & lanes, (sum.memory | unordered) & lanes};
}

enum sm_wait sm_board_wait(const struct sm *sm, const struct group *group) {
    const struct timed *timed = &sm->timed[group->pc];
    enum sm_wait wait = WAIT_TURN;
    for (uint32_t rest = group->lanes; rest && wait != WAIT_MEMORY;) {
        unsigned w;
        const uint32_t lanes = threads_take_warp(0, group->threads, &rest, &w);
        const struct lanes_pending pending = find_pending(sm, w, lanes, timed);
        wait = pending.memory ? WAIT_MEMORY : pending.any ? WAIT_REGISTER : wait;
    }
    return wait;
}

enum sm_wait sm_board_look(struct sm *sm, unsigned slot, const struct group *group) {
    uint64_t *blocked = &sm->regroup->board->blocked;
    const enum sm_wait wait = sm_board_wait(sm, group);
    *blocked = (*blocked & ~(UINT64_C(1) << slot)) | (uint64_t)(wait != WAIT_TURN) << slot;
    return wait;
}

/* ---- flights ---- */

/* sm.late_guards: what it writes guards later. */
static void hold_guards(struct sm *sm, uint32_t number, unsigned w, uint32_t lanes) {
    const struct timed_guards *guards = &sm->guards.of[sm->flights[number].pc];
    for (unsigned i = 0; i < guards->count; i++) {
        const struct timed_word word = {guards->of[i].word, guards->of[i].bit, guards->of[i].bit};
        set_word(sm, w, &word, lanes, false);
        for (BITS_EACH(lane, lanes))
            sm->regroup->board->guards[(size_t)(w * LANES_MAX + lane) * sm->guards.count + guards->of[i].number] =
                (uint16_t)(number + 1);
    }
}

/* They guard now, but in threads of which a newer flight writes them. */
static void free_guards(struct sm *sm, uint32_t number, unsigned w, uint32_t lanes) {
    const struct timed_guards *guards = &sm->guards.of[sm->flights[number].pc];
    for (unsigned i = 0; i < guards->count; i++) {
        const struct timed_word word = {guards->of[i].word, guards->of[i].bit, guards->of[i].bit};
        uint32_t last = 0;
        for (BITS_EACH(lane, lanes)) {
            uint16_t *of =
                &sm->regroup->board->guards[(size_t)(w * LANES_MAX + lane) * sm->guards.count + guards->of[i].number];
            if (*of != number + 1)
                continue;
            *of = 0;
            last |= UINT32_C(1) << lane;
        }
        clear_word(sm, w, &word, last);
    }
}

static void note_next(struct sm *sm, uint32_t number, uint32_t lanes, const struct executed *executed) {
    struct thread_board *board = sm->regroup->board;
    const uint16_t *threads = sm->regroup->threads[number];
    for (BITS_EACH(lane, lanes)) {
        board->next[threads[lane]] = threads_next(executed, lane);
        board->from[threads[lane]] = sm->flights[number].warp;
    }
}

void sm_board_issued(struct sm *sm, uint32_t number, uint32_t lanes, const struct executed *executed,
                     const struct access *access) {
    struct flight *flight = &sm->flights[number];
    const struct timed *timed = &sm->timed[flight->pc];
    const struct timed_word first = first_word(timed);
    const bool unit = timed->unit == SM_UNIT_MEMORY;
    const bool memory = unit && (access->kind != ACCESS_NONE ? access->space != SPACE_SHARED : timed->parameter != 0);
    note_next(sm, number, lanes, executed);
    sm->regroup->board->tracked[number] = lanes;
    flight->landed = false;
    for (uint32_t rest = lanes; rest;) {
        unsigned w;
        const uint32_t here = threads_take_warp(0, sm->regroup->threads[number], &rest, &w);
        set_word(sm, w, &first, here, memory);
        for (unsigned i = 0; i < timed->more_count; i++)
            set_word(sm, w, &timed->more[i], here, memory);
        if (timed->order == ORDER_GUARDS)
            hold_guards(sm, number, w, here);
        if (unit)
            count_memory(sm, w, here, flight->ticket != NO_TICKET, 1);
    }
}

bool sm_board_written(struct sm *sm, uint32_t number) {
    struct flight *flight = &sm->flights[number];
    const struct timed *timed = &sm->timed[flight->pc];
    const struct timed_word first = first_word(timed);
    const bool late = timed->order == ORDER_GUARDS, again = late && flight->landed;
    for (uint32_t rest = sm->regroup->board->tracked[number]; rest;) {
        unsigned w;
        const uint32_t here = threads_take_warp(0, sm->regroup->threads[number], &rest, &w);
        if (again) {
            free_guards(sm, number, w, here);
            continue;
        }
        clear_word(sm, w, &first, here);
        for (unsigned i = 0; i < timed->more_count; i++)
            clear_word(sm, w, &timed->more[i], here);
        if (timed->unit == SM_UNIT_MEMORY)
            count_memory(sm, w, here, flight->ticket != NO_TICKET, UINT16_MAX);
    }
    return !late || !sm_keeps_guards(sm, number);
}

/* ---- threads ---- */

/* Of these lanes, all of the warp, those whose threads are among its lanes `home`. */
static uint32_t lanes_with(const uint16_t *threads, uint32_t lanes, uint32_t home) {
    uint32_t with = 0;
    if (!(lanes & ~threads_in_place(threads, LANES_MAX)))
        return lanes & home;
    for (BITS_EACH(lane, lanes))
        with |= (home >> threads[lane] % LANES_MAX & 1) << lane;
    return with;
}

/* These lanes of the warp wait so from now on. */
static void set_away(struct sm *sm, unsigned w, uint32_t lanes, struct lanes_pending wait) {
    struct thread_board *board = sm->regroup->board;
    const uint32_t before = board->away_memory[w];
    board->away[w] = (board->away[w] & ~lanes) | wait.any;
    board->away_memory[w] = (before & ~lanes) | wait.memory;
    for (BITS_EACH(lane, before ^ board->away_memory[w])) {
        const unsigned slot = board->from[w * LANES_MAX + lane];
        const bool began = board->away_memory[w] >> lane & 1;
        board->at_memory[slot] += began ? 1 : UINT32_MAX;
        sm->regroup->at_memory += began ? 1 : UINT32_MAX;
        if (board->at_memory[slot] == (began ? 1u : 0u))
            board->changed |= UINT64_C(1) << slot;
    }
}

uint32_t sm_board_ready(struct sm *sm, const uint16_t *threads, uint32_t lanes) {
    const struct thread_board *board = sm->regroup->board;
    uint32_t ready = 0;
    for (uint32_t rest = lanes, here; rest; rest &= ~here) {
        const unsigned first = threads[bits_first(rest)], w = first / LANES_MAX;
        const uint32_t pc = board->next[first], of_warp = rest & threads_of(threads, w, LANES_MAX);
        here = 0;
        for (BITS_EACH(lane, of_warp))
            here |= (uint32_t)(board->next[threads[lane]] == pc) << lane;
        uint32_t left = here;
        unsigned same;
        const uint32_t home = threads_take_warp(0, threads, &left, &same);
        const struct lanes_pending wait = find_pending(sm, w, home, &sm->timed[pc]);
        if (wait.any | (board->away[w] & home))
            set_away(sm, w, home, wait);
        ready |= wait.any ? here & ~lanes_with(threads, here, wait.any) : here;
    }
    return ready;
}

uint32_t sm_board_freed(struct sm *sm, const uint16_t *threads, uint32_t lanes) {
    uint32_t away = 0;
    for (uint32_t rest = lanes, here; rest; rest &= ~here) {
        const unsigned w = threads[bits_first(rest)] / LANES_MAX;
        here = rest & threads_of(threads, w, LANES_MAX);
        if (sm->regroup->board->away[w])
            away |= lanes_with(threads, here, sm->regroup->board->away[w]);
    }
    return away ? sm_board_ready(sm, threads, away) : 0;
}
