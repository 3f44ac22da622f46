/* SPDX-License-Identifier: Apache-2.0 */
/* A group of threads of several warps. Its threads of each warp run in place, under their mask: registers stay where
 * they are, every operation has one meaning, and a lane of the group is only a name for a thread. What the parts did is
 * put together by the group's lanes. */
#include <string.h>

#include "base/bits.h"
#include "exec/core.h"
#include "simt/threads.h"

/* The threads of one warp. */
struct warp_part {
    unsigned warp;
    bool in_place;              /* every thread of the group is in the lane that it has in its warp */
    uint32_t lanes, home;       /* of the group; of the warp */
    uint8_t lane_of[LANES_MAX]; /* by lane of the warp, unless they are in place */
};

/* The threads of `rest` that belong to the warp of its first. */
static void next_part(const struct group *group, uint32_t rest, struct warp_part *part) {
    part->warp = group->threads[bits_first(rest)] / LANES_MAX;
    part->lanes = part->home = rest & threads_of(group->threads, part->warp, LANES_MAX);
    if (part->in_place)
        return;
    part->home = 0;
    for (BITS_EACH(lane, part->lanes)) {
        const unsigned home = group->threads[lane] % LANES_MAX;
        part->home |= UINT32_C(1) << home;
        part->lane_of[home] = (uint8_t)lane;
    }
}

static void first_part(const struct group *group, struct warp_part *part) {
    part->in_place = !(group->lanes & ~threads_in_place(group->threads, LANES_MAX));
    next_part(group, group->lanes, part);
}

static unsigned lane_of(const struct warp_part *part, unsigned home) {
    return part->in_place ? home : part->lane_of[home];
}

static uint32_t to_group(const struct warp_part *part, uint32_t home) {
    uint32_t lanes = 0;
    if (part->in_place)
        return home;
    for (BITS_EACH(lane, home))
        lanes |= UINT32_C(1) << part->lane_of[lane];
    return lanes;
}

static void add_executed(const struct warp_part *part, const struct executed *done, struct executed *out) {
    if (done->flow == FLOW_NEXT) /* guards that held for nobody here */
        return;
    out->flow = done->flow;
    out->taken |= to_group(part, done->taken);
    out->target = done->target;
    out->barrier = done->barrier, out->expected = done->expected;
    if (done->flow == FLOW_BARRIER)
        out->predicate |= to_group(part, done->predicate);
    if (done->flow == FLOW_MULTI || done->flow == FLOW_CALL || done->flow == FLOW_RETURN)
        for (BITS_EACH(lane, part->home))
            out->next[lane_of(part, lane)] = done->next[lane];
}

static void begin_executed(const struct group *group, struct exec_counts *counts, struct executed *out) {
    out->flow = FLOW_NEXT;
    out->pc = group->pc, out->issues = 1, out->lanes = group->lanes;
    out->taken = out->predicate = 0;
    for (unsigned lane = 0; lane < LANES_MAX; lane++)
        out->next[lane] = group->pc + 1;
    counts->threads[group->pc] += group->also;
}

/* The part's instruction; false: it has stopped the launch. */
static bool run_part(struct exec *exec, unsigned warp, const struct group *group, const struct warp_part *part,
                     struct executed *out) {
    const struct group own = {.pc = group->pc, .lanes = part->home, .stop_pc = NO_PC};
    struct executed done;
    exec_run(exec, warp, &own, part->home, 1, &done);
    if (done.flow == FLOW_FAULT) {
        out->flow = FLOW_FAULT;
        out->target = part->warp;
        return false;
    }
    if (done.flow == FLOW_BARRIER && out->flow == FLOW_BARRIER &&
        (done.barrier != out->barrier || done.expected != out->expected)) {
        exec_fail(exec, warp, bits_first(part->home), &exec->linked->steps[group->pc],
                  "a group of threads of several warps arrives at different barriers, %u and %u",
                  (unsigned)out->barrier, (unsigned)done.barrier);
        out->flow = FLOW_FAULT;
        out->target = part->warp;
        return false;
    }
    if (bits_first(part->lanes) != bits_first(group->lanes)) /* all parts are one issue */
        exec->counts->issues[group->pc]--, exec->counts->issues[group->pc + 1]++;
    add_executed(part, &done, out);
    return true;
}

/* The part's operands become those of the group's ticket. */
static void add_ticket(struct core *core, const struct warp_part *part, uint32_t number, struct access *access) {
    if (access->ticket == NO_TICKET) {
        access->ticket = core_take_ticket(core);
        core->tickets.items[access->ticket].lanes = 0;
    }
    const struct ticket *from = &core->tickets.items[number];
    struct ticket *to = &core->tickets.items[access->ticket];
    to->step = from->step;
    for (BITS_EACH(lane, from->lanes)) {
        const unsigned at = lane_of(part, lane);
        to->lanes |= UINT32_C(1) << at;
        to->thread[at] = from->thread[lane], to->address[at] = from->address[lane];
        to->b[at] = from->b[lane], to->c[at] = from->c[lane];
        core_move_far(to, at, from, lane, core);
    }
    core_free_ticket(core, number);
}

static void add_access(struct core *core, const struct warp_part *part, const struct access *done,
                       struct access *access) {
    if (done->kind == ACCESS_NONE)
        return;
    if (access->kind == ACCESS_FAR && done->kind != ACCESS_FAR) /* what is near is done */
        return;
    if (access->kind == ACCESS_NONE || (done->kind == ACCESS_FAR && access->kind != ACCESS_FAR)) {
        access->far = done->kind == ACCESS_FAR ? done->far : 0;
        access->kind = done->kind, access->space = done->space, access->bytes = done->bytes;
        access->packed = false;
        access->ticket = NO_TICKET;
        access->lanes = access->missed = 0;
    }
    for (BITS_EACH(lane, done->lanes)) {
        const unsigned at = lane_of(part, lane);
        access->lanes |= UINT32_C(1) << at;
        access->address[at] = done->address[lane];
    }
    for (BITS_EACH(lane, done->kind == ACCESS_SNOOPED_LOAD || done->kind == ACCESS_SNOOPED_STORE ? done->missed : 0)) {
        const unsigned at = lane_of(part, lane);
        access->missed |= UINT32_C(1) << at;
        access->address[at] = done->address[lane];
    }
    if (access_ticket(done) != NO_TICKET)
        add_ticket(core, part, done->ticket, access);
}

/* All threads are lanes of one warp, in place: it runs as a warp that keeps its lanes. */
static void run_alone(struct exec *exec, unsigned number, const struct group *group, const struct warp_part *part,
                      struct executed *out) {
    const struct group own = {.pc = group->pc, .lanes = group->lanes, .stop_pc = NO_PC};
    exec->counts->threads[group->pc] += group->also;
    exec_run(exec, number, &own, group->lanes, 1, out);
    if (out->flow == FLOW_FAULT)
        out->target = part->warp;
}

void core_mixed_step(struct core *core, const struct group *group, uint64_t cycle, struct executed *out,
                     struct access *access) {
    struct warp_part part;
    access->kind = ACCESS_NONE;
    first_part(group, &part);
    if (part.in_place && part.lanes == group->lanes) {
        const struct core_warp *at = &core->warps[part.warp];
        core->access = access;
        at->exec->clock = cycle;
        run_alone(at->exec, at->number, group, &part, out);
        return;
    }
    begin_executed(group, core->counts, out);
    for (uint32_t rest = group->lanes;;) {
        struct access asked;
        asked.kind = ACCESS_NONE;
        const struct core_warp *at = &core->warps[part.warp];
        core->access = &asked;
        at->exec->clock = cycle;
        if (!run_part(at->exec, at->number, group, &part, out))
            return;
        add_access(core, &part, &asked, access);
        if (!(rest &= ~part.lanes))
            return;
        next_part(group, rest, &part);
    }
}

void exec_run_mixed(struct exec *exec, const struct group *group, struct executed *out) {
    struct warp_part part;
    first_part(group, &part);
    if (part.in_place && part.lanes == group->lanes) {
        run_alone(exec, part.warp, group, &part, out);
        return;
    }
    begin_executed(group, exec->counts, out);
    for (uint32_t rest = group->lanes; run_part(exec, part.warp, group, &part, out) && (rest &= ~part.lanes);)
        next_part(group, rest, &part);
}
