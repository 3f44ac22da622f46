/* SPDX-License-Identifier: Apache-2.0 */
/* A result file made once more, and held against itself. */
#ifndef HEDDLE_STORE_RERUN_H
#define HEDDLE_STORE_RERUN_H

#include <jansson.h>

#include "base/arena.h"
#include "base/status.h"

enum { RERUN_SHOWN = 20 };

/* Where two documents differ. */
struct rerun {
    struct {
        const char *path, *before, *after; /* "total.cycles", "3568", "3570" */
    } shown[RERUN_SHOWN];                  /* the first of them */
    unsigned count;                        /* all */
};

/* Where they differ, but for their members host and point, which both lose. */
void rerun_compare(json_t *before, json_t *after, struct arena *arena, struct rerun *out);
/* Runs again what a result of `heddle run -o` or of a store says, and compares everything but `host`. STATUS_WRONG: there
 * are differences; STATUS_INVALID: the result does not say enough. */
enum status rerun_result(const char *path, struct arena *arena, struct rerun *out, struct report *report);

#endif
