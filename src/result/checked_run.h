/* SPDX-License-Identifier: Apache-2.0 */
/* A launch file whose launches are watched by a check: of the program and of the library. */
#ifndef HEDDLE_RESULT_CHECKED_RUN_H
#define HEDDLE_RESULT_CHECKED_RUN_H

#include "check/check.h"
#include "launch/run.h"

/* The check of a launch file, which may say for itself what a barrier waits for. check_free it. */
struct check *checked_run_create(const struct launch_file *file, const struct check_options *options);
/* Refuses by name a launch that cannot be watched. */
enum status checked_run_can(const struct run *run, struct report *report);
/* Runs every launch; one that stops is a finding, and nothing runs behind it. */
enum status checked_run(struct run *run, struct check *check, struct report *report);
/* With another watch before the check's own, which hands on to it what it hears. */
enum status checked_run_by(struct run *run, struct check *check, const struct exec_watch *watch, struct report *report);

#endif
