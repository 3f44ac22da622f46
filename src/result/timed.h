/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a result file that only a run in time has. */
#ifndef HEDDLE_RESULT_TIMED_H
#define HEDDLE_RESULT_TIMED_H

#include "launch/run.h"
#include <jansson.h>

/* Adds the counters of one launch, or of several, all but those per instruction and the series. */
void result_merge_timed(struct gpu_stats *total, const struct gpu_stats *one, struct arena *arena);
void result_add_timed(json_t *into, const struct machine *machine, const struct gpu_stats *timed,
                      const struct run_stats *stats);
/* What a run took, where the machine has energies. False: it has none. */
bool result_energy(const struct machine *machine, const struct gpu_stats *timed, const struct run_stats *stats,
                   struct energy *out);
void result_add_inst_timed(json_t *into, const struct sm_inst_stats *timed);
/* Of counters that only launches with clusters of several blocks have. */
void result_add_cluster_units(json_t *into);
void result_add_timed_units(json_t *into, const struct machine *machine, bool predicts);
/* series.c */
json_t *result_series(const struct series *series);
json_t *result_sms(const struct series *sms);
void result_add_series_units(json_t *into);
json_t *result_histograms(const struct gpu_stats *timed);
void result_add_histogram_units(json_t *into);
/* A number every reader of JSON keeps exact. */
json_t *result_count(uint64_t value);

#endif
