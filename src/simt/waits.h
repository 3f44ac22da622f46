/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a warp that wait for others, whatever groups carried them there: at block barriers, and at warp-level
 * operations until the lanes that they name have come. */
#ifndef HEDDLE_SIMT_WAITS_H
#define HEDDLE_SIMT_WAITS_H

#include "base/arena.h"
#include "base/bits.h"
#include "simt/barrier.h"

enum { AT_MEETING = BARRIERS }; /* not at a barrier but at a warp-level operation */

struct waiting {
    uint32_t pc, lanes;
    uint32_t at; /* which barrier, or AT_MEETING */
};

/* Of one warp. No two have the same lane, or the same pc and place. */
struct waits {
    unsigned count;
    uint32_t at_cluster; /* lanes that have arrived at the cluster's barrier since it opened last */
    struct waiting *items;
};

/* At most `each` at a time: 1 where a warp waits as a whole, LANES_MAX where lanes wait on their own. */
static inline struct waits *waits_create(struct arena *arena, unsigned warps, unsigned each) {
    struct waits *waits = ARENA_ARRAY(arena, struct waits, warps);
    struct waiting *items = ARENA_ARRAY(arena, struct waiting, (size_t)warps * each);
    for (unsigned w = 0; w < warps; w++)
        waits[w].items = items + (size_t)w * each;
    return waits;
}

static inline void waits_add(struct waits *waits, uint32_t pc, uint32_t at, uint32_t lanes) {
    for (unsigned i = 0; i < waits->count; i++)
        if (waits->items[i].pc == pc && waits->items[i].at == at) {
            waits->items[i].lanes |= lanes;
            return;
        }
    waits->items[waits->count++] = (struct waiting){pc, lanes, at};
}

static inline uint32_t waits_lanes(const struct waits *waits) {
    uint32_t lanes = 0;
    for (unsigned i = 0; i < waits->count; i++)
        lanes |= waits->items[i].lanes;
    return lanes;
}

/* Takes out those at a barrier, PC by PC; false: there are no more. */
static inline bool waits_take(struct waits *waits, uint32_t at, struct waiting *out) {
    for (unsigned i = 0; i < waits->count; i++)
        if (waits->items[i].at == at) {
            *out = waits->items[i];
            waits->items[i] = waits->items[--waits->count];
            return true;
        }
    return false;
}

/* Who knows what the instruction of a lane of this warp names. */
struct waits_members {
    const void *self;
    uint32_t (*of)(const void *self, unsigned warp, unsigned lane, uint32_t pc);
    unsigned warp;
};

/* Are all that the lanes name among them? */
static inline bool waits_are_whole(const struct waits_members *members, uint32_t pc, uint32_t lanes, uint32_t alive) {
    uint32_t named = 0;
    if (lanes != alive)
        for (BITS_EACH(lane, lanes))
            named |= members->of(members->self, members->warp, lane, pc);
    return !(named & alive & ~lanes);
}

/* Takes out a set of lanes at a warp-level operation whose members that have not ended are all there, with its PC;
 * 0: there is none. A lane that does not name itself goes alone: its guard does not hold, or the executor refuses it. */
static inline uint32_t waits_meet(struct waits *waits, const struct waits_members *members, uint32_t alive,
                                  uint32_t *pc) {
    for (unsigned i = 0; i < waits->count; i++) {
        struct waiting *here = &waits->items[i];
        if (here->at != AT_MEETING)
            continue;
        for (BITS_EACH(lane, here->lanes)) {
            const uint32_t own = UINT32_C(1) << lane;
            const uint32_t named = members->of(members->self, members->warp, lane, here->pc) & alive;
            const uint32_t set = named & own ? named : own;
            if (set & ~here->lanes)
                continue;
            *pc = here->pc;
            here->lanes &= ~set;
            if (!here->lanes)
                *here = waits->items[--waits->count];
            return set;
        }
    }
    return 0;
}

#endif
