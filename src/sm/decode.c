/* SPDX-License-Identifier: Apache-2.0 */
/* What timing needs of each instruction: its unit, latency, interval, registers. */
#include "isa/intrinsic.h"
#include "isa/matrix.h"
#include "sm/operators.h"
#include "sm/state.h"
#include "sm/subcore.h"

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

/* Products of matrices take what their size asks. Memory and what accumulates there stand apart: what they take is known when they are
 * executed. */
static const struct work works[CLASS_TENSOR][WORK_TYPES] = {
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

/* Multiply-adds of a unit in a cycle. */
static uint32_t tensor_rate(const struct sm_params *p, const struct matrix_form *form) {
    switch ((enum matrix_element)form->a) {
    case MATRIX_F64: return p->tensor_dp;
    case MATRIX_TF32: return p->tensor_tf32;
    case MATRIX_F16: return form->d == MATRIX_F16 ? p->tensor_half : p->tensor_single;
    case MATRIX_BF16: return p->tensor_single;
    case MATRIX_E4M3:
    case MATRIX_E5M2: return p->tensor_float8;
    default: {
        const unsigned bits = matrix_element_bits((enum matrix_element)form->a);
        return p->tensor_byte * (bits == 1 ? 16 : 8 / bits);
    }
    }
}

/* A warp's share of a product of four: all four tensor units work at it. */
static uint32_t group_interval(const struct sm_params *p, const struct inst *inst) {
    const struct matrix_form *form = matrix_form(inst->matrix);
    const unsigned bits = matrix_element_bits((enum matrix_element)form->a);
    const uint32_t work = (uint32_t)form->m * form->n * inst->columns * form->k * bits, rate = 16 * p->wgmma_half;
    const uint32_t cycles = (work + rate - 1) / rate;
    return cycles > p->wgmma_interval ? cycles : p->wgmma_interval;
}

/* Of four products, for as many registers of d as there are: a step of native code has some. */
static uint32_t quads_work(const struct inst *inst, const struct matrix_form *form) {
    uint32_t present = 0;
    for (unsigned i = 0; i < inst->dst_count; i++)
        present += inst->dst[i].kind != OPERAND_NONE ? 1u : 0u;
    const uint32_t all = (uint32_t)MATRIX_QUAD_COUNT * form->m * form->n * form->k;
    return all * present / matrix_registers(form, PART_D);
}

uint32_t sm_tensor_interval(const struct sm_params *p, const struct inst *inst) {
    if (inst->op == OP_WGMMA)
        return group_interval(p, inst);
    const struct matrix_form *form = matrix_form(inst->matrix);
    const uint32_t rate = tensor_rate(p, form);
    const uint32_t work =
        form->options & MATRIX_QUADS ? quads_work(inst, form) : (uint32_t)form->m * form->n * matrix_depth(form);
    return work > rate ? (work + rate - 1) / rate : 1;
}

uint32_t sm_tensor_latency(const struct sm_params *p, const struct inst *inst) {
    if (inst->op == OP_WGMMA)
        return group_interval(p, inst) + p->wgmma_latency;
    const struct matrix_form *form = matrix_form(inst->matrix);
    const unsigned bits = matrix_depth(form) * matrix_element_bits((enum matrix_element)form->a);
    const uint32_t first = form->a == MATRIX_F64 ? p->latency_tensor_dp
                           : bits > 128          ? p->latency_tensor_deep
                                                 : p->latency_tensor;
    /* those of wmma are several products of 16 rows and 8 columns, one behind the other */
    const uint32_t parts = form->options & MATRIX_WMMA ? form->m * form->n / 128u : 1;
    return first + (parts > 1 ? sm_tensor_interval(p, inst) * (parts - 1) / parts : 0);
}

/* The cycles are those of a narrow instruction without pipeline registers, until add_width. */
static void classify(struct timed *timed, const struct inst *inst, const struct sm_params *p) {
    const enum op_class class = op_class((enum op)inst->op);
    if (class >= CLASS_MEMORY || intrinsic_is_of_heap(intrinsic_of(inst))) {
        const uint32_t before = class == CLASS_ACCUMULATE ? p->latency_prefix_sum : 0;
        timed->unit = SM_UNIT_MEMORY;
        timed->done_cycles = (uint16_t)(p->const_latency + before), timed->busy_cycles = (uint16_t)before;
        if (inst->op == OP_BULK && inst->mode == MODE_BULK_STORE) /* its group is done by then */
            timed->done_cycles = (uint16_t)p->bulk_latency;
        return;
    }
    if (class == CLASS_TENSOR) {
        timed->unit = SM_UNIT_TENSOR;
        timed->done_cycles = (uint16_t)sm_tensor_latency(p, inst);
        timed->busy_cycles = (uint16_t)sm_tensor_interval(p, inst);
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
    if (timed->unit != SM_UNIT_MEMORY && timed->unit != SM_UNIT_TENSOR)
        timed->busy_cycles = (uint16_t)(timed->busy_cycles * wide);
    timed->done_cycles = (uint16_t)(timed->done_cycles + wide - 1 + params->pipeline_cycles);
}

/* Units a machine lacks are done by others. */
static uint8_t unit_at_hand(const struct sm_params *params, uint8_t unit) {
    if ((unit == SM_UNIT_INT && !params->int_units) || (unit == SM_UNIT_TENSOR && !params->tensor_units))
        return SM_UNIT_SP;
    return unit == SM_UNIT_DP && !params->dp_units ? SM_UNIT_SFU : unit;
}

/* `clusters`: of several blocks, which see behind barrier.cluster what was stored before it. */
static enum timed_order order_of(const struct inst *inst, bool clusters) {
    const bool releases =
        inst->op == OP_BAR && inst->scope == SCOPE_CLUSTER && inst->mode == MODE_ARRIVE && inst->order != ORDER_RELAXED;
    if (inst->op == OP_MEMBAR || (clusters && releases))
        return ORDER_FENCE;
    if (inst->op == OP_PROGRESS)
        return ORDER_PROGRESS;
    if (inst->op == OP_CP_COMMIT)
        return ORDER_COMMIT;
    if (inst->op == OP_CP_ASYNC || (inst->op == OP_BULK && inst->mode == MODE_BULK_STORE))
        return ORDER_COPY;
    if (inst->op == OP_CP_WAIT ||
        (inst->op == OP_MBARRIER && (inst->mode == MODE_COPIES || inst->mode == MODE_COPIES_NO_INC)))
        return ORDER_COPIES;
    const bool below = inst->space != SPACE_SHARED && inst->space != SPACE_LOCAL && inst->space != SPACE_PARAM;
    const bool accesses = inst->op == OP_LD || inst->op == OP_ST || inst->op == OP_COND_ACC ||
                          inst->op == OP_LD_SNOOP || inst->op == OP_ST_SNOOP || inst->op == OP_BULK ||
                          inst->op == OP_TENSORMAP || inst_moves_tile(inst) || inst_accesses_image(inst);
    return (accesses && (below || inst->rank)) || intrinsic_is_of_heap(intrinsic_of(inst)) ? ORDER_AFTER_ATOMICS
                                                                                           : ORDER_NONE;
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

/* What a wait for copies leaves under way, plus 1. The place of a kernel parameter plus 1, for loads that read it through the constant cache. A parameter at an address
 * that a register holds is an access like others. */
static uint32_t parameter_of(const struct function *function, const struct inst *inst, const struct sm_params *params) {
    if (inst->op == OP_CP_WAIT && inst->mode != MODE_ALL) /* of groups; see ORDER_COPIES */
        return (uint32_t)(inst->src[0].imm < UINT32_MAX - 1 ? inst->src[0].imm : UINT32_MAX - 1) + 1;
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
    struct timed_guards *guards;          /* by PC; NULL: predicates guard when they are written */
    const uint32_t *predicates;           /* of the function, by register: how many come before it */
    uint32_t guard_base, guard_word_base; /* of the function's first: its number, and the word that it begins */
};

enum {
    SCOREBOARD_REGISTERS = 280
}; /* of one instruction at most; those behind TIMED_REGISTERS are read without a bank */

/* Words of the scoreboard that an instruction touches. */
struct touched {
    struct timed_word words[SCOREBOARD_REGISTERS + 2];
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
    if (timed->src_count < TIMED_REGISTERS)
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

/* The guard's bits, as a predicate and as what guards. */
static void add_guard(struct touched *touched, const struct numbering *numbering, uint32_t reg) {
    add_bit(touched, numbering, reg, false);
    if (!numbering->guards)
        return;
    const struct numbering guards = {.word_base = numbering->guard_word_base};
    add_bit(touched, &guards, numbering->predicates[reg], false);
}

static void add_registers(struct arena *arena, struct timed *timed, const struct inst *inst,
                          const struct numbering *numbering) {
    struct touched touched = {.count = 0};
    unsigned room = SCOREBOARD_REGISTERS;
    for (unsigned i = 0; i < inst->dst_count && room; i++)
        for (unsigned k = 0; k < operand_registers(&inst->dst[i]) && room; k++)
            add_bit(&touched, numbering, inst->dst[i].reg + k, true), room--;
    for (unsigned i = 0; i < inst->src_count && room; i++)
        if (reads_register(inst, i) && !reads_before(inst, i))
            add_read(timed, &touched, numbering, inst->src[i].reg), room--;
    for (unsigned i = 0; i < inst->src_count && room; i++)
        if (operand_registers(&inst->src[i]) > 1) /* read with its other half */
            add_bit(&touched, numbering, inst->src[i].reg + 1, false), room--;
    if (inst->guard >= 0 && room) /* predicates that guard are not in the banks */
        add_guard(&touched, numbering, (uint32_t)inst->guard);
    if (!touched.count)
        return;
    timed->word = touched.words[0].word;
    timed->all = touched.words[0].all, timed->written = touched.words[0].written;
    timed->more_count = (uint8_t)(touched.count - 1);
    timed->more = arena_copy(arena, &touched.words[1], timed->more_count * sizeof *timed->more);
}

/* ---- sm.late_guards ---- */

/* Where the function's predicates are as guards: behind its registers. How many words they take. */
static uint32_t number_guards(struct arena *arena, struct numbering *numbering, const struct function *function) {
    uint32_t *predicates = ARENA_ARRAY(arena, uint32_t, function->reg_count + 1), count = 0;
    for (uint32_t reg = 0; reg < function->reg_count; reg++) {
        predicates[reg] = count;
        count += function->reg_types[reg] == TYPE_PRED;
    }
    predicates[function->reg_count] = count;
    numbering->predicates = predicates;
    numbering->guard_word_base = numbering->word_base + (function->reg_count + 63) / 64;
    return (count + 63) / 64;
}

/* Operands and write-back take two cycles of the distance from issue to issue. */
static void add_written_guards(struct timed *timed, const struct inst *inst, const struct numbering *numbering,
                               const struct function *function, uint32_t pc, const struct sm_params *params) {
    struct timed_guards *guards = &numbering->guards[pc];
    const bool is_wide = inst->type == TYPE_F64 || inst->stype == TYPE_F64;
    const uint32_t distance = params->distance_guard + is_wide, written = timed->done_cycles + 2u;
    if (timed->unit == SM_UNIT_MEMORY || timed->order != ORDER_NONE || distance <= written)
        return;
    for (unsigned i = 0; i < inst->dst_count && guards->count < TIMED_PREDICATES; i++) {
        const uint32_t reg = inst->dst[i].reg;
        if (operand_registers(&inst->dst[i]) != 1 || function->reg_types[reg] != TYPE_PRED)
            continue;
        const uint32_t number = numbering->predicates[reg];
        guards->of[guards->count].number = numbering->guard_base + number;
        guards->of[guards->count].word = numbering->guard_word_base + number / 64;
        guards->of[guards->count++].bit = UINT64_C(1) << number % 64;
    }
    guards->cycles = (uint8_t)(distance - written);
    timed->order = guards->count ? ORDER_GUARDS : timed->order;
}

bool sm_code_samples(const struct sm_code *code) { return code->samples; }

const struct sm_code *sm_decode(struct arena *arena, const struct module *module, const struct sm_params *params,
                                unsigned warp_size, bool clusters) {
    struct timed *all = ARENA_ARRAY(arena, struct timed, module->code_count);
    uint8_t *operators = ARENA_ARRAY(arena, uint8_t, module->code_count);
    struct numbering numbering = {.banks = params->register_banks};
    if (params->late_guards && params->pipeline == SM_SCOREBOARD)
        numbering.guards = ARENA_ARRAY(arena, struct timed_guards, module->code_count);
    bool accumulates = false, copies = false, snoops = false, samples = false, fences = false;
    for (unsigned f = 0; f < module->function_count; f++) {
        const struct function *function = module->functions[f];
        const uint32_t guard_words = numbering.guards ? number_guards(arena, &numbering, function) : 0;
        for (uint32_t pc = function->first_pc; function->is_defined && pc < function->end_pc; pc++) {
            const struct inst *inst = &module->code[pc];
            struct timed *timed = &all[pc];
            classify(timed, inst, params);
            operators[pc] = operators_of(inst, params);
            accumulates |=
                inst->op == OP_COND_ACC || inst->op == OP_LDMATRIX || inst->op == OP_STMATRIX || inst_moves_tile(inst);
            copies |= inst->op == OP_CP_ASYNC || inst->op == OP_CP_COMMIT || inst->op == OP_BULK;
            samples |= inst->op == OP_TEX;
            snoops |= inst->op == OP_LD_SNOOP || inst->op == OP_ST_SNOOP;
            add_width(timed, params, sm_issue_cycles(params, warp_size));
            timed->unit = unit_at_hand(params, timed->unit);
            timed->order = (uint8_t)order_of(inst, clusters);
            timed->parameter = parameter_of(function, inst, params);
            add_registers(arena, timed, inst, &numbering);
            fences |= timed->order == ORDER_FENCE;
            if (numbering.guards)
                add_written_guards(timed, inst, &numbering, function, pc, params);
        }
        for (uint32_t pc = function->first_pc; function->is_defined && pc < function->end_pc; pc++)
            if (intrinsic_is_of_heap(intrinsic_of(&module->code[pc])))
                order_results(all, module, function, pc);
        numbering.bank_base += function->reg_count;
        numbering.word_base += (function->reg_count + 63) / 64 + guard_words;
        numbering.guard_base += guard_words * 64;
    }
    struct sm_code *code = ARENA_NEW(arena, struct sm_code);
    *code = (struct sm_code){.timed = all,
                             .operators = operators,
                             .register_words = numbering.word_base + 1,
                             .accumulates = accumulates,
                             .fences = fences,
                             .copies = copies,
                             .samples = samples,
                             .snoops = snoops,
                             .guards = numbering.guards,
                             .guard_count = numbering.guard_base};
    if (params->pipeline == SM_CONTROL_BITS)
        code->subcore = subcore_decode(arena, module, params, all);
    return code;
}
