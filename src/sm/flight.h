/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions on their way from issue to write-back: operands, units, registers that wait. In a header because issue is
 * the hottest path of an SM. */
#ifndef HEDDLE_SM_FLIGHT_H
#define HEDDLE_SM_FLIGHT_H

#include "sm/copies.h"
#include "sm/state.h"
#include "sm/wheel.h"

/* sm.late_guards: what it writes cannot guard yet. Its flight is written back twice: when its predicates can be read, it is kept, and when they guard.
 * Then each may have a newer flight that writes it, or NO_FLIGHT: all of it guards. */
SM_STAGE void sm_hold_guards(struct sm *sm, unsigned warp, uint32_t flight);
SM_STAGE bool sm_keeps_guards(struct sm *sm, uint32_t flight);
SM_STAGE uint32_t sm_newer_guard(struct sm *sm, uint32_t flight, unsigned i);

static inline void sm_set_pending(struct sm_pending *pending, const struct timed *timed, bool memory) {
    pending[timed->word].any |= timed->written;
    pending[timed->word].memory |= memory ? timed->written : 0;
    for (unsigned i = 0; i < timed->more_count; i++) {
        const struct timed_word *word = &timed->more[i];
        pending[word->word].any |= word->written;
        pending[word->word].memory |= memory ? word->written : 0;
    }
}

static inline void sm_clear_pending(struct sm_pending *pending, const struct timed *timed) {
    pending[timed->word].any &= ~timed->written;
    pending[timed->word].memory &= ~timed->written;
    for (unsigned i = 0; i < timed->more_count; i++) {
        const struct timed_word *word = &timed->more[i];
        pending[word->word].any &= ~word->written;
        pending[word->word].memory &= ~word->written;
    }
}

/* Operands: one read per bank and cycle, in the order of issue. */
static inline uint64_t sm_read_operands(struct sm *sm, unsigned warp, const struct timed *timed) {
    if (sm->params.pipeline == SM_ONE_CYCLE)
        return sm->now;
    const unsigned banks = sm->params.register_banks, shift = SETS(sm)->warps[warp].bank;
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
static inline uint64_t sm_take_unit(struct sm *sm, enum sm_unit unit, uint64_t ready, const struct timed *timed) {
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
static inline void sm_enqueue_memory(struct sm *sm, uint32_t flight, const struct timed *timed,
                                     const struct access *access, uint64_t ready) {
    if (access->kind != ACCESS_NONE)
        sm_enqueue_access(sm, flight, access, ready + timed->busy_cycles);
    else if (timed->parameter)
        sm_enqueue_parameter(sm, flight, timed->parameter - 1, ready);
    else
        sm_write_back_at(sm, ready + timed->done_cycles, flight);
}

/* Behind those given back come, in order, those never used. */
static inline uint32_t sm_next_flight(struct sm *sm, uint32_t number) {
    return number < sm->flights_used ? sm->flights[number].next : sm_use_flight(sm);
}

static inline void sm_launch_flight(struct sm *sm, unsigned w, uint32_t pc, const struct access *access) {
    const struct timed *timed = &sm->timed[pc];
    const uint32_t number = sm->free_flight;
    struct flight *flight = &sm->flights[number];
    sm->free_flight = sm_next_flight(sm, number);
    flight->pc = pc, flight->warp = (uint8_t)w;
    SETS(sm)->warps[w].in_flight++;
    if (timed->order == ORDER_PROGRESS)
        sm->progress[w]++;
    else if (timed->order == ORDER_GUARDS)
        sm_hold_guards(sm, w, number);
    const enum sm_unit unit = timed->unit;
    if (unit == SM_UNIT_MEMORY) {
        sm_launch_memory(sm, w, number, timed, access);
        return;
    }
    sm_set_pending(SETS(sm)->warps[w].pending, timed, false);
    if (sm->params.pipeline == SM_ONE_CYCLE) {
        sm_write_back_at(sm, sm->now + sm->wide, number);
        return;
    }
    const uint64_t start = sm_take_unit(sm, unit, sm_read_operands(sm, w, timed), timed);
    sm->collectors_used += UINT64_C(1) << UNIT_BITS * unit;
    sm_collector_at(sm, start, unit);
    sm_write_back_at(sm, start + timed->done_cycles, number);
}

#endif
