/* SPDX-License-Identifier: Apache-2.0 */
/* The statistics of sampling: a total estimated from strata of which some units were measured, its interval, and how many units of each
 * to measure. + - x / and square roots alone, so that every host has the same bits.
 *
 * In a stratum the ratio estimator stands on a quantity x that is known of every unit: the total of y is that of x times the ratio of the
 * measured sums. Its variance is that of the residuals, with the correction for a finite population; strata add, and Student's t has
 * Satterthwaite's degrees of freedom (Cochran, Sampling Techniques, chapters 5 and 6; recalled, not read for this). */
#ifndef HEDDLE_STUDY_ESTIMATE_H
#define HEDDLE_STUDY_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

/* t such that a variable of Student's distribution with so many degrees of freedom, at least 1, lies within [-t, t] with this
 * probability, 0 < confidence < 1. More than ESTIMATE_FREEDOM_MAX degrees count as so many: t is larger by less than 0.001 then. */
enum { ESTIMATE_FREEDOM_MAX = 10000 };
double estimate_student(uint32_t freedom, double confidence);
/* The probability itself. */
double estimate_student_within(uint32_t freedom, double t);

struct estimate_stratum {
    uint32_t population, sampled; /* units; 2 of them are sampled at least, or all */
    double x_total;               /* over the population */
    const double *x, *y;          /* of the sampled units */
};

struct stratified {
    double total, variance;
    double half_width; /* of the interval */
    uint32_t freedom;  /* 0: nothing was left to chance */
};

/* Of one stratum; variance 0 where all units were sampled. */
struct stratified estimate_one(const struct estimate_stratum *stratum, double confidence);
struct stratified estimate_total(const struct estimate_stratum *strata, uint32_t count, double confidence);

struct estimate_need {
    uint32_t population, least; /* units sampled in any case, at least 1 */
    double deviation;           /* of a unit, from what the ratio says */
    double cost;                /* of measuring a unit, above 0 */
    uint32_t wanted;            /* out */
};
/* The cheapest sizes with which the variance of the total is at most `variance`: in proportion to population times deviation over the
 * square root of the cost, within [least, population]. */
void estimate_sizes(struct estimate_need *needs, uint32_t count, double variance);

double estimate_root(double x);

#endif
