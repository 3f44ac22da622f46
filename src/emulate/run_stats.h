/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of a run, in time or not, as run_stats.def lists them. */
#ifndef HEDDLE_EMULATE_RUN_STATS_H
#define HEDDLE_EMULATE_RUN_STATS_H

#include <stdint.h>

struct run_stats {
#define STAT(field, unit, help) uint64_t field;
#define RATIO(name, numerator, denominator, scale, unit, help)
#include "emulate/run_stats.def"
#undef STAT
#undef RATIO
};

#endif
