/* SPDX-License-Identifier: Apache-2.0 */
/* What the loops over cycles share (sm/cycle.h): events far off, blocks that begin, an SM that is looked at from outside. */
#include <stdio.h>
#include <string.h>

#include "sm/cycle.h"

/* ---- events ---- */

void sm_far_event(struct sm *sm, uint64_t cycle, enum event_kind kind, uint32_t value) {
    if (sm->far.count == sm->far.capacity)
        sm->far.items = arena_grow(sm->arena, sm->far.items, sm->far.count, &sm->far.capacity, sizeof *sm->far.items);
    sm->far.items[sm->far.count++] = (struct far_event){cycle, value, (uint8_t)kind};
    if (sm->far.count == 1 || cycle < sm->far_next)
        sm->far_next = cycle;
}

/* Events that the wheel reaches by now go into it. */
void sm_draw_near(struct sm *sm) {
    unsigned kept = 0;
    const unsigned count = sm->far.count;
    sm->far.count = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct far_event event = sm->far.items[i];
        if (event.cycle - sm->now < WHEEL_SLOTS)
            sm_event(sm, event.cycle, event.kind, event.value);
        else
            sm->far.items[kept++] = event;
    }
    sm->far.count = kept;
    for (unsigned i = 0; i < kept; i++)
        if (i == 0 || sm->far.items[i].cycle < sm->far_next)
            sm->far_next = sm->far.items[i].cycle;
}

/* One block begins per cycle, in the order they were given. */
void sm_start_given(struct sm *sm) {
    unsigned number = 0;
    while (sm->places[number].used)
        number++;
    struct sm_place *place = &sm->places[number];
    if (!sm->places_used && !sm->stats.blocks)
        sm_remember_code(sm, sm->given[0].first_pc);
    *place = (struct sm_place){.used = true,
                               .block = sm->given[0].block,
                               .cluster = sm->given[0].cluster,
                               .rank = sm->given[0].rank,
                               .waiting = {.first_warp = number * sm->shape.warps_per_place,
                                           .warp_count = sm->shape.warps_per_place,
                                           .waits = sm->waits}};
    sm->places_used++;
    sm->executor.start(sm->executor.self, number, place->block);
    if (place->cluster)
        sm_dsm_start(sm, number);
    const slot_set slots = set_low(sm->shape.warps_per_place) << number * sm->shape.warps_per_place;
    for (slot_set rest = SETS(sm)->used; rest; rest &= rest - 1)
        SETS(sm)->older[set_first(rest)] &= ~slots;
    for (unsigned i = 0; i < sm->shape.warps_per_place; i++) {
        const unsigned w = number * sm->shape.warps_per_place + i;
        const uint32_t lanes = sm->executor.lanes(sm->executor.self, w);
        place->waiting.alive += bits_count(lanes);
        SETS(sm)->front->start(sm, w, sm->given[0].first_pc, lanes);
    }
    sm->given_count--;
    memmove(&sm->given[0], &sm->given[1], sm->given_count * sizeof sm->given[0]);
}

static uint64_t counted_slots(const struct sm_stats *stats) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < SLOT_COUNT; i++)
        sum += stats->in_slots[i];
    return sum;
}

/* What is left of the epoch. */
void sm_end_faulted(struct sm *sm) {
    const uint64_t left = sm->stats.slots - counted_slots(&sm->stats);
    sm->stats.idle += left;
    sm->inst_stats[sm->module->code_count].slots[SLOT_IDLE] += left;
}

static void settle(struct sm *sm, uint64_t cycle) {
    const uint64_t since = sm->now;
    if (cycle > since)
        sm_pass(sm, cycle);
    sm_end_empty(sm);
    sm_count_passed(sm, since);
}

static bool clean(struct sm *sm, bool l1, bool l2) {
    sm->wake = sm->now; /* for what goes to an L2 of its own */
    bool left = l1 && sm_clean_l1(sm);
    if (!left && l2 && !sm->l2->count)
        left = sm_l2_clean(sm);
    return left || sm->places[0].stores;
}

/* ---- for observers ---- */

static void describe(const struct sm *sm, struct report *report) {
    enum { SHOWN = 8 };
    unsigned shown = 0;
    char where[256];
    for (unsigned w = 0; w < sm->warp_count; w++) {
        const struct sm_warp *warp = &SETS(sm)->warps[w];
        const bool here = SETS(sm)->front->is_here(sm, w);
        if (!here || shown++ >= SHOWN)
            continue;
        if (!sm->whole_warps || warp->waits)
            sm_describe_waits(sm, w, report);
        else
            report_add(report, STATUS_STOPPED, "  SM %u, block %llu, warp %u: at %s, waiting for %s",
                       (unsigned)sm->shape.id, (unsigned long long)sm->places[w / sm->shape.warps_per_place].block,
                       w % sm->shape.warps_per_place, module_where(sm->module, warp->pc, where, sizeof where),
                       sm_wait_names[warp->stage]);
    }
    if (shown > SHOWN)
        report_add(report, STATUS_STOPPED, "  and %u more warps of SM %u", shown - SHOWN, (unsigned)sm->shape.id);
}

static struct sm_slot_view view_slot(const struct sm *sm, unsigned slot) {
    const struct sm_warp *warp = &SETS(sm)->warps[slot];
    return (struct sm_slot_view){.used = set_has(SETS(sm)->used, slot),
                                 .pc = warp->pc,
                                 .lanes = warp->group.lanes,
                                 .threads = warp->group.threads,
                                 .wait = warp->stage};
}

static void count_waits(const struct sm *sm, uint64_t waits[WAIT_COUNT]) {
    for (slot_set rest = SETS(sm)->used; rest; rest &= rest - 1)
        waits[SETS(sm)->warps[set_first(rest)].stage]++;
}

static bool is_quiet(const struct sm *sm) {
    for (unsigned w = 0; w < sm->slot_count; w++)
        if (SETS(sm)->warps[w].in_flight || SETS(sm)->warps[w].fetching)
            return false;
    return true;
}

const struct sm_entries SM_ENTRIES = {.create = sm_make,
                                      .settle = settle,
                                      .clean = clean,
                                      .is_quiet = is_quiet,
                                      .describe = describe,
                                      .view_slot = view_slot,
                                      .count_waits = count_waits};
