/* SPDX-License-Identifier: Apache-2.0 */
#include "repro/interval.h"

#include <math.h>

/* The angle whose tangent is x >= 0, without the host's: halved until it is small, then by its series. */
static double angle_of(double x) {
    double scale = 1, sum = 0;
    for (; x > 0.01; scale *= 2)
        x /= 1 + sqrt(1 + x * x);
    double power = x;
    for (unsigned k = 1; k < 12; k += 2, power *= -x * x)
        sum += power / k;
    return scale * sum;
}

/* The probability that Student's t lies between -t and t: a finite sum for whole degrees of freedom (Abramowitz and Stegun 1964,
 * 26.7.3 and 26.7.4), with the angle whose tangent is t / sqrt(degrees). */
static double probability_within(double t, unsigned degrees) {
    const double half_pi = 1.57079632679489661923;
    const double hypotenuse = sqrt(degrees + t * t), sine = t / hypotenuse;
    const double cosine_squared = degrees / (hypotenuse * hypotenuse);
    const unsigned first = degrees % 2;
    double term = first ? sqrt(cosine_squared) : 1, sum = 0;
    for (unsigned k = first; k + 2 <= degrees; k += 2) {
        sum += term;
        term *= cosine_squared * (k + 1) / (k + 2);
    }
    return first ? (angle_of(t / sqrt(degrees)) + sine * sum) / half_pi : sine * sum;
}

double interval_quantile(unsigned degrees) {
    double low = 1, high = 13; /* 1.96 for many, 12.71 for one */
    for (double middle = (low + high) / 2; middle > low && middle < high; middle = (low + high) / 2)
        *(probability_within(middle, degrees) < 0.95 ? &low : &high) = middle;
    return low;
}

struct interval interval_of(const double *values, unsigned count) {
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < count; i++)
        sum += values[i];
    const double mean = sum / count;
    for (unsigned i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    const double error = count > 1 ? sqrt(squares / (count - 1) / count) : 0;
    return (struct interval){mean, count > 1 ? interval_quantile(count - 1) * error : 0, count};
}
