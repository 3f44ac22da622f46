/* SPDX-License-Identifier: Apache-2.0 */
#include "study/steps.h"

#include <string.h>

#include "simt/threads.h"

enum { ROWS_MAX = 64 };

static bool is_wanted(const struct steps *steps, const struct sm *sm, const struct recorded_step *step) {
    const struct steps_filter *filter = &steps->filter;
    if (step->cycle < filter->from_cycle || (filter->one_sm && sm_shape_of(sm)->id != filter->sm) ||
        (filter->one_block && step->block != filter->block) ||
        (filter->from_divergence && !steps->count && !step->diverged))
        return false;
    for (BITS_EACH(lane, filter->one_warp ? step->lanes : 0))
        if (step_warp(step, lane) == filter->warp)
            return true;
    return !filter->one_warp;
}

/* Threads of a block, of threads of an SM. */
static void number_threads(uint16_t *out, const uint16_t *threads, unsigned warp, uint32_t lanes,
                           const struct sm_shape *shape) {
    for (BITS_EACH(lane, lanes))
        out[lane] = (uint16_t)sm_thread_of_block(shape, threads ? threads[lane] : warp * LANES_MAX + lane);
}

static void keep_rows(struct steps *steps, const struct sm *sm, unsigned warp, struct recorded_step *step) {
    struct group_row rows[ROWS_MAX];
    step->row_count = sm_show_mechanism(sm, warp, rows, ROWS_MAX);
    step->rows = ARENA_ARRAY(steps->arena, struct group_row, step->row_count);
    for (unsigned i = 0; i < step->row_count; i++) {
        uint16_t *threads = ARENA_ARRAY(steps->arena, uint16_t, LANES_MAX);
        number_threads(threads, rows[i].threads, warp, rows[i].lanes, sm_shape_of(sm));
        step->rows[i] = rows[i];
        step->rows[i].threads = threads;
    }
}

static void keep_others(struct steps *steps, const struct sm *sm, unsigned slot, struct recorded_step *step) {
    const unsigned warps = sm_shape_of(sm)->warps_per_place, slots = sm_slot_count(sm);
    step->others = ARENA_ARRAY(steps->arena, struct step_other, slots);
    for (unsigned i = 0; i < slots; i++) {
        const struct sm_slot_view view = sm_view_slot(sm, i);
        if (!view.used || i == slot || !view.lanes)
            continue;
        const unsigned warp = view.threads ? view.threads[bits_first(view.lanes)] / LANES_MAX : sm_warp_of(sm, i);
        const uint64_t block = sm_block_of(sm, warp);
        if (block == step->block || !steps->filter.one_block)
            step->others[step->other_count++] =
                (struct step_other){block, warp % warps, view.pc, view.lanes, view.wait};
    }
}

static void keep(void *self, const struct sm *sm, const struct sm_issue *issue) {
    struct steps *steps = self;
    if (steps->full)
        return;
    const struct group *group = &issue->group;
    const struct executed *executed = issue->executed;
    const unsigned warp =
        group->threads ? group->threads[bits_first(group->lanes)] / LANES_MAX : sm_warp_of(sm, issue->slot);
    struct recorded_step step = {.cycle = issue->cycle,
                                 .block = sm_block_of(sm, warp),
                                 .sm = sm_shape_of(sm)->id,
                                 .pc = group->pc,
                                 .lanes = group->lanes,
                                 .warp_size = sm_shape_of(sm)->warp_size,
                                 .diverged = executed_diverges(executed)};
    number_threads(step.threads, group->threads, warp, group->lanes, sm_shape_of(sm));
    for (BITS_EACH(lane, group->lanes))
        step.next[lane] =
            executed->flow == FLOW_EXIT && executed->taken >> lane & 1 ? NO_PC : threads_next(executed, lane);
    if (!is_wanted(steps, sm, &step))
        return;
    keep_rows(steps, sm, warp, &step);
    keep_others(steps, sm, issue->slot, &step);
    *ARENA_PUSH(steps->arena, steps) = step;
    steps->full = steps->count >= steps->filter.most;
}

void steps_create(struct steps *steps, struct arena *arena, const struct steps_filter *filter) {
    *steps = (struct steps){.arena = arena, .filter = *filter};
    steps->observer = (struct sm_observer){.self = steps, .issued = keep};
}
