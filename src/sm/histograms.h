/* SPDX-License-Identifier: Apache-2.0 */
/* Distributions that an SM counts. */
#ifndef HEDDLE_SM_HISTOGRAMS_H
#define HEDDLE_SM_HISTOGRAMS_H

#include "base/histogram.h"

struct sm_histograms {
#define HISTOGRAM HISTOGRAM_FIELD
#include "sm/sm_histograms.def"
#undef HISTOGRAM
};
extern const struct histogram_description sm_histogram_table[];

#endif
