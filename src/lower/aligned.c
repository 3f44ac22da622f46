/* SPDX-License-Identifier: Apache-2.0 */
/* Low bits of registers, as far as they are the same whenever the register is read: found from the best that could be, and taken
 * back where a definition says otherwise, until nothing changes. */
#include "lower/aligned.h"

#include "base/bits.h"

/* No definition was looked at yet. */
enum { OPEN = 255 };

struct alignment {
    const struct body *body;
    struct low_bits *known;
};

static const struct low_bits nothing = {0, 0};

static struct low_bits low(unsigned bits, uint64_t rest) {
    bits = bits > ALIGNED_BITS ? ALIGNED_BITS : bits;
    return (struct low_bits){(uint8_t)bits, (uint8_t)(rest & ((1u << bits) - 1))};
}

static unsigned zeros(const struct low_bits *a) {
    unsigned n = 0;
    while (n < a->bits && !(a->rest >> n & 1))
        n++;
    return n;
}

static unsigned common(const struct low_bits *a, const struct low_bits *b) {
    return a->bits < b->bits ? a->bits : b->bits;
}

static struct low_bits both(struct low_bits a, struct low_bits b) {
    if (a.bits == OPEN || b.bits == OPEN)
        return a.bits == OPEN ? b : a;
    unsigned bits = 0;
    while (bits < common(&a, &b) && (a.rest >> bits & 1) == (b.rest >> bits & 1))
        bits++;
    return low(bits, a.rest);
}

static struct low_bits value_of(const struct alignment *a, const struct operand *operand) {
    if (operand->kind == OPERAND_IMM)
        return low(ALIGNED_BITS, operand->imm);
    return operand->kind == OPERAND_REG && !operand->negated ? a->known[operand->reg] : nothing;
}

/* Shared and local memory begin at 0 of their spaces. */
static struct low_bits address_of(const struct alignment *a, const struct inst *inst) {
    const struct operand *source = &inst->src[0];
    const struct symbol *symbol = source->symbol;
    if (inst->mode == MODE_HI || source->has_reg)
        return nothing;
    if (!symbol)
        return low(ALIGNED_BITS, source->imm);
    if (symbol->kind != SYMBOL_VARIABLE)
        return nothing;
    if (symbol->space == SPACE_SHARED)
        return low(ALIGNED_BITS,
                   source->imm + (symbol->bytes ? symbol->offset : bits_round_up(a->body->kernel->shared_bytes, 16)));
    if ((symbol->space != SPACE_GLOBAL && symbol->space != SPACE_CONST) || !symbol->align)
        return nothing;
    return low((unsigned)__builtin_ctz(symbol->align), source->imm);
}

/* Kernels say of pointers what they are multiples of. */
static struct low_bits pointer_of(const struct inst *inst) {
    const struct symbol *symbol = inst->src[0].symbol;
    if (inst->space != SPACE_PARAM || !symbol || !symbol->is_pointer || !symbol->pointer_align || inst->src[0].imm ||
        inst->src[0].has_reg)
        return nothing;
    return low((unsigned)__builtin_ctz(symbol->pointer_align), 0);
}

static struct low_bits product(struct low_bits a, struct low_bits b) {
    if (a.bits == OPEN || b.bits == OPEN)
        return (struct low_bits){OPEN, 0};
    const unsigned left = a.bits + zeros(&b), right = b.bits + zeros(&a);
    return low(left < right ? left : right, (uint64_t)a.rest * b.rest);
}

static struct low_bits sum(struct low_bits a, struct low_bits b, bool subtract) {
    if (a.bits == OPEN || b.bits == OPEN)
        return (struct low_bits){OPEN, 0};
    return low(common(&a, &b), subtract ? (uint64_t)a.rest - b.rest : (uint64_t)a.rest + b.rest);
}

static struct low_bits logic(enum op op, struct low_bits a, struct low_bits b) {
    if (a.bits == OPEN || b.bits == OPEN)
        return (struct low_bits){OPEN, 0};
    unsigned bits = 0;
    for (; bits < ALIGNED_BITS; bits++) { /* a 0 that is known decides and */
        const bool zero = (bits < a.bits && !(a.rest >> bits & 1)) || (bits < b.bits && !(b.rest >> bits & 1));
        if (bits >= common(&a, &b) && (op != OP_AND || !zero))
            break;
    }
    return low(bits, op == OP_AND ? a.rest & b.rest : op == OP_OR ? a.rest | b.rest : a.rest ^ b.rest);
}

static struct low_bits shifted(struct low_bits a, const struct operand *by) {
    if (by->kind != OPERAND_IMM || by->imm >= 32)
        return nothing;
    return a.bits == OPEN ? a : low(a.bits + (unsigned)by->imm, (uint64_t)a.rest << by->imm);
}

/* The first word that an integer operation makes. */
static struct low_bits result_of(const struct alignment *a, const struct inst *inst) {
    const bool is_pair = inst->dst_count == 2;
    if (type_is_float((enum type)inst->type) || inst->type == TYPE_PRED || inst->flags & (FLAG_CARRY_IN | FLAG_SAT))
        return nothing;
    switch ((enum op)inst->op) {
    case OP_MOV:
        if (inst->src_count != 1 || is_pair)
            return nothing;
        return inst->src[0].kind == OPERAND_ADDRESS ? address_of(a, inst) : value_of(a, &inst->src[0]);
    case OP_LD: return pointer_of(inst);
    case OP_ADD:
    case OP_SUB: return sum(value_of(a, &inst->src[0]), value_of(a, &inst->src[is_pair ? 2 : 1]), inst->op == OP_SUB);
    case OP_MUL:
        return inst->mode == MODE_HI ? nothing : product(value_of(a, &inst->src[0]), value_of(a, &inst->src[1]));
    case OP_MAD:
        if (inst->mode == MODE_HI || is_pair)
            return nothing;
        return sum(product(value_of(a, &inst->src[0]), value_of(a, &inst->src[1])), value_of(a, &inst->src[2]), false);
    case OP_SHL: return shifted(value_of(a, &inst->src[0]), &inst->src[is_pair ? 2 : 1]);
    case OP_AND:
    case OP_OR:
    case OP_XOR:
        return is_pair ? nothing : logic((enum op)inst->op, value_of(a, &inst->src[0]), value_of(a, &inst->src[1]));
    case OP_SELP: return is_pair ? nothing : both(value_of(a, &inst->src[0]), value_of(a, &inst->src[1]));
    default: return nothing;
    }
}

static bool look_at(const struct alignment *a, const struct inst *inst) {
    bool changed = false;
    for (unsigned k = 0; k < inst->dst_count; k++) {
        if (inst->dst[k].kind != OPERAND_REG)
            continue;
        struct low_bits *known = &a->known[inst->dst[k].reg];
        struct low_bits found = k ? nothing : result_of(a, inst);
        if (inst->guard >= 0) /* or what it held before: 0 where that is nothing */
            found = both(found, low(ALIGNED_BITS, 0));
        found = both(*known, found);
        changed |= found.bits != known->bits || found.rest != known->rest;
        *known = found;
    }
    return changed;
}

struct low_bits *aligned_find(const struct body *body, struct arena *arena) {
    struct alignment a = {.body = body, .known = ARENA_ARRAY(arena, struct low_bits, body->registers.count + 1u)};
    for (unsigned i = 0; i < body->registers.count; i++)
        a.known[i] = (struct low_bits){OPEN, 0};
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < body->blocks.count; b++)
            for (unsigned i = 0; i < body->blocks.items[b].code.count; i++)
                changed |= look_at(&a, &body->blocks.items[b].code.items[i]);
    }
    for (unsigned i = 0; i < body->registers.count; i++)
        if (a.known[i].bits == OPEN) /* nobody writes it */
            a.known[i] = nothing;
    return a.known;
}
