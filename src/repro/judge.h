/* An experiment's numbers, what they say of what was published, and its figures. */
#ifndef HEDDLE_REPRO_JUDGE_H
#define HEDDLE_REPRO_JUDGE_H

#include "repro/experiment.h"

/* Looks into the store; asks every question, draws every figure, and gives the verdict. What is missing makes it incomplete,
 * with a reason, which is no error. */
void judge(struct experiment *experiment, const struct store *store);

#endif
