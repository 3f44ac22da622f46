/* SPDX-License-Identifier: Apache-2.0 */
/* Plans carried out for 'heddle sweep run', 'heddle suite run' and 'heddle repro', with progress on a terminal. */
#ifndef HEDDLE_CLI_POINTS_H
#define HEDDLE_CLI_POINTS_H

#include "cli/commands.h"
#include "store/slurm.h"

#define OPTION_STORE                                                                                                   \
    { "store", 0, "DIR", "where results are kept; default $HEDDLE_STORE, else ~/.local/share/heddle/store" }

/* Who runs points, and how: for the tables of commands that run some. */
#define OPTIONS_POINTS                                                                                                 \
    {"jobs", 'j', "N", "points to run at a time on this computer; default one for each processor"},                    \
        {"retry", 0, NULL, "run again the points that gave wrong results or stopped"},                                 \
        {"memory", 0, "SIZE", "memory limit of a point, such as 2GiB; default: none"},                                 \
        {"backend", 0, "local|slurm", "processes of this computer, or array jobs of the cluster; default local"},      \
        {"partition", 0, "NAME", "slurm: sbatch --partition=NAME"},                                                    \
        {"account", 0, "NAME", "slurm: sbatch --account=NAME"},                                                        \
        {"time", 0, "TIME", "slurm: sbatch --time=TIME, the limit of a task"},                                         \
        {"sbatch", 0, "OPTION",                                                                                        \
         "slurm: any other option of sbatch in one word, such as --sbatch --qos=low; may be given several "            \
         "times"},                                                                                                     \
        {"task-seconds", 0, "N", "slurm: points are packed into tasks that last at most so long; default 300"}, {      \
        "detach", 0, NULL, "slurm: submit, and do not wait for the end"                                                \
    }

/* Where programs of points are. */
extern const struct point_finder points_finder;
/* "40 s", "12 min", "3.5 h". */
const char *points_duration(struct arena *arena, double seconds);
/* --size, NULL where it is not given, or a message that it is none. */
enum status points_size(struct arguments *arguments, const char **size, struct report *report);
/* --jobs, --retry and --memory. */
enum status points_options(struct arguments *arguments, struct execute_options *out, struct report *report);
/* Where no backend is told: that of the plans' newest job, with its options. */
void points_as_before(struct arguments *arguments, const struct store *store, const char *name,
                      const struct plan *plans, unsigned count);
/* Names every file of the plans' points that is not what the store was given, and what becomes of it. STATUS_WRONG: there
 * are some. */
enum status points_damaged(const struct store *store, const struct plan *plans, unsigned count, const char *what,
                           struct report *report);
/* Runs what the plans lack, each run once, by OPTIONS_POINTS and --quiet, and looks at them again. A summary in a line that
 * begins with `name`. STATUS_STOPPED: interrupted; the same command goes on. Failed points are no error here. */
enum status points_run(struct arguments *arguments, const struct store *store, const char *name, struct plan *plans,
                       unsigned count, struct report *report);

#endif
