/* SPDX-License-Identifier: Apache-2.0 */
/* What native code says of its own time, one record per instruction: the control bits of sm_75 to sm_90, and the pipe it goes to. */
#ifndef HEDDLE_ISA_TIMING_H
#define HEDDLE_ISA_TIMING_H

#include <stdbool.h>
#include <stdint.h>

enum { TIMING_COUNTERS = 6, TIMING_NO_COUNTER = 7, TIMING_SOURCES = 6 };

enum timing_pipe {
    TIMING_ALU,
    TIMING_FMA,  /* f32 */
    TIMING_IMAD, /* products of integers on the same pipe */
    TIMING_HALF,
    TIMING_TENSOR, /* products of matrices: what the machine says of their shape */
    TIMING_FP64,
    TIMING_XU, /* functions, conversions */
    TIMING_UNIFORM,
    TIMING_MEMORY, /* and what goes the same way: shuffles, special registers */
    TIMING_BRANCH, /* and barriers */
};

/* All parts of an instruction (FLAG_PART) have its record. */
struct inst_timing {
    uint8_t stall; /* cycles from its issue to the next of its warp */
    bool yields;
    uint8_t write_counter, read_counter; /* dependence counters that it counts up; TIMING_NO_COUNTER: none */
    uint8_t wait_mask;                   /* those that must be 0 before it issues */
    uint8_t least_counter, least_value;  /* DEPBAR.LE: at most so many in that one; TIMING_NO_COUNTER: none */
    uint8_t reuse;                       /* source slots whose registers stay in the operand cache, a bit each */
    uint8_t source_count;                /* arithmetic: registers of the lanes that it reads, */
    uint8_t sources[TIMING_SOURCES], slots[TIMING_SOURCES]; /* and the source slot of each; a pair is two */
    uint8_t pipe;                                           /* enum timing_pipe */
    bool uniform_address;                                   /* of a memory access: no register of the lanes is in it */
    bool is_copy, awaits_copies; /* LDGSTS; LDGDEPBAR, which is done when those before it are */
    uint32_t constant;           /* an operand from a bank of constants: bank << 16 and byte, plus 1; 0: none */
    bool is_wide;                /* a product of 64 bits: the issue port is taken for two cycles */
};

#endif
