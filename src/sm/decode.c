/* What timing needs of each instruction: its unit, latency, interval, registers. */
#include "sm/state.h"

static bool is_f64(const struct inst *inst) { return inst->type == TYPE_F64 || inst->stype == TYPE_F64; }

/* The cycles are those of a narrow instruction without pipeline registers, until add_width. */
static void classify(struct timed *timed, enum sm_unit unit, uint32_t latency, uint32_t interval) {
    timed->unit = (uint8_t)unit;
    timed->done_cycles = (uint16_t)latency, timed->busy_cycles = (uint16_t)interval;
}

static void classify_integer(struct timed *timed, const struct inst *inst, const struct sm_params *p) {
    switch ((enum op)inst->op) {
    case OP_MIN:
    case OP_MAX: classify(timed, SM_UNIT_INT, p->latency_int_max, p->interval_int_mul); break;
    case OP_MUL:
    case OP_MUL24: classify(timed, SM_UNIT_INT, p->latency_int_mul, p->interval_int_mul); break;
    case OP_MAD:
    case OP_MAD24:
    case OP_DP4A:
    case OP_DP2A:
    case OP_SAD: classify(timed, SM_UNIT_INT, p->latency_int_mad, p->interval_int); break;
    case OP_DIV:
    case OP_REM: classify(timed, SM_UNIT_SFU, p->latency_int_div, p->interval_int_div); break;
    default: classify(timed, SM_UNIT_INT, p->latency_int_add, p->interval_int); break;
    }
}

static void classify_float(struct timed *timed, const struct inst *inst, const struct sm_params *p) {
    const bool wide = is_f64(inst);
    switch ((enum op)inst->op) {
    case OP_MIN:
    case OP_MAX:
        classify(timed, wide ? SM_UNIT_DP : SM_UNIT_SP, wide ? p->latency_dp_max : p->latency_fp_max,
                 wide ? p->interval_dp : p->interval_fp);
        break;
    case OP_MUL:
        classify(timed, wide ? SM_UNIT_DP : SM_UNIT_SP, wide ? p->latency_dp : p->latency_fp_mul,
                 wide ? p->interval_dp : p->interval_fp);
        break;
    case OP_MAD:
    case OP_FMA:
        classify(timed, wide ? SM_UNIT_DP : SM_UNIT_SP, wide ? p->latency_dp : p->latency_fp_mad,
                 wide ? p->interval_dp : p->interval_fp);
        break;
    case OP_DIV:
    case OP_SQRT:
        classify(timed, wide ? SM_UNIT_DP : SM_UNIT_SFU, wide ? p->latency_dp_div : p->latency_fp_div,
                 wide ? p->interval_dp_div : p->interval_fp_div);
        break;
    case OP_RCP:
    case OP_RSQRT:
    case OP_SIN:
    case OP_COS:
    case OP_LG2:
    case OP_EX2:
    case OP_TANH: classify(timed, SM_UNIT_SFU, wide ? p->latency_dp_div : p->latency_sfu, p->interval_sfu); break;
    default:
        classify(timed, wide ? SM_UNIT_DP : SM_UNIT_SP, wide ? p->latency_dp : p->latency_fp_add,
                 wide ? p->interval_dp : p->interval_fp);
        break;
    }
}

/* What needs no adder: by the order of isa/ops.def. */
static bool is_logic(enum op op) {
    return (op >= OP_AND && op <= OP_ISSPACEP) || op >= OP_BRA || op == OP_BAR || op == OP_ACTIVEMASK || op == OP_ABS ||
           op == OP_NEG || op == OP_COPYSIGN || op == OP_TESTP;
}

static void classify_inst(struct timed *timed, const struct inst *inst, const struct sm_params *p) {
    switch ((enum op)inst->op) {
    case OP_LD:
    case OP_ST:
    case OP_ATOM:
    case OP_RED:
    case OP_PREFETCH:
    case OP_MEMBAR: classify(timed, SM_UNIT_MEMORY, p->const_latency, 0); return;
    case OP_COND_ACC:
        classify(timed, SM_UNIT_MEMORY, p->const_latency + p->latency_prefix_sum, p->latency_prefix_sum);
        return;
    case OP_TREE_TRAVERSE:
        classify(timed, SM_UNIT_INT, p->latency_int_add + p->latency_prefix_sum, p->interval_int);
        return;
    case OP_SHFL:
    case OP_VOTE:
    case OP_MATCH:
    case OP_REDUX:
    case OP_BAR_WARP:
    case OP_ELECT: classify(timed, SM_UNIT_SP, p->latency_shuffle, p->interval_shuffle); return;
    case OP_CVT:
        if (type_is_float(inst->type) || type_is_float(inst->stype))
            classify(timed, p->cvt_on_sfu ? SM_UNIT_SFU : SM_UNIT_INT, p->latency_cvt, p->interval_cvt);
        else
            classify(timed, SM_UNIT_INT, p->latency_logic, p->interval_logic);
        return;
    default: break;
    }
    if (is_logic((enum op)inst->op))
        classify(timed, SM_UNIT_INT, p->latency_logic, p->interval_logic);
    else if (type_is_float(inst->type))
        classify_float(timed, inst, p);
    else
        classify_integer(timed, inst, p);
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
    const bool below = inst->space != SPACE_SHARED && inst->space != SPACE_LOCAL && inst->space != SPACE_PARAM;
    return (inst->op == OP_LD || inst->op == OP_ST || inst->op == OP_COND_ACC) && below ? ORDER_AFTER_ATOMICS
                                                                                        : ORDER_NONE;
}

/* The place of a kernel parameter plus 1, for loads that read it through the constant cache. A parameter at an address
 * that a register holds is an access like others. */
static uint32_t parameter_of(const struct function *function, const struct inst *inst, const struct sm_params *params) {
    const struct operand *source = &inst->src[0];
    if (!params->constant_parameters || !function->is_entry || inst->op != OP_LD || inst->space != SPACE_PARAM)
        return 0;
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

static bool reads_register(const struct inst *inst, unsigned i) {
    return inst->src[i].kind == OPERAND_REG || (inst->src[i].kind == OPERAND_ADDRESS && inst->src[i].has_reg);
}

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
    bool accumulates = false;
    for (unsigned f = 0; f < module->function_count; f++) {
        const struct function *function = module->functions[f];
        for (uint32_t pc = function->first_pc; function->is_defined && pc < function->end_pc; pc++) {
            const struct inst *inst = &module->code[pc];
            struct timed *timed = &all[pc];
            classify_inst(timed, inst, params);
            accumulates |= inst->op == OP_COND_ACC;
            add_width(timed, params, sm_issue_cycles(params, warp_size));
            timed->unit = unit_at_hand(params, timed->unit);
            timed->order = (uint8_t)order_of(inst);
            timed->parameter = parameter_of(function, inst, params);
            add_registers(arena, timed, inst, &numbering);
        }
        numbering.bank_base += function->reg_count;
        numbering.word_base += (function->reg_count + 63) / 64;
    }
    struct sm_code *code = ARENA_NEW(arena, struct sm_code);
    *code = (struct sm_code){all, numbering.word_base + 1, accumulates};
    return code;
}
