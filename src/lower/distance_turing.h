/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles from the issue of an instruction of sm_80 to sm_89 to the issue of one that reads its result, where no scoreboard tells.
 * Scheduling and control bits both go by them. */
#ifndef HEDDLE_LOWER_DISTANCE_TURING_H
#define HEDDLE_LOWER_DISTANCE_TURING_H

#include "sass/turing.h"

/* Who reads. */
enum turing_reader {
    TURING_READER_ALU,
    TURING_READER_FMA,
    TURING_READER_WIDE, /* IMAD.WIDE, IMAD.HI */
    TURING_READER_HALF,
    TURING_READER_FP64, /* and the tensor unit's pipe */
    TURING_READER_MEM,
    TURING_READER_OTHER, /* all that has a queue before it: functions, shuffles, branches */
    TURING_READER_GUARD, /* any of them, by its guard */
    TURING_READERS
};
/* What is read. */
enum turing_result { TURING_RESULT_WORD, TURING_RESULT_HIGH, TURING_RESULT_PREDICATE, TURING_RESULT_UNIFORM };

/* Its results are there after a number of cycles that is known. */
bool turing_is_fixed(const struct turing_inst *inst);
enum turing_reader turing_reader_of(const struct turing_inst *inst);
/* Of an instruction that is fixed. */
unsigned turing_distance(const struct turing_inst *from, enum turing_result result, enum turing_reader reader);
/* What is usual of one that is not: a load of global memory finds its line in L2, all others hit. */
unsigned turing_usual_latency(const struct turing_inst *inst);

#endif
