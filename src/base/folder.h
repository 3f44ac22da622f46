/* SPDX-License-Identifier: Apache-2.0 */
/* Folders and files of our own: caches, stores, temporary files. */
#ifndef HEDDLE_BASE_FOLDER_H
#define HEDDLE_BASE_FOLDER_H

#include "base/arena.h"
#include <stdbool.h>
#include <stddef.h>

/* The whole file, NUL-terminated, or NULL with errno set. */
char *file_try_read(struct arena *arena, const char *path, size_t *bytes);
/* Written beside its final place and renamed, so that a reader sees all of it or nothing. Only we may read it, whatever the
 * umask. */
bool file_write_private(const char *path, const void *data, size_t bytes);
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

#endif
