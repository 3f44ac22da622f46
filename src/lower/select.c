/* SPDX-License-Identifier: Apache-2.0 */
#include "lower/select.h"

#include <string.h>

/* ---- blocks ---- */

static void push_block(uint32_t *stack, uint32_t *depth, uint8_t *seen, uint32_t block) {
    if (!seen[block])
        stack[(*depth)++] = block;
    seen[block] = 1;
}

/* Blocks that lead to themselves. */
static void find_loops(struct selector *s) {
    const uint32_t count = s->body->blocks.count;
    struct arena arena = {.escape = s->machine->arena->escape};
    uint8_t *seen = ARENA_ARRAY(&arena, uint8_t, count + 1);
    uint32_t *stack = ARENA_ARRAY(&arena, uint32_t, count + 1);
    s->in_loop = ARENA_ARRAY(s->machine->arena, uint8_t, count + 1);
    for (uint32_t b = 0; b < count; b++) {
        uint32_t depth = 1;
        memset(seen, 0, count);
        for (stack[0] = b; depth && !seen[b];) {
            const struct body_block *block = &s->body->blocks.items[stack[--depth]];
            if (block->end != END_EXIT)
                push_block(stack, &depth, seen, block->next);
            if (block->end == END_BRANCH)
                push_block(stack, &depth, seen, block->taken);
        }
        s->in_loop[b] = seen[b];
    }
    arena_free(&arena);
}

/* ---- facts ---- */

static void find_facts(struct selector *s) {
    const struct body *body = s->body;
    for (uint32_t b = 0; b < body->blocks.count; b++) {
        const struct body_block *block = &body->blocks.items[b];
        if (block->end == END_BRANCH)
            s->facts[block->predicate].reads++;
        for (unsigned i = 0; i < block->code.count; i++) {
            const struct inst *inst = &block->code.items[i];
            for (unsigned k = 0; k < inst->dst_count; k++)
                s->facts[inst->dst[k].reg].definitions++;
            for (unsigned k = 0; k < inst->src_count; k++)
                if (inst->src[k].kind == OPERAND_REG || (inst->src[k].kind == OPERAND_ADDRESS && inst->src[k].has_reg))
                    s->facts[inst->src[k].reg].reads++;
            if (inst->guard >= 0)
                s->facts[inst->guard].reads++;
        }
    }
}

uint32_t select_word(struct machine_kernel *machine, const struct symbol *symbol, int64_t addend) {
    for (unsigned i = 0; i < machine->words.count; i++)
        if (machine->words.items[i].symbol == symbol && machine->words.items[i].addend == addend)
            return 8 * i;
    *ARENA_PUSH(machine->arena, &machine->words) = (struct machine_word){symbol, addend};
    return 8 * (machine->words.count - 1);
}

uint32_t select_literal(struct machine_kernel *machine, uint32_t value) {
    for (unsigned i = 0; i < machine->literals.count; i++)
        if (machine->literals.items[i] == value)
            return 4 * i;
    *ARENA_PUSH(machine->arena, &machine->literals) = value;
    return 4 * (machine->literals.count - 1);
}

static void find_constants(struct selector *s) {
    for (uint32_t b = 0; b < s->body->blocks.count; b++) {
        const struct body_block *block = &s->body->blocks.items[b];
        for (unsigned i = 0; i < block->code.count; i++) {
            const struct inst *inst = &block->code.items[i];
            if (inst->guard >= 0)
                continue;
            for (unsigned k = 0; k < inst->dst_count; k++) {
                struct fact *fact = &s->facts[inst->dst[k].reg];
                if (fact->definitions != 1)
                    continue;
                const struct fact found = s->ops->fact(s, inst, k);
                fact->kind = found.kind, fact->bank = found.bank, fact->value = found.value;
                fact->is_short = found.is_short;
            }
        }
    }
}

/* ---- taking one instruction into another ---- */

const struct inst *select_single(const struct selector *s, const struct operand *operand, enum op op) {
    if (operand->kind != OPERAND_REG || s->facts[operand->reg].reads != 1 || s->facts[operand->reg].definitions != 1 ||
        s->maker_of[operand->reg] != s->block + 1)
        return NULL;
    const unsigned place = s->maker[operand->reg];
    const struct inst *maker = &s->source->code.items[place];
    if (place >= s->at || maker->op != op || maker->guard >= 0 || maker->dst_count != 1)
        return NULL;
    for (unsigned i = place + 1; i < s->at; i++) {
        const struct inst *between = &s->source->code.items[i];
        for (unsigned k = 0; k < between->dst_count; k++)
            for (unsigned m = 0; m < maker->src_count; m++)
                if (maker->src[m].kind == OPERAND_REG && between->dst[k].kind == OPERAND_REG &&
                    maker->src[m].reg == between->dst[k].reg)
                    return NULL;
    }
    return maker;
}

static unsigned place_of(const struct selector *s, const struct inst *inst) {
    return (unsigned)(inst - s->source->code.items);
}

void select_take(struct selector *s, const struct inst *inst) { s->taken[place_of(s, inst)] = 1; }

/* ---- selection ---- */

/* What a register holds that is the same everywhere needs no instruction. */
static bool is_known(const struct selector *s, const struct inst *inst) {
    if (inst->op != OP_MOV && inst->op != OP_LD)
        return false;
    for (unsigned i = 0; i < inst->dst_count; i++)
        if (s->facts[inst->dst[i].reg].kind == FACT_NONE)
            return false;
    return true;
}

/* Backwards first: who reads decides what is part of it. */
static enum status select_block(struct selector *s, uint32_t b) {
    const struct body_block *source = &s->body->blocks.items[b];
    struct machine_kernel *machine = s->machine;
    s->source = source, s->block = b;
    s->taken = ARENA_ARRAY(machine->arena, uint8_t, source->code.count + 1);
    for (unsigned i = 0; i < source->code.count; i++)
        for (unsigned k = 0; k < source->code.items[i].dst_count; k++)
            s->maker[source->code.items[i].dst[k].reg] = i, s->maker_of[source->code.items[i].dst[k].reg] = b + 1;
    const unsigned units = machine->units.count;
    for (unsigned pass = 0; pass < 2; pass++) {
        s->pass = pass;
        if (s->ops->begin)
            s->ops->begin(s);
        for (unsigned n = 0; n < source->code.count; n++) {
            const unsigned i = pass ? n : source->code.count - 1 - n;
            s->at = i;
            const struct inst *inst = &source->code.items[i];
            if (s->taken[i] || is_known(s, inst))
                continue;
            const enum status status = s->ops->inst(s, inst);
            if (status)
                return status;
        }
        s->at = source->code.count;
        s->ops->end(s);
        if (pass)
            break;
        machine->blocks.items[b].code.count = 0;
        machine->units.count = units;
        for (uint32_t r = 0; r < units; r++)
            machine->units.items[r].size = machine->units.items[r].leader >= units ? 0 : machine->units.items[r].size;
        for (unsigned i = 0; i < s->body->registers.count; i++)
            s->held_of[i] = 0;
    }
    struct machine_block *made = &machine->blocks.items[b];
    made->end = source->end, made->at = source->at;
    made->next = source->next, made->taken = source->taken;
    return STATUS_OK;
}

uint32_t select_tuple_for(struct selector *s, const struct operand *operands, unsigned count, bool *copied) {
    uint32_t units[4] = {0};
    for (unsigned i = 0; i < count; i++)
        units[i] = operands[i].reg;
    *copied = !machine_group(s->machine, units, count);
    if (!*copied)
        return units[0];
    for (unsigned i = 0; i < count; i++)
        units[i] = machine_unit(s->machine, false);
    machine_group(s->machine, units, count);
    return units[0];
}

enum compare select_mirrored(enum compare compare) {
    switch (compare) {
    case CMP_LT: return CMP_GT;
    case CMP_LE: return CMP_GE;
    case CMP_GT: return CMP_LT;
    case CMP_GE: return CMP_LE;
    case CMP_LTU: return CMP_GTU;
    case CMP_LEU: return CMP_GEU;
    case CMP_GTU: return CMP_LTU;
    case CMP_GEU: return CMP_LEU;
    default: return compare;
    }
}

enum status select_body(const struct body *body, struct machine_kernel *machine, const struct select_ops *ops,
                        struct tesla *tesla) {
    struct selector s = {.ops = ops, .tesla = tesla, .machine = machine, .body = body};
    const unsigned count = body->registers.count;
    s.facts = ARENA_ARRAY(machine->arena, struct fact, count + 1);
    s.maker = ARENA_ARRAY(machine->arena, uint32_t, count + 1);
    s.maker_of = ARENA_ARRAY(machine->arena, uint32_t, count + 1);
    s.held = ARENA_ARRAY(machine->arena, uint32_t, count + 1);
    s.held_of = ARENA_ARRAY(machine->arena, uint32_t, count + 1);
    for (unsigned i = 0; i < count; i++) /* Tesla keeps predicates in words: 0 or -1 */
        machine_unit(machine, body->registers.items[i] == TYPE_PRED && machine->isa != NATIVE_TESLA);
    for (uint32_t b = 0; b < body->blocks.count; b++)
        *ARENA_PUSH(machine->arena, &machine->blocks) =
            (struct machine_block){.end = END_EXIT, .predicate = NO_UNIT, .token = NO_UNIT, .home = NO_UNIT};
    find_loops(&s);
    find_facts(&s);
    find_constants(&s);
    if (ops->prepare)
        ops->prepare(&s);
    for (uint32_t b = 0; b < body->blocks.count; b++) {
        const enum status status = select_block(&s, b);
        if (status)
            return status;
    }
    if (ops->finish)
        ops->finish(&s);
    return STATUS_OK;
}
