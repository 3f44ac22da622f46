/* SPDX-License-Identifier: Apache-2.0 */
/* Groups that mechanisms form anew: a pool of them, of which the first stand in the issue slots, where they are fetched
 * for, and the rest queue behind. What mechanisms that dissolve groups share, beside simt/threads.h. */
#ifndef HEDDLE_SIMT_FORMED_H
#define HEDDLE_SIMT_FORMED_H

#include "base/arena.h"
#include "base/bits.h"
#include "simt/group.h"

#define FORMED_NONE UINT16_MAX

struct formed {
    uint64_t birth; /* when it came into the queue: the number of those that came before */
    uint32_t pc, lanes;
    uint32_t rank;           /* the mechanism's */
    uint16_t block, slot;    /* slot FORMED_NONE: it stands in none */
    uint16_t home;           /* the slot it stood in last */
    uint16_t next, previous; /* in the queue; next also in the list of free places */
    uint16_t threads[LANES_MAX];
};

struct formed_pool {
    struct formed *items;
    uint16_t free, first, last; /* lists: free places; the queue, oldest first */
    unsigned count;             /* places taken */
    uint64_t births, slots_free;
    uint16_t slots[ISSUE_SLOTS_MAX]; /* places */
};

void formed_create(struct formed_pool *pool, struct arena *arena, unsigned count);
/* A place of the pool for an empty group, in no slot and not in the queue. There must be one. */
uint16_t formed_take(struct formed_pool *pool, unsigned block, uint32_t pc);
/* A free place has no lanes. */
void formed_give(struct formed_pool *pool, uint16_t number);
/* From now on the group waits to be issued. */
void formed_enqueue(struct formed_pool *pool, uint16_t number);
/* From the queue into a free slot; and out of it, to wherever the caller puts it. */
void formed_enter(struct formed_pool *pool, uint16_t number, unsigned slot);
uint16_t formed_leave(struct formed_pool *pool, unsigned slot);
/* To the end of the queue, no younger than before. */
void formed_requeue(struct formed_pool *pool, uint16_t number);
/* The head of the queue takes a free slot, its last one where that is free, as long as there are any; the slots filled. */
uint64_t formed_fill(struct formed_pool *pool);
/* The group in the slot; NULL: none. */
static inline struct formed *formed_at(const struct formed_pool *pool, unsigned slot) {
    return pool->slots_free >> slot & 1 ? NULL : &pool->items[pool->slots[slot]];
}
static inline bool formed_offer(const struct formed_pool *pool, unsigned slot, struct group *out) {
    const struct formed *formed = formed_at(pool, slot);
    if (!formed)
        return false;
    *out = (struct group){.pc = formed->pc, .lanes = formed->lanes, .stop_pc = NO_PC, .threads = formed->threads};
    return true;
}
/* The groups of a block, those in slots first; how many, at most `most`. */
unsigned formed_show(const struct formed_pool *pool, unsigned block, struct group_row *rows, unsigned most);

#endif
