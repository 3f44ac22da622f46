/* SPDX-License-Identifier: Apache-2.0 */
/* Who reads a copy reads what it was made of, within a block and as long as neither is written. Operands that lie side by
 * side (addresses, vectors, doubles) are left as they are. */
#include "lower/legal.h"

struct copies {
    uint32_t *source; /* by register: what it is a copy of */
    uint32_t *known;  /* by register: the stamp under which `source` holds; 0: none */
    uint32_t *copied; /* by register: the stamp under which somebody was made a copy of it */
};

/* Whether it reads single words, one by one. */
static bool reads_words(const struct inst *inst) {
    switch ((enum op)inst->op) {
    case OP_LD:
    case OP_ST:
    case OP_ATOM:
    case OP_RED: return false;
    default: return inst->dst_count <= 1 && inst->type != TYPE_F64 && inst->stype != TYPE_F64 && inst->src_count <= 3;
    }
}

static void forward(struct copies *copies, struct body_block *block, uint32_t *stamp) {
    ++*stamp;
    for (unsigned i = 0; i < block->code.count; i++) {
        struct inst *inst = &block->code.items[i];
        for (unsigned k = 0; k < inst->src_count && reads_words(inst); k++) {
            struct operand *operand = &inst->src[k];
            if (operand->kind == OPERAND_REG && copies->known[operand->reg] == *stamp &&
                copies->known[copies->source[operand->reg]] != *stamp)
                operand->reg = copies->source[operand->reg];
        }
        for (unsigned k = 0; k < inst->dst_count; k++) {
            if (inst->dst[k].kind != OPERAND_REG)
                continue;
            copies->known[inst->dst[k].reg] = 0;
            if (copies->copied[inst->dst[k].reg] == *stamp) /* copies of what it was: all are forgotten */
                ++*stamp;
        }
        const bool is_copy = inst->op == OP_MOV && inst->guard < 0 && inst->dst_count == 1 && inst->src_count == 1 &&
                             inst->type != TYPE_PRED && inst->dst[0].kind == OPERAND_REG &&
                             inst->src[0].kind == OPERAND_REG && inst->src[0].reg != inst->dst[0].reg;
        if (is_copy) {
            copies->source[inst->dst[0].reg] = inst->src[0].reg;
            copies->known[inst->dst[0].reg] = *stamp;
            copies->copied[inst->src[0].reg] = *stamp;
        }
    }
}

void legal_forward_copies(struct body *body) {
    struct copies copies = {.source = ARENA_ARRAY(body->arena, uint32_t, body->registers.count + 1u),
                            .known = ARENA_ARRAY(body->arena, uint32_t, body->registers.count + 1u),
                            .copied = ARENA_ARRAY(body->arena, uint32_t, body->registers.count + 1u)};
    uint32_t stamp = 0;
    for (uint32_t b = 0; b < body->blocks.count; b++)
        forward(&copies, &body->blocks.items[b], &stamp);
    body_clean(body);
}
