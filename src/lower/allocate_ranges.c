/* SPDX-License-Identifier: Apache-2.0 */
/* Where units are live: liveness by block, then the segments of points of every unit, with how much it is used. */
#include "lower/allocate.h"

#include <stdlib.h>
#include <string.h>

static void live_through(const struct machine_kernel *machine, const struct machine_inst *inst, uint64_t *live) {
    for (unsigned i = 0; i < inst->native.operand_count; i++)
        if (inst->units[i] != NO_UNIT && machine_writes(machine, inst, i) && !keeps_old(inst))
            for (unsigned w = 0; w < width_of(inst, i); w++)
                clear_bit(live, inst->units[i] + w);
    for (unsigned i = 0; i < inst->native.operand_count; i++)
        if (inst->units[i] != NO_UNIT && (!machine_writes(machine, inst, i) || keeps_old(inst)))
            for (unsigned w = 0; w < width_of(inst, i); w++)
                set_bit(live, inst->units[i] + w);
    if (inst->guard != NO_UNIT)
        set_bit(live, inst->guard);
}

void allocate_live_out(const struct allocator *a, uint32_t b, uint64_t *live) {
    const struct machine_block *block = &a->machine->blocks.items[b];
    uint32_t to[2];
    const unsigned count = block_successors(block, to);
    memset(live, 0, a->word_count * sizeof *live);
    for (unsigned i = 0; i < count; i++)
        for (uint32_t w = 0; w < a->word_count; w++)
            live[w] |= a->live_in[(size_t)to[i] * a->word_count + w];
    if (block->end == END_BRANCH && block->predicate != NO_UNIT)
        set_bit(live, block->predicate);
}

static void find_live(struct allocator *a) {
    const struct machine_kernel *machine = a->machine;
    uint64_t *live = ARENA_ARRAY(a->arena, uint64_t, a->word_count + 1);
    a->live_in = ARENA_ARRAY(a->arena, uint64_t, (size_t)machine->blocks.count * a->word_count + 1);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = a->flow.order_count; n-- > 0;) {
            const uint32_t b = a->flow.order[n];
            const struct machine_block *block = &machine->blocks.items[b];
            allocate_live_out(a, b, live);
            for (unsigned i = block->code.count; i-- > 0;)
                live_through(machine, &block->code.items[i], live);
            uint64_t *in = &a->live_in[(size_t)b * a->word_count];
            if (memcmp(in, live, a->word_count * sizeof *live) != 0) {
                memcpy(in, live, a->word_count * sizeof *live);
                changed = true;
            }
        }
    }
}

static void add_segment(struct allocator *a, uint32_t unit, uint32_t from, uint32_t to) {
    *ARENA_PUSH(a->arena, &a->ranges[unit].segments) = (struct segment){from, to};
}

struct range_sweep {
    uint64_t *live;
    uint32_t *until; /* by unit that is live: where that ends */
};

static void sweep_write(struct allocator *a, struct range_sweep *sweep, uint32_t unit, uint32_t at, bool keeps) {
    if (!test_bit(sweep->live, unit)) {
        add_segment(a, unit, at, at + 1);
    } else if (!keeps) {
        add_segment(a, unit, at, sweep->until[unit]);
        clear_bit(sweep->live, unit);
    }
}

static void sweep_read(struct range_sweep *sweep, uint32_t unit, uint32_t at) {
    if (test_bit(sweep->live, unit))
        return;
    set_bit(sweep->live, unit);
    sweep->until[unit] = at + 1;
}

static void sweep_inst(struct allocator *a, struct range_sweep *sweep, const struct machine_inst *inst, uint32_t at,
                       uint64_t weight) {
    const bool keeps = keeps_old(inst);
    for (unsigned i = 0; i < inst->native.operand_count; i++)
        if (inst->units[i] != NO_UNIT && machine_writes(a->machine, inst, i))
            for (unsigned w = 0; w < width_of(inst, i); w++) {
                sweep_write(a, sweep, inst->units[i] + w, inst->early ? at : at + 1, keeps);
                a->ranges[inst->units[i] + w].uses += weight;
            }
    for (unsigned i = 0; i < inst->native.operand_count; i++)
        if (inst->units[i] != NO_UNIT && (!machine_writes(a->machine, inst, i) || keeps))
            for (unsigned w = 0; w < width_of(inst, i); w++) {
                sweep_read(sweep, inst->units[i] + w, at);
                a->ranges[inst->units[i] + w].uses += weight;
            }
    if (inst->guard != NO_UNIT) {
        sweep_read(sweep, inst->guard, at);
        a->ranges[inst->guard].uses += weight;
    }
}

static void sweep_block(struct allocator *a, struct range_sweep *sweep, uint32_t b) {
    const struct machine_block *block = &a->machine->blocks.items[b];
    const uint32_t depth = flow_depth(&a->flow, b);
    uint64_t weight = 1;
    for (uint32_t i = 0; i < depth && i < 8; i++)
        weight *= 8;
    const uint32_t end = 2 * (a->first[b] + block->code.count) + 2;
    allocate_live_out(a, b, sweep->live);
    for (uint32_t u = 0; u < a->unit_count; u++)
        if (test_bit(sweep->live, u))
            sweep->until[u] = end;
    if (block->end == END_BRANCH && block->predicate != NO_UNIT)
        a->ranges[block->predicate].uses += weight;
    for (unsigned i = block->code.count; i-- > 0;)
        sweep_inst(a, sweep, &block->code.items[i], 2 * (a->first[b] + i), weight);
    for (uint32_t u = 0; u < a->unit_count; u++)
        if (test_bit(sweep->live, u))
            add_segment(a, u, 2 * a->first[b], sweep->until[u]);
}

static int compare_segments(const void *a, const void *b) {
    const struct segment *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

void allocate_sort_segments(struct unit_range *range) {
    if (range->segments.count)
        qsort(range->segments.items, range->segments.count, sizeof(struct segment), compare_segments);
}

void allocate_find_ranges(struct allocator *a) {
    const struct machine_kernel *machine = a->machine;
    find_live(a);
    a->ranges = ARENA_ARRAY(a->arena, struct unit_range, a->unit_count + 1);
    a->first = ARENA_ARRAY(a->arena, uint32_t, machine->blocks.count);
    uint32_t next = 0;
    for (uint32_t i = 0; i < a->flow.order_count; i++) {
        a->first[a->flow.order[i]] = next;
        next += machine->blocks.items[a->flow.order[i]].code.count + 1;
    }
    a->points = 2 * next;
    struct range_sweep sweep = {.live = ARENA_ARRAY(a->arena, uint64_t, a->word_count + 1),
                                .until = ARENA_ARRAY(a->arena, uint32_t, a->unit_count + 1)};
    for (uint32_t i = 0; i < a->flow.order_count; i++)
        sweep_block(a, &sweep, a->flow.order[i]);
    for (uint32_t u = 0; u < a->unit_count; u++) {
        a->ranges[u].merged = u;
        allocate_sort_segments(&a->ranges[u]);
    }
}
