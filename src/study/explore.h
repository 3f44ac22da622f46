/* SPDX-License-Identifier: Apache-2.0 */
/* heddle check --explore: the launches of a file in other orders of their threads, whose results must be the same.
 *
 * Run 0 is the machine's own. Every other is told by its number alone: another mechanism, or threads that go on by chance, blocks in
 * another order, stores that reach memory late. Where memory differs, both are run again and compared access by access. */
#ifndef HEDDLE_STUDY_EXPLORE_H
#define HEDDLE_STUDY_EXPLORE_H

#include "check/check.h"
#include "launch/run.h"

struct explore_work; /* of explore_run */

struct explore {
    const struct launch_file *file;
    struct run_options options;
    /* Opens the machine, with this mechanism; NULL: its own. */
    enum status (*open)(void *self, const char *mechanism, struct machine *out, struct report *report);
    void *self;
    const struct run *shown; /* an open run of the file: findings are of its module */
    uint64_t first, end;     /* runs to compare with run 0: [first, end) */
    struct check *check;     /* takes what is found; the first difference ends it */
    uint64_t done;           /* out: runs */
    struct explore_work *work;
};
enum status explore_run(struct explore *explore, struct report *report);

#endif
