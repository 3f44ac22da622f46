/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores of words that lie side by side become one of two or four words, where the address is known to be a multiple of
 * as many bytes. Loads go up to the first of them, stores down to the last, past what cannot be the same memory. */
#include "lower/aligned.h"

enum { WINDOW = 96, WIDE_WORDS = 4 };

struct widening {
    struct body *body;
    struct arena arena;
    const struct low_bits *known; /* of the first known_count registers */
    unsigned known_count;
    struct register_use {
        uint32_t definitions;
        bool is_tied;  /* words beside it are part of the same operand */
        bool is_plain; /* it is the only result of arithmetic */
    } * uses;          /* the same */
    struct body_block *block;
};

/* The accesses that become one. */
struct wide_access {
    unsigned at[WIDE_WORDS]; /* by word: its instruction */
    unsigned first;          /* of them all in the block */
    unsigned last;
    unsigned words;
    int64_t start; /* offset */
};

static struct inst *inst_at(const struct widening *w, unsigned i) { return &w->block->code.items[i]; }

static unsigned words_of(const struct inst *inst) { return inst->op == OP_LD ? inst->dst_count : inst->src_count - 2u; }

static const struct operand *values_of(const struct inst *inst) {
    return inst->op == OP_LD ? inst->dst : &inst->src[2];
}

static int64_t offset_of(const struct inst *inst) { return (int64_t)inst->src[0].imm; }

static bool is_memory(const struct inst *inst) {
    switch ((enum op)inst->op) {
    case OP_LD: return inst->space != SPACE_PARAM;
    case OP_ST:
    case OP_ATOM:
    case OP_RED:
    case OP_BAR:
    case OP_BAR_WARP:
    case OP_MEMBAR: return true;
    default: return false;
    }
}

/* A plain access of one or two words that others could join. */
static bool can_join(const struct widening *w, const struct inst *inst) {
    if ((inst->op != OP_LD && inst->op != OP_ST) || inst->order != ORDER_WEAK || inst->mode != MODE_NONE ||
        inst->space == SPACE_PARAM || inst->src[0].kind != OPERAND_ADDRESS)
        return false;
    if (inst->type != TYPE_B32 && inst->type != TYPE_B64)
        return false;
    for (unsigned k = 0; k < words_of(inst); k++) {
        const struct operand *value = &values_of(inst)[k];
        if (value->kind != OPERAND_REG || value->negated || value->reg >= w->known_count ||
            w->uses[value->reg].definitions != 1)
            return false;
        if (words_of(inst) == 1 && w->uses[value->reg].is_tied)
            return false;
        if (inst->op == OP_ST && (words_of(inst) != 1 || !w->uses[value->reg].is_plain))
            return false;
        for (unsigned m = 0; m < k; m++)
            if (values_of(inst)[m].reg == value->reg)
                return false;
    }
    return true;
}

static bool same_register(const struct operand *a, const struct operand *b) {
    return a->kind == b->kind &&
           (a->kind == OPERAND_NONE || a->kind == OPERAND_IMM ? a->imm == b->imm : a->reg == b->reg);
}

static bool same_base(const struct inst *a, const struct inst *b) {
    const struct operand *x = &a->src[0], *y = &b->src[0];
    return a->space == b->space && x->has_reg == y->has_reg && (!x->has_reg || x->reg == y->reg) &&
           x->symbol == y->symbol && same_register(&a->src[1], &b->src[1]);
}

static bool same_kind(const struct inst *a, const struct inst *b) {
    return a->op == b->op && same_base(a, b) && a->cache == b->cache && a->guard == b->guard &&
           (a->guard < 0 || a->guard_negated == b->guard_negated);
}

/* ---- what is in the way ---- */

static bool writes(const struct inst *inst, uint32_t reg) {
    for (unsigned k = 0; k < inst->dst_count; k++)
        if (inst->dst[k].kind == OPERAND_REG && inst->dst[k].reg == reg)
            return true;
    return false;
}

static bool reads(const struct inst *inst, uint32_t reg) {
    for (unsigned k = 0; k < inst->src_count; k++)
        if ((inst->src[k].kind == OPERAND_REG || (inst->src[k].kind == OPERAND_ADDRESS && inst->src[k].has_reg)) &&
            inst->src[k].reg == reg)
            return true;
    return inst->guard >= 0 && (uint32_t)inst->guard == reg;
}

static bool writes_address(const struct inst *inst, const struct inst *access) {
    return (access->src[0].has_reg && writes(inst, access->src[0].reg)) ||
           (access->src[1].kind == OPERAND_REG && writes(inst, access->src[1].reg)) ||
           (access->guard >= 0 && writes(inst, (uint32_t)access->guard));
}

static bool overlap(const struct inst *a, const struct inst *b) {
    const int64_t a_bytes = (int64_t)type_bytes((enum type)a->type), b_bytes = (int64_t)type_bytes((enum type)b->type);
    return offset_of(a) < offset_of(b) + b_bytes && offset_of(b) < offset_of(a) + a_bytes;
}

/* Whether an access cannot pass another instruction because of memory. */
static bool blocks(const struct inst *other, const struct inst *access) {
    if (!is_memory(other) || (other->op == OP_LD && access->op == OP_LD && other->order == ORDER_WEAK))
        return false;
    if ((other->op != OP_LD && other->op != OP_ST) || other->order != ORDER_WEAK || other->mode != MODE_NONE)
        return true;
    if (same_base(other, access)) /* the addresses are the same as long as nobody writes them, which ends the search */
        return overlap(other, access);
    return other->space == access->space || other->space == SPACE_GENERIC || access->space == SPACE_GENERIC ||
           (other->space == SPACE_CONST) != (access->space == SPACE_CONST);
}

/* Whether the values of an access at `from` are untouched by all between it and `to`, and nothing there is in its way. */
static bool can_move(const struct widening *w, unsigned access, unsigned from, unsigned to) {
    const struct inst *inst = inst_at(w, access);
    for (unsigned i = from; i < to; i++) {
        const struct inst *other = inst_at(w, i);
        if (i == access)
            continue;
        if (writes_address(other, inst) || blocks(other, inst))
            return false;
        for (unsigned k = 0; k < words_of(inst); k++) {
            const uint32_t reg = values_of(inst)[k].reg;
            if (writes(other, reg) || (inst->op == OP_LD && reads(other, reg)))
                return false;
        }
    }
    return true;
}

/* ---- who joins ---- */

/* Where the group of `words` words begins that an access is part of; false: nobody knows. */
static bool find_start(const struct widening *w, const struct inst *inst, unsigned words, int64_t *start) {
    const unsigned bits = words == 4 ? 4 : 3;
    const struct operand *address = &inst->src[0];
    struct low_bits base = {ALIGNED_BITS, 0};
    if (address->has_reg)
        base = address->reg < w->known_count ? w->known[address->reg] : (struct low_bits){0, 0};
    if (address->symbol) { /* of shared memory: others are registers by now */
        if (address->symbol->space != SPACE_SHARED || !address->symbol->bytes || base.bits < bits)
            return false;
        base.rest = (uint8_t)(base.rest + address->symbol->offset);
    }
    if (base.bits < bits)
        return false;
    const uint64_t place = (uint64_t)offset_of(inst) + base.rest;
    *start = offset_of(inst) - (int64_t)(place & ((1u << bits) - 1));
    return place % 4 == 0;
}

static bool find_members(const struct widening *w, unsigned first, unsigned words, struct wide_access *out) {
    const struct inst *inst = inst_at(w, first);
    bool found[WIDE_WORDS] = {false};
    if (!find_start(w, inst, words, &out->start))
        return false;
    out->words = words, out->first = out->last = first;
    unsigned missing = words;
    for (unsigned i = first; i < w->block->code.count && i < first + WINDOW && missing; i++) {
        const struct inst *other = inst_at(w, i);
        const int64_t place = (offset_of(other) - out->start) / 4;
        if (i > first && writes_address(other, inst) && !(same_kind(inst, other) && can_join(w, other)))
            break;
        if (!can_join(w, other) || !same_kind(inst, other) || offset_of(other) < out->start ||
            place + words_of(other) > words || words_of(other) == words)
            continue;
        bool is_taken = false;
        for (unsigned k = 0; k < words_of(other); k++)
            is_taken |= found[place + k];
        if (is_taken)
            break;
        for (unsigned k = 0; k < words_of(other); k++)
            found[place + k] = true, out->at[place + k] = i, missing--;
        out->last = i;
    }
    if (missing)
        return false;
    for (unsigned k = 0; k < words; k++) {
        const bool is_load = inst->op == OP_LD;
        const unsigned at = out->at[k];
        if (!can_move(w, at, is_load ? first : at, is_load ? at : out->last + 1))
            return false;
        for (unsigned m = 0; m < k; m++) /* a register twice */
            if (out->at[m] != at && values_of(inst_at(w, out->at[m]))[0].reg == values_of(inst_at(w, at))[0].reg)
                return false;
    }
    return true;
}

/* ---- joining ---- */

static void rename_operand(struct operand *operand, const uint32_t *from, uint32_t to, unsigned count) {
    if (operand->kind != OPERAND_REG && !(operand->kind == OPERAND_ADDRESS && operand->has_reg))
        return;
    for (unsigned k = 0; k < count; k++)
        if (operand->reg == from[k]) {
            operand->reg = to + k;
            return;
        }
}

/* Registers that are written once get another name everywhere. */
static void rename_all(struct widening *w, const uint32_t *from, uint32_t to, unsigned count) {
    for (uint32_t b = 0; b < w->body->blocks.count; b++) {
        struct body_block *block = &w->body->blocks.items[b];
        for (unsigned i = 0; i < block->code.count; i++) {
            struct inst *inst = &block->code.items[i];
            for (unsigned k = 0; k < inst->dst_count; k++)
                rename_operand(&inst->dst[k], from, to, count);
            for (unsigned k = 0; k < inst->src_count; k++)
                rename_operand(&inst->src[k], from, to, count);
        }
    }
}

static void join(struct widening *w, const struct wide_access *access) {
    struct body *body = w->body;
    const bool is_load = inst_at(w, access->first)->op == OP_LD;
    const unsigned place = is_load ? access->first : access->last;
    uint32_t from[WIDE_WORDS], to = 0;
    for (unsigned k = 0; k < access->words; k++) {
        const struct inst *member = inst_at(w, access->at[k]);
        from[k] = values_of(member)[(access->start + 4 * (int64_t)k - offset_of(member)) / 4].reg;
        const uint32_t made = body_register(body, TYPE_B32);
        to = k ? to : made;
    }
    struct inst made = *inst_at(w, place);
    made.type = access->words == 4 ? TYPE_B128 : TYPE_B64;
    made.dst_count = (uint8_t)(is_load ? access->words : 0),
    made.src_count = (uint8_t)(is_load ? 2 : 2 + access->words);
    made.dst = ARENA_ARRAY(body->arena, struct operand, (size_t)made.dst_count + made.src_count);
    made.src = made.dst + made.dst_count;
    made.src[0] = inst_at(w, place)->src[0], made.src[1] = inst_at(w, place)->src[1];
    made.src[0].imm = (uint64_t)access->start;
    for (unsigned k = 0; k < access->words; k++)
        *(is_load ? &made.dst[k] : &made.src[2 + k]) = operand_register(from[k]);
    unsigned kept = 0;
    for (unsigned i = 0; i < w->block->code.count; i++) {
        bool is_member = false;
        for (unsigned k = 0; k < access->words; k++)
            is_member |= access->at[k] == i;
        if (i == place)
            w->block->code.items[kept++] = made;
        else if (!is_member)
            w->block->code.items[kept++] = w->block->code.items[i];
    }
    w->block->code.count = kept;
    rename_all(w, from, to, access->words);
}

/* ---- all of it ---- */

/* Of integers and floats of 64 bits two words are one operand, of vectors more. */
static void look_at(struct widening *w, const struct inst *inst) {
    const bool is_access = inst->op == OP_LD || inst->op == OP_ST || inst->op == OP_ATOM || inst->op == OP_RED;
    const bool is_wide =
        inst->dst_count > 1 || type_bytes((enum type)inst->type) >= 8 || type_bytes((enum type)inst->stype) >= 8;
    for (unsigned k = 0; k < inst->dst_count; k++)
        if (inst->dst[k].kind == OPERAND_REG) {
            struct register_use *use = &w->uses[inst->dst[k].reg];
            use->definitions++;
            use->is_tied |= is_wide;
            use->is_plain = inst->dst_count == 1 && inst->op != OP_MOV && inst->guard < 0 &&
                            !(inst->op == OP_LD && inst->space == SPACE_PARAM);
        }
    for (unsigned k = 0; k < inst->src_count; k++) {
        const struct operand *operand = &inst->src[k];
        if (operand->kind == OPERAND_REG || (operand->kind == OPERAND_ADDRESS && operand->has_reg))
            w->uses[operand->reg].is_tied |= is_wide || (is_access && k < 2 && inst->src[1].kind != OPERAND_NONE);
    }
}

static void widen_block(struct widening *w) {
    for (unsigned i = 0; i < w->block->code.count; i++) {
        struct wide_access access;
        if (!can_join(w, inst_at(w, i)))
            continue;
        for (unsigned words = WIDE_WORDS; words > words_of(inst_at(w, i)); words /= 2)
            if (find_members(w, i, words, &access)) {
                join(w, &access);
                break;
            }
    }
}

void widen_accesses(struct body *body) {
    struct widening w = {.body = body, .arena = {.escape = body->arena->escape}, .known_count = body->registers.count};
    w.known = aligned_find(body, &w.arena);
    w.uses = ARENA_ARRAY(&w.arena, struct register_use, w.known_count + 1u);
    for (uint32_t b = 0; b < body->blocks.count; b++)
        for (unsigned i = 0; i < body->blocks.items[b].code.count; i++)
            look_at(&w, &body->blocks.items[b].code.items[i]);
    for (uint32_t b = 0; b < body->blocks.count; b++) {
        w.block = &body->blocks.items[b];
        widen_block(&w);
    }
    arena_free(&w.arena);
}
