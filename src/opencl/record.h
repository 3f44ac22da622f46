/* SPDX-License-Identifier: Apache-2.0 */
/* Which launches run in time, and what was measured, kept for `heddle exec`: a log for every context, which grows with
 * every launch. */
#ifndef HEDDLE_OPENCL_RECORD_H
#define HEDDLE_OPENCL_RECORD_H

#include "result/session_log.h"
#include "opencl/platform.h"

struct session_recording; /* of one context */

struct recorder *record_create(cl_platform_id platform);
/* The process ends: waits for launches that are under way. */
void record_end(struct recorder *recorder);

/* Of a new context; NULL: nobody asked for results. */
struct session_recording *record_context(cl_context context);
void record_context_end(cl_context context);
/* Of a program that has been loaded; NULL: nothing is kept. The caller has the device. */
struct session_entry *record_program(cl_program program, struct program *loaded);
/* Whether the next launch of this kernel runs in time. */
bool record_chooses_time(struct recorder *recorder, const char *kernel);
/* How a launch in time gets on is told to `heddle exec`. */
void record_watch(cl_context context, struct launch *launch);
/* The caller has the device. */
void record_launch(cl_context context, struct session_entry *record, const struct launch *launch,
                   const struct launch_result *result);
/* A launch stopped: the words for the user. */
void record_fault(cl_context context, const char *message);
void record_remark(cl_context context, const char *message);

#endif
