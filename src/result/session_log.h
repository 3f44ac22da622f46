/* SPDX-License-Identifier: Apache-2.0 */
/* What a process leaves of its launches for the program that started it: a file that every launch adds a record to, so
 * that all launches are there however the process ends. A log that the host refused a record is made read-only. Writer and
 * reader are of one model. */
#ifndef HEDDLE_RESULT_SESSION_LOG_H
#define HEDDLE_RESULT_SESSION_LOG_H

#include "result/session.h"

#define SESSION_LOG ".launches"
#define SESSION_PROGRESS "progress"    /* of the launch under way, a line */
#define SESSION_COMPILING "compiling " /* what such a line begins with where it is no launch */

/* Empty files that tell how far a process came. */
#define SESSION_FOUND_OPENCL "found-opencl" /* it asked for platforms */
#define SESSION_FOUND_CUDA "found-cuda"     /* it registered kernels, or called a function */
#define SESSION_OPENED "opened"             /* it made a context, or called what needs a device */

/* Zero-initialise; `path` and `in_time` are the caller's to set. */
struct session_log {
    const char *path;  /* the file; there is none before the first record */
    bool in_time;      /* launches without time are only counted */
    unsigned modules;  /* numbers given */
    unsigned launches; /* records written, of launches in time if in_time */
    unsigned remarks;
    bool is_cut; /* the host took only part of a record: there are no more */
};

/* A module as the log knows it. */
struct session_entry {
    const struct program *program;
    const char *source; /* the text behind the file that the module's positions name */
    unsigned number;    /* from 1; 0: not in the log yet */
};

void session_log_launch(struct session_log *log, struct session_entry *module, const struct launch *launch,
                        const struct launch_result *result, unsigned host_threads);
void session_log_fault(struct session_log *log, const char *message);
/* Of a launch that went on; the first ones are kept. */
void session_log_remark(struct session_log *log, const char *message);

/* Adds what a log holds to a session; modules are loaded on the device. */
enum status session_log_read(const char *path, struct session *session, struct device *device, struct report *report);

#endif
