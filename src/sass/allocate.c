/* SPDX-License-Identifier: Apache-2.0 */
/* Registers for units. A unit is live in segments of points, two for each instruction: 2p where it reads, 2p + 1 where it
 * writes. Copies are merged where the two never live at once; then groups take the lowest register that is free at all
 * their points, those that are used most first. What finds none is kept in local memory, and all begins again. */
#include <stdlib.h>
#include <string.h>

#include "sass/machine_flow.h"

struct segment {
    uint32_t from, to; /* [from, to) */
};

struct range {
    struct {
        struct segment *items;
        unsigned count, capacity;
    } segments;
    uint64_t uses; /* weighted by loops */
    uint32_t colour;
    uint32_t merged; /* the unit it was merged into, or itself */
};

struct allocation {
    struct machine *machine;
    struct arena *arena; /* of one round */
    struct machine_flow flow;
    uint32_t unit_count, word_count; /* 64-bit words of a set of units */
    uint64_t *live_in;               /* by block */
    uint32_t *first;                 /* by block: its first point / 2 */
    uint32_t points;
    struct range *ranges;
    uint64_t **busy[2]; /* by class and register: points */
    uint32_t limit[2];
};

enum { ROUNDS_MAX = 64, CLASS_WORD = 0, CLASS_PREDICATE = 1 };

static bool test(const uint64_t *set, uint32_t i) { return set[i / 64] >> i % 64 & 1; }
static void set_bit(uint64_t *set, uint32_t i) { set[i / 64] |= UINT64_C(1) << i % 64; }
static void clear_bit(uint64_t *set, uint32_t i) { set[i / 64] &= ~(UINT64_C(1) << i % 64); }

static unsigned width_of(const struct machine_inst *inst, unsigned operand) {
    return inst->widths[operand] ? inst->widths[operand] : 1;
}

/* It leaves in place what the destination held where the guard fails. */
static bool keeps_old(const struct machine_inst *inst) { return inst->native.guard != GUARD_NONE && !inst->whole; }

/* ---- liveness ---- */

static void live_through(const struct machine *machine, const struct machine_inst *inst, uint64_t *live) {
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

static void live_out(const struct allocation *a, uint32_t b, uint64_t *live) {
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

static void find_live(struct allocation *a) {
    const struct machine *machine = a->machine;
    uint64_t *live = ARENA_ARRAY(a->arena, uint64_t, a->word_count + 1);
    a->live_in = ARENA_ARRAY(a->arena, uint64_t, (size_t)machine->blocks.count * a->word_count + 1);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = a->flow.order_count; n-- > 0;) {
            const uint32_t b = a->flow.order[n];
            const struct machine_block *block = &machine->blocks.items[b];
            live_out(a, b, live);
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

static void add_segment(struct allocation *a, uint32_t unit, uint32_t from, uint32_t to) {
    *ARENA_PUSH(a->arena, &a->ranges[unit].segments) = (struct segment){from, to};
}

struct sweep {
    uint64_t *live;
    uint32_t *until; /* by unit that is live: where that ends */
};

static void sweep_write(struct allocation *a, struct sweep *sweep, uint32_t unit, uint32_t at, bool keeps) {
    if (!test(sweep->live, unit)) {
        add_segment(a, unit, at, at + 1);
    } else if (!keeps) {
        add_segment(a, unit, at, sweep->until[unit]);
        clear_bit(sweep->live, unit);
    }
}

static void sweep_read(struct sweep *sweep, uint32_t unit, uint32_t at) {
    if (test(sweep->live, unit))
        return;
    set_bit(sweep->live, unit);
    sweep->until[unit] = at + 1;
}

static void sweep_inst(struct allocation *a, struct sweep *sweep, const struct machine_inst *inst, uint32_t at,
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

static void sweep_block(struct allocation *a, struct sweep *sweep, uint32_t b) {
    const struct machine_block *block = &a->machine->blocks.items[b];
    const uint32_t depth = flow_depth(&a->flow, b);
    uint64_t weight = 1;
    for (uint32_t i = 0; i < depth && i < 8; i++)
        weight *= 8;
    const uint32_t end = 2 * (a->first[b] + block->code.count) + 2;
    live_out(a, b, sweep->live);
    for (uint32_t u = 0; u < a->unit_count; u++)
        if (test(sweep->live, u))
            sweep->until[u] = end;
    if (block->end == END_BRANCH && block->predicate != NO_UNIT)
        a->ranges[block->predicate].uses += weight;
    for (unsigned i = block->code.count; i-- > 0;)
        sweep_inst(a, sweep, &block->code.items[i], 2 * (a->first[b] + i), weight);
    for (uint32_t u = 0; u < a->unit_count; u++)
        if (test(sweep->live, u))
            add_segment(a, u, 2 * a->first[b], sweep->until[u]);
}

static int compare_segments(const void *a, const void *b) {
    const struct segment *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

static void find_ranges(struct allocation *a) {
    const struct machine *machine = a->machine;
    a->ranges = ARENA_ARRAY(a->arena, struct range, a->unit_count + 1);
    a->first = ARENA_ARRAY(a->arena, uint32_t, machine->blocks.count);
    uint32_t next = 0;
    for (uint32_t i = 0; i < a->flow.order_count; i++) {
        a->first[a->flow.order[i]] = next;
        next += machine->blocks.items[a->flow.order[i]].code.count + 1;
    }
    a->points = 2 * next;
    struct sweep sweep = {.live = ARENA_ARRAY(a->arena, uint64_t, a->word_count + 1),
                          .until = ARENA_ARRAY(a->arena, uint32_t, a->unit_count + 1)};
    for (uint32_t i = 0; i < a->flow.order_count; i++)
        sweep_block(a, &sweep, a->flow.order[i]);
    for (uint32_t u = 0; u < a->unit_count; u++) {
        a->ranges[u].merged = u;
        if (a->ranges[u].segments.count)
            qsort(a->ranges[u].segments.items, a->ranges[u].segments.count, sizeof(struct segment), compare_segments);
    }
}

/* ---- merging of copies ---- */

static uint32_t merged(const struct allocation *a, uint32_t unit) {
    while (a->ranges[unit].merged != unit)
        unit = a->ranges[unit].merged;
    return unit;
}

static bool meet(const struct range *x, const struct range *y) {
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

static void merge_ranges(struct allocation *a, uint32_t into, uint32_t from) {
    struct range *x = &a->ranges[into], *y = &a->ranges[from];
    for (unsigned i = 0; i < y->segments.count; i++)
        *ARENA_PUSH(a->arena, &x->segments) = y->segments.items[i];
    if (x->segments.count)
        qsort(x->segments.items, x->segments.count, sizeof(struct segment), compare_segments);
    x->uses += y->uses;
    y->merged = into;
}

static void merge_copy(struct allocation *a, uint32_t d, uint32_t s) {
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

static bool is_copy(const struct machine *machine, const struct machine_inst *inst) {
    const unsigned move = machine->isa == NATIVE_FERMI ? (unsigned)FERMI_MOV : (unsigned)TESLA_MOV;
    return inst->native.row == move && inst->native.guard == GUARD_NONE && !inst->native.pops &&
           inst->native.operands[0].kind == NATIVE_REG && inst->native.operands[1].kind == NATIVE_REG &&
           inst->units[0] != NO_UNIT && inst->units[1] != NO_UNIT && !inst->native.operands[1].half &&
           inst->native.modifiers[0] == MODIFIER_NONE && inst->native.modifiers[1] == MODIFIER_NONE;
}

/* Copies in inner loops first. */
static void merge_copies(struct allocation *a) {
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
                if (is_copy(a->machine, &block->code.items[k]))
                    merge_copy(a, block->code.items[k].units[0], block->code.items[k].units[1]);
        }
}

/* ---- colours ---- */

static bool is_free(const uint64_t *busy, const struct range *range) {
    for (unsigned i = 0; i < range->segments.count; i++)
        for (uint32_t p = range->segments.items[i].from; p < range->segments.items[i].to;) {
            if (p % 64 == 0 && p + 64 <= range->segments.items[i].to) {
                if (busy[p / 64])
                    return false;
                p += 64;
            } else if (test(busy, p++)) {
                return false;
            }
        }
    return true;
}

static void occupy(uint64_t *busy, const struct range *range) {
    for (unsigned i = 0; i < range->segments.count; i++)
        for (uint32_t p = range->segments.items[i].from; p < range->segments.items[i].to; p++)
            set_bit(busy, p);
}

static bool colour_group(struct allocation *a, uint32_t leader, unsigned size) {
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

static double length_of(const struct range *range) {
    double sum = 0;
    for (unsigned i = 0; i < range->segments.count; i++)
        sum += range->segments.items[i].to - range->segments.items[i].from;
    return sum;
}

static unsigned list_candidates(struct allocation *a, struct candidate *list) {
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

struct spill {
    uint32_t place; /* local memory of the leader's first unit, or the unit that keeps a predicate */
};

static void emit_local(struct machine *machine, uint32_t block, bool load, uint32_t unit, unsigned width,
                       uint32_t place, const struct inst *at) {
    const bool fermi = machine->isa == NATIVE_FERMI;
    const unsigned row =
        fermi ? (load ? (unsigned)FERMI_LDL : (unsigned)FERMI_STL) : (load ? (unsigned)TESLA_LLD : (unsigned)TESLA_LST);
    struct machine_inst *inst = machine_inst_new(machine, block, row, at);
    const struct native_operand value = {.kind = NATIVE_REG};
    const struct native_operand address = {.kind = NATIVE_MEMORY, .reg = fermi ? FERMI_RZ : TESLA_ZERO, .value = place};
    if (load)
        inst->widths[0] = (uint8_t)width, machine_operand(inst, value, unit);
    machine_operand(inst, address, NO_UNIT);
    if (!load)
        inst->widths[1] = (uint8_t)width, machine_operand(inst, value, unit);
    if (fermi && width > 1)
        machine_modify(machine, inst, NATIVE_SLOT_WIDTH, width == 2 ? MODIFIER_W64 : MODIFIER_W128);
    if (!fermi)
        machine_modify(machine, inst, NATIVE_SLOT_WIDTH_TESLA,
                       width == 1   ? MODIFIER_U32
                       : width == 2 ? MODIFIER_W64
                                    : MODIFIER_W128);
}

/* Predicates are kept in a word: 1 or 0. */
static void emit_keep(struct machine *machine, uint32_t block, uint32_t word, uint32_t predicate, bool load,
                      const struct inst *at) {
    const struct native_operand pt = {.kind = NATIVE_PREDICATE, .reg = FERMI_PT};
    const struct native_operand zero = {.kind = NATIVE_REG, .reg = FERMI_RZ}, reg = {.kind = NATIVE_REG};
    if (load) {
        struct machine_inst *inst = machine_inst_new(machine, block, FERMI_ISETP, at);
        machine_operand(inst, (struct native_operand){.kind = NATIVE_PREDICATE}, predicate);
        machine_operand(inst, pt, NO_UNIT);
        machine_operand(inst, reg, word);
        machine_operand(inst, zero, NO_UNIT);
        machine_operand(inst, pt, NO_UNIT);
        machine_modify(machine, inst, NATIVE_SLOT_COMPARE, MODIFIER_NE);
        machine_modify(machine, inst, NATIVE_SLOT_UNSIGNED, MODIFIER_U32);
        machine_modify(machine, inst, NATIVE_SLOT_BOOL, MODIFIER_AND);
        return;
    }
    struct machine_inst *inst = machine_inst_new(machine, block, FERMI_SEL, at);
    machine_operand(inst, reg, word);
    machine_operand(inst, zero, NO_UNIT);
    machine_operand(inst, (struct native_operand){.kind = NATIVE_IMMEDIATE, .value = 1}, NO_UNIT);
    machine_operand(inst, (struct native_operand){.kind = NATIVE_PREDICATE, .inverted = true}, predicate);
}

static uint32_t temporary_for(struct machine *machine, uint32_t unit, unsigned width) {
    uint32_t units[4];
    for (unsigned i = 0; i < width; i++) {
        units[i] = machine_unit(machine, machine->units.items[unit].is_predicate);
        machine->units.items[units[i]].is_temporary = true;
    }
    if (width > 1)
        machine_group(machine, units, width);
    return units[0];
}

static void emit_restore(struct machine *machine, uint32_t block, const struct spill *spills, uint32_t unit,
                         uint32_t temporary, unsigned width, bool load, const struct inst *at) {
    if (machine->units.items[unit].is_predicate)
        emit_keep(machine, block, spills[unit].place, temporary, load, at);
    else
        emit_local(machine, block, load, temporary, width, spills[unit].place, at);
}

/* An instruction with its spilled operands in temporaries: loads before it, stores behind. */
static void rewrite_inst(struct machine *machine, uint32_t block, const struct spill *spills, uint32_t known,
                         struct machine_inst inst) {
    struct {
        uint32_t unit, temporary;
        unsigned width;
        bool written;
    } used[NATIVE_OPERANDS_MAX + 1];
    unsigned count = 0;
    const bool keeps = keeps_old(&inst);
    for (unsigned i = 0; i <= inst.native.operand_count; i++) {
        const bool is_guard = i == inst.native.operand_count;
        uint32_t *unit = is_guard ? &inst.guard : &inst.units[i];
        if (*unit == NO_UNIT || *unit >= known || !spills[*unit].place)
            continue;
        const unsigned width = is_guard ? 1 : width_of(&inst, i);
        const bool written = !is_guard && machine_writes(machine, &inst, i);
        unsigned k = 0;
        while (k < count && (used[k].unit != *unit || used[k].width != width))
            k++;
        if (k == count) {
            used[count].unit = *unit, used[count].width = width, used[count].written = false;
            used[count++].temporary = temporary_for(machine, *unit, width);
            if (!written || keeps)
                emit_restore(machine, block, spills, *unit, used[k].temporary, width, true, inst.at);
        } else if (!written && used[k].written) {
            emit_restore(machine, block, spills, *unit, used[k].temporary, width, true, inst.at);
        }
        used[k].written = used[k].written || written;
        *unit = used[k].temporary;
    }
    *ARENA_PUSH(machine->arena, &machine->blocks.items[block].code) = inst;
    for (unsigned k = 0; k < count; k++)
        if (used[k].written)
            emit_restore(machine, block, spills, used[k].unit, used[k].temporary, used[k].width, false, inst.at);
}

static void rewrite(struct machine *machine, const struct spill *spills, uint32_t known) {
    for (uint32_t b = 0; b < machine->blocks.count; b++) {
        const struct machine_block old = machine->blocks.items[b];
        machine->blocks.items[b].code.items = NULL;
        machine->blocks.items[b].code.count = machine->blocks.items[b].code.capacity = 0;
        for (unsigned i = 0; i < old.code.count; i++)
            rewrite_inst(machine, b, spills, known, old.code.items[i]);
        const uint32_t predicate = old.predicate;
        if (old.end == END_BRANCH && predicate != NO_UNIT && predicate < known && spills[predicate].place) {
            const uint32_t temporary = temporary_for(machine, predicate, 1);
            emit_restore(machine, b, spills, predicate, temporary, 1, true, old.at);
            machine->blocks.items[b].predicate = temporary;
        }
    }
}

/* Where a group that found no register is kept from now on. */
static void place_spill(struct allocation *a, struct spill *spills, const struct candidate *candidate) {
    struct machine *machine = a->machine;
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

static void write_colours(struct allocation *a, uint32_t *register_count) {
    struct machine *machine = a->machine;
    for (uint32_t b = 0; b < machine->blocks.count; b++) {
        struct machine_block *block = &machine->blocks.items[b];
        unsigned kept = 0;
        for (unsigned i = 0; i < block->code.count && a->flow.place[b] != NO_BLOCK; i++) {
            struct machine_inst inst = block->code.items[i];
            const bool copy = is_copy(machine, &inst);
            for (unsigned k = 0; k < inst.native.operand_count; k++) {
                if (inst.units[k] == NO_UNIT)
                    continue;
                inst.native.operands[k].reg = (uint8_t)a->ranges[merged(a, inst.units[k])].colour;
                const uint32_t end = inst.native.operands[k].reg + width_of(&inst, k);
                if (!machine->units.items[inst.units[k]].is_predicate && end > *register_count)
                    *register_count = end;
            }
            if (inst.guard != NO_UNIT)
                inst.native.guard_reg = (uint8_t)a->ranges[merged(a, inst.guard)].colour;
            if (copy && inst.native.operands[0].reg == inst.native.operands[1].reg)
                continue;
            block->code.items[kept++] = inst;
        }
        block->code.count = kept;
        if (block->end == END_BRANCH && block->predicate != NO_UNIT)
            block->predicate = a->ranges[merged(a, block->predicate)].colour;
    }
}

static bool round_of(struct allocation *a, struct spill **spills) {
    struct machine *machine = a->machine;
    a->unit_count = machine->units.count;
    a->word_count = (a->unit_count + 63) / 64;
    a->flow = flow_find(machine, a->arena);
    find_live(a);
    find_ranges(a);
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

enum status allocate(struct machine *machine, uint32_t *register_count) {
    *register_count = 0;
    for (unsigned round = 0; round < ROUNDS_MAX; round++) {
        struct arena arena = {.escape = machine->arena->escape};
        struct allocation a = {.machine = machine, .arena = &arena};
        a.limit[CLASS_WORD] = machine->register_limit, a.limit[CLASS_PREDICATE] = FERMI_PREDICATES;
        struct spill *spills;
        const bool done = round_of(&a, &spills);
        if (done)
            write_colours(&a, register_count);
        else if (spills)
            rewrite(machine, spills, a.unit_count);
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
