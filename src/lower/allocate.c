/* SPDX-License-Identifier: Apache-2.0 */
/* Registers for units. A unit is live in segments of points, two for each instruction: 2p where it reads, 2p + 1 where it
 * writes. Copies are merged where the two never live at once; then groups take the lowest register that is free at all
 * their points, those that are used most first. What finds none is kept in local memory, and all begins again. */
#include "lower/allocate.h"

#include <stdlib.h>

enum { ROUNDS_MAX = 64, CLASS_WORD = 0, CLASS_PREDICATE = 1 };

/* ---- merging of copies ---- */

static uint32_t merged(const struct allocator *a, uint32_t unit) {
    while (a->ranges[unit].merged != unit)
        unit = a->ranges[unit].merged;
    return unit;
}

static bool meet(const struct unit_range *x, const struct unit_range *y) {
    unsigned i = 0, k = 0;
    while (i < x->segments.count && k < y->segments.count) {
        const struct segment *s = &x->segments.items[i], *t = &y->segments.items[k];
        if (s->from < t->to && t->from < s->to)
            return true;
        if (s->to <= t->to)
            i++;
        else
            k++;
    }
    return false;
}

static void merge_ranges(struct allocator *a, uint32_t into, uint32_t from) {
    struct unit_range *x = &a->ranges[into], *y = &a->ranges[from];
    for (unsigned i = 0; i < y->segments.count; i++)
        *ARENA_PUSH(a->arena, &x->segments) = y->segments.items[i];
    allocate_sort_segments(x);
    x->uses += y->uses;
    y->merged = into;
}

static void merge_copy(struct allocator *a, uint32_t d, uint32_t s) {
    const struct register_unit *units = a->machine->units.items;
    d = merged(a, d), s = merged(a, s);
    if (d == s || units[d].is_predicate != units[s].is_predicate)
        return;
    if (units[d].is_temporary || units[s].is_temporary) /* what a temporary is part of could not be spilled */
        return;
    if (units[d].size && !units[s].size) {
        const uint32_t held = d;
        d = s, s = held;
    }
    if (!units[d].size) { /* a single one goes to where the other is */
        if (!meet(&a->ranges[d], &a->ranges[s]))
            merge_ranges(a, s, d);
        return;
    }
    if (units[d].size != units[s].size || units[d].index != units[s].index)
        return;
    const uint32_t first_d = units[d].leader, first_s = units[s].leader;
    for (unsigned i = 0; i < units[d].size; i++)
        if (merged(a, first_d + i) != first_d + i || merged(a, first_s + i) != first_s + i ||
            meet(&a->ranges[first_d + i], &a->ranges[first_s + i]))
            return;
    for (unsigned i = 0; i < units[d].size; i++)
        merge_ranges(a, first_s + i, first_d + i);
}

/* Tesla: of a register that is not the kernel's to choose. */
static bool is_own_copy(const struct machine_kernel *machine, const struct machine_inst *inst) {
    struct machine_inst named = *inst;
    named.units[1] = inst->units[0];
    return !inst->turing && inst->units[1] == NO_UNIT && machine_is_copy(machine, &named);
}

/* Copies in inner loops first. */
static void merge_copies(struct allocator *a) {
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < a->flow.order_count; i++) {
        const uint32_t depth = flow_depth(&a->flow, a->flow.order[i]);
        deepest = depth > deepest ? depth : deepest;
    }
    for (uint32_t depth = deepest + 1; depth-- > 0;)
        for (uint32_t i = 0; i < a->flow.order_count; i++) {
            const struct machine_block *block = &a->machine->blocks.items[a->flow.order[i]];
            if (flow_depth(&a->flow, a->flow.order[i]) != depth)
                continue;
            for (unsigned k = 0; k < block->code.count; k++)
                if (machine_is_copy(a->machine, &block->code.items[k]))
                    merge_copy(a, block->code.items[k].units[0], block->code.items[k].units[1]);
        }
}

/* ---- colours ---- */

static bool is_free(const uint64_t *busy, const struct unit_range *range) {
    for (unsigned i = 0; i < range->segments.count; i++)
        for (uint32_t p = range->segments.items[i].from; p < range->segments.items[i].to;) {
            if (p % 64 == 0 && p + 64 <= range->segments.items[i].to) {
                if (busy[p / 64])
                    return false;
                p += 64;
            } else if (test_bit(busy, p++)) {
                return false;
            }
        }
    return true;
}

static void occupy(uint64_t *busy, const struct unit_range *range) {
    for (unsigned i = 0; i < range->segments.count; i++)
        for (uint32_t p = range->segments.items[i].from; p < range->segments.items[i].to; p++)
            set_bit(busy, p);
}

static bool colour_group(struct allocator *a, uint32_t leader, unsigned size) {
    const unsigned class = a->machine->units.items[leader].is_predicate ? CLASS_PREDICATE : CLASS_WORD;
    for (uint32_t base = 0; base + size <= a->limit[class]; base += size) {
        bool fits = true;
        for (unsigned i = 0; i < size && fits; i++)
            fits = is_free(a->busy[class][base + i], &a->ranges[leader + i]);
        if (!fits)
            continue;
        for (unsigned i = 0; i < size; i++) {
            a->ranges[leader + i].colour = base + i;
            occupy(a->busy[class][base + i], &a->ranges[leader + i]);
        }
        return true;
    }
    return false;
}

struct candidate {
    uint32_t leader;
    unsigned size;
    bool is_temporary;
    double weight;
};

static int compare_candidates(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    if (x->is_temporary != y->is_temporary)
        return x->is_temporary ? -1 : 1;
    if (x->is_temporary && x->size != y->size)
        return x->size > y->size ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->leader < y->leader ? -1 : x->leader > y->leader;
}

static double length_of(const struct unit_range *range) {
    double sum = 0;
    for (unsigned i = 0; i < range->segments.count; i++)
        sum += range->segments.items[i].to - range->segments.items[i].from;
    return sum;
}

static unsigned list_candidates(struct allocator *a, struct candidate *list) {
    const struct register_unit *units = a->machine->units.items;
    unsigned count = 0;
    for (uint32_t u = 0; u < a->unit_count; u++) {
        const unsigned size = units[u].size ? units[u].size : 1;
        if (merged(a, u) != u || (units[u].size && units[u].leader != u))
            continue;
        struct candidate candidate = {.leader = u, .size = size};
        double length = 0;
        for (unsigned i = 0; i < size; i++) {
            candidate.weight += (double)a->ranges[u + i].uses;
            length += length_of(&a->ranges[u + i]);
            candidate.is_temporary = candidate.is_temporary || units[u + i].is_temporary;
        }
        if (length == 0)
            continue;
        candidate.weight /= length;
        list[count++] = candidate;
    }
    qsort(list, count, sizeof *list, compare_candidates);
    return count;
}

/* ---- spilling ---- */

/* Where a group that found no register is kept from now on. */
static void place_spill(struct allocator *a, struct spill *spills, const struct candidate *candidate) {
    struct machine_kernel *machine = a->machine;
    const bool is_predicate = machine->units.items[candidate->leader].is_predicate;
    uint32_t place = 0;
    if (is_predicate) {
        place = machine_unit(machine, false);
    } else {
        machine->local_bytes =
            (machine->local_bytes + 4 * candidate->size - 1) / (4 * candidate->size) * (4 * candidate->size);
        /* 0 means none: the first word of local memory is left alone */
        if (machine->local_bytes == 0)
            machine->local_bytes = 4 * candidate->size;
        place = machine->local_bytes;
        machine->local_bytes += 4 * candidate->size;
    }
    for (uint32_t u = 0; u < a->unit_count; u++) {
        const uint32_t root = merged(a, u);
        if (root < candidate->leader || root >= candidate->leader + candidate->size)
            continue;
        spills[u].place = is_predicate ? place : place + 4 * (root - candidate->leader);
    }
}

/* ---- all of it ---- */

static void write_colours(struct allocator *a, uint32_t *register_count) {
    struct machine_kernel *machine = a->machine;
    for (uint32_t b = 0; b < machine->blocks.count; b++) {
        struct machine_block *block = &machine->blocks.items[b];
        unsigned kept = 0;
        for (unsigned i = 0; i < block->code.count && a->flow.place[b] != NO_BLOCK; i++) {
            struct machine_inst inst = block->code.items[i];
            const bool copy = machine_is_copy(machine, &inst);
            for (unsigned k = 0; k < inst.native.operand_count; k++) {
                if (inst.units[k] == NO_UNIT)
                    continue;
                machine_set_register(&inst, k, a->ranges[merged(a, inst.units[k])].colour);
                const uint32_t end = machine_register(&inst, k) + width_of(&inst, k);
                if (!machine->units.items[inst.units[k]].is_predicate && end > *register_count)
                    *register_count = end;
            }
            if (inst.guard != NO_UNIT)
                inst.native.guard_reg = (uint8_t)a->ranges[merged(a, inst.guard)].colour;
            if ((copy || is_own_copy(machine, &inst)) && machine_register(&inst, 0) == machine_register(&inst, 1))
                continue;
            block->code.items[kept++] = inst;
        }
        block->code.count = kept;
        if (block->end == END_BRANCH && block->predicate != NO_UNIT)
            block->predicate = a->ranges[merged(a, block->predicate)].colour;
    }
}

void allocate_begin(struct allocator *a) {
    a->unit_count = a->machine->units.count;
    a->word_count = (a->unit_count + 63) / 64;
    a->flow = flow_find(a->machine, a->arena);
    allocate_find_ranges(a);
}

static void rename_units(const struct allocator *a, struct machine_block *block) {
    unsigned kept = 0;
    for (unsigned i = 0; i < block->code.count; i++) {
        struct machine_inst inst = block->code.items[i];
        for (unsigned k = 0; k < inst.native.operand_count; k++)
            if (inst.units[k] != NO_UNIT)
                inst.units[k] = merged(a, inst.units[k]);
        if (inst.guard != NO_UNIT)
            inst.guard = merged(a, inst.guard);
        if (!machine_is_copy(a->machine, &inst) || inst.units[0] != inst.units[1])
            block->code.items[kept++] = inst;
    }
    block->code.count = kept;
    if (block->end == END_BRANCH && block->predicate != NO_UNIT)
        block->predicate = merged(a, block->predicate);
}

void allocate_join_copies(struct machine_kernel *machine) {
    struct arena arena = {.escape = machine->arena->escape};
    struct allocator a = {.machine = machine, .arena = &arena};
    allocate_begin(&a);
    merge_copies(&a);
    for (uint32_t i = 0; i < a.flow.order_count; i++)
        rename_units(&a, &machine->blocks.items[a.flow.order[i]]);
    arena_free(&arena);
}

static bool round_of(struct allocator *a, struct spill **spills) {
    allocate_begin(a);
    merge_copies(a);
    for (unsigned class = 0; class < 2; class ++) {
        a->busy[class] = ARENA_ARRAY(a->arena, uint64_t *, a->limit[class] + 1);
        for (uint32_t r = 0; r < a->limit[class]; r++)
            a->busy[class][r] = ARENA_ARRAY(a->arena, uint64_t, a->points / 64 + 2);
    }
    struct candidate *list = ARENA_ARRAY(a->arena, struct candidate, a->unit_count + 1);
    const unsigned count = list_candidates(a, list);
    *spills = NULL;
    bool fits = true;
    for (unsigned i = 0; i < count; i++) {
        if (colour_group(a, list[i].leader, list[i].size))
            continue;
        fits = false;
        /* in the place of a temporary goes what is used least */
        const struct candidate *who = list[i].is_temporary && !*spills ? &list[count - 1] : &list[i];
        if (who->is_temporary)
            continue;
        if (!*spills)
            *spills = ARENA_ARRAY(a->arena, struct spill, a->unit_count + 1);
        place_spill(a, *spills, who);
    }
    return fits;
}

enum status allocate(struct machine_kernel *machine, uint32_t *register_count) {
    *register_count = 0;
    for (unsigned round = 0; round < ROUNDS_MAX; round++) {
        struct arena arena = {.escape = machine->arena->escape};
        struct allocator a = {.machine = machine, .arena = &arena};
        a.limit[CLASS_WORD] = machine->register_limit, a.limit[CLASS_PREDICATE] = FERMI_PREDICATES;
        struct spill *spills;
        const bool done = round_of(&a, &spills);
        if (done)
            write_colours(&a, register_count);
        else if (spills)
            allocate_rewrite(machine, spills, a.unit_count);
        arena_free(&arena);
        if (done)
            return STATUS_OK;
        if (!spills)
            break;
    }
    return report_add(machine->report, STATUS_INVALID, "%s: error: %s: '%s' does not fit into %u registers",
                      machine->body->module->name, machine->isa_name, machine->body->kernel->name,
                      (unsigned)machine->register_limit);
}
