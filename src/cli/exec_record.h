/* SPDX-License-Identifier: Apache-2.0 */
/* `heddle exec --record` and `--why`: launches of the program that are kept as launch files, and one of them explained. */
#ifndef HEDDLE_CLI_EXEC_RECORD_H
#define HEDDLE_CLI_EXEC_RECORD_H

#include "cli/commands.h"

struct exec_record {
    const char *typed, *folder; /* of --record: as typed, and from the root; NULL: none */
    const char *kernel;
    uint64_t launch, bytes;
    const char *checkpoints_typed, *checkpoints; /* of --checkpoint-every: the folder, as above */
    uint64_t every;
    const struct machine *machine;
    const char *why; /* a folder for the launch that is explained; NULL: none is */
};

/* Reads the options; makes the folder of --record, which must be empty. */
enum status exec_record_read(struct arguments *arguments, struct exec_record *record, struct report *report);
/* The folder of --why, in the session's. */
enum status exec_record_prepare(struct arguments *arguments, struct exec_record *record, const char *session,
                                struct report *report);
/* Into the environment of the program. */
void exec_record_give(struct arguments *arguments, const struct exec_record *record);
/* The program has ended: says what was kept, and explains. */
enum status exec_record_show(struct arguments *arguments, const struct exec_record *record, struct report *report);

#endif
