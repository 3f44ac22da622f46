/* SPDX-License-Identifier: Apache-2.0 */
/* What CUDA's samples share beside CUDA: command lines, stop watches, comparisons. Pictures are not read here. */
#ifndef HEDDLE_CUDA_HELPER_FUNCTIONS_H
#define HEDDLE_CUDA_HELPER_FUNCTIONS_H
#pragma GCC system_header

#include "helper_string.h"
#include "helper_timer.h"
#include <math.h>

/* Whether |a - b|, as a whole, is small beside the reference. */
inline bool sdkCompareL2fe(const float *reference, const float *data, const unsigned int count, const float epsilon)
{
    double error = 0, norm = 0;
    for (unsigned int i = 0; i < count; i++) {
        const double difference = (double)reference[i] - data[i];
        error += difference * difference;
        norm += (double)reference[i] * reference[i];
    }
    return norm > 1e-7 * 1e-7 && sqrt(error) / sqrt(norm) < epsilon;
}
/* Whether no more than that part of the values is off by more than epsilon. */
template <class T>
inline bool compareData(const T *reference, const T *data, const unsigned int count, const float epsilon,
                        const float threshold)
{
    unsigned int wrong = 0;
    for (unsigned int i = 0; i < count; i++)
        wrong += fabs((double)reference[i] - (double)data[i]) > epsilon;
    return threshold == 0 ? wrong == 0 : (float)wrong <= threshold * (float)count;
}

#endif
