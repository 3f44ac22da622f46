/* SPDX-License-Identifier: Apache-2.0 */
/* What an instruction of sm_75 to sm_90 says of its time, for the internal form. */
#include "base/bits.h"
#include "isa/timing.h"
#include "translate/turing.h"

static enum timing_pipe pipe_of(const struct turing_inst *inst) {
    if (inst->row == TURING_MOVM) /* between lanes, as a shuffle */
        return TIMING_MEMORY;
    switch ((enum turing_unit)turing_row(inst->row)->unit) {
    case TURING_UNIT_FMA: {
        const enum turing_row_id row = (enum turing_row_id)inst->row;
        const bool is_float = row == TURING_FADD || row == TURING_FMUL || row == TURING_FFMA;
        return is_float ? TIMING_FMA : TIMING_IMAD;
    }
    case TURING_UNIT_FP64: return TIMING_FP64;
    case TURING_UNIT_HALF:
    case TURING_UNIT_HALF_TENSOR: return TIMING_HALF;
    case TURING_UNIT_TENSOR: return TIMING_TENSOR;
    case TURING_UNIT_XU:
    case TURING_UNIT_XU_WIDE: return TIMING_XU;
    case TURING_UNIT_UNIFORM:
    case TURING_UNIT_CROSS: return TIMING_UNIFORM;
    case TURING_UNIT_MIO:
    case TURING_UNIT_MEM:
    case TURING_UNIT_TEX:
    case TURING_UNIT_ASYNC: return TIMING_MEMORY;
    case TURING_UNIT_BAR:
    case TURING_UNIT_BRANCH: return TIMING_BRANCH;
    default: return TIMING_ALU;
    }
}

/* Registers that come through the read ports: operands of arithmetic, in the slots that reuse flags have. */
static void give_sources(struct inst_timing *timing, const struct turing_inst *inst, unsigned n) {
    const struct turing_operand *operand = &inst->operands[n];
    const unsigned slot = turing_reuse(inst, n);
    const bool is_pair = timing->pipe == TIMING_FP64 || (inst->row == TURING_IMAD_WIDE && slot == 4);
    for (unsigned i = 0; slot && operand->reg != TURING_RZ && i < 1u + is_pair; i++) {
        if (timing->source_count == TIMING_SOURCES)
            return;
        timing->slots[timing->source_count] = (uint8_t)bits_first(slot);
        timing->sources[timing->source_count++] = (uint8_t)(operand->reg + i);
    }
}

/* A place in a bank that the instruction names: arithmetic has it as an operand, ULDC loads it. */
static void give_constant(struct inst_timing *timing, const struct turing_operand *operand) {
    const bool is_fixed = operand->kind == TURING_CONSTANT && !operand->uniform && !operand->bindless;
    if (is_fixed && timing->pipe != TIMING_MEMORY)
        timing->constant = ((uint32_t)operand->bank << 16 | ((uint32_t)operand->value & 0xffff)) + 1;
}

struct inst_timing turing_timing(const struct turing_inst *inst) {
    const struct turing_control *control = &inst->control;
    struct inst_timing timing = {.stall = control->stall,
                                 .yields = !control->stays,
                                 .write_counter = control->write_barrier,
                                 .read_counter = control->read_barrier,
                                 .wait_mask = control->wait_mask,
                                 .least_counter = TIMING_NO_COUNTER,
                                 .reuse = control->reuse,
                                 .pipe = (uint8_t)pipe_of(inst),
                                 .uniform_address = true,
                                 .is_copy = turing_row(inst->row)->meaning == TURING_MEANS_LDGSTS,
                                 .awaits_copies = turing_row(inst->row)->meaning == TURING_MEANS_LDGDEPBAR,
                                 .is_wide = inst->row == TURING_IMAD_WIDE};
    for (unsigned n = 0; n < TURING_OPERANDS_MAX && turing_row(inst->row)->operands[n].shape; n++) {
        const struct turing_operand *operand = &inst->operands[n];
        give_sources(&timing, inst, n);
        give_constant(&timing, operand);
        const bool addresses = operand->kind == TURING_MEMORY || operand->kind == TURING_CONSTANT;
        if (addresses && operand->reg != TURING_RZ)
            timing.uniform_address = false;
        if (operand->kind == TURING_DEPENDENCY && operand->reg < TIMING_COUNTERS) {
            timing.least_counter = operand->reg, timing.least_value = (uint8_t)operand->value;
            timing.wait_mask |= operand->select & ((1 << TIMING_COUNTERS) - 1);
        }
    }
    if (timing.write_counter >= TIMING_COUNTERS)
        timing.write_counter = TIMING_NO_COUNTER;
    if (timing.read_counter >= TIMING_COUNTERS)
        timing.read_counter = TIMING_NO_COUNTER;
    return timing;
}

/* Listings without control bits are read as if every instruction let the next one issue at once and waited for nothing, which no
 * compiler writes: a load's value would never be waited for. */
bool turing_says_time(const struct inst_timing *timing, uint32_t count) {
    for (uint32_t pc = 0; pc < count; pc++)
        if (timing[pc].stall > 1 || timing[pc].wait_mask || timing[pc].write_counter != TIMING_NO_COUNTER)
            return true;
    return false;
}
