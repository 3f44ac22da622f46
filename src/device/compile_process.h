/* Files, folders and child processes for compile.c and compile_tools.c. */
#ifndef HEDDLE_DEVICE_COMPILE_PROCESS_H
#define HEDDLE_DEVICE_COMPILE_PROCESS_H

#include "base/arena.h"
#include "base/status.h"

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
    int exit_code;      /* -1: ended by a signal, or never started */
    int signal;         /* 0: none */
    const char *output; /* standard output and standard error together */
};

/* Runs arguments->items[0] with standard input closed, both output streams in one file `output_path`, which is read
 * back and removed. STATUS_SYSTEM when it cannot be started. */
enum status process_run(struct arena *arena, struct arguments *arguments, const char *output_path,
                        struct process_end *end, struct report *report);

/* The whole file, NUL-terminated, or NULL with errno set. */
char *process_read(struct arena *arena, const char *path, size_t *bytes);
/* Written beside its final place and renamed, so that a reader sees all of it or nothing. */
bool process_write(const char *path, const void *data, size_t bytes);
/* Makes `from` the file `to`, from wherever it is, in one step for readers. */
bool file_publish(struct arena *arena, const char *from, const char *to);
bool file_exists(const char *path);
bool folder_make(struct arena *arena, const char *path); /* and the folders above it */
/* A new folder for temporary files, or NULL. */
char *folder_make_temporary(struct arena *arena);
/* Removes the folder and all that is inside. */
void folder_remove(struct arena *arena, const char *path);
/* The program of that name on PATH, or itself when it has a slash; NULL: not found. */
char *program_find(struct arena *arena, const char *name);

#endif
