/* SPDX-License-Identifier: Apache-2.0 */
/* Hanoi, PTX: lanes wait for each other at a label, before the post-dominator. */
#include "divergence/hanoi.h"

void hanoi_label_move(struct hanoi *self, struct hanoi_warp *warp, const struct hanoi_path *path) {
    const uint32_t before = warp->label.lanes;
    if (label_move(self->label, &warp->label, path->pc, path->depth, path->lanes))
        hanoi_part(self, warp, path, self->label->behind, path->depth); /* all of them meet behind it */
    self->stats.broken += bits_count(before & ~warp->label.lanes);
}

/* Lanes of `rest` that come to the same meeting as the first of them. */
static uint32_t together(struct hanoi_warp *warp, uint32_t rest) {
    const struct hanoi_meeting *next = hanoi_innermost(warp, rest & -rest);
    uint32_t lanes = 0;
    for (BITS_EACH(lane, rest))
        lanes |= (uint32_t)(hanoi_innermost(warp, UINT32_C(1) << lane) == next) << lane;
    return lanes;
}

bool hanoi_label_release(struct hanoi *self, struct hanoi_warp *warp) {
    const uint32_t arrived = warp->label.arrived;
    if (!arrived)
        return false;
    const bool is_met = label_is_met(self->label, &warp->label);
    self->stats.label_meetings += is_met;
    self->stats.label_early += !is_met;
    self->stats.label_lanes += bits_count(arrived);
    warp->label.arrived = 0;
    for (uint32_t rest = arrived, lanes; rest; rest &= ~lanes) {
        lanes = together(warp, rest);
        hanoi_push_ready(self, warp,
                         (struct hanoi_path){.pc = self->label->pc, .lanes = lanes, .depth = warp->label.depth});
    }
    return true;
}
