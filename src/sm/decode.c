/* SPDX-License-Identifier: Apache-2.0 */
/* What timing needs of each instruction: its unit, latency, interval, registers. */
#include "isa/intrinsic.h"
#include "sm/state.h"

/* By type: integers, floating point, f64. */
enum { WORK_INTEGER, WORK_FLOAT, WORK_DOUBLE, WORK_TYPES };

/* Where work is done, and its latency and interval: keys, by their place in struct sm_params. */
struct work {
    enum sm_unit unit;
    size_t latency, interval;
};
#define WORK(unit, latency, interval)                                                                                  \
    { SM_UNIT_##unit, offsetof(struct sm_params, latency_##latency), offsetof(struct sm_params, interval_##interval) }
#define WORK_OF_ALL(unit, latency, interval)                                                                           \
    { WORK(unit, latency, interval), WORK(unit, latency, interval), WORK(unit, latency, interval) }

/* Memory and what accumulates there stand apart: what they take is known when they are executed. */
static const struct work works[CLASS_MEMORY][WORK_TYPES] = {
    [CLASS_ADD] = {WORK(INT, int_add, int), WORK(SP, fp_add, fp), WORK(DP, dp, dp)},
    [CLASS_MINMAX] = {WORK(INT, int_max, int_mul), WORK(SP, fp_max, fp), WORK(DP, dp_max, dp)},
    [CLASS_MUL] = {WORK(INT, int_mul, int_mul), WORK(SP, fp_mul, fp), WORK(DP, dp, dp)},
    [CLASS_MAD] = {WORK(INT, int_mad, int), WORK(SP, fp_mad, fp), WORK(DP, dp, dp)},
    [CLASS_DIV] = {WORK(SFU, int_div, int_div), WORK(SFU, fp_div, fp_div), WORK(DP, dp_div, dp_div)},
    [CLASS_SPECIAL] = {WORK(SFU, sfu, sfu), WORK(SFU, sfu, sfu), WORK(SFU, dp_div, sfu)},
    [CLASS_LOGIC] = WORK_OF_ALL(INT, logic, logic),
    [CLASS_CVT] = {WORK(INT, logic, logic), WORK(SFU, cvt, cvt), WORK(SFU, cvt, cvt)},
    [CLASS_WARP] = WORK_OF_ALL(SP, shuffle, shuffle),
    [CLASS_TRAVERSE] = WORK_OF_ALL(INT, int_add, int),
};

static uint16_t cycles_of(const struct sm_params *params, size_t field) {
    return (uint16_t) * (const uint32_t *)((const char *)params + field);
}

static unsigned work_type(const struct inst *inst, enum op_class class) {
    const bool wide = inst->type == TYPE_F64 || inst->stype == TYPE_F64;
    if (!type_is_float(inst->type) && !(class == CLASS_CVT && type_is_float(inst->stype)))
        return WORK_INTEGER;
    return wide ? WORK_DOUBLE : WORK_FLOAT;
}

/* The cycles are those of a narrow instruction without pipeline registers, until add_width. */
static void classify(struct timed *timed, const struct inst *inst, const struct sm_params *p) {
    const enum op_class class = op_class((enum op)inst->op);
    if (class >= CLASS_MEMORY || intrinsic_is_of_heap(intrinsic_of(inst))) {
        const uint32_t before = class == CLASS_ACCUMULATE ? p->latency_prefix_sum : 0;
        timed->unit = SM_UNIT_MEMORY;
        timed->done_cycles = (uint16_t)(p->const_latency + before), timed->busy_cycles = (uint16_t)before;
        return;
    }
    const unsigned type = work_type(inst, class);
    const struct work *work = &works[class][type];
    timed->unit = (uint8_t)(class == CLASS_CVT && type != WORK_INTEGER && !p->cvt_on_sfu ? SM_UNIT_INT : work->unit);
    timed->done_cycles = cycles_of(p, work->latency), timed->busy_cycles = cycles_of(p, work->interval);
    if (class == CLASS_TRAVERSE)
        timed->done_cycles = (uint16_t)(timed->done_cycles + p->latency_prefix_sum);
}

/* A warp wider than the back end passes a unit in several cycles. */
static void add_width(struct timed *timed, const struct sm_params *params, uint32_t wide) {
    if (timed->unit != SM_UNIT_MEMORY)
        timed->busy_cycles = (uint16_t)(timed->busy_cycles * wide);
    timed->done_cycles = (uint16_t)(timed->done_cycles + wide - 1 + params->pipeline_cycles);
}

/* Units a machine lacks are done by others. */
static uint8_t unit_at_hand(const struct sm_params *params, uint8_t unit) {
    if (unit == SM_UNIT_INT && !params->int_units)
        return SM_UNIT_SP;
    return unit == SM_UNIT_DP && !params->dp_units ? SM_UNIT_SFU : unit;
}

static enum timed_order order_of(const struct inst *inst) {
    if (inst->op == OP_MEMBAR)
        return ORDER_FENCE;
    if (inst->op == OP_PROGRESS)
        return ORDER_PROGRESS;
    const bool below = inst->space != SPACE_SHARED && inst->space != SPACE_LOCAL && inst->space != SPACE_PARAM;
    const bool accesses = inst->op == OP_LD || inst->op == OP_ST || inst->op == OP_COND_ACC ||
                          inst->op == OP_LD_SNOOP || inst->op == OP_ST_SNOOP;
    return (accesses && below) || intrinsic_is_of_heap(intrinsic_of(inst)) ? ORDER_AFTER_ATOMICS : ORDER_NONE;
}

/* What malloc returns comes with the reply of memory: loads of it wait as accesses wait for atomics. */
static void order_results(struct timed *all, const struct module *module, const struct function *function,
                          uint32_t pc) {
    const struct call *call = module->code[pc].call;
    for (uint32_t i = function->first_pc; call->return_count && i < function->end_pc; i++) {
        const struct inst *inst = &module->code[i];
        if (inst->op == OP_LD && inst->src[0].symbol == call->returns[0])
            all[i].order = ORDER_AFTER_ATOMICS;
    }
}

/* The place of a kernel parameter plus 1, for loads that read it through the constant cache. A parameter at an address
 * that a register holds is an access like others. */
static uint32_t parameter_of(const struct function *function, const struct inst *inst, const struct sm_params *params) {
    if (!params->constant_parameters || !function->is_entry || inst->op != OP_LD || inst->space != SPACE_PARAM)
        return 0;
    const struct operand *source = &inst->src[0];
    if (source->kind != OPERAND_ADDRESS || source->has_reg || !source->symbol || source->symbol->in_frame)
        return 0;
    return (uint32_t)(source->symbol->offset + source->imm) + 1;
}

/* Where a function's registers are: banks count them through all functions of the module, the scoreboard begins each
 * function at a word, so that most instructions touch one. */
struct numbering {
    uint32_t bank_base, word_base, banks;
};

/* Words of the scoreboard that an instruction touches. */
struct touched {
    struct timed_word words[TIMED_REGISTERS + 1];
    unsigned count;
};

static void add_bit(struct touched *touched, const struct numbering *numbering, uint32_t number, bool written) {
    const uint32_t word = numbering->word_base + number / 64;
    unsigned i = 0;
    while (i < touched->count && touched->words[i].word != word)
        i++;
    if (i == touched->count)
        touched->words[touched->count++] = (struct timed_word){.word = word};
    touched->words[i].all |= UINT64_C(1) << number % 64;
    touched->words[i].written |= written ? UINT64_C(1) << number % 64 : 0;
}

static void add_read(struct timed *timed, struct touched *touched, const struct numbering *numbering, uint32_t number) {
    add_bit(touched, numbering, number, false);
    timed->banks[timed->src_count++] = (uint8_t)((numbering->bank_base + number) % numbering->banks);
}

static bool reads_register(const struct inst *inst, unsigned i) { return operand_registers(&inst->src[i]) != 0; }

/* A register that is several operands is read once. */
static bool reads_before(const struct inst *inst, unsigned i) {
    for (unsigned k = 0; k < i; k++)
        if (reads_register(inst, k) && inst->src[k].reg == inst->src[i].reg)
            return true;
    return false;
}

static void add_registers(struct arena *arena, struct timed *timed, const struct inst *inst,
                          const struct numbering *numbering) {
    struct touched touched = {.count = 0};
    unsigned room = TIMED_REGISTERS;
    for (unsigned i = 0; i < inst->dst_count && room; i++)
        if (inst->dst[i].kind == OPERAND_REG)
            add_bit(&touched, numbering, inst->dst[i].reg, true), room--;
    for (unsigned i = 0; i < inst->src_count && room; i++)
        if (reads_register(inst, i) && !reads_before(inst, i))
            add_read(timed, &touched, numbering, inst->src[i].reg), room--;
    if (inst->src_count && inst->src[0].is_pair && room) /* read with its other half */
        add_bit(&touched, numbering, inst->src[0].reg + 1, false), room--;
    if (inst->guard >= 0 && room) /* predicates that guard are not in the banks */
        add_bit(&touched, numbering, (uint32_t)inst->guard, false);
    if (!touched.count)
        return;
    timed->word = touched.words[0].word;
    timed->all = touched.words[0].all, timed->written = touched.words[0].written;
    timed->more_count = (uint8_t)(touched.count - 1);
    timed->more = arena_copy(arena, &touched.words[1], timed->more_count * sizeof *timed->more);
}

const struct sm_code *sm_decode(struct arena *arena, const struct module *module, const struct sm_params *params,
                                unsigned warp_size) {
    struct timed *all = ARENA_ARRAY(arena, struct timed, module->code_count);
    struct numbering numbering = {.banks = params->register_banks};
    bool accumulates = false, snoops = false;
    for (unsigned f = 0; f < module->function_count; f++) {
        const struct function *function = module->functions[f];
        for (uint32_t pc = function->first_pc; function->is_defined && pc < function->end_pc; pc++) {
            const struct inst *inst = &module->code[pc];
            struct timed *timed = &all[pc];
            classify(timed, inst, params);
            accumulates |= inst->op == OP_COND_ACC;
            snoops |= inst->op == OP_LD_SNOOP || inst->op == OP_ST_SNOOP;
            add_width(timed, params, sm_issue_cycles(params, warp_size));
            timed->unit = unit_at_hand(params, timed->unit);
            timed->order = (uint8_t)order_of(inst);
            timed->parameter = parameter_of(function, inst, params);
            add_registers(arena, timed, inst, &numbering);
        }
        for (uint32_t pc = function->first_pc; function->is_defined && pc < function->end_pc; pc++)
            if (intrinsic_is_of_heap(intrinsic_of(&module->code[pc])))
                order_results(all, module, function, pc);
        numbering.bank_base += function->reg_count;
        numbering.word_base += (function->reg_count + 63) / 64;
    }
    struct sm_code *code = ARENA_NEW(arena, struct sm_code);
    *code = (struct sm_code){all, numbering.word_base + 1, accumulates, snoops};
    return code;
}
