/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the ready warps issues next, if any: one file per policy, chosen by exact name. A policy that asks for them hears of
 * events of its warps, reads what the memory system holds, sends loads of a warp past the L1 and caps the blocks of the SM. One
 * that does not ask costs nothing. */
#ifndef HEDDLE_SM_SCHEDULER_SCHEDULER_H
#define HEDDLE_SM_SCHEDULER_SCHEDULER_H

#include <stdint.h>

#include "base/arena.h"
#include "cost/own.h"
#include "sm/slot_set.h"

struct inst;

struct scheduler_view {
    slot_set ready;        /* warps of this scheduler that could issue; never 0 */
    slot_set stalled;      /* warps that wait for memory or a barrier, or have ended */
    const slot_set *older; /* [warp]: warps that started before it */
    slot_set loads,
        stores; /* `sees_memory`: those ready whose next instruction is one of global or local memory; an atomic is both */
};

/* What happened to a warp. */
enum scheduler_event_kind {
    SCHEDULER_STARTED,   /* its block got a place */
    SCHEDULER_ENDED,     /* its last thread has ended */
    SCHEDULER_ISSUED,    /* pc, inst, lanes */
    SCHEDULER_BRANCHED,  /* pc, target, lanes, taken; a loop goes on where target <= pc */
    SCHEDULER_WAITS,     /* at a barrier, or for lanes that its instruction names: pc, lanes */
    SCHEDULER_GOES_ON,   /* lanes of it that waited */
    SCHEDULER_COALESCED, /* a load, store or atomic of global or local memory: pc, lanes, count of transactions */
    SCHEDULER_HIT,       /* a transaction found its line in the L1: pc, inst, line, owner */
    SCHEDULER_MISSED,    /* did not: pc, inst, line; count 0: it waits for a fetch under way, 1: it does not */
    SCHEDULER_EVICTED,   /* line of the L1 that left; warp: its owner */
    SCHEDULER_EVENT_KINDS
};
enum { SCHEDULER_NOBODY = 255 }; /* owner of a line that no warp of this launch brought */

struct scheduler_event {
    enum scheduler_event_kind kind;
    unsigned warp; /* the issue slot */
    uint32_t pc, target, lanes, taken, count;
    uint64_t line;  /* its first address */
    unsigned owner; /* the warp that brought the line */
    const struct inst *inst;
};

/* What the SM answers when asked; `sm` goes first. */
struct scheduler_memory {
    const void *sm;
    uint32_t (*free_mshrs)(const void *sm);
    uint32_t (*queue_room)(const void *sm); /* of the load/store unit */
};

struct scheduler_shape {
    unsigned warps;           /* issue slots of the SM: warps, large warps, whatever the mechanism puts into them */
    slot_set mine;            /* those of this scheduler */
    unsigned group;           /* sm.fetch_group */
    uint32_t timeout;         /* scheduler.group_timeout */
    const uint8_t *places;    /* [warp]: its block's place in the SM, while it could issue */
    const slot_set *near;     /* warps whose last access to memory has met no miss so far */
    const uint32_t *progress; /* [warp]: `progress` instructions that it has issued */
    const void *params;       /* values of its own keys */
    const uint64_t *now;      /* the present cycle */
    struct scheduler_memory memory;
    slot_set *bypass; /* the policy writes: warps whose loads pass the L1 by; of all schedulers of the SM together */
    unsigned *blocks_most;   /* the policy writes: blocks that the SM may hold; the least of its schedulers counts */
    const struct inst *code; /* of the module; a PC is an index */
    uint32_t code_count;
    uint32_t l1_lines, l1_line_bytes; /* lines: 0 of a perfect L1 */
};

enum { SCHEDULER_NONE = SET_SLOTS }; /* no warp issues now */

struct scheduler_ops {
    const char *name, *help;
    void *(*create)(struct arena *arena, const struct scheduler_shape *shape);
    /* One of view->ready, or SCHEDULER_NONE: the slot is a stall of stage `scheduler`, and it is asked again in the next cycle. */
    unsigned (*pick)(void *self, const struct scheduler_view *view);
    bool sees_memory; /* view->loads and view->stores are filled in */
    /* Kinds of events that it hears of, a bit each, of its own warps; of evictions by whoever. */
    uint32_t hears;
    void (*heard)(void *self, const struct scheduler_event *event);
    struct own own;
};

/* Our own, then those of plug-ins, whose sets have 64 warps; NULL: there are not so many. */
const struct scheduler_ops *scheduler_at(unsigned number);

/* The policy of that exact name, or NULL with those that there are in the report. */
const struct scheduler_ops *scheduler_find(const char *name, struct report *report);

/* Has a plug-in one of that name? */
bool scheduler_is_added(const char *name);

#endif
