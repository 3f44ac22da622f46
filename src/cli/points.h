/* Plans carried out for 'heddle sweep run' and 'heddle repro', with progress on a terminal. */
#ifndef HEDDLE_CLI_POINTS_H
#define HEDDLE_CLI_POINTS_H

#include "cli/commands.h"
#include "store/execute.h"

#define OPTION_STORE                                                                                                   \
    { "store", 0, "DIR", "where results are kept; default $HEDDLE_STORE, else ~/.local/share/heddle/store" }

/* Where programs of points are. */
extern const struct point_finder points_finder;
/* "40 s", "12 min", "3.5 h". */
const char *points_duration(struct arena *arena, double seconds);
/* --size, NULL where it is not given, or a message that it is none. */
enum status points_size(struct arguments *arguments, const char **size, struct report *report);
/* Runs what the plans lack, each run once, by --jobs, --retry and --quiet, and looks at them again. A summary in a line that
 * begins with `name`. STATUS_STOPPED: interrupted; the same command goes on. Failed points are no error here. */
enum status points_run(struct arguments *arguments, const struct store *store, const char *name, struct plan *plans,
                       unsigned count, struct report *report);

#endif
