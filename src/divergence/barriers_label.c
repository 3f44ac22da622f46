/* SPDX-License-Identifier: Apache-2.0 */
/* Convergence barriers: lanes wait for each other at a label, before the post-dominator. */
#include "divergence/barriers.h"

/* One register for all that come into the region together, so that they still go together to where they meet behind it, whichever
 * way they went round within. */
static void set_behind(struct barriers *self, struct barriers_warp *warp, struct barriers_path *path) {
    const struct barriers_meeting meeting = {self->label->behind, path->depth};
    const struct barriers_register *inner = path->inner == NO_BARRIER ? NULL : &warp->registers[path->inner];
    if ((meeting.pc == NO_PC && !meeting.depth) || (inner && inner->pc == meeting.pc && inner->depth == meeting.depth))
        return;
    const uint8_t number = barriers_set_register(self, warp, path->lanes, meeting, path->inner);
    path->inner = number == NO_BARRIER ? path->inner : number;
}

void barriers_label_move(struct barriers *self, struct barriers_warp *warp, struct barriers_path *path) {
    const uint32_t before = warp->label.lanes;
    if (label_move(self->label, &warp->label, path->pc, path->depth, path->lanes))
        set_behind(self, warp, path);
    self->stats.breaks += bits_count(before & ~warp->label.lanes);
}

/* Paths at the label are one, where they meet at the same register next. */
static void join(struct barriers_warp *warp) {
    for (unsigned i = 0; i < warp->count; i++)
        for (unsigned k = warp->count - 1; warp->paths[i].state == AT_LABEL && k > i; k--)
            if (warp->paths[k].state == AT_LABEL && warp->paths[k].inner == warp->paths[i].inner) {
                warp->paths[i].lanes |= warp->paths[k].lanes;
                barriers_remove_path(warp, k);
            }
}

bool barriers_label_release(struct barriers *self, struct barriers_warp *warp) {
    if (!warp->label.arrived)
        return false;
    self->stats.label_early += !label_is_met(self->label, &warp->label);
    self->stats.label_meetings += label_is_met(self->label, &warp->label);
    self->stats.label_lanes += bits_count(warp->label.arrived);
    join(warp);
    for (unsigned i = 0; i < warp->count; i++)
        if (warp->paths[i].state == AT_LABEL)
            warp->paths[i].state = READY; /* not MOVED: it has been there */
    warp->label.arrived = 0;
    return true;
}

void barriers_label_meet(struct barriers *self, struct barriers_warp *warp) {
    if (label_is_met(self->label, &warp->label))
        barriers_label_release(self, warp);
}
