/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions as the pipeline sees them, made by decode.c. */
#ifndef HEDDLE_SM_TIMED_H
#define HEDDLE_SM_TIMED_H

#include <stdbool.h>
#include <stdint.h>

enum sm_unit { SM_UNIT_SP, SM_UNIT_INT, SM_UNIT_DP, SM_UNIT_SFU, SM_UNIT_TENSOR, SM_UNIT_MEMORY, SM_UNIT_COUNT };
/* Stages whose lack makes a stall: the units, and these. */
enum sm_stall { SM_STALL_IN_FLIGHT = SM_UNIT_COUNT, SM_STALL_SCHEDULER, SM_STALL_TEXTURE };
enum { TIMED_REGISTERS = 24, TIMED_PREDICATES = 4 };

/* Registers of an instruction in one word of the scoreboard. */
struct timed_word {
    uint32_t word;
    uint64_t all, written;
};

/* What must be over before it may issue, beside its registers. */
enum timed_order {
    ORDER_NONE,
    ORDER_FENCE,
    ORDER_AFTER_ATOMICS,
    ORDER_PROGRESS, /* nothing; issue counts it */
    ORDER_GUARDS,   /* nothing; it writes predicates that guard later than they can be read: struct timed_guards */
    ORDER_COPIES,   /* asynchronous copies of the warp */
    ORDER_COPY,     /* as accesses; it is such a copy */
    ORDER_COMMIT    /* nothing; it closes a group of copies */
};

/* An instruction as the pipeline sees it. */
struct timed {
    uint64_t all, written; /* its registers in `word` of the scoreboard, as a timed_word: most have no others */
    const struct timed_word *more;
    uint32_t word;
    uint32_t
        parameter; /* kernel parameter read through the constant cache: its offset plus 1; ORDER_COPIES: groups of copies that may be
                           under way, plus 1; 0: no copy may */
    uint16_t
        busy_cycles; /* its unit takes the next instruction after so many; of the memory unit: before it accesses */
    uint16_t done_cycles; /* from its start in the unit to write-back; of the memory unit: without an access */
    uint8_t more_count;
    uint8_t unit, src_count;        /* registers read through the banks */
    uint8_t order;                  /* enum timed_order */
    uint8_t banks[TIMED_REGISTERS]; /* of the registers read, for warp 0 */
};

/* sm.late_guards: predicates that an instruction writes, as those see them that they guard: bits of the scoreboard of their own, which
 * are free some cycles after the predicates are. */
struct timed_guards {
    struct {
        uint32_t number; /* among all of the module */
        uint32_t word;
        uint64_t bit;
    } of[TIMED_PREDICATES];
    uint8_t count, cycles; /* cycles: behind write-back */
};

/* Of an SM. */
struct sm_guards {
    const struct timed_guards *of; /* by PC; NULL: predicates guard when they are written */
    uint32_t *flights;             /* [warp][number]: who wrote it last; NO_FLIGHT: nobody that is in flight */
    uint32_t count;
};

struct sm_code {
    const struct timed *timed;          /* by PC */
    const uint8_t *operators;           /* by PC: bits of enum memory_operator */
    uint32_t register_words;            /* of a warp's scoreboard */
    bool accumulates;                   /* there are warp-level operations that access memory */
    bool fences;                        /* there are instructions that wait for all stores of their block */
    bool copies;                        /* there are asynchronous copies */
    bool samples;                       /* there are reads of images through the texture unit */
    bool snoops;                        /* there are loads or stores that fetch what is not near, and go on */
    const struct subcore_code *subcore; /* of sm.pipeline control-bits; else NULL */
    const struct timed_guards *guards;  /* by PC, of those with ORDER_GUARDS; NULL: none has */
    uint32_t guard_count;               /* numbers of them */
};

#endif
