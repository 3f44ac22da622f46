/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are run as child processes, in a cage where they work on a stranger's files. */
#ifndef HEDDLE_BASE_PROCESS_H
#define HEDDLE_BASE_PROCESS_H

#include "base/arena.h"
#include "base/status.h"
#include <stdint.h>

/* A command line being built; items[count] is NULL after command_line_end. */
struct command_line {
    const char **items;
    unsigned count, capacity;
};

void command_line_add(struct arena *arena, struct command_line *line, const char *text);
void command_line_add_all(struct arena *arena, struct command_line *line, const char *const *texts, unsigned count);
void command_line_end(struct arena *arena, struct command_line *line);

/* What a child process did. */
struct process_end {
    int exit_code;       /* -1: ended by a signal, or never started */
    int signal;          /* 0: none */
    const char *output;  /* standard output and standard error together */
    const char *stopped; /* the limit that ended it, in words; NULL: none did */
};

/* What holds a program that works on a stranger's files: it runs in a folder of its own, with an environment that has
 * only what it takes to start it, and with an end to its time, memory and files. */
struct process_cage {
    const char *folder;
    unsigned seconds;                  /* by the clock on the wall, and of processor time */
    uint64_t memory_bytes, file_bytes; /* of its address space; of the largest file it may write */
    void (*tell)(void *self);          /* called once, when it has run for so long; NULL: nobody is told */
    double tell_seconds;
    void *self;
};

/* Runs line->items[0] with standard input closed, both output streams in one file `output_path`, which is read
 * back and removed. cage NULL: it runs as we do. STATUS_SYSTEM when it cannot be started. */
enum status process_run(struct arena *arena, struct command_line *line, const char *output_path,
                        const struct process_cage *cage, struct process_end *end, struct report *report);

/* The program of that name on PATH, or itself when it has a slash; NULL: not found. */
char *program_find(struct arena *arena, const char *name);

#endif
