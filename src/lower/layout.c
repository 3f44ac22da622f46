/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks in their order, branches where the next block is not the one to go to, addresses. */
#include "lower/machine_flow.h"

struct placing {
    struct machine_kernel *machine;
    struct machine_flow flow;
    uint32_t *after;   /* by block: the one laid out behind it, NO_BLOCK: none */
    uint32_t *address; /* by block */
    struct {
        struct native_inst *items;
        unsigned count, capacity;
    } code;
    struct {
        uint32_t *items; /* by instruction: the block it names; NO_BLOCK: none */
        unsigned count, capacity;
    } targets;
};

struct control_rows { /* rows of control instructions */
    unsigned bra, brk, exit, ssy, pbk;
};
static const struct control_rows fermi_rows = {FERMI_BRA, FERMI_BRK, FERMI_EXIT, FERMI_SSY, FERMI_PBK};
static const struct control_rows tesla_rows = {TESLA_BRA, TESLA_BRK, TESLA_EXIT, TESLA_SSY, TESLA_PBK};

static const struct control_rows *rows_of(const struct machine_kernel *machine) {
    return machine->isa == NATIVE_FERMI ? &fermi_rows : &tesla_rows;
}

static void put(struct placing *p, const struct native_inst *inst, uint32_t target) {
    *ARENA_PUSH(p->machine->arena, &p->code) = *inst;
    *ARENA_PUSH(p->machine->arena, &p->targets) = target;
}

static struct native_inst control(unsigned row, uint32_t target, const struct inst *at) {
    struct native_inst inst = {.row = (uint16_t)row, .bytes = 8, .line = at ? at->text_line : 0};
    if (target != NO_BLOCK) {
        inst.operand_count = 1;
        inst.operands[0].kind = NATIVE_TARGET;
    }
    return inst;
}

/* The guard of a side of the block's branch. */
static void guard(const struct machine_kernel *machine, struct native_inst *inst, const struct machine_block *block,
                  bool taken) {
    const bool negated = block->negated == taken;
    if (machine->isa == NATIVE_FERMI) {
        inst->guard = GUARD_PREDICATE;
        inst->guard_reg = (uint8_t)block->predicate;
        inst->guard_inverted = negated;
        return;
    }
    inst->guard = GUARD_CODE;
    inst->guard_reg = block->code_register;
    inst->guard_test = negated ? MODIFIER_EQ : MODIFIER_NE;
}

/* One side of a block's end, with a guard where `guarded`. */
static void put_way(struct placing *p, uint32_t b, bool taken, bool guarded) {
    const struct machine_block *block = &p->machine->blocks.items[b];
    const struct control_rows *rows = rows_of(p->machine);
    const uint32_t to = taken ? block->taken : block->next;
    const enum machine_way way = (enum machine_way)(taken ? block->taken_way : block->next_way);
    if (way == WAY_POPPED || (way == WAY_ON && !guarded && p->after[b] == to))
        return;
    struct native_inst inst = way == WAY_EXIT    ? control(rows->exit, NO_BLOCK, block->at)
                              : way == WAY_BREAK ? control(rows->brk, NO_BLOCK, block->at)
                                                 : control(rows->bra, to, block->at);
    if (guarded)
        guard(p->machine, &inst, block, taken);
    if (guarded && block->unanimous && way == WAY_ON)
        inst.modifiers[0] = MODIFIER_U;
    put(p, &inst, way == WAY_ON ? to : NO_BLOCK);
}

/* The token of a pad is popped by the instruction before, where that can: the pad is left to the others. */
static bool pop_early(struct placing *p, uint32_t b) {
    const struct machine_block *block = &p->machine->blocks.items[b];
    if (p->machine->isa != NATIVE_FERMI || block->end != END_JUMP || !p->machine->blocks.items[block->next].is_pad ||
        block->is_pad || block->next_way != WAY_ON || block->token != NO_UNIT || block->code.count == 0)
        return false;
    struct machine_inst *last = &block->code.items[block->code.count - 1];
    const unsigned row = last->native.row;
    if (last->native.guard != GUARD_NONE || row == FERMI_BAR_SYNC || row == FERMI_BAR_ARV || row == FERMI_BAR_RED ||
        row == FERMI_LD_LDU)
        return false;
    last->native.pops = true;
    return true;
}

static void put_end(struct placing *p, uint32_t b) {
    const struct machine_block *block = &p->machine->blocks.items[b];
    const struct control_rows *rows = rows_of(p->machine);
    if (block->token != NO_UNIT) {
        const struct native_inst inst = control(block->token_is_break ? rows->pbk : rows->ssy, block->token, block->at);
        put(p, &inst, block->token);
    }
    if (block->end == END_EXIT) {
        const struct native_inst inst = control(rows->exit, NO_BLOCK, block->at);
        put(p, &inst, NO_BLOCK);
    } else if (block->end == END_JUMP) {
        if (!block->is_pad || p->machine->isa == NATIVE_TESLA) /* who pops goes where the token says */
            put_way(p, b, false, false);
    } else if (block->unanimous || flow_taken_first(&p->flow, block, b, p->after[b])) {
        put_way(p, b, true, true);
        put_way(p, b, false, false);
    } else {
        put_way(p, b, false, true);
        put_way(p, b, true, false);
    }
}

/* Pads stand directly before the block where lanes meet; exits that lanes take where they are stand nowhere. */
static uint32_t order_blocks(struct placing *p, uint32_t *order) {
    struct machine_kernel *machine = p->machine;
    uint8_t *needed = ARENA_ARRAY(machine->arena, uint8_t, machine->blocks.count);
    uint8_t *early = ARENA_ARRAY(machine->arena, uint8_t, machine->blocks.count);
    for (uint32_t i = 0; i < p->flow.order_count; i++)
        early[p->flow.order[i]] = pop_early(p, p->flow.order[i]);
    needed[0] = 1;
    for (uint32_t i = 0; i < p->flow.order_count; i++) {
        const uint32_t b = p->flow.order[i];
        const struct machine_block *block = &machine->blocks.items[b];
        if (block->end != END_EXIT && block->next_way != WAY_EXIT && !early[b])
            needed[block->next] = 1;
        if (block->end == END_BRANCH && block->taken_way != WAY_EXIT)
            needed[block->taken] = 1;
        if (block->token != NO_UNIT && block->token_is_break)
            needed[block->token] = 1;
        if (block->token != NO_UNIT && !block->token_is_break) /* where the lanes of the pad go on */
            needed[machine->blocks.items[block->token].next] = 1;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->flow.order_count; i++) {
        const uint32_t b = p->flow.order[i];
        if (machine->blocks.items[b].is_pad)
            continue;
        for (uint32_t k = 0; k < p->flow.order_count; k++) { /* its pads */
            const uint32_t pad = p->flow.order[k];
            if (machine->blocks.items[pad].is_pad && machine->blocks.items[pad].next == b && needed[pad])
                order[count++] = pad;
        }
        if (needed[b])
            order[count++] = b;
    }
    for (uint32_t i = 0; i < p->flow.order_count; i++)
        if (early[p->flow.order[i]])
            machine->blocks.items[p->flow.order[i]].next_way = WAY_POPPED;
    return count;
}

static uint32_t target_address(const struct placing *p, unsigned i) {
    const struct machine_kernel *machine = p->machine;
    const uint32_t b = p->targets.items[i];
    /* Fermi's SSY names where lanes go on, Tesla's the instruction that pops */
    const bool is_ssy = p->code.items[i].row == rows_of(machine)->ssy;
    return is_ssy && machine->isa == NATIVE_FERMI ? p->address[machine->blocks.items[b].next] : p->address[b];
}

void layout(struct machine_kernel *machine, struct native_kernel *out) {
    struct placing p = {.machine = machine, .flow = flow_find(machine, machine->arena)};
    uint32_t *order = ARENA_ARRAY(machine->arena, uint32_t, machine->blocks.count + 1);
    p.after = ARENA_ARRAY(machine->arena, uint32_t, machine->blocks.count + 1);
    p.address = ARENA_ARRAY(machine->arena, uint32_t, machine->blocks.count + 1);
    const uint32_t count = order_blocks(&p, order);
    for (uint32_t i = 0; i < count; i++)
        p.after[order[i]] = i + 1 < count ? order[i + 1] : NO_BLOCK;
    for (uint32_t i = 0; i < count; i++) {
        const struct machine_block *block = &machine->blocks.items[order[i]];
        p.address[order[i]] = p.code.count * FERMI_INST_BYTES;
        for (unsigned k = 0; k < block->code.count; k++) {
            struct native_inst inst = block->code.items[k].native;
            inst.line = block->code.items[k].at ? block->code.items[k].at->text_line : 0;
            put(&p, &inst, NO_BLOCK);
        }
        put_end(&p, order[i]);
    }
    for (unsigned i = 0; i < p.code.count; i++) {
        p.code.items[i].address = i * FERMI_INST_BYTES;
        if (p.targets.items[i] != NO_BLOCK)
            p.code.items[i].operands[0].value = target_address(&p, i);
    }
    out->code = p.code.items;
    out->code_count = p.code.count;
}
