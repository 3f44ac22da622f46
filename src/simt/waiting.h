/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a block that wait for others, in both modes: they arrive at block barriers and at warp-level operations, are held
 * there, and go on when the last has come or ended. Outside the mechanism, whether warps keep their slots or groups dissolve. */
#ifndef HEDDLE_SIMT_WAITING_H
#define HEDDLE_SIMT_WAITING_H

#include "isa/inst.h"
#include "simt/group.h"
#include "simt/waits.h"

struct waiting_block {
    uint32_t alive; /* threads that have not ended */
    unsigned first_warp, warp_count;
    bool in_cluster;     /* with other blocks: whoever has them says when its barrier opens */
    uint32_t at_cluster; /* threads that have arrived at the cluster's barrier since it opened last */
    uint32_t begun;      /* bit for each barrier at which threads have arrived since it opened last */
    struct waits *waits; /* [warp] */
    struct barrier barriers[BARRIERS];
};

/* What the two modes do each in its own way. */
struct waiting_mode {
    /* These lanes, which were just issued, wait at pc. */
    void (*hold)(void *owner, unsigned warp, uint32_t pc, uint32_t lanes);
    /* They go on; at a barrier they are told its result. */
    void (*let_go)(void *owner, unsigned warp, const struct waiting *those, const struct barrier_result *result);
    /* Lanes of the warp that have not ended. */
    uint32_t (*alive)(const void *owner, unsigned warp);
    /* Lanes that the thread's warp-level operation names. */
    uint32_t (*named)(const void *owner, unsigned warp, unsigned lane, uint32_t pc);
    /* The operation of lanes that have all come; they go on. False: it faults. */
    bool (*execute)(void *owner, unsigned warp, const struct group *group, uint32_t alive);
    bool arrives_by_waiting; /* at the cluster's barrier: it is one of the block, and who only arrived there has not */
};

/* Who calls. */
struct waiting_caller {
    const struct waiting_mode *mode;
    void *owner;
    const struct inst *code;
};

/* Do the `taken` lanes wait at the barrier that was executed? Else they only arrive. */
static inline bool waiting_stays(const struct inst *code, const struct executed *executed) {
    return executed->flow == FLOW_BARRIER && code[executed->pc].mode != MODE_ARRIVE;
}

/* A group of the slot has executed a barrier. threads: of each lane; NULL: the warp's of the slot. */
void waiting_arrive(struct waiting_block *block, const struct waiting_caller *caller, unsigned slot,
                    const uint16_t *threads, const struct executed *executed);
/* All threads of the cluster have arrived at its barrier: those of this block go on. */
void waiting_open_cluster(struct waiting_block *block, const struct waiting_caller *caller);
/* Have all lanes come that the group's warp-level operation names? */
bool waiting_is_whole(const struct waiting_caller *caller, unsigned warp, const struct group *group);
/* The group, of which the mechanism has heard, waits at its warp-level operation for those that it names; sets that are complete
 * go on. False: one faulted. */
bool waiting_meet(struct waiting_block *block, const struct waiting_caller *caller, unsigned slot,
                  const struct group *group);
/* The `taken` threads have ended: what waited for them may go on. False: an operation that does faulted. */
bool waiting_end(struct waiting_block *block, const struct waiting_caller *caller, unsigned slot,
                 const uint16_t *threads, const struct executed *executed);

#endif
