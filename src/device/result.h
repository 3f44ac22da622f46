/* The result file: one JSON document, docs/result-files.md and docs/result.schema.json. */
#ifndef HEDDLE_DEVICE_RESULT_H
#define HEDDLE_DEVICE_RESULT_H

#include "device/run.h"

#define RESULT_SCHEMA "heddle-result-1"

/* The document with a newline at its end, in the arena. The same run gives the same bytes up to `host`, which comes
 * last and holds all that depends on the computer and the time of day. `complete` false: the run was cut short. */
enum status result_write(struct run *run, bool complete, double wall_seconds, struct arena *arena, char **text,
                         size_t *length, struct report *report);
/* Counters of all launches done, added up. */
void result_total(const struct run *run, struct run_stats *total);

#endif
