/* SPDX-License-Identifier: Apache-2.0 */
/* Files, folders and child processes for compile.c and compile_tools.c. */
#ifndef HEDDLE_DEVICE_COMPILE_PROCESS_H
#define HEDDLE_DEVICE_COMPILE_PROCESS_H

#include "base/arena.h"
#include "base/status.h"
#include <stdint.h>

/* A command line being built; items[count] is NULL after arguments_end. */
struct arguments {
    const char **items;
    unsigned count, capacity;
};

void arguments_add(struct arena *arena, struct arguments *arguments, const char *text);
void arguments_add_all(struct arena *arena, struct arguments *arguments, const char *const *texts, unsigned count);
void arguments_end(struct arena *arena, struct arguments *arguments);

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
};

/* Runs arguments->items[0] with standard input closed, both output streams in one file `output_path`, which is read
 * back and removed. cage NULL: it runs as we do. STATUS_SYSTEM when it cannot be started. */
enum status process_run(struct arena *arena, struct arguments *arguments, const char *output_path,
                        const struct process_cage *cage, struct process_end *end, struct report *report);

/* The whole file, NUL-terminated, or NULL with errno set. */
char *process_read(struct arena *arena, const char *path, size_t *bytes);
/* Written beside its final place and renamed, so that a reader sees all of it or nothing. Only we may read it, whatever the
 * umask. */
bool process_write(const char *path, const void *data, size_t bytes);
/* Makes `from` the file `to`, from wherever it is, in one step for readers. Only we may read it. */
bool file_publish(struct arena *arena, const char *from, const char *to);
bool file_exists(const char *path);
bool folder_make(struct arena *arena, const char *path); /* and the folders above it */
/* The same, with a last folder that is ours alone. NULL: it is, else why it is not to be trusted or cannot be made. */
const char *folder_make_private(struct arena *arena, const char *path);
/* The path from the root, links in it as they are. */
char *path_absolute(struct arena *arena, const char *path);
/* A new folder for temporary files, or NULL. */
char *folder_make_temporary(struct arena *arena);
/* Removes the folder and all that is inside. */
void folder_remove(struct arena *arena, const char *path);
/* The program of that name on PATH, or itself when it has a slash; NULL: not found. */
char *program_find(struct arena *arena, const char *name);

#endif
