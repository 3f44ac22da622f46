/* SPDX-License-Identifier: Apache-2.0 */
/* Branches that all lanes of a warp take together: their predicates are made of parameters, sizes, the block's number and constants, and
 * not of what some lanes wrote while others were elsewhere. Such branches need no barrier of the warp. */
#include "isa/flow.h"
#include "lower/machine_flow.h"

struct agreement {
    struct machine_kernel *machine;
    struct arena *arena;
    uint8_t *varies;   /* by unit: lanes may differ in it */
    uint8_t *is_known; /* by block: what its branch does to others is said */
    uint32_t *meeting; /* by block: its immediate post-dominator; the number of blocks: the end */
    uint8_t *sides;    /* by block: bit n: side n of the branch at hand leads to it before both meet */
    uint8_t *outside;  /* by unit: somebody reads it who is on neither side */
    bool changed;
};

static unsigned words_of(const struct machine_inst *inst, unsigned operand) {
    return inst->widths[operand] ? inst->widths[operand] : 1;
}

static void vary(struct agreement *a, uint32_t unit) {
    a->changed |= !a->varies[unit];
    a->varies[unit] = 1;
}

/* ---- what lanes differ in ---- */

/* What it makes may differ though what it reads does not. */
static bool is_source(const struct machine_inst *inst) {
    const struct turing_inst *turing = inst->turing;
    switch ((enum turing_row_id)turing->row) {
    case TURING_S2R: return turing->operands[1].value < 0x25 || turing->operands[1].value > 0x27;
    case TURING_LDC: return false;
    case TURING_LDG:
        return !inst->at || inst->at->op != OP_LD || (inst->at->space != SPACE_CONST && inst->at->cache != CACHE_NC);
    case TURING_VOTE:
    case TURING_CS2R:
    case TURING_P2R:
    case TURING_R2P: return true;
    default: break;
    }
    for (unsigned k = 0; k < inst->native.operand_count; k++) /* what a group of lanes reduced: others have another */
        if (turing->operands[k].kind == TURING_UNIFORM)
            return true;
    switch ((enum turing_unit)turing_row(turing->row)->unit) {
    case TURING_UNIT_ALU:
    case TURING_UNIT_FMA:
    case TURING_UNIT_FP64:
    case TURING_UNIT_HALF:
    case TURING_UNIT_XU:
    case TURING_UNIT_XU_WIDE: return false;
    default: return true;
    }
}

static bool reads_varying(const struct agreement *a, const struct machine_inst *inst) {
    for (unsigned k = 0; k < inst->native.operand_count; k++)
        for (unsigned w = 0; inst->units[k] != NO_UNIT && w < words_of(inst, k); w++)
            if (!machine_writes(a->machine, inst, k) && a->varies[inst->units[k] + w])
                return true;
    return inst->guard != NO_UNIT && a->varies[inst->guard];
}

static void vary_writes(struct agreement *a, const struct machine_inst *inst, bool only_outside) {
    for (unsigned k = 0; k < inst->native.operand_count; k++)
        for (unsigned w = 0; inst->units[k] != NO_UNIT && w < words_of(inst, k); w++)
            if (machine_writes(a->machine, inst, k) && (!only_outside || a->outside[inst->units[k] + w]))
                vary(a, inst->units[k] + w);
}

/* ---- what a branch that lanes diverge at does ---- */

static void mark_side(struct agreement *a, uint32_t from, uint32_t meeting, uint8_t bit) {
    uint32_t *stack = ARENA_ARRAY(a->arena, uint32_t, a->machine->blocks.count + 1u);
    uint32_t depth = 0;
    if (from != meeting)
        stack[depth++] = from, a->sides[from] |= bit;
    while (depth) {
        uint32_t to[2];
        const unsigned n = block_successors(&a->machine->blocks.items[stack[--depth]], to);
        for (unsigned i = 0; i < n; i++)
            if (to[i] != meeting && !(a->sides[to[i]] & bit))
                a->sides[to[i]] |= bit, stack[depth++] = to[i];
    }
}

static void note_reads(struct agreement *a, const struct machine_block *block) {
    for (unsigned i = 0; i < block->code.count; i++) {
        const struct machine_inst *inst = &block->code.items[i];
        const bool keeps = inst->native.guard != GUARD_NONE && !inst->whole;
        for (unsigned k = 0; k < inst->native.operand_count; k++)
            for (unsigned w = 0; inst->units[k] != NO_UNIT && w < words_of(inst, k); w++)
                if (keeps || !machine_writes(a->machine, inst, k))
                    a->outside[inst->units[k] + w] = 1;
        if (inst->guard != NO_UNIT)
            a->outside[inst->guard] = 1;
    }
    if (block->end == END_BRANCH && block->predicate != NO_UNIT)
        a->outside[block->predicate] = 1;
}

/* Lanes differ in what one of its sides writes and somebody reads behind them; where lanes of one side come to the other before
 * both meet, in all that is written there. */
static void part_at(struct agreement *a, uint32_t b) {
    struct machine_kernel *machine = a->machine;
    const struct machine_block *branch = &machine->blocks.items[b];
    bool crosses = false;
    for (uint32_t k = 0; k < machine->blocks.count; k++)
        a->sides[k] = 0;
    for (uint32_t u = 0; u < machine->units.count; u++)
        a->outside[u] = 0;
    mark_side(a, branch->next, a->meeting[b], 1);
    mark_side(a, branch->taken, a->meeting[b], 2);
    for (uint32_t k = 0; k < machine->blocks.count; k++) {
        crosses |= a->sides[k] == 3;
        if (!a->sides[k])
            note_reads(a, &machine->blocks.items[k]);
    }
    for (uint32_t k = 0; k < machine->blocks.count; k++)
        for (unsigned i = 0; a->sides[k] && i < machine->blocks.items[k].code.count; i++)
            vary_writes(a, &machine->blocks.items[k].code.items[i], !crosses);
    a->is_known[b] = 1;
}

/* ---- all of it ---- */

static void find_meetings(struct agreement *a) {
    const uint32_t count = a->machine->blocks.count;
    struct graph graph = {.node_count = count + 1};
    graph.start = ARENA_ARRAY(a->arena, uint32_t, count + 2);
    graph.to = ARENA_ARRAY(a->arena, uint32_t, 2 * (size_t)count + 2);
    uint32_t used = 0;
    for (uint32_t b = 0; b < count; b++) {
        uint32_t to[2];
        const unsigned n = block_successors(&a->machine->blocks.items[b], to);
        graph.start[b] = used;
        for (unsigned i = 0; i < n; i++)
            graph.to[used++] = to[i];
        if (!n)
            graph.to[used++] = count;
    }
    graph.start[count] = graph.start[count + 1] = used;
    const struct graph reverse = graph_reverse(&graph, a->arena);
    a->meeting = ARENA_ARRAY(a->arena, uint32_t, count + 1);
    graph_dominators(&reverse, count, a->meeting, a->arena);
}

void agree_turing(struct machine_kernel *machine) {
    struct arena arena = {.escape = machine->arena->escape};
    struct agreement a = {.machine = machine,
                          .arena = &arena,
                          .varies = ARENA_ARRAY(&arena, uint8_t, machine->units.count + 1u),
                          .outside = ARENA_ARRAY(&arena, uint8_t, machine->units.count + 1u),
                          .is_known = ARENA_ARRAY(&arena, uint8_t, machine->blocks.count + 1u),
                          .sides = ARENA_ARRAY(&arena, uint8_t, machine->blocks.count + 1u),
                          .changed = true};
    find_meetings(&a);
    while (a.changed) {
        a.changed = false;
        for (uint32_t b = 0; b < machine->blocks.count; b++) {
            const struct machine_block *block = &machine->blocks.items[b];
            for (unsigned i = 0; i < block->code.count; i++)
                if (is_source(&block->code.items[i]) || reads_varying(&a, &block->code.items[i]))
                    vary_writes(&a, &block->code.items[i], false);
            if (block->end == END_BRANCH && !a.is_known[b] &&
                (block->predicate == NO_UNIT || a.varies[block->predicate]))
                part_at(&a, b);
        }
    }
    for (uint32_t b = 0; b < machine->blocks.count; b++)
        machine->blocks.items[b].agrees = machine->blocks.items[b].end == END_BRANCH && !a.is_known[b];
    arena_free(&arena);
}
