/* SPDX-License-Identifier: Apache-2.0 */
/* What each Fermi instruction is in the internal form: here predicates, barriers, votes and control flow. */
#include "translate/fermi.h"

/* ---- predicates ---- */

/* One destination where the other is pt; the first is a test of no use where only the other is wanted. */
static unsigned predicate_targets(struct translation *t, struct operand targets[2]) {
    const struct native_operand *operands = t->inst->operands;
    for (unsigned i = 0; i < 2; i++)
        targets[i] = operands[i].reg == FERMI_PT ? (struct operand){.kind = OPERAND_NONE}
                                                 : translate_register(REGISTER_P + operands[i].reg);
    if (operands[0].reg == FERMI_PT)
        targets[0] = translate_test(t);
    return operands[1].reg == FERMI_PT ? 1 : 2;
}

/* With a third source only where it says something. */
static void put_predicates(struct translation *t, struct operation operation, const struct operand sources[3],
                           unsigned count) {
    struct operand targets[2];
    const unsigned target_count = predicate_targets(t, targets);
    translate_put(t, &operation, targets, target_count, sources, count);
}

static void set_predicates(struct translation *t, enum type type, enum native_modifier compare,
                           enum native_modifier combine, unsigned flags) {
    bool always;
    const struct operand a = translate_source(t, 2, type), b = translate_source(t, 3, type);
    const struct operand sources[3] = {a, b, translate_predicate(&t->inst->operands[4], &always)};
    const bool plain = always && combine == MODIFIER_AND;
    put_predicates(t,
                   (struct operation){.op = OP_SETP,
                                      .type = type,
                                      .compare = translate_compare(compare),
                                      .boolop = plain ? BOOL_NONE : translate_boolop(combine),
                                      .flags = flags},
                   sources, plain ? 2 : 3);
}

/* a, b, c as the text has them are the third, the second and the first: (c word b) word a. */
static struct operation combination(struct translation *t, unsigned first, struct operand sources[3]) {
    bool always;
    for (unsigned i = 0; i < 3; i++)
        sources[i] = translate_predicate(&t->inst->operands[first + 2 - i], &always);
    const enum mode mode = translate_word(t, 0) == MODIFIER_AND  ? MODE_AND
                           : translate_word(t, 0) == MODIFIER_OR ? MODE_OR
                                                                 : MODE_XOR;
    return (struct operation){
        .op = OP_PSETP, .type = TYPE_PRED, .mode = mode, .boolop = translate_boolop(translate_word(t, 1))};
}

static void combine_predicates(struct translation *t) {
    struct operand sources[3];
    put_predicates(t, combination(t, 2, sources), sources, 3);
}

/* PSET: 0 or -1, as ISET has it. */
static void combine_to_register(struct translation *t) {
    struct operand sources[3];
    const struct operand test = translate_test(t);
    const struct operation operation = combination(t, 1, sources);
    translate_put(t, &operation, &test, 1, sources, 3);
    translate_3(t, (struct operation){.op = OP_SELP, .type = TYPE_B32}, target(t), translate_number(UINT32_MAX),
                translate_number(0), test);
}

static void set_register(struct translation *t, enum type from, enum native_modifier compare,
                         enum native_modifier combine, unsigned flags) {
    bool always;
    const struct operand a = translate_source(t, 1, from), b = translate_source(t, 2, from);
    const struct operand c = translate_predicate(&t->inst->operands[3], &always);
    translate_3(t,
                (struct operation){.op = OP_SET,
                                   .type = translate_has(t, 0) ? TYPE_F32 : TYPE_U32,
                                   .stype = from,
                                   .compare = translate_compare(compare),
                                   .boolop = translate_boolop(combine),
                                   .flags = flags},
                target(t), a, b, c);
}

/* ---- the block and the warp ---- */

static void barrier(struct translation *t, unsigned first, enum mode mode) {
    bool always;
    struct operand sources[3] = {translate_source(t, first, TYPE_U32), {.kind = OPERAND_NONE}};
    if (t->inst->operands[first + 1].kind != NATIVE_NONE)
        sources[1] = translate_source(t, first + 1, TYPE_U32);
    struct operand d = {.kind = OPERAND_NONE};
    const bool reduces = mode != MODE_SYNC && mode != MODE_ARRIVE;
    if (reduces) {
        sources[2] = translate_predicate(&t->inst->operands[4], &always);
        const struct native_operand *predicate = &t->inst->operands[1];
        if (mode == MODE_RED_POPC)
            d = target(t);
        else if (predicate->kind == NATIVE_PREDICATE && predicate->reg != FERMI_PT)
            d = translate_register(REGISTER_P + predicate->reg);
    }
    const enum type type = !reduces ? TYPE_NONE : mode == MODE_RED_POPC ? TYPE_U32 : TYPE_PRED;
    translate_put(t, &(struct operation){.op = OP_BAR, .type = type, .mode = mode, .flags = FLAG_ALIGNED}, &d, reduces,
                  sources, reduces ? 3 : 2);
}

/* Nobody takes the result: a barrier. */
static void reduce(struct translation *t) {
    const bool counts = translate_word(t, 0) == MODIFIER_POPC;
    const bool wanted = counts ? t->inst->operands[0].reg != FERMI_RZ
                               : t->inst->operands[1].kind != NATIVE_NONE && t->inst->operands[1].reg != FERMI_PT;
    barrier(t, 2,
            !wanted                                ? MODE_SYNC
            : counts                               ? MODE_RED_POPC
            : translate_word(t, 0) == MODIFIER_AND ? MODE_RED_AND
                                                   : MODE_RED_OR);
}

static void vote(struct translation *t) {
    bool always;
    const struct native_operand *operands = t->inst->operands;
    const struct operand asked = translate_predicate(&operands[2], &always);
    const bool ballot = operands[0].reg != FERMI_RZ;
    if (ballot && translate_word(t, 0) != MODIFIER_ANY) {
        translate_refuse(t, "VOTE with a register but for .ANY");
        return;
    }
    const enum mode mode = translate_word(t, 0) == MODIFIER_ALL   ? MODE_ALL
                           : translate_word(t, 0) == MODIFIER_ANY ? MODE_ANY
                                                                  : MODE_UNI;
    if (operands[1].reg != FERMI_PT || !ballot)
        translate_1(t, (struct operation){.op = OP_VOTE, .type = TYPE_PRED, .mode = mode},
                    operands[1].reg == FERMI_PT ? translate_test(t) : translate_register(REGISTER_P + operands[1].reg),
                    asked);
    if (ballot)
        translate_1(t, (struct operation){.op = OP_VOTE, .type = TYPE_B32, .mode = MODE_BALLOT}, target(t), asked);
}

static void control(struct translation *t, enum op op, enum mode mode) {
    translate_put(t, &(struct operation){.op = op, .mode = mode}, NULL, 0, NULL, 0);
}

static void branch_indexed(struct translation *t, struct operand from, int64_t offset) {
    const struct operand address = translate_scratch(t);
    const uint32_t base = t->inst->address + FERMI_INST_BYTES + (uint32_t)offset;
    translate_2(t, (struct operation){.op = OP_ADD, .type = TYPE_U32}, address, from, translate_number(base));
    translate_branch_to_way(t, address);
}

/* The word of the table is the offset. */
static void branch_by_table(struct translation *t) {
    const struct operand word = translate_scratch(t);
    translate_constant(t, &t->inst->operands[0], TYPE_B32, &word, 1);
    branch_indexed(t, word, 0);
}

void translate_fermi(struct translation *t) {
    bool always;
    switch ((enum fermi_row)t->inst->row) {
    case FERMI_MOV:
    case FERMI_MOV32I:
    case FERMI_S2R: translate_move(t, target(t), translate_source(t, 1, TYPE_B32)); break;
    case FERMI_SEL: {
        const struct operand a = translate_source(t, 1, TYPE_B32), b = translate_source(t, 2, TYPE_B32);
        translate_3(t, (struct operation){.op = OP_SELP, .type = TYPE_B32}, target(t), a, b,
                    translate_predicate(&t->inst->operands[3], &always));
        break;
    }
    case FERMI_PRMT: {
        const struct operand a = translate_source(t, 1, TYPE_B32), c = translate_source(t, 3, TYPE_B32);
        translate_3(t, (struct operation){.op = OP_PRMT, .type = TYPE_B32}, target(t), a, c,
                    translate_source(t, 2, TYPE_B32));
        break;
    }
    case FERMI_ISETP:
        if (translate_has(t, 2))
            translate_refuse(t, "ISETP with .X");
        else
            set_predicates(t, integer(translate_has(t, 1)), translate_word(t, 0), translate_word(t, 3), 0);
        break;
    case FERMI_FSETP:
        set_predicates(t, TYPE_F32, translate_word(t, 0), translate_word(t, 2), flag(translate_has(t, 1), FLAG_FTZ));
        break;
    case FERMI_DSETP: set_predicates(t, TYPE_F64, translate_word(t, 0), translate_word(t, 1), 0); break;
    case FERMI_PSETP: combine_predicates(t); break;
    case FERMI_PSET: combine_to_register(t); break;
    case FERMI_BPT: translate_refuse(t, "a breakpoint"); break;
    case FERMI_ISET:
        set_register(t, integer(translate_has(t, 2)), translate_word(t, 1), translate_word(t, 3), 0);
        break;
    case FERMI_FSET:
        set_register(t, TYPE_F32, translate_word(t, 1), translate_word(t, 3), flag(translate_has(t, 2), FLAG_FTZ));
        break;
    case FERMI_BAR_SYNC: barrier(t, 0, MODE_SYNC); break;
    case FERMI_BAR_ARV: barrier(t, 0, MODE_ARRIVE); break;
    case FERMI_BAR_RED: reduce(t); break;
    case FERMI_VOTE: vote(t); break;
    case FERMI_BRA: control(t, OP_BRA, translate_has(t, 0) ? MODE_UNANIMOUS : MODE_NONE); break;
    case FERMI_BRX: branch_indexed(t, translate_source(t, 0, TYPE_B32), t->inst->operands[1].value); break;
    case FERMI_BRX_TABLE: branch_by_table(t); break;
    case FERMI_CAL: control(t, OP_CALL, MODE_NONE); break;
    case FERMI_RET: control(t, OP_RET, MODE_NONE); break;
    case FERMI_EXIT: control(t, OP_EXIT, MODE_NONE); break;
    case FERMI_SSY: control(t, OP_SSY, MODE_NONE); break;
    case FERMI_PBK: control(t, OP_PBK, MODE_NONE); break;
    case FERMI_PCNT: control(t, OP_PCNT, MODE_NONE); break;
    case FERMI_PRET: control(t, OP_PRET, MODE_NONE); break;
    case FERMI_BRK: control(t, OP_BRK, MODE_NONE); break;
    case FERMI_CONT: control(t, OP_CONT, MODE_NONE); break;
    case FERMI_NOP: control(t, OP_NOP, MODE_NONE); break;
    default:
        if (!translate_fermi_memory(t))
            translate_fermi_arithmetic(t);
        break;
    }
}
