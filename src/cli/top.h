/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of this computer as heddle top sees them, over their sockets. What they send is read as any file of others. */
#ifndef HEDDLE_CLI_TOP_H
#define HEDDLE_CLI_TOP_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"
#include "cli/live.h"

/* One that was asked to tell what it does. */
struct top_run {
    char path[LIVE_PATH_BYTES];
    pid_t pid;
    int fd;        /* -1: gone */
    json_t *state; /* what it said last; NULL: nothing yet */
    bool is_new;   /* that has not been looked at */
    struct arena arena;
    char *text; /* what has come of the next line */
    size_t length;
};

struct top_runs {
    struct arena arena;
    struct top_run *items;
    unsigned count, capacity;
};

/* Asks every run of this user that is not here yet, with LIVE_STATE or LIVE_WATCH; forgets those that are gone, with `keep` false. Sockets of
 * processes that were killed are removed. */
void top_find(struct top_runs *runs, const char *request, bool keep);
/* Takes what they say for so many seconds, or until each has said something new, with `all`. False: a key was pressed, with `keys`. */
bool top_listen(struct top_runs *runs, double seconds, bool all, bool keys);
/* A whole report of a run, in the arena; the run may take a while to answer. */
enum status top_report(const struct top_run *run, struct arena *arena, char **text, size_t *length,
                       struct report *report);
void top_close(struct top_runs *runs);

#endif
