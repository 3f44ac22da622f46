/* SPDX-License-Identifier: Apache-2.0 */
/* The interval of a mean: where the mean of many inputs of the same kind would be, by Student's t, with 95 % confidence. */
#ifndef HEDDLE_REPRO_INTERVAL_H
#define HEDDLE_REPRO_INTERVAL_H

enum { INTERVAL_LEAST = 5, INTERVAL_MOST = 1000 }; /* values that it takes, and that anyone would run */

struct interval {
    double mean, half; /* from mean - half to mean + half */
    unsigned count;    /* of values; 1: there is no interval, and half is 0 */
};

/* count: 1 or more. */
struct interval interval_of(const double *values, unsigned count);
/* How many standard errors the interval reaches to either side: the 0.975 quantile of Student's distribution. degrees: of
 * freedom, 1 to INTERVAL_MOST. */
double interval_quantile(unsigned degrees);

#endif
