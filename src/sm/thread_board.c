/* SPDX-License-Identifier: Apache-2.0 */
/* The scoreboard by thread of groups that form anew. A thread has several instructions in flight, in order: it comes back to
 * the mechanism when the registers that its next instruction reads and writes are there, whatever else it still waits for. So
 * what stands in slots can issue, and threads whose data come at different times part and may form other groups; what a thread
 * has in flight does not depend on the groups that it is in.
 *
 * It is exact, register by register and thread by thread. Fences wait for the thread's own accesses, accesses for its own
 * atomics. Where some threads stand for others (a group that names `also`, guards known beforehand) these have not waited
 * for what they issue next, and their slot does. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "simt/threads.h"
#include "sm/flight.h"
#include "sm/regroup.h"

/* Threads in flight by memory order, for modules that ask. */
static bool has_fences(const struct sm *sm) {
    for (uint32_t pc = 0; pc < sm->module->code_count; pc++)
        if (sm->timed[pc].order == ORDER_FENCE)
            return true;
    return false;
}

struct thread_board *sm_board_create(struct sm *sm) {
    struct thread_board *board = ARENA_NEW(sm->arena, struct thread_board);
    const size_t warps = sm->warp_count, threads = warps * LANES_MAX;
    board->registers = sm->register_words * 64;
    board->words = ARENA_ARRAY(sm->arena, uint64_t, warps * sm->register_words);
    board->lanes = ARENA_ARRAY(sm->arena, struct lanes_pending, warps * board->registers);
    board->tracked = ARENA_ARRAY(sm->arena, uint32_t, FLIGHTS_MAX);
    board->groups = ARENA_ARRAY(sm->arena, struct board_group, FLIGHTS_MAX);
    board->next = ARENA_ARRAY(sm->arena, uint32_t, threads);
    board->from = ARENA_ARRAY(sm->arena, uint8_t, threads);
    board->fences = has_fences(sm);
    board->memory = ARENA_ARRAY(sm->arena, struct lane_counts, board->fences ? warps : 1);
    board->atomics = ARENA_ARRAY(sm->arena, struct lane_counts, warps);
    board->away = ARENA_ARRAY(sm->arena, struct board_away, warps);
    board->guards = ARENA_ARRAY(sm->arena, uint16_t, threads * sm->guards.count);
    return board;
}

/* ---- groups by warps ---- */

/* The lanes at home of these lanes' threads, all of one warp. */
static uint32_t find_home(const uint16_t *threads, uint32_t lanes) {
    uint32_t home = 0;
    for (BITS_EACH(lane, lanes))
        home |= UINT32_C(1) << threads[lane] % LANES_MAX;
    return home;
}

static void split(struct board_group *group, const uint16_t *threads, uint32_t lanes) {
    group->in_place = !(lanes & ~threads_in_place(threads, LANES_MAX));
    group->count = 0;
    for (uint32_t rest = lanes, here; rest; rest &= ~here) {
        const unsigned warp = threads[bits_first(rest)] / LANES_MAX;
        here = rest & threads_of(threads, warp, LANES_MAX);
        group->parts[group->count++] = (struct board_part){group->in_place ? here : find_home(threads, here), warp};
    }
}

/* Of these lanes of the group those whose threads the part has; as lanes of their warp. */
static uint32_t home_of(const struct board_group *group, const struct board_part *part, const uint16_t *threads,
                        uint32_t lanes) {
    if (group->in_place)
        return lanes & part->home;
    return find_home(threads, lanes & threads_of(threads, part->warp, LANES_MAX));
}

/* And back: of these lanes of the group those whose threads are these of the part. */
static uint32_t lanes_of(const struct board_group *group, const struct board_part *part, const uint16_t *threads,
                         uint32_t lanes, uint32_t home) {
    uint32_t with = 0;
    if (group->in_place)
        return lanes & home;
    for (BITS_EACH(lane, lanes & threads_of(threads, part->warp, LANES_MAX)))
        with |= (home >> threads[lane] % LANES_MAX & 1) << lane;
    return with;
}

void sm_board_copy(struct thread_board *board, uint32_t to, uint32_t from) {
    const struct board_group *group = &board->groups[from];
    memcpy(&board->groups[to], group, offsetof(struct board_group, parts) + group->count * sizeof *group->parts);
    board->groups[to].keeps = false, board->groups[to].other = NO_FLIGHT;
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

/* One more of each of these lanes, or one less. */
static void count_lanes(struct lane_counts *counts, uint32_t lanes, bool more) {
    for (unsigned i = 0; lanes; i++) {
        const uint32_t carry = lanes & (more ? counts->bits[i] : ~counts->bits[i]);
        counts->bits[i] ^= lanes;
        lanes = carry;
    }
}

static uint32_t lanes_counted(const struct lane_counts *counts) {
    uint32_t lanes = 0;
    for (unsigned i = 0; i < COUNT_BITS; i++)
        lanes |= counts->bits[i];
    return lanes;
}

static void count_memory(struct sm *sm, unsigned w, uint32_t lanes, bool atomic, bool more) {
    struct thread_board *board = sm->regroup->board;
    if (board->fences)
        count_lanes(&board->memory[w], lanes, more);
    if (!atomic)
        return;
    board->atomics_out += more ? bits_count(lanes) : -bits_count(lanes);
    count_lanes(&board->atomics[w], lanes, more);
}

/* Lanes of the warp for which memory must be quieter before the instruction. */
static uint32_t find_unordered(const struct sm *sm, unsigned w, const struct timed *timed) {
    const struct thread_board *board = sm->regroup->board;
    if (timed->order == ORDER_FENCE)
        return lanes_counted(&board->memory[w]);
    if (!board->atomics_out || (timed->order != ORDER_AFTER_ATOMICS && timed->order != ORDER_COPY))
        return 0;
    return lanes_counted(&board->atomics[w]);
}

/* Lanes of the warp, among these, that the instruction waits for. */
static struct lanes_pending find_pending(const struct sm *sm, unsigned w, uint32_t lanes, const struct timed *timed) {
    struct lanes_pending sum = {0, 0};
    lanes_add(masks_of(sm, w, timed->word), *word_of(sm, w, timed->word) & timed->all, &sum);
    for (unsigned i = 0; i < timed->more_count; i++) {
        const struct timed_word *word = &timed->more[i];
        lanes_add(masks_of(sm, w, word->word), *word_of(sm, w, word->word) & word->all, &sum);
    }
    const uint32_t unordered = timed->order == ORDER_NONE ? 0 : find_unordered(sm, w, timed);
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

/* Where threads of the group go on; NO_PC: that is noted of each, as of those that wait for others before they do. */
static void note_next(struct sm *sm, uint32_t number, uint32_t lanes, const struct executed *executed) {
    struct thread_board *board = sm->regroup->board;
    struct board_group *group = &board->groups[number];
    const uint16_t *threads = sm->regroup->threads[number];
    const struct inst *code = sm->module->code;
    const bool parts = executed->flow == FLOW_BRANCH && executed->taken && executed->taken != executed->lanes;
    const bool others = executed->flow == FLOW_BARRIER || executed->flow == FLOW_EXIT;
    group->taken = parts ? executed->taken : 0, group->target = executed->target;
    group->next = parts ? executed->pc + 1 : others ? NO_PC : threads_next_of_all(executed);
    if (group->next < sm->module->code_count && !inst_meets(&code[group->next]) &&
        (!parts || !inst_meets(&code[group->target])))
        return;
    group->next = NO_PC, group->taken = 0;
    for (BITS_EACH(lane, lanes)) {
        board->next[threads[lane]] = threads_next(executed, lane);
        board->from[threads[lane]] = sm->flights[number].warp;
    }
}

/* Does anything wait for its write-back? */
static bool frees(const struct timed *timed) {
    return timed->written || timed->more_count || timed->unit == SM_UNIT_MEMORY || timed->order == ORDER_GUARDS;
}

/* All its threads need next what the instruction writes, which nothing but its write-back delays. */
static bool is_needed(const struct sm *sm, const struct board_group *group, const struct timed *timed) {
    if (group->next == NO_PC || group->taken || timed->unit == SM_UNIT_MEMORY || timed->more_count ||
        timed->order == ORDER_GUARDS)
        return false;
    const struct timed *next = &sm->timed[group->next];
    return next->word == timed->word && (next->all & timed->written) != 0;
}

static void set_registers(struct sm *sm, uint32_t number, bool memory) {
    const struct flight *flight = &sm->flights[number];
    const struct board_group *group = &sm->regroup->board->groups[number];
    const struct timed *timed = &sm->timed[flight->pc];
    const struct timed_word first = first_word(timed);
    for (const struct board_part *part = group->parts; part < group->parts + group->count; part++) {
        const unsigned w = part->warp;
        set_word(sm, w, &first, part->home, memory);
        for (unsigned i = 0; i < timed->more_count; i++)
            set_word(sm, w, &timed->more[i], part->home, memory);
        if (timed->order == ORDER_GUARDS)
            hold_guards(sm, number, w, part->home);
        if (timed->unit == SM_UNIT_MEMORY)
            count_memory(sm, w, part->home, flight->ticket != NO_TICKET, true);
    }
}

void sm_board_issued(struct sm *sm, uint32_t number, uint32_t lanes, const struct executed *executed,
                     const struct access *access) {
    struct flight *flight = &sm->flights[number];
    struct board_group *group = &sm->regroup->board->groups[number];
    const struct timed *timed = &sm->timed[flight->pc];
    const bool unit = timed->unit == SM_UNIT_MEMORY;
    const bool memory = unit && (access->kind != ACCESS_NONE ? access->space != SPACE_SHARED : timed->parameter != 0);
    split(group, sm->regroup->threads[number], lanes);
    note_next(sm, number, lanes, executed);
    group->keeps = flight->lanes == lanes && is_needed(sm, group, timed);
    group->kept = 0, group->other = NO_FLIGHT, group->from = flight->warp;
    sm->regroup->board->tracked[number] = lanes;
    flight->landed = false;
    if (!group->keeps && frees(timed))
        set_registers(sm, number, memory);
}

void sm_board_sent(struct sm *sm, uint32_t number, uint32_t ahead) {
    struct thread_board *board = sm->regroup->board;
    struct board_group *group = &board->groups[number];
    if (group->keeps && ahead != NO_FLIGHT) {
        group->other = ahead;
        board->groups[ahead].keeps = false, board->groups[ahead].other = number;
        return;
    }
    if (group->keeps)
        set_registers(sm, number, false);
    group->keeps = false;
    if (ahead != NO_FLIGHT)
        sm_board_copy(board, ahead, number);
}

/* What a flight that keeps its threads writes is there: all of them, if they have come to wait for it. */
static uint32_t let_kept_go(struct thread_board *board, uint32_t number) {
    struct board_group *group = &board->groups[number];
    if (!group->kept && group->other != NO_FLIGHT) /* they come later, and need not wait */
        sm_board_copy(board, group->other, number);
    return group->kept;
}

bool sm_board_written(struct sm *sm, uint32_t number) {
    struct flight *flight = &sm->flights[number];
    const struct board_group *group = &sm->regroup->board->groups[number];
    const struct timed *timed = &sm->timed[flight->pc];
    const struct timed_word first = first_word(timed);
    const bool late = timed->order == ORDER_GUARDS, again = late && flight->landed;
    const uint32_t lanes = frees(timed) && !group->keeps ? sm->regroup->board->tracked[number] : 0;
    for (const struct board_part *part = group->parts; lanes && part < group->parts + group->count; part++) {
        const unsigned w = part->warp;
        const uint32_t here = home_of(group, part, sm->regroup->threads[number], lanes);
        if (again) {
            free_guards(sm, number, w, here);
            continue;
        }
        clear_word(sm, w, &first, here);
        for (unsigned i = 0; i < timed->more_count; i++)
            clear_word(sm, w, &timed->more[i], here);
        if (timed->unit == SM_UNIT_MEMORY)
            count_memory(sm, w, here, flight->ticket != NO_TICKET, false);
    }
    return !late || !sm_keeps_guards(sm, number);
}

/* ---- threads ---- */

/* Of the threads issued from the slot so many no longer wait for memory, and so many more do. */
static void count_at_memory(struct sm *sm, unsigned slot, uint32_t ended, uint32_t began) {
    struct thread_board *board = sm->regroup->board;
    if (!(ended | began))
        return;
    const uint32_t before = board->at_memory[slot], now = before - bits_count(ended) + bits_count(began);
    sm->regroup->at_memory += now - before;
    board->at_memory[slot] = now;
    if (!before != !now)
        board->changed |= UINT64_C(1) << slot;
}

/* Lanes of the warp, of threads issued from the slot, wait so before they go on at the PC. */
static void add_away(struct sm *sm, unsigned w, uint32_t pc, unsigned from, struct lanes_pending wait) {
    struct board_away *away = &sm->regroup->board->away[w];
    struct board_waiting *one = away->items, *const end = one + away->count;
    while (one < end && (one->pc != pc || one->from != from))
        one++;
    if (one == end) {
        *one = (struct board_waiting){.pc = pc, .from = from};
        away->count++;
    }
    one->wait.any |= wait.any, one->wait.memory |= wait.memory;
    away->lanes |= wait.any;
    count_at_memory(sm, from, 0, wait.memory);
}

/* Of these lanes of the warp, which go on at the PC, those that still wait. */
static uint32_t send_away(struct sm *sm, unsigned w, uint32_t home, uint32_t pc, unsigned from) {
    const struct lanes_pending wait = find_pending(sm, w, home, &sm->timed[pc]);
    if (wait.any)
        add_away(sm, w, pc, from, wait);
    return wait.any;
}

/* The same where they may go on at different PCs. */
static uint32_t send_each(struct sm *sm, unsigned w, uint32_t home) {
    const struct thread_board *board = sm->regroup->board;
    const uint32_t *next = board->next + (size_t)w * LANES_MAX;
    const uint8_t *from = board->from + (size_t)w * LANES_MAX;
    uint32_t wait = 0;
    for (uint32_t rest = home, here; rest; rest &= ~here) {
        const unsigned first = bits_first(rest);
        here = 0;
        for (BITS_EACH(lane, rest))
            here |= (uint32_t)(next[lane] == next[first] && from[lane] == from[first]) << lane;
        wait |= send_away(sm, w, here, next[first], from[first]);
    }
    return wait;
}

/* Of these lanes of the warp, which the group's part has and are these of the group, those that still wait. */
static uint32_t send_part(struct sm *sm, const struct board_group *group, const struct board_part *part, uint32_t home,
                          uint32_t taken) {
    const unsigned w = part->warp, from = group->from;
    if (group->next == NO_PC)
        return send_each(sm, w, home);
    uint32_t wait = taken ? send_away(sm, w, taken, group->target, from) : 0;
    if (home & ~taken)
        wait |= send_away(sm, w, home & ~taken, group->next, from);
    return wait;
}

void sm_board_gather(struct board_group *group, const uint16_t *threads, uint32_t lanes) {
    split(group, threads, lanes);
    group->next = NO_PC, group->taken = 0;
    group->keeps = false, group->other = NO_FLIGHT;
}

/* Threads come that need what another flight writes: it keeps them, where they wait for nothing else. */
static bool keep_threads(struct sm *sm, uint32_t number, uint32_t lanes) {
    struct board_group *group = &sm->regroup->board->groups[number];
    const struct timed *timed = &sm->timed[group->next];
    for (const struct board_part *part = group->parts; part < group->parts + group->count; part++)
        if (find_pending(sm, part->warp, part->home, timed).any) {
            set_registers(sm, number, false);
            group->keeps = false, group->other = NO_FLIGHT;
            return false;
        }
    group->kept = lanes;
    return true;
}

uint32_t sm_board_ready(struct sm *sm, const struct board_group *group, const uint16_t *threads, uint32_t lanes) {
    uint32_t ready = lanes;
    if (group->other != NO_FLIGHT) {
        if (keep_threads(sm, group->other, lanes))
            return 0;
        group = &sm->regroup->board->groups[group->other];
    }
    for (const struct board_part *part = group->parts; part < group->parts + group->count; part++) {
        const uint32_t home = home_of(group, part, threads, lanes);
        if (!home)
            continue;
        assert(!(home & sm->regroup->board->away[part->warp].lanes));
        const uint32_t taken = group->taken ? home_of(group, part, threads, lanes & group->taken) : 0;
        const uint32_t wait = send_part(sm, group, part, home, taken);
        ready &= ~(wait ? lanes_of(group, part, threads, lanes, wait) : 0);
    }
    return ready;
}

/* Of these lanes of the warp, which are away, those that need be no longer. */
static uint32_t call_back(struct sm *sm, unsigned w, uint32_t home) {
    struct board_away *away = &sm->regroup->board->away[w];
    uint32_t back = 0;
    for (unsigned i = 0; i < away->count;) {
        struct board_waiting *one = &away->items[i];
        const uint32_t mine = one->wait.any & home;
        i++;
        if (!mine)
            continue;
        const struct lanes_pending wait = find_pending(sm, w, mine, &sm->timed[one->pc]);
        const uint32_t memory = one->wait.memory & mine;
        count_at_memory(sm, one->from, memory & ~wait.memory, wait.memory & ~memory);
        back |= mine & ~wait.any;
        one->wait.any ^= mine ^ wait.any, one->wait.memory ^= memory ^ wait.memory;
        if (!one->wait.any)
            *one = away->items[--away->count], i--;
    }
    away->lanes &= ~back;
    return back;
}

uint32_t sm_board_freed(struct sm *sm, uint32_t number) {
    struct thread_board *board = sm->regroup->board;
    const struct board_group *group = &board->groups[number];
    if (group->keeps)
        return let_kept_go(board, number);
    const uint16_t *threads = sm->regroup->threads[number];
    const uint32_t lanes = frees(&sm->timed[sm->flights[number].pc]) ? board->tracked[number] : 0;
    uint32_t ready = 0;
    for (const struct board_part *part = group->parts; lanes && part < group->parts + group->count; part++) {
        const uint32_t away = board->away[part->warp].lanes & home_of(group, part, threads, lanes);
        if (away)
            ready |= lanes_of(group, part, threads, lanes, call_back(sm, part->warp, away));
    }
    return ready;
}
