/* SPDX-License-Identifier: Apache-2.0 */
/* sm.pipeline control-bits: the loop over cycles, and each sub-core's turn to issue in one. */
#include "sm/cycle.h"
#include "sm/issue.h"
#include "sm/subcore.h"
#include "sm/warps.h"

/* ---- who could issue ---- */

static bool has_unit_room(const struct sm *sm, const struct subcore *core, unsigned w) {
    const struct subcore_inst *inst = &subcores_of(sm)->code->insts[SETS(sm)->warps[w].pc];
    if (inst->kind == KIND_MEMORY)
        return core->count < core->room;
    return inst->kind == KIND_FIXED || core->pipe_free[inst->pipe] <= sm->now;
}

/* First cycle in which the pipe takes an instruction, all else unchanged. One that takes its time is not asked where instructions may
 * stand before it (sm.memory_holds). */
static inline uint64_t free_from(const struct sm *sm, const struct subcore *core, unsigned pipe) {
    switch (pipe) {
    case PIPE_BRANCH: return 0;
    case PIPE_FP32:
        return sm->params.fp_on_int && core->pipe_free[PIPE_ALU] < core->pipe_free[PIPE_FMA]
                   ? core->pipe_free[PIPE_ALU]
                   : core->pipe_free[PIPE_FMA];
    case PIPE_XU:
    case PIPE_TENSOR: return sm->params.memory_holds ? 0 : core->pipe_free[pipe];
    case PIPE_MEMORY: return sm->params.memory_holds || core->count < core->room ? 0 : NO_CYCLE;
    default: return core->pipe_free[pipe];
    }
}

/* Of the ready warps of a sub-core those that may issue now. */
static slot_set possible_of(const struct sm *sm, unsigned s, slot_set mine) {
    const struct subcores *all = subcores_of(sm);
    const struct subcore *core = &all->of[s];
    if (!mine || core->held_until > sm->now || sm->free_flight == NO_FLIGHT)
        return 0;
    if (core->standing != SET_SLOTS)
        return has_unit_room(sm, core, core->standing) ? set_of(core->standing) & mine : 0;
    if (core->busy_until <= sm->now && core->count < core->room)
        return mine;
    slot_set possible = mine;
    for (unsigned pipe = 0; pipe < PIPES; pipe++)
        if (all->ready_for[pipe] & mine && free_from(sm, core, pipe) > sm->now)
            possible &= ~all->ready_for[pipe];
    return possible;
}

/* The first cycle in which a ready warp may issue, as far as no event brings it. */
static uint64_t next_core_issue(const struct sm *sm) {
    const struct subcores *all = subcores_of(sm);
    uint64_t next = NO_CYCLE;
    if (!SETS(sm)->ready || sm->free_flight == NO_FLIGHT)
        return next;
    for (unsigned s = 0; s < sm->params.schedulers; s++) {
        const slot_set mine = SETS(sm)->ready & SETS(sm)->scheduler_warps[s];
        const struct subcore *core = &all->of[s];
        uint64_t own = NO_CYCLE;
        if (core->standing != SET_SLOTS) {
            const struct subcore_inst *inst = &all->code->insts[SETS(sm)->warps[core->standing].pc];
            if (inst->kind != KIND_MEMORY || core->count < core->room)
                own = inst->kind == KIND_MEMORY ? 0 : core->pipe_free[inst->pipe];
        } else
            for (unsigned pipe = 0; mine && pipe < PIPES; pipe++)
                if (all->ready_for[pipe] & mine && free_from(sm, core, pipe) < own)
                    own = free_from(sm, core, pipe);
        if (own != NO_CYCLE && own < core->held_until)
            own = core->held_until;
        next = own < next ? own : next;
    }
    return next;
}

/* ---- slots in which nothing issues ---- */

static struct booking booking_of(const struct sm *sm, unsigned s, bool memory) {
    const struct subcore *core = &subcores_of(sm)->of[s];
    const struct sm_warp *standing = &SETS(sm)->warps[core->standing % SET_SLOTS];
    if (core->standing != SET_SLOTS)
        return sm_stall(sm, standing, standing->ready_unit);
    const slot_set ready = SETS(sm)->ready & SETS(sm)->scheduler_warps[s];
    if (ready && core->held_until > sm->now &&
        core->held_by_constant) /* the scheduler waits for the warp it likes best */
        return sm_stall(sm, &SETS(sm)->warps[sm_oldest(sm, ready)], SM_STALL_SCHEDULER);
    return sm_empty(sm, s, ready, memory);
}

static void begin_core_empty(struct sm *sm) {
    sm_begin_empty(sm);
    const bool memory = sm_warps_at_memory(sm);
    for (unsigned s = 0; s < sm->params.schedulers; s++)
        if (subcores_of(sm)->of[s].standing != SET_SLOTS || subcores_of(sm)->of[s].held_until > sm->now)
            SETS(sm)->empty.to[s] = booking_of(sm, s, memory);
}

/* ---- issue ---- */

static inline __attribute__((always_inline)) void issue_core(struct sm *sm, unsigned s, slot_set possible, bool paths) {
    struct subcore *core = &subcores_of(sm)->of[s];
    const unsigned w = core->standing != SET_SLOTS ? core->standing : sm_pick(sm, s, possible);
    if (w == SCHEDULER_NONE)
        return;
    if (!has_unit_room(sm, core, w)) { /* it stands before its unit, and nothing passes it */
        core->standing = w;
        sm_book(sm, booking_of(sm, s, false), 1);
        return;
    }
    core->standing = SET_SLOTS;
    if (paths)
        subcore_issue_path(sm, s, w);
    else
        subcore_issue(sm, s, w);
}

static inline __attribute__((always_inline)) void issue_cores(struct sm *sm, bool paths) {
    const slot_set ready = SETS(sm)->ready;
    slot_set possible = 0;
    for (unsigned s = 0; ready && s < sm->params.schedulers; s++)
        possible |= possible_of(sm, s, ready & SETS(sm)->scheduler_warps[s]);
    const slot_set blocked = ready & ~possible;
    if (blocked != SETS(sm)->unit_blocked)
        set_blocked(sm, blocked);
    if (sm->books_later && !possible) {
        if (!stays_empty(sm))
            begin_core_empty(sm);
        return;
    }
    if (SETS(sm)->empty.open)
        sm_end_empty(sm);
    const bool memory = sm_warps_at_memory(sm);
    for (unsigned s = 0; s < sm->params.schedulers; s++) {
        const slot_set mine = possible & SETS(sm)->scheduler_warps[s];
        if (!mine)
            sm_book(sm, booking_of(sm, s, memory), 1);
        else
            issue_core(sm, s, mine, paths);
        if (sm->faulted)
            return;
    }
}

/* ---- cycles ---- */

static void run_core_events(struct sm *sm, const struct sm_front *front, unsigned at) {
    const struct wheel_slot slot = SETS(sm)->wheel[at];
    SETS(sm)->wheel[at] = (struct wheel_slot){0};
    SETS(sm)->wheel_bits[at / 64] &= ~(UINT64_C(1) << at % 64);
    for (uint32_t flight = slot.write_backs; flight;) {
        const uint32_t next = sm->flights[flight - 1].next;
        if (sm->flights[flight - 1].pc == NO_PC)
            sm_arrive_apart(sm, flight - 1);
        else
            subcore_write_back(sm, flight - 1);
        flight = next;
    }
    for (slot_set rest = slot.fetched; rest; rest &= rest - 1)
        front->consider(sm, set_first(rest));
}

static inline __attribute__((always_inline)) void run_core_cycle(struct sm *sm, const struct sm_front *front,
                                                                 bool paths) {
    sm_begin_cycle(sm);
    const unsigned at = (unsigned)(sm->now % WHEEL_SLOTS);
    if (SETS(sm)->wheel_bits[at / 64] >> at % 64 & 1)
        run_core_events(sm, front, at);
    for (const struct packet *packet; (packet = link_arrived(sm->replies, sm->now)) != NULL;
         link_pop(sm->replies, sm->now))
        sm_reply(sm, packet);
    if (sm->dsm)
        sm_dsm_run(sm);
    if (sm->lsu_blocked && sm->blocked.cause == CACHE_NO_ROOM && link_room(sm->requests, sm->now) >= sm->blocked.room)
        sm->lsu_blocked = false;
    subcore_move_lines(sm);
    subcore_send(sm);
    if (sm->queue_count && !sm->lsu_blocked && sm->lsu_busy <= sm->now)
        sm_memory(sm);
    if (subcores_of(sm)->fetchable || subcores_of(sm)->streaming)
        subcore_fetch(sm); /* by what was known at the end of the cycle before */
    issue_cores(sm, paths);
}

static uint64_t next_core_cycle(const struct sm *sm) {
    uint64_t next = next_core_issue(sm);
    if (next <= sm->now)
        return sm->now;
    const uint64_t others[] = {sm_next_event(sm, sm->now), sm->mechanism_wake, subcore_next_line(sm),
                               subcore_next_send(sm)};
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        next = others[i] < next ? others[i] : next;
    if (sm->queue_count && !sm->lsu_blocked) {
        uint64_t access = sm->queue[sm->queue_head].ready_cycle;
        access = access > sm->lsu_busy ? access : sm->lsu_busy;
        next = access < next ? access : next;
    }
    return next > sm->now ? next : sm->now;
}

static void pass_cores(struct sm *sm, uint64_t next) {
    if (sm->books_later && !SETS(sm)->empty.open)
        begin_core_empty(sm);
    sm_pass(sm, next);
}

static inline __attribute__((always_inline)) bool run_cores(struct sm *sm, const struct sm_front *front, bool paths,
                                                            uint64_t from, uint64_t to) {
    const struct subcores *all = subcores_of(sm);
    const uint64_t since = sm->now;
    if (from > sm->now)
        pass_cores(sm, from);
    while (!sm->faulted) {
        const bool acts = all->fetchable || all->streaming || sm->given_count;
        uint64_t next = sm->wake = acts ? sm->now : next_core_cycle(sm);
        if (next > sm->now) {
            const uint64_t links = sm_next_news(sm), news = sm->dsm ? sm_dsm_next(sm, links) : links;
            next = news > next ? next : news > sm->now ? news : sm->now;
        }
        if (next > sm->now && sm->books_later && !SETS(sm)->empty.open)
            begin_core_empty(sm); /* whoever passes these cycles finds it so */
        if (next >= to)
            break;
        if (next > sm->now)
            pass_cores(sm, next);
        run_core_cycle(sm, front, paths);
        sm->now++;
    }
    sm->now = sm->faulted ? to : sm->now;
    sm_count_passed(sm, since);
    if (sm->faulted)
        sm_end_faulted(sm);
    return sm->faulted;
}

bool subcore_run_warps(struct sm *sm, uint64_t from, uint64_t to) {
    return run_cores(sm, &sm_subcore_warps, false, from, to);
}

bool subcore_run_paths(struct sm *sm, uint64_t from, uint64_t to) {
    return run_cores(sm, &sm_subcore_paths, true, from, to);
}
