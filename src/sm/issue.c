/* SPDX-License-Identifier: Apache-2.0 */
/* Issue: each scheduler picks a ready warp, its group is executed, and the times of what follows are booked: register
 * banks and units keep the cycle they are next free, so a later stage needs no polling. */
#include "sm/state.h"

/* ---- what warps wait for ---- */

static void set_wait(struct sm *sm, unsigned w, enum sm_wait wait) {
    struct sm_warp *warp = &sm->warps[w];
    if (warp->stage == wait)
        return;
    const uint64_t cycle = sm->now > warp->since ? sm->now : warp->since;
    sm->inst_stats[warp->pc].waits[warp->stage] += cycle - warp->since;
    warp->stage = (uint8_t)wait;
    warp->since = cycle;
}

/* The ready warps whose unit has no room; the others wait for their turn. */
static void set_blocked(struct sm *sm, slot_set blocked) {
    for (slot_set rest = (blocked ^ sm->unit_blocked) & sm->ready; rest; rest &= rest - 1) {
        const unsigned w = set_first(rest);
        set_wait(sm, w, set_has(blocked, w) ? WAIT_UNIT : WAIT_TURN);
    }
    sm->unit_blocked = blocked;
}

/* Whether memory must be quiet before the instruction: fences wait for everything, accesses for the warp's own atomics. */
static bool waits_for_order(const struct sm *sm, unsigned w, const struct timed *timed) {
    const struct sm_warp *warp = &sm->warps[w];
    if (timed->order == ORDER_FENCE)
        return warp->memory_in_flight || sm->places[w / sm->shape.warps_per_place].stores;
    return timed->order == ORDER_AFTER_ATOMICS && warp->atomics_in_flight;
}

/* What the instruction's registers wait for; WAIT_TURN: nothing. */
static inline enum sm_wait find_hazard(const struct pending *pending, const struct timed *timed) {
    const struct pending *first = &pending[timed->word];
    enum sm_wait wait = !(first->any & timed->all)   ? WAIT_TURN
                        : first->memory & timed->all ? WAIT_MEMORY
                                                     : WAIT_REGISTER;
    for (unsigned i = 0; i < timed->more_count && wait != WAIT_MEMORY; i++) {
        const struct timed_word *word = &timed->more[i];
        if (pending[word->word].any & word->all)
            wait = pending[word->word].memory & word->all ? WAIT_MEMORY : WAIT_REGISTER;
    }
    return wait;
}

/* pipeline.memory_in_flight: a warp without a scoreboard goes on beside its loads and stores. */
static __attribute__((noinline, cold)) enum sm_wait find_wait_beside(const struct sm *sm, unsigned w,
                                                                     const struct timed *timed) {
    const struct sm_warp *warp = &sm->warps[w];
    const uint32_t most = sm->params.memory_in_flight;
    if (warp->group.asks)
        return WAIT_MEMORY;
    if (warp->in_flight > warp->memory_in_flight)
        return WAIT_REGISTER;
    if (timed->unit == SM_UNIT_MEMORY && warp->memory_in_flight + warp->group.accesses >= most)
        return WAIT_MEMORY;
    if (timed->order != ORDER_NONE && waits_for_order(sm, w, timed))
        return WAIT_MEMORY;
    return sm->params.wait_at_use ? find_hazard(warp->pending, timed) : WAIT_TURN;
}

/* What holds back an instruction that has been fetched; WAIT_TURN: nothing of its own. */
static inline enum sm_wait find_wait(const struct sm *sm, unsigned w, const struct timed *timed) {
    const struct sm_warp *warp = &sm->warps[w];
    if (sm->params.pipeline != SM_SCOREBOARD && warp->in_flight)
        return sm->params.memory_in_flight ? find_wait_beside(sm, w, timed)
               : warp->memory_in_flight    ? WAIT_MEMORY
                                           : WAIT_REGISTER;
    if (timed->order != ORDER_NONE && waits_for_order(sm, w, timed))
        return WAIT_MEMORY;
    return find_hazard(warp->pending, timed);
}

static inline void clear_ready(struct sm *sm, unsigned w) {
    struct sm_warp *warp = &sm->warps[w];
    if (warp->ready_unit == SM_UNIT_COUNT)
        return;
    sm->ready &= ~set_of(w);
    sm->ready_for[warp->ready_unit] &= ~set_of(w);
    warp->ready_unit = SM_UNIT_COUNT;
}

static inline void set_ready(struct sm *sm, unsigned w, unsigned unit) {
    struct sm_warp *warp = &sm->warps[w];
    if (warp->ready_unit == unit)
        return;
    clear_ready(sm, w);
    sm->ready |= set_of(w);
    sm->ready_for[unit] |= set_of(w);
    warp->ready_unit = (uint8_t)unit;
}

/* The sets that a warp is in while it waits so. */
static inline void join_sets(struct sm *sm, unsigned w, enum sm_wait wait, unsigned unit) {
    const slot_set bit = set_of(w);
    if (wait == WAIT_TURN)
        set_ready(sm, w, unit);
    else
        clear_ready(sm, w);
    if (wait == WAIT_MEMORY)
        sm->stalled_long |= bit;
    else
        sm->stalled_long &= ~bit;
    if (wait == WAIT_FETCH && !sm->warps[w].fetching)
        sm->wants_fetch |= bit;
}

/* A slot whose threads are still out: what it goes on with is fetched meanwhile, but not while they are at a barrier. */
static void consider_held(struct sm *sm, unsigned w) {
    struct sm_warp *warp = &sm->warps[w];
    const uint32_t passed = warp->pc - warp->buffer_pc;
    const bool here = passed < warp->buffer_end - warp->buffer_pc || warp->held == WAIT_BARRIER;
    if (!here)
        warp->buffer_pc = warp->buffer_end = warp->pc;
    join_sets(sm, w, here ? warp->held : WAIT_FETCH, SM_UNIT_SP);
    if (warp->held != WAIT_REGISTER)
        sm->stalled_long |= set_of(w);
    set_wait(sm, w, here ? warp->held : WAIT_FETCH);
}

/* The group in a slot: whoever is in it has no instruction in flight, so that no register is waited for. */
static void consider_formed(struct sm *sm, unsigned slot) {
    struct sm_warp *warp = &sm->warps[slot];
    if (warp->waits) {
        consider_held(sm, slot);
        return;
    }
    const struct timed *timed = &sm->timed[warp->pc];
    enum sm_wait wait = WAIT_TURN;
    if (warp->pc - warp->buffer_pc >= warp->buffer_end - warp->buffer_pc) {
        wait = WAIT_FETCH;
        warp->buffer_end = warp->pc;
    } else if (timed->order == ORDER_FENCE && !sm->mechanism->more &&
               sm->places[sm_regroup_place(sm, &warp->group)].stores)
        wait = WAIT_MEMORY;
    warp->buffer_pc = warp->pc;
    join_sets(sm, slot, wait, timed->unit);
    set_wait(sm, slot, wait);
}

/* Apart from a cycle's events, which are inlined in the loop over cycles. */
__attribute__((noinline)) void sm_consider_warp(struct sm *sm, unsigned w) {
    struct sm_warp *warp = &sm->warps[w];
    if (!(set_has(sm->used, w)))
        return;
    if (sm->regroup) {
        consider_formed(sm, w);
        return;
    }
    if (warp->waits || !warp->group.lanes)
        return;
    const uint32_t passed = warp->pc - warp->buffer_pc; /* wraps below buffer_pc */
    const struct timed *timed = &sm->timed[warp->pc];
    enum sm_wait wait = WAIT_FETCH;
    if (passed < warp->buffer_end - warp->buffer_pc)
        wait = find_wait(sm, w, timed);
    else {
        if (passed && sm->params.fetch_straight)
            sm_fetched_astray(sm, w);
        warp->buffer_end = warp->pc;
    }
    warp->buffer_pc = warp->pc;
    join_sets(sm, w, wait, timed->unit);
    set_wait(sm, w, wait);
}

void sm_consider_fetched(struct sm *sm, unsigned w) {
    struct sm_warp *warp = &sm->warps[w];
    if (sm->regroup || warp->stage != WAIT_FETCH) {
        sm_consider_warp(sm, w);
        return;
    }
    const struct timed *timed = &sm->timed[warp->pc];
    const enum sm_wait wait = find_wait(sm, w, timed);
    if (wait == WAIT_TURN)
        set_ready(sm, w, timed->unit);
    else if (wait == WAIT_MEMORY)
        sm->stalled_long |= set_of(w);
    set_wait(sm, w, wait);
}

/* That of register 0 of its first thread. */
static uint8_t first_bank(const struct sm *sm, const struct sm_warp *warp) {
    const unsigned first = warp->group.threads ? warp->group.threads[bits_first(warp->group.lanes)] : 0;
    return (uint8_t)(first / LANES_MAX % sm->params.register_banks);
}

/* The group in a slot of a mechanism that dissolves them: another, a grown one, or none. */
static void update_formed(struct sm *sm, unsigned slot) {
    struct sm_warp *warp = &sm->warps[slot];
    const slot_set bit = set_of(slot);
    sm->wants_fetch &= ~bit;
    warp->waits = !sm->mechanism->offer(sm->control, slot, &warp->group);
    if (warp->waits) {
        bool memory = false;
        warp->group.pc = sm->mechanism->ahead ? sm->mechanism->ahead(sm->control, slot, &memory) : NO_PC;
        warp->held = warp->at_barrier ? WAIT_BARRIER : memory ? WAIT_MEMORY : WAIT_REGISTER;
    }
    if (warp->group.pc == NO_PC) {
        clear_ready(sm, slot);
        sm->used &= ~bit;
        sm->stalled_long |= bit;
        return;
    }
    if (!(sm->used & bit)) {
        sm->used |= bit;
        warp->since = sm->now > warp->since ? sm->now : warp->since;
        warp->stage = WAIT_FETCH;
        warp->pc = warp->group.pc;
        warp->bank = first_bank(sm, warp);
    }
    if (sm->mechanism->ahead && !warp->waits)
        warp->bank = first_bank(sm, warp);
    if (!warp->waits)
        sm->slot_places[slot] = (uint8_t)sm_regroup_place(sm, &warp->group);
    if (warp->group.pc != warp->pc) {
        set_wait(sm, slot, warp->stage == WAIT_FETCH ? WAIT_TURN : WAIT_FETCH);
        warp->pc = warp->group.pc;
        warp->astray |= warp->fetching; /* the mechanism has put another group here */
    }
    if (sm->formed_fetched) /* as static warps are fetched for while they are in flight, at the PCs their threads go to */
        warp->buffer_pc = warp->pc, warp->buffer_end = warp->pc + 1;
    consider_formed(sm, slot);
    if (sm->mechanism->more && warp->ready_unit == SM_UNIT_MEMORY) /* others of the bundle may need no memory */
        set_ready(sm, slot, SM_UNIT_SP);
}

void sm_update_warp(struct sm *sm, unsigned w) {
    if (sm->regroup) {
        update_formed(sm, w);
        return;
    }
    struct sm_warp *warp = &sm->warps[w];
    const slot_set bit = set_of(w);
    sm->wants_fetch &= ~bit;
    if (!(sm->used & bit) || warp->waits) {
        clear_ready(sm, w);
        sm->stalled_long |= bit;
        sm->near &= ~bit;
        if (sm->used & bit)
            set_wait(sm, w, WAIT_BARRIER);
        return;
    }
    const uint32_t lanes = warp->group.lanes;
    if (!sm->mechanism->offer(sm->control, w, &warp->group)) {
        clear_ready(sm, w);
        sm->stalled_long |= bit;
        if (sm->slips) { /* its lanes wait for data by themselves */
            set_wait(sm, w, WAIT_MEMORY);
            warp->group.lanes = 0;
        } else { /* until one of its lanes goes on */
            warp->waits = true;
            set_wait(sm, w, WAIT_BARRIER);
        }
        return;
    }
    if (warp->group.lanes != lanes) {
        warp->width = (uint8_t)bits_count(warp->group.lanes);
        warp->width_class = sm_width_class(sm, warp->width);
    }
    warp->alive = sm->mechanism->alive(sm->control, w);
    if (warp->group.pc != warp->pc) {
        const uint8_t stage = warp->stage;
        set_wait(sm, w, stage == WAIT_FETCH ? WAIT_TURN : WAIT_FETCH); /* close the books of the instruction before */
        warp->pc = warp->group.pc;
    }
    sm_consider_warp(sm, w);
}

/* The same after an issue within a straight run: the group goes on by one instruction without the mechanism's doing, and
 * the warp is in no set but the ready ones. */
static inline void go_on(struct sm *sm, unsigned w, struct sm_warp *warp, uint32_t pc) {
    const slot_set bit = set_of(w);
    warp->pc = warp->group.pc = pc;
    warp->stage = WAIT_FETCH;
    if (pc != warp->buffer_end) {
        const struct timed *timed = &sm->timed[pc];
        warp->stage = (uint8_t)find_wait(sm, w, timed);
        if (warp->stage == WAIT_TURN) {
            sm->ready_for[warp->ready_unit] &= ~bit;
            sm->ready_for[timed->unit] |= bit;
            warp->ready_unit = timed->unit;
            return;
        }
        if (warp->stage == WAIT_MEMORY)
            sm->stalled_long |= bit;
    } else if (!warp->fetching)
        sm->wants_fetch |= bit;
    clear_ready(sm, w);
}

/* ---- flights ---- */

static inline void set_pending(struct pending *pending, const struct timed *timed, bool memory) {
    pending[timed->word].any |= timed->written;
    pending[timed->word].memory |= memory ? timed->written : 0;
    for (unsigned i = 0; i < timed->more_count; i++) {
        const struct timed_word *word = &timed->more[i];
        pending[word->word].any |= word->written;
        pending[word->word].memory |= memory ? word->written : 0;
    }
}

static inline void clear_pending(struct pending *pending, const struct timed *timed) {
    pending[timed->word].any &= ~timed->written;
    pending[timed->word].memory &= ~timed->written;
    for (unsigned i = 0; i < timed->more_count; i++) {
        const struct timed_word *word = &timed->more[i];
        pending[word->word].any &= ~word->written;
        pending[word->word].memory &= ~word->written;
    }
}

/* ---- the end of instructions, threads, blocks ---- */

void sm_end_if_done(struct sm *sm, unsigned number) {
    struct place *place = &sm->places[number];
    if (!place->used || place->alive || place->stores || place->in_flight)
        return;
    for (unsigned w = number * sm->shape.warps_per_place; w < (number + 1) * sm->shape.warps_per_place; w++)
        if (!sm->regroup && sm->warps[w].in_flight)
            return;
    place->used = false;
    sm->places_used--;
    sm->stats.blocks++;
}

/* A register has come, or memory is quieter: the instruction is still the same and in the buffer. */
static inline void consider_hazard(struct sm *sm, unsigned w) {
    const struct sm_warp *warp = &sm->warps[w];
    if ((warp->stage != WAIT_REGISTER && warp->stage != WAIT_MEMORY) || !warp->group.lanes)
        return;
    const struct timed *timed = &sm->timed[warp->pc];
    const enum sm_wait wait = find_wait(sm, w, timed);
    if (wait == warp->stage)
        return;
    join_sets(sm, w, wait, timed->unit);
    set_wait(sm, w, wait);
}

static inline void end_instruction(struct sm *sm, unsigned w, const struct timed *timed) {
    clear_pending(sm->warps[w].pending, timed);
    sm->warps[w].in_flight--;
    if (set_has(sm->used, w))
        consider_hazard(sm, w);
    else
        sm_end_if_done(sm, w / sm->shape.warps_per_place);
}

/* Lanes of it still wait by themselves: the flight stays theirs. */
static __attribute__((noinline, cold)) void land(struct sm *sm, struct flight *flight, const struct timed *timed) {
    flight->landed = true;
    end_instruction(sm, flight->warp, timed);
}

void sm_write_back(struct sm *sm, uint32_t number) {
    struct flight *flight = &sm->flights[number];
    if (flight->pc == NO_PC) {
        sm_arrive_apart(sm, number);
        return;
    }
    if (sm->regroup) {
        sm_regroup_write_back(sm, number);
        return;
    }
    const unsigned w = flight->warp;
    struct sm_warp *warp = &sm->warps[w];
    const struct timed *timed = &sm->timed[flight->pc];
    if (timed->unit == SM_UNIT_MEMORY) {
        if (flight->ticket != NO_TICKET) {
            sm->executor.finish(sm->executor.self, flight->ticket);
            warp->atomics_in_flight--;
        }
        warp->memory_in_flight--;
        if (flight->apart) {
            land(sm, flight, timed);
            return;
        }
    }
    sm_free_flight(sm, number);
    end_instruction(sm, w, timed);
}

static slot_set end_threads(struct sm *sm, unsigned w, const struct executed *executed) {
    const unsigned number = w / sm->shape.warps_per_place;
    if (!sm->mechanism->alive(sm->control, w)) {
        sm->used &= ~set_of(w);
        sm_update_warp(sm, w);
    }
    const slot_set changed = sm_end_threads(sm, number, w, NULL, executed, NULL);
    sm_end_if_done(sm, number);
    return changed;
}

/* ---- issue ---- */

void sm_count_parting(struct sm *sm, const struct executed *executed) {
    const bool parted = executed_parts(executed);
    sm->divergent_branches += parted;
    sm->divergent[executed->pc] += parted;
}

/* Operands: one read per bank and cycle, in the order of issue. */
static inline uint64_t read_operands(struct sm *sm, unsigned warp, const struct timed *timed) {
    if (sm->params.pipeline == SM_ONE_CYCLE)
        return sm->now;
    const unsigned banks = sm->params.register_banks, shift = sm->warps[warp].bank;
    uint64_t last = sm->now, turn = sm->now;
    unsigned left = sm->params.collector_reads;
    for (unsigned i = 0; i < timed->src_count; i++) {
        const unsigned number = timed->banks[i] + shift;
        uint64_t *bank = &sm->bank_free[number < banks ? number : number - banks];
        if (left-- == 0)
            turn++, left = sm->params.collector_reads - 1;
        const uint64_t at = (*bank > turn ? *bank : turn) + 1;
        *bank = at;
        last = at > last ? at : last;
    }
    return last + 1;
}

/* The first unit of the kind to be free takes it; with sm.result_port when its result, if it is not far off, meets no
 * other. */
static inline uint64_t take_unit(struct sm *sm, enum sm_unit unit, uint64_t ready, const struct timed *timed) {
    struct booked_unit *best = sm->units[unit];
    const struct booked_unit *const end = best + sm->unit_count[unit];
    for (struct booked_unit *one = best + 1; one < end; one++)
        best = one->free < best->free ? one : best;
    uint64_t start = best->free > ready ? best->free : ready;
    if (sm->params.result_port && timed->done_cycles < 64 && timed->busy_cycles < 64) {
        const uint64_t result = UINT64_C(1) << timed->done_cycles, passed = start - best->free;
        uint64_t results = passed < 64 ? best->results >> passed : 0;
        for (; results & result; results >>= 1)
            start++;
        best->results = (results | result) >> timed->busy_cycles;
    } else
        best->results = 0;
    best->free = start + timed->busy_cycles;
    return start;
}

/* An instruction of the memory unit whose operands are read at `ready`: a place in the queue, or nothing to access. */
static inline void enqueue_memory(struct sm *sm, uint32_t flight, const struct timed *timed,
                                  const struct access *access, uint64_t ready) {
    if (access->kind != ACCESS_NONE)
        sm_enqueue_access(sm, flight, access, ready + timed->busy_cycles);
    else if (timed->parameter)
        sm_enqueue_parameter(sm, flight, timed->parameter - 1, ready);
    else
        sm_write_back_at(sm, ready + timed->done_cycles, flight);
}

static void launch_memory(struct sm *sm, unsigned w, uint32_t number, const struct timed *timed,
                          const struct access *access) {
    struct flight *flight = &sm->flights[number];
    struct sm_warp *warp = &sm->warps[w];
    flight->sent = false, flight->outstanding = 0, flight->done_cycle = 0;
    flight->place = (uint8_t)(w / sm->shape.warps_per_place);
    flight->ticket = access->kind == ACCESS_ATOMIC ? access->ticket : NO_TICKET;
    warp->memory_in_flight++;
    sm->near |= set_of(w);
    warp->atomics_in_flight += flight->ticket != NO_TICKET;
    const bool slow = access->kind != ACCESS_NONE ? access->space != SPACE_SHARED : timed->parameter != 0;
    set_pending(warp->pending, timed, slow);
    enqueue_memory(sm, number, timed, access, read_operands(sm, w, timed));
    if (sm->slips) {
        flight->lanes = 0, flight->entire = flight->landed = false;
        if (access->kind == ACCESS_NONE || access->space == SPACE_SHARED || access->space == SPACE_CONST ||
            access->space == SPACE_PARAM)
            sm_looked_up(sm, number, 0);
    }
}

static __attribute__((noinline)) uint32_t use_flight(struct sm *sm) {
    return ++sm->flights_used < FLIGHTS_MAX ? sm->flights_used : NO_FLIGHT;
}

/* Behind those given back come, in order, those never used. */
static inline uint32_t next_flight(struct sm *sm, uint32_t number) {
    return number < sm->flights_used ? sm->flights[number].next : use_flight(sm);
}

static inline void launch_flight(struct sm *sm, unsigned w, uint32_t pc, const struct access *access) {
    const struct timed *timed = &sm->timed[pc];
    const uint32_t number = sm->free_flight;
    struct flight *flight = &sm->flights[number];
    sm->free_flight = next_flight(sm, number);
    flight->pc = pc, flight->warp = (uint8_t)w;
    sm->warps[w].in_flight++;
    sm->progress[w] += timed->order == ORDER_PROGRESS;
    const enum sm_unit unit = timed->unit;
    if (unit == SM_UNIT_MEMORY) {
        launch_memory(sm, w, number, timed, access);
        return;
    }
    set_pending(sm->warps[w].pending, timed, false);
    if (sm->params.pipeline == SM_ONE_CYCLE) {
        sm_write_back_at(sm, sm->now + sm->wide, number);
        return;
    }
    const uint64_t start = take_unit(sm, unit, read_operands(sm, w, timed), timed);
    sm->collectors_used += UINT64_C(1) << UNIT_BITS * unit;
    sm_collector_at(sm, start, unit);
    sm_write_back_at(sm, start + timed->done_cycles, number);
}

void sm_launch_if_room(struct sm *sm, unsigned w, uint32_t pc, const struct access *access) {
    if (sm_takes(sm, pc))
        launch_flight(sm, w, pc, access);
}

uint32_t sm_take_flight(struct sm *sm) {
    const uint32_t flight = sm->free_flight;
    if (flight != NO_FLIGHT)
        sm->free_flight = next_flight(sm, flight);
    return flight;
}

void sm_book_flight(struct sm *sm, unsigned slot, uint32_t number, const struct access *access, struct bundle *bundle) {
    struct flight *flight = &sm->flights[number];
    const struct timed *timed = &sm->timed[flight->pc];
    const enum sm_unit unit = timed->unit;
    if (!bundle->ready) /* groups of a bundle are on lanes, and so in register files, of their own */
        bundle->ready = read_operands(sm, slot, timed) + (bundle->turns - 1) * sm->wide;
    if (unit == SM_UNIT_MEMORY) {
        enqueue_memory(sm, number, timed, access, bundle->ready);
        return;
    }
    if (sm->params.pipeline == SM_ONE_CYCLE) {
        sm_write_back_at(sm, sm->now + sm->wide, number);
        return;
    }
    if (!bundle->starts[unit]) {
        bundle->starts[unit] = take_unit(sm, unit, bundle->ready, timed);
        sm->collectors_used += UINT64_C(1) << UNIT_BITS * unit;
        sm_collector_at(sm, bundle->starts[unit], unit);
    }
    sm_write_back_at(sm, bundle->starts[unit] + timed->done_cycles, number);
}

static inline void count_issue(struct sm *sm, unsigned scheduler, const struct sm_warp *warp, uint32_t pc) {
    sm->scheduler_class[scheduler] = warp->width_class;
    sm->scheduler_pc[scheduler] = pc;
    sm_count_slots(sm, pc, warp->width_class, 1);
    sm_count_group(sm, warp->width);
}

/* Control flow, the end of a straight run, or a barrier: the mechanism says how the warp goes on. */
static void end_run(struct sm *sm, unsigned w, const struct executed *executed) {
    slot_set changed = 0;
    sm->warps[w].since = sm->now + 1; /* the wait before it is counted; a barrier that opens looks at the warp again */
    switch (executed->flow) {
    case FLOW_BRANCH:
    case FLOW_MULTI:
    case FLOW_CALL: sm_count_parting(sm, executed); break;
    case FLOW_EXIT: changed = end_threads(sm, w, executed); break;
    case FLOW_BARRIER: changed = sm_arrive(sm, w / sm->shape.warps_per_place, w, NULL, executed); break;
    default: break;
    }
    if (changed)
        sm_look_again(sm, changed & ~set_of(w));
    if (set_has(sm->used, w))
        sm_update_warp(sm, w);
}

/* Lanes whose data came while others ran write them back in the slot of their instruction, and go on behind it. */
static void issue_rejoin(struct sm *sm, unsigned scheduler, unsigned w) {
    struct sm_warp *warp = &sm->warps[w];
    const struct executed executed = {.flow = FLOW_NEXT, .pc = warp->pc, .issues = 1, .lanes = warp->group.lanes};
    sm->scheduler_class[scheduler] = warp->width_class;
    sm->scheduler_pc[scheduler] = warp->pc;
    sm_count_slots(sm, warp->pc, warp->width_class, 1);
    sm->mechanism->issued(sm->control, w, &warp->group, &executed);
    warp->buffer_pc = warp->pc + 1;
    end_run(sm, w, &executed);
}

static __attribute__((noinline)) void tell_of(struct sm *sm, unsigned w, const struct executed *executed) {
    sm_tell_watcher(sm, w, &sm->warps[w].group, executed, sm->free_flight);
    if (sm->predictor && executed->flow == FLOW_BRANCH)
        sm_predict(sm, w, executed);
}

static void issue_warp(struct sm *sm, unsigned scheduler, unsigned w) {
    struct sm_warp *warp = &sm->warps[w];
    const uint32_t pc = warp->pc;
    struct executed executed;
    struct access access;
    sm->inst_stats[pc].waits[warp->stage] += sm->now - warp->since;
    if (warp->group.rejoins) {
        issue_rejoin(sm, scheduler, w);
        return;
    }
    count_issue(sm, scheduler, warp, pc);
    sm->executor.step(sm->executor.self, w, &warp->group, warp->alive, sm->now, &executed, &access);
    if (executed.flow == FLOW_FAULT) {
        sm->faulted = true;
        sm->fault_cycle = sm->now, sm->fault_warp = w;
        return;
    }
    /* who looks on sees the mechanism as it is: it hears of every instruction */
    const bool runs_on = executed.flow == FLOW_NEXT && pc + 1 != warp->group.stop_pc && !sm->shape.watcher;
    if (!runs_on) {
        sm->mechanism->issued(sm->control, w, &warp->group, &executed);
        if (sm->is_watched)
            tell_of(sm, w, &executed);
    }
    launch_flight(sm, w, pc, &access);
    if (!runs_on) {
        warp->buffer_pc = pc + 1;
        end_run(sm, w, &executed);
        return;
    }
    warp->since = sm->now + 1;
    go_on(sm, w, warp, pc + 1);
}

void sm_end_empty(struct sm *sm) {
    if (!sm->empty.open)
        return;
    for (unsigned s = 0; s < sm->params.schedulers; s++)
        sm_book(sm, sm->empty.to[s], sm->now - sm->empty.since);
    sm->empty.open = false;
}

void sm_begin_empty(struct sm *sm) {
    sm_end_empty(sm);
    sm->empty.open = true, sm->empty.since = sm->now, sm->empty.no_flight = sm->free_flight == NO_FLIGHT;
    sm->empty.used = sm->used, sm->empty.ready = sm->ready, sm->empty.stalled_long = sm->stalled_long;
    for (unsigned s = 0; s < sm->params.schedulers; s++)
        sm->empty.to[s] = sm_empty(sm, s, sm->ready & sm->scheduler_warps[s]);
}

/* Nothing issued in the cycle before, and the sets of warps are as they were then. */
static inline bool stays_empty(const struct sm *sm) {
    return sm->empty.open && sm->empty.used == sm->used && sm->empty.ready == sm->ready &&
           sm->empty.stalled_long == sm->stalled_long && sm->empty.no_flight == (sm->free_flight == NO_FLIGHT);
}

/* Where lanes wait on their own: a warp-level operation waits for those that it names and that are elsewhere. Coming to it
 * takes a slot; it is executed, and counted, when all have come. */
static void issue_path(struct sm *sm, unsigned scheduler, unsigned w) {
    struct sm_warp *warp = &sm->warps[w];
    if (!inst_meets(&sm->module->code[warp->pc]) || sm_is_whole(sm, w, &warp->group)) {
        issue_warp(sm, scheduler, w);
        return;
    }
    sm->inst_stats[warp->pc].waits[warp->stage] += sm->now - warp->since;
    warp->since = sm->now + 1;
    sm->scheduler_class[scheduler] = warp->width_class;
    sm->scheduler_pc[scheduler] = warp->pc;
    sm_count_issued(sm, scheduler, 1);
    warp->buffer_pc = warp->pc + 1;
    sm_look_again(sm, sm_meet(sm, w, &warp->group, NULL) | set_of(w));
}

void sm_issue(struct sm *sm) {
    const slot_set ready = sm->ready, blocked = sm_without_room(sm);
    slot_set possible = ready & ~blocked;
    if (blocked != sm->unit_blocked)
        set_blocked(sm, blocked);
    if (sm->books_later && !possible) {
        if (!stays_empty(sm))
            sm_begin_empty(sm);
        return;
    }
    if (sm->empty.open)
        sm_end_empty(sm);
    /* each scheduler is the first to ask for room in its turn */
    unsigned s = (unsigned)(sm->now % sm->params.schedulers);
    for (unsigned n = 0; n < sm->params.schedulers; n++, s = s + 1 < sm->params.schedulers ? s + 1 : 0) {
        if (sm->scheduler_busy[s] > sm->now) {
            sm_count_issued(sm, s, 1);
            continue;
        }
        const slot_set mine = sm->scheduler_warps[s];
        if (!(possible & mine)) {
            sm_book(sm, sm_empty(sm, s, ready & mine), 1);
            continue;
        }
        const struct scheduler_view view = {possible & mine, sm->stalled_long, sm->older};
        unsigned turns = 1;
        if (sm->whole_warps)
            issue_warp(sm, s, sm->scheduler->pick(sm->schedulers[s], &view));
        else if (!sm->regroup)
            issue_path(sm, s, sm->scheduler->pick(sm->schedulers[s], &view));
        else if (!(turns = sm_regroup_issue(sm, s, &view)))
            continue;
        sm->scheduler_busy[s] = sm->now + (uint64_t)turns * sm->wide;
        if (sm->faulted)
            return;
        possible &= ~sm_without_room(sm); /* for the next scheduler; what became ready waits a cycle */
    }
}
