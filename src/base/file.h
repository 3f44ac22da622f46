/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files, in and out. */
#ifndef HEDDLE_BASE_FILE_H
#define HEDDLE_BASE_FILE_H

#include "base/arena.h"
#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The file's bytes with a NUL behind them, in the arena. A file bigger than `limit_bytes` is refused: STATUS_INVALID, as is
 * one that cannot be read, and what is no regular file: a pipe or a device may have no end, and may never begin. The message
 * names the path. Every file that is read is read here. */
enum status file_read(const char *path, uint64_t limit_bytes, struct arena *arena, char **data, size_t *bytes,
                      struct report *report);
/* The same for what the user named; "-" is standard input. */
enum status file_read_input(const char *path, uint64_t limit_bytes, struct arena *arena, char **data, size_t *bytes,
                            struct report *report);
/* Writes a neighbour and renames it, so that readers see the old file or the new one and never a part. What is not a
 * regular file (/dev/stdout, a pipe) is written directly. STATUS_SYSTEM when the host refuses. No write of this file raises
 * SIGXFSZ: it fails, whatever the process has set for that signal. */
enum status file_write(const char *path, const void *data, size_t bytes, struct report *report);
/* A file that must not be there yet, on the disk when this returns. */
bool file_create(const char *path, const void *data, size_t bytes);
/* Adds to the end of a file, which is made when it is not there, in one write where the host does not split it. Opens and
 * closes it: whatever the process does to its descriptors in between does not matter. */
bool file_append(const char *path, const void *data, size_t bytes);
/* What is printed piece by piece into memory, to be looked at as a whole. */
struct output {
    FILE *to; /* NULL: the host has no memory */
    char *text;
    size_t length;
};
void output_begin(struct output *output);
/* The text is complete. False: the host had no memory for it. */
bool output_close(struct output *output);
void output_free(struct output *output);
/* "dir/name" joined; `name` alone when it is absolute or dir is "". */
char *file_join(struct arena *arena, const char *dir, const char *name);
/* The folder part of a path, "" when it has none: file_join(dir, ...) gives paths beside it. */
char *file_dir(struct arena *arena, const char *path);
/* What is behind it: the last part of the path. */
const char *file_name(const char *path);
/* The name has something in front of the ending. */
bool file_ends_in(const char *name, const char *ending);
/* Names of the folder's files with that ending, without it, NULL at their end; numbers in them by value, F2 before F10. Hidden
 * files are left out. */
const char **file_list(struct arena *arena, const char *folder, const char *ending, unsigned *count);
/* Where this program is; NULL: the host does not say. */
char *file_program_folder(struct arena *arena);
/* Programs find their files wherever the whole was built, or moved after it was installed: share/heddle in or beside the folder
 * of this program, and `rest` ("" or "/configs") behind it. Where this code is in a library it is the library's, if there is
 * one. NULL: there is none. */
char *file_beside_program(struct arena *arena, const char *rest);

#endif
