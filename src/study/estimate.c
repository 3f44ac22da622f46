/* SPDX-License-Identifier: Apache-2.0 */
#include "study/estimate.h"

#include <math.h>
#include <stddef.h>

double estimate_root(double x) { return x > 0 ? sqrt(x) : 0; } /* correctly rounded everywhere */

/* ---- Student's t ---- */

/* Of 0 <= u <= 1: the angle is halved until its series is short. */
static double arc_sine(double u) {
    double factor = 1;
    while (u > 0.01) {
        u = u / sqrt(2 * (1 + sqrt(1 - u * u)));
        factor *= 2;
    }
    const double square = u * u;
    return factor * u *
           (1 + square * (1.0 / 6 + square * (3.0 / 40 + square * (15.0 / 336 + square * (105.0 / 3456)))));
}

/* The integral of (1 - v^2)^m over [0, u] for m = (freedom - 2) / 2, by parts from m = -1/2 or 0 on; all terms are positive. */
static double integral(uint32_t freedom, double u) {
    const double rest = 1 - u * u;
    const bool odd = freedom % 2;
    double value = odd ? arc_sine(u) : u, power = odd ? sqrt(rest) : rest; /* power: of rest, by the next m */
    for (uint32_t twice = odd ? 1 : 2; twice + 2 <= freedom; twice += 2) { /* 2 m */
        value = (u * power + twice * value) / (twice + 1.0);
        power *= rest;
    }
    return value;
}

double estimate_student_within(uint32_t freedom, double t) {
    const uint32_t degrees = freedom < ESTIMATE_FREEDOM_MAX ? freedom : ESTIMATE_FREEDOM_MAX;
    const double u = t / sqrt(degrees + t * t);
    return integral(degrees, u < 1 ? u : 1) / integral(degrees, 1);
}

double estimate_student(uint32_t freedom, double confidence) {
    double low = 0, high = 1;
    while (estimate_student_within(freedom, high) < confidence && high < 1e15)
        high *= 2;
    for (unsigned i = 0; i < 100; i++) {
        const double middle = low + (high - low) / 2;
        *(estimate_student_within(freedom, middle) < confidence ? &low : &high) = middle;
    }
    return high;
}

/* ---- totals ---- */

static double sum(const double *values, uint32_t count) {
    double total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += values[i];
    return total;
}

static void widen(struct stratified *estimate, double confidence) {
    estimate->half_width =
        estimate->freedom ? estimate_student(estimate->freedom, confidence) * sqrt(estimate->variance) : 0;
}

/* Without the interval. */
static struct stratified measure(const struct estimate_stratum *s) {
    const double x = sum(s->x, s->sampled), y = sum(s->y, s->sampled);
    if (s->sampled >= s->population)
        return (struct stratified){.total = y};
    const double ratio = x > 0 ? y / x : 0, n = s->sampled, all = s->population;
    double squares = 0;
    for (uint32_t i = 0; i < s->sampled; i++) {
        const double residual = s->y[i] - ratio * s->x[i];
        squares += residual * residual;
    }
    /* what the ratio is multiplied with may be more or less than the sample has of it */
    const double scale = x > 0 ? s->x_total / all / (x / n) : 0;
    return (struct stratified){.total = ratio * s->x_total,
                               .variance = all * all * (1 - n / all) / n * (squares / (n - 1)) * scale * scale,
                               .freedom = squares > 0 ? s->sampled - 1 : 0};
}

struct stratified estimate_one(const struct estimate_stratum *stratum, double confidence) {
    struct stratified out = measure(stratum);
    widen(&out, confidence);
    return out;
}

struct stratified estimate_total(const struct estimate_stratum *strata, uint32_t count, double confidence) {
    struct stratified out = {0};
    double below = 0; /* of Satterthwaite's fraction */
    for (uint32_t i = 0; i < count; i++) {
        const struct stratified one = measure(&strata[i]);
        out.total += one.total;
        out.variance += one.variance;
        if (one.freedom)
            below += one.variance * one.variance / one.freedom;
    }
    if (below > 0) {
        const double freedom = out.variance * out.variance / below;
        out.freedom = freedom < 1                              ? 1
                      : freedom < (double)ESTIMATE_FREEDOM_MAX ? (uint32_t)freedom
                                                               : ESTIMATE_FREEDOM_MAX;
    }
    widen(&out, confidence);
    return out;
}

/* ---- sizes ---- */

/* Sizes in this proportion, and the variance that they leave. */
static double choose(struct estimate_need *needs, uint32_t count, double factor) {
    double variance = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct estimate_need *need = &needs[i];
        const double all = need->population, wanted = factor * all * need->deviation / sqrt(need->cost);
        need->wanted = wanted >= all ? need->population : (uint32_t)wanted + (wanted > (uint32_t)wanted);
        if (need->wanted < need->least)
            need->wanted = need->least;
        if (need->wanted < need->population)
            variance += all * all * need->deviation * need->deviation * (1.0 / need->wanted - 1 / all);
    }
    return variance;
}

void estimate_sizes(struct estimate_need *needs, uint32_t count, double variance) {
    double low = 0, high = 1e-9;
    while (choose(needs, count, high) > variance && high < 1e30)
        high *= 2;
    for (unsigned i = 0; i < 100; i++) {
        const double middle = low + (high - low) / 2;
        *(choose(needs, count, middle) > variance ? &low : &high) = middle;
    }
    choose(needs, count, high);
}
