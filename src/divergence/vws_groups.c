/* SPDX-License-Identifier: Apache-2.0 */
/* Variable warp sizing: gangs and warps on their own of an original gang, how they split and join, and which of them have issue slots. */
#include "divergence/vws.h"

uint32_t vws_group_lanes(struct vws_warp *warp, const struct vws_group *group) {
    uint32_t lanes = 0;
    for (BITS_EACH(slice, group->members))
        lanes |= top_of(warp, slice)->lanes[0];
    return lanes;
}

bool vws_can_run(struct vws_warp *warp, const struct vws_group *group) {
    return group->members && !(vws_group_lanes(warp, group) & warp->waits);
}

unsigned vws_free_place(const struct vws_warp *warp) {
    unsigned place = 0;
    while (warp->groups[place].members)
        place++;
    return place;
}

void vws_count_groups(struct vws *self, const struct vws_warp *warp) {
    uint64_t groups = 0, gangs = 0;
    for (unsigned i = 0; i < self->slices; i++) {
        groups += warp->groups[i].members != 0;
        gangs += is_gang(&warp->groups[i]);
    }
    self->stats.groups_largest = groups > self->stats.groups_largest ? groups : self->stats.groups_largest;
    self->stats.gangs_largest = gangs > self->stats.gangs_largest ? gangs : self->stats.gangs_largest;
}

/* ---- issue slots, where there are fewer than groups ---- */

/* Of those without a slot that could run, the one with most warps, or that has waited longest; `slices`: there is none. */
static unsigned find_without(const struct vws *self, struct vws_warp *warp, bool longest) {
    unsigned best = self->slices, most = 0;
    for (unsigned i = self->count; i < self->slices; i++) {
        const struct vws_group *group = &warp->groups[i];
        const unsigned value = longest ? warp->clock + 1 - group->since : bits_count(group->members);
        if (value > most && vws_can_run(warp, group))
            best = i, most = value;
    }
    return best;
}

static void swap_groups(struct vws_warp *warp, unsigned a, unsigned b) {
    const struct vws_group other = warp->groups[a];
    warp->groups[a] = warp->groups[b], warp->groups[b] = other;
    warp->groups[a].tells = warp->groups[b].tells = 0;
    warp->groups[b].since = ++warp->clock;
}

void vws_fill_slots(struct vws *self, struct vws_warp *warp) {
    for (unsigned i = 0; i < self->count && self->count < self->slices; i++) {
        const bool runs = vws_can_run(warp, &warp->groups[i]);
        if (runs && warp->groups[i].tells < HANDED_ON)
            continue;
        const unsigned other = find_without(self, warp, runs);
        if (other == self->slices) {
            warp->groups[i].tells = 0;
            continue;
        }
        self->stats.handed_on += runs;
        swap_groups(warp, i, other);
    }
}

void vws_let_sibling_go(struct vws_warp *warp, unsigned slice) {
    struct stack *stack = &warp->slices[slice];
    if (stack->count < 2)
        return;
    struct stack_entry *top = stack_top(stack), *below = top - 1;
    if (!(top->lanes[0] & warp->waits) || below->lanes[0] & warp->waits || !below->meeting ||
        below->meeting != top->meeting)
        return;
    const struct stack_entry other = *top;
    *top = *below, *below = other;
}

bool vws_part_group(struct vws_warp *warp, unsigned path, uint32_t after) {
    struct vws_group *group = &warp->groups[path];
    uint32_t rest = group->members, kept = 0;
    for (BITS_EACH(slice, rest))
        kept |= (uint32_t)(top_of(warp, slice)->pc == after) << slice;
    if (kept == rest)
        return false;
    if (!kept) {
        const uint32_t pc = pc_of(warp, group);
        for (BITS_EACH(slice, rest))
            kept |= (uint32_t)(top_of(warp, slice)->pc == pc) << slice;
    }
    group->members = (uint8_t)kept;
    const bool splits = rest != kept;
    for (rest &= ~kept; rest;) {
        const uint32_t pc = top_of(warp, bits_first(rest))->pc;
        uint32_t here = 0;
        for (BITS_EACH(slice, rest))
            here |= (uint32_t)(top_of(warp, slice)->pc == pc) << slice;
        warp->groups[vws_free_place(warp)] = (struct vws_group){.members = (uint8_t)here, .since = ++warp->clock};
        rest &= ~here;
    }
    return splits;
}

void vws_reform(struct vws *self, struct vws_warp *warp) {
    unsigned joined = 0;
    for (unsigned a = 0; a < self->slices; a++)
        for (unsigned b = a + 1; b < self->slices && joined < 2; b++) {
            struct vws_group *into = &warp->groups[a], *from = &warp->groups[b];
            if (!vws_can_run(warp, into) || !vws_can_run(warp, from) || pc_of(warp, into) != pc_of(warp, from))
                continue;
            into->members |= from->members;
            *from = (struct vws_group){0};
            joined++;
        }
    self->stats.joins += joined;
}
