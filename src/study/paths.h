/* SPDX-License-Identifier: Apache-2.0 */
/* What the threads of findings did before them: the launches once more, watched by the same check, which finds the same in the same
 * order. Of each thread the last accesses, fences, barriers and warp-level operations are kept. */
#ifndef HEDDLE_STUDY_PATHS_H
#define HEDDLE_STUDY_PATHS_H

#include <jansson.h>

#include "check/check.h"
#include "launch/run.h"

struct paths_order {
    const struct launch_file *file;
    const struct machine *machine;
    const struct run_options *options;
    const struct check_options *kinds; /* of the check that found them */
    const struct check *check;         /* which has run already */
};

/* `document` is the check's: each "at" and "other" with a thread gets "path", a list of {file, line, does}, the access itself last or, of
 * the thread that was there first, marked "here". */
enum status paths_add(const struct paths_order *order, json_t *document, struct report *report);

#endif
