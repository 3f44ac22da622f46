/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of sm_75 on that all who read them can do without: they read what the copy was made of, in the same block before it is
 * written again, or anywhere behind the copy where both are written once. */
#include "lower/machine_flow.h"
#include "lower/machine_turing.h"

struct forwarding {
    struct machine_kernel *machine;
    struct machine_flow flow;
    uint32_t *reads, *writes; /* by unit: of the whole kernel */
    uint32_t *block, *place;  /* by unit: the last of who write it */
    uint8_t *guarded;         /* by unit: somebody writes it under a guard */
};

static unsigned words_of(const struct machine_inst *inst, unsigned operand) {
    return inst->widths[operand] ? inst->widths[operand] : 1;
}

static void count_write(struct forwarding *f, uint32_t unit, uint32_t b, unsigned place) {
    const struct machine_inst *inst = &f->machine->blocks.items[b].code.items[place];
    f->writes[unit]++;
    f->block[unit] = b, f->place[unit] = place;
    f->guarded[unit] |= inst->native.guard != GUARD_NONE;
}

static void count_block(struct forwarding *f, uint32_t b) {
    const struct machine_block *block = &f->machine->blocks.items[b];
    for (unsigned i = 0; i < block->code.count; i++) {
        const struct machine_inst *inst = &block->code.items[i];
        for (unsigned k = 0; k < inst->native.operand_count; k++)
            for (unsigned w = 0; inst->units[k] != NO_UNIT && w < words_of(inst, k); w++)
                if (machine_writes(f->machine, inst, k))
                    count_write(f, inst->units[k] + w, b, i);
                else
                    f->reads[inst->units[k] + w]++;
        if (inst->guard != NO_UNIT)
            f->reads[inst->guard]++;
    }
    if (block->end == END_BRANCH && block->predicate != NO_UNIT)
        f->reads[block->predicate]++;
}

static bool writes_unit(const struct forwarding *f, const struct machine_inst *inst, uint32_t unit) {
    for (unsigned k = 0; k < inst->native.operand_count; k++)
        if (inst->units[k] != NO_UNIT && machine_writes(f->machine, inst, k) && unit >= inst->units[k] &&
            unit < inst->units[k] + words_of(inst, k))
            return true;
    return false;
}

/* Reads of d as a word of its own, from instruction `from` on; with a source they are of that. */
static unsigned visit_reads(const struct forwarding *f, struct machine_block *block, unsigned from, uint32_t d,
                            uint32_t source) {
    const uint32_t copied = block->code.items[from - 1].units[1];
    unsigned found = 0;
    for (unsigned i = from; i < block->code.count; i++) {
        struct machine_inst *inst = &block->code.items[i];
        for (unsigned k = 0; k < inst->native.operand_count; k++) {
            if (inst->units[k] != d || machine_writes(f->machine, inst, k) || words_of(inst, k) != 1)
                continue;
            found++;
            inst->units[k] = source == NO_UNIT ? d : source;
        }
        if (writes_unit(f, inst, copied))
            break;
    }
    return found;
}

static void forward_block(struct forwarding *f, struct machine_block *block) {
    for (unsigned i = 0; i < block->code.count; i++) {
        const struct machine_inst *inst = &block->code.items[i];
        if (!machine_is_copy(f->machine, inst))
            continue;
        const uint32_t d = inst->units[0], source = inst->units[1];
        if (d == source || f->writes[d] != 1 || !f->reads[d] || visit_reads(f, block, i + 1, d, NO_UNIT) != f->reads[d])
            continue;
        visit_reads(f, block, i + 1, d, source);
        f->reads[source] += f->reads[d];
        f->reads[d] = 0;
    }
}

/* Whether one place is behind another on every way to it. */
static bool is_behind(const struct forwarding *f, uint32_t block, unsigned place, uint32_t unit) {
    if (block == f->block[unit])
        return place > f->place[unit];
    return f->flow.place[block] != NO_BLOCK && f->flow.place[f->block[unit]] != NO_BLOCK &&
           flow_dominates(&f->flow, f->block[unit], block);
}

/* Reads of d as a word of its own behind where it is written, in the whole kernel; with a source they are of that. */
static unsigned visit_all(const struct forwarding *f, uint32_t d, uint32_t source) {
    unsigned found = 0;
    for (uint32_t b = 0; b < f->machine->blocks.count; b++) {
        struct machine_block *block = &f->machine->blocks.items[b];
        for (unsigned i = 0; i < block->code.count; i++)
            for (unsigned k = 0; k < block->code.items[i].native.operand_count; k++) {
                struct machine_inst *inst = &block->code.items[i];
                if (inst->units[k] != d || machine_writes(f->machine, inst, k) || words_of(inst, k) != 1 ||
                    !is_behind(f, b, i, d))
                    continue;
                found++;
                inst->units[k] = source == NO_UNIT ? d : source;
            }
    }
    return found;
}

/* Who reads is behind the copy, and the copy behind what it is made of: between them nobody writes that again without the copy
 * being made again. */
static void forward_everywhere(struct forwarding *f, uint32_t b) {
    struct machine_block *block = &f->machine->blocks.items[b];
    for (unsigned i = 0; i < block->code.count; i++) {
        const struct machine_inst *inst = &block->code.items[i];
        if (!machine_is_copy(f->machine, inst))
            continue;
        const uint32_t d = inst->units[0], source = inst->units[1];
        if (d == source || f->writes[d] != 1 || f->writes[source] != 1 || f->guarded[source] || !f->reads[d] ||
            !is_behind(f, b, i, source) || visit_all(f, d, NO_UNIT) != f->reads[d])
            continue;
        visit_all(f, d, source);
        f->reads[source] += f->reads[d];
        f->reads[d] = 0;
    }
}

void forward_turing(struct machine_kernel *machine) {
    struct arena arena = {.escape = machine->arena->escape};
    struct forwarding f = {.machine = machine,
                           .flow = flow_find(machine, &arena),
                           .reads = ARENA_ARRAY(&arena, uint32_t, machine->units.count + 1u),
                           .writes = ARENA_ARRAY(&arena, uint32_t, machine->units.count + 1u),
                           .block = ARENA_ARRAY(&arena, uint32_t, machine->units.count + 1u),
                           .place = ARENA_ARRAY(&arena, uint32_t, machine->units.count + 1u),
                           .guarded = ARENA_ARRAY(&arena, uint8_t, machine->units.count + 1u)};
    for (uint32_t b = 0; b < machine->blocks.count; b++)
        count_block(&f, b);
    for (uint32_t b = 0; b < machine->blocks.count; b++) {
        forward_block(&f, &machine->blocks.items[b]);
        forward_everywhere(&f, b);
    }
    arena_free(&arena);
}
