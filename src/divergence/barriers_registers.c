/* SPDX-License-Identifier: Apache-2.0 */
/* Convergence barriers: a warp's registers with who will meet where, and the paths that wait there. */
#include "divergence/barriers.h"

void barriers_remove_path(struct barriers_warp *warp, unsigned i) {
    const unsigned last = --warp->count;
    if (warp->running == i)
        warp->running = LANES_MAX;
    else if (warp->running == last)
        warp->running = i;
    warp->paths[i] = warp->paths[last];
}

void barriers_join_moved(struct barriers_warp *warp, uint32_t lanes) {
    for (unsigned i = 0; i < warp->count; i++) {
        struct barriers_path *path = &warp->paths[i];
        if (path->state != MOVED || path->lanes & ~lanes)
            continue;
        for (unsigned k = warp->count - 1; k > i; k--) {
            const struct barriers_path *other = &warp->paths[k];
            if (other->state != MOVED || other->lanes & ~lanes || other->pc != path->pc ||
                other->depth != path->depth || other->inner != path->inner)
                continue;
            path->lanes |= other->lanes;
            if (warp->running == k)
                warp->running = i;
            barriers_remove_path(warp, k);
        }
    }
}

uint8_t barriers_set_register(struct barriers *self, struct barriers_warp *warp, uint32_t lanes,
                              struct barriers_meeting meeting, uint8_t outer) {
    const uint32_t free = ~(uint32_t)warp->used & bits_low(REGISTERS);
    if (!free) {
        self->stats.registers_lacking++;
        return NO_BARRIER;
    }
    const unsigned number = bits_first(free);
    warp->registers[number] =
        (struct barriers_register){.lanes = lanes, .pc = meeting.pc, .depth = meeting.depth, .outer = outer};
    warp->used |= (uint16_t)(1u << number);
    self->stats.registers_set++;
    if (bits_count(warp->used) > self->stats.registers_largest)
        self->stats.registers_largest = bits_count(warp->used);
    return (uint8_t)number;
}

/* All of its lanes are there, or none is left. */
static void open_register(struct barriers *self, struct barriers_warp *warp, unsigned number) {
    const struct barriers_register *reg = &warp->registers[number];
    warp->used &= (uint16_t) ~(1u << number);
    if (!reg->lanes)
        return;
    self->stats.registers_met++;
    for (unsigned i = 0; i < warp->count; i++) {
        struct barriers_path *path = &warp->paths[i];
        if (path->state != AT_REGISTER || path->inner != number)
            continue;
        path->inner = reg->outer;
        barriers_set_moved(warp, path);
    }
    barriers_join_moved(warp, reg->lanes);
}

void barriers_leave_register(struct barriers *self, struct barriers_warp *warp, unsigned number, uint32_t lanes) {
    struct barriers_register *reg = &warp->registers[number];
    lanes &= reg->lanes;
    if (!lanes)
        return;
    self->stats.breaks += bits_count(lanes);
    reg->lanes &= ~lanes;
    if (reg->arrived == reg->lanes)
        open_register(self, warp, number);
}

bool barriers_leave_waited(struct barriers *self, struct barriers_warp *warp, struct barriers_path *path) {
    uint8_t outermost = NO_BARRIER;
    for (uint8_t number = path->inner; number != NO_BARRIER; number = warp->registers[number].outer)
        outermost = warp->registers[number].arrived ? number : outermost;
    if (outermost == NO_BARRIER)
        return false;
    const uint32_t lanes = path->lanes;
    uint8_t number = path->inner;
    path->inner = warp->registers[outermost].outer;
    for (bool last = false; !last; number = warp->registers[number].outer) {
        last = number == outermost;
        barriers_leave_register(self, warp, number, lanes); /* paths may join: `path` is no more */
    }
    return true;
}

void barriers_settle(struct barriers *self, struct barriers_warp *warp) {
    while (warp->moved) {
        warp->moved = false;
        for (unsigned i = 0; i < warp->count; i++) {
            struct barriers_path *path = &warp->paths[i];
            if (path->state != MOVED)
                continue;
            path->state = READY;
            if (self->label)
                barriers_label_move(self, warp, path);
            if (!barriers_has_arrived(warp, path)) {
                if (self->label && label_arrive(self->label, &warp->label, path->pc, path->depth, path->lanes))
                    path->state = AT_LABEL;
                continue;
            }
            struct barriers_register *reg = &warp->registers[path->inner];
            path->state = AT_REGISTER;
            reg->arrived |= path->lanes;
            if (reg->arrived != reg->lanes)
                continue;
            open_register(self, warp, path->inner);
            break; /* paths have joined: begin again */
        }
    }
    if (self->label)
        barriers_label_meet(self, warp);
}
