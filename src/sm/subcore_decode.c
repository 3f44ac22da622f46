/* SPDX-License-Identifier: Apache-2.0 */
/* sm.pipeline control-bits: what the sub-cores need of each instruction. Pipes and intervals, and for code without control bits the
 * registers and the distances between those who write and read them. */
#include "isa/intrinsic.h"
#include "sm/subcore.h"

/* Where the registers of a function begin in a warp's, and those of an instruction in the list of all. */
struct code_lister {
    struct arena *arena;
    const struct module *module;
    const struct sm_params *params;
    const struct timed *timed;
    struct {
        uint32_t *items;
        unsigned count, capacity;
    } registers;
    uint32_t base;
};

/* ---- pipes ---- */

static void give_pipe(struct subcore_inst *out, enum subcore_pipe pipe, enum sm_unit unit, enum subcore_class class,
                      uint32_t interval) {
    out->pipe = (uint8_t)pipe, out->unit = (uint8_t)unit;
    out->reads_as = out->writes_as = (uint8_t) class;
    out->interval = (uint8_t)(interval < 255 ? interval : 255);
}

static void give_unit(struct subcore_inst *out, enum subcore_pipe pipe, uint32_t interval, uint32_t latency) {
    const enum sm_unit unit = pipe == PIPE_FP64 ? SM_UNIT_DP : pipe == PIPE_TENSOR ? SM_UNIT_TENSOR : SM_UNIT_SFU;
    give_pipe(out, pipe, unit, BY_OTHERS, interval);
    out->kind = KIND_UNIT;
    out->latency = (uint16_t)latency;
}

static void give_fp64(struct subcore_inst *out, const struct sm_params *p) {
    if (p->dp_shared)
        give_unit(out, PIPE_FP64, p->interval_dp, p->latency_dp);
    else
        give_pipe(out, PIPE_FP64, SM_UNIT_DP, BY_FP64, p->interval_dp);
}

static void give_native(struct subcore_inst *out, const struct inst *inst, const struct sm_params *p) {
    const struct inst_timing *said = &out->said;
    switch ((enum timing_pipe)said->pipe) {
    case TIMING_ALU: give_pipe(out, PIPE_ALU, SM_UNIT_INT, BY_ALU, p->interval_int); break;
    case TIMING_FMA: give_pipe(out, PIPE_FP32, SM_UNIT_SP, BY_FMA, p->interval_fp); break;
    case TIMING_IMAD: give_pipe(out, PIPE_FMA, SM_UNIT_SP, BY_FMA, p->interval_int_mul); break;
    case TIMING_HALF: give_pipe(out, PIPE_HALF, SM_UNIT_SP, BY_HALF, p->interval_fp); break;
    case TIMING_TENSOR: give_unit(out, PIPE_TENSOR, sm_tensor_interval(p, inst), sm_tensor_latency(p, inst)); break;
    case TIMING_FP64: give_fp64(out, p); break;
    case TIMING_XU: give_unit(out, PIPE_XU, p->interval_sfu, p->latency_sfu); break;
    case TIMING_UNIFORM: give_pipe(out, PIPE_UNIFORM, SM_UNIT_INT, BY_ALU, p->interval_int); break;
    case TIMING_BRANCH: give_pipe(out, PIPE_BRANCH, SM_UNIT_INT, BY_OTHERS, 1); break;
    case TIMING_MEMORY: give_pipe(out, PIPE_MEMORY, SM_UNIT_MEMORY, BY_ADDRESS, 1), out->kind = KIND_MEMORY; break;
    }
    const bool counts = said->write_counter != TIMING_NO_COUNTER || said->read_counter != TIMING_NO_COUNTER;
    if (counts && out->kind == KIND_FIXED) /* what comes back by a counter takes its time, however short */
        out->kind = KIND_UNIT, out->latency = (uint16_t)p->latency_logic;
}

static void give_division(struct subcore_inst *out, const struct inst *inst, const struct sm_params *p) {
    if (!type_is_float(inst->type))
        give_unit(out, PIPE_XU, p->interval_int_div, p->latency_int_div);
    else if (inst->type == TYPE_F64)
        give_unit(out, PIPE_FP64, p->interval_dp_div, p->latency_dp_div);
    else
        give_unit(out, PIPE_XU, p->interval_fp_div, p->latency_fp_div);
}

static void give_arithmetic(struct subcore_inst *out, const struct inst *inst, enum op_class class,
                            const struct sm_params *p) {
    const bool is_float = type_is_float(inst->type);
    const bool is_half =
        inst->type == TYPE_F16 || inst->type == TYPE_F16X2 || inst->type == TYPE_BF16 || inst->type == TYPE_BF16X2;
    if (inst->type == TYPE_F64)
        give_fp64(out, p);
    else if (class == CLASS_MINMAX)
        give_pipe(out, PIPE_ALU, SM_UNIT_INT, BY_ALU, p->interval_int);
    else if (is_half)
        give_pipe(out, PIPE_HALF, SM_UNIT_SP, BY_HALF, p->interval_fp);
    else if (is_float)
        give_pipe(out, PIPE_FP32, SM_UNIT_SP, BY_FMA, p->interval_fp);
    else if (class == CLASS_ADD)
        give_pipe(out, PIPE_ALU, SM_UNIT_INT, BY_ALU, p->interval_int);
    else {
        give_pipe(out, PIPE_FMA, SM_UNIT_SP, BY_FMA, p->interval_int_mul);
        out->said.is_wide = inst->mode == MODE_WIDE;
    }
}

/* A parameter at a fixed place is an operand, as constants are of native code. */
static bool is_operand(const struct inst *inst, const struct timed *timed) {
    return inst->op == OP_LD && inst->space == SPACE_PARAM && !inst->src[0].has_reg && !timed->parameter;
}

static void give_internal(struct subcore_inst *out, const struct inst *inst, const struct timed *timed,
                          const struct sm_params *p) {
    const enum op_class class = op_class((enum op)inst->op);
    if (is_operand(inst, timed)) {
        give_pipe(out, PIPE_ALU, SM_UNIT_INT, BY_ALU, p->interval_logic);
        return;
    }
    if (class >= CLASS_MEMORY || intrinsic_is_of_heap(intrinsic_of(inst))) {
        give_pipe(out, PIPE_MEMORY, SM_UNIT_MEMORY, BY_ADDRESS, 1), out->kind = KIND_MEMORY;
        return;
    }
    if (inst_is_control(inst) || inst->op == OP_BAR) {
        give_pipe(out, PIPE_BRANCH, SM_UNIT_INT, BY_OTHERS, 1);
        return;
    }
    switch (class) {
    case CLASS_DIV: give_division(out, inst, p); break;
    case CLASS_SPECIAL: give_unit(out, PIPE_XU, p->interval_sfu, p->latency_sfu); break;
    case CLASS_CVT:
        if (type_is_float(inst->type) || type_is_float(inst->stype))
            give_unit(out, PIPE_XU, p->interval_cvt, p->latency_cvt);
        else
            give_pipe(out, PIPE_ALU, SM_UNIT_INT, BY_ALU, p->interval_logic);
        break;
    case CLASS_WARP:
        if (inst->op == OP_SHFL || inst->op == OP_MATCH || inst->op == OP_REDUX)
            give_pipe(out, PIPE_MEMORY, SM_UNIT_MEMORY, BY_ADDRESS, 1), out->kind = KIND_MEMORY;
        else
            give_pipe(out, PIPE_ALU, SM_UNIT_INT, BY_ALU, p->interval_logic);
        break;
    case CLASS_TENSOR: give_unit(out, PIPE_TENSOR, sm_tensor_interval(p, inst), sm_tensor_latency(p, inst)); break;
    case CLASS_LOGIC:
    case CLASS_TRAVERSE: give_pipe(out, PIPE_ALU, SM_UNIT_INT, BY_ALU, p->interval_logic); break;
    default: give_arithmetic(out, inst, class, p); break;
    }
}

/* ---- memory ---- */

static uint32_t cycles_for(uint32_t amount, uint32_t each) { return (amount + each - 1) / each; }

/* Bytes of a lane, those of a vector together; at least a register. */
static uint32_t bytes_of(const struct inst *inst) {
    const bool stores = inst->op == OP_ST || inst->op == OP_RED || inst->op == OP_STMATRIX;
    const uint32_t count = inst->op == OP_TILE_STORE ? inst->src_count - 2u
                           : stores                  ? inst->src_count - 1u
                                                     : inst->dst_count;
    const uint32_t bytes = type_bytes((enum type)inst->type) * (count ? count : 1);
    return bytes < 4 ? 4 : bytes;
}

/* Cycles in the sub-core and on the way back: addresses at sm.agu_lanes a cycle, those of shared memory and uniform ones in half the
 * time; data at sm.return_bytes a cycle, from shared memory at twice that, but for single words. */
static void give_memory(struct subcore_inst *out, const struct inst *inst, const struct timed *timed,
                        const struct sm_params *p, bool is_uniform) {
    const uint32_t all = cycles_for(LANES_MAX, p->agu_lanes), half = all > 1 ? all / 2 : 1;
    const enum op_class class = op_class((enum op)inst->op);
    const bool accesses = class >= CLASS_MEMORY, is_shared = inst->space == SPACE_SHARED;
    const bool is_moved =
        inst->op == OP_MOV && inst->src[0].kind != OPERAND_SPECIAL; /* native: of a fixed place in a bank */
    const bool is_constant =
        is_moved || (accesses && (inst->space == SPACE_CONST || inst->space == SPACE_PARAM)) || timed->parameter;
    out->is_constant = is_constant;
    out->by_register = accesses && !is_uniform;
    out->address_cycles = (uint8_t)(out->by_register && !is_shared ? all : half);
    out->returns = inst->dst_count || !accesses;
    const uint32_t warp = LANES_MAX * bytes_of(inst), word = cycles_for(LANES_MAX * 4, p->return_bytes);
    uint32_t link = cycles_for(warp, p->return_bytes);
    if (is_shared)
        link = cycles_for(warp, 2 * p->return_bytes) > word ? cycles_for(warp, 2 * p->return_bytes) : word;
    if (!accesses)
        link = word;
    out->link_cycles = (uint8_t)(is_constant ? 1 : link < 255 ? link : 255);
    out->latency = (uint16_t)(accesses || is_constant ? p->const_latency : p->latency_shuffle);
    if (accesses && !out->returns) {
        const uint32_t data = cycles_for(warp, p->return_bytes);
        out->data_cycles = (uint8_t)(data < 255 ? data : 255);
    }
}

static bool has_uniform_address(const struct inst *inst) {
    for (unsigned i = 0; i < inst->src_count; i++)
        if (inst->src[i].kind == OPERAND_ADDRESS)
            return !inst->src[i].has_reg;
    return false;
}

/* ---- registers ---- */

static bool is_listed(const struct code_lister *list, uint32_t from, uint32_t to, uint32_t number) {
    for (uint32_t i = from; i < to; i++)
        if (list->registers.items[i] == number)
            return true;
    return false;
}

static void add_register(struct code_lister *list, uint32_t from, uint32_t number) {
    if (!is_listed(list, from, list->registers.count, number))
        *ARENA_PUSH(list->arena, &list->registers) = number;
}

static bool writes(const struct inst *inst, uint32_t number) {
    for (unsigned i = 0; i < inst->dst_count; i++)
        if (inst->dst[i].kind == OPERAND_REG && number - inst->dst[i].reg < operand_registers(&inst->dst[i]))
            return true;
    return false;
}

/* What an earlier part of the instruction has written is its own. */
static bool is_own(const struct code_lister *list, uint32_t start, uint32_t pc, uint32_t number) {
    for (uint32_t i = start; i < pc; i++)
        if (writes(&list->module->code[i], number))
            return true;
    return false;
}

static void add_written(struct code_lister *list, uint32_t from, const struct operand *operand) {
    for (unsigned k = 0; operand->kind == OPERAND_REG && k < operand_registers(operand); k++)
        add_register(list, from, list->base + operand->reg + k);
}

static void list_registers(struct code_lister *list, struct subcore_inst *out, uint32_t start) {
    out->first = list->registers.count;
    for (uint32_t pc = start; pc < out->next; pc++) {
        const struct inst *inst = &list->module->code[pc];
        for (unsigned i = 0; i < inst->src_count; i++)
            for (unsigned k = 0; k < operand_registers(&inst->src[i]); k++)
                if (!is_own(list, start, pc, inst->src[i].reg + k))
                    add_register(list, out->first, list->base + inst->src[i].reg + k);
        if (inst->guard >= 0 && !is_own(list, start, pc, (uint32_t)inst->guard))
            add_register(list, out->first, (list->base + (uint32_t)inst->guard) | READ_AS_GUARD);
    }
    out->reads = (uint16_t)(list->registers.count - out->first);
    const uint32_t written = list->registers.count;
    for (uint32_t pc = start; pc < out->next; pc++)
        for (unsigned i = 0; i < list->module->code[pc].dst_count; i++)
            add_written(list, written, &list->module->code[pc].dst[i]);
    out->writes = (uint16_t)(list->registers.count - written);
}

/* ---- instructions ---- */

/* The part that gives an instruction of several its time: the one that accesses memory, else the last. */
static uint32_t chief_of(const struct module *module, uint32_t pc, uint32_t next) {
    for (uint32_t i = pc; i < next; i++)
        if (op_class((enum op)module->code[i].op) >= CLASS_MEMORY)
            return i;
    return next - 1;
}

/* Constants that are operands: of native code in its banks, of PTX the parameters of a kernel, which lie in bank 0. */
static void give_constant(struct subcore_inst *out, const struct inst *inst, bool is_native) {
    if (is_native && out->said.constant)
        out->constant = (out->said.constant - 1) / CONSTANT_LINE_BYTES + 1;
    if (!is_native && out->kind == KIND_FIXED && inst->op == OP_LD && inst->space == SPACE_PARAM &&
        inst->src[0].symbol && !inst->src[0].symbol->in_frame)
        out->constant = (uint32_t)((inst->src[0].symbol->offset + inst->src[0].imm) / CONSTANT_LINE_BYTES) + 1;
}

static void give_fence(struct subcore_inst *out, const struct inst *inst, const struct sm_params *p) {
    if (inst->op == OP_MEMBAR)
        out->fence_cycles = (uint16_t)(inst->scope == SCOPE_SYS   ? p->fence_sys_cycles
                                       : inst->scope == SCOPE_CTA ? p->fence_cta_cycles
                                                                  : p->fence_gpu_cycles);
}

static void decode_inst(struct code_lister *list, struct subcore_inst *all, uint32_t pc) {
    const struct module *module = list->module;
    struct subcore_inst *out = &all[pc];
    const bool is_part = (module->code[pc].flags & FLAG_PART) != 0;
    out->next = is_part ? all[pc + 1].next : pc + 1;
    const uint32_t chief = chief_of(module, pc, out->next);
    const struct inst *inst = &module->code[chief];
    out->said = (struct inst_timing){.write_counter = TIMING_NO_COUNTER,
                                     .read_counter = TIMING_NO_COUNTER,
                                     .least_counter = TIMING_NO_COUNTER};
    if (module->timing) {
        out->said = module->timing[pc];
        give_native(out, inst, list->params);
    } else
        give_internal(out, inst, &list->timed[chief], list->params);
    for (uint32_t i = pc; i < out->next; i++)
        out->order =
            list->timed[i].order == ORDER_FENCE || out->order == ORDER_NONE ? list->timed[i].order : out->order;
    if (out->kind == KIND_MEMORY)
        give_memory(out, inst, &list->timed[chief], list->params,
                    module->timing ? out->said.uniform_address : has_uniform_address(inst));
    give_constant(out, inst, module->timing != NULL);
    give_fence(out, inst, list->params);
    list_registers(list, out, pc);
}

static void give_lines(struct subcore_inst *all, const struct module *module, const struct sm_params *params,
                       uint32_t *line_count) {
    uint64_t bytes = 0;
    for (uint32_t pc = 0; pc < module->code_count; pc++) {
        all[pc].line = (uint32_t)(bytes / CODE_LINE_BYTES);
        bytes += module->code[pc].flags & FLAG_PART ? 0 : params->instruction_bytes;
    }
    *line_count = (uint32_t)((bytes + CODE_LINE_BYTES - 1) / CODE_LINE_BYTES);
}

static void give_distances(struct subcore_code *code, const struct sm_params *p) {
    for (unsigned writer = 0; writer < SUBCORE_CLASSES; writer++)
        for (unsigned reader = 0; reader < SUBCORE_CLASSES; reader++) {
            uint32_t distance = reader == writer       ? p->distance_same
                                : reader == BY_FP64    ? p->distance_redirected
                                : reader == BY_OTHERS  ? p->distance_decoupled
                                : reader == BY_ADDRESS ? p->distance_address
                                : reader == BY_GUARD   ? p->distance_guard
                                                       : p->distance_other;
            if (writer == BY_FP64)
                distance = reader == BY_GUARD                         ? p->distance_guard + 1
                           : reader == BY_ADDRESS                     ? p->distance_dp - 3
                           : reader == BY_FP64 || reader == BY_OTHERS ? p->distance_dp - 4
                                                                      : p->distance_dp;
            code->distances[writer][reader] = (uint8_t)distance;
        }
}

const struct subcore_code *subcore_decode(struct arena *arena, const struct module *module,
                                          const struct sm_params *params, const struct timed *timed) {
    struct subcore_inst *all = ARENA_ARRAY(arena, struct subcore_inst, module->code_count + 1);
    struct code_lister list = {.arena = arena, .module = module, .params = params, .timed = timed};
    struct subcore_code *code = ARENA_NEW(arena, struct subcore_code);
    for (unsigned f = 0; f < module->function_count; f++) {
        const struct function *function = module->functions[f];
        for (uint32_t pc = function->end_pc; function->is_defined && pc-- > function->first_pc;)
            decode_inst(&list, all, pc);
        list.base += function->reg_count;
    }
    *ARENA_PUSH(arena, &list.registers) = 0; /* a place behind the last, in code without a register too */
    give_lines(all, module, params, &code->line_count);
    code->insts = all, code->registers = list.registers.items;
    code->register_count = list.base;
    code->has_control = module->timing != NULL;
    give_distances(code, params);
    return code;
}
