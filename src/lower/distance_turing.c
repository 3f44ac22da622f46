/* SPDX-License-Identifier: Apache-2.0 */
/* Distances between instructions of sm_80 to sm_89: those that an open compiler has of the vendor, and where ptxas keeps more,
 * what ptxas keeps. */
#include "lower/distance_turing.h"

bool turing_is_fixed(const struct turing_inst *inst) {
    switch ((enum turing_unit)turing_row(inst->row)->unit) {
    case TURING_UNIT_ALU:
    case TURING_UNIT_FMA:
    case TURING_UNIT_HALF:
    case TURING_UNIT_UNIFORM:
    case TURING_UNIT_CTL: return true;
    default: return false;
    }
}

static bool is_wide(const struct turing_inst *inst) {
    return inst->row == TURING_IMAD_WIDE || inst->row == TURING_IMAD_HI;
}

enum turing_reader turing_reader_of(const struct turing_inst *inst) {
    switch ((enum turing_unit)turing_row(inst->row)->unit) {
    case TURING_UNIT_ALU: return TURING_READER_ALU;
    case TURING_UNIT_FMA: return is_wide(inst) ? TURING_READER_WIDE : TURING_READER_FMA;
    case TURING_UNIT_HALF: return TURING_READER_HALF;
    case TURING_UNIT_FP64:
    case TURING_UNIT_HALF_TENSOR:
    case TURING_UNIT_TENSOR: return TURING_READER_FP64;
    case TURING_UNIT_MEM: return TURING_READER_MEM;
    default: return TURING_READER_OTHER;
    }
}

enum { FROM_ALU, FROM_FMA, FROM_WIDE_LOW, FROM_WIDE_HIGH, FROM_HALF, FROM_SPECIAL, PRODUCERS };

/* ptxas keeps 6 between products of 64 bits, and 7 before the tensor unit. */
static const uint8_t words[PRODUCERS][TURING_READER_GUARD] = {
    [FROM_ALU] = {4, 5, 5, 5, 7, 5, 5},      [FROM_FMA] = {5, 4, 4, 5, 7, 5, 5},
    [FROM_WIDE_LOW] = {3, 2, 6, 3, 7, 5, 5}, [FROM_WIDE_HIGH] = {5, 4, 6, 5, 7, 5, 5},
    [FROM_HALF] = {5, 5, 5, 4, 7, 5, 5},     [FROM_SPECIAL] = {6, 6, 6, 6, 7, 5, 5},
};
static const uint8_t predicates[TURING_READERS] = {4, 5, 5, 5, 13, 13, 13, 13};
static const uint8_t uniforms[TURING_READERS] = {6, 6, 6, 6, 9, 9, 10, 12};

unsigned turing_distance(const struct turing_inst *from, enum turing_result result, enum turing_reader reader) {
    const enum turing_unit unit = (enum turing_unit)turing_row(from->row)->unit;
    if (result == TURING_RESULT_PREDICATE)
        return predicates[reader];
    if (result == TURING_RESULT_UNIFORM)
        return from->row == TURING_ULDC ? 2 : uniforms[reader];
    unsigned producer = unit == TURING_UNIT_FMA ? FROM_FMA : unit == TURING_UNIT_HALF ? FROM_HALF : FROM_ALU;
    if (from->row == TURING_CS2R)
        producer = FROM_SPECIAL;
    else if (is_wide(from))
        producer = result == TURING_RESULT_HIGH || from->row == TURING_IMAD_HI ? FROM_WIDE_HIGH : FROM_WIDE_LOW;
    return words[producer][reader < TURING_READER_GUARD ? reader : TURING_READER_OTHER];
}

unsigned turing_usual_latency(const struct turing_inst *inst) {
    enum {
        L1 = 32,
        L2 = 200,
        SHARED = 24,
        CONSTANTS = 29,
        FUNCTION = 18,
        SHUFFLE = 23,
        FP64 = 24,
        ATOMIC = 100,
        TENSOR = 24
    };
    switch ((enum turing_unit)turing_row(inst->row)->unit) {
    case TURING_UNIT_MEM: break;
    case TURING_UNIT_FP64: return FP64;
    case TURING_UNIT_HALF_TENSOR:
    case TURING_UNIT_TENSOR: return TENSOR;
    case TURING_UNIT_XU:
    case TURING_UNIT_XU_WIDE: return FUNCTION;
    default: return SHUFFLE;
    }
    switch ((enum turing_row_id)inst->row) {
    case TURING_LDS: return SHARED;
    case TURING_LDC: return CONSTANTS;
    case TURING_LDL: return L1;
    case TURING_LDG:
    case TURING_LD: return L2;
    default: return ATOMIC;
    }
}
