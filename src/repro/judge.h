/* SPDX-License-Identifier: Apache-2.0 */
/* An experiment's numbers, what they say of what was published, and its figures. */
#ifndef HEDDLE_REPRO_JUDGE_H
#define HEDDLE_REPRO_JUDGE_H

#include "repro/experiment.h"

/* Asks every question, draws every figure, and gives the verdict. Points that its plans lack, and what cannot be asked, make
 * it incomplete, with a reason, which is no error. */
void judge(struct experiment *experiment, const struct store *store);

#endif
