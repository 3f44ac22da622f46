/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of f16 or bf16 for sm_75 on: arithmetic, comparisons, and between them and floats. */
#include "lower/select_turing.h"

enum { LOW_HALF = 2 }; /* what an operand selects: its low half, twice */

static void finish(struct machine_inst *made, const struct inst *inst) {
    sm_word(made, TURING_WORDS_BF16_V2, inst->type == TYPE_BF16X2);
    sm_word(made, TURING_WORDS_FTZ, (inst->flags & FLAG_FTZ) != 0);
    sm_word(made, TURING_WORDS_SAT, (inst->flags & FLAG_SAT) != 0);
    sm_word(made, TURING_WORDS_RELU, (inst->flags & FLAG_RELU) != 0);
    sm_word(made, TURING_WORDS_NAN, (inst->flags & FLAG_NAN) != 0);
    sm_word(made, TURING_WORDS_XORSIGN, (inst->flags & FLAG_XORSIGN) != 0);
}

static enum status function(struct selector *s, const struct inst *inst) {
    enum { EX2 = 2, TANH = 9 };
    const struct source a = sm_register(s, &inst->src[0]);
    struct machine_inst *made = sm_emit_to(s, TURING_MUFU, inst, inst->dst[0].reg);
    sm_put(made, 1, &a);
    sm_word(made, TURING_WORDS_FUNCTION, inst->op == OP_EX2 ? EX2 : TANH);
    sm_word(made, TURING_WORDS_F16, 1);
    return STATUS_OK;
}

enum status sm_half(struct selector *s, const struct inst *inst) {
    enum turing_row_id row;
    struct source sources[3];
    const bool is_least = inst->op == OP_MIN, chooses = is_least || inst->op == OP_MAX;
    switch ((enum op)inst->op) {
    case OP_ADD:
    case OP_SUB: row = TURING_HADD2; break;
    case OP_MUL: row = TURING_HMUL2; break;
    case OP_FMA: row = TURING_HFMA2; break;
    case OP_MIN:
    case OP_MAX: row = TURING_HMNMX2; break;
    default: return function(s, inst);
    }
    for (unsigned i = 0; i < inst->src_count; i++)
        sources[i] = sm_register(s, &inst->src[i]);
    struct machine_inst *made = sm_emit_to(s, row, inst, inst->dst[0].reg);
    for (unsigned i = 0; i < inst->src_count; i++) {
        sources[i].negated = i == 1 && inst->op == OP_SUB;
        sources[i].absolute = (inst->flags & FLAG_XORSIGN) != 0;
        sm_put(made, 1 + i, &sources[i]);
    }
    finish(made, inst);
    if (chooses || inst->flags & FLAG_RELU)
        sm_put_test(made, chooses ? 3 : 4, &(struct operand){.kind = OPERAND_IMM, .imm = is_least || !chooses});
    return STATUS_OK;
}

struct machine_inst *sm_compare_halves(struct selector *s, const struct inst *inst) {
    const struct source a = sm_register(s, &inst->src[0]), b = sm_register(s, &inst->src[1]);
    struct machine_inst *made = sm_emit(s, TURING_HSETP2, inst);
    sm_put(made, 2, &a);
    sm_put(made, 3, &b);
    sm_word(made, TURING_WORDS_FTZ, (inst->flags & FLAG_FTZ) != 0);
    if (inst->dst_count > 1)
        machine_put_unit(made, 1, inst->dst[1].reg);
    return made;
}

void sm_widen_half(struct selector *s, const struct inst *inst) {
    const struct source a = sm_register(s, &inst->src[0]);
    const struct source minus_zero = {.kind = SOURCE_ZERO, .negated = true};
    struct machine_inst *made = sm_emit_to(s, TURING_HADD2, inst, inst->dst[0].reg);
    sm_put(made, 1, &minus_zero);
    sm_put(made, 2, &a);
    made->turing->operands[2].select = LOW_HALF;
    sm_word(made, TURING_WORDS_F32, 1);
}

void sm_pack_halves(struct selector *s, const struct inst *inst, unsigned round) {
    const struct source a = sm_register(s, &inst->src[0]), b = sm_register(s, &inst->src[1]);
    struct machine_inst *made = sm_emit_to(s, TURING_F2FP, inst, inst->dst[0].reg);
    sm_put(made, 1, &a);
    sm_put(made, 2, &b);
    sm_word(made, TURING_WORDS_PACK_TYPE, inst->type == TYPE_BF16X2);
    sm_word(made, TURING_WORDS_PACK, 0);
    sm_word(made, TURING_WORDS_ROUND, round);
    sm_word(made, TURING_WORDS_RELU, (inst->flags & FLAG_RELU) != 0);
}
