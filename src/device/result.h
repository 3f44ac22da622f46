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

enum { CYCLE_CLASSES = 11, CYCLE_CLASSES_ISSUED = 8 };
/* "W1-4" … "W29-32", "memory", "idle", "stall": every slot of every scheduler is in exactly one. */
extern const char *const cycle_class_names[CYCLE_CLASSES];
uint64_t cycle_class(const struct sm_stats *stats, unsigned class);
/* Counters of all launches in time, added up, the instructions' too. False: they did not run in time. */
bool result_total_timed(const struct run *run, struct gpu_stats *total, struct arena *arena);
/* Warp-cycles waited for each reason, over all instructions. */
void result_waits(const struct gpu_stats *stats, uint32_t code_count, uint64_t waits[WAIT_COUNT]);

#endif
