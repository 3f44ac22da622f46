/* SPDX-License-Identifier: Apache-2.0 */
#include "repro/interval.h"

#include <math.h>

#include "study/estimate.h"

double interval_quantile(unsigned degrees) { return estimate_student(degrees, 0.95); }

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
