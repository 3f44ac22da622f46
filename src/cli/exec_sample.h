/* SPDX-License-Identifier: Apache-2.0 */
/* `heddle exec --sample`: the program runs without time, and then in rounds, each of which times some of its launches. */
#ifndef HEDDLE_CLI_EXEC_SAMPLE_H
#define HEDDLE_CLI_EXEC_SAMPLE_H

#include "cli/commands.h"
#include "cli/run_sample.h"
#include "result/session.h"
#include "study/sample_run.h"

struct exec_sample {
    bool is_on;
    struct sample_request request;
    const struct result_sample *result; /* NULL: it did not come to that */
};

/* Runs the program once more, its output thrown away, with logs to this folder; its exit status, or -1 with a report. */
typedef int exec_sample_run(void *context, const char *folder, struct report *report);

enum status exec_sample_read(struct arguments *arguments, struct exec_sample *sample, struct report *report);
/* Into the environment of the program: the first run is the profile. */
void exec_sample_give(const struct exec_sample *sample);
/* The profile is in the logs. */
enum status exec_sample_rounds(struct exec_sample *sample, const struct session_logs *profile, struct arena *arena,
                               exec_sample_run *run, void *context, struct report *report);

#endif
