/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks take places and turns; groups of their threads are executed one after another until they end or wait. */
#include "emulate/emulate.h"

#include <string.h>

#include "base/bits.h"
#include "base/team.h"
#include "emulate/state.h"
#include "simt/threads.h"
#include "exec/step.h"
#include "exec/watch.h"

static const uint64_t no_time = 0;

static uint32_t guard_of(const void *self, unsigned warp, uint32_t pc) { return exec_guard(self, warp, pc); }

static uint32_t members_of(const void *self, unsigned thread, uint32_t pc) {
    return exec_members(self, thread / LANES_MAX, pc, thread % LANES_MAX);
}
static void give(void *self, unsigned warp, uint32_t pc, uint32_t lanes, uint32_t value) {
    exec_give(self, warp, pc, lanes, value);
}

static void create_resident(struct emulation_run *run, struct resident *resident) {
    resident->exec = exec_create(run->arena, run->linked, run->launch, run->memory, run->counts, run->output);
    resident->warps = ARENA_ARRAY(run->arena, struct emulated_warp, run->warp_count);
    const bool apart = run->options->mechanism->waiting || run->options->mechanism->forming;
    resident->waiting.waits = waits_create(run->arena, run->warp_count, apart ? LANES_MAX : 1);
    resident->waiting.warp_count = run->warp_count;
    resident->executor =
        (struct executor){.self = resident->exec, .guard = guard_of, .members = members_of, .give = give};
    const struct divergence_shape shape = {.code = run->linked->module->code,
                                           .code_count = run->linked->module->code_count,
                                           .warps = run->warp_count,
                                           .warp_size = LANES_MAX,
                                           .width = run->launch->warp_size,
                                           .warps_per_block = run->warp_count,
                                           .schedulers = 1,
                                           .params = run->options->mechanism_params,
                                           .now = &no_time,
                                           .executor = &resident->executor};
    resident->control = run->options->mechanism->create(run->arena, &shape);
}

static inline void count_issues(struct emulation_run *run, const struct executed *executed) {
    run->stats->issued += executed->issues;
    if (executed->lanes == run->full_lanes)
        run->stats->full_groups += executed->issues;
}

static void start_block(struct emulation_run *run, struct resident *resident, uint64_t block) {
    exec_start(resident->exec, block);
    resident->busy = true;
    resident->block = block;
    resident->next_slot = resident->warps_left = 0;
    resident->waiting.alive = resident->waiting.at_cluster = 0;
    for (BITS_EACH(id, resident->waiting.begun))
        resident->waiting.barriers[id] = (struct barrier){0};
    resident->waiting.begun = 0;
    for (unsigned w = 0; w < run->warp_count; w++) {
        const uint32_t lanes = exec_warp_lanes(resident->exec, w);
        resident->warps[w] = (struct emulated_warp){.done = lanes == 0};
        resident->waiting.waits[w].count = 0, resident->waiting.waits[w].at_cluster = 0;
        resident->warps_left += lanes != 0;
        resident->waiting.alive += bits_count(lanes);
        run->options->mechanism->start(resident->control, w, run->linked->kernel->first_pc, lanes);
    }
}

/* ---- waiting for others ---- */

/* One call of simt/waiting.h. */
struct emulated_waiter {
    struct emulation_run *run;
    struct resident *resident;
    enum status status;
};

static void hold(void *owner, unsigned w, uint32_t pc, uint32_t lanes) {
    const struct emulated_waiter *waiter = owner;
    const struct divergence_ops *mechanism = waiter->run->options->mechanism;
    (void)pc;
    if (mechanism->waiting)
        mechanism->waiting->wait(waiter->resident->control, w, lanes);
    else
        waiter->resident->warps[w].waits = !mechanism->forming; /* else those who wait have not come back */
}

static void go_on(const struct emulated_waiter *waiter, unsigned w, uint32_t lanes) {
    const struct divergence_ops *mechanism = waiter->run->options->mechanism;
    waiter->resident->warps[w].waits = false;
    if (mechanism->waiting)
        mechanism->waiting->go_on(waiter->resident->control, w, lanes);
    if (mechanism->forming) {
        uint16_t threads[LANES_MAX];
        threads_of_warp(threads, w, LANES_MAX);
        mechanism->forming->returned(waiter->resident->control, threads, lanes);
    }
}

static void let_go(void *owner, unsigned w, const struct waiting *those, const struct barrier_result *result) {
    const struct emulated_waiter *waiter = owner;
    exec_barrier_result(waiter->resident->exec, w, those->pc, those->lanes, result);
    go_on(waiter, w, those->lanes);
}

static void let_go_watched(void *owner, unsigned w, const struct waiting *those, const struct barrier_result *result) {
    const struct emulated_waiter *waiter = owner;
    exec_watch_leave(waiter->resident->exec, w, those->pc, those->lanes, those->at, waiter->resident->waiting.alive);
    let_go(owner, w, those, result);
}

static uint32_t alive(const void *owner, unsigned w) {
    const struct emulated_waiter *waiter = owner;
    return waiter->run->options->mechanism->alive(waiter->resident->control, w);
}

static uint32_t named(const void *owner, unsigned w, unsigned lane, uint32_t pc) {
    const struct emulated_waiter *waiter = owner;
    return exec_members(waiter->resident->exec, w, pc, lane);
}

static void tell(const struct emulation_run *run, const struct resident *resident, unsigned w,
                 const struct group *group, const struct executed *executed) {
    const struct issue_run issued = {.block = resident->block,
                                     .warp = w,
                                     .first_thread = w * run->launch->warp_size,
                                     .lanes = group->lanes,
                                     .pc = group->pc,
                                     .issues = executed->issues,
                                     .waits = waiting_stays(run->linked->module->code, executed)};
    run->options->listener->hear(run->options->listener->self, &issued);
}

static bool execute(void *owner, unsigned w, const struct group *group, uint32_t lanes_alive) {
    struct emulated_waiter *waiter = owner;
    struct emulation_run *run = waiter->run;
    struct executed executed;
    exec_run(waiter->resident->exec, w, group, lanes_alive, 1, &executed);
    if (executed.flow == FLOW_FAULT) {
        waiter->status = emulate_report_fault(run, waiter->resident, w);
        return false;
    }
    count_issues(run, &executed);
    if (run->options->listener)
        tell(run, waiter->resident, w, group, &executed);
    go_on(waiter, w, group->lanes);
    return true;
}

static const struct waiting_mode functional = {
    .hold = hold, .let_go = let_go, .alive = alive, .named = named, .execute = execute};
static const struct waiting_mode watched = {.hold = hold,
                                            .let_go = let_go_watched,
                                            .alive = alive,
                                            .named = named,
                                            .execute = execute,
                                            .arrives_by_waiting = true};

static struct waiting_caller caller_of(struct emulated_waiter *waiter) {
    struct waiting_caller caller = waiter->run->caller;
    caller.owner = waiter;
    return caller;
}

/* Opens the barrier of the cluster where every thread of its blocks that has not ended has arrived there. */
static void open_cluster(struct emulation_run *run, const struct resident *resident) {
    uint64_t arrived = 0, living = 0;
    for (uint32_t i = 0; i < run->cluster_blocks; i++)
        arrived += resident->cluster[i].waiting.at_cluster, living += resident->cluster[i].waiting.alive;
    if (!arrived || arrived != living)
        return;
    for (uint32_t i = 0; i < run->cluster_blocks; i++) {
        struct emulated_waiter waiter = {.run = run, .resident = &resident->cluster[i]};
        const struct waiting_caller caller = caller_of(&waiter);
        waiting_open_cluster(&resident->cluster[i].waiting, &caller);
    }
}

/* This and what follows is kept apart, so that the loop of a warp needs few registers. threads NULL: they are the warp's. */
__attribute__((noinline)) static void arrive(struct emulation_run *run, struct resident *resident, unsigned w,
                                             const uint16_t *threads, const struct executed *executed) {
    struct emulated_waiter waiter = {.run = run, .resident = resident};
    const struct waiting_caller caller = caller_of(&waiter);
    waiting_arrive(&resident->waiting, &caller, w, threads, executed);
    if (resident->cluster)
        open_cluster(run, resident);
}

/* Does the group stand at an operation that waits for lanes elsewhere? */
__attribute__((noinline)) static bool must_meet(struct emulation_run *run, struct resident *resident, unsigned w,
                                                const struct group *group) {
    if (!inst_meets(&run->linked->module->code[group->pc]))
        return false;
    struct emulated_waiter waiter = {.run = run, .resident = resident};
    const struct waiting_caller caller = caller_of(&waiter);
    return !waiting_is_whole(&caller, w, group);
}

/* The group stands at an operation for which its threads wait on their own. */
__attribute__((noinline)) static enum status meet(struct emulation_run *run, struct resident *resident, unsigned slot,
                                                  const struct group *group) {
    const struct executed passed = {.flow = FLOW_NEXT, .pc = group->pc, .issues = 1, .lanes = group->lanes};
    struct emulated_waiter waiter = {.run = run, .resident = resident};
    const struct waiting_caller caller = caller_of(&waiter);
    run->options->mechanism->issued(resident->control, slot, group, &passed);
    waiting_meet(&resident->waiting, &caller, slot, group);
    return waiter.status;
}

/* Fewer threads are alive: what waited for them may go on. threads NULL: they are the warp's. */
static enum status end_threads(struct emulation_run *run, struct resident *resident, unsigned slot,
                               const uint16_t *threads, const struct executed *executed) {
    struct emulated_waiter waiter = {.run = run, .resident = resident};
    const struct waiting_caller caller = caller_of(&waiter);
    run->stats->threads += bits_count(executed->taken);
    for (uint32_t rest = executed->taken; rest;) {
        unsigned w;
        threads_take_warp(slot, threads, &rest, &w);
        if (run->options->mechanism->alive(resident->control, w))
            continue;
        resident->warps[w].done = true;
        resident->warps_left--;
    }
    waiting_end(&resident->waiting, &caller, slot, threads, executed);
    if (resident->cluster && !waiter.status)
        open_cluster(run, resident);
    return waiter.status;
}

/* ---- running ---- */

static void count_divergence(struct emulation_run *run, const struct executed *executed) {
    if (!executed_diverges(executed))
        return;
    run->stats->divergent_branches++;
    run->stats->divergent[executed->pc]++;
}

/* Runs one warp until it waits, ends, or has had its share. */
static enum status run_warp(struct emulation_run *run, struct resident *resident, unsigned w) {
    const struct divergence_ops *mechanism = run->options->mechanism;
    const bool lanes_wait = mechanism->waiting != NULL;
    void *const control = resident->control;
    struct exec *const exec = resident->exec;
    struct emulated_warp *warp = &resident->warps[w];
    struct group group;
    struct executed executed;
    uint32_t left = run->options->warp_issues < UINT32_MAX ? (uint32_t)run->options->warp_issues : UINT32_MAX;
    while (left && !warp->waits && !warp->done && mechanism->offer(control, w, &group)) {
        if (lanes_wait && must_meet(run, resident, w, &group)) {
            const enum status status = meet(run, resident, w, &group);
            if (status != STATUS_OK)
                return status;
            continue;
        }
        exec_run(exec, w, &group, mechanism->alive(control, w), left, &executed);
        left -= executed.issues;
        count_issues(run, &executed);
        if (executed.flow == FLOW_FAULT)
            return emulate_report_fault(run, resident, w);
        if (run->options->listener)
            tell(run, resident, w, &group, &executed);
        mechanism->issued(control, w, &group, &executed);
        switch (executed.flow) {
        case FLOW_BRANCH:
        case FLOW_MULTI:
        case FLOW_CALL: count_divergence(run, &executed); break;
        case FLOW_EXIT:
            if (end_threads(run, resident, w, NULL, &executed) != STATUS_OK)
                return STATUS_STOPPED;
            break;
        case FLOW_BARRIER: arrive(run, resident, w, NULL, &executed); break;
        default: break;
        }
    }
    if (left && !warp->done)
        warp->waits = true; /* it has nothing to issue until one of its lanes goes on */
    return STATUS_OK;
}

/* Where groups dissolve: one issue; its threads come back at once unless they wait for others. */
static enum status run_group(struct emulation_run *run, struct resident *resident, unsigned slot,
                             const struct group *offered) {
    const struct divergence_ops *mechanism = run->options->mechanism;
    uint16_t threads[LANES_MAX];
    struct group group = *offered;
    struct executed executed;
    memcpy(threads, offered->threads, sizeof threads); /* they are the mechanism's until it is told */
    group.threads = threads;
    if (inst_meets(&run->linked->module->code[group.pc]))
        return meet(run, resident, slot, &group);
    exec_run_mixed(resident->exec, &group, &executed);
    if (executed.flow == FLOW_FAULT)
        return emulate_report_fault(run, resident, threads[bits_first(group.lanes)] / LANES_MAX);
    count_issues(run, &executed);
    mechanism->issued(resident->control, slot, &group, &executed);
    const uint32_t staying =
        executed.flow == FLOW_EXIT || waiting_stays(run->linked->module->code, &executed) ? executed.taken : 0;
    if (group.lanes & ~staying)
        mechanism->forming->returned(resident->control, threads, group.lanes & ~staying);
    switch (executed.flow) {
    case FLOW_BRANCH:
    case FLOW_MULTI:
    case FLOW_CALL: count_divergence(run, &executed); return STATUS_OK;
    case FLOW_EXIT: return end_threads(run, resident, slot, threads, &executed);
    case FLOW_BARRIER: arrive(run, resident, slot, threads, &executed); return STATUS_OK;
    default: return STATUS_OK;
    }
}

/* Short turns mostly, and now and then one in which another block gets far. */
static uint64_t turn_by_chance(struct emulation_run *run) {
    return 1 + rng_below(&run->chance, run->options->turn_issues << rng_below(&run->chance, 8));
}

/* One turn of a block; ends early when the block does. */
static enum status run_turn(struct emulation_run *run, struct resident *resident) {
    const uint64_t until = run->stats->issued + (run->options->order ? turn_by_chance(run) : run->options->turn_issues);
    const bool forms = run->options->mechanism->forming;
    const unsigned slots = forms ? ISSUE_SLOTS_MAX : run->warp_count;
    const uint64_t before = run->stats->issued;
    unsigned idle = 0;
    resident->stuck = false;
    while (resident->warps_left && run->stats->issued < until) {
        const unsigned slot = resident->next_slot;
        struct group group;
        resident->next_slot = slot + 1 == slots ? 0 : slot + 1;
        if (forms ? !run->options->mechanism->offer(resident->control, slot, &group)
                  : resident->warps[slot].done || resident->warps[slot].waits) {
            if (++idle <= slots)
                continue;
            resident->stuck = resident->cluster && run->stats->issued == before;
            return resident->cluster ? STATUS_OK : emulate_report_deadlock(run, resident);
        }
        idle = 0;
        const enum status status = forms ? run_group(run, resident, slot, &group) : run_warp(run, resident, slot);
        if (status != STATUS_OK)
            return status;
    }
    if (run->options->max_instructions && run->stats->issued > run->options->max_instructions)
        return emulate_report_limit(run, resident);
    return STATUS_OK;
}

static uint64_t block_in_order(const struct emulation_run *run, uint64_t block) {
    const struct emulate_order *order = run->options->order;
    const uint64_t count = run->emulation->end_block / run->cluster_blocks; /* such a run has all blocks */
    if (count > UINT32_MAX)
        return block;
    return (order->block_first + block * (order->block_step % count)) % count;
}

/* The next block to start; false: there is none. */
static bool take_block(struct emulation_run *run, uint64_t *block) {
    struct block_supply *supply = run->emulation->supply;
    if (run->next_block == run->end_block && supply && !atomic_load(&supply->closed)) {
        const uint64_t from = atomic_fetch_add(&supply->next, supply->piece);
        run->next_block = from < supply->end ? from : supply->end;
        run->end_block = supply->end - run->next_block < supply->piece ? supply->end : run->next_block + supply->piece;
    }
    if (run->next_block == run->end_block)
        return false;
    *block = run->next_block++;
    if (run->options->order)
        *block = block_in_order(run, *block);
    return true;
}

/* Runs what is in the place, and blocks after it as long as each ends within its turn. */
static enum status run_place(struct emulation_run *run, struct resident *resident, uint64_t until_ns) {
    for (uint64_t block;;) {
        if (!resident->busy) {
            if ((run->busy == 0 && until_ns && team_clock_ns() >= until_ns) || !take_block(run, &block))
                return STATUS_OK;
            if (!resident->exec)
                create_resident(run, resident);
            start_block(run, resident, block);
            run->busy++;
        }
        const uint64_t progress = run->counts->progress;
        const enum status status = run_turn(run, resident);
        if (status != STATUS_OK)
            return status;
        run->idle_turns = run->counts->progress == progress ? run->idle_turns + 1 : 0;
        if (run->idle_turns >= run->options->livelock_turns)
            return emulate_report_livelock(run, resident);
        if (resident->warps_left)
            return STATUS_OK;
        resident->busy = false;
        if (run->launch->watch)
            exec_watch_end(resident->exec);
        run->busy--;
        run->stats->blocks++;
    }
}

/* ---- clusters ---- */

static void start_cluster(struct emulation_run *run, struct resident *first, uint64_t cluster) {
    const uint32_t count = run->cluster_blocks;
    if (!first->exec) {
        struct exec **blocks = ARENA_ARRAY(run->arena, struct exec *, count);
        for (uint32_t i = 0; i < count; i++) {
            create_resident(run, &first[i]);
            first[i].cluster = first, first[i].waiting.in_cluster = true;
            blocks[i] = first[i].exec;
        }
        exec_join_cluster(blocks, count);
    }
    first->blocks_left = count;
    for (uint32_t i = 0; i < count; i++)
        start_block(run, &first[i], exec_cluster_block(run->launch, cluster, i));
}

/* A turn of each block that is left, from any of them on in another order. */
static enum status run_cluster_turn(struct emulation_run *run, struct resident *first) {
    const uint32_t count = run->cluster_blocks;
    const uint32_t from = run->options->order ? (uint32_t)rng_below(&run->chance, count) : 0;
    const struct resident *stuck = NULL;
    bool moved = false;
    for (uint32_t i = 0; i < count; i++) {
        struct resident *resident = &first[(from + i) % count];
        if (!resident->busy)
            continue;
        const enum status status = run_turn(run, resident);
        if (status != STATUS_OK)
            return status;
        stuck = resident->stuck ? resident : stuck;
        moved |= !resident->stuck;
        if (resident->warps_left)
            continue;
        resident->busy = false;
        first->blocks_left--;
        exec_end_block(resident->exec);
        run->stats->blocks++;
    }
    return moved || !stuck ? STATUS_OK : emulate_report_deadlock(run, stuck);
}

/* As run_place, of all blocks of a cluster, which are under way together. */
static enum status run_clusters(struct emulation_run *run, struct resident *first) {
    for (uint64_t cluster;;) {
        if (!first->blocks_left) {
            if (!take_block(run, &cluster))
                return STATUS_OK;
            start_cluster(run, first, cluster);
            run->busy++;
        }
        const uint64_t progress = run->counts->progress;
        const enum status status = run_cluster_turn(run, first);
        if (status != STATUS_OK)
            return status;
        run->idle_turns = run->counts->progress == progress ? run->idle_turns + 1 : 0;
        if (run->idle_turns >= run->options->livelock_turns)
            return emulate_report_livelock(run, first);
        if (first->blocks_left)
            return STATUS_OK;
        run->busy--;
    }
}

enum status emulate(struct arena *arena, const struct emulation *emulation, struct report *report) {
    const struct emulate_options *options = emulation->options;
    struct emulation_run run = {.arena = arena,
                                .emulation = emulation,
                                .linked = emulation->linked,
                                .launch = emulation->launch,
                                .memory = emulation->memory,
                                .counts = emulation->counts,
                                .output = emulation->output,
                                .options = options,
                                .stats = emulation->stats,
                                .report = report,
                                .next_block = emulation->first_block,
                                .end_block = emulation->supply ? emulation->first_block : emulation->end_block,
                                .cluster_blocks = exec_cluster_blocks(emulation->launch),
                                .warp_count = exec_warps_of(emulation->launch),
                                .full_lanes = bits_low(emulation->launch->warp_size),
                                .caller = {emulation->launch->watch ? &watched : &functional, NULL,
                                           emulation->linked->module->code}};
    const uint32_t each = run.cluster_blocks;
    const uint32_t places = options->resident_blocks > each ? options->resident_blocks / each : 1;
    struct resident *residents = ARENA_ARRAY(arena, struct resident, (size_t)places * each);
    run.end_block /= each; /* clusters take no part of a launch and no supply: parallel.c */
    if (options->order)
        rng_seed(&run.chance, ~options->order->seed);
    const uint64_t until_ns = emulation->alone_ns ? team_clock_ns() + emulation->alone_ns : 0;
    unsigned place = 0;
    /* A block that ends within its turn makes room at once, so only long blocks need more than one place. */
    do {
        const enum status status = each > 1 ? run_clusters(&run, &residents[(size_t)place * each])
                                            : run_place(&run, &residents[place], until_ns);
        if (status != STATUS_OK)
            return status;
        place = (options->order ? (unsigned)rng_below(&run.chance, places) : place + 1) % places;
    } while (run.busy);
    return STATUS_OK;
}
