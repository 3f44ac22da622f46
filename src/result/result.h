/* SPDX-License-Identifier: Apache-2.0 */
/* The result file: one JSON document, docs/result-files.md and docs/result.schema.json. */
#ifndef HEDDLE_RESULT_RESULT_H
#define HEDDLE_RESULT_RESULT_H

#include "launch/run.h"

#define RESULT_SCHEMA "heddle-result-1"

/* The document with a newline at its end, in the arena. The same run gives the same bytes up to `host`, which comes
 * last and holds all that depends on the computer and the time of day. `complete` false: the run was cut short.
 * NULL with a report: the host has no memory for it (STATUS_SYSTEM). */
char *result_write(struct run *run, bool complete, double wall_seconds, struct arena *arena, size_t *length,
                   struct report *report);
/* Counters of the launches done, added up. kernel: only its launches; NULL: all. */
void result_total(const struct run *run, const struct function *kernel, struct run_stats *total);
/* The same of launches in time, the instructions' too, the series not. False: they did not run in time. */
bool result_total_timed(const struct run *run, const struct function *kernel, struct gpu_stats *total,
                        struct arena *arena);
/* The same per instruction. */
struct inst_stats *result_total_instructions(const struct run *run, const struct function *kernel, struct arena *arena);

enum { CYCLE_CLASSES = 11, CYCLE_CLASSES_ISSUED = 8 };
/* "W1-4" … "W29-32", "memory", "idle", "stall": every slot of every scheduler is in exactly one. */
extern const char *const cycle_class_names[CYCLE_CLASSES];
/* The stages whose lack makes a stall: they add up to it. */
extern const char *const stall_stage_names[SLOT_STALL_COUNT];
/* Slots of one class, of the SMs and of an instruction. */
uint64_t cycle_class(const uint64_t slots[SLOT_COUNT], unsigned class);

#endif
