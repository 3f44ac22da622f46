/* SPDX-License-Identifier: Apache-2.0 */
/* A scheduler's turn in which several slots issue, on lanes of their own, in the order that their mechanism has for them; and what they access memory with as one.
 *
 * Accesses of a turn of one kind and space are served as one access of all their lanes would be: a line that one of them has looked up costs the others no cycle, shared
 * memory has its passes for all of them, and they take one place in the queue. Each looks lines up by itself all the same, so that each
 * goes on with its own data (sm_memory). With sm.l1_wavefronts those of global memory take their time one after another. */
#include "sm/book.h"
#include "sm/memory.h"
#include "sm/path_scoreboard.h"
#include "sm/scheduler/scheduler.h"
#include "sm/wheel.h"

slot_set sm_best_ranked(const struct sm *sm, slot_set possible) {
    const struct divergence_beside *beside = sm->paths->ops->beside;
    slot_set best = 0;
    unsigned highest = 0;
    for (slot_set rest = possible; rest; rest &= rest - 1) {
        const unsigned slot = set_first(rest), rank = beside->rank(sm->control, slot, SETS(sm)->warps[slot].pc, 0);
        if (rank > highest)
            best = 0, highest = rank;
        best |= rank == highest ? set_of(slot) : 0;
    }
    return best;
}

/* What may issue behind others of the turn, which have these units: what could without them, and still can. */
static slot_set candidates_behind(const struct sm *sm, uint32_t units, slot_set possible) {
    const slot_set ready = possible & SETS(sm)->ready, memory = SETS(sm)->ready_for[SM_UNIT_MEMORY];
    slot_set room = ~sm_without_room(sm);
    if (sm->free_flight == NO_FLIGHT)
        return 0;
    for (uint32_t rest = units & ~(UINT32_C(1) << SM_UNIT_MEMORY); rest; rest &= rest - 1)
        room |= SETS(sm)->ready_for[bits_first(rest)];
    if (units >> SM_UNIT_MEMORY & 1 && sm->paths->seconds.together && sm->queue_count < sm->queue_mask)
        room |= memory;
    else if (units >> SM_UNIT_MEMORY & 1)
        room &= ~memory;
    return ready & (sm->sees_memory ? room & ~memory : room);
}

/* Of equal rank: who issued in the scheduler's turn before, then the older. */
static bool goes_before(const struct sm *sm, unsigned scheduler, unsigned a, unsigned b) {
    const struct path_slots *paths = sm->paths;
    const bool first = paths->turned[a] == paths->last_turn[scheduler],
               second = paths->turned[b] == paths->last_turn[scheduler];
    return first != second ? first : set_has(SETS(sm)->older[b], a);
}

static unsigned find_behind(const struct sm *sm, unsigned scheduler, unsigned number, uint32_t taken, slot_set ready) {
    const struct divergence_beside *beside = sm->paths->ops->beside;
    unsigned best = SCHEDULER_NONE, highest = 0;
    for (slot_set rest = ready; rest; rest &= rest - 1) {
        const unsigned slot = set_first(rest);
        const struct sm_warp *warp = &SETS(sm)->warps[slot];
        if (path_units(sm, path_home(sm, slot), warp->group.lanes) & taken || inst_meets(&sm->module->code[warp->pc]))
            continue;
        const unsigned rank = beside->rank(sm->control, slot, warp->pc, number);
        if (rank > highest || (rank && rank == highest && goes_before(sm, scheduler, slot, best)))
            best = slot, highest = rank;
    }
    return best;
}

void sm_issue_many(struct sm *sm, unsigned scheduler, unsigned slot, slot_set possible) {
    struct path_slots *paths = sm->paths;
    const unsigned w = path_home(sm, slot), most = paths->seconds.most ? paths->seconds.most : 2;
    uint32_t taken = 0, units = 0;
    unsigned count = 0;
    paths->bundle = (struct bundle){.turns = 1};
    paths->turn.number++;
    paths->turn.queued[false] = paths->turn.queued[true] = false;
    for (unsigned number = 0; slot != SCHEDULER_NONE;) {
        const struct sm_warp *warp = &SETS(sm)->warps[slot];
        const uint32_t lanes = warp->group.lanes;
        if (number) {
            sm->inst_stats[warp->pc].waits[warp->stage] += sm->now - warp->since;
            sm->stats.bundled++;
            paths->ops->beside->issued(sm->control, slot, path_home(sm, slot) != w);
        }
        taken |= path_units(sm, path_home(sm, slot), lanes);
        units |= UINT32_C(1) << sm->timed[warp->pc].unit;
        count += bits_count(lanes);
        possible &= ~set_of(slot);
        paths->turned[slot] = sm->now;
        sm_issue_path(sm, slot);
        slot = sm->faulted || ++number >= most
                   ? SCHEDULER_NONE
                   : find_behind(sm, scheduler, number, taken, candidates_behind(sm, units, possible));
    }
    paths->last_turn[scheduler] = sm->now;
    sm->scheduler_class[scheduler] = sm_width_class(sm, count);
    sm_count_issued(sm, scheduler, 1);
}

/* ---- accesses of a turn ---- */

/* The shared accesses of the turn are one, whose passes the first has. */
static void join_shared(struct sm *sm, struct queued *entry, const struct access *access, bool follows) {
    struct path_turn *turn = &sm->paths->turn;
    if (!follows) {
        turn->shared = *access, turn->lead = (unsigned)(entry - sm->queue);
        return;
    }
    turn->shared.lanes |= access->lanes;
    for (BITS_EACH(lane, access->lanes))
        turn->shared.address[lane] = access->address[lane];
    sm->queue[turn->lead].passes = sm_shared_passes(sm, &turn->shared);
    entry->passes = 0;
}

void sm_join_access(struct sm *sm, uint32_t flight, const struct access *access) {
    struct path_turn *turn = &sm->paths->turn;
    const bool shared = access->space == SPACE_SHARED;
    if ((access->kind != ACCESS_LOAD && access->kind != ACCESS_STORE) || access->space == SPACE_CONST ||
        access->space == SPACE_PARAM || access->packed)
        return;
    struct queued *entry = &sm->queue[(sm->queue_head + sm->queue_count - 1) & sm->queue_mask];
    if (entry->flight != flight)
        return;
    const bool follows =
        turn->queued[shared] && turn->kinds[shared] == access->kind && (!shared || turn->shared.bytes == access->bytes);
    entry->turn = turn->number;
    entry->space |= follows ? QUEUED_TOGETHER | QUEUED_FOLLOWS : QUEUED_TOGETHER;
    if (follows)
        sm->collectors_used -= UINT64_C(1) << UNIT_BITS * SM_UNIT_MEMORY;
    if (shared)
        join_shared(sm, entry, access, follows);
    turn->queued[shared] = true, turn->kinds[shared] = access->kind;
}

/* ---- the load/store unit ---- */

/* It is as every other: it has a place in the queue, and its own space. */
void sm_leave_turn(struct sm *sm, struct queued *entry) {
    if (entry->space & QUEUED_FOLLOWS)
        sm->collectors_used += UINT64_C(1) << UNIT_BITS * SM_UNIT_MEMORY;
    entry->space &= QUEUED_SPACE;
}

static bool follows_at_head(const struct sm *sm, uint16_t turn, bool shared) {
    const struct queued *entry = &sm->queue[sm->queue_head];
    return sm->queue_count && entry->space & QUEUED_FOLLOWS && entry->turn == turn && entry->ready_cycle <= sm->now &&
           ((entry->space & QUEUED_SPACE) == SPACE_SHARED) == shared;
}

/* The passes are of all of them. */
static void access_shared_together(struct sm *sm) {
    const struct queued *first = &sm->queue[sm->queue_head];
    const uint32_t passes = first->passes > sm->wide ? first->passes : sm->wide;
    const uint16_t turn = first->turn;
    sm->stats.shared_passes += first->passes ? first->passes - 1 : 0;
    sm->lsu_busy = sm->now + (passes > sm->shared_least ? passes : sm->shared_least);
    do {
        struct queued *entry = &sm->queue[sm->queue_head];
        sm_leave_turn(sm, entry);
        sm_event(sm, sm->now + passes - 1 + sm->params.shared_latency + sm->params.pipeline_cycles, EVENT_WRITE_BACK,
                 entry->flight);
        sm_pop_queue(sm);
    } while (follows_at_head(sm, turn, true));
}

static bool was_looked_up(const struct path_lines *lines, uint64_t address) {
    for (unsigned i = 0; i < lines->count; i++)
        if (lines->address[i] == address)
            return true;
    return false;
}

/* Lines that the turn has not looked up take a cycle and bank each; false: it is not through. */
static bool look_up_together(struct sm *sm, struct queued *entry, uint32_t *taken) {
    struct path_lines *lines = &sm->paths->lines;
    const uint32_t banks = sm->params.l1_banks, atom = cache_atom_bytes(sm->l1);
    const uint8_t space = entry->space;
    if (lines->turn != entry->turn)
        lines->turn = entry->turn, lines->count = 0;
    for (; entry->next < entry->count; entry->next++) {
        const uint64_t address = entry->address[entry->next];
        const bool known = was_looked_up(lines, address);
        const uint32_t bit = banks <= 1 ? banks : UINT32_C(1) << address / atom % banks;
        if (!known && *taken & bit) {
            if (sm->params.l1_conflicts_stall)
                sm_stop_pipeline(sm);
            return false;
        }
        entry->space = space & QUEUED_SPACE;
        const bool done = sm_transact(sm, entry);
        entry->space = space;
        if (!done) {
            sm->lsu_blocked = true;
            return false;
        }
        *taken |= known ? 0 : bit;
        if (!known && lines->count < TRANSACTIONS_MAX)
            lines->address[lines->count++] = address;
    }
    return true;
}

void sm_access_together(struct sm *sm) {
    struct queued *entry = &sm->queue[sm->queue_head];
    const uint16_t turn = entry->turn;
    uint32_t taken = 0;
    if ((entry->space & QUEUED_SPACE) == SPACE_SHARED) {
        access_shared_together(sm);
        return;
    }
    do {
        entry = &sm->queue[sm->queue_head];
        if (!look_up_together(sm, entry, &taken))
            return;
        sm_leave_turn(sm, entry);
        sm_end_access(sm, entry);
    } while (follows_at_head(sm, turn, false) && !(sm->l2 && !sm_l2_takes(sm, sm->queue[sm->queue_head].count)));
}
