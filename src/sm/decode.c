/* What timing needs of each instruction: its unit, latency, interval, registers. */
#include "sm/state.h"

static bool is_f64(const struct inst *inst) { return inst->type == TYPE_F64 || inst->stype == TYPE_F64; }

static void classify(struct timed *timed, enum sm_unit unit, uint32_t latency, uint32_t interval) {
    timed->unit = (uint8_t)unit;
    timed->latency = (uint16_t)latency, timed->interval = (uint16_t)interval;
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

static void classify_inst(struct timed *timed, const struct inst *inst, const struct sm_params *p) {
    switch ((enum op)inst->op) {
    case OP_LD:
    case OP_ST:
    case OP_ATOM:
    case OP_RED:
    case OP_PREFETCH:
    case OP_MEMBAR:
        classify(timed, SM_UNIT_MEMORY, 1, 1);
        timed->is_memory = true;
        return;
    case OP_SHFL:
    case OP_VOTE:
    case OP_MATCH:
    case OP_REDUX:
    case OP_BAR_WARP:
    case OP_ELECT: classify(timed, SM_UNIT_SP, p->latency_shuffle, p->interval_shuffle); return;
    case OP_CVT: classify(timed, SM_UNIT_SFU, p->latency_sfu, p->interval_sfu); break;
    default: break;
    }
    const bool integer_conversion = inst->op == OP_CVT && !type_is_float(inst->type) && !type_is_float(inst->stype);
    if (inst->op == OP_CVT && !integer_conversion)
        return;
    if (type_is_float(inst->type) && inst->op != OP_MOV && inst->op != OP_SELP)
        classify_float(timed, inst, p);
    else
        classify_integer(timed, inst, p);
}

static void add_register(struct timed *timed, uint8_t *count, uint32_t number) {
    if (timed->dst_count + timed->src_count < TIMED_REGISTERS)
        timed->registers[timed->dst_count + timed->src_count] = number, (*count)++;
}

const struct timed *sm_decode(struct arena *arena, const struct module *module, const struct sm_params *params,
                              uint32_t *register_count) {
    struct timed *all = ARENA_ARRAY(arena, struct timed, module->code_count);
    uint32_t base = 0;
    for (unsigned f = 0; f < module->function_count; f++) {
        const struct function *function = module->functions[f];
        for (uint32_t pc = function->first_pc; function->is_defined && pc < function->end_pc; pc++) {
            const struct inst *inst = &module->code[pc];
            struct timed *timed = &all[pc];
            classify_inst(timed, inst, params);
            for (unsigned i = 0; i < inst->dst_count; i++)
                if (inst->dst[i].kind == OPERAND_REG)
                    add_register(timed, &timed->dst_count, base + inst->dst[i].reg);
            for (unsigned i = 0; i < inst->src_count; i++)
                if (inst->src[i].kind == OPERAND_REG || (inst->src[i].kind == OPERAND_ADDRESS && inst->src[i].has_reg))
                    add_register(timed, &timed->src_count, base + inst->src[i].reg);
            if (inst->guard >= 0)
                add_register(timed, &timed->src_count, base + (uint32_t)inst->guard);
        }
        base += function->reg_count;
    }
    *register_count = base;
    return all;
}
