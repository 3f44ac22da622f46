/* SPDX-License-Identifier: Apache-2.0 */
/* What schedulers that ask hear and see: events of warps, what ready warps want, what memory holds. */
#include "sm/book.h"

_Static_assert((int)SCHEDULER_NOBODY == (int)CACHE_NOBODY, "owners of lines are told as the cache has them");

/* A warp belongs to one scheduler, which alone hears of it. */
__attribute__((noinline, cold)) void sm_tell(struct sm *sm, const struct scheduler_event *event) {
    if (sm_hears(sm, event->kind))
        SETS(sm)->scheduler->heard(sm->schedulers[event->warp % sm->params.schedulers], event);
}

__attribute__((noinline, cold)) void sm_tell_issue(struct sm *sm, unsigned slot, const struct group *group,
                                                   const struct executed *executed) {
    struct scheduler_event event = {.kind = SCHEDULER_ISSUED,
                                    .warp = slot,
                                    .pc = group->pc,
                                    .lanes = group->lanes,
                                    .inst = &sm->module->code[group->pc]};
    sm_tell(sm, &event);
    if (executed->flow != FLOW_BRANCH)
        return;
    event.kind = SCHEDULER_BRANCHED, event.target = executed->target, event.taken = executed->taken;
    sm_tell(sm, &event);
}

/* Ready slots whose next instruction goes to global or local memory. */
__attribute__((noinline, cold)) void sm_see_memory(struct sm *sm) {
    struct scheduler_view *view = &SETS(sm)->view;
    view->loads = view->stores = 0;
    for (slot_set rest = view->ready; rest; rest &= rest - 1) {
        const unsigned slot = set_first(rest);
        const struct inst *inst = &sm->module->code[SETS(sm)->warps[slot].pc];
        if (!divergence_is_global(inst))
            continue;
        const bool stores =
            inst->op == OP_ST || inst->op == OP_ST_SNOOP || inst->op == OP_SUST || inst->op == OP_SUST_TEXEL;
        const bool loads = inst->op == OP_LD || inst->op == OP_LD_SNOOP || inst->op == OP_TEX || inst->op == OP_SULD;
        view->loads |= stores ? 0 : set_of(slot);
        view->stores |= loads ? 0 : set_of(slot);
    }
}

/* The scheduler has to say so again in the next cycle. */
__attribute__((noinline, cold)) void sm_book_none(struct sm *sm, slot_set possible) {
    const struct sm_warp *warp = &SETS(sm)->warps[sm_oldest(sm, possible)];
    sm_book(sm, (struct booking){warp->pc, SLOT_STALL + (unsigned)SM_STALL_SCHEDULER}, 1);
}

static uint32_t free_mshrs(const void *self) {
    const struct sm *sm = self;
    return cache_free_mshrs(sm->l1);
}

static uint32_t queue_room(const void *self) {
    const struct sm *sm = self;
    return sm->queue_count < sm->params.memory_queue ? sm->params.memory_queue - sm->queue_count : 0;
}

static void line_evicted(void *self, uint64_t address, uint8_t owner) {
    if (owner != CACHE_NOBODY)
        sm_tell(self, &(struct scheduler_event){.kind = SCHEDULER_EVICTED, .warp = owner, .line = address});
}

static uint8_t owner_of_tag(void *self, uint64_t tag) {
    const struct sm *sm = self;
    const uint8_t slot = sm->flights[(uint32_t)tag].warp;
    return slot < FETCHES ? slot : CACHE_NOBODY;
}

void sm_watch_l1(struct sm *sm) {
    const uint32_t lines = 1u << SCHEDULER_HIT | 1u << SCHEDULER_MISSED | 1u << SCHEDULER_EVICTED;
    const struct cache_watcher watcher = {sm, line_evicted, owner_of_tag, CACHE_NOBODY};
    cache_watch(sm->l1, sm->hears & lines ? &watcher : NULL); /* the L1 outlives launches */
}

void sm_tell_lookup(struct sm *sm, const struct queued *entry, unsigned owner, enum cache_outcome outcome) {
    const struct flight *flight = &sm->flights[entry->flight];
    if (flight->warp >= FETCHES)
        return;
    sm_tell(sm, &(struct scheduler_event){.kind = outcome == CACHE_HIT ? SCHEDULER_HIT : SCHEDULER_MISSED,
                                          .warp = flight->warp,
                                          .pc = flight->pc,
                                          .lanes = entry->lanes[entry->next],
                                          .count = outcome == CACHE_MISS,
                                          .line = cache_line_address(sm->l1, entry->address[entry->next]),
                                          .owner = owner,
                                          .inst = &sm->module->code[flight->pc]});
}

struct scheduler_memory sm_scheduler_memory(const struct sm *sm) {
    return (struct scheduler_memory){.sm = sm, .free_mshrs = free_mshrs, .queue_room = queue_room};
}
