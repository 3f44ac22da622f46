/* SPDX-License-Identifier: Apache-2.0 */
#include "simt/waiting.h"

#include "simt/threads.h"

static struct waits_members members_of(const struct waiting_caller *caller, unsigned warp) {
    return (struct waits_members){caller->owner, caller->mode->named, warp};
}

static void hold(struct waiting_block *block, const struct waiting_caller *caller, unsigned warp,
                 const struct waiting *those) {
    waits_add(&block->waits[warp], those->pc, those->at, those->lanes);
    caller->mode->hold(caller->owner, warp, those->pc, those->lanes);
}

static void release(struct waiting_block *block, const struct waiting_caller *caller, unsigned id) {
    const struct barrier_result result = barrier_open(&block->barriers[id]);
    block->begun &= ~(UINT32_C(1) << id);
    for (unsigned warp = block->first_warp; warp < block->first_warp + block->warp_count; warp++)
        for (struct waiting one; waits_take(&block->waits[warp], id, &one);)
            caller->mode->let_go(caller->owner, warp, &one, &result);
}

/* ---- the barrier of a cluster ---- */

/* Threads arrive, go on, and wait later, so that it has to be known of each whether the phase that it arrived in is over: none can arrive
 * in the next one before it has waited. */

void waiting_open_cluster(struct waiting_block *block, const struct waiting_caller *caller) {
    block->at_cluster = 0;
    for (unsigned warp = block->first_warp; warp < block->first_warp + block->warp_count; warp++)
        block->waits[warp].at_cluster = 0;
    release(block, caller, CLUSTER_BARRIER);
}

static void open_if_met(struct waiting_block *block, const struct waiting_caller *caller) {
    if (!block->in_cluster && block->at_cluster && block->at_cluster == block->alive)
        waiting_open_cluster(block, caller);
}

static void wait_for_cluster(struct waiting_block *block, const struct waiting_caller *caller, unsigned warp,
                             uint32_t pc, uint32_t lanes) {
    const struct waiting those = {pc, lanes, CLUSTER_BARRIER};
    if (lanes & block->waits[warp].at_cluster) {
        hold(block, caller, warp, &those);
        return;
    }
    caller->mode->hold(caller->owner, warp, pc, lanes);
    caller->mode->let_go(caller->owner, warp, &those, &(struct barrier_result){0});
}

static void arrive_at_cluster(struct waiting_block *block, const struct waiting_caller *caller, unsigned slot,
                              const uint16_t *threads, const struct executed *executed) {
    const bool waits = caller->code[executed->pc].mode == MODE_WAIT;
    for (uint32_t rest = executed->taken; rest;) {
        unsigned warp;
        const uint32_t lanes = threads_take_warp(slot, threads, &rest, &warp);
        if (waits) {
            wait_for_cluster(block, caller, warp, executed->pc, lanes);
            continue;
        }
        block->at_cluster += bits_count(lanes & ~block->waits[warp].at_cluster);
        block->waits[warp].at_cluster |= lanes;
    }
    open_if_met(block, caller);
}

/* ---- barriers of the block ---- */

void waiting_arrive(struct waiting_block *block, const struct waiting_caller *caller, unsigned slot,
                    const uint16_t *threads, const struct executed *executed) {
    const enum mode mode = (enum mode)caller->code[executed->pc].mode;
    const bool of_cluster = executed->barrier == CLUSTER_BARRIER && (mode == MODE_ARRIVE || mode == MODE_WAIT);
    if (of_cluster && !caller->mode->arrives_by_waiting) {
        arrive_at_cluster(block, caller, slot, threads, executed);
        return;
    }
    if (of_cluster && mode == MODE_ARRIVE)
        return;
    block->begun |= UINT32_C(1) << executed->barrier;
    const bool met = barrier_arrive(&block->barriers[executed->barrier], executed, block->alive);
    for (uint32_t rest = waiting_stays(caller->code, executed) ? executed->taken : 0; rest;) {
        unsigned warp;
        const uint32_t lanes = threads_take_warp(slot, threads, &rest, &warp);
        hold(block, caller, warp, &(struct waiting){executed->pc, lanes, executed->barrier});
    }
    if (met)
        release(block, caller, executed->barrier);
}

bool waiting_is_whole(const struct waiting_caller *caller, unsigned warp, const struct group *group) {
    const struct waits_members members = members_of(caller, warp);
    return waits_are_whole(&members, group->pc, group->lanes, caller->mode->alive(caller->owner, warp));
}

/* Executes the operation for every set of lanes that is complete. */
static bool meet(struct waiting_block *block, const struct waiting_caller *caller, unsigned warp) {
    const struct waits_members members = members_of(caller, warp);
    const uint32_t alive = caller->mode->alive(caller->owner, warp);
    struct group group = {.stop_pc = NO_PC};
    while ((group.lanes = waits_meet(&block->waits[warp], &members, alive, &group.pc)) != 0)
        if (!caller->mode->execute(caller->owner, warp, &group, alive))
            return false;
    return true;
}

bool waiting_meet(struct waiting_block *block, const struct waiting_caller *caller, unsigned slot,
                  const struct group *group) {
    bool good = true;
    for (uint32_t rest = group->lanes; rest && good;) {
        unsigned warp;
        const uint32_t lanes = threads_take_warp(slot, group->threads, &rest, &warp);
        hold(block, caller, warp, &(struct waiting){group->pc, lanes, AT_MEETING});
        good = meet(block, caller, warp);
    }
    return good;
}

bool waiting_end(struct waiting_block *block, const struct waiting_caller *caller, unsigned slot,
                 const uint16_t *threads, const struct executed *executed) {
    bool good = true;
    if (!executed->taken) /* a guard held for none */
        return true;
    block->alive -= bits_count(executed->taken);
    for (uint32_t rest = executed->taken; rest && good;) {
        unsigned warp;
        const uint32_t lanes = threads_take_warp(slot, threads, &rest, &warp);
        block->at_cluster -= bits_count(lanes & block->waits[warp].at_cluster);
        block->waits[warp].at_cluster &= ~lanes;
        good = !block->waits[warp].count || meet(block, caller, warp);
    }
    const uint32_t begun = good ? block->begun : 0;
    for (BITS_EACH(id, begun))
        if (barrier_is_met_by_ends(&block->barriers[id], block->alive))
            release(block, caller, id);
    if (good)
        open_if_met(block, caller);
    return good;
}
