/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/histograms.h"

const struct histogram_description sm_histogram_table[] = {
#define HISTOGRAM(field, kind, buckets, unit, help)                                                                    \
    HISTOGRAM_ENTRY(struct sm_histograms, field, kind, buckets, unit, help)
#include "sm/sm_histograms.def"
#undef HISTOGRAM
    HISTOGRAM_END};
