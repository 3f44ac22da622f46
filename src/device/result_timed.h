/* The parts of a result file that only a run in time has. */
#ifndef HEDDLE_DEVICE_RESULT_TIMED_H
#define HEDDLE_DEVICE_RESULT_TIMED_H

#include "device/run.h"
#include <jansson.h>

void result_add_timed(json_t *into, const struct gpu_stats *timed, const struct run_stats *stats, uint32_t code_count);
void result_add_inst_timed(json_t *into, const struct sm_inst_stats *timed);
void result_add_timed_units(json_t *into);
/* A number every reader of JSON keeps exact. */
json_t *result_count(uint64_t value);

#endif
