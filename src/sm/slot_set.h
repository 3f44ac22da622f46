/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of issue slots, a bit each. Most SMs have up to 64 slots and a set is a word of the host; what knows sets is compiled
 * once more, in sm/many.c, for SMs of up to 128. Mechanisms answer with a word of 64 slots: see sm_answer. */
#ifndef HEDDLE_SM_SLOT_SET_H
#define HEDDLE_SM_SLOT_SET_H

#include "base/bits.h"

#ifdef SM_MANY
enum { SET_SLOTS = 128 };
__extension__ typedef unsigned __int128 slot_set;
static inline unsigned set_first(slot_set set) {
    return (uint64_t)set ? bits_first64((uint64_t)set) : 64 + bits_first64((uint64_t)(set >> 64));
}
#define SM_ENTRIES sm_many
#define SM_STAGE static /* of the functions that stages share: each copy has its own */
#define SM_TABLE static
#define SCHEDULER_NAME(id) scheduler_many_##id
/* What has sets in it is another type, and has another name. */
#define sm_sets sm_sets_many
#define sm_front sm_front_many
#define wheel_slot wheel_slot_many
#define subcores subcores_many
#define scheduler_view scheduler_view_many
#define scheduler_shape scheduler_shape_many
#define scheduler_ops scheduler_ops_many
#define scheduler_find scheduler_many_find
#define scheduler_at scheduler_many_at
#else
enum { SET_SLOTS = 64 };
typedef uint64_t slot_set;
/* The lowest; the set must not be empty. */
static inline unsigned set_first(slot_set set) { return bits_first64(set); }
#define SM_ENTRIES sm_few
#define SM_STAGE
#define SM_TABLE extern
#define SCHEDULER_NAME(id) scheduler_##id
#endif

static inline slot_set set_of(unsigned slot) { return (slot_set)1 << slot; }
static inline bool set_has(slot_set set, unsigned slot) { return (set >> slot & 1) != 0; }
/* The first so many. */
static inline slot_set set_low(unsigned count) {
    return count >= SET_SLOTS ? ~(slot_set)0 : ((slot_set)1 << count) - 1;
}
/* The one that started first, older[slot] being those that started before it; the set must not be empty. */
static inline unsigned set_oldest(slot_set set, const slot_set *older) {
    unsigned oldest = set_first(set);
    while ((set &= older[oldest]) != 0)
        oldest = set_first(set);
    return oldest;
}
/* The one that started last. */
static inline unsigned set_youngest(slot_set set, const slot_set *older) {
    unsigned youngest = set_first(set);
    while ((set &= ~older[youngest] & ~set_of(youngest)) != 0)
        youngest = set_first(set);
    return youngest;
}
/* Greedy then oldest: the same as before while it can; the set must not be empty. */
static inline unsigned set_greedy(slot_set set, unsigned last, const slot_set *older) {
    return set_has(set, last) ? last : set_oldest(set, older);
}
static inline unsigned set_count(slot_set set) {
    unsigned count = 0;
    for (; set; set &= set - 1)
        count++;
    return count;
}
/* The first behind `last`, round-robin; the set must not be empty. */
static inline unsigned set_next(slot_set set, unsigned last) {
    const slot_set after = last >= SET_SLOTS - 1 ? 0 : set & ~(((slot_set)2 << last) - 1);
    return set_first(after ? after : set);
}

#endif
