/* SPDX-License-Identifier: Apache-2.0 */
/* Short sides of a branch become instructions under its predicate, or under its condition code on Tesla: very short ones in the
 * branch's place, longer ones of Fermi behind a BRA.U, which skips them where no lane needs them and at which no lanes diverge
 * [003 §3.1]. */
#include "lower/machine_flow.h"

enum {
    SHORT_SIDE = 4,   /* instructions of a side that needs no branch around it: CUDA C Programming Guide 4.1, §5.4.2 */
    SHORT_BOTH = 8,   /* of two sides together */
    SHORT_TURING = 7, /* of a side on sm_75 on: ptxas guards as many */
    LONG_SIDE =
        32, /* of one behind BRA.U: the study's have 12, and what a level of its wavelets takes [003 Tables 10, 15] */
};

struct hammocks {
    struct machine_kernel *machine;
    uint32_t *entries;    /* by block: ways into it */
    uint32_t *references; /* by unit: of the whole kernel */
    uint32_t *within;     /* by unit: of the side at hand */
    uint8_t *read_first;  /* by unit */
};

static void count_references(const struct machine_block *block, uint32_t *counts, uint32_t by) {
    for (unsigned i = 0; i < block->code.count; i++) {
        const struct machine_inst *inst = &block->code.items[i];
        for (unsigned k = 0; k < inst->native.operand_count; k++)
            for (unsigned w = 0; inst->units[k] != NO_UNIT && w < (inst->widths[k] ? inst->widths[k] : 1u); w++)
                counts[inst->units[k] + w] += by;
        if (inst->guard != NO_UNIT)
            counts[inst->guard] += by;
    }
    if (block->end == END_BRANCH && block->predicate != NO_UNIT)
        counts[block->predicate] += by;
}

/* Tesla: a barrier, or it sets the condition code. */
static bool needs_branch_tesla(const struct machine_inst *inst, unsigned code) {
    bool sets = false;
    for (unsigned i = 0; i < NATIVE_SLOTS_MAX; i++)
        sets |= inst->native.modifiers[i] == MODIFIER_C0 + code;
    return sets || inst->native.row == TESLA_BAR;
}

static bool can_be_guarded(const struct hammocks *h, const struct machine_inst *inst,
                           const struct machine_block *branch) {
    const struct machine_kernel *machine = h->machine;
    if (machine->isa == NATIVE_TESLA)
        return inst->native.guard == GUARD_NONE && !needs_branch_tesla(inst, branch->code_register);
    if (inst->turing) {
        const enum turing_unit unit = (enum turing_unit)turing_row(inst->turing->row)->unit;
        if (unit == TURING_UNIT_BAR || unit == TURING_UNIT_BRANCH || unit == TURING_UNIT_CROSS ||
            inst->turing->row == TURING_VOTE || inst->turing->row == TURING_MEMBAR ||
            (unit == TURING_UNIT_MIO && inst->turing->row != TURING_S2R))
            return false;
    }
    switch (inst->turing ? FERMI_ROWS : inst->native.row) {
    case FERMI_BAR_SYNC:
    case FERMI_BAR_ARV:
    case FERMI_BAR_RED:
    case FERMI_VOTE:
    case FERMI_MEMBAR: return false;
    default: break;
    }
    if (inst->native.guard != GUARD_NONE)
        return false;
    for (unsigned k = 0; k < inst->native.operand_count; k++)
        if (inst->units[k] == branch->predicate && machine_writes(machine, inst, k))
            return false;
    return true;
}

/* A block that only the branch leads to and that goes on to where the other side goes. */
static bool is_side(const struct hammocks *h, uint32_t b, uint32_t to, const struct machine_block *branch,
                    unsigned limit) {
    const struct machine_block *block = &h->machine->blocks.items[b];
    if (h->entries[b] != 1 || block->end != END_JUMP || block->next != to || block->next == b ||
        block->code.count > limit)
        return false;
    for (unsigned i = 0; i < block->code.count; i++)
        if (!can_be_guarded(h, &block->code.items[i], branch))
            return false;
    return true;
}

/* What a side keeps to itself is not needed where its guard fails. */
static void guard_side(struct hammocks *h, uint32_t b, const struct machine_block *branch, bool inverted) {
    struct machine_block *block = &h->machine->blocks.items[b];
    count_references(block, h->within, 1);
    for (unsigned i = 0; i < block->code.count; i++) {
        struct machine_inst *inst = &block->code.items[i];
        bool own = true;
        for (unsigned k = 0; k < inst->native.operand_count; k++)
            for (unsigned w = 0; inst->units[k] != NO_UNIT && w < (inst->widths[k] ? inst->widths[k] : 1u); w++) {
                const uint32_t unit = inst->units[k] + w;
                if (!machine_writes(h->machine, inst, k))
                    h->read_first[unit] = h->read_first[unit] == 2 ? 2 : 1;
                else if (h->references[unit] != h->within[unit] || h->read_first[unit] == 1)
                    own = false;
                else
                    h->read_first[unit] = 2;
            }
        inst->whole = own;
        if (h->machine->isa != NATIVE_TESLA) {
            inst->native.guard = GUARD_PREDICATE;
            inst->native.guard_inverted = inverted;
            inst->guard = branch->predicate;
        } else {
            inst->native.guard = GUARD_CODE;
            inst->native.guard_reg = branch->code_register;
            inst->native.guard_test = inverted ? MODIFIER_EQ : MODIFIER_NE;
        }
    }
    for (unsigned i = 0; i < block->code.count; i++)
        for (unsigned k = 0; k < block->code.items[i].native.operand_count; k++)
            for (unsigned w = 0; block->code.items[i].units[k] != NO_UNIT && w < 4; w++)
                if (block->code.items[i].units[k] + w < h->machine->units.count)
                    h->read_first[block->code.items[i].units[k] + w] = 0;
    count_references(block, h->within, UINT32_MAX);
}

static void append(struct machine_kernel *machine, uint32_t to, uint32_t from) {
    for (unsigned i = 0; i < machine->blocks.items[from].code.count; i++)
        *ARENA_PUSH(machine->arena, &machine->blocks.items[to].code) = machine->blocks.items[from].code.items[i];
    machine->blocks.items[from].code.count = 0;
    machine->blocks.items[from].end = END_EXIT;
}

static void end_at(struct machine_block *block, uint32_t to) {
    block->end = END_JUMP;
    block->next = block->taken = to;
    block->predicate = NO_UNIT;
}

static bool convert(struct hammocks *h, uint32_t b) {
    struct machine_kernel *machine = h->machine;
    struct machine_block *block = &machine->blocks.items[b];
    if (block->end != END_BRANCH || block->unanimous || block->next == block->taken)
        return false;
    const uint32_t next = block->next, taken = block->taken;
    const bool is_turing = machine->isa == NATIVE_TURING;
    const unsigned limit = machine->isa == NATIVE_FERMI ? LONG_SIDE : is_turing ? SHORT_TURING : SHORT_SIDE;
    const bool negated = block->negated;
    const uint32_t after_next = machine->blocks.items[next].next, after_taken = machine->blocks.items[taken].next;
    const bool next_is = is_side(h, next, taken, block, limit), taken_is = is_side(h, taken, next, block, limit);
    if (next_is || taken_is) { /* one side, the other is where it leads */
        const uint32_t side = next_is ? next : taken, to = next_is ? taken : next;
        guard_side(h, side, block, next_is ? !negated : negated);
        if (machine->blocks.items[side].code.count <= SHORT_SIDE || is_turing) {
            append(machine, b, side);
            end_at(&machine->blocks.items[b], to);
        } else {
            block = &machine->blocks.items[b];
            block->unanimous = true;
            block->taken = to, block->next = side;
            block->negated = next_is ? negated : !negated;
        }
        return true;
    }
    if (after_next != after_taken || !is_side(h, next, after_next, block, SHORT_BOTH) ||
        !is_side(h, taken, after_next, block, SHORT_BOTH) ||
        machine->blocks.items[next].code.count + machine->blocks.items[taken].code.count > SHORT_BOTH)
        return false;
    guard_side(h, next, block, !negated);
    guard_side(h, taken, block, negated);
    append(machine, b, next);
    append(machine, b, taken);
    end_at(&machine->blocks.items[b], after_next);
    return true;
}

void predicate_hammocks(struct machine_kernel *machine) {
    struct arena arena = {.escape = machine->arena->escape};
    struct hammocks h = {.machine = machine};
    h.references = ARENA_ARRAY(&arena, uint32_t, machine->units.count + 4);
    h.within = ARENA_ARRAY(&arena, uint32_t, machine->units.count + 4);
    h.read_first = ARENA_ARRAY(&arena, uint8_t, machine->units.count + 4);
    h.entries = ARENA_ARRAY(&arena, uint32_t, machine->blocks.count);
    h.entries[0] = 1;
    for (uint32_t b = 0; b < machine->blocks.count; b++) {
        uint32_t to[2];
        const unsigned count = block_successors(&machine->blocks.items[b], to);
        for (unsigned i = 0; i < count; i++)
            h.entries[to[i]]++;
        count_references(&machine->blocks.items[b], h.references, 1);
    }
    for (uint32_t b = 0; b < machine->blocks.count; b++)
        convert(&h, b);
    arena_free(&arena);
}
