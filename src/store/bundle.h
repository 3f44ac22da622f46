/* SPDX-License-Identifier: Apache-2.0 */
/* A folder that can be handed on: a list of all its files with their SHA-256, as `sha256sum -c` reads it. The SHA-256 of
 * the list names the whole. */
#ifndef HEDDLE_STORE_BUNDLE_H
#define HEDDLE_STORE_BUNDLE_H

#include "base/arena.h"
#include "store/sha256.h"
#include "base/status.h"

#define BUNDLE_LIST "SHA256SUMS"
enum { BUNDLE_FILES_MAX = 1000000, BUNDLE_FILE_LIMIT_BYTES = 1 << 30 };

struct bundle_name {
    char identity[SHA256_TEXT_BYTES]; /* the SHA-256 of the list */
    unsigned count;                   /* files in it */
};

/* Writes the list of all files that are in the folder now. What is neither file nor folder is refused. */
enum status bundle_seal(const char *folder, struct arena *arena, struct bundle_name *out, struct report *report);
/* Holds the folder against its list, and names each file that is not what it says, that is missing, or that the list does not
 * know. STATUS_WRONG: there are some; STATUS_INVALID: the list is missing, or none. */
enum status bundle_check(const char *folder, struct arena *arena, struct bundle_name *out, struct report *report);

#endif
