/* Mechanisms that dissolve groups: a group leaves its slot when it issues, its threads are on their own until their
 * instruction is written back, each load's as their data come, and what they form then stands in any slot. */
#include <string.h>

#include "isa/threads.h"
#include "sm/state.h"

struct regroup {
    uint16_t (*threads)[LANES_MAX]; /* of each flight */
    uint32_t *waiting;              /* of each warp: lanes at a barrier */
    uint32_t *meeting;              /* of each warp: lanes at a warp-level operation whose members have not all come */
    uint8_t *barrier;               /* of each thread that waits: which barrier, and where it stands in the code */
    uint32_t *wait_pc;
    uint32_t alive, at_memory, at_others; /* threads; at_others: that wait for threads */
};

struct regroup *sm_regroup_create(struct arena *arena, unsigned warps) {
    struct regroup *regroup = ARENA_NEW(arena, struct regroup);
    regroup->threads = arena_alloc_aligned(arena, FLIGHTS_MAX * sizeof *regroup->threads, 64);
    regroup->waiting = ARENA_ARRAY(arena, uint32_t, warps);
    regroup->meeting = ARENA_ARRAY(arena, uint32_t, warps);
    regroup->barrier = ARENA_ARRAY(arena, uint8_t, (size_t)warps * LANES_MAX);
    regroup->wait_pc = ARENA_ARRAY(arena, uint32_t, (size_t)warps * LANES_MAX);
    return regroup;
}

static void look_again(struct sm *sm, uint64_t slots) {
    for (; slots; slots &= slots - 1)
        sm_update_warp(sm, bits_first64(slots));
}

void sm_regroup_start(struct sm *sm, unsigned warp, uint32_t pc, uint32_t lanes) {
    sm->regroup->alive += bits_count(lanes);
    look_again(sm, sm->mechanism->start(sm->control, warp, pc, lanes));
}

void sm_regroup_advance(struct sm *sm) {
    sm->mechanism_wake = NO_CYCLE;
    look_again(sm, sm->mechanism->advance(sm->control));
}

bool sm_regroup_waits_for_memory(const struct sm *sm) {
    const struct regroup *all = sm->regroup;
    return all->at_memory && all->at_memory + all->at_others == all->alive;
}

unsigned sm_regroup_place(const struct sm *sm, const struct group *group) {
    return group->threads[bits_first(group->lanes)] / LANES_MAX / sm->shape.warps_per_place;
}

/* ---- back from the pipeline ---- */

void sm_regroup_write_back(struct sm *sm, uint32_t number) {
    struct flight *flight = &sm->flights[number];
    struct place *place = &sm->places[flight->place];
    const uint32_t lanes = flight->lanes;
    if (flight->ticket != NO_TICKET)
        sm->executor.finish(sm->executor.self, flight->ticket);
    place->in_flight--;
    if (flight->slow)
        sm->regroup->at_memory -= bits_count(lanes);
    flight->next = sm->free_flight;
    sm->free_flight = number;
    if (lanes)
        look_again(sm, sm->mechanism->returned(sm->control, sm->regroup->threads[number], lanes));
    sm_end_if_done(sm, (unsigned)(place - sm->places));
}

uint32_t sm_regroup_split(struct sm *sm, uint32_t number, uint32_t lanes) {
    struct flight *whole = &sm->flights[number];
    const uint32_t part = lanes & whole->lanes ? sm_take_flight(sm) : NO_FLIGHT;
    if (part == NO_FLIGHT) /* they come back with the others */
        return number;
    sm->flights[part] = *whole;
    sm->flights[part].lanes = lanes & whole->lanes;
    sm->flights[part].sent = true;
    sm->flights[part].outstanding = 0;
    sm->flights[part].is_load = false; /* a load has one latency, that of its last lanes */
    whole->lanes &= ~lanes;
    sm->places[whole->place].in_flight++;
    memcpy(sm->regroup->threads[part], sm->regroup->threads[number], sizeof sm->regroup->threads[part]);
    return part;
}

void sm_regroup_rejoin(struct sm *sm, uint32_t number, uint32_t part) {
    if (part == number)
        return;
    sm->flights[number].lanes |= sm->flights[part].lanes;
    sm->places[sm->flights[number].place].in_flight--;
    sm->flights[part].next = sm->free_flight;
    sm->free_flight = part;
}

/* ---- barriers, ends ---- */

/* Lanes of a warp that wait at that barrier and PC; the PC is that of the first. */
static uint32_t waiting_at(const struct regroup *regroup, unsigned warp, unsigned id, uint32_t among, uint32_t *pc) {
    uint32_t lanes = 0;
    for (BITS_EACH(lane, among)) {
        const unsigned thread = warp * LANES_MAX + lane;
        if (regroup->barrier[thread] != id || (lanes && regroup->wait_pc[thread] != *pc))
            continue;
        *pc = regroup->wait_pc[thread];
        lanes |= UINT32_C(1) << lane;
    }
    return lanes;
}

static uint64_t release(struct sm *sm, struct place *place, unsigned id) {
    struct regroup *regroup = sm->regroup;
    const struct barrier_result result = barrier_open(&place->barriers[id]);
    const unsigned first = (unsigned)(place - sm->places) * sm->shape.warps_per_place;
    uint64_t changed = 0;
    for (unsigned w = first; w < first + sm->shape.warps_per_place; w++) {
        uint32_t pc = 0;
        for (uint32_t lanes; (lanes = waiting_at(regroup, w, id, regroup->waiting[w], &pc)) != 0;) {
            uint16_t threads[LANES_MAX];
            threads_of_warp(threads, w, LANES_MAX);
            regroup->waiting[w] &= ~lanes;
            regroup->at_others -= bits_count(lanes);
            sm->executor.barrier_result(sm->executor.self, w, pc, lanes, result.true_count, result.all, result.any);
            changed |= sm->mechanism->returned(sm->control, threads, lanes);
        }
    }
    return changed;
}

static void wait_at_barrier(struct regroup *regroup, const struct group *group, const struct executed *executed) {
    for (BITS_EACH(lane, executed->taken)) {
        const unsigned thread = group->threads[lane];
        regroup->waiting[thread / LANES_MAX] |= UINT32_C(1) << thread % LANES_MAX;
        regroup->barrier[thread] = (uint8_t)executed->barrier;
        regroup->wait_pc[thread] = executed->pc;
    }
    regroup->at_others += bits_count(executed->taken);
}

/* Lanes that do not go on when the instruction is written back. */
static uint32_t staying(const struct sm *sm, const struct executed *executed) {
    if (executed->flow == FLOW_EXIT)
        return executed->taken;
    return executed->flow == FLOW_BARRIER && sm->module->code[executed->pc].mode != MODE_ARRIVE ? executed->taken : 0;
}

/* ---- warp-level operations ---- */

/* Threads of one warp go on together, through the pipeline where it has room for one more. */
static uint64_t launch_threads(struct sm *sm, unsigned slot, unsigned warp, uint32_t pc, uint32_t lanes,
                               const struct access *access, struct bundle *bundle) {
    uint16_t threads[LANES_MAX];
    threads_of_warp(threads, warp, LANES_MAX);
    const uint32_t number = sm_take_flight(sm);
    if (number == NO_FLIGHT)
        return sm->mechanism->returned(sm->control, threads, lanes);
    sm->flights[number] = (struct flight){
        .pc = pc, .place = (uint8_t)(warp / sm->shape.warps_per_place), .lanes = lanes, .ticket = NO_TICKET};
    memcpy(sm->regroup->threads[number], threads, sizeof threads);
    sm->places[sm->flights[number].place].in_flight++;
    sm_book_flight(sm, slot, number, access, bundle);
    return 0;
}

/* The operation is executed for every set of lanes of the warp at that PC whose members that have not ended are all
 * there. */
static uint64_t meet_at(struct sm *sm, unsigned slot, unsigned warp, uint32_t pc, struct bundle *bundle) {
    struct regroup *regroup = sm->regroup;
    const uint32_t alive = sm->mechanism->alive(sm->control, warp);
    uint64_t changed = 0;
    uint32_t here = 0;
    for (BITS_EACH(lane, regroup->meeting[warp]))
        here |= (uint32_t)(regroup->wait_pc[warp * LANES_MAX + lane] == pc) << lane;
    for (uint32_t rest = here, set; rest; rest &= ~set) {
        const unsigned lane = bits_first(rest);
        set = sm->executor.members(sm->executor.self, warp * LANES_MAX + lane, pc) & alive;
        set |= UINT32_C(1) << lane; /* a lane that does not name itself is the executor's to refuse */
        if (set & ~here)
            continue;
        struct executed executed;
        struct access access;
        const struct group group = {.pc = pc, .lanes = set, .stop_pc = NO_PC};
        sm->executor.step(sm->executor.self, warp, &group, alive, sm->now, &executed, &access);
        sm_count_group(sm, bits_count(set));
        if (executed.flow == FLOW_FAULT) {
            sm->faulted = true;
            sm->fault_cycle = sm->now, sm->fault_warp = warp;
            break;
        }
        regroup->meeting[warp] &= ~set;
        regroup->at_others -= bits_count(set);
        changed |= launch_threads(sm, slot, warp, pc, set, &access, bundle);
    }
    return changed;
}

/* Threads of the group wait for the others that the operation names; those that are complete go on. */
static uint64_t meet(struct sm *sm, unsigned slot, const struct group *offered, struct bundle *bundle) {
    struct regroup *regroup = sm->regroup;
    const struct executed passed = {.flow = FLOW_NEXT, .pc = offered->pc, .issues = 1, .lanes = offered->lanes};
    uint16_t threads[LANES_MAX];
    memcpy(threads, offered->threads, sizeof threads); /* the mechanism's are good until it hears of the issue */
    const struct group group = {.pc = offered->pc, .lanes = offered->lanes, .stop_pc = NO_PC, .threads = threads};
    uint64_t warps = 0;
    for (BITS_EACH(lane, group.lanes)) {
        const unsigned thread = group.threads[lane];
        regroup->meeting[thread / LANES_MAX] |= UINT32_C(1) << thread % LANES_MAX;
        regroup->wait_pc[thread] = group.pc;
        warps |= UINT64_C(1) << thread / LANES_MAX;
    }
    regroup->at_others += bits_count(group.lanes);
    uint64_t changed = sm->mechanism->issued(sm->control, slot, &group, &passed);
    sm_tell_watcher(sm, slot, &group, &passed);
    for (; warps; warps &= warps - 1)
        changed |= meet_at(sm, slot, bits_first64(warps), group.pc, bundle);
    return changed;
}

/* Threads of the warp have ended: nobody waits for them any more. */
static uint64_t meet_without(struct sm *sm, unsigned slot, unsigned warp, struct bundle *bundle) {
    uint64_t changed = 0;
    for (uint32_t rest = sm->regroup->meeting[warp]; rest;) {
        const uint32_t pc = sm->regroup->wait_pc[warp * LANES_MAX + bits_first(rest)];
        for (BITS_EACH(lane, rest))
            if (sm->regroup->wait_pc[warp * LANES_MAX + lane] == pc)
                rest &= ~(UINT32_C(1) << lane);
        changed |= meet_at(sm, slot, warp, pc, bundle);
    }
    return changed;
}

static bool is_meeting(const struct inst *inst) {
    return inst->op >= OP_BAR_WARP && inst->op <= OP_ELECT && inst->flags & FLAG_SYNC;
}

static uint64_t end_threads(struct sm *sm, unsigned slot, struct place *place, const struct executed *executed,
                            const uint16_t *threads, struct bundle *bundle) {
    const unsigned ended = bits_count(executed->taken);
    uint64_t changed = 0, warps = 0;
    for (BITS_EACH(lane, executed->taken))
        warps |= UINT64_C(1) << threads[lane] / LANES_MAX;
    for (; warps; warps &= warps - 1)
        changed |= meet_without(sm, slot, bits_first64(warps), bundle);
    place->alive -= ended;
    sm->threads += ended;
    sm->regroup->alive -= ended;
    for (unsigned i = 0; i < BARRIERS; i++)
        if (barrier_is_met_by_ends(&place->barriers[i], place->alive))
            changed |= release(sm, place, i);
    return changed;
}

static uint64_t arrive(struct sm *sm, struct place *place, const struct group *group, const struct executed *executed) {
    const bool met = barrier_arrive(&place->barriers[executed->barrier], executed, place->alive);
    if (staying(sm, executed))
        wait_at_barrier(sm->regroup, group, executed);
    return met ? release(sm, place, executed->barrier) : 0;
}

/* ---- issue ---- */

/* Memory instructions need a place in the queue, fences that the block's stores have arrived. */
static bool has_room(struct sm *sm, const struct group *group) {
    const struct timed *timed = &sm->timed[group->pc];
    if (sm->free_flight == NO_FLIGHT)
        return false;
    if (timed->order == ORDER_FENCE && sm->places[sm_regroup_place(sm, group)].stores)
        return false;
    return timed->unit != SM_UNIT_MEMORY || sm->queue_count < sm->params.memory_queue;
}

/* The slots that may have changed. */
static uint64_t issue_group(struct sm *sm, unsigned slot, const struct group *group, struct bundle *bundle) {
    if (is_meeting(&sm->module->code[group->pc]))
        return meet(sm, slot, group, bundle);
    struct executed executed;
    struct access access;
    struct place *place = &sm->places[sm_regroup_place(sm, group)];
    sm->executor.step(sm->executor.self, slot, group, 0, sm->now, &executed, &access);
    sm_count_group(sm, bits_count(group->lanes));
    if (executed.flow == FLOW_FAULT) {
        sm->faulted = true;
        sm->fault_cycle = sm->now, sm->fault_warp = executed.target;
        return 0;
    }
    sm->stats.bundled += bundle->issued;
    bundle->issued = true;
    const uint32_t number = sm_take_flight(sm);
    const bool slow = access.kind != ACCESS_NONE ? access.space != SPACE_SHARED : sm->timed[group->pc].parameter != 0;
    const uint32_t going = group->lanes & ~staying(sm, &executed);
    sm->flights[number] = (struct flight){.pc = group->pc,
                                          .warp = (uint8_t)slot,
                                          .place = (uint8_t)(place - sm->places),
                                          .lanes = going,
                                          .slow = slow,
                                          .ticket = access.kind == ACCESS_ATOMIC ? access.ticket : NO_TICKET};
    memcpy(sm->regroup->threads[number], group->threads, sizeof sm->regroup->threads[number]);
    place->in_flight++;
    sm->regroup->at_memory += slow ? bits_count(going) : 0;
    uint64_t changed = sm->mechanism->issued(sm->control, slot, group, &executed);
    sm_tell_watcher(sm, slot,
                    &(struct group){.pc = group->pc, .lanes = group->lanes, .threads = sm->regroup->threads[number]},
                    &executed);
    sm_book_flight(sm, slot, number, &access, bundle);
    switch (executed.flow) {
    case FLOW_BRANCH:
    case FLOW_MULTI:
    case FLOW_CALL: sm_count_parting(sm, &executed); break;
    case FLOW_EXIT: changed |= end_threads(sm, slot, place, &executed, sm->regroup->threads[number], bundle); break;
    case FLOW_BARRIER: changed |= arrive(sm, place, group, &executed); break;
    default: break;
    }
    return changed;
}

unsigned sm_regroup_issue(struct sm *sm, unsigned scheduler, const struct scheduler_view *view) {
    const unsigned slot = sm->mechanism->pick ? sm->mechanism->pick(sm->control, view->ready)
                                              : sm->scheduler->pick(sm->schedulers[scheduler], view);
    if (slot == ISSUE_SLOTS_MAX) {
        sm_book(sm, sm_empty(sm, scheduler, 0), 1);
        return 0;
    }
    struct sm_warp *warp = &sm->warps[slot];
    struct bundle bundle = {.turns = sm->mechanism->turns ? sm->mechanism->turns(sm->control, slot) : 1};
    struct group group;
    uint64_t changed = UINT64_C(1) << slot;
    sm->scheduler_pc[scheduler] = warp->pc;
    sm->inst_stats[warp->pc].waits[warp->stage] += sm->now - warp->since;
    warp->since = sm->now + 1;
    for (bool offered = sm->mechanism->offer(sm->control, slot, &group); offered && !sm->faulted;
         offered = sm->mechanism->more && sm->mechanism->more(sm->control, slot, &group)) {
        if (!has_room(sm, &group))
            continue;
        bundle.lanes |= group.lanes;
        changed |= issue_group(sm, slot, &group, &bundle);
    }
    warp->buffer_end = warp->buffer_pc;
    look_again(sm, changed);
    if (!bundle.lanes) {
        sm_book(sm, sm_stall(sm, &sm->warps[bits_first64(view->ready)], SM_UNIT_MEMORY), 1);
        return 0;
    }
    sm->scheduler_class[scheduler] = sm_width_class(bits_count(bundle.lanes));
    sm_count_issued(sm, scheduler, 1);
    return bundle.turns;
}

/* ---- reports ---- */

void sm_regroup_describe(const struct sm *sm, unsigned warp, struct report *report) {
    const struct regroup *regroup = sm->regroup;
    const struct place *place = &sm->places[warp / sm->shape.warps_per_place];
    const uint32_t waiting = regroup->waiting[warp], meeting = regroup->meeting[warp];
    const uint32_t others = sm->mechanism->alive(sm->control, warp) & ~waiting & ~meeting;
    uint32_t pcs[LANES_MAX] = {0};
    char where[256];
    sm->mechanism->where(sm->control, warp, pcs);
    if (waiting) {
        const unsigned thread = warp * LANES_MAX + bits_first(waiting), id = regroup->barrier[thread];
        const struct barrier *barrier = &place->barriers[id];
        report_add(
            report, STATUS_STOPPED,
            "  SM %u, block %llu, threads of warp %u: lanes 0x%08x wait at barrier %u (%s): %u of %u threads have "
            "come",
            (unsigned)sm->shape.id, (unsigned long long)place->block, warp % sm->shape.warps_per_place,
            (unsigned)waiting, id, module_where(sm->module, regroup->wait_pc[thread], where, sizeof where),
            (unsigned)barrier->arrived, (unsigned)(barrier->expected ? barrier->expected : place->alive));
    }
    if (meeting) {
        const uint32_t pc = regroup->wait_pc[warp * LANES_MAX + bits_first(meeting)];
        report_add(report, STATUS_STOPPED,
                   "  SM %u, block %llu, threads of warp %u: lanes 0x%08x wait at %s (%s) for others that it names",
                   (unsigned)sm->shape.id, (unsigned long long)place->block, warp % sm->shape.warps_per_place,
                   (unsigned)meeting, op_name(sm->module->code[pc].op),
                   module_where(sm->module, pc, where, sizeof where));
    }
    if (others)
        report_add(report, STATUS_STOPPED, "  SM %u, block %llu, threads of warp %u: lanes 0x%08x, the first at %s",
                   (unsigned)sm->shape.id, (unsigned long long)place->block, warp % sm->shape.warps_per_place,
                   (unsigned)others, module_where(sm->module, pcs[bits_first(others)], where, sizeof where));
}
