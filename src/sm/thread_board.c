/* SPDX-License-Identifier: Apache-2.0 */
/* The scoreboard by thread of groups that form anew. A thread has several instructions in flight, in order: it comes back to
 * the mechanism when the registers that its next instruction reads and writes are there, whatever else it still waits for. So
 * what stands in slots can issue, and threads whose data come at different times part and may form other groups; what a thread
 * has in flight does not depend on the groups that it is in.
 *
 * Threads that have issued together since are a troop (struct board_troop): what they wait for is kept once for all of them.
 * When a troop dissolves every thread takes with it what it waits for.
 *
 * It is exact, register by register and thread by thread. Fences wait for the thread's own accesses, accesses for its own
 * atomics. Where some threads stand for others (a group that names `also`, guards known beforehand) these have not waited
 * for what they issue next, and their slot does. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "simt/threads.h"
#include "sm/flight.h"
#include "sm/ready.h"
#include "sm/regroup.h"
#include "sm/thread_board.h"

void sm_board_copy(struct thread_board *board, uint32_t to, uint32_t from) {
    const struct board_group *group = &board->groups[from];
    struct board_group *copy = &board->groups[to];
    memcpy(copy, group, offsetof(struct board_group, parts));
    for (uint32_t i = 0; i < group->count; i++)
        copy->parts[i] = group->parts[i];
}

/* Lanes of the warp, of threads issued from the slot, wait so before they go on at the PC. */
static void add_waiting(struct thread_board *board, unsigned w, uint32_t pc, unsigned from, struct lanes_pending wait) {
    struct board_away *away = &board->away[w];
    struct board_waiting *one = away->items, *const end = one + away->count;
    while (one < end && (one->pc != pc || one->from != from))
        one++;
    if (one == end) {
        *one = (struct board_waiting){.pc = pc, .from = from};
        away->count++;
    }
    one->wait.any |= wait.any, one->wait.memory |= wait.memory;
    away->lanes |= wait.any;
}

/* ---- troops ---- */

/* The troop that these threads are, all of them; NULL: they are none. */
static struct board_troop *find_troop(struct thread_board *board, const uint16_t *threads, uint32_t lanes) {
    const unsigned number = board->troop_of[threads[bits_first(lanes)]];
    if (!number)
        return NULL;
    struct board_troop *troop = &board->troops[number - 1];
    return troop->lanes == lanes && !(lanes & ~threads_equal(threads, troop->threads)) ? troop : NULL;
}

/* That the flight's threads still are; NULL: it has dissolved. */
static struct board_troop *troop_of(const struct thread_board *board, const struct board_group *group) {
    if (group->troop == NO_TROOP)
        return NULL;
    struct board_troop *troop = &board->troops[group->troop];
    return troop->generation == group->generation ? troop : NULL;
}

/* Each of its threads is on its own from now on, with what it waits for. */
static void dissolve(struct sm *sm, struct board_troop *troop) {
    struct thread_board *board = sm->regroup->board;
    const struct board_group *group = &troop->group;
    for (uint64_t rest = troop->words; rest; rest &= rest - 1)
        for (unsigned word = bits_first64(rest); word < sm->register_words; word += 64)
            board_hand_over(sm, troop, word);
    troop->words = 0;
    for (const struct board_part *part = group->parts; troop->away && part < group->parts + group->count; part++)
        add_waiting(board, part->warp, troop->pc, group->from,
                    (struct lanes_pending){part->home, troop->at_memory ? part->home : 0});
    for (BITS_EACH(lane, troop->lanes))
        board->troop_of[troop->threads[lane]] = 0;
    troop->generation++;
    troop->free = board->free_troop;
    board->free_troop = (uint32_t)(troop - board->troops);
}

static void dissolve_all(struct sm *sm, const uint16_t *threads, uint32_t lanes) {
    struct thread_board *board = sm->regroup->board;
    for (BITS_EACH(lane, lanes))
        if (board->troop_of[threads[lane]])
            dissolve(sm, &board->troops[board->troop_of[threads[lane]] - 1]);
}

/* These threads, which are in no troop; NULL: there are enough. */
static struct board_troop *form_troop(const struct sm *sm, const uint16_t *threads, uint32_t lanes) {
    struct thread_board *board = sm->regroup->board;
    if (board->free_troop == NO_TROOP)
        return NULL;
    const uint32_t number = board->free_troop;
    struct board_troop *troop = &board->troops[number];
    board->free_troop = troop->free;
    memcpy(troop->threads, threads, sizeof troop->threads);
    troop->lanes = lanes;
    troop->away = troop->at_memory = false;
    board_divide(&troop->group, threads, lanes);
    troop->residual = board->fences || board->atomics_out;
    for (uint32_t i = 0; i < troop->group.count && !troop->residual; i++)
        troop->residual = board_waits(sm, troop->group.parts[i].warp, troop->group.parts[i].home);
    for (BITS_EACH(lane, lanes))
        board->troop_of[threads[lane]] = (uint8_t)(number + 1);
    return troop;
}

/* What threads of the troop wait for by themselves before that instruction. */
static struct lanes_pending find_residual(const struct sm *sm, struct board_troop *troop, const struct timed *timed) {
    const struct thread_board *board = sm->regroup->board;
    const struct board_group *group = &troop->group;
    struct lanes_pending sum = {0, 0};
    bool clean = !board->fences && !board->atomics_out;
    for (const struct board_part *part = group->parts; part < group->parts + group->count; part++) {
        if (!board->marked[part->warp] && clean)
            continue;
        clean = false;
        const struct lanes_pending pending = board_pending(sm, part->warp, part->home, timed);
        sum.any |= pending.any, sum.memory |= pending.memory;
    }
    troop->residual &= !clean;
    return sum;
}

enum sm_wait sm_board_wait(struct sm *sm, const struct group *group) {
    const struct timed *timed = &sm->timed[group->pc];
    struct board_troop *troop = find_troop(sm->regroup->board, group->threads, group->lanes);
    enum sm_wait wait = troop ? sm_find_hazard(troop->pending, timed) : WAIT_TURN;
    if (troop && !troop->residual)
        return wait;
    if (!troop)
        dissolve_all(sm, group->threads, group->lanes);
    for (uint32_t rest = group->lanes; rest && wait != WAIT_MEMORY;) {
        unsigned w;
        const uint32_t lanes = threads_take_warp(0, group->threads, &rest, &w);
        const struct lanes_pending pending = board_pending(sm, w, lanes, timed);
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
        board_set(sm, w, &word, lanes, false);
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
        board_clear(sm, w, &word, last);
    }
}

/* Where threads of the group go on; NO_PC: that is noted of each, as of those that wait for others before they do. */
static void note_next(struct sm *sm, uint32_t number, uint32_t lanes, const struct executed *executed) {
    struct thread_board *board = sm->regroup->board;
    struct board_group *group = &board->groups[number];
    const uint16_t *threads = sm->regroup->threads[number];
    const struct inst *code = sm->module->code;
    group->taken = 0, group->next = executed->pc + 1;
    if (executed->flow == FLOW_NEXT && group->next < sm->module->code_count && !inst_meets(&code[group->next]))
        return;
    const bool diverges = executed->flow == FLOW_BRANCH && executed->taken && executed->taken != executed->lanes;
    const bool others = executed->flow == FLOW_BARRIER || executed->flow == FLOW_EXIT;
    group->taken = diverges ? executed->taken : 0, group->target = executed->target;
    group->next = diverges ? executed->pc + 1 : others ? NO_PC : threads_next_of_all(executed);
    if (group->next < sm->module->code_count && !inst_meets(&code[group->next]) &&
        (!diverges || !inst_meets(&code[group->target])))
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

static void set_registers(struct sm *sm, uint32_t number, bool memory) {
    const struct flight *flight = &sm->flights[number];
    const struct board_group *group = &sm->regroup->board->groups[number];
    const struct timed *timed = &sm->timed[flight->pc];
    const struct timed_word first = board_first_word(timed);
    for (const struct board_part *part = group->parts; part < group->parts + group->count; part++) {
        const unsigned w = part->warp;
        board_set(sm, w, &first, part->home, memory);
        for (unsigned i = 0; i < timed->more_count; i++)
            board_set(sm, w, &timed->more[i], part->home, memory);
        if (timed->order == ORDER_GUARDS)
            hold_guards(sm, number, w, part->home);
        if (timed->unit == SM_UNIT_MEMORY)
            board_count_memory(sm, w, part->home, flight->ticket != NO_TICKET, true);
    }
}

/* Do all threads of the flight go on as one? Fences and accesses behind atomics wait by thread, predicates that guard late too. */
static bool goes_as_one(const struct sm *sm, uint32_t number, uint32_t lanes, const struct timed *timed) {
    const struct thread_board *board = sm->regroup->board;
    const struct flight *flight = &sm->flights[number];
    return board->groups[number].next != NO_PC && flight->lanes == lanes && flight->ticket == NO_TICKET &&
           !(board->fences && timed->unit == SM_UNIT_MEMORY) && timed->order != ORDER_GUARDS &&
           timed->order != ORDER_COPY;
}

/* The troop needs next what its flight writes, which takes longer than its threads to come back, and nothing of memory: it waits as one
 * from now on, as it would when they come. Not where flights may be short, of which coming back takes one. */
static bool waits_at_once(struct sm *sm, uint32_t number, struct board_troop *troop, const struct timed *timed) {
    const struct board_group *group = &sm->regroup->board->groups[number];
    const struct timed *next = &sm->timed[group->next];
    if (group->taken || timed->unit == SM_UNIT_MEMORY || next->word != timed->word || !(next->all & timed->written) ||
        sm->regroup->issue_cycles != sm->wide || sm->wide >= WHEEL_SLOTS || sm->flights_used > FLIGHTS_MAX / 2)
        return false;
    if ((troop->residual && find_residual(sm, troop, next).any) ||
        sm_find_hazard(troop->pending, next) != WAIT_REGISTER)
        return false;
    troop->away = true, troop->pc = group->next, troop->at_memory = false;
    return true;
}

bool sm_board_issued(struct sm *sm, uint32_t number, uint32_t lanes, const struct executed *executed,
                     const struct access *access) {
    struct thread_board *board = sm->regroup->board;
    struct flight *flight = &sm->flights[number];
    struct board_group *group = &board->groups[number];
    const uint16_t *threads = sm->regroup->threads[number];
    const struct timed *timed = &sm->timed[flight->pc];
    const bool unit = timed->unit == SM_UNIT_MEMORY;
    const bool memory = unit && (access->kind != ACCESS_NONE ? access->space != SPACE_SHARED : timed->parameter != 0);
    note_next(sm, number, lanes, executed);
    const bool one = goes_as_one(sm, number, lanes, timed);
    struct board_troop *troop = one ? find_troop(board, threads, lanes) : NULL;
    if (!troop)
        dissolve_all(sm, threads, lanes);
    if (one && !troop)
        troop = form_troop(sm, threads, lanes);
    group->from = flight->warp, group->count = 0;
    board->tracked[number] = lanes;
    flight->landed = false;
    if (troop) {
        troop->group.from = flight->warp;
        group->troop = (uint32_t)(troop - board->troops), group->generation = troop->generation;
        sm_set_pending(troop->pending, timed, memory);
        troop->words |= board_words_of(timed);
        return waits_at_once(sm, number, troop, timed);
    }
    group->troop = NO_TROOP;
    board_divide(group, threads, lanes);
    if (frees(timed))
        set_registers(sm, number, memory);
    return false;
}

/* The flight's threads apart, if they were a troop when it issued. */
static void leave_troop(struct sm *sm, uint32_t number, uint32_t lanes) {
    struct thread_board *board = sm->regroup->board;
    struct board_group *group = &board->groups[number];
    struct board_troop *troop = troop_of(board, group);
    if (troop)
        dissolve(sm, troop);
    if (!group->count)
        board_divide(group, sm->regroup->threads[number], lanes);
    group->troop = NO_TROOP;
}

void sm_board_split(struct sm *sm, uint32_t number, uint32_t part) {
    leave_troop(sm, number, sm->flights[number].lanes | sm->regroup->board->tracked[number]);
    sm_board_copy(sm->regroup->board, part, number);
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

static void add_away(struct sm *sm, unsigned w, uint32_t pc, unsigned from, struct lanes_pending wait) {
    add_waiting(sm->regroup->board, w, pc, from, wait);
    count_at_memory(sm, from, 0, wait.memory);
}

/* Of these lanes of the warp, which go on at the PC, those that still wait. */
static uint32_t send_away(struct sm *sm, unsigned w, uint32_t home, uint32_t pc, unsigned from) {
    const struct lanes_pending wait = board_pending(sm, w, home, &sm->timed[pc]);
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

/* Of these lanes of the warp, which are the group's there, those that still wait. */
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
    board_divide(group, threads, lanes);
    group->next = NO_PC, group->taken = 0;
    group->troop = NO_TROOP;
}

/* The troop comes, and goes on or waits as one; false: its threads differ in what they wait for. */
static bool come_as_one(struct sm *sm, struct board_troop *troop, const struct board_group *group, uint32_t *ready) {
    const struct timed *next = &sm->timed[group->next],
                       *target = &sm->timed[group->taken ? group->target : group->next];
    if (troop->residual && find_residual(sm, troop, next).any)
        return false;
    if (troop->residual && group->taken && find_residual(sm, troop, target).any)
        return false;
    const enum sm_wait wait = sm_find_hazard(troop->pending, next);
    *ready = troop->lanes;
    if (wait == WAIT_TURN && (!group->taken || sm_find_hazard(troop->pending, target) == WAIT_TURN))
        return true;
    if (group->taken)
        return false;
    troop->away = true, troop->pc = group->next, troop->at_memory = wait == WAIT_MEMORY;
    if (troop->at_memory)
        count_at_memory(sm, troop->group.from, 0, troop->lanes);
    *ready = 0;
    return true;
}

uint32_t sm_board_ready(struct sm *sm, struct board_group *group, const uint16_t *threads, uint32_t lanes) {
    struct board_troop *troop = troop_of(sm->regroup->board, group);
    uint32_t ready = lanes;
    if (troop && lanes == troop->lanes && come_as_one(sm, troop, group, &ready))
        return ready;
    ready = lanes;
    if (troop)
        dissolve(sm, troop);
    if (!group->count)
        board_divide(group, threads, lanes);
    for (const struct board_part *part = group->parts; part < group->parts + group->count; part++) {
        const uint32_t home = board_home_of(group, part, threads, lanes);
        if (!home)
            continue;
        assert(!(home & sm->regroup->board->away[part->warp].lanes));
        const uint32_t taken = group->taken ? board_home_of(group, part, threads, lanes & group->taken) : 0;
        const uint32_t wait = send_part(sm, group, part, home, taken);
        ready &= ~(wait ? board_lanes_of(group, part, threads, lanes, wait) : 0);
    }
    return ready;
}

/* The troop, of which something has been written: its lanes, if it need not wait any longer. */
static uint32_t call_troop(struct sm *sm, struct board_troop *troop) {
    if (!troop->away)
        return 0;
    const enum sm_wait wait = sm_find_hazard(troop->pending, &sm->timed[troop->pc]);
    if (troop->at_memory && wait != WAIT_MEMORY) {
        troop->at_memory = false;
        count_at_memory(sm, troop->group.from, troop->lanes, 0);
    }
    troop->away = wait != WAIT_TURN;
    return troop->away ? 0 : troop->lanes;
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
        const struct lanes_pending wait = board_pending(sm, w, mine, &sm->timed[one->pc]);
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

/* A part of the flight's instruction is there, of these lanes of the warp. again: its predicates guard. */
static inline void write_part(struct sm *sm, uint32_t number, unsigned w, uint32_t home, bool again) {
    const struct flight *flight = &sm->flights[number];
    const struct timed *timed = &sm->timed[flight->pc];
    const struct timed_word first = board_first_word(timed);
    if (again) {
        free_guards(sm, number, w, home);
        return;
    }
    board_clear(sm, w, &first, home);
    for (unsigned i = 0; i < timed->more_count; i++)
        board_clear(sm, w, &timed->more[i], home);
    if (timed->unit == SM_UNIT_MEMORY)
        board_count_memory(sm, w, home, flight->ticket != NO_TICKET, false);
}

/* What the flight writes is there: of its threads that are away those that need be no longer. *over false: it is kept until its
 * predicates guard. */
static uint32_t write_registers(struct sm *sm, uint32_t number, bool *over) {
    const struct flight *flight = &sm->flights[number];
    struct thread_board *board = sm->regroup->board;
    struct board_group *group = &board->groups[number];
    const uint16_t *threads = sm->regroup->threads[number];
    const struct timed *timed = &sm->timed[flight->pc];
    const bool late = timed->order == ORDER_GUARDS, again = late && flight->landed;
    const uint32_t lanes = frees(timed) ? board->tracked[number] : 0;
    uint32_t ready = 0;
    if (!group->count)
        board_divide(group, threads, board->tracked[number]);
    for (const struct board_part *part = group->parts; lanes && part < group->parts + group->count; part++) {
        const uint32_t here = board_home_of(group, part, threads, lanes);
        if (!here)
            continue;
        write_part(sm, number, part->warp, here, again);
        const uint32_t away = board->away[part->warp].lanes & here;
        if (away)
            ready |= board_lanes_of(group, part, threads, lanes, call_back(sm, part->warp, away));
    }
    *over = !late || !sm_keeps_guards(sm, number);
    return ready;
}

uint32_t sm_board_written(struct sm *sm, uint32_t number, bool *over) {
    struct thread_board *board = sm->regroup->board;
    struct board_troop *troop = troop_of(board, &board->groups[number]);
    if (troop) {
        sm_clear_pending(troop->pending, &sm->timed[sm->flights[number].pc]);
        *over = true;
        return call_troop(sm, troop);
    }
    return write_registers(sm, number, over);
}
