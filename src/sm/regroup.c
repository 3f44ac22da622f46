/* SPDX-License-Identifier: Apache-2.0 */
/* The front end of groups that form anew: a group leaves its slot when it issues, its threads are on their own until their
 * instruction is written back, each load's as their data come, and what they form then stands in any slot. With a scoreboard by
 * thread (thread_board.c) they come back as soon as what they issue next needs nothing that is still in flight. */
#include <string.h>

#include "simt/threads.h"
#include "sm/cycle.h"
#include "sm/flight.h"
#include "sm/issue.h"
#include "sm/regroup.h"
#include "sm/wheel.h"

struct regroup *sm_regroup_create(struct sm *sm) {
    struct arena *arena = sm->arena;
    const unsigned warps = sm->warp_count;
    struct regroup *regroup = sm->regroup = ARENA_NEW(arena, struct regroup);
    regroup->threads = arena_alloc_aligned(arena, FLIGHTS_MAX * sizeof *regroup->threads, 64);
    regroup->stays = ARENA_ARRAY(arena, uint32_t, FLIGHTS_MAX);
    regroup->barrier_flight = ARENA_ARRAY(arena, uint16_t, (size_t)warps * LANES_MAX);
    regroup->barrier_slot = ARENA_ARRAY(arena, uint8_t, (size_t)warps * LANES_MAX);
    regroup->board = sm->params.pipeline == SM_SCOREBOARD ? sm_board_create(sm) : NULL;
    return regroup;
}

static void start_threads(struct sm *sm, unsigned warp, uint32_t pc, uint32_t lanes) {
    const uint64_t slots = sm->mechanism->start(sm->control, warp, pc, lanes);
    sm->regroup->alive += bits_count(lanes);
    for (uint64_t rest = slots; rest; rest &= rest - 1)
        sm->progress[bits_first64(rest)] = 0;
    sm_look_again(sm, &sm_formed_groups, slots);
}

void sm_regroup_advance(struct sm *sm) {
    sm->mechanism_wake = NO_CYCLE;
    if (sm->forming) /* else paths have asked for the cycle: path_memory.c, path_turns.c */
        sm_look_again(sm, &sm_formed_groups, sm->forming->advance(sm->control));
}

/* Every unfinished thread waits for memory, or for threads that do. */
static bool threads_at_memory(const struct sm *sm) {
    const struct regroup *all = sm->regroup;
    return all->at_memory && all->at_memory + sm->at_others == all->alive;
}

/* The block of its threads. */
static unsigned place_of(const struct sm *sm, const struct group *group) {
    return group->threads[bits_first(group->lanes)] / LANES_MAX / sm->shape.warps_per_place;
}

/* May threads of a group wait for registers? Where each issues every instruction itself they have come back without. */
static bool asks_board(const struct sm *sm) { return sm->regroup->board && !sm->forming->issues_each; }

/* ---- what stands in slots ---- */

/* A slot whose threads are still out: what it goes on with is fetched meanwhile, but not while they are at a barrier. */
static void consider_held(struct sm *sm, unsigned w) {
    struct sm_warp *warp = &SETS(sm)->warps[w];
    const uint32_t passed = warp->pc - warp->buffer_pc;
    const bool here = passed < warp->buffer_end - warp->buffer_pc || warp->held == WAIT_BARRIER;
    if (!here)
        warp->buffer_pc = warp->buffer_end = warp->pc;
    sm_join_sets(sm, w, here ? warp->held : WAIT_FETCH, SM_UNIT_SP);
    if (warp->held != WAIT_REGISTER)
        SETS(sm)->stalled_long |= set_of(w);
    sm_set_wait(sm, w, here ? warp->held : WAIT_FETCH);
}

/* The group in a slot: whoever is in it has no instruction in flight, or none whose registers it needs. */
static void consider_formed(struct sm *sm, unsigned slot) {
    struct sm_warp *warp = &SETS(sm)->warps[slot];
    if (!set_has(SETS(sm)->used, slot))
        return;
    if (warp->waits) {
        consider_held(sm, slot);
        return;
    }
    const struct timed *timed = &sm->timed[warp->pc];
    enum sm_wait wait = WAIT_TURN;
    if (warp->pc - warp->buffer_pc >= warp->buffer_end - warp->buffer_pc) {
        wait = WAIT_FETCH;
        warp->buffer_end = warp->pc;
    } else if (timed->order == ORDER_FENCE && !sm->forming->more && sm->places[place_of(sm, &warp->group)].stores)
        wait = WAIT_MEMORY;
    else if (asks_board(sm) && !sm->forming->more)
        wait = sm_board_look(sm, slot, &warp->group);
    warp->buffer_pc = warp->pc;
    sm_join_sets(sm, slot, wait, timed->unit);
    sm_set_wait(sm, slot, wait);
}

/* That of register 0 of its first thread. */
static uint8_t first_bank(const struct sm *sm, const struct sm_warp *warp) {
    const unsigned first = warp->group.threads ? warp->group.threads[bits_first(warp->group.lanes)] : 0;
    return (uint8_t)(first / LANES_MAX % sm->params.register_banks);
}

/* The group in a slot of a mechanism that dissolves them: another, a grown one, or none. */
static void update_formed(struct sm *sm, unsigned slot) {
    struct sm_warp *warp = &SETS(sm)->warps[slot];
    const slot_set bit = set_of(slot);
    SETS(sm)->wants_fetch &= ~bit;
    warp->waits = !sm->mechanism->offer(sm->control, slot, &warp->group);
    if (warp->waits) {
        bool memory = false;
        warp->group.pc = sm->forming->ahead ? sm->forming->ahead(sm->control, slot, &memory) : NO_PC;
        if (sm->regroup->board) /* what it waits for need not be what it issued last */
            memory = sm->regroup->board->at_memory[slot] != 0;
        warp->held = warp->at_barrier ? WAIT_BARRIER : memory ? WAIT_MEMORY : WAIT_REGISTER;
    }
    if (warp->group.pc == NO_PC) {
        sm_clear_ready(sm, slot);
        SETS(sm)->used &= ~bit;
        SETS(sm)->stalled_long |= bit;
        return;
    }
    if (!(SETS(sm)->used & bit)) {
        SETS(sm)->used |= bit;
        warp->since = sm->now > warp->since ? sm->now : warp->since;
        warp->stage = WAIT_FETCH;
        warp->pc = warp->group.pc;
        warp->bank = first_bank(sm, warp);
    }
    if (sm->forming->ahead && !warp->waits)
        warp->bank = first_bank(sm, warp);
    if (!warp->waits)
        sm->slot_places[slot] = (uint8_t)place_of(sm, &warp->group);
    if (warp->group.pc != warp->pc) {
        sm_set_wait(sm, slot, warp->stage == WAIT_FETCH ? WAIT_TURN : WAIT_FETCH);
        warp->pc = warp->group.pc;
        warp->wrong_path |= warp->fetching; /* the mechanism has put another group here */
    }
    if (sm->formed_fetched) /* as static warps are fetched for while they are in flight, at the PCs their threads go to */
        warp->buffer_pc = warp->pc, warp->buffer_end = warp->pc + 1;
    consider_formed(sm, slot);
    if (sm->forming->more && warp->ready_unit == SM_UNIT_MEMORY) /* others of the bundle may need no memory */
        sm_set_ready(sm, slot, SM_UNIT_SP);
}

/* ---- back from the pipeline ---- */

/* These threads come back to the mechanism. There is a board. */
static void bring_back(struct sm *sm, const uint16_t *threads, uint32_t lanes) {
    struct thread_board *board = sm->regroup->board;
    if (lanes)
        sm_look_again(sm, &sm_formed_groups, sm->forming->returned(sm->control, threads, lanes));
    if (!board->changed)
        return;
    const slot_set changed = board->changed;
    board->changed = 0;
    if (sm->forming->ahead) /* slots that keep their threads wait for something else now */
        sm_look_again(sm, &sm_formed_groups, changed);
}

/* Those of the flight, as far as nothing holds back what they issue next. */
static void come_back(struct sm *sm, uint32_t number, uint32_t lanes) {
    const uint16_t *threads = sm->regroup->threads[number];
    struct thread_board *board = sm->regroup->board;
    if (!board)
        sm_look_again(sm, &sm_formed_groups, sm->forming->returned(sm->control, threads, lanes));
    else
        bring_back(sm, threads, sm_board_ready(sm, &board->groups[number], threads, lanes));
}

/* What an instruction writes is there, and threads that waited for it go on. False: it is written back once more. */
static bool free_registers(struct sm *sm, uint32_t number) {
    struct thread_board *board = sm->regroup->board;
    bool over;
    const uint32_t freed = sm_board_written(sm, number, &over);
    if (over)
        board->tracked[number] = 0;
    if (freed || board->changed)
        bring_back(sm, sm->regroup->threads[number], freed);
    for (uint64_t blocked = board->blocked; blocked; blocked &= blocked - 1) {
        const unsigned slot = bits_first64(blocked);
        if (sm->slot_places[slot] != sm->flights[number].place) /* none of its threads has got anything */
            continue;
        board->blocked &= ~(UINT64_C(1) << slot);
        consider_formed(sm, slot);
    }
    return over;
}

static void write_back_group(struct sm *sm, uint32_t number) {
    struct flight *flight = &sm->flights[number];
    struct sm_place *place = &sm->places[flight->place];
    const uint32_t lanes = flight->lanes;
    if (flight->ticket != NO_TICKET)
        sm->executor.finish(sm->executor.self, flight->ticket);
    if (sm->regroup->board && sm->regroup->board->tracked[number] && !free_registers(sm, number))
        return;
    place->in_flight--;
    if (flight->slow)
        sm->regroup->at_memory -= bits_count(lanes);
    for (BITS_EACH(lane, sm->regroup->stays[number])) /* their barrier has not opened yet */
        sm->regroup->barrier_flight[sm->regroup->threads[number][lane]] = 0;
    sm->regroup->stays[number] = 0;
    sm_free_flight(sm, number);
    if (lanes)
        come_back(sm, number, lanes);
    if (!place->in_flight)
        sm_end_if_done(sm, (unsigned)(place - sm->places));
}

/* These threads of an instruction come back in that cycle, whatever they have in flight; answers their flight, NO_FLIGHT: there is
 * none. */
static uint32_t send_ahead(struct sm *sm, const struct flight *of, const uint16_t *threads, uint32_t lanes,
                           uint64_t cycle) {
    const uint32_t part = lanes ? sm_take_flight(sm) : NO_FLIGHT;
    if (part == NO_FLIGHT)
        return NO_FLIGHT;
    sm->flights[part] = (struct flight){
        .pc = of->pc, .warp = of->warp, .place = of->place, .lanes = lanes, .sent = true, .ticket = NO_TICKET};
    sm->regroup->board->tracked[part] = 0;
    memcpy(sm->regroup->threads[part], threads, sizeof sm->regroup->threads[part]);
    sm->places[of->place].in_flight++;
    sm_write_back_at(sm, cycle, part);
    return part;
}

/* The flight takes threads to a barrier; their slot keeps them. */
static void stay(struct sm *sm, uint32_t number, uint32_t lanes) {
    struct regroup *regroup = sm->regroup;
    const unsigned slot = sm->flights[number].warp;
    regroup->stays[number] = regroup->board ? 0 : lanes; /* by thread: they need not wait for its write-back */
    SETS(sm)->warps[slot].at_barrier += bits_count(lanes);
    for (BITS_EACH(lane, lanes)) {
        const unsigned thread = regroup->threads[number][lane];
        regroup->barrier_flight[thread] = (uint16_t)(regroup->board ? 0 : number + 1);
        regroup->barrier_slot[thread] = (uint8_t)slot;
    }
}

/* The barrier has opened before its instruction is written back: the thread comes back with that. */
static void return_with_flight(struct sm *sm, unsigned thread) {
    struct regroup *regroup = sm->regroup;
    const uint32_t number = regroup->barrier_flight[thread] - 1u;
    for (BITS_EACH(lane, regroup->stays[number]))
        if (regroup->threads[number][lane] == thread) {
            regroup->stays[number] &= ~(UINT32_C(1) << lane);
            sm->flights[number].lanes |= UINT32_C(1) << lane;
            return;
        }
}

/* The flight's instruction, of these lanes of its threads, is on its way; those that go on come back when they have issued, but
 * for asynchronous copies, of which a thread has one at a time. */
static void track(struct sm *sm, uint32_t number, uint32_t lanes, const struct executed *executed,
                  const struct access *access) {
    struct flight *flight = &sm->flights[number];
    if (sm_board_issued(sm, number, lanes, executed, access)) {
        flight->lanes = 0;
        sm_slot(sm, sm->now + sm->regroup->issue_cycles); /* the cycle is looked at all the same */
        return;
    }
    const uint64_t cycle = sm->now + sm->regroup->issue_cycles;
    const uint32_t part = sm->timed[flight->pc].order == ORDER_COPY
                              ? NO_FLIGHT
                              : send_ahead(sm, flight, sm->regroup->threads[number], flight->lanes, cycle);
    if (part == NO_FLIGHT)
        return;
    sm_board_copy(sm->regroup->board, part, number);
    flight->lanes = 0;
}

/* These threads of a warp, which waited for others, come back in the next cycle. */
static slot_set go_ahead(struct sm *sm, unsigned warp, const uint16_t *threads, uint32_t lanes) {
    const uint32_t pc = sm->regroup->board->next[threads[bits_first(lanes)]];
    const struct flight flight = {.pc = pc, .place = (uint8_t)(warp / sm->shape.warps_per_place)};
    const uint32_t part = send_ahead(sm, &flight, threads, lanes, sm->now + 1);
    if (part != NO_FLIGHT) {
        sm_board_gather(&sm->regroup->board->groups[part], threads, lanes);
        return 0;
    }
    struct board_group group;
    sm_board_gather(&group, threads, lanes);
    bring_back(sm, threads, sm_board_ready(sm, &group, threads, lanes));
    return 0;
}

/* The barrier of these lanes of the warp has opened: they come back, those that their slot keeps (`ahead`) when their
 * instruction is written back too. */
static slot_set go_on_threads(struct sm *sm, unsigned warp, uint32_t lanes) {
    const struct regroup *regroup = sm->regroup;
    uint16_t threads[LANES_MAX];
    uint32_t back = 0;
    slot_set changed = 0;
    threads_of_warp(threads, warp, LANES_MAX);
    if (!sm->forming->ahead)
        return regroup->board ? go_ahead(sm, warp, threads, lanes) : sm->forming->returned(sm->control, threads, lanes);
    for (BITS_EACH(lane, lanes)) {
        const unsigned thread = threads[lane], slot = regroup->barrier_slot[thread];
        if (--SETS(sm)->warps[slot].at_barrier == 0)
            changed |= set_of(slot);
        if (regroup->barrier_flight[thread])
            return_with_flight(sm, thread);
        else
            back |= UINT32_C(1) << lane;
    }
    if (regroup->board)
        return changed | go_ahead(sm, warp, threads, back);
    return back ? changed | sm->forming->returned(sm->control, threads, back) : changed;
}

/* What they waited at finds no room in the pipeline. */
static slot_set go_past(struct sm *sm, unsigned warp, uint32_t pc, const uint16_t *threads, uint32_t lanes) {
    if (!sm->regroup->board)
        return sm->forming->returned(sm->control, threads, lanes);
    for (BITS_EACH(lane, lanes))
        sm->regroup->board->next[threads[lane]] = pc + 1;
    return go_ahead(sm, warp, threads, lanes);
}

/* Threads of one warp, whose group has no threads of its own, go on together, through the pipeline where it has room for one
 * more. */
static slot_set launch_threads(struct sm *sm, unsigned slot, unsigned warp, const struct group *group,
                               const struct access *access, struct bundle *bundle) {
    const uint32_t pc = group->pc, lanes = group->lanes;
    uint16_t threads[LANES_MAX];
    threads_of_warp(threads, warp, LANES_MAX);
    if (!sm_takes(sm, pc))
        return go_past(sm, warp, pc, threads, lanes);
    const uint32_t number = sm_take_flight(sm);
    sm->flights[number] = (struct flight){
        .pc = pc, .place = (uint8_t)(warp / sm->shape.warps_per_place), .lanes = lanes, .ticket = NO_TICKET};
    memcpy(sm->regroup->threads[number], threads, sizeof threads);
    sm->places[sm->flights[number].place].in_flight++;
    if (sm->regroup->board) {
        const struct executed passed = {.flow = FLOW_NEXT, .pc = pc, .lanes = lanes};
        track(sm, number, lanes, &passed, access);
    }
    sm_book_flight(sm, slot, number, access, bundle);
    return 0;
}

/* ---- issue ---- */

/* Memory instructions need a place in the queue, fences that the block's stores have arrived, all their registers: who has joined
 * the group in this cycle may wait for some. */
static bool has_room(struct sm *sm, unsigned slot, const struct group *group) {
    const struct timed *timed = &sm->timed[group->pc];
    if (sm->free_flight == NO_FLIGHT)
        return false;
    if (timed->order == ORDER_FENCE && sm->places[place_of(sm, group)].stores)
        return false;
    /* what stands in a slot that is ready has been asked for */
    if (asks_board(sm) && (sm->forming->more || !set_has(SETS(sm)->ready, slot)) &&
        sm_board_wait(sm, group) != WAIT_TURN)
        return false;
    return timed->unit != SM_UNIT_MEMORY || sm->queue_count < sm->params.memory_queue;
}

static void note_issue(struct sm *sm, unsigned slot, uint32_t pc, bool slow) {
    const slot_set bit = set_of(slot);
    if (sm->regroup->issued_pc[slot] == pc) /* one more group of the same instruction */
        return;
    SETS(sm)->near = slow ? SETS(sm)->near | bit : SETS(sm)->near & ~bit;
    sm->progress[slot] += sm->timed[pc].order == ORDER_PROGRESS;
    sm->regroup->issued_pc[slot] = pc;
}

/* The slots that may have changed. */
static slot_set issue_group(struct sm *sm, unsigned slot, const struct group *group, struct bundle *bundle) {
    if (inst_meets(&sm->module->code[group->pc]))
        return sm_meet(sm, slot, group, bundle);
    struct executed executed;
    struct access access;
    const unsigned home = place_of(sm, group);
    sm->executor.step(sm->executor.self, slot, group, 0, sm->now, &executed, &access);
    sm_count_group(sm, bits_count(group->lanes));
    if (executed.flow == FLOW_FAULT) {
        sm->faulted = true;
        sm->fault_cycle = sm->now, sm->fault_warp = executed.target;
        return 0;
    }
    sm->stats.bundled += bundle->issued;
    bundle->issued = true;
    const uint32_t number = sm_take_flight(sm);
    const bool slow = access.kind != ACCESS_NONE ? access.space != SPACE_SHARED : sm->timed[group->pc].parameter != 0;
    const bool stays = executed.flow == FLOW_EXIT || waiting_stays(sm->module->code, &executed);
    const uint32_t staying = stays ? executed.taken : 0, going = group->lanes & ~staying;
    sm->flights[number] = (struct flight){.pc = group->pc,
                                          .warp = (uint8_t)slot,
                                          .place = (uint8_t)home,
                                          .lanes = going,
                                          .slow = slow,
                                          .ticket = access_ticket(&access)};
    uint16_t *threads = sm->regroup->threads[number];
    memcpy(threads, group->threads, sizeof sm->regroup->threads[number]);
    sm->places[home].in_flight++;
    if (sm->regroup->board)
        track(sm, number, group->lanes, &executed, &access);
    sm->regroup->at_memory += slow ? bits_count(sm->flights[number].lanes) : 0;
    note_issue(sm, slot, group->pc, slow);
    slot_set changed = sm->mechanism->issued(sm->control, slot, group, &executed);
    sm_tell_observer(sm, slot,
                     &(struct group){.pc = group->pc, .lanes = group->lanes, .threads = sm->regroup->threads[number]},
                     &executed, number);
    if (sm->hears)
        sm_tell_issue(sm, slot, group, &executed);
    sm_book_flight(sm, slot, number, &access, bundle);
    bool predicted; /* a predictor is only heard of: groups are formed where their threads have gone */
    switch (executed.flow) {
    case FLOW_BRANCH:
        if (sm->predictor)
            predictor_branched(sm->predictor, slot, threads, &executed, &predicted);
        sm_count_divergence(sm, &executed);
        break;
    case FLOW_MULTI:
    case FLOW_CALL: sm_count_divergence(sm, &executed); break;
    case FLOW_EXIT:
        sm->regroup->alive -= bits_count(executed.taken);
        changed |= sm_end_threads(sm, home, slot, threads, &executed, bundle);
        break;
    case FLOW_BARRIER:
        if (sm->forming->ahead)
            stay(sm, number, staying);
        changed |= sm_arrive(sm, home, slot, threads, &executed);
        break;
    default: break;
    }
    return changed;
}

/* The mechanism's choice where it has one, else the scheduler's; SCHEDULER_NONE, and the slot is booked: none. */
static unsigned pick_slot(struct sm *sm, unsigned scheduler, slot_set possible) {
    if (!sm->forming->pick)
        return sm_pick(sm, scheduler, possible);
    const unsigned slot = sm->forming->pick(sm->control, (uint64_t)possible);
    if (slot != ISSUE_SLOTS_MAX)
        return slot;
    sm_book(sm, sm_empty(sm, scheduler, 0, threads_at_memory(sm)), 1);
    return SCHEDULER_NONE;
}

static unsigned issue_formed_one(struct sm *sm, unsigned scheduler, slot_set possible) {
    const unsigned slot = pick_slot(sm, scheduler, possible);
    if (slot == SCHEDULER_NONE)
        return 0;
    struct sm_warp *warp = &SETS(sm)->warps[slot];
    struct bundle bundle = {.turns = sm->forming->turns ? sm->forming->turns(sm->control, slot) : 1};
    struct group group = warp->group;
    slot_set changed = set_of(slot);
    sm->regroup->issue_cycles = bundle.turns * sm->wide;
    sm->scheduler_pc[scheduler] = warp->pc;
    sm->inst_stats[warp->pc].waits[warp->stage] += sm->now - warp->since;
    warp->since = sm->now + 1;
    for (bool offered = !sm->forming->more || sm->mechanism->offer(sm->control, slot, &group); offered && !sm->faulted;
         offered = sm->forming->more && sm->forming->more(sm->control, slot, &group)) {
        if (!has_room(sm, slot, &group))
            continue;
        bundle.lanes |= group.lanes;
        changed |= issue_group(sm, slot, &group, &bundle);
    }
    if (!sm->forming->ahead) /* else what has been fetched is used up as its PC passes it by */
        warp->buffer_end = warp->buffer_pc;
    sm_look_again(sm, &sm_formed_groups, changed);
    if (!bundle.lanes) {
        sm_book(sm, sm_stall(sm, &SETS(sm)->warps[set_first(possible)], SM_UNIT_MEMORY), 1);
        return 0;
    }
    sm->scheduler_class[scheduler] = sm_width_class(sm, bits_count(bundle.lanes));
    sm_count_issued(sm, scheduler, 1);
    return bundle.turns;
}

static void issue_formed(struct sm *sm) { sm_issue_each(sm, &sm_formed_groups, issue_formed_one); }

/* Those who wait have not come back. */
static void hold_threads(struct sm *sm, unsigned warp, uint32_t pc, uint32_t lanes) {
    (void)sm, (void)warp, (void)pc, (void)lanes;
}

static bool has_threads(const struct sm *sm, unsigned warp) { return sm->mechanism->alive(sm->control, warp) != 0; }

static bool run_formed(struct sm *sm, uint64_t from, uint64_t to);

SM_STAGE const struct sm_front sm_formed_groups = {.run = run_formed,
                                                   .start = start_threads,
                                                   .update = update_formed,
                                                   .consider = consider_formed,
                                                   .fetched = consider_formed,
                                                   .issue = issue_formed,
                                                   .write_back = write_back_group,
                                                   .hold = hold_threads,
                                                   .go_on = go_on_threads,
                                                   .launch = launch_threads,
                                                   .all_at_memory = threads_at_memory,
                                                   .is_here = has_threads};

static bool run_formed(struct sm *sm, uint64_t from, uint64_t to) {
    return sm_run_awake(sm, &sm_formed_groups, from, to, sm->dsm != NULL);
}
