/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers, votes, shuffles and special registers for sm_75 on. */
#include "lower/select_turing.h"

bool sm_special(uint32_t special, unsigned *number) {
    static const struct {
        uint8_t special, number;
    } numbers[] = {{SPECIAL_TID_X, 0x21},          {SPECIAL_TID_Y, 0x22},           {SPECIAL_TID_Z, 0x23},
                   {SPECIAL_CTAID_X, 0x25},        {SPECIAL_CTAID_Y, 0x26},         {SPECIAL_CTAID_Z, 0x27},
                   {SPECIAL_LANEID, 0x00},         {SPECIAL_LANEMASK_EQ, 0x38},     {SPECIAL_LANEMASK_LT, 0x39},
                   {SPECIAL_LANEMASK_LE, 0x3a},    {SPECIAL_LANEMASK_GT, 0x3b},     {SPECIAL_LANEMASK_GE, 0x3c},
                   {SPECIAL_SMID, 0x43},           {SPECIAL_CLOCK, 0x50},           {SPECIAL_CLOCK64, 0x50},
                   {SPECIAL_CLOCK_HI, 0x51},       {SPECIAL_GLOBALTIMER, 0x52},     {SPECIAL_GLOBALTIMER_LO, 0x52},
                   {SPECIAL_GLOBALTIMER_HI, 0x53}, {SPECIAL_TOTAL_SMEM_SIZE, 0x32}, {SPECIAL_WARPID, 0x03},
                   {SPECIAL_NWARPID, 0x02}};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].special == special) {
            *number = numbers[i].number;
            return true;
        }
    return false;
}

/* ---- the block ---- */

static unsigned barrier_word(enum mode mode) {
    return mode == MODE_ARRIVE ? 1 : mode == MODE_RED_POPC || mode == MODE_RED_AND || mode == MODE_RED_OR ? 2 : 0;
}

/* What a barrier has counted or agreed on. */
static void read_result(struct selector *s, const struct inst *inst) {
    enum { RESULT = 2 };
    const bool counts = inst->mode == MODE_RED_POPC;
    if (inst->dst_count == 0 || inst->dst[0].kind != OPERAND_REG)
        return;
    struct machine_inst *made = sm_emit(s, TURING_B2R, inst);
    machine_put_unit(made, counts ? 0 : 1, inst->dst[0].reg);
    sm_word(made, TURING_WORDS_BARRIER_STATE, RESULT);
}

/* Both in a register: the number in its low bits, how many threads from bit 16 on. */
static struct source number_and_count(struct selector *s, const struct inst *inst, struct source number,
                                      struct source count) {
    const struct source up = sm_number(1u << 16), both = sm_unit(machine_unit(s->machine, false));
    number = sm_in_register(s, number, NULL), count = sm_in_register(s, count, NULL);
    struct machine_inst *made = sm_emit_to(s, TURING_IMAD, inst, both.unit);
    sm_put(made, 2, &count);
    sm_put(made, 3, &up);
    sm_put(made, 4, &number);
    return both;
}

/* Its number and how many threads: of numbers there are places in the instruction. */
static enum status barrier(struct selector *s, const struct inst *inst) {
    const unsigned word = barrier_word((enum mode)inst->mode);
    const bool has_count = inst->src_count > 1 && inst->src[1].kind != OPERAND_NONE;
    struct source number = sm_plain(s, &inst->src[0]);
    struct source count = has_count ? sm_plain(s, &inst->src[1]) : sm_number(0);
    const bool knows_number = number.kind == SOURCE_IMMEDIATE || number.kind == SOURCE_ZERO;
    const bool knows_count = count.kind == SOURCE_IMMEDIATE || count.kind == SOURCE_ZERO;
    const enum turing_row_id row = knows_number  ? (knows_count ? TURING_BAR : TURING_BAR_IR)
                                   : knows_count ? TURING_BAR_RI
                                                 : TURING_BAR_R;
    if (row == TURING_BAR_R)
        number = count = number_and_count(s, inst, number, count);
    if (!knows_number)
        number = sm_in_register(s, number, NULL);
    if (!knows_count)
        count = sm_in_register(s, count, NULL);
    struct machine_inst *made = sm_emit(s, row, inst);
    if (knows_number)
        machine_put_number(made, 0, number.value);
    else
        sm_put(made, 0, &number);
    if (knows_count)
        machine_put_number(made, 1, count.value);
    else
        sm_put(made, 1, &count);
    sm_word(made, TURING_WORDS_BARRIER, word);
    sm_word(made, TURING_WORDS_DEFER_BLOCKING, word != 1);
    if (word != 2) {
        made->turing->modifiers[1] = TURING_NO_WORD; /* what is reduced */
        return STATUS_OK;
    }
    sm_put_test(made, 2, &inst->src[2]);
    sm_word(made, TURING_WORDS_BARRIER_REDUCE, inst->mode == MODE_RED_POPC ? 0 : inst->mode == MODE_RED_AND ? 1 : 2);
    read_result(s, inst);
    return STATUS_OK;
}

static enum status memory_fence(struct selector *s, const struct inst *inst) {
    struct machine_inst *made = sm_emit(s, TURING_MEMBAR, inst);
    sm_word(made, TURING_WORDS_FENCE, 0);
    sm_word(made, TURING_WORDS_SCOPE, inst->scope == SCOPE_CTA ? 0 : inst->scope == SCOPE_SYS ? 3 : 2);
    return STATUS_OK;
}

/* ---- the warp ---- */

/* Lanes of a mask that is no constant of all are brought together first. */
static void meet(struct selector *s, const struct inst *inst, const struct operand *mask) {
    const struct source source = sm_plain(s, mask);
    if (source.kind == SOURCE_IMMEDIATE && source.value == UINT32_MAX)
        return;
    if (source.kind == SOURCE_IMMEDIATE) {
        machine_put_number(sm_emit(s, TURING_WARPSYNC, inst), 1, source.value);
        return;
    }
    const struct source in = sm_in_register(s, source, NULL);
    sm_put(sm_emit(s, TURING_WARPSYNC_R, inst), 1, &in);
}

static enum status vote(struct selector *s, const struct inst *inst) {
    const bool is_ballot = inst->mode == MODE_BALLOT;
    if (inst->flags & FLAG_SYNC && inst->src_count > 1)
        meet(s, inst, &inst->src[1]);
    struct machine_inst *made = sm_emit(s, TURING_VOTE, inst);
    if (inst->dst[0].kind == OPERAND_REG)
        machine_put_unit(made, is_ballot ? 0 : 1, inst->dst[0].reg);
    sm_put_test(made, 2, &inst->src[0]);
    sm_word(made, TURING_WORDS_VOTE, inst->mode == MODE_ALL ? 0 : inst->mode == MODE_UNI ? 2 : 1);
    return STATUS_OK;
}

static enum status active_mask(struct selector *s, const struct inst *inst) {
    struct machine_inst *made = sm_emit_to(s, TURING_VOTE, inst, inst->dst[0].reg);
    sm_word(made, TURING_WORDS_VOTE, 1);
    return STATUS_OK;
}

static enum status shuffle(struct selector *s, const struct inst *inst) {
    static const uint8_t words[] = {[MODE_IDX] = 0, [MODE_UP] = 1, [MODE_DOWN] = 2, [MODE_BFLY] = 3};
    if (inst->flags & FLAG_SYNC && inst->src_count > 3)
        meet(s, inst, &inst->src[3]);
    const struct source a = sm_register(s, &inst->src[0]);
    struct source b = sm_plain(s, &inst->src[1]), c = sm_plain(s, &inst->src[2]);
    const bool b_known = b.kind == SOURCE_ZERO || (b.kind == SOURCE_IMMEDIATE && b.value < 32);
    const bool c_known = c.kind == SOURCE_ZERO || (c.kind == SOURCE_IMMEDIATE && c.value < 1 << 13);
    if (!b_known)
        b = sm_in_register(s, b, NULL);
    if (!c_known)
        c = sm_in_register(s, c, NULL);
    const enum turing_row_id row =
        b_known ? (c_known ? TURING_SHFL : TURING_SHFL_IR) : (c_known ? TURING_SHFL_RI : TURING_SHFL_RR);
    struct machine_inst *made = sm_emit_to(s, row, inst, inst->dst[0].reg);
    if (inst->dst_count > 1 && inst->dst[1].kind == OPERAND_REG)
        machine_put_unit(made, 0, inst->dst[1].reg);
    sm_put(made, 2, &a);
    if (b_known)
        machine_put_number(made, 3, b.value);
    else
        sm_put(made, 3, &b);
    if (c_known)
        machine_put_number(made, 4, c.value);
    else
        sm_put(made, 4, &c);
    sm_word(made, TURING_WORDS_SHUFFLE, words[inst->mode]);
    return STATUS_OK;
}

static enum status match(struct selector *s, const struct inst *inst) {
    const bool is_wide = type_bytes((enum type)inst->type) == 8;
    const unsigned mask = is_wide ? 2 : 1;
    if (inst->src_count > mask)
        meet(s, inst, &inst->src[mask]);
    const uint32_t a = sm_tuple_of(s, inst, inst->src, is_wide ? 2 : 1);
    struct machine_inst *made = sm_emit(s, TURING_MATCH, inst);
    if (inst->dst[0].kind == OPERAND_REG)
        machine_put_unit(made, 1, inst->dst[0].reg);
    if (inst->dst_count > 1 && inst->dst[1].kind == OPERAND_REG)
        machine_put_unit(made, 0, inst->dst[1].reg);
    sm_put_tuple(made, 2, a, is_wide ? 2 : 1);
    sm_word(made, TURING_WORDS_MATCH, inst->mode == MODE_ANY);
    sm_word(made, TURING_WORDS_U64, is_wide);
    return STATUS_OK;
}

static unsigned reduce_word(enum atom atom) {
    switch (atom) {
    case ATOM_OR: return 1;
    case ATOM_XOR: return 2;
    case ATOM_ADD: return 3;
    case ATOM_MIN: return 4;
    case ATOM_MAX: return 5;
    default: return 0;
    }
}

/* The result is in a uniform register, and read from there at once. */
static enum status reduce(struct selector *s, const struct inst *inst) {
    enum { RESULT = 6 }; /* UR4 and UR5 hold the descriptor */
    if (inst->src_count > 1)
        meet(s, inst, &inst->src[1]);
    const struct source a = sm_register(s, &inst->src[0]);
    struct machine_inst *made = sm_emit(s, TURING_REDUX, inst);
    made->turing->operands[0].reg = RESULT;
    sm_put(made, 1, &a);
    sm_word(made, TURING_WORDS_REDUX, reduce_word((enum atom)inst->atom));
    sm_word(made, TURING_WORDS_REDUX_TYPE, inst->type == TYPE_S32);
    if (inst->dst[0].kind != OPERAND_REG)
        return STATUS_OK;
    struct machine_inst *move = sm_emit_to(s, TURING_MOV, inst, inst->dst[0].reg);
    move->turing->operands[1] = (struct turing_operand){.kind = TURING_UNIFORM, .reg = RESULT};
    return STATUS_OK;
}

enum status sm_warps(struct selector *s, const struct inst *inst) {
    switch ((enum op)inst->op) {
    case OP_BAR: return barrier(s, inst);
    case OP_MEMBAR: return memory_fence(s, inst);
    case OP_VOTE: return vote(s, inst);
    case OP_ACTIVEMASK: return active_mask(s, inst);
    case OP_SHFL: return shuffle(s, inst);
    case OP_MATCH: return match(s, inst);
    case OP_REDUX: return reduce(s, inst);
    case OP_BAR_WARP: meet(s, inst, &inst->src[0]); return STATUS_OK;
    default: return sm_refused(s, inst, op_name((enum op)inst->op));
    }
}
