/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks in their order for sm_75 on, with barriers of the warp in the place of tokens: where lanes diverge, BSSY says who meets,
 * and a pad before the meeting point holds the BSYNC; a loop has both around it, and who
 * leaves it from inside a branch is taken out of that branch's barrier by BREAK. Then branches, addresses and words. */
#include "lower/layout_turing.h"

#include <string.h>

enum { BARRIERS = 16 };

/* A barrier that lanes are in: those of the block that has its BSSY. */
struct barrier_scope {
    uint32_t holder; /* block */
    unsigned depth;  /* number of the barrier; from BARRIERS on there is none */
    const struct barrier_scope *around;
};

struct turing_placing {
    struct machine_kernel *machine;
    struct machine_flow flow;
    const struct barrier_scope **inside; /* by block: at its start */
    uint8_t *known;                      /* by block: `inside` is found */
    uint32_t *after;                     /* by block: the one laid out behind it */
    uint32_t *start;                     /* by block: its first instruction */
    uint32_t *pad_of;                    /* by block with a BSSY: the block of its BSYNC */
    struct turing_code out;
};

/* ---- which barriers lanes are in ---- */

/* At the end of a block, behind its BSSY. */
static const struct barrier_scope *scope_at_end(struct turing_placing *p, uint32_t b) {
    const struct machine_block *block = &p->machine->blocks.items[b];
    const struct barrier_scope *scope = p->inside[b];
    if (block->is_pad && scope)
        scope = scope->around;
    if (block->token == NO_UNIT)
        return scope;
    struct barrier_scope *own = ARENA_NEW(p->machine->arena, struct barrier_scope);
    *own = (struct barrier_scope){.holder = b, .depth = scope ? scope->depth + 1 : 0, .around = scope};
    return own;
}

/* That of the loop whose lanes leave for `to`. */
static const struct barrier_scope *scope_of_loop(const struct turing_placing *p, const struct barrier_scope *scope,
                                                 uint32_t to) {
    while (scope) {
        const struct machine_block *holder = &p->machine->blocks.items[scope->holder];
        if (holder->token_is_break && holder->token == to)
            return scope;
        scope = scope->around;
    }
    return NULL;
}

static void find_scopes(struct turing_placing *p) {
    p->known[0] = 1;
    for (uint32_t i = 0; i < p->flow.order_count; i++) {
        const uint32_t b = p->flow.order[i];
        const struct machine_block *block = &p->machine->blocks.items[b];
        const struct barrier_scope *scope = scope_at_end(p, b);
        uint32_t to[2];
        const unsigned count = block_successors(block, to);
        for (unsigned k = 0; k < count; k++) {
            const bool is_taken = block->end == END_BRANCH && to[k] == block->taken;
            const bool breaks = (is_taken ? block->taken_way : block->next_way) == WAY_BREAK;
            const struct barrier_scope *loop = breaks ? scope_of_loop(p, scope, to[k]) : NULL;
            if (!p->known[to[k]])
                p->inside[to[k]] = breaks ? (loop ? loop->around : NULL) : scope;
            p->known[to[k]] = 1;
        }
    }
}

/* ---- instructions ---- */

static struct turing_inst *put(struct turing_placing *p, const struct turing_inst *inst, uint32_t target,
                               const struct inst *at) {
    *ARENA_PUSH(p->out.arena, &p->out.targets) = target;
    *ARENA_PUSH(p->out.arena, &p->out.lines) = at ? at->text_line : 0;
    struct turing_inst *made = ARENA_PUSH(p->out.arena, &p->out.code);
    *made = *inst;
    return made;
}

static struct turing_inst *put_control(struct turing_placing *p, enum turing_row_id row, uint32_t target,
                                       const struct machine_block *block) {
    const struct turing_inst inst = turing_standard(row, p->machine->sm);
    return put(p, &inst, target, block->at);
}

static void put_barrier(struct turing_placing *p, enum turing_row_id row, unsigned number, uint32_t target,
                        const struct machine_block *block) {
    struct turing_inst *inst = put_control(p, row, target, block);
    inst->operands[row == TURING_BREAK ? 1 : 0].reg = (uint8_t)number;
}

/* The guard of a side of the block's branch. */
static void guard(struct turing_inst *inst, const struct machine_block *block, bool taken) {
    inst->guard = (uint8_t)block->predicate;
    inst->guard_inverted = block->negated == taken;
}

/* One side of a block's end, with a guard where `guarded`. */
static void put_way(struct turing_placing *p, uint32_t b, bool taken, bool guarded) {
    const struct machine_block *block = &p->machine->blocks.items[b];
    const enum machine_way way = (enum machine_way)(taken ? block->taken_way : block->next_way);
    uint32_t to = taken ? block->taken : block->next;
    if (way == WAY_EXIT) {
        struct turing_inst *inst = put_control(p, TURING_EXIT, NO_BLOCK, block);
        if (guarded)
            guard(inst, block, taken);
        return;
    }
    if (way == WAY_BREAK) {
        const struct barrier_scope *scope = scope_at_end(p, b), *loop = scope_of_loop(p, scope, to);
        for (; loop && scope != loop; scope = scope->around) {
            if (scope->depth >= BARRIERS)
                continue;
            put_barrier(p, TURING_BREAK, scope->depth, NO_BLOCK, block);
            if (guarded)
                guard(&p->out.code.items[p->out.code.count - 1], block, taken);
        }
        to = loop && loop->depth < BARRIERS ? p->pad_of[loop->holder] : to;
    }
    if (!guarded && p->after[b] == to)
        return;
    struct turing_inst *inst = put_control(p, TURING_BRA, to, block);
    if (guarded)
        guard(inst, block, taken);
}

static void put_end(struct turing_placing *p, uint32_t b) {
    const struct machine_block *block = &p->machine->blocks.items[b];
    if (block->token != NO_UNIT) {
        const struct barrier_scope *scope = scope_at_end(p, b);
        if (scope->depth < BARRIERS)
            put_barrier(p, TURING_BSSY, scope->depth, p->pad_of[b], block);
    }
    if (block->end == END_EXIT) {
        put_control(p, TURING_EXIT, NO_BLOCK, block);
    } else if (block->end == END_JUMP) {
        put_way(p, b, false, false);
    } else if (flow_taken_first(&p->flow, block, b, p->after[b])) {
        put_way(p, b, true, true);
        put_way(p, b, false, false);
    } else {
        put_way(p, b, false, true);
        put_way(p, b, true, false);
    }
}

static void put_block(struct turing_placing *p, uint32_t b) {
    const struct machine_block *block = &p->machine->blocks.items[b];
    p->start[b] = p->out.code.count;
    if (block->is_pad && p->inside[b] && p->inside[b]->depth < BARRIERS)
        put_barrier(p, TURING_BSYNC, p->inside[b]->depth, NO_BLOCK, block);
    for (unsigned i = 0; i < block->code.count; i++) {
        const struct machine_inst *inst = &block->code.items[i];
        struct turing_inst *made = put(p, inst->turing, NO_BLOCK, inst->at);
        if (inst->native.guard != GUARD_NONE)
            made->guard = inst->native.guard_reg, made->guard_inverted = inst->native.guard_inverted;
    }
    put_end(p, b);
}

/* ---- order ---- */

/* A loop that is left on several ways has a pad before the block behind it, as branches have. */
static void add_pads(struct machine_kernel *machine, uint32_t *pad_of) {
    const uint32_t count = machine->blocks.count;
    for (uint32_t b = 0; b < count; b++) {
        const uint32_t token = machine->blocks.items[b].token;
        pad_of[b] = token;
        if (token == NO_UNIT || !machine->blocks.items[b].token_is_break)
            continue;
        *ARENA_PUSH(machine->arena, &machine->blocks) = (struct machine_block){.end = END_JUMP,
                                                                               .next = token,
                                                                               .taken = token,
                                                                               .predicate = NO_UNIT,
                                                                               .token = NO_UNIT,
                                                                               .home = NO_UNIT,
                                                                               .is_pad = true,
                                                                               .at = machine->blocks.items[b].at};
        pad_of[b] = machine->blocks.count - 1;
    }
}

/* A pad of a loop is entered by breaks alone, which the flow does not show: its lanes are in the loop's barrier. */
static void enter_pads(struct turing_placing *p, uint32_t count) {
    for (uint32_t b = 0; b < count; b++)
        if (p->pad_of[b] != NO_UNIT && p->machine->blocks.items[b].token_is_break && p->known[b])
            p->inside[p->pad_of[b]] = scope_at_end(p, b);
}

/* A block behind its pads; a pad of a loop may stand before one of a branch. */
static void order_block(const struct turing_placing *p, uint32_t b, const uint8_t *needed, uint32_t *order,
                        uint32_t *count) {
    const struct machine_kernel *machine = p->machine;
    for (uint32_t k = 0; k < machine->blocks.count; k++)
        if (machine->blocks.items[k].is_pad && machine->blocks.items[k].next == b &&
            (k >= p->flow.count || p->flow.place[k] != NO_BLOCK))
            order_block(p, k, needed, order, count);
    if (needed[b])
        order[(*count)++] = b;
}

static uint32_t order_blocks(struct turing_placing *p, uint32_t *order) {
    struct machine_kernel *machine = p->machine;
    uint8_t *needed = ARENA_ARRAY(machine->arena, uint8_t, machine->blocks.count);
    needed[0] = 1;
    for (uint32_t i = 0; i < p->flow.order_count; i++) {
        const struct machine_block *block = &machine->blocks.items[p->flow.order[i]];
        if (block->end != END_EXIT && block->next_way != WAY_EXIT)
            needed[block->next] = 1;
        if (block->end == END_BRANCH && block->taken_way != WAY_EXIT)
            needed[block->taken] = 1;
        if (block->token != NO_UNIT)
            needed[p->pad_of[p->flow.order[i]]] = 1, needed[block->token] = 1;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->flow.order_count; i++)
        if (!machine->blocks.items[p->flow.order[i]].is_pad)
            order_block(p, p->flow.order[i], needed, order, &count);
    return count;
}

/* ---- words ---- */

/* Blocks become instructions; BSSY names the one behind its BSYNC. */
static void set_targets(struct turing_placing *p) {
    for (unsigned i = 0; i < p->out.code.count; i++) {
        struct turing_inst *inst = &p->out.code.items[i];
        inst->address = i * TURING_INST_BYTES;
        if (p->out.targets.items[i] == NO_BLOCK)
            continue;
        const uint32_t to = p->start[p->out.targets.items[i]] + (inst->row == TURING_BSSY);
        p->out.targets.items[i] = to;
        for (unsigned k = 0; turing_row(inst->row)->operands[k].shape; k++)
            if (turing_row(inst->row)->operands[k].shape == TURING_SHAPE_TARGET)
                inst->operands[k].value = (int64_t)to * TURING_INST_BYTES;
    }
}

static enum status encode(struct turing_placing *p, struct native_kernel *out) {
    struct machine_kernel *machine = p->machine;
    struct turing_word *words = ARENA_ARRAY(machine->arena, struct turing_word, p->out.code.count + 1u);
    for (unsigned i = 0; i < p->out.code.count; i++) {
        char message[160] = "";
        struct text_line why = {.text = message, .size = sizeof message};
        struct turing_inst *inst = &p->out.code.items[i];
        turing_set_form(inst);
        if (!turing_encode(inst, machine->sm, &words[i], &why))
            return report_add(machine->report, STATUS_INVALID, "%s:%u: error: %s: '%s' has no encoding: %s",
                              machine->body->module->name, (unsigned)p->out.lines.items[i], machine->isa_name,
                              machine->body->kernel->name, message);
    }
    out->words = words;
    out->lines = p->out.lines.items;
    out->code_count = p->out.code.count;
    return STATUS_OK;
}

enum status layout_turing(struct machine_kernel *machine, struct native_kernel *out) {
    const uint32_t made = machine->blocks.count;
    struct turing_placing p = {.machine = machine, .out = {.arena = machine->arena}};
    p.pad_of = ARENA_ARRAY(machine->arena, uint32_t, made);
    p.flow = flow_find(machine, machine->arena);
    add_pads(machine, p.pad_of);
    p.inside = ARENA_ARRAY(machine->arena, const struct barrier_scope *, machine->blocks.count);
    p.known = ARENA_ARRAY(machine->arena, uint8_t, machine->blocks.count);
    p.after = ARENA_ARRAY(machine->arena, uint32_t, machine->blocks.count);
    p.start = ARENA_ARRAY(machine->arena, uint32_t, machine->blocks.count);
    uint32_t *order = ARENA_ARRAY(machine->arena, uint32_t, machine->blocks.count + 1u);
    find_scopes(&p);
    enter_pads(&p, made);
    const uint32_t count = order_blocks(&p, order);
    for (uint32_t i = 0; i < count; i++)
        p.after[order[i]] = i + 1 < count ? order[i + 1] : NO_BLOCK;
    if (machine->has_descriptor) {
        struct turing_inst *load = put_control(&p, TURING_ULDC, NO_BLOCK, &machine->blocks.items[0]);
        load->operands[0].reg = 4;
        load->operands[1].value = 0x118, load->operands[1].reg = TURING_RZ;
        turing_set_word(load, TURING_WORDS_SIZE_CONSTANT, 5);
    }
    for (uint32_t i = 0; i < count; i++)
        put_block(&p, order[i]);
    set_targets(&p);
    turing_give_control(&p.out);
    turing_give_reuse(&p.out);
    return encode(&p, out);
}
