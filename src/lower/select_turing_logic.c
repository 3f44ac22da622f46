/* SPDX-License-Identifier: Apache-2.0 */
/* Logic and single bits for sm_75 on: trees of logic with up to three leaves are one LOP3. */
#include "lower/select_turing.h"

enum { LEAVES = 3, PARTS = 8 };

/* A tree of logic on its way into one table: bit n of the table is the result where leaves A, B, C hold the bits of n. */
struct tree {
    struct source leaves[LEAVES];
    unsigned count;
    const struct inst *parts[PARTS]; /* that the tree is made of, but for its root */
    unsigned part_count;
};
static const uint8_t columns[LEAVES] = {0xf0, 0xcc, 0xaa};

static bool same_source(const struct source *a, const struct source *b) {
    if (a->kind != b->kind)
        return false;
    return a->kind == SOURCE_ZERO || (a->kind == SOURCE_UNIT       ? a->unit == b->unit
                                      : a->kind == SOURCE_CONSTANT ? a->bank == b->bank && a->value == b->value
                                                                   : a->value == b->value);
}

/* The table of an operand that is a leaf; false: there is no room for it. */
static bool add_leaf(struct tree *tree, const struct source *source, uint8_t *table) {
    if (source->kind == SOURCE_ZERO || (source->kind == SOURCE_IMMEDIATE && source->value == UINT32_MAX)) {
        *table = source->kind == SOURCE_ZERO ? 0 : 0xff;
        return true;
    }
    unsigned i = 0;
    while (i < tree->count && !same_source(&tree->leaves[i], source))
        i++;
    if (i == LEAVES)
        return false;
    if (i == tree->count)
        tree->leaves[tree->count++] = *source;
    *table = columns[i];
    return true;
}

static uint8_t combine(enum op op, uint8_t a, uint8_t b) {
    switch (op) {
    case OP_AND: return a & b;
    case OP_OR: return a | b;
    case OP_XOR: return a ^ b;
    default: return (uint8_t)~a;
    }
}

static const struct inst *inner_logic(const struct selector *s, const struct operand *operand) {
    static const uint16_t ops[] = {OP_AND, OP_OR, OP_XOR, OP_NOT};
    for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++) {
        const struct inst *inner = select_single(s, operand, (enum op)ops[i]);
        if (inner && inner->type != TYPE_PRED)
            return inner;
    }
    return NULL;
}

/* `others` operands come behind, which want a leaf each. */
static bool grow(const struct selector *s, struct tree *tree, const struct operand *operand, unsigned others,
                 uint8_t *table);

static bool grow_inst(const struct selector *s, struct tree *tree, const struct inst *inst, unsigned others,
                      uint8_t *table) {
    uint8_t tables[2] = {0, 0};
    for (unsigned i = 0; i < inst->src_count; i++)
        if (!grow(s, tree, &inst->src[i], others + inst->src_count - 1 - i, &tables[i]))
            return false;
    *table = combine((enum op)inst->op, tables[0], tables[1]);
    return true;
}

static bool grow(const struct selector *s, struct tree *tree, const struct operand *operand, unsigned others,
                 uint8_t *table) {
    const struct inst *inner = tree->part_count < PARTS ? inner_logic(s, operand) : NULL;
    const struct tree before = *tree;
    if (inner) {
        tree->parts[tree->part_count++] = inner;
        if (grow_inst(s, tree, inner, others, table) && tree->count + others <= LEAVES)
            return true;
    }
    *tree = before;
    const struct source leaf = sm_plain(s, operand);
    return add_leaf(tree, &leaf, table);
}

static void swap_leaves(struct tree *tree, uint8_t *table, unsigned i, unsigned k) {
    const struct source held = tree->leaves[i];
    tree->leaves[i] = tree->leaves[k], tree->leaves[k] = held;
    uint8_t swapped = 0;
    for (unsigned n = 0; n < 8; n++) {
        unsigned bits[LEAVES] = {n >> 2 & 1, n >> 1 & 1, n & 1};
        const unsigned bit = bits[i];
        bits[i] = bits[k], bits[k] = bit;
        swapped |= (uint8_t)((*table >> (bits[0] << 2 | bits[1] << 1 | bits[2]) & 1) << n);
    }
    *table = swapped;
}

static void emit_logic(struct selector *s, const struct inst *inst, struct tree *tree, uint8_t table) {
    for (unsigned i = tree->count; i < LEAVES; i++)
        tree->leaves[i] = sm_number(0);
    for (unsigned i = 1; i < LEAVES && !sm_is_simple(&tree->leaves[0]); i++)
        swap_leaves(tree, &table, 0, i);
    sm_fit(s, &tree->leaves[0], &tree->leaves[1], &tree->leaves[2], false);
    struct machine_inst *made = sm_emit_to(s, TURING_LOP3, inst, inst->dst[0].reg);
    for (unsigned i = 0; i < LEAVES; i++)
        sm_put(made, 2 + i, &tree->leaves[i]);
    machine_put_number(made, 5, table);
}

void sm_logic(struct selector *s, const struct inst *inst) {
    struct tree tree = {.count = 0};
    uint8_t table = 0;
    if (inst->op == OP_LOP3) {
        for (unsigned i = 0; i < LEAVES; i++)
            tree.leaves[i] = sm_plain(s, &inst->src[i]);
        tree.count = LEAVES;
        emit_logic(s, inst, &tree, (uint8_t)inst->src[3].imm);
        return;
    }
    grow_inst(s, &tree, inst, 0, &table);
    for (unsigned i = 0; i < tree.part_count; i++)
        select_take(s, tree.parts[i]);
    emit_logic(s, inst, &tree, table);
}

/* ---- bits and bytes ---- */

static struct machine_inst *emit_one(struct selector *s, enum turing_row_id row, const struct inst *inst, uint32_t d,
                                     const struct source *a) {
    struct machine_inst *made = sm_emit_to(s, row, inst, d);
    sm_put(made, 1, a);
    return made;
}

static void emit_sum(struct selector *s, const struct inst *inst, const struct source *a, uint32_t number) {
    const struct source b = sm_number(number);
    struct machine_inst *made = sm_emit_to(s, TURING_IADD3, inst, inst->dst[0].reg);
    sm_put(made, 3, a);
    sm_put(made, 4, &b);
}

/* Leading zeros: 31 less the place of the highest one, -1 where there is none. */
static void leading_zeros(struct selector *s, const struct inst *inst) {
    const struct source a = sm_plain(s, &inst->src[0]);
    struct source place = sm_unit(machine_unit(s->machine, false));
    sm_word(emit_one(s, TURING_FLO, inst, place.unit, &a), TURING_WORDS_SIGNED, 0);
    place.negated = true;
    emit_sum(s, inst, &place, 31);
}

static void find_bit(struct selector *s, const struct inst *inst) {
    const struct source a = sm_plain(s, &inst->src[0]);
    struct machine_inst *made = emit_one(s, TURING_FLO, inst, inst->dst[0].reg, &a);
    sm_word(made, TURING_WORDS_SIGNED, inst->type == TYPE_S32);
    sm_word(made, TURING_WORDS_SH, inst->mode == MODE_SHIFTAMT);
}

static uint32_t ones(uint32_t count) { return count >= 32 ? UINT32_MAX : (1u << count) - 1; }

/* Places and lengths that are known. */
static void extract_field(struct selector *s, const struct inst *inst) {
    enum { S32 = 2, U32 = 3 };
    const uint32_t place = (uint32_t)inst->src[1].imm & 0xff, length = (uint32_t)inst->src[2].imm & 0xff;
    const bool is_signed = inst->type == TYPE_S32;
    struct source a = sm_register(s, &inst->src[0]);
    if (length == 0) {
        const struct source zero = sm_number(0);
        sm_move(s, inst, inst->dst[0].reg, &zero);
        return;
    }
    if (place) {
        const bool last = length >= 32 || place + length >= 32;
        const struct source zero = sm_number(0), n = sm_number(place);
        const uint32_t d = last ? inst->dst[0].reg : machine_unit(s->machine, false);
        struct machine_inst *made = sm_emit_to(s, TURING_SHF, inst, d);
        sm_put(made, 1, &zero);
        sm_put(made, 2, &n);
        sm_put(made, 3, &a);
        sm_word(made, TURING_WORDS_DIRECTION, 1);
        sm_word(made, TURING_WORDS_SHIFT_TYPE, is_signed ? S32 : U32);
        sm_word(made, TURING_WORDS_HI, 1);
        if (last)
            return;
        a = sm_unit(d);
    }
    const struct source b = sm_number(is_signed ? (length < 32 ? length : 32) : ones(length));
    struct machine_inst *made = sm_emit_to(s, is_signed ? TURING_SGXT : TURING_LOP3, inst, inst->dst[0].reg);
    const unsigned first = is_signed ? 1 : 2;
    sm_put(made, first, &a);
    sm_put(made, first + 1, &b);
    if (!is_signed)
        machine_put_number(made, 5, 0xc0); /* A and B */
}

/* (a << place & mask) | (b & ~mask) */
static void insert_field(struct selector *s, const struct inst *inst) {
    const uint32_t place = (uint32_t)inst->src[2].imm & 0xff, length = (uint32_t)inst->src[3].imm & 0xff;
    struct source a = sm_register(s, &inst->src[0]);
    const struct source b = sm_register(s, &inst->src[1]);
    const struct source mask = sm_number(place < 32 ? ones(length) << place : 0);
    if (place && place < 32) {
        const struct source n = sm_number(place);
        const uint32_t d = machine_unit(s->machine, false);
        struct machine_inst *made = sm_emit_to(s, TURING_SHF, inst, d);
        sm_put(made, 1, &a);
        sm_put(made, 2, &n);
        sm_word(made, TURING_WORDS_SHIFT_TYPE, 3);
        a = sm_unit(d);
    }
    struct machine_inst *made = sm_emit_to(s, TURING_LOP3, inst, inst->dst[0].reg);
    sm_put(made, 2, &a);
    sm_put(made, 3, &mask);
    sm_put(made, 4, &b);
    machine_put_number(made, 5, 0xe2);
}

static void permute(struct selector *s, const struct inst *inst) {
    static const uint8_t modes[] = {[MODE_NONE] = 0, [MODE_F4E] = 1, [MODE_B4E] = 2, [MODE_RC8] = 3,
                                    [MODE_ECL] = 4,  [MODE_ECR] = 5, [MODE_RC16] = 6};
    struct source a = sm_plain(s, &inst->src[0]), b = sm_plain(s, &inst->src[1]), c = sm_plain(s, &inst->src[2]);
    sm_fit(s, &a, &c, &b, false);
    struct machine_inst *made = sm_emit_to(s, TURING_PRMT, inst, inst->dst[0].reg);
    sm_put(made, 1, &a);
    sm_put(made, 2, &c);
    sm_put(made, 3, &b);
    sm_word(made, TURING_WORDS_PERMUTE, modes[inst->mode]);
}

enum status sm_bits(struct selector *s, const struct inst *inst) {
    struct source a = {.kind = SOURCE_ZERO};
    if (inst->op == OP_POPC || inst->op == OP_BREV || inst->op == OP_ABS || inst->op == OP_NEG)
        a = sm_plain(s, &inst->src[0]);
    switch ((enum op)inst->op) {
    case OP_NEG:
        a = sm_in_register(s, a, NULL), a.negated = !a.negated;
        emit_sum(s, inst, &a, 0);
        break;
    case OP_ABS: emit_one(s, TURING_IABS, inst, inst->dst[0].reg, &a); break;
    case OP_POPC: emit_one(s, TURING_POPC, inst, inst->dst[0].reg, &a); break;
    case OP_BREV: emit_one(s, TURING_BREV, inst, inst->dst[0].reg, &a); break;
    case OP_CLZ: leading_zeros(s, inst); break;
    case OP_BFIND: find_bit(s, inst); break;
    case OP_BFE: extract_field(s, inst); break;
    case OP_BFI: insert_field(s, inst); break;
    case OP_PRMT: permute(s, inst); break;
    default: return sm_refused(s, inst, op_name((enum op)inst->op));
    }
    return STATUS_OK;
}
