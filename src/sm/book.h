/* SPDX-License-Identifier: Apache-2.0 */
/* Where the slots of schedulers are counted. */
#ifndef HEDDLE_SM_BOOK_H
#define HEDDLE_SM_BOOK_H

#include "sm/texture.h"

/* The one that started first; where the mechanism forms groups, the first slot. */
static inline unsigned sm_oldest(const struct sm *sm, slot_set warps) { return set_oldest(warps, SETS(sm)->older); }

static inline void sm_count_slots(struct sm *sm, uint32_t pc, unsigned class, uint64_t slots) {
    sm->stats.in_slots[class] += slots;
    sm->inst_stats[pc].slots[class] += slots;
}

/* Where a slot is booked in which a warp would issue, were there room in the stage it needs. */
static inline struct booking sm_stall(const struct sm *sm, const struct sm_warp *warp, unsigned stage) {
    stage = sm->free_flight == NO_FLIGHT ? (unsigned)SM_STALL_IN_FLIGHT : stage;
    if (stage == SM_UNIT_MEMORY && sm->texture && sm->texture->is_held)
        stage = SM_STALL_TEXTURE;
    return (struct booking){warp->pc, SLOT_STALL + stage};
}

/* The same of a slot in which a scheduler with these ready warps issues nothing. `memory`: all that has not ended waits for it. */
static inline struct booking sm_empty(const struct sm *sm, unsigned scheduler, slot_set ready, bool memory) {
    if (ready) {
        const struct sm_warp *warp = &SETS(sm)->warps[sm_oldest(sm, ready)];
        return sm_stall(sm, warp, sm->holding ? SM_UNIT_MEMORY : warp->ready_unit);
    }
    const slot_set mine = SETS(sm)->used & SETS(sm)->scheduler_warps[scheduler], soon = mine & ~SETS(sm)->stalled_long;
    const uint32_t pc = mine ? SETS(sm)->warps[sm_oldest(sm, soon ? soon : mine)].pc : sm->module->code_count;
    return (struct booking){pc, memory ? SLOT_MEMORY : SLOT_IDLE};
}

static inline void sm_book(struct sm *sm, struct booking to, uint64_t slots) {
    sm->stats.stall += to.class >= SLOT_STALL ? slots : 0;
    sm_count_slots(sm, to.pc, to.class, slots);
}

/* Slots that a warp of the scheduler fills. */
static inline void sm_count_issued(struct sm *sm, unsigned scheduler, uint64_t slots) {
    sm_count_slots(sm, sm->scheduler_pc[scheduler], sm->scheduler_class[scheduler], slots);
}

/* Slots in which it is busy: with a warp, or stopped by bank conflicts. */
static inline void sm_count_busy(struct sm *sm, unsigned scheduler, uint64_t slots) {
    if (sm->scheduler_held[scheduler]) {
        const uint64_t held = slots < sm->scheduler_held[scheduler] ? slots : sm->scheduler_held[scheduler];
        sm->scheduler_held[scheduler] -= (uint32_t)held;
        const slot_set ready = SETS(sm)->ready & SETS(sm)->scheduler_warps[scheduler];
        const struct booking to = ready ? sm_stall(sm, &SETS(sm)->warps[sm_oldest(sm, ready)], SM_UNIT_MEMORY)
                                        : sm_empty(sm, scheduler, 0, SETS(sm)->front->all_at_memory(sm));
        sm_book(sm, to, held);
        slots -= held;
    }
    if (slots)
        sm_count_issued(sm, scheduler, slots);
}

static inline void sm_count_group(struct sm *sm, unsigned lanes) {
    sm->stats.issues++;
    sm->stats.active_lanes += lanes;
    sm->histograms->active_lanes[lanes]++;
}

#endif
