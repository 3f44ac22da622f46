/* SPDX-License-Identifier: Apache-2.0 */
/* `heddle run --checkpoint-every`: a folder of checkpoints, of launch files that are the parts between them, and of a sweep that runs
 * these. */
#ifndef HEDDLE_CLI_RUN_CHECKPOINTS_H
#define HEDDLE_CLI_RUN_CHECKPOINTS_H

#include "cli/commands.h"
#include "launch/checkpoint.h"
#include "launch/run.h"

struct run_checkpoints {
    struct arguments *arguments;
    uint64_t every; /* launches; 0: none are made */
    const char *typed;
    struct checkpoint_writer writer;
    const char *whole; /* the launch file, from the folder */
    unsigned parts;
};

/* Reads the options, makes the folder. */
enum status run_checkpoints_read(struct arguments *arguments, struct run_checkpoints *checkpoints,
                                 struct report *report);
/* --from: a checkpoint, the one value of it that is no number; NULL: there is none. */
const char *run_checkpoints_from(const struct arguments *arguments);
/* --from: a cycle, of timelines, the one value of it that is a number; false: there is none. */
bool run_checkpoints_cycle(const struct arguments *arguments, uint64_t *cycle);
/* Before every launch. */
enum status run_checkpoints_at(struct run_checkpoints *checkpoints, const struct run *run, struct report *report);
/* After the last. */
enum status run_checkpoints_end(struct run_checkpoints *checkpoints, const struct run *run, struct report *report);

/* The machine as the command line has it, as keys of a sweep file. */
const char *run_checkpoints_machine(struct arguments *arguments, const struct param_set *params);

/* Launch files, as a key of a sweep file. */
const char *run_checkpoints_list(struct arena *arena, const char *const *names, unsigned count);

/* Makes a folder, which must be empty, and gives its path from the root; `option` is that of messages. */
enum status run_checkpoints_folder(struct arguments *arguments, const char *option, const char *typed,
                                   const char **folder, struct report *report);

#endif
