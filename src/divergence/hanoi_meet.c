/* SPDX-License-Identifier: Apache-2.0 */
/* Hanoi: the reconvergence stack and the registers with who will meet. */
#include "divergence/hanoi.h"

static struct hanoi_meeting *push_meeting(struct hanoi *self, struct hanoi_warp *warp, struct hanoi_meeting meeting) {
    struct hanoi_meeting *entry = ARENA_PUSH(self->arena, &warp->meetings);
    *entry = meeting;
    if (warp->meetings.count > self->stats.rec_largest)
        self->stats.rec_largest = warp->meetings.count;
    return entry;
}

static void remove_meeting(struct hanoi_warp *warp, unsigned i) {
    for (warp->meetings.count--; i < warp->meetings.count; i++)
        warp->meetings.items[i] = warp->meetings.items[i + 1];
}

/* PTX: a path that has returned from the function of a meeting never comes to it. */
static struct hanoi_meeting *next_meeting(struct hanoi *self, struct hanoi_warp *warp, const struct hanoi_path *path) {
    for (struct hanoi_meeting *next;;) {
        next = hanoi_innermost(warp, path->lanes);
        if (!next || next->pc == NO_PC || next->depth <= path->depth)
            return next;
        self->stats.broken += bits_count(next->lanes & path->lanes);
        next->lanes &= ~path->lanes;
    }
}

static bool has_arrived(const struct hanoi_meeting *meeting, const struct hanoi_path *path) {
    return meeting->pc == NO_PC ? path->depth < meeting->depth
                                : path->pc == meeting->pc && path->depth == meeting->depth;
}

void hanoi_push_ready(struct hanoi *self, struct hanoi_warp *warp, struct hanoi_path path) {
    warp->paths[warp->count++] = path;
    if (warp->count > self->stats.ws_largest)
        self->stats.ws_largest = warp->count;
}

void hanoi_push(struct hanoi *self, struct hanoi_warp *warp, struct hanoi_path path) {
    if (self->label)
        hanoi_label_move(self, warp, &path);
    struct hanoi_meeting *next = self->own ? NULL : next_meeting(self, warp, &path);
    if (next && has_arrived(next, &path)) {
        next->arrived |= path.lanes;
        next->resume = path.pc;
        return;
    }
    if (!self->label || !label_arrive(self->label, &warp->label, path.pc, path.depth, path.lanes))
        hanoi_push_ready(self, warp, path);
}

/* Can the lanes of meeting i go on? Those of a register wait at a BSYNC of that register. */
static bool is_met(const struct hanoi_warp *warp, const struct hanoi_meeting *meeting) {
    uint32_t lanes;
    if (meeting->is_sync || !hanoi_lanes_of(warp, meeting, &lanes))
        return false;
    return !(lanes & ~(meeting->reg == HANOI_NO_REGISTER ? meeting->arrived : warp->arrived[meeting->reg]));
}

static void meet(struct hanoi *self, struct hanoi_warp *warp, unsigned i) {
    const struct hanoi_meeting meeting = warp->meetings.items[i];
    uint32_t lanes;
    hanoi_lanes_of(warp, &meeting, &lanes);
    remove_meeting(warp, i);
    if (meeting.reg != HANOI_NO_REGISTER) {
        warp->valid &= (uint16_t) ~(1u << meeting.reg);
        warp->arrived[meeting.reg] &= ~lanes;
    }
    if (!lanes)
        return;
    self->stats.met++;
    const bool is_exit = meeting.pc == NO_PC;
    hanoi_push(self, warp,
               (struct hanoi_path){.pc = is_exit ? meeting.resume : meeting.pc,
                                   .lanes = lanes,
                                   .depth = is_exit ? meeting.depth - 1 : meeting.depth});
}

void hanoi_settle(struct hanoi *self, struct hanoi_warp *warp) {
    for (unsigned i = warp->meetings.count; i-- > 0;) {
        if (is_met(warp, &warp->meetings.items[i])) {
            meet(self, warp, i);
            i = warp->meetings.count; /* others may meet now */
        } else if (self->own) {
            return; /* only the top is looked at */
        }
    }
    if (self->label && label_is_met(self->label, &warp->label))
        hanoi_label_release(self, warp);
}

void hanoi_part(struct hanoi *self, struct hanoi_warp *warp, const struct hanoi_path *path, uint32_t pc,
                uint32_t depth) {
    const struct hanoi_meeting *next = self->own ? NULL : hanoi_innermost(warp, path->lanes);
    if (self->own || (pc == NO_PC && !depth) || (next && next->pc == pc && next->depth == depth))
        return;
    self->stats.set++;
    self->stats.spills += warp->meetings.count >= self->params.registers;
    push_meeting(
        self, warp,
        (struct hanoi_meeting){.pc = pc, .depth = depth, .lanes = path->lanes, .resume = pc, .reg = HANOI_NO_REGISTER});
}

void hanoi_end(struct hanoi_warp *warp, uint32_t lanes) {
    warp->alive &= ~lanes;
    warp->label.lanes &= ~lanes;
    for (unsigned reg = 0; reg < HANOI_REGISTERS; reg++)
        warp->lanes[reg] &= ~lanes;
    for (unsigned i = 0; i < warp->meetings.count; i++)
        warp->meetings.items[i].lanes &= ~lanes;
}

bool hanoi_leave_waited(struct hanoi *self, struct hanoi_warp *warp, uint32_t lanes) {
    bool left = false;
    for (unsigned i = 0; i < warp->meetings.count; i++) {
        struct hanoi_meeting *meeting = &warp->meetings.items[i];
        if (meeting->is_sync || !(meeting->lanes & lanes) || !(left || meeting->arrived))
            continue;
        left = true; /* the outermost where others wait, and all within */
        self->stats.broken += bits_count(meeting->lanes & lanes);
        meeting->lanes &= ~lanes;
    }
    if (left)
        hanoi_settle(self, warp);
    return left;
}

/* ---- instructions ---- */

static void set_register(struct hanoi_warp *warp, unsigned reg, uint32_t lanes) {
    warp->lanes[reg] = lanes & warp->alive;
    warp->valid |= (uint16_t)(1u << reg);
}

static void pop_lanes(struct hanoi_warp *warp, uint32_t lanes) {
    hanoi_top(warp)->lanes &= ~lanes;
    if (!hanoi_top(warp)->lanes)
        warp->count--;
}

void hanoi_obey(struct hanoi *self, unsigned number, uint32_t pc, uint32_t lanes) {
    struct hanoi_warp *warp = &self->warps[number];
    const struct inst *inst = &self->code[pc];
    const unsigned reg = (unsigned)inst->src[0].imm % HANOI_REGISTERS;
    const struct executor *executor = self->executor;
    if (!lanes)
        return;
    switch ((enum op)inst->op) {
    case OP_BSSY:
        set_register(warp, reg, lanes);
        push_meeting(self, warp,
                     (struct hanoi_meeting){.pc = inst->target, .depth = hanoi_top(warp)->depth, .reg = (uint8_t)reg});
        self->stats.set++;
        break;
    case OP_BSYNC:
        pop_lanes(warp, lanes);
        warp->arrived[reg] |= lanes;
        break;
    case OP_BREAK:
        self->stats.broken += bits_count(warp->lanes[reg] & lanes);
        warp->lanes[reg] &= ~lanes;
        break;
    case OP_BMOV:
        executor->give(executor->self, number, pc, lanes, warp->valid >> reg & 1 ? warp->lanes[reg] : 0);
        warp->valid &= (uint16_t) ~(1u << reg);
        break;
    case OP_BMOV_BACK:
        set_register(warp, reg, executor->members(executor->self, number * LANES_MAX + bits_first(lanes), pc));
        break;
    default: break;
    }
}

/* A register for the lanes of a WARPSYNC: one that nothing names, else one that nothing has set. */
static unsigned free_register(const struct hanoi *self, const struct hanoi_warp *warp) {
    uint32_t used = warp->valid;
    for (unsigned i = 0; i < warp->meetings.count; i++)
        if (warp->meetings.items[i].reg != HANOI_NO_REGISTER)
            used |= 1u << warp->meetings.items[i].reg;
    const uint32_t unused = ~used & bits_low(self->params.registers);
    const uint32_t best = unused & ~(uint32_t)self->named ? unused & ~(uint32_t)self->named : unused;
    return best ? bits_first(best) : HANOI_NO_REGISTER;
}

static unsigned find_sync(const struct hanoi_warp *warp, uint32_t pc, uint32_t lanes) {
    unsigned i = warp->meetings.count;
    while (i-- > 0)
        if (warp->meetings.items[i].is_sync && warp->meetings.items[i].pc == pc &&
            warp->meetings.items[i].lanes & lanes)
            break;
    return i;
}

void hanoi_sync(struct hanoi *self, unsigned number, uint32_t pc, uint32_t lanes) {
    struct hanoi_warp *warp = &self->warps[number];
    const struct executor *executor = self->executor;
    const uint32_t depth = hanoi_top(warp)->depth;
    const uint32_t named = executor->members(executor->self, number * LANES_MAX + bits_first(lanes), pc - 1);
    pop_lanes(warp, lanes);
    const unsigned known = find_sync(warp, pc, lanes);
    if (known < warp->meetings.count) {
        warp->meetings.items[known].lanes |= lanes;
        warp->meetings.items[known].arrived |= lanes;
        return;
    }
    const unsigned reg = free_register(self, warp);
    self->stats.syncs++;
    self->stats.lacking += reg == HANOI_NO_REGISTER;
    if (reg != HANOI_NO_REGISTER)
        set_register(warp, reg, named | lanes);
    push_meeting(self, warp,
                 (struct hanoi_meeting){.pc = pc,
                                        .depth = depth,
                                        .lanes = (named | lanes) & warp->alive,
                                        .arrived = lanes,
                                        .reg = (uint8_t)reg,
                                        .is_sync = true});
}

void hanoi_synced(struct hanoi *self, struct hanoi_warp *warp, uint32_t pc, uint32_t lanes) {
    const unsigned i = find_sync(warp, pc, lanes);
    const struct hanoi_path path = {.pc = pc, .lanes = lanes, .depth = warp->meetings.items[i].depth};
    warp->meetings.items[i].lanes &= ~lanes;
    warp->meetings.items[i].arrived &= ~lanes;
    if (!warp->meetings.items[i].arrived) {
        if (warp->meetings.items[i].reg != HANOI_NO_REGISTER)
            warp->valid &= (uint16_t) ~(1u << warp->meetings.items[i].reg);
        remove_meeting(warp, i);
    }
    hanoi_push(self, warp, path);
}

/* ---- the checker ---- */

bool hanoi_is_sound(const struct hanoi *self, const struct hanoi_warp *warp) {
    uint32_t seen = 0;
    bool sound = warp->count <= LANES_MAX;
    for (unsigned i = 0; i < warp->count; i++) {
        sound = sound && warp->paths[i].lanes && !(seen & warp->paths[i].lanes);
        seen |= warp->paths[i].lanes;
    }
    sound = sound && !(seen & warp->label.arrived);
    seen |= warp->label.arrived;
    for (unsigned i = 0; i < warp->meetings.count; i++) {
        const struct hanoi_meeting *meeting = &warp->meetings.items[i];
        sound = sound && !(seen & meeting->arrived & warp->alive);
        seen |= meeting->arrived & warp->alive;
    }
    for (unsigned reg = 0; self->own && reg < HANOI_REGISTERS; reg++) {
        sound = sound && !(seen & warp->arrived[reg]);
        seen |= warp->arrived[reg];
    }
    return sound && seen == warp->alive;
}
