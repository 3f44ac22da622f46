/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions as the pipeline sees them, made by decode.c. */
#ifndef HEDDLE_SM_TIMED_H
#define HEDDLE_SM_TIMED_H

#include <stdbool.h>
#include <stdint.h>

enum sm_unit { SM_UNIT_SP, SM_UNIT_INT, SM_UNIT_DP, SM_UNIT_SFU, SM_UNIT_MEMORY, SM_UNIT_COUNT };
/* Stages whose lack makes a stall: the units, and these. */
enum sm_stall { SM_STALL_IN_FLIGHT = SM_UNIT_COUNT, SM_STALL_SCHEDULER };
enum { TIMED_REGISTERS = 24 };

/* Registers of an instruction in one word of the scoreboard. */
struct timed_word {
    uint32_t word;
    uint64_t all, written;
};

/* What must be over before it may issue, beside its registers. */
enum timed_order { ORDER_NONE, ORDER_FENCE, ORDER_AFTER_ATOMICS, ORDER_PROGRESS /* nothing; issue counts it */ };

/* An instruction as the pipeline sees it. */
struct timed {
    uint64_t all, written; /* its registers in `word` of the scoreboard, as a timed_word: most have no others */
    const struct timed_word *more;
    uint32_t word;
    uint32_t parameter; /* kernel parameter read through the constant cache: its offset plus 1 */
    uint16_t
        busy_cycles; /* its unit takes the next instruction after so many; of the memory unit: before it accesses */
    uint16_t done_cycles; /* from its start in the unit to write-back; of the memory unit: without an access */
    uint8_t more_count;
    uint8_t unit, src_count;        /* registers read through the banks */
    uint8_t order;                  /* enum timed_order */
    uint8_t banks[TIMED_REGISTERS]; /* of the registers read, for warp 0 */
};

struct sm_code {
    const struct timed *timed; /* by PC */
    uint32_t register_words;   /* of a warp's scoreboard */
    bool accumulates;          /* there are warp-level operations that access memory */
    bool snoops;               /* there are loads or stores that fetch what is not near, and go on */
};

#endif
