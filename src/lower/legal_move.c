/* SPDX-License-Identifier: Apache-2.0 */
/* Moves, which also pack and unpack vectors, and choices by a sign. */
#include "lower/legal.h"

/* mov.b64 of four halves. */
static enum status legal_move_quarters(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    if (inst->src_count != 4 && inst->dst_count != 4)
        return legal_refuse(l, inst, "mov of a vector of small elements in 64 bits");
    if (inst->src_count == 4) {
        struct operand words[2];
        for (unsigned i = 0; i < 2; i++) {
            const struct operand low = legal_narrow(l, &inst->src[2 * i], TYPE_U16);
            const struct operand high = legal_low(l, &inst->src[2 * i + 1]);
            words[i] = build2(to, OP_OR, TYPE_B32, low, build2(to, OP_SHL, TYPE_B32, high, constant(16)));
        }
        legal_put_wide(l, &inst->dst[0], (struct wide){words[0], words[1]});
        return STATUS_OK;
    }
    const struct wide value = legal_wide(l, &inst->src[0]);
    const struct operand words[2] = {value.lo, value.hi};
    for (unsigned i = 0; i < 4; i++)
        legal_put(l, &inst->dst[i], build2(to, OP_SHR, TYPE_U32, words[i / 2], constant(16 * (i % 2))));
    return STATUS_OK;
}

/* mov: also packs and unpacks vectors. */
enum status legal_move(struct legal *l, const struct inst *inst) {
    struct inst_builder *to = &l->at;
    const unsigned bytes = type_bytes((enum type)inst->type);
    if (inst->dst_count == 1 && inst->src_count == 1) {
        const struct operand *source = &inst->src[0];
        if (legal_is_wide(l, &inst->dst[0]))
            legal_put_wide(l, &inst->dst[0], legal_wide(l, source));
        else
            legal_put(l, &inst->dst[0], legal_low(l, source));
        return STATUS_OK;
    }
    if (bytes == 8 && (inst->dst_count == 2 || inst->src_count == 2)) {
        if (inst->src_count == 2) {
            const struct operand lo = legal_low(l, &inst->src[0]), hi = legal_low(l, &inst->src[1]);
            legal_put_wide(l, &inst->dst[0], (struct wide){lo, hi});
            return STATUS_OK;
        }
        struct wide value = legal_wide(l, &inst->src[0]);
        legal_put(l, &inst->dst[0], value.lo);
        legal_put(l, &inst->dst[1], value.hi);
        return STATUS_OK;
    }
    if (bytes > 4)
        return legal_move_quarters(l, inst);
    const unsigned parts = inst->src_count > 1 ? inst->src_count : inst->dst_count, each = 8 * bytes / parts;
    if (inst->src_count > 1) {
        struct operand value = constant(0);
        for (unsigned i = 0; i < parts; i++) {
            const struct operand part = legal_narrow(l, &inst->src[i], each == 8 ? TYPE_U8 : TYPE_U16);
            value = build2(to, OP_OR, TYPE_B32, value, build2(to, OP_SHL, TYPE_B32, part, constant(each * i)));
        }
        legal_put(l, &inst->dst[0], value);
        return STATUS_OK;
    }
    const struct operand held = operand_register(body_register(l->to, TYPE_B32));
    build_move(to, held, legal_low(l, &inst->src[0]));
    for (unsigned i = parts; i-- > 0;)
        legal_put(l, &inst->dst[i], build2(to, OP_SHR, TYPE_U32, held, constant(each * i)));
    return STATUS_OK;
}

enum status legal_slct(struct legal *l, const struct inst *inst) {
    const bool is_float = inst->stype == TYPE_F32;
    const struct operand chosen =
        build_compare(&l->at, CMP_GE, is_float ? TYPE_F32 : TYPE_S32, legal_low(l, &inst->src[2]), constant(0));
    struct body_block *block = &l->to->blocks.items[l->at.block];
    block->code.items[block->code.count - 1].flags = inst->flags & FLAG_FTZ;
    if (type_bytes((enum type)inst->type) == 8) {
        const struct wide other = legal_wide(l, &inst->src[1]), first = legal_wide(l, &inst->src[0]);
        legal_put_wide(l, &inst->dst[0], wide_select(&l->at, chosen, first, other));
        return STATUS_OK;
    }
    const struct operand no = legal_low(l, &inst->src[1]), yes = legal_low(l, &inst->src[0]);
    legal_put(l, &inst->dst[0], build_select(&l->at, chosen, yes, no));
    return STATUS_OK;
}
