/* SPDX-License-Identifier: Apache-2.0 */
/* What heddle run has read of its command line, shared by run.c and run_read.c. */
#ifndef HEDDLE_CLI_RUN_H
#define HEDDLE_CLI_RUN_H

#include "cli/commands.h"
#include "cli/prediction.h"
#include "cli/run_checkpoints.h"
#include "cli/run_sample.h"
#include "cli/watch.h"
#include "result/result.h"
#include "result/timeline.h"
#include "study/sample_run.h"
#include "trace/file.h"

struct dump {
    unsigned buffer;
    const char *path;
};

struct run_command {
    struct arguments *arguments;
    struct dump *dumps;
    unsigned dump_count, variants;
    struct machine machine; /* of one variant alone it is open when it has been checked */
    const char *label;
    struct launch_file file;
    struct run run;
    struct run_options run_options;
    struct watch watch;
    struct timeline_window window;
    struct timeline timeline;
    uint64_t lines;
    struct trace_writer trace_to;
    struct trace_reader trace_from;
    struct meter meter;
    struct run_checkpoints checkpoints;
    bool is_watched; /* by the timeline */
    struct sample_request sample_request;
    bool quiet, verbose, to_stdout, energy, samples;
};

/* What all variants share: the launch file and what to do with it. */
enum status run_read(struct run_command *s, struct report *report);

#endif
