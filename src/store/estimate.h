/* SPDX-License-Identifier: Apache-2.0 */
/* How long points take, by what is stored: instruction counts of their programs, and the rate at which this store's results
 * were made. */
#ifndef HEDDLE_STORE_ESTIMATE_H
#define HEDDLE_STORE_ESTIMATE_H

#include "store/plan.h"

/* Reads some of what is stored, and sums up what is missing: plan->seconds, plan->unknown. */
void estimate_make(struct plan *plan, const struct store *store);
/* Seconds of one core; 0: nobody knows. */
double estimate_seconds(const struct plan *plan, uint64_t number);

#endif
