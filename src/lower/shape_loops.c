/* SPDX-License-Identifier: Apache-2.0 */
/* Loops made regular before tokens are set: one entry, one way back, one way out. Where several become one, each says in a
 * register which it was. */
#include "lower/shape.h"
#include "lower/machine_turing.h"

#include <string.h>

/* ---- loops: one way back, one way out ---- */

/* Several latches become one; a latch that also goes on inside the loop is not one. */
static bool unify_latches(struct shaper *s, uint32_t loop) {
    struct machine_kernel *machine = s->machine;
    const uint32_t head = s->flow.loops.items[loop].head;
    unsigned latches = 0;
    bool mixed = false;
    for (uint32_t b = 0; b < s->flow.count; b++) {
        uint32_t to[2];
        const unsigned count = block_successors(&machine->blocks.items[b], to);
        if (!s->flow.loops.items[loop].members[b])
            continue;
        for (unsigned i = 0; i < count; i++) {
            if (to[i] != head)
                continue;
            latches++;
            const uint32_t other = to[1 - i];
            mixed = mixed || (count == 2 && !is_exit(machine, other) && flow_in_loop(&s->flow, loop, other));
        }
    }
    if (latches <= 1 && !mixed)
        return false;
    const uint32_t latch = shape_block(machine, head, machine->blocks.items[head].at);
    for (uint32_t b = 0; b < s->flow.count; b++)
        if (s->flow.loops.items[loop].members[b])
            redirect(&machine->blocks.items[b], head, latch);
    return true;
}

static void emit_number(struct machine_kernel *machine, uint32_t block, uint32_t unit, uint32_t value) {
    if (machine->isa == NATIVE_TURING) {
        turing_emit_number(machine, block, unit, value);
        return;
    }
    const unsigned row = machine->isa == NATIVE_FERMI ? (unsigned)FERMI_MOV32I : (unsigned)TESLA_MVI;
    struct machine_inst *inst = machine_inst_new(machine, block, row, machine->blocks.items[block].at);
    machine_operand(inst, (struct native_operand){.kind = NATIVE_REG}, unit);
    machine_operand(inst, (struct native_operand){.kind = NATIVE_IMMEDIATE, .value = value}, NO_UNIT);
}

/* predicate = (unit == value); Tesla: its code C0 says so. */
static void compare_number(struct machine_kernel *machine, uint32_t block, uint32_t unit, uint32_t value,
                           uint32_t predicate) {
    const bool fermi = machine->isa == NATIVE_FERMI;
    if (machine->isa == NATIVE_TURING) {
        turing_emit_test(machine, block, predicate, unit, value, true);
        return;
    }
    struct machine_inst *inst =
        machine_inst_new(machine, block, fermi ? (unsigned)FERMI_ISETP : (unsigned)TESLA_ISET, NULL);
    const struct native_operand pt = {.kind = NATIVE_PREDICATE, .reg = FERMI_PT};
    if (fermi) {
        machine_operand(inst, (struct native_operand){.kind = NATIVE_PREDICATE}, predicate);
        machine_operand(inst, pt, NO_UNIT);
    } else {
        machine_operand(inst, (struct native_operand){.kind = NATIVE_SINK}, NO_UNIT);
    }
    machine_operand(inst, (struct native_operand){.kind = NATIVE_REG}, unit);
    machine_operand(inst, (struct native_operand){.kind = NATIVE_IMMEDIATE, .value = value}, NO_UNIT);
    if (fermi) {
        machine_operand(inst, pt, NO_UNIT);
        machine_modify(machine, inst, NATIVE_SLOT_COMPARE, MODIFIER_EQ);
        machine_modify(machine, inst, NATIVE_SLOT_BOOL, MODIFIER_AND);
    } else {
        machine_operand(inst, (struct native_operand){.kind = NATIVE_COMPARE, .reg = MODIFIER_EQ}, NO_UNIT);
        machine_modify(machine, inst, NATIVE_SLOT_SIGN, MODIFIER_S32);
        machine_modify(machine, inst, NATIVE_SLOT_CODE, MODIFIER_C0);
    }
}

/* The end of `block`: to `taken` where the unit holds `value`. */
static void branch_on_number(struct machine_kernel *machine, uint32_t block, uint32_t unit, uint32_t value,
                             uint32_t taken, uint32_t next) {
    const uint32_t predicate = machine->isa == NATIVE_TESLA ? NO_UNIT : machine_unit(machine, true);
    compare_number(machine, block, unit, value, predicate);
    struct machine_block *made = &machine->blocks.items[block];
    made->end = END_BRANCH, made->predicate = predicate, made->taken = taken, made->next = next;
    made->code_register = 0, made->code_test = MODIFIER_NE;
}

/* Exits to several places: each first says where to in a register, and all go to a block that looks at it. */
static bool unify_exits(struct shaper *s, uint32_t loop) {
    struct machine_kernel *machine = s->machine;
    const uint8_t *members = s->flow.loops.items[loop].members;
    uint32_t targets[64];
    unsigned count = 0;
    for (uint32_t b = 0; b < s->flow.count; b++) {
        uint32_t to[2];
        const unsigned n = members[b] ? block_successors(&machine->blocks.items[b], to) : 0;
        for (unsigned i = 0; i < n; i++) {
            if (members[to[i]] || is_exit(machine, to[i]))
                continue;
            unsigned k = 0;
            while (k < count && targets[k] != to[i])
                k++;
            if (k == count && count < 64)
                targets[count++] = to[i];
        }
    }
    const uint32_t parent = s->flow.loops.items[loop].parent;
    if (count == 1 && parent != NO_LOOP && !flow_in_loop(&s->flow, parent, targets[0])) {
        /* out of several loops: one after the other */
        const uint32_t between = shape_block(machine, targets[0], machine->blocks.items[targets[0]].at);
        machine->blocks.items[between].home = s->flow.loops.items[parent].head;
        for (uint32_t b = 0; b < s->flow.count; b++)
            if (members[b])
                redirect(&machine->blocks.items[b], targets[0], between);
        return true;
    }
    if (count <= 1)
        return false;
    const uint32_t unit = machine_unit(machine, false);
    const struct inst *at = machine->blocks.items[s->flow.loops.items[loop].head].at;
    uint32_t dispatch = targets[count - 1];
    for (unsigned k = count - 1; k-- > 0;) {
        const uint32_t block = shape_block(machine, dispatch, at);
        machine->blocks.items[block].home = parent == NO_LOOP ? NO_UNIT : s->flow.loops.items[parent].head;
        branch_on_number(machine, block, unit, k, targets[k], dispatch);
        dispatch = block;
    }
    for (unsigned k = 0; k < count; k++) {
        const uint32_t leave = shape_block(machine, dispatch, at);
        machine->blocks.items[leave].home = s->flow.loops.items[loop].head;
        emit_number(machine, leave, unit, k);
        for (uint32_t b = 0; b < s->flow.count; b++)
            if (members[b])
                redirect(&machine->blocks.items[b], targets[k], leave);
    }
    return true;
}

/* ---- loops with several entries ---- */

/* A way between blocks that belongs to a loop with one head: the head is on every way to where it comes from. */
static bool is_back(const struct shaper *s, uint32_t from, uint32_t to) { return flow_dominates(&s->flow, to, from); }

/* Blocks that `from` reaches without going back to heads, marked by `bit`; backwards: those that reach it. */
static void mark_reach(const struct shaper *s, uint32_t from, uint8_t *marks, uint8_t bit, bool backwards) {
    marks[from] |= bit;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < s->flow.count; b++) {
            uint32_t to[2];
            const unsigned n = s->flow.place[b] == NO_BLOCK ? 0 : block_successors(&s->machine->blocks.items[b], to);
            for (unsigned i = 0; i < n; i++) {
                const uint32_t known = backwards ? to[i] : b, other = backwards ? b : to[i];
                if (is_back(s, b, to[i]) || !(marks[known] & bit) || marks[other] & bit)
                    continue;
                marks[other] |= bit;
                changed = true;
            }
        }
    }
}

/* All that enter the blocks with both marks say where to in a register and go to one block, which looks at it: their only entry. */
static void unify_entries(struct shaper *s, const uint8_t *marks) {
    struct machine_kernel *machine = s->machine;
    uint32_t entries[64];
    unsigned count = 0;
    for (uint32_t b = 0; b < s->flow.count; b++) {
        uint32_t to[2];
        const unsigned n = s->flow.place[b] == NO_BLOCK ? 0 : block_successors(&machine->blocks.items[b], to);
        for (unsigned i = 0; i < n; i++) {
            unsigned k = 0;
            while (k < count && entries[k] != to[i])
                k++;
            if (marks[to[i]] == 3 && !(marks[b] & 1) && k == count && count < 64)
                entries[count++] = to[i];
        }
    }
    const uint32_t unit = machine_unit(machine, false);
    uint32_t dispatch = entries[count - 1];
    const struct inst *at = machine->blocks.items[dispatch].at;
    for (unsigned k = count - 1; k-- > 0;) {
        const uint32_t block = shape_block(machine, dispatch, at);
        branch_on_number(machine, block, unit, k, entries[k], dispatch);
        dispatch = block;
    }
    for (unsigned k = 0; k < 2 * count; k++) { /* from outside and from inside by blocks of their own */
        const uint32_t enter = shape_block(machine, dispatch, at);
        emit_number(machine, enter, unit, k / 2);
        for (uint32_t b = 0; b < s->flow.count; b++)
            if ((marks[b] & 1) == k % 2)
                redirect(&machine->blocks.items[b], entries[k / 2], enter);
    }
}

/* One loop with several entries gets one. */
static void straighten_entries(struct shaper *s) {
    uint8_t *marks = ARENA_ARRAY(s->arena, uint8_t, s->flow.count + 1);
    for (uint32_t b = 0; b < s->flow.count; b++) {
        uint32_t to[2];
        const unsigned n = s->flow.place[b] == NO_BLOCK ? 0 : block_successors(&s->machine->blocks.items[b], to);
        for (unsigned i = 0; i < n; i++) {
            if (is_back(s, b, to[i]))
                continue;
            memset(marks, 0, s->flow.count);
            mark_reach(s, to[i], marks, 1, false);
            if (!marks[b]) /* no way round */
                continue;
            mark_reach(s, to[i], marks, 2, true);
            unify_entries(s, marks);
            return;
        }
    }
}

static bool straighten_loops(struct shaper *s) {
    for (uint32_t loop = 0; loop < s->flow.loops.count; loop++)
        if (unify_latches(s, loop) || unify_exits(s, loop))
            return true;
    return false;
}

void shape_loops(struct shaper *s) {
    s->flow = flow_find(s->machine, s->arena);
    while (s->flow.irreducible) {
        straighten_entries(s);
        s->flow = flow_find(s->machine, s->arena);
    }
    while (straighten_loops(s))
        s->flow = flow_find(s->machine, s->arena);
}
